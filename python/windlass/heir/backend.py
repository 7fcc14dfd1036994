"""Windlass as a backend of HEIR's Python frontend."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from windlass._windlass import Ciphertext, Context
from windlass.errors import ParameterError, ShapeError, UnknownName, missing_package
from windlass.heir.halves import ProgramClient, ProgramServer
from windlass.heir.programs import Program, load


class Backend:
    """A backend for ``heir.compile(backend=...)``. It needs HEIR: ``pip install windlass[heir]``.

    No C++ compiler and no OpenFHE are needed. Functions run *as meant*, as of :func:`load`.

    Parameters
    ----------
    bound : float or sequence of float
        CKKS: the largest absolute value of encrypted arguments, for all or for each. Public.
    context : Context, optional
        By default the smallest parameters with 128 bits of security for each function.
    max_keys : int, optional
        The largest number of Galois keys for one matrix, as of :func:`load`.

    Raises
    ------
    MissingPackage
        If HEIR is not installed.

    Examples
    --------
    >>> import windlass as wl
    >>> from heir import compile                                 # doctest: +SKIP
    >>> from heir.mlir import I16, Secret                        # doctest: +SKIP
    >>> @compile(scheme="bgv", backend=wl.heir.Backend())        # doctest: +SKIP
    ... def add(a: Secret[I16], b: Secret[I16]):
    ...     return a + b
    >>> add(7, 8)                                                # doctest: +SKIP
    15

    """

    def __init__(
        self,
        *,
        bound: float | Sequence[float] = 1.0,
        context: Context | None = None,
        max_keys: int | None = None,
    ) -> None:
        try:
            from heir import interfaces
        except ImportError as error:
            raise missing_package("heir_py[python]", "heir") from error
        # HEIR asks whether backends are of these classes.
        interfaces.BackendInterface.register(Backend)
        interfaces.ClientInterface.register(CompiledFunction)
        self._how: dict[str, Any] = {"bound": bound, "context": context, "max_keys": max_keys}

    def run_backend(  # noqa: PLR0917 - as HEIR calls it
        self,
        workspace_dir: Any,
        heir_opt: Any,
        heir_translate: Any,
        func_name: str,
        arg_names: list[str],
        secret_args: list[int],
        heir_opt_output: str,
        debug: bool,
    ) -> CompiledFunction:
        """Take a function that HEIR compiled; HEIR calls this."""
        del workspace_dir, heir_opt, heir_translate, debug
        plan = functools.partial(load, heir_opt_output, function=func_name, **self._how)
        return CompiledFunction(func_name, arg_names, secret_args, plan)


class CompiledFunction:
    """A function that HEIR compiled, on Windlass. Its interface is HEIR's.

    Attributes
    ----------
    func : callable
        The function in Python.

    """

    def __init__(
        self, name: str, names: list[str], secret: list[int], plan: Callable[..., Program]
    ) -> None:
        self.func: Callable[..., Any] | None = None
        self._name, self._names, self._secret = name, names, sorted(secret)
        self._plan = plan
        self._plain: dict[int, ArrayLike] = {}
        self._program: Program | None = None
        self._sides: tuple[ProgramClient, ProgramServer] | None = None
        if len(self._secret) == len(names):
            # Checked at once, where nothing is missing.
            self._program = plan()

    @property
    def program(self) -> Program:
        """The program, which arguments that are not encrypted are part of."""
        if self._program is None:
            raise ParameterError(self._without_plain())
        return self._program

    def _without_plain(self) -> str:
        plain = [name for k, name in enumerate(self._names) if k not in self._secret]
        return f"{', '.join(plain)} of {self._name} are not encrypted: give them to setup() by name"

    def setup(self, **plain: ArrayLike) -> None:
        """Make keys. Arguments that are not encrypted are given here, by name."""
        known = {name: k for k, name in enumerate(self._names) if k not in self._secret}
        for name in plain:
            if name not in known:
                message = f"{self._name} has no argument {name} that is not encrypted"
                raise UnknownName(message, given=name, known=list(known))
        if len(plain) != len(known):
            raise ParameterError(self._without_plain())
        if known:
            self._plain = {known[name]: value for name, value in plain.items()}
            self._program = self._plan(plain=self._plain)
        self._sides = self.program.setup(progress=False)

    def _ready(self) -> tuple[ProgramClient, ProgramServer]:
        if self._sides is None:
            raise ParameterError(f"call setup() of {self._name} before encrypting and evaluating")
        return self._sides

    def __getattr__(self, key: str) -> Any:
        if key.startswith("encrypt_"):
            name = key.removeprefix("encrypt_")
            secret = [self._names[k] for k in self._secret]
            if name in secret:
                return functools.partial(self._encrypt, secret.index(name), name)
        if key == self._name:
            return self.eval
        raise AttributeError(key)

    def _encrypt(self, place: int, name: str, value: ArrayLike) -> Any:
        from heir.interfaces import EncValue

        client, _ = self._ready()
        return EncValue(name, self.program.encrypt_one(client.client, place, value))

    def eval(self, *args: Any) -> list[Ciphertext | None]:
        """Evaluate the function on encrypted arguments, and on others as given to setup()."""
        _, server = self._ready()
        if len(args) != len(self._names):
            message = f"{self._name} takes {len(self._names)} arguments, not {len(args)}"
            raise ShapeError(message, expected=len(self._names), got=len(args))
        inputs = []
        for k, (name, value) in enumerate(zip(self._names, args, strict=True)):
            if k not in self._secret:
                self._check_plain(k, name, value)
            elif getattr(value, "identifier", None) != name:
                message = f"argument {k} of {self._name} is what encrypt_{name}() returns"
                raise ParameterError(message)
            else:
                inputs.append(value.value)
        return server.evaluate(inputs)

    def _check_plain(self, index: int, name: str, value: ArrayLike) -> None:
        if not np.array_equal(np.asarray(self._plain[index]), np.asarray(value)):
            message = f"{name} is part of the plan: call setup({name}=...) for another value"
            raise ParameterError(message)

    def decrypt_result(self, result: list[Ciphertext | None]) -> Any:
        """Decrypt what :meth:`eval` returned."""
        client, _ = self._ready()
        found = client.decrypt(result)
        return found.item() if getattr(found, "shape", None) == () else found

    def __call__(self, *args: ArrayLike) -> Any:
        """Make keys, encrypt, evaluate and decrypt."""
        if len(args) != len(self._names):
            message = f"{self._name} takes {len(self._names)} arguments, not {len(args)}"
            raise ShapeError(message, expected=len(self._names), got=len(args))
        named = dict(zip(self._names, args, strict=True))
        self.setup(**{n: named[n] for k, n in enumerate(self._names) if k not in self._secret})
        given: list[Any] = list(args)
        for k in self._secret:
            given[k] = getattr(self, f"encrypt_{self._names[k]}")(args[k])
        return self.decrypt_result(self.eval(*given))

    def original(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function in Python."""
        if self.func is None:
            raise ParameterError(f"{self._name} was not compiled from a function in Python")
        return self.func(*args, **kwargs)

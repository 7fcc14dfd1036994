"""Programs of HEIR, planned by Windlass and run on its own ciphertexts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._html import lines
from windlass._windlass import (
    Bootstrapping,
    Ciphertext,
    Circuit,
    Client,
    Context,
    Keys,
    LinearPlan,
    Server,
)
from windlass.errors import (
    DTypeError,
    MissingGaloisKey,
    MissingRelinearisationKey,
    ParameterError,
    ProgramError,
    ShapeError,
)
from windlass.heir._check import Checker
from windlass.heir._circuit import Designer, PlannedCircuit, chosen_context
from windlass.heir._entry import Entry, Setting, entry_of, setting_of
from windlass.heir._forms import Rows, Vector, align, forms, stacked
from windlass.heir._interpreter import Interpreter
from windlass.heir._ir import Type
from windlass.heir._layout import ciphertexts_of, input_slots, result_places, zero_slots
from windlass.heir._parser import parse
from windlass.heir._rules import Machine, fits
from windlass.heir._trace import Node, Slots, Trace

if TYPE_CHECKING:
    from windlass.heir._as_written import WrittenProgram

_Progress = bool | Callable[[int, int], object] | None


@dataclass(frozen=True)
class Port:
    """An argument or a result of a program."""

    index: int
    """Its number among the arguments, or results, of the function."""
    shape: tuple[int, ...]
    real: bool
    """Whether its numbers are real; otherwise they are integers."""


@dataclass(frozen=True, eq=False)
class _Result:
    """How a result is read from what the server computed."""

    port: Port
    entries: NDArray[np.int64]
    """The entry of the computed array for each entry of the result."""


class Program:
    """A program in MLIR, as HEIR compiles it, planned for Windlass.

    Made by :func:`load`. The whole program is checked and planned; no key is made. Name it in
    :meth:`Context.generate_keys`, or call :meth:`setup`.

    Attributes
    ----------
    name : str
        The function that is evaluated.
    scheme : {"BGV", "BFV", "CKKS"}
    inputs, outputs : tuple of Port
        Encrypted arguments, and results.
    slots : int
        The slots for which HEIR compiled the program.
    products, depth : int
        The successive products of ciphertexts, and the levels that Windlass plans for (CKKS) or the
        successive products with constants and ciphertexts (BGV, BFV).
    context : Context

    Examples
    --------
    >>> import windlass as wl
    >>> program = wl.heir.load('''
    ... !ct = !lwe.lwe_ciphertext<>
    ... module attributes {scheme.ckks, scheme.requested_slot_count = 8 : i64} {
    ...   func.func @square(%x: !ct) -> !ct {
    ...     %0 = ckks.mul %x, %x : (!ct, !ct) -> !ct
    ...     %1 = ckks.relinearize %0 : (!ct) -> !ct
    ...     return %1 : !ct
    ...   }
    ... }''')
    >>> program
    <windlass.heir.Program square, CKKS, 1 input, 1 output, depth 1>
    >>> program.run([0.5] * 8).round(3)
    array([0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25])

    """

    def __init__(
        self,
        text: str,
        *,
        function: str | None,
        plain: Mapping[int, ArrayLike],
        bound: float | Sequence[float],
        slots: int | None,
        context: Context | None,
        max_keys: int | None,
    ) -> None:
        self._arguments = (text, function, dict(plain), bound, slots)
        self._max_keys = max_keys
        checker = Checker(text, parse(text))
        checker.check()
        self._setting: Setting = setting_of(checker, slots)
        entry = entry_of(checker, function)
        self.name: str = entry.function.name
        self.scheme: Literal["BGV", "BFV", "CKKS"] = self._setting.scheme
        self.slots: int = self._setting.slots
        if context is not None:
            _check_context(context, self._setting)
        try:
            self._plan(Interpreter(checker), entry, plain, bound, context)
        except ProgramError as error:
            if error.line:
                raise
            raise checker.error(str(error), getattr(error, "at", entry.function.at)) from None

    def _plan(
        self,
        interpreter: Interpreter,
        entry: Entry,
        plain: Mapping[int, ArrayLike],
        bound: float | Sequence[float],
        context: Context | None,
    ) -> None:
        trace = Trace(self.slots, self._setting.modulus is not None)
        ports, arguments = self._read_inputs(interpreter, entry, plain, trace)
        self.inputs: tuple[Port, ...] = tuple(ports)
        results = interpreter.run(Machine(trace, client=False), self.name, arguments)
        nodes, wanted = self._wanted(interpreter, entry, results)
        sizes = [int(np.prod(port.shape)) for port in ports]
        made, vectors = forms(trace, sizes, self._setting.modulus, wanted)
        self.bounds: tuple[float, ...] = _bounds(bound, len(ports))
        read = [self._result(port, list_, places, vectors) for port, list_, places in nodes]
        self._results: list[_Result] = [result for result, _ in read]
        self.outputs: tuple[Port, ...] = tuple(result.port for result in self._results)
        align(made.sources, [rows for _, rows in read])
        designer = Designer(made, list(self.bounds))
        for _, rows in read:
            designer.output(rows)
        design = designer.design
        if context is None:
            context = chosen_context(design, self._setting.scale_bits, self.scheme)
        self.context: Context = context
        self._circuit = PlannedCircuit(design, context, self._max_keys)
        self.products: int = design.need.products
        exact = self._setting.modulus is not None
        self.depth: int = design.need.products + design.need.maps if exact else design.need.levels

    def _read_inputs(
        self, interpreter: Interpreter, entry: Entry, plain: Mapping[int, ArrayLike], trace: Trace
    ) -> tuple[list[Port], list[Any]]:
        """The encrypted arguments, and what the function is called with."""
        ports: list[Port] = []
        arguments: list[Any] = []
        types = entry.function.type.inputs
        # Programs with calls for debugging, which do nothing here, take keys too.
        numbers = dict(enumerate(k for k, type_ in enumerate(types) if not fits(type_, "k")))
        given = {numbers.get(number, -1): value for number, value in plain.items()}
        if any(k < 0 or types[k].is_ciphertext for k in given):
            message = f"not all of the arguments {list(plain)} of @{self.name} are plain"
            raise ParameterError(message)
        names = {index: number for number, index in numbers.items()}
        for index, type_ in enumerate(types):
            if index not in names:
                arguments.append(None)
                continue
            if not type_.is_ciphertext:
                arguments.append(
                    _plain_argument(interpreter, self.name, (names[index], type_), given.get(index))
                )
                continue
            slots = zero_slots(interpreter, self._setting, entry, index)
            if slots is None:
                port, slots = self._read_input(
                    interpreter, entry, (names[index], type_), len(ports)
                )
                ports.append(port)
            nodes = np.empty(len(slots), dtype=object)
            for k, each in enumerate(slots):
                nodes[k] = trace.node("input", [], each, entry.function.at)
            shape = tuple(n or 0 for n in type_.shape)
            arguments.append(nodes.reshape(shape) if type_.kind == "tensor" else nodes[0])
        if not ports:
            message = f"@{self.name} takes no ciphertext"
            raise interpreter.checker.error(message, entry.function.at)
        return ports, arguments

    def _read_input(
        self, interpreter: Interpreter, entry: Entry, argument: tuple[int, Type], place: int
    ) -> tuple[Port, list[Slots]]:
        """An encrypted argument, and what its ciphertexts hold."""
        index, type_ = argument
        count = ciphertexts_of(type_)
        encrypts = entry.encrypts.get(index)
        if encrypts is None:
            slots = [
                Slots(place, np.arange(self.slots) + k * self.slots, np.zeros(self.slots))
                for k in range(count)
            ]
            return Port(index, (count * self.slots,), self.scheme == "CKKS"), slots
        own = encrypts.type.inputs[0] if encrypts.type.inputs else Type("none")
        port = Port(index, tuple(n or 0 for n in own.shape), own.is_float)
        return port, input_slots(interpreter, self._setting, encrypts, place, count)

    def _wanted(
        self, interpreter: Interpreter, entry: Entry, results: list[Any]
    ) -> tuple[list[tuple[Port, list[Node], NDArray[np.int64]]], dict[int, NDArray[np.bool_]]]:
        """The ciphertexts of each result, the places of its entries, and the slots wanted."""
        found = []
        wanted: dict[int, NDArray[np.bool_]] = {}
        for index, (result, type_) in enumerate(
            zip(results, entry.function.type.results, strict=True)
        ):
            nodes = list(result.flat) if isinstance(result, np.ndarray) else [result]
            if not type_.is_ciphertext or not all(isinstance(node, Node) for node in nodes):
                message = f"result {index} of @{self.name} is not encrypted"
                raise interpreter.checker.error(message, entry.function.at)
            decrypts = entry.decrypts.get(index)
            if decrypts is None:
                shape: tuple[int, ...] = (len(nodes) * self.slots,)
                places = np.arange(shape[0])
                port = Port(index, shape, self.scheme == "CKKS")
            else:
                shape, places = result_places(interpreter, self._setting, decrypts, len(nodes))
                port = Port(index, shape, decrypts.type.results[0].is_float)
            for number, node in enumerate(nodes):
                mask = np.zeros(self.slots, dtype=bool)
                mask[places[places // self.slots == number] % self.slots] = True
                wanted[node.number] = wanted.get(node.number, False) | mask
            found.append((port, nodes, places))
        if not found:
            message = f"@{self.name} has no result"
            raise interpreter.checker.error(message, entry.function.at)
        return found, wanted

    def _result(
        self,
        port: Port,
        nodes: list[Node],
        places: NDArray[np.int64],
        vectors: dict[int, Vector],
    ) -> tuple[_Result, Rows]:
        """How a result is read, and its different rows."""
        list_ = [vectors[node.number] for node in nodes]
        rows, index = stacked(list_, places // self.slots, places % self.slots)
        labels, distinct = rows.distinct()
        return _Result(port, labels[index]), distinct

    # What users ask.

    @property
    def required_keys(self) -> list[int]:
        """The automorphisms that need Galois keys, in increasing order."""
        found: set[int] = set()
        for need in self.__windlass_needs__():
            found.update(need.required_keys)
        return sorted(found)

    @property
    def relinearisation(self) -> bool:
        """Whether ciphertexts are multiplied."""
        return self._circuit.multiplies or bool(self._circuit.polynomials)

    def __windlass_needs__(self) -> tuple[LinearPlan | Circuit | Bootstrapping | Keys, ...]:
        """Whatever :meth:`Context.generate_keys` makes keys for."""
        needs: list[LinearPlan | Circuit | Bootstrapping | Keys] = [*self._circuit.needs()]
        if self.scheme == "CKKS" and self.depth > self.context.depth:
            needs.append(self.context.bootstrapping())
        return tuple(needs)

    def setup(self, *, progress: _Progress = None) -> tuple[ProgramClient, ProgramServer]:
        """Make keys.

        Parameters
        ----------
        progress : bool or callable, optional

        Returns
        -------
        (ProgramClient, ProgramServer)

        """
        client, server = self.context.generate_keys(self, progress=progress)
        return ProgramClient(self, client), ProgramServer(self, server)

    def encrypt(self, client: Client, *inputs: ArrayLike) -> list[Ciphertext]:
        """Encrypt the arguments, in order.

        Parameters
        ----------
        client : Client
        *inputs : array_like
            One array for each of :attr:`inputs`.

        Returns
        -------
        list of Ciphertext

        Raises
        ------
        ShapeError, DTypeError, ValueRangeError
            If an array does not have the shape of its argument, or holds other numbers.

        """
        self._arrays(inputs)
        return [self.encrypt_one(client, place, given) for place, given in enumerate(inputs)]

    def encrypt_one(self, client: Client, place: int, given: ArrayLike) -> Ciphertext:
        """Encrypt one argument.

        Parameters
        ----------
        client : Client
        place : int
            Its number among :attr:`inputs`.
        given : array_like

        Returns
        -------
        Ciphertext

        Raises
        ------
        ShapeError, DTypeError, ValueRangeError
            As of :meth:`encrypt`.

        """
        array = self._array(self.inputs[place], given)
        if self.scheme == "CKKS":
            return client.encrypt(array, bound=self.bounds[place])
        return client.encrypt(array)

    def _arrays(self, inputs: Sequence[ArrayLike]) -> list[NDArray[Any]]:
        if len(inputs) != len(self.inputs):
            message = f"@{self.name} takes {len(self.inputs)} encrypted arrays, not {len(inputs)}"
            raise ShapeError(message, expected=len(self.inputs), got=len(inputs))
        return [self._array(port, given) for port, given in zip(self.inputs, inputs, strict=True)]

    def _array(self, port: Port, given: ArrayLike) -> NDArray[Any]:
        """An argument as a vector."""
        array = np.asarray(given)
        if array.dtype.kind not in ("biuf" if self.scheme == "CKKS" else "biu"):
            kind = "real numbers" if self.scheme == "CKKS" else "integers"
            raise DTypeError(f"argument {port.index} holds {kind}, not {array.dtype}")
        if array.shape != port.shape:
            message = f"argument {port.index} has the shape {port.shape}, not {array.shape}"
            raise ShapeError(message, expected=int(np.prod(port.shape)), got=array.size)
        if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
            raise DTypeError(f"argument {port.index} holds integers above 2^63")
        return array.reshape(-1).astype(np.float64 if self.scheme == "CKKS" else np.int64)

    def evaluate(self, server: Server, inputs: Sequence[Ciphertext]) -> list[Ciphertext | None]:
        """Evaluate the function at the server.

        Parameters
        ----------
        server : Server
        inputs : sequence of Ciphertext
            As of :meth:`encrypt`.

        Returns
        -------
        list of Ciphertext
            None for a result that depends on no argument.

        Raises
        ------
        ShapeError
            If the ciphertexts are not those of the arguments.
        MissingKeys, OtherContext, CapacityExhausted
            As of the operations on ciphertexts.

        """
        sizes = [int(np.prod(port.shape)) for port in self.inputs]
        if [x.shape for x in inputs] != [(size,) for size in sizes]:
            message = f"ciphertexts of the arguments have the shapes {[(n,) for n in sizes]}"
            raise ShapeError(message, expected=len(sizes), got=len(inputs))
        self._check_keys(server)
        return self._circuit.run([server.receive(x) for x in inputs])

    def _check_keys(self, server: Server) -> None:
        """Refuse a server without the keys, before any work."""
        missing = sorted(set(self.required_keys) - set(server.galois_elements))
        how = "name the program in generate_keys or generate_server"
        if missing:
            message = f"@{self.name} needs {len(missing)} Galois keys that the server lacks: {how}"
            raise MissingGaloisKey(message, elements=missing, needed_by=self.name)
        if self.relinearisation and not server.relinearisation:
            message = f"@{self.name} needs the relinearisation key, which the server lacks: {how}"
            raise MissingRelinearisationKey(message, relinearisation=True, needed_by=self.name)

    def decrypt(self, client: Client, results: Sequence[Ciphertext | None]) -> Any:
        """Decrypt the results.

        Parameters
        ----------
        client : Client
        results : sequence of Ciphertext
            As of :meth:`evaluate`.

        Returns
        -------
        numpy.ndarray, or a tuple of these if there are several results
            float64, or int64 between -modulus/2 and modulus/2.

        """
        if len(results) != len(self._results):
            message = f"@{self.name} has {len(self._results)} results, not {len(results)}"
            raise ShapeError(message, expected=len(self._results), got=len(results))
        arrays = []
        for k, result in enumerate(results):
            known = self._circuit.design.outputs[k].constant
            arrays.append(known if result is None else client.decrypt(result))
        return self._read(arrays)

    def _read(self, arrays: list[NDArray[Any]]) -> Any:
        found = []
        for array, result in zip(arrays, self._results, strict=True):
            entries = np.asarray(array)[result.entries].reshape(result.port.shape)
            found.append(entries.astype(np.float64 if self.scheme == "CKKS" else np.int64))
        return found[0] if len(found) == 1 else tuple(found)

    def run(self, *inputs: ArrayLike, progress: _Progress = False) -> Any:
        """Make keys, encrypt, evaluate and decrypt, in one process.

        Parameters
        ----------
        *inputs : array_like
            One array for each of :attr:`inputs`.
        progress : bool or callable, optional

        Returns
        -------
        numpy.ndarray, or a tuple of these
            As of :meth:`decrypt`.

        """
        self._arrays(inputs)
        client, server = self.setup(progress=progress)
        return client.decrypt(server.evaluate(client.encrypt(*inputs)))

    def in_the_clear(self, *inputs: ArrayLike) -> Any:
        """Compute the same steps without encryption.

        Parameters
        ----------
        *inputs : array_like

        Returns
        -------
        numpy.ndarray, or a tuple of these
            As of :meth:`decrypt`.

        """
        return self._read(self._circuit.in_the_clear(self._arrays(inputs)))

    def explain(self) -> str:
        """Describe what the server computes, its keys, and its parameters.

        Returns
        -------
        str

        """
        design = self._circuit.design
        found = [
            f"function     @{self.name}, {self.scheme}, with parameters of the planner",
            f"encrypted    {_shapes(self.inputs)}",
            f"results      {_shapes(self.outputs)}",
        ]
        for step in design.steps:
            if step.factors is not None:
                square = step.factors[0] is step.factors[1]
                what = "square" if square else "product"
                parts = step.factors[:1] if square else step.factors
            else:
                assert step.inner is not None
                what, parts = f"polynomial of degree {len(step.coefficients) - 1}", (step.inner,)
            of = "; ".join(_in_words(part) for part in parts)
            found.append(f"array {step.source:<6} {what} of {step.size} entries: {of}")
        for k, affine in enumerate(design.outputs):
            found.append(f"result {k:<5} {_in_words(affine)}")
        sizes = self.context.sizes()
        keys = len(self.required_keys) + int(self.relinearisation)
        megabytes = keys * sizes["switching_key_memory"] / 1e6
        found += [
            f"depth        {self.depth}, of which {self.products} products of ciphertexts",
            f"parameters   ring dimension {self.context.ring_dimension}, "
            f"{self.context.security:.0f} bits of security",
            f"keys         {keys}, about {megabytes:.1f} MB in memory",
        ]
        return "\n".join(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (*self._arguments, self.context, self._max_keys)

    def __repr__(self) -> str:
        inputs, outputs = len(self.inputs), len(self.outputs)
        return (
            f"<windlass.heir.Program {self.name}, {self.scheme}, "
            f"{inputs} input{'s' * (inputs != 1)}, {outputs} output{'s' * (outputs != 1)}, "
            f"depth {self.depth}>"
        )

    def _repr_html_(self) -> str:
        return lines(self.explain())


class ProgramClient:
    """The client of a program: it encrypts arguments and decrypts results.

    Attributes
    ----------
    program : Program
    client : Client

    """

    def __init__(self, program: Program, client: Client) -> None:
        self.program, self.client = program, client

    def encrypt(self, *inputs: ArrayLike) -> list[Ciphertext]:
        """Encrypt the arguments, as :meth:`Program.encrypt`."""
        return self.program.encrypt(self.client, *inputs)

    def decrypt(self, results: Sequence[Ciphertext | None]) -> Any:
        """Decrypt the results, as :meth:`Program.decrypt`."""
        return self.program.decrypt(self.client, results)

    def __repr__(self) -> str:
        return f"<windlass.heir.ProgramClient of {self.program.name}>"


class ProgramServer:
    """The server of a program: it has the keys for evaluation, and not the secret key.

    Attributes
    ----------
    program : Program
    server : Server

    """

    def __init__(self, program: Program, server: Server) -> None:
        self.program, self.server = program, server

    def evaluate(self, inputs: Sequence[Ciphertext]) -> list[Ciphertext | None]:
        """Evaluate the program, as :meth:`Program.evaluate`."""
        return self.program.evaluate(self.server, inputs)

    def __repr__(self) -> str:
        return f"<windlass.heir.ProgramServer of {self.program.name}>"


@overload
def load(
    text: str,
    *,
    function: str | None = None,
    plain: Mapping[int, ArrayLike] | None = None,
    bound: float | Sequence[float] = 1.0,
    slots: int | None = None,
    context: Context | None = None,
    max_keys: int | None = None,
    run: Literal["as meant"] = "as meant",
) -> Program: ...
@overload
def load(
    text: str,
    *,
    function: str | None = None,
    plain: Mapping[int, ArrayLike] | None = None,
    bound: float | Sequence[float] = 1.0,
    slots: int | None = None,
    run: Literal["as written"],
    scale_tolerance: float | None = None,
    insecure: bool = False,
) -> WrittenProgram: ...
def load(
    text: str,
    *,
    function: str | None = None,
    plain: Mapping[int, ArrayLike] | None = None,
    bound: float | Sequence[float] = 1.0,
    slots: int | None = None,
    context: Context | None = None,
    max_keys: int | None = None,
    run: Literal["as meant", "as written"] = "as meant",
    scale_tolerance: float | None = None,
    insecure: bool = False,
) -> Program:
    """Read, check and plan a program that HEIR compiled to CKKS, BGV or BFV.

    The text is what ``heir-opt --mlir-to-ckks`` or ``--mlir-to-bgv`` prints, also with
    ``--mlir-print-op-generic``. It is data: reading it runs no code, and its size, its depth and
    what it computes are limited.

    **Warning.** By default the program runs *as meant*: it computes the same numbers, but Windlass
    chooses the parameters and how linear maps are computed. Moduli, levels and scales that the text
    states are not used. With ``run="as written"`` they are, and so is every relinearisation,
    rescaling and reduction of levels.

    Parameters
    ----------
    text : str
    function : str, optional
        The function to evaluate. By default the entry of the program.
    plain : mapping of int to array_like, optional
        The values of arguments that are not encrypted, by their number. They become part of the
        plan.
    bound : float or sequence of float
        CKKS: the largest absolute value of encrypted arguments, for all or for each. Public.
    slots : int, optional
        How many slots the program has, if its module does not say it.
    context : Context, optional
        By default the smallest parameters with 128 bits of security whose depth suffices; if there
        are none, parameters with refreshes.
    max_keys : int, optional
        The largest number of Galois keys for one matrix. Matrices share keys, so a program with
        many matrices needs far fewer keys then.
    run : {"as meant", "as written"}
        As written, CKKS and BGV only: with the parameters and operations of the text, on an
        :class:`ExplicitContext`. ``context`` and ``max_keys`` do not apply then.
    scale_tolerance : float, optional
        As written, CKKS: the relative difference of scales that a sum may have, 2^-20 by default.
        It is counted in the bounds on errors.
    insecure : bool
        As written: whether the parameters of the text may have less than 128 bits of security.

    Returns
    -------
    Program

    Raises
    ------
    ProgramError
        If the text is not a program that Windlass can run; the message, ``line`` and ``column`` say
        where, and ``operation`` is the name of an operation that is not supported.
    ParameterError, ShapeError, DTypeError
        If an argument does not fit the program.
    NoParameters
        If no parameters suffice.

    Examples
    --------
    >>> import windlass as wl
    >>> wl.heir.load("func.func @f() { openfhe.add }")
    Traceback (most recent call last):
        ...
    windlass.errors.ProgramError: line 1, column 18: the operation openfhe.add is not supported; ...

    """
    if not isinstance(text, str):
        raise DTypeError(f"a program is a str, not {type(text).__name__}")
    if run == "as written":
        from windlass.heir._as_written import WrittenProgram

        if context is not None or max_keys is not None:
            raise ParameterError("context and max_keys do not apply to a program run as written")
        return WrittenProgram(
            text,
            function=function,
            plain={} if plain is None else plain,
            bound=bound,
            slots=slots,
            scale_tolerance=scale_tolerance,
            insecure=insecure,
        )
    if run != "as meant":
        raise ParameterError(f'run is "as meant" or "as written", not {run!r}')
    return Program(
        text,
        function=function,
        plain={} if plain is None else plain,
        bound=bound,
        slots=slots,
        context=context,
        max_keys=max_keys,
    )


def _restore(  # noqa: PLR0917 - as pickles call it
    text: str,
    function: str | None,
    plain: dict[int, ArrayLike],
    bound: float | Sequence[float],
    slots: int | None,
    context: Context,
    max_keys: int | None,
) -> Program:
    """Restore a pickled program."""
    return load(
        text,
        function=function,
        plain=plain,
        bound=bound,
        slots=slots,
        context=context,
        max_keys=max_keys,
    )


def _bounds(bound: float | Sequence[float], count: int) -> tuple[float, ...]:
    given = np.asarray(bound, dtype=float)
    bounds = np.full(count, given) if given.ndim == 0 else given
    if bounds.shape != (count,) or not (np.isfinite(bounds) & (bounds > 0)).all():
        message = f"bound is a positive number, or one for each of the {count} encrypted arguments"
        raise ParameterError(message)
    return tuple(float(x) for x in bounds)


def _check_context(context: Context, setting: Setting) -> None:
    wanted = (
        setting.scheme if setting.modulus is None else f"{setting.scheme} modulo {setting.modulus}"
    )
    if context.scheme != setting.scheme or context.modulus != setting.modulus:
        own = (
            context.scheme
            if context.modulus is None
            else f"{context.scheme} modulo {context.modulus}"
        )
        raise ParameterError(f"the program is for {wanted}, but the context is {own}")


def _plain_argument(
    interpreter: Interpreter, name: str, argument: tuple[int, Type], given: ArrayLike | None
) -> Any:
    index, type_ = argument
    if not (type_.is_float or type_.is_integer):
        function = interpreter.module.functions[name]
        message = f"argument {index} of @{name} is {type_}, which is not supported"
        raise interpreter.checker.error(message, function.at)
    shape = tuple(n or 0 for n in type_.shape)
    if given is None:
        message = f"argument {index} of @{name} is not encrypted: give plain={{{index}: ...}}"
        raise ParameterError(message)
    array = np.asarray(given)
    if array.shape != shape:
        message = f"plain argument {index} has the shape {shape}, not {array.shape}"
        raise ShapeError(message, expected=int(np.prod(shape)), got=array.size)
    if array.dtype.kind not in ("biuf" if type_.is_float else "biu"):
        raise DTypeError(f"plain argument {index} is {type_}, not {array.dtype}")
    own = array.astype(np.float64 if type_.is_float else np.int64)
    if not np.isfinite(own).all():
        raise ParameterError(f"plain argument {index} holds numbers that are not finite")
    return own if type_.kind == "tensor" else own.item()


def _shapes(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{port.index}: {port.shape}" for port in ports)


def _in_words(affine: Any) -> str:
    """A sum of sources, described."""

    def parts() -> Iterator[str]:
        for block in affine.blocks:
            name = f"array {block.source}"
            if block.kind == "matrix":
                rows, columns = block.matrix.shape
                yield f"matrix {rows} x {columns} @ {name}"
            else:
                yield {"same": name, "negated": f"-{name}", "factor": f"{name} * constant"}[
                    block.kind
                ]
        if affine.constant.any() or not affine.blocks:
            yield "constant"

    return " + ".join(parts())

"""Programs of HEIR, planned by Windlass and run on its own ciphertexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import ArrayLike

from windlass._html import lines
from windlass._windlass import Bootstrapping, Ciphertext, Client, Context, Keys, Server
from windlass.errors import DTypeError, FileError, ParameterError
from windlass.heir._circuit import PlannedCircuit
from windlass.heir._container import damaged, read, write
from windlass.heir._explain import explained_server
from windlass.heir._planning import planned
from windlass.heir._ports import Interface, Port
from windlass.heir._saved import program_bytes, saved
from windlass.heir.halves import (
    ClientProgram,
    ProgramClient,
    ProgramServer,
    Progress,
    ServerProgram,
)

if TYPE_CHECKING:
    from windlass.heir._as_written import WrittenProgram


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
    bounds : tuple of float
        CKKS: the largest absolute value of each encrypted argument.
    context : Context
    client_half : ClientProgram
    server_half : ServerProgram

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

    def __init__(self, interface: Interface, circuit: PlannedCircuit) -> None:
        self.server_half = ServerProgram(
            interface.name, interface.scheme, interface.inputs, circuit
        )
        self.client_half = ClientProgram(interface, circuit.context, self.server_half.keys)
        self.name: str = interface.name
        self.scheme: Literal["BGV", "BFV", "CKKS"] = interface.scheme
        self.slots: int = interface.slots
        self.inputs: tuple[Port, ...] = interface.inputs
        self.outputs: tuple[Port, ...] = interface.outputs
        self.bounds: tuple[float, ...] = interface.bounds
        self.products: int = self.server_half.products
        self.depth: int = self.server_half.depth
        self.context: Context = circuit.context

    @property
    def required_keys(self) -> list[int]:
        """The automorphisms that need Galois keys, in increasing order."""
        return self.client_half.required_keys

    @property
    def relinearisation(self) -> bool:
        """Whether ciphertexts are multiplied."""
        return self.client_half.relinearisation

    def __windlass_needs__(self) -> tuple[Keys | Bootstrapping, ...]:
        """Whatever :meth:`Context.generate_keys` makes keys for."""
        return self.client_half.__windlass_needs__()

    def setup(self, *, progress: Progress = None) -> tuple[ProgramClient, ProgramServer]:
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
        """Encrypt the arguments, in order, as :meth:`ClientProgram.encrypt`."""
        return self.client_half.encrypt(client, *inputs)

    def encrypt_one(self, client: Client, place: int, given: ArrayLike) -> Ciphertext:
        """Encrypt one argument, as :meth:`ClientProgram.encrypt_one`."""
        return self.client_half.encrypt_one(client, place, given)

    def evaluate(self, server: Server, inputs: Sequence[Ciphertext]) -> list[Ciphertext | None]:
        """Evaluate the function at the server, as :meth:`ServerProgram.evaluate`."""
        return self.server_half.evaluate(server, inputs)

    def decrypt(self, client: Client, results: Sequence[Ciphertext | None]) -> Any:
        """Decrypt the results, as :meth:`ClientProgram.decrypt`."""
        return self.client_half.decrypt(client, results)

    def run(self, *inputs: ArrayLike, progress: Progress = False) -> Any:
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
        self.client_half.interface.vectors(inputs)
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
        interface = self.client_half.interface
        return interface.read(self.server_half.circuit.in_the_clear(interface.vectors(inputs)))

    def explain(self) -> str:
        """Describe what the server computes, its keys, and its parameters.

        Returns
        -------
        str

        """
        return explained_server(self.server_half, self.outputs)

    def save(self, path: str | Path) -> int:
        """Write the planned program to a new file, which :func:`open` reads.

        The file holds matrices, products and the places of entries, and not the text. A client
        needs no more than :attr:`client_half`, and a server no more than :attr:`server_half`. Each
        of them has ``save`` too.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        int
            The bytes of the file.

        Raises
        ------
        FileExists
            If the file exists; it is not changed.

        """
        return write(path, program_bytes(self.client_half, self.server_half))

    def __reduce__(self) -> tuple[Any, ...]:
        # This process had the context before.
        return _program_of, (program_bytes(self.client_half, self.server_half), True)

    def __repr__(self) -> str:
        words = self.client_half.interface.in_words()
        return f"<windlass.heir.Program {words}, depth {self.depth}>"

    def _repr_html_(self) -> str:
        return lines(self.explain())


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
) -> Program | WrittenProgram:
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
    found = planned(
        text,
        function=function,
        plain={} if plain is None else plain,
        bound=bound,
        slots=slots,
        context=context,
    )
    return Program(found.interface, PlannedCircuit(found.design, found.context, max_keys))


def open(path: str | Path, *, insecure: bool = False) -> Program | ClientProgram | ServerProgram:
    """Read a program, or a half of one, from its file.

    Files may come from others. Reading one runs no code, and what it says is checked: also a file
    with the right checksum is refused if its parts do not fit. Matrices are planned again.

    Parameters
    ----------
    path : str or path-like
    insecure : bool, default False
        Accept parameters with fewer than 128 bits of security.

    Returns
    -------
    Program, ClientProgram or ServerProgram
        What was saved.

    Raises
    ------
    MissingFile
        If there is no such file.
    FileError
        If the file is not one of these, is damaged, or is of a later version.
    InsecureParameters
        If its parameters have fewer than 128 bits of security.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import windlass as wl
    >>> text = pathlib.Path("layer.mlir").read_text()       # doctest: +SKIP
    >>> wl.heir.load(text).client_half.save("layer.client")  # doctest: +SKIP
    702
    >>> wl.heir.open("layer.client")                         # doctest: +SKIP
    <windlass.heir.ClientProgram layer, CKKS, 1 input, 1 output>

    """
    data = read(path)
    try:
        found = saved(data, insecure=insecure)
    except FileError as error:
        raise FileError(f"{path}: {error}") from error.__cause__
    if found.circuit is None:
        assert found.interface is not None and found.keys is not None
        return ClientProgram(found.interface, found.context, found.keys)
    if found.interface is None:
        return ServerProgram(found.name, found.scheme, found.inputs, found.circuit)
    return Program(found.interface, found.circuit)


def _program_of(data: bytes, insecure: bool = False) -> Program:
    """Restore a pickled program."""
    found = saved(data, insecure=insecure)
    if found.circuit is None or found.interface is None:
        raise damaged("it is a half of a program")
    return Program(found.interface, found.circuit)

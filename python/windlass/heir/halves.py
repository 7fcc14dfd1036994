"""The two halves of a program: what a client needs of it, and what a server does.

A client encrypts arguments, reads results, and makes the keys: it needs shapes, bounds and the
numbers of keys, and no operation of the program. A server computes: it needs matrices and products,
and no place of an entry in a result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._html import lines
from windlass._windlass import Bootstrapping, Ciphertext, Client, Context, Keys, Server
from windlass.errors import MissingGaloisKey, MissingRelinearisationKey, ShapeError
from windlass.heir._circuit import PlannedCircuit
from windlass.heir._container import damaged, write
from windlass.heir._explain import explained_client, explained_server
from windlass.heir._ports import Interface, KeyNeeds, Port
from windlass.heir._saved import client_bytes, saved, server_bytes

Progress = bool | Callable[[int, int], object] | None


class ClientProgram:
    """What a client needs of a program: it encrypts arguments, reads results and makes keys.

    It holds no operation of the program. It is :attr:`Program.client_half`. Name it in
    :meth:`Context.generate_keys`, or call :meth:`setup`.

    Attributes
    ----------
    name : str
    scheme : {"BGV", "BFV", "CKKS"}
    slots : int
    inputs, outputs : tuple of Port
    bounds : tuple of float
    context : Context
    keys : KeyNeeds

    """

    def __init__(self, interface: Interface, context: Context, keys: KeyNeeds) -> None:
        self.interface, self.context, self.keys = interface, context, keys
        self.name: str = interface.name
        self.scheme: Literal["BGV", "BFV", "CKKS"] = interface.scheme
        self.slots: int = interface.slots
        self.inputs: tuple[Port, ...] = interface.inputs
        self.outputs: tuple[Port, ...] = interface.outputs
        self.bounds: tuple[float, ...] = interface.bounds

    @property
    def required_keys(self) -> list[int]:
        """The automorphisms that need Galois keys, in increasing order."""
        return self.keys.elements(self.context)

    @property
    def relinearisation(self) -> bool:
        """Whether ciphertexts are multiplied."""
        return self.keys.relinearisation

    def __windlass_needs__(self) -> tuple[Keys | Bootstrapping, ...]:
        return self.keys.of(self.context)

    def setup(self, *, progress: Progress = None) -> tuple[ProgramClient, Server]:
        """Make keys, as :meth:`Program.setup`; the server's are those of a plain server.

        Parameters
        ----------
        progress : bool or callable, optional

        Returns
        -------
        (ProgramClient, Server)

        """
        client, server = self.context.generate_keys(self, progress=progress)
        return ProgramClient(self, client), server

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
        self.interface.vectors(inputs)
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
        array = self.interface.vector(place, given)
        if self.scheme == "CKKS":
            return client.encrypt(array, bound=self.bounds[place])
        return client.encrypt(array)

    def decrypt(self, client: Client, results: Sequence[Ciphertext | None]) -> Any:
        """Decrypt the results.

        Parameters
        ----------
        client : Client
        results : sequence of Ciphertext
            As of :meth:`ServerProgram.evaluate`.

        Returns
        -------
        numpy.ndarray, or a tuple of these if there are several results
            float64, or int64 between -modulus/2 and modulus/2.

        Raises
        ------
        ShapeError
            If the results are not those of this program.

        """
        known = self.interface.results
        if len(results) != len(known):
            message = f"@{self.name} has {len(known)} results, not {len(results)}"
            raise ShapeError(message, expected=len(known), got=len(results))
        arrays: list[NDArray[Any]] = []
        for own, result in zip(known, results, strict=True):
            if result is None and own.known is not None:
                arrays.append(own.known)
                continue
            shape = () if result is None else result.shape
            if result is None or shape != (own.size,):
                what = f"result {own.port.index} of @{self.name}"
                message = f"{what} is {own.size} encrypted numbers, not an array of shape {shape}"
                raise ShapeError(message, expected=own.size, got=int(np.prod(shape)))
            arrays.append(client.decrypt(result))
        return self.interface.read(arrays)

    def save(self, path: str | Path) -> int:
        """Write this half to a new file, which :func:`open` reads.

        The file holds no operation, no matrix and no secret key.

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
        return write(path, client_bytes(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # This process had the context before.
        return client_of, (client_bytes(self), True)

    def explain(self) -> str:
        """Describe what the client sends and reads, and its keys.

        Returns
        -------
        str

        """
        return explained_client(self)

    def __repr__(self) -> str:
        return f"<windlass.heir.ClientProgram {self.interface.in_words()}>"

    def _repr_html_(self) -> str:
        return lines(self.explain())


class ServerProgram:
    """What a server does: matrices, products and polynomials, for ciphertexts of known shapes.

    It holds no secret, no argument of a client, and no text. It is :attr:`Program.server_half`.

    **Warning.** It holds the numbers of the program: its matrices, and the values of arguments that
    are not encrypted.

    Attributes
    ----------
    name : str
    scheme : {"BGV", "BFV", "CKKS"}
    inputs : tuple of Port
    context : Context
    products, depth : int
        As of :class:`Program`.

    """

    def __init__(
        self,
        name: str,
        scheme: Literal["BGV", "BFV", "CKKS"],
        inputs: tuple[Port, ...],
        circuit: PlannedCircuit,
    ) -> None:
        self.name, self.scheme, self.inputs, self.circuit = name, scheme, inputs, circuit
        self.context: Context = circuit.context
        self.products: int = circuit.design.need.products
        self.depth: int = circuit.depth

    @property
    def keys(self) -> KeyNeeds:
        """The keys that it needs."""
        return self.circuit.keys()

    @property
    def required_keys(self) -> list[int]:
        """The automorphisms that need Galois keys, in increasing order."""
        return self.keys.elements(self.context)

    @property
    def relinearisation(self) -> bool:
        """Whether ciphertexts are multiplied."""
        return self.keys.relinearisation

    def evaluate(self, server: Server, inputs: Sequence[Ciphertext]) -> list[Ciphertext | None]:
        """Evaluate the function at the server.

        Parameters
        ----------
        server : Server
        inputs : sequence of Ciphertext
            As of :meth:`ClientProgram.encrypt`.

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
        sizes = [port.size for port in self.inputs]
        if [x.shape for x in inputs] != [(size,) for size in sizes]:
            message = f"ciphertexts of the arguments have the shapes {[(n,) for n in sizes]}"
            raise ShapeError(message, expected=len(sizes), got=len(inputs))
        self._check_keys(server)
        return self.circuit.run([server.receive(x) for x in inputs])

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

    def save(self, path: str | Path) -> int:
        """Write this half to a new file, which :func:`open` reads.

        The file holds no secret key, no array of a client, and not the text of the program.

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
        return write(path, server_bytes(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # This process had the context before.
        return server_of, (server_bytes(self), True)

    def explain(self) -> str:
        """Describe what the server computes, its keys, and its parameters.

        Returns
        -------
        str

        """
        return explained_server(self)

    def __repr__(self) -> str:
        return f"<windlass.heir.ServerProgram {self.name}, {self.scheme}, depth {self.depth}>"

    def _repr_html_(self) -> str:
        return lines(self.explain())


def client_of(data: bytes, insecure: bool = False) -> ClientProgram:
    """Read a client's half from its bytes."""
    found = saved(data, insecure=insecure)
    if found.interface is None or found.keys is None:
        raise damaged("it is no half of a client")
    return ClientProgram(found.interface, found.context, found.keys)


def server_of(data: bytes, insecure: bool = False) -> ServerProgram:
    """Read a server's half from its bytes."""
    found = saved(data, insecure=insecure)
    if found.circuit is None:
        raise damaged("it is no half of a server")
    return ServerProgram(found.name, found.scheme, found.inputs, found.circuit)


class ProgramClient:
    """The client of a program: it encrypts arguments and decrypts results.

    Attributes
    ----------
    program : Program or ClientProgram
    client : Client

    """

    def __init__(self, program: Any, client: Client) -> None:
        self.program, self.client = program, client

    def encrypt(self, *inputs: ArrayLike) -> list[Ciphertext]:
        """Encrypt the arguments, as :meth:`Program.encrypt`."""
        found: list[Ciphertext] = self.program.encrypt(self.client, *inputs)
        return found

    def decrypt(self, results: Sequence[Ciphertext | None]) -> Any:
        """Decrypt the results, as :meth:`Program.decrypt`."""
        return self.program.decrypt(self.client, results)

    def __repr__(self) -> str:
        return f"<windlass.heir.ProgramClient of {self.program.name}>"


class ProgramServer:
    """The server of a program: it has the keys for evaluation, and not the secret key.

    Attributes
    ----------
    program : Program or ServerProgram
    server : Server

    """

    def __init__(self, program: Any, server: Server) -> None:
        self.program, self.server = program, server

    def evaluate(self, inputs: Sequence[Ciphertext]) -> list[Ciphertext | None]:
        """Evaluate the program, as :meth:`Program.evaluate`."""
        found: list[Ciphertext | None] = self.program.evaluate(self.server, inputs)
        return found

    def __repr__(self) -> str:
        return f"<windlass.heir.ProgramServer of {self.program.name}>"

"""The arguments and results of a program: what a client encrypts, and what it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._windlass import Bootstrapping, Context, Keys
from windlass.errors import DTypeError, ShapeError


@dataclass(frozen=True)
class Port:
    """An argument or a result of a program."""

    index: int
    """Its number among the arguments, or results, of the function."""
    shape: tuple[int, ...]
    real: bool
    """Whether its numbers are real; otherwise they are integers."""

    @property
    def size(self) -> int:
        """The number of its entries."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class KeyNeeds:
    """The evaluation keys of a program."""

    galois: tuple[int, ...]
    """The automorphisms of its matrices, in increasing order."""
    relinearisation: bool
    refreshes: bool
    """Whether ciphertexts are refreshed, which needs keys of its own."""

    def of(self, context: Context) -> tuple[Keys | Bootstrapping, ...]:
        """Whatever :meth:`Context.generate_keys` makes keys for."""
        own = context.keys(list(self.galois), relinearisation=self.relinearisation)
        return (own, context.bootstrapping()) if self.refreshes else (own,)

    def elements(self, context: Context) -> list[int]:
        """All automorphisms, in increasing order."""
        found = {element for need in self.of(context) for element in need.required_keys}
        return sorted(found)


@dataclass(frozen=True, eq=False)
class Result:
    """How a result is read from what the server computed."""

    port: Port
    entries: NDArray[np.int64]
    """The entry of the computed array for each entry of the result."""
    size: int
    """The length of the computed array."""
    known: NDArray[Any] | None
    """The computed array, if it depends on no argument."""


@dataclass(frozen=True, eq=False)
class Interface:
    """What a client knows of a program."""

    name: str
    scheme: Literal["BGV", "BFV", "CKKS"]
    slots: int
    inputs: tuple[Port, ...]
    orders: tuple[NDArray[np.int64], ...]
    """The entry of each argument that is encrypted at each place: the order of HEIR's slots."""
    bounds: tuple[float, ...]
    """CKKS: the largest absolute value of each encrypted argument."""
    results: tuple[Result, ...]

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The results."""
        return tuple(result.port for result in self.results)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers of the scheme."""
        return np.dtype(np.float64 if self.scheme == "CKKS" else np.int64)

    def vectors(self, inputs: Sequence[ArrayLike]) -> list[NDArray[Any]]:
        """The arguments as vectors."""
        if len(inputs) != len(self.inputs):
            message = f"@{self.name} takes {len(self.inputs)} encrypted arrays, not {len(inputs)}"
            raise ShapeError(message, expected=len(self.inputs), got=len(inputs))
        return [self.vector(place, given) for place, given in enumerate(inputs)]

    def vector(self, place: int, given: ArrayLike) -> NDArray[Any]:
        """One argument as a vector."""
        port, array = self.inputs[place], np.asarray(given)
        if array.dtype.kind not in ("biuf" if self.scheme == "CKKS" else "biu"):
            kind = "real numbers" if self.scheme == "CKKS" else "integers"
            raise DTypeError(f"argument {port.index} holds {kind}, not {array.dtype}")
        if array.shape != port.shape:
            message = f"argument {port.index} has the shape {port.shape}, not {array.shape}"
            raise ShapeError(message, expected=port.size, got=array.size)
        if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
            raise DTypeError(f"argument {port.index} holds integers above 2^63")
        return array.reshape(-1)[self.orders[place]].astype(self.dtype)

    def read(self, arrays: Sequence[NDArray[Any]]) -> Any:
        """The results, of the arrays that were computed: one array, or a tuple of several."""
        found = [
            np.asarray(array)[result.entries].reshape(result.port.shape).astype(self.dtype)
            for array, result in zip(arrays, self.results, strict=True)
        ]
        return found[0] if len(found) == 1 else tuple(found)

    def in_words(self) -> str:
        """The name, the scheme, and how many arrays go in and out."""
        inputs, outputs = len(self.inputs), len(self.results)
        return (
            f"{self.name}, {self.scheme}, {inputs} input{'s' * (inputs != 1)}, "
            f"{outputs} output{'s' * (outputs != 1)}"
        )

"""What a program does to encrypted vectors, as a list of operations on slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windlass.errors import ProgramError

Kind = Literal["input", "rotate", "scale", "shift", "add", "multiply", "linear", "polynomial"]

MOST_NODES = 2**20
"""The largest number of operations on ciphertexts in a program."""


MOST_NUMBERS = 2**27
"""The largest number of slots of all plaintexts together."""


@dataclass(frozen=True, eq=False)
class Linear:
    """A sum of rotations: output i is the sum of ``diagonals[k][i] * x[i + shifts[k]]``."""

    shifts: tuple[int, ...]
    diagonals: NDArray[Any]


class Node:
    """An encrypted vector."""

    __slots__ = ("at", "kind", "number", "parents", "payload")

    def __init__(
        self, number: int, kind: Kind, parents: tuple[Node, ...], payload: Any, at: int
    ) -> None:
        self.number, self.kind, self.parents, self.payload, self.at = (
            number,
            kind,
            parents,
            payload,
            at,
        )


@dataclass(frozen=True, eq=False)
class Slots:
    """What the slots of an input hold: ``element[i]`` is the entry of the array in slot i, or -1.

    Slots without an entry hold ``constant[i]``.
    """

    argument: int
    element: NDArray[np.int64]
    constant: NDArray[Any]


@dataclass
class Trace:
    """The operations of a program, in order."""

    slots: int
    exact: bool
    nodes: list[Node] = field(default_factory=list)
    held: int = 0
    """The numbers of all plaintexts."""

    def node(self, kind: Kind, parents: Sequence[Node], payload: Any, at: int) -> Node:
        """Add an operation."""
        if len(self.nodes) >= MOST_NODES:
            raise ProgramError(f"more than {MOST_NODES} operations on ciphertexts")
        found = Node(len(self.nodes), kind, tuple(parents), payload, at)
        self.nodes.append(found)
        return found

    def numbers(self, plaintext: Any) -> NDArray[Any]:
        """The slots of a plaintext: a vector whose length divides the slots repeats in them."""
        array = np.asarray(plaintext)
        flat = array.reshape(-1)
        if flat.size == 0 or self.slots % flat.size:
            message = f"{flat.size} numbers do not fill {self.slots} slots"
            raise ProgramError(message)
        if not np.isfinite(flat).all():
            raise ProgramError("a plaintext holds numbers that are not finite")
        self.held += self.slots
        if self.held > MOST_NUMBERS:
            raise ProgramError(f"the plaintexts hold more than {MOST_NUMBERS} numbers")
        return np.tile(flat, self.slots // flat.size)

    # What operations of the program become.

    def rotate(self, x: Node, shift: int, at: int) -> Node:
        """Slot i of the result is slot i + shift."""
        shift %= self.slots
        return self.node("rotate", [x], shift, at) if shift else x

    def scale(self, x: Node, factors: Any, at: int) -> Node:
        """A product with a plaintext."""
        return self.node("scale", [x], self.numbers(factors), at)

    def negate(self, x: Node, at: int) -> Node:
        """The negated vector."""
        return self.scale(x, np.array([-1]), at)

    def shift(self, x: Node, summands: Any, at: int) -> Node:
        """A sum with a plaintext."""
        return self.node("shift", [x], self.numbers(summands), at)

    def add(self, x: Node, y: Node, at: int) -> Node:
        """A sum."""
        return self.node("add", [x, y], None, at)

    def multiply(self, x: Node, y: Node, at: int) -> Node:
        """A product."""
        return self.node("multiply", [x, y], None, at)

    def linear(self, x: Node, map_: Linear, at: int) -> Node:
        """A linear map."""
        if map_.diagonals.shape != (len(map_.shifts), self.slots):
            message = (
                f"{len(map_.shifts)} diagonals of {self.slots} slots expected, "
                f"not an array of shape {map_.diagonals.shape}"
            )
            raise ProgramError(message)
        return self.node("linear", [x], map_, at)

    def polynomial(self, x: Node, coefficients: tuple[float, ...], at: int) -> Node:
        """A sum of Chebyshev polynomials on the interval from -1 to 1."""
        return self.node("polynomial", [x], coefficients, at)


def demands(trace: Trace, wanted: dict[int, NDArray[np.bool_]]) -> dict[int, NDArray[np.bool_]]:
    """Which slots of each operation the wanted slots of the results depend on."""
    found = {number: mask.copy() for number, mask in wanted.items()}
    for node in reversed(trace.nodes):
        mask = found.get(node.number)
        if mask is None:
            continue
        for parent in node.parents:
            needed = _needed(node, mask)
            if parent.number in found:
                found[parent.number] |= needed
            else:
                found[parent.number] = needed.copy()
    return found


def _needed(node: Node, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The slots of an operand that the slots of a result depend on."""
    if node.kind == "rotate":
        rolled: NDArray[np.bool_] = np.roll(mask, node.payload)
        return rolled
    if node.kind == "scale":
        held: NDArray[np.bool_] = mask & (node.payload != 0)
        return held
    if node.kind == "linear":
        needed = np.zeros_like(mask)
        for shift, diagonal in zip(node.payload.shifts, node.payload.diagonals, strict=True):
            needed |= np.roll(mask & (diagonal != 0), shift)
        return needed
    return mask

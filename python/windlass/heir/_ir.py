"""What a program in MLIR consists of: types, attributes, values, operations, blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Type:
    """A type. Aliases are replaced by what they stand for."""

    kind: str
    """``"tensor"``, ``"function"``, a builtin scalar such as ``"f32"``, or the name of a type of a
    dialect, such as ``"lwe.lwe_ciphertext"``."""
    shape: tuple[int | None, ...] = ()
    """Of tensors; None for a dimension that is not known."""
    element: Type | None = None
    """Of tensors."""
    body: str = ""
    """What stands between the angle brackets of a type of a dialect, without spaces."""
    inputs: tuple[Type, ...] = ()
    results: tuple[Type, ...] = ()

    scalar: Type = field(init=False, repr=False, compare=False)
    """The type of an element, or the type itself."""
    is_float: bool = field(init=False, repr=False, compare=False)
    """Whether numbers of the type are real."""
    is_integer: bool = field(init=False, repr=False, compare=False)
    """Whether numbers of the type are integers."""
    bits: int = field(init=False, repr=False, compare=False)
    """The width of integers; 64 for ``index``."""

    def __post_init__(self) -> None:
        scalar = self if self.element is None else self.element
        kind = scalar.kind
        numbered = kind[:1] == "i" and kind[1:].isdigit()
        computed = {
            "scalar": scalar,
            "is_float": (kind[:1] == "f" and kind[1:].isdigit()) or kind == "bf16",
            "is_integer": kind == "index" or numbered,
            "bits": int(kind[1:]) if numbered else 64,
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)

    @property
    def is_ciphertext(self) -> bool:
        """Whether values are encrypted, or tensors of such."""
        return self.scalar.kind == "lwe.lwe_ciphertext"

    def __str__(self) -> str:
        if self.kind == "tensor":
            shape = "x".join("?" if n is None else str(n) for n in (*self.shape, self.element))
            return f"tensor<{shape}>"
        if self.kind == "function":
            inputs, results = (
                "(" + ", ".join(map(str, types)) + ")" for types in (self.inputs, self.results)
            )
            return f"{inputs} -> {results}"
        return f"!{self.kind}" if "." in self.kind else self.kind


@dataclass(frozen=True)
class Opaque:
    """An attribute of a dialect, such as ``#lwe.key<>``: its name and what stands in brackets."""

    name: str
    body: str = ""


@dataclass(frozen=True)
class Symbol:
    """The name of a function."""

    name: str


@dataclass(frozen=True, eq=False)
class Dense:
    """The value of a constant tensor."""

    array: NDArray[Any]
    type: Type


class Value:
    """A value of the program: the result of an operation, or an argument of a block."""

    __slots__ = ("alone", "at", "name", "slot", "type", "uses")

    def __init__(self, name: str, type_: Type, at: int) -> None:
        self.name, self.type, self.at = name, type_, at
        self.uses = 0
        """How many operations use it."""
        self.alone = False
        """Whether at most one operation uses it, on every way through the function."""
        self.slot = -1
        """Its place among the values of its function."""


@dataclass
class Block:
    """A list of operations with arguments."""

    arguments: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    code: list[tuple[Any, Operation, list[int], int]] = field(default_factory=list)
    """For the interpreter: the action of each operation, itself, where its operands are in a frame,
    and where its result is."""


@dataclass
class Operation:
    """One operation."""

    name: str
    at: int
    """Where it stands in the text."""
    operands: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    regions: list[Block] = field(default_factory=list)

    @property
    def dialect(self) -> str:
        """What stands before the point of the name."""
        return self.name.partition(".")[0]


@dataclass
class Function:
    """A function of the program; without a body if it is declared only."""

    name: str
    at: int
    type: Type
    attributes: dict[str, Any]
    argument_attributes: list[dict[str, Any]]
    body: Block | None


@dataclass
class Module:
    """A program."""

    attributes: dict[str, Any]
    functions: dict[str, Function]


def numpy_dtype(type_: Type) -> np.dtype[Any]:
    """The dtype in which the interpreter holds numbers of a type."""
    return np.dtype(np.float64 if type_.is_float else np.int64)

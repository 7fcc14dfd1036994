"""What an operation of a program takes and does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windlass.errors import ProgramError
from windlass.heir._ir import Operation, Type
from windlass.heir._trace import Trace

MOST_ENTRIES = 2**27
"""The largest tensor."""


class Machine:
    """What operations act on: the trace of the ciphertexts; in functions of clients, the slots."""

    def __init__(self, trace: Trace, *, client: bool) -> None:
        self.trace, self.client = trace, client


Action = Callable[[Machine, Operation, list[Any]], Any]


@dataclass(frozen=True)
class Rule:
    """What an operation takes and does."""

    operands: str
    """A letter for each operand: c a ciphertext or a tensor of some, p a plaintext, n numbers or a
    tensor of some, t a tensor, k a key, * anything. A ``+`` repeats the last any number of times.
    """
    action: Action | None
    """None for those that the interpreter runs itself."""
    results: int | None = 1
    pure: bool = True
    """Whether it may be left out if nothing uses its results."""


def fits(type_: Type, letter: str) -> bool:
    """Whether a type is what a letter of a rule stands for."""
    kind = type_.scalar.kind
    return {
        "c": kind == "lwe.lwe_ciphertext",
        "p": kind == "lwe.lwe_plaintext" or type_.is_float or type_.is_integer,
        "n": type_.is_float or type_.is_integer,
        "t": type_.kind == "tensor",
        "k": kind.startswith("lwe.") and "key" in kind,
    }.get(letter, True)


WORDS = {
    "c": "a ciphertext",
    "p": "a plaintext",
    "n": "a number",
    "t": "a tensor",
    "k": "a key",
}


def frozen(value: Any) -> Any:
    """The same value, which is not changed through this reference."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value


def shape_of(type_: Type) -> tuple[int, ...]:
    if None in type_.shape:
        raise ProgramError(f"{type_} has a dimension that is not known")
    shape = tuple(n for n in type_.shape if n is not None)
    if math.prod(shape) > MOST_ENTRIES:
        raise ProgramError(f"{type_} has more than {MOST_ENTRIES} entries")
    return shape

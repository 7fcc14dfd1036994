"""The levels that types and rings of a text state."""

from __future__ import annotations

from typing import Any

from windlass.heir._ir import Opaque, Type


class Stated:
    """The levels that types and rings of the text state.

    A ring at level l has a coefficient modulus of l + 1 factors.
    """

    def __init__(self, types: dict[str, Type], attributes: dict[str, Any]) -> None:
        bodies = {f"!{name}": type_.body for name, type_ in types.items()}
        bodies |= {f"#{name}": x.body for name, x in attributes.items() if isinstance(x, Opaque)}
        self._aliases = bodies
        self._levels: dict[str, int | None] = {}

    def of_type(self, type_: Type) -> int | None:
        """The level of a ciphertext; None if the text states none."""
        body = type_.scalar.body
        if body not in self._levels:
            ring = self._field(self._field(body, "ciphertext_space"), "ring")
            self._levels[body] = self._of_ring(ring)
        return self._levels[body]

    def of_ring(self, ring: Any) -> int | None:
        """The level of a ring, given as an attribute."""
        return self._of_ring(ring.body) if isinstance(ring, Opaque) else None

    def _of_ring(self, ring: str) -> int | None:
        factors = _parts(self._field(ring, "coefficientType"))
        # Integers modulo one number have a width: `!mod_arith.int<65537 : i64>`.
        return len(factors) - 1 if factors and all(x.startswith("!") for x in factors) else None

    def _field(self, body: str, name: str) -> str:
        """What stands between the brackets of ``name=...``; nothing if it is not there."""
        start = f"{name}="
        value = next((x[len(start) :] for x in _parts(body) if x.startswith(start)), "")
        if value in self._aliases:
            return self._aliases[value]
        return value[value.find("<") + 1 : -1] if value.endswith(">") else ""


def _parts(body: str) -> list[str]:
    """The parts of a text between commas that stand in no brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(body):
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            parts.append(body[begin:at])
            begin = at + 1
    return [part for part in (*parts, body[begin:]) if part]

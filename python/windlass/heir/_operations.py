"""The operations that programs may hold."""

from __future__ import annotations

from windlass.heir._ciphertext_operations import CIPHERTEXT_RULES
from windlass.heir._number_operations import NUMBER_RULES
from windlass.heir._rules import Rule

_CONTROL: dict[str, Rule] = {
    "func.call": Rule("*+", None, None, pure=False),
    "func.return": Rule("*+", None, 0, pure=False),
    "scf.for": Rule("*+", None, None),
    "affine.for": Rule("*+", None, None),
    "scf.if": Rule("n", None, None),
    "scf.yield": Rule("*+", None, 0, pure=False),
    "affine.yield": Rule("*+", None, 0, pure=False),
    "cf.assert": Rule("n", None, 0, pure=False),
}

RULES: dict[str, Rule] = {**CIPHERTEXT_RULES, **NUMBER_RULES, **_CONTROL}

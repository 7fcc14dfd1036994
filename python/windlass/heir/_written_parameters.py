"""The chain of moduli of a text, and the levels and scales at which it encodes."""

from __future__ import annotations

import re

from windlass._windlass import ExplicitContext
from windlass.heir._check import Checker, all_operations
from windlass.heir._entry import Entry, Setting, body_of, number_of
from windlass.heir._ir import Function, Operation, Type
from windlass.heir._layout import ciphertexts_of
from windlass.heir._stated_levels import Stated
from windlass.heir._written_operations import place_of

_MOST_MODULI = 128
_MOST_DIGITS = 19

_SCALE_BITS = (-64, 960)
"""log2 of the scales of CKKS that explicit steps take."""


class Parameters:
    """The chain of a text, after a check of the levels and scales at which it encodes."""

    def __init__(
        self, checker: Checker, setting: Setting, stated: Stated, *, insecure: bool
    ) -> None:
        self._checker, self._setting, self._stated = checker, setting, stated
        self.context = self._explicit_context(insecure=insecure)
        for function in checker.module.functions.values():
            for operation in () if function.body is None else all_operations(function.body):
                if operation.name == "lwe.rlwe_encode":
                    self._check_encoding(operation)

    # The chain.

    def _explicit_context(self, *, insecure: bool) -> ExplicitContext:
        scheme, modulus = self._setting.scheme, self._setting.modulus
        if scheme == "BFV":
            message = "a program of BFV cannot run as written: leave out run="
            raise self._checker.error(message, 0)
        body = body_of(self._checker.module, f"{scheme.lower()}.schemeParam")
        log_n, moduli, special = (
            number_of(body, "logN"),
            self._list(body, "Q"),
            self._list(body, "P"),
        )
        if log_n is None or not 4 <= log_n <= 17 or not moduli or not special:
            message = f"the module names no logN, Q and P in {scheme.lower()}.schemeParam"
            raise self._checker.error(message, 0)
        self._scale_bits = number_of(body, "logDefaultScale") or self._setting.scale_bits
        n = 2**log_n
        if modulus is not None:
            return ExplicitContext.bgv(
                n, moduli, special=special, modulus=modulus, insecure=insecure
            )
        self._check_scale(self._scale_bits, 0)
        return ExplicitContext.ckks(n, moduli, special=special, insecure=insecure)

    def _list(self, body: str, name: str) -> list[int]:
        """The moduli ``name=[...]`` of the text; none if they are not there."""
        found = re.search(rf"\b{name}=\[([0-9,]*)\]", body)
        moduli = [] if found is None else [x for x in found[1].split(",") if x]
        if len(moduli) > _MOST_MODULI:
            message = f"{name} has {len(moduli)} moduli, but at most {_MOST_MODULI} are supported"
            raise self._checker.error(message, 0)
        if any(len(x) > _MOST_DIGITS for x in moduli):
            message = f"{name} has a modulus of more than {_MOST_DIGITS} digits"
            raise self._checker.error(message, 0)
        return [int(x) for x in moduli]

    # Levels and scales.

    def scale(self, stated: int | None) -> float | int:
        """The scale that the text states, or that a backend would choose."""
        modulus = self._setting.modulus
        if modulus is None:
            return float(2.0 ** (self._scale_bits if stated is None else stated))
        return 1 if stated is None else stated % modulus

    def place_of(self, type_: Type, function: Function | None, at: int) -> tuple[int, float | int]:
        """The level and scale at which a client's function encrypts an argument."""
        operation = None if function is None else self._encoding(function)
        level, scale = (None, None) if operation is None else place_of(operation)
        stated, top = self._stated.of_type(type_), self.context.top_level
        if stated is not None and stated > top:
            message = f"an argument is at level {stated}, but the chain has the levels 0 to {top}"
            raise self._checker.error(message, at)
        if level is None:
            level = top if stated is None else stated
        if stated not in (None, level):
            message = f"an argument of level {stated} is encoded at level {level}"
            raise self._checker.error(message, at if operation is None else operation.at)
        return level, self.scale(scale)

    def _encoding(self, function: Function) -> Operation | None:
        """The operation by which a client's function encodes; None if another function does."""
        assert function.body is not None
        found = [x for x in all_operations(function.body) if x.name == "lwe.rlwe_encode"]
        if len({place_of(x) for x in found}) > 1:
            message = f"@{function.name} encodes at several levels or scales"
            raise self._checker.error(message, function.at)
        return found[0] if found else None

    def _check_encoding(self, operation: Operation) -> None:
        (level, scale), top = place_of(operation), self.context.top_level
        if level is not None and not 0 <= level <= top:
            message = f"this encodes at level {level}, but the chain has the levels 0 to {top}"
            raise self._checker.error(message, operation.at)
        if scale is not None:
            self._check_scale(scale, operation.at)

    def _check_scale(self, scale: int, at: int) -> None:
        modulus, (least, most) = self._setting.modulus, _SCALE_BITS
        if modulus is None and not least <= scale <= most:
            message = f"the scale has {scale} bits, but must have {least} to {most}"
            raise self._checker.error(message, at)
        if modulus is not None and scale % modulus == 0:
            raise self._checker.error(f"the plaintext factor {scale} is 0 modulo {modulus}", at)


def clients_of(entry: Entry) -> list[tuple[Type, Function | None]]:
    """The type of each encrypted input, and the client's function that encrypts it."""
    found = []
    types, attributes = entry.function.type.inputs, entry.function.argument_attributes
    for index, type_ in enumerate(types):
        if not type_.is_ciphertext:
            continue
        zero = attributes[index].get("client.enc_zero_arg")
        if isinstance(zero, dict):
            function = entry.zeros.get(zero.get("index", 0))
        else:
            function = entry.encrypts.get(index)
        found += [(type_, function)] * ciphertexts_of(type_)
    return found

"""What a program says about itself: its scheme, its slots, its functions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from windlass.heir._check import Checker, all_operations
from windlass.heir._ir import Function, Module, Opaque

Scheme = Literal["BGV", "BFV", "CKKS"]

_MOST_SLOTS = 2**16
_MOST_MODULUS = 2**31


@dataclass(frozen=True)
class Setting:
    """The scheme of a program."""

    scheme: Scheme
    modulus: int | None
    """Of the plaintexts of BGV and BFV."""
    slots: int
    scale_bits: int
    """Of CKKS."""


@dataclass(frozen=True)
class Entry:
    """The functions of a program."""

    function: Function
    encrypts: dict[int, Function]
    """The function of the client for each argument."""
    decrypts: dict[int, Function]
    """The function of the client for each result."""
    zeros: dict[int, Function]
    """The functions of the client that encrypt zeros, for the server's use."""


def setting_of(checker: Checker, slots: int | None) -> Setting:
    """The scheme, and how many slots a ciphertext has for the program."""
    module = checker.module
    scheme = _scheme(checker)
    parameters = body_of(module, "ckks.schemeParam") or body_of(module, "bgv.schemeParam")
    modulus = None
    if scheme != "CKKS":
        modulus = number_of(parameters, "plaintextModulus")
        if modulus is None or not 2 <= modulus < _MOST_MODULUS:
            message = "no plaintextModulus below 2^31 in bgv.schemeParam of the module"
            raise checker.error(message, 0)
    count = slots if slots is not None else _slots(module)
    if count is None or not 1 <= count <= _MOST_SLOTS:
        message = (
            "the module does not say how many slots it has (scheme.requested_slot_count, at most "
            f"{_MOST_SLOTS}): give slots="
        )
        raise checker.error(message, 0)
    actual = module.attributes.get("scheme.actual_slot_count")
    if scheme != "CKKS" and isinstance(actual, int) and count > actual // 2:
        message = f"{count} slots lie in two rows of {actual // 2}, but only one row is supported"
        raise checker.error(message, 0)
    bits = number_of(parameters, "logDefaultScale") or 40
    return Setting(scheme, modulus, count, min(max(bits, 30), 50))


def _scheme(checker: Checker) -> Scheme:
    for name in ("ckks", "bgv", "bfv"):
        if f"scheme.{name}" in checker.module.attributes:
            return name.upper()  # type: ignore[return-value]
    dialects = {
        operation.dialect
        for function in checker.module.functions.values()
        if function.body is not None
        for operation in all_operations(function.body)
    }
    if "ckks" in dialects and "bgv" in dialects:
        raise checker.error("a program is of one scheme, but this one has operations of two", 0)
    if "ckks" in dialects:
        return "CKKS"
    if "bgv" in dialects:
        return "BGV"
    message = (
        "the module names no scheme (scheme.ckks, scheme.bgv or scheme.bfv): compile it with "
        "heir-opt --mlir-to-ckks or --mlir-to-bgv"
    )
    raise checker.error(message, 0)


def body_of(module: Module, name: str) -> str:
    """The text of an attribute of the module, or nothing."""
    found = module.attributes.get(name)
    return found.body if isinstance(found, Opaque) else ""


def number_of(body: str, name: str) -> int | None:
    """The number ``name=...`` in such a text."""
    found = re.search(rf"\b{name}=([0-9]{{1,18}})\b", body)
    return None if found is None else int(found[1])


def _slots(module: Module) -> int | None:
    found = module.attributes.get("scheme.requested_slot_count")
    if isinstance(found, int):
        return found
    sizes = []
    for function in module.functions.values():
        if function.body is None:
            continue
        for operation in all_operations(function.body):
            if operation.name == "lwe.rlwe_encode":
                type_ = operation.operands[0].type
            elif operation.name == "lwe.rlwe_decode":
                type_ = operation.results[0].type
            else:
                continue
            sizes.append(math.prod(n or 1 for n in type_.shape))
    return max(sizes, default=None)


def entry_of(checker: Checker, name: str | None) -> Entry:
    """The function that a server evaluates, and those of its client."""
    functions = checker.module.functions
    if name is None:
        found = [f for f in functions.values() if f.body is not None and _is_entry(f)]
        if len(found) != 1:
            names = ", ".join(f.name for f in found) or "none"
            message = (
                f"one function to evaluate expected, not {len(found)} ({names}): give function="
            )
            raise checker.error(message, found[1].at if found else 0)
        function = found[0]
    else:
        named = functions.get(name)
        if named is None or named.body is None:
            raise checker.error(f"there is no function @{name}", 0)
        function = named
    return Entry(
        function,
        _of_client(functions, function.name, "encrypt", "arg"),
        _of_client(functions, function.name, "decrypt", "result"),
        _of_client(functions, function.name, "encrypt_zero", "zero"),
    )


def _interface(function: Function) -> dict[str, Any]:
    found = function.attributes.get("heir.interface")
    return found if isinstance(found, dict) else {}


def _is_entry(function: Function) -> bool:
    roles = _interface(function).get("roles")
    if isinstance(roles, list):
        return "entry" in roles
    helpers = "__encrypt__" in function.name or "__decrypt__" in function.name
    encrypted = any(type_.is_ciphertext for type_ in function.type.inputs)
    return encrypted and not helpers and "__preproc" not in function.name


def _of_client(
    functions: dict[str, Function], name: str, what: str, of: str
) -> dict[int, Function]:
    found = {}
    for function in functions.values():
        interface = _interface(function)
        roles, index = interface.get("roles"), interface.get("index")
        if isinstance(roles, list) and interface.get("func_name") == name:
            if f"client.{what}" in roles and isinstance(index, int):
                found[index] = function
            continue
        prefix = f"{name}__{what}__{of}"
        digits = function.name[len(prefix) :]
        if function.name.startswith(prefix) and digits.isdigit() and len(digits) < 6:
            found[int(digits)] = function
    return {index: function for index, function in found.items() if function.body is not None}

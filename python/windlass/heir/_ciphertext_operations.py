"""Operations on ciphertexts and plaintexts, and those of clients, which see slots instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from windlass.errors import ProgramError
from windlass.heir._ir import Operation
from windlass.heir._rules import Action, Machine, Rule, frozen, shape_of
from windlass.heir._trace import Linear, Node, Trace

# Plaintexts that a server prepares.


def _storage(_machine: Machine, _operation: Operation, _args: list[Any]) -> Any:
    return {}


def _site(operation: Operation, index: list[Any]) -> tuple[Any, ...]:
    return (operation.attributes.get("site_id"), *index)


def _store(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    value, storage, *index = args
    storage[_site(operation, index)] = frozen(value)


def _load(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    storage, *index = args
    site = _site(operation, index)
    if site not in storage:
        raise ProgramError(f"nothing was stored at site {site[0]}")
    return storage[site]


# Ciphertexts.


def _each(f: Callable[..., Any], *operands: Any) -> Any:
    """The operation, or the operation on each entry of tensors of ciphertexts."""
    tensors = [x for x in operands if isinstance(x, np.ndarray) and x.dtype == object]
    if not tensors:
        return f(*operands)
    shape = tensors[0].shape
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        found[place] = f(
            *(
                x[place] if isinstance(x, np.ndarray) and x.shape[: len(shape)] == shape else x
                for x in operands
            )
        )
    return found


def _of_ciphertexts(f: Callable[[Trace, Operation, Any, Any], Any]) -> Action:
    """An operation on ciphertexts, with one operand or two."""

    def action(machine: Machine, operation: Operation, args: list[Any]) -> Any:
        def one(*operands: Any) -> Any:
            a, b = operands if len(operands) == 2 else (operands[0], None)
            if not any(isinstance(x, Node) for x in (a, b)):
                raise ProgramError("this operation needs a ciphertext")
            return f(machine.trace, operation, a, b)

        return _each(one, *args)

    return action


@_of_ciphertexts
def _add(trace: Trace, operation: Operation, a: Any, b: Any) -> Any:
    if isinstance(a, Node) and isinstance(b, Node):
        return trace.add(a, b, operation.at)
    node, plaintext = (a, b) if isinstance(a, Node) else (b, a)
    return trace.shift(node, plaintext, operation.at)


@_of_ciphertexts
def _subtract(trace: Trace, operation: Operation, a: Any, b: Any) -> Any:
    if not isinstance(b, Node):
        return trace.shift(a, -np.asarray(b), operation.at)
    negated = trace.negate(b, operation.at)
    if isinstance(a, Node):
        return trace.add(a, negated, operation.at)
    return trace.shift(negated, a, operation.at)


@_of_ciphertexts
def _multiply(trace: Trace, operation: Operation, a: Any, b: Any) -> Any:
    if isinstance(a, Node) and isinstance(b, Node):
        return trace.multiply(a, b, operation.at)
    node, plaintext = (a, b) if isinstance(a, Node) else (b, a)
    return trace.scale(node, plaintext, operation.at)


@_of_ciphertexts
def _negate(trace: Trace, operation: Operation, a: Any, _b: Any) -> Any:
    return trace.negate(a, operation.at)


@_of_ciphertexts
def _rotate(trace: Trace, operation: Operation, a: Any, b: Any) -> Any:
    if b is None:
        names = ("static_shift", "offset", "shift")
        b = next((operation.attributes[x] for x in names if x in operation.attributes), None)
    if not isinstance(b, int):
        raise ProgramError("a rotation needs a number of slots")
    return trace.rotate(a, b, operation.at)


@_of_ciphertexts
def _managed(_trace: Trace, _operation: Operation, a: Any, _b: Any) -> Any:
    """What the planner of Windlass decides itself."""
    return a


def _shifts(operation: Operation) -> tuple[int, ...]:
    found = operation.attributes.get("diagonal_indices")
    if not isinstance(found, list) or not all(isinstance(k, int) for k in found):
        raise ProgramError("the indices of the diagonals are missing")
    return tuple(found)


def _prepare_linear(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    shifts, diagonals = _shifts(operation), args[0]
    rows = operation.attributes.get("source_row_indices") or list(range(len(shifts)))
    if len(rows) != len(shifts) or diagonals.ndim != 2:
        raise ProgramError(f"{len(shifts)} diagonals, but {len(rows)} rows that hold them")
    if rows and not 0 <= min(rows) <= max(rows) < len(diagonals):
        raise ProgramError(f"a diagonal lies outside of the {len(diagonals)} rows")
    return Linear(shifts, diagonals[rows])


def _apply_linear(machine: Machine, operation: Operation, args: list[Any]) -> Any:
    node, map_ = args
    if not isinstance(map_, Linear):
        map_ = _prepare_linear(machine, operation, [map_])
    if not isinstance(node, Node):
        raise ProgramError("this operation needs a ciphertext")
    diagonals = np.array([machine.trace.numbers(row) for row in map_.diagonals])
    return machine.trace.linear(node, Linear(map_.shifts, diagonals), operation.at)


def _chebyshev(machine: Machine, operation: Operation, args: list[Any]) -> Any:
    coefficients = operation.attributes.get("coefficients")
    if not isinstance(coefficients, list) or not coefficients:
        raise ProgramError("the coefficients of the polynomial are missing")
    others = {name for name in operation.attributes if "." not in name} - {"coefficients"}
    if others:
        raise ProgramError(f"polynomials with the attribute {sorted(others)[0]} are not supported")
    list_ = tuple(float(x) for x in coefficients)
    return _each(lambda node: machine.trace.polynomial(node, list_, operation.at), args[0])


# Functions of clients, which see slots instead of ciphertexts.


def _encode(machine: Machine, _operation: Operation, args: list[Any]) -> Any:
    return frozen(machine.trace.numbers(args[0]))


def _client_only(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    if not _machine.client:
        raise ProgramError(f"{operation.name} belongs into the functions of clients")
    return frozen(args[0])


def _decode(machine: Machine, operation: Operation, args: list[Any]) -> Any:
    if not machine.client:
        raise ProgramError(f"{operation.name} belongs into the functions of clients")
    type_, slots = operation.results[0].type, args[0]
    if type_.kind != "tensor":
        return slots.item(0)
    shape = shape_of(type_)
    if math.prod(shape) > slots.size:
        raise ProgramError(f"{type_} for {slots.size} slots")
    return frozen(slots[: math.prod(shape)].reshape(shape))


_CIPHERTEXTS: dict[str, Rule] = {
    "add": Rule("cc", _add),
    "add_plain": Rule("**", _add),
    "sub": Rule("cc", _subtract),
    "sub_plain": Rule("**", _subtract),
    "mul": Rule("cc", _multiply),
    "mul_plain": Rule("**", _multiply),
    "negate": Rule("c", _negate),
    "relinearize": Rule("c", _managed),
    "rescale": Rule("c", _managed),
    "modulus_switch": Rule("c", _managed),
    "level_reduce": Rule("c", _managed),
    "bootstrap": Rule("c", _managed),
}

CIPHERTEXT_RULES: dict[str, Rule] = {
    **{f"ckks.{name}": rule for name, rule in _CIPHERTEXTS.items()},
    **{f"bgv.{name}": rule for name, rule in _CIPHERTEXTS.items() if name != "bootstrap"},
    "ckks.rotate": Rule("cn+", _rotate),
    "bgv.rotate_cols": Rule("cn+", _rotate),
    "lwe.radd": Rule("cc", _add),
    "lwe.rsub": Rule("cc", _subtract),
    "lwe.rmul": Rule("cc", _multiply),
    "lwe.rnegate": Rule("c", _negate),
    "lwe.radd_plain": Rule("**", _add),
    "lwe.rsub_plain": Rule("**", _subtract),
    "lwe.rmul_plain": Rule("**", _multiply),
    "lwe.rlwe_encode": Rule("n", _encode),
    "lwe.rlwe_encrypt": Rule("pk", _client_only),
    "lwe.rlwe_decrypt": Rule("ck", _client_only),
    "lwe.rlwe_decode": Rule("p", _decode),
    "kernel.prepare_linear_transform": Rule("t", _prepare_linear),
    "kernel.apply_linear_transform": Rule("c*", _apply_linear),
    "kernel.linear_transform": Rule("ct", _apply_linear),
    "kernel.eval_chebyshev": Rule("c", _chebyshev),
    "preprocessing.empty": Rule("", _storage),
    "preprocessing.store": Rule("**n+", _store, 0, pure=False),
    "preprocessing.load": Rule("*n+", _load),
}

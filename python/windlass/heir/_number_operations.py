"""Operations on numbers and on tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.errors import ProgramError
from windlass.heir._ir import Dense, Operation, Type, numpy_dtype
from windlass.heir._rules import MOST_ENTRIES, Action, Machine, Rule, frozen, shape_of

_DYNAMIC = -(2**63)


# Numbers.


def wrapped(value: int, type_: Type) -> int:
    """An integer in the range of its type: signed, except for i1, which is 0 or 1."""
    bits = type_.bits
    if -(2**15) <= value < 2**15 and bits >= 16:
        return value
    if bits == 1:
        return value & 1
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def _integers(f: Callable[[int, int], int]) -> Action:
    """An operation on integers, or on tensors of integers."""

    def action(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
        type_ = operation.results[0].type
        a, b = args
        if type_.kind != "tensor":
            return wrapped(f(a, b), type_)
        flat = [wrapped(f(int(x), int(y)), type_) for x, y in zip(a.flat, b.flat, strict=True)]
        return np.array(flat, dtype=np.int64).reshape(a.shape)

    return action


def _floats(f: Callable[..., Any]) -> Action:
    """An operation on real numbers, or on tensors of these."""

    def action(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
        with np.errstate(all="ignore"):
            found = f(*args)
        return found if isinstance(found, np.ndarray) else float(found)

    return action


def _unsigned(value: int) -> int:
    return value % 2**64


def _truncated(a: int, b: int) -> int:
    """Division towards zero."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def _shift_left(a: int, b: int) -> int:
    return a << b if 0 <= b < 64 else 0


def _shift_right(a: int, b: int) -> int:
    return a >> min(max(b, 0), 64)


_PREDICATES: dict[str, Callable[[Any, Any], Any]] = {
    **{"eq": operator.eq, "ne": operator.ne},
    **{"slt": operator.lt, "sle": operator.le, "sgt": operator.gt, "sge": operator.ge},
    **{"ult": operator.lt, "ule": operator.le, "ugt": operator.gt, "uge": operator.ge},
    **{"oeq": operator.eq, "one": operator.ne, "une": operator.ne, "ueq": operator.eq},
    **{"olt": operator.lt, "ole": operator.le, "ogt": operator.gt, "oge": operator.ge},
}
# How the generic form writes them.
_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = ("", "oeq", "ogt", "oge", "olt", "ole", "one", "", "ueq", "ugt", "uge", "ult")


def _compare(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    name = operation.attributes.get("predicate")
    if isinstance(name, int):
        table = _INTEGER_PREDICATES if operation.name == "arith.cmpi" else _FLOAT_PREDICATES
        name = table[name] if 0 <= name < len(table) else ""
    if name not in _PREDICATES:
        raise ProgramError(f"the predicate {name!r} is not supported")
    a, b = args
    if name in ("ult", "ule", "ugt", "uge") and operation.name == "arith.cmpi":
        a, b = a % 2**64, b % 2**64
    found = _PREDICATES[name](a, b)
    return found.astype(np.int64) if isinstance(found, np.ndarray) else int(found)


def _constant(_machine: Machine, operation: Operation, _args: list[Any]) -> Any:
    value = operation.attributes.get("value")
    if isinstance(value, Dense):
        return value.array
    if isinstance(value, (bool, int, float)):
        return float(value) if operation.results[0].type.is_float else int(value)
    raise ProgramError("a constant is a number or a dense tensor")


def _select(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
    condition, a, b = args
    if isinstance(condition, np.ndarray):
        return np.where(condition != 0, a, b)
    return frozen(a if condition else b)


def _same(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
    return frozen(args[0])


def _narrowed(machine: Machine, operation: Operation, args: list[Any]) -> Any:
    """A conversion of integers. Functions of clients only move numbers, of any range."""
    type_ = operation.results[0].type
    if machine.client or type_.is_float:
        return frozen(args[0])
    if isinstance(args[0], np.ndarray):
        flat = [wrapped(int(x), type_) for x in args[0].flat]
        return np.array(flat, dtype=np.int64).reshape(args[0].shape)
    return wrapped(int(args[0]), type_)


def _to_float(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
    (x,) = args
    return x.astype(np.float64) if isinstance(x, np.ndarray) else float(x)


def _to_integer(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    (x,) = args
    if isinstance(x, np.ndarray):
        return np.trunc(x).astype(np.int64)
    if not math.isfinite(x):
        raise ProgramError(f"{x} is no integer")
    return wrapped(int(x), operation.results[0].type)


# Tensors. An array that may be changed in place is writeable; others are copied first.


def _blank(type_: Type, shape: tuple[int, ...]) -> NDArray[Any]:
    if type_.is_float or type_.is_integer:
        return np.zeros(shape, numpy_dtype(type_))
    return np.full(shape, None, dtype=object)


def _empty(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    type_ = operation.results[0].type
    sizes = iter(args)
    shape = tuple(int(next(sizes)) if n is None else n for n in type_.shape)
    return _blank(type_, shape_of(Type("tensor", shape, type_.element)))


def _splat(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    found = _blank(operation.results[0].type, shape_of(operation.results[0].type))
    found.fill(args[0])
    return found


def _from_elements(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    type_ = operation.results[0].type
    shape = shape_of(type_)
    if math.prod(shape) != len(args):
        raise ProgramError(f"{len(args)} elements for {type_}")
    found = _blank(type_, (len(args),))
    for k, value in enumerate(args):
        found[k] = value
    return found.reshape(shape)


def _place(array: NDArray[Any], index: list[Any]) -> tuple[int, ...]:
    """An index that is in range."""
    shape = array.shape
    if len(index) != len(shape):
        raise ProgramError(f"{len(index)} indices for a tensor of shape {shape}")
    for k, n in zip(index, shape, strict=True):
        if not 0 <= k < n:
            raise ProgramError(f"the index {tuple(index)} is outside of the shape {shape}")
    return tuple(index)


def _extract(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
    array = args[0]
    found = array.item(*_place(array, args[1:]))
    if found is None:
        raise ProgramError("this entry of the tensor was never written")
    return found


def _insert(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    value, array, *index = args
    place = _place(array, index)
    array = _own(array, operation, 1)
    array[place] = value
    return array


def _own(array: NDArray[Any], operation: Operation, operand: int) -> NDArray[Any]:
    """The array itself if nothing else uses it, or a copy."""
    alone = operation.operands[operand].alone
    return array if alone and array.flags.writeable else array.copy()


def _slices(operation: Operation, array: NDArray[Any], args: list[Any]) -> tuple[slice, ...]:
    """Offsets, sizes and strides: those that are numbers, and those that are operands."""
    groups = operation.attributes.get("groups")
    if groups is None:
        names = ("static_offsets", "static_sizes", "static_strides")
        groups = [operation.attributes.get(name, []) for name in names]
    if len(groups) != 3 or any(len(group) != array.ndim for group in groups):
        raise ProgramError(f"offsets, sizes and strides for {array.ndim} dimensions expected")
    given = iter(args)
    offsets, sizes, strides = (
        [int(next(given)) if n == _DYNAMIC else int(n) for n in group] for group in groups
    )
    for offset, size, stride, n in zip(offsets, sizes, strides, array.shape, strict=True):
        last = offset + (size - 1) * stride
        if offset < 0 or size < 0 or stride < 1 or (size and last >= n) or offset > n:
            message = f"a slice from {offset} of {size} entries, {stride} apart, of {n} entries"
            raise ProgramError(message)
    return tuple(
        slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    )


def _extract_slice(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    array = args[0]
    found = array[_slices(operation, array, args[1:])]
    return _reshaped(found, operation.results[0].type)


def _reshaped(array: NDArray[Any], type_: Type) -> NDArray[Any]:
    """An array in the shape of a type, of which one dimension may be unknown."""
    shape = tuple(-1 if n is None else n for n in type_.shape)
    if shape.count(-1) > 1:
        shape = tuple(n for n in array.shape if n != 1 or -1 not in shape)
    try:
        return frozen(array.reshape(shape))  # type: ignore[no-any-return]
    except ValueError:
        raise ProgramError(f"{type_} for an array of shape {array.shape}") from None


def _insert_slice(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    source, array, *rest = args
    slices = _slices(operation, array, rest)
    array = _own(array, operation, 1)
    target = array[slices]
    if target.size != source.size:
        raise ProgramError(f"{source.size} entries for a slice of {target.size}")
    array[slices] = source.reshape(target.shape)
    return array


def _reshape(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    return _reshaped(args[0], operation.results[0].type)


def _dimension(_machine: Machine, _operation: Operation, args: list[Any]) -> Any:
    return args[0].shape[_place(np.empty(args[0].ndim), [args[1]])[0]]


def _concat(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    axis = operation.attributes.get("dim", 0)
    if sum(array.size for array in args) > MOST_ENTRIES:
        raise ProgramError(f"a tensor has at most {MOST_ENTRIES} entries")
    return np.concatenate(args, axis=axis)


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "divsi": _truncated,
    "divui": lambda a, b: _unsigned(a) // _unsigned(b),
    "floordivsi": operator.floordiv,
    "ceildivsi": lambda a, b: -(-a // b),
    "remsi": lambda a, b: a - b * _truncated(a, b),
    "remui": lambda a, b: _unsigned(a) % _unsigned(b),
    "minsi": min,
    "maxsi": max,
    "andi": operator.and_,
    "ori": operator.or_,
    "xori": operator.xor,
    "shli": _shift_left,
    "shrsi": _shift_right,
}

_REAL: dict[str, tuple[str, Callable[..., Any]]] = {
    "arith.addf": ("nn", np.add),
    "arith.subf": ("nn", np.subtract),
    "arith.mulf": ("nn", np.multiply),
    "arith.divf": ("nn", np.divide),
    "arith.maximumf": ("nn", np.maximum),
    "arith.minimumf": ("nn", np.minimum),
    "arith.negf": ("n", np.negative),
    "math.sqrt": ("n", np.sqrt),
    "math.exp": ("n", np.exp),
    "math.log": ("n", np.log),
    "math.absf": ("n", np.abs),
    "math.tanh": ("n", np.tanh),
    "math.powf": ("nn", np.power),
}

NUMBER_RULES: dict[str, Rule] = {
    **{f"arith.{name}": Rule("nn", _integers(f)) for name, f in _ARITHMETIC.items()},
    **{name: Rule(letters, _floats(f)) for name, (letters, f) in _REAL.items()},
    "arith.constant": Rule("", _constant),
    "arith.cmpi": Rule("nn", _compare),
    "arith.cmpf": Rule("nn", _compare),
    "arith.select": Rule("n**", _select),
    "arith.index_cast": Rule("n", _narrowed),
    "arith.index_castui": Rule("n", _narrowed),
    "arith.extsi": Rule("n", _same),
    "arith.extui": Rule("n", _same),
    "arith.trunci": Rule("n", _narrowed),
    "arith.sitofp": Rule("n", _to_float),
    "arith.uitofp": Rule("n", _to_float),
    "arith.fptosi": Rule("n", _to_integer),
    "arith.extf": Rule("n", _same),
    "arith.truncf": Rule("n", _same),
    "tensor.empty": Rule("n+", _empty),
    "tensor.splat": Rule("*n+", _splat),
    "tensor.from_elements": Rule("*+", _from_elements),
    "tensor.extract": Rule("tn+", _extract),
    "tensor.insert": Rule("*tn+", _insert),
    "tensor.extract_slice": Rule("tn+", _extract_slice),
    "tensor.insert_slice": Rule("ttn+", _insert_slice),
    "tensor.expand_shape": Rule("tn+", _reshape),
    "tensor.collapse_shape": Rule("t", _reshape),
    "tensor.cast": Rule("t", _reshape),
    "tensor.dim": Rule("tn", _dimension),
    "tensor.concat": Rule("t+", _concat),
}

"""The operations that programs may hold: what they take, and what they do."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.errors import ProgramError
from windlass.heir._ir import Dense, Operation, Type, numpy_dtype
from windlass.heir._trace import Linear, Node, Trace

_MOST_ENTRIES = 2**27
"""The largest tensor."""

_DYNAMIC = -(2**63)


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


def frozen(value: Any) -> Any:
    """The same value, which is not changed through this reference."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value


def _shape(type_: Type) -> tuple[int, ...]:
    if None in type_.shape:
        raise ProgramError(f"{type_} has a dimension that is not known")
    shape = tuple(n for n in type_.shape if n is not None)
    if math.prod(shape) > _MOST_ENTRIES:
        raise ProgramError(f"{type_} has more than {_MOST_ENTRIES} entries")
    return shape


def _blank(type_: Type, shape: tuple[int, ...]) -> NDArray[Any]:
    if type_.is_float or type_.is_integer:
        return np.zeros(shape, numpy_dtype(type_))
    return np.full(shape, None, dtype=object)


def _empty(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    type_ = operation.results[0].type
    sizes = iter(args)
    shape = tuple(int(next(sizes)) if n is None else n for n in type_.shape)
    return _blank(type_, _shape(Type("tensor", shape, type_.element)))


def _splat(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    found = _blank(operation.results[0].type, _shape(operation.results[0].type))
    found.fill(args[0])
    return found


def _from_elements(_machine: Machine, operation: Operation, args: list[Any]) -> Any:
    type_ = operation.results[0].type
    shape = _shape(type_)
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
    if sum(array.size for array in args) > _MOST_ENTRIES:
        raise ProgramError(f"a tensor has at most {_MOST_ENTRIES} entries")
    return np.concatenate(args, axis=axis)


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
    shape = _shape(type_)
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

RULES: dict[str, Rule] = {
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
    "func.call": Rule("*+", None, None, pure=False),
    "func.return": Rule("*+", None, 0, pure=False),
    "scf.for": Rule("*+", None, None),
    "affine.for": Rule("*+", None, None),
    "scf.if": Rule("n", None, None),
    "scf.yield": Rule("*+", None, 0, pure=False),
    "affine.yield": Rule("*+", None, 0, pure=False),
    "cf.assert": Rule("n", None, 0, pure=False),
}

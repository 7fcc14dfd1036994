"""Loops over the entries of tensors of numbers, run for all iterations at once.

HEIR places matrices in slots by nested loops, each iteration of which computes indices, reads an
entry and writes it to another tensor: millions of operations. Here each value of a loop is an array
with one number for each iteration (a *lane*), in the order in which the iterations run:

    for i = a to b      each lane becomes b - a lanes
    if c                the lanes in which c holds, and the others
    extract, insert     one gather; the writes are kept, and done at the end in the order of time

The time of a write has a digit for each block and each loop around it, from the outermost one: the
place of the operation in the block, the number of the iteration in the loop. Times are compared as
words in a dictionary. Two writes that differ in no digit before a place stand in the same block
there, so loops and branches of any lengths have one order.

Nothing is written before the whole loop is known to run. Whatever is not as expected, an index out
of range too, ends in ``Unsupported``: then the interpreter runs the loop one iteration after the
other, and finds the error and its place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.heir._ir import Block, Operation, Type

MOST_LANES = 2**17
"""The largest number of iterations that run at once."""

MOST_VALUES = 2**25
"""The largest number of values that the iterations hold together, 8 bytes each."""

_MOST_NUMBER = 2**62

Time = tuple[int | NDArray[np.int64], ...]
"""Digits, each one number for all lanes or a number for each."""


class Unsupported(Exception):
    """A loop cannot run at once."""


class TooMany(Unsupported):
    """A loop has too many iterations to run at once. Those inside of it may not."""


@dataclass(frozen=True, eq=False)
class _Write:
    """A number for each lane, and its place in the flattened tensor."""

    time: Time
    places: NDArray[np.int64]
    numbers: NDArray[Any]

    def digits(self, count: int) -> list[NDArray[np.int64]]:
        """So many digits for each lane. Zeros follow the last one, which decide nothing."""
        own = [*self.time, *(0 for _ in range(count - len(self.time)))]
        return [np.broadcast_to(np.asarray(digit), len(self.places)) for digit in own]


@dataclass(eq=False)
class Tensor:
    """A tensor that a loop writes to: it is never read within."""

    array: NDArray[Any]
    current: int = 0
    """Its newest version. An older one is not used again."""
    writes: list[_Write] = field(default_factory=list)

    def add(self, time: Time, place: list[Any], value: Any, count: int) -> None:
        """Keep a write of so many lanes."""
        numbers = np.asarray(value)
        if numbers.dtype.kind not in ("bif" if self.array.dtype.kind == "f" else "bi"):
            raise Unsupported
        flat = np.zeros((), np.int64)
        for index, size in zip(place, self.array.shape, strict=True):
            flat = flat * size + index
        own = np.broadcast_to(numbers.astype(self.array.dtype), count)
        self.writes.append(_Write(time, np.broadcast_to(flat, count), own))

    def last_writes(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Places in the flattened tensor, each once, with the number that was written last."""
        if not self.writes:
            return np.zeros(0, np.int64), np.zeros(0, self.array.dtype)
        places = np.concatenate([write.places for write in self.writes])
        numbers = np.concatenate([write.numbers for write in self.writes])
        if len(self.writes) > 1:
            order = self._order()
            places, numbers = places[order], numbers[order]
        # The first of equal places from the end.
        found, first = np.unique(places[::-1], return_index=True)
        return found, numbers[::-1][first]

    def _order(self) -> NDArray[np.int64]:
        """All lanes of all writes in the order of time."""
        count = max(len(write.time) for write in self.writes)
        digits = [write.digits(count) for write in self.writes]
        keys = [np.concatenate([own[k] for own in digits]) for k in range(count)]
        # The last key is the first that ``lexsort`` compares.
        return np.lexsort(keys[::-1])

    def finished(self, places: NDArray[np.int64], numbers: NDArray[Any]) -> NDArray[Any]:
        """The tensor after its last writes."""
        found = self.array if self.array.flags.writeable else self.array.copy()
        found.flat[places] = numbers
        return found


@dataclass(frozen=True)
class Version:
    """A tensor that is written to, after some of the writes."""

    tensor: Tensor
    number: int

    def check(self) -> None:
        """Only the newest version is used."""
        if self.number != self.tensor.current:
            raise Unsupported

    def next(self) -> Version:
        """The version after a write."""
        self.tensor.current += 1
        return Version(self.tensor, self.tensor.current)


class Lanes:
    """The values of some iterations: an array for each value that differs among them."""

    def __init__(self, parent: Lanes | list[Any], index: NDArray[np.int64], time: Time) -> None:
        self.parent, self.index, self.time = parent, index, time
        self.values: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.index)

    def get(self, slot: int) -> Any:
        """The value of a slot of the frame."""
        if slot in self.values:
            return self.values[slot]
        if isinstance(self.parent, list):
            return _small(self.parent[slot])
        found = self.parent.get(slot)
        if isinstance(found, _Each):
            found = _Each(found.numbers[self.index], found.most)
            self.values[slot] = found
        return found


@dataclass(frozen=True, eq=False)
class _Each:
    """A number for each lane."""

    numbers: NDArray[Any]
    most: int = _MOST_NUMBER
    """Of integers, which are at most as large as this."""


class Vectoriser:
    """Runs one loop."""

    def __init__(self, frame: list[Any], most_steps: int, *, client: bool) -> None:
        self.frame, self.left, self.client = frame, most_steps, client
        self.steps = 0
        self.held = 0
        """Values that are kept now."""
        self.tensors: list[Tensor] = []

    def run(
        self, operation: Operation, bounds: tuple[int, int, int], values: list[Any]
    ) -> list[Any]:
        """The results of a loop."""
        if not values or not all(_is_numbers(value) for value in values):
            raise Unsupported
        self.tensors = [Tensor(value) for value in values]
        lanes = Lanes(self.frame, np.zeros(1, dtype=np.int64), ())
        versions: list[Any] = [Version(tensor, 0) for tensor in self.tensors]
        try:
            self._loop(lanes, operation, bounds, versions)
            # All of them before the first tensor changes.
            last = [tensor.last_writes() for tensor in self.tensors]
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise Unsupported from error
        return [tensor.finished(*writes) for tensor, writes in zip(self.tensors, last, strict=True)]

    def _loop(
        self, lanes: Lanes, operation: Operation, bounds: tuple[Any, Any, Any], values: list[Any]
    ) -> list[Any]:
        for value in values:
            if not isinstance(value, Version):
                raise Unsupported
            value.check()
        inner, variable = self._iterations(lanes, bounds)
        body = operation.regions[0]
        if not len(inner):
            return values
        inner.values[body.arguments[0].slot] = variable
        for argument, value in zip(body.arguments[1:], values, strict=True):
            inner.values[argument.slot] = value
        found = self._region(inner, body)
        for own, value in zip(found, values, strict=True):
            if not isinstance(own, Version) or own.tensor is not value.tensor:
                raise Unsupported
        return found

    def _region(self, lanes: Lanes, block: Block) -> list[Any]:
        """Run a block, which gives the newest version of whatever it writes to."""
        before = [tensor.current for tensor in self.tensors]
        found = self._block(lanes, block)
        given = [each for each in found if isinstance(each, Version)]
        for each in given:
            each.check()
        for tensor, number in zip(self.tensors, before, strict=True):
            if tensor.current != number and all(each.tensor is not tensor for each in given):
                raise Unsupported
        return found

    def _iterations(self, lanes: Lanes, bounds: tuple[Any, Any, Any]) -> tuple[Lanes, _Each]:
        """A lane for each iteration in each lane, and the variable of the loop."""
        count = len(lanes)
        most = max(_largest(each) for each in bounds)
        if most > 2**40:
            raise Unsupported
        first, last, stride = (
            np.broadcast_to(x.numbers if isinstance(x, _Each) else np.int64(x), count)
            for x in bounds
        )
        if (stride < 1).any():
            raise Unsupported
        trips = np.maximum(-(-(last - first) // stride), 0)
        total = int(trips.sum())
        if total > MOST_LANES:
            raise TooMany
        index = np.repeat(np.arange(count), trips)
        within = np.arange(total) - np.repeat(np.cumsum(trips) - trips, trips)
        time = (*_chosen(lanes.time, index), within)
        variable = _Each(first[index] + stride[index] * within, most)
        return Lanes(lanes, index, time), variable

    def _block(self, lanes: Lanes, block: Block) -> list[Any]:
        """Run a block in all lanes."""
        self.steps += len(block.operations) * len(lanes)
        if self.steps > self.left:
            raise TooMany
        # A value for each result, and each operand may be one from outside, brought into lanes.
        values = sum(len(x.results) + len(x.operands) for x in block.operations)
        held = (values + len(lanes.time) + 1) * len(lanes)
        self._hold(held)
        found = self._operations(lanes, block)
        self.held -= held
        return found

    def _hold(self, values: int) -> None:
        """Refuse more values than fit into memory."""
        self.held += values
        if self.held > MOST_VALUES:
            raise TooMany

    def _operations(self, lanes: Lanes, block: Block) -> list[Any]:
        for place, operation in enumerate(block.operations):
            if operation.name in ("scf.yield", "affine.yield"):
                return [lanes.get(value.slot) for value in operation.operands]
            found = self._operation(lanes, operation, (*lanes.time, place))
            for value, result in zip(operation.results, found, strict=True):
                lanes.values[value.slot] = _small(result)
        return []

    def _operation(self, lanes: Lanes, operation: Operation, time: Time) -> list[Any]:
        given = [lanes.get(value.slot) for value in operation.operands]
        if operation.name in ("scf.for", "affine.for"):
            inner = Lanes(lanes, np.arange(len(lanes)), time)
            return self._inner_loop(inner, operation, given)
        if operation.name == "scf.if":
            return self._branch(lanes, operation, given[0], time)
        if operation.name == "tensor.insert":
            return [self._insert(given, time, len(lanes))]
        if operation.name == "tensor.extract":
            return [self._extract(given)]
        return [_computed(operation, given, client=self.client)]

    def _inner_loop(self, lanes: Lanes, operation: Operation, given: list[Any]) -> list[Any]:
        known = operation.attributes.get("bounds")
        if known is not None:
            return self._loop(lanes, operation, (known[0], known[1], known[2]), given)
        if operation.name != "scf.for":
            raise Unsupported
        return self._loop(lanes, operation, (given[0], given[1], given[2]), given[3:])

    def _branch(self, lanes: Lanes, operation: Operation, condition: Any, time: Time) -> list[Any]:
        """Both branches, each in its lanes."""
        if len(operation.regions) != 2:
            raise Unsupported
        if isinstance(condition, _Each):
            holds = condition.numbers != 0
        else:
            holds = np.full(len(lanes), bool(condition))
        parts = [np.flatnonzero(holds), np.flatnonzero(~holds)]
        before = [tensor.current for tensor in self.tensors]
        newest, found = before, []
        for part, region in zip(parts, operation.regions, strict=True):
            for tensor, number in zip(self.tensors, before, strict=True):
                tensor.current = number
            inner = Lanes(lanes, part, _chosen(time, part))
            found.append(self._region(inner, region) if len(part) else None)
            newest = [max(n, x.current) for n, x in zip(newest, self.tensors, strict=True)]
        for tensor, number in zip(self.tensors, newest, strict=True):
            tensor.current = number
        return [
            _merged(value.type, len(lanes), parts, [None if x is None else x[k] for x in found])
            for k, value in enumerate(operation.results)
        ]

    @staticmethod
    def _place(array: NDArray[Any], index: list[Any]) -> list[Any]:
        """Indices, which are in range."""
        if len(index) != array.ndim:
            raise Unsupported
        found = [x.numbers if isinstance(x, _Each) else x for x in index]
        for each, size in zip(found, array.shape, strict=True):
            if np.min(each) < 0 or np.max(each) >= size:
                raise Unsupported
        return found

    def _insert(self, given: list[Any], time: Time, count: int) -> Version:
        value, target, *index = given
        if not isinstance(target, Version) or not isinstance(value, (_Each, int, float)):
            raise Unsupported
        target.check()
        place = self._place(target.tensor.array, index)
        number = value.numbers if isinstance(value, _Each) else value
        # Kept to the end: the number, its place and the digits of its time.
        self._hold((2 + len(time)) * count)
        target.tensor.add(time, place, number, count)
        return target.next()

    def _extract(self, given: list[Any]) -> Any:
        array, *index = given
        if not _is_numbers(array):
            raise Unsupported
        place = self._place(array, index)
        if any(isinstance(each, np.ndarray) for each in place):
            return _Each(array[tuple(place)])
        return array.item(*place)


def _chosen(time: Time, index: NDArray[np.int64]) -> Time:
    """The times of some lanes."""
    return tuple(digit if isinstance(digit, int) else digit[index] for digit in time)


def _small(value: Any) -> Any:
    """A value that is no integer beyond 64 bits, which arrays do not hold."""
    if isinstance(value, int) and abs(value) >= _MOST_NUMBER:
        raise Unsupported
    return value


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype != object


def _merged(type_: Type, count: int, parts: list[NDArray[np.int64]], found: list[Any]) -> Any:
    """The results of two branches."""
    used = [x for x in found if x is not None]
    if all(isinstance(x, Version) for x in used):
        # Both begin with one version, and each ends with a newer one or the same.
        if len({id(x.tensor) for x in used}) != 1:
            raise Unsupported
        return max(used, key=lambda x: x.number).next()
    if any(isinstance(x, (Version, np.ndarray)) for x in used):
        raise Unsupported
    merged = np.zeros(count, np.float64 if type_.is_float else np.int64)
    for part, value in zip(parts, found, strict=True):
        if value is not None:
            merged[part] = value.numbers if isinstance(value, _Each) else value
    return _Each(merged)


# Numbers.


def _largest(value: Any) -> int:
    """A bound on the absolute values of integers."""
    if isinstance(value, _Each):
        if value.most < _MOST_NUMBER:
            return value.most
        value = value.numbers
    return max(abs(int(np.min(value))), abs(int(np.max(value))))


def _wrapped(numbers: NDArray[np.int64], bits: int, most: int) -> _Each:
    """Integers in the range of their type, as ``wrapped`` of one."""
    if most < 2 ** (bits - 1):
        return _Each(numbers, most)
    if bits == 1:
        return _Each(numbers & 1, 1)
    half = np.int64(1) << np.int64(bits - 1)
    return _Each(((numbers + half) & np.int64((1 << bits) - 1)) - half, 2 ** (bits - 1))


def _nonzero(b: Any) -> Any:
    if not np.all(b):
        raise Unsupported
    return b


def _remainder(a: Any, b: Any) -> Any:
    """Of a division towards zero."""
    return np.fmod(a, _nonzero(b))


# Operations on integers, with a bound on the result for bounds of the operands.
_INTEGERS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int, int], int]]] = {
    "arith.addi": (np.add, operator.add),
    "arith.subi": (np.subtract, operator.add),
    "arith.muli": (np.multiply, operator.mul),
    "arith.divsi": (lambda a, b: (a - _remainder(a, b)) // b, lambda a, _: 2 * a),
    "arith.remsi": (_remainder, lambda a, _: a),
    "arith.floordivsi": (lambda a, b: a // _nonzero(b), lambda a, _: a),
    "arith.ceildivsi": (lambda a, b: -(-a // _nonzero(b)), lambda a, _: a),
    "arith.minsi": (np.minimum, max),
    "arith.maxsi": (np.maximum, max),
    "arith.andi": (np.bitwise_and, lambda a, b: 2 * max(a, b) + 1),
    "arith.ori": (np.bitwise_or, lambda a, b: 2 * max(a, b) + 1),
    "arith.xori": (np.bitwise_xor, lambda a, b: 2 * max(a, b) + 1),
}

_REALS: dict[str, Callable[..., Any]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.negf": np.negative,
}

_SAME = frozenset({"arith.extsi", "arith.extui", "arith.extf", "arith.truncf"})
_NARROWED = frozenset({"arith.index_cast", "arith.index_castui", "arith.trunci"})
_PREDICATES: dict[str, Callable[[Any, Any], Any]] = {
    **{"eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal},
    **{"sgt": np.greater, "sge": np.greater_equal},
}
# How the generic form writes them.
_NUMBERED = ("eq", "ne", "slt", "sle", "sgt", "sge")


def _computed(operation: Operation, given: list[Any], *, client: bool) -> Any:
    """An operation on numbers, in all lanes."""
    type_ = operation.results[0].type if operation.results else Type("none")
    if type_.kind == "tensor" or not all(isinstance(x, (_Each, int, float)) for x in given):
        raise Unsupported
    name = operation.name
    if name == "arith.constant":
        value = operation.attributes.get("value")
        if not isinstance(value, (bool, int, float)):
            raise Unsupported
        return float(value) if type_.is_float else int(value)
    if name in _SAME or (name in _NARROWED and (client or type_.is_float)):
        # Functions of clients only move numbers, of any range.
        return given[0]
    varies = any(isinstance(x, _Each) for x in given)
    found = _result(operation, type_, given if varies else [_Each(np.array(x)) for x in given])
    return found if varies else found.numbers.item()


def _result(operation: Operation, type_: Type, given: list[Any]) -> _Each:
    name = operation.name
    numbers = [x.numbers if isinstance(x, _Each) else x for x in given]
    if name in _INTEGERS:
        function, bound = _INTEGERS[name]
        bounds = [_largest(x) for x in given]
        most = bound(bounds[0], bounds[1])
        # Where 64 bits might not hold a result, each iteration computes with Python's integers.
        if max(most, *bounds) >= _MOST_NUMBER:
            raise Unsupported
        return _wrapped(np.asarray(function(*numbers)), type_.bits, most)
    if name in _REALS:
        with np.errstate(all="ignore"):
            return _Each(np.asarray(_REALS[name](*numbers)))
    if name in ("arith.sitofp", "arith.uitofp"):
        return _Each(np.asarray(numbers[0]).astype(np.float64))
    if name == "arith.cmpi":
        predicate = operation.attributes.get("predicate")
        if isinstance(predicate, int):
            predicate = _NUMBERED[predicate] if 0 <= predicate < len(_NUMBERED) else None
        if predicate not in _PREDICATES:
            raise Unsupported
        return _Each(np.asarray(_PREDICATES[predicate](*numbers)).astype(np.int64), 1)
    if name == "arith.select":
        condition, a, b = numbers
        return _Each(np.where(np.asarray(condition) != 0, a, b))
    if name in _NARROWED:
        return _wrapped(np.asarray(numbers[0]), type_.bits, _largest(given[0]))
    raise Unsupported

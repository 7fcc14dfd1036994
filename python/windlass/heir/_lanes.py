"""Loops over the entries of tensors of numbers, run for all iterations at once.

HEIR places matrices in slots by nested loops, each iteration of which computes indices, reads an
entry and writes it to another tensor: millions of operations. Here each value of a loop is an array
with one number for each iteration (a *lane*), in the order in which the iterations run:

    for i = a to b      each lane becomes b - a lanes
    if c                the lanes in which c holds, and the others
    extract, insert     one gather; the writes are kept, and done at the end in the order of time

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

_MOST_TIME = 2**62
_MOST_NUMBER = 2**62


class Unsupported(Exception):
    """A loop cannot run at once."""


class TooMany(Unsupported):
    """A loop has too many iterations to run at once. Those inside of it may not."""


@dataclass(eq=False)
class Tensor:
    """A tensor that a loop writes to: it is never read within."""

    array: NDArray[Any]
    current: int = 0
    """Its newest version. An older one is not used again."""
    writes: list[tuple[NDArray[np.int64], list[Any], Any]] = field(default_factory=list)
    """Times, indices and values."""

    def finished(self) -> NDArray[Any]:
        """The tensor after all writes."""
        found = self.array if self.array.flags.writeable else self.array.copy()
        if len(self.writes) > 1:
            order = np.argsort(np.concatenate([time for time, _, _ in self.writes]), kind="stable")
            places = tuple(
                np.concatenate([_wide(index[axis], time) for time, index, _ in self.writes])[order]
                for axis in range(found.ndim)
            )
            values = [_wide(value, time) for time, _, value in self.writes]
            # Of two writes to one place the later one lasts.
            found[places] = np.concatenate(values)[order]
        for time, index, value in self.writes if len(self.writes) == 1 else ():
            found[tuple(_wide(each, time) for each in index)] = _wide(value, time)
        return found


def _wide(value: Any, time: NDArray[np.int64]) -> NDArray[Any]:
    return value if isinstance(value, np.ndarray) else np.full(len(time), value)


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

    def __init__(
        self, parent: Lanes | list[Any], index: NDArray[np.int64] | None, time: NDArray[np.int64]
    ) -> None:
        self.parent, self.index, self.time = parent, index, time
        self.values: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.time)

    def get(self, slot: int) -> Any:
        """The value of a slot of the frame."""
        if slot in self.values:
            return self.values[slot]
        if isinstance(self.parent, list):
            return self.parent[slot]
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
        self.tensors: list[Tensor] = []

    def run(
        self, operation: Operation, bounds: tuple[int, int, int], values: list[Any]
    ) -> list[Any]:
        """The results of a loop."""
        if not values or not all(_is_numbers(value) for value in values):
            raise Unsupported
        self.tensors = [Tensor(value) for value in values]
        lanes = Lanes(self.frame, None, np.zeros(1, dtype=np.int64))
        versions: list[Any] = [Version(tensor, 0) for tensor in self.tensors]
        self._loop(lanes, operation, bounds, versions)
        return [tensor.finished() for tensor in self.tensors]

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
        total, longest = int(trips.sum()), int(trips.max())
        if total > MOST_LANES or int(lanes.time.max()) * (longest + 1) > _MOST_TIME:
            raise TooMany
        index = np.repeat(np.arange(count), trips)
        within = np.arange(total) - np.repeat(np.cumsum(trips) - trips, trips)
        time = lanes.time[index] * (longest + 1) + within
        variable = _Each(first[index] + stride[index] * within, most)
        return Lanes(lanes, index, time), variable

    def _block(self, lanes: Lanes, block: Block) -> list[Any]:
        """Run a block in all lanes."""
        self.steps += len(block.operations) * len(lanes)
        if self.steps > self.left:
            raise TooMany
        many = len(block.operations)
        if int(lanes.time.max()) * many > _MOST_TIME:
            raise TooMany
        for place, operation in enumerate(block.operations):
            if operation.name in ("scf.yield", "affine.yield"):
                return [lanes.get(value.slot) for value in operation.operands]
            time = lanes.time * many + place
            found = self._operation(lanes, operation, time)
            for value, result in zip(operation.results, found, strict=True):
                lanes.values[value.slot] = result
        return []

    def _operation(self, lanes: Lanes, operation: Operation, time: NDArray[np.int64]) -> list[Any]:
        given = [lanes.get(value.slot) for value in operation.operands]
        if operation.name in ("scf.for", "affine.for"):
            inner = Lanes(lanes, np.arange(len(lanes)), time)
            return self._inner_loop(inner, operation, given)
        if operation.name == "scf.if":
            return self._branch(lanes, operation, given[0], time)
        if operation.name == "tensor.insert":
            return [self._insert(given, time)]
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

    def _branch(
        self, lanes: Lanes, operation: Operation, condition: Any, time: NDArray[np.int64]
    ) -> list[Any]:
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
            inner = Lanes(lanes, part, time[part])
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

    def _insert(self, given: list[Any], time: NDArray[np.int64]) -> Version:
        value, target, *index = given
        if not isinstance(target, Version) or not isinstance(value, (_Each, int, float)):
            raise Unsupported
        target.check()
        place = self._place(target.tensor.array, index)
        number = value.numbers if isinstance(value, _Each) else value
        target.tensor.writes.append((time, place, number))
        return target.next()

    def _extract(self, given: list[Any]) -> Any:
        array, *index = given
        if not _is_numbers(array):
            raise Unsupported
        place = self._place(array, index)
        if any(isinstance(each, np.ndarray) for each in place):
            return _Each(array[tuple(place)])
        return array.item(*place)


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

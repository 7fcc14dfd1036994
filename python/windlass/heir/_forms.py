"""Encrypted vectors as affine combinations of a few arrays.

Between products of ciphertexts, everything that a program does to slots is affine: rotations, sums,
products with plaintexts, linear maps. So each slot is a row of coefficients, for the entries of
the *sources*: the arrays that clients encrypt, and the products and polynomials computed before.
Slots with equal rows hold equal numbers, and are computed once: what a program repeats in its
slots, because its ring is larger than its arrays, disappears.

    rows of an input        the entry in each slot
    rotate by k             the rows, moved
    product with a          the rows, times a[i]
    sum                     sums of rows
    product of x and y      a new source, with an entry for each pair of rows of x and y

Only slots on which a result depends have a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.errors import ProgramError
from windlass.heir._trace import Node, Trace, demands

_MOST_ENTRIES = 2**26
"""The largest number of coefficients of one vector."""

_Index = NDArray[np.int64]


@dataclass(eq=False)
class Rows:
    """Sparse rows of coefficients. Column 0 is the constant 1."""

    starts: _Index
    columns: _Index
    values: NDArray[Any]
    modulus: int | None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> _Index:
        """The number of coefficients of each row."""
        return np.diff(self.starts)

    def owners(self) -> _Index:
        """The row of each coefficient."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, index: _Index) -> Rows:
        """Some rows, in the order of the index."""
        lengths = self.lengths[index]
        _check_size(int(lengths.sum()))
        starts = np.concatenate(([0], np.cumsum(lengths)))
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        places = np.repeat(self.starts[index], lengths) + within
        return Rows(starts, self.columns[places], self.values[places], self.modulus)

    def scaled(self, factors: NDArray[Any]) -> Rows:
        """Each row times its factor."""
        values = self.values * np.repeat(factors, self.lengths)
        return _canonical(self.owners(), self.columns, values, len(self), self.modulus)

    def plus(self, other: Rows) -> Rows:
        """Row by row."""
        return sum_of([self, other])

    def distinct(self) -> tuple[_Index, Rows]:
        """The number of each row among the different ones, and these."""
        if len(self) < 2:
            return np.arange(len(self)), self
        order = _sorted_rows(self)
        ordered = self.take(order)
        same = _equal_neighbours(ordered)
        numbers = np.concatenate(([0], np.cumsum(~same)))
        firsts = np.concatenate(([0], np.flatnonzero(~same) + 1))
        # In the order in which they appear.
        first_place = np.full(len(firsts), len(self))
        np.minimum.at(first_place, numbers, order)
        rank = np.argsort(first_place)
        place = np.empty_like(rank)
        place[rank] = np.arange(len(rank))
        labels = np.empty(len(self), dtype=np.int64)
        labels[order] = place[numbers]
        return labels, self.take(order[firsts[rank]])


def _sorted_rows(rows: Rows) -> _Index:
    """An order in which equal rows are neighbours: by random sums of what they hold."""
    generator = np.random.default_rng()
    bits = rows.values.view(np.uint64)
    owners = rows.owners()
    keys = []
    for _ in range(2):
        a, b, c = generator.integers(0, 2**63, size=3, dtype=np.uint64) | np.uint64(1)
        mixed = (bits * a) ^ (rows.columns.astype(np.uint64) * b)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * c
        mixed ^= mixed >> np.uint64(32)
        total = np.zeros(len(rows), dtype=np.uint64)
        np.add.at(total, owners, mixed)
        keys.append(total)
    return np.lexsort((np.arange(len(rows)), keys[1], keys[0], rows.lengths))


def _equal_neighbours(rows: Rows) -> NDArray[np.bool_]:
    """Whether each row but the first equals the one before it."""
    lengths = rows.lengths
    same = lengths[1:] == lengths[:-1]
    candidates = np.flatnonzero(same)
    before, after = rows.take(candidates), rows.take(candidates + 1)
    differ = (before.columns != after.columns) | (before.values != after.values)
    bad = np.zeros(len(candidates), dtype=bool)
    np.logical_or.at(bad, before.owners(), differ)
    equal: NDArray[np.bool_] = same.copy()
    equal[candidates] = ~bad
    return equal


def sum_of(list_: list[Rows]) -> Rows:
    """Sums, row by row."""
    first = list_[0]
    return _canonical(
        np.concatenate([rows.owners() for rows in list_]),
        np.concatenate([rows.columns for rows in list_]),
        np.concatenate([rows.values for rows in list_]),
        len(first),
        first.modulus,
    )


def _check_size(count: int) -> None:
    if count > _MOST_ENTRIES:
        message = (
            f"the linear maps between two products have {count} coefficients, more than "
            f"{_MOST_ENTRIES}: compile the program for fewer slots"
        )
        raise ProgramError(message)


def _canonical(
    owners: _Index, columns: _Index, values: NDArray[Any], count: int, modulus: int | None
) -> Rows:
    """Rows with columns in order, equal ones added, without zeros."""
    _check_size(len(values))
    if len(values):
        width = int(columns.max()) + 1
        keys = owners * width + columns
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        values = np.add.reduceat(values, begins)
        if modulus is not None:
            values %= modulus
        kept = values != 0
        keys, values = keys[begins][kept], values[kept]
        owners, columns = keys // width, keys % width
    starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=count))))
    return Rows(starts.astype(np.int64), columns, values, modulus)


@dataclass(eq=False)
class Vector:
    """A vector of slots: the row of each, or -1 for slots on which nothing depends."""

    index: _Index
    rows: Rows


@dataclass(eq=False)
class Source:
    """An array whose entries are computed once."""

    number: int
    start: int
    """The column of its first entry."""
    size: int
    argument: int | None = None
    """The number of the argument that it is."""
    factors: tuple[Rows, Rows] | None = None
    """Of a product."""
    inner: Rows | None = None
    """Of a polynomial."""
    coefficients: tuple[float, ...] = ()

    def parts(self) -> list[Rows]:
        """The rows that it is computed from."""
        return [*(self.factors or ()), *([] if self.inner is None else [self.inner])]


class Forms:
    """The vectors of a program."""

    def __init__(self, trace: Trace, orders: Sequence[_Index], modulus: int | None) -> None:
        self.trace, self.modulus = trace, modulus
        self.dtype = np.dtype(np.float64 if modulus is None else np.int64)
        self.sources: list[Source] = []
        self.columns = 1
        self.arguments = {k: self._source(len(x), argument=k) for k, x in enumerate(orders)}
        # Where each entry of an argument is; the last for slots without an entry.
        self.places = [np.append(np.argsort(order), -1) for order in orders]

    def _source(self, size: int, **kind: Any) -> Source:
        source = Source(len(self.sources), self.columns, size, **kind)
        self.sources.append(source)
        self.columns += size
        return source

    def _number(self, numbers: NDArray[Any]) -> NDArray[Any]:
        if self.modulus is None:
            return numbers.astype(np.float64)
        return (numbers % self.modulus).astype(np.int64)

    def units(self, columns: _Index) -> Rows:
        """Rows that are one column each."""
        ones = np.ones(len(columns), self.dtype)
        return Rows(np.arange(len(columns) + 1), columns, ones, self.modulus)

    def constants(self, numbers: NDArray[Any]) -> Rows:
        """Rows that are constants."""
        zeros = np.zeros(len(numbers), dtype=np.int64)
        owners = np.arange(len(numbers))
        return _canonical(owners, zeros, self._number(numbers), len(numbers), self.modulus)

    # One operation.

    def vector(self, node: Node, parents: list[Vector], mask: NDArray[np.bool_]) -> Vector:
        """The vector of an operation, for the slots of a mask."""
        places = np.flatnonzero(mask)
        index = np.full(self.trace.slots, -1, dtype=np.int64)
        if not len(places):
            return Vector(index, self.constants(np.zeros(0)))
        labels, rows = getattr(self, f"_{node.kind}")(node, parents, places)
        merged, rows = rows.distinct()
        index[places] = merged[labels]
        return Vector(index, rows)

    def _input(self, node: Node, _parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        slots = node.payload
        element = self.places[slots.argument][slots.element[places]]
        constant = slots.constant[places]
        start = self.arguments[slots.argument].start
        entries, labels = np.unique(element, return_inverse=True)
        if entries[0] >= 0:
            return labels, self.units(entries + start)
        held = element >= 0
        units = self.units(np.where(held, element + start, 0))
        return np.arange(len(places)), units.scaled(np.where(held, 1, self._number(constant)))

    def _rotate(self, node: Node, parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        (x,) = parents
        return x.index[(places + node.payload) % self.trace.slots], x.rows

    def _pairs(self, index: _Index, numbers: NDArray[Any]) -> tuple[_Index, _Index, NDArray[Any]]:
        """The different pairs of a row and a number: the pair of each slot, rows, numbers."""
        values, which = np.unique(self._number(numbers), return_inverse=True)
        pairs, labels = np.unique(index * len(values) + which, return_inverse=True)
        return labels, pairs // len(values), values[pairs % len(values)]

    def _scale(self, node: Node, parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        # Slots of the operand that are multiplied by 0 have no row.
        index = np.maximum(parents[0].index[places], 0)
        labels, rows, factors = self._pairs(index, node.payload[places])
        if not len(parents[0].rows):
            return labels, self.constants(np.zeros(len(rows)))
        return labels, parents[0].rows.take(rows).scaled(factors)

    def _shift(self, node: Node, parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        labels, rows, summands = self._pairs(parents[0].index[places], node.payload[places])
        return labels, parents[0].rows.take(rows).plus(self.constants(summands))

    def _both(self, parents: list[Vector], places: _Index) -> tuple[_Index, Rows, Rows]:
        """The different pairs of rows of two vectors."""
        x, y = parents
        keys = x.index[places] * len(y.rows) + y.index[places]
        pairs, labels = np.unique(keys, return_inverse=True)
        return labels, x.rows.take(pairs // len(y.rows)), y.rows.take(pairs % len(y.rows))

    def _add(self, _node: Node, parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        labels, left, right = self._both(parents, places)
        return labels, left.plus(right)

    def _multiply(self, _node: Node, parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        labels, left, right = self._both(parents, places)
        for one, other in ((left, right), (right, left)):
            if not one.columns.any():
                # One of them is known.
                known = np.zeros(len(one), self.dtype)
                known[one.owners()] = one.values
                return labels, other.scaled(known)
        order = _good_order(left, right)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        source = self._source(len(order), factors=(left.take(order), right.take(order)))
        return rank[labels], self.units(source.start + np.arange(source.size))

    def _linear(self, node: Node, parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        (x,) = parents
        list_ = []
        for shift, diagonal in zip(node.payload.shifts, node.payload.diagonals, strict=True):
            index = x.index[(places + shift) % self.trace.slots]
            factors = self._number(diagonal[places])
            if factors.any():
                list_.append(x.rows.take(np.maximum(index, 0)).scaled(factors))
        none = self.constants(np.zeros(len(places)))
        return np.arange(len(places)), sum_of(list_) if list_ else none

    def _polynomial(self, node: Node, parents: list[Vector], places: _Index) -> tuple[_Index, Rows]:
        used, labels = np.unique(parents[0].index[places], return_inverse=True)
        inner = parents[0].rows.take(used)
        source = self._source(len(used), inner=inner, coefficients=node.payload)
        return labels, self.units(source.start + np.arange(source.size))


def _good_order(left: Rows, right: Rows) -> _Index:
    """An order of pairs of rows in which one side takes a source as it is, if there is one."""
    for rows in (left, right):
        if len(rows.values) == len(rows) and (rows.lengths == 1).all():
            order = np.argsort(rows.columns, kind="stable")
            columns = rows.columns[order]
            if len(columns) and np.array_equal(columns, columns[0] + np.arange(len(columns))):
                return order
    return np.arange(len(left))


def align(sources: list[Source], results: list[Rows]) -> None:
    """Order the entries of products so that sums need no permutation of them.

    An entry of a product may stand anywhere if its factors are computed by matrices anyway. So a
    product that is used once, each entry in a row of its own, takes the order of these rows.
    """
    used = [rows for source in sources for rows in source.parts()] + results
    for source in sources:
        if source.factors is None or any(_is_source(rows, sources) for rows in source.factors):
            continue
        found = []
        for rows in used:
            here = np.flatnonzero(
                (rows.columns >= source.start) & (rows.columns < source.start + source.size)
            )
            if len(here):
                found.append((rows, here))
        if len({id(rows) for rows, _ in found}) != 1:
            continue
        rows, here = found[0]
        owners, columns = rows.owners()[here], rows.columns[here] - source.start
        if len(rows) != source.size or not np.array_equal(np.sort(owners), np.arange(len(rows))):
            continue
        if not np.array_equal(np.sort(columns), np.arange(len(rows))):
            continue
        order = np.empty(len(rows), dtype=np.int64)
        order[owners] = columns
        left, right = source.factors
        for factor in {id(left): left, id(right): right}.values():
            moved = factor.take(order)
            factor.starts, factor.columns, factor.values = moved.starts, moved.columns, moved.values
        rows.columns[here] = owners + source.start


def _is_source(rows: Rows, sources: list[Source]) -> bool:
    """Whether rows are a source as it is, perhaps with a factor and a constant for each entry."""
    held = rows.columns > 0
    columns, owners = rows.columns[held], rows.owners()[held]
    if not len(columns) or not np.array_equal(owners, np.arange(len(rows))):
        return False
    return any(
        columns[0] == source.start
        and len(columns) == source.size
        and np.array_equal(columns, columns[0] + np.arange(len(columns)))
        for source in sources
    )


def forms(
    trace: Trace,
    orders: Sequence[_Index],
    modulus: int | None,
    wanted: dict[int, NDArray[np.bool_]],
) -> tuple[Forms, dict[int, Vector]]:
    """The vectors of the results of which slots are wanted, and what they are made of.

    The entries of each argument are numbered in the order that is given for it.
    """
    needed = demands(trace, wanted)
    made = Forms(trace, orders, modulus)
    last = {parent.number: node.number for node in trace.nodes for parent in node.parents}
    found: dict[int, Vector] = {}
    for node in trace.nodes:
        mask = needed.get(node.number)
        if mask is None:
            continue
        try:
            found[node.number] = made.vector(node, [found[p.number] for p in node.parents], mask)
        except ProgramError as error:
            error.at = node.at  # type: ignore[attr-defined]
            raise
        for parent in node.parents:
            if last[parent.number] == node.number and parent.number not in wanted:
                found.pop(parent.number, None)
    return made, found


def stacked(vectors: list[Vector], which: _Index, slots: _Index) -> tuple[Rows, _Index]:
    """The rows of several vectors in one list, and the row for each pair of a vector and a slot."""
    starts = np.concatenate(([0], np.cumsum([len(vector.rows) for vector in vectors])))
    index = np.empty(len(which), dtype=np.int64)
    for number, vector in enumerate(vectors):
        here = which == number
        index[here] = vector.index[slots[here]] + starts[number]
    lengths = np.concatenate([vector.rows.lengths for vector in vectors])
    return (
        Rows(
            np.concatenate(([0], np.cumsum(lengths))),
            np.concatenate([vector.rows.columns for vector in vectors]),
            np.concatenate([vector.rows.values for vector in vectors]),
            vectors[0].rows.modulus,
        ),
        index,
    )

"""From the text of a program to what its client and its server do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._windlass import Context
from windlass.errors import DTypeError, ParameterError, ProgramError, ShapeError
from windlass.heir._check import Checker
from windlass.heir._circuit import Design, Designer, chosen_context
from windlass.heir._entry import Entry, Setting, entry_of, setting_of
from windlass.heir._forms import Rows, Vector, align, forms, stacked
from windlass.heir._interpreter import Interpreter
from windlass.heir._ir import Type
from windlass.heir._layout import ciphertexts_of, input_slots, result_places, zero_slots
from windlass.heir._parser import parse
from windlass.heir._ports import Interface, Port, Result
from windlass.heir._rules import Machine, fits
from windlass.heir._trace import Node, Slots, Trace


@dataclass(frozen=True, eq=False)
class Planned:
    """A program without its text."""

    interface: Interface
    design: Design
    context: Context


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A result: the ciphertexts that hold it, and ``ciphertext * slots + slot`` of each entry."""

    port: Port
    nodes: list[Node]
    places: NDArray[np.int64]


def planned(
    text: str,
    *,
    function: str | None,
    plain: Mapping[int, ArrayLike],
    bound: float | Sequence[float],
    slots: int | None,
    context: Context | None,
) -> Planned:
    """Read, check and plan a program."""
    checker = Checker(text, parse(text))
    checker.check()
    setting = setting_of(checker, slots)
    entry = entry_of(checker, function)
    if context is not None:
        _check_context(context, setting)
    planner = Planner(Interpreter(checker), setting, entry)
    try:
        return planner.planned(plain, bound, context)
    except ProgramError as error:
        if error.line:
            raise
        raise checker.error(str(error), getattr(error, "at", entry.function.at)) from None


class Planner:
    """Plans the function that a server evaluates."""

    def __init__(self, interpreter: Interpreter, setting: Setting, entry: Entry) -> None:
        self.interpreter, self.setting, self.entry = interpreter, setting, entry
        self.name = entry.function.name

    def planned(
        self, plain: Mapping[int, ArrayLike], bound: float | Sequence[float], given: Context | None
    ) -> Planned:
        """Run the function on symbols, and design what computes the same."""
        setting = self.setting
        trace = Trace(setting.slots, setting.modulus is not None)
        ports, arguments = self.read_inputs(plain, trace)
        orders = _in_order_of_slots(trace, ports)
        values = self.interpreter.run(Machine(trace, client=False), self.name, arguments)
        results = self.results(values)
        made, vectors = forms(trace, orders, setting.modulus, self._slots_of(results))
        bounds = bounds_of(bound, len(ports))
        rows = [self._rows(result, vectors) for result in results]
        align(made.sources, [distinct for _, distinct in rows])
        designer = Designer(made, list(bounds))
        for _, distinct in rows:
            designer.output(distinct)
        design = designer.design
        context = given or chosen_context(design, setting.scale_bits, setting.scheme)
        read = [
            Result(
                result.port,
                entries,
                len(affine.constant),
                None if affine.blocks else affine.constant,
            )
            for result, (entries, _), affine in zip(results, rows, design.outputs, strict=True)
        ]
        interface = Interface(
            self.name, setting.scheme, setting.slots, tuple(ports), orders, bounds, tuple(read)
        )
        return Planned(interface, design, context)

    # Arguments.

    def read_inputs(
        self, plain: Mapping[int, ArrayLike], trace: Trace
    ) -> tuple[list[Port], list[Any]]:
        """The encrypted arguments, and what the function is called with."""
        types = self.entry.function.type.inputs
        # Programs with calls for debugging, which do nothing here, take keys too.
        places = [k for k, type_ in enumerate(types) if not fits(type_, "k")]
        given = {places[n] if 0 <= n < len(places) else -1: value for n, value in plain.items()}
        if any(k < 0 or types[k].is_ciphertext for k in given):
            message = f"not all of the arguments {list(plain)} of @{self.name} are plain"
            raise ParameterError(message)
        ports: list[Port] = []
        arguments: list[Any] = [None] * len(types)
        for number, k in enumerate(places):
            if types[k].is_ciphertext:
                arguments[k] = self._encrypted(number, k, ports, trace)
            else:
                arguments[k] = self._plain(number, types[k], given.get(k))
        if not ports:
            raise self._error(f"@{self.name} takes no ciphertext")
        return ports, arguments

    def _encrypted(self, number: int, index: int, ports: list[Port], trace: Trace) -> Any:
        """The ciphertexts of an argument."""
        type_, at = self.entry.function.type.inputs[index], self.entry.function.at
        slots = zero_slots(self.interpreter, self.setting, self.entry, index)
        if slots is None:
            port, slots = self._input(number, index, len(ports))
            ports.append(port)
        nodes = np.empty(len(slots), dtype=object)
        for k, each in enumerate(slots):
            nodes[k] = trace.node("input", [], each, at)
        shape = tuple(n or 0 for n in type_.shape)
        return nodes.reshape(shape) if type_.kind == "tensor" else nodes[0]

    def _input(self, number: int, index: int, place: int) -> tuple[Port, list[Slots]]:
        """An argument that a client encrypts, and what its ciphertexts hold."""
        count = ciphertexts_of(self.entry.function.type.inputs[index])
        encrypts, own = self.entry.encrypts.get(index), self.setting.slots
        if encrypts is None:
            slots = [Slots(place, np.arange(own) + k * own, np.zeros(own)) for k in range(count)]
            return Port(number, (count * own,), self.setting.scheme == "CKKS"), slots
        type_ = encrypts.type.inputs[0] if encrypts.type.inputs else Type("none")
        port = Port(number, tuple(n or 0 for n in type_.shape), type_.is_float)
        return port, input_slots(self.interpreter, self.setting, encrypts, place, count)

    def _plain(self, number: int, type_: Type, given: ArrayLike | None) -> Any:
        """An argument that is not encrypted."""
        if not (type_.is_float or type_.is_integer):
            message = f"argument {number} of @{self.name} is {type_}, which is not supported"
            raise self._error(message)
        if given is None:
            message = (
                f"argument {number} of @{self.name} is not encrypted: give plain={{{number}: ...}}"
            )
            raise ParameterError(message)
        shape, array = tuple(n or 0 for n in type_.shape), np.asarray(given)
        if array.shape != shape:
            message = f"plain argument {number} has the shape {shape}, not {array.shape}"
            raise ShapeError(message, expected=int(np.prod(shape)), got=array.size)
        if array.dtype.kind not in ("biuf" if type_.is_float else "biu"):
            raise DTypeError(f"plain argument {number} is {type_}, not {array.dtype}")
        own = array.astype(np.float64 if type_.is_float else np.int64)
        if not np.isfinite(own).all():
            raise ParameterError(f"plain argument {number} holds numbers that are not finite")
        return own if type_.kind == "tensor" else own.item()

    # Results.

    def results(self, values: list[Any]) -> list[_Wanted]:
        """The ciphertexts of each result, and the places of its entries."""
        types = self.entry.function.type.results
        found = [
            self._wanted(index, value, type_)
            for index, (value, type_) in enumerate(zip(values, types, strict=True))
        ]
        if not found:
            raise self._error(f"@{self.name} has no result")
        return found

    def _wanted(self, index: int, value: Any, type_: Type) -> _Wanted:
        nodes = list(value.flat) if isinstance(value, np.ndarray) else [value]
        if not type_.is_ciphertext or not all(isinstance(node, Node) for node in nodes):
            raise self._error(f"result {index} of @{self.name} is not encrypted")
        decrypts = self.entry.decrypts.get(index)
        if decrypts is None:
            count = len(nodes) * self.setting.slots
            port = Port(index, (count,), self.setting.scheme == "CKKS")
            return _Wanted(port, nodes, np.arange(count))
        shape, places = result_places(self.interpreter, self.setting, decrypts, len(nodes))
        return _Wanted(Port(index, shape, decrypts.type.results[0].is_float), nodes, places)

    def _slots_of(self, results: list[_Wanted]) -> dict[int, NDArray[np.bool_]]:
        """The slots of each ciphertext that results lie in."""
        slots = self.setting.slots
        wanted: dict[int, NDArray[np.bool_]] = {}
        for result in results:
            for number, node in enumerate(result.nodes):
                mask = wanted.setdefault(node.number, np.zeros(slots, dtype=bool))
                mask[result.places[result.places // slots == number] % slots] = True
        return wanted

    def _rows(self, result: _Wanted, vectors: dict[int, Vector]) -> tuple[NDArray[np.int64], Rows]:
        """The different rows of a result, and which of them each entry is."""
        slots = self.setting.slots
        list_ = [vectors[node.number] for node in result.nodes]
        # In the order of slots, which rotations keep.
        places, back = np.unique(result.places, return_inverse=True)
        rows, index = stacked(list_, places // slots, places % slots)
        labels, distinct = rows.take(index).distinct()
        return labels[back], distinct

    def _error(self, message: str) -> ProgramError:
        return self.interpreter.checker.error(message, self.entry.function.at)


def _in_order_of_slots(trace: Trace, ports: list[Port]) -> tuple[NDArray[np.int64], ...]:
    """The entries of each argument, in the order of their first slots.

    A client may encrypt entries in any order. In this one a rotation of slots is a matrix of few
    diagonals.
    """
    inputs = [node.payload for node in trace.nodes if node.kind == "input"]
    orders = []
    for number, port in enumerate(ports):
        own = [slots for slots in inputs if slots.argument == number]
        held = np.concatenate([slots.element for slots in own])
        entries, first = np.unique(held, return_index=True)
        order = entries[np.argsort(first)]
        order = order[order >= 0]
        orders.append(np.concatenate([order, np.setdiff1d(np.arange(port.size), order)]))
    return tuple(orders)


def bounds_of(bound: float | Sequence[float], count: int) -> tuple[float, ...]:
    """A bound for each of so many arguments."""
    given = np.asarray(bound, dtype=float)
    bounds = np.full(count, given) if given.ndim == 0 else given
    if bounds.shape != (count,) or not (np.isfinite(bounds) & (bounds > 0)).all():
        message = f"bound is a positive number, or one for each of the {count} encrypted arguments"
        raise ParameterError(message)
    return tuple(float(x) for x in bounds)


def _check_context(context: Context, setting: Setting) -> None:
    wanted = _in_words(setting.scheme, setting.modulus)
    own = _in_words(context.scheme, context.modulus)
    if own != wanted:
        raise ParameterError(f"the program is for {wanted}, but the context is {own}")


def _in_words(scheme: str, modulus: int | None) -> str:
    return scheme if modulus is None else f"{scheme} modulo {modulus}"

"""Which entry of an array lies in which slot, found by running the functions of clients.

These functions only move numbers. So they are run on labels, twice with different ones: where a
label comes out tells what was moved there, and a function that computes is refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.heir._entry import Entry, Setting
from windlass.heir._interpreter import Interpreter
from windlass.heir._ir import Function, Type
from windlass.heir._rules import Machine
from windlass.heir._trace import Slots, Trace

# Labels are larger than numbers of programs, and exact as real numbers.
_FIRST_LABEL = 2**46


def ciphertexts_of(type_: Type) -> int:
    """How many ciphertexts a value holds."""
    return math.prod(n or 0 for n in type_.shape) if type_.kind == "tensor" else 1


def _labels(count: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
    found = np.empty(count, dtype=np.int64)
    found[order] = np.arange(count) + _FIRST_LABEL
    return found


def _origin(values: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place in which each label was, or -1 for what is no label."""
    whole = values.astype(np.int64)
    found = np.full(values.shape, -1, dtype=np.int64)
    held = (whole >= _FIRST_LABEL) & (whole < _FIRST_LABEL + len(labels))
    places = np.empty(len(labels), dtype=np.int64)
    places[labels - _FIRST_LABEL] = np.arange(len(labels))
    found[held] = places[whole[held] - _FIRST_LABEL]
    return found


def input_slots(
    interpreter: Interpreter, setting: Setting, function: Function, argument: int, count: int
) -> list[Slots]:
    """What the ciphertexts of an argument hold, by the client's function that encrypts it."""
    checker = interpreter.checker
    type_ = function.type.inputs[0] if function.type.inputs else Type("none")
    if not (type_.is_float or type_.is_integer) or len(function.type.inputs) > 2:
        message = f"@{function.name} takes {function.type}, not an array and a key"
        raise checker.error(message, function.at)
    shape = tuple(n or 0 for n in type_.shape)
    size = math.prod(shape)
    runs = []
    for order in (np.arange(size), np.arange(size)[::-1]):
        labels = _labels(size, order)
        given = labels.reshape(shape).astype(np.float64 if type_.is_float else np.int64)
        array = given if type_.kind == "tensor" else given.item()
        trace = Trace(setting.slots, setting.modulus is not None)
        args = [array, None][: len(function.type.inputs)]
        (found,) = interpreter.run(Machine(trace, client=True), function.name, args)
        vectors = (
            list(found.flat) if isinstance(found, np.ndarray) and found.dtype == object else [found]
        )
        runs.append([(_origin(x, labels), x) for x in vectors])
    if len(runs[0]) != count:
        message = f"@{function.name} gives {len(runs[0])} ciphertexts, not {count}"
        raise checker.error(message, function.at)
    slots = []
    for (element, values), (again, others) in zip(*runs, strict=True):
        constant = np.where(element < 0, values, 0)
        if not np.array_equal(element, again) or not np.array_equal(
            constant, np.where(again < 0, others, 0)
        ):
            message = f"@{function.name} computes with what it encrypts, which is not supported"
            raise checker.error(message, function.at)
        slots.append(Slots(argument, element, constant))
    return slots


def zero_slots(
    interpreter: Interpreter, setting: Setting, entry: Entry, index: int
) -> list[Slots] | None:
    """What an argument holds for which the client has no array; None for other arguments."""
    attributes = entry.function.argument_attributes[index]
    number = attributes.get("client.enc_zero_arg")
    if not isinstance(number, dict):
        return None
    function = entry.zeros.get(number.get("index", 0))
    type_ = entry.function.type.inputs[index]
    if function is None or type_.kind == "tensor" or len(function.type.inputs) != 1:
        message = f"argument {index} of @{entry.function.name} has no function that encrypts it"
        raise interpreter.checker.error(message, entry.function.at)
    trace = Trace(setting.slots, setting.modulus is not None)
    (found,) = interpreter.run(Machine(trace, client=True), function.name, [None])
    return [Slots(0, np.full(setting.slots, -1), np.asarray(found))]


def result_places(
    interpreter: Interpreter, setting: Setting, function: Function, count: int
) -> tuple[tuple[int, ...], NDArray[np.int64]]:
    """The shape of a result, and ``ciphertext * slots + slot`` of each entry."""
    checker = interpreter.checker
    total = count * setting.slots
    found = []
    for order in (np.arange(total), np.arange(total)[::-1]):
        labels = _labels(total, order)
        vectors = np.empty(count, dtype=object)
        for k, own in enumerate(labels.reshape(count, setting.slots)):
            vectors[k] = own.astype(np.float64 if setting.modulus is None else np.int64)
        type_ = function.type.inputs[0]
        given: Any = vectors[0]
        if type_.kind == "tensor":
            given = vectors.reshape(tuple(n or 0 for n in type_.shape))
        trace = Trace(setting.slots, setting.modulus is not None)
        args = [given, None][: len(function.type.inputs)]
        (result,) = interpreter.run(Machine(trace, client=True), function.name, args)
        result = np.asarray(result)
        found.append((result.shape, _origin(result, labels).reshape(-1)))
    (shape, places), (_, again) = found
    if (places < 0).any() or not np.array_equal(places, again):
        message = f"@{function.name} computes with what it decrypts, which is not supported"
        raise checker.error(message, function.at)
    return shape, places

"""Operations on ciphertexts run as written: each becomes one method of a server.

Levels and sizes are checked here, before a key exists: against each other, and against the types of
the text. Scales are checked by the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass._windlass import ExplicitPlaintext
from windlass.errors import ProgramError
from windlass.heir._ciphertext_operations import _each
from windlass.heir._interpreter import Interpreter
from windlass.heir._ir import Block, Operation
from windlass.heir._rules import Action, Machine, frozen
from windlass.heir._stated_levels import Stated
from windlass.heir._trace import Node, Trace


class Plain:
    """A plaintext: its numbers, and the level and scale at which the text encodes it."""

    __slots__ = ("encoded", "level", "numbers", "scale")

    def __init__(self, numbers: NDArray[Any], level: int | None, scale: int | None) -> None:
        self.numbers, self.level, self.scale = numbers, level, scale
        self.encoded: dict[tuple[int, float], ExplicitPlaintext] = {}


class Step(Node):
    """An input, or a method of the server, with the level and size of its result."""

    __slots__ = ("level", "method", "size")

    def __init__(
        self, number: int, method: str, parents: tuple[Node, ...], payload: Any, at: int
    ) -> None:
        super().__init__(number, "input", parents, payload, at)
        self.method, self.level, self.size = method, 0, 2


class WrittenTrace(Trace):
    """The operations of a program, in order."""

    def __init__(self, slots: int, *, exact: bool, stated: Stated) -> None:
        super().__init__(slots, exact)
        self.stated = stated

    def node(self, kind: Any, parents: Sequence[Node], payload: Any, at: int) -> Step:
        """Add an operation."""
        node = super().node(kind, parents, payload, at)
        step = Step(node.number, kind, node.parents, payload, at)
        self.nodes[-1] = step
        return step

    def step(self, method: str, parents: Sequence[Step], payload: Any, at: int) -> Step:
        """Add an operation of the server; its result has the level and size of the operands."""
        step = self.node(method, parents, payload, at)
        levels = {parent.level for parent in parents}
        if len(levels) > 1:
            first, second = (parent.level for parent in parents)
            raise ProgramError(f"the operands are at levels {first} and {second}")
        step.level, step.size = parents[0].level, max(parent.size for parent in parents)
        return step

    def check_level(self, step: Step, operation: Operation) -> None:
        """Refuse a result that is not at the level of its type, or of the ring of a rescaling."""
        (result,) = operation.results
        ring = operation.attributes.get("to_ring")
        for level in (self.stated.of_type(result.type), self.stated.of_ring(ring)):
            if level is not None and level != step.level:
                message = f"the result is at level {step.level}, but the text states level {level}"
                raise ProgramError(message)


# What operations become.


def _one(f: Callable[[WrittenTrace, Operation, Any, Any], Step]) -> Action:
    def action(machine: Machine, operation: Operation, args: list[Any]) -> Any:
        def each(*operands: Any) -> Step:
            a, b = operands if len(operands) == 2 else (operands[0], None)
            for x in (a, b):
                if isinstance(x, np.ndarray):
                    raise ProgramError("a plaintext is not encoded")
            assert isinstance(machine.trace, WrittenTrace)
            step = f(machine.trace, operation, a, b)
            machine.trace.check_level(step, operation)
            return step

        return _each(each, *args)

    return action


def _pair(method: str) -> Action:
    """A sum or product of ciphertexts, or of a ciphertext and a plaintext."""

    def pair(trace: WrittenTrace, operation: Operation, a: Any, b: Any) -> Step:
        name = method
        if isinstance(a, Step) and isinstance(b, Step):
            if method == "multiply" and max(a.size, b.size) > 2:
                raise ProgramError("a factor has 3 polynomials: it is not relinearised")
            step = trace.step(method, [a, b], None, operation.at)
            step.size = 3 if method == "multiply" else step.size
            return step
        if isinstance(b, Step):
            a, b = b, a
            if method == "sub":
                a, name = trace.step("negate", [a], None, operation.at), "add"
        if not isinstance(a, Step) or not isinstance(b, Plain):
            raise ProgramError("this operation needs a ciphertext, and an encoded plaintext")
        if b.level is not None and b.level != a.level:
            message = f"the ciphertext is at level {a.level}, the plaintext at level {b.level}"
            raise ProgramError(message)
        return trace.step(f"{name}_plain", [a], b, operation.at)

    return _one(pair)


@_one
def _negate(trace: WrittenTrace, operation: Operation, a: Any, _b: Any) -> Step:
    return trace.step("negate", [a], None, operation.at)


@_one
def _relinearize(trace: WrittenTrace, operation: Operation, a: Any, _b: Any) -> Step:
    if a.size != 3:
        raise ProgramError("the ciphertext has 2 polynomials already")
    step = trace.step("relinearize", [a], None, operation.at)
    step.size = 2
    return step


def _lowered(trace: WrittenTrace, operation: Operation, a: Step, steps: int) -> Step:
    if not 0 <= steps <= a.level:
        raise ProgramError(f"{steps} steps of the chain are dropped at level {a.level}")
    reduces = operation.name.endswith("level_reduce")
    method, payload = ("level_reduce", steps) if reduces else ("rescale", None)
    step = trace.step(method, [a], payload, operation.at)
    step.level -= steps
    return step


@_one
def _rescale(trace: WrittenTrace, operation: Operation, a: Any, _b: Any) -> Step:
    return _lowered(trace, operation, a, 1)


@_one
def _level_reduce(trace: WrittenTrace, operation: Operation, a: Any, _b: Any) -> Step:
    steps = operation.attributes.get("levelToDrop", 1)
    if not isinstance(steps, int):
        raise ProgramError("levelToDrop is not a number")
    return _lowered(trace, operation, a, steps)


@_one
def _rotate(trace: WrittenTrace, operation: Operation, a: Any, b: Any) -> Step:
    if b is None:
        names = ("static_shift", "offset", "shift")
        b = next((operation.attributes[x] for x in names if x in operation.attributes), None)
    if not isinstance(b, int):
        raise ProgramError("a rotation needs a number of slots")
    if a.size != 2:
        raise ProgramError("the ciphertext has 3 polynomials: it is not relinearised")
    return trace.step("rotate", [a], b, operation.at)


def _encode(machine: Machine, operation: Operation, args: list[Any]) -> Any:
    level, scale = place_of(operation)
    numbers = machine.trace.numbers(args[0])
    return Plain(frozen(whole(numbers) if machine.trace.exact else numbers), level, scale)


def whole(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers of BGV, which are integers of 64 bits."""
    with np.errstate(invalid="ignore"):
        found = numbers.astype(np.int64)
    if not np.array_equal(found, numbers):
        raise ProgramError("a plaintext of BGV holds numbers that are not integers of 64 bits")
    return found


def place_of(operation: Operation) -> tuple[int | None, int | None]:
    """The level and scale of an encoding; None for what the text leaves to the backend.

    HEIR writes the scale -1 for one that it leaves to the backend.
    """
    level, scale = (operation.attributes.get(name) for name in ("level", "scale"))
    level = level if isinstance(level, int) else None
    return level, scale if isinstance(scale, int) and scale != -1 else None


def _refused(_machine: Machine, operation: Operation, _args: list[Any]) -> Any:
    message = f"{operation.name} cannot run as written: leave out run=, or compile without it"
    raise ProgramError(message)


_DIALECTS: dict[str, Action] = {
    "add": _pair("add"),
    "add_plain": _pair("add"),
    "sub": _pair("sub"),
    "sub_plain": _pair("sub"),
    "mul": _pair("multiply"),
    "mul_plain": _pair("multiply"),
    "negate": _negate,
    "relinearize": _relinearize,
    "rescale": _rescale,
    "modulus_switch": _rescale,
    "level_reduce": _level_reduce,
    "rotate": _rotate,
    "rotate_cols": _rotate,
}

_WRITTEN: dict[str, Action] = {
    **{
        f"{dialect}.{name}": action
        for dialect in ("ckks", "bgv")
        for name, action in _DIALECTS.items()
    },
    **{
        f"lwe.r{name}{plain}": _DIALECTS[name]
        for name in ("add", "sub", "mul")
        for plain in ("", "_plain")
    },
    "lwe.rnegate": _negate,
    "lwe.rlwe_encode": _encode,
    "ckks.bootstrap": _refused,
    "kernel.prepare_linear_transform": _refused,
    "kernel.apply_linear_transform": _refused,
    "kernel.linear_transform": _refused,
    "kernel.eval_chebyshev": _refused,
}


def _for_servers(plain: Action, written: Action) -> Action:
    """Clients' functions only move numbers, as in every run."""

    def action(machine: Machine, operation: Operation, args: list[Any]) -> Any:
        return (plain if machine.client else written)(machine, operation, args)

    return action


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for operation in block.operations:
        for region in operation.regions:
            yield from _blocks(region)


def run_as_written(interpreter: Interpreter) -> None:
    """Replace what operations on ciphertexts do."""
    for function in interpreter.module.functions.values():
        for block in () if function.body is None else _blocks(function.body):
            block.code = [
                (_for_servers(action, _WRITTEN[operation.name]), operation, operands, result)
                if operation.name in _WRITTEN
                else (action, operation, operands, result)
                for action, operation, operands, result in block.code
            ]

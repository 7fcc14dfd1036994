"""Runs the functions of a program: those of clients on slots, the others on symbols of ciphertexts.

Text from others is data here. Every operation is one of the table in ``_operations``, and what a
program may take is limited.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from typing import Any

from windlass.errors import ProgramError, WindlassError
from windlass.heir._check import Checker, all_operations, loop_bounds
from windlass.heir._ir import Block, Function, Module, Operation, Symbol, Value
from windlass.heir._lanes import Unsupported, Vectoriser
from windlass.heir._operations import RULES
from windlass.heir._rules import Machine, frozen

MOST_STEPS = 5 * 10**7
"""The largest number of operations that a program may run, of all kinds together."""


_AT_ONCE = 16
"""So many operations in iterations that run at once count as one."""

_FEW = 16
"""Loops with fewer iterations, and none inside, run one iteration after the other."""


class Interpreter:
    """Runs functions."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.module: Module = checker.module
        self.steps = 0
        self.sizes: dict[str, int] = {}
        self.in_turn: set[int] = set()
        """Loops whose iterations run one after the other: a try at once failed."""
        for function in self.module.functions.values():
            if function.body is not None:
                _remove_unused(function.body)
                _count_uses(function.body)
                self.sizes[function.name] = _number(function.body)

    def run(self, machine: Machine, name: str, arguments: list[Any]) -> list[Any]:
        """Run a function."""
        function = self.module.functions[name]
        return self._call(machine, function, arguments, function.at)

    def _call(
        self, machine: Machine, function: Function, arguments: list[Any], at: int
    ) -> list[Any]:
        if function.body is None:
            return []
        if len(arguments) != len(function.body.arguments):
            raise self.checker.error(f"@{function.name} takes other arguments", at)
        frame: list[Any] = [None] * self.sizes[function.name]
        for value, argument in zip(function.body.arguments, arguments, strict=True):
            frame[value.slot] = frozen(argument)
        return self._block(machine, function.body, frame)

    def _block(self, machine: Machine, block: Block, frame: list[Any]) -> list[Any]:
        """Run a block; returns what its last operation gives."""
        self.steps += len(block.operations)
        if self.steps > MOST_STEPS:
            message = f"the program runs more than {MOST_STEPS} operations"
            raise self.checker.error(message, block.operations[0].at)
        for action, operation, operands, result in block.code:
            if action is None:
                given = self._control(machine, operation, frame)
                if given is not None:
                    return given
                continue
            try:
                frame[result] = action(machine, operation, [frame[k] for k in operands])
            except ProgramError as error:
                raise self._located(error, operation) from None
            except WindlassError:
                raise
            except ZeroDivisionError:
                raise self.checker.error("a division by 0", operation.at) from None
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                message = f"{operation.name} does not fit its operands: {error}"
                raise self.checker.error(message, operation.at) from error
        return []

    def _located(self, error: ProgramError, operation: Operation) -> ProgramError:
        return error if error.line else self.checker.error(str(error), operation.at)

    def _control(
        self, machine: Machine, operation: Operation, frame: list[Any]
    ) -> list[Any] | None:
        """Operations that run others. Those that end a block return what they give."""
        if operation.name in ("func.return", "scf.yield", "affine.yield"):
            return [_passed(value, frame) for value in operation.operands]
        if operation.name == "cf.assert":
            if not frame[operation.operands[0].slot]:
                message = operation.attributes.get("message") or operation.attributes.get("msg")
                raise self.checker.error(f"the program asserts: {message}", operation.at)
            return None
        if operation.name == "func.call":
            callee = operation.attributes["callee"]
            assert isinstance(callee, Symbol)
            args = [frame[value.slot] for value in operation.operands]
            function = self.module.functions[callee.name]
            found = self._call(machine, function, args, operation.at)
        elif operation.name == "scf.if":
            found = self._branch(machine, operation, frame)
        else:
            found = self._loop(machine, operation, frame)
        for value, result in zip(operation.results, found, strict=True):
            frame[value.slot] = result
        return None

    def _branch(self, machine: Machine, operation: Operation, frame: list[Any]) -> list[Any]:
        taken = bool(frame[operation.operands[0].slot])
        if taken or len(operation.regions) > 1:
            return self._block(machine, operation.regions[0 if taken else 1], frame)
        return []

    def _loop(self, machine: Machine, operation: Operation, frame: list[Any]) -> list[Any]:
        bounds = loop_bounds(operation)
        initial = operation.operands
        if bounds is None:
            bounds = tuple(frame[value.slot] for value in initial[:3])
            initial = initial[3:]
        assert bounds is not None
        if bounds[2] < 1:
            raise self.checker.error(f"a loop with the step {bounds[2]} has no end", operation.at)
        body = operation.regions[0]
        variable, *arguments = body.arguments
        values = [_passed(value, frame) for value in initial]
        at_once = self._at_once(machine, operation, bounds, values, frame)
        if at_once is not None:
            return at_once
        for k in range(*bounds):
            frame[variable.slot] = k
            for argument, value in zip(arguments, values, strict=True):
                frame[argument.slot] = value
            values = self._block(machine, body, frame)
        return values

    def _at_once(
        self,
        machine: Machine,
        operation: Operation,
        bounds: tuple[int, int, int],
        values: list[Any],
        frame: list[Any],
    ) -> list[Any] | None:
        """The results of a loop whose iterations run at once; None for one in which they do not."""
        if id(operation) in self.in_turn or (
            len(range(*bounds)) < _FEW
            and not any(x.regions for x in operation.regions[0].operations)
        ):
            return None
        vectoriser = Vectoriser(frame, (MOST_STEPS - self.steps) * _AT_ONCE, client=machine.client)
        try:
            return vectoriser.run(operation, bounds, values)
        except Unsupported:
            self.in_turn.add(id(operation))
            return None
        finally:
            # Also of a try that failed.
            self.steps += vectoriser.steps // _AT_ONCE


def _remove_unused(block: Block) -> None:
    """Leave out what no result depends on: plaintexts that were prepared in another function."""
    for operation in reversed(block.operations):
        for region in operation.regions:
            _remove_unused(region)
        used = any(result.uses for result in operation.results)
        if used or not RULES[operation.name].pure or not operation.results:
            continue
        inside = [inner for region in operation.regions for inner in all_operations(region)]
        if any(not RULES[x.name].pure and not x.name.endswith(".yield") for x in inside):
            continue
        for removed in (operation, *inside):
            for value in removed.operands:
                value.uses -= 1
        operation.name = ""
    block.operations = [operation for operation in block.operations if operation.name]


def _passed(value: Value, frame: list[Any]) -> Any:
    """A value for another block, which may change it in place if nothing else uses it."""
    return frame[value.slot] if value.alone else frozen(frame[value.slot])


def _count_uses(block: Block) -> Counter[Value]:
    """Find out which values are used once; returns the uses of those that are defined outside.

    Of two branches one is taken. What a loop uses, it may use again.
    """
    uses: Counter[Value] = Counter()
    for operation in block.operations:
        uses.update(operation.operands)
        inside = [_count_uses(region) for region in operation.regions]
        if operation.name == "scf.if":
            uses += functools.reduce(operator.or_, inside, Counter())
        else:
            for found in inside:
                uses.update({value: 2 * count for value, count in found.items()})
    defined = [*block.arguments, *(x for operation in block.operations for x in operation.results)]
    for value in defined:
        value.alone = uses.pop(value, 0) == 1
    return uses


def _number(body: Block) -> int:
    """Give each value of a function its place in a frame, of which the last takes what has none."""
    count = 0
    waiting, blocks = [body], []
    while waiting:
        block = waiting.pop()
        blocks.append(block)
        values = list(block.arguments)
        for operation in block.operations:
            values += operation.results
            waiting += operation.regions
        for value in values:
            value.slot = count
            count += 1
    for block in blocks:
        block.code = [_code(operation, count) for operation in block.operations]
    return count + 1


def _code(operation: Operation, nowhere: int) -> tuple[Any, Operation, list[int], int]:
    result = operation.results[0].slot if operation.results else nowhere
    operands = [value.slot for value in operation.operands]
    return RULES[operation.name].action, operation, operands, result

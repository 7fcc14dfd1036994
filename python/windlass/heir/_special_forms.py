"""Operations, among them those with a form of their own: constants, comparisons, calls, loops."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from windlass.heir._ir import Operation, Type, Value
from windlass.heir._plain_form import WORD, PlainForm
from windlass.heir._values import VALUE

_COUNT = re.compile(r":([0-9]+)")
OPERATION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_$]+)*")

# What some operations are called where their dialect is the one of the function around them.
_SHORT = {"call": "func.call", "return": "func.return", "module": "builtin.module"}

_MOST_RESULTS = 2**16


class OperationParser(PlainForm):
    """Reads operations."""

    def operation(self) -> Operation:
        self.skip()
        at = self.at
        names = self._result_names()
        self.skip()
        place = self.at
        quoted = self.string()
        name = quoted if quoted is not None else self.take(OPERATION)
        if name is None:
            raise self.error(f"an operation expected, not {self.found()}")
        name = _SHORT.get(name, name)
        operation = Operation(name, place)
        if quoted is not None:
            types = self._generic(operation)
        else:
            types = _FORMS.get(name, OperationParser._plain)(self, operation)
        self.location()
        self._add_results(operation, names, types, at)
        return operation

    def _result_names(self) -> list[str]:
        names: list[str] = []
        while (found := self.take(VALUE)) is not None:
            count = self.take(_COUNT)
            if count is None:
                names.append(found)
            else:
                several = min(int(count[1:8]), _MOST_RESULTS + 1)
                if len(names) + several > _MOST_RESULTS:
                    raise self.error("an operation with so many results is not supported")
                names += [f"{found}#{k}" for k in range(several)]
                if several == 1:
                    names[-1] = found
            if not self.accept(","):
                break
        if names:
            self.expect("=", "after the results of an operation")
        return names

    def _add_results(
        self, operation: Operation, names: list[str], types: tuple[Type, ...], at: int
    ) -> None:
        if len(names) != len(types):
            message = f"{operation.name} has {len(types)} results, but {len(names)} names"
            raise self.error(message, at)
        for name, type_ in zip(names, types, strict=True):
            value = Value(name, type_, at)
            self._define(value)
            operation.results.append(value)

    # Operations with a form of their own.

    def _constant(self, operation: Operation) -> tuple[Type, ...]:
        operation.attributes |= self.maybe_dictionary()
        self.skip()
        for word, truth in (("true", 1), ("false", 0)):
            if self.word(word):
                operation.attributes["value"] = truth
                return (Type("i1"),)
        if self.peek("dense"):
            operation.attributes["value"] = dense = self.attribute()
            return (dense.type,)
        value = self.number()
        if value is None:
            raise self.error(f"a number expected, not {self.found()}")
        self.expect(":", "before the type of a constant")
        type_ = self.type()
        operation.attributes["value"] = self.typed(value, type_)
        return (type_,)

    def _compare(self, operation: Operation) -> tuple[Type, ...]:
        predicate = self.take(WORD)
        operation.attributes["predicate"] = predicate
        self.expect(",", "after the predicate of a comparison")
        head = self._head()
        before, _ = self._signature(operation)
        self._bind(operation, head.operands, before)
        shape = operation.operands[0].type if operation.operands else Type("i1")
        one = Type("i1")
        return (Type("tensor", shape.shape, one) if shape.kind == "tensor" else one,)

    def _call(self, operation: Operation) -> tuple[Type, ...]:
        operation.attributes["callee"] = self.symbol()
        self.expect("(", "before the arguments of a call")
        operands = self._operands(")")
        operation.attributes |= self.maybe_dictionary()
        self.expect(":", "before the type of a call")
        at = self.at
        type_ = self.type()
        if type_.kind != "function" or len(type_.inputs) != len(operands):
            raise self.error("this type does not fit the arguments of the call", at)
        self._bind(operation, operands, type_.inputs)
        return type_.results

    def _loop(self, operation: Operation) -> tuple[Type, ...]:
        """`scf.for %i = %a to %b step %c iter_args(%x = %y) -> (type) : i32 {...}`."""
        self.skip()
        at = self.at
        name = self.take(VALUE)
        if name is None:
            raise self.error("the variable of a loop expected")
        self.expect("=", "after the variable of a loop")
        operands = self._loop_bounds(operation, at)
        arguments, initial, types = self._loop_values(at)
        kind = self.type() if self.accept(":") else Type("index")
        self._bind(operation, [*operands, *initial], (kind,) * len(operands) + types)
        values = [Value(name, kind, at)]
        values += [Value(x, t, place) for (x, place), t in zip(arguments, types, strict=True)]
        operation.regions.append(self._scoped(values))
        operation.attributes |= self.maybe_dictionary()
        return types

    def _loop_bounds(self, operation: Operation, at: int) -> list[tuple[str, int]]:
        """The bounds and the step: values, or numbers for an attribute."""
        operands: list[tuple[str, int]] = []
        bounds: list[int] = []
        for word in ("", "to", "step"):
            if word and not self.word(word):
                if word == "to":
                    raise self.error(f"'to' expected in a loop, not {self.found()}")
                bounds.append(1)
                break
            operand = self._operand()
            if operand is not None:
                operands.append(operand)
                continue
            number = self.number()
            if not isinstance(number, int):
                raise self.error(f"a bound of a loop expected, not {self.found()}")
            bounds.append(number)
        if operation.name == "affine.for" and operands:
            raise self.error("an affine loop whose bounds are not numbers is not supported", at)
        if operands and bounds:
            raise self.error("the bounds and the step of a loop are all values", at)
        if bounds:
            operation.attributes["bounds"] = bounds
        return operands

    def _loop_values(
        self, at: int
    ) -> tuple[list[tuple[str, int]], list[tuple[str, int]], tuple[Type, ...]]:
        """The names of the values of a loop, what they begin with, and their types."""
        names: list[tuple[str, int]] = []
        initial: list[tuple[str, int]] = []
        if not self.word("iter_args"):
            return names, initial, ()
        self.expect("(", "after iter_args")
        while not self.accept(")"):
            name = self._operand()
            self.expect("=", "in iter_args")
            first = self._operand()
            if name is None or first is None:
                raise self.error(f"a value expected, not {self.found()}")
            names.append(name)
            initial.append(first)
            if not self.accept(","):
                self.expect(")", "after the last value")
                break
        self.expect("->", "before the types of a loop")
        types = self.type_list()
        if len(types) != len(names):
            raise self.error(f"{len(names)} values, but {len(types)} types", at)
        return names, initial, types

    def _branch(self, operation: Operation) -> tuple[Type, ...]:
        """`scf.if %x -> (type) {...} else {...}`."""
        operand = self._operand()
        if operand is None:
            raise self.error(f"a value expected, not {self.found()}")
        self._bind(operation, [operand], ())
        types = self.type_list() if self.accept("->") else ()
        operation.regions.append(self._scoped([]))
        if self.word("else"):
            operation.regions.append(self._scoped([]))
        operation.attributes |= self.maybe_dictionary()
        return types

    def typed(self, value: Any, type_: Type) -> int | float:
        """A number of a type."""
        if type_.is_float:
            as_float = getattr(value, "as_float", None)
            return float(as_float(type_)) if as_float else float(value)
        if isinstance(value, float):
            raise self.error(f"a constant of {type_} is an integer")
        return int(value)


_FORMS: dict[str, Callable[[OperationParser, Operation], tuple[Type, ...]]] = {
    "arith.constant": OperationParser._constant,
    "arith.cmpi": OperationParser._compare,
    "arith.cmpf": OperationParser._compare,
    "func.call": OperationParser._call,
    "scf.for": OperationParser._loop,
    "affine.for": OperationParser._loop,
    "scf.if": OperationParser._branch,
}

"""Values in a program: where they are defined, where they are used, and the regions around them."""

from __future__ import annotations

import re

from windlass.heir._attributes import AttributeParser
from windlass.heir._ir import Block, Operation, Type, Value

VALUE = re.compile(r"%[A-Za-z0-9_$.\-]+")
BLOCK = re.compile(r"\^[A-Za-z0-9_$.\-]+")


class ValueParser(AttributeParser):
    """Reads values and regions."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.scopes: list[dict[str, Value]] = [{}]

    def operation(self) -> Operation:
        """Read an operation."""
        raise NotImplementedError

    def location(self) -> None:
        """Skip a location if one follows."""
        if self.word("loc"):
            self.balanced()

    # Regions.

    def _scoped(self, arguments: list[Value]) -> Block:
        """A region in curly brackets, whose arguments are given."""
        self.expect("{", "before operations")
        block = self._region(arguments)
        self.expect("}", "after the last operation")
        return block

    def _region(self, arguments: list[Value]) -> Block:
        """The one block of a region, without its brackets."""
        with self.deeper():
            block = Block()
            self.scopes.append({})
            for argument in arguments:
                self._define(argument)
                block.arguments.append(argument)
            if self.peek("^"):
                self._label(block)
            while not self.peek("}"):
                if self.peek("^"):
                    raise self.error("a region with several blocks is not supported")
                block.operations.append(self.operation())
            self.scopes.pop()
        return block

    def _label(self, block: Block) -> None:
        self.take(BLOCK)
        if self.accept("("):
            while not self.accept(")"):
                self.skip()
                at = self.at
                name = self.take(VALUE)
                if name is None:
                    raise self.error(f"an argument of a block expected, not {self.found()}")
                self.expect(":", "before the type of an argument")
                argument = Value(name, self.type(), at)
                self.location()
                self._define(argument)
                block.arguments.append(argument)
                if not self.accept(","):
                    self.expect(")", "after the last argument")
                    break
        self.expect(":", "after the name of a block")

    # Names.

    def _define(self, value: Value) -> None:
        if any(value.name in scope for scope in self.scopes[1:]):
            raise self.error(f"the value {value.name} is defined twice", value.at)
        self.scopes[-1][value.name] = value

    def _use(self, name: str, at: int) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                scope[name].uses += 1
                return scope[name]
        raise self.error(f"the value {name} is not defined", at)

    def _operand(self) -> tuple[str, int] | None:
        """The name of an operand and where it stands."""
        self.skip()
        at = self.at
        name = self.take(VALUE)
        if name is not None and self.accept("#"):
            name += "#" + str(self.number())
        return None if name is None else (name, at)

    def _operands(self, closing: str) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        while not self.accept(closing):
            operand = self._operand()
            if operand is None:
                raise self.error(f"a value expected, not {self.found()}")
            found.append(operand)
            if not self.accept(","):
                self.expect(closing, "after the last value")
                break
        return found

    def _bind(
        self, operation: Operation, operands: list[tuple[str, int]], types: tuple[Type, ...]
    ) -> None:
        """Set the operands; where types are written, compare them."""
        for k, (name, at) in enumerate(operands):
            value = self._use(name, at)
            written = types[k] if k < len(types) else None
            if written is not None and not _agree(written, value.type):
                raise self.error(f"{name} is {value.type}, but {written} is written", at)
            operation.operands.append(value)


def _agree(written: Type, own: Type) -> bool:
    """Whether a type is the one that is written, whose name may be left out."""
    return written == own or (not written.kind and written.body in own.body)

"""The two forms that most operations have: the generic one, and the one in which HEIR prints them.

Most operations of HEIR are written alike: operands, attributes between angle or curly brackets, a
colon, types. One function reads them all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from windlass.heir._ir import Operation, Type, Value
from windlass.heir._values import ValueParser

# The beginning of the next operation, after one without types.
_NEXT = re.compile(r"%[A-Za-z0-9_$.\-]+(?::[0-9]+)?\s*=")
WORD = re.compile(r"[a-z_]+")
_PARAMETER = re.compile(r"[A-Za-z_]+")

_DYNAMIC = -(2**63)
"""What stands in a list of numbers of which one is an operand."""


@dataclass
class _Head:
    """What stands before the types of an operation."""

    operands: list[tuple[str, int]] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    groups: list[list[int]] = field(default_factory=list)


class PlainForm(ValueParser):
    """Reads what follows the name of an operation."""

    def _generic(self, operation: Operation) -> tuple[Type, ...]:
        """`"name"(operands) <{properties}> ({regions}) {attributes} : type`."""
        self.expect("(", "after the name of an operation")
        operands = self._operands(")")
        if self.peek("["):
            raise self.error("an operation with successors is not supported")
        if self.peek("<{"):
            operation.attributes |= self.dictionary("<{", "}>")
        if self.accept("("):
            while not self.accept(")"):
                self.expect("{", "before a region")
                operation.regions.append(self._region([]))
                self.expect("}", "after a region")
                if not self.accept(","):
                    self.expect(")", "after the last region")
                    break
        operation.attributes |= self.maybe_dictionary()
        self.expect(":", "before the type of an operation")
        at = self.at
        type_ = self.type()
        if type_.kind != "function":
            raise self.error(f"the type of a function expected, not {type_}", at)
        if len(type_.inputs) != len(operands):
            raise self.error(f"{len(operands)} operands, but {len(type_.inputs)} types", at)
        self._bind(operation, operands, type_.inputs)
        return type_.results

    def _plain(self, operation: Operation) -> tuple[Type, ...]:
        """Operands and attributes in any order, then types."""
        head = self._head()
        operation.attributes |= head.attributes
        if head.groups:
            operation.attributes["groups"] = head.groups
        before, after = self._signature(operation)
        if operation.name in _ROTATIONS:
            # `: index : type`
            before = before[::-1]
        written = before if len(before) == len(head.operands) else ()
        self._bind(operation, head.operands, () if operation.name in _OTHER_TYPES else written)
        return _results_of(operation.name, operation.operands, before, after)

    def _head(self) -> _Head:
        """What stands before the colon."""
        head = _Head()
        while True:
            self.skip()
            if _NEXT.match(self.text, self.at):
                return head
            operand = self._operand()
            if operand is not None:
                head.operands.append(operand)
            elif self.peek("["):
                head.groups.append(self._group(head))
            elif self.accept("("):
                head.operands += self._operands(")")
            elif self.peek("<{"):
                head.attributes |= self.dictionary("<{", "}>")
            elif self.peek("<"):
                self._parameters(head)
            elif self.peek("{"):
                head.attributes |= self.dictionary("{", "}")
            elif self.peek("@"):
                head.attributes["callee"] = self.symbol()
            elif self.peek('"'):
                head.attributes["message"] = self.string()
            elif not self.accept(",") and not self._words(head):
                return head

    def _words(self, head: _Head) -> bool:
        """Words between operands, such as `into`, and those with a number, such as `site 0`."""
        if self.word("loc"):
            self.balanced()
            return True
        self.skip()
        begin = self.at
        for word in ("into", "from", "site", "outs", "ins"):
            if self.word(word):
                if word == "site":
                    head.attributes["site_id"] = self.number()
                return True
        self.at = begin
        return False

    def _group(self, head: _Head) -> list[int]:
        """Numbers and operands in square brackets."""
        self.expect("[", "before a list")
        found: list[int] = []
        while not self.accept("]"):
            operand = self._operand()
            if operand is not None:
                head.operands.append(operand)
                found.append(_DYNAMIC)
            else:
                number = self.number()
                if not isinstance(number, int):
                    raise self.error(f"an index expected, not {self.found()}")
                found.append(number)
            if not self.accept(","):
                self.expect("]", "after the last index")
                break
        return found

    def _parameters(self, head: _Head) -> None:
        """`<name = value>`, or a type."""
        begin = self.at
        self.accept("<")
        named = self.take(_PARAMETER) is not None and self.peek("=")
        self.at = begin
        if named:
            head.attributes |= self.dictionary("<", ">")
        else:
            self.balanced()

    def _signature(self, operation: Operation) -> tuple[tuple[Type, ...], tuple[Type, ...] | None]:
        """Types after colons, and those after an arrow (or `to`, or `into`)."""
        before: list[Type] = []
        while self.accept(":"):
            before += self.type_list()
            while self.accept(","):
                before += self.type_list()
            operation.attributes |= self.maybe_dictionary()
        for word in ("to", "into"):
            if self.word(word):
                return tuple(before), (self.type(),)
        return tuple(before), self.type_list() if self.accept("->") else None


def _results_of(
    name: str, operands: list[Value], before: tuple[Type, ...], after: tuple[Type, ...] | None
) -> tuple[Type, ...]:
    """The types of the results of an operation that says them in its own way."""
    if name in _NAME_LEFT_OUT:
        return tuple(Type(_NAME_LEFT_OUT[name], body=each.body) for each in after or before)
    if after is not None:
        return after
    if name in _WITHOUT_RESULTS:
        return ()
    if name == "tensor.extract":
        return (operands[0].type.scalar,) if operands else ()
    if name in _ROTATIONS:
        return before[:1]
    # The last type: that of all operands and the result, or of the destination.
    return before[-1:]


_WITHOUT_RESULTS = frozenset(
    {"scf.yield", "affine.yield", "func.return", "preprocessing.store", "cf.assert"}
)

_ROTATIONS = frozenset({"ckks.rotate", "bgv.rotate_cols"})

# The types written are not those of the operands, one by one.
_OTHER_TYPES = frozenset(
    {
        "tensor.splat",
        "tensor.from_elements",
        "tensor.empty",
        "preprocessing.load",
        "preprocessing.store",
    }
)

# The results of which the name of the type is not written.
_NAME_LEFT_OUT = {
    "preprocessing.empty": "preprocessing.storage",
    "kernel.prepare_linear_transform": "kernel.prepared_linear_transform",
}

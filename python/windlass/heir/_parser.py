"""Programs in MLIR, in the generic form of operations and in the form in which HEIR prints them.

The classes build on each other: characters (``_reader``), types and attributes (``_attributes``),
values and regions (``_values``), operations (``_plain_form``, ``_special_forms``), functions.
"""

from __future__ import annotations

import re
from typing import Any

from windlass.heir._ir import Function, Module, Type, Value
from windlass.heir._special_forms import OPERATION, OperationParser
from windlass.heir._values import BLOCK, VALUE

_ALIAS = re.compile(r"([!#])([A-Za-z_][A-Za-z0-9_$\-]*)\s*=(?!=)")


class Parser(OperationParser):
    """Reads a program."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.functions: dict[str, Function] = {}

    def module(self) -> Module:
        """Read the whole text."""
        attributes: dict[str, Any] = {}
        wrapped = False
        while not self.at_end:
            if self._alias():
                continue
            if wrapped:
                raise self.error(f"the end of the text expected, not {self.found()}")
            if self.word("module") or self.word("builtin.module"):
                wrapped = True
                if self.peek("@"):
                    self.symbol()
                if self.word("attributes"):
                    attributes = self.dictionary("{", "}")
                self.expect("{", "before the functions of a module")
                while not self.accept("}"):
                    self._function()
                self.location()
            elif self.accept('"builtin.module"'):
                wrapped = True
                attributes = self._generic_module()
            else:
                self._function()
        return Module(attributes, self.functions)

    def _generic_module(self) -> dict[str, Any]:
        self.expect("(", "after the name of an operation")
        self.expect(")", "in a module")
        attributes = self.dictionary("<{", "}>") if self.peek("<{") else {}
        self.expect("({", "before the functions of a module")
        if self.take(BLOCK) is not None:
            self.expect(":", "after the name of a block")
        while not self.accept("}"):
            self._function()
        self.expect(")", "after the functions of a module")
        attributes |= self.maybe_dictionary()
        self.expect(":", "before the type of an operation")
        self.type()
        self.location()
        return attributes

    def _alias(self) -> bool:
        """`!name = ...` or `#name = ...`."""
        self.skip()
        found = _ALIAS.match(self.text, self.at)
        if found is None:
            return False
        self.at = found.end()
        if found[1] == "!":
            self.types[found[2]] = self.type()
        else:
            self.attributes[found[2]] = self.attribute()
        return True

    # Functions.

    def _function(self) -> None:
        self.skip()
        at = self.at
        if self.accept('"func.func"'):
            found = self._generic_function(at)
        elif self.word("func.func"):
            found = self._custom_function(at)
        else:
            name = self.take(OPERATION) or self.found()
            raise self.error(f"a function expected, not {name}", at)
        if found.name in self.functions:
            raise self.error(f"the function @{found.name} is defined twice", at)
        self.functions[found.name] = found

    def _custom_function(self, at: int) -> Function:
        for word in ("private", "public", "nested"):
            self.word(word)
        name = self.symbol().name
        self.expect("(", "before the arguments of a function")
        arguments: list[Value] = []
        inputs: list[Type] = []
        attributes: list[dict[str, Any]] = []
        while not self.accept(")"):
            self.skip()
            place = self.at
            named = self.take(VALUE)
            if named is not None:
                self.expect(":", "before the type of an argument")
            inputs.append(self.type())
            if named is not None:
                arguments.append(Value(named, inputs[-1], place))
            attributes.append(self.maybe_dictionary())
            self.location()
            if not self.accept(","):
                self.expect(")", "after the last argument")
                break
        results = self.type_list() if self.accept("->") else ()
        own = self.dictionary("{", "}") if self.word("attributes") else {}
        if not self.peek("{"):
            self.location()
            type_ = Type("function", inputs=tuple(inputs), results=results)
            return Function(name, at, type_, own, attributes, None)
        if len(arguments) != len(inputs):
            raise self.error(f"the arguments of @{name} have no names", at)
        body = self._scoped(arguments)
        self.location()
        type_ = Type("function", inputs=tuple(inputs), results=results)
        return Function(name, at, type_, own, attributes, body)

    def _generic_function(self, at: int) -> Function:
        self.expect("(", "after the name of an operation")
        self.expect(")", "in a function")
        own = self.dictionary("<{", "}>") if self.peek("<{") else {}
        self.expect("({", "before the body of a function")
        body = None if self.peek("}") else self._region([])
        self.expect("}", "after the body of a function")
        self.expect(")", "after the body of a function")
        own |= self.maybe_dictionary()
        self.expect(":", "before the type of an operation")
        self.type()
        self.location()
        type_, name = own.pop("function_type", None), own.pop("sym_name", None)
        if not isinstance(type_, Type) or type_.kind != "function" or not isinstance(name, str):
            raise self.error("a function needs the properties function_type and sym_name", at)
        attributes = own.pop("arg_attrs", None) or [{} for _ in type_.inputs]
        if body is not None and tuple(x.type for x in body.arguments) != type_.inputs:
            raise self.error(f"the arguments of @{name} are not of the types of the function", at)
        return Function(name, at, type_, own, attributes, body)


def parse(text: str) -> Module:
    """Read a program."""
    return Parser(text).module()

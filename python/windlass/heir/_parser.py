"""Programs in MLIR, in the generic form of operations and in the form in which HEIR prints them.

Most operations of HEIR are written alike: operands, attributes between angle or curly brackets, a
colon, types. One function reads them all. The few with words or regions of their own have one each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from windlass.heir._attributes import AttributeParser
from windlass.heir._ir import Block, Function, Module, Operation, Symbol, Type, Value

_VALUE = re.compile(r"%[A-Za-z0-9_$.\-]+")
_COUNT = re.compile(r":([0-9]+)")
# The beginning of the next operation, after one without types.
_NEXT = re.compile(r"%[A-Za-z0-9_$.\-]+(?::[0-9]+)?\s*=")
_OPERATION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_$]+)*")
_WORD = re.compile(r"[a-z_]+")
_ALIAS = re.compile(r"([!#])([A-Za-z_][A-Za-z0-9_$\-]*)\s*=(?!=)")
_BLOCK = re.compile(r"\^[A-Za-z0-9_$.\-]+")

# What some operations are called where their dialect is the one of the function around them.
_SHORT = {"call": "func.call", "return": "func.return", "module": "builtin.module"}

_DYNAMIC = -(2**63)
"""What stands in a list of numbers of which one is an operand."""

_MOST_RESULTS = 2**16


@dataclass
class _Head:
    """What stands before the types of an operation."""

    operands: list[tuple[str, int]] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    groups: list[list[int]] = field(default_factory=list)


class Parser(AttributeParser):
    """Reads a program."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.functions: dict[str, Function] = {}
        self.scopes: list[dict[str, Value]] = [{}]
        self.count = 0

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
                self._location()
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
        if self.take(_BLOCK) is not None:
            self.expect(":", "after the name of a block")
        while not self.accept("}"):
            self._function()
        self.expect(")", "after the functions of a module")
        attributes |= self.maybe_dictionary()
        self.expect(":", "before the type of an operation")
        self.type()
        self._location()
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

    def _location(self) -> None:
        if self.word("loc"):
            self.balanced()

    # Functions.

    def _function(self) -> None:
        self.skip()
        at = self.at
        if self.accept('"func.func"'):
            found = self._generic_function(at)
        elif self.word("func.func"):
            found = self._custom_function(at)
        else:
            name = self.take(_OPERATION) or self.found()
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
            named = self.take(_VALUE)
            if named is not None:
                self.expect(":", "before the type of an argument")
            inputs.append(self.type())
            if named is not None:
                arguments.append(Value(named, inputs[-1], place))
            attributes.append(self.maybe_dictionary())
            self._location()
            if not self.accept(","):
                self.expect(")", "after the last argument")
                break
        results = self.type_list() if self.accept("->") else ()
        own = self.dictionary("{", "}") if self.word("attributes") else {}
        if not self.peek("{"):
            self._location()
            type_ = Type("function", inputs=tuple(inputs), results=results)
            return Function(name, at, type_, own, attributes, None)
        if len(arguments) != len(inputs):
            raise self.error(f"the arguments of @{name} have no names", at)
        body = self._scoped(arguments)
        self._location()
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
        self._location()
        type_, name = own.pop("function_type", None), own.pop("sym_name", None)
        if not isinstance(type_, Type) or type_.kind != "function" or not isinstance(name, str):
            raise self.error("a function needs the properties function_type and sym_name", at)
        attributes = own.pop("arg_attrs", None) or [{} for _ in type_.inputs]
        if body is not None and tuple(x.type for x in body.arguments) != type_.inputs:
            raise self.error(f"the arguments of @{name} are not of the types of the function", at)
        return Function(name, at, type_, own, attributes, body)

    # Blocks and values.

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
                block.operations.append(self._operation())
            self.scopes.pop()
        return block

    def _label(self, block: Block) -> None:
        self.take(_BLOCK)
        if self.accept("("):
            while not self.accept(")"):
                self.skip()
                at = self.at
                name = self.take(_VALUE)
                if name is None:
                    raise self.error(f"an argument of a block expected, not {self.found()}")
                self.expect(":", "before the type of an argument")
                argument = Value(name, self.type(), at)
                self._location()
                self._define(argument)
                block.arguments.append(argument)
                if not self.accept(","):
                    self.expect(")", "after the last argument")
                    break
        self.expect(":", "after the name of a block")

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

    # Operations.

    def _operation(self) -> Operation:
        self.skip()
        at = self.at
        names = self._result_names()
        self.skip()
        place = self.at
        quoted = self.string()
        name = quoted if quoted is not None else self.take(_OPERATION)
        if name is None:
            raise self.error(f"an operation expected, not {self.found()}")
        name = _SHORT.get(name, name)
        operation = Operation(name, place)
        if quoted is not None:
            types = self._generic(operation)
        else:
            types = _FORMS.get(name, Parser._plain)(self, operation)
        self._location()
        self._add_results(operation, names, types, at)
        return operation

    def _result_names(self) -> list[str]:
        names: list[str] = []
        while (found := self.take(_VALUE)) is not None:
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

    def _operand(self) -> tuple[str, int] | None:
        """The name of an operand and where it stands."""
        self.skip()
        at = self.at
        name = self.take(_VALUE)
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
        named = self.take(_WORD) is not None and self.peek("=")
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
        predicate = self.take(_WORD)
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
        name = self.take(_VALUE)
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


def _agree(written: Type, own: Type) -> bool:
    """Whether a type is the one that is written, whose name may be left out."""
    return written == own or (not written.kind and written.body in own.body)


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

_FORMS: dict[str, Callable[[Parser, Operation], tuple[Type, ...]]] = {
    "arith.constant": Parser._constant,
    "arith.cmpi": Parser._compare,
    "arith.cmpf": Parser._compare,
    "func.call": Parser._call,
    "scf.for": Parser._loop,
    "affine.for": Parser._loop,
    "scf.if": Parser._branch,
}


def parse(text: str) -> Module:
    """Read a program."""
    return Parser(text).module()


__all__ = ["Symbol", "parse"]

"""The check of a whole program, before anything of it runs."""

from __future__ import annotations

from collections.abc import Iterator

from windlass.errors import ProgramError
from windlass.heir._ir import Block, Function, Module, Operation, Symbol, Type
from windlass.heir._operations import RULES
from windlass.heir._reader import place
from windlass.heir._rules import WORDS, fits

_TERMINATORS = {
    "func": "func.return",
    "scf.for": "scf.yield",
    "scf.if": "scf.yield",
    "affine.for": "affine.yield",
}

# Operations whose operands and result are of one type.
_ONE_TYPE = frozenset(
    name
    for name in RULES
    if name.startswith(("arith.", "math."))
    and RULES[name].operands == "nn"
    and not name.startswith("arith.cmp")
)


class Checker:
    """Checks the operations of a program, and prepares them for the interpreter."""

    def __init__(self, text: str, module: Module) -> None:
        self.text, self.module = text, module

    def error(self, message: str, at: int, operation: str | None = None) -> ProgramError:
        """An error at a place of the text."""
        line, column = place(self.text, at)
        full = f"line {line}, column {column}: {message}"
        return ProgramError(full, line=line, column=column, operation=operation)

    def check(self) -> None:
        """Check every function."""
        for function in self.module.functions.values():
            types = (*function.type.inputs, *function.type.results)
            for type_ in types:
                if type_.kind == "tensor" and None in type_.shape:
                    message = f"@{function.name} has {type_}: dynamic shapes are not supported"
                    raise self.error(message, function.at)
            if function.body is not None:
                self._block(function.body, "func", function.type.results)
        for function in self.module.functions.values():
            self._check_recursion(function, [])

    def _check_recursion(self, function: Function, callers: list[str]) -> None:
        if function.name in callers:
            raise self.error(f"@{function.name} calls itself", function.at)
        if len(callers) > 32:
            raise self.error("calls are nested deeper than 32", function.at)
        if function.body is None:
            return
        called = {
            name.name
            for operation in all_operations(function.body)
            if operation.name == "func.call"
            and isinstance(name := operation.attributes.get("callee"), Symbol)
        }
        for name_ in sorted(called):
            self._check_recursion(self.module.functions[name_], [*callers, function.name])

    def _block(self, block: Block, kind: str, results: tuple[Type, ...]) -> None:
        terminator = _TERMINATORS[kind]
        for operation in block.operations:
            self._operation(operation)
            ends = operation.name == terminator and operation is block.operations[-1]
            if operation.name in _TERMINATORS.values() and not ends:
                raise self.error(f"{operation.name} does not belong here", operation.at)
        if not block.operations or block.operations[-1].name != terminator:
            if results or kind == "func":
                at = block.operations[-1].at if block.operations else 0
                raise self.error(f"{terminator} is missing", at)
            return
        last = block.operations[-1]
        given = tuple(value.type for value in last.operands)
        if given != results:
            message = f"{terminator} gives {_types(given)}, but {_types(results)} are expected"
            raise self.error(message, last.at)

    def _operation(self, operation: Operation) -> None:
        rule = RULES.get(operation.name)
        if rule is None:
            message = f"the operation {operation.name} is not supported"
            if operation.dialect in _LOWERED:
                message += f"; {_LOWERED[operation.dialect]}"
            raise self.error(message, operation.at, operation.name)
        letters = rule.operands
        least = len(letters.rstrip("+")) - letters.endswith("+")
        count = len(operation.operands)
        if count < least or (count > least and not letters.endswith("+")):
            message = f"{operation.name} has {count} operands, not {least}"
            raise self.error(message, operation.at)
        if rule.results is not None and len(operation.results) != rule.results:
            message = f"{operation.name} has {len(operation.results)} results, not {rule.results}"
            raise self.error(message, operation.at)
        for k, value in enumerate(operation.operands):
            letter = letters[min(k, len(letters.rstrip("+")) - 1)]
            if not fits(value.type, letter):
                message = (
                    f"operand {k + 1} of {operation.name} is {value.type}, not {WORDS[letter]}"
                )
                raise self.error(message, operation.at)
        self._types(operation)
        self._regions(operation)

    def _types(self, operation: Operation) -> None:
        """What a rule does not say about types."""
        types = {value.type for value in (*operation.operands, *operation.results)}
        if operation.name in _ONE_TYPE and len(types) > 1:
            message = f"the operands and the result of {operation.name} are not of one type"
            raise self.error(message, operation.at)
        if operation.dialect in ("ckks", "bgv") and operation.results:
            self._ciphertexts(operation)
        if operation.name == "func.call":
            self._call(operation)

    def _ciphertexts(self, operation: Operation) -> None:
        if not operation.results[0].type.is_ciphertext:
            message = f"the result of {operation.name} is no ciphertext"
            raise self.error(message, operation.at)
        shapes = {value.type.shape for value in operation.operands if value.type.is_ciphertext}
        if not shapes:
            raise self.error(f"{operation.name} has no ciphertext", operation.at)
        if len(shapes) > 1 or operation.results[0].type.shape not in shapes:
            message = f"the operands and the result of {operation.name} differ in shape"
            raise self.error(message, operation.at)
        for type_ in (value.type for value in (*operation.operands, *operation.results)):
            if type_.is_ciphertext and None in type_.shape:
                raise self.error(f"{type_}: dynamic shapes are not supported", operation.at)

    def _call(self, operation: Operation) -> None:
        callee = operation.attributes.get("callee")
        name = callee.name if isinstance(callee, Symbol) else None
        function = self.module.functions.get(name or "")
        if function is None:
            raise self.error(f"the function @{name} is not defined", operation.at)
        given = tuple(value.type for value in operation.operands)
        results = tuple(value.type for value in operation.results)
        if given != function.type.inputs or results != function.type.results:
            message = f"@{name} is {function.type}, but it is called as {_types(given)}"
            raise self.error(message, operation.at)
        if function.body is None and results:
            message = f"@{name} is declared only, so its results are not known"
            raise self.error(message, operation.at)

    def _regions(self, operation: Operation) -> None:
        results = tuple(value.type for value in operation.results)
        expected = {"scf.for": 1, "affine.for": 1, "scf.if": 2 if results else 1}
        count = expected.get(operation.name, 0)
        regions = [region for region in operation.regions if region.operations or results]
        if len(regions) > max(count, 2 if operation.name == "scf.if" else count):
            raise self.error(f"{operation.name} has too many regions", operation.at)
        if len(operation.regions) < count:
            raise self.error(f"{operation.name} has too few regions", operation.at)
        for region in operation.regions:
            if not region.operations and not results and operation.name == "scf.if":
                continue
            self._block(region, operation.name, results)
        if operation.name in ("scf.for", "affine.for"):
            self._loop(operation, results)

    def _loop(self, operation: Operation, results: tuple[Type, ...]) -> None:
        bounds = loop_bounds(operation)
        if operation.name == "affine.for" and bounds is None:
            message = "an affine loop whose bounds are not numbers is not supported"
            raise self.error(message, operation.at)
        values = operation.operands if bounds is not None else operation.operands[3:]
        types = tuple(value.type for value in values)
        arguments = tuple(value.type for value in operation.regions[0].arguments[1:])
        if types != results or arguments != results or not operation.regions[0].arguments:
            raise self.error(
                "the values of this loop are not of the types of its results", operation.at
            )
        if bounds is None and not all(v.type.is_integer for v in operation.operands[:3]):
            raise self.error("the bounds of a loop are integers", operation.at)


_LOWERED = {
    "openfhe": "give the program as it is before --scheme-to-openfhe",
    "lattigo": "give the program as it is before --scheme-to-lattigo",
    "secret": "compile the program with heir-opt --mlir-to-ckks or --mlir-to-bgv",
    "linalg": "compile the program with heir-opt --mlir-to-ckks or --mlir-to-bgv",
    "cggi": "Windlass has BGV, BFV and CKKS",
}


def loop_bounds(operation: Operation) -> tuple[int, int, int] | None:
    """The bounds and the step of a loop whose text holds them."""
    found = operation.attributes.get("bounds")
    if found is not None:
        return (found[0], found[1], found[2])
    names = ("lowerBoundMap", "upperBoundMap")
    ends = [getattr(operation.attributes.get(name), "body", "") for name in names]
    numbers = [_map_value(body) for body in ends]
    step = operation.attributes.get("step", 1)
    if operation.name != "affine.for" or None in numbers or not isinstance(step, int):
        return None
    return (numbers[0] or 0, numbers[1] or 0, step)


def _map_value(body: str) -> int | None:
    """The number in `() -> (number)`."""
    if not body.startswith("()->(") or not body.endswith(")"):
        return None
    digits = body[5:-1]
    return int(digits) if digits.lstrip("-").isdigit() and len(digits) < 19 else None


def all_operations(block: Block) -> Iterator[Operation]:
    """All operations of a block and of the blocks within."""
    waiting = [block]
    while waiting:
        for operation in waiting.pop().operations:
            yield operation
            waiting += operation.regions


def _types(types: tuple[Type, ...]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"

"""Types and attributes of MLIR."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.heir._ir import Dense, Opaque, Symbol, Type, numpy_dtype
from windlass.heir._reader import Reader

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.\-]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_SCALAR = re.compile(r"(?:index|none|bf16|f(?:16|32|64|80|128)|[su]?i[0-9]{1,8})\b")
_DIMENSION = re.compile(r"([0-9]+|\?)x")
_NUMBER = re.compile(
    r"-?(?:0x[0-9A-Fa-f]+|[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+(?:[eE][+-]?[0-9]+)?)"
)
_SYMBOL = re.compile(r'@(?:[A-Za-z_][A-Za-z0-9_$.\-]*|"(?:[^"\\]|\\.)*")')
_MOST_ENTRIES = 2**27


class AttributeParser(Reader):
    """Reads types and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.types: dict[str, Type] = {}
        self.attributes: dict[str, Any] = {}

    # Types.

    def type(self) -> Type:
        """Read a type."""
        with self.deeper():
            found = self.maybe_type()
            if found is None:
                raise self.error(f"a type expected, not {self.found()}")
            return found

    def maybe_type(self) -> Type | None:
        """Read a type if one follows."""
        self.skip()
        scalar = self.take(_SCALAR)
        if scalar is not None:
            return Type(scalar)
        if self.word("tensor") or self.word("vector"):
            return self._tensor()
        if self.peek("!"):
            return self._dialect_type()
        if self.peek("("):
            inputs = self.type_list()
            self.expect("->", "in the type of a function")
            return Type("function", inputs=inputs, results=self.type_list())
        for word in ("memref", "tuple", "complex"):
            if self.word(word):
                return Type(word, body=self.balanced() if self.peek("<") else "")
        # The name of the type is left out where only one is possible.
        return Type("", body=self.balanced()) if self.peek("<") else None

    def type_list(self) -> tuple[Type, ...]:
        """Read one type, or some in parentheses."""
        if not self.accept("("):
            return (self.type(),)
        types: list[Type] = []
        while not self.accept(")"):
            types.append(self.type())
            self.maybe_dictionary()
            if not self.accept(","):
                self.expect(")", "after the last type")
                break
        return tuple(types)

    def _tensor(self) -> Type:
        self.expect("<", "after tensor")
        shape: list[int | None] = []
        while (found := self.take(_DIMENSION)) is not None:
            shape.append(None if found == "?x" else self._whole(found[:-1]))
        element = self.type()
        if self.accept(","):
            self.attribute()
        self.expect(">", "at the end of a tensor type")
        return Type("tensor", tuple(shape), element)

    def _whole(self, digits: str) -> int:
        if len(digits) > 10:
            raise self.error(f"a dimension of {len(digits)} digits is too large")
        return int(digits)

    def _dialect_type(self) -> Type:
        at = self.at
        self.expect("!", "before a type")
        name = self.take(_NAME)
        if name is None:
            raise self.error("the name of a type expected")
        if "." not in name:
            if name not in self.types:
                raise self.error(f"the type !{name} is not defined", at)
            return self.types[name]
        return Type(name, body=self.balanced() if self.text.startswith("<", self.at) else "")

    # Attributes.

    def maybe_dictionary(self) -> dict[str, Any]:
        """Read a dictionary of attributes if one follows."""
        return self.dictionary("{", "}") if self.peek("{") else {}

    def dictionary(self, opening: str, closing: str) -> dict[str, Any]:
        """Read a dictionary of attributes."""
        found: dict[str, Any] = {}
        with self.deeper():
            self.expect(opening, "before attributes")
            while not self.accept(closing):
                at = self.at
                name = self.string() if self.peek('"') else self.take(_KEY)
                if name is None:
                    raise self.error(f"the name of an attribute expected, not {self.found()}")
                if name in found:
                    raise self.error(f"the attribute {name} is given twice", at)
                found[name] = self.attribute() if self.accept("=") else True
                if not self.accept(","):
                    self.expect(closing, "after the last attribute")
                    break
        return found

    def attribute(self) -> Any:  # noqa: PLR0911, PLR0912
        """Read an attribute: Python's numbers, strings, lists and dicts, or one of ours."""
        self.skip()
        with self.deeper():
            if self.peek("["):
                return self.entries("[", "]")
            if self.peek("{"):
                return self.dictionary("{", "}")
            if self.peek('"'):
                return self._typed(self.string())
            if self.peek("#"):
                return self._dialect_attribute()
            if self.peek("@"):
                return self.symbol()
            for word, value in (("true", True), ("false", False), ("unit", True)):
                if self.word(word):
                    return value
            if self.word("dense"):
                return self._dense()
            if self.word("array"):
                return self._array()
            if self.word("dense_resource") or self.word("affine_map") or self.word("affine_set"):
                return Opaque("builtin", self.balanced())
            if self.word("loc"):
                return Opaque("loc", self.balanced())
            number = self.number()
            if number is not None:
                return self._typed(number)
            if self.peek("<"):
                return Opaque("", self.balanced())
            found = self.maybe_type()
            if found is not None:
                return found
            # The words of enumerations.
            word_ = self.take(_KEY)
            if word_ is not None:
                return Opaque(word_, self.balanced() if self.peek("<") else "")
            raise self.error(f"an attribute expected, not {self.found()}")

    def _typed(self, value: Any) -> Any:
        """An attribute and its type, which for numbers decides how they are read."""
        if not self.accept(":"):
            return value
        type_ = self.type()
        if isinstance(value, int) and type_.is_float:
            return float(value)
        if isinstance(value, _Bits):
            return value.as_float(type_)
        return int(value) if isinstance(value, float) and type_.is_integer else value

    def number(self) -> int | float | None:
        """Read a number if one follows."""
        found = self.take(_NUMBER)
        if found is None:
            return None
        if "0x" in found:
            return _Bits(int(found, 16))
        if any(mark in found for mark in ".eE"):
            return float(found)
        if len(found) > 4096:
            raise self.error("this number has too many digits")
        return int(found)

    def entries(self, opening: str, closing: str) -> list[Any]:
        """Read a list of attributes."""
        self.expect(opening, "before a list")
        found: list[Any] = []
        while not self.accept(closing):
            found.append(self.attribute())
            if not self.accept(","):
                self.expect(closing, "after the last entry")
                break
        return found

    def symbol(self) -> Symbol:
        """Read the name of a function."""
        found = self.take(_SYMBOL)
        if found is None:
            raise self.error(f"the name of a function expected, not {self.found()}")
        return Symbol(found[1:].strip('"'))

    def _dialect_attribute(self) -> Any:
        at = self.at
        self.expect("#", "before an attribute")
        name = self.take(_NAME)
        if name is None:
            raise self.error("the name of an attribute expected")
        if "." not in name:
            if name not in self.attributes:
                raise self.error(f"the attribute #{name} is not defined", at)
            return self.attributes[name]
        return Opaque(name, self.balanced() if self.text.startswith("<", self.at) else "")

    def _array(self) -> list[Any]:
        """`array<i64: 1, 2>`."""
        self.expect("<", "after array")
        type_, found = self.type(), []
        if self.accept(":"):
            while not self.peek(">"):
                found.append(self.attribute())
                if not self.accept(","):
                    break
        self.expect(">", "at the end of an array")
        return [float(x) if type_.is_float else x for x in found]

    def _dense(self) -> Dense:
        """`dense<1.0> : tensor<4xf32>`."""
        at = self.at
        self.expect("<", "after dense")
        raw = self.string() if self.peek('"') else None
        flat: list[Any] = []
        shape: tuple[int, ...] = ()
        if raw is None and not self.peek(">"):
            flat, shape = self._entries()
        self.expect(">", "at the end of a dense attribute")
        self.expect(":", "before the type of a dense attribute")
        type_ = self.type()
        if type_.kind != "tensor" or None in type_.shape or not _is_number(type_):
            raise self.error(f"a constant of the type {type_} is not supported", at)
        whole = tuple(n for n in type_.shape if n is not None)
        count = math.prod(whole)
        if count > _MOST_ENTRIES:
            raise self.error(f"a constant has at most {_MOST_ENTRIES} entries", at)
        if raw is not None:
            return Dense(self._from_hexadecimal(raw, whole, type_, at), type_)
        numbers = self._as_array(flat, type_, at)
        if shape == ():
            numbers = np.full(whole, numbers[0]) if flat else np.zeros(whole, numpy_dtype(type_))
            if not flat and count:
                raise self.error(f"no entries for {type_}", at)
        elif shape != whole:
            raise self.error(f"entries of shape {shape} for {type_}", at)
        numbers = numbers.reshape(whole)
        numbers.flags.writeable = False
        return Dense(numbers, type_)

    def _entries(self) -> tuple[list[Any], tuple[int, ...]]:
        """Numbers in nested lists, and the shape."""
        flat: list[Any] = []

        def level() -> tuple[int, ...]:
            if not self.accept("["):
                flat.append(self._entry())
                return ()
            with self.deeper():
                shapes: set[tuple[int, ...]] = set()
                count = 0
                at = self.at
                while not self.accept("]"):
                    shapes.add(level())
                    count += 1
                    if not self.accept(","):
                        self.expect("]", "after the last entry")
                        break
                if len(shapes) > 1:
                    raise self.error("the lists of this constant differ in length", at)
                return (count, *(shapes.pop() if shapes else ()))

        return flat, level()

    def _entry(self) -> Any:
        for word, value in (("true", 1), ("false", 0)):
            if self.word(word):
                return value
        found = self.number()
        if found is None:
            raise self.error(f"a number expected, not {self.found()}")
        return found

    def _as_array(self, flat: list[Any], type_: Type, at: int) -> NDArray[Any]:
        if type_.is_float:
            flat = [x.as_float(type_.scalar) if isinstance(x, _Bits) else float(x) for x in flat]
        elif any(isinstance(x, float) for x in flat):
            raise self.error(f"{type_} holds integers, but an entry is a real number", at)
        try:
            return np.array(flat, numpy_dtype(type_))
        except OverflowError:
            raise self.error("an integer of this constant has more than 64 bits", at) from None

    def _from_hexadecimal(
        self, raw: str, shape: tuple[int, ...], type_: Type, at: int
    ) -> NDArray[Any]:
        dtype = _STORED.get(type_.scalar.kind)
        count = math.prod(shape)
        if dtype is None or not raw.startswith("0x"):
            raise self.error(f"a constant of {type_} in hexadecimal digits is not supported", at)
        try:
            numbers = np.frombuffer(bytes.fromhex(raw[2:]), dtype)
        except ValueError:
            raise self.error("the hexadecimal digits of this constant are damaged", at) from None
        if numbers.size not in (1, count):
            message = f"{numbers.size} entries in hexadecimal digits for {type_}"
            raise self.error(message, at)
        own = np.broadcast_to(numbers.astype(numpy_dtype(type_)), (count,)).reshape(shape)
        own.flags.writeable = False
        return own


_STORED: dict[str, np.dtype[Any]] = {
    "f64": np.dtype("<f8"),
    "f32": np.dtype("<f4"),
    "f16": np.dtype("<f2"),
    "i64": np.dtype("<i8"),
    "index": np.dtype("<i8"),
    "i32": np.dtype("<i4"),
    "i16": np.dtype("<i2"),
    "i8": np.dtype("i1"),
}


def _is_number(type_: Type) -> bool:
    return (type_.is_float or type_.is_integer) and type_.bits <= 64


class _Bits(int):
    """A number in hexadecimal digits: the bits of a real number if its type is one."""

    def as_float(self, type_: Type) -> float:
        """The real number with these bits."""
        dtype = _STORED.get(type_.kind)
        if dtype is None or dtype.kind != "f":
            return float(self)
        return float(np.frombuffer(int(self).to_bytes(dtype.itemsize, "little"), dtype)[0])

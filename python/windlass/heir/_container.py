"""Files of programs: a header in JSON, arrays behind it, and a checksum.

    8 bytes    WLHEIRPR
    2          version, 1
    2          kind: 1 a program, 2 its client's half, 3 its server's half
    8          length of the header
    8          length of the arrays
    header     JSON in UTF-8; "arrays" lists the dtype and the shape of each array
    arrays     one after the other, 8 bytes a number
    32         SHA-256 of all bytes before

Numbers are little-endian. The checksum finds damage. It does not say who wrote a file, so a reader
checks every field.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from windlass.errors import FileError, FileExists, MissingFile

MAGIC = b"WLHEIRPR"
VERSION = 1
KINDS = {"program": 1, "client": 2, "server": 3}

MOST_BYTES = 2**32
"""The largest file."""
MOST_HEADER = 2**26
"""The longest header."""
MOST_ARRAYS = 2**16
"""The largest number of arrays."""

_HEAD = struct.Struct("<8sHHQQ")
_DTYPES = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8")}


def damaged(what: str) -> FileError:
    """The error of a file that no Windlass wrote."""
    return FileError(f"this file of a program is damaged: {what}")


class Arrays:
    """Arrays to be written, each once."""

    def __init__(self) -> None:
        self.list: list[NDArray[Any]] = []

    def add(self, array: NDArray[Any]) -> int:
        """Keep an array; returns its number."""
        dtype = _DTYPES["f8" if array.dtype.kind == "f" else "i8"]
        self.list.append(np.asarray(array, dtype, order="C"))
        return len(self.list) - 1


def packed(kind: str, header: dict[str, Any], arrays: Arrays) -> bytes:
    """The bytes of a file."""
    listed = [[array.dtype.str[1:], list(array.shape)] for array in arrays.list]
    text = json.dumps({**header, "arrays": listed}, allow_nan=False, separators=(",", ":"))
    own = text.encode()
    body = b"".join(array.tobytes() for array in arrays.list)
    whole = _HEAD.pack(MAGIC, VERSION, KINDS[kind], len(own), len(body)) + own + body
    return whole + hashlib.sha256(whole).digest()


def unpacked(data: bytes) -> tuple[str, dict[str, Any], list[NDArray[Any]]]:
    """The kind, the header and the arrays of a file."""
    if len(data) < len(MAGIC) or not data.startswith(MAGIC):
        raise FileError(
            "this is no file of a program: give one that program.save or the save of a half wrote"
        )
    if len(data) < _HEAD.size:
        raise damaged("it ends within its first bytes")
    _, version, number, header_length, body_length = _HEAD.unpack_from(data)
    if version != VERSION:
        message = f"this file of a program has version {version}, and this Windlass reads {VERSION}"
        raise FileError(f"{message}: install a later Windlass, or save the program again")
    kind = next((name for name, own in KINDS.items() if own == number), None)
    if kind is None:
        raise damaged(f"there is no kind {number}")
    expected = _HEAD.size + header_length + body_length + 32
    if len(data) != expected:
        raise damaged(f"it has {len(data)} bytes instead of {expected}")
    if hashlib.sha256(memoryview(data)[:-32]).digest() != data[-32:]:
        raise damaged("its checksum differs")
    if header_length > MOST_HEADER:
        raise damaged(f"its header has more than {MOST_HEADER} bytes")
    begin = _HEAD.size + header_length
    header = _header(data[_HEAD.size : begin])
    return kind, header, _arrays(header, memoryview(data)[begin:-32])


def _header(data: bytes) -> dict[str, Any]:
    def refused(constant: str) -> NoReturn:
        raise damaged(f"{constant} is no number")

    try:
        found = json.loads(data, parse_constant=refused)
    except (ValueError, RecursionError):
        raise damaged("its header is no JSON") from None
    if not isinstance(found, dict):
        raise damaged("its header is no JSON object")
    return found


def _arrays(header: dict[str, Any], body: memoryview) -> list[NDArray[Any]]:
    listed = header.get("arrays")
    if not isinstance(listed, list):
        raise damaged("its header lists no arrays")
    if len(listed) > MOST_ARRAYS:
        raise damaged(f"its header lists more than {MOST_ARRAYS} arrays")
    found, at = [], 0
    for each in listed:
        if not isinstance(each, list) or len(each) != 2 or each[0] not in ("f8", "i8"):
            raise damaged("its header lists an array of no known dtype")
        shape = whole_numbers(each[1], 0, 2**40, "the shape of an array", longest=2)
        count = math.prod(shape)
        if at + 8 * count > len(body):
            raise damaged("an array is longer than the file")
        own = np.frombuffer(body, _DTYPES[each[0]], count, at).reshape(shape)
        if not np.isfinite(own).all():
            raise damaged("an array holds a number that is not finite")
        found.append(own.astype(own.dtype.newbyteorder("=")))
        at += 8 * count
    if at != len(body):
        raise damaged("its arrays are shorter than the file")
    return found


def whole_numbers(
    value: Any, least: int, most: int, what: str, *, longest: int | None = None
) -> list[int]:
    """A list of integers in a range, at most ``longest`` of them if it is given."""
    if not isinstance(value, list):
        raise damaged(f"{what} is no list")
    if longest is not None and len(value) > longest:
        raise damaged(f"{what} holds more than {longest} numbers")
    for each in value:
        if type(each) is not int or not least <= each < most:
            raise damaged(f"{what} holds a number that is not between {least} and {most}")
    return value


def write(path: str | Path, data: bytes) -> int:
    """Write a new file; returns its length."""
    path = Path(path)
    try:
        with path.open("xb") as file:
            try:
                file.write(data)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise FileExists(f"{path} exists; it is not changed") from None
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from error
    return len(data)


def read(path: str | Path) -> bytes:
    """The bytes of a file."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            # The first bytes say whether it is worth reading the others.
            head = file.read(len(MAGIC))
            if head != MAGIC:
                return head
            data = head + file.read(MOST_BYTES)
    except FileNotFoundError:
        raise MissingFile(f"there is no file {path}") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise FileError(f"{path} has more than {MOST_BYTES} bytes")
    return data


class Fields:
    """The fields of a header, each checked as it is read."""

    def __init__(self, fields: Any, arrays: Sequence[NDArray[Any]]) -> None:
        if not isinstance(fields, dict):
            raise damaged("a part of its header is no JSON object")
        self.fields, self.arrays = fields, arrays

    def _get(self, name: str) -> Any:
        if name not in self.fields:
            raise damaged(f"it has no {name}")
        return self.fields[name]

    def integer(self, name: str, least: int, most: int) -> int:
        """An integer, at least one number and below another."""
        return whole_numbers([self._get(name)], least, most, name)[0]

    def maybe_integer(self, name: str, least: int, most: int) -> int | None:
        """An integer or null."""
        return None if self._get(name) is None else self.integer(name, least, most)

    def integers(
        self, name: str, least: int, most: int, *, longest: int | None = None
    ) -> list[int]:
        """A list of integers, at most ``longest`` of them if it is given."""
        return whole_numbers(self._get(name), least, most, name, longest=longest)

    def numbers(self, name: str, *, longest: int) -> list[float]:
        """A list of finite numbers."""
        found = self._get(name)
        if isinstance(found, list) and len(found) > longest:
            raise damaged(f"{name} holds more than {longest} numbers")
        if not isinstance(found, list) or any(type(x) not in (int, float) for x in found):
            raise damaged(f"{name} is no list of numbers")
        try:
            numbers = [float(x) for x in found]
        except OverflowError:
            raise damaged(f"{name} holds a number that is too large") from None
        if not np.isfinite(numbers).all():
            raise damaged(f"{name} holds a number that is too large")
        return numbers

    def boolean(self, name: str) -> bool:
        """True or false."""
        found = self._get(name)
        if not isinstance(found, bool):
            raise damaged(f"{name} is neither true nor false")
        return found

    def text(self, name: str, longest: int) -> str:
        """A text."""
        found = self._get(name)
        if not isinstance(found, str) or len(found) > longest:
            raise damaged(f"{name} is no text of at most {longest} characters")
        return found

    def list(self, name: str, *, longest: int) -> list[Fields]:
        """A list of objects."""
        found = self._get(name)
        if not isinstance(found, list):
            raise damaged(f"{name} is no list")
        if len(found) > longest:
            raise damaged(f"{name} holds more than {longest} parts")
        return [Fields(each, self.arrays) for each in found]

    def maybe_array(self, name: str, shape: tuple[int, ...], kind: str) -> NDArray[Any] | None:
        """An array or null."""
        return None if self._get(name) is None else self.array(name, shape, kind)

    def array(self, name: str, shape: tuple[int, ...], kind: str) -> NDArray[Any]:
        """An array of a shape, of integers ("i") or real numbers ("f")."""
        found = self.arrays[self.integer(name, 0, len(self.arrays))]
        if found.shape != shape or found.dtype.kind != kind:
            what = f"{found.dtype} of shape {found.shape}"
            raise damaged(f"{name} is {what}, not of shape {shape} and kind {kind!r}")
        return found

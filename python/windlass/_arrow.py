"""Rows of tables as columns: out of anything that pyarrow reads, and back without pyarrow.

A row is encoded as the command line encodes a line of CSV. Behind the columns stands one field
more, whose name says their types and whose cell says which of them are null in this row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.errors import (
    DTypeError,
    FileError,
    MissingFile,
    ParameterError,
    UnknownName,
    ValueRangeError,
    missing_package,
)

_TYPES = "arrow:"
"""How the name of the last field begins."""

_Column = tuple[NDArray[np.int64], NDArray[np.uint8]]


def _instant(text: str) -> datetime:
    # Python 3.10 reads no 'Z'.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _text(cell: bytes) -> str:
    return cell.decode("utf-8")


_RESTORE: dict[str, Callable[[bytes], Any]] = {
    "int": lambda cell: int(_text(cell)),
    "float": lambda cell: float(_text(cell)),
    "decimal": lambda cell: Decimal(_text(cell)),
    "bool": lambda cell: {b"true": True, b"false": False}[cell],
    "string": _text,
    "binary": lambda cell: cell,
    "date": lambda cell: date.fromisoformat(_text(cell)),
    "timestamp": lambda cell: _instant(_text(cell)),
    "null": lambda cell: None,
}


def _load(source: object) -> Any:
    """The table of pyarrow of a source."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise missing_package("pyarrow", "arrow") from error
    if isinstance(source, (str, os.PathLike)):
        return _read(os.fspath(source))
    if isinstance(source, pa.Table):
        return source
    try:
        if isinstance(source, pa.RecordBatchReader):
            return source.read_all()
        if isinstance(source, pa.RecordBatch):
            return pa.Table.from_batches([source])
        if type(source).__module__.split(".")[0] == "pandas" and hasattr(source, "columns"):
            return _of_frame(source)
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
    except pa.ArrowException as error:
        raise DTypeError(f"pyarrow cannot read this table: {error}") from error
    message = (
        "the source must be a pyarrow.Table, a pyarrow.RecordBatchReader, a pandas frame or the "
        f"path of a file, not {type(source).__name__}"
    )
    raise DTypeError(message)


def _of_frame(frame: Any) -> Any:
    """The table of a frame of pandas: its columns, after an index that has names."""
    import pyarrow as pa

    index = [str(name) for name in frame.index.names if name is not None]
    names = [*index, *(str(name) for name in frame.columns)]
    if len(set(names)) != len(names):
        raise ParameterError("two columns have the same name")
    if index:
        frame = frame.reset_index()
        names = [str(name) for name in frame.columns]
    return pa.Table.from_pandas(frame.set_axis(names, axis=1), preserve_index=False)


def _read(path: str) -> Any:
    import pyarrow as pa
    import pyarrow.dataset as ds

    endings = {".csv": "csv", ".feather": "feather", ".arrow": "arrow", ".orc": "orc"}
    kind = endings.get(os.path.splitext(path)[1].lower(), "parquet")
    if not os.path.exists(path):
        raise MissingFile(f"{path}: there is no such file", filename=path)
    try:
        return ds.dataset(path, format=kind).to_table()
    except NotImplementedError as error:
        message = f"{path}: pyarrow cannot read it ({error}): write that column as another type"
        raise FileError(message, filename=path) from error
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{path}: {error}", filename=path) from error


def _kind(column: str, kind: Any) -> tuple[str, Any]:
    """What a type is restored as, and the type that its cells are written in."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _kind(column, kind.value_type)
    same = [
        ("int", types.is_integer),
        ("bool", types.is_boolean),
        ("decimal", types.is_decimal),
        ("date", types.is_date32),
        ("null", types.is_null),
        ("string", types.is_string),
        ("string", types.is_large_string),
        ("binary", types.is_binary),
        ("binary", types.is_large_binary),
        ("binary", types.is_fixed_size_binary),
    ]
    for name, fits in same:
        if fits(kind):
            return name, kind
    if types.is_floating(kind):
        # A float of 32 bits as text would be another one of 64.
        return "float", pa.float64()
    if types.is_date64(kind):
        return "date", pa.date32()
    if types.is_timestamp(kind):
        return "timestamp", pa.timestamp("us", None if kind.tz is None else "UTC")
    message = (
        f"column {column!r} has the type {kind}, but only integers, floating-point numbers, "
        "decimals, booleans, text, binary, dates and timestamps can be restored; cast the column"
    )
    raise DTypeError(message)


_YEARS = {
    "date": (-719_162, 2_932_896),
    "timestamp": (-62_135_596_800_000_000, 253_402_300_799_999_999),
}
"""The first and the last day, and microsecond, of the years 1 to 9999, counted from 1970: what
Python's dates and times reach."""


def _check_years(name: str, kind: str, array: Any, nulls: NDArray[np.bool_]) -> None:
    """Refuse dates that no reader could restore."""
    import pyarrow as pa

    count = array.cast(pa.int32() if kind == "date" else pa.int64()).fill_null(0)
    values = np.asarray(count.to_numpy(), dtype=np.int64)
    low, high = _YEARS[kind]
    outside = ((values < low) | (values > high)) & ~nulls
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        value = str(array[row].cast(pa.string()))
        message = (
            f"column {name!r}: the {kind} {value} in row {row} is outside the years 1 to 9999, so "
            "it could not be restored: write the column as text or as integers"
        )
        raise ValueRangeError(message, index=row, value=value)


def _column(name: str, array: Any) -> tuple[str, _Column, NDArray[np.bool_]]:
    """A column's kind, its cells as bytes, and where it is null."""
    import pyarrow as pa

    kind, written = _kind(name, array.type)
    try:
        nulls: NDArray[np.bool_] = np.asarray(array.is_null().to_numpy(), dtype=bool)
        if kind == "null":
            return kind, (np.zeros(len(nulls) + 1, np.int64), np.zeros(0, np.uint8)), nulls
        array = array.cast(written)
        if kind in _YEARS:
            _check_years(name, kind, array, nulls)
        if kind != "binary":
            array = array.cast(pa.large_string())
        array = array.cast(pa.large_binary()).fill_null(b"")
        whole = pa.concat_arrays(array.chunks) if array.num_chunks != 1 else array.chunk(0)
    except pa.ArrowException as error:
        raise DTypeError(f"column {name!r} cannot be written as text: {error}") from error
    _, offsets, data = whole.buffers()
    ends = np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + len(whole) + 1]
    bytes_: NDArray[np.uint8] = np.zeros(0, np.uint8)
    if data is not None and data.size > 0:
        bytes_ = np.frombuffer(data, np.uint8)
    return kind, (ends, bytes_), nulls


def _nulls(count: int, columns: Sequence[NDArray[np.bool_]]) -> _Column:
    """For each row the numbers of the columns that are null in it, as text."""
    cells: dict[int, list[str]] = {}
    for number, nulls in enumerate(columns):
        for row in np.flatnonzero(nulls).tolist():
            cells.setdefault(row, []).append(str(number))
    lengths = np.zeros(count + 1, np.int64)
    text = []
    for row in sorted(cells):
        text.append(",".join(cells[row]))
        lengths[row + 1] = len(text[-1])
    return np.cumsum(lengths), np.frombuffer("".join(text).encode(), np.uint8)


def cells(source: object, key: str | None) -> tuple[list[str], int | None, list[_Column]]:
    """The cells of a table: names of the fields, the number of the key column, columns.

    Parameters
    ----------
    source : pyarrow.Table, pyarrow.RecordBatchReader, pandas.DataFrame, str or os.PathLike
    key : str, optional

    Returns
    -------
    tuple
        Columns are where each cell ends (one number more than rows) and the bytes of all.
    """
    table = _load(source)
    names = [str(name) for name in table.column_names]
    if len(set(names)) != len(names):
        raise ParameterError("two columns have the same name")
    if any(name.startswith(_TYPES) for name in names):
        raise ParameterError(f"the name of a column must not begin with {_TYPES!r}")
    if not names or table.num_rows == 0:
        raise ParameterError("the table has no rows: give at least one")
    if key is not None and key not in names:
        message = f"there is no column {key!r}; the columns are {', '.join(names)}"
        raise UnknownName(message, given=key, known=names)
    position = None if key is None else names.index(key)
    kinds, columns, missing = [], [], []
    for name in names:
        kind, column, nulls = _column(name, table.column(name))
        kinds.append(kind)
        columns.append(column)
        missing.append(nulls)
    if position is not None and missing[position].any():
        row = int(np.flatnonzero(missing[position])[0])
        raise ParameterError(f"the key is null in row {row}")
    columns.append(_nulls(table.num_rows, missing))
    return [*names, _TYPES + json.dumps(kinds)], position, columns


def _split(row: bytes, count: int) -> list[bytes] | None:
    """The fields of a row: none where it is no row of so many fields, and zeros."""
    fields, place = [], 0
    for _ in range(count):
        length, shift = 0, 0
        while True:
            if place >= len(row) or shift > 28:
                return None
            byte = row[place]
            place += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        fields.append(row[place : place + length])
        place += length
    return fields if place <= len(row) and not any(row[place:]) else None


def _kinds(fields: Sequence[str]) -> list[str] | None:
    """The kinds of the columns, where the last field says them."""
    if not fields[-1].startswith(_TYPES):
        return None
    try:
        kinds = json.loads(fields[-1][len(_TYPES) :])
    except ValueError:
        kinds = None
    known = isinstance(kinds, list) and all(isinstance(k, str) and k in _RESTORE for k in kinds)
    if not known or len(kinds) != len(fields) - 1:
        raise FileError("this version does not know the types of columns in the schema")
    return [str(kind) for kind in kinds]


def _record(row: bytes, fields: Sequence[str], kinds: Sequence[str] | None) -> dict[str, Any]:
    refused = "the answer decrypts to a row without the columns of the table"
    found = _split(row, len(fields))
    if found is None:
        raise FileError(refused)
    try:
        if kinds is None:
            return {name: _text(cell) for name, cell in zip(fields, found, strict=True)}
        nulls = {int(number) for number in found.pop().split(b",") if number}
        columns = enumerate(zip(fields[:-1], kinds, found, strict=True))
        return {
            name: None if number in nulls else _RESTORE[kind](cell)
            for number, (name, kind, cell) in columns
        }
    except (ValueError, KeyError, ArithmeticError) as error:
        raise FileError(refused) from error


def records(fields: Sequence[str], rows: Sequence[bytes | None]) -> list[dict[str, Any] | None]:
    """Rows as dictionaries of their columns.

    Parameters
    ----------
    fields : sequence of str
        Names of the fields, from the schema.
    rows : sequence of bytes or None

    Returns
    -------
    list of dict or None
        None where there is no row, or one that was cleared.
    """
    if not fields:
        raise ParameterError("the rows of this table have no columns: read them with rows()")
    kinds = _kinds(fields)
    count = len(fields)
    # A cleared row is empty or zeros; as many zeros as there are fields are a row of empty cells.
    cleared = [row is not None and len(row) != count and not any(row) for row in rows]
    return [
        None if row is None or gone else _record(row, fields, kinds)
        for row, gone in zip(rows, cleared, strict=True)
    ]

"""Lookups in tables of any size."""

from __future__ import annotations

import array
import doctest
import json
import os
import pickle
import subprocess
import sys
import threading
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import windlass as wl


def ask(table: wl.Table, wanted: Any) -> list[bytes | None]:
    """Rows, through bytes all the way."""
    client = wl.TableClient(table.schema)
    return client.rows(table.answer(client.keys(), client.query(wanted)), wanted)


def test_rows_by_number_are_found() -> None:
    rows = [bytes([n]) * (n % 70) for n in range(200)]
    table = wl.Table.from_rows(rows, progress=False)
    assert ask(table, [0, 199, 69, 69]) == [rows[0], rows[199], rows[69], rows[69]]
    assert len(table) == 200
    assert "200 rows by number" in str(table)


def test_rows_by_key_are_found_and_others_are_not() -> None:
    items: dict[str | bytes | int, bytes] = {f"key {n}": str(n).encode() * n for n in range(40)}
    items[b"\xff\x00"] = b"\x00\x01\x00"
    items["ä"] = b""
    items[7] = b"seven"
    table = wl.Table.from_items(items)
    wanted: list[Any] = ["key 39", b"\xff\x00", "ä", "7", np.int64(7), "key 40", "key 1 "]
    expected = [b"39" * 39, b"\x00\x01\x00", b"", b"seven", b"seven", None, None]
    assert ask(table, wanted) == expected
    assert ask(table, "key 1") == [b"1"]


def test_rows_longer_than_a_bin_are_found() -> None:
    rng = np.random.default_rng(1)
    items = {f"k{n}": rng.bytes(n * 1000) for n in range(20)}
    table = wl.Table.from_items(items)
    assert ask(table, ["k19", "k0", "none"]) == [items["k19"], b"", None]


def test_long_rows_are_asked_for_in_portions() -> None:
    rng = np.random.default_rng(2)
    items = {f"k{n}": rng.bytes(n) for n in range(50)}
    items["long"] = rng.bytes(40_000)
    table = wl.Table.from_items(items, progress=False)
    client = wl.TableClient(table.schema)
    keys = wl.TableKeys(client.keys())
    assert client.portions > 8

    def gather(wanted: Any) -> tuple[list[bytes | None], list[int]]:
        gathering, sizes = client.in_portions(wanted), []
        while (query := gathering.query()) is not None:
            sizes.append(table.check(keys, query) * client.portions // table.selections)
            gathering.read(table.answer(keys, query))
        assert gathering.count == 0
        return gathering.rows(), sizes

    # A short row takes one query for one portion, a long one further queries for more.
    assert gather("k7") == ([items["k7"]], [1])
    found, sizes = gather(["k49", "long", "nobody"])
    assert found == [items["k49"], items["long"], None]
    assert sizes[:4] == [3, 1, 2, 4] and sum(sizes) == 2 + client.portions
    whole, first = client.query("k7"), client.in_portions("k7").query()
    assert first is not None and len(first) * 5 < len(whole)
    # An answer belongs to its query, and a row is not there before all of it is.
    gathering = client.in_portions("long")
    query = gathering.query()
    assert query is not None
    with pytest.raises(wl.OtherContext):
        gathering.read(table.answer(keys, whole))
    with pytest.raises(wl.OtherContext):
        client.rows(table.answer(keys, query), "long")
    with pytest.raises(wl.FileError):
        gathering.rows()
    with pytest.raises(wl.FileError):
        gathering.read(table.answer(keys, query)[:-1])
    gathering.read(table.answer(keys, query))
    assert gathering.count == 1 and "1 of 1 rows to come" in repr(gathering)
    with pytest.raises(wl.FileError):
        gathering.rows()
    wrong: list[tuple[Any, type[Exception]]] = [(1.5, wl.DTypeError), ([], wl.ParameterError)]
    for given, kind in wrong:
        with pytest.raises(kind):
            client.in_portions(given).query()
    # By number too, and what a plan says of both.
    rows = [b"short", rng.bytes(100_000)]
    table = wl.Table.from_rows(rows, progress=False)
    client = wl.TableClient(table.schema)
    keys = wl.TableKeys(client.keys())
    assert gather(0)[0] == rows[:1] and gather([1, 0])[0] == rows[::-1]
    plan = wl.table_plan(50, 40_000, keyed=True)
    assert plan.portions > 8
    assert plan.portion_query_bytes * 5 < plan.query_bytes
    assert plan.portion_answer_bytes * plan.portions == plan.answer_bytes


def test_columns_are_asked_for_in_portions() -> None:
    pa = pytest.importorskip("pyarrow")
    source = pa.table({"id": ["a", "b"], "text": ["x", "y" * 30_000]})
    table = wl.Table.from_arrow(source, key="id", progress=False)
    client = wl.TableClient(table.schema)
    gathering = client.in_portions(["b", "c", "a"])
    while (query := gathering.query()) is not None:
        gathering.read(table.answer(client.keys(), query))
    b, a = source.to_pylist()[::-1]
    assert gathering.records() == [b, None, a]


def test_an_answer_that_does_not_decrypt_names_the_row() -> None:
    table = wl.Table.from_rows([b"a", b"b"], progress=False)
    clients = [wl.TableClient(table.schema) for _ in range(2)]
    answer = table.answer(clients[0].keys(), clients[0].query(0))
    with pytest.raises(wl.OtherKeyPair) as caught:
        clients[1].rows(answer, 0)
    assert not isinstance(caught.value, wl.NotDecryptable)
    assert wl.NotDecryptable("...", index=3).index == 3
    assert wl.NotDecryptable("...").index is None


def test_clients_share_a_pass() -> None:
    table = wl.Table.from_rows([b"%d" % n for n in range(50)])
    clients = [wl.TableClient(table.schema) for _ in range(3)]
    queries = [(wl.TableKeys(c.keys()), c.query(n)) for n, c in enumerate(clients)]
    answers = table.answer_all(queries)
    rows = [c.rows(a, n) for n, (c, a) in enumerate(zip(clients, answers, strict=True))]
    assert rows == [[b"0"], [b"1"], [b"2"]]
    assert table.answer_all([]) == []


def test_a_directory_is_opened_changed_and_refreshed(tmp_path: Path) -> None:
    place = tmp_path / "served"
    made = wl.Table.from_items({f"k{n}": b"old" for n in range(30)}, directory=place, room=60)
    reader = wl.Table.open(place)
    assert not reader.refresh()
    made.set({"k1": b"new", "k99": b"add"})
    made.remove(["k2", "never there"])
    assert len(made) == 30
    assert ask(reader, ["k1", "k99"]) == [b"old", None]
    assert reader.refresh() and not reader.refresh()
    assert ask(reader, ["k1", "k99", "k2", "k3"]) == [b"new", b"add", None, b"old"]
    again: wl.Table = pickle.loads(pickle.dumps(reader))
    assert ask(again, "k99") == [b"add"]
    assert json.loads((place / "schema.json").read_bytes()) == json.loads(again.schema)
    assert again.directory == place


def test_what_was_begun_is_finished_and_another_table_is_refused(tmp_path: Path) -> None:
    rows = [b"a", b"bb"]
    first = wl.Table.from_rows(rows, directory=tmp_path)
    assert wl.Table.from_rows(rows, directory=tmp_path).schema == first.schema
    with pytest.raises(wl.FileError, match="another table"):
        wl.Table.from_rows([b"a", b"c"], directory=tmp_path)


def test_damage_is_named(tmp_path: Path) -> None:
    wl.Table.from_rows([b"a", b"bb"], directory=tmp_path)
    (piece,) = tmp_path.glob("*.segment")
    data = bytearray(piece.read_bytes())
    data[len(data) // 2] ^= 1
    piece.unlink()
    piece.write_bytes(data)
    with pytest.raises(wl.FileError, match=piece.name) as caught:
        wl.Table.open(tmp_path)
    assert Path(str(caught.value.filename)).name == piece.name
    with pytest.raises(wl.MissingFile):
        wl.Table.open(tmp_path / "none")


def test_rows_by_number_change(tmp_path: Path) -> None:
    table = wl.Table.from_rows([b"zero", b"on"], directory=tmp_path, room=5)
    table.set([(2, b"two"), (1, b"one")])
    table.remove(0)
    assert ask(table, [0, 1, 2]) == [b"", b"one", b"two"]
    with pytest.raises(wl.ParameterError, match="row"):
        table.set({9: b"x"})
    with pytest.raises(wl.ParameterError, match="longer rows"):
        table.set({0: b"longer"})


def test_tables_in_memory_do_not_change() -> None:
    table = wl.Table.from_rows([b"a"])
    with pytest.raises(wl.ParameterError, match="directory"):
        table.set({0: b"b"})
    with pytest.raises(wl.ParameterError, match="directory"):
        table.remove(0)
    with pytest.raises(wl.ParameterError, match="pickled"):
        pickle.dumps(table)


def test_plans_say_what_the_table_takes() -> None:
    plan = wl.table_plan(1000, 16, keyed=True)
    table = wl.Table.from_items({f"{n:04}": b"x" * 16 for n in range(1000)})
    client = wl.TableClient(table.schema)
    keys, query = client.keys(), client.query("0007")
    answer = table.answer(keys, query)
    for said, real in [
        (plan.keys_bytes, keys),
        (plan.query_bytes, query),
        (plan.answer_bytes, answer),
    ]:
        assert said <= len(real) <= said + 2000
    assert plan.security_bits >= 128 and client.security_bits >= 128
    assert "prepare" in str(plan) and table.plan.splitlines()[:4] == str(plan).splitlines()[:4]
    assert plan.prepare_seconds > 0 and plan.answer_seconds > 0
    small = wl.table_plan(100_000, 2, keyed=True, most_keys=681_000, most_query=28_000)
    assert small.keys_bytes <= 681_000 and small.query_bytes <= 28_000
    with pytest.raises(wl.NoParameters, match="no plan"):
        wl.table_plan(100_000, 2, most_keys=1000)


def test_bad_input_is_refused_by_type() -> None:
    table = wl.Table.from_rows([b"a", b"b"])
    client = wl.TableClient(table.schema)
    keys, query = client.keys(), client.query(0)
    answer = table.answer(keys, query)
    damaged = query[:99] + bytes([query[99] ^ 1]) + query[100:]
    other = wl.TableClient(table.schema)
    keyed = wl.Table.from_items({"a": b"a"})
    Case = tuple[type[Exception], Any]
    cases: list[Case] = [
        (wl.ParameterError, lambda: wl.Table.from_rows([])),
        (wl.DTypeError, lambda: wl.Table.from_rows(b"ab")),  # type: ignore[arg-type]
        (wl.DTypeError, lambda: wl.Table.from_rows(["a"])),  # type: ignore[list-item]
        (wl.DTypeError, lambda: wl.Table.from_rows(5)),  # type: ignore[arg-type]
        (wl.DTypeError, lambda: wl.Table.from_items([b"a"])),  # type: ignore[list-item]
        (wl.DTypeError, lambda: wl.Table.from_items({True: b"a"})),
        (wl.DTypeError, lambda: wl.Table.from_items({1.5: b"a"})),
        (wl.DuplicateKey, lambda: wl.Table.from_items([("a", b"1"), (b"a", b"2")])),
        (wl.ParameterError, lambda: client.query(2)),
        (wl.ParameterError, lambda: client.query([])),
        (wl.ParameterError, lambda: client.query([0] * 1025)),
        (wl.DTypeError, lambda: client.query("a")),
        (wl.FileError, lambda: wl.TableClient(b"{}")),
        (wl.FileError, lambda: wl.TableKeys(b"")),
        (wl.FileError, lambda: wl.TableKeys(keys[:-1])),
        (wl.FileError, lambda: table.answer(keys, query[:-9])),
        (wl.FileError, lambda: table.answer(keys, damaged)),
        (wl.OtherContext, lambda: keyed.answer(keys, query)),
        (wl.OtherKeyPair, lambda: table.answer(other.keys(), query)),
        (wl.OtherKeyPair, lambda: other.rows(answer, 0)),
        (wl.OtherContext, lambda: client.rows(answer, [0, 1])),
        (wl.OtherContext, lambda: client.rows(answer, 1)),
        (wl.ParameterError, lambda: client.records(answer, 0)),
        (wl.SecretNotPickled, lambda: pickle.dumps(client)),
    ]
    for kind, call in cases:
        with pytest.raises(kind) as caught:
            call()
        assert isinstance(caught.value, wl.WindlassError)
    assert client.rows(answer, 0) == [b"a"]


def test_whatever_holds_bytes_is_one_key() -> None:
    table = wl.Table.from_items({"ada": b"1815", 97: b"a", 100: b"d"}, progress=False)
    buffers = [b"ada", bytearray(b"ada"), memoryview(b"ada"), memoryview(bytearray(b".ada."))[1:4]]
    for one in (*buffers, "ada", np.bytes_(b"ada"), np.str_("ada")):
        assert ask(table, one) == ask(table, [one]) == [b"1815"]
    # Arrays of numbers are lists of them.
    two: list[Any] = [np.array([97, 100], dtype=kind) for kind in (np.uint8, np.int64)]
    two += [array.array("B", [97, 100]), range(97, 101, 3), [np.uint8(97), np.int64(100)]]
    for several in two:
        assert ask(table, several) == [b"a", b"d"]
    client = wl.TableClient(table.schema)
    others: list[Any] = [1.0, np.float64(1), np.float32(1), np.bool_(True), np.complex128(1)]
    others += [np.datetime64("2020-01-01"), np.array(1.5), None]
    for other in others:
        for wanted in (other, [other]):
            with pytest.raises(wl.DTypeError, match="a key"):
                client.query(wanted)
        with pytest.raises(wl.DTypeError, match="a key"):
            wl.Table.from_items([(other, b"row")])
    by_number = wl.Table.from_rows([b"x"] * 99, progress=False)
    with pytest.raises(wl.DTypeError):
        wl.TableClient(by_number.schema).query(memoryview(b"a"))


def test_altered_schemas_are_refused_or_read() -> None:
    text = json.loads(wl.Table.from_rows([b"a", b"b"]).schema)
    for change in ({"rows": 0}, {"columns": 1 << 40}, {"message_bits": 24}, {"selections": 3}):
        changed = {**text, "shape": {**text["shape"], **change}}
        with pytest.raises(wl.WindlassError):
            wl.TableClient(json.dumps(changed).encode())


def test_keys_are_pickled_and_secrets_saved_by_name(tmp_path: Path) -> None:
    table = wl.Table.from_rows([b"a", b"b"])
    client = wl.TableClient(table.schema)
    client.save_secret(tmp_path / "secret.key")
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    with pytest.raises(wl.FileExists):
        client.save_secret(tmp_path / "secret.key")
    client.save_secret(tmp_path / "sealed.key", passphrase="two or three words")
    keys = pickle.loads(pickle.dumps(wl.TableKeys(client.keys()), protocol=5))
    answer = table.answer(keys, client.query(1))
    assert wl.TableClient.load(table.schema, tmp_path / "secret.key").rows(answer, 1) == [b"b"]
    sealed = tmp_path / "sealed.key"
    again = wl.TableClient.load(table.schema, sealed, passphrase=b"two or three words")
    assert again.rows(answer, 1) == [b"b"]
    with pytest.raises(wl.PassphraseNeeded, match=r"sealed\.key"):
        wl.TableClient.load(table.schema, sealed)
    with pytest.raises(wl.WrongPassphrase, match=r"sealed\.key"):
        wl.TableClient.load(table.schema, sealed, passphrase="a guess")
    # A key of other parameters needs no passphrase to be refused.
    foreign, _ = wl.Context.preset("insecure_toy_256").generate_keys(progress=False)
    foreign.save_secret(tmp_path / "foreign.key", passphrase="two or three words")
    for passphrase in (None, "two or three words", "a guess"):
        with pytest.raises(wl.OtherContext):
            wl.TableClient.load(table.schema, tmp_path / "foreign.key", passphrase=passphrase)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_clients_do_not_repeat_their_randomness(script: Any) -> None:
    ran = script(
        "import os, sys, windlass as wl\n"
        "client = wl.TableClient(wl.Table.from_rows([b'a', b'b']).schema)\n"
        "client.query(0)\n"
        "read, write = os.pipe()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os.write(write, client.query(0)[64:576]); os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "print(os.read(read, 512) != client.query(0)[64:576])\n"
    )
    assert ran.stdout == "True\n", ran.stderr


@pytest.mark.skipif(os.name == "nt", reason="timers of signals are those of Unix")
def test_an_interrupt_stops_the_making_of_a_table(script: Any) -> None:
    ran = script(
        "import os, signal, windlass as wl\n"
        "wl.set_threads(1)\n"
        "rows = [os.urandom(1000)] * 40_000\n"
        "def interrupt(*_): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, interrupt)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.1)\n"
        "try:\n"
        "    wl.Table.from_rows(rows, progress=False)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
        "    os._exit(0)\n"
    )
    assert ran.stdout == "stopped\n", ran.stderr


def test_threads_answer_side_by_side() -> None:
    rows = [b"%d" % n for n in range(30)]
    table = wl.Table.from_rows(rows)
    client = wl.TableClient(table.schema)
    keys = wl.TableKeys(client.keys())
    found: dict[int, list[bytes | None]] = {}

    def work(row: int) -> None:
        found[row] = client.rows(table.answer(keys, client.query(row)), row)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {row: [rows[row]] for row in range(6)}


def arrow_table() -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.table(
        {
            "id": pa.array(["a", "b", "ü"]),
            "count": pa.array([1, None, -(2**63)], pa.int64()),
            "small": pa.array([0, 255, None], pa.uint8()),
            "half": pa.array([0.1, None, float("inf")], pa.float32()),
            "ratio": pa.array([0.1, -1e-300, 5e20], pa.float64()),
            "good": pa.array([True, False, None]),
            "blob": pa.array([b"\x00\xff", b"", None], pa.binary()),
            "money": pa.array([Decimal("1.50"), Decimal("-0.01"), None], pa.decimal128(9, 2)),
            "day": pa.array([date(1815, 12, 10), None, date(2000, 1, 1)]),
            "at": pa.array([datetime(2020, 1, 2, 3, 4, 5, 678), None, None], pa.timestamp("us")),
            "zoned": pa.array(
                [datetime(2020, 1, 2, tzinfo=timezone.utc), None, None],
                pa.timestamp("ms", "UTC"),
            ),
            "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
            "void": pa.nulls(3),
        }
    )


def test_arrow_tables_come_back_with_their_types() -> None:
    source = arrow_table()
    for key, wanted in ((None, [0, 1, 2]), ("id", ["a", "b", "ü"])):
        table = wl.Table.from_arrow(source.slice(0), key=key)
        client = wl.TableClient(table.schema)
        answer = table.answer(client.keys(), client.query(wanted))
        assert client.records(answer, wanted) == source.to_pylist()
        assert client.fields[:-1] == source.column_names


def test_arrow_sources_are_read(tmp_path: Path) -> None:
    source = arrow_table().select(["id", "count"])
    pa = pytest.importorskip("pyarrow")
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(source, tmp_path / "t.parquet")
    pyarrow.csv.write_csv(source, tmp_path / "t.csv")
    reader = pa.RecordBatchReader.from_batches(source.schema, source.to_batches(max_chunksize=2))
    chunked = pa.concat_tables([source.slice(1), source.slice(0, 1)])
    for given in (reader, tmp_path / "t.parquet", str(tmp_path / "t.csv"), chunked):
        table = wl.Table.from_arrow(given, key="id")
        client = wl.TableClient(table.schema)
        found = client.records(table.answer(client.keys(), client.query(["a", "no"])), ["a", "no"])
        assert found == [{"id": "a", "count": 1}, None]


def test_bad_arrow_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    source = arrow_table()
    (tmp_path / "t.parquet").write_bytes(b"no parquet")
    cases: list[tuple[type[Exception], Any]] = [
        (wl.UnknownName, lambda: wl.Table.from_arrow(source, key="none")),
        (wl.ParameterError, lambda: wl.Table.from_arrow(source, key="count")),
        (wl.DuplicateKey, lambda: wl.Table.from_arrow(source, key="kind")),
        (wl.ParameterError, lambda: wl.Table.from_arrow(source.slice(0, 0))),
        (wl.DTypeError, lambda: wl.Table.from_arrow(pa.table({"a": [[1]]}))),
        (wl.DTypeError, lambda: wl.Table.from_arrow([1, 2])),
        (wl.MissingFile, lambda: wl.Table.from_arrow(tmp_path / "none.csv")),
        (wl.FileError, lambda: wl.Table.from_arrow(tmp_path / "t.parquet")),
    ]
    for kind, call in cases:
        with pytest.raises(kind):
            call()


def read_back(table: wl.Table, wanted: Any) -> list[Any]:
    client = wl.TableClient(table.schema)
    return client.records(table.answer(client.keys(), client.query(wanted)), wanted)


def test_arrow_dates_of_the_years_1_to_9999_come_back() -> None:
    pa = pytest.importorskip("pyarrow")
    first, last = datetime.min, datetime.max
    source = pa.table(
        {
            "day": pa.array([first.date(), last.date(), None]),
            "at": pa.array([first, last, None], pa.timestamp("us")),
            "zoned": pa.array(
                [first.replace(tzinfo=timezone.utc), last.replace(tzinfo=timezone.utc), None],
                pa.timestamp("us", "UTC"),
            ),
        }
    )
    assert read_back(wl.Table.from_arrow(source), [0, 1, 2]) == source.to_pylist()
    before, after = -62_135_596_800 - 1, 253_402_300_800
    for seconds in (before, after):
        days = pa.array([0, None, seconds // 86_400], pa.int32()).cast(pa.date32())
        columns = [days, days.cast(pa.date64()), days.dictionary_encode()]
        for unit, factor in (("s", 1), ("ms", 10**3), ("us", 10**6)):
            moments = pa.array([0, None, seconds * factor], pa.int64())
            columns += [moments.cast(pa.timestamp(unit, zone)) for zone in (None, "Europe/Berlin")]
        for column in columns:
            with pytest.raises(wl.ValueRangeError, match="outside the years 1 to 9999") as caught:
                wl.Table.from_arrow(pa.table({"when": column}))
            assert caught.value.index == 2
            assert caught.value.value is not None
            assert str(caught.value.value) in str(caught.value)
    for unit in ("s", "ms"):
        far = pa.array([2**63 - 1], pa.int64()).cast(pa.timestamp(unit))
        with pytest.raises((wl.ValueRangeError, wl.DTypeError), match="column 'when'"):
            wl.Table.from_arrow(pa.table({"when": far}))


def test_types_that_arrow_does_not_handle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.dataset

    (tmp_path / "t.orc").write_bytes(b"")

    def refuse(*_given: Any, **_more: Any) -> Any:
        raise pa.ArrowNotImplementedError("Unsupported type: interval")

    monkeypatch.setattr(pyarrow.dataset, "dataset", refuse)
    with pytest.raises(wl.FileError, match=r"t\.orc: .*interval.* another type") as caught:
        wl.Table.from_arrow(tmp_path / "t.orc")
    assert caught.value.filename == str(tmp_path / "t.orc")

    class Stream:
        def __arrow_c_stream__(self, requested: Any = None) -> Any:
            return pa.chunked_array([[1, 2]]).__arrow_c_stream__(requested)

    with pytest.raises(wl.DTypeError, match="pyarrow cannot read"):
        wl.Table.from_arrow(Stream())
    kinds = {
        "text": pa.array(["a"], pa.string_view()),
        "runs": pa.RunEndEncodedArray.from_arrays([1], ["a"]),
        "either": pa.UnionArray.from_dense(
            pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])]
        ),
    }
    for name, column in kinds.items():
        with pytest.raises(wl.DTypeError, match=f"column '{name}'"):
            wl.Table.from_arrow(pa.table({name: column}))


def test_frames_of_pandas_are_tables() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"name": ["ada", "alan"], "born": [1815, 1912], "score": [0.5, None]})
    wanted = [
        {"name": "ada", "born": 1815, "score": 0.5},
        {"name": "alan", "born": 1912, "score": None},
    ]
    names = ["ada", "alan"]
    for given in (frame, frame.set_index("name"), frame[frame.born > 0]):
        assert read_back(wl.Table.from_arrow(given, key="name"), names) == wanted
    assert read_back(wl.Table.from_arrow(frame[frame.born > 1900]), [0]) == wanted[1:]
    for bad, kind in (
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), wl.ParameterError),
        (pd.DataFrame({"a": [1]}, index=pd.Index([3], name="a")), wl.ParameterError),
        (pd.DataFrame({"a": [1, "x", b"z"]}), wl.DTypeError),
        (pd.DataFrame({"a": [1j]}), wl.DTypeError),
        (pd.DataFrame(), wl.ParameterError),
        (frame["born"], wl.DTypeError),
    ):
        with pytest.raises(kind):
            wl.Table.from_arrow(bad)


def test_streams_of_arrow_are_tables() -> None:
    pa = pytest.importorskip("pyarrow")

    class Stream:
        def __arrow_c_stream__(self, requested: Any = None) -> Any:
            return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested)

    assert read_back(wl.Table.from_arrow(Stream()), [1]) == [{"a": 2}]


def test_without_pyarrow_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(wl.MissingPackage, match=r"windlass\[arrow\]"):
        wl.Table.from_arrow("t.parquet")


def test_the_command_line_and_python_read_each_other(tmp_path: Path) -> None:
    cli = os.environ.get("WINDLASS_CLI")
    if cli is None:
        pytest.skip("WINDLASS_CLI does not name the command line")

    def run(*arguments: object) -> str:
        done = subprocess.run(
            [cli, *map(str, arguments)], capture_output=True, text=True, check=True
        )
        return done.stdout

    served, keys = tmp_path / "served", tmp_path / "keys"
    pa = pytest.importorskip("pyarrow")
    wl.Table.from_arrow(pa.table({"id": ["a", "b"], "n": [1, 22]}), key="id", directory=served)
    schema = served / "schema.json"
    run("table", "keygen", "--schema", schema, "--out", keys)
    client = wl.TableClient.load(schema.read_bytes(), keys / "secret.key")
    (tmp_path / "q").write_bytes(client.query("b"))
    query = ("--evaluation-keys", keys / "evaluation.keys", "--in", tmp_path / "q")
    run("table", "answer", "--dir", served, *query, "--out", tmp_path / "a")
    assert client.records((tmp_path / "a").read_bytes(), "b") == [{"id": "b", "n": 22}]
    given = ("--secret-key", keys / "secret.key", "--query", "b", "--in", tmp_path / "a")
    assert "22" in run("table", "decrypt", "--schema", schema, *given)
    # Rows of the command line are text.
    (tmp_path / "t.csv").write_text("id,n\na,1\nb,22\n")
    run("table", "build", "--table", tmp_path / "t.csv", "--key", "id", "--out", tmp_path / "cli")
    table = wl.Table.open(tmp_path / "cli")
    client = wl.TableClient(table.schema)
    answer = table.answer(client.keys(), client.query(["b", "c"]))
    assert client.records(answer, ["b", "c"]) == [{"id": "b", "n": "22"}, None]


def test_every_program_of_the_page_runs() -> None:
    pytest.importorskip("pyarrow")
    page = Path(__file__).parents[2] / "docs" / "how-to" / "python-tables.md"
    text = page.read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted > 20
    assert result.failed == 0, "".join(said)

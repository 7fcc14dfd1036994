"""Tables whose keys are hidden: rows are found by those whom the server helps."""

from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest

import windlass as wl

ROWS = {f"k{n}": b"%d" % n * (n % 5) for n in range(30)}


@pytest.fixture(scope="module")
def key() -> wl.OprfKey:
    return wl.OprfKey.generate()


@pytest.fixture(scope="module")
def table(key: wl.OprfKey) -> wl.Table:
    return wl.Table.from_items(ROWS, oprf_key=key, progress=False)


def hide(client: wl.TableClient, key: wl.OprfKey, wanted: Any) -> wl.HiddenKeys:
    blinding = client.blind(wanted)
    return blinding.finish(key.blind_evaluate(blinding.points))


def ask(table: wl.Table, key: wl.OprfKey, wanted: Any) -> list[bytes | None]:
    client = wl.TableClient(table.schema)
    hidden = hide(client, key, wanted)
    return client.rows(table.answer(client.keys(), client.query(hidden)), hidden)


def test_rows_are_found_with_the_help_of_the_server(table: wl.Table, key: wl.OprfKey) -> None:
    assert table.hides_keys and wl.TableClient(table.schema).hides_keys
    assert ask(table, key, ["k7", "nobody", b"k29"]) == [ROWS["k7"], None, ROWS["k29"]]
    assert ask(table, key, "k5") == [b""]
    # Another server's help is of no use.
    assert ask(table, wl.OprfKey.generate(), "k7") == [None]
    client = wl.TableClient(table.schema)
    blinding = client.blind(["k1", "k2"])
    assert len(blinding) == 2 and len(blinding.points) == 64
    assert client.blind(["k1", "k2"]).points != blinding.points, "blinds are fresh"
    hidden = blinding.finish(key.blind_evaluate(blinding.points))
    # For as many queries as you like, in portions as well.
    gathering = client.in_portions(hidden)
    while (query := gathering.query()) is not None:
        gathering.read(table.answer(client.keys(), query))
    assert len(hidden) == 2 and gathering.rows() == [ROWS["k1"], ROWS["k2"]]
    assert "hidden keys" in table.plan


def test_the_plain_way_is_refused_by_type(table: wl.Table, key: wl.OprfKey) -> None:
    client = wl.TableClient(table.schema)
    hidden = hide(client, key, "k1")
    answer = table.answer(client.keys(), client.query(hidden))
    plain = wl.Table.from_items({"a": b"1"}, progress=False)
    open_client = wl.TableClient(plain.schema)
    other = wl.Table.from_items({"a": b"1"}, oprf_key=wl.OprfKey.generate(), progress=False)
    points = client.blind("k1").points
    cases: list[tuple[type[Exception], str, Any]] = [
        (wl.HiddenKeysError, "client.blind", lambda: client.query("k1")),
        (wl.HiddenKeysError, "client.blind", lambda: client.rows(answer, "k1")),
        (wl.HiddenKeysError, "client.blind", lambda: client.records(answer, ["k1"])),
        (wl.HiddenKeysError, "client.blind", lambda: client.in_portions("k1")),
        (wl.HiddenKeysError, "are not hidden", lambda: open_client.blind("a")),
        (wl.HiddenKeysError, "not hidden", lambda: open_client.query(hidden)),
        (wl.OtherContext, "another table", lambda: wl.TableClient(other.schema).query(hidden)),
        (wl.ParameterError, "number of rows", lambda: client.query([])),
        (wl.DTypeError, "a key", lambda: client.blind(1.5)),  # type: ignore[arg-type]
        (wl.ParameterError, "65535", lambda: client.blind(bytes(70_000))),
        (wl.FileError, "length of a point", lambda: key.blind_evaluate(points[:-1])),
        (wl.FileError, "length of a point", lambda: key.blind_evaluate(b"")),
        (wl.FileError, "identity", lambda: key.blind_evaluate(bytes(32))),
        (wl.FileError, "cannot be read", lambda: client.blind("k1").finish(b"\xff" * 32)),
        (wl.FileError, "number of points", lambda: client.blind(["k1"]).finish(points * 2)),
        (wl.DTypeError, "bytes", lambda: key.blind_evaluate("points")),  # type: ignore[arg-type]
        (wl.HiddenKeysError, "another OPRF key", lambda: other.check_oprf_key(key)),
        (wl.HiddenKeysError, "not hidden", lambda: plain.check_oprf_key(key)),
        (wl.HiddenKeysError, "oprf_key", lambda: wl.Table.from_items(ROWS, like=table.schema)),
        (
            wl.HiddenKeysError,
            "not hidden",
            lambda: wl.Table.from_items({"a": b"1"}, like=plain.schema, oprf_key=key),
        ),
        (
            wl.NoParameters,
            "at most",
            lambda: wl.Table.from_items({"a": bytes(20_000)}, oprf_key=key),
        ),
        (wl.ParameterError, "keyed=True", lambda: wl.table_plan(10, 10, hidden=True)),
    ]
    for kind, part, call in cases:
        with pytest.raises(kind, match=part) as caught:
            call()
        assert isinstance(caught.value, wl.WindlassError)
    assert issubclass(wl.HiddenKeysError, wl.ParameterError)
    for secret in (key, client.blind("k1"), hidden):
        with pytest.raises(wl.SecretNotPickled):
            pickle.dumps(secret)
        assert "k1" not in repr(secret)
    plan = wl.table_plan(30, 16, keyed=True, hidden=True)
    assert plan.prepared_bytes >= wl.table_plan(30, 16, keyed=True).prepared_bytes
    assert "padded to 16 bytes" in str(plan)


def test_keys_are_files_of_their_owner(tmp_path: Path, key: wl.OprfKey) -> None:
    place = tmp_path / "oprf.key"
    key.save(place)
    assert place.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    with pytest.raises(wl.FileExists):
        key.save(place)
    assert wl.OprfKey.load(place).public == key.public != wl.OprfKey.generate().public
    with pytest.raises(wl.MissingFile):
        wl.OprfKey.load(tmp_path / "none")
    place.write_bytes(b"not a key")
    with pytest.raises(wl.FileError, match="not an OPRF key") as caught:
        wl.OprfKey.load(place)
    assert str(caught.value.filename) == str(place)


def test_a_directory_is_changed_with_its_key(tmp_path: Path, key: wl.OprfKey) -> None:
    place = tmp_path / "served"
    made = wl.Table.from_items(ROWS, directory=place, room=60, oprf_key=key, progress=False)
    made.set({"k1": b"new", "add": b"on"}, oprf_key=key)
    made.remove(["k2", "never there"], oprf_key=key)
    assert len(made) == 30
    table = wl.Table.open(place)
    found = ask(table, key, ["k1", "add", "k2", "k3"])
    assert found == [b"new", b"on", None, ROWS["k3"]]
    with pytest.raises(wl.HiddenKeysError):
        made.set({"k1": b"x"})
    with pytest.raises(wl.HiddenKeysError):
        made.remove("k1")
    with pytest.raises(wl.HiddenKeysError):
        made.set({"k1": b"x"}, oprf_key=wl.OprfKey.generate())
    by_number = wl.Table.from_rows([b"a"], directory=tmp_path / "rows", progress=False)
    with pytest.raises(wl.HiddenKeysError):
        by_number.set({0: b"b"}, oprf_key=key)
    with pytest.raises(wl.HiddenKeysError):
        by_number.remove(0, oprf_key=key)
    # Another table under the schema that clients know.
    again = wl.Table.from_items({"x": b"y"}, like=table.schema, oprf_key=key, progress=False)
    assert again.schema_hash == table.schema_hash
    assert ask(again, key, ["x", "k1"]) == [b"y", None]


def test_tags_are_chosen_where_a_table_is_planned(key: wl.OprfKey) -> None:
    def bits(table: wl.Table) -> int:
        return next(bits for bits in (64, 128) if f"tags of {bits} bits" in table.plan)

    short = wl.Table.from_items(ROWS, tag_bits=64, progress=False)
    again = wl.Table.from_items(ROWS, like=short.schema, progress=False)
    found = [bits(table) for table in (short, again, wl.Table.from_items(ROWS, progress=False))]
    assert found == [64, 64, 128]
    plans = [wl.table_plan(10**6, 10, keyed=True, tag_bits=bits) for bits in (64, 128)]
    assert plans[0].prepared_bytes < plans[1].prepared_bytes
    assert plans[0].answer_bytes == plans[1].answer_bytes
    for call in (
        lambda: wl.Table.from_items(ROWS, tag_bits=96),
        lambda: wl.Table.from_items(ROWS, tag_bits=1 << 40),
        lambda: wl.Table.from_items(ROWS, tag_bits=64, oprf_key=key),
        lambda: wl.Table.from_items(ROWS, tag_bits=64, like=short.schema),
        lambda: wl.table_plan(10, 10, tag_bits=64),
        lambda: wl.table_plan(10, 10, keyed=True, hidden=True, tag_bits=64),
    ):
        with pytest.raises(wl.ParameterError):
            call()


def test_columns_come_back(key: wl.OprfKey) -> None:
    pa = pytest.importorskip("pyarrow")
    source = pa.table({"id": ["a", "b"], "n": [1, None]})
    table = wl.Table.from_arrow(source, key="id", oprf_key=key, progress=False)
    client = wl.TableClient(table.schema)
    hidden = hide(client, key, ["b", "c"])
    answer = table.answer(client.keys(), client.query(hidden))
    assert client.records(answer, hidden) == [{"id": "b", "n": None}, None]
    with pytest.raises(wl.ParameterError, match="key="):
        wl.Table.from_arrow(source, oprf_key=key)


def test_a_service_helps_and_others_are_refused(table: wl.Table, key: wl.OprfKey) -> None:
    with wl.TableServer(table, port=0, oprf_key=key, rows=4) as server:
        service = wl.LookupService(server.url, retries=0)
        assert service.ask(["k3", "nobody"]) == [ROWS["k3"], None]
        assert service.ask("k7", portions=True) == [ROWS["k7"]]
        with pytest.raises(wl.ParameterError, match="number of rows"):
            service.ask([])
        with pytest.raises(wl.ServiceError) as refused:
            service.ask(["a"] * 5)
        assert (refused.value.status, refused.value.problem) == (413, "too-large")
        for body, problem in ((b"", "unreadable"), (bytes(32), "unreadable")):
            response = service._send("POST", "/blind", body, 100)
            assert response.kind() == problem
    for table_, given in ((table, None), (table, wl.OprfKey.generate())):
        with pytest.raises(wl.HiddenKeysError):
            wl.TableServer(table_, port=0, oprf_key=given)
    plain = wl.Table.from_items({"a": b"1"}, progress=False)
    with pytest.raises(wl.HiddenKeysError):
        wl.TableServer(plain, port=0, oprf_key=key)
    with wl.TableServer(plain, port=0) as server:
        response = wl.LookupService(server.url)._send("POST", "/blind", bytes(32), 100)
        assert (response.status, response.kind()) == (404, "not-hidden")


def test_shards_of_ray_need_the_file_of_the_key(tmp_path: Path, key: wl.OprfKey) -> None:
    serve = pytest.importorskip("windlass.serve")
    place, other, plain = tmp_path / "served", tmp_path / "other.key", tmp_path / "plain"
    wl.Table.from_items(ROWS, directory=place, oprf_key=key, progress=False)
    wl.Table.from_items({"a": b"1"}, directory=plain, progress=False)
    wl.OprfKey.generate().save(other)
    key.save(tmp_path / "oprf.key")
    (tmp_path / "text").write_text("not a key")
    cases: list[tuple[type[Exception], str, Path, Any]] = [
        (wl.HiddenKeysError, "oprf_key=PATH", place, None),
        (wl.HiddenKeysError, "another OPRF key", place, other),
        (wl.HiddenKeysError, "not hidden", plain, other),
        (wl.DTypeError, "key.save", place, key),
        (wl.MissingFile, "no such file", place, tmp_path / "none"),
        (wl.FileError, "not an OPRF key", place, tmp_path / "text"),
    ]
    for kind, part, directory, given in cases:
        with pytest.raises(kind, match=part):
            serve.application(directory, shards=1, oprf_key=given)
    serve.application(place, shards=1, oprf_key=tmp_path / "oprf.key", quota=5)
    with pytest.raises(wl.ParameterError):
        serve.application(plain, shards=1, quota=0)


def test_the_command_line_and_python_share_the_key(tmp_path: Path) -> None:
    cli = os.environ.get("WINDLASS_CLI")
    if cli is None:
        pytest.skip("WINDLASS_CLI does not name the command line")

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [cli, *line.split()], capture_output=True, text=True, cwd=tmp_path, check=False
        )

    (tmp_path / "t.csv").write_text("id,n\na,1\nb,22\n")
    built = run("table build --table t.csv --key id --out served --oprf-key oprf.key --room 9")
    assert built.returncode == 0, built.stderr
    table, key = wl.Table.open(tmp_path / "served"), wl.OprfKey.load(tmp_path / "oprf.key")
    client = wl.TableClient(table.schema)
    hidden = hide(client, key, "b")
    answer = table.answer(client.keys(), client.query(hidden))
    assert client.records(answer, hidden) == [{"id": "b", "n": "22"}]
    client.save_secret(tmp_path / "secret.key")
    # The steps through files of the command line begin with an exchange, and say so.
    files = "--schema served/schema.json --secret-key secret.key --query b"
    asked = run(f"table query {files} --out q")
    assert asked.returncode != 0 and "table blind" in asked.stderr
    (tmp_path / "evaluation.keys").write_bytes(client.keys())
    for line in (
        f"table blind {files} --out request",
        "table blind-evaluate --dir served --oprf-key oprf.key --in request --out reply",
        f"table query {files} --blind-reply reply --out q",
        "table answer --dir served --evaluation-keys evaluation.keys --in q --out a",
    ):
        done = run(line)
        assert done.returncode == 0, done.stderr
    found = run(f"table decrypt {files} --blind-reply reply --in a")
    assert found.returncode == 0 and "22" in found.stdout, found.stderr

"""A table over HTTP in this process: what its clients get, and what strangers get."""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import windlass as wl

ROWS = {f"k{n}": b"%d" % n for n in range(30)}


@pytest.fixture(scope="module")
def server() -> Iterator[wl.TableServer]:
    with wl.TableServer(wl.Table.from_items(ROWS), port=0, seconds=3) as server:
        yield server


def exchange(
    server: wl.TableServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, Any], Any]:
    """A response: status, problem (or an empty one), headers."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        text = response.read()
    finally:
        connection.close()
    problem = "problem+json" in response.headers.get("Content-Type", "")
    said = json.loads(text) if text and problem else {}
    return response.status, said, response.headers


def kind(said: dict[str, Any]) -> str:
    return str(said.get("type", "")).rpartition("#")[2]


def test_rows_are_asked_for_by_several_at_once(server: wl.TableServer) -> None:
    found: dict[int, list[bytes | None]] = {}

    def ask(number: int) -> None:
        found[number] = wl.LookupService(server.url).ask([f"k{number}", "nobody"])

    askers = [threading.Thread(target=ask, args=(number,)) for number in range(5)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert found == {number: [b"%d" % number, None] for number in range(5)}
    service = wl.LookupService(server.url)
    assert service.stats()["table"]["count"] == 30
    assert service.ask("k1") == [b"1"]
    assert service.uploads == 1


def test_what_cannot_be_is_refused_as_by_the_other_services(server: wl.TableServer) -> None:
    good = hashlib.sha256(b"x").hexdigest()
    for method, path, body, status, name in [
        ("GET", "/nowhere", None, 404, "not-found"),
        ("POST", "/keys", b"x", 404, "not-found"),
        ("HEAD", f"/keys/{good}", None, 404, ""),
        ("PUT", "/keys/abc", b"x", 400, "bad-name"),
        ("PUT", f"/keys/{'0' * 64}", b"x", 400, "other-name"),
        ("PUT", f"/keys/{good}", b"x", 400, "unreadable"),
        ("POST", "/ask", b"x", 400, "bad-name"),
        ("POST", f"/ask?keys={good}", b"x", 404, "unknown-keys"),
    ]:
        found, said, headers = exchange(server, method, path, body)
        assert (found, kind(said)) == (status, name), (method, path)
        assert headers["X-Content-Type-Options"] == "nosniff"
    long = b"x" * (server.table.longest_keys + 1)
    found, said, _ = exchange(server, "PUT", f"/keys/{good}", long)
    assert (found, kind(said)) == (413, "too-large")
    client = wl.TableClient(server.table.schema)
    keys = client.keys()
    name = hashlib.sha256(keys).hexdigest()
    assert exchange(server, "PUT", f"/keys/{name}", keys)[0] == 201
    assert exchange(server, "PUT", f"/keys/{name}", keys)[0] == 204
    assert exchange(server, "HEAD", f"/keys/{name}")[0] == 200
    found, said, _ = exchange(server, "POST", f"/ask?keys={name}", client.query("k1")[:-1])
    assert (found, kind(said)) == (400, "unreadable")
    other = wl.TableClient(server.table.schema).query("k1")
    found, said, _ = exchange(server, "POST", f"/ask?keys={name}", other)
    assert (found, kind(said)) == (422, "other-key-pair")


def test_those_who_say_nothing_are_cut_off_and_hold_up_nobody(server: wl.TableServer) -> None:
    parts = urlsplit(server.url)
    silent = [socket.create_connection((parts.hostname, parts.port)) for _ in range(20)]
    half = silent[0]
    half.sendall(b"PUT /keys/" + b"0" * 64 + b" HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nab")
    begun = time.monotonic()
    assert wl.LookupService(server.url).ask("k3") == [b"3"]
    half.settimeout(20)
    while half.recv(1 << 12):
        pass
    assert time.monotonic() - begun < 15
    for connection in silent:
        connection.close()


def test_tokens_let_those_in_who_have_one() -> None:
    with wl.TableServer(wl.Table.from_items(ROWS), port=0, tokens={"ada": "s3cret"}) as server:
        assert wl.LookupService(server.url, token="s3cret").ask("k2") == [b"2"]
        with pytest.raises(wl.errors.ServiceError) as refused:
            wl.LookupService(server.url)
        assert refused.value.status == 401
        assert exchange(server, "GET", "/health")[0] == 200
        found, said, headers = exchange(server, "GET", "/schema", Authorization="Bearer wrong")
        assert (found, kind(said), headers["WWW-Authenticate"]) == (401, "unauthorised", "Bearer")
    for token, url in [("a b", server.url), ("", server.url), ("s3cret", "http://tables.example")]:
        with pytest.raises(wl.errors.ParameterError):
            wl.LookupService(url, token=token)


def test_a_table_that_changes_is_served_and_one_made_like_it(tmp_path: Path) -> None:
    place = tmp_path / "served"
    table = wl.Table.from_items(ROWS, directory=place, room=100)
    with wl.TableServer(wl.Table.open(place), port=0) as server:
        service = wl.LookupService(server.url)
        assert service.ask("new") == [None]
        table.set({"new": b"on"})
        end = time.monotonic() + 20
        while service.ask("new") == [None]:
            assert time.monotonic() < end
    # Another table under the same schema: clients go on.
    other = wl.Table.from_items({"x": b"y"}, like=table.schema)
    assert other.schema_hash == table.schema_hash
    with wl.TableServer(other, port=int(server.url.rpartition(":")[2])):
        assert service.ask(["x", "k1"]) == [b"y", None]
    with pytest.raises(wl.errors.NoParameters, match="every client must accept"):
        wl.Table.from_items({"x": b"y" * 1000}, like=table.schema)
    with pytest.raises(wl.errors.NoParameters):
        wl.Table.from_rows([b"y"], like=table.schema)


def test_long_rows_come_in_portions() -> None:
    rows = {"short": b"1", "long": bytes(range(256)) * 100}
    with wl.TableServer(wl.Table.from_items(rows, progress=False), port=0) as server:
        service = wl.LookupService(server.url)
        asked = ["long", "nobody", "short"]
        assert service.ask(asked, portions=True) == [rows["long"], None, rows["short"]]
        assert service.ask("short", portions=True) == service.ask("short") == [b"1"]
        with pytest.raises(wl.ParameterError):
            service.records("short", portions=True)


def test_arguments_that_mean_nothing_are_refused() -> None:
    table = wl.Table.from_rows([b"zero"])
    for arguments in [{"rows": 0}, {"connections": 0}, {"seconds": 0}, {"key_cache": 0}]:
        with pytest.raises(wl.errors.ParameterError):
            wl.TableServer(table, port=0, **arguments)  # type: ignore[arg-type]
    with pytest.raises(wl.errors.DTypeError):
        wl.TableServer("served", port=0)  # type: ignore[arg-type]


def test_a_query_far_above_the_limit_is_refused_with_the_limit() -> None:
    with wl.TableServer(wl.Table.from_items(ROWS), port=0, rows=2) as server:
        service = wl.LookupService(server.url, retries=0)
        for count in (3, 1000):
            with pytest.raises(wl.ServiceError, match="2") as refused:
                service.ask([f"k{number}" for number in range(count)])
            assert (refused.value.status, refused.value.problem) == (413, "too-large")
            assert "2 rows" in str(refused.value)
        assert service.ask("k1") == [b"1"]
        assert len(service.client.query([f"k{number}" for number in range(1000)])) > 9 << 20


def test_ports_are_checked() -> None:
    table = wl.Table.from_items(ROWS)
    for port in (-1, 65536, 99999):
        with pytest.raises(wl.ParameterError, match=f"port is {port}"):
            wl.TableServer(table, port=port)
    for other in ("8765", True, 1.5):
        with pytest.raises(wl.DTypeError, match="port must be an integer"):
            wl.TableServer(table, port=other)  # type: ignore[arg-type]


def test_a_table_that_is_there_keeps_its_layout(tmp_path: Path) -> None:
    place = tmp_path / "table"
    rows = {f"k{number}": b"x" * 100 for number in range(300)}
    table = wl.Table.from_items(rows, directory=place)
    limits: list[tuple[str, dict[str, int]]] = [
        ("tags of keys", {"tag_bits": 64}),
        ("evaluation keys", {"most_keys": 1000}),
        ("query", {"most_query": 1000}),
        ("answer", {"most_answer": 1000}),
    ]
    for told, limit in limits:
        with pytest.raises(wl.ParameterError, match=told):
            wl.Table.from_items(rows, directory=place, **limit)  # type: ignore[arg-type]
        with pytest.raises(wl.ParameterError, match=f"leave out {next(iter(limit))}"):
            wl.Table.from_items(rows, like=table.schema, **limit)  # type: ignore[arg-type]
    assert wl.Table.from_items(rows, directory=place, tag_bits=128).schema == table.schema

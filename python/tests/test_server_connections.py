"""Connections of a table server: where requests end, how long they may take, how many there are."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

import windlass as wl

NAME = "0" * 64
HIDDEN = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
"""A request that stands in the body of another one."""
LAST = b"GET /stats.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def table() -> wl.Table:
    return wl.Table.from_rows([b"zero", b"one"])


@pytest.fixture(scope="module")
def server(table: wl.Table) -> Iterator[wl.TableServer]:
    with wl.TableServer(table, port=0, seconds=2) as server:
        yield server


def connect(server: wl.TableServer) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)


def said(connection: socket.socket) -> bytes:
    """What comes until the other side ends."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while data := connection.recv(1 << 16):
            found += data
    return found


def exchange(server: wl.TableServer, sent: bytes) -> bytes:
    with connect(server) as connection:
        connection.sendall(sent)
        return said(connection)


def statuses(found: bytes) -> list[int]:
    """Of all responses, in order."""
    return [int(part[:3]) for part in found.split(b"HTTP/1.1 ")[1:]]


def trickle(connection: socket.socket, sent: bytes, pause: float) -> float:
    """Seconds until the other side has enough of bytes that come one at a time."""
    begun = time.monotonic()
    connection.settimeout(pause)
    for number in range(len(sent)):
        try:
            connection.sendall(sent[number : number + 1])
            if b"HTTP/1.1 408" in connection.recv(1 << 16) or not connection.recv(1):
                break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    return time.monotonic() - begun


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("PUT /keys/abc", 400),
        (f"PUT /keys/{NAME}", 400),
        ("POST /nowhere", 404),
        ("POST /ask", 400),
        ("POST /ask?keys=bad", 400),
        (f"POST /ask?keys={NAME}", 404),
        ("GET /schema", 200),
        ("GET /nowhere", 404),
        (f"HEAD /keys/{NAME}", 404),
        ("DELETE /schema", 405),
    ],
)
def test_no_body_is_taken_for_a_request(server: wl.TableServer, line: str, status: int) -> None:
    head = f"{line} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(HIDDEN)}\r\n\r\n"
    found = exchange(server, head.encode() + HIDDEN + LAST)
    assert statuses(found) == [status, 200], found
    assert b"ok\n" not in found


def test_no_body_of_a_stranger_is_taken_for_a_request(table: wl.Table) -> None:
    with wl.TableServer(table, port=0, tokens={"ada": "s3cret"}) as server:
        head = f"PUT /keys/{NAME} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(HIDDEN)}\r\n\r\n"
        assert statuses(exchange(server, head.encode() + HIDDEN + LAST)) == [401, 401]


@pytest.mark.parametrize(
    "fields",
    [
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: Chunked",
        "transfer-encoding: CHUNKED",
        "Transfer-Encoding: identity",
        "Transfer-Encoding:",
        "Content-Length: 5\r\nTransfer-Encoding: xchunked",
        "Content-Length: 0\r\nContent-Length: 34",
        "Content-Length: 34\r\nContent-Length: 34",
        "Content-Length: 34, 34",
        "Content-Length: +34",
        "Content-Length: -1",
        "Content-Length: 0x22",
        "Content-Length: 3 4",
        "Content-Length: 3_4",
        "Content-Length: \xb2",
        "Content-Length: 34\xa0",
        "Content-Length:",
        "Content-Length : 34",
        "X: a\r\n Content-Length: 34",
        "X: a\rContent-Length: 34",
        "X: a\nContent-Length: 34",
        "X: a\x00",
        "no colon",
    ],
)
def test_a_head_that_could_be_read_in_two_ways_is_refused(
    server: wl.TableServer, fields: str
) -> None:
    head = f"PUT /keys/{NAME} HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n".encode("latin-1")
    found = exchange(server, head + HIDDEN + LAST)
    assert statuses(found) == [400] and b"Connection: close" in found, found


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"\x16\x03\x01\x02\x00\r\n\r\n", 400),
        (b"GET /schema\r\n\r\n", 400),
        (b"GET  /schema HTTP/1.1\r\n\r\n", 400),
        (b"GET /schema HTTP/2.0\r\n\r\n", 400),
        (b"GET /schema HTTP/1.1\n\n" + b"\r\n", 400),
        (b"GET http://[ HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
        (b"GET /schema HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"GET /schema HTTP/1.1\r\n" + b"X: a\r\n" * 200 + b"\r\n", 431),
    ],
)
def test_what_is_no_request_gets_a_status(server: wl.TableServer, head: bytes, status: int) -> None:
    assert statuses(exchange(server, head)) == [status]


def test_a_connection_goes_on_after_a_refusal(server: wl.TableServer) -> None:
    with connect(server) as connection:
        for body in [b"x", b"y" * 100_000]:
            head = f"PUT /keys/{NAME} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            found = b""
            while b"}" not in found:
                found += connection.recv(1 << 16)
            assert statuses(found) == [400] and b"Connection: close" not in found
        connection.sendall(LAST)
        assert statuses(said(connection)) == [200]


def test_bytes_that_trickle_in_are_waited_for_no_longer_than_is_said(
    server: wl.TableServer,
) -> None:
    head = f"PUT /keys/{NAME} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n".encode()
    with connect(server) as connection:
        assert 1.5 < trickle(connection, head + b"X: y\r\n" * 100, 0.1) < 15
    with connect(server) as connection:
        connection.sendall(head + b"\r\n")
        assert 1.5 < trickle(connection, b"x" * 1000, 0.1) < 15


def test_answers_that_nobody_takes_are_not_waited_for(server: wl.TableServer) -> None:
    parts = urlsplit(server.url)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect((parts.hostname, parts.port))
        begun = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() - begun < 30:
                connection.sendall(b"GET /schema HTTP/1.1\r\nHost: a\r\n\r\n" * 100)


def test_slow_clients_hold_no_place_for_long(table: wl.Table) -> None:
    with wl.TableServer(table, port=0, connections=2, seconds=2) as server:
        slow = [connect(server) for _ in range(2)]
        ended = threading.Event()

        def hold(connection: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while not ended.wait(0.1):
                    connection.sendall(b"X")

        for connection in slow:
            threading.Thread(target=hold, args=(connection,), daemon=True).start()
        try:
            begun = time.monotonic()
            assert wl.LookupService(server.url, timeout=30).ask(1) == [b"one"]
            assert time.monotonic() - begun < 25
        finally:
            ended.set()
            for connection in slow:
                connection.close()


def test_who_holds_a_place_while_others_wait_gets_one_more_response(table: wl.Table) -> None:
    server = wl.TableServer(table, port=0, connections=1, seconds=30)
    ask = LAST.replace(b"Connection: close\r\n", b"")
    with server, connect(server) as first:
        first.sendall(ask)
        found = b""
        while b"}}" not in found:
            found += first.recv(1 << 16)
        assert b"Connection: close" not in found
        with connect(server) as second:
            second.sendall(LAST)
            time.sleep(1)
            first.sendall(ask)
            assert b"Connection: close" in said(first)
            assert statuses(said(second)) == [200]


def within(seconds: float, work: Callable[[], None]) -> None:
    """Fails when the work takes longer."""
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(seconds)
    assert not worker.is_alive()


def test_a_server_ends_while_all_places_are_taken(table: wl.Table) -> None:
    server = wl.TableServer(table, port=0, connections=1, seconds=300).start()
    with connect(server) as first, connect(server) as second:
        first.sendall(b"GET")
        second.sendall(b"GET")
        time.sleep(1)
        within(10, server.close)
        assert said(second) == b""
    within(10, server.close)


def test_a_server_that_serves_in_a_thread_of_its_owner_ends(table: wl.Table) -> None:
    server = wl.TableServer(table, port=0)
    owner = threading.Thread(target=server.serve_forever, daemon=True)
    owner.start()
    assert statuses(exchange(server, LAST)) == [200]
    within(10, server.close)
    owner.join(10)
    assert not owner.is_alive()
    within(10, server.serve_forever)
    within(10, wl.TableServer(table, port=0).close)


def test_tokens_for_this_machine_pass_no_proxy(
    table: wl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as proxy, wl.TableServer(table, port=0, tokens={"a": "b"}) as server:
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        assert wl.LookupService(server.url, token="b", timeout=20).ask(0) == [b"zero"]
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):
            proxy.accept()

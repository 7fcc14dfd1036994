"""The client of lookup services, against one that is small and one that is real."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import windlass as wl
from windlass.service import _HeardSecurely as HeardSecurely

ROWS = {f"k{n}": b"%d" % n for n in range(30)}

REFUSALS = {
    "busy": (503, "busy"),
    "limited": (429, "busy"),
    "replaced": (409, "other-table"),
    "long": (413, "too-large"),
}
DEEP = b"[" * 200_000
"""What a reader of JSON goes into until its stack ends."""


class Service(ThreadingHTTPServer):
    """A service such as `windlass serve`, which fails on request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.table = wl.Table.from_items(ROWS)
        self.keys: dict[str, wl.TableKeys] = {}
        self.faults: list[str] = []
        self.seen: list[str] = []

        self.stats = b"{}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """The requests of a client."""

    protocol_version = "HTTP/1.1"
    server: Service

    def log_message(self, *_: Any) -> None:
        pass

    def say(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, kind: str, **headers: str) -> None:
        problem = {"type": f"/openapi.json#{kind}", "title": kind, "detail": "why", "fix": "how"}
        self.say(status, json.dumps(problem).encode(), **headers)

    def say_strange(self, what: str, number: str) -> None:
        if what == "length":
            self.send_response(200)
            self.send_header("Content-Length", number)
            self.end_headers()
            self.close_connection = True
        elif what == "after":
            self.refuse(503, "busy", Retry_After=number)
        else:
            self.say(422, DEEP)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def do_GET(self) -> None:
        self.server.seen.append(self.path)
        schema = self.path == "/schema"
        self.say(200, self.server.table.schema if schema else self.server.stats)

    def do_HEAD(self) -> None:
        known = self.path.rpartition("/")[2] in self.server.keys
        self.say(200) if known else self.refuse(404, "unknown-keys")

    def do_PUT(self) -> None:
        self.server.seen.append("PUT")
        body, name = self.body(), self.path.rpartition("/")[2]
        assert hashlib.sha256(body).hexdigest() == name
        self.server.keys[name] = wl.TableKeys(body)
        self.say(201)

    def do_POST(self) -> None:
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault == "early":
            # The body is not read at all.
            self.close_connection = True
            self.refuse(413, "too-large")
        else:
            self.answer(fault)

    def answer(self, fault: str) -> None:
        query, name = self.body(), self.path.partition("keys=")[2]
        self.server.seen.append(fault or "POST")
        if fault == "evicted":
            self.server.keys.clear()
        what, _, number = fault.partition(" ")
        if what in ("length", "after", "deep"):
            return self.say_strange(what, number)
        if fault in REFUSALS:
            return self.refuse(*REFUSALS[fault], Retry_After="0")
        if fault == "cut":
            self.close_connection = True
            return None
        if name not in self.server.keys:
            return self.refuse(410 if fault == "evicted" else 404, "unknown-keys")
        answer = self.server.table.answer(self.server.keys[name], query)
        if fault == "altered":
            answer = answer[:200] + bytes([answer[200] ^ 1]) + answer[201:]
        if fault == "truncated":
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer[:1000])
            self.close_connection = True
            return None
        return self.say(200, answer)


@pytest.fixture
def running() -> Iterator[Service]:
    service = Service()
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield service
    service.shutdown()
    service.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are for services that are far away."""
    monkeypatch.setattr("windlass.service._LONGEST_WAIT", 0.01)


def test_rows_are_found_and_keys_are_uploaded_once(running: Service) -> None:
    service = wl.LookupService(running.url)
    assert service.ask(["k7", "none"]) == [b"7", None]
    assert service.ask("k8") == [b"8"]
    assert service.ask(b"k9") == [b"9"]
    assert running.seen.count("PUT") == service.uploads == 1
    assert service.security_bits >= 128
    assert "by key" in repr(service)


def test_the_secret_key_is_kept_in_its_file(running: Service, tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    assert wl.LookupService(running.url, secret=path).ask("k1") == [b"1"]
    before = path.read_bytes()
    assert wl.LookupService(running.url, secret=path).ask("k1") == [b"1"]
    assert path.read_bytes() == before


def test_the_secret_key_is_encrypted_in_its_file(running: Service, tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    for _ in range(2):
        service = wl.LookupService(running.url, secret=path, passphrase="two or three words")
        assert service.ask("k1") == [b"1"]
    with pytest.raises(wl.PassphraseNeeded):
        wl.LookupService(running.url, secret=path)
    with pytest.raises(wl.WrongPassphrase):
        wl.LookupService(running.url, secret=path, passphrase="a guess")
    with pytest.raises(wl.ParameterError, match="secret="):
        wl.LookupService(running.url, passphrase="two or three words")


@pytest.mark.parametrize("fault", ["busy", "limited", "cut", "truncated", "evicted"])
def test_faults_that_pass_lose_no_query(running: Service, fault: str) -> None:
    service = wl.LookupService(running.url)
    assert service.ask("k1") == [b"1"]
    running.faults = [fault, fault]
    assert service.ask("k2") == [b"2"]
    assert running.seen.count(fault) == 2
    assert service.uploads == (3 if fault == "evicted" else 1)


def test_faults_that_stay_are_typed(running: Service) -> None:
    service = wl.LookupService(running.url, retries=2)
    running.faults = ["busy"] * 3
    with pytest.raises(wl.ServiceUnavailable, match="503") as caught:
        service.ask("k1")
    assert (caught.value.status, caught.value.problem) == (503, "busy")
    assert (caught.value.cause, caught.value.fix) == ("why", "how")
    # The last upload is followed by a last query, the next one begins with an upload.
    running.faults = ["evicted"] * 4
    with pytest.raises(wl.ServiceError, match="410"):
        service.ask("k1")
    running.faults = ["truncated"] * 4
    with pytest.raises(wl.ServiceUnavailable):
        service.ask("k1")
    running.faults = ["long"]
    with pytest.raises(wl.ServiceError, match="413"):
        service.ask("k1")
    running.faults = ["altered"]
    with pytest.raises(wl.FileError):
        service.ask("k1")
    assert service.ask("k1") == [b"1"]


def test_a_refusal_is_read_although_the_query_was_cut_off(running: Service) -> None:
    service = wl.LookupService(running.url, retries=2)
    assert service.ask("k1") == [b"1"]
    running.faults = ["early"]
    with pytest.raises(wl.ServiceError, match="413") as refused:
        service.ask([f"k{number}" for number in range(1000)])
    assert (refused.value.problem, refused.value.fix) == ("too-large", "how")
    assert not isinstance(refused.value, wl.ServiceUnavailable)


def test_nothing_is_sent_outside_of_tls() -> None:
    """Through a proxy that agrees to a tunnel and then closes its side."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        received: list[bytes] = []

        def proxy() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(10)
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                connection.shutdown(socket.SHUT_WR)
                while data := connection.recv(4096):
                    received.append(data)

        thread = threading.Thread(target=proxy)
        thread.start()
        port = listener.getsockname()[1]
        connection = HeardSecurely("127.0.0.1", port, timeout=10)
        connection.set_tunnel("service.example", 443)
        with pytest.raises(OSError):
            connection.request("POST", "/ask", body=b"an encrypted query")
        connection.close()
        thread.join()
    assert b"query" not in b"".join(received)


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000, "-1", "1.5", ""])
def test_numbers_that_are_none_are_typed(running: Service, number: str) -> None:
    service = wl.LookupService(running.url, retries=1)
    assert service.ask("k1") == [b"1"]
    running.faults = [f"length {number}"]
    with pytest.raises(wl.ServiceError, match="length") as caught:
        service.ask("k1")
    assert caught.value.status == 200
    # A wait that is none is one of our own.
    running.faults = [f"after {number}"]
    assert service.ask("k2") == [b"2"]


def test_texts_without_end_are_typed(running: Service) -> None:
    service = wl.LookupService(running.url)
    assert service.ask("k1") == [b"1"]
    running.faults = ["deep"]
    with pytest.raises(wl.ServiceError, match="422"):
        service.ask("k1")
    running.stats = DEEP
    with pytest.raises(wl.ServiceError, match="statistics"):
        service.stats()
    running.stats = b'{"type": ' + DEEP[:900] + b"]" * 900 + b"}"
    assert isinstance(service.stats()["type"], list)


def test_a_replaced_table_is_said_and_refreshed(running: Service) -> None:
    service = wl.LookupService(running.url)
    assert service.ask("k1") == [b"1"]
    running.table = wl.Table.from_rows([b"zero", b"one"])
    running.faults = ["replaced"]
    with pytest.raises(wl.TableReplaced):
        service.ask("k1")
    assert service.refresh() and not service.refresh()
    assert service.ask([1]) == [b"one"]


def test_rows_that_were_added_are_asked_for_with_the_same_keys(
    running: Service, tmp_path: Path
) -> None:
    running.table = wl.Table.from_rows([b"zero", b"on"], directory=tmp_path / "t", room=5)
    service = wl.LookupService(running.url)
    assert service.ask(1) == [b"on"]
    running.table.set({2: b"two"})
    with pytest.raises(wl.ParameterError):
        service.ask(2)
    assert not service.refresh()
    assert service.ask([2, 0]) == [b"two", b"zero"]
    assert service.uploads == 1


def test_addresses_are_checked() -> None:
    for url in ("", "ftp://host", "http://"):
        with pytest.raises(wl.ParameterError):
            wl.LookupService(url)
    with pytest.raises(wl.DTypeError):
        wl.LookupService(5)  # type: ignore[arg-type]
    with pytest.raises(wl.ServiceUnavailable, match="cannot be reached"):
        wl.LookupService("http://127.0.0.1:9", retries=1, timeout=2)


def test_a_service_that_is_none_is_refused() -> None:
    class Other(Handler):
        def do_GET(self) -> None:
            self.say(200, b"<html>") if self.path == "/schema" else self.say(404)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        with pytest.raises(wl.FileError, match="schema"):
            wl.LookupService(f"http://127.0.0.1:{server.server_address[1]}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_windlass_serve_is_asked(tmp_path: Path) -> None:
    beside = Path(os.environ.get("WINDLASS_CLI", "windlass")).with_name("windlass-serve")
    program = shutil.which(beside) or shutil.which("windlass-serve")
    if program is None:
        pytest.skip("windlass-serve is not there: cargo build -p windlass-service")
    table = wl.Table.from_items(ROWS, directory=tmp_path / "served")
    command = [program, "--table", str(tmp_path / "served"), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            service = wl.LookupService(next(w for w in line.split() if "127.0.0.1" in w))
            assert service.ask(["k7", "none"]) == [b"7", None]
            assert service.stats()["table"]["count"] == len(table)
            table.set({"k7": b"77"})
            until = time.monotonic() + 20
            while service.ask("k7") == [b"7"] and time.monotonic() < until:
                time.sleep(0.1)
            assert service.ask("k7") == [b"77"]
        finally:
            process.terminate()
            process.wait(20)

"""Connections of :class:`windlass.TableServer`: what is read from them, for how long, and how many.

Every wait for a client has an end, however few bytes at a time it sends or takes. Where a request
ends is never left open: a head that another program might read differently is refused, no response
leaves while a body is unread, and a connection on which that cannot be had is closed. So nothing
that a client sends as a body is taken for a request of its own, which matters behind a proxy that
puts requests of several clients on one connection.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from windlass._problems import KINDS, OWN_FIX, Problem, too_long

log = logging.getLogger("windlass.server")

_SILENCE = 2.0
"""Seconds without a byte after which the rest of a refused body is no longer waited for."""
_CHUNK = 1 << 16
_HEAD = 1 << 16
"""Bytes of a request's head."""
_LOOK = 0.2
"""Seconds between two looks whether the server ends, while nobody finds a place."""
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST = re.compile(_TOKEN + rb" [\x21-\x7e]+ HTTP/1\.[01]\r\n")
_FIELD = re.compile(_TOKEN + rb":[\t\x20-\x7e\x80-\xff]*\r\n")
"""Not among them: a blank before the colon, a line that goes on in the next one, and line ends
other than CR LF. Programs read these in different ways."""
_LENGTH = re.compile("[0-9]{1,18}")


class Line(io.RawIOBase):
    """The bytes of a connection. One deadline holds for all reads and writes until the next one."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection, self._end = connection, time.monotonic()

    def allow(self, seconds: float) -> None:
        """From now on so many seconds in all."""
        self._end = time.monotonic() + seconds

    def _wait(self) -> None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for it is over")
        self._connection.settimeout(left)

    def readable(self) -> bool:
        """It is."""
        return True

    def writable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """What is there, at least one byte unless the other side ended."""
        self._wait()
        return self._connection.recv_into(buffer)

    def write(self, data: Any) -> int:
        """Sends all of it."""
        view = memoryview(data)
        sent = 0
        while sent < len(view):
            self._wait()
            sent += self._connection.send(view[sent : sent + _CHUNK])
        return sent


class Connections(ThreadingHTTPServer):
    """Connections: bounded in number, each in a thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[Requests],
        tls: ssl.SSLContext | None,
        most: int,
    ) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.tls = tls
        self._places = threading.BoundedSemaphore(most)
        self._crowded = False
        self._state, self._served, self._ending = threading.Lock(), False, threading.Event()
        super().__init__(address, handler)

    @property
    def hurried(self) -> bool:
        """Whether connections end with the response that is sent next: others wait for a place."""
        return self._crowded or self._ending.is_set()

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        """Takes connections until :meth:`end` in another thread."""
        with self._state:
            if self._ending.is_set():
                return
            self._served = True
        super().serve_forever(poll_interval)

    def end(self) -> None:
        """Takes no more connections; those that are open end with their next response."""
        with self._state:
            self._ending.set()
        if self._served:
            self.shutdown()
        self.server_close()

    def get_request(self) -> tuple[Any, Any]:
        """The next connection; its handshake is left to its own thread."""
        connection, address = super().get_request()
        if self.tls is not None:
            connection = self.tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        return connection, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Waits for a place: who finds none waits in the system's queue."""
        if not self._place():
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    def _place(self) -> bool:
        """Whether there is a place for a connection, before the server ends."""
        if self._places.acquire(blocking=False):
            return True
        self._crowded = True
        try:
            while not self._ending.is_set():
                if self._places.acquire(timeout=_LOOK):
                    return True
            return False
        finally:
            self._crowded = False

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tells the log that a connection broke."""
        log.debug("a connection ended", exc_info=True)


class _NotHttp(Exception):
    """Bytes that are not the head of a request, and the status for them."""


class Requests(BaseHTTPRequestHandler):
    """The requests of a connection: heads, bodies and responses, each within its time."""

    protocol_version = "HTTP/1.1"
    server: Connections
    seconds: float
    """For a head, for a body and for a response."""
    _unread = 0
    """Bytes of the body that are still to come."""
    _lost = False
    """Whether they will not be waited for."""
    _rest = False
    """Whether they are thrown away after the response."""

    def answer(self) -> None:
        """Answers a request by `_say`, or raises a problem."""
        raise NotImplementedError

    def longest(self) -> int:
        """Bytes of the longest body that anything is done with."""
        raise NotImplementedError

    def setup(self) -> None:
        """Puts the deadline between the socket and its reader."""
        self._line = Line(self.request)
        self.rfile = io.BufferedReader(self._line, _CHUNK)
        self.wfile = self._line  # type: ignore[assignment]

    def finish(self) -> None:
        """Nothing waits to be sent: responses leave at once."""

    def version_string(self) -> str:
        """The server's name, without the version of Python."""
        return "windlass"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests go to the log, at the level of details."""
        log.debug(format, *arguments)

    def handle_one_request(self) -> None:
        """Reads a request and answers it; closes the connection if it cannot continue."""
        self._line.allow(self.seconds)
        self._unread, self._lost, self._rest = 0, False, False
        self.command, self.requestline, self.request_version = "", "", self.protocol_version
        try:
            lines = self._lines()
            if not lines:
                self.close_connection = True
                return
            self._parse(lines)
            self._respond()
        except _NotHttp as error:
            self.close_connection = True
            with contextlib.suppress(OSError):
                self._say(error.args[0])
        except OSError as error:
            # Too slow, gone, or no TLS.
            log.debug("a connection ended: %s", error)
            self.close_connection = True

    def _lines(self) -> list[bytes]:
        """The lines of a head; none where the other side ended before all of it was there."""
        lines: list[bytes] = []
        left = _HEAD
        while line := self.rfile.readline(left):
            left -= len(line)
            if left == 0:
                raise _NotHttp(431)
            if line != b"\r\n":
                lines.append(line)
            elif lines:
                return lines
        return []

    def _parse(self, lines: list[bytes]) -> None:
        """Parse a head, if every program reads it alike."""
        if not _REQUEST.fullmatch(lines[0]) or not all(map(_FIELD.fullmatch, lines[1:])):
            raise _NotHttp(400)
        self.raw_requestline = lines[0]
        stream, self.rfile = self.rfile, io.BytesIO(b"".join([*lines[1:], b"\r\n"]))
        try:
            if not self.parse_request():
                # It has said why.
                raise ConnectionError("the head cannot be read")
        finally:
            self.rfile = stream

    def _measure(self) -> None:
        """Takes up the length of the body, which must be stated in one way."""
        lengths = self.headers.get_all("Content-Length", ["0"])
        length = lengths[0].strip(" \t")
        if "Transfer-Encoding" in self.headers or len(lengths) > 1 or not _LENGTH.fullmatch(length):
            self._lost = True
            raise Problem("unreadable", "state the length of the body once, by Content-Length")
        self._unread = int(length)

    def _respond(self) -> None:
        try:
            self._measure()
            self.answer()
        except Problem as problem:
            self._refuse(problem)
        except OSError:
            raise
        except Exception as error:
            log.exception("a request failed")
            self._refuse(Problem("failed", type(error).__name__))

    def _body(self, most: int, *, keep: bool, rows: int | None = None) -> bytes:
        """The body of a request, of at most `most` bytes; nothing of it unless `keep`.

        The refusal of a longer one says how many rows have as many bytes.
        """
        length, kept = self._unread, bytearray()
        if length > most:
            self._lost = self._rest = True
            raise Problem("too-large", too_long(most, rows))
        self._line.allow(self.seconds)
        while self._unread:
            try:
                data = self.rfile.read1(min(self._unread, _CHUNK))
            except TimeoutError as error:
                self._lost = True
                raise Problem("too-slow", f"more than {self.seconds:g} s") from error
            if not data:
                raise ConnectionError("the connection ended")
            self._unread -= len(data)
            if keep:
                kept += data
        return bytes(kept)

    def _throw_rest_away(self) -> None:
        """Reads the rest of a refused body.

        Most clients read the response when they have sent everything, and one who is cut off while
        sending hears nothing.
        """
        end = time.monotonic() + self.seconds
        while self._unread and time.monotonic() < end and not self.server.hurried:
            self._line.allow(_SILENCE)
            data = self.rfile.read1(min(self._unread, _CHUNK))
            if not data:
                return
            self._unread -= len(data)

    def _hear(self) -> None:
        """Reads what is left of the body, or makes this the last request of the connection."""
        if self._unread and not self._lost:
            with contextlib.suppress(Problem):
                self._body(self.longest(), keep=False)
        if self._unread or self._lost or self.server.hurried:
            self.close_connection = True

    def _say(self, status: int, body: bytes = b"", kind: str = "", **headers: str) -> None:
        self._hear()
        self._line.allow(self.seconds)
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if self._rest:
            self._throw_rest_away()

    def _refuse(self, problem: Problem) -> None:
        kind = KINDS[problem.kind]
        said = {
            "type": f"urn:windlass:problem#{problem.kind}",
            "title": kind.title,
            "status": kind.status,
            "detail": problem.cause,
            "fix": OWN_FIX.get(problem.kind, kind.fix),
        }
        headers = {} if problem.retry_after is None else {"Retry_After": str(problem.retry_after)}
        if kind.status == 401:
            headers["WWW_Authenticate"] = "Bearer"
        self._say(kind.status, json.dumps(said).encode(), "application/problem+json", **headers)

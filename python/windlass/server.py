"""A table over HTTP in this process, with nothing but Python's own library.

The protocol is that of ``windlass serve``: its clients are :class:`windlass.LookupService` and
``windlass ask``. For many clients, quotas, hidden keys and metrics there is ``windlass serve``; for
several machines :mod:`windlass.serve`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import socket
import ssl
import string
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import windlass as wl
from windlass._problems import KINDS, OWN_FIX, Problem
from windlass._shelf import Shelf
from windlass.errors import DTypeError, OtherContext, ParameterError, WindlassError
from windlass.service import whole_number

__all__ = ["TableServer"]

log = logging.getLogger("windlass.server")

_MOST_SELECTIONS = 256
"""Of one question, unless one row takes more."""
_HEARD = 8 << 20
"""Bytes beyond a limit that are read and thrown away, so that who sends them hears why."""
_CHUNK = 1 << 16
_LOOK = 1.0
"""Seconds between two looks whether the table was replaced."""


class TableServer:
    """A table over HTTP, in threads of this process.

    Parameters
    ----------
    table : Table
        In memory or in a directory; one in a directory may change while it is served.
    host : str
        Where to listen: this machine alone by default; ``"0.0.0.0"`` for everybody.
    port : int
        0 takes a free one: :attr:`url` says which.
    tls : ssl.SSLContext, optional
        For https; of a server, with its certificate loaded.
    tokens : mapping of str to str, optional
        Tokens by the name of their client: others are refused. Without it everybody may ask.
    key_cache : int
        Bytes of clients' evaluation keys: the longest unused go.
    rows : int
        Rows that one question may ask for.
    connections : int
        Connections at a time; further ones wait.
    seconds : float
        For a head, a body and an answer to be sent or read.

    Examples
    --------
    >>> import windlass as wl
    >>> table = wl.Table.from_items({"ada": b"1815", "alan": b"1912"})
    >>> with wl.TableServer(table, port=0) as server:
    ...     wl.LookupService(server.url).ask(["alan", "nobody"])
    [b'1912', None]
    """

    def __init__(
        self,
        table: wl.Table,
        host: str = "127.0.0.1",
        port: int = 8765,
        *,
        tls: ssl.SSLContext | None = None,
        tokens: Mapping[str, str] | None = None,
        key_cache: int = 1 << 30,
        rows: int = 32,
        connections: int = 64,
        seconds: float = 30.0,
    ) -> None:
        if not isinstance(table, wl.Table):
            raise DTypeError(f"a table is served, not {type(table).__name__}")
        if min(key_cache, rows, connections) < 1 or not seconds > 0:
            raise ParameterError("key_cache, rows and connections are from 1, seconds is positive")
        if json.loads(table.schema).get("oprf") is not None:
            raise ParameterError(
                "the keys of this table are hidden: serve it with windlass serve --oprf-key"
            )
        self.table = table
        self._rows, self._seconds = rows, seconds
        self._keys = Shelf(key_cache)
        self._tokens: dict[bytes, str] | None = None
        if tokens is not None:
            self._tokens = {_digest(token): name for name, token in tokens.items()}
        self._looked, self._look = time.monotonic(), threading.Lock()
        self._http = _Http(self, (host, port), tls, connections)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        scheme = "https" if self._http.tls is not None else "http"
        host, port = self._http.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"{scheme}://{shown}:{port}"

    def start(self) -> TableServer:
        """Serves in the background, until :meth:`close`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
            self._thread.start()
        return self

    def serve_forever(self) -> None:
        """Serves until :meth:`close` is called in another thread, or Ctrl-C."""
        try:
            self._http.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            self._http.server_close()

    def close(self) -> None:
        """Takes no more connections."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.server_close()

    def __enter__(self) -> TableServer:
        """Serves in the background."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Ends."""
        self.close()

    def __repr__(self) -> str:
        """Where it is."""
        return f"<windlass.TableServer {self.url}>"

    def _refresh(self) -> None:
        """Takes the version of the table that is in its directory now."""
        if self.table.directory is None or time.monotonic() < self._looked + _LOOK:
            return
        if not self._look.acquire(blocking=False):
            return
        try:
            self._looked = time.monotonic()
            self.table.refresh()
        except WindlassError as error:
            log.warning("the table cannot be opened again, the version before it stays: %s", error)
        finally:
            self._look.release()

    def _admit(self, said: str | None) -> None:
        """Refuses a request without a token that is known, where tokens are asked for."""
        if self._tokens is None:
            return
        scheme, _, token = (said or "").partition(" ")
        found = _digest(token.strip())
        known = [hmac.compare_digest(found, digest) for digest in self._tokens]
        if scheme.lower() != "bearer" or not any(known):
            raise Problem("unauthorised", "no token that is known here")

    def _most(self) -> tuple[int, int]:
        """Selections of a question, and bytes of it."""
        rows = min(self._rows, max(_MOST_SELECTIONS // self.table.selections, 1))
        most = rows * self.table.selections
        return most, self.table.longest_query(most)

    def _take_up(self, name: str, body: bytes) -> None:
        found = hashlib.sha256(body).hexdigest()
        if found != name:
            raise Problem("other-name", f"the SHA-256 of the body is {found}")
        try:
            keys = wl.TableKeys(body)
            self.table.check(keys)
        except WindlassError as error:
            raise Problem.of(error) from error
        if not self._keys.put(name, keys, keys.nbytes):
            raise Problem("too-large", "the keys take more memory than there is for all keys")

    def _answer(self, keys: wl.TableKeys, query: bytes) -> bytes:
        most, _ = self._most()
        try:
            self.table.check(keys)
        except OtherContext as error:
            cause = "the keys are for other moduli than the table's"
            raise Problem("missing-keys", cause) from error
        try:
            selections = self.table.check(keys, query)
            if selections > most:
                cause = f"{selections} selections, where one request may have {most}"
                raise Problem("too-large", cause)
            return self.table.answer(keys, query)
        except WindlassError as error:
            raise Problem.of(error) from error


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


class _Http(ThreadingHTTPServer):
    """Connections: bounded in number, each in a thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        owner: TableServer,
        address: tuple[str, int],
        tls: ssl.SSLContext | None,
        connections: int,
    ) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.owner, self.tls = owner, tls
        self._places = threading.BoundedSemaphore(connections)
        super().__init__(address, _Handler)

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
        self._places.acquire()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tells the log that a connection broke."""
        log.debug("a connection ended", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    """The requests of a connection."""

    protocol_version = "HTTP/1.1"
    server: _Http

    def setup(self) -> None:
        self.timeout = self.server.owner._seconds  # type: ignore[misc]
        super().setup()

    def version_string(self) -> str:
        """Nothing of Python's version is told."""
        return "windlass"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests go to the log, at the level of details."""
        log.debug(format, *arguments)

    def do_GET(self) -> None:
        """Answers GET."""
        self._respond(self._get)

    def do_HEAD(self) -> None:
        """Answers HEAD."""
        self._respond(self._head)

    def do_PUT(self) -> None:
        """Answers PUT."""
        self._respond(self._put)

    def do_POST(self) -> None:
        """Answers POST."""
        self._respond(self._post)

    def _respond(self, answer: Any) -> None:
        owner = self.server.owner
        try:
            owner._refresh()
            if urlsplit(self.path).path != "/health":
                try:
                    owner._admit(self.headers.get("Authorization"))
                except Problem:
                    self._body(owner.table.longest_keys, keep=False)
                    raise
            answer()
        except Problem as problem:
            self._refuse(problem)
        except (OSError, ssl.SSLError):
            self.close_connection = True
        except Exception as error:
            log.exception("a request failed")
            self._refuse(Problem("failed", type(error).__name__))

    def _get(self) -> None:
        table, path = self.server.owner.table, urlsplit(self.path).path
        if path == "/schema":
            self._say(200, table.schema, "application/json", ETag=f'"{table.schema_hash}"')
        elif path == "/health":
            self._say(200, b"ok\n", "text/plain")
        elif path == "/stats.json":
            said = {"table": {"count": len(table), "schema": table.schema_hash}}
            self._say(200, json.dumps(said).encode(), "application/json")
        else:
            raise Problem("not-found", path)

    def _head(self) -> None:
        name = self._name()
        if self.server.owner._keys.get(name) is None:
            raise Problem("unknown-keys", name)
        self._say(200)

    def _put(self) -> None:
        owner, name = self.server.owner, self._name()
        known = owner._keys.get(name) is not None
        body = self._body(owner.table.longest_keys, keep=not known)
        if not known:
            owner._take_up(name, body)
        self._say(204 if known else 201)

    def _post(self) -> None:
        owner, parts = self.server.owner, urlsplit(self.path)
        if parts.path != "/ask":
            raise Problem("not-found", parts.path)
        names = parse_qs(parts.query).get("keys")
        keys = owner._keys.get(_named(names[0])) if names else None
        body = self._body(owner._most()[1], keep=keys is not None)
        if not names:
            raise Problem("bad-name", "the parameter 'keys' is missing")
        if keys is None:
            raise Problem("unknown-keys", names[0])
        self._say(200, owner._answer(keys, body), "application/octet-stream")

    def _name(self) -> str:
        path = urlsplit(self.path).path
        name = path.removeprefix("/keys/")
        if name == path:
            raise Problem("not-found", path)
        return _named(name)

    def _body(self, most: int, *, keep: bool) -> bytes:
        """The body of a request, of at most so many bytes; nothing of it unless `keep`."""
        length = whole_number(self.headers.get("Content-Length", "0"))
        if length is None or "chunked" in self.headers.get("Transfer-Encoding", ""):
            self.close_connection = True
            raise Problem("unreadable", "state the length of the body (Content-Length)")
        if length > most + _HEARD:
            self.close_connection = True
            raise Problem("too-large", f"at most {most} bytes are read")
        kept, left, end = bytearray(), length, time.monotonic() + self.server.owner._seconds
        while left:
            if time.monotonic() > end:
                self.close_connection = True
                raise Problem("too-slow", f"more than {self.server.owner._seconds:g} s")
            data = self.rfile.read(min(left, _CHUNK))
            if not data:
                raise OSError("the connection ended")
            left -= len(data)
            if keep and length <= most:
                kept += data
        if length > most:
            raise Problem("too-large", f"at most {most} bytes are read")
        return bytes(kept)

    def _say(self, status: int, body: bytes = b"", kind: str = "", **headers: str) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

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
        try:
            self._say(kind.status, json.dumps(said).encode(), "application/problem+json", **headers)
        except OSError:
            self.close_connection = True


def _named(name: str) -> str:
    if len(name) != 64 or not set(name) <= set(string.hexdigits):
        raise Problem("bad-name", "it is not 64 hexadecimal digits")
    return name.lower()

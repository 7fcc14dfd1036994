"""Serve a table over HTTP in this process, using only the standard library of Python.

The protocol is that of ``windlass serve``: its clients are :class:`windlass.LookupService` and
``windlass ask``. For many clients and metrics use ``windlass serve``, and for several machines
:mod:`windlass.serve`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import ssl
import string
import threading
import time
from urllib.parse import parse_qs, urlsplit

import windlass as wl
from windlass._connections import Connections, Requests
from windlass._gate import Caller, Gate, Tokens, caller_of, listed, portions_of, whole_quota
from windlass._problems import Problem
from windlass._shelf import Shelf
from windlass.errors import (
    DTypeError,
    HiddenKeysError,
    OtherContext,
    ParameterError,
    WindlassError,
)

__all__ = ["TableServer"]

log = logging.getLogger("windlass.server")

_MOST_SELECTIONS = 256
"""Of one query, unless one row takes more."""
_POINT = 32
"""Bytes of a point of the function that hides keys."""
_LOOK = 1.0
"""Seconds between two looks whether the table was replaced."""


class TableServer:
    """A table over HTTP, in threads of this process.

    Parameters
    ----------
    table : Table
        A table in memory or in a directory. A table in a directory may change while it is served.
    host : str
        The address to listen on. By default only this machine can connect; with ``"0.0.0.0"`` every
        machine can.
    port : int
        The port; 0 takes a free one, which :attr:`url` states.
    tls : ssl.SSLContext, optional
        For https: a server context with its certificate loaded.
    tokens : mapping of str to str, optional
        Tokens by the name of their client. Requests without one of them are refused. By default
        every client may ask. A pair of a token and a whole number gives the client its own quota.
    oprf_key : OprfKey, optional
        The OPRF key of the table, if its keys are hidden.

        **Warning.** With every point, a client can test one guess of a table key. To limit
        guesses, give a `quota`.

        **Warning.** If another table replaces this one in its directory, it is served as it is,
        also if its keys are not hidden.
    quota : int, optional
        The maximum number of portions of rows that each client may ask for in a minute, at once or
        spread out. A short row is one portion, and so is each hidden key that the server helps
        with. By default there is no limit. A quota that is given with a token takes precedence.

        Clients are identified by token, else by certificate (if `tls` asks for one), else by
        address: all clients behind a proxy are one client. Quotas are counted in memory. 65536
        clients are remembered. If more ask within a minute, those with the most quota left are
        forgotten, and clients that are not remembered start with no more than these had left.
    key_cache : int
        Bytes of evaluation keys of clients in memory. The least recently used keys are removed
        first.
    client_keys : int, optional
        Of these, the maximum bytes of the keys of one client. It then evicts its own keys first.
    rows : int
        The maximum number of rows in one query.
    connections : int
        The maximum number of connections. Further ones wait. While some wait, open connections end
        with their next response.
    seconds : float
        Seconds for the head of a request (including the time until it begins), for a body, and for
        the client to read a response. Each limit is for the whole, even if bytes arrive slowly.

    Examples
    --------
    >>> import windlass as wl
    >>> table = wl.Table.from_items({"ada": b"1815", "alan": b"1912"})
    >>> with wl.TableServer(table, port=0) as server:
    ...     wl.LookupService(server.url).ask(["alan", "grace"])
    [b'1912', None]
    """

    def __init__(
        self,
        table: wl.Table,
        host: str = "127.0.0.1",
        port: int = 8765,
        *,
        tls: ssl.SSLContext | None = None,
        tokens: Tokens | None = None,
        oprf_key: wl.OprfKey | None = None,
        quota: int | None = None,
        key_cache: int = 1 << 30,
        client_keys: int | None = None,
        rows: int = 32,
        connections: int = 64,
        seconds: float = 30.0,
    ) -> None:
        if not isinstance(table, wl.Table):
            raise DTypeError(f"table must be a windlass.Table, not {type(table).__name__}")
        if isinstance(port, bool) or not isinstance(port, int):
            raise DTypeError(f"port must be an integer, not {type(port).__name__}")
        if not 0 <= port < 1 << 16:
            raise ParameterError(
                f"port is {port}, but must be from 0, which takes a free one, to 65535"
            )
        share = key_cache if client_keys is None else client_keys
        if min(key_cache, share, rows, connections) < 1 or not seconds > 0:
            raise ParameterError(
                "key_cache, client_keys, rows and connections must be at least 1, and seconds must "
                "be positive"
            )
        if oprf_key is not None:
            table.check_oprf_key(oprf_key)
        elif table.hides_keys:
            raise HiddenKeysError(
                "the keys of this table are hidden: give the OPRF key that hides them "
                "(oprf_key=...)"
            )
        self.table = table
        self._oprf_key = oprf_key
        self._rows, self._seconds = rows, seconds
        self._keys = Shelf(key_cache, client_keys)
        self._gate = Gate(listed(tokens), whole_quota(quota))
        if quota is not None and quota < table.portions:
            log.warning(
                "a query for one whole row takes %d portions, more than the quota of a minute has",
                table.portions,
            )
        self._looked, self._look = time.monotonic(), threading.Lock()
        self._http = _Http(self, (host, port), tls, connections)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address of the server."""
        scheme = "https" if self._http.tls is not None else "http"
        host, port = self._http.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"{scheme}://{shown}:{port}"

    def start(self) -> TableServer:
        """Serve in the background until :meth:`close`."""
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
            self._http.end()

    def close(self) -> None:
        """Accept no more connections. Open connections end with their next response."""
        self._http.end()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> TableServer:
        """Serves in the background."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Ends."""
        self.close()

    def __repr__(self) -> str:
        """The address of the server."""
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
            log.warning("the table cannot be reopened, so the version before it stays: %s", error)
        finally:
            self._look.release()

    def _most(self) -> tuple[int, int, int]:
        """Selections of a query, bytes of it, and the rows that it asks for."""
        rows = min(self._rows, max(_MOST_SELECTIONS // self.table.selections, 1))
        most = rows * self.table.selections
        return most, self.table.longest_query(most), rows

    def _blind(self, caller: Caller, points: bytes) -> bytes:
        """Helps a client to hide keys; each is a portion of its quota."""
        if not self.table.hides_keys:
            raise Problem("not-hidden", "the table is asked with plain keys")
        # A table that came into the first one's place may be hidden by another key.
        if self._oprf_key is None:
            raise Problem(
                "other-oprf-key", "the service was started for a table without hidden keys"
            )
        try:
            self.table.check_oprf_key(self._oprf_key)
        except HiddenKeysError as error:
            raise Problem("other-oprf-key", str(error)) from error
        count = -(-len(points) // _POINT)
        self._gate.take(caller, count)
        try:
            return self._oprf_key.blind_evaluate(points)
        except WindlassError as error:
            self._gate.give_back(caller, count)
            raise Problem.of(error) from error

    def _take_up(self, caller: Caller, name: str, body: bytes) -> None:
        found = hashlib.sha256(body).hexdigest()
        if found != name:
            raise Problem("other-name", f"the SHA-256 of the body is {found}")
        try:
            keys = wl.TableKeys(body)
            self.table.check(keys)
        except WindlassError as error:
            raise Problem.of(error) from error
        if not self._keys.put(name, keys, keys.nbytes, caller.name):
            most = self._keys.share
            cause = f"the keys need more than {most} bytes of memory, the limit of a client"
            raise Problem("keys-too-large", cause)

    def _answer(self, caller: Caller, keys: wl.TableKeys, query: bytes) -> bytes:
        most, _, rows = self._most()
        try:
            self.table.check(keys)
        except OtherContext as error:
            cause = "the keys are for other moduli than the table's"
            raise Problem("missing-keys", cause) from error
        try:
            selections = self.table.check(keys, query)
            if selections > most:
                asked = -(-selections // self.table.selections)
                cause = f"the query is for {asked} rows, but one request may ask for {rows}"
                raise Problem("too-large", cause)
        except WindlassError as error:
            raise Problem.of(error) from error
        self._gate.take(caller, portions_of(self.table, selections))
        try:
            return self.table.answer(keys, query)
        except WindlassError as error:
            raise Problem.of(error) from error


class _Http(Connections):
    """Connections to a table."""

    def __init__(
        self,
        owner: TableServer,
        address: tuple[str, int],
        tls: ssl.SSLContext | None,
        connections: int,
    ) -> None:
        self.owner = owner
        super().__init__(address, _Handler, tls, connections)


class _Handler(Requests):
    """The requests of a connection."""

    server: _Http
    caller: Caller

    def setup(self) -> None:
        """As many seconds as the server allows."""
        self.seconds = self.server.owner._seconds
        super().setup()

    def longest(self) -> int:
        """Evaluation keys are the longest."""
        return self.server.owner.table.longest_keys

    def answer(self) -> None:
        """Answers by method and path, those who may ask."""
        owner = self.server.owner
        owner._refresh()
        try:
            path = urlsplit(self.path).path
        except ValueError as error:
            raise Problem("not-found", str(error)) from error
        if path != "/health":
            self.caller = owner._gate.admit(self.headers.get("Authorization"), self._peer())
        answers = {"GET": self._get, "HEAD": self._head, "PUT": self._put, "POST": self._post}
        if self.command not in answers:
            raise Problem("method", f"{self.command} is not for this page")
        answers[self.command]()

    def _peer(self) -> Caller:
        """The other end of the connection."""
        certificate = None
        if isinstance(self.request, ssl.SSLSocket):
            certificate = self.request.getpeercert(binary_form=True)
        return caller_of(str(self.client_address[0]), certificate)

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
            owner._take_up(self.caller, name, body)
        self._say(204 if known else 201)

    def _post(self) -> None:
        owner, parts = self.server.owner, urlsplit(self.path)
        if parts.path == "/blind":
            points = self._body(owner._rows * _POINT, keep=True, rows=owner._rows)
            self._say(200, owner._blind(self.caller, points), "application/octet-stream")
            return
        if parts.path != "/ask":
            raise Problem("not-found", parts.path)
        names = parse_qs(parts.query).get("keys")
        keys = owner._keys.get(_named(names[0])) if names else None
        _, most, rows = owner._most()
        body = self._body(most, keep=keys is not None, rows=rows)
        if not names:
            raise Problem("bad-name", "the parameter 'keys' is missing")
        if keys is None:
            raise Problem("unknown-keys", names[0])
        self._say(200, owner._answer(self.caller, keys, body), "application/octet-stream")

    def _name(self) -> str:
        path = urlsplit(self.path).path
        name = path.removeprefix("/keys/")
        if name == path:
            raise Problem("not-found", path)
        return _named(name)


def _named(name: str) -> str:
    if len(name) != 64 or not set(name) <= set(string.hexdigits):
        raise Problem("bad-name", "it is not 64 hexadecimal digits")
    return name.lower()

"""Private lookups over HTTP: a client of ``windlass serve``, with nothing but Python's own library.

A service publishes a schema (``GET /schema``), keeps evaluation keys by the SHA-256 of their file
(``PUT /keys/...``) and answers queries (``POST /ask?keys=...``). It sees keys and ciphertexts only.
"""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import json
import os
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from windlass._arrow import records
from windlass._windlass import HiddenKeys, TableClient
from windlass.errors import (
    DTypeError,
    OtherContext,
    ParameterError,
    ServiceError,
    ServiceUnavailable,
    TableReplaced,
)

__all__ = ["LookupService"]

_Key = str | bytes | int

_TEXT = 1 << 20
"""Longest schema, or problem, that is read."""
_ANSWER = 1 << 28
"""Longest answer that is read."""
_LONGEST_WAIT = 30.0
"""Longest time between two attempts, in seconds."""
_BUSY = (429, 500, 502, 503, 504)
"""What another attempt may help against."""
_GONE = (404, 410)


@dataclass(frozen=True)
class _Response:
    status: int
    retry_after: int | None
    body: bytes

    def problem(self) -> dict[str, str]:
        """The problem details of a refusal: untrusted text, shortened."""
        try:
            said = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        if not isinstance(said, dict):
            return {}
        texts = ((name, text[:300]) for name, text in said.items() if isinstance(text, str))
        return {name: "".join(c if c.isprintable() else " " for c in text) for name, text in texts}

    def kind(self) -> str:
        """The last part of the problem's type."""
        return self.problem().get("type", "").rpartition("#")[2]


def whole_number(text: str) -> int | None:
    """The number that a header states; None if it states none, or an implausible one."""
    digits = text.strip()
    plain = digits.isascii() and digits.isdigit() and len(digits) <= 18
    return int(digits) if plain else None


class _Heard(http.client.HTTPConnection):
    """A connection on which a response is read even if it breaks while a body is sent.

    A service that refuses the body says why.
    """

    _broken: OSError | None = None

    def send(self, data: Any) -> None:
        """Sends as long as the other side reads."""
        # A connection that fails is no body that breaks off: nothing is sent outside of TLS.
        if self.sock is None and self.auto_open:
            self.connect()
        if self._broken is not None:
            return
        try:
            super().send(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            self._broken = error

    def getresponse(self) -> http.client.HTTPResponse:
        """The response, or why the request could not be sent."""
        try:
            return super().getresponse()
        except (OSError, http.client.HTTPException):
            if self._broken is not None:
                raise self._broken from None
            raise


class _HeardSecurely(_Heard, http.client.HTTPSConnection):
    """The same over TLS."""


class _Http(urllib.request.HTTPHandler):
    """Opens such connections."""

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """A response."""
        return self.do_open(_Heard, req)


class _Https(urllib.request.HTTPSHandler):
    """Opens such connections over TLS."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        super().__init__(context=tls)
        self._tls = tls

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """A response."""
        return self.do_open(_HeardSecurely, req, context=self._tls)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would turn an upload into a query for something else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _check_token(token: str, scheme: str, host: str) -> None:
    """Refuses what is not a token, and to send one in the clear to another machine."""
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or " " in token:
        raise ParameterError("a token must be text of letters, digits and signs without blanks")
    try:
        here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = False
    if not token or (scheme != "https" and not here):
        raise ParameterError(
            "the token is empty, or would be sent unencrypted: write https://HOST:PORT"
        )


def _layout(schema: bytes) -> Any:
    """What of a schema does not change with the rows."""
    try:
        said = json.loads(schema)
        (contents,) = said["contents"].values()
        del contents["count"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return schema
    return said


class LookupService:
    """A lookup service, and its client: keys are made once and uploaded once.

    Parameters
    ----------
    url : str
        The address, such as ``http://127.0.0.1:8765`` or ``https://lookups.example.org``.
    secret : str or os.PathLike, optional
        The file of the secret key. It is made (mode 0600) if it is missing. Without a file, the
        secret key is lost with this object.
    passphrase : str or bytes, optional
        The passphrase that encrypts a new file and opens an existing one.
    timeout : float
        Seconds for one response.
    retries : int
        How often a request is sent again if the service is busy or cannot be reached. The waiting
        time is the one that the service states (``Retry-After``); otherwise it doubles, starting at
        half a second. It is at most 30 seconds.
    tls : ssl.SSLContext, optional
        For ``https``. By default the certificates that the system trusts are accepted. For a
        service with a self-signed certificate use
        ``ssl.create_default_context(cafile="cert.pem")``.
    token : str, optional
        The token from the owner of the service, if it needs one. A token is sent to another machine
        only over ``https``.

    Raises
    ------
    ServiceUnavailable
        If the service cannot be reached.
    ServiceError, FileError
        If its response is not a schema, or the secret key belongs to other parameters.

    Examples
    --------
    >>> import windlass as wl
    >>> service = wl.LookupService("http://127.0.0.1:8765")     # doctest: +SKIP
    >>> service.ask("user-0765432")                             # doctest: +SKIP
    [b'...']
    """

    _table: TableClient

    def __init__(
        self,
        url: str,
        *,
        secret: str | os.PathLike[str] | None = None,
        passphrase: str | bytes | None = None,
        timeout: float = 120.0,
        retries: int = 5,
        tls: ssl.SSLContext | None = None,
        token: str | None = None,
    ) -> None:
        if not isinstance(url, str):
            raise DTypeError(f"a URL must be text, not {type(url).__name__}")
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ParameterError(f"{url!r} is not the URL of a service: write http://HOST:PORT")
        if retries < 0 or not timeout > 0:
            raise ParameterError("retries must be at least 0, and timeout must be positive")
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect(), _Http(), _Https(tls)]
        if token is not None:
            _check_token(token, parts.scheme, parts.hostname or "")
            if parts.scheme != "https":
                # A proxy is another machine, and would see the token.
                handlers.append(urllib.request.ProxyHandler({}))
        self._token = token
        self._timeout = timeout
        self._retries = retries
        self._opener = urllib.request.build_opener(*handlers)
        self._lock = threading.Lock()
        self._uploads = 0
        if passphrase is not None and secret is None:
            raise ParameterError("a passphrase needs a file for the secret key: give secret=...")
        self._adopt(self._client(self._fetch(), secret, passphrase))

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._url

    @property
    def client(self) -> TableClient:
        """The client of the service's table."""
        return self._table

    @property
    def security_bits(self) -> float:
        """log2 of the work of the best known attack on what the service sees."""
        return self._table.security_bits

    @property
    def uploads(self) -> int:
        """How often keys were uploaded."""
        return self._uploads

    def ask(self, wanted: _Key | Iterable[_Key], *, portions: bool = False) -> list[bytes | None]:
        """Ask for rows of the table. The service does not learn which.

        If the table hides its keys, this method also asks the service to help with each key,
        without revealing it.

        Parameters
        ----------
        wanted : one key or number, or an iterable of them
        portions : bool
            Whether to ask for rows in portions, which makes queries for short rows small if the
            table has a few long rows.

            **Warning.** The service then learns about how long each row is
            (:meth:`TableClient.in_portions`).

        Returns
        -------
        list of bytes or None
            None for a missing key.

        Raises
        ------
        TableReplaced
            If the service now has a table of another layout: see :meth:`refresh`.
        ServiceUnavailable
            If the service was busy or unreachable in every attempt.
        ServiceError
            If the service refused. The attributes state the reason and what to do.
        """
        return self._found(wanted, portions)[1]

    def records(
        self, wanted: _Key | Iterable[_Key], *, portions: bool = False
    ) -> list[dict[str, Any] | None]:
        """Ask for rows as dictionaries of their columns; otherwise as :meth:`ask`."""
        table, rows = self._found(wanted, portions)
        return records(table.fields, rows)

    def refresh(self) -> bool:
        """Fetch the present schema of the service. Returns whether its layout is another one.

        With the same layout nothing is uploaded again, and you can ask for rows by number that were
        added since. With another layout the secret key is kept if the new table has the same
        moduli; otherwise a fresh key is made.
        """
        schema = self._fetch()
        if _layout(schema) == _layout(self._table.schema):
            with self._lock:
                self._table = self._table.with_schema(schema)
            return False
        try:
            client = self._table.with_schema(schema)
        except OtherContext:
            client = TableClient(schema)
        with self._lock:
            self._adopt(client)
        return True

    def stats(self) -> dict[str, Any]:
        """The service's figures about its table, keys and queue (``GET /stats.json``)."""
        response = self._send("GET", "/stats.json", None, _TEXT)
        self._expect(response, 200)
        try:
            return dict(json.loads(response.body))
        except (ValueError, TypeError, RecursionError) as error:
            message = f"{self._url} sends statistics that cannot be read: {error}"
            raise ServiceError(message, status=200, cause=str(error)) from error

    def __repr__(self) -> str:
        """The address of the service and the way to ask."""
        by = "key" if self._table.keyed else "number"
        bits = f"{self.security_bits:.1f}"
        return f"<windlass.LookupService {self._url}, rows by {by}, {bits} bits of security>"

    def __reduce__(self) -> tuple[object, ...]:
        """Refuses: it holds a secret key."""
        return self._table.__reduce__()

    def _client(
        self,
        schema: bytes,
        secret: str | os.PathLike[str] | None,
        passphrase: str | bytes | None,
    ) -> TableClient:
        if secret is None:
            return TableClient(schema)
        if not os.path.exists(secret):
            client = TableClient(schema)
            client.save_secret(secret, passphrase=passphrase)
            return client
        return TableClient.load(schema, secret, passphrase=passphrase)

    def _adopt(self, table: TableClient) -> None:
        keys = table.keys()
        self._table, self._keys, self._name = table, keys, hashlib.sha256(keys).hexdigest()
        self._known = False

    def _found(self, wanted: Any, portions: bool) -> tuple[TableClient, list[bytes | None]]:
        """The client that asked, and the rows."""
        many = not isinstance(wanted, (str, bytes, bytearray)) and hasattr(wanted, "__iter__")
        listed: list[_Key] = list(wanted) if many else [wanted]
        with self._lock:
            table = self._table
            if not self._known:
                if self._send("HEAD", f"/keys/{self._name}", None, 0).status != 200:
                    self._upload()
                self._known = True
            name = self._name
        asked: list[_Key] | HiddenKeys = listed
        if table.hides_keys and listed:
            blinding = table.blind(listed)
            response = self._send("POST", "/blind", blinding.points, len(blinding.points))
            self._expect(response, 200)
            asked = blinding.finish(response.body)
        if not portions:
            return table, table.rows(self._exchange(name, table.query(asked)), asked)
        gathering = table.in_portions(asked)
        while (query := gathering.query()) is not None:
            gathering.read(self._exchange(name, query))
        return table, gathering.rows()

    def _exchange(self, name: str, query: bytes) -> bytes:
        """The answer to a query; keys that had to make room are uploaded again."""
        for again in range(self._retries + 1, -1, -1):
            response = self._send("POST", f"/ask?keys={name}", query, _ANSWER)
            gone = response.status in _GONE and response.kind() in ("unknown-keys", "")
            if not gone or again == 0:
                break
            # They had to make room for those of others.
            with self._lock:
                self._upload()
        self._expect(response, 200)
        return response.body

    def _upload(self) -> None:
        self._uploads += 1
        response = self._send("PUT", f"/keys/{self._name}", self._keys, _TEXT)
        self._expect(response, 200, 201, 204)

    def _fetch(self) -> bytes:
        response = self._send("GET", "/schema", None, _TEXT)
        self._expect(response, 200)
        return response.body

    def _expect(self, response: _Response, *wanted: int) -> None:
        if response.status in wanted:
            return
        said, kind = response.problem(), response.kind()
        cause, fix = said.get("detail", ""), said.get("fix", "")
        title = said.get("title", http.client.responses.get(response.status, "refused"))
        told = ": ".join(text for text in (title, cause) if text) + (f"; {fix}" if fix else "")
        message = f"{self._url} refuses ({response.status}): {told}"
        error = ServiceError
        if response.status in _BUSY:
            error = ServiceUnavailable
        elif kind == "other-table":
            error = TableReplaced
        raise error(message, status=response.status, problem=kind, cause=cause, fix=fix)

    def _send(self, method: str, path: str, body: bytes | None, most: int) -> _Response:
        """Send a request; repeat it while the service is busy or unreachable."""
        wait = 0.5
        for attempt in range(self._retries + 1):
            try:
                response = self._once(method, path, body, most)
            except (OSError, http.client.HTTPException) as error:
                if attempt == self._retries:
                    reason = getattr(error, "reason", error)
                    message = f"{self._url} cannot be reached: {reason}"
                    raise ServiceUnavailable(message, cause=str(reason)) from error
                response = None
            if response is not None:
                if response.status not in _BUSY or attempt == self._retries:
                    return response
                if response.retry_after is not None:
                    wait = response.retry_after
            time.sleep(min(max(wait, 0.0), _LONGEST_WAIT))
            wait = min(2 * max(wait, 0.05), _LONGEST_WAIT)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, method: str, path: str, body: bytes | None, most: int) -> _Response:
        headers = {"Content-Type": "application/octet-stream"} if body is not None else {}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(
            self._url + path, data=body, headers=headers, method=method
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return self._read(method, response.status, response.headers, response, most)
        except urllib.error.HTTPError as error:
            with error:
                return self._read(method, error.code, error.headers, error, _TEXT)

    def _read(self, method: str, status: int, headers: Any, stream: Any, most: int) -> _Response:
        body = stream.read(most + 1) or b""
        if len(body) > most:
            message = f"{self._url} sends more than {most} bytes"
            raise ServiceError(message, status=status, cause="the response is too long")
        if method != "HEAD" and "Content-Length" in headers:
            stated = whole_number(headers["Content-Length"])
            if stated is None:
                message = f"{self._url} states a length that is none"
                raise ServiceError(message, status=status, cause="the Content-Length is no number")
            if len(body) < stated:
                raise http.client.IncompleteRead(body, stated - len(body))
        return _Response(status, whole_number(headers.get("Retry-After", "")), body)

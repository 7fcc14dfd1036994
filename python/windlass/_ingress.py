"""The front of a table on Ray Serve: the protocol of ``windlass serve`` before its shards.

It bounds the bodies that it reads, checks every query before a shard takes it, and repeats one
whose replica ends.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import string
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import ray
from ray.serve.exceptions import RayServeException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

import windlass as wl
from windlass._gate import Caller, Gate, Listed, caller_of, portions_of
from windlass._problems import Problem, log, too_long
from windlass._shards import LOOK, Options, Reply
from windlass._shelf import Shelf
from windlass.errors import HiddenKeysError, OtherContext, WindlassError
from windlass.service import whole_number

_MOST_SELECTIONS = 256
"""Of one query, unless one row takes more."""
_MOST_UPLOADS, _MOST_QUERIES, _MOST_POINTS, _MOST_STRANGERS = 32, 64, 64, 32
"""Bodies at a time: with keys, with queries, with points, and such as are not needed."""
_HEARING = 1.0
"""Seconds for a body that is not needed."""
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 1.0
"""Seconds before a shard is asked again."""
_POINT = 32
"""Bytes of a point of the function that hides keys."""
_MOST_ENDS = 3
"""Replicas that end at one query before it is refused: it may be what ends them."""
BODIES = _MOST_UPLOADS + _MOST_QUERIES + _MOST_POINTS + _MOST_STRANGERS
"""The most requests whose bodies are read at the same time."""


class Kept(NamedTuple):
    """A client's evaluation keys at the ingress."""

    keys: wl.TableKeys
    reference: Any
    """Their file in the object store, for shards that do not have them."""


class Guard(NamedTuple):
    """What the ingress alone knows of its clients and of the table's keys."""

    oprf_key: str | None = None
    """The file of the key that hides the keys of the table: the key itself is never sent."""
    tokens: Listed | None = None
    quota: int | None = None


class _Bodies:
    """Bodies that are read and looked at: bounded in number, and in bytes all together."""

    def __init__(self, room: int) -> None:
        self.room, self.bytes = room, 0
        self.places = {
            "uploads": _MOST_UPLOADS,
            "queries": _MOST_QUERIES,
            "points": _MOST_POINTS,
        }

    @contextmanager
    def take(self, what: str, nbytes: int) -> Iterator[None]:
        """A place, and room for this many bytes; a refusal if there is no room."""
        # One that is longer than all the room is read alone.
        if self.places[what] == 0 or (self.bytes and self.bytes + nbytes > self.room):
            raise Problem("busy", "too many bodies are being read", 1)
        self.places[what] -= 1
        self.bytes += nbytes
        try:
            yield
        finally:
            self.places[what] += 1
            self.bytes -= nbytes


class Ingress:
    """The protocol of ``windlass serve``, in front of the shards."""

    def __init__(self, options: Options, guard: Guard, *shards: Any) -> None:
        self._options, self._shards = options, shards
        wl.set_threads(1)
        self._gate = Gate(guard.tokens, guard.quota)
        self._oprf_key = None if guard.oprf_key is None else wl.OprfKey.load(guard.oprf_key)
        self._table = wl.Table.open(options.directory, verify=False)
        self._looked = time.monotonic()
        self._keys = Shelf(options.key_cache)
        self._bodies, self._strangers = _Bodies(options.bodies), 0
        self._next = itertools.count()
        self._begun = time.monotonic()
        self._waiting = self._answers = self._repeated = 0

    async def __call__(self, request: Request) -> Response:
        """Answers a request."""
        try:
            response = await self._route(request)
        except Problem as problem:
            response = problem.response()
        except Exception as error:
            log.exception("a request failed")
            response = Problem("failed", type(error).__name__).response()
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    async def _route(self, request: Request) -> Response:
        path = str(request.scope["path"]).removeprefix(str(request.scope.get("root_path", "")))
        method = request.method
        if path == "/health":
            if method not in ("GET", "HEAD"):
                raise Problem("method", f"{method} is not for this page")
            return Response("ok\n", media_type="text/plain")
        address = "" if request.client is None else request.client.host
        caller = self._gate.admit(request.headers.get("Authorization"), caller_of(address))
        await self._look()
        name = path.removeprefix("/keys/")
        if name != path and "/" not in name:
            if method == "HEAD":
                return self._has_keys(_named(name))
            if method == "PUT":
                return await self._put_keys(_named(name), request)
            raise Problem("method", f"{method} is not for this page")
        pages: dict[str, tuple[str, _Page]] = {
            "/schema": ("GET", self._schema),
            "/stats.json": ("GET", self._stats),
            "/ask": ("POST", self._ask),
            "/blind": ("POST", self._blind),
        }
        if path not in pages:
            raise Problem("not-found", path)
        wanted, answer = pages[path]
        if method != wanted and not (method == "HEAD" and wanted == "GET"):
            raise Problem("method", f"{method} is not for this page")
        return await answer(request, caller)

    async def _look(self) -> None:
        """Takes the version of the table that is there now."""
        if time.monotonic() < self._looked + LOOK:
            return
        self._looked = time.monotonic()
        try:
            await asyncio.to_thread(self._table.refresh)
        except WindlassError as error:
            log.warning("the table cannot be reopened, so the version before it stays: %s", error)

    async def _schema(self, _: Request, __: Caller) -> Response:
        headers = {"ETag": f'"{self._table.schema_hash}"', "Cache-Control": "no-store"}
        return Response(self._table.schema, 200, headers, "application/json")

    async def _stats(self, _: Request, __: Caller) -> Response:
        keys = self._keys
        said = {
            "table": {"count": len(self._table), "schema": self._table.schema_hash},
            "cache": {
                "sets": len(keys),
                "bytes": keys.bytes,
                "room": keys.room,
                "evicted": keys.evicted,
            },
            "queue": {"waiting": self._waiting, "room": self._options.queue},
            "bodies": {"bytes": self._bodies.bytes, "room": self._bodies.room},
            "shards": len(self._shards),
            "answers": self._answers,
            "repeated": self._repeated,
            "uptime": int(time.monotonic() - self._begun),
            "version": wl.__version__,
        }
        body = json.dumps(said).encode()
        return Response(body, 200, {"Cache-Control": "no-store"}, "application/json")

    def _has_keys(self, name: str) -> Response:
        if self._keys.get(name) is None:
            raise Problem("unknown-keys", name)
        return Response()

    async def _put_keys(self, name: str, request: Request) -> Response:
        most = self._table.longest_keys
        if self._keys.get(name) is not None:
            await self._hear(request, most)
            return Response(status_code=204)
        await self._check_length(request, most)
        with self._bodies.take("uploads", _length(request, most)):
            body = await self._body(request, most)
            kept = await asyncio.to_thread(self._read_keys, name, body)
        if not self._keys.put(name, kept, kept.keys.nbytes + len(body)):
            cause = "the keys take more memory than there is for all keys"
            raise Problem("too-large", cause)
        return Response(status_code=201)

    def _read_keys(self, name: str, body: bytes) -> Kept:
        found = hashlib.sha256(body).hexdigest()
        if found != name:
            raise Problem("other-name", f"the SHA-256 of the body is {found}")
        try:
            keys = wl.TableKeys(body)
            self._table.check(keys)
        except WindlassError as error:
            raise Problem.of(error) from error
        return Kept(keys, ray.put(body))

    async def _blind(self, request: Request, caller: Caller) -> Response:
        """Helps a client to hide keys; each is a portion of its quota."""
        most = self._options.rows * _POINT
        await self._check_length(request, most, self._options.rows)
        with self._bodies.take("points", _length(request, most)):
            points = await self._body(request, most, self._options.rows)
            helped = await asyncio.to_thread(self._help, caller, points)
        return Response(helped, 200, {"Cache-Control": "no-store"}, "application/octet-stream")

    def _help(self, caller: Caller, points: bytes) -> bytes:
        if not self._table.hides_keys:
            raise Problem("not-hidden", "the table is asked with plain keys")
        # A table that came into the first one's place may be hidden by another key.
        if self._oprf_key is None:
            cause = "the service was started for a table without hidden keys"
            raise Problem("other-oprf-key", cause)
        try:
            self._table.check_oprf_key(self._oprf_key)
        except HiddenKeysError as error:
            raise Problem("other-oprf-key", str(error)) from error
        count = -(-len(points) // _POINT)
        self._gate.take(caller, count)
        try:
            return self._oprf_key.blind_evaluate(points)
        except WindlassError as error:
            self._gate.give_back(caller, count)
            raise Problem.of(error) from error

    def _asked(self, request: Request) -> tuple[str, Kept]:
        """The keys that a query names."""
        if "keys" not in request.query_params:
            raise Problem("bad-name", "the parameter 'keys' is missing")
        name = _named(request.query_params["keys"])
        kept = self._keys.get(name)
        if kept is None:
            raise Problem("unknown-keys", name)
        return name, kept

    async def _ask(self, request: Request, caller: Caller) -> Response:
        begun, options, table = time.monotonic(), self._options, self._table
        rows = min(options.rows, max(_MOST_SELECTIONS // table.selections, 1))
        most = rows * table.selections
        limit = table.longest_query(most)
        try:
            name, kept = self._asked(request)
        except Problem:
            # Who has no keys here takes no memory either, and hears why.
            await self._hear(request, limit)
            raise
        await self._check_length(request, limit, rows)
        with self._bodies.take("queries", _length(request, limit)):
            body = await self._body(request, limit, rows)
            selections = await asyncio.to_thread(_check, table, kept.keys, body)
            if selections > most:
                asked = -(-selections // table.selections)
                cause = f"the query is for {asked} rows, but one request may ask for {rows}"
                raise Problem("too-large", cause)
            if self._waiting and self._waiting + selections > options.queue:
                raise Problem("busy", "the queue is full", 1)
            self._gate.take(caller, portions_of(table, selections))
            # From here on it counts among what waits.
            self._waiting += selections
        try:
            left = options.answer_seconds - (time.monotonic() - begun)
            answer = await asyncio.wait_for(self._answer(name, kept, body, selections), left)
        except asyncio.TimeoutError:
            raise Problem("timeout", f"{options.answer_seconds:g} s have passed", 1) from None
        finally:
            self._waiting -= selections
        self._answers += 1
        return Response(answer, 200, {"Cache-Control": "no-store"}, "application/octet-stream")

    async def _answer(self, name: str, kept: Kept, query: bytes, selections: int) -> bytes:
        count = len(self._shards)
        asked = ("part", name, kept, query, selections)
        parts = list(await asyncio.gather(*(self._call(i, *asked, ("", "")) for i in range(count))))
        # A table that changes meanwhile: those that are behind look again, the others' parts stay.
        wait = _FIRST_WAIT
        while len({part.version for part in parts}) > 1:
            versions = [part.version for part in parts]
            again = (self._call(i, *asked, (versions[i - 1], versions[i])) for i in range(count))
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
            found = await asyncio.gather(*again)
            parts = [new if new.data else old for new, old in zip(found, parts, strict=True)]
        data = [part.data for part in parts]
        reply = await self._call(next(self._next) % count, "combine", name, kept, query, data)
        return reply.data

    async def _call(self, index: int, method: str, name: str, kept: Kept, *arguments: Any) -> Reply:
        """Asks a shard, and another replica of it where one ends before it has answered.

        A part is the same wherever it is made, so it may be made twice. The caller bounds the time.
        """
        keys: list[Any] = []
        ended: set[object] = set()
        wait = _FIRST_WAIT
        ask = getattr(self._shards[index], method)
        while True:
            try:
                reply: Reply = await ask.remote(name, *arguments, keys)
            except (ray.exceptions.RayError, RayServeException) as error:
                if isinstance(error, ray.exceptions.TaskCancelledError):
                    raise
                within = isinstance(error, ray.exceptions.RayTaskError)
                found = error.cause if within else error
                if isinstance(found, ray.exceptions.RayActorError):
                    ended.add(found.actor_id or object())
                elif within:
                    raise
                if len(ended) == _MOST_ENDS:
                    cause = f"{_MOST_ENDS} replicas of a shard ended before they had answered it"
                    raise Problem("failed", cause) from error
                self._repeated += 1
                log.warning("shard %d is asked again: %s", index, type(error).__name__)
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
                continue
            if reply.refused == "keys":
                # In a list Ray leaves it to the shard when to read it.
                keys = [kept.reference]
                continue
            if reply.refused == "unknown-keys":
                # Their file is lost with a part of the object store: it is uploaded again.
                self._keys.drop(name)
            if reply.refused:
                raise Problem(reply.refused, reply.cause)
            return reply

    async def _check_length(self, request: Request, most: int, rows: int | None = None) -> None:
        """Refuses a body that states more bytes than are read before it takes a place."""
        if _stated(request) > most:
            with suppress(Problem):
                await self._hear(request, most)
            raise Problem("too-large", too_long(most, rows))

    async def _hear(self, request: Request, most: int) -> None:
        """Takes a body that is not needed, for a moment, so that who sends it hears why.

        Of those who are too many nothing is taken.
        """
        if self._strangers == _MOST_STRANGERS:
            return
        self._strangers += 1
        try:
            await asyncio.wait_for(_read(request, most, keep=False), _HEARING)
        except (asyncio.TimeoutError, ClientDisconnect):
            pass
        finally:
            self._strangers -= 1

    async def _body(self, request: Request, most: int, rows: int | None = None) -> bytes:
        """The body of a request, bounded in bytes (those of `rows` rows) and in time."""
        try:
            read = _read(request, most, rows=rows)
            return await asyncio.wait_for(read, self._options.body_seconds)
        except asyncio.TimeoutError:
            cause = f"more than {self._options.body_seconds:g} s"
            raise Problem("too-slow", cause) from None
        except ClientDisconnect as error:
            raise Problem("unreadable", "the connection ended") from error


_Page = Callable[[Request, Caller], Coroutine[Any, Any, Response]]
"""Answers a request of a client."""


def _length(request: Request, most: int) -> int:
    """Bytes of a body that are kept: as many as it states, or as there may be."""
    stated = whole_number(request.headers.get("Content-Length", ""))
    return most if stated is None else min(stated, most)


def _stated(request: Request) -> int:
    """Bytes of a body, as the request states them; 0 if it does not."""
    return whole_number(request.headers.get("Content-Length", "")) or 0


async def _read(
    request: Request, most: int, *, keep: bool = True, rows: int | None = None
) -> bytes:
    """The body of a request; nothing of it unless `keep`.

    What is too long is read to its end and thrown away: most clients read the response when they
    have sent everything, and one who is cut off while sending hears nothing.
    """
    is_long, kept, seen = _stated(request) > most, bytearray(), 0
    async for data in request.stream():
        seen += len(data)
        is_long |= seen > most
        if keep and not is_long:
            kept += data
    if is_long:
        raise Problem("too-large", too_long(most, rows))
    return bytes(kept)


def _check(table: wl.Table, keys: wl.TableKeys, query: bytes) -> int:
    """How many selections a query has, after every check that can be made before a pass."""
    try:
        table.check(keys)
    except OtherContext as error:
        raise Problem("missing-keys", "the keys are for other moduli than the table's") from error
    try:
        return table.check(keys, query)
    except WindlassError as error:
        raise Problem.of(error) from error


def _named(name: str) -> str:
    if len(name) != 64 or not set(name) <= set(string.hexdigits):
        raise Problem("bad-name", "it is not 64 hexadecimal digits")
    return name.lower()

"""A table as a service over several machines, on Ray Serve.

Each shard holds a block of the table's columns, mapped from a directory that all machines see, and
has any number of replicas. An ingress speaks the protocol of ``windlass serve``: its clients are
:class:`windlass.LookupService` and ``windlass ask``. ``pip install windlass[serve]``.

>>> from ray import serve
>>> from windlass.serve import application
>>> app = application("served", shards=2, replicas=2)               # doctest: +SKIP
>>> _ = serve.run(app)                                              # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import logging
import os
import string
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import windlass as wl
from windlass.errors import (
    FileError,
    MissingKeys,
    NoShards,
    OtherContext,
    OtherKeyPair,
    ParameterError,
    WindlassError,
    missing_package,
)

try:
    import ray
    from ray import serve
    from ray.serve.exceptions import RayServeException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
except ImportError as _error:
    raise missing_package("ray[serve]", "serve") from _error

__all__ = ["application"]

_Value = TypeVar("_Value")
_log = logging.getLogger("ray.serve")

_TOGETHER = 16
"""Selections that share one reading of a block."""
_LOOK = 1.0
"""Seconds between two looks whether the table was replaced."""
_HEARD = 8 << 20
"""Bytes beyond a limit that are read and thrown away, so that who sends them hears why."""
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 1.0
"""Seconds before a shard is asked again."""


class _Kind(NamedTuple):
    """A kind of refusal, as ``windlass serve`` words it."""

    status: int
    title: str
    fix: str


_KINDS = {
    "not-found": _Kind(404, "There is nothing here", "see /openapi.json for what there is"),
    "method": _Kind(
        405, "This page does not take that method", "see /openapi.json for what it takes"
    ),
    "unknown-keys": _Kind(
        404,
        "The evaluation keys are not here",
        "upload them with PUT /keys/{sha256}, then ask again",
    ),
    "bad-name": _Kind(
        400,
        "Not the name of a set of keys",
        "name keys by the SHA-256 of their file, 64 hexadecimal digits",
    ),
    "other-name": _Kind(
        400,
        "The name is not the hash of the body",
        "send the whole file, under the SHA-256 of its bytes",
    ),
    "unreadable": _Kind(400, "The body cannot be read", "send the file as it was made, whole"),
    "other-table": _Kind(
        409,
        "Made for another table, or for another version of its schema",
        "fetch /schema again and ask under it",
    ),
    "missing-keys": _Kind(
        422,
        "The evaluation keys do not suffice for this table",
        "make evaluation keys for the schema of this table and upload them",
    ),
    "other-key-pair": _Kind(
        422,
        "The query belongs to another key pair than the keys",
        "ask with the secret key that the evaluation keys were made from",
    ),
    "too-large": _Kind(
        413, "The body is longer than this table allows", "ask for fewer rows at a time"
    ),
    "too-slow": _Kind(408, "The body took too long to arrive", "send it again over a faster line"),
    "busy": _Kind(
        503, "Too many requests are waiting", "ask again after the time that Retry-After states"
    ),
    "timeout": _Kind(504, "The answer took too long", "ask again later"),
    "stopping": _Kind(503, "The service is ending", "ask again when it is back"),
    "failed": _Kind(
        500,
        "The service failed at this request",
        "ask again; if it stays so, tell who runs the service",
    ),
}


class _Problem(Exception):
    """A request is refused."""

    def __init__(self, kind: str, cause: str, retry_after: int | None = None) -> None:
        super().__init__(kind, cause)
        self.kind, self.cause, self.retry_after = kind, cause, retry_after

    @classmethod
    def of(cls, error: WindlassError) -> _Problem:
        """That of a query that a table refuses."""
        kinds = {
            OtherKeyPair: "other-key-pair",
            MissingKeys: "missing-keys",
            OtherContext: "other-table",
            FileError: "unreadable",
        }
        found = (kind for raised, kind in kinds.items() if isinstance(error, raised))
        return cls(next(found, "failed"), str(error))

    def response(self) -> Response:
        """Problem details (RFC 9457)."""
        kind = _KINDS[self.kind]
        headers = {"Cache-Control": "no-store"}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        said = {
            "type": f"/openapi.json#{self.kind}",
            "title": kind.title,
            "status": kind.status,
            "detail": self.cause,
            "fix": kind.fix,
        }
        return JSONResponse(said, kind.status, headers, "application/problem+json")


@dataclass(frozen=True)
class _Options:
    """What a service keeps to."""

    directory: str
    shards: int
    threads: int
    key_cache: int
    rows: int
    queue: int
    answer_seconds: float
    body_seconds: float


class _Shelf:
    """Values by name, bounded in bytes: the longest unused go first."""

    def __init__(self, room: int) -> None:
        self.room, self.bytes, self.evicted = room, 0, 0
        self._kept: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> Any:
        """The value of that name, or None; it counts as used."""
        with self._lock:
            if name not in self._kept:
                return None
            self._kept.move_to_end(name)
            return self._kept[name][0]

    def put(self, name: str, value: Any, nbytes: int) -> bool:
        """Puts a value in, and takes out others until it fits; False where it never does."""
        with self._lock:
            if nbytes > self.room:
                return False
            if name not in self._kept:
                while self.bytes + nbytes > self.room:
                    _, (_, freed) = self._kept.popitem(last=False)
                    self.bytes -= freed
                    self.evicted += 1
                self._kept[name] = (value, nbytes)
                self.bytes += nbytes
            return True

    def drop(self, name: str) -> None:
        """Takes a value out."""
        with self._lock:
            _, freed = self._kept.pop(name, (None, 0))
            self.bytes -= freed

    def clear(self) -> None:
        """Takes everything out."""
        with self._lock:
            self._kept.clear()
            self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)


class _Reply(NamedTuple):
    """What a shard says: its part, an answer, or why there is none."""

    data: bytes = b""
    version: str = ""
    """Of the table, for a part."""
    refused: str = ""
    """A kind of refusal; ``"keys"`` asks for the keys."""
    cause: str = ""


class _Job(NamedTuple):
    """What waits for a pass, or to be combined."""

    keys: wl.TableKeys
    query: bytes
    selections: int
    version: str
    """A version that another shard has already; the table is looked at where it differs."""
    parts: list[bytes] | None
    """The parts to combine; None asks for a part."""
    done: asyncio.Future[_Reply]


def _pass(jobs: deque[_Job]) -> list[_Job]:
    """Takes out what is answered together, first come, first served: at least one."""
    taken: list[_Job] = []
    selections = 0
    while jobs and (not taken or selections + jobs[0].selections <= _TOGETHER):
        job = jobs.popleft()
        if not job.done.done():  # somebody still waits
            taken.append(job)
            selections += job.selections
    return taken


class _Shard:
    """A replica of one shard: a block of the table, clients' keys, and one line of work."""

    def __init__(self, index: int, options: _Options) -> None:
        wl.set_threads(options.threads)
        self._index, self._of = index, options.shards
        # Only the pages of the block are read: the checksums are of whole pieces.
        self._table = wl.Table.open(options.directory, verify=False)
        self._shard: wl.TableShard | None = self._table.shard(index, options.shards)
        self._looked = time.monotonic()
        self._keys = _Shelf(options.key_cache)
        self._line = ThreadPoolExecutor(1, "pass")
        self._parts: deque[_Job] = deque()
        self._combined: deque[_Job] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._passes = self._selections = 0

    async def part(
        self, name: str, query: bytes, selections: int, version: str, keys: list[Any]
    ) -> _Reply:
        """The part of an answer that this block gives."""
        return await self._wait(name, keys, self._parts, (query, selections, version, None))

    async def combine(self, name: str, query: bytes, parts: list[bytes], keys: list[Any]) -> _Reply:
        """The answer out of the parts of all shards."""
        return await self._wait(name, keys, self._combined, (query, 1, "", parts))

    async def report(self) -> dict[str, Any]:
        """What it is and has done."""
        return {
            "pid": os.getpid(),
            "shard": self._index,
            "passes": self._passes,
            "selections": self._selections,
            "keys": len(self._keys),
            "cpu": time.process_time(),
        }

    async def forget(self) -> None:
        """Takes all keys out, as if they had made room for others."""
        self._keys.clear()

    async def _wait(
        self,
        name: str,
        given: list[Any],
        line: deque[_Job],
        what: tuple[bytes, int, str, list[bytes] | None],
    ) -> _Reply:
        loop = asyncio.get_running_loop()
        keys = self._keys.get(name)
        if keys is None:
            if not given:
                return _Reply(refused="keys")
            try:
                keys = await loop.run_in_executor(None, self._fetch, name, given[0])
            except ray.exceptions.RayError as error:
                return _Reply(refused="unknown-keys", cause=f"{name}: {error}")
        done: asyncio.Future[_Reply] = loop.create_future()
        line.append(_Job(keys, *what, done))
        # The next pass takes all that came while this one ran. `serve.batch` closes a batch before
        # the one that runs has ended: without a wait each request would be a batch of its own.
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._work())
        return await done

    def _fetch(self, name: str, reference: Any) -> wl.TableKeys:
        keys = wl.TableKeys(ray.get(reference))
        self._keys.put(name, keys, keys.nbytes)
        return keys

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._parts or self._combined:
            # Combining takes a fraction of a pass, and somebody waits for nothing else.
            line = self._combined or self._parts
            jobs = _pass(line)
            compute = self._combine if line is self._combined else self._answer
            try:
                replies = await loop.run_in_executor(self._line, compute, jobs)
            except Exception as error:
                _log.exception("a pass over shard %d failed", self._index)
                replies = [_Reply(refused="failed", cause=str(error))] * len(jobs)
            for job, reply in zip(jobs, replies, strict=True):
                if not job.done.done():
                    job.done.set_result(reply)

    def _answer(self, jobs: list[_Job]) -> list[_Reply]:
        """One pass."""
        self._look(jobs)
        shard = self._shard
        if shard is None:
            cause = f"the table that is there now is not cut into {self._of} shards"
            return [_Reply(refused="failed", cause=cause)] * len(jobs)
        self._passes += bool(jobs)
        self._selections += sum(job.selections for job in jobs)

        def together(some: list[_Job]) -> list[_Reply]:
            parts = shard.answer_all([(job.keys, job.query) for job in some])
            return [_Reply(part, shard.version) for part in parts]

        return _each(jobs, together)

    def _combine(self, jobs: list[_Job]) -> list[_Reply]:
        def together(some: list[_Job]) -> list[_Reply]:
            return [
                _Reply(self._table.combine(job.keys, job.query, job.parts or [])) for job in some
            ]

        return _each(jobs, together)

    def _look(self, jobs: list[_Job]) -> None:
        """Takes the version of the table that is there now."""
        known = self._shard.version if self._shard is not None else ""
        behind = any(job.version not in ("", known) for job in jobs)
        if not behind and time.monotonic() < self._looked + _LOOK:
            return
        self._looked = time.monotonic()
        try:
            if self._table.refresh():
                self._shard = self._table.shard(self._index, self._of)
        except NoShards:
            self._shard = None
        except FileError as error:
            _log.warning("the table cannot be opened again, the version before it stays: %s", error)


def _each(jobs: list[_Job], together: Callable[[list[_Job]], list[_Reply]]) -> list[_Reply]:
    """All jobs together; each for itself where that fails: nobody suffers from others."""
    try:
        return together(jobs)
    except WindlassError as error:
        if len(jobs) > 1:
            return [_each([job], together)[0] for job in jobs]
        problem = _Problem.of(error)
        return [_Reply(refused=problem.kind, cause=problem.cause)]


class _Kept(NamedTuple):
    """A client's evaluation keys at the ingress."""

    keys: wl.TableKeys
    reference: Any
    """Their file in the object store, for shards that do not have them."""


class _Ingress:
    """The protocol of ``windlass serve``, in front of the shards."""

    def __init__(self, options: _Options, *shards: Any) -> None:
        self._options, self._shards = options, shards
        wl.set_threads(1)
        self._table = wl.Table.open(options.directory, verify=False)
        self._looked = time.monotonic()
        self._keys = _Shelf(options.key_cache)
        self._next = itertools.count()
        self._begun = time.time()
        self._waiting = self._answers = self._repeated = 0

    async def __call__(self, request: Request) -> Response:
        """Answers a request."""
        try:
            response = await self._route(request)
        except _Problem as problem:
            response = problem.response()
        except Exception as error:
            _log.exception("a request failed")
            response = _Problem("failed", type(error).__name__).response()
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    async def _route(self, request: Request) -> Response:
        path = str(request.scope["path"]).removeprefix(str(request.scope.get("root_path", "")))
        method = request.method
        await self._look()
        name = path.removeprefix("/keys/")
        if name != path and "/" not in name:
            if method == "HEAD":
                return self._has_keys(_named(name))
            if method == "PUT":
                return await self._put_keys(_named(name), request)
            raise _Problem("method", f"{method} is not for this page")
        pages: dict[str, tuple[str, Callable[[Request], Coroutine[Any, Any, Response]]]] = {
            "/schema": ("GET", self._schema),
            "/health": ("GET", self._health),
            "/stats.json": ("GET", self._stats),
            "/ask": ("POST", self._ask),
        }
        if path not in pages:
            raise _Problem("not-found", path)
        wanted, answer = pages[path]
        if method != wanted and not (method == "HEAD" and wanted == "GET"):
            raise _Problem("method", f"{method} is not for this page")
        return await answer(request)

    async def _look(self) -> None:
        """Takes the version of the table that is there now."""
        if time.monotonic() < self._looked + _LOOK:
            return
        self._looked = time.monotonic()
        try:
            await asyncio.to_thread(self._table.refresh)
        except FileError as error:
            _log.warning("the table cannot be opened again, the version before it stays: %s", error)

    async def _schema(self, _: Request) -> Response:
        headers = {"ETag": f'"{self._table.schema_hash}"', "Cache-Control": "no-store"}
        return Response(self._table.schema, 200, headers, "application/json")

    async def _health(self, _: Request) -> Response:
        return Response("ok\n", media_type="text/plain")

    async def _stats(self, _: Request) -> Response:
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
            "shards": len(self._shards),
            "answers": self._answers,
            "repeated": self._repeated,
            "uptime": int(time.time() - self._begun),
            "version": wl.__version__,
        }
        body = json.dumps(said).encode()
        return Response(body, 200, {"Cache-Control": "no-store"}, "application/json")

    def _has_keys(self, name: str) -> Response:
        if self._keys.get(name) is None:
            raise _Problem("unknown-keys", name)
        return Response()

    async def _put_keys(self, name: str, request: Request) -> Response:
        # Of every step of the deepest expansion, and one more.
        body = await self._body(request, 1 << 26)
        if self._keys.get(name) is not None:
            return Response(status_code=204)
        kept = await asyncio.to_thread(self._read_keys, name, body)
        if not self._keys.put(name, kept, kept.keys.nbytes + len(body)):
            cause = "the keys take more memory than there is for all keys"
            raise _Problem("too-large", cause)
        return Response(status_code=201)

    def _read_keys(self, name: str, body: bytes) -> _Kept:
        found = hashlib.sha256(body).hexdigest()
        if found != name:
            raise _Problem("other-name", f"the SHA-256 of the body is {found}")
        try:
            keys = wl.TableKeys(body)
            self._table.check(keys)
        except WindlassError as error:
            raise _Problem.of(error) from error
        return _Kept(keys, ray.put(body))

    async def _ask(self, request: Request) -> Response:
        begun, options, table = time.monotonic(), self._options, self._table
        body = await self._body(request, (1 << 16) * (1 + options.rows * table.selections))
        if "keys" not in request.query_params:
            raise _Problem("bad-name", "the parameter 'keys' is missing")
        name = _named(request.query_params["keys"])
        kept = self._keys.get(name)
        if kept is None:
            raise _Problem("unknown-keys", name)
        selections = await asyncio.to_thread(_check, table, kept.keys, body)
        most = options.rows * table.selections
        if selections > most:
            cause = f"{selections} selections, where one request may have {most}"
            raise _Problem("too-large", cause)
        if self._waiting and self._waiting + selections > options.queue:
            raise _Problem("busy", "the queue is full", 1)
        self._waiting += selections
        try:
            left = options.answer_seconds - (time.monotonic() - begun)
            answer = await asyncio.wait_for(self._answer(name, kept, body, selections), left)
        except asyncio.TimeoutError:
            raise _Problem("timeout", f"{options.answer_seconds:g} s have passed", 1) from None
        finally:
            self._waiting -= selections
        self._answers += 1
        return Response(answer, 200, {"Cache-Control": "no-store"}, "application/octet-stream")

    async def _answer(self, name: str, kept: _Kept, query: bytes, selections: int) -> bytes:
        count = len(self._shards)
        asked = ("part", name, kept, query, selections)
        parts = list(await asyncio.gather(*(self._call(i, *asked, "") for i in range(count))))
        # A table that changes meanwhile: those that are behind look again.
        wait = _FIRST_WAIT
        while len({part.version for part in parts}) > 1:
            others = [parts[i - 1].version for i in range(count)]
            again = (self._call(i, *asked, version) for i, version in enumerate(others))
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
            parts = list(await asyncio.gather(*again))
        data = [part.data for part in parts]
        reply = await self._call(next(self._next) % count, "combine", name, kept, query, data)
        return reply.data

    async def _call(
        self, index: int, method: str, name: str, kept: _Kept, *arguments: Any
    ) -> _Reply:
        """Asks a shard, and another replica of it where one ends before it has answered.

        A part is the same wherever it is made, so it may be made twice. The caller bounds the time.
        """
        keys: list[Any] = []
        wait = _FIRST_WAIT
        ask = getattr(self._shards[index], method)
        while True:
            try:
                reply: _Reply = await ask.remote(name, *arguments, keys)
            except (ray.exceptions.RayError, RayServeException) as error:
                if isinstance(error, ray.exceptions.TaskCancelledError):
                    raise
                within = isinstance(error, ray.exceptions.RayTaskError)
                if within and not isinstance(error.cause, ray.exceptions.RayActorError):
                    raise
                self._repeated += 1
                _log.warning("shard %d is asked again: %s", index, type(error).__name__)
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
                raise _Problem(reply.refused, reply.cause)
            return reply

    async def _body(self, request: Request, most: int) -> bytes:
        """The body of a request, bounded in bytes and in time."""
        stated = request.headers.get("Content-Length", "")
        if stated.isdigit() and int(stated) > most + _HEARD:
            raise _Problem("too-large", f"at most {most} bytes are read")
        try:
            return await asyncio.wait_for(_read(request, most), self._options.body_seconds)
        except asyncio.TimeoutError:
            cause = f"more than {self._options.body_seconds:g} s"
            raise _Problem("too-slow", cause) from None
        except ClientDisconnect as error:
            raise _Problem("unreadable", "the connection ended") from error


async def _read(request: Request, most: int) -> bytes:
    kept, seen = bytearray(), 0
    async for data in request.stream():
        seen += len(data)
        if seen <= most:
            kept += data
        elif seen > most + _HEARD:
            break
    if seen > most:
        raise _Problem("too-large", f"at most {most} bytes are read")
    return bytes(kept)


def _check(table: wl.Table, keys: wl.TableKeys, query: bytes) -> int:
    """How many selections a query has, after every check that can be made before a pass."""
    try:
        table.check(keys)
    except OtherContext as error:
        raise _Problem("missing-keys", "the keys are for other moduli than the table's") from error
    try:
        return table.check(keys, query)
    except WindlassError as error:
        raise _Problem.of(error) from error


def _named(name: str) -> str:
    if len(name) != 64 or not set(name) <= set(string.hexdigits):
        raise _Problem("bad-name", "it is not 64 hexadecimal digits")
    return name.lower()


def application(
    directory: str | os.PathLike[str],
    *,
    shards: int = 2,
    replicas: int = 1,
    threads: int = 1,
    cpus_per_replica: float | None = None,
    key_cache: int = 1 << 30,
    rows: int = 32,
    queue: int = 512,
    answer_seconds: float = 60.0,
    body_seconds: float = 30.0,
) -> Any:
    """A table as a service over several machines: an application for ``ray.serve.run``.

    Parameters
    ----------
    directory : str or os.PathLike
        The table, at the same place on every machine. It may change while it is served.
    shards : int
        Into how many blocks the table is cut.
    replicas : int
        Processes for each shard. A question that meets the end of one is repeated on another, or on
        the one that Ray starts in its place.
    threads : int
        Threads of each.
    cpus_per_replica : float, optional
        What a replica takes of the CPUs that Ray counts; its threads, where nothing is said.
    key_cache : int
        Bytes of clients' evaluation keys in each process: the longest unused go.
    rows, queue : int
        Rows in one question; selections that wait at the same time.
    answer_seconds, body_seconds : float
        Time for an answer, waiting included; time for a body to arrive.

    Returns
    -------
    ray.serve.Application

    Raises
    ------
    MissingPackage
        When the module is imported without Ray Serve: ``pip install windlass[serve]``.
    NoShards
        Where the table is not cut into that many blocks; ``possible`` has the numbers.
    ParameterError
        For numbers that are not positive.
    FileError
        For a directory without a table.

    Examples
    --------
    >>> import tempfile, windlass as wl
    >>> from windlass.serve import application
    >>> place = tempfile.mkdtemp() + "/served"
    >>> table = wl.Table.from_rows([b"%099d" % n for n in range(9000)], directory=place)
    >>> app = application(place, shards=2)
    >>> try:
    ...     application(place, shards=9000)
    ... except wl.NoShards as error:
    ...     2 in error.possible
    True
    """
    positive = (shards, replicas, threads, key_cache, rows, queue, answer_seconds, body_seconds)
    if not all(number > 0 for number in positive):
        raise ParameterError("the numbers that a service keeps to are positive")
    place = str(Path(directory).absolute())
    wl.Table.open(place, verify=False).shard(0, shards)
    options = _Options(
        place, shards, threads, key_cache, rows, queue, float(answer_seconds), float(body_seconds)
    )
    shard = serve.deployment(_Shard).options(
        num_replicas=replicas,
        ray_actor_options={"num_cpus": threads if cpus_per_replica is None else cpus_per_replica},
        # What waits at a replica is answered together.
        max_ongoing_requests=8 * _TOGETHER,
        health_check_period_s=1.0,
        health_check_timeout_s=30.0,
    )
    blocks = [shard.options(name=f"shard-{i}").bind(i, options) for i in range(shards)]
    ingress = serve.deployment(_Ingress).options(
        name="ingress", ray_actor_options={"num_cpus": 0}, max_ongoing_requests=256
    )
    return ingress.bind(options, *blocks)

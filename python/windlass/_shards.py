"""The replicas of a table's shards: each has a block of the columns, and clients' keys."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import ray

import windlass as wl
from windlass._problems import Problem, log
from windlass._shelf import Shelf
from windlass.errors import NoShards, WindlassError

TOGETHER = 16
"""Selections that share one reading of a block."""
LOOK = 1.0
"""Seconds between two looks whether the table was replaced."""


@dataclass(frozen=True)
class Options:
    """What a service keeps to."""

    directory: str
    shards: int
    threads: int
    key_cache: int
    rows: int
    queue: int
    bodies: int
    answer_seconds: float
    body_seconds: float


class Reply(NamedTuple):
    """The reply of a shard: its part, an answer, or an error."""

    data: bytes = b""
    """Empty for a part that the ingress has already."""
    version: str = ""
    """Of the table, for a part."""
    refused: str = ""
    """A kind of refusal; ``"keys"`` asks for the keys."""
    cause: str = ""


class Job(NamedTuple):
    """What waits for a pass, or to be combined."""

    keys: wl.TableKeys
    query: bytes
    selections: int
    version: str
    """A version that another shard has already; the table is looked at where it differs."""
    have: str
    """The version of the part that the ingress has from this shard."""
    parts: list[bytes] | None
    """The parts to combine; None asks for a part."""
    done: asyncio.Future[Reply]


def next_pass(jobs: deque[Job]) -> list[Job]:
    """Takes out what is answered together, first come, first served: at least one."""
    taken: list[Job] = []
    selections = 0
    while jobs and (not taken or selections + jobs[0].selections <= TOGETHER):
        job = jobs.popleft()
        if not job.done.done():  # somebody still waits
            taken.append(job)
            selections += job.selections
    return taken


class Shard:
    """A replica of one shard: a block of the table, clients' keys, and one line of work."""

    def __init__(self, index: int, options: Options) -> None:
        wl.set_threads(options.threads)
        self._index, self._of = index, options.shards
        # Only the pages of the block are read: the checksums are of whole pieces.
        self._table = wl.Table.open(options.directory, verify=False)
        self._shard: wl.TableShard | None = self._table.shard(index, options.shards)
        self._looked = time.monotonic()
        self._keys = Shelf(options.key_cache)
        self._line = ThreadPoolExecutor(1, "pass")
        self._parts: deque[Job] = deque()
        self._combined: deque[Job] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._passes = self._selections = 0

    async def part(
        self, name: str, query: bytes, selections: int, versions: tuple[str, str], keys: list[Any]
    ) -> Reply:
        """The part of an answer that this block gives.

        The versions are that of another shard's part, and that of the part which the ingress has
        from this one: it is not made again.
        """
        return await self._wait(name, keys, self._parts, (query, selections, *versions, None))

    async def combine(self, name: str, query: bytes, parts: list[bytes], keys: list[Any]) -> Reply:
        """The answer out of the parts of all shards."""
        return await self._wait(name, keys, self._combined, (query, 1, "", "", parts))

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
        line: deque[Job],
        what: tuple[bytes, int, str, str, list[bytes] | None],
    ) -> Reply:
        loop = asyncio.get_running_loop()
        keys = self._keys.get(name)
        if keys is None:
            if not given:
                return Reply(refused="keys")
            try:
                keys = await loop.run_in_executor(None, self._fetch, name, given[0])
            except ray.exceptions.RayError as error:
                log.warning("the keys %s cannot be fetched: %s", name, error)
                return Reply(refused="unknown-keys", cause=name)
        done: asyncio.Future[Reply] = loop.create_future()
        line.append(Job(keys, *what, done))
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
            jobs = next_pass(line)
            compute = self._combine if line is self._combined else self._answer
            try:
                replies = await loop.run_in_executor(self._line, compute, jobs)
            except Exception as error:
                log.exception("a pass over shard %d failed", self._index)
                replies = [Reply(refused="failed", cause=type(error).__name__)] * len(jobs)
            for job, reply in zip(jobs, replies, strict=True):
                if not job.done.done():
                    job.done.set_result(reply)

    def _answer(self, jobs: list[Job]) -> list[Reply]:
        """One pass."""
        self._look(jobs)
        shard = self._shard
        if shard is None:
            cause = f"the table that is there now is not cut into {self._of} shards"
            return [Reply(refused="failed", cause=cause)] * len(jobs)
        # A part of this version is the same again.
        new = [job for job in jobs if job.have != shard.version]
        self._passes += bool(new)
        self._selections += sum(job.selections for job in new)

        def together(some: list[Job]) -> list[Reply]:
            parts = shard.answer_all([(job.keys, job.query) for job in some])
            return [Reply(part, shard.version) for part in parts]

        made = iter(_each(new, together))
        return [next(made) if job in new else Reply(version=shard.version) for job in jobs]

    def _combine(self, jobs: list[Job]) -> list[Reply]:
        def together(some: list[Job]) -> list[Reply]:
            return [
                Reply(self._table.combine(job.keys, job.query, job.parts or [])) for job in some
            ]

        return _each(jobs, together)

    def _look(self, jobs: list[Job]) -> None:
        """Takes the version of the table that is there now."""
        known = self._shard.version if self._shard is not None else ""
        behind = any(job.version not in ("", known) for job in jobs)
        if not behind and time.monotonic() < self._looked + LOOK:
            return
        self._looked = time.monotonic()
        try:
            if self._table.refresh():
                self._shard = self._table.shard(self._index, self._of)
        except NoShards:
            self._shard = None
        except WindlassError as error:
            log.warning("the table cannot be reopened, so the version before it stays: %s", error)


def _each(jobs: list[Job], together: Callable[[list[Job]], list[Reply]]) -> list[Reply]:
    """Run all jobs together, or each separately if that fails.

    So no job fails because of others.
    """
    try:
        return together(jobs)
    except WindlassError as error:
        if len(jobs) > 1:
            return [_each([job], together)[0] for job in jobs]
        problem = Problem.of(error)
        return [Reply(refused=problem.kind, cause=problem.cause)]

"""Matrix products and lookups over many processes and machines, on Ray.

A matrix is cut into blocks of rows and columns. Workers (Ray actors, one thread each) hold the
blocks with their converted constants. The object store of each node holds one copy of the
evaluation keys. Partial results are added in a tree. ``pip install windlass[ray]``.

>>> import numpy as np, windlass as wl
>>> from windlass.ray import ShardedLinear
>>> context = wl.Context.preset("insecure_toy_256")
>>> W = np.arange(4 * 200).reshape(4, 200) % 7
>>> with ShardedLinear(context, W, workers=2) as sharded:           # doctest: +SKIP
...     client, server = context.generate_keys(sharded)
...     sharded.serve(server)
...     y = sharded @ client.encrypt(sharded.split(np.ones(200, int)))
...     sharded.join(client.decrypt(y))
array([591, 598, 605, 605])
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

import windlass as wl
from windlass.errors import (
    DTypeError,
    FileError,
    FileExists,
    MissingGaloisKey,
    NotBound,
    OtherContext,
    ParameterError,
    ShapeError,
    ValueRangeError,
    WindlassError,
    missing_package,
)

try:
    import ray
except ImportError as _error:
    raise missing_package("ray", "ray") from _error

__all__ = [
    "Progress",
    "ShardedLinear",
    "ShardedLookup",
    "Stream",
    "Worker",
    "WorkerLost",
]

_Array = NDArray[Any]
_Place = tuple[int, int]
_PATIENCE = 20.0
"""Seconds without any step after which the user hears of workers that have no place."""
_Method = TypeVar("_Method", bound=Callable[..., Any])
_Self = TypeVar("_Self", bound="ShardedLinear")


class WorkerLost(WindlassError, RuntimeError):
    """A worker ended more often than it may be replaced."""


class Progress(NamedTuple):
    """One step of a longer work."""

    done: int
    """Steps that are done."""
    total: int
    """All steps."""
    what: str
    """``"plan"`` or ``"constants"``."""
    worker: int
    """The number of the worker that did it."""
    seconds: float
    """What it took there."""


class Worker(NamedTuple):
    """A worker's description of itself."""

    number: int
    node: str
    pid: int
    blocks: list[tuple[int, int]]
    """(row, column) of its blocks."""
    products: int
    """Products with a block since the process began."""
    sums: int
    """Sums of two partial results since then."""
    received: int
    """Bytes of ciphertexts that it was given since then by others."""
    cpu: float
    """Seconds of CPU time that its process has used."""
    rss: int
    """Bytes of memory that the process uses, shared ones as well; 0 where there is no /proc."""
    pss: int
    """The same, where a page that several processes use counts in parts."""
    private: int
    """Those that no other process uses."""


class _Parts(NamedTuple):
    """An encrypted array in the bytes of its ciphertexts, row by row."""

    state: str
    parts: list[_Array]
    shape: tuple[int, ...]
    dtype: str
    flags: tuple[int, bool, bool]

    @classmethod
    def of(cls, x: wl.Ciphertext) -> _Parts:
        """What a pickle of the array holds."""
        _, (state, parts, shape, dtype, flags) = cast(tuple[Any, Any], x.__reduce_ex__(5))
        return cls(state, [np.frombuffer(p, np.uint8) for p in parts], tuple(shape), dtype, flags)

    def ciphertext(self) -> wl.Ciphertext:
        """The array; its bytes are checked as those of a file."""
        state, parts, shape, dtype, flags = self
        return wl._windlass.restore_ciphertext(state, cast(Any, parts), shape, dtype, flags)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)


@dataclass(frozen=True)
class _Keys:
    """Evaluation keys in the object store."""

    name: str
    place: list[Any]
    """The reference, in a list: Ray leaves it to the worker when to read it."""


@dataclass(frozen=True)
class _Block:
    """A block of the matrix, its entries in the object store."""

    place: _Place
    """(row, column) among the blocks."""
    start: tuple[int, int]
    """(row, column) of its first entry in the matrix."""
    columns: int
    """Columns of the whole matrix."""
    entries: list[Any]
    bias: _Array | None


@dataclass(frozen=True)
class _Options:
    """What every block is planned with."""

    strategy: str
    max_keys: int | None
    keys: list[int] | None
    directory: str | None


@dataclass
class _Shelf:
    """The keys that a worker uses, and whose constants are ready."""

    name: str
    server: wl.Server
    prepared: set[_Place] = field(default_factory=set)


def _memory() -> dict[str, int]:
    """Figures of the memory of this process in bytes; none where there is no /proc."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    words = (line.split() for line in lines)
    return {name.rstrip(":"): 1024 * int(size) for name, size, *_ in words}


def _line(name: str) -> Callable[[_Method], _Method]:
    """Where calls of a method wait: sums do not wait for products."""
    return cast(Callable[[_Method], _Method], ray.method(concurrency_group=name))


class _WindlassWorker:
    """One worker: some blocks, their constants, and one server."""

    def __init__(
        self, number: int, context: wl.Context, places: list[_Place], options: _Options
    ) -> None:
        wl.set_threads(1)
        self._number = number
        self._context = context
        self._places = places
        self._options = options
        self._plans: dict[_Place, wl.LinearPlan] = {}
        self._names: dict[_Place, str] = {}
        self._shelf: _Shelf | None = None
        self._adder = context.server_without_keys()
        self._products = 0
        self._sums = 0
        self._received = 0

    def _plan(self, block: _Block) -> wl.LinearPlan:
        place = block.place
        if place in self._plans:
            return self._plans[place]
        options = self._options
        entries = cast(_Array, ray.get(block.entries[0]))
        try:
            plan = self._context.linear(
                entries,
                block.bias,
                strategy=options.strategy,
                max_keys=options.max_keys,
                keys=options.keys,
                # Folded products show parts of their sums to who decrypts.
                folding="never",
            )
        except ValueRangeError as error:
            if "matrix" in str(error):
                row, column = divmod(error.index, entries.shape[1])
                error.index = (block.start[0] + row) * block.columns + block.start[1] + column
            raise
        if options.directory is not None:
            name = hashlib.sha256(repr((entries.shape, entries.dtype.str, options)).encode())
            name.update(self._context.parameters_json().encode())
            name.update(self._context.scheme.encode())
            name.update(np.ascontiguousarray(entries).data)
            self._names[place] = name.hexdigest()[:40]
        self._plans[place] = plan
        return plan

    @_line("products")
    def plan(self, block: _Block) -> tuple[list[int], str, int, float]:
        """Plans a block; gives its keys, its algorithm, its constants and the seconds it took."""
        start = time.perf_counter()
        plan = self._plan(block)
        constants = int(plan.operations()["constants"])
        return plan.required_keys, plan.strategy, constants, time.perf_counter() - start

    def _serve(self, keys: _Keys) -> _Shelf:
        if self._shelf is None or self._shelf.name != keys.name:
            self._shelf = None
            # Memory of the object store, which the server uses where it lies.
            given = ray.get(keys.place[0])
            if not isinstance(given, wl.Server):
                given = self._context.server_from_ready(given)
            self._shelf = _Shelf(keys.name, given)
        return self._shelf

    def _prepare(self, keys: _Keys, block: _Block) -> tuple[wl.LinearPlan, wl.Server]:
        shelf, plan, place = self._serve(keys), self._plan(block), block.place
        if place not in shelf.prepared:
            if self._options.directory is None or not self._map(shelf.server, plan, place):
                plan.prepare(shelf.server, progress=False)
            shelf.prepared.add(place)
        return plan, shelf.server

    def _map(self, server: wl.Server, plan: wl.LinearPlan, place: _Place) -> bool:
        """Maps the constants of a block from its file, which is made if it does not exist."""
        path = Path(cast(str, self._options.directory)) / f"{self._names[place]}.prepared"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                with contextlib.suppress(FileExists):  # another worker here was faster
                    plan.save_prepared(server, path)
                server.forget()
            plan.map_prepared(server, path)
        except FileError as error:
            warnings.warn(f"{path} is not used: {error}", RuntimeWarning, stacklevel=2)
            return False
        return True

    @_line("products")
    def prepare(self, keys: _Keys, block: _Block) -> float:
        """Converts the constants of a block, or maps them; gives the seconds it took."""
        start = time.perf_counter()
        self._prepare(keys, block)
        return time.perf_counter() - start

    @_line("products")
    def multiply(self, keys: _Keys, blocks: list[_Block], *inputs: _Parts) -> _Parts:
        """The sum of the products of blocks of one row with their inputs."""
        total: wl.Ciphertext | None = None
        for block, part in zip(blocks, inputs, strict=True):
            plan, server = self._prepare(keys, block)
            product = plan(server.receive(part.ciphertext()), progress=False)
            total = product if total is None else total + product
            self._products += 1
            self._received += part.nbytes
        assert total is not None, "a worker has a block of each row that it is asked for"
        return _Parts.of(total)

    @_line("sums")
    def add(self, left: _Parts, right: _Parts) -> _Parts:
        """One node of the tree of sums."""
        self._sums += 1
        self._received += right.nbytes
        x, y = (self._adder.receive(part.ciphertext()) for part in (left, right))
        return _Parts.of(x + y)

    @_line("sums")
    def report(self) -> Worker:
        """What it is and has done."""
        memory = _memory()
        private = memory.get("Private_Clean", 0) + memory.get("Private_Dirty", 0)
        return Worker(
            number=self._number,
            node=ray.get_runtime_context().get_node_id(),
            pid=os.getpid(),
            blocks=self._places,
            products=self._products,
            sums=self._sums,
            received=self._received,
            cpu=time.process_time(),
            rss=memory.get("Rss", 0),
            pss=memory.get("Pss", 0),
            private=private,
        )


def _get(references: Any) -> Any:
    """What Ray computed, or the error of the worker as it was raised there."""
    try:
        return ray.get(references)
    except ray.exceptions.RayActorError as error:
        message = f"a worker ended and may not be replaced again (restarts): {error}"
        raise WorkerLost(message) from error
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, WindlassError):
            raise cause from error
        raise


@dataclass
class _Axis:
    """How one side of the matrix is cut."""

    length: int
    size: int
    """Entries of a block; the last may have fewer, or is filled with zeros."""
    count: int
    whole: bool
    """Whether blocks begin where ciphertexts do, so that vectors stay as they are."""

    @classmethod
    def cut(cls, length: int, blocks: int, slots: int) -> _Axis:
        packs = -(-length // slots)
        # Blocks of whole ciphertexts where there are enough of them.
        size = slots * -(-packs // blocks) if blocks <= packs else -(-length // blocks)
        count = -(-length // size)
        return cls(length, size, count, count == 1 or size % slots == 0)

    def range(self, k: int) -> tuple[int, int]:
        return k * self.size, min(self.length, (k + 1) * self.size)

    def span(self, k: int) -> int:
        """Entries of a block, zeros included."""
        start, end = self.range(k)
        return end - start if self.whole else self.size

    def split(self, array: _Array) -> _Array:
        if self.whole:
            return array
        pad = [(0, 0)] * (array.ndim - 1) + [(0, self.count * self.size - self.length)]
        return np.pad(array, pad).reshape(*array.shape[:-1], self.count, self.size)

    def join(self, array: _Array) -> _Array:
        if self.whole:
            return array
        return array.reshape(*array.shape[:-2], -1)[..., : self.length]


def _default_blocks(shape: tuple[int, int], slots: int, workers: int) -> tuple[int, int]:
    """One block for each worker: whole ciphertexts first, then the longer side."""
    packs = [-(-side // slots) for side in shape]
    columns = min(packs[1], workers)
    rows = min(packs[0], -(-workers // columns))
    if rows * columns < workers:
        more = -(-workers // (rows * columns))
        if shape[0] >= shape[1]:
            rows = min(shape[0], rows * more)
        else:
            columns = min(shape[1], columns * more)
    return rows, columns


class ShardedLinear:
    """A matrix over the workers of a Ray cluster: ``sharded @ x`` multiplies an encrypted vector.

    The constructor starts the workers, which plan their blocks. :meth:`serve` gives them keys, and
    they convert their constants. Ray replaces a worker that ends. The new worker plans the blocks
    and converts their constants again, and computes the requests that the old one did not answer.

    Parameters
    ----------
    context : Context
    matrix : array_like, shape (outputs, inputs)
        As of :meth:`windlass.Context.linear`.
    bias : array_like, shape (outputs,), optional
        Added to the product.
    blocks : (int, int), optional
        The number of blocks over (outputs, inputs); by default one block for each worker.
    workers : int, optional
        The number of workers; by default one for each CPU of the cluster, and at most one for each
        block.
    strategy, max_keys, keys
        As of :meth:`windlass.Context.linear`.
    directory : str or os.PathLike, optional
        A directory on the local disk of each machine for files of converted constants. Workers map
        them, so that workers with the same block share one copy in memory.
    cpus_per_worker : float
        The CPUs that Ray reserves for a worker, which computes with one thread.
    restarts : int
        How often a worker may be replaced.

    Raises
    ------
    MissingPackage
        If ray is not installed when the module is imported: ``pip install windlass[ray]``.
    ShapeError, DTypeError, ParameterError
        If `matrix` is not a matrix, or there are more workers than CPUs.

    Examples
    --------
    >>> import numpy as np, windlass as wl
    >>> from windlass.ray import ShardedLinear
    >>> context = wl.Context.preset("insecure_toy_256")
    >>> W = np.arange(4 * 200).reshape(4, 200) % 7
    >>> sharded = ShardedLinear(context, W, workers=2)              # doctest: +SKIP
    >>> client, server = context.generate_keys(sharded)             # doctest: +SKIP
    >>> with sharded.serve(server):                                 # doctest: +SKIP
    ...     y = sharded @ client.encrypt(sharded.split(np.ones(200, int)))
    >>> sharded.join(client.decrypt(y))                             # doctest: +SKIP
    array([591, 598, 605, 605])
    """

    def __init__(
        self,
        context: wl.Context,
        matrix: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        blocks: tuple[int, int] | None = None,
        workers: int | None = None,
        strategy: str = "automatic",
        max_keys: int | None = None,
        keys: Sequence[int] | None = None,
        directory: str | os.PathLike[str] | None = None,
        cpus_per_worker: float = 1.0,
        restarts: int = 8,
    ) -> None:
        entries = np.asarray(matrix)
        if entries.ndim != 2 or 0 in entries.shape:
            message = "a matrix must have the shape (outputs, inputs), with at least one of each"
            raise ShapeError(f"{message}, not {entries.shape}")
        if entries.dtype == object or entries.dtype.kind not in "iufcb":
            raise DTypeError(f"the entries of a matrix must be numbers, not {entries.dtype}")
        own = None if bias is None else np.asarray(bias)
        if own is not None and own.shape != (entries.shape[0],):
            message = (
                f"the bias of a matrix with {entries.shape[0]} rows must have one entry for each"
            )
            raise ShapeError(f"{message}, not the shape {own.shape}")
        shape = (int(entries.shape[0]), int(entries.shape[1]))
        count = _workers(workers, cpus_per_worker)
        cuts = _default_blocks(shape, context.slots, count) if blocks is None else blocks
        if len(cuts) != 2 or any(n < 1 or n > side for n, side in zip(cuts, shape, strict=True)):
            message = f"blocks=(rows, columns) must be at least 1 and at most {shape}"
            raise ParameterError(f"{message}, not {cuts}")
        self._context, self._shape, self._cpus = context, shape, cpus_per_worker
        self._rows = _Axis.cut(shape[0], cuts[0], context.slots)
        self._columns = _Axis.cut(shape[1], cuts[1], context.slots)
        places = [(i, j) for i in range(self._rows.count) for j in range(self._columns.count)]
        count = min(count, len(places))
        options = _Options(
            strategy,
            max_keys,
            None if keys is None else [int(key) for key in keys],
            None if directory is None else os.path.abspath(directory),
        )
        shared = [self._block(entries, own, i, j) for i, j in places]
        bounds = [len(places) * k // count for k in range(count + 1)]
        self._own = [shared[bounds[k] : bounds[k + 1]] for k in range(count)]
        actor = ray.remote(concurrency_groups={"products": 1, "sums": 1})(_WindlassWorker).options(
            num_cpus=cpus_per_worker,
            max_restarts=restarts,
            max_task_retries=restarts,
            scheduling_strategy="SPREAD",
        )
        self._workers = [
            actor.remote(k, context, [block.place for block in blocks], options)
            for k, blocks in enumerate(self._own)
        ]
        self._keys: _Keys | None = None
        self._needs: list[int] | None = None
        self._facts: dict[tuple[int, int], tuple[list[int], str, int, float]] = {}
        self._start("plan")

    def _block(self, entries: _Array, bias: _Array | None, i: int, j: int) -> _Block:
        (top, bottom), (left, right) = self._rows.range(i), self._columns.range(j)
        own = entries[top:bottom, left:right]
        height, width = self._rows.span(i), self._columns.span(j)
        own = np.pad(own, [(0, height - own.shape[0]), (0, width - own.shape[1])])
        part = None
        if bias is not None and j == 0:
            part = np.pad(bias[top:bottom], (0, height - (bottom - top)))
        return _Block((i, j), (top, left), entries.shape[1], [ray.put(own)], part)

    # Work that takes long: one list of jobs at a time.

    def _start(self, what: str) -> None:
        self._what = what
        self._jobs: dict[Any, tuple[int, _Block]] = {}
        for number, (worker, blocks) in enumerate(zip(self._workers, self._own, strict=True)):
            for block in blocks:
                if what == "plan":
                    job = worker.plan.remote(block)
                else:
                    job = worker.prepare.remote(self._keys, block)
                self._jobs[job] = (number, block)
        self._count = len(self._jobs)

    def progress(self) -> Iterator[Progress]:
        """Wait for the workers and report their progress.

        After the constructor these are the plans of the blocks, after :meth:`serve` their
        constants. All other methods wait automatically.

        Yields
        ------
        Progress
            One for each block when it is done.

        Raises
        ------
        WindlassError
            The error of a worker, such as :class:`~windlass.errors.ValueRangeError` for an entry.
        """
        while self._jobs:
            ready, _ = ray.wait(list(self._jobs), num_returns=1, timeout=_PATIENCE)
            if not ready:
                self._warn()
                continue
            job = ready[0]
            number, block = self._jobs[job]
            value = _get(job)
            del self._jobs[job]
            seconds = value
            if self._what == "plan":
                self._facts[block.place] = value
                seconds = value[3]
            done = self._count - len(self._jobs)
            yield Progress(done, self._count, self._what, number, seconds)

    def _warn(self) -> None:
        """Says so where nothing happens since workers have no place to start in."""
        free = float(ray.available_resources().get("CPU", 0))
        if not self._facts and free < self._cpus:
            message = f"workers wait for {self._cpus:g} CPUs each, and {free:g} are free"
            hint = "free some, or choose fewer workers or a smaller cpus_per_worker"
            warnings.warn(f"{message}: {hint}", RuntimeWarning, stacklevel=3)

    def _finish(self) -> None:
        for _ in self.progress():
            pass

    @property
    def required_keys(self) -> list[int]:
        """The automorphisms of all blocks that need Galois keys, in increasing order."""
        if self._needs is None:
            self._finish()
            self._needs = sorted({key for keys, *_ in self._facts.values() for key in keys})
        return self._needs

    def __windlass_needs__(self) -> wl.Keys:
        """What ``context.generate_keys(sharded)`` makes keys for."""
        return self._context.keys(self.required_keys)

    def serve(self: _Self, server: wl.Server) -> _Self:
        """Put evaluation keys into the object store and let workers convert their constants.

        Parameters
        ----------
        server : Server
            The server whose keys are used. They are copied once, in their memory layout. Each node
            reads them once, and its workers share that copy. A later call replaces the server.

        Returns
        -------
        ShardedLinear
            This object. :meth:`progress` reports the conversion of the constants.

        Raises
        ------
        OtherContext
            If the server belongs to another context.
        MissingGaloisKey
            If the server lacks keys that a block needs. Nothing is changed then.
        """
        if server.context != self._context:
            raise OtherContext(f"the server belongs to another context: {server.context!r}")
        missing = sorted(set(self.required_keys) - set(server.galois_elements))
        if missing:
            message = f"the server lacks {len(missing)} of the Galois keys that the blocks need"
            hint = "context.generate_keys(sharded) makes them"
            raise MissingGaloisKey(
                f"{message}: {hint}",
                needed_by="sharded matrix product",
                elements=missing,
                relinearisation=False,
                bootstrappings=0,
                level=0,
            )
        self._finish()
        some = bool(server.galois_elements) or server.relinearisation
        reference = ray.put(server.ready_bytes() if some else server)
        self._keys = _Keys(secrets.token_hex(8), [reference])
        self._start("constants")
        return self

    # Queries.

    def split(self, x: ArrayLike) -> _Array:
        """Arrange a vector for encryption. The client calls this in the clear.

        Parameters
        ----------
        x : array_like, shape (..., inputs)

        Returns
        -------
        numpy.ndarray
            The array to encrypt, of shape (..., *query_shape): `x` itself if blocks hold whole
            ciphertexts, otherwise (..., column blocks, width), padded with zeros.

        Raises
        ------
        ShapeError
        """
        array = np.asarray(x)
        if array.ndim == 0 or array.shape[-1] != self._shape[1]:
            raise ShapeError(f"vectors of {self._shape[1]} entries are expected, not {array.shape}")
        return self._columns.split(array)

    def join(self, y: ArrayLike) -> _Array:
        """Read the answer from the decrypted array. The client calls this in the clear.

        Parameters
        ----------
        y : array_like
            The array ``client.decrypt(answer)``.

        Returns
        -------
        numpy.ndarray, shape (..., outputs)
        """
        array = np.asarray(y)
        shape = self.answer_shape
        if array.shape[array.ndim - len(shape) :] != shape:
            raise ShapeError(f"answers have the shape {shape}, not {array.shape}")
        return self._rows.join(array)

    @property
    def shape(self) -> tuple[int, int]:
        """(outputs, inputs)."""
        return self._shape

    @property
    def blocks(self) -> tuple[int, int]:
        """(row blocks, column blocks)."""
        return self._rows.count, self._columns.count

    @property
    def query_shape(self) -> tuple[int, ...]:
        """The shape of an encrypted query: (inputs,), or (column blocks, width)."""
        axis = self._columns
        return (axis.length,) if axis.whole else (axis.count, axis.size)

    @property
    def answer_shape(self) -> tuple[int, ...]:
        """The shape of an encrypted answer: (outputs,), or (row blocks, height)."""
        axis = self._rows
        return (axis.length,) if axis.whole else (axis.count, axis.size)

    @property
    def context(self) -> wl.Context:
        """The context."""
        return self._context

    def _cut(self, x: wl.Ciphertext) -> tuple[list[Any], tuple[int, ...]]:
        """The ciphertexts of each column block in the object store, and leading dimensions."""
        if not isinstance(x, wl.Ciphertext):
            raise DTypeError("sharded @ x needs an encrypted vector: sharded @ client.encrypt(x)")
        if x.context != self._context:
            raise OtherContext(f"the query belongs to another context: {x.context!r}")
        shape, tail = tuple(x.shape), self.query_shape
        lead = shape[: max(0, len(shape) - len(tail))]
        if shape[len(lead) :] != tail:
            hint = "" if self._columns.whole else ": encrypt sharded.split(x)"
            raise ShapeError(f"queries have the shape {tail}, and this one {shape}{hint}")
        given, axis = _Parts.of(x), self._columns
        _, elements, clean = given.flags
        rows = int(np.prod(lead, dtype=int))
        each = len(given.parts) // rows
        references, begin = [], 0
        for j in range(axis.count):
            width = axis.span(j)
            packs = -(-width // self._context.slots)
            own = [
                part
                for row in range(rows)
                for part in given.parts[row * each + begin : row * each + begin + packs]
            ]
            begin += packs
            part = given._replace(parts=own, shape=(*lead, width), flags=(width, elements, clean))
            references.append(ray.put(part))
        return references, lead

    def _submit(self, x: wl.Ciphertext) -> _Pending:
        """Starts the products and sums of a query."""
        if self._keys is None:
            raise NotBound("the workers have no keys: call sharded.serve(server) first")
        self._finish()
        inputs, lead = self._cut(x)
        partial: dict[int, list[tuple[int, Any]]] = {i: [] for i in range(self._rows.count)}
        for number, blocks in enumerate(self._own):
            for i in sorted({block.place[0] for block in blocks}):
                mine = [block for block in blocks if block.place[0] == i]
                parts = [inputs[block.place[1]] for block in mine]
                product = self._workers[number].multiply.remote(self._keys, mine, *parts)
                partial[i].append((number, product))
        return _Pending([self._sum(partial[i]) for i in range(self._rows.count)], lead)

    def _sum(self, partial: list[tuple[int, Any]]) -> Any:
        """A tree of sums, each by the worker that has the left summand."""
        while len(partial) > 1:
            pairs = zip(partial[::2], partial[1::2], strict=False)
            level = [
                (a, self._workers[a].add.remote(left, right)) for (a, left), (_, right) in pairs
            ]
            partial = level + partial[len(level) * 2 :]
        return partial[0][1]

    def _collect(self, pending: _Pending) -> wl.Ciphertext:
        """The answer of a query, when it is there."""
        rows = cast(list[_Parts], _get(pending.rows))
        if len(rows) == 1:
            return rows[0].ciphertext()
        count = int(np.prod(pending.lead, dtype=int))
        parts = []
        for k in range(count):
            for row in rows:
                each = len(row.parts) // count
                parts += row.parts[k * each : (k + 1) * each]
        clean = all(row.flags[2] for row in rows)
        flags = (self.answer_shape[-1], rows[0].flags[1], clean)
        shape = (*pending.lead, *self.answer_shape)
        return rows[0]._replace(parts=parts, shape=shape, flags=flags).ciphertext()

    def __call__(self, x: wl.Ciphertext) -> wl.Ciphertext:
        """Multiply an encrypted vector, or every row of an encrypted array, by the matrix.

        Parameters
        ----------
        x : Ciphertext
            ``client.encrypt(sharded.split(x))``: of shape (..., *query_shape).

        Returns
        -------
        Ciphertext
            Of shape (..., *answer_shape): ``sharded.join(client.decrypt(y))``.

        Raises
        ------
        NotBound
            If :meth:`serve` was not called.
        ShapeError, OtherContext, DTypeError, OtherKeyPair
            If the ciphertext has another shape, context, dtype or key pair.
        WorkerLost
            If a worker ended more often than it may be replaced.
        """
        return self._collect(self._submit(x))

    def __matmul__(self, x: wl.Ciphertext) -> wl.Ciphertext:
        """The product with one encrypted vector."""
        return self(x)

    def stream(self, queries: Iterable[wl.Ciphertext], *, in_flight: int = 4) -> Stream:
        """Compute the answers to many queries in their order, a few at the same time.

        Parameters
        ----------
        queries : iterable of Ciphertext
            The queries. The next one is taken when there is room for it.
        in_flight : int
            The maximum number of queries whose answers have not been taken. It bounds the memory.

        Returns
        -------
        Stream
            An iterator of Ciphertext, which also reports its progress.

        Raises
        ------
        ParameterError
            If ``in_flight`` is below 1.
        """
        return Stream(self, queries, in_flight)

    # The cluster.

    def workers(self) -> list[Worker]:
        """Ask the workers for their state.

        Returns
        -------
        list of Worker
        """
        return cast(list[Worker], _get([worker.report.remote() for worker in self._workers]))

    def explain(self) -> str:
        """Describe how the matrix is cut and planned."""
        keys = self.required_keys
        (rows, columns), (height, width) = self.blocks, (self._rows.size, self._columns.size)
        lines = [
            f"{self._shape[0]} x {self._shape[1]} in {rows} x {columns} blocks of at most "
            f"{height} x {width} over {len(self._workers)} workers, {len(keys)} keys"
        ]
        for number, blocks in enumerate(self._own):
            for block in blocks:
                own, strategy, constants, seconds = self._facts[block.place]
                lines.append(
                    f"  worker {number}: block {block.place}, {strategy}, "
                    f"{len(own)} keys, {constants} constants, planned in {seconds:.2f} s"
                )
        return "\n".join(lines)

    def close(self) -> None:
        """End the workers and free the memory of keys and constants."""
        for worker in self._workers:
            ray.kill(worker, no_restart=True)
        self._workers, self._own, self._jobs, self._keys = [], [], {}, None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        rows, columns = self.blocks
        return (
            f"<windlass.ray.{type(self).__name__} {self._shape}, {rows} x {columns} blocks, "
            f"{len(self._workers)} workers>"
        )


class _Pending(NamedTuple):
    """A query that is under way."""

    rows: list[Any]
    lead: tuple[int, ...]


class Stream:
    """Answers in the order of their queries; see :meth:`ShardedLinear.stream`."""

    def __init__(
        self, sharded: ShardedLinear, queries: Iterable[wl.Ciphertext], in_flight: int
    ) -> None:
        if in_flight < 1:
            raise ParameterError(f"in_flight must be at least 1, not {in_flight}")
        self._sharded, self._queries, self._limit = sharded, iter(queries), in_flight
        self._pending: deque[_Pending] = deque()
        self._more = True
        self.done = 0
        """Answers that were given."""
        self.submitted = 0
        """Queries that were taken."""

    @property
    def in_flight(self) -> int:
        """Queries whose answers have not been given yet."""
        return len(self._pending)

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> wl.Ciphertext:
        while self._more and len(self._pending) < self._limit:
            try:
                query = next(self._queries)
            except StopIteration:
                self._more = False
                break
            self._pending.append(self._sharded._submit(query))
            self.submitted += 1
        if not self._pending:
            raise StopIteration
        answer = self._sharded._collect(self._pending.popleft())
        self.done += 1
        return answer


class ShardedLookup(ShardedLinear):
    """Look up rows of an integer table with an encrypted vector.

    The workers do not learn which rows. The matrix is the transposed table: ``table.T @
    onehot`` is the chosen row.

    Parameters
    ----------
    context : Context
    table : array_like of int, shape (rows, fields)
    **options
        As of :class:`ShardedLinear`, except the bias.

    Examples
    --------
    >>> import numpy as np, windlass as wl
    >>> from windlass.ray import ShardedLookup
    >>> context = wl.Context.preset("insecure_toy_256")
    >>> table = np.arange(1000).reshape(200, 5) % 100
    >>> lookup = ShardedLookup(context, table, workers=2)           # doctest: +SKIP
    >>> client, server = context.generate_keys(lookup)              # doctest: +SKIP
    >>> with lookup.serve(server):                                  # doctest: +SKIP
    ...     answer = lookup @ client.encrypt(lookup.select(41))
    >>> lookup.join(client.decrypt(answer))                         # doctest: +SKIP
    array([5, 6, 7, 8, 9])
    """

    def __init__(self, context: wl.Context, table: ArrayLike, **options: Any) -> None:
        entries = np.asarray(table)
        if entries.dtype.kind not in "iu":
            raise DTypeError(f"the entries of a table must be integers, not {entries.dtype}")
        if entries.ndim != 2:
            raise ShapeError(f"a table must have the shape (rows, fields), not {entries.shape}")
        super().__init__(context, entries.T, **options)

    def select(self, rows: int | Sequence[int]) -> _Array:
        """Make the vector to encrypt for each row: a 1 at the row and zeros elsewhere.

        The client calls this in the clear.

        Parameters
        ----------
        rows : int or sequence of int

        Returns
        -------
        numpy.ndarray
            Of shape (*query_shape,) for one row, (len(rows), *query_shape) for several.

        Raises
        ------
        ParameterError
            If the table does not have a row.
        """
        count = self.shape[1]
        chosen = np.asarray(rows)
        if chosen.dtype.kind not in "iu" or chosen.ndim > 1 or chosen.size == 0:
            raise DTypeError("rows must be numbers of rows")
        if chosen.min() < 0 or chosen.max() >= count:
            raise ParameterError(f"rows must be from 0 to {count - 1}, not {rows}")
        onehot = np.zeros((*chosen.shape, count), np.int64)
        np.put_along_axis(onehot, chosen[..., np.newaxis], 1, axis=-1)
        return self.split(onehot)


def _workers(workers: int | None, cpus: float) -> int:
    """The number of workers, which the cluster must have CPUs for."""
    if workers is not None and workers < 1:
        raise ParameterError(f"workers must be at least 1, not {workers}")
    if cpus < 0:
        raise ParameterError(f"cpus_per_worker must be at least 0, not {cpus}")
    if not ray.is_initialized():
        ray.init()
    there = float(ray.cluster_resources().get("CPU", 0))
    most = int(there / cpus) if cpus > 0 else max(1, int(there))
    if workers is None:
        workers = max(1, most)
    if workers * cpus > there:
        message = (
            f"{workers} workers of {cpus} CPUs each do not fit the {there:g} CPUs of the cluster"
        )
        raise ParameterError(f"{message}: ask for fewer workers, or a smaller cpus_per_worker")
    return workers

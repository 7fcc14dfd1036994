"""A table as a service over several machines, on Ray Serve.

Each shard holds a block of the columns of the table, mapped from a directory that all machines can
read, and has any number of replicas. An ingress implements the protocol of ``windlass serve``, so
its clients are :class:`windlass.LookupService` and ``windlass ask``. ``pip install
windlass[serve]``.

The ingress is one process. If it ends, the requests that it is processing fail with status 500, and
clients upload their keys again automatically.

>>> from ray import serve
>>> from windlass.serve import application
>>> app = application("served", shards=2, replicas=2)               # doctest: +SKIP
>>> _ = serve.run(app)                                              # doctest: +SKIP
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import windlass as wl
from windlass.errors import DTypeError, HiddenKeysError, ParameterError, missing_package

try:
    from ray import serve
except ImportError as _error:
    raise missing_package("ray[serve]", "serve") from _error

from windlass._gate import Tokens, listed, whole_quota
from windlass._ingress import BODIES, Guard, Ingress
from windlass._shards import TOGETHER, Options, Shard

__all__ = ["application"]

_QUICK = 64
"""Requests without a body at the same time, for which there is always room."""


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
    bodies: int = 256 << 20,
    answer_seconds: float = 60.0,
    body_seconds: float = 30.0,
    oprf_key: str | os.PathLike[str] | None = None,
    tokens: Tokens | None = None,
    quota: int | None = None,
) -> Any:
    """Make a service for a table over several machines: an application for ``ray.serve.run``.

    Parameters
    ----------
    directory : str or os.PathLike
        The directory of the table, with the same path on every machine. The table may change while
        it is served.
    shards : int
        The number of blocks that the table is cut into.
    replicas : int
        Processes for each shard. If one ends during a query, the query is repeated on another
        one, or on the one with which Ray replaces it.
    threads : int
        Threads of each process.
    cpus_per_replica : float, optional
        The CPUs that Ray reserves for a replica; by default as many as it has threads.
    key_cache : int
        Bytes of evaluation keys of clients in each process. The least recently used keys are
        removed first.
    rows, queue : int
        The maximum number of rows in one query, and of selections that wait at the same time.
    bodies : int
        The maximum bytes of keys and queries that the ingress reads at the same time.
    answer_seconds, body_seconds : float
        Seconds for an answer, including the time in the queue, and for a body to arrive.
    oprf_key : str or os.PathLike, optional
        The file of the OPRF key of the table, if its keys are hidden. The ingress reads the file
        itself, so that the key is never sent between processes: the file must be readable under
        this path on every machine on which Ray may start the ingress.

        **Warning.** With every point, a client can test one guess of a table key. To limit
        guesses, give a `quota`.
    tokens : mapping of str to str, optional
        Tokens by the name of their client, as for :class:`windlass.TableServer`. By default every
        client may ask.
    quota : int, optional
        The maximum number of portions of rows that each client may ask for in a minute, as for
        :class:`windlass.TableServer`. It is counted in the ingress, and a new ingress starts with
        full quotas.

    Returns
    -------
    ray.serve.Application

    Raises
    ------
    MissingPackage
        If Ray Serve is not installed when the module is imported: ``pip install windlass[serve]``.
    NoShards
        If the table cannot be cut into that number of blocks; ``possible`` lists the possible
        numbers.
    ParameterError
        If a number is not positive.
    DTypeError
        If `oprf_key` is not a path. (An :class:`windlass.OprfKey` cannot be sent to other
        processes.)
    HiddenKeysError
        If the keys of the table are hidden and `oprf_key` is missing or another key, or if they are
        not hidden and `oprf_key` is given.
    MissingFile, FileError
        If the directory does not hold a table, or the file does not hold an OPRF key.

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
    numbers = (shards, threads, key_cache, rows, queue, bodies)
    seconds = (float(answer_seconds), float(body_seconds))
    if not all(number > 0 for number in (replicas, *numbers, *seconds)):
        raise ParameterError("the limits of a service must be positive")
    place = str(Path(directory).absolute())
    table = wl.Table.open(place, verify=False)
    guard = Guard(_oprf_file(table, oprf_key), listed(tokens), whole_quota(quota))
    table.shard(0, shards)
    options = Options(place, *numbers, *seconds)
    shard = serve.deployment(Shard).options(
        num_replicas=replicas,
        ray_actor_options={"num_cpus": threads if cpus_per_replica is None else cpus_per_replica},
        # What waits at a replica is answered together.
        max_ongoing_requests=8 * TOGETHER,
        health_check_period_s=1.0,
        health_check_timeout_s=30.0,
    )
    blocks = [shard.options(name=f"shard-{i}").bind(i, options) for i in range(shards)]
    # All that wait, for a body or for an answer, leave some places free.
    places = queue + BODIES + _QUICK
    ingress = serve.deployment(Ingress).options(
        name="ingress", ray_actor_options={"num_cpus": 0}, max_ongoing_requests=places
    )
    return ingress.bind(options, guard, *blocks)


def _oprf_file(table: wl.Table, given: str | os.PathLike[str] | None) -> str | None:
    """The file of the key that hides the keys of a table, which it must."""
    if given is None:
        if table.hides_keys:
            raise HiddenKeysError(
                "the keys of this table are hidden: give the file of the OPRF key that hides them "
                "(oprf_key=PATH)"
            )
        return None
    if not isinstance(given, (str, os.PathLike)):
        raise DTypeError(
            f"oprf_key must be the path of a file, not {type(given).__name__}: an OPRF key is not "
            "sent to other processes; save it with key.save(path)"
        )
    place = str(Path(given).absolute())
    table.check_oprf_key(wl.OprfKey.load(place))
    return place

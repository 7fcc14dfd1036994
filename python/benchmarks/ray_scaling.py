"""What Ray workers give, measured here: seconds, bytes, memory of keys, a killed worker. JSON.

Run with ``python python/benchmarks/ray_scaling.py``; ``--small`` takes seconds. Every answer is
compared with NumPy's before its time counts. Runs with one and with two workers alternate, and the
best of each counts, since other work on the machine only ever adds time; the load is in the output.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import windlass as wl

QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
}


def load() -> float:
    """Processes that want to run, on average over the last minute."""
    return round(os.getloadavg()[0], 1)


def check(sharded: Any, client: wl.Client, answer: wl.Ciphertext, wanted: NDArray[Any]) -> None:
    """Ends the program for a wrong answer."""
    got = sharded.join(client.decrypt(answer, dtype="uint64"))
    if not np.array_equal(got, wanted % sharded.context.modulus):
        sys.exit("wrong answer: nothing is measured")


def measure_scaling(
    context: wl.Context, W: NDArray[Any], blocks: tuple[int, int], rounds: int
) -> dict[str, Any]:
    """One query and a stream of queries, with one worker and with two."""
    from windlass.ray import ShardedLinear

    rng = np.random.default_rng(2)
    X = rng.integers(-9, 10, (4, W.shape[1]))
    start = time.perf_counter()
    teams = {n: ShardedLinear(context, W, blocks=blocks, workers=n) for n in (1, 2)}
    client, server = context.generate_keys(teams[1], progress=False)
    planned = time.perf_counter() - start
    queries = [client.encrypt(teams[1].split(x)) for x in X]
    for team in teams.values():
        team.serve(server)
        check(team, client, team(queries[0]), X[0] @ W.T)
    one = {n: float("inf") for n in teams}
    many, local = dict(one), float("inf")
    loads = [load()]
    for turn in range(rounds):
        for n, team in teams.items():
            start = time.perf_counter()
            answer = team(queries[1])
            one[n] = min(one[n], time.perf_counter() - start)
            check(team, client, answer, X[1] @ W.T)
            if turn % 4:
                continue
            start = time.perf_counter()
            answers = list(team.stream(queries, in_flight=4))
            many[n] = min(many[n], (time.perf_counter() - start) / len(queries))
            for x, answer in zip(X, answers, strict=True):
                check(team, client, answer, x @ W.T)
        loads.append(load())
    # What the driver does by itself for a query: cutting, and putting the answer together.
    before = {n: team.workers() for n, team in teams.items()}
    for n, team in teams.items():
        check(team, client, team(queries[1]), X[1] @ W.T)
        start = time.process_time()
        team(queries[1])
        local = min(local, time.process_time() - start)
        assert n == len(team.workers())
    after = {n: team.workers() for n, team in teams.items()}
    cpu = {
        n: [round((b.cpu - a.cpu) / 2, 4) for a, b in zip(before[n], after[n], strict=True)]
        for n in teams
    }
    received = {
        n: sum(b.received - a.received for a, b in zip(before[n], after[n], strict=True)) // 2
        for n in teams
    }
    figures = {
        "planned_seconds": round(planned, 2),
        "loads": [min(loads), max(loads)],
        "rounds": rounds,
        "seconds_one_query": {n: round(t, 4) for n, t in one.items()},
        "seconds_each_of_four": {n: round(t, 4) for n, t in many.items()},
        "speedup_one_query": round(one[1] / one[2], 3),
        "speedup_each_of_four": round(many[1] / many[2], 3),
        "cpu_seconds_of_workers": cpu,
        "cpu_seconds_of_driver": round(local, 4),
        "speedup_by_cpu": round(cpu[1][0] / max(cpu[2]), 3),
        "bytes": {
            "query": len(queries[0].__reduce_ex__(5)[1][1]) * part_bytes(queries[0]),
            "answer": part_bytes(answers[0]) * answers[0].ciphertexts,
            "received_by_workers": received,
        },
    }
    for team in teams.values():
        team.close()
    return figures


def part_bytes(x: wl.Ciphertext) -> int:
    """Bytes of one ciphertext of an array."""
    return int(np.frombuffer(x.__reduce_ex__(5)[1][1][0], np.uint8).nbytes)


def measure_overhead(context: wl.Context, columns: int, blocks: int) -> dict[str, Any]:
    """What a query costs beside its products, each the best of 200: seconds."""
    import ray

    from windlass.ray import ShardedLinear, _Parts

    class Echo:
        def echo(self, x: int) -> int:
            return x

    def best(work: Callable[[], object]) -> float:
        times = []
        for _ in range(200):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return round(min(times), 6)

    # A matrix without constants to speak of: its queries and answers are those of any other.
    W = np.zeros((1, columns), dtype=np.int64)
    W[0, 0] = 1
    with ShardedLinear(context, W, blocks=(1, blocks), workers=1) as sharded:
        client, server = context.generate_keys(sharded, context.products(), progress=False)
        x = client.encrypt(sharded.split(np.arange(columns)))
        answer = server.receive(x[0])
        parts = _Parts.of(answer)

        def add() -> _Parts:
            left, right = (server.receive(part.ciphertext()) for part in (parts, parts))
            return _Parts.of(left + right)

        echo: Any = ray.remote(num_cpus=0)(Echo).remote()
        return {
            "cut_and_put": best(lambda: sharded._cut(x)),
            "read_answer": best(parts.ciphertext),
            "sum": best(add),
            "call": best(lambda: ray.get(echo.echo.remote(1))),
        }


def measure_keys(context: wl.Context, elements: list[int], workers: int) -> dict[str, Any]:
    """Memory of evaluation keys in the workers of one node; their matrices need none."""
    from windlass.ray import ShardedLinear

    W = np.eye(2 * workers, dtype=np.int64)
    with ShardedLinear(context, W, blocks=(workers, 1), workers=workers) as sharded:
        circuits = (sharded, context.keys(elements))
        client, server = context.generate_keys(*circuits, progress=False)
        before = sharded.workers()
        start = time.perf_counter()
        sharded.serve(server)
        put = time.perf_counter() - start
        for _ in sharded.progress():
            pass
        seconds = time.perf_counter() - start
        check(
            sharded, client, sharded(client.encrypt(np.arange(2 * workers))), np.arange(2 * workers)
        )
        pairs = list(zip(before, sharded.workers(), strict=True))
        return {
            "workers": workers,
            "one_copy": server.nbytes,
            "rss_grown": [b.rss - a.rss for a, b in pairs],
            "private_grown": [b.private - a.private for a, b in pairs],
            "copies": round(
                1 + sum(max(0, b.private - a.private) for a, b in pairs) / server.nbytes, 2
            ),
            "seconds_put": round(put, 3),
            "seconds_put_and_checked": round(seconds, 3),
        }


def measure_kill(
    context: wl.Context,
    W: NDArray[Any],
    blocks: tuple[int, int],
    directory: str | None,
    repeats: int,
) -> dict[str, Any]:
    """Seconds from a killed worker, in the middle of a query, to the right answer."""
    from windlass.ray import ShardedLinear

    x = np.random.default_rng(3).integers(-9, 10, W.shape[1])
    times = []
    with ShardedLinear(context, W, blocks=blocks, workers=2, directory=directory) as sharded:
        client, server = context.generate_keys(sharded, progress=False)
        planned = sharded.explain().splitlines()[1:]
        constants = [step.seconds for step in sharded.serve(server).progress()]
        query = client.encrypt(sharded.split(x))
        check(sharded, client, sharded(query), x @ W.T)
        for _ in range(repeats):
            start = time.perf_counter()
            check(sharded, client, sharded(query), x @ W.T)
            usual = time.perf_counter() - start
            victim = sharded.workers()[0].pid
            stream = sharded.stream([query] * 2, in_flight=2)
            next(stream)  # the second is at work now
            os.kill(victim, signal.SIGKILL)
            start = time.perf_counter()
            check(sharded, client, next(stream), x @ W.T)
            # Whether it was in time for that query or not: the next one needs the new worker.
            check(sharded, client, sharded(query), x @ W.T)
            seconds = time.perf_counter() - start
            if sharded.workers()[0].pid == victim:
                sys.exit("the worker was not replaced: nothing is measured")
            times.append({"seconds": round(seconds, 2), "usual": round(usual, 3), "load": load()})
    return {
        "times": times,
        "constants_seconds": [round(seconds, 2) for seconds in constants],
        "blocks": planned,
    }


def measure(small: bool, most: int, part: str, cuts: int) -> dict[str, Any]:
    """Everything, or one part of it."""
    os.environ.update(QUIET)
    import ray

    ray.init(
        num_cpus=8,  # what Ray counts; two workers compute at a time
        object_store_memory=600 << 20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
    )
    try:
        width = 32 if small else 256
        rows, columns, blocks = width // 2 if small else width, cuts * width, (1, cuts)
        rounds = 2 if small else most
        context = wl.Context.plan(modulus=65537, depth=1)
        W = np.random.default_rng(1).integers(-9, 10, (rows, columns))
        result: dict[str, Any] = {
            "command": " ".join(["python python/benchmarks/ray_scaling.py", *sys.argv[1:]]),
            "cores": os.cpu_count(),
            "ray": ray.__version__,
            "context": repr(context),
            "matrix": [rows, columns],
            "blocks": list(blocks),
        }
        if part in ("all", "scaling"):
            result["scaling"] = measure_scaling(context, W, blocks, rounds)
        if part in ("all", "overhead"):
            result["overhead_seconds"] = measure_overhead(context, columns, blocks[1])
        if part in ("all", "keys"):
            elements = context.linear(W[:, : columns // blocks[1]]).required_keys
            teams = [measure_keys(context, elements, n) for n in (1, 2, 4)]
            result["keys_on_a_node"] = teams
        if part in ("all", "killed"):
            with tempfile.TemporaryDirectory() as directory:
                result["killed"] = {
                    "converted_again": measure_kill(context, W, blocks, None, 1 if small else 2),
                    "constants_mapped": measure_kill(
                        context, W, blocks, directory, 1 if small else 2
                    ),
                }
        return result
    finally:
        ray.shutdown()


def main() -> None:
    """Measures, and prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--rounds", type=int, default=12, help="runs of which the best counts")
    parser.add_argument(
        "--part", choices=["all", "scaling", "overhead", "keys", "killed"], default="all"
    )
    parser.add_argument("--blocks", type=int, default=2, help="of 256 x 256, in one row")
    arguments = parser.parse_args()
    # What Ray says of workers that end goes elsewhere.
    with contextlib.redirect_stdout(sys.stderr):
        result = measure(arguments.small, arguments.rounds, arguments.part, arguments.blocks)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

"""What shards of a table give on Ray Serve, measured here. JSON.

Run with ``python python/benchmarks/serve_scaling.py``; ``--small`` takes a minute. Services with
one and with two shards of one thread each stand side by side and are asked in turn: queries a
second, and processor time of the shards. Queries are made before. Answers are compared with those
of one machine, bit for bit, after the time was taken. Medians count, and the load is in the output.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import windlass as wl

QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
}
PORT = 8799


def load() -> float:
    """Processes that want to run, on average over the last minute."""
    return round(os.getloadavg()[0], 1)


def send(method: str, path: str, body: bytes) -> bytes:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=300)
    connection.request(method, path, body)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    if response.status >= 300:
        sys.exit(f"{method} {path}: {response.status} {data[:300]!r}")
    return data


def measure(shards: int, ask: Callable[[int], bytes], count: int, together: int) -> dict[str, Any]:
    """Asks `count` queries, `together` at a time."""
    from ray import serve

    name = f"cut-{shards}"
    handles = [serve.get_deployment_handle(f"shard-{i}", name) for i in range(shards)]

    def reports() -> list[dict[str, Any]]:
        return [handle.report.remote().result() for handle in handles]

    before, start = reports(), time.perf_counter()
    with ThreadPoolExecutor(together) as clients:
        answers = list(clients.map(ask, range(count)))
    seconds = time.perf_counter() - start
    after = reports()
    used = [b["cpu"] - a["cpu"] for a, b in zip(before, after, strict=True)]
    passes = sum(b["passes"] - a["passes"] for a, b in zip(before, after, strict=True))
    return {
        "answers": answers,
        "queries_per_second": count / seconds,
        "cpu_per_query": sum(used) / count,
        "cpu_of_busiest_per_query": max(used) / count,
        "queries_per_pass": count * shards / max(passes, 1),
    }


def main() -> None:
    """Measures, and prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--bytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=32)
    parser.add_argument("--small", action="store_true", help="a small table, for a look")
    given = parser.parse_args()
    if given.small:
        given.rows, given.rounds, given.queries = 20_000, 3, 8
    os.environ.update(QUIET)
    import ray
    from ray import serve

    from windlass.serve import application

    with tempfile.TemporaryDirectory() as place:
        rows = [b"%0*d" % (given.bytes, n) for n in range(given.rows)]
        start = time.perf_counter()
        table = wl.Table.from_rows(rows, directory=f"{place}/t")
        prepared = time.perf_counter() - start
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
        serve.start(http_options={"host": "127.0.0.1", "port": PORT})
        client = wl.TableClient(table.schema)
        keys = client.keys()
        known, name = wl.TableKeys(keys), hashlib.sha256(keys).hexdigest()
        asked = [(n * 7919) % given.rows for n in range(given.queries)]
        queries = [client.query(n) for n in asked]
        asks = {}
        for shards in (1, 2):
            app = application(f"{place}/t", shards=shards)
            serve.run(app, name=f"cut-{shards}", route_prefix=f"/{shards}")
            send("PUT", f"/{shards}/keys/{name}", keys)

            def ask(n: int, shards: int = shards) -> bytes:
                return send("POST", f"/{shards}/ask?keys={name}", queries[n])

            if client.rows(ask(0), asked[0]) != [rows[asked[0]]]:
                sys.exit("wrong row: nothing is measured")
            asks[shards] = ask
        # One pass for each: both have read their pages.
        wanted = table.answer_all([(known, query) for query in queries])
        found: dict[str, list[dict[str, Any]]] = {}
        loads = [load()]
        for _ in range(given.rounds):
            for together, count in ((1, 4), (16, given.queries)):
                for shards, ask in asks.items():
                    one = measure(shards, ask, count, together)
                    if one.pop("answers") != wanted[:count]:
                        sys.exit("wrong answer: nothing is measured")
                    found.setdefault(f"{shards} shards, {together} together", []).append(one)
            loads.append(load())
        serve.shutdown()
        ray.shutdown()
    result = {
        what: {name: round(statistics.median(one[name] for one in each), 4) for name in each[0]}
        for what, each in found.items()
    }
    table_said = {"rows": given.rows, "bytes": given.bytes, "prepare_seconds": round(prepared, 1)}
    print(json.dumps({"table": table_said, "load": loads, "medians": result}, indent=2))


if __name__ == "__main__":
    main()

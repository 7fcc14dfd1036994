"""What a call from Python takes beside the same call from Rust.

    cargo build --release -p windlass --example front_door_timings
    python python/benchmarks/overhead.py target/release/examples/front_door_timings

Both sides compute with one thread, in turn, several times; each figure is the minimum of the
medians of all rounds. Results are verified before they are timed. Prints JSON.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import windlass as wl

ROUNDS = 4


def median(count: int, run: Callable[[], Any]) -> float:
    """Median seconds of so many runs."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def python_side() -> dict[str, dict[str, float]]:
    """Time the same operations as the example in Rust."""
    matrix = np.array([[(7 * i + 3 * k) % 41 - 20 for k in range(784)] for i in range(10)])
    features = 5 * np.arange(784) % 16
    return {str(1 << log_n): one_ring(log_n, matrix, features) for log_n in (13, 14, 15)}


def one_ring(log_n: int, matrix: NDArray[Any], features: NDArray[Any]) -> dict[str, float]:
    """Time the operations at one ring dimension."""
    context = wl.Context.plan(modulus=65537, depth=1, m=2 << log_n)
    layer = context.linear(matrix)
    client, server = context.generate_keys(layer, progress=False)
    query = client.encrypt(features)
    x = server.receive(query)
    if not np.array_equal(client.decrypt(layer @ x), matrix @ features):
        raise SystemExit("the product is wrong")
    full = np.arange(context.slots) % 1000
    return {
        "encrypt": median(41, lambda: client.encrypt(full)),
        "decrypt": median(41, lambda: client.decrypt(query)),
        "add": median(201, lambda: x + x),
        "product": median(21, lambda: layer @ x),
    }


def least(rounds: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """The minimum of all rounds, figure by figure."""
    return {
        n: {name: min(one[n][name] for one in rounds) for name in rounds[0][n]} for n in rounds[0]
    }


def main() -> None:
    """Alternate both sides and print their figures."""
    wl.set_threads(1)
    rust_rounds, python_rounds = [], []
    for _ in range(ROUNDS):
        environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
        out = subprocess.run(sys.argv[1:2], env=environment, capture_output=True, check=True)
        rust_rounds.append(json.loads(out.stdout))
        python_rounds.append(python_side())
    rust, python = least(rust_rounds), least(python_rounds)
    table = {
        n: {
            name: {
                "rust_us": round(rust[n][name] * 1e6, 2),
                "python_us": round(python[n][name] * 1e6, 2),
                "over_us": round((python[n][name] - rust[n][name]) * 1e6, 2),
                "ratio": round(python[n][name] / rust[n][name], 4),
            }
            for name in rust[n]
        }
        for n in rust
    }
    print(json.dumps({"machine": platform.processor() or platform.machine(), "rings": table}))


if __name__ == "__main__":
    main()

"""Two Python threads against one: products of a matrix with encrypted rows.

Every product is decrypted and compared before anything is timed. Run it with nothing else on the
machine:

    python python/benchmarks/threads.py
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import windlass as wl


def seconds(work: Callable[[], object]) -> float:
    """The time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def together(works: list[Callable[[], object]]) -> None:
    """Runs each in a thread of its own, and waits for all."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Prints the median of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--products", type=int, default=20, help="products of each thread")
    options = parser.parse_args()

    wl.set_threads(1)
    context = wl.Context.plan(modulus=65537, depth=1)
    rng = np.random.default_rng(1)
    matrix, values = rng.integers(-20, 21, (10, 784)), rng.integers(0, 16, (2, 784))
    layer = context.linear(matrix)
    client, server = context.generate_keys(layer, context.products(), progress=False)
    rows = [server.receive(client.encrypt(row)) for row in values]
    for row, x in zip(values, rows, strict=True):
        if not np.array_equal(client.decrypt(layer @ x), matrix @ row):
            raise SystemExit("a wrong product: nothing was timed")
        if not np.array_equal(client.decrypt(x * x), row * row):
            raise SystemExit("a wrong square: nothing was timed")

    def repeated(work: Callable[[wl.Ciphertext], object]) -> list[Callable[[], object]]:
        def make(x: wl.Ciphertext) -> Callable[[], object]:
            return lambda: [work(x) for _ in range(options.products)]

        return [make(x) for x in rows]

    print(context)
    for name, work in (("layer @ x", lambda x: layer @ x), ("x * x", lambda x: x * x)):
        works = repeated(work)
        together(works)
        alone, both = [], []
        for _ in range(options.repeats):
            alone.append(sum(seconds(one) for one in works))
            both.append(seconds(partial(together, works)))
        ratios = [a / b for a, b in zip(alone, both, strict=True)]
        each = statistics.median(alone) / len(works) / options.products
        middle, low, high = statistics.median(ratios), min(ratios), max(ratios)
        print(f"{name}: {each * 1e3:.2f} ms; two threads against one after the other:")
        print(f"  {middle:.2f} times as fast (median of {len(ratios)}, {low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()

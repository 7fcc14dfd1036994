"""A product of 784 x 10: what a data scientist runs first, timed.

    python python/benchmarks/product.py [--runs 15] [--features 784] [--outputs 10]

prints JSON: seconds on one thread and on all of them, of each step, for integers (BGV) and real
numbers (CKKS). Every answer is compared with NumPy's before anything is timed.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import windlass as wl


def real(weights: Any, bias: Any, x: Any) -> Any:
    """Multiply an encrypted vector by real weights: the whole program."""
    model = wl.Linear(weights, bias)
    context = model.context()
    layer = model.on(context, folding="automatic")
    client, server = context.generate_keys(layer)
    query = client.encrypt(x)
    answer = layer @ server.receive(query)
    return model.decide(client.decrypt(answer))


def integer(weights: Any, bias: Any, x: Any) -> Any:
    """Multiply an encrypted vector by integers: the whole program."""
    context = wl.Context.plan(modulus=65537, depth=1)
    layer = context.linear(weights, bias)
    client, server = context.generate_keys(layer)
    query = client.encrypt(x)
    answer = layer @ server.receive(query)
    return client.decrypt(answer)


def lines(program: Callable[..., Any]) -> int:
    """Count the lines of a program, its head and its docstring aside."""
    return len(inspect.getsource(program).strip().splitlines()) - 2


def processor() -> str:
    """Name the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    return next(
        (line.split(":")[1].strip() for line in text.splitlines() if "model name" in line), ""
    )


def once(work: Callable[[], Any]) -> tuple[Any, float]:
    """Run something and give its seconds."""
    start = time.perf_counter()
    value = work()
    return value, time.perf_counter() - start


def measured(work: Callable[[], Any], runs: int) -> dict[str, float]:
    """Run something several times: median and least seconds, and those of the processor."""
    wall, processor_time = [], []
    for _ in range(runs):
        own = time.process_time()
        wall.append(once(work)[1])
        processor_time.append(time.process_time() - own)
    return {
        "median": round(statistics.median(wall), 6),
        "least": round(min(wall), 6),
        "processor": round(min(processor_time), 6),
    }


def steps(scheme: str, weights: Any, bias: Any, x: Any, runs: int) -> dict[str, Any]:
    """Time each step on the threads that are set."""
    expected = weights @ x + bias
    if scheme == "CKKS":
        model = wl.Linear(weights, bias)
        context, chosen = once(model.context)
        layer, planned = once(lambda: model.on(context, folding="automatic"))
    else:
        context, chosen = once(lambda: wl.Context.plan(modulus=65537, depth=1))
        layer, planned = once(lambda: context.linear(weights, bias))
    (client, server), keys = once(lambda: context.generate_keys(layer, progress=False))
    query = client.encrypt(x)
    received = server.receive(query)
    answer, first = once(lambda: layer @ received)
    error = float(np.abs(client.decrypt(answer) - expected).max())
    if error > (2**-10 if scheme == "CKKS" else 0):
        raise SystemExit(f"{scheme}: the answer is wrong by {error}")
    with tempfile.TemporaryDirectory() as folder:
        sizes = {
            "keys": server.save(Path(folder) / "keys"),
            "query": query.save(Path(folder) / "query"),
            "answer": answer.save(Path(folder) / "answer"),
        }
    return {
        "n": context.ring_dimension,
        "security": round(context.security, 1),
        "keys": len(layer.required_keys),
        "operations": layer.operations(),
        "error": error,
        "bytes": sizes,
        "seconds": {
            "parameters": round(chosen, 4),
            "plan": round(planned, 4),
            "keys": round(keys, 4),
            "first product": round(first, 4),
            "encrypt": measured(lambda: client.encrypt(x), runs),
            "product": measured(lambda: layer @ received, runs),
            "decrypt": measured(lambda: client.decrypt(answer), runs),
        },
    }


def main() -> None:
    """Verify, measure, print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=15)
    arguments.add_argument("--features", type=int, default=784)
    arguments.add_argument("--outputs", type=int, default=10)
    given = arguments.parse_args()
    rng = np.random.default_rng(784)
    size = (given.outputs, given.features)
    real_inputs = (
        rng.normal(0, 0.05, size),
        rng.normal(size=given.outputs),
        rng.uniform(0, 1, given.features),
    )
    integers = (
        rng.integers(-4, 5, size),
        rng.integers(-9, 10, given.outputs),
        rng.integers(0, 8, given.features),
    )
    inputs = {"CKKS": real_inputs, "BGV": integers}
    for program, scheme in ((real, "CKKS"), (integer, "BGV")):
        weights, bias, x = inputs[scheme]
        if not np.allclose(program(weights, bias, x), weights @ x + bias, atol=2**-10):
            raise SystemExit(f"{program.__name__}: the answer is wrong")
    every = os.cpu_count() or 1
    report: dict[str, Any] = {
        "windlass": wl.__version__,
        "processor": processor(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "shape": size,
        "runs": given.runs,
        "lines": {"CKKS": lines(real), "BGV": lines(integer)},
    }
    for threads in sorted({1, every}):
        wl.set_threads(threads)
        report[f"{threads} thread{'' if threads == 1 else 's'}"] = {
            scheme: steps(scheme, *own, given.runs) for scheme, own in inputs.items()
        }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

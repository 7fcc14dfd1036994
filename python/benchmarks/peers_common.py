"""What the scripts ``peers_*.py`` share: inputs, clocks, checks. Needs NumPy alone."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import platform
import statistics
import threading
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

FEATURES, OUTPUTS = 784, 10
TOLERANCE = 2.0**-10


def inputs() -> tuple[Any, Any]:
    """Make the matrix and the vector that every package multiplies."""
    rng = np.random.default_rng(784)
    return rng.normal(0, 0.05, (OUTPUTS, FEATURES)), rng.uniform(0, 1, FEATURES)


def processor() -> str:
    """Name the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = (line.split(":")[1].strip() for line in text.splitlines() if "model name" in line)
    return next(names, "")


def once(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Run something: its value, and its seconds by the clock and of the processor."""
    start, own = time.perf_counter(), time.process_time()
    value = work()
    return value, {
        "wall": round(time.perf_counter() - start, 5),
        "processor": round(time.process_time() - own, 5),
    }


def measured(work: Callable[[], Any], runs: int) -> dict[str, float]:
    """Run something several times: the median of the clock, the minima of clock and processor."""
    each = [once(work)[1] for _ in range(runs)]
    return {
        "wall": round(statistics.median(one["wall"] for one in each), 5),
        "least": min(one["wall"] for one in each),
        "processor": min(one["processor"] for one in each),
    }


def verified(answer: Any, expected: Any) -> float:
    """Compare an answer with NumPy's: its error, unless that is too large."""
    error = float(np.abs(np.asarray(answer, dtype=float) - expected).max())
    if not error < TOLERANCE:
        raise SystemExit(f"the answer is wrong by {error}: {np.asarray(answer)[:4]}")
    return error


def lines(program: Callable[..., Any]) -> int:
    """Count the lines of a program, its head and its docstring aside."""
    return len(inspect.getsource(program).strip().splitlines()) - 2


def outcome(work: Callable[[], Any]) -> str:
    """Tell what something ends with: the type of its result, or the error in words."""
    try:
        return f"gives {type(work()).__name__}"
    except Exception as error:
        words = " ".join(str(error).split())
        return f"{type(error).__name__}: {words[:240]}"


def pickles(value: object) -> str:
    """Tell whether a value survives a pickle."""
    return outcome(lambda: pickle.loads(pickle.dumps(value, protocol=5)))


def pause(work: Callable[[], Any]) -> dict[str, float]:
    """Measure the longest pause of another Python thread during one call, and the call."""
    longest, stop = [0.0], threading.Event()

    def watch() -> None:
        last = time.perf_counter()
        while not stop.is_set():
            now = time.perf_counter()
            longest[0] = max(longest[0], now - last)
            last = now

    thread = threading.Thread(target=watch)
    thread.start()
    time.sleep(0.05)
    longest[0] = 0.0
    start = time.perf_counter()
    work()
    spent = time.perf_counter() - start
    stop.set()
    thread.join()
    return {"call": round(spent, 4), "longest pause": round(longest[0], 4)}


def package(name: str) -> dict[str, Any]:
    """Read what the installed wheel states about itself."""
    found = metadata.distribution(name)
    wheel = (found.read_text("WHEEL") or "").splitlines()
    files = [str(file) for file in found.files or []]
    return {
        "package": name,
        "version": found.version,
        "tags": [line.removeprefix("Tag: ") for line in wheel if line.startswith("Tag: ")],
        "stubs": any(file.endswith((".pyi", "py.typed")) for file in files),
        "python": platform.python_version(),
    }


def show(report: dict[str, Any]) -> None:
    """Print the report with the machine that it is of."""
    machine = {"processor": processor(), "cores": os.cpu_count()}
    if hasattr(os, "getloadavg"):
        machine["load"] = round(os.getloadavg()[0], 1)
    print(json.dumps(report | machine))

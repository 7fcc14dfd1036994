"""What the tests share: contexts with their keys, and how a child process is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import windlass as wl


@dataclass(frozen=True)
class World:
    """A context with one key pair."""

    context: wl.Context
    client: wl.Client
    server: wl.Server

    def encrypt(
        self, values: ArrayLike, *, bound: float = 1.0, elements: bool = False
    ) -> wl.Ciphertext:
        """An encrypted array, bound to the server."""
        encrypted = self.client.encrypt(values, bound=bound, elements=elements)
        return self.server.receive(encrypted)

    def decrypt(self, ciphertext: wl.Ciphertext) -> NDArray[Any]:
        """What is in it."""
        return self.client.decrypt(ciphertext)


def make(context: wl.Context, *circuits: Any) -> World:
    """A fresh key pair."""
    client, server = context.generate_keys(*circuits, progress=False)
    return World(context, client, server)


@pytest.fixture(scope="session")
def toy() -> World:
    """Integers modulo 257 in 128 slots, with keys for products, sums and some shifts."""
    context = wl.Context.preset("insecure_toy_256")
    shifts = [context.roll(length, shift) for length in (1, 5, 128, 300) for shift in (-2, 1, 3)]
    return make(context, context.products(), context.sum(), shifts)


@pytest.fixture(scope="session")
def other_toy() -> World:
    """The same context with another key pair."""
    context = wl.Context.preset("insecure_toy_256")
    return make(context, context.products(), context.sum())


@pytest.fixture(scope="session")
def wide() -> World:
    """Integers modulo 65537 in 1024 slots, BFV."""
    context = wl.Context.preset("insecure_toy_2048", scheme="BFV")
    return make(context, context.products(), context.sum(), context.roll(10, 3))


@pytest.fixture(scope="session")
def bits() -> World:
    """Bits, in 60 slots of degree 10 (m = 1023)."""
    context = wl.Context.preset("insecure_toy_1023")
    return make(context, context.products(), context.sum())


@pytest.fixture(scope="session")
def reals() -> World:
    """CKKS."""
    context = wl.Context.approximate(depth=3)
    sums = [context.sum(length) for length in (1, 7, 100, 4096, context.slots)]
    return make(context, context.products(), sums, context.roll(7, 2), context.roll(7, -1))


@pytest.fixture
def rng() -> np.random.Generator:
    """Always the same numbers."""
    return np.random.default_rng(20260101)


@pytest.fixture
def keep_threads() -> Iterator[None]:
    """The number of threads as it was, afterwards."""
    before = wl.threads()
    yield
    wl.set_threads(before)


Script = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Runs a program in a separate process: what it prints, and how it ended."""

    def run(text: str, *arguments: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "program.py"
        path.write_text(text, encoding="utf-8")
        command = [sys.executable, str(path), *arguments]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env=dict(os.environ),
        )

    return run


@pytest.fixture(scope="session")
def command() -> str:
    """The program `windlass`."""
    given = os.environ.get("WINDLASS_CLI")
    places = [given] if given else []
    root = Path(__file__).resolve().parents[2]
    places += [str(root / "target" / kind / "windlass") for kind in ("debug", "release")]
    for place in places:
        found = shutil.which(place)
        if found:
            return found
    if given:
        pytest.fail(f"WINDLASS_CLI names no program: {given}")
    pytest.skip("the command line was not built: cargo build --package windlass-cli")

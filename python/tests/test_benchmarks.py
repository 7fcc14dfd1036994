"""Benchmarks run, at small size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks lie in the repository")
def test_product() -> None:
    command = [sys.executable, str(SCRIPTS / "product.py")]
    options = ["--runs", "2", "--features", "20", "--outputs", "3"]
    done = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["shape"] == [3, 20]
    assert report["lines"]["CKKS"] <= 10
    for scheme in ("CKKS", "BGV"):
        own = report["1 thread"][scheme]
        assert own["seconds"]["product"]["least"] > 0
        assert own["bytes"]["query"] > 0


@pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks lie in the repository")
def test_search(command: str) -> None:
    script = [sys.executable, str(SCRIPTS / "search.py"), "--binary", command, "--every", "300"]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 6
    for line in lines:
        assert line["verified"]
        # Integers lose nothing where nothing is divided by a norm.
        exact = line["numbers"] == "int8" and line["metric"] != "cosine"
        assert line["recall"] >= (1.0 if exact else 0.9), line


@pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks lie in the repository")
def test_networks() -> None:
    pytest.importorskip("sklearn")
    options = ["--rows", "20", "--hidden", "8", "--activation", "tanh", "--precision", "3"]
    script = [sys.executable, str(SCRIPTS / "networks.py"), *options]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["agree"] >= 18 and report["accuracy"]["encrypted"] >= 0.8, report
    assert report["error"]["encryption"] < 0.1

"""The script that compares λ with the lattice estimator's, on its recorded outcome."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DATA = Path(__file__).parents[2] / "data" / "security"
RUNS = DATA / "estimator_runs.csv"

pytestmark = pytest.mark.skipif(not RUNS.is_file(), reason="the data lie in the repository")


@pytest.fixture(scope="module")
def rerun() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rerun", DATA / "rerun.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rerun"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def keys(rerun: ModuleType) -> list[Any]:
    """What was stated when the runs were recorded."""
    with RUNS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = {"n": int, "log2_qp": float, "weight": int, "sigma": float, "stated": float}
    listed = [{name: numbers.get(name, str)(row[name]) for name in FIELDS} for row in rows]
    return list(rerun.read_keys([json.dumps(row) for row in listed]))


FIELDS = ["kind", "name", "n", "log2_qp", "weight", "sigma", "stated"]


def test_nothing_recorded_is_overstated(rerun: ModuleType, keys: list[Any]) -> None:
    runs = rerun.read_runs(RUNS)
    assert {"main", "retrieval"} <= {key.kind for key in keys}
    assert all(key.instance in runs for key in keys)
    assert list(rerun.overstated(keys, runs)) == []


def test_the_cheapest_attack_counts(rerun: ModuleType, keys: list[Any]) -> None:
    runs = rerun.read_runs(RUNS)
    with RUNS.open(newline="") as file:
        for row in csv.DictReader(file):
            priced = [float(row[attack]) for attack in rerun.ATTACKS if row[attack]]
            assert float(row["lambda"]) == min(priced)
            # Of short secrets at small moduli the others find no way at any cost.
            sparse = ["primal_hybrid", "dual_mitm"]
            expected = sparse if int(row["weight"]) else ["usvp", "bdd", "dual_hybrid"]
            assert all(row[attack] for attack in expected), row
    assert {run.commit for run in runs.values()} == {"27a581b"}


def test_more_than_the_estimator_finds_is_named(rerun: ModuleType, keys: list[Any]) -> None:
    runs = rerun.read_runs(RUNS)
    for key in keys:
        more = dataclasses.replace(key, stated=runs[key.instance].least + 0.01)
        (line,) = rerun.overstated([more], runs)
        assert key.name in line
    silent = {keys[0].instance: rerun.Run({}, 1.0, "27a581b")}
    (line,) = rerun.overstated(keys[:1], silent)
    assert "nan" in line


def test_files_are_read_as_they_are_written(
    rerun: ModuleType, keys: list[Any], tmp_path: Path
) -> None:
    runs = rerun.read_runs(RUNS)
    copy = tmp_path / "runs.csv"
    rerun.write_runs(copy, keys, runs)
    assert copy.read_text() == RUNS.read_text()
    assert rerun.read_runs(tmp_path / "none.csv") == {}


def test_presets_come_first_and_no_instance_twice(rerun: ModuleType, keys: list[Any]) -> None:
    order = rerun.order(keys)
    kinds = [key.kind == "table" for key in order]
    assert kinds == sorted(kinds)
    assert {key.instance for key in order} == {key.instance for key in keys}
    assert len({key.instance for key in order}) == len(order)


def test_a_modulus_is_never_rounded_down(rerun: ModuleType) -> None:
    assert rerun.modulus(881.0) == 2**881
    assert rerun.modulus(3.0) == 8
    for log2 in [51.5, 178.9999, 900.123]:
        assert 0 <= rerun.modulus(log2) / 2**51 - 2 ** (log2 - 51) <= 2 ** (log2 - 51) * 1e-15


@pytest.mark.parametrize("more", [0.0, 10.0])
def test_the_command_fails_where_more_is_stated(
    keys: list[Any], tmp_path: Path, more: float
) -> None:
    listing = tmp_path / "listing"
    told = [dataclasses.asdict(key) for key in keys]
    told[0]["stated"] += more
    listing.write_text("".join(json.dumps(row) + "\n" for row in told))
    command = [sys.executable, str(DATA / "rerun.py"), "--compare", "--listing", str(listing)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if more else 0), done.stdout + done.stderr
    assert f"{1 if more else 0} are overstated" in done.stdout

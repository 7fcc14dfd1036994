"""The script that compares λ with the lattice estimator's, on its recorded outcome."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
import time
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


def options(rerun: ModuleType, out: Path, listing: Path | None) -> argparse.Namespace:
    kinds = ["main", "ephemeral", "retrieval", "table"]
    return argparse.Namespace(
        estimator=Path(), kinds=kinds, minutes=1.0, jobs=1, out=out, listing=listing
    )


def test_a_run_that_fails_costs_itself_alone(
    rerun: ModuleType, keys: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = {key.instance for key in keys}
    broken = keys[1].instance

    def run(_: Path, commit: str, key: Any) -> Any:
        if key.instance == broken:
            raise subprocess.CalledProcessError(1, "estimator")
        return rerun.Run({"usvp": 200.0}, 1.0, commit)

    monkeypatch.setattr(rerun, "commit_of", lambda _: "0123456")
    monkeypatch.setattr(rerun, "run", run)
    out = tmp_path / "runs.csv"
    assert rerun.price_all(options(rerun, out, None), keys, {}) == 1
    assert set(rerun.read_runs(out)) == instances - {broken}


def test_nothing_new_begins_after_an_interruption(
    rerun: ModuleType, keys: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def run(_: Path, commit: str, key: Any) -> Any:
        begun.append(key)
        if len(begun) == 2:
            raise KeyboardInterrupt
        time.sleep(0.05)
        return rerun.Run({"usvp": 200.0}, 1.0, commit)

    monkeypatch.setattr(rerun, "commit_of", lambda _: "0123456")
    monkeypatch.setattr(rerun, "run", run)
    out = tmp_path / "runs.csv"
    with pytest.raises(KeyboardInterrupt):
        rerun.price_all(options(rerun, out, None), keys, {})
    # The thread may have taken one more by then.
    assert len(begun) <= 4 < len(rerun.order(keys))
    assert begun[0].instance in rerun.read_runs(out)


def test_runs_of_keys_that_are_not_listed_stay(
    rerun: ModuleType, keys: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "runs.csv"
    out.write_text(RUNS.read_text())
    fresh = dataclasses.replace(keys[0], name="fresh", log2_qp=180.0)
    again = rerun.Run({"usvp": 200.0}, 1.0, "0123456")
    monkeypatch.setattr(rerun, "commit_of", lambda _: "0123456")
    monkeypatch.setattr(rerun, "run", lambda *_: again)
    listed = [keys[2], fresh]
    assert rerun.price_all(options(rerun, out, tmp_path), listed, rerun.read_runs(out)) == 0
    before, after = RUNS.read_text().splitlines(), out.read_text().splitlines()
    assert len(after) == len(before) + 1
    assert [row for row in after if row in before] == before[:3] + before[4:]
    assert after[3].startswith(f"{keys[2].kind},{keys[2].name},")
    assert after[3].endswith(",0123456") and after[-1].startswith("main,fresh,")


# What a fake of the estimator and of Sage says of the attacks on a key.
ATTACKS = """
from math import inf, log2, nan
class ND:
    Uniform = SparseTernary = DiscreteGaussian = lambda *_: None
class LWE:
    class Parameters:
        def __init__(self, **_): pass
    primal_usvp = lambda _: {"rop": 2.0**140}
    primal_bdd = lambda _: {"rop": inf}
"""


@pytest.mark.parametrize("cost", ["2.0**150", "inf", "nan", "1 / 0", "{}['rop']"])
def test_an_attack_that_has_no_price_is_no_attack_that_is_missing(
    tmp_path: Path, keys: list[Any], cost: str
) -> None:
    files = {
        "estimator/__init__.py": ATTACKS + f"    dual_hybrid = lambda _: {{'rop': {cost}}}\n",
        "estimator/lwe_dual.py": "dual_hybrid = None\n",
        "sage/__init__.py": "",
        "sage/all.py": "from math import log\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    key = json.dumps(dataclasses.asdict(keys[0]))
    command = [sys.executable, str(DATA / "rerun.py"), "--estimator", str(tmp_path), "--one", key]
    paths = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=paths)
    priced = {"2.0**150": {"usvp": 140.0, "dual_hybrid": 150.0}, "inf": {"usvp": 140.0}}
    if cost in priced:
        assert json.loads(done.stdout) == priced[cost], done.stderr
    else:
        assert done.returncode != 0 and not done.stdout, done.stdout


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

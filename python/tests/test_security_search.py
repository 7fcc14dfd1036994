"""The search that makes the table of sparse secrets: formulas, table, what it is held to."""

from __future__ import annotations

import csv
import importlib
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

DATA = Path(__file__).parents[2] / "data" / "security"
TABLES = Path(__file__).parents[2] / "crates" / "windlass-rlwe" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data lie in the repository")


@pytest.fixture(scope="module")
def attacks() -> Any:
    sys.path.insert(0, str(DATA))
    return importlib.import_module("attacks")


@pytest.fixture(scope="module")
def search(attacks: Any) -> Any:
    return importlib.import_module("search")


def rows(name: str) -> list[dict[str, str]]:
    with (TABLES / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_probabilities_of_guesses_are_those_of_counting(attacks: Any) -> None:
    instance = attacks.Instance(20, 10, 4)
    exactly = np.exp2(instance.exactly(np.array([0, 7, 20])))
    assert exactly.sum(axis=1) == pytest.approx(1)
    by_hand = [math.comb(7, w) * math.comb(13, 4 - w) / math.comb(20, 4) for w in range(5)]
    assert exactly[1] == pytest.approx(by_hand)
    count = np.exp2(instance.count_at_most(np.array([3])))[0]
    assert count == pytest.approx([1, 1 + 6, 1 + 6 + 12, 27, 27])


def test_rotations_find_one_of_many(attacks: Any) -> None:
    assert np.exp2(attacks.any_of(np.log2(0.25), 2)) == pytest.approx(1 - 0.75**2)
    # Where doubles have no 1 - p: n·p.
    assert attacks.any_of(np.array(-80.0), 1 << 15) == pytest.approx(-65)


def test_rotations_of_composite_rings_wrap(attacks: Any) -> None:
    ring = attacks.Composite(4, 10, 1, rotations=5, primes=(5,))
    # One coefficient stays one position of four with 4/5, else all four hold something.
    found = np.exp2(ring.exactly(np.array([1, 4])))
    assert found[0, 0] == pytest.approx(0.8 * 0.75 + 0.2 * 0.75**4)
    assert found[1, 1] == pytest.approx(0.8)
    # Two axes: both can wrap.
    two = attacks.Composite(8, 10, 2, rotations=15, primes=(3, 5))
    assert np.exp2(two.exactly(np.array([0])))[0, 0] == pytest.approx(1)


def test_attacks_have_the_cost_of_public_estimators(search: Any, attacks: Any) -> None:
    for row in rows("rotation_points.csv")[:42:6]:
        instance = attacks.Instance(
            int(row["n"]), float(row["log2_q"]), int(row["weight"]), float(row["sigma"])
        )
        bits = attacks.minimise(attacks.ATTACKS["primal_meet"], search.turned(instance)).bits
        assert float(row["primal_meet"]) - 7 < bits < float(row["primal_meet"]) + search.ABOVE


def test_the_table_is_what_the_search_finds(search: Any, attacks: Any) -> None:
    table = rows("sparse.csv")
    for row in table[:: len(table) // 5]:
        n, log2_q, weight = search.place(row)
        found = search.columns(attacks.Instance(n, log2_q, weight, search.TABLE_SIGMA))
        assert {name: search.tenth(bits) for name, bits in found.items()} == {
            name: row[name] for name in search.COLUMNS
        }
        assert row["lambda"] == search.tenth(min(found.values()))


def test_more_knowledge_never_makes_an_attack_more_expensive(search: Any, attacks: Any) -> None:
    instance = attacks.Instance(16384, 100, 40)
    for attack in attacks.ATTACKS.values():
        plain, turned = (
            attacks.minimise(attack, one).bits for one in (instance, search.turned(instance))
        )
        sparser = attacks.minimise(attack, replace(instance, weight=36)).bits
        assert turned < plain - 3 and sparser < plain


def test_a_key_that_is_overstated_is_named(search: Any, tmp_path: Path) -> None:
    key = {
        "kind": "ephemeral",
        "name": "one",
        "n": 16384,
        "log2_qp": 100,
        "weight": 40,
        "sigma": 3.2,
    }
    for stated, code in ((120.0, 0), (139.0, 1)):
        listing = tmp_path / "listing"
        listing.write_text(json.dumps({**key, "stated": stated}) + "\n")
        command = [sys.executable, str(DATA / "search.py"), "keys", str(listing)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        assert ("OVERSTATED" in done.stdout) == bool(code)

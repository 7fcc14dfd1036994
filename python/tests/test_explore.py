"""The Pareto front of parameters."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import windlass as wl
from windlass.explore import _dominates

BETTER = {"security": 1, "slots": 1, "capacity": 1, "product_seconds": -1, "key_bytes": -1}


@pytest.fixture(scope="module")
def front() -> wl.Front:
    return wl.explore(modulus=65537, depth=2, slots=4096, progress=False)


def test_rows_do_what_was_asked_for(front: wl.Front) -> None:
    assert len(front) >= 3
    for row in front:
        assert row["depth"] >= 2
        assert row["slots"] >= 4096
        assert row["security"] >= 128
        assert 0 < row["rotation_seconds"] < 10
        assert 0 < row["product_seconds"] < 10
    assert len({row["name"] for row in front}) == len(front)
    times = front.column("product_seconds")
    assert times == sorted(times)
    assert max(front.column("security")) >= 192
    assert max(front.column("slots")) >= 16384


def test_no_row_is_worse_than_another(front: wl.Front) -> None:
    for one in front:
        for other in front:
            gains = [sign * (one[name] - other[name]) for name, sign in BETTER.items()]
            assert not (min(gains) >= 0 and max(gains) > 0)


def test_rows_say_what_their_contexts_are(front: wl.Front) -> None:
    for number, row in enumerate(front):
        context = front.context(number)
        assert context.ring_dimension == row["n"]
        assert context.slots == row["slots"]
        assert context.log2_qp == pytest.approx(row["log2_qp"], abs=0.06)
        assert context.security == pytest.approx(row["security"], abs=0.06)
        assert context.sizes()["switching_key_memory"] == row["key_bytes"]
        assert context.describe()["name"] == row["name"]


def test_dominance() -> None:
    row: dict[str, Any] = dict.fromkeys(wl.explore.__globals__["_GAINS"], None)
    one = row | {"security": 130, "slots": 8, "product_seconds": 1.0, "key_bytes": 10}
    assert not _dominates(one, one)
    assert _dominates(one | {"slots": 9}, one)
    assert _dominates(one | {"key_bytes": 9}, one)
    assert not _dominates(one | {"key_bytes": 11}, one)
    assert not _dominates(one | {"slots": 9, "key_bytes": 11}, one)
    refresh = one | {"refresh_seconds": 2.0}
    assert _dominates(refresh | {"refresh_seconds": 1.0}, refresh)


def test_tables(front: wl.Front) -> None:
    first, *rest = repr(front).splitlines()
    assert first.split() == list(front.columns)
    assert len(rest) == len(front)
    assert rest[0].split()[0] == front[0]["name"]
    html = front._repr_html_()
    assert html.count("<tr>") == len(front) + 1
    assert html.count("<th>") == len(front.columns)
    assert front[1:3] == [front[1], front[2]]
    assert front[-1] == list(front)[-1]
    with pytest.raises(IndexError):
        front[len(front)]


def test_pandas(front: wl.Front) -> None:
    pandas = pytest.importorskip("pandas")
    table = front.to_pandas()
    assert list(table.columns) == list(front.columns)
    assert table["n"].tolist() == front.column("n")
    assert pandas.DataFrame(front).equals(table)


def test_plot(front: wl.Front) -> None:
    pytest.importorskip("matplotlib")
    axes = front.plot().axes[0]
    points = axes.collections[0]
    offsets = points.get_offsets()
    assert [y for _, y in offsets] == front.column("key_bytes")
    assert [x for x, _ in offsets] == pytest.approx(
        [1e3 * seconds for seconds in front.column("product_seconds")]
    )
    assert list(points.get_array()) == front.column("security")
    assert [text.get_text() for text in axes.texts] == [str(k) for k in range(len(front))]
    sizes = points.get_sizes()
    slots = front.column("slots")
    for k in range(1, len(front)):
        assert (sizes[k] > sizes[0]) == (slots[k] > slots[0])


def test_bootstrapping() -> None:
    told: list[tuple[int, int]] = []
    front = wl.explore(
        modulus=2,
        bootstrapping=True,
        insecure=True,
        slots=4,
        progress=lambda done, count: told.append((done, count)),
        names=["insecure_boot_105", "insecure_boot_1023"],
    )
    assert told == [(1, 2), (2, 2)]
    assert {"insecure_boot_105", "insecure_boot_1023"} >= set(front.column("name"))
    times = front.column("refresh_seconds")
    assert times == sorted(times)
    for number, row in enumerate(front):
        context = front.context(number)
        plan = context.bootstrapping()
        keys = 1 + len(plan.required_keys)
        assert row["key_bytes"] == keys * context.sizes()["switching_key_memory"]
        assert row["capacity"] == pytest.approx(plan.output_bits - plan.least_input_bits, abs=0.06)


def test_approximate() -> None:
    front = wl.explore(modulus=None, depth=1, slots=8192, progress=False)
    assert {row["scheme"] for row in front} == {"CKKS"}
    assert "capacity" not in front.columns
    assert "refresh_seconds" not in front.columns
    assert max(front.column("scale_bits")) == 50
    assert min(front.column("slots")) >= 8192
    assert front.context(0).scheme == "CKKS"


def test_threads_stay_as_they_were() -> None:
    before = wl.threads()
    wl.set_threads(2)
    try:
        wl.explore(modulus=257, depth=2, insecure=True, progress=False)
        assert wl.threads() == 2
    finally:
        wl.set_threads(before)


def test_what_cannot_be() -> None:
    with pytest.raises(wl.ParameterError, match="not a power of a prime"):
        wl.explore(modulus=6, progress=False)
    with pytest.raises(wl.NoParameters):
        wl.explore(modulus=65537, depth=400, progress=False)
    with pytest.raises(wl.NoParameters, match="1000003"):
        wl.explore(modulus=1000003, insecure=True, progress=False)
    with pytest.raises(wl.ParameterError, match="CKKS"):
        wl.explore(modulus=None, bootstrapping=True, progress=False)
    with pytest.raises(wl.UnknownName, match="nothing"):
        wl.explore(modulus=2, names=["nothing"], progress=False)


def test_without_pandas(front: wl.Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(wl.MissingPackage, match=r"pip install windlass\[explore\]"):
        front.to_pandas()

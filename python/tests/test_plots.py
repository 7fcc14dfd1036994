"""Pictures: what is in their axes."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import windlass as wl

pytest.importorskip("matplotlib")

TITLES = {
    "context": ["capacity", "bytes on disk", "milliseconds"],
    "approximate": ["modulus", "bytes on disk", "milliseconds"],
}


def widths(axes: Any) -> list[float]:
    return [bar.get_width() for bar in axes.patches]


def heights(axes: Any) -> list[float]:
    return [bar.get_height() for bar in axes.patches]


def starts(axes: Any, place: int) -> list[float]:
    """The x of vertical lines."""
    return [segment[0][0] for segment in axes.collections[place].get_segments()]


def ticks(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_yticklabels()]


def test_exact_context() -> None:
    context = wl.Context.preset("insecure_toy_256")
    figure = context.plot()
    capacity, sizes, prices = figure.axes
    assert [axes.get_title() for axes in figure.axes] == TITLES["context"]
    assert heights(capacity) == pytest.approx(context.describe()["capacity_by_level"][::-1])
    own = context.sizes()
    kinds = ("ciphertext", "public_key", "switching_key")
    assert widths(sizes) == [own[f"{name}_disk"] for name in kinds]
    assert ticks(sizes) == ["ciphertext", "public key", "switching key"]
    assert len(widths(prices)) == 6
    assert min(widths(prices)) > 0
    assert f"n = {context.ring_dimension}" in figure.get_suptitle()


def test_approximate_context() -> None:
    context = wl.Context.approximate(depth=3, scale_bits=35)
    figure = context.plot()
    capacity = figure.axes[0]
    assert [axes.get_title() for axes in figure.axes] in TITLES.values()
    bars = heights(capacity)
    assert len(bars) == 4
    if capacity.get_title() == "modulus":
        assert bars == pytest.approx([context.log2_q - 35 * k for k in range(4)])
    assert sorted(bars, reverse=True) == bars


def test_levels_of_long_chains_have_room() -> None:
    axes = wl.Context.preset("bgv_n32768").plot().axes[0]
    assert len(heights(axes)) >= 10
    assert len(axes.get_xticks()) <= 13


def test_linear_plan() -> None:
    context = wl.Context.preset("insecure_toy_256")
    matrix = np.zeros((6, 9), dtype=int)
    matrix += 3 * np.eye(6, 9, dtype=int) + 5 * np.eye(6, 9, k=4, dtype=int)
    matrix[5, 0] = 7
    plan = context.linear(matrix)
    figure = plan.plot()
    diagonals, automorphisms, time = figure.axes
    assert starts(diagonals, 0) == [-5, 0, 4]
    tops = [segment[1][1] for segment in diagonals.collections[0].get_segments()]
    assert tops == [1, 6, 5]
    assert starts(automorphisms, 0) == plan.diagonals
    assert starts(automorphisms, 1) == plan.required_keys
    assert automorphisms.get_title() == f"{len(plan.required_keys)} keys"
    times = wl.plots.times_of(plan)
    assert widths(time) == pytest.approx([spent for _, spent in times.values()], rel=0.9)
    assert times["constant_product"][0] == plan.operations()["constant_product"]
    assert ticks(time)[0] == "decompositions"


def test_times_are_counts_times_prices() -> None:
    context = wl.Context.preset("demo")
    plan = context.linear(np.arange(1, 13).reshape(3, 4))
    operations, prices = plan.operations(), context.prices()
    for name, (count, spent) in wl.plots.times_of(plan).items():
        assert count == operations[name] > 0
        assert 0.1 < spent / (count * prices[name]) < 10  # prices are measured once for a context


def test_bootstrapping() -> None:
    plan = wl.Context.preset("insecure_boot_256_p257").bootstrapping()
    stages: list[dict[str, Any]] = [dict(stage) for stage in plan.stages()]
    figure = plan.plot()
    capacity, lower = figure.axes
    bold = [line for line in capacity.lines if line.get_marker() == "o"]
    drawn = [tuple(line.get_ydata()) for line in bold]
    assert drawn == [(stage["before"], stage["after"]) for stage in stages]
    rising = [line.get_color() != bold[0].get_color() for line in bold]
    assert rising == [stage["after"] > stage["before"] for stage in stages]
    assert sum(rising) == 1
    assert len(ticks(lower)) == len(stages)
    if lower.get_title() == "keys by stage":
        assert widths(lower) == [len(stage["keys"]) for stage in stages]
    else:
        assert widths(lower) == pytest.approx([stage["seconds"] for stage in stages])
    words = " ".join(text.get_text() for text in capacity.texts)
    assert f"{plan.least_input_bits:.0f}" in words
    assert f"{plan.output_bits:.0f}" in words


def test_circuit_rises_at_refreshes() -> None:
    context = wl.Context.preset("insecure_boot_256_p257")
    client, server = context.generate_keys(context.bootstrapping(), progress=False)
    x = server.receive(client.encrypt([2, 3]))
    steps = [x]
    for _ in range(24):
        steps.append(steps[-1] * steps[-1])
    bits = [each.capacity for each in steps]
    rises = [k for k in range(1, len(bits)) if bits[k] > bits[k - 1]]
    assert rises
    axes = wl.plots.circuit(steps).axes[0]
    assert list(axes.lines[0].get_ydata()) == bits
    assert [list(line.get_xdata()) for line in axes.lines[1:]] == [[k - 1, k] for k in rises]
    assert [text.get_text() for text in axes.texts] == ["refresh"] * len(rises)


def test_circuit_refuses() -> None:
    context = wl.Context.preset("insecure_toy_256")
    client, _ = context.generate_keys()
    with pytest.raises(wl.ShapeError, match="no ciphertexts"):
        wl.plots.circuit([])
    with pytest.raises(wl.ShapeError, match="1 ciphertexts and 2 labels"):
        wl.plots.circuit([client.encrypt([1])], ["a", "b"])


def test_approximate_circuit_shows_precision() -> None:
    context = wl.Context.approximate(depth=2)
    client, server = context.generate_keys(context.products())
    x = server.receive(client.encrypt([0.5]))
    axes = wl.plots.circuit([x, x * x], ["x", "x²"]).axes[0]
    assert axes.get_ylabel() == "bits of precision"
    assert list(axes.lines[0].get_ydata()) == [x.precision_bits, (x * x).precision_bits]


def test_figures_are_pictures_and_leave_pyplot_alone() -> None:
    figure = wl.Context.preset("demo").plot()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")
    assert figure._repr_png_().startswith(b"\x89PNG")
    again = pickle.loads(pickle.dumps(figure))
    assert len(again.axes) == 3
    program = (
        "import sys, windlass as wl; wl.Context.preset('demo').plot(); "
        "assert 'matplotlib.figure' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    context = wl.Context.preset("insecure_toy_256")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(wl.MissingPackage, match=r"pip install windlass\[plot\]") as caught:
        context.plot()
    assert caught.value.package == "matplotlib"
    assert isinstance(caught.value, ImportError)


def test_windlass_alone_imports_no_matplotlib() -> None:
    program = "import sys, windlass; assert not [m for m in sys.modules if 'matplotlib' in m]"
    subprocess.run([sys.executable, "-c", program], check=True)

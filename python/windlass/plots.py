"""Plots of contexts, plans and circuits with matplotlib (``pip install windlass[plot]``).

``context.plot()``, ``plan.plot()`` and ``bootstrapping.plot()`` call :func:`context`,
:func:`linear` and :func:`bootstrapping`; :func:`circuit` shows the capacity of any ciphertexts.
Each returns a ``matplotlib.figure.Figure`` and does not change the state of ``pyplot``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from windlass.errors import ShapeError, missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from windlass._windlass import Bootstrapping, Ciphertext, Context, LinearPlan

_BLUE, _ORANGE, _GREEN, _GREY = "#2f6db3", "#d9772b", "#3f8f5b", "#8a8f98"

_WORDS = {
    "hoist": "decompositions",
    "hoisted_automorphism": "hoisted rotations",
    "giant_step": "giant steps",
    "automorphism": "whole rotations",
    "constant_product": "constant products",
    "mod_down": "mod-downs",
}
"""The operations of linear plans, in the order in which they are shown."""


def _png(figure: Figure) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return buffer.getvalue()


def figure(width: float, height: float, title: str) -> Figure:
    """Make an empty figure that notebooks show, without any state of ``pyplot``.

    Parameters
    ----------
    width, height : float
        Inches.
    title : str
        The title above all axes.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingPackage
        If matplotlib is not installed.

    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_package("matplotlib", "plot") from None
    own = Figure(figsize=(width, height), layout="constrained")
    own.suptitle(title, fontsize=11)
    # Notebooks show figures of pyplot by themselves, and others by this.
    own._repr_png_ = partial(_png, own)
    return own


def _plain(axes: Axes, grid: str = "y") -> None:
    """Leave out what carries no information."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color="#e4e6ea", linewidth=0.7)
    axes.set_axisbelow(True)


def _bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def bytes_tick(value: float, _place: int) -> str:
    """Write bytes beside an axis.

    Examples
    --------
    >>> from windlass.plots import bytes_tick
    >>> bytes_tick(2_500_000, 0)
    '2.5 MB'

    """
    return _bytes(value) if value else "0"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _bars(axes: Axes, names: Sequence[str], widths: Sequence[float], labels: Sequence[str]) -> None:
    """Draw horizontal bars from the top down, each with its label behind it."""
    places = range(len(names))
    axes.barh(places, widths, color=_BLUE, height=0.62)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    for place, width, label in zip(places, widths, labels, strict=True):
        axes.annotate(
            label,
            (width, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_xlim(0, max([*widths, 1e-12]) * 1.45)
    _plain(axes, "x")


def _capacity_by_level(parameters: Mapping[str, Any]) -> list[float]:
    """Bits of capacity of each level from level 1 up; empty where they are not known."""
    return [float(bits) for bits in parameters.get("capacity_by_level", [])]


def context(context: Context) -> Figure:
    """Draw the parameters: capacity by level, sizes of keys, prices of operations.

    Parameters
    ----------
    context : Context
        A context of any scheme.

    Returns
    -------
    matplotlib.figure.Figure
        Three axes: bits of capacity by level (for CKKS: of the modulus that is left after each
        rescaling), bytes on disk of a ciphertext and of keys, milliseconds of operations on one
        thread of this machine.

    Raises
    ------
    MissingPackage
        If matplotlib is not installed.

    Examples
    --------
    >>> import windlass as wl
    >>> figure = wl.Context.preset("demo").plot()
    >>> [axes.get_title() for axes in figure.axes]
    ['capacity', 'bytes on disk', 'milliseconds']

    """
    parameters = context.describe()
    title = (
        f"{context.scheme}, n = {context.ring_dimension}, log2 QP = {context.log2_qp:.0f}, "
        f"{context.slots} slots, {int(context.security)} bits of security"
    )
    own = figure(11, 3.4, title)
    capacity, sizes, prices = own.subplots(1, 3, width_ratios=[1.1, 1, 1])

    capacity.set_title("capacity", fontsize=10)
    by_level = _capacity_by_level(parameters)
    if by_level:
        levels = range(len(by_level), 0, -1)
        capacity.bar(range(len(by_level)), by_level[::-1], color=_BLUE, width=0.62)
        step = max(1, len(by_level) // 12)
        capacity.set_xticks(range(0, len(by_level), step), list(levels)[::step])
        capacity.set_xlabel("level, from a fresh ciphertext down")
        capacity.set_ylabel("bits of capacity")
    else:
        # A rescaling takes one scale from the modulus.
        scale = float(parameters["scale_bits"])
        left = [context.log2_q - k * scale for k in range(context.depth + 1)]
        capacity.bar(range(len(left)), left, color=_BLUE, width=0.62)
        capacity.set_xticks(range(len(left)))
        capacity.set_title("modulus", fontsize=10)
        capacity.set_xlabel("rescalings, of which each product takes one")
        capacity.set_ylabel("log2 of the modulus")
    _plain(capacity)

    bytes_of = context.sizes()
    sizes.set_title("bytes on disk", fontsize=10)
    names = ["ciphertext", "public key", "switching key"]
    counts = [float(bytes_of[f"{name.replace(' ', '_')}_disk"]) for name in names]
    _bars(sizes, names, counts, [_bytes(count) for count in counts])
    sizes.xaxis.set_major_formatter(bytes_tick)
    sizes.locator_params(axis="x", nbins=3)

    own_prices = context.prices()
    prices.set_title("milliseconds", fontsize=10)
    priced = [name for name in _WORDS if name in own_prices]
    times = [float(own_prices[name]) for name in priced]
    singular = [_WORDS[name].removesuffix("s") for name in priced]
    _bars(prices, singular, times, [f"{time:.3g}" for time in times])
    prices.locator_params(axis="x", nbins=4)
    return own


def _offsets(matrix: np.ndarray[Any, Any]) -> tuple[list[int], list[int]]:
    """Find the diagonals with entries other than zero (column - row), and how many they have."""
    rows, columns = np.nonzero(matrix)
    offsets, counts = np.unique(columns - rows, return_counts=True)
    return offsets.tolist(), counts.tolist()


def times_of(plan: LinearPlan) -> dict[str, tuple[int, float]]:
    """Multiply how often each operation of a plan is used by what it costs on this machine.

    Parameters
    ----------
    plan : LinearPlan
        The plan from :meth:`Context.linear`.

    Returns
    -------
    dict
        Maps the name of each operation that is used to (times used, total milliseconds on one
        thread).

    Examples
    --------
    >>> import numpy as np, windlass as wl
    >>> from windlass.plots import times_of
    >>> plan = wl.Context.preset("demo").linear(np.eye(4, dtype=int))
    >>> {name: times for name, (times, _) in times_of(plan).items()}["constant_product"]
    1

    """
    operations, prices = plan.operations(), plan.context.prices()
    used = {name: (int(operations.get(name, 0)), float(prices.get(name, 0.0))) for name in _WORDS}
    return {name: (times, times * price) for name, (times, price) in used.items() if times > 0}


def linear(plan: LinearPlan) -> Figure:
    """Draw a matrix plan: which diagonals and keys it uses, and where the time goes.

    Parameters
    ----------
    plan : LinearPlan
        The plan from :meth:`Context.linear`.

    Returns
    -------
    matplotlib.figure.Figure
        Three axes: entries other than zero of each diagonal of the matrix; the automorphisms X ->
        X**t that the plan multiplies with constants, and those that have keys; milliseconds by
        operation, on one thread of this machine.

    Raises
    ------
    MissingPackage
        If matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np, windlass as wl
    >>> figure = wl.Context.preset("demo").linear(np.ones((2, 3), dtype=int)).plot()
    >>> [axes.get_title() for axes in figure.axes]
    ['4 diagonals', '3 keys', 'time']

    """
    offsets, counts = _offsets(plan.matrix)
    keys, used = list(plan.required_keys), list(plan.diagonals)
    times = times_of(plan)
    total = sum(time for _, time in times.values())
    height, width = plan.shape
    title = (
        f"matrix of shape ({height}, {width}), strategy {plan.strategy}: "
        f"{_count(len(keys), 'key')}, {total:.3g} ms, {plan.capacity_bits:.0f} bits of capacity"
    )
    own = figure(11, 3.4, title)
    diagonals, automorphisms, time = own.subplots(1, 3, width_ratios=[1.1, 1.1, 1])

    diagonals.set_title(_count(len(offsets), "diagonal"), fontsize=10)
    diagonals.vlines(offsets, 0, counts, color=_BLUE, linewidth=max(0.4, 120 / (height + width)))
    diagonals.set_xlim(-height, width)
    diagonals.set_ylim(0, max([*counts, 1]) * 1.1)
    diagonals.set_xlabel("column − row")
    diagonals.set_ylabel("entries other than 0")
    diagonals.locator_params(axis="y", integer=True)
    _plain(diagonals)

    automorphisms.set_title(_count(len(keys), "key"), fontsize=10)
    rows = [("with a constant", used, _BLUE), ("with a key", keys, _ORANGE)]
    for place, (_, elements, colour) in enumerate(rows):
        thin = 0.5 if len(elements) > 100 else 1.2
        low, high = place - 0.35, place + 0.35
        automorphisms.vlines(elements, low, high, color=colour, linewidth=thin)
    labels = [f"{name}:\n{len(elements)}" for name, elements, _ in rows]
    automorphisms.set_yticks(range(len(rows)), labels)
    automorphisms.set_xlim(-0.02 * plan.context.m, plan.context.m)
    automorphisms.set_xlabel("t of the automorphism X → X$^t$")
    automorphisms.invert_yaxis()
    _plain(automorphisms, "x")

    time.set_title("time", fontsize=10)
    milliseconds = [each for _, each in times.values()]
    labels = [f"{each:.3g} ms ({count})" for count, each in times.values()]
    _bars(time, [_WORDS[name] for name in times], milliseconds, labels)
    time.set_xlabel("milliseconds (how often)")
    time.locator_params(axis="x", nbins=4)
    return own


def _short(name: str) -> str:
    """Name a stage in few words."""
    name = name.replace("slots to coefficients", "slots → coeff.")
    name = name.replace("coefficients to slots", "coeff. → slots")
    name, _, part = name.partition(", part ")
    return f"{name}\n{part.replace(' of ', '/')}" if part else name


def _falls_and_rises(axes: Axes, bits: Sequence[float]) -> list[int]:
    """Draw capacity in sequence, steps that raise it in green; give their places back."""
    rises = [k for k in range(1, len(bits)) if bits[k] > bits[k - 1]]
    axes.plot(range(len(bits)), bits, color=_BLUE, marker="o", markersize=3.5, linewidth=1.4)
    for k in rises:
        axes.plot([k - 1, k], bits[k - 1 : k + 1], color=_GREEN, linewidth=2.4)
    axes.set_ylim(0, max([*bits, 1.0]) * 1.08)
    _plain(axes)
    return rises


def bootstrapping(plan: Bootstrapping) -> Figure:
    """Draw a refresh: capacity falling along its stages and rising at the front end, and keys.

    Parameters
    ----------
    plan : Bootstrapping
        The plan from :meth:`Context.bootstrapping`.

    Returns
    -------
    matplotlib.figure.Figure
        Two axes: bits of capacity before and after each stage, with what a refresh takes and
        leaves; the number of keys of each stage (or its seconds, where they are known).

    Raises
    ------
    MissingPackage
        If matplotlib is not installed.

    Examples
    --------
    >>> import windlass as wl
    >>> figure = wl.Context.preset("insecure_boot_256_p257").bootstrapping().plot()
    >>> [axes.get_title() for axes in figure.axes]
    ['capacity along the stages', 'keys by stage']

    """
    stages: list[dict[str, Any]] = [dict(stage) for stage in plan.stages()]
    names = [_short(str(stage["name"])) for stage in stages]
    keys = [len(stage["keys"]) for stage in stages]
    if plan.context.scheme == "CKKS":
        title = (
            f"refresh of CKKS: leaves {plan.output_bits:.0f} bits, "
            f"error 2^-{plan.precision_bits:.1f}; {len(plan.required_keys)} keys"
        )
    else:
        title = (
            f"{'packed' if plan.packed else 'thin'} bootstrapping: takes "
            f"{plan.least_input_bits:.0f} bits, leaves {plan.output_bits:.0f}; "
            f"{len(plan.required_keys)} keys, about {plan.estimated_seconds():.2g} s on one thread"
        )
    own = figure(11, 4.2, title)
    capacity, lower = own.subplots(1, 2, width_ratios=[2, 1])

    capacity.set_title("capacity along the stages", fontsize=10)
    # Each stage is a segment of its own; what lies between is a switch of the modulus, dotted.
    for k, stage in enumerate(stages):
        before, after = float(stage["before"]), float(stage["after"])
        colour = _GREEN if after > before else _BLUE
        segment = [k + 0.06, k + 0.94]
        capacity.plot(segment, [before, after], color=colour, marker="o", markersize=4, lw=2)
        if k:
            previous = float(stages[k - 1]["after"])
            capacity.plot([k - 0.06, k + 0.06], [previous, before], color=_GREY, ls=":", lw=1)
    levels = [("a refresh takes", plan.least_input_bits), ("a refresh leaves", plan.output_bits)]
    for place, (word, bits) in zip((len(stages), 0), levels, strict=True):
        capacity.axhline(bits, color=_ORANGE, linewidth=1, linestyle="--")
        capacity.annotate(
            f"{word} {bits:.0f}",
            (place, bits),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right" if place else "left",
            fontsize=8,
            color=_ORANGE,
        )
    capacity.set_xlim(-0.1, len(stages) + 0.1)
    capacity.set_ylim(bottom=0)
    capacity.set_xticks([k + 0.5 for k in range(len(stages))], names, rotation=40, fontsize=7.5)
    capacity.set_ylabel("bits of capacity")
    _plain(capacity)

    spent = [float(stage["seconds"]) for stage in stages if "seconds" in stage]
    if len(spent) == len(stages):
        lower.set_title("seconds by stage", fontsize=10)
        labels = [f"{each:.2g} ({count} keys)" for each, count in zip(spent, keys, strict=True)]
        _bars(lower, names, spent, labels)
    else:
        lower.set_title("keys by stage", fontsize=10)
        _bars(lower, names, [float(count) for count in keys], [str(count) for count in keys])
    lower.tick_params(axis="y", labelsize=7.5)
    lower.locator_params(axis="x", nbins=4, integer=len(spent) != len(stages))
    return own


def circuit(ciphertexts: Iterable[Ciphertext], labels: Sequence[str] | None = None) -> Figure:
    """Draw the capacity of ciphertexts along a computation.

    Parameters
    ----------
    ciphertexts : iterable of Ciphertext
        The ciphertexts in the order of the computation. For CKKS their bits of precision are shown.
    labels : sequence of str, optional
        One for each.

    Returns
    -------
    matplotlib.figure.Figure
        One pair of axes. The line is green where a refresh raises the capacity.

    Raises
    ------
    ShapeError
        If there are no ciphertexts, or not one label for each.
    MissingPackage
        If matplotlib is not installed.

    Examples
    --------
    >>> import windlass as wl
    >>> context = wl.Context.preset("insecure_toy_256")
    >>> client, server = context.generate_keys(context.products())
    >>> x = server.receive(client.encrypt([2, 3]))
    >>> figure = wl.plots.circuit([x, x * x, x * x + 1], ["x", "x²", "x² + 1"])
    >>> [text.get_text() for text in figure.axes[0].get_xticklabels()]
    ['x', 'x²', 'x² + 1']

    """
    every = list(ciphertexts)
    if not every:
        raise ShapeError("no ciphertexts: there is nothing to draw", expected=1, got=0)
    if labels is not None and len(labels) != len(every):
        message = f"{len(every)} ciphertexts and {len(labels)} labels"
        raise ShapeError(message, expected=len(every), got=len(labels))
    approximate = every[0].context.scheme == "CKKS"
    bits = [float(each.capacity) for each in every]
    own = figure(max(5.0, min(12.0, 2 + 0.35 * len(bits))), 3.4, "capacity along the circuit")
    axes = own.subplots()
    rises = _falls_and_rises(axes, bits)
    for k in rises:
        axes.annotate(
            "refresh", (k, bits[k]), xytext=(0, 4), textcoords="offset points", ha="center",
            fontsize=8, color=_GREEN,
        )  # fmt: skip
    if labels is not None:
        turned = {"rotation": 40, "ha": "right"} if len(bits) > 6 else {}
        axes.set_xticks(range(len(bits)), labels, fontsize=8, **turned)
    else:
        axes.set_xlabel("step")
        axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("bits of precision" if approximate else "bits of capacity")
    return own

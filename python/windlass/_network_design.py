"""How a network is laid out for encrypted rows: units, polynomials, parameters, refreshes.

Every number that is encrypted is divided by a unit, so that arguments and results of activations
lie in -1..1. The units are multiplied into the weights, which costs nothing, saves the level that
would bring an interval to -1..1, and is what refreshes need.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass._activations import Fitted, Interval, fitted
from windlass._windlass import Context
from windlass.errors import (
    BootstrapError,
    CapacityExhausted,
    NoParameters,
    ParameterError,
    ValueRangeError,
)
from windlass.network_layouts import FEATURE_BOUND

if TYPE_CHECKING:
    from windlass.networks import Layer

_Floats = NDArray[np.float64]

_SCALE_BITS = (30, 50)
"""log2 of the smallest and the largest scale."""

_LARGEST = 2.0**1000
"""The largest number that can be divided by units."""

_ERROR_BITS = 13
"""Bits of the scale for the error of encryption."""

_ACTIVATION_BITS = 4
"""Bits that the products of an activation take, beside its slope."""

_REFRESH_BITS = 30.0
"""The largest precision of a refresh that is asked for."""


class Step(NamedTuple):
    """A layer for numbers that are divided by their units."""

    weights: _Floats
    bias: _Floats
    activation: Fitted | None
    name: str
    measured: Interval
    """The numbers that the activation meets on the samples."""

    @property
    def depth(self) -> int:
        """The levels of the activation."""
        return 0 if self.activation is None else self.activation.circuit.depth


def _power_of_two(number: float) -> float:
    """The smallest power of two that is not below a positive number."""
    return float(2.0 ** math.ceil(math.log2(number)))


class Scaling:
    """The units by which numbers are divided, from samples."""

    def __init__(self, layers: tuple[Layer, ...], samples: _Floats, margin: float) -> None:
        self._layers = layers
        largest = np.abs(samples).max(axis=0)
        if largest.max() > _LARGEST:
            raise ValueRangeError(
                f"samples: feature {int(largest.argmax())} reaches {largest.max():.3g}, but at "
                f"most {_LARGEST:.3g} can be scaled: divide the feature before"
            )
        most = float(largest.max()) or 1.0
        units = [_power_of_two(each) if each > 0 else _power_of_two(most) for each in largest]
        self.feature_units: _Floats = np.array(units)
        self._measured: list[Interval] = []
        x = samples
        for layer in layers:
            x = x @ layer.weights.T + layer.bias
            self._measured.append((float(x.min()), float(x.max())))
            x = x if layer.activation is None else layer.activation.value(x)
        largest_score = float(np.abs(x).max()) * margin
        if not largest_score <= _LARGEST:
            raise ParameterError(
                f"the network gives scores up to {largest_score:.3g} for the samples, which is too "
                "large: check weights and activations"
            )
        self._score_unit = _power_of_two(largest_score) if largest_score > 0 else 1.0
        self._margin = margin

    def _interval(self, number: int) -> Interval:
        """The measured interval, widened."""
        low, high = self._measured[number]
        more = (self._margin - 1) * (high - low) / 2
        if not math.isfinite(high - low):
            message = (
                f"layer {number + 1} gives numbers that are not finite for the samples: check the "
                "weights and the activations before it"
            )
            raise ParameterError(message)
        if high <= low:
            message = (
                f"layer {number + 1} gives the number {low:.6g} for all samples, so its "
                "interval is empty: plan the network with other samples"
            )
            raise ParameterError(message)
        return low - more, high + more

    def steps(self, precision: float, context: Context) -> list[Step]:
        """The layers for numbers that are divided by their units."""
        size: Any = self.feature_units
        steps = []
        for number, layer in enumerate(self._layers):
            own, unit, middle = None, self._score_unit, 0.0
            if layer.activation is not None:
                own = fitted(layer.activation, self._interval(number), precision, context)
                unit, middle = own.half, own.middle
            weights, bias = layer.weights * size / unit, (layer.bias - middle) / unit
            name = "" if layer.activation is None else layer.activation.name
            steps.append(Step(weights, bias, own, name, self._measured[number]))
            size = None if own is None else own.size
        return steps

    def score_unit(self, steps: list[Step]) -> float:
        """By what scores are divided."""
        last = steps[-1].activation
        return self._score_unit if last is None else last.size


def _bound_bits(steps: list[Step]) -> int:
    """log2 of a bound on what any layer gives."""
    bounds = []
    bound = FEATURE_BOUND
    for step in steps:
        bounds.append(float((np.abs(step.weights).sum(axis=1) * bound + np.abs(step.bias)).max()))
        bound = 1.0
    return max(2, math.ceil(math.log2(max(1.0, *bounds))) + 1)


def _needed_bits(steps: list[Step], precision: float) -> float:
    """Bits of precision that encrypted rows need, for scores of so many bits.

    From the end: an activation multiplies an error by its slope, and weights by their norms. A
    polynomial of degree d also needs an argument whose error is well below ``d**-2``, beyond which
    it grows fast outside of -1..1.
    """
    bits = precision
    for step in reversed(steps):
        if step.activation is not None:
            steep = math.log2(max(step.activation.slope(), 1.0))
            tame = 2 * math.log2(step.activation.series.degree()) + 4
            bits = max(bits + steep + _ACTIVATION_BITS, tame)
        gain = float(np.sqrt(np.square(step.weights).sum(axis=1)).max())
        bits += math.log2(max(gain, 1.0)) + 1
    return bits


def chosen_context(
    steps: list[Step], depth: int, precision: float, rows: int, layout: str | None
) -> Context:
    """The smallest parameters whose depth suffices, or parameters with refreshes."""
    low, high = _SCALE_BITS
    needed = _needed_bits(steps, precision)
    scale_bits = min(high, max(low, math.ceil(needed + _ERROR_BITS)))
    try:
        return Context.approximate(
            depth=depth, scale_bits=scale_bits, value_bits=_bound_bits(steps)
        )
    except NoParameters:
        pass
    width = max(steps[0].weights.shape[1], *(len(step.bias) for step in steps))
    slots = rows if layout == "features" else rows * width
    return Context.refreshing(
        slots=min(2**15, int(_power_of_two(slots))),
        depth=1 + max(step.depth for step in steps),
        precision=min(_REFRESH_BITS, needed),
        progress=False,
    )


def reach_of(depth: int, context: Context) -> int:
    """The levels that can be spent before the numbers are refreshed.

    With refreshes that is less than the depth of the context if a refresh takes levels itself.

    Raises
    ------
    CapacityExhausted
        If it would have to, and does not.
    """
    if depth <= context.depth:
        return context.depth
    try:
        return context.depth - context.bootstrapping().input_levels
    except BootstrapError:
        message = (
            f"the network takes {depth} levels, but the context has {context.depth} and no "
            f"refreshes: leave context= out, use Context.approximate(depth={depth}) or "
            "Context.refreshing(), or plan with a smaller precision"
        )
        raise CapacityExhausted(message, depth=depth) from None


def refreshed_places(steps: list[Step], reach: int) -> list[bool]:
    """Where too few levels are left: before the product and the activation of each step.

    Raises
    ------
    CapacityExhausted
        If an activation is deeper than a refresh reaches.
    """
    places, left = [], reach
    for number, step in enumerate(steps, 1):
        for levels in (1, step.depth):
            if levels > reach:
                message = (
                    f"the activation of layer {number} takes {levels} levels, but there are "
                    f"{reach} between two refreshes: plan with a smaller precision, or a context "
                    f"of more depth"
                )
                raise CapacityExhausted(message, depth=levels)
            places.append(left < levels)
            left = (reach if left < levels else left) - levels
    return places


def stride_of(steps: list[Step]) -> int:
    """Slots for a row and all that is computed of it."""
    return max(int(steps[0].weights.shape[1]), *(len(step.bias) for step in steps))


def groups_of(steps: list[Step], kind: str, rows: int, slots: int) -> int:
    """Ciphertexts that hold all rows; with the kind ``"features"`` for each feature."""
    per = slots if kind == "features" else slots // stride_of(steps)
    return -(-rows // per)


def widths_of(steps: list[Step], kind: str) -> list[int]:
    """Ciphertexts of a group that go into each product and each activation, in turn."""
    own = [width for step in steps for width in reversed(step.weights.shape)]
    return own if kind == "features" else [1] * len(own)


def chosen_layout(
    steps: list[Step], layout: str | None, rows: int, slots: int
) -> Literal["rows", "features"]:
    """The layout that was asked for, or the one with fewer ciphertexts (by features if equal).

    Products of ciphertexts and refreshes take most of the time, and both grow with their number.
    """
    fits = stride_of(steps) <= slots
    if layout == "rows" and not fits:
        message = (
            f'layout "rows" needs {stride_of(steps)} slots for a row, but a ciphertext has '
            f'{slots}: use layout "features"'
        )
        raise ParameterError(message)
    if layout is not None:
        return "rows" if layout == "rows" else "features"
    if not fits:
        return "features"
    by_rows, by_features = (
        groups_of(steps, kind, rows, slots) * sum(widths_of(steps, kind))
        for kind in ("rows", "features")
    )
    return "rows" if by_rows < by_features else "features"

"""What a planned network costs: time of both layouts, refreshes, keys, bytes; and the plan in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from windlass._windlass import Context

if TYPE_CHECKING:
    from windlass.network_plans import NetworkPlan, Step

_PRODUCT = 1.4
"""A product of ciphertexts, relinearised and rescaled, in automorphisms."""

_TERM = 0.5
"""A ciphertext times a number, added to a sum, in products with a constant."""


class Costs:
    """Estimated seconds of each layout on one thread, and the number of ciphertexts that are refreshed.

    The prices are those of the highest level. Key switches at fraction f of the levels are taken as
    f^1.5 of that, products with constants as f.
    """

    def __init__(self, context: Context, steps: list[Step], rows: int, refreshes: bool) -> None:
        self._prices = context.prices()
        self._steps = steps
        width = max(steps[0].weights.shape[1], *(len(step.bias) for step in steps))
        self._groups = {"features": -(-rows // context.slots)}
        if width <= context.slots:
            self._groups["rows"] = -(-rows // (context.slots // width))
        self._total = len(steps) + sum(step.depth for step in steps)
        self._refresh_seconds = 0.0
        self._places: list[bool] = [False] * (2 * len(steps))
        if refreshes:
            plan = context.bootstrapping()
            self._refresh_seconds = plan.estimated_seconds()
            self._places = self._refreshed(context.depth, max(1, int(plan.output_bits // 42)))
        self.refreshes = {kind: self._count(kind) for kind in self._groups}
        self.seconds = {kind: self._seconds(kind) for kind in self._groups}

    def _refreshed(self, fresh: int, after: int) -> list[bool]:
        """Before which products and activations, in turn, the numbers are refreshed."""
        places, left = [], fresh
        for step in self._steps:
            for levels in (1, step.depth):
                places.append(left < levels)
                left = (after if left < levels else left) - levels
        return places

    def _ciphertexts(self, kind: str, place: int) -> int:
        """How many ciphertexts go into a product (even places) or an activation (odd ones)."""
        step, groups = self._steps[place // 2], self._groups[kind]
        width = len(step.bias) if place % 2 else step.weights.shape[1]
        return groups * width if kind == "features" else groups

    def _count(self, kind: str) -> int:
        return sum(self._ciphertexts(kind, at) for at, is_one in enumerate(self._places) if is_one)

    def _product(self, kind: str, step: Step) -> float:
        """Milliseconds of a layer without its activation, at the highest level."""
        price, (outputs, inputs) = self._prices, step.weights.shape
        if kind == "features":
            terms = inputs * outputs * _TERM * price["constant_product"]
            return terms + outputs * price["mod_down"]
        diagonals = inputs + outputs - 1
        steps = math.sqrt(diagonals)
        return float(
            price["hoist"]
            + steps * (price["hoisted_automorphism"] + price["giant_step"])
            + diagonals * price["constant_product"]
            + price["mod_down"]
        )

    def _seconds(self, kind: str) -> float:
        left, milliseconds = self._total, 0.0
        groups = self._groups[kind]
        for number, step in enumerate(self._steps):
            share = 0.6 if self._refresh_seconds else (left + 1) / (self._total + 1)
            milliseconds += groups * self._product(kind, step) * share
            left -= 1 + step.depth
            if step.activation is not None:
                products = step.activation.circuit.products or step.depth
                each = products * _PRODUCT * self._prices["automorphism"] * share**1.5
                milliseconds += self._ciphertexts(kind, 2 * number + 1) * each
        return milliseconds / 1000 + self.refreshes[kind] * self._refresh_seconds


def _megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"


def _times(kind: str, seconds: dict[str, float]) -> str:
    """The times of both layouts, that of the plan first."""
    other = [f"by {name} {each:.2g} s" for name, each in seconds.items() if name != kind]
    against = f"; {other[0]}" if other else ""
    return f"about {seconds[kind]:.2g} s on one thread of this machine{against}"


def _of_step(number: int, step: Step) -> str:
    outputs, inputs = step.weights.shape
    text = f"{inputs} to {outputs}"
    own = step.activation
    if own is None:
        return f"{text}, no activation"
    low, high = own.interval
    degrees = own.circuit.degrees
    how = f"degree {', '.join(map(str, degrees))}, " if degrees else "as it is, "
    return (
        f"{text}, {step.name} from {low:.4g} to {high:.4g} (samples {step.measured[0]:.4g} to "
        f"{step.measured[1]:.4g}), {how}depth {step.depth}, within {own.error:.2g}"
    )


def explained(plan: NetworkPlan) -> str:
    """The plan in words."""
    own, context = plan.layout, plan.context
    sizes = context.sizes()
    inputs = own.groups * (own.features if own.kind == "features" else 1)
    outputs = own.groups * (own.outputs if own.kind == "features" else 1)
    keys = len(own.galois_elements) + 1
    how = (
        f"{own.per_ciphertext} rows of {own.stride} slots in a ciphertext"
        if own.kind == "rows"
        else f"one feature of {own.per_ciphertext} rows in a ciphertext"
    )
    refreshes = f", {plan.refreshes} refreshes" if own.refreshes else ", no refresh"
    rows = [
        ("network", repr(plan.network)[len("<windlass.Network, ") : -1]),
        ("layout", f"by {own.kind}: {how}; {own.rows} rows in {inputs} ciphertexts"),
        ("time", _times(own.kind, plan.seconds)),
        ("parameters", f"n = {context.ring_dimension}, {context.security:.0f} bits of security"),
        ("levels", f"{plan.depth} of {context.depth}{refreshes}"),
        *((f"layer {number}", _of_step(number, step)) for number, step in enumerate(plan.steps, 1)),
        ("scores", f"on the samples within {plan.difference:.2g} of the network's"),
        ("keys", f"{keys}, {_megabytes(keys * sizes['switching_key_disk'])}"),
        ("rows", _megabytes(inputs * sizes["fresh_ciphertext_disk"])),
        ("scores", f"{outputs} ciphertexts"),
    ]
    return "\n".join(f"{name:<12}{text}" for name, text in rows)

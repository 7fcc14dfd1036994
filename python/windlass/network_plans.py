"""Plans of networks on encrypted rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._activations import Fitted, Interval
from windlass._html import lines
from windlass._network_design import (
    Scaling,
    Step,
    chosen_context,
    chosen_layout,
    groups_of,
    reach_of,
    refreshed_places,
    stride_of,
    widths_of,
)
from windlass._progress import callback
from windlass._windlass import Bootstrapping, Ciphertext, Client, Context, Keys, LinearPlan, Server
from windlass.errors import DTypeError, ParameterError
from windlass.network_layouts import NetworkData, NetworkLayout, check_context, check_type

if TYPE_CHECKING:
    from windlass.networks import Network

_Floats = NDArray[np.float64]
_Progress = bool | Callable[[int, int], object] | None

_MOST_ROWS = 2**30
"""The largest number of rows that a plan takes."""


class NetworkPlan:
    """A planned network on encrypted rows.

    Made by :meth:`Network.plan`. Name it in :meth:`Context.generate_keys`. The client encrypts and
    decrypts, by the plan or by its :attr:`layout` alone; the server runs the plan.

    **Warning.** The scores of a row that leads to numbers outside the intervals of the plan are
    wrong, and those of the other rows in its ciphertexts may be. No error is raised unless a score
    exceeds its bound. :meth:`in_the_clear` refuses such rows.

    Attributes
    ----------
    network : Network
    layout : NetworkLayout
    steps : list of Step
        The layers, for numbers that are divided by their units.
    difference : float
        The largest difference of the scores of the samples by the polynomials, without encryption,
        from those of the network itself.
    depth : int
        The levels that all layers take together.
    refreshes : int
        The number of ciphertexts that are refreshed in a run.

    Examples
    --------
    >>> import windlass as wl
    >>> network = wl.Network([([[1.0, -1.0]], None, "tanh")])
    >>> plan = network.plan([[0.5, 0.25], [-1.0, 0.5]], rows=2, precision=6)
    >>> plan.layout.kind, plan.layout.per_ciphertext >= 2, plan.refreshes
    ('rows', True, 0)

    """

    def __init__(
        self,
        network: Network,
        samples: _Floats,
        *,
        rows: int,
        precision: float,
        margin: float,
        layout: Literal["rows", "features"] | None,
        context: Context | None,
    ) -> None:
        count = _check_arguments(rows, precision, margin, layout, context)
        self.network = network
        self._margin = float(margin)
        scaling = Scaling(network.layers, samples, margin)
        # Depths and degrees do not depend on parameters.
        self.steps: list[Step] = scaling.steps(precision, context or Context.approximate(depth=1))
        self.depth: int = len(self.steps) + sum(step.depth for step in self.steps)
        if context is None:
            context = chosen_context(self.steps, self.depth, precision, count, layout)
            self.steps = scaling.steps(precision, context)
        self.context: Context = context
        reach = reach_of(self.depth, context)
        kind = chosen_layout(self.steps, layout, count, context.slots)
        # Before which products and activations, in turn, the numbers are refreshed.
        self._refreshed: list[bool] = refreshed_places(self.steps, reach)
        widths = widths_of(self.steps, kind)
        groups = groups_of(self.steps, kind, count, context.slots)
        self.refreshes: int = groups * sum(
            width for width, place in zip(widths, self._refreshed, strict=True) if place
        )
        self._linear: list[LinearPlan] = []
        self.layout: NetworkLayout = self._laid_out(kind, count, scaling, any(self._refreshed))
        clear = self._evaluated(samples)
        self.difference: float = float(np.abs(clear - network.scores(samples)).max())

    def _laid_out(
        self, kind: Literal["rows", "features"], count: int, scaling: Scaling, refreshes: bool
    ) -> NetworkLayout:
        """Where rows lie; for the kind ``"rows"`` the plans of the matrices too, for their keys."""
        slots, stride = self.context.slots, stride_of(self.steps) if kind == "rows" else 1
        per = min(slots // stride, count) if kind == "rows" else slots
        if kind == "rows":
            self._linear = [
                self.context.blocks(step.weights, count=per, stride=stride) for step in self.steps
            ]
        elements = {element for plan in self._linear for element in plan.required_keys}
        return NetworkLayout(
            context=self.context,
            kind=kind,
            rows=count,
            features=self.network.features,
            outputs=self.network.outputs,
            per_ciphertext=per,
            stride=stride,
            feature_units=tuple(float(unit) for unit in scaling.feature_units),
            score_unit=scaling.score_unit(self.steps),
            galois_elements=tuple(sorted(elements)),
            refreshes=refreshes,
        )

    @property
    def intervals(self) -> list[Interval | None]:
        """The interval of each layer's activation; None for a layer without one."""
        return [
            None if step.activation is None else step.activation.interval for step in self.steps
        ]

    def __windlass_needs__(self) -> tuple[Keys | Bootstrapping, ...]:
        return self.layout.__windlass_needs__()

    def encrypt(self, client: Client, rows: ArrayLike) -> NetworkData:
        """Encrypt rows, as :meth:`NetworkLayout.encrypt`.

        Parameters
        ----------
        client : Client
        rows : array_like, shape (rows, features)
            At most as many rows as were planned.

        Returns
        -------
        NetworkData

        """
        return self.layout.encrypt(client, rows)

    def decrypt(self, client: Client, scores: NetworkData) -> _Floats:
        """Decrypt scores, as :meth:`NetworkLayout.decrypt`.

        Parameters
        ----------
        client : Client
        scores : NetworkData

        Returns
        -------
        numpy.ndarray, shape (rows, outputs)

        """
        return self.layout.decrypt(client, scores)

    def run(self, server: Server, rows: NetworkData, *, progress: _Progress = None) -> NetworkData:
        """Compute the encrypted scores of encrypted rows.

        Parameters
        ----------
        server : Server
        rows : NetworkData
            What :meth:`encrypt` gave.
        progress : bool or callable, optional
            A bar, or a function of (done, count) in layers and activations.

        Returns
        -------
        NetworkData

        Raises
        ------
        MissingRelinearisationKey, MissingGaloisKey, MissingBootstrappingKeys
            If the keys were not made for this plan.
        OtherContext, OtherKeyPair
        ParameterError
            If these are no rows, or were encrypted for another layout.

        """
        check_type(server, Server, "server")
        check_context(self.context, server.context)
        self.layout.check(rows, "rows")
        tell = callback(progress, "network")
        done, count = 0, len(self.steps) + sum(step.activation is not None for step in self.steps)
        x = server.receive(rows.values)
        try:
            for number, step in enumerate(self.steps):
                x = self._product(number, self._ready(2 * number, x))
                done = _told(tell, done + 1, count)
                if step.activation is not None:
                    x = self._ready(2 * number + 1, x.assume_bound(1.0))
                    x = step.activation.circuit(x, progress=False).assume_bound(1.0)
                    done = _told(tell, done + 1, count)
        finally:
            close = getattr(tell, "close", None)
            if close is not None:
                close()
        return NetworkData(x, rows.count, "scores", self.layout.name)

    def _ready(self, place: int, x: Ciphertext) -> Ciphertext:
        """The same numbers, refreshed where the plan says so."""
        return x.refresh(progress=False) if self._refreshed[place] else x

    def _product(self, number: int, x: Ciphertext) -> Ciphertext:
        """A layer without its activation."""
        step = self.steps[number]
        if self.layout.kind == "features":
            return step.weights @ x + step.bias[:, None]
        block = np.zeros(self.layout.stride)
        block[: len(step.bias)] = step.bias
        return self._linear[number](x, progress=False) + np.tile(block, self.layout.per_ciphertext)

    def in_the_clear(self, rows: ArrayLike) -> _Floats:
        """Compute the scores by the same polynomials in double precision, without encryption.

        Parameters
        ----------
        rows : array_like, shape (rows, features)

        Returns
        -------
        numpy.ndarray, shape (rows, outputs)

        Raises
        ------
        ValueRangeError
            If a row leads to a number outside the interval of an activation. ``index`` is the
            number of the row.

        """
        return self._evaluated(self.network._rows(rows), Fitted.check)

    def _evaluated(
        self, rows: _Floats, check: Callable[[Fitted, _Floats, str], None] | None = None
    ) -> _Floats:
        """The scores by the polynomials; `check` sees the arguments of each."""
        x = rows / np.array(self.layout.feature_units)
        for number, step in enumerate(self.steps, 1):
            x = x @ step.weights.T + step.bias
            if step.activation is not None:
                if check is not None:
                    check(step.activation, x, f"layer {number}")
                x = step.activation.series(x)
        return np.asarray(x * self.layout.score_unit)

    def explain(self) -> str:
        """Describe the plan: layout, parameters, levels, refreshes, activations, keys, bytes.

        Returns
        -------
        str

        """
        return _explained(self)

    def __repr__(self) -> str:
        return (
            f"<windlass.NetworkPlan, {self.network._shape()}, {self.layout.rows} rows by "
            f"{self.layout.kind}, {self.depth} levels, {self.refreshes} refreshes>"
        )

    def _repr_html_(self) -> str:
        return lines(self.explain())


def _told(tell: Callable[[int, int], object] | None, done: int, count: int) -> int:
    if tell is not None:
        tell(done, count)
    return done


def _check_arguments(
    rows: int, precision: float, margin: float, layout: str | None, context: Context | None
) -> int:
    """Refuse arguments that are out of range; the number of rows."""
    try:
        count = operator.index(rows)
    except TypeError:
        raise DTypeError(f"rows must be an integer, not {rows!r}") from None
    if count < 1:
        raise ParameterError(f"rows is {count}, but must be at least 1")
    if count > _MOST_ROWS:
        raise ParameterError(
            f"rows is {count}, but must be at most {_MOST_ROWS}: encrypt the rows in several calls"
        )
    for name, value, low, high in [("precision", precision, 1, 30), ("margin", margin, 1, 1000)]:
        if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
            raise DTypeError(f"{name} must be a number, not {value!r}")
        if not low <= value <= high:
            raise ParameterError(f"{name} is {value}, but must be from {low} to {high}")
    if layout not in (None, "rows", "features"):
        raise ParameterError(f'layout must be "rows", "features" or None, not {layout!r}')
    if context is not None and not isinstance(context, Context):
        raise DTypeError(f"context must be a Context, not {context!r}: try Context.preset(name)")
    if context is not None and context.scheme != "CKKS":
        raise ParameterError(
            "a network computes with real numbers (CKKS), but the context is of "
            f"{context.scheme}: use Context.approximate or Context.refreshing"
        )
    return count


def _megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"


def _of_step(step: Step) -> str:
    outputs, inputs = step.weights.shape
    text = f"{inputs} to {outputs}"
    own = step.activation
    if own is None:
        return f"{text}, no activation"
    low, high = own.interval
    return (
        f"{text}, {step.name} from {low:.4g} to {high:.4g} (samples {step.measured[0]:.4g} to "
        f"{step.measured[1]:.4g}), degree {own.series.degree()}, depth {step.depth}, "
        f"within {own.error:.2g}"
    )


def _explained(plan: NetworkPlan) -> str:
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
    refreshes = (
        f"{plan.refreshes}, with keys of their own (context.bootstrapping().explain())"
        if own.refreshes
        else "none"
    )
    rows = [
        ("network", plan.network.describe()),
        ("layout", f"by {own.kind}: {how}"),
        ("parameters", f"n = {context.ring_dimension}, {context.security:.0f} bits of security"),
        ("levels", f"{plan.depth} in all; the context has {context.depth}"),
        ("refreshes", refreshes),
        *((f"layer {number}", _of_step(step)) for number, step in enumerate(plan.steps, 1)),
        ("scores", f"on the samples within {plan.difference:.2g} of the network's, unencrypted"),
        ("keys", f"{keys}, {_megabytes(keys * sizes['switching_key_disk'])}"),
        (
            "encrypted",
            f"{own.rows} row{'s' * (own.rows != 1)} in {inputs} ciphertext{'s' * (inputs != 1)}, "
            f"{_megabytes(inputs * sizes['fresh_ciphertext_disk'])}; scores in {outputs}",
        ),
    ]
    return "\n".join(f"{name:<12}{text}" for name, text in rows)

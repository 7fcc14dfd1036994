"""Plans of networks on encrypted rows: intervals, polynomials, parameters, layouts, refreshes.

Every number that is encrypted is divided by a unit, so that arguments and results of activations
lie in
-1..1. The units are multiplied into the weights, which costs nothing, saves the level that would
bring an interval to -1..1, and is what refreshes need.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._activations import Fitted, Interval, fitted
from windlass._html import lines
from windlass._progress import callback
from windlass._windlass import Bootstrapping, Ciphertext, Client, Context, Keys, LinearPlan, Server
from windlass.errors import (
    BootstrapError,
    CapacityExhausted,
    DTypeError,
    NoParameters,
    OtherContext,
    ParameterError,
    ShapeError,
    ValueRangeError,
)
from windlass.models import _numbers

if TYPE_CHECKING:
    from windlass.networks import Layer, Network

_Floats = NDArray[np.float64]
_Progress = bool | Callable[[int, int], object] | None

_FEATURE_BOUND = 4.0
"""How much larger than its unit an encrypted feature may be."""

_SCALE_BITS = (30, 50)
"""log2 of the smallest and the largest scale."""

_MOST_ROWS = 2**30
"""The largest number of rows that a plan takes."""

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


@dataclass(frozen=True)
class NetworkData:
    """Encrypted rows, or encrypted scores, of a :class:`NetworkPlan`.

    Attributes
    ----------
    values : Ciphertext
    count : int
        The number of rows.
    holds : {"rows", "scores"}
    layout : str
        The name of the layout (:attr:`NetworkLayout.name`).

    """

    values: Ciphertext
    count: int
    holds: Literal["rows", "scores"]
    layout: str

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts in memory."""
        return self.values.nbytes

    @property
    def precision_bits(self) -> float | None:
        """Stated precision against :meth:`NetworkPlan.in_the_clear`, in the layout's units."""
        return self.values.precision_bits


@dataclass(frozen=True)
class NetworkLayout:
    """Where rows and scores lie, and which keys the server needs: the client's part of a plan.

    A client needs it and no weights. It can be pickled.

    Attributes
    ----------
    context : Context
    kind : {"rows", "features"}
        ``"rows"``: a ciphertext holds ``per_ciphertext`` rows, ``stride`` slots apart.
        ``"features"``: a ciphertext holds one feature of ``per_ciphertext`` rows.
    rows : int
        The number of rows that are encrypted together, at most.
    features, outputs : int
    per_ciphertext, stride : int
    feature_units : tuple of float
        Powers of two by which features are divided before they are encrypted. A feature may be four
        times as large.
    score_unit : float
        The number by which scores are divided.
    galois_elements : tuple of int
        The automorphisms that need keys.
    refreshes : bool
        Whether the server needs the keys of refreshes.

    """

    context: Context
    kind: Literal["rows", "features"]
    rows: int
    features: int
    outputs: int
    per_ciphertext: int
    stride: int
    feature_units: tuple[float, ...]
    score_unit: float
    galois_elements: tuple[int, ...]
    refreshes: bool

    @property
    def groups(self) -> int:
        """Ciphertexts that hold all rows; with the kind ``"features"`` for each feature."""
        return self._groups(self.rows)

    def _groups(self, rows: int) -> int:
        return -(-rows // self.per_ciphertext)

    @property
    def name(self) -> str:
        """A name that layouts share only if they are equal: a hash of all that they hold."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]

    def check(self, data: NetworkData, holds: Literal["rows", "scores"]) -> None:
        """Refuse data of another layout, and scores where rows belong.

        Parameters
        ----------
        data : NetworkData
        holds : {"rows", "scores"}
            What it should hold.

        Raises
        ------
        DTypeError
            If it is no :class:`NetworkData`.
        ParameterError
            If it holds the other, or was made for another layout.
        ShapeError
            If its ciphertexts have another shape than so many rows.

        """
        _check_type(data, NetworkData, holds)
        if data.holds != holds:
            raise ParameterError(
                f"{holds} are needed, but these are encrypted {data.holds}: a server runs the plan "
                "on rows, and a client decrypts the scores that it gives"
            )
        if data.layout != self.name:
            raise ParameterError(
                f"the {holds} belong to another layout: give the client the layout of this plan "
                "and encrypt the rows again"
            )
        if not 1 <= data.count <= self.rows:
            message = f"the number of rows is {data.count}, but the plan is for 1 to {self.rows}"
            raise ShapeError(message, expected=self.rows, got=data.count)
        groups, width = self._groups(data.count), self.features if holds == "rows" else self.outputs
        wide = self.per_ciphertext * self.stride
        expected = (groups, wide) if self.kind == "rows" else (width, groups * self.per_ciphertext)
        if data.values.shape != expected:
            raise ShapeError(
                f"encrypted {holds} of {data.count} rows have the shape {expected}, not "
                f"{data.values.shape}: encrypt them with the layout of this plan"
            )

    def __windlass_needs__(self) -> tuple[Keys | Bootstrapping, ...]:
        keys = self.context.keys(list(self.galois_elements), relinearisation=True)
        return (keys, self.context.bootstrapping()) if self.refreshes else (keys,)

    def encrypt(self, client: Client, rows: ArrayLike) -> NetworkData:
        """Encrypt rows.

        Parameters
        ----------
        client : Client
        rows : array_like, shape (rows, features)
            At most as many rows as were planned.

        Returns
        -------
        NetworkData

        Raises
        ------
        ShapeError
            If the rows are too many, or have another number of features.
        ValueRangeError
            If a number is not finite, or larger than four times the unit of its feature.
        OtherContext

        """
        _check_type(client, Client, "client")
        _check_context(self.context, client.context)
        array = _numbers(rows, "rows").astype(float)
        if array.ndim != 2 or array.shape[1] != self.features or not len(array):
            message = f"rows have the shape (rows, {self.features}), not {array.shape}"
            got = array.shape[1] if array.ndim == 2 else array.ndim
            raise ShapeError(message, expected=self.features, got=got)
        if len(array) > self.rows:
            message = (
                f"{len(array)} rows are given, but the plan is for {self.rows} at most: encrypt "
                f"them in "
                f"several calls, or plan the network with rows={len(array)}"
            )
            raise ShapeError(message, expected=self.rows, got=len(array))
        divided = array / np.array(self.feature_units)
        self._check_sizes(array, divided)
        # Rows again, not zeros: for a row of zeros no interval was measured.
        groups = self._groups(len(array))
        full = np.resize(divided, (groups * self.per_ciphertext, self.features))
        values = client.encrypt(self._arranged(full, groups), bound=_FEATURE_BOUND)
        return NetworkData(values, len(array), "rows", self.name)

    def _check_sizes(self, array: _Floats, divided: _Floats) -> None:
        beyond = np.abs(divided) > _FEATURE_BOUND
        if beyond.any():
            index = int(np.flatnonzero(beyond.ravel())[0])
            row, feature = divmod(index, self.features)
            value = float(array[row, feature])
            largest = _FEATURE_BOUND * self.feature_units[feature]
            message = (
                f"rows: feature {feature} of row {row} is {value:.6g}, but at most {largest:.6g} "
                f"in "
                "absolute value was planned for: plan the network with samples that have such rows"
            )
            raise ValueRangeError(message, index=index, value=str(value))

    def _arranged(self, rows: _Floats, groups: int) -> _Floats:
        """The rows as they lie in ciphertexts, one ciphertext for each row of the result."""
        if self.kind == "features":
            return np.ascontiguousarray(rows.T)
        wide = np.zeros((len(rows), self.stride))
        wide[:, : self.features] = rows
        return wide.reshape(groups, self.per_ciphertext * self.stride)

    def decrypt(self, client: Client, scores: NetworkData) -> _Floats:
        """Decrypt scores.

        Parameters
        ----------
        client : Client
        scores : NetworkData
            What :meth:`NetworkPlan.run` gave.

        Returns
        -------
        numpy.ndarray, shape (rows, outputs)

            **Warning.** Their errors depend on the secret key. Round them before you publish them.

        Raises
        ------
        NotDecryptable
            If a score exceeds its bound, as after a number outside the interval of an activation.
        ParameterError
            If these are no scores, or belong to another layout.
        OtherContext

        """
        _check_type(client, Client, "client")
        _check_context(self.context, client.context)
        self.check(scores, "scores")
        values = np.asarray(client.decrypt(scores.values), dtype=float)
        if self.kind == "features":
            rows = values.T
        else:
            rows = values.reshape(-1, self.stride)[:, : self.outputs]
        return np.ascontiguousarray(rows[: scores.count]) * self.score_unit


def _check_type(given: object, kind: type, name: str) -> None:
    if not isinstance(given, kind):
        raise DTypeError(f"{name}: a {kind.__name__} is needed, not {type(given).__name__}")


def _check_context(own: Context, other: Context) -> None:
    if own != other:
        message = (
            f"the network was planned for another context ({own!r} of depth {own.depth}, not "
            f"{other!r} of depth {other.depth}); use one context"
        )
        raise OtherContext(message)


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
        scaling = _Scaling(network.layers, samples, margin)
        # Depths and degrees do not depend on parameters.
        self.steps: list[Step] = scaling.steps(precision, context or Context.approximate(depth=1))
        self.depth: int = len(self.steps) + sum(step.depth for step in self.steps)
        if context is None:
            context = _chosen(self.steps, self.depth, precision, count, layout)
            self.steps = scaling.steps(precision, context)
        self.context: Context = context
        reach = _reach(self.depth, context)
        kind = _kind(self.steps, layout, count, context.slots)
        # Before which products and activations, in turn, the numbers are refreshed.
        self._refreshed: list[bool] = _places(self.steps, reach)
        widths = _widths(self.steps, kind)
        groups = _groups(self.steps, kind, count, context.slots)
        self.refreshes: int = groups * sum(
            width for width, place in zip(widths, self._refreshed, strict=True) if place
        )
        self._linear: list[LinearPlan] = []
        self.layout: NetworkLayout = self._laid_out(kind, count, scaling, any(self._refreshed))
        clear = self._evaluated(samples)
        self.difference: float = float(np.abs(clear - network.scores(samples)).max())

    def _laid_out(
        self, kind: Literal["rows", "features"], count: int, scaling: _Scaling, refreshes: bool
    ) -> NetworkLayout:
        """Where rows lie; for the kind ``"rows"`` the plans of the matrices too, for their keys."""
        slots, stride = self.context.slots, _stride(self.steps) if kind == "rows" else 1
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
        _check_type(server, Server, "server")
        _check_context(self.context, server.context)
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
            f"a network computes with real numbers (CKKS), but the context is of {context.scheme}: "
            f"use "
            "Context.approximate or Context.refreshing"
        )
    return count


def _power_of_two(number: float) -> float:
    """The smallest power of two that is not below a positive number."""
    return float(2.0 ** math.ceil(math.log2(number)))


class _Scaling:
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
                f"layer {number + 1} gives the number {low:.6g} for all samples, so its interval "
                f"is empty: "
                "plan the network with other samples"
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
    bound = _FEATURE_BOUND
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


def _chosen(
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


def _reach(depth: int, context: Context) -> int:
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
            f"refreshes: "
            f"leave context= out, use Context.approximate(depth={depth}) or Context.refreshing(), "
            f"or plan "
            "with a smaller precision"
        )
        raise CapacityExhausted(message, depth=depth) from None


def _places(steps: list[Step], reach: int) -> list[bool]:
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


def _stride(steps: list[Step]) -> int:
    """Slots for a row and all that is computed of it."""
    return max(int(steps[0].weights.shape[1]), *(len(step.bias) for step in steps))


def _groups(steps: list[Step], kind: str, rows: int, slots: int) -> int:
    """Ciphertexts that hold all rows; with the kind ``"features"`` for each feature."""
    per = slots if kind == "features" else slots // _stride(steps)
    return -(-rows // per)


def _widths(steps: list[Step], kind: str) -> list[int]:
    """Ciphertexts of a group that go into each product and each activation, in turn."""
    own = [width for step in steps for width in reversed(step.weights.shape)]
    return own if kind == "features" else [1] * len(own)


def _kind(
    steps: list[Step], layout: str | None, rows: int, slots: int
) -> Literal["rows", "features"]:
    """The layout that was asked for, or the one with fewer ciphertexts (by features if equal).

    Products of ciphertexts and refreshes take most of the time, and both grow with their number.
    """
    fits = _stride(steps) <= slots
    if layout == "rows" and not fits:
        message = (
            f'layout "rows" needs {_stride(steps)} slots for a row, but a ciphertext has {slots}: '
            'use layout "features"'
        )
        raise ParameterError(message)
    if layout is not None:
        return "rows" if layout == "rows" else "features"
    if not fits:
        return "features"
    by_rows, by_features = (
        _groups(steps, kind, rows, slots) * sum(_widths(steps, kind))
        for kind in ("rows", "features")
    )
    return "rows" if by_rows < by_features else "features"


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
            f"{own.rows} rows in {inputs} ciphertexts, "
            f"{_megabytes(inputs * sizes['fresh_ciphertext_disk'])}; scores in {outputs}",
        ),
    ]
    return "\n".join(f"{name:<12}{text}" for name, text in rows)

"""Activations of networks: their values in the clear, and polynomials near them on ciphertexts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass._windlass import Ciphertext, Circuit, Context
from windlass.errors import (
    DTypeError,
    NoParameters,
    ParameterError,
    UnknownName,
    ValueRangeError,
)

_Floats = NDArray[np.float64]

Interval = tuple[float, float]

_ROOM = 1.0 + 2.0**-6
"""Results are divided by their largest absolute value times this, so that errors keep them below 1."""


class Activation(NamedTuple):
    """A function of one real number."""

    name: str
    value: Callable[[_Floats], _Floats]
    """In the clear, entry by entry."""
    degree: int | None = None
    """Of a polynomial, which is computed as it is."""

    def __reduce__(self) -> tuple[Any, ...]:
        known = _NAMED.get(self.name) is self
        return (activation, (self.name,)) if known else (Activation, tuple(self))


def _sigmoid(x: _Floats) -> _Floats:
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))


_NORMAL: Callable[[_Floats], _Floats] = np.vectorize(
    lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), otypes=[float]
)

_NAMED = {
    "relu": Activation("relu", lambda x: np.maximum(x, 0.0)),
    "gelu": Activation("gelu", lambda x: x * _NORMAL(x)),
    "sigmoid": Activation("sigmoid", _sigmoid),
    "tanh": Activation("tanh", np.tanh),
    "square": Activation("square", np.square, degree=2),
}

_OTHER_NAMES = {"logistic": "sigmoid"}

_NONE = (None, "identity")


def activation(given: Any) -> Activation | None:
    """Read an activation: a name, a function of a float, a polynomial of NumPy, or none.

    Raises
    ------
    UnknownName, DTypeError
        For other names, and for what cannot be called.
    """
    if isinstance(given, Activation) or given in _NONE:
        return given if isinstance(given, Activation) else None
    if isinstance(given, str):
        found = _NAMED.get(_OTHER_NAMES.get(given, given))
        if found is None:
            known = ["identity", *_OTHER_NAMES, *_NAMED]
            message = (
                f"no activation is called {given!r}: choose one of {', '.join(known)}, or give a "
                "function of a float or a polynomial of numpy.polynomial"
            )
            raise UnknownName(message, given=given, known=known)
        return found
    if _is_polynomial(given):
        return Activation("polynomial", given, given.degree())
    if callable(given):
        return Activation(getattr(given, "__name__", "function"), _OfFloats(given))
    raise DTypeError(f"an activation is a name, a function of a float or None, not {given!r}")


def _is_polynomial(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("coef", "domain", "window", "degree"))


class _OfFloats:
    """A function of a float, for arrays."""

    def __init__(self, f: Callable[[float], float]) -> None:
        self._f = f

    def __call__(self, x: _Floats) -> _Floats:
        flat = [float(self._f(float(entry))) for entry in np.ravel(x)]
        return np.array(flat, dtype=float).reshape(np.shape(x))


class Fitted(NamedTuple):
    """An activation on ciphertexts, for arguments and results that are divided by their largest.

    Its argument is ``t = (x - middle) / half``, in -1..1, and its result near ``f(x) / size``.
    """

    middle: float
    half: float
    size: float
    circuit: Circuit
    adds_argument: bool
    """Whether the argument is added to what the circuit gives: ``t + |t|`` is twice a ReLU."""

    @property
    def interval(self) -> Interval:
        """The numbers that the activation takes."""
        reach = self.half * self.arguments
        return self.middle - reach, self.middle + reach

    @property
    def error(self) -> float:
        """The largest distance from the function, in units of the function."""
        return (self.circuit.approximation_error or 0.0) * self.size

    @property
    def arguments(self) -> float:
        """The largest absolute value of arguments."""
        return 0.5 if self.adds_argument else 1.0

    def __call__(self, t: Ciphertext) -> Ciphertext:
        result = self.circuit(t, progress=False)
        return result + t if self.adds_argument else result

    def slope(self) -> float:
        """The largest slope of what is computed."""
        t = np.linspace(-self.arguments, self.arguments, 1025)
        return float(np.abs(np.gradient(self.in_the_clear(t), t)).max())

    def check(self, t: _Floats, what: str) -> None:
        """Refuse arguments outside of the interval, one row of arguments for each row of a table."""
        beyond = np.abs(t) > self.arguments
        if beyond.any():
            row = int(np.flatnonzero(beyond.any(axis=1))[0])
            value = self.middle + self.half * float(t[row][beyond[row]][0])
            low, high = self.interval
            message = (
                f"{what}: row {row} leads to the number {value:.6g}, but the activation was planned for "
                f"{low:.6g} to {high:.6g}: plan with samples that have such rows, or a larger margin"
            )
            raise ValueRangeError(message, index=row, value=str(value))

    def in_the_clear(self, t: _Floats) -> _Floats:
        """What is computed, in double precision."""
        result = self.circuit.in_the_clear(t)
        return result + t if self.adds_argument else result


def fitted(own: Activation, interval: Interval, precision: float, context: Context) -> Fitted:
    """Plan an activation on an interval: within ``2**-precision`` of it, relative to its largest value.

    Raises
    ------
    NoParameters
        If no polynomial reaches the precision.
    ParameterError
        If the function is 0 or not finite on the interval.
    """
    low, high = interval
    middle, half = (low + high) / 2, (high - low) / 2
    with np.errstate(all="ignore"):
        values = own.value(np.linspace(low, high, 4097))
    largest = float(np.abs(values).max())
    if not (math.isfinite(largest) and largest > 0):
        raise ParameterError(
            f"the activation {own.name} is {'0' if largest == 0 else 'not finite'} on the interval "
            f"from {low:.4g} to {high:.4g}: choose another activation"
        )
    size = largest * _ROOM

    def scaled(t: float) -> float:
        return float(own.value(np.array([middle + half * t]))[0]) / size

    if own.degree is not None:
        series = np.polynomial.Chebyshev.interpolate(
            lambda t: own.value(middle + half * t) / size, max(own.degree, 1)
        )
        return Fitted(middle, half, size, context.polynomial(series), adds_argument=False)
    if own.name != "relu":
        return Fitted(middle, half, size, context.function(scaled, (-1.0, 1.0), precision), False)
    return _relu(scaled, (middle, half, size), precision, context)


def _relu(
    scaled: Callable[[float], float],
    units: tuple[float, float, float],
    precision: float,
    context: Context,
) -> Fitted:
    """A ReLU by one polynomial, or by the composition of an absolute value if that is not as deep."""
    middle, half, size = units
    largest = 2 * (abs(middle) + half) * _ROOM
    found: list[Fitted] = []
    refusal: NoParameters | None = None
    try:
        circuit = context.function(scaled, (-1.0, 1.0), precision)
        found.append(Fitted(middle, half, size, circuit, adds_argument=False))
    except NoParameters as error:
        refusal = error
    try:
        # t = x / largest lies in -1/2..1/2, and t + |t| = relu(x) / (largest / 2).
        circuit = context.function("abs", (-1.0, 1.0), precision + 1)
        found.append(Fitted(0.0, largest, largest / 2, circuit, adds_argument=True))
    except NoParameters as error:
        refusal = refusal or error
    if not found:
        assert refusal is not None
        raise refusal
    return min(found, key=lambda own: own.circuit.depth)

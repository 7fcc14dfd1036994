"""Activations of networks: their values in the clear, and polynomials near them on ciphertexts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass._windlass import Circuit, Context
from windlass.errors import (
    DTypeError,
    NoParameters,
    ParameterError,
    UnknownName,
    ValueRangeError,
)

_Floats = NDArray[np.float64]

Interval = tuple[float, float]

_MOST = 511
"""The largest degree: nine levels."""

_POINTS = 8193
"""Where the distance of a polynomial from its activation is measured."""

_ROUNDING = 2.0**-20
"""How far beyond -1..1 an argument may be rounded."""

_ROOM = 1.0 + 2.0**-6
"""Results are divided by their largest absolute value times this: errors keep them below 1."""


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
        return np.array([self._at(float(t)) for t in np.ravel(x)]).reshape(np.shape(x))

    def _at(self, t: float) -> float:
        try:
            return float(self._f(t))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ParameterError(
                f"the function given as an activation fails at {t:.6g} ({error}): it takes a float "
                "and returns a float on the whole interval"
            ) from error


class Fitted(NamedTuple):
    """An activation on ciphertexts, for arguments and results that are divided by their largest.

    Its argument is ``t = (x - middle) / half``, in -1..1, and its result near ``f(x) / size``.
    """

    middle: float
    half: float
    size: float
    series: np.polynomial.Chebyshev
    circuit: Circuit
    error: float
    """The largest distance from the function, in units of the function."""

    @property
    def interval(self) -> Interval:
        """The numbers that the activation takes."""
        return self.middle - self.half, self.middle + self.half

    def slope(self) -> float:
        """The largest slope of what is computed."""
        t = np.linspace(-1, 1, _POINTS)
        return float(np.abs(self.series.deriv()(t)).max())

    def check(self, t: _Floats, what: str) -> None:
        """Refuse arguments outside of the interval: a row of arguments for each row of a table."""
        beyond = np.abs(t) > 1 + _ROUNDING
        if beyond.any():
            row = int(np.flatnonzero(beyond.any(axis=1))[0])
            value = self.middle + self.half * float(t[row][beyond[row]][0])
            low, high = self.interval
            message = (
                f"{what}: row {row} leads to the number {value:.6g}, but the activation was "
                f"planned for {low:.6g} to {high:.6g}: plan with samples that have such rows, "
                "or a larger margin"
            )
            raise ValueRangeError(message, index=row, value=str(value))


def fitted(own: Activation, interval: Interval, precision: float, context: Context) -> Fitted:
    """Plan an activation on an interval: within ``2**-precision`` of its largest value.

    Raises
    ------
    NoParameters
        If no polynomial reaches the precision.
    ParameterError
        If the function is 0 or not finite on the interval.
    """
    low, high = interval
    middle, half = (low + high) / 2, (high - low) / 2
    t = np.linspace(-1, 1, _POINTS)
    with np.errstate(all="ignore"):
        values = own.value(middle + half * t)
    largest = float(np.abs(values).max())
    if not (math.isfinite(largest) and largest > 0):
        raise ParameterError(
            f"the activation {own.name} is {'0' if largest == 0 else 'not finite'} on the interval "
            f"from {low:.4g} to {high:.4g}: choose another activation"
        )
    size = largest * (1 + 2.0**-precision) * _ROOM
    degree = _MOST if own.degree is None else max(own.degree, 1)
    series = np.polynomial.Chebyshev.interpolate(
        lambda t: own.value(middle + half * t) / size, degree
    )
    if own.degree is None:
        series = _shortest(series, t, values / size, precision, own.name)
    error = float(np.abs(series(t) - values / size).max()) * size
    return Fitted(middle, half, size, series, context.polynomial(series), error)


def _shortest(
    series: np.polynomial.Chebyshev, t: _Floats, values: _Floats, precision: float, name: str
) -> np.polynomial.Chebyshev:
    """The first terms of a series, as few as are within the precision of the values."""

    def within(degree: int) -> bool:
        return bool(np.abs(series.truncate(degree + 1)(t) - values).max() <= 2.0**-precision)

    if not within(_MOST):
        reached = float(np.abs(series(t) - values).max())
        raise NoParameters(
            f"a polynomial of degree {_MOST} differs from {name} by {reached:.2g} of its largest "
            f"value, but {2.0**-precision:.2g} is asked for: choose a smaller precision, a "
            "smoother activation, or weights and samples that lead to a shorter interval"
        )
    low, high = 0, _MOST
    while high - low > 1:
        between = (low + high) // 2
        low, high = (low, between) if within(between) else (between, high)
    return series.truncate(high + 1)

"""Functions of encrypted real numbers, each with a stated error.

Every function here plans a :class:`windlass.Circuit` for an interval and a precision, keeps it, and
evaluates it. :meth:`windlass.Context.function` gives the plan itself: its interval, degrees, depth
and error, before anything runs.

They need the relinearisation key: ``context.generate_keys(context.products())``. Those of rows
(:func:`softmax`, :func:`sort`, :func:`largest`) need keys for rotations too: name their plan, such
as ``context.softmax(length, interval)``, when the keys are made.

**Warning.** The numbers must lie in the interval. An array whose ``bound`` is beyond both ends is
refused; a number below the lower end of an interval such as ``(0.5, 4)`` is not noticed. It gets an
unspecified value, and no error is raised if that is within the stated bound.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from windlass._windlass import Ciphertext, Circuit, Context
from windlass.errors import ParameterError, ShapeError

__all__ = [
    "absolute",
    "covariance",
    "exp",
    "gelu",
    "inverse",
    "inverse_sqrt",
    "largest",
    "log",
    "maximum",
    "minimum",
    "sigmoid",
    "sign",
    "softmax",
    "sort",
    "sqrt",
    "step",
    "tanh",
]

_Interval = tuple[float, float]


@lru_cache(maxsize=64)
def _planned(
    context: Context, name: str, interval: _Interval, precision: float, gap: float | None
) -> Circuit:
    return context.function(name, interval, precision, gap=gap)


def _applied(
    name: str,
    x: Ciphertext,
    interval: _Interval,
    precision: float,
    *,
    y: Ciphertext | None = None,
    gap: float | None = None,
) -> Ciphertext:
    return _planned(x.context, name, _ends(interval), float(precision), gap)(x, y)


def _ends(interval: _Interval) -> _Interval:
    low, high = interval
    return float(low), float(high)


def exp(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """The exponential function.

    Parameters
    ----------
    x : Ciphertext
    interval : (float, float)
        The ends of the interval in which the numbers lie.
    precision : float
        What is computed is within ``2**-precision`` of the function. By one polynomial of the
        smallest degree d that suffices, at most 1023; its depth is ``1 + ceil(log2(d + 1))``.

    Returns
    -------
    Ciphertext
        It states its error (``precision_bits``).

    Raises
    ------
    OutsideInterval
        If ``x.bound`` is beyond both ends.
    CapacityExhausted
        If there are too few levels; its attribute ``depth`` is the depth that suffices.
    NoParameters
        If no polynomial reaches the precision.
    MissingRelinearisationKey
    """
    return _applied("exp", x, interval, precision)


def log(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """The natural logarithm of positive numbers.

    As :func:`exp`. The degree grows with the square root of ``high / low``.
    """
    return _applied("log", x, interval, precision)


def inverse(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """1/x, on an interval that does not hold 0.

    As :func:`exp`. It takes one polynomial, or a smaller one and iterations of Goldschmidt: the
    cheaper of both. The degree grows with the square root of ``high / low``.
    """
    return _applied("inverse", x, interval, precision)


def sqrt(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """The square root.

    As :func:`exp`. The lower end is 0 or more; at 0 about 10 bits are reached.
    """
    return _applied("sqrt", x, interval, precision)


def inverse_sqrt(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """1/sqrt(x) of positive numbers. As :func:`log`."""
    return _applied("inverse_sqrt", x, interval, precision)


def sigmoid(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """1/(1 + exp(-x)). As :func:`exp`."""
    return _applied("sigmoid", x, interval, precision)


def tanh(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """The hyperbolic tangent. As :func:`exp`."""
    return _applied("tanh", x, interval, precision)


def gelu(x: Ciphertext, interval: _Interval, precision: float = 20) -> Ciphertext:
    """The function x * P(X <= x) for a standard normal X. As :func:`exp`."""
    return _applied("gelu", x, interval, precision)


def sign(
    x: Ciphertext, interval: _Interval, precision: float = 20, *, gap: float | None = None
) -> Ciphertext:
    """The sign, -1 or 1.

    By a composition of odd polynomials, each the best for what the one before it leaves. With the
    interval (-1, 1), 20 bits outside of a gap of 2**-10 take 15 levels.

    Parameters
    ----------
    x : Ciphertext
    interval : (float, float)
        The ends of the interval in which the numbers lie. It is planned for all numbers whose
        absolute value is at most that of the larger end.
    precision : float
        What is computed is within ``2**-precision`` of the sign, outside of the gap.
    gap : float, optional
        By default a 1024th of the largest absolute value.

        **Warning.** A number of a smaller absolute value than this gets any value from -1 to 1. No
        error is raised.

    Returns
    -------
    Ciphertext

    Raises
    ------
    OutsideInterval, CapacityExhausted, NoParameters, MissingRelinearisationKey
        As :func:`exp`.
    """
    return _applied("sign", x, interval, precision, gap=gap)


def step(
    x: Ciphertext, interval: _Interval, precision: float = 20, *, gap: float | None = None
) -> Ciphertext:
    """1 for positive numbers, 0 for negative ones: ``step(a - b, ...)`` compares.

    As :func:`sign`. A number in the gap gets any value from 0 to 1.
    """
    return _applied("step", x, interval, precision, gap=gap)


def absolute(x: Ciphertext, interval: _Interval, precision: float = 10) -> Ciphertext:
    """The absolute value, by a sign.

    As :func:`sign`, with no gap: the precision holds for all numbers of the interval. Every bit
    takes about one and a half levels.
    """
    return _applied("abs", x, interval, precision)


def maximum(x: Ciphertext, y: Ciphertext, interval: _Interval, precision: float = 10) -> Ciphertext:
    """The larger of two arrays, entry by entry. Both hold numbers of the interval.

    Computed as (x + y)/2 + |x - y|/2, with the sign approximation of :func:`absolute`.
    """
    return _applied("maximum", x, interval, precision, y=y)


def minimum(x: Ciphertext, y: Ciphertext, interval: _Interval, precision: float = 10) -> Ciphertext:
    """The smaller of two arrays, entry by entry. As :func:`maximum`."""
    return _applied("minimum", x, interval, precision, y=y)


@lru_cache(maxsize=64)
def _softmax(context: Context, length: int, interval: _Interval, precision: float) -> Circuit:
    return context.softmax(length, interval, precision)


@lru_cache(maxsize=64)
def _sorting(
    context: Context, length: int, interval: _Interval, precision: float, largest: int
) -> Circuit:
    return context.sorting(length, interval, precision, largest=largest)


def softmax(x: Ciphertext, interval: _Interval, precision: float = 10) -> Ciphertext:
    """exp(x) / exp(x).sum() along the last dimension.

    The keys are those of ``context.softmax(x.shape[-1], interval, precision)``, whose ``depth``
    says how many levels it takes.

    Parameters
    ----------
    x : Ciphertext
    interval : (float, float)
        The ends of the interval in which the numbers lie.
    precision : float
        What is computed is within ``2**-precision`` of the softmax.

    Returns
    -------
    Ciphertext

    Raises
    ------
    OutsideInterval, CapacityExhausted, MissingGaloisKey, MissingRelinearisationKey
    """
    return _softmax(x.context, _length(x), _ends(interval), float(precision))(x)


def sort(x: Ciphertext, interval: _Interval, precision: float = 4) -> Ciphertext:
    """The entries of every row in descending order.

    The keys are those of ``context.sorting(x.shape[-1], interval, precision)``, whose ``depth``
    says how many levels it takes: three stages of a comparison for 4 entries, six for 8 entries.

    Parameters
    ----------
    x : Ciphertext
    interval : (float, float)
        The ends of the interval in which the numbers lie.
    precision : float
        Every result is within ``2**-precision`` of the true one.

    Returns
    -------
    Ciphertext

    Raises
    ------
    OutsideInterval, CapacityExhausted, MissingGaloisKey, MissingRelinearisationKey
    """
    return largest(x, _length(x), interval, precision)


def largest(x: Ciphertext, count: int, interval: _Interval, precision: float = 4) -> Ciphertext:
    """The ``count`` largest entries of every row in descending order.

    As :func:`sort`, with the keys of ``context.sorting(x.shape[-1], interval, precision,
    largest=count)``.
    """
    return _sorting(x.context, _length(x), _ends(interval), float(precision), count)(x)


def _length(x: Ciphertext) -> int:
    return x.shape[-1] if x.shape else 1


def covariance(x: Ciphertext, *, ddof: int = 0) -> list[Ciphertext]:
    """Covariances of the rows of an array, as ``numpy.cov(x, ddof=ddof)``.

    The keys are ``context.products()`` and ``context.sum()``. It takes three levels.

    Parameters
    ----------
    x : Ciphertext, shape (features, samples)
    ddof : int
        Sums of products are divided by ``samples - ddof``.

    Returns
    -------
    list of Ciphertext
        Row i of the covariance matrix, of shape (features,), each entry in a separate ciphertext.

    Raises
    ------
    ShapeError
        If the array does not have two dimensions.
    ParameterError
        If ``samples - ddof`` is not positive.
    MissingGaloisKey, MissingRelinearisationKey, CapacityExhausted
    """
    if len(x.shape) != 2:
        raise ShapeError(f"covariance takes an array (features, samples), not {x.shape}")
    features, samples = x.shape
    if samples <= ddof:
        raise ParameterError(
            f"covariances of {samples} sample(s) with ddof = {ddof} would divide by "
            f"{samples - ddof}: choose a smaller ddof"
        )
    # A product with an array leaves zeros beside the entries, which sums need.
    weights = np.full((features, samples), 1 / math.sqrt(samples - ddof))
    centred = (x - x.mean(axis=-1, keepdims=True)) * weights
    return [(centred[i] * centred).sum(axis=-1) for i in range(features)]

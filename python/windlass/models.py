"""Apply trained linear models to encrypted features.

The server multiplies the encrypted features by the weights, which is one matrix product. The client
decrypts the scores and computes the rest of the model (a sigmoid, the largest of several scores),
where this is free and exact. On ciphertexts, a sigmoid would be an approximation by polynomials
that is many times slower than the product. It would hide nothing, since anyone who sees the sigmoid
of a score can invert it.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._html import lines
from windlass._sklearn import folded, own_probabilities
from windlass._windlass import Context
from windlass.errors import DTypeError, NoParameters, ParameterError, ShapeError, ValueRangeError

if TYPE_CHECKING:
    from windlass._windlass import LinearPlan

_Own = TypeVar("_Own", bound="Linear")
_OwnLogistic = TypeVar("_OwnLogistic", bound="Logistic")

_SMALLEST_SCALE, _LARGEST_SCALE = 25, 50
"""log2 of the scales that CKKS parameters have."""

_LOST_BITS = 12
"""Bits of the scale that encryption and rounding take, in rings of up to 2^14."""

_ROUNDED_BITS = 10
"""Bits of the scale that the rounding of the weights takes, of whatever size they are."""

_LARGEST_INTEGER = 2**63 - 1
"""Of int64, in which integers are kept."""


def _numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Copy an array of finite real numbers: int64 for integers, else float64."""
    sparse = getattr(values, "toarray", None)
    try:
        array = np.asarray(values if sparse is None else sparse())
    except ValueError as error:
        raise DTypeError(f"{what}: {error}") from None
    if array.dtype.kind not in "biuf":
        raise DTypeError(f"{what}: dtype {array.dtype}, but real numbers are expected")
    if array.dtype.kind == "u":
        _refuse_first(array > _LARGEST_INTEGER, array, what, "is not below 2^63")
    with np.errstate(over="ignore"):
        own = np.array(array, dtype=np.float64 if array.dtype.kind == "f" else np.int64, order="C")
    if array.dtype.kind == "f":
        _refuse_first(~np.isfinite(own), array, what, "is not a finite number")
    own.flags.writeable = False
    return own


def _refuse_first(refused: NDArray[Any], array: NDArray[Any], what: str, why: str) -> None:
    """Raise an error for the first number that is refused, if there is one."""
    if refused.any():
        index = int(np.flatnonzero(refused.ravel())[0])
        value = str(array.ravel()[index])
        message = f"{what}: the value {value} at index {index} {why}"
        raise ValueRangeError(message, index=index, value=value)


def _positive(bound: Any) -> float:
    """Read a bound on features."""
    if isinstance(bound, bool) or not isinstance(bound, (int, float, np.integer, np.floating)):
        raise DTypeError(f"the bound of features must be a positive number, not {bound!r}")
    try:
        value = float(bound)
    except OverflowError:
        value = math.inf
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"the bound of features must be a positive number, not {bound}")
    return value


def _size(array: NDArray[Any]) -> int:
    """Compute the largest absolute value of integers, which that of int64 may not hold."""
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


class Linear:
    """A linear model: ``scores = X @ weights.T + bias``.

    Parameters
    ----------
    weights : array_like, shape (features,) or (outputs, features)
        Real numbers, or integers for contexts of integers.
    bias : array_like, shape (outputs,) or a number, optional

    Attributes
    ----------
    weights : numpy.ndarray, shape (outputs, features)
    bias : numpy.ndarray, shape (outputs,)

    Raises
    ------
    ShapeError, DTypeError, ValueRangeError
        If the weights have the wrong number of dimensions, are not numbers, or are NaN.

    Examples
    --------
    >>> import numpy as np, windlass as wl
    >>> model = wl.Linear([[0.5, -1.0, 2.0], [1.0, 0.0, 0.25]], [0.125, 0.0])
    >>> context = model.context()
    >>> layer = model.on(context)
    >>> client, server = context.generate_keys(layer)
    >>> x = np.array([1.0, 0.5, -0.25])
    >>> scores = client.decrypt(layer @ server.receive(client.encrypt(x)))
    >>> bool(np.allclose(model.decide(scores), model.predict(x), atol=2**-10))
    True

    """

    def __init__(self, weights: ArrayLike, bias: ArrayLike | None = None) -> None:
        own = _numbers(weights, "weights")
        if own.ndim not in (1, 2) or own.size == 0:
            message = (
                "weights have the shape (features,) or (outputs, features), with at least one of "
                f"each, not {own.shape}"
            )
            raise ShapeError(message)
        self._single = own.ndim == 1
        self.weights: NDArray[Any] = own.reshape(1, -1) if self._single else own
        outputs = self.weights.shape[0]
        shift = _numbers(np.zeros(outputs, dtype=own.dtype) if bias is None else bias, "bias")
        shift = shift.reshape(1) if shift.ndim == 0 else shift
        if shift.shape != (outputs,):
            message = f"{outputs} outputs need a bias of shape ({outputs},), not {shift.shape}"
            raise ShapeError(message, expected=outputs, got=shift.size)
        self.bias: NDArray[Any] = shift

    @classmethod
    def from_sklearn(cls: type[_Own], model: object) -> _Own:
        """Take the weights of a fitted linear regressor of scikit-learn.

        Parameters
        ----------
        model : object
            ``LinearRegression``, ``Ridge``, ``Lasso``, ``SGDRegressor`` and others (any model with
            ``coef_`` and ``intercept_``, sparse ones too), or a ``Pipeline`` that ends with one and
            whose other steps are affine: ``StandardScaler``, ``RobustScaler``, ``MinMaxScaler``,
            ``MaxAbsScaler``, ``PCA``, ``TruncatedSVD``, ``SelectKBest`` and other selections,
            ``ColumnTransformer`` and pipelines of these. They are folded into the weights, so that
            features are encrypted unchanged. Of a search (``GridSearchCV``) it is the best model.

        Returns
        -------
        Linear

        Raises
        ------
        DTypeError
            If the model is not linear or not fitted, or has other steps.

        Examples
        --------
        >>> import windlass as wl
        >>> from sklearn.linear_model import LinearRegression
        >>> fitted = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
        >>> wl.Linear.from_sklearn(fitted)
        <windlass.Linear, 1 feature, 1 output>

        """
        own = folded(model)
        if own.classes is not None:
            raise DTypeError(f"{own.name} decides between classes: use wl.Logistic.from_sklearn")
        return cls(own.weights, own.bias)

    @property
    def features(self) -> int:
        """The number of features."""
        return int(self.weights.shape[1])

    @property
    def outputs(self) -> int:
        """The number of scores of each row."""
        return int(self.weights.shape[0])

    def context(
        self, *, bound: float = 1.0, precision_bits: int = 10, slots: int | None = None
    ) -> Context:
        """Choose CKKS parameters with 128 bits of security for one product with these weights.

        Parameters
        ----------
        bound : float
            A public bound on the absolute values of features. Give the same bound to
            ``client.encrypt(X, bound=bound)``.

            **Warning.** The bound is visible. It must not depend on the encrypted rows.
        precision_bits : int
            The error of scores must be at most ``2**-precision_bits``.
        slots : int, optional
            The minimum number of features in a ciphertext. By default all features, up to 8192; a
            row with more needs several ciphertexts.

        Returns
        -------
        Context

        Raises
        ------
        NoParameters
            If the weights or the bound are too large for this precision.
        ParameterError, DTypeError
            If the bound is not a positive number, or the precision is not an integer from 1 to 40.

        Examples
        --------
        >>> import windlass as wl
        >>> context = wl.Linear([0.5, 0.25]).context(bound=100, precision_bits=12)
        >>> context.scheme, context.security >= 128
        ('CKKS', True)

        """
        bound = _positive(bound)
        try:
            precision_bits = operator.index(precision_bits)
        except TypeError:
            raise DTypeError(f"precision_bits must be an integer, not {precision_bits!r}") from None
        if not 1 <= precision_bits <= 40:
            raise ParameterError(f"precision_bits is {precision_bits}, but must be from 1 to 40")
        # What the product may multiply values by, whichever way its diagonals are added.
        terms = self.features + 2 * self.outputs
        heaviest = float(np.abs(self.weights.astype(float)).max())
        heaviest = max(heaviest, 2.0**-20)
        # Logarithms, because products may be too large for a number.
        growth_bits = math.log2(terms) + math.log2(heaviest)
        bound_bits = math.log2(max(bound, 1.0))
        # The error of the encryption is multiplied by the weights, and is the same for all values,
        # small ones too. That of the rounded weights, small ones too, is multiplied by the values.
        lost_bits = max(_LOST_BITS + growth_bits, _ROUNDED_BITS + math.log2(terms)) + bound_bits
        scale_bits = precision_bits + math.ceil(lost_bits)
        if scale_bits > _LARGEST_SCALE:
            reach = precision_bits - (scale_bits - _LARGEST_SCALE)
            message = f"scores of these weights cannot have {precision_bits} bits after the point: "
            if reach < 1:
                message += "scale the features, or the weights, down"
            else:
                message += (
                    f"about {reach} are possible (precision_bits={reach}), or scale the features, "
                    "or the weights, down"
                )
            raise NoParameters(message)
        largest = terms * heaviest * max(bound, 1.0) + float(np.abs(self.bias.astype(float)).max())
        value_bits = max(1, math.ceil(math.log2(largest)) + 1)
        return Context.approximate(
            depth=1,
            scale_bits=max(scale_bits, _SMALLEST_SCALE),
            value_bits=value_bits,
            slots=min(max(self.features, self.outputs), 8192) if slots is None else slots,
        )

    def on(self, context: Context, *, bound: float | None = None, **options: Any) -> LinearPlan:
        """Plan the product with the weights, and the sum with the bias, for a context.

        **Warning.** In a context of integers, scores are computed modulo its modulus t. A score of
        absolute value t/2 or more decrypts to a number of the other sign and decides for another
        class, without an error. State a `bound`, with which such weights are refused, or choose a
        larger modulus (``Context.plan(modulus=...)``).

        Parameters
        ----------
        context : Context
            The context of :meth:`context`, or any other. A context of integers needs integer
            weights.
        bound : float, optional
            For contexts of integers: a public bound on the absolute values of features. With it,
            all scores must stay below t/2. (For real numbers give it to :meth:`context`.)
        **options
            The options ``strategy``, ``max_keys``, ``keys`` and ``folding`` of
            :meth:`Context.linear`. By default ``folding`` is ``"never"``.

            **Warning.** Folded products are several times faster, but the client sees parts of
            their sums, which reveal more of the weights than the scores do.

        Returns
        -------
        LinearPlan
            ``layer @ x`` gives the scores of an encrypted row, ``layer(X)`` of every row.

        Raises
        ------
        ParameterError, DTypeError
            If scores of features up to the bound may reach t/2, the bound is not a positive number,
            or a bound is given for a context of real numbers.

        """
        if bound is not None:
            self._check_range(context, bound)
        bias = self.bias if self.bias.any() else None
        options.setdefault("folding", "never")
        return context.linear(self.weights, bias, **options)

    def _check_range(self, context: Context, bound: float) -> None:
        """Refuse a bound with which scores may leave the integers of a context."""
        _positive(bound)
        whole = math.floor(bound)
        modulus = context.modulus
        if modulus is None:
            message = (
                "only contexts of integers take a bound here: for real numbers give it to context()"
            )
            raise ParameterError(message)
        if self.weights.dtype.kind == "f" or self.bias.dtype.kind == "f":
            return  # which context.linear refuses
        sums = np.abs(self.weights.astype(object)).sum(axis=1)
        largest = int((sums * whole + np.abs(self.bias.astype(object))).max())
        if 2 * largest >= modulus:
            message = (
                f"scores of features up to {whole} may reach {largest}, but are computed modulo "
                f"{modulus} and must be below {modulus / 2:.15g}: choose a modulus "
                f"above {2 * largest}, or scale the weights, or the features, down"
            )
            raise ParameterError(message)

    def scores(self, rows: ArrayLike) -> NDArray[Any]:
        """Compute the scores in the clear.

        Parameters
        ----------
        rows : array_like, shape (..., features)
            Features as they are encrypted.

        Returns
        -------
        numpy.ndarray, shape (..., outputs)
            The scores. On encrypted integers, the layer computes them modulo the modulus of the
            context.

        Raises
        ------
        ShapeError, DTypeError, ValueRangeError
            If the rows are not an array of numbers, or an integer score exceeds int64.

        """
        array = _numbers(rows, "rows")
        if array.ndim == 0 or array.shape[-1] != self.features:
            message = f"rows of {self.features} features are expected, not the shape {array.shape}"
            got = array.shape[-1] if array.ndim else 0
            raise ShapeError(message, expected=self.features, got=got)
        operands = (array, self.weights, self.bias)
        if any(each.dtype.kind == "f" for each in operands):
            array, weights, bias = (each.astype(float) for each in operands)
            return np.asarray(array @ weights.T + bias)
        largest = self.features * _size(self.weights) * _size(array) + _size(self.bias)
        if largest <= _LARGEST_INTEGER:
            return np.asarray(array @ self.weights.T + self.bias)
        array, weights, bias = (each.astype(object) for each in operands)  # of any size
        exact = np.asarray(array @ weights.T + bias, dtype=object)
        outside = (exact > _LARGEST_INTEGER) | (exact < -_LARGEST_INTEGER - 1)
        _refuse_first(outside.astype(bool), exact, "scores", "is beyond int64")
        return exact.astype(np.int64)

    def _checked(self, scores: ArrayLike) -> NDArray[Any]:
        array = _numbers(scores, "scores")
        if array.ndim == 0 or array.shape[-1] != self.outputs:
            message = f"scores have the shape (..., {self.outputs}), not {array.shape}"
            got = array.shape[-1] if array.ndim else 0
            raise ShapeError(message, expected=self.outputs, got=got)
        return array

    def decide(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into predictions, which for this model are the scores.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)
            The decrypted scores.

        Returns
        -------
        numpy.ndarray
            Of shape (..., outputs), or (...) for weights of shape (features,).

        """
        array = self._checked(scores)
        return array[..., 0] if self._single else array

    def predict(self, rows: ArrayLike) -> NDArray[Any]:
        """Predict in the clear: ``decide(scores(rows))``.

        Parameters
        ----------
        rows : array_like, shape (..., features)
            Features as they are encrypted.

        Returns
        -------
        numpy.ndarray
            As of :meth:`decide`.

        """
        return self.decide(self.scores(rows))

    def _in_words(self) -> str:
        outputs = f"{self.outputs} output{'' if self.outputs == 1 else 's'}"
        return f"{self.features} feature{'' if self.features == 1 else 's'}, {outputs}"

    def __repr__(self) -> str:
        return f"<windlass.{type(self).__name__}, {self._in_words()}>"

    def _repr_html_(self) -> str:
        return lines(repr(self))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, Linear):
            return NotImplemented
        return (
            self._single == other._single
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.bias, other.bias)
        )

    __hash__ = None  # type: ignore[assignment]


class Logistic(Linear):
    """A linear model whose scores decide between classes.

    Parameters
    ----------
    weights : array_like, shape (features,) or (classes, features)
        One row for two classes, or one row for each class.
    bias : array_like, shape (outputs,) or a number, optional
    classes : array_like, optional
        The names of the classes; 0, 1, 2, ... by default. For one row of weights, two names, the
        second for scores above 0. Otherwise one name for each row, of which the largest score
        decides.
    link : {"softmax", "one-vs-rest", None}
        How scores become probabilities; None if the model has none.

    Attributes
    ----------
    weights, bias : numpy.ndarray
        As of :class:`Linear`.
    classes : numpy.ndarray
    link : str or None

    Raises
    ------
    ShapeError, DTypeError, ValueRangeError
        As :class:`Linear`, and if the number of classes is wrong.
    ParameterError
        If two classes have one name, or the link is unknown.

    Examples
    --------
    >>> import windlass as wl
    >>> model = wl.Logistic([1.0, -2.0], 0.5, ["benign", "malignant"])
    >>> context = model.context()
    >>> layer = model.on(context)
    >>> client, server = context.generate_keys(layer)
    >>> rows = [[0.5, 0.0], [0.0, 0.75]]
    >>> scores = client.decrypt(layer(server.receive(client.encrypt(rows))))
    >>> model.decide(scores).tolist()
    ['malignant', 'benign']
    >>> model.probabilities(scores).round(2).tolist()
    [[0.27, 0.73], [0.73, 0.27]]

    """

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        link: str | None = "softmax",
    ) -> None:
        super().__init__(weights, bias)
        count = max(2, self.outputs)
        try:
            names = np.arange(count) if classes is None else np.array(classes)
        except ValueError:
            raise DTypeError(f"classes are a list of names, not {classes!r}") from None
        if names.shape != (count,):
            message = f"{self.outputs} row(s) of weights decide between {count} classes, not "
            raise ShapeError(
                message + f"an array of shape {names.shape}", expected=count, got=names.size
            )
        found: set[Any] = set()
        for name in names.tolist():
            if name in found:
                raise ParameterError(
                    f"the class {name!r} occurs twice: give each class a different name"
                )
            found.add(name)
        if link not in ("softmax", "one-vs-rest", None):
            raise ParameterError(f'link must be "softmax", "one-vs-rest" or None, not {link!r}')
        names.flags.writeable = False
        self.classes: NDArray[Any] = names
        self.link = link

    @classmethod
    def from_sklearn(cls: type[_OwnLogistic], model: object) -> _OwnLogistic:
        """Take the weights of a fitted linear classifier of scikit-learn.

        Parameters
        ----------
        model : object
            ``LogisticRegression``, ``SGDClassifier``, ``LinearSVC``, ``RidgeClassifier``,
            ``LinearDiscriminantAnalysis`` and others, for two classes or more (any model with
            ``coef_``, ``intercept_`` and ``classes_``), ``OneVsRestClassifier`` of linear models,
            a ``Pipeline`` or a search as of :meth:`Linear.from_sklearn`.

        Returns
        -------
        Logistic
            The model, with the link that gives its own ``predict_proba``, or with ``link`` None if
            no link does (``SVC(probability=True)``).

        Raises
        ------
        DTypeError
            If the model is not a linear classifier or not fitted, or has other steps.

        Examples
        --------
        >>> import windlass as wl
        >>> from sklearn.linear_model import LogisticRegression
        >>> fitted = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> wl.Logistic.from_sklearn(fitted).predict([[0.5], [2.5]])
        array([0, 1])

        """
        weights, bias, classes, name = folded(model)
        if classes is None:
            raise DTypeError(f"{name} has no classes: use wl.Linear.from_sklearn")
        softmax = cls(weights, bias, classes)
        rest = cls(weights, bias, classes, link="one-vs-rest")
        if not hasattr(model, "predict_proba"):
            return cls(weights, bias, classes, link=None)
        rows, own = own_probabilities(model, softmax.weights, softmax.bias)
        for candidate in (softmax, rest):
            each = candidate.probabilities(candidate.scores(rows))
            if own.size and own.shape == each.shape and np.allclose(own, each, 1e-6, 1e-6):
                return candidate
        return cls(weights, bias, classes, link=None)

    def decide(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into classes.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)
            The decrypted scores.

        Returns
        -------
        numpy.ndarray, shape (...)
            For a single score, the second class if it is above 0. For several scores, the class of
            the largest.

        """
        array = self._checked(scores)
        chosen = (array[..., 0] > 0).astype(int) if self.outputs == 1 else array.argmax(axis=-1)
        return np.asarray(self.classes[chosen])

    def probabilities(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into the probabilities of the classes.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)
            The decrypted scores.

        Returns
        -------
        numpy.ndarray, shape (..., classes)
            For a single score, its sigmoid. For several scores, by ``link``, their softmax, or
            their sigmoids divided by the sum of these (equal probabilities if all are 0).

        Raises
        ------
        ParameterError
            If the model has no probabilities (``link`` is None), such as a support vector machine.

        """
        if self.link is None:
            raise ParameterError(
                "the scores of this model are not logarithms of odds, so it has no "
                "probabilities: use decide"
            )
        array = self._checked(scores).astype(float)
        if self.outputs == 1:
            positive = _sigmoid(array[..., 0])
            return np.stack([1 - positive, positive], axis=-1)
        if self.link == "one-vs-rest":
            each = _sigmoid(array)
            each = np.where(each.any(axis=-1, keepdims=True), each, 1.0)
        else:
            each = np.exp(array - array.max(axis=-1, keepdims=True))
        return np.asarray(each / each.sum(axis=-1, keepdims=True))

    def _in_words(self) -> str:
        return f"{super()._in_words()}, {len(self.classes)} classes"

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        if same is not True or not isinstance(other, Logistic):
            return same
        return bool(np.array_equal(self.classes, other.classes)) and self.link == other.link

    __hash__ = None


def _sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    """1 / (1 + exp(-x)), without overflow on either side."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))

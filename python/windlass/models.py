"""Models that were trained elsewhere, applied to encrypted features.

The server multiplies by the weights, which is one matrix product. What a model does with the scores
afterwards (a sigmoid, the largest of several) is the client's step: once they are decrypted it has
them in the clear, where this costs nothing and is exact. On ciphertexts it would be an
approximation by polynomials, many times slower than the product, and whoever sees a sigmoid can
undo it, so that hiding the score behind one keeps nothing secret.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._html import lines
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


def _numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Copy an array of finite real numbers: int64 for integers, else float64."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DTypeError(f"{what}: {error}") from None
    if array.dtype.kind not in "biuf":
        raise DTypeError(f"{what}: dtype {array.dtype}, where real numbers are expected")
    if array.dtype.kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            index = int(np.flatnonzero(~finite.ravel())[0])
            value = str(array.ravel()[index])
            message = f"{what}: the value {value} at index {index} is not a finite number"
            raise ValueRangeError(message, index=index, value=value)
    own = np.array(array, dtype=np.float64 if array.dtype.kind == "f" else np.int64, order="C")
    own.flags.writeable = False
    return own


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
        For weights that are none: another number of dimensions, no numbers, NaN.

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
                f"each, and not {own.shape}"
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
            ``LinearRegression``, ``Ridge``, ``Lasso``, ``SGDRegressor`` and the like (whatever has
            ``coef_`` and ``intercept_``), or a ``Pipeline`` that ends with one and otherwise
            scales: ``StandardScaler``, ``MinMaxScaler``, ``MaxAbsScaler``. Scaling is folded into
            the weights, so that features are encrypted as they are.

        Returns
        -------
        Linear

        Raises
        ------
        DTypeError
            For what is no fitted linear model, and for steps of another kind.

        Examples
        --------
        >>> import windlass as wl
        >>> from sklearn.linear_model import LinearRegression
        >>> fitted = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
        >>> wl.Linear.from_sklearn(fitted)
        <windlass.Linear, 1 feature, 1 output>

        """
        weights, bias, final = _folded(model)
        if getattr(final, "classes_", None) is not None:
            name = type(final).__name__
            raise DTypeError(f"{name} decides between classes: use wl.Logistic.from_sklearn")
        return cls(weights, bias)

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
        """Suggest CKKS parameters for one product with these weights, with 128 bits of security.

        Parameters
        ----------
        bound : float
            A public bound on the absolute values of features, which ``client.encrypt(X,
            bound=bound)`` is given as well. It must not depend on the rows that are encrypted.
        precision_bits : int
            Scores shall be right up to ``2**-precision_bits``.
        slots : int, optional
            At least so many features in a ciphertext; by default all of them, up to 8192, beyond
            which rows take several ciphertexts.

        Returns
        -------
        Context

        Raises
        ------
        NoParameters
            When the weights are so large that the precision cannot be reached.
        ParameterError
            For a bound that is no positive number.

        Examples
        --------
        >>> import windlass as wl
        >>> context = wl.Linear([0.5, 0.25]).context(bound=100, precision_bits=12)
        >>> context.scheme, context.security >= 128
        ('CKKS', True)

        """
        if not (math.isfinite(bound) and bound > 0):
            raise ParameterError(f"the bound of features is a positive number, not {bound}")
        if not 1 <= precision_bits <= 40:
            raise ParameterError(f"precision_bits is {precision_bits}: 1 to 40 are possible")
        # What the product may multiply values by, whichever way its diagonals are added.
        growth = (self.features + 2 * self.outputs) * max(
            float(np.abs(self.weights).max()), 2.0**-20
        )
        largest = growth * max(bound, 1.0) + float(np.abs(self.bias).max())
        value_bits = max(1, math.ceil(math.log2(largest)) + 1)
        scale_bits = precision_bits + _LOST_BITS + max(0, math.ceil(math.log2(growth * bound)))
        if scale_bits > _LARGEST_SCALE:
            reach = precision_bits - (scale_bits - _LARGEST_SCALE)
            message = (
                f"scores of these weights cannot have {precision_bits} bits after the point: "
                f"about {reach} are possible (precision_bits={reach}), or scale the features, or "
                "the weights, down"
            )
            raise NoParameters(message)
        return Context.approximate(
            depth=1,
            scale_bits=max(scale_bits, _SMALLEST_SCALE),
            value_bits=value_bits,
            slots=min(max(self.features, self.outputs), 8192) if slots is None else slots,
        )

    def on(self, context: Context, **options: Any) -> LinearPlan:
        """Plan the product with the weights, and the sum with the bias, for a context.

        Parameters
        ----------
        context : Context
            That of :meth:`context`, or any other. Contexts of integers take weights that are
            integers.
        **options
            As of :meth:`Context.linear`: ``strategy``, ``max_keys``, ``keys``, and ``folding``,
            which is ``"never"`` unless it is given: folded products are several times faster, and
            show parts of their sums, and so more of the weights than the scores do.

        Returns
        -------
        LinearPlan
            ``layer @ x`` gives the scores of an encrypted row, ``layer(X)`` of every row.

        """
        bias = self.bias if self.bias.any() else None
        options.setdefault("folding", "never")
        return context.linear(self.weights, bias, **options)

    def scores(self, rows: ArrayLike) -> NDArray[Any]:
        """Compute the scores in the clear.

        Parameters
        ----------
        rows : array_like, shape (..., features)
            Features as they are encrypted.

        Returns
        -------
        numpy.ndarray, shape (..., outputs)
            What the layer computes on encrypted rows.

        """
        array = _numbers(rows, "rows")
        if array.ndim == 0 or array.shape[-1] != self.features:
            message = f"rows of {self.features} features are expected, not the shape {array.shape}"
            got = array.shape[-1] if array.ndim else 0
            raise ShapeError(message, expected=self.features, got=got)
        return np.asarray(array @ self.weights.T + self.bias)

    def _checked(self, scores: ArrayLike) -> NDArray[Any]:
        array = _numbers(scores, "scores")
        if array.ndim == 0 or array.shape[-1] != self.outputs:
            message = f"scores have the shape (..., {self.outputs}), not {array.shape}"
            got = array.shape[-1] if array.ndim else 0
            raise ShapeError(message, expected=self.outputs, got=got)
        return array

    def decide(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into what the model predicts: here the scores themselves.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)
            What was decrypted.

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
        One row for two classes, or one for each class.
    bias : array_like, shape (outputs,) or a number, optional
    classes : array_like, optional
        Their names: two for one row of weights (the second for scores above 0), else one for each
        row (the one with the largest score); 0, 1, 2, ... by default.
    link : {"softmax", "one-vs-rest", None}
        How scores become probabilities; None where they do not.

    Attributes
    ----------
    weights, bias : numpy.ndarray
        As of :class:`Linear`.
    classes : numpy.ndarray
    link : str or None

    Raises
    ------
    ShapeError, DTypeError, ValueRangeError
        As :class:`Linear`, and for another number of classes.

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
        names = np.arange(count) if classes is None else np.array(classes)
        if names.shape != (count,):
            message = f"{self.outputs} row(s) of weights decide between {count} classes, and not "
            raise ShapeError(
                message + f"an array of shape {names.shape}", expected=count, got=names.size
            )
        if link not in ("softmax", "one-vs-rest", None):
            raise ParameterError(f'link is "softmax", "one-vs-rest" or None, not {link!r}')
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
            ``LinearDiscriminantAnalysis`` and the like, for two classes or more (whatever has
            ``coef_``, ``intercept_`` and ``classes_``), or a ``Pipeline`` as of
            :meth:`Linear.from_sklearn`.

        Returns
        -------
        Logistic

        Raises
        ------
        DTypeError
            For what is no fitted linear classifier, and for steps of another kind.

        Examples
        --------
        >>> import windlass as wl
        >>> from sklearn.linear_model import LogisticRegression
        >>> fitted = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> wl.Logistic.from_sklearn(fitted).predict([[0.5], [2.5]])
        array([0, 1])

        """
        weights, bias, final = _folded(model)
        classes = getattr(final, "classes_", None)
        if classes is None:
            name = type(final).__name__
            raise DTypeError(f"{name} has no classes: use wl.Linear.from_sklearn")
        return cls(weights, bias, classes, link=_link(final))

    def decide(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into classes.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)
            What was decrypted.

        Returns
        -------
        numpy.ndarray, shape (...)
            The second class where a single score is above 0; of several scores the largest decides.

        """
        array = self._checked(scores)
        chosen = (array[..., 0] > 0).astype(int) if self.outputs == 1 else array.argmax(axis=-1)
        return np.asarray(self.classes[chosen])

    def probabilities(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into the probabilities of the classes.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)
            What was decrypted.

        Returns
        -------
        numpy.ndarray, shape (..., classes)
            Sigmoids of a single score; else by ``link`` the softmax of the scores, or their
            sigmoids divided by the sum.

        Raises
        ------
        ParameterError
            For models without probabilities (``link`` is None), such as support vector machines.

        """
        if self.link is None:
            raise ParameterError("the scores of this model are no logarithms of odds: use decide")
        array = self._checked(scores).astype(float)
        if self.outputs == 1:
            positive = _sigmoid(array[..., 0])
            return np.stack([1 - positive, positive], axis=-1)
        if self.link == "one-vs-rest":
            each = _sigmoid(array)
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


def _link(model: object) -> str | None:
    """How a classifier of scikit-learn makes probabilities of scores."""
    if not hasattr(model, "predict_proba"):
        return None
    loss = getattr(model, "loss", None)
    if loss is not None:
        return "one-vs-rest" if loss == "log_loss" else None
    rest = (
        getattr(model, "multi_class", None) == "ovr" or getattr(model, "solver", "") == "liblinear"
    )
    return "one-vs-rest" if rest else "softmax"


def _scaling(step: object) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read a step that maps x to a * x + b, feature by feature, and give a and b."""
    name = type(step).__name__
    get = {key: getattr(step, key, None) for key in ("mean_", "scale_", "min_", "n_features_in_")}
    if get["n_features_in_"] is None:
        raise DTypeError(f"the step {name} is not fitted")
    one, zero = np.ones(int(get["n_features_in_"])), np.zeros(int(get["n_features_in_"]))
    if hasattr(step, "with_mean"):
        scale = one if get["scale_"] is None else np.asarray(get["scale_"], dtype=float)
        mean = zero if get["mean_"] is None or not step.with_mean else np.asarray(get["mean_"])
        return 1 / scale, -mean / scale
    if getattr(step, "clip", False):
        raise DTypeError(f"the step {name} clips, which is not linear: scale before encryption")
    if get["min_"] is not None and get["scale_"] is not None:
        return np.asarray(get["scale_"], dtype=float), np.asarray(get["min_"], dtype=float)
    if hasattr(step, "max_abs_") and get["scale_"] is not None:
        return 1 / np.asarray(get["scale_"], dtype=float), zero
    message = (
        f"the step {name} is none that is folded into weights (StandardScaler, MinMaxScaler, "
        "MaxAbsScaler): apply it before encryption"
    )
    raise DTypeError(message)


def _folded(model: object) -> tuple[NDArray[Any], NDArray[Any], object]:
    """Weights, bias and last step of a model, with the steps before it folded into the weights."""
    steps = [step for _, step in getattr(model, "steps", [("model", model)])]
    final = steps[-1]
    if getattr(final, "coef_", None) is None or getattr(final, "intercept_", None) is None:
        message = f"{type(final).__name__} has no coef_ and intercept_: a fitted linear model has"
        raise DTypeError(message)
    weights = np.asarray(final.coef_, dtype=float)
    bias = np.asarray(final.intercept_, dtype=float)
    # The last scaling is the first to be folded: w (a x + b) + c = (w a) x + (w b + c).
    for step in reversed(steps[:-1]):
        if step is None or step == "passthrough":
            continue
        factor, shift = _scaling(step)
        if factor.shape != (weights.shape[-1],):
            message = f"{type(step).__name__} is for {factor.size} features, the next step for "
            raise ShapeError(
                f"{message}{weights.shape[-1]}", expected=weights.shape[-1], got=factor.size
            )
        bias = bias + weights @ shift
        weights = weights * factor
    if weights.ndim == 2 and bias.ndim == 0:
        bias = np.full(weights.shape[0], float(bias))
    _check_scores(model, weights, bias)
    return weights, bias, final


def _check_scores(model: Any, weights: NDArray[Any], bias: NDArray[Any]) -> None:
    """Refuse a model whose own scores are not these weights' scores, whatever its class."""
    own_scores = getattr(model, "decision_function", None) or getattr(model, "predict", None)
    if own_scores is None:
        return
    rows = np.random.default_rng(0).normal(size=(16, weights.shape[-1]))
    own = np.asarray(own_scores(rows), dtype=float)
    scores = rows @ np.atleast_2d(weights).T + bias
    if own.size != scores.size or not np.allclose(own.reshape(scores.shape), scores, 1e-6, 1e-6):
        message = (
            f"{type(model).__name__} does not score rows as weights @ x + bias: its coef_ means "
            "something else (a link, pairs of classes, a centring of its own)"
        )
        raise DTypeError(message)

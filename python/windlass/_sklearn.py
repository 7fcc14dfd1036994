"""Fitted models of scikit-learn as weights and a bias: scores = weights @ x + bias.

A pipeline is folded from its end. If a step maps x to A x + b, scores w y + c of what leaves it are
(w A) x + (w b + c). Steps and models are known by their attributes, and the result is always
compared with the model's own scores of random rows before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.errors import DTypeError, ShapeError

_STEPS = (
    "StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler, PCA, TruncatedSVD, "
    "ColumnTransformer of these, and the selection of features"
)

_PROJECTIONS = ("PCA", "IncrementalPCA", "TruncatedSVD")

_Weights = NDArray[np.float64]


class Folded(NamedTuple):
    """A model as weights and a bias."""

    weights: _Weights
    """Of shape (features,) or (outputs, features)."""
    bias: _Weights
    classes: NDArray[Any] | None
    """The names of the classes, if the model decides between some."""
    name: str
    """The class of the model that has the weights."""


def folded(model: object) -> Folded:
    """Read a fitted model, the steps before it folded into the weights.

    Raises
    ------
    DTypeError, ShapeError
        If the model is not fitted, not linear, or has a step that cannot be merged into weights.
    """
    steps = _steps(model)
    final = steps[-1] if steps else model
    weights, bias = _linear(final)
    for step in reversed(steps[:-1]):
        weights, bias = _fold(step, weights, bias)
    if weights.ndim == 2 and bias.ndim == 0:
        bias = np.full(weights.shape[0], float(bias))
    own = _check_scores(model, weights, bias)
    classes = getattr(final, "classes_", None)
    if classes is None and own is not None and own.ndim == 1 and weights.shape[:-1] == (1,):
        # One output, and predictions without a dimension for it: what sparsify() leaves.
        weights, bias = weights[0], bias.reshape(-1)[:1]
    return Folded(weights, bias, classes, type(final).__name__)


def _steps(model: Any) -> list[Any]:
    """The steps of a model: those of pipelines in it one by one, those that do nothing left out."""
    if model is None or (isinstance(model, str) and model == "passthrough"):
        return []
    if getattr(model, "best_estimator_", None) is not None:
        return _steps(model.best_estimator_)
    inner = getattr(model, "steps", None)
    if isinstance(inner, list):
        return [each for _, step in inner for each in _steps(step)]
    return [model]


def dense(values: Any, what: str) -> _Weights:
    """An array of float64, of a sparse matrix too."""
    convert = getattr(values, "toarray", None)
    try:
        return np.asarray(values if convert is None else convert(), dtype=float)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{what}: {error}") from None


def _linear(final: Any) -> tuple[_Weights, _Weights]:
    """Weights and bias of the model that a pipeline ends with."""
    name = type(final).__name__
    if hasattr(final, "estimators_") and hasattr(final, "label_binarizer_"):
        return _one_against_the_rest(final)
    # RidgeClassifier, with or without cross-validation, keeps its labels so.
    labels = getattr(getattr(final, "_label_binarizer", None), "y_type_", "")
    if labels.startswith("multilabel"):
        message = (
            f"{name} was fitted on several labels for each row and does not decide for one of "
            "them: fit a model for each label"
        )
        raise DTypeError(message)
    if getattr(final, "coef_", None) is None or getattr(final, "intercept_", None) is None:
        if hasattr(final, "refit"):
            message = f"{name} has no best_estimator_: fit it, with refit=True"
        else:
            message = f"{name} has no coef_ and intercept_: a fitted linear model has"
        raise DTypeError(message)
    return dense(final.coef_, f"coef_ of {name}"), dense(final.intercept_, f"intercept_ of {name}")


def _one_against_the_rest(final: Any) -> tuple[_Weights, _Weights]:
    """The rows of the models of all classes."""
    if getattr(final, "multilabel_", False):
        message = (
            f"{type(final).__name__} was fitted on several labels for each row and does not "
            "decide for one of them: take the model of each label (estimators_)"
        )
        raise DTypeError(message)
    rows, biases = [], []
    for each in final.estimators_:
        own = folded(each)
        if own.weights.size != own.weights.shape[-1]:
            raise DTypeError(f"{own.name} gives several scores where one is expected")
        rows.append(own.weights.reshape(-1))
        biases.append(float(own.bias.reshape(-1)[0]))
    return np.stack(rows), np.array(biases)


def _fold(step: Any, weights: _Weights, bias: _Weights) -> tuple[_Weights, _Weights]:
    """Weights and bias for what goes into a step, of those for what leaves it."""
    name = type(step).__name__
    count = getattr(step, "n_features_in_", None)
    if hasattr(step, "func") and step.func is None:
        return weights, bias  # a FunctionTransformer that does nothing
    if count is None:
        raise DTypeError(f"the step {name} is not fitted")
    if getattr(step, "clip", False):
        raise DTypeError(
            f"the step {name} clips values, which is not linear: apply it before encryption"
        )
    for fold in (_fold_columns, _fold_selection, _fold_projection, _fold_scaling):
        made = fold(step, int(count), weights, bias)
        if made is not None:
            return made
    message = f"the step {name} cannot be merged into the weights ({_STEPS}): apply it before"
    raise DTypeError(f"{message} encryption")


_Made = tuple[_Weights, _Weights] | None


def _check_width(step: Any, leaving: int, weights: _Weights) -> None:
    """Refuse a step whose outputs are not as many as the features of the next step."""
    wanted = weights.shape[-1]
    if leaving != wanted:
        message = f"{type(step).__name__} is for {leaving} features, the next step for {wanted}"
        raise ShapeError(message, expected=wanted, got=leaving)


def _fold_scaling(step: Any, count: int, weights: _Weights, bias: _Weights) -> _Made:
    """A step that maps every feature separately: x to a x + b."""
    one, zero = np.ones(count), np.zeros(count)

    def of(name: str, otherwise: _Weights) -> _Weights:
        found = getattr(step, name, None)
        return otherwise if found is None else dense(found, name)

    if hasattr(step, "with_mean"):
        scale = of("scale_", one)
        factor, shift = 1 / scale, -(of("mean_", zero) if step.with_mean else zero) / scale
    elif hasattr(step, "with_centering"):
        scale = of("scale_", one)
        factor, shift = 1 / scale, -of("center_", zero) / scale
    elif hasattr(step, "min_") and hasattr(step, "scale_"):
        factor, shift = of("scale_", one), of("min_", zero)
    elif hasattr(step, "max_abs_") and hasattr(step, "scale_"):
        factor, shift = 1 / of("scale_", one), zero
    else:
        return None
    _check_width(step, factor.size, weights)
    return weights * factor, bias + weights @ shift


def _fold_projection(step: Any, count: int, weights: _Weights, bias: _Weights) -> _Made:
    """A projection: x to P (x - mean), whose rows may be divided by deviations."""
    if not any(kind.__name__ in _PROJECTIONS for kind in type(step).__mro__):
        return None
    matrix = dense(step.components_, "components_")
    if getattr(step, "whiten", False):
        deviations = np.sqrt(dense(step.explained_variance_, "explained_variance_"))
        least = np.finfo(deviations.dtype).eps
        matrix = matrix / np.maximum(deviations, least)[:, None]
    _check_width(step, len(matrix), weights)
    mean = getattr(step, "mean_", None)
    shift = 0.0 if mean is None else -(weights @ (matrix @ dense(mean, "mean_")))
    return weights @ matrix, bias + shift


def _fold_selection(step: Any, count: int, weights: _Weights, bias: _Weights) -> _Made:
    """Some of the features."""
    if not callable(getattr(step, "get_support", None)):
        return None
    places = np.flatnonzero(step.get_support())
    _check_width(step, places.size, weights)
    return _scattered(weights, places, count), bias


def _scattered(weights: _Weights, places: NDArray[np.intp], count: int) -> _Weights:
    """Weights of some of so many features; two that are for one are added."""
    wide = np.zeros((*weights.shape[:-1], count))
    np.add.at(wide.T, places, weights.T)
    return wide


def _fold_columns(step: Any, count: int, weights: _Weights, bias: _Weights) -> _Made:
    """A ColumnTransformer: each part takes some of the features, and all follow one another."""
    if not hasattr(step, "transformers_") or not hasattr(step, "output_indices_"):
        return None
    _check_width(step, max(part.stop for part in step.output_indices_.values()), weights)
    wide = np.zeros((*weights.shape[:-1], count))
    for name, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        own: _Weights = weights[..., step.output_indices_[name]]
        for each in reversed(_steps(transformer)):
            own, bias = _fold(each, own, bias)
        places = _places(step, columns, count)
        _check_width(transformer, places.size, own)
        wide += _scattered(own, places, count)
    return wide, bias


def _places(step: Any, columns: Any, count: int) -> NDArray[np.intp]:
    """The numbers of columns, which are given as names, numbers, a slice or a mask."""
    every: NDArray[np.intp] = np.arange(count, dtype=np.intp)
    if isinstance(columns, slice):
        return every[columns]
    chosen = np.atleast_1d(np.asarray(columns))
    if chosen.size == 0:
        return every[:0]
    if chosen.dtype.kind in "biu":
        return np.asarray(every[chosen])
    names = list(getattr(step, "feature_names_in_", ()))
    if any(name not in names for name in chosen):
        raise DTypeError(f"{type(step).__name__} names columns that it was not fitted on")
    return np.array([names.index(name) for name in chosen], dtype=np.intp)


def ask(model: Any, what: Callable[[Any], Any], rows: _Weights) -> _Weights:
    """The model's own output for rows, which it may expect as a frame."""
    names = getattr(model, "feature_names_in_", None)
    given: Any = rows
    if names is not None:
        try:
            import pandas as pd

            given = pd.DataFrame(rows, columns=names)
        except ImportError:
            pass
    try:
        return np.asarray(what(given), dtype=float)
    except (TypeError, ValueError) as error:
        message = f"{type(model).__name__} does not score rows of real numbers: {error}"
        raise DTypeError(message) from None


def _check_scores(model: Any, weights: _Weights, bias: _Weights) -> _Weights | None:
    """Refuse a model of any class whose own scores differ from these weights' scores."""
    own_scores = getattr(model, "decision_function", None) or getattr(model, "predict", None)
    if own_scores is None:
        return None
    rows = np.random.default_rng(0).normal(size=(16, weights.shape[-1]))
    own = ask(model, own_scores, rows)
    scores = rows @ np.atleast_2d(weights).T + bias
    if own.size != scores.size or not np.allclose(own.reshape(scores.shape), scores, 1e-6, 1e-6):
        message = (
            f"{type(model).__name__} does not score rows as weights @ x + bias: its coef_ has "
            "another meaning (a link, pairs of classes, or another centring)"
        )
        raise DTypeError(message)
    return own


def own_probabilities(
    model: Any, weights: _Weights, bias: _Weights
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows, and the probabilities that a model of scikit-learn gives them.

    Of scores far from 0 all links give the same, 0 and 1: beside rows of any scores there are some
    whose scores are small, as far as the weights have such rows.
    """
    rng = np.random.default_rng(1)
    outputs, features = weights.shape
    wanted = rng.normal(size=(16, outputs)) - bias
    small = wanted @ np.linalg.pinv(weights.astype(float), 1e-9).T
    rows = np.concatenate([rng.normal(size=(16, features)), small])
    with np.errstate(all="ignore"):
        own = ask(model, model.predict_proba, rows)
    if own.ndim != 2:
        return rows, own
    sound = np.isfinite(own).all(axis=1)  # what all sigmoids leave at 0 may be 0/0 there
    return rows[sound], own[sound]


class FoldedNetwork(NamedTuple):
    """A network as weights and biases of layers, the steps before it folded into the first."""

    weights: list[_Weights]
    biases: list[_Weights]
    activation: str
    """Of all layers but the last."""
    classes: NDArray[Any] | None
    flat: bool
    """Whether predictions have no dimension for the single output."""


def folded_network(model: object) -> FoldedNetwork:
    """Read a fitted ``MLPClassifier`` or ``MLPRegressor``, steps before it folded into its layers.

    Raises
    ------
    DTypeError, ShapeError
        If the model is not such a network, not fitted, or has a step that cannot be merged into
        weights.
    """
    steps = _steps(model)
    final: Any = steps[-1] if steps else model
    name = type(final).__name__
    if getattr(final, "coefs_", None) is None or getattr(final, "intercepts_", None) is None:
        message = (
            f"{name} has no coefs_ and intercepts_: a fitted MLPClassifier or MLPRegressor has"
        )
        raise DTypeError(message)
    classes = getattr(final, "classes_", None)
    if classes is not None and final.out_activation_ == "logistic" and final.n_outputs_ > 1:
        message = (
            f"{name} was fitted on several labels for each row and does not decide for one of "
            f"them: fit "
            "a model for each label"
        )
        raise DTypeError(message)
    weights = [dense(each, f"coefs_ of {name}").T for each in final.coefs_]
    biases = [dense(each, f"intercepts_ of {name}") for each in final.intercepts_]
    for step in reversed(steps[:-1]):
        weights[0], biases[0] = _fold(step, weights[0], biases[0])
    return FoldedNetwork(
        weights, biases, final.activation, classes, flat=classes is None and len(biases[-1]) == 1
    )

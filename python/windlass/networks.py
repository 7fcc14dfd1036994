"""Networks of layers that are trained elsewhere, for encrypted rows.

A network is planned for sample rows: :meth:`Network.plan` measures which numbers its activations
meet, and chooses polynomials, parameters and how rows lie in ciphertexts. The server has the
weights in the clear. It sees neither rows nor scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._activations import Activation, activation
from windlass._html import lines
from windlass._sklearn import ask, folded_network
from windlass.errors import DTypeError, ParameterError, ShapeError
from windlass.models import Linear, Logistic, _numbers

if TYPE_CHECKING:
    from windlass._windlass import Context
    from windlass.network_plans import NetworkPlan

_Floats = NDArray[np.float64]


class Layer(NamedTuple):
    """One layer: ``activation(weights @ x + bias)``."""

    weights: _Floats
    """Of shape (outputs, inputs)."""
    bias: _Floats
    """Of shape (outputs,)."""
    activation: Activation | None
    """None for a layer without one."""


def _layer(number: int, given: Any) -> Layer:
    """Read a layer: (weights, bias, activation)."""
    try:
        weights, bias, name = given
    except (TypeError, ValueError):
        message = f"layer {number} must be (weights, bias, activation), not {type(given).__name__}"
        raise DTypeError(message) from None
    own = _numbers(weights, f"weights of layer {number}").astype(float)
    if own.ndim != 2 or own.size == 0:
        message = f"weights of layer {number} have the shape (outputs, inputs), not {own.shape}"
        raise ShapeError(message)
    outputs = own.shape[0]
    shift = np.zeros(outputs) if bias is None else _numbers(bias, f"bias of layer {number}")
    if shift.shape != (outputs,):
        message = (
            f"layer {number} has {outputs} outputs, so a bias of shape ({outputs},), "
            f"not {shift.shape}"
        )
        raise ShapeError(message, expected=outputs, got=shift.size)
    return Layer(own, shift.astype(float), activation(name))


def _joined(layers: list[Layer]) -> list[Layer]:
    """The same network, layers without an activation multiplied into those that follow them."""
    joined: list[Layer] = []
    for layer in layers:
        if joined and joined[-1].activation is None:
            before = joined.pop()
            bias = layer.weights @ before.bias + layer.bias
            joined.append(Layer(layer.weights @ before.weights, bias, layer.activation))
        else:
            joined.append(layer)
    return joined


class Network:
    """A network of layers, ``activation(weights @ x + bias)`` one after the other.

    Parameters
    ----------
    layers : sequence of (weights, bias, activation)
        ``weights`` of shape (outputs, inputs); ``bias`` of shape (outputs,), or None;
        ``activation`` is ``"relu"``, ``"gelu"``, ``"sigmoid"`` (or ``"logistic"``), ``"tanh"``,
        ``"square"``, ``"identity"`` or None, a function of a float, or a polynomial of
        ``numpy.polynomial``.
    classes : array_like, optional
        The names of the classes, if the network decides between some: two names for one output,
        whose sign decides, or one name for each output, of which the largest decides. The last
        layer then has no activation.

    Attributes
    ----------
    layers : tuple of Layer
        With ``weights``, ``bias`` and ``activation``. Layers without an activation are multiplied
        into the next one.
    classes : numpy.ndarray or None

    Raises
    ------
    ShapeError, DTypeError, ValueRangeError
        If layers do not fit each other, or weights are not finite numbers.
    UnknownName
        If an activation has another name.
    ParameterError
        If there is no layer, or a network with classes has an activation at its end.

    Examples
    --------
    >>> import numpy as np, windlass as wl
    >>> hidden = ([[1.0, -1.0], [0.5, 0.5]], None, "square")
    >>> network = wl.Network([hidden, ([[1.0, 2.0]], [0.25], None)])
    >>> X = np.array([[0.5, 0.25], [-1.0, 0.5], [0.0, 1.0]])
    >>> plan = network.plan(X, rows=3)
    >>> client, server = plan.context.generate_keys(plan)
    >>> scores = plan.decrypt(client, plan.run(server, plan.encrypt(client, X)))
    >>> bool(np.allclose(scores, network.scores(X), atol=1e-3))
    True

    """

    def __init__(self, layers: Iterable[Any], classes: ArrayLike | None = None) -> None:
        if not isinstance(layers, Iterable):
            raise DTypeError(f"layers are a list of (weights, bias, activation), not {layers!r}")
        own = [_layer(number, given) for number, given in enumerate(layers, 1)]
        if not own:
            raise ParameterError("a network has at least one layer: (weights, bias, activation)")
        for number, (before, after) in enumerate(pairwise(own), 1):
            if after.weights.shape[1] != len(before.bias):
                message = (
                    f"layer {number} has {len(before.bias)} outputs, but layer {number + 1} takes "
                    f"{after.weights.shape[1]} inputs"
                )
                raise ShapeError(message, expected=len(before.bias), got=after.weights.shape[1])
        if classes is not None and own[-1].activation is not None:
            message = (
                "a network that decides between classes has no activation at its end: leave it "
                "out, the client computes probabilities from scores"
            )
            raise ParameterError(message)
        self.layers = tuple(_joined(own))
        last = self.layers[-1]
        self._end: Linear = (
            Linear(last.weights, last.bias)
            if classes is None
            else Logistic(last.weights, last.bias, classes)
        )

    @classmethod
    def from_sklearn(cls, model: object) -> Network:
        """Take the layers of a fitted network of scikit-learn.

        Parameters
        ----------
        model : object
            ``MLPClassifier`` or ``MLPRegressor`` with the activation relu, tanh, logistic or
            identity; or a ``Pipeline`` or a search (``GridSearchCV``) that ends with one and whose
            other steps are affine, as of :meth:`Linear.from_sklearn`. These steps are folded into
            the first layer, so that features are encrypted unchanged.

        Returns
        -------
        Network

        Raises
        ------
        DTypeError
            If the model is not a fitted network, decides for several labels at once, has other
            steps, or predicts random rows differently.

        Examples
        --------
        >>> import numpy as np, windlass as wl
        >>> from sklearn.neural_network import MLPClassifier
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
        >>> fitted = MLPClassifier((4,), solver="lbfgs", random_state=1).fit(X, y)
        >>> wl.Network.from_sklearn(fitted)
        <windlass.Network, 1-4-1, relu, 2 classes>

        """
        weights, biases, name, classes, flat = folded_network(model)
        names = [name] * (len(weights) - 1) + [None]
        own = cls(zip(weights, biases, names, strict=True), classes)
        if flat:
            own._end = Linear(own.layers[-1].weights[0], own.layers[-1].bias)
        own._check_against(model)
        return own

    def _check_against(self, model: Any) -> None:
        """Refuse a model whose own predictions of random rows differ."""
        # Rows of all sizes: probabilities of large ones are 0 and 1 for many networks.
        rows = np.random.default_rng(0).normal(size=(32, self.features))
        rows *= np.geomspace(1e-3, 1, 32)[:, None]
        what = model.predict if self.classes is None else model.predict_proba
        scores = self.scores(rows)
        own = self.decide(scores) if self.classes is None else self.probabilities(scores)
        wanted = ask(model, what, rows)
        if wanted.size != own.size or not np.allclose(wanted.reshape(own.shape), own, 1e-6, 1e-6):
            message = (
                f"{type(model).__name__} predicts something else than its layers give: it "
                "transforms features or predictions in another way"
            )
            raise DTypeError(message)

    @property
    def features(self) -> int:
        """The number of features of a row."""
        return int(self.layers[0].weights.shape[1])

    @property
    def outputs(self) -> int:
        """The number of scores of a row."""
        return len(self.layers[-1].bias)

    @property
    def classes(self) -> NDArray[Any] | None:
        """The names of the classes, if the network decides between some."""
        return self._end.classes if isinstance(self._end, Logistic) else None

    def _rows(self, rows: ArrayLike, what: str = "rows") -> _Floats:
        """Rows as an array (rows, features)."""
        array = _numbers(rows, what).astype(float)
        if array.ndim != 2 or array.shape[1] != self.features or not len(array):
            message = (
                f"{what} have the shape (rows, {self.features}), with at least one row, "
                f"not {array.shape}"
            )
            got = array.shape[1] if array.ndim == 2 else array.ndim
            raise ShapeError(message, expected=self.features, got=got)
        return array

    def scores(self, rows: ArrayLike) -> _Floats:
        """Compute the scores in the clear.

        Parameters
        ----------
        rows : array_like, shape (rows, features)

        Returns
        -------
        numpy.ndarray, shape (rows, outputs)

        Raises
        ------
        ShapeError, DTypeError, ValueRangeError
            If the rows are not an array of finite numbers of this shape.

        """
        x = self._rows(rows)
        for layer in self.layers:
            x = x @ layer.weights.T + layer.bias
            x = x if layer.activation is None else layer.activation.value(x)
        return x

    def decide(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into predictions.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)

        Returns
        -------
        numpy.ndarray
            The classes, of shape (...); without classes the scores, of shape (..., outputs), or
            (...) if the model of scikit-learn predicts one number for each row.

        """
        return self._end.decide(scores)

    def probabilities(self, scores: ArrayLike) -> NDArray[Any]:
        """Turn decrypted scores into the probabilities of the classes.

        Parameters
        ----------
        scores : array_like, shape (..., outputs)

        Returns
        -------
        numpy.ndarray, shape (..., classes)
            The sigmoid of a single score, the softmax of several.

        Raises
        ------
        ParameterError
            If the network has no classes.

        """
        if not isinstance(self._end, Logistic):
            raise ParameterError("this network has no classes, so it has no probabilities")
        return self._end.probabilities(scores)

    def predict(self, rows: ArrayLike) -> NDArray[Any]:
        """Predict in the clear: ``decide(scores(rows))``.

        Parameters
        ----------
        rows : array_like, shape (rows, features)

        Returns
        -------
        numpy.ndarray
            As of :meth:`decide`.

        """
        return self.decide(self.scores(rows))

    def plan(
        self,
        samples: ArrayLike,
        *,
        rows: int,
        precision: float = 8.0,
        margin: float = 1.5,
        layout: Literal["rows", "features"] | None = None,
        context: Context | None = None,
    ) -> NetworkPlan:
        """Plan the network for encrypted rows.

        **Warning.** The interval of each activation is measured on the samples. If a row leads to a
        number outside of it, the scores of this row are wrong, and those of all rows in the same
        ciphertexts may be. Decryption raises :class:`NotDecryptable` only if a score exceeds its
        bound.

        Parameters
        ----------
        samples : array_like, shape (samples, features)
            Rows like those that will be encrypted, such as the training data.

            **Warning.** The layout that clients get shows a power of two near the largest absolute
            value of each feature in the samples, a number near the largest score, the widest layer
            and the number of levels; by rows also which diagonals of the matrices are zero.
        rows : int
            The number of rows that are encrypted together, at most.
        precision : float
            Each activation is computed within ``2**-precision`` of its largest absolute value on
            its interval.
        margin : float
            How much wider than the measured intervals those of the plan are; 1 or more.
        layout : {"rows", "features"}, optional
            ``"rows"``: a ciphertext holds several rows, side by side. ``"features"``: a ciphertext
            holds one feature of many rows. By default the one with fewer ciphertexts in products,
            activations and refreshes.
        context : Context, optional
            A CKKS context. By default the smallest parameters with 128 bits of security whose depth
            suffices; if there are none, parameters with refreshes.

        Returns
        -------
        NetworkPlan

        Raises
        ------
        ShapeError, DTypeError, ValueRangeError
            If the samples are not rows of finite numbers.
        ParameterError
            If an argument is out of range (a precision from 1 to 30, a margin from 1 to 1000), an
            activation is 0 on its whole interval, or numbers are not finite.
        NoParameters
            If no polynomial reaches the precision, or no parameters suffice.
        CapacityExhausted
            If the network is deeper than the given context, which has no refreshes, or an
            activation is deeper than a refresh reaches.

        """
        from windlass.network_plans import NetworkPlan

        return NetworkPlan(
            self,
            self._rows(samples, "samples"),
            rows=rows,
            precision=precision,
            margin=margin,
            layout=layout,
            context=context,
        )

    def _shape(self) -> str:
        return "-".join(str(n) for n in [self.features, *(len(each.bias) for each in self.layers)])

    def _activations(self) -> str:
        found = [each.activation.name for each in self.layers if each.activation is not None]
        return found[0] if len(set(found)) == 1 else ", ".join(found) or "linear"

    def describe(self) -> str:
        """Describe the network: its widths, its activations, the number of its classes.

        Returns
        -------
        str

        """
        classes = "" if self.classes is None else f", {len(self.classes)} classes"
        return f"{self._shape()}, {self._activations()}{classes}"

    def __repr__(self) -> str:
        return f"<windlass.Network, {self.describe()}>"

    def _repr_html_(self) -> str:
        return lines(repr(self))

"""Where rows and scores of encrypted networks lie: the client's part of a plan."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass._windlass import Bootstrapping, Ciphertext, Client, Context, Keys
from windlass.errors import DTypeError, OtherContext, ParameterError, ShapeError, ValueRangeError
from windlass.models import _numbers

_Floats = NDArray[np.float64]

FEATURE_BOUND = 4.0
"""How much larger than its unit an encrypted feature may be."""


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
        check_type(data, NetworkData, holds)
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
        check_type(client, Client, "client")
        check_context(self.context, client.context)
        array = _numbers(rows, "rows").astype(float)
        if array.ndim != 2 or array.shape[1] != self.features or not len(array):
            message = f"rows have the shape (rows, {self.features}), not {array.shape}"
            got = array.shape[1] if array.ndim == 2 else array.ndim
            raise ShapeError(message, expected=self.features, got=got)
        if len(array) > self.rows:
            message = (
                f"{len(array)} rows are given, but the plan is for {self.rows} at most: encrypt "
                f"them in several calls, or plan the network with rows={len(array)}"
            )
            raise ShapeError(message, expected=self.rows, got=len(array))
        divided = array / np.array(self.feature_units)
        self._check_sizes(array, divided)
        # Rows again, not zeros: for a row of zeros no interval was measured.
        groups = self._groups(len(array))
        full = np.resize(divided, (groups * self.per_ciphertext, self.features))
        values = client.encrypt(self._arranged(full, groups), bound=FEATURE_BOUND)
        return NetworkData(values, len(array), "rows", self.name)

    def _check_sizes(self, array: _Floats, divided: _Floats) -> None:
        beyond = np.abs(divided) > FEATURE_BOUND
        if beyond.any():
            index = int(np.flatnonzero(beyond.ravel())[0])
            row, feature = divmod(index, self.features)
            value = float(array[row, feature])
            largest = FEATURE_BOUND * self.feature_units[feature]
            message = (
                f"rows: feature {feature} of row {row} is {value:.6g}, but at most "
                f"{largest:.6g} in absolute value was planned for: plan the network with "
                "samples that have such rows"
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

            **Warning.** Their errors depend on the secret key. Do not publish them, not
            even rounded.

        Raises
        ------
        NotDecryptable
            If a score exceeds its bound, as after a number outside the interval of an activation.
        ParameterError
            If these are no scores, or belong to another layout.
        OtherContext

        """
        check_type(client, Client, "client")
        check_context(self.context, client.context)
        self.check(scores, "scores")
        values = np.asarray(client.decrypt(scores.values), dtype=float)
        if self.kind == "features":
            rows = values.T
        else:
            rows = values.reshape(-1, self.stride)[:, : self.outputs]
        return np.ascontiguousarray(rows[: scores.count]) * self.score_unit


def check_type(given: object, kind: type, name: str) -> None:
    """Refuse an object of another type."""
    if not isinstance(given, kind):
        raise DTypeError(f"{name}: a {kind.__name__} is needed, not {type(given).__name__}")


def check_context(own: Context, other: Context) -> None:
    """Refuse another context than the plan's."""
    if own != other:
        message = (
            f"the network was planned for another context ({own!r} of depth {own.depth}, not "
            f"{other!r} of depth {other.depth}); use one context"
        )
        raise OtherContext(message)

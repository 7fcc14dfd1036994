"""Models that were trained elsewhere."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import windlass as wl


def encrypted_scores(model: wl.Linear, rows: Any, bound: float = 1.0, bits: int = 10) -> Any:
    """What client and server compute together."""
    context = model.context(bound=bound, precision_bits=bits)
    layer = model.on(context)
    client, server = context.generate_keys(layer, progress=False)
    query = server.receive(client.encrypt(rows, bound=bound))
    return client.decrypt(layer(query, progress=False))


@pytest.mark.parametrize(
    ("features", "outputs", "bound", "size", "bits"),
    [
        (1, 1, 1.0, 1.0, 10),
        (5, 3, 1.0, 0.01, 20),
        (17, 1, 1000.0, 2.0, 8),
        (64, 10, 16.0, 1.0, 12),
        (30, 2, 2500.0, 40.0, 4),
    ],
)
def test_scores_are_as_precise_as_promised(
    features: int, outputs: int, bound: float, size: float, bits: int
) -> None:
    rng = np.random.default_rng(features)
    model = wl.Linear(size * rng.normal(size=(outputs, features)), rng.normal(size=outputs))
    rows = bound * rng.uniform(-1, 1, size=(4, features))
    scores = encrypted_scores(model, rows, bound, bits)
    assert scores.shape == (4, outputs)
    assert np.abs(scores - model.scores(rows)).max() < 2.0**-bits
    assert np.array_equal(model.scores(rows), rows @ model.weights.T + model.bias)


@pytest.mark.parametrize(("size", "bound"), [(1e3, 1e-3), (1e5, 1e-5), (1e-6, 1e6), (1e-3, 1e3)])
def test_scores_are_as_precise_where_features_or_weights_are_small(
    size: float, bound: float
) -> None:
    rng = np.random.default_rng(1)
    model = wl.Linear(size * rng.normal(size=(2, 20)))
    rows = bound * rng.uniform(-1, 1, size=(16, 20))
    scores = encrypted_scores(model, rows, bound)
    assert np.abs(scores - model.scores(rows)).max() < 2.0**-10 / 4


def test_extreme_rows_fit() -> None:
    # The largest score that is possible: every feature at the bound, with the sign of its weight.
    model = wl.Linear(np.where(np.arange(40) % 3 == 0, 4.0, -4.0), 1.0)
    row = 100.0 * np.sign(model.weights[0])
    scores = encrypted_scores(model, row, bound=100.0, bits=6)
    assert scores == pytest.approx([40 * 400 + 1], abs=2**-6)


def test_rows_longer_than_a_ciphertext() -> None:
    rng = np.random.default_rng(9)
    weights = np.zeros((2, 9000))
    weights[:, ::1500] = rng.normal(size=(2, 6))  # few diagonals: planned at once
    model = wl.Linear(weights)
    context = model.context(bound=1.0)
    assert context.slots < 9000
    rows = rng.uniform(-1, 1, size=9000)
    scores = encrypted_scores(model, rows)
    assert np.abs(scores - model.scores(rows)).max() < 2**-10


def test_single_outputs_lose_their_dimension_when_decided() -> None:
    model = wl.Linear([2.0, 3.0], 1.0)
    assert model.predict([[1.0, 1.0], [0.0, 0.0]]).tolist() == [6.0, 1.0]
    assert model.predict([1.0, 1.0]) == 6.0
    assert wl.Linear([[2.0, 3.0]], [1.0]).predict([[1.0, 1.0]]).tolist() == [[6.0]]


def test_integer_weights_suit_exact_contexts() -> None:
    model = wl.Linear([[1, 2, 3], [4, 5, 6]], [10, -10])
    assert model.weights.dtype == np.int64
    context = wl.Context.preset("insecure_toy_256")
    layer = model.on(context, max_keys=5)
    assert len(layer.required_keys) <= 5
    client, server = context.generate_keys(layer)
    scores = client.decrypt(layer @ server.receive(client.encrypt([1, -1, 2])))
    assert scores.tolist() == model.scores([1, -1, 2]).tolist() == [15, 1]
    with pytest.raises(wl.DTypeError, match="round first"):
        wl.Linear([0.5]).on(context)


def test_scores_beyond_the_modulus_are_refused() -> None:
    model = wl.Logistic([300, -200])
    context = wl.Context.preset("insecure_toy_256")
    assert context.modulus == 257
    with pytest.raises(wl.ParameterError, match=r"reach 60000, .* modulo 257.* above 120000"):
        model.on(context, bound=120)
    small = wl.Linear([[1, -2], [3, 1]], [4, -4])
    with pytest.raises(wl.ParameterError, match="may reach 132"):
        small.on(context, bound=32)
    layer = small.on(context, bound=31)
    client, server = context.generate_keys(layer, progress=False)
    row = [31, -31]
    assert client.decrypt(layer @ server.receive(client.encrypt(row))).tolist() == [97, 58]
    assert small.scores(row).tolist() == [97, 58]
    small.on(context, bound=31.5)
    with pytest.raises(wl.ParameterError, match="may reach 132"):
        small.on(context, bound=np.int64(32))  # type: ignore[arg-type]
    for bound in (0, -1, float("nan")):
        with pytest.raises(wl.ParameterError, match="bound"):
            small.on(context, bound=bound)
    least = wl.Linear([[-(2**63)]])
    with pytest.raises(wl.ParameterError, match=str(2**63 * 2**62)):
        least.on(context, bound=2**62)
    with pytest.raises(wl.ParameterError, match="real numbers"):
        wl.Linear([1.0]).on(wl.Linear([1.0]).context(), bound=3)


def test_integers_are_exact_or_refused() -> None:
    large = np.array([[1, 2**63]], dtype=np.uint64)
    with pytest.raises(
        wl.ValueRangeError, match="weights: the value 9223372036854775808"
    ) as caught:
        wl.Linear(large)
    assert (caught.value.index, caught.value.value) == (1, str(2**63))
    model = wl.Linear([[2**40, 1], [1, 1]], [7, 0])
    with pytest.raises(wl.ValueRangeError, match="rows: the value 9223372036854775808 at index 1"):
        model.predict(large)
    with pytest.raises(wl.ValueRangeError, match="scores: the value") as caught:
        model.predict([[0, 0], [2**40, 1]])
    assert (caught.value.index, caught.value.value) == (2, str(2**80 + 8))
    # Sums that cancel, and the last number that there is.
    assert wl.Linear([2**40, -(2**40)], 5).predict([2**40, 2**40]) == 5
    assert wl.Linear([1, 1], -1).predict([2**62, 2**62]) == 2**63 - 1
    assert wl.Linear([-(2**63)]).predict([1]) == -(2**63)
    mixed = wl.Linear([2**40], 0.5).predict([2**40])
    assert mixed == 2.0**80
    assert model.scores([[1, 2]]).dtype == np.int64


def test_logistic_decides() -> None:
    two = wl.Logistic([1.0, -1.0], classes=["no", "yes"])
    assert two.decide([[3.0], [-3.0], [0.0]]).tolist() == ["yes", "no", "no"]
    assert two.probabilities([[0.0], [1000.0], [-1000.0]]).tolist() == [[0.5, 0.5], [0, 1], [1, 0]]
    three = wl.Logistic(np.eye(3), classes=[7, 8, 9])
    assert three.decide([[0.0, 2.0, 1.0], [5.0, 2.0, 1.0]]).tolist() == [8, 7]
    assert three.predict([0.0, 0.0, 1.0]) == 9
    soft = three.probabilities([[1000.0, 1000.0, -1000.0]])
    assert soft == pytest.approx(np.array([[0.5, 0.5, 0.0]]))
    rest = wl.Logistic(np.eye(3), link="one-vs-rest").probabilities([0.0, 0.0, 0.0])
    assert rest == pytest.approx([1 / 3] * 3)
    none = wl.Logistic(np.eye(3), link="one-vs-rest").probabilities([[-1e3] * 3, [-1e3, -1e3, 1.0]])
    assert none == pytest.approx(np.array([[1 / 3] * 3, [0, 0, 1]]))
    with pytest.raises(wl.ParameterError, match="not logarithms of odds"):
        wl.Logistic(np.eye(3), link=None).probabilities([0.0, 0.0, 0.0])


def test_encrypted_classes_are_those_of_the_model() -> None:
    rng = np.random.default_rng(3)
    model = wl.Logistic(rng.normal(size=(4, 12)), rng.normal(size=4), ["a", "b", "c", "d"])
    rows = rng.uniform(-1, 1, size=(6, 12))
    scores = encrypted_scores(model, rows)
    assert model.decide(scores).tolist() == model.predict(rows).tolist()


def test_pickle_equality_and_words() -> None:
    model = wl.Logistic([[1.0, 2.0]], 0.5, ["x", "y"])
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert again != wl.Logistic([[1.0, 2.0]], 0.5, ["x", "z"])
    assert model != wl.Linear([[1.0, 2.0]], 0.5)
    assert wl.Linear([1.0]) != wl.Linear([[1.0]])
    assert repr(model) == "<windlass.Logistic, 2 features, 1 output, 2 classes>"
    assert "2 features" in model._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0, 0] = 3.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(model)


def test_weights_are_copied() -> None:
    own = np.ones((2, 3))
    model = wl.Linear(own)
    own[0, 0] = 100.0
    assert model.weights[0, 0] == 1.0


@pytest.mark.parametrize(
    ("weights", "bias", "error", "words"),
    [
        (3.0, None, wl.ShapeError, "shape"),
        ([], None, wl.ShapeError, "at least one"),
        (np.zeros((2, 0)), None, wl.ShapeError, "at least one"),
        (np.zeros((2, 2, 2)), None, wl.ShapeError, "shape"),
        ([[1.0, 2.0], [3.0]], None, wl.DTypeError, "weights"),
        (["a"], None, wl.DTypeError, "real numbers"),
        ([1j], None, wl.DTypeError, "real numbers"),
        ([1.0, np.nan], None, wl.ValueRangeError, "nan at index 1"),
        ([1.0], [np.inf], wl.ValueRangeError, "inf at index 0"),
        ([[1.0], [2.0]], [1.0], wl.ShapeError, r"\(2,\)"),
        ([[1.0], [2.0]], 1.0, wl.ShapeError, r"\(2,\)"),
    ],
)
def test_bad_weights(weights: Any, bias: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        wl.Linear(weights, bias)


def test_bad_use() -> None:
    model = wl.Linear(np.ones((2, 3)))
    with pytest.raises(wl.ShapeError, match="3 features") as caught:
        model.predict([[1.0, 2.0]])
    assert (caught.value.expected, caught.value.got) == (3, 2)
    with pytest.raises(wl.ShapeError, match=r"\.\.\., 2"):
        model.decide([1.0, 2.0, 3.0])
    with pytest.raises(wl.ShapeError, match="2 classes"):
        wl.Logistic([1.0], classes=[1, 2, 3])
    with pytest.raises(wl.ParameterError, match="link"):
        wl.Logistic([1.0], link="probit")
    with pytest.raises(wl.ParameterError, match="'a' occurs twice"):
        wl.Logistic([1.0], classes=["a", "a"])
    assert model.context(bound=np.float32(2)).scheme == "CKKS"  # type: ignore[arg-type]
    for wrong in ("x", None, [1.0], True, np.complex128(1)):
        with pytest.raises(wl.DTypeError, match="bound of features"):
            model.context(bound=wrong)  # type: ignore[arg-type]
    with pytest.raises(wl.DTypeError, match=r"integer, not 2\.5"):
        model.context(precision_bits=2.5)  # type: ignore[arg-type]
    for large in (1e300, 10**300):
        with pytest.raises(wl.NoParameters, match="after the point: scale the features") as far:
            wl.Linear([1e200]).context(bound=large)
        assert "precision_bits=" not in str(far.value)
    with pytest.raises(wl.ParameterError, match="bound"):
        model.context(bound=10**400)
    for bound in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(wl.ParameterError, match="bound"):
            model.context(bound=bound)
    with pytest.raises(wl.ParameterError, match="precision_bits"):
        model.context(precision_bits=0)
    with pytest.raises(wl.NoParameters, match="precision_bits=") as refused:
        wl.Linear([1e6]).context(bound=1e3)
    assert isinstance(refused.value, ValueError)


def test_missing_keys_are_named() -> None:
    model = wl.Linear(np.ones((2, 8)))
    context = model.context()
    layer = model.on(context)
    client, server = context.generate_keys()
    with pytest.raises(wl.MissingGaloisKey) as caught:
        layer @ server.receive(client.encrypt(np.zeros(8)))
    assert set(caught.value.elements) == set(layer.required_keys)


class TestScikitLearn:
    """What scikit-learn fits."""

    @pytest.fixture(autouse=True)
    def _needs_it(self) -> None:
        pytest.importorskip("sklearn")

    @staticmethod
    def data(classes: int, features: int = 6) -> tuple[Any, Any]:
        rng = np.random.default_rng(classes)
        centres = 2 * rng.normal(size=(classes, features))
        chosen = rng.integers(classes, size=120)
        scales = 10.0 ** rng.integers(-1, 2, size=features)
        rows = (centres[chosen] + rng.normal(size=(120, features))) * scales + 3 * scales
        return rows, np.array(["red", "green", "blue", "grey"])[chosen]

    @pytest.mark.parametrize("classes", [2, 4])
    @pytest.mark.parametrize(
        "name",
        [
            "LogisticRegression",
            "SGDClassifier",
            "LinearSVC",
            "RidgeClassifier",
            "Perceptron",
            "LinearDiscriminantAnalysis",
        ],
    )
    def test_classifiers(self, classes: int, name: str) -> None:
        import sklearn.discriminant_analysis
        import sklearn.linear_model
        import sklearn.svm
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        homes = (sklearn.linear_model, sklearn.svm, sklearn.discriminant_analysis)
        kind = next(getattr(home, name) for home in homes if hasattr(home, name))
        rows, labels = self.data(classes)
        fitted = make_pipeline(StandardScaler(), kind()).fit(rows, labels)
        model = wl.Logistic.from_sklearn(fitted)
        assert model.scores(rows).shape == (120, 1 if classes == 2 else classes)
        expected = fitted.decision_function(rows)
        assert model.scores(rows).reshape(expected.shape) == pytest.approx(expected, abs=1e-9)
        assert model.predict(rows).tolist() == fitted.predict(rows).tolist()
        if name in ("LogisticRegression", "LinearDiscriminantAnalysis"):
            own = model.probabilities(model.scores(rows))
            assert own == pytest.approx(fitted.predict_proba(rows), abs=1e-9)
        else:
            assert model.link is None

    @pytest.mark.parametrize("classes", [2, 4])
    def test_one_against_the_rest(self, classes: int) -> None:
        from sklearn.linear_model import SGDClassifier

        rows, labels = self.data(classes)
        fitted = SGDClassifier(loss="log_loss", random_state=0).fit(rows / 10, labels)
        model = wl.Logistic.from_sklearn(fitted)
        own = model.probabilities(model.scores(rows / 10))
        assert own == pytest.approx(fitted.predict_proba(rows / 10), abs=1e-9)

    def test_regressors(self) -> None:
        from sklearn.linear_model import Lasso, LinearRegression, Ridge, SGDRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

        rows, _ = self.data(3)
        one = rows @ np.arange(6) + 5.0
        scalers = [StandardScaler(with_mean=False), StandardScaler(with_std=False)]
        scalers += [MinMaxScaler((-2, 3)), MaxAbsScaler()]
        for kind in (LinearRegression, Ridge, Lasso, SGDRegressor):
            for scaler in scalers:
                own = kind(fit_intercept=kind is not Ridge)
                fitted = make_pipeline("passthrough", scaler, own)
                if kind is SGDRegressor:
                    fitted = make_pipeline(scaler, StandardScaler(), own)
                fitted = fitted.fit(rows, one)
                model = wl.Linear.from_sklearn(fitted)
                assert model.predict(rows) == pytest.approx(fitted.predict(rows), rel=1e-6)
        several = LinearRegression().fit(rows, np.stack([one, -one], axis=1))
        model = wl.Linear.from_sklearn(several)
        assert model.predict(rows) == pytest.approx(several.predict(rows))
        flat = LinearRegression(fit_intercept=False).fit(rows, np.stack([one, -one], axis=1))
        assert wl.Linear.from_sklearn(flat).predict(rows) == pytest.approx(flat.predict(rows))

    def test_breast_cancer_on_features_as_they_are(self) -> None:
        from sklearn.datasets import load_breast_cancer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        rows, labels = load_breast_cancer(return_X_y=True)
        fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows[:400], labels[:400])
        model = wl.Logistic.from_sklearn(fitted)
        bound = 10_000.0  # public: larger than any of these measurements can be
        assert np.abs(rows).max() < bound
        scores = encrypted_scores(model, rows[400:420], bound, 4)
        assert np.abs(scores - model.scores(rows[400:420])).max() < 2**-4
        assert model.decide(scores).tolist() == fitted.predict(rows[400:420]).tolist()

    def test_sparse_weights(self) -> None:
        from sklearn.linear_model import (
            LogisticRegression,
            Perceptron,
            SGDClassifier,
            SGDRegressor,
        )
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import LinearSVC

        for classes in (2, 4):
            rows, labels = self.data(classes)
            for kind in (LogisticRegression, Perceptron, SGDClassifier, LinearSVC):
                fitted = make_pipeline(StandardScaler(), kind()).fit(rows, labels)
                before = wl.Logistic.from_sklearn(fitted)
                fitted[-1].sparsify()
                model = wl.Logistic.from_sklearn(fitted)
                assert model.weights == pytest.approx(before.weights, rel=1e-12)
                assert model.bias == pytest.approx(before.bias, rel=1e-12)
                assert (model.classes.tolist(), model.link) == (
                    before.classes.tolist(),
                    before.link,
                )
        rows, _ = self.data(2)
        own = make_pipeline(StandardScaler(), SGDRegressor()).fit(rows, rows[:, 0])
        before_ = wl.Linear.from_sklearn(own)
        own[-1].sparsify()
        assert wl.Linear.from_sklearn(own).predict(rows) == pytest.approx(before_.predict(rows))
        assert before_.predict(rows).shape == (120,)

    def test_affine_steps(self) -> None:
        from sklearn.compose import ColumnTransformer
        from sklearn.decomposition import PCA, TruncatedSVD
        from sklearn.feature_selection import SelectKBest, VarianceThreshold
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import (
            FunctionTransformer,
            MinMaxScaler,
            RobustScaler,
            StandardScaler,
        )

        rows, labels = self.data(4)
        nested = make_pipeline(make_pipeline(RobustScaler(), MinMaxScaler()), StandardScaler())
        parts = [
            ("scaled", make_pipeline(RobustScaler(), StandardScaler()), [0, 4]),
            ("small", MinMaxScaler(), slice(2, 4)),
            ("left out", "drop", [1]),
            ("twice", "passthrough", np.array([True] + 5 * [False])),
        ]
        steps: list[list[Any]] = [
            [RobustScaler()],
            [RobustScaler(with_centering=False, unit_variance=True)],
            [RobustScaler(with_scaling=False)],
            [nested],
            [StandardScaler(), PCA(3)],
            [PCA(4, whiten=True), RobustScaler()],
            [TruncatedSVD(3)],
            [VarianceThreshold(), StandardScaler(), SelectKBest(k=2)],
            [FunctionTransformer(), StandardScaler()],
            [ColumnTransformer(parts, remainder="passthrough"), StandardScaler()],
        ]
        for each in steps:
            fitted = make_pipeline(
                *each, make_pipeline("passthrough", LogisticRegression(max_iter=9000))
            )
            fitted.fit(rows, labels)
            model = wl.Logistic.from_sklearn(fitted)
            assert model.features == 6
            assert model.scores(rows) == pytest.approx(fitted.decision_function(rows), abs=1e-9)
            assert model.predict(rows).tolist() == fitted.predict(rows).tolist()
            own = model.probabilities(model.scores(rows))
            assert own == pytest.approx(fitted.predict_proba(rows), abs=1e-9)

    def test_models_that_were_fitted_on_frames(self) -> None:
        pd = pytest.importorskip("pandas")
        from sklearn.compose import ColumnTransformer
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

        rows, _ = self.data(3)
        frame = pd.DataFrame(rows, columns=list("abcdef"))
        parts = [("s", StandardScaler(), ["f", "a"]), ("m", MinMaxScaler(), ["c"])]
        columns = ColumnTransformer(parts, remainder=RobustScaler())
        for step in (StandardScaler(), columns):
            fitted = make_pipeline(step, Ridge()).fit(frame, rows @ np.arange(6))
            model = wl.Linear.from_sklearn(fitted)
            assert model.predict(rows) == pytest.approx(fitted.predict(frame))
            assert model.predict(frame) == pytest.approx(fitted.predict(frame))

    def test_the_best_of_a_search(self) -> None:
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        rows, labels = self.data(4)
        own = make_pipeline(StandardScaler(), LogisticRegression())
        search = GridSearchCV(own, {"logisticregression__C": [0.1, 1.0]}, cv=3).fit(rows, labels)
        assert wl.Logistic.from_sklearn(search) == wl.Logistic.from_sklearn(search.best_estimator_)
        inner = RandomizedSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_iter=2, cv=3)
        fitted = make_pipeline(StandardScaler(), inner).fit(rows, rows[:, 1])
        assert wl.Linear.from_sklearn(fitted).predict(rows) == pytest.approx(fitted.predict(rows))
        without = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3, refit=False)
        for each in (without, without.fit(rows, rows[:, 1])):
            with pytest.raises(wl.DTypeError, match="refit=True"):
                wl.Linear.from_sklearn(each)

    @pytest.mark.parametrize("classes", [2, 4])
    def test_models_of_one_class_against_the_rest(self, classes: int) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import RobustScaler, StandardScaler
        from sklearn.svm import LinearSVC

        rows, labels = self.data(classes)
        each = OneVsRestClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
        fitted = make_pipeline(RobustScaler(), each).fit(rows, labels)
        model = wl.Logistic.from_sklearn(fitted)
        assert model.outputs == (1 if classes == 2 else classes)
        assert model.link == ("softmax" if classes == 2 else "one-vs-rest")
        assert model.predict(rows).tolist() == fitted.predict(rows).tolist()
        own = model.probabilities(model.scores(rows))
        assert own == pytest.approx(fitted.predict_proba(rows), abs=1e-9)
        machines = make_pipeline(StandardScaler(), OneVsRestClassifier(LinearSVC()))
        machines.fit(rows, labels)
        model = wl.Logistic.from_sklearn(machines)
        assert model.link is None
        assert model.predict(rows).tolist() == machines.predict(rows).tolist()

    def test_labels_of_which_several_hold_are_refused(self) -> None:
        from sklearn.linear_model import RidgeClassifier
        from sklearn.multiclass import OneVsRestClassifier

        rows, labels = self.data(2)
        first = (labels == "red").astype(int)
        for model in (OneVsRestClassifier(RidgeClassifier()), RidgeClassifier()):
            fitted = model.fit(rows, np.stack([first, 1 - first], 1))
            with pytest.raises(wl.DTypeError, match="several labels"):
                wl.Logistic.from_sklearn(fitted)

    def test_what_is_refused(self) -> None:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LinearRegression, LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, PowerTransformer

        rows, labels = self.data(2)
        with pytest.raises(wl.DTypeError, match="no coef_"):
            wl.Logistic.from_sklearn(LogisticRegression())
        with pytest.raises(wl.DTypeError, match="no coef_"):
            wl.Logistic.from_sklearn(RandomForestClassifier(2).fit(rows, labels))
        with pytest.raises(wl.DTypeError, match="no coef_"):
            wl.Linear.from_sklearn("a model")
        with pytest.raises(wl.DTypeError, match=r"use wl\.Logistic"):
            wl.Linear.from_sklearn(LogisticRegression(max_iter=1000).fit(rows, labels))
        with pytest.raises(wl.DTypeError, match=r"use wl\.Linear"):
            wl.Logistic.from_sklearn(LinearRegression().fit(rows, rows[:, 0]))
        squares = make_pipeline(PolynomialFeatures(2), LinearRegression()).fit(rows, rows[:, 0])
        with pytest.raises(wl.DTypeError, match="PolynomialFeatures"):
            wl.Linear.from_sklearn(squares)
        clipped = make_pipeline(MinMaxScaler(clip=True), LinearRegression()).fit(rows, rows[:, 0])
        with pytest.raises(wl.DTypeError, match="clips"):
            wl.Linear.from_sklearn(clipped)
        power = make_pipeline(PowerTransformer(), LinearRegression()).fit(rows, rows[:, 0])
        with pytest.raises(
            wl.DTypeError, match=r"PowerTransformer cannot be merged .* RobustScaler"
        ):
            wl.Linear.from_sklearn(power)
        with pytest.raises(wl.DTypeError, match="no coef_"):
            wl.Linear.from_sklearn(make_pipeline("passthrough"))


def test_models_whose_weights_mean_something_else_are_refused() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    svm = pytest.importorskip("sklearn.svm")
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 4))
    counts = rng.poisson(2.0, 60)
    with pytest.raises(wl.DTypeError, match="does not score"):
        wl.Linear.from_sklearn(linear_model.PoissonRegressor().fit(rows, counts))
    with pytest.raises(wl.DTypeError, match="does not score"):
        wl.Logistic.from_sklearn(svm.SVC(kernel="linear").fit(rows, counts % 3))


class Fitted:
    """What looks like a classifier of scikit-learn, with probabilities of its own."""

    def __init__(self, weights: Any, bias: Any, given: Any) -> None:
        self.coef_, self.intercept_ = np.array(weights, float), np.array(bias, float)
        self.classes_ = np.arange(max(2, len(self.coef_)))
        self._given = given

    def decision_function(self, rows: Any) -> Any:
        return np.squeeze(rows @ self.coef_.T + self.intercept_)

    def predict_proba(self, rows: Any) -> Any:
        return self._given(rows @ self.coef_.T + self.intercept_)


def softmax(scores: Any) -> Any:
    each = np.exp(scores - scores.max(axis=1, keepdims=True))
    return each / each.sum(axis=1, keepdims=True)


def one_against_the_rest(scores: Any) -> Any:
    with np.errstate(all="ignore"):
        each = 1 / (1 + np.exp(-scores))
        return each / each.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shift", [0.0, 2000.0, -2000.0])
def test_links_are_those_that_give_the_probabilities_of_the_model(shift: float) -> None:
    rng = np.random.default_rng(8)
    weights, bias = 1e3 * rng.normal(size=(3, 5)), rng.normal(size=3) + shift
    for name, given in (("softmax", softmax), ("one-vs-rest", one_against_the_rest)):
        model = wl.Logistic.from_sklearn(Fitted(weights, bias, given))
        assert model.link == name
        assert np.isfinite(model.probabilities(model.scores(rng.normal(size=(50, 5))))).all()
    calibrated = Fitted(weights, bias, lambda scores: softmax(0.7 * scores + 0.1))
    assert wl.Logistic.from_sklearn(calibrated).link is None
    # Two classes by one score: a sigmoid of it, and not of the double.
    two = Fitted(weights[:1], bias[:1], lambda z: softmax(np.concatenate([0 * z, z], axis=1)))
    assert wl.Logistic.from_sklearn(two).link == "softmax"
    double = Fitted(weights[:1], bias[:1], lambda z: softmax(np.concatenate([-z, z], axis=1)))
    model = wl.Logistic.from_sklearn(double)
    with pytest.raises(wl.ParameterError, match="not logarithms of odds"):
        model.probabilities([0.5])

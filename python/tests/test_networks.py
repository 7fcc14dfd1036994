"""Networks of layers on encrypted rows, against the same layers in the clear."""

from __future__ import annotations

import dataclasses
import doctest
import math
import pickle
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from conftest import make

import windlass as wl

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "networks.md"
RNG = np.random.default_rng(5)
WEIGHTS = [RNG.normal(0, 0.7, shape) for shape in [(4, 3), (3, 4), (2, 3)]]
BIASES = [RNG.normal(0, 0.3, count) for count in (4, 3, 2)]
X = RNG.uniform(-1, 1, (40, 3))


def network(name: Any, classes: list[str] | None = None) -> wl.Network:
    return wl.Network(zip(WEIGHTS, BIASES, [name, name, None], strict=True), classes)


def encrypted(plan: wl.NetworkPlan, rows: np.ndarray) -> np.ndarray:
    """The scores by way of ciphertexts."""
    world = make(plan.context, plan)
    scores = plan.run(world.server, plan.encrypt(world.client, rows), progress=False)
    return plan.decrypt(world.client, scores)


class TestInTheClear:
    def test_scores_are_those_of_the_layers(self) -> None:
        x = X
        for weights, bias in zip(WEIGHTS[:2], BIASES[:2], strict=True):
            x = np.maximum(x @ weights.T + bias, 0)
        expected = x @ WEIGHTS[2].T + BIASES[2]
        own = network("relu", ["a", "b"])
        np.testing.assert_allclose(own.scores(X), expected)
        assert (own.predict(X) == np.array(["a", "b"])[expected.argmax(axis=1)]).all()
        np.testing.assert_allclose(own.probabilities(expected).sum(axis=1), 1)
        assert (own.features, own.outputs, repr(own)) == (
            3,
            2,
            "<windlass.Network, 3-4-3-2, relu, 2 classes>",
        )

    def test_layers_without_an_activation_are_multiplied_together(self) -> None:
        own = network("identity")
        assert len(own.layers) == 1
        x = X
        for weights, bias in zip(WEIGHTS, BIASES, strict=True):
            x = x @ weights.T + bias
        np.testing.assert_allclose(own.scores(X), x)

    def test_a_pickle_is_the_same_network(self) -> None:
        own = network("gelu")
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(own)).scores(X), own.scores(X))


@pytest.mark.parametrize(
    ("name", "layout"), [("relu", "rows"), ("gelu", "features"), ("square", "rows")]
)
def test_encrypted_scores(name: str, layout: Literal["rows", "features"]) -> None:
    own = network(name)
    plan = own.plan(X, rows=40, precision=5, layout=layout)
    assert (plan.layout.kind, plan.refreshes) == (layout, 0)
    clear = plan.in_the_clear(X[:25])
    np.testing.assert_allclose(encrypted(plan, X[:25]), clear, atol=1e-3)
    # The polynomials are near the activations.
    assert np.abs(clear - own.scores(X[:25])).max() <= plan.difference + 1e-9 < 0.2


def test_rows_in_several_ciphertexts() -> None:
    own = wl.Network([(WEIGHTS[0], BIASES[0], "square")])
    context = wl.Context.approximate(depth=3)
    rows = RNG.uniform(-1, 1, (context.slots // 4 + 10, 3))
    plan = own.plan(rows, rows=len(rows), layout="rows", context=context)
    assert plan.layout.groups == 2
    np.testing.assert_allclose(encrypted(plan, rows), own.scores(rows), atol=1e-3)


def test_plans_refresh_before_the_server_would() -> None:
    # The toy refreshes at any level, so that all its levels can be spent. This one keeps two.
    context = wl.Context.preset("refresh_n65536")
    kept = context.bootstrapping().input_levels
    assert kept > 0
    reach = context.depth - kept
    own = wl.Network([([[1.0]], None, "square")] * reach)
    plan = own.plan([[0.5], [0.9]], rows=2, context=context, layout="features")
    # A layer takes three levels. By 10 levels that is 3 refreshes, by all 13 it would be 2.
    assert (context.depth, reach, plan.depth, plan.refreshes) == (13, 10, 30, 3)
    deep = wl.Network([([[1.0]], None, np.polynomial.Polynomial([0.0] * 2 ** (reach + 2) + [1.0]))])
    with pytest.raises(wl.CapacityExhausted, match="activation of layer 1 takes"):
        deep.plan([[0.5], [0.9]], rows=2, context=context)


def test_a_margin_of_one_takes_its_own_samples() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        samples = rng.normal(size=(9, 3))
        own = wl.Network([(rng.normal(size=(2, 3)), rng.normal(size=2), "tanh")])
        plan = own.plan(samples, rows=9, precision=4, margin=1, layout="features")
        assert np.abs(plan.in_the_clear(samples) - own.scores(samples)).max() < 0.1


def test_numbers_that_are_not_finite_are_refused() -> None:
    own = wl.Network([([[1.0]], None, lambda x: math.inf if x > 0 else 0.0)])
    with pytest.raises(wl.ParameterError, match="scores up to inf"):
        own.plan([[0.5], [-0.5]], rows=2)


def test_few_rows_of_a_large_plan_take_few_ciphertexts() -> None:
    own = wl.Network([(WEIGHTS[0], None, "square")])
    for layout, groups in (("rows", 0), ("features", 1)):
        plan = own.plan(X, rows=10**6, layout=layout)  # type: ignore[arg-type]
        client, server = plan.context.generate_keys(plan, progress=False)
        rows = plan.encrypt(client, X[:2])
        assert rows.values.shape[groups] <= plan.layout.per_ciphertext
        scores = plan.decrypt(client, plan.run(server, rows, progress=False))
        np.testing.assert_allclose(scores, own.scores(X[:2]), atol=1e-3)
    with pytest.raises(wl.ParameterError, match="at most"):
        own.plan(X, rows=10**20)


def test_refreshes_where_levels_run_out() -> None:
    context = wl.Context.preset("insecure_toy_refresh_1024")
    plan = network("gelu").plan(X, rows=20, precision=4, context=context)
    assert plan.depth > context.depth and plan.layout.refreshes
    assert plan.refreshes > 0
    world = make(context, plan)
    told: list[tuple[int, int]] = []
    rows = plan.encrypt(world.client, X[:20])
    scores = plan.run(world.server, rows, progress=lambda *state: told.append(state))
    assert told == [(done, 5) for done in range(1, 6)]
    np.testing.assert_allclose(
        plan.decrypt(world.client, scores), plan.in_the_clear(X[:20]), atol=0.02
    )
    without = make(context, context.keys(plan.layout.galois_elements, relinearisation=True))
    with pytest.raises(wl.MissingBootstrappingKeys):
        plan.run(without.server, plan.encrypt(without.client, X[:20]), progress=False)


def test_functions_and_polynomials_as_activations() -> None:
    for given in (lambda x: x / (1 + x * x), np.polynomial.Polynomial([0.25, 0.5, 0.125])):
        own = wl.Network([(WEIGHTS[0], BIASES[0], given)])
        plan = own.plan(X, rows=40, precision=8)
        np.testing.assert_allclose(encrypted(plan, X), own.scores(X), atol=0.01)


class TestThePlan:
    def test_the_layout_with_fewer_ciphertexts(self) -> None:
        context = wl.Context.approximate(depth=3)
        own = wl.Network([(WEIGHTS[0], None, "square")])
        assert own.plan(X, rows=40, context=context).layout.kind == "rows"
        narrow = wl.Network([(np.eye(1, 3), None, "square")])
        many = narrow.plan(X, rows=2 * context.slots, context=context).layout
        assert (many.kind, many.groups, many.per_ciphertext) == ("features", 2, context.slots)

    def test_what_it_states(self) -> None:
        plan = network("relu").plan(X, rows=40, precision=6)
        for wanted in [
            "by rows",
            "3-4-3-2, relu",
            "none",
            "128 bits" if plan.context.security < 129 else "bits",
            "3 to 4",
        ]:
            assert wanted in plan.explain()
        assert plan.intervals[2] is None
        # Each interval holds what the samples give.
        x = X @ WEIGHTS[0].T + BIASES[0]
        low, high = plan.intervals[0] or (0.0, 0.0)
        assert low < x.min() and x.max() < high

    def test_a_client_needs_the_layout_alone(self) -> None:
        own = wl.Network([(WEIGHTS[0], BIASES[0], "square")])
        plan = own.plan(X, rows=5)
        layout = pickle.loads(pickle.dumps(plan.layout))
        assert layout == plan.layout
        client, server = layout.context.generate_keys(layout, progress=False)
        scores = plan.run(server, layout.encrypt(client, X[:5]), progress=False)
        np.testing.assert_allclose(layout.decrypt(client, scores), own.scores(X[:5]), atol=1e-3)
        assert scores.nbytes > 0 and scores.count == 5


class TestRefusals:
    def test_layers(self) -> None:
        with pytest.raises(wl.ParameterError, match="at least one layer"):
            wl.Network([])
        with pytest.raises(wl.ShapeError, match="layer 2 takes 3 inputs"):
            wl.Network([(np.ones((2, 2)), None, "relu"), (np.ones((1, 3)), None, None)])
        with pytest.raises(wl.ShapeError, match="a bias of shape"):
            wl.Network([(np.ones((2, 2)), [1.0], "relu")])
        with pytest.raises(wl.DTypeError, match="a list of names"):
            wl.Network([(np.ones((2, 2)), None, None)], classes=[[0], [1, 2]])
        with pytest.raises(wl.DTypeError, match="layers are a list"):
            wl.Network(None)  # type: ignore[arg-type]
        with pytest.raises(wl.ShapeError, match="outputs, inputs"):
            wl.Network([([1.0, 2.0], None, "relu")])
        with pytest.raises(wl.ValueRangeError):
            wl.Network([([[1.0, np.nan]], None, "relu")])
        with pytest.raises(wl.DTypeError, match="layer 1 must be"):
            wl.Network([np.ones((2, 2))])
        with pytest.raises(wl.UnknownName, match="swish"):
            wl.Network([(np.ones((2, 2)), None, "swish")])
        with pytest.raises(wl.DTypeError):
            wl.Network([(np.ones((2, 2)), None, 3)])
        with pytest.raises(wl.ParameterError, match="no activation at its end"):
            wl.Network([(np.ones((2, 2)), None, "relu")], classes=["a", "b"])
        with pytest.raises(wl.ParameterError, match="no classes"):
            network("relu").probabilities([[0.0, 1.0]])

    def test_plans(self) -> None:
        own = network("relu")
        with pytest.raises(wl.ShapeError, match=r"\(rows, 3\)"):
            own.plan(X[:, :2], rows=4)
        with pytest.raises(wl.ValueRangeError):
            own.plan(np.where(X > 0.9, np.nan, X), rows=4)
        refused: list[tuple[dict[str, Any], str]] = [
            ({"rows": 0}, "rows is 0"),
            ({"precision": 40}, "precision is 40"),
            ({"margin": 0.5}, "margin is 0.5"),
            ({"layout": "columns"}, "layout must be"),
            ({"context": wl.Context.preset("insecure_toy_256")}, "CKKS"),
        ]
        for options, match in refused:
            with pytest.raises(wl.ParameterError, match=match):
                own.plan(X, **{"rows": 4, **options})
        with pytest.raises(wl.DTypeError):
            own.plan(X, rows=4.5)  # type: ignore[arg-type]
        with pytest.raises(wl.CapacityExhausted, match="no refreshes"):
            own.plan(X, rows=4, context=wl.Context.approximate(depth=3))
        with pytest.raises(wl.ParameterError, match="the number 0 for all samples"):
            wl.Network([(np.zeros((1, 3)), None, "relu")]).plan(X, rows=4)

    def test_rows(self) -> None:
        plan = wl.Network([(WEIGHTS[0], None, "square")]).plan(X, rows=5)
        client, server = plan.context.generate_keys(plan, progress=False)
        with pytest.raises(wl.ShapeError, match="6 rows are given"):
            plan.encrypt(client, X[:6])
        with pytest.raises(wl.ShapeError):
            plan.encrypt(client, X[:5, :2])
        with pytest.raises(wl.ValueRangeError):
            plan.encrypt(client, [[0.0, np.inf, 0.0]])
        with pytest.raises(wl.ValueRangeError, match="feature 1 of row 0"):
            plan.encrypt(client, [[0.0, 50.0, 0.0]])
        # Larger than any sample, but not too large to encrypt.
        with pytest.raises(wl.ValueRangeError, match="row 0 leads to") as outside:
            plan.in_the_clear([[3.0, 3.0, -3.0]])
        assert outside.value.index == 0
        rows = plan.encrypt(client, X[:5])
        other = wl.Network([(WEIGHTS[0], None, "square")]).plan(
            X, rows=5, layout="features", context=plan.context
        )
        with pytest.raises(wl.ParameterError, match="another layout"):
            other.run(server, rows)
        with pytest.raises(wl.ParameterError, match="these are encrypted rows"):
            plan.decrypt(client, rows)
        scores = plan.run(server, rows, progress=False)
        with pytest.raises(wl.ParameterError, match="these are encrypted scores"):
            plan.run(server, scores)
        with pytest.raises(wl.ParameterError, match="another layout"):
            other.decrypt(client, scores)
        for count in (-1, 0, 6):
            with pytest.raises(wl.ShapeError, match=f"rows is {count}"):
                plan.decrypt(client, dataclasses.replace(scores, count=count))
        with pytest.raises(wl.DTypeError, match="NetworkData"):
            plan.run(server, rows.values)  # type: ignore[arg-type]
        with pytest.raises(wl.DTypeError, match="a Client"):
            plan.encrypt(server, X[:5])  # type: ignore[arg-type]
        with pytest.raises(wl.DTypeError, match="must be a Context"):
            wl.Network([(WEIGHTS[0], None, "square")]).plan(X, rows=5, context="n65536")  # type: ignore[arg-type]
        with pytest.raises(wl.ParameterError, match="fails at"):
            wl.Network([(WEIGHTS[0], None, lambda x: math.log(x))]).plan(X, rows=5)
        foreign = wl.Context.approximate(depth=plan.context.depth + 1)
        with pytest.raises(wl.OtherContext):
            plan.encrypt(make(foreign).client, X[:5])
        without = make(plan.context)
        with pytest.raises(wl.MissingKeys):
            plan.run(without.server, plan.encrypt(without.client, X[:5]), progress=False)


class TestScikitLearn:
    sklearn = pytest.importorskip("sklearn")

    def test_the_same_predictions(self) -> None:
        from sklearn.neural_network import MLPClassifier, MLPRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        y = (X @ [1.0, -2.0, 0.5] > 0).astype(int) + (X[:, 0] > 0.5)
        for name in ("relu", "tanh", "logistic", "identity"):
            classifier = MLPClassifier((4, 3), activation=name, solver="lbfgs", random_state=1)
            model = make_pipeline(StandardScaler(), classifier).fit(X, y)
            own = wl.Network.from_sklearn(model)
            assert (own.predict(X) == model.predict(X)).all()
            np.testing.assert_allclose(
                own.probabilities(own.scores(X)), model.predict_proba(X), atol=1e-6
            )
        binary = MLPClassifier((4,), solver="lbfgs", random_state=1).fit(X, y > 0)
        assert (wl.Network.from_sklearn(binary).predict(X) == binary.predict(X)).all()
        for target in (X[:, 0], X[:, :2]):
            regressor = MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", random_state=1).fit(
                X, target
            )
            own = wl.Network.from_sklearn(regressor)
            np.testing.assert_allclose(own.predict(X), regressor.predict(X), atol=1e-6)

    def test_refusals(self) -> None:
        from sklearn.linear_model import LinearRegression
        from sklearn.neural_network import MLPClassifier

        with pytest.raises(wl.DTypeError, match="coefs_"):
            wl.Network.from_sklearn(MLPClassifier())
        with pytest.raises(wl.DTypeError, match="coefs_"):
            wl.Network.from_sklearn(LinearRegression().fit(X, X[:, 0]))
        labels = MLPClassifier((2,), max_iter=2000, tol=1e-2).fit(X, (X > 0).astype(int))
        with pytest.raises(wl.DTypeError, match="several labels"):
            wl.Network.from_sklearn(labels)

        class Doubled(MLPClassifier):  # type: ignore[misc]
            def predict_proba(self, rows: np.ndarray) -> np.ndarray:
                return np.asarray(super().predict_proba(2 * rows))

        other = Doubled((2,), max_iter=2000, tol=1e-2, random_state=1).fit(X, X[:, 0] > 0)
        with pytest.raises(wl.DTypeError, match="predicts something else"):
            wl.Network.from_sklearn(other)


class TestBlocks:
    def test_each_block_is_multiplied(self) -> None:
        context = wl.Context.approximate(depth=1)
        matrix = RNG.normal(size=(2, 3))
        layer = context.blocks(matrix, count=5, stride=4)
        world = make(context, layer)
        x = RNG.normal(size=(5, 4))
        result = world.decrypt(layer @ world.encrypt(x.ravel(), bound=4)).reshape(5, 4)
        np.testing.assert_allclose(result[:, :2], x[:, :3] @ matrix.T, atol=1e-6)
        np.testing.assert_allclose(result[:, 2:], 0, atol=1e-6)
        again = pickle.loads(pickle.dumps(layer))
        assert again == layer
        np.testing.assert_array_equal(
            np.asarray(again.matrix), np.kron(np.eye(5), np.pad(matrix, ((0, 2), (0, 1))))
        )

    def test_refusals(self) -> None:
        context = wl.Context.approximate(depth=1)
        for count, stride in [(0, 3), (2, 2), (context.slots, 3), (2**63, 3)]:
            with pytest.raises(wl.ShapeError, match="block"):
                context.blocks(np.ones((2, 3)), count=count, stride=stride)
        with pytest.raises(wl.ShapeError):
            context.blocks([1.0, 2.0], count=1, stride=3)
        with pytest.raises(wl.ValueRangeError):
            context.blocks([[np.nan]], count=1, stride=1)
        with pytest.raises(wl.ParameterError, match="real numbers"):
            wl.Context.preset("insecure_toy_256").blocks([[1]], count=1, stride=1)


class TestWeightedSums:
    def test_a_matrix_times_rows(self, reals: Any) -> None:
        weights, x = RNG.normal(size=(2, 5)), RNG.normal(size=(5, reals.context.slots + 7))
        result = weights @ reals.encrypt(x, bound=8)
        assert result.shape == (2, reals.context.slots + 7)
        np.testing.assert_allclose(reals.decrypt(result), weights @ x, atol=1e-5)

    def test_a_matrix_of_integers(self, toy: Any) -> None:
        weights, x = np.array([[1, -2, 3]]), np.arange(6).reshape(3, 2)
        np.testing.assert_array_equal(toy.decrypt(weights @ toy.encrypt(x)), weights @ x % 257)

    def test_refusals(self, reals: Any) -> None:
        x = reals.encrypt(np.ones((5, 4)))
        with pytest.raises(wl.ShapeError):
            np.ones((2, 4)) @ x
        with pytest.raises(wl.DTypeError, match="real numbers"):
            (np.ones((2, 5)) * 1j) @ x
        with pytest.raises(wl.ValueRangeError):
            np.full((2, 5), np.inf) @ x


def test_circuits_in_the_clear() -> None:
    context = wl.Context.approximate(depth=7)
    sigmoid = context.function("sigmoid", (-8, 8), precision=12)
    x = np.linspace(-8, 8, 11).reshape(11, 1)
    np.testing.assert_allclose(sigmoid.in_the_clear(x), 1 / (1 + np.exp(-x)), atol=2**-12)
    assert sigmoid.products == 10
    assert context.polynomial([1.0, 0.0, 2.0]).in_the_clear([3.0]).tolist() == [19.0]
    with pytest.raises(wl.ParameterError, match="one real number"):
        context.sum(4).in_the_clear([1.0])
    assert context.sum(4).products is None


@pytest.mark.skipif(not GUIDE.is_file(), reason="the guide lies in the repository")
def test_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, GUIDE.name, str(GUIDE), 0)
    assert doctest.DocTestRunner().run(test).failed == 0

"""Logistic regression on encrypted rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import World, make

import windlass as wl

NAME = "insecure_toy_refresh_1024_slots16"


def table(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features, and labels by a noisy linear rule."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.7, 1.7, (rows, features))
    y = (X @ np.linspace(-1, 2, features) + rng.normal(0, 0.5, rows) > 0.2).astype(int)
    return X, y


@pytest.fixture(scope="module")
def planned() -> tuple[World, wl.Training]:
    """The toy set with a training of 60 rows, and its keys."""
    context = wl.Context.preset(NAME)
    training = context.training(rows=60, features=3, steps=6, score_bound=8)
    return make(context, training), training


def test_training(planned: tuple[World, wl.Training]) -> None:
    world, training = planned
    X, y = table(60, 3)
    rows = training.encrypt(world.client, X, y)
    assert rows.nbytes > 0
    told: list[tuple[int, int]] = []
    trained = training.run(world.server, rows, progress=lambda *state: told.append(state))
    assert told == sorted(told) and told[-1] == (6, 6)
    weights, bias = training.decrypt(world.client, trained)
    plain, plain_bias = training.in_the_clear(X, y)
    np.testing.assert_allclose([*weights, bias], [*plain, plain_bias], atol=5e-5)
    assert abs(bias - plain_bias) < 10 * training.error < 1e-3
    # The weights are close to what a separate implementation with the true sigmoid finds.
    Z = np.column_stack([X, np.ones(60)])
    w = v = np.zeros(4)
    scale = 1.0
    for _ in range(6):
        new = v + Z.T @ (y - 1 / (1 + np.exp(-(Z @ v)))) / 60
        following = (1 + np.sqrt(1 + 4 * scale**2)) / 2
        v, w, scale = new + (scale - 1) / following * (new - w), new, following
    np.testing.assert_allclose([*weights, bias], w, atol=0.02)


def test_the_plan(planned: tuple[World, wl.Training]) -> None:
    world, training = planned
    assert (training.steps, training.levels_per_step, training.score_bound) == (6, 7, 8)
    assert training.refreshes == 2
    assert training.context == world.context
    assert 1e-4 < training.sigmoid_error < 0.01
    for wanted in ["60 rows of 3 features", "7 a step of the 14 after a refresh", "seconds"]:
        assert wanted in training.explain(), training.explain()
    assert "60 rows" in repr(training)
    back = pickle.loads(pickle.dumps(training))
    assert back == training and hash(back) == hash(training)
    assert training != world.context.training(rows=60, features=3, steps=7)


def test_refusals(planned: tuple[World, wl.Training]) -> None:
    world, training = planned
    X, y = table(60, 3)
    with pytest.raises(wl.ShapeError):
        training.encrypt(world.client, X[:50], y[:50])
    with pytest.raises(wl.ShapeError):
        training.encrypt(world.client, X[:, :2], y)
    with pytest.raises(wl.ShapeError, match="matrix"):
        training.encrypt(world.client, X[0], y)
    with pytest.raises(wl.ParameterError, match="label"):
        training.encrypt(world.client, X, 2 * y)
    with pytest.raises(wl.ValueRangeError):
        training.encrypt(world.client, np.where(np.abs(X) > 1.5, np.nan, X), y)
    with pytest.raises(wl.ValueRangeError):
        training.encrypt(world.client, 10 * X, y)
    with pytest.raises(wl.ParameterError, match="number of steps"):
        world.context.training(rows=60, features=3, steps=0)
    with pytest.raises(wl.ParameterError, match="number of features"):
        world.context.training(rows=60, features=16)
    with pytest.raises(wl.CapacityExhausted):
        wl.Context.preset("insecure_toy_refresh_1024").training(rows=60, features=3)
    with pytest.raises(wl.BootstrapError):
        wl.Context.approximate(depth=3).training(rows=60, features=3)
    with pytest.raises(wl.ParameterError, match="CKKS"):
        wl.Context.preset("insecure_toy_256").training(rows=60, features=3)
    rows = training.encrypt(world.client, X, y)
    without = make(world.context)
    with pytest.raises(wl.MissingKeys):
        training.run(without.server, rows)
    other = wl.Context.preset("insecure_toy_refresh_1024")
    with pytest.raises(wl.OtherContext):
        training.encrypt(make(other).client, X, y)

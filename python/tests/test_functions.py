"""Functions of encrypted real numbers, against NumPy: never further off than stated."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import World, make

import windlass as wl

Real = Callable[[Any], Any]


@pytest.fixture(scope="module")
def deep() -> World:
    """CKKS with 7 levels."""
    context = wl.Context.approximate(depth=7, slots=64)
    return make(context, context.products())


def gelu(x: Any) -> Any:
    return x * np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(x)


Case = tuple[str, Real, tuple[float, float], float]
CASES: list[Case] = [
    ("exp", np.exp, (-2, 1), 15),
    ("log", np.log, (0.25, 4), 12),
    ("inverse", lambda x: 1 / x, (0.5, 4), 12),
    ("sqrt", np.sqrt, (0.1, 2), 12),
    ("inverse_sqrt", lambda x: 1 / np.sqrt(x), (0.25, 4), 12),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), (-8, 8), 15),
    ("tanh", np.tanh, (-4, 4), 14),
    ("gelu", gelu, (-5, 5), 10),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_functions_are_as_exact_as_they_state(
    deep: World, rng: np.random.Generator, case: Case
) -> None:
    name, f, interval, precision = case
    low, high = interval
    values = np.concatenate([[low, high], rng.uniform(low, high, 48)])
    x = deep.encrypt(values, bound=max(abs(low), abs(high)))
    circuit = deep.context.function(name, interval, precision)
    assert circuit.interval == (low, high)
    assert circuit.approximation_error is not None
    assert circuit.approximation_error <= 2**-precision
    assert circuit.depth <= 7 and len(circuit.degrees) >= 1
    result = getattr(wl, name)(x, interval, precision)
    error = np.abs(deep.decrypt(result) - f(values)).max()
    assert error <= circuit.error(x) <= 2 ** (1 - precision)
    assert error <= 2 ** (1.5 - result.precision_bits)
    for word in (name, "interval", "depth", "degrees"):
        assert word in circuit.explain()


def test_any_function(deep: World, rng: np.random.Generator) -> None:
    def wave(x: float) -> float:
        return math.sin(3 * x) / (1 + x * x)

    circuit = deep.context.function(wave, (-1, 2), precision=14)
    values = rng.uniform(-1, 2, (2, 33))
    x = deep.encrypt(values, bound=2)
    got = deep.decrypt(circuit(x))
    assert np.abs(got - np.sin(3 * values) / (1 + values * values)).max() <= circuit.error(x)
    assert "wave" in circuit.explain() and "wave" in repr(circuit)
    again = pickle.loads(pickle.dumps(circuit))
    assert again == circuit and again.explain() == circuit.explain()
    assert deep.context.function(np.cos, (-1, 1), 10).depth == 3
    with pytest.raises(ZeroDivisionError):
        deep.context.function(lambda x: 1 / x, (-1, 1))
    with pytest.raises(TypeError):
        deep.context.function(lambda x: "no number", (-1, 1))  # type: ignore


def test_sign_absolute_value_and_extrema(rng: np.random.Generator) -> None:
    sign = wl.Context.approximate(depth=1).function("sign", (-1, 1), 8, gap=1 / 16)
    absolute = wl.Context.approximate(depth=1).function("abs", (-2, 2), 3)
    depth = max(sign.depth, absolute.depth)
    context = wl.Context.approximate(depth=depth, slots=64)
    world = make(context, context.products())
    a, b = rng.uniform(-1, 1, (2, 40))
    x, y = world.encrypt(a), world.encrypt(b)
    far = np.abs(a) >= 1 / 16
    got = world.decrypt(wl.sign(x, (-1, 1), 8, gap=1 / 16))
    assert np.abs(got - np.sign(a))[far].max() <= 2**-8
    assert np.abs(got).max() <= 1 + 2**-8
    got = world.decrypt(wl.step(x, (-1, 1), 8, gap=1 / 16))
    assert np.abs(got - (a > 0))[far].max() <= 2**-8
    assert np.abs(world.decrypt(wl.absolute(x, (-1, 1), 3)) - np.abs(a)).max() <= 2**-3
    for extremum, f in [(wl.maximum, np.maximum), (wl.minimum, np.minimum)]:
        assert np.abs(world.decrypt(extremum(x, y, (-1, 1), 3)) - f(a, b)).max() <= 2**-3
    plan = context.function("maximum", (-1, 1), 3)
    with pytest.raises(wl.ShapeError, match="two"):
        plan(x)
    with pytest.raises(wl.ShapeError, match="shapes"):
        plan(x, world.encrypt(a[:5]))
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_depths_are_counted(deep: World) -> None:
    sigmoid = deep.context.function("sigmoid", (-8, 8), 15)
    gelu = deep.context.function("gelu", (-5, 5), 10)
    context = wl.Context.approximate(for_=[np.ones((2, 3)), sigmoid, gelu])
    assert context.depth == 1 + sigmoid.depth + gelu.depth


def test_what_cannot_work_is_refused(deep: World, toy: World) -> None:
    x = deep.encrypt([0.5, -0.5])
    with pytest.raises(wl.OutsideInterval) as outside:
        wl.exp(x, (-0.25, 0.25))
    assert (outside.value.low, outside.value.high) == (-0.25, 0.25)
    with pytest.raises(wl.CapacityExhausted) as deeper:
        wl.sign(x, (-1, 1))
    assert deeper.value.depth == 15
    with pytest.raises(wl.CapacityExhausted):
        deep.context.function("sign", (-1, 1)).error(x)
    for name, interval in [
        ("inverse", (-1, 1)),
        ("log", (0, 1)),
        ("exp", (1, 1)),
        ("sqrt", (-1, 1)),
    ]:
        with pytest.raises(wl.ParameterError, match="interval"):
            deep.context.function(name, interval)
    with pytest.raises(wl.NoParameters, match="bits"):
        deep.context.function("sqrt", (0, 1), 30)
    with pytest.raises(wl.ParameterError, match="precision"):
        deep.context.function("exp", (0, 1), 80)
    with pytest.raises(wl.UnknownName) as unknown:
        deep.context.function("sinus", (0, 1))
    assert {"sigmoid", "sign", "maximum"} <= set(unknown.value.known)
    with pytest.raises(wl.ParameterError, match="gap"):
        deep.context.function("exp", (0, 1), gap=0.1)
    with pytest.raises(wl.ParameterError, match="gap"):
        deep.context.function("sign", (-1, 1), gap=2.0)
    with pytest.raises(wl.DTypeError, match="callable"):
        deep.context.function(3, (0, 1))  # type: ignore[arg-type]
    with pytest.raises(wl.ParameterError, match="CKKS"):
        toy.context.function("exp", (0, 1))
    with pytest.raises(wl.ParameterError, match="one real number"):
        deep.context.polynomial([0.0, 1.0]).error(x)
    client, server = deep.context.generate_keys(progress=False)
    with pytest.raises(wl.MissingRelinearisationKey):
        wl.exp(server.receive(client.encrypt([0.5])), (-1, 1), 10)


def test_softmax_of_rows(rng: np.random.Generator) -> None:
    depth = wl.Context.approximate(depth=1).softmax(5, (-2, 2), 8).depth
    context = wl.Context.approximate(depth=depth, slots=64)
    plan = context.softmax(5, (-2, 2), 8)
    world = make(context, plan)
    values = rng.uniform(-2, 2, (2, 5))
    x = world.encrypt(values, bound=2)
    powers = np.exp(values)
    result = wl.softmax(x, (-2, 2), 8)
    assert result.shape == (2, 5)
    error = np.abs(world.decrypt(result) - powers / powers.sum(axis=-1, keepdims=True)).max()
    assert result.precision_bits is not None
    assert error <= 2**-8 and error <= 2 ** (1.5 - result.precision_bits)
    assert pickle.loads(pickle.dumps(plan)) == plan
    with pytest.raises(wl.ShapeError, match="rows of 5"):
        plan(world.encrypt([0.5, 1.0]))
    with pytest.raises(wl.MissingGaloisKey):
        other, server = context.generate_keys(context.products(), progress=False)
        plan(server.receive(other.encrypt(values[0], bound=2)))
    with pytest.raises(wl.ParameterError, match="width"):
        context.softmax(5, (-30, 30))


def test_sorting_and_largest_of_rows(rng: np.random.Generator) -> None:
    depth = wl.Context.approximate(depth=1).sorting(3, (0, 1), 3, largest=1).depth
    context = wl.Context.approximate(depth=depth, slots=64)
    plan = context.sorting(3, (0, 1), 3, largest=1)
    world = make(context, plan)
    values = rng.uniform(0, 1, (2, 3))
    result = wl.largest(world.encrypt(values), 1, (0, 1), 3)
    assert result.shape == (2, 1)
    assert np.abs(world.decrypt(result)[:, 0] - values.max(axis=-1)).max() <= 2**-3
    sort = context.sorting(3, (0, 1), 3)
    assert sort.depth > depth and pickle.loads(pickle.dumps(sort)) == sort
    with pytest.raises(wl.CapacityExhausted) as deeper:
        client, server = context.generate_keys(sort, progress=False)
        wl.sort(server.receive(client.encrypt(values)), (0, 1), 3)
    assert deeper.value.depth == sort.depth
    with pytest.raises(wl.ParameterError, match="largest"):
        context.sorting(3, (0, 1), 3, largest=4)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("taps", "length"), [(1, 1), (3, 10), (4, 4), (32, 5000)])
def test_filters(rng: np.random.Generator, mode: Any, taps: int, length: int) -> None:
    context = wl.Context.approximate(depth=1)
    weights, values = rng.uniform(-1, 1, taps) / taps, rng.uniform(-1, 1, length)
    plan = context.filter(weights, length, mode=mode)
    assert plan.depth == 1
    world = make(context, plan)
    result = plan @ world.encrypt(values)
    np.testing.assert_allclose(
        world.decrypt(result), np.convolve(values, weights, mode), rtol=0, atol=1e-6
    )
    if length < 100:
        assert pickle.loads(pickle.dumps(plan)) == plan
        np.testing.assert_allclose(plan.matrix @ values, np.convolve(values, weights, mode))


def test_filters_that_cannot_be(toy: World) -> None:
    context = wl.Context.approximate(depth=1)
    with pytest.raises(wl.ShapeError):
        context.filter([], 2)
    with pytest.raises(wl.ShapeError, match="tap"):
        context.filter([1.0, 2.0, 3.0], 2)
    with pytest.raises(wl.ShapeError, match="taps"):
        context.filter([[1.0]], 2)
    with pytest.raises(wl.UnknownName):
        context.filter([1.0], 2, mode="wrap")  # type: ignore[arg-type]
    with pytest.raises(wl.ValueRangeError):
        context.filter([np.nan], 2)
    with pytest.raises(wl.ParameterError, match="CKKS"):
        toy.context.filter([1.0], 2)


def test_products_of_matrices(rng: np.random.Generator) -> None:
    context = wl.Context.approximate(depth=3)
    plan = context.matrix_product(3)
    assert plan.depth == 3
    world = make(context, plan)
    a, b = rng.uniform(-1, 1, (2, 3, 3))
    result = plan(world.encrypt(a.ravel()), world.encrypt(b.ravel()))
    np.testing.assert_allclose(world.decrypt(result).reshape(3, 3), a @ b, rtol=0, atol=1e-5)
    assert pickle.loads(pickle.dumps(plan)) == plan
    with pytest.raises(wl.ShapeError, match="9"):
        plan(world.encrypt(a[0]), world.encrypt(b[0]))
    with pytest.raises(wl.ParameterError):
        context.matrix_product(1000)


def test_covariances(rng: np.random.Generator, tmp_path: Path) -> None:
    # A toy: sums over all slots of a large ring take long without optimisation.
    wl.Context.approximate(depth=3).save(tmp_path / "large.json")
    parameters = json.loads((tmp_path / "large.json").read_text())
    parameters |= {"n": 512, "assurance": "insecure", "name": "insecure_test"}
    (tmp_path / "toy.json").write_text(json.dumps(parameters))
    context = wl.Context.from_file(tmp_path / "toy.json")
    world = make(context, context.products(), context.sum())
    values = rng.uniform(-1, 1, (3, 20))
    x = world.encrypt(values)
    for ddof in (0, 1):
        rows = [world.decrypt(row) for row in wl.covariance(x, ddof=ddof)]
        np.testing.assert_allclose(rows, np.cov(values, ddof=ddof), rtol=0, atol=1e-5)
    with pytest.raises(wl.ParameterError, match="ddof"):
        wl.covariance(x, ddof=20)
    with pytest.raises(wl.ShapeError, match="features"):
        wl.covariance(x[0])


def test_functions_refresh_between_their_steps(rng: np.random.Generator) -> None:
    # 14 levels between refreshes, and 16 slots: four ciphertexts in one array.
    context = wl.Context.preset("insecure_toy_refresh_1024_slots16")
    sign = context.function("sign", (-1, 1), precision=16, gap=2**-10)
    assert sign.depth > 14
    explained = sign.explain().splitlines()
    assert any(line.split() == ["refreshes", "1"] for line in explained), explained
    assert any(line.startswith("error") and "fresh ciphertext" in line for line in explained)
    world = make(context, context.bootstrapping(), sign)
    values = rng.uniform(2**-10, 1, (4, 16)) * rng.choice([-1.0, 1.0], (4, 16))
    x = world.encrypt(values)
    stated = sign.error(x)
    y = sign(x)
    assert np.abs(world.decrypt(y) - np.sign(values)).max() <= stated < 1e-3
    again = world.decrypt(wl.sign(x, (-1, 1), precision=16, gap=2**-10))
    assert np.abs(again - np.sign(values)).max() <= stated
    # Without the keys of the refresh: the step, and how many bits are missing.
    without = make(context, sign)
    with pytest.raises(wl.CapacityExhausted, match=r"step \d of \d") as refused:
        sign(without.encrypt(values))
    assert (refused.value.missing_bits or 0) > 30

"""CKKS: polynomials on intervals, bounds, and depth that contexts choose themselves."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make

import windlass as wl

Chebyshev = np.polynomial.Chebyshev
INVERSE = Chebyshev.interpolate(lambda u: 1 / u, 15, [0.5, 4.0])


@pytest.fixture(scope="module")
def inverse() -> Any:
    context = wl.Context.approximate(for_=[INVERSE])
    return make(context, context.polynomial(INVERSE))


@pytest.mark.parametrize("shape", [(1,), (3,), (100,), (2, 100), "slots + 5"], ids=str)
def test_rows_that_do_not_fill_their_ciphertext(
    inverse: Any, rng: np.random.Generator, shape: Any, tmp_path: Path
) -> None:
    context = inverse.context
    shape = (context.slots + 5,) if isinstance(shape, str) else shape
    values = rng.uniform(0.5, 4.0, shape)
    p = context.polynomial(INVERSE)
    encrypted = inverse.client.encrypt(values, bound=4.0)
    path = tmp_path / "x.bin"
    encrypted.save(path)
    for x in (encrypted, pickle.loads(pickle.dumps(encrypted)), context.load_ciphertext(path)):
        back = inverse.client.decrypt(p(inverse.server.receive(x)))
        np.testing.assert_allclose(back.reshape(shape), 1 / values, atol=1e-3)
        np.testing.assert_allclose(back.reshape(shape), INVERSE(values), atol=1e-5)


def test_a_polynomial_after_a_folded_layer(rng: np.random.Generator) -> None:
    weights = rng.uniform(-1, 1, (1, 400)) / 10
    sigmoid = Chebyshev.interpolate(lambda t: 1 / (1 + np.exp(-t)), 15, [-4, 4])
    context = wl.Context.approximate(for_=[weights, sigmoid])
    layer, p = context.linear(weights), context.polynomial(sigmoid)
    assert layer.folded
    world = make(context, layer, p)
    values = rng.uniform(-1, 1, 400)
    scores = layer @ world.encrypt(values)
    assert scores.bound is not None and scores.bound > 4
    with pytest.raises(wl.OutsideInterval) as caught:
        p(scores)
    assert (caught.value.bound, caught.value.low, caught.value.high) == (scores.bound, -4, 4)
    assert "assume_bound(4)" in str(caught.value)
    expected = sigmoid(weights @ values)
    np.testing.assert_allclose(world.decrypt(p(scores.assume_bound(4))), expected, atol=1e-4)
    # The bound is known where the array goes, and speaks for the scores alone.
    again = world.server.receive(pickle.loads(pickle.dumps(scores.assume_bound(4))))
    assert again.bound == 4
    np.testing.assert_allclose(world.decrypt(again), weights @ values, atol=1e-4)
    np.testing.assert_allclose(world.decrypt(p(again)), expected, atol=1e-4)


def test_numbers_outside_an_interval(inverse: Any) -> None:
    p = inverse.context.polynomial(INVERSE)
    wide = inverse.server.receive(inverse.client.encrypt([0.5, 2.0, 32.0], bound=32.0))
    with pytest.raises(wl.OutsideInterval):
        p(wide)
    with pytest.raises(wl.NotDecryptable) as caught:
        inverse.client.decrypt(p(wide.assume_bound(4.0)))
    assert not isinstance(caught.value, wl.OtherKeyPair)
    assert "interval" in str(caught.value) and "assume_bound" in str(caught.value)
    # What lies below is seen by nobody but the client.
    low = inverse.server.receive(inverse.client.encrypt([0.5, -3.0, 0.75], bound=4.0))
    with pytest.raises(wl.NotDecryptable, match="at index 1") as caught:
        inverse.client.decrypt(p(low))
    assert caught.value.index == 1


def test_a_number_above_its_bound_is_named_by_its_place() -> None:
    context = wl.Context.approximate(depth=1)
    client, server = context.generate_keys()
    values = np.full((3, context.slots + 5), 0.5)
    values[1, 7] = values[1, context.slots + 2] = values[2, 0] = 3.0
    array = server.receive(client.encrypt(values, bound=4.0)).assume_bound(1.0)
    with pytest.raises(wl.NotDecryptable, match="at index") as caught:
        client.decrypt(array)
    assert caught.value.index == values.shape[1] + 7
    assert "3.0" not in str(caught.value) and "0.5" not in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.index == caught.value.index
    values[1] = 0.5
    array = server.receive(client.encrypt(values, bound=4.0)).assume_bound(1.0)
    with pytest.raises(wl.NotDecryptable) as caught:
        client.decrypt(array)
    assert caught.value.index == 2 * values.shape[1]
    # Noise of integers is measured in coefficients, and no slot is known.
    assert wl.NotDecryptable().index is None


@pytest.mark.parametrize("family", ["Chebyshev", "Legendre", "Polynomial"])
def test_polynomials_of_numpy(rng: np.random.Generator, family: str) -> None:
    kind = getattr(np.polynomial, family)
    given = kind(rng.uniform(-1, 1, 6), domain=[-2, 3])
    context = wl.Context.approximate(for_=[given])
    p = context.polynomial(given)
    assert p.depth == context.depth
    values = rng.uniform(-1, 1, 30) if family == "Polynomial" else rng.uniform(-2, 3, 30)
    world = make(context, p)
    back = world.decrypt(p(world.encrypt(values, bound=3.0)))
    np.testing.assert_allclose(back, given(values), atol=1e-3)
    with pytest.raises(wl.ParameterError):
        context.polynomial(given, interval=(-1, 1))


def test_depth_by_circuits() -> None:
    matrix = np.ones((2, 3))
    small = wl.Context.approximate(depth=1)
    layer, p = small.linear(matrix), small.polynomial([0.0, 1.0, 0.0, 1.0], interval=(-2, 2))
    assert (layer.depth, small.roll(7, 2).depth, small.sum(7).depth) == (1, 1, 0)
    for circuits in ([layer, p], [matrix, p], [1, p], [layer, p.depth]):
        assert wl.Context.approximate(for_=circuits).depth == 1 + p.depth
    assert wl.approximate_parameters(for_=[layer, 2])["depth"] == 3
    assert wl.Context.approximate(for_=[2], slots=10).depth == 2
    # Powers after what may leave anything beside its rows: it is cleared first.
    powers = np.polynomial.Polynomial([0.0, 1.0, 1.0])
    alone = wl.Context.approximate(for_=[powers]).depth
    assert wl.Context.approximate(for_=[matrix, powers]).depth == 2 + alone
    with pytest.raises(wl.ParameterError):
        wl.Context.approximate(depth=2, for_=[layer])
    for bad in ([np.ones(3)], ["layer"], [None]):
        with pytest.raises(wl.ParameterError):
            wl.Context.approximate(for_=bad)
    integers = wl.Context.preset("insecure_toy_256")
    with pytest.raises(wl.OtherContext):
        wl.Context.approximate(for_=[integers.linear([[1]])])


def test_depth_of_integers_by_circuits() -> None:
    toy = wl.Context.preset("insecure_toy_256")
    cubic, layer = toy.polynomial([1, 0, 0, 2]), toy.linear([[1, 2], [3, 4]])
    assert (cubic.depth, layer.depth, toy.power(5).depth) == (2, 0, 3)
    asked = wl.plan_parameters(modulus=257, for_=[layer, cubic, 1, np.array([[1, 2]])])
    assert asked == wl.plan_parameters(modulus=257, depth=3, linear_maps=2)
    context = wl.Context.plan(modulus=257, for_=[np.array([[1, 2]]), 2])
    assert context.parameters_json() == wl.Context.plan(modulus=257, depth=2).parameters_json()
    for given in ({"depth": 1}, {"linear_maps": 1}):
        with pytest.raises(wl.ParameterError):
            wl.Context.plan(for_=[1], **given)  # type: ignore[arg-type]
    with pytest.raises(wl.OtherContext):
        wl.Context.plan(for_=[wl.Context.approximate(depth=1).linear([[0.5]])])


P = np.polynomial.Polynomial([0.5, 0.25, 0.125, 0.1])
ON_UNIT = Chebyshev([0.1, 0.5, 0.2, 0.3], domain=[-1, 1])
ODD = Chebyshev([0.0, 0.9, 0.0, 0.1], domain=[-1, 1])


@pytest.mark.parametrize("p", [P, Chebyshev([0.5, 0.4, -0.5, 0.1], domain=[-4, 3]), ODD])
def test_planned_depth_clears_what_a_polynomial_leaves_before_a_sum(
    rng: np.random.Generator, p: Any
) -> None:
    sum_of = wl.Context.approximate(depth=1).sum(100)
    context = wl.Context.approximate(for_=[p, sum_of])
    assert context.depth == context.polynomial(p).depth + (p is not ODD)
    world = make(context, context.polynomial(p), context.sum(100))
    values = rng.uniform(-1, 1, 100)
    y = context.polynomial(p)(world.encrypt(values)).sum()
    np.testing.assert_allclose(world.decrypt(y), p(values).sum(), atol=1e-4)


def test_planned_depth_clears_what_a_polynomial_leaves_before_copies_and_polynomials(
    rng: np.random.Generator,
) -> None:
    tall = rng.uniform(-1, 1, (1000, 10)) / 10
    context = wl.Context.approximate(for_=[P, tall])
    layer, p = context.linear(tall), context.polynomial(P)
    assert layer.folded and context.depth == p.depth + 2
    world = make(context, p, layer)
    values = rng.uniform(-1, 1, 10)
    y = layer @ p(world.encrypt(values))
    np.testing.assert_allclose(world.decrypt(y), tall @ P(values), atol=1e-5)
    # Its absolute coefficients sum up to 1.35, so the slots beside the entries may hold that.
    first = Chebyshev([0.45, 0.3, -0.5, 0.1], domain=[-4, 3])
    context = wl.Context.approximate(for_=[first, ON_UNIT])
    p, q = context.polynomial(first), context.polynomial(ON_UNIT)
    world = make(context, p, q)
    values = rng.uniform(-1, 1, 100)
    y = q(p(world.encrypt(values, bound=3.0)).assume_bound(1))
    np.testing.assert_allclose(world.decrypt(y), ON_UNIT(first(values)), atol=1e-4)
    # Odd polynomials leave zeros: nothing is cleared between them.
    context = wl.Context.approximate(for_=[ODD, ODD, ODD])
    odd = context.polynomial(ODD)
    assert context.depth == 3 * odd.depth
    world = make(context, odd)
    y = odd(odd(odd(world.encrypt(values))))
    np.testing.assert_allclose(world.decrypt(y), ODD(ODD(ODD(values))), atol=1e-4)


def test_planned_integers_are_cleared_before_a_sum() -> None:
    toy = wl.Context.preset("insecure_toy_256")
    coefficients = [1, 2, 0, 3]
    context = wl.Context.plan(for_=[toy.polynomial(coefficients), toy.sum(100)])
    assert context.parameters_json() == wl.Context.plan(depth=2, linear_maps=1).parameters_json()
    p = context.polynomial(coefficients)
    world = make(context, p, context.sum(100))
    values = np.arange(100) % 7
    y = p(world.encrypt(values)).sum()
    assert world.decrypt(y) == (1 + 2 * values + 3 * values**3).sum()
    with pytest.raises(wl.CapacityExhausted, match="depth=") as caught:
        for _ in range(9):
            y = y * y
    assert "modulus chain" not in str(caught.value)


def test_large_factors() -> None:
    context = wl.Context.approximate(depth=2, value_bits=60)
    world = make(context)
    values = np.array([0.5, -0.25, 0.0])
    x = world.encrypt(values)
    for factor in (1e7, 2.0**40, 1e15 + 0.5, -1e12):
        for y in (x * factor, x / (1 / factor), x * np.full(3, factor)):
            np.testing.assert_allclose(world.decrypt(y), values * factor, atol=1e-6 * abs(factor))
    assert (x * 1e7).depth_left == x.depth_left


def test_what_would_do_is_said_in_words_of_python() -> None:
    context = wl.Context.approximate(depth=1)
    world = make(context, context.products())
    x = world.encrypt([0.5])
    factor = 1e7 + 0.5
    with pytest.raises(wl.CapacityExhausted) as caught:
        x * factor
    bits = caught.value.value_bits
    assert bits is not None and f"value_bits={bits}" in str(caught.value)
    assert "base primes" not in str(caught.value) and "CkksSpec" not in str(caught.value)
    larger = wl.Context.approximate(depth=1, value_bits=bits)
    assert make(larger).encrypt([0.5]) * factor is not None
    with pytest.raises(wl.CapacityExhausted) as caught:
        x * x * x
    assert caught.value.depth == 2
    assert "depth=2" in str(caught.value) and "for_=" in str(caught.value)
    with pytest.raises(wl.CapacityExhausted) as caught:
        world.client.encrypt([1.0], bound=1e20)
    assert f"value_bits={caught.value.value_bits}" in str(caught.value)
    with pytest.raises(wl.ValueRangeError) as refused:
        x * 1e300
    assert "1e300" in str(refused.value)


def test_loops_of_a_matrix_keep_their_bounds() -> None:
    steps, size = 6, 15
    v = np.sin(np.arange(size) ** 2 + 1.0)
    reflection = np.eye(size) - 2 * np.outer(v, v) / (v @ v)
    context = wl.Context.approximate(depth=steps)
    layer = context.linear(reflection)
    world = make(context, layer)
    values = np.cos(3.0 * np.arange(size))
    x = world.encrypt(values)
    for _ in range(steps):
        x, values = layer @ x, reflection @ values
    assert x.bound is not None and x.bound < 4
    np.testing.assert_allclose(world.decrypt(x), values, atol=1e-4)

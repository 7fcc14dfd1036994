"""CKKS against NumPy, with tolerances."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import World, make

import windlass as wl

TOLERANCE = 1e-5


def near(world: World, encrypted: wl.Ciphertext, values: Any) -> None:
    """The ciphertext holds about these numbers, as well as it says."""
    assert encrypted.shape == np.shape(values)
    back = world.decrypt(encrypted)
    np.testing.assert_allclose(back, values, rtol=TOLERANCE, atol=TOLERANCE)
    assert encrypted.precision_bits is not None
    # The estimate is one of the usual error: six bits are a factor of 64.
    error = float(np.abs(np.asarray(back) - values).max())
    assert error <= 2.0 ** (6 - encrypted.precision_bits)


SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (100,), (4096,), (5000,), (3, 5), (2, 3, 4)]
BINARY: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul]


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_operators(reals: World, rng: np.random.Generator, shape: Any, kind: str) -> None:
    def draw(own: tuple[int, ...]) -> Any:
        real = rng.uniform(-0.7, 0.7, own)
        return real if kind == "real" else real + 1j * rng.uniform(-0.7, 0.7, own)

    a, b = draw(shape), draw(shape)
    x, y = reals.encrypt(a), reals.encrypt(b)
    for operation in BINARY:
        near(reals, operation(x, y), operation(a, b))
        near(reals, operation(x, b), operation(a, b))
        near(reals, operation(b, x), operation(b, a))
        near(reals, operation(x, 0.25), operation(a, 0.25))
        near(reals, operation(3, x), operation(3, a))
        if shape:
            near(reals, operation(x, b[..., :1]), operation(a, b[..., :1]))
            near(reals, operation(x, b.tolist()), operation(a, b))
    near(reals, x / 4, a / 4)
    near(reals, x / (b + 2), a / (b + 2))
    near(reals, -x, -a)
    near(reals, +x, a)
    near(reals, x * x * y, a * a * b)


def test_random_expressions(reals: World) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shape = (int(rng.integers(1, 3)), int(rng.integers(1, 5000)))
        clear = rng.uniform(-1, 1, shape)
        encrypted = reals.encrypt(clear)
        products = 0
        for _ in range(6):
            more = rng.uniform(-1, 1, shape)
            choice = int(rng.integers(0, 5))
            if choice == 0:
                clear, encrypted = clear + more, encrypted + more
            elif choice == 1:
                clear, encrypted = more - clear, reals.encrypt(more) - encrypted
            elif choice == 2 and products < 3:
                clear, encrypted = clear * more, encrypted * more
                products += 1
            elif choice == 3 and products < 3:
                clear, encrypted = more * clear, reals.encrypt(more) * encrypted
                products += 1
            else:
                clear, encrypted = clear[::-1] * 1.0, encrypted[::-1]
        near(reals, encrypted, clear)


def test_integers_meet_real_numbers(reals: World) -> None:
    x = reals.encrypt([0.5, -0.5])
    near(reals, x + np.array([1, 2], np.uint8), [1.5, 1.5])
    near(reals, x * np.array([True, False]), [0.5, 0.0])
    near(reals, x - 1, [-0.5, -1.5])


def test_zero(reals: World) -> None:
    x = reals.encrypt([0.5, -0.5])
    near(reals, x * 0, [0.0, 0.0])
    near(reals, x * [0.0, 0.0], [0.0, 0.0])
    near(reals, x - x, [0.0, 0.0])
    near(reals, reals.encrypt([0.0, 0.0]), [0.0, 0.0])


def test_sums(reals: World, rng: np.random.Generator) -> None:
    for length in (1, 7, 100, 4096, 6000):
        values = rng.uniform(-1, 1, (2, length))
        x = reals.encrypt(values)
        back = reals.decrypt(x.sum())
        np.testing.assert_allclose(back, values.sum(axis=-1), atol=1e-4)
        np.testing.assert_allclose(
            reals.decrypt((x + 1).sum()), (values + 1).sum(axis=-1), atol=1e-4
        )


def test_sums_mask_what_lies_beyond(rng: np.random.Generator) -> None:
    context = wl.Context.approximate(depth=3)
    polynomial = context.polynomial([0.5, 1.0, 0.25])
    layer = context.linear(rng.uniform(-1, 1, (7, 100)))
    world = make(context, polynomial, layer, context.sum(7), context.sum(100), context.products())
    values = rng.uniform(-1, 1, (2, 100))
    x = world.encrypt(values)
    clear = 0.5 + values + 0.25 * values**2
    back = world.decrypt(polynomial(x).sum())
    np.testing.assert_allclose(back, clear.sum(axis=-1), atol=1e-4)
    product = world.decrypt(layer(x).sum())
    np.testing.assert_allclose(product, (values @ layer.matrix.T).sum(axis=-1), atol=1e-4)
    inner = world.decrypt(x[0] @ x[1])
    assert inner == pytest.approx(values[0] @ values[1], abs=1e-4)
    assert world.decrypt(x[0] @ values[1]) == pytest.approx(values[0] @ values[1], abs=1e-4)
    with pytest.raises(wl.MissingGaloisKey):
        world.encrypt(np.ones(1000)).sum()


def test_a_sum_for_shorter_vectors_is_refused_or_right(reals: World) -> None:
    try:
        total = reals.context.sum(7)(reals.encrypt(np.full(100, 0.5)))
    except wl.ShapeError:
        return
    assert reals.decrypt(total) == pytest.approx(50.0, abs=1e-4)


def test_roll(reals: World, rng: np.random.Generator) -> None:
    values = rng.uniform(-1, 1, (2, 7))
    for shift in (2, -1, 9, -8):
        near(reals, reals.encrypt(values).roll(shift), np.roll(values, shift, axis=-1))


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 10), (10, 3), (40, 60)])
def test_matrices(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> None:
    context = wl.Context.approximate(depth=2)
    outputs, inputs = shape
    matrix: Any = rng.uniform(-1, 1, shape) / inputs
    bias: Any = rng.uniform(-1, 1, outputs)
    if kind == "complex":
        matrix = matrix * np.exp(1j * rng.uniform(0, 6, shape))
        bias = bias * 1j
    layer = context.linear(matrix, bias)
    world = make(context, layer)
    values = rng.uniform(-1, 1, (2, inputs))
    near(world, layer(world.encrypt(values)), values @ matrix.T + bias)
    near(world, layer @ world.encrypt(values[0]), matrix @ values[0] + bias)
    np.testing.assert_array_equal(layer.matrix, matrix)
    assert layer.matrix.dtype == matrix.dtype


def test_matrices_larger_than_a_ciphertext(rng: np.random.Generator) -> None:
    context = wl.Context.approximate(depth=1)
    assert context.slots == 4096
    # Few diagonals, so that it is planned in no time.
    matrix = np.zeros((10, 5000))
    for row in range(10):
        matrix[row, [row, row + 100, row + 4100]] = rng.uniform(-1, 1, 3)
    layer = context.linear(matrix)
    assert layer.grid == (1, 2)
    world = make(context, layer)
    values = rng.uniform(-1, 1, 5000)
    near(world, layer @ world.encrypt(values), matrix @ values)


def test_polynomials(rng: np.random.Generator) -> None:
    context = wl.Context.approximate(depth=5)
    values = rng.uniform(-1, 1, (2, 60))
    for coefficients in ([2.0], [0.0, 1.0], [0.1, -0.5, 0.25], rng.uniform(-1, 1, 8)):
        polynomial = context.polynomial(coefficients)
        world = make(context, polynomial)
        near(
            world,
            polynomial(world.encrypt(values)),
            np.polynomial.polynomial.polyval(values, coefficients),
        )
    chebyshev = rng.uniform(-1, 1, 8)
    polynomial = context.polynomial(chebyshev, interval=(-4.0, 2.0))
    world = make(context, polynomial)
    points = rng.uniform(-4, 2, 60)
    near(
        world,
        polynomial(world.encrypt(points, bound=4.0)),
        np.polynomial.chebyshev.chebval((points + 1) / 3, chebyshev),
    )


@pytest.mark.parametrize("interval", [(1, 1), (2, 1), (np.nan, 1), (0, np.inf)])
def test_bad_intervals(reals: World, interval: tuple[float, float]) -> None:
    with pytest.raises(wl.ParameterError):
        reals.context.polynomial([1.0, 2.0, 3.0], interval=interval)


def test_powers(reals: World, rng: np.random.Generator) -> None:
    values = rng.uniform(-1, 1, 60)
    for exponent in (1, 2, 3, 4, 7):
        near(reals, reals.encrypt(values) ** exponent, values**exponent)
    with pytest.raises(wl.CapacityExhausted) as caught:
        reals.encrypt(values) ** 100
    assert caught.value.needed_bits is None or caught.value.needed_bits > 0
    for bad in (0, -1, 1.5, 2**40):
        with pytest.raises(wl.ParameterError):
            reals.encrypt(values) ** bad  # type: ignore[operator]


def test_depth_is_what_was_asked_for() -> None:
    for depth in (1, 2, 4):
        context = wl.Context.approximate(depth=depth)
        assert context.depth == depth
        assert context.security >= 128
        world = make(context, context.products())
        x = world.encrypt([0.9, -0.5])
        clear = np.array([0.9, -0.5])
        assert x.depth_left == depth
        for _ in range(depth):
            x, clear = x * x, clear * clear
        near(world, x, clear)
        with pytest.raises(wl.CapacityExhausted):
            x * x


def test_depth_left_counts_products(reals: World) -> None:
    x = reals.encrypt([0.9])
    for left in range(reals.context.depth, -1, -1):
        assert x.depth_left == left
        if left:
            x = x * x


def test_what_is_for_integers(reals: World) -> None:
    context = reals.context
    attempts: list[Callable[[], object]] = [
        lambda: context.table([1, 2]),
        context.equal,
        lambda: context.less(3),
        lambda: context.power(2),
    ]
    for attempt in attempts:
        with pytest.raises(wl.ParameterError):
            attempt()
    # CKKS has refreshes, with parameters that are made for them.
    with pytest.raises(wl.BootstrapError, match="begins with refresh"):
        context.bootstrapping()
    with pytest.raises(wl.MissingBootstrappingKeys):
        reals.encrypt([0.5]).refresh()
    with pytest.raises(wl.DTypeError):
        context.polynomial([1j])
    assert context.modulus is None
    assert context.scheme == "CKKS"


def test_division(reals: World) -> None:
    x: Any = reals.encrypt([0.5])
    with pytest.raises(wl.DTypeError):
        x / x
    for zero in (0, [0.0], 0.0):
        with np.errstate(divide="ignore"), pytest.raises(wl.ValueRangeError):
            x / zero
    with pytest.raises(TypeError):
        1 / x
    with pytest.raises(TypeError):
        x / "a"


def test_numbers_too_large(reals: World) -> None:
    x = reals.encrypt([0.5])
    for number in (1e300, [1e300]):
        for operation in BINARY:
            with pytest.raises((wl.ValueRangeError, wl.CapacityExhausted)):
                operation(x, number)
    layer = reals.context.linear([[1e300]])
    with pytest.raises((wl.ValueRangeError, wl.CapacityExhausted)):
        layer @ x


@pytest.fixture(scope="module")
def publishing() -> World:
    """Real numbers with the largest scale."""
    return make(wl.Context.approximate(depth=1, scale_bits=50))


def test_published_numbers(publishing: World, rng: np.random.Generator) -> None:
    clear = rng.uniform(-1, 1, (2, 9000))
    encrypted = publishing.encrypt(clear)
    parts = 2 * -(-9000 // publishing.context.slots)
    values, bits = publishing.client.decrypt_public(encrypted, decryptions=parts, security=30)
    assert values.shape == clear.shape
    assert values.dtype == np.float64
    error = float(np.abs(values - clear).max())
    # The bits are those of the largest error to expect: the noise is there, and it is no larger.
    assert 2.0 ** (-bits - 3) < error < 2.0 ** (1 - bits)
    own = float(np.abs(publishing.decrypt(encrypted) - clear).max())
    assert error > 2.0**20 * own
    # Another decryption has other noise, and more decryptions or security cost bits.
    again, _ = publishing.client.decrypt_public(encrypted, decryptions=parts, security=30)
    assert not np.array_equal(again, values)
    _, fewer = publishing.client.decrypt_public(encrypted, decryptions=4 * parts, security=34)
    assert bits - fewer == pytest.approx(3.0, abs=0.1)


def test_what_cannot_be_published(publishing: World, toy: World) -> None:
    small = publishing.encrypt(0.5)
    with pytest.raises(wl.CapacityExhausted, match="safe to publish"):
        publishing.client.decrypt_public(small, decryptions=1, security=128)
    for bad in (0, 129):
        with pytest.raises(wl.ParameterError, match="security"):
            publishing.client.decrypt_public(small, decryptions=1, security=bad)
    with pytest.raises(wl.ParameterError, match="real numbers"):
        toy.client.decrypt_public(toy.encrypt(1), decryptions=1)
    with pytest.raises(wl.ParameterError, match="10000000000"):
        publishing.client.decrypt_public(small, decryptions=10**10)
    long = publishing.encrypt(np.zeros(2 * publishing.context.slots))
    for few in (0, 1):
        with pytest.raises(wl.ParameterError, match="2 ciphertexts"):
            publishing.client.decrypt_public(long, decryptions=few)

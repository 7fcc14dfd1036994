"""Operators against NumPy, on random shapes; modulo the modulus."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import World, make
from numpy.typing import NDArray

import windlass as wl

Array = NDArray[np.int64]


def centred(values: Any, modulus: int) -> Array:
    """The residues around 0, as decryption gives them."""
    residues = np.asarray(values).astype(object) % modulus
    around = np.where(residues > modulus // 2, residues - modulus, residues)
    return np.asarray(around).astype(np.int64)


def expect(world: World, encrypted: wl.Ciphertext, values: Any) -> None:
    """The ciphertext holds these numbers, and has their shape."""
    modulus = world.context.modulus
    assert modulus is not None
    assert encrypted.shape == np.shape(values)
    back = world.client.decrypt(encrypted, dtype="int64")
    np.testing.assert_array_equal(back, centred(values, modulus))


def numbers(world: World, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Random residues."""
    modulus = world.context.modulus
    assert modulus is not None
    return rng.integers(-((modulus - 1) // 2), modulus // 2 + 1, shape)


SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (128,), (130,), (3, 5), (2, 300), (2, 3, 4)]
BINARY: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("operation", BINARY)
def test_two_ciphertexts(
    toy: World, rng: np.random.Generator, operation: Callable[[Any, Any], Any], shape: Any
) -> None:
    a, b = numbers(toy, rng, shape), numbers(toy, rng, shape)
    expect(toy, operation(toy.encrypt(a), toy.encrypt(b)), operation(a, b))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("operation", BINARY)
def test_a_ciphertext_and_an_array(
    toy: World, rng: np.random.Generator, operation: Callable[[Any, Any], Any], shape: Any
) -> None:
    a = numbers(toy, rng, shape)
    x = toy.encrypt(a)
    # Every shape that broadcasts to this one.
    shapes = [shape[k:] for k in range(len(shape) + 1)]
    shapes += [
        tuple(1 if k == axis else n for k, n in enumerate(shape)) for axis in range(len(shape))
    ]
    for other in shapes:
        b = numbers(toy, rng, other)
        expect(toy, operation(x, b), operation(a, b))
        expect(toy, operation(b, x), operation(b, a))
        if not other:
            expect(toy, operation(x, int(b)), operation(a, int(b)))
            expect(toy, operation(int(b), x), operation(int(b), a))
        else:
            expect(toy, operation(x, b.tolist()), operation(a, b))
            expect(toy, operation(b.tolist(), x), operation(b, a))
        expect(toy, operation(np.array(b, order="F"), x), operation(b, a))


def test_random_expressions(toy: World, wide: World) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        world = (toy, wide)[seed % 2]
        ndim = int(rng.integers(1, 3))
        shape = (*(int(n) for n in rng.integers(1, 4, ndim - 1)), int(rng.integers(1, 200)))
        clear: Any = numbers(world, rng, shape).astype(object)
        encrypted = world.encrypt(clear.astype(np.int64))
        products = 0
        for _ in range(6):
            other = numbers(world, rng, shape[int(rng.integers(0, ndim)) :])
            choice = int(rng.integers(0, 8))
            if choice == 0:
                clear, encrypted = clear + other, encrypted + other
            elif choice == 1:
                clear, encrypted = other - clear, other - encrypted
            elif choice == 2:
                clear, encrypted = clear * other, other * encrypted
            elif choice == 3:
                more = numbers(world, rng, shape)
                clear, encrypted = clear + more, world.encrypt(more) + encrypted
            elif choice == 4 and products < 2:
                more = numbers(world, rng, shape)
                clear, encrypted = clear * more, encrypted * world.encrypt(more)
                products += 1
            elif choice == 5 and products < 2:
                clear, encrypted = clear * clear, encrypted * encrypted
                products += 1
            elif choice == 6:
                clear, encrypted = -clear, -encrypted
            elif ndim > 1:
                clear, encrypted = clear[::-1], encrypted[::-1]
        expect(world, encrypted, clear)
        total = clear.sum(axis=-1)
        expect(world, encrypted.sum(), total)


@pytest.mark.parametrize("shape", [(5,), (1, 5), (1, 1, 5)])
def test_one_row_stands_for_all(
    toy: World, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    row = numbers(toy, rng, shape)
    for other in [(3, 5), (2, 3, 5), (5,)]:
        many = numbers(toy, rng, other)
        if len(shape) > len(other):
            continue
        for operation in BINARY:
            expect(toy, operation(toy.encrypt(row), toy.encrypt(many)), operation(row, many))
            expect(toy, operation(toy.encrypt(many), toy.encrypt(row)), operation(many, row))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3,), (4,)),
        ((2, 3), (3, 3)),
        ((2, 3), (2, 4)),
        ((2, 3), (2,)),
        ((), (3,)),
        ((2, 3), (2, 1)),
    ],
)
def test_shapes_that_do_not_go_together(toy: World, a: Any, b: Any) -> None:
    x, y = toy.encrypt(np.ones(a, int)), toy.encrypt(np.ones(b, int))
    for operation in BINARY:
        with pytest.raises(wl.ShapeError):
            operation(x, y)


@pytest.mark.parametrize("other", [(4,), (2, 2), (3, 1), (0,), (2, 0)])
def test_arrays_that_do_not_broadcast(toy: World, other: tuple[int, ...]) -> None:
    x = toy.encrypt(np.ones((3,), int))
    for operation in BINARY:
        with pytest.raises(wl.ShapeError, match="does not broadcast"):
            operation(x, np.ones(other, int))


def test_results_do_not_grow_by_broadcasting(toy: World) -> None:
    # NumPy would give (2, 3); an encrypted row is not copied without being asked.
    with pytest.raises(wl.ShapeError):
        toy.encrypt([1, 2, 3]) + np.ones((2, 3), int)


def test_powers(toy: World, rng: np.random.Generator) -> None:
    values = numbers(toy, rng, (2, 50))
    x = toy.encrypt(values)
    for exponent in (1, 2, 3, 4, 5, 7, 16, np.int64(6), np.uint8(3)):
        expect(toy, x ** int(exponent), values.astype(object) ** int(exponent))
        expect(toy, x**exponent, values.astype(object) ** int(exponent))  # type: ignore[operator]


@pytest.mark.parametrize("exponent", [0, -1, 2.0, "2", None, True, 1j, 2**64, [2], -(2**70)])
def test_bad_exponents(toy: World, exponent: Any) -> None:
    with pytest.raises(wl.ParameterError):
        toy.encrypt([1, 2]) ** exponent
    with pytest.raises(wl.ParameterError):
        pow(toy.encrypt([1, 2]), 2, 7)  # type: ignore[misc]


def test_signs(toy: World) -> None:
    x = toy.encrypt([1, -2])
    expect(toy, -x, [-1, 2])
    expect(toy, +x, [1, -2])
    expect(toy, x - x, [0, 0])
    expect(toy, x * 0, [0, 0])
    expect(toy, x * [0, 0], [0, 0])
    expect(toy, 0 * x + 5, [5, 5])
    expect(toy, x + True, [2, -1])


def test_assignment_makes_a_new_array(toy: World) -> None:
    x = before = toy.encrypt([1, 2])
    x += 1
    x *= 2
    x -= [1, 1]
    assert x is not before
    expect(toy, x, [3, 5])
    expect(toy, before, [1, 2])


def test_dtypes_of_results(toy: World, reals: World) -> None:
    signed = toy.encrypt([1, 2])
    unsigned = toy.encrypt(np.array([1, 2], np.uint8))
    assert (signed + unsigned).dtype == np.int64
    assert (unsigned * unsigned).dtype == np.uint64
    assert (unsigned + 1).dtype == np.uint64
    assert (unsigned * np.array([1, 2], np.uint64)).dtype == np.uint64
    assert (unsigned - 1).dtype == np.int64
    assert (-unsigned).dtype == np.int64
    assert (unsigned + np.array([-1, 1])).dtype == np.int64
    np.testing.assert_array_equal(toy.decrypt(unsigned - 3), [-2, -1])
    real, imaginary = reals.encrypt([0.5]), reals.encrypt([0.5j])
    assert (real + 1).dtype == np.float64
    assert (real + imaginary).dtype == np.complex128
    assert (real * 1j).dtype == np.complex128
    np.testing.assert_allclose(reals.decrypt(real * 1j), [0.5j], atol=1e-6)


@pytest.mark.parametrize("length", [1, 5, 100, 128, 129, 300])
def test_sums(toy: World, rng: np.random.Generator, length: int) -> None:
    for shape in [(length,), (3, length), (2, 2, length)]:
        values = numbers(toy, rng, shape)
        x = toy.encrypt(values)
        expect(toy, x.sum(), values.sum(axis=-1))
        expect(toy, toy.context.sum()(x), values.sum(axis=-1))


@pytest.mark.parametrize("length", [1, 5, 127, 129, 300])
def test_sums_after_anything_that_fills_other_slots(
    toy: World, rng: np.random.Generator, length: int
) -> None:
    values = numbers(toy, rng, (2, length))
    x = toy.encrypt(values)
    shifted = toy.context.polynomial([3, 1])
    function = np.array([(k * k + 7) % 257 - 128 for k in range(-128, 129)])
    table = toy.context.table(function, start=-128)
    world = make(toy.context, toy.context.products(), toy.context.sum(), shifted, table)
    own = world.encrypt(values)
    expect(world, shifted(own).sum(), (values + 3).sum(axis=-1))
    expect(world, table(own).sum(), function[values + 128].sum(axis=-1))
    expect(toy, (x + 1).sum(), (values + 1).sum(axis=-1))
    expect(toy, (1 - x).sum(), (1 - values).sum(axis=-1))
    expect(toy, (x * 2 + 1).sum(), (2 * values + 1).sum(axis=-1))
    expect(world, (shifted(own) * own).sum(), ((values + 3) * values).sum(axis=-1))
    expect(world, (shifted(own) + own).sum(), (2 * values + 3).sum(axis=-1))
    expect(world, (shifted(own) * shifted(own)).sum(), ((values + 3) ** 2).sum(axis=-1))
    expect(world, shifted(own) @ shifted(own)[0], ((values + 3) * (values[0] + 3)).sum(axis=-1))


def test_a_product_of_a_matrix_is_masked_before_sums(toy: World, rng: np.random.Generator) -> None:
    matrix, values = rng.integers(-5, 6, (7, 40)), numbers(toy, rng, (3, 40))
    layer = toy.context.linear(matrix)
    world = make(toy.context, layer, toy.context.sum())
    expect(world, layer(world.encrypt(values)).sum(), (values @ matrix.T).sum(axis=-1))


@pytest.mark.parametrize("length", [1, 5, 128, 300])
@pytest.mark.parametrize("shift", [-2, 1, 3])
def test_roll(toy: World, rng: np.random.Generator, length: int, shift: int) -> None:
    for shape in [(length,), (2, length)]:
        values = numbers(toy, rng, shape)
        expect(toy, toy.encrypt(values).roll(shift), np.roll(values, shift, axis=-1))
        again = shift + 5 * length
        expect(toy, toy.encrypt(values).roll(again), np.roll(values, again, axis=-1))


def test_roll_by_nothing(toy: World) -> None:
    x = toy.encrypt(np.arange(9))
    expect(toy, x.roll(0), np.arange(9))
    expect(toy, x.roll(9 * 10**17), np.arange(9))


@pytest.mark.parametrize("length", [1, 6, 128, 200])
def test_inner_products(toy: World, rng: np.random.Generator, length: int) -> None:
    a, b = numbers(toy, rng, (length,)), numbers(toy, rng, (length,))
    rows = numbers(toy, rng, (3, length))
    x, y, many = toy.encrypt(a), toy.encrypt(b), toy.encrypt(rows)
    expect(toy, x @ y, a @ b)
    expect(toy, x @ b, a @ b)
    expect(toy, a @ y, a @ b)
    expect(toy, a.tolist() @ y, a @ b)
    expect(toy, many @ b, rows @ b)
    expect(toy, many @ y, rows @ b)


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 5), (5, 3), (128, 128), (10, 200), (150, 7), (140, 130)]
)
def test_matrices(rng: np.random.Generator, shape: tuple[int, int]) -> None:
    context = wl.Context.preset("insecure_toy_256")
    outputs, inputs = shape
    matrix = rng.integers(-128, 129, shape)
    bias = rng.integers(-128, 129, outputs)
    plain, biased = context.linear(matrix), context.linear(matrix, bias)
    world = make(context, plain, biased)
    vector, rows = rng.integers(-128, 129, inputs), rng.integers(-128, 129, (2, 2, inputs))
    expect(world, plain @ world.encrypt(vector), matrix @ vector)
    expect(world, biased @ world.encrypt(vector), matrix @ vector + bias)
    expect(world, plain(world.encrypt(rows)), rows @ matrix.T)
    expect(world, biased(world.encrypt(rows)), rows @ matrix.T + bias)
    # The same keys serve operators with plain arrays.
    expect(world, matrix @ world.encrypt(vector), matrix @ vector)
    expect(world, world.encrypt(vector) @ matrix.T, vector @ matrix.T)
    expect(world, world.encrypt(rows) @ matrix.T, rows @ matrix.T)
    assert plain.shape == shape
    np.testing.assert_array_equal(plain.matrix, matrix)
    assert biased.bias is not None
    np.testing.assert_array_equal(biased.bias, bias)
    assert plain.bias is None


def test_matrices_of_other_kinds(toy: World, rng: np.random.Generator) -> None:
    vector = rng.integers(-3, 4, 6)
    kinds: list[Any] = [
        np.eye(6, dtype=int),
        np.zeros((6, 6), int),
        np.diag(np.arange(6)),
        np.triu(np.ones((6, 6), int)),
        rng.integers(0, 2, (4, 6)).astype(bool),
        rng.integers(0, 200, (4, 6)).astype(np.uint8),
        rng.integers(-9, 9, (6, 4)).T,
        rng.integers(-9, 9, (4, 6)).astype(">i4"),
        [[1, 2, 3, 4, 5, 6]],
        np.roll(np.eye(6, dtype=int), 2, axis=0),
    ]
    for matrix in kinds:
        layer = toy.context.linear(matrix)
        world = make(toy.context, layer)
        expect(world, layer @ world.encrypt(vector), np.asarray(matrix).astype(int) @ vector)


@pytest.mark.parametrize(
    "strategy", ["automatic", "hoisted", "baby-giant", "baby-giant-inner:4", "horner", "doubling"]
)
def test_strategies(rng: np.random.Generator, strategy: str) -> None:
    context = wl.Context.preset("insecure_toy_256")
    matrix, vector = rng.integers(-9, 10, (20, 20)), rng.integers(-9, 10, 20)
    try:
        layer = context.linear(matrix, strategy=strategy)
    except wl.NoParameters:
        assert strategy == "doubling"  # for sums alone
        return
    world = make(context, layer)
    expect(world, layer @ world.encrypt(vector), matrix @ vector)
    assert set(layer.required_keys) <= set(world.server.galois_elements)
    assert layer.strategy.split("(")[0]


def test_tall_matrices_meet_copies(rng: np.random.Generator) -> None:
    context = wl.Context.preset("insecure_toy_256")
    tall, wide, vector = rng.integers(-9, 10, (100, 4)), rng.integers(-9, 10, (4, 90)), rng.integers(-9, 10, 4)
    layer, before = context.linear(tall), context.linear(wide)
    direct = context.linear(tall, folding="never")
    assert layer.folded
    assert before.folded
    assert len(layer.diagonals) < len(direct.diagonals) / 4
    world = make(context, layer, before, context.products())
    expect(world, layer @ world.encrypt(vector), tall @ vector)
    rows = rng.integers(-9, 10, (3, 4))
    expect(world, layer(world.encrypt(rows)), rows @ tall.T)
    # The slots beyond the entries of a folded product hold sums, so that a mask comes first.
    values = rng.integers(-9, 10, 90)
    expect(world, layer @ (before @ world.encrypt(values)), tall @ (wide @ values))
    # Numbers added to the entries alone leave them zeros.
    expect(world, layer @ (world.encrypt(vector) + 5), tall @ (vector + 5))


def test_what_a_plan_says(rng: np.random.Generator) -> None:
    context = wl.Context.preset("insecure_toy_256")
    matrix = rng.integers(1, 10, (20, 30))
    layer = context.linear(matrix, folding="never")
    assert layer.grid == (1, 1)
    assert not layer.folded
    assert context.linear(matrix, folding="always").folded
    assert len(context.linear(matrix, folding="always").diagonals) < len(layer.diagonals)
    with pytest.raises(wl.UnknownName):
        context.linear(matrix, folding="sometimes")
    assert context.linear(rng.integers(-9, 10, (200, 300))).grid == (2, 3)
    assert 30 <= len(layer.diagonals) <= 128
    assert context.linear(np.eye(20, dtype=int)).diagonals == [1]
    assert context.linear(np.zeros((20, 20), int)).diagonals == []
    assert layer.capacity_bits > 0
    operations = layer.operations()
    assert operations["keys"] == len(layer.required_keys)
    assert operations["constants"] >= len(layer.diagonals)
    few = context.linear(rng.integers(-9, 10, (20, 30)), strategy="horner", max_keys=3)
    assert len(few.required_keys) <= 3
    with pytest.raises(wl.NoParameters, match="keys"):
        context.linear(layer.matrix, max_keys=1)
    again = context.linear(layer.matrix, keys=layer.required_keys, folding="never")
    assert set(again.required_keys) <= set(layer.required_keys)
    assert "keys" in layer.explain()


@pytest.mark.parametrize(("matrix", "vector"), [((3, 5), 4), ((3, 5), 3), ((128, 128), 127)])
def test_matrices_of_the_wrong_shape(toy: World, matrix: tuple[int, int], vector: int) -> None:
    layer = toy.context.linear(np.ones(matrix, int))
    x = toy.encrypt(np.ones(vector, int))
    with pytest.raises(wl.ShapeError):
        layer @ x
    with pytest.raises(wl.ShapeError):
        layer(x)
    with pytest.raises(wl.ShapeError):
        np.ones(matrix, int) @ x
    with pytest.raises(wl.ShapeError):
        x @ np.ones((vector + 1, 2), int)


def test_at_multiplies_one_vector(toy: World) -> None:
    layer = toy.context.linear(np.ones((2, 3), int))
    with pytest.raises(wl.ShapeError, match=r"layer\(x\)"):
        layer @ toy.encrypt(np.ones((3, 3), int))
    with pytest.raises(wl.DTypeError, match=r"layer\.matrix"):
        layer @ np.ones(3, int)
    with pytest.raises(wl.ShapeError):
        np.ones((2, 2, 3), int) @ toy.encrypt([1, 2, 3])
    with pytest.raises(wl.ShapeError):
        toy.encrypt([1, 2, 3]) @ 2


@pytest.mark.parametrize("bias", [[1], [1, 2, 3], [[1, 2]], 1])
def test_bias_of_the_wrong_shape(toy: World, bias: Any) -> None:
    with pytest.raises(wl.ShapeError, match="bias"):
        toy.context.linear([[1, 2], [3, 4]], bias)


def test_polynomials(rng: np.random.Generator) -> None:
    context = wl.Context.preset("insecure_toy_256")
    for degree in (0, 1, 2, 5, 12):
        coefficients = rng.integers(-300, 301, degree + 1)
        polynomial = context.polynomial(coefficients)
        world = make(context, polynomial)
        values = rng.integers(-128, 129, (2, 140))
        clear = sum(int(c) * values.astype(object) ** k for k, c in enumerate(coefficients))
        expect(world, polynomial(world.encrypt(values)), clear)
    # Reduced as unsigned integers, not as signed ones: 2**64 - 1 = 0 modulo 257.
    unsigned = context.polynomial(np.array([2**64 - 1, 1], np.uint64))
    world = make(context, unsigned)
    expect(world, unsigned(world.encrypt([0, 1])), [0, 1])


def test_tables(rng: np.random.Generator) -> None:
    context = wl.Context.preset("insecure_toy_256")
    whole = rng.integers(-128, 129, 257)
    table = context.table(whole, start=-128)
    part = context.table([5, -7, 9], start=-1)
    world = make(context, table, part)
    values = rng.integers(-128, 129, (2, 130))
    expect(world, table(world.encrypt(values)), whole[values + 128])
    expect(world, part(world.encrypt([-1, 0, 1, 0])), [5, -7, 9, -7])
    with pytest.raises(wl.ParameterError):
        context.table([0] * 258)
    with pytest.raises(wl.ShapeError):
        context.table([])
    with pytest.raises(wl.WindlassError):
        wl.Context.preset("insecure_toy_1023").power(0)


def test_comparisons(toy: World, rng: np.random.Generator) -> None:
    equal, less = toy.context.equal(), toy.context.less(20)
    world = make(toy.context, equal, less, toy.context.sum())
    a, b = rng.integers(-10, 10, (2, 2, 140))
    b[:, ::3] = a[:, ::3]
    x, y = world.encrypt(a), world.encrypt(b)
    expect(world, equal(x, y), (a == b).astype(int))
    expect(world, less(x, y), (a < b).astype(int))
    expect(world, less(y, x), (b < a).astype(int))
    # Zeros beyond the entries are equal, and are not counted.
    expect(world, equal(x, y).sum(), (a == b).sum(axis=-1))
    with pytest.raises(wl.ShapeError, match="two"):
        equal(x)
    with pytest.raises(wl.ShapeError):
        equal(x, world.encrypt([1, 2]))
    with pytest.raises(wl.ShapeError, match="one"):
        toy.context.power(2)(toy.encrypt([1]), toy.encrypt([1]))


def test_encrypted_values_are_not_compared_in_the_open(toy: World) -> None:
    x, y = toy.encrypt([1]), toy.encrypt([1])
    comparisons: list[Callable[[Any, Any], Any]] = [
        operator.eq,
        operator.ne,
        operator.lt,
        operator.le,
        operator.gt,
        operator.ge,
    ]
    for compare in comparisons:
        others: list[Any] = [y, 1, np.array([1]), None, "1"]
        for other in others:
            with pytest.raises(wl.EncryptedComparison):
                compare(x, other)
    with pytest.raises(wl.EncryptedComparison):
        bool(x)
    with pytest.raises(wl.EncryptedComparison):
        assert not x
    assert x in [x]
    assert len({x, y, x}) == 2


def test_rows(toy: World, rng: np.random.Generator) -> None:
    values = numbers(toy, rng, (4, 3, 130))
    x = toy.encrypt(values)
    expect(toy, x[1], values[1])
    expect(toy, x[-1][0], values[-1][0])
    expect(toy, x[1:3], values[1:3])
    expect(toy, x[::-2], values[::-2])
    rows: Any = x
    for k, row in enumerate(rows):
        expect(toy, row, values[k])
    for bad in (4, -5):
        with pytest.raises(IndexError):
            x[bad]
    for index in ((0, 0), None, "a", [0], 1.5, ...):
        with pytest.raises(wl.ShapeError):
            x[index]  # type: ignore[index]
    with pytest.raises(wl.ShapeError):
        x[2:2]
    with pytest.raises(wl.ShapeError):
        toy.encrypt([1, 2])[0]


def test_what_has_no_meaning(toy: World) -> None:
    x: Any = toy.encrypt([1, 2])
    attempts: list[Callable[[], Any]] = [
        lambda: x // 2,
        lambda: x % 2,
        lambda: 2**x,
        lambda: 1 / x,
        lambda: x / 2,
        lambda: x / x,
        lambda: x << 1,
        lambda: x & 1,
        lambda: ~x,
        lambda: abs(x),
        lambda: int(x),
        lambda: float(x),
        lambda: np.add(x, 1),
        lambda: np.multiply([1, 2], x),
        lambda: x + x.context,
        lambda: x * toy.server,
    ]
    for attempt in attempts:
        with pytest.raises(TypeError):
            attempt()
    for index in (0, slice(None)):
        with pytest.raises(TypeError):
            x[index] = 1


def test_sums_of_single_numbers(toy: World) -> None:
    x = toy.encrypt([1, 2, 3])
    total = x.sum()
    assert toy.client.decrypt(total.sum()) == 6
    assert toy.client.decrypt(total.sum().sum()) == 6
    rows = toy.encrypt([[1, 2], [3, 4], [5, 6]]).sum()
    assert toy.client.decrypt(rows[0].sum()) == 3
    assert toy.client.decrypt(rows.sum().sum()) == 21
    assert toy.client.decrypt((toy.encrypt(5) + 1).sum()) == 6
    assert toy.client.decrypt((toy.encrypt([[5], [7]]) + 1).sum()).tolist() == [6, 8]

"""Sums along dimensions, sums that broadcast, means and variances, against NumPy."""

from __future__ import annotations

import operator
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import World, make
from numpy.typing import NDArray

import windlass as wl

SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (7,),
    (130,),
    (3, 5),
    (3, 1),
    (1, 5),
    (2, 150),
    (2, 3, 4),
]


def centred(values: Any, modulus: int) -> NDArray[np.int64]:
    residues = np.asarray(values).astype(object) % modulus
    return np.asarray(np.where(residues > modulus // 2, residues - modulus, residues)).astype(int)


def expect(world: World, encrypted: wl.Ciphertext, values: Any) -> None:
    """The ciphertext holds these numbers, and has their shape."""
    assert encrypted.shape == np.shape(values)
    modulus = world.context.modulus
    if modulus is None:
        np.testing.assert_allclose(world.decrypt(encrypted), values, atol=1e-4)
    else:
        back = world.client.decrypt(encrypted, dtype="int64")
        np.testing.assert_array_equal(back, centred(values, modulus))


def axes_of(ndim: int, *, few: bool = False) -> list[Any]:
    """Everything that may be said of the dimensions of an array, or a little of it."""
    if few:
        return [None, *range(ndim)][: 3 if ndim > 2 else 2] + [tuple(range(ndim))[1:]] * (ndim > 1)
    single = [*range(ndim), *range(-ndim, 0)]
    several = [(a, b) for a in range(ndim) for b in range(ndim) if a != b]
    return [None, (), *single, *several]


@pytest.fixture(scope="module")
def real() -> World:
    """CKKS with keys of sums over all slots."""
    context = wl.Context.approximate(depth=3)
    return make(context, context.sum(), context.products())


def some(world: World, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[Any]:
    """Small numbers for either scheme."""
    if world.context.modulus is None:
        return rng.uniform(-1, 1, shape)
    return rng.integers(-20, 21, shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_along_every_dimension(
    toy: World, real: World, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    for world in (toy, real) if shape in SHAPES[1::3] else (toy,):
        values = some(world, rng, shape)
        x = world.encrypt(values)
        for axis in axes_of(len(shape), few=world is real):
            for keepdims in (False, True):
                wanted = values.sum(axis=axis, keepdims=keepdims)
                expect(world, x.sum(axis=axis, keepdims=keepdims), wanted)
        if shape:
            expect(world, x.sum(), values.sum(axis=-1))
            expect(world, x.sum(np.int64(0)), values.sum(axis=0))


def test_sums_along_rows_take_no_keys() -> None:
    context = wl.Context.preset("insecure_toy_256")
    world = make(context)
    values = np.arange(300).reshape(2, 150) % 50
    expect(world, world.encrypt(values).sum(axis=0), values.sum(axis=0))
    with pytest.raises(wl.MissingGaloisKey):
        world.encrypt(values).sum(axis=1)


def test_functions_of_numpy(toy: World, real: World, rng: np.random.Generator) -> None:
    values = some(toy, rng, (3, 5))
    x: Any = toy.encrypt(values)
    expect(toy, np.sum(x), np.sum(values))
    expect(toy, np.sum(x, axis=0), np.sum(values, axis=0))
    expect(toy, np.sum(x, 1, keepdims=True), np.sum(values, 1, keepdims=True))
    numbers = some(real, rng, (3, 5))
    y: Any = real.encrypt(numbers)
    expect(real, np.sum(y), np.sum(numbers))
    expect(real, np.mean(y), np.mean(numbers))
    expect(real, np.mean(y, axis=0), np.mean(numbers, axis=0))
    expect(real, np.mean(y, axis=(0, 1), keepdims=True), np.mean(numbers, keepdims=True))
    expect(real, np.var(y, axis=0, ddof=1), np.var(numbers, axis=0, ddof=1))
    expect(real, np.var(y[0]), np.var(numbers[0]))
    # What is left to NumPy says what to do.
    for function in (np.std, np.median, np.cumsum):
        with pytest.raises(wl.DTypeError, match="encrypted"):
            function(y)


def test_sums_broadcast(toy: World, real: World, rng: np.random.Generator) -> None:
    for world in (toy, real):
        for length in (2, 5, 100, 128, 129, 300) if world is toy else (5,):
            values = some(world, rng, (length,))
            x = world.encrypt(values)
            total = x.sum()
            expect(world, x - total, values - values.sum())
            expect(world, total - x, values.sum() - values)
            expect(world, x + 2 * total, values + 2 * values.sum())
            expect(world, x * total, values * values.sum())
        rows = some(world, rng, (3, 6))
        many = world.encrypt(rows)
        kept = many.sum(keepdims=True)
        wanted = rows.sum(axis=-1, keepdims=True)
        expect(world, many - kept, rows - wanted)
        expect(world, many - many.sum(axis=0), rows - rows.sum(axis=0))
        expect(world, many - many.sum(axis=None), rows - rows.sum())
        expect(world, many - kept[1], rows - wanted[1])
        expect(world, many[1] + kept, rows[1] + wanted)
        expect(world, 6 * many[2] - many[2].sum(), 6 * rows[2] - rows[2].sum())
        deep = some(world, rng, (2, 3, 4))
        cube = world.encrypt(deep)
        for axis in axes_of(3, few=world is real):
            expect(
                world,
                cube - cube.sum(axis=axis, keepdims=True),
                deep - deep.sum(axis=axis, keepdims=True),
            )


def test_what_is_done_with_a_sum_is_done_in_every_slot(
    toy: World, real: World, rng: np.random.Generator
) -> None:
    for world in (toy, real):
        values, others = some(world, rng, (6,)), some(world, rng, (6,))
        x, y = world.encrypt(values), world.encrypt(others)
        s, t = x.sum(), y.sum()
        u, v = values.sum(), others.sum()
        cases = [(s + 3, u + 3), (4 - s, 4 - u), (-s, -u), (s * 3, u * 3), (s * s, u * u)]
        cases += [(s + t, u + v), (s - t, u - v), (s * t, u * v), (+s, u), (s * np.array(2), 2 * u)]
        for encrypted, clear in cases:
            expect(world, x - encrypted, values - clear)
        # Sums of what a sum was added to leave out what lies beyond the entries.
        expect(world, (x - s).sum(), (values - u).sum())
        expect(world, (x + s + 1).sum(), (values + u + 1).sum())
        matrix = some(world, rng, (4, 6))
        rows = world.encrypt(matrix)
        each = rows.sum(keepdims=True)
        wanted = matrix.sum(axis=-1, keepdims=True)
        factors = some(world, rng, (4, 1))
        expect(world, rows - each * factors, matrix - wanted * factors)
        expect(world, rows - (each + factors), matrix - (wanted + factors))
        expect(world, rows[::-1] - each[::-1], matrix[::-1] - wanted[::-1])
        expect(world, each.sum(axis=0), wanted.sum(axis=0))
        expect(world, each - each.sum(axis=0), wanted - wanted.sum(axis=0))


def test_random_expressions_that_broadcast(toy: World) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4))))
        clear: Any = rng.integers(-128, 129, shape).astype(object)
        encrypted = toy.encrypt(clear.astype(np.int64))
        products = 0
        for _ in range(6):
            axis: Any = tuple(k for k in range(len(shape)) if rng.random() < 0.5)
            other = encrypted.sum(axis=axis, keepdims=True)
            total = clear.sum(axis=axis, keepdims=True)
            choice = int(rng.integers(0, 4))
            if choice == 0:
                encrypted, clear = encrypted - other, clear - total
            elif choice == 1:
                encrypted, clear = other + 2 * encrypted + 1, total + 2 * clear + 1
            elif choice == 2 and products < 1:
                encrypted, clear = encrypted * other, clear * total
                products += 1
            else:
                more = rng.integers(-128, 129, total.shape)
                encrypted, clear = encrypted + (other + more), clear + (total + more)
        expect(toy, encrypted, clear)


def test_inner_products_broadcast(toy: World, rng: np.random.Generator) -> None:
    a, b = some(toy, rng, (9,)), some(toy, rng, (9,))
    x, y = toy.encrypt(a), toy.encrypt(b)
    expect(toy, x - x @ y, a - a @ b)
    expect(toy, x - x @ b, a - a @ b)


@pytest.mark.parametrize(
    ("a", "b"), [((2, 1), (1, 3)), ((3,), (2, 1)), ((2, 1), (2,)), ((1, 2, 1), (3, 1, 4))]
)
def test_numbers_that_lie_in_one_slot_do_not_broadcast(toy: World, a: Any, b: Any) -> None:
    x, y = toy.encrypt(np.ones(a, int)), toy.encrypt(np.ones(b, int))
    for operation in (operator.add, operator.sub, operator.mul):
        for left, right in ((x, y), (y, x)):
            with pytest.raises(wl.ShapeError, match="cannot be combined"):
                operation(left, right)


def test_sums_that_do_not_go_with_an_array(toy: World) -> None:
    x = toy.encrypt(np.ones((3, 5), int))
    with pytest.raises(wl.ShapeError, match="keepdims=True"):
        x - x.sum()
    with pytest.raises(wl.ShapeError):
        toy.encrypt(np.ones((5, 5), int)) - toy.encrypt(np.ones((5, 4), int)).sum()
    with pytest.raises(wl.ShapeError):
        x.sum(axis=0) @ x.sum(keepdims=True)[0]


def test_sums_over_fewer_slots_do_not_broadcast() -> None:
    context = wl.Context.approximate(depth=2)
    world = make(context, context.sum(5), context.products())
    x = world.encrypt([0.1, 0.2, 0.3, 0.4, 0.5])
    expect(world, x.sum(), 1.5)
    with pytest.raises(wl.ShapeError, match=r"keys of context\.sum\(\)"):
        x - x.sum() / 5
    with pytest.raises(wl.MissingGaloisKey, match=r"name context\.sum\(\)") as caught:
        x.var()
    assert set(caught.value.elements) <= set(context.sum().required_keys)
    assert caught.value.elements


def test_a_sum_without_room_for_all_slots_names_the_sum_that_has_room() -> None:
    context = wl.Context.approximate(depth=1, value_bits=12, scale_bits=35, slots=8192)
    world = make(context, context.sum(), context.products())
    values = np.linspace(-1, 1, 40)
    x = world.server.receive(world.client.encrypt(values, bound=4))
    with pytest.raises(wl.MissingGaloisKey) as caught:
        (x * x).sum()
    assert "generate_keys(context.sum(40), ...)" in str(caught.value)
    assert "context.sum() does not suffice" in str(caught.value)
    assert set(caught.value.elements) <= set(context.sum(40).required_keys)
    world = make(context, context.sum(40), context.products())
    x = world.server.receive(world.client.encrypt(values, bound=4))
    expect(world, (x * x).sum(), (values * values).sum())


def test_means(real: World, rng: np.random.Generator) -> None:
    for shape in SHAPES[2::3]:
        values = some(real, rng, shape)
        x = real.encrypt(values)
        for axis in axes_of(len(shape), few=True):
            expect(real, x.mean(axis=axis), values.mean(axis=axis))
        if shape:
            wanted = values - values.mean(axis=-1, keepdims=True)
            expect(real, x - x.mean(keepdims=True), wanted)
            expect(real, x - x.sum(keepdims=True) / shape[-1], wanted)


def test_a_long_row_is_centred(real: World, rng: np.random.Generator) -> None:
    count = real.context.slots + 900
    values = rng.uniform(-1, 1, count)
    x = real.encrypt(values)
    expect(real, x - x.sum() / count, values - values.mean())
    expect(real, x.var(), values.var())


def test_variances(real: World, rng: np.random.Generator) -> None:
    for shape in [(7,), (2, 3)]:
        values = 0.7 + 0.1 * some(real, rng, shape)
        x = real.encrypt(values)
        for axis in axes_of(len(shape), few=True):
            found = x.var(axis=axis)
            wanted = np.asarray(values.var(axis=axis))
            expect(real, found, wanted)
            # Far nearer than the square of the mean would allow.
            assert np.abs(real.decrypt(found) - wanted).max() < 1e-6
    values = some(real, rng, (9,))
    x = real.encrypt(values)
    expect(real, x.var(ddof=1, keepdims=True), values.var(axis=-1, ddof=1, keepdims=True))
    # Slots beyond the entries hold what was added to all of them.
    moved = x - x.sum(keepdims=True)
    expect(real, moved.var(), values.var(axis=-1))
    expect(real, moved.mean(), (values - values.sum(axis=-1, keepdims=True)).mean(axis=-1))


def test_depth_and_bounds_of_means_and_variances() -> None:
    context = wl.Context.approximate(depth=2)
    world = make(context, context.sum(), context.products())
    x = world.encrypt(np.full(100, 0.5))
    assert x.bound == 1
    assert x.sum().bound == pytest.approx(100)
    assert x.mean().bound == pytest.approx(1, rel=1e-3)
    assert x.var().bound == pytest.approx(1)
    assert x.var(ddof=1).bound == pytest.approx(100 / 99)
    assert (x.mean() * x.mean()).depth_left == 0
    assert x.var().depth_left == 0
    expect(world, x.var(), 0.0)


def test_integers_have_no_mean(toy: World) -> None:
    x = toy.encrypt([1, 2, 3])
    with pytest.raises(wl.DTypeError, match=r"no mean: decrypt x\.sum\(\)"):
        x.mean()
    with pytest.raises(wl.DTypeError, match="no variance"):
        x.var()
    with pytest.raises(wl.DTypeError, match="no mean"):
        np.mean(x)  # type: ignore[call-overload]


def test_what_is_refused(toy: World, real: World) -> None:
    x: Any = toy.encrypt([[1, 2], [3, 4]])
    axis: Any
    for axis in (2, -3, (0, 2)):
        with pytest.raises(wl.ShapeError, match="2 dimension"):
            x.sum(axis=axis)
    for axis in ((0, 0), (1, -1)):
        with pytest.raises(wl.ShapeError, match="twice"):
            x.sum(axis=axis)
    for axis in ("0", 1.0, [0], (0, "1")):
        with pytest.raises(wl.DTypeError, match="axis"):
            x.sum(axis=axis)
    with pytest.raises(wl.ParameterError, match="dtype"):
        np.sum(x, dtype=np.int64)
    with pytest.raises(wl.ParameterError, match="out"):
        np.sum(x, out=np.zeros(2, int))
    y: Any = real.encrypt([0.5, 0.25])
    for ddof in (2, 3, float("nan")):
        with pytest.raises(wl.ParameterError, match="ddof"):
            y.var(ddof=ddof)
    with pytest.raises(wl.DTypeError, match="complex"):
        real.encrypt([0.5j]).var()
    expect(real, real.encrypt([0.5j, 0.25]).mean(), 0.125 + 0.25j)
    with pytest.raises(wl.NotBound):
        toy.client.encrypt([[1, 2], [3, 4]]).sum(axis=0)


def test_sums_of_elements_along_rows(bits: World, rng: np.random.Generator) -> None:
    values = rng.integers(0, 2, (3, 4, 10))
    x = bits.encrypt(values, elements=True)
    back = bits.decrypt(x.sum(axis=0))
    np.testing.assert_array_equal(back % 2, values.sum(axis=0) % 2)
    with pytest.raises(wl.NotIntegers):
        x.sum()


def test_refreshed_sums_broadcast() -> None:
    context = wl.Context.preset("insecure_boot_256_p257")
    world = make(context, context.bootstrapping(), context.sum())
    x = world.encrypt([2, 3, 10])
    expect(world, x - x.sum().refresh(), [-13, -12, -5])


def test_sums_broadcast_after_a_pickle(toy: World, real: World) -> None:
    for world in (toy, real):
        x = world.encrypt([1, 0, 1]) if world is toy else world.encrypt([1.0, 0.0, 1.0])
        back = world.server.receive(pickle.loads(pickle.dumps(x.sum())))
        expect(world, x - back, [-1, -2, -1])
    # What earlier versions wrote says nothing of it, and what says it of anything else is refused.
    reduced: Any = toy.encrypt([1, 2]).__reduce_ex__(2)
    restore, (state, parts, shape, dtype, flags) = reduced
    assert len(flags) == 3
    expect(toy, toy.server.receive(restore(state, parts, shape, dtype, flags)), [1, 2])
    with pytest.raises(wl.FileError, match="flags"):
        restore(state, parts, shape, dtype, (*flags, True))


def test_pandas_leaves_operators_to_ciphertexts(toy: World, real: World) -> None:
    pd = pytest.importorskip("pandas")
    x, y = toy.encrypt([1, 2, 3]), real.encrypt([0.5, 0.25, 0.0])
    series = pd.Series([10, 20, 30])
    expect(toy, series + x, [11, 22, 33])
    expect(toy, series - x, [9, 18, 27])
    expect(toy, series * x, [10, 40, 90])
    expect(toy, x + series, [11, 22, 33])
    expect(toy, pd.Index([10, 20, 30]) + x, [11, 22, 33])
    expect(real, pd.Series([1.0, 2.0, 3.0]) * y, [0.5, 0.5, 0.0])
    rows = toy.encrypt([[1, 2], [3, 4]])
    expect(toy, pd.DataFrame({"a": [1, 1], "b": [2, 2]}) + rows, [[2, 4], [4, 6]])
    with pytest.raises(wl.EncryptedComparison):
        series == x  # noqa: B015
    with pytest.raises(wl.DTypeError):
        pd.Series(["a", "b", "c"]) + x


def test_sparse_matrices_of_scipy() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    context = wl.Context.preset("insecure_toy_256")
    dense = np.array([[0, 2, 0], [1, 0, 0]])
    layer = context.linear(dense)
    world = make(context, layer, context.linear(dense.T))
    for kind in ("csr_matrix", "csr_array", "coo_matrix", "csc_array"):
        matrix = getattr(sparse, kind)(dense)
        assert context.linear(matrix) == layer
        rows = world.encrypt(matrix)
        expect(world, rows, dense)
        expect(world, rows + matrix, 2 * dense)
        expect(world, rows * matrix, dense * dense)
        expect(world, world.encrypt([1, 2, 3]) @ matrix.T, [4, 1])
        assert wl.Linear(matrix) == wl.Linear(dense)
        np.testing.assert_array_equal(wl.Linear([1, 1, 1]).predict(matrix), dense.sum(axis=1))
    with pytest.raises(wl.DTypeError):
        sparse.csr_matrix(dense) @ world.encrypt([1, 2, 3])
    with pytest.raises(wl.OutOfMemory):
        context.linear(sparse.csr_matrix((10**7, 10**7), dtype=np.int64))

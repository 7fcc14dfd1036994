"""Arrays of every dtype and layout, encrypted and decrypted; and those that are refused."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import World
from numpy.typing import NDArray

import windlass as wl

SIGNED = ["int8", "int16", "int32", "int64", "bool", ">i2", ">i4", ">i8", "<i8", "intp"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64", ">u2", ">u4", ">u8", "uintp"]
FLOATS = ["float16", "float32", "float64", ">f4", ">f8", "longdouble"]
COMPLEX = ["complex64", "complex128", ">c8", ">c16", "clongdouble"]


@pytest.mark.parametrize("dtype", SIGNED)
def test_signed_integers(toy: World, dtype: str) -> None:
    values = np.array([[1, 0, 1, 1], [0, 0, 1, 0]]).astype(dtype)
    if dtype != "bool":
        values[0, 1] = -100
        values[1, 3] = 127
    back = toy.decrypt(toy.encrypt(values))
    assert back.dtype == np.int64
    np.testing.assert_array_equal(back, values.astype(np.int64))


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_integers(toy: World, dtype: str) -> None:
    values = np.array([0, 1, 128, 129, 255]).astype(dtype)
    back = toy.decrypt(toy.encrypt(values))
    assert back.dtype == np.uint64
    np.testing.assert_array_equal(back, values.astype(np.uint64))


@pytest.mark.parametrize("dtype", FLOATS)
def test_real_numbers(reals: World, dtype: str) -> None:
    values = np.array([[0.5, -0.25, 0.0], [1.0, -1.0, 0.125]]).astype(dtype)
    back = reals.decrypt(reals.encrypt(values))
    assert back.dtype == np.float64
    np.testing.assert_allclose(back, values.astype(np.float64), atol=1e-7)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", ">i4", "int64"])
def test_integers_as_real_numbers(reals: World, dtype: str) -> None:
    values = np.array([0, 1, 1, 0]).astype(dtype)
    back = reals.decrypt(reals.encrypt(values))
    assert back.dtype == np.float64
    np.testing.assert_allclose(back, [0.0, 1.0, 1.0, 0.0], atol=1e-7)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers(reals: World, dtype: str) -> None:
    values = np.array([0.5 + 0.25j, -0.5j, 1, 0]).astype(dtype)
    back = reals.decrypt(reals.encrypt(values))
    assert back.dtype == np.complex128
    np.testing.assert_allclose(back, values.astype(np.complex128), atol=1e-7)


def layouts() -> dict[str, NDArray[np.int64]]:
    """The same 4 x 6 numbers in memory in many ways."""
    base = np.arange(24).reshape(4, 6) - 12
    big = np.zeros((9, 14), np.int64)
    big[1::2, 2::2] = base
    unaligned = np.zeros(24 * 8 + 1, np.uint8)[1:].view(np.int64).reshape(4, 6)
    unaligned[...] = base
    frozen = base.copy()
    frozen.flags.writeable = False
    record = np.zeros((4, 6), dtype=[("a", "i1"), ("b", "<i8")])
    record["b"] = base
    return {
        "C": base,
        "Fortran": np.asfortranarray(base),
        "strided": big[1::2, 2::2],
        "negative strides": base[::-1, ::-1].copy()[::-1, ::-1],
        "transposed": base.T.copy().T,
        "unaligned": unaligned,
        "read-only": frozen,
        "field": record["b"],
        "swapped": base.astype(">i8"),
        "matrix of a subclass": base.view(np.ndarray),
        "swapped axes": np.ascontiguousarray(base.reshape(2, 2, 6).swapaxes(0, 2))
        .swapaxes(0, 2)[:, :]
        .reshape(4, 6),
    }


@pytest.mark.parametrize("name", list(layouts()))
def test_layouts(toy: World, name: str) -> None:
    values = layouts()[name]
    before = values.copy()
    back = toy.decrypt(toy.encrypt(values))
    np.testing.assert_array_equal(back, np.arange(24).reshape(4, 6) - 12)
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(toy.decrypt(toy.encrypt(np.zeros((4, 6), int)) + values), before)
    np.testing.assert_array_equal(toy.decrypt(toy.encrypt(np.full((4, 6), 2)) * values), 2 * before)
    np.testing.assert_array_equal(toy.context.linear(values).matrix, before)


def test_broadcast_views(toy: World) -> None:
    values = np.broadcast_to(np.arange(5), (3, 5))
    np.testing.assert_array_equal(toy.decrypt(toy.encrypt(values)), values)


@pytest.mark.parametrize(
    "shape", [(), (1,), (5,), (128,), (1, 1), (3, 5), (2, 3, 4), (2, 1, 2, 3), (1, 128), (2, 128)]
)
def test_shapes(toy: World, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    values = rng.integers(-128, 129, shape)
    encrypted = toy.encrypt(values)
    back = toy.decrypt(encrypted)
    assert np.shape(back) == shape
    np.testing.assert_array_equal(back, values)
    assert encrypted.shape == shape
    assert encrypted.ndim == len(shape)
    assert encrypted.size == values.size if shape else encrypted.size == 1
    assert encrypted.dtype == np.int64
    assert encrypted.nbytes > 0
    if shape:
        assert len(encrypted) == shape[0]


@pytest.mark.parametrize("length", [127, 128, 129, 255, 256, 257, 300, 1000])
def test_rows_longer_than_a_ciphertext(toy: World, rng: np.random.Generator, length: int) -> None:
    values = rng.integers(-128, 129, (3, length))
    encrypted = toy.encrypt(values)
    assert encrypted.ciphertexts == 3 * -(-length // 128)
    np.testing.assert_array_equal(toy.decrypt(encrypted), values)
    np.testing.assert_array_equal(toy.decrypt(encrypted[1]), values[1])


def test_numbers_of_no_dimension(toy: World, reals: World) -> None:
    assert toy.decrypt(toy.encrypt(5)) == 5
    assert isinstance(toy.decrypt(toy.encrypt(np.uint8(5))), np.uint64)
    assert isinstance(toy.decrypt(toy.encrypt(True)), np.int64)
    assert reals.decrypt(reals.encrypt(0.5)) == pytest.approx(0.5, abs=1e-7)
    assert reals.decrypt(reals.encrypt(0.5j)) == pytest.approx(0.5j, abs=1e-7)


def test_lists(toy: World) -> None:
    given: list[Any] = [[1, -2], (3, 4), range(5, 7), np.array([7, 8], np.int8)]
    np.testing.assert_array_equal(
        toy.decrypt(toy.encrypt(given)), [[1, -2], [3, 4], [5, 6], [7, 8]]
    )


def test_ends_of_the_range(toy: World) -> None:
    np.testing.assert_array_equal(toy.decrypt(toy.encrypt([-128, 128])), [-128, 128])
    top = toy.encrypt(np.array([0, 256], np.uint16))
    np.testing.assert_array_equal(toy.decrypt(top), [0, 256])
    np.testing.assert_array_equal(toy.client.decrypt(top, dtype="int64"), [0, -1])
    np.testing.assert_array_equal(
        toy.client.decrypt(toy.encrypt([-1, 1]), dtype=np.uint64), [256, 1]
    )


@pytest.mark.parametrize(
    ("values", "index", "value"),
    [
        ([1, 129], 1, "129"),
        ([[1, 2], [3, -129]], 3, "-129"),
        (np.array([257], np.uint16), 0, "257"),
        (np.array([0, 2**64 - 1], np.uint64), 1, str(2**64 - 1)),
        ([-(2**63)], 0, str(-(2**63))),
        (10**6, 0, "1000000"),
    ],
)
def test_out_of_range(toy: World, values: Any, index: int, value: str) -> None:
    with pytest.raises(wl.ValueRangeError, match="modulo 257") as caught:
        toy.client.encrypt(values)
    assert (caught.value.index, caught.value.value) == (index, value)
    assert value in str(caught.value)
    encrypted = toy.encrypt(np.zeros(np.shape(values), int))
    for operation in (operator.add, operator.mul, operator.sub):
        with pytest.raises(wl.ValueRangeError):
            operation(encrypted, values)


def test_the_place_of_a_bad_value_is_named(toy: World) -> None:
    values = np.zeros((2, 3, 4), int)
    values[1, 2, 0] = 1000
    with pytest.raises(wl.ValueRangeError, match=r"the value 1000 at index \(1, 2, 0\)") as caught:
        toy.client.encrypt(values)
    assert caught.value.index == 20
    # The place is that of the array as it is seen, whatever its order in memory.
    with pytest.raises(wl.ValueRangeError, match=r"index \(1, 2, 0\)"):
        toy.client.encrypt(np.asfortranarray(values))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite(reals: World, bad: float) -> None:
    for values in ([0.5, bad], [0.5j, complex(0, bad)]):
        with pytest.raises(wl.ValueRangeError, match="not a finite number") as caught:
            reals.client.encrypt(values)
        assert caught.value.index == 1
    encrypted = reals.encrypt([0.5, 0.5])
    for operation in (operator.add, operator.mul, operator.sub, operator.truediv):
        for number in (bad, [0.5, bad]):
            if not (operation is operator.truediv and np.isinf(bad)):
                with pytest.raises(wl.ValueRangeError):
                    operation(encrypted, number)
    with pytest.raises(wl.ValueRangeError):
        reals.context.linear([[0.0, bad]])
    with pytest.raises(wl.ValueRangeError):
        reals.context.linear([[0.0, 1.0]], [bad])
    with pytest.raises(wl.ValueRangeError):
        reals.context.polynomial([0.0, bad])


def test_larger_than_the_bound(reals: World) -> None:
    with pytest.raises(wl.ValueRangeError, match="bound"):
        reals.client.encrypt([0.5, 1.5])
    back = reals.decrypt(reals.encrypt([0.5, 100.0], bound=128.0))
    np.testing.assert_allclose(back, [0.5, 100.0], atol=1e-6)
    with pytest.raises(wl.WindlassError):
        reals.client.encrypt([1e300], bound=1e308)


def _without_address(value: Any) -> str:
    """A name that is the same in every process that collects the tests."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


BAD_FOR_INTEGERS: list[Any] = [
    1.0,
    [0.5],
    [1j],
    np.zeros(3, np.float16),
    "text",
    ["a", "b"],
    b"bytes",
    None,
    [None],
    [1, None],
    object(),
    {"a": 1},
    {1, 2},
    [2**64],
    [-(2**63) - 1],
    [2**200, 1],
    np.array([1, 2], dtype=object),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array([1], dtype="timedelta64[s]"),
    np.zeros(2, dtype=[("a", int)]),
    np.zeros(2, dtype="S3"),
    np.zeros(2, dtype="V8"),
    lambda: 1,
]


@pytest.mark.parametrize("values", BAD_FOR_INTEGERS, ids=_without_address)
def test_what_is_no_array_of_integers(toy: World, values: Any) -> None:
    encrypted = toy.encrypt(3)
    uses: list[Callable[[], object]] = [
        lambda: toy.client.encrypt(values),
        lambda: toy.client.encryptor().encrypt(values),
        lambda: toy.context.linear(values),
        lambda: toy.context.polynomial(values),
        lambda: encrypted + values,
        lambda: encrypted * values,
        lambda: values - encrypted,
    ]
    for use in uses:
        with pytest.raises(wl.DTypeError) as caught:
            use()
        assert isinstance(caught.value, TypeError)


def test_ragged_lists(toy: World, reals: World) -> None:
    for world in (toy, reals):
        with pytest.raises(ValueError, match=r"inhomogeneous|setting an array element"):
            world.client.encrypt([[1, 2], [3]])


@pytest.mark.parametrize(
    "values",
    ["text", [None], object(), [2**200], np.array([1.0], dtype=object)],
    ids=_without_address,
)
def test_what_is_no_array_of_numbers(reals: World, values: Any) -> None:
    with pytest.raises(wl.DTypeError):
        reals.client.encrypt(values)


def test_a_ciphertext_is_not_encrypted_again(toy: World) -> None:
    encrypted: Any = toy.encrypt([1, 2])
    with pytest.raises(wl.DTypeError, match="an encrypted array"):
        toy.client.encrypt(encrypted)
    with pytest.raises(wl.DTypeError, match="an encrypted array"):
        toy.context.linear(encrypted)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 2)])
def test_empty_arrays(toy: World, shape: tuple[int, ...]) -> None:
    with pytest.raises(wl.ShapeError, match="no entries"):
        toy.client.encrypt(np.zeros(shape, int))
    with pytest.raises(wl.ShapeError):
        toy.encrypt([1, 2, 3]) + np.zeros(shape, int)
    with pytest.raises(wl.ShapeError):
        toy.context.linear(np.zeros(shape, int))


def test_decryption_to_another_dtype(toy: World, reals: World) -> None:
    encrypted = toy.encrypt([1, -1])
    for dtype in ("int32", "float64", "complex128", bool, np.uint8):
        with pytest.raises(wl.DTypeError, match="int64 and uint64"):
            toy.client.decrypt(encrypted, dtype=dtype)
    real = reals.encrypt([0.5])
    with pytest.raises(wl.DTypeError, match="float64 and complex128"):
        reals.client.decrypt(real, dtype="int64")
    assert reals.client.decrypt(real, dtype=complex).dtype == np.complex128
    with pytest.raises(TypeError):
        toy.client.decrypt(encrypted, dtype="no such type")
    with pytest.raises(TypeError):
        toy.client.decrypt(np.array([1, 2]))  # type: ignore[arg-type]


def test_results_belong_to_the_caller(toy: World) -> None:
    encrypted = toy.encrypt([[1, 2], [3, 4]])
    back = toy.decrypt(encrypted)
    back[0, 0] = 100
    assert back.flags.writeable and back.flags.c_contiguous
    np.testing.assert_array_equal(toy.decrypt(encrypted), [[1, 2], [3, 4]])


def test_inputs_may_change_afterwards(toy: World) -> None:
    matrix, bias = np.array([[1, 2], [3, 4]]), np.array([5, 6])
    layer = toy.context.linear(matrix, bias)
    matrix[...] = 0
    bias[...] = 0
    world = toy.context.generate_keys(layer, progress=False)
    product = layer @ world[1].receive(world[0].encrypt([1, 1]))
    np.testing.assert_array_equal(world[0].decrypt(product), [8, 13])


def test_public_key(toy: World, reals: World) -> None:
    encryptor = toy.client.encryptor()
    encrypted = toy.server.receive(encryptor.encrypt([[1, 2], [3, 4]]))
    np.testing.assert_array_equal(toy.decrypt(encrypted * 2 + 1), [[3, 5], [7, 9]])
    assert encryptor.context == toy.context
    assert encryptor.nbytes > 0
    back = reals.decrypt(reals.client.encryptor().encrypt([0.5, -0.5j]))
    np.testing.assert_allclose(back, [0.5, -0.5j], atol=1e-6)


# Slots of degree d.


def test_elements(bits: World, rng: np.random.Generator) -> None:
    degree, slots = bits.context.slot_degree, bits.context.slots
    assert (degree, slots) == (10, 60)
    for shape in [(slots, degree), (3, degree), (2, slots, degree), (2, 70, degree)]:
        values = rng.integers(0, 2, shape)
        encrypted = bits.encrypt(values, elements=True)
        assert encrypted.elements
        assert encrypted.shape == shape[:-1]
        np.testing.assert_array_equal(bits.decrypt(encrypted) % 2, values)


def test_sums_of_elements_are_those_of_coefficients(bits: World, rng: np.random.Generator) -> None:
    a, b = rng.integers(0, 2, (2, 60, 10))
    total = bits.encrypt(a, elements=True) + bits.encrypt(b, elements=True)
    np.testing.assert_array_equal(bits.decrypt(total) % 2, (a + b) % 2)
    difference = bits.encrypt(a, elements=True) - bits.encrypt(b, elements=True)
    np.testing.assert_array_equal(bits.decrypt(difference) % 2, (a - b) % 2)


def test_products_of_elements_are_those_of_a_field(bits: World, rng: np.random.Generator) -> None:
    a, b, c = rng.integers(0, 2, (3, 60, 10))
    x, y, z = (bits.encrypt(v, elements=True) for v in (a, b, c))
    left = bits.decrypt((x * y) * z) % 2
    np.testing.assert_array_equal(left, bits.decrypt(x * (y * z)) % 2)
    np.testing.assert_array_equal(left, bits.decrypt(z * y * x) % 2)
    spread = bits.decrypt(x * (y + z)) % 2
    np.testing.assert_array_equal(spread, bits.decrypt(x * y + x * z) % 2)
    one = np.zeros((60, 10), int)
    one[:, 0] = 1
    np.testing.assert_array_equal(bits.decrypt(x * bits.encrypt(one, elements=True)) % 2, a)
    # Squaring adds in characteristic 2, and a field of 2^10 elements has x^(2^10) = x.
    power = x
    for _ in range(10):
        power = power * power
    np.testing.assert_array_equal(bits.decrypt(power) % 2, a)


def test_elements_in_wrong_shapes(bits: World, reals: World) -> None:
    for shape in [(60, 9), (60,), (), (10,), (60, 11)]:
        with pytest.raises(wl.ShapeError):
            bits.client.encrypt(np.zeros(shape, int), elements=True)
    with pytest.raises(wl.ShapeError):
        reals.client.encrypt(np.zeros((3, 1)), elements=True)
    encrypted = bits.encrypt(np.zeros((60, 10), int), elements=True)
    with pytest.raises(wl.ShapeError):
        encrypted + bits.encrypt(np.zeros(60, int))
    with pytest.raises(wl.NotIntegers):
        encrypted + np.ones(60, int)
    with pytest.raises(wl.NotIntegers):
        encrypted.sum()


def test_elements_are_no_integers(bits: World, rng: np.random.Generator) -> None:
    values = rng.integers(0, 2, (60, 10))
    encrypted = bits.encrypt(values, elements=True)
    equal = bits.context.equal()
    world = bits.context.generate_keys(equal, progress=False)
    mine = world[1].receive(world[0].encrypt(values, elements=True))
    with pytest.raises(wl.NotIntegers):
        equal(mine, mine)
    np.testing.assert_array_equal(bits.decrypt(encrypted) % 2, values)

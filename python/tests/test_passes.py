"""Refreshes in several passes: of integers through CKKS, and of numbers with more than 53 bits."""

from __future__ import annotations

import pathlib
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import World, make
from numpy.typing import NDArray

import windlass as wl

EXACT = "insecure_toy_exact_1024_p65537"
PRECISE = "insecure_toy_precise_1024"


@pytest.fixture(scope="module")
def exact() -> World:
    """Integers modulo 65537."""
    context = wl.Context.preset(EXACT, scheme="BFV")
    return make(context, context.bootstrapping(), context.sum())


@pytest.fixture(scope="module")
def precise() -> World:
    """Numbers of some 73 bits."""
    context = wl.Context.preset(PRECISE)
    return make(context, context.bootstrapping())


def thirds(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64], list[Fraction]]:
    """Fractions below 1, as two arrays and exactly."""
    values = [Fraction(k + 1, 3 * count) for k in range(count)]
    high = np.array([float(value) for value in values])
    low = np.array([float(value - Fraction(float(value))) for value in values])
    return high, low, [Fraction(a) + Fraction(b) for a, b in zip(high, low, strict=True)]


def sums(pair: tuple[NDArray[np.float64], NDArray[np.float64]]) -> list[Fraction]:
    return [Fraction(a) + Fraction(b) for a, b in zip(*pair, strict=True)]


def test_integers_refresh_by_themselves(exact: World) -> None:
    values = np.arange(5)
    x = exact.encrypt(values)
    for _ in range(6):
        x, values = x * x, values * values % 65537
    found = exact.decrypt(x) % 65537
    np.testing.assert_array_equal(found, values)
    told: list[tuple[int, int]] = []
    fresh = x.refresh(progress=lambda done, count: told.append((done, count)))
    np.testing.assert_array_equal(exact.decrypt(fresh) % 65537, values)
    stages = exact.context.bootstrapping().stages()
    assert told[-1] == (sum(stage["times"] for stage in stages),) * 2
    assert int(exact.decrypt(x.sum())) % 65537 == values.sum() % 65537
    theirs = exact.server.receive(exact.client.encryptor().encrypt([3, 4]))
    np.testing.assert_array_equal(exact.decrypt((theirs * theirs).refresh()), [9, 16])
    with pytest.raises(wl.ParameterError, match="modulus of at most"):
        x.refresh(table=np.arange(65537))


def test_the_plan_of_integers(exact: World) -> None:
    way = exact.context.bootstrapping()
    assert way == exact.server.bootstrappings[0]
    assert pickle.loads(pickle.dumps(way)) == way
    assert way.precision_bits is None and way.input_levels == 0
    assert 0 < way.least_input_bits < way.output_bits
    assert 128 < way.failure_bits < 136
    assert "passes" in way.explain() and "3 passes" in repr(way)
    assert way.stages()[0]["times"] == 3
    assert way.estimated_seconds() > 0
    with pytest.raises(wl.ParameterError, match="no options"):
        exact.context.bootstrapping(max_keys=5)
    described = exact.context.describe()
    assert (described["p"], described["n"], described["slots"]) == (
        65537,
        1024,
        1024 // described["slot_degree"],
    )
    sizes = exact.context.sizes()
    fresh = exact.encrypt([1])
    assert fresh.nbytes == sizes["ciphertext_memory"]


def test_integers_modulo_a_power_of_two_are_coefficients() -> None:
    context = wl.Context.preset("insecure_toy_exact_1024_p2r16")
    assert (context.slots, context.slot_degree, context.modulus) == (1, 1024, 2**16)
    world = make(context, context.bootstrapping())
    values = np.zeros((1, 1024), dtype=np.int64)
    values[0, :3] = [3, -1, 5]
    x = world.server.receive(world.client.encrypt(values, elements=True))
    product = (x * x).refresh()
    expected = np.zeros(1024, dtype=np.int64)
    expected[:5] = [9, -6, 31, -10, 25]
    np.testing.assert_array_equal(world.decrypt(product)[0], expected)


def test_numbers_keep_all_bits(precise: World) -> None:
    high, low, values = thirds(40)
    x = precise.server.receive(precise.client.encrypt_wide(high, low))
    assert x.dtype == "float64" and x.shape == (40,)
    for _ in range(4):
        x, values = x * x, [value * value for value in values]
    assert x.precision_bits is not None and x.precision_bits > 60
    worst = max(
        abs(a - b) for a, b in zip(sums(precise.client.decrypt_wide(x)), values, strict=True)
    )
    assert 0 < worst < Fraction(1, 2**60)
    # Rounded to float64, and refreshed by a call.
    np.testing.assert_allclose(
        precise.decrypt(x), [float(value) for value in values], rtol=0, atol=2**-49
    )
    told: list[tuple[int, int]] = []
    fresh = x.refresh(progress=lambda done, count: told.append((done, count)))
    worst = max(
        abs(a - b) for a, b in zip(sums(precise.client.decrypt_wide(fresh)), values, strict=True)
    )
    assert worst < Fraction(1, 2**60)
    assert told[-1] == (3 * len(precise.context.bootstrapping().stages()),) * 2
    # Complex numbers, and plain ones.
    phases = np.exp(1j * np.arange(3))
    turned = precise.client.decrypt_wide(precise.client.encrypt_wide(phases, 0 * phases))
    np.testing.assert_allclose(turned[0], phases, rtol=0, atol=2**-50)
    assert turned[0].dtype == turned[1].dtype == np.complex128
    np.testing.assert_allclose(precise.decrypt(precise.encrypt([0.5]).refresh()), [0.5])


def test_public_numbers_keep_all_bits(precise: World) -> None:
    high, low, values = thirds(40)
    x = precise.server.receive(precise.client.encrypt_wide(high, low))

    def worst(y: wl.Ciphertext, wanted: list[Fraction]) -> Fraction:
        found = sums(precise.client.decrypt_wide(y))
        return max(abs(a - b) for a, b in zip(found, wanted, strict=True))

    seventh = Fraction(1, 7)
    pair = float(seventh), float(seventh - Fraction(float(seventh)))
    least = Fraction(1, 2**60)
    assert worst(x.add_wide(high, low), [2 * value for value in values]) < least
    assert worst(x.multiply_wide(high, low), [value * value for value in values]) < least
    assert worst(x.add_wide(*pair), [value + seventh for value in values]) < least
    assert worst(x.multiply_wide(*pair), [value * seventh for value in values]) < least
    # What the operators keep.
    assert worst(x + pair[0], [value + seventh for value in values]) > Fraction(1, 2**58)


def test_the_plan_of_numbers(precise: World) -> None:
    way = precise.context.bootstrapping()
    assert way == precise.server.bootstrappings[0]
    assert way.precision_bits is not None and way.precision_bits > 70
    assert (way.least_input_bits, way.failure_bits, way.input_levels) == (0, 128, 0)
    assert way.output_bits > 100
    assert "at worst" in way.explain() and "3 passes" in repr(way)


def test_what_wide_numbers_refuse(precise: World, exact: World) -> None:
    client = precise.client
    with pytest.raises(wl.ShapeError, match="shape"):
        client.encrypt_wide([0.5, 0.25], [0.0])
    with pytest.raises(wl.ValueRangeError):
        client.encrypt_wide([1.5], [0.0])
    with pytest.raises(wl.ValueRangeError):
        client.encrypt_wide([0.5], [float("nan")])
    x = precise.encrypt([0.5, 0.25])
    with pytest.raises(wl.ShapeError, match="one shape"):
        x.add_wide([0.5, 0.25], 0.0)
    with pytest.raises(wl.ShapeError, match="broadcast"):
        x.multiply_wide([0.5, 0.25, 0.0], [0.0, 0.0, 0.0])
    encrypted: Any = x
    with pytest.raises(wl.DTypeError, match="x \\* y"):
        x.multiply_wide(encrypted, 0.0)
    with pytest.raises(wl.DTypeError, match="operators"):
        exact.encrypt([1]).add_wide(1, 0)
    with pytest.raises(wl.ParameterError, match="real numbers"):
        exact.client.encrypt_wide([1], [0])
    with pytest.raises(wl.ParameterError, match="real numbers"):
        exact.client.decrypt_wide(exact.encrypt([1]))
    with pytest.raises(wl.OtherContext):
        client.decrypt_wide(exact.encrypt([1]))


@pytest.mark.parametrize("name", ["exact", "precise"])
def test_files_and_pickles(
    name: str, request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> None:
    world: World = request.getfixturevalue(name)
    context = world.context
    context.save(tmp_path / "own.json")
    assert wl.Context.from_file(tmp_path / "own.json") == context
    assert pickle.loads(pickle.dumps(context)) == context
    text = (tmp_path / "own.json").read_text()
    for bad in (text[:100], text.replace('"passes": 3', '"passes": 99')):
        (tmp_path / "bad.json").write_text(bad)
        with pytest.raises(wl.WindlassError):
            wl.Context.from_file(tmp_path / "bad.json")
    way = context.bootstrapping()
    world.server.save(tmp_path / "evaluation.keys")
    world.server.save(tmp_path / "ready.keys", ready=True)
    world.server.save_bootstrap_keys(tmp_path / "bootstrap.keys")
    x = world.client.encrypt([1, 0])
    servers = [
        pickle.loads(pickle.dumps(world.server)),
        context.load_server(
            tmp_path / "evaluation.keys",
            bootstrapping=way,
            bootstrap_keys=tmp_path / "bootstrap.keys",
        ),
        context.map_server(
            tmp_path / "ready.keys", bootstrapping=way, bootstrap_keys=tmp_path / "bootstrap.keys"
        ),
    ]
    for server in servers:
        assert server.bootstrappings == world.server.bootstrappings
        assert server.nbytes == world.server.nbytes
        found = world.client.decrypt(server.receive(x).refresh())
        np.testing.assert_allclose(found, [1, 0], atol=2**-40)


def test_names() -> None:
    names = wl.presets()
    assert {EXACT, PRECISE, "exact_n65536_p65537", "precise_n65536"} <= set(names)
    assert wl.preset_parameters(EXACT)["p"] == 65537
    assert wl.preset_parameters(PRECISE)["scheme"] == "CKKS"
    with pytest.raises(wl.ParameterError, match="one of CKKS"):
        wl.Context.preset(PRECISE, scheme="BFV")
    with pytest.raises(wl.ParameterError):
        wl.Context.exact_refreshing(modulus=6, progress=False)
    with pytest.raises(wl.NoParameters, match="too few"):
        wl.Context.exact_refreshing(depth=38, progress=False)
    with pytest.raises(wl.ParameterError, match="precision"):
        wl.Context.refreshing(precision=86, progress=False)

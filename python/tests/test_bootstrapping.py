"""Circuits that refresh by themselves."""

from __future__ import annotations

import json
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import World, make

import windlass as wl


@pytest.fixture(scope="module")
def boot() -> World:
    """Integers modulo 257, and keys to refresh."""
    context = wl.Context.preset("insecure_boot_256_p257")
    return make(context, context.bootstrapping(), context.sum(), context.products())


def test_fifty_squares(boot: World, rng: np.random.Generator) -> None:
    values = rng.integers(0, 257, (2, 100))
    x = boot.encrypt(values.astype(np.uint64))
    for _ in range(50):
        x, values = x * x + 1, (values * values + 1) % 257
    np.testing.assert_array_equal(boot.decrypt(x), values)
    np.testing.assert_array_equal(boot.decrypt(x.sum()), values.sum(axis=-1) % 257)


def test_refresh(boot: World) -> None:
    x = boot.encrypt([[1, -2, 3], [4, 5, -6]])
    (way,) = boot.server.bootstrappings
    while x.capacity > way.least_input_bits + 60:
        x = x * boot.encrypt([1, 1, 1])
    before = x.capacity
    told: list[tuple[int, int]] = []
    fresh = x.refresh(progress=lambda done, count: told.append((done, count)))
    assert fresh.capacity > before
    assert fresh.capacity >= way.output_bits
    np.testing.assert_array_equal(boot.decrypt(fresh), [[1, -2, 3], [4, 5, -6]])
    assert told
    assert told == sorted(told)
    assert told[-1][0] <= told[-1][1]
    assert np.array_equal(boot.decrypt(x), boot.decrypt(fresh))


def test_the_plan(boot: World) -> None:
    way = boot.context.bootstrapping()
    assert way == boot.server.bootstrappings[0]
    assert hash(way) == hash(boot.server.bootstrappings[0])
    assert not way.packed
    assert 0 < way.least_input_bits < way.output_bits
    assert 100 < way.failure_bits < 128
    assert set(way.required_keys) <= set(boot.server.galois_elements)
    stages = way.stages()
    assert len(stages) >= 4
    for stage in stages:
        assert set(stage) == {"name", "level", "before", "after", "work", "keys", "times"}
        assert stage["level"] > 0
        assert set(stage["keys"]) <= set(way.required_keys)
    assert any(stage["name"] for stage in stages)
    assert "digit removal" in way.explain()
    assert way.estimated_seconds() > 0
    assert "thin" in repr(way)
    assert "<pre>" in way._repr_html_()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles(boot: World, protocol: int) -> None:
    way = pickle.loads(pickle.dumps(boot.context.bootstrapping(), protocol=protocol))
    assert way == boot.context.bootstrapping()
    server: wl.Server = pickle.loads(pickle.dumps(boot.server, protocol=protocol))
    assert server.bootstrappings == boot.server.bootstrappings
    x = server.receive(boot.client.encrypt([3, 5]))
    for _ in range(30):
        x = x * x
    np.testing.assert_array_equal(
        boot.decrypt(x), [pow(3, 2**30, 257), pow(5, 2**30, 257) - 257 * (pow(5, 2**30, 257) > 128)]
    )


def test_methods_by_name(boot: World) -> None:
    digits = ["halevi-shoup", "chen-han"]
    for name in digits:
        way = boot.context.bootstrapping(digits=name)
        back = pickle.loads(pickle.dumps(way))
        assert back == way
    for option in ("digits", "unpacking", "transform", "partition", "front_end", "keys"):
        names: dict[str, Any] = {option: "no such way"}
        with pytest.raises(wl.UnknownName) as caught:
            boot.context.bootstrapping(**names)
        assert caught.value.given == "no such way"
        assert caught.value.known


def test_keys_of_a_rule(boot: World) -> None:
    free = boot.context.bootstrapping()
    few = boot.context.bootstrapping(keys="minimal")
    assert len(few.required_keys) < len(free.required_keys)
    assert pickle.loads(pickle.dumps(few)) == few != free
    most = boot.context.bootstrapping(max_keys=len(few.required_keys))
    assert len(most.required_keys) <= len(few.required_keys)
    with pytest.raises(wl.BootstrapError, match="every plan needs at least") as caught:
        boot.context.bootstrapping(max_keys=0)
    assert "(max_keys)" in str(caught.value) and "::" not in str(caught.value)
    world = make(boot.context, few)
    x = world.server.receive(world.client.encrypt([2, 3]))
    np.testing.assert_array_equal(world.decrypt(x.refresh(progress=False))[:2], [2, 3])


def test_slots_of_higher_degree(rng: np.random.Generator) -> None:
    context = wl.Context.preset("insecure_boot_105")
    world = make(context, context.bootstrapping(packed=True), context.products())
    values = rng.integers(0, 2, (context.slots, context.slot_degree))
    x = world.encrypt(values, elements=True)
    fresh = x.refresh(progress=False)
    np.testing.assert_array_equal(world.decrypt(fresh) % 2, values)
    (way,) = world.server.bootstrappings
    assert way.packed
    # A field of 2^12 elements: squaring twelve times changes nothing, on and on.
    power = x
    for _ in range(36):
        power = power * power
    np.testing.assert_array_equal(world.decrypt(power) % 2, values)


def test_bits(rng: np.random.Generator) -> None:
    context = wl.Context.preset("insecure_boot_105")
    world = make(context, context.bootstrapping(), context.products())
    a, b = rng.integers(0, 2, (2, 3, 4))
    x, y = world.encrypt(a), world.encrypt(b)
    for _ in range(20):
        x, a = x * y + 1, (a * b + 1) % 2
        y, b = y + x, (b + a) % 2
    np.testing.assert_array_equal(world.decrypt(x) % 2, a)
    np.testing.assert_array_equal(world.decrypt(y) % 2, b)


def modulo(p: int, tmp_path: pathlib.Path) -> wl.Context:
    """The toy ring that bootstraps, with another plaintext modulus."""
    wl.Context.preset("insecure_boot_256_p257").save(tmp_path / "own.json")
    text = json.loads((tmp_path / "own.json").read_text())
    text |= {"name": f"insecure_modulo_{p}", "p": p}
    (tmp_path / "other.json").write_text(json.dumps(text))
    return wl.Context.from_file(tmp_path / "other.json")


def test_refreshes_with_tables(rng: np.random.Generator, tmp_path: pathlib.Path) -> None:
    context = modulo(17, tmp_path)
    world = make(context, context.bootstrapping(), context.sum(), context.products())
    values = rng.integers(-8, 9, (3, 5))
    x = world.encrypt(values)
    table = rng.integers(0, 17, 17)
    told: list[tuple[int, int]] = []
    image = x.refresh(table=table, progress=lambda done, count: told.append((done, count)))
    assert image.shape == x.shape
    np.testing.assert_array_equal(world.decrypt(image) % 17, table[values])
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
    # Slots beside the entries hold the value at 0, and sums leave them out.
    for at_zero in (0, 3):
        squares = [at_zero] + [int(v) * int(v) % 17 for v in range(1, 17)]
        image = x.refresh(table=squares, progress=False)
        expected = np.asarray(squares)[values % 17]
        np.testing.assert_array_equal(world.decrypt(image) % 17, expected)
        np.testing.assert_array_equal(world.decrypt(image.sum()) % 17, expected.sum(axis=-1) % 17)
    # Negative values, lists, unsigned integers: all that integers are written as.
    for own in ([-(v % 9) for v in range(17)], np.arange(17, dtype=np.uint8)):
        image = x.refresh(table=own, progress=False)
        np.testing.assert_array_equal(
            world.decrypt(image) % 17, np.asarray(own, dtype=np.int64)[values % 17] % 17
        )
    # A sum over all slots stays one.
    total = x.sum(keepdims=True).refresh(table=np.arange(17), progress=False)
    np.testing.assert_array_equal(
        world.decrypt(x - total) % 17, (values - values.sum(axis=-1, keepdims=True)) % 17
    )


def test_tables_that_are_refused(boot: World) -> None:
    context = wl.Context.preset("insecure_boot_105")
    world = make(context, context.bootstrapping())
    x = world.encrypt([0, 1, 1])
    with pytest.raises(wl.ShapeError, match="3 values are given, but 2 are needed") as short:
        x.refresh(table=[0, 1, 0])
    assert (short.value.expected, short.value.got) == (2, 3)
    with pytest.raises(wl.ShapeError, match="not an array of shape"):
        x.refresh(table=[[0, 1]])
    with pytest.raises(wl.ShapeError):
        x.refresh(table=[])
    for value in (2, -2, 2**62):
        with pytest.raises(wl.ValueRangeError, match=r"not in \[-1, 2\)") as beyond:
            x.refresh(table=[0, value])
        assert beyond.value.index == 1
    with pytest.raises(wl.DTypeError):
        x.refresh(table=[0.0, 0.5])
    with pytest.raises(wl.DTypeError):
        x.refresh(table="01")
    with pytest.raises(wl.ParameterError, match=r"at most 256, but this one is 257.*context.table"):
        boot.encrypt([1]).refresh(table=range(257))
    real = wl.Context.approximate(depth=1)
    client, server = real.generate_keys()
    with pytest.raises(wl.ParameterError, match="CKKS"):
        server.receive(client.encrypt([0.5])).refresh(table=[0, 1])
    elements = world.encrypt(np.ones((context.slots, context.slot_degree), int), elements=True)
    with pytest.raises(wl.NotIntegers):
        elements.refresh(table=[1, 0])
    with pytest.raises(wl.NotBound):
        world.client.encrypt([1]).refresh(table=[1, 0])
    bits = wl.Context.preset("insecure_toy_4095")
    plain = make(bits)
    with pytest.raises(wl.MissingBootstrappingKeys):
        plain.encrypt([1]).refresh(table=[1, 0])


def test_without_keys(toy: World) -> None:
    with pytest.raises(wl.MissingBootstrappingKeys, match="generate_keys"):
        toy.encrypt([1]).refresh()
    with pytest.raises(wl.MissingBootstrappingKeys):
        toy.server.save_bootstrap_keys("nowhere")
    with pytest.raises(wl.NotBound):
        toy.client.encrypt([1]).refresh()


def test_parameters_that_carry_no_bootstrapping(toy: World) -> None:
    with pytest.raises(wl.BootstrapError):
        toy.context.bootstrapping()


def test_keys_and_ways_go_together(boot: World, tmp_path: Any) -> None:
    boot.server.save(tmp_path / "keys")
    boot.server.save_bootstrap_keys(tmp_path / "bootstrap")
    way = boot.context.bootstrapping()
    with pytest.raises(wl.ParameterError):
        boot.context.load_server(tmp_path / "keys", bootstrapping=way)
    with pytest.raises(wl.ParameterError):
        boot.context.load_server(tmp_path / "keys", bootstrap_keys=tmp_path / "bootstrap")
    server = boot.context.load_server(
        tmp_path / "keys", bootstrapping=way, bootstrap_keys=tmp_path / "bootstrap"
    )
    np.testing.assert_array_equal(
        boot.decrypt(server.receive(boot.client.encrypt([3, 4])).refresh()), [3, 4]
    )
    without = boot.context.load_server(tmp_path / "keys")
    with pytest.raises(wl.MissingBootstrappingKeys):
        without.receive(boot.client.encrypt([3, 4])).refresh()
    other = wl.Context.preset("insecure_boot_105").bootstrapping()
    with pytest.raises(wl.WindlassError):
        boot.context.load_server(
            tmp_path / "keys", bootstrapping=other, bootstrap_keys=tmp_path / "bootstrap"
        )

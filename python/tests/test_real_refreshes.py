"""Refreshes of real and complex numbers (CKKS)."""

from __future__ import annotations

import json
import pathlib
import pickle

import numpy as np
import pytest
from conftest import Script, World, make

import windlass as wl

NAME = "insecure_toy_refresh_1024"


@pytest.fixture(scope="module")
def real() -> World:
    """The toy set, and keys to refresh."""
    context = wl.Context.preset(NAME)
    matrix = context.linear(np.eye(8) / 2, folding="never")
    return make(context, context.bootstrapping(), context.products(), context.sum(), matrix)


def spent(world: World, values: object, **options: float) -> wl.Ciphertext:
    """An array without levels."""
    x = world.encrypt(values, **options)  # type: ignore[arg-type]
    while x.depth_left:
        x = 2 * (x * 0.5)
    return x


def test_refresh(real: World) -> None:
    values = np.linspace(-1, 1, 24).reshape(2, 12)
    x = spent(real, values)
    told: list[tuple[int, int]] = []
    fresh = x.refresh(progress=lambda done, count: told.append((done, count)))
    assert (x.depth_left, fresh.depth_left) == (0, real.context.depth)
    assert fresh.shape == x.shape
    np.testing.assert_allclose(real.decrypt(fresh), values, atol=2**-15)
    assert told == sorted(told)
    # Two ciphertexts, each with every stage: side by side on two threads or more.
    rounds = 1 if wl.threads() > 1 else 2
    assert told[-1] == (rounds * len(real.context.bootstrapping().stages()),) * 2
    assert x.precision_bits is not None and fresh.precision_bits is not None
    assert 15 < fresh.precision_bits < x.precision_bits
    worst = np.abs(real.decrypt(fresh) - real.decrypt(x)).max()
    assert -np.log2(worst) > fresh.precision_bits - 1
    # What is not spent is refreshed too.
    np.testing.assert_allclose(real.decrypt(real.encrypt(values).refresh()), values, atol=2**-15)
    complex_values = np.exp(1j * np.arange(5))
    np.testing.assert_allclose(
        real.decrypt(spent(real, complex_values).refresh()), complex_values, atol=2**-15
    )


def test_circuits_refresh_by_themselves(real: World) -> None:
    values = 1 - np.arange(8) / 1000
    x = real.encrypt(values)
    for _ in range(8):
        x, values = x * x, values * values
    np.testing.assert_allclose(real.decrypt(x), values, atol=1e-3)
    low = spent(real, np.linspace(-1, 1, 8))
    half = real.context.linear(np.eye(8) / 2, folding="never")
    np.testing.assert_allclose(real.decrypt(half @ low), np.linspace(-0.5, 0.5, 8), atol=1e-3)
    cubic = real.context.polynomial([0.0, 0.5, 0.0, -0.25])
    expected = 0.5 * np.linspace(-1, 1, 8) - 0.25 * np.linspace(-1, 1, 8) ** 3
    np.testing.assert_allclose(real.decrypt(cubic(low)), expected, atol=1e-3)
    np.testing.assert_allclose(real.decrypt(low.sum()), 0, atol=1e-3)
    np.testing.assert_allclose(real.decrypt(low.var()), np.var(np.linspace(-1, 1, 8)), atol=1e-2)


def test_the_plan(real: World) -> None:
    way = real.context.bootstrapping()
    assert way == real.server.bootstrappings[0]
    assert hash(way) == hash(real.server.bootstrappings[0])
    assert way.context == real.context
    assert not way.packed
    assert way.precision_bits is not None
    assert 18 < way.precision_bits < 40
    assert (way.least_input_bits, way.failure_bits) == (0, 128)
    assert way.output_bits == pytest.approx(120, abs=1)
    assert set(way.required_keys) <= set(real.server.galois_elements)
    stages = way.stages()
    names = [stage["name"] for stage in stages]
    assert names[0] == "raise"
    assert names[4:6] == ["sine, part 1 of 2", "sine, part 2 of 2"]
    assert sorted({key for stage in stages for key in stage["keys"]}) == way.required_keys
    assert "ephemeral key" in way.explain()
    assert "512 slots" in repr(way)
    assert "<pre>" in way._repr_html_()
    assert way.estimated_seconds() > 0
    few = real.context.bootstrapping(max_keys=5)
    assert len(few.required_keys) < len(way.required_keys)
    assert pickle.loads(pickle.dumps(few)) == few != way
    with pytest.raises(wl.ParameterError, match="max_keys only"):
        real.context.bootstrapping(packed=True)
    with pytest.raises(wl.ParameterError, match="max_keys only"):
        real.context.bootstrapping(keys="minimal")


def test_sets_are_planned_for_a_precision() -> None:
    context = wl.Context.refreshing(slots=16, depth=1, precision=12, progress=False)
    way = context.bootstrapping()
    assert context.security >= 128 and way.output_bits > 0
    assert way.precision_bits is not None and way.precision_bits >= 12
    with pytest.raises(wl.NoParameters, match="fewer products"):
        wl.Context.refreshing(depth=150, progress=False)
    with pytest.raises(wl.ParameterError, match="precision"):
        wl.Context.refreshing(precision=float("nan"), progress=False)


def test_sets() -> None:
    names = [name for name in wl.presets() if "refresh" in name]
    assert NAME in names
    assert "refresh_n65536" in names
    known = wl.preset_parameters("refresh_n65536")
    assert (known["scheme"], known["slots"], known["secure"]) == ("CKKS", 2**15, True)
    assert wl.preset_parameters("refresh_n65536_slots256")["slots"] == 256
    assert wl.Context.preset(NAME, scheme="CKKS") == wl.Context.preset(NAME)
    with pytest.raises(wl.ParameterError, match="one of CKKS"):
        wl.Context.preset(NAME, scheme="BFV")
    with pytest.raises(wl.ParameterError):
        wl.Context.preset("insecure_toy_256", scheme="CKKS")


def test_files_of_parameters(real: World, tmp_path: pathlib.Path) -> None:
    real.context.save(tmp_path / "own.json")
    context = wl.Context.from_file(tmp_path / "own.json")
    assert context == real.context
    assert context.bootstrapping() == real.context.bootstrapping()
    assert context.describe() == real.context.describe()
    again: wl.Context = pickle.loads(pickle.dumps(real.context))
    assert again == real.context
    assert again.bootstrapping() == real.context.bootstrapping()
    text = (tmp_path / "own.json").read_text()
    for bad in (
        text[:100],
        text.replace('"n": 1024', '"n": 1000'),
        text.replace("refresh", "refused"),
    ):
        (tmp_path / "bad.json").write_text(bad)
        with pytest.raises(wl.WindlassError):
            wl.Context.from_file(tmp_path / "bad.json")


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles(real: World, protocol: int) -> None:
    server: wl.Server = pickle.loads(pickle.dumps(real.server, protocol=protocol))
    assert server.bootstrappings == real.server.bootstrappings
    x = server.receive(real.client.encrypt([0.5, -0.25]))
    for _ in range(5):
        x = x * 0.5
    np.testing.assert_allclose(real.decrypt(x.refresh()), [2**-6, -(2**-7)], atol=1e-4)


def test_files_of_refreshed_arrays(real: World, tmp_path: pathlib.Path) -> None:
    fresh = spent(real, [0.5, -0.25]).refresh()
    fresh.save(tmp_path / "x.bin")
    for back in (
        real.context.load_ciphertext(tmp_path / "x.bin"),
        pickle.loads(pickle.dumps(fresh)),
    ):
        # Its rare errors stay apart from the others, which all numbers have.
        assert back.precision_bits == pytest.approx(fresh.precision_bits, abs=0.1)
        np.testing.assert_allclose(real.client.decrypt(back), [0.5, -0.25], atol=1e-5)


def test_files_of_keys(real: World, tmp_path: pathlib.Path) -> None:
    assert real.server.save(tmp_path / "keys") > 0
    real.server.save(tmp_path / "ready", ready=True)
    assert real.server.save_bootstrap_keys(tmp_path / "refresh") > 0
    way = real.context.bootstrapping()
    fresh = real.client.encrypt([0.5, -0.25])
    servers = [
        real.context.load_server(
            tmp_path / "keys", bootstrapping=way, bootstrap_keys=tmp_path / "refresh"
        ),
        real.context.map_server(
            tmp_path / "ready", bootstrapping=way, bootstrap_keys=tmp_path / "refresh"
        ),
    ]
    for server in servers:
        assert server.bootstrappings == [way]
        assert server.nbytes == real.server.nbytes
        np.testing.assert_allclose(
            real.decrypt(server.receive(fresh).refresh()), [0.5, -0.25], atol=1e-4
        )
    without = real.context.load_server(tmp_path / "keys")
    with pytest.raises(wl.MissingBootstrappingKeys, match=r"context\.bootstrapping"):
        without.receive(fresh).refresh()
    with pytest.raises(wl.MissingBootstrappingKeys):
        without.save_bootstrap_keys(tmp_path / "none")
    exact = wl.Context.preset("insecure_boot_256_p257").bootstrapping()
    with pytest.raises(wl.OtherContext, match="another context"):
        real.context.load_server(
            tmp_path / "keys", bootstrapping=exact, bootstrap_keys=tmp_path / "refresh"
        )
    whole = (tmp_path / "refresh").read_bytes()
    for bad in (whole[:-1], whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:], whole + b"x"):
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(wl.FileError):
            real.context.load_server(
                tmp_path / "keys", bootstrapping=way, bootstrap_keys=tmp_path / "bad"
            )
    stranger = make(real.context, way)
    stranger.server.save_bootstrap_keys(tmp_path / "stranger")
    mixed = real.context.load_server(
        tmp_path / "keys", bootstrapping=way, bootstrap_keys=tmp_path / "stranger"
    )
    with pytest.raises(wl.OtherKeyPair):
        mixed.receive(fresh).refresh()


def test_bad_input(real: World) -> None:
    large = real.encrypt([3.0], bound=3.0)
    with pytest.raises(wl.BootstrapError, match="assume_bound") as caught:
        large.refresh()
    assert "::" not in str(caught.value)
    np.testing.assert_allclose(real.decrypt((large * 0.25).refresh()), [0.75], atol=1e-4)
    # By itself as well: 3 levels carry the products, the fourth would need a refresh.
    with pytest.raises(wl.BootstrapError, match="the bound on the values"):
        x = real.encrypt([2.0], bound=2.0)
        for _ in range(6):
            x = x * 0.99
    for bad in (np.nan, np.inf, 1.5):
        with pytest.raises(wl.ValueRangeError):
            real.encrypt([bad])
    with pytest.raises(wl.ParameterError, match="CKKS"):
        real.encrypt([0.5]).refresh(table=[0, 1])
    with pytest.raises(wl.NotBound):
        real.client.encrypt([0.5]).refresh()
    with pytest.raises(wl.OtherKeyPair):
        real.server.receive(make(real.context).client.encrypt([0.5])).refresh()
    without = make(real.context, real.context.products())
    with pytest.raises(wl.MissingBootstrappingKeys):
        without.encrypt([0.5]).refresh()
    plain = wl.Context.approximate(depth=1)
    with pytest.raises(wl.BootstrapError, match="begins with refresh"):
        plain.bootstrapping()
    with pytest.raises(wl.OtherContext):
        plain.generate_keys(real.context.bootstrapping())
    with pytest.raises(wl.OtherContext):
        wl.Context.preset("insecure_toy_256").generate_keys(real.context.bootstrapping())


def test_memory_known_to_be_too_small(script: Script) -> None:
    done = script(
        """
import resource
import windlass as wl

context = wl.Context.preset("insecure_toy_refresh_1024")
way = context.bootstrapping()
made = []
with open("/proc/self/statm") as held:
    limit = int(held.read().split()[0]) * resource.getpagesize() + (40 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    context.generate_keys(way, progress=lambda done, count: made.append(done))
except wl.OutOfMemory as error:
    print(len(made), error.bytes > 40 << 20)
"""
    )
    assert done.stdout.split() == ["0", "True"], (done.stdout, done.stderr)


def test_fewer_slots_than_the_ring_has(tmp_path: pathlib.Path) -> None:
    wl.Context.preset(NAME).save(tmp_path / "own.json")
    text = (tmp_path / "own.json").read_text()
    own = {"slots": "16", "to_slots": "[2, 2]", "to_coefficients": "[2, 2]"}
    fields = json.loads(text) | {name: json.loads(value) for name, value in own.items()}
    (tmp_path / "sparse.json").write_text(json.dumps(fields))
    context = wl.Context.from_file(tmp_path / "sparse.json")
    assert context.slots == 16
    world = make(context, context.bootstrapping(), context.products(), context.sum(16))
    values = np.cos(np.arange(40))
    x = world.encrypt(values)
    assert x.ciphertexts == 3
    for _ in range(5):
        x, values = x * x, values * values
    np.testing.assert_allclose(world.decrypt(x), values, atol=1e-3)
    np.testing.assert_allclose(world.decrypt(x.refresh().sum()), values.sum(), atol=1e-2)


def test_threads(real: World, keep_threads: None) -> None:
    values = [0.5, -0.25]
    x = spent(real, values)
    images = []
    for threads in (1, 2):
        wl.set_threads(threads)
        images.append(real.decrypt(x.refresh(progress=False)))
    np.testing.assert_array_equal(images[0], images[1])


def test_interrupts_stop_a_refresh(script: Script) -> None:
    done = script(
        """
import _thread, threading, time
import numpy as np
import windlass as wl

context = wl.Context.preset("insecure_toy_refresh_1024")
client, server = context.generate_keys(context.bootstrapping(), progress=False)
x = server.receive(client.encrypt(np.zeros((4000, 8))))
x.refresh  # The constants are made in the first call.
threading.Timer(1.0, _thread.interrupt_main).start()
start = time.monotonic()
try:
    x.refresh(progress=False)
    print("not stopped")
except KeyboardInterrupt:
    print("stopped", time.monotonic() - start < 20)
"""
    )
    assert done.stdout.split() == ["stopped", "True"], (done.stdout, done.stderr)


def test_plots() -> None:
    pytest.importorskip("matplotlib")
    figure = wl.Context.preset(NAME).bootstrapping().plot()
    assert [axes.get_title() for axes in figure.axes] == [
        "capacity along the stages",
        "keys by stage",
    ]
    assert "CKKS" in figure.get_suptitle()

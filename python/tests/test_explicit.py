"""Contexts with explicit steps, against NumPy, and what they refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import windlass as wl

CKKS = wl.ExplicitContext.ckks(8192, [2**50, 2**40, 2**40], special=[2**50])
BGV = wl.ExplicitContext.bgv(4096, [2**40, 2**30], special=[2**45], modulus=65537, insecure=True)
RNG = np.random.default_rng(5)
SCALE = 2.0**40


def test_a_product_of_ckks_step_by_step() -> None:
    x, y = RNG.uniform(-1, 1, (2, 4096))
    client, server = CKKS.generate_keys(rotations=[1])
    a = client.encrypt(x, level=2, scale=SCALE)
    product = server.multiply(a, client.encrypt(y, level=2, scale=SCALE))
    assert (product.size, product.level, product.scale) == (3, 2, 2.0**80)
    relinearised = server.relinearize(product)
    rescaled = server.rescale(relinearised)
    (step,) = CKKS.steps[2]
    assert (rescaled.size, rescaled.level, rescaled.scale) == (2, 1, 2.0**80 / step)
    for ct in (product, relinearised, rescaled, server.rescale(product)):
        found = client.decrypt(ct)
        assert found.dtype == np.complex128 and ct.error_bound < 1e-4
        assert np.abs(found - x * y).max() <= ct.error_bound
    assert np.abs(client.decrypt(server.rotate(a, 1)) - np.roll(x, -1)).max() < 1e-7
    weights = CKKS.encode([0.5, -0.25], level=2, scale=SCALE)
    summed = server.sub_plain(server.negate(a), weights)
    assert np.abs(client.decrypt(summed) + x + np.tile([0.5, -0.25], 2048)).max() < 1e-7
    assert server.level_reduce(a).level == 1 and server.level_reduce(a, 2).level == 0
    assert rescaled.room_bits > 40 and rescaled.noise_bits < 40


def test_bgv_tracks_the_plaintext_factor() -> None:
    x, y = RNG.integers(-1000, 1000, (2, 4096))
    client, server = BGV.generate_keys(rotations=[-2])
    a, b = (client.encrypt(v, level=1, scale=3) for v in (x, y))
    total = server.add(a, b)
    switched = server.rescale(total)
    (step,) = BGV.steps[1]
    assert switched.scale == 3 * pow(step, -1, 65537) % 65537
    assert client.decrypt(switched).dtype == np.int64
    np.testing.assert_array_equal(client.decrypt(switched), x + y)
    moved = client.decrypt(server.rotate(a, -2)).reshape(2, 2048)
    np.testing.assert_array_equal(moved, np.roll(x.reshape(2, 2048), 2, axis=1))
    plain = BGV.encode([2, 3], level=1, scale=1)
    np.testing.assert_array_equal(
        client.decrypt(server.multiply_plain(a, plain)), x * np.tile([2, 3], 2048)
    )


def test_refusals_name_the_remedy() -> None:
    client, server = CKKS.generate_keys(relinearisation=False)
    a = client.encrypt([0.5], level=2, scale=SCALE)
    lower = server.level_reduce(a)
    with pytest.raises(wl.ParameterError, match=r"levels 2 and 1; call level_reduce\(1\)"):
        server.add(a, lower)
    with pytest.raises(wl.ParameterError, match=r"generate_keys\(scale_tolerance=\.\.\.\)"):
        server.add(a, client.encrypt([0.5], level=2, scale=2.0**39))
    square = server.multiply(a, a)
    with pytest.raises(wl.ParameterError, match="call relinearize first"):
        server.rotate(square, 1)
    with pytest.raises(wl.MissingRelinearisationKey, match=r"ExplicitContext\.generate_keys"):
        server.relinearize(square)
    with pytest.raises(wl.MissingGaloisKey, match=r"name 5 in ExplicitContext\.generate_keys"):
        server.rotate(a, 5)
    with pytest.raises(wl.CapacityExhausted, match="longer chain"):
        server.rescale(server.level_reduce(a, 2))
    with pytest.raises(wl.CapacityExhausted) as refused:
        server.level_reduce(square, 2)
    assert (refused.value.needed_bits or 0) > (refused.value.left_bits or 0) > 0
    with pytest.raises(wl.OtherKeyPair):
        CKKS.generate_keys()[0].decrypt(a)
    with pytest.raises(wl.ValueRangeError, match="larger bound"):
        client.encrypt([2.0], level=2, scale=SCALE)
    for values, error in (([[0.5]], wl.ShapeError), (["a"], wl.DTypeError)):
        with pytest.raises(error):
            client.encrypt(values, level=2, scale=SCALE)
    with pytest.raises(wl.DTypeError):
        BGV.encode([0.5], level=0, scale=1)
    with pytest.raises(TypeError):
        pickle.dumps(a)


def test_the_security_of_the_chain_is_checked() -> None:
    with pytest.raises(wl.InsecureParameters):
        wl.ExplicitContext.ckks(4096, [2**50, 2**40], special=[2**50])
    toy = wl.ExplicitContext.ckks(4096, [2**50, 2**40], special=[2**50], insecure=True)
    assert toy.security < 128 <= CKKS.security and toy.top_level == 1 and toy.slots == 2048
    assert "bits of security" in repr(toy)
    with pytest.raises(wl.ParameterError):
        wl.ExplicitContext.ckks(4096, [2**20], special=[2**50], insecure=True)
    with pytest.raises(wl.ParameterError):
        wl.ExplicitContext.bgv(4096, [2**40], special=[2**40], modulus=257, insecure=True)

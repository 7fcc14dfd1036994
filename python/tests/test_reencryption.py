"""Arrays that are brought to another key pair."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import windlass as wl

CONTEXTS = [
    lambda: wl.Context.preset("insecure_toy_256"),
    lambda: wl.Context.approximate(depth=1, scale_bits=40, slots=8),
]


@pytest.mark.parametrize("make", CONTEXTS)
def test_arrays_are_brought_to_another_key_pair(make: Callable[[], wl.Context]) -> None:
    context = make()
    old, server = context.generate_keys(context.products())
    new, new_server = context.generate_keys(context.products())
    values = np.array([1, 0, 1]) if context.scheme != "CKKS" else np.array([0.5, -0.25, 0.75])
    x = server.receive(old.encrypt(values))
    receiving = wl.ReceivingKey.from_bytes(context, new.receiving_key().to_bytes())
    for key in [old.reencryption_key(new), old.delegation_key(receiving)]:
        again = wl.ReencryptionKey.from_bytes(context, key.to_bytes())
        y = (x * x).reencrypt(again)
        np.testing.assert_allclose(new.decrypt(y), values * values, atol=1e-4)
        with pytest.raises(wl.OtherKeyPair):
            old.decrypt(y)
        fresh = old.encrypt(values).reencrypt(key)
        z = new_server.receive(fresh)
        np.testing.assert_allclose(new.decrypt(z * z), values * values, atol=1e-4)
        with pytest.raises(wl.OtherKeyPair):
            new.encrypt(values).reencrypt(key)


def test_other_parameters_and_files_are_refused(tmp_path: Path) -> None:
    context = wl.Context.preset("insecure_toy_256")
    one, _ = context.generate_keys()
    other, _ = wl.Context.approximate(depth=1, scale_bits=40, slots=8).generate_keys()
    with pytest.raises(wl.OtherContext):
        one.reencryption_key(other)
    with pytest.raises(wl.OtherContext):
        one.delegation_key(other.receiving_key())
    key = one.reencryption_key(one)
    assert key.save(tmp_path / "key") == len(key.to_bytes())
    with pytest.raises(wl.FileExists):
        key.save(tmp_path / "key")
    data = key.to_bytes()
    for end in [0, 10, len(data) // 2, len(data) - 1]:
        with pytest.raises(wl.FileError):
            wl.ReencryptionKey.from_bytes(context, data[:end])
    with pytest.raises(wl.FileError):
        wl.ReceivingKey.from_bytes(context, data)

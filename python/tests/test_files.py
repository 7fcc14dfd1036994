"""Files: written and read by Python, and by the command line."""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import World

import windlass as wl

PRESET = "insecure_boot_256_p257"


@pytest.mark.parametrize("name", ["toy", "wide", "bits", "reals"])
def test_everything_is_written_and_read(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    world: World = request.getfixturevalue(name)
    exact = world.context.scheme != "CKKS"
    values: Any = np.array([1, 0, 1] if exact else [0.5, -0.25, 0.0])
    assert world.client.save_secret(tmp_path / "secret.key") > 0
    assert world.server.save(tmp_path / "evaluation.keys") > 0
    encryptor = world.client.encryptor()
    assert encryptor.save(tmp_path / "public.key") == encryptor.nbytes
    world.client.encrypt(values).save(tmp_path / "x.bin")
    world.context.save(tmp_path / "parameters.json")

    context = wl.Context.from_file(tmp_path / "parameters.json")
    assert context.parameters_json() == world.context.parameters_json()
    client = context.load_client(str(tmp_path / "secret.key"))
    server = context.load_server(tmp_path / "evaluation.keys")
    assert server.galois_elements == world.server.galois_elements
    fresh = context.load_encryptor(tmp_path / "public.key").encrypt(values)
    loaded = context.load_ciphertext(tmp_path / "x.bin")
    for encrypted in (fresh, loaded):
        x = server.receive(encrypted)
        for opener in (client, world.client):
            back = np.asarray(opener.decrypt(x * x + x))[:3]
            wanted = values * values + values
            if exact:
                np.testing.assert_array_equal((back - wanted) % (context.modulus or 1), 0)
            else:
                np.testing.assert_allclose(back, wanted, atol=1e-6)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of Unix")
def test_a_secret_is_for_its_owner_alone(toy: World, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        toy.client.save_secret(tmp_path / "secret.key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["toy", "reals"])
def test_a_passphrase_encrypts_a_secret(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    world: World = request.getfixturevalue(name)
    path = tmp_path / "secret.key"
    size = world.client.save_secret(path, passphrase="größer als π")
    assert size == path.stat().st_size
    plain = tmp_path / "plain.key"
    assert world.client.save_secret(plain) < size
    assert plain.read_bytes()[68:100] not in path.read_bytes()
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for same in ("größer als π", "größer als π".encode()):
        client = world.context.load_client(path, passphrase=same)
        np.testing.assert_allclose(client.decrypt(world.client.encrypt([1, 0])), [1, 0], atol=1e-6)
    with pytest.raises(wl.PassphraseNeeded, match=r"secret\.key: .* encrypted") as needed:
        world.context.load_client(path)
    assert isinstance(needed.value, wl.FileError)
    assert str(needed.value.filename) == str(path)
    for wrong in ("größer als", "a guess", b"\0"):
        with pytest.raises(wl.WrongPassphrase, match="cannot distinguish the two") as refused:
            world.context.load_client(path, passphrase=wrong)
        assert str(wrong) not in str(refused.value)
    with pytest.raises(wl.FileError, match="not encrypted"):
        world.context.load_client(plain, passphrase="a guess")
    empty: list[str | bytes] = ["", b""]
    for nothing in empty:
        with pytest.raises(wl.ParameterError, match="empty"):
            world.client.save_secret(tmp_path / "new.key", passphrase=nothing)
    with pytest.raises(wl.DTypeError, match="str or bytes, not int"):
        world.context.load_client(path, passphrase=3)  # type: ignore[arg-type]
    assert sorted(tmp_path.iterdir()) == [plain, path]


def test_an_encrypted_secret_of_another_context_is_refused_before_its_passphrase(
    toy: World, wide: World, reals: World, tmp_path: Path
) -> None:
    path = tmp_path / "secret.key"
    toy.client.save_secret(path, passphrase="two or three words")
    for other in (wide.context, reals.context):
        for passphrase in (None, "two or three words", "a guess"):
            with pytest.raises(wl.OtherContext):
                other.load_client(path, passphrase=passphrase)
    with pytest.raises(wl.PassphraseNeeded):
        toy.context.load_client(path)


def test_damage_to_an_encrypted_secret_is_no_wrong_passphrase(toy: World, tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    toy.client.save_secret(path, passphrase="two or three words")
    good = path.read_bytes()
    bad = tmp_path / "bad"
    for place in range(0, len(good), 7):
        altered = bytearray(good)
        altered[place] ^= 4
        for text in (bytes(altered), good[:place]):
            bad.write_bytes(text)
            with pytest.raises((wl.FileError, wl.OtherContext)) as caught:
                toy.context.load_client(bad, passphrase="two or three words")
            assert not isinstance(caught.value, wl.WrongPassphrase)


def test_nothing_is_written_over(toy: World, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"mine")
    saves: list[Callable[[Path], object]] = [
        toy.client.save_secret,
        toy.server.save,
        toy.client.encryptor().save,
        toy.encrypt([1]).save,
        toy.context.save,
    ]
    for save in saves:
        with pytest.raises(wl.FileExists) as caught:
            save(path)
        assert isinstance(caught.value, FileExistsError)
        assert path.read_bytes() == b"mine"
        with pytest.raises(wl.FileError):
            save(tmp_path / "no such directory" / "file")
    assert list(tmp_path.iterdir()) == [path]


def loads(context: wl.Context) -> list[Callable[[Path], object]]:
    """Everything that reads a file."""
    return [
        context.load_client,
        context.load_server,
        context.load_encryptor,
        context.load_ciphertext,
        wl.Context.from_file,
    ]


def test_files_that_are_not_there(toy: World, tmp_path: Path) -> None:
    for load in loads(toy.context):
        with pytest.raises(wl.MissingFile) as caught:
            load(tmp_path / "nothing")
        assert isinstance(caught.value, FileNotFoundError)
        with pytest.raises(wl.FileError):
            load(tmp_path)
        with pytest.raises((wl.FileError, ValueError)):
            load(tmp_path / "nul\0byte")
        with pytest.raises(TypeError):
            load(3)  # type: ignore[arg-type]


def test_errors_name_the_file(toy: World, tmp_path: Path) -> None:
    for load in loads(toy.context)[:-1]:
        with pytest.raises(wl.MissingFile, match=r"nothing: no such file") as caught:
            load(tmp_path / "nothing")
        assert str(caught.value.filename) == str(tmp_path / "nothing")


def test_errors_of_parameters_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(wl.MissingFile, match=r"nothing: no such file"):
        wl.Context.from_file(tmp_path / "nothing")


@pytest.mark.parametrize("text", [b"", b"\0", b"windlass", b"{}", os.urandom(1000), b"\xff" * 5000])
def test_files_of_anything_else(toy: World, tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(text)
    for load in loads(toy.context):
        with pytest.raises(wl.FileError):
            load(path)


def test_files_of_another_kind_or_context(
    toy: World, wide: World, reals: World, tmp_path: Path
) -> None:
    names: list[tuple[str, Callable[[Path], object]]] = [
        ("secret", toy.client.save_secret),
        ("server", toy.server.save),
        ("public", toy.client.encryptor().save),
        ("ciphertext", toy.client.encrypt([1]).save),
    ]
    for name, save in names:
        save(tmp_path / name)
    for context in (wide.context, reals.context):
        for (name, _), load in zip(names, loads(context), strict=False):
            with pytest.raises((wl.OtherContext, wl.FileError)):
                load(tmp_path / name)
    right = [("secret", 0), ("server", 1), ("public", 2), ("ciphertext", 3)]
    for name, number in right:
        for other, load in enumerate(loads(toy.context)):
            if other != number:
                with pytest.raises(wl.WindlassError):
                    load(tmp_path / name)


def test_altered_and_truncated_files(toy: World, tmp_path: Path, rng: np.random.Generator) -> None:
    toy.client.encrypt([1, 2, 3]).save(tmp_path / "good")
    toy.client.save_secret(tmp_path / "secret")
    for name, load in (("good", toy.context.load_ciphertext), ("secret", toy.context.load_client)):
        good = (tmp_path / name).read_bytes()
        bad = tmp_path / "bad"
        for place in range(0, len(good), max(1, len(good) // 200)):
            altered = bytearray(good)
            altered[place] ^= int(rng.integers(1, 256))
            for text in (bytes(altered), good[:place]):
                bad.write_bytes(text)
                with pytest.raises((wl.FileError, wl.OtherContext, wl.OtherKeyPair)):
                    load(bad)
        bad.write_bytes(good + b"\0")
        with pytest.raises(wl.FileError):
            load(bad)


def test_altered_parameters(toy: World, tmp_path: Path) -> None:
    context = wl.Context.plan(modulus=257, depth=1)
    fields = json.loads(context.parameters_json())
    path = tmp_path / "parameters.json"
    changes: list[dict[str, Any]] = []
    for name, value in fields.items():
        others: list[Any] = [None, [], {}, "", -1, 0, 2**70, 1e308, "x" * 1000, True]
        for bad in others:
            if bad != value:
                changes.append({**fields, name: bad})
        changes.append({key: value for key, value in fields.items() if key != name})
    accepted = 0
    for change in changes:
        path.write_text(json.dumps(change), encoding="utf-8")
        try:
            read = wl.Context.from_file(path)
        except wl.WindlassError as error:
            assert not isinstance(error, wl.InternalError)
        else:
            # Names and the like may differ; never the security of what calls itself secure.
            accepted += 1
            assert read.security >= 128
    assert accepted < len(changes) // 4


def test_arrays(toy: World, reals: World, tmp_path: Path) -> None:
    cases: list[tuple[World, Any]] = [
        (toy, np.arange(3)),
        (toy, np.arange(300) % 60),
        (toy, np.arange(6, dtype=np.uint8).reshape(2, 3)),
        (toy, np.arange(600).reshape(2, 300) % 60),
        (reals, np.linspace(-1, 1, 10)),
        (reals, np.linspace(-1, 1, 10).reshape(2, 5) * 1j),
    ]
    for number, (world, values) in enumerate(cases):
        path = tmp_path / f"{number}.bin"
        encrypted = world.client.encrypt(values)
        assert encrypted.save(path) == path.stat().st_size
        back = world.context.load_ciphertext(path)
        assert (back.shape, back.dtype) == (encrypted.shape, encrypted.dtype)
        np.testing.assert_allclose(world.decrypt(back), values, atol=1e-6)
        total = world.decrypt(world.server.receive(back) + world.server.receive(encrypted))
        np.testing.assert_allclose(total, 2 * values.astype(total.dtype), atol=1e-6)


def test_files_have_rows_and_columns_and_pickles_shapes(toy: World, tmp_path: Path) -> None:
    # As save, load_ciphertext and docs/reference/limits.md say.
    cases: list[tuple[Any, tuple[int, ...]]] = [(5, (1,)), ([[5]], (1,)), ([[1, 2, 3]], (3,))]
    cases += [([[1], [2], [3]], (3, 1)), ([1, 2, 3], (3,))]
    for number, (values, shape) in enumerate(cases):
        encrypted = toy.client.encrypt(values)
        encrypted.save(tmp_path / str(number))
        back = toy.context.load_ciphertext(tmp_path / str(number))
        assert back.shape == shape
        assert toy.decrypt(back).reshape(np.shape(values)).tolist() == np.asarray(values).tolist()
        assert pickle.loads(pickle.dumps(encrypted)).shape == np.shape(values)


def test_arrays_that_files_do_not_hold(toy: World, bits: World, tmp_path: Path) -> None:
    others = [toy.encrypt(np.zeros((2, 2, 2), int)), toy.encrypt(np.ones((2, 3), int)).sum()]
    others.append(bits.encrypt(np.zeros((60, 10), int), elements=True))
    for encrypted in others:
        with pytest.raises(wl.ShapeError):
            encrypted.save(tmp_path / "file")
    with pytest.raises(wl.ShapeError):
        toy.encrypt(np.zeros(200, int)).save(tmp_path / "file", single=True)
    assert list(tmp_path.iterdir()) == []
    toy.encrypt([1, 2, 3]).save(tmp_path / "file", single=True)
    back = toy.context.load_ciphertext(tmp_path / "file")
    assert back.shape == (toy.context.slots,)
    np.testing.assert_array_equal(toy.decrypt(back)[:4], [1, 2, 3, 0])


@pytest.mark.parametrize("name", ["toy", "reals"])
def test_keys_ready_for_use(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    world: World = request.getfixturevalue(name)
    one = 1 if name == "toy" else 0.5
    assert world.server.save(tmp_path / "ready", ready=True) == (tmp_path / "ready").stat().st_size
    buffer = world.server.ready_bytes()
    frozen = bytes(buffer)
    servers = [world.context.map_server(tmp_path / "ready")]
    servers += [world.context.server_from_ready(given) for given in (buffer, frozen)]
    (tmp_path / "ready").unlink()
    for server in servers:
        assert server.galois_elements == world.server.galois_elements
        x = server.receive(world.client.encrypt([one, one, 0]))
        np.testing.assert_allclose(world.decrypt(x * x), [one * one, one * one, 0], atol=1e-6)
        assert world.decrypt(x.sum()) == pytest.approx(2 * one, abs=1e-6)
    # What is not whole is refused, and so is what belongs to others.
    altered = bytearray(frozen)
    altered[len(altered) // 2] ^= 1
    for bad in (b"", frozen[:-1], frozen[:100], bytes(altered), frozen + b"\0"):
        with pytest.raises(wl.FileError):
            world.context.server_from_ready(bad)
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(wl.FileError):
            world.context.map_server(tmp_path / "bad")
    with pytest.raises(wl.MissingFile):
        world.context.map_server(tmp_path / "nothing")
    with pytest.raises((wl.OtherContext, wl.FileError)):
        wl.Context.preset("insecure_toy_105").server_from_ready(frozen)


@pytest.mark.parametrize("name", ["toy", "reals"])
def test_prepared_constants(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    world: World = request.getfixturevalue(name)
    matrix: Any = np.arange(12).reshape(3, 4) % 5
    if name == "reals":
        matrix = matrix / 8
    layer = world.context.linear(matrix)
    client, server = world.context.generate_keys(layer, progress=False)
    values = np.array([1, 0, 1, 1]) if name == "toy" else np.array([0.5, 0.0, 0.25, 0.5])
    x = server.receive(client.encrypt(values))
    wanted = matrix @ values
    layer.prepare(server)
    layer.prepare(server, x)
    prepared = layer.prepared(server)
    assert prepared.nbytes > 0
    layer.save_prepared(server, tmp_path / "constants")
    for protocol in (2, 3, 4, 5):
        again: wl.PreparedPlan = pickle.loads(pickle.dumps(prepared, protocol=protocol))
        plan = again.install(server)
        np.testing.assert_allclose(client.decrypt(plan @ x), wanted, atol=1e-6)
    server.forget()
    layer.map_prepared(server, tmp_path / "constants")
    np.testing.assert_allclose(client.decrypt(layer @ x), wanted, atol=1e-6)
    other = world.context.linear(matrix + 1)
    with pytest.raises(wl.WindlassError):
        other.map_prepared(server, tmp_path / "constants")
    text = (tmp_path / "constants").read_bytes()
    (tmp_path / "bad").write_bytes(text[:-1])
    with pytest.raises(wl.FileError):
        layer.map_prepared(server, tmp_path / "bad")


def test_keys_of_another_pair_are_refused(toy: World, other_toy: World, tmp_path: Path) -> None:
    other_toy.server.save(tmp_path / "keys")
    server = toy.context.load_server(tmp_path / "keys")
    x = server.receive(toy.client.encrypt([1, 2]))
    with pytest.raises(wl.OtherKeyPair):
        x * x


# The command line.


def run(command: str, *arguments: object) -> dict[str, Any]:
    """What the command prints as JSON."""
    words = [command, "--json", "--threads", "1", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_keys_of_the_command_line(command: str, tmp_path: Path) -> None:
    run(command, "refresh", "keygen", "--preset", PRESET, "--out", tmp_path / "keys")
    keys = tmp_path / "keys"
    context = wl.Context.preset(PRESET)
    client = context.load_client(keys / "secret.key")
    way = context.bootstrapping()
    server = context.load_server(
        keys / "evaluation.keys", bootstrapping=way, bootstrap_keys=keys / "bootstrap.keys"
    )
    values = np.arange(-10, 10)
    x = server.receive(context.load_encryptor(keys / "public.key").encrypt(values))
    for _ in range(30):
        x, values = x * x + 1, (values * values + 1) % 257
    np.testing.assert_array_equal(client.decrypt(x, dtype="uint64"), values)

    # What Python computed is read by the command line.
    x.save(tmp_path / "x.bin", single=True)
    preset = ["--preset", PRESET]
    secret = ["--secret-key", keys / "secret.key"]
    told = run(command, "refresh", "decrypt", *preset, *secret, "--in", tmp_path / "x.bin")
    assert [v % 257 for v in told["values"][: len(values)]] == values.tolist()

    # And what the command line encrypted is read by Python.
    given = ["--values", "3,1,4,1,5", "--out", tmp_path / "y.bin"]
    run(command, "refresh", "encrypt", *preset, *secret, *given)
    y = server.receive(context.load_ciphertext(tmp_path / "y.bin"))
    assert y.shape == (context.slots,)
    np.testing.assert_array_equal(client.decrypt(y)[:6], [3, 1, 4, 1, 5, 0])
    refreshed = y.refresh()
    assert refreshed.capacity > y.capacity
    np.testing.assert_array_equal(client.decrypt(refreshed)[:6], [3, 1, 4, 1, 5, 0])


def test_encrypted_keys_of_both_sides(command: str, tmp_path: Path) -> None:
    words = tmp_path / "passphrase"
    words.write_bytes(b"two or three words\n")
    context = wl.Context.preset(PRESET)
    client, _ = context.generate_keys(progress=False)
    client.save_secret(tmp_path / "sealed.key", passphrase="two or three words")
    given = ["--passphrase-file", words]
    run(command, "key", "open", "--in", tmp_path / "sealed.key", *given, "--out", tmp_path / "open")
    client.save_secret(tmp_path / "plain")
    assert (tmp_path / "open").read_bytes() == (tmp_path / "plain").read_bytes()
    run(command, "key", "seal", "--in", tmp_path / "plain", *given, "--out", tmp_path / "again.key")
    again = context.load_client(tmp_path / "again.key", passphrase="two or three words")
    np.testing.assert_array_equal(again.decrypt(client.encrypt([3, 1])), [3, 1])


def test_keys_of_python_on_the_command_line(command: str, tmp_path: Path) -> None:
    context = wl.Context.preset(PRESET)
    client, server = context.generate_keys(context.bootstrapping(), progress=False)
    client.save_secret(tmp_path / "secret.key")
    server.save(tmp_path / "evaluation.keys")
    server.save_bootstrap_keys(tmp_path / "bootstrap.keys")
    x = server.receive(client.encrypt([7, -8, 9]))
    x.save(tmp_path / "x.bin", single=True)
    preset = ["--preset", PRESET]
    keys = ["--evaluation-keys", tmp_path / "evaluation.keys"]
    keys += ["--bootstrap-keys", tmp_path / "bootstrap.keys"]
    files = ["--in", tmp_path / "x.bin", "--out", tmp_path / "y.bin"]
    run(command, "refresh", "apply", *preset, *keys, *files)
    secret = ["--secret-key", tmp_path / "secret.key", "--in", tmp_path / "y.bin"]
    told = run(command, "refresh", "decrypt", *preset, *secret)
    assert [v % 257 for v in told["values"]] == [7, 249, 9]
    back = client.decrypt(context.load_ciphertext(tmp_path / "y.bin"))
    np.testing.assert_array_equal(back[:4], [7, -8, 9, 0])


def test_a_file_says_how_ciphertexts_come_under_the_ephemeral_key(tmp_path: Path) -> None:
    said = json.loads(wl.Context.preset(PRESET).parameters_json())
    assert said["windlass_parameters"] == 2
    said |= {"windlass_parameters": 3, "encapsulation": "digits"}
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    context = wl.Context.from_file(path)
    for same in (context, pickle.loads(pickle.dumps(context))):
        assert json.loads(same.parameters_json()) == said
        client, server = same.generate_keys(same.bootstrapping())
        refreshed = server.receive(client.encrypt([7, -8, 9])).refresh()
        np.testing.assert_array_equal(client.decrypt(refreshed), [7, -8, 9])


def test_parameters_of_the_command_line(command: str, tmp_path: Path) -> None:
    path = tmp_path / "parameters.json"
    run(command, "params", "plan", "--modulus", 257, "--depth", 2, "--out", path)
    context = wl.Context.from_file(path)
    assert context.modulus == 257
    assert context.depth >= 2
    assert context.security >= 128
    assert json.loads(context.parameters_json()) == json.loads(path.read_text(encoding="utf-8"))
    wl.Context.plan(modulus=2**8, depth=1).save(tmp_path / "mine.json")
    told = run(command, "params", "show", tmp_path / "mine.json")
    assert "256" in json.dumps(told) or "8" in json.dumps(told)
    assert json.dumps(told).count("security") > 0


def test_a_parameter_file_of_any_size_is_refused_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    with path.open("wb") as file:
        file.truncate(1 << 33)  # more than is read, and more than fits into memory twice
    with pytest.raises(wl.FileError, match="longer than 65536 bytes"):
        wl.Context.from_file(path)

"""Pickles of everything by every protocol; truncated, altered and foreign ones."""

from __future__ import annotations

import copy
import io
import pickle
import pickletools
from typing import Any

import numpy as np
import pytest
from conftest import Script, World, make

import windlass as wl
from windlass import errors

PROTOCOLS = [2, 3, 4, 5]


class Strict(pickle.Unpickler):
    """Finds what reads the bytes of windlass and arrays of NumPy, and nothing else."""

    names: set[str]

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Refuses everything that could run other code."""
        name = f"{module_name}.{global_name}"
        allowed = (
            name.startswith("windlass._windlass.restore_")
            or name in {"numpy.ndarray", "numpy.dtype", "_codecs.encode", "__builtin__.bytes"}
            or name.endswith(("._reconstruct", "._frombuffer"))
        )
        if not allowed:
            raise pickle.UnpicklingError(f"{name} is not expected in a pickle of windlass")
        return super().find_class(module_name, global_name)


def dumps(thing: object, protocol: int, apart: bool) -> tuple[bytes, list[bytes]]:
    """A pickle, and its buffers where they go apart."""
    buffers: list[pickle.PickleBuffer] = []
    if apart:
        text = pickle.dumps(thing, protocol=protocol, buffer_callback=buffers.append)
    else:
        text = pickle.dumps(thing, protocol=protocol)
    return text, [bytes(buffer.raw()) for buffer in buffers]


def ways() -> list[tuple[int, bool]]:
    """Every protocol, the fifth also with buffers out of band."""
    return [(protocol, False) for protocol in PROTOCOLS] + [(5, True)]


def again(thing: Any, protocol: int, apart: bool) -> Any:
    """What another process would get, read by a reader that refuses other names."""
    text, buffers = dumps(thing, protocol, apart)
    return Strict(io.BytesIO(text), buffers=buffers).load()


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_contexts(protocol: int, apart: bool) -> None:
    contexts = [
        wl.Context.preset("insecure_toy_256"),
        wl.Context.preset("insecure_toy_256", scheme="BFV"),
        wl.Context.preset("demo"),
        wl.Context.preset("insecure_toy_1023"),
        wl.Context.plan(modulus=257, depth=1),
        wl.Context.plan(modulus=2**8, depth=1, scheme="BFV"),
        wl.Context.approximate(depth=1),
    ]
    for context in contexts:
        back = again(context, protocol, apart)
        assert back == context
        assert hash(back) == hash(context)
        assert repr(back) == repr(context)
        assert str(back) == str(context)
        assert back.parameters_json() == context.parameters_json()
        assert [other == back for other in contexts].count(True) == 1


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_ciphertexts(toy: World, reals: World, bits: World, protocol: int, apart: bool) -> None:
    integers = np.arange(2 * 140).reshape(2, 140) % 100
    cases: list[tuple[World, wl.Ciphertext, Any]] = [
        (toy, toy.client.encrypt(integers), integers),
        (toy, toy.encrypt(integers) * toy.encrypt(integers) + 1, integers * integers + 1),
        (toy, toy.encrypt(integers).sum(), integers.sum(axis=-1)),
        (toy, toy.client.encrypt(5), 5),
        (reals, reals.client.encrypt([0.5, -0.5]), [0.5, -0.5]),
        (reals, reals.client.encrypt([0.5, -0.5j]), [0.5, -0.5j]),
    ]
    for world, encrypted, values in cases:
        back = again(encrypted, protocol, apart)
        assert isinstance(back, wl.Ciphertext)
        assert (back.shape, back.dtype, back.level) == (
            encrypted.shape,
            encrypted.dtype,
            encrypted.level,
        )
        if world is toy:
            np.testing.assert_array_equal((world.decrypt(back) - values) % 257, 0)
        else:
            np.testing.assert_allclose(world.decrypt(back), values, atol=1e-6)
        # It computes on after it is bound.
        sum_of_both = world.server.receive(back) + encrypted
        np.testing.assert_allclose(
            world.decrypt(sum_of_both),
            world.decrypt(world.server.receive(encrypted) * 2),
            atol=1e-5,
        )
    elements = np.random.default_rng(1).integers(0, 2, (60, 10))
    back = again(bits.client.encrypt(elements, elements=True), protocol, apart)
    assert back.elements
    np.testing.assert_array_equal(bits.decrypt(back) % 2, elements)


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_fresh_ciphertexts_are_half_as_long(
    toy: World, reals: World, protocol: int, apart: bool
) -> None:
    def length(thing: wl.Ciphertext) -> int:
        text, buffers = dumps(thing, protocol, apart)
        return len(text) + sum(map(len, buffers))

    cases: list[tuple[World, Any]] = [(toy, [1, 2, 3]), (reals, [0.5, -0.5])]
    for world, values in cases:
        fresh = world.encrypt(values)
        assert length(fresh) < 0.6 * length(fresh + fresh)
        assert length(again(fresh, protocol, apart)) <= length(fresh)
        assert length(world.client.encryptor().encrypt(values)) > 0.9 * length(fresh + fresh)


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_a_pickle_remembers_what_must_be_masked(toy: World, protocol: int, apart: bool) -> None:
    shifted = toy.context.polynomial([3, 1])
    world = make(toy.context, shifted, toy.context.sum())
    encrypted = shifted(world.encrypt([1, 2, 3]))
    back = world.server.receive(again(encrypted, protocol, apart))
    assert world.decrypt(back.sum()) == 15


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_servers(toy: World, reals: World, protocol: int, apart: bool) -> None:
    server = again(toy.server, protocol, apart)
    assert server.galois_elements == toy.server.galois_elements
    assert server.relinearisation
    assert server.context == toy.context
    x = server.receive(toy.client.encrypt([3, 4, 5]))
    np.testing.assert_array_equal(toy.decrypt(x * x), [9, 16, 25])
    assert toy.decrypt(x.sum()) == 12
    real = again(reals.server, protocol, apart)
    y = real.receive(reals.client.encrypt([0.5, 0.25]))
    np.testing.assert_allclose(reals.decrypt(y * y), [0.25, 0.0625], atol=1e-6)
    without = again(toy.context.server_without_keys(), protocol, apart)
    assert without.galois_elements == []
    np.testing.assert_array_equal(
        toy.decrypt(without.receive(toy.client.encrypt([3, 4])) + 1), [4, 5]
    )


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_plans_and_circuits(toy: World, protocol: int, apart: bool) -> None:
    context = toy.context
    rng = np.random.default_rng(3)
    matrix = rng.integers(-9, 10, (20, 30))
    things: list[Any] = [
        context.linear(matrix),
        context.linear(matrix, rng.integers(-9, 10, 20), strategy="horner"),
        context.linear(matrix.astype(np.uint8) % 200, max_keys=12),
        context.roll(5, 2),
        context.polynomial([1, 2, 3]),
        context.table([5, 6, 7], start=-1),
        context.power(5),
        context.sum(),
        context.equal(),
        context.less(9),
        context.products(),
        context.inner_product(9),
        context.keys([3, 9], relinearisation=True),
    ]
    for thing in things:
        back = again(thing, protocol, apart)
        assert type(back) is type(thing)
        assert repr(back) == repr(thing) or isinstance(thing, wl.Keys)
        assert back.required_keys == thing.required_keys
        if isinstance(thing, wl.LinearPlan):
            np.testing.assert_array_equal(back.matrix, thing.matrix)
            assert back.matrix.dtype == thing.matrix.dtype
            assert back.strategy == thing.strategy
            assert back.diagonals == thing.diagonals
            if thing.bias is None:
                assert back.bias is None
            else:
                np.testing.assert_array_equal(back.bias, thing.bias)
        else:
            assert back.relinearisation == thing.relinearisation
    layer = again(things[0], protocol, apart)
    world = make(context, things[0])
    values = rng.integers(-3, 4, 30)
    product = world.decrypt(layer @ world.encrypt(values))
    np.testing.assert_array_equal((product - matrix @ values) % 257, 0)


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_circuits_of_reals(reals: World, protocol: int, apart: bool) -> None:
    context = reals.context
    things: list[Any] = [
        context.linear([[0.5, 1.5]], [0.25]),
        context.linear([[0.5j, 1.5]]),
        context.roll(5, 2),
        context.polynomial([1.0, 2.0, 3.0]),
        context.polynomial([1.0, 2.0, 3.0], interval=(-2.0, 3.0)),
        context.sum(9),
    ]
    for thing in things:
        back = again(thing, protocol, apart)
        assert repr(back) == repr(thing)
        assert back.required_keys == thing.required_keys
    one = context.polynomial([1.0, 2.0, 3.0], interval=(-2.0, 3.0))
    x = reals.encrypt([0.5, -1.0])
    np.testing.assert_allclose(
        reals.decrypt(again(one, protocol, apart)(x)), reals.decrypt(one(x)), atol=1e-5
    )


@pytest.mark.parametrize(("protocol", "apart"), ways())
def test_encryptors(toy: World, protocol: int, apart: bool) -> None:
    encryptor = again(toy.client.encryptor(), protocol, apart)
    np.testing.assert_array_equal(toy.decrypt(encryptor.encrypt([1, 2])), [1, 2])


def test_buffers_are_out_of_band_and_not_copied(toy: World) -> None:
    for thing in (toy.server, toy.encrypt(np.ones((3, 5), int)), toy.client.encryptor()):
        text, buffers = dumps(thing, 5, True)
        assert len(text) < 3000
        assert sum(map(len, buffers)) > 3000
        inside, none = dumps(thing, 5, False)
        assert none == []
        assert len(inside) > sum(map(len, buffers))


def test_reading_takes_any_buffer(toy: World) -> None:
    text, buffers = dumps(toy.client.encrypt([1, 2, 3]), 5, True)
    kinds: list[Any] = [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)]
    for kind in kinds:
        back = pickle.loads(text, buffers=[kind(buffer) for buffer in buffers])
        np.testing.assert_array_equal(toy.decrypt(back), [1, 2, 3])


def test_a_buffer_may_change_after_it_was_read(toy: World) -> None:
    text, buffers = dumps(toy.client.encrypt([1, 2, 3]), 5, True)
    mutable = [bytearray(buffer) for buffer in buffers]
    back = pickle.loads(text, buffers=mutable)
    for buffer in mutable:
        buffer[:] = bytes(len(buffer))
    np.testing.assert_array_equal(toy.decrypt(back), [1, 2, 3])


def test_copies(toy: World) -> None:
    for thing in (toy.context, toy.encrypt([1, 2]), toy.server, toy.context.power(2)):
        assert type(copy.copy(thing)) is type(thing)
        assert type(copy.deepcopy(thing)) is type(thing)


@pytest.mark.parametrize("protocol", range(6))
def test_secrets_refuse(toy: World, reals: World, protocol: int) -> None:
    for world in (toy, reals):
        for thing in (world.client, [world.client], {"a": world.client}):
            with pytest.raises(wl.SecretNotPickled, match="save_secret"):
                pickle.dumps(thing, protocol=protocol)
        with pytest.raises(wl.SecretNotPickled):
            copy.copy(world.client)
        with pytest.raises(wl.SecretNotPickled):
            copy.deepcopy(world.client)


def test_pickles_hold_no_secret(toy: World, tmp_path: Any) -> None:
    path = tmp_path / "secret"
    toy.client.save_secret(path)
    secret = path.read_bytes()
    pieces = [secret[k : k + 16] for k in range(len(secret) // 2, len(secret) - 16, 16)]
    for thing in (toy.server, toy.encrypt([1]), toy.client.encryptor(), toy.context):
        text = pickle.dumps(thing)
        assert not any(piece in text for piece in pieces)


def test_errors_are_pickled_with_their_data() -> None:
    for name in dir(errors):
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, wl.WindlassError):
            for protocol in range(6):
                error = kind("what went wrong", index=3, elements=[1, 2])
                back: Any = pickle.loads(pickle.dumps(error, protocol=protocol))
                assert type(back) is kind
                assert str(back) == "what went wrong"
                assert (vars(back)["index"], vars(back)["elements"]) == (3, [1, 2])


# Bytes that are not right.

SMALL = """
import pickle, resource, sys, time
import numpy as np
import windlass as wl

resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
wl.set_threads(1)
context = wl.Context.preset("insecure_toy_105")
client, server = context.generate_keys(context.products(), progress=False)
reals = wl.Context.approximate(depth=1)
things = {
    "context": context,
    "planned": wl.Context.plan(modulus=257, depth=1),
    "reals": reals,
    "polynomial": context.polynomial([1, 2, 3]),
    "table": context.table([0, 1]),
    "keys": context.products(),
    "linear": context.linear([[1, 0], [1, 1]], [1, 1]),
    "roll": context.roll(3, 1),
    "sum": context.sum(),
    "real polynomial": reals.polynomial([1.0, 2.0], interval=(-1.0, 1.0)),
    "ciphertext": client.encrypt([1, 0, 1]),
    "encryptor": client.encryptor(),
    "server": server,
}
thing = things[sys.argv[1]]
rng = np.random.default_rng(5)
kinds, survived, tried = {}, 0, 0

def attempt(text, buffers):
    global survived, tried
    tried += 1
    started = time.perf_counter()
    try:
        back = pickle.loads(text, buffers=buffers)
        repr(back)
        survived += 1
    except Exception as error:
        name = type(error).__name__
        if isinstance(error, wl.InternalError):
            raise SystemExit(f"a bug: {error} from {text!r}")
        kinds[name] = kinds.get(name, 0) + 1
    if time.perf_counter() - started > 5:
        raise SystemExit(f"too long: {text!r}")
    return survived

out = []
text = pickle.dumps(thing, protocol=5, buffer_callback=out.append)
buffers = [bytes(buffer.raw()) for buffer in out]
step = max(1, len(text) // 1500)
for place in range(0, len(text), step):
    attempt(text[:place], buffers)
    for change in (1 << int(rng.integers(0, 8)), int(rng.integers(1, 256))):
        attempt(text[:place] + bytes([text[place] ^ change]) + text[place + 1:], buffers)
assert kinds, "nothing was refused"
# The bytes of a file have a checksum: no change goes unnoticed.
before = survived
for number, buffer in enumerate(buffers):
    step = max(1, len(buffer) // 1500)
    for place in range(0, len(buffer), step):
        change = int(rng.integers(1, 256))
        altered = buffer[:place] + bytes([buffer[place] ^ change]) + buffer[place + 1:]
        for bad in (altered, buffer[:place]):
            if number == 0 and len(bad) == 0 and sys.argv[1] == "server":
                continue  # no keys: a server without keys
            attempt(text, buffers[:number] + [bad] + buffers[number + 1:])
    attempt(text, buffers[:number] + [buffer + b"x"] + buffers[number + 1:])
    attempt(text, buffers[:number] + [buffer[::-1]] + buffers[number + 1:])
assert survived == before, f"{survived - before} altered files were read"
print(tried, survived, kinds)
"""


@pytest.mark.parametrize(
    "name",
    [
        "context",
        "planned",
        "reals",
        "polynomial",
        "table",
        "keys",
        "linear",
        "roll",
        "sum",
        "real polynomial",
        "ciphertext",
        "encryptor",
        "server",
    ],
)
def test_altered_and_truncated_pickles(script: Script, name: str) -> None:
    pytest.importorskip("resource")
    done = script(SMALL, name, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_pickles_name_nothing_but_their_readers(toy: World, reals: World) -> None:
    things: list[object] = [
        toy.context,
        toy.server,
        toy.encrypt([1, 2]),
        toy.client.encryptor(),
        toy.context.power(3),
        toy.context.products(),
        toy.context.linear([[1, 2]], [3]),
        reals.context,
        reals.encrypt([0.5]),
    ]
    for thing in things:
        for protocol in PROTOCOLS:
            text = pickle.dumps(thing, protocol=protocol)
            modules = {
                str(argument).split()[0]
                for code, argument, _ in pickletools.genops(text)
                if code.name == "GLOBAL"
            }
            assert all(m.split(".")[0] in {"windlass", "numpy", "_codecs"} for m in modules)
            Strict(io.BytesIO(text)).load()


STATES: list[Any] = [
    "",
    "{}",
    "[]",
    "null",
    "{",
    '{"preset": "no such set", "scheme": "BGV"}',
    '{"preset": "insecure_toy_256"}',
    '{"preset": "insecure_toy_256", "scheme": "RSA"}',
    '{"preset": 3, "scheme": "BGV"}',
    '{"preset": "demo", "scheme": "BGV", "ckks": "{}"}',
    '{"parameters": "{}"}',
    '{"parameters": "not JSON"}',
    '{"ckks": "{}"}',
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"parameters": "' + "[" * 100_000 + '"}',
    "\x00",
    "é" * 1000,
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state[:40])
def test_untrusted_states(state: str) -> None:
    from windlass._windlass import restore_context

    with pytest.raises(wl.WindlassError):
        restore_context(state)


def test_an_empty_table_at_the_least_integer(toy: World) -> None:
    with pytest.raises((wl.ParameterError, wl.ShapeError)):
        toy.context.table([], start=-(2**63))


def test_untrusted_arguments(toy: World) -> None:
    from windlass import _windlass as extension

    # What a pickle would call, with arguments that no pickle of ours has.
    make_state: Any = toy.context.__reduce__()
    state = make_state[1][0]
    encrypted: Any = toy.client.encrypt([1, 2, 3]).__reduce_ex__(4)
    parts = encrypted[1][1]
    flags = (3, False, False)
    attempts: list[tuple[Any, ...]] = [
        (extension.restore_ciphertext, state, parts, [3], "float64", flags),
        (extension.restore_ciphertext, state, parts, [3], "object", flags),
        (extension.restore_ciphertext, state, parts, [2**62, 2**62], "int64", flags),
        (extension.restore_ciphertext, state, parts, [], "int64", flags),
        (extension.restore_ciphertext, state, parts, [0], "int64", (0, False, False)),
        (extension.restore_ciphertext, state, parts, [2**62], "int64", (2**62, False, False)),
        (extension.restore_ciphertext, state, parts, [3, 3], "int64", flags),
        (extension.restore_ciphertext, state, parts * 2, [3], "int64", flags),
        (extension.restore_ciphertext, state, [], [3], "int64", flags),
        (extension.restore_ciphertext, state, [b""], [3], "int64", flags),
        (extension.restore_ciphertext, state, [b"x" * 100], [3], "int64", flags),
        (extension.restore_ciphertext, state, [3], [3], "int64", flags),
        (extension.restore_encryptor, state, b""),
        (extension.restore_encryptor, state, parts[0]),
        (extension.restore_server, state, b"x", [], []),
        (extension.restore_server, state, parts[0], [], []),
        (extension.restore_server, state, b"", [b"x"], []),
        (extension.restore_circuit, state, "no such circuit", [], []),
        (extension.restore_circuit, state, "power", [], []),
        (extension.restore_circuit, state, "power", [0], []),
        (extension.restore_circuit, state, "table", [], []),
        (extension.restore_circuit, state, "table", [0] * 1000, []),
        (extension.restore_circuit, state, "less", [2**62], []),
        (extension.restore_circuit, state, "sum", [-1], []),
        (extension.restore_circuit, state, "real polynomial", [], [1.0]),
        (
            extension.restore_linear,
            state,
            (None, None),
            ("automatic", None, None, "automatic"),
            None,
        ),
        (
            extension.restore_linear,
            state,
            ([[1]], None),
            ("no such way", None, None, "never"),
            None,
        ),
        (
            extension.restore_linear,
            state,
            ([[1]], [1, 2]),
            ("automatic", None, None, "automatic"),
            None,
        ),
        (
            extension.restore_linear,
            state,
            ([1], None),
            ("automatic", None, None, "automatic"),
            None,
        ),
        (
            extension.restore_linear,
            state,
            (None, None),
            ("automatic", None, None, "automatic"),
            (0, 0),
        ),
        (
            extension.restore_linear,
            state,
            (None, None),
            ("automatic", None, None, "automatic"),
            (3, 3),
        ),
        (extension.restore_bootstrapping, state, False, [None] * 5),
        (extension.restore_bootstrapping, state, False, ["x"] * 5),
    ]
    for function, *arguments in attempts:
        with pytest.raises(wl.WindlassError) as caught:
            function(*arguments)
        assert not isinstance(caught.value, wl.InternalError)

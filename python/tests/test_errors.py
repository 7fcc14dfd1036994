"""Errors: their classes, their data, and when they come."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import World, make

import windlass as wl
from windlass import errors

BASES: dict[type[Exception], list[type[Exception]]] = {
    wl.ParameterError: [ValueError],
    wl.ShapeError: [ValueError],
    wl.DTypeError: [TypeError],
    wl.ValueRangeError: [ValueError],
    wl.MissingKeys: [LookupError],
    wl.MissingGaloisKey: [wl.MissingKeys],
    wl.MissingRelinearisationKey: [wl.MissingKeys],
    wl.MissingBootstrappingKeys: [wl.MissingKeys],
    wl.CapacityExhausted: [ArithmeticError],
    wl.FileError: [OSError],
    wl.MissingFile: [FileNotFoundError, wl.FileError],
    wl.FileExists: [FileExistsError, wl.FileError],
    wl.OutOfMemory: [MemoryError],
    wl.SecretNotPickled: [TypeError],
    wl.EncryptedComparison: [TypeError],
    wl.UnknownName: [wl.ParameterError],
    wl.NoParameters: [wl.ParameterError],
    wl.InsecureParameters: [wl.ParameterError],
}


def test_hierarchy() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    own = [kind for kind in kinds if issubclass(kind, wl.WindlassError)]
    assert len(own) >= 25
    for kind, bases in BASES.items():
        assert kind in own
        for base in bases:
            assert issubclass(kind, base)


def test_remedies_are_not_read_into_names() -> None:
    with pytest.raises(wl.UnknownName) as caught:
        wl.Context.preset("a larger bound")
    assert caught.value.given == "a larger bound"
    assert "encrypt(" not in str(caught.value)


def test_missing_galois_keys(toy: World) -> None:
    layer = toy.context.linear(np.ones((9, 9), int))
    server = toy.client.generate_server()
    x = server.receive(toy.client.encrypt(np.ones(9, int)))
    with pytest.raises(wl.MissingGaloisKey, match="generate_keys") as caught:
        layer @ x
    assert caught.value.elements == layer.required_keys
    assert str(caught.value.elements[0]) in str(caught.value)
    assert caught.value.needed_by
    assert not caught.value.relinearisation
    # Of what an operator makes by itself the message names the call that makes the keys.
    uses: list[tuple[str, Callable[[], object]]] = [
        ("sum()", x.sum),
        ("roll(9, 1)", lambda: x.roll(1)),
        ("sum()", lambda: x @ np.ones(9, int)),
        ("linear(W.T)", lambda: x @ np.ones((9, 4), int)),
        ("linear(W)", lambda: np.ones((4, 9), int) @ x),
    ]
    for call, use in uses:
        with pytest.raises(wl.MissingGaloisKey) as caught:
            use()
        assert caught.value.elements
        assert f"context.generate_keys(context.{call}, ...)" in str(caught.value)
    multiplies = toy.client.generate_server(toy.context.products(), progress=False)
    y = multiplies.receive(toy.client.encrypt(np.ones(9, int)))
    with pytest.raises(wl.MissingGaloisKey, match=r"generate_keys\(context\.inner_product\(9\)"):
        y @ y
    # With those keys, and no others, it runs.
    enough = toy.client.generate_server(toy.context.keys(layer.required_keys), progress=False)
    product = layer @ enough.receive(toy.client.encrypt(np.ones(9, int)))
    np.testing.assert_array_equal(toy.decrypt(product), np.full(9, 9))


def test_missing_relinearisation_key(toy: World) -> None:
    server = toy.client.generate_server(toy.context.sum(), progress=False)
    assert not server.relinearisation
    x = server.receive(toy.client.encrypt([1, 2]))
    circuit = toy.context.polynomial([1, 2, 3])
    uses: list[Callable[[], object]] = [
        lambda: x * x,
        lambda: x * server.receive(toy.client.encrypt([1, 2])),
        lambda: x**2,
        lambda: x**3,
        lambda: x @ x,
        lambda: circuit(x),
    ]
    for use in uses:
        with pytest.raises(wl.MissingRelinearisationKey) as caught:
            use()
        assert isinstance(caught.value, wl.MissingKeys)
    # The call that makes the key, as it is in Python.
    for use in uses[:-1]:
        with pytest.raises(
            wl.MissingRelinearisationKey, match=r"context\.(products|inner_product)\("
        ):
            use()
    with pytest.raises(wl.MissingKeys) as missing:
        toy.context.equal()(x, x)
    assert missing.value.relinearisation or isinstance(missing.value, wl.MissingRelinearisationKey)


def test_a_server_without_keys_adds(toy: World) -> None:
    server = toy.context.server_without_keys()
    x = server.receive(toy.client.encrypt([1, 2]))
    np.testing.assert_array_equal(toy.decrypt(3 * x + [1, 1] - x), [3, 5])
    assert server.galois_elements == []
    assert not server.relinearisation


def test_capacity(toy: World) -> None:
    x = toy.encrypt([2, 3])
    values = np.array([2, 3])
    seen = [x.capacity]
    with pytest.raises(wl.CapacityExhausted) as caught:
        for _ in range(100):
            x, values = x * x, values * values % 257
            seen.append(x.capacity)
            np.testing.assert_array_equal((toy.decrypt(x) - values) % 257, 0)
    assert len(seen) > toy.context.depth
    assert seen == sorted(seen, reverse=True)
    assert caught.value.needed_bits is not None
    assert caught.value.left_bits is not None
    assert caught.value.needed_bits > caught.value.left_bits
    # What is spent still decrypts rightly.
    np.testing.assert_array_equal((toy.decrypt(x) - values) % 257, 0)


def test_another_context(toy: World, wide: World, reals: World, bits: World) -> None:
    mine: Any = toy.encrypt([1, 0])
    for other in (wide, reals, bits):
        theirs = other.encrypt([1, 0])
        uses: list[Callable[[], object]] = [
            lambda theirs=theirs: toy.server.receive(theirs),  # type: ignore[misc]
            lambda theirs=theirs: toy.client.decrypt(theirs),  # type: ignore[misc]
            lambda theirs=theirs: mine + theirs,  # type: ignore[misc]
            lambda theirs=theirs: mine * theirs,  # type: ignore[misc]
            lambda theirs=theirs: mine @ theirs,  # type: ignore[misc]
            lambda theirs=theirs: theirs - mine,  # type: ignore[misc]
            lambda theirs=theirs: toy.context.linear([[1, 1]]) @ theirs,  # type: ignore[misc]
            lambda theirs=theirs: toy.context.sum()(theirs),  # type: ignore[misc]
            lambda theirs=theirs: toy.context.equal()(mine, theirs),  # type: ignore[misc]
            lambda theirs=theirs: toy.context.equal()(theirs, mine),  # type: ignore[misc]
            lambda other=other: toy.context.generate_keys(other.context.products()),  # type: ignore[misc]
            lambda other=other: toy.context.generate_keys(other.context.linear([[1, 1]])),  # type: ignore[misc]
            lambda other=other: toy.client.generate_server(other.context.sum(2)),  # type: ignore[misc]
        ]
        for use in uses:
            with pytest.raises(wl.OtherContext):
                use()


def test_prepare_looks_at_its_ciphertext(toy: World, wide: World) -> None:
    with pytest.raises(wl.OtherContext):
        toy.context.linear([[1, 1]]).prepare(toy.server, wide.encrypt([1, 0]))


def test_another_key_pair(toy: World, other_toy: World) -> None:
    mine, theirs = toy.encrypt([1, 2]), other_toy.encrypt([1, 2])
    moved = toy.server.receive(other_toy.client.encrypt([1, 2]))
    uses: list[Callable[[], object]] = [
        lambda: toy.client.decrypt(theirs),
        lambda: mine + theirs,
        lambda: theirs - mine,
        lambda: mine * theirs,
        lambda: mine @ theirs,
        lambda: moved * moved,
        lambda: moved.sum(),
        lambda: toy.context.power(3)(moved),
        lambda: toy.context.roll(5, 1)(toy.server.receive(other_toy.client.encrypt(range(5)))),
    ]
    for use in uses:
        with pytest.raises(wl.OtherKeyPair):
            use()


def test_two_servers_of_one_client(toy: World) -> None:
    other = toy.client.generate_server(toy.context.products(), progress=False)
    x, y = toy.encrypt([1, 2]), other.receive(toy.client.encrypt([3, 4]))
    np.testing.assert_array_equal(toy.decrypt(x * y), [3, 8])
    np.testing.assert_array_equal(toy.decrypt(y * x), [3, 8])


def test_not_bound(toy: World) -> None:
    x: Any = toy.client.encrypt([1, 2])
    layer = toy.context.linear([[1, 2]])
    uses: list[Callable[[], object]] = [
        lambda: x + 1,
        lambda: 1 - x,
        lambda: x * x,
        lambda: x * [1, 2],
        lambda: -x,
        lambda: x**2,
        lambda: x**3,
        lambda: x.sum(),
        lambda: x.roll(1),
        lambda: x @ x,
        lambda: layer @ x,
        lambda: layer(x),
        lambda: toy.context.sum()(x),
        lambda: toy.context.equal()(x, x),
        lambda: x.refresh(),
    ]
    for use in uses:
        with pytest.raises(wl.NotBound, match="receive"):
            use()
    assert "not bound" in repr(x)
    # One of two that is bound is enough.
    np.testing.assert_array_equal(toy.decrypt(x + toy.encrypt([1, 1])), [2, 3])
    np.testing.assert_array_equal(toy.decrypt(toy.encrypt([1, 1]) * x), [1, 2])
    assert x.capacity > 0


def test_closed_servers(toy: World) -> None:
    server = toy.client.generate_server(toy.context.products(), progress=False)
    with server as inside:
        assert inside is server
        x: Any = server.receive(toy.client.encrypt([1, 2]))
        product = x * x
    uses: list[Callable[[], object]] = [
        lambda: x + 1,
        lambda: x * x,
        lambda: x + toy.encrypt([1, 2]),
        lambda: x.sum(),
        lambda: x.capacity,
        lambda: server.receive(toy.client.encrypt([1])),
        lambda: server.nbytes,
        lambda: server.galois_elements,
        lambda: server.relinearisation,
        lambda: server.save("nowhere"),
        lambda: server.forget(),
        lambda: server.__reduce_ex__(5),
    ]
    for use in uses:
        with pytest.raises(wl.ServerClosed, match="closed"):
            use()
    assert "closed" in repr(server)
    server.close()
    # What was computed is still there.
    np.testing.assert_array_equal(toy.decrypt(product), [1, 4])
    with pytest.raises(ZeroDivisionError), toy.client.generate_server() as other:
        _ = 1 / 0
    with pytest.raises(wl.ServerClosed):
        other.receive(toy.client.encrypt([1]))


PLANS: list[dict[str, Any]] = [
    {"modulus": 0},
    {"modulus": 1},
    {"modulus": 6},
    {"modulus": 2**45},
    {"modulus": 2**64 - 1},
    {"modulus": 65536 * 3},
    {"security": 127.9},
    {"security": float("nan")},
    {"security": float("inf")},
    {"capacity": float("nan")},
    {"capacity": float("inf")},
    {"m": 0},
    {"m": 2**64 - 1},
    {"scheme": "CKKS"},
    {"scheme": ""},
    {"depth": 1000},
    {"slots": 2**40},
    {"linear_maps": 10**6},
]


@pytest.mark.parametrize("arguments", PLANS, ids=repr)
def test_plans_that_cannot_be(arguments: dict[str, Any]) -> None:
    with pytest.raises(wl.ParameterError) as caught:
        wl.plan_parameters(**arguments)
    assert len(str(caught.value)) > 20
    if set(arguments) <= {"scheme", "modulus"}:
        with pytest.raises(wl.ParameterError):
            wl.Context.plan(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"depth": 2**40},
        {"scale_bits": 0},
        {"scale_bits": 51},
        {"value_bits": 2**31},
        {"slots": 2**40},
        {"slots": 0},
        {"depth": 100},
    ],
    ids=repr,
)
def test_approximate_plans_that_cannot_be(arguments: dict[str, Any]) -> None:
    with pytest.raises(wl.ParameterError):
        wl.Context.approximate(**arguments)


NEGATIVE: list[Callable[[wl.Context], object]] = [
    lambda context: wl.Context.plan(modulus=-5),
    lambda context: wl.Context.plan(depth=-1),
    lambda context: wl.Context.approximate(depth=-1),
    lambda context: context.power(-1),
    lambda context: context.less(-1),
    lambda context: context.keys([-3]),
    lambda context: context.roll(-3, 1),
    lambda context: wl.set_threads(-1),
    lambda context: wl.Context.plan(modulus=2**64),
]


@pytest.mark.parametrize("number", range(len(NEGATIVE)))
def test_negative_numbers(toy: World, number: int) -> None:
    with pytest.raises(wl.ParameterError):
        NEGATIVE[number](toy.context)


def test_wrong_types_of_arguments(toy: World) -> None:
    context: Any = toy.context
    attempts: list[Callable[[], object]] = [
        lambda: wl.Context.preset(3),  # type: ignore[arg-type]
        lambda: wl.Context.plan(modulus="65537"),  # type: ignore[arg-type]
        lambda: wl.Context.plan(65537),  # type: ignore[call-arg]
        lambda: context.power("2"),
        lambda: context.power(2.5),
        lambda: context.table([1.5]),
        lambda: context.keys(3),
        lambda: context.roll(3),
        lambda: context.linear(),
        lambda: context.linear([[1]], strategy=3),
        lambda: context.generate_keys(3),
        lambda: context.generate_keys([3]),
        lambda: context.generate_keys(None),
        lambda: context.generate_keys(progress=3),
        lambda: toy.server.receive([1, 2]),  # type: ignore[arg-type]
        lambda: toy.client.decrypt([1, 2]),  # type: ignore[arg-type]
        lambda: context.products(3),
        lambda: context.power(2)([1, 2]),
        lambda: wl.Client(),
        lambda: wl.Context(),
        lambda: wl.Ciphertext(),
        lambda: wl.set_threads("2"),  # type: ignore[arg-type]
        lambda: toy.client.encrypt([1], bound="1"),  # type: ignore[arg-type]
    ]
    for attempt in attempts:
        with pytest.raises(TypeError):
            attempt()


def test_names(toy: World) -> None:
    with pytest.raises(wl.UnknownName) as caught:
        wl.Context.preset("no such set")
    assert caught.value.given == "no such set"
    assert caught.value.known == wl.presets()
    with pytest.raises(wl.UnknownName):
        wl.preset_parameters("no such set")
    with pytest.raises(wl.UnknownName) as caught:
        toy.context.linear([[1]], strategy="no such way")
    assert "hoisted" in caught.value.known
    with pytest.raises(wl.ParameterError):
        wl.Context.preset("demo", scheme="RSA")  # type: ignore[arg-type]
    with pytest.raises(wl.ParameterError):
        wl.set_threads(0)


def test_bad_keys(toy: World) -> None:
    for element in (0, 2, 256):
        with pytest.raises(wl.ParameterError):
            toy.context.generate_keys(toy.context.keys([element]), progress=False)
    with pytest.raises(wl.ShapeError):
        toy.context.roll(0, 1)
    with pytest.raises(wl.ParameterError):
        toy.context.less(2**63)
    with pytest.raises(wl.ParameterError, match="at least 1"):
        toy.context.less(0)
    with pytest.raises(wl.ParameterError):
        toy.context.power(0)


def test_composite_moduli() -> None:
    context = wl.Context.plan(modulus=2**8, depth=2)
    world = make(context, context.products())
    values = np.array([0, 1, 127, 128, -127])
    x = world.encrypt(values)
    back = world.client.decrypt(x * x + x, dtype="uint64")
    np.testing.assert_array_equal(back, (values * values + values) % 256)
    for circuit in (context.equal, lambda: context.less(3), lambda: context.table([1, 2, 3])):
        with pytest.raises(wl.ParameterError):
            circuit()


def test_every_object_says_what_it_is(toy: World, reals: World) -> None:
    for world in (toy, reals):
        things: list[Any] = [
            world.context,
            world.client,
            world.server,
            world.client.encryptor(),
            world.encrypt([1, 0]),
            world.context.linear([[1, 0]]),
            world.context.sum(2),
            world.context.products(),
        ]
        for thing in things:
            said = repr(thing)
            name = type(thing).__name__
            assert said.startswith(f"<windlass.{name}")
            assert said.endswith(">")
            assert "\n" not in said
            assert type(thing).__module__ == "windlass"
            assert hasattr(wl, name)
            html = getattr(thing, "_repr_html_", None)
            if html is not None:
                assert html().startswith("<pre>")
                assert html().endswith("</pre>")
                assert "<windlass" not in html()
    text = str(toy.context)
    assert "257" in text
    assert f"{wl.Context.preset('demo').security:.0f}" in str(wl.Context.preset("demo"))


def test_contexts_say_what_they_are() -> None:
    for name in ("demo", "insecure_toy_256", "insecure_toy_1023"):
        for scheme in ("BGV", "BFV"):
            context = wl.Context.preset(name, scheme=scheme)
            told = wl.preset_parameters(name, scheme=scheme)
            assert context.describe() == told
            assert (context.m, context.ring_dimension) == (told["m"], told["n"])
            assert (context.slots, context.slot_degree) == (told["slots"], told["slot_degree"])
            assert context.scheme == scheme == told["scheme"]
            assert context.modulus == told["p"] ** told["r"]
            assert context.security == pytest.approx(told["security_bits"])
            assert context.log2_q < context.log2_qp
            sizes = context.sizes()
            assert all(size >= 0 for size in sizes.values())
    planned = wl.plan_parameters(modulus=257, depth=1)
    context = wl.Context.plan(modulus=257, depth=1)
    assert context.describe() == planned
    assert set(context.prices()) >= {"hoist", "automorphism", "key_bytes", "constant_bytes"}
    assert all(price > 0 for price in context.prices().values())


def test_security_of_presets() -> None:
    for name in wl.presets():
        told = wl.preset_parameters(name)
        if "insecure" not in name and "paper" not in name:
            assert told["security_bits"] >= 128
            assert told["secure"]


def test_sizes_are_those_of_what_is_made(toy: World) -> None:
    sizes = toy.context.sizes()
    encrypted = toy.client.encrypt([1])
    assert encrypted.nbytes <= 2 * sizes["ciphertext_memory"]
    one = toy.client.generate_server(toy.context.products(), progress=False)
    assert one.nbytes == pytest.approx(sizes["switching_key_memory"], rel=0.25)


def test_equality(toy: World, other_toy: World, wide: World) -> None:
    assert toy.context == other_toy.context
    assert hash(toy.context) == hash(other_toy.context)
    assert toy.context != wide.context
    assert toy.context != "insecure_toy_256"
    assert toy.context != wl.Context.preset("insecure_toy_256", scheme="BFV")
    assert toy.client != other_toy.client
    assert toy.client == toy.client
    assert toy.encrypt([1]).context == toy.context


def test_objects_are_let_go(toy: World) -> None:
    context = wl.Context.preset("insecure_toy_105")
    client, server = context.generate_keys(context.products(), progress=False)
    x = server.receive(client.encrypt([1, 0]))
    things = [weakref.ref(thing) for thing in (context, client, server, x)]
    assert all(thing() is not None for thing in things)
    del context, client, server, x
    assert all(thing() is None for thing in things)


def test_attributes_are_read_only(toy: World) -> None:
    things: list[Any] = [toy.context, toy.encrypt([1]), toy.server, toy.context.linear([[1]])]
    for thing in things:
        with pytest.raises(AttributeError):
            thing.shape = 3
        with pytest.raises(AttributeError):
            thing.anything = 3


def test_bad_bounds(reals: World) -> None:
    for bound in (-1.0, float("nan"), float("inf"), 1e300):
        with pytest.raises(wl.WindlassError):
            reals.client.encrypt([0.5], bound=bound)


# Results of other shapes than they seem.


def test_rows_of_sums(toy: World) -> None:
    x = toy.encrypt([[1, 2], [3, 4], [5, 6]]).sum()
    assert x.shape == (3,)
    np.testing.assert_array_equal(toy.decrypt(x + [10, 20, 30]), [13, 27, 41])
    np.testing.assert_array_equal(toy.decrypt(x * x), [9, 49, 121])


@pytest.mark.parametrize("what", ["sum", "roll", "linear"])
def test_what_follows_rows_of_sums_is_right_or_refused(toy: World, what: str) -> None:
    layer = toy.context.linear([[2], [3]])
    world = make(toy.context, layer, toy.context.sum(), toy.context.roll(3, 1))
    x = world.encrypt([[1, 2], [3, 4], [5, 6]]).sum()
    try:
        if what == "sum":
            assert world.decrypt(x.sum()) == 21
        elif what == "roll":
            np.testing.assert_array_equal(world.decrypt(x.roll(1)), [11, 3, 7])
        else:
            assert world.decrypt(layer @ x) is None
    except wl.ShapeError:
        pass


def test_dimensions_of_length_one(toy: World) -> None:
    a, b = np.arange(6).reshape(2, 3), np.arange(3).reshape(1, 1, 3)
    try:
        back = toy.decrypt(toy.encrypt(a) + toy.encrypt(b))
    except wl.ShapeError:
        return
    np.testing.assert_array_equal(back, a + b)


@pytest.mark.parametrize("shape", [(2, 3), (3, 3)])
def test_products_of_two_encrypted_matrices(toy: World, shape: tuple[int, int]) -> None:
    with pytest.raises(wl.ShapeError):
        toy.encrypt(np.ones(shape, int)) @ toy.encrypt(np.ones(shape, int))


def test_numpy_functions_refuse(toy: World) -> None:
    x: Any = toy.encrypt([1, 2, 3])
    for function in (np.asarray, np.array, lambda x: np.roll(x, 1), np.cumsum):
        with pytest.raises(TypeError):
            function(x)


@pytest.mark.parametrize("coefficients", [3, [[1, 2], [3, 4]], []])
def test_coefficients_of_wrong_shapes(toy: World, coefficients: Any) -> None:
    with pytest.raises(wl.ShapeError):
        toy.context.polynomial(coefficients)


def test_masked_arrays(toy: World) -> None:
    masked = np.ma.masked_array([1, 2, 3], mask=[False, True, False])
    with pytest.raises(wl.DTypeError):
        toy.client.encrypt(masked)


def test_bools_are_no_rows(toy: World) -> None:
    with pytest.raises(wl.ShapeError):
        toy.encrypt([[1], [2]])[True]


def test_refusals_of_plans_name_the_cause() -> None:
    with pytest.raises(wl.ParameterError, match="use m/2"):
        wl.Context.plan(modulus=257, m=14)
    with pytest.raises(
        wl.ParameterError, match=r"security is 80, but must be at least 128, "
    ) as weak:
        wl.Context.plan(security=80)
    assert "e308" not in str(weak.value)
    with pytest.raises(wl.NoParameters, match=r"no depth above .*Context\.plan\(unlimited=True\)"):
        wl.Context.plan(depth=1000)
    with pytest.raises(wl.NoParameters, match="has 2 slots modulo 3, fewer than 100"):
        wl.Context.plan(modulus=3, m=32768, slots=100)


def test_few_slots_are_warned_of() -> None:
    told: list[tuple[int, int]] = []
    with pytest.warns(wl.FewSlotsWarning, match="has 2 slots .* use p = 65537"):
        context = wl.Context.plan(
            modulus=3, unlimited=True, progress=lambda done, count: told.append((done, count))
        )
    assert context.slots == 2
    assert told and told[-1][1] >= 1
    assert "the next prime that is" in str(context)


def test_products_that_are_left(toy: World) -> None:
    x = toy.encrypt([2, 3])
    depth = x.depth_left
    assert depth >= 1
    for left in reversed(range(depth)):
        x = x * x
        assert x.depth_left == left
    with pytest.raises(wl.CapacityExhausted):
        x * x
    # Known without a server as well.
    assert toy.client.encrypt([2, 3]).depth_left == depth


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: wl.Context.approximate(value_bits=0), "value_bits is 0, but must be between 1"),
        (lambda: wl.Context.approximate(depth=100), "depth 100 with scale_bits 40 needs"),
        (lambda: wl.Context.plan(security=1e9), "security is 1e9, but must be at most 256"),
        (lambda: wl.Context.plan(security=256, m=2048), "256 bits of security allow"),
        (lambda: wl.Context.plan(slots=10**9), "none has more than 65536; ask for fewer slots"),
        (lambda: wl.Context.plan(slots=10**9, unlimited=True), "ask for fewer slots"),
        (lambda: wl.Context.plan(max_key_bytes=1), "but 1 are allowed; allow larger keys"),
        (lambda: wl.Context.plan(depth=-1), "depth: the number is -1, but must be in"),
        (lambda: wl.Context.plan(slots=-5), "slots: the number is -5"),
        (lambda: wl.Context.approximate(scale_bits=-5), "scale_bits: the number is -5"),
        (lambda: wl.Context.preset("insecure_toy_256").roll(-3, 1), "length: the number is -3"),
        (lambda: wl.Context.preset("insecure_toy_256").roll(10, 10**30), "shift: the number is 1"),
        (lambda: wl.Context.preset("insecure_toy_256").sum(1 << 70), "length: the number is"),
    ],
)
def test_numbers_are_refused_in_the_words_of_python(make: Callable[[], object], told: str) -> None:
    with pytest.raises(wl.ParameterError) as caught:
        make()
    message = str(caught.value)
    assert told in message
    for word in ("::", "base prime", "enlarge the ring", "ternary secret", "rescalings"):
        assert word not in message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_other_notes_stay_notes() -> None:
    error = wl.WindlassError("what happened")
    error.add_note("while processing 'length'")
    assert str(error) == "length: what happened"
    error.add_note("while processing 'length'")
    error.add_note("seen in a test")
    assert str(error) == "length: what happened"
    assert getattr(error, "__notes__", ["seen in a test"]) == ["seen in a test"]


def test_keys_that_a_plan_may_not_use(toy: World) -> None:
    with pytest.raises(
        wl.MissingGaloisKey, match=r"add it to keys=\[\.\.\.\], or leave keys out"
    ) as caught:
        toy.context.linear(np.ones((5, 5), int), keys=[0])
    assert "::" not in str(caught.value)
    for matrix in (np.ones(3, int), np.ones((1, 2, 2), int)):
        with pytest.raises(wl.ShapeError, match=r"not \("):
            toy.context.linear(matrix)

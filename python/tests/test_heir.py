"""Programs that HEIR compiled, against NumPy; and texts that are no programs."""

from __future__ import annotations

import contextlib
import doctest
import pickle
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import windlass as wl
from windlass.heir import _forms, _interpreter, _planning, _reader, _trace, programs
from windlass.heir._trace import Trace

TEXTS = Path(__file__).parent / "heir"
GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "heir.md"
RNG = np.random.default_rng(11)
MATRIX = np.array([[0.5, -1, 0.25, 0], [0, 0.75, 0, -0.5], [1, 0, -0.25, 0.5], [-0.5, 0.5, 0.5, 1]])
BIAS = np.array([0.125, -0.25, 0, 1])
FACTOR = np.array([[1, 0, 0.5, -1], [0, -1, 0.25, 0.5], [0.5, 0.5, 0, 0], [-0.25, 1, 0, 2]])


def text(name: str) -> str:
    return (TEXTS / f"{name}.mlir").read_text()


def reals(*shape: int) -> np.ndarray:
    return RNG.uniform(-1, 1, shape)


def integers(*shape: int) -> np.ndarray:
    return RNG.integers(-30, 30, shape)


def iterated(x: np.ndarray) -> np.ndarray:
    s = np.ones_like(x)
    for _ in range(4):
        s = s * x - 1
    return s


# The name of a text, its arguments, and what it computes.
CASES: dict[str, tuple[list[np.ndarray], Callable[..., Any]]] = {
    "weighted_sum": ([reals(8), reals(8)], lambda x, y: x @ y + 0.25),
    "weighted_sum_bgv": ([integers(8), integers(8)], lambda x, y: x @ y + 5),
    "weighted_sum_bfv": ([integers(8), integers(8)], lambda x, y: x @ y + 5),
    "layer": ([reals(4)], lambda x: MATRIX @ x + BIAS),
    "layer_generic": ([reals(4)], lambda x: MATRIX @ x + BIAS),
    "layer_openfhe": ([reals(4)], lambda x: MATRIX @ x + BIAS),
    "polynomial": ([reals(8)], lambda x: x**3 - 2 * x + 1),
    "powers": ([reals(8), reals(8)], lambda x, y: x**8 + x**4 + x**2 + y),
    "squares": ([integers(4), integers(4)], lambda x, y: x * x - y * y),
    "squares_locations": ([integers(4), integers(4)], lambda x, y: x * x - y * y),
    "iterated": ([reals(8)], iterated),
    "iterated_generic": ([reals(8)], iterated),
    "total": ([integers(16)], np.sum),
    "scaled": ([integers()], lambda x: x * 7 + 3),
    "matrix_product": ([reals(3, 4)], lambda x: x @ FACTOR),
    "product_of_matrices": ([reals(3, 4), reals(4, 5)], lambda x, y: x @ y),
    "sigmoid": ([reals(8)], lambda x: 1 / (1 + np.exp(-x))),
}
PLAIN: dict[str, dict[int, Any]] = {"scaled": {1: 7, 2: 3}}
# HEIR's own polynomial for the logistic function is this far from it.
TOLERANCE = {"sigmoid": 1e-5}


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_numpy(name: str) -> None:
    arguments, function = CASES[name]
    program = wl.heir.load(text(name), plain=PLAIN.get(name))
    expected = np.asarray(function(*arguments))
    clear, found = program.in_the_clear(*arguments), program.run(*arguments)
    assert clear.shape == found.shape == expected.shape
    if program.scheme == "CKKS":
        tolerance = TOLERANCE.get(name, 1e-7)
        np.testing.assert_allclose(clear, expected, atol=max(tolerance / 2, 1e-12))
        np.testing.assert_allclose(found, expected, atol=tolerance)
    else:
        np.testing.assert_array_equal(clear, expected)
        np.testing.assert_array_equal(found, expected)


def slot_by_slot(
    trace: Trace, modulus: int | None, arguments: list[np.ndarray]
) -> dict[int, np.ndarray]:
    """What every ciphertext of a program holds, computed as the program says, slot by slot."""
    values: dict[int, np.ndarray] = {}
    for node in trace.nodes:
        of = [values[parent.number] for parent in node.parents]
        given = node.payload
        if node.kind == "input":
            flat = arguments[given.argument].reshape(-1)
            value = np.where(given.element >= 0, flat[given.element], given.constant)
        elif node.kind == "rotate":
            value = np.concatenate([of[0][given:], of[0][:given]])
        elif node.kind == "linear":
            value = np.zeros(trace.slots)
            for shift, diagonal in zip(given.shifts, given.diagonals, strict=True):
                value = value + diagonal * np.concatenate([of[0][shift:], of[0][:shift]])
        elif node.kind == "polynomial":
            value = np.polynomial.chebyshev.chebval(of[0], given)
        elif node.kind in ("scale", "multiply"):
            value = of[0] * (given if node.kind == "scale" else of[1])
        else:
            value = of[0] + (given if node.kind == "shift" else of[1])
        values[node.number] = value if modulus is None else (value + 2**40 * modulus) % modulus
    return values


@pytest.mark.parametrize("name", CASES)
def test_fewer_operations_compute_what_the_slots_hold(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    own = _planning.Planner.results

    def results(self: Any, values: Any) -> Any:
        seen.append(own(self, values))
        return seen[-1]

    monkeypatch.setattr(_planning.Planner, "results", results)
    traces: list[Trace] = []
    own_forms = _forms.forms

    def forms(trace: Trace, *args: Any) -> Any:
        traces.append(trace)
        return own_forms(trace, *args)

    monkeypatch.setattr(_planning, "forms", forms)
    program = wl.heir.load(text(name), plain=PLAIN.get(name))
    modulus = None if program.scheme == "CKKS" else 65537
    arguments = CASES[name][0]
    values = slot_by_slot(traces[0], modulus, arguments)
    [wanted] = seen[0]
    slots = np.concatenate([values[node.number] for node in wanted.nodes])
    expected = slots[wanted.places].reshape(wanted.port.shape)
    found = program.in_the_clear(*arguments)
    np.testing.assert_allclose(found if modulus is None else found % modulus, expected, atol=1e-12)


def test_repetitions_in_slots_disappear_and_matrices_become_one_product() -> None:
    program = wl.heir.load(text("layer"))
    assert program.slots == 16
    assert (program.depth, program.products, program.relinearisation) == (1, 0, False)
    assert "matrix 4 x 4 @ array 0 + constant" in program.explain()
    plan = program.context.linear(MATRIX)
    assert program.required_keys == plan.required_keys


def test_fewer_keys_for_each_matrix() -> None:
    program = wl.heir.load(text("product_of_matrices"))
    fewer = wl.heir.load(text("product_of_matrices"), max_keys=1)
    assert len(fewer.required_keys) < len(program.required_keys)
    arguments, function = CASES["product_of_matrices"]
    np.testing.assert_allclose(fewer.run(*arguments), function(*arguments), atol=1e-7)
    again = pickle.loads(pickle.dumps(fewer))
    assert again.required_keys == fewer.required_keys


def test_products_take_the_order_of_their_sums() -> None:
    program = wl.heir.load(text("product_of_matrices"))
    # A matrix for each factor, a product, and no permutation behind it.
    assert (program.depth, program.products) == (2, 1)


def test_entries_are_encrypted_in_the_order_of_slots() -> None:
    program = wl.heir.load(text("product_of_matrices"))
    first, second = program.client_half.interface.orders
    assert sorted(first) == list(range(12)) and sorted(second) == list(range(20))
    # Entry i of the bicyclic order is in row i modulo 3 and column i modulo 4.
    assert [divmod(int(entry), 4) for entry in first] == [(i % 3, i % 4) for i in range(12)]
    # In this order a rotation of slots has at most three diagonals, whatever the shape.
    plans = program.server_half.circuit.plans.values()
    assert max(len(plan.diagonals) for plan in plans) <= 3
    assert len(program.required_keys) <= 12


# Texts by hand: what heir-opt prints seldom.

HEAD = """
!ct = !lwe.lwe_ciphertext<>
!pt = !lwe.lwe_plaintext<>
module attributes {scheme.ckks, scheme.requested_slot_count = 8 : i64} {
"""
BGV_HEAD = """
!ct = !lwe.lwe_ciphertext<>
!pt = !lwe.lwe_plaintext<>
module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 12, plaintextModulus = 65537>,
                   scheme.bgv, scheme.requested_slot_count = 16 : i64} {
"""


def ckks(body: str, signature: str = "%x: !ct, %y: !ct", results: str = "!ct") -> str:
    return f"{HEAD}func.func @f({signature}) -> {results} {{\n{body}\n}}\n}}"


X, Y = reals(8), reals(8)

BODIES: dict[str, tuple[str, Callable[[], Any]]] = {
    "differences": (
        """%c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
        %p = lwe.rlwe_encode %c : tensor<4xf32> -> !pt
        %0 = ckks.sub_plain %p, %x : (!pt, !ct) -> !ct
        %1 = ckks.sub_plain %y, %p : (!ct, !pt) -> !ct
        %2 = ckks.sub %0, %1 : (!ct, !ct) -> !ct
        %3 = ckks.negate %2 : !ct
        return %3 : !ct""",
        lambda: -((np.tile([1, 2, 3, 4], 2) - X) - (Y - np.tile([1, 2, 3, 4], 2))),
    ),
    "rotations": (
        """%c = arith.constant -3 : index
        %0 = ckks.rotate %x, %c : index : !ct
        %1 = ckks.rotate %y {static_shift = 2 : index} : !ct
        %2 = ckks.mul %0, %1 : (!ct, !ct) -> !ct
        return %2 : !ct""",
        lambda: np.roll(X, 3) * np.roll(Y, -2),
    ),
    "managed": (
        """%0 = ckks.mul %x, %y : (!ct, !ct) -> !ct
        %1 = ckks.relinearize %0 <from_basis = [0, 1, 2], to_basis = [0, 1]> : (!ct) -> !ct
        %2 = ckks.rescale %1 : !ct -> !ct
        %3 = ckks.level_reduce %2 <levelToDrop = 2> : !ct -> !ct
        %4 = ckks.bootstrap %3 : !ct -> !ct
        return %4 : !ct""",
        lambda: X * Y,
    ),
    "loops": (
        """%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c4 = arith.constant 4 : index
        %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> (!ct) {
          %even = arith.remsi %i, %c2 : index
          %odd = arith.cmpi ne, %even, %c0 : index
          %1 = scf.if %odd -> (!ct) {
            %2 = ckks.rotate %y, %i : index : !ct
            scf.yield %2 : !ct
          } else {
            scf.yield %y : !ct
          }
          %3 = ckks.add %s, %1 : (!ct, !ct) -> !ct
          scf.yield %3 : !ct
        }
        return %0 : !ct""",
        lambda: X + 2 * Y + np.roll(Y, -1) + np.roll(Y, -3),
    ),
    "tensors": (
        """%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %t = tensor.from_elements %x, %y : tensor<2x!ct>
        %0 = tensor.extract %t[%c1] : tensor<2x!ct>
        %u = tensor.insert %0 into %t[%c0] : tensor<2x!ct>
        %v = ckks.mul %t, %u : (tensor<2x!ct>, tensor<2x!ct>) -> tensor<2x!ct>
        %s = tensor.extract_slice %v[1] [1] [1] : tensor<2x!ct> to tensor<1x!ct>
        %w = tensor.insert_slice %s into %t[0] [1] [1] : tensor<1x!ct> into tensor<2x!ct>
        %1 = tensor.extract %v[%c0] : tensor<2x!ct>
        %2 = tensor.extract %w[%c0] : tensor<2x!ct>
        %3 = ckks.sub %1, %2 : (!ct, !ct) -> !ct
        return %3 : !ct""",
        lambda: X * Y - Y * Y,
    ),
    "kernel": (
        """%d = arith.constant dense<[[0.5], [2.0]]> : tensor<2x1xf32>
        %m = tensor.empty() : tensor<2x8xf32>
        %c0 = arith.constant 0 : index
        %one = arith.constant 1.0 : f32
        %n = tensor.insert %one into %m[%c0, %c0] : tensor<2x8xf32>
        %0 = kernel.linear_transform %x, %n <diagonal_indices = [3, 5]>
          : (!ct, tensor<2x8xf32>) -> !ct
        %1 = kernel.linear_transform %y, %d <diagonal_indices = [0, 7]>
          : (!ct, tensor<2x1xf32>) -> !ct
        %2 = ckks.add %0, %1 : (!ct, !ct) -> !ct
        return %2 : !ct""",
        lambda: np.eye(8)[0] * X[3] + 0.5 * Y + 2 * np.roll(Y, 1),
    ),
    "changed in place": (
        """%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %one = arith.constant 1.0 : f32
        %five = arith.constant 5.0 : f64
        %a = tensor.splat %one : tensor<8xf32>
        %b = arith.extf %a : tensor<8xf32> to tensor<8xf64>
        %c = tensor.insert %five into %b[%c0] : tensor<8xf64>
        %true = arith.constant true
        %d = arith.select %true, %c, %b : tensor<8xf64>
        %e = tensor.insert %five into %d[%c1] : tensor<8xf64>
        %g = scf.if %true -> (tensor<8xf64>) {
          %h = tensor.insert %five into %c[%c1] : tensor<8xf64>
          scf.yield %h : tensor<8xf64>
        } else {
          scf.yield %c : tensor<8xf64>
        }
        %p = ckks.mul_plain %x, %a : (!ct, tensor<8xf32>) -> !ct
        %q = ckks.mul_plain %y, %c : (!ct, tensor<8xf64>) -> !ct
        %r = ckks.mul_plain %y, %e : (!ct, tensor<8xf64>) -> !ct
        %s = ckks.mul_plain %x, %g : (!ct, tensor<8xf64>) -> !ct
        %0 = ckks.add %p, %q : (!ct, !ct) -> !ct
        %1 = ckks.add %r, %s : (!ct, !ct) -> !ct
        %2 = ckks.add %0, %1 : (!ct, !ct) -> !ct
        return %2 : !ct""",
        lambda: X + Y * [5, *[1] * 7] + (X + Y) * [5, 5, *[1] * 6],
    ),
    "constants": (
        """%p = arith.constant dense<0.0> : tensor<8xf64>
        %q = arith.constant dense<1.5> : tensor<8xf64>
        %0 = ckks.mul_plain %x, %p : (!ct, tensor<8xf64>) -> !ct
        %1 = ckks.add_plain %0, %q : (!ct, tensor<8xf64>) -> !ct
        %2 = ckks.mul %1, %y : (!ct, !ct) -> !ct
        return %2 : !ct""",
        lambda: 1.5 * Y,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_operations_by_hand(name: str) -> None:
    body, expected = BODIES[name]
    program = wl.heir.load(ckks(body))
    np.testing.assert_allclose(program.in_the_clear(X, Y), expected(), atol=1e-12)
    np.testing.assert_allclose(program.run(X, Y), expected(), atol=1e-7)


def test_a_blur_of_an_image_is_one_matrix() -> None:
    rotations = "\n".join(
        f"""%c{k} = arith.constant {shift} : index
        %r{k} = bgv.rotate_cols %x, %c{k} : index : !ct
        %s{k + 1} = bgv.add %s{k}, %r{k} : (!ct, !ct) -> !ct"""
        for k, shift in enumerate(-4 * i - j for i in (-1, 0, 1) for j in (-1, 0, 1))
    )
    zeros = """%z = arith.constant dense<0> : tensor<16xi16>
        %s0 = bgv.mul_plain %x, %z : (!ct, tensor<16xi16>) -> !ct"""
    program = wl.heir.load(
        f"{BGV_HEAD}func.func @blur(%x: !ct) -> !ct {{ {zeros}\n{rotations}\nreturn %s9 : !ct }} }}"
    )
    image = integers(16)
    expected = sum(np.roll(image, 4 * i + j) for i in (-1, 0, 1) for j in (-1, 0, 1))
    np.testing.assert_array_equal(program.run(image), expected)
    assert (program.products, program.depth) == (0, 1)


def test_levels_for_what_lies_beside_the_entries() -> None:
    # Six entries do not fill their slots: a matrix leaves sums beside them, a polynomial constants.
    body = """%d = arith.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
        %0 = kernel.linear_transform %x, %d <diagonal_indices = [0, 1]>
          : (!ct, tensor<2x1xf32>) -> !ct
        %1 = kernel.eval_chebyshev %0 <coefficients = [0.5, 0.25, 0.125]> : (!ct) -> !ct
        %2 = kernel.linear_transform %1, %d <diagonal_indices = [0, 1]>
          : (!ct, tensor<2x1xf32>) -> !ct
        return %2 : !ct"""
    source = ckks(body, "%x: !ct").replace("count = 8", "count = 6")
    program = wl.heir.load(source)
    x = reals(6)
    once = np.polynomial.chebyshev.chebval(0.5 * x + 0.25 * np.roll(x, -1), [0.5, 0.25, 0.125])
    expected = 0.5 * once + 0.25 * np.roll(once, -1)
    np.testing.assert_allclose(program.run(x), expected, atol=1e-7)
    assert program.depth == 6


def test_several_results_and_one_that_is_known() -> None:
    body = """%p = arith.constant dense<0.0> : tensor<8xf64>
        %0 = ckks.add %x, %y : (!ct, !ct) -> !ct
        %1 = ckks.mul_plain %x, %p : (!ct, tensor<8xf64>) -> !ct
        return %0, %1 : !ct, !ct"""
    program = wl.heir.load(ckks(body, results="(!ct, !ct)"))
    client, server = program.setup(progress=False)
    results = server.evaluate(client.encrypt(X, Y))
    assert results[1] is None
    found = client.decrypt(results)
    np.testing.assert_allclose(found[0], X + Y, atol=1e-7)
    np.testing.assert_array_equal(found[1], np.zeros(8))


def test_bounds_are_those_of_the_arguments() -> None:
    program = wl.heir.load(text("weighted_sum"), bound=[100, 0.5])
    client, server = program.setup(progress=False)
    x, y = np.full(8, 99.5), np.full(8, 0.25)
    inputs = client.encrypt(x, y)
    assert [each.bound for each in inputs] == [100, 0.5]
    assert client.decrypt(server.evaluate(inputs)) == pytest.approx(x @ y + 0.25, abs=1e-4)
    with pytest.raises(wl.ValueRangeError):
        client.encrypt(x, 4 * y)
    with pytest.raises(wl.ParameterError, match="bound is a positive number"):
        wl.heir.load(text("weighted_sum"), bound=[1, 2, 3])


def test_servers_have_the_keys_that_the_program_states() -> None:
    program = wl.heir.load(text("weighted_sum_bgv"))
    client, server = program.context.generate_keys(program, progress=False)
    assert server.galois_elements == program.required_keys
    assert server.relinearisation and program.relinearisation
    inputs = program.encrypt(client, *CASES["weighted_sum_bgv"][0])
    with pytest.raises(wl.MissingGaloisKey) as caught:
        program.evaluate(client.generate_server(program.context.products()), inputs)
    assert caught.value.elements == program.required_keys
    assert caught.value.needed_by == "weighted_sum"
    sums = program.context.keys(program.required_keys)
    with pytest.raises(wl.MissingRelinearisationKey):
        program.evaluate(client.generate_server(sums), inputs)
    with pytest.raises(wl.ShapeError):
        program.evaluate(server, inputs[:1])


def test_pickles_are_the_same_program() -> None:
    program = wl.heir.load(text("scaled"), plain=PLAIN["scaled"])
    again = pickle.loads(pickle.dumps(program))
    assert repr(again) == repr(program) and again.context == program.context
    assert again.in_the_clear(5) == 38


def test_a_context_may_be_given() -> None:
    context = wl.Context.approximate(depth=4)
    program = wl.heir.load(text("polynomial"), context=context)
    assert program.context == context
    with pytest.raises(wl.ParameterError, match="the program is for CKKS, but the context is BGV"):
        wl.heir.load(text("polynomial"), context=wl.Context.plan(modulus=65537, depth=1))


def test_numbers_outside_of_every_interval_are_found() -> None:
    program = wl.heir.load(text("sigmoid"), bound=8)
    # HEIR's polynomial is for numbers from -1 to 1.
    with pytest.raises(wl.NotDecryptable):
        program.run(np.full(8, 7.9))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ([X], wl.ShapeError, "takes 2 encrypted arrays, not 1"),
        ([X[:4], Y], wl.ShapeError, r"argument 0 has the shape \(8,\), not \(4,\)"),
        ([X, Y + 1j], wl.DTypeError, "argument 1 holds real numbers, not complex128"),
    ],
)
def test_arguments_of_another_kind(arguments: list[Any], error: type, message: str) -> None:
    program = wl.heir.load(text("weighted_sum"))
    for call in (program.run, program.in_the_clear):
        with pytest.raises(error, match=message):
            call(*arguments)


def test_plain_arguments_are_checked() -> None:
    cases: list[tuple[dict[int, Any], type, str]] = [
        ({1: 7}, wl.ParameterError, r"argument 2 of @scaled is not encrypted: give plain={2: ...}"),
        ({0: 7, 1: 7, 2: 3}, wl.ParameterError, "not all of the arguments"),
        ({1: 7, 2: [3]}, wl.ShapeError, "plain argument 2 has the shape"),
        ({1: 0.5, 2: 3}, wl.DTypeError, "plain argument 1 is i16, not float64"),
    ]
    for plain, error, message in cases:
        with pytest.raises(error, match=message):
            wl.heir.load(text("scaled"), plain=plain)


# Texts that are no programs.

BAD: dict[str, tuple[str, str, tuple[int, int]]] = {
    "empty": ("", "names no scheme", (1, 1)),
    "unknown operation": (
        ckks("%0 = openfhe.add %x, %y : (!ct, !ct) -> !ct\nreturn %0 : !ct"),
        "the operation openfhe.add is not supported; give the program as it is before",
        (6, 6),
    ),
    "unknown generic operation": (
        ckks('%0 = "evil.op"(%x) : (!ct) -> !ct\nreturn %0 : !ct'),
        "the operation evil.op is not supported",
        (6, 6),
    ),
    "unknown type": ("func.func @f(%x: !nothing) { return }", "!nothing is not defined", (1, 18)),
    "undefined value": (
        ckks("%0 = ckks.add %x, %z : (!ct, !ct) -> !ct\nreturn %0 : !ct"),
        "%z is not defined",
        (6, 19),
    ),
    "defined twice": (
        ckks("%x = ckks.negate %y : !ct\nreturn %x : !ct"),
        "%x is defined twice",
        (6, 1),
    ),
    "other type": (
        ckks("%0 = ckks.add %x, %y : (!ct, !pt) -> !ct\nreturn %0 : !ct"),
        "%y is !lwe.lwe_ciphertext, but !lwe.lwe_plaintext is written",
        (6, 19),
    ),
    "no ciphertext": (
        ckks("%c = arith.constant 1 : index\n%0 = ckks.negate %c : index\nreturn %x : !ct"),
        "operand 1 of ckks.negate is index, not a ciphertext",
        (7, 6),
    ),
    "operands": (
        ckks("%0 = ckks.add %x : (!ct) -> !ct\nreturn %0 : !ct"),
        "ckks.add has 1 operands, not 2",
        (6, 6),
    ),
    "results": (
        ckks("%0, %1 = ckks.add %x, %y : (!ct, !ct) -> !ct\nreturn %0 : !ct"),
        "ckks.add has 1 results, but 2 names",
        (6, 1),
    ),
    "returned type": (
        ckks("%c = arith.constant 1 : index\nreturn %c : index"),
        r"gives \(index\), but \(!lwe.lwe_ciphertext\) are expected",
        (7, 1),
    ),
    "no return": (ckks("%0 = ckks.negate %x : !ct"), "func.return is missing", (6, 6)),
    "dynamic shape": (
        ckks("return %x : tensor<?x!ct>", "%x: tensor<?x!ct>", "tensor<?x!ct>"),
        "dynamic shapes are not supported",
        (5, 1),
    ),
    "shapes of ciphertexts": (
        ckks(
            "%0 = ckks.add %x, %y : (tensor<2x!ct>, !ct) -> !ct\nreturn %0 : !ct",
            "%x: tensor<2x!ct>, %y: !ct",
        ),
        "differ in shape",
        (6, 6),
    ),
    "constant": (
        ckks("%c = arith.constant dense<[1, 2, 3]> : tensor<4xi32>\nreturn %x : !ct"),
        r"entries of shape \(3,\) for tensor<4xi32>",
        (6, 26),
    ),
    "ragged constant": (
        ckks("%c = arith.constant dense<[[1], [2, 3]]> : tensor<2x1xi32>\nreturn %x : !ct"),
        "differ in length",
        (6, 28),
    ),
    "damaged digits": (
        ckks('%c = arith.constant dense<"0x123"> : tensor<1xi32>\nreturn %x : !ct'),
        "hexadecimal digits of this constant are damaged",
        (6, 26),
    ),
    "huge constant": (
        ckks("%c = arith.constant dense<0> : tensor<9999999999xi32>\nreturn %x : !ct"),
        "at most",
        (6, 26),
    ),
    "huge tensor": (
        ckks(
            "%c = tensor.empty() : tensor<99999x99999xi32>\n%i = arith.constant 0 : index\n"
            "%e = tensor.extract %c[%i, %i] : tensor<99999x99999xi32>\n"
            "%0 = ckks.rotate %x, %e : i32 : !ct\nreturn %0 : !ct"
        ),
        "more than .* entries",
        (6, 6),
    ),
    "plaintext": (
        ckks(
            "%c = arith.constant dense<1.0> : tensor<3xf32>\n"
            "%0 = ckks.mul_plain %x, %c : (!ct, tensor<3xf32>) -> !ct\nreturn %0 : !ct"
        ),
        "3 numbers do not fill 8 slots",
        (7, 6),
    ),
    "not finite": (
        ckks(
            "%c = arith.constant 0x7F800000 : f32\n%s = tensor.splat %c : tensor<8xf32>\n"
            "%0 = ckks.mul_plain %x, %s : (!ct, tensor<8xf32>) -> !ct\nreturn %0 : !ct"
        ),
        "not finite",
        (8, 6),
    ),
    "outside of a tensor": (
        ckks(
            "%t = tensor.from_elements %x, %y : tensor<2x!ct>\n%i = arith.constant 2 : index\n"
            "%0 = tensor.extract %t[%i] : tensor<2x!ct>\nreturn %0 : !ct"
        ),
        "outside of the shape",
        (8, 6),
    ),
    "never written": (
        ckks(
            "%t = tensor.empty() : tensor<2x!ct>\n%i = arith.constant 1 : index\n"
            "%0 = tensor.extract %t[%i] : tensor<2x!ct>\nreturn %0 : !ct"
        ),
        "never written",
        (8, 6),
    ),
    "division by 0": (
        ckks(
            "%c = arith.constant 0 : index\n%d = arith.divsi %c, %c : index\n"
            "%0 = ckks.rotate %x, %d : index : !ct\nreturn %0 : !ct"
        ),
        "a division by 0",
        (7, 6),
    ),
    "endless": (
        ckks(
            "%a = arith.constant 0 : index\n"
            "%0 = scf.for %i = %a to %a step %a iter_args(%s = %x) -> (!ct) {\n"
            "scf.yield %s : !ct\n}\nreturn %0 : !ct"
        ),
        "has no end",
        (7, 6),
    ),
    "recursion": (
        HEAD
        + "func.func @f(%x: !ct) -> !ct {\n%0 = call @f(%x) : (!ct) -> !ct\nreturn %0 : !ct\n} }",
        "@f calls itself",
        (5, 1),
    ),
    "unknown function": (
        ckks("%0 = call @g(%x) : (!ct) -> !ct\nreturn %0 : !ct"),
        "@g is not defined",
        (6, 6),
    ),
    "assertion": (
        ckks('%f = arith.constant false\ncf.assert %f, "no"\nreturn %x : !ct'),
        "the program asserts: no",
        (7, 1),
    ),
    "secret as plaintext": (
        ckks("return %p : !pt", "%x: !ct, %p: !pt", "!pt"),
        "argument 1 of @f is !lwe.lwe_plaintext, which is not supported",
        (5, 1),
    ),
    "two schemes": (
        "!ct = !lwe.lwe_ciphertext<>\nfunc.func @f(%x: !ct) -> !ct {\n%0 = ckks.negate %x : !ct\n"
        "%1 = bgv.negate %0 : !ct\nreturn %1 : !ct\n}",
        "operations of two",
        (1, 1),
    ),
    "no slots": (
        "!ct = !lwe.lwe_ciphertext<>\nfunc.func @f(%x: !ct) -> !ct {\n%0 = ckks.negate %x : !ct\n"
        "return %0 : !ct\n}",
        "give slots=",
        (1, 1),
    ),
    "unclosed": (
        ckks("return %x : !ct").replace("<>\n!pt", "<\n!pt"),
        "is never closed|closes",
        (2, 0),
    ),
    "unclosed string": ('module attributes {a = "x} {\n}', "has no end", (1, 24)),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_say_what_is_wrong_and_where(name: str) -> None:
    source, message, (line, column) = BAD[name]
    with pytest.raises(wl.ProgramError, match=message) as caught:
        wl.heir.load(source)
    assert caught.value.line == line
    assert caught.value.column == column or not column
    assert str(caught.value).startswith(f"line {line}, column {caught.value.column}: ")


def test_the_operation_that_is_missing_is_an_attribute() -> None:
    with pytest.raises(wl.ProgramError) as caught:
        wl.heir.load(BAD["unknown operation"][0])
    assert caught.value.operation == "openfhe.add"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.operation, again.line, str(again)) == ("openfhe.add", 6, str(caught.value))


@pytest.mark.parametrize("opening", ["[", "{a = ", "(", "<"])
def test_nesting_without_end_is_refused(opening: str) -> None:
    for source in (
        f"module attributes {{a = {opening * 100_000}",
        f"!t = !a.b<{opening.replace('{a = ', '{') * 100_000}",
        f"func.func @f() {{ {opening * 100_000}",
    ):
        with pytest.raises(wl.ProgramError):
            wl.heir.load(source)


def test_regions_without_end_are_refused() -> None:
    loops = [
        f"%r{k} = affine.for %i{k} = 0 to 1 iter_args(%s{k} = %x) -> (!ct) {{" for k in range(1000)
    ]
    with pytest.raises(wl.ProgramError, match="nested deeper"):
        wl.heir.load(ckks("\n".join(loops)))


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = """%a = arith.constant 0 : index
        %b = arith.constant 100000000000000 : index
        %c = arith.constant 1 : index
        %0 = scf.for %i = %a to %b step %c iter_args(%s = %x) -> (!ct) {
          %1 = ckks.add %s, %y : (!ct, !ct) -> !ct
          scf.yield %1 : !ct
        }
        return %0 : !ct"""
    monkeypatch.setattr(_interpreter, "MOST_STEPS", 1000)
    with pytest.raises(wl.ProgramError, match="runs more than 1000 operations"):
        wl.heir.load(ckks(loop))
    monkeypatch.setattr(_interpreter, "MOST_STEPS", 10**6)
    monkeypatch.setattr(_trace, "MOST_NODES", 500)
    with pytest.raises(
        wl.ProgramError, match=r"line 10, .*more than 500 operations on ciphertexts"
    ):
        wl.heir.load(ckks(loop))
    monkeypatch.setattr(_trace, "MOST_NUMBERS", 7)
    with pytest.raises(wl.ProgramError, match="hold more than 7 numbers"):
        wl.heir.load(ckks(BODIES["differences"][0]))
    monkeypatch.setattr(_reader, "MOST_CHARACTERS", 100)
    with pytest.raises(wl.ProgramError, match="at most 100 characters"):
        wl.heir.load(text("layer"))


def quiet(source: str) -> None:
    """Load a damaged text: an error of ours, or a program."""
    with contextlib.suppress(wl.WindlassError):
        wl.heir.load(source)


@pytest.mark.parametrize("name", ["polynomial", "layer_generic"])
def test_truncated_texts_are_refused(name: str) -> None:
    whole = text(name)
    for end in RNG.integers(0, len(whole) - 3, 60):
        with pytest.raises(wl.ProgramError):
            wl.heir.load(whole[:end])


@pytest.mark.parametrize("name", ["polynomial", "squares", "sigmoid", "layer_generic"])
def test_damaged_texts_end_in_errors_of_ours(name: str) -> None:
    whole = text(name)
    words = re.findall(r"%?[\w.]+|[^\w\s]", whole)
    for _ in range(40):
        start, other = RNG.integers(0, len(whole), 2)
        length = int(RNG.integers(1, 12))
        for middle in ("", str(RNG.choice(words)), whole[other : other + length]):
            quiet(whole[:start] + middle + whole[start + length :])


def test_only_texts_are_loaded() -> None:
    with pytest.raises(wl.DTypeError, match="a program is a str, not bytes"):
        wl.heir.load(b"module {}")  # type: ignore[call-overload]


# HEIR's Python frontend.


@pytest.fixture(name="frontend")
def _frontend(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """What of HEIR's frontend the backend uses."""
    import abc

    interfaces = types.ModuleType("heir.interfaces")

    class EncValue:
        def __init__(self, identifier: str, value: object) -> None:
            self.identifier, self.value = identifier, value

    interfaces.BackendInterface = abc.ABCMeta("BackendInterface", (), {})  # type: ignore[attr-defined]
    interfaces.ClientInterface = abc.ABCMeta("ClientInterface", (), {})  # type: ignore[attr-defined]
    interfaces.EncValue = EncValue  # type: ignore[attr-defined]
    heir = types.ModuleType("heir")
    heir.interfaces = interfaces  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "heir", heir)
    monkeypatch.setitem(sys.modules, "heir.interfaces", interfaces)
    return interfaces


def compiled(source: str, name: str, names: list[str], secret: list[int], **how: Any) -> Any:
    backend = wl.heir.Backend(**how)
    return backend.run_backend("", None, None, name, names, secret, source, False)


def test_the_backend_has_the_interface_of_heir(frontend: types.ModuleType) -> None:
    function = compiled(text("squares"), "squares", ["x", "y"], [0, 1])
    assert isinstance(function, frontend.ClientInterface)
    assert isinstance(wl.heir.Backend(), frontend.BackendInterface)
    x, y = integers(4), integers(4)
    np.testing.assert_array_equal(function(x, y), x * x - y * y)
    function.setup()
    a, b = function.encrypt_x(x), function.encrypt_y(y)
    np.testing.assert_array_equal(function.decrypt_result(function.eval(a, b)), x * x - y * y)
    np.testing.assert_array_equal(function.decrypt_result(function.squares(a, b)), x * x - y * y)
    with pytest.raises(wl.ParameterError, match="argument 0 of squares is what encrypt_x"):
        function.eval(b, a)
    with pytest.raises(wl.ShapeError):
        function.eval(a)
    with pytest.raises(AttributeError):
        _ = function.encrypt_z
    with pytest.raises(wl.ParameterError, match="not compiled from a function in Python"):
        function.original(x, y)
    function.func = lambda x, y: x * x - y * y
    np.testing.assert_array_equal(function.original(x, y), x * x - y * y)


def test_the_backend_plans_with_plain_arguments(frontend: types.ModuleType) -> None:
    assert frontend
    function = compiled(text("scaled"), "scaled", ["x", "a", "b"], [0])
    assert function(5, 7, 3) == 38
    assert function(5, 2, 1) == 11
    x = function.encrypt_x(6)
    assert function.decrypt_result(function.eval(x, 2, 1)) == 13
    with pytest.raises(wl.ParameterError, match="a is part of the plan"):
        function.eval(x, 3, 1)
    fresh = compiled(text("scaled"), "scaled", ["x", "a", "b"], [0])
    for call in (fresh.setup, lambda: fresh.setup(a=1), lambda: fresh.program):
        with pytest.raises(wl.ParameterError, match="a, b of scaled are not encrypted"):
            call()
    with pytest.raises(wl.UnknownName, match="no argument z"):
        fresh.setup(z=1)
    with pytest.raises(wl.ParameterError, match=r"call setup\(\) of scaled"):
        fresh.encrypt_x(5)


def test_the_backend_needs_heir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "heir", None)
    with pytest.raises(wl.MissingPackage, match=r"pip install windlass\[heir\]"):
        wl.heir.Backend()


def test_heir_itself() -> None:
    pytest.importorskip("heir")
    pytest.importorskip("numba")
    from heir import compile as heir_compile
    from heir.mlir import I16, Secret

    def difference(a, b):  # type: ignore[no-untyped-def]
        return (a + b) * (a - b)

    difference.__annotations__ = {"a": Secret[I16], "b": Secret[I16]}
    function = heir_compile(scheme="bgv", backend=wl.heir.Backend())(difference)
    assert function(7, 3) == function.original(7, 3) == 40


@pytest.mark.parametrize("module", [programs, wl.heir.backend, wl.heir])
def test_examples(module: types.ModuleType) -> None:
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0 and tried


@pytest.mark.skipif(not GUIDE.is_file(), reason="the guide lies in the repository")
def test_the_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TEXTS)
    guide = GUIDE.read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(guide, {}, GUIDE.name, str(GUIDE), 0)
    failed, tried = doctest.DocTestRunner().run(test)
    assert failed == 0 and tried > 10

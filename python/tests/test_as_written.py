"""Programs of HEIR run as written, against NumPy and the scales that the texts state."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_heir

import windlass as wl

TEXTS = Path(__file__).parent / "heir"
load: Any = wl.heir.load
NAMES = (
    "weighted_sum",
    "weighted_sum_bgv",
    "layer_openfhe",
    "polynomial",
    "powers",
    "squares",
    "total",
    "scaled",
    "matrix_product",
    "product_of_matrices",
)


def text(name: str) -> str:
    return (TEXTS / f"{name}.mlir").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_numpy(name: str) -> None:
    arguments, function = test_heir.CASES[name]
    program = load(text(name), plain=test_heir.PLAIN.get(name), run="as written")
    expected = np.asarray(function(*arguments))
    found = program.run(*arguments)
    assert found.shape == expected.shape
    if program.scheme == "CKKS":
        np.testing.assert_allclose(found, expected, atol=1e-5)
    else:
        np.testing.assert_array_equal(found, expected)


def test_levels_scales_and_factors_are_those_of_the_text() -> None:
    """HEIR states the factor of BGV after each modulus switch: ours are the same."""
    program = load(text("weighted_sum_bgv"), run="as written")
    client, server = program.setup()
    encrypted = client.encrypt(*test_heir.CASES["weighted_sum_bgv"][0])
    assert [(x.level, x.scale, x.size) for x in encrypted] == [(2, 1, 2)] * 2
    (result,) = server.evaluate(encrypted)
    last = re.search(r"packing_encoding1 = .*scaling_factor = ([0-9]+)>", text("weighted_sum_bgv"))
    assert last is not None
    assert (result.level, result.scale, result.size) == (0, int(last[1]), 2)
    (real,) = _evaluated("weighted_sum")
    assert real.level == 0 and abs(np.log2(real.scale) - 45) < 1e-6


def _evaluated(name: str) -> Any:
    program = load(text(name), run="as written")
    client, server = program.setup()
    return server.evaluate(client.encrypt(*test_heir.CASES[name][0]))


def test_the_chain_is_that_of_the_text() -> None:
    program = load(text("weighted_sum"), run="as written")
    assert program.context.steps[1:] == [[35184371138561], [35184372121601]]
    first = program.context.steps[0]
    assert len(first) == 2 and abs(np.prod(np.array(first, float)) / 36028797017456641 - 1) < 1e-3
    assert program.rotations == (1, 2, 4) and program.relinearisation and program.products == 1
    said = program.explain()
    assert "as written" in said and "bits of security" in said and "1 relinearize" in said


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("iterated", "line 1[0-9]*, column .*ckks.bootstrap cannot run as written"),
        ("layer", "kernel.* cannot run as written"),
        ("weighted_sum_bfv", "BFV cannot run as written"),
    ],
)
def test_what_cannot_run_as_written_is_refused_when_loaded(name: str, message: str) -> None:
    with pytest.raises(wl.ProgramError, match=message):
        load(text(name), run="as written")


def changed(old: str, new: str) -> str:
    before = text("weighted_sum")
    assert old in before
    return before.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("level = 1, scale = 45", "level = 2, scale = 45", "ciphertext is at level 1"),
        (
            "%ct_1 = ckks.relinearize %ct <from_basis = [0, 1, 2], to_basis = [0, 1]>",
            "%ct_1 = ckks.negate %ct",
            "not relinearised",
        ),
        (
            "%ct_2 = ckks.rotate %ct_1, %c1 : index : !ct_L2_1",
            "%ct_2 = ckks.relinearize %ct_1 <from_basis = [0, 1, 2], to_basis = [0, 1]> : "
            "(!ct_L2_1) -> !ct_L2_1",
            "polynomials already",
        ),
    ],
)
def test_steps_that_do_not_fit_are_refused_when_loaded(old: str, new: str, message: str) -> None:
    with pytest.raises(wl.ProgramError, match=rf"line [0-9]+, column .*{message}"):
        load(changed(old, new), run="as written")


def test_scales_that_do_not_fit_are_refused_by_the_server() -> None:
    program = load(changed("level = 2, scale = 90", "level = 2, scale = 89"), run="as written")
    client, server = program.setup()
    encrypted = client.encrypt(*test_heir.CASES["weighted_sum"][0])
    with pytest.raises(wl.ProgramError, match=r"line [0-9]+, column .*different scales"):
        server.evaluate(encrypted)
    with pytest.raises(wl.ShapeError):
        server.evaluate(encrypted[:1])


def test_options() -> None:
    with pytest.raises(wl.ParameterError):
        load(text("squares"), run="as they like")
    with pytest.raises(wl.ParameterError):
        load(text("squares"), run="as written", max_keys=2)
    insecure = (
        changed("logN = 14", "logN = 12").replace("x16384", "x4096").replace("x**16384", "x**4096")
    )
    insecure = insecure.replace("slot_count = 8192", "slot_count = 2048")
    with pytest.raises(wl.InsecureParameters):
        load(insecure, run="as written")
    assert load(insecure, run="as written", insecure=True).context.security < 128


# Small programs modulo 65537, in 2,048 slots of two rows.


def small(body: str, *, signature: str = "%x: !ct", slots: int = 16, clients: str = "") -> str:
    return f"""
!ct = !lwe.lwe_ciphertext<>
!pt = !lwe.lwe_plaintext<>
!pk = !lwe.lwe_public_key<>
module attributes {{bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [{2**40}, {2**40}],
                   P = [{2**45}], plaintextModulus = 65537>,
                   scheme.bgv, scheme.requested_slot_count = {slots} : i64}} {{
  func.func @f({signature}) -> !ct {{
    {body}
    return %out : !ct
  }}
  {clients}
}}
"""


def written(program: str, **options: Any) -> Any:
    return load(program, run="as written", insecure=True, **options)


NEGATED = "%out = bgv.negate %x : !ct"
X = np.arange(-8, 8)


def encoded(name: str, dense: str, at: str = "level = 1, scale = 1") -> str:
    return f"""%c_{name} = arith.constant dense<{dense}> : tensor<16xi64>
    %{name} = lwe.rlwe_encode %c_{name} <{at}> : tensor<16xi64> -> !pt"""


def test_slots_that_do_not_divide_a_row_are_refused() -> None:
    # Both rows together have 4,096 slots, but a rotation moves each row on its own.
    with pytest.raises(wl.ProgramError, match=r"line [0-9]+.*4096 slots.*do not divide.* 2048 "):
        written(small(NEGATED, slots=4096))
    for slots in (4096, 48):
        with pytest.raises(wl.ProgramError, match=f"{slots} slots.*do not divide.* 2048 "):
            written(small(NEGATED), slots=slots)
    with pytest.raises(wl.ProgramError, match=r"16384 slots.*do not divide.* 8192 "):
        load(text("weighted_sum"), run="as written", slots=2**14)
    whole_row = np.arange(2048)
    found = written(small(NEGATED), slots=2048).run(whole_row)
    np.testing.assert_array_equal(found, -whole_row)


@pytest.mark.parametrize("value", [32769, -32769, 2**16, 2**53 + 1, 2**63 - 1, -(2**63)])
def test_integers_outside_of_the_plaintext_space_are_refused(value: int) -> None:
    program = written(small(NEGATED))
    client, _ = program.setup()
    with pytest.raises(wl.ValueRangeError, match=str(value)):
        client.encrypt(np.full(16, value))


def test_constants_are_reduced_exactly() -> None:
    numbers = [2**63 - 1, -(2**63), 2**53 + 1, 32769]
    dense = "[" + ", ".join(map(str, numbers * 4)) + "]"
    residues = np.array([(x + 32768) % 65537 - 32768 for x in numbers] * 4)
    plain = f"""{encoded("p", dense)}
    %out = bgv.add_plain %x, %p : (!ct, !pt) -> !ct"""
    np.testing.assert_array_equal(written(small(plain)).run(np.zeros(16, int)), residues)
    beside = f"""func.func @f__encrypt__arg0(%x: tensor<1xi64>, %pk: !pk) -> !ct {{
    %c = arith.constant dense<{dense}> : tensor<16xi64>
    %i = arith.constant 0 : index
    %entry = tensor.extract %x[%i] : tensor<1xi64>
    %filled = tensor.insert %entry into %c[%i] : tensor<16xi64>
    %p = lwe.rlwe_encode %filled <level = 1, scale = 1> : tensor<16xi64> -> !pt
    %ct = lwe.rlwe_encrypt %p, %pk : (!pt, !pk) -> !ct
    return %ct : !ct
  }}"""
    found = written(small(NEGATED, clients=beside)).run([5])
    np.testing.assert_array_equal(found, [-5, *-residues[1:]])


def test_a_plaintext_of_bgv_with_fractions_is_refused() -> None:
    half = """%c = arith.constant dense<0.5> : tensor<16xf64>
    %p = lwe.rlwe_encode %c <level = 1, scale = 1> : tensor<16xf64> -> !pt
    %out = bgv.add_plain %x, %p : (!ct, !pt) -> !ct"""
    with pytest.raises(wl.ProgramError, match=r"line [0-9]+, column .*not integers"):
        written(small(half))


@pytest.mark.parametrize("operation", ["add_plain", "sub_plain", "mul_plain"])
@pytest.mark.parametrize("operands", ["%x, %p : (!ct, !pt)", "%p, %x : (!pt, !ct)"])
def test_a_plaintext_stands_on_either_side(operation: str, operands: str) -> None:
    done = f"%out = bgv.{operation} {operands} -> !ct"
    ours = {"add_plain": np.add, "sub_plain": np.subtract, "mul_plain": np.multiply}[operation]
    expected = ours(X, 7) if operands.startswith("%x") else ours(7, X)
    found = written(small(f"{encoded('p', '7')}\n{done}")).run(X)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(
        wl.ProgramError, match=r"ciphertext is at level 1, the plaintext at level 0"
    ):
        written(small(f"{encoded('p', '7', 'level = 0, scale = 1')}\n{done}"))
    number = "%p = arith.constant 7 : i64\n" + done.replace("!pt", "i64")
    with pytest.raises(wl.ProgramError, match="an encoded plaintext"):
        written(small(number))


ZERO = """func.func @f__encrypt_zero__zero0(%pk: !pk) -> !ct {
    %c = arith.constant dense<0> : tensor<16xi64>
    %p = lwe.rlwe_encode %c <level = 0, scale = 3> : tensor<16xi64> -> !pt
    %ct = lwe.rlwe_encrypt %p, %pk : (!pt, !pk) -> !ct
    return %ct : !ct
  }"""
ZEROS = "dense<0.0> : tensor<16xf64>"
WITH_ZERO = "%x: !ct, %z: !ct {client.enc_zero_arg = {index = 0 : i64}}"


def test_encrypted_zeros_have_their_own_level_and_factor() -> None:
    body = """%low = bgv.level_reduce %x {levelToDrop = 1 : i64} : !ct -> !ct
    %out = bgv.negate %low : !ct"""
    program = written(small(body, signature=WITH_ZERO, clients=ZERO))
    client, server = program.setup()
    encrypted = client.encrypt(X)
    assert [(x.level, x.scale) for x in encrypted] == [(1, 1), (0, 3)]
    np.testing.assert_array_equal(client.decrypt(server.evaluate(encrypted)), -X)


def test_the_bound_of_an_argument_is_not_that_of_zeros() -> None:
    real = small(NEGATED, signature=WITH_ZERO, clients=ZERO.replace("scale = 3", "scale = 20"))
    for old, new in (("bgv", "ckks"), ("i64> ->", "f64> ->"), ("dense<0> : tensor<16xi64>", ZEROS)):
        real = real.replace(old, new)
    real = real.replace("plaintextModulus = 65537", "logDefaultScale = 20")
    real = real.replace("level = 0, scale = 20", "level = 1, scale = 20")
    argument, zero = written(real, bound=2.0**12).setup()[0].encrypt(np.zeros(16))
    assert (argument.level, argument.scale) == (zero.level, zero.scale) == (1, 2.0**20)
    assert zero.room_bits > argument.room_bits + 5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("level = 2, scale = 90", "level = 2, scale = 1024", "scale has 1024 bits"),
        ("level = 2, scale = 90", "level = 2, scale = -65", "scale has -65 bits"),
        ("level = 2, scale = 90", f"level = 2, scale = {10**400}", "scale has 10*"),
        ("logDefaultScale = 45", "logDefaultScale = 1024", "scale has 1024 bits"),
        ("Q = [36028797017456641", f"Q = [{'9' * 5000}", "Q has a modulus of more than 19 digits"),
        ("P = [1152921504607338497", f"P = [{'9' * 20}", "P has a modulus of more than 19 digits"),
        ("Q = [", f"Q = [{'35184372121601, ' * 126}", "Q has 129 moduli, but at most 128"),
        ("level = 2, scale = 90", "level = -1, scale = 90", r"level -1.*0 to 2"),
        ("level = 2, scale = 90", "level = 3, scale = 90", r"level 3.*0 to 2"),
        ("level = 2, scale = 45", "level = -1, scale = 45", r"level -1.*0 to 2"),
    ],
)
def test_levels_scales_and_moduli_out_of_range_are_refused_when_loaded(
    old: str, new: str, message: str
) -> None:
    program = changed(old, new)
    with pytest.raises(wl.ProgramError, match=message) as refused:
        load(program, run="as written")
    if old.startswith("level"):
        assert refused.value.line == line_of(program, new)


def test_an_argument_is_encoded_at_the_level_of_its_type() -> None:
    program = changed("level = 2, scale = 45", "level = 1, scale = 45")
    with pytest.raises(
        wl.ProgramError, match="argument of level 2 is encoded at level 1"
    ) as refused:
        load(program, run="as written")
    client = program[program.index("@weighted_sum__encrypt__arg0") :]
    before = program.count("\n") - client.count("\n")
    assert refused.value.line == before + line_of(client, "lwe.rlwe_encode")
    deeper = small(NEGATED).replace(
        "!ct = !lwe.lwe_ciphertext<>",
        "!q = !mod_arith.int<7 : i64>\n"
        "#ring = #polynomial.ring<coefficientType = !rns.rns<!q, !q, !q>>\n"
        "!ct = !lwe.lwe_ciphertext<ciphertext_space = <ring = #ring, encryption_type = lsb>>",
    )
    with pytest.raises(wl.ProgramError, match=r"argument is at level 2, .* levels 0 to 1"):
        written(deeper)


def line_of(program: str, what: str) -> int:
    return 1 + program[: program.index(what)].count("\n")


def test_a_factor_that_is_no_unit_is_refused_when_loaded() -> None:
    for factor in (0, 65537, -65537):
        body = f"""{encoded("p", "7", f"level = 1, scale = {factor}")}
    %out = bgv.mul_plain %x, %p : (!ct, !pt) -> !ct"""
        with pytest.raises(wl.ProgramError, match=f"{factor} is 0 modulo 65537") as refused:
            written(small(body))
        assert refused.value.line == line_of(small(body), "lwe.rlwe_encode")


def test_an_argument_that_is_encoded_in_two_ways_is_refused() -> None:
    client = """func.func @f__encrypt__arg0(%x: tensor<16xi64>, %pk: !pk) -> tensor<2x!ct> {
    %p = lwe.rlwe_encode %x <level = 1, scale = 1> : tensor<16xi64> -> !pt
    %q = lwe.rlwe_encode %x <level = 0, scale = 1> : tensor<16xi64> -> !pt
    %a = lwe.rlwe_encrypt %p, %pk : (!pt, !pk) -> !ct
    %b = lwe.rlwe_encrypt %q, %pk : (!pt, !pk) -> !ct
    %both = tensor.from_elements %a, %b : tensor<2x!ct>
    return %both : tensor<2x!ct>
  }"""
    body = """%i = arith.constant 0 : index
    %out = tensor.extract %x[%i] : tensor<2x!ct>"""
    signature = "%x: tensor<2x!ct>"
    with pytest.raises(wl.ProgramError, match="@f__encrypt__arg0 encodes at several levels"):
        written(small(body, signature=signature, clients=client))
    same = client.replace("level = 0", "level = 1")
    found = written(small(body, signature=signature, clients=same)).run(X)
    np.testing.assert_array_equal(found, X)


@pytest.mark.parametrize("tolerance", [-1e-9, 1.5, float("nan"), float("inf")])
def test_a_tolerance_outside_of_0_and_1_is_refused_when_loaded(tolerance: float) -> None:
    with pytest.raises(wl.ParameterError, match="scale_tolerance is between 0 and 1"):
        load(text("squares"), run="as written", scale_tolerance=tolerance)


LAST = "%ct_12 = ckks.rescale %ct_11 <to_ring = #ring_rns_L0_1_x16384> : !ct_L1_1 -> !ct_L0"
FIRST = "%ct_9 = ckks.rescale %ct_8 <to_ring = #ring_rns_L1_1_x16384> : !ct_L2_1 -> !ct_L1"


@pytest.mark.parametrize(
    ("old", "new", "levels"),
    [
        (FIRST, FIRST.replace("rns_L1", "rns_L0"), (1, 0)),
        (LAST, LAST.replace("-> !ct_L0", "-> !ct_L1"), (0, 1)),
        (
            FIRST,
            FIRST.replace(
                "#ring_rns_L1_1_x16384",
                "#polynomial.ring<coefficientType = !rns.rns<!Z36028797017456641_i64>, "
                "polynomialModulus = <1 + x**16384>>",
            ),
            (1, 0),
        ),
    ],
)
def test_a_rescaling_to_another_level_than_its_type_is_refused(
    old: str, new: str, levels: tuple[int, int]
) -> None:
    message = f"result is at level {levels[0]}, but the text states level {levels[1]}"
    program = changed(old, new)
    with pytest.raises(wl.ProgramError, match=message) as refused:
        load(program, run="as written")
    assert refused.value.line == line_of(program, new)


def test_an_argument_without_a_client_is_at_the_level_of_its_type() -> None:
    program = small(NEGATED).replace(
        "!ct = !lwe.lwe_ciphertext<>",
        "#ring = #polynomial.ring<coefficientType = !rns.rns<!mod_arith.int<7 : i64>>>\n"
        "!ct = !lwe.lwe_ciphertext<ciphertext_space = <ring = #ring, encryption_type = lsb>>",
    )
    loaded = written(program)
    client, server = loaded.setup()
    (encrypted,) = client.encrypt(X)
    assert (encrypted.level, loaded.context.top_level) == (0, 1)
    np.testing.assert_array_equal(client.decrypt(server.evaluate([encrypted])), -X)

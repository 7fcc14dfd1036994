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

"""Loops over clear tensors: all iterations at once, against one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import windlass as wl
from windlass.heir import _interpreter, _lanes
from windlass.heir._check import Checker
from windlass.heir._interpreter import Interpreter
from windlass.heir._parser import parse
from windlass.heir._rules import Machine
from windlass.heir._trace import Trace

RNG = np.random.default_rng(31)
TENSOR = "tensor<4x6xf32>"


def run(body: str, *arguments: Any, client: bool = False) -> Any:
    """Run a function that takes tensors of 24 numbers and gives one of 4 x 6."""
    text = f"""func.func @f(%a: tensor<24xf32>, %k: tensor<24xi32>) -> {TENSOR} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c4 = arith.constant 4 : index
        %c6 = arith.constant 6 : index
        %c20 = arith.constant 20 : index
        %i0 = arith.constant 0 : i32
        %t = arith.constant dense<0.0> : {TENSOR}
        {body}
    }}"""
    checker = Checker(text, parse(text))
    checker.check()
    interpreter = Interpreter(checker)
    machine = Machine(Trace(8, False), client=client)
    return interpreter.run(machine, "f", list(arguments))[0], interpreter


def both(body: str, monkeypatch: pytest.MonkeyPatch, *, at_once: bool = True) -> np.ndarray:
    """The same result at once and in turn, with the steps that are counted for it."""
    numbers, whole = RNG.uniform(-1, 1, 24), RNG.integers(-50, 50, 24)
    found, fast = run(body, numbers, whole)
    assert bool(fast.in_turn) != at_once
    with monkeypatch.context() as patch:
        patch.setattr(_lanes, "MOST_LANES", 0)
        expected, slow = run(body, numbers, whole)
        assert not slow.in_turn
    np.testing.assert_array_equal(found, expected)
    assert not at_once or fast.steps < slow.steps
    return np.asarray(found)


def nest(inner: str, first: str = "%c0", step: str = "%c1") -> str:
    return f"""%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%u = %t) -> ({TENSOR}) {{
          %s = scf.for %j = {first} to %c6 step {step} iter_args(%v = %u) -> ({TENSOR}) {{
            {inner}
          }}
          scf.yield %s : {TENSOR}
        }}
        return %r : {TENSOR}"""


PLACE = """%p = arith.muli %i, %c6 : index
    %q = arith.addi %p, %j : index
    %x = tensor.extract %a[%q] : tensor<24xf32>"""


def test_a_nest_is_a_gather_and_a_scatter(monkeypatch: pytest.MonkeyPatch) -> None:
    body = nest(f"""{PLACE}
        %w = tensor.insert %x into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}""")
    numbers = RNG.uniform(-1, 1, 24)
    found, _ = run(body, numbers, np.zeros(24, np.int64))
    np.testing.assert_array_equal(found, numbers.reshape(4, 6))
    both(body, monkeypatch)


def test_bounds_may_be_variables_and_steps_more_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = f"""%x = tensor.extract %a[%j] : tensor<24xf32>
        %w = tensor.insert %x into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}"""
    found = both(nest(inner, first="%i", step="%c2"), monkeypatch)
    assert (found != 0).sum() == 3 + 3 + 2 + 2


def test_the_last_write_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    both(
        nest(f"""{PLACE}
        %y = arith.negf %x : f32
        %w = tensor.insert %x into %v[%c0, %j] : {TENSOR}
        %z = tensor.insert %y into %w[%i, %c1] : {TENSOR}
        scf.yield %z : {TENSOR}"""),
        monkeypatch,
    )


def test_branches_write_in_their_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    branch = f"""{PLACE}
        %e = arith.remsi %q, %c2 : index
        %o = arith.cmpi eq, %e, %c0 : index
        %n = scf.if %o -> (f32) {{
          %y = arith.addf %x, %x : f32
          scf.yield %y : f32
        }} else {{
          scf.yield %x : f32
        }}
        %w = scf.if %o -> ({TENSOR}) {{
          %y = tensor.insert %n into %v[%i, %c1] : {TENSOR}
          scf.yield %y : {TENSOR}
        }} else {{
          %y = tensor.insert %n into %v[%c2, %j] : {TENSOR}
          scf.yield %y : {TENSOR}
        }}
        scf.yield %w : {TENSOR}"""
    both(nest(branch), monkeypatch)


def test_integers_wrap_around_as_they_do_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    found = both(
        nest(f"""{PLACE}
        %k0 = tensor.extract %k[%q] : tensor<24xi32>
        %k1 = arith.trunci %k0 : i32 to i8
        %k2 = arith.muli %k1, %k1 : i8
        %k3 = arith.extsi %k2 : i8 to i32
        %neg = arith.cmpi slt, %k3, %i0 : i32
        %y = arith.negf %x : f32
        %k4 = arith.sitofp %k3 : i32 to f32
        %z = arith.select %neg, %y, %k4 : f32
        %w = tensor.insert %z into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}"""),
        monkeypatch,
    )
    assert found.any()


@pytest.mark.parametrize(
    "inner",
    [
        # Reads what it writes.
        """%y = tensor.extract %v[%c0, %j] : TENSOR
        %z = arith.addf %x, %y : f32
        %w = tensor.insert %z into %v[%c0, %j] : TENSOR
        scf.yield %w : TENSOR""",
        # Writes to one version twice.
        """%w = tensor.insert %x into %v[%i, %j] : TENSOR
        %z = tensor.insert %x into %v[%c2, %j] : TENSOR
        %o = arith.cmpi eq, %i, %j : index
        %b = scf.if %o -> (TENSOR) {
          scf.yield %w : TENSOR
        } else {
          scf.yield %z : TENSOR
        }
        scf.yield %b : TENSOR""",
        # Gives an older version in one branch.
        """%w = tensor.insert %x into %v[%i, %j] : TENSOR
        %o = arith.cmpi eq, %i, %j : index
        %b = scf.if %o -> (TENSOR) {
          scf.yield %w : TENSOR
        } else {
          scf.yield %v : TENSOR
        }
        scf.yield %b : TENSOR""",
        # Gives a tensor of its own.
        """scf.yield %t : TENSOR""",
    ],
)
def test_other_loops_run_in_turn(inner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both(nest(f"{PLACE}\n{inner.replace('TENSOR', TENSOR)}"), monkeypatch, at_once=False)


def test_arguments_and_constants_are_not_changed() -> None:
    body = nest(f"""{PLACE}
        %w = tensor.insert %x into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}""").replace(
        "return %r", f"%z = arith.addf %r, %t : {TENSOR}\nreturn %z"
    )
    numbers = RNG.uniform(-1, 1, 24)
    before = numbers.copy()
    found, _ = run(body, numbers, np.zeros(24, np.int64))
    np.testing.assert_array_equal(numbers, before)
    np.testing.assert_array_equal(found, before.reshape(4, 6))


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (
            f"""%x = tensor.extract %a[%i] : tensor<24xf32>
            %q = arith.addi %j, %c1 : index
            %w = tensor.insert %x into %v[%i, %q] : {TENSOR}
            scf.yield %w : {TENSOR}""",
            r"line 14, column .*the index \(0, 6\) is outside",
        ),
        (
            f"""%x = tensor.extract %a[%i] : tensor<24xf32>
            %q = arith.remsi %i, %j : index
            %w = tensor.insert %x into %v[%i, %q] : {TENSOR}
            scf.yield %w : {TENSOR}""",
            r"line 13, column .*a division by 0",
        ),
    ],
)
def test_errors_have_the_place_that_they_have_in_turn(inner: str, message: str) -> None:
    with pytest.raises(wl.ProgramError, match=message):
        run(nest(inner), np.zeros(24), np.zeros(24, np.int64))


def test_steps_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_interpreter, "MOST_STEPS", 40)
    body = nest(f"""{PLACE}
        %w = tensor.insert %x into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}""")
    with_limit, interpreter = run(body, np.ones(24), np.zeros(24, np.int64))
    assert with_limit.all() and interpreter.steps <= 40
    monkeypatch.setattr(_interpreter, "MOST_STEPS", 12)
    with pytest.raises(wl.ProgramError, match="runs more than 12 operations"):
        run(body, np.ones(24), np.zeros(24, np.int64))


def test_random_nests(monkeypatch: pytest.MonkeyPatch) -> None:
    operations = ["addi", "subi", "muli", "floordivsi", "remsi", "divsi", "minsi", "maxsi", "andi"]
    for _ in range(60):
        lines, names = [], ["%i", "%j", "%c2", "%c20"]
        for k in range(int(RNG.integers(2, 7))):
            operation = str(RNG.choice(operations))
            left = str(RNG.choice(names))
            right = "%c20" if "div" in operation or "rem" in operation else str(RNG.choice(names))
            lines.append(f"%n{k} = arith.{operation} {left}, {right} : index")
            names.append(f"%n{k}")
        row = f"""%m = arith.andi {names[-1]}, %c1 : index
            %d = arith.cmpi sgt, {names[-2]}, %c2 : index"""
        inner = (
            "\n".join([*lines, row])
            + f"""
            %x = tensor.extract %a[%j] : tensor<24xf32>
            %w = scf.if %d -> ({TENSOR}) {{
              %z = tensor.insert %x into %v[%m, %j] : {TENSOR}
              scf.yield %z : {TENSOR}
            }} else {{
              scf.yield %v : {TENSOR}
            }}
            %y = tensor.insert %x into %w[%i, %m] : {TENSOR}
            scf.yield %y : {TENSOR}"""
        )
        both(nest(inner), monkeypatch)

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
        %c24 = arith.constant 24 : index
        %f9 = arith.constant 9.0 : f32
        %i0 = arith.constant 0 : i32
        %t = arith.constant dense<0.0> : {TENSOR}
        {body}
    }}"""
    return run_text(text, *arguments, client=client)


def run_text(text: str, *arguments: Any, client: bool = False) -> Any:
    """The first result of a function @f, and the interpreter."""
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
        assert slow.in_turn
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


def outer(inside: str, last: str) -> str:
    """An outer loop alone."""
    return f"""%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%u = %t) -> ({TENSOR}) {{
          {inside}
          scf.yield {last} : {TENSOR}
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
            r"line 16, column .*the index \(0, 6\) is outside",
        ),
        (
            f"""%x = tensor.extract %a[%i] : tensor<24xf32>
            %q = arith.remsi %i, %j : index
            %w = tensor.insert %x into %v[%i, %q] : {TENSOR}
            scf.yield %w : {TENSOR}""",
            r"line 15, column .*a division by 0",
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


def test_loops_that_are_too_large_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lanes, "MOST_LANES", 20)
    tries: list[int] = []
    own = _lanes.Vectoriser.run

    def noted(self: Any, operation: Any, *rest: Any) -> Any:
        tries.append(operation.at)
        return own(self, operation, *rest)

    monkeypatch.setattr(_lanes.Vectoriser, "run", noted)
    inner = f"""%s = scf.for %j = %c0 to %c24 step %c1 iter_args(%v = %u) -> ({TENSOR}) {{
          %x = tensor.extract %a[%j] : tensor<24xf32>
          %w = tensor.insert %x into %v[%i, %c0] : {TENSOR}
          scf.yield %w : {TENSOR}
        }}"""
    _, interpreter = run(outer(inner, "%s"), np.ones(24), np.zeros(24, np.int64))
    # The outer loop, and the inner one in its first iteration only.
    assert len(tries) == len(set(tries)) == len(interpreter.in_turn) == 2


def test_work_of_failed_tries_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    heavy = f"""%s = scf.for %j = %c0 to %c20 step %c1 iter_args(%v = %u) -> ({TENSOR}) {{
          %x = tensor.extract %a[%j] : tensor<24xf32>
          %w = tensor.insert %x into %v[%c0, %c1] : {TENSOR}
          scf.yield %w : {TENSOR}
        }}"""
    # What the loop gives does not let its iterations run at once.
    body = outer(heavy + f"\n%o = arith.addf %s, %t : {TENSOR}", "%o")
    _, interpreter = run(body, np.ones(24), np.zeros(24, np.int64))
    monkeypatch.setattr(_lanes, "MOST_LANES", 0)
    _, slow = run(body, np.ones(24), np.zeros(24, np.int64))
    at_once = (4 * 3 + 4 * 20 * 3) // _interpreter._AT_ONCE
    # The try, and then one for each iteration of the outer loop.
    inner = (20 * 3) // _interpreter._AT_ONCE
    assert interpreter.steps == slow.steps - 4 * 20 * 3 + at_once + 4 * inner


def test_values_that_are_held_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    added = "\n".join(f"%z{k + 1} = arith.addi %z{k}, %c1 : index" for k in range(50))
    body = nest(f"""%z0 = arith.addi %i, %j : index
        {added}
        {PLACE}
        %y = arith.sitofp %z50 : index to f32
        %w = tensor.insert %y into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}""")
    # 24 iterations with 60 operations of up to four values each.
    for most, at_once in ((24 * 240, True), (24 * 100, False)):
        monkeypatch.setattr(_lanes, "MOST_VALUES", most)
        found, interpreter = run(body, np.ones(24), np.zeros(24, np.int64))
        assert found[3, 5] == 58 and bool(interpreter.in_turn) != at_once


def test_values_of_blocks_that_ended_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    loops, last = [], "%u"
    for k in range(8):
        loops.append(f"""%s{k} = scf.for %j = %c0 to %c6 step %c1
            iter_args(%v = {last}) -> ({TENSOR}) {{
          %z = arith.addi %i, %j : index
          %y = arith.addi %z, %z : index
          %w = arith.addi %y, %z : index
          scf.yield %v : {TENSOR}
        }}""")
        last = f"%s{k}"
    # One inner loop holds 24 x 14 values, the outer one 4 x 60.
    monkeypatch.setattr(_lanes, "MOST_VALUES", 4 * 60 + 24 * 20)
    _, interpreter = run(outer("\n".join(loops), last), np.ones(24), np.zeros(24, np.int64))
    assert not interpreter.in_turn


def test_memory_of_writes_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    body = nest(f"""{PLACE}
        %w = tensor.insert %x into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}""")
    _, whole = run(body, np.ones(24), np.zeros(24, np.int64))
    monkeypatch.setattr(_lanes.Tensor, "add", lambda *_: pytest.fail("a write is kept"))
    # The values of all blocks, and not those of the writes.
    monkeypatch.setattr(_lanes, "MOST_VALUES", 4 * 9 + 24 * 18)
    found, interpreter = run(body, np.ones(24), np.zeros(24, np.int64))
    assert found.all() and interpreter.in_turn and not whole.in_turn


def test_siblings_of_different_lengths_write_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = both(
        outer(
            f"""%s = scf.for %j = %c0 to %c20 step %c1 iter_args(%v = %u) -> ({TENSOR}) {{
          %w = tensor.insert %f9 into %v[%c0, %c0] : {TENSOR}
          scf.yield %w : {TENSOR}
        }}
        %q = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %s) -> ({TENSOR}) {{
          %x = tensor.extract %a[%i] : tensor<24xf32>
          %w = tensor.insert %x into %v[%c0, %j] : {TENSOR}
          scf.yield %w : {TENSOR}
        }}""",
            "%q",
        ),
        monkeypatch,
    )
    assert (found[0, :4] == found[0, 0]).all()


def test_a_write_after_an_inner_loop_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = both(
        outer(
            f"""%s = scf.for %j = %c0 to %c6 step %c1 iter_args(%v = %u) -> ({TENSOR}) {{
          %x = tensor.extract %a[%j] : tensor<24xf32>
          %w = tensor.insert %x into %v[%c0, %c0] : {TENSOR}
          scf.yield %w : {TENSOR}
        }}
        %z = tensor.insert %f9 into %s[%c0, %c0] : {TENSOR}""",
            "%z",
        ),
        monkeypatch,
    )
    assert found[0, 0] == 9


def test_branches_of_different_lengths_write_in_the_order_of_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = both(
        nest(f"""%e = arith.cmpi slt, %i, %c2 : index
        %s = scf.if %e -> ({TENSOR}) {{
          %q = arith.addi %i, %i : index
          %q2 = arith.addi %q, %i : index
          %q3 = arith.addi %q2, %q : index
          %fq = arith.sitofp %q3 : index to f32
          %w = tensor.insert %fq into %v[%c0, %c0] : {TENSOR}
          scf.yield %w : {TENSOR}
        }} else {{
          %w = tensor.insert %f9 into %v[%c0, %c0] : {TENSOR}
          scf.yield %w : {TENSOR}
        }}
        scf.yield %s : {TENSOR}"""),
        monkeypatch,
    )
    assert found[0, 0] == 9


HUGE = """%h = arith.constant 100000000000000000000 : i128
    %o = arith.constant 1 : i128
    %e = arith.cmpi slt, %i, %c2 : index
"""


@pytest.mark.parametrize(
    "chosen",
    [
        "%s = arith.select %e, %h, %o : i128",
        """%s = scf.if %e -> (i128) {
          scf.yield %h : i128
        } else {
          scf.yield %o : i128
        }""",
        "%s = arith.addi %h, %o : i128",
    ],
)
@pytest.mark.parametrize("outside", [False, True])
def test_integers_beyond_64_bits_are_computed_in_turn(
    chosen: str, outside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants, rest = HUGE.rsplit("%e", 1)
    body = f"""%y = arith.sitofp %s : i128 to f32
        %w = tensor.insert %y into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}"""
    whole = nest(f"{'' if outside else constants}%e{rest}{chosen}\n{body}")
    if outside:
        whole = constants + whole
    found = both(whole, monkeypatch, at_once=False)
    assert set(found[0]) == {1e20}


def test_a_number_that_its_tensor_does_not_hold_changes_none() -> None:
    text = f"""func.func @f(%a: tensor<24xf32>, %k: tensor<24xi64>) -> tensor<24xi64> {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c24 = arith.constant 24 : index
        %h = arith.constant {10**20} : i64
        %r = scf.for %i = %c0 to %c24 step %c1 iter_args(%u = %k) -> (tensor<24xi64>) {{
          %w = tensor.insert %h into %u[%i] : tensor<24xi64>
          scf.yield %w : tensor<24xi64>
        }}
        return %r : tensor<24xi64>
    }}"""
    whole = np.arange(24)
    with pytest.raises(wl.ProgramError, match=r"line 7, .*tensor.insert does not fit"):
        run_text(text, np.zeros(24), whole)
    np.testing.assert_array_equal(whole, np.arange(24))


def test_other_errors_of_numpy_end_in_a_run_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    body = nest(f"""{PLACE}
        %w = tensor.insert %x into %v[%i, %j] : {TENSOR}
        scf.yield %w : {TENSOR}""")
    for error in (OverflowError, IndexError, TypeError, ValueError):

        def fails(*_: Any, error: type[Exception] = error) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(_lanes.Tensor, "last_writes", fails)
            found, interpreter = run(body, np.arange(24.0), np.zeros(24, np.int64))
        assert interpreter.in_turn
        np.testing.assert_array_equal(found.ravel(), np.arange(24.0))


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


class Written:
    """Random loops, branches and writes, which share the places of one row."""

    def __init__(self) -> None:
        self.names = 0

    def name(self, kind: str) -> str:
        self.names += 1
        return f"%{kind}_{self.names}"

    def number(self, most: int) -> int:
        return int(RNG.integers(most))

    def block(self, depth: int, tensor: str, variables: list[str]) -> tuple[list[str], str]:
        """Some operations, and the tensor after them."""
        lines: list[str] = []
        for _ in range(1 + self.number(3)):
            # Blocks of different lengths.
            lines += [
                f"{self.name('n')} = arith.addi %c1, {variables[-1]} : index"
                for _ in range(self.number(4))
            ]
            kind = self.number(4 if depth else 1)
            own = (self.insert, self.loop, self.branch, self.loop)[kind]
            more, tensor = own(depth - 1, tensor, variables)
            lines += more
        return lines, tensor

    def insert(self, _depth: int, tensor: str, variables: list[str]) -> tuple[list[str], str]:
        after, value, number, real = (self.name(kind) for kind in "wxnf")
        place = str(RNG.choice(["%c0", "%c1", "%m"]))
        # Each insertion writes other numbers in each iteration, so that the last one is seen.
        return [
            f"{number} = arith.constant {self.names}.0 : f32",
            f"{real} = arith.sitofp {variables[-1]} : index to f32",
            f"{value} = arith.divf {real}, {number} : f32",
            f"{after} = tensor.insert {value} into {tensor}[%c0, {place}] : {TENSOR}",
        ], after

    def loop(self, depth: int, tensor: str, variables: list[str]) -> tuple[list[str], str]:
        after, inner, variable = self.name("r"), self.name("v"), self.name("j")
        first = str(RNG.choice(["%c0", "%c1", variables[-1]]))
        last = str(RNG.choice(["%c1", "%c2", "%c4", "%c20" if depth else "%i"]))
        lines, end = self.block(depth, inner, [*variables, variable])
        return [
            f"{after} = scf.for {variable} = {first} to {last} step %c1 "
            f"iter_args({inner} = {tensor}) -> ({TENSOR}) {{",
            *lines,
            f"scf.yield {end} : {TENSOR}",
            "}",
        ], after

    def branch(self, depth: int, tensor: str, variables: list[str]) -> tuple[list[str], str]:
        after, condition = self.name("b"), self.name("e")
        bound = str(RNG.choice(["%c1", "%c2", "%m"]))
        parts = [self.block(depth, tensor, variables) for _ in range(2)]
        return [
            f"{condition} = arith.cmpi slt, {variables[-1]}, {bound} : index",
            f"{after} = scf.if {condition} -> ({TENSOR}) {{",
            *parts[0][0],
            f"scf.yield {parts[0][1]} : {TENSOR}",
            "} else {",
            *parts[1][0],
            f"scf.yield {parts[1][1]} : {TENSOR}",
            "}",
        ], after


def test_random_orders_of_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = 0
    for _ in range(80):
        lines, last = Written().block(2, "%u", ["%i"])
        body = outer("\n".join(["%m = arith.andi %i, %c1 : index", *lines]), last)
        if "scf.for %j" not in body:
            continue
        shared += len(set(both(body, monkeypatch)[0])) > 1
    assert shared > 20

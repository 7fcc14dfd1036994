"""Programs in words: what is computed, and what it costs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from windlass._windlass import Context, LinearPlan
from windlass.heir._circuit import Affine, Step
from windlass.heir._ports import Port

if TYPE_CHECKING:
    from windlass.heir.halves import ClientProgram, ServerProgram

_TIME = re.compile(r"^ *time: +([0-9.]+) (milliseconds|seconds)$", re.MULTILINE)


def explained_client(program: ClientProgram) -> str:
    """What a client sends and reads."""
    found = [
        f"function     @{program.name}, {program.scheme}",
        f"encrypted    {shapes(program.inputs)}",
        f"results      {shapes(program.outputs)}",
        *_costs(program),
    ]
    return "\n".join(found)


def explained_server(program: ServerProgram, outputs: Sequence[Port] = ()) -> str:
    """What a server computes; with the shapes of the results, where they are known."""
    design = program.circuit.design
    found = [
        f"function     @{program.name}, {program.scheme}, with parameters of the planner",
        f"encrypted    {shapes(program.inputs)}",
        *([f"results      {shapes(outputs)}"] if outputs else []),
        *(f"array {step.source:<6} {_step(step)}" for step in design.steps),
        *(f"result {k:<5} {_affine(affine)}" for k, affine in enumerate(design.outputs)),
        f"depth        {program.depth}, of which {program.products} products of ciphertexts",
        *_costs(program),
        *_time(list(program.circuit.plans.values())),
    ]
    return "\n".join(found)


def shapes(ports: Sequence[Port]) -> str:
    """The shape of each argument or result."""
    return ", ".join(f"{port.index}: {port.shape}" for port in ports)


def _costs(program: ClientProgram | ServerProgram) -> list[str]:
    """Parameters, and the bytes that go to the server once and for each run."""
    context = program.context
    sizes = context.sizes()
    keys = len(program.required_keys) + int(program.relinearisation)
    memory = keys * sizes["switching_key_memory"] / 1e6
    sent = keys * sizes["switching_key_disk"] / 1e6
    count = sum(_ciphertexts(port, context) for port in program.inputs)
    fresh = count * sizes["fresh_ciphertext_disk"]
    found = [
        f"parameters   ring dimension {context.ring_dimension}, "
        f"{context.security:.0f} bits of security",
        f"keys         {keys}, about {memory:.1f} MB in memory, {sent:.1f} MB as a file",
    ]
    if program.keys.refreshes:
        own = context.bootstrapping().estimated_seconds()
        found.append(f"refreshes    with keys of their own; each takes about {own:.1f} s")
    return [*found, f"a run sends  {count} ciphertexts, about {fresh / 1e6:.2f} MB"]


def _ciphertexts(port: Port, context: Context) -> int:
    return max(1, math.ceil(port.size / context.slots))


def _time(plans: list[LinearPlan]) -> list[str]:
    """What the planner expects of the matrices. It has no prices for products of ciphertexts."""
    times = [_TIME.search(plan.explain()) for plan in plans]
    if not plans or None in times:
        return []
    units = {"milliseconds": 1, "seconds": 1000}
    total = sum(float(found[1]) * units[found[2]] for found in times if found is not None)
    return [f"time         about {total:.1f} ms for the matrices on one core; products not counted"]


def _step(step: Step) -> str:
    parts: tuple[Affine, ...]
    if step.factors is not None:
        square = step.factors[0] is step.factors[1]
        what = "square" if square else "product"
        parts = step.factors[:1] if square else step.factors
    else:
        assert step.inner is not None
        what, parts = f"polynomial of degree {len(step.coefficients) - 1}", (step.inner,)
    of = "; ".join(_affine(part) for part in parts)
    return f"{what} of {step.size} entries: {of}"


def _affine(affine: Affine) -> str:
    """A sum of sources."""

    def parts() -> Iterator[str]:
        for block in affine.blocks:
            name = f"array {block.source}"
            if block.matrix is not None:
                rows, columns = block.matrix.shape
                yield f"matrix {rows} x {columns} @ {name}"
            else:
                words: dict[Any, str] = {
                    "same": name,
                    "negated": f"-{name}",
                    "factor": f"{name} * constant",
                }
                yield words[block.kind]
        if affine.constant.any() or not affine.blocks:
            yield "constant"

    return " + ".join(parts())

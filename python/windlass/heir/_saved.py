"""Programs as files, and files as programs.

The whole program, its client's half and its server's half are files of three kinds with the same
fields: a half has those of its side. Matrices are written as numbers with the Galois keys of their
plans. Reading a file plans them again, with these keys.
"""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from windlass._windlass import Context, LinearPlan
from windlass.errors import FileError, InsecureParameters, WindlassError
from windlass.heir._circuit import Affine, Block, Design, Kind, Need, PlannedCircuit, Step
from windlass.heir._container import Arrays, Fields, damaged, packed, unpacked
from windlass.heir._ports import Interface, KeyNeeds, Port, Result

if TYPE_CHECKING:
    from windlass.heir.halves import ClientProgram, ServerProgram

_MOST_ENTRIES = 2**27
_MOST_SOURCES = 2**20
_MOST_MODULUS = 2**31
_NAME = re.compile(r"[A-Za-z0-9_$.\-]{1,4096}")
_SECURE_BITS = 128

# What planning may take.
_MOST_PORTS = 2**10
_MOST_STEPS = 2**14
_MOST_PARTS = 2**16
_LEAST_MATRIX = 2**17
"""The entries that a matrix counts at least, for the time of its plan."""
_MOST_COEFFICIENTS = 2**10
_MOST_COEFFICIENTS_TOGETHER = 2**13
_LEAST_POLYNOMIAL = 2**6
"""The coefficients that a polynomial counts at least. Equal polynomials are planned once."""
_MOST_KEYS = 2**12
"""Galois keys. Some thousand of them take gigabytes."""

Scheme = Literal["BGV", "BFV", "CKKS"]


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds."""

    kind: str
    name: str
    scheme: Scheme
    context: Context
    inputs: tuple[Port, ...]
    interface: Interface | None
    """Of a program, and of a client's half."""
    keys: KeyNeeds | None
    """Of a client's half."""
    circuit: PlannedCircuit | None
    """Of a program, and of a server's half."""


# Writing.


def program_bytes(client: ClientProgram, server: ServerProgram) -> bytes:
    """The file of a whole program."""
    arrays = Arrays()
    fields = {**_common(client), **_client(client, arrays), **_server(server, arrays)}
    return packed("program", fields, arrays)


def client_bytes(client: ClientProgram) -> bytes:
    """The file of a client's half."""
    arrays = Arrays()
    return packed("client", {**_common(client), **_client(client, arrays)}, arrays)


def server_bytes(server: ServerProgram) -> bytes:
    """The file of a server's half."""
    arrays = Arrays()
    return packed("server", {**_common(server), **_server(server, arrays)}, arrays)


def _common(half: ClientProgram | ServerProgram) -> dict[str, Any]:
    if _NAME.fullmatch(half.name) is None:
        raise FileError(
            f"a function with the name {half.name!r} cannot be saved: choose letters, digits, _, "
            "$, . and -, at most 4096"
        )
    if len(half.keys.galois) > _MOST_KEYS:
        raise FileError(
            f"a program with {len(half.keys.galois)} Galois keys, more than {_MOST_KEYS}, cannot "
            "be saved: load it with max_keys"
        )
    return {
        "name": half.name,
        "scheme": half.scheme,
        "parameters": half.context.parameters_json(),
        "inputs": [_port(port) for port in half.inputs],
    }


def _port(port: Port) -> dict[str, Any]:
    return {"index": port.index, "shape": list(port.shape), "real": port.real}


def _client(client: ClientProgram, arrays: Arrays) -> dict[str, Any]:
    results = [
        {
            **_port(result.port),
            "entries": arrays.add(result.entries),
            "size": result.size,
            "known": None if result.known is None else arrays.add(result.known),
        }
        for result in client.interface.results
    ]
    return {
        "slots": client.slots,
        "orders": [arrays.add(order) for order in client.interface.orders],
        "bounds": list(client.bounds),
        "results": results,
        "galois": list(client.keys.galois),
        "relinearisation": client.keys.relinearisation,
        "refreshes": client.keys.refreshes,
    }


def _server(server: ServerProgram, arrays: Arrays) -> dict[str, Any]:
    design = server.circuit.design
    affines = _Affines(arrays, server.circuit.plans)
    steps = [
        {
            "source": step.source,
            "size": step.size,
            "factors": [affines.add(factor) for factor in step.factors or ()],
            "inner": None if step.inner is None else affines.add(step.inner),
            "coefficients": [float(x) for x in step.coefficients],
        }
        for step in design.steps
    ]
    outputs = [affines.add(affine) for affine in design.outputs]
    need = design.need
    return {
        "modulus": design.modulus,
        "need": [need.products, need.maps, need.levels],
        "arguments": [design.arguments[k] for k in range(len(design.arguments))],
        "steps": steps,
        "outputs": outputs,
        "affines": affines.list,
    }


class _Affines:
    """Sums of sources, each once: a product of two that are one object is a square."""

    def __init__(self, arrays: Arrays, plans: dict[int, LinearPlan]) -> None:
        self.arrays, self.plans = arrays, plans
        self.list: list[dict[str, Any]] = []
        self.numbers: dict[int, int] = {}

    def add(self, affine: Affine) -> int:
        if id(affine) not in self.numbers:
            self.numbers[id(affine)] = len(self.list)
            blocks = [self._block(block) for block in affine.blocks]
            self.list.append({"constant": self.arrays.add(affine.constant), "blocks": blocks})
        return self.numbers[id(affine)]

    def _block(self, block: Block) -> dict[str, Any]:
        numbers = {"factor": block.factor, "matrix": block.matrix}.get(block.kind)
        return {
            "source": block.source,
            "kind": block.kind,
            "numbers": None if numbers is None else self.arrays.add(np.asarray(numbers)),
            "keys": self.plans[id(block)].required_keys if block.kind == "matrix" else [],
        }


# Reading.


def saved(data: bytes, *, insecure: bool) -> Saved:
    """What the bytes of a file hold."""
    kind, header, arrays = unpacked(data)
    fields = Fields(header, arrays)
    name, scheme = fields.text("name", 4096), _scheme(fields)
    if _NAME.fullmatch(name) is None:
        raise damaged("its name has characters that names do not have")
    context = _context(fields.text("parameters", 2**16), insecure=insecure)
    if context.scheme != scheme:
        raise damaged(f"its parameters are of {context.scheme} instead of {scheme}")
    inputs = tuple(_read_port(each) for each in fields.list("inputs", longest=_MOST_PORTS))
    if not inputs:
        raise damaged("it has no input")
    _check_sizes(inputs)
    interface, keys, design = None, None, None
    if kind != "server":
        interface = _read_client(fields, name, scheme, inputs)
        keys = _read_keys(fields)
    if kind != "client":
        design = _read_design(fields, inputs, context)
    if interface is not None and design is not None:
        _check_results(interface, design)
    try:
        if keys is not None:
            keys.of(context)
        circuit = None if design is None else _planned(design, context)
    except FileError:
        raise
    except WindlassError as error:
        raise damaged(f"its parts do not fit its parameters ({error})") from error
    return Saved(kind, name, scheme, context, inputs, interface, keys, circuit)


def _scheme(fields: Fields) -> Scheme:
    found = fields.text("scheme", 4)
    schemes: dict[str, Scheme] = {"BGV": "BGV", "BFV": "BFV", "CKKS": "CKKS"}
    if found not in schemes:
        raise damaged(f"there is no scheme {found!r}")
    return schemes[found]


def _context(text: str, *, insecure: bool) -> Context:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "parameters.json"
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            found = Context.from_file(path)
        except WindlassError as error:
            raise damaged("its parameters are refused") from error
    if found.security < _SECURE_BITS and not insecure:
        message = (
            f"the parameters of this program have {found.security:.0f} bits of security, fewer "
            f"than {_SECURE_BITS}: open it with insecure=True if this is meant"
        )
        raise InsecureParameters(message, bits=found.security)
    return found


def _read_port(fields: Fields) -> Port:
    shape = tuple(fields.integers("shape", 0, _MOST_ENTRIES, longest=32))
    if math.prod(max(size, 1) for size in shape) > _MOST_ENTRIES:
        raise damaged(f"an array of shape {shape} is too large")
    return Port(fields.integer("index", 0, 2**16), shape, fields.boolean("real"))


def _check_sizes(ports: tuple[Port, ...]) -> None:
    if sum(port.size for port in ports) > _MOST_ENTRIES:
        raise damaged(f"its arrays have more than {_MOST_ENTRIES} entries together")


def _planned(design: Design, context: Context) -> PlannedCircuit:
    """A circuit whose keys can be made."""
    circuit = PlannedCircuit(design, context)
    least, most = (_chain(circuit, slack) for slack in (-1, 1))
    need = design.need
    for name in ("products", "maps", "levels"):
        if not getattr(least, name) <= getattr(need, name) <= getattr(most, name):
            raise damaged(f"its steps do not take {getattr(need, name)} {name}")
    keys = circuit.keys()
    if len(keys.galois) > _MOST_KEYS:
        raise damaged(f"it needs more than {_MOST_KEYS} Galois keys")
    keys.of(context)
    return circuit


def _chain(circuit: PlannedCircuit, slack: int) -> Need:
    """What the steps take, at least (a slack of -1) or at most (1).

    The slack is two levels for a polynomial, which a later Windlass may evaluate otherwise. Whether
    a level clears what lies beside entries is not known here: it is counted at most.
    """
    clear = max(slack, 0)
    needs = {source: Need() for source in circuit.design.arguments.values()}

    def of(affine: Affine) -> Need:
        found = Need()
        for block in affine.blocks:
            own, map_ = needs[block.source], int(block.kind in ("factor", "matrix"))
            cleared = own.levels + map_ + clear * int(block.kind == "matrix")
            found = found.join(Need(own.products, own.maps + map_, cleared))
        return found

    whole = Need()
    for step in circuit.design.steps:
        if step.inner is None:
            assert step.factors is not None
            own, levels, more = of(step.factors[0]).join(of(step.factors[1])), 1, 0
        else:
            own, more = of(step.inner), clear
            levels = max(circuit.polynomials[step.source].depth + 2 * slack, 0)
        own = Need(own.products + levels, own.maps, own.levels + levels + more)
        needs[step.source] = own
        whole = whole.join(own)
    for affine in circuit.design.outputs:
        whole = whole.join(of(affine))
    return whole


def _read_client(fields: Fields, name: str, scheme: Scheme, inputs: tuple[Port, ...]) -> Interface:
    bounds = tuple(fields.numbers("bounds", longest=_MOST_PORTS))
    if len(bounds) != len(inputs) or not all(bound > 0 for bound in bounds):
        raise damaged("bounds are no positive number for each input")
    orders = _read_orders(fields, inputs)
    results = tuple(
        _read_result(each, scheme) for each in fields.list("results", longest=_MOST_PORTS)
    )
    if not results:
        raise damaged("it has no result")
    _check_sizes(tuple(result.port for result in results))
    slots = fields.integer("slots", 1, 2**17)
    return Interface(name, scheme, slots, inputs, orders, bounds, results)


def _read_orders(fields: Fields, inputs: tuple[Port, ...]) -> tuple[NDArray[np.int64], ...]:
    numbers = fields.integers("orders", 0, len(fields.arrays), longest=_MOST_PORTS)
    if len(numbers) != len(inputs):
        raise damaged("orders are not one for each input")
    orders = tuple(fields.arrays[number] for number in numbers)
    for order, port in zip(orders, inputs, strict=True):
        if not _permutes(order, port.size):
            raise damaged("an order of entries is no permutation of them")
    return orders


def _permutes(order: NDArray[Any], size: int) -> bool:
    """Whether an array is a permutation of so many entries."""
    if order.dtype.kind != "i" or order.shape != (size,):
        return False
    if size and not 0 <= order.min() <= order.max() < size:
        return False
    seen = np.zeros(size, bool)
    seen[order] = True
    return bool(seen.all())


def _read_result(fields: Fields, scheme: Scheme) -> Result:
    port, size = _read_port(fields), fields.integer("size", 0, _MOST_ENTRIES)
    entries = fields.array("entries", (port.size,), "i")
    if entries.size and not 0 <= entries.min() <= entries.max() < size:
        raise damaged("an entry of a result lies outside of it")
    known = fields.maybe_array("known", (size,), "f" if scheme == "CKKS" else "i")
    return Result(port, entries, size, known)


def _read_keys(fields: Fields) -> KeyNeeds:
    galois = tuple(fields.integers("galois", 1, 2**32, longest=_MOST_KEYS))
    return KeyNeeds(galois, fields.boolean("relinearisation"), fields.boolean("refreshes"))


def _check_results(interface: Interface, design: Design) -> None:
    """Refuse results that are not those of the design."""
    if [result.size for result in interface.results] != [len(x.constant) for x in design.outputs]:
        raise damaged("its results are not what its steps compute")
    for result, affine in zip(interface.results, design.outputs, strict=True):
        if (result.known is None) != bool(affine.blocks):
            raise damaged("its results are not what its steps compute")


def _read_design(fields: Fields, inputs: tuple[Port, ...], context: Context) -> Design:
    modulus = fields.maybe_integer("modulus", 2, _MOST_MODULUS)
    if modulus != context.modulus:
        raise damaged(f"its numbers are modulo {modulus}, its parameters modulo {context.modulus}")
    need = fields.integers("need", 0, 2**16, longest=3)
    arguments = fields.integers("arguments", 0, _MOST_SOURCES, longest=_MOST_PORTS)
    if len(need) != 3 or len(arguments) != len(inputs):
        raise damaged("its inputs are not those of its steps")
    sizes = [port.size for port in inputs]
    design = Design(modulus, sizes, dict(enumerate(arguments)), need=Need(*need))
    reader = _Steps(fields, "f" if modulus is None else "i")
    for source, size in zip(arguments, sizes, strict=True):
        reader.define(source, size)
    for each in fields.list("steps", longest=_MOST_STEPS):
        design.steps.append(reader.step(each))
    outputs = fields.integers("outputs", 0, len(reader.affines), longest=_MOST_PORTS)
    if not outputs:
        raise damaged("it has no result")
    design.outputs += [reader.affine(number) for number in outputs]
    return design


class _Steps:
    """Reads steps, which use only what was computed before."""

    def __init__(self, fields: Fields, kind: str) -> None:
        self.affines, self.kind = fields.list("affines", longest=_MOST_PARTS), kind
        self.parts, self.entries, self.coefficients = 0, 0, 0
        self.polynomials: set[tuple[float, ...]] = set()
        self.matrices: set[int] = set()
        self.sizes: dict[int, int] = {}
        self.made: dict[int, Affine] = {}

    def define(self, source: int, size: int) -> None:
        """A source is computed."""
        if source in self.sizes:
            raise damaged(f"array {source} is computed twice")
        self.sizes[source] = size

    def step(self, fields: Fields) -> Step:
        """A product or a polynomial."""
        source = fields.integer("source", 0, _MOST_SOURCES)
        size = fields.integer("size", 1, _MOST_ENTRIES)
        factors = fields.integers("factors", 0, len(self.affines), longest=2)
        inner = fields.maybe_integer("inner", 0, len(self.affines))
        coefficients = tuple(fields.numbers("coefficients", longest=_MOST_COEFFICIENTS))
        if (len(factors), inner is None) not in ((2, True), (0, False)):
            raise damaged("a step is neither a product nor a polynomial")
        if (inner is None) != (not coefficients):
            raise damaged("the coefficients of a polynomial are missing")
        parts = [self.affine(number) for number in factors]
        within = None if inner is None else self.affine(inner)
        used = parts if within is None else [within]
        # A constant is no ciphertext, which products and polynomials need.
        if any(len(part.constant) != size or not part.blocks for part in used):
            raise damaged(f"the parts of array {source} are not {size} encrypted numbers")
        self.define(source, size)
        self._count_coefficients(coefficients)
        pair = (parts[0], parts[1]) if parts else None
        return Step(source, size, pair, within, coefficients)

    def _count_coefficients(self, coefficients: tuple[float, ...]) -> None:
        if not coefficients or coefficients in self.polynomials:
            return
        self.polynomials.add(coefficients)
        self.coefficients += max(len(coefficients), _LEAST_POLYNOMIAL)
        if self.coefficients > _MOST_COEFFICIENTS_TOGETHER:
            raise damaged(
                f"its polynomials have more than {_MOST_COEFFICIENTS_TOGETHER} coefficients"
            )

    def affine(self, number: int) -> Affine:
        """A sum of sources, made once."""
        if number not in self.made:
            self.made[number] = self._affine(self.affines[number])
        found = self.made[number]
        # Once for each use: whoever goes through all steps sees it so often.
        self.parts += len(found.blocks)
        if self.parts > _MOST_PARTS:
            raise damaged(f"its sums have more than {_MOST_PARTS} parts together")
        return found

    def _affine(self, fields: Fields) -> Affine:
        index = fields.integer("constant", 0, len(fields.arrays))
        constant = fields.array("constant", (fields.arrays[index].size,), self.kind)
        listed = fields.list("blocks", longest=len(self.sizes))
        blocks = [self._block(each, len(constant)) for each in listed]
        if len({block.source for block in blocks}) != len(blocks):
            raise damaged("an array stands twice in one sum")
        return Affine(blocks, constant)

    def _block(self, fields: Fields, count: int) -> Block:
        source, kind = fields.integer("source", 0, _MOST_SOURCES), self._kind(fields)
        if source not in self.sizes:
            raise damaged(f"array {source} is used before it is computed")
        size = self.sizes[source]
        if kind == "matrix":
            matrix = fields.array("numbers", (count, size), self.kind)
            self._count_matrix(fields.integer("numbers", 0, len(fields.arrays)), matrix.size)
            keys = fields.integers("keys", 1, 2**32, longest=_MOST_KEYS)
            return Block(source, kind, matrix=matrix, keys=keys)
        if size != count:
            raise damaged(f"a part of {size} numbers in a sum of {count}")
        return Block(source, kind, self._factor(fields, kind, count))

    def _count_matrix(self, number: int, size: int) -> None:
        # A short file could ask for many plans of one matrix. Files of ours have one for each part.
        if number in self.matrices:
            raise damaged("two parts have one matrix")
        self.matrices.add(number)
        self.entries += max(size, _LEAST_MATRIX)
        if self.entries > _MOST_ENTRIES:
            raise damaged(f"its matrices have more than {_MOST_ENTRIES} entries together")

    @staticmethod
    def _kind(fields: Fields) -> Kind:
        found = fields.text("kind", 8)
        kinds: dict[str, Kind] = {
            "same": "same",
            "negated": "negated",
            "factor": "factor",
            "matrix": "matrix",
        }
        if found not in kinds:
            raise damaged(f"a part of the unknown kind {found!r}")
        return kinds[found]

    def _factor(self, fields: Fields, kind: Kind, count: int) -> Any:
        """A factor: a number, or one for each entry."""
        if kind != "factor":
            return 1 if kind == "same" else -1
        one = fields.arrays[fields.integer("numbers", 0, len(fields.arrays))].ndim == 0
        found = fields.array("numbers", () if one else (count,), self.kind)
        return found.item() if one else found

"""What a program becomes: products with matrices, products of ciphertexts, polynomials."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windlass._windlass import Ciphertext, Circuit, Context, Keys, LinearPlan
from windlass.errors import NoParameters, ProgramError
from windlass.heir._forms import Forms, Rows, Source
from windlass.heir._ports import KeyNeeds

Kind = Literal["same", "negated", "factor", "matrix"]

_MOST_MATRIX = 2**27
"""The largest matrix."""


@dataclass(eq=False)
class Block:
    """A source times a matrix."""

    source: int
    kind: Kind
    factor: Any = None
    """Of the kind ``"factor"``: a number, or one for each entry."""
    matrix: NDArray[Any] | None = None
    keys: list[int] | None = None
    """Of a matrix that was planned before: the Galois keys that its plan may use.

    Plans follow prices that are measured. Without this list another machine might choose a plan for
    which the client made no keys.
    """


@dataclass(eq=False)
class Affine:
    """A sum of sources times matrices, and a constant."""

    blocks: list[Block]
    constant: NDArray[Any]
    bound: float = 0.0

    @property
    def maps(self) -> int:
        """Whether a matrix or a factor is applied."""
        return int(any(block.kind in ("factor", "matrix") for block in self.blocks))


@dataclass(eq=False)
class Step:
    """The computation of a source."""

    source: int
    size: int
    factors: tuple[Affine, Affine] | None = None
    """Of a product. One object twice for a square."""
    inner: Affine | None = None
    """Of a polynomial."""
    coefficients: tuple[float, ...] = ()


@dataclass
class Need:
    """What a chain of operations takes: products of ciphertexts, and products with constants."""

    products: int = 0
    maps: int = 0
    levels: int = 0

    def join(self, other: Need) -> Need:
        """The larger of each."""
        return Need(
            max(self.products, other.products),
            max(self.maps, other.maps),
            max(self.levels, other.levels),
        )


@dataclass(eq=False)
class Design:
    """A program without parameters."""

    modulus: int | None
    sizes: list[int]
    """Of the arguments."""
    arguments: dict[int, int]
    """The source of each argument."""
    steps: list[Step] = field(default_factory=list)
    outputs: list[Affine] = field(default_factory=list)
    need: Need = field(default_factory=Need)
    bound: float = 1.0
    """Of everything that is computed."""
    terms: int = 1
    """The largest number of arrays in one sum."""


# What the slots beside the entries of an array of CKKS hold.
_ZEROS, _CONSTANTS, _ANYTHING = range(3)


class Designer:
    """Turns rows into steps."""

    def __init__(self, forms: Forms, bounds: list[float]) -> None:
        self.forms = forms
        self.modulus = forms.modulus
        self.bounds: list[float] = []
        self.needs: list[Need] = []
        self.beside: list[int] = []
        self.made: dict[tuple[bytes, ...], Affine] = {}
        sizes = [source.size for source in forms.arguments.values()]
        arguments = {k: source.number for k, source in forms.arguments.items()}
        self.design = Design(self.modulus, sizes, arguments)
        for source in forms.sources:
            if source.argument is not None:
                self._add(bounds[source.argument], Need(), _ZEROS)
            else:
                self._step(source)

    def _add(self, bound: float, need: Need, beside: int) -> None:
        self.bounds.append(bound)
        self.needs.append(need)
        self.beside.append(beside)
        self.design.need = self.design.need.join(need)
        self.design.bound = max(self.design.bound, bound)

    def _step(self, source: Source) -> None:
        step = Step(source.number, source.size, coefficients=source.coefficients)
        if source.factors is not None:
            left, right = (self.affine(rows) for rows in source.factors)
            step.factors = (left, right)
            need = self._need(left).join(self._need(right))
            need = Need(need.products + 1, need.maps, need.levels + 1)
            bound = left.bound * right.bound
            # Zeros times anything are zeros.
            beside = min(self._beside(left), self._beside(right))
        else:
            assert source.inner is not None
            step.inner = self.affine(source.inner)
            if not step.inner.blocks:
                raise ProgramError("a polynomial of a constant is not supported")
            need = self._need(step.inner)
            levels = _polynomial_depth(source.coefficients)
            # What lies beside the entries is cleared first: there, values could exceed any bound.
            clear = int(self._beside(step.inner) != _ZEROS)
            at_zero = np.polynomial.chebyshev.chebval(0.0, source.coefficients)
            beside = _ZEROS if at_zero == 0 else _CONSTANTS
            need = Need(need.products + levels, need.maps, need.levels + levels + clear)
            bound = sum(abs(x) for x in source.coefficients)
        self.design.steps.append(step)
        self._add(bound, need, beside)

    def _beside(self, affine: Affine) -> int:
        """What the slots beside the entries of a sum hold."""
        return max((self._beside_block(block) for block in affine.blocks), default=_ZEROS)

    def _beside_block(self, block: Block) -> int:
        if block.matrix is not None:
            rows, columns = block.matrix.shape
            full = rows & (rows - 1) == 0 and rows >= columns
            return _ZEROS if full else _ANYTHING
        varies = block.kind == "factor" and isinstance(block.factor, np.ndarray)
        return _ZEROS if varies else self.beside[block.source]

    def _need(self, affine: Affine) -> Need:
        found = Need()
        for block in affine.blocks:
            own = self.needs[block.source]
            more = int(block.kind in ("factor", "matrix"))
            # Before a matrix, constants beside the entries are cleared.
            clear = int(block.matrix is not None and self.beside[block.source] == _CONSTANTS)
            found = found.join(Need(own.products, own.maps + more, own.levels + more + clear))
        return found

    def output(self, rows: Rows) -> None:
        """A result."""
        affine = self.affine(rows)
        self.design.outputs.append(affine)
        self.design.need = self.design.need.join(self._need(affine))

    def affine(self, rows: Rows) -> Affine:
        """Rows as sources times matrices."""
        key = (rows.starts.tobytes(), rows.columns.tobytes(), rows.values.tobytes())
        if key not in self.made:
            self.made[key] = self._affine(rows)
        return self.made[key]

    def _affine(self, rows: Rows) -> Affine:
        owners = rows.owners()
        values = self._centred(rows.values)
        constant = np.zeros(len(rows), values.dtype)
        known = rows.columns == 0
        constant[owners[known]] = values[known]
        affine = Affine([], constant)
        bounds = np.abs(constant).astype(float)
        for source in self.forms.sources:
            here = (rows.columns >= source.start) & (rows.columns < source.start + source.size)
            if not here.any():
                continue
            columns = rows.columns[here] - source.start
            affine.blocks.append(
                self._block(source, (len(rows), owners[here], columns, values[here]))
            )
            sums = np.bincount(owners[here], np.abs(values[here]), minlength=len(rows))
            bounds += sums * self.bounds[source.number]
        affine.bound = float(bounds.max(initial=0.0))
        self.design.bound = max(self.design.bound, affine.bound)
        self.design.terms = max(self.design.terms, len(affine.blocks))
        return affine

    def _centred(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.modulus is None:
            return values
        return np.where(values > self.modulus // 2, values - self.modulus, values)

    def _block(self, source: Source, entries: tuple[int, Any, Any, Any]) -> Block:
        count, owners, columns, values = entries
        if count == source.size and np.array_equal(owners, columns):
            factor = np.zeros(count, values.dtype)
            factor[owners] = values
            if (factor == factor[0]).all():
                kinds: dict[float, Kind] = {1.0: "same", -1.0: "negated"}
                kind = kinds.get(float(factor[0]), "factor")
                return Block(source.number, kind, factor[0].item())
            return Block(source.number, "factor", factor)
        if count * source.size > _MOST_MATRIX:
            message = f"a matrix of {count} x {source.size} entries, more than {_MOST_MATRIX}"
            raise ProgramError(message)
        matrix = np.zeros((count, source.size), values.dtype)
        matrix[owners, columns] = values
        return Block(source.number, "matrix", matrix=matrix)


def _polynomial_depth(coefficients: tuple[float, ...]) -> int:
    """The levels of a polynomial."""
    return Context.approximate(depth=1).polynomial(_chebyshev(coefficients)).depth


def _chebyshev(coefficients: tuple[float, ...]) -> np.polynomial.Chebyshev:
    return np.polynomial.Chebyshev(np.array(coefficients), domain=[-1, 1], window=[-1, 1])


def chosen_context(
    design: Design, scale_bits: int, scheme: Literal["BGV", "BFV", "CKKS"]
) -> Context:
    """The smallest parameters with 128 bits of security in which the program fits."""
    sizes = [*design.sizes, *(step.size for step in design.steps)]
    sizes += [len(affine.constant) for affine in design.outputs]
    slots = max(sizes, default=1)
    if scheme != "CKKS":
        assert design.modulus is not None
        return Context.plan(
            modulus=design.modulus,
            depth=design.need.products,
            linear_maps=max(design.need.maps, 1),
            # The noise of sums of ciphertexts, which depth does not count.
            capacity=math.log2(design.terms) * (design.need.products + 1),
            slots=min(slots, 2048),
            scheme=scheme,
        )
    value_bits = max(16, math.ceil(math.log2(max(design.bound, 1.0))) + 2)
    levels, slots = max(design.need.levels, 1), min(slots, 2**15)
    try:
        return Context.approximate(
            depth=levels, scale_bits=scale_bits, value_bits=value_bits, slots=slots
        )
    except NoParameters as error:
        try:
            return Context.refreshing(slots=slots, progress=False)
        except NoParameters:
            raise error from None


class PlannedCircuit:
    """A design with the plans of its matrices and polynomials in a context."""

    def __init__(self, design: Design, context: Context, max_keys: int | None = None) -> None:
        self.design, self.context = design, context
        self.plans: dict[int, LinearPlan] = {}
        self.polynomials: dict[int, Circuit] = {}
        for affine in self._affines():
            for block in affine.blocks:
                if block.matrix is not None and id(block) not in self.plans:
                    most = max_keys if block.keys is None else None
                    plan = context.linear(block.matrix, max_keys=most, keys=block.keys)
                    self.plans[id(block)] = plan
        known: dict[tuple[float, ...], Circuit] = {}
        for step in design.steps:
            if step.inner is not None:
                if step.coefficients not in known:
                    known[step.coefficients] = context.polynomial(_chebyshev(step.coefficients))
                self.polynomials[step.source] = known[step.coefficients]

    @property
    def depth(self) -> int:
        """The levels (CKKS), or the successive products with constants and ciphertexts."""
        need = self.design.need
        return need.levels if self.design.modulus is None else need.products + need.maps

    def keys(self) -> KeyNeeds:
        """The evaluation keys."""
        elements = {element for need in self.needs() for element in need.required_keys}
        multiplies = self.multiplies or bool(self.polynomials)
        refreshes = self.design.modulus is None and self.depth > self.context.depth
        return KeyNeeds(tuple(sorted(elements)), multiplies, refreshes)

    def _affines(self) -> list[Affine]:
        found = list(self.design.outputs)
        for step in self.design.steps:
            found += step.factors or ()
            found += [step.inner] if step.inner is not None else []
        return found

    @property
    def multiplies(self) -> bool:
        """Whether ciphertexts are multiplied."""
        return any(step.factors is not None for step in self.design.steps)

    def needs(self) -> list[LinearPlan | Circuit | Keys]:
        """Whatever keys are made for."""
        found: list[LinearPlan | Circuit | Keys] = [*self.plans.values()]
        found += self.polynomials.values()
        return [*found, self.context.products()] if self.multiplies else found

    def run(self, arrays: list[Ciphertext]) -> list[Ciphertext | None]:
        """Compute the results. None for one that depends on no ciphertext."""
        values = {number: arrays[argument] for argument, number in self.design.arguments.items()}
        made: dict[int, Ciphertext] = {}
        last = self._last_uses()
        for place, step in enumerate(self.design.steps):
            values[step.source] = self._step(step, values, made)
            for source in last.get(place, ()):
                values.pop(source, None)
        return [self._affine(affine, values, made) for affine in self.design.outputs]

    def _last_uses(self) -> dict[int, list[int]]:
        """The sources that nothing after a step uses."""
        last: dict[int, int] = {}
        for place, step in enumerate(self.design.steps):
            used = [*(step.factors or ()), *([step.inner] if step.inner is not None else [])]
            for affine in used:
                for block in affine.blocks:
                    last[block.source] = place
        for affine in self.design.outputs:
            for block in affine.blocks:
                last.pop(block.source, None)
        found: dict[int, list[int]] = {}
        for source, place in last.items():
            found.setdefault(place, []).append(source)
        return found

    def _step(
        self, step: Step, values: dict[int, Ciphertext], made: dict[int, Ciphertext]
    ) -> Ciphertext:
        if step.factors is not None:
            left, right = (self._affine(affine, values, made) for affine in step.factors)
            assert left is not None and right is not None
            return left**2 if left is right else left * right
        assert step.inner is not None
        x = self._affine(step.inner, values, made)
        assert x is not None
        # The program says that numbers lie between -1 and 1.
        return self.polynomials[step.source](x.assume_bound(1.0), progress=False)

    def _affine(
        self, affine: Affine, values: dict[int, Ciphertext], made: dict[int, Ciphertext]
    ) -> Ciphertext | None:
        if id(affine) in made:
            return made[id(affine)]
        total: Ciphertext | None = None
        for block in affine.blocks:
            term = self._block(block, values[block.source])
            total = term if total is None else total + term
        if total is not None and affine.constant.any():
            total = total + affine.constant
        if total is not None and len(affine.blocks):
            made[id(affine)] = total
        return total

    def _block(self, block: Block, x: Ciphertext) -> Ciphertext:
        if block.kind == "same":
            return x
        if block.kind == "negated":
            return -x
        if block.kind == "factor":
            scaled: Ciphertext = x * block.factor
            return scaled
        plan = self.plans[id(block)]
        return plan(x, progress=False)

    def in_the_clear(self, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """The same steps on numbers."""
        values: dict[int, NDArray[Any]] = {
            number: arrays[argument] for argument, number in self.design.arguments.items()
        }

        def affine(x: Affine) -> NDArray[Any]:
            total = x.constant
            for block in x.blocks:
                own = values[block.source]
                if block.matrix is not None:
                    own = self._reduced(block.matrix.astype(self._wide) @ own.astype(self._wide))
                elif block.kind in ("factor", "negated"):
                    own = self._reduced(own.astype(self._wide) * block.factor)
                total = self._reduced(total + own)
            return total

        for step in self.design.steps:
            if step.factors is not None:
                left, right = (affine(x) for x in step.factors)
                values[step.source] = self._reduced(left.astype(self._wide) * right)
            else:
                assert step.inner is not None
                values[step.source] = _chebyshev(step.coefficients)(affine(step.inner))
        return [affine(x) for x in self.design.outputs]

    @property
    def _wide(self) -> np.dtype[Any]:
        """Integers of any size, where sums of products exceed 64 bits."""
        return np.dtype(np.float64 if self.design.modulus is None else object)

    def _reduced(self, numbers: NDArray[Any]) -> NDArray[Any]:
        modulus = self.design.modulus
        if modulus is None:
            return numbers
        centred = (numbers + modulus // 2) % modulus - modulus // 2
        return centred.astype(np.int64)

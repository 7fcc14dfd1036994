"""What attacks on sparse ternary secrets cost: the formulas, over grids of block sizes and guesses.

`docs/explanation/attacks.md` explains each attack. All costs, counts and probabilities are
logarithms to base 2. Grids have the axes (block size, number of guessed positions, guessed weight).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product

import numpy as np
from scipy.special import erf, erfc, gammaln

Array = np.ndarray
# What is aimed at, by repeating an attack.
SUCCESS = 0.99
# Sieving, MATZOV 2022: an oracle for shortest vectors in dimension β takes 2^(SIEVE·β + SIEVE_0)
# operations, progressive sieving PROGRESS times that, and gives 2^(0.2075·β) vectors.
SIEVE, SIEVE_0, VECTORS = 0.29613500308205365, 20.387885985467914, 0.2075
PROGRESS = -math.log2(1 - 2**-SIEVE)
# Errors of short combinations are taken to lie within 2·√(2π)·2 deviations, with this probability.
IN_RANGE = 1 - 2 * math.exp(-4 * math.pi)
LARGEST_BLOCK = 1754


def log2_binomial(n: Array, k: Array) -> Array:
    """Log2 of n over k; −∞ if k is outside 0 to n."""
    n, k = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    inside = (k >= 0) & (k <= n)
    top, bottom = np.where(inside, n, 0), np.where(inside, k, 0)
    value = (gammaln(top + 1) - gammaln(bottom + 1) - gammaln(top - bottom + 1)) / math.log(2)
    return np.where(inside, value, -np.inf)


@dataclass(frozen=True)
class Instance:
    """Ring-LWE with a ternary secret of a weight, under the modulus 2^log2_q.

    The secret has `weight` nonzero coefficients among `n`, half of them negative. `rotations` are
    the instances with one matrix that multiplication by roots of unity makes of one.
    """

    n: int
    log2_q: float
    weight: int
    sigma: float = 3.2
    rotations: int = 1

    @property
    def deviation(self) -> float:
        """Standard deviation of a coefficient of the secret."""
        mean = (2 * (self.weight // 2) - self.weight) / self.n
        return math.sqrt(self.weight / self.n - mean**2)

    @property
    def weights(self) -> Array:
        """Guessed weights."""
        return np.arange(self.weight + 1)

    def exactly(self, positions: Array) -> Array:
        """Log2 of the probability that so many positions have exactly a weight.

        Positions are rows here, weights columns.
        """
        zeta, w = positions[:, None], self.weights[None, :]
        found = log2_binomial(zeta, w) + log2_binomial(self.n - zeta, self.weight - w)
        return found - log2_binomial(self.n, self.weight)

    def at_most(self, positions: Array) -> Array:
        """Log2 of the probability that they have at most a weight."""
        return np.minimum(np.logaddexp2.accumulate(self.exactly(positions), axis=1), 0)

    def count_at_most(self, positions: Array) -> Array:
        """Log2 of how many ternary vectors of at most a weight there are."""
        w = self.weights[None, :]
        return np.logaddexp2.accumulate(log2_binomial(positions[:, None], w) + w, axis=1)


@dataclass(frozen=True)
class Dense(Instance):
    """A uniform ternary secret, of which at most `weight` nonzero coefficients are guessed."""

    @property
    def deviation(self) -> float:
        """Standard deviation of a coefficient of the secret."""
        return math.sqrt(2 / 3)

    def exactly(self, positions: Array) -> Array:
        """As for sparse secrets, of independent coefficients."""
        zeta, w = positions[:, None], self.weights[None, :]
        return log2_binomial(zeta, w) + w - zeta * math.log2(3)


@dataclass(frozen=True)
class Composite(Instance):
    """A ring over several odd prime powers, whose rotations wrap some coefficients around.

    Where the exponent of a nonzero coefficient leaves the powerful basis on the axis of the prime
    ℓ, ℓ − 1 others come in its place; `primes` are those of the axes. What the longer vector costs
    in the lattice is left out.
    """

    primes: tuple[int, ...] = ()

    def exactly(self, positions: Array) -> Array:
        """As for sparse secrets, the mean over all rotations, of independent exponents."""
        guessed = positions / self.n
        one = np.zeros((len(positions), self.weight + 1))
        for wrapped in product((False, True), repeat=len(self.primes)):
            parts, chance = 1, 1.0
            for prime, out in zip(self.primes, wrapped, strict=True):
                parts *= prime - 1 if out else 1
                chance *= 1 / prime if out else 1 - 1 / prime
            for w in range(min(parts, self.weight) + 1):
                term = math.comb(parts, w) * guessed**w * (1 - guessed) ** (parts - w)
                one[:, w] += chance * term
        total = np.zeros_like(one)
        total[:, 0] = 1
        for _ in range(self.weight):
            next_total = np.zeros_like(one)
            for w in range(self.weight + 1):
                next_total[:, w:] += one[:, w : w + 1] * total[:, : self.weight + 1 - w]
            total = next_total
        with np.errstate(divide="ignore"):
            return np.log2(total)


def add(*terms: Array) -> Array:
    """Log2 of a sum."""
    total = terms[0]
    for term in terms[1:]:
        total = np.logaddexp2(total, term)
    return total


def trials(log2_p: Array) -> Array:
    """Log2 of how often an event of this probability is tried for one success.

    Not rounded to whole numbers: at 1 and 2 trials that would make many small valleys.
    """
    with np.errstate(divide="ignore", over="ignore"):
        p = np.minimum(np.exp2(log2_p), 1 - 1e-16)
        exact = np.maximum(np.log2(math.log(1 - SUCCESS) / np.log1p(-p)), 0)
    return np.where(log2_p < -45, math.log2(-math.log(1 - SUCCESS)) - log2_p, exact)


def any_of(log2_p: Array, count: int) -> Array:
    """Log2 of the probability that one of `count` independent events of this one occurs."""
    if count == 1:
        return log2_p
    with np.errstate(divide="ignore"):
        p = np.minimum(np.exp2(log2_p), 1 - 1e-16)
        exact = np.log2(-np.expm1(count * np.log1p(-p)))
    return np.where(log2_p < -45 - math.log2(count), log2_p + math.log2(count), exact)


def log2_delta(block: Array) -> Array:
    """Log2 of the root Hermite factor of a block size from 40 on."""
    block = np.asarray(block, float)
    exponent = 1 / (2 * (block - 1))
    value = exponent * np.log2(block / (2 * math.pi * math.e) * (math.pi * block) ** (1 / block))
    return np.where(block <= 40, math.log2(1.01295), value)


def oracle(block: Array) -> Array:
    """Log2 of one call for shortest vectors, with dimensions for free (Ducas 2018)."""
    free = block * math.log(4 / 3) / np.log(block / (2 * math.pi * math.e))
    return PROGRESS + SIEVE * (block - np.maximum(free, 0)) + SIEVE_0


def reduction(block: Array, dimension: Array) -> Array:
    """Log2 of the cost of block reduction, LLL first."""
    calls = PROGRESS + np.log2(np.maximum(dimension - block, 1))
    return add(3 * np.log2(dimension), calls + oracle(block))


def shortest(dimension: Array) -> Array:
    """Log2 of the cost of one shortest vector in a small or large dimension.

    Below 20 by enumeration (Chen and Nguyen 2012).
    """
    small = np.clip(dimension, 2, 20)
    nodes = 0.270188776350190 * small * np.log(small) - 1.0192050451318417 * small
    enumeration = nodes + 16.10253135200765 + math.log2(100)
    large = reduction(np.maximum(dimension, 20), np.maximum(dimension, 20))
    return np.where(dimension < 20, add(3 * np.log2(small), enumeration), large)


@cache
def log_tables() -> tuple[Array, Array, Array, Array, Array]:
    """Log2 of probabilities for a vector of squared length e^u·σ², and their integrals from u on.

    First that a Gaussian of deviation σ rounds to 0 along it, then that rounding is additive there
    (Son and Cheon 2019, Lemma 4.2). Rows: u, both logarithms, both integrals.
    """
    u = np.arange(-25, 60, 0.002)
    half = np.exp(u / 2)
    rounds = np.where(half < 8, np.log2(erf(half / math.sqrt(8))), 0)
    tail = erfc(half / math.sqrt(8)) / math.log(2)
    rounds = np.where(half < 8, rounds, -tail)
    x = half / math.sqrt(2)
    lost = erfc(x) - np.expm1(-(x**2)) / (x * math.sqrt(math.pi))
    adds = np.log1p(-np.minimum(lost, 1 - 1e-16)) / math.log(2)

    def from_here(values: Array) -> Array:
        steps = (values[1:] + values[:-1]) / 2 * 0.002
        return np.append(np.cumsum(steps[::-1])[::-1], 0)

    return u, rounds, adds, from_here(rounds), from_here(adds)


def over_profile(first: Array, last: Array, step: Array, which: int) -> Array:
    """Log2 of the product of probabilities over a geometric series of lengths.

    Squared lengths are e^first·σ² to e^last·σ², a factor e^step apart; `which` is 0 for rounding to
    0, 1 for additivity (`log_tables`).
    """
    u, *values = log_tables()
    at = np.interp(first, u, values[which]), np.interp(last, u, values[which])
    area = np.interp(last, u, values[2 + which]) - np.interp(first, u, values[2 + which])
    return area / step + (at[0] + at[1]) / 2


@dataclass(frozen=True)
class Optimum:
    """Where an attack costs least."""

    bits: float
    block: int
    guessed: int
    weight: int


@dataclass(frozen=True)
class Reduced:
    """The lattice of the positions that are not guessed, reduced: columns are block sizes.

    Squared Gram-Schmidt lengths fall geometrically. Logarithms of them are natural, in units of σ².
    """

    instance: Instance
    block: Array
    columns: Array

    @property
    def scale(self) -> float:
        """Log2 of the factor that gives secrets the deviation of errors."""
        return math.log2(max(self.instance.sigma / self.instance.deviation, 1))

    @property
    def dimension(self) -> Array:
        """The best one for a root Hermite factor."""
        room = self.columns * (self.instance.log2_q - self.scale)
        return np.maximum(np.ceil(np.sqrt(room / log2_delta(self.block))), self.block)

    @property
    def middle(self) -> Array:
        """The geometric mean."""
        samples = self.dimension - self.columns
        volume = samples * self.instance.log2_q + self.columns * self.scale
        return 2 * math.log(2) * (volume / self.dimension - math.log2(self.instance.sigma))

    @property
    def step(self) -> Array:
        """From one to the next."""
        return 4 * math.log(2) * log2_delta(self.block)

    def chance(self, without: Array | int, which: int) -> Array:
        """Log2 of the probability of `log_tables`, the last ones left out."""
        half = self.step * (self.dimension - 1) / 2
        last = np.minimum(self.middle - half + self.step * without, self.middle + half)
        return over_profile(self.middle + half, last, self.step, which)


def primal(
    instance: Instance,
    blocks: Array,
    positions: Array,
    weights: slice,
    *,
    projected: bool,
    meet: str,
) -> Array:
    """Reduce the lattice of the other positions, look for a close vector at each guess.

    `projected`: shortest vectors of a projection, instead of rounding (nearest planes). `meet`:
    `none`, `likely` (meet in the middle with the probability that rounding is additive) or `always`
    (it succeeds always).
    """
    block = blocks[:, None].astype(float)
    lattice = Reduced(instance, block, (instance.n - positions)[None, :].astype(float))
    d = lattice.dimension
    if projected:
        eta = projection(lattice)
        each = add(shortest(eta + 1), 2 * np.log2(np.maximum(d - eta, 1)))
        each = np.where(eta > np.minimum(d, LARGEST_BLOCK), np.inf, each)
        hit = lattice.chance(eta, 0)
    else:
        each, hit = 2 * np.log2(d), lattice.chance(0, 0)
    if meet == "likely":
        hit = hit + np.where(positions > 0, lattice.chance(0, 1), 0)
    space = instance.count_at_most(positions)[:, weights] + math.log2(instance.rotations)
    if meet != "none":
        space = space / 2
    found = any_of(instance.at_most(positions)[:, weights], instance.rotations)
    found = found[None, :, :] + hit[:, :, None]
    once = add(reduction(block, d)[:, :, None], each[:, :, None] + space[None, :, :])
    return once + trials(found)


def projection(lattice: Reduced) -> Array:
    """The least dimension from which on projections have the error as their shortest vector.

    1755 where there is none.
    """
    middle, d = lattice.middle[..., None], lattice.dimension[..., None]
    log_delta = lattice.step[..., None] / 4

    def fails(tail: Array) -> Array:
        ball = (tail + 1) / 2 * math.log(math.pi) - gammaln((tail + 1) / 2 + 1)
        volume = tail * middle - 2 * log_delta * tail * (d - tail)
        return (volume - 2 * ball < (tail + 1) * np.log(tail + 1)) & (tail <= d)

    tail = np.unique(np.rint(np.geomspace(1, LARGEST_BLOCK, 160))).astype(float)
    failed = fails(tail)
    last = np.where(failed.any(-1), len(tail) - np.argmax(failed[..., ::-1], -1), 0)
    low = np.where(last > 0, tail[np.maximum(last - 1, 0)], 0)
    high = np.where(last < len(tail), tail[np.minimum(last, len(tail) - 1)], LARGEST_BLOCK + 1)
    # Between two points of the grid exactly.
    while np.any(high - low > 1):
        between = np.floor((low + high) / 2)
        fail, moves = fails(between[..., None])[..., 0], high - low > 1
        low, high = np.where(moves & fail, between, low), np.where(moves & ~fail, between, high)
    return high


def dual(
    instance: Instance, blocks: Array, positions: Array, weights: slice, *, meet: bool
) -> Array:
    """Short vectors of the dual on the other positions leave LWE in the guessed ones alone.

    That is solved by meeting in the middle or by trying all secrets of the guessed weight.
    """
    w, zeta = instance.weights[None, None, weights], positions[None, :, None].astype(float)
    block, columns = blocks[:, None, None].astype(float), instance.n - zeta
    # The rest of the secret, which short vectors are multiplied with; half of it is negative.
    rest = instance.weight - w
    mean = rest * (2 * (instance.weight // 2) / instance.weight - 1) / columns
    deviation = np.log2(np.maximum(rest / columns - mean**2, 0)) / 2
    balance = deviation + instance.log2_q - math.log2(instance.sigma)
    delta = log2_delta(block)
    m = np.maximum(1, np.ceil(np.sqrt(columns * balance / delta)) - columns)
    d = m + columns
    # Log2 of the new error's deviation over q.
    error = short_factor(block) + deviation + delta * d - balance * m / d
    solve, samples = (meet_in_the_middle if meet else all_secrets)(instance, error, zeta, w)
    sieve = sieve_dimension(block, d)
    most = np.floor(np.exp2(VECTORS * sieve))
    sieves = np.log2(np.maximum(np.ceil(np.exp2(np.minimum(samples, 1000)) / most), 1))
    vectors = sieves + add(reduction(block, d), PROGRESS + SIEVE * sieve + SIEVE_0)
    found = any_of(instance.exactly(positions)[None, :, weights], instance.rotations)
    return np.where((rest > 0) & (w <= zeta), add(solve, vectors) + trials(found), np.inf)


def sieve_dimension(block: Array, d: Array) -> Array:
    """Dimension of a sieve that takes as long as reduction: it gives many short vectors at once."""
    free = np.floor(np.maximum(block * math.log(4 / 3) / np.log(block / (2 * math.pi * math.e)), 0))
    extra = (np.log2(np.maximum(d - block, 1)) + PROGRESS) / SIEVE
    return np.where(block < d, np.minimum(d, np.floor(block - free + extra)), block - free)


def short_factor(block: Array) -> Array:
    """Log2 of how much longer these are than one shortest vector."""
    dim = sieve_dimension(block, 2 * block)
    return math.log2(4 / 3) / 2 + (dim - 1) * (log2_delta(dim) - log2_delta(block))


def meet_in_the_middle(
    instance: Instance, error: Array, zeta: Array, w: Array
) -> tuple[Array, Array]:
    """Log2 of the cost, and of the number of samples (Cheon, Hhan, Hong and Son 2019).

    A table of sums over some positions serves all rotations; what is looked up is made for each.
    """
    rotations = math.log2(instance.rotations)
    # Share of the modulus that errors cover.
    share = 8 * math.sqrt(2 * math.pi) * np.exp2(np.minimum(error, 10)) + 3 * 2.0**-instance.log2_q
    size = w * (np.log2(zeta) - np.log2(w) + 1 + math.log2(math.e))
    table = (size + rotations) / (2 - share) - np.log2(w) / 2
    table = table - w * w * math.log2(math.e) / (2 * zeta * (2 - share) ** 2)
    # That many samples tell sums apart, and each sum is of so many numbers.
    m = np.maximum(np.rint(table + np.log2(np.maximum(table, 1))), 1)
    # At most all guesses are in the table; all rotations are looked up.
    tabled = np.rint(zeta * np.minimum((1 + rotations / size) / (2 - share), 1))
    chance = split(instance, zeta, w, tabled) + m * math.log2(IN_RANGE)
    cost = np.maximum(m, rotations + np.log2(m)) + trials(np.minimum(chance, 0))
    return np.where((share < 1) & (w > 0), cost, np.inf), np.log2(m)


def ternary(instance: Instance, positions: Array, w: Array) -> Array:
    """Log2 of how many vectors have this weight, with the secret's share of negative entries."""
    positive = w * (instance.weight // 2) / instance.weight
    return log2_binomial(positions, positive) + log2_binomial(positions - positive, w - positive)


def split(instance: Instance, zeta: Array, w: Array, tabled: Array) -> Array:
    """Log2 of the probability that the tabled positions have their share of the weight."""
    share = w * tabled / zeta
    parts = ternary(instance, tabled, share) + ternary(instance, zeta - tabled, w - share)
    return parts - ternary(instance, zeta, w)


def all_secrets(instance: Instance, error: Array, zeta: Array, w: Array) -> tuple[Array, Array]:
    """Log2 of the cost of trying all secrets, and of the number of samples.

    Espitau, Joux and Kharchenko 2020.
    """
    size = ternary(instance, zeta, w) + math.log2(instance.rotations)
    likely = -math.log(-math.log(math.sqrt(SUCCESS)))
    exponent = 4 * math.pi**2 * np.exp2(2 * np.minimum(error, 20)) * math.log2(math.e)
    samples = 3 + exponent + np.log2(np.maximum(size * math.log(2) + likely, 1))
    return 1 + size + samples, samples


Attack = Callable[[Instance, Array, Array, slice], Array]
ALL = slice(None)
ATTACKS: dict[str, Attack] = {
    "primal_project": partial(primal, projected=True, meet="none"),
    "primal_round": partial(primal, projected=False, meet="none"),
    "primal_meet": partial(primal, projected=False, meet="likely"),
    "primal_always": partial(primal, projected=True, meet="always"),
    "dual_all": partial(dual, meet=False),
    "dual_meet": partial(dual, meet=True),
}


def costs_of(
    attack: Attack, instance: Instance, blocks: Array, positions: Array, weights: slice = ALL
) -> Array:
    """Costs on a grid, of these guessed weights; infinite where an attack has no way."""
    with np.errstate(all="ignore"):
        costs = attack(instance, blocks, positions, weights)
        return np.nan_to_num(costs, nan=np.inf, posinf=np.inf)


def minimise(attack: Attack, instance: Instance) -> Optimum:
    """Coarse grid, then finer ones at the best guessed weights and at their neighbours.

    At one guessed weight the cost has one valley; from weight to weight it jumps.
    """
    n = instance.n
    blocks = np.unique(np.rint(np.geomspace(40, 1400, 36)))
    positions = (n - np.unique(np.rint(np.geomspace(min(64, n // 4), n, 56)))).astype(int)
    costs = costs_of(attack, instance, blocks, positions)
    tried: dict[int, Optimum] = {}
    for weight in np.argsort(costs.min(axis=(0, 1)))[:2]:
        start = optimum(costs[:, :, weight : weight + 1], blocks, positions, int(weight))
        tried[start.weight] = descend(attack, instance, start)
    while True:
        best = min(tried.values(), key=lambda one: one.bits)
        near = [best.weight + step for step in (-2, -1, 1, 2)]
        new = [w for w in near if w not in tried and 0 <= w < costs.shape[2]]
        if not new:
            return exhaust(attack, instance, best)
        for weight in new:
            start = replace(best, bits=math.inf, weight=weight)
            tried[weight] = descend(attack, instance, start)


def descend(attack: Attack, instance: Instance, best: Optimum) -> Optimum:
    """Finer and finer grids of block sizes and positions at one guessed weight."""
    span = 0.12
    while True:
        left = instance.n - best.guessed
        wide = max(best.block * span, 7), max(left * span, 7)
        blocks = grid(best.block, wide[0], 40, LARGEST_BLOCK)
        found = at_weight(attack, instance, blocks, grid(left, wide[1], 1, instance.n), best.weight)
        if found.bits < best.bits - 1e-9:
            best = found
        elif wide == (7, 7):
            return best
        else:
            span /= 4


def exhaust(attack: Attack, instance: Instance, best: Optimum) -> Optimum:
    """Every block size and many numbers of positions near the best ones: costs have small jumps."""
    blocks = np.unique(np.clip(best.block + np.arange(-10, 11), 40, LARGEST_BLOCK))
    columns = np.rint((instance.n - best.guessed) * (1 + np.linspace(-0.03, 0.03, 41)))
    columns = np.unique(np.clip(columns, 1, instance.n))
    found = at_weight(attack, instance, blocks, columns, best.weight)
    return min(best, found, key=lambda one: one.bits)


def at_weight(
    attack: Attack, instance: Instance, blocks: Array, columns: Array, weight: int
) -> Optimum:
    """The smallest cost over a grid of block sizes and positions that are not guessed."""
    positions = (instance.n - columns).astype(int)
    costs = costs_of(attack, instance, blocks, positions, slice(weight, weight + 1))
    return optimum(costs, blocks, positions, weight)


def grid(centre: float, wide: float, low: int, high: int) -> Array:
    """Integers about one, within bounds."""
    points = np.rint(np.linspace(centre - wide, centre + wide, 15))
    return np.unique(np.clip(points, low, high))


def optimum(costs: Array, blocks: Array, positions: Array, weight: int) -> Optimum:
    """The smallest of a grid of costs at one guessed weight."""
    at = np.unravel_index(np.argmin(costs), costs.shape)
    return Optimum(float(costs[at]), int(blocks[at[0]]), int(positions[at[1]]), weight)

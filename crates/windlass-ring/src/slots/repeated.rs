//! Encoding of public slots that repeat: products in the group ring of a quotient of Z_m^*.
//!
//! Let β have a normal element θ of E in slot 0, and 0 in the others. The automorphism of t(e)·p^f
//! moves it to slot e and makes it σ^f(θ) there. So the element whose slot e is `Σ_f
//! y_{e,f}·σ^f(θ)` is `Σ_t y_t·θ_t(β)`, and with `β = Σ_k b_k·X^k`, k modulo m, its coefficient at
//! X^k is `Σ_t y_t·b_{k/t}`: on each orbit of Z_m^* a product in its group ring. Where y is the
//! same along a subgroup H, it takes b summed over H and the group ring of Z_m^*/H. The constants
//! of linear maps along one dimension have a few thousand classes, for any n.
//!
//! Units are products of powers of the hypercube's generators and of p, here called lines; classes
//! are their exponents modulo the periods of the slots. A product in the group ring is one of
//! polynomials in the generators, reduced by the classes that its monomials are in.

use rayon::prelude::*;
use windlass_kernels::arith;

use super::convolution::{Convolver, Prepared, log_of};
use super::slot_ring::SlotRing;
use crate::error::RingError;
use crate::periodic_values::period;

/// From so many elements on it is asked whether they repeat: what that prepares takes the time of
/// two or three encodings.
const TOGETHER: usize = 5;

impl SlotRing {
    /// As [`Self::encode`] of each of these elements, for public ones: the time depends on what is in
    /// their slots. Where it repeats along the dimensions, in all of them alike, it is much less.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_public(&self, elements: &[&[u64]]) -> Result<Vec<Vec<u64>>, RingError> {
        elements.iter().try_for_each(|slots| self.check(slots, self.slots() * self.degree()))?;
        // A normal basis takes d³ products.
        let few = 4 * self.degree().pow(2) <= self.n();
        let worth = elements.len() >= TOGETHER && few && self.has_tree();
        let together = worth.then(|| encode(self, elements, self.n())).flatten();
        together.map_or_else(|| elements.par_iter().map(|slots| self.encode(slots)).collect(), Ok)
    }
}

/// The coefficients of elements with these slots, `[ℓ][d]` each, if they have so much in common
/// that the transforms for one of them have at most `most` places. Cost: beside those one encoding
/// of any element.
fn encode(ring: &SlotRing, elements: &[&[u64]], most: usize) -> Option<Vec<Vec<u64>>> {
    let lines = Lines::of(ring);
    let (theta, dual) = ring.galois().normal_element();
    let duals = functionals(ring, &dual);
    let periods = lines.periods(ring, &duals, elements, most)?;
    let orbits: Vec<(u64, Vec<usize>)> = lines.orbits(ring, &periods);
    let length = |periods: &[usize]| 1usize << log_of(padded(periods).iter().product());
    if orbits.iter().map(|(_, own)| length(own)).sum::<usize>() > most {
        return None;
    }
    let coefficients = normal_coefficients(ring, &theta);
    let orbit = |(g, own): &(u64, Vec<usize>)| Orbit::new(ring, &lines, (&periods, own), *g, &coefficients);
    let orbits: Vec<Orbit> = orbits.iter().filter_map(orbit).collect();
    let (slots, frobenius) = (lines.kept_slots(ring, &periods), periods[periods.len() - 1]);
    let one = |element: &&[u64]| {
        let y = coordinates(ring, &duals, &slots, element);
        let y: Vec<u64> = y.chunks_exact(ring.degree()).flat_map(|slot| &slot[..frobenius]).copied().collect();
        let mut cyclic = vec![0; ring.m() as usize];
        orbits.iter().for_each(|orbit| orbit.write(ring.quotient().convolver(), &y, &mut cyclic));
        ring.quotient().reduce_cyclic(cyclic)
    };
    Some(elements.par_iter().map(one).collect())
}

/// All units modulo m are products of powers of a generator from each line in one way: those of the
/// dimensions, in order, and p.
struct Lines {
    m: u64,
    sizes: Vec<usize>,
    /// Powers below twice the size.
    powers: Vec<Vec<u64>>,
}

impl Lines {
    fn of(ring: &SlotRing) -> Self {
        let (m, cube) = (ring.m(), ring.hypercube());
        let dimensions = cube.dimensions().iter().map(|dimension| (dimension.generator, dimension.size));
        let lines: Vec<(u64, usize)> = dimensions.chain([(cube.prime(), cube.slot_degree())]).collect();
        let powers = |&(g, size): &(u64, usize)| {
            std::iter::successors(Some(1 % m), |&power| Some(power * (g % m) % m)).take(2 * size).collect()
        };
        Self { m, sizes: lines.iter().map(|line| line.1).collect(), powers: lines.iter().map(powers).collect() }
    }

    /// The products of powers with exponents below `counts`.
    fn products(&self, counts: &[usize]) -> Vec<u64> {
        row_major(counts, 1 % self.m, |t, line, e| t * self.powers[line][e] % self.m)
    }

    /// The class of each unit, by its residue.
    fn class_of(&self, periods: &[usize]) -> Vec<usize> {
        let mut class_of = vec![usize::MAX; self.m as usize];
        let units = self.products(&self.sizes).into_iter().zip(classes(&self.sizes, periods));
        units.for_each(|(t, class)| class_of[t as usize] = class);
        class_of
    }

    /// A line that repeats, but does not end in the class of 1: its classes are none of a quotient.
    fn open(&self, periods: &[usize]) -> Option<usize> {
        let class_of = self.class_of(periods);
        let ends = |line: usize| class_of[self.powers[line][self.sizes[line]] as usize];
        (0..self.sizes.len()).find(|&line| periods[line] < self.sizes[line] && ends(line) != 0)
    }

    /// After how many places on each line the coordinates of all elements repeat; none if it is
    /// plain that they are too many.
    fn periods(&self, ring: &SlotRing, duals: &[Vec<u64>], elements: &[&[u64]], most: usize) -> Option<Vec<usize>> {
        let (cube, degree, frobenius) = (ring.hypercube(), ring.degree(), self.sizes.len() - 1);
        let lcm = |a: usize, b: usize| arith::lcm(a as u64, b as u64) as usize;
        let along = |s: usize| {
            let period = |element: &&[u64]| period(element, self.sizes[s], cube.stride(s) * degree);
            elements.iter().map(period).fold(1, lcm)
        };
        let mut periods: Vec<usize> = (0..frobenius).map(along).chain([degree]).collect();
        let slots = self.kept_slots(ring, &periods);
        let inside = |element: &&[u64]| period(&coordinates(ring, duals, &slots, element), degree, 1);
        // Most elements that do not repeat show it alone.
        periods[frobenius] = elements.first().map_or(1, inside);
        if padded(&periods).iter().product::<usize>() > most {
            return None;
        }
        periods[frobenius] = elements.par_iter().map(inside).reduce(|| 1, lcm);
        while let Some(line) = self.open(&periods) {
            periods[line] = self.sizes[line];
        }
        Some(periods)
    }

    /// The orbits of units on the exponents k of X^k, by their divisors of m, each with the periods
    /// of functions of these exponents.
    fn orbits(&self, ring: &SlotRing, periods: &[usize]) -> Vec<(u64, Vec<usize>)> {
        let radical: u64 = ring.shape().axes().iter().map(|axis| axis.prime).product();
        let own = |g: u64| {
            let fixes = |line: usize, e: usize| g * (self.powers[line][e] + self.m - 1) % self.m == 0;
            let least = |(line, &period): (usize, &usize)| {
                (1..period).find(|&less| period % less == 0 && fixes(line, less)).unwrap_or(period)
            };
            let least: Vec<usize> = periods.iter().enumerate().map(least).collect();
            if self.open(&least).is_none() { least } else { periods.to_vec() }
        };
        (1..=self.m / radical).filter(|g| self.m / radical % g == 0).map(|g| (g, own(g))).collect()
    }

    /// The slots with coordinates below their periods.
    fn kept_slots(&self, ring: &SlotRing, periods: &[usize]) -> Vec<usize> {
        let dimensions = &periods[..periods.len() - 1];
        row_major(dimensions, 0, |slot, s, e| slot + e * ring.hypercube().stride(s))
    }
}

/// Products for the coefficients at X^k, k on one orbit: the multiples of a divisor of m by units.
struct Orbit {
    /// The class here of each class of coordinates.
    projection: Vec<usize>,
    /// Where each class stands in a polynomial, and the class of each monomial of a product.
    places: Vec<usize>,
    class_of_monomial: Vec<usize>,
    /// The coefficients of β, summed over H.
    kernel: Prepared,
    /// All k, with their classes.
    exponents: Vec<(usize, usize)>,
}

impl Orbit {
    /// The orbit of g; none if there is nothing to multiply by. `all` and `own` are the periods of
    /// the elements, and those here.
    fn new(
        ring: &SlotRing,
        lines: &Lines,
        (all, own): (&[usize], &[usize]),
        g: u64,
        coefficients: &[u64],
    ) -> Option<Self> {
        let modulus = ring.modulus();
        let exponents = lines.products(&lines.sizes).into_iter().map(|t| (g * t % lines.m) as usize);
        let mut sums = vec![0; all.iter().product()];
        for (k, class) in exponents.clone().zip(classes(&lines.sizes, all)) {
            sums[class] = modulus.add(sums[class], coefficients[k]);
        }
        if sums.iter().all(|&sum| sum == 0) {
            return None;
        }
        let padded = padded(own);
        let places = row_major(own, 0, |place, line, e| place * padded[line] + e);
        let class_of = lines.class_of(own);
        let class_of_monomial: Vec<usize> = lines.products(&padded).into_iter().map(|t| class_of[t as usize]).collect();
        let projection = classes(all, own);
        let mut polynomial = vec![0; class_of_monomial.len()];
        projection.iter().zip(&sums).for_each(|(&class, &sum)| polynomial[places[class]] = sum);
        let kernel = ring.quotient().convolver().prepare(&polynomial, log_of(class_of_monomial.len()));
        let mut exponents: Vec<(usize, usize)> = exponents.zip(classes(&lines.sizes, own)).collect();
        exponents.sort_unstable();
        exponents.dedup_by_key(|(k, _)| *k);
        Some(Self { projection, places, class_of_monomial, kernel, exponents })
    }

    /// Writes the coefficients at these X^k.
    fn write(&self, convolver: &Convolver, y: &[u64], cyclic: &mut [u64]) {
        let modulus = convolver.modulus();
        let mut polynomial = vec![0; self.class_of_monomial.len()];
        for (&class, &x) in self.projection.iter().zip(y) {
            let place = &mut polynomial[self.places[class]];
            *place = modulus.add(*place, x);
        }
        let product = convolver.mul_prepared(&[(&polynomial, &self.kernel)], self.class_of_monomial.len());
        let mut sums = vec![0; self.places.len()];
        for (&class, x) in self.class_of_monomial.iter().zip(product) {
            sums[class] = modulus.add(sums[class], x);
        }
        self.exponents.iter().for_each(|&(k, class)| cyclic[k] = sums[class]);
    }
}

/// `step(.. step(start, 0, e_0) .., s, e_s)` for all e below `counts`, the last fastest.
fn row_major<T: Copy>(counts: &[usize], start: T, step: impl Fn(T, usize, usize) -> T) -> Vec<T> {
    let step = &step;
    let along = |list: Vec<T>, (line, &count): (usize, &usize)| {
        list.into_iter().flat_map(|x| (0..count).map(move |e| step(x, line, e))).collect()
    };
    counts.iter().enumerate().fold(vec![start], along)
}

/// The class of each place of a box: its coordinates modulo the periods.
fn classes(sizes: &[usize], periods: &[usize]) -> Vec<usize> {
    row_major(sizes, 0, |class, line, e| class * periods[line] + e % periods[line])
}

/// The exponents of products, on each line.
fn padded(periods: &[usize]) -> Vec<usize> {
    periods.iter().map(|period| 2 * period - 1).collect()
}

/// By powers of X, the element β with θ in slot 0: none of them X_i^0 on any axis, and those that
/// differ by X_i^{m_i/ℓ_i} add up to 0 otherwise, so that an automorphism permutes them.
fn normal_coefficients(ring: &SlotRing, theta: &[u64]) -> Vec<u64> {
    let modulus = ring.modulus();
    let mut slots = vec![0; ring.slots() * ring.degree()];
    slots[..ring.degree()].copy_from_slice(theta);
    let mut coefficients = ring.quotient().to_cyclic(&ring.encode(&slots).expect("slots of residues"));
    for axis in ring.shape().axes() {
        let (count, step) = (axis.prime as usize, (ring.m() / axis.prime) as usize);
        let inverse = modulus.inv(modulus.reduce(axis.prime)).expect("p does not divide m");
        for first in 0..step {
            let coset = (0..count).map(|j| first + j * step);
            let common = match coset.clone().find(|k| k % axis.index as usize == 0) {
                Some(zero) => coefficients[zero],
                None => modulus.mul(inverse, coset.clone().fold(0, |sum, k| modulus.add(sum, coefficients[k]))),
            };
            coset.for_each(|k| coefficients[k] = modulus.sub(coefficients[k], common));
        }
    }
    coefficients
}

/// `[f][k]`: Tr(σ^f(θ*)·ζ^k), which gives y_f.
fn functionals(ring: &SlotRing, dual: &[u64]) -> Vec<Vec<u64>> {
    let galois = ring.galois();
    (0..galois.degree()).map(|f| galois.traces_against(&galois.frobenius(dual, f), 1)).collect()
}

/// The y of some slots, `[slots][d]`.
fn coordinates(ring: &SlotRing, duals: &[Vec<u64>], slots: &[usize], element: &[u64]) -> Vec<u64> {
    let (degree, modulus) = (ring.degree(), ring.modulus());
    let of = |(slot, dual): (&[u64], &Vec<u64>)| {
        modulus.reduce_u128(slot.iter().zip(dual).map(|(&x, &y)| x as u128 * y as u128).sum())
    };
    let slots = slots.iter().map(|slot| &element[slot * degree..(slot + 1) * degree]);
    slots.flat_map(|slot| duals.iter().map(move |dual| of((slot, dual)))).collect()
}

#[cfg(test)]
mod tests {
    use windlass_kernels::Isa;

    use super::super::Hypercube;
    use super::*;

    /// Squarefree m and others, good and bad dimensions, those of the radix-2 stages.
    fn cubes() -> Vec<(Hypercube, u32)> {
        let automatic =
            [(1023, 2, 3), (4369, 2, 15), (819, 2, 2), (847, 2, 2), (1155, 2, 1), (364, 5, 2), (1024, 17, 2)];
        let powers_of_two = [(1024, 7, 2), (512, 127, 1), (512, 31, 3)];
        let automatic = automatic.map(|(m, p, r)| (Hypercube::automatic(m, p).unwrap(), r));
        let of_five = powers_of_two.map(|(m, p, r)| (Hypercube::with_generators(m, p, &[5]).unwrap(), r));
        automatic.into_iter().chain(of_five).collect()
    }

    /// In every way that divides the dimensions, integers and elements.
    #[test]
    fn slots_that_repeat_are_encoded_as_all_others() {
        for (cube, r) in cubes() {
            let (m, p) = (cube.m(), cube.prime());
            let ring = SlotRing::with_hypercube(cube, r, Isa::best()).unwrap();
            let sizes: Vec<usize> = ring.hypercube().dimensions().iter().map(|dimension| dimension.size).collect();
            let divisors = |&size: &usize| (1..=size).filter(move |period| size % period == 0).collect::<Vec<_>>();
            let all = sizes.iter().map(divisors).fold(vec![Vec::new()], |list: Vec<Vec<usize>>, next| {
                list.iter().flat_map(|some| next.iter().map(|&x| [&some[..], &[x]].concat())).collect()
            });
            let (mut found, mut different) = (0, 0);
            for (periods, integers) in all.iter().flat_map(|periods| [(periods, true), (periods, false)]) {
                let element = |seed: u64| -> Vec<u64> {
                    let slot = |class: usize| {
                        (0..ring.degree()).map(move |k| {
                            let x = (class * 64 + k + 1) as u64 * (seed + 3);
                            if integers && k > 0 { 0 } else { (x * 0x9e37_79b9) >> 5 }
                        })
                    };
                    let residues = classes(&sizes, periods).into_iter().flat_map(slot);
                    residues.map(|x| ring.modulus().reduce(x)).collect()
                };
                let elements: Vec<Vec<u64>> = (0..5).map(element).collect();
                let elements: Vec<&[u64]> = elements.iter().map(Vec::as_slice).collect();
                let one_by_one: Vec<Vec<u64>> = elements.iter().map(|slots| ring.encode(slots).unwrap()).collect();
                different += usize::from(one_by_one[0] != one_by_one[1]);
                if let Some(together) = encode(&ring, &elements, 2 * m as usize) {
                    assert!(together == one_by_one, "m = {m}, p^r = {p}^{r}, {periods:?}, integers: {integers}");
                    found += 1;
                }
                assert!(ring.encode_public(&elements).unwrap() == one_by_one);
            }
            assert!(found > 0 && different > 0, "m = {m}, p = {p}: {found}");
        }
    }
}

//! The factors of a composite m, and a hypercube with dimensions for each factor.

use std::cmp::Reverse;
use std::ops::Range;

use windlass_ring::RingError;
use windlass_ring::kernels::{Axis, Shape, arith};
use windlass_ring::slots::{Hypercube, PrimePower};
use windlass_schemes::error::{BootstrapError, Result};

use super::factor_order::FactorOrder;

/// Doublings of a power of two in one stage: at most 16 diagonals, or 31 away from the end.
pub(super) const DOUBLINGS: usize = 4;

/// One factor m_s of m: a prime power, or for the first factor a product of some whose group modulo
/// p is cyclic.
#[derive(Debug, Clone)]
pub(super) struct IndexFactor {
    /// m_s.
    pub index: u64,
    pub axes: Vec<Axis>,
    /// k_s = φ(m_s)/d_s, d_s the order modulo m_s of the powers of p that are 1 modulo the factors
    /// before.
    pub size: usize,
    /// Generators modulo m_s and those powers of p, each with its order: one where the group is
    /// cyclic.
    pub lines: Vec<(u64, usize)>,
    /// Whether the lines are those of 5 and of −1, along which a power of two is gone through by
    /// doublings.
    pub is_doubled: bool,
}

impl IndexFactor {
    /// Z_{m_s}^* modulo the powers of q. `None` if the group needs several generators, unless the
    /// factor is a power of two.
    fn above(axes: Vec<Axis>, q: u64) -> Option<Self> {
        let index: u64 = axes.iter().map(|axis| axis.index).product();
        let size = (arith::totient(index) / arith::multiplicative_order(q % index, index)) as usize;
        let is_binary = axes.len() == 1 && axes[0].prime == 2;
        let generator = if is_binary && size > 1 << DOUBLINGS { None } else { generator_above(index, q, size) };
        let lines = match generator {
            Some(_) if size == 1 => Vec::new(),
            Some(generator) => vec![(generator, size)],
            None if !is_binary => return None,
            None if q % 4 == 1 => vec![(5, size / 2), (index - 1, 2)],
            None => vec![(5, size)],
        };
        Some(Self { index, axes, size, lines, is_doubled: generator.is_none() })
    }

    /// u = 1/t modulo m_s of each place, the last line fastest.
    pub fn points(&self) -> Vec<u64> {
        let mut points = vec![1];
        for &(generator, size) in &self.lines {
            let back = arith::inv_mod(generator, self.index).expect("generators are units");
            let along = |u: u64| (0..size as u64).map(move |e| u * arith::pow_mod(back, e, self.index) % self.index);
            points = points.into_iter().flat_map(along).collect();
        }
        points
    }
}

/// The factors of m, first those that make up the first factor of 2015: p has its whole order d on
/// them together.
#[derive(Debug, Clone)]
pub(super) struct Factors {
    pub m: u64,
    pub list: Vec<IndexFactor>,
    /// How many of them make up the first factor.
    pub first: usize,
}

impl Factors {
    /// The factors in the given order.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::Ring`] for an m that is no index of a ring, or a p that is not a prime or
    /// divides m; [`BootstrapError::Factors`] for numbers that are no factors of m with p's whole
    /// order on the first.
    pub fn of_order(m: u64, p: u64, order: &FactorOrder) -> Result<Self> {
        let axes = Axes::new(m, p)?;
        let FactorOrder::Given(list) = order else { return Ok(axes.standard()) };
        let refused = |why: &'static str| BootstrapError::Factors { given: list.clone(), m, why };
        let groups: Option<Vec<Vec<usize>>> = list.iter().map(|&factor| axes.group(factor)).collect();
        let groups = groups.ok_or(refused("each must be a product of prime powers that divide m exactly"))?;
        let mut all = groups.concat();
        all.sort_unstable();
        if all != (0..axes.list.len()).collect::<Vec<_>>() {
            return Err(refused("together they must be m, each prime power once").into());
        }
        if groups[1..].iter().any(|group| group.len() > 1) {
            return Err(refused("only the first may be a product of several prime powers").into());
        }
        if !axes.has_whole_order(&groups[0]) {
            return Err(refused("p must have the same order modulo the first as modulo m").into());
        }
        let others: Vec<usize> = groups[1..].iter().map(|group| group[0]).collect();
        Ok(axes.cyclic(&groups[0], &others).unwrap_or_else(|| axes.successive(&groups[0], &others)))
    }

    /// Those that a hypercube was made for, which its generators tell.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`] for a hypercube that was made otherwise.
    pub fn of_hypercube(cube: &Hypercube) -> Result<Self> {
        let (m, p) = (cube.m(), cube.prime());
        let wanted: Vec<u64> = cube.dimensions().iter().map(|dimension| dimension.generator).collect();
        let axes = Axes::new(m, p)?;
        let found = std::iter::once(axes.standard()).chain(axes.every()).find(|factors| factors.generators() == wanted);
        let what = "the evaluation maps do not know the slot order of this ring; make the ring with their generators"
            .to_owned();
        found.ok_or(BootstrapError::Unsupported { what }.into())
    }

    /// Every first factor that leaves a cyclic quotient, the fewest prime powers first, with the
    /// Every first factor that leaves a cyclic quotient, the fewest prime powers first, followed by
    /// the other factors in the order of m's primes. The standard factors if there is no such first
    /// factor.
    ///
    /// # Errors
    /// As [`Self::of_order`].
    pub fn candidates(m: u64, p: u64) -> Result<Vec<Vec<u64>>> {
        let axes = Axes::new(m, p)?;
        let of = |subset: &Vec<usize>| axes.cyclic(subset, &axes.others(subset));
        let mut list: Vec<Factors> = axes.firsts().iter().filter_map(of).collect();
        if list.is_empty() {
            list.push(axes.standard());
        }
        Ok(list.iter().map(Self::indices).collect())
    }

    /// The factors themselves, m_1 first.
    fn indices(&self) -> Vec<u64> {
        let first = self.list[..self.first].iter().map(|factor| factor.index).product();
        std::iter::once(first).chain(self.list[self.first..].iter().map(|factor| factor.index)).collect()
    }

    /// Those of the hypercube's dimensions, in their order.
    fn generators(&self) -> Vec<u64> {
        lifted(&self.list, self.m).into_iter().map(|line| line.0).collect()
    }

    /// The hypercube with the dimensions of all factors.
    pub fn hypercube(&self, p: u64) -> Result<Hypercube> {
        Ok(Hypercube::with_generators(self.m, p, &self.generators())?)
    }

    /// The numbers of the dimensions of these factors: the last factor comes first.
    pub fn dimensions(&self, factors: Range<usize>) -> Range<usize> {
        let count = |list: &[IndexFactor]| list.iter().map(|factor| factor.lines.len()).sum::<usize>();
        let before = count(&self.list[factors.end..]);
        before..before + count(&self.list[factors])
    }

    /// The first factor as one, with a matrix over all its dimensions.
    pub fn joint(&self) -> IndexFactor {
        let parts = &self.list[..self.first];
        if let [one] = parts {
            return one.clone();
        }
        let index = parts.iter().map(|part| part.index).product();
        let axes = parts.iter().flat_map(|part| part.axes.clone()).collect();
        let size = parts.iter().map(|part| part.size).product();
        IndexFactor { index, axes, size, lines: lifted(parts, index), is_doubled: false }
    }
}

/// The prime powers of m, and the order of p.
struct Axes {
    m: u64,
    p: u64,
    list: Vec<Axis>,
    degree: u64,
}

impl Axes {
    fn new(m: u64, p: u64) -> Result<Self> {
        let shape = Shape::new(m).map_err(RingError::from)?;
        PrimePower::new(p, 1)?;
        if m % p == 0 {
            return Err(RingError::PrimeDividesIndex { prime: p, m }.into());
        }
        Ok(Self { m, p, list: shape.axes().to_vec(), degree: arith::multiplicative_order(p % m, m) })
    }

    /// Chooses the first factor: the fewest axes on which p has its full order d and which leave a
    /// cyclic quotient; among these, the smallest index. If there are no such axes, the fewest axes
    /// on which p has its full order, one after another: each takes the powers of p that the
    /// earlier ones left.
    fn standard(&self) -> Factors {
        let firsts = self.firsts();
        firsts.iter().find_map(|subset| self.cyclic(subset, &self.others(subset))).unwrap_or_else(|| {
            let least = firsts.first().expect("p has its whole order on all axes together");
            self.successive(least, &self.others(least))
        })
    }

    /// Every order with a cyclic first factor, or, where it has several generators, one axis after
    /// the other.
    fn every(&self) -> impl Iterator<Item = Factors> {
        self.firsts().into_iter().flat_map(move |subset| {
            let orders = permutations(self.others(&subset));
            let of = move |others: Vec<usize>| {
                self.cyclic(&subset, &others).unwrap_or_else(|| self.successive(&subset, &others))
            };
            orders.into_iter().map(of)
        })
    }

    /// Sets of axes on which p has its whole order, the fewest first, of these the least product.
    fn firsts(&self) -> Vec<Vec<usize>> {
        let count = self.list.len();
        let mut subsets: Vec<Vec<usize>> =
            (1u32..1 << count).map(|mask| (0..count).filter(|&i| mask >> i & 1 == 1).collect()).collect();
        subsets.retain(|subset| self.has_whole_order(subset));
        subsets.sort_by_key(|subset| (subset.len(), self.product(subset)));
        subsets
    }

    fn product(&self, subset: &[usize]) -> u64 {
        subset.iter().map(|&i| self.list[i].index).product()
    }

    fn has_whole_order(&self, subset: &[usize]) -> bool {
        let index = self.product(subset);
        arith::multiplicative_order(self.p % index, index) == self.degree
    }

    /// The axes that are not in a set, ascending.
    fn others(&self, subset: &[usize]) -> Vec<usize> {
        (0..self.list.len()).filter(|i| !subset.contains(i)).collect()
    }

    /// The axes whose product is this factor, ascending.
    fn group(&self, factor: u64) -> Option<Vec<usize>> {
        let group: Vec<usize> = (0..self.list.len()).filter(|&i| factor % self.list[i].index == 0).collect();
        (!group.is_empty() && self.product(&group) == factor).then_some(group)
    }

    fn of(&self, subset: &[usize]) -> Vec<Axis> {
        subset.iter().map(|&i| self.list[i].clone()).collect()
    }

    /// A first factor with a cyclic quotient, and the others in this order.
    fn cyclic(&self, subset: &[usize], others: &[usize]) -> Option<Factors> {
        let first = IndexFactor::above(self.of(subset), self.p).filter(|first| first.lines.len() <= 1)?;
        Some(self.with(vec![first], others))
    }

    /// A first factor of several, one after the other.
    fn successive(&self, subset: &[usize], others: &[usize]) -> Factors {
        self.with(one_after_the_other(self.of(subset), self.p), others)
    }

    fn with(&self, mut list: Vec<IndexFactor>, others: &[usize]) -> Factors {
        let first = list.len();
        let unit = |&i: &usize| IndexFactor::above(vec![self.list[i].clone()], 1).expect("units modulo a prime power");
        list.extend(others.iter().map(unit));
        Factors { m: self.m, list, first }
    }
}

/// All orders of a list.
fn permutations(list: Vec<usize>) -> Vec<Vec<usize>> {
    if list.len() <= 1 {
        return vec![list];
    }
    let with_first = |i: usize| {
        let mut rest = list.clone();
        let first = rest.remove(i);
        permutations(rest).into_iter().map(move |tail| [vec![first], tail].concat())
    };
    (0..list.len()).flat_map(with_first).collect()
}

/// The lines of coprime factors of m, the last factor first: its generators ≡ 1 modulo all others,
/// and with their orders modulo p *and* the generators before.
fn lifted(factors: &[IndexFactor], m: u64) -> Vec<(u64, usize)> {
    let lift = |factor: &IndexFactor, generator: u64| {
        let rest = m / factor.index;
        let inverse = arith::inv_mod(rest % factor.index, factor.index).expect("the factors are coprime");
        (1 + (generator + factor.index - 1) % factor.index * (rest * inverse % m)) % m
    };
    let of = |factor: &IndexFactor| factor.lines.iter().map(|&(g, size)| (lift(factor, g), size)).collect::<Vec<_>>();
    factors.iter().rev().flat_map(of).collect()
}

/// Each axis modulo the powers of p that are 1 on the axes before, the longest axis first.
fn one_after_the_other(mut axes: Vec<Axis>, p: u64) -> Vec<IndexFactor> {
    axes.sort_by_key(|axis| Reverse(axis.dim));
    let mut order = 1;
    let next = |axis: Axis| {
        let q = arith::pow_mod(p % axis.index, order, axis.index);
        order *= arith::multiplicative_order(q, axis.index);
        IndexFactor::above(vec![axis], q).expect("units modulo a prime power")
    };
    axes.into_iter().map(next).collect()
}

/// A generator of Z_m^* modulo the powers of q, which has the given order; `None` if the quotient
/// is not cyclic. Prefers one whose order in Z_m^* is no larger (a good dimension).
fn generator_above(m: u64, q: u64, size: usize) -> Option<u64> {
    if size == 1 {
        return Some(1);
    }
    let mut powers_of_q = vec![false; m as usize];
    let mut power = 1 % m;
    while !powers_of_q[power as usize] {
        powers_of_q[power as usize] = true;
        power = power * (q % m) % m;
    }
    let primes = arith::factor(size as u64);
    let generates = |&g: &u64| {
        arith::gcd(g, m) == 1
            && primes.iter().all(|&(l, _)| !powers_of_q[arith::pow_mod(g, size as u64 / l, m) as usize])
    };
    let good = |g: &u64| arith::pow_mod(*g, size as u64, m) == 1;
    (2..m).filter(good).find(generates).or_else(|| (2..m).find(generates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_schemes::error::Error;

    fn given(m: u64, p: u64, list: &[u64]) -> Result<Factors> {
        Factors::of_order(m, p, &FactorOrder::Given(list.to_vec()))
    }

    /// Table 1 and 2 of 2015: 35113 = (73·13)·37 and 51319 = (19·73)·37 have two factors of that
    /// paper's sizes, where the fewest prime powers leave three.
    #[test]
    fn the_papers_factors_can_be_given() {
        let rows: [(u64, u64, &[u64], &[usize], usize); 3] = [
            (35113, 2, &[949, 37], &[24, 36], 3),
            (51319, 127, &[1387, 37], &[36, 36], 3),
            (45551, 17, &[451, 101], &[10, 100], 3),
        ];
        for (m, p, list, sizes, standard) in rows {
            let factors = given(m, p, list).unwrap();
            assert_eq!(factors.list.iter().map(|factor| factor.size).collect::<Vec<_>>(), sizes, "{m}");
            assert_eq!((factors.first, factors.indices()), (1, list.to_vec()));
            let cube = factors.hypercube(p).unwrap();
            assert_eq!(Factors::of_hypercube(&cube).unwrap().indices(), list);
            let own = Factors::of_order(m, p, &FactorOrder::Standard).unwrap();
            assert_eq!(own.list.len(), standard, "{m}");
            assert_eq!(Factors::of_hypercube(&own.hypercube(p).unwrap()).unwrap().indices(), own.indices());
            assert!(Factors::candidates(m, p).unwrap().contains(&list.to_vec()), "{m}");
        }
    }

    /// Every order of every small m gives slots that tell which it was: the same factors, or others
    /// of the same slots.
    #[test]
    fn a_hypercube_tells_its_factors() {
        for (m, p) in [(105, 2), (1155, 2), (119, 2), (45, 2), (651, 653), (1365, 2)] {
            let axes = Axes::new(m, p).unwrap();
            for factors in axes.every() {
                let cube = factors.hypercube(p).unwrap();
                let found = Factors::of_hypercube(&cube).unwrap();
                assert_eq!(found.generators(), factors.generators(), "{m}: {:?}", factors.indices());
                assert_eq!(found.list.iter().map(|one| one.size).product::<usize>(), cube.slots());
            }
        }
        // Slots in another order than that of any maps.
        let other = Hypercube::automatic(1023, 2).unwrap();
        let told = Factors::of_hypercube(&other).map(|factors| factors.generators());
        assert!(told.is_err() || told.unwrap() == other.dimensions().iter().map(|d| d.generator).collect::<Vec<_>>());
    }

    #[test]
    fn what_are_no_factors_is_refused() {
        let refused = |list: &[u64]| match given(35113, 2, list) {
            Err(Error::Bootstrap(BootstrapError::Factors { why, .. })) => why,
            other => panic!("{list:?}: {other:?}"),
        };
        assert!(refused(&[949]).contains("together"));
        assert!(refused(&[949, 37, 37]).contains("together"));
        assert!(refused(&[950, 37]).contains("product of prime powers"));
        assert!(refused(&[]).contains("together"));
        assert!(refused(&[37, 949]).contains("only the first"));
        assert!(refused(&[73, 13, 37]).contains("p must have the same order"));
    }
}

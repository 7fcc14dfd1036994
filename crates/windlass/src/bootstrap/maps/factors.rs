//! The factors of a composite m, and the hypercube with dimensions for each.

use std::cmp::Reverse;
use std::ops::Range;

use windlass_ring::RingError;
use windlass_ring::kernels::{Axis, Shape, arith};
use windlass_ring::slots::{Hypercube, PrimePower};

use crate::error::Result;

/// Doublings of a power of two in one stage: at most 16 diagonals, or 31 away from the end.
pub(super) const DOUBLINGS: usize = 4;

/// One factor m_s of m: a prime power, or for the first factor a product of some whose group modulo
/// p is cyclic.
#[derive(Debug, Clone)]
pub(super) struct Factor {
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

impl Factor {
    /// Z_{m_s}^* modulo the powers of q; `None` if the group needs several generators, but for a
    /// power of two.
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
    pub list: Vec<Factor>,
    /// How many of them make up the first factor.
    pub first: usize,
}

impl Factors {
    /// Chooses the first factor: the fewest axes on which p has its full order d and leaves a
    /// cyclic quotient, of these the least index. Where there are none, the fewest axes on which p
    /// has its full order, one after the other: each takes what the ones before it left of the
    /// powers of p.
    ///
    /// # Errors
    /// [`crate::Error::Ring`] for an m that is no index of a ring, or a p that is no prime or
    /// divides m.
    pub fn choose(m: u64, p: u64) -> Result<Self> {
        let shape = Shape::new(m).map_err(RingError::from)?;
        PrimePower::new(p, 1)?;
        if m % p == 0 {
            return Err(RingError::PrimeDividesIndex { prime: p, m }.into());
        }
        let degree = arith::multiplicative_order(p % m, m);
        let axes = shape.axes();
        let mut subsets: Vec<Vec<usize>> =
            (1u32..1 << axes.len()).map(|mask| (0..axes.len()).filter(|&i| mask >> i & 1 == 1).collect()).collect();
        let product = |subset: &[usize]| subset.iter().map(|&i| axes[i].index).product::<u64>();
        let has_order =
            |subset: &Vec<usize>| arith::multiplicative_order(p % product(subset), product(subset)) == degree;
        subsets.retain(has_order);
        subsets.sort_by_key(|subset| (subset.len(), product(subset)));
        let of = |subset: &[usize]| subset.iter().map(|&i| axes[i].clone()).collect::<Vec<Axis>>();
        let cyclic = |subset: &Vec<usize>| {
            let first = Factor::above(of(subset), p).filter(|first| first.lines.len() <= 1)?;
            Some((vec![first], subset.clone()))
        };
        let (mut list, subset) = subsets.iter().find_map(cyclic).unwrap_or_else(|| {
            let least = subsets.first().expect("p has its whole order on all axes together");
            (one_after_the_other(of(least), p), least.clone())
        });
        let first = list.len();
        let others = (0..axes.len()).filter(|i| !subset.contains(i));
        list.extend(others.map(|i| Factor::above(vec![axes[i].clone()], 1).expect("units modulo a prime power")));
        Ok(Self { m, list, first })
    }

    /// The hypercube with the dimensions of all factors.
    pub fn hypercube(&self, p: u64) -> Result<Hypercube> {
        let generators: Vec<u64> = lifted(&self.list, self.m).into_iter().map(|line| line.0).collect();
        Ok(Hypercube::with_generators(self.m, p, &generators)?)
    }

    /// The numbers of the dimensions of these factors: the last factor comes first.
    pub fn dimensions(&self, factors: Range<usize>) -> Range<usize> {
        let count = |list: &[Factor]| list.iter().map(|factor| factor.lines.len()).sum::<usize>();
        let before = count(&self.list[factors.end..]);
        before..before + count(&self.list[factors])
    }

    /// The first factor as one, with a matrix over all its dimensions.
    pub fn joint(&self) -> Factor {
        let parts = &self.list[..self.first];
        if let [one] = parts {
            return one.clone();
        }
        let index = parts.iter().map(|part| part.index).product();
        let axes = parts.iter().flat_map(|part| part.axes.clone()).collect();
        let size = parts.iter().map(|part| part.size).product();
        Factor { index, axes, size, lines: lifted(parts, index), is_doubled: false }
    }
}

/// The lines of coprime factors of m, the last factor first: its generators ≡ 1 modulo all others,
/// and with their orders modulo p *and* the generators before.
fn lifted(factors: &[Factor], m: u64) -> Vec<(u64, usize)> {
    let lift = |factor: &Factor, generator: u64| {
        let rest = m / factor.index;
        let inverse = arith::inv_mod(rest % factor.index, factor.index).expect("the factors are coprime");
        (1 + (generator + factor.index - 1) % factor.index * (rest * inverse % m)) % m
    };
    let of = |factor: &Factor| factor.lines.iter().map(|&(g, size)| (lift(factor, g), size)).collect::<Vec<_>>();
    factors.iter().rev().flat_map(of).collect()
}

/// Each axis modulo the powers of p that are 1 on the axes before, the longest axis first.
fn one_after_the_other(mut axes: Vec<Axis>, p: u64) -> Vec<Factor> {
    axes.sort_by_key(|axis| Reverse(axis.dim));
    let mut order = 1;
    let next = |axis: Axis| {
        let q = arith::pow_mod(p % axis.index, order, axis.index);
        order *= arith::multiplicative_order(q, axis.index);
        Factor::above(vec![axis], q).expect("units modulo a prime power")
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

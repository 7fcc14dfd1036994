//! How a cyclic convolution of fixed length with a fixed kernel is cut into small transforms.
//!
//! A cyclic convolution of length N is diagonal after a transform over Z_N. Coprime factors of N
//! separate without twiddles (Good–Thomas), powers of one prime are cut with twiddles
//! (Cooley–Tukey), and a prime without a codelet is itself done by a convolution of length p − 1
//! (Rader). As only the convolution counts, the order of positions is ours to choose at each level,
//! and every step works in place.

use super::codelets;
use crate::arith;

/// Cost of an addition; the unit is half a floating-point operation.
const SUM: u64 = 2;
/// Cost of a multiplication: six operations and a load.
const PRODUCT: u64 = 13;
/// Cost per point of passing once through memory with the reductions that go with it.
const PASS: u64 = 6;

/// One factor of a transform, over `len` positions `stride` apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TransformFactor {
    /// Number of points.
    pub len: usize,
    /// Product of the lengths of the factors after it.
    pub stride: usize,
    /// Product of the lengths after it that belong to the same prime: with more than one, twiddles
    /// follow.
    pub rest: usize,
    /// `stride / rest`.
    pub inner: usize,
    /// Order of the group of this factor and of those before it with the same prime.
    pub group: usize,
    /// Index (residue) at each position, before the transform.
    pub input: Vec<usize>,
    /// Frequency at each position, after the transform.
    pub output: Vec<usize>,
    /// The convolution of length `len − 1` behind a prime without a codelet.
    pub rader: Option<Box<Design>>,
}

/// A plan for convolutions of length `len`, carried out over Z_`size`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Design {
    /// Length N of the convolution.
    pub len: usize,
    /// Length of the transform: N, or at least 2N − 1 with zero padding.
    pub size: usize,
    /// The factors, outermost first; the last one has a codelet.
    pub factors: Vec<TransformFactor>,
    /// Position of index j, for j < `size`.
    pub positions: Vec<usize>,
    /// Order of the roots of unity that are needed.
    pub order: u64,
    /// Counted cost of the whole convolution.
    pub cost: u64,
    /// Multiplications and additions of the whole convolution, without reductions.
    pub operations: (usize, usize),
}

/// The least common multiple of two orders; `u64::MAX`, which no prime has roots of, where it does
/// not fit a word.
pub(in crate::ntt) fn joint_order(a: u64, b: u64) -> u64 {
    if a == u64::MAX || b == u64::MAX {
        return u64::MAX;
    }
    (a / arith::gcd(a, b)).saturating_mul(b)
}

/// Lengths of the steps for p^e.
fn radices(p: usize, e: u32) -> Vec<usize> {
    let most = match p {
        2 => 4,
        _ => 1,
    };
    let steps = e.div_ceil(most);
    (0..steps).map(|i| p.pow(e / steps + u32::from(i < e % steps))).collect()
}

fn has_codelet(len: usize) -> bool {
    codelets::LENGTHS.contains(&len)
}

/// Residues modulo 2·p at the positions (j mod 2, j mod p), and the frequencies that the codelet
/// puts there.
fn pair_order(p: usize) -> (Vec<usize>, Vec<usize>) {
    let find = |a: usize, b: usize| (0..2 * p).find(|j| j % 2 == a && j % p == b % p).expect("2 and p are coprime");
    let input = (0..2 * p).map(|i| find(i / p, i % p)).collect();
    let output = (0..2 * p).map(|i| find(i / p, 2 * (i % p))).collect();
    (input, output)
}

impl TransformFactor {
    fn new(len: usize) -> Self {
        let natural: Vec<usize> = (0..len).collect();
        let (input, output, rader) = match len {
            6 | 10 => {
                let (input, output) = pair_order(len / 2);
                (input, output, None)
            }
            _ if has_codelet(len) => (natural.clone(), natural, None),
            _ => {
                let design = Design::exact(len - 1);
                let generator = arith::least_generator(len as u64);
                let power = |e: usize| arith::pow_mod(generator, e as u64, len as u64) as usize;
                let (mut input, mut output) = (vec![0; len], vec![0; len]);
                for (a, &position) in design.positions.iter().enumerate() {
                    input[1 + position] = power(len - 1 - a);
                    output[1 + position] = power(a);
                }
                (input, output, Some(Box::new(design)))
            }
        };
        Self { len, stride: 1, rest: 1, inner: 1, group: len, input, output, rader }
    }

    /// Multiplications and additions of one transform of this factor.
    fn operations(&self) -> (usize, usize) {
        match &self.rader {
            None => codelets::operations(self.len),
            Some(design) => (design.operations.0, design.operations.1 + 2),
        }
    }

    fn cost(&self) -> u64 {
        match &self.rader {
            None => {
                let (products, sums) = codelets::operations(self.len);
                products as u64 * PRODUCT + sums as u64 * SUM + self.len as u64 * PASS
            }
            Some(design) => design.cost + 2 * SUM,
        }
    }

    pub fn order(&self) -> u64 {
        self.rader.as_ref().map_or(1, |design| design.order)
    }
}

/// Cuts Z_size into factors: primes without a codelet first, the powers of two last.
pub(super) fn factors(size: usize) -> Vec<TransformFactor> {
    let mut groups: Vec<Vec<usize>> =
        arith::factor(size as u64).into_iter().map(|(p, e)| radices(p as usize, e)).collect();
    groups.sort_by_key(|group| (has_codelet(group[0]), group[0] % 2 == 0, usize::MAX - group[0]));
    if groups.last().is_some_and(|last| last == &[2]) {
        for p in [5, 3] {
            if let Some(at) = groups.iter().position(|group| group == &[p]) {
                groups.remove(at);
                *groups.last_mut().expect("the group of 2 is there") = vec![2 * p];
                break;
            }
        }
    }
    let mut factors = Vec::new();
    let mut stride = size;
    for group in groups {
        let mut rest: usize = group.iter().product();
        let inner = stride / rest;
        for len in group {
            (stride, rest) = (stride / len, rest / len);
            factors.push(TransformFactor { stride, rest, inner, group: rest * len, ..TransformFactor::new(len) });
        }
    }
    factors
}

/// The index (residue modulo the product of the lengths) at each position, by Chinese remaindering
/// of the groups.
fn indices(factors: &[TransformFactor], size: usize) -> Vec<usize> {
    let mut result = vec![0; size];
    let mut at = 0;
    while at < factors.len() {
        let end = at + factors[at..].iter().position(|f| f.rest == 1).expect("each group ends") + 1;
        let order = factors[at].group;
        let weight =
            size / order * arith::inv_mod((size / order) as u64 % order as u64, order as u64).unwrap_or(1) as usize;
        for (position, index) in result.iter_mut().enumerate() {
            let digit = |f: &TransformFactor| f.input[position / f.stride % f.len] * f.rest;
            let residue: usize = factors[at..end].iter().map(digit).sum();
            *index = (*index + residue * weight) % size;
        }
        at = end;
    }
    result
}

impl Design {
    fn over(len: usize, size: usize) -> Self {
        let factors = factors(size);
        let mut positions = vec![0; size];
        for (position, index) in indices(&factors, size).into_iter().enumerate() {
            positions[index] = position;
        }
        let order = factors.iter().fold(size as u64, |order, factor| joint_order(order, factor.order()));
        let (mut cost, mut products, mut sums) = (PRODUCT * size as u64, size, 0);
        for factor in &factors {
            let times = 2 * (size / factor.len);
            let twiddles = 2 * size / factor.group * (factor.len - 1) * (factor.rest - 1);
            let (p, s) = factor.operations();
            products += times * p + twiddles;
            sums += times * s;
            cost += times as u64 * factor.cost() + twiddles as u64 * PRODUCT;
        }
        Self { len, size, factors, positions, order, cost, operations: (products, sums) }
    }

    /// Without padding, at any cost.
    pub fn exact(len: usize) -> Self {
        Self::over(len, len)
    }

    /// The cheapest plan for length `len` (even).
    pub fn cheapest(len: usize) -> Self {
        let exact = Self::exact(len);
        let mut padded: Vec<(u64, usize)> = (2 * len - 1..=(5 * len / 2).max(16))
            .filter(|&size| size % 2 == 0 && arith::factor(size as u64).iter().all(|&(p, _)| p <= 5))
            .map(|size| (rough_cost(size), size))
            .collect();
        padded.push((u64::MAX, (2 * len - 1).next_power_of_two()));
        padded.sort_unstable();
        if rough_cost(padded[0].1) >= exact.cost && exact.order < 1 << 34 {
            return exact;
        }
        let padded = Self::over(len, padded[0].1);
        if exact.cost <= padded.cost && exact.order < 1 << 34 { exact } else { padded }
    }

    /// With padding to a power of two: the smallest order of roots for rings whose other plans
    /// would need too large ones.
    pub fn thrifty(len: usize) -> Self {
        Self::over(len, if len.is_power_of_two() { len } else { (2 * len - 1).next_power_of_two() })
    }
}

/// A lower estimate of the cost of a transform over Z_size with codelets only.
fn rough_cost(size: usize) -> u64 {
    let steps: Vec<usize> = arith::factor(size as u64).into_iter().flat_map(|(p, e)| radices(p as usize, e)).collect();
    let all_steps: u64 = steps.iter().map(|&len| size as u64 * TransformFactor::new(len).cost() / len as u64).sum();
    size as u64 * PRODUCT + 2 * all_steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rader convolutions behind Rader convolutions may need roots of an order above 2^64: such
    /// designs are not taken.
    #[test]
    fn orders_beyond_a_word_are_left_aside() {
        for prime in [34549, 65267, 103613] {
            assert_eq!(Design::exact(prime - 1).order, u64::MAX, "{prime}");
            assert!(Design::cheapest(prime - 1).order < 1 << 34, "{prime}");
        }
        assert_eq!([joint_order(12, 18), joint_order(1 << 40, 3 << 30)], [36, 3 << 40]);
        assert_eq!([joint_order(u64::MAX, 1), joint_order(1 << 40, (1 << 40) + 1)], [u64::MAX; 2]);
    }

    #[test]
    fn positions_are_permutations_and_strides_fit() {
        for len in [2, 4, 6, 10, 12, 16, 22, 30, 36, 42, 100, 112, 126, 150, 240, 256, 330, 600, 682, 46, 58, 130] {
            let design = Design::cheapest(len);
            let mut seen = vec![false; design.size];
            design.positions.iter().for_each(|&p| seen[p] = true);
            assert!(seen.iter().all(|&s| s), "len = {len}");
            assert_eq!(design.factors.iter().map(|f| f.len).product::<usize>(), design.size);
            assert!(has_codelet(design.factors.last().unwrap().len));
            assert!(design.size == len || design.size >= 2 * len - 1);
        }
    }
}

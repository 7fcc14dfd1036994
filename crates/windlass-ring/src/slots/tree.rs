//! Remainders modulo all factors of Φ_m at once, and the transposed combination.

use rayon::prelude::*;

use super::convolution::{Convolver, log_of};
use super::division::Divisor;

/// The product tree of the factors F_1, .., F_ℓ: layer 0 the factors, each next layer products of
/// pairs, down to two nodes. Their product Φ_m is never divided by.
#[derive(Debug)]
pub(crate) struct FactorTree {
    layers: Vec<Vec<Divisor>>,
}

impl FactorTree {
    pub fn new(convolver: &Convolver, factors: Vec<Divisor>) -> Self {
        let mut layers = vec![factors];
        while layers[layers.len() - 1].len() > 2 {
            let pair = |pair: &[Divisor]| match pair {
                [left, right] => Divisor::new(convolver, convolver.mul(left.coefficients(), right.coefficients())),
                _ => pair[0].clone(),
            };
            let next = layers[layers.len() - 1].par_chunks(2).map(pair).collect();
            layers.push(next);
        }
        Self { layers }
    }

    pub fn factors(&self) -> &[Divisor] {
        &self.layers[0]
    }

    /// a mod F_i for all i.
    pub fn remainders(&self, convolver: &Convolver, a: &[u64]) -> Vec<Vec<u64>> {
        let (top, below) = self.layers.split_last().expect("the factors");
        let mut rests: Vec<_> = top.par_iter().map(|divisor| divisor.rem(convolver, a)).collect();
        for layer in below.iter().rev() {
            let rest = |(index, divisor): (usize, &Divisor)| divisor.rem(convolver, &rests[index / 2]);
            rests = layer.par_iter().enumerate().map(rest).collect();
        }
        rests
    }

    /// Σ_i w_i·Π_{j≠i} F_j.
    pub fn combine(&self, convolver: &Convolver, w: Vec<Vec<u64>>) -> Vec<u64> {
        let mut sums = w;
        for layer in &self.layers {
            let pair = |(sums, divisors): (&[Vec<u64>], &[Divisor])| match (sums, divisors) {
                ([x, y], [f, g]) => crosswise(convolver, x, y, f, g),
                _ => sums[0].clone(),
            };
            sums = sums.par_chunks(2).zip(layer.par_chunks(2)).map(pair).collect();
        }
        sums.swap_remove(0)
    }
}

/// x·g + y·f.
fn crosswise(convolver: &Convolver, x: &[u64], y: &[u64], f: &Divisor, g: &Divisor) -> Vec<u64> {
    let degree = f.degree() + g.degree();
    let log = log_of(degree);
    if let (Some(f), Some(g)) = (f.prepared(log), g.prepared(log)) {
        return convolver.mul_prepared(&[(x, g), (y, f)], degree);
    }
    let mut sum = convolver.mul(x, g.coefficients());
    let other = convolver.mul(y, f.coefficients());
    sum.iter_mut().zip(other).for_each(|(a, b)| *a = convolver.modulus().add(*a, b));
    sum
}

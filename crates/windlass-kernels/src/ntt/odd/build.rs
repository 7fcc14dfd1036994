//! Tables of a [`Design`] modulo one prime.

use super::codelets;
use super::design::{Design, Factor};
use crate::arith;
use crate::error::KernelError;
use crate::modulus::Modulus;

/// One step of a transform, with its constants for both directions.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    /// Number of points.
    pub len: usize,
    /// Distance of the points.
    pub stride: usize,
    /// Number of blocks of `len * stride` positions.
    pub blocks: usize,
    /// Neighbouring columns that share their twiddles.
    pub inner: usize,
    /// Constants of the codelet: forward, inverse.
    pub tables: [Vec<u64>; 2],
    /// Twiddles of column group t ≥ 1, position k ≥ 1, at `(t − 1)(len − 1) + k − 1`: forward, inverse; empty without.
    pub twiddles: [Vec<u64>; 2],
    /// The convolutions behind a prime without a codelet: forward, inverse.
    pub rader: Option<Box<[Convolution; 2]>>,
}

/// A convolution with a fixed kernel: stages, then the last factor fused with the products, then the stages back.
#[derive(Debug, Clone)]
pub(super) struct Convolution {
    /// All factors but the last.
    pub stages: Vec<Stage>,
    /// The last factor.
    pub leaf: Stage,
    /// Transform of the kernel, divided by the size.
    pub kernel: Vec<u64>,
}

/// Prepares constants for a backend.
pub(crate) struct Builder<'a> {
    /// The prime.
    pub q: Modulus,
    /// Words per constant and how to make them.
    pub prepare: &'a dyn Fn(u64) -> Vec<u64>,
}

impl Builder<'_> {
    /// Prepared constants, one after the other.
    pub fn table(&self, constants: impl IntoIterator<Item = u64>) -> Vec<u64> {
        constants.into_iter().flat_map(|c| (self.prepare)(c)).collect()
    }

    /// The stage of one factor of a transform over `size` positions; also its root (of order `factor.group`).
    fn stage(&self, factor: &Factor, size: usize) -> Result<(Stage, u64), KernelError> {
        let q = self.q;
        let root = q.root_of_unity(factor.group as u64)?;
        self.stage_with_root(factor, size, root).map(|stage| (stage, root))
    }

    /// The stage of one factor with a given root of order `factor.group`.
    pub(super) fn stage_with_root(&self, factor: &Factor, size: usize, root: u64) -> Result<Stage, KernelError> {
        let q = self.q;
        let directions = [root, q.inv(root)];
        let rest_inputs = rest_inputs(factor);
        let twiddles = directions.map(|w| {
            let powers: Vec<u64> = std::iter::successors(Some(1), |&p| Some(q.mul(p, w))).take(factor.group).collect();
            let exponents = rest_inputs.iter().skip(1).flat_map(|&j| factor.output[1..].iter().map(move |&k| j * k));
            self.table(exponents.map(|e| powers[e % factor.group]))
        });
        let short = directions.map(|w| q.pow(w, factor.rest as u64));
        let (tables, rader) = match &factor.rader {
            None => (short.map(|w| self.table(codelets::constants(q, factor.len, w))), None),
            Some(design) => {
                let [forward, inverse] = kernels(q, factor.len, short[0]);
                let pair = [self.convolution(design, &forward)?, self.convolution(design, &inverse)?];
                ([vec![], vec![]], Some(Box::new(pair)))
            }
        };
        let blocks = size / (factor.len * factor.stride);
        Ok(Stage { len: factor.len, stride: factor.stride, blocks, inner: factor.inner, tables, twiddles, rader })
    }

    /// Tables for `y_u = Σ_a x_a kernel[(u − a) mod N]`.
    pub(super) fn convolution(&self, design: &Design, kernel: &[u64]) -> Result<Convolution, KernelError> {
        let (q, len, size) = (self.q, design.len, design.size);
        let mut spectrum = vec![0; size];
        for c in 0..len {
            spectrum[design.positions[c]] = kernel[c];
            if size > len && c > 0 {
                spectrum[design.positions[size - c]] = kernel[len - c];
            }
        }
        let mut stages: Vec<(Stage, &Factor)> = Vec::with_capacity(design.factors.len());
        let mut root = 1;
        for factor in &design.factors {
            // Factors of one prime use powers of one root.
            let (stage, used) = match stages.last() {
                Some((_, previous)) if is_continued(previous, factor) => {
                    root = q.pow(root, previous.len as u64);
                    (self.stage_with_root(factor, size, root)?, root)
                }
                _ => self.stage(factor, size)?,
            };
            root = used;
            transform(q, factor, root, &mut spectrum);
            stages.push((stage, factor));
        }
        let scale = q.inv(q.reduce(size as u64));
        let kernel = self.table(spectrum.into_iter().map(|x| q.mul(x, scale)));
        let leaf = stages.pop().expect("a design has factors").0;
        Ok(Convolution { stages: stages.into_iter().map(|(stage, _)| stage).collect(), leaf, kernel })
    }
}

fn is_continued(previous: &Factor, factor: &Factor) -> bool {
    previous.rest > 1 && previous.rest == factor.group
}

/// The index within the rest of the group at each of its positions.
fn rest_inputs(factor: &Factor) -> Vec<usize> {
    match &factor.rader {
        // Codelets that are cut further keep natural order; primes without one are mixed radix in their own order.
        None => (0..factor.rest).collect(),
        Some(_) => {
            let mut inputs = vec![0];
            let mut rest = factor.rest;
            let mut tail = 1;
            while rest > 1 {
                let lower = inputs;
                inputs = factor.input.iter().flat_map(|&n| lower.iter().map(move |&j| n * tail + j)).collect();
                tail *= factor.len;
                rest /= factor.len;
            }
            inputs
        }
    }
}

/// Rader's kernels for a prime p and root w: `X_{g^b} − x_0 = Σ_a x_{g^−a} w^{g^{b−a}}` and its inverse.
fn kernels(q: Modulus, p: usize, w: u64) -> [Vec<u64>; 2] {
    let generator = arith::least_generator(p as u64);
    let powers: Vec<u64> =
        std::iter::successors(Some(1), |&e| Some(arith::mul_mod(e, generator, p as u64))).take(p - 1).collect();
    let forward = powers.iter().map(|&e| q.pow(w, e)).collect();
    let inverse = (0..p - 1).map(|c| q.pow(w, p as u64 - powers[(p - 1 - c) % (p - 1)])).collect();
    [forward, inverse]
}

/// The transform of one factor, by the definition, on plain residues.
fn transform(q: Modulus, factor: &Factor, root: u64, x: &mut [u64]) {
    let powers: Vec<u64> = std::iter::successors(Some(1), |&p| Some(q.mul(p, root))).take(factor.group).collect();
    let rest_inputs = rest_inputs(factor);
    let (len, stride) = (factor.len, factor.stride);
    let mut y = vec![0; len];
    for start in (0..x.len()).filter(|position| position / stride % len == 0) {
        let j = rest_inputs[start % stride / factor.inner];
        for (y, &k) in y.iter_mut().zip(&factor.output) {
            let sum = factor.input.iter().enumerate().fold(0u128, |sum, (i, &n)| {
                sum + x[start + i * stride] as u128 * powers[(n * factor.rest + j) * k % factor.group] as u128
            });
            *y = q.reduce_u128(sum);
        }
        y.iter().enumerate().for_each(|(i, &y)| x[start + i * stride] = y);
    }
}

//! Random ring elements. What is secret is sampled without branches or memory accesses that depend
//! on it.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use subtle::{Choice, ConditionallySelectable};
use windlass_kernels::{Modulus, Shape};
use zeroize::Zeroizing;

use crate::basis::Basis;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// The stream that the uniform residues modulo prime `index` come from: seed, then stream number.
fn uniform_stream(seed: &[u8; 32], stream: u32, index: usize) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::from_seed(*seed);
    rng.set_stream((stream as u64) << 32 | index as u64);
    rng
}

/// A uniform polynomial over `basis`, determined by `seed` and `stream`: each row depends on its
/// own prime index only, so that a part of the basis can be expanded alone. Public randomness:
/// rejection sampling, variable time.
pub fn uniform(ring: &Arc<Ring>, basis: &Basis, seed: &[u8; 32], stream: u32) -> Poly<Eval> {
    let mut out = Poly::<Eval>::unspecified(ring, basis);
    out.fill(|index, q, row| uniform_row(index, q, seed, stream, row));
    out
}

/// The row of prime `index` of [`uniform`].
pub fn uniform_row(index: usize, q: Modulus, seed: &[u8; 32], stream: u32, row: &mut [u64]) {
    const BATCH: usize = 512;
    let mut rng = uniform_stream(seed, stream, index);
    let mask = (1u64 << q.bits()) - 1;
    let mut bytes = [0u8; 8 * BATCH];
    let mut filled = 0;
    while filled < row.len() {
        rng.fill_bytes(&mut bytes);
        for chunk in bytes.chunks_exact(8) {
            let candidate = u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes")) & mask;
            if candidate < q.value() && filled < row.len() {
                row[filled] = candidate;
                filled += 1;
            }
        }
    }
}

/// n coefficients, each uniform in {−1, 0, 1} up to 2^{−62}. Constant time.
pub fn ternary(n: usize, rng: &mut impl RngCore) -> Zeroizing<Vec<i64>> {
    Zeroizing::new((0..n).map(|_| coefficient(rng.next_u64())).collect())
}

fn coefficient(random: u64) -> i64 {
    ((u128::from(random) * 3) >> 64) as i64 - 1
}

/// n coefficients, exactly `weight` of them ±1 at uniform positions, the rest 0. Constant time: the
/// signs are placed first and then permuted by sorting random tags in a bitonic network, whose
/// exchanges go through [`subtle`]: written with plain masks they were compiled to branches. Cost
/// O(n·log²n).
pub fn sparse(n: usize, weight: usize, rng: &mut impl RngCore) -> Zeroizing<Vec<i64>> {
    assert!(weight <= n);
    let size = n.next_power_of_two();
    // 61 random bits, then two bits of value + 1; padding sorts last. All are below 2^63.
    let mut tagged = Zeroizing::new(vec![u64::MAX >> 1; size]);
    for (j, slot) in tagged[..n].iter_mut().enumerate() {
        let random = rng.next_u64();
        let sign = (random & 1) * 2; // 0 or 2: the value −1 or 1, plus 1
        let value = if j < weight { sign } else { 1 };
        *slot = (random & !3 & (u64::MAX >> 1)) | value;
    }
    bitonic_sort(&mut tagged);
    Zeroizing::new(tagged[..n].iter().map(|&slot| (slot & 3) as i64 - 1).collect())
}

/// Sorts values below 2^63. Time and memory accesses depend on their number alone.
fn bitonic_sort(x: &mut [u64]) {
    let size = x.len();
    let mut width = 2;
    while width <= size {
        let mut stride = width / 2;
        while stride > 0 {
            for i in 0..size {
                let partner = i ^ stride;
                if partner > i {
                    // The direction depends on the position alone.
                    let (low, high) = if i & width == 0 { (i, partner) } else { (partner, i) };
                    (x[low], x[high]) = in_order(x[low], x[high]);
                }
            }
            stride /= 2;
        }
        width *= 2;
    }
}

/// Two values below 2^63 by size. A function of its own, whose machine code a test looks at.
#[inline(never)]
fn in_order(mut a: u64, mut b: u64) -> (u64, u64) {
    let out_of_order = Choice::from((b.wrapping_sub(a) >> 63) as u8);
    u64::conditional_swap(&mut a, &mut b, out_of_order);
    (a, b)
}

/// The discrete Gaussian of standard deviation parameter σ on the integers: P(x) ∝ exp(−x²/2σ²),
/// cut where the tail is below 2^{−64}.
#[derive(Debug, Clone)]
pub struct Gaussian {
    sigma: f64,
    /// `thresholds[k]` = ⌊2^64·P(|x| > k)⌋.
    thresholds: Vec<u64>,
}

impl Gaussian {
    /// Tables for standard deviation `sigma` (0 < σ ≤ 64).
    pub fn new(sigma: f64) -> Self {
        assert!(sigma > 0.0 && sigma <= 64.0, "standard deviation out of range");
        let weight = |x: i32| (-(x as f64).powi(2) / (2.0 * sigma * sigma)).exp();
        let last = (sigma * 14.0).ceil() as i32;
        // Summed from the tail, so that small probabilities keep their relative precision.
        let mut tails = vec![0.0; last as usize + 1];
        for x in (1..=last).rev() {
            tails[x as usize - 1] = tails.get(x as usize).copied().unwrap_or(0.0) + 2.0 * weight(x);
        }
        let total = tails[0] + 1.0;
        let thresholds = tails.iter().map(|tail| (tail / total * 2f64.powi(64)) as u64);
        Self { sigma, thresholds: thresholds.take_while(|&threshold| threshold > 0).collect() }
    }

    /// σ.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// One sample. Constant time: the whole table is compared.
    pub fn sample(&self, rng: &mut impl RngCore) -> i64 {
        let random = rng.next_u64();
        let magnitude: i64 = self.thresholds.iter().map(|&threshold| lower(random, threshold)).sum();
        let sign = (rng.next_u32() & 1) as i64;
        (magnitude ^ -sign) + sign
    }
}

/// 1 when `x < y`, without a branch.
fn lower(x: u64, y: u64) -> i64 {
    (((x as u128).wrapping_sub(y as u128)) >> 127) as i64
}

/// An error polynomial: independent Gaussians on the monomials of ⊗ Z\[X_i\]/(X_i^{m_i} − 1) for
/// odd axes and on the powerful basis for the axis of 2, reduced to the powerful basis (n
/// coefficients). Its canonical embedding has variance σ²·Π m_i (m_i/2 for the axis of 2) in every
/// component, up to the reduction, which does not change embeddings. Source: Ducas–Durmus 2012;
/// Lyubashevsky–Peikert–Regev 2013; `docs/math/errors.md` has the argument. Constant time.
pub fn error(shape: &Shape, gaussian: &Gaussian, rng: &mut impl RngCore) -> Zeroizing<Vec<i64>> {
    let full = |axis: &windlass_kernels::Axis| if axis.prime == 2 { axis.dim } else { axis.index as usize };
    let mut dims: Vec<usize> = shape.axes().iter().map(full).collect();
    let size: usize = dims.iter().product();
    let mut tensor = Zeroizing::new((0..size).map(|_| gaussian.sample(rng)).collect::<Vec<i64>>());
    for (position, axis) in shape.axes().iter().enumerate() {
        if axis.prime == 2 {
            continue;
        }
        let inner: usize = dims[position + 1..].iter().product();
        let outer: usize = dims[..position].iter().product();
        let (length, block) = (axis.index as usize, (axis.index / axis.prime) as usize);
        let mut reduced = Zeroizing::new(Vec::with_capacity(outer * axis.dim * inner));
        for o in 0..outer {
            for j in 0..axis.dim {
                // Y^{ℓ−1} = −(1 + .. + Y^{ℓ−2}), Y = X^{block}.
                let (low, top) = (o * length + j, o * length + axis.dim + j % block);
                for i in 0..inner {
                    reduced.push(tensor[low * inner + i] - tensor[top * inner + i]);
                }
            }
        }
        tensor = reduced;
        dims[position] = axis.dim;
    }
    tensor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::from_seed([7; 32])
    }

    #[test]
    fn gaussian_has_the_right_moments() {
        let gaussian = Gaussian::new(3.2);
        let mut rng = rng();
        let samples: Vec<f64> = (0..200_000).map(|_| gaussian.sample(&mut rng) as f64).collect();
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let variance = samples.iter().map(|x| x * x).sum::<f64>() / samples.len() as f64;
        assert!(mean.abs() < 0.03, "mean {mean}");
        assert!((variance / 10.24 - 1.0).abs() < 0.02, "variance {variance}");
        assert!((28..=32).contains(&gaussian.thresholds.len()));
        let zeros = samples.iter().filter(|&&x| x == 0.0).count() as f64 / samples.len() as f64;
        assert!((zeros - 0.12467).abs() < 0.004, "P(0) = {zeros}");
    }

    /// What docs/math/errors.md takes for ideals of small norm: the mean of exp(2πi·u·z) is at most
    /// 2^{−200·u²}.
    #[test]
    fn gaussian_is_spread_over_residues() {
        let thresholds = Gaussian::new(3.2).thresholds;
        // P(|x| = k), from the tail, which is exact.
        let next = |k: usize| thresholds.get(k).copied().unwrap_or(0);
        let of = |k: usize| if k == 0 { next(0).wrapping_neg() } else { next(k - 1) - next(k) };
        let mass: Vec<f64> = (0..=thresholds.len()).map(|k| of(k) as f64 / 2f64.powi(64)).collect();
        for step in 1..=1000 {
            let u = step as f64 / 2000.0;
            let mean: f64 =
                mass.iter().enumerate().map(|(k, p)| p * (std::f64::consts::TAU * u * k as f64).cos()).sum();
            assert!(mean.abs() <= 2f64.powf(-200.0 * u * u), "u = {u}: {mean}");
        }
    }

    #[test]
    fn ternary_is_balanced() {
        let sample = ternary(90_000, &mut rng());
        for value in [-1, 0, 1] {
            let count = sample.iter().filter(|&&x| x == value).count();
            assert!(count.abs_diff(30_000) < 700, "{value}: {count}");
        }
    }

    #[test]
    fn sparse_has_exact_weight_everywhere() {
        let (n, weight) = (1000, 60);
        let mut rng = rng();
        let mut hits = vec![0u32; n];
        for _ in 0..500 {
            let sample = sparse(n, weight, &mut rng);
            assert_eq!(sample.iter().filter(|&&x| x != 0).count(), weight);
            assert!(sample.iter().all(|x| x.abs() <= 1));
            for (hit, &x) in hits.iter_mut().zip(sample.iter()) {
                *hit += (x != 0) as u32;
            }
        }
        // Each position is hit 30 times on average, standard deviation 5.3.
        assert!(hits.iter().all(|&hit| hit > 5 && hit < 60));
        let (first, second) = hits.split_at(n / 2);
        assert!(first.iter().sum::<u32>().abs_diff(second.iter().sum()) < 900);
    }

    /// What the compiler makes of the functions that touch secrets.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    mod machine_code {
        use super::*;

        /// Alone, so that a test finds their machine code.
        #[inline(never)]
        fn lower_alone(x: u64, y: u64) -> i64 {
            lower(x, y)
        }

        #[inline(never)]
        fn coefficient_alone(random: u64) -> i64 {
            coefficient(random)
        }

        #[inline(never)]
        fn greater_alone(most: u64, next: f64) -> u64 {
            crate::norm::greater(most, next)
        }

        #[inline(never)]
        fn with_a_branch(random: u64) -> u64 {
            if random & 1 == 0 { random } else { rng().next_u64() }
        }

        /// As compiled for this program, no instruction of these jumps; one of the last does.
        #[test]
        fn machine_code_has_no_branches() {
            // Release programs are stripped: their functions have no names.
            if !cfg!(debug_assertions) {
                return;
            }
            // With known arguments the compiler would compute the results and drop the functions.
            let kept = (in_order as fn(_, _) -> _, lower_alone as fn(_, _) -> _, coefficient_alone as fn(_) -> _);
            std::hint::black_box(kept);
            std::hint::black_box((greater_alone as fn(_, _) -> _, with_a_branch as fn(_) -> _));
            let program = std::env::current_exe().unwrap();
            let arguments = ["--disassemble", "--no-show-raw-insn", "--section=.text"];
            let listing = std::process::Command::new("objdump").args(arguments).arg(program).output();
            let listing =
                String::from_utf8(listing.expect("objdump, which comes with gcc, lists programs").stdout).unwrap();

            // A function is a line `address <name>:` and those until the next empty one, which have the
            // instruction after a tab.
            let jumps_of = |name: &str| {
                let is_head = |line: &&str| line.ends_with(">:") && line.contains(name);
                let code =
                    listing.lines().skip_while(|line| !is_head(line)).skip(1).take_while(|line| !line.is_empty());
                let code: Vec<&str> = code.filter_map(|line| line.split('\t').nth(1)).collect();
                assert!(code.iter().any(|words| words.starts_with("ret")), "{name}: {code:?}");
                // What subtle takes for a barrier is a call.
                let calls = |words: &str| words.starts_with("call") && !words.contains("subtle");
                code.iter().filter(|words| words.starts_with('j') || calls(words)).count()
            };
            for name in [
                "sample8in_order",
                "12machine_code11lower_alone",
                "12machine_code17coefficient_alone",
                "12machine_code13greater_alone",
            ] {
                assert_eq!(jumps_of(name), 0, "{name}");
            }
            assert!(jumps_of("12machine_code13with_a_branch") > 0);
        }
    }

    #[test]
    fn error_embeddings_have_the_stated_variance() {
        for (m, factor) in [(32u64, 16.0), (15, 15.0), (45, 45.0), (36, 18.0)] {
            let shape = Shape::new(m).unwrap();
            let gaussian = Gaussian::new(3.2);
            let mut rng = rng();
            let trials = 4000;
            let mut total = 0.0;
            for _ in 0..trials {
                let e = error(&shape, &gaussian, &mut rng);
                let (mut re, mut im) = (0.0, 0.0);
                for (j, &coefficient) in e.iter().enumerate() {
                    let mut rest = j;
                    let mut angle = 0.0;
                    for axis in shape.axes().iter().rev() {
                        angle += std::f64::consts::TAU * (rest % axis.dim) as f64 / axis.index as f64;
                        rest /= axis.dim;
                    }
                    re += coefficient as f64 * f64::cos(angle);
                    im += coefficient as f64 * f64::sin(angle);
                }
                total += re * re + im * im;
            }
            let variance = total / trials as f64 / 10.24;
            assert!((variance / factor - 1.0).abs() < 0.1, "m = {m}: {variance} against {factor}");
        }
    }
}

//! Transforms of one row, on every instruction set, beside the yardstick, the textbook transform
//! and Bluestein's algorithm.

use std::sync::Arc;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Modulus, NttPlan, Shape, arith};

use super::args::Standard;
use super::bluestein::{Bluestein, exponent, unpack};
use super::report::Report;
use super::textbook::Textbook;
use crate::timing::{Subject, compare_processor, subject};

/// n = 2^13, .., 2^17.
const POWERS: [u64; 5] = [1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18];
/// Indices of the papers, and the power-of-two n whose time for a coefficient theirs is compared
/// with.
const GENERAL: [(u64, u64); 5] =
    [(15709, 1 << 14), (18631, 1 << 14), (21845, 1 << 14), (24295, 1 << 14), (49981, 1 << 15)];
/// Sizes of the peer's primes: IFMA twice, then twice the path that it takes without.
#[cfg(feature = "peers")]
const PEER_BITS: [u32; 4] = [50, 51, 52, 59];

fn pseudorandom(length: usize, q: u64) -> Vec<u64> {
    (0..length as u64).map(|j| j.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) % q).collect()
}

/// The value at ζ^t by the definition.
fn value_at(shape: &Shape, q: Modulus, row: &[u64], t: u64) -> u64 {
    let zeta = q.root_of_unity(shape.m()).expect("the prime splits");
    let term = |(j, &x): (usize, &u64)| q.mul(x, q.pow(zeta, arith::mul_mod(exponent(shape, j), t, shape.m())));
    row.iter().enumerate().map(term).fold(0, |sum, x| q.add(sum, x))
}

/// One transform, checked at a few points and by the round trip.
struct Own {
    shape: Arc<Shape>,
    q: Modulus,
    row: Vec<u64>,
}

impl Own {
    fn new(m: u64) -> Self {
        let shape = Arc::new(Shape::new(m).expect("a supported index"));
        let q = match m % 2 {
            0 => find_primes(shape.root_order(), 50, 1, &[]).expect("a prime of this size")[0],
            _ => Bluestein::prime(&shape),
        };
        let row = pseudorandom(shape.n(), q.value());
        Self { shape, q, row }
    }

    fn id(&self, op: &str, isa: &str) -> String {
        format!("kernels/{op}/m={},n={},50bit/{isa}/1", self.shape.m(), self.shape.n())
    }

    fn subjects(&self, isa: Isa) -> [Subject<'static>; 2] {
        let plan = Arc::new(NttPlan::new(&self.shape, self.q, isa).expect("the prime splits"));
        let mut image = self.row.clone();
        plan.forward(&mut image);
        for position in [0, 1, self.shape.n() / 3, self.shape.n() - 1] {
            let expected = value_at(&self.shape, self.q, &self.row, self.shape.exponents()[position] as u64);
            assert_eq!(image[position], expected, "value {position} for m = {} on {}", self.shape.m(), isa.name());
        }
        plan.inverse(&mut image);
        assert_eq!(image, self.row, "round trip of m = {} on {}", self.shape.m(), isa.name());
        let (mut forward, mut inverse, other) = (self.row.clone(), self.row.clone(), Arc::clone(&plan));
        [
            subject(self.id("forward", isa.name()), move || plan.forward(&mut forward)),
            subject(self.id("inverse", isa.name()), move || other.inverse(&mut inverse)),
        ]
    }

    /// The textbook transform; its values are those of the definition, in another order.
    fn textbook(&self) -> Subject<'static> {
        let plan = Textbook::new(self.row.len(), self.q);
        let mut image = self.row.clone();
        plan.forward(&mut image);
        assert_eq!(image[0], value_at(&self.shape, self.q, &self.row, 1), "the textbook transform at ψ");
        let mut own = self.row.clone();
        NttPlan::new(&self.shape, self.q, Isa::Portable).expect("the prime splits").forward(&mut own);
        image.sort_unstable();
        own.sort_unstable();
        assert_eq!(image, own, "the textbook transform has the same values");
        let mut row = self.row.clone();
        subject(self.id("textbook-forward", "scalar"), move || plan.forward(&mut row))
    }

    fn bluestein(&self, isa: Isa) -> Subject<'static> {
        let mut plan = Bluestein::new(self.shape.m(), self.q, isa);
        let mut row = unpack(&self.shape, &self.row);
        plan.forward(&mut row);
        let mut own = self.row.clone();
        NttPlan::new(&self.shape, self.q, isa).expect("the prime splits").forward(&mut own);
        let same = self.shape.exponents().iter().zip(&own).all(|(&t, &x)| row[t as usize] == x);
        assert!(same, "Bluestein has the same values for m = {}", self.shape.m());
        subject(self.id("bluestein-forward", isa.name()), move || plan.forward(&mut row))
    }
}

/// Median seconds by name.
struct Times(Vec<(String, f64)>);

impl Times {
    fn of(&self, id: &str) -> f64 {
        self.0.iter().find(|(name, _)| name == id).map_or(f64::NAN, |(_, seconds)| *seconds)
    }

    /// The forward transform of m on an instruction set.
    fn forward(&self, m: u64, isa: &str) -> f64 {
        self.of(&format!("kernels/forward/m={m},n={},50bit/{isa}/1", arith::totient(m)))
    }

    fn bluestein(&self, m: u64, isa: &str) -> f64 {
        self.of(&format!("kernels/bluestein-forward/m={m},n={},50bit/{isa}/1", arith::totient(m)))
    }
}

/// Runs the layer.
pub fn run(report: &mut Report, _: &Standard) {
    let mut times = Times(Vec::new());
    #[cfg(feature = "peers")]
    for bits in PEER_BITS {
        report
            .note(&format!("tfhe-ntt 0.7.1 takes its {} path for primes of {bits} bits", crate::yardstick::path(bits)));
    }
    #[cfg(feature = "peers")]
    report.note("tfhe-ntt offers no choice of path; textbook-forward is what its portable path does, written anew");
    for m in POWERS.into_iter().chain(GENERAL.map(|(m, _)| m)) {
        let own = Own::new(m);
        let mut subjects: Vec<Subject<'_>> = Vec::new();
        for isa in Isa::available() {
            subjects.extend(own.subjects(isa));
        }
        if m % 2 == 0 {
            subjects.push(own.textbook());
            #[cfg(feature = "peers")]
            subjects.extend(PEER_BITS.map(|bits| crate::yardstick::forward(own.row.len(), bits)));
        } else {
            subjects.extend(Isa::available().into_iter().map(|isa| own.bluestein(isa)));
        }
        let samples = compare_processor(&mut subjects, report.rounds);
        times.0.extend(samples.iter().map(|sample| (sample.id.clone(), sample.median)));
        report.add(&samples);
    }
    reach(report, &times);
}

fn reach(report: &mut Report, times: &Times) {
    #[cfg(feature = "peers")]
    for n in [1u64 << 15, 1 << 16] {
        let peer =
            |bits: u32| times.of(&format!("tfhe-ntt-0.7.1/forward/n={n},{bits}bit/{}/1", crate::yardstick::path(bits)));
        for isa in Isa::available() {
            let (name, own) = (isa.name(), times.forward(2 * n, isa.name()));
            match name {
                // The path for 52 bits is the one that 50 bits take on a machine without IFMA.
                "avx512" => report.goals.at_least(
                    format!(
                        "transform n = {n}: avx512 times as fast as tfhe-ntt's {} path",
                        crate::yardstick::path(52)
                    ),
                    peer(52) / own,
                    3.0,
                ),
                _ => report.goals.beside(
                    format!(
                        "transform n = {n}: {name} times as fast as tfhe-ntt at 50 bits, {}",
                        crate::yardstick::path(50)
                    ),
                    peer(50) / own,
                ),
            }
        }
    }
    for n in [1u64 << 15, 1 << 16] {
        let textbook = times.of(&format!("kernels/textbook-forward/m={},n={n},50bit/scalar/1", 2 * n));
        let ratio = textbook / times.forward(2 * n, "portable");
        report.goals.at_least(
            format!("transform n = {n}: portable times as fast as the textbook's scalar one"),
            ratio,
            1.0,
        );
    }
    for (m, n) in GENERAL {
        let limit = if m == 21845 { 2.5 } else { 4.0 };
        for isa in Isa::available() {
            let (name, own) = (isa.name(), times.forward(m, isa.name()));
            let ratio = own / arith::totient(m) as f64 / (times.forward(2 * n, name) / n as f64);
            let label = format!("transform m = {m}: {name}, time per coefficient over that of n = {n}");
            if name == "avx512" {
                report.goals.at_most(&label, ratio, limit)
            } else {
                report.goals.beside(&label, ratio)
            }
            let label = format!("transform m = {m}: {name}, times as fast as whole-ring Bluestein");
            report.goals.beside(&label, times.bluestein(m, name) / own);
        }
    }
}

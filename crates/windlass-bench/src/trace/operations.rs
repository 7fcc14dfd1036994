//! Single operations at l = 9.

use std::collections::BTreeSet;
use windlass::Arithmetic;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Switching;
use windlass::schemes::ckks::Complex64;
use windlass_kernels::Isa;

use super::args::Trace;
use super::keep::keep;
use super::results::Results;
use super::setup::{Setup, TOP, spec};
use crate::threads::with_threads;
use crate::timing::{Sample, subject};

/// −log2 of the errors of real parts, its mean and its least value, on entries uniform in (−1/2,
/// 1/2).
fn precision(s: &Setup, k: u32, isa: Isa, results: &mut Results) {
    let count = s.values.len();
    let part = |j: usize, q: usize| (j % q) as f64 / q as f64 - 0.5;
    let values: Vec<Complex64> = (0..count).map(|j| Complex64::new(part(j, 1009), part(j, 997))).collect();
    let (e, mut rng) = (s.engine(), ChaCha20Rng::from_seed([9; 32]));
    let (fresh, _) = s.decryptor.encrypt(&values, 1.0, TOP + 1, &mut rng).expect("encrypts");
    let product = e.rescale(&e.multiply(&fresh, &fresh).expect("a key")).expect("a level");
    let rotated = e.rotate(&fresh, 1).expect("a key");
    let expected: [&dyn Fn(usize) -> Complex64; 3] =
        [&|j| values[j], &|j| values[j] * values[j], &|j| values[(j + 1) % count]];
    let cases = [("fresh", &fresh), ("after a product", &product), ("after a rotation", &rotated)];
    for ((what, ct), expected) in cases.into_iter().zip(expected) {
        let got = s.decryptor.decrypt(ct).expect("fits");
        let errors: Vec<f64> = got.iter().enumerate().map(|(j, z)| (z.re - expected(j).re).abs()).collect();
        let mean = -errors.iter().map(|error| error.log2()).sum::<f64>() / count as f64;
        let worst = -errors.iter().copied().fold(0.0, f64::max).log2();
        println!(
            "# k={k}: {what}: {mean:.1} bits in the mean, {worst:.1} at worst, {:.1} promised",
            ct.precision_bits()
        );
        let bits = Sample { id: what.into(), median: mean, min: worst, rounds: 1 };
        keep(results, "precision", (k, TOP), &bits, (isa, 1));
    }
}

/// Runs every k on the fastest instruction set.
pub fn run(args: &Trace, results: &mut Results) {
    let Some(isa) = args.isas().into_iter().last() else { return };
    for k in [1, 5, 10] {
        let s = Setup::new(&spec(k), TOP, isa, &BTreeSet::from([5]));
        let (e, ct) = (s.engine(), &s.ciphertext);
        let count = s.values.len();
        let rotated = e.rotate(ct, 1).expect("a key");
        s.verify("rotate", &rotated, |j| s.values[(j + 1) % count]);
        let square = e.multiply(ct, ct).expect("a key");
        s.verify("multiply", &square, |j| s.values[j] * s.values[j]);
        let plain = e.multiply_plain(ct, &s.values).expect("slots");
        s.verify("ct x pt", &plain, |j| s.values[j] * s.values[j]);
        s.verify("rescale", &e.rescale(&square).expect("a level"), |j| s.values[j] * s.values[j]);
        precision(&s, k, isa, results);
        let hoisted = e.hoist(ct).expect("one context");
        let constant = e.prepare(&s.values, TOP + 1).expect("slots");
        for &threads in &args.threads {
            let samples = with_threads(threads, || {
                args.compare(
                    &mut [
                        subject("multiply", || drop(e.multiply(ct, ct))),
                        subject("rotate", || drop(e.rotate(ct, 1))),
                        subject("hoist", || drop(e.hoist(ct))),
                        subject("hoisted rotation", || {
                            drop(e.mod_down(e.hoisted_automorphism(&hoisted, 5).expect("a key")));
                        }),
                        subject("ct x pt", || drop(e.multiply_constant(ct, &constant))),
                        subject("rescale", || drop(e.rescale(&square))),
                        subject("add", || drop(e.add(ct, ct))),
                        subject("encode", || drop(e.prepare(&s.values, TOP + 1))),
                        subject("decrypt", || drop(s.decryptor.decrypt(ct))),
                    ],
                    threads,
                )
            });
            samples.iter().for_each(|sample| keep(results, "operation", (k, TOP), sample, (isa, threads)));
        }
    }
}

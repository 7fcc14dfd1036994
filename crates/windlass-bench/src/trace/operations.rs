//! Single operations at l = 9.

use std::collections::BTreeSet;

use windlass::Hoisting;

use super::setup::{Setup, TOP};
use super::{Record, Trace, record};
use crate::timing::{Sample, subject};

/// Runs every k on the fastest instruction set.
pub fn run(args: &Trace, records: &mut Vec<Record>) {
    let Some(isa) = args.isas().into_iter().last() else { return };
    for k in [1, 5, 10] {
        let s = Setup::new(k, TOP, isa, &BTreeSet::from([5]));
        let (e, ct) = (&s.engine, &s.ciphertext);
        let count = s.values.len();
        let rotated = e.rotate(ct, 1).expect("a key");
        s.verify("rotate", &rotated, |j| s.values[(j + 1) % count]);
        let square = e.multiply(ct, ct).expect("a key");
        s.verify("multiply", &square, |j| s.values[j] * s.values[j]);
        let plain = e.multiply_plain(ct, &s.values).expect("slots");
        s.verify("ct x pt", &plain, |j| s.values[j] * s.values[j]);
        s.verify("rescale", &e.rescale(&square).expect("a level"), |j| s.values[j] * s.values[j]);
        println!(
            "# k={k}: precision {:.1} bits fresh, {:.1} after a product and its rescaling, {:.1} after a rotation",
            ct.precision_bits(),
            e.rescale(&square).expect("a level").precision_bits(),
            rotated.precision_bits()
        );
        let hoisted = e.hoist(ct).expect("one context");
        let constant = e.prepare(&s.values, TOP + 1).expect("slots");
        for &threads in &args.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let samples = pool.install(|| {
                args.compare(
                    &mut [
                        subject("multiply", || drop(e.multiply(ct, ct))),
                        subject("rotate", || drop(e.rotate(ct, 1))),
                        subject("hoist", || drop(e.hoist(ct))),
                        subject("hoisted rotation", || {
                            drop(e.mod_down(e.hoisted_automorphism(&hoisted, 5).expect("a key")));
                        }),
                        subject("ct x pt", || drop(e.scale_by(ct, &constant))),
                        subject("rescale", || drop(e.rescale(&square))),
                        subject("add", || drop(e.add(ct, ct))),
                        subject("encode", || drop(e.prepare(&s.values, TOP + 1))),
                        subject("decrypt", || drop(s.decryptor.decrypt(ct))),
                    ],
                    threads,
                )
            });
            for Sample { id: what, median, min, .. } in samples {
                record(
                    records,
                    Record {
                        part: "operation",
                        k,
                        l: TOP,
                        what,
                        isa: isa.name(),
                        threads,
                        median,
                        min,
                        yardstick: None,
                    },
                );
            }
        }
    }
}

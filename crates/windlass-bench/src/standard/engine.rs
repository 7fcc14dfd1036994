//! BGV and BFV at n = 2^15, log2 Q = 550, log2 P = 240; decryption at n = 2^14.

use windlass::Params;
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::schemes::Scheme;
use windlass_kernels::Isa;

use super::args::Standard;
use super::instance::Instance;
use super::report::Report;
use crate::threads::{measured, with_threads};
use crate::timing::{Sample, median, subject};
use crate::{machine, peer_record};

const P: u64 = 65537;

fn instance(scheme: Scheme, m: u64, q: (u32, usize), special: (u32, usize), digits: usize, isa: Isa) -> Instance {
    machine::reset_peak();
    let spec = RlweSpec {
        m,
        q_prime_bits: vec![q.0; q.1],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![special.0; special.1],
        digits,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Paper { name: "paper_bench".into() },
    };
    let params = Params::new("paper_bench", scheme, (P, 1), None, spec).expect("valid parameters");
    let (log2_q, log2_p) = (params.rlwe().log2_q(q.1), params.rlwe().log2_p());
    let name = format!("n={},Q={log2_q:.0},P={log2_p:.0},d={digits}", m / 2);
    Instance::new(&name, params, isa)
}

/// Runs the layer: every instruction set on one thread, the best one on more.
pub fn run(report: &mut Report, args: &Standard) {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        for isa in Isa::available() {
            let threads = if isa == Isa::best() { &args.threads[..] } else { &[1] };
            for &threads in threads {
                with_threads(threads, || operations(report, scheme, isa, threads));
            }
        }
    }
    for isa in Isa::available() {
        with_threads(1, || decoding(report, isa));
    }
}

fn operations(report: &mut Report, scheme: Scheme, isa: Isa, threads: usize) {
    let s = instance(scheme, 1 << 16, (50, 11), (48, 5), 3, isa);
    report.note(&s.describe());
    let samples = s.measure(threads, report.rounds.min(15));
    report.add_with(&samples, s.facts());
    report.note(&format!("peak memory {:.0} MiB", machine::peak_mebibytes()));
    if threads == 1 {
        reach(report, &s, &samples, isa);
    }
}

fn reach(report: &mut Report, s: &Instance, samples: &[Sample], isa: Isa) {
    let (scheme, name) = (s.engine().scheme(), isa.name());
    let seconds = |op: &str| median(samples, &s.id(op, 1));
    let floor = |unit: &str| seconds(unit) * s.transforms() as f64;
    // The figures are set for AVX-512 without IFMA.
    let wanted = name == "avx512";
    let over = format!("{scheme} rotation: {name}, time over that of its {} transforms", s.transforms());
    let ratio = seconds("rotate") / floor("transform-streamed");
    if wanted {
        report.goals.at_most(&over, ratio, 1.5)
    } else {
        report.goals.beside(&over, ratio)
    }
    report.goals.beside(format!("{over} in cache"), seconds("rotate") / floor("transform-cached"));
    if let Some(t) = report.yardstick {
        for (op, what, limit) in [("multiply", "multiply + relinearise", 67.0), ("rotate", "rotation", 64.0)] {
            let (label, ratio) = (format!("{scheme} {what} at n = 2^15: {name}, in T"), seconds(op) / t);
            if wanted { report.goals.at_most(&label, ratio, limit) } else { report.goals.beside(&label, ratio) }
        }
    }
    let parameters = format!("n=32768 log Q=555 log P=240 {}", scheme.to_string().to_uppercase());
    for (op, what) in [("multiply", "multiply + relinearise"), ("rotate", "rotation")] {
        if let Some(peer) = peer_record::seconds_on(&machine::cpu(), "Lattigo", op, &parameters) {
            let label = format!("{scheme} {what} at n = 2^15: {name}, times as fast as Lattigo on this core");
            let ratio = peer / seconds(op);
            if wanted { report.goals.at_least(&label, ratio, 5.0) } else { report.goals.beside(&label, ratio) }
        }
    }
    let gain = seconds("rotate-8") / seconds("rotate-8-hoisted");
    report.goals.beside(format!("{scheme} rotation: {name}, gain of hoisting over 8 rotations"), gain);
    if wanted && scheme == Scheme::Bgv {
        let sizes = s.engine().context().params().key_sizes();
        let ratio = sizes.switching_key_disk_unseeded as f64 / sizes.switching_key_disk as f64;
        report.goals.at_least("switching key on disk: times smaller than unseeded", ratio, 2.0);
    }
}

/// Decrypt and decode all 16384 slots of n = 2^14, from 400 bits of modulus downwards.
fn decoding(report: &mut Report, isa: Isa) {
    let s = instance(Scheme::Bgv, 1 << 15, (50, 8), (50, 3), 3, isa);
    report.note(&s.describe());
    let message = s.message(3);
    let fresh = s.encrypt(&message);
    let middle = s.engine().switch_modulus(&fresh, 3).expect("switches");
    let low = s.engine().reduce_level(&fresh, 4.0).expect("switches");
    let decode = |ct| s.decryptor.decrypt(ct).expect("within capacity").to_integers().expect("integers");
    let expected = message.to_integers().expect("slots of degree 1");
    let levels = [&fresh, &middle, &low];
    let mut subjects: Vec<_> = levels
        .iter()
        .map(|ct| {
            assert_eq!(decode(ct), expected);
            subject(s.id(&format!("decrypt+decode,level={}", ct.level()), 1), || drop(decode(ct)))
        })
        .collect();
    let samples = measured(&mut subjects, 1, report.rounds.min(15));
    report.add_with(&samples, s.facts());
    if let Some(t) = report.yardstick {
        for (sample, ct) in samples.iter().zip(levels) {
            let label = format!("decrypt and decode 16384 slots, level {}: {}, in T", ct.level(), isa.name());
            let ratio = sample.median / t;
            if isa.name() == "avx512" {
                report.goals.at_most(&label, ratio, 20.0)
            } else {
                report.goals.beside(&label, ratio)
            }
        }
    }
}

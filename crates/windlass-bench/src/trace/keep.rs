//! Prints and records measurements.

use windlass_kernels::Isa;
use windlass_papers::record::Record;
use windlass_papers::trace::results::{Figure, Results};

use crate::machine;
use crate::timing::Sample;

/// Prints and keeps a figure.
pub fn keep(results: &mut Results, part: &str, (k, l): (u32, usize), sample: &Sample, (isa, threads): (Isa, usize)) {
    let Sample { id, median, min, rounds } = sample;
    let (median_ms, min_ms, isa) = (median * 1e3, min * 1e3, isa.name());
    println!(
        "{part:<10} k={k:<2} l={l:<2} {id:<18} {isa:<8} {threads:>2} threads {median_ms:>11.4} ms {min_ms:>11.4} ms"
    );
    results.records.push(Record {
        cpu: machine::cpu(),
        threads,
        median_s: *median,
        min_s: *min,
        yardsticks: results.yardstick.map(|t| median / t),
        rounds: Some(*rounds),
        of: Figure { part: part.into(), k, l, what: id.clone(), isa: isa.into(), cores: Some(machine::cores()) },
    });
}

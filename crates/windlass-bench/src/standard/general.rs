//! The engine over the general rings of the papers, on their own parameter sets.

use windlass::Params;
use windlass::schemes::Scheme;
use windlass_kernels::Isa;

use super::args::Standard;
use super::instance::Instance;
use super::report::Report;
use crate::machine;
use crate::threads::with_threads;
use crate::timing::median;

const SETS: [&str; 5] =
    ["paper_hs18_15709", "paper_hs18_18631_good", "paper_hs15_21845", "paper_hs18_24295_good", "paper_hs18_49981"];

/// Runs the layer on the best instruction set and on AVX-512.
pub fn run(report: &mut Report, args: &Standard) {
    let isas = Isa::available().into_iter().filter(|&isa| isa == Isa::best() || isa.name() == "avx512");
    for isa in isas {
        for name in SETS {
            with_threads(1, || operations(report, name, isa, args));
        }
    }
}

fn operations(report: &mut Report, name: &str, isa: Isa, args: &Standard) {
    machine::reset_peak();
    let params = Params::preset(name, Scheme::Bgv).expect("a preset");
    let s = Instance::new(&format!("m={}", params.m()), params.clone(), isa);
    report.note(&s.describe());
    let rounds = if args.quick { 3 } else { 9 };
    let samples = s.measure(1, rounds);
    report.add_with(&samples, s.facts());
    report.note(&format!("peak memory {:.0} MiB", machine::peak_mebibytes()));
    let seconds = |op: &str| median(&samples, &s.id(op, 1));
    let floor = seconds("transform-streamed") * s.transforms() as f64;
    let label = format!(
        "BGV rotation, m = {}: {}, time over that of its {} transforms",
        params.m(),
        isa.name(),
        s.transforms()
    );
    report.goals.beside(&label, seconds("rotate") / floor);
}

//! The goals of trace-type functions, and what was measured.

use super::peers;
use super::results::{GRID, Place, Results};
use crate::goals::Goals;
use crate::peer_record;

/// The goals that the figures say something about.
pub fn goals(results: &Results) -> Goals {
    let mut goals = Goals::default();
    if let Some((isa, threads)) = results.fastest() {
        GRID.into_iter().for_each(|(k, l)| sum(&mut goals, results, Place { k, l, isa, threads }));
    }
    for r in results.of_part("operation").filter(|r| r.threads == 1) {
        let (what, k) = (&r.of.what, r.of.k);
        if let (Some(t), Some(peer)) = (r.yardsticks, peers::operation(what, k)) {
            goals.at_least(format!("{what} k={k}: times as fast as Lattigo, in T of two machines"), peer / t, 5.0);
        }
        if let Some(peer) = peer_record::seconds_on(&r.cpu, "Lattigo", what, &format!("CKKS k={k} l={}", r.of.l)) {
            let name = format!("{what} k={k}: times as fast as Lattigo, on this core");
            goals.at_least(name, peer / r.median_s, 5.0);
        }
    }
    for r in results.of_part("precision") {
        if let Some(bits) = peers::precision(&r.of.what) {
            let name = format!("{} k={}: bits of precision, mean over the slots", r.of.what, r.of.k);
            goals.at_least(name, r.median_s, bits - 1.0);
        }
    }
    let worst = results.fma_ratios(None).into_iter().map(|(_, ratio)| ratio).min_by(f64::total_cmp);
    if let Some(worst) = worst {
        goals.at_least("fused multiply-add over multiply-then-add, least of all sizes and sets", worst, 1.0);
    }
    goals
}

/// The best sum at one place beside the peers' and beside portable Rust.
fn sum(goals: &mut Goals, results: &Results, place: Place<'_>) {
    let Place { k, l, .. } = place;
    let avx512 = results.best(Place { isa: "avx512", ..place });
    let (Some((h, seconds)), Some((groups, vectorised))) = (results.best(place), avx512) else { return };
    if let (Some(own), Some([hexl, lattigo, openfhe])) = (results.best_in_yardsticks(place), peers::sums(k, l)) {
        let name = format!("sum k={k} l={l}, best h={h}: times as fast as HEXL's best, in T of two machines");
        goals.at_least(name, hexl / own, 8.0);
        goals.at_least(format!("sum k={k} l={l}: Lattigo, in T of two machines"), lattigo / own, 5.0);
        goals.at_least(format!("sum k={k} l={l}: OpenFHE, in T of two machines"), openfhe / own, 5.0);
    }
    for peer in ["Lattigo", "OpenFHE"] {
        if let Some(theirs) = sum_of_peer(results, peer, (k, l)) {
            goals.at_least(format!("sum k={k} l={l}: {peer}, on this core"), theirs / seconds, 5.0);
        }
    }
    if let Some(portable) = results.sum(Place { isa: "portable", ..place }, groups) {
        let name = format!("sum k={k} l={l}: AVX-512 over portable at h={groups}");
        goals.at_least(name, portable / vectorised, 2.0);
    }
}

/// Seconds of a peer's sum on the kind of core of the figures.
pub fn sum_of_peer(results: &Results, peer: &str, (k, l): (u32, usize)) -> Option<f64> {
    let cpu = &results.of_part("sum").next()?.cpu;
    peer_record::seconds_on(cpu, peer, "sum of 128", &format!("k={k} l={l}"))
}

//! The goals of refreshes of CKKS, and what was measured.

use super::figures::{Input, Measured};
use crate::goals::Goals;

/// The set whose goals are for all slots.
const FULL: &str = "refresh_n65536";
/// The set whose goals are for few slots.
const FEW: &str = "refresh_n65536_slots256";
/// Ciphertexts refreshed in one call.
pub const TOGETHER: usize = 8;

/// Lattigo 6.2, `N16QP1546H192H32`, 2^15 complex slots at n = 2^16, on one thread: the processor, and the median of
/// three refreshes in seconds. Family 25 was quiet. On family 26 the core was this thread's alone, beside other programs.
const LATTIGO: [(&str, f64); 2] = [("AMD EPYC (family 25, model 1)", 28.0), ("AMD EPYC (family 26, model 2)", 11.7)];

fn lattigo_on(cpu: &str) -> f64 {
    LATTIGO.into_iter().find(|(name, _)| *name == cpu).map_or(f64::NAN, |(_, seconds)| seconds)
}

/// The goals that one row says something about by itself.
pub fn of_row(row: &Measured) -> Goals {
    let mut goals = Goals::default();
    let (of, lattigo) = (&row.of, lattigo_on(&row.cpu));
    if (row.threads, of.together) != (1, 1) {
        return goals;
    }
    match (&*of.preset, of.input) {
        (FULL, Input::Complex) => {
            let name = format!("{FULL}, complex slots: times as fast as Lattigo's set of as many slots");
            goals.at_least(name, lattigo / row.median_s, 7.0);
            goals.at_most(format!("{FULL}: GB of keys in memory"), of.key_bytes as f64 / 1e9, 2.0);
        }
        (FULL, Input::RealPair) => {
            let name = format!("{FULL}, a real vector of two: times as fast as Lattigo's complex one");
            goals.at_least(name, 2.0 * lattigo / row.median_s, 11.0);
        }
        (FEW, Input::Complex) => {
            let name = format!("{FEW}: times as fast as Lattigo's set of all slots");
            goals.at_least(name, lattigo / row.median_s, 21.25);
        }
        _ => {}
    }
    goals
}

/// All goals that rows of one processor say something about.
pub fn goals(rows: &[&Measured]) -> Goals {
    let mut goals = Goals::default();
    rows.iter().for_each(|row| goals.extend(of_row(row)));
    for one in rows.iter().filter(|row| (row.threads, row.of.together) == (1, 1)) {
        let (preset, input) = (&one.of.preset, one.of.input);
        let like = |threads: usize, together: usize| {
            let found = rows.iter().find(|row| {
                (&row.of.preset, row.of.input) == (preset, input)
                    && (row.threads, row.of.together) == (threads, together)
            });
            found.copied()
        };
        let what = match input {
            Input::Complex => "complex slots",
            Input::RealPair => "two real vectors",
        };
        if let Some(two) = like(2, 1) {
            let name = format!("{preset}, {what}: two threads, times as fast as one, by the clock");
            goals.at_least(name, one.of.total_seconds / two.of.total_seconds, 1.7);
        }
        if let Some(eight) = like(1, TOGETHER) {
            let name = format!("{preset}, {what}: {TOGETHER} in one call, over one by one");
            goals.at_most(name, eight.median_s / (TOGETHER as f64 * one.median_s), 0.75);
        }
    }
    goals
}

//! What linear maps were to reach, and what they reached.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::linear_record::Record;
use crate::same_core;

/// HElib 2.3 (p = 2, 405 + 171 bits), in yardsticks: (map, m, bad, default, minimal keys).
pub const HELIB: [(&str, u64, bool, f64, f64); 7] = [
    ("1d", 15709, false, 23_600.0, 39_000.0),
    ("1d", 18631, false, 9_800.0, 22_000.0),
    ("1d", 18631, true, 14_500.0, 40_000.0),
    ("1d", 24295, false, 5_700.0, 11_400.0),
    ("1d", 24295, true, 7_100.0, f64::NAN),
    ("block", 18631, false, 76_000.0, f64::NAN),
    ("block", 24295, false, 51_000.0, f64::NAN),
];

/// Seconds of HElib's map on the kind of core of a record, with its default keys or minimal ones.
pub fn helib_here(record: &Record) -> Option<f64> {
    let map = if record.map == "1d" { "MatMul1D" } else { "BlockMatMul1D" };
    let keys = if record.column == "minimal" { "minimal" } else { "default" };
    let dimension = if record.bad { "bad" } else { "good" };
    let parameters = format!("m={} D={} {dimension}", record.m, record.size);
    same_core::seconds_on(&record.cpu, "HElib", &format!("{map} {keys}"), &parameters)
}

/// One figure.
struct Goal {
    name: String,
    measured: f64,
    wanted: f64,
    /// Whether more is better.
    more: bool,
}

/// The records of one chain as a table: name, measured, wanted, met or not.
pub fn table(out: &mut String, records: &[&Record]) {
    let goals = goals(records);
    if goals.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### Reach\n\n| figure | measured | wanted | |\n|---|---|---|---|");
    for goal in goals {
        let met = if goal.more { goal.measured >= goal.wanted } else { goal.measured <= goal.wanted };
        let sign = if goal.more { "≥" } else { "≤" };
        let verdict = if met { "met" } else { "not met" };
        let _ = writeln!(out, "| {} | {:.2} | {sign} {} | {verdict} |", goal.name, goal.measured, goal.wanted);
    }
}

fn goals(records: &[&Record]) -> Vec<Goal> {
    let find = |map: &str, m: u64, bad: bool, column: &str, threads: usize| {
        let fits = |r: &&&Record| r.map == map && (r.m, r.bad, r.threads) == (m, bad, threads) && r.column == column;
        records.iter().find(fits).copied()
    };
    let mut goals = Vec::new();
    let mut goal = |name: String, measured: Option<f64>, wanted: f64, more: bool| {
        let measured = measured.filter(|x| x.is_finite() && *x > 0.0);
        goals.extend(measured.map(|measured| Goal { name, measured, wanted, more }));
    };
    for (map, m, bad, default, minimal) in HELIB {
        let times = |column: &str, theirs: f64| {
            let best = find(map, m, bad, column, 1).filter(|r| r.yardsticks > 0.0 && r.chain == "400")?;
            Some(theirs / best.yardsticks)
        };
        let row = format!("{map} {m}{}", if bad { "*" } else { "" });
        let wanted = if map == "1d" { 10.0 } else { 8.0 };
        goal(format!("{row}: times as fast as HElib, in T"), times("best", default), wanted, true);
        goal(format!("{row}, minimal keys: times as fast as HElib, in T"), times("minimal", minimal), 8.0, true);
        let beside = |column: &str| {
            let own = find(map, m, bad, column, 1).filter(|r| r.chain == "400")?;
            Some(helib_here(own)? / own.median_s)
        };
        goal(format!("{row}: times as fast as HElib on this core"), beside("best"), wanted, true);
        goal(format!("{row}, minimal keys: times as fast as HElib on this core"), beside("minimal"), 8.0, true);
    }
    let places: BTreeSet<(&str, u64, bool)> = records.iter().map(|r| (r.map.as_str(), r.m, r.bad)).collect();
    for &(map, m, bad) in &places {
        let row = format!("{map} {m}{}", if bad { "*" } else { "" });
        let Some(best) = find(map, m, bad, "best", 1) else { continue };
        if map == "1d" {
            let minimal = find(map, m, bad, "minimal", 1).map(|r| r.median_s / best.median_s);
            goal(format!("{row}: minimal keys, by the best"), minimal, 2.5, false);
        }
        if !best.strategy.contains("coefficients") {
            goal(format!("{row}: conversion, by multiplication"), Some(best.convert_s / best.median_s), 2.0, false);
        }
        let good = if bad { find(map, m, false, "best", 1) } else { None };
        goal(format!("{row}: bad, by good"), good.map(|good| best.median_s / good.median_s), 1.5, false);
        if best.size >= 120 {
            let four = find(map, m, bad, "best", 4).map(|four| best.median_s / four.median_s);
            goal(format!("{row}: four threads, times as fast as one"), four, 3.0, true);
        }
    }
    let off = |r: &&&Record| (r.predicted_s / r.median_s).max(r.median_s / r.predicted_s);
    let predicted: Vec<f64> = records.iter().filter(|r| r.threads == 1).map(|r| off(&r)).collect();
    let near = predicted.iter().filter(|&&off| off <= 1.25).count() as f64 / predicted.len().max(1) as f64;
    goal("predictions within 25%, share of all plans".into(), Some(near), 1.0, true);
    goals
}

//! The goals of linear maps, and what was measured.

use crate::goals::Goals;
use crate::page::distinct;
use crate::peer_record;

use super::measured::Measured;

/// HElib 2.3 (p = 2, 405 + 171 bits) on a Cascade Lake, in yardsticks of that machine: (map, m, bad,
/// default, minimal keys).
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
pub fn helib_here(record: &Measured) -> Option<f64> {
    let of = &record.of;
    let map = match &*of.map {
        "1d" => "MatMul1D",
        "block" => "BlockMatMul1D",
        _ => return None,
    };
    let keys = match &*of.column {
        "best" | "default" => "default",
        "minimal" => "minimal",
        _ => return None,
    };
    if (of.p, of.r, &*of.chain) != (2, 1, "400") {
        return None;
    }
    let dimension = if of.bad { "bad" } else { "good" };
    let parameters = format!("m={} D={} {dimension}", of.m, of.size);
    peer_record::seconds_on(&record.cpu, "HElib", &format!("{map} {keys}"), &parameters)
}

/// Finds records of one chain by map, ring, column and threads.
struct Found<'a>(&'a [&'a Measured]);

impl<'a> Found<'a> {
    fn at(&self, map: &str, (m, bad): (u64, bool), column: &str, threads: usize) -> Option<&'a Measured> {
        let fits = |r: &&&Measured| {
            let of = &r.of;
            of.map == map && (of.m, of.bad, r.threads) == (m, bad, threads) && of.column == column
        };
        self.0.iter().find(fits).copied()
    }
}

/// The goals that the records of one chain say something about.
pub fn goals(records: &[&Measured]) -> Goals {
    let mut goals = Goals::default();
    beside_helib(&mut goals, &Found(records));
    for (map, m, bad) in distinct(records.iter().map(|r| (r.of.map.as_str(), r.of.m, r.of.bad))) {
        within(&mut goals, &Found(records), map, (m, bad));
    }
    let off = |r: &&&Measured| (r.of.predicted_s / r.median_s).max(r.median_s / r.of.predicted_s);
    let predicted: Vec<f64> = records.iter().filter(|r| r.threads == 1).map(|r| off(&r)).collect();
    let near = predicted.iter().filter(|&&off| off <= 1.25).count() as f64;
    goals.at_least("predictions within 25%, share of all plans", near / predicted.len() as f64, 1.0);
    goals
}

/// Times as fast as HElib, by the yardsticks of two machines and on the same kind of core.
fn beside_helib(goals: &mut Goals, found: &Found<'_>) {
    for (map, m, bad, default, minimal) in HELIB {
        let row = name(map, m, bad);
        let wanted = if map == "1d" { 10.0 } else { 8.0 };
        let columns = [
            ("default", ", default keys of both", default, wanted),
            ("best", ", default keys and our best plan", default, wanted),
            ("minimal", ", minimal keys", minimal, 8.0),
        ];
        for (column, keys, theirs, wanted) in columns {
            let own = found.at(map, (m, bad), column, 1).filter(|r| r.of.chain == "400");
            let ratio = own.and_then(|r| Some(theirs / r.yardsticks?)).unwrap_or(f64::NAN);
            goals.at_least(format!("{row}{keys}: times as fast as HElib, in T of two machines"), ratio, wanted);
        }
        for (column, keys, _, wanted) in columns {
            let own = found.at(map, (m, bad), column, 1);
            let ratio = own.and_then(|r| Some(helib_here(r)? / r.median_s)).unwrap_or(f64::NAN);
            goals.at_least(format!("{row}{keys}: times as fast as HElib on this core"), ratio, wanted);
        }
    }
}

/// One row by itself: few keys, conversion, bad dimensions, threads.
fn within(goals: &mut Goals, found: &Found<'_>, map: &str, (m, bad): (u64, bool)) {
    let row = name(map, m, bad);
    let Some(best) = found.at(map, (m, bad), "best", 1) else { return };
    let over = |r: Option<&Measured>| r.map_or(f64::NAN, |r| r.median_s / best.median_s);
    if map == "1d" {
        let minimal = found.at(map, (m, bad), "minimal", 1);
        goals.at_most(format!("{row}: minimal keys, by the best"), over(minimal), 2.5);
    }
    if !best.of.strategy.contains("coefficients") {
        let conversion = best.of.convert_s / best.median_s;
        goals.at_most(format!("{row}: conversion, by multiplication"), conversion, 2.0);
    }
    if bad {
        let good = 1.0 / over(found.at(map, (m, false), "best", 1));
        goals.at_most(format!("{row}: bad, by good"), good, 1.5);
    }
    if best.of.size >= 120 {
        let four = 1.0 / over(found.at(map, (m, bad), "best", 4));
        goals.at_least(format!("{row}: four threads, times as fast as one"), four, 3.0);
    }
}

fn name(map: &str, m: u64, bad: bool) -> String {
    format!("{map} {m}{}", if bad { "*" } else { "" })
}

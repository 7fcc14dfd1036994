//! Tables and the plot from the records of linear maps.

use std::fmt::Write as _;

use super::measured::Measured;
use super::published;
use super::reach::{self, HELIB};
use crate::page::{Table, distinct, first_seen};
use crate::plot::{Axis, BLUE, Drawn, Line, LinePlot, RED};

const MAPS: [(&str, &str); 4] = [
    ("1d", "`MatMul1D` (Table 2)"),
    ("block", "`BlockMatMul1D` (Table 3)"),
    ("full", "`MatMulFull`"),
    ("block-full", "`BlockMatMulFull`"),
];

/// All tables: processor by processor, and chain by chain.
pub fn tables(records: &[Measured]) -> String {
    let mut out = String::new();
    for cpu in first_seen(records.iter().map(|record| record.cpu.as_str())) {
        let of_cpu = records.iter().filter(|record| record.cpu == cpu);
        for chain in distinct(of_cpu.clone().map(|record| record.of.chain.as_str())) {
            let chosen: Vec<&Measured> = of_cpu.clone().filter(|record| record.of.chain == chain).collect();
            tables_of_chain(&mut out, chain, cpu, &chosen);
        }
    }
    out
}

/// The tables of one chain on one processor.
fn tables_of_chain(out: &mut String, chain: &str, cpu: &str, records: &[&Measured]) {
    let title = match chain {
        "400" => "Q of 400 bits, P of 150, three digits",
        "secure" => "128 bits of security: Q of 250 bits, P of 100, three digits",
        given => given,
    };
    let _ = writeln!(out, "\n## {title}\n\nMeasured on {cpu}.");
    let mut section = |title: &str, table: Table| {
        if !table.is_empty() {
            let _ = write!(out, "\n### {title}\n\n{table}");
        }
    };
    if chain == "400" {
        section("Beside HElib 2.3 of another machine, each in its own T", compared(records));
        section("Beside HElib 2.3 on the same kind of core, seconds of one thread", beside(records));
        section(published::TITLE_1, published::table_1(records));
        section("Table 4: default keys, seconds on several threads", table_4(records));
    }
    section("Reach", reach::goals(records).table());
    for (map, title) in MAPS {
        let rows: Vec<&Measured> = records.iter().copied().filter(|record| record.of.map == map).collect();
        section(&format!("{title}, seconds on one thread"), strategies(&rows));
        if chain == "400" {
            let title = format!("{title}, as published: seconds on one thread of an Intel Xeon E5-2698 v3");
            section(&title, published::strategies(map, &rows));
        }
        section(&format!("{title}: best strategy, keys, constants, threads"), details(&rows));
    }
}

fn find<'a>(rows: &[&'a Measured], like: &Measured, column: &str, threads: usize) -> Option<&'a Measured> {
    let ring = |r: &Measured| (r.of.place(), r.of.p, r.of.r);
    let fits = |r: &&&Measured| ring(r) == ring(like) && r.of.column == column && r.threads == threads;
    rows.iter().find(fits).copied()
}

/// One record of each ring and dimension, in order of appearance.
fn places<'a>(rows: &[&'a Measured]) -> Vec<&'a Measured> {
    let mut seen = Vec::new();
    let new = |r: &&&Measured| {
        let ring = (r.of.place(), r.of.p, r.of.r);
        let new = !seen.contains(&ring);
        seen.push(ring);
        new
    };
    rows.iter().filter(new).copied().collect()
}

/// The mark of plans that keep constants as coefficients.
fn mark(r: &Measured) -> &'static str {
    if r.of.strategy.contains("coefficients") { "†" } else { "" }
}

fn seconds(r: &Measured) -> String {
    format!("{:.3}{}", r.median_s, mark(r))
}

/// The seconds of every column.
fn strategies(rows: &[&Measured]) -> Table {
    let columns = first_seen(rows.iter().map(|r| r.of.column.as_str()));
    let mut table = Table::new(["m", "D", "build", "convert"].iter().chain(&columns).copied());
    for place in places(rows) {
        // Of the best strategy, where it was measured: the others' conversions are into new memory.
        let any = rows.iter().find(|r| r.of.place() == place.of.place() && r.threads == 1).copied();
        let Some(any) = find(rows, place, "best", 1).or(any) else { continue };
        let mut cells = Vec::from(place.of.row());
        cells.extend([any.of.build_s, any.of.convert_s].map(|seconds| format!("{seconds:.2}")));
        let time = |column| find(rows, place, column, 1).map_or_else(String::new, seconds);
        cells.extend(columns.iter().map(|column| time(column)));
        table.row(cells);
    }
    table
}

/// What the best and the minimal plan take, and their times on several threads.
fn details(rows: &[&Measured]) -> Table {
    let threads = distinct(rows.iter().map(|record| record.threads).filter(|&n| n > 1));
    let fixed = ["m", "D", "column", "T", "predicted s", "keys", "MB", "constants", "MB", "capacity bits"];
    let more = threads.iter().map(|n| format!("{n} threads: s"));
    let mut table = Table::new(fixed.into_iter().map(String::from).chain(more));
    for place in places(rows) {
        for column in ["best", "default", "minimal"] {
            let Some(r) = find(rows, place, column, 1) else { continue };
            let mut cells = Vec::from(place.of.row());
            cells.extend([
                column.into(),
                r.yardsticks.map_or_else(String::new, |t| format!("{t:.0}")),
                format!("{:.3}", r.of.predicted_s),
                r.of.keys.to_string(),
                format!("{:.0}", r.of.key_bytes as f64 / 1e6),
                format!("{}{}", r.of.constants, mark(r)),
                format!("{:.0}", r.of.constant_bytes as f64 / 1e6),
                format!("{:.1}", r.of.capacity_bits),
            ]);
            let time =
                |&n: &usize| find(rows, place, column, n).map_or_else(String::new, |r| format!("{:.3}", r.median_s));
            cells.extend(threads.iter().map(time));
            table.row(cells);
        }
    }
    table
}

/// Table 4: plans by the default keys on several threads, beside the paper's on its own machine.
fn table_4(records: &[&Measured]) -> Table {
    let rows: Vec<&Measured> = records.iter().copied().filter(|r| r.of.column == "default").collect();
    let threads = distinct(rows.iter().map(|record| record.threads));
    let theirs = [1, 4, 16].map(|count| format!("paper, {count} threads (Xeon E5-2698 v3)"));
    let ours = threads.iter().map(|count| format!("Windlass, {count} threads"));
    let fixed = ["map", "m", "D", "keys"].map(String::from);
    let mut table = Table::new(fixed.into_iter().chain(ours).chain(theirs));
    for map in ["1d", "block"] {
        let of_map: Vec<&Measured> = rows.iter().copied().filter(|r| r.of.map == map).collect();
        for place in places(&of_map) {
            let mut cells = vec![map.to_owned()];
            cells.extend(place.of.row());
            cells.push(place.of.keys.to_string());
            let own = |&count: &usize| find(&of_map, place, "default", count);
            cells.extend(threads.iter().map(|n| own(n).map_or_else(String::new, seconds)));
            cells.extend(published::on_threads(place).into_iter().flatten().map(|seconds| format!("{seconds:.2}")));
            table.row(cells);
        }
    }
    table
}

/// The rows next to HElib: our plans by its default keys, our best plan for as many keys as it
/// takes, and minimal keys of both.
const BESIDE: [&str; 3] = ["default", "best", "minimal"];

/// Keys of ours, a figure of ours and how many times HElib's it is less; empty where one is missing.
fn ours_beside(own: Option<(&Measured, String, f64)>, theirs: Option<f64>) -> [String; 3] {
    let Some((r, figure, own)) = own else { return [const { String::new() }; 3] };
    [r.of.keys.to_string(), figure, theirs.map_or_else(String::new, |theirs| format!("{:.1}", theirs / own))]
}

/// The heading of a table beside HElib: its figure with default keys, ours by the same keys and by
/// our best plan, its figure with minimal keys and ours.
fn heading_beside(times: &str) -> Vec<String> {
    let ours = |what: &str| [format!("keys, {what}"), format!("Windlass, {what}"), times.to_owned()];
    let fixed = ["map", "m", "D", "HElib, default keys"].map(String::from);
    let more = [ours("default keys"), ours("best plan")].concat();
    let minimal = [vec!["HElib, minimal keys".to_owned()], ours("minimal keys").into()].concat();
    fixed.into_iter().chain(more).chain(minimal).collect()
}

/// Beside HElib on the machine that the aims were set on, in yardsticks.
fn compared(records: &[&Measured]) -> Table {
    let mut table = Table::new(heading_beside("times, machines differ"));
    for (map, m, bad, default, minimal) in HELIB {
        let fits = |r: &&Measured| r.of.map == map && r.of.m == m && r.of.bad == bad && (r.of.p, r.of.r) == (2, 1);
        let rows: Vec<&Measured> = records.iter().copied().filter(fits).collect();
        let Some(&any) = rows.first() else { continue };
        let theirs = [default, default, minimal].map(|t| Some(t).filter(|t| t.is_finite()));
        let ours = BESIDE.map(|column| {
            let own = find(&rows, any, column, 1).and_then(|r| Some((r, r.yardsticks?)));
            own.map(|(r, t)| (r, format!("{t:.0}"), t))
        });
        if ours.iter().any(Option::is_some) {
            let theirs_in_words = [theirs[0], theirs[2]].map(|t| t.map_or_else(String::new, |t| format!("{t:.0}")));
            table.row(row_beside(map, any, theirs_in_words, theirs, ours));
        }
    }
    table
}

/// One row of [`heading_beside`].
fn row_beside(
    map: &str,
    place: &Measured,
    [default, minimal]: [String; 2],
    theirs: [Option<f64>; 3],
    ours: [Option<(&Measured, String, f64)>; 3],
) -> Vec<String> {
    let [by_default, best, by_minimal] = [0, 1, 2].map(|at: usize| ours_beside(ours[at].clone(), theirs[at]));
    let front = [[map.to_owned()].as_slice(), &place.of.row(), &[default]].concat();
    [front, by_default.into(), best.into(), vec![minimal], by_minimal.into()].concat()
}

/// Records on one thread with HElib's seconds on the same kind of core.
fn with_helib<'a>(records: impl Iterator<Item = &'a Measured>) -> Vec<(&'a Measured, f64)> {
    records.filter(|r| r.threads == 1).filter_map(|r| Some((r, reach::helib_here(r)?))).collect()
}

/// Beside HElib on the kind of core of the records, in seconds; one row for each map and dimension.
fn beside(records: &[&Measured]) -> Table {
    let mut table = Table::new(heading_beside("times"));
    let all = with_helib(records.iter().copied());
    let place = |r: &Measured| (r.of.map.clone(), r.of.place());
    for of_row in first_seen(all.iter().map(|&(r, _)| place(r))) {
        let at = |column: &str| all.iter().find(|(r, _)| place(r) == of_row && r.of.column == column);
        let both = BESIDE.map(at);
        let theirs = both.map(|found| found.map(|&(_, theirs)| theirs));
        let ours = both.map(|found| found.map(|&(r, _)| (r, format!("{:.3}", r.median_s), r.median_s)));
        let Some(&(any, _)) = both.into_iter().flatten().next() else { continue };
        let words = [theirs[0].or(theirs[1]), theirs[2]].map(|t| t.map_or_else(String::new, |t| format!("{t:.2}")));
        table.row(row_beside(&any.of.map, any, words, theirs, ours));
    }
    table
}

/// Ours against HElib on the last of the cores where both were measured, in good dimensions: seconds
/// against D.
pub fn plot(records: &[Measured]) -> Drawn {
    let mut pairs = with_helib(records.iter().filter(|r| !r.of.bad));
    let core = pairs.last().map_or("", |(r, _)| &r.cpu);
    pairs.retain(|(r, _)| r.cpu == core);
    let line = |map: &str, column: &str, what: &str| {
        let chosen = pairs.iter().filter(|(r, _)| r.of.map == map && r.of.column == column);
        let (theirs, ours): (Vec<_>, Vec<_>) =
            chosen.map(|&(r, theirs)| ((r.of.size as f64, theirs), (r.of.size as f64, r.median_s))).unzip();
        let dashed = column == "minimal";
        [
            Line { name: format!("HElib{what}"), colour: RED, dashed, points: theirs },
            Line { name: format!("Windlass{what}"), colour: BLUE, dashed, points: ours },
        ]
    };
    let lines = [line("block", "best", ", block matrix"), line("1d", "minimal", ", few keys"), line("1d", "best", "")];
    LinePlot {
        title: format!("A matrix times an encrypted vector, one thread of {core} (Q of 400 bits)"),
        x: Axis::logarithmic("D, size of the dimension").ticks(&[42.0, 120.0, 682.0]),
        y: Axis::logarithmic("seconds"),
        lines: lines.into_iter().flatten().filter(|line| !line.points.is_empty()).collect(),
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::super::measured::{self, Product};
    use super::*;
    use crate::record;

    fn records() -> Vec<Measured> {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-bench/record/amd-epyc-zen5/linear-2026-11-25.jsonl");
        record::read(path.as_ref(), measured::key).unwrap()
    }

    fn later() -> Vec<Measured> {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-bench/record/amd-epyc-zen3/linear-2026-11-24.jsonl");
        record::read(path.as_ref(), measured::key).unwrap()
    }

    #[test]
    fn the_page_shows_the_record() {
        let page = include_str!("../../../../docs/records/linear-maps.md");
        let (_, rest) = page.split_once("<!-- begin tables -->\n").unwrap();
        let all = [records(), later()].concat();
        assert_eq!(rest.split_once("<!-- end tables -->").unwrap().0, tables(&all));
    }

    /// A line of another processor replaces none.
    #[test]
    fn processors_have_tables_of_their_own() {
        let all = records();
        let other: Vec<Measured> =
            all.iter().map(|r| Measured { cpu: "another (family 1)".into(), median_s: 77.0, ..r.clone() }).collect();
        let both = tables(&[&all[..], &other].concat());
        let (first, second) = both.split_at(tables(&all).len());
        assert_eq!(first, tables(&all));
        assert!(second.contains("Measured on another (family 1).") && second.contains("| 77.000 |"), "{second}");
    }

    /// In each row with HElib's default keys stand ours by the same keys, and our best plan.
    #[test]
    fn default_keys_of_both_stand_in_every_row_beside_helib() {
        for (table, cell) in [(compared as fn(&[&Measured]) -> Table, 4), (beside, 4)] {
            let all = [records(), later()].concat();
            for cpu in first_seen(all.iter().map(|r| &r.cpu)) {
                let of_one: Vec<&Measured> = all.iter().filter(|r| r.of.chain == "400" && r.cpu == *cpu).collect();
                let text = table(&of_one).to_string();
                for line in text.lines().skip(2) {
                    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
                    assert_eq!(cells.len(), 14, "{line}");
                    assert!(cells[cell..cell + 6].iter().all(|cell| cell.parse::<f64>().is_ok()), "{line}");
                    let ours = [5, 8].map(|at| cells[at].parse::<f64>().unwrap());
                    let times = [6, 9].map(|at| cells[at].parse::<f64>().unwrap());
                    assert_eq!(ours[0] < ours[1], times[0] > times[1], "{line}");
                }
            }
        }
    }

    #[test]
    fn table_4_has_both_maps_on_every_number_of_threads() {
        let all: Vec<Measured> = records().into_iter().filter(|r| r.of.column != "default").collect();
        assert!(table_4(&all.iter().collect::<Vec<_>>()).is_empty(), "no plan by default keys");
        let renamed = |r: &Measured| Measured { of: Product { column: "default".into(), ..r.of.clone() }, ..r.clone() };
        let default: Vec<Measured> =
            all.iter().filter(|r| r.of.column == "best" && r.of.chain == "400").map(renamed).collect();
        let text = table_4(&default.iter().collect::<Vec<_>>()).to_string();
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"));
        let count =
            |map: &str| default.iter().filter(|r| (&*r.of.map, r.of.m, r.of.bad) == (map, 18631, false)).count();
        for (map, theirs) in [("1d", "1.35 | 0.49 | 0.20 |"), ("block", "7.97 | 2.49 | 1.03 |")] {
            let line = line(&format!("| {map} | 18631 | 120 |"));
            assert!(line.ends_with(theirs), "{line}");
            let own = line.split(" | ").skip(4).take(count(map)).filter(|cell| cell.parse::<f64>().is_ok());
            assert_eq!(own.count(), count(map), "{line}");
        }
    }

    #[test]
    fn lines_are_drawn_of_what_both_have() {
        let svg = plot(&[records(), later()].concat()).unwrap();
        for name in ["HElib, block matrix", "Windlass, block matrix", "HElib, few keys", "Windlass, few keys"] {
            assert!(svg.contains(name), "{name}");
        }
        let own = |r: &Measured| Measured { of: Product { p: 3, ..r.of.clone() }, ..r.clone() };
        let foreign: Vec<Measured> = later().iter().map(own).collect();
        assert!(plot(&foreign).is_err(), "HElib was measured for p = 2 alone");
    }
}

//! Tables from the records of linear maps.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::linear_reach::{self, HELIB};
use crate::linear_record::Record;

const BEGIN: &str = "<!-- begin tables -->";
const END: &str = "<!-- end tables -->";

/// Replaces what stands between the marks of a page.
pub fn page(path: &Path, records: &[Record]) -> io::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, format!("{}: no marks {BEGIN}, {END}", path.display()));
    let (before, rest) = text.split_once(BEGIN).ok_or_else(wrong)?;
    let (_, after) = rest.split_once(END).ok_or_else(wrong)?;
    std::fs::write(path, format!("{before}{BEGIN}\n{}{END}{after}", tables(records)))
}

fn tables(records: &[Record]) -> String {
    let mut out = String::new();
    let mut chains: Vec<&str> = records.iter().map(|record| record.chain.as_str()).collect();
    chains.dedup();
    chains.sort_unstable();
    chains.dedup();
    for chain in chains {
        let of_chain: Vec<&Record> = records.iter().filter(|record| record.chain == chain).collect();
        let title = match chain {
            "400" => "Q of 400 bits, P of 150, three digits",
            _ => "128 bits of security: Q of 250 bits, P of 100, three digits",
        };
        let _ = writeln!(out, "\n## {title}\n\nMeasured on {}.", of_chain[0].cpu);
        if chain == "400" {
            compared(&mut out, &of_chain);
            beside(&mut out, &of_chain);
        }
        linear_reach::table(&mut out, &of_chain);
        for (map, title) in [
            ("1d", "`MatMul1D` (Table 2)"),
            ("block", "`BlockMatMul1D` (Table 3)"),
            ("full", "`MatMulFull`"),
            ("block-full", "`BlockMatMulFull`"),
        ] {
            let rows: Vec<&Record> = of_chain.iter().copied().filter(|record| record.map == map).collect();
            if !rows.is_empty() {
                let _ = writeln!(out, "\n### {title}, seconds on one thread\n");
                strategies(&mut out, &rows);
                let _ = writeln!(out, "\n### {title}: best strategy, keys, constants, threads\n");
                details(&mut out, &rows);
            }
        }
    }
    out
}

/// The rows `(m, D, bad)` in order of appearance.
fn places(records: &[&Record]) -> Vec<(u64, usize, bool)> {
    let mut places: Vec<(u64, usize, bool)> = Vec::new();
    for record in records {
        let place = (record.m, record.size, record.bad);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn find<'a>(rows: &[&'a Record], place: (u64, usize, bool), column: &str, threads: usize) -> Option<&'a Record> {
    let fits = |r: &&&Record| (r.m, r.size, r.bad) == place && r.column == column && r.threads == threads;
    rows.iter().find(fits).copied()
}

fn head(out: &mut String, columns: &[String]) {
    let _ = writeln!(out, "| {} |", columns.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(columns.len()));
}

fn name((m, size, bad): (u64, usize, bool)) -> String {
    format!("{m} | {size}{}", if bad { "*" } else { "" })
}

fn strategies(out: &mut String, rows: &[&Record]) {
    let mut columns: Vec<&str> = Vec::new();
    for record in rows {
        if !columns.contains(&record.column.as_str()) {
            columns.push(&record.column);
        }
    }
    let mut heading: Vec<String> = ["m", "D", "build", "convert"].map(String::from).to_vec();
    // Of the best strategy, where it was measured: the others' conversions are into new memory.
    heading.extend(columns.iter().map(|column| (*column).to_owned()));
    head(out, &heading);
    for place in places(rows) {
        let any = rows.iter().find(|r| (r.m, r.size, r.bad) == place && r.threads == 1).copied();
        let Some(any) = find(rows, place, "best", 1).or(any) else { continue };
        let _ = write!(out, "| {} | {:.2} | {:.2} ", name(place), any.build_s, any.convert_s);
        for column in &columns {
            match find(rows, place, column, 1) {
                Some(record) => drop(write!(out, "| {:.3} ", record.median_s)),
                None => out.push_str("| "),
            }
        }
        out.push_str("|\n");
    }
}

fn details(out: &mut String, rows: &[&Record]) {
    let mut threads: Vec<usize> = rows.iter().map(|record| record.threads).filter(|&n| n > 1).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut heading: Vec<String> =
        ["m", "D", "column", "T", "predicted s", "keys", "MB", "constants", "MB", "capacity bits"]
            .map(String::from)
            .to_vec();
    heading.extend(threads.iter().map(|n| format!("{n} threads: s")));
    head(out, &heading);
    for place in places(rows) {
        for column in ["best", "minimal"] {
            let Some(r) = find(rows, place, column, 1) else { continue };
            let _ = write!(
                out,
                "| {} | {column} | {:.0} | {:.3} | {} | {:.0} | {}{} | {:.0} | {:.1} ",
                name(place),
                r.yardsticks,
                r.predicted_s,
                r.keys,
                r.key_bytes as f64 / 1e6,
                r.constants,
                if r.strategy.contains("coefficients") { "†" } else { "" },
                r.constant_bytes as f64 / 1e6,
                r.capacity_bits
            );
            for &n in &threads {
                match find(rows, place, column, n) {
                    Some(record) => drop(write!(out, "| {:.3} ", record.median_s)),
                    None => out.push_str("| "),
                }
            }
            out.push_str("|\n");
        }
    }
}

/// Beside HElib's published implementation, in yardsticks.
fn compared(out: &mut String, records: &[&Record]) {
    let _ = writeln!(out, "\n### Beside HElib 2.3, in T\n");
    let columns =
        ["map", "m", "D", "HElib", "Windlass", "times faster", "HElib, minimal keys", "Windlass", "times faster"];
    head(out, &columns.map(String::from));
    for (map, m, bad, default, minimal) in HELIB {
        let rows: Vec<&Record> = records.iter().copied().filter(|r| r.map == map && r.m == m && r.bad == bad).collect();
        let Some(&any) = rows.first() else { continue };
        let place = (m, any.size, bad);
        let _ = write!(out, "| {map} | {} ", name(place));
        for (column, theirs) in [("best", default), ("minimal", minimal)] {
            match find(&rows, place, column, 1).filter(|r| r.yardsticks > 0.0) {
                Some(r) if theirs.is_finite() => {
                    let _ = write!(out, "| {theirs:.0} | {:.0} | {:.1} ", r.yardsticks, theirs / r.yardsticks);
                }
                Some(r) => drop(write!(out, "| | {:.0} | ", r.yardsticks)),
                None => out.push_str("| | | "),
            }
        }
        out.push_str("|\n");
    }
}

/// Beside HElib on the kind of core of the records, in seconds.
fn beside(out: &mut String, records: &[&Record]) {
    let rows: Vec<(&Record, f64)> = records
        .iter()
        .copied()
        .filter(|r| r.threads == 1 && (r.column == "best" || r.column == "minimal"))
        .filter(|r| r.map == "1d" || r.map == "block")
        .filter_map(|r| Some((r, linear_reach::helib_here(r)?)))
        .collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### Beside HElib 2.3 on the same kind of core, seconds of one thread\n");
    head(out, &["map", "m", "D", "keys", "HElib", "Windlass", "times faster"].map(String::from));
    for (r, theirs) in rows {
        let keys = if r.column == "best" { "default; best" } else { "minimal" };
        let (place, own) = (name((r.m, r.size, r.bad)), r.median_s);
        let _ = writeln!(out, "| {} | {place} | {keys} | {theirs:.2} | {own:.3} | {:.1} |", r.map, theirs / own);
    }
}

//! The tables of Halevi–Shoup 2018, §9: seconds on an Intel Xeon E5-2698 v3 of 2.3 GHz, for p^r = 2.

use super::measured::Measured;
use crate::page::{Table, or_dash};

/// Of m, whether the dimension is bad; one figure for each column.
type Row<const COLUMNS: usize> = (u64, bool, [f64; COLUMNS]);

/// The heading above Table 1.
pub const TITLE_1: &str =
    "Table 1: `MatMul1D`, seconds on one thread (44.01 times is by the paper's own seconds; it prints 75.86)";

/// Table 1, `MatMul1D`: before the paper and after it.
#[expect(clippy::approx_constant, reason = "3.14 seconds")]
const TABLE_1: [Row<2>; 6] = [
    (15709, false, [69.28, 2.22]),
    (15709, true, [138.20, 3.14]),
    (18631, false, [20.27, 1.38]),
    (18631, true, [39.97, 1.69]),
    (24295, false, [3.18, 0.51]),
    (24295, true, [6.20, 0.55]),
];

/// Table 2, `MatMul1D`.
const COLUMNS_2: [&str; 10] = ["build", "convert", "M/B", "M/F", "B/BH", "B/BN", "B/FH", "B/FN", "F/FH", "F/FN"];
#[expect(clippy::approx_constant, reason = "3.14 seconds")]
const TABLE_2: [Row<10>; 6] = [
    (15709, false, [0.47, 5.54, 3.80, 44.81, 2.22, 3.19, 6.46, 69.28, 5.30, 28.30]),
    (15709, true, [0.56, 11.07, 5.93, 44.86, 3.14, 5.03, 7.33, 69.70, 5.94, 29.16]),
    (18631, false, [0.08, 1.96, 2.43, 13.81, 1.38, 2.04, 2.36, 20.27, 1.29, 8.70]),
    (18631, true, [0.10, 3.91, 3.68, 13.95, 1.69, 2.89, 2.45, 20.27, 1.29, 8.78]),
    (24295, false, [0.03, 0.70, 1.39, 5.09, 0.82, 1.17, 1.11, 6.87, 0.51, 3.18]),
    (24295, true, [0.04, 1.39, 2.17, 5.09, 0.95, 1.64, 1.20, 6.94, 0.55, 3.20]),
];

/// Table 3, `BlockMatMul1D`.
const COLUMNS_3: [&str; 7] = ["build", "convert", "M/", "B/H", "B/N", "F/H", "F/N"];
const TABLE_3: [Row<7>; 6] = [
    (15709, false, [15.47, 122.62, 54.73, 21.03, 84.42, 18.15, 42.67]),
    (15709, true, [17.31, 246.89, 64.98, 36.81, 99.84, 32.41, 57.07]),
    (18631, false, [2.44, 49.59, 18.83, 9.84, 27.90, 6.88, 14.66]),
    (18631, true, [2.96, 98.79, 23.83, 17.62, 35.80, 12.73, 20.58]),
    (24295, false, [0.95, 19.73, 9.25, 7.84, 13.64, 5.01, 7.70]),
    (24295, true, [1.15, 39.72, 13.49, 14.73, 20.45, 9.65, 12.47]),
];

/// Table 4: seconds of `MatMul1D` and of `BlockMatMul1D` on 1, 4 and 16 threads.
#[expect(clippy::approx_constant, reason = "3.14 seconds")]
const TABLE_4: [(u64, bool, [f64; 3], [f64; 3]); 6] = [
    (15709, false, [2.18, 0.67, 0.29], [20.21, 7.60, 2.47]),
    (15709, true, [3.14, 0.97, 0.42], [35.50, 12.17, 4.70]),
    (18631, false, [1.35, 0.49, 0.20], [7.97, 2.49, 1.03]),
    (18631, true, [1.65, 0.58, 0.29], [13.89, 4.30, 1.67]),
    (24295, false, [0.47, 0.23, 0.15], [4.98, 1.37, 0.61]),
    (24295, true, [0.51, 0.22, 0.14], [9.51, 2.67, 1.08]),
];

/// Seconds of Table 4 for what was measured, on 1, 4 and 16 threads.
pub fn on_threads(of: &Measured) -> Option<[f64; 3]> {
    let (_, _, lines, blocks) = TABLE_4.into_iter().find(|&(m, bad, ..)| is_of(of, m, bad))?;
    Some(if of.of.map == "1d" { lines } else { blocks })
}

fn is_of(one: &Measured, m: u64, bad: bool) -> bool {
    (one.of.m, one.of.bad, one.of.p, one.of.r) == (m, bad, 2, 1)
}

/// The keys of the paper's default in a dimension of this size: all D − 1 up to 50, baby and giant
/// steps of ⌈√D⌉ above, and that of θ^{−D} in a bad one.
fn default_keys(size: usize, bad: bool) -> usize {
    let babies = (size as f64).sqrt().ceil() as usize;
    let keys = if size <= 50 { size - 1 } else { babies - 1 + size.div_ceil(babies) - 1 };
    keys + usize::from(bad)
}

/// Table 1 and ours on one thread: our plan by the default keys of the ring, which are the paper's,
/// and our best plan with any keys.
pub fn table_1(records: &[&Measured]) -> Table {
    let theirs = ["paper, before it", "paper, after it", "times"].map(|name| format!("{name} (Xeon E5-2698 v3)"));
    let ours = ["Windlass, default keys", "keys", "Windlass, best plan", "keys"].map(String::from);
    let fixed = ["m", "D"].map(String::from);
    let mut table = Table::new(fixed.into_iter().chain(theirs).chain(["keys of the paper".into()]).chain(ours));
    let of = |column: &'static str, m: u64, bad: bool| {
        let is_it =
            move |r: &&&Measured| (&*r.of.map, &*r.of.column, r.threads) == ("1d", column, 1) && is_of(r, m, bad);
        records.iter().copied().find(|r| is_it(&r))
    };
    for (m, bad, [before, after]) in TABLE_1 {
        let Some(best) = of("best", m, bad) else { continue };
        let theirs = [format!("{before:.2}"), format!("{after:.2}"), format!("{:.2}", before / after)];
        let cells = |one: Option<&Measured>| match one {
            Some(one) => [format!("{:.3}", one.median_s), one.of.keys.to_string()],
            None => [(); 2].map(|()| or_dash(None, 0)),
        };
        let keys = default_keys(best.of.size, bad).to_string();
        let ours = cells(of("default", m, bad)).into_iter().chain(cells(Some(best)));
        table.row(best.of.row().into_iter().chain(theirs).chain([keys]).chain(ours));
    }
    table
}

/// Table 2 or 3 as published, of the rings that were measured; of other maps there is none.
pub fn strategies(map: &str, records: &[&Measured]) -> Table {
    match map {
        "1d" => table(COLUMNS_2, &TABLE_2, records),
        "block" => table(COLUMNS_3, &TABLE_3, records),
        _ => Table::new(["m"]),
    }
}

fn table<const COLUMNS: usize>(names: [&str; COLUMNS], rows: &[Row<COLUMNS>], records: &[&Measured]) -> Table {
    let mut table = Table::new(["m", "D"].into_iter().chain(names));
    for &(m, bad, figures) in rows {
        let Some(ours) = records.iter().find(|r| is_of(r, m, bad)) else { continue };
        table.row(ours.of.row().into_iter().chain(figures.map(|seconds| format!("{seconds:.2}"))));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of the record of a run in the paper's columns: baby and giant steps above a size of 50,
    /// all keys below.
    #[test]
    fn default_keys_are_those_of_the_papers_columns() {
        let text = include_str!("../../../windlass-bench/record/amd-epyc-zen5/linear-2026-11-25.jsonl");
        let records: Vec<Measured> = crate::record::parse(text).collect::<Result<_, _>>().unwrap();
        for (m, bad, _) in TABLE_1 {
            let column = if m == 24295 { "F/FH" } else { "B/BH" };
            let one = records.iter().find(|r| r.of.map == "1d" && r.of.column == column && is_of(r, m, bad)).unwrap();
            assert_eq!(default_keys(one.of.size, bad), one.of.keys, "{m}, {bad}");
        }
    }

    /// Columns of one figure in two tables.
    #[test]
    fn the_tables_agree_with_each_other() {
        for ((one, two), four) in TABLE_1.iter().zip(&TABLE_2).zip(&TABLE_4) {
            assert_eq!((one.0, one.1), (two.0, two.1));
            assert_eq!((one.0, one.1), (four.0, four.1));
            // By its default keys the largest dimension takes baby steps, the smallest all keys; of
            // good dimensions the algorithm before the paper is B/FN, or F/FN for the smallest.
            let [.., b_bh, _, _, b_fn, f_fh, f_fn] = two.2;
            let [before, after] = if one.0 == 24295 { [f_fn, f_fh] } else { [b_fn, b_bh] };
            assert_eq!(one.2[1], after, "{}", one.0);
            assert!(one.1 || one.2[0] == before, "{}", one.0);
            assert!((four.2[0] / after - 1.0).abs() < 0.09);
        }
    }
}

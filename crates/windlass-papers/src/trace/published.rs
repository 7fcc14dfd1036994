//! Tables 2 and 3 of Inoue, Suzuki and Yamana 2022, for M = 7: how many times as fast their sums are
//! with AVX-512 as without, on an Intel Xeon Gold 6334.

use super::results::{GRID, grid};
use crate::page::Table;

/// One row for each h from 1, one column for each place of [`GRID`].
type Figures = [[f64; GRID.len()]; 7];

/// One thread.
const TABLE_2: Figures = [
    [1.75, 2.04, 2.30, 1.51, 1.53, 1.69, 1.52, 1.46, 1.44],
    [1.44, 1.60, 1.79, 1.29, 1.29, 1.42, 1.29, 1.29, 1.27],
    [1.28, 1.39, 1.50, 1.19, 1.18, 1.25, 1.20, 1.18, 1.17],
    [1.17, 1.28, 1.33, 1.14, 1.11, 1.17, 1.14, 1.12, 1.11],
    [1.17, 1.19, 1.26, 1.11, 1.09, 1.13, 1.10, 1.10, 1.09],
    [1.10, 1.16, 1.18, 1.09, 1.06, 1.10, 1.09, 1.07, 1.07],
    [1.09, 1.13, 1.16, 1.06, 1.05, 1.08, 1.06, 1.06, 1.05],
];

/// Eight threads.
const TABLE_3: Figures = [
    [1.37, 1.51, 1.58, 1.25, 1.27, 1.32, 1.20, 1.21, 1.21],
    [1.21, 1.38, 1.33, 1.14, 1.17, 1.18, 1.17, 1.17, 1.14],
    [1.17, 1.27, 1.30, 1.16, 1.14, 1.16, 1.16, 1.15, 1.11],
    [1.15, 1.30, 1.30, 1.17, 1.15, 1.18, 1.17, 1.16, 1.11],
    [1.17, 1.29, 1.31, 1.17, 1.14, 1.17, 1.16, 1.16, 1.11],
    [1.14, 1.29, 1.33, 1.15, 1.14, 1.20, 1.17, 1.15, 1.11],
    [1.11, 1.29, 1.31, 1.16, 1.14, 1.18, 1.17, 1.17, 1.11],
];

/// Table 2.
pub fn one_thread() -> Table {
    table(&TABLE_2)
}

/// Table 3.
pub fn eight_threads() -> Table {
    table(&TABLE_3)
}

fn table(figures: &Figures) -> Table {
    let mut table = Table::new(std::iter::once("the paper, AVX-512, h \\ k/l".to_owned()).chain(grid()));
    for (h, row) in (1..).zip(figures) {
        table.row(std::iter::once(format!("{h}")).chain(row.map(|ratio| format!("{ratio:.2}"))));
    }
    table
}

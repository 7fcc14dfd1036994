//! Where the entries of a folded matrix lie.
//!
//! Slots on one line of the hypercube are numbered by their coordinate a, 0 ≤ a < D. Let the rows
//! of a matrix have coordinates below ρ and its columns below γ. A fold has a distance w ≥ ρ and a
//! number B of blocks with B·w ≥ ρ + γ − 1: the entry of row i and column k is put at the
//! coordinate
//!
//! ```text
//! a_i + b·w,   b = ⌊(a_k − a_i + ρ − 1) / w⌋,
//! ```
//!
//! where it meets the column's slot rotated by `a_k − a_i − b·w`, which lies in −(ρ−1) ..= w−ρ. So w
//! rotations serve all entries, instead of the ρ + γ − 1 of the diagonals. The offset ρ − 1 keeps
//! b at 0 or above, so that no entry is put before its row. Afterwards row i is the sum of the
//! slots a_i, a_i + w, .., a_i + (B−1)·w. None of them is beyond the end of the line as long as
//! `(B−1)·w + ρ ≤ D`; so nothing wraps around, and a bad dimension is as good as any.
//!
//! This is the hybrid of Juvekar, Vaikuntanathan, Chandrakasan, "Gazelle" (2018), §4.2, over the
//! diagonals of Halevi–Shoup 2014.
//!
//! A matrix with many rows and few columns is the transpose of such a matrix, and so is its fold:
//! B copies of the vector are laid at the coordinates a_k + b·w first, by a sum of shifts, and the
//! entry of row i and column k meets copy `b = ⌊(a_i − a_k + γ − 1) / w⌋`. No block is added
//! afterwards. The copies are right only if every slot beyond the vector holds zero.

/// A direction in which slots lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// The number of the hypercube's dimension; 0 for complex slots.
    pub dimension: usize,
    /// D.
    pub size: usize,
    /// The distance of neighbours, in slots.
    pub stride: usize,
}

impl Line {
    fn coordinate(&self, slot: usize) -> usize {
        slot / self.stride % self.size
    }

    /// One more than the largest coordinate of the first `count` slots.
    fn extent(&self, count: usize) -> usize {
        count.div_ceil(self.stride).min(self.size)
    }
}

/// Which side of a matrix a fold multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Each row becomes B rows, which are added afterwards.
    Rows,
    /// Each column becomes B columns, which meet copies of the vector.
    Columns,
}

/// A way to fold a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fold {
    pub line: Line,
    pub side: Side,
    /// The extent of the side that is multiplied: ρ of rows, γ of columns.
    extent: usize,
    /// w, in coordinates.
    pub distance: usize,
    /// B.
    pub blocks: usize,
}

impl Fold {
    /// The folds of a matrix along a line, for the numbers of blocks that sums are cheap for, those
    /// with more blocks first; the matrix has its rows in the first `height` slots, its columns in
    /// the first `width`.
    pub fn candidates(line: Line, side: Side, height: usize, width: usize) -> Vec<Self> {
        let (rows, columns) = (line.extent(height), line.extent(width));
        let extent = match side {
            Side::Rows => rows,
            Side::Columns => columns,
        };
        let mut folds: Vec<Self> = Vec::new();
        for blocks in smooth_numbers(2 * line.size) {
            let distance = (rows + columns - 1).div_ceil(blocks).max(extent);
            let fits = (blocks - 1) * distance + extent <= line.size;
            // Fewer blocks would do as well.
            let needless = folds.last().is_some_and(|fold| fold.distance == distance);
            if blocks > 1 && fits && !needless {
                folds.push(Self { line, side, extent, distance, blocks });
            }
        }
        folds.reverse();
        folds
    }

    /// (slot of the result, slot of the vector) of an entry of the folded matrix.
    pub fn place(&self, row: usize, column: usize) -> (usize, usize) {
        match self.side {
            Side::Rows => (self.moved(row, column), column),
            Side::Columns => (row, self.moved(column, row)),
        }
    }

    /// The slot in the same block as `other`, among those at distances of w from `slot`.
    fn moved(&self, slot: usize, other: usize) -> usize {
        let [from, to] = [slot, other].map(|slot| self.line.coordinate(slot));
        let block = (to + self.extent - 1 - from) / self.distance;
        slot + block * self.distance * self.line.stride
    }
}

/// The numbers 2^a·3^b up to a limit, ascending: sums of so many terms take few steps.
fn smooth_numbers(limit: usize) -> Vec<usize> {
    let doubled = |start: usize| std::iter::successors(Some(start), |&x| Some(2 * x)).take_while(move |&x| x <= limit);
    let threes = std::iter::successors(Some(1), |&x| Some(3 * x)).take_while(|&x| x <= limit);
    let mut numbers: Vec<usize> = threes.flat_map(doubled).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn entries_lie_in_their_row_and_meet_few_distances() {
        let line = Line { dimension: 0, size: 64, stride: 2 };
        for (height, width) in [(1, 1), (1, 100), (3, 100), (10, 47), (16, 64), (60, 60), (7, 128)] {
            for fold in Fold::candidates(line, Side::Rows, height, width) {
                let mut distances = BTreeSet::new();
                let mut taken = BTreeSet::new();
                for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
                    let (place, from) = fold.place(row, column);
                    assert_eq!(from, column);
                    let blocks = (place - row) / (fold.distance * line.stride);
                    assert_eq!(place, row + blocks * fold.distance * line.stride);
                    assert!(blocks < fold.blocks && place < 128, "{fold:?}");
                    distances.insert(line.coordinate(column) as i64 - line.coordinate(place) as i64);
                    // Another entry at this slot would be one of this row.
                    taken.insert((place, row));
                }
                assert!(distances.len() <= fold.distance, "{fold:?}: {distances:?}");
                let slots: BTreeSet<usize> = taken.iter().map(|(place, _)| *place).collect();
                assert_eq!(slots.len(), taken.len(), "{fold:?}");
            }
        }
    }

    #[test]
    fn a_fold_of_columns_is_that_of_the_transposed_matrix() {
        let line = Line { dimension: 0, size: 64, stride: 2 };
        for (height, width) in [(100, 1), (100, 3), (47, 10), (128, 7)] {
            let folds = Fold::candidates(line, Side::Columns, height, width);
            let transposed = Fold::candidates(line, Side::Rows, width, height);
            assert_eq!(folds.len(), transposed.len());
            for (fold, other) in folds.iter().zip(transposed) {
                for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
                    let (from, to) = other.place(column, row);
                    assert_eq!(fold.place(row, column), (to, from));
                }
            }
        }
    }

    #[test]
    fn long_lines_have_folds_and_full_ones_none() {
        let line = Line { dimension: 0, size: 1024, stride: 1 };
        let folds = Fold::candidates(line, Side::Rows, 10, 784);
        let blocks: Vec<usize> = folds.iter().map(|fold| fold.blocks).collect();
        assert!(blocks.contains(&64) && blocks.contains(&2) && blocks.iter().all(|&b| b > 1));
        assert_eq!(Fold::candidates(line, Side::Rows, 1024, 1024), []);
        assert_eq!(Fold::candidates(Line { dimension: 0, size: 1, stride: 1 }, Side::Rows, 1, 1), []);
        assert_eq!(smooth_numbers(20), [1, 2, 3, 4, 6, 8, 9, 12, 16, 18]);
    }
}

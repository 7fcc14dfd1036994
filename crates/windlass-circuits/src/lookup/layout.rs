//! Places the cells of a table in the slots.
//!
//! A table of R rows and W words is the matrix M with column j = row j. The client sends the unit
//! vector of its row; the server multiplies by M. Laid out naively, M has about R + W non-zero
//! diagonals along a hypercube dimension of size D. But the client can send copies of its unit
//! vector, and can add slots after decryption. So each *copy* of the vector occupies a segment of
//! `ρ + τ − 1` positions of a line (a hypercolumn) and is multiplied by `τ` diagonals:
//!
//! ```text
//! out[s] = Σ_{0 ≤ t < τ} κ_t[s] · v[s − t],    κ_t[s] = M[τ·u + (s mod τ)][ρ·b + s − t]
//! ```
//!
//! for positions s of the segment that serves row block b (rows ρ·b to ρ·b + ρ − 1) and word block
//! u (words τ·u to τ·u + τ − 1). Every cell of M appears exactly once. Word τ·u + w of the answer
//! is the sum of the slots s ≡ w (mod τ) of the segments of word block u. The product then takes τ
//! ≈ R·W/slots diagonals instead of R + W, and needs keys only for those.

/// Slots arranged in lines: the hypercolumns of one hypercube dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    lines: Vec<Vec<usize>>,
}

impl Lines {
    /// Lines of equal length. `lines[h][c]` is the slot at position c of line h. The lines cover
    /// every slot exactly once.
    ///
    /// # Panics
    /// If the lines differ in length.
    pub fn new(lines: Vec<Vec<usize>>) -> Self {
        assert!(lines.windows(2).all(|pair| pair[0].len() == pair[1].len()), "lines of equal length");
        Self { lines }
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.lines.len() * self.size()
    }

    /// The length D of a line.
    pub fn size(&self) -> usize {
        self.lines.first().map_or(0, Vec::len)
    }
}

/// The places of a table of `rows` by `words` in the slots; see the formula in the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    lines: Lines,
    rows: usize,
    words: usize,
    row_blocks: usize,
    block_rows: usize,
    diagonals: usize,
}

/// A copy of the selection vector: the segment of positions `start..` of a line, and the blocks it
/// serves.
#[derive(Clone, Copy)]
struct Copy {
    line: usize,
    start: usize,
    row_block: usize,
    word_block: usize,
}

impl Layout {
    /// The layout with the fewest diagonals. `None` if the table does not fit, or has no rows or no
    /// words.
    ///
    /// Cost: O(D·W) trials at most.
    pub fn new(lines: Lines, rows: usize, words: usize) -> Option<Self> {
        if rows == 0 || words == 0 {
            return None;
        }
        let size = lines.size();
        let mut best: Option<Self> = None;
        for row_blocks in 1..=rows.min(lines.slots()) {
            let block_rows = rows.div_ceil(row_blocks);
            // More diagonals than fit beside the rows of a block are useless.
            let limit =
                best.as_ref().map_or(words, |found| found.diagonals - 1).min((size + 1).saturating_sub(block_rows));
            let fits = |&diagonals: &usize| {
                let segments = lines.lines.len() * (size / (block_rows + diagonals - 1));
                // The number of words comes from an untrusted peer and may be any value.
                row_blocks.checked_mul(words.div_ceil(diagonals)).is_some_and(|copies| copies <= segments)
            };
            if let Some(diagonals) = (1..=limit).find(fits) {
                best = Some(Self { lines: lines.clone(), rows, words, row_blocks, block_rows, diagonals });
            }
        }
        best
    }

    /// Number of rows R.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Words in a row, W.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Number τ of diagonals: the steps t = 0, .., τ − 1.
    pub fn diagonals(&self) -> usize {
        self.diagonals
    }

    /// Number of copies of the selection vector.
    pub fn copies(&self) -> usize {
        self.row_blocks * self.words.div_ceil(self.diagonals)
    }

    /// The selection vector of a row, by slot: 1 where a copy selects it, else 0.
    ///
    /// # Panics
    /// If `row` is not below [`Self::rows`].
    pub fn selection(&self, row: usize) -> Vec<u64> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let mut slots = vec![0; self.lines.slots()];
        for copy in self.segments().filter(|copy| copy.row_block == row / self.block_rows) {
            slots[self.slot(copy, row % self.block_rows)] = 1;
        }
        slots
    }

    /// The row that a slot of a selection vector selects, if any.
    pub fn selects(&self) -> Vec<Option<usize>> {
        let mut slots = vec![None; self.lines.slots()];
        for copy in self.segments() {
            for column in 0..self.block_rows {
                let row = copy.row_block * self.block_rows + column;
                slots[self.slot(copy, column)] = (row < self.rows).then_some(row);
            }
        }
        slots
    }

    /// Diagonal κ_t by slot, for the table `cell(row, word)`.
    pub fn diagonal(&self, t: usize, cell: impl Fn(usize, usize) -> u64) -> Vec<u64> {
        let mut slots = vec![0; self.lines.slots()];
        for copy in self.segments() {
            for column in 0..self.block_rows {
                let (row, position) = (copy.row_block * self.block_rows + column, column + t);
                let word = copy.word_block * self.diagonals + position % self.diagonals;
                if row < self.rows && word < self.words {
                    slots[self.slot(copy, position)] = cell(row, word);
                }
            }
        }
        slots
    }

    /// The words of the selected row from the slots of the answer, modulo `modulus`.
    ///
    /// # Panics
    /// If there is not one value for each slot.
    pub fn fold(&self, slots: &[u64], modulus: u64) -> Vec<u64> {
        assert_eq!(slots.len(), self.lines.slots(), "one value for each slot");
        let mut words = vec![0u64; self.words];
        for copy in self.segments() {
            for position in 0..self.segment_len() {
                let word = copy.word_block * self.diagonals + position % self.diagonals;
                if word < self.words {
                    words[word] = (words[word] + slots[self.slot(copy, position)] % modulus) % modulus;
                }
            }
        }
        words
    }

    fn segment_len(&self) -> usize {
        self.block_rows + self.diagonals - 1
    }

    fn segments(&self) -> impl Iterator<Item = Copy> + '_ {
        let per_line = self.lines.size() / self.segment_len();
        (0..self.copies()).map(move |index| Copy {
            line: index / per_line,
            start: index % per_line * self.segment_len(),
            row_block: index % self.row_blocks,
            word_block: index / self.row_blocks,
        })
    }

    fn slot(&self, copy: Copy, position: usize) -> usize {
        self.lines.lines[copy.line][copy.start + position]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line h takes the slots h, h + H, ..: neither order is contiguous.
    fn lines(count: usize, size: usize) -> Lines {
        Lines::new((0..count).map(|h| (0..size).map(|c| c * count + h).collect()).collect())
    }

    fn cell(row: usize, word: usize) -> u64 {
        ((row * 7919 + word * 104_729 + 13) % 65_537) as u64
    }

    /// Multiplies by the diagonals with a cyclic rotation of each line: the server's computation in
    /// the clear.
    fn multiply(layout: &Layout, selection: &[u64]) -> Vec<u64> {
        let mut out = vec![0; selection.len()];
        let size = layout.lines.size();
        for t in 0..layout.diagonals() {
            let diagonal = layout.diagonal(t, cell);
            for line in &layout.lines.lines {
                for c in 0..size {
                    let product = diagonal[line[c]] * selection[line[(c + size - t % size) % size]];
                    out[line[c]] = (out[line[c]] + product) % 65_537;
                }
            }
        }
        out
    }

    #[test]
    fn every_row_comes_back() {
        for (count, size, rows, words) in
            [(2, 64, 11, 5), (2, 64, 1, 1), (1, 64, 30, 20), (4, 16, 40, 6), (2, 8, 5, 2), (6, 7, 9, 4), (1, 1, 1, 1)]
        {
            let layout = Layout::new(lines(count, size), rows, words).expect("fits");
            for row in 0..rows {
                let answer = multiply(&layout, &layout.selection(row));
                let expected: Vec<u64> = (0..words).map(|word| cell(row, word)).collect();
                assert_eq!(layout.fold(&answer, 65_537), expected, "row {row} of {rows}x{words} in {count}x{size}");
            }
        }
    }

    #[test]
    fn no_product_wraps_around_a_line() {
        let layout = Layout::new(lines(2, 64), 20, 9).expect("fits");
        for t in 0..layout.diagonals() {
            let diagonal = layout.diagonal(t, |_, _| 1);
            for line in &layout.lines.lines {
                assert!(line[..t].iter().all(|&slot| diagonal[slot] == 0), "diagonal {t} needs the end of a line");
            }
        }
    }

    #[test]
    fn the_zone_table_takes_four_diagonals() {
        let layout = Layout::new(lines(2, 4096), 418, 60).expect("fits");
        assert_eq!(layout.diagonals(), 4);
        assert_eq!(layout.copies(), 15);
        assert_eq!(layout.selection(417).iter().sum::<u64>(), 15);
    }

    #[test]
    fn more_rows_than_a_line_take_several_blocks() {
        let layout = Layout::new(lines(8, 16), 50, 2).expect("fits");
        assert!(layout.row_blocks > 1);
        assert!(Layout::new(lines(2, 16), 40, 9).is_none(), "more cells than places");
        // Products of blocks that exceed a word.
        assert!((1..20).all(|rows| (0..40).all(|k| Layout::new(lines(2, 16), rows, usize::MAX >> k).is_none())));
        assert!(Layout::new(lines(2, 16), 0, 9).is_none() && Layout::new(lines(2, 16), 9, 0).is_none());
    }
}

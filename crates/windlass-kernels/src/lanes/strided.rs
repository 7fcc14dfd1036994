//! Eight words at each of a few places of a slice, whose bounds are checked once for all of them:
//! a check for each is a fifth of the instructions of a small transform.

use super::contract::LANES;

/// Eight residues, one of each column, in the internal form of a backend.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Block(pub [u64; LANES]);

impl Block {
    /// The words of all blocks.
    #[inline(always)]
    pub fn words(blocks: &mut [Block]) -> &mut [u64] {
        // SAFETY: a block is LANES words and nothing else, so this is the same memory, borrowed for
        // as long.
        unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * LANES) }
    }
}

const _: () = assert!(size_of::<Block>() == LANES * size_of::<u64>());

/// R places of eight words each, at equal distances.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strided<const R: usize> {
    first: usize,
    stride: usize,
    /// One past the last word of the last place.
    end: usize,
}

impl<const R: usize> Strided<R> {
    /// From the first one on, `stride` words apart.
    #[inline(always)]
    pub fn new(first: usize, stride: usize) -> Self {
        let last = stride.checked_mul(R - 1).and_then(|last| last.checked_add(first));
        let end = last.and_then(|last| last.checked_add(LANES)).expect("places in memory");
        Self { first, stride, end }
    }

    /// First word of place j < R: at most `end - LANES`.
    #[inline(always)]
    fn offset(&self, j: usize) -> usize {
        assert!(j < R);
        self.first + j * self.stride
    }
}

/// The words at such places of a slice, `shift` words further on.
pub(crate) struct Points<'a, const R: usize> {
    words: &'a mut [u64],
    places: &'a Strided<R>,
    shift: usize,
}

impl<'a, const R: usize> Points<'a, R> {
    /// Checks that all places are in the slice.
    #[inline(always)]
    pub fn new(words: &'a mut [u64], places: &'a Strided<R>, shift: usize) -> Self {
        let end = places.end;
        assert!(end <= words.len() && shift <= words.len() - end, "places in memory");
        Self { words, places, shift }
    }

    /// The words at place j.
    #[inline(always)]
    pub fn at(&self, j: usize) -> &[u64; LANES] {
        // SAFETY: an offset is at most `end - LANES`, and `new` has checked that `end + shift` is
        // at most the length of the slice.
        unsafe { &*self.words.as_ptr().add(self.places.offset(j) + self.shift).cast() }
    }

    /// The words at place j, to be written.
    #[inline(always)]
    pub fn at_mut(&mut self, j: usize) -> &mut [u64; LANES] {
        // SAFETY: as in `at`; the slice is borrowed mutably.
        unsafe { &mut *self.words.as_mut_ptr().add(self.places.offset(j) + self.shift).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_they_are_said_to_be() {
        let mut blocks = [Block([0; LANES]); 4];
        for (i, word) in Block::words(&mut blocks).iter_mut().enumerate() {
            *word = i as u64;
        }
        let strided = Strided::<2>::new(3, 10);
        let mut points = Points::new(Block::words(&mut blocks), &strided, 8);
        assert_eq!((points.at(0)[0], points.at(1)[7]), (11, 28));
        points.at_mut(1)[0] = 100;
        assert_eq!(blocks[2].0[5], 100);
    }

    #[test]
    fn places_outside_are_refused() {
        let refused = |places: Strided<2>, shift: usize| {
            let mut words = [0; 24];
            std::panic::catch_unwind(move || Points::new(&mut words, &places, shift).at(1)[0]).is_err()
        };
        assert!(!refused(Strided::new(0, 8), 8));
        assert!(refused(Strided::new(0, 8), 9));
        assert!(refused(Strided::new(0, 17), 0));
        assert!(refused(Strided::new(0, 8), usize::MAX));
    }
}

//! Where a support set lies on the axes of the group of automorphisms.

use std::collections::BTreeSet;

use super::strategy::Support;

/// Where a support set lies on each axis.
pub(super) struct Spread {
    /// Whether the set has more than one exponent on the axis.
    pub used: Vec<bool>,
    /// How many exponents it has there.
    count: Vec<usize>,
    /// The exponent after the longest cyclic gap: where an interval that wraps around begins.
    pub origin: Vec<usize>,
}

impl Spread {
    pub fn of(support: &Support<'_>) -> Self {
        let mut present: Vec<Vec<bool>> = support.axes.list().iter().map(|axis| vec![false; axis.size]).collect();
        for &t in support.elements {
            support.axes.exponents(t).iter().enumerate().for_each(|(s, &e)| present[s][e] = true);
        }
        let count: Vec<usize> = present.iter().map(|axis| axis.iter().filter(|&&p| p).count()).collect();
        let used = count.iter().map(|&count| count > 1).collect();
        let origin = present.iter().map(|axis| after_longest_gap(axis)).collect();
        Self { used, count, origin }
    }

    /// The axes worth splitting: all that the set spreads over, or only the one it fills most; the
    /// first if it is a point.
    pub fn split_axes(&self, narrow: bool) -> Vec<usize> {
        let most = self.count.iter().copied().max().unwrap_or(0);
        if narrow || most < 2 {
            return vec![self.count.iter().position(|&count| count == most).unwrap_or(0)];
        }
        (0..self.used.len()).filter(|&s| self.used[s]).collect()
    }

    /// The number of different parts off one axis.
    pub fn cofactors(&self, support: &Support<'_>, split: usize) -> usize {
        let axes = support.axes;
        let strip = |&t: &u64| {
            let power = axes.power(split, axes.exponents(t)[split]);
            axes.product(t, axes.inverse(power))
        };
        support.elements.iter().map(strip).collect::<BTreeSet<u64>>().len()
    }
}

/// The index after the longest cyclic run of absent entries; 0 for a full or empty axis.
fn after_longest_gap(present: &[bool]) -> usize {
    let size = present.len();
    let (mut best, mut run, mut origin) = (0, 0, 0);
    for i in 0..2 * size {
        if present[i % size] {
            if run > best && run < size {
                (best, origin) = (run, i % size);
            }
            run = 0;
        } else {
            run += 1;
        }
    }
    origin
}

#[cfg(test)]
mod tests {
    use super::after_longest_gap;

    #[test]
    fn gaps() {
        assert_eq!(after_longest_gap(&[true, true, false, false, true]), 4);
        assert_eq!(after_longest_gap(&[true; 4]), 0);
        assert_eq!(after_longest_gap(&[false; 4]), 0);
    }
}

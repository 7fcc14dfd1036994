//! Permutations that go axis by axis.

/// Where the entries of a tensor go, given for each axis, outermost first, where its coordinates
/// go (times their distance): the beginnings of lines along the innermost axis, and the places in a
/// line.
pub(crate) fn lines(mut axes: Vec<Vec<usize>>) -> (Vec<usize>, Vec<usize>) {
    let innermost = axes.pop().unwrap_or_else(|| vec![0]);
    let mut beginnings = vec![0];
    for axis in axes {
        beginnings = beginnings.into_iter().flat_map(|base| axis.iter().map(move |place| base + place)).collect();
    }
    (beginnings, innermost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_three_axes_and_of_none() {
        assert_eq!(lines(Vec::new()), (vec![0], vec![0]));
        let (beginnings, innermost) = lines(vec![vec![12, 0], vec![4, 0, 8], vec![3, 1, 2, 0]]);
        assert_eq!((beginnings, innermost), (vec![16, 12, 20, 4, 0, 8], vec![3, 1, 2, 0]));
    }
}

//! The name that a mistyped one may stand for.

/// The candidate that differs from `value` in fewest letters, if those are at most a third.
pub fn nearest<'a>(value: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = value.chars().count();
    let most = length.max(3) / 3;
    // The distance is at least the difference of the lengths: a value of a megabyte is compared
    // with no short candidate.
    let similar = candidates.filter(|candidate| candidate.chars().count().abs_diff(length) <= most);
    let (distance, candidate) = similar.map(|candidate| (edit_distance(candidate, value), candidate)).min()?;
    (distance <= most).then_some(candidate)
}

/// Insertions, deletions and substitutions (Levenshtein), letter case ignored.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_names_get_a_suggestion() {
        let zones = || ["Europe/Lisbon", "Asia/Tokyo"].into_iter();
        assert_eq!(nearest("europe/lisbonne", zones()), Some("Europe/Lisbon"));
        assert_eq!(nearest("Mars", zones()), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), zones()), None);
    }
}

//! Numbers in messages.

/// A number with at most six significant digits, without trailing zeros.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{x:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let behind = (5 - size.log10().floor() as i32).max(0) as usize;
    trimmed(&format!("{x:.behind$}")).to_owned()
}

/// The number without zeros at its end.
fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.5, "-0.5"),
            (634.25, "634.25"),
            (100.0, "100"),
            (3f64.log2().exp2(), "3"),
            (1.0 / 3.0, "0.333333"),
            (1e300, "1e300"),
            (1.5e-7, "1.5e-7"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(short(x), text);
        }
    }
}

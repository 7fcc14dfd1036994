//! Balanced digits to an odd base, for a key to the ephemeral secret without special primes.
//!
//! A key switch multiplies the errors of the key by the parts of what it decomposes. Either a division by
//! special primes makes that product small afterwards, or small digits keep it small from the start.
//! Digits take a longer key, whose modulus is Q instead of Q·P, so that a sparse secret of the same
//! weight has more security (`docs/design/0021-an-ephemeral-key-without-special-primes.md`).

/// Signed digits of an odd base 2b + 1, each of −b, .., b: `x = Σ_k x_k·(2b + 1)^k`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Digits {
    /// b; 0 for x itself as the only digit.
    pub most: i64,
    pub count: usize,
}

impl Digits {
    pub const WHOLE: Self = Self { most: 0, count: 1 };

    /// As many as hold every integer of absolute value below Q/2, for a Q of so many bits.
    pub fn of(most: i64, log2_q: f64) -> Self {
        // A hundredth more than needed costs nothing, and covers what logarithms round.
        let count = ((log2_q + 0.01) / ((2 * most + 1) as f64).log2()).ceil();
        Self { most, count: count as usize }
    }

    /// 2b + 1.
    pub fn base(self) -> i64 {
        2 * self.most + 1
    }

    /// The digits of x, all of the first place, then all of the next.
    pub fn cut(self, x: &[i128]) -> Vec<Vec<i64>> {
        let base = i128::from(self.base());
        let (mut rest, mut digits) = (x.to_vec(), Vec::with_capacity(self.count));
        for _ in 0..self.count {
            let next = |x: &mut i128| {
                let digit = (*x + i128::from(self.most)).rem_euclid(base) - i128::from(self.most);
                *x = (*x - digit) / base;
                digit as i64
            };
            digits.push(rest.iter_mut().map(next).collect());
        }
        debug_assert!(rest.iter().all(|&x| x == 0), "digits hold all integers below Q/2");
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_and_stay_within_their_bound() {
        // A modulus a little above 3^10: ten digits to base 3 do not hold the largest integers.
        let above = 10.0 * 3f64.log2() + 0.005;
        for (most, log2_q) in [(1, above), (1, 50.0), (5, 46.0), (12, 60.0), (600, 60.0), (1 << 20, 100.0)] {
            let digits = Digits::of(most, log2_q);
            let half = (log2_q - 1.0).exp2() as i128;
            let values: Vec<i128> =
                [0, 1, -1, half - 1, 1 - half].into_iter().chain((0..99).map(|k| half / 100 * k - half / 3)).collect();
            let cut = digits.cut(&values);
            assert_eq!(cut.len(), digits.count);
            for (place, &x) in values.iter().enumerate() {
                let sum = cut
                    .iter()
                    .rev()
                    .fold(0i128, |sum, digit| sum * i128::from(digits.base()) + i128::from(digit[place]));
                assert_eq!(sum, x, "base {}", digits.base());
                assert!(cut.iter().all(|digit| digit[place].abs() <= most));
            }
        }
    }
}

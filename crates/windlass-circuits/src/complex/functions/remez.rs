//! The best odd polynomial near 1 on [a, 1], by the algorithm of Remez.
//!
//! An odd polynomial of degree 2k − 1 that is as close as possible to 1 on [a, 1] is as close as
//! possible to the sign on [−1, −a] and [a, 1] (Lee, Lee and No, eprint 2020/834). T_1, T_3, .., T_{2k−1}
//! are a Chebyshev system on [a, 1], so the best one has an error that takes its largest absolute
//! value at k + 1 points with alternating signs, and is the only one that does:
//!
//! ```text
//! r_0 < .. < r_k in [a, 1]
//! repeat
//!     solve Σ_j c_j·T_{2j+1}(r_i) + (−1)^i·E = 1 for c and E
//!     r ← the extreme points of 1 − Σ_j c_j·T_{2j+1} on [a, 1], one for each change of sign
//! until the largest error there is |E|
//! ```

use std::f64::consts::PI;

/// An odd polynomial `Σ c_j·T_{2j+1}`, and its largest distance from 1 on [a, 1].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Odd {
    pub coefficients: Vec<f64>,
    pub distance: f64,
}

/// Rounds of the algorithm; it converges in less than 20.
const ROUNDS: usize = 50;

/// Points on [a, 1] for each unknown.
const DENSITY: usize = 48;

impl Odd {
    /// The best one of degree 2k − 1; `None` if double precision does not suffice, or for a outside
    /// of (0, 1).
    pub fn best(a: f64, k: usize) -> Option<Self> {
        if !(a > 0.0 && a < 1.0) || k == 0 {
            return None;
        }
        let grid = grid(a, DENSITY * k);
        // The extreme points of an odd Chebyshev polynomial, but for the gap: those of x² on [a², 1].
        let square = |j: usize| a * a + (1.0 - a * a) * 0.5 * (1.0 - (PI * j as f64 / k as f64).cos());
        let mut reference: Vec<f64> = (0..=k).map(|j| square(j).sqrt()).collect();
        for _ in 0..ROUNDS {
            let (coefficients, level) = solved(&reference, k)?;
            let errors: Vec<f64> = grid.iter().map(|&x| 1.0 - odd_value(&coefficients, x)).collect();
            let distance = errors.iter().map(|e| e.abs()).fold(0.0, f64::max);
            if distance <= level.abs() * (1.0 + 1e-6) + 1e-15 {
                let distance = refined(&coefficients, &grid, &errors);
                return Some(Self { coefficients, distance });
            }
            reference = extremes(&grid, &errors, k + 1)?;
        }
        None
    }

    /// All coefficients of `factor·Σ c_j·T_{2j+1}` in the Chebyshev basis, lowest first.
    pub fn in_chebyshev(&self, factor: f64) -> Vec<f64> {
        self.coefficients.iter().flat_map(|c| [0.0, c * factor]).collect()
    }
}

/// The largest error, the points between those of the grid included: around each point where it is
/// larger than at both neighbours, by bisection of its slope (golden sections).
fn refined(coefficients: &[f64], grid: &[f64], errors: &[f64]) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let error = |x: f64| (1.0 - odd_value(coefficients, x)).abs();
    let peak = |i: usize| {
        let (mut low, mut high) = (grid[i - 1], grid[i + 1]);
        for _ in 0..60 {
            let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            if error(left) > error(right) { high = right } else { low = left }
        }
        error(0.5 * (low + high))
    };
    let is_peak = |i: &usize| (i - 1..=i + 1).all(|j| errors[j].abs() <= errors[*i].abs());
    let inner = (1..grid.len() - 1).filter(is_peak).map(peak).fold(0.0, f64::max);
    errors.iter().map(|e| e.abs()).fold(inner, f64::max) + 1e-15
}

/// Chebyshev points of [a, 1], and as many in equal ratios where a is small.
fn grid(a: f64, count: usize) -> Vec<f64> {
    let part = |j: usize| j as f64 / count as f64;
    let even = (0..=count).map(|j| a + (1.0 - a) * 0.5 * (1.0 - (PI * part(j)).cos()));
    let mut all: Vec<f64> = even.chain((1..count).map(|j| a.powf(1.0 - part(j)))).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// `Σ c_j·T_{2j+1}(x)`, by T_{n+2} = 2·T_2·T_n − T_{n−2}.
pub(super) fn odd_value(coefficients: &[f64], x: f64) -> f64 {
    let double = 2.0 * (2.0 * x * x - 1.0);
    let (mut before, mut now, mut sum) = (x, x, 0.0);
    for c in coefficients {
        sum += c * now;
        (before, now) = (now, double * now - before);
    }
    sum
}

/// The coefficients and E for a reference: Gaussian elimination with the largest pivot.
fn solved(reference: &[f64], k: usize) -> Option<(Vec<f64>, f64)> {
    let row = |(i, &x): (usize, &f64)| {
        let mut unit = vec![0.0; k];
        let mut row: Vec<f64> = (0..k)
            .map(|j| {
                unit.fill(0.0);
                unit[j] = 1.0;
                odd_value(&unit[..=j], x)
            })
            .collect();
        row.extend([if i % 2 == 0 { 1.0 } else { -1.0 }, 1.0]);
        row
    };
    let mut rows: Vec<Vec<f64>> = reference.iter().enumerate().map(row).collect();
    let size = k + 1;
    for column in 0..size {
        let pivot = (column..size).max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs()))?;
        rows.swap(column, pivot);
        if rows[column][column] == 0.0 || !rows[column][column].is_finite() {
            return None;
        }
        let (done, open) = rows.split_at_mut(column + 1);
        for row in open {
            let factor = row[column] / done[column][column];
            row[column..].iter_mut().zip(&done[column][column..]).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut solution = vec![0.0; size];
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|j| rows[i][j] * solution[j]).sum();
        solution[i] = (rows[i][size] - known) / rows[i][i];
    }
    let level = solution.pop()?;
    Some((solution, level))
}

/// The points of the largest error in each stretch of one sign, `count` of them: the smallest at the
/// ends are left out.
fn extremes(grid: &[f64], errors: &[f64], count: usize) -> Option<Vec<f64>> {
    let mut found: Vec<usize> = Vec::new();
    for (i, error) in errors.iter().enumerate() {
        match found.last_mut() {
            Some(last) if (errors[*last] > 0.0) == (*error > 0.0) => {
                if error.abs() > errors[*last].abs() {
                    *last = i;
                }
            }
            _ => found.push(i),
        }
    }
    while found.len() > count {
        let ends = [found[0], found[found.len() - 1]].map(|i| errors[i].abs());
        found.remove(if ends[0] < ends[1] { 0 } else { found.len() - 1 });
    }
    (found.len() == count).then(|| found.iter().map(|&i| grid[i]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error alternates between its extremes at k + 1 points: no polynomial is closer (de la
    /// Vallée Poussin).
    #[test]
    fn errors_alternate() {
        for (a, k) in [(0.5, 2), (0.1, 4), (0.03, 8), (2f64.powi(-10), 8), (0.3, 16), (2f64.powi(-20), 4)] {
            let odd = Odd::best(a, k).unwrap();
            let points = 200_000;
            let errors: Vec<f64> = (0..=points)
                .map(|j| a.powf(1.0 - j as f64 / points as f64))
                .map(|x| 1.0 - odd_value(&odd.coefficients, x))
                .collect();
            let worst = errors.iter().map(|e| e.abs()).fold(0.0, f64::max);
            assert!(worst <= odd.distance, "[{a}, 1], {k}: {worst:e} off, {:e} stated", odd.distance);
            let large: Vec<bool> = errors.iter().filter(|e| e.abs() > odd.distance * 0.99).map(|e| *e > 0.0).collect();
            let changes = large.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert_eq!(changes, k, "[{a}, 1], {k} unknowns");
        }
    }

    #[test]
    fn the_smallest_case_is_known() {
        // c·x on [a, 1]: 1 − c·a = c − 1.
        let odd = Odd::best(0.5, 1).unwrap();
        assert!((odd.coefficients[0] - 4.0 / 3.0).abs() < 1e-12 && (odd.distance - 1.0 / 3.0).abs() < 1e-3);
        assert!([0.0, 1.0, -0.5, f64::NAN].iter().all(|&a| Odd::best(a, 3).is_none()));
    }
}

//! 1/x by one polynomial, or by a polynomial and iterations.
//!
//! The relative error of an approximation P of 1/x is 1 − x·P(x). The polynomial of degree d for which
//! it is smallest on [a, b] is known:
//!
//! ```text
//! 1 − x·P(x) = T_{d+1}(u)/T_{d+1}(u_0),   u = (2x − a − b)/(b − a), u_0 = −(a + b)/(b − a)
//! ```
//!
//! so its relative error is at most 1/|T_{d+1}(u_0)|. An iteration of Goldschmidt's squares the error
//! e = 1 − x·y with two products and one level: y ← y·(1 + e), e ← e². A precision is therefore reached
//! by one polynomial of a large degree, or by a small one and some iterations. The second way may take
//! one level more and fewer products. Both are planned, and the cheaper one is taken.

use windlass_schemes::error::Result;

use super::approximate::{MOST_DEGREE, Samples, largest_value, refused, target};
use super::catalogue::Function;
use super::plan::{Bounded, FunctionPlan, FunctionStep, Grid};
use crate::complex::{Polynomial, PowerBasis};

/// Iterations that are tried.
const MOST_ITERATIONS: usize = 8;

impl FunctionPlan {
    /// Plans both ways, and takes the one with the lower price: products times the square of their
    /// levels, which their rows and digits grow with. It may take one level more than the other.
    pub(super) fn inverse(interval: (f64, f64), bits: f64) -> Result<Self> {
        let target = target(bits)?;
        let name = Function::Inverse.name();
        let direct = Samples::of(name, &|x| 1.0 / x, interval)?.approximation(target);
        let refusal = direct.as_ref().err().cloned();
        let direct = direct.ok().map(|found| Self::polynomial(name, found));
        let degrees = (1..=9).map(|log| (1usize << log) - 1);
        let iterated = degrees.filter_map(|degree| Self::goldschmidt(interval, degree, target));
        let plans: Vec<Self> = direct.into_iter().chain(iterated).collect();
        let Some(least) = plans.iter().map(Self::depth).min() else {
            return Err(refusal.unwrap_or_else(|| refused(name, "no polynomial suffices".to_owned())));
        };
        let price = |plan: &Self| plan.products() * (plan.depth() + 4).pow(2);
        let allowed = plans.into_iter().filter(|plan| plan.depth() <= least + 1);
        Ok(allowed.min_by_key(price).expect("the plan of least depth is one"))
    }

    /// A polynomial of a degree, and as many iterations as the error takes.
    fn goldschmidt((low, high): (f64, f64), degree: usize, target: f64) -> Option<Self> {
        let (near, far) = if low > 0.0 { (low, high) } else { (-high, -low) };
        let ratio = (near + far) / (far - near);
        let start = 1.0 / ((degree + 1) as f64 * ratio.acosh()).cosh();
        let wanted = target * near;
        let iterations = (1..=MOST_ITERATIONS).find(|&k| start.powi(1 << k) <= wanted * 0.99)?;
        // |e| < 1/2, so that errors of ciphertexts shrink as e does.
        if degree > MOST_DEGREE || start > 0.5 {
            return None;
        }
        let p = residual_inverse((low, high), degree, ratio)?;
        let steps = iteration_steps(&p, start, near, iterations);
        // In double precision P is not exactly the polynomial above.
        let distance = start.powi(1 << iterations) / near + 1e-14 / near;
        let grid = Grid::chebyshev((low, high), (degree + 1) << iterations);
        Some(Self {
            name: Function::Inverse.name().to_owned(),
            interval: (low, high),
            steps,
            approximation: distance,
            gap: None,
            keeps_zero: false,
            grid,
        })
    }
}

/// P above, by its values at the Chebyshev points.
fn residual_inverse((low, high): (f64, f64), degree: usize, ratio: f64) -> Option<Polynomial> {
    // T_{d+1}(u)/T_{d+1}(u_0), by cosines inside of the interval and hyperbolic cosines outside.
    let order = (degree + 1) as f64;
    let (start, sign) = (1.0 / (order * ratio.acosh()).cosh(), if degree % 2 == 0 { -1.0 } else { 1.0 });
    let side = if low > 0.0 { sign } else { 1.0 };
    let residual = |x: f64| {
        let u = ((2.0 * x - low - high) / (high - low)).clamp(-1.0, 1.0);
        side * start * (order * u.acos()).cos()
    };
    Polynomial::interpolate(|x| (1.0 - residual(x)) / x, low, high, degree).ok()
}

/// y = P(x), e = 1 − x·y, then y ← y + y·e and e ← e². Bounds hold beside the entries, too. There P gives its value at
/// the middle of the interval, and x may still be anything between 0 and the far end: with zeros e is 1, and y is doubled.
fn iteration_steps(p: &Polynomial, start: f64, near: f64, iterations: usize) -> Vec<Bounded> {
    let PowerBasis::Chebyshev { low, high } = p.basis() else { unreachable!("made by interpolation") };
    let mut beside = p.value(0.5 * (low + high)).abs();
    let product_beside = beside * low.abs().max(high.abs());
    let mut e_beside = (product_beside - 1.0).max(1.0);
    let mut steps = vec![
        Bounded { step: FunctionStep::Polynomial { of: 0, p: p.clone() }, bound: largest_value(p) },
        Bounded { step: FunctionStep::Product(0, 1), bound: product_beside.max(1.0 + start) },
        Bounded { step: FunctionStep::Sum { terms: vec![(2, -1)], constant: 1.0 }, bound: e_beside },
    ];
    let (mut y, mut e, mut size) = (1, 3, start);
    for k in 0..iterations {
        let product = (size * (1.0 + size) / near).max(beside * e_beside);
        steps.push(Bounded { step: FunctionStep::Product(y, e), bound: product });
        beside *= 1.0 + e_beside;
        e_beside *= e_beside;
        let sum = FunctionStep::Sum { terms: vec![(y, 1), (steps.len(), 1)], constant: 0.0 };
        steps.push(Bounded { step: sum, bound: ((1.0 + size * size) / near).max(beside) });
        y = steps.len();
        if k + 1 < iterations {
            size *= size;
            steps.push(Bounded { step: FunctionStep::Product(e, e), bound: e_beside });
            e = steps.len();
        }
    }
    // The result is the last value.
    debug_assert_eq!(steps.len(), y);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_schemes::error::Error;

    #[test]
    fn inverses_are_as_near_as_stated() {
        for (low, high, bits) in [(0.5, 4.0, 20.0), (1.0 / 256.0, 1.0, 10.0), (-3.0, -0.01, 12.0), (1e-4, 1.0, 4.0)] {
            let plan = FunctionPlan::named(Function::Inverse, (low, high), bits).unwrap();
            assert!(plan.approximation_error() <= (-bits).exp2(), "{plan}");
            for j in 0..=50_000 {
                let x = low + (high - low) * f64::from(j) / 50_000.0;
                let off = (plan.value(x) - 1.0 / x).abs();
                assert!(off <= plan.approximation_error(), "1/{x} is off by {off:e}: {plan}");
            }
        }
    }

    /// A wide interval is reached by iterations alone, a narrow one by a polynomial.
    #[test]
    fn the_cheaper_way_is_taken() {
        let plan = |low: f64, bits| FunctionPlan::named(Function::Inverse, (low, 1.0), bits).unwrap();
        assert_eq!(plan(0.5, 10.0).degrees().len(), 1);
        assert!(plan(0.5, 10.0).depth() <= 5);
        let wide = plan(1.0 / 2048.0, 12.0);
        assert!(wide.steps.len() > 1 && wide.products() < 40, "{wide}");
        for (low, high) in [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0)] {
            let refused = FunctionPlan::named(Function::Inverse, (low, high), 10.0);
            assert!(matches!(refused, Err(Error::OutOfRange(_))), "{refused:?}");
        }
        assert!(matches!(FunctionPlan::named(Function::Inverse, (1e-9, 1.0), 10.0), Err(Error::Unplannable { .. })));
    }
}

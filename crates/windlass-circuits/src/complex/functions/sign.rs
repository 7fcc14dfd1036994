//! The sign, as a composition of odd polynomials.
//!
//! One polynomial near the sign outside of |x| < a has a degree of about log(1/δ)/a for the error δ.
//! A composition p_k(..p_2(p_1(x))) reaches the same with a depth of about log2(1/a) + log2 log(1/δ),
//! and far fewer products (Lee, Lee and No, eprint 2020/834). Every polynomial is the best odd one for
//! what its predecessor leaves:
//!
//! ```text
//! a_1 = gap/bound                        the argument, divided by the bound, is in [a_1, 1]
//! p_i near 1 on [a_i, 1] up to E_i       then p_i(x)/(1 + E_i) is in [a_{i+1}, 1],
//! a_{i+1} = (1 − E_i)/(1 + E_i)          until E_i ≤ 2^−bits
//! ```
//!
//! A larger a_{i+1} is better whatever follows. So the best chain of each depth ends with one of the
//! degrees, after the best chain of the depth that is left.

#[cfg(any(doc, test))]
use windlass_schemes::error::Error;
use windlass_schemes::error::Result;

use super::approximate::{refused, target};
use super::plan::{Bounded, FunctionPlan, FunctionStep, Grid, between};
use super::remez::{Odd, odd_value};
use crate::complex::Polynomial;
use windlass_rlwe::Limits;

/// The degrees that are tried: the largest of each depth, and a smaller one of depth 3 and 4.
const DEGREES: [usize; 6] = [3, 5, 7, 13, 15, 31];

/// More than any gap of a double takes.
const MOST_DEPTH: usize = 60;

/// Room for the errors of ciphertexts, so that the argument of the next polynomial stays in −1..1.
const ROOM: f64 = 1.0 / (1u64 << 16) as f64;

/// The smallest relative gap: below, double precision does not suffice.
const LEAST_GAP: f64 = 1.0 / (1u64 << 30) as f64;

/// Polynomials whose composition is near the sign on [a, 1].
#[derive(Debug, Clone)]
pub(super) struct Composition {
    /// The last is not normalised: near 1, not at most 1.
    parts: Vec<Odd>,
    /// The lower end that the polynomials so far leave.
    lower: f64,
    products: usize,
}

impl Composition {
    /// That of the least depth, and among these the one with the fewest products.
    pub fn least(a: f64, distance: f64) -> Option<Self> {
        let start = Self { parts: Vec::new(), lower: a, products: 0 };
        let mut best: Vec<Option<Self>> = vec![Some(start)];
        for depth in 1..=MOST_DEPTH {
            let mut found: Vec<Self> = DEGREES
                .iter()
                .filter_map(|&degree| Some((degree, best.get(depth.checked_sub(depth_of(degree))?)?.as_ref()?)))
                .filter_map(|(degree, before)| before.followed_by(degree))
                .collect();
            let enough = found.iter().filter(|own| own.distance() <= distance);
            if let Some(done) = enough.min_by_key(|own| own.products) {
                return Some(done.clone());
            }
            found.sort_by(|x, y| x.distance().total_cmp(&y.distance()));
            best.push(found.into_iter().next());
        }
        None
    }

    fn followed_by(&self, degree: usize) -> Option<Self> {
        let odd = Odd::best(self.lower, degree.div_ceil(2))?;
        let lower = (1.0 - odd.distance) / (1.0 + odd.distance) / (1.0 + ROOM);
        let products = self.products + products_of(degree);
        Some(Self { parts: self.parts.iter().cloned().chain([odd]).collect(), lower, products })
    }

    /// The largest distance from the sign on [a, 1].
    fn distance(&self) -> f64 {
        self.parts.last().map_or(1.0, |odd| odd.distance)
    }

    /// The value for an argument in −1..1.
    fn value(&self, x: f64) -> f64 {
        let last = self.parts.len() - 1;
        self.parts.iter().enumerate().fold(x, |x, (k, odd)| {
            let value = odd_value(&odd.coefficients, x);
            if k == last { value } else { value / normal(odd) }
        })
    }

    /// The steps: the argument is in −bound..bound, and the result `factor·sign + constant`.
    fn steps(&self, bound: f64, (factor, constant): (f64, f64)) -> Result<Vec<Bounded>> {
        let last = self.parts.len() - 1;
        let step = |(k, odd): (usize, &Odd)| {
            let mut coefficients = odd.in_chebyshev(if k == last { factor } else { 1.0 / normal(odd) });
            let end = if k == 0 { bound } else { 1.0 };
            if k == last {
                coefficients[0] = constant;
            }
            let size = if k == last { factor.abs() * (1.0 + odd.distance) + constant.abs() } else { 1.0 };
            let p = Polynomial::chebyshev(&coefficients, -end, end)?;
            Ok(Bounded { step: FunctionStep::Polynomial { of: k, p }, bound: size })
        };
        self.parts.iter().enumerate().map(step).collect()
    }

    fn degree(&self) -> usize {
        self.parts.iter().map(|odd| 2 * odd.coefficients.len() - 1).product()
    }

    /// Where errors are measured: even points for the oscillations, and points in equal ratios for the
    /// slope at 0. If the degree of the composition is so large that errors may be larger between
    /// them, they are counted twice.
    fn grid(&self, bound: f64, a: f64) -> Grid {
        const MOST: usize = 1 << 12;
        let degree = self.degree();
        let count = (2 * (degree + 1)).min(MOST);
        let angle = std::f64::consts::FRAC_PI_2 / count as f64;
        let even = (0..=count).map(|j| (j as f64 * angle).cos());
        let few = 1 << 10;
        let ratios = (0..=few).map(|j| (a / 16.0).powf(1.0 - j as f64 / few as f64));
        // The gap itself, where errors are largest, from outside.
        let arguments = even.chain(ratios).chain([0.0, a * (1.0 + 1e-12)]).map(|x| bound * x).collect();
        Grid { arguments, between: between(degree, 2 * count) }
    }
}

/// By what a polynomial is divided so that its values stay in −1..1.
fn normal(odd: &Odd) -> f64 {
    (1.0 + odd.distance) * (1.0 + ROOM)
}

fn depth_of(degree: usize) -> usize {
    (degree + 1).next_power_of_two().ilog2() as usize
}

fn products_of(degree: usize) -> usize {
    let all = vec![1.0; degree + 1];
    Polynomial::chebyshev(&all, -1.0, 1.0).map_or(usize::MAX, |p| p.products())
}

/// Refuses a bound that is not one.
///
/// # Errors
/// [`Error::OutOfRange`].
pub(super) fn check_bound(bound: f64) -> Result<()> {
    if bound.is_finite() && bound > 0.0 {
        return Ok(());
    }
    Err(Limits::only("positive and finite").refuse("the bound on the values", bound).into())
}

fn check_gap(gap: f64, bound: f64) -> Result<()> {
    check_bound(bound)?;
    if gap >= bound * LEAST_GAP && gap < bound {
        return Ok(());
    }
    let limits = Limits::between(bound * LEAST_GAP, bound).with("and smaller than the bound on the values");
    Err(limits.refuse("the gap around 0", gap).into())
}

fn composition(name: &str, a: f64, distance: f64) -> Result<Composition> {
    let reason = || {
        let bits = -distance.log2();
        format!(
            "no composition of polynomials in double precision is within 2^-{bits:.1} of it; ask for fewer bits, or for a larger gap"
        )
    };
    Composition::least(a, distance).ok_or_else(|| refused(name, reason()))
}

impl FunctionPlan {
    /// `factor·sign(x) + constant` for gap ≤ |x| ≤ bound.
    fn sign_like(name: &str, (bound, gap): (f64, f64), bits: f64, affine: (f64, f64)) -> Result<Self> {
        check_gap(gap, bound)?;
        let (factor, constant) = affine;
        let own = composition(name, gap / bound, target(bits)? / factor.abs())?;
        let grid = own.grid(bound, gap / bound);
        Ok(Self {
            name: name.to_owned(),
            interval: (-bound, bound),
            steps: own.steps(bound, affine)?,
            approximation: own.distance() * factor.abs(),
            gap: Some(gap),
            keeps_zero: constant == 0.0,
            grid,
        })
    }

    /// The sign of x, −1 or 1, within 2^−bits for gap ≤ |x| ≤ bound.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a bound that is not positive, a gap outside of (2^−30·bound, bound),
    /// or bits outside of 1 to 50; [`Error::Unplannable`] if double precision does not suffice.
    pub fn sign(bound: f64, gap: f64, bits: f64) -> Result<Self> {
        Self::sign_like("sign", (bound, gap), bits, (1.0, 0.0))
    }

    /// 1 for x > 0 and 0 for x < 0, within 2^−bits for gap ≤ |x| ≤ bound: the comparison of two
    /// numbers, applied to their difference.
    ///
    /// # Errors
    /// As [`Self::sign`].
    pub fn step(bound: f64, gap: f64, bits: f64) -> Result<Self> {
        Self::sign_like("step", (bound, gap), bits, (0.5, 0.5))
    }

    /// |x| within 2^−bits for |x| ≤ bound.
    ///
    /// # Errors
    /// As [`Self::sign`].
    pub fn absolute(bound: f64, bits: f64) -> Result<Self> {
        Self::absolute_times("absolute value", bound, bits, 1.0)
    }

    /// factor·|x|: a sign times x. The sign is within 2^−bits/bound outside of a gap g, and inside of
    /// it |x·s − |x|| ≤ g·max(1 − s).
    pub(super) fn absolute_times(name: &str, bound: f64, bits: f64, factor: f64) -> Result<Self> {
        check_bound(bound)?;
        let error = target(bits)? / factor.abs();
        if error >= bound {
            let limits =
                Limits::at_least(-(bound * factor.abs()).log2()).with("so that the error is below the largest value");
            return Err(limits.refuse("the precision in bits", bits).into());
        }
        // The largest of x·(1 − s(x)) is about a third of the gap.
        for share in [3.0, 2.5, 2.0, 1.5, 1.0] {
            let gap = (share * error).min(bound / 2.0);
            let a = (gap / bound).max(LEAST_GAP);
            let own = composition(name, a, error / bound)?;
            let inside = own.inside(a) * bound;
            let distance = inside.max(own.distance() * bound);
            if distance <= error {
                return own.times_argument(name, bound, a, (factor, distance * factor.abs()));
            }
        }
        Err(refused(name, "double precision does not suffice; ask for fewer bits".to_owned()))
    }
}

impl Composition {
    /// The largest |x·s(x) − x| for 0 ≤ x ≤ a. The composition rises from 0 to near 1 there, and has
    /// no oscillation that 4096 points would miss.
    fn inside(&self, a: f64) -> f64 {
        let points = 4096;
        let at = |j: usize| a * j as f64 / points as f64;
        let largest = (0..=points).map(|j| (at(j) * (1.0 - self.value(at(j)))).abs()).fold(0.0, f64::max);
        // Between points both factors change by one part in 4096 of what they are at a.
        largest * (1.0 + 1.0 / 64.0)
    }

    fn times_argument(&self, name: &str, bound: f64, a: f64, (factor, distance): (f64, f64)) -> Result<FunctionPlan> {
        let mut steps = self.steps(bound, (factor, 0.0))?;
        let sign = steps.len();
        steps.push(Bounded { step: FunctionStep::Product(0, sign), bound: factor.abs() * bound + distance });
        let grid = self.grid(bound, a);
        Ok(FunctionPlan {
            name: name.to_owned(),
            interval: (-bound, bound),
            steps,
            approximation: distance,
            gap: None,
            keeps_zero: true,
            grid,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments in −bound..bound, dense at 0.
    fn arguments(bound: f64) -> Vec<f64> {
        let even = (0..=20_000).map(|j| -bound + 2.0 * bound * j as f64 / 20_000.0);
        let small = (0..=20_000).map(|j| bound * 2f64.powf(-24.0 * j as f64 / 20_000.0));
        even.chain(small.clone()).chain(small.map(|x| -x)).collect()
    }

    #[test]
    fn signs_are_as_near_as_stated_outside_of_the_gap() {
        for (bound, gap, bits) in
            [(1.0, 1.0 / 16.0, 10.0), (8.0, 0.5, 20.0), (1.0, 1.0 / 1024.0, 20.0), (2.0, 0.001, 8.0)]
        {
            let [sign, step] = [FunctionPlan::sign, FunctionPlan::step].map(|make| make(bound, gap, bits).unwrap());
            assert!(sign.approximation_error() <= (-bits).exp2());
            for x in arguments(bound) {
                let (value, wanted) = (sign.value(x), if x > 0.0 { 1.0 } else { -1.0 });
                assert!(value.abs() <= sign.bound(), "sign({x}) is {value}");
                if x.abs() >= gap {
                    assert!((value - wanted).abs() <= sign.approximation_error(), "sign({x}) is {value}");
                    let off = (step.value(x) - (wanted + 1.0) / 2.0).abs();
                    assert!(off <= step.approximation_error(), "step({x}) is off by {off:e}");
                }
            }
        }
    }

    #[test]
    fn absolute_values_are_as_near_as_stated_everywhere() {
        for (bound, bits) in [(1.0, 4.0), (1.0, 10.0), (16.0, 6.0), (0.25, 12.0)] {
            let plan = FunctionPlan::absolute(bound, bits).unwrap();
            assert!(plan.approximation_error() <= (-bits).exp2() && plan.gap().is_none());
            for x in arguments(bound) {
                let off = (plan.value(x) - x.abs()).abs();
                assert!(off <= plan.approximation_error(), "|{x}| is off by {off:e}");
            }
        }
    }

    /// 2^−20 outside of |x| < 2^−10 takes 15 levels; one polynomial would have a degree above 10^4.
    #[test]
    fn depths_are_those_of_the_best_chains() {
        let plan = FunctionPlan::sign(1.0, 1.0 / 1024.0, 20.0).unwrap();
        assert_eq!((plan.depth(), plan.degrees()), (15, vec![31, 31, 31]));
        let plan = FunctionPlan::sign(1.0, 1.0 / 128.0, 20.0).unwrap();
        assert_eq!(plan.depth(), 12);
        assert!(plan.keeps_zero() && plan.products() < 25, "{plan}");
    }

    #[test]
    fn senseless_gaps_are_refused() {
        for (bound, gap, bits) in [
            (0.0, 0.1, 10.0),
            (1.0, 0.0, 10.0),
            (1.0, 1.0, 10.0),
            (1.0, 1e-12, 10.0),
            (1.0, 0.1, 70.0),
            (f64::NAN, 0.1, 10.0),
        ] {
            let refused = FunctionPlan::sign(bound, gap, bits);
            assert!(matches!(refused, Err(Error::OutOfRange(_))), "{bound}, {gap}, {bits}: {refused:?}");
        }
        assert!(matches!(FunctionPlan::absolute(0.001, 4.0), Err(Error::OutOfRange(_))));
    }
}

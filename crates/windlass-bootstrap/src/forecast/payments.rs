//! The cost of the operations of a circuit, at the levels at which they run.
//!
//! Polynomials spend much of their time outside key switches. Each sum of powers with integer
//! factors multiplies every power and switches it to the lowest of their levels, and an added
//! integer is transformed for every prime. So operations are priced one by one while noise bounds
//! pass through them. Two kinds are not priced here: linear maps, whose plans know their price, and
//! [`windlass_schemes::evaluator::Evaluator::divided_product`]s.

use windlass_circuits::CostModel;

use super::{Expected, Forecast};

impl Forecast {
    /// The price of all operations so far, in transforms of one row as those of [`CostModel`]; the
    /// count starts again.
    pub fn take_price(&self) -> f64 {
        self.work.take()
    }

    fn primes(&self, level: usize) -> usize {
        self.rules.params().levels().basis(level).len()
    }

    /// So many pointwise products of a whole polynomial.
    fn pay_rows(&self, polynomials: u32, level: usize) {
        self.work.add(f64::from(polynomials) * self.primes(level) as f64 * CostModel::ROW);
    }

    /// Parts times an integer each, or added to a sum.
    pub(super) fn pay_term(&self, parts: u32, level: usize) {
        self.pay_rows(parts, level);
    }

    /// The switch of so many parts from one level to another. Free at the same one.
    pub(super) fn pay_switch(&self, parts: u32, from: usize, to: usize) {
        if from == to {
            return;
        }
        let levels = self.rules.params().levels();
        let dropped = levels.basis(from).without(levels.basis(to)).len();
        self.work.add(f64::from(parts) * CostModel::division(dropped, self.primes(to)));
    }

    /// Both factors brought to a level, and the four products there.
    pub(super) fn pay_tensor(&self, a: &Expected, b: &Expected, level: usize) {
        self.pay_switch(2, a.level, level);
        if !std::ptr::eq(a, b) {
            self.pay_switch(2, b.level, level);
        }
        self.pay_rows(4, level);
    }

    /// From three parts to two: a key switch.
    pub(super) fn pay_relinearisation(&self, level: usize) {
        self.work.add(CostModel::at_level(self.rules.params(), level).automorphism);
    }

    /// A plaintext added: transformed, for every prime.
    pub(super) fn pay_plain(&self, level: usize) {
        self.work.add(self.primes(level) as f64);
    }
}

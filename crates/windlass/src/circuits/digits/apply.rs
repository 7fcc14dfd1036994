//! Running a plan.

use std::collections::BTreeMap;

use super::removal::{DigitRemoval, Row};
use crate::circuits::slot_function::check_integers;
use crate::error::Result;
use crate::evaluator::Evaluator;

impl DigitRemoval {
    /// `(x − Σ_{i<v} z_i·p^i)/p^v` in every slot, for integers x modulo p^e in the slots: the
    /// plaintext modulus falls from p^e to p^{e−v}.
    ///
    /// Cost: [`DigitRemoval::products`] ciphertext products.
    ///
    /// # Errors
    /// [`crate::Error::NotIntegers`] for slots that are not known to hold integers; what the
    /// evaluator reports.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        check_integers("digit removal", evaluator, [x])?;
        let mut values: Vec<Vec<E::Ciphertext>> = Vec::new();
        for row in &self.rows {
            let lent = values.iter().zip(&self.rows).enumerate();
            let j = values.len();
            let digits: Vec<&E::Ciphertext> = lent.map(|(i, (made, row))| &made[row.for_rows[j - 1 - i]]).collect();
            let argument = without_digits(evaluator, x, &digits)?;
            values.push(row.values(evaluator, argument)?);
        }
        let digits: Vec<&E::Ciphertext> = values.iter().zip(&self.rows).map(|(made, row)| &made[row.last]).collect();
        without_digits(evaluator, x, &digits)
    }
}

/// `(..((x − w_0)/p − w_1)/p ..)/p`.
fn without_digits<E: Evaluator>(evaluator: &E, x: &E::Ciphertext, digits: &[&E::Ciphertext]) -> Result<E::Ciphertext> {
    digits.iter().try_fold(x.clone(), |rest, digit| evaluator.divide_by_p(&evaluator.sub(&rest, digit)?))
}

impl Row {
    /// All values of the row; polynomials of one value share its powers.
    fn values<E: Evaluator>(&self, evaluator: &E, argument: E::Ciphertext) -> Result<Vec<E::Ciphertext>> {
        let mut values = vec![argument];
        let mut powers: Vec<BTreeMap<usize, E::Ciphertext>> = vec![BTreeMap::new(); self.known.len()];
        for known in &self.known[1..] {
            let (from, plan) = known.step.as_ref().expect("only the argument is given");
            values.push(plan.apply_sharing(evaluator, &values[*from], &mut powers[*from])?);
        }
        Ok(values)
    }
}

//! Polynomials on intervals, of vectors that do not fill their ciphertexts: fresh, after a file, and
//! after a folded matrix, which leaves parts of sums beside its rows.

use windlass::Error;
use windlass::circuits::Polynomial;
use windlass::schemes::ckks::{Ciphertext, Complex64, complex};
use windlass::wire::ApproximateCiphertextV1;

use super::super::judge::Fault;
use super::{World, is_large_to_refresh};

impl World {
    /// The bounds on entries hold for any contents of the other slots.
    pub(super) fn on_entries(&mut self) -> Result<(), Error> {
        let drawn = if self.dice.once_in(2) { self.fresh_entries() } else { self.layered() };
        // Rows of many columns outgrow the shortest moduli.
        let outgrown = matches!(drawn, Err(Error::ModulusExhausted { .. }));
        if outgrown && (self.layer.plan.columns() as f64).log2() + 2.0 > self.room {
            return Ok(());
        }
        let (ct, x, low, high) = drawn?;
        let coefficients: Vec<f64> = (0..2 + self.dice.index(7)).map(|_| self.dice.real()).collect();
        let polynomial = Polynomial::chebyshev(&coefficients, low, high)?;
        let degree = coefficients.len() - 1;
        self.judge.operation(format!("{} entries, degree {degree} on {low}..{high}", x.len()));
        match self.server.engine().evaluate(&polynomial, &ct) {
            Ok(value) => self.check_entries(&value, &x.iter().map(|&x| polynomial.value(x)).collect::<Vec<_>>()),
            Err(error) => {
                let left = ct.depth_left() + 1 - ct.degree() as usize;
                let right = match error {
                    Error::LevelsExhausted { .. } => left <= polynomial.depth(),
                    Error::ModulusExhausted { .. } => left <= polynomial.depth() || self.room < 5.0,
                    ref error => is_large_to_refresh(error),
                };
                self.judge.refusal(right, format!("{error} (depth {left} for {})", polynomial.depth()));
            }
        }
        // One that does not hold the values is refused.
        let narrow = Polynomial::chebyshev(&coefficients, low / 4.0, high / 4.0)?;
        let refused = self.server.engine().evaluate(&narrow, &ct);
        let is_refused = |error: &Error| matches!(error, Error::OutsideInterval { .. }) || is_large_to_refresh(error);
        if !refused.as_ref().is_err_and(is_refused) {
            self.judge.find(Fault::WrongAnswer, "an interval that does not hold the values was taken");
        }
        Ok(())
    }

    /// Real numbers of an interval, padded, and perhaps read from a file.
    fn fresh_entries(&mut self) -> Result<(Ciphertext, Vec<f64>, f64, f64), Error> {
        let (low, width) = (4.0 * self.dice.real(), 0.25 + 2.0 * self.dice.real().abs());
        let (low, high) = if self.dice.once_in(4) { (-1.0, 1.0) } else { (low, low + width) };
        let count = 1 + self.dice.index(self.context.slots());
        let x: Vec<f64> = (0..count).map(|_| low + (high - low) * self.dice.real().abs()).collect();
        let mut ct = self.client.encrypt_complex(&complex(&x), low.abs().max(high.abs()))?;
        if self.dice.once_in(2) {
            let bytes = self.context.to_bytes(&ApproximateCiphertextV1::new(ct))?;
            ct = self.context.from_bytes::<ApproximateCiphertextV1>(&bytes)?.into_ciphertext();
        }
        Ok((ct, x, low, high))
    }

    /// The product of a matrix and such numbers.
    fn layered(&mut self) -> Result<(Ciphertext, Vec<f64>, f64, f64), Error> {
        let x: Vec<f64> = (0..self.layer.plan.columns()).map(|_| self.dice.real()).collect();
        let ct = self.server.apply(&self.layer.plan, &self.client.encrypt(&x)?)?;
        let (y, most) = self.layer.product(&x);
        let most = most.max(0.01);
        // A bound that is known from elsewhere, of the rows alone.
        let largest = y.iter().fold(0.01, |a: f64, b| a.max(b.abs()));
        let (ct, most) = if self.dice.once_in(2) { (ct.with_magnitude(largest), largest) } else { (ct, most) };
        Ok((ct, y, -most * (1.0 + self.dice.real().abs()), most * 1.001))
    }

    fn check_entries(&mut self, ct: &Ciphertext, expected: &[f64]) {
        let entries = ct.entries();
        if entries != expected.len() && ct.slots() != expected.len() {
            self.judge.find(Fault::WrongLabel, format!("{entries} entries, {} expected", expected.len()));
        }
        match self.client.decrypt_complex(ct) {
            Ok(got) => {
                self.judge.counts.decryptions += 1;
                let worst = got.iter().zip(expected).map(|(a, b)| (a - Complex64::from(*b)).norm()).fold(0.0, f64::max);
                let largest = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                let bound = ct.error_bound() + 2f64.powi(-40) * ct.magnitude();
                if worst.is_nan() || worst > bound {
                    self.judge.find(Fault::WrongAnswer, format!("error {worst:e}, bound {bound:e}"));
                }
                if largest > ct.magnitude() * (1.0 + 1e-9) {
                    self.judge
                        .find(Fault::WrongLabel, format!("entries up to {largest:e}, stated {:e}", ct.magnitude()));
                }
            }
            Err(error) => self.judge.refusal(false, format!("decrypt: {error}")),
        }
    }
}

//! Functions with a contract on random intervals: never farther from the function than stated before anything ran, with
//! refreshes between the steps where the parameters have them.

use windlass::Error;
use windlass::circuits::{Function, FunctionPlan};
use windlass::schemes::ckks::{Ciphertext, complex};

use super::super::judge::Fault;
use super::World;

/// A plan with the function itself.
type Drawn = (FunctionPlan, Box<dyn Fn(f64) -> f64>);

impl World {
    /// One function of a few ciphertexts at any levels.
    pub(super) fn function(&mut self) -> Result<(), Error> {
        let (plan, f) = self.draw_function()?;
        let (low, high) = plan.interval();
        let (base, top) = (self.context.ckks().base_level(), self.context.ckks().top_level());
        let mut inputs = Vec::new();
        for _ in 0..1 + self.dice.index(3) {
            let count = 1 + self.dice.index(self.context.slots());
            let x: Vec<f64> = (0..count).map(|_| self.argument(&plan)).collect();
            let ct = self.client.encrypt_complex(&complex(&x), low.abs().max(high.abs()))?;
            let level = base + self.dice.index(top - base + 1);
            inputs.push((self.server.engine().lower(&ct, level)?, x));
        }
        self.judge.operation(format!("{} on {low}..{high}, degrees {:?}", plan.name(), plan.degrees()));
        let list: Vec<Ciphertext> = inputs.iter().map(|(ct, _)| ct.clone()).collect();
        let together = if self.dice.once_in(2) { self.server.apply_each(&plan, &list) } else { Err(missing()) };
        for (place, (ct, x)) in inputs.iter().enumerate() {
            let stated = plan.error_on(self.server.engine(), ct);
            let result = match &together {
                Ok(all) => Ok(all[place].clone()),
                Err(_) => self.server.apply(&plan, ct),
            };
            match (result, stated) {
                (Ok(y), Ok(stated)) => {
                    let wanted: Vec<f64> = x.iter().map(|&x| f(x)).collect();
                    self.check_function(&y, &wanted, stated.total());
                }
                (Ok(_), Err(error)) => {
                    self.judge.find(Fault::WrongLabel, format!("an error that was not stated: {error}"));
                }
                (Err(error), stated) => {
                    let left = ct.products_left();
                    let right = match &error {
                        Error::LevelsExhausted { .. } | Error::StepTooDeep { .. } => {
                            left < plan.depth() && stated.is_err()
                        }
                        Error::ModulusExhausted { .. } => self.room < 8.0,
                        _ => false,
                    };
                    self.judge.refusal(right, format!("{error} ({left} levels for {})", plan.depth()));
                }
            }
        }
        Ok(())
    }

    fn draw_function(&mut self) -> Result<Drawn, Error> {
        let bound = self.dice.pick(&[1.0, 0.5, 0.125, 2.0]);
        let (gap, bits) = (bound * self.dice.pick(&[0.5, 0.25, 0.125, 0.03]), self.dice.within(3, 12) as f64);
        let sign = |x: f64| if x > 0.0 { 1.0 } else { -1.0 };
        Ok(match self.dice.below(5) {
            0..=1 => (FunctionPlan::sign(bound, gap, bits)?, Box::new(sign)),
            2 => (FunctionPlan::step(bound, gap, bits)?, Box::new(move |x| 0.5 + 0.5 * sign(x))),
            3 => (FunctionPlan::absolute(bound, 4.0 - f64::log2(bound))?, Box::new(f64::abs)),
            _ => {
                let function = self.dice.pick(&[Function::Exponential, Function::Sigmoid, Function::Tanh]);
                let low = bound * self.dice.real();
                let plan = FunctionPlan::named(function, (low, low + bound), bits)?;
                (plan, Box::new(move |x| function.value(x)))
            }
        })
    }

    /// A number of the interval, outside of the gap.
    fn argument(&mut self, plan: &FunctionPlan) -> f64 {
        let ((low, high), part) = (plan.interval(), self.dice.real().abs());
        let Some(gap) = plan.gap() else { return low + (high - low) * part };
        let size = if self.dice.once_in(4) { gap } else { gap + (high - gap) * part };
        if self.dice.once_in(2) { size } else { -size }
    }

    fn check_function(&mut self, y: &Ciphertext, wanted: &[f64], stated: f64) {
        match self.client.decrypt_complex(y) {
            Ok(got) => {
                self.judge.counts.decryptions += 1;
                let worst = got.iter().zip(wanted).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                let slop = 2f64.powi(-40);
                if worst.is_nan() || worst > stated + slop {
                    self.judge.find(Fault::WrongAnswer, format!("error {worst:e}, stated before {stated:e}"));
                }
                if worst > y.error_bound() + slop {
                    self.judge.find(Fault::BrokenBound, format!("error {worst:e}, bound {:e}", y.error_bound()));
                }
            }
            Err(error) => self.judge.refusal(false, format!("decrypt: {error}")),
        }
    }
}

/// In place of a list that was not run.
fn missing() -> Error {
    Error::Cancelled { operation: "a list" }
}

//! What an attacker that sees the ciphertexts of an approximate circuit and chooses its constants
//! can do.

use std::f64::consts::PI;

use windlass::Error;
use windlass::schemes::ckks::{Ciphertext, Complex64};

use super::{World, zip};
use crate::drawn::numbers;

impl World {
    /// One of these, at random.
    pub fn adversary(&mut self) -> Result<(), Error> {
        match self.dice.below(3) {
            0 => self.known(),
            1 => self.steered(),
            _ => {
                self.known()?;
                self.steered()
            }
        }
    }

    /// Zero times a value and public numbers: a ciphertext of which everything is known, errors
    /// too.
    fn known(&mut self) -> Result<(), Error> {
        let a = self.any();
        let values = numbers(&mut self.dice, a.slots.len(), 1.0);
        self.judge.operation("numbers as a ciphertext");
        let engine = self.server.engine();
        let outcome = engine.multiply_integer(&a.ct, 0).and_then(|zero| engine.add_plain(&zero, &values));
        self.settle(outcome, (values, true), 1.0, a.ct.depth_left() + 1);
        Ok(())
    }

    /// Numbers are added to a product so that its rescaling rounds every coefficient of the first
    /// part by 1/2, all of them towards one slot.
    fn steered(&mut self) -> Result<(), Error> {
        let a = self.any();
        let engine = self.server.engine();
        let product = match a.ct.degree() {
            1 => engine.multiply_plain(&a.ct, &[Complex64::ONE]),
            _ => Ok(a.ct.clone()),
        };
        self.judge.operation("rescale what is rounded towards one slot");
        let slot = self.dice.index(a.slots.len());
        let added = product.as_ref().map_or(vec![Complex64::ZERO], |product| towards(product, slot));
        let outcome = product.and_then(|product| engine.rescale(&engine.add_plain(&product, &added)?));
        let slots = zip(&a.slots, &added, |x, y| x + y);
        self.settle(outcome, (slots, true), a.ct.magnitude() + 1.0, a.ct.depth_left());
        Ok(())
    }
}

/// Numbers that fill up the coefficients of c_0 modulo the last prime q to (q ± 1)/2, with the
/// signs that add up in one slot.
fn towards(product: &Ciphertext, slot: usize) -> Vec<Complex64> {
    let (slots, last) = (product.slots(), product.level() - 1);
    let first = product.parts()[0].clone().into_coeff();
    let row = first.row(last);
    let prime = first.ring().modulus(first.basis().indices().nth(last).expect("a row")).value();
    let gap = row.len() / (2 * slots);
    let order = 4 * slots;
    // Slot k is the value at the 5^k-th power of the root of unity of this order.
    let power = |slot: usize| (0..slot).fold(1, |power, _| power * 5 % order);
    let root = |exponent: usize| Complex64::cis(2.0 * PI * (exponent % order) as f64 / order as f64);
    let own = power(slot);
    let added: Vec<f64> = (0..2 * slots)
        .map(|j| {
            let half = if root(own * j).re > 0.0 { prime / 2 } else { prime / 2 + 1 };
            let added = (half + prime - row[j * gap]) % prime;
            if added > prime / 2 { added as f64 - prime as f64 } else { added as f64 }
        })
        .collect();
    let value = |exponent: usize| -> Complex64 { added.iter().enumerate().map(|(j, a)| root(exponent * j) * a).sum() };
    let mut exponent = 1;
    let mut values = Vec::with_capacity(slots);
    for _ in 0..slots {
        values.push(value(exponent) / product.scale());
        exponent = exponent * 5 % order;
    }
    values
}

#[cfg(test)]
mod tests {
    use windlass::Context;

    use super::*;
    use crate::dice::Dice;
    use crate::drawn::spec;

    /// Nothing is random in zero times a value: all of its error is the rounding that was chosen,
    /// 1/(2·sin(π/4s)) in one slot.
    #[test]
    fn roundings_go_one_way() {
        for seed in 0..8 {
            let dice = &mut Dice::new(seed);
            let context = Context::approximate(&spec(dice)).unwrap();
            let (client, server) = context.generate_keys_from_seed([], seed).unwrap();
            let engine = server.engine();
            let zero = engine.multiply_integer(&client.encrypt(&vec![0.5; context.slots()]).unwrap(), 0).unwrap();
            let product = engine.multiply_plain(&zero, &[Complex64::ONE]).unwrap();
            let slot = dice.index(context.slots());
            let added = towards(&product, slot);
            let rescaled = engine.rescale(&engine.add_plain(&product, &added).unwrap()).unwrap();
            let error = (client.decrypt_complex(&rescaled).unwrap()[slot] - added[slot]).norm();
            let worst = 0.5 / (PI / (4.0 * context.slots() as f64)).sin() / rescaled.scale();
            assert!((0.98..=1.01).contains(&(error / worst)), "{error:e} of {worst:e}");
            assert!(error <= rescaled.error_bound());
        }
    }
}

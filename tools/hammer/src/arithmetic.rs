//! Fresh ciphertexts, sums, products, levels, schemes.

use windlass::Arithmetic;
use windlass::ring::kernels::arith;
use windlass::{Error, Evaluator, Plaintext, Switching};

use super::dice::Dice;
use super::judge::Fault;
use super::oracle::Values;
use super::world::{Expected, Value, World};

impl World {
    /// log2 t, and log2 n.
    fn sizes(&self) -> (f64, f64) {
        ((self.setting.oracle.t as f64).log2(), (self.setting.context.slot_ring().n() as f64).log2())
    }

    /// Random slots, and a plaintext of them: of integers, of elements, or from coefficients.
    fn plaintext(&mut self) -> Result<(Plaintext, Values, bool), Error> {
        let (ring, oracle) = (self.setting.context.slot_ring(), &self.setting.oracle);
        match self.dice.below(5) {
            0 | 1 => {
                let integers = self.dice.residues(oracle.slots(), oracle.t);
                Ok((Plaintext::from_integers(ring, &integers)?, oracle.of_integers(&integers), true))
            }
            2 | 3 => {
                let values = self.dice.residues(oracle.slots() * oracle.d, oracle.t);
                Ok((Plaintext::from_slots(ring, &values)?, values, false))
            }
            _ => {
                let coefficients = match self.dice.is_adversarial() && self.dice.once_in(2) {
                    true => aligned(&mut self.dice, ring.m(), ring.n(), oracle.t),
                    false => self.dice.residues(ring.n(), oracle.t),
                };
                let terms = powerful_terms(ring.m(), &coefficients);
                let slots = oracle.evaluate(&terms);
                Ok((Plaintext::new(ring, coefficients)?, slots, false))
            }
        }
    }

    /// A new value: with the public key, or with the secret one at some level.
    pub fn fresh(&mut self) -> Result<(), Error> {
        let (plaintext, slots, integers) = self.plaintext()?;
        let top = self.server.engine().context().top_level();
        let (outcome, level) = if self.dice.once_in(2) {
            self.judge.operation("encrypt");
            (self.encryptor.encrypt(&plaintext, self.dice.rng()), top)
        } else {
            let level = if self.dice.once_in(2) { top } else { 1 + self.dice.index(top) };
            self.judge.operation(format!("encrypt at level {level}"));
            (self.decryptor.encrypt(&plaintext, level, self.dice.rng()).map(|(ct, _)| ct), level)
        };
        let integers = integers || self.setting.oracle.d == 1;
        let expected = Expected { slots, exponent: self.setting.r, integers, room: self.floor(level), cost: 10.0 };
        self.settle(outcome, expected);
        Ok(())
    }

    pub fn sum(&mut self) -> Result<(), Error> {
        let a = self.any();
        let b = self.partner(&a);
        let (oracle, cost) = (&self.setting.oracle, self.sizes().0 + 6.0);
        let engine = self.server.engine();
        let (name, outcome, slots) = match self.dice.below(3) {
            0 => ("add", engine.add(&a.ct, &b.ct), oracle.add(&a.slots, &b.slots)),
            1 => ("subtract", engine.sub(&a.ct, &b.ct), oracle.sub(&a.slots, &b.slots)),
            _ => ("add to itself", engine.add(&a.ct, &a.ct), oracle.add(&a.slots, &a.slots)),
        };
        self.judge.operation(name);
        let operands: &[&Value] = if name == "add to itself" { &[&a] } else { &[&a, &b] };
        let expected = self.expected(slots, operands, cost);
        self.settle(outcome, expected);
        Ok(())
    }

    pub fn scaled(&mut self) -> Result<(), Error> {
        let (a, oracle) = (self.any(), &self.setting.oracle);
        let engine = self.server.engine();
        let k = match self.dice.below(4) {
            0 => 0,
            1 => self.setting.p as i64,
            2 => self.dice.word() as i64,
            _ => self.dice.within(-9, 9),
        };
        let (name, outcome, slots) = match self.dice.below(4) {
            0 => ("negate".into(), engine.negate(&a.ct), oracle.scale(&a.slots, -1)),
            _ => (format!("times {k}"), engine.multiply_scalar(&a.ct, k), oracle.scale(&a.slots, k)),
        };
        self.judge.operation(name);
        let expected = self.expected(slots, &[&a], self.sizes().0 + 3.0);
        self.settle(outcome, expected);
        Ok(())
    }

    pub fn with_plain(&mut self) -> Result<(), Error> {
        let a = self.any();
        let (plaintext, values, integers) = self.plaintext()?;
        let (oracle, engine) = (&self.setting.oracle, self.server.engine());
        let (name, outcome, slots) = match self.dice.below(4) {
            0 => ("add plaintext", engine.add_plain(&a.ct, &plaintext), oracle.add(&a.slots, &values)),
            1 => ("subtract plaintext", engine.sub_plain(&a.ct, &plaintext), oracle.sub(&a.slots, &values)),
            2 => {
                let constant = engine.prepare_at(&plaintext, a.ct.level())?;
                let outcome = engine.multiply_constant(&a.ct, &constant);
                ("multiply by a constant of its level", outcome, oracle.mul(&a.slots, &values))
            }
            _ => {
                let constant = engine.prepare(&plaintext)?;
                ("multiply by a constant", engine.multiply_constant(&a.ct, &constant), oracle.mul(&a.slots, &values))
            }
        };
        self.judge.operation(name);
        let (t, n) = self.sizes();
        let mut expected = self.expected(slots, &[&a], t + n + 6.0);
        expected.integers &= integers;
        self.settle(outcome, expected);
        Ok(())
    }

    pub fn product(&mut self) -> Result<(), Error> {
        let a = self.any();
        let b = self.partner(&a);
        let (oracle, engine) = (&self.setting.oracle, self.server.engine());
        let (name, outcome, slots) = match self.dice.below(3) {
            0 => ("square", engine.square(&a.ct), oracle.mul(&a.slots, &a.slots)),
            _ => ("multiply", engine.multiply(&a.ct, &b.ct), oracle.mul(&a.slots, &b.slots)),
        };
        self.judge.operation(name);
        let operands: &[&Value] = if name == "square" { &[&a] } else { &[&a, &b] };
        let expected = self.expected(slots, operands, self.setting.product_bits());
        self.settle(outcome, expected);
        Ok(())
    }

    /// Zero times a value and a plaintext: a ciphertext that holds nothing but what is known, and
    /// its way down.
    pub fn known(&mut self) -> Result<(), Error> {
        let a = self.any();
        let (plaintext, slots, integers) = self.plaintext()?;
        let engine = self.server.engine();
        self.judge.operation("a plaintext as a ciphertext");
        let outcome = engine.multiply_scalar(&a.ct, 0).and_then(|zero| engine.add_plain(&zero, &plaintext));
        let room = self.floor(a.ct.level());
        // Zero times elements is not known to be integers.
        let integers = (integers && a.integers) || self.setting.oracle.d == 1;
        let expected = Expected { slots, exponent: self.setting.r, integers, room, cost: 10.0 };
        if a.exponent == self.setting.r {
            self.settle(outcome, expected);
        }
        self.level()
    }

    pub fn automorphism(&mut self) -> Result<(), Error> {
        let a = self.any();
        let unit = if self.dice.once_in(8) { 1 } else { self.dice.pick(&self.plans.units) };
        self.judge.operation(format!("θ_{unit}"));
        let outcome = self.server.engine().automorphism(&a.ct, unit);
        let expected = self.expected(self.setting.oracle.automorphism(&a.slots, unit), &[&a], 12.0);
        self.settle(outcome, expected);
        Ok(())
    }

    /// To a lower level, by hand or by bits of capacity.
    pub fn level(&mut self) -> Result<(), Error> {
        let a = self.any();
        let engine = self.server.engine();
        let (name, outcome, level) = if self.dice.once_in(2) {
            let level = 1 + self.dice.index(a.ct.level());
            (format!("to level {level}"), engine.switch_modulus(&a.ct, level), level)
        } else {
            let bits = self.dice.below(60) as f64;
            let outcome = engine.reduce_level(&a.ct, bits);
            if let Ok(ct) = &outcome {
                let (kept, least) = (engine.capacity(ct), bits.min(engine.capacity(&a.ct) - 0.5));
                if kept < least - 1e-6 {
                    self.judge.find(Fault::WrongLabel, format!("{kept:.2} bits kept of {least:.2} asked for"));
                }
            }
            (format!("down to {bits} bits"), outcome, a.ct.level())
        };
        self.judge.operation(name);
        let mut expected = self.expected(a.slots.clone(), &[&a], 6.0);
        expected.room = expected.room.min(self.floor(level));
        self.settle(outcome, expected);
        Ok(())
    }

    /// There and back between the schemes, with a product in the other one.
    pub fn other_scheme(&mut self) -> Result<(), Error> {
        let a = self.any();
        let (scheme, engine, decryptor) = &self.other;
        self.judge.operation(format!("square as {scheme}"));
        let there = a.ct.to_scheme(*scheme);
        match decryptor.decrypt(&there) {
            Ok(plaintext) if plaintext.to_slots() == a.slots => self.judge.counts.decryptions += 1,
            Ok(_) => self.judge.find(Fault::WrongAnswer, format!("decrypted as {scheme}")),
            Err(error) => self.judge.refusal(false, format!("decrypt as {scheme}: {error}")),
        }
        let outcome = engine.square(&there).map(|ct| ct.to_scheme(self.setting.context.scheme()));
        let slots = self.setting.oracle.mul(&a.slots, &a.slots);
        let expected = self.expected(slots, &[&a], self.setting.product_bits());
        self.settle(outcome, expected);
        Ok(())
    }

    /// Exact division of a multiple of p.
    pub fn division(&mut self) -> Result<(), Error> {
        let a = self.any();
        let engine = self.server.engine();
        self.judge.operation("divide a multiple of p");
        let cost = (self.setting.p as f64).log2() + 3.0;
        let multiple = match engine.multiply_scalar(&a.ct, self.setting.p as i64) {
            Ok(multiple) => multiple,
            Err(error) => {
                let room = self.room(&[&a]);
                self.refused(&error, room, cost);
                return Ok(());
            }
        };
        let outcome = engine.divide_by_p(&multiple);
        if a.exponent == 1 {
            let refused = matches!(outcome, Err(Error::NotDivisible { .. }));
            self.judge.mixture("division modulo p", if refused { Err(()) } else { Ok(()) });
            return Ok(());
        }
        let mut expected = self.expected(a.slots.clone(), &[&a], cost);
        expected.exponent -= 1;
        self.settle(outcome, expected);
        Ok(())
    }
}

/// Coefficients of the largest absolute value, all towards one embedding.
fn aligned(dice: &mut Dice, m: u64, n: usize, t: u64) -> Vec<u64> {
    let unit = 1 + dice.below(m - 1);
    let sign = |exponent: u64| (std::f64::consts::TAU * (exponent * unit % m) as f64 / m as f64).cos() < 0.0;
    let terms = powerful_terms(m, &vec![1; n]);
    terms.into_iter().map(|(_, exponent)| if sign(exponent) { t.div_ceil(2) % t } else { t / 2 }).collect()
}

/// (coefficient, exponent of X) of an element in the powerful basis: Π X^{(m/m_i)·j_i}, the prime
/// power m_i with the largest φ(m_i) running fastest.
fn powerful_terms(m: u64, coefficients: &[u64]) -> Vec<(u64, u64)> {
    let mut axes: Vec<(u64, u64, u64)> = Vec::new();
    for (prime, exponent) in arith::factor(m) {
        let index = prime.pow(exponent);
        axes.push((index / prime * (prime - 1), prime, index));
    }
    axes.sort_unstable();
    let mut terms = Vec::new();
    for (place, &coefficient) in coefficients.iter().enumerate() {
        let (mut rest, mut exponent) = (place as u64, 0);
        for &(size, _, index) in axes.iter().rev() {
            exponent += m / index * (rest % size);
            rest /= size;
        }
        terms.push((coefficient, exponent % m));
    }
    terms
}

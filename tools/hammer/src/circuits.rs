//! Whole circuits as operations: maps, polynomials, functions, inner products, sums of many.

use windlass::bootstrap::{BootstrapError, BootstrapPlan, Mode};
use windlass::circuits::{product_of_many, sum_of_many};
use windlass::schemes::Ciphertext;
use windlass::{Content, Error, Evaluator};

use super::dice::Dice;
use super::oracle::Values;
use super::plans::Function;
use super::setting::Setting;
use super::world::{Expected, Value, World};

impl World {
    /// Generous bits for a circuit of this depth with integer weights.
    fn deep_bits(&self, depth: usize) -> f64 {
        (depth + 1) as f64 * (self.setting.product_bits() + (self.setting.oracle.t as f64).log2())
    }

    pub fn linear(&mut self) -> Result<(), Error> {
        let a = self.any();
        let map = &self.plans.maps[self.dice.index(self.plans.maps.len())];
        self.judge.operation(&map.name);
        let outcome = self.server.apply(&map.plan, &a.ct);
        let slots = map.image(&self.setting.oracle, &a.slots);
        let mut expected = self.expected(slots, &[&a], 2.0 * self.setting.product_bits());
        expected.integers &= map.keeps_integers;
        self.settle(outcome, expected);
        Ok(())
    }

    pub fn polynomial(&mut self) -> Result<(), Error> {
        let a = self.any();
        let (oracle, (coefficients, plan)) = (&self.setting.oracle, &self.plans.polynomial);
        if self.dice.once_in(2) {
            self.judge.operation(format!("polynomial {coefficients:?}"));
            let outcome = self.server.apply(plan, &a.ct);
            let slots = oracle.polynomial(&a.slots, coefficients);
            let expected = self.expected(slots, &[&a], self.deep_bits(plan.depth()));
            self.settle(outcome, expected);
        } else {
            let exponent = self.plans.power.exponent();
            self.judge.operation(format!("power {exponent}"));
            let outcome = self.server.apply(&self.plans.power, &a.ct);
            let slots = oracle.power(&a.slots, exponent);
            let expected = self.expected(slots, &[&a], self.deep_bits(exponent.ilog2() as usize + 1));
            self.settle(outcome, expected);
        }
        Ok(())
    }

    /// One to four values of one modulus.
    fn several(&mut self) -> Vec<Value> {
        let first = self.any();
        let mut list = vec![first];
        for _ in 0..self.dice.below(4) {
            let next = self.partner(&list[0]);
            list.push(next);
        }
        list
    }

    pub fn many(&mut self) -> Result<(), Error> {
        let list = self.several();
        let (oracle, engine) = (&self.setting.oracle, self.server.engine());
        let ciphertexts: Vec<Ciphertext> = list.iter().map(|value| value.ct.clone()).collect();
        let operands: Vec<&Value> = list.iter().collect();
        let fold = |f: &dyn Fn(&Values, &Values) -> Values| {
            list[1..].iter().fold(list[0].slots.clone(), |sum, value| f(&sum, &value.slots))
        };
        let (name, outcome, slots, depth) = match self.dice.below(4) {
            0 => ("sum of many", sum_of_many(engine, &ciphertexts), fold(&|a, b| oracle.add(a, b)), 0),
            1 => ("product of many", product_of_many(engine, &ciphertexts), fold(&|a, b| oracle.mul(a, b)), 2),
            2 => {
                let pairs: Vec<(&Ciphertext, &Ciphertext)> = ciphertexts.iter().zip(ciphertexts.iter().rev()).collect();
                let products: Vec<Values> =
                    list.iter().zip(list.iter().rev()).map(|(a, b)| oracle.mul(&a.slots, &b.slots)).collect();
                let sum = products.iter().fold(oracle.constant(0), |sum, product| oracle.add(&sum, product));
                ("sum of products", self.server.sum_of_products(&pairs), sum, 1)
            }
            _ => {
                let weights: Vec<i64> = list.iter().map(|_| self.dice.within(-20, 20)).collect();
                let toward = self.dice.once_in(2).then(|| &list[0]);
                let terms: Vec<(&Ciphertext, i64)> = ciphertexts.iter().zip(weights.iter().copied()).collect();
                let scaled = list.iter().zip(&weights).map(|(value, &k)| oracle.scale(&value.slots, k));
                let start = toward.map_or(oracle.constant(0), |value| value.slots.clone());
                let sum = scaled.fold(start, |sum, term| oracle.add(&sum, &term));
                ("weighted sum", engine.weighted_sum(&terms, toward.map(|value| &value.ct)), sum, 0)
            }
        };
        self.judge.operation(format!("{name} ({})", list.len()));
        let expected = self.expected(slots, &operands, self.deep_bits(depth));
        self.settle(outcome, expected);
        Ok(())
    }

    /// Inner products of two ciphertexts or with public weights. Where dimensions are bad they are
    /// for integers alone.
    pub fn inner_product(&mut self) -> Result<(), Error> {
        let a = self.any();
        let b = self.partner(&a);
        let oracle = &self.setting.oracle;
        let (operands, outcome, slots) = if self.dice.once_in(2) {
            self.judge.operation("inner product");
            let outcome = self.server.apply(&self.plans.inner, (&a.ct, &b.ct));
            (vec![&a, &b], outcome, oracle.total(&oracle.mul(&a.slots, &b.slots)))
        } else {
            self.judge.operation("inner product with public weights");
            let weights = oracle.of_integers(&self.plans.weights);
            let outcome = self.server.apply(&self.plans.public, &a.ct);
            (vec![&a], outcome, oracle.total(&oracle.mul(&a.slots, &weights)))
        };
        let elements = operands.iter().any(|value| !value.integers);
        if let (Err(Error::NotIntegers { .. }), true) = (&outcome, elements) {
            let good = self.setting.context.slot_ring().hypercube().dimensions().iter().all(|line| line.good);
            self.judge.refusal(!good, "an inner product of elements with good dimensions");
            return Ok(());
        }
        let expected = self.expected(slots, &operands, self.deep_bits(2));
        self.settle(outcome, expected);
        Ok(())
    }

    /// A function of slots where the modulus is prime: on values that it is defined for.
    pub fn function(&mut self) -> Result<(), Error> {
        if self.plans.functions.is_empty() {
            return self.polynomial();
        }
        let at = self.dice.index(self.plans.functions.len());
        let operands = Operands::draw(&mut self.dice, &self.plans.functions[at], &self.setting);
        let encrypt = |values: &[u64]| self.client.encrypt(values);
        let (a, b) = match (encrypt(&operands.first), encrypt(&operands.second)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(error), _) | (_, Err(error)) => {
                let room = self.floor(self.server.engine().context().top_level());
                self.refused(&error, room, 10.0);
                return Ok(());
            }
        };
        let (function, oracle) = (&self.plans.functions[at], &self.setting.oracle);
        self.judge.operation(function.name());
        let outcome = function.apply(&self.server, &a, &b);
        let image = operands.image(function, self.setting.p);
        let value = Value { slots: oracle.of_integers(&operands.first), ct: a, exponent: 1, integers: true };
        let cost = self.deep_bits(function.depth() + 1);
        let expected = Expected { exponent: 1, ..self.expected(oracle.of_integers(&image), &[&value], cost) };
        self.settle(outcome, expected);
        Ok(())
    }
}

/// What a function of slots is tried on: residues whose differences it is defined for.
struct Operands {
    differences: Vec<i64>,
    first: Vec<u64>,
    second: Vec<u64>,
}

impl Operands {
    fn draw(dice: &mut Dice, function: &Function, setting: &Setting) -> Self {
        let (p, count) = (setting.p as i64, setting.oracle.slots());
        let bound = function.bound().map_or(p / 2, |bound| bound as i64);
        let lowest: Vec<i64> = (0..count).map(|_| dice.within(-p, p)).collect();
        let differences: Vec<i64> = (0..count).map(|_| dice.within(-bound, bound)).collect();
        let sums: Vec<i64> = lowest.iter().zip(&differences).map(|(a, b)| a + b).collect();
        let residues = |values: &[i64]| values.iter().map(|x| x.rem_euclid(p) as u64).collect();
        let first = if function.is_of_two() { residues(&sums) } else { residues(&differences) };
        Self { first, second: residues(&lowest), differences }
    }

    /// The function of every slot.
    fn image(&self, function: &Function, p: u64) -> Vec<u64> {
        let slot = |(&difference, &first): (&i64, &u64)| match function {
            Function::Table(table, _) => table[first as usize],
            Function::Negative(..) | Function::Less(..) => u64::from(difference < 0),
            Function::Equal(_) => u64::from(difference % p as i64 == 0),
        };
        self.differences.iter().zip(&self.first).map(slot).collect()
    }
}

impl World {
    /// The low digits of integers away, and the modulus with them.
    pub fn removal(&mut self) -> Result<(), Error> {
        let Some(removal) = self.plans.removal.clone() else { return Ok(()) };
        let a = self.any();
        let removed = removal.spec().removed;
        self.judge.operation(format!("{removed} digits away"));
        let outcome = self.server.apply(&removal, &a.ct);
        if a.ct.content() != Content::Integers {
            let refused = matches!(outcome, Err(Error::NotIntegers { .. }));
            self.judge.mixture("digits of elements", if refused { Err(()) } else { Ok(()) });
        } else if a.exponent <= removed {
            let refused = matches!(outcome, Err(Error::NotDivisible { .. }));
            self.judge.mixture("more digits than there are", if refused { Err(()) } else { Ok(()) });
        } else {
            let slots = self.setting.oracle.without_digits(&a.slots, a.exponent, removed);
            let mut expected = self.expected(slots, &[&a], self.deep_bits(removal.depth() + 2));
            expected.exponent -= removed;
            self.settle(outcome, expected);
        }
        Ok(())
    }

    /// A bootstrapping.
    pub fn refresh(&mut self) -> Result<(), Error> {
        let a = self.any();
        let Some(plan) = self.plans.bootstrapping.clone() else { return Ok(()) };
        self.judge.operation("refresh");
        let outcome = self.server.refresh(&a.ct);
        match outcome {
            Err(error) if !self.is_refreshed(&plan, &a) => self.refused_rightly(&error),
            outcome => self.settle_refreshed(&plan, &a, outcome),
        }
        Ok(())
    }

    /// Several at a time, in batches where that costs less.
    pub fn refresh_several(&mut self) -> Result<(), Error> {
        let list = self.several();
        let Some(plan) = self.plans.bootstrapping.clone() else { return Ok(()) };
        self.judge.operation(format!("refresh {}", list.len()));
        let ciphertexts: Vec<Ciphertext> = list.iter().map(|value| value.ct.clone()).collect();
        match self.server.refresh_all(&ciphertexts) {
            Ok(fresh) => {
                list.iter().zip(fresh).for_each(|(a, fresh)| self.settle_refreshed(&plan, a, Ok(fresh)));
            }
            Err(error) if list.iter().any(|a| !self.is_refreshed(&plan, a)) => self.refused_rightly(&error),
            Err(error) => {
                let capacities = list.iter().map(|a| self.server.engine().capacity(&a.ct));
                self.refused(&error, capacities.fold(f64::INFINITY, f64::min), plan.least_input_bits() + 8.0);
            }
        }
        Ok(())
    }

    /// Whether a plan is for this at all: thin ones for integers, all for the whole modulus.
    fn is_refreshed(&self, plan: &BootstrapPlan, a: &Value) -> bool {
        (plan.spec().mode == Mode::Packed || a.ct.content() == Content::Integers) && a.exponent == self.setting.r
    }

    fn refused_rightly(&mut self, error: &Error) {
        let right = matches!(
            error,
            Error::Bootstrap(
                BootstrapError::NotIntegers
                    | BootstrapError::WrongPlaintextModulus { .. }
                    | BootstrapError::CapacityTooLow { .. }
            )
        );
        self.judge.refusal(right, format!("{error}"));
    }

    fn settle_refreshed(&mut self, plan: &BootstrapPlan, a: &Value, outcome: Result<Ciphertext, Error>) {
        self.judge.counts.refreshes += u64::from(outcome.is_ok());
        let mut expected = self.expected(a.slots.clone(), &[a], plan.least_input_bits() + 8.0);
        expected.room = self.server.engine().capacity(&a.ct);
        self.settle(outcome, expected);
    }
}

//! A circuit on approximate numbers: values against complex arithmetic, errors against their bound.

mod adversary;
mod entries;
mod functions;
mod layer;

use windlass::bootstrap::BootstrapError;
use windlass::circuits::{Polynomial, TracePlan};
use windlass::needs::KeyRequest;
use windlass::schemes::ckks::{Ciphertext, Complex64, Decryptor, Encryptor};
use windlass::wire::ApproximateCiphertextV1;
use windlass::{Approximate, Client, Context, Error, NeedsKeys, Server, Switching};

use super::dice::Dice;
use super::drawn::{Matrix, numbers, refresh_spec, spec, total};
use super::judge::{Fault, Judge};
use layer::Layer;

/// A ciphertext and its slots.
#[derive(Clone)]
struct Value {
    ct: Ciphertext,
    slots: Vec<Complex64>,
    /// Whether its error may be the largest possible, by constants that were made for it.
    strained: bool,
}

/// So many deviations are no error of a random circuit: a product of two Gaussians exceeds them
/// with 2^−44.
const UNLIKELY: f64 = 16.0;

struct World {
    dice: Dice,
    judge: Judge,
    context: Context<Approximate>,
    client: Client<Approximate>,
    server: Server<Approximate>,
    encryptor: Encryptor,
    decryptor: Decryptor,
    matrix: Matrix,
    layer: Layer,
    total: TracePlan,
    values: Vec<Value>,
    /// log2 of the magnitudes that the lowest level has room for, from below.
    room: f64,
}

/// Runs one circuit.
pub fn run(mut dice: Dice, mut judge: Judge) -> Judge {
    judge.counts.approximate += 1;
    let context = match dice.once_in(8) {
        true => refresh_spec(&mut dice).and_then(|spec| {
            judge.note(format!("{spec:?}"));
            Context::refreshing(&spec)
        }),
        false => {
            let spec = spec(&mut dice);
            judge.note(format!("{spec:?}"));
            Context::approximate(&spec)
        }
    };
    let mut spare = judge.clone();
    match context.and_then(|context| World::new(dice, judge, context)) {
        Ok(world) => world.work(),
        Err(error) => {
            spare.refusal(false, format!("approximate context: {error}"));
            spare
        }
    }
}

fn zip(a: &[Complex64], b: &[Complex64], f: impl Fn(Complex64, Complex64) -> Complex64) -> Vec<Complex64> {
    (0..a.len().max(b.len())).map(|j| f(a[j % a.len()], b[j % b.len()])).collect()
}

/// An operation without levels whose operand would be refreshed, if its bound were smaller.
fn is_large_to_refresh(error: &Error) -> bool {
    matches!(error, Error::Bootstrap(BootstrapError::BoundTooLarge { bound, most }) if bound > most)
}

impl World {
    fn new(mut dice: Dice, judge: Judge, context: Context<Approximate>) -> Result<Self, Error> {
        let matrix = Matrix::draw(&mut dice, &context)?;
        let layer = Layer::draw(&mut dice, &context)?;
        let ckks = context.ckks();
        let total = total(&mut dice, &context)?;
        let mut units: Vec<u64> = [1, 3, -1].map(|amount| ckks.rotation_element(amount)).into();
        units.push(ckks.conjugation_element());
        units.extend(matrix.plan.required_keys());
        units.extend(total.required_keys());
        units.extend(layer.plan.required_keys());
        let keys = KeyRequest::none("a random circuit").with_relinearisation().with_galois(units);
        let refresh = if ckks.spec().refresh_levels.is_empty() { None } else { Some(context.refresh()?) };
        let more: &dyn NeedsKeys = refresh.as_ref().map_or(&keys, |refresh| refresh);
        let (client, server) = context.generate_keys_from_seed([&keys, more], dice.word())?;
        let (encryptor, decryptor) = (client.encryptor()?, client.decryptor()?);
        let base: u32 = ckks.spec().base_prime_bits.iter().sum();
        let room = f64::from(base - ckks.spec().scale_bits) - 3.0;
        let values = Vec::new();
        Ok(Self { dice, judge, context, client, server, encryptor, decryptor, matrix, layer, total, values, room })
    }

    fn work(mut self) -> Judge {
        for _ in 0..10 + self.dice.index(20) {
            let outcome = if self.values.len() < 2 { self.fresh() } else { self.step() };
            if let Err(error) = outcome {
                self.judge.refusal(false, format!("{error}"));
            }
        }
        self.judge
    }

    /// The largest values that a level has room for, with some bits to spare.
    fn most(&self, level: usize) -> f64 {
        let ckks = self.context.ckks();
        (ckks.rlwe().log2_modulus(level) - ckks.scale(level).log2() - 3.0).exp2()
    }

    fn any(&mut self) -> Value {
        let at = self.dice.index(self.values.len());
        self.values[at].clone()
    }

    fn fresh(&mut self) -> Result<(), Error> {
        let most = self.context.slots();
        let count = if self.dice.once_in(3) { 1 << self.dice.below(most.ilog2() as u64 + 1) } else { most };
        let (base, top) = (self.context.ckks().base_level(), self.context.ckks().top_level());
        let with_public_key = self.dice.once_in(2);
        let level = if with_public_key { top } else { base + self.dice.index(top - base + 1) };
        let bound = match self.dice.is_adversarial() && self.dice.once_in(4) {
            true => self.most(level),
            false => self.dice.pick(&[1.0, 0.01, 20.0]),
        };
        let values = match self.dice.below(4) {
            0 => vec![Complex64::from(bound); count],
            _ => numbers(&mut self.dice, count, bound),
        };
        let outcome = if with_public_key {
            self.judge.operation(format!("encrypt up to {bound:e}"));
            self.encryptor.encrypt_bounded(&values, bound, self.dice.rng())
        } else {
            self.judge.operation(format!("encrypt up to {bound:e} at level {level}"));
            self.decryptor.encrypt(&values, bound, level, self.dice.rng()).map(|(ct, _)| ct)
        };
        self.settle(outcome, (values, false), bound, level - self.context.ckks().base_level() + 2);
        Ok(())
    }

    /// `expected` are the slots, and whether the error is strained; `magnitude` is an upper bound
    /// on what the result states about its slots; `depth` what the operands have left.
    fn settle(
        &mut self,
        outcome: Result<Ciphertext, Error>,
        expected: (Vec<Complex64>, bool),
        magnitude: f64,
        depth: usize,
    ) {
        match outcome {
            Ok(ct) => {
                let (slots, strained) = expected;
                let value = Value { ct, slots, strained };
                self.check(&value);
                if self.values.len() < 6 {
                    self.values.push(value);
                } else {
                    let at = self.dice.index(6);
                    self.values[at] = value;
                }
            }
            Err(error) => {
                let large = magnitude.log2() > self.room;
                let right = match &error {
                    Error::LevelsExhausted { .. } => depth <= 1,
                    Error::ModulusExhausted { .. } => depth <= 1 || large,
                    Error::ValueTooLarge { .. } | Error::BoundTooLarge { .. } => large,
                    error => is_large_to_refresh(error),
                };
                let what = format!("{error} (2^{:.1} of 2^{:.1}, depth {depth})", magnitude.log2(), self.room);
                self.judge.refusal(right, what);
            }
        }
    }

    fn check(&mut self, Value { ct, slots, strained }: &Value) {
        let largest = slots.iter().map(|z| z.norm()).fold(0.0, f64::max);
        if largest > ct.magnitude() * (1.0 + 1e-9) + 1e-300 {
            self.judge.find(Fault::WrongLabel, format!("slots up to {largest:e}, stated {:e}", ct.magnitude()));
        }
        if slots.len() != ct.slots() {
            self.judge.find(Fault::WrongLabel, format!("{} slots, {} stated", slots.len(), ct.slots()));
        }
        match self.client.decrypt_complex(ct) {
            Ok(got) => {
                self.judge.counts.decryptions += 1;
                let worst = got.iter().zip(slots).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                // What double precision itself leaves open on both sides.
                let slop = 2f64.powi(-44) * ct.magnitude();
                let bound = ct.error_bound();
                if got.len() != slots.len() || worst.is_nan() || worst > 1024.0 * (bound + slop) {
                    self.judge.find(Fault::WrongAnswer, format!("error {worst:e}, bound {bound:e}"));
                } else if worst > bound + slop {
                    self.judge.find(Fault::BrokenBound, format!("error {worst:e}, bound {bound:e}"));
                } else if !strained && worst > UNLIKELY * ct.deviation() + slop {
                    self.judge.find(Fault::BrokenBound, format!("error {worst:e}, deviation {:e}", ct.deviation()));
                }
            }
            Err(error) => self.judge.refusal(false, format!("decrypt: {error}")),
        }
    }

    fn step(&mut self) -> Result<(), Error> {
        if self.dice.is_adversarial() && self.dice.once_in(4) {
            return self.adversary();
        }
        if !self.context.ckks().spec().refresh_levels.is_empty() && self.dice.once_in(4) {
            return self.refresh();
        }
        match self.dice.below(18) {
            17 => self.function(),
            15..=16 => self.on_entries(),
            0 => self.fresh(),
            13 => self.images(),
            14 => self.totalled(),
            1..=2 => self.sum(),
            3..=4 => self.product(),
            5..=6 => self.with_plain(),
            7 => self.scaled(),
            8 => self.moved(),
            9 => self.linear(),
            10 => self.level(),
            11 => self.polynomial(),
            _ => self.file(),
        }
    }

    /// New levels, unless values are too large or too many.
    fn refresh(&mut self) -> Result<(), Error> {
        let a = self.any();
        self.judge.operation("refresh");
        let outcome = self.server.refresh(&a.ct);
        let bound = a.ct.magnitude().max(a.ct.rest_magnitude());
        let is_refused = match &outcome {
            Err(Error::Bootstrap(BootstrapError::BoundTooLarge { most, .. })) => bound > *most,
            Err(Error::SlotCount { most, .. }) => a.slots.len() > *most,
            _ => false,
        };
        if is_refused {
            self.judge.refusal(true, "refused by its bound or its slots");
            return Ok(());
        }
        // The error of the sine is the same for the same message.
        self.settle(outcome, (a.slots, true), a.ct.magnitude(), a.ct.depth_left());
        Ok(())
    }

    fn sum(&mut self) -> Result<(), Error> {
        let (a, b) = (self.any(), self.any());
        let engine = self.server.engine();
        let (name, outcome, slots) = match self.dice.below(2) {
            0 => ("add", engine.add(&a.ct, &b.ct), zip(&a.slots, &b.slots, |x, y| x + y)),
            _ => ("subtract", engine.sub(&a.ct, &b.ct), zip(&a.slots, &b.slots, |x, y| x - y)),
        };
        self.judge.operation(name);
        let depth = a.ct.depth_left().min(b.ct.depth_left());
        let strained = a.strained || b.strained;
        self.settle(outcome, (slots, strained), a.ct.magnitude() + b.ct.magnitude(), depth);
        Ok(())
    }

    fn product(&mut self) -> Result<(), Error> {
        let (a, b) = (self.any(), self.any());
        let engine = self.server.engine();
        if self.dice.once_in(3) {
            self.judge.operation("square");
            let slots = a.slots.iter().map(|z| z * z).collect();
            let (square, magnitude) = (engine.square(&a.ct), a.ct.magnitude().powi(2));
            self.settle(square, (slots, a.strained), magnitude, a.ct.depth_left());
        } else {
            self.judge.operation("multiply");
            let depth = a.ct.depth_left().min(b.ct.depth_left());
            let slots = zip(&a.slots, &b.slots, |x, y| x * y);
            let (product, magnitude) = (engine.multiply(&a.ct, &b.ct), a.ct.magnitude() * b.ct.magnitude());
            self.settle(product, (slots, a.strained || b.strained), magnitude, depth);
        }
        Ok(())
    }

    fn with_plain(&mut self) -> Result<(), Error> {
        let a = self.any();
        let count = 1 << self.dice.below(self.context.slots().ilog2() as u64 + 1);
        let bound = self.dice.pick(&[1.0, 0.001, 3.0]);
        let mut values = numbers(&mut self.dice, count, bound);
        let strained = self.dice.once_in(3);
        if strained {
            values[1..].fill(Complex64::ZERO);
            if self.dice.is_adversarial() && self.dice.once_in(2) {
                // Rounds to nothing, or nearly.
                let scale = self.context.ckks().scale(a.ct.level());
                values[0] = Complex64::from(count as f64 / scale * self.dice.pick(&[0.99, 1.01, 2.99]));
            }
        }
        let engine = self.server.engine();
        let (name, outcome, slots, magnitude) = match self.dice.below(2) {
            0 => {
                let outcome = engine.add_plain(&a.ct, &values);
                ("add numbers", outcome, zip(&a.slots, &values, |x, y| x + y), a.ct.magnitude() + bound)
            }
            _ => {
                let outcome = engine.multiply_plain(&a.ct, &values);
                ("times numbers", outcome, zip(&a.slots, &values, |x, y| x * y), a.ct.magnitude() * bound)
            }
        };
        self.judge.operation(name);
        self.settle(outcome, (slots, strained || a.strained), magnitude, a.ct.depth_left());
        Ok(())
    }

    fn scaled(&mut self) -> Result<(), Error> {
        let a = self.any();
        let k = self.dice.within(-5, 5);
        // Large factors are as good as any where there is room.
        let most = if self.dice.once_in(4) { (self.room / 2.0).exp2().max(2.0) } else { 2.0 };
        let c = numbers(&mut self.dice, 1, most)[0];
        let engine = self.server.engine();
        let times = |c: Complex64| -> Vec<Complex64> { a.slots.iter().map(|z| z * c).collect() };
        let (name, outcome, slots) = match self.dice.below(4) {
            0 => ("negate", engine.negate(&a.ct), times(Complex64::from(-1.0))),
            1 => ("times i", engine.multiply_i(&a.ct), times(Complex64::I)),
            2 => ("times an integer", engine.multiply_integer(&a.ct, k), times(Complex64::from(k as f64))),
            _ => ("times a number", engine.multiply_scalar(&a.ct, c), times(c)),
        };
        self.judge.operation(name);
        self.settle(outcome, (slots, a.strained), most.max(5.0) * a.ct.magnitude(), a.ct.depth_left());
        Ok(())
    }

    fn moved(&mut self) -> Result<(), Error> {
        let a = self.any();
        let engine = self.server.engine();
        let count = a.slots.len();
        let amount = self.dice.pick(&[0, 1, 3]);
        let (name, outcome, slots) = match self.dice.below(3) {
            0 => ("conjugate", engine.conjugate(&a.ct), a.slots.iter().map(|z| z.conj()).collect()),
            _ => {
                let slots = (0..count).map(|j| a.slots[(j + amount as usize) % count]).collect();
                ("rotate", engine.rotate(&a.ct, amount), slots)
            }
        };
        self.judge.operation(name);
        self.settle(outcome, (slots, a.strained), a.ct.magnitude(), a.ct.depth_left() + 2);
        Ok(())
    }

    /// Sums of images of one value: the same error twice, or two that are uncorrelated.
    fn images(&mut self) -> Result<(), Error> {
        let a = self.any();
        let engine = self.server.engine();
        let count = a.slots.len();
        let ckks = self.context.ckks();
        let turn = |x: &Ciphertext, amount| engine.automorphism(x, ckks.rotation_element(amount));
        let turned = |amount: usize| -> Vec<Complex64> { (0..count).map(|j| a.slots[(j + amount) % count]).collect() };
        let (name, image, slots) = match self.dice.below(3) {
            0 => ("add the rotated", turn(&a.ct, 1)?, turned(1)),
            1 => ("add the conjugate", engine.conjugate(&a.ct)?, a.slots.iter().map(|z| z.conj()).collect()),
            _ => ("add what was rotated there and back", turn(&turn(&a.ct, 1)?, -1)?, turned(0)),
        };
        self.judge.operation(name);
        let slots = zip(&a.slots, &slots, |x, y| x + y);
        let outcome = engine.add(&a.ct, &image);
        self.settle(outcome, (slots, a.strained), 2.0 * a.ct.magnitude(), a.ct.depth_left());
        Ok(())
    }

    /// The sum of all slots of the ring.
    fn totalled(&mut self) -> Result<(), Error> {
        let a = self.any();
        let (count, most) = (a.slots.len(), self.context.slots());
        self.judge.operation(format!("sum of all slots in {} groups", self.total.groups()));
        let outcome = self.total.apply(self.server.engine(), &a.ct);
        let sum = a.slots.iter().sum::<Complex64>() * (most / count) as f64;
        self.settle(outcome, (vec![sum; count], a.strained), most as f64 * a.ct.magnitude(), a.ct.depth_left());
        Ok(())
    }

    fn linear(&mut self) -> Result<(), Error> {
        let a = self.any();
        let count = self.matrix.rows.len();
        if a.slots.len() != count {
            return self.fresh();
        }
        self.judge.operation(&self.matrix.name);
        let outcome = self.server.apply(&self.matrix.plan, &a.ct);
        let image = |row: &Vec<Complex64>| row.iter().zip(&a.slots).map(|(x, y)| x * y).sum();
        let slots = self.matrix.rows.iter().map(image).collect();
        self.settle(outcome, (slots, a.strained), count as f64 * a.ct.magnitude(), a.ct.depth_left());
        Ok(())
    }

    /// A real polynomial in powers of the argument.
    fn polynomial(&mut self) -> Result<(), Error> {
        let a = self.any();
        let coefficients: Vec<f64> = (0..2 + self.dice.index(7)).map(|_| self.dice.real()).collect();
        let polynomial = Polynomial::monomial(&coefficients)?;
        self.judge.operation(format!("polynomial of degree {}", coefficients.len() - 1));
        let outcome = self.server.engine().evaluate(&polynomial, &a.ct);
        let horner = |z: &Complex64| coefficients.iter().rev().fold(Complex64::ZERO, |sum, &c| sum * z + c);
        let slots = a.slots.iter().map(horner).collect();
        let largest = a.ct.magnitude().max(1.0).powi(coefficients.len() as i32) * coefficients.len() as f64;
        let depth = a.ct.depth_left().saturating_sub(polynomial.depth());
        self.settle(outcome, (slots, a.strained), largest, depth);
        Ok(())
    }

    fn level(&mut self) -> Result<(), Error> {
        let a = self.any();
        let engine = self.server.engine();
        let outcome = if self.dice.once_in(2) {
            self.judge.operation("rescale");
            engine.rescale(&a.ct)
        } else {
            let highest = a.ct.level() + 1 - a.ct.degree() as usize;
            let base = self.context.ckks().base_level();
            if highest < base {
                return Ok(());
            }
            let level = base + self.dice.index(highest - base + 1);
            self.judge.operation(format!("to level {level}"));
            engine.lower(&a.ct, level)
        };
        self.settle(outcome, (a.slots, a.strained), a.ct.magnitude(), a.ct.depth_left() + 1);
        Ok(())
    }

    fn file(&mut self) -> Result<(), Error> {
        let a = self.any();
        self.judge.operation("a file");
        let mut bytes = self.context.to_bytes(&ApproximateCiphertextV1::new(a.ct.clone()))?;
        let back = self.context.from_bytes::<ApproximateCiphertextV1>(&bytes);
        if let Ok(back) = &back
            && self.context.to_bytes(back)? != bytes
        {
            self.judge.find(Fault::WrongLabel, "another file the second time");
        }
        let at = self.dice.index(bytes.len());
        bytes[at] ^= 1 << self.dice.below(8);
        let damaged = self.context.from_bytes::<ApproximateCiphertextV1>(&bytes);
        self.judge.mixture(&format!("byte {at} of a file changed"), damaged);
        let outcome = back.map(ApproximateCiphertextV1::into_ciphertext);
        self.settle(outcome, (a.slots, a.strained), 0.0, usize::MAX);
        if self.dice.once_in(4) {
            let (other, stranger) =
                self.context.generate_keys_from_seed([&windlass::needs::Products], self.dice.word())?;
            self.judge.mixture("decrypted under another key", other.decrypt_complex(&a.ct));
            self.judge.mixture("squared under another key", stranger.engine().square(&a.ct));
            let b = other.encrypt(&[0.5])?;
            self.judge.mixture("sum of two key pairs", self.server.add(&a.ct, &b));
        }
        Ok(())
    }
}

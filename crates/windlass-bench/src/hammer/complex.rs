//! A circuit on approximate numbers: values against complex arithmetic, errors against their bound.

use windlass::circuits::{ComplexMap, ComplexSlots, LinearPlan, PlanSpec, Polynomial, Strategy};
use windlass::needs::KeyRequest;
use windlass::rlwe::{Assurance, SecretDistribution};
use windlass::schemes::ckks::{Ciphertext, CkksSpec, Complex64, Decryptor, Encryptor};
use windlass::wire::ApproximateCiphertextV1;
use windlass::{Approximate, Client, Context, Error, NeedsKeys, Server};

use super::dice::Dice;
use super::judge::{Fault, Judge};

/// A ciphertext and its slots.
#[derive(Clone)]
struct Value {
    ct: Ciphertext,
    slots: Vec<Complex64>,
}

/// A matrix and its plan.
struct Matrix {
    rows: Vec<Vec<Complex64>>,
    plan: LinearPlan<ComplexSlots>,
    name: String,
}

struct World {
    dice: Dice,
    judge: Judge,
    context: Context<Approximate>,
    client: Client<Approximate>,
    server: Server<Approximate>,
    encryptor: Encryptor,
    decryptor: Decryptor,
    matrix: Matrix,
    values: Vec<Value>,
    /// log2 of the magnitudes that the lowest level has room for, from below.
    room: f64,
}

/// Runs one circuit.
pub fn run(mut dice: Dice, mut judge: Judge) -> Judge {
    judge.counts.approximate += 1;
    let spec = spec(&mut dice);
    judge.note(format!("{spec:?}"));
    let spare = judge.clone();
    match World::new(dice, judge, &spec) {
        Ok(world) => world.work(),
        Err(error) => {
            let mut judge = spare;
            judge.refusal(false, format!("approximate context: {error}"));
            judge
        }
    }
}

fn spec(dice: &mut Dice) -> CkksSpec {
    let (scale_bits, depth) = (dice.within(28, 45) as u32, 1 + dice.index(5));
    CkksSpec {
        n: 8 << dice.below(6),
        scale_bits,
        depth,
        base_prime_bits: if scale_bits <= 40 { vec![50] } else { vec![50, 50] },
        special_prime_bits: vec![50, 50],
        digits: (depth + 2).div_ceil(2),
        secret: dice.pick(&[SecretDistribution::Ternary, SecretDistribution::Sparse { weight: 4 }]),
        assurance: Assurance::Insecure { name: "insecure_hammer".into() },
    }
}

/// Numbers of absolute value up to a bound.
fn numbers(dice: &mut Dice, count: usize, bound: f64) -> Vec<Complex64> {
    let mut number = || Complex64::from_polar(bound * dice.real().abs(), std::f64::consts::PI * dice.real());
    (0..count).map(|_| number()).collect()
}

fn zip(a: &[Complex64], b: &[Complex64], f: impl Fn(Complex64, Complex64) -> Complex64) -> Vec<Complex64> {
    (0..a.len().max(b.len())).map(|j| f(a[j % a.len()], b[j % b.len()])).collect()
}

impl World {
    fn new(mut dice: Dice, judge: Judge, spec: &CkksSpec) -> Result<Self, Error> {
        let context = Context::approximate(spec)?;
        let matrix = Matrix::draw(&mut dice, &context)?;
        let ckks = context.ckks();
        let mut units: Vec<u64> = [1, 3].map(|amount| ckks.rotation_element(amount)).into();
        units.push(ckks.conjugation_element());
        units.extend(matrix.plan.required_keys());
        let keys = KeyRequest::none("a random circuit").with_relinearisation().with_galois(units);
        let (client, server) = context.generate_keys_from_seed([&keys as &dyn NeedsKeys], dice.word())?;
        let (encryptor, decryptor) = (client.encryptor()?, client.decryptor()?);
        let base: u32 = spec.base_prime_bits.iter().sum();
        let room = f64::from(base - spec.scale_bits) - 3.0;
        let values = Vec::new();
        Ok(Self { dice, judge, context, client, server, encryptor, decryptor, matrix, values, room })
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

    fn any(&mut self) -> Value {
        let at = self.dice.index(self.values.len());
        self.values[at].clone()
    }

    fn fresh(&mut self) -> Result<(), Error> {
        let most = self.context.slots();
        let count = if self.dice.once_in(3) { 1 << self.dice.below(most.ilog2() as u64 + 1) } else { most };
        let bound = self.dice.pick(&[1.0, 0.01, 20.0]);
        let values = match self.dice.below(4) {
            0 => vec![Complex64::from(bound); count],
            _ => numbers(&mut self.dice, count, bound),
        };
        let (outcome, level) = if self.dice.once_in(2) {
            self.judge.operation("encrypt");
            (self.encryptor.encrypt_bounded(&values, bound, self.dice.rng()), self.context.ckks().top_level())
        } else {
            let (base, top) = (self.context.ckks().base_level(), self.context.ckks().top_level());
            let level = base + self.dice.index(top - base + 1);
            self.judge.operation(format!("encrypt at level {level}"));
            (self.decryptor.encrypt(&values, bound, level, self.dice.rng()).map(|(ct, _)| ct), level)
        };
        self.settle(outcome, values, bound, level - self.context.ckks().base_level() + 2);
        Ok(())
    }

    /// `magnitude` is an upper bound on what the result says of its slots; `depth` what the
    /// operands have left.
    fn settle(&mut self, outcome: Result<Ciphertext, Error>, slots: Vec<Complex64>, magnitude: f64, depth: usize) {
        match outcome {
            Ok(ct) => {
                self.check(&ct, &slots);
                let value = Value { ct, slots };
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
                    Error::CapacityExhausted { .. } => depth <= 1 || large,
                    Error::ValueTooLarge { .. } => large,
                    _ => false,
                };
                let what = format!("{error} (2^{:.1} of 2^{:.1}, depth {depth})", magnitude.log2(), self.room);
                self.judge.refusal(right, what);
            }
        }
    }

    fn check(&mut self, ct: &Ciphertext, slots: &[Complex64]) {
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
                }
            }
            Err(error) => self.judge.refusal(false, format!("decrypt: {error}")),
        }
    }

    fn step(&mut self) -> Result<(), Error> {
        match self.dice.below(13) {
            0 => self.fresh(),
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

    fn sum(&mut self) -> Result<(), Error> {
        let (a, b) = (self.any(), self.any());
        let engine = self.server.engine();
        let (name, outcome, slots) = match self.dice.below(2) {
            0 => ("add", engine.add(&a.ct, &b.ct), zip(&a.slots, &b.slots, |x, y| x + y)),
            _ => ("subtract", engine.sub(&a.ct, &b.ct), zip(&a.slots, &b.slots, |x, y| x - y)),
        };
        self.judge.operation(name);
        let depth = a.ct.depth_left().min(b.ct.depth_left());
        self.settle(outcome, slots, a.ct.magnitude() + b.ct.magnitude(), depth);
        Ok(())
    }

    fn product(&mut self) -> Result<(), Error> {
        let (a, b) = (self.any(), self.any());
        let engine = self.server.engine();
        if self.dice.once_in(3) {
            self.judge.operation("square");
            let slots = a.slots.iter().map(|z| z * z).collect();
            self.settle(engine.square(&a.ct), slots, a.ct.magnitude().powi(2), a.ct.depth_left());
        } else {
            self.judge.operation("multiply");
            let depth = a.ct.depth_left().min(b.ct.depth_left());
            let slots = zip(&a.slots, &b.slots, |x, y| x * y);
            self.settle(engine.multiply(&a.ct, &b.ct), slots, a.ct.magnitude() * b.ct.magnitude(), depth);
        }
        Ok(())
    }

    fn with_plain(&mut self) -> Result<(), Error> {
        let a = self.any();
        let count = 1 << self.dice.below(self.context.slots().ilog2() as u64 + 1);
        let bound = self.dice.pick(&[1.0, 0.001, 3.0]);
        let mut values = numbers(&mut self.dice, count, bound);
        if self.dice.once_in(3) {
            values[1..].fill(Complex64::ZERO);
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
        self.settle(outcome, slots, magnitude, a.ct.depth_left());
        Ok(())
    }

    fn scaled(&mut self) -> Result<(), Error> {
        let a = self.any();
        let k = self.dice.within(-5, 5);
        let c = numbers(&mut self.dice, 1, 2.0)[0];
        let engine = self.server.engine();
        let times = |c: Complex64| -> Vec<Complex64> { a.slots.iter().map(|z| z * c).collect() };
        let (name, outcome, slots) = match self.dice.below(4) {
            0 => ("negate", engine.negate(&a.ct), times(Complex64::from(-1.0))),
            1 => ("times i", engine.multiply_i(&a.ct), times(Complex64::I)),
            2 => ("times an integer", engine.multiply_integer(&a.ct, k), times(Complex64::from(k as f64))),
            _ => ("times a number", engine.multiply_scalar(&a.ct, c), times(c)),
        };
        self.judge.operation(name);
        self.settle(outcome, slots, 5.0 * a.ct.magnitude(), a.ct.depth_left());
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
        self.settle(outcome, slots, a.ct.magnitude(), a.ct.depth_left() + 2);
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
        self.settle(outcome, slots, count as f64 * a.ct.magnitude(), a.ct.depth_left());
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
        self.settle(outcome, slots, largest, a.ct.depth_left().saturating_sub(polynomial.depth()));
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
        self.settle(outcome, a.slots, a.ct.magnitude(), a.ct.depth_left() + 1);
        Ok(())
    }

    fn file(&mut self) -> Result<(), Error> {
        let a = self.any();
        self.judge.operation("a file");
        let mut bytes = self.context.to_bytes(&ApproximateCiphertextV1::new(a.ct.clone()))?;
        let back = self.context.from_bytes::<ApproximateCiphertextV1>(&bytes);
        let at = self.dice.index(bytes.len());
        bytes[at] ^= 1 << self.dice.below(8);
        let damaged = self.context.from_bytes::<ApproximateCiphertextV1>(&bytes);
        self.judge.mixture(&format!("byte {at} of a file changed"), damaged);
        let outcome = back.map(ApproximateCiphertextV1::into_ciphertext);
        self.settle(outcome, a.slots, 0.0, usize::MAX);
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

impl Matrix {
    fn draw(dice: &mut Dice, context: &Context<Approximate>) -> Result<Self, Error> {
        let most = context.slots().min(32);
        let count = if dice.once_in(2) { most } else { 1 << dice.below(most.ilog2() as u64 + 1) };
        let rows: Vec<Vec<Complex64>> = (0..count).map(|_| numbers(dice, count, 1.0)).collect();
        let map = ComplexMap::matrix(&context.vectors(count)?, |i, k| rows[i][k])?;
        let strategies: Vec<Strategy> = Strategy::candidates().chain([Strategy::AUTOMATIC]).collect();
        let strategy = dice.pick(&strategies);
        let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(strategy))?;
        Ok(Self { rows, plan, name: format!("matrix on {count} slots by {strategy}") })
    }
}

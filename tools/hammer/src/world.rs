//! Ciphertexts with what they must hold, both sides, and the comparison of every result.

use windlass::bootstrap::BootstrapError;
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine};
use windlass::{Client, Content, Error, Scheme, Server};

use super::dice::Dice;
use super::judge::{Fault, Judge};
use super::oracle::Values;
use super::plans::Plans;
use super::setting::Setting;
use super::several::{Made, Several};

/// A ciphertext, and what is known of it from outside.
#[derive(Clone)]
pub struct Value {
    pub ct: Ciphertext,
    /// Slots modulo p^exponent.
    pub slots: Values,
    pub exponent: u32,
    /// Whether it must say that its slots hold integers.
    pub integers: bool,
}

/// One context with its keys, and the ciphertexts that a circuit has made so far.
pub struct World {
    pub dice: Dice,
    pub judge: Judge,
    pub setting: Setting,
    pub plans: Plans,
    pub client: Client,
    pub server: Server,
    pub encryptor: Encryptor,
    pub decryptor: Decryptor,
    /// The other scheme over the same keys.
    pub other: (Scheme, Engine, Decryptor),
    pub values: Vec<Value>,
    /// The parties that hold the key together, if it is such a key.
    pub several: Option<Several>,
    /// log2 of C_m: coefficients in the powerful basis are at most C_m times the canonical norm.
    coefficient_bits: f64,
    /// A deliberate mistake of the oracle, to see that the judge sees it.
    pub off_by_one: bool,
}

/// What an operation must give, and what it may cost.
pub struct Expected {
    pub slots: Values,
    pub exponent: u32,
    pub integers: bool,
    /// The available room.
    pub room: f64,
    /// The room that is more than enough.
    pub cost: f64,
}

impl World {
    /// With keys for these plans.
    pub fn new(mut dice: Dice, judge: Judge, setting: Setting, plans: Plans) -> Result<Self, Error> {
        let keys = plans.key_request();
        let context = &setting.context;
        let several = (context.params().spec().secret.parties() > 1).then(|| Several::draw(&mut dice, context, &keys));
        let (several, client, server, encryptor) = match several.transpose()? {
            Some((several, Made { public, keys, secret })) => {
                let encryptor = Encryptor::new(context.scheme(), public);
                let server = context.server_from_keys(keys, Vec::new())?;
                (Some(several), context.client_from_key(secret)?, server, encryptor)
            }
            None => {
                let (client, server) = context.generate_keys_from_seed([&keys], dice.word())?;
                let encryptor = client.encryptor()?;
                (None, client, server, encryptor)
            }
        };
        let decryptor = client.decryptor();
        let scheme = if setting.context.scheme() == Scheme::Bgv { Scheme::Bfv } else { Scheme::Bgv };
        let ring = setting.context.slot_ring();
        let engine = Engine::new(scheme, ring, server.engine().keys().clone())?;
        let other = (scheme, engine, Decryptor::new(scheme, ring, client.secret_key().clone()));
        let m = setting.context.params().m();
        let odd_primes = (3..=m).filter(|l| m % l == 0 && (2..*l).all(|q| l % q != 0));
        let coefficient_bits = odd_primes.map(|l| (2.0 * (1.0 - 1.0 / l as f64)).log2()).sum();
        let values = Vec::new();
        let off_by_one = false;
        Ok(Self {
            dice,
            judge,
            setting,
            plans,
            client,
            server,
            encryptor,
            decryptor,
            other,
            values,
            several,
            coefficient_bits,
            off_by_one,
        })
    }

    /// A value, at random.
    pub fn any(&mut self) -> Value {
        let at = self.dice.index(self.values.len());
        self.values[at].clone()
    }

    /// A second value that can be combined with this one.
    pub fn partner(&mut self, of: &Value) -> Value {
        let fitting: Vec<usize> =
            (0..self.values.len()).filter(|&at| self.values[at].exponent == of.exponent).collect();
        if fitting.is_empty() { of.clone() } else { self.values[self.dice.pick(&fitting)].clone() }
    }

    /// p^exponent.
    pub fn modulus(&self, exponent: u32) -> u64 {
        self.setting.p.pow(exponent)
    }

    /// What a ciphertext that was just switched to this level has left, from below.
    pub fn floor(&self, level: usize) -> f64 {
        let n = self.setting.context.slot_ring().n() as f64;
        let modulus = self.server.engine().context().log2_modulus(level);
        modulus - (self.setting.oracle.t as f64).log2() - 1.5 * n.log2() - 16.0
    }

    /// The room that operands leave where they meet.
    pub fn room(&self, operands: &[&Value]) -> f64 {
        let level = operands.iter().map(|value| value.ct.level()).min().unwrap_or(1);
        let capacity = |value: &&Value| self.server.engine().capacity(&value.ct);
        operands.iter().map(capacity).fold(self.floor(level), f64::min)
    }

    /// What a result must be.
    pub fn expected(&self, slots: Values, operands: &[&Value], cost: f64) -> Expected {
        Expected {
            slots,
            exponent: operands[0].exponent,
            integers: operands.iter().all(|value| value.integers),
            room: self.room(operands),
            cost,
        }
    }

    /// Takes a result in, or judges its refusal.
    pub fn settle(&mut self, outcome: Result<Ciphertext, Error>, expected: Expected) {
        let Expected { mut slots, exponent, integers, room, cost } = expected;
        let ct = match outcome {
            Ok(ct) => ct,
            Err(error) => return self.refused(&error, room, cost),
        };
        let modulus = self.modulus(exponent);
        slots.iter_mut().for_each(|x| *x %= modulus);
        if self.off_by_one {
            slots[0] = (slots[0] + 1) % modulus;
        }
        let value = Value { ct, slots, exponent, integers };
        self.check_labels(&value);
        self.check_noise(&value);
        if self.dice.once_in(2) {
            self.check_decryption(&value);
        }
        if self.values.len() < 8 {
            self.values.push(value);
        } else {
            let at = self.dice.index(8);
            self.values[at] = value;
        }
    }

    /// Refusals for lack of room are right where there is little, and say so.
    pub fn refused(&mut self, error: &Error, room: f64, cost: f64) {
        let right = match error {
            Error::CapacityExhausted { needed_bits, left_bits, .. } => {
                room < cost && needed_bits + 0.05 >= *left_bits && left_bits.is_finite() && needed_bits.is_finite()
            }
            Error::Bootstrap(BootstrapError::CapacityTooLow { .. }) => room < cost,
            _ => false,
        };
        self.judge.refusal(right, format!("{error} (room {room:.1}, cost at most {cost:.1})"));
    }

    /// The metadata of the ciphertext.
    pub fn check_labels(&mut self, value: &Value) {
        let ct = &value.ct;
        let (oracle, content) = (&self.setting.oracle, ct.content());
        if content == Content::Integers && !oracle.are_integers(&value.slots) {
            self.judge.find(Fault::WrongLabel, "says integers where there are elements");
        } else if content == Content::Elements && (value.integers || self.setting.oracle.d == 1) {
            self.judge.find(Fault::WrongLabel, "forgets that its slots hold integers");
        }
        let own = (self.setting.context.scheme(), value.exponent, self.setting.p, self.client.secret_key().key_id());
        if (ct.scheme(), ct.exponent(), ct.prime(), ct.key_id()) != own {
            self.judge.find(Fault::WrongLabel, format!("exponent {} for {}", ct.exponent(), value.exponent));
        }
    }

    /// The exact noise, which must be within the bound.
    pub fn check_noise(&mut self, value: &Value) {
        let (bound, capacity) = (value.ct.log2_noise(), self.server.engine().capacity(&value.ct));
        match self.decryptor.exact_noise_leaks_the_secret_key(&value.ct) {
            // A number of b bits is at least 2^{b−1}.
            Ok(bits) if bits > 0.0 && bits - 1.0 > bound + self.coefficient_bits + 1e-6 => {
                self.judge.find(Fault::BrokenBound, format!("noise of {bits} bits, bound {bound:.3}"));
            }
            Ok(_) if capacity <= 0.0 => {
                self.judge.find(Fault::BrokenBound, format!("a result with a capacity of {capacity:.2}"));
            }
            Ok(_) => {}
            Err(error) => self.judge.refusal(false, format!("exact noise: {error}")),
        }
    }

    /// Decrypts and compares.
    pub fn check_decryption(&mut self, value: &Value) {
        match self.decryptor.decrypt(&value.ct) {
            Ok(plaintext) => {
                self.judge.counts.decryptions += 1;
                let got = plaintext.to_slots();
                if got != value.slots {
                    let at = got.iter().zip(&value.slots).position(|(a, b)| a != b);
                    let what = format!("{:?} for {:?} at {at:?}", at.map(|i| got[i]), at.map(|i| value.slots[i]));
                    self.judge.find(Fault::WrongAnswer, what);
                }
                if plaintext.slot_ring().modulus().exponent() != value.exponent {
                    self.judge.find(Fault::WrongLabel, "a plaintext of another modulus");
                }
            }
            Err(error) => self.judge.refusal(false, format!("decrypt: {error}")),
        }
        self.check_shares(value);
    }
}

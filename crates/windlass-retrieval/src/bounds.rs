#![doc = include_str!("../../../docs/math/retrieval.md")]

use windlass_rlwe::RlweParams;
use windlass_rlwe::noise::{all_ones_norm, secret_norm_bound};

use crate::selector::SelectorGadget;
use crate::setting::{N, PRIMES, Setting};

/// Bits of security against failure: every coefficient of one answer polynomial is right but with
/// probability 2^{−128}.
pub const FAILURE_BITS: f64 = 128.0;

/// How much of half the distance between two messages the error of the server may take; rounding
/// the answer may take another half.
const SERVER_SHARE: f64 = 0.25;

/// The part of half the distance that rounding the second half of an answer may take.
const ROUNDING_SHARE: f64 = 0.375;

/// What a decrypted coefficient may be off, in halves of the distance between two messages: the
/// shares of the server and of both roundings. Random residues are off by more in one case of
/// four.
pub const ACCEPTED: f64 = 0.75;

/// Variances of errors in one setting, as factors of linear forms in them: a coefficient w·x of a
/// vector x of independent errors of variance V is sub-Gaussian with ‖w‖²·V.
#[derive(Debug, Clone, Copy)]
pub struct Errors {
    /// V_0 = σ², a fresh error.
    fresh: f64,
    /// (1 + S²)/12: what dividing by P rounds away, S ≥ ‖s‖ in the canonical norm.
    rounding: f64,
    /// What the errors of a switching key leave, with everything about the digits at its worst.
    key: f64,
    /// S².
    secret: f64,
    /// log2 Q.
    log2_modulus: f64,
}

impl Errors {
    /// Those of a setting.
    pub fn of(setting: &Setting) -> Self {
        let params = setting.context().params();
        let secret = secret_norm_bound(params.shape(), params.secret()).powi(2);
        // A digit has coefficients in [0, q_i): half of it the mean, the rest random.
        let spread = tail() * (N as f64 / 12.0).sqrt();
        let digit = 2f64.powf(params.log2_q(1)) * (all_ones_norm(params.shape()) / 2.0 + spread);
        let key = PRIMES as f64 * (digit * RlweParams::SIGMA / 2f64.powf(params.log2_p())).powi(2);
        Self {
            fresh: RlweParams::SIGMA.powi(2),
            rounding: (1.0 + secret) / 12.0,
            key,
            secret,
            log2_modulus: setting.log2_modulus(),
        }
    }

    /// The energy of one ciphertext out of an expansion of `depth` steps, to be multiplied by the
    /// square of the largest coefficient that it meets.
    fn expanded(&self, depth: u32) -> f64 {
        let depth_f = f64::from(depth);
        N as f64 * 2f64.powi(depth as i32) * (self.fresh + 2.0 * self.rounding + depth_f * self.key)
    }

    /// Variance of a coefficient of Σ table·expanded over `rows` rows whose plaintexts are at most
    /// `largest` in absolute value and do not follow the expansion.
    fn scanned(&self, depth: u32, rows: usize, largest: f64) -> f64 {
        rows as f64 * largest * largest * self.expanded(depth)
    }

    /// The same for any plaintexts modulo 2^bits under a mask.
    pub(crate) fn masked(&self, depth: u32, rows: usize, bits: u32) -> f64 {
        let nodes = 2f64.powi(depth as i32);
        let rank = (N * rows) as f64 / nodes;
        let tail = tail().powi(2) / 2.0;
        let deviation = 1.0 + 2.0 * (tail / rank).sqrt() + 2.0 * tail / rank;
        let energy = self.fresh + self.rounding + f64::from(depth) / 2.0 * self.key;
        deviation * (N * rows) as f64 * nodes * 4f64.powi(bits as i32) / 12.0 * energy
    }

    /// Variance that `levels` external products add.
    fn chosen(&self, depth: u32, levels: u32, gadget: SelectorGadget) -> f64 {
        if levels == 0 {
            return 0.0;
        }
        let half_base = 2f64.powi(gadget.base_bits as i32 - 1);
        let row = (1.0 + self.secret) * self.expanded(depth) + N as f64 * (self.rounding + self.key);
        let products = f64::from(gadget.digits) * half_base.powi(2) * row;
        let dropped = 4f64.powi(gadget.dropped(self.log2_modulus.ceil() as u32) as i32) * (1.0 + N as f64) / 12.0;
        f64::from(levels) * (products + dropped)
    }

    /// The best base for ℓ digits.
    fn best_base(&self, depth: u32, levels: u32, digits: u32) -> SelectorGadget {
        let of = |base_bits| SelectorGadget { digits, base_bits };
        let most = self.log2_modulus.ceil() as u32 / digits;
        (1..=most.min(24))
            .map(of)
            .min_by(|a, b| self.chosen(depth, levels, *a).total_cmp(&self.chosen(depth, levels, *b)))
            .expect("the modulus has bits")
    }

    /// What a table of `rows` rows allows: the largest plaintext modulus 2^b whose selection and
    /// `levels` choices by ℓ digits are right, with the base that allows it. None when there is
    /// no bit to be had.
    pub fn message_bits(&self, depth: u32, rows: usize, levels: u32, digits: u32) -> Option<(u32, SelectorGadget)> {
        let gadget = self.best_base(depth, levels, digits);
        (1..=24).rev().find(|&bits| self.fits(depth, rows, levels, gadget, bits)).map(|bits| (bits, gadget))
    }

    /// Whether the server's error stays within its share, for messages modulo 2^bits in a table of
    /// `rows` rows under a mask.
    pub fn fits(&self, depth: u32, rows: usize, levels: u32, gadget: SelectorGadget, bits: u32) -> bool {
        let variance = self.masked(depth, rows, bits) + self.chosen(depth, levels, gadget);
        // Δ = round(Q/t) is off by at most a half, times the message.
        let error = tail() * variance.sqrt() + 2f64.powi(bits as i32 - 1);
        error.log2() + f64::from(bits) + 1.0 - self.log2_modulus <= SERVER_SHARE.log2()
    }

    /// Whether scores modulo 2^bits come out right: Σ over `rows` rows of plaintexts of at most
    /// `largest` times expanded ciphertexts, nothing chosen.
    pub fn carries(&self, depth: u32, rows: usize, largest: f64, bits: u32) -> bool {
        // Δ = round(Q/t) is off by at most a half, times a score of at most t/2.
        let error = tail() * self.scanned(depth, rows, largest).sqrt() + 2f64.powi(bits as i32 - 2);
        error.log2() + f64::from(bits) + 1.0 - self.log2_modulus <= SERVER_SHARE.log2()
    }
}

/// k such that no coefficient of an answer polynomial is off by more than k standard deviations,
/// but with probability 2^{−128}.
pub fn tail() -> f64 {
    (2.0 * std::f64::consts::LN_2 * (FAILURE_BITS + (2.0 * N as f64).log2())).sqrt()
}

/// Bits of an answer's second half for messages of `bits` bits: its rounding, times the secret,
/// stays within its share.
pub fn answer_bits(bits: u32) -> u32 {
    let rounding = tail() * (N as f64 / 12.0).sqrt();
    bits + 1 + (rounding / ROUNDING_SHARE).log2().ceil() as u32
}

/// Bits of an answer's first half: rounding it moves a message by at most an eighth of half the
/// distance to the next.
pub fn first_bits(bits: u32) -> u32 {
    bits + 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Moduli;

    #[test]
    fn more_rows_and_deeper_expansions_leave_fewer_bits() {
        for moduli in Moduli::ALL {
            let setting = Setting::new(moduli).unwrap();
            let errors = Errors::of(&setting);
            let bits = |depth, rows, levels, digits| errors.message_bits(depth, rows, levels, digits).unwrap().0;
            assert!(bits(10, 512, 8, 3) <= bits(6, 32, 8, 3));
            assert!(bits(10, 512, 8, 1) < bits(10, 512, 8, 3));
            assert!(bits(10, 512, 8, 3) <= bits(10, 512, 0, 3));
            println!("{moduli:?}: {:?} {:?}", errors.message_bits(10, 512, 12, 3), errors.message_bits(6, 32, 3, 3));
        }
    }

    #[test]
    fn what_is_accepted_is_the_sum_of_the_shares() {
        assert_eq!(ACCEPTED, SERVER_SHARE + ROUNDING_SHARE + 0.125);
        let bits = 17;
        let share = tail() * (N as f64 / 12.0).sqrt() * 2f64.powi(bits + 1 - answer_bits(bits as u32) as i32);
        assert!(share <= ROUNDING_SHARE && 2.0 * share > ROUNDING_SHARE / 2.0);
    }
}

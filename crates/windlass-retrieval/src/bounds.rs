#![doc = include_str!("retrieval.md")]

use windlass_rlwe::RlweParams;
use windlass_rlwe::noise::{all_ones_norm, secret_norm_bound};

use crate::selector::SelectorGadget;
use crate::setting::{N, PRIMES, Setting};

/// Bits of security against failure: every coefficient of one answer polynomial is right except with
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

/// What is expanded: for each selection its rows, then its selectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expansion {
    /// Selections of a ciphertext.
    pub selections: usize,
    /// Rows of each.
    pub rows: usize,
    /// Coefficients of selectors of each.
    pub selectors: usize,
}

impl Expansion {
    /// Coefficients of a selection.
    fn each(&self) -> usize {
        self.rows + self.selectors
    }

    /// Steps.
    pub fn depth(&self) -> u32 {
        (self.selections * self.each()).next_power_of_two().ilog2()
    }

    /// The energy of outputs, as multiples of what they have where every node is split: the mean over
    /// the rows of a selection, and the most that a selector has.
    ///
    /// Where nothing but zeros would be split off, a node is doubled, and keeps twice the energy. In
    /// queries for fewer selections than fit that happens more often.
    fn energies(&self) -> (f64, f64) {
        let (depth, each) = (self.depth(), self.each());
        let energy = |place: usize, count: usize| {
            let doubled = |step: &u32| (place & ((1 << step) - 1)) + (1 << step) >= count;
            2f64.powi((0..depth).filter(doubled).count() as i32)
        };
        let (mut rows, mut selectors) = (0f64, 0f64);
        for asked in 1..=self.selections {
            for first in (0..asked).map(|selection| selection * each) {
                let of = |places: std::ops::Range<usize>| places.map(|place| energy(first + place, asked * each));
                rows = rows.max(of(0..self.rows).sum::<f64>() / self.rows as f64);
                selectors = of(self.rows..each).fold(selectors, f64::max);
            }
        }
        (rows, selectors)
    }
}

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
        // As if a digit had coefficients in [0, q_i), half of it the mean, the rest random: centred
        // ones have no mean, but plans and the files that hold them were made by this bound.
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

    /// Variance of a coefficient of Σ table·expanded over the rows of `ciphertexts` expansions, for
    /// plaintexts that are at most `largest` in absolute value and do not follow the expansion.
    fn scanned(&self, expansion: &Expansion, ciphertexts: usize, largest: f64) -> f64 {
        let rows = (expansion.rows * ciphertexts) as f64 * expansion.energies().0;
        rows * largest * largest * self.expanded(expansion.depth())
    }

    /// The same for any plaintexts modulo 2^bits under a mask.
    pub(crate) fn masked(&self, expansion: &Expansion, bits: u32) -> f64 {
        let (nodes, coefficients) = (2f64.powi(expansion.depth() as i32), (N * expansion.rows) as f64);
        let (rank, tail) = (coefficients / nodes, tail().powi(2) / 2.0);
        let deviation = 1.0 + 2.0 * (tail / rank).sqrt() + 2.0 * tail / rank;
        let errors = self.fresh + self.rounding + f64::from(expansion.depth()) / 2.0 * self.key;
        // The mean of a coefficient is −1/2, so its mean square is not quite 4^b/12.
        let square = (4f64.powi(bits as i32) + 6.0) / 12.0;
        deviation * expansion.energies().0 * coefficients * nodes * square * errors
    }

    /// Variance that `levels` external products add.
    fn chosen(&self, expansion: &Expansion, levels: u32, gadget: SelectorGadget) -> f64 {
        if levels == 0 {
            return 0.0;
        }
        let half_base = 2f64.powi(gadget.base_bits as i32 - 1);
        let expanded = expansion.energies().1 * self.expanded(expansion.depth());
        let row = (1.0 + self.secret) * expanded + N as f64 * (self.rounding + self.key);
        let products = f64::from(gadget.digits) * half_base.powi(2) * row;
        let dropped = 4f64.powi(gadget.dropped(self.log2_modulus.ceil() as u32) as i32) * (1.0 + N as f64) / 12.0;
        f64::from(levels) * (products + dropped)
    }

    /// The best base for ℓ digits.
    fn best_base(&self, expansion: &Expansion, levels: u32, digits: u32) -> SelectorGadget {
        let of = |base_bits| SelectorGadget { digits, base_bits };
        let most = self.log2_modulus.ceil() as u32 / digits;
        (1..=most.min(24))
            .map(of)
            .min_by(|a, b| self.chosen(expansion, levels, *a).total_cmp(&self.chosen(expansion, levels, *b)))
            .expect("the modulus has bits")
    }

    /// What an expansion allows: the largest plaintext modulus 2^b whose selection and `levels`
    /// choices by ℓ digits are right, with the base that allows it. None if not even
    /// one bit is right.
    pub fn message_bits(&self, expansion: &Expansion, levels: u32, digits: u32) -> Option<(u32, SelectorGadget)> {
        let gadget = self.best_base(expansion, levels, digits);
        (1..=24).rev().find(|&bits| self.fits(expansion, levels, gadget, bits)).map(|bits| (bits, gadget))
    }

    /// Whether the server's error stays within its share, for messages modulo 2^bits in a table
    /// under a mask.
    pub fn fits(&self, expansion: &Expansion, levels: u32, gadget: SelectorGadget, bits: u32) -> bool {
        let variance = self.masked(expansion, bits) + self.chosen(expansion, levels, gadget);
        // Δ = round(Q/t) is off by at most a half, times the message.
        let error = tail() * variance.sqrt() + 2f64.powi(bits as i32 - 1);
        error.log2() + f64::from(bits) + 1.0 - self.log2_modulus <= SERVER_SHARE.log2()
    }

    /// Whether scores modulo 2^bits come out right: Σ over the rows of `ciphertexts` expansions of
    /// plaintexts of at most `largest` times expanded ciphertexts, nothing chosen.
    pub fn carries(&self, expansion: &Expansion, ciphertexts: usize, largest: f64, bits: u32) -> bool {
        // Δ = round(Q/t) is off by at most a half, times a score of at most t/2.
        let error = tail() * self.scanned(expansion, ciphertexts, largest).sqrt() + 2f64.powi(bits as i32 - 2);
        error.log2() + f64::from(bits) + 1.0 - self.log2_modulus <= SERVER_SHARE.log2()
    }
}

/// k such that no coefficient of an answer polynomial is off by more than k standard deviations,
/// except with probability 2^{−128}.
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
            let bits = |rows, levels: u32, digits: u32| {
                let expansion = Expansion { selections: 1, rows, selectors: (levels * digits) as usize };
                errors.message_bits(&expansion, levels, digits).unwrap().0
            };
            assert!(bits(512, 8, 3) <= bits(32, 8, 3));
            assert!(bits(512, 8, 1) < bits(512, 8, 3));
            assert!(bits(512, 8, 3) <= bits(512, 0, 3));
        }
    }

    #[test]
    fn doubled_nodes_keep_twice_the_energy() {
        let energies = |selections, rows, selectors| Expansion { selections, rows, selectors }.energies();
        assert_eq!(energies(1, 32, 0), (1.0, 0.0));
        // 31 of the 32 first nodes are doubled in the last step.
        assert_eq!(energies(1, 33, 0).0, (31.0 * 2.0 + 2.0) / 33.0);
        assert_eq!(energies(1, 16, 7), ((9.0 * 2.0 + 7.0) / 16.0, 1.0));
        // Nodes 2 and 3 of four are doubled: a row and a selector.
        assert_eq!(energies(1, 3, 3), (4.0 / 3.0, 2.0));
        // A query for one selection where two fit doubles all nodes once more.
        assert_eq!(energies(2, 16, 0).0, 2.0);
    }

    #[test]
    fn what_is_accepted_is_the_sum_of_the_shares() {
        assert_eq!(ACCEPTED, SERVER_SHARE + ROUNDING_SHARE + 0.125);
        let bits = 17;
        let share = tail() * (N as f64 / 12.0).sqrt() * 2f64.powi(bits + 1 - answer_bits(bits as u32) as i32);
        assert!(share <= ROUNDING_SHARE && 2.0 * share > ROUNDING_SHARE / 2.0);
    }
}

//! Key switches on rows of 32-bit residues.
//!
//! The result has the same bits as [`windlass_rlwe::switching::switch`], at the single level of
//! retrieval. Digit k of x is the centred residue of x modulo q_k. So modulo q_k it is x itself;
//! modulo the other prime of Q and modulo P its coefficients are lifted. P has a row of 50-bit
//! residues, as in the engine. With the centred remainder δ of the sum modulo P the quotient is
//! (sum − δ)/P; the rows of the key contain 1/P already.

use std::sync::Arc;

use windlass_kernels::Automorphism;
use windlass_kernels::rows::{PairSum, dot_pairs};
use windlass_kernels::u32_rows::{Products, Rest};
use windlass_rlwe::RlweError;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::switching::SwitchingKey;

use crate::error::{Error, Result};
use crate::setting::{N, PRIMES, Setting};
use crate::u32_ciphertext::U32Ciphertext;

/// The number of P among the primes of the ring.
const SPECIAL: usize = PRIMES;

/// A switching key, its rows of Q ready for products of 32 bits.
#[derive(Debug)]
pub struct U32Key<'a> {
    /// (b_k, a_k)/P modulo each prime of Q.
    products: [Products; PRIMES],
    /// (b_k, a_k) modulo P.
    special: [[&'a [u64]; 2]; PRIMES],
}

impl<'a> U32Key<'a> {
    /// Cost: a multiplication for each residue of Q.
    ///
    /// # Errors
    /// [`RlweError::KeyLevelTooLow`].
    pub fn new(setting: &Setting, key: &'a SwitchingKey) -> Result<Self> {
        if key.level() < PRIMES {
            return Err(RlweError::KeyLevelTooLow { key: key.level(), needed: PRIMES }.into());
        }
        let halves: Vec<_> = key.pairs().collect();
        let products = [0, 1].map(|index| {
            let q = setting.prime(index);
            let divide = q.inv(q.reduce(setting.prime(SPECIAL).value()));
            let narrow = |row: &[u64]| row.iter().map(|&x| x as u32).collect::<Vec<u32>>();
            let rows: Vec<Vec<u32>> = halves.iter().map(|half| narrow(half.row_of(index))).collect();
            // What is taken off was divided by 2^32.
            let factor = q.neg(q.mul(divide, q.reduce(1 << 32)));
            Products::new(
                setting.isa(),
                q,
                rows.chunks_exact(2).map(|pair| [&pair[0][..], &pair[1][..]]),
                divide,
                factor,
            )
        });
        let special = [0, 1].map(|k| [0, 1].map(|half| halves[2 * k + half].row_of(SPECIAL)));
        Ok(Self { products, special })
    }

    /// round(Σ digit_k(x)·(b_k, a_k)/P), and `added` to its first or second part.
    ///
    /// Cost: 2 inverse and 6 forward transforms of rows of 32-bit words, 2 and 2 modulo P.
    pub fn switch(
        &self,
        setting: &Setting,
        x: [&[u32]; PRIMES],
        added: [Option<[&[u32]; PRIMES]>; 2],
    ) -> U32Ciphertext {
        let isa = setting.isa();
        let mut scratch = U32Ciphertext::unspecified(setting);
        let [mut digits, [first, second]] = scratch.rows_mut();
        for (index, (digit, x)) in digits.iter_mut().zip(x).enumerate() {
            digit.copy_from_slice(x);
            setting.plan(index).inverse(digit);
        }
        let special = self.special_sums(setting, digits.each_ref().map(|digit| &**digit));
        let mut out = U32Ciphertext::unspecified(setting);
        let [b, a] = out.rows_mut();
        let mut lowered = U32Ciphertext::unspecified(setting);
        let [[rest_b, rest_a], _] = lowered.rows_mut();
        for (index, (b, a)) in b.into_iter().zip(a).enumerate() {
            let plan = setting.plan(index);
            for (rest, sum) in [&mut *rest_b, &mut *rest_a].into_iter().zip(special.rows()) {
                setting.lowering(index).apply(isa, sum, rest);
                plan.forward(rest);
            }
            let other = if index == 0 { &mut *first } else { &mut *second };
            lift_centred(setting, 1 - index, index, digits[1 - index], other);
            plan.forward(other);
            let mut terms = [x[index]; PRIMES];
            terms[1 - index] = other;
            let rest = Rest { scaled: Some([rest_b, rest_a]), added: added.map(|rows| rows.map(|rows| rows[index])) };
            self.products[index].sum(isa, &terms, rest, [b, a]);
        }
        out
    }

    /// The coefficients of the sums modulo P.
    fn special_sums(&self, setting: &Setting, digits: [&[u32]; PRIMES]) -> BaseQp {
        let plan = setting.context().ring().plan(SPECIAL);
        let mut wide = BaseQp::unspecified(setting);
        for (index, (row, digit)) in wide.rows_mut().into_iter().zip(digits).enumerate() {
            let q = setting.prime(index).value();
            let (half, below) = ((q / 2) as u32, plan.modulus().value() - q);
            row.iter_mut().zip(digit).for_each(|(word, &x)| *word = u64::from(x) + below * u64::from(x > half));
            plan.forward(row);
        }
        let mut sums = BaseQp::unspecified(setting);
        let terms = self.special.iter().zip(wide.rows()).map(|(&pair, digit)| (pair, digit)).collect();
        dot_pairs(setting.isa(), plan.modulus(), &mut [PairSum { out: sums.rows_mut(), terms }]);
        sums.rows_mut().into_iter().for_each(|row| plan.inverse(row));
        sums
    }
}

/// The centred residues of a row modulo one prime of Q, modulo another. Primes are within a factor
/// of two of each other.
fn lift_centred(setting: &Setting, from: usize, to: usize, row: &[u32], out: &mut [u32]) {
    let [from, to] = [from, to].map(|index| setting.prime(index).value() as u32);
    let (half, below) = (from / 2, to.wrapping_sub(from));
    for (out, &x) in out.iter_mut().zip(row) {
        *out = x.wrapping_add(below & 0u32.wrapping_sub(u32::from(x > half)));
    }
}

/// Two rows of 64-bit words, in the memory of a pair.
struct BaseQp(U32Ciphertext);

impl BaseQp {
    fn unspecified(setting: &Setting) -> Self {
        Self(U32Ciphertext::unspecified(setting))
    }

    fn rows(&self) -> [&[u64]; 2] {
        let (first, second) = self.0.long_words().split_at(N);
        [first, second]
    }

    fn rows_mut(&mut self) -> [&mut [u64]; 2] {
        let (first, second) = self.0.long_words_mut().split_at_mut(N);
        [first, second]
    }
}

/// The automorphisms of an expansion of `depth` steps.
pub fn elements(depth: u32) -> impl Iterator<Item = u64> {
    (0..depth).map(|j| (N as u64 >> j) + 1)
}

/// The evaluation keys of a client as the server uses them.
#[derive(Debug)]
pub struct U32Keys<'a> {
    /// For each step of an expansion.
    steps: Vec<Option<ExpansionStep<'a>>>,
    relinearisation: Option<U32Key<'a>>,
}

/// An automorphism with its key.
#[derive(Debug)]
pub struct ExpansionStep<'a> {
    /// How values move.
    pub automorphism: Arc<Automorphism>,
    /// Its key.
    pub key: U32Key<'a>,
}

impl<'a> U32Keys<'a> {
    /// Those of an expansion of `depth` steps, and the relinearisation key, as far as they are
    /// there.
    ///
    /// # Errors
    /// [`RlweError::KeyLevelTooLow`].
    pub fn new(setting: &Setting, keys: &'a EvaluationKeys, depth: u32) -> Result<Self> {
        let ring = setting.context().ring();
        let step = |element: u64| -> Result<Option<ExpansionStep<'a>>> {
            let Some(key) = keys.galois(element) else { return Ok(None) };
            let automorphism = ring.automorphism(element).map_err(RlweError::from)?;
            Ok(Some(ExpansionStep { automorphism, key: U32Key::new(setting, key)? }))
        };
        let relinearisation = keys.relinearisation().map(|key| U32Key::new(setting, key)).transpose()?;
        Ok(Self { steps: elements(depth).map(step).collect::<Result<_>>()?, relinearisation })
    }

    /// Steps of the expansion.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// The automorphism of a step.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn step(&self, step: usize) -> Result<&ExpansionStep<'a>> {
        let found = self.steps.get(step).and_then(Option::as_ref);
        found.ok_or(Error::MissingKey { what: "an automorphism of the expansion" })
    }

    /// The relinearisation key.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn relinearisation(&self) -> Result<&U32Key<'a>> {
        self.relinearisation.as_ref().ok_or(Error::MissingKey { what: "the relinearisation key" })
    }
}

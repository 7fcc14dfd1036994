//! The public shape of a prepared table: everything that a client needs for a query.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windlass_rlwe::Limits;

use crate::bounds::{Errors, Expansion, FAILURE_BITS, answer_bits, first_bits};
use crate::error::Result;
use crate::selector::SelectorGadget;
use crate::setting::{Moduli, N, PRIMES, Setting};
use crate::switch;

/// How a table is laid out, and what queries and answers look like.
///
/// A table is a matrix of R × C polynomials with n coefficients modulo 2^b. A *selection* asks for
/// one of them: R coefficients say which row, ⌈log2 C⌉ selectors which column, and further ones
/// which of the records within a polynomial; each selector is ℓ coefficients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The moduli.
    pub moduli: Moduli,
    /// b.
    pub message_bits: u32,
    /// R.
    pub rows: usize,
    /// C.
    pub columns: usize,
    /// Coefficients of one record; records of one polynomial follow each other.
    pub record_coefficients: usize,
    /// Records that a selection tells apart within a polynomial: 1 where whole polynomials are
    /// asked for.
    pub records: usize,
    /// Selections in one ciphertext.
    pub selections: usize,
    /// The gadget of the selectors.
    pub gadget: SelectorGadget,
}

/// Bits that tell `count` things apart.
pub fn index_bits(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros()
}

impl Shape {
    /// Selectors of one selection.
    pub fn selectors(&self) -> u32 {
        index_bits(self.columns) + index_bits(self.records)
    }

    /// [`Self::selectors`].
    #[deprecated(since = "0.3.0", note = "use selectors")]
    pub fn levels(&self) -> u32 {
        self.selectors()
    }

    /// Coefficients of one selection.
    pub fn selection_coefficients(&self) -> usize {
        self.rows + (self.gadget.digits * self.selectors()) as usize
    }

    /// The coefficients that the server expands from one ciphertext.
    pub fn expansion(&self) -> Expansion {
        self.expansion_for(self.selectors())
    }

    /// The same for a selection of so many selectors.
    pub(crate) fn expansion_for(&self, selectors: u32) -> Expansion {
        let selectors = (self.gadget.digits * selectors) as usize;
        Expansion { selections: self.selections, rows: self.rows, selectors }
    }

    /// Steps of the expansion.
    pub fn depth(&self) -> u32 {
        self.expansion().depth()
    }

    /// The polynomials of the table.
    pub fn polynomials(&self) -> usize {
        self.rows * self.columns
    }

    /// Key switches of one selection: those of the expansion and of the selectors.
    pub fn switches(&self) -> usize {
        self.selection_coefficients() + (self.gadget.digits * self.selectors()) as usize - 1
    }

    /// −log2 of the probability that the answer to this many selections is wrong: each digit of a
    /// switch is an event of 2^{−128}, and so are the server's error and the rounding of an answer.
    pub fn failure_bits(&self, selections: usize) -> f64 {
        FAILURE_BITS - ((selections * (PRIMES * self.switches() + 2)) as f64).log2()
    }

    /// Checks a shape from an untrusted party: every number must be in range, and the error of an
    /// answer within its bound.
    ///
    /// # Errors
    /// [`crate::Error::OutOfRange`].
    pub fn check(&self, setting: &Setting) -> Result<()> {
        Limits::between(1, 24).check("the bits of a message", self.message_bits)?;
        Limits::between(1, N).check("the rows of a table", self.rows)?;
        Limits::between(1, 1 << 24).check("the columns of a table", self.columns)?;
        Limits::between(1, N).check("the coefficients of a record", self.record_coefficients)?;
        Limits::between(1, N / self.record_coefficients).check("the records of a polynomial", self.records)?;
        // Places of records are counted in machine words: on 32 bits they do not reach every table.
        let places = self.rows as u64 * self.columns as u64 * self.records as u64;
        Limits::at_most(usize::MAX).check("the records of a table", places)?;
        Limits::between(1, 2).check("the selections of a ciphertext", self.selections)?;
        Limits::between(1, 8).check("the digits of a selector", self.gadget.digits)?;
        Limits::between(1, 24).check("the bits of a selector's digit", self.gadget.base_bits)?;
        let bits = self.gadget.digits * self.gadget.base_bits;
        Limits::at_most(2 * self.moduli.prime_bits()).check("the bits of all digits of a selector", bits)?;
        let wanted = self.selections * self.selection_coefficients();
        Limits::at_most(N).check("the coefficients of a query", wanted)?;
        let errors = Errors::of(setting);
        if !errors.fits(&self.expansion(), self.selectors(), self.gadget, self.message_bits) {
            let limits = Limits::only("few enough for the error of an answer to stay within its bound");
            return Err(limits.refuse("the bits of a message", self.message_bits).into());
        }
        Ok(())
    }

    /// The automorphisms that the server needs keys of.
    pub fn elements(&self) -> Vec<u64> {
        switch::elements(self.depth()).collect()
    }

    /// A hash of everything in it and of `more`: what queries and answers are checked against.
    pub fn hash(&self, more: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"windlass retrieval shape 1\n");
        hash.update(serde_json::to_vec(self).expect("numbers always serialise"));
        hash.update(more);
        hash.finalize().into()
    }

    /// Bytes of the keys, of a query of `selections` selections, and of an answer to one.
    pub fn sizes(&self, setting: &Setting) -> Sizes {
        let params = setting.context().params();
        let keys = self.depth() as u64 + u64::from(self.selectors() > 0);
        let bits = |coefficients: usize, bits: u32| (coefficients * bits as usize).div_ceil(8) as u64;
        let sent = self.sent_coefficients();
        Sizes {
            keys: keys * params.key_sizes().switching_key_disk,
            query: bits(N, 2 * self.moduli.prime_bits()) + 32,
            answer: bits(N, answer_bits(self.message_bits)) + bits(sent, first_bits(self.message_bits)),
            prepared: self.rows as u64 * self.columns.next_multiple_of(2) as u64 * 2 * 4 * N as u64,
        }
    }

    /// Coefficients of an answer's first half: those of the record, and no fewer than show that the
    /// key is right.
    pub fn sent_coefficients(&self) -> usize {
        self.record_coefficients.max(LEAST_SENT)
    }
}

/// Random residues pass for messages with probability 3/4 each: (3/4)^256 < 2^{−100}.
const LEAST_SENT: usize = 256;

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// A client's evaluation keys.
    pub keys: u64,
    /// A ciphertext of a query.
    pub query: u64,
    /// The answer to one selection.
    pub answer: u64,
    /// The prepared table.
    pub prepared: u64,
}

/// The setting of a shape, both checked.
///
/// # Errors
/// As [`Shape::check`].
pub fn setting_of(shape: &Shape) -> Result<Arc<Setting>> {
    let setting = Setting::new(shape.moduli)?;
    shape.check(&setting)?;
    Ok(setting)
}

//! The steps of an answer as separate functions, for benchmarks.

use windlass_rlwe::evaluation::EvaluationKeys;

use crate::error::Result;
use crate::query::Query;
use crate::selector::Selector;
use crate::setting::Setting;
use crate::shape::Shape;
use crate::switch::U32Keys;
use crate::u32_ciphertext::U32Ciphertext;

/// The ciphertext of a query, and a client's keys as the server uses them.
#[derive(Debug)]
pub struct Parts<'a> {
    setting: &'a Setting,
    keys: U32Keys<'a>,
    selector: Selector,
    zero: U32Ciphertext,
    one: U32Ciphertext,
    out: U32Ciphertext,
}

impl<'a> Parts<'a> {
    /// Of a query for a table of this shape, which has selectors.
    ///
    /// # Errors
    /// [`crate::Error::MissingKey`].
    pub fn new(setting: &'a Setting, shape: &Shape, keys: &'a EvaluationKeys, query: &Query) -> Result<Self> {
        let keys = U32Keys::new(setting, keys, shape.depth())?;
        let ciphertext = || query.ciphertexts[0].expand(setting);
        let encrypted = (0..shape.gadget.digits).map(|_| ciphertext());
        let selector = Selector::new(setting, &keys, shape.gadget, encrypted)?;
        let (zero, one) = (ciphertext().twice(setting), ciphertext());
        Ok(Self { setting, keys, selector, zero, one, out: U32Ciphertext::unspecified(setting) })
    }

    /// One transform of a row of Q.
    pub fn transform(&mut self) {
        let [[row, _], _] = self.out.rows_mut();
        self.setting.plan(0).forward_from(self.one.row(0, 0), 0, row);
    }

    /// One key switch.
    ///
    /// # Errors
    /// [`crate::Error::MissingKey`].
    pub fn switch(&mut self) -> Result<()> {
        let key = self.keys.relinearisation()?;
        self.out = key.switch(self.setting, self.one.part(1), [Some(self.one.part(0)), None]);
        Ok(())
    }

    /// One external product.
    pub fn product(&mut self) {
        self.out = self.selector.choose(self.setting, &self.zero, &self.one);
    }

    /// The keys of a client made ready.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn ready(setting: &Setting, shape: &Shape, keys: &EvaluationKeys) -> Result<()> {
        U32Keys::new(setting, keys, shape.depth()).map(drop)
    }
}

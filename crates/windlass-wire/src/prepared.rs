//! The constants of linear plans, in their memory layout.

use std::path::Path;
use std::sync::Arc;

use windlass_circuits::linear::{ComplexSlots, LinearPlan, Plannable, PreparedPlan, Prepares};
use windlass_ring::slots::SlotRing;
use windlass_ring::{Eval, Poly, Values};
use windlass_rlwe::{Bound, Limits};
use windlass_schemes::error::Result;
use windlass_schemes::hex::prefixes;
use windlass_schemes::plaintext::Content;
use windlass_schemes::schemes::{self, ckks};

use super::container::Label;
use super::mapped::{Blocks, Body, PAGE};
use super::source::Source;
use super::values::FileContext;
use super::{Expected, FieldReader, FieldWriter, KeyId, Kind, WireError};

/// Constants belong to no key pair.
const NO_KEY: KeyId = KeyId([0; KeyId::BYTES]);

/// Bytes before the fields of the constants: fingerprint, level, number.
const FIELDS: usize = 32 + 2 + 4;

/// An evaluator whose constants are polynomials with some fields: those of BGV, BFV and CKKS.
pub trait StoresConstants<R: Plannable>: Prepares<R> {
    /// Bytes of the fields of a constant.
    const FIELDS: usize;

    /// Its values over the primes of all levels that it serves and of P.
    fn values(constant: &Self::Constant) -> &Values;
    /// Writes what is known of it beside them.
    fn write_fields(constant: &Self::Constant, out: &mut FieldWriter);
    /// A constant for a level from its values and its fields.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for fields that are impossible.
    fn read_constant(
        &self,
        level: usize,
        poly: Poly<Eval>,
        fields: &mut FieldReader<'_>,
    ) -> Result<Self::Constant, WireError>;
    /// The lowest level that constants can be prepared for.
    fn lowest_level(&self) -> usize;
}

/// Files of the constants of one linear plan, prepared for one evaluator.
///
/// The fields are the fingerprint of the plan (32 bytes, [`LinearPlan::fingerprint`]), the level (2
/// bytes), and the number of constants (4 bytes; those that the plan holds as coefficients, which it
/// has itself, are left out), then those of each constant. BGV and BFV: log2 of the canonical norm
/// (8 bytes, a double), content (1 byte: 1 for integers). CKKS: number of slots (4 bytes), largest
/// absolute value and rounding error (8 bytes each, doubles). One block follows: all constants over
/// Q_level·P, in the order of their use. A file takes 8·(l + k)·n bytes for each constant over l +
/// k primes.
///
/// Norms are taken on trust, as the values are: the checksum finds accidents only.
#[derive(Debug)]
pub struct PlanFiles<'a, C, E, R: Plannable = Arc<SlotRing>> {
    context: &'a C,
    engine: &'a E,
    plan: &'a LinearPlan<R>,
    fingerprint: [u8; 32],
}

impl<'a, C: FileContext, E: StoresConstants<R>, R: Plannable> PlanFiles<'a, C, E, R> {
    /// The files of a plan. Cost: that of [`LinearPlan::fingerprint`].
    pub fn new(context: &'a C, engine: &'a E, plan: &'a LinearPlan<R>) -> Self {
        Self { context, engine, plan, fingerprint: plan.fingerprint() }
    }

    /// Writes the constants to a new read-only file, and returns its size in bytes.
    ///
    /// Memory: one MiB. Cost: one pass of SHA-256.
    ///
    /// # Errors
    /// [`WireError::Io`] if the file exists already or cannot be written; then nothing is left
    /// behind. [`windlass_schemes::Error::ContextMismatch`] for the constants of another plan,
    /// [`windlass_schemes::Error::OutOfRange`] if there is no such level.
    pub fn save(&self, path: &Path, prepared: &PreparedPlan<E, R>) -> Result<u64> {
        Ok(self.body(prepared)?.save(path, &self.label())?)
    }

    /// The bytes of such a file.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::ContextMismatch`] for the constants of another plan.
    pub fn to_bytes(&self, prepared: &PreparedPlan<E, R>) -> Result<Vec<u8>> {
        Ok(self.body(prepared)?.sealed(&self.label()))
    }

    /// The constants of a file. From a file or from shared memory they are used where they lie.
    ///
    /// # Errors
    /// As [`super::load`]; [`WireError::OtherPlan`].
    pub fn open<'b>(&self, source: impl Into<Source<'b>>) -> Result<PreparedPlan<E, R>> {
        source.into().open(&self.expected(), |_, content| self.read(content))
    }

    fn label(&self) -> Label {
        Label { kind: Kind::PreparedConstants, context: *self.context.hash(), key: NO_KEY }
    }

    fn levels(&self) -> Limits {
        Limits::between(self.engine.lowest_level(), self.context.rlwe().top_level())
    }

    /// No more than all constants at the top level.
    fn expected(&self) -> Expected {
        let rlwe = self.context.rlwe();
        let basis = rlwe.base_qp(rlwe.top_level());
        let constant = (E::FIELDS + Poly::stored_len(rlwe.ring(), &basis, 1)) as u64;
        let limit = (2 * PAGE + FIELDS) as u64 + constant.saturating_mul(self.plan.constants() as u64);
        let Label { kind, context, key } = self.label();
        Expected { kind, context, key: Some(key), limit }
    }

    fn body<'b>(&self, prepared: &'b PreparedPlan<E, R>) -> Result<Body<'b>> {
        prepared.check(self.plan.number())?;
        self.levels().check("level", prepared.level())?;
        let ready = prepared.ready();
        let mut fields = FieldWriter::with_capacity(FIELDS + ready.len() * E::FIELDS);
        fields.bytes(&self.fingerprint);
        fields.u16(prepared.level() as u16);
        fields.u32(ready.len() as u32);
        ready.iter().for_each(|constant| E::write_fields(constant, &mut fields));
        Ok(Body { fields, blocks: vec![ready.iter().map(|constant| E::values(constant) as _).collect()] })
    }

    fn read(&self, (mut fields, mut blocks): (FieldReader<'_>, Blocks<'_>)) -> Result<PreparedPlan<E, R>> {
        let malformed = |what| WireError::Malformed { what };
        let found: [u8; 32] = fields.array("fingerprint of a plan")?;
        if found != self.fingerprint {
            let [found, expected] = prefixes(&found, &self.fingerprint, 6);
            return Err(WireError::OtherPlan { found, expected }.into());
        }
        let rlwe = self.context.rlwe();
        let level = usize::from(fields.u16("level of prepared constants")?);
        self.levels().check("level", level).map_err(|_| malformed("level of prepared constants"))?;
        let count = fields.u32("number of prepared constants")? as usize;
        // How many is the choice of whoever wrote the file: limits and ways to hold constants change.
        if count > self.plan.constants() {
            return Err(malformed("number of prepared constants").into());
        }
        let polys = blocks.next(rlwe.ring(), &rlwe.covering_basis(level), count, "prepared constant")?;
        blocks.finish("prepared constants")?;
        let read = |poly| self.engine.read_constant(level, poly, &mut fields);
        let ready: Vec<E::Constant> = polys.into_iter().map(read).collect::<Result<_, WireError>>()?;
        fields.finish("prepared constants")?;
        self.plan.prepared_from(self.engine, level, ready)
    }
}

impl StoresConstants<Arc<SlotRing>> for schemes::Engine {
    const FIELDS: usize = 9;

    fn values(constant: &schemes::Constant) -> &Values {
        constant.values()
    }

    fn write_fields(constant: &schemes::Constant, out: &mut FieldWriter) {
        // The canonical norm of what is not zero is at least 1; that of zero is bounded by 1 too.
        out.f64(constant.norm().bits().max(0.0) + 0.0);
        out.bytes(&[u8::from(constant.content() == Content::Integers)]);
    }

    fn read_constant(
        &self,
        level: usize,
        poly: Poly<Eval>,
        fields: &mut FieldReader<'_>,
    ) -> Result<schemes::Constant, WireError> {
        let log2_norm = fields.f64("norm of a constant")?;
        let most = self.context().log2_modulus(self.context().top_level());
        // −0 would be a second 0.
        if log2_norm.is_sign_negative() || log2_norm > most {
            return Err(WireError::Malformed { what: "norm of a constant" });
        }
        let content = match fields.array("content of a constant")? {
            [0] => Content::Elements,
            [1] => Content::Integers,
            _ => return Err(WireError::Malformed { what: "content of a constant" }),
        };
        Ok(self.constant((poly.into(), level), Bound::from_bits(log2_norm), content))
    }

    fn lowest_level(&self) -> usize {
        1
    }
}

impl StoresConstants<ComplexSlots> for ckks::Engine {
    const FIELDS: usize = 20;

    fn values(constant: &ckks::Constant) -> &Values {
        constant.values()
    }

    fn write_fields(constant: &ckks::Constant, out: &mut FieldWriter) {
        let (slots, magnitude, rounding) = constant.fields();
        out.u32(slots as u32);
        out.f64(magnitude);
        out.f64(rounding);
    }

    fn read_constant(
        &self,
        level: usize,
        poly: Poly<Eval>,
        fields: &mut FieldReader<'_>,
    ) -> Result<ckks::Constant, WireError> {
        let slots = fields.u32("number of slots")? as usize;
        let [magnitude, rounding] = [fields.f64("bound on the slots")?, fields.f64("error of the slots")?];
        if slots == 0 || !self.context().most_slots().is_multiple_of(slots) {
            return Err(WireError::Malformed { what: "number of slots" });
        }
        // −0 would be a second 0.
        if magnitude.is_sign_negative() || rounding.is_sign_negative() {
            return Err(WireError::Malformed { what: "bound on the slots, or their error" });
        }
        Ok(ckks::Constant::from_file(poly, level, (slots, magnitude, rounding)))
    }

    fn lowest_level(&self) -> usize {
        self.context().base_level()
    }
}

//! Evaluation keys ready for use: both halves, in their memory layout.

use std::path::Path;
use std::sync::Arc;

use windlass_ring::Poly;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::switching::SwitchingKey;
use windlass_schemes::error::Result;

use super::container::Label;
use super::keys::{KEY_FIELDS, in_order, read_keys, write_fields};
use super::mapped::{self, Blocks, Body, PAGE};
use super::source::Source;
use super::values::{FileContext, Wire};
use super::{Expected, FieldReader, FieldWriter, KeyId, Kind, WireError};

/// Evaluation keys in a file that can be mapped.
///
/// The fields are the number of keys (4 bytes), then for each its element (8 bytes; 0 for
/// relinearisation, first), level (2 bytes) and seed (32 bytes); elements increase. One block for
/// each key follows: its halves b_0, a_0, b_1, a_1, .. over the primes of
/// all levels up to its own and those of P. A file takes 16·d·(l + k)·n
/// bytes for each key of d digits over l + k primes, two to three times an [`EvaluationKeys`] file,
/// and nothing has to be expanded or unpacked.
#[derive(Debug, Clone)]
pub struct ReadyKeys(pub Arc<EvaluationKeys>);

impl ReadyKeys {
    fn body(&self) -> Body<'_> {
        let keys = in_order(&self.0);
        let mut fields = FieldWriter::default();
        fields.u32(keys.len() as u32);
        keys.iter().for_each(|(element, key)| write_fields(&mut fields, *element, key));
        Body { fields, blocks: keys.iter().map(|(_, key)| key.pairs().map(|half| half as _).collect()).collect() }
    }

    fn read<C: FileContext>(
        context: &C,
        key: KeyId,
        (mut fields, mut blocks): (FieldReader<'_>, Blocks<'_>),
    ) -> Result<Self> {
        let rlwe = context.rlwe();
        let keys = read_keys(rlwe, key, &mut fields, |fields, _| {
            let (level, digits) = (fields.level, SwitchingKey::digits(rlwe, fields.level));
            let pairs = blocks.next(rlwe.ring(), &rlwe.covering_basis(level), 2 * digits, "evaluation key")?;
            Ok(SwitchingKey::from_pairs(rlwe, key, level, fields.seed, pairs)?)
        })?;
        fields.finish("evaluation keys")?;
        blocks.finish("evaluation keys")?;
        Ok(Self(Arc::new(keys)))
    }

    /// Writes the keys to a new read-only file, and returns its size in bytes.
    ///
    /// Memory: one MiB. Cost: one pass of SHA-256.
    ///
    /// # Errors
    /// [`WireError::Io`] if the file exists already or cannot be written; then nothing is left
    /// behind. [`WireError::NoKeyPair`] for a set of no keys.
    pub fn save<C: FileContext>(&self, path: &Path, context: &C) -> Result<u64, WireError> {
        self.body().save(path, &self.label(context)?)
    }

    /// The bytes of such a file.
    ///
    /// # Errors
    /// [`WireError::NoKeyPair`] for a set of no keys.
    pub fn to_bytes<C: FileContext>(&self, context: &C) -> Result<Vec<u8>, WireError> {
        Ok(self.body().sealed(&self.label(context)?))
    }

    fn label<C: FileContext>(&self, context: &C) -> Result<Label, WireError> {
        let key = self.0.key_id().ok_or(WireError::NoKeyPair)?;
        Ok(Label { kind: Kind::ReadyKeys, context: *context.hash(), key })
    }

    /// The keys of a file. From a file or from shared memory they are used where they lie.
    ///
    /// # Errors
    /// As [`super::load`].
    pub fn open<'a, C: FileContext>(source: impl Into<Source<'a>>, context: &C) -> Result<Self> {
        source.into().open(&Self::expected(context), |key, content| Self::read(context, key, content))
    }

    fn expected<C: FileContext>(context: &C) -> Expected {
        let limit = <Self as Wire<C>>::limit(context);
        Expected { kind: Kind::ReadyKeys, context: *context.hash(), key: None, limit }
    }
}

/// In bytes the keys are copied when they are read.
impl<C: FileContext> Wire<C> for ReadyKeys {
    const KIND: Kind = Kind::ReadyKeys;

    fn key_id(&self) -> Option<KeyId> {
        self.0.key_id()
    }

    fn encode(&self, _: &C, out: &mut FieldWriter) {
        self.body().append(out);
    }

    fn decode(context: &C, key: KeyId, fields: FieldReader<'_>) -> Result<Self> {
        Self::read(context, key, mapped::of_payload(fields.rest())?)
    }

    /// One key for each automorphism and one for relinearisation, all at the top level.
    fn limit(context: &C) -> u64 {
        let rlwe = context.rlwe();
        let basis = rlwe.base_qp(rlwe.top_level());
        let block = Poly::stored_len(rlwe.ring(), &basis, 2 * rlwe.params().digits());
        let key = (KEY_FIELDS + block) as u64;
        2 * PAGE as u64 + key.saturating_mul(rlwe.ring().n() as u64 + 1)
    }
}

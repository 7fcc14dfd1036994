//! The plain data of version 1. It is converted to library values only against a given context.

use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_ring::slots::SlotRing;
use windlass_ring::{Basis, Eval, Poly, sample};
use windlass_rlwe::context::Context;
use windlass_schemes::error::Result;
use windlass_schemes::file_sizes::{OVERHEAD, packed_len};
use windlass_schemes::schemes::{Parts, Scheme, Seed};
use zeroize::Zeroizing;

use super::container::{Label, begin, finish, open};
use super::file::{access_of, read_file, write_new};
use super::{ContextHash, Expected, FieldReader, FieldWriter, KeyId, Kind, WireError};

/// What a file must agree with.
pub trait FileContext {
    /// The hash that containers carry.
    fn hash(&self) -> &ContextHash;

    /// The ring and its moduli.
    fn rlwe(&self) -> &Arc<Context>;
}

/// What files of BGV and BFV must agree with: rings, moduli, scheme and plaintext modulus.
#[derive(Debug, Clone)]
pub struct WireContext {
    pub(super) context: Arc<Context>,
    pub(super) slot_ring: Arc<SlotRing>,
    pub(super) scheme: Scheme,
    hash: ContextHash,
}

impl WireContext {
    /// The context of one scheme over one plaintext ring.
    pub fn new(context: &Arc<Context>, slot_ring: &Arc<SlotRing>, scheme: Scheme) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"windlass wire context 1\n");
        hash.update(context.params().id().0);
        hash.update([scheme_code(scheme)]);
        let modulus = slot_ring.modulus();
        hash.update(modulus.prime().to_le_bytes());
        hash.update(modulus.exponent().to_le_bytes());
        // The generators fix which slot is which.
        slot_ring.hypercube().dimensions().iter().for_each(|dimension| hash.update(dimension.generator.to_le_bytes()));
        Self { context: Arc::clone(context), slot_ring: Arc::clone(slot_ring), scheme, hash: hash.finalize().into() }
    }

    /// The RLWE context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The plaintext ring.
    pub fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.slot_ring
    }

    /// [`Self::slot_ring`].
    #[deprecated(since = "0.3.0", note = "use slot_ring")]
    pub fn slots(&self) -> &Arc<SlotRing> {
        self.slot_ring()
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }
}

impl FileContext for WireContext {
    fn hash(&self) -> &ContextHash {
        &self.hash
    }

    fn rlwe(&self) -> &Arc<Context> {
        &self.context
    }
}

/// Bytes of a packed polynomial over `basis`.
#[doc(hidden)]
pub fn poly_len(context: &Context, basis: &Basis) -> usize {
    let ring = context.ring();
    basis.indices().map(|index| packed_len(ring.n(), ring.modulus(index).value())).sum()
}

/// The code of a scheme on the wire; append-only.
pub(super) fn scheme_code(scheme: Scheme) -> u8 {
    match scheme {
        Scheme::Bgv => 1,
        Scheme::Bfv => 2,
    }
}

/// A value with a wire form in contexts of type `C`: [`WireContext`], or another [`FileContext`].
pub trait Wire<C: FileContext = WireContext>: Sized {
    /// What its files hold.
    const KIND: Kind;

    /// The name of the key pair that the value belongs to; none for a set of no keys.
    fn key_id(&self) -> Option<KeyId>;

    /// Writes the payload.
    fn encode(&self, context: &C, out: &mut FieldWriter);

    /// Reads a payload of the key pair `key`.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for fields that are impossible in this context.
    fn decode(context: &C, key: KeyId, fields: FieldReader<'_>) -> Result<Self>;

    /// The longest payload that the context allows.
    fn limit(context: &C) -> u64;
}

/// Room for all of a secret key at once, or of a ciphertext: growing would leave copies of it
/// behind. What may be longer grows as it is written.
fn room<C: FileContext, T: Wire<C>>(context: &C) -> usize {
    const LONGEST: u64 = 1 << 24;
    let limit = T::limit(context);
    if limit <= LONGEST { limit as usize } else { 0 }
}

/// The payload of a value.
pub fn to_payload<C: FileContext, T: Wire<C>>(context: &C, value: &T) -> Zeroizing<Vec<u8>> {
    let mut out = FieldWriter::with_capacity(room::<C, T>(context));
    value.encode(context, &mut out);
    Zeroizing::new(out.finish())
}

/// Writes a value, with the name of its key pair, to a new file and gives the file's size in bytes.
/// Secret keys are readable by their owner only.
///
/// # Errors
/// [`WireError::Io`] if the file exists already or cannot be written; then nothing is left
/// behind. [`WireError::NoKeyPair`] for a set of no keys.
pub fn save<C: FileContext, T: Wire<C>>(path: &Path, context: &C, value: &T) -> Result<u64, WireError> {
    let bytes = to_bytes(context, value)?;
    write_new(path, &bytes, access_of(T::KIND))?;
    Ok(bytes.len() as u64)
}

/// A value in the bytes of its file.
///
/// # Errors
/// [`WireError::NoKeyPair`] for a set of no keys.
pub fn to_bytes<C: FileContext, T: Wire<C>>(context: &C, value: &T) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let key = value.key_id().ok_or(WireError::NoKeyPair)?;
    let label = Label { kind: T::KIND, context: *context.hash(), key };
    let mut out = begin(&label, room::<C, T>(context) + OVERHEAD);
    value.encode(context, &mut out);
    Ok(Zeroizing::new(finish(out)))
}

/// The value in the bytes of its file.
///
/// # Errors
/// As [`load`].
pub fn from_bytes<C: FileContext, T: Wire<C>>(context: &C, bytes: &[u8]) -> Result<T> {
    let expected = Expected { kind: T::KIND, context: *context.hash(), key: None, limit: T::limit(context) };
    let (key, payload) = open(bytes, &expected)?;
    T::decode(context, key, FieldReader::new(payload))
}

/// Reads a value, and the name of the key pair that it belongs to, from a file.
///
/// # Errors
/// Every [`WireError`]: nothing of a file is used that is not whole and does not belong to this
/// context.
pub fn load<C: FileContext, T: Wire<C>>(path: &Path, context: &C) -> Result<(T, KeyId)> {
    read(path, context, None)
}

/// Reads a value of the key pair `key`.
///
/// # Errors
/// As [`load`]; [`WireError::OtherKeyPair`].
pub fn load_for<C: FileContext, T: Wire<C>>(path: &Path, context: &C, key: KeyId) -> Result<T> {
    Ok(read(path, context, Some(key))?.0)
}

fn read<C: FileContext, T: Wire<C>>(path: &Path, context: &C, key: Option<KeyId>) -> Result<(T, KeyId)> {
    let expected = Expected { kind: T::KIND, context: *context.hash(), key, limit: T::limit(context) };
    let (key, payload) = read_file(path, &expected)?;
    Ok((T::decode(context, key, FieldReader::new(&payload))?, key))
}

/// Appends a polynomial, row by row.
#[doc(hidden)]
pub fn write_poly(out: &mut FieldWriter, poly: &Poly<Eval>) {
    for (row, index) in poly.basis().indices().enumerate() {
        out.residues(poly.row(row), poly.ring().modulus(index).value());
    }
}

/// Appends the seed of a uniform half, and the other half.
pub(super) fn write_seeded(out: &mut FieldWriter, (seed, half): (&[u8; 32], &Poly<Eval>)) {
    out.bytes(seed);
    write_poly(out, half);
}

/// Reads what [`write_seeded`] wrote, a half over `basis`.
pub(super) fn read_seeded(
    context: &Context,
    basis: &Basis,
    fields: &mut FieldReader<'_>,
    [seed, half]: [&'static str; 2],
) -> Result<([u8; 32], Poly<Eval>), WireError> {
    let seed = fields.array(seed)?;
    Ok((seed, read_poly(context, basis, fields, half)?))
}

/// Bytes of what [`write_seeded`] writes.
pub(super) fn seeded_len(context: &Context, basis: &Basis) -> u64 {
    32 + poly_len(context, basis) as u64
}

/// The polynomials of a ciphertext, the second as the seed that it is expanded from if there is
/// one.
pub(super) fn write_parts(out: &mut FieldWriter, parts: &[Poly<Eval>], seed: Option<&Seed>) {
    write_poly(out, &parts[0]);
    match seed {
        Some(seed) => out.bytes(seed),
        None => parts[1..].iter().for_each(|part| write_poly(out, part)),
    }
}

/// Reads what [`write_parts`] wrote of two polynomials, and the end. The parts know their seed.
pub(super) fn read_parts(
    context: &Context,
    level: usize,
    seeded: bool,
    mut fields: FieldReader<'_>,
    what: &'static str,
) -> Result<Parts, WireError> {
    let basis = context.basis(level);
    let first = read_poly(context, &basis, &mut fields, what)?;
    let parts = if seeded {
        let seed = fields.array(what)?;
        let second = sample::uniform(first.ring(), &basis, &seed, 0);
        Parts::from([first, second]).with_seed(seed)
    } else {
        let second = read_poly(context, &basis, &mut fields, what)?;
        [first, second].into()
    };
    fields.finish(what)?;
    Ok(parts)
}

/// Reads a polynomial over `basis`. Memory is taken only when all its bytes are there.
///
/// # Errors
/// [`WireError::Malformed`].
#[doc(hidden)]
pub fn read_poly(
    context: &Context,
    basis: &Basis,
    fields: &mut FieldReader<'_>,
    what: &'static str,
) -> Result<Poly<Eval>, WireError> {
    let ring = context.ring();
    let mut packed = FieldReader::new(fields.bytes(poly_len(context, basis), what)?);
    let mut data = vec![0; basis.len() * ring.n()];
    for (row, index) in data.chunks_exact_mut(ring.n()).zip(basis.indices()) {
        packed.residues(row, ring.modulus(index).value(), what)?;
    }
    Poly::from_rows(ring, basis, data).ok_or(WireError::Malformed { what })
}

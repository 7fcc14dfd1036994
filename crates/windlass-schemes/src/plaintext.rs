//! Plaintexts: elements of the plaintext ring, and what their slots are known to hold.

use std::fmt;
use std::sync::Arc;

use windlass_ring::slots::{PrimePower, QuotientRing, SlotRing};

use crate::error::{Error, Result};
use crate::integer::Integer;

/// What the slots of a plaintext or ciphertext are known to hold. A sum or a product has the larger
/// content of its two operands.
///
/// Integers in all slots are the elements that Frobenius fixes. They form a subring that is closed
/// under automorphisms and under exact division by p. If slots have degree d = 1, all elements are
/// integers. The content of a ciphertext is public. It therefore depends on how a plaintext was
/// made, never on the values in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Content {
    /// An integer modulo p^r in every slot.
    Integers,
    /// Any elements of E, possibly integers.
    Elements,
}

impl Content {
    /// The content of slots about which nothing is known.
    #[doc(hidden)]
    pub fn any(slot_ring: &SlotRing) -> Self {
        if slot_ring.degree() == 1 { Self::Integers } else { Self::Elements }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integers => "integers",
            Self::Elements => "elements",
        })
    }
}

/// An element of the plaintext ring `R/(p^r)`: `n` powerful-basis coefficients in `[0, p^r)`, tied
/// to its ring. Cheap to clone.
///
/// Equality is that of the elements; [`Plaintext::content`] is not compared.
#[derive(Clone, Debug)]
pub struct Plaintext {
    slot_ring: Arc<SlotRing>,
    coefficients: Arc<Vec<u64>>,
    content: Content,
}

impl Plaintext {
    /// Wraps `n` powerful-basis coefficients, each reduced modulo `p^r` first:
    /// [`Content::Elements`] if d > 1.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there are not exactly `n` of them.
    pub fn new(slot_ring: &Arc<SlotRing>, mut coefficients: Vec<u64>) -> Result<Self> {
        let modulus = slot_ring.modulus();
        check_length("plaintext coefficients", slot_ring.n(), coefficients.len())?;
        coefficients.iter_mut().for_each(|c| *c = modulus.reduce(*c));
        Ok(Self::wrap(slot_ring, coefficients, Content::Elements))
    }

    fn wrap(slot_ring: &Arc<SlotRing>, coefficients: Vec<u64>, content: Content) -> Self {
        let content = content.min(Content::any(slot_ring));
        Self { slot_ring: Arc::clone(slot_ring), coefficients: Arc::new(coefficients), content }
    }

    /// The zero element.
    pub fn zero(slot_ring: &Arc<SlotRing>) -> Self {
        Self::scalar(slot_ring, 0)
    }

    /// The one element.
    pub fn one(slot_ring: &Arc<SlotRing>) -> Self {
        Self::scalar(slot_ring, 1)
    }

    /// An integer modulo `p^r`, the same in every slot.
    pub fn scalar(slot_ring: &Arc<SlotRing>, value: i64) -> Self {
        let quotient = slot_ring.quotient();
        Self::wrap(slot_ring, quotient.constant(quotient.modulus().reduce_i64(value)), Content::Integers)
    }

    /// The element with the given slots: `[ℓ][d]` coefficients of elements of `E`, row-major,
    /// reduced modulo `p^r` and padded with zeros. The content is [`Content::Elements`] if d > 1,
    /// for any values.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there are more than ℓ·d coefficients.
    pub fn from_slots<T: Integer>(slot_ring: &Arc<SlotRing>, values: &[T]) -> Result<Self> {
        let places = slot_ring.slots() * slot_ring.degree();
        let residues = padded_residues("slot coefficients (at most)", places, slot_ring.modulus(), values)?;
        Ok(Self::wrap(slot_ring, slot_ring.encode(&residues)?, Content::Elements))
    }

    /// As [`Self::from_slots`] of each of these residues, `[ℓ][d]`, for public ones: slots that
    /// repeat in the same way take less time ([`SlotRing::encode_public`]).
    #[doc(hidden)]
    pub fn public_from_slots(slot_ring: &Arc<SlotRing>, values: &[&[u64]]) -> Result<Vec<Self>> {
        let encoded = slot_ring.encode_public(values)?;
        Ok(encoded.into_iter().map(|coefficients| Self::wrap(slot_ring, coefficients, Content::Elements)).collect())
    }

    /// The element with the given integers in its slots, [`Content::Integers`]: `[ℓ]`, taken modulo
    /// `p^r`; zeros follow if there are fewer.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for more than ℓ of them.
    pub fn from_integers<T: Integer>(slot_ring: &Arc<SlotRing>, values: &[T]) -> Result<Self> {
        let residues = padded_residues("slot values (at most)", slot_ring.slots(), slot_ring.modulus(), values)?;
        Ok(Self::wrap(slot_ring, slot_ring.encode_integers(&residues)?, Content::Integers))
    }

    /// The slots: `[ℓ][d]` coefficients, row-major.
    pub fn to_slots(&self) -> Vec<u64> {
        self.slot_ring.decode(&self.coefficients).expect("the coefficients of a plaintext are canonical")
    }

    /// The slots as integers: `[ℓ]`.
    ///
    /// # Errors
    /// [`Error::Ring`] if one of them is not an integer.
    pub fn to_integers(&self) -> Result<Vec<u64>> {
        Ok(self.slot_ring.decode_integers(&self.coefficients)?)
    }

    /// What the slots are known to hold.
    pub fn content(&self) -> Content {
        self.content
    }

    /// The same element with [`Content::Integers`] if all its slots are integers: `θ_p(a) = a`.
    ///
    /// **Warning.** The result depends on the values, so use it only for public constants. If a
    /// message is encrypted after it, everyone can see whether its slots are integers.
    ///
    /// Cost: linear in m.
    pub fn recognised(self) -> Self {
        let quotient = self.slot_ring.quotient();
        let fixed = || quotient.automorphism(&self.coefficients, self.slot_ring.prime());
        if self.content == Content::Integers || fixed().is_ok_and(|image| image == *self.coefficients) {
            return Self { content: Content::Integers, ..self };
        }
        self
    }

    /// The same element with a content that the caller knows, or that several secret plaintexts
    /// must share.
    #[doc(hidden)]
    pub fn declared(self, content: Content) -> Self {
        Self { content: content.min(Content::any(&self.slot_ring)), ..self }
    }

    /// The element modulo p^exponent, in that ring; `exponent` is at most r.
    #[doc(hidden)]
    pub fn lowered(&self, exponent: u32) -> Self {
        if exponent == self.slot_ring.modulus().exponent() {
            return self.clone();
        }
        let ring = self.slot_ring.lower(exponent).expect("a lower ring of one that exists");
        let coefficients = self.coefficients.iter().map(|&c| ring.modulus().reduce(c)).collect();
        Self::wrap(&ring, coefficients, self.content)
    }

    /// The ring of this element.
    pub fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.slot_ring
    }

    /// [`Self::slot_ring`].
    #[deprecated(since = "0.3.0", note = "use slot_ring")]
    pub fn slots(&self) -> &Arc<SlotRing> {
        self.slot_ring()
    }

    /// The powerful-basis coefficients, `[n]`, each in `[0, p^r)`.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// The coefficients, given away.
    pub fn into_coefficients(self) -> Vec<u64> {
        Arc::unwrap_or_clone(self.coefficients)
    }

    /// Whether this is 0.
    pub fn is_zero(&self) -> bool {
        self.coefficients.iter().all(|&c| c == 0)
    }

    /// Whether this is 1, the product over the empty set: multiplying by it can be left out.
    pub fn is_one(&self) -> bool {
        // The first vector of the powerful basis is 1, also when n = 1.
        self.coefficients[0] == 1 && self.coefficients[1..].iter().all(|&c| c == 0)
    }

    /// `a + b`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn add(&self, other: &Self) -> Result<Self> {
        self.combined(other, "sum of plaintexts", QuotientRing::add)
    }

    /// `a − b`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn sub(&self, other: &Self) -> Result<Self> {
        self.combined(other, "difference of plaintexts", QuotientRing::sub)
    }

    /// `a · b` in `R/(p^r)`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn multiply(&self, other: &Self) -> Result<Self> {
        other.check_ring(&self.slot_ring, "product of plaintexts")?;
        if self.is_one() {
            return Ok(other.clone());
        }
        if other.is_one() {
            return Ok(self.clone());
        }
        self.combined(other, "product of plaintexts", QuotientRing::mul)
    }

    fn combined(
        &self,
        other: &Self,
        operation: &'static str,
        f: impl Fn(&QuotientRing, &[u64], &[u64]) -> Vec<u64>,
    ) -> Result<Self> {
        other.check_ring(&self.slot_ring, operation)?;
        let coefficients = f(self.slot_ring.quotient(), &self.coefficients, &other.coefficients);
        Ok(Self::wrap(&self.slot_ring, coefficients, self.content.max(other.content)))
    }

    /// `θ_t(a)`.
    ///
    /// # Errors
    /// [`Error::Ring`] if t is not a unit modulo m.
    pub fn automorphism(&self, t: u64) -> Result<Self> {
        if t == 1 {
            return Ok(self.clone());
        }
        Ok(Self::wrap(&self.slot_ring, self.slot_ring.quotient().automorphism(&self.coefficients, t)?, self.content))
    }

    /// Refuses an operation with a ring that is not this element's.
    #[doc(hidden)]
    pub fn check_ring(&self, slot_ring: &Arc<SlotRing>, operation: &'static str) -> Result<()> {
        check_same_ring(slot_ring, &self.slot_ring, operation)
    }

    /// Refuses an operation with a ring of which this element's is not a quotient: the same m, p
    /// and slot order, and no higher power of p.
    pub(crate) fn check_ring_or_lower(&self, slot_ring: &Arc<SlotRing>, operation: &'static str) -> Result<()> {
        let lower = self.slot_ring.modulus().exponent() <= slot_ring.modulus().exponent();
        if lower && same_order(&self.slot_ring, slot_ring) {
            return Ok(());
        }
        Err(other_rings(slot_ring, &self.slot_ring, operation))
    }
}

impl PartialEq for Plaintext {
    fn eq(&self, other: &Self) -> bool {
        same_ring(&self.slot_ring, &other.slot_ring) && self.coefficients == other.coefficients
    }
}

/// Whether two slot rings have the same m, p^r and hypercube.
fn same_ring(a: &Arc<SlotRing>, b: &Arc<SlotRing>) -> bool {
    Arc::ptr_eq(a, b) || (a.modulus() == b.modulus() && same_order(a, b))
}

/// Whether two slot rings have the same m, p and hypercube.
fn same_order(a: &SlotRing, b: &SlotRing) -> bool {
    Arc::ptr_eq(a.hypercube(), b.hypercube()) || a.hypercube() == b.hypercube()
}

/// # Errors
/// [`Error::ContextMismatch`] unless the rings are the same.
#[doc(hidden)]
pub fn check_same_ring(a: &Arc<SlotRing>, b: &Arc<SlotRing>, operation: &'static str) -> Result<()> {
    if same_ring(a, b) { Ok(()) } else { Err(other_rings(a, b, operation)) }
}

fn other_rings(a: &SlotRing, b: &SlotRing, operation: &'static str) -> Error {
    let name = |ring: &SlotRing| {
        let generators: Vec<u64> = ring.hypercube().dimensions().iter().map(|s| s.generator).collect();
        let modulus = ring.modulus().value();
        format!("m = {}, plaintext modulus {modulus}, generators {generators:?}", ring.m())
    };
    Error::ContextMismatch { operation, left: name(a), right: name(b) }
}

/// The residues of at most `places` values, and zeros for the places that are left.
fn padded_residues<T: Integer>(
    what: &'static str,
    places: usize,
    modulus: PrimePower,
    values: &[T],
) -> Result<Vec<u64>> {
    if values.len() > places {
        return Err(Error::ShapeMismatch { what, expected: places, got: values.len() });
    }
    let mut residues = Vec::with_capacity(places);
    residues.extend(values.iter().map(|value| value.residue(modulus)));
    residues.resize(places, 0);
    Ok(residues)
}

fn check_length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, got }) }
}

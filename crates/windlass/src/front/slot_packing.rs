//! Packs d ciphertexts of integers into one, for storage and transport.
//!
//! A slot holds an element of E = GR(p^r; d). A *thin* ciphertext uses only one of its d
//! coefficients, so d thin ciphertexts fit into one ciphertext (Chen–Han 2018, §6, ask for this).
//! With a normal basis η_k = σ^k(θ) of E and its dual η_k* (Halevi–Shoup 2015, §4.3):
//!
//! ```text
//! pack:    γ   = Σ_k η_k·c_k                       d products with constants, no key
//! unpack:  c_k = Tr(η_k*·γ) = Σ_j σ^j(η_k*)·σ^j(γ)  d automorphisms σ^j for all k together
//! ```

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;

use super::client::Client;
use super::needs::{KeyRequest, NeedsKeys};
use super::server::Server;
use crate::Integer;
use crate::bootstrap::maps::Packing;
use crate::circuits::{LinearPlan, PlanSpec};
use crate::error::{Error, Result};
use crate::plaintext::Content;
use crate::schemes::Ciphertext;
use crate::switching::Arithmetic;

/// Packs up to d ciphertexts of integers into one, and unpacks them.
///
/// d is the degree of the slots ([`SlotRing::degree`]). The packed ciphertext takes 1/d of the
/// bytes at the same level. A server packs without keys. To unpack, it needs keys for powers of the
/// Frobenius map σ, which `generate_keys([&packing])` makes. A client can pack before it encrypts
/// ([`Client::encrypt_packed`]) and unpack after it decrypts ([`Client::decrypt_packed`]); both
/// need only its secret key.
///
/// ```
/// use windlass::{Context, SlotPacking};
///
/// let context = Context::preset("insecure_toy_1023")?; // bits in slots of degree 10; a toy
/// let packing = SlotPacking::new(&context)?;
/// let (client, server) = context.generate_keys([&packing])?;
/// let thin = [client.encrypt(&[1, 0, 1])?, client.encrypt(&[0, 1, 1])?];
/// let stored = server.pack(&packing, &thin, 20.0)?; // 20 bits of capacity after unpacking
/// let back = server.unpack(&packing, &stored, 2)?;
/// assert_eq!(client.decrypt(&back[1])?[..3], [0, 1, 1]);
/// assert_eq!(client.decrypt_packed(&packing, &stored, 2)?[0][..3], [1, 0, 1]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SlotPacking {
    slot_ring: Arc<SlotRing>,
    packing: LinearPlan,
    unpacking: LinearPlan,
    /// `[k][j]`: coefficient j of η_k.
    basis: Vec<Vec<u64>>,
    /// `[k][j]`: Tr(η_k*·ζ^j), the contribution of coefficient j to c_k.
    traces: Vec<Vec<u64>>,
}

impl SlotPacking {
    /// A packing for the slots of a ring, with the cheapest plan for unpacking.
    ///
    /// Cost: d constants are encoded.
    ///
    /// # Errors
    /// [`Error::Unplannable`] if slots have degree 1, where packing gains nothing.
    pub fn new(slot_ring: &Arc<SlotRing>) -> Result<Self> {
        Self::with_spec(slot_ring, &PlanSpec::default())
    }

    /// As [`Self::new`]; `spec` sets the strategy and the number of keys for unpacking.
    ///
    /// # Errors
    /// As [`Self::new`] and [`LinearPlan::for_grid`].
    pub fn with_spec(slot_ring: &Arc<SlotRing>, spec: &PlanSpec) -> Result<Self> {
        let (galois, d) = (slot_ring.galois(), slot_ring.degree());
        if d == 1 {
            let reason = "a slot of degree 1 holds one integer, so a second one does not fit".into();
            return Err(Error::Unplannable { strategy: "packing of slots".into(), reason });
        }
        let packing = Packing::normal(slot_ring);
        let (_, dual) = galois.normal_element();
        let trace = |k: usize, j: u64| galois.trace(&galois.mul(&galois.frobenius(&dual, k), &galois.zeta_power(j)));
        Ok(Self {
            slot_ring: Arc::clone(slot_ring),
            packing: LinearPlan::for_grid(&packing.packing_grid(slot_ring)?, &PlanSpec::default())?,
            unpacking: LinearPlan::for_grid(&packing.unpacking_grid(slot_ring)?, spec)?,
            basis: packing.basis().to_vec(),
            traces: (0..d).map(|k| (0..d as u64).map(|j| trace(k, j)).collect()).collect(),
        })
    }

    /// d: how many ciphertexts fit into one.
    pub fn size(&self) -> usize {
        self.basis.len()
    }

    /// The plan for packing: from d ciphertexts to one.
    pub fn packing(&self) -> &LinearPlan {
        &self.packing
    }

    /// The plan for unpacking: from one ciphertext to d.
    pub fn unpacking(&self) -> &LinearPlan {
        &self.unpacking
    }

    fn check_count(&self, count: usize) -> Result<()> {
        Ok(Limits::between(1, self.size()).with("the degree of the slots").check("the number of ciphertexts", count)?)
    }

    /// The elements of the slots, `[ℓ][d]`, from one vector of integers for each coefficient.
    fn joined<T: Integer>(&self, vectors: &[impl AsRef<[T]>]) -> Result<Vec<u64>> {
        self.check_count(vectors.len())?;
        let (modulus, d) = (self.slot_ring.modulus(), self.size());
        let mut elements = vec![0; self.slot_ring.slots() * d];
        for (vector, eta) in vectors.iter().zip(&self.basis) {
            let vector = vector.as_ref();
            if vector.len() > self.slot_ring.slots() {
                let (expected, got) = (self.slot_ring.slots(), vector.len());
                return Err(Error::ShapeMismatch { what: "values for the slots", expected, got });
            }
            for (element, value) in elements.chunks_exact_mut(d).zip(vector) {
                let value = value.residue(modulus);
                for (sum, &coefficient) in element.iter_mut().zip(eta) {
                    *sum = modulus.add(*sum, modulus.mul(coefficient, value));
                }
            }
        }
        Ok(elements)
    }

    /// The first `count` vectors of integers in elements `[ℓ][d]`.
    fn apart(&self, elements: &[u64], count: usize) -> Vec<Vec<u64>> {
        let modulus = self.slot_ring.modulus();
        let dot = |row: &[u64], element: &[u64]| {
            row.iter().zip(element).fold(0, |sum, (&a, &b)| modulus.add(sum, modulus.mul(a, b)))
        };
        let vector = |row: &Vec<u64>| elements.chunks_exact(self.size()).map(|element| dot(row, element)).collect();
        self.traces.iter().take(count).map(vector).collect()
    }
}

impl NeedsKeys for SlotPacking {
    fn key_request(&self) -> KeyRequest {
        KeyRequest::none("unpacking of slots").with_galois(self.unpacking.required_keys())
    }
}

/// log2 of the noise that key switches may add to a product with constants.
const KEY_SWITCH_BITS: f64 = 4.0;

impl Server {
    /// Packs up to d ciphertexts of integers into one. The result has the lowest level from which
    /// [`Self::unpack`] leaves `bits` bits of capacity, or as much as there is if that is less.
    /// Needs no key.
    ///
    /// Cost: one product with a constant for each ciphertext.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there are no ciphertexts or more than d; [`Error::NotIntegers`] if
    /// slots are not known to hold integers; [`Error::CapacityExhausted`].
    pub fn pack(&self, packing: &SlotPacking, list: &[Ciphertext], bits: f64) -> Result<Ciphertext> {
        packing.check_count(list.len())?;
        if list.iter().any(|x| x.content() != Content::Integers) {
            return Err(Error::NotIntegers { circuit: "packing of slots".into() });
        }
        let level = list.iter().map(Ciphertext::level).min().unwrap_or(1);
        let lowered = list.iter().map(|x| self.engine().switch_modulus(x, level));
        let mut inputs: Vec<Ciphertext> = lowered.collect::<Result<_>>()?;
        let zero = self.engine().zero_like(&inputs[0])?;
        inputs.resize(packing.size(), zero);
        let packed = self.apply_grid(&packing.packing, &inputs)?.swap_remove(0);
        let spent = packing.unpacking.capacity_bits() + KEY_SWITCH_BITS;
        self.engine().reduce_level(&packed, bits + spent)
    }

    /// Unpacks the first `count` ciphertexts that [`Self::pack`] or [`Client::encrypt_packed`]
    /// packed.
    ///
    /// Cost: d − 1 automorphisms or about 2·√d, as planned, and d products with constants for each
    /// output.
    ///
    /// **Warning.** A ciphertext that was not packed this way unpacks to wrong integers. No error
    /// is returned.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the count is 0 or above d; [`Error::MissingKeys`];
    /// [`Error::CapacityExhausted`].
    pub fn unpack(&self, packing: &SlotPacking, packed: &Ciphertext, count: usize) -> Result<Vec<Ciphertext>> {
        packing.check_count(count)?;
        let mut list = self.apply_grid(&packing.unpacking, std::slice::from_ref(packed))?;
        list.truncate(count);
        // Each output is a trace of E over Z_{p^r}, so it is an integer.
        Ok(list.into_iter().map(Ciphertext::assume_integers).collect())
    }
}

impl Client {
    /// Encrypts up to d vectors of integers in one ciphertext, packed as by [`Server::pack`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there are no vectors or more than d; those of
    /// [`Self::encrypt_elements`].
    pub fn encrypt_packed<T: Integer>(&self, packing: &SlotPacking, vectors: &[impl AsRef<[T]>]) -> Result<Ciphertext> {
        self.encrypt_elements(&packing.joined(vectors)?)
    }

    /// The first `count` vectors of integers in a packed ciphertext.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the count is 0 or above d; those of [`Self::decrypt_elements`].
    pub fn decrypt_packed(&self, packing: &SlotPacking, packed: &Ciphertext, count: usize) -> Result<Vec<Vec<u64>>> {
        packing.check_count(count)?;
        Ok(packing.apart(&self.decrypt_elements(packed)?, count))
    }
}

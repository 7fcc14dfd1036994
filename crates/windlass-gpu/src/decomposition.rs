//! Gadget digits on a device, and their inner products with keys.

use std::sync::Arc;

use windlass_ring::gadget::Gadget;
use windlass_ring::{Basis, Eval, Poly};

use crate::argument::Argument::{Half, Span, Word};
use crate::conversion::{Conversion, Kind, shift};
use crate::device::Buffer;
use crate::error::DeviceError;
use crate::poly::DevicePoly;
use crate::ring::{DeviceRing, Inverse, centred};

/// How polynomials over one basis are cut into digits, as [`Gadget::decompose`] does it: its constants on the
/// device, to be used many times.
#[derive(Debug)]
pub struct Decomposer {
    ring: Arc<DeviceRing>,
    basis: Basis,
    larger: Basis,
    groups: Vec<Group>,
    /// Rows, primes, factors and shifts of the weighed coefficients.
    places: Buffer,
    primes: Buffer,
    scales: Buffer,
    shifts: Buffer,
    /// The rows outside of their groups in all digits, and their primes.
    outside: [Buffer; 2],
    /// The rows inside: in the digits, in x, their primes, what they are multiplied by.
    inside: [Buffer; 4],
}

/// A group of primes.
#[derive(Debug)]
struct Group {
    conversion: Conversion,
    /// Its rows in x.
    sources: Buffer,
    /// The rows of the digit outside of the group.
    targets: Buffer,
}

/// Digits on a device: `[digits][primes][n]`.
#[derive(Debug)]
pub struct DeviceDigits {
    ring: Arc<DeviceRing>,
    basis: Basis,
    count: usize,
    words: Buffer,
}

/// The pairs of a switching key on a device: `[pairs][2][primes][n]`.
#[derive(Debug)]
pub struct DeviceKey {
    ring: Arc<DeviceRing>,
    basis: Basis,
    pairs: usize,
    words: Buffer,
}

impl Decomposer {
    /// The digits of `(multiplier·A)^{-1}·x`, x over `basis`, A the product of the primes `divided`, each over
    /// `basis` joined with `special`.
    ///
    /// # Errors
    /// [`DeviceError::NoSuchPrime`] and [`DeviceError::OutOfMemory`].
    pub fn new(
        ring: &Arc<DeviceRing>,
        gadget: &Gadget,
        (basis, special): (&Basis, &Basis),
        (multiplier, divided): (u64, &Basis),
    ) -> Result<Self, DeviceError> {
        let (larger, active) = (basis.union(special), gadget.active(basis));
        let row = |basis: &Basis, index: usize| basis.row_of(index).ok_or(DeviceError::NoSuchPrime { index });
        let inverse = |index: usize| {
            let q = ring.ring().modulus(index);
            q.inv(q.mul(q.reduce(multiplier), ring.ring().product(divided, q)))
        };
        let mut groups = Vec::with_capacity(active.len());
        let (mut scales, mut shifts) = (vec![0; 2 * basis.len()], vec![0; basis.len()]);
        let (mut outside, mut outside_primes) = (Vec::new(), Vec::new());
        let (mut inside, mut inside_sources, mut inside_primes) = (Vec::new(), Vec::new(), Vec::new());
        let mut factors = Vec::new();
        for (k, group) in active.iter().enumerate() {
            let others = larger.without(group);
            let conversion = Conversion::new(ring, group, &others, Kind::Centred)?;
            let (mut sources, mut targets) = (Vec::new(), Vec::new());
            for (index, &weight) in group.indices().zip(&conversion.weights) {
                let (q, source) = (ring.ring().modulus(index), row(basis, index)?);
                scales[2 * source..2 * source + 2].copy_from_slice(&ring.scales(index, q.mul(weight, inverse(index)))?);
                shifts[source] = shift(q);
                sources.push(source);
                inside.push(k * larger.len() + row(&larger, index)?);
                inside_sources.push(source);
                inside_primes.push(index);
                factors.push(centred(q, inverse(index)));
            }
            for index in others.indices() {
                targets.push(k * larger.len() + row(&larger, index)?);
                outside_primes.push(index);
            }
            outside.extend_from_slice(&targets);
            groups.push(Group { conversion, sources: ring.list(sources)?, targets: ring.list(targets)? });
        }
        Ok(Self {
            places: ring.list(0..basis.len())?,
            primes: ring.primes(basis.indices())?,
            scales: ring.device().upload(&scales)?,
            shifts: ring.device().upload(&shifts)?,
            outside: [ring.list(outside)?, ring.primes(outside_primes)?],
            inside: [
                ring.list(inside)?,
                ring.list(inside_sources)?,
                ring.primes(inside_primes)?,
                ring.device().upload(&factors)?,
            ],
            ring: Arc::clone(ring),
            basis: basis.clone(),
            larger,
            groups,
        })
    }

    /// The digits of x.
    ///
    /// Cost: one inverse transform for each prime of x, and for each digit one forward transform for each prime
    /// outside of its group.
    ///
    /// # Errors
    /// [`DeviceError::OtherRing`], [`DeviceError::OtherBasis`] and [`DeviceError::OutOfMemory`].
    pub fn digits(&self, x: &DevicePoly<Eval>) -> Result<DeviceDigits, DeviceError> {
        let ring = &self.ring;
        if !Arc::ptr_eq(ring, x.ring()) {
            return Err(DeviceError::OtherRing);
        }
        if x.basis() != &self.basis {
            return Err(DeviceError::OtherBasis);
        }
        let n = 1usize << ring.log_n();
        let weighed = ring.device().buffer(self.basis.len() * n)?;
        let words = ring.device().buffer(self.groups.len() * self.larger.len() * n)?;
        ring.inverse(&Inverse {
            out: &weighed,
            places: &self.places,
            input: x.words(),
            sources: &self.places,
            primes: &self.primes,
            scales: &self.scales,
            shifts: Some(&self.shifts),
        })?;
        for group in &self.groups {
            group.conversion.apply(ring, (&words, &group.targets), (&weighed, &group.sources))?;
        }
        let [places, primes] = &self.outside;
        if places.words() > 0 {
            ring.forward(&words, places, primes)?;
        }
        let [places, sources, primes, factors] = &self.inside;
        let rows = [Span(&words), Span(places), Span(x.words()), Span(sources), Span(factors)];
        let modulo = [Span(primes), ring.moduli(), Word(n as u64)];
        ring.on_columns("scale_rows", self.basis.len(), &[&rows[..], &modulo[..]].concat())?;
        Ok(DeviceDigits { ring: Arc::clone(ring), basis: self.larger.clone(), count: self.groups.len(), words })
    }
}

impl DeviceDigits {
    /// The basis of the digits.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// A copy of the digits on the processor.
    ///
    /// # Errors
    /// [`DeviceError::NotCanonical`] if a word is no residue, and what the device says.
    pub fn download(&self) -> Result<Vec<Poly<Eval>>, DeviceError> {
        let words = self.words.download()?;
        let digits = words.chunks_exact((self.basis.len() << self.ring.log_n()).max(1));
        let poly = |digit: &[u64]| Poly::from_rows(self.ring.ring(), &self.basis, digit.to_vec());
        digits.map(poly).collect::<Option<_>>().ok_or(DeviceError::NotCanonical)
    }

    /// The inner product with a key: (Σ digit_k·b_k, Σ digit_k·a_k), the key's pairs from number `skipped` on.
    ///
    /// # Errors
    /// [`DeviceError::OtherRing`]; [`DeviceError::OtherBasis`] if the key lacks a prime of the digits;
    /// [`DeviceError::TooFewPairs`]; [`DeviceError::OutOfMemory`].
    pub fn inner_product(&self, key: &DeviceKey, skipped: usize) -> Result<[DevicePoly<Eval>; 2], DeviceError> {
        let ring = &self.ring;
        if !Arc::ptr_eq(ring, &key.ring) {
            return Err(DeviceError::OtherRing);
        }
        if key.pairs < skipped + self.count {
            return Err(DeviceError::TooFewPairs { pairs: key.pairs, needed: skipped + self.count });
        }
        let rows = self.basis.indices().map(|index| key.basis.row_of(index).ok_or(DeviceError::OtherBasis));
        let rows_of_keys = ring.list(rows.collect::<Result<Vec<_>, _>>()?)?;
        let rows = ring.rows(&self.basis)?;
        let out = [DevicePoly::unspecified(ring, &self.basis)?, DevicePoly::unspecified(ring, &self.basis)?];
        let operands = [out[0].words(), out[1].words(), &self.words, &key.words, &rows_of_keys, &rows.primes].map(Span);
        let sizes = [self.basis.len(), key.basis.len(), self.count, skipped].map(|size| Half(size as u32));
        let modulo = [ring.moduli(), Word(1 << ring.log_n())];
        let arguments = [&operands[..], &modulo[..], &sizes[..]].concat();
        ring.on_columns("key_product", self.basis.len(), &arguments)?;
        Ok(out)
    }
}

impl DeviceKey {
    /// The halves b_0, a_0, b_1, a_1, .. of a switching key, copied to the device.
    ///
    /// # Errors
    /// [`DeviceError::OtherRing`], [`DeviceError::OtherBasis`] unless all have one basis, and
    /// [`DeviceError::OutOfMemory`].
    pub fn upload<'a>(
        ring: &Arc<DeviceRing>,
        halves: impl IntoIterator<Item = &'a Poly<Eval>>,
    ) -> Result<Self, DeviceError> {
        let halves: Vec<&Poly<Eval>> = halves.into_iter().collect();
        let basis = halves.first().map_or_else(|| Basis::new([]), |half| half.basis().clone());
        if halves.iter().any(|half| !Arc::ptr_eq(half.ring(), ring.ring())) {
            return Err(DeviceError::OtherRing);
        }
        if halves.len() % 2 == 1 || halves.iter().any(|half| half.basis() != &basis) {
            return Err(DeviceError::OtherBasis);
        }
        let words: Vec<u64> = halves.iter().flat_map(|half| half.data()).collect();
        let words = ring.device().upload(&words)?;
        Ok(Self { ring: Arc::clone(ring), basis, pairs: halves.len() / 2, words })
    }
}

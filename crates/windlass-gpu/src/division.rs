//! Dividing by part of the modulus, with rounding, on a device.

use std::sync::Arc;

use windlass_ring::{Basis, Eval};

use crate::argument::Argument::{Half, Nothing, Span, Word};
use crate::conversion::{Conversion, Kind};
use crate::device::Buffer;
use crate::error::DeviceError;
use crate::poly::DevicePoly;
use crate::ring::{DeviceRing, Inverse, centred};

/// `θ(factor · round(x / D) + addend)` for x over one basis, D the product of the primes that are dropped: the
/// mod-down of [`Poly::divide_pair`](windlass_ring::Poly::divide_pair). Its constants are on the device, to be
/// used many times.
#[derive(Debug)]
pub struct Divider {
    ring: Arc<DeviceRing>,
    basis: Basis,
    keep: Basis,
    conversion: Conversion,
    /// The rows that are dropped: their numbers from 0, those in x, their primes, their factors, 1/q.
    dropped: [Buffer; 5],
    /// Those with the row of u after them.
    sources: Buffer,
    /// The rows that are kept: those in x, and −factor/D.
    kept: [Buffer; 2],
}

impl Divider {
    /// The division of polynomials over `basis` by the primes that are not in `keep`.
    ///
    /// # Errors
    /// [`DeviceError::OtherBasis`] unless `keep` is a part of the basis, [`DeviceError::NoSuchPrime`] and
    /// [`DeviceError::OutOfMemory`].
    pub fn new(ring: &Arc<DeviceRing>, basis: &Basis, keep: &Basis, factor: u64) -> Result<Self, DeviceError> {
        let drop = basis.without(keep);
        if drop.is_empty() || !keep.without(basis).is_empty() {
            return Err(DeviceError::OtherBasis);
        }
        let row = |index: usize| basis.row_of(index).ok_or(DeviceError::NoSuchPrime { index });
        let rows = |part: &Basis| part.indices().map(row).collect::<Result<Vec<_>, _>>();
        let conversion = Conversion::new(ring, &drop, keep, Kind::Exact)?;
        let mut scales = Vec::with_capacity(2 * drop.len());
        for (index, &weight) in drop.indices().zip(&conversion.weights) {
            scales.extend(ring.scales(index, weight)?);
        }
        let modulus = |index: usize| ring.ring().modulus(index);
        let inverses: Vec<u64> = drop.indices().map(|index| (1.0 / modulus(index).value() as f64).to_bits()).collect();
        let quotients = keep.indices().zip(&conversion.quotients).map(|(index, &quotient)| {
            let q = modulus(index);
            centred(q, q.mul(quotient, q.reduce(factor)))
        });
        let quotients: Vec<u64> = quotients.collect();
        Ok(Self {
            dropped: [
                ring.list(0..drop.len())?,
                ring.list(rows(&drop)?)?,
                ring.primes(drop.indices())?,
                ring.device().upload(&scales)?,
                ring.device().upload(&inverses)?,
            ],
            sources: ring.list(0..=drop.len())?,
            kept: [ring.list(rows(keep)?)?, ring.device().upload(&quotients)?],
            ring: Arc::clone(ring),
            basis: basis.clone(),
            keep: keep.clone(),
            conversion,
        })
    }

    /// `θ_t(factor · round(x / D) + addend)`, t odd.
    ///
    /// Cost: |D| inverse and |keep| forward transforms, (|D| + 1)·|keep| multiply-adds a coefficient.
    ///
    /// # Errors
    /// [`DeviceError::OtherRing`], [`DeviceError::OtherBasis`], [`DeviceError::OutOfMemory`], and
    /// [`NotAnAutomorphism`](windlass_ring::RingError::NotAnAutomorphism) for an even t.
    pub fn divide(
        &self,
        x: &DevicePoly<Eval>,
        addend: Option<&DevicePoly<Eval>>,
        element: u64,
    ) -> Result<DevicePoly<Eval>, DeviceError> {
        let (ring, element) = (&self.ring, self.ring.odd(element)?);
        if !Arc::ptr_eq(ring, x.ring()) || addend.is_some_and(|addend| !Arc::ptr_eq(ring, addend.ring())) {
            return Err(DeviceError::OtherRing);
        }
        if x.basis() != &self.basis || addend.is_some_and(|addend| addend.basis() != &self.keep) {
            return Err(DeviceError::OtherBasis);
        }
        let (n, [places, sources, primes, scales, inverses]) = (1u64 << ring.log_n(), &self.dropped);
        let weighed = ring.device().buffer(self.sources.words() << ring.log_n())?;
        ring.inverse(&Inverse { out: &weighed, places, input: x.words(), sources, primes, scales, shifts: None })?;
        let count = places.words();
        let excess = [Span(&weighed), Word(count as u64), Span(&weighed), Span(places), Span(inverses), Word(n)];
        ring.on_columns("excess_row", 1, &[&excess[..], &[Half(count as u32)]].concat())?;
        let rows = ring.rows(&self.keep)?;
        let converted = DevicePoly::<Eval>::unspecified(ring, &self.keep)?;
        self.conversion.apply(ring, (converted.words(), &rows.places), (&weighed, &self.sources))?;
        ring.forward(converted.words(), &rows.places, &rows.primes)?;
        let out = DevicePoly::unspecified(ring, &self.keep)?;
        let [rows_of_x, quotients] = &self.kept;
        let operands = [Span(out.words()), Span(converted.words()), Span(x.words()), Span(rows_of_x)];
        let others = [addend.map_or(Nothing, |addend| Span(addend.words())), Span(quotients), Span(&rows.primes)];
        let sizes = [ring.moduli(), Half(ring.log_n()), Word(element)];
        let arguments = [&operands[..], &others[..], &sizes[..]].concat();
        ring.on_columns("finish_rows", self.keep.len(), &arguments)?;
        Ok(out)
    }
}

//! The negacyclic transform of length 2^k modulo a prime below 2^31, on rows of 32-bit words: eight
//! residues to a register of 256 bits, where doubles and 64-bit words have four.
//!
//! The same values in the same order as those of [`super::NttPlan`], by the same passes (see
//! `pow2`); the arithmetic is Shoup's with 32-bit quotients and Harvey's lazy butterflies.

mod passes;
mod tables;

#[cfg(test)]
mod tests;

use crate::error::KernelError;
use crate::isa::Isa;
use crate::lanes::dispatch_u32;
use crate::lanes::u32_lanes::{Group, U32Kernel, U32Lanes, U32Modulus};
use crate::modulus::Modulus;
use passes::Source;
use tables::Tables;

/// Tables of the negacyclic transform of length 2^k modulo one prime below 2^31.
#[derive(Debug, Clone)]
pub struct U32Plan {
    isa: Isa,
    modulus: Modulus,
    n: usize,
    tables: Tables,
}

impl U32Plan {
    /// Least and largest k.
    const LOG_N: std::ops::RangeInclusive<u32> = 7..=17;

    /// The transform of length n = 2^log_n, 7 ≤ log_n ≤ 17. A row then has the values that
    /// [`super::NttPlan`] of m = 2n gives it.
    ///
    /// # Errors
    /// [`KernelError::NoRootOfUnity`] when the prime is not 1 modulo 2n.
    pub fn new(log_n: u32, modulus: Modulus, isa: Isa) -> Result<Self, KernelError> {
        assert!(Self::LOG_N.contains(&log_n), "the length is 2^7 to 2^17");
        assert!(modulus.bits() <= U32Modulus::MAX_BITS, "primes of 32-bit rows are below 2^31");
        let root = modulus.root_of_unity(2 << log_n)?;
        Ok(Self { isa, modulus, n: 1 << log_n, tables: Tables::new(log_n, modulus, root) })
    }

    /// The prime.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// Whether words up to 4q fit.
    fn is_lazy(&self) -> bool {
        self.modulus.bits() < U32Modulus::MAX_BITS
    }

    /// Coefficients to values, in place: words below 2q in, canonical ones out.
    pub fn forward(&self, row: &mut [u32]) {
        debug_assert!(row.iter().all(|&x| u64::from(x) < 2 * self.modulus.value()));
        self.run(None, row);
    }

    /// The values of the polynomial with coefficients `source + addend mod 2^32`, which are below
    /// 2q: digits with or without sign need no pass of their own.
    pub fn forward_from(&self, source: &[u32], addend: u32, out: &mut [u32]) {
        assert_eq!(source.len(), self.n);
        debug_assert!(source.iter().all(|x| u64::from(x.wrapping_add(addend)) < 2 * self.modulus.value()));
        self.run(Some((source.as_chunks().0, addend)), out);
    }

    fn run(&self, source: Source<'_>, row: &mut [u32]) {
        assert_eq!(row.len(), self.n);
        let (q, tables, row) = (self.modulus.value() as u32, &self.tables, row.as_chunks_mut().0);
        match self.is_lazy() {
            true => dispatch_u32(self.isa, Forward::<true> { q, tables, source, row }),
            false => dispatch_u32(self.isa, Forward::<false> { q, tables, source, row }),
        }
    }

    /// Values to coefficients, in place; canonical in and out.
    pub fn inverse(&self, row: &mut [u32]) {
        assert_eq!(row.len(), self.n);
        debug_assert!(row.iter().all(|&x| u64::from(x) < self.modulus.value()));
        let (q, tables, row) = (self.modulus.value() as u32, &self.tables, row.as_chunks_mut().0);
        match self.is_lazy() {
            true => dispatch_u32(self.isa, Inverse::<true> { q, tables, row }),
            false => dispatch_u32(self.isa, Inverse::<false> { q, tables, row }),
        }
    }
}

struct Forward<'a, const LAZY: bool> {
    q: u32,
    tables: &'a Tables,
    source: Source<'a>,
    row: &'a mut [Group],
}

impl<const LAZY: bool> U32Kernel for Forward<'_, LAZY> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, lanes: N) {
        passes::transform::<N, LAZY>(lanes, self.q, self.tables, self.source, self.row);
    }
}

struct Inverse<'a, const LAZY: bool> {
    q: u32,
    tables: &'a Tables,
    row: &'a mut [Group],
}

impl<const LAZY: bool> U32Kernel for Inverse<'_, LAZY> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, lanes: N) {
        passes::transform_back::<N, LAZY>(lanes, self.q, self.tables, self.row);
    }
}

//! Eight residues at a time: the arithmetic that every vectorised algorithm is written over, once.
//! [`Lanes`] are all eight; a [`Part`] is what one register holds of them.
//!
//! A backend holds a residue in an internal form: doubles in (−4q, 4q), or integers in [0, 4q), or
//! in [0, 2^14 q). *Bounds* are stated in multiples of q; [`Form`] says what a backend takes and
//! gives. In short, for code that must run on every backend:
//!
//! - *reduced* values come from `load`, `load_wide`, `mul`, `mul_lanes`, `reduce` and `zero`;
//! - `add` and `sub` take two reduced values, and what they give goes to `mul`, `reduce`, `store`
//!   or `store_raw`;
//! - longer lazy chains are allowed where `Form` says so.
//!
//! Memory between passes of one algorithm may hold the internal form (`load_raw`, `store_raw`);
//! rows at the boundary of a kernel hold canonical residues.

mod contract;
pub(crate) mod fetch;
pub(crate) mod portable;
mod strided;
pub(crate) mod u32_lanes;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_u32;
#[cfg(target_arch = "x86_64")]
mod avx2_word64;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_u32;
#[cfg(target_arch = "x86_64")]
mod avx512_word64;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
pub(crate) mod float;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "aarch64")]
mod neon_u32;
pub(crate) mod wide;
#[cfg(any(target_arch = "x86_64", test))]
pub(crate) mod word52;
pub(crate) mod word64;

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod u32_tests;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
pub(crate) use contract::ROOMY_BITS;
pub(crate) use contract::{Form, Kernel, LANES, Lanes, Part};
pub(crate) use strided::{Block, Points, Strided};

use crate::isa::Isa;
use crate::modulus::Modulus;

/// Runs a kernel on the backend of `isa`, modulo `q`.
#[inline]
pub(crate) fn dispatch<K: Kernel>(isa: Isa, q: Modulus, kernel: K) -> K::Output {
    match isa {
        Isa::Portable => portable::Portable::new(q).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(token) => float::Float::<_>::new(avx2::Avx2(token), q).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token) => float::Float::<_>::new(avx512::Avx512(token), q).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Ifma(token) => word52::Word52::<_>::new(ifma::Ifma(token), q).vectorize(kernel),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon(token) => float::Float::<_>::new(neon::Neon(token), q).vectorize(kernel),
    }
}

/// Runs a transform on the backend of `isa`, modulo `q`: in the form with room for long sums, if
/// there is one for q. Prepared constants are the same in both.
#[inline]
pub(crate) fn dispatch_transform<K: Kernel>(isa: Isa, q: Modulus, kernel: K) -> K::Output {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let roomy = q.bits() <= ROOMY_BITS;
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(token) if roomy => float::Float::<_, true>::new(avx2::Avx2(token), q).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token) if roomy => float::Float::<_, true>::new(avx512::Avx512(token), q).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Ifma(token) if roomy => word52::Word52::<_, true>::new(ifma::Ifma(token), q).vectorize(kernel),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon(token) if roomy => float::Float::<_, true>::new(neon::Neon(token), q).vectorize(kernel),
        _ => dispatch(isa, q, kernel),
    }
}

/// Runs a kernel of sums of 32-bit residues on the backend of `isa`.
#[inline]
pub(crate) fn dispatch_u32<K: u32_lanes::U32Kernel>(isa: Isa, kernel: K) -> K::Output {
    use u32_lanes::U32Lanes;
    match isa {
        Isa::Portable => u32_lanes::Portable::<1>.vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(token) => avx2_u32::Avx2(token).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token) => avx512_u32::Avx512(token).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Ifma(token) => avx512_u32::Avx512(token.avx512()).vectorize(kernel),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon(token) => neon_u32::Neon(token).vectorize(kernel),
    }
}

/// Runs a kernel of words of 64 bits on the backend of `isa`.
#[inline]
pub(crate) fn dispatch_words<K: word64::WordsKernel>(isa: Isa, kernel: K) -> K::Output {
    use word64::Words;
    match isa {
        Isa::Portable => word64::Portable.vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(token) => avx2_word64::Avx2(token).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token) => avx512_word64::Avx512(token).vectorize(kernel),
        #[cfg(target_arch = "x86_64")]
        Isa::Ifma(token) => avx512_word64::Avx512(token.avx512()).vectorize(kernel),
        // These words serve a comparison of instruction sets of x86-64.
        #[cfg(target_arch = "aarch64")]
        Isa::Neon(_) => word64::Portable.vectorize(kernel),
    }
}

//! Which instruction set the kernels run on: detected once, carried as a value.

use std::sync::OnceLock;

/// Proof that AVX2 and FMA are there.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Avx2Token(());

/// Proof that AVX-512 F, DQ and VL, AVX2 and FMA are there.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Avx512Token(());

/// Proof that AVX-512 IFMA and everything of [`Avx512Token`] are there.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IfmaToken(());

/// Proof that NEON is there, with fused multiply-add on doubles.
#[cfg(target_arch = "aarch64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NeonToken(());

#[cfg(target_arch = "aarch64")]
impl NeonToken {
    // Programs for this architecture are compiled with NEON, unless their target leaves it out.
    fn detect() -> Option<Self> {
        cfg!(target_feature = "neon").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx2Token {
    fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512Token {
    fn detect() -> Option<Self> {
        Avx2Token::detect()?;
        let all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        all.then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl IfmaToken {
    fn detect() -> Option<Self> {
        Avx512Token::detect()?;
        is_x86_feature_detected!("avx512ifma").then_some(Self(()))
    }

    /// The part of the proof that does not concern IFMA.
    pub fn avx512(self) -> Avx512Token {
        Avx512Token(())
    }
}

/// An instruction set that this machine is known to have.
///
/// Values other than `Portable` carry a token that only detection makes, so holding one proves that
/// the features are there. All give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Plain Rust, on every machine.
    Portable,
    /// Doubles with fused multiply-add, 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Token),
    /// Doubles with fused multiply-add, 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Token),
    /// 512-bit vectors with 52-bit integer multiply-add.
    #[cfg(target_arch = "x86_64")]
    Ifma(IfmaToken),
    /// Doubles with fused multiply-add, 128-bit vectors.
    #[cfg(target_arch = "aarch64")]
    Neon(NeonToken),
}

impl Isa {
    /// The fastest instruction set of this machine.
    ///
    /// The environment variable `WINDLASS_ISA` (`portable`, `avx2`, `avx512`, `ifma` or `neon`), read
    /// once, names another. A name that this machine does not have is ignored.
    ///
    /// **Warning.** So is a misspelled name: a measurement then runs on another instruction set, without a
    /// message.
    pub fn best() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            let wanted = std::env::var("WINDLASS_ISA").ok().and_then(|name| Self::named(&name));
            wanted.unwrap_or_else(|| *Self::available().last().expect("the portable set is always there"))
        })
    }

    /// All instruction sets of this machine, slowest first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut found = vec![Isa::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            found.extend(Avx2Token::detect().map(Isa::Avx2));
            found.extend(Avx512Token::detect().map(Isa::Avx512));
            found.extend(IfmaToken::detect().map(Isa::Ifma));
        }
        #[cfg(target_arch = "aarch64")]
        found.extend(NeonToken::detect().map(Isa::Neon));
        found
    }

    /// The instruction set of that [`Isa::name`], if this machine has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::available().into_iter().find(|isa| isa.name() == name)
    }

    /// A short lower-case name, as printed in benchmarks.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Ifma(_) => "ifma",
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(_) => "neon",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_lead_back() {
        for isa in Isa::available() {
            assert_eq!(Isa::named(isa.name()), Some(isa));
        }
        assert_eq!(Isa::available()[0], Isa::Portable);
        assert!(Isa::named("abacus").is_none());
    }
}

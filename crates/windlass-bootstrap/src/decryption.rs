//! The decryption formula of a specification.

use windlass_ring::kernels::Shape;
use windlass_ring::slots::PrimePower;
use windlass_schemes::error::{BootstrapError, Result};

use super::formula::{DecryptionFormula, FormulaSpec};
use super::spec::BootstrapSpec;

impl BootstrapSpec {
    /// What its decryption formula starts from.
    pub(super) fn formula_spec<'a>(&self, shape: &'a Shape, modulus: (u64, u32), parties: u32) -> FormulaSpec<'a> {
        FormulaSpec { shape, modulus, weight: self.ephemeral_weight, parties, failure_bits: self.failure_bits }
    }
}

impl DecryptionFormula {
    /// The digits by the front end of a specification.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::Ring`] if p^r is not a supported prime power;
    /// [`BootstrapError::EphemeralWeight`]; [`BootstrapError::FailureBits`];
    /// [`BootstrapError::Unsupported`] for a plaintext modulus that is too large, and for what the
    /// method refuses or what of it does not fit together.
    pub fn new(shape: &Shape, modulus: (u64, u32), spec: &BootstrapSpec) -> Result<Self> {
        Self::of_parties(shape, modulus, spec, 1)
    }

    /// As [`Self::new`] for an ephemeral secret that is a sum, one for each party that holds the key.
    pub(super) fn of_parties(shape: &Shape, modulus: (u64, u32), spec: &BootstrapSpec, parties: u32) -> Result<Self> {
        PrimePower::new(modulus.0, modulus.1)?;
        let (weight, n) = (spec.ephemeral_weight, shape.n());
        if weight == 0 || weight as usize > n {
            return Err(BootstrapError::EphemeralWeight { weight, n }.into());
        }
        let got = spec.failure_bits;
        if !(got.is_finite() && got > 0.0) {
            return Err(BootstrapError::FailureBits { got }.into());
        }
        let formula = spec.front_end.method().formula(&spec.formula_spec(shape, modulus, parties))?;
        formula.check(modulus)?;
        Ok(formula)
    }
}

#[cfg(test)]
mod tests {
    use windlass_ring::{Eval, Poly};
    use windlass_schemes::error::Error;

    use super::*;
    use crate::front_end::{DecryptionMethod, FrontEnd};

    fn formula(spec: &BootstrapSpec) -> Result<DecryptionFormula> {
        DecryptionFormula::new(&Shape::new(64).unwrap(), (257, 1), spec)
    }

    #[test]
    fn failure_bits_are_finite_and_positive() {
        let formula =
            |failure_bits| formula(&BootstrapSpec { failure_bits, ephemeral_weight: 8, ..BootstrapSpec::default() });
        for got in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
            match formula(got) {
                Err(Error::Bootstrap(BootstrapError::FailureBits { got: named })) => {
                    assert_eq!(named.to_bits(), got.to_bits());
                }
                other => panic!("{got}: {other:?}"),
            }
        }
        // More of them, and the bound is larger; never above the one that holds for certain.
        let bound = |failure_bits| formula(failure_bits).unwrap().bound;
        assert!(bound(1.0) < bound(128.0) && bound(128.0) <= bound(1e300) && bound(1e300) == (9.0 / 2.0 + 0.49) as u64);
    }

    /// Gives the digits of the library, changed.
    #[derive(Debug)]
    struct Changed(fn(&mut DecryptionFormula));

    impl DecryptionMethod for Changed {
        fn name(&self) -> &'static str {
            "changed"
        }

        fn citation(&self) -> &'static str {
            "nowhere"
        }

        fn formula(&self, spec: &FormulaSpec<'_>) -> Result<DecryptionFormula> {
            let mut formula = FrontEnd::PrimePower.method().formula(spec)?;
            (self.0)(&mut formula);
            Ok(formula)
        }

        fn switched_to(&self, _: &FormulaSpec<'_>, _: &DecryptionFormula) -> String {
            String::new()
        }

        fn constants(&self, _: &FormulaSpec<'_>, _: &DecryptionFormula, _: [Poly<Eval>; 2]) -> [Vec<u64>; 2] {
            Default::default()
        }
    }

    #[test]
    fn digits_that_do_not_fit_together_are_refused() {
        static SAME: Changed = Changed(|_| ());
        static CHANGED: [Changed; 7] = [
            Changed(|formula| formula.prime = 3),
            Changed(|formula| formula.message_exponent = 2),
            Changed(|formula| formula.exponent += 1),
            Changed(|formula| (formula.removed, formula.exponent) = (0, 1)),
            Changed(|formula| formula.bound = 129),
            Changed(|formula| formula.log2_switched = f64::NAN),
            Changed(|formula| formula.failure_bits = f64::NAN),
        ];
        let of = |method| {
            formula(&BootstrapSpec { front_end: FrontEnd::Of(method), ephemeral_weight: 8, ..BootstrapSpec::default() })
        };
        let own = formula(&BootstrapSpec { ephemeral_weight: 8, ..BootstrapSpec::default() });
        assert_eq!(of(&SAME).unwrap(), own.unwrap());
        for changed in &CHANGED {
            let refused = of(changed);
            assert!(matches!(refused, Err(Error::Bootstrap(BootstrapError::Unsupported { .. }))), "{refused:?}");
        }
        // p^e of 2^45 and more.
        static LARGE: Changed = Changed(|formula| (formula.removed, formula.exponent) = (5, 6));
        assert!(of(&LARGE).unwrap_err().to_string().contains("2^45"));
    }
}

//! A custom digit polynomial, in addition to the published ones: for p = 3 the cube. Every digit
//! −1, 0, 1 is its own cube, and (d + 3^a·k)³ ≡ d (mod 3^(a+1)), so that each cube knows the digit
//! to one place more.

use std::sync::Arc;

use windlass::circuits::{
    ChenHan, DigitMethod, DigitPolynomial, DigitRemoval, DigitRoute, DigitSpec, DigitStep, HaleviShoup, LastStep,
    Method, Stride,
};
use windlass::ring::{kernels::Isa, slots::SlotRing};
use windlass::schemes::clear::Clear;
use windlass::{Plaintext, Result};

#[derive(Debug)]
struct Cubes;

impl DigitMethod for Cubes {
    fn name(&self) -> &'static str {
        "cubes"
    }

    fn citation(&self) -> &'static str {
        "this example"
    }

    fn refusal(&self, spec: &DigitSpec) -> Option<&'static str> {
        (spec.prime != 3).then_some("digits are their own cubes for p = 3 alone")
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        vec![DigitRoute { stride: Stride::One, last: LastStep::AsTheOthers }]
    }

    fn polynomial(&self, step: &DigitStep) -> Result<DigitPolynomial> {
        Ok(DigitPolynomial { coefficients: vec![0, 0, 0, 1], precision: step.from + 1 })
    }
}

/// Runs with it.
pub fn main() -> Result<()> {
    // Two of four digits go, from every residue modulo 81, in slots modulo 3^4; what is left are
    // residues modulo 3^2.
    let ring = |exponent| -> Result<_> { Ok(Arc::new(SlotRing::new(121, 3, exponent, Isa::best())?)) };
    let (whole, left) = (ring(4)?, ring(2)?);
    let clear = Clear::new(&whole);
    for method in [Method::Of(&Cubes), Method::Of(&HaleviShoup), Method::Of(&ChenHan)] {
        let removal = DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(3, 4, 2) })?;
        println!("{}", removal.explain());
        for start in (0..81).step_by(whole.slots()) {
            let numbers: Vec<u64> = (start..start + whole.slots() as u64).map(|x| x % 81).collect();
            let image = removal.apply(&clear, &clear.encrypt(&Plaintext::from_integers(&whole, &numbers)?)?)?;
            let image = Plaintext::new(&left, image.plaintext().coefficients().to_vec())?.to_integers()?;
            // The nearest multiple of 9 to each, divided by 9.
            assert!(numbers.iter().zip(image).all(|(x, y)| (x + 4) / 9 % 9 == y));
        }
    }
    Ok(())
}

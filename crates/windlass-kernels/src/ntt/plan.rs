//! The transform of one ring modulo one prime.

use std::sync::Arc;

use crate::error::KernelError;
use crate::isa::Isa;
use crate::modulus::Modulus;
use crate::ntt::Shape;
use crate::ntt::pow2::Pow2Plan;
use crate::reference;

/// Precomputed tables of the transform of a [`Shape`] modulo one prime.
#[derive(Debug, Clone)]
pub struct NttPlan {
    shape: Arc<Shape>,
    modulus: Modulus,
    roots: Vec<u64>,
    /// The whole transform when m is a power of two.
    pow2: Option<Arc<Pow2Plan>>,
}

impl NttPlan {
    /// Builds the tables.
    ///
    /// # Errors
    /// [`KernelError::NoRootOfUnity`] when the prime is not 1 modulo [`Shape::root_order`].
    pub fn new(shape: &Arc<Shape>, modulus: Modulus, isa: Isa) -> Result<Self, KernelError> {
        let zeta = modulus.root_of_unity(shape.m())?;
        let roots = shape.axes().iter().map(|axis| modulus.pow(zeta, shape.m() / axis.index)).collect();
        let log_n = shape.n().trailing_zeros();
        let pow2 = shape.m().is_power_of_two().then(|| Arc::new(Pow2Plan::new(log_n, modulus, zeta, isa)));
        Ok(Self { shape: Arc::clone(shape), modulus, roots, pow2 })
    }

    /// The shape.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The prime.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// Powerful-basis coefficients to values, in place. Canonical in and out.
    pub fn forward(&self, row: &mut [u64]) {
        assert_eq!(row.len(), self.shape.n());
        match &self.pow2 {
            Some(pow2) => pow2.forward(row),
            None => reference::forward(&self.shape, self.modulus, &self.roots, row),
        }
    }

    /// Values to powerful-basis coefficients, in place. Canonical in and out.
    pub fn inverse(&self, row: &mut [u64]) {
        assert_eq!(row.len(), self.shape.n());
        match &self.pow2 {
            Some(pow2) => pow2.inverse(row),
            None => reference::inverse(&self.shape, self.modulus, &self.roots, row),
        }
    }
}

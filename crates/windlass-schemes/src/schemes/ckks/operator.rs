//! What a matrix does to bounds and errors: by its norms, instead of by its diagonals one by one.

use std::sync::atomic::{AtomicU64, Ordering};

use super::ciphertext::{Ciphertext, Info};
use super::engine::Engine;
use super::magnitude::Magnitude;
use super::slot_error::{SlotError, Source};
use crate::error::Result;

/// What is known of a linear map `y_j = Σ_k a_jk·x_k` (of x and its conjugate, perhaps) from one or
/// more vectors of slots to one.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Operator {
    /// The number of slots of each vector.
    pub slots: usize,
    /// The largest row sum Σ_k|a_jk|.
    pub absolute: f64,
    /// The largest Euclidean norm of a row.
    pub euclidean: f64,
    /// Bound on the spectral norm ‖A‖_2.
    pub spectral: f64,
    /// For each vector that goes in, the number of its first slots that matter.
    pub widths: Vec<usize>,
}

/// Numbers the matrix products of this process. Each number names the error of one result.
static NEXT_PRODUCT: AtomicU64 = AtomicU64::new(0);

impl Operator {
    /// The largest value that goes in, and the Euclidean norm of all.
    fn sizes(&self, inputs: &[&Ciphertext]) -> (f64, f64) {
        let known = |(x, &width): (&&Ciphertext, &usize)| {
            let magnitude = x.info.magnitude.repeated(self.slots);
            (magnitude.below(width), magnitude.norm_below(width))
        };
        let join = |(largest, norm): (f64, f64), (one, other): (f64, f64)| (largest.max(one), norm.hypot(other));
        inputs.iter().zip(&self.widths).map(known).fold((0.0, 0.0), join)
    }

    /// The magnitude of what comes out.
    fn magnitude(&self, inputs: &[&Ciphertext]) -> Magnitude {
        let (largest, norm) = self.sizes(inputs);
        let bound = (self.absolute * largest).min(self.euclidean * norm);
        Magnitude::of(self.slots, bound).with_norm(self.spectral * norm)
    }

    /// The ciphertexts as the products take them: without their errors, which [`Engine::leave`]
    /// brings through the map as a whole, and with a bound for every sum of products.
    pub fn enter(&self, inputs: &[&Ciphertext]) -> Vec<Ciphertext> {
        let limit = self.absolute * self.sizes(inputs).0;
        let without_error = |x: &&Ciphertext| {
            // Rounded constants multiply errors too.
            let largest = x.info.magnitude.largest() + x.whole_error_bound();
            let magnitude = Magnitude::of(x.slots(), largest).with_limit(limit);
            let info = Info { magnitude, deviation: 0.0, uneven: 0.0, own: SlotError::default(), ..x.info };
            x.with_parts(x.parts.to_vec(), info)
        };
        inputs.iter().map(without_error).collect()
    }

    /// The deviation of a slot of the image, and the root of the largest eigenvalue of its
    /// covariance, from the same figures of what goes in.
    fn spread(&self, errors: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
        let join =
            |(deviation, spread): (f64, f64), (one, other): (f64, f64)| (deviation.max(one), spread.hypot(other));
        let (deviation, spread) = errors.fold((0.0, 0.0), join);
        ((self.absolute * deviation).min(self.euclidean * spread), self.spectral * spread)
    }
}

impl Engine {
    /// What came out of the products of a map whose inputs were entered by [`Operator::enter`], with
    /// bounds and errors by the norms of the map.
    #[doc(hidden)]
    pub fn leave(&self, map: &Operator, inputs: &[&Ciphertext], mut out: Ciphertext) -> Result<Ciphertext> {
        out.info.magnitude = map.magnitude(inputs);
        let whole = (self.context.spec().n as f64).sqrt();
        let errors = inputs.iter().map(|x| (x.info.deviation, x.info.even() + whole * x.info.uneven));
        let (deviation, spread) = map.spread(errors);
        out.info.deviation += deviation;
        out.info.uneven += ((spread - deviation) / (whole - 1.0)).clamp(0.0, deviation);
        let owns: Vec<SlotError> = inputs.iter().map(|x| x.info.error_in(map.slots)).collect();
        let (deviation, spread) = map.spread(owns.iter().map(|own| (own.random(), own.spread(map.slots))));
        if deviation > 0.0 {
            let number = NEXT_PRODUCT.fetch_add(1, Ordering::Relaxed);
            out.info.own.add(Source::image(number, spread / deviation), deviation);
        }
        let most = owns.iter().map(SlotError::most).fold(0.0, f64::max);
        out.info.own.add_most(map.absolute * most);
        let systematic = owns.iter().map(SlotError::systematic).fold(0.0, f64::max);
        out.info.own.add_systematic(map.absolute * systematic);
        self.accept("linear map", out)
    }
}

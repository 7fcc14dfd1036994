//! Fourier transforms of every length.
//!
//! rustfft plans the fastest transform of a length, out of a hundred of its own. All of them are then part of
//! the program, which downloads to browsers do not want: there powers of two are transformed by radix 4, and
//! other lengths as cyclic convolutions of such a length (Bluestein).

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use rustfft::FftPlanner as Transforms;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub use self::short::Transforms;

#[cfg(any(test, all(target_arch = "wasm32", target_os = "unknown")))]
mod short {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use rustfft::algorithm::{BluesteinsAlgorithm, Radix4};
    use rustfft::{Fft, FftDirection, FftNum};

    /// Keeps the tables of all lengths that occurred.
    pub struct Transforms<T: FftNum>(BTreeMap<usize, Arc<dyn Fft<T>>>);

    impl<T: FftNum> Transforms<T> {
        /// No tables yet.
        pub const fn new() -> Self {
            Self(BTreeMap::new())
        }

        /// The forward transform of a length, at least 1.
        pub fn plan_fft_forward(&mut self, length: usize) -> Arc<dyn Fft<T>> {
            Arc::clone(self.0.entry(length).or_insert_with(|| forward(length)))
        }
    }

    fn forward<T: FftNum>(length: usize) -> Arc<dyn Fft<T>> {
        let power = |length| Arc::new(Radix4::new(length, FftDirection::Forward));
        if length.is_power_of_two() {
            return power(length);
        }
        Arc::new(BluesteinsAlgorithm::new(length, power((2 * length - 1).next_power_of_two())))
    }
}

#[cfg(test)]
mod tests {
    use rustfft::FftPlanner;
    use rustfft::num_complex::Complex64;

    use super::short::Transforms;

    #[test]
    fn short_programs_transform_as_fast_ones() {
        let (mut short, mut fast) = (Transforms::new(), FftPlanner::new());
        for length in [1, 2, 3, 4, 5, 16, 45, 105, 512, 1009, 1155, 4096] {
            let values: Vec<Complex64> =
                (0..length).map(|i| Complex64::new((i * i % 13) as f64, (i % 5) as f64)).collect();
            let [mut ours, mut theirs] = [values.clone(), values];
            short.plan_fft_forward(length).process(&mut ours);
            fast.plan_fft_forward(length).process(&mut theirs);
            let most = ours.iter().zip(&theirs).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(most < 1e-9 * length as f64, "length {length}: {most}");
        }
    }
}

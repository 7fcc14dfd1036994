//! Transforms of all lengths.

use windlass_gpu::DevicePoly;
use windlass_ring::{Coeff, Eval, Poly};

use crate::common::{all, devices, edges, on, ring};

/// Values and coefficients of the processor and of the device, both ways.
fn compare(log_n: u32, bits: &[u32], polys: impl Fn(Vec<Poly<Coeff>>) -> Vec<Poly<Coeff>>) {
    let (ring, basis) = (ring(log_n, bits), all(bits.len()));
    for device in devices() {
        let on_device = on(&device, &ring, bits.len());
        for poly in polys(edges(&ring, &basis)) {
            let values = poly.clone().into_eval();
            let moved = DevicePoly::upload(&on_device, &poly).unwrap().into_eval().unwrap();
            assert!(moved.download().unwrap() == values, "forward, log n = {log_n}");
            assert!(moved.into_coeff().unwrap().download().unwrap() == poly, "inverse, log n = {log_n}");
        }
        for values in edges::<Eval>(&ring, &basis).into_iter().take(if log_n > 13 { 1 } else { 6 }) {
            let coefficients = values.clone().into_coeff();
            let moved = DevicePoly::upload(&on_device, &values).unwrap().into_coeff().unwrap();
            assert!(moved.download().unwrap() == coefficients, "inverse of edges, log n = {log_n}");
        }
    }
}

#[test]
fn short_transforms_have_the_bits_of_the_processor() {
    for log_n in 1..=13 {
        compare(log_n, &[50, 48, 49, 30], |all| all);
    }
}

#[test]
fn long_transforms_have_the_bits_of_the_processor() {
    for log_n in 14..=17 {
        // Largest residues, and random ones.
        compare(log_n, &[50], |all| {
            all.into_iter().enumerate().filter(|(i, _)| [2, 5].contains(i)).map(|x| x.1).collect()
        });
    }
}

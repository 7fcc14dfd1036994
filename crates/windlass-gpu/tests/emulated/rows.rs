//! Sums, products and automorphisms of rows.

use windlass_gpu::DevicePoly;
use windlass_ring::{Eval, Poly};

use crate::common::{all, devices, edges, on, random, ring};

const BITS: [u32; 3] = [50, 48, 31];

#[test]
fn sums_and_products_have_the_bits_of_the_processor() {
    for log_n in [1, 5, 9] {
        let (ring, basis) = (ring(log_n, &BITS), all(3));
        for device in devices() {
            let on_device = on(&device, &ring, 3);
            let up = |poly: &Poly<Eval>| DevicePoly::upload(&on_device, poly).unwrap();
            let polys = edges::<Eval>(&ring, &basis);
            for x in &polys {
                for y in &polys {
                    let (a, b) = (up(x), up(y));
                    assert!(a.plus(&b).unwrap().download().unwrap() == x.plus(y));
                    assert!(a.minus(&b).unwrap().download().unwrap() == x.minus(y));
                    assert!(a.mul(&b).unwrap().download().unwrap() == x.mul(y));
                    let (mut sum, mut expected) = (up(x), x.clone());
                    sum.mul_add_assign(&b, &a).unwrap();
                    expected.mul_add_assign(y, x);
                    assert!(sum.download().unwrap() == expected);
                    let three = a.times_scalar(|q| q.value() - 3).unwrap().download().unwrap();
                    assert!(three == x.times_scalar(|q| q.value() - 3));
                }
            }
        }
    }
}

#[test]
fn tensor_products_have_the_bits_of_the_processor() {
    let (ring, basis) = (ring(8, &BITS), all(3));
    for device in devices() {
        let on_device = on(&device, &ring, 3);
        let up = |poly: &Poly<Eval>| DevicePoly::upload(&on_device, poly).unwrap();
        let polys = edges::<Eval>(&ring, &basis);
        for (i, x) in polys.iter().enumerate() {
            let (y, z, w) = (&polys[(i + 1) % 6], &polys[(i + 2) % 6], random(&ring, &basis, i as u64));
            let factor = |q: windlass_kernels::Modulus| q.value() / 2 + i as u64;
            let expected = Poly::tensor([x, y], [z, &w], factor);
            let (a, b) = ([up(x), up(y)], [up(z), up(&w)]);
            let found = DevicePoly::tensor([&a[0], &a[1]], [&b[0], &b[1]], factor).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.download().unwrap() == *expected, "case {i}");
            }
        }
    }
}

#[test]
fn automorphisms_have_the_bits_of_the_processor() {
    for log_n in [1, 2, 3, 6, 11, 12] {
        let (ring, basis) = (ring(log_n, &BITS), all(3));
        let (x, y) = (random::<Eval>(&ring, &basis, 1), random::<Eval>(&ring, &basis, 2));
        let m = ring.m();
        for device in devices() {
            let on_device = on(&device, &ring, 3);
            let (a, b) = (DevicePoly::upload(&on_device, &x).unwrap(), DevicePoly::upload(&on_device, &y).unwrap());
            for element in [1, 3, 5, 25, m - 1, m / 2 + 1, 7 * m + 3].map(|element| element | 1) {
                let automorphism = ring.automorphism(element).unwrap();
                let moved = x.automorphism(&automorphism);
                assert!(a.automorphism(element).unwrap().download().unwrap() == moved, "m = {m}, t = {element}");
                let mut sum = DevicePoly::upload(&on_device, &y).unwrap();
                sum.add_automorphism_assign(&a, element).unwrap();
                assert!(sum.download().unwrap() == y.plus(&moved), "m = {m}, t = {element}");
            }
            assert!(b.download().unwrap() == y);
        }
    }
}

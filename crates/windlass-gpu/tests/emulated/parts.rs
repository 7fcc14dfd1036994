//! The parts of a key switch: digits, inner products with keys, division by special primes.

use windlass_gpu::{Decomposer, DeviceError, DeviceKey, DevicePoly, Divider};
use windlass_ring::gadget::{Gadget, Product};
use windlass_ring::rns::Epilogue;
use windlass_ring::{Basis, Eval, Poly};

use crate::common::{all, devices, edges, on, random, ring};

/// Seven ordinary primes and three special ones, of every size.
const BITS: [u32; 10] = [50, 36, 48, 50, 42, 49, 38, 50, 50, 47];

#[test]
fn digits_products_and_quotients_have_the_bits_of_the_processor() {
    for log_n in [1, 3, 6, 12] {
        let ring = ring(log_n, &BITS);
        let special = Basis::new(7..10);
        for device in devices() {
            let on_device = on(&device, &ring, 10);
            for (primes, groups) in [(7, 3), (7, 1), (5, 3), (1, 2)] {
                let (gadget, basis) = (Gadget::balanced(7, groups), all(primes));
                let divided = if primes == 5 { Basis::new([9]) } else { Basis::new([]) };
                let by = if primes == 7 { (1, &divided) } else { (257, &divided) };
                let special = special.without(&divided);
                let decomposer = Decomposer::new(&on_device, &gadget, (&basis, &special), by).unwrap();
                let larger = basis.union(&special);
                let halves: Vec<Poly<Eval>> = (0..2 * groups).map(|i| random(&ring, &all(10), 40 + i as u64)).collect();
                let key = DeviceKey::upload(&on_device, &halves).unwrap();
                let (b, a): (Vec<_>, Vec<_>) = halves.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
                let divider = Divider::new(&on_device, &larger, &basis, 3).unwrap();
                let polys = edges::<Eval>(&ring, &basis);
                for x in polys.iter().take(if log_n > 10 { 3 } else { 6 }).chain(polys.last()) {
                    let digits = gadget.decompose(x, &special, by);
                    let found = decomposer.digits(&DevicePoly::upload(&on_device, x).unwrap()).unwrap();
                    assert!(found.download().unwrap() == digits, "digits of {primes} primes in {groups} groups");
                    let pair = Product::of_digits(&digits, [&b, &a]).evaluate();
                    let products = found.inner_product(&key, 0).unwrap();
                    assert!(products[0].download().unwrap() == pair[0] && products[1].download().unwrap() == pair[1]);
                    let element = 3;
                    let theta = ring.automorphism(element).unwrap();
                    let epilogue = Epilogue { addends: [Some(x), None], automorphism: Some(&*theta) };
                    let expected = Poly::divide_pair([&pair[0], &pair[1]], &basis, 3, &epilogue);
                    let addend = DevicePoly::upload(&on_device, x).unwrap();
                    let first = divider.divide(&products[0], Some(&addend), element).unwrap();
                    let second = divider.divide(&products[1], None, element).unwrap();
                    assert!(first.download().unwrap() == expected[0] && second.download().unwrap() == expected[1]);
                }
            }
        }
    }
}

#[test]
fn quotients_of_residues_at_the_edges_have_the_bits_of_the_processor() {
    let (ring, keep) = (ring(5, &BITS), all(7));
    for device in devices() {
        let on_device = on(&device, &ring, 10);
        let divider = Divider::new(&on_device, &all(10), &keep, 1).unwrap();
        for x in edges::<Eval>(&ring, &all(10)) {
            let [expected, _] = Poly::divide_pair([&x, &x], &keep, 1, &Epilogue::default());
            let found = divider.divide(&DevicePoly::upload(&on_device, &x).unwrap(), None, 1).unwrap();
            assert!(found.download().unwrap() == expected);
        }
    }
}

#[test]
fn keys_and_bases_that_do_not_fit_are_refused() {
    let ring = ring(4, &BITS);
    let [device, _] = devices();
    let on_device = on(&device, &ring, 10);
    let (gadget, special) = (Gadget::balanced(7, 3), Basis::new(7..10));
    let none = Basis::new([]);
    let decomposer = Decomposer::new(&on_device, &gadget, (&all(7), &special), (1, &none)).unwrap();
    let x = DevicePoly::upload(&on_device, &random::<Eval>(&ring, &all(7), 1)).unwrap();
    let digits = decomposer.digits(&x).unwrap();
    let half = |basis: &Basis| random::<Eval>(&ring, basis, 2);
    let short = DeviceKey::upload(&on_device, &[half(&all(10)), half(&all(10))]).unwrap();
    assert_eq!(digits.inner_product(&short, 0).unwrap_err(), DeviceError::TooFewPairs { pairs: 1, needed: 3 });
    let narrow: Vec<_> = (0..6).map(|_| half(&all(9))).collect();
    let narrow = DeviceKey::upload(&on_device, &narrow).unwrap();
    assert_eq!(digits.inner_product(&narrow, 0).unwrap_err(), DeviceError::OtherBasis);
    assert_eq!(DeviceKey::upload(&on_device, &[half(&all(10))]).unwrap_err(), DeviceError::OtherBasis);
    let low = DevicePoly::upload(&on_device, &half(&all(6))).unwrap();
    assert_eq!(decomposer.digits(&low).unwrap_err(), DeviceError::OtherBasis);
    assert_eq!(Divider::new(&on_device, &all(7), &all(8), 1).unwrap_err(), DeviceError::OtherBasis);
    assert_eq!(Divider::new(&on_device, &all(7), &all(7), 1).unwrap_err(), DeviceError::OtherBasis);
}

//! What a device refuses, and what it leaves as it was.

use std::sync::Arc;

use windlass_gpu::{Device, DeviceError, DevicePoly, DeviceRing, Order};
use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Modulus, Shape};
use windlass_ring::{Basis, Eval, Ring, RingError};

use crate::common::{all, on, random, ring};

#[test]
fn too_little_memory_is_an_error_that_names_it_and_leaves_values_alone() {
    let (ring, basis) = (ring(6, &[50, 49]), all(2));
    let x = random::<Eval>(&ring, &basis, 1);
    // The tables take 8 + 128 words, rows 2 + 2 + 4, a polynomial 128.
    let device = Device::emulated_with(Order::Ascending, (8 + 128 + 8 + 2 * 128) * 8);
    let on_device = on(&device, &ring, 2);
    let (a, b) = (DevicePoly::upload(&on_device, &x).unwrap(), DevicePoly::upload(&on_device, &x).unwrap());
    let used = device.used_bytes();
    let refused = a.plus(&b).unwrap_err();
    assert_eq!(refused, DeviceError::OutOfMemory { wanted: 1024, used, limit: used });
    assert!(a.download().unwrap() == x && b.download().unwrap() == x);
    drop(b);
    assert_eq!(device.used_bytes(), used - 1024);
    assert!(a.plus(&a).unwrap().download().unwrap() == x.plus(&x));
}

#[test]
fn spare_memory_of_another_size_is_given_back_when_it_is_needed() {
    let device = Device::emulated_with(Order::Ascending, 90_000);
    let (small, large) = (ring(4, &[50]), ring(12, &[50]));
    let x = random::<Eval>(&small, &all(1), 1);
    let on_device = on(&device, &small, 1);
    let many: Vec<_> = (0..200).map(|_| DevicePoly::upload(&on_device, &x).unwrap()).collect();
    drop(many);
    // 32 KiB of roots and 32 of the polynomial would not fit beside the 25 KiB that are spare.
    let on_device = on(&device, &large, 1);
    let y = random::<Eval>(&large, &all(1), 2);
    let moved = DevicePoly::upload(&on_device, &y).unwrap();
    assert!(moved.automorphism(5).is_err(), "a third polynomial has no room");
    assert!(moved.download().unwrap() == y);
}

#[test]
fn values_of_other_rings_devices_and_bases_are_refused() {
    let device = Device::emulated().unwrap();
    let (first, second) = (ring(4, &[50, 49]), ring(4, &[50, 49]));
    let x = random::<Eval>(&first, &all(2), 1);
    let on_first = on(&device, &first, 2);
    let a = DevicePoly::upload(&on_first, &x).unwrap();
    assert_eq!(DevicePoly::upload(&on(&device, &second, 2), &x).unwrap_err(), DeviceError::OtherRing);
    let elsewhere = DevicePoly::upload(&on(&Device::emulated().unwrap(), &first, 2), &x).unwrap();
    assert_eq!(a.plus(&elsewhere).unwrap_err(), DeviceError::OtherRing);
    let part = DevicePoly::upload(&on_first, &x.restrict(&Basis::new([1]))).unwrap();
    assert_eq!(a.mul(&part).unwrap_err(), DeviceError::OtherBasis);
    let of_one = DeviceRing::new(&device, &first, &Basis::new([0])).unwrap();
    assert_eq!(DevicePoly::upload(&of_one, &x).unwrap_err(), DeviceError::NoSuchPrime { index: 1 });
    let refused = a.automorphism(6).unwrap_err();
    assert_eq!(refused, RingError::NotAnAutomorphism { element: 6, m: 32 }.into());
}

#[test]
fn rings_and_primes_without_kernels_are_refused() {
    let device = Device::emulated().unwrap();
    let shape = Arc::new(Shape::new(15).unwrap());
    let primes = find_primes(shape.root_order(), 40, 1, &[]).unwrap();
    let odd = Ring::new(shape, &primes, Isa::best()).unwrap();
    assert_eq!(DeviceRing::new(&device, &odd, &all(1)).unwrap_err(), DeviceError::NotAPowerOfTwo { m: 15 });
    let tiny = Ring::new(Arc::new(Shape::new(8).unwrap()), &[Modulus::new(17).unwrap()], Isa::best()).unwrap();
    assert_eq!(DeviceRing::new(&device, &tiny, &all(1)).unwrap_err(), DeviceError::SmallPrime { prime: 17 });
}

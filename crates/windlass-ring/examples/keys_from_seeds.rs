//! The uniform half of a switching key: held and read, or expanded from its seed where it is used.
//! `keys_from_seeds n primes digits`, one thread; what is expanded is compared with what is held.

use std::sync::Arc;
use std::time::Instant;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Shape};
use windlass_ring::gadget::Product;
use windlass_ring::{Basis, Eval, Poly, Ring, RingError, sample};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<Vec<u64>, _>>()?;
    let &[n, primes, digits] = arguments.first_chunk().ok_or("usage: keys_from_seeds n primes digits")?;
    let shape = Arc::new(Shape::new(2 * n).map_err(RingError::from)?);
    let moduli = find_primes(shape.root_order(), 50, primes as usize, &[])?;
    let (ring, basis) = (Ring::new(shape, &moduli, Isa::best())?, Basis::new(0..primes as usize));

    // More keys than any cache holds, each of them used once.
    const KEYS: u8 = 8;
    let half = |key: u8, offset: u32| -> Vec<Poly<Eval>> {
        (0..digits as u32).map(|k| sample::uniform(&ring, &basis, &[key; 32], offset + k)).collect()
    };
    let keys: Vec<[Vec<Poly<Eval>>; 2]> = (0..KEYS).map(|key| [half(key, 100), half(key, 0)]).collect();
    let values = half(KEYS, 0);
    let held = |[b, a]: &[Vec<Poly<Eval>>; 2]| Product::of_digits(&values, [b, a]).evaluate();
    let expanded = |number: usize| {
        let a = half(number as u8, 0);
        Product::of_digits(&values, [&keys[number].as_slice()[0], &a]).evaluate()
    };
    assert!(keys.iter().enumerate().all(|(number, key)| held(key) == expanded(number)), "the same products");

    let each = |f: &dyn Fn(usize)| {
        let run = |_| {
            let start = Instant::now();
            (0..usize::from(KEYS)).for_each(f);
            start.elapsed().as_secs_f64() * 1e3 / f64::from(KEYS)
        };
        (0..5).map(run).fold(f64::INFINITY, f64::min)
    };
    let (read, seeds) = (each(&|number| drop(held(&keys[number]))), each(&|number| drop(expanded(number))));
    let bytes = keys[0].iter().flatten().map(|poly| poly.bytes()).sum::<usize>() as f64 / 1e6;
    println!(
        "n {n}, {primes} primes, {digits} digits: a key of {bytes:.1} MB held, {:.1} MB with a seed; inner product {read:.2} \
         ms, {seeds:.2} ms with half of the key expanded: {:.2} GB/s of it",
        bytes / 2.0,
        bytes / 2.0 / (seeds - read),
    );
    Ok(())
}

//! Prints the time to set up, encode and decode the slots of a ring: `slot_times m p [r]`, results
//! verified first.

use std::time::Instant;

use windlass_kernels::Isa;
use windlass_ring::slots::SlotRing;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<Vec<u64>, _>>()?;
    let (&[m, p], r) = (arguments.first_chunk().ok_or("usage: slot_times m p [r]")?, arguments.get(2).unwrap_or(&1));
    let start = Instant::now();
    let ring = SlotRing::new(m, p, *r as u32, Isa::best())?;
    let setup = start.elapsed().as_secs_f64();
    let value = ring.modulus().value();
    let slots: Vec<u64> = (0..ring.slots() as u64 * ring.degree() as u64).map(|j| j * j % value).collect();
    let a = ring.encode(&slots)?;
    assert_eq!(ring.decode(&a)?, slots);
    let integers = &slots[..ring.slots()];
    let b = ring.encode_integers(integers)?;
    assert_eq!(ring.decode_integers(&b)?, integers);
    let product = best_of(5, || drop(ring.quotient().mul(&a, &b)));
    let encode = best_of(5, || drop(ring.encode(&slots)));
    let decode = best_of(5, || drop(ring.decode(&a)));
    let encode_integers = best_of(5, || drop(ring.encode_integers(integers)));
    let decode_integers = best_of(5, || drop(ring.decode_integers(&b)));
    println!(
        "m {m} p {p} r {r} d {} slots {}: setup {setup:.3} s; ms: encode {encode:.2} decode {decode:.2} integers: encode \
         {encode_integers:.2} decode {decode_integers:.2}; product {product:.2}",
        ring.degree(),
        ring.slots(),
    );
    Ok(())
}

fn best_of(count: usize, mut f: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..count).map(run).fold(f64::INFINITY, f64::min)
}

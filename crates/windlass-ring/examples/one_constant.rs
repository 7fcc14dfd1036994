//! Unpacking d coefficients by d constants that are images of one another, κ_f = σ^f(κ_0)
//! (Halevi–Shoup 2015, §4.3): all of them held ready, or one held and the others permuted from it.
//! `one_constant m p primes`, one thread, results verified first.

use std::sync::Arc;
use std::time::Instant;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::{Isa, Shape, arith};
use windlass_ring::{Basis, Eval, Poly, Ring, RingError, Values};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<Vec<u64>, _>>()?;
    let &[m, p, count] = arguments.first_chunk().ok_or("usage: one_constant m p primes")?;
    let shape = Arc::new(Shape::new(m).map_err(RingError::from)?);
    let primes = find_primes(shape.root_order(), 50, count as usize, &[])?;
    let (ring, basis) = (Ring::new(shape, &primes, Isa::best())?, Basis::new(0..count as usize));
    let d = arith::multiplicative_order(p % m, m) as usize;

    // κ_0, a constant with small coefficients, and the permutations of the powers of σ.
    let coefficients: Vec<i64> = (0..ring.n() as i64).map(|i| i * i % 257 - 128).collect();
    let convert = || Poly::from_signed(&ring, &basis, &coefficients).into_eval();
    let first = convert();
    let powers = (0..d as u64).map(|f| ring.automorphism(arith::pow_mod(p % m, f, m)));
    let powers = powers.collect::<Result<Vec<_>, _>>()?;
    let permute = || powers.iter().map(|power| first.automorphism(power)).collect::<Vec<Poly<Eval>>>();
    let constants = permute();

    // d images of a ciphertext; c_k = Σ_j κ_{j+k}·σ^j, all d of them in one pass through memory.
    let images: Vec<[Poly<Eval>; 2]> = constants.iter().map(|x| [x.mul(x), x.clone()]).collect();
    let values: Vec<Values> = constants.iter().cloned().map(Values::from).collect();
    let unpack = |constants: &[Values]| {
        let row = |k: usize| (0..d).map(|j| ([&images[j][0], &images[j][1]], Some(&constants[(j + k) % d]))).collect();
        Poly::dot_pairs(&ring, &basis, &(0..d).map(row).collect::<Vec<_>>())
    };
    let of_images = unpack(&values)[d - 1][0].data();
    let by_definition: Vec<_> = (0..d).map(|j| (&images[j][0], &constants[(j + d - 1) % d])).collect();
    assert_eq!(of_images, Poly::dot(&ring, &basis, &by_definition).data());

    let [converted, permuted, unpacked] =
        [best(|| drop(convert())), best(|| drop(permute())), best(|| drop(unpack(&values)))];
    println!(
        "m {m} p {p}, {count} primes, d {d}: a constant {:.2} MB, {d} of them {:.1} MB; ms: {} products {unpacked:.1}, \
         permuting {} constants {permuted:.1}, converting one {converted:.1}",
        first.bytes() as f64 / 1e6,
        (d * first.bytes()) as f64 / 1e6,
        d * d,
        d - 1,
    );
    Ok(())
}

/// The minimum of five times, in milliseconds.
fn best(mut f: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..5).map(run).fold(f64::INFINITY, f64::min)
}

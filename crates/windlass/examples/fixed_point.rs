//! Fixed-point arithmetic on encrypted numbers: x is held as the integer nearest to 64·x. A product
//! of two of them has the scale 64², and loses 6 binary digits to have the scale 64 again (the
//! truncation of Chen–Han 2018, §1.2); the integers fall from modulo 2^24 to 2^18 and 2^12 on the
//! way. A toy ring: no security.
//!
//! `cargo run --release -p windlass --example fixed_point`

use windlass::circuits::FixedPointProduct;
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::schemes::Ciphertext;
use windlass::{Client, Context, Params, Result, Scheme};

/// Binary digits behind the point.
const FRACTION: u32 = 6;
/// Binary digits of a fresh integer.
const DIGITS: u32 = 24;

/// Cubes under both schemes, compared with integers.
pub fn main() -> windlass::MainResult {
    let product = FixedPointProduct::new(2, DIGITS, FRACTION)?;
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::from_params(parameters(scheme)?)?;
        let (client, server) = context.generate_keys([&product])?;

        // Numbers from −2 to 2, and their cubes.
        let step = 4.0 / context.slots() as f64;
        let numbers: Vec<f64> = (0..context.slots()).map(|i| i as f64 * step - 2.0).collect();
        let integers: Vec<i64> = numbers.iter().map(|x| (x * 64.0).round() as i64).collect();
        let x = client.encrypt(&integers)?;
        let squares = server.apply(&product, (&x, &x))?;
        let cubes = server.apply(&product, (&squares, &x))?;

        // Exactly what integers give, and what floating-point numbers give but for rounding.
        let rounded = |a: i64, b: i64| (a * b + (1 << (FRACTION - 1))) >> FRACTION;
        let expected: Vec<i64> = integers.iter().map(|&x| rounded(rounded(x, x), x)).collect();
        let decrypted = signed(&client, &cubes)?;
        assert_eq!(decrypted, expected);
        let error = |(&x, &cube): (&f64, &i64)| (x.powi(3) - cube as f64 / 64.0).abs();
        let worst = numbers.iter().zip(&decrypted).map(error).fold(0.0, f64::max);
        let products: usize = product.rescalings()[..2].iter().map(|rescaling| 1 + rescaling.products()).sum();
        println!(
            "{scheme}: {} cubes, at most {worst:.3} off, by {products} products; {:.0} bits of capacity left",
            decrypted.len(),
            server.capacity(&cubes)
        );
        assert!(worst < 0.2);
    }
    Ok(())
}

/// Integers modulo 2^e as those of least absolute value.
fn signed(client: &Client, ct: &Ciphertext) -> Result<Vec<i64>> {
    let whole = 1i64 << ct.exponent();
    let centred = |x: u64| if 2 * x as i64 >= whole { x as i64 - whole } else { x as i64 };
    Ok(client.decrypt(ct)?.into_iter().map(centred).collect())
}

/// 60 slots of integers modulo 2^24.
fn parameters(scheme: Scheme) -> Result<Params> {
    let spec = RlweSpec {
        m: 1023,
        q_prime_bits: vec![50; 24],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50; 7],
        digits: 4,
        secret: SecretDistribution::Sparse { weight: 120 },
        assurance: Assurance::Insecure { name: "insecure_fixed_point".into() },
    };
    Params::new("insecure_fixed_point", scheme, (2, DIGITS), None, spec)
}

//! Digit removal alone: the rows of Chen–Han 2018, Table 3, by every method.

use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::circuits::{ChenHan, DigitRemoval, DigitSpec, HaleviShoup, LeastDegree, Method, Searched};
use windlass::needs::Products;
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::{Context, Error, Params, Scheme};

/// (p, e, v), the published seconds of HElib's method and of Chen–Han's, the levels of HElib that
/// these took, and m. The paper does not say which rings it used.
type Row = (u64, u32, u32, [f64; 2], [u32; 2], u64);

const ROWS: [Row; 6] = [
    (2, 11, 5, [15.0, 16.0], [20, 13], 18631),
    (2, 21, 13, [264.0, 239.0], [40, 34], 18631),
    (5, 6, 3, [49.5, 30.0], [34, 26], 32768),
    (17, 4, 2, [61.2, 35.5], [33, 24], 32768),
    (31, 3, 1, [26.3, 12.13], [24, 14], 32768),
    (127, 3, 1, [73.2, 38.0], [39, 22], 32768),
];

const METHODS: [Method; 5] = [
    Method::Of(&HaleviShoup),
    Method::Of(&ChenHan),
    Method::Of(&LeastDegree),
    Method::Of(&Searched),
    Method::Automatic,
];

/// Prints depth, products, seconds and bits of capacity for each row and method; every answer is
/// verified.
pub fn run() -> Result<(), Error> {
    println!(
        "{:<12} {:<14} {:>5} {:>8} {:>9} {:>6} {:>16} {:>16}",
        "(p, e, v)", "method", "depth", "products", "seconds", "bits", "published HElib", "Chen-Han"
    );
    for row in ROWS {
        measure(row)?;
    }
    Ok(())
}

fn measure(row: Row) -> Result<(), Error> {
    let (p, e, v, ..) = row;
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let plan = |&method: &Method| DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) });
    // Not every method applies to every prime.
    let plans: Vec<DigitRemoval> = METHODS.iter().filter_map(|method| plan(method).ok()).collect();
    let deepest = plans.iter().map(DigitRemoval::depth).max().unwrap_or(1);
    let params = params(row, deepest)?;
    let (client, server) = Context::from_params(params)?.generate_keys_from_seed([&Products], 3)?;
    let values: Vec<u64> = (0..client.context().slots()).map(|_| rng.next_u64() % p.pow(e)).collect();
    let ct = client.encrypt(&values)?;
    let wanted: Vec<u64> = values.iter().map(|&x| without_digits(x as i64, p as i64, e, v)).collect();
    for plan in plans {
        let start = Instant::now();
        let image = plan.apply(server.engine(), &ct)?;
        let elapsed = start.elapsed().as_secs_f64();
        assert_eq!(client.decrypt(&image)?, wanted, "{}", plan.explain());
        print(row, &plan, elapsed, server.capacity(&ct) - server.capacity(&image));
    }
    Ok(())
}

/// A chain for circuits of this depth. A product costs the bits of p^e and about 18 more.
fn params((p, e, _, _, _, m): Row, depth: usize) -> Result<Params, Error> {
    let bits = ((p as f64).log2() * e as f64 + 18.0).ceil().clamp(31.0, 50.0) as u32;
    let count = depth + 3;
    let spec = RlweSpec {
        m,
        q_prime_bits: vec![bits; count],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50; count.div_ceil(4) + 1],
        digits: 4,
        secret: SecretDistribution::Sparse { weight: 120 },
        assurance: Assurance::Insecure { name: "insecure_digits_table".into() },
    };
    Params::new("insecure_digits_table", Scheme::Bgv, (p, e), None, spec)
}

/// One line of the table.
fn print((p, e, v, published, levels, _): Row, removal: &DigitRemoval, seconds: f64, bits: f64) {
    println!(
        "{:<12} {:<14} {:>5} {:>8} {seconds:>9.3} {bits:>6.0} {:>9} s, {:>2} l. {:>9} s, {:>2} l.",
        format!("({p}, {e}, {v})"),
        removal.spec().method.to_string(),
        removal.depth(),
        removal.products(),
        published[0],
        levels[0],
        published[1],
        levels[1]
    );
}

fn without_digits(x: i64, p: i64, e: u32, v: u32) -> u64 {
    let mut rest = x;
    for _ in 0..v {
        let digit = rest.rem_euclid(p);
        rest = (rest - if p > 2 && digit > p / 2 { digit - p } else { digit }) / p;
    }
    rest.rem_euclid(p.pow(e - v)) as u64
}

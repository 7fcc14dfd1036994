//! Digit removal alone: the rows of Chen–Han 2018, Table 3, by every method.

use std::path::PathBuf;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::circuits::{DigitRemoval, DigitSpec, Method};
use windlass::needs::Products;
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::{Context, Error, Params, Scheme};
use windlass_papers::bootstrap::digits_table::{METHODS, ROWS, Removal, Row, key, table};
use windlass_papers::record::Record;

use crate::process_time::Stopwatch;
use crate::threads::with_threads;
use crate::{machine, page, record};

/// Measures every row and method, prints and records them; with a page, puts the table of the
/// records between its marks instead.
///
/// # Errors
/// Records and pages that cannot be read or written.
pub fn run(
    threads: usize,
    runs: usize,
    records: &[PathBuf],
    on_page: Option<&PathBuf>,
) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(path) = on_page {
        let mut all = Vec::new();
        for path in records {
            all.extend(record::read(path, key)?);
        }
        return Ok(page::write_between_marks(path, &table(&all))?);
    }
    println!("{}", machine::describe());
    records.iter().try_for_each(|path| record::open(path).map(drop))?;
    for row in ROWS {
        for measured in with_threads(threads, || measure(row, threads, runs))? {
            print(&measured);
            records.iter().try_for_each(|path| record::append(path, std::slice::from_ref(&measured)))?;
        }
    }
    Ok(())
}

fn measure(row: Row, threads: usize, runs: usize) -> Result<Vec<Record<Removal>>, Error> {
    let (p, e, v, ..) = row;
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let plan =
        |&method: &Method| Some((method, DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) }).ok()?));
    // Not every method applies to every prime.
    let plans: Vec<(Method, DigitRemoval)> = METHODS.iter().filter_map(plan).collect();
    let deepest = plans.iter().map(|(_, plan)| plan.depth()).max().unwrap_or(1);
    let params = params(row, deepest)?;
    let (client, server) = Context::from_params(params)?.generate_keys_from_seed([&Products], 3)?;
    let values: Vec<u64> = (0..client.context().slots()).map(|_| rng.next_u64() % p.pow(e)).collect();
    let ct = client.encrypt(&values)?;
    let wanted: Vec<u64> = values.iter().map(|&x| without_digits(x as i64, p as i64, e, v)).collect();
    let mut measured = Vec::new();
    for (method, plan) in plans {
        let (mut times, mut bits) = (Vec::new(), 0.0);
        for _ in 0..runs {
            let watch = Stopwatch::start();
            let image = plan.apply(server.engine(), &ct)?;
            times.push(if threads == 1 { watch.processor_seconds() } else { watch.seconds() });
            assert_eq!(client.decrypt(&image)?, wanted, "{}", plan.explain());
            bits = server.capacity(&ct) - server.capacity(&image);
        }
        times.sort_by(f64::total_cmp);
        let (products, depth) = (plan.products(), plan.depth());
        let (method, chosen) = (method.to_string(), plan.spec().method.to_string());
        let (median_s, min_s, rounds) = (times[runs / 2], times[0], Some(runs));
        let of = Removal { p, e, v, method, chosen, products, depth, bits, date: machine::today() };
        measured.push(Record { cpu: machine::cpu(), threads, median_s, min_s, yardsticks: None, rounds, of });
    }
    Ok(measured)
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

/// One line for the terminal.
fn print(measured: &Record<Removal>) {
    let Removal { p, e, v, method, chosen, products, depth, bits, .. } = &measured.of;
    println!(
        "{:<12} {method:<14} {chosen:<14} {products:>3} products, depth {depth:>2}, {:>7.3} s, {bits:>4.0} bits",
        format!("({p}, {e}, {v})"),
        measured.median_s,
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

//! The columns of one row: keys, prices, plans that fit into memory, each run and timed.

use std::io;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{CostModel, PlanSpec};
use windlass::needs::KeyRequest;
use windlass::schemes::Ciphertext;
use windlass::{Client, Error, Evaluator, Plaintext};
use windlass_papers::linear::columns::Column;

use super::case::Case;
use super::job::{Job, Room};
use super::kinds::Kind;
use super::measured::{Measured, Product};
use crate::page::first_seen;
use crate::process_time::Stopwatch;
use crate::threads::with_threads;

/// How long and with how much.
pub struct Limits<'a> {
    /// Numbers of threads for the columns that run on several.
    pub threads: &'a [usize],
    /// Runs of each column.
    pub rounds: usize,
    /// Bytes of keys and constants.
    pub bytes: usize,
    /// Whether every column may keep constants as coefficients where they do not fit otherwise.
    pub pack: bool,
}

/// Measures the columns of one table; how many there were that did not fit or could not be planned.
pub fn measure(
    case: &Case,
    kind: Kind,
    columns: &[Column],
    limits: &Limits<'_>,
    keep: &mut impl FnMut(Measured) -> io::Result<()>,
) -> Result<usize, Box<dyn std::error::Error>> {
    // On all threads, by processor time.
    let watch = Stopwatch::start();
    let map = case.map(kind)?;
    let product = Product {
        map: kind.name().into(),
        m: case.context.params().m(),
        p: case.slot_ring().prime(),
        r: case.slot_ring().modulus().exponent(),
        size: case.size(),
        bad: case.bad,
        chain: case.chain.clone(),
        build_s: watch.processor_seconds(),
        ..Product::default()
    };
    let bits = case.input();
    let (input, expected) = (Plaintext::from_integers(&case.context, &bits)?, case.expected(kind, &bits)?);
    let (client, _) = case.context.generate_keys_from_seed([], 7)?;
    let encrypted = client.encryptor()?.encrypt(&input, &mut ChaCha20Rng::from_seed([7; 32]))?;
    let decryptor = client.decryptor();
    let (prices, room) = prices(case, &client, &encrypted, limits.bytes)?;
    let mut left_out = 0;
    for column in columns {
        let spec = PlanSpec { cost: prices, ..column.spec.clone() };
        let plan = match room.plan(&map, spec, column.ours || limits.pack) {
            Ok(plan) => plan,
            Err(reason) => {
                println!("# {}: {reason}", column.name);
                left_out += 1;
                continue;
            }
        };
        let server = client.generate_server([&plan])?;
        let job = Job { product: product.clone(), column, plan: &plan, engine: server.engine() };
        job.run(&encrypted, &decryptor, &expected, limits.threads, limits.rounds, keep)?;
    }
    Ok(left_out)
}

/// Prices by one thread's processor time, and what keys and constants take.
fn prices(case: &Case, client: &Client, encrypted: &Ciphertext, bytes: usize) -> Result<(CostModel, Room), Error> {
    let (m, p) = (case.context.params().m(), case.slot_ring().prime());
    // Powers of Frobenius; where there are fewer than a dozen, steps along the dimension too.
    let frobenius = (1..=12).map(|e| windlass_kernels::arith::pow_mod(p % m, e, m));
    let steps = (1..=12).map(|i| case.step(i));
    let mut elements = first_seen(frobenius.chain(steps).filter(|&t| t != 1));
    elements.truncate(12);
    let keys = KeyRequest::none("prices").with_galois(elements.iter().copied());
    let server = client.generate_server([&keys])?;
    let engine = server.engine();
    let watch = Stopwatch::start();
    let clock = || watch.processor_seconds();
    let prices = with_threads(1, || CostModel::measure_by(engine, encrypted, &elements, &clock))?;
    println!("# prices in ms: {prices:.3?}");
    let key = engine.keys().bytes() / elements.len().max(1);
    let (constant, packed) = (engine.constant_bytes(engine.top_level()), case.context.n());
    Ok((prices, Room { bytes, key, constant, packed }))
}

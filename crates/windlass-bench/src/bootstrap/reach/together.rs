//! Several thin refreshes in one call, compared with the same number one by one.

use windlass::bootstrap::{BatchPlan, BootstrapPreset, BootstrapSpec, Mode, Order};
use windlass::schemes::Ciphertext;
use windlass::{Context, Error, Plaintext, Server};

use super::list::TOGETHER;
use crate::process_time::Stopwatch;

/// What [`Stopwatch`] says on so many threads: processor time of one, the clock of more.
pub fn on_threads(threads: usize, watch: &Stopwatch) -> f64 {
    if threads == 1 { watch.processor_seconds() } else { watch.seconds() }
}

/// Seconds together and one by one, for each round, by [`on_threads`].
///
/// The server has the keys of the thin bootstrapping and of the packed one, whose batches it takes
/// where they cost less ([`Server::refresh_all`]). Its maps to the coefficients come first: then a
/// batch that is not full saves the digits of the places that it has not.
pub fn seconds(preset: &str, rounds: usize, threads: usize) -> Result<Vec<[f64; 2]>, Error> {
    let [thin, packed] = [Mode::Thin, Mode::Packed].map(|mode| BootstrapPreset::named(preset, mode));
    let (thin, packed) = (thin?, packed?);
    let context = Context::for_bootstrapping(thin.params, thin.spec)?;
    let batches = BootstrapSpec { order: Order::ToCoefficientsFirst, ..packed.spec };
    let plans = [context.bootstrapping()?, context.bootstrapping_with(batches)?];
    let (client, server) = context.generate_keys_from_seed([&plans[0], &plans[1]], 1)?;
    let batch = BatchPlan::new(&plans[1])?;
    let by_price = batch.price(TOGETHER) / (TOGETHER as f64 * plans[0].price());
    println!("a batch of {TOGETHER} has {by_price:.2} of the price of one by one");
    let bits = plans[0].least_input_bits().max(batch.least_input_bits()) + 10.0;
    let (mut messages, mut spent) = (Vec::new(), Vec::new());
    for k in 0..TOGETHER as u64 {
        let values: Vec<u64> = (0..context.slot_ring().slots() as u64).map(|slot| (slot >> k) & 1).collect();
        let message = Plaintext::from_integers(context.slot_ring(), &values)?;
        spent.push(server.engine().reduce_level(&client.encrypt_plaintext(&message)?, bits)?);
        messages.push(message);
    }
    // The first call makes what later ones need; its results are verified.
    for refreshed in [server.refresh_all(&spent)?, one_by_one(&server, &spent)?] {
        for (ciphertext, message) in refreshed.iter().zip(&messages) {
            assert!(client.decryptor().decrypt(ciphertext)? == *message, "the message survives");
        }
    }
    (0..rounds).map(|_| round(&server, &spent, threads)).collect()
}

fn one_by_one(server: &Server, list: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
    list.iter().map(|ciphertext| server.refresh(ciphertext)).collect()
}

fn round(server: &Server, list: &[Ciphertext], threads: usize) -> Result<[f64; 2], Error> {
    let watch = Stopwatch::start();
    server.refresh_all(list)?;
    let together = on_threads(threads, &watch);
    one_by_one(server, list)?;
    Ok([together, on_threads(threads, &watch) - together])
}

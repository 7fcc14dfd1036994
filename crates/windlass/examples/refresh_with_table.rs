//! A refresh that evaluates a table: spent ciphertexts with integers modulo 2^4 come back with the
//! number of ones of each, then with its parity, under the keys of one bootstrapping. A toy ring: no
//! security.
//!
//! `cargo run --release -p windlass --example refresh_with_table`

use std::time::Instant;

use windlass::bootstrap::{BootstrapSpec, RefreshOptions};
use windlass::circuits::SlotTable;
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::{Context, Params, Result, Scheme};

/// The number of ones of every residue, and then its parity, in both schemes.
pub fn main() -> windlass::MainResult {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let spec = BootstrapSpec { ephemeral_weight: 8, ..BootstrapSpec::default() };
        let context = Context::for_bootstrapping(parameters(scheme)?, spec)?;
        let plan = context.bootstrapping()?;
        let ones = SlotTable::from_fn(&context, u64::count_ones)?;
        let parity = SlotTable::from_fn(&context, |x| x % 2)?;

        // Before anything runs: what the refresh leaves, alone and with each table.
        let [of_ones, of_parity] = [plan.forecast_table(&ones)?, plan.forecast_table(&parity)?];
        println!("{scheme}: {}\n{}", ones.explain(), parity.explain());
        println!(
            "a refresh leaves {:.0} bits, {:.0} with the first table and {:.0} with the second",
            plan.output_bits(),
            of_ones.output_bits,
            of_parity.output_bits
        );

        let (client, server) = context.generate_keys([&plan])?;
        let integers: Vec<u64> = (0..context.slots() as u64).map(|x| x % 16).collect();
        let mut x = client.encrypt(&integers)?;
        let mut expected = integers;
        for (name, table, f) in
            [("ones", &ones, (|x| u64::from(x.count_ones())) as fn(u64) -> u64), ("parity", &parity, |x| x % 2)]
        {
            let spent = server.engine().reduce_level(&x, plan.least_input_bits() + 10.0)?;
            let start = Instant::now();
            x = server.refresh_one(&spent, RefreshOptions::new().with_table(table))?;
            let seconds = start.elapsed().as_secs_f64();
            expected.iter_mut().for_each(|x| *x = f(*x));
            assert_eq!(client.decrypt(&x)?, expected);
            println!("{name}: {:.0} to {:.0} bits in {seconds:.2} s", server.capacity(&spent), server.capacity(&x));
        }
    }
    Ok(())
}

/// 60 slots of integers modulo 2^4.
fn parameters(scheme: Scheme) -> Result<Params> {
    let spec = RlweSpec {
        m: 1023,
        q_prime_bits: vec![50; 24],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50; 8],
        digits: 3,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_table".into() },
    };
    Params::new("insecure_table", scheme, (2, 4), None, spec)
}

//! What bootstrapping needs beside evaluation keys.

use std::sync::Arc;

use windlass::bootstrap::approximate::{RefreshKeys, RefreshSpec};
use windlass::bootstrap::{BootstrapKeys, BootstrapSpec, Mode};
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::wire::{BootstrapContext, RefreshContext, to_bytes};
use windlass::{Context, Params, Scheme};

use crate::containers::Reader;
use crate::exact::golden;
use crate::target::Target;

/// The plan of the golden file, and a packed one for BFV. That residues are canonical is asserted
/// as they are written again; a refresh takes too long to be tried here.
pub fn keys() -> Target {
    let plans = [(Mode::Thin, Scheme::Bgv), (Mode::Packed, Scheme::Bfv)];
    let (mut readers, mut seeds) = (Vec::new(), vec![golden!("bootstrap-keys")]);
    for (mode, scheme) in plans {
        let spec = RlweSpec {
            m: 45,
            q_prime_bits: vec![50; 14],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50; 5],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_fuzz".into() },
        };
        let params = Params::new("insecure_fuzz", scheme, (2, 1), None, spec).expect("parameters");
        let way = BootstrapSpec { mode, ephemeral_weight: 4, ..BootstrapSpec::default() };
        let context = Context::for_bootstrapping(params, way).expect("a context");
        let plan = context.bootstrapping().expect("a plan");
        let (client, server) = context.generate_keys_from_seed([&plan], 5).expect("keys");
        let files = BootstrapContext::new(&plan, context.rlwe(), scheme);
        let (_, keys) = server.bootstrappings().next().expect("keys of the plan");
        seeds.push(to_bytes(&files, keys).expect("a key pair").to_vec());
        let name = client.secret_key().key_id();
        let (evaluation, held) = (Arc::clone(server.engine().keys()), context.clone());
        readers.push(Reader::new(files, name, move |keys: BootstrapKeys| {
            // Joined with the other keys of a server, if they are of its key pair.
            let joined = held.server_from_keys(Arc::clone(&evaluation), vec![(Arc::clone(&plan), keys)]);
            joined.inspect_err(|error| crate::containers::refused(error)).ok();
        }));
    }
    Target::containers(readers, seeds)
}

/// Refreshes of CKKS in two small rings, one of them with fewer slots.
pub fn refresh_keys() -> Target {
    let (mut readers, mut seeds) = (Vec::new(), vec![golden!("refresh-keys")]);
    for (n, slots) in [(32, 16), (64, 8)] {
        let context = Context::refreshing(&small_refresh(n, slots)).expect("a context");
        let plan = context.refresh().expect("a plan");
        let (client, server) = context.generate_keys_from_seed([&plan], 5).expect("keys");
        let files = RefreshContext::new(&plan);
        let (_, keys) = server.refreshes().next().expect("keys of the plan");
        seeds.push(to_bytes(&files, keys).expect("a key pair").to_vec());
        let name = client.secret_key().key_id();
        let evaluation = Arc::clone(server.engine().keys());
        readers.push(Reader::new(files, name, move |keys: RefreshKeys| {
            let joined = context.server_from_keys(Arc::clone(&evaluation), vec![(Arc::clone(&plan), keys)]);
            joined.inspect_err(|error| crate::containers::refused(error)).ok();
        }));
    }
    Target::containers(readers, seeds)
}

/// The toy set in a smaller ring; of n = 32 that of the golden file.
pub fn small_refresh(n: usize, slots: usize) -> RefreshSpec {
    let toy = RefreshSpec::preset("insecure_toy_refresh_1024").expect("a set");
    let (to_slots, to_coefficients) = (vec![2, slots.ilog2() as usize - 2], vec![slots.ilog2() as usize]);
    RefreshSpec { n, slots, to_slots, to_coefficients, ephemeral_weight: n as u32 / 4, ..toy }
}

//! Properties over random rings, values, files and specifications; failing cases print their
//! inputs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::needs::{KeyRequest, Products};
use windlass::params::Params;
use windlass::rlwe::EvaluationKeys;
use windlass::schemes::Scheme;
use windlass::wire::{
    CiphertextV1, Expected, FieldReader, FieldWriter, KeyId, Kind, Label, Wire, open, packed_len, seal, to_payload,
};
use windlass::{Client, Error, ParamSpec, Plaintext, Server};
use windlass_ring::kernels::{Isa, arith};
use windlass_ring::slots::SlotRing;

use crate::fixture::{chain, context};

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Prime, prime power, composite, odd × power of two, power of two, with every p that does not
/// divide them.
fn triples() -> impl Strategy<Value = (u64, u64, u32)> {
    let indices = vec![31u64, 27, 45, 105, 12, 60, 84, 16, 64, 256, 1023];
    let primes = vec![2u64, 3, 7, 17, 127, 257, 8191, 65537];
    (prop::sample::select(indices), prop::sample::select(primes), 1u32..=3)
        .prop_filter("p does not divide m, p^r below 2^45", |&(m, p, r)| m % p != 0 && p.pow(r) >> 45 == 0)
}

/// Rings by (m, p, r).
type Rings = HashMap<(u64, u64, u32), Arc<SlotRing>>;

/// Rings are made once.
fn ring((m, p, r): (u64, u64, u32)) -> Arc<SlotRing> {
    static RINGS: OnceLock<Mutex<Rings>> = OnceLock::new();
    let mut rings = RINGS.get_or_init(Mutex::default).lock().unwrap();
    let made = || Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
    Arc::clone(rings.entry((m, p, r)).or_insert_with(made))
}

/// Words from a seed, any 64 bits.
fn words(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed | 1;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state ^ state >> 29
    };
    (0..count).map(next).collect()
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn slots_and_elements_are_in_bijection(triple in triples(), seed: u64) {
        let ring = ring(triple);
        let t = ring.modulus().value();
        let reduced = |values: &[u64]| values.iter().map(|x| x % t).collect::<Vec<_>>();
        let slots = words(seed, ring.slots() * ring.degree());
        let plaintext = Plaintext::from_slots(&ring, &slots).unwrap();
        prop_assert!(plaintext.coefficients().iter().all(|&x| x < t));
        prop_assert_eq!(plaintext.to_slots(), reduced(&slots));
        let element = Plaintext::new(&ring, words(seed ^ 1, ring.n())).unwrap();
        prop_assert_eq!(Plaintext::from_slots(&ring, &element.to_slots()).unwrap(), element);
        let integers = words(seed ^ 2, ring.slots());
        let plaintext = Plaintext::from_integers(&ring, &integers).unwrap();
        prop_assert_eq!(plaintext.to_integers().unwrap(), reduced(&integers));
    }

    #[test]
    fn encoding_is_a_ring_homomorphism(triple in triples(), seed: u64, k: i64) {
        let ring = ring(triple);
        let t = ring.modulus().value();
        let [x, y] = [1, 2].map(|i| words(seed ^ i, ring.slots()));
        let encode = |values: &[u64]| Plaintext::from_integers(&ring, values).unwrap();
        let [a, b] = [&x, &y].map(|values| encode(values));
        let slotwise = |f: &dyn Fn(u64, u64) -> u64| x.iter().zip(&y).map(|(x, y)| f(x % t, y % t)).collect::<Vec<_>>();
        prop_assert_eq!(a.add(&b).unwrap(), encode(&slotwise(&|x, y| (x + y) % t)));
        prop_assert_eq!(a.sub(&b).unwrap(), encode(&slotwise(&|x, y| (x + t - y) % t)));
        prop_assert_eq!(a.multiply(&b).unwrap(), encode(&slotwise(&|x, y| arith::mul_mod(x, y, t))));
        let scalar = k.rem_euclid(t as i64) as u64;
        prop_assert_eq!(Plaintext::scalar(&ring, k), encode(&vec![scalar; ring.slots()]));
    }

    #[test]
    fn wrong_lengths_are_refused(triple in triples(), count in 0usize..2000) {
        let ring = ring(triple);
        let values = vec![1; count];
        prop_assert_eq!(Plaintext::from_integers(&ring, &values).is_ok(), count <= ring.slots());
        prop_assert_eq!(Plaintext::from_slots(&ring, &values).is_ok(), count <= ring.slots() * ring.degree());
        prop_assert_eq!(Plaintext::new(&ring, values).is_ok(), count == ring.n());
    }

    #[test]
    fn packed_residues_come_back(modulus in 3u64..1 << 50, seed: u64, count in 0usize..200) {
        let values: Vec<u64> = words(seed, count).iter().map(|x| x % modulus).collect();
        let mut out = FieldWriter::default();
        out.residues(&values, modulus);
        let bytes = out.finish();
        prop_assert_eq!(bytes.len(), packed_len(count, modulus));
        let mut back = vec![0; count];
        let mut reader = FieldReader::new(&bytes);
        reader.residues(&mut back, modulus, "residues").unwrap();
        reader.finish("residues").unwrap();
        prop_assert_eq!(back, values);
    }

    #[test]
    fn containers_come_back_and_damage_is_refused(
        payload in prop::collection::vec(any::<u8>(), 0..300),
        hash: [u8; 32],
        pair: [u8; 16],
        edits in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let (kind, context, key) = (Kind::Answer, hash, KeyId(pair));
        let bytes = seal(&Label { kind, context, key }, &payload);
        let own = Expected { kind, context, key: Some(key), limit: 300 };
        prop_assert_eq!(open(&bytes, &own).unwrap(), (key, &payload[..]));
        let mut damaged = bytes.clone();
        edits.iter().for_each(|(at, flip)| damaged[at.index(bytes.len())] ^= flip);
        let unlimited = Expected { limit: u64::MAX, key: None, ..own };
        if damaged != bytes {
            prop_assert!(open(&damaged, &unlimited).is_err());
        }
        prop_assert!(open(&bytes[..cut.index(bytes.len())], &unlimited).is_err());
        let other = Expected { kind: Kind::Query, ..own };
        prop_assert!(open(&bytes, &other).is_err());
        if !payload.is_empty() {
            let short = Expected { limit: payload.len() as u64 - 1, ..own };
            prop_assert!(open(&bytes, &short).is_err());
        }
    }
}

/// Both sides, whose keys and ciphertexts are written and read.
fn parties((m, p, r): (u64, u64, u32), scheme: Scheme) -> (Client, Server) {
    let context = context(scheme, (p, r), chain(m, &[45, 40, 40], &[50]));
    let keys = KeyRequest::none("a test").with_galois([m - 1]).up_to(2);
    context.generate_keys_from_seed([&Products, &keys], 4).unwrap()
}

fn decode<T: Wire>(client: &Client, payload: &[u8]) -> Result<T, Error> {
    T::decode(client.context().files(), client.secret_key().key_id(), FieldReader::new(payload))
}

proptest! {
    #![proptest_config(cases(40))]

    /// What is written is read; edited bytes are an error or another value in its one encoding,
    /// never a panic.
    #[test]
    fn wire_values_come_back_or_are_refused(
        triple in triples().prop_filter("small", |&(m, p, r)| m <= 105 && p.pow(r) < 1 << 20),
        bgv: bool,
        seed: u64,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let scheme = if bgv { Scheme::Bgv } else { Scheme::Bfv };
        let (client, server) = parties(triple, scheme);
        let files = client.context().files();
        let message = Plaintext::new(files.slot_ring(), words(seed, files.slot_ring().n())).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let full = client.encryptor().unwrap().encrypt(&message, &mut rng).unwrap();
        let (fresh, half) = client.decryptor().encrypt(&message, 1 + seed as usize % 3, &mut rng).unwrap();
        let payloads = [CiphertextV1::new(full), CiphertextV1::seeded(fresh, half).unwrap()].map(|ct| to_payload(files, &ct));
        for payload in &payloads {
            let back: CiphertextV1 = decode(&client, payload).unwrap();
            prop_assert_eq!(to_payload(files, &back).to_vec(), payload.to_vec());
            prop_assert_eq!(client.decrypt_plaintext(&back.into_ciphertext()).unwrap(), message.clone());
            let mut damaged = payload.to_vec();
            edits.iter().for_each(|(at, byte)| damaged[at.index(payload.len())] = *byte);
            if let Ok(other) = decode::<CiphertextV1>(&client, &damaged) {
                prop_assert_eq!(to_payload(files, &other).to_vec(), damaged.clone());
                // It may decrypt to something else: the checksum guards against accidents, not the
                // payload.
                let _ = client.decrypt_plaintext(&other.into_ciphertext());
            }
        }
        let keys = to_payload(files, &**server.engine().keys());
        let back: EvaluationKeys = decode(&client, &keys).unwrap();
        prop_assert_eq!(to_payload(files, &back).to_vec(), keys.to_vec());
        let mut damaged = keys.to_vec();
        edits.iter().for_each(|(at, byte)| damaged[at.index(keys.len())] = *byte);
        if let Ok(other) = decode::<EvaluationKeys>(&client, &damaged) {
            prop_assert_eq!(to_payload(files, &other).to_vec(), damaged.clone());
        }
    }
}

/// log2 QP that the published table allows for λ = 128 at n, read from the file: the row at n, or
/// the chord between its neighbours.
fn allowed(n: f64, lambda: f64) -> f64 {
    let table = include_str!("../../../windlass-rlwe/data/ternary_max_log2_qp.csv");
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [row_n, row_lambda, limit] = [0, 1, 2].map(|i| fields[i].trim().parse::<f64>().unwrap());
        if row_lambda == lambda {
            rows.push((row_n, limit));
        }
    }
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let after = rows.iter().position(|row| row.0 >= n).expect("the dimension is in the table");
    if rows[after].0 == n {
        return rows[after].1;
    }
    let ((n0, x0), (n1, x1)) = (rows[after - 1], rows[after]);
    x0 + (x1 - x0) * (n - n0) / (n1 - n0)
}

proptest! {
    #![proptest_config(cases(32))]

    /// Everything that a plan states, recomputed from its primes and the published table.
    #[test]
    fn plans_are_what_they_say(
        bgv: bool,
        p in prop::sample::select(vec![2u64, 3, 17, 127, 257, 8191, 65537, 786_433]),
        r in 1u32..=2,
        slots in prop::sample::select(vec![1usize, 50, 500, 4096]),
        depth in 0u32..4,
        linear_maps in 0u32..2,
        capacity in 0f64..60.0,
    ) {
        let scheme = if bgv { Scheme::Bgv } else { Scheme::Bfv };
        let spec = ParamSpec { scheme, p, r, slots, depth, linear_maps, capacity, ..ParamSpec::default() };
        let params = match Params::plan(&spec) {
            Ok(params) => params,
            Err(Error::NoParameters { reason }) => {
                prop_assert!(!reason.is_empty());
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let (d, rlwe) = (params.describe(), params.rlwe());
        let m = params.m();
        let degree = (1..).find(|&e| arith::pow_mod(p, e, m) == 1).unwrap() as usize;
        prop_assert_eq!((d.m, d.n, d.slot_degree), (m, arith::totient(m) as usize, degree));
        prop_assert_eq!(d.slots * d.slot_degree, d.n);
        prop_assert!(d.slots >= slots && m % p != 0 && (d.p, d.r) == (p, r));
        let primes: Vec<u64> = rlwe.all_primes().iter().map(|q| q.value()).collect();
        let distinct: std::collections::BTreeSet<u64> = primes.iter().copied().collect();
        prop_assert_eq!(distinct.len(), primes.len());
        prop_assert!(primes.iter().all(|&q| arith::is_prime(q) && q % m == 1 && q != p && (25..=50).contains(&(64 - q.leading_zeros()))));
        let log2 = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
        let (q, special) = primes.split_at(rlwe.q_primes().len());
        prop_assert!((log2(q) - d.log2_q).abs() < 1e-6 && (log2(special) - d.log2_p).abs() < 1e-6);
        prop_assert_eq!(special.len(), d.special_primes);
        prop_assert!(d.secure && d.security_bits >= 128.0);
        prop_assert!(log2(&primes) <= allowed(d.n as f64, 128.0) + 1e-6, "log2 QP = {} at n = {}", log2(&primes), d.n);
        prop_assert!(d.depth >= depth && *d.capacity_by_level.last().unwrap() >= capacity);
        let text = params.explain();
        let printed: f64 = text.split("security").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
        prop_assert!(printed <= d.security_bits && printed > d.security_bits - 0.11, "λ is rounded down: {printed}");
    }
}

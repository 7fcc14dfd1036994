//! Planned parameters carry the computation that they were planned for, on ciphertexts.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{LinearMap, LinearPlan, PlanSpec};
use windlass::evaluator::Evaluator;
use windlass::schemes::{Decryptor, Encryptor, Engine, Scheme};
use windlass::wire::{CiphertextV1, WireContext, to_payload};
use windlass::{Error, ParamSpec, Params, Plaintext};
use windlass_rlwe::{EvaluationKeys, PublicKey, SecretKey};

/// The keys of one client.
struct Client {
    engine: Engine,
    public: PublicKey,
    encryptor: Encryptor,
    decryptor: Decryptor,
    rng: ChaCha20Rng,
}

impl Client {
    fn new(params: &Params, galois: BTreeSet<u64>) -> Self {
        let (context, slots) = (params.context().unwrap(), params.slot_ring().unwrap());
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let secret = SecretKey::generate(&context, &mut rng);
        let public = PublicKey::generate(&secret, &mut rng);
        let mut keys = EvaluationKeys::empty(&context);
        keys.add_relinearisation(&secret, context.top_level(), &mut rng).unwrap();
        for t in galois {
            keys.add_galois(&secret, t, context.top_level(), &mut rng).unwrap();
        }
        Self {
            engine: Engine::new(params.scheme(), &slots, Arc::new(keys)).unwrap(),
            encryptor: Encryptor::new(params.scheme(), Arc::new(public.clone())),
            decryptor: Decryptor::new(params.scheme(), &slots, Arc::new(secret)),
            public,
            rng,
        }
    }
}

/// Squares the constant 3 `depth` times (every slot alike), decrypts, and goes on until the engine says that capacity is spent.
fn squares(depth: u32, scheme: Scheme) {
    let params = Params::plan(&ParamSpec { scheme, depth, ..ParamSpec::default() }).unwrap();
    let mut client = Client::new(&params, BTreeSet::new());
    let slots = params.slot_ring().unwrap();
    let mut coefficients = vec![0; params.rlwe().n()];
    coefficients[0] = 3;
    let plaintext = Plaintext::new(&slots, coefficients).unwrap();
    let mut ct = client.encryptor.encrypt(&plaintext, &mut client.rng).unwrap();
    let (mut expected, mut done) = (3u64, 0);
    loop {
        match client.engine.square(&ct) {
            Ok(next) => ct = next,
            Err(Error::CapacityExhausted { .. }) => break,
            Err(other) => panic!("{other}"),
        }
        (expected, done) = (expected * expected % 65537, done + 1);
        assert_eq!(client.decryptor.decrypt(&ct).unwrap().coefficients()[0], expected, "after {done} squarings");
    }
    assert!(done >= depth, "{}: planned {depth}, did {done}", params.name());
    assert_eq!(done, params.depth(), "the description of {}", params.name());
}

#[test]
fn planned_depth_is_reached() {
    for depth in [1, 2, 4] {
        squares(depth, Scheme::Bgv);
    }
    squares(2, Scheme::Bfv);
}

/// Multiplications, then products with dense matrices on the slots, and the capacity asked for is left, on ciphertexts.
#[test]
fn planned_linear_maps_and_capacity_are_reached() {
    for (scheme, p, r, depth, linear_maps, capacity) in
        [(Scheme::Bgv, 257, 1, 1, 1, 20.0), (Scheme::Bfv, 65537, 1, 0, 1, 33.0), (Scheme::Bgv, 2, 3, 2, 0, 15.0)]
    {
        let spec = ParamSpec { scheme, p, r, depth, linear_maps, capacity, ..ParamSpec::default() };
        let params = Params::plan(&spec).unwrap();
        let slots = params.slot_ring().unwrap();
        // 24 diagonals with random entries along the first dimension.
        let diagonal = |row: usize, column: usize| row >= column && row - column < 24;
        let entry = |c, i, k| if diagonal(i, k) { ((c + 1) * (3 * i + 5 * k + 7)) as u64 } else { 0 };
        let map = LinearMap::matmul_1d(&slots, 0, entry).unwrap();
        let plan = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
        let mut client = Client::new(&params, plan.required_keys());
        let values: Vec<u64> = (0..slots.slots() as u64).map(|j| j * j + 1).collect();
        let mut expected = Plaintext::from_integers(&slots, &values).unwrap();
        let mut ct = client.encryptor.encrypt(&expected, &mut client.rng).unwrap();
        for _ in 0..linear_maps {
            ct = plan.apply_once(&client.engine, &ct).unwrap();
            expected = map.apply(&expected).unwrap();
        }
        for _ in 0..depth {
            ct = client.engine.square(&ct).unwrap();
            expected = expected.multiply(&expected).unwrap();
        }
        let left = client.engine.capacity(&ct);
        assert!(left >= capacity, "{}: {left} bits of capacity left, planned {capacity}", params.name());
        assert_eq!(client.decryptor.decrypt(&ct).unwrap(), expected, "{}", params.name());
    }
}

/// Sizes stated before anything is made are the sizes of what is made.
#[test]
fn stated_sizes_are_real() {
    for params in [
        Params::preset("demo", Scheme::Bgv).unwrap(),
        Params::plan(&ParamSpec { p: 2, slots: 100, depth: 1, ..ParamSpec::default() }).unwrap(),
    ] {
        let mut client = Client::new(&params, BTreeSet::from([params.m() - 1]));
        let (sizes, slots) = (params.describe().sizes, params.slot_ring().unwrap());
        let wire = WireContext::new(client.engine.context(), &slots, params.scheme());
        let ct = client.encryptor.encrypt(&Plaintext::one(&slots), &mut client.rng).unwrap();
        assert_eq!(ct.bytes() as u64, sizes.ciphertext_memory);
        // A ciphertext has 24 bytes of fields; a key 10 before its seed, and their number takes 4.
        assert_eq!(to_payload(&wire, &CiphertextV1::new(ct)).len() as u64, sizes.ciphertext_disk + 24);
        let keys = client.engine.keys();
        assert_eq!(keys.bytes() as u64, 2 * sizes.switching_key_memory);
        let written = to_payload(&wire, &**keys).len() as u64;
        assert_eq!(written, 2 * (sizes.switching_key_disk + 10) + 4);
        let seeds = 2 * 32 * 2;
        assert!(
            sizes.switching_key_disk_unseeded * 2 + seeds >= 2 * (written - 24),
            "{}: seeds halve keys",
            params.name()
        );
        assert_eq!(to_payload(&wire, &client.public).len() as u64, sizes.public_key_disk);
    }
}

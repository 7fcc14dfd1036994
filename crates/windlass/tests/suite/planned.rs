//! Planned parameters carry the computation that they were planned for, on ciphertexts.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::LinearMap;
use windlass::needs::Products;
use windlass::schemes::Scheme;
use windlass::wire::{CiphertextV1, to_payload};
use windlass::{Context, Error, ParamSpec, Plaintext};

use crate::fixture::keys;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([3; 32])
}

/// Squares the constant 3 `depth` times (every slot alike), decrypts, and continues until the
/// engine says that capacity is spent.
fn squares(depth: u32, scheme: Scheme) {
    let context = Context::plan(&ParamSpec { scheme, depth, ..ParamSpec::default() }).unwrap();
    let (client, server) = context.generate_keys_from_seed([&Products], 3).unwrap();
    let mut ct = client.encryptor().unwrap().encrypt(&Plaintext::scalar(&context, 3), &mut rng()).unwrap();
    let (mut expected, mut done) = (3u64, 0);
    loop {
        match server.square(&ct) {
            Ok(next) => ct = next,
            Err(Error::CapacityExhausted { .. }) => break,
            Err(other) => panic!("{other}"),
        }
        (expected, done) = (expected * expected % 65537, done + 1);
        let found = client.decrypt_plaintext(&ct).unwrap();
        assert_eq!(found.coefficients()[0], expected, "after {done} squarings");
    }
    let params = context.params();
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

/// Multiplications, then products with dense matrices on the slots, and the capacity asked for is
/// left, on ciphertexts.
#[test]
fn planned_linear_maps_and_capacity_are_reached() {
    for (scheme, p, r, depth, linear_maps, capacity) in
        [(Scheme::Bgv, 257, 1, 1, 1, 20.0), (Scheme::Bfv, 65537, 1, 0, 1, 33.0), (Scheme::Bgv, 2, 3, 2, 0, 15.0)]
    {
        let spec = ParamSpec { scheme, p, r, depth, linear_maps, capacity, ..ParamSpec::default() };
        let context = Context::plan(&spec).unwrap();
        // 24 diagonals with random entries along the first dimension.
        let diagonal = |row: usize, column: usize| row >= column && row - column < 24;
        let entry = |c, i, k| if diagonal(i, k) { ((c + 1) * (3 * i + 5 * k + 7)) as u64 } else { 0 };
        let map = LinearMap::matmul_1d(&context, 0, entry).unwrap();
        let plan = map.plan().unwrap();
        let (client, server) = context.generate_keys_from_seed([&plan, &Products], 3).unwrap();
        let values: Vec<u64> = (0..context.slots() as u64).map(|j| j * j + 1).collect();
        let mut expected = Plaintext::from_integers(&context, &values).unwrap();
        let mut ct = client.encryptor().unwrap().encrypt(&expected, &mut rng()).unwrap();
        for _ in 0..linear_maps {
            ct = server.apply(&plan, &ct).unwrap();
            expected = map.apply(&expected).unwrap();
        }
        for _ in 0..depth {
            ct = server.square(&ct).unwrap();
            expected = expected.multiply(&expected).unwrap();
        }
        let (left, name) = (server.capacity(&ct), context.params().name());
        assert!(left >= capacity, "{name}: {left} bits of capacity left, planned {capacity}");
        assert_eq!(client.decrypt_plaintext(&ct).unwrap(), expected, "{name}");
    }
}

/// Sizes stated before anything is made are the sizes of what is made.
#[test]
fn stated_sizes_are_real() {
    for context in [
        Context::preset("demo").unwrap(),
        Context::plan(&ParamSpec { p: 2, slots: 100, depth: 1, ..ParamSpec::default() }).unwrap(),
    ] {
        let (params, files) = (context.params(), context.files());
        let (client, server) = context.generate_keys_from_seed([&keys([params.m() - 1])], 3).unwrap();
        let sizes = params.describe().sizes;
        let ct = client.encrypt(&[1]).unwrap();
        assert_eq!(ct.bytes() as u64, sizes.ciphertext_memory);
        // A ciphertext has 24 bytes of fields; a key 10 before its seed, and their number takes 4.
        let payload_of = |ct| to_payload(files, &CiphertextV1::new(ct)).len() as u64;
        assert_eq!(payload_of(server.add(&ct, &ct).unwrap()), sizes.ciphertext_disk + 24);
        assert_eq!(payload_of(ct), sizes.fresh_ciphertext_disk + 24);
        let keys = server.engine().keys();
        assert_eq!(keys.bytes() as u64, 2 * sizes.switching_key_memory);
        let written = to_payload(files, &**keys).len() as u64;
        assert_eq!(written, 2 * (sizes.switching_key_disk + 10) + 4);
        let seeds = 2 * 32 * 2;
        assert!(
            sizes.switching_key_disk_unseeded * 2 + seeds >= 2 * (written - 24),
            "{}: seeds halve keys",
            params.name()
        );
        assert_eq!(to_payload(files, &client.public_key().unwrap()).len() as u64, sizes.public_key_disk);
    }
}

//! Planned parameters carry the computation that they were planned for, on ciphertexts.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::evaluator::Evaluator;
use windlass::schemes::{Decryptor, Encryptor, Engine, Scheme};
use windlass::{Error, ParamSpec, Params, Plaintext};
use windlass_rlwe::{EvaluationKeys, PublicKey, SecretKey};

/// Squares the constant 3 `depth` times (every slot alike), decrypts, and goes on until the engine says that capacity is spent.
fn squares(depth: u32, scheme: Scheme) {
    let params = Params::plan(&ParamSpec { scheme, depth, ..ParamSpec::default() }).unwrap();
    let (context, slots) = (params.context().unwrap(), params.slot_ring().unwrap());
    let mut rng = ChaCha20Rng::from_seed([depth as u8; 32]);
    let secret = SecretKey::generate(&context, &mut rng);
    let public = Arc::new(PublicKey::generate(&secret, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    keys.add_relinearisation(&secret, context.top_level(), &mut rng);
    let engine = Engine::new(scheme, &slots, Arc::new(keys)).unwrap();
    let decryptor = Decryptor::new(scheme, &slots, Arc::new(secret));
    let mut coefficients = vec![0; params.rlwe().n()];
    coefficients[0] = 3;
    let plaintext = Plaintext::new(&slots, coefficients).unwrap();
    let mut ct = Encryptor::new(scheme, public).encrypt(&plaintext, &mut rng).unwrap();
    let (mut expected, mut done) = (3u64, 0);
    loop {
        match engine.square(&ct) {
            Ok(next) => ct = next,
            Err(Error::CapacityExhausted { .. }) => break,
            Err(other) => panic!("{other}"),
        }
        (expected, done) = (expected * expected % 65537, done + 1);
        assert_eq!(decryptor.decrypt(&ct).unwrap().coefficients()[0], expected, "after {done} squarings");
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

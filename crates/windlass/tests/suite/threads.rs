//! The engine gives the same bits for any number of threads.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::schemes::{Ciphertext, Encryptor, Engine, Scheme};
use windlass::{Evaluator, Switching};
use windlass::{Plaintext, Result};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};

/// One of everything that takes threads.
fn run(engine: &Engine, a: &Ciphertext, b: &Ciphertext, plain: &Plaintext, t: u64) -> Result<Vec<Poly<Eval>>> {
    let constant = engine.prepare(plain)?;
    let hoisted = engine.hoist(a)?;
    let inputs = [engine.extend(b)?, engine.hoisted_automorphism(&hoisted, t)?];
    let rows = [vec![(0, Some(&constant)), (1, Some(&constant))], vec![(1, Some(&constant))]];
    let sums = engine.dot_extended(&inputs, &rows)?;
    let moved = engine.extended_automorphism(&sums[0], t)?;
    let mut all = vec![
        engine.add(a, b)?,
        engine.multiply(a, b)?,
        engine.square(a)?,
        engine.multiply_constant(a, &constant)?,
        engine.automorphism(a, t)?,
        engine.switch_modulus(a, 2)?,
        engine.mod_down(moved)?,
    ];
    for sum in sums {
        all.push(engine.mod_down(sum)?);
    }
    Ok(all.into_iter().flat_map(|ct| ct.parts().to_vec()).collect())
}

#[test]
fn threads_do_not_change_a_bit() {
    for (m, p) in [(256, 257), (105, 2), (120, 17)] {
        let params = RlweParams::new(&RlweSpec {
            m,
            q_prime_bits: vec![45; 5],
            special_prime_bits: vec![48; 2],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        });
        let context = Context::new(params.unwrap()).unwrap();
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let secret = SecretKey::generate(&context, &mut rng);
        let public = Arc::new(PublicKey::generate(&secret, &mut rng));
        let mut keys = EvaluationKeys::empty(&context);
        keys.add_relinearisation(&secret, context.top_level(), &mut rng).unwrap();
        keys.add_galois(&secret, m - 1, context.top_level(), &mut rng).unwrap();
        let keys = Arc::new(keys);
        let slots = Arc::new(SlotRing::new(m, p, 1, Isa::best()).unwrap());
        let plain = Plaintext::new(&slots, (0..slots.n() as u64).map(|j| j * j % p).collect()).unwrap();
        for scheme in [Scheme::Bgv, Scheme::Bfv] {
            let engine = Engine::new(scheme, &slots, Arc::clone(&keys)).unwrap();
            let encryptor = Encryptor::new(scheme, Arc::clone(&public));
            let [a, b] = [(); 2].map(|()| encryptor.encrypt(&plain, &mut rng).unwrap());
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| run(&engine, &a, &b, &plain, m - 1).unwrap())
            };
            let single = with(1);
            for threads in [2, 3, 4] {
                assert!(with(threads) == single, "{scheme} m = {m}: {threads} threads give other bits than one");
            }
        }
    }
}

//! Over complex slots.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::Error;
use windlass::circuits::{TraceChain, TracePlan, TraceSpec};
use windlass::rlwe::{Assurance, EvaluationKeys, PublicKey, SecretDistribution, SecretKey};
use windlass::schemes::ckks::{Ciphertext, CkksContext, CkksSpec, Complex64, Decryptor, Encryptor, Engine};

#[test]
fn windows_of_every_grouping() {
    let spec = CkksSpec {
        n: 1024,
        scale_bits: 40,
        depth: 2,
        base_prime_bits: vec![50],
        special_prime_bits: vec![50, 50],
        digits: 2,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    };
    let context = CkksContext::new(&spec).unwrap();
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let secret = SecretKey::generate(context.rlwe(), &mut rng);
    let public = Arc::new(PublicKey::generate(&secret, &mut rng));
    let chain = TraceChain::window(2048, 1, 128).unwrap();
    let column = TraceChain::window(2048, 16, 32).unwrap();
    let mut plans = Vec::new();
    for chain in [&chain, &column] {
        for groups in 1..=chain.factors().len() {
            plans.push(TracePlan::new(chain, &TraceSpec::with_groups(groups)).unwrap());
        }
    }
    let mut keys = EvaluationKeys::empty(context.rlwe());
    keys.add_relinearisation(&secret, 3, &mut rng).unwrap();
    for t in plans.iter().flat_map(TracePlan::required_keys) {
        keys.add_galois(&secret, t, 3, &mut rng).unwrap();
    }
    let engine = Engine::new(&context, Arc::new(keys)).unwrap();
    let encryptor = Encryptor::new(&context, public).unwrap();
    let decryptor = Decryptor::new(&context, Arc::new(secret)).unwrap();
    let x: Vec<Complex64> = (0..512).map(|_| Complex64::new(rng.next_u32() as f64 / 5e9, 0.1)).collect();
    let ct = encryptor.encrypt(&x, &mut rng).unwrap();
    let window = |stride: usize, count: usize| -> Vec<Complex64> {
        (0..512).map(|j| (0..count).map(|i| x[(j + i * stride) % 512]).sum()).collect()
    };
    let mut seen = 0;
    for plan in &plans {
        let sum = plan.apply(&engine, &ct).unwrap();
        let expected = if plan.chain() == &chain { window(1, 128) } else { window(16, 32) };
        let got = decryptor.decrypt(&sum).unwrap();
        let worst = got.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(worst <= sum.error_bound() && -worst.log2() >= sum.precision_bits() - 1.0, "{worst:e}");
        assert!(-worst.log2() > 18.0, "{} groups: {worst:e}", plan.groups());
        assert_eq!(
            (sum.level(), sum.magnitude()),
            (3, plan.chain().factors().iter().map(|f| f.count as f64).product())
        );
        seen += 1;
    }
    assert_eq!(seen, 12);
    let total = context.total_sums(128).unwrap();
    let spec = TraceSpec { cost: context.cost_model(3), keys: Some(plans[0].required_keys()), ..TraceSpec::default() };
    let total = TracePlan::new(&total, &spec).unwrap();
    let short = &x[..128];
    let ct = encryptor.encrypt(short, &mut rng).unwrap();
    let all = |sum: Ciphertext, expected: Complex64| {
        let got = decryptor.decrypt(&sum).unwrap();
        assert_eq!(got.len(), 128);
        assert!(got.iter().all(|z| (z - expected).norm() < 2f64.powi(-16)), "{:?} against {expected}", got[0]);
    };
    all(engine.inner_product(&total, &ct, &ct).unwrap(), short.iter().map(|z| z * z).sum());
    all(engine.replicate(&total, &ct, 77).unwrap(), short[77]);
    assert!(matches!(engine.replicate(&total, &ct, 128), Err(Error::OutOfRange { .. })));
    // A plan that sums another number of slots would give another value.
    let fewer = TracePlan::new(&context.total_sums(64).unwrap(), &TraceSpec::default()).unwrap();
    assert!(matches!(engine.replicate(&fewer, &ct, 77), Err(Error::ContextMismatch { .. })));
    // NaN bounds nothing.
    assert_eq!(ct.clone().with_magnitude(f64::NAN).magnitude(), ct.magnitude());
    let wrong = TracePlan::new(&TraceChain::window(4096, 1, 2).unwrap(), &TraceSpec::default()).unwrap();
    assert!(matches!(wrong.apply(&engine, &ct), Err(Error::ContextMismatch { .. })));
}

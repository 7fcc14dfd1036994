//! Over complex slots.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::circuits::{SlotSums, TotalSums, TraceChain, TracePlan, TraceSpec};
use windlass::schemes::ckks::{Ciphertext, Complex64};
use windlass::{Context, Error};

use crate::ckks::common::spec;
use crate::fixture::keys;

#[test]
fn windows_of_every_grouping() {
    let context = Context::approximate(&spec(1024, 40, 2)).unwrap();
    let chain = TraceChain::window(2048, 1, 128).unwrap();
    let column = TraceChain::window(2048, 16, 32).unwrap();
    let mut plans = Vec::new();
    for chain in [&chain, &column] {
        for groups in 1..=chain.factors().len() {
            plans.push(TracePlan::new(chain, &TraceSpec::with_groups(groups)).unwrap());
        }
    }
    let keys = keys(plans.iter().flat_map(TracePlan::required_keys));
    let (client, server) = context.generate_keys_from_seed([&keys], 9).unwrap();
    let (context, engine) = (context.ckks(), server.engine());
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let x: Vec<Complex64> = (0..512).map(|_| Complex64::new(rng.next_u32() as f64 / 5e9, 0.1)).collect();
    let ct = client.encrypt_complex(&x, 1.0).unwrap();
    let window = |stride: usize, count: usize| -> Vec<Complex64> {
        (0..512).map(|j| (0..count).map(|i| x[(j + i * stride) % 512]).sum()).collect()
    };
    let mut seen = 0;
    for plan in &plans {
        let sum = plan.apply(engine, &ct).unwrap();
        let expected = if plan.chain() == &chain { window(1, 128) } else { window(16, 32) };
        let got = client.decrypt_complex(&sum).unwrap();
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
    let ct = client.encrypt_complex(short, 1.0).unwrap();
    let all = |sum: Ciphertext, expected: Complex64| {
        let got = client.decrypt_complex(&sum).unwrap();
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
    assert!(matches!(wrong.apply(engine, &ct), Err(Error::ContextMismatch { .. })));
}

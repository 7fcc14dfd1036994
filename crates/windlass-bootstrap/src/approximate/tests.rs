//! Refreshes against the message.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_rlwe::{EvaluationKeys, SecretKey};
use windlass_schemes::schemes::ckks::{Complex64, Decryptor, Engine};

use super::spec::tests::sparse;
use super::*;

/// Numbers of absolute value at most 1.
fn values(count: usize, rng: &mut ChaCha20Rng) -> Vec<Complex64> {
    let mut part = || rng.next_u32() as f64 / 2f64.powi(31) - 1.0;
    (0..count).map(|_| Complex64::new(part(), part()) * std::f64::consts::FRAC_1_SQRT_2).collect()
}

fn parties(spec: &RefreshSpec, rng: &mut ChaCha20Rng) -> (Decryptor, Refresher) {
    let plan = Arc::new(RefreshPlan::new(spec).unwrap());
    let context = plan.context();
    let secret = Arc::new(SecretKey::generate(context.rlwe(), rng));
    let keys = RefreshKeys::generate(&plan, &secret, rng).unwrap();
    let mut evaluation = EvaluationKeys::of(&secret);
    RefreshKeys::add_evaluation_keys(&plan, &mut evaluation, &secret, rng).unwrap();
    let engine = Engine::new(context, Arc::new(evaluation)).unwrap();
    (Decryptor::new(context, secret).unwrap(), Refresher::new(&plan, engine, keys).unwrap())
}

#[test]
fn refreshed_ciphertexts_have_the_message_and_new_levels() {
    for (n, slots) in [(64, 32), (64, 1), (64, 4), (1024, 512), (1024, 256), (1024, 16)] {
        let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
        let spec = sparse(n, slots);
        let (decryptor, refresher) = parties(&spec, &mut rng);
        let context = refresher.plan().context();
        let message = values(slots, &mut rng);
        let (ct, _) = decryptor.encrypt(&message, 1.0, context.base_level(), &mut rng).unwrap();
        let before = decryptor.decrypt(&ct).unwrap();
        let fresh = refresher.refresh(&ct).unwrap();
        assert_eq!(fresh.level(), context.top_level());
        let after = decryptor.decrypt(&fresh).unwrap();
        let errors: Vec<f64> = before.iter().zip(&after).map(|(a, b)| (a - b).norm()).collect();
        let worst = errors.iter().copied().fold(0.0, f64::max);
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let squares = errors.iter().map(|x| x * x).sum::<f64>() / errors.len() as f64;
        let (seen, stated) = (squares.sqrt().log2(), refresher.plan().error().unwrap());
        println!(
            "n = {n}: worst {:.1}, mean {:.1} bits, {:.1} of {:.1}",
            -worst.log2(),
            -mean.log2(),
            seen,
            stated.deviation().log2()
        );
        println!("{:?}", [stated.to_slots, stated.sine, stated.to_coefficients, stated.systematic].map(f64::log2));
        assert!(worst < 2f64.powi(-20));
        assert!(seen < stated.deviation().log2() && seen > stated.deviation().log2() - 3.0);
    }
}

/// What a set for work takes, with its security.
#[test]
fn full_size() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
        return;
    }
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let name = std::env::var("PRESET").unwrap_or("refresh_n65536".into());
    let mut spec = RefreshSpec::preset(&name).unwrap();
    spec.max_keys = std::env::var("KEYS").ok().map(|x| x.parse().unwrap());
    let precision = std::env::var("PRECISION").map_or(27.0, |x| x.parse().unwrap());
    let spec = spec.with_sine_precision(precision).unwrap();
    println!("scales {:?}, {:?}", spec.sine_scale_bits, spec.to_ckks());
    let clock = std::time::Instant::now();
    let plan = RefreshPlan::new(&spec).unwrap();
    let params = plan.context().rlwe().params();
    println!(
        "log2 QP {:.1}, {}; {} primes; plan {:.1?}",
        params.log2_qp(),
        params.security(),
        params.q_primes().len(),
        clock.elapsed()
    );
    println!("{} Galois keys", plan.galois_levels().len());
    for stage in plan.to_slots.iter().chain(&plan.to_coefficients) {
        println!("level {}: {} keys\n{}", stage.level, stage.plan.required_keys().len(), stage.plan.explain());
    }
    if std::env::var_os("ONLY_PLAN").is_some() {
        return;
    }
    drop(plan);
    let (decryptor, refresher) = parties(&spec, &mut rng);
    println!("keys {:.2} GB", refresher.key_bytes() as f64 / 1e9);
    println!("set-up {:.1?}; {:.1} expected", clock.elapsed(), -refresher.plan().error().unwrap().deviation().log2());
    let context = refresher.plan().context();
    let message = values(spec.slots, &mut rng);
    let (ct, _) = decryptor.encrypt(&message, 1.0, context.base_level(), &mut rng).unwrap();
    let before = decryptor.decrypt(&ct).unwrap();
    for _ in 0..2 {
        let clock = std::time::Instant::now();
        let mut last = std::time::Instant::now();
        let mut times = Vec::new();
        let observe = &mut |step| {
            times.push((step, last.elapsed()));
            last = std::time::Instant::now();
            std::ops::ControlFlow::Continue(())
        };
        let fresh = refresher.refresh_with(&ct, observe).unwrap();
        println!("refresh {:.2?}: {times:.2?}", clock.elapsed());
        let after = decryptor.decrypt(&fresh).unwrap();
        let errors: Vec<f64> = before.iter().zip(&after).map(|(a, b)| (a - b).norm()).collect();
        let worst = errors.iter().copied().fold(0.0, f64::max);
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        println!("worst {:.1}, mean {:.1} bits", -worst.log2(), -mean.log2());
    }
}

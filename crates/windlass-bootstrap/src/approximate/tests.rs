//! Refreshed CKKS ciphertexts, compared with the messages that they encrypt and with the error that
//! the plan states.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_rlwe::{EvaluationKeys, SecretKey};
use windlass_schemes::error::Error;
use windlass_schemes::schemes::ckks::{Ciphertext, Complex64, Decryptor, Engine};

use super::spec::tests::{back_first, sparse};
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
    let numbers = [(64, 32), (64, 1), (64, 4), (1024, 512), (1024, 256), (1024, 16)];
    let specs = numbers.map(|(n, slots)| sparse(n, slots)).into_iter().chain([64, 1024].map(back_first));
    for spec in specs {
        let (n, slots) = (spec.n, spec.slots);
        let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
        let (decryptor, refresher) = parties(&spec, &mut rng);
        let context = refresher.plan().context();
        let message = values(slots, &mut rng);
        let (ct, _) = decryptor.encrypt(&message, 1.0, refresher.plan().input_level(), &mut rng).unwrap();
        let before = decryptor.decrypt(&ct).unwrap();
        let fresh = refresher.refresh(&ct).unwrap();
        assert_eq!(fresh.level(), context.top_level());
        let after = decryptor.decrypt(&fresh).unwrap();
        let (seen, worst, mean) = errors(&before, &after);
        let stated = refresher.plan().error().unwrap();
        // Coefficients of few slots are near their bound, where the systematic part counts.
        let [bits, least] = [0.0, stated.systematic].map(|part| -(stated.deviation() + part).log2());
        println!(
            "n = {n}, {slots}: worst {worst:.1} of {:.1}, mean {mean:.1}, {seen:.1} of {least:.1} to {bits:.1} bits; {stated:?}",
            fresh.precision_bits()
        );
        assert!(worst > fresh.precision_bits());
        assert!(worst > 20.0 && seen > least && seen < bits + 3.0);
    }
}

/// Keys of sums of secrets, main and ephemeral: more doublings, and every error within what is stated.
#[test]
fn keys_of_several_parties_refresh_within_the_stated_error() {
    let specs = [(back_first(1024), 3), (sparse(1024, 512), 2), (sparse(1024, 16), 3), (back_first(256), 16)];
    for (of_one, count) in specs {
        let spec = of_one.clone().with_parties(count).unwrap();
        assert!(spec.doublings > of_one.doublings && spec.to_ckks().secret.parties() == count);
        for seed in 0..3 {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let (decryptor, refresher) = parties(&spec, &mut rng);
            let message = values(spec.slots, &mut rng);
            let (ct, _) = decryptor.encrypt(&message, 1.0, refresher.plan().input_level(), &mut rng).unwrap();
            let before = decryptor.decrypt(&ct).unwrap();
            let fresh = refresher.refresh(&ct).unwrap();
            let (seen, worst, _) = errors(&before, &decryptor.decrypt(&fresh).unwrap());
            let stated = refresher.plan().error().unwrap();
            let [bits, least] = [0.0, stated.systematic].map(|part| -(stated.deviation() + part).log2());
            let said = fresh.precision_bits();
            println!(
                "{count} parties, n = {}, {}: worst {worst:.1} of {said:.1}, {seen:.1} of {least:.1} to {bits:.1} bits, rare {:.1}",
                spec.n,
                spec.slots,
                -stated.rare.log2()
            );
            // For many parties the norm of the secret is bounded as a sum of norms.
            assert!(worst > said && worst > 20.0 && seen > least && seen < bits + 4.5);
        }
        assert!(matches!(spec.with_parties(3), Err(Error::OutOfRange(_))));
    }
    for count in [0, 1, 257] {
        assert!(matches!(back_first(64).with_parties(count), Err(Error::OutOfRange(_))));
    }
}

/// Two real messages in one refresh, in every order of lists and maps: each within what it states, bounded
/// as before, and the steps of one refresh for two where a refresh takes pairs.
#[test]
fn real_messages_are_refreshed_in_pairs() {
    for (spec, rounds) in [(back_first(64), 2), (back_first(1024), 2), (sparse(64, 32), 3)] {
        let mut rng = ChaCha20Rng::seed_from_u64(spec.n as u64);
        let (decryptor, refresher) = parties(&spec, &mut rng);
        let level = refresher.plan().input_level();
        let mut list = Vec::new();
        for bound in [1.0, 0.25, 0.5] {
            let real = |z: &Complex64| Complex64::new(bound * z.re, 0.0);
            let message: Vec<Complex64> = values(spec.slots, &mut rng).iter().map(real).collect();
            list.push(decryptor.encrypt(&message, bound, level, &mut rng).unwrap().0);
        }
        let mut told = Vec::new();
        let observe = &mut |progress: &crate::Progress| {
            told.push((progress.number, progress.round));
            ControlFlow::Continue(())
        };
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let refreshed = one.install(|| refresher.refresh_real_list(&list, observe)).unwrap();
        assert_eq!(told.last().map(|&(_, round)| round), Some(rounds), "{told:?}");
        for (before, after) in list.iter().zip(&refreshed) {
            assert_eq!(after.level(), refresher.plan().context().top_level());
            assert_eq!(after.magnitude(), before.magnitude());
            let [old, new] = [before, after].map(|ct| decryptor.decrypt(ct).unwrap());
            let errors: Vec<f64> = old.iter().zip(&new).map(|(a, b)| (a.re - b.re).abs()).collect();
            let worst = -errors.iter().copied().fold(0.0, f64::max).log2();
            println!("n = {}: worst {worst:.1} of stated {:.1} bits", spec.n, after.precision_bits());
            assert!(worst > after.precision_bits() && worst < after.precision_bits() + 8.0);
        }
    }
}

/// Pairs of different key pairs, and of ciphertexts without levels, are refused before any work.
#[test]
fn pairs_that_do_not_fit_are_refused() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let spec = back_first(64);
    let (decryptor, refresher) = parties(&spec, &mut rng);
    let (stranger, _) = parties(&spec, &mut rng);
    let level = refresher.plan().input_level();
    let own = decryptor.encrypt(&values(8, &mut rng), 1.0, level, &mut rng).unwrap().0;
    let low = decryptor.encrypt(&values(8, &mut rng), 1.0, level - 1, &mut rng).unwrap().0;
    let none = &mut |_: &crate::Progress| -> ControlFlow<()> { panic!("no work is done") };
    assert!(matches!(refresher.refresh_real_list(&[own.clone(), low], none), Err(Error::LevelsExhausted { .. })));
    let other = stranger.encrypt(&values(8, &mut rng), 1.0, level, &mut rng).unwrap().0;
    assert!(refresher.refresh_real_list(&[own, other], none).is_err());
    assert!(refresher.refresh_real_list(&[], none).unwrap().is_empty());
}

/// With the maps back first, a refresh takes levels: below them it is refused before any work.
#[test]
fn what_has_no_levels_for_the_maps_back_is_refused() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let spec = back_first(64);
    let (decryptor, refresher) = parties(&spec, &mut rng);
    let level = refresher.plan().input_level();
    let encrypted = |level, rng: &mut ChaCha20Rng| decryptor.encrypt(&values(8, rng), 1.0, level, rng).unwrap().0;
    let low = encrypted(level - 1, &mut rng);
    assert!(matches!(
        refresher.refresh(&low),
        Err(Error::LevelsExhausted { operation: "refresh", needed: 3, left: 2, .. })
    ));
    let headroom = |ct: &Ciphertext| windlass_schemes::schemes::Refresh::headroom_bits(&refresher, ct);
    assert!(headroom(&low) < 0.0 && headroom(&encrypted(level, &mut rng)) == 0.0);
    let sparse = RefreshSpec { slots: 8, ..spec };
    assert!(matches!(RefreshPlan::new(&sparse), Err(Error::NoParameters { .. })));
}

/// In bits: the root of the mean square, the worst and the mean.
fn errors(before: &[Complex64], after: &[Complex64]) -> (f64, f64, f64) {
    let errors: Vec<f64> = before.iter().zip(after).map(|(a, b)| (a - b).norm()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let mean = |f: fn(&f64) -> f64| errors.iter().map(f).sum::<f64>() / errors.len() as f64;
    (-mean(|x| x * x).sqrt().log2(), -worst.log2(), -mean(|x| *x).log2())
}

/// A set with security, the largest unless `WINDLASS_REFRESH` names another or a file with one: precision,
/// and seconds by step. Takes 9 GB.
#[test]
fn full_size() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
        return;
    }
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let name = std::env::var("WINDLASS_REFRESH").unwrap_or("refresh_n65536".into());
    let spec = match std::fs::read_to_string(&name) {
        Ok(text) => RefreshSpec::from_json(&text).unwrap(),
        Err(_) => RefreshSpec::preset(&name).unwrap(),
    };
    let clock = Instant::now();
    let (decryptor, refresher) = parties(&spec, &mut rng);
    let (plan, context) = (refresher.plan(), refresher.plan().context());
    let params = context.rlwe().params();
    println!("{name}: log2 QP {:.1}, {}", params.log2_qp(), params.security());
    println!("ephemeral key: {}", plan.ephemeral_security());
    let [keys, constants] = [refresher.key_bytes(), refresher.constant_bytes()].map(|bytes| bytes as f64 / 1e9);
    let made = clock.elapsed();
    println!(
        "{} Galois keys, {keys:.2} GB of keys, {constants:.2} of constants, {made:.1?}",
        plan.galois_levels().len()
    );
    let message = values(spec.slots, &mut rng);
    let (ct, _) = decryptor.encrypt(&message, 1.0, plan.input_level(), &mut rng).unwrap();
    let before = decryptor.decrypt(&ct).unwrap();
    for _ in 0..2 {
        let (clock, mut last, mut times) = (Instant::now(), Instant::now(), Vec::new());
        let observe = &mut |step| {
            times.push((step, last.elapsed()));
            last = Instant::now();
            ControlFlow::Continue(())
        };
        let fresh = refresher.refresh_with(&ct, observe).unwrap();
        println!("refresh {:.2?}: {times:.2?}", clock.elapsed());
        let (seen, worst, mean) = errors(&before, &decryptor.decrypt(&fresh).unwrap());
        let stated = plan.error().unwrap();
        let [bits, least] = [0.0, stated.systematic].map(|part| -(stated.deviation() + part).log2());
        let said = fresh.precision_bits();
        println!(
            "worst {worst:.1} of {said:.1}, mean {mean:.1} bits; deviation {seen:.1}, stated {least:.1} to {bits:.1}"
        );
        assert!(worst > said && worst < said + 3.0);
        assert!(seen > least && seen < bits + 3.0);
        assert!(name != "refresh_n65536" || mean > 26.0);
    }
}

/// A refresh that is stopped gives no result, wherever it stops before its end.
#[test]
fn refreshes_can_be_stopped() {
    for spec in [sparse(64, 8), back_first(64)] {
        stopped_everywhere(&spec);
    }
}

fn stopped_everywhere(spec: &RefreshSpec) {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let (decryptor, refresher) = parties(spec, &mut rng);
    let level = refresher.plan().input_level();
    let (ct, _) = decryptor.encrypt(&values(8, &mut rng), 1.0, level, &mut rng).unwrap();
    let mut count = 0;
    let all = &mut |_| {
        count += 1;
        ControlFlow::Continue(())
    };
    refresher.refresh_with(&ct, all).unwrap();
    for stop in 0..count {
        let mut left = stop;
        let result = refresher.refresh_with(&ct, &mut |_| match left {
            0 => ControlFlow::Break(()),
            _ => {
                left -= 1;
                ControlFlow::Continue(())
            }
        });
        // The last step is the result.
        assert_eq!(result.is_ok(), stop + 1 == count, "{stop} of {count}");
    }
}

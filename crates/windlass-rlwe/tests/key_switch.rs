//! The noise of key switches against its bound, over many seeds, every kind of ring, every level
//! and number of digits.
#![forbid(unsafe_code)]

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_ring::norm::canonical_norm;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Eval, Poly, sample};
use windlass_rlwe::switching::{
    Digits, Epilogue, KeyedAutomorphism, SwitchingKey, extend, extended_automorphism, mod_down, switch,
};
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, NoiseModel, RlweError, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};

fn context(m: u64, digits: usize, special: usize, secret: SecretDistribution) -> Arc<Context> {
    context_with(m, digits, special, secret, &[])
}

fn context_with(m: u64, digits: usize, special: usize, secret: SecretDistribution, spare: &[u32]) -> Arc<Context> {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![45, 40, 38, 40, 36],
        spare_prime_bits: spare.to_vec(),
        special_prime_bits: vec![45; special],
        digits,
        secret,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    Context::new(params.unwrap()).unwrap()
}

/// log2 of the canonical norm of (b + a·s) − x·source.
fn error_bits(context: &Context, pair: &[Poly<Eval>; 2], secret: &Poly<Eval>, expected: &Poly<Eval>) -> f64 {
    let mut error = pair[0].clone();
    error.mul_add_assign(&pair[1], secret);
    error.sub_assign(expected);
    let lift = IntegerLift::new(context.ring(), error.basis());
    let coefficients = lift.centred(&error.into_coeff());
    let coefficients: Vec<i64> = coefficients.iter().map(|x| i64::try_from(x).expect("small")).collect();
    canonical_norm(context.params().shape(), &coefficients).log2()
}

/// The bound on the norm of a secret with one coefficient is met with equality: no draw may fail
/// for ever.
#[test]
fn keys_of_every_sparse_weight_are_found() {
    for weight in [1, 2, 5] {
        let context = context(64, 4, 2, SecretDistribution::Sparse { weight });
        let secret = SecretKey::generate(&context, &mut ChaCha20Rng::from_seed([weight as u8; 32]));
        let weights = secret.expose_coefficients().iter().filter(|&&x| x != 0).count();
        assert_eq!(weights, weight as usize);
    }
}

/// Noise and security are those of the stated weight: a file with another one holds no key of these
/// parameters, though its norm may be small enough.
#[test]
fn sparse_keys_of_another_weight_are_refused() {
    let context = context(64, 4, 2, SecretDistribution::Sparse { weight: 5 });
    let secret = SecretKey::generate(&context, &mut ChaCha20Rng::from_seed([5; 32]));
    let read = |coefficients: &[i64]| {
        SecretKey::from_coefficients(&context, secret.key_id(), coefficients.to_vec().into()).map(drop)
    };
    read(secret.expose_coefficients()).unwrap();
    let mut lighter = secret.expose_coefficients().to_vec();
    *lighter.iter_mut().find(|x| **x != 0).unwrap() = 0;
    let mut heavier = secret.expose_coefficients().to_vec();
    *heavier.iter_mut().find(|x| **x == 0).unwrap() = 1;
    for other in [lighter, heavier, vec![0; 32]] {
        assert_eq!(read(&other), Err(RlweError::BadSecretKey));
    }
}

#[test]
fn key_switch_noise_is_within_its_bound_and_near_it() {
    let ternary = SecretDistribution::Ternary;
    let sparse = SecretDistribution::Sparse { weight: 12 };
    let none: &[u32] = &[];
    for (m, digits, special, distribution, spare) in [
        (256, 5, 1, ternary, none),
        (105, 3, 2, ternary, none),
        (127, 2, 3, ternary, none),
        (243, 3, 2, sparse, none),
        (120, 1, 5, ternary, none),
        (1024, 5, 1, sparse, none),
        // Spare primes in a digit with others, and in one of their own.
        (256, 3, 2, ternary, &[25]),
        (105, 3, 3, ternary, &[26, 33]),
        (127, 6, 2, sparse, &[27, 33]),
    ] {
        let context = context_with(m, digits, special, distribution, spare);
        // Plaintext modulus 1: the bound is that of the error alone.
        let noise = NoiseModel::new(context.params(), 1);
        let mut worst = f64::INFINITY;
        for seed in 0..24u8 {
            let mut rng = ChaCha20Rng::from_seed([seed; 32]);
            let secret = SecretKey::generate(&context, &mut rng);
            let mut keys = EvaluationKeys::empty(&context);
            keys.add_relinearisation(&secret, context.top_level(), &mut rng).unwrap();
            let key = keys.relinearisation().unwrap();
            for level in 1..=context.top_level() {
                let basis = context.basis(level);
                let s = Poly::from_signed(context.ring(), &basis, secret.expose_coefficients()).into_eval();
                let x = sample::uniform(context.ring(), &basis, &[seed ^ 0x55; 32], level as u32);
                let extended = Digits::new(&context, &x, 1).inner_product(key).unwrap();
                let pair = mod_down(&context, extended.each_ref(), level, 1);
                let exact = error_bits(&context, &pair, &s, &x.mul(&s).mul(&s));
                let bound = noise.key_switch(level).bits();
                assert!(exact <= bound, "m = {m}, seed {seed}, level {level}: noise 2^{exact:.1}, bound 2^{bound:.1}");
                worst = worst.min(bound - exact);
            }
        }
        assert!(worst < 6.0, "m = {m}: the bound is {worst:.1} bits above all noise that was seen");
    }
}

/// One digit of 45, 85, 123, 163 and 199 bits under 225: 16 bits above it suffice.
#[test]
fn low_levels_take_a_part_of_the_special_primes() {
    let context = context(120, 1, 5, SecretDistribution::Ternary);
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let secret = SecretKey::generate(&context, &mut rng);
    let mut keys = EvaluationKeys::of(&secret);
    keys.add_relinearisation(&secret, context.top_level(), &mut rng).unwrap();
    let key = keys.relinearisation().unwrap();
    for (level, taken) in (1..=5).zip([2, 3, 4, 4, 5]) {
        assert_eq!(context.special_at(level).len(), taken, "level {level}");
        let x = sample::uniform(context.ring(), &context.basis(level), &[3; 32], 0);
        for half in Digits::new(&context, &x, 1).inner_product(key).unwrap() {
            assert_eq!(half.basis().len(), level + taken, "level {level}");
        }
        let extended = extend(&context, &x, 1);
        assert_eq!(mod_down(&context, [&extended, &extended], level, 1)[0], x, "level {level}");
    }
}

/// A context with keys of two levels: relinearisation to the top, an automorphism to level 2.
fn keys_of_two_levels() -> (Arc<Context>, EvaluationKeys) {
    let context = context(64, 3, 2, SecretDistribution::Ternary);
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let secret = SecretKey::generate(&context, &mut rng);
    let mut keys = EvaluationKeys::of(&secret);
    keys.add_relinearisation(&secret, context.top_level(), &mut rng).unwrap();
    keys.add_galois(&secret, 3, 2, &mut rng).unwrap();
    keys.add_galois(&secret, 5, 2, &mut rng).unwrap();
    (context, keys)
}

/// Two keys with one uniform half would give away what their errors and sources differ by.
#[test]
fn every_key_has_a_seed_of_its_own() {
    let (_, keys) = keys_of_two_levels();
    let galois = [3, 5].map(|element| *keys.galois(element).unwrap().seed());
    let seeds = [*keys.relinearisation().unwrap().seed(), galois[0], galois[1]];
    for (i, seed) in seeds.iter().enumerate() {
        assert!(*seed != [0; 32] && !seeds[..i].contains(seed));
    }
}

#[test]
fn keys_serve_up_to_their_own_level() {
    let (context, keys) = keys_of_two_levels();
    serve_up_to_their_own_level(&context, &keys, 2);
}

/// Levels up to that of a key may have spare primes that it has not.
#[test]
fn keys_serve_every_choice_of_spare_primes() {
    for (digits, spare) in [(3, vec![25]), (6, vec![27, 33])] {
        let context = context_with(64, digits, 2, SecretDistribution::Ternary, &spare);
        let mut rng = ChaCha20Rng::from_seed([8; 32]);
        let secret = SecretKey::generate(&context, &mut rng);
        for level in 1..=context.top_level() {
            let mut keys = EvaluationKeys::of(&secret);
            keys.add_galois(&secret, 3, level, &mut rng).unwrap();
            serve_up_to_their_own_level(&context, &keys, level);
        }
    }
}

fn serve_up_to_their_own_level(context: &Arc<Context>, keys: &EvaluationKeys, own: usize) {
    let key = keys.galois(3).unwrap();
    assert_eq!(key.level(), own);
    for level in 1..=context.top_level() {
        let x = sample::uniform(context.ring(), &context.basis(level), &[1; 32], 0);
        let extended = sample::uniform(context.ring(), &context.base_qp(level), &[2; 32], 0);
        let step: KeyedAutomorphism<'_> = (key, context.ring().automorphism(3).unwrap());
        let digits = Digits::new(context, &x, 1);
        assert_eq!(digits.level(), level);
        let ways = [
            digits.inner_product(key).map(drop),
            digits.sum_automorphisms(context, &extended, std::slice::from_ref(&step)).map(drop),
            extended_automorphism(context, &[(&x, &extended)], &step).map(drop),
            switch(context, &x, 1, key, &Epilogue::default()).map(drop),
        ];
        for result in ways {
            let serves = context.levels().covers(own, level);
            let expected = if serves { Ok(()) } else { Err(RlweError::KeyLevelTooLow { key: own, needed: level }) };
            assert_eq!(result, expected, "level {level}");
            assert!(serves || level > own);
        }
    }
}

/// From its halves a key comes back; of another level, number or basis they are none.
#[test]
fn halves_that_do_not_fit_are_refused() {
    let (context, keys) = keys_of_two_levels();
    let other = self::context(105, 3, 2, SecretDistribution::Ternary);
    let top = context.top_level();
    for key in [keys.relinearisation().unwrap(), keys.galois(3).unwrap()] {
        let (id, seed, level) = (key.key_id(), *key.seed(), key.level());
        let pairs: Vec<_> = key.pairs().cloned().collect();
        let parts =
            |context: &Context, level, b: &[Poly<Eval>]| SwitchingKey::from_parts(context, id, level, seed, b.to_vec());
        let ready = |context: &Context, level, pairs: &[Poly<Eval>]| {
            SwitchingKey::from_pairs(context, id, level, seed, pairs.to_vec())
        };
        assert_eq!((key.b().len(), pairs.len()), (SwitchingKey::digits(&context, level), 2 * key.b().len()));
        assert_eq!(key.bytes(), pairs.iter().map(Poly::bytes).sum::<usize>());
        for back in [parts(&context, level, key.b()).unwrap(), ready(&context, level, &pairs).unwrap()] {
            assert!(back.pairs().eq(key.pairs()), "the same halves");
            assert_eq!((back.level(), *back.seed()), (level, seed));
        }
        let bad = |result: Result<SwitchingKey, RlweError>| {
            assert_eq!(result.map(drop), Err(RlweError::BadKey { what: "switching key" }));
        };
        for wrong in [0, 1, top - 1, top + 1] {
            bad(parts(&context, wrong, key.b()));
            bad(ready(&context, wrong, &pairs));
        }
        bad(parts(&context, level, &key.b()[1..]));
        bad(ready(&context, level, &pairs[2..]));
        bad(ready(&context, level, key.b()));
        bad(parts(&other, level, key.b()));
        bad(ready(&other, level, &pairs));
        // One half of another basis among right ones.
        let mut mixed = pairs.clone();
        mixed[1] = sample::uniform(context.ring(), &context.basis(1), &seed, 0);
        bad(ready(&context, level, &mixed));
    }
}

/// A key holds residues of its own ring, and the set that refuses it stays empty.
#[test]
fn keys_of_another_context_are_not_put_in_place() {
    let (context, keys) = keys_of_two_levels();
    let other = self::context(105, 3, 2, SecretDistribution::Ternary);
    let (products, turn) = (keys.relinearisation().unwrap(), keys.galois(3).unwrap());
    let bad = Err(RlweError::BadKey { what: "switching key" });
    let mut foreign = EvaluationKeys::empty(&other);
    assert_eq!(foreign.insert_relinearisation((**products).clone()), bad);
    assert_eq!(foreign.insert_galois(2, (**turn).clone()), bad);
    assert!(foreign.relinearisation().is_none() && foreign.galois(2).is_none());
    let mut own = EvaluationKeys::empty(&context);
    own.insert_relinearisation((**products).clone()).unwrap();
    own.insert_galois(3, (**turn).clone()).unwrap();
}

//! Chains with spare primes: every operation between levels that have different ones, in memory and
//! through files.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Arithmetic;
use windlass::bootstrap::Ephemeral;
use windlass::circuits::linear::LinearPlan;
use windlass::circuits::{LinearMap, PlanSpec, Strategy};
use windlass::needs::{KeyRequest, Products};
use windlass::rlwe::{RlweParams, RlweSpec};
use windlass::schemes::Ciphertext;
use windlass::{Client, Context, Evaluator, Params, Plaintext, Scheme, Server, Switching};

use crate::fixture::{SCHEMES, chain, context};

/// Four digits of two primes: the spare ones make up the first.
fn spec(m: u64, spare: &[u32]) -> RlweSpec {
    RlweSpec { spare_prime_bits: spare.to_vec(), digits: 4, ..chain(m, &[45, 40, 40, 40, 40, 40], &[46, 46]) }
}

fn sides(scheme: Scheme, m: u64, p: u64, spare: &[u32]) -> (Context, Client, Server) {
    let context = context(scheme, (p, 1), spec(m, spare));
    let turn = KeyRequest::none("a test").with_galois([m - 1]);
    let (client, server) = context.generate_keys_from_seed([&Products, &turn], 5).unwrap();
    (context, client, server)
}

fn primes(context: &Context, level: usize) -> usize {
    context.params().rlwe().levels().basis(level).len()
}

fn at_level(client: &Client, plaintext: &Plaintext, level: usize) -> Ciphertext {
    let mut rng = ChaCha20Rng::seed_from_u64(level as u64);
    client.decryptor().encrypt(plaintext, level, &mut rng).unwrap().0
}

/// The plaintext comes out, and the noise is no more than its bound.
fn decrypts(what: &str, client: &Client, ct: &Ciphertext, plaintext: &Plaintext) {
    assert_eq!(client.decrypt_plaintext(ct).unwrap(), *plaintext, "{what}");
    let exact = client.decryptor().exact_noise_leaks_the_secret_key(ct).unwrap();
    assert!(exact <= ct.log2_noise(), "{what}: {exact} for {}", ct.log2_noise());
}

#[test]
fn levels_with_other_spare_primes_meet() {
    for (scheme, (m, p, spare)) in SCHEMES.iter().flat_map(|&scheme| {
        [(64, 257, &[27, 33][..]), (105, 2, &[28]), (64, 97, &[26, 29, 33])].map(|ring| (scheme, ring))
    }) {
        let (context, client, server) = sides(scheme, m, p, spare);
        let engine = server.engine();
        let top = engine.context().top_level();
        assert_eq!(top, 6 << spare.len());
        let x = Plaintext::from_integers(context.slot_ring(), &[3, 1, 4]).unwrap();
        let y = Plaintext::from_integers(context.slot_ring(), &[2, 7]).unwrap();
        let (sum, product) = (x.add(&y).unwrap(), x.multiply(&y).unwrap());
        let levels: Vec<usize> = (1..=top).filter(|&level| primes(&context, level) >= 2).collect();
        for &level in &levels {
            let a = at_level(&client, &x, level);
            assert_eq!(a.level(), level);
            assert!(a.parts().iter().all(|part| part.basis() == engine.context().levels().basis(level)));
            for &lower in levels.iter().filter(|&&lower| lower <= level) {
                let what = format!("{scheme}, m = {m}, {level} to {lower}");
                let low = engine.switch_modulus(&a, lower).unwrap();
                assert_eq!(low.level(), lower, "{what}");
                decrypts(&what, &client, &low, &x);
                let b = at_level(&client, &y, lower);
                decrypts(&what, &client, &engine.add(&a, &b).unwrap(), &sum);
                decrypts(&what, &client, &engine.add(&b, &a).unwrap(), &sum);
                let weighted = engine.weighted_sums(&[&a, &b], &[vec![1, 1]]).unwrap().remove(0);
                decrypts(&what, &client, &weighted, &sum);
                if primes(&context, lower) >= 4 {
                    decrypts(&what, &client, &engine.multiply(&a, &b).unwrap(), &product);
                    decrypts(&what, &client, &engine.dot_ciphertexts(&[(&a, &b)]).unwrap(), &product);
                }
            }
            let turned = x.automorphism(m - 1).unwrap();
            decrypts("automorphism", &client, &engine.automorphism(&a, m - 1).unwrap(), &turned);
        }
    }
}

/// Maps whose constants and keys were made for one level run at every lower one.
#[test]
fn maps_run_at_every_level() {
    for (scheme, (m, p, spare)) in
        SCHEMES.iter().flat_map(|&scheme| [(64, 257, &[27, 33][..]), (105, 2, &[28])].map(|ring| (scheme, ring)))
    {
        let context = context(scheme, (p, 1), spec(m, spare));
        let map = LinearMap::matmul_full(&context, |i, k| 3 * i * i + 5 * i * k + 1).unwrap();
        for strategy in Strategy::ALL.iter().copied().filter(|strategy| strategy.is_general()) {
            let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(strategy)).unwrap();
            let top = context.params().rlwe().top_level();
            let (client, server) = context.generate_keys_from_seed([&plan], 7).unwrap();
            let x = Plaintext::from_integers(context.slot_ring(), &[3, 1, 4]).unwrap();
            let image = map.apply(&x).unwrap();
            for prepared_for in [top, top / 2] {
                let prepared = plan.prepare_at(server.engine(), prepared_for).unwrap();
                for level in (1..=prepared_for).filter(|&level| primes(&context, level) >= 2) {
                    let ct = at_level(&client, &x, level);
                    let what = format!("{scheme}, m = {m}, {strategy}, {prepared_for}, {level}");
                    decrypts(&what, &client, &plan.apply(&prepared, server.engine(), &ct).unwrap(), &image);
                }
                let above = at_level(&client, &x, top);
                assert_eq!(plan.apply(&prepared, server.engine(), &above).is_ok(), prepared_for == top);
            }
        }
    }
}

/// What is added from levels up to one has the primes of all, and is served by keys and constants
/// that were made for that one.
#[test]
fn keys_and_constants_serve_sums_of_their_levels() {
    for scheme in SCHEMES {
        let context = context(scheme, (257, 1), spec(64, &[27, 33]));
        let levels = context.params().rlwe().levels();
        let x = Plaintext::from_integers(context.slot_ring(), &[3, 1, 4]).unwrap();
        let mut above = 0;
        for level in (1..=levels.top()).filter(|&level| primes(&context, level) >= 4) {
            let keys = KeyRequest::none("a test").with_relinearisation().with_galois([63]).up_to(level);
            let (client, server) = context.generate_keys_from_seed([&keys], 3).unwrap();
            let engine = server.engine();
            let lower = (2..level).rev().find(|&lower| levels.join(lower, level) > level).unwrap_or(level);
            let [a, b] = [level, lower].map(|level| at_level(&client, &x, level));
            let sum = engine.weighted_sums(&[&a, &b], &[vec![1, 1]]).unwrap().remove(0);
            assert_eq!(sum.level(), levels.join(level, lower));
            above += usize::from(sum.level() > level);
            let twice = x.add(&x).unwrap();
            decrypts("sum", &client, &sum, &twice);
            let turned = engine.automorphism(&sum, 63).unwrap();
            decrypts("turned sum", &client, &turned, &twice.automorphism(63).unwrap());
            decrypts("square", &client, &engine.square(&sum).unwrap(), &twice.multiply(&twice).unwrap());
            let constant = engine.prepare_at(&x, level).unwrap();
            let product = engine.multiply_constant(&sum, &constant).unwrap();
            decrypts("constant", &client, &product, &twice.multiply(&x).unwrap());
            // The front door looks at primes as well.
            server.apply(&LinearMap::automorphism(context.slot_ring(), 63).unwrap().plan().unwrap(), &sum).unwrap();
        }
        assert!(above > 5, "{above}");
    }
}

/// Keys, constants and ciphertexts of every level come back from files.
#[test]
fn files_hold_every_level() {
    let directory = tempfile::tempdir().unwrap();
    for scheme in SCHEMES {
        let context = context(scheme, (257, 1), spec(64, &[27, 33]));
        let plan = LinearMap::matmul_full(&context, |i, k| i * k + 1).unwrap().plan().unwrap();
        let x = Plaintext::from_integers(context.slot_ring(), &[3, 1, 4]).unwrap();
        for level in 1..=context.params().rlwe().top_level() {
            let low = KeyRequest::none("a test").with_galois([3]).up_to(level);
            let (client, server) = context.generate_keys_from_seed([&Products, &plan, &low], 9).unwrap();
            let [keys, prepared] =
                ["keys", "prepared"].map(|kind| directory.path().join(format!("{scheme}{level}.{kind}")));
            server.save_ready_keys(&keys).unwrap();
            server.save_prepared(&plan, &prepared).unwrap();
            let mapped = context.open_server(&keys, &[]).unwrap();
            let copied = context.server_from_bytes(&server.to_bytes().unwrap().0, &[]).unwrap();
            mapped.open_prepared(&plan, &prepared).unwrap();
            let ct = at_level(&client, &x, level);
            let back: Ciphertext = context.from_bytes(&context.to_bytes(&ct).unwrap()).unwrap();
            assert_eq!((back.level(), back.parts()), (level, ct.parts()));
            if primes(&context, level) < 2 {
                continue;
            }
            let turned = server.engine().automorphism(&ct, 3).unwrap();
            for other in [&mapped, &copied] {
                assert_eq!(other.engine().automorphism(&back, 3).unwrap().parts(), turned.parts());
            }
            let fresh = client.encrypt_plaintext(&x).unwrap();
            assert_eq!(mapped.apply(&plan, &fresh).unwrap().parts(), server.apply(&plan, &fresh).unwrap().parts());
        }
    }
}

/// A set with spare primes is another one than its primes in a chain, and its file says what it is.
#[test]
fn parameter_files_say_spare_primes() {
    let with = Params::new("insecure_test", Scheme::Bgv, (257, 1), None, spec(64, &[27, 33])).unwrap();
    let chained = RlweSpec { q_prime_bits: vec![27, 33, 45, 40, 40, 40, 40, 40], ..spec(64, &[]) };
    let without = Params::new("insecure_test", Scheme::Bgv, (257, 1), None, chained).unwrap();
    assert_eq!(with.rlwe().all_primes(), without.rlwe().all_primes());
    assert_ne!(with.rlwe().id(), without.rlwe().id());
    for set in [with.clone(), with.clone().with_ephemeral(Ephemeral::in_digits(6)), without.clone()] {
        let back = Params::from_json(&set.to_json()).unwrap();
        assert_eq!(
            (back.rlwe().id(), back.ephemeral(), back.to_json()),
            (set.rlwe().id(), set.ephemeral(), set.to_json())
        );
    }
    let text = with.to_json();
    assert!(text.contains("\"windlass_parameters\": 4") && !without.to_json().contains("spare"), "{text}");
    // No version before says spare primes, and the fourth has some.
    for wrong in [text.replace(": 4,", ": 3,"), without.to_json().replace("parameters\": 1", "parameters\": 4")] {
        Params::from_json(&wrong).unwrap_err();
    }
    let many = RlweSpec { spare_prime_bits: vec![27, 28, 29, 30], ..spec(64, &[]) };
    let refused = RlweParams::new(&many).unwrap_err().to_string();
    assert!(refused.contains("the number of spare primes is 4"), "{refused}");
    let small = RlweSpec { spare_prime_bits: vec![24], ..spec(64, &[]) };
    assert!(RlweParams::new(&small).is_err());
}

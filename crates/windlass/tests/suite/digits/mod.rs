//! Digit removal on the exact mock and on ciphertexts, against integer arithmetic.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::circuits::{
    ChenHan, DIGIT_METHODS, DigitMethod, DigitRemoval, DigitRetention, DigitSpec, DigitStep, FixedPointProduct,
    HaleviShoup, LastStep, LeastDegree, LocalNull, Method, RootProducts, Searched,
};
use windlass::needs::Products;
use windlass::schemes::Scheme;
use windlass::schemes::clear::Clear;
use windlass::{Content, Error, Evaluator, Plaintext};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;

use crate::fixture::{SCHEMES, chain, context, random};

#[path = "../../../examples/fixed_point.rs"]
mod fixed_point;
mod others;

#[test]
fn fixed_point_numbers_are_multiplied_and_rescaled() {
    fixed_point::main().unwrap();
}

/// `x` without its v low digits, divided by p^v, modulo p^{e−v}: digit by digit.
fn expected(spec: &DigitSpec, x: u64) -> u64 {
    let p = spec.prime as i64;
    let mut rest = x as i64;
    for _ in 0..spec.removed {
        let digit = rest.rem_euclid(p);
        let balanced = if p > 2 && digit > p / 2 { digit - p } else { digit };
        rest = (rest - balanced) / p;
    }
    rest.rem_euclid(p.pow(spec.exponent - spec.removed)) as u64
}

fn check(slot_ring: &Arc<SlotRing>, removal: &DigitRemoval, inputs: &[u64]) {
    let clear = Clear::new(slot_ring);
    for batch in inputs.chunks(slot_ring.slots()) {
        let mut padded = batch.to_vec();
        padded.resize(slot_ring.slots(), 0);
        let ct = clear.encrypt(&Plaintext::from_integers(slot_ring, &padded).unwrap()).unwrap();
        let before = clear.counts().products;
        let image = removal.apply(&clear, &ct).unwrap();
        assert_eq!(clear.counts().products - before, removal.products(), "{}", removal.explain());
        let got = image.plaintext().to_integers().unwrap();
        let wanted: Vec<u64> = padded.iter().map(|&x| expected(removal.spec(), x)).collect();
        assert_eq!(got, wanted, "{}", removal.explain());
    }
}

const METHODS: [Method; 4] =
    [Method::Of(&HaleviShoup), Method::Of(&ChenHan), Method::Of(&LeastDegree), Method::Automatic];

#[test]
fn every_residue_of_small_moduli() {
    // (m, p, largest e)
    for (m, p, most) in [(1023, 2, 8), (121, 3, 5), (781, 5, 3), (2801, 7, 3)] {
        for e in 2..=most {
            let slots = Arc::new(SlotRing::new(m, p, e, Isa::best()).unwrap());
            let all: Vec<u64> = (0..p.pow(e)).collect();
            for v in 1..e {
                for method in METHODS {
                    let removal = DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) }).unwrap();
                    check(&slots, &removal, &all);
                }
            }
        }
    }
}

#[test]
fn random_residues_of_large_moduli() {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    // Rows of Chen–Han 2018, Table 3, and more.
    for (m, p, e, v) in
        [(1023, 2, 11, 5), (1023, 2, 21, 13), (781, 5, 6, 3), (307, 17, 4, 2), (331, 31, 3, 1), (32, 127, 3, 1)]
    {
        let slots = Arc::new(SlotRing::new(m, p, e, Isa::best()).unwrap());
        let inputs: Vec<u64> = (0..2 * slots.slots()).map(|_| rng.next_u64() % p.pow(e)).collect();
        for method in METHODS {
            check(&slots, &DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) }).unwrap(), &inputs);
        }
    }
}

#[test]
fn bounded_parts_of_large_primes() {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    for (m, p, e, v, bound) in [
        (64, 127, 2, 1, 22),
        (64, 257, 2, 1, 22),
        (64, 65537, 2, 1, 22),
        (64, 8191, 2, 1, 30),
        (64, 17, 4, 2, 22),
        (64, 7, 5, 3, 60),
        (64, 257, 3, 1, 9),
    ] {
        let slots = Arc::new(SlotRing::new(m, p, e, Isa::best()).unwrap());
        let spec = DigitSpec { bound: Some(bound), method: Method::Of(&LocalNull), ..DigitSpec::new(p, e, v) };
        let removal = DigitRemoval::new(spec).unwrap();
        let whole = p.pow(e);
        let input = |rng: &mut ChaCha20Rng| {
            let low = (rng.next_u64() % (2 * bound + 1)) as i64 - bound as i64;
            ((rng.next_u64() % p.pow(e - v) * p.pow(v)) as i64 + low).rem_euclid(whole as i64) as u64
        };
        let mut inputs: Vec<u64> = (0..8 * slots.slots()).map(|_| input(&mut rng)).collect();
        inputs.extend([bound, whole - bound, p.pow(v) - bound, p.pow(v) + bound]);
        check(&slots, &removal, &inputs);
        let automatic = DigitRemoval::new(DigitSpec { method: Method::Automatic, ..spec }).unwrap();
        assert!(automatic.products() <= removal.products());
    }
}

/// Every residue of a small prime, with each bound: digits in it go, others are not asked for.
#[test]
fn digits_by_the_product_over_their_roots() {
    let p = 31;
    let slots = Arc::new(SlotRing::new(64, p, 2, Isa::best()).unwrap());
    for bound in 1..(p - 1) / 2 {
        let spec = DigitSpec { bound: Some(bound), method: Method::Of(&RootProducts), ..DigitSpec::new(p, 2, 1) };
        let removal = match DigitRemoval::new(spec) {
            // Nearly all digits of so small a prime: c is of a smaller degree than T expects.
            Err(Error::Unplannable { .. }) if bound >= 12 => continue,
            removal => removal.unwrap(),
        };
        let occurs = |x: &u64| (x + bound) % p <= 2 * bound;
        check(&slots, &removal, &(0..p * p).filter(occurs).collect::<Vec<_>>());
        let local = DigitRemoval::new(DigitSpec { method: Method::Of(&LocalNull), ..spec }).unwrap();
        assert!(bound < 8 || removal.products() < local.products(), "{bound}: {}", removal.explain());
    }
}

#[test]
fn what_root_products_are_not_for_is_refused() {
    let of = |prime, exponent, removed, bound| {
        let method = Method::Of(&RootProducts);
        let spec = DigitSpec { bound, method, ..DigitSpec::new(prime, exponent, removed) };
        DigitRemoval::new(spec).map(|removal| removal.products())
    };
    assert_eq!(of(8191, 2, 1, Some(12)), Ok(10));
    for (prime, exponent, removed, bound) in
        [(2, 2, 1, Some(1)), (8191, 3, 1, Some(12)), (8191, 2, 1, None), (8191, 2, 1, Some(14)), (17, 2, 1, Some(8))]
    {
        let refused = of(prime, exponent, removed, bound);
        assert!(matches!(refused, Err(Error::Unplannable { .. })), "{prime}^{exponent}, {bound:?}: {refused:?}");
    }
}

/// Whether a depth is within log2(e·p^v) of Theorem 5 of Chen–Han, the least whole number of levels
/// that has it.
fn is_within_theorem_5(depth: usize, (p, e, v): (u64, u32, u32)) -> bool {
    depth < 128 && 1u128 << (depth - 1) < u128::from(e) * u128::from(p).pow(v)
}

#[test]
fn depth_is_no_worse_than_chen_and_han() {
    // log2(6·5^3) = 9.55 and log2(4·17^2) = 10.17.
    for (depth, row, within) in [(10, (5, 6, 3), true), (11, (5, 6, 3), false), (12, (5, 6, 3), false)] {
        assert_eq!(is_within_theorem_5(depth, row), within);
    }
    assert!(is_within_theorem_5(11, (17, 4, 2)) && !is_within_theorem_5(12, (17, 4, 2)));
    for (p, e, v) in [(2u64, 11u32, 5u32), (2, 21, 13), (5, 6, 3), (17, 4, 2), (31, 3, 1), (127, 3, 1)] {
        let plan = |method| DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) }).unwrap();
        let [old, new, least, best] = METHODS.map(plan);
        for plan in [&new, &least, &best] {
            assert!(is_within_theorem_5(plan.depth(), (p, e, v)), "({p}, {e}, {v}): {}", plan.explain());
        }
        assert!(least.depth() <= new.depth(), "({p}, {e}, {v}): {}", least.explain());
        let price = |plan: &DigitRemoval| plan.products() as f64 + 10.0 * plan.depth() as f64;
        assert!([&old, &new, &least].iter().all(|other| price(&best) <= price(other)), "{}", best.explain());
    }
}

#[test]
fn bad_requests_are_refused() {
    let refuse = |spec: DigitSpec| DigitRemoval::new(spec).unwrap_err();
    assert!(matches!(refuse(DigitSpec::new(2, 5, 0)), Error::OutOfRange { .. }));
    assert!(matches!(refuse(DigitSpec::new(2, 5, 5)), Error::OutOfRange { .. }));
    assert!(matches!(refuse(DigitSpec::new(4, 5, 2)), Error::Ring(_)));
    assert!(matches!(refuse(DigitSpec::new(65537, 2, 1)), Error::OutOfRange { .. }));
    let local = DigitSpec { method: Method::Of(&LocalNull), ..DigitSpec::new(257, 2, 1) };
    assert!(matches!(refuse(local), Error::Unplannable { .. }));
    assert!("chen-hahn".parse::<Method>().is_err());
    assert_eq!("chen-han".parse::<Method>().unwrap().to_string(), "chen-han");
    assert_ne!(Method::Of(&ChenHan), Method::Of(&HaleviShoup));
}

/// A plan knows the digits to one prime, up to one power of it.
#[test]
fn ciphertexts_of_other_moduli_are_refused() {
    let context = context(Scheme::Bgv, (3, 3), chain(64, &[50; 9], &[50; 3]));
    let (client, server) = context.generate_keys_from_seed([&Products], 5).unwrap();
    let x = client.encrypt(&[5]).unwrap();
    for spec in [DigitSpec::new(2, 5, 2), DigitSpec::new(5, 4, 2), DigitSpec::new(3, 2, 1)] {
        let refused = DigitRemoval::new(spec).unwrap().apply(server.engine(), &x).map(drop);
        assert!(matches!(refused, Err(Error::ContextMismatch { .. })), "{spec:?}: {refused:?}");
    }
    let all = DigitRemoval::new(DigitSpec::new(3, 4, 3)).unwrap().apply(server.engine(), &x).map(drop);
    assert_eq!(all, Err(Error::NotDivisible { prime: 3, exponent: 3 }));
}

#[test]
fn digits_of_ciphertexts() {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    for (m, p, e, v, bound) in [
        (105, 2, 8, 7, None),
        (64, 3, 3, 1, None),
        (64, 257, 2, 1, Some(8)),
        (64, 257, 2, 1, Some(12)),
        (64, 257, 2, 1, Some(13)),
    ] {
        let removal = DigitRemoval::new(DigitSpec { bound, ..DigitSpec::new(p, e, v) }).unwrap();
        let half = bound.unwrap_or((p.pow(v) - 1) / 2);
        let context = context(Scheme::Bgv, (p, e), chain(m, &[50; 9], &[50; 3]));
        let inputs: Vec<u64> = (0..context.slots())
            .map(|_| (rng.next_u64() % p.pow(e - v) * p.pow(v) + rng.next_u64() % (half + 1)) % p.pow(e))
            .collect();
        let wanted: Vec<u64> = inputs.iter().map(|&x| expected(removal.spec(), x)).collect();
        for scheme in SCHEMES {
            let context = context.with_scheme(scheme).unwrap();
            let (client, server) = context.generate_keys_from_seed([&removal], 5).unwrap();
            let image = removal.apply(server.engine(), &client.encrypt(&inputs).unwrap()).unwrap();
            assert_eq!(client.decrypt(&image).unwrap(), wanted, "{scheme} {}", removal.explain());
        }
    }
}

#[test]
fn methods_are_chosen_by_name_and_cite_their_papers() {
    let known = [
        ("halevi-shoup", "Halevi–Shoup 2015"),
        ("chen-han", "Chen–Han 2018"),
        ("least-degree", "2022/1364"),
        ("local-null", "2024/115"),
        ("root-products", "2024/115"),
        ("searched", "2025/864"),
    ];
    assert_eq!(DIGIT_METHODS.len(), known.len());
    for (method, (name, paper)) in DIGIT_METHODS.iter().zip(known) {
        assert_eq!((method.name(), name.parse::<Method>().unwrap().name()), (name, name));
        assert!(method.citation().contains(paper), "{}", method.citation());
    }
}

/// The second square of a bit gains two precisions (Halevi–Shoup 2015, §5.3.1): 5 + 4 + 3 + 2 + 2 +
/// 1 products for six digits, not 6 + 5 + 4 + 3 + 2 + 1.
#[test]
fn squares_of_squares_save_a_step() {
    let spec = DigitSpec { method: Method::Of(&HaleviShoup), ..DigitSpec::new(2, 7, 6) };
    assert_eq!(DigitRemoval::new(spec).unwrap().products(), 17);
}

/// The chain of bits, on every residue of 2^8 and on random ones up to 2^44; its products are
/// counted by [`check`]. (A test beside it takes every residue of 2^16 through its values.)
#[test]
fn chains_of_bits() {
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    for (e, v, products, depth) in
        [(8, 6, 16, 7), (16, 8, 32, 11), (16, 15, 49, 15), (21, 13, 57, 16), (22, 21, 79, 21), (44, 3, 21, 9)]
    {
        let spec = DigitSpec { method: Method::Of(&Searched), ..DigitSpec::new(2, e, v) };
        let removal = DigitRemoval::new(spec).unwrap();
        assert_eq!((removal.products(), removal.depth()), (products, depth), "{}", removal.explain());
        let slots = Arc::new(SlotRing::new(1023, 2, e, Isa::best()).unwrap());
        let random = (0..4 * slots.slots()).map(|_| rng.next_u64() % (1 << e)).collect();
        let inputs: Vec<u64> = if e <= 8 { (0..1 << e).collect() } else { random };
        check(&slots, &removal, &inputs);
    }
    let too_far = DigitSpec { method: Method::Of(&Searched), ..DigitSpec::new(2, 45, 1) };
    assert!(DigitRemoval::new(too_far).is_err());
    let other_prime = DigitSpec { method: Method::Of(&Searched), ..DigitSpec::new(3, 4, 1) };
    assert!(matches!(DigitRemoval::new(other_prime), Err(Error::Unplannable { .. })));
    assert_eq!(DigitRemoval::new(DigitSpec::new(2, 21, 13)).unwrap().spec().method.name(), "searched");
}

/// One product for each digit where one bit is left, by default.
#[test]
fn halvings_take_one_product_for_each_digit() {
    for v in 1..=7 {
        let removal = DigitRemoval::new(DigitSpec::new(2, v + 1, v)).unwrap();
        assert_eq!((removal.products(), removal.depth()), (v as usize, v as usize), "{}", removal.explain());
        let slots = Arc::new(SlotRing::new(1023, 2, v + 1, Isa::best()).unwrap());
        check(&slots, &removal, &(0..2 << v).collect::<Vec<u64>>());
    }
    // Beyond, digits have rows of their own.
    assert!(DigitRemoval::new(DigitSpec::new(2, 9, 8)).unwrap().products() > 8);
}

/// The square of a square of a bit knows it modulo 16; a square of anything else gains one bit.
#[test]
fn squares_gain_two_bits_of_squares_alone() {
    let gains = |from, is_square| {
        let step = DigitStep { prime: 2, from, to: from + 1, digits: 0..=1, occurring: 0..=1, is_square };
        step.squaring().unwrap().precision - from
    };
    assert_eq!([gains(1, false), gains(2, false), gains(2, true), gains(3, true)], [1, 1, 2, 1]);
}

/// ℓ is the largest with p^ℓ < (p − 1)(e − 1) + 1, by hand, and 1 at least.
#[test]
fn algorithm_1_lifts_to_precision_l() {
    for (p, e, l) in [(2, 21, 4), (2, 17, 4), (2, 16, 3), (5, 6, 1), (5, 7, 1), (5, 8, 2), (17, 2, 1)] {
        let routes = ChenHan.routes(&DigitSpec::new(p, e, 1)).into_iter().map(|route| route.last);
        assert_eq!(routes.collect::<Vec<_>>(), [LastStep::Direct, LastStep::DirectBeyond(l)], "{p}^{e}");
    }
}

/// Chen–Han's Algorithm 1 lifts to precision ℓ alone: fewer products than lifting as far as others
/// need (§3.2), of which the planner takes the cheaper.
#[test]
fn algorithm_1_lifts_no_further_than_it_pays() {
    for (p, e, v, products, before) in
        [(2, 21, 13, 119, 164), (2, 16, 8, 63, 63), (5, 6, 3, 25, 30), (17, 4, 2, 26, 30)]
    {
        let of = |depth_weight| {
            let spec = DigitSpec { method: Method::Of(&ChenHan), depth_weight, ..DigitSpec::new(p, e, v) };
            DigitRemoval::new(spec).unwrap()
        };
        let (few, shallow) = (of(0.0), of(1e6));
        assert_eq!((few.products(), shallow.products()), (products, before), "{}", few.explain());
        assert!(shallow.depth() < few.depth() || before == products);
    }
}

/// Algorithm 1 against Appendix C of Chen–Han: Σ W((e − i)(p − 1) + 1) for i = 1, .., v and
/// ℓ·v·W(p) products, W(n) = √(2n). Ours stay below, and above half of it: only lifts that are used
/// count.
#[test]
fn algorithm_1_stays_below_the_count_of_appendix_c() {
    for (p, e, v) in [(2u64, 11u32, 5u32), (2, 16, 8), (2, 21, 13), (5, 6, 3), (17, 4, 2), (31, 3, 1), (127, 3, 1)] {
        let products = |degree: u64| (2.0 * degree as f64).sqrt();
        let lifts = (((e as u64 - 1) * (p - 1) + 1) as f64).log(p as f64).floor();
        let retained: f64 = (1..=v).map(|i| products((e - i) as u64 * (p - 1) + 1)).sum();
        let stated = retained + lifts * f64::from(v) * products(p);
        let spec = DigitSpec { method: Method::Of(&ChenHan), depth_weight: 0.0, ..DigitSpec::new(p, e, v) };
        let ours = DigitRemoval::new(spec).unwrap().products() as f64;
        assert!(ours <= stated && 2.0 * ours >= stated, "({p}, {e}, {v}): {ours} for {stated:.1}");
    }
}

/// A bound above what digits can be is none, and ranges of digits are the caller's.
#[test]
fn bounds_and_digits_beyond_their_base() {
    let spec = DigitSpec { method: Method::Of(&LocalNull), ..DigitSpec::new(7, 3, 2) };
    let plan = |bound| DigitRemoval::new(DigitSpec { bound: Some(bound), ..spec }).unwrap().explain();
    let all = plan((7 * 7 - 1) / 2);
    for bound in [25, 1 << 62, 1 << 63, u64::MAX - 1, u64::MAX] {
        assert_eq!(plan(bound), all, "{bound}");
    }
    let step = DigitStep { prime: 7, from: 1, to: 2, digits: -3..=3, occurring: -3..=3, is_square: false };
    assert!(step.least_degree(&(-3..=3)).is_ok() && step.least_degree(&(0..=6)).is_ok());
    #[expect(clippy::reversed_empty_ranges, reason = "no digits")]
    let ranges = [1..=0, 3..=-3, -3..=4, 0..=7, 7..=8, i64::MIN..=0, 0..=i64::MAX, i64::MAX..=i64::MAX];
    for digits in ranges {
        assert!(matches!(step.least_degree(&digits), Err(Error::OutOfRange(_))), "{digits:?}");
    }
    let unknown = DigitStep { from: 0, ..step };
    assert!(matches!(unknown.least_degree(&(-3..=3)), Err(Error::OutOfRange(_))));
}

/// What is removed and what is kept, as circuits of a server; moduli that do not fit are refused.
#[test]
fn digits_are_dropped_or_kept_at_the_front_door() {
    let removal = DigitRemoval::new(DigitSpec::new(3, 4, 2)).unwrap();
    let retention = DigitRetention::new(removal.clone());
    let spec = chain(121, &[50; 10], &[50; 4]);
    let inputs: Vec<u64> = (0..81).step_by(4).collect();
    let dropped: Vec<u64> = inputs.iter().map(|&x| expected(removal.spec(), x)).collect();
    let kept: Vec<u64> = inputs.iter().zip(&dropped).map(|(x, high)| (x + 81 - 9 * high) % 81).collect();
    // Balanced: at most 4 of both signs.
    assert!(kept.iter().all(|&x| x <= 4 || x >= 77), "{kept:?}");
    for scheme in SCHEMES {
        let context = context(scheme, (3, 4), spec.clone());
        let (client, server) = context.generate_keys_from_seed([&removal], 6).unwrap();
        let slots = inputs.len();
        let x = client.encrypt(&inputs).unwrap();
        let high = server.apply(&removal, &x).unwrap();
        let low = server.apply(&retention, &x).unwrap();
        assert_eq!(client.decrypt(&high).unwrap()[..slots], dropped, "{scheme}");
        assert_eq!(client.decrypt(&low).unwrap()[..slots], kept, "{scheme}");

        // Modulo 27 one digit is left; of modulo 9 none would be.
        let smaller = server.reduce_exponent(&x, 3).unwrap();
        let rest: Vec<u64> = dropped.iter().map(|x| x % 3).collect();
        assert_eq!(client.decrypt(&server.apply(&removal, &smaller).unwrap()).unwrap()[..slots], rest, "{scheme}");
        let none = server.reduce_exponent(&smaller, 2).unwrap();
        assert!(matches!(server.apply(&removal, &none), Err(Error::NotDivisible { prime: 3, exponent: 2 })));
        for exponent in [0, 4] {
            assert!(matches!(server.reduce_exponent(&none, exponent), Err(Error::OutOfRange(_))));
        }

        // A plan for fewer digits than the ciphertext has, and one for another prime.
        for other in [DigitSpec::new(3, 3, 2), DigitSpec::new(5, 4, 2)] {
            let refused = server.apply(&DigitRemoval::new(other).unwrap(), &x);
            assert!(matches!(refused, Err(Error::ContextMismatch { .. })), "{other:?}");
        }
    }
}

/// Times p and through p, modulo smaller powers and back: the mock and both schemes.
#[test]
fn moduli_fall_and_rise_by_powers_of_p() {
    let inputs = [5u64, 200, 24, 0, 120, 77, 3, 199];
    let small = inputs.map(|x| x % 25);
    for scheme in SCHEMES {
        let context = context(scheme, (5, 4), chain(31, &[50; 3], &[50; 2]));
        let (client, server) = context.generate_keys_from_seed([&Products], 7).unwrap();
        let engine = server.engine();
        let slots = inputs.len();
        let x = server.reduce_exponent(&client.encrypt(&inputs).unwrap(), 2).unwrap();
        assert_eq!(client.decrypt(&x).unwrap()[..slots], small);
        let fivefold = engine.multiply_by_p(&x).unwrap();
        assert_eq!((engine.exponent_of(&fivefold), fivefold.exponent()), (3, 3));
        assert_eq!(client.decrypt(&fivefold).unwrap()[..slots], small.map(|x| 5 * x), "{scheme}");
        assert_eq!(client.decrypt(&engine.divide_by_p(&fivefold).unwrap()).unwrap()[..slots], small);
        let top = engine.multiply_by_p(&fivefold).unwrap();
        assert!(matches!(engine.multiply_by_p(&top), Err(Error::OutOfRange(_))));
        // A product with what was never divided meets it modulo the same power.
        let product = server.multiply(&top, &client.encrypt(&inputs).unwrap()).unwrap();
        let squares = inputs.map(|x| x % 25 * 25 % 625 * x % 625);
        assert_eq!(client.decrypt(&product).unwrap()[..slots], squares, "{scheme}");

        let clear = Clear::new(context.slot_ring());
        let y = clear.encrypt(&Plaintext::from_integers(context.slot_ring(), &inputs).unwrap()).unwrap();
        let y = clear.multiply_by_p(&clear.reduce_exponent(&y, 2).unwrap()).unwrap();
        assert_eq!(y.plaintext().to_integers().unwrap()[..slots], small.map(|x| 5 * x));
        assert!(matches!(clear.reduce_exponent(&y, 4), Err(Error::OutOfRange(_))));
    }
}

/// Fixed-point products to base 3 on the mock, with every sign, against integers: rounded to the
/// nearest, modulo 3^8, 3^6, 3^4; the last of them has no digit left to lose.
#[test]
fn fixed_point_products_round_to_the_nearest() {
    let product = FixedPointProduct::new(3, 8, 2).unwrap();
    let places: Vec<(u32, u32)> = product.rescalings().iter().map(|r| (r.spec().exponent, r.spec().removed)).collect();
    assert_eq!(places, [(8, 2), (6, 2), (4, 2)]);
    let slots = Arc::new(SlotRing::new(121, 3, 8, Isa::best()).unwrap());
    let clear = Clear::new(&slots);
    let encrypt = |values: &[i64]| clear.encrypt(&Plaintext::from_integers(&slots, values).unwrap()).unwrap();
    let centred = |x: u64, whole: i64| if 2 * x as i64 > whole { x as i64 - whole } else { x as i64 };
    let nearest = |x: i64| (x + 4).div_euclid(9);
    let numbers: Vec<i64> = (-10..=11).collect();
    let (x, mut power, mut expected) = (encrypt(&numbers), encrypt(&numbers), numbers.clone());
    for (exponent, rescaling) in [6, 4, 2].into_iter().zip(product.rescalings()) {
        let before = clear.counts().products;
        power = product.apply(&clear, &power, &x).unwrap();
        assert_eq!(clear.counts().products - before, rescaling.products() + 1, "to 3^{exponent}");
        expected.iter_mut().zip(&numbers).for_each(|(y, x)| *y = nearest(*y * x));
        assert_eq!(power.exponent(), exponent);
        let whole = 3i64.pow(exponent);
        let got = power.plaintext().to_integers().unwrap();
        for (got, wanted) in got.into_iter().zip(&expected) {
            // Modulo 9 not every one of them can be told from its residue.
            let wanted = if exponent > 2 { *wanted } else { centred(wanted.rem_euclid(whole) as u64, whole) };
            assert_eq!(centred(got, whole), wanted, "modulo 3^{exponent}");
        }
    }
    assert!(matches!(product.apply(&clear, &power, &x), Err(Error::NotDivisible { prime: 3, exponent: 2 })));
    let short = FixedPointProduct::new(3, 6, 2).unwrap();
    assert!(matches!(short.apply(&clear, &x, &x), Err(Error::ContextMismatch { .. })));
    assert!(matches!(FixedPointProduct::new(3, 2, 2), Err(Error::OutOfRange(_))));
    // Neither factor may be of elements, and nothing is multiplied before that is seen.
    let elements = clear.encrypt(&random(&slots, Content::Elements, 1)).unwrap();
    let before = clear.counts().products;
    for (a, b) in [(&elements, &x), (&x, &elements)] {
        assert!(matches!(product.apply(&clear, a, b), Err(Error::NotIntegers { .. })));
    }
    assert_eq!(clear.counts().products, before);
}

/// A plan for e digits on integers modulo smaller powers of p: as many digits go.
#[test]
fn plans_serve_smaller_moduli() {
    for (m, p, e, v) in [(1023, 2, 8, 3), (1023, 2, 5, 4), (121, 3, 4, 2)] {
        let slots = Arc::new(SlotRing::new(m, p, e, Isa::best()).unwrap());
        let clear = Clear::new(&slots);
        let methods = METHODS.into_iter().chain((p == 2).then_some(Method::Of(&Searched)));
        for method in methods {
            let removal = DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) }).unwrap();
            for exponent in v + 1..=e {
                let all: Vec<u64> = (0..p.pow(exponent)).collect();
                let smaller = DigitSpec { exponent, ..*removal.spec() };
                for batch in all.chunks(slots.slots()) {
                    let whole = clear.encrypt(&Plaintext::from_integers(&slots, batch).unwrap()).unwrap();
                    let x = clear.reduce_exponent(&whole, exponent).unwrap();
                    let got = removal.apply(&clear, &x).unwrap().plaintext().to_integers().unwrap();
                    let wanted: Vec<u64> = batch.iter().map(|&x| expected(&smaller, x)).collect();
                    assert_eq!(got[..batch.len()], wanted, "modulo {p}^{exponent}: {}", removal.explain());
                }
            }
        }
    }
}

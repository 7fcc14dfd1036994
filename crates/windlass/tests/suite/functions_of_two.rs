//! Functions of two values in each slot: comparisons, membership in encrypted lists, inner
//! products; and what must hold integers for them.

use std::sync::Arc;

use rayon::prelude::*;
use windlass::circuits::{
    Comparison, DigitRemoval, DigitSpec, InnerProduct, Membership, PublicInnerProduct, SlotFunction,
};
use windlass::needs::Products;
use windlass::ring::{kernels::Isa, slots::SlotRing};
use windlass::schemes::clear::{Clear, ClearCiphertext};
use windlass::{Content, Context, Error, Evaluator, Plaintext, Scheme};

/// (m, p): one slot degree above 1 at least, and every kind of p.
const RINGS: [(u64, u64); 4] = [(105, 2), (32, 3), (64, 7), (64, 17)];

fn ring(m: u64, p: u64) -> Arc<SlotRing> {
    Arc::new(SlotRing::new(m, p, 1, Isa::best()).unwrap())
}

/// What a function makes of every pair of residues, slot by slot on the mock.
fn on_all_pairs(ring: &Arc<SlotRing>, function: impl Fn(&Clear, &[ClearCiphertext; 2]) -> ClearCiphertext) -> Vec<u64> {
    let (clear, p) = (Clear::new(ring), ring.prime());
    let pairs: Vec<(u64, u64)> = (0..p).flat_map(|a| (0..p).map(move |b| (a, b))).collect();
    let mut values = Vec::new();
    for some in pairs.chunks(ring.slots()) {
        let encrypt = |list: Vec<u64>| clear.encrypt(&Plaintext::from_integers(ring, &list).unwrap()).unwrap();
        let both = [encrypt(some.iter().map(|x| x.0).collect()), encrypt(some.iter().map(|x| x.1).collect())];
        let image = clear.decrypt(&function(&clear, &both)).to_integers().unwrap();
        values.extend_from_slice(&image[..some.len()]);
    }
    values
}

#[test]
fn every_pair_of_residues() {
    for (m, p) in RINGS {
        let ring = ring(m, p);
        let pairs = || (0..p).flat_map(|a| (0..p).map(move |b| (a, b)));
        let equals = Comparison::equals(&ring).unwrap();
        let got = on_all_pairs(&ring, |clear, [a, b]| equals.apply(clear, a, b).unwrap());
        assert_eq!(got, pairs().map(|(a, b)| u64::from(a == b)).collect::<Vec<_>>(), "equality, p = {p}");
        // The members of the list are functions of the pair: b and b + 1.
        let member = Membership::new(&ring, 2).unwrap();
        let got = on_all_pairs(&ring, |clear, [a, b]| {
            let next = clear.add_plain(b, &Plaintext::one(&ring)).unwrap();
            member.apply(clear, a, &[b.clone(), next]).unwrap()
        });
        let wanted = pairs().map(|(a, b)| u64::from(a == b || a == (b + 1) % p));
        assert_eq!(got, wanted.collect::<Vec<_>>(), "membership, p = {p}");
        // Order is that of integers that are near to each other.
        let bound = (p - 1) / 2;
        let less = Comparison::is_less(&ring, bound).unwrap();
        let got = on_all_pairs(&ring, |clear, [a, b]| less.apply(clear, a, b).unwrap());
        for ((a, b), got) in pairs().zip(got).filter(|((a, b), _)| a.abs_diff(*b) <= bound) {
            assert_eq!(got, u64::from(a < b), "{a} < {b}, p = {p}");
        }
        assert!(matches!(Comparison::is_less(&ring, bound + 1), Err(Error::OutOfRange { .. })));
        assert!(matches!(Membership::new(&ring, 0), Err(Error::OutOfRange { .. })));
    }
    assert!(matches!(
        Comparison::equals(&SlotRing::new(64, 7, 2, Isa::best()).unwrap()),
        Err(Error::Unplannable { .. })
    ));
}

/// The counts that are stated are those of the mock.
#[test]
fn products_are_as_many_as_stated() {
    let ring = ring(64, 17);
    let clear = Clear::new(&ring);
    let x = clear.encrypt(&Plaintext::from_integers(&ring, &[1, 2, 3]).unwrap()).unwrap();
    let count = |work: &dyn Fn()| {
        let before = clear.counts().products;
        work();
        clear.counts().products - before
    };
    let (equals, member) = (Comparison::equals(&ring).unwrap(), Membership::new(&ring, 5).unwrap());
    assert_eq!(count(&|| drop(equals.apply(&clear, &x, &x).unwrap())), equals.products());
    assert_eq!(count(&|| drop(member.apply(&clear, &x, &vec![x.clone(); 5]).unwrap())), member.products());
    assert_eq!((equals.depth(), member.depth()), (4, 3 + 4));
    assert!(matches!(member.apply(&clear, &x, &[]), Err(Error::ShapeMismatch { expected: 5, got: 0, .. })));
}

#[test]
fn servers_run_them_on_both_schemes() {
    let (a, b) = ([3, 256, 7, 100, 9], [5, 256, 6, 93, 10]);
    let list = [[9, 1, 2, 3, 4], [3, 8, 2, 100, 6], [1, 2, 3, 4, 5]];
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset("insecure_toy_256").unwrap().with_scheme(scheme).unwrap();
        let (equals, less) = (Comparison::equals(&context).unwrap(), Comparison::is_less(&context, 10).unwrap());
        let member = Membership::new(&context, list.len()).unwrap();
        let inner = InnerProduct::new(&context).unwrap();
        let public = PublicInnerProduct::new(&context, &b).unwrap();
        let keys = context.generate_keys_from_seed([&equals, &less, &member, &inner, &public], 31);
        let (client, server) = keys.unwrap();
        let encrypt = |values: &[i32]| client.encrypt(values).unwrap();
        let (x, y) = (encrypt(&a), encrypt(&b));
        let values: Vec<_> = list.iter().map(|values| encrypt(values)).collect();
        let decrypt = |ct| client.decrypt(&ct).unwrap();
        assert_eq!(decrypt(server.apply(&equals, (&x, &y)).unwrap())[..6], [0, 1, 0, 0, 0, 1], "{scheme}");
        assert_eq!(decrypt(server.apply(&less, (&x, &y)).unwrap())[..5], [1, 0, 0, 0, 1], "{scheme}");
        assert_eq!(decrypt(server.apply(&member, (&x, &values)).unwrap())[..5], [1, 0, 0, 1, 0], "{scheme}");
        let sum = a.iter().zip(&b).map(|(a, b)| a * b).sum::<i32>() as u64 % 257;
        let everywhere = vec![sum; context.slots()];
        assert_eq!(decrypt(server.apply(&inner, (&x, &y)).unwrap()), everywhere, "{scheme}");
        for _ in 0..2 {
            assert_eq!(decrypt(server.apply(&public, &x).unwrap()), everywhere, "{scheme}");
        }
        let products = decrypt(server.sum_of_products(&[(&x, &y), (&x, &x), (&values[0], &y)]).unwrap());
        let wanted = (0..5).map(|i| (a[i] * b[i] + a[i] * a[i] + list[0][i] * b[i]) as u64 % 257);
        assert_eq!(products[..5], wanted.collect::<Vec<_>>(), "{scheme}");
        assert!(matches!(server.sum_of_products(&[]), Err(Error::ShapeMismatch { .. })));
    }
}

#[test]
fn servers_without_their_keys_say_who_needs_them() {
    let context = Context::preset("insecure_toy_256").unwrap();
    let inner = InnerProduct::new(&context).unwrap();
    let public = PublicInnerProduct::new(&context, &[1, 2]).unwrap();
    let (equals, member) = (Comparison::equals(&context).unwrap(), Membership::new(&context, 2).unwrap());
    let (client, server) = context.generate_keys_from_seed([&public], 32).unwrap();
    let x = client.encrypt(&[1, 2]).unwrap();
    // The automorphisms are those of the public vector, which needs no products.
    assert!(server.apply(&public, &x).is_ok());
    let pair = [x.clone(), x.clone()];
    for (refused, who) in [
        (server.apply(&inner, (&x, &x)), "inner product"),
        (server.apply(&equals, (&x, &x)), "equality"),
        (server.apply(&member, (&x, &pair)), "list of 2"),
        (server.sum_of_products(&[(&x, &x)]), "product"),
    ] {
        let Err(Error::MissingKeys { needed_by, galois, relinearisation, .. }) = refused else { panic!("{refused:?}") };
        assert!(needed_by.contains(who) && galois.is_empty() && relinearisation, "{needed_by}");
    }
    let (_, server) = context.mock().generate_keys([&Products]).unwrap();
    let (client, _) = context.mock().generate_keys([]).unwrap();
    let x = client.encrypt(&[1]).unwrap();
    let refused = server.apply(&inner, (&x, &x)).unwrap_err();
    let wanted: Vec<u64> = inner.total().required_keys().into_iter().collect();
    assert!(matches!(&refused, Error::MissingKeys { galois, relinearisation: false, .. } if *galois == wanted));
}

/// What is left of two spent ciphertexts is not enough for an indicator of degree 256.
#[test]
fn they_refresh_by_themselves() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset("insecure_boot_256_p257").unwrap().with_scheme(scheme).unwrap();
        let (equals, member) = (Comparison::equals(&context).unwrap(), Membership::new(&context, 3).unwrap());
        let inner = InnerProduct::new(&context).unwrap();
        let bootstrapping = context.bootstrapping().unwrap();
        let needs: [&dyn windlass::NeedsKeys; 4] = [&equals, &member, &inner, &bootstrapping];
        let (client, server) = context.generate_keys_from_seed(needs, 33).unwrap();
        let spent = |values: &[i32]| {
            let engine = server.engine();
            let fresh = client.encrypt(values).unwrap();
            engine.reduce_level(&fresh, bootstrapping.least_input_bits() + 20.0).unwrap()
        };
        let (x, y) = (spent(&[3, 256, 7]), spent(&[3, 1, 7]));
        let list = [spent(&[1, 2, 3]), spent(&[3, 4, 5]), spent(&[0, 256, 6])];
        let decrypt = |ct| client.decrypt(&ct).unwrap();
        let before = server.capacity(&x);
        let image = server.apply(&equals, (&x, &y)).unwrap();
        assert!(server.capacity(&image) > 0.0 && before < 150.0, "{before}");
        assert_eq!(decrypt(image)[..4], [1, 0, 1, 1], "{scheme}");
        assert_eq!(decrypt(server.apply(&member, (&x, &list)).unwrap())[..4], [1, 1, 0, 1], "{scheme}");
        assert_eq!(decrypt(server.apply(&inner, (&x, &y)).unwrap())[0], (9 + 256 + 49) % 257, "{scheme}");
    }
}

/// The bootstrapping is made ready once, whoever comes first, by tasks that all wait for it.
#[test]
fn first_refreshes_may_come_from_many_tasks_at_once() {
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    let bootstrapping = context.bootstrapping().unwrap();
    for threads in [2, 4] {
        let (client, server) = context.generate_keys_from_seed([&bootstrapping], 35).unwrap();
        let fresh = client.encrypt(&[3, 256, 7]).unwrap();
        let spent = server.engine().reduce_level(&fresh, bootstrapping.least_input_bits() + 4.0).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let squares: Vec<_> = pool.install(|| (0..8).into_par_iter().map(|_| server.square(&spent)).collect());
        for square in squares {
            assert_eq!(client.decrypt(&square.unwrap()).unwrap()[..3], [9, 1, 49]);
        }
    }
}

/// `x^{p−1}` is 1 for units of the integers, and not for those of their extension.
#[test]
fn slots_with_elements_are_refused() {
    let context = Context::preset("insecure_toy_105").unwrap();
    let is_zero = SlotFunction::is_zero(&context).unwrap();
    let (equals, member) = (Comparison::equals(&context).unwrap(), Membership::new(&context, 1).unwrap());
    let (client, server) = context.generate_keys_from_seed([&Products], 34).unwrap();
    let d = context.slot_ring().degree();
    let one_everywhere: Vec<u64> = (0..context.slots() * d).map(|i| u64::from(i % d == 0)).collect();
    let elements = client.encrypt_elements(&one_everywhere).unwrap();
    let integers = client.encrypt(&vec![1; context.slots()]).unwrap();
    let list = [elements.clone()];
    for refused in [
        server.apply(&is_zero, &elements),
        server.apply(&equals, (&integers, &elements)),
        server.apply(&member, (&integers, &list)),
    ] {
        let Err(Error::NotIntegers { circuit }) = refused else { panic!("{refused:?}") };
        assert!(circuit.contains("modulo 2") || circuit.contains("list of 1"), "{circuit}");
    }
    let (mock, clear) = context.mock().generate_keys([&Products]).unwrap();
    let element = Plaintext::from_slots(context.slot_ring(), &one_everywhere).unwrap();
    let of_mock = clear.engine().encrypt(&element).unwrap();
    assert!(matches!(clear.apply(&is_zero, &of_mock), Err(Error::NotIntegers { .. })));
    assert_eq!(of_mock.content(), Content::Elements);
    // Integers pass, also those that the caller knows.
    let zeros = vec![0; context.slots()];
    let known = elements.assume_integers();
    assert_eq!(client.decrypt(&server.apply(&is_zero, &known).unwrap()).unwrap(), zeros);
    assert_eq!(client.decrypt(&server.apply(&is_zero, &integers).unwrap()).unwrap(), zeros);
    assert_eq!(mock.decrypt(&clear.apply(&is_zero, &of_mock.assume_integers()).unwrap()).unwrap(), zeros);
}

/// Digits are those of integers: of an element the polynomials make something else.
#[test]
fn digits_of_elements_are_refused() {
    let ring = Arc::new(SlotRing::new(105, 2, 3, Isa::best()).unwrap());
    let clear = Clear::new(&ring);
    let removal = DigitRemoval::new(DigitSpec::new(2, 3, 1)).unwrap();
    let one = vec![1; ring.slots() * ring.degree()];
    let elements = clear.encrypt(&Plaintext::from_slots(&ring, &one).unwrap()).unwrap();
    assert!(matches!(removal.apply(&clear, &elements), Err(Error::NotIntegers { .. })));
    let integers = clear.encrypt(&Plaintext::from_integers(&ring, &[2, 4, 6]).unwrap()).unwrap();
    let halves = clear.decrypt(&removal.apply(&clear, &integers).unwrap()).to_integers().unwrap();
    assert_eq!(halves[..4], [1, 2, 3, 0]);
}

/// Along a bad dimension automorphisms move integers alone.
#[test]
fn inner_products_of_elements_need_good_dimensions() {
    for (m, p, good) in [(64, 17, false), (127, 2, true)] {
        let ring = ring(m, p);
        assert_eq!(ring.hypercube().dimensions().iter().all(|dimension| dimension.good), good, "m = {m}");
        let clear = Clear::new(&ring);
        let inner = InnerProduct::new(&ring).unwrap();
        let elements: Vec<u64> = (0..(ring.slots() * ring.degree()) as u64).map(|i| i % p).collect();
        let x = clear.encrypt(&Plaintext::from_slots(&ring, &elements).unwrap()).unwrap();
        match inner.apply(&clear, &x, &x) {
            Ok(image) if good => {
                let square = clear.decrypt(&clear.square(&x).unwrap()).to_slots();
                let d = ring.degree();
                let sum: Vec<u64> = (0..d).map(|k| square.iter().skip(k).step_by(d).sum::<u64>() % p).collect();
                assert_eq!(clear.decrypt(&image).to_slots(), sum.repeat(ring.slots()));
            }
            Err(Error::NotIntegers { .. }) if !good => {}
            other => panic!("m = {m}: {other:?}"),
        }
    }
}

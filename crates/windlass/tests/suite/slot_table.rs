//! Tables over all residues modulo p^r: every entry, on the exact mock, for all kinds of p^r.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::circuits::SlotTable;
use windlass::ring::{kernels::Isa, slots::SlotRing};
use windlass::schemes::clear::Clear;
use windlass::{Content, Context, Error, Evaluator, Plaintext, Scheme};

use crate::fixture;

/// (m, p, r): slots of degree above 1, except in the rings with m = 12 and 16.
const RINGS: [(u64, u64, u32); 23] = [
    (105, 2, 1),
    (105, 2, 2),
    (105, 2, 3),
    (105, 2, 4),
    (105, 2, 5),
    (255, 2, 8),
    (80, 3, 1),
    (80, 3, 2),
    (80, 3, 3),
    (80, 3, 4),
    (80, 3, 5),
    (48, 5, 1),
    (48, 5, 2),
    (48, 5, 3),
    (48, 7, 2),
    (40, 11, 2),
    (56, 13, 2),
    (12, 13, 2),
    (16, 17, 1),
    (48, 17, 1),
    (64, 127, 1),
    (63, 251, 1),
    (127, 2, 8),
];

fn ring((m, p, r): (u64, u64, u32)) -> Arc<SlotRing> {
    Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap())
}

fn random_values(modulus: u64, seed: u64) -> Vec<u64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..modulus).map(|_| rng.next_u64() % modulus).collect()
}

/// What the table makes of every residue; the products that were done are those that it states.
fn on_all_residues(ring: &Arc<SlotRing>, table: &SlotTable) -> Vec<u64> {
    let (clear, mut values) = (Clear::new(ring), Vec::new());
    let residues: Vec<u64> = (0..ring.modulus().value()).collect();
    for (run, some) in (1..).zip(residues.chunks(ring.slots())) {
        let x = clear.encrypt(&Plaintext::from_integers(ring, some).unwrap()).unwrap();
        let image = table.apply(&clear, &x).unwrap();
        assert_eq!(clear.counts().products, run * table.products(), "{}", table.explain());
        assert_eq!((clear.counts().automorphisms, image.content()), (0, Content::Integers));
        assert_eq!(image.exponent(), ring.modulus().exponent());
        values.extend_from_slice(&clear.decrypt(&image).to_integers().unwrap()[..some.len()]);
    }
    values
}

#[test]
fn every_entry_of_every_table() {
    for set in RINGS {
        let ring = ring(set);
        let (modulus, p) = (ring.modulus().value(), ring.prime());
        let mut tables = vec![random_values(modulus, 1), random_values(modulus, 2)];
        tables.push((0..modulus).map(|x| x / p).collect());
        tables.push((0..modulus).map(|x| x % p * (modulus / p)).collect());
        tables.push((0..modulus).map(|x| u64::from(x > modulus / 2)).collect());
        tables.push((0..modulus).map(|x| u64::from(x == modulus - 1)).collect());
        tables.push((0..modulus).map(|x| x * x % modulus).collect());
        for values in tables {
            let table = SlotTable::new(&ring, &values).unwrap();
            assert_eq!(on_all_residues(&ring, &table), values, "{set:?}: {}", table.explain());
        }
    }
}

/// What is said of costs, by random tables, which are the most expensive.
#[test]
fn tables_take_so_many_products() {
    let cost = |set| {
        let ring = ring(set);
        let table = SlotTable::new(&ring, &random_values(ring.modulus().value(), 3)).unwrap();
        (table.products(), table.relinearisations(), table.depth())
    };
    let sets = [(105, 2, 1), (80, 3, 1), (48, 5, 1), (48, 17, 1), (64, 127, 1), (63, 251, 1)];
    assert_eq!(sets.map(cost), [(0, 0, 0), (1, 1, 1), (2, 2, 2), (7, 6, 4), (24, 21, 7), (33, 26, 8)]);
    let sets = [(105, 2, 2), (105, 2, 3), (105, 2, 4), (255, 2, 8), (80, 3, 2), (80, 3, 5), (48, 5, 2), (56, 13, 2)];
    let costs = [(2, 2, 2), (8, 8, 5), (17, 17, 7), (79, 65, 13), (8, 7, 6), (75, 63, 15), (16, 13, 9), (48, 35, 13)];
    assert_eq!(sets.map(cost), costs);
}

#[test]
fn polynomials_cost_what_their_degree_asks_for() {
    let cost = |set, f: fn(u64) -> u64| {
        let ring = ring(set);
        let modulus = ring.modulus().value();
        let table = SlotTable::from_fn(&ring, |x| f(x) % modulus).unwrap();
        (table.products(), table.depth())
    };
    for set in RINGS {
        assert_eq!(cost(set, |_| 1), (0, 0), "constant, {set:?}");
        assert_eq!(cost(set, |x| x + 1), (0, 0), "affine, {set:?}");
        assert!(cost(set, |x| x * x) <= (1, 1), "a square, {set:?}");
    }
    // The top bit alone of 2^8 needs no digit more precisely than modulo 2.
    let (top, random) = (cost((255, 2, 8), |x| x & 128), cost((255, 2, 8), |x| (x * 0x9e37_79b9) >> 7));
    assert!(top.0 < random.0 / 2 && top.1 < random.1, "{top:?}, {random:?}");
}

/// An integer below 0 is the residue that is as far below p^r, in tables and in slots.
#[test]
fn negative_entries_are_residues() {
    let ring = ring((48, 5, 2));
    let centred = |x: u64| if x > 12 { x as i64 - 25 } else { x as i64 };
    let table = SlotTable::from_fn(&ring, |x| -(centred(x) / 2)).unwrap();
    let clear = Clear::new(&ring);
    let x = clear.encrypt(&Plaintext::from_integers(&ring, &[-7, 12, 3, -12]).unwrap()).unwrap();
    let image = clear.decrypt(&table.apply(&clear, &x).unwrap());
    assert_eq!(image, Plaintext::from_integers(&ring, &[3, -6, -1, 6]).unwrap());
}

#[test]
fn what_is_no_table_is_refused() {
    let small = ring((48, 5, 2));
    for length in [0, 24, 26] {
        let refused = SlotTable::new(&small, &vec![0; length]);
        assert!(matches!(refused, Err(Error::ShapeMismatch { expected: 25, got, .. }) if got == length));
    }
    for value in [25, -13, i64::MAX, i64::MIN] {
        let mut values = vec![0; 25];
        values[7] = value;
        let refused = SlotTable::new(&small, &values).unwrap_err();
        assert!(
            matches!(refused, Error::OutOfRange(_)) && refused.to_string().contains(&value.to_string()),
            "{refused}"
        );
    }
    assert!(SlotTable::new(&small, &[24; 25]).is_ok() && SlotTable::new(&small, &[-12; 25]).is_ok());
    // 257, 2^9 and 17² are above 2^8.
    for set in [(64, 257, 1), (105, 2, 9), (48, 17, 2)] {
        let refused = SlotTable::from_fn(&ring(set), |x| x).unwrap_err();
        let text = refused.to_string();
        assert!(matches!(refused, Error::OutOfRange(_)) && text.contains("SlotFunction"), "{text}");
    }
    // Elements, another modulus, and integers that have lost a digit.
    let table = SlotTable::from_fn(&small, |x| x / 5).unwrap();
    let clear = Clear::new(&small);
    let elements = clear.encrypt(&fixture::random(&small, Content::Elements, 1)).unwrap();
    assert!(matches!(table.apply(&clear, &elements), Err(Error::NotIntegers { .. })));
    let integers = clear.encrypt(&fixture::random(&small, Content::Integers, 1)).unwrap();
    let low = clear.reduce_exponent(&integers, 1).unwrap();
    assert!(matches!(table.apply(&clear, &low), Err(Error::ContextMismatch { .. })));
    let other = ring((48, 7, 2));
    let clear = Clear::new(&other);
    let integers = clear.encrypt(&fixture::random(&other, Content::Integers, 1)).unwrap();
    assert!(matches!(table.apply(&clear, &integers), Err(Error::ContextMismatch { .. })));
}

/// What stands above a modulus that is raised is no integer, and no operation gives it away as one.
#[test]
fn raised_moduli_keep_what_is_known() {
    for set in [(105, 2, 4), (80, 3, 3)] {
        let ring = ring(set);
        let clear = Clear::new(&ring);
        let x = clear.encrypt(&fixture::random(&ring, Content::Integers, 5)).unwrap();
        let (low, most) = (clear.reduce_exponent(&x, 1).unwrap(), ring.modulus().exponent());
        let raised = clear.raise_exponent(&low, most).unwrap();
        assert_eq!((raised.exponent(), raised.content()), (most, Content::Elements));
        assert!(clear.decrypt(&raised).to_integers().is_err());
        assert_eq!(clear.reduce_exponent(&raised, 1).unwrap().plaintext(), low.plaintext());
        assert_eq!(clear.raise_exponent(&x, most).unwrap(), x);
        for exponent in [0, most + 1] {
            assert!(matches!(clear.raise_exponent(&low, exponent), Err(Error::OutOfRange(_))));
        }
        assert!(matches!(clear.raise_exponent(&raised, 1), Err(Error::OutOfRange(_))));
    }
}

/// Both schemes, a modulus with digits and a prime: all slots of a whole table.
#[test]
fn tables_on_ciphertexts() {
    for (set, scheme) in [
        ((105, 2, 3), Scheme::Bgv),
        ((105, 2, 3), Scheme::Bfv),
        ((80, 3, 2), Scheme::Bgv),
        ((80, 3, 2), Scheme::Bfv),
        ((48, 17, 1), Scheme::Bfv),
    ] {
        let (m, p, r) = set;
        let context: Context = fixture::context(scheme, (p, r), fixture::chain(m, &[45; 10], &[50; 4]));
        let values = random_values(p.pow(r), 4);
        let table = SlotTable::new(&context, &values).unwrap();
        let (client, server) = context.generate_keys_from_seed([&table], 1).unwrap();
        let residues: Vec<u64> = (0..p.pow(r)).collect();
        for some in residues.chunks(context.slots()) {
            let image = server.apply(&table, &client.encrypt(some).unwrap()).unwrap();
            assert_eq!(image.content(), Content::Integers);
            let wanted: Vec<u64> = some.iter().map(|&x| values[x as usize]).collect();
            assert_eq!(client.decrypt(&image).unwrap()[..some.len()], wanted, "{scheme}, {set:?}");
        }
    }
}

//! What ciphertexts say of their slots: never integers where there are others, and integers
//! wherever all operands hold them.

use std::sync::Arc;

use rayon::prelude::*;
use windlass::schemes::Scheme;
use windlass::schemes::clear::Clear;
use windlass::{Content, Evaluator, Plaintext};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;

use crate::fixture::{SCHEMES, keys};
use crate::operations::cases::Inputs;
use crate::operations::encrypted::parties;
use crate::operations::turned;

/// Good and bad dimensions, d from 1 to 12.
fn rings() -> Vec<Arc<SlotRing>> {
    let automatic = [(105, 2, 3), (91, 3, 1), (64, 3, 2), (64, 193, 1), (45, 2, 2)];
    let automatic = automatic.map(|(m, p, r)| Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap()));
    automatic.into_iter().chain([(255, 2, 1), (64, 3, 2)].map(turned)).collect()
}

/// Both ways for every operation, on encryptions of inputs that hold integers or not.
fn check<E: Evaluator>(
    evaluator: &E,
    inputs: &Inputs,
    kinds: [bool; 2],
    encrypt: impl Fn(&Plaintext) -> E::Ciphertext,
    content: impl Fn(&E::Ciphertext) -> Content,
) {
    let d = inputs.ring.degree();
    let [a, b] = [&inputs.x, &inputs.y].map(|values| encrypt(&inputs.plaintext(values)));
    for (ct, integers) in [&a, &b].into_iter().zip(kinds) {
        assert_eq!(content(ct) == Content::Integers, integers || d == 1);
    }
    for case in inputs.run(evaluator, &a, &b).unwrap() {
        let label = format!("m = {}, {}, integers: {kinds:?}", inputs.ring.m(), case.name);
        let integers = case.expected.iter().enumerate().all(|(i, &x)| i % d == 0 || x == 0);
        match content(&case.ciphertext) {
            Content::Integers => assert!(integers, "{label}: says integers"),
            Content::Elements => assert!(d > 1 && kinds != [true, true], "{label}: forgets that these are integers"),
        }
    }
}

const KINDS: [[bool; 2]; 4] = [[true, true], [true, false], [false, true], [false, false]];

#[test]
fn content_on_the_mock() {
    rings().par_iter().flat_map(|ring| KINDS.par_iter().map(move |&kinds| (ring, kinds))).for_each(|(ring, kinds)| {
        let inputs = Inputs::with_integers(ring, kinds);
        let clear = Clear::new(ring);
        check(&clear, &inputs, kinds, |plaintext| clear.encrypt(plaintext).unwrap(), |ct| ct.content());
    });
}

#[test]
fn content_of_ciphertexts() {
    rings().par_iter().flat_map(|ring| KINDS.par_iter().map(move |&kinds| (ring, kinds))).for_each(|(ring, kinds)| {
        let inputs = Inputs::with_integers(ring, kinds);
        for scheme in SCHEMES {
            let (client, server) = parties(ring, scheme, &keys(inputs.keys()));
            let encrypt = |plaintext: &Plaintext| client.encrypt_plaintext(plaintext).unwrap();
            check(server.engine(), &inputs, kinds, encrypt, |ct| ct.content());
            let ct = encrypt(&inputs.plaintext(&inputs.x));
            let lower = server.engine().reduce_level(&ct, 5.0).unwrap();
            for other in [lower.to_scheme(Scheme::Bgv), lower.to_scheme(Scheme::Bfv)] {
                assert_eq!(other.content(), ct.content());
            }
            assert_eq!(client.decrypt_plaintext(&ct).unwrap().content(), ct.content());
            assert_eq!(ct.assume_integers().content(), Content::Integers);
        }
    });
}

/// What a plaintext says follows from how it was made, unless it is asked to look.
#[test]
fn content_of_plaintexts() {
    let ring = Arc::new(SlotRing::new(105, 2, 3, Isa::best()).unwrap());
    let (l, d) = (ring.slots(), ring.degree());
    let integers: Vec<u64> = (0..l as u64).map(|i| 3 * i % 8).collect();
    let mut slots = vec![0; l * d];
    integers.iter().enumerate().for_each(|(i, &x)| slots[i * d] = x);
    let same = Plaintext::from_slots(&ring, &slots).unwrap();
    let told = Plaintext::from_integers(&ring, &integers).unwrap();
    assert_eq!(same, told);
    assert_eq!((told.content(), same.content()), (Content::Integers, Content::Elements));
    assert_eq!(same.clone().recognised().content(), Content::Integers);
    let raw = Plaintext::new(&ring, same.coefficients().to_vec()).unwrap();
    assert_eq!((raw.content(), raw.clone().recognised().content()), (Content::Elements, Content::Integers));
    // Every other element is told from them, one coefficient at a time.
    for place in (0..l * d).filter(|place| place % d != 0) {
        for value in [1, 4] {
            let mut slots = slots.clone();
            slots[place] = value;
            let other = Plaintext::from_slots(&ring, &slots).unwrap().recognised();
            assert_eq!(other.content(), Content::Elements, "coefficient {place}");
        }
    }
    assert_eq!(Plaintext::scalar(&ring, -3).content(), Content::Integers);
    let sum = told.add(&same).unwrap();
    assert_eq!((sum.content(), told.multiply(&sum).unwrap().content()), (Content::Elements, Content::Elements));
    assert_eq!(told.automorphism(2).unwrap().content(), Content::Integers);
    assert!(Content::Integers < Content::Elements);
    // Slots of degree 1 hold nothing else.
    let flat = Arc::new(SlotRing::new(64, 193, 1, Isa::best()).unwrap());
    assert_eq!(Plaintext::from_slots(&flat, &[5; 32]).unwrap().content(), Content::Integers);
}

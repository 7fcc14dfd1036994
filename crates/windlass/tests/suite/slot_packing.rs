//! d ciphertexts of integers in one: on the mock, in BGV and BFV, at servers and at clients.

use std::sync::Arc;

use windlass::circuits::PlanSpec;
use windlass::schemes::clear::Clear;
use windlass::{Context, Error, NeedsKeys, Plaintext, SlotPacking};
use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;

use crate::fixture::{SCHEMES, chain, context};

/// `count` vectors of residues.
fn vectors(count: usize, slots: usize, modulus: u64) -> Vec<Vec<u64>> {
    let value = |k: usize, j: usize| (k * 7919 + j * j * 31 + j * k) as u64 % modulus;
    (0..count).map(|k| (0..slots).map(|j| value(k, j)).collect()).collect()
}

/// The rings: slots of degree 10, 4, 12 and 2.
const RINGS: [(u64, (u64, u32)); 4] = [(1023, (2, 1)), (64, (3, 2)), (105, (2, 4)), (256, (127, 1))];

#[test]
fn plans_pack_and_unpack_on_the_mock() {
    for (m, (p, r)) in RINGS {
        let ring = Arc::new(SlotRing::new(m, p, r, Isa::best()).unwrap());
        let packing = SlotPacking::new(&ring).unwrap();
        let d = ring.degree();
        assert_eq!(packing.size(), d);
        assert!(packing.packing().required_keys().is_empty(), "packing takes no keys");
        let wanted = vectors(d, ring.slots(), ring.modulus().value());
        let clear = Clear::with_keys(&ring, packing.unpacking().required_keys());
        let encrypt = |v: &Vec<u64>| clear.encrypt(&Plaintext::from_integers(&ring, v).unwrap()).unwrap();
        let inputs: Vec<_> = wanted.iter().map(encrypt).collect();
        let plan = packing.packing();
        let packed = plan.apply_grid(&plan.prepare(&clear).unwrap(), &clear, &inputs).unwrap();
        assert_eq!(packed.len(), 1);
        let plan = packing.unpacking();
        let back = plan.apply_grid(&plan.prepare(&clear).unwrap(), &clear, &packed).unwrap();
        let back: Vec<Vec<u64>> = back.iter().map(|x| clear.decrypt(x).to_integers().unwrap()).collect();
        assert_eq!(back, wanted, "m = {m}");
    }
}

#[test]
fn servers_and_clients_agree_on_what_is_packed() {
    for (scheme, (m, modulus)) in SCHEMES.into_iter().flat_map(|scheme| RINGS.map(|ring| (scheme, ring))) {
        let context = context(scheme, modulus, chain(m, &[45; 5], &[45, 45]));
        let packing = SlotPacking::new(&context).unwrap();
        let (client, server) = context.generate_keys_from_seed([&packing], 5).unwrap();
        let (d, l) = (packing.size(), context.slots());
        for count in [1, d / 2 + 1, d] {
            let wanted = vectors(count, l, context.slot_ring().modulus().value());
            let thin: Vec<_> = wanted.iter().map(|v| client.encrypt(v).unwrap()).collect();
            let packed = server.pack(&packing, &thin, 20.0).unwrap();
            assert!(packed.level() < thin[0].level(), "{scheme} {m}: no level was saved");
            let whole: usize = thin.iter().map(|x| context.to_bytes(x).unwrap().len()).sum();
            let bytes = context.to_bytes(&packed).unwrap();
            assert!(count == 1 || bytes.len() * count < whole, "{} bytes of {whole}", bytes.len());
            let packed = context.from_bytes(&bytes).unwrap();
            assert_eq!(client.decrypt_packed(&packing, &packed, count).unwrap(), wanted, "{scheme} {m}");
            let back = server.unpack(&packing, &packed, count).unwrap();
            for (x, v) in back.iter().zip(&wanted) {
                assert_eq!(&client.decrypt(x).unwrap(), v, "{scheme} {m}");
                assert!(server.capacity(x) >= 20.0, "{scheme} {m}: {}", server.capacity(x));
            }
            // A client's packing is the server's.
            let uploaded = server.unpack(&packing, &client.encrypt_packed(&packing, &wanted).unwrap(), count).unwrap();
            let uploaded: Vec<_> = uploaded.iter().map(|x| client.decrypt(x).unwrap()).collect();
            assert_eq!(uploaded, wanted, "{scheme} {m}");
        }
    }
}

#[test]
fn summands_of_several_levels_and_a_few_keys() {
    let context = context(SCHEMES[0], (2, 1), chain(1023, &[45; 5], &[45, 45]));
    let spec = PlanSpec { max_keys: Some(5), ..PlanSpec::default() };
    let packing = SlotPacking::with_spec(&context, &spec).unwrap();
    assert!(packing.key_request().galois.len() <= 5, "{:?}", packing.key_request().galois);
    let (client, server) = context.generate_keys_from_seed([&packing], 5).unwrap();
    let wanted = vectors(3, context.slots(), 2);
    let mut thin: Vec<_> = wanted.iter().map(|v| client.encrypt(v).unwrap()).collect();
    thin[1] = server.engine().switch_modulus(&thin[1], 3).unwrap();
    let packed = server.pack(&packing, &thin, 1000.0).unwrap();
    let back = server.unpack(&packing, &packed, 3).unwrap();
    let back: Vec<_> = back.iter().map(|x| client.decrypt(x).unwrap()).collect();
    assert_eq!(back, wanted);
}

#[test]
fn what_cannot_be_packed_is_refused() {
    let integers = Context::preset("insecure_toy_256").unwrap();
    assert!(matches!(SlotPacking::new(&integers), Err(Error::Unplannable { .. })), "slots of degree 1");
    let context = Context::preset("insecure_toy_1023").unwrap();
    let packing = SlotPacking::new(&context).unwrap();
    let (client, server) = context.generate_keys_from_seed([], 5).unwrap();
    let one = client.encrypt(&[1]).unwrap();
    assert!(matches!(server.pack(&packing, &[], 1.0), Err(Error::OutOfRange(_))));
    assert!(matches!(server.pack(&packing, &vec![one.clone(); 11], 1.0), Err(Error::OutOfRange(_))));
    assert!(matches!(client.decrypt_packed(&packing, &one, 0), Err(Error::OutOfRange(_))));
    let elements = client.encrypt_elements(&[1, 1]).unwrap();
    assert!(matches!(server.pack(&packing, &[elements], 1.0), Err(Error::NotIntegers { .. })));
    let packed = server.pack(&packing, &[one], 1.0).unwrap();
    assert!(matches!(server.unpack(&packing, &packed, 1), Err(Error::MissingKeys { .. })));
    let long = vec![vec![1u64; context.slots() + 1]];
    assert!(matches!(client.encrypt_packed(&packing, &long), Err(Error::ShapeMismatch { .. })));
}

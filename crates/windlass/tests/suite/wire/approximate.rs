//! CKKS ciphertexts, and the keys that they use.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::needs::Products;
use windlass::rlwe::{Assurance, EvaluationKeys, PublicKey, SecretKey};
use windlass::schemes::ckks::{Ciphertext, CkksSpec, Complex64, Encryptor, Publication};
use windlass::wire::{ApproximateCiphertextV1, FieldReader, Kind, Wire, WireError, open, seal, to_payload};
use windlass::{Approximate, Client, Context, Error, Server};

use crate::fixture::approximate;
use crate::wire::common::{any_key, decode, golden, label, reject_damage, through_bytes, write_missing};

/// n = 16, one rescaling; at Δ = 2^40 that of the golden files.
fn context(scale_bits: u32) -> Context<Approximate> {
    let assurance = Assurance::Insecure { name: "insecure_wire_test".into() };
    let spec = CkksSpec { special_prime_bits: vec![50], assurance, ..approximate(16, scale_bits, 1) };
    Context::approximate(&spec).unwrap()
}

/// The context of the golden files.
pub fn golden_context() -> Context<Approximate> {
    context(40)
}

fn message() -> Vec<Complex64> {
    (0..4).map(|i| Complex64::new(0.5 - 0.25 * i as f64, 0.125 * i as f64)).collect()
}

/// Both sides; a ciphertext from a file, a seeded one, and a product before its rescaling.
struct Values {
    client: Client<Approximate>,
    server: Server<Approximate>,
    ciphertexts: [ApproximateCiphertextV1; 3],
}

fn values(context: &Context<Approximate>) -> Values {
    let (client, server) = context.generate_keys_from_seed([&Products], 5).unwrap();
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let (fresh, seed) = client.decryptor().unwrap().encrypt(&message(), 1.0, 2, &mut rng).unwrap();
    let full = client.encryptor().unwrap().encrypt(&message(), &mut rng).unwrap();
    let product = server.multiply(&full, &full).unwrap();
    assert_eq!(product.degree(), 2);
    let seeded = ApproximateCiphertextV1::seeded(fresh, seed).unwrap();
    let ciphertexts = [seeded, ApproximateCiphertextV1::new(full), ApproximateCiphertextV1::new(product)];
    Values { client, server, ciphertexts }
}

fn check(context: &Context<Approximate>, secret: SecretKey, ciphertext: &Ciphertext, expected: &[Complex64]) {
    let found = context.client_from_key(Arc::new(secret)).unwrap().decrypt_complex(ciphertext).unwrap();
    assert_eq!(found.len(), expected.len());
    let error = found.iter().zip(expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(error < ciphertext.error_bound() && error < 1e-6, "{error} with bound {}", ciphertext.error_bound());
}

fn squares() -> Vec<Complex64> {
    message().iter().map(|z| z * z).collect()
}

#[test]
fn ciphertexts_and_keys_come_back_and_work() {
    let context = golden_context();
    let made = values(&context);
    let [seeded, full, product] =
        made.ciphertexts.clone().map(|ct| through_bytes(context.files(), &ct).into_ciphertext());
    for (back, sent) in [&seeded, &full, &product].into_iter().zip(&made.ciphertexts) {
        let sent = sent.clone().into_ciphertext();
        assert_eq!(back.parts(), sent.parts());
        assert_eq!((back.slots(), back.level(), back.degree()), (sent.slots(), sent.level(), sent.degree()));
        assert_eq!((back.scale(), back.magnitude()), (sent.scale(), sent.magnitude()));
        // What the bound counts beside deviations is in the deviation of a file.
        assert!((1.0..1.02).contains(&(back.deviation() / sent.deviation())), "{}", back.deviation());
        assert!((1.0 - 1e-12..1.02).contains(&(back.error_bound() / sent.error_bound())), "{}", back.error_bound());
    }
    let secret = || through_bytes(context.files(), &**made.client.secret_key());
    check(&context, secret(), &seeded, &message());
    check(&context, secret(), &full, &message());
    check(&context, secret(), &product, &squares());
    let keys: EvaluationKeys = through_bytes(context.files(), &**made.server.engine().keys());
    let public: PublicKey = through_bytes(context.files(), &made.client.public_key().unwrap());
    let encryptor = Encryptor::new(context.ckks(), Arc::new(public)).unwrap();
    let fresh = encryptor.encrypt(&message(), &mut ChaCha20Rng::from_seed([6; 32])).unwrap();
    let server = context.server_from_keys(Arc::new(keys), Vec::new()).unwrap();
    let product = server.multiply(&fresh, &seeded).unwrap();
    check(&context, secret(), &server.engine().rescale(&product).unwrap(), &squares());
}

/// What may be in every slot at once stays apart: it counts as it is in precision and bound.
#[test]
fn systematic_errors_come_back() {
    let context = golden_context();
    let sent = values(&context).ciphertexts[0].clone().into_ciphertext().approximating(2f64.powi(-20));
    let payload = to_payload(context.files(), &ApproximateCiphertextV1::new(sent.clone()));
    let read = |payload: &[u8]| decode::<_, ApproximateCiphertextV1>(context.files(), payload);
    let back = read(&payload).unwrap().into_ciphertext();
    assert!((back.precision_bits() - sent.precision_bits()).abs() < 0.01, "{}", back.precision_bits());
    assert!((1.0..1.02).contains(&(back.error_bound() / sent.error_bound())), "{}", back.error_bound());
    assert_eq!(to_payload(context.files(), &ApproximateCiphertextV1::new(back)), payload);
    let size = sent.slot_errors().systematic.to_le_bytes();
    let at = payload.windows(8).position(|window| window == size).unwrap();
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut changed = payload.to_vec();
        changed[at..at + 8].copy_from_slice(&f64::to_le_bytes(bad));
        assert!(matches!(read(&changed), Err(Error::Wire(WireError::Malformed { .. }))), "{bad}");
    }
}

/// The lowest level and a single slot are fields like any others.
#[test]
fn ciphertexts_at_the_ends_of_their_ranges_come_back() {
    let context = golden_context();
    let made = values(&context);
    let full = made.ciphertexts[1].clone().into_ciphertext();
    let lowest = made.server.engine().lower(&full, context.ckks().base_level()).unwrap();
    let single = made.client.encrypt_complex(&[Complex64::new(0.5, 0.25)], 1.0).unwrap();
    assert_eq!((lowest.level(), single.slots()), (context.ckks().base_level(), 1));
    for sent in [lowest, single] {
        let back = through_bytes(context.files(), &ApproximateCiphertextV1::new(sent.clone())).into_ciphertext();
        assert_eq!((back.level(), back.slots(), back.parts()), (sent.level(), sent.slots(), sent.parts()));
    }
}

#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = golden_context();
    for ciphertext in &values(&context).ciphertexts {
        let payload = to_payload(context.files(), ciphertext);
        let again = |payload: &[u8]| {
            decode::<_, ApproximateCiphertextV1>(context.files(), payload)
                .map(|ct| to_payload(context.files(), &ct).to_vec())
        };
        reject_damage(&label(Kind::ApproximateCiphertext, context.files()), &payload, &again);
    }
}

#[test]
fn impossible_fields_are_named() {
    let context = golden_context();
    let whole = to_payload(context.files(), &values(&context).ciphertexts[1]);
    let refusal = |offset: usize, bytes: &[u8]| {
        let mut payload = whole.to_vec();
        payload[offset..offset + bytes.len()].copy_from_slice(bytes);
        decode::<_, ApproximateCiphertextV1>(context.files(), &payload).expect_err("refused")
    };
    let what = |offset: usize, bytes: &[u8]| match refusal(offset, bytes) {
        Error::Wire(WireError::Malformed { what }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(what(0, &[0]), "degree of a CKKS ciphertext");
    assert_eq!(what(0, &[3]), "degree of a CKKS ciphertext");
    for flags in [8, 9, 12, 16, 17, 24, 32, 0x80] {
        assert_eq!(what(1, &[flags]), "flags of a CKKS ciphertext");
    }
    assert_eq!(what(2, &[0, 0]), "level of a CKKS ciphertext");
    assert_eq!(what(2, &[3, 0]), "level of a CKKS ciphertext");
    for slots in [0u32, 3, 16] {
        assert_eq!(what(4, &slots.to_le_bytes()), "number of slots");
    }
    for scale in [f64::NAN, 2f64.powi(39), -1.0] {
        assert_eq!(what(8, &scale.to_le_bytes()), "scale");
    }
    for bad in [f64::NAN, f64::INFINITY, -0.0, -1.0] {
        assert_eq!(what(16, &bad.to_le_bytes()), "bound on the slots");
        assert_eq!(what(24, &bad.to_le_bytes()), "error of the slots");
    }
    // Less error than a fresh encryption has: publication would hide nothing.
    let fresh = values(&context).ciphertexts[0].clone().into_ciphertext().deviation();
    for small in [0.0, f64::MIN_POSITIVE, fresh / 2.0] {
        assert_eq!(what(24, &small.to_le_bytes()), "error of the slots");
        assert_eq!(what(32, &[small / 2.0, small / 2.0].map(f64::to_le_bytes).concat()), "error of the own slots");
    }
    // An error of the own slots as large as that of all is not stated: that would be a second
    // encoding.
    let all = [[0; 8], whole[24..32].try_into().unwrap()].concat();
    assert_eq!(what(32, &all), "error of the own slots");
    for bad in [f64::NAN, f64::INFINITY, -0.0, -1.0, 1.0] {
        assert_eq!(what(32, &bad.to_le_bytes()), "error of the own slots");
        assert_eq!(what(40, &bad.to_le_bytes()), "error of the own slots");
    }
    // Values that the modulus has no room for.
    for (offset, large) in [16, 24].into_iter().flat_map(|offset| [(offset, 1e100), (offset, f64::MAX)]) {
        let error = refusal(offset, &large.to_le_bytes());
        let Error::ModulusExhausted { needed_bits, .. } = error else { panic!("{error}") };
        assert!(needed_bits.is_finite(), "{error}");
    }
    assert_eq!(what(48, &[0xff; 7]), "CKKS ciphertext");
}

/// Zero times a ciphertext has no error; a file of it states that of a fresh encryption, and its
/// publication is flooded.
#[test]
fn nothing_turns_flooding_off() {
    let context = golden_context();
    let made = values(&context);
    let engine = made.server.engine();
    let zero = engine.multiply_integer(&made.ciphertexts[1].clone().into_ciphertext(), 0).unwrap();
    assert_eq!(zero.deviation(), 0.0);
    let back = through_bytes(context.files(), &ApproximateCiphertextV1::new(zero.clone())).into_ciphertext();
    assert!(back.deviation() > 2f64.powi(-40) && back.deviation() < 2f64.powi(-36));
    let publication = Publication { security_bits: 2, decryptions: 1 };
    let one = |zero| engine.add_plain(zero, &[Complex64::ONE]).unwrap();
    for ct in [&zero, &back] {
        let published = made.client.decrypt_public(&one(ct), publication).unwrap();
        let noise = published.values.iter().map(|z| (z - 1.0).norm()).fold(0.0, f64::max);
        assert!(noise > back.deviation(), "{noise:e}");
    }
}

/// A file may state much of the slots that decryption leaves out, and little of its own; what is in
/// its own is checked against what it states about them.
#[test]
fn own_slots_are_held_against_their_own_bound() {
    let context = golden_context();
    let Values { client, ciphertexts: [seeded, full, _], .. } = values(&context);
    let [fresh, deviation] = [seeded, full.clone()].map(|ct| ct.into_ciphertext().deviation());
    let mut payload = to_payload(context.files(), &full).to_vec();
    let mut state = |offset: usize, x: f64| payload[offset..offset + 8].copy_from_slice(&x.to_le_bytes());
    // The deviation of the whole ring; of the own slots, nothing that the encryption gave.
    state(24, 1.0);
    state(32, 0.0);
    let mut read = |magnitude: f64, own: f64| -> Ciphertext {
        payload[16..24].copy_from_slice(&magnitude.to_le_bytes());
        payload[40..48].copy_from_slice(&own.to_le_bytes());
        let fields = FieldReader::new(&payload);
        ApproximateCiphertextV1::decode(context.files(), client.secret_key().key_id(), fields)
            .unwrap()
            .into_ciphertext()
    };
    let publication = Publication { security_bits: 1, decryptions: 1 };
    let sound = client.decrypt_public(&read(1.0, 2.0 * deviation), publication);
    assert!(sound.is_ok(), "{sound:?}");
    let small = read(2f64.powi(-20), fresh);
    assert!(small.whole_error_bound() > 1.0 && small.error_bound() < 2f64.powi(-30));
    assert!(matches!(client.decrypt_complex(&small), Err(Error::NotDecryptable { beyond: Some(_) })));
    assert!(matches!(client.decrypt_public(&small, publication), Err(Error::NotDecryptable { .. })));
}

/// An encryption is known again after a file, so that sums with itself count twice; what was
/// computed is an error that goes along with anything.
#[test]
fn files_tell_errors_apart_as_far_as_they_can() {
    let context = golden_context();
    let Values { server, ciphertexts: [_, full, product], .. } = values(&context);
    let other = values(&context).ciphertexts[0].clone().into_ciphertext();
    let sum = |a: &Ciphertext, b: &Ciphertext| server.add(a, b).unwrap().deviation();
    let back = |ct: &ApproximateCiphertextV1| through_bytes(context.files(), ct).into_ciphertext();
    let (own, filed) = (full.clone().into_ciphertext(), back(&full));
    assert_eq!(sum(&own, &filed), 2.0 * own.deviation());
    let together = sum(&filed, &other);
    assert!(together < 0.99 * (filed.deviation() + other.deviation()) && together > filed.deviation());
    let (own, filed) = (product.clone().into_ciphertext(), back(&product));
    assert!((sum(&own, &filed) / (own.deviation() + filed.deviation()) - 1.0).abs() < 1e-12);
    assert!((sum(&filed, &filed) / (2.0 * filed.deviation()) - 1.0).abs() < 1e-12);
}

/// Three entries and a zero; a vector that fills its slots has the file that it always had.
#[test]
fn entries_are_told_from_what_stands_beside_them() {
    let context = golden_context();
    let client = values(&context).client;
    let three = client.encrypt_complex(&message()[..3], 1.0).unwrap();
    assert_eq!((three.entries(), three.slots(), three.rest_magnitude()), (3, 4, 0.0));
    let littered = three.clone().with_entries(4).with_entries(2);
    for sent in [three, littered] {
        let whole = to_payload(context.files(), &ApproximateCiphertextV1::new(sent.clone()));
        // A seed, errors of its own slots, entries.
        assert_eq!(whole[1], 1 + 2 + 4);
        let read = |payload: &[u8]| decode::<_, ApproximateCiphertextV1>(context.files(), payload);
        let back = read(&whole).unwrap().into_ciphertext();
        let known = |ct: &Ciphertext| (ct.entries(), ct.magnitude(), ct.rest_magnitude());
        assert_eq!(known(&back), known(&sent));
        assert_eq!(to_payload(context.files(), &ApproximateCiphertextV1::new(back.clone())), whole);
        client.decrypt_complex(&through_bytes(context.files(), &sent)).unwrap();
        // Behind the two errors of the own slots.
        let what = |offset: usize, bytes: &[u8]| {
            let mut payload = whole.to_vec();
            payload[offset..offset + bytes.len()].copy_from_slice(bytes);
            match read(&payload).expect_err("refused") {
                Error::Wire(WireError::Malformed { what }) => what,
                other => panic!("{other:?}"),
            }
        };
        for count in [0u32, 4, u32::MAX] {
            assert_eq!(what(48, &count.to_le_bytes()), "number of entries");
        }
        for bad in [-0.0, -1.0] {
            assert_eq!(what(52, &f64::to_le_bytes(bad)), "bound on the slots beside the entries");
        }
    }
    let full = client.encrypt_complex(&message(), 1.0).unwrap();
    assert_eq!(to_payload(context.files(), &ApproximateCiphertextV1::new(full))[1], 1 + 2);
}

#[test]
fn other_contexts_are_refused() {
    let own = context(40);
    let payload = to_payload(own.files(), &values(&own).ciphertexts[0]);
    let bytes = seal(&label(ApproximateCiphertextV1::KIND, own.files()), &payload);
    let got = open(&bytes, &any_key(ApproximateCiphertextV1::KIND, context(39).files()));
    assert!(matches!(got, Err(WireError::OtherContext { .. })), "{got:?}");
    let got = open(&bytes, &any_key(Kind::Ciphertext, own.files()));
    assert!(matches!(got, Err(WireError::WrongKind { .. })), "{got:?}");
}

#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = golden_context();
    let secret = || golden::<_, SecretKey>("ckks-secret-key", context.files());
    for name in ["ckks-ciphertext-seeded", "ckks-ciphertext"] {
        let ciphertext: ApproximateCiphertextV1 = golden(name, context.files());
        check(&context, secret(), &ciphertext.into_ciphertext(), &message());
    }
    let own: ApproximateCiphertextV1 = golden("ckks-ciphertext-own", context.files());
    let own = own.into_ciphertext();
    assert!(own.error_bound() < 0.75 * own.whole_error_bound());
    check(&context, secret(), &own, &message());
    let product: ApproximateCiphertextV1 = golden("ckks-product", context.files());
    check(&context, secret(), &product.into_ciphertext(), &squares());
}

/// Three entries of four slots: with a zero beside them, and with what a sum put there.
#[test]
fn golden_files_with_entries_stay_readable() {
    let context = golden_context();
    let secret = || golden::<_, SecretKey>("ckks-secret-key", context.files());
    let client = context.client_from_key(Arc::new(secret())).unwrap();
    let three = || client.encrypt_complex(&message()[..3], 1.0).unwrap();
    write_missing("ckks-ciphertext-entries", context.files(), || ApproximateCiphertextV1::new(three()));
    write_missing("ckks-ciphertext-beside", context.files(), || {
        let server = client.generate_server([&Products]).unwrap();
        ApproximateCiphertextV1::new(server.add_real(&three(), 2.0).unwrap())
    });
    for (name, addend, magnitude) in [("ckks-ciphertext-entries", 0.0, 1.0), ("ckks-ciphertext-beside", 2.0, 3.0)] {
        let read: ApproximateCiphertextV1 = golden(name, context.files());
        let ciphertext = read.into_ciphertext();
        let known = (ciphertext.entries(), ciphertext.slots(), ciphertext.magnitude(), ciphertext.rest_magnitude());
        assert_eq!(known, (3, 4, magnitude, addend), "{name}");
        let mut expected = message();
        expected[3] = Complex64::ZERO;
        expected.iter_mut().for_each(|z| *z += addend);
        check(&context, secret(), &ciphertext, &expected);
        // What it states is what it is refused by.
        let refused = client.decrypt_complex(&ciphertext.with_magnitude(0.25)).unwrap_err();
        assert!(matches!(refused, Error::NotDecryptable { beyond: Some(_) }), "{refused}");
    }
}

/// A product near zero, before its rescaling, at the lowest level: a file states no error below
/// that of a fresh encryption, which has to fit the modulus as well.
#[test]
fn what_an_operation_gives_can_be_read() {
    let mut found = [0; 2];
    for scale_bits in [30, 36, 38, 39, 40] {
        let context = context(scale_bits);
        let (client, server) = context.generate_keys_from_seed([&Products], 5).unwrap();
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let small = [Complex64::new(1e-9, 0.0)];
        let (ct, _) = client.decryptor().unwrap().encrypt(&small, 1e-9, 1, &mut rng).unwrap();
        for factor in [0.0, 1e-9, 1.0] {
            match server.multiply_reals(&ct, &[factor]) {
                Ok(product) => {
                    let again =
                        through_bytes(context.files(), &ApproximateCiphertextV1::new(product)).into_ciphertext();
                    client.decrypt(&again).unwrap();
                    found[0] += 1;
                }
                Err(Error::ModulusExhausted { needed_bits, left_bits, .. }) => {
                    assert!(needed_bits >= left_bits, "{needed_bits} of {left_bits}");
                    found[1] += 1;
                }
                // At the lowest level, where nothing is rescaled any more.
                Err(Error::LevelsExhausted { .. }) => found[1] += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(found[0] > 0 && found[1] > 0, "{found:?}");
}

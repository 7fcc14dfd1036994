//! CKKS ciphertexts, and the keys that they use.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Error;
use windlass::rlwe::{Assurance, EvaluationKeys, PublicKey, SecretDistribution, SecretKey};
use windlass::schemes::ckks::{
    Ciphertext, CkksContext, CkksSpec, Complex64, Decryptor, Encryptor, Engine, Publication,
};
use windlass::wire::{
    ApproximateCiphertextV1, ApproximateContext, FileContext, Kind, Wire, WireError, open, seal, to_payload,
};

use crate::wire::common::{any_key, decode, golden, label, reject_damage, through_bytes};

/// n = 16, Δ = 2^40, one rescaling.
fn spec(scale_bits: u32) -> CkksSpec {
    CkksSpec {
        n: 16,
        scale_bits,
        depth: 1,
        base_prime_bits: vec![50],
        special_prime_bits: vec![50],
        digits: 2,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_wire_test".into() },
    }
}

fn context(scale_bits: u32) -> ApproximateContext {
    ApproximateContext::new(&CkksContext::new(&spec(scale_bits)).unwrap())
}

fn message() -> Vec<Complex64> {
    (0..4).map(|i| Complex64::new(0.5 - 0.25 * i as f64, 0.125 * i as f64)).collect()
}

/// One value of each kind; a ciphertext from a file, a seeded one, and a product before its rescaling.
struct Values {
    secret: SecretKey,
    public: PublicKey,
    keys: EvaluationKeys,
    ciphertexts: [ApproximateCiphertextV1; 3],
}

fn values(context: &ApproximateContext) -> Values {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let rlwe = context.rlwe();
    let secret = SecretKey::generate(rlwe, &mut rng);
    let public = PublicKey::generate(&secret, &mut rng);
    let mut keys = EvaluationKeys::empty(rlwe);
    keys.add_relinearisation(&secret, 2, &mut rng).unwrap();
    let own: SecretKey = through_bytes(context, &secret);
    let decryptor = Decryptor::new(context.context(), Arc::new(own)).unwrap();
    let (fresh, seed) = decryptor.encrypt(&message(), 1.0, 2, &mut rng).unwrap();
    let seeded = ApproximateCiphertextV1::seeded(fresh, seed);
    let encryptor = Encryptor::new(context.context(), Arc::new(public.clone())).unwrap();
    let full = encryptor.encrypt(&message(), &mut rng).unwrap();
    let engine = Engine::new(context.context(), Arc::new(keys.clone())).unwrap();
    let product = engine.multiply(&full, &full).unwrap();
    assert_eq!(product.degree(), 2);
    let ciphertexts = [seeded, ApproximateCiphertextV1::new(full), ApproximateCiphertextV1::new(product)];
    Values { secret, public, keys, ciphertexts }
}

fn check(context: &ApproximateContext, secret: SecretKey, ciphertext: &Ciphertext, expected: &[Complex64]) {
    let decryptor = Decryptor::new(context.context(), Arc::new(secret)).unwrap();
    let found = decryptor.decrypt(ciphertext).unwrap();
    assert_eq!(found.len(), expected.len());
    let error = found.iter().zip(expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(error < ciphertext.error_bound() && error < 1e-6, "{error} with bound {}", ciphertext.error_bound());
}

fn squares() -> Vec<Complex64> {
    message().iter().map(|z| z * z).collect()
}

#[test]
fn ciphertexts_and_keys_come_back_and_work() {
    let context = context(40);
    let made = values(&context);
    let [seeded, full, product] = made.ciphertexts.clone().map(|ct| through_bytes(&context, &ct).into_ciphertext());
    for (back, sent) in [&seeded, &full, &product].into_iter().zip(&made.ciphertexts) {
        let sent = sent.clone().into_ciphertext();
        assert_eq!(back.parts(), sent.parts());
        assert_eq!((back.slots(), back.level(), back.degree()), (sent.slots(), sent.level(), sent.degree()));
        assert_eq!(
            (back.scale(), back.magnitude(), back.deviation()),
            (sent.scale(), sent.magnitude(), sent.deviation())
        );
        assert_eq!(back.precision_bits(), sent.precision_bits());
    }
    let secret = || through_bytes(&context, &made.secret);
    check(&context, secret(), &seeded, &message());
    check(&context, secret(), &full, &message());
    check(&context, secret(), &product, &squares());
    let keys: EvaluationKeys = through_bytes(&context, &made.keys);
    let public: PublicKey = through_bytes(&context, &made.public);
    let encryptor = Encryptor::new(context.context(), Arc::new(public)).unwrap();
    let fresh = encryptor.encrypt(&message(), &mut ChaCha20Rng::from_seed([6; 32])).unwrap();
    let engine = Engine::new(context.context(), Arc::new(keys)).unwrap();
    check(&context, secret(), &engine.rescale(&engine.multiply(&fresh, &seeded).unwrap()).unwrap(), &squares());
}

#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = context(40);
    for ciphertext in &values(&context).ciphertexts {
        let payload = to_payload(&context, ciphertext);
        let again = |payload: &[u8]| {
            decode::<_, ApproximateCiphertextV1>(&context, payload).map(|ct| to_payload(&context, &ct).to_vec())
        };
        reject_damage(&label(Kind::ApproximateCiphertext, &context), &payload, &again);
    }
}

#[test]
fn impossible_fields_are_named() {
    let context = context(40);
    let whole = to_payload(&context, &values(&context).ciphertexts[1]);
    let refusal = |offset: usize, bytes: &[u8]| {
        let mut payload = whole.to_vec();
        payload[offset..offset + bytes.len()].copy_from_slice(bytes);
        decode::<_, ApproximateCiphertextV1>(&context, &payload).expect_err("refused")
    };
    let what = |offset: usize, bytes: &[u8]| match refusal(offset, bytes) {
        Error::Wire(WireError::Malformed { what }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(what(0, &[0]), "degree of a CKKS ciphertext");
    assert_eq!(what(0, &[3]), "degree of a CKKS ciphertext");
    assert_eq!(what(1, &[2]), "degree of a CKKS ciphertext");
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
    }
    // Values that the modulus has no room for.
    for offset in [16, 24] {
        let error = refusal(offset, &1e100f64.to_le_bytes());
        assert!(matches!(error, Error::CapacityExhausted { .. }), "{error}");
    }
    assert_eq!(what(32, &[0xff; 7]), "CKKS ciphertext");
}

/// Zero times a ciphertext has no error; a file of it states that of a fresh encryption, and its publication is flooded.
#[test]
fn nothing_turns_flooding_off() {
    let context = context(40);
    let made = values(&context);
    let engine = Engine::new(context.context(), Arc::new(made.keys.clone())).unwrap();
    let zero = engine.multiply_integer(&made.ciphertexts[1].clone().into_ciphertext(), 0).unwrap();
    assert_eq!(zero.deviation(), 0.0);
    let back = through_bytes(&context, &ApproximateCiphertextV1::new(zero.clone())).into_ciphertext();
    assert!(back.deviation() > 2f64.powi(-40) && back.deviation() < 2f64.powi(-36));
    let decryptor = Decryptor::new(context.context(), Arc::new(made.secret)).unwrap();
    let publication = Publication { security_bits: 2, decryptions: 1 };
    let one = |zero| engine.add_plain(zero, &[Complex64::ONE]).unwrap();
    for ct in [&zero, &back] {
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let published = decryptor.decrypt_public(&one(ct), publication, &mut rng).unwrap();
        let noise = published.values.iter().map(|z| (z - 1.0).norm()).fold(0.0, f64::max);
        assert!(noise > back.deviation(), "{noise:e}");
    }
}

#[test]
fn other_contexts_are_refused() {
    let own = context(40);
    let payload = to_payload(&own, &values(&own).ciphertexts[0]);
    let bytes = seal(&label(ApproximateCiphertextV1::KIND, &own), &payload);
    let got = open(&bytes, &any_key(ApproximateCiphertextV1::KIND, &context(39)));
    assert!(matches!(got, Err(WireError::OtherContext { .. })), "{got:?}");
    let got = open(&bytes, &any_key(Kind::Ciphertext, &own));
    assert!(matches!(got, Err(WireError::WrongKind { .. })), "{got:?}");
}

#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = context(40);
    let secret = || golden::<_, SecretKey>("ckks-secret-key", &context);
    for name in ["ckks-ciphertext-seeded", "ckks-ciphertext"] {
        let ciphertext: ApproximateCiphertextV1 = golden(name, &context);
        check(&context, secret(), &ciphertext.into_ciphertext(), &message());
    }
    let product: ApproximateCiphertextV1 = golden("ckks-product", &context);
    check(&context, secret(), &product.into_ciphertext(), &squares());
}

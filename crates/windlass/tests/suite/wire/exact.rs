//! Keys, ciphertexts and messages of BGV and BFV.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::needs::{KeyRequest, Products};
use windlass::rlwe::{Assurance, EvaluationKeys, PublicKey, RlweSpec, SecretKey};
use windlass::schemes::{Ciphertext, Encryptor, Scheme};
use windlass::wire::{AnswerV1, CiphertextV1, Kind, QueryV1, Wire, WireContext, WireError, open, seal, to_payload};
use windlass::{Client, Content, Context, Error, Evaluator, Params, Plaintext, Server, Switching};

use crate::fixture::{SCHEMES, chain};
use crate::wire::common::{Again, any_key, decode, golden, label, reject_damage, through_bytes};

fn context(m: u64, p: u64, r: u32, scheme: Scheme) -> Context {
    let assurance = Assurance::Insecure { name: "insecure_wire_test".into() };
    let spec = RlweSpec { digits: 2, assurance, ..chain(m, &[40, 33], &[45]) };
    Context::from_params(Params::new("insecure_wire_test", scheme, (p, r), None, spec).unwrap()).unwrap()
}

/// The context of the golden files: m = 32, p = 97, BGV.
pub fn golden_context() -> Context {
    context(32, 97, 1, Scheme::Bgv)
}

fn message(context: &Context) -> Plaintext {
    let modulus = context.modulus();
    Plaintext::new(context, (0..context.n() as u64).map(|i| (3 * i + 1) % modulus).collect()).unwrap()
}

/// Both sides, and one value of each other kind.
struct Values {
    client: Client,
    server: Server,
    public: PublicKey,
    seeded: CiphertextV1,
    full: CiphertextV1,
}

impl Values {
    fn new(context: &Context) -> Self {
        let conjugation = KeyRequest::none("a test").with_galois([context.m() - 1]).up_to(1);
        let (client, server) = context.generate_keys_from_seed([&Products, &conjugation], 5).unwrap();
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let (ciphertext, seed) = client.decryptor().encrypt(&message(context), 2, &mut rng).unwrap();
        let public = client.public_key().unwrap();
        let encryptor = Encryptor::new(context.scheme(), Arc::new(public.clone()));
        let full = encryptor.encrypt(&message(context), &mut rng).unwrap();
        // A seed of another ciphertext would be read back as another ciphertext.
        assert!(matches!(CiphertextV1::seeded(full.clone(), seed), Err(Error::Wire(WireError::Malformed { .. }))));
        let (seeded, full) = (CiphertextV1::seeded(ciphertext, seed).unwrap(), CiphertextV1::new(full));
        Self { client, server, public, seeded, full }
    }

    fn secret(&self) -> &SecretKey {
        self.client.secret_key()
    }

    fn keys(&self) -> &EvaluationKeys {
        self.server.engine().keys()
    }
}

fn decrypt(context: &Context, secret: SecretKey, ciphertext: CiphertextV1) -> Plaintext {
    let client = context.client_from_key(Arc::new(secret)).unwrap();
    client.decrypt_plaintext(&ciphertext.into_ciphertext()).unwrap()
}

/// Runs a check on one value of every kind, given as its payload.
fn for_each_kind(context: &Context, check: impl Fn(Kind, &[u8], Again<'_>)) {
    fn again<T: Wire>(context: &WireContext) -> impl Fn(&[u8]) -> Result<Vec<u8>, Error> + '_ {
        |payload| Ok(to_payload(context, &decode::<_, T>(context, payload)?).to_vec())
    }
    let (values, context) = (Values::new(context), context.files());
    check(Kind::SecretKey, &to_payload(context, values.secret()), &again::<SecretKey>(context));
    check(Kind::PublicKey, &to_payload(context, &values.public), &again::<PublicKey>(context));
    check(Kind::EvaluationKeys, &to_payload(context, values.keys()), &again::<EvaluationKeys>(context));
    check(Kind::Ciphertext, &to_payload(context, &values.seeded), &again::<CiphertextV1>(context));
    check(Kind::Ciphertext, &to_payload(context, &values.full), &again::<CiphertextV1>(context));
    let query = QueryV1 { schema: [7; 32], ciphertext: values.seeded };
    check(Kind::Query, &to_payload(context, &query), &again::<QueryV1>(context));
    let answer = AnswerV1 { schema: [9; 32], ciphertext: values.full };
    check(Kind::Answer, &to_payload(context, &answer), &again::<AnswerV1>(context));
}

#[test]
fn values_come_back_and_work() {
    for (m, p, r) in [(32, 97, 1), (105, 2, 3), (64, 3, 2), (91, 2, 1)] {
        for scheme in SCHEMES {
            let context = context(m, p, r, scheme);
            for_each_kind(&context, |kind, payload, again| {
                assert_eq!(again(payload).unwrap(), payload, "{kind} for m = {m}");
            });
            let made = Values::new(&context);
            let expected = message(&context);
            for ciphertext in [&made.seeded, &made.full] {
                let key = through_bytes(context.files(), made.secret());
                let plain = decrypt(&context, key, through_bytes(context.files(), ciphertext));
                assert_eq!(plain.coefficients(), expected.coefficients(), "m = {m} {scheme}");
            }
            let keys: EvaluationKeys = through_bytes(context.files(), made.keys());
            let server = context.server_from_keys(Arc::new(keys), Vec::new()).unwrap();
            let engine = server.engine();
            let low = engine.switch_modulus(&made.full.clone().into_ciphertext(), 1).unwrap();
            let conjugate = engine.automorphism(&low, m - 1).unwrap();
            let plain = decrypt(&context, through_bytes(context.files(), made.secret()), CiphertextV1::new(conjugate));
            let expected = expected.automorphism(m - 1).unwrap();
            assert_eq!(plain.coefficients(), expected.coefficients(), "m = {m} {scheme}");
        }
    }
}

#[test]
fn seeds_halve_ciphertexts_and_keys() {
    let context = context(2048, 12289, 1, Scheme::Bgv);
    let made = Values::new(&context);
    let length = |payload: &[u8]| payload.len() as f64;
    let (seeded, full) = (to_payload(context.files(), &made.seeded), to_payload(context.files(), &made.full));
    assert!(length(&full) / length(&seeded) > 1.9);
    // Their room was there from the beginning: growing would leave copies behind.
    assert_eq!(full.capacity(), full.len());
    let n = context.n();
    // b halves only: relinearisation with two digits over 40 + 33 + 45 bits, one Galois key with
    // one over 40 + 45.
    let bits = n * (2 * (40 + 33 + 45) + (40 + 45));
    assert!(to_payload(context.files(), made.keys()).len() <= bits / 8 + 2 * 42 + 4);
    assert_eq!(to_payload(context.files(), made.secret()).len(), n / 4);
}

/// In the smallest rings a seed is longer than the polynomial that it stands for.
#[test]
fn seeded_ciphertexts_of_the_smallest_rings_come_back() {
    let assurance = Assurance::Insecure { name: "insecure_wire_test".into() };
    for (m, p) in [(3, 7), (4, 5), (8, 17), (9, 37)] {
        let spec = RlweSpec { digits: 1, assurance: assurance.clone(), ..chain(m, &[40], &[45]) };
        let params = Params::new("insecure_wire_test", Scheme::Bgv, (p, 1), None, spec).unwrap();
        let context = Context::from_params(params).unwrap();
        let (client, _) = context.generate_keys_from_seed([&Products], 5).unwrap();
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let (ciphertext, seed) = client.decryptor().encrypt(&message(&context), 1, &mut rng).unwrap();
        let stored = CiphertextV1::seeded(ciphertext, seed).unwrap();
        let length = to_payload(context.files(), &stored).len() as u64;
        assert_eq!(length, <CiphertextV1 as Wire>::limit(context.files()), "m = {m}");
        let bytes = context.to_bytes(&stored).unwrap();
        let back: CiphertextV1 = context.from_bytes(&bytes).unwrap();
        assert_eq!(client.decrypt_plaintext(&back.into_ciphertext()).unwrap(), message(&context), "m = {m}");
    }
}

/// Memory is asked for no more than the longest value takes: a public key is of one length, and of
/// evaluation keys there is one for each automorphism but the identity, and one for products.
#[test]
fn limits_are_as_long_as_the_longest_values() {
    let context = context(8, 17, 1, Scheme::Bgv);
    let all = KeyRequest::none("a test").with_galois([3, 5, 7]);
    let (client, server) = context.generate_keys_from_seed([&Products, &all], 5).unwrap();
    let public = to_payload(context.files(), &client.public_key().unwrap()).len() as u64;
    assert_eq!(public, <PublicKey as Wire>::limit(context.files()));
    let four = to_payload(context.files(), &**server.engine().keys()).len() as u64;
    assert_eq!(<EvaluationKeys as Wire>::limit(context.files()) - 4, (four - 4) / 4 * 5);
}

#[test]
fn a_ciphertext_alone_has_the_form_of_one_with_both_polynomials() {
    let context = golden_context();
    let stored = Values::new(&context).full;
    let alone = stored.clone().into_ciphertext();
    assert_eq!(Wire::<WireContext>::key_id(&alone), Some(alone.key_id()));
    let bytes = context.to_bytes(&alone).unwrap();
    assert_eq!(bytes, context.to_bytes(&stored).unwrap());
    let back: Ciphertext = context.from_bytes(&bytes).unwrap();
    assert_eq!(back.parts(), alone.parts());
}

#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = golden_context();
    for_each_kind(&context, |kind, payload, again| reject_damage(&label(kind, context.files()), payload, again));
}

#[test]
fn random_bytes_never_panic() {
    let context = golden_context();
    for_each_kind(&context, |kind, payload, again| {
        let mut rng = ChaCha20Rng::from_seed([6; 32]);
        for length in 0..payload.len() {
            let mut bytes = vec![0; length];
            rng.fill_bytes(&mut bytes);
            assert!(again(&bytes).is_err(), "{length} random bytes are no {kind}");
        }
        let mut ones = payload.to_vec();
        ones.fill(0xff);
        assert!(again(&ones).is_err(), "all ones are no residues");
    });
}

#[test]
fn impossible_fields_are_named() {
    let context = golden_context();
    let made = Values::new(&context);
    let whole = to_payload(context.files(), &made.full);
    let what = |offset: usize, bytes: &[u8]| {
        let mut payload = whole.to_vec();
        payload[offset..offset + bytes.len()].copy_from_slice(bytes);
        match decode::<_, CiphertextV1>(context.files(), &payload) {
            Err(Error::Wire(WireError::Malformed { what })) => what,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(what(0, &[2]), "ciphertext scheme");
    // The golden context has d = 1: no second flag.
    assert_eq!(what(1, &[2]), "ciphertext flags");
    assert_eq!(what(2, &[0, 0]), "ciphertext level");
    assert_eq!(what(2, &[3, 0]), "ciphertext level");
    assert_eq!(what(4, &[0, 0]), "plaintext exponent");
    assert_eq!(what(4, &[2, 0]), "plaintext exponent");
    assert_eq!(what(6, &[200, 0]), "number of polynomials");
    for factor in [0u64, 97, 98, u64::MAX] {
        assert_eq!(what(8, &factor.to_le_bytes()), "plaintext factor");
    }
    assert_eq!(what(16, &f64::NAN.to_le_bytes()), "noise bound");
    assert_eq!(what(16, &(-3.0f64).to_le_bytes()), "noise bound");
    assert_eq!(what(16, &1e9f64.to_le_bytes()), "noise bound");
    assert_eq!(what(16, &(-0.0f64).to_le_bytes()), "noise bound");
    assert_eq!(what(24, &[0xff; 5]), "ciphertext");
}

#[test]
fn other_contexts_are_refused() {
    let own = golden_context();
    let payload = to_payload(own.files(), Values::new(&own).secret());
    let bytes = seal(&label(Kind::SecretKey, own.files()), &payload);
    for other in [context(32, 97, 1, Scheme::Bfv), context(32, 193, 1, Scheme::Bgv), context(64, 193, 1, Scheme::Bgv)] {
        let got = open(&bytes, &any_key(Kind::SecretKey, other.files()));
        assert!(matches!(got, Err(WireError::OtherContext { .. })), "{got:?}");
    }
}

/// The context of the golden files with slots of degree d > 1: m = 21, p = 2, BFV, d = 6.
fn golden_context_of_degree_6() -> Context {
    context(21, 2, 1, Scheme::Bfv)
}

#[test]
fn ciphertexts_keep_their_content() {
    let context = golden_context_of_degree_6();
    let made = Values::new(&context);
    let integers = CiphertextV1::new(made.client.encrypt(&[0, 1]).unwrap());
    for (ciphertext, content) in [(integers, Content::Integers), (made.full.clone(), Content::Elements)] {
        assert_eq!(through_bytes(context.files(), &ciphertext).into_ciphertext().content(), content);
        let payload = to_payload(context.files(), &ciphertext);
        assert_eq!(payload[1] & 2 != 0, content == Content::Integers);
        let again = |payload: &[u8]| {
            decode::<_, CiphertextV1>(context.files(), payload).map(|ct| to_payload(context.files(), &ct).to_vec())
        };
        reject_damage(&label(Kind::Ciphertext, context.files()), &payload, &again);
        for unknown in [4, 8, 16, 32, 64, 128] {
            let mut payload = payload.to_vec();
            payload[1] |= unknown;
            let refused = decode::<_, CiphertextV1>(context.files(), &payload).err();
            assert_eq!(refused, Some(Error::Wire(WireError::Malformed { what: "ciphertext flags" })));
        }
    }
    // Already with d = 2 there is something to tell.
    let twofold = self::context(8, 3, 1, Scheme::Bgv);
    assert_eq!(twofold.slot_ring().degree(), 2);
    let integers = CiphertextV1::new(Values::new(&twofold).client.encrypt(&[0, 1]).unwrap());
    assert_eq!(through_bytes(twofold.files(), &integers).into_ciphertext().content(), Content::Integers);
    // With d = 1 there is nothing to tell.
    let flat = golden_context();
    let full = Values::new(&flat).full;
    assert_eq!(to_payload(flat.files(), &full)[1], 0);
    assert_eq!(through_bytes(flat.files(), &full).into_ciphertext().content(), Content::Integers);
}

/// Written before ciphertexts told their content, and after.
#[test]
fn golden_files_with_and_without_content() {
    let context = golden_context_of_degree_6();
    let secret = || golden::<_, SecretKey>("degree-6-secret-key", context.files());
    for (name, content) in [("ciphertext-untold", Content::Elements), ("ciphertext-integers", Content::Integers)] {
        let ciphertext: CiphertextV1 = golden(name, context.files());
        assert_eq!(ciphertext.clone().into_ciphertext().content(), content, "{name}");
        assert_eq!(decrypt(&context, secret(), ciphertext).to_integers().unwrap(), [0, 1], "{name}");
    }
}

#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = golden_context();
    let expected = message(&context);
    let secret = || golden::<_, SecretKey>("secret-key", context.files());
    let query: QueryV1 = golden("query", context.files());
    let answer: AnswerV1 = golden("answer", context.files());
    assert_eq!((query.schema, answer.schema), ([7; 32], [9; 32]));
    let ciphertexts = [
        golden("ciphertext-seeded", context.files()),
        golden("ciphertext", context.files()),
        query.ciphertext,
        answer.ciphertext,
    ];
    for ciphertext in ciphertexts {
        assert_eq!(decrypt(&context, secret(), ciphertext).coefficients(), expected.coefficients());
    }
    let public: PublicKey = golden("public-key", context.files());
    let encryptor = Encryptor::new(Scheme::Bgv, Arc::new(public));
    let fresh = encryptor.encrypt(&expected, &mut ChaCha20Rng::from_seed([8; 32])).unwrap();
    let keys: EvaluationKeys = golden("evaluation-keys", context.files());
    let server = context.server_from_keys(Arc::new(keys), Vec::new()).unwrap();
    let engine = server.engine();
    let square = decrypt(&context, secret(), CiphertextV1::new(engine.square(&fresh).unwrap()));
    assert_eq!(square.coefficients(), expected.multiply(&expected).unwrap().coefficients());
    let low = engine.switch_modulus(&fresh, 1).unwrap();
    let conjugate = decrypt(&context, secret(), CiphertextV1::new(engine.automorphism(&low, 31).unwrap()));
    assert_eq!(conjugate.coefficients(), expected.automorphism(31).unwrap().coefficients());
}

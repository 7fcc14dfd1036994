//! The files of a whole session, as they were first written: they stay readable, and mean what they meant.

use std::path::PathBuf;
use std::sync::Arc;

use windlass::needs::Products;
use windlass::schemes::Encryptor;
use windlass::{Context, Exact, Params, Plaintext, Scheme};
use windlass_parties::{Agreement, Assembly, Identity, Party, Reading};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

const NAMES: [&str; 3] = ["ada", "ben", "cleo"];

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(place(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap()
}

/// Three parties, of whom two decrypt, over a ring of 16 coefficients.
fn context() -> Context {
    let spec = RlweSpec {
        m: 32,
        q_prime_bits: vec![45; 5],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50, 50],
        digits: 3,
        secret: SecretDistribution::Collective { parties: 3 },
        assurance: Assurance::Insecure { name: "insecure_golden".into() },
    };
    Context::from_params(Params::new("insecure_golden", Scheme::Bgv, (97, 1), None, spec).unwrap()).unwrap()
}

/// Writes all files, where WINDLASS_WRITE_GOLDEN is set and there are none.
fn write_missing() {
    if place("").exists() || std::env::var_os("WINDLASS_WRITE_GOLDEN").is_none() {
        return;
    }
    std::fs::create_dir_all(place("")).unwrap();
    let save = |name: &str, bytes: &[u8]| std::fs::write(place(name), bytes).unwrap();
    let context = context();
    let identities: Vec<Identity> = NAMES.iter().map(|_| Identity::generate().unwrap()).collect();
    let members = identities.iter().zip(NAMES).map(|(own, name)| own.member(name)).collect();
    let agreement = Agreement::new(&context, members, 2, &[&Products]).unwrap();
    save("agreement-v1.json", agreement.to_json().as_bytes());
    let mut parties: Vec<Party> = identities.iter().map(|own| Party::join(&agreement, own).unwrap()).collect();
    let mut assembly = Assembly::new(&agreement);
    let opening: Vec<Vec<Vec<u8>>> = parties.iter().map(|party| party.opening().unwrap()).collect();
    for (name, messages) in NAMES.iter().zip(&opening) {
        for (place, message) in messages.iter().enumerate() {
            save(&format!("{name}-opening-{place}-v2.bin"), message);
            assembly.receive(message).unwrap();
            parties.iter_mut().for_each(|party| {
                party.receive(message).unwrap();
            });
        }
    }
    for (name, (party, identity)) in NAMES.iter().zip(parties.iter().zip(&identities)) {
        save(&format!("{name}.identity"), identity.to_text().as_bytes());
        save(&format!("{name}-state-v2.bin"), &party.to_bytes().unwrap());
        let closing = party.closing().unwrap();
        save(&format!("{name}-closing-v2.bin"), &closing[0]);
        assembly.receive(&closing[0]).unwrap();
    }
    let keys = assembly.finish().unwrap();
    save("public-v2.bin", &context.to_bytes(&*keys.public).unwrap());
    save("evaluation-v2.bin", &context.to_bytes(&*keys.evaluation).unwrap());
    let plaintext = Plaintext::from_integers(context.slot_ring(), &[5, 6, 7]).unwrap();
    let encryptor = Encryptor::new(Scheme::Bgv, keys.public);
    let ciphertext = encryptor.encrypt(&plaintext, &mut os_rng().unwrap()).unwrap();
    save("ciphertext-v2.bin", &context.to_bytes(&ciphertext).unwrap());
    for number in [0, 2] {
        let share = parties[number].decrypt(&ciphertext, &[1, 3], Some(2)).unwrap();
        save(&format!("{}-share-v2.bin", NAMES[number]), &share);
    }
}

#[test]
fn a_session_of_old_is_read() {
    write_missing();
    let agreement = Agreement::<Exact>::from_json(&text("agreement-v1.json")).unwrap();
    assert_eq!(agreement.to_json(), text("agreement-v1.json"), "an agreement is written as it was");
    let context = agreement.context();
    assert_eq!(context.params().id(), self::context().params().id());
    let identities = NAMES.map(|name| Identity::from_text(&text(&format!("{name}.identity"))).unwrap());
    let mut assembly = Assembly::new(&agreement);
    for (name, identity) in NAMES.iter().zip(&identities) {
        let state = bytes(&format!("{name}-state-v2.bin"));
        let party = Party::from_bytes(&agreement, identity, &state).unwrap();
        assert_eq!(*party.to_bytes().unwrap(), state, "a state is written as it was");
        // What follows from the state is what it was.
        let opening = party.opening().unwrap();
        for (place, message) in opening.iter().enumerate() {
            let stored = bytes(&format!("{name}-opening-{place}-v2.bin"));
            assert!(place > 1 || *message == stored, "{name}: opening message {place}");
            assembly.receive(&stored).unwrap();
        }
        let closing = bytes(&format!("{name}-closing-v2.bin"));
        assert_eq!(party.closing().unwrap(), std::slice::from_ref(&closing));
        assembly.receive(&closing).unwrap();
    }
    let keys = assembly.finish().unwrap();
    assert_eq!(context.to_bytes(&*keys.public).unwrap(), bytes("public-v2.bin"));
    assert_eq!(context.to_bytes(&*keys.evaluation).unwrap(), bytes("evaluation-v2.bin"));
    let ciphertext = context.from_bytes(&bytes("ciphertext-v2.bin")).unwrap();
    let mut reading = Reading::new(&agreement, &ciphertext, &[1, 3]).unwrap().for_reader(&identities[1]).unwrap();
    for name in ["ada", "cleo"] {
        reading.receive(&bytes(&format!("{name}-share-v2.bin"))).unwrap();
    }
    assert_eq!(reading.open().unwrap().to_integers().unwrap()[..4], [5, 6, 7, 0]);
    let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new()).unwrap();
    server.square(&ciphertext).unwrap();
}

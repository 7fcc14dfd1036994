//! Files name the key pair they belong to.

use windlass::Error;
use windlass::rlwe::{PublicKey, SecretKey};
use windlass::wire::{KeyId, WireError, load, load_for, save};

use crate::wire::exact::golden_context;

#[test]
fn files_of_another_key_pair_are_refused() {
    let context = golden_context();
    let dir = tempfile::tempdir().unwrap();
    let [client, other] = [3, 4].map(|seed| context.generate_keys_from_seed([], seed).unwrap().0);
    let names = [client.secret_key().key_id(), other.secret_key().key_id()];
    assert_ne!(names[0], names[1]);
    let at = |name: &str| dir.path().join(name);
    client.save_secret(at("secret.key")).unwrap();
    context.save(at("public.key"), &client.public_key().unwrap()).unwrap();
    let files = context.files();
    let (back, key): (SecretKey, KeyId) = load(&at("secret.key"), files).unwrap();
    assert_eq!((key, back.key_id()), (names[0], names[0]));
    let back: PublicKey = load_for(&at("public.key"), files, key).unwrap();
    assert_eq!(back.key_id(), names[0]);
    let none = save(&at("evaluation.key"), files, &**context.server_without_keys().unwrap().engine().keys());
    assert_eq!(none, Err(WireError::NoKeyPair));
    let refused = load_for::<_, PublicKey>(&at("public.key"), files, names[1]).unwrap_err();
    assert_eq!(refused, Error::Wire(WireError::OtherKeyPair { found: names[0], expected: names[1] }));
    let message = refused.to_string();
    assert!(message.contains(&names[0].to_string()[..12]) && message.contains("another key pair"), "{message}");
}

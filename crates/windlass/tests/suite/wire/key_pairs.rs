//! Files name the key pair they belong to.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Error;
use windlass::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use windlass::wire::{KeyId, WireError, load, load_for, save};

use crate::wire::exact::golden_context;

#[test]
fn files_of_another_key_pair_are_refused() {
    let context = golden_context();
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let dir = tempfile::tempdir().unwrap();
    let [secret, other] = [0, 1].map(|_| SecretKey::generate(context.context(), &mut rng));
    let names = [secret.key_id(), other.key_id()];
    assert_ne!(names[0], names[1]);
    let public = PublicKey::generate(&secret, &mut rng);
    let at = |name: &str| dir.path().join(name);
    save(&at("secret.key"), &context, &secret).unwrap();
    save(&at("public.key"), &context, &public).unwrap();
    let (back, key): (SecretKey, KeyId) = load(&at("secret.key"), &context).unwrap();
    assert_eq!((key, back.key_id()), (names[0], names[0]));
    let back: PublicKey = load_for(&at("public.key"), &context, key).unwrap();
    assert_eq!(back.key_id(), names[0]);
    let none = save(&at("evaluation.key"), &context, &EvaluationKeys::empty(context.context()));
    assert_eq!(none, Err(WireError::NoKeyPair));
    let refused = load_for::<_, PublicKey>(&at("public.key"), &context, names[1]).unwrap_err();
    assert_eq!(refused, Error::Wire(WireError::OtherKeyPair { found: names[0], expected: names[1] }));
    let message = refused.to_string();
    assert!(message.contains(&names[0].to_string()[..12]) && message.contains("another key pair"), "{message}");
}

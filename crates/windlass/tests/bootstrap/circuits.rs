//! Circuits that refresh by themselves, and what they need beforehand.

use super::*;
use windlass::ring::kernels::Isa;
use windlass::ring::slots::SlotRing;

#[test]
fn with_spare_bits_refreshes_when_too_little_is_left() {
    let mut t = toy(12);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    let keys = Arc::new(t.keys);
    let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &keys, own).unwrap();
    let engine = Engine::new(Scheme::Bgv, t.plan.message_ring(), keys).unwrap();
    let decryptor = Decryptor::new(Scheme::Bgv, t.plan.message_ring(), Arc::clone(&t.secret));
    let thin = message(&t.plan, &mut t.rng);
    let (fresh, _) = decryptor.encrypt(&thin, t.context.top_level(), &mut t.rng).unwrap();
    let low = engine.reduce_level(&fresh, t.plan.least_input_bits() + 30.0).unwrap();
    let spare = bootstrapper.spare_bits(&low);
    assert!((engine.capacity(&low) - spare - t.plan.least_input_bits()).abs() < 1e-9);
    let kept = bootstrapper.with_spare_bits(low.clone(), spare - 1.0).unwrap();
    assert_eq!(engine.capacity(&kept), engine.capacity(&low));
    let refreshed = bootstrapper.with_spare_bits(low, spare + 1.0).unwrap();
    assert!(bootstrapper.spare_bits(&refreshed) > spare + 1.0);
    assert_eq!(decryptor.decrypt(&refreshed).unwrap(), thin);
}

#[test]
fn a_relinearisation_key_below_its_stage_is_missed_before_any_work() {
    let mut t = toy(13);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    t.keys.add_relinearisation(&t.secret, 1, &mut t.rng).unwrap();
    let refused = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(t.keys.clone()), own.clone()).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::MissingRelinearisationKey { .. }))), "{refused:?}");
    // add_keys replaces it.
    t.plan.add_keys(&mut t.keys, &t.secret, &mut t.rng).unwrap();
    assert!(Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(t.keys), own).is_ok());
}

#[test]
fn a_ciphertext_of_another_prime_is_refused_before_any_work() {
    let mut t = toy(14);
    let own = BootstrapKeys::generate(&t.plan, Scheme::Bgv, &t.secret, &mut t.rng).unwrap();
    let bootstrapper = Bootstrapper::new(Arc::clone(&t.plan), Scheme::Bgv, &Arc::new(t.keys), own).unwrap();
    let other = Arc::new(SlotRing::new(105, 17, 1, Isa::best()).unwrap());
    let decryptor = Decryptor::new(Scheme::Bgv, &other, Arc::clone(&t.secret));
    let (ct, _) = decryptor.encrypt(&Plaintext::one(&other), t.context.top_level(), &mut t.rng).unwrap();
    let refused = bootstrapper.refresh_with(&ct, |_| panic!("no stage may begin")).err();
    assert!(matches!(refused, Some(Error::Bootstrap(BootstrapError::WrongContext { .. }))), "{refused:?}");
}

//! What the slots hold, integers or elements, before and after.

use super::*;

/// Thin bootstrapping keeps constant coefficients only: what is not known to be integers is refused
/// before any work, on the mock too.
#[test]
fn thin_bootstrapping_refuses_elements() {
    let toy = toy();
    let (slots, (client, server)) = (toy.plan.message_ring(), toy.parties(11));
    let (l, d) = (slots.slots(), slots.degree());
    let elements = Plaintext::from_slots(slots, &vec![1; l * d]).unwrap();
    let constants: Vec<u64> = (0..l * d).map(|i| u64::from(i % d == 0)).collect();
    let integers = Plaintext::from_slots(slots, &constants).unwrap();
    let encrypt = |plaintext: &Plaintext| encrypt_at(&client, plaintext, 4);
    let refusal = Some(Error::Bootstrap(BootstrapError::NotIntegers));
    for plaintext in [&elements, &integers] {
        let ct = encrypt(plaintext);
        let refused =
            bootstrapper(&server).refresh_one(&ct, RefreshOptions::new().observed_by(|_| panic!("a stage was begun")));
        assert_eq!(refused.err(), refusal);
        assert_eq!(toy.plan.check(&ct).err(), refusal);
    }
    let message = BootstrapError::NotIntegers.to_string();
    assert!(message.contains("Mode::Packed") && message.contains("assume_integers"), "{message}");
    // The caller's word is taken: true, and it works; false, and this is what the refusal is for.
    for (plaintext, kept) in [(&integers, true), (&elements, false)] {
        let image = server.refresh(&encrypt(plaintext).assume_integers()).unwrap();
        assert_eq!(image.content(), Content::Integers);
        assert_eq!(client.decrypt_plaintext(&image).unwrap() == *plaintext, kept);
    }
    let (clear, mock) = (Clear::new(slots), ClearBootstrapper::new(Arc::clone(&toy.plan), 1).unwrap());
    let ct = clear.encrypt(&integers).unwrap();
    assert_eq!(mock.refresh(&ct).err(), refusal);
    let image = mock.refresh(&ct.assume_integers()).unwrap();
    assert_eq!((image.content(), &image.plaintext()), (Content::Integers, &integers));
}

/// Packed bootstrapping takes both, and the result is what its input was; the stages are known for
/// what they hold.
#[test]
fn packed_bootstrapping_keeps_the_content() {
    let spec = BootstrapSpec { mode: Mode::Packed, ephemeral_weight: 6, ..BootstrapSpec::default() };
    let toy = toy_with(params(105, 14), (2, 1), spec).with_scheme(Scheme::Bfv);
    let (plan, (client, server)) = (&toy.plan, toy.parties(12));
    let integers = Plaintext::from_integers(plan.message_ring(), &vec![1; plan.message_ring().slots()]).unwrap();
    let mock = ClearBootstrapper::new(Arc::clone(plan), 1).unwrap();
    for plaintext in [message(plan, 12), integers] {
        let ct = encrypt_at(&client, &plaintext, 4);
        let mut seen = Vec::new();
        let image = bootstrapper(&server).refresh_one(
            &ct,
            RefreshOptions::new().traced_by(|progress, ct| {
                seen.push((progress.stage.clone(), ct.content()));
                ControlFlow::Continue(())
            }),
        );
        let image = image.unwrap();
        assert_eq!(
            (image.content(), client.decrypt_plaintext(&image).unwrap()),
            (plaintext.content(), plaintext.clone())
        );
        let of = |name: &str| seen.iter().find(|(stage, _)| stage == name).map(|&(_, content)| content);
        assert_eq!(of("unpacking"), Some(Content::Elements));
        assert_eq!([of("digit removal"), of("repacking")], [Some(Content::Integers); 2]);
        let image = mock.refresh(&Clear::new(plan.message_ring()).encrypt(&plaintext).unwrap()).unwrap();
        assert_eq!((image.content(), &image.plaintext()), (plaintext.content(), &plaintext));
    }
}

//! Which states replace which.

use super::*;

#[test]
fn states_that_must_be_kept_are_not_replaced() {
    let context = exact(Scheme::Bgv, 2);
    let mut session = begin(&context, 2, 2, &[]);
    let keys = session.keys();
    let old = session.parties[0].to_bytes().unwrap();
    let ct = encrypt(&context, &keys, &[1]);
    session.parties[0].decrypt(&ct, &[1, 2], None).unwrap();
    let new = session.parties[0].to_bytes().unwrap();
    session.parties[0].check_over(&old).unwrap();
    let before = Party::from_bytes(&session.agreement, &session.identities[0], &old).unwrap();
    let again = Party::join(&session.agreement, &session.identities[0]).unwrap();
    let elsewhere = begin(&context, 2, 2, &[]);
    for (party, said) in [
        (&before, "more decryptions"),
        (&again, "another secret"),
        (&session.parties[1], "another secret"),
        (&elsewhere.parties[0], "another agreement"),
    ] {
        let refused = party.check_over(&new);
        assert!(matches!(&refused, Err(PartiesError::StateKept { reason }) if reason.contains(said)), "{refused:?}");
    }
    assert!(session.parties[0].check_over(&new[..99]).is_err());
}

/// A state from before the first shares came does not replace one that has answered them, nor one from before shares were
/// dealt: also where the counts of decryptions are equal.
#[test]
fn states_that_know_more_messages_are_not_replaced() {
    let context = exact(Scheme::Bgv, 3);
    let mut session = begin(&context, 3, 2, &[&Products]);
    let agreement = session.agreement.clone();
    let identity = Identity::from_text(&session.identities[0].to_text()).unwrap();
    let begun = session.parties[0].to_bytes().unwrap();
    let messages = session.opening();
    let load = |bytes: &[u8]| Party::from_bytes(&agreement, &identity, bytes).unwrap();
    let refused = |party: &Party, old: &[u8], said: &str| {
        let refused = party.check_over(old);
        assert!(matches!(&refused, Err(PartiesError::StateKept { reason }) if reason.contains(said)), "{refused:?}");
    };
    // One message of Ben or Cleo alone: a first share, or what was dealt to Ada.
    let mut taken = 0;
    for message in &messages {
        let mut knows = load(&begun);
        if knows.receive(message).unwrap() != Receipt::New {
            continue;
        }
        taken += 1;
        let known = knows.to_bytes().unwrap();
        refused(&load(&begun), &known, "has not");
        load(&known).check_over(&begun).unwrap();
        load(&known).check_over(&known).unwrap();
        // Of messages of two others neither state is the newer one.
        for other in messages.iter().filter(|other| *other != message) {
            let mut party = load(&begun);
            if party.receive(other).unwrap() == Receipt::New {
                refused(&party, &known, "has not");
            }
        }
    }
    assert_eq!(taken, 4);
    // Ben has begun twice: first shares of the same members, but not the same ones.
    let again = Party::join(&agreement, &session.identities[1]).unwrap().opening().unwrap();
    let mut other = load(&begun);
    for message in &again {
        other.receive(message).unwrap();
    }
    session.keys();
    assert_eq!(session.parties[0].decryptions(), 0);
    let closed = session.parties[0].to_bytes().unwrap();
    refused(&other, &closed, "has not");
    refused(&load(&begun), &closed, "has not");
    session.parties[0].check_over(&begun).unwrap();
}

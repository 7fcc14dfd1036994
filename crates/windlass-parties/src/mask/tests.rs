//! What a coalition learns from a share, with its mask and without.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass::schemes::{Encryptor, Publication};
use windlass::wire::FieldReader;
use windlass::{Context, Params, Plaintext, Scheme};
use windlass_ring::rns::IntegerLift;
use windlass_rlwe::context::os_rng;

use super::*;
use crate::header::header;
use crate::message::{read, read_polys};
use crate::{Assembly, Party};

struct Session {
    agreement: Agreement,
    identities: Vec<Identity>,
    parties: Vec<Party>,
    encryptor: Encryptor,
}

/// Two of three can decrypt; few bits of noise, which do not matter here.
fn session() -> Session {
    let params = Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().with_parties(3).unwrap();
    let context = Context::from_params(params).unwrap();
    let identities: Vec<Identity> = (0..3).map(|_| Identity::generate().unwrap()).collect();
    let members = identities.iter().zip(["Ada", "Ben", "Cleo"]).map(|(own, name)| own.member(name)).collect();
    let publication = Publication { security_bits: 20, decryptions: 4 };
    let agreement = Agreement::new(&context, members, 2, &[]).unwrap().with_publication(publication).unwrap();
    let mut parties: Vec<Party> = identities.iter().map(|own| Party::join(&agreement, own).unwrap()).collect();
    let mut assembly = Assembly::new(&agreement);
    let messages: Vec<_> = parties.iter().flat_map(|party| party.opening().unwrap()).collect();
    for message in &messages {
        assembly.receive(message).unwrap();
        for party in &mut parties {
            party.receive(message).unwrap();
        }
    }
    let encryptor = Encryptor::new(Scheme::Bgv, Arc::clone(&assembly.finish().unwrap().public));
    Session { agreement, identities, parties, encryptor }
}

/// Cleo takes no part in a decryption by Ada and Ben. With σ(1) = (2·s + σ(3))/3 and λ_1 = 2, three times Ada's
/// share, less 2·σ(3)·c_1, plus 4·c_0, is 4 times the phase plus a multiple of 3. Without a mask Cleo so finds each
/// coefficient of the error modulo 3. With it she finds a third of them, as by guessing.
#[test]
fn a_coalition_learns_nothing_of_errors_modulo_small_numbers() {
    let mut session = session();
    let agreement = session.agreement.clone();
    let context = agreement.context().clone();
    let plaintext = Plaintext::from_integers(context.slot_ring(), &[1, 2, 3]).unwrap();
    let ct = session.encryptor.encrypt(&plaintext, &mut os_rng().unwrap()).unwrap();
    let message = session.parties[0].decrypt(&ct, &[1, 2], None).unwrap();
    let plan = <windlass::Exact as CollectiveFamily>::plan(&context, &ct, (agreement.planned(), agreement.threshold()))
        .unwrap();
    let parts = plan.ciphertext().parts();
    let (rlwe, basis) = (agreement.common().context(), parts[0].basis().clone());
    let bits = <windlass::Exact as CollectiveFamily>::noise_bits(&plan);
    let about = header(&agreement, &ct, &[1, 2], (&basis, bits)).unwrap();
    let envelope = read(&agreement, &message).unwrap();
    let mut fields = FieldReader::new(&envelope.body[about.len()..]);
    let masked = read_polys(rlwe, (&basis, 1), &mut fields).unwrap().swap_remove(0);
    let lift = IntegerLift::new(rlwe.ring(), &basis);
    let modulo_3 = |poly: Poly<Eval>| lift.centred_mod(&poly.into_coeff(), 3).0;
    // The phase, by the secrets of all.
    let mut phase = parts[0].clone();
    for party in &session.parties {
        let secret = Poly::from_signed(rlwe.ring(), &basis, party.secret.expose_parts().0).into_eval();
        phase.mul_add_assign(&secret, &parts[1]);
    }
    let phase = modulo_3(phase);
    let dealt = session.parties[2].dealt.1.as_ref().unwrap().expose_poly().restrict(&basis);
    let found = |share: &Poly<Eval>| {
        let mut sum = share.times_scalar(|_| 3);
        sum.sub_assign(&dealt.mul(&parts[1]).times_scalar(|_| 2));
        sum.add_assign(&parts[0].times_scalar(|_| 4));
        let guesses = modulo_3(sum);
        let right = guesses.iter().zip(&phase).filter(|(a, b)| a == b).count();
        right as f64 / phase.len() as f64
    };
    // What Ben knows, who shares the mask with Ada.
    let mut bare = masked.clone();
    let by_ben = Masked { step: Step::Decryption, number: 2, members: &[1, 2], about: &about };
    mask(&agreement, &session.identities[1], &by_ben, std::slice::from_mut(&mut bare)).unwrap();
    assert_eq!(found(&bare), 1.0, "the attack, on a share without a mask");
    let guessed = found(&masked);
    assert!(guessed < 0.6, "{guessed} of the coefficients");
}

#[test]
fn masks_add_up_to_zero_and_are_for_one_purpose() {
    let session = session();
    let (agreement, ring) = (&session.agreement, session.agreement.common().context().ring());
    let basis = agreement.common().context().basis(1);
    let of = |step, number: u32, members: &[u32], about: &[u8]| {
        let mut poly = Poly::<Eval>::zero(ring, &basis);
        let masked = Masked { step, number, members, about };
        mask(agreement, &session.identities[number as usize - 1], &masked, std::slice::from_mut(&mut poly)).unwrap();
        poly
    };
    let digest = |poly: &Poly<Eval>| {
        let mut hash = Sha256::new();
        poly.row(0).iter().for_each(|x| hash.update(x.to_le_bytes()));
        hash.finalize()
    };
    let all = [1, 2, 3];
    let mut two = vec![Poly::<Eval>::zero(ring, &basis); 2];
    let masked = Masked { step: Step::Decryption, number: 1, members: &all, about: b"a" };
    mask(agreement, &session.identities[0], &masked, &mut two).unwrap();
    let mut sum = of(Step::Decryption, 1, &all, b"a");
    assert!(two[0].row(0) == sum.row(0) && two[1].row(0) != sum.row(0), "each polynomial has its own");
    let mut seen = vec![digest(&sum)];
    for number in 2..=3 {
        let one = of(Step::Decryption, number, &all, b"a");
        seen.push(digest(&one));
        sum.add_assign(&one);
    }
    assert!(sum.row(0).iter().all(|&x| x == 0));
    seen.push(digest(&of(Step::Decryption, 1, &all, b"b")));
    seen.push(digest(&of(Step::Second, 1, &all, b"a")));
    seen.push(digest(&of(Step::Decryption, 1, &[1, 2], b"a")));
    seen.push(digest(&of(Step::Decryption, 1, &[1, 3], b"a")));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7, "each is another");
    assert!(of(Step::Decryption, 2, &[2], b"a").row(0).iter().all(|&x| x == 0), "nobody to share it with");
}

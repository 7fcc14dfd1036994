//! What is found when parties agree, and not at the first decryption.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass::needs::{KeyLevel, KeyRequest, Products};
use windlass::schemes::ckks::CkksSpec;
use windlass::schemes::{Encryptor, Publication};
use windlass::{Approximate, Context, Exact, NeedsKeys, Params, Plaintext, Scheme};
use windlass_parties::{
    Agreement, Assembly, CollectiveFamily, Identity, Member, PartiesError, Party, Result, Step, is_approximate,
};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Assurance, RlweSpec, SecretDistribution};

fn members(names: &[&str]) -> Vec<Member> {
    names.iter().map(|name| Identity::generate().unwrap().member(name)).collect()
}

fn exact(parties: u32) -> Context {
    let params = Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().with_parties(parties).unwrap();
    Context::from_params(params).unwrap()
}

/// Three primes: less room than 128 bits of statistical security take.
fn narrow() -> Context {
    let spec = RlweSpec {
        m: 32,
        q_prime_bits: vec![45; 3],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50],
        digits: 3,
        secret: SecretDistribution::Collective { parties: 3 },
        assurance: Assurance::Insecure { name: "insecure_parties".into() },
    };
    Context::from_params(Params::new("insecure_parties", Scheme::Bgv, (97, 1), None, spec).unwrap()).unwrap()
}

fn approximate(parties: u32, scale_bits: u32) -> Context<Approximate> {
    let spec = CkksSpec {
        n: 128,
        secret: SecretDistribution::Collective { parties },
        assurance: Assurance::Insecure { name: "insecure_parties".into() },
        ..CkksSpec::secure_wide(2, scale_bits, 4, 8).unwrap()
    };
    Context::approximate(&spec).unwrap()
}

fn agree<F: CollectiveFamily>(context: &Context<F>, publication: Publication) -> Result<Agreement<F>> {
    Agreement::for_publication(context, members(&["Ada", "Ben", "Cleo"]), 2, &[&Products], publication)
}

fn missing<F: CollectiveFamily>(agreed: &Result<Agreement<F>>) -> f64 {
    match agreed {
        Err(PartiesError::NoRoom { threshold: 2, parties: 3, missing_bits, .. }) => *missing_bits,
        other => panic!("{other:?}"),
    }
}

/// Each bit of security that is asked for takes one bit of the parameters, and the refusal counts them.
#[test]
fn a_set_that_can_never_decrypt_is_refused_when_agreeing() {
    let context = narrow();
    let ask = |security_bits| agree(&context, Publication { security_bits, decryptions: 1 << 20 });
    let most = (1..=128).take_while(|&bits| ask(bits).is_ok()).last().unwrap();
    assert!(most < 127, "the toy has room for {most} bits");
    assert_eq!((missing(&ask(most + 1)), missing(&ask(most + 2))), (1.0, 2.0));
    let said = ask(most + 1).unwrap_err().to_string();
    assert!(said.contains("2 of 3 members could never decrypt a fresh ciphertext"), "{said}");
    assert!(said.contains("needs 1 bits more") && said.contains("agree on fewer decryptions"), "{said}");
    // So is the text of such an agreement, which someone else wrote.
    let text = ask(most).unwrap().to_json().to_owned();
    let raised = text.replace(&format!("\"security_bits\": {most}"), &format!("\"security_bits\": {}", most + 1));
    assert_ne!(text, raised);
    assert_eq!(missing(&Agreement::<Exact>::from_json(&raised)), 1.0);
    assert!(ask(most).unwrap().with_publication(Publication { security_bits: 128, decryptions: 1 << 20 }).is_err());
}

#[test]
fn numbers_of_ckks_need_a_scale_for_the_noise() {
    let usual = agree(&approximate(3, 40), Publication::default());
    assert!(missing(&usual) > 10.0);
    let wide = agree(&approximate(3, 95), Publication::default()).unwrap();
    assert!(wide.fresh_decryption().precision_bits() > 10.0);
}

/// A depth is tried with keys that are thrown away: a decryption after as many products as the parameters have.
#[test]
fn a_depth_without_room_is_refused() {
    let context = exact(3);
    let agreement = agree(&context, Publication::default()).unwrap();
    let fresh = agreement.fresh_decryption().needed_bits();
    let mut depths = (0..).map(|depth| (depth, agreement.decryption_after(depth)));
    let (depth, refused) = depths
        .by_ref()
        .inspect(|(_, plan)| assert!(plan.as_ref().map_or(true, |plan| plan.needed_bits() + 1.0 >= fresh)))
        .find(|(_, plan)| plan.is_err())
        .unwrap();
    assert!(depth > 1, "one product and a decryption fit");
    let said = refused.unwrap_err();
    let no_room = matches!(&said, PartiesError::NoRoom { what, .. } if what.contains(&format!("{depth} squarings")));
    assert!(no_room || matches!(&said, PartiesError::Windlass(_)), "{said}");

    let real = agree(&approximate(3, 95), Publication::default()).unwrap();
    let [once, twice] = [1, 2].map(|depth| real.decryption_after(depth).unwrap().precision_bits());
    assert!(once < real.fresh_decryption().precision_bits() && twice < once);
    assert!(real.decryption_after(3).is_err(), "the parameters have two levels");
}

#[test]
fn names_that_cannot_be_told_apart_are_refused() {
    let context = exact(2);
    for name in ["A,B", "Ada\u{200b}", "\u{202e}adA", " Ada", ""] {
        let refused = Agreement::new(&context, members(&["Ada", name]), 2, &[]);
        assert!(matches!(refused, Err(PartiesError::Name { .. })), "{name:?}: {refused:?}");
    }
    assert!(Agreement::new(&context, members(&["Ada Lovelace", "Ødegård"]), 2, &[]).is_ok());
}

/// The length of each message is known before there is one, and no message is longer than the agreement says.
#[test]
fn lengths_of_messages_are_stated_for_the_steps_that_there_are() {
    let context = exact(3);
    let identities = [(); 3].map(|()| Identity::generate().unwrap());
    let list = identities.iter().zip(["Ada", "Ben", "Cleo"]).map(|(own, name)| own.member(name)).collect();
    let all = Agreement::new(&context, list, 2, &[&Products]).unwrap();
    let mut parties: Vec<Party> = identities.iter().map(|own| Party::join(&all, own).unwrap()).collect();
    let length = |message: &Vec<u8>| message.len() as u64;
    let opening: Vec<Vec<Vec<u8>>> = parties.iter().map(|party| party.opening().unwrap()).collect();
    let stated = [Step::Keys, Step::First, Step::Dealt, Step::Dealt].map(|step| all.message_bytes(step).unwrap());
    let mut assembly = Assembly::new(&all);
    for messages in &opening {
        assert_eq!(messages.iter().map(length).collect::<Vec<_>>(), stated);
        for message in messages {
            assembly.receive(message).unwrap();
            for party in &mut parties {
                party.receive(message).unwrap();
            }
        }
    }
    for party in &parties {
        let closing = party.closing().unwrap();
        assert_eq!(closing.iter().map(length).collect::<Vec<_>>(), [all.message_bytes(Step::Second).unwrap()]);
        assembly.receive(&closing[0]).unwrap();
    }
    let plaintext = Plaintext::from_integers(context.slot_ring(), &[1, 2]).unwrap();
    let encryptor = Encryptor::new(Scheme::Bgv, assembly.finish().unwrap().public);
    let ct = encryptor.encrypt(&plaintext, &mut os_rng().unwrap()).unwrap();
    let share = length(&parties[0].decrypt(&ct, &[1, 2], None).unwrap());
    assert_eq!(share, all.message_bytes(Step::Decryption).unwrap());
    // A switch has two polynomials, and what is for a reader is encrypted.
    let (client, _) = context.generate_keys([&Products]).unwrap();
    let target = Arc::new(client.public_key().unwrap());
    let switch = length(&parties[0].switch(&ct, &[1, 2], &target).unwrap());
    let masked = length(&parties[0].decrypt_to_share(&ct, &[1, 2], 2).unwrap().0);
    assert_eq!([Step::Switch, Step::Masked].map(|step| all.message_bytes(step)), [None; 2]);
    assert!(share < masked && masked < switch, "{share}, {masked}, {switch}");
    for (step, bytes) in [(Step::Switch, switch), (Step::Masked, masked), (Step::Decryption, share)] {
        assert!(bytes <= all.longest_message(), "{step}");
    }
    assert!(stated.iter().all(|&bytes| bytes <= all.longest_message()));
    let least = Agreement::new(&exact(2), members(&["Ada", "Ben"]), 2, &[]).unwrap();
    assert_eq!([Step::First, Step::Dealt, Step::Second, Step::Switch].map(|step| least.message_bytes(step)), [None; 4]);
}

/// Keys that a circuit of someone else asks for.
struct Asked(BTreeMap<u64, KeyLevel>);

impl NeedsKeys for Asked {
    fn key_request(&self) -> KeyRequest {
        KeyRequest { galois: self.0.clone(), ..KeyRequest::none("a circuit") }
    }
}

/// What no text may list is refused when agreeing, before there is a text that could not be read.
#[test]
fn keys_that_no_text_may_list_are_refused() {
    let context = exact(2);
    let ask = |asked: Asked| Agreement::new(&context, members(&["Ada", "Ben"]), 2, &[&asked]);
    let many = Asked((1..=4097).map(|k| (2 * k + 1, KeyLevel::Top)).collect());
    let refused = ask(many);
    assert!(matches!(&refused, Err(PartiesError::OutOfRange(_))), "{refused:?}");
    assert!(refused.unwrap_err().to_string().contains("Galois keys"));
    assert!(ask(Asked(BTreeMap::from([(3, KeyLevel::Top)]))).is_ok());
    assert!(ask(Asked(BTreeMap::from([(2, KeyLevel::Top)]))).is_err(), "2 is no automorphism");
}

/// A text that is refused for its members is so before its bootstrappings are planned.
#[test]
fn texts_are_checked_before_anything_is_planned() {
    let agreement = Agreement::new(&exact(2), members(&["Ada", "Ben"]), 2, &[]).unwrap();
    let text = agreement.to_json();
    let with =
        text.replace("\"security_bits\"", "\"other_bootstrappings\": [{\"mode\": \"thick\"}],\n  \"security_bits\"");
    let unknown = Agreement::<Exact>::from_json(&with);
    assert!(matches!(unknown, Err(PartiesError::Windlass(_))), "{unknown:?}");
    let refused = Agreement::<Exact>::from_json(&with.replace("\"threshold\": 2", "\"threshold\": 9"));
    assert!(matches!(refused, Err(PartiesError::OutOfRange(_))), "{refused:?}");
    let refused = Agreement::<Exact>::from_json(&with.replace("\"name\": \"Ben\"", "\"name\": \"Ada\""));
    assert!(matches!(refused, Err(PartiesError::MemberTwice { .. })), "{refused:?}");
    // The longest text, and one that is longer.
    let real = agree(&approximate(3, 95), Publication::default()).unwrap().to_json().to_owned();
    assert!(is_approximate(&real) && !is_approximate(text));
    let padded = |length: usize| format!("{real}{}", " ".repeat(length - real.len()));
    assert!(is_approximate(&padded(1 << 22)) && !is_approximate(&padded((1 << 22) + 1)));
}

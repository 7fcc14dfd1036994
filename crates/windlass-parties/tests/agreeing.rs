//! What is found when parties agree, and not at the first decryption.

use windlass::needs::Products;
use windlass::schemes::Publication;
use windlass::schemes::ckks::CkksSpec;
use windlass::{Approximate, Context, Exact, Params, Scheme};
use windlass_parties::{Agreement, CollectiveFamily, Identity, Member, PartiesError, Result, Step};
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

/// The length of each message is known before there is one; `sessions.rs` and the command line compare with messages.
#[test]
fn lengths_of_messages_are_stated_for_the_steps_that_there_are() {
    let all = agree(&exact(3), Publication::default()).unwrap();
    for step in [Step::Keys, Step::First, Step::Dealt, Step::Second, Step::Decryption] {
        assert!(all.message_bytes(step).unwrap() <= all.longest_message(), "{step}");
    }
    let least = Agreement::new(&exact(2), members(&["Ada", "Ben"]), 2, &[]).unwrap();
    assert_eq!([Step::First, Step::Dealt, Step::Second, Step::Switch].map(|step| least.message_bytes(step)), [None; 4]);
}

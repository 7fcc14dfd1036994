//! Whole sessions: making keys, computing, decrypting; messages that are late, doubled, changed, of another session; and
//! parties that stop and start again.

mod refreshes;
mod sharing;
mod states;

use std::sync::Arc;

use windlass::circuits::{TraceChain, TracePlan, TraceSpec};
use windlass::needs::Products;
use windlass::schemes::ckks::{self, CkksSpec, WideComplex};
use windlass::schemes::{Ciphertext, Encryptor, Publication};
use windlass::{Approximate, Context, Error, Exact, NeedsKeys, Params, Plaintext, Scheme};
use windlass_parties::{
    Agreement, Assembly, CollectiveFamily, CollectiveKeys, Handover, Identity, PartiesError, Party, Reading, Receipt,
    Step,
};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Assurance, SecretDistribution};

const NAMES: [&str; 16] =
    ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gil", "Hana", "Ivo", "Jo", "Kim", "Lea", "Max", "Nia", "Olu", "Pia"];

fn exact(scheme: Scheme, parties: u32) -> Context {
    let params = Params::preset("insecure_toy_256", scheme).unwrap().with_parties(parties).unwrap();
    Context::from_params(params).unwrap()
}

fn approximate(parties: u32) -> Context<Approximate> {
    let spec = CkksSpec {
        n: 128,
        secret: SecretDistribution::Collective { parties },
        assurance: Assurance::Insecure { name: "insecure_parties".into() },
        ..CkksSpec::secure_wide(1, 95, 4, 8).unwrap()
    };
    Context::approximate(&spec).unwrap()
}

struct Session<F: CollectiveFamily> {
    identities: Vec<Identity>,
    agreement: Agreement<F>,
    parties: Vec<Party<F>>,
}

fn begin<F: CollectiveFamily>(
    context: &Context<F>,
    parties: usize,
    threshold: u32,
    needs: &[&dyn NeedsKeys],
) -> Session<F> {
    let identities: Vec<Identity> = (0..parties).map(|_| Identity::generate().unwrap()).collect();
    let members = identities.iter().zip(NAMES).map(|(own, name)| own.member(name)).collect();
    let agreement = Agreement::new(context, members, threshold, needs).unwrap();
    let parties = identities.iter().map(|own| Party::join(&agreement, own).unwrap()).collect();
    Session { identities, agreement, parties }
}

impl<F: CollectiveFamily> Session<F> {
    fn opening(&self) -> Vec<Vec<u8>> {
        self.parties.iter().flat_map(|party| party.opening().unwrap()).collect()
    }

    /// All messages to everyone, as a mailbox gives them.
    fn keys(&mut self) -> CollectiveKeys<F> {
        let mut assembly = Assembly::new(&self.agreement);
        // The lengths were known before: of a message for each key, of the first and of the dealt shares.
        let known = self.agreement.key_message_bytes();
        for party in &self.parties {
            let lengths: Vec<u64> = party.opening_messages().map(|message| message.unwrap().len() as u64).collect();
            let later = [Step::First, Step::Dealt].map(|step| self.agreement.message_bytes(step));
            let dealt = std::iter::repeat_n(later[1], self.parties.len() - 1).flatten();
            assert_eq!(lengths, known.iter().copied().chain(later[0]).chain(dealt).collect::<Vec<_>>());
        }
        for message in self.opening() {
            assert!(message.len() as u64 <= self.agreement.longest_message());
            assembly.receive(&message).unwrap();
            for party in &mut self.parties {
                party.receive(&message).unwrap();
            }
        }
        for message in self.parties.iter().flat_map(|party| party.closing().unwrap()) {
            assert_eq!(assembly.receive(&message).unwrap(), Receipt::New);
        }
        assembly.finish().unwrap()
    }

    fn read(&mut self, ciphertext: &F::Ciphertext, members: &[u32]) -> Result<F::Opened, PartiesError> {
        let mut reading = Reading::new(&self.agreement, ciphertext, members)?;
        for &number in members {
            let message = self.parties[number as usize - 1].decrypt(ciphertext, members, None)?;
            reading.receive(&message)?;
        }
        reading.open()
    }
}

fn encrypt(context: &Context, keys: &CollectiveKeys, values: &[u64]) -> Ciphertext {
    let plaintext = Plaintext::from_integers(context.slot_ring(), values).unwrap();
    Encryptor::new(context.scheme(), Arc::clone(&keys.public)).encrypt(&plaintext, &mut os_rng().unwrap()).unwrap()
}

/// Sums over all slots and products under keys of n parties, read by every t from 1 to n.
#[test]
fn any_t_of_n_read_what_was_computed() {
    for (parties, scheme) in [(2, Scheme::Bgv), (3, Scheme::Bfv), (5, Scheme::Bgv), (16, Scheme::Bfv)] {
        let context = exact(scheme, parties as u32);
        let sums = TracePlan::new(&TraceChain::total(context.slot_ring()).unwrap(), &TraceSpec::default()).unwrap();
        let thresholds = if parties == 16 { vec![1, 9, 16] } else { (1..=parties as u32).collect() };
        for threshold in thresholds {
            let mut session = begin(&context, parties, threshold, &[&Products, &sums]);
            let keys = session.keys();
            let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new()).unwrap();
            let values: Vec<u64> = (0..context.slots() as u64).map(|j| j * j % 257).collect();
            let ct = encrypt(&context, &keys, &values);
            let squares = server.square(&ct).unwrap();
            let total = server.apply(&sums, &squares).unwrap();
            let members: Vec<u32> = (parties as u32 - threshold + 1..=parties as u32).collect();
            let wanted: Vec<u64> = values.iter().map(|x| x * x % 257).collect();
            assert_eq!(
                session.read(&squares, &members).unwrap().to_integers().unwrap(),
                wanted,
                "{threshold} of {parties}"
            );
            let sum = wanted.iter().sum::<u64>() % 257;
            assert_eq!(session.read(&total, &members).unwrap().to_integers().unwrap()[0], sum);
            assert_eq!(session.parties[parties - 1].decryptions(), 2);
        }
    }
}

#[test]
fn numbers_of_ckks_keep_the_precision_that_is_stated() {
    let context = approximate(3);
    let mut session = begin(&context, 3, 2, &[&Products]);
    let keys = session.keys();
    let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new()).unwrap();
    let encryptor = ckks::Encryptor::new(context.ckks(), Arc::clone(&keys.public)).unwrap();
    let values: Vec<f64> = (0..8).map(|j| (f64::from(j) / 3.0).sin()).collect();
    let wide: Vec<WideComplex> = ckks::complex(&values).into_iter().map(WideComplex::from).collect();
    let ct = encryptor.encrypt_wide(&wide, 1.0, &mut os_rng().unwrap()).unwrap();
    let squares = server.square(&ct).unwrap();
    let opened = session.read(&squares, &[1, 3]).unwrap();
    assert!(opened.precision_bits > 10.0);
    for (z, x) in opened.values.iter().zip(&values) {
        assert!((z.re - x * x).abs() < (1.0 - opened.precision_bits).exp2(), "{z} for {}", x * x);
    }
    let text = session.agreement.to_json();
    assert_eq!(Agreement::<Approximate>::from_json(text).unwrap().digest(), session.agreement.digest());
    assert!(Agreement::<Exact>::from_json(text).is_err());
}

/// Messages in any order and more than once; parties that stop after each step and start again from their bytes.
#[test]
fn parties_stop_and_start_again() {
    let context = exact(Scheme::Bgv, 3);
    let mut session = begin(&context, 3, 2, &[&Products]);
    let agreement = Agreement::<Exact>::from_json(session.agreement.to_json()).unwrap();
    assert_eq!(agreement.digest(), session.agreement.digest());
    let restart = |parties: &mut Vec<Party>, identities: &[Identity]| {
        let bytes: Vec<_> = parties.iter().map(|party| party.to_bytes().unwrap()).collect();
        *parties =
            identities.iter().zip(&bytes).map(|(own, b)| Party::from_bytes(&agreement, own, b).unwrap()).collect();
    };
    let mut messages = session.opening();
    restart(&mut session.parties, &session.identities);
    let again = session.opening();
    // Encryption for one member is fresh each time, all else is as before.
    let same = messages.iter().zip(&again).filter(|(a, b)| a == b).count();
    assert_eq!((messages.len(), same), (12, 6));
    messages.reverse();
    for message in messages.iter().chain(&messages) {
        for party in &mut session.parties {
            party.receive(message).unwrap();
        }
        restart(&mut session.parties, &session.identities);
    }
    // What a party sends again after a restart is taken for what it is.
    for message in &again {
        for party in &mut session.parties {
            assert_ne!(party.receive(message).unwrap(), Receipt::New);
        }
    }
    let mut assembly = Assembly::new(&agreement);
    assert_eq!(assembly.missing(Step::Keys), ["Ada", "Ben", "Cleo"]);
    for message in messages.iter().chain(&again) {
        assembly.receive(message).unwrap();
    }
    assert!(matches!(assembly.finish(), Err(PartiesError::Missing { step: Step::Second, .. })));
    for party in &session.parties {
        for message in party.closing().unwrap() {
            assert_eq!(assembly.receive(&message).unwrap(), Receipt::New);
            assert_eq!(assembly.receive(&message).unwrap(), Receipt::Again);
        }
    }
    let keys = assembly.finish().unwrap();
    let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new()).unwrap();
    let ct = server.square(&encrypt(&context, &keys, &[3, 5])).unwrap();
    assert_eq!(session.read(&ct, &[2, 3]).unwrap().to_integers().unwrap()[..3], [9, 25, 0]);
    restart(&mut session.parties, &session.identities);
    assert_eq!(session.parties.iter().map(Party::decryptions).collect::<Vec<_>>(), [0, 1, 1]);
}

/// Only the reader reads shares that are encrypted for it.
#[test]
fn a_reader_reads_alone() {
    let context = exact(Scheme::Bfv, 3);
    let mut session = begin(&context, 3, 2, &[]);
    let keys = session.keys();
    let ct = encrypt(&context, &keys, &[7, 8, 9]);
    // Ben, who takes no part in the decryption, reads.
    let shares: Vec<Vec<u8>> =
        [0, 2].map(|index| session.parties[index].decrypt(&ct, &[1, 3], Some(2)).unwrap()).into();
    let new = || Reading::new(&session.agreement, &ct, &[1, 3]).unwrap();
    assert!(matches!(new().receive(&shares[0]), Err(PartiesError::NotForYou { to }) if to == "Ben"));
    let mut cleo = new().for_reader(&session.identities[2]).unwrap();
    assert!(matches!(cleo.receive(&shares[0]), Err(PartiesError::NotForYou { .. })));
    let mut ben = new().for_reader(&session.identities[1]).unwrap();
    for share in &shares {
        assert_eq!(ben.receive(share).unwrap(), Receipt::New);
    }
    assert_eq!(ben.open().unwrap().to_integers().unwrap()[..3], [7, 8, 9]);
    assert!(matches!(new().for_reader(&Identity::generate().unwrap()), Err(PartiesError::NoMember)));
}

#[test]
fn what_does_not_belong_is_refused_by_name() {
    let context = exact(Scheme::Bgv, 3);
    let mut session = begin(&context, 3, 2, &[&Products]);
    let other = begin(&context, 3, 2, &[&Products]);
    let messages = session.opening();
    let (mut assembly, mut party) = (Assembly::new(&session.agreement), session.parties.remove(0));
    // Of another session, and of a session of the same members.
    for message in other.opening() {
        assert!(matches!(assembly.receive(&message), Err(PartiesError::OtherAgreement { .. })));
        assert!(matches!(party.receive(&message), Err(PartiesError::OtherAgreement { .. })));
    }
    // Cut and changed messages.
    let (keys, first) = (&messages[0], &messages[5]);
    for end in [0, 10, 100, keys.len() / 2, keys.len() - 1] {
        assert!(matches!(assembly.receive(&keys[..end]), Err(PartiesError::Wire(_))), "{end}");
    }
    for place in (0..first.len()).step_by(97) {
        let mut changed = first.clone();
        changed[place] ^= 4;
        assert!(matches!(party.receive(&changed), Err(PartiesError::Wire(_))), "byte {place}");
    }
    // A body that someone else put together, with a right checksum: as Ben, signed by Cleo.
    let forged = {
        let identity = &session.identities[2];
        let stolen = Identity::from_text(&identity.to_text()).unwrap();
        let members = session.agreement.members().to_vec();
        assert_eq!(members[2].identity, stolen.public());
        // The last 64 bytes of the payload are the signature, before the checksum.
        let mut bytes = first.clone();
        let end = bytes.len() - 32;
        bytes[end - 1] ^= 1;
        let payload = bytes[68..end].to_vec();
        let label = windlass::wire::Label {
            kind: windlass::wire::Kind::PartyMessage,
            context: *windlass::wire::FileContext::hash(context.files()),
            key: session.agreement.key_id(),
        };
        windlass::wire::seal(&label, &payload)
    };
    assert!(matches!(party.receive(&forged), Err(PartiesError::Forged { from }) if from == "Ben"));
    // Missing messages, by name.
    assert!(
        matches!(party.closing(), Err(PartiesError::Missing { step: Step::First, from }) if from == ["Ben", "Cleo"])
    );
    assert_eq!(party.missing(Step::Dealt), ["Ben", "Cleo"]);
    for message in &messages {
        party.receive(message).unwrap();
    }
    assert!(party.missing(Step::Dealt).is_empty());
    // Another member, or someone else, with the state of a party.
    let bytes = party.to_bytes().unwrap();
    let wrong = Party::from_bytes(&session.agreement, &session.identities[1], &bytes);
    assert!(matches!(wrong, Err(PartiesError::OtherMember { name }) if name == "Ada"));
    let wrong = Party::from_bytes(&other.agreement, &other.identities[0], &bytes);
    assert!(matches!(wrong, Err(PartiesError::OtherAgreement { .. })));
    for end in (0..bytes.len()).step_by(501) {
        assert!(Party::from_bytes(&session.agreement, &session.identities[0], &bytes[..end]).is_err());
    }
    let stranger = Identity::generate().unwrap();
    assert!(matches!(Party::join(&session.agreement, &stranger), Err(PartiesError::NoMember)));
    assert!(matches!(Party::from_bytes(&session.agreement, &stranger, &bytes), Err(PartiesError::NoMember)));
}

#[test]
fn decryptions_are_counted_and_for_one_ciphertext() {
    let context = exact(Scheme::Bgv, 2);
    let mut session = begin(&context, 2, 2, &[]);
    let publication = Publication { security_bits: 40, decryptions: 3 };
    session.agreement = session.agreement.with_publication(publication).unwrap();
    session.parties = session.identities.iter().map(|own| Party::join(&session.agreement, own).unwrap()).collect();
    let keys = session.keys();
    let (a, b) = (encrypt(&context, &keys, &[1]), encrypt(&context, &keys, &[2]));
    let of_a = session.parties[0].decrypt(&a, &[1, 2], None).unwrap();
    let again = session.parties[0].decrypt(&a, &[1, 2], None).unwrap();
    assert_ne!(of_a, again, "each share has noise of its own");
    let of_b = session.parties[1].decrypt(&b, &[1, 2], None).unwrap();
    let mut reading = Reading::new(&session.agreement, &a, &[1, 2]).unwrap();
    assert_eq!(reading.receive(&of_a).unwrap(), Receipt::New);
    assert!(matches!(reading.receive(&again), Err(PartiesError::AnotherShare { .. })));
    assert!(matches!(reading.receive(&of_b), Err(PartiesError::OtherReading { from }) if from == "Ben"));
    assert!(matches!(reading.open(), Err(PartiesError::Missing { from, .. }) if from == ["Ben"]));
    session.parties[0].decrypt(&b, &[1, 2], None).unwrap();
    assert!(matches!(session.parties[0].decrypt(&b, &[1, 2], None), Err(PartiesError::Spent { most: 3 })));
    for members in [&[1][..], &[2, 1], &[1, 1], &[1, 3], &[1, 2, 3]] {
        let refused = session.parties[1].decrypt(&b, members, None);
        assert!(matches!(refused, Err(PartiesError::OutOfRange(_))), "{members:?}: {refused:?}");
    }
    assert_eq!(session.parties[1].decryptions(), 1, "what is refused does not count");
    // A ciphertext of another key pair of the same parameters.
    let mut other = begin(&context, 2, 2, &[]);
    let foreign = encrypt(&context, &other.keys(), &[1]);
    let refused = session.parties[1].decrypt(&foreign, &[1, 2], None);
    assert!(matches!(refused, Err(PartiesError::Windlass(Error::OtherKeyPair(_)))), "{refused:?}");
}

/// Each member takes part in as many decryptions as were agreed on, but not all in the same.
#[test]
fn noise_hides_the_decryptions_of_all_members_together() {
    let context = exact(Scheme::Bgv, 5);
    let mut session = begin(&context, 5, 2, &[]);
    let ct = encrypt(&context, &session.keys(), &[1]);
    let reading = Reading::new(&session.agreement, &ct, &[2, 5]).unwrap();
    let of_one = windlass::schemes::collective::ExactDecryption::plan(
        context.rlwe(),
        (context.scheme(), context.slot_ring()),
        &ct,
        (session.agreement.publication(), 2),
    );
    // Four members are outside of a coalition of one.
    assert_eq!(reading.decryption().needed_bits(), of_one.unwrap().needed_bits() + 2.0);
    let most = |decryptions| Publication { security_bits: 40, decryptions };
    assert!(session.agreement.with_publication(most(u32::MAX / 4)).is_ok());
    assert!(matches!(session.agreement.with_publication(most(u32::MAX / 4 + 1)), Err(PartiesError::OutOfRange(_))));
}

/// Another list, threshold or number of decryptions is another key pair, also with the same seed.
#[test]
fn keys_of_two_agreements_have_nothing_in_common() {
    let session = begin(&exact(Scheme::Bgv, 2), 2, 2, &[]);
    let text = session.agreement.to_json();
    let mut names = std::collections::HashSet::from([session.agreement.key_id()]);
    for (from, to) in [
        ("\"threshold\": 2", "\"threshold\": 1"),
        ("\"name\": \"Ben\"", "\"name\": \"Dan\""),
        ("\"decryptions\": 1024", "\"decryptions\": 1023"),
    ] {
        assert!(text.contains(from), "{from}");
        names.insert(Agreement::<Exact>::from_json(&text.replace(from, to)).unwrap().key_id());
    }
    assert_eq!(names.len(), 4);
}

#[test]
fn agreements_are_checked() {
    let context = exact(Scheme::Bgv, 2);
    let [ada, ben, cleo] = [(); 3].map(|()| Identity::generate().unwrap());
    let agree = |members, threshold| Agreement::new(&context, members, threshold, &[]);
    let (a, b) = (ada.member("Ada"), ben.member("Ben"));
    assert!(matches!(agree(vec![a.clone()], 1), Err(PartiesError::OutOfRange(_))));
    assert!(matches!(agree(vec![a.clone(), b.clone(), cleo.member("Cleo")], 1), Err(PartiesError::OutOfRange(_))));
    for threshold in [0, 3] {
        assert!(matches!(agree(vec![a.clone(), b.clone()], threshold), Err(PartiesError::OutOfRange(_))));
    }
    assert!(matches!(agree(vec![a.clone(), ben.member("Ada")], 2), Err(PartiesError::MemberTwice { .. })));
    assert!(matches!(agree(vec![a.clone(), ada.member("Ben")], 2), Err(PartiesError::MemberTwice { .. })));
    assert!(matches!(agree(vec![a.clone(), ben.member("")], 2), Err(PartiesError::Name { .. })));
    // Half of another's identity.
    for half in [0..32, 32..64] {
        let mut copied = cleo.member("Cleo");
        copied.identity[half.clone()].copy_from_slice(&ada.public()[half]);
        assert!(matches!(agree(vec![a.clone(), copied], 2), Err(PartiesError::MemberTwice { .. })));
    }
    let mut read_by_all = ben.member("Ben");
    read_by_all.identity[32..].fill(0);
    assert!(matches!(agree(vec![a.clone(), read_by_all], 2), Err(PartiesError::Text { .. })));
    let alone = Context::preset("insecure_toy_256").unwrap();
    let refused = Agreement::new(&alone, vec![a.clone(), b.clone()], 2, &[]);
    assert!(matches!(refused, Err(PartiesError::OutOfRange(_))), "{refused:?}");
    let text = agree(vec![a, b], 2).unwrap().to_json().to_owned();
    for (from, to) in [
        ("\"threshold\": 2", "\"threshold\": 9"),
        ("\"windlass_agreement\": 1", "\"windlass_agreement\": 2"),
        ("\"security_bits\": 40", "\"security_bits\": 0"),
        ("\"seed\"", "\"sead\""),
        ("\"name\": \"Ben\"", "\"name\": \"Ada\""),
        ("\"decryptions\": 1024", "\"decryptions\": 1024, \"galois\": [[3, 99]]"),
        ("\"decryptions\": 1024", "\"decryptions\": 1024, \"galois\": [[3, 2], [3, 2]]"),
        ("\"decryptions\": 1024", "\"decryptions\": 1024, \"galois\": [[2, 2]]"),
        ("\"decryptions\": 1024", "\"decryptions\": 1024, \"relinearisation\": 0"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(Agreement::<Exact>::from_json(&text.replace(from, to)).is_err(), "{to}");
    }
    for end in (0..text.len()).step_by(7) {
        assert!(Agreement::<Exact>::from_json(&text[..end]).is_err());
    }
}

#[test]
fn values_go_to_a_key_outside_and_to_additive_shares() {
    let context = exact(Scheme::Bgv, 3);
    let mut session = begin(&context, 3, 2, &[&Products]);
    let keys = session.keys();
    let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new()).unwrap();
    let ct = server.square(&encrypt(&context, &keys, &[7, 8, 9])).unwrap();
    // Someone outside, with keys of its own in the same context.
    let (client, own_server) = context.generate_keys([&Products]).unwrap();
    let target = Arc::new(client.public_key().unwrap());
    let mut handover = Handover::new(&session.agreement, &ct, &[1, 2], &target).unwrap();
    let shares: Vec<Vec<u8>> = [0, 1].map(|index| session.parties[index].switch(&ct, &[1, 2], &target).unwrap()).into();
    assert_eq!(handover.receive(&shares[0]).unwrap(), Receipt::New);
    assert!(matches!(handover.finish(), Err(PartiesError::Missing { from, .. }) if from == ["Ben"]));
    let another = Arc::new(client.public_key().unwrap());
    let mut elsewhere = Handover::new(&session.agreement, &ct, &[1, 2], &another).unwrap();
    assert!(matches!(elsewhere.receive(&shares[1]), Err(PartiesError::OtherReading { .. })));
    assert_eq!(handover.receive(&shares[1]).unwrap(), Receipt::New);
    let switched = handover.finish().unwrap();
    assert_eq!(client.decrypt(&switched).unwrap()[..4], [49, 64, 81, 0]);
    assert_eq!(client.decrypt(&own_server.add(&switched, &switched).unwrap()).unwrap()[..4], [98, 128, 162, 0]);

    // Ben and Cleo hold additive shares, of which Cleo's is what is left.
    let mut reading = Reading::of_share(&session.agreement, &ct, &[2, 3], &session.identities[2]).unwrap();
    let (message, bens) = session.parties[1].decrypt_to_share(&ct, &[2, 3], 3).unwrap();
    // Asked again it has the same mask; as a decryption its share is not taken.
    let (_, again) = session.parties[1].decrypt_to_share(&ct, &[2, 3], 3).unwrap();
    assert_eq!(bens.to_slots(), again.to_slots());
    let mut plain = Reading::new(&session.agreement, &ct, &[2, 3]).unwrap().for_reader(&session.identities[2]).unwrap();
    assert_eq!(plain.receive(&message).unwrap(), Receipt::NotNeeded);
    assert!(session.parties[1].decrypt_to_share(&ct, &[2, 3], 2).is_err());
    reading.receive(&message).unwrap();
    reading.receive(&session.parties[2].decrypt(&ct, &[2, 3], Some(3)).unwrap()).unwrap();
    let cleos = reading.open().unwrap();
    let sum: Vec<u64> = bens.to_slots().iter().zip(cleos.to_slots()).map(|(x, y)| (x + y) % 257).collect();
    assert_eq!(sum[..4], [49, 64, 81, 0]);
    assert_ne!(cleos.to_slots(), sum);
    assert_eq!(session.parties.iter().map(Party::decryptions).collect::<Vec<_>>(), [1, 3, 1]);
}

/// Shares of different keys are different messages, which may come apart: who lacks one lacks keys.
#[test]
fn keys_come_one_by_one() {
    let context = exact(Scheme::Bgv, 2);
    let sums = TracePlan::new(&TraceChain::total(context.slot_ring()).unwrap(), &TraceSpec::default()).unwrap();
    let session = begin(&context, 2, 2, &[&sums]);
    let count = session.agreement.key_message_bytes().len();
    assert_eq!(count, session.agreement.keys().len());
    assert!(count > 3, "a public key and Galois keys");
    let (ada, ben) = (session.parties[0].opening().unwrap(), session.parties[1].opening().unwrap());
    for left_out in 0..count {
        let mut assembly = Assembly::new(&session.agreement);
        for message in ada.iter().chain(ben.iter().enumerate().filter(|(place, _)| *place != left_out).map(|(_, m)| m))
        {
            assert_eq!(assembly.receive(message).unwrap(), Receipt::New);
            assert_eq!(assembly.receive(message).unwrap(), Receipt::Again);
        }
        assert_eq!(assembly.missing(Step::Keys), ["Ben"], "{left_out}");
        let refused = assembly.finish().map(drop);
        assert!(matches!(refused, Err(PartiesError::Missing { step: Step::Keys, from }) if from == ["Ben"]));
        assembly.receive(&ben[left_out]).unwrap();
        let public = context.to_bytes(&*assembly.finish().unwrap().public).unwrap();
        assert_eq!(context.to_bytes(&*assembly.into_keys().unwrap().public).unwrap(), public);
    }
}

/// Every message that may be missing, one after the other: its step and its sender are named, and the rest continues.
#[test]
fn what_is_missing_is_named_at_each_step() {
    let context = exact(Scheme::Bgv, 3);
    let session = begin(&context, 3, 2, &[&Products]);
    let messages = session.opening();
    let names = ["Ada", "Ben", "Cleo"];
    for (left_out, missing) in messages.iter().enumerate() {
        let from = names[left_out / 4];
        let mut assembly = Assembly::new(&session.agreement);
        let identity = if from == "Ada" { &session.identities[1] } else { &session.identities[0] };
        let mut party = Party::join(&session.agreement, identity).unwrap();
        for message in messages.iter().filter(|message| *message != missing) {
            assembly.receive(message).unwrap();
            party.receive(message).unwrap();
        }
        let steps = [Step::Keys, Step::First, Step::Dealt];
        let lacking: Vec<Step> = steps
            .into_iter()
            .filter(|&step| party.missing(step) == [from] || (step == Step::Keys && assembly.missing(step) == [from]))
            .collect();
        // Of the dealt shares one is for another party.
        assert!(lacking.len() <= 1 && (lacking.len() == 1 || left_out % 4 > 1), "{left_out}: {lacking:?}");
    }
}

#[test]
fn members_that_differ_are_named() {
    let context = exact(Scheme::Bgv, 3);
    let session = begin(&context, 3, 2, &[&Products]);
    // Ben begins again with another secret under the same identity: two different messages for each step.
    let again = Party::join(&session.agreement, &session.identities[1]).unwrap();
    let (old, new) = (session.parties[1].opening().unwrap(), again.opening().unwrap());
    let mut assembly = Assembly::new(&session.agreement);
    assembly.receive(&old[0]).unwrap();
    let refused = assembly.receive(&new[0]);
    assert!(matches!(refused, Err(PartiesError::Conflict { from, step: Step::Keys }) if from == "Ben"));
    let mut ada = Party::join(&session.agreement, &session.identities[0]).unwrap();
    ada.receive(&old[1]).unwrap();
    assert!(matches!(ada.receive(&new[1]), Err(PartiesError::Conflict { step: Step::First, .. })));
    // Messages of two beginnings are known also where their steps differ.
    let dealt_to_ada = |messages: &[Vec<u8>]| messages[2].clone();
    assert!(matches!(ada.receive(&dealt_to_ada(&new)), Err(PartiesError::Conflict { step: Step::Dealt, .. })));
    assert!(matches!(ada.receive(&new[0]), Err(PartiesError::Conflict { step: Step::Keys, .. })));
    assert_eq!(ada.receive(&dealt_to_ada(&old)).unwrap(), Receipt::New);
    // Ada has the old share of Ben and Cleo the new one: their second shares do not belong together.
    let mut cleo = Party::join(&session.agreement, &session.identities[2]).unwrap();
    cleo.receive(&new[1]).unwrap();
    let (of_ada, of_cleo) = (ada.opening().unwrap(), cleo.opening().unwrap());
    ada.receive(&of_cleo[1]).unwrap();
    cleo.receive(&of_ada[1]).unwrap();
    assembly.receive(&ada.closing().unwrap()[0]).unwrap();
    let refused = assembly.receive(&cleo.closing().unwrap()[0]);
    assert!(matches!(refused, Err(PartiesError::Disagreement { from, before }) if from == "Cleo" && before == "Ada"));
}

/// The count of decryptions outlives a restart; and a planned set has room for what it promises, whatever the threshold.
#[test]
fn planned_sets_decrypt_with_every_threshold() {
    let spec = windlass::ParamSpec { p: 2, parties: 5, depth: 1, slots: 100, ..windlass::ParamSpec::default() };
    let context = Context::plan(&spec).unwrap();
    assert!(!context.params().m().is_power_of_two());
    for threshold in [1, 3, 5] {
        let mut session = begin(&context, 5, threshold, &[&Products]);
        session.agreement =
            session.agreement.with_publication(Publication { decryptions: 1024, ..Publication::default() }).unwrap();
        session.parties = session.identities.iter().map(|own| Party::join(&session.agreement, own).unwrap()).collect();
        let keys = session.keys();
        let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new()).unwrap();
        let ct = server.square(&encrypt(&context, &keys, &[1, 0, 1])).unwrap();
        let members: Vec<u32> = (1..=threshold).collect();
        assert_eq!(session.read(&ct, &members).unwrap().to_integers().unwrap()[..3], [1, 0, 1], "{threshold} of 5");
    }
}

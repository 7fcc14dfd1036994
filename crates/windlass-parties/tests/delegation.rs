//! Re-encryption keys that several parties make.

use std::sync::Arc;

use windlass::needs::Products;
use windlass::schemes::Encryptor;
use windlass::schemes::ckks::{self, CkksSpec};
use windlass::{Approximate, Context, Params, Plaintext, Scheme};
use windlass_parties::{
    Agreement, Assembly, CollectiveFamily, CollectiveKeys, Delegation, Identity, PartiesError, Party, Receipt, Step,
};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Assurance, ReceivingKey, ReencryptionKey, SecretDistribution};

const NAMES: [&str; 5] = ["Ada", "Ben", "Cleo", "Dan", "Eva"];

fn session<F: CollectiveFamily>(
    context: &Context<F>,
    parties: usize,
    threshold: u32,
) -> (Agreement<F>, Vec<Party<F>>, CollectiveKeys) {
    let own: Vec<Identity> = (0..parties).map(|_| Identity::generate().unwrap()).collect();
    let members = own.iter().zip(NAMES).map(|(own, name)| own.member(name)).collect();
    let agreement = Agreement::new(context, members, threshold, &[&Products]).unwrap();
    let mut all: Vec<Party<F>> = own.iter().map(|own| Party::join(&agreement, own).unwrap()).collect();
    let mut assembly = Assembly::new(&agreement);
    for message in all.iter().flat_map(|party| party.opening().unwrap()).collect::<Vec<_>>() {
        assembly.receive(&message).unwrap();
        for party in &mut all {
            party.receive(&message).unwrap();
        }
    }
    for message in all.iter().flat_map(|party| party.closing().unwrap()) {
        assembly.receive(&message).unwrap();
    }
    let keys = assembly.into_keys().unwrap();
    (agreement, all, keys)
}

fn key<F: CollectiveFamily>(
    (agreement, parties): (&Agreement<F>, &[Party<F>]),
    to: &ReceivingKey,
    members: &[u32],
) -> ReencryptionKey {
    let mut delegation = Delegation::new(agreement, to, members).unwrap();
    for &number in members {
        let share = parties[number as usize - 1].delegate(to, members).unwrap();
        assert!(share.len() as u64 <= agreement.longest_message());
        assert_eq!(share.len() as u64, agreement.message_bytes(Step::Delegation).unwrap());
        assert_eq!(delegation.receive(&share).unwrap(), Receipt::New);
        assert_eq!(delegation.receive(&share).unwrap(), Receipt::Again);
    }
    delegation.finish().unwrap()
}

/// Whatever was computed under the key of n parties comes to the recipient, by every t of them, and stays computable.
#[test]
fn integers_come_to_a_recipient() {
    for (scheme, parties, threshold) in
        [(Scheme::Bgv, 2, 2), (Scheme::Bfv, 3, 2), (Scheme::Bgv, 5, 3), (Scheme::Bfv, 3, 1)]
    {
        let params = Params::preset("insecure_toy_256", scheme).unwrap().with_parties(parties).unwrap();
        let context = Context::from_params(params).unwrap();
        let (agreement, all, keys) = session(&context, parties as usize, threshold);
        let (recipient, own_server) = context.generate_keys([&Products]).unwrap();
        let members: Vec<u32> = (parties - threshold + 1..=parties).collect();
        let made = key((&agreement, &all), &recipient.receiving_key().unwrap(), &members);
        assert_eq!(made.pairs(), (agreement.key_id(), recipient.secret_key().key_id()));
        assert!(all.iter().all(|party| party.decryptions() == 0));
        let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new()).unwrap();
        let values: Vec<u64> = (0..context.slots() as u64).map(|j| j * 7 % 257).collect();
        let plaintext = Plaintext::from_integers(context.slot_ring(), &values).unwrap();
        let fresh = Encryptor::new(scheme, keys.public.clone()).encrypt(&plaintext, &mut os_rng().unwrap()).unwrap();
        let squares = server.square(&fresh).unwrap();
        for ciphertext in [&fresh, &squares] {
            let power = if std::ptr::eq(ciphertext, &fresh) { 1 } else { 2 };
            let wanted: Vec<u64> = values.iter().map(|x| x.pow(power) % 257).collect();
            let moved = ciphertext.reencrypted(&made).unwrap();
            assert_eq!(recipient.decrypt(&moved).unwrap(), wanted, "{threshold} of {parties}");
            let doubled = own_server.add(&moved, &moved).unwrap();
            assert_eq!(recipient.decrypt(&doubled).unwrap(), wanted.iter().map(|x| 2 * x % 257).collect::<Vec<_>>());
        }
        // The key is a file as any other.
        let again: ReencryptionKey = context.from_bytes(&context.to_bytes(&made).unwrap()).unwrap();
        assert_eq!(recipient.decrypt(&fresh.reencrypted(&again).unwrap()).unwrap(), values);
    }
}

#[test]
fn numbers_of_ckks_come_within_their_bound() {
    let spec = CkksSpec {
        n: 128,
        secret: SecretDistribution::Collective { parties: 3 },
        assurance: Assurance::Insecure { name: "insecure_parties".into() },
        ..CkksSpec::secure_wide(1, 95, 4, 8).unwrap()
    };
    let context: Context<Approximate> = Context::approximate(&spec).unwrap();
    let (agreement, all, keys) = session(&context, 3, 2);
    let (recipient, _) = context.generate_keys([&Products]).unwrap();
    let made = key((&agreement, &all), &recipient.receiving_key().unwrap(), &[1, 3]);
    let values: Vec<f64> = (0..8).map(|j| (f64::from(j) / 3.0).sin()).collect();
    let encryptor = ckks::Encryptor::new(context.ckks(), Arc::clone(&keys.public)).unwrap();
    let fresh = encryptor.encrypt_real(&values, 1.0, &mut os_rng().unwrap()).unwrap();
    let moved = fresh.reencrypted(&made).unwrap();
    let found = recipient.decrypt(&moved).unwrap();
    let bound = (1.0 - moved.precision_bits().min(45.0)).exp2();
    for (found, x) in found.iter().zip(&values) {
        assert!((found - x).abs() < bound, "{found} for {x}, bound {bound:e}");
    }
}

#[test]
fn what_does_not_belong_is_refused() {
    let params = Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().with_parties(3).unwrap();
    let context = Context::from_params(params).unwrap();
    let (agreement, all, _) = session(&context, 3, 2);
    let (recipient, _) = context.generate_keys([]).unwrap();
    let to = recipient.receiving_key().unwrap();
    let mut delegation = Delegation::new(&agreement, &to, &[1, 2]).unwrap();
    assert_eq!(delegation.missing(), ["Ada", "Ben"]);
    let ada = all[0].delegate(&to, &[1, 2]).unwrap();
    delegation.receive(&ada).unwrap();
    assert!(
        matches!(delegation.finish(), Err(PartiesError::Missing { step: Step::Delegation, from }) if from == ["Ben"])
    );
    // A second share, one to another key, one with other members, one of a party that takes no part.
    let again = all[0].delegate(&to, &[1, 2]).unwrap();
    assert!(matches!(delegation.receive(&again), Err(PartiesError::AnotherShare { .. })));
    let elsewhere = all[1].delegate(&recipient.receiving_key().unwrap(), &[1, 2]).unwrap();
    assert!(matches!(delegation.receive(&elsewhere), Err(PartiesError::OtherReading { from }) if from == "Ben"));
    let others = all[1].delegate(&to, &[2, 3]).unwrap();
    assert!(matches!(delegation.receive(&others), Err(PartiesError::OtherReading { .. })));
    assert!(matches!(all[2].delegate(&to, &[1, 2]), Err(PartiesError::OutOfRange(_))));
    for members in [&[1][..], &[2, 1], &[1, 2, 3], &[1, 4]] {
        assert!(matches!(Delegation::new(&agreement, &to, members), Err(PartiesError::OutOfRange(_))), "{members:?}");
    }
    // A decryption is no share of a key, and a share of a key is nothing to a party or an assembly.
    assert_eq!(Assembly::new(&agreement).receive(&ada).unwrap(), Receipt::NotNeeded);
    let alone = Context::preset("insecure_toy_256").unwrap();
    let (stranger, _) = alone.generate_keys([]).unwrap();
    assert!(all[0].delegate(&stranger.receiving_key().unwrap(), &[1, 2]).is_err());
    // A party to which nothing was dealt has no part of the secret.
    let identity = Identity::generate().unwrap();
    let members = vec![
        identity.member("Ada"),
        Identity::generate().unwrap().member("Ben"),
        Identity::generate().unwrap().member("Cleo"),
    ];
    let fresh = Party::join(&Agreement::new(&context, members, 2, &[]).unwrap(), &identity).unwrap();
    assert!(matches!(fresh.delegate(&to, &[1, 2]), Err(PartiesError::Missing { step: Step::Dealt, .. })));
}

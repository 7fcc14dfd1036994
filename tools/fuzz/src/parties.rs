//! Messages between parties that hold a key together, their states, their agreement and their identities.

use std::sync::Arc;

use ed25519_dalek::{Signer, SigningKey};
use windlass::needs::Products;
use windlass::schemes::{Ciphertext, Encryptor};
use windlass::wire::{FileContext, Kind, Label, seal, sha256};
use windlass::{Context, Params, Plaintext, Scheme};
use windlass_parties::{Agreement, Assembly, Identity, Party, Reading};

use crate::containers::{HEADER, Reader, TRAILER, refused};
use crate::memory::Bound;
use crate::target::Target;

/// Bytes of a message's payload before the number of its sender, and of its signature.
const DIGEST: usize = 32;
const SIGNATURE: usize = 64;

/// Two of three parties decrypt.
struct Session {
    context: Context,
    agreement: Agreement,
    identities: Vec<Identity>,
    signing: Vec<SigningKey>,
    /// The state of the first party before it has received anything, and when it has received all.
    states: [Vec<u8>; 2],
    messages: Vec<Vec<u8>>,
    ciphertext: Ciphertext,
}

/// The text of an identity of three, the same in every process.
fn identity_text(number: u8) -> String {
    format!("windlass identity 1 {}\n", format!("{number:02x}").repeat(32))
}

/// The key that this identity signs with.
fn signing(number: u8) -> SigningKey {
    let seed = [number; 32];
    SigningKey::from_bytes(&sha256(&[b"windlass identity, signatures 1\n", &seed[..]].concat()))
}

fn context() -> Context {
    let params = Params::preset("insecure_toy_256", Scheme::Bgv).expect("a preset").with_parties(3);
    Context::from_params(params.expect("parameters of three")).expect("a context")
}

/// An agreement with the same seed in every process.
fn agreement(context: &Context, identities: &[Identity]) -> Agreement {
    let members = identities.iter().zip(["Ada", "Ben", "Cleo"]).map(|(own, name)| own.member(name)).collect();
    let drawn = Agreement::new(context, members, 2, &[&Products]).expect("an agreement");
    let text = drawn.to_json();
    let at = text.find("\"seed\": \"").expect("a seed") + 9;
    let text = format!("{}{}{}", &text[..at], "5e".repeat(32), &text[at + 64..]);
    Agreement::from_json(&text).expect("another seed")
}

impl Session {
    fn new() -> Self {
        let context = context();
        let identities: Vec<Identity> =
            (1..=3).map(|number| Identity::from_text(&identity_text(number)).expect("an identity")).collect();
        let agreement = agreement(&context, &identities);
        let mut parties: Vec<Party> =
            identities.iter().map(|own| Party::join(&agreement, own).expect("a member")).collect();
        let before = parties[0].to_bytes().expect("a state").to_vec();
        let mut messages: Vec<Vec<u8>> = parties.iter().flat_map(|party| party.opening().expect("messages")).collect();
        let mut assembly = Assembly::new(&agreement);
        for message in &messages {
            assembly.receive(message).expect("its own message");
            for party in &mut parties {
                let _ = party.receive(message).map_err(|error| refused(&error));
            }
        }
        for message in parties.iter().flat_map(|party| party.closing().expect("all are there")) {
            assembly.receive(&message).expect("its own message");
            messages.push(message);
        }
        let after = parties[0].to_bytes().expect("a state").to_vec();
        let keys = assembly.finish().expect("keys");
        let plaintext = Plaintext::from_integers(context.slot_ring(), &[1, 2]).expect("slots");
        let mut rng = windlass::rlwe::context::os_rng().expect("randomness");
        let encryptor = Encryptor::new(Scheme::Bgv, Arc::clone(&keys.public));
        let ciphertext = encryptor.encrypt(&plaintext, &mut rng).expect("a ciphertext");
        for reader in [None, Some(2)] {
            messages.push(parties[0].decrypt(&ciphertext, &[1, 3], reader).expect("a share"));
        }
        let signing = (1..=3).map(signing).collect();
        Self { context, agreement, identities, signing, states: [before, after], messages, ciphertext }
    }

    fn label(&self, kind: Kind) -> Label {
        Label { kind, context: *self.context.files().hash(), key: self.agreement.key_id() }
    }

    /// The message with the signature of the member that it says it is from, so that what is behind is reached.
    fn signed(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let payload = bytes.get(HEADER..bytes.len().checked_sub(TRAILER)?)?;
        let body = payload.get(..payload.len().checked_sub(SIGNATURE)?)?;
        let from = u16::from_le_bytes(body.get(DIGEST..DIGEST + 2)?.try_into().ok()?);
        let key = self.signing.get(usize::from(from).checked_sub(1)?)?;
        let signature = key.sign(&sha256(body)).to_bytes();
        Some(seal(&self.label(Kind::PartyMessage), &[body, &signature].concat()))
    }

    /// Whether someone takes the message.
    fn taken(&self, bytes: &[u8]) -> bool {
        let mut taken = false;
        let mut note = |outcome: windlass_parties::Result<windlass_parties::Receipt>| match outcome {
            Ok(_) => taken = true,
            Err(error) => refused(&error),
        };
        for state in &self.states {
            let mut party = Party::from_bytes(&self.agreement, &self.identities[0], state).expect("its own state");
            note(party.receive(bytes));
        }
        note(Assembly::new(&self.agreement).receive(bytes));
        let reading = || Reading::new(&self.agreement, &self.ciphertext, &[1, 3]).expect("members");
        note(reading().receive(bytes));
        note(reading().for_reader(&self.identities[1]).expect("a member").receive(bytes));
        taken
    }
}

/// Messages as they are, and with a signature that is right.
pub fn messages() -> Target {
    let session = Arc::new(Session::new());
    let seeds = session.messages.clone();
    let label = session.label(Kind::PartyMessage);
    let reader = Reader::own(label, move |bytes| {
        let taken = session.taken(bytes);
        let again = session.signed(bytes).is_some_and(|signed| session.taken(&signed));
        taken || again
    });
    Target::containers(vec![reader], seeds)
}

/// A state that is read is written in the same bytes, and continues or says why not.
pub fn states() -> Target {
    let session = Session::new();
    let seeds = session.states.to_vec();
    let reader = Reader::own(session.label(Kind::PartyState), move |bytes| {
        let mut party = match Party::from_bytes(&session.agreement, &session.identities[0], bytes) {
            Ok(party) => party,
            Err(error) => {
                refused(&error);
                return false;
            }
        };
        assert!(*party.to_bytes().expect("a state") == bytes, "two encodings of one state");
        party.opening().expect("what a party sends first follows from its secret");
        let closing = party.closing().map(drop);
        let share = party.decrypt(&session.ciphertext, &[1, 3], None).map(drop);
        [closing, share].into_iter().filter_map(Result::err).for_each(|error| refused(&error));
        true
    });
    Target::containers(vec![reader], seeds)
}

/// Parameters expand by their sizes, not by the length of the text.
const TEXT: Bound = Bound { fixed: 1 << 30, per_byte: 64 };

/// An agreement that is read is written in a canonical form, which is read as the same.
pub fn agreements() -> Target {
    let session = Session::new();
    let seeds = vec![session.agreement.to_json().as_bytes().to_vec()];
    Target::text(seeds, TEXT, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        match Agreement::<windlass::Exact>::from_json(text) {
            Ok(agreement) => {
                let again = Agreement::<windlass::Exact>::from_json(agreement.to_json()).expect("its own text");
                assert_eq!(again.digest(), agreement.digest());
                assert!(agreement.threshold() >= 1 && agreement.threshold() as usize <= agreement.members().len());
                true
            }
            Err(error) => {
                refused(&error);
                false
            }
        }
    })
}

/// An identity that is read is written in the same text.
pub fn identities() -> Target {
    let seeds = vec![identity_text(1).into_bytes()];
    Target::text(seeds, Bound { fixed: 1 << 20, per_byte: 64 }, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        match Identity::from_text(text) {
            Ok(identity) => {
                assert_eq!(Identity::from_text(&identity.to_text()).expect("its own text").public(), identity.public());
                true
            }
            Err(error) => {
                refused(&error);
                false
            }
        }
    })
}

//! How long messages are, before they are made.

use windlass::bootstrap::BootstrapShare;
use windlass::wire::{OVERHEAD, poly_len};
use windlass_rlwe::collective::{KeyName, KeyShare, Stage};

use crate::agreement::Agreement;
use crate::family::CollectiveFamily;
use crate::header::header_len;
use crate::identity::SEALED;
use crate::step::Step;

/// Bytes of a payload beside its body: digest, sender, recipient, step, beginning, signature.
pub(crate) const AROUND: usize = 32 + 2 + 2 + 1 + 16 + 64;

/// What one message of [`Step::Keys`] is a share of. Each key has a message of its own, so that a party never holds the
/// shares of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The public key or a Galois key.
    Key(KeyName),
    /// The keys of a bootstrapping or of a refresh of CKKS, by its place in the agreement.
    Refresh(usize),
}

/// What the messages of [`Step::Keys`] are shares of, by their places.
pub(crate) fn parts<F: CollectiveFamily>(agreement: &Agreement<F>) -> Vec<Part> {
    let relinearisation = agreement.relinearisation();
    let keys = agreement.keys().iter().filter(|name| Some(**name) != relinearisation).map(|&name| Part::Key(name));
    keys.chain((0..agreement.refreshes().len()).map(Part::Refresh)).collect()
}

/// The bytes of the place of a share among those of a member.
const PLACE: u64 = 2;

/// Bytes of the body of a message with a share of a key.
fn part_body<F: CollectiveFamily>(agreement: &Agreement<F>, part: Part) -> u64 {
    let context = agreement.common().context();
    PLACE
        + match part {
            Part::Key(name) => share_bytes(agreement, name, Stage::First),
            Part::Refresh(place) => {
                let layout = BootstrapShare::layout(&*agreement.refreshes()[place], agreement.common());
                layout.iter().map(|basis| poly_len(context, basis) as u64).sum()
            }
        }
}

/// Bytes of a share of a key; 0 for a key that the parameters do not have.
fn share_bytes<F: CollectiveFamily>(agreement: &Agreement<F>, name: KeyName, stage: Stage) -> u64 {
    let common = agreement.common();
    let layout = KeyShare::layout(common, name, stage);
    layout.map_or(0, |(basis, count)| (poly_len(common.context(), &basis) * count) as u64)
}

/// Bytes of the body of a message, without encryption.
fn body<F: CollectiveFamily>(agreement: &Agreement<F>, step: Step) -> Option<u64> {
    let context = agreement.common().context();
    let relinearisation = agreement.relinearisation();
    match step {
        Step::Keys => parts(agreement).into_iter().map(|part| part_body(agreement, part)).max(),
        Step::First => relinearisation.map(|name| share_bytes(agreement, name, Stage::First)),
        Step::Second => relinearisation.map(|name| 32 + share_bytes(agreement, name, Stage::Second)),
        Step::Dealt => agreement.deals().then(|| poly_len(context, &context.base_qp(context.top_level())) as u64),
        Step::Decryption => {
            let basis = F::basis(agreement.context(), agreement.fresh_decryption());
            Some((header_len(agreement.threshold()) + poly_len(context, &basis)) as u64)
        }
        Step::Switch | Step::Masked => None,
    }
}

/// The longest body of a message.
pub(crate) fn longest_body<F: CollectiveFamily>(agreement: &Agreement<F>) -> u64 {
    let context = agreement.common().context();
    let known = Step::ALL.into_iter().filter_map(|step| body(agreement, step)).max().unwrap_or(0);
    // Of ciphertexts at any level: two polynomials at most, a header, and another digest.
    let any = 2 * poly_len(context, &context.base_qp(context.top_level())) + header_len(agreement.threshold()) + 32;
    known.max(any as u64) + SEALED as u64
}

impl<F: CollectiveFamily> Agreement<F> {
    /// Bytes of each message with a share of a key, in the order in which a party makes them: of the public key, of
    /// each Galois key, and of the keys of each bootstrapping or refresh of CKKS.
    pub fn key_message_bytes(&self) -> Vec<u64> {
        let around = (AROUND + OVERHEAD) as u64;
        parts(self).into_iter().map(|part| part_body(self, part) + around).collect()
    }

    /// Bytes of one message of a step, as a file of it has: of the longest one for [`Step::Keys`]
    /// ([`Self::key_message_bytes`]). That of a decryption is for a fresh ciphertext and everyone.
    /// `None` for a step that the agreement does not have, and for those whose length depends on the ciphertext alone.
    pub fn message_bytes(&self, step: Step) -> Option<u64> {
        let sealed = if step == Step::Dealt { SEALED } else { 0 };
        body(self, step).map(|bytes| bytes + (sealed + AROUND + OVERHEAD) as u64)
    }

    /// No message of this agreement has more bytes.
    pub fn longest_message(&self) -> u64 {
        longest_body(self) + (AROUND + OVERHEAD) as u64
    }
}

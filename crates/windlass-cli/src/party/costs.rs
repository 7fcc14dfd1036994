//! What an agreement costs each party: bytes and seconds of each message.

use std::sync::Arc;
use std::time::Instant;

use windlass::rlwe::collective::{Common, KeyName, KeyShare, KeySum, SecretShare, Stage, deal};
use windlass::rlwe::context::os_rng;
use windlass::schemes::collective::Holder;
use windlass::wire::{FileContext as _, OVERHEAD, poly_len};
use windlass_parties::{Agreement, CollectiveFamily};

use super::family::Side;
use crate::error::{CliError, Result};
use crate::refresh::Value;

/// Bytes of a message beside its body: digest, numbers, step and signature.
const AROUND: u64 = 32 + 2 + 2 + 1 + 64 + OVERHEAD as u64;
/// Bytes that encryption for one member adds.
const SEALED: u64 = 32 + 16;

/// The cost of one message.
pub struct Cost {
    /// Its name in reports.
    pub name: &'static str,
    /// How many of them a party sends.
    pub count: usize,
    /// Bytes of one of them.
    pub bytes: u64,
    /// Seconds of work on one of them.
    pub seconds: f64,
}

fn common<F: CollectiveFamily>(agreement: &Agreement<F>) -> Result<Common> {
    // The seed makes no difference to sizes and times.
    Ok(Common::new(F::files(agreement.context()).rlwe(), [0; 32]).map_err(windlass::Error::from)?)
}

fn bytes_of(common: &Common, name: KeyName, stage: Stage) -> Result<u64> {
    let (basis, count) = KeyShare::layout(common, name, stage).map_err(windlass::Error::from)?;
    Ok((poly_len(common.context(), &basis) * count) as u64)
}

/// No message of the agreement has more bytes.
pub fn longest<F: CollectiveFamily>(agreement: &Agreement<F>) -> Result<u64> {
    let common = common(agreement)?;
    let context = common.context();
    let dealt = poly_len(context, &context.base_qp(context.top_level())) as u64;
    let keys = agreement.keys().iter().map(|&name| bytes_of(&common, name, Stage::First)).sum::<Result<u64>>()?;
    Ok(keys.max(dealt) + AROUND + SEALED + (1 << 16))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// The cost of each message of a party, and what a decryption of a fresh ciphertext adds. One share of each kind is
/// made under a secret that is thrown away, and timed.
///
/// # Errors
/// Those of a decryption for which the parameters have no room.
pub fn of<F: Side>(agreement: &Agreement<F>) -> Result<(Vec<Cost>, String)> {
    let common = common(agreement)?;
    let rlwe = |error| CliError::Windlass(windlass::Error::from(error));
    let mut rng = os_rng().map_err(rlwe)?;
    let secret = SecretShare::generate(&common, &mut rng);
    let relinearisation = agreement.keys().iter().copied().find(|name| matches!(name, KeyName::Relinearisation { .. }));
    let (public, seconds) = timed(|| secret.first(KeyName::Public));
    let public = public.map_err(rlwe)?;
    let galois: Vec<KeyName> =
        agreement.keys().iter().copied().filter(|name| matches!(name, KeyName::Galois { .. })).collect();
    let mut keys = Cost { name: "keys", count: 1, bytes: bytes_of(&common, KeyName::Public, Stage::First)?, seconds };
    if let Some(&first) = galois.first() {
        let (made, seconds) = timed(|| secret.first(first));
        made.map_err(rlwe)?;
        let each = bytes_of(&common, first, Stage::First)? as f64;
        for &name in &galois {
            let bytes = bytes_of(&common, name, Stage::First)?;
            keys.bytes += bytes;
            keys.seconds += seconds * bytes as f64 / each;
        }
    }
    keys.bytes += AROUND;
    let mut all = vec![keys];
    let mut second = None;
    if let Some(name) = relinearisation {
        let (share, seconds) = timed(|| secret.first(name));
        let share = share.map_err(rlwe)?;
        let bytes = bytes_of(&common, name, Stage::First)? + AROUND;
        all.push(Cost { name: "first", count: 1, bytes, seconds });
        let sum = sum_of(&common, &share).map_err(rlwe)?;
        let (share, seconds) = timed(|| secret.second(&sum));
        share.map_err(rlwe)?;
        let bytes = bytes_of(&common, name, Stage::Second)? + 32 + AROUND;
        second = Some(Cost { name: "second", count: 1, bytes, seconds });
    }
    let parties = common.parties();
    if agreement.threshold() < parties {
        let (dealt, seconds) = timed(|| deal(&secret, agreement.threshold()));
        dealt.map_err(rlwe)?;
        let context = common.context();
        let bytes = poly_len(context, &context.base_qp(context.top_level())) as u64 + SEALED + AROUND;
        let count = parties as usize - 1;
        all.push(Cost { name: "dealt", count, bytes, seconds: seconds / count as f64 });
    }
    all.extend(second);
    // A public key that belongs to nobody will do for a ciphertext to plan with.
    let key = sum_of(&common, &public).and_then(|sum| sum.into_public_key(&common)).map_err(rlwe)?;
    let context = agreement.context();
    let ciphertext = F::encrypt(context, Arc::new(key), &[Value::Integer(0)], (1, 1.0))?.ciphertexts.swap_remove(0);
    let plan = F::plan(context, &ciphertext, (agreement.publication(), agreement.threshold()))?;
    let of_all = F::plan(context, &ciphertext, (agreement.publication(), parties))?;
    let (share, seconds) = timed(|| F::share(&of_all, &Holder::All(&secret), &mut rng));
    share?;
    // The digest of the ciphertext, and the members.
    let about = 32 + 1 + 2 * u64::from(agreement.threshold());
    let bytes = poly_len(common.context(), &F::basis(context, &plan)) as u64 + AROUND + about;
    all.push(Cost { name: "decryption", count: agreement.publication().decryptions as usize, bytes, seconds });
    Ok((all, F::noise(&plan).0))
}

/// As many shares as there are parties, added up: the same one each time.
fn sum_of(common: &Common, share: &KeyShare) -> std::result::Result<KeySum, windlass::rlwe::RlweError> {
    let mut sum = KeySum::of(share.clone());
    for _ in 1..common.parties() {
        sum.add(share)?;
    }
    Ok(sum)
}

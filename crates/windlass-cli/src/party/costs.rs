//! What an agreement costs each party: bytes and seconds of each message.

use std::time::Instant;

use windlass::rlwe::collective::{
    Common, DealtShare, KeyName, KeyShare, KeySum, SecretShare, Stage, ThresholdShare, deal,
};
use windlass::rlwe::context::os_rng;
use windlass::schemes::collective::Holder;
use windlass::wire::FileContext as _;
use windlass_parties::{Agreement, Step};

use super::family::Side;
use crate::error::{CliError, Result};

/// The cost of one message, or of all with shares of keys.
pub struct Cost {
    /// Its name in reports.
    pub name: &'static str,
    /// In how many messages: the shares of keys are one for each key.
    pub messages: usize,
    /// How many of them a party sends.
    pub count: usize,
    /// Bytes of one of them.
    pub bytes: u64,
    /// Seconds of work on one of them.
    pub seconds: f64,
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
/// Those of making shares.
pub fn of<F: Side>(agreement: &Agreement<F>) -> Result<(Vec<Cost>, String)> {
    let rlwe = |error| CliError::Windlass(windlass::Error::from(error));
    let common = Common::new(F::files(agreement.context()).rlwe(), *agreement.digest()).map_err(rlwe)?;
    let mut rng = os_rng().map_err(rlwe)?;
    let secret = SecretShare::generate(&common, &mut rng);
    let cost = |name, step, count, seconds| {
        agreement.message_bytes(step).map(|bytes| Cost { name, messages: 1, count, bytes, seconds })
    };
    let (public, mut seconds) = timed(|| secret.first(KeyName::Public));
    public.map_err(rlwe)?;
    let galois: Vec<KeyName> =
        agreement.keys().iter().copied().filter(|name| matches!(name, KeyName::Galois { .. })).collect();
    if let Some(&first) = galois.first() {
        let (made, each) = timed(|| secret.first(first));
        let size = made.map_err(rlwe)?.polys().len() as f64;
        for &name in &galois {
            let (_, polys) = KeyShare::layout(&common, name, Stage::First).map_err(rlwe)?;
            seconds += each * polys as f64 / size;
        }
    }
    let bytes = agreement.key_message_bytes();
    let (messages, bytes) = (bytes.len(), bytes.into_iter().sum());
    let mut all = vec![Some(Cost { name: "keys", messages, count: 1, bytes, seconds })];
    let mut second = None;
    if let Some(name) = agreement.keys().iter().copied().find(|name| matches!(name, KeyName::Relinearisation { .. })) {
        let (share, seconds) = timed(|| secret.first(name));
        all.push(cost("first", Step::First, 1, seconds));
        let sum = sum_of(&common, &share.map_err(rlwe)?).map_err(rlwe)?;
        let (share, seconds) = timed(|| secret.second(&sum));
        share.map_err(rlwe)?;
        second = cost("second", Step::Second, 1, seconds);
    }
    let (parties, threshold) = (common.parties(), agreement.threshold());
    let (dealt, seconds) = timed(|| deal(&secret, threshold));
    let own = DealtShare::from_poly(&common, dealt.map_err(rlwe)?[0].expose_poly().clone()).map_err(rlwe)?;
    if threshold < parties {
        let count = parties as usize - 1;
        all.push(cost("dealt", Step::Dealt, count, seconds / count as f64));
    }
    all.push(second);
    let own = ThresholdShare::of_sum(1, threshold, own).map_err(rlwe)?;
    let participants: Vec<u32> = (1..=threshold).collect();
    let holder = Holder::Threshold { share: &own, participants: &participants };
    let plan = agreement.fresh_decryption();
    let (share, seconds) = timed(|| F::share(plan, &holder, &mut rng));
    share?;
    all.push(cost("decryption", Step::Decryption, agreement.publication().decryptions as usize, seconds));
    Ok((all.into_iter().flatten().collect(), F::noise(plan)))
}

/// As many shares as there are parties, added up: the same one each time.
fn sum_of(common: &Common, share: &KeyShare) -> std::result::Result<KeySum, windlass::rlwe::RlweError> {
    let mut sum = KeySum::of(share.clone());
    for _ in 1..common.parties() {
        sum.add(share)?;
    }
    Ok(sum)
}

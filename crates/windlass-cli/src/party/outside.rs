//! Handing values over to someone outside, who has a key pair of its own in the parameters of the agreement.

use std::sync::Arc;

use windlass_parties::{Agreement, Handover};

use super::agreed::{at, numbers_of, target};
use super::args::{HandOverArgs, RecipientArgs, ShowArgs};
use super::family::{Encrypted, Side, load, store};
use super::mailbox::each;
use super::steps::one_of;
use crate::error::Result;
use crate::files::{Outputs, claim};
use crate::key_file::write_secret;
use crate::progress::Stages;
use crate::report::Report;
use crate::values;

const SECRET: &str = "secret.key";
const PUBLIC: &str = "public.key";

/// `windlass party recipient`.
pub fn recipient<F: Side>(agreement: &Agreement<F>, args: &RecipientArgs, stages: &mut Stages) -> Result<Report> {
    let outputs = Outputs::claim_in(&args.out, &[SECRET, PUBLIC])?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let context = agreement.context();
    let (secret, public) = stages.run("keys", "making keys", || F::key_pair(context))?;
    let files = F::files(context);
    let sizes = [
        (SECRET, write_secret(&outputs.at(SECRET), files, &secret, passphrase.as_ref())?),
        (PUBLIC, values::write(&outputs.at(PUBLIC), files, &public)?),
    ];
    outputs.keep()?;
    let mut report = Report::default();
    let out = args.out.display();
    report.line(format!(
        "{out}/{SECRET} is secret; give {out}/{PUBLIC} to the members over a channel that no one else can change"
    ));
    report.bytes(&sizes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// `windlass party hand-over`.
pub fn hand_over<F: Side>(agreement: &Agreement<F>, args: &HandOverArgs, stages: &mut Stages) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let members = numbers_of(agreement, &args.what.by)?;
    let context = agreement.context();
    let Encrypted { length, numbers, .. } = load(context, &args.what.input)?;
    let ciphertext = one_of(agreement, &args.what.input)?;
    let to = target(agreement, &args.to)?;
    let mut handover = Handover::new(agreement, &ciphertext, &members, &to).map_err(at(&args.what.input))?;
    let mut report = Report::default();
    let switched = stages.run("hand-over", "adding up shares", || {
        let skipped = each(agreement, &args.shares, |share| handover.receive(share).map(drop))?;
        skipped.describe(&mut report);
        handover.finish().map_err(|error| skipped.explain(error.into()))
    })?;
    let bytes = store(context, &args.out, Encrypted { ciphertexts: vec![switched], length, numbers })?;
    report.line(format!(
        "{} can be decrypted with the secret key that belongs to {}",
        args.out.display(),
        args.to.display()
    ));
    report.made("ciphertext", &args.out, bytes);
    Ok(report)
}

/// `windlass party show`.
pub fn show<F: Side>(agreement: &Agreement<F>, args: &ShowArgs, stages: &mut Stages) -> Result<Report> {
    let context = agreement.context();
    let secret = args.with.open(F::files(context))?;
    let key = Arc::new(secret.key(F::files(context))?);
    let what = load(context, &args.input)?;
    let ciphertext = one_of(agreement, &args.input)?;
    let opened = stages.run("decrypt", "decrypting", || F::open_with(context, key, &ciphertext))?;
    let mut report = Report::default();
    F::describe(&opened, (what.length, what.numbers), F::modulus(context), &mut report)?;
    Ok(report)
}

//! The steps of one party.

use std::io::{Seek as _, Write as _};
use std::path::Path;

use windlass::wire::{Access, write_new, write_new_with};
use windlass_parties::{Agreement, Assembly, Party, Receipt, Step};

use super::agreed::{at, digest, number_of, numbers_of, target};
use super::args::{CloseArgs, DecryptArgs, JoinArgs, OpenMessagesArgs, ReceiveArgs, StatusArgs};
use super::family::{Side, load};
use super::identity::OwnIdentity;
use super::mailbox::{EXTENSION, each, name_of};
use super::state::{OwnParty, create};
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::progress::Stages;
use crate::report::Report;
use crate::values::file_bytes;

/// `windlass party join`.
pub fn join<F: Side>(agreement: &Agreement<F>, own: &OwnIdentity, args: &JoinArgs) -> Result<Report> {
    let digest = digest(agreement);
    if let Some(told) = &args.digest {
        let told = told.trim().to_lowercase();
        if told.len() < 8 || !digest.starts_with(&told) {
            return Err(CliError::Usage(format!(
                "the digest of {} is {digest}, not {told}: it is another agreement than the one that was told (give at least 8 digits)",
                args.own.agreement.display()
            )));
        }
    }
    let party = Party::join(agreement, &own.identity).map_err(at(&args.own.agreement))?;
    let bytes = create(&party, &args.own.state, own)?;
    let mut report = Report::default();
    report.line(format!("{} takes part in the agreement {digest}", name(&party)));
    report.line(format!("{} is secret and changes: keep one copy, and no old ones", args.own.state.display()));
    report.field("digest", digest);
    report.field("number", party.number());
    report.made("state", &args.own.state, bytes);
    Ok(report)
}

fn name<F: Side>(party: &Party<F>) -> String {
    party.agreement().members()[party.number() as usize - 1].name.clone()
}

/// The names of the files of a party's first messages, in their order.
fn opening_names<F: Side>(agreement: &Agreement<F>, number: u32) -> Vec<String> {
    let relinearises = agreement.message_bytes(Step::First).is_some();
    let keys = (0..agreement.key_message_bytes().len()).map(|place| format!("keys-{place}"));
    let first = relinearises.then(|| "first".to_owned());
    let others = (1..=agreement.members().len() as u32).filter(|to| *to != number);
    let dealt = others.filter(|_| agreement.message_bytes(Step::Dealt).is_some()).map(|to| format!("dealt-for-{to}"));
    keys.chain(first).chain(dealt).map(|what| format!("{number}-{what}.{EXTENSION}")).collect()
}

/// Writes messages into a directory, each when it is made, under names that say whose and for whom they are.
fn post<F: Side>(
    agreement: &Agreement<F>,
    names: Vec<String>,
    messages: impl Iterator<Item = windlass_parties::Result<Vec<u8>>>,
    out: &Path,
    report: &mut Report,
) -> Result<()> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let outputs = Outputs::claim_in(out, &names)?;
    let mut sizes = Vec::with_capacity(names.len());
    for (&name, message) in names.iter().zip(messages) {
        let (path, message) = (outputs.at(name), message?);
        debug_assert_eq!(name, name_of(agreement, &message)?);
        write_new(&path, &message, Access::Public).map_err(CliError::at(&path))?;
        sizes.push((name, message.len() as u64));
    }
    outputs.keep()?;
    report.bytes(&sizes);
    Ok(())
}

/// Refuses a directory with a message of this step, before any work.
fn refuse_posted(out: &Path, name: &str) -> Result<()> {
    let path = out.join(name);
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) => Err(CliError::at(&path)(std::io::Error::from(std::io::ErrorKind::AlreadyExists).into())),
    }
}

/// `windlass party open`.
pub fn open<F: Side>(
    agreement: &Agreement<F>,
    own: &OwnIdentity,
    args: &OpenMessagesArgs,
    stages: &mut Stages,
) -> Result<Report> {
    let own = OwnParty::load(&args.own, agreement, own)?;
    let names = opening_names(agreement, own.party.number());
    let mut report = Report::default();
    let (party, count, out) = (name(&own.party), names.len(), args.out.display());
    report.line(format!("{party}: messages for the others: {count}, in {out}"));
    let messages = own.party.opening_messages();
    stages.run("open", "making shares of keys", || post(agreement, names, messages, &args.out, &mut report))?;
    report.seconds(stages.seconds());
    Ok(report)
}

/// `windlass party receive`.
pub fn receive<F: Side>(
    agreement: &Agreement<F>,
    own: &OwnIdentity,
    args: &ReceiveArgs,
    stages: &mut Stages,
) -> Result<Report> {
    let mut own = OwnParty::load(&args.own, agreement, own)?;
    let mut counts = [0usize; 3];
    let skipped = stages.run("receive", "taking messages", || {
        each(agreement, &args.messages, |message| {
            counts[place(own.party.receive(message)?)] += 1;
            Ok(())
        })
    })?;
    if counts[0] > 0 {
        own.save()?;
    }
    let mut report = Report::default();
    let [new, again, other] = counts;
    report.line(format!(
        "{}: messages taken: {new}, taken before: {again}, not for this party: {other}",
        name(&own.party)
    ));
    report.field("new", new);
    report.field("again", again);
    report.field("not_needed", other);
    skipped.describe(&mut report);
    describe_missing(&own.party, &mut report);
    Ok(report)
}

fn place(receipt: Receipt) -> usize {
    match receipt {
        Receipt::New => 0,
        Receipt::Again => 1,
        Receipt::NotNeeded => 2,
    }
}

/// What a party misses, and what it can do next.
fn describe_missing<F: Side>(party: &Party<F>, report: &mut Report) {
    let mut all = serde_json::Map::new();
    let mut is_complete = true;
    for (key, step) in [("first", Step::First), ("dealt", Step::Dealt)] {
        let missing = party.missing(step);
        if !missing.is_empty() {
            is_complete = false;
            report.line(format!("{step} is missing from {}", missing.join(", ")));
        }
        all.insert(key.into(), missing.into());
    }
    if is_complete {
        report.line("nothing is missing from the others");
    }
    report.field("missing", all);
}

/// `windlass party close`.
pub fn close<F: Side>(
    agreement: &Agreement<F>,
    own: &OwnIdentity,
    args: &CloseArgs,
    stages: &mut Stages,
) -> Result<Report> {
    let own = OwnParty::load(&args.own, agreement, own)?;
    refuse_posted(&args.out, &format!("{}-second.{EXTENSION}", own.party.number()))?;
    let messages =
        stages.run("close", "making the second share", || own.party.closing()).map_err(at(&args.own.state))?;
    let mut report = Report::default();
    if messages.is_empty() {
        report.line("the agreement has no key for products, so there is nothing to close");
        report.field("bytes", serde_json::Map::new());
        return Ok(report);
    }
    report.line(format!("{}: the message for the assembler, in {}", name(&own.party), args.out.display()));
    let names = vec![format!("{}-second.{EXTENSION}", own.party.number())];
    post(agreement, names, messages.into_iter().map(Ok), &args.out, &mut report)?;
    report.seconds(stages.seconds());
    Ok(report)
}

/// `windlass party decrypt`.
pub fn decrypt<F: Side>(
    agreement: &Agreement<F>,
    own: &OwnIdentity,
    args: &DecryptArgs,
    stages: &mut Stages,
) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let members = numbers_of(agreement, &args.what.by)?;
    let reader = args.reader.as_deref().map(|reader| number_of(agreement, reader)).transpose()?;
    let ciphertext = one_of(agreement, &args.what.input)?;
    let mut own = OwnParty::load(&args.own, agreement, own)?;
    let to = args.to.as_deref().map(|path| target(agreement, path)).transpose()?;
    let share = stages.run("decrypt", "making a share", || match &to {
        None => own.party.decrypt(&ciphertext, &members, reader),
        Some(to) => own.party.switch(&ciphertext, &members, to),
    });
    let share = share.map_err(at(&args.what.input))?;
    write_counted(&args.out, &share, || own.save())?;
    let mut report = Report::default();
    let (done, most) = (own.party.decryptions(), agreement.publication().decryptions);
    let what = if to.is_some() { "hand-over" } else { "decryption" };
    report.line(format!("{}: a share of the {what} of {}", name(&own.party), args.what.input.display()));
    report.line(format!("decryptions of this party: {done} of {most}"));
    report.field("decryptions", done);
    report.field("most", most);
    report.made("share", &args.out, share.len() as u64);
    Ok(report)
}

/// Bytes at the beginning of a file that say that it is one of Windlass.
const FORMAT: usize = 8;

/// Writes a share that counts. First its room is taken, so that no decryption is counted for a share that cannot be
/// written. Then the count is saved, so that no share is there that is not counted. Then the share is written.
fn write_counted(path: &Path, share: &[u8], count: impl FnOnce() -> Result<u64>) -> Result<()> {
    let mut uncounted = None;
    let written = write_new_with(path, Access::Public, |file| {
        // With the name of the format alone: what a killed command leaves is known by it, and is no share.
        let (format, rest) = share.split_at(share.len().min(FORMAT));
        file.write_all(format)?;
        file.write_all(&vec![0; rest.len()])?;
        file.sync_all()?;
        if let Err(error) = count() {
            uncounted = Some(error);
            return Err(std::io::Error::other("the state could not be saved"));
        }
        file.rewind()?;
        file.write_all(share)
    });
    match uncounted {
        Some(error) => Err(error),
        None => written.map_err(CliError::at(path)),
    }
}

/// The ciphertext of a vector that has one.
pub fn one_of<F: Side>(agreement: &Agreement<F>, path: &Path) -> Result<F::Ciphertext> {
    let mut vector = load(agreement.context(), path)?;
    match vector.ciphertexts.len() {
        1 => Ok(vector.ciphertexts.swap_remove(0)),
        count => Err(CliError::Usage(format!(
            "{}: it holds {count} ciphertexts, but a share is for one: add them up first, or save them one by one",
            path.display()
        ))),
    }
}

/// `windlass party status`.
pub fn status<F: Side>(agreement: &Agreement<F>, own: &OwnIdentity, args: &StatusArgs) -> Result<Report> {
    let own = OwnParty::load(&args.own, agreement, own)?;
    let mut report = Report::default();
    let party = &own.party;
    report.line(format!("{} is number {} of {}", name(party), party.number(), agreement.members().len()));
    report.line(format!("digest  {}", digest(agreement)));
    report.line(format!("decryptions: {} of {}", party.decryptions(), agreement.publication().decryptions));
    report.field("name", name(party));
    report.field("number", party.number());
    report.field("digest", digest(agreement));
    report.field("decryptions", party.decryptions());
    report.field("state_bytes", file_bytes(&args.own.state)?);
    describe_missing(party, &mut report);
    if !args.messages.is_empty() {
        let mut assembly = Assembly::new(agreement);
        let skipped = each(agreement, &args.messages, |message| assembly.receive(message).map(drop))?;
        skipped.describe(&mut report);
        let mut all = serde_json::Map::new();
        for (key, step) in [("keys", Step::Keys), ("second", Step::Second)] {
            let missing = assembly.missing(step);
            if !missing.is_empty() {
                report.line(format!("for the assembler, {step} is missing from {}", missing.join(", ")));
            }
            all.insert(key.into(), missing.into());
        }
        report.field("missing_for_assembler", all);
    }
    Ok(report)
}

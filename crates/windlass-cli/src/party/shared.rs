//! The steps that need no secret of a party: keys, ciphertexts, values.

use std::sync::Arc;

use windlass::rlwe::PublicKey;
use windlass_parties::{Agreement, Assembly, Reading};

use super::agreed::{at, numbers_of};
use super::args::{AddArgs, AssembleArgs, EncryptArgs, ReadArgs};
use super::family::{Encrypted, Side, load, store};
use super::identity::OwnIdentity;
use super::mailbox::each;
use super::steps::one_of;
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::progress::Stages;
use crate::refresh::Value;
use crate::report::Report;
use crate::table::Cells;
use crate::values;

const PUBLIC: &str = "public.key";
const EVALUATION: &str = "evaluation.keys";

/// `windlass party assemble`.
pub fn assemble<F: Side>(agreement: &Agreement<F>, args: &AssembleArgs, stages: &mut Stages) -> Result<Report> {
    let outputs = Outputs::claim_in(&args.out, &[PUBLIC, EVALUATION])?;
    let mut assembly = Assembly::new(agreement);
    let skipped = stages.run("receive", "adding up shares", || {
        each(agreement, &args.messages, |message| assembly.receive(message).map(drop))
    })?;
    let keys = assembly.into_keys().map_err(|error| skipped.explain(error.into()))?;
    let context = F::files(agreement.context());
    let sizes = [
        (PUBLIC, values::write(&outputs.at(PUBLIC), context, &*keys.public)?),
        (EVALUATION, values::write(&outputs.at(EVALUATION), context, &*keys.evaluation)?),
    ];
    outputs.keep()?;
    let mut report = Report::default();
    report.line(format!("keys of {} members, of whom {} decrypt", agreement.members().len(), agreement.threshold()));
    skipped.describe(&mut report);
    report.bytes(&sizes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// The values that were given, or a column.
fn given(args: &EncryptArgs) -> Result<Vec<Value>> {
    let (Some(path), Some(column)) = (&args.table, &args.column) else { return Ok(args.values.clone()) };
    let cells = Cells::read(path)?;
    let column = cells.column(column)?;
    let number = |row: usize| {
        let real = cells.number(row, column)?;
        Ok(match cells.rows()[row][column].trim().parse::<i128>() {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Real(real),
        })
    };
    (0..cells.rows().len()).map(number).collect()
}

/// `windlass party encrypt`.
pub fn encrypt<F: Side>(agreement: &Agreement<F>, args: &EncryptArgs, stages: &mut Stages) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let all = given(args)?;
    let context = agreement.context();
    let key: PublicKey =
        values::read_for(&args.public_key, F::files(context), (agreement.key_id(), &args.on.agreement))?;
    let how = (args.length.unwrap_or(all.len()), args.bound);
    let vector = stages.run("encrypt", "encrypting", || F::encrypt(context, Arc::new(key), &all, how))?;
    let ciphertexts = vector.ciphertexts.len();
    let bytes = store(context, &args.out, vector)?;
    let mut report = Report::default();
    report.line(format!("encrypted values: {}; ciphertexts: {ciphertexts}", all.len()));
    report.field("values", all.len());
    report.field("ciphertexts", ciphertexts);
    report.made("ciphertext", &args.out, bytes);
    Ok(report)
}

/// `windlass party add`.
pub fn add<F: Side>(agreement: &Agreement<F>, args: &AddArgs) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let context = agreement.context();
    let mut sum: Option<Encrypted<F::Ciphertext>> = None;
    for path in &args.inputs {
        let next = load(context, path)?;
        sum = Some(match sum {
            None => next,
            Some(own) if own.length == next.length && own.numbers == next.numbers => {
                let pairs = own.ciphertexts.iter().zip(&next.ciphertexts);
                let ciphertexts = pairs.map(|(a, b)| F::add(context, a, b)).collect::<Result<_>>()?;
                Encrypted { ciphertexts, ..own }
            }
            Some(own) => {
                return Err(CliError::Usage(format!(
                    "{}: it holds {} values, but {} holds {} of them: encrypt vectors of one length (--length)",
                    path.display(),
                    next.length,
                    args.inputs[0].display(),
                    own.length
                )));
            }
        });
    }
    let sum = sum.ok_or_else(|| CliError::Usage("give the ciphertexts to add".into()))?;
    let bytes = store(context, &args.out, sum)?;
    let mut report = Report::default();
    report.line(format!("{} encrypted vectors are added", args.inputs.len()));
    report.made("ciphertext", &args.out, bytes);
    Ok(report)
}

/// `windlass party read`.
pub fn read_values<F: Side>(
    agreement: &Agreement<F>,
    own: Option<&OwnIdentity>,
    args: &ReadArgs,
    stages: &mut Stages,
) -> Result<Report> {
    let members = numbers_of(agreement, &args.what.by)?;
    let context = agreement.context();
    let vector = load(context, &args.what.input)?;
    let what = (vector.length, vector.numbers);
    drop(vector);
    let ciphertext = one_of(agreement, &args.what.input)?;
    let mut reading = Reading::new(agreement, &ciphertext, &members).map_err(at(&args.what.input))?;
    if let (Some(own), Some(path)) = (own, &args.identity) {
        reading = reading.for_reader(&own.identity).map_err(at(path))?;
    }
    let mut report = Report::default();
    let opened = stages.run("read", "adding up shares", || {
        let skipped = each(agreement, &args.shares, |share| reading.receive(share).map(drop))?;
        skipped.describe(&mut report);
        reading.open().map_err(|error| skipped.explain(error.into()))
    })?;
    F::describe(&opened, what, F::modulus(context), &mut report)?;
    Ok(report)
}

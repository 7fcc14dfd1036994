//! The steps for sets of CKKS: real numbers instead of integers, and errors instead of exact values.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use windlass::bootstrap::approximate::{RefreshKeys, RefreshSpec};
use windlass::bootstrap::stage_times;
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{EvaluationKeys, PublicKey};
use windlass::schemes::ckks::{Ciphertext, Encryptor, complex};
use windlass::wire::{ApproximateCiphertextV1, Passphrase};
use windlass::{Approximate, Server};

use super::approximate_setup::Setup;
use super::args::{ApplyArgs, DecryptArgs, EncryptArgs, KeygenArgs, RefreshArgs};
use super::compared::{Compared, Errors};
use super::describe::{Renewed, describe_reals, describe_renewed, explain_approximate};
use super::steps::{BOOTSTRAP, EVALUATION, PUBLIC, REFRESHED, SECRET, SPENT};
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{KeyFile, SecretFile, write_secret};
use crate::memory;
use crate::progress::Stages;
use crate::report::Report;
use crate::values::{file_bytes, read, read_for, write};

/// `windlass refresh --explain`.
pub fn explain(set: (String, RefreshSpec), args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, args.preset.as_deref().unwrap_or_default(), args.way, &mut stages)?;
    explain_approximate(&setup)
}

/// `windlass refresh keygen`.
pub fn keygen(set: (String, RefreshSpec), args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, &args.set.preset, args.set.way, &mut stages)?;
    setup.vouch(&args.set.preset, args.set.way, quiet)?;
    let outputs = Outputs::claim_in(&args.out, &[SECRET, PUBLIC, EVALUATION, BOOTSTRAP])?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let files = make_keys(&setup, &outputs, passphrase.as_ref(), &mut stages)?;
    outputs.keep()?;
    let mut report = Report::default();
    let bits = setup.security_bits();
    report.line(format!("keys for '{}' ({bits:.1} bits of security)", setup.name));
    report.field("security_bits", bits);
    report.bytes(&files);
    report.seconds(stages.seconds());
    Ok(report)
}

fn make_keys(
    setup: &Setup,
    outputs: &Outputs,
    passphrase: Option<&Passphrase>,
    stages: &mut Stages,
) -> Result<Vec<(&'static str, u64)>> {
    let (plan, context, sizes) = (&setup.plan, &setup.context, setup.plan.key_bytes());
    // All keys, and the largest file as it is written.
    memory::check("the keys", sizes.evaluation_memory.saturating_add(sizes.evaluation.max(sizes.bootstrap)))?;
    // One for each automorphism, the relinearisation key, and those of the refresh.
    let count = plan.galois_levels().len() + 2;
    let made =
        stages.count("keygen", "making keys", count, |tick| context.generate_keys_observed([plan], |_, _| tick()));
    let (client, server) = made?;
    stages.run("keygen_write", "writing keys", || {
        let files = setup.files();
        let mut written = vec![
            (SECRET, write_secret(&outputs.at(SECRET), files, client.secret_key(), passphrase)?),
            (PUBLIC, write(&outputs.at(PUBLIC), files, &client.public_key()?)?),
            (EVALUATION, write(&outputs.at(EVALUATION), files, &**server.engine().keys())?),
        ];
        for (_, own) in server.refreshes() {
            written.push((BOOTSTRAP, write(&outputs.at(BOOTSTRAP), &setup.wire, own)?));
        }
        Ok(written)
    })
}

/// `windlass refresh encrypt`.
pub fn encrypt(set: (String, RefreshSpec), args: &EncryptArgs, quiet: bool) -> Result<Report> {
    if args.capacity.is_some() {
        let reason = "--capacity is for sets of integers: a ciphertext of CKKS is encrypted without levels";
        return Err(CliError::Usage(reason.into()));
    }
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, &args.set.preset, args.set.way, &mut stages)?;
    setup.vouch(&args.set.preset, args.set.way, quiet)?;
    let message = setup.message(&args.values)?;
    let key = args.with.file(setup.files())?;
    let bytes = stages.run("encrypt", "encrypting", || make_ciphertext(&setup, &key, &message, &args.out))?;
    let mut report = Report::default();
    report.line(format!("{} values are encrypted, without levels", args.values.len()));
    report.field("security_bits", setup.security_bits());
    report.made("ciphertext", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Gives the size of the file.
fn make_ciphertext(setup: &Setup, key: &KeyFile<'_>, message: &[f64], out: &Path) -> Result<u64> {
    let (context, files) = (&setup.context, setup.files());
    let (message, base) = (complex(message), setup.plan.input_level());
    let mut rng = os_rng().map_err(windlass::Error::from)?;
    let ciphertext = match key {
        KeyFile::Secret(file) => {
            let client = context.client_from_key(Arc::new(file.key(files)?))?;
            client.decryptor()?.encrypt(&message, 1.0, base, &mut rng)?.0
        }
        KeyFile::Public(path) => {
            let (public, _): (PublicKey, _) = read(path, files)?;
            let fresh = Encryptor::new(context.ckks(), Arc::new(public))?.encrypt(&message, &mut rng)?;
            context.server_without_keys()?.engine().lower(&fresh, base)?
        }
    };
    write(out, files, &ApproximateCiphertextV1::new(ciphertext))
}

/// `windlass refresh apply`.
pub fn apply(set: (String, RefreshSpec), args: &ApplyArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, &args.set.preset, args.set.way, &mut stages)?;
    let keys = [&args.evaluation_keys, &args.bootstrap_keys].map(PathBuf::as_path);
    let made = refresh(&setup, keys, &args.input, &args.out, &mut stages)?;
    let mut report = Report::default();
    describe_renewed(&mut report, &made);
    report.made("refreshed", &args.out, made.bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

fn refresh(setup: &Setup, keys: [&Path; 2], input: &Path, out: &Path, stages: &mut Stages) -> Result<Renewed> {
    let (spent, key): (ApproximateCiphertextV1, _) =
        stages.run("load_ciphertext", "reading the ciphertext", || read(input, setup.files()))?;
    let spent = spent.into_ciphertext();
    let server = stages.run("load_keys", "reading keys", || -> Result<Server<Approximate>> {
        let own: RefreshKeys = read_for(keys[1], &setup.wire, (key, input))?;
        let evaluation: EvaluationKeys = read_for(keys[0], setup.files(), (key, input))?;
        Ok(setup.context.server_from_keys(Arc::new(evaluation), vec![(Arc::clone(&setup.plan), own)])?)
    })?;
    stages.run("prepare", "converting constants", || server.refresher(spent.slots())?.check(&spent))?;
    let mut times = Vec::new();
    let refreshed = stages.follow("refresh", "refreshing", |show| {
        server.refresh_list(std::slice::from_ref(&spent), |progress| {
            times.push((progress.clone(), Instant::now()));
            if !progress.stage.is_empty() {
                show(&progress.stage, progress.number, progress.count);
            }
            ControlFlow::Continue(())
        })
    })?;
    let [fresh] = <[Ciphertext; 1]>::try_from(refreshed).expect("as many as went in");
    let (levels, bits) = ([spent.depth_left(), fresh.depth_left()], [spent.precision_bits(), fresh.precision_bits()]);
    let bytes = write(out, setup.files(), &ApproximateCiphertextV1::new(fresh))?;
    Ok(Renewed { stages: stage_times(&times), levels, bits, bytes })
}

/// `windlass refresh decrypt`.
pub fn decrypt(set: (String, RefreshSpec), args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, &args.set.preset, args.set.way, &mut stages)?;
    let wanted = args.values.as_ref().map(|values| setup.message(values)).transpose()?;
    let secret = args.with.open(setup.files())?;
    let found = stages.run("decrypt", "decrypting", || open(&setup, &secret, &args.input))?;
    let mut report = Report::default();
    describe_reals(&mut report, &found.values);
    if let Some(wanted) = &wanted {
        found.against(wanted)?.describe(&mut report, found.stated_bits);
    }
    report.field("verified", wanted.is_some());
    report.seconds(stages.seconds());
    Ok(report)
}

fn open(setup: &Setup, file: &SecretFile<'_>, input: &Path) -> Result<Compared> {
    let files = setup.files();
    let secret = file.key(files)?;
    let stored: ApproximateCiphertextV1 = read_for(input, files, (secret.key_id(), file.path()))?;
    let ciphertext = stored.into_ciphertext();
    let values = setup.context.client_from_key(Arc::new(secret))?.decrypt(&ciphertext)?;
    Ok(Compared { values, bound: ciphertext.error_bound(), stated_bits: ciphertext.precision_bits() })
}

/// `windlass refresh`: all steps through files.
pub fn all(set: (String, RefreshSpec), args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let given = args.preset.as_deref().unwrap_or_default();
    let setup = Setup::new(set, given, args.way, &mut stages)?;
    // The report says λ at its end, where it is no warning.
    setup.vouch(given, args.way, true)?;
    let message = match args.values.is_empty() {
        true => (0..setup.plan.spec().slots).map(|k| (k as f64).sin()).collect(),
        false => setup.message(&args.values)?,
    };
    let names = [SECRET, PUBLIC, EVALUATION, BOOTSTRAP, SPENT, REFRESHED];
    let outputs = match &args.out {
        Some(directory) => Outputs::claim_in(directory, &names)?,
        None => Outputs::temporary()?,
    };
    make_keys(&setup, &outputs, None, &mut stages)?;
    let at = |name: &str| outputs.at(name);
    let secret = at(SECRET);
    stages.run("encrypt", "encrypting", || {
        make_ciphertext(&setup, &KeyFile::Secret(SecretFile::read(&secret)?), &message, &at(SPENT))
    })?;
    let keys = [at(EVALUATION), at(BOOTSTRAP)];
    let made = refresh(&setup, [&keys[0], &keys[1]], &at(SPENT), &at(REFRESHED), &mut stages)?;
    let found = stages.run("decrypt", "decrypting", || open(&setup, &SecretFile::read(&secret)?, &at(REFRESHED)))?;
    let errors: Errors = found.against(&message)?;
    let files = names.iter().map(|name| Ok((*name, file_bytes(&at(name))?))).collect::<Result<Vec<_>>>()?;
    outputs.keep()?;
    let mut report = Report::default();
    describe_renewed(&mut report, &made);
    errors.describe(&mut report, found.stated_bits);
    report.line("files");
    report.bytes(&files);
    report.line("time");
    report.seconds(stages.seconds());
    report.line(format!("all {} values decrypt to the values that were encrypted, up to this error", message.len()));
    report.field("verified", true);
    report.field("preset", setup.name.as_str());
    report.field("security_bits", setup.security_bits());
    Ok(report)
}

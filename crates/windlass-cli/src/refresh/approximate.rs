//! The steps for sets of CKKS: real numbers instead of integers, and errors instead of exact values.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::bootstrap::approximate::RefreshKeys;
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{EvaluationKeys, PublicKey};
use windlass::schemes::ckks::{Ciphertext, Encryptor, Wide, WideComplex, complex};
use windlass::wire::{ApproximateCiphertextV1, Passphrase};
use windlass::{Approximate, Server};

use super::approximate_setup::{Set, Setup};
use super::args::{ApplyArgs, DecryptArgs, EncryptArgs, KeygenArgs, RefreshArgs};
use super::compared::{Compared, Errors};
use super::describe::{Renewed, describe_reals, describe_renewed, explain_approximate};
use super::files::{
    BOOTSTRAP, EVALUATION, FileSizes, REFRESHED, SECRET, SPENT, check_memory_of_keys, claim_all, claim_keys,
    describe_all, keep_all, report_keys, write_keys,
};
use super::timing::timed;
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{KeyFile, SecretFile};
use crate::progress::Stages;
use crate::report::Report;
use crate::values::{read, read_for, write};

/// `windlass refresh --explain`.
pub fn explain(set: Set, args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, args.preset.as_deref().unwrap_or_default(), args.way, &mut stages)?;
    explain_approximate(&setup)
}

/// `windlass refresh keygen`.
pub fn keygen(set: Set, args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, &args.set.preset, args.set.way, &mut stages)?;
    setup.vouch(&args.set.preset, args.set.way, quiet)?;
    let outputs = claim_keys(&args.out)?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let files = make_keys(&setup, &outputs, passphrase.as_ref(), &mut stages)?;
    outputs.keep()?;
    Ok(report_keys(setup.name_and_security(), &files, &stages))
}

fn make_keys(
    setup: &Setup,
    outputs: &Outputs,
    passphrase: Option<&Passphrase>,
    stages: &mut Stages,
) -> Result<FileSizes> {
    let (plan, context) = (&setup.plan, &setup.context);
    check_memory_of_keys(&plan.key_bytes())?;
    // One for each automorphism, the relinearisation key, and those of the refresh.
    let count = plan.galois_levels().len() + 2;
    let made =
        stages.count("keygen", "making keys", count, |tick| context.generate_keys_observed([plan], |_, _| tick()));
    let (client, server) = made?;
    stages.run("keygen_write", "writing keys", || {
        let keys = (&**client.secret_key(), &client.public_key()?, &**server.engine().keys());
        let mut written = write_keys(outputs, setup.files(), keys, passphrase)?;
        for (_, own) in server.refreshes() {
            written.push((BOOTSTRAP, write(&outputs.at(BOOTSTRAP), &setup.wire, own)?));
        }
        Ok(written)
    })
}

/// `windlass refresh encrypt`.
pub fn encrypt(set: Set, args: &EncryptArgs, quiet: bool) -> Result<Report> {
    if args.capacity.is_some() {
        let reason = "--capacity is for sets of integers: a ciphertext of CKKS is encrypted with the fewest levels that can be refreshed";
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
    report.line(format!("{} values are encrypted, with the fewest levels that can be refreshed", args.values.len()));
    report.field("security_bits", setup.security_bits());
    report.made("ciphertext", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Gives the size of the file.
fn make_ciphertext(setup: &Setup, key: &KeyFile<'_>, message: &[f64], out: &Path) -> Result<u64> {
    let (context, files) = (&setup.context, setup.files());
    let (message, base) = (complex(message), setup.input_level());
    // Doubles without the rounding of doubles when they are encoded.
    let wide: Option<Vec<WideComplex>> = setup.passes.as_ref().map(|_| message.iter().map(|&z| z.into()).collect());
    let mut rng = os_rng().map_err(windlass::Error::from)?;
    let ciphertext = match key {
        KeyFile::Secret(file) => {
            let client = context.client_from_key(Arc::new(file.key(files)?))?;
            let decryptor = client.decryptor()?;
            match &wide {
                None => decryptor.encrypt(&message, 1.0, base, &mut rng)?.0,
                Some(wide) => decryptor.encrypt_wide(wide, 1.0, base, &mut rng)?.0,
            }
        }
        KeyFile::Public(path) => {
            let (public, _): (PublicKey, _) = read(path, files)?;
            let encryptor = Encryptor::new(context.ckks(), Arc::new(public))?;
            let fresh = match &wide {
                None => encryptor.encrypt(&message, &mut rng)?,
                Some(wide) => encryptor.encrypt_wide(wide, 1.0, &mut rng)?,
            };
            context.server_without_keys()?.engine().lower(&fresh, base)?
        }
    };
    write(out, files, &ApproximateCiphertextV1::new(ciphertext))
}

/// `windlass refresh apply`.
pub fn apply(set: Set, args: &ApplyArgs, quiet: bool) -> Result<Report> {
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
    stages.run("prepare", "converting constants", || match setup.passes {
        None => server.refresher(spent.slots())?.check(&spent),
        Some(_) => server.precise_refresher()?.check(&spent),
    })?;
    let (refreshed, times) = timed(stages, |observe| server.refresh_list(std::slice::from_ref(&spent), observe))?;
    let [fresh] = <[Ciphertext; 1]>::try_from(refreshed).expect("as many as went in");
    // Without those that the next refresh takes.
    let kept = setup.plan.spec().input_levels();
    let levels = [&spent, &fresh].map(|ct| ct.depth_left().saturating_sub(kept));
    let bits = [&spent, &fresh].map(Ciphertext::precision_bits);
    let bytes = write(out, setup.files(), &ApproximateCiphertextV1::new(fresh))?;
    Ok(Renewed { stages: times, levels, bits, bytes })
}

/// `windlass refresh decrypt`.
pub fn decrypt(set: Set, args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let setup = Setup::new(set, &args.set.preset, args.set.way, &mut stages)?;
    let wanted = args.values.as_ref().map(|values| setup.message(values)).transpose()?;
    let secret = args.with.open(setup.files())?;
    let found = stages.run("decrypt", "decrypting", || open(&setup, &secret, &args.input))?;
    let mut report = Report::default();
    describe_reals(&mut report, &found.doubles());
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
    let client = setup.context.client_from_key(Arc::new(secret))?;
    let values = match setup.passes {
        None => client.decrypt(&ciphertext)?.into_iter().map(Wide::from).collect(),
        Some(_) => client.decrypt_wide(&ciphertext)?.into_iter().map(|z| z.re).collect(),
    };
    Ok(Compared { values, bound: ciphertext.error_bound(), stated_bits: ciphertext.precision_bits() })
}

/// `windlass refresh`: all steps through files.
pub fn all(set: Set, args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let given = args.preset.as_deref().unwrap_or_default();
    let setup = Setup::new(set, given, args.way, &mut stages)?;
    // The report says λ at its end, where it is no warning.
    setup.vouch(given, args.way, true)?;
    let message = match args.values.is_empty() {
        true => (0..setup.plan.spec().slots).map(|k| (k as f64).sin()).collect(),
        false => setup.message(&args.values)?,
    };
    let outputs = claim_all(args.out.as_deref())?;
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
    let files = keep_all(outputs)?;
    let mut report = Report::default();
    describe_renewed(&mut report, &made);
    errors.describe(&mut report, found.stated_bits);
    let verified = format!("all {} values decrypt to the values that were encrypted, up to this error", message.len());
    describe_all(&mut report, setup.name_and_security(), &files, &stages, verified);
    Ok(report)
}

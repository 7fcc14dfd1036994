//! The steps, and all of them in a row.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::Content;
use windlass::bootstrap::{BootstrapError, BootstrapKeys, Bootstrapper, Mode, RefreshOptions};
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{EvaluationKeys, PublicKey};
use windlass::schemes::{Ciphertext, Encryptor};
use windlass::wire::{CiphertextV1, Passphrase};

use super::args::{ApplyArgs, DecryptArgs, EncryptArgs, KeygenArgs, RefreshArgs, SetArgs, integers};
use super::describe::{Refreshed, describe_refresh, describe_values};
use super::files::{
    BOOTSTRAP, EVALUATION, FileSizes, REFRESHED, SECRET, SPENT, check_memory_of_keys, claim_all, claim_keys,
    describe_all, keep_all, report_keys, write_keys,
};
use super::setup::{Planned, Setup, compare, lowest};
use super::timing::timed;
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{KeyFile, SecretFile};
use crate::progress::Stages;
use crate::report::Report;
use crate::values::{read, read_for, write};

fn setup(set: &SetArgs, stages: &mut Stages) -> Result<Setup> {
    Setup::new(Planned::new(Some(&set.preset), set.way, stages)?, stages)
}

/// `windlass refresh keygen`.
pub fn keygen(args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let planned = Planned::new(Some(&args.set.preset), args.set.way, &mut stages)?;
    planned.vouch(&args.set.preset, args.set.way, quiet)?;
    let outputs = claim_keys(&args.out)?;
    let passphrase = args.seal.passphrase(&args.out.join(SECRET))?;
    let setup = Setup::new(planned, &mut stages)?;
    let files = make_keys(&setup, &outputs, passphrase.as_ref(), &mut stages)?;
    outputs.keep()?;
    Ok(report_keys(setup.planned.name_and_security(), &files, &stages))
}

fn make_keys(
    setup: &Setup,
    outputs: &Outputs,
    passphrase: Option<&Passphrase>,
    stages: &mut Stages,
) -> Result<FileSizes> {
    let (plan, context) = (&setup.planned.plan, &setup.context);
    check_memory_of_keys(&plan.key_bytes())?;
    // One for each automorphism, the relinearisation key, and the bootstrapping keys.
    let count = plan.required_key_levels().len() + 2;
    let made =
        stages.count("keygen", "making keys", count, |tick| context.generate_keys_observed([plan], |_, _| tick()));
    let (client, server) = made?;
    stages.run("keygen_write", "writing keys", || {
        let keys = (&**client.secret_key(), &client.public_key()?, &**server.engine().keys());
        let mut written = write_keys(outputs, context.files(), keys, passphrase)?;
        for (_, own) in server.bootstrappings() {
            written.push((BOOTSTRAP, write(&outputs.at(BOOTSTRAP), &setup.wire, own)?));
        }
        Ok(written)
    })
}

/// `windlass refresh encrypt`.
pub fn encrypt(args: &EncryptArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let planned = Planned::new(Some(&args.set.preset), args.set.way, &mut stages)?;
    planned.vouch(&args.set.preset, args.set.way, quiet)?;
    let setup = Setup::new(planned, &mut stages)?;
    let key = args.with.file(setup.context.files())?;
    let values = integers(&args.values)?;
    let (capacity, bytes) =
        stages.run("encrypt", "encrypting", || make_ciphertext(&setup, &key, &values, args.capacity, &args.out))?;
    let mut report = Report::default();
    report.line(format!("{} values are encrypted, with {capacity:.1} bits of capacity", args.values.len()));
    report.field("security_bits", setup.planned.security_bits());
    report.field("capacity_bits", capacity);
    report.made("ciphertext", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Gives the capacity and the size of the file.
fn make_ciphertext(
    setup: &Setup,
    key: &KeyFile<'_>,
    values: &[i128],
    capacity: Option<f64>,
    out: &Path,
) -> Result<(f64, u64)> {
    let plaintext = setup.plaintext(values)?;
    let (context, files) = (&setup.context, setup.context.files());
    let top = files.context().top_level();
    let mut rng = os_rng().map_err(windlass::Error::from)?;
    // Whether a ciphertext has what was asked for.
    let enough = |ct: &Ciphertext| match capacity {
        Some(bits) => setup.capacity(ct) >= bits,
        None => setup.planned.plan.check(ct).is_ok(),
    };
    let ciphertext = match key {
        KeyFile::Secret(file) => {
            let decryptor = context.client_from_key(Arc::new(file.key(files)?))?.decryptor();
            let made = (1..=top).map(|level| Ok(decryptor.encrypt(&plaintext, level, &mut rng)?.0));
            lowest(made, enough, capacity)?
        }
        KeyFile::Public(path) => {
            let (public, _): (PublicKey, _) = read(path, files)?;
            let fresh = Encryptor::new(context.scheme(), Arc::new(public)).encrypt(&plaintext, &mut rng)?;
            let server = context.server_without_keys()?;
            let made = (1..=top).map(|level| server.engine().switch_modulus(&fresh, level));
            lowest(made, enough, capacity)?
        }
    };
    let left = setup.capacity(&ciphertext);
    Ok((left, write(out, files, &CiphertextV1::new(ciphertext))?))
}

/// `windlass refresh apply`.
pub fn apply(args: &ApplyArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let setup = setup(&args.set, &mut stages)?;
    let keys = [&args.evaluation_keys, &args.bootstrap_keys].map(PathBuf::as_path);
    let made = refresh(&setup, keys, &args.input, &args.out, &mut stages)?;
    let mut report = Report::default();
    describe_refresh(&mut report, &made);
    report.made("refreshed", &args.out, made.bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

fn refresh(given: &Setup, keys: [&Path; 2], input: &Path, out: &Path, stages: &mut Stages) -> Result<Refreshed> {
    let (spent, key): (CiphertextV1, _) =
        stages.run("load_ciphertext", "reading the ciphertext", || read(input, given.context.files()))?;
    let spent = spent.into_ciphertext();
    let elements = spent.content() == Content::Elements;
    let other = if elements && !given.packed() { Some(given.to_other_way(stages)?) } else { None };
    let setup = other.as_ref().unwrap_or(given);
    setup.planned.plan.check(&spent)?;
    let (evaluation, own) = stages.run("load_keys", "reading keys", || -> Result<_> {
        let own: BootstrapKeys = read_for(keys[1], &setup.wire, (key, input))?;
        let evaluation: EvaluationKeys = read_for(keys[0], setup.context.files(), (key, input))?;
        Ok((Arc::new(evaluation), own))
    })?;
    let mut bootstrapper = prepare(setup, &evaluation, &own, stages);
    if lacks_keys(&bootstrapper) && elements {
        return Err(CliError::KeysForIntegers { keys: keys[0].into(), input: input.into() });
    }
    if lacks_keys(&bootstrapper) {
        // Integers are refreshed with the keys of either way.
        let other = setup.to_other_way(stages)?;
        other.planned.plan.check(&spent)?;
        let other = prepare(&other, &evaluation, &own, stages);
        if !lacks_keys(&other) {
            bootstrapper = other;
        }
    }
    let bootstrapper = bootstrapper?;
    let (refreshed, times) =
        timed(stages, |observe| bootstrapper.refresh_one(&spent, RefreshOptions::new().observed_by(observe)))?;
    let capacity = (setup.capacity(&spent), setup.capacity(&refreshed));
    let packed = bootstrapper.plan().spec().mode == Mode::Packed;
    let bytes = write(out, setup.context.files(), &CiphertextV1::new(refreshed))?;
    Ok(Refreshed { stages: times, capacity, bytes, packed })
}

fn prepare(
    setup: &Setup,
    evaluation: &Arc<EvaluationKeys>,
    own: &BootstrapKeys,
    stages: &mut Stages,
) -> windlass::Result<Bootstrapper> {
    let (plan, scheme) = (&setup.planned.plan, setup.planned.scheme);
    stages
        .run("prepare", "converting constants", || Bootstrapper::new(Arc::clone(plan), scheme, evaluation, own.clone()))
}

fn lacks_keys(made: &windlass::Result<Bootstrapper>) -> bool {
    matches!(made, Err(windlass::Error::Bootstrap(BootstrapError::MissingKey { .. })))
}

/// `windlass refresh decrypt`.
pub fn decrypt(args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let setup = setup(&args.set, &mut stages)?;
    let wanted = args.values.as_ref().map(|values| setup.plaintext(&integers(values)?)).transpose()?;
    let secret = args.with.open(setup.context.files())?;
    let values = stages.run("decrypt", "decrypting", || open(&setup, &secret, &args.input))?;
    if let Some(wanted) = &wanted {
        compare(&values, &setup.values(wanted)?)?;
    }
    let mut report = Report::default();
    describe_values(&mut report, &values);
    report.field("verified", wanted.is_some());
    report.seconds(stages.seconds());
    Ok(report)
}

fn open(setup: &Setup, file: &SecretFile<'_>, input: &Path) -> Result<Vec<u64>> {
    let files = setup.context.files();
    let secret = file.key(files)?;
    let ciphertext = read_for::<_, CiphertextV1>(input, files, (secret.key_id(), file.path()))?.into_ciphertext();
    check_content(setup, &ciphertext, input)?;
    let client = setup.context.client_from_key(Arc::new(secret))?;
    setup.values(&client.decrypt_plaintext(&ciphertext)?)
}

/// Refuses to read integers as coefficients of elements, or elements as integers. Where elements
/// have one coefficient they are the same.
fn check_content(setup: &Setup, ciphertext: &Ciphertext, input: &Path) -> Result<()> {
    let content = ciphertext.content();
    let packed = setup.packed();
    if setup.context.degree() == 1 || packed == (content == Content::Elements) {
        return Ok(());
    }
    let way = if packed { "without --packed" } else { "with --packed" };
    Err(CliError::OtherContent { path: input.into(), content, way })
}

/// `windlass refresh`: all steps through files.
pub fn all(args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let planned = Planned::new(args.preset.as_deref(), args.way, &mut stages)?;
    // The report says λ at its end, where it is no warning.
    planned.vouch(args.preset.as_deref().unwrap_or_default(), args.way, true)?;
    let outputs = claim_all(args.out.as_deref())?;
    let setup = Setup::new(planned, &mut stages)?;
    let values = match args.values.is_empty() {
        true => (0..setup.most_values() as u64).map(|i| (i % setup.modulus()).into()).collect(),
        false => integers(&args.values)?,
    };
    let wanted = setup.values(&setup.plaintext(&values)?)?;
    make_keys(&setup, &outputs, None, &mut stages)?;
    let at = |name: &str| outputs.at(name);
    let secret = at(SECRET);
    stages.run("encrypt", "encrypting", || {
        make_ciphertext(&setup, &KeyFile::Secret(SecretFile::read(&secret)?), &values, None, &at(SPENT))
    })?;
    let keys = [at(EVALUATION), at(BOOTSTRAP)];
    let made = refresh(&setup, [&keys[0], &keys[1]], &at(SPENT), &at(REFRESHED), &mut stages)?;
    let found = stages.run("decrypt", "decrypting", || open(&setup, &SecretFile::read(&secret)?, &at(REFRESHED)))?;
    compare(&found, &wanted)?;
    let files = keep_all(outputs)?;
    let mut report = Report::default();
    describe_refresh(&mut report, &made);
    let verified = format!("all {} values decrypt to the values that were encrypted", found.len());
    describe_all(&mut report, setup.planned.name_and_security(), &files, &stages, verified);
    Ok(report)
}

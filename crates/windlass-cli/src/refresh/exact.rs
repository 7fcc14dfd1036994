//! The steps for sets of integers that are refreshed through CKKS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::bootstrap::RefreshOptions;
use windlass::bootstrap::approximate::RefreshKeys;
use windlass::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefreshSpec, exact_refresh_preset_names};
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{EvaluationKeys, PublicKey};
use windlass::schemes::{Ciphertext, Encryptor};
use windlass::wire::{CiphertextV1, Passphrase, RefreshContext, WireContext};
use windlass::{Context, Plaintext, Scheme};

use super::approximate_setup::text_of;
use super::args::{ApplyArgs, DecryptArgs, EncryptArgs, KeygenArgs, RefreshArgs, WayArgs, integers};
use super::describe::{Refreshed, describe_refresh, describe_values, explain_exact};
use super::files::{
    BOOTSTRAP, EVALUATION, FileSizes, REFRESHED, SECRET, SPENT, check_memory_of_keys, claim_all, claim_keys,
    describe_all, keep_all, report_keys, write_keys,
};
use super::setup::{checked_residues, compare, lowest};
use super::timing::timed;
use crate::error::{CliError, Result};
use crate::files::{Outputs, claim};
use crate::key_file::{KeyFile, SecretFile};
use crate::progress::Stages;
use crate::report::{Report, rounded_down};
use crate::security::vouch;
use crate::values::{read, read_for, refused_parameters, write};

/// The plan of a named set or of a file, if it is one of integers through CKKS.
pub fn named(preset: Option<&str>) -> Result<Option<Arc<ExactRefreshPlan>>> {
    let Some(name) = preset else { return Ok(None) };
    if exact_refresh_preset_names().any(|known| known == name) {
        return Ok(Some(Arc::new(ExactRefreshPlan::preset(name)?)));
    }
    let Some(text) = text_of(name).filter(|text| ExactRefreshSpec::is_json(text)) else { return Ok(None) };
    let plan = ExactRefreshSpec::from_json(&text).and_then(|(spec, _)| ExactRefreshPlan::new(&spec));
    Ok(Some(Arc::new(plan.map_err(|error| refused_parameters(name, error))?)))
}

/// A set with its transforms.
struct Setup {
    plan: Arc<ExactRefreshPlan>,
    context: Context,
    /// What the files of the keys of the refresh must agree with.
    wire: RefreshContext,
}

impl Setup {
    fn new(plan: Arc<ExactRefreshPlan>, way: WayArgs) -> Result<Self> {
        if way.packed {
            let reason = "--packed is for bootstrapping: a refresh through CKKS keeps any elements of slots";
            return Err(CliError::Usage(reason.into()));
        }
        let context = Context::of_exact_refresh(Arc::clone(&plan), Scheme::from(way.scheme));
        Ok(Self { wire: RefreshContext::new(plan.ckks()), plan, context })
    }

    fn files(&self) -> &WireContext {
        self.context.files()
    }

    fn name_and_security(&self) -> (&str, f64) {
        let params = self.context.params();
        (params.name(), rounded_down(params.rlwe().security().bits))
    }

    fn vouch(&self, given: &str, way: WayArgs, quiet: bool) -> Result<()> {
        let (name, bits) = self.name_and_security();
        vouch(name, bits, given, way.insecure, quiet)
    }

    /// One value for each slot, or for each coefficient if the ring has no slots.
    fn most_values(&self) -> usize {
        let ring = self.context.slot_ring();
        if ring.has_slots() { ring.slots() } else { ring.n() }
    }

    fn plaintext(&self, values: &[i128]) -> Result<Plaintext> {
        let all = checked_residues(values, self.most_values(), self.context.modulus())?;
        let ring = self.context.slot_ring();
        Ok(match ring.has_slots() {
            true => Plaintext::from_integers(ring, &all)?,
            false => Plaintext::from_slots(ring, &all)?,
        })
    }

    fn values(&self, plaintext: &Plaintext) -> Result<Vec<u64>> {
        let has_slots = self.context.slot_ring().has_slots();
        Ok(if has_slots { plaintext.to_integers()? } else { plaintext.to_slots() })
    }

    fn capacity(&self, ct: &Ciphertext) -> Result<f64> {
        Ok(self.context.server_without_keys()?.capacity(ct))
    }
}

/// `windlass refresh --explain`.
pub fn explain(plan: Arc<ExactRefreshPlan>, args: &RefreshArgs) -> Result<Report> {
    let setup = Setup::new(plan, args.way)?;
    let mut report = explain_exact(&setup.plan);
    let (name, bits) = setup.name_and_security();
    report.field("preset", name);
    report.field("security_bits", bits);
    Ok(report)
}

/// `windlass refresh keygen`.
pub fn keygen(plan: Arc<ExactRefreshPlan>, args: &KeygenArgs, quiet: bool) -> Result<Report> {
    let (mut stages, setup) = (Stages::new(quiet), Setup::new(plan, args.set.way)?);
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
    let count = plan.ckks().galois_levels().len() + 2;
    let made =
        stages.count("keygen", "making keys", count, |tick| context.generate_keys_observed([plan], |_, _| tick()));
    let (client, server) = made?;
    stages.run("keygen_write", "writing keys", || {
        let keys = (&**client.secret_key(), &client.public_key()?, &**server.engine().keys());
        let mut written = write_keys(outputs, setup.files(), keys, passphrase)?;
        if let Some((_, own)) = server.exact_refresh() {
            written.push((BOOTSTRAP, write(&outputs.at(BOOTSTRAP), &setup.wire, own)?));
        }
        Ok(written)
    })
}

/// `windlass refresh encrypt`.
pub fn encrypt(plan: Arc<ExactRefreshPlan>, args: &EncryptArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let (mut stages, setup) = (Stages::new(quiet), Setup::new(plan, args.set.way)?);
    setup.vouch(&args.set.preset, args.set.way, quiet)?;
    let key = args.with.file(setup.files())?;
    let values = integers(&args.values)?;
    let (capacity, bytes) =
        stages.run("encrypt", "encrypting", || make_ciphertext(&setup, &key, &values, args.capacity, &args.out))?;
    let mut report = Report::default();
    report.line(format!("{} values are encrypted, with {capacity:.1} bits of capacity", args.values.len()));
    report.field("security_bits", setup.name_and_security().1);
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
    let (context, files) = (&setup.context, setup.files());
    let server = context.server_without_keys()?;
    let (top, wanted) = (context.params().top_level(), capacity.unwrap_or(setup.plan.least_input_bits()));
    let mut rng = os_rng().map_err(windlass::Error::from)?;
    let enough = |ct: &Ciphertext| server.capacity(ct) >= wanted;
    let ciphertext = match key {
        KeyFile::Secret(file) => {
            let decryptor = context.client_from_key(Arc::new(file.key(files)?))?.decryptor();
            let made = (1..=top).map(|level| Ok(decryptor.encrypt(&plaintext, level, &mut rng)?.0));
            lowest(made, enough, capacity)?
        }
        KeyFile::Public(path) => {
            let (public, _): (PublicKey, _) = read(path, files)?;
            let encryptor = Encryptor::new(context.scheme(), Arc::new(public)).at_level(top)?;
            let fresh = encryptor.encrypt(&plaintext, &mut rng)?;
            let made = (1..=top).map(|level| server.engine().switch_modulus(&fresh, level));
            lowest(made, enough, capacity)?
        }
    };
    let left = server.capacity(&ciphertext);
    Ok((left, write(out, files, &CiphertextV1::new(ciphertext))?))
}

/// `windlass refresh apply`.
pub fn apply(plan: Arc<ExactRefreshPlan>, args: &ApplyArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let (mut stages, setup) = (Stages::new(quiet), Setup::new(plan, args.set.way)?);
    let keys = [&args.evaluation_keys, &args.bootstrap_keys].map(PathBuf::as_path);
    let made = refresh(&setup, keys, &args.input, &args.out, &mut stages)?;
    let mut report = Report::default();
    describe_refresh(&mut report, &made);
    report.made("refreshed", &args.out, made.bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

fn refresh(setup: &Setup, keys: [&Path; 2], input: &Path, out: &Path, stages: &mut Stages) -> Result<Refreshed> {
    let (spent, key): (CiphertextV1, _) =
        stages.run("load_ciphertext", "reading the ciphertext", || read(input, setup.files()))?;
    let spent = spent.into_ciphertext();
    let server = stages.run("load_keys", "reading keys", || -> Result<_> {
        let own: RefreshKeys = read_for(keys[1], &setup.wire, (key, input))?;
        let evaluation: EvaluationKeys = read_for(keys[0], setup.files(), (key, input))?;
        Ok(setup.context.refreshing_server_from_keys(Arc::new(evaluation), own)?)
    })?;
    stages.run("prepare", "converting constants", || server.exact_refresher()?.check(&spent))?;
    let (fresh, times) =
        timed(stages, |observe| server.refresh_one(&spent, RefreshOptions::new().observed_by(observe)))?;
    let capacity = (setup.capacity(&spent)?, setup.capacity(&fresh)?);
    let bytes = write(out, setup.files(), &CiphertextV1::new(fresh))?;
    Ok(Refreshed { stages: times, capacity, bytes, packed: false })
}

/// `windlass refresh decrypt`.
pub fn decrypt(plan: Arc<ExactRefreshPlan>, args: &DecryptArgs, quiet: bool) -> Result<Report> {
    let (mut stages, setup) = (Stages::new(quiet), Setup::new(plan, args.set.way)?);
    let wanted = args.values.as_ref().map(|values| setup.plaintext(&integers(values)?)).transpose()?;
    let secret = args.with.open(setup.files())?;
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
    let secret = file.key(setup.files())?;
    let stored: CiphertextV1 = read_for(input, setup.files(), (secret.key_id(), file.path()))?;
    let client = setup.context.client_from_key(Arc::new(secret))?;
    setup.values(&client.decrypt_plaintext(&stored.into_ciphertext())?)
}

/// `windlass refresh`: all steps through files.
pub fn all(plan: Arc<ExactRefreshPlan>, args: &RefreshArgs, quiet: bool) -> Result<Report> {
    let (mut stages, setup) = (Stages::new(quiet), Setup::new(plan, args.way)?);
    // The report says λ at its end, where it is no warning.
    setup.vouch(args.preset.as_deref().unwrap_or_default(), args.way, true)?;
    let modulus = u128::from(setup.context.modulus());
    let values: Vec<i128> = match args.values.is_empty() {
        true => (0..setup.most_values() as u128).map(|i| (i % modulus) as i128).collect(),
        false => integers(&args.values)?,
    };
    let wanted = setup.values(&setup.plaintext(&values)?)?;
    let outputs = claim_all(args.out.as_deref())?;
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
    describe_all(&mut report, setup.name_and_security(), &files, &stages, verified);
    Ok(report)
}

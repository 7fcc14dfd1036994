//! What all steps under one preset share.

use std::sync::Arc;

use windlass::bootstrap::{BootstrapError, BootstrapPlan, BootstrapPreset, BootstrapSpec, Mode};
use windlass::rlwe::NoiseModel;
use windlass::schemes::Ciphertext;
use windlass::wire::BootstrapContext;
use windlass::{Context, Plaintext, Scheme};

use super::args::WayArgs;
use super::names::all_names;
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::rounded_down;
use crate::security::vouch;
use crate::values::refused_parameters;

/// A planned preset.
pub struct Planned {
    pub preset: BootstrapPreset,
    pub plan: Arc<BootstrapPlan>,
    pub scheme: Scheme,
}

impl Planned {
    /// Plans a preset.
    pub fn new(preset: Option<&str>, way: WayArgs, stages: &mut Stages) -> Result<Self> {
        let Some(name) = preset else {
            let names = all_names().collect::<Vec<_>>().join(", ");
            return Err(CliError::Usage(format!("give --preset NAME with one of {names}")));
        };
        let mode = if way.packed { Mode::Packed } else { Mode::Thin };
        let preset = BootstrapPreset::named(name, mode).map_err(|error| match error {
            windlass::Error::Unplannable { .. } => does_not_bootstrap(name, "its modulus is too short for that"),
            windlass::Error::UnknownName { what, given, .. } => {
                let known = all_names().map(str::to_owned).collect();
                refused_parameters(name, windlass::Error::UnknownName { what, given, known })
            }
            other => refused_parameters(name, other),
        })?;
        Self::of(preset, way.scheme.into(), stages)
    }

    fn of(preset: BootstrapPreset, scheme: Scheme, stages: &mut Stages) -> Result<Self> {
        let plan = stages.run("plan", "planning", || {
            let params = &preset.params;
            let plan = BootstrapPlan::new(params.rlwe(), (params.p(), params.r()), preset.spec.clone());
            plan.map_err(|error| unplanned(params.name(), error))
        })?;
        Ok(Self { preset, plan: Arc::new(plan), scheme })
    }

    /// The same parameters, bootstrapped in this mode. They may be those of a file, whose name no
    /// preset has.
    pub fn to_mode(&self, mode: Mode, stages: &mut Stages) -> Result<Self> {
        let BootstrapPreset { params, spec } = self.preset.clone();
        Self::of(BootstrapPreset { params, spec: BootstrapSpec { mode, ..spec } }, self.scheme, stages)
    }

    /// λ in bits, rounded down to a tenth.
    pub fn security_bits(&self) -> f64 {
        rounded_down(self.preset.params.rlwe().security().bits)
    }

    /// What reports say of the set: its name and its security.
    pub fn name_and_security(&self) -> (&str, f64) {
        (self.preset.params.name(), self.security_bits())
    }

    /// Refuses weak parameters that the user has not accepted, and prints λ, before keys or
    /// ciphertexts are made; `given` is what they were asked for by.
    pub fn vouch(&self, given: &str, way: WayArgs, quiet: bool) -> Result<()> {
        vouch(self.preset.params.name(), self.security_bits(), given, way.insecure, quiet)
    }
}

/// The refusal of a set that does not bootstrap: what a set lacks cannot be added on this command line,
/// and other sets can be named.
fn does_not_bootstrap(name: &str, why: &str) -> CliError {
    CliError::Usage(format!(
        "the parameters '{name}' do not bootstrap: {why}; choose a preset that does ('windlass refresh --preset list'), or make a custom set ('windlass params plan --bootstrap --modulus T --out FILE.json')"
    ))
}

/// The error of a plan, in words of this command line.
fn unplanned(name: &str, error: windlass::Error) -> CliError {
    match error {
        windlass::Error::Bootstrap(BootstrapError::ChainTooShort { stage, missing_bits }) => {
            does_not_bootstrap(name, &format!("its modulus is {missing_bits:.0} bits too short ({stage})"))
        }
        windlass::Error::Bootstrap(BootstrapError::EphemeralKeyTooWeak { weight, security, .. }) => does_not_bootstrap(
            name,
            &format!("its ephemeral key of weight {weight} has {security}, but 128 are needed"),
        ),
        other => other.into(),
    }
}

/// A planned preset with its transforms.
pub struct Setup {
    pub planned: Planned,
    pub context: Context,
    /// What the files of bootstrapping keys must agree with.
    pub wire: BootstrapContext,
}

impl Setup {
    /// Builds the transforms.
    pub fn new(planned: Planned, stages: &mut Stages) -> Result<Self> {
        let Planned { preset, scheme, .. } = &planned;
        let context = stages.run("setup", "building transforms", || {
            Context::for_bootstrapping(preset.params.clone().with_scheme(*scheme), preset.spec.clone())
        })?;
        Ok(Self::over(planned, context))
    }

    fn over(planned: Planned, context: Context) -> Self {
        let wire = BootstrapContext::new(&planned.plan, context.rlwe(), planned.scheme);
        Self { planned, context, wire }
    }

    /// The same preset, bootstrapped the other way: packed if it is thin, thin if it is packed.
    pub fn to_other_way(&self, stages: &mut Stages) -> Result<Self> {
        let mode = if self.packed() { Mode::Thin } else { Mode::Packed };
        Ok(Self::over(self.planned.to_mode(mode, stages)?, self.context.clone()))
    }

    /// p^r.
    pub fn modulus(&self) -> u64 {
        self.context.modulus()
    }

    /// How many values a ciphertext holds.
    pub fn most_values(&self) -> usize {
        self.context.slots() * if self.packed() { self.context.degree() } else { 1 }
    }

    /// Whether slots hold elements of degree d.
    pub fn packed(&self) -> bool {
        self.planned.preset.spec.mode == Mode::Packed
    }

    /// The values with zeros after them; a negative one stands for its residue modulo p^r.
    pub fn plaintext(&self, values: &[i128]) -> Result<Plaintext> {
        let all = checked_residues(values, self.most_values(), self.modulus())?;
        let slots = &self.context;
        Ok(if self.packed() { Plaintext::from_slots(slots, &all)? } else { Plaintext::from_integers(slots, &all)? })
    }

    /// All values of a plaintext.
    pub fn values(&self, plaintext: &Plaintext) -> Result<Vec<u64>> {
        Ok(if self.packed() { plaintext.to_slots() } else { plaintext.to_integers()? })
    }

    /// Bits of capacity of a ciphertext.
    pub fn capacity(&self, ct: &Ciphertext) -> f64 {
        let params = &self.planned.preset.params.rlwe();
        let noise = windlass::rlwe::Bound::from_bits(ct.log2_noise());
        NoiseModel::new(params, self.modulus()).capacity(params.log2_q(ct.level()), noise)
    }
}

/// The residues of values modulo p^r, with zeros after them; a negative one stands for its residue.
pub fn checked_residues(values: &[i128], most: usize, modulus: u64) -> Result<Vec<u64>> {
    let modulus = i128::from(modulus);
    if values.len() > most {
        return Err(CliError::Usage(format!("{} values do not fit into {most} slots", values.len())));
    }
    if let Some(value) = values.iter().find(|&&value| value >= modulus || value < -(modulus / 2)) {
        let bound = if *value < 0 { "below minus half" } else { "not below" };
        return Err(CliError::Usage(format!("the value {value} is {bound} the plaintext modulus {modulus}")));
    }
    let mut all: Vec<u64> = values.iter().map(|value| value.rem_euclid(modulus) as u64).collect();
    all.resize(most, 0);
    Ok(all)
}

/// The first ciphertext, from the lowest level up, with enough capacity: for a refresh, or so many bits.
pub fn lowest(
    mut made: impl Iterator<Item = windlass::Result<Ciphertext>>,
    enough: impl Fn(&Ciphertext) -> bool,
    capacity: Option<f64>,
) -> Result<Ciphertext> {
    let found = made.find(|made| made.as_ref().is_ok_and(&enough));
    let none = || {
        let wanted = capacity
            .map_or_else(|| "enough capacity for a refresh".to_owned(), |bits| format!("{bits} bits of capacity"));
        CliError::Usage(format!(
            "a fresh ciphertext of these parameters cannot have {wanted}; ask for less with --capacity"
        ))
    };
    Ok(found.ok_or_else(none)??)
}

/// Refuses values that differ from those that were encrypted.
pub fn compare(found: &[u64], wanted: &[u64]) -> Result<()> {
    match found.iter().zip(wanted).position(|(a, b)| a != b) {
        Some(index) => Err(CliError::ValuesDiffer { index, found: found[index], wanted: wanted[index] }),
        None => Ok(()),
    }
}

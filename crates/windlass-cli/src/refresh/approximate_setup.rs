//! What all steps under one set of CKKS share.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use windlass::bootstrap::approximate::{RefreshPlan, RefreshSpec, refresh_preset_names};
use windlass::rlwe::Assurance;
use windlass::wire::{ApproximateContext, RefreshContext};
use windlass::{Approximate, Context, Params};

use super::args::{SchemeName, Value, WayArgs};
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::rounded_down;
use crate::security::vouch;
use crate::values::refused_parameters;

/// A set of CKKS with its plan and its transforms.
pub struct Setup {
    pub name: String,
    pub context: Context<Approximate>,
    pub plan: Arc<RefreshPlan>,
    /// What the files of the keys of the refresh must agree with.
    pub wire: RefreshContext,
}

/// The longest parameter file.
const MOST_BYTES: u64 = 1 << 16;

/// The specification of a named set or of a file, if it is one of CKKS.
pub fn named(preset: Option<&str>) -> Result<Option<(String, RefreshSpec)>> {
    let Some(name) = preset else { return Ok(None) };
    if refresh_preset_names().any(|known| known == name) {
        return Ok(Some((name.to_owned(), RefreshSpec::preset(name)?)));
    }
    // What cannot be read, or is no text of CKKS, is refused as other parameters are.
    let mut text = String::new();
    let is_read = Params::is_file_name(name)
        && File::open(name).is_ok_and(|file| file.take(MOST_BYTES).read_to_string(&mut text).is_ok());
    if !is_read || !RefreshSpec::is_json(&text) {
        return Ok(None);
    }
    let spec = RefreshSpec::from_json(text.trim_start_matches('\u{feff}'));
    let spec = spec.map_err(|error| refused_parameters(name, error))?;
    let own = match &spec.assurance {
        Assurance::Secure => format!("CKKS, n = {}", spec.n),
        Assurance::Insecure { name } | Assurance::Paper { name } => name.clone(),
    };
    Ok(Some((own, spec)))
}

impl Setup {
    /// Plans the refresh and builds the transforms.
    pub fn new((name, spec): (String, RefreshSpec), given: &str, way: WayArgs, stages: &mut Stages) -> Result<Self> {
        for (is_given, option) in [(way.packed, "--packed"), (matches!(way.scheme, SchemeName::Bfv), "--scheme bfv")] {
            if is_given {
                return Err(CliError::Usage(format!("{option} is for sets of integers, but {name} is one of CKKS")));
            }
        }
        let made = stages.run("plan", "planning and building transforms", || Context::refreshing(&spec));
        let context = made.map_err(|error| refused_parameters(given, error))?;
        let plan = context.refresh()?;
        Ok(Self { name, wire: RefreshContext::new(&plan), context, plan })
    }

    /// λ in bits, rounded down to a tenth.
    pub fn security_bits(&self) -> f64 {
        rounded_down(self.context.ckks().rlwe().params().security().bits)
    }

    /// What reports say of the set: its name and its security.
    pub fn name_and_security(&self) -> (&str, f64) {
        (&self.name, self.security_bits())
    }

    /// As [`super::setup::Planned::vouch`].
    pub fn vouch(&self, given: &str, way: WayArgs, quiet: bool) -> Result<()> {
        vouch(&self.name, self.security_bits(), given, way.insecure, quiet)
    }

    pub fn files(&self) -> &ApproximateContext {
        self.context.files()
    }

    /// The values with zeros after them.
    pub fn message(&self, values: &[Value]) -> Result<Vec<f64>> {
        let (most, mut message) = (self.plan.spec().slots, values.iter().map(|x| x.real()).collect::<Vec<_>>());
        if message.len() > most {
            return Err(CliError::Usage(format!("{} values do not fit into {most} slots", message.len())));
        }
        if let Some(index) = message.iter().position(|x| !(-1.0..=1.0).contains(x)) {
            let value = message[index];
            let reason =
                format!("the value {value} at index {index} is not in [-1, 1], the numbers that a refresh takes");
            return Err(CliError::Usage(reason));
        }
        message.resize(most, 0.0);
        Ok(message)
    }
}

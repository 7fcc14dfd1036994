//! What all steps under one set of CKKS share.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use windlass::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefreshSpec, precise_refresh_preset_names};
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

/// A set of CKKS by its name, before anything is built.
pub struct Set {
    name: String,
    way: Way,
}

/// How a set refreshes.
enum Way {
    OnePass(Box<RefreshSpec>),
    Passes(Arc<PreciseRefreshPlan>),
}

/// A set of CKKS with its plan and its transforms.
pub struct Setup {
    pub name: String,
    pub context: Context<Approximate>,
    /// The refresh, or that of a pass.
    pub plan: Arc<RefreshPlan>,
    /// All passes, if there are several.
    pub passes: Option<Arc<PreciseRefreshPlan>>,
    /// What the files of the keys of the refresh must agree with.
    pub wire: RefreshContext,
}

/// The longest parameter file.
const MOST_BYTES: u64 = 1 << 16;

/// A named set or that of a file, if it is one of CKKS.
pub fn named(preset: Option<&str>) -> Result<Option<Set>> {
    let Some(name) = preset else { return Ok(None) };
    let own = |way| Ok(Some(Set { name: name.to_owned(), way }));
    if refresh_preset_names().any(|known| known == name) {
        return own(Way::OnePass(Box::new(RefreshSpec::preset(name)?)));
    }
    if precise_refresh_preset_names().any(|known| known == name) {
        return own(Way::Passes(Arc::new(PreciseRefreshPlan::preset(name)?)));
    }
    let Some(text) = text_of(name) else { return Ok(None) };
    let refused = |error| refused_parameters(name, error);
    if PreciseRefreshSpec::is_json(&text) {
        let plan = PreciseRefreshSpec::from_json(&text).and_then(|spec| PreciseRefreshPlan::new(&spec));
        let plan = plan.map_err(refused)?;
        let name = name_of(&plan.spec().refresh);
        return Ok(Some(Set { name, way: Way::Passes(Arc::new(plan)) }));
    }
    if !RefreshSpec::is_json(&text) {
        return Ok(None);
    }
    let spec = RefreshSpec::from_json(&text).map_err(refused)?;
    Ok(Some(Set { name: name_of(&spec), way: Way::OnePass(Box::new(spec)) }))
}

/// The text of a parameter file. What cannot be read is refused as other parameters are.
pub fn text_of(name: &str) -> Option<String> {
    let mut text = String::new();
    let is_read = Params::is_file_name(name)
        && File::open(name).is_ok_and(|file| file.take(MOST_BYTES).read_to_string(&mut text).is_ok());
    is_read.then(|| text.trim_start_matches('\u{feff}').to_owned())
}

fn name_of(spec: &RefreshSpec) -> String {
    match &spec.assurance {
        Assurance::Secure => format!("CKKS, n = {}", spec.n),
        Assurance::Insecure { name } | Assurance::Paper { name } => name.clone(),
    }
}

impl Setup {
    /// Plans the refresh and builds the transforms.
    pub fn new(Set { name, way: set }: Set, given: &str, way: WayArgs, stages: &mut Stages) -> Result<Self> {
        for (is_given, option) in [(way.packed, "--packed"), (matches!(way.scheme, SchemeName::Bfv), "--scheme bfv")] {
            if is_given {
                return Err(CliError::Usage(format!("{option} is for sets of integers, but {name} is one of CKKS")));
            }
        }
        let (context, plan, passes) = match set {
            Way::OnePass(spec) => {
                let made = stages.run("plan", "planning and building transforms", || Context::refreshing(&spec));
                let context = made.map_err(|error| refused_parameters(given, error))?;
                let plan = context.refresh()?;
                (context, plan, None)
            }
            Way::Passes(passes) => {
                (Context::of_precise_refresh(Arc::clone(&passes)), Arc::clone(passes.pass()), Some(passes))
            }
        };
        Ok(Self { name, wire: RefreshContext::new(&plan), context, plan, passes })
    }

    /// The lowest level of a ciphertext that can be refreshed.
    pub fn input_level(&self) -> usize {
        match self.passes {
            None => self.plan.input_level(),
            Some(_) => self.context.ckks().base_level(),
        }
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

//! The public shape of a model: what the server publishes so that clients can ask.
//!
//! It holds the number of features and classes, their names where the model has any, the constants
//! that bring features to one size, the unit of the scores, and the parameters; it holds no weight.
//! The unit is a power of two near the largest score that the weights allow.
//!
//! Encrypted rows and scores carry the schema's hash, and are refused under another schema: with other
//! names, constants or another unit, correct numbers would give wrong scores.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass::schemes::ckks::CkksSpec;
use windlass::wire::{Access, from_json, prefixes, sha256, write_new};
use windlass::{Approximate, Context};
use windlass_scoring::{Scoring, scoring_spec};

use super::args::SourceArgs;
use super::model_file::{Model, check_names, standardisation};
use crate::error::{CliError, Result};
use crate::report::rounded_down;
use crate::security::{SECURE_BITS, tell_security};
use crate::table::{read_text, without_mark};

const FORMAT: &str = "windlass-scoring-schema";
const VERSION: u32 = 1;
const WHAT: &str = "a scoring schema";

/// The public shape of a model.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    format: String,
    version: u32,
    /// The parameters, written out. The author of the schema chose them.
    parameters: Value,
    features: usize,
    scores: usize,
    unit: f64,
    bound: f64,
    clips: bool,
    /// Names of the feature columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// Names of the classes: two where there is one score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    means: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scales: Option<Vec<f64>>,
}

/// A shape with everything that is built from it.
pub struct Setting {
    /// The parameters with their transforms.
    pub context: Context<Approximate>,
    /// Layout and plans.
    pub scoring: Scoring,
}

impl Setting {
    /// The setting of a model, under parameters that are chosen for it.
    pub fn of(model: &Model) -> Result<Self> {
        let context = Context::approximate(&scoring_spec(model.linear.classes())?)?;
        let scoring = Scoring::of(context.ckks(), &model.linear)?;
        Ok(Self { context, scoring })
    }

    /// λ in bits, rounded down to a tenth.
    pub fn security_bits(&self) -> f64 {
        rounded_down(self.context.ckks().rlwe().params().security().bits)
    }
}

impl Schema {
    /// The schema of a model in its setting.
    pub fn of(model: &Model, setting: &Setting) -> Self {
        let made = setting.scoring.standardisation();
        let parameters = setting.context.ckks().spec().to_json();
        let unless = |plain: f64, values: &[f64]| values.iter().any(|&x| x != plain).then(|| values.to_vec());
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            parameters: serde_json::from_str(&parameters).expect("parameters are written as JSON"),
            features: made.features(),
            scores: model.linear.classes(),
            unit: setting.scoring.unit(),
            bound: made.bound(),
            clips: made.clips(),
            columns: model.columns.clone(),
            classes: model.classes.clone(),
            means: unless(0.0, made.means()),
            scales: unless(1.0, made.scales()),
        }
    }

    /// SHA-256 of the schema as it is written: names what encrypted rows and scores belong to.
    pub fn hash(&self) -> [u8; 32] {
        sha256(&self.to_bytes())
    }

    /// Refuses encrypted rows or scores that were made for another schema.
    pub fn check(&self, path: &Path, found: &[u8; 32]) -> Result<()> {
        let expected = self.hash();
        if *found == expected {
            return Ok(());
        }
        let [found, expected] = prefixes(found, &expected, 4);
        Err(CliError::OtherScoringSchema { path: path.into(), found, expected })
    }

    /// Refuses a model that reads rows otherwise than this schema tells clients to write them, or
    /// names its scores otherwise. The unit may be larger than its scores need.
    pub fn check_model(&self, path: &Path, setting: &Setting, model: &Model, file: &Path) -> Result<()> {
        let (own, stated) = (model.linear.standardisation(), setting.scoring.standardisation());
        let differ = [
            ("numbers of features", own.features() != stated.features()),
            ("numbers of classes", model.linear.classes() != self.scores),
            ("names of features", model.columns != self.columns),
            ("names of classes", model.classes != self.classes),
            ("means, scales or bounds", own != stated),
        ];
        let Some((what, _)) = differ.into_iter().find(|(_, differ)| *differ) else { return Ok(()) };
        let reason = format!("the {what} differ; give clients the schema of this model ('windlass score schema')");
        Err(CliError::OtherModel { path: path.into(), model: file.into(), reason })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("strings and finite numbers always serialise");
        text.push(b'\n');
        text
    }

    /// Writes the schema to a new file and gives its size.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let text = self.to_bytes();
        write_new(path, &text, Access::Public).map_err(CliError::at(path))?;
        Ok(text.len() as u64)
    }

    /// Reads a schema file.
    pub fn read(path: &Path) -> Result<Self> {
        let refuse = |reason: String| CliError::NotOfFormat { path: path.into(), what: WHAT, reason };
        let schema: Self = from_json(without_mark(&read_text(path)?)).map_err(refuse)?;
        if schema.format != FORMAT || schema.version != VERSION {
            return Err(refuse(format!("format '{}' version {}", schema.format, schema.version)));
        }
        check_names(schema.features, schema.scores, schema.columns.as_deref(), schema.classes.as_deref())
            .map_err(refuse)?;
        Ok(schema)
    }

    /// Reads a schema file and builds what it says.
    pub fn open(path: &Path) -> Result<(Self, Setting)> {
        let schema = Self::read(path)?;
        let setting = schema.build(path)?;
        Ok((schema, setting))
    }

    /// Builds what the schema says, every promise of it checked.
    pub fn build(&self, path: &Path) -> Result<Setting> {
        let (means, scales) = (self.means.clone(), self.scales.clone());
        let standardisation = standardisation(self.features, means, scales, self.bound, self.clips);
        let standardisation = standardisation.map_err(refused(path))?;
        let context = Context::approximate(&self.spec(path)?).map_err(refused(path))?;
        let scoring = Scoring::new(context.ckks(), standardisation, self.scores, self.unit);
        Ok(Setting { scoring: scoring.map_err(refused(path))?, context })
    }

    fn spec(&self, path: &Path) -> Result<CkksSpec> {
        CkksSpec::from_json(&self.parameters.to_string()).map_err(refused(path))
    }

    /// For a client, before it makes keys or encrypts: a stranger's schema names the parameters, so
    /// it is refused below 128 bits unless the client accepts that, before anything is built. The
    /// client also prints the security.
    pub fn vouched(source: &SourceArgs, quiet: bool) -> Result<(Self, Setting)> {
        let path = &source.schema;
        let schema = Self::read(path)?;
        let params = schema.spec(path)?.to_params().map_err(refused(path))?;
        let bits = rounded_down(params.security().bits);
        let name = format!("CKKS, n = {}", params.n());
        if bits < SECURE_BITS && !source.insecure {
            return Err(CliError::WeakParameters { path: path.clone(), parameters: name, bits });
        }
        tell_security(format_args!("parameters '{name}':"), bits, "", quiet);
        let setting = schema.build(path)?;
        Ok((schema, setting))
    }
}

/// Names the schema of which something is refused.
fn refused(path: &Path) -> impl FnOnce(windlass::Error) -> CliError {
    |error| CliError::NotOfFormat { path: path.into(), what: WHAT, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_schemas_of_version_1_stay_readable() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/scoring-schema-v1.json");
        let schema = Schema::read(&path).unwrap();
        let setting = schema.build(&path).unwrap();
        let (made, params) = (setting.scoring.standardisation(), setting.context.ckks().rlwe().params());
        assert_eq!((made.features(), setting.scoring.layout().classes(), params.n()), (2, 2, 8192));
        assert_eq!(
            (made.means(), made.scales(), setting.scoring.unit()),
            (&[0.25, 0.0][..], &[0.5, 1.0][..], 1.0 / 64.0)
        );
        let dir = tempfile::tempdir().unwrap();
        let again = dir.path().join("schema.json");
        schema.write(&again).unwrap();
        assert!(std::fs::read(again).unwrap() == std::fs::read(path).unwrap(), "it is written in other bytes");
    }
}

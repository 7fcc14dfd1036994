//! The public shape of a model: what the server publishes so that clients can ask.
//!
//! It holds the number of features and classes, their names where the model has any, the constants
//! that bring features to one size, the unit of the scores, and the parameters; it holds no weight.
//! The unit is a power of two near the largest score that the weights allow.
//!
//! Encrypted rows and scores carry the schema's hash, and are refused under another schema: with other
//! names, constants or another unit, correct numbers would give wrong scores.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass::rlwe::RlweParams;
use windlass::schemes::ckks::CkksSpec;
use windlass::wire::{from_json, prefixes, sha256};
use windlass::{Approximate, Context, check_memory};

use crate::layout::{MOST_CLASSES, MOST_FEATURES};
use crate::model::LinearModel;
use crate::schema_error::SchemaError;
use crate::setting::{Scoring, scoring_spec};
use crate::standardisation::Standardisation;

const FORMAT: &str = "windlass-scoring-schema";
const VERSION: u32 = 1;

type Result<T> = std::result::Result<T, SchemaError>;

/// The public shape of a model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoringSchema {
    format: String,
    version: u32,
    /// The parameters, written out. The author of the schema chose them.
    parameters: Value,
    features: usize,
    scores: usize,
    unit: f64,
    bound: f64,
    clips: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    means: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scales: Option<Vec<f64>>,
}

/// A shape with everything that is built from it.
#[derive(Debug, Clone)]
pub struct ScoringSetting {
    /// The parameters with their transforms.
    pub context: Context<Approximate>,
    /// Layout and plans.
    pub scoring: Scoring,
}

impl ScoringSetting {
    /// The setting of a model, under parameters that are chosen for it.
    ///
    /// # Errors
    /// As [`scoring_spec`] and [`Scoring::of`].
    pub fn of(model: &LinearModel) -> windlass::Result<Self> {
        let context = Context::approximate(&scoring_spec(model.classes())?)?;
        let scoring = Scoring::of(context.ckks(), model)?;
        Ok(Self { context, scoring })
    }

    /// λ in bits: log2 of the work of the best known attack on what the server sees.
    pub fn security_bits(&self) -> f64 {
        self.context.ckks().rlwe().params().security().bits
    }
}

impl ScoringSchema {
    /// The schema of a model in its setting, with names of features and classes if there are any.
    ///
    /// # Errors
    /// [`SchemaError::Malformed`] for names that [`check_names`] refuses.
    pub fn of(
        model: &LinearModel,
        setting: &ScoringSetting,
        columns: Option<Vec<String>>,
        classes: Option<Vec<String>>,
    ) -> Result<Self> {
        check_names(model.features(), model.classes(), columns.as_deref(), classes.as_deref())?;
        let made = setting.scoring.standardisation();
        let parameters = setting.context.ckks().spec().to_json();
        let unless = |plain: f64, values: &[f64]| values.iter().any(|&x| x != plain).then(|| values.to_vec());
        Ok(Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            parameters: serde_json::from_str(&parameters).expect("parameters are written as JSON"),
            features: made.features(),
            scores: model.classes(),
            unit: setting.scoring.unit(),
            bound: made.bound(),
            clips: made.clips(),
            columns,
            classes,
            means: unless(0.0, made.means()),
            scales: unless(1.0, made.scales()),
        })
    }

    /// Reads a schema. What it says is checked by [`Self::build`].
    ///
    /// # Errors
    /// [`SchemaError::Malformed`].
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let schema: Self = from_json(text).map_err(|reason| SchemaError::Malformed { reason })?;
        if schema.format != FORMAT || schema.version != VERSION {
            let reason = format!("format '{}' version {}", schema.format, schema.version);
            return Err(SchemaError::Malformed { reason });
        }
        check_names(schema.features, schema.scores, schema.columns.as_deref(), schema.classes.as_deref())?;
        Ok(schema)
    }

    /// The schema as text.
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("strings and finite numbers always serialise");
        text.push(b'\n');
        text
    }

    /// SHA-256 of the schema as it is written: names what encrypted rows and scores belong to.
    pub fn hash(&self) -> [u8; 32] {
        sha256(&self.to_json())
    }

    /// The number of scores of a row.
    pub fn scores(&self) -> usize {
        self.scores
    }

    /// Names of the features, in their order.
    pub fn columns(&self) -> Option<&[String]> {
        self.columns.as_deref()
    }

    /// Names of the classes: two where there is one score.
    pub fn classes(&self) -> Option<&[String]> {
        self.classes.as_deref()
    }

    /// What a class is called: its name, or its number from 0.
    pub fn class_name(&self, class: usize) -> String {
        self.classes().and_then(|names| names.get(class)).map_or_else(|| class.to_string(), String::clone)
    }

    /// The parameters, before anything is built of them.
    ///
    /// **Warning.** The author of the schema chose them. A client must read their security
    /// ([`RlweParams::security`]) before it makes keys.
    ///
    /// # Errors
    /// [`SchemaError::Library`] for parameters that cannot be.
    pub fn params(&self) -> Result<RlweParams> {
        Ok(self.spec()?.to_params()?)
    }

    fn spec(&self) -> windlass::Result<CkksSpec> {
        CkksSpec::from_json(&self.parameters.to_string())
    }

    /// Builds what the schema says, every promise of it checked, and memory before it is taken.
    ///
    /// # Errors
    /// [`SchemaError::Library`]: as [`Scoring::new`] and [`Standardisation::given`];
    /// [`windlass::Error::OutOfMemory`].
    pub fn build(&self) -> Result<ScoringSetting> {
        check_memory("the setting of this schema", self.memory(&self.params()?))?;
        let (means, scales) = (self.means.clone(), self.scales.clone());
        let standardisation = Standardisation::given(self.features, means, scales, self.bound, self.clips)?;
        let context = Context::approximate(&self.spec()?)?;
        let scoring = Scoring::new(context.ckks(), standardisation, self.scores, self.unit)?;
        Ok(ScoringSetting { context, scoring })
    }

    /// Bytes that a setting and one key take, about. Sizes that are refused anyway count as the largest
    /// that are not.
    fn memory(&self, params: &RlweParams) -> u64 {
        let slots = params.n() as u64 / 2;
        let diagonals = 2 * (self.scores.min(MOST_CLASSES) as u64).next_power_of_two();
        // Complex numbers, once in the map and once in its plan.
        let map = 2 * 16 * diagonals.saturating_mul(slots);
        let constants = 6 * 8 * self.features.min(MOST_FEATURES) as u64;
        map.saturating_add(constants).saturating_add(params.key_sizes().switching_key_memory)
    }

    /// Refuses encrypted rows or scores that were made for another schema.
    ///
    /// # Errors
    /// [`SchemaError::OtherSchema`].
    pub fn check(&self, found: &[u8; 32]) -> Result<()> {
        let expected = self.hash();
        if *found == expected {
            return Ok(());
        }
        let [found, expected] = prefixes(found, &expected, 4);
        Err(SchemaError::OtherSchema { found, expected })
    }
}

/// Names, where there are any, must be as many as what they name, and different. `names` are those of
/// classes, `columns` those of features.
///
/// # Errors
/// [`SchemaError::Malformed`].
pub fn check_names(
    features: usize,
    classes: usize,
    columns: Option<&[String]>,
    names: Option<&[String]>,
) -> Result<()> {
    let wanted = [("features", features, columns), ("classes", classes.max(2), names)];
    for (what, count, names) in wanted {
        let Some(names) = names else { continue };
        if names.len() != count {
            return Err(SchemaError::Malformed { reason: format!("it names {} {what}, but has {count}", names.len()) });
        }
        let distinct: std::collections::HashSet<&String> = names.iter().collect();
        if distinct.len() != count {
            return Err(SchemaError::Malformed { reason: format!("two of its {what} have the same name") });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &[u8] = include_bytes!("../tests/golden/scoring-schema-v1.json");

    fn changed(change: impl Fn(&mut Value)) -> Vec<u8> {
        let mut schema = serde_json::from_slice(GOLDEN).unwrap();
        change(&mut schema);
        schema.to_string().into_bytes()
    }

    #[test]
    fn golden_schemas_of_version_1_stay_readable() {
        let schema = ScoringSchema::from_json(GOLDEN).unwrap();
        let setting = schema.build().unwrap();
        let (made, params) = (setting.scoring.standardisation(), setting.context.ckks().rlwe().params());
        assert_eq!((made.features(), setting.scoring.layout().classes(), params.n()), (2, 2, 8192));
        assert_eq!(
            (made.means(), made.scales(), setting.scoring.unit()),
            (&[0.25, 0.0][..], &[0.5, 1.0][..], 1.0 / 64.0)
        );
        assert!(setting.security_bits() >= 128.0);
        assert_eq!([0, 1, 2].map(|class| schema.class_name(class)), ["red", "green", "2"]);
        assert!(schema.to_json() == GOLDEN, "it is written in other bytes");
    }

    #[test]
    fn schemas_that_no_model_has_are_refused() {
        let malformed = |text: &[u8]| ScoringSchema::from_json(text).unwrap_err().to_string();
        assert!(malformed(b"{").starts_with("not a scoring schema: "));
        assert!(malformed(&changed(|s| s["version"] = 2.into())).contains("version 2"));
        assert!(malformed(&changed(|s| s["columns"] = serde_json::json!(["a"]))).contains("1 features"));
        assert!(malformed(&changed(|s| s["classes"] = serde_json::json!(["a", "a"]))).contains("same name"));
        for (field, value) in [
            ("features", 0u64.into()),
            ("features", u64::from(u32::MAX).into()),
            ("scores", 0u64.into()),
            ("scores", u64::from(u32::MAX).into()),
            ("unit", Value::from(0.3)),
            ("unit", Value::from(-1.0)),
            ("bound", Value::from(1e300)),
        ] {
            let text = changed(|schema| {
                schema[field] = value.clone();
                for names in ["columns", "classes"] {
                    schema.as_object_mut().unwrap().remove(names);
                }
            });
            let refused = ScoringSchema::from_json(&text).unwrap().build();
            assert!(matches!(refused, Err(SchemaError::Library(_))), "{field} {value}");
        }
    }

    /// The client reads the security of parameters before anything is built of them.
    #[test]
    fn weak_parameters_are_known_before_anything_is_built() {
        let weak = changed(|schema| {
            schema["parameters"]["n"] = 2048.into();
            schema["parameters"]["assurance"] = "insecure".into();
            schema["parameters"]["name"] = "insecure_x".into();
        });
        let params = ScoringSchema::from_json(&weak).unwrap().params().unwrap();
        assert!(params.security().bits < 128.0);
        let claimed = changed(|schema| schema["parameters"]["n"] = 2048.into());
        assert!(ScoringSchema::from_json(&claimed).unwrap().params().is_err());
    }

    #[test]
    fn rows_of_another_schema_are_refused() {
        let schema = ScoringSchema::from_json(GOLDEN).unwrap();
        schema.check(&schema.hash()).unwrap();
        assert!(matches!(schema.check(&[0; 32]), Err(SchemaError::OtherSchema { .. })));
    }
}

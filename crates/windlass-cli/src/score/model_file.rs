//! Reads linear models from JSON and CSV files.

use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use windlass::wire::from_json;
use windlass_scoring::{LinearModel, Standardisation, check_names};

use super::reason::reason;
use crate::error::{CliError, Result};
use crate::table::{Cells, read_text, without_mark};

/// The column of the bias in a CSV file.
const BIAS: &str = "bias";

/// A model with the names that its file gives.
#[derive(Debug)]
pub struct Model {
    /// Weights and standardisation.
    pub linear: LinearModel,
    /// Names of the feature columns.
    pub columns: Option<Vec<String>>,
    /// Names of the classes: two where there is one score.
    pub classes: Option<Vec<String>>,
}

/// A model as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelJson {
    #[serde(deserialize_with = "weights")]
    weights: Vec<Vec<f64>>,
    #[serde(default, deserialize_with = "bias")]
    bias: Option<Vec<f64>>,
    means: Option<Vec<f64>>,
    scales: Option<Vec<f64>>,
    bound: Option<f64>,
    #[serde(default, deserialize_with = "classes")]
    classes: Option<Vec<String>>,
    features: Option<Vec<String>>,
}

/// One list of numbers, or one for each class.
fn weights<'de, D: Deserializer<'de>>(given: D) -> std::result::Result<Vec<Vec<f64>>, D::Error> {
    let value = Value::deserialize(given)?;
    let wanted = "a list of numbers, or one such list for each class";
    let refused = |found: &Value| D::Error::custom(format!("\"weights\" is {wanted}, not {}", kind(found)));
    let Value::Array(list) = &value else { return Err(refused(&value)) };
    if list.iter().any(Value::is_array) {
        let rows = list.iter().map(|row| numbers(row.as_array().ok_or(row)?)).collect::<std::result::Result<_, _>>();
        return rows.map_err(|found| D::Error::custom(format!("\"weights\" is {wanted}: one is {}", kind(found))));
    }
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let row = numbers(list).map_err(|found| D::Error::custom(format!("a weight is a number, not {}", kind(found))))?;
    Ok(vec![row])
}

/// One number, or one for each class.
fn bias<'de, D: Deserializer<'de>>(given: D) -> std::result::Result<Option<Vec<f64>>, D::Error> {
    let value = Value::deserialize(given)?;
    let found = match &value {
        Value::Null => return Ok(None),
        Value::Array(list) => numbers(list),
        one => numbers(std::slice::from_ref(one)),
    };
    let wanted = "a number, or one for each class";
    found.map(Some).map_err(|found| D::Error::custom(format!("\"bias\" is {wanted}, not {}", kind(found))))
}

/// Names, which may be numbers, as classes often are.
fn classes<'de, D: Deserializer<'de>>(given: D) -> std::result::Result<Option<Vec<String>>, D::Error> {
    let value = Value::deserialize(given)?;
    let name = |name: &Value| match name {
        Value::String(name) => Ok(name.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(D::Error::custom(format!("the name of a class is text or a number, not {}", kind(other)))),
    };
    match &value {
        Value::Null => Ok(None),
        Value::Array(list) => list.iter().map(name).collect::<std::result::Result<_, _>>().map(Some),
        other => Err(D::Error::custom(format!("\"classes\" is a list of names, not {}", kind(other)))),
    }
}

/// All of them, or the first that is no number.
fn numbers(list: &[Value]) -> std::result::Result<Vec<f64>, &Value> {
    list.iter().map(|value| value.as_f64().ok_or(value)).collect()
}

/// What a value of JSON is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A model as JSON, or what is wrong with it.
fn parse(text: &[u8]) -> std::result::Result<ModelJson, String> {
    from_json(text).map_err(|reason| match serde_json::from_slice(text) {
        Ok(Value::Object(_)) | Err(_) => reason,
        Ok(other) => format!("it holds {}, but {{\"weights\": [..], \"bias\": ..}} is expected", kind(&other)),
    })
}

impl Model {
    /// Reads a model file: JSON where the name ends in `.json`, else CSV.
    pub fn read(path: &Path) -> Result<Self> {
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            true => Self::from_json(path),
            false => Self::from_csv(path),
        }
    }

    fn from_json(path: &Path) -> Result<Self> {
        let not_a_model = |reason: String| CliError::NotOfFormat { path: path.into(), what: "a model", reason };
        let json = parse(without_mark(&read_text(path)?)).map_err(not_a_model)?;
        let weights = json.weights;
        let Some(features) = weights.first().map(Vec::len) else {
            return Err(not_a_model("it has no weights".into()));
        };
        let bound = json.bound.unwrap_or(Standardisation::BOUND);
        let (means, scales) = (json.means, json.scales);
        let standardisation = Standardisation::given(features, means, scales, bound, false);
        let biases = json.bias.unwrap_or_else(|| vec![0.0; weights.len()]);
        let linear = standardisation.and_then(|made| LinearModel::new(made, weights, biases));
        let linear = linear.map_err(|error| not_a_model(error.to_string()))?;
        let model = Self { linear, columns: json.features, classes: json.classes };
        let (features, classes) = (model.linear.features(), model.linear.classes());
        check_names(features, classes, model.columns.as_deref(), model.classes.as_deref())
            .map_err(|error| not_a_model(reason(error)))?;
        Ok(model)
    }

    fn from_csv(path: &Path) -> Result<Self> {
        let not_a_model = |reason: String| CliError::NotOfFormat { path: path.into(), what: "a model", reason };
        let cells = Cells::read(path)?;
        let bias = cells.column(BIAS)?;
        if cells.rows().len() != 1 {
            let rows = cells.rows().len();
            return Err(not_a_model(format!(
                "it has {rows} rows of weights, but CSV allows one; use JSON for several"
            )));
        }
        let columns: Vec<usize> = (0..cells.columns().len()).filter(|&column| column != bias).collect();
        let weights = columns.iter().map(|&column| cells.number(0, column)).collect::<Result<Vec<_>>>()?;
        let plain = Standardisation::none(weights.len(), Standardisation::BOUND);
        let bias = cells.number(0, bias)?;
        let linear = plain.and_then(|plain| LinearModel::new(plain, vec![weights], vec![bias]));
        let linear = linear.map_err(|error| not_a_model(error.to_string()))?;
        let columns = columns.iter().map(|&column| cells.columns()[column].clone()).collect();
        Ok(Self { linear, columns: Some(columns), classes: None })
    }
}

//! Refusals of schemas, in words for errors that name the file.

use windlass_scoring::SchemaError;

/// What is wrong, without what the file should be.
pub fn reason(error: SchemaError) -> String {
    match error {
        SchemaError::Malformed { reason } => reason,
        other => other.to_string(),
    }
}

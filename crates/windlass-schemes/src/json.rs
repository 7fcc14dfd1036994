//! Text in JSON that others wrote, and what is wrong with it in the words of JSON.

use serde::de::DeserializeOwned;

/// A value from its JSON.
///
/// # Errors
/// What is wrong with the text, with the line. Types are named as JSON has them, not as Rust does.
pub fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).map_err(|error| in_words(&error.to_string()))
}

/// The words of Rust for a type, and those of JSON.
const TYPES: [(&str, &str); 17] = [
    ("u8", "an integer from 0 to 255"),
    ("u16", "an integer from 0 to 65535"),
    ("u32", "an integer from 0 to 2^32 - 1"),
    ("u64", "an integer from 0 to 2^64 - 1"),
    ("usize", "an integer from 0 to 2^64 - 1"),
    ("i32", "an integer"),
    ("i64", "an integer"),
    ("isize", "an integer"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("a sequence", "a list"),
    ("a map", "an object in braces"),
    ("struct", "an object in braces"),
    ("enum", "one of the names of a choice"),
    ("unit", "null"),
    ("a boolean", "true or false"),
    ("a string", "text"),
];

/// The message of a reader of JSON, which ends with the type that it expected and the place.
fn in_words(message: &str) -> String {
    // What stands before may be the user's text.
    let Some((found, rest)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let (expected, place) =
        rest.split_once(" at line ").map_or((rest, String::new()), |(a, b)| (a, format!(" at line {b}")));
    let of_type = |(rust, _): &&(&str, &str)| {
        expected == *rust
            || expected.strip_prefix(rust).is_some_and(|name| name.starts_with(' ') && !rust.starts_with("a "))
    };
    let expected = TYPES.iter().find(of_type).map_or(expected, |(_, json)| json);
    format!("{found}, expected {expected}{place}")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its reader is of interest")]
    struct Sample {
        count: usize,
        scale: f64,
        list: Vec<i64>,
        is_set: bool,
    }

    #[test]
    fn types_are_those_of_json() {
        let refused = |text: &str| from_json::<Sample>(text.as_bytes()).expect_err("refused");
        for (text, wanted) in [
            ("6", "invalid type: integer `6`, expected an object in braces at line 1 column 1"),
            (r#"{"count": -1}"#, "expected an integer from 0 to 2^64 - 1 at line 1"),
            (r#"{"count": "x, expected u64"}"#, "\"x, expected u64\", expected an integer from 0"),
            (r#"{"scale": "1"}"#, "expected a number at"),
            (r#"{"list": 5}"#, "expected a list at"),
            (r#"{"list": [1.5]}"#, "expected an integer at"),
            (r#"{"is_set": 1}"#, "expected true or false at"),
            (r#"{"other": 1}"#, "unknown field `other`, expected one of `count`, `scale`"),
            ("{", "EOF while parsing"),
        ] {
            let told = refused(text);
            assert!(told.contains(wanted) && !told.contains("struct"), "{text}: {told}");
        }
        assert_eq!(from_json::<Vec<u8>>(b"[1, 2]"), Ok(vec![1, 2]));
    }
}

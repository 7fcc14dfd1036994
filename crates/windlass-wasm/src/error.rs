//! Errors of the library as errors of JavaScript: the same words, and the name of the kind as `code`.
//! Kinds have the names that exceptions of the Python package have.

use js_sys::{Error as JsError, Reflect};
use wasm_bindgen::JsValue;
use windlass::Error;
use windlass::rlwe::RlweError;
use windlass::wire::WireError;

/// An error of JavaScript with this code.
pub fn raise(code: &str, message: &str) -> JsValue {
    let error = JsError::new(message);
    error.set_name("WindlassError");
    // Nothing forbids a new property of a new object.
    let _ = Reflect::set(&error, &"code".into(), &code.into());
    error.into()
}

/// An error of the library.
pub fn refuse(error: Error) -> JsValue {
    raise(code(&error), &error.to_string())
}

fn code(error: &Error) -> &'static str {
    match error {
        Error::Wire(error) => wire_code(error),
        Error::Rlwe(RlweError::Insecure { .. }) => "InsecureParameters",
        Error::UnknownName { .. } => "UnknownName",
        Error::NoParameters { .. } | Error::Unplannable { .. } => "NoParameters",
        Error::OtherKeyPair(_) => "OtherKeyPair",
        Error::NotDecryptable { .. } => "NotDecryptable",
        Error::ContextMismatch { .. } | Error::OtherSlotOrder { .. } => "OtherContext",
        Error::CapacityExhausted { .. }
        | Error::ModulusExhausted { .. }
        | Error::LevelsExhausted { .. }
        | Error::StepTooDeep { .. }
        | Error::PrecisionExhausted { .. }
        | Error::BoundTooLarge { .. } => "CapacityExhausted",
        Error::ShapeMismatch { .. } => "ShapeError",
        Error::NotFinite { .. } | Error::ValueTooLarge { .. } | Error::NumberTooLarge { .. } => "ValueRangeError",
        Error::OutOfMemory { .. } => "OutOfMemory",
        Error::Ring(_) | Error::Rlwe(_) | Error::OutOfRange(_) | Error::SlotCount { .. } => "ParameterError",
        _ => "WindlassError",
    }
}

fn wire_code(error: &WireError) -> &'static str {
    match error {
        WireError::Sealed => "PassphraseNeeded",
        WireError::WrongPassphrase => "WrongPassphrase",
        WireError::EmptyPassphrase => "ParameterError",
        WireError::OtherContext { .. } => "OtherContext",
        WireError::OtherKeyPair { .. } => "OtherKeyPair",
        _ => "FileError",
    }
}

/// An error of a lookup.
#[cfg(feature = "lookup")]
pub fn refuse_lookup(error: windlass_retrieval::Error) -> JsValue {
    use windlass_retrieval::Error as Lookup;
    let code = match error {
        Lookup::Library(error) => return refuse(error),
        Lookup::Wire(error) => return refuse(error.into()),
        Lookup::Rlwe(error) => return refuse(error.into()),
        Lookup::OtherKeyPair(error) => return refuse(error.into()),
        Lookup::OutOfRange(error) => return refuse(error.into()),
        Lookup::NotDecryptable { .. } => "NotDecryptable",
        Lookup::HiddenKeys | Lookup::PlainKeys => "HiddenKeysError",
        Lookup::OtherTable { .. } | Lookup::OtherQuery | Lookup::OtherBlindKeys => "OtherContext",
        Lookup::Mismatch { .. } | Lookup::Ragged { .. } | Lookup::WrongDimension { .. } | Lookup::Empty => "ShapeError",
        Lookup::NotFinite { .. } | Lookup::ZeroVector { .. } | Lookup::TooFar { .. } => "ValueRangeError",
        Lookup::OutOfMemory { .. } => "OutOfMemory",
        Lookup::BadSchema { .. } | Lookup::BadRow | Lookup::BadPoints { .. } => "FileError",
        Lookup::LongKey { .. } | Lookup::WrongQuery { .. } | Lookup::ScoresTooLarge { .. } => "ParameterError",
        _ => "WindlassError",
    };
    raise(code, &error.to_string())
}

//! Errors of the library as exceptions of `windlass.errors`, with their data as attributes.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use windlass::error::ExplicitError;
use windlass::needs::Products;
use windlass::rlwe::RlweError;
use windlass::wire::WireError;
use windlass::{Error, NeedsKeys, wire};

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The exception of a class of `windlass.errors`; `data` fills its attributes.
pub fn exception<'py>(
    py: Python<'py>,
    class: &str,
    message: String,
    data: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
) -> PyErr {
    let make = || {
        let errors = ERRORS.get_or_try_init(py, || PyModule::import(py, "windlass.errors").map(Bound::unbind))?;
        let attributes = PyDict::new(py);
        data(&attributes)?;
        errors.bind(py).getattr(class)?.call((message,), Some(&attributes))
    };
    make().map_or_else(|error: PyErr| error, PyErr::from_value)
}

/// An exception without attributes.
pub fn plain(py: Python<'_>, class: &str, message: impl Into<String>) -> PyErr {
    exception(py, class, message.into(), |_| Ok(()))
}

/// Words of the library's messages, and what a reader of Python has for them.
const WORDS: [(&str, &str); 36] = [
    ("context.generate_keys([&circuit, ..])", "context.generate_keys(circuit, ...)"),
    (
        "give the plan of context.bootstrapping(), or of context.refresh() for CKKS, to context.generate_keys",
        "name context.bootstrapping() when the keys are made: context.generate_keys(bootstrapping, ...)",
    ),
    (
        "name needs::Products when the keys are made: context.generate_keys([&Products, ..])",
        "name context.products() when the keys are made: context.generate_keys(context.products(), ...)",
    ),
    ("Context::plan_any_depth", "Context.plan(unlimited=True)"),
    (", or call assume_integers() if you know that every slot holds one", ""),
    ("CkksSpec::secure with value_bits = ", "Context.approximate with value_bits="),
    ("call Ciphertext::with_magnitude(", "call x.assume_bound("),
    ("a bound that was assumed for it", "a bound that was assumed for it (assume_bound)"),
    ("it states, in slot ", "it states, at index "),
    ("it states, first in slot ", "it states, first at index "),
    (" slots in all): it was made", " numbers in all): it was made"),
    (
        "a polynomial takes Polynomial::depth()",
        "a polynomial takes its .depth; Context.approximate(for_=[...]) adds up the depths of circuits",
    ),
    ("Choose parameters of depth ", "Choose Context.approximate with depth="),
    (
        "choose a longer modulus chain, or refresh",
        "plan for a larger depth (Context.plan with depth=..., or for_=[...] with the steps), or refresh",
    ),
    // Bootstrapping.
    (
        "name the plan when the keys are made: context.generate_keys([&plan, ..])",
        "name this bootstrapping when the keys are made: context.generate_keys(bootstrapping, ...)",
    ),
    (
        "plan Mode::Packed, or call Ciphertext::assume_integers() if you know that every slot holds an integer",
        "use context.bootstrapping(packed=True)",
    ),
    ("plan Mode::Packed", "use context.bootstrapping(packed=True)"),
    ("make the context with Context::refreshing", "use a set of Context.preset whose name begins with 'refresh'"),
    (
        "which needs a context from Context::for_bootstrapping",
        "which needs a set of Context.preset whose name begins with 'boot', or Context.plan(unlimited=True)",
    ),
    (
        "use a larger BootstrapSpec::ephemeral_weight, or parameters with Assurance::Insecure",
        "use parameters with a larger ephemeral_weight, or whose name begins with 'insecure'",
    ),
    ("or use parameters with Assurance::Insecure", "or use parameters whose name begins with 'insecure'"),
    ("(BootstrapSpec::max_keys)", "(max_keys)"),
    ("use Partition::Standard", "use partition=\"standard\""),
    ("use another transform, or Mode::Thin", "use another transform, or packed=False"),
    ("use Transform::AUTOMATIC", "use transform=\"automatic\""),
    ("use Transform::RADIX2", "use transform=\"radix2\""),
    ("use Unpacking::Monomials", "use unpacking=\"monomials\""),
    ("use Unpacking::Constants", "use unpacking=\"constants\""),
    // Plans that may use certain keys only.
    (
        "make it with LinearPlan::required_keys, or plan with the existing keys (PlanSpec::with_keys)",
        "add it to keys=[...], or leave keys out",
    ),
    (
        "make it with TracePlan::required_keys, or plan with the existing keys (TraceSpec::with_keys)",
        "name context.sum() when the keys are made: context.generate_keys(context.sum(), ...)",
    ),
    ("make the setting again with Scoring::of", "plan the model again"),
    // Security.
    ("or choose Assurance::Insecure with a name", "or begin the name of the set with 'insecure'"),
    // A single key is missing only if a file held others.
    (
        "make it with EvaluationKeys::add_galois(&secret_key, ",
        "name a circuit that needs it in generate_keys (element ",
    ),
    (", level, &mut rng)", ")"),
    (" in evaluation_keys", " in ExplicitContext.generate_keys"),
    ("by with_scale_tolerance", "by generate_keys(scale_tolerance=...)"),
];

/// The words of a message as they are in Python.
fn in_python(message: &str) -> String {
    WORDS.iter().fold(message.to_owned(), |text, (ours, python)| text.replace(ours, python))
}

/// The exception for an error of the library.
pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    let mut message = in_python(&error.to_string());
    if matches!(&error, Error::MissingKeys { needed_by, .. } if *needed_by == Products.key_request().needed_by) {
        message = message.replace("generate_keys(circuit, ...)", "generate_keys(context.products(), ...)");
    }
    // What is named by a user may hold the same words in other messages.
    if matches!(&error, Error::ValueTooLarge { .. }) {
        message = message.replace("a larger bound", "a larger bound (encrypt(x, bound=...))");
    }
    match error {
        Error::MissingKeys { needed_by, galois, relinearisation, bootstrappings, level } => {
            let class = match (galois.is_empty(), relinearisation) {
                (false, _) => "MissingGaloisKey",
                (true, true) => "MissingRelinearisationKey",
                (true, false) => "MissingBootstrappingKeys",
            };
            exception(py, class, message, |data| {
                data.set_item("needed_by", needed_by)?;
                data.set_item("elements", galois)?;
                data.set_item("relinearisation", relinearisation)?;
                data.set_item("bootstrappings", bootstrappings)?;
                data.set_item("level", level)
            })
        }
        Error::MissingGaloisKey { element, .. } => {
            exception(py, "MissingGaloisKey", message, |data| data.set_item("elements", vec![element]))
        }
        Error::MissingBootstrappingKeys => plain(py, "MissingBootstrappingKeys", message),
        Error::MissingRelinearisationKey => plain(py, "MissingRelinearisationKey", message),
        Error::UnknownName { given, known, .. } => exception(py, "UnknownName", message, |data| {
            data.set_item("given", given)?;
            data.set_item("known", known)
        }),
        Error::Rlwe(RlweError::Insecure { bits, required, max_log2_qp, .. }) => {
            exception(py, "InsecureParameters", message, |data| {
                data.set_item("bits", bits)?;
                data.set_item("required", required)?;
                data.set_item("max_log2_qp", max_log2_qp)
            })
        }
        Error::NoParameters { .. } | Error::Unplannable { .. } | Error::TableTooLarge { .. } => {
            plain(py, "NoParameters", message)
        }
        Error::OtherKeyPair(_) => plain(py, "OtherKeyPair", message),
        Error::NotDecryptable { beyond } => {
            exception(py, "NotDecryptable", message, |data| data.set_item("index", beyond.map(|beyond| beyond.slot)))
        }
        Error::OutsideInterval { bound, low, high } => exception(py, "OutsideInterval", message, |data| {
            data.set_item("bound", bound)?;
            data.set_item("low", low)?;
            data.set_item("high", high)
        }),
        Error::ContextMismatch { .. } | Error::OtherSlotOrder { .. } => plain(py, "OtherContext", message),
        Error::CapacityExhausted { needed_bits, left_bits, .. } => {
            exception(py, "CapacityExhausted", message, |data| {
                data.set_item("needed_bits", needed_bits)?;
                data.set_item("left_bits", left_bits)
            })
        }
        Error::ModulusExhausted { needed_bits, left_bits, value_bits, .. } => {
            exception(py, "CapacityExhausted", message, |data| {
                data.set_item("needed_bits", needed_bits)?;
                data.set_item("left_bits", left_bits)?;
                data.set_item("value_bits", value_bits)
            })
        }
        Error::LevelsExhausted { depth, needed, left, .. } => exception(py, "CapacityExhausted", message, |data| {
            data.set_item("depth", depth + needed.saturating_sub(left))
        }),
        Error::StepTooDeep { missing_bits, .. } => {
            exception(py, "CapacityExhausted", message, |data| data.set_item("missing_bits", missing_bits))
        }
        Error::PrecisionExhausted { .. } => plain(py, "CapacityExhausted", message),
        Error::ShapeMismatch { expected, got, .. } => exception(py, "ShapeError", message, |data| {
            data.set_item("expected", expected)?;
            data.set_item("got", got)
        }),
        Error::NotFinite { index } | Error::ValueTooLarge { index, .. } => {
            exception(py, "ValueRangeError", message, |data| data.set_item("index", index))
        }
        Error::NumberTooLarge { value, .. } => {
            exception(py, "ValueRangeError", message, |data| data.set_item("value", value.to_string()))
        }
        Error::BoundTooLarge { value_bits, .. } => {
            exception(py, "CapacityExhausted", message, |data| data.set_item("value_bits", value_bits))
        }
        Error::OutOfMemory { bytes, .. } => exception(py, "OutOfMemory", message, |data| data.set_item("bytes", bytes)),
        Error::Wire(error) => raise_wire(py, &error),
        Error::Bootstrap(_) => plain(py, "BootstrapError", message),
        Error::Explicit(error) => raise_explicit(py, &error, message),
        Error::NotIntegers { .. } => plain(py, "NotIntegers", message),
        Error::Ring(_) | Error::Rlwe(_) | Error::OutOfRange(_) | Error::SlotCount { .. } => {
            plain(py, "ParameterError", message)
        }
        _ => plain(py, "WindlassError", message),
    }
}

/// The same error where an operator made the circuit that lacks keys: it names the call that makes the circuit
/// for `generate_keys`.
pub fn made_by(py: Python<'_>, error: PyErr, call: &str) -> PyErr {
    const UNNAMED: &str = "name it when the keys are made: context.generate_keys(circuit, ...)";
    let text = error.value(py).to_string();
    let named = format!("name {call} when the keys are made: context.generate_keys({call}, ...)");
    if text.contains(UNNAMED) { said_otherwise(py, error, &text.replace(UNNAMED, &named)) } else { error }
}

/// The same error with another message.
pub fn said_otherwise(py: Python<'_>, error: PyErr, message: &str) -> PyErr {
    match error.value(py).setattr("args", (message,)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// The same error with the name of the file that it is about.
pub fn of_file(py: Python<'_>, error: PyErr, path: &std::path::Path) -> PyErr {
    // Where the module of errors could not be imported, for want of memory, the error is Python's own.
    let Some(errors) = ERRORS.get(py) else {
        return error;
    };
    let named = || {
        let class = errors.bind(py).getattr("FileError")?;
        if !error.value(py).is_instance(&class)? {
            return Ok::<_, PyErr>(error.clone_ref(py));
        }
        let message = format!("{}: {}", path.display(), error.value(py).str()?);
        let own = error.get_type(py).call1((message,))?;
        own.setattr("filename", path)?;
        Ok(PyErr::from_value(own))
    };
    named().unwrap_or_else(|other| other)
}

/// The exception for an operation with explicit steps that was refused.
fn raise_explicit(py: Python<'_>, error: &ExplicitError, message: String) -> PyErr {
    match error {
        ExplicitError::NoRoom { needed_bits, left_bits, .. } => exception(py, "CapacityExhausted", message, |data| {
            data.set_item("needed_bits", *needed_bits)?;
            data.set_item("left_bits", *left_bits)
        }),
        ExplicitError::NoStep { .. } => plain(py, "CapacityExhausted", message),
        ExplicitError::MissingRelinearisationKey => plain(py, "MissingRelinearisationKey", message),
        ExplicitError::MissingRotationKey { .. } => plain(py, "MissingGaloisKey", message),
        ExplicitError::OtherEncoding { .. } => plain(py, "DTypeError", message),
        _ => plain(py, "ParameterError", message),
    }
}

/// The exception for bytes or a file that were refused.
fn raise_wire(py: Python<'_>, error: &wire::WireError) -> PyErr {
    let message = error.to_string();
    match error {
        WireError::Io { kind: std::io::ErrorKind::NotFound, .. } => plain(py, "MissingFile", message),
        WireError::Io { kind: std::io::ErrorKind::AlreadyExists, .. } => plain(py, "FileExists", message),
        WireError::Io { kind: std::io::ErrorKind::OutOfMemory, .. } => plain(py, "OutOfMemory", message),
        WireError::Sealed => {
            plain(py, "PassphraseNeeded", "this secret key is encrypted: give its passphrase (passphrase=...)")
        }
        WireError::WrongPassphrase => plain(py, "WrongPassphrase", message),
        WireError::EmptyPassphrase => plain(py, "ParameterError", message),
        WireError::OtherContext { .. } => plain(py, "OtherContext", message),
        WireError::OtherKeyPair { .. } => plain(py, "OtherKeyPair", message),
        _ => plain(py, "FileError", message),
    }
}

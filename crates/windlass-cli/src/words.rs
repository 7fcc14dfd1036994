//! The library's remedies in the words of commands.

/// Words of the library's messages, and what a reader at the command line has for them.
const WORDS: [(&str, &str); 30] = [
    (
        "name it when the keys are made: context.generate_keys([&circuit, ..])",
        "make the evaluation keys again, with the schema or the parameters in use",
    ),
    (
        "name the plan when the keys are made: context.generate_keys([&plan, ..])",
        "make the keys again with 'windlass refresh keygen'",
    ),
    (
        "give the plan of context.bootstrapping(), or of context.refresh() for CKKS, to context.generate_keys",
        "make keys with 'windlass refresh keygen'",
    ),
    (
        "name needs::Products when the keys are made: context.generate_keys([&Products, ..])",
        "make the evaluation keys again, with the schema or the parameters in use",
    ),
    ("make it with generate_keys([&scoring])", "make the evaluation keys again with the schema of the model"),
    ("make it with EvaluationKeys::add_galois(&secret_key, ", "make the evaluation keys again (automorphism "),
    (", level, &mut rng)", ")"),
    (
        "make it with LinearPlan::required_keys, or plan with the existing keys (PlanSpec::with_keys)",
        "make the evaluation keys again, with the schema or the parameters in use",
    ),
    (
        "make it with TracePlan::required_keys, or plan with the existing keys (TraceSpec::with_keys)",
        "make the evaluation keys again, with the schema or the parameters in use",
    ),
    (
        "plan for circuits of any depth with refreshes (Context::plan_any_depth)",
        "plan for circuits of any depth with refreshes (--bootstrap)",
    ),
    ("CkksSpec::secure with value_bits = ", "value_bits = "),
    (", or, if you know that the values lie inside, call Ciphertext::with_magnitude(", " (up to "),
    (", or, if you know that they are smaller, call Ciphertext::with_magnitude(", " (at most "),
    (", and a polynomial takes Polynomial::depth()", ", and a polynomial about the logarithm of its degree"),
    (", or call assume_integers() if you know that every slot holds one", ""),
    (
        "plan Mode::Packed, or call Ciphertext::assume_integers() if you know that every slot holds an integer",
        "make keys with 'windlass refresh keygen --packed'",
    ),
    ("plan Mode::Packed", "make keys with 'windlass refresh keygen --packed'"),
    (
        "use a larger BootstrapSpec::ephemeral_weight, or parameters with Assurance::Insecure",
        "use a larger weight of the ephemeral secret in the parameter file, or begin the name of the set with 'insecure'",
    ),
    ("or use parameters with Assurance::Insecure", "or use parameters whose name begins with 'insecure'"),
    ("or choose Assurance::Insecure with a name", "or begin the name of the set with 'insecure'"),
    (" (BootstrapSpec::max_keys)", " keys"),
    ("use Partition::Standard", "use the standard partition"),
    ("use another transform, or Mode::Thin", "use another transform, or leave --packed out"),
    ("use Transform::AUTOMATIC", "use the automatic transform"),
    ("use Transform::RADIX2", "use the transform of radix 2"),
    ("use Unpacking::Monomials", "unpack by monomials"),
    ("use Unpacking::Constants", "unpack by constants"),
    ("make the setting again with Scoring::of", "make the schema again with 'windlass score schema'"),
    ("make the context with Context::refreshing", "use parameters whose name has 'refresh' in it"),
    ("which needs a context from Context::for_bootstrapping", "which needs parameters whose name begins with 'boot'"),
];

/// The words of a message as they are at the command line.
pub fn in_commands(message: impl ToString) -> String {
    WORDS.iter().fold(message.to_string(), |text, (ours, theirs)| text.replace(ours, theirs))
}

#[cfg(test)]
mod tests {
    use windlass::bootstrap::BootstrapError;
    use windlass::rlwe::RlweError;
    use windlass::{Error, ParamSpec, Params};

    use super::*;

    #[test]
    fn remedies_are_those_of_commands() {
        let security = Params::preset("demo", windlass::Scheme::Bgv).unwrap().rlwe().security();
        let needed_by = "a circuit".to_owned();
        let errors = [
            Error::MissingKeys { needed_by, galois: vec![3], relinearisation: true, bootstrappings: 0, level: 2 },
            Error::MissingRelinearisationKey,
            Error::MissingBootstrappingKeys,
            Error::NotIntegers { circuit: "a table".into() },
            Error::LevelsExhausted { operation: "multiply", depth: 2, needed: 1, left: 0 },
            Error::OutsideInterval { bound: 9.0, low: -8.0, high: 8.0 },
            Error::BoundTooLarge { bound: 9.0, most: 8.0, value_bits: Some(4) },
            BootstrapError::NotIntegers.into(),
            BootstrapError::EphemeralKeyTooWeak { weight: 20, log2_qp: 300.0, security }.into(),
            BootstrapError::TooLikelyToFail { got: 3.0, least: 40.0 }.into(),
            BootstrapError::BoundTooLarge { bound: 9.0, most: 1.0 }.into(),
            BootstrapError::TooManyKeys { most: 3, least: 5 }.into(),
            BootstrapError::MissingKey { stage: "digits".into(), element: 3 }.into(),
            RlweError::SecurityOutOfRange { n: 8, secret: "a secret".into(), lowest: 1024, highest: 65536 }.into(),
            Params::plan(&ParamSpec { depth: 1000, ..ParamSpec::default() }).unwrap_err(),
        ];
        for error in errors {
            let told = in_commands(&error);
            assert!(!told.contains("::") && !told.contains("generate_keys") && !told.contains("()"), "{told}");
            assert_ne!(told, error.to_string());
        }
        assert_eq!(in_commands("what holds no such words"), "what holds no such words");
    }
}

//! Options of `bootstrap` in groups. A kind of run refuses the groups that it does not read.

/// Which parameters.
pub const PARAMETERS: [&str; 2] = ["preset", "m"];

/// What is bootstrapped, and how.
pub const CIRCUIT: [&str; 23] = [
    "primes",
    "spare_primes",
    "special_primes",
    "key_digits",
    "partition",
    "transform",
    "packed",
    "table",
    "unpacking",
    "order",
    "digits",
    "front_end",
    "formula_2015",
    "maps",
    "keys",
    "max_keys",
    "factors",
    "eval",
    "weight",
    "encapsulation",
    "to_slots",
    "to_coefficients",
    "r",
];

/// How a refresh is measured, beside threads, runs and the record.
pub const MEASURING: [&str; 4] = ["scheme", "enough_seconds", "seed", "slack"];

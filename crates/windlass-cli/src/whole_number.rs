//! Whole numbers on the command line.

use clap::builder::RangedI64ValueParser;

/// An integer of at least `least`. A refusal states the range.
pub fn from(least: i64) -> RangedI64ValueParser<usize> {
    RangedI64ValueParser::new().range(least..)
}

//! Whole numbers on the command line.

use clap::builder::RangedI64ValueParser;

/// A whole number from `least` on: what is refused is told the range.
pub fn from(least: i64) -> RangedI64ValueParser<usize> {
    RangedI64ValueParser::new().range(least..)
}

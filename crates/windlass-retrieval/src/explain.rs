//! The description of a plan in words.

use std::fmt::Write;

use crate::keywords::bin_bytes;
use crate::plan::Plan;
use crate::schema::Contents;
use crate::setting::N;

impl Plan {
    /// A page of text: layout, security, sizes, seconds.
    pub fn explain(&self) -> String {
        let shape = &self.schema.shape;
        let mut out = String::new();
        let selections = self.schema.selections();
        let params = shape.moduli.params().ok();
        let lambda = params.map_or(0.0, |params| params.security().bits);
        let _ = writeln!(
            out,
            "table         {} rows x {} columns of polynomials, {} bits in each of {N} coefficients",
            shape.rows, shape.columns, shape.message_bits
        );
        let what = match &self.schema.contents {
            Contents::Rows(rows) => {
                format!("{} rows of up to {} bytes, {} in a polynomial", rows.count, rows.bytes, shape.records)
            }
            Contents::Keywords(keywords) => format!(
                "{} keys in bins of {} bytes, {} bins for a key, {} fragments, tags of {} bits",
                keywords.count,
                bin_bytes(shape.message_bits),
                keywords.choices,
                keywords.fragments,
                8 * keywords.tag_bytes
            ),
        };
        let _ = writeln!(out, "rows          {what}");
        let _ = writeln!(
            out,
            "parameters    n = {N}, log2 Q = {}, {lambda:.0} bits of security; wrong with probability at most 2^-{}",
            2 * shape.moduli.prime_bits(),
            shape.failure_bits(selections).floor()
        );
        let _ = writeln!(
            out,
            "query         {selections} selections, expanded in {} steps; selectors of {} digits of {} bits",
            shape.depth(),
            shape.gadget.digits,
            shape.gadget.base_bits
        );
        let _ = writeln!(
            out,
            "sizes         keys {} (once), query {}, answer {}, prepared table {}",
            format_bytes(self.sizes.keys),
            format_bytes(self.traffic[0]),
            format_bytes(self.traffic[1]),
            format_bytes(self.sizes.prepared)
        );
        if let Some(oprf) = &self.schema.oprf {
            let _ = writeln!(
                out,
                "hidden keys   a query needs help of the server for each key; rows are padded to {} bytes and sealed",
                oprf.row_bytes
            );
        }
        let portions = self.schema.portions();
        if portions > 1 {
            let _ = writeln!(
                out,
                "long rows     the longest row has {portions} portions, and every query for a whole row asks for all of them; in portions, a short row needs a query of {} and an answer of {}",
                format_bytes(self.portion[0]),
                format_bytes(self.portion[1])
            );
        }
        let _ = writeln!(
            out,
            "time          prepare {:.1} s, answer {:.3} s on one core of the reference machine",
            self.seconds.prepare, self.seconds.answer
        );
        out
    }
}

/// A number of bytes in words, as `2.3 MB`; the units are powers of 1000.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "KB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

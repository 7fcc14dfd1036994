//! Neighbours as they are printed, with how far their scores may be off.

use serde_json::{Value, json};
use windlass_retrieval::vectors::{Neighbour, QuantisedQuery, SearchShape};

use super::vector_file::VectorFile;
use crate::report::{Report, printable};

/// Neighbours that were found, with what is said of them.
pub struct Found<'a> {
    /// For each query; one more than is shown, where there is one: it may be as near as the last.
    pub nearest: &'a [Vec<Neighbour>],
    /// How many of them are shown.
    pub k: usize,
    /// The queries.
    pub asked: &'a QuantisedQuery,
    /// The table's shape.
    pub shape: &'a SearchShape,
    /// The table, where its vectors have names.
    pub names: Option<&'a VectorFile>,
}

impl Found<'_> {
    /// Prints the neighbours of each query, and how far their scores may be from those of the
    /// vectors as they were given.
    pub fn describe(&self, report: &mut Report) {
        let mut lists: Vec<Vec<Value>> = Vec::new();
        for (number, nearest) in self.nearest.iter().enumerate() {
            report.line(format!("query {number}"));
            let shown = &nearest[..self.k.min(nearest.len())];
            shown.iter().for_each(|neighbour| report.line(self.line(number, neighbour)));
            let close = self.close(number, nearest);
            if close > 0 {
                report.line(format!(
                    "  {close} of them are as near as the next one within these errors, so the order may be wrong"
                ));
            }
            lists.push(shown.iter().map(|neighbour| self.object(number, neighbour)).collect());
        }
        report.field("nearest", lists);
    }

    fn error(&self, number: usize, neighbour: &Neighbour) -> f64 {
        self.asked.error_bound(self.shape, number, neighbour.score)
    }

    fn name(&self, neighbour: &Neighbour) -> Option<&str> {
        self.names?.name(neighbour.index)
    }

    fn line(&self, number: usize, neighbour: &Neighbour) -> String {
        let score = match self.error(number, neighbour) {
            0.0 => neighbour.score.to_string(),
            error => format!("{} ± {error:.1e}", with_digits(neighbour.score, error)),
        };
        let name = self.name(neighbour).map_or_else(String::new, |name| format!("  {}", printable(name)));
        format!("  {:>10}  {score:<22}{name}", neighbour.index)
    }

    fn object(&self, number: usize, neighbour: &Neighbour) -> Value {
        let error = self.error(number, neighbour);
        let mut object = json!({ "index": neighbour.index, "score": neighbour.score, "error_bound": error });
        if let Some(name) = self.name(neighbour) {
            object["name"] = name.into();
        }
        object
    }

    /// How many of those that are shown may change places with the next one.
    fn close(&self, number: usize, nearest: &[Neighbour]) -> usize {
        let may_change = |pair: &&[Neighbour]| {
            let reach: f64 = pair.iter().map(|one| self.error(number, one)).sum();
            reach > 0.0 && (pair[0].score - pair[1].score).abs() <= reach
        };
        nearest.windows(2).take(self.k).filter(may_change).count()
    }
}

/// A score with one digit more than its error leaves.
fn with_digits(score: f64, error: f64) -> String {
    let digits = (1.0 - error.log10().floor()).clamp(0.0, 17.0);
    format!("{score:.*}", digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_the_digits_that_their_errors_leave() {
        let cases = [(0.123456789, 2.5e-3, "0.1235"), (1234.56, 20.0, "1235"), (0.0, 1e6, "0"), (-0.5, 0.03, "-0.500")];
        for (score, error, shown) in cases {
            assert_eq!(with_digits(score, error), shown);
        }
    }
}

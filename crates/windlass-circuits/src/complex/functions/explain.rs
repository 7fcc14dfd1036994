//! What a function does on ciphertexts, in words.

use std::fmt;

use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{CkksContext, RefreshTerms};

use super::error::FunctionError;
use super::plan::FunctionPlan;
use super::route::Start;

impl FunctionPlan {
    /// How the function runs on a fresh encryption of numbers of its interval, with the refreshes of a server between
    /// its steps.
    ///
    /// # Errors
    /// As [`Self::apply`].
    #[doc(hidden)]
    pub fn schedule(&self, context: &CkksContext, terms: Option<RefreshTerms>) -> Result<FunctionSchedule> {
        let route = self.route(context, Start::fresh(self, context), 0, terms)?;
        let error = self.fresh_error_on(context, &route)?;
        let mut lines = Vec::new();
        for step in 1..=self.steps.len() {
            let of = |value: usize| if value == 0 { "argument".to_owned() } else { format!("result of step {value}") };
            lines.extend(route.before(step).map(|value| ("refresh", format!("of the {}", of(value)))));
            let name = self.step_name(step, false);
            lines.push(("levels", format!("{} after {}", route.left_after(step), name.trim_end_matches(','))));
        }
        Ok(FunctionSchedule { levels: context.spec().depth, refreshes: route.refreshes(), error, lines })
    }
}

/// How a function runs on a fresh ciphertext, before anything is made: its levels after each step, where it refreshes,
/// and its error.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionSchedule {
    levels: usize,
    refreshes: usize,
    error: FunctionError,
    lines: Vec<(&'static str, String)>,
}

impl FunctionSchedule {
    /// The levels of a fresh or refreshed ciphertext.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// The number of refreshes of one ciphertext.
    pub fn refreshes(&self) -> usize {
        self.refreshes
    }

    /// The error on a fresh ciphertext, with what the refreshes add.
    pub fn error(&self) -> FunctionError {
        self.error
    }
}

impl fmt::Display for FunctionSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: &str| writeln!(f, "{name:<22}{value}");
        line("levels", &format!("{} of a fresh ciphertext", self.levels))?;
        for (name, value) in &self.lines {
            line(name, value)?;
        }
        line("refreshes", &self.refreshes.to_string())?;
        let total = self.error.total();
        write!(f, "{:<22}at most {total:.2e}, 2^{:.1}, on a fresh ciphertext", "error", total.log2())
    }
}

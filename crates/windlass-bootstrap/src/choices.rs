//! The choices that a plan made because its specification left them open.

use std::fmt;

use windlass_circuits::Method;

use super::spec::{EvalStage, Order, Unpacking};

/// All that made the circuit of a plan, beside what its specification fixes: nothing in it is left
/// open any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// The name of the slot transform.
    pub transform: &'static str,
    /// How packed elements come apart; none in thin mode.
    pub unpacking: Option<Unpacking>,
    /// Where the maps to the coefficients stand; none in thin mode.
    pub order: Option<Order>,
    /// After which elementary stages of the map to the coefficients a merged stage ends.
    pub to_coefficients: Vec<usize>,
    /// The same for the map to the slots.
    pub to_slots: Vec<usize>,
    /// Whether the stage inside the slots is a separate map or merged; `None` if there is no such
    /// stage.
    pub eval: Option<EvalStage>,
    /// The method of digit removal.
    pub digits: Method,
}

/// Ends of merged stages: `1,6,12`, or `-` if no stages are merged.
fn ends(list: &[usize]) -> String {
    if list.is_empty() { "-".into() } else { list.iter().map(usize::to_string).collect::<Vec<_>>().join(",") }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (to_coefficients, to_slots) = (ends(&self.to_coefficients), ends(&self.to_slots));
        write!(f, "{} to coefficients {to_coefficients}, to slots {to_slots}", self.transform)?;
        if let Some(unpacking) = self.unpacking {
            write!(f, "; unpacking {unpacking}")?;
        }
        if let Some(order) = self.order {
            write!(f, "; {order}")?;
        }
        if self.eval == Some(EvalStage::Merged) {
            f.write_str("; the stage inside of slots merged")?;
        }
        write!(f, "; digits {}", self.digits)
    }
}

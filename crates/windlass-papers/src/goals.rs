//! Goals, and the figures that were reached.

use serde::{Deserialize, Serialize};

use crate::page::Table;

/// What a figure should be; `Nothing` stands there for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// No limit: the figure stands for comparison.
    Nothing,
}

/// A figure with a goal, or one that explains such a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    #[serde(rename = "goal")]
    name: String,
    measured: f64,
    wanted: Wanted,
}

impl Goal {
    /// How far the goal is over-fulfilled (1 or more) or missed (below 1).
    fn ratio(&self) -> Option<f64> {
        match self.wanted {
            Wanted::AtLeast(wanted) => Some(self.measured / wanted),
            Wanted::AtMost(wanted) => Some(wanted / self.measured),
            Wanted::Nothing => None,
        }
    }

    /// Whether it is met, to the two places that are printed; nothing where nothing was wanted.
    fn met(&self) -> Option<bool> {
        let printed = (self.measured * 100.0).round() / 100.0;
        match self.wanted {
            Wanted::AtLeast(wanted) => Some(printed >= wanted),
            Wanted::AtMost(wanted) => Some(printed <= wanted),
            Wanted::Nothing => None,
        }
    }

    fn verdict(&self) -> &'static str {
        match self.met() {
            Some(true) => "met",
            Some(false) => "not met",
            None => "",
        }
    }

    fn limit(&self) -> String {
        match self.wanted {
            Wanted::AtLeast(wanted) => format!("≥ {wanted}"),
            Wanted::AtMost(wanted) => format!("≤ {wanted}"),
            Wanted::Nothing => String::new(),
        }
    }
}

/// A goal in a record, with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    cpu: String,
    rustc: String,
    #[serde(flatten)]
    goal: Goal,
    /// Older records leave it to the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
}

/// A goal as `bootstrap --reach` lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What was measured.
    pub name: String,
    measured: f64,
    wanted: Wanted,
    met: Option<bool>,
}

/// All goals of a run.
#[derive(Debug, Clone, Default)]
pub struct Goals(Vec<Goal>);

impl Goals {
    /// A figure with what it should be; none that is not a number.
    pub fn add(&mut self, name: impl Into<String>, measured: f64, wanted: Wanted) {
        if !measured.is_nan() {
            self.0.push(Goal { name: name.into(), measured, wanted });
        }
    }

    /// A figure that should be at least `wanted`.
    pub fn at_least(&mut self, name: impl Into<String>, measured: f64, wanted: f64) {
        self.add(name, measured, Wanted::AtLeast(wanted));
    }

    /// A figure that should be at most `wanted`.
    pub fn at_most(&mut self, name: impl Into<String>, measured: f64, wanted: f64) {
        self.add(name, measured, Wanted::AtMost(wanted));
    }

    /// A figure for comparison.
    pub fn beside(&mut self, name: impl Into<String>, measured: f64) {
        self.add(name, measured, Wanted::Nothing);
    }

    /// Those of another part of the run.
    pub fn extend(&mut self, more: Goals) {
        self.0.extend(more.0);
    }

    /// As lines of a record of this processor and compiler, in order.
    pub fn lines(&self, cpu: &str, rustc: &str) -> Vec<Reached> {
        let line = |goal: &Goal| Reached { cpu: cpu.into(), rustc: rustc.into(), goal: goal.clone(), met: goal.met() };
        self.0.iter().map(line).collect()
    }

    /// With what becomes of each, in order.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + '_ {
        let verdict = |goal: &Goal| Verdict {
            name: goal.name.clone(),
            measured: goal.measured,
            wanted: goal.wanted,
            met: goal.met(),
        };
        self.0.iter().map(verdict)
    }

    /// As a table: figure, measured, wanted, met or not.
    pub fn table(&self) -> Table {
        let mut table = Table::new(["figure", "measured", "wanted", ""]);
        for goal in &self.0 {
            table.row([goal.name.clone(), format!("{:.2}", goal.measured), goal.limit(), goal.verdict().into()]);
        }
        table
    }

    /// Prints every figure that was wanted, then those beside them.
    pub fn print(&self) {
        let (wanted, beside): (Vec<_>, Vec<_>) = self.0.iter().partition(|goal| goal.ratio().is_some());
        println!("\n{:<80} {:>9}    {:>7} {:>7}", "reach", "measured", "wanted", "ratio");
        for goal in &wanted {
            let (ratio, limit) = (goal.ratio().unwrap_or(f64::NAN), goal.limit());
            println!("{:<80} {:>9.2} {limit:>10} {ratio:>7.2}  {}", goal.name, goal.measured, goal.verdict());
        }
        if !beside.is_empty() {
            println!("\n{:<80} {:>9}", "for comparison", "measured");
            beside.iter().for_each(|goal| println!("{:<80} {:>9.2}", goal.name, goal.measured));
        }
        let met = wanted.iter().filter(|goal| goal.verdict() == "met").count();
        println!("\n{met} of {} figures met", wanted.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_to_the_places_that_are_printed() {
        let mut goals = Goals::default();
        goals.at_least("just", 7.996, 8.0);
        goals.at_least("missed", 7.99, 8.0);
        goals.at_most("less", 1.504, 1.5);
        goals.beside("beside", 3.0);
        goals.at_least("unknown", f64::NAN, 1.0);
        let verdicts: Vec<&str> = goals.0.iter().map(Goal::verdict).collect();
        assert_eq!(verdicts, ["met", "not met", "met", ""]);
        let met: Vec<Option<bool>> = goals.lines("cpu", "rustc").iter().map(|line| line.met).collect();
        assert_eq!(met, [Some(true), Some(false), Some(true), None]);
        let line = serde_json::to_string(&goals.lines("cpu", "rustc")[1]).unwrap();
        assert!(line.ends_with(r#""goal":"missed","measured":7.99,"wanted":{"at_least":8.0},"met":false}"#), "{line}");
        assert!(goals.table().to_string().contains("| missed | 7.99 | ≥ 8 | not met |"));
    }
}

//! Results: one line each, then what was to be reached.

use std::fmt::Write as _;

use crate::machine;
use crate::timing::Sample;

/// A figure that was to be reached.
struct Goal {
    name: String,
    measured: f64,
    wanted: f64,
    /// Whether the measured figure should be at least the wanted one (else at most).
    at_least: bool,
}

/// All results of a run.
pub struct Report {
    /// Rounds of each comparison.
    pub rounds: usize,
    /// Seconds of the yardstick T, once it is measured.
    pub yardstick: Option<f64>,
    samples: Vec<Sample>,
    goals: Vec<Goal>,
}

impl Report {
    /// An empty report.
    pub fn new(quick: bool) -> Self {
        Self { rounds: if quick { 7 } else { 31 }, yardstick: None, samples: Vec::new(), goals: Vec::new() }
    }

    /// Prints and keeps results.
    pub fn add(&mut self, samples: &[Sample]) {
        for sample in samples {
            let t = self.in_yardsticks(sample.median);
            println!(
                "{:<58} {:>12} {:>12} {t:>9} {:>4}",
                sample.id,
                duration(sample.median),
                duration(sample.min),
                sample.rounds
            );
        }
        self.samples.extend_from_slice(samples);
    }

    /// A line of text among the results.
    pub fn note(&self, text: &str) {
        println!("# {text}");
    }

    fn in_yardsticks(&self, seconds: f64) -> String {
        self.yardstick.map_or_else(String::new, |t| format!("{:.2} T", seconds / t))
    }

    /// A figure that should be at least `wanted`.
    pub fn at_least(&mut self, name: &str, measured: f64, wanted: f64) {
        self.goals.push(Goal { name: name.into(), measured, wanted, at_least: true });
    }

    /// A figure that should be at most `wanted`.
    pub fn at_most(&mut self, name: &str, measured: f64, wanted: f64) {
        self.goals.push(Goal { name: name.into(), measured, wanted, at_least: false });
    }

    /// The last table.
    pub fn print_reach(&self) {
        println!("\nreach");
        for goal in &self.goals {
            let (sign, met) = match goal.at_least {
                true => (">=", goal.measured >= goal.wanted),
                false => ("<=", goal.measured <= goal.wanted),
            };
            let verdict = if met { "met" } else { "not met" };
            println!("{:<66} {:>9.2} {sign} {:>6.2}  {verdict}", goal.name, goal.measured, goal.wanted);
        }
    }

    /// The results as CSV.
    pub fn csv(&self) -> String {
        let mut out = String::from("id,median_s,min_s,yardsticks,rounds,cpu\n");
        for sample in &self.samples {
            let t = self.yardstick.map_or(f64::NAN, |t| sample.median / t);
            let cpu = machine::cpu().replace(',', ";");
            let _ = writeln!(out, "{},{:e},{:e},{t:.3},{},{cpu}", sample.id, sample.median, sample.min, sample.rounds);
        }
        out
    }

    /// The results as JSON.
    pub fn json(&self) -> String {
        let results: Vec<_> = self
            .samples
            .iter()
            .map(|s| serde_json::json!({ "id": s.id, "median_s": s.median, "min_s": s.min, "rounds": s.rounds }))
            .collect();
        let reach: Vec<_> = self
            .goals
            .iter()
            .map(|g| serde_json::json!({ "name": g.name, "measured": g.measured, "wanted": g.wanted, "at_least": g.at_least }))
            .collect();
        let all = serde_json::json!({ "machine": machine::describe(), "yardstick_s": self.yardstick, "results": results, "reach": reach });
        format!("{all:#}\n")
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

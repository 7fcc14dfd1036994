//! Results: one line each, then what was to be reached.

use std::fmt::Write as _;

use crate::machine;
use crate::timing::Sample;

/// The circumstances of a result that are not in its name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts {
    /// log2 of the ciphertext modulus, of the special modulus.
    pub log2_q: f64,
    /// log2 of the special modulus.
    pub log2_p: f64,
    /// Digits of a key switch.
    pub digits: usize,
    /// λ in bits, rounded down.
    pub security: f64,
    /// Peak memory of the measurement in MiB.
    pub peak: f64,
}

/// What a figure should be.
enum Wanted {
    AtLeast(f64),
    AtMost(f64),
    /// Nothing: printed for comparison.
    Nothing,
}

/// A figure that was to be reached, or stands beside one that was.
struct Goal {
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

    /// Whether it is met, to the two places that are printed.
    fn met(&self) -> Option<bool> {
        self.ratio().map(|ratio| (ratio * 100.0).round() >= 100.0)
    }

    fn sign(&self) -> (&'static str, f64) {
        match self.wanted {
            Wanted::AtLeast(wanted) => (">=", wanted),
            Wanted::AtMost(wanted) => ("<=", wanted),
            Wanted::Nothing => ("", f64::NAN),
        }
    }
}

/// All results of a run.
pub struct Report {
    /// Rounds of each comparison.
    pub rounds: usize,
    /// Seconds of the yardstick T, once it is measured.
    pub yardstick: Option<f64>,
    samples: Vec<(Sample, Facts)>,
    goals: Vec<Goal>,
}

impl Report {
    /// An empty report.
    pub fn new(quick: bool) -> Self {
        Self { rounds: if quick { 7 } else { 31 }, yardstick: None, samples: Vec::new(), goals: Vec::new() }
    }

    /// The heading of the results.
    pub fn heading(&self) {
        println!("{:<66} {:>12} {:>12} {:>11} {:>4}", "layer/op/params/isa/threads", "median", "min", "T", "n");
    }

    /// Prints and keeps results that need no circumstances.
    pub fn add(&mut self, samples: &[Sample]) {
        self.add_with(samples, Facts::default());
    }

    /// Prints and keeps results.
    pub fn add_with(&mut self, samples: &[Sample], facts: Facts) {
        for sample in samples {
            let t = self.in_yardsticks(sample.median);
            let (median, min) = (duration(sample.median), duration(sample.min));
            println!("{:<66} {median:>12} {min:>12} {t:>11} {:>4}", sample.id, sample.rounds);
        }
        self.samples.extend(samples.iter().map(|sample| (sample.clone(), facts)));
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
        self.goals.push(Goal { name: name.into(), measured, wanted: Wanted::AtLeast(wanted) });
    }

    /// A figure that should be at most `wanted`.
    pub fn at_most(&mut self, name: &str, measured: f64, wanted: f64) {
        self.goals.push(Goal { name: name.into(), measured, wanted: Wanted::AtMost(wanted) });
    }

    /// A figure for comparison.
    pub fn beside(&mut self, name: &str, measured: f64) {
        self.goals.push(Goal { name: name.into(), measured, wanted: Wanted::Nothing });
    }

    /// The last table: every figure that was wanted, then those beside them.
    pub fn print_reach(&self) {
        println!("\n{:<80} {:>9}    {:>7} {:>7}", "reach", "measured", "wanted", "ratio");
        let (wanted, beside): (Vec<_>, Vec<_>) = self.goals.iter().partition(|goal| goal.ratio().is_some());
        for goal in &wanted {
            let (sign, limit) = goal.sign();
            let verdict = if goal.met() == Some(true) { "met" } else { "not met" };
            let ratio = goal.ratio().unwrap_or(f64::NAN);
            println!("{:<80} {:>9.2} {sign} {limit:>7.2} {ratio:>7.2}  {verdict}", goal.name, goal.measured);
        }
        if !beside.is_empty() {
            println!("\n{:<80} {:>9}", "for comparison", "measured");
            beside.iter().for_each(|goal| println!("{:<80} {:>9.2}", goal.name, goal.measured));
        }
        let met = wanted.iter().filter(|goal| goal.met() == Some(true)).count();
        println!("\n{met} of {} figures met", wanted.len());
    }

    /// The results as CSV.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "id,median_s,min_s,yardsticks,rounds,log2_q,log2_p,digits,security_bits,peak_mebibytes,cpu,rustc\n",
        );
        let cell = |text: String| text.replace(',', ";");
        let (cpu, rustc) = (cell(machine::cpu()), cell(machine::rustc()));
        for (sample, facts) in &self.samples {
            let t = self.yardstick.map_or(f64::NAN, |t| sample.median / t);
            let Facts { log2_q, log2_p, digits, security, peak } = facts;
            let _ = write!(out, "{},{:e},{:e},{t:.3},{},", sample.id, sample.median, sample.min, sample.rounds);
            let _ = writeln!(out, "{log2_q:.1},{log2_p:.1},{digits},{security:.1},{peak:.0},{cpu},{rustc}");
        }
        for goal in &self.goals {
            let (sign, limit) = goal.sign();
            let (measured, limit) = (goal.measured, if sign.is_empty() { String::new() } else { format!("{limit}") });
            let _ = writeln!(
                out,
                "reach: {} ({measured:.3} {sign} {limit}),,,,,,,,,,{cpu},{rustc}",
                cell(goal.name.clone())
            );
        }
        out
    }

    /// The results as JSON.
    pub fn json(&self) -> String {
        let result = |(s, f): &(Sample, Facts)| {
            serde_json::json!({
                "id": s.id, "median_s": s.median, "min_s": s.min, "rounds": s.rounds, "log2_q": f.log2_q, "log2_p": f.log2_p,
                "digits": f.digits, "security_bits": f.security, "peak_mebibytes": f.peak,
            })
        };
        let goal = |g: &Goal| {
            let (sign, limit) = g.sign();
            let limit = (!sign.is_empty()).then_some(limit);
            serde_json::json!({
                "name": g.name, "measured": g.measured, "sign": sign, "wanted": limit, "ratio": g.ratio(), "met": g.met(),
            })
        };
        let all = serde_json::json!({
            "machine": machine::describe(),
            "yardstick_s": self.yardstick,
            "results": self.samples.iter().map(result).collect::<Vec<_>>(),
            "reach": self.goals.iter().map(goal).collect::<Vec<_>>(),
        });
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

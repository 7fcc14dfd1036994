//! The judge: counts of what was done, and a line for every finding.

use std::fmt::Write as _;

/// What can be wrong with a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A decryption that succeeded and is not what plain arithmetic gives.
    WrongAnswer,
    /// Noise or error above the bound that the ciphertext states.
    BrokenBound,
    /// A ciphertext with false metadata: content, exponent, magnitude.
    WrongLabel,
    /// A panic.
    Panic,
    /// Values that do not belong together were not refused.
    MixtureAccepted,
    /// An operation that had room and all keys was refused.
    SpuriousRefusal,
}

impl Fault {
    /// All, the unforgivable ones first.
    pub const ALL: [Self; 6] = [
        Self::WrongAnswer,
        Self::BrokenBound,
        Self::WrongLabel,
        Self::Panic,
        Self::MixtureAccepted,
        Self::SpuriousRefusal,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::WrongAnswer => "wrong answers",
            Self::BrokenBound => "bounds broken",
            Self::WrongLabel => "wrong labels",
            Self::Panic => "panics",
            Self::MixtureAccepted => "mixtures accepted",
            Self::SpuriousRefusal => "spurious refusals",
        }
    }

    /// Whether one is enough to fail the run: a refusal too many costs work, but misleads no user.
    fn is_grave(self) -> bool {
        self != Self::SpuriousRefusal
    }
}

/// Something that is wrong, and the circuit in which it was seen.
#[derive(Debug, Clone)]
pub struct Finding {
    pub seed: u64,
    pub fault: Fault,
    pub story: String,
}

/// What was counted.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub circuits: u64,
    pub approximate: u64,
    pub refreshes: u64,
    pub operations: u64,
    pub decryptions: u64,
    /// Refusals that had to be: no room left, or values that do not belong together.
    pub right_refusals: u64,
    /// Parameters that were drawn and cannot be, such as P below a digit.
    pub impossible_sets: u64,
    faults: [u64; Fault::ALL.len()],
}

impl Counts {
    /// How often a fault was seen.
    pub fn of(&self, fault: Fault) -> u64 {
        self.faults[fault as usize]
    }

    /// Whether nothing was found that fails a run.
    pub fn are_clean(&self) -> bool {
        Fault::ALL.iter().all(|&fault| !fault.is_grave() || self.of(fault) == 0)
    }

    fn add(&mut self, other: &Self) {
        self.circuits += other.circuits;
        self.approximate += other.approximate;
        self.refreshes += other.refreshes;
        self.operations += other.operations;
        self.decryptions += other.decryptions;
        self.right_refusals += other.right_refusals;
        self.impossible_sets += other.impossible_sets;
        self.faults.iter_mut().zip(other.faults).for_each(|(own, other)| *own += other);
    }

    /// The table at the end of a run.
    pub fn table(&self, seconds: f64) -> String {
        let mut rows = vec![
            ("circuits", self.circuits),
            ("  of them approximate", self.approximate),
            ("operations", self.operations),
            ("decryptions compared", self.decryptions),
            ("refreshes", self.refreshes),
            ("refusals that are right", self.right_refusals),
            ("impossible parameter sets", self.impossible_sets),
        ];
        rows.extend(Fault::ALL.map(|fault| (fault.name(), self.of(fault))));
        let mut text = String::new();
        for (name, count) in rows {
            let _ = writeln!(text, "{name:<26} {count:>10}");
        }
        let _ = writeln!(text, "{:<26} {:>10.0}", "circuits a minute", self.circuits as f64 * 60.0 / seconds);
        text
    }
}

/// Counts for one circuit, or for all of a run.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    seed: u64,
    pub counts: Counts,
    pub findings: Vec<Finding>,
    /// What the circuit has done so far, for the story of a finding.
    trail: Vec<String>,
}

impl Judge {
    /// For the circuit with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Notes the parameters of the circuit or its next operation.
    pub fn note(&mut self, text: impl Into<String>) {
        self.trail.push(text.into());
    }

    /// Notes an operation and counts it.
    pub fn operation(&mut self, text: impl Into<String>) {
        self.counts.operations += 1;
        self.note(text);
    }

    /// Something is wrong. The story is that of the parameters and the last operations.
    pub fn find(&mut self, fault: Fault, what: impl AsRef<str>) {
        self.counts.faults[fault as usize] += 1;
        let last = self.trail.len().saturating_sub(6).max(1);
        let setting = self.trail.first().map_or("", String::as_str);
        let trail = self.trail.get(last..).unwrap_or_default().join(" → ");
        let story = format!("{} | {setting} | {trail}", what.as_ref());
        self.findings.push(Finding { seed: self.seed, fault, story });
    }

    /// A refusal, right or not.
    pub fn refusal(&mut self, right: bool, what: impl AsRef<str>) {
        if right { self.counts.right_refusals += 1 } else { self.find(Fault::SpuriousRefusal, what) }
    }

    /// Values that do not belong together: they must be refused.
    pub fn mixture<T, E>(&mut self, what: &str, outcome: Result<T, E>) {
        self.counts.operations += 1;
        match outcome {
            Ok(_) => self.find(Fault::MixtureAccepted, what),
            Err(_) => self.counts.right_refusals += 1,
        }
    }

    /// Takes in what another judge has seen.
    pub fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.findings.extend(other.findings);
    }
}

impl Finding {
    /// The line that is printed, with the command that reruns this circuit alone under these options.
    pub fn line(&self, options: &str) -> String {
        format!("{}: {} (again with {options}--only-seed {})", self.fault.name(), self.story, self.seed)
    }
}

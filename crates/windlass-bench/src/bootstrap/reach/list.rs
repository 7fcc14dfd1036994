//! The goals of bootstrapping, and whether the measurements meet them.

use windlass_kernels::Isa;

use super::super::figures::Measured as Refreshed;
use crate::goals::Goals;
use crate::timing::{Sample, median};
use windlass_papers::linear::measured::Measured as Product;

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub enum Row {
    /// Refreshes under a preset.
    Refresh(Case),
    /// MatMul1D on m = 18631, the good dimension.
    Map,
    /// Rotation and multiplication at n = 2^15.
    Operations,
    /// Eight thin refreshes of a preset beside eight one by one; its short name.
    Together(&'static str, &'static str),
}

impl Row {
    /// Whether its figures are of two threads as well.
    pub fn takes_two_threads(self) -> bool {
        !matches!(self, Self::Operations)
    }
}

/// The name of what two threads give on the machine where the arithmetic is all that they do, as it
/// was right after a row.
pub fn cores(row: &str) -> String {
    format!("{row}: two threads of transforms in cache, times as fast as one")
}

/// All rows by name; the long ones last.
pub const ROWS: [(&str, Row); 9] = [
    ("thin-18631", Row::Refresh(Case { ratio: 0.6, bits: 320.0, two_threads: 1.75, ..THIN_18631 })),
    ("operations", Row::Operations),
    ("map-18631", Row::Map),
    ("thin-set2", Row::Refresh(Case { ratio: 0.8, gigabytes: 2.9, ..thin("paper_ma24_set2_p8191") })),
    ("packed-18631", Row::Refresh(Case { packed: true, two_threads: 1.8, ..THIN_18631 })),
    ("together-18631", Row::Together(THIN_18631.preset, "18631")),
    ("together-set2", Row::Together("paper_ma24_set2_p8191", "set II")),
    ("thin-42799", Row::Refresh(Case { ratio: 0.5, ..thin("paper_hs15_42799") })),
    ("thin-49981", Row::Refresh(Case { ratio: 0.55, bits: 1200.0, setup: 11.0, ..thin("paper_hs18_49981") })),
];

/// Ciphertexts of [`Row::Together`].
pub const TOGETHER: usize = 8;

const THIN_18631: Case = thin("paper_hs15_18631");

/// A preset with what its refresh should reach; NaN where nothing is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub preset: &'static str,
    pub packed: bool,
    /// At most this part of the seconds of the build before.
    pub ratio: f64,
    /// At least this capacity left.
    pub bits: f64,
    /// At least as many times as fast on two threads, by the clock.
    pub two_threads: f64,
    /// At most, as the peak of a process with one refresh.
    pub gigabytes: f64,
    /// At most, seconds of plan, keys and constants.
    pub setup: f64,
}

/// A thin refresh that takes a second or so: two threads should be worth having.
const fn thin(preset: &'static str) -> Case {
    const ANY: f64 = f64::NAN;
    Case { preset, packed: false, ratio: ANY, bits: ANY, two_threads: 1.75, gigabytes: ANY, setup: ANY }
}

/// What processes that refreshed gave, in turn.
#[derive(Debug, Default)]
pub struct Runs {
    /// Seconds of processor time of the build before, if there is one.
    pub before: Vec<f64>,
    /// Of this build on one thread.
    pub one: Vec<Refreshed>,
    /// On two.
    pub two: Vec<Refreshed>,
}

/// The middle one, or of two the greater; NaN of none.
fn middle(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Case {
    /// Whether the build before is of interest.
    pub fn is_compared(&self) -> bool {
        !self.ratio.is_nan()
    }

    fn name(&self) -> String {
        format!("{} {}", if self.packed { "packed" } else { "thin" }, self.preset)
    }

    /// The goals that the runs say something about.
    pub fn judge(&self, runs: &Runs) -> Goals {
        let (mut goals, name) = (Goals::default(), self.name());
        let of = |figure: fn(&Refreshed) -> f64| middle(runs.one.iter().map(figure));
        let (now, before) = (of(|run| run.of.processor_seconds), middle(runs.before.iter().copied()));
        let clock = |runs: &[Refreshed]| middle(runs.iter().map(|run| run.of.total_seconds));
        let peak = runs.one.iter().map(|run| run.of.gigabytes()).fold(f64::NAN, f64::max);
        at_most(&mut goals, format!("{name}: seconds over those of the build before"), now / before, self.ratio);
        at_least(&mut goals, format!("{name}: bits left"), of(|run| run.of.capacity_out), self.bits);
        let gain = clock(&runs.one) / clock(&runs.two);
        at_least(&mut goals, format!("{name}: two threads, times as fast as one"), gain, self.two_threads);
        at_most(&mut goals, format!("{name}: peak GB of a process by itself"), peak, self.gigabytes);
        let setup = of(|run| run.of.setup_seconds());
        at_most(&mut goals, format!("{name}: seconds of plan, keys and constants"), setup, self.setup);
        goals.beside(format!("{name}: seconds"), now);
        goals.beside(format!("{name}: seconds of the build before"), before);
        goals
    }
}

/// Beside the others where nothing is wanted.
fn at_most(goals: &mut Goals, name: String, measured: f64, wanted: f64) {
    if wanted.is_nan() { goals.beside(name, measured) } else { goals.at_most(name, measured, wanted) }
}

/// As [`at_most`].
fn at_least(goals: &mut Goals, name: String, measured: f64, wanted: f64) {
    if wanted.is_nan() { goals.beside(name, measured) } else { goals.at_least(name, measured, wanted) }
}

/// Conversion of constants, and two threads, by the best plan of a map.
pub fn map(records: &[Product]) -> Goals {
    let mut goals = Goals::default();
    let on = |threads: usize, figure: fn(&Product) -> f64| {
        middle(records.iter().filter(|record| record.threads == threads).map(figure))
    };
    let (seconds, two) = (on(1, |record| record.median_s), on(2, |record| record.median_s));
    let name = "MatMul1D 18631";
    let convert = on(1, |record| record.of.convert_s / record.median_s);
    goals.at_most(format!("{name}: converting constants, over the multiplication"), convert, 2.0);
    goals.at_least(format!("{name}: two threads, times as fast as one"), seconds / two, 1.75);
    goals.beside(format!("{name}: seconds"), seconds);
    goals
}

/// Operations of the engine on one thread, now and before; each list is of one process.
///
/// # Errors
/// An operation that a process did not measure.
pub fn operations(now: &[Vec<Sample>], before: &[Vec<Sample>]) -> Result<Goals, String> {
    let mut goals = Goals::default();
    for (operation, what) in [("rotate", "rotation"), ("multiply", "multiplication and relinearisation")] {
        let (of, isa) = (format!("bgv/{operation}/n=32768,"), Isa::best().name());
        let measured = |sample: &&Sample| sample.id.starts_with(&of) && sample.id.ends_with(&format!("/{isa}/1"));
        let found = now.iter().flatten().find(measured);
        let Sample { id, .. } = found.ok_or_else(|| format!("no line for {of} .. /{isa}/1"))?;
        if let Some(lacks) = now.iter().chain(before).find(|samples| median(samples, id).is_nan()) {
            return Err(format!("a build measures {} operations, but not {id}", lacks.len()));
        }
        let seconds = |processes: &[Vec<Sample>]| middle(processes.iter().map(|samples| median(samples, id)));
        let name = format!("{what} at n = 2^15 ({id})");
        goals.at_least(format!("{name}: times as fast as before"), seconds(before) / seconds(now), 1.3);
        goals.beside(format!("{name}: milliseconds"), seconds(now) * 1e3);
    }
    Ok(goals)
}

/// [`TOGETHER`] refreshes in one call over as many in calls of their own, on one thread and on two.
pub fn together(short: &str, [together, one_by_one]: [f64; 2], two_threads: [f64; 2]) -> Goals {
    let mut goals = Goals::default();
    let name = format!("{TOGETHER} thin refreshes of {short}");
    goals.at_most(format!("{name}: together, over one by one"), together / one_by_one, 0.75);
    goals.beside(format!("{name}: seconds one by one"), one_by_one);
    goals.beside(format!("{name}: together, over one by one, two threads"), two_threads[0] / two_threads[1]);
    goals.beside(format!("{name}: seconds one by one, two threads"), two_threads[1]);
    goals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;

    const RECORD: &str = include_str!("../../../record/amd-epyc-zen5/bootstrap-2026-11-25.jsonl");
    const MAPS: &str = include_str!("../../../record/amd-epyc-zen5/linear-2026-11-25.jsonl");

    fn case(name: &str) -> Case {
        match ROWS.into_iter().find(|row| row.0 == name) {
            Some((_, Row::Refresh(case))) => case,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// A record with invented figures: seconds, clock, bits, gigabytes, set-up.
    fn invented([seconds, clock, bits, gigabytes, setup]: [f64; 5]) -> Refreshed {
        let mut one: Refreshed = record::parse(RECORD).next().unwrap().unwrap();
        (one.of.processor_seconds, one.of.total_seconds, one.of.capacity_out) = (seconds, clock, bits);
        one.of.peak_mebibytes = gigabytes / 1.048_576e-3;
        (one.of.plan_seconds, one.of.key_seconds, one.of.table_seconds) = (1.0, 2.0, setup - 3.0);
        one
    }

    /// Figure, measured to two places, wanted, verdict.
    fn rows(goals: &Goals) -> Vec<String> {
        goals.table().to_string().lines().skip(2).map(String::from).collect()
    }

    #[test]
    fn every_row_is_judged_by_the_middle_of_its_runs() {
        let two = vec![invented([0.6, 0.4, 321.0, 1.0, 5.0])];
        let one: Vec<Refreshed> = [0.9, 0.59, 0.1].map(|s| invented([s, s + 0.11, 321.0, 1.0, 5.0])).into();
        let runs = Runs { before: vec![1.0, 3.0, 0.2], one, two };
        let name = "thin paper_hs15_18631";
        let expected = [
            format!("| {name}: seconds over those of the build before | 0.59 | ≤ 0.6 | met |"),
            format!("| {name}: bits left | 321.00 | ≥ 320 | met |"),
            format!("| {name}: two threads, times as fast as one | 1.75 | ≥ 1.75 | met |"),
            format!("| {name}: peak GB of a process by itself | 1.00 | | |"),
            format!("| {name}: seconds of plan, keys and constants | 5.00 | | |"),
            format!("| {name}: seconds | 0.59 | | |"),
            format!("| {name}: seconds of the build before | 1.00 | | |"),
        ];
        assert_eq!(rows(&case("thin-18631").judge(&runs)), expected);
    }

    #[test]
    fn without_the_build_before_there_is_no_ratio() {
        let runs = Runs { one: vec![invented([0.1, 0.1, 319.0, 1.0, 5.0])], ..Runs::default() };
        let rows = rows(&case("thin-18631").judge(&runs));
        assert!(!rows.iter().any(|row| row.contains("before") || row.ends_with("| met |")), "{rows:?}");
        assert!(rows[0].ends_with("| 319.00 | ≥ 320 | not met |"), "{rows:?}");
    }

    #[test]
    fn limits_are_those_that_were_asked_for() {
        let runs = |figures: [f64; 5]| Runs {
            before: vec![1.0],
            one: vec![invented(figures)],
            two: vec![invented([1.0, 1.0, 0.0, 0.0, 3.0])],
        };
        let verdicts = |name: &str, figures: [f64; 5]| {
            let rows = rows(&case(name).judge(&runs(figures)));
            let judged = rows.iter().filter(|row| row.contains('≤') || row.contains('≥'));
            judged.map(|row| row.ends_with("| met |")).collect::<Vec<_>>()
        };
        // Just within, just outside.
        assert_eq!(verdicts("thin-49981", [0.55, 1.75, 1200.0, 9.0, 11.0]), [true; 4]);
        assert_eq!(verdicts("thin-49981", [0.56, 1.74, 1199.0, 9.0, 11.1]), [false; 4]);
        assert_eq!(verdicts("thin-set2", [0.8, 1.75, 0.0, 2.9, 60.0]), [true; 3]);
        assert_eq!(verdicts("thin-set2", [0.81, 1.74, 0.0, 2.91, 60.0]), [false; 3]);
        assert_eq!(verdicts("thin-42799", [0.5, 1.75, 0.0, 9.0, 60.0]), [true; 2]);
        assert_eq!(verdicts("thin-42799", [0.51, 1.74, 0.0, 9.0, 60.0]), [false; 2]);
        assert_eq!(verdicts("packed-18631", [9.0, 1.8, 0.0, 9.0, 60.0]), [true]);
        assert_eq!(verdicts("packed-18631", [9.0, 1.79, 0.0, 9.0, 60.0]), [false]);
    }

    #[test]
    fn maps_operations_and_batches_have_their_verdicts() {
        let mut one: Product = record::parse(MAPS).next().unwrap().unwrap();
        (one.threads, one.median_s, one.of.convert_s) = (1, 1.0, 2.0);
        let mut two = one.clone();
        (two.threads, two.median_s, two.of.convert_s) = (2, 0.5, 9.0);
        let products = rows(&map(&[one, two]));
        assert!(products[0].ends_with("| 2.00 | ≤ 2 | met |") && products[1].ends_with("| 2.00 | ≥ 1.75 | met |"));

        let sample = |operation: &str, threads: usize, median: f64| Sample {
            id: format!("bgv/{operation}/n=32768,Q=550,P=240,d=3/{}/{threads}", Isa::best().name()),
            median,
            min: median,
            rounds: 7,
        };
        let now = [vec![sample("rotate", 2, 9.0), sample("rotate", 1, 0.01), sample("multiply", 1, 0.02)]];
        let before = [vec![sample("rotate", 1, 0.013), sample("multiply", 1, 0.02)]];
        let compared = rows(&operations(&now, &before).unwrap());
        assert!(compared[0].starts_with("| rotation at n = 2^15 (bgv/rotate/n=32768,Q=550,"), "{compared:?}");
        assert!(compared[0].ends_with("| 1.30 | ≥ 1.3 | met |"), "{compared:?}");
        assert!(compared[2].ends_with("| 1.00 | ≥ 1.3 | not met |"), "{compared:?}");
        assert!(!rows(&operations(&now, &[]).unwrap()).iter().any(|row| row.contains("before")));

        let lacks = operations(&now, &[vec![sample("rotate", 1, 0.013)]]).unwrap_err();
        assert!(lacks.contains("bgv/multiply/n=32768"), "{lacks}");

        assert!(rows(&together("18631", [3.0, 4.0], [1.0, 2.0]))[0].ends_with("| 0.75 | ≤ 0.75 | met |"));
        assert!(rows(&together("18631", [3.1, 4.0], [1.0, 2.0]))[0].ends_with("| 0.78 | ≤ 0.75 | not met |"));
    }

    #[test]
    fn presets_are_those_of_the_record() {
        let all: Vec<Refreshed> = record::parse(RECORD).collect::<Result<_, _>>().unwrap();
        for (name, row) in ROWS {
            if let Row::Refresh(case) = row {
                let mode = if case.packed { "packed" } else { "thin" };
                let measured = |one: &Refreshed| one.of.preset == case.preset && one.of.mode == mode;
                assert!(all.iter().any(measured), "{name}: {case:?}");
            }
        }
    }
}

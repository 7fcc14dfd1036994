//! The stages of one refresh: when each ended, and what the kernels had done until then.

use windlass::bootstrap::Progress;
use windlass_kernels::work::{self, Counts};
use windlass_papers::ckks::figures::{Speeds, Stage, Work};

use crate::process_time::Stopwatch;

/// What was there before a stage.
#[derive(Debug, Clone)]
struct Mark {
    stage: String,
    capacity: f64,
    seconds: f64,
    counts: Counts,
}

/// One stage, all its times together.
#[derive(Debug, Clone, PartialEq)]
struct Measured {
    name: String,
    times: usize,
    seconds: f64,
    capacity: (f64, f64),
    counts: Counts,
}

/// The reports of one call.
pub struct Marks {
    watch: Stopwatch,
    by_processor: bool,
    list: Vec<Mark>,
}

impl Marks {
    /// By the clock of the processor, or of the wall.
    pub fn start(by_processor: bool) -> Self {
        work::start_counting();
        Self { watch: Stopwatch::start(), by_processor, list: Vec::new() }
    }

    /// A stage begins, or the last one is over.
    pub fn add(&mut self, progress: &Progress) {
        let seconds = if self.by_processor { self.watch.processor_seconds() } else { self.watch.seconds() };
        let (stage, capacity) = (progress.stage.clone(), progress.capacity);
        self.list.push(Mark { stage, capacity, seconds, counts: work::counts() });
    }

    /// The stages in the order in which they came for the first time.
    pub fn stages(self) -> Stages {
        let mut stages: Vec<Measured> = Vec::new();
        for pair in self.list.windows(2) {
            let [now, next] = pair else { unreachable!("windows of two") };
            let (seconds, counts) = (next.seconds - now.seconds, next.counts.since(&now.counts));
            match stages.iter_mut().find(|stage| stage.name == now.stage) {
                Some(stage) => {
                    stage.times += 1;
                    stage.seconds += seconds;
                    stage.counts = stage.counts.plus(&counts);
                }
                None => {
                    let capacity = (now.capacity, next.capacity);
                    stages.push(Measured { name: now.stage.clone(), times: 1, seconds, capacity, counts });
                }
            }
        }
        Stages(stages)
    }
}

/// Stages whose floor is not known yet.
#[derive(Debug, Clone)]
pub struct Stages(Vec<Measured>);

impl Stages {
    /// As figures of a ring of dimension n.
    pub fn figures(&self, n: usize, speeds: &Speeds) -> Vec<Stage> {
        let figure = |stage: &Measured| {
            let work = work_of(n, &stage.counts);
            Stage {
                name: stage.name.clone(),
                times: stage.times,
                seconds: stage.seconds,
                capacity_before: stage.capacity.0,
                capacity_after: stage.capacity.1,
                work,
                floor_seconds: speeds.floors(&work).into_iter().sum(),
            }
        };
        self.0.iter().map(figure).collect()
    }
}

/// Words as rows of n, and as bytes.
fn work_of(n: usize, counts: &Counts) -> Work {
    const WORD: u64 = size_of::<u64>() as u64;
    let rows = |words: u64| words.div_ceil(n as u64);
    Work {
        transforms: rows(counts.transformed),
        conversions: rows(counts.converted),
        key_products: rows(counts.keys),
        constant_products: rows(counts.constants),
        key_bytes: WORD * counts.keys,
        constant_bytes: WORD * counts.constant_words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_that_come_again_are_added_up() {
        let mark = |stage: &str, seconds: f64, words: u64| Mark {
            stage: stage.into(),
            capacity: 100.0 - seconds,
            seconds,
            counts: Counts { transformed: 100 * words, keys: words, constant_words: 3 * words, ..Counts::default() },
        };
        let list = vec![mark("raise", 0.0, 0), mark("sine", 1.0, 8), mark("raise", 3.0, 24), mark("", 7.0, 32)];
        let stages = Marks { watch: Stopwatch::start(), by_processor: false, list }.stages();
        let speeds = Speeds { transform_seconds: 2.0, conversion_seconds: 1.0, bytes_per_second: 64.0 };
        let figures = stages.figures(8, &speeds);
        let shown: Vec<_> = figures.iter().map(|stage| (&*stage.name, stage.times, stage.seconds)).collect();
        assert_eq!(shown, [("raise", 2, 5.0), ("sine", 1, 2.0)]);
        let work = Work { transforms: 200, key_products: 2, key_bytes: 128, constant_bytes: 384, ..Work::default() };
        assert_eq!((figures[0].work, figures[0].floor_seconds), (work, 400.0 + 8.0));
        assert_eq!((figures[0].capacity_before, figures[0].capacity_after), (100.0, 99.0));
    }
}

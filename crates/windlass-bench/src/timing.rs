//! Timing by alternating rounds: all subjects of a comparison run in turn, so that drift meets them
//! alike.

use std::time::Instant;

/// One thing to time.
pub struct Subject<'a> {
    /// `layer/op/params/isa/threads`.
    pub id: String,
    /// One execution.
    pub run: Box<dyn FnMut() + 'a>,
    /// Executions of the operation in one run.
    pub times: u32,
}

/// Seconds for one execution.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The subject.
    pub id: String,
    /// Median over rounds.
    pub median: f64,
    /// Least over rounds.
    pub min: f64,
    /// Number of rounds.
    pub rounds: usize,
}

/// A subject.
pub fn subject<'a>(id: impl Into<String>, run: impl FnMut() + 'a) -> Subject<'a> {
    Subject { id: id.into(), run: Box::new(run), times: 1 }
}

/// A subject that does its operation several times in one run: the sample is for one of them.
pub fn repeated<'a>(id: impl Into<String>, times: u32, run: impl FnMut() + 'a) -> Subject<'a> {
    Subject { id: id.into(), run: Box::new(run), times }
}

/// Times all subjects in alternating rounds; each round repeats a subject until it took about a
/// millisecond.
pub fn compare(subjects: &mut [Subject<'_>], rounds: usize) -> Vec<Sample> {
    let repeats: Vec<u32> = subjects.iter_mut().map(|subject| calibrate(&mut subject.run)).collect();
    let mut seconds = vec![Vec::with_capacity(rounds); subjects.len()];
    for _ in 0..rounds {
        for (index, subject) in subjects.iter_mut().enumerate() {
            let start = Instant::now();
            (0..repeats[index]).for_each(|_| (subject.run)());
            seconds[index].push(start.elapsed().as_secs_f64() / (repeats[index] * subject.times) as f64);
        }
    }
    samples(subjects, seconds)
}

/// Seconds of processor time of this process so far: on a shared machine a better clock than the
/// wall's for one thread.
pub fn processor_seconds() -> Option<f64> {
    Some(cpu_time::ProcessTime::try_now().ok()?.as_duration().as_secs_f64())
}

/// As [`compare`], by processor time where there is a clock for it; each round repeats a subject
/// for about five milliseconds.
pub fn compare_processor(subjects: &mut [Subject<'_>], rounds: usize) -> Vec<Sample> {
    let start = Instant::now();
    let clock = || processor_seconds().unwrap_or_else(|| start.elapsed().as_secs_f64());
    let mut repeats = Vec::with_capacity(subjects.len());
    for subject in subjects.iter_mut() {
        (subject.run)();
        let start = clock();
        (subject.run)();
        repeats.push((0.005 / (clock() - start).max(1e-9)).ceil().clamp(1.0, 1e5) as u32);
    }
    let mut seconds = vec![Vec::with_capacity(rounds); subjects.len()];
    for _ in 0..rounds {
        for (index, subject) in subjects.iter_mut().enumerate() {
            let start = clock();
            (0..repeats[index]).for_each(|_| (subject.run)());
            seconds[index].push((clock() - start) / (repeats[index] * subject.times) as f64);
        }
    }
    samples(subjects, seconds)
}

/// The median of an operation among samples.
pub fn median(samples: &[Sample], id: &str) -> f64 {
    samples.iter().find(|sample| sample.id == id).map_or(f64::NAN, |sample| sample.median)
}

fn samples(subjects: &[Subject<'_>], seconds: Vec<Vec<f64>>) -> Vec<Sample> {
    let sample = |(subject, mut seconds): (&Subject<'_>, Vec<f64>)| {
        seconds.sort_by(f64::total_cmp);
        let (median, min, rounds) = (seconds[seconds.len() / 2], seconds[0], seconds.len());
        Sample { id: subject.id.clone(), median, min, rounds }
    };
    subjects.iter().zip(seconds).map(sample).collect()
}

fn calibrate(run: &mut dyn FnMut()) -> u32 {
    run();
    let start = Instant::now();
    run();
    (0.001 / start.elapsed().as_secs_f64().max(1e-9)).ceil().clamp(1.0, 100_000.0) as u32
}

//! Timing by alternating rounds: all subjects of a comparison run in turn, so that drift meets them alike.

use std::time::Instant;

/// One thing to time.
pub struct Subject<'a> {
    /// `layer/op/params/isa/threads`.
    pub id: String,
    /// One execution.
    pub run: Box<dyn FnMut() + 'a>,
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
    Subject { id: id.into(), run: Box::new(run) }
}

/// Times all subjects in alternating rounds; each round repeats a subject until it took about a millisecond.
pub fn compare(subjects: &mut [Subject<'_>], rounds: usize) -> Vec<Sample> {
    let repeats: Vec<u32> = subjects.iter_mut().map(|subject| calibrate(&mut subject.run)).collect();
    let mut seconds = vec![Vec::with_capacity(rounds); subjects.len()];
    for _ in 0..rounds {
        for (index, subject) in subjects.iter_mut().enumerate() {
            let start = Instant::now();
            (0..repeats[index]).for_each(|_| (subject.run)());
            seconds[index].push(start.elapsed().as_secs_f64() / repeats[index] as f64);
        }
    }
    let sample = |(subject, mut seconds): (&Subject<'_>, Vec<f64>)| {
        seconds.sort_by(f64::total_cmp);
        Sample { id: subject.id.clone(), median: seconds[seconds.len() / 2], min: seconds[0], rounds }
    };
    subjects.iter().zip(seconds).map(sample).collect()
}

fn calibrate(run: &mut dyn FnMut()) -> u32 {
    run();
    let start = Instant::now();
    run();
    (0.001 / start.elapsed().as_secs_f64().max(1e-9)).ceil().clamp(1.0, 100_000.0) as u32
}

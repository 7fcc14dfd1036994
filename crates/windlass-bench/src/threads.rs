//! Pools of threads, and clocks that go with them.

use clap::builder::RangedU64ValueParser;

use crate::timing::{Sample, Subject, compare, compare_processor};

/// The parser of a number of threads.
pub fn number() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1024)
}

/// A pool of this many threads.
pub fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// In a pool of this many threads.
pub fn with_threads<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    pool(threads).install(f)
}

/// By processor time on one thread, which a busy machine does not disturb; by the wall's on more.
pub fn measured(subjects: &mut [Subject<'_>], threads: usize, rounds: usize) -> Vec<Sample> {
    if threads == 1 { compare_processor(subjects, rounds) } else { compare(subjects, rounds) }
}

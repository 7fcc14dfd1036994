//! The threads that compute: each takes what waits and answers it in one pass over the table.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use windlass::rlwe::EvaluationKeys;
use windlass::wire::to_bytes;
use windlass_retrieval::{Answer, Query, SELECTIONS_PER_PASS};

use crate::metrics::Metrics;
use crate::problem::{Kind, Problem};
use crate::published::{Published, Version};
use crate::queue::{Job, Queue};

/// What a worker needs.
#[derive(Debug, Clone)]
pub struct Work {
    /// The table.
    pub published: Arc<Published>,
    /// The requests.
    pub queue: Arc<Queue>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// For drills: one pass in so many panics.
    pub panic_every: Option<u64>,
    /// Passes so far.
    pub passes: Arc<AtomicU64>,
}

/// Starts `count` workers with `threads` threads each. They end when the queue is closed and empty.
///
/// # Errors
/// Those of the system that starts no thread.
pub fn start(work: &Work, count: usize, threads: usize) -> std::io::Result<Vec<JoinHandle<()>>> {
    let start = |number| {
        let name = move |thread| format!("worker {number}.{thread}");
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
        let pool = pool.map_err(std::io::Error::other)?;
        let work = work.clone();
        std::thread::Builder::new().name(format!("worker {number}")).spawn(move || work.run(&pool))
    };
    (0..count).map(start).collect()
}

impl Work {
    fn run(&self, pool: &ThreadPool) {
        while let Some(jobs) = self.queue.take(SELECTIONS_PER_PASS) {
            // Who waits for an answer that this drops is told so; the worker goes on.
            if catch_unwind(AssertUnwindSafe(|| self.answer(pool, jobs))).is_err() {
                self.metrics.panics.inc();
                tracing::error!("a worker panicked outside of a pass");
            }
        }
    }

    /// Answers all jobs, in one pass if nothing is wrong with any of them. If one does, each is
    /// computed separately: no client suffers from what others sent.
    fn answer(&self, pool: &ThreadPool, jobs: Vec<Job>) {
        let version = self.published.current();
        let (jobs, others): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| job.schema == version.hash);
        for job in others {
            let cause = format!("the table has been replaced; its schema is {}", version.name());
            // Whoever does not wait any more does not miss it, here and below.
            let _ = job.reply.send(Err(Problem::new(&Kind::OTHER_TABLE, cause)));
        }
        if jobs.is_empty() {
            return;
        }
        let together: Vec<_> = jobs.iter().map(|job| (&*job.keys, &job.query)).collect();
        match self.pass(pool, &version, &together) {
            Ok(answers) => {
                for (job, answer) in jobs.into_iter().zip(answers) {
                    let _ = job.reply.send(Ok(answer));
                }
            }
            Err(problem) if jobs.len() == 1 => {
                let _ = jobs.into_iter().next().expect("one job").reply.send(Err(problem));
            }
            Err(_) => {
                for job in jobs {
                    let one = self.pass(pool, &version, &[(&*job.keys, &job.query)]);
                    let _ = job.reply.send(one.map(|mut answers| answers.remove(0)));
                }
            }
        }
    }

    /// One pass: the bytes of the answers.
    fn pass(
        &self,
        pool: &ThreadPool,
        version: &Version,
        queries: &[(&EvaluationKeys, &Query)],
    ) -> Result<Vec<Vec<u8>>, Problem> {
        let begun = Instant::now();
        let number = self.passes.fetch_add(1, Ordering::Relaxed) + 1;
        let computed = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| {
                if self.panic_every.is_some_and(|every| number.is_multiple_of(every)) {
                    panic!("a drill");
                }
                version.table.answer_all(queries)
            })
        }));
        let answers = match computed {
            Ok(answers) => answers.map_err(|error| Problem::of_answer(&error))?,
            Err(_) => {
                self.metrics.panics.inc();
                tracing::error!(queries = queries.len(), "a pass over the table panicked");
                return Err(Problem::new(&Kind::FAILED, "the computation ended in a panic, which is our bug"));
            }
        };
        let encode = |answer: &Answer| {
            let bytes = to_bytes(&version.table_files, answer);
            bytes.map(|bytes| bytes.to_vec()).map_err(|error| Problem::new(&Kind::FAILED, error))
        };
        let bytes = answers.iter().map(encode).collect();
        let selections: usize = queries.iter().map(|(_, query)| query.count()).sum();
        self.metrics.pass_selections.observe(selections as f64);
        self.metrics.pass_seconds.observe(begun.elapsed().as_secs_f64());
        tracing::debug!(queries = queries.len(), selections, seconds = begun.elapsed().as_secs_f64(), "a pass");
        bytes
    }
}

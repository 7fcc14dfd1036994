//! Requests that wait for a pass over the table.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;
use windlass::rlwe::EvaluationKeys;
use windlass_retrieval::Query;

use crate::problem::Problem;

/// A request for an answer.
#[derive(Debug)]
pub struct Job {
    /// The keys of its client.
    pub keys: Arc<EvaluationKeys>,
    /// What is asked.
    pub query: Query,
    /// The hash of the schema that it was asked under.
    pub schema: [u8; 32],
    /// If no client waits any more.
    pub deadline: Instant,
    /// Where the answer's bytes go.
    pub reply: oneshot::Sender<Result<Vec<u8>, Problem>>,
}

impl Job {
    fn is_wanted(&self) -> bool {
        !self.reply.is_closed() && Instant::now() < self.deadline
    }
}

/// Why a job was not taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many selections are waiting.
    Full,
    /// No more work is done.
    Closed,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    selections: usize,
    closed: bool,
}

impl Waiting {
    /// Leaves out requests whose client no longer waits.
    fn forget_unwanted(&mut self) {
        self.jobs.retain(Job::is_wanted);
        self.selections = self.jobs.iter().map(|job| job.query.count()).sum();
    }
}

/// A queue that is bounded in selections, first come, first served.
#[derive(Debug)]
pub struct Queue {
    most: usize,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    /// An empty queue for `most` selections. One request may be longer than that, if it is alone.
    pub fn new(most: usize) -> Self {
        Self { most, waiting: Mutex::default(), changed: Condvar::new() }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Selections that wait.
    pub fn length(&self) -> usize {
        self.waiting().selections
    }

    /// Puts a job in.
    ///
    /// # Errors
    /// [`Refusal`]; the job is dropped then.
    pub fn push(&self, job: Job) -> Result<(), Refusal> {
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(Refusal::Closed);
        }
        let count = job.query.count();
        if waiting.selections + count > self.most {
            waiting.forget_unwanted();
        }
        if !waiting.jobs.is_empty() && waiting.selections + count > self.most {
            return Err(Refusal::Full);
        }
        waiting.selections += count;
        waiting.jobs.push_back(job);
        drop(waiting);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for jobs, and takes those that are answered in one pass: as many as wait, up to
    /// `together` selections, at least one. None when the queue is closed and empty.
    pub fn take(&self, together: usize) -> Option<Vec<Job>> {
        let mut waiting = self.waiting();
        loop {
            let mut taken: Vec<Job> = Vec::new();
            let mut selections = 0;
            while let Some(next) = waiting.jobs.front().map(|job| job.query.count()) {
                if !taken.is_empty() && selections + next > together {
                    break;
                }
                let job = waiting.jobs.pop_front().expect("it was looked at");
                waiting.selections -= next;
                if job.is_wanted() {
                    selections += next;
                    taken.push(job);
                }
            }
            if !taken.is_empty() {
                return Some(taken);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No more jobs go in; those that wait are still handed out.
    pub fn close(&self) {
        self.waiting().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use windlass_retrieval::{Client, Plan, RowStatistics, Schema, TableRequirements};

    use super::*;

    type Reply = oneshot::Receiver<Result<Vec<u8>, Problem>>;

    fn job(client: &Client, keys: &Arc<EvaluationKeys>, rows: usize, seconds: u64) -> (Job, Reply) {
        let (reply, receiver) = oneshot::channel();
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let query = client.query_rows(&vec![0; rows]).unwrap();
        (Job { keys: Arc::clone(keys), query, schema: [0; 32], deadline, reply }, receiver)
    }

    #[test]
    fn what_waits_is_taken_together_in_order_and_what_nobody_waits_for_is_left_out() {
        let plan = Plan::rows(RowStatistics::of(&[[1u8; 8]; 9]).unwrap(), &TableRequirements::default()).unwrap();
        let (schema, setting) = Schema::from_json(&plan.schema.to_json()).unwrap();
        let client = Client::new(schema, &setting).unwrap();
        let keys = Arc::new(client.evaluation_keys().unwrap());
        let queue = Queue::new(6);
        let mut replies = Vec::new();
        let mut push = |rows, seconds| {
            let (job, reply) = job(&client, &keys, rows, seconds);
            replies.push(reply);
            queue.push(job)
        };
        for rows in [2, 1, 1, 2] {
            assert_eq!(push(rows, 60), Ok(()));
        }
        assert_eq!(push(1, 60), Err(Refusal::Full));
        assert_eq!(queue.length(), 6);
        replies[1].close();
        let (next, _next) = job(&client, &keys, 1, 60);
        assert_eq!(queue.push(next), Ok(()), "who has gone makes room");
        assert_eq!(queue.length(), 6);
        let counts = |jobs: Vec<Job>| jobs.iter().map(|job| job.query.count()).collect::<Vec<_>>();
        assert_eq!(counts(queue.take(3).unwrap()), [2, 1]);
        let (late, _late) = job(&client, &keys, 1, 0);
        assert_eq!(queue.push(late), Ok(()), "its time is over, which a look into it finds out");
        assert_eq!(counts(queue.take(3).unwrap()), [2, 1]);
        let (one, _one) = job(&client, &keys, 1, 60);
        assert_eq!(queue.push(one), Ok(()));
        let (long, _long) = job(&client, &keys, 7, 60);
        assert_eq!(queue.push(long), Err(Refusal::Full));
        assert_eq!(counts(queue.take(3).unwrap()), [1]);
        let (long, _long) = job(&client, &keys, 7, 60);
        assert_eq!(queue.push(long), Ok(()), "alone, it may be longer than the queue");
        queue.close();
        assert_eq!(queue.push(job(&client, &keys, 1, 60).0), Err(Refusal::Closed));
        assert_eq!(counts(queue.take(3).unwrap()), [7]);
        assert!(queue.take(3).is_none() && queue.length() == 0);
    }
}

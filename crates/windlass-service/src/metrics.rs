//! What is counted and timed: for Prometheus, and for the page.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use serde::Serialize;

/// The labels of requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Request {
    /// The path, as the description names it.
    pub route: String,
    /// The status of the response.
    pub status: u16,
}

/// Counters and histograms. What others count better (the cache, the queue) is asked of them when
/// it is wanted.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Responses.
    pub requests: Family<Request, Counter>,
    /// Requests under way.
    pub open: Gauge,
    /// Seconds from a request for an answer to its end.
    pub answer_seconds: Histogram,
    /// Seconds of a pass over the table.
    pub pass_seconds: Histogram,
    /// Selections that were answered in one pass.
    pub pass_selections: Histogram,
    /// Passes that panicked.
    pub panics: Counter,
    /// Versions of the table that followed the first.
    pub replaced: Counter,
    /// Keys that were asked for and missing.
    pub missed: Counter,
    cache: [Gauge; 2],
    evicted: Gauge,
    waiting: Gauge,
    revision: Gauge,
    recent: Mutex<VecDeque<(Instant, f32)>>,
    /// When counting began.
    pub since: Instant,
}

/// What is taken from elsewhere when metrics are written out.
#[derive(Debug, Clone, Copy)]
pub struct Levels {
    /// Sets of keys in the cache, and their bytes.
    pub cache: [i64; 2],
    /// Sets that left it.
    pub evicted: i64,
    /// Selections that wait.
    pub waiting: i64,
    /// The table's revision.
    pub revision: i64,
}

/// Answers of one second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Second {
    /// How many.
    pub answers: usize,
    /// The median of their times in milliseconds, and what one in a hundred exceeds.
    pub p50: f32,
    /// See `p50`.
    pub p99: f32,
}

/// Seconds that the page shows.
const SHOWN: usize = 120;
/// Answers that are remembered.
const REMEMBERED: usize = 1 << 15;

impl Default for Metrics {
    fn default() -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.001, 2.0, 16));
        let mut new = Self {
            registry: Registry::with_prefix("windlass"),
            requests: Family::default(),
            open: Gauge::default(),
            answer_seconds: seconds(),
            pass_seconds: seconds(),
            pass_selections: Histogram::new(exponential_buckets(1.0, 2.0, 7)),
            panics: Counter::default(),
            replaced: Counter::default(),
            missed: Counter::default(),
            cache: Default::default(),
            evicted: Gauge::default(),
            waiting: Gauge::default(),
            revision: Gauge::default(),
            recent: Mutex::default(),
            since: Instant::now(),
        };
        new.register();
        new
    }
}

/// A request under way, until this is dropped: with its answer, or when its client has gone.
#[derive(Debug)]
pub struct Open(Gauge);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Counts a request as under way.
    pub fn open(&self) -> Open {
        self.open.inc();
        Open(self.open.clone())
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("requests", "Responses by route and status", self.requests.clone());
        registry.register("requests_open", "Requests under way", self.open.clone());
        let (answers, passes) = (self.answer_seconds.clone(), self.pass_seconds.clone());
        registry.register_with_unit("answer", "From a query to its answer", Unit::Seconds, answers);
        registry.register_with_unit("pass", "One pass over the table", Unit::Seconds, passes);
        registry.register("pass_selections", "Selections answered in one pass", self.pass_selections.clone());
        registry.register("panics", "Passes that failed", self.panics.clone());
        registry.register("table_replaced", "Versions of the table after the first", self.replaced.clone());
        registry.register("keys_missed", "Requests whose keys were not in the cache", self.missed.clone());
        let [sets, bytes] = self.cache.clone();
        registry.register("keys_cached", "Sets of evaluation keys in the cache", sets);
        registry.register_with_unit("keys_cache", "Evaluation keys in the cache", Unit::Bytes, bytes);
        registry.register("keys_evicted", "Sets of evaluation keys that had to make room", self.evicted.clone());
        registry.register("waiting_selections", "Selections that wait for a pass", self.waiting.clone());
        registry.register("table_revision", "Version of the table", self.revision.clone());
    }

    /// Notes an answer that took this long.
    pub fn answered(&self, took: Duration) {
        self.answer_seconds.observe(took.as_secs_f64());
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == REMEMBERED {
            recent.pop_front();
        }
        recent.push_back((Instant::now(), took.as_secs_f32() * 1e3));
    }

    /// The text that Prometheus reads.
    pub fn text(&self, levels: Levels) -> String {
        self.cache.iter().zip(levels.cache).for_each(|(gauge, level)| {
            gauge.set(level);
        });
        self.evicted.set(levels.evicted);
        self.waiting.set(levels.waiting);
        self.revision.set(levels.revision);
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string never fails");
        text
    }

    /// The last two minutes, the oldest second first; the present one is not among them.
    pub fn seconds(&self) -> Vec<Second> {
        let mut seconds: Vec<Vec<f32>> = vec![Vec::new(); SHOWN];
        let now = Instant::now();
        for (when, took) in self.recent.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let age = now.duration_since(*when).as_secs() as usize;
            if let Some(place) = SHOWN.checked_sub(age + 1) {
                seconds[place].push(*took);
            }
        }
        seconds.into_iter().map(Second::of).collect()
    }
}

impl Second {
    fn of(mut times: Vec<f32>) -> Self {
        times.sort_by(f32::total_cmp);
        let at = |part: f32| times.get((times.len() as f32 * part) as usize).or(times.last()).copied().unwrap_or(0.0);
        Self { answers: times.len(), p50: at(0.5), p99: at(0.99) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_the_text_and_in_their_second() {
        let metrics = Metrics::default();
        for ms in [1, 2, 40] {
            metrics.answered(Duration::from_millis(ms));
        }
        let last = *metrics.seconds().last().unwrap();
        assert_eq!((last.answers, last.p50.round(), last.p99.round()), (3, 2.0, 40.0));
        assert_eq!(metrics.seconds()[0], Second { answers: 0, p50: 0.0, p99: 0.0 });
        metrics.requests.get_or_create(&Request { route: "/ask".into(), status: 200 }).inc();
        let text = metrics.text(Levels { cache: [3, 4096], evicted: 1, waiting: 2, revision: 7 });
        for line in [
            "windlass_requests_total{route=\"/ask\",status=\"200\"} 1",
            "windlass_answer_seconds_count 3",
            "windlass_keys_cached 3",
            "windlass_keys_cache_bytes 4096",
            "windlass_table_revision 7",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}

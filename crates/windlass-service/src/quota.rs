//! How much each client may ask for: a bucket for each, and a bounded number of buckets.
//!
//! A bucket holds the portions of rows that its client may still ask for. A minute fills it. When
//! there is no room for another bucket, the fuller half of them is forgotten: they are the nearest
//! to what a new client has. No client gains by that: a client without a bucket, forgotten or new,
//! begins with the fill that the least full of the forgotten ones would have by now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Clients that are remembered: more than the longest file of tokens has lines.
const MOST_CLIENTS: usize = 1 << 16;
/// Seconds in which an empty bucket fills.
const MINUTE: f64 = 60.0;

/// How full a bucket was at some time, from 0 to 1.
#[derive(Debug, Clone, Copy)]
struct Fill {
    share: f64,
    at: Instant,
}

impl Fill {
    /// How full it is now.
    fn share(&self, now: Instant) -> f64 {
        (self.share + now.saturating_duration_since(self.at).as_secs_f64() / MINUTE).min(1.0)
    }
}

/// Portions that a client may still ask for.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    /// What a minute brings, and what it holds when it is full.
    most: f64,
    at: Instant,
}

impl Bucket {
    /// What it holds now, where a minute brings `most`.
    fn left(&self, most: f64, now: Instant) -> f64 {
        (self.left + now.saturating_duration_since(self.at).as_secs_f64() * most / MINUTE).min(most)
    }

    /// How full it is now.
    fn share(&self, now: Instant) -> f64 {
        self.left(self.most, now) / self.most
    }
}

#[derive(Debug, Default)]
struct Inside {
    buckets: HashMap<Arc<str>, Bucket>,
    /// The fill with which clients without a bucket begin; all of it if no client was forgotten.
    forgotten: Option<Fill>,
}

impl Inside {
    fn fresh(&self, now: Instant) -> f64 {
        self.forgotten.map_or(1.0, |fill| fill.share(now))
    }

    /// Forgets at least half of the buckets, the fullest. Cost: linear in their number, at most once
    /// in as many new clients as half of the room.
    fn forget(&mut self, now: Instant) {
        let mut shares: Vec<f64> = self.buckets.values().map(|bucket| bucket.share(now)).collect();
        if shares.is_empty() {
            return;
        }
        let middle = shares.len() / 2;
        let (_, &mut least, _) = shares.select_nth_unstable_by(middle, f64::total_cmp);
        self.buckets.retain(|_, bucket| bucket.share(now) < least);
        self.forgotten = Some(Fill { share: least.min(self.fresh(now)), at: now });
    }
}

/// A client has used up its quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsedUp {
    /// Portions that it may ask for now.
    pub left: usize,
    /// Seconds after which there are as many as it wanted.
    pub seconds: u64,
}

/// The buckets of all clients.
#[derive(Debug)]
pub(crate) struct Quotas {
    room: usize,
    inside: Mutex<Inside>,
}

impl Default for Quotas {
    fn default() -> Self {
        Self::with_room(MOST_CLIENTS)
    }
}

impl Quotas {
    /// Room for the buckets of so many clients.
    fn with_room(room: usize) -> Self {
        Self { room, inside: Mutex::default() }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts portions that a client asks for, who may ask for `most` in a minute, and for no fewer
    /// than it wants here.
    ///
    /// # Errors
    /// [`UsedUp`]; then nothing is counted.
    pub fn take(&self, client: &Arc<str>, most: u32, wanted: usize, now: Instant) -> Result<(), UsedUp> {
        let (most, wanted) = (f64::from(most), wanted as f64);
        let mut inside = self.inside();
        if inside.buckets.len() >= self.room && !inside.buckets.contains_key(client) {
            inside.forget(now);
        }
        let fresh = inside.fresh(now) * most;
        let bucket = inside.buckets.entry(Arc::clone(client)).or_insert(Bucket { left: fresh, most, at: now });
        *bucket = Bucket { left: bucket.left(most, now), most, at: now };
        if bucket.left < wanted {
            let seconds = ((wanted - bucket.left) * MINUTE / most).ceil() as u64;
            return Err(UsedUp { left: bucket.left as usize, seconds: seconds.max(1) });
        }
        bucket.left -= wanted;
        Ok(())
    }

    /// Gives back portions that were counted and not answered.
    pub fn give_back(&self, client: &Arc<str>, portions: usize) {
        if let Some(bucket) = self.inside().buckets.get_mut(client) {
            bucket.left = (bucket.left + portions as f64).min(bucket.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn name(number: usize) -> Arc<str> {
        format!("address {number}").into()
    }

    fn remembered(quotas: &Quotas) -> usize {
        quotas.inside().buckets.len()
    }

    #[test]
    fn ten_thousand_strangers_at_once_take_no_more_memory_than_there_is() {
        let (quotas, now) = (Quotas::with_room(4096), Instant::now());
        let heavy: Arc<str> = "heavy".into();
        quotas.take(&heavy, 60, 60, now).unwrap();
        for number in 0..10_000 {
            quotas.take(&name(number), 60, 1, now).unwrap();
            assert!(remembered(&quotas) <= 4096);
        }
        assert_eq!(quotas.take(&heavy, 60, 1, now), Err(UsedUp { left: 0, seconds: 1 }), "who used much is remembered");
    }

    #[test]
    fn who_was_forgotten_gets_no_second_quota() {
        let (quotas, begun) = (Quotas::with_room(1000), Instant::now());
        // More clients than there is room for, each of which takes what it gets, twice.
        let mut taken = vec![0; 10_000];
        for _ in 0..2 {
            for (number, taken) in taken.iter_mut().enumerate() {
                *taken += (0..7).take_while(|_| quotas.take(&name(number), 60, 10, begun).is_ok()).count() * 10;
            }
        }
        assert!(taken.iter().all(|&taken| taken <= 60), "{:?}", taken.iter().max());
        assert_eq!(taken[0], 60);
        // After a minute all have all of it again, remembered or not.
        let later = begun + Duration::from_secs(60);
        for number in [0, 5000, 9999, 20_000] {
            assert!(quotas.take(&name(number), 60, 60, later).is_ok(), "{number}");
        }
    }

    #[test]
    fn forgetting_happens_once_in_many_strangers() {
        let (quotas, now) = (Quotas::with_room(1000), Instant::now());
        (0..1000).for_each(|number| quotas.take(&name(number), 60, number % 50, now).unwrap());
        quotas.take(&name(1000), 60, 1, now).unwrap();
        assert!((400..=501).contains(&remembered(&quotas)), "{}", remembered(&quotas));
        for full in [0, 50, 100] {
            assert!(!quotas.inside().buckets.contains_key(&name(full)), "{full}");
        }
        for empty in [49, 99, 999] {
            assert!(quotas.inside().buckets.contains_key(&name(empty)), "{empty}");
        }
    }

    #[test]
    fn a_changed_quota_counts_from_now_on() {
        let (quotas, now, ada) = (Quotas::default(), Instant::now(), name(1));
        quotas.take(&ada, 60, 10, now).unwrap();
        assert!(quotas.take(&ada, 20, 20, now).is_ok(), "no more than a minute brings is left");
        assert_eq!(quotas.take(&ada, 20, 1, now), Err(UsedUp { left: 0, seconds: 3 }));
        quotas.give_back(&ada, 100);
        assert!(quotas.take(&ada, 20, 20, now).is_ok() && quotas.take(&ada, 20, 1, now).is_err());
        quotas.give_back(&name(2), 5);
        assert_eq!(remembered(&quotas), 1);
    }
}

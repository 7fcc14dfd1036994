//! The cache of converted constants that a server keeps between calls.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of bytes that the constants of one circuit may occupy for levels other than
/// the most recently used one. CKKS needs separate constants for each level, so a loop of s steps
/// would otherwise need s times the memory of one step.
const OTHER_LEVELS: usize = 256 << 20;

/// The cache, behind a lock. All but one line of it is the same for every type of constants, so
/// programs do not compile it again.
#[derive(Default)]
pub(super) struct Kept(Mutex<List>);

/// Constants, by the number of their circuit and their level.
#[derive(Default)]
struct List {
    list: HashMap<(u64, usize), Constants>,
    /// Number of accesses so far; it orders them by time.
    clock: u64,
}

/// Constants of any circuit.
pub(super) type Prepared = Arc<dyn Any + Send + Sync>;

struct Constants {
    prepared: Prepared,
    /// Bytes of process memory; 0 for constants in mapped files, which are always kept.
    bytes: usize,
    /// The clock at their last use.
    used: u64,
}

impl Kept {
    /// The constants kept for a place.
    pub fn get<P: Send + Sync + 'static>(&self, place: (u64, usize)) -> Option<Arc<P>> {
        self.get_any(place)?.downcast().ok()
    }

    fn get_any(&self, place: (u64, usize)) -> Option<Prepared> {
        self.lock().get(place)
    }

    /// Keeps constants and replaces earlier ones of the same place. Then drops constants of this
    /// circuit for other levels, least recently used first, until they fit into `OTHER_LEVELS`.
    pub fn keep(&self, place: (u64, usize), prepared: Prepared, bytes: usize) {
        self.lock().keep(place, prepared, bytes);
    }

    /// Drops all constants.
    pub fn clear(&self) {
        self.lock().list.clear();
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn get(&mut self, place: (u64, usize)) -> Option<Prepared> {
        self.clock += 1;
        let own = self.list.get_mut(&place)?;
        own.used = self.clock;
        Some(Arc::clone(&own.prepared))
    }

    fn keep(&mut self, place: (u64, usize), prepared: Prepared, bytes: usize) {
        self.clock += 1;
        self.list.insert(place, Constants { prepared, bytes, used: self.clock });
        let others = |(own, kept): &(&(u64, usize), &Constants)| own.0 == place.0 && **own != place && kept.bytes > 0;
        let mut others: Vec<(u64, usize, (u64, usize))> =
            self.list.iter().filter(others).map(|(own, kept)| (kept.used, kept.bytes, *own)).collect();
        others.sort_unstable();
        let mut bytes: usize = others.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, own, place) in others {
            if bytes <= OTHER_LEVELS {
                break;
            }
            self.list.remove(&place);
            bytes -= own;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_were_not_used_for_longest_are_let_go() {
        let (kept, third) = (Kept::default(), OTHER_LEVELS / 3);
        let made = |level: usize| Arc::new(level);
        for level in 1..=4 {
            kept.keep((7, level), made(level), third);
        }
        kept.keep((8, 1), made(1), 10 * OTHER_LEVELS);
        // Three others fit beside the last; the first is used once more, so the second goes.
        assert_eq!(kept.get::<usize>((7, 1)).as_deref(), Some(&1));
        kept.keep((7, 5), made(5), third);
        let levels = [1, 2, 3, 4, 5].map(|level| kept.get::<usize>((7, level)).is_some());
        assert_eq!(levels, [true, false, true, true, true]);
        assert!(kept.get::<usize>((8, 1)).is_some());
    }

    #[test]
    fn constants_in_files_stay() {
        let kept = Kept::default();
        for level in 1..=4 {
            kept.keep((7, level), Arc::new(level), 0);
        }
        kept.keep((7, 9), Arc::new(9usize), 10 * OTHER_LEVELS);
        kept.keep((7, 10), Arc::new(10usize), 10 * OTHER_LEVELS);
        assert!((1..=4).all(|level| kept.get::<usize>((7, level)).is_some()));
        assert!(kept.get::<usize>((7, 9)).is_none() && kept.get::<usize>((7, 10)).is_some());
        kept.clear();
        assert!(kept.get::<usize>((7, 10)).is_none());
    }
}

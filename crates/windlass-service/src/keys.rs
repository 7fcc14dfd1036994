//! The cache of evaluation keys: bounded in bytes, the longest unused go first.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass::rlwe::EvaluationKeys;

/// The SHA-256 of a file of evaluation keys.
pub type KeyName = [u8; 32];

/// The name that is written as 64 hexadecimal digits.
pub fn parse_name(text: &str) -> Option<KeyName> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16);
    let mut name = [0; 32];
    for (byte, pair) in name.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = (value(pair[0])? << 4 | value(pair[1])?) as u8;
    }
    Some(name)
}

/// What is in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Sets of keys.
    pub sets: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes there is room for.
    pub room: u64,
    /// Sets that had to go so far.
    pub evicted: u64,
}

#[derive(Debug)]
struct Entry {
    keys: Arc<EvaluationKeys>,
    bytes: u64,
    used: u64,
}

#[derive(Debug, Default)]
struct Inside {
    entries: HashMap<KeyName, Entry>,
    /// Names by when they were last used.
    order: BTreeMap<u64, KeyName>,
    bytes: u64,
    clock: u64,
    evicted: u64,
}

impl Inside {
    fn touch(&mut self, name: &KeyName) -> Option<Arc<EvaluationKeys>> {
        self.clock += 1;
        let entry = self.entries.get_mut(name)?;
        self.order.remove(&entry.used);
        entry.used = self.clock;
        self.order.insert(self.clock, *name);
        Some(Arc::clone(&entry.keys))
    }

    fn remove(&mut self, name: &KeyName) {
        if let Some(entry) = self.entries.remove(name) {
            self.order.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

/// Evaluation keys by name. Those that a request holds stay in memory until it is answered, even if
/// they leave the cache.
#[derive(Debug)]
pub struct KeyCache {
    room: u64,
    inside: Mutex<Inside>,
}

impl KeyCache {
    /// An empty cache of `room` bytes.
    pub fn new(room: u64) -> Self {
        Self { room, inside: Mutex::default() }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        // Nothing in here panics half way.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys of that name, if they are there; they count as used.
    pub fn get(&self, name: &KeyName) -> Option<Arc<EvaluationKeys>> {
        self.inside().touch(name)
    }

    /// Puts keys in, and takes out those that were not used for longest until they fit. False when
    /// they are larger than the cache.
    pub fn insert(&self, name: KeyName, keys: EvaluationKeys) -> bool {
        let bytes = keys.bytes() as u64;
        if bytes > self.room {
            return false;
        }
        let mut inside = self.inside();
        if inside.touch(&name).is_some() {
            return true;
        }
        while inside.bytes + bytes > self.room {
            let Some((_, oldest)) = inside.order.first_key_value() else { break };
            let oldest = *oldest;
            inside.remove(&oldest);
            inside.evicted += 1;
        }
        let used = inside.clock;
        inside.bytes += bytes;
        inside.order.insert(used, name);
        inside.entries.insert(name, Entry { keys: Arc::new(keys), bytes, used });
        true
    }

    /// Takes out keys of other moduli than those of `context`: no table asks for them any more.
    pub fn keep_only(&self, context: &Arc<windlass::rlwe::Context>) {
        let mut inside = self.inside();
        let others = inside.entries.iter().filter(|(_, entry)| !Arc::ptr_eq(entry.keys.context(), context));
        let others: Vec<KeyName> = others.map(|(name, _)| *name).collect();
        others.iter().for_each(|name| inside.remove(name));
    }

    /// How full it is.
    pub fn fill(&self) -> Fill {
        let inside = self.inside();
        Fill { sets: inside.entries.len(), bytes: inside.bytes, room: self.room, evicted: inside.evicted }
    }
}

#[cfg(test)]
mod tests {
    use windlass_retrieval::{Moduli, Setting};

    use super::*;

    #[test]
    fn names_are_64_digits() {
        assert_eq!(parse_name(&"0f".repeat(32)), Some([15; 32]));
        for bad in ["", "0f", &"0f".repeat(33), &"zz".repeat(32), &"0g".repeat(32), &"é".repeat(32)] {
            assert_eq!(parse_name(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_longest_unused_go_first_and_those_in_use_live_on() {
        let setting = Setting::new(Moduli::Compact).unwrap();
        let mut rng = windlass::rlwe::context::os_rng().unwrap();
        let secret = windlass::rlwe::SecretKey::generate(setting.context(), &mut rng);
        let mut make = || {
            let mut keys = EvaluationKeys::of(&secret);
            keys.add_relinearisation(&secret, 2, &mut rng).unwrap();
            keys
        };
        let size = make().bytes() as u64;
        let cache = KeyCache::new(2 * size + 1);
        assert!(cache.insert([1; 32], make()) && cache.insert([2; 32], make()) && cache.insert([2; 32], make()));
        assert_eq!(cache.fill(), Fill { sets: 2, bytes: 2 * size, room: 2 * size + 1, evicted: 0 });
        let held = cache.get(&[1; 32]).unwrap();
        assert!(cache.insert([3; 32], make()));
        assert!(cache.get(&[2; 32]).is_none(), "it was not used for longest");
        assert!(cache.get(&[1; 32]).is_some());
        assert!(cache.insert([4; 32], make()) && cache.insert([5; 32], make()));
        assert!(cache.get(&[1; 32]).is_none() && held.relinearisation().is_some());
        assert_eq!(cache.fill(), Fill { sets: 2, bytes: 2 * size, room: 2 * size + 1, evicted: 3 });
        assert!(!KeyCache::new(size - 1).insert([1; 32], make()));
        let other = Setting::new(Moduli::Wide).unwrap();
        cache.keep_only(setting.context());
        assert_eq!(cache.fill().sets, 2);
        cache.keep_only(other.context());
        assert_eq!((cache.fill().sets, cache.fill().bytes), (0, 0));
    }
}

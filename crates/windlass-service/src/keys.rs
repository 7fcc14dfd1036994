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
    owner: Arc<str>,
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

    /// Bytes of the keys of one client.
    fn bytes_of(&self, owner: &str) -> u64 {
        self.entries.values().filter(|entry| *entry.owner == *owner).map(|entry| entry.bytes).sum()
    }

    /// The longest unused keys of one client.
    fn oldest_of(&self, owner: &str) -> Option<KeyName> {
        let own = |name: &&KeyName| self.entries.get(*name).is_some_and(|entry| *entry.owner == *owner);
        self.order.values().find(own).copied()
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
    /// Bytes that the keys of one client may take.
    share: u64,
    inside: Mutex<Inside>,
}

impl KeyCache {
    /// An empty cache of `room` bytes, of which one client may have `share`.
    pub fn new(room: u64, share: Option<u64>) -> Self {
        Self { room, share: share.unwrap_or(room).min(room), inside: Mutex::default() }
    }

    /// Bytes that the keys of one client may take.
    pub fn share(&self) -> u64 {
        self.share
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        // Nothing in here panics half way.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys of that name, if they are there; they count as used.
    pub fn get(&self, name: &KeyName) -> Option<Arc<EvaluationKeys>> {
        self.inside().touch(name)
    }

    /// Puts keys of a client in, and takes out those that were not used for longest until they fit:
    /// the client's own while it has its share, then those of all. False when they are larger than
    /// a client's share.
    pub fn insert(&self, name: KeyName, keys: EvaluationKeys, owner: &Arc<str>) -> bool {
        let bytes = keys.bytes() as u64;
        if bytes > self.share {
            return false;
        }
        let mut inside = self.inside();
        if inside.touch(&name).is_some() {
            return true;
        }
        while inside.bytes_of(owner) + bytes > self.share {
            let Some(oldest) = inside.oldest_of(owner) else { break };
            inside.remove(&oldest);
            inside.evicted += 1;
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
        inside.entries.insert(name, Entry { keys: Arc::new(keys), owner: Arc::clone(owner), bytes, used });
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

    /// A maker of sets of keys, and the bytes of each.
    fn maker(setting: &Setting) -> (impl FnMut() -> EvaluationKeys, u64) {
        let mut rng = windlass::rlwe::context::os_rng().unwrap();
        let secret = windlass::rlwe::SecretKey::generate(setting.context(), &mut rng);
        let mut make = move || {
            let mut keys = EvaluationKeys::of(&secret);
            keys.add_relinearisation(&secret, 2, &mut rng).unwrap();
            keys
        };
        let size = make().bytes() as u64;
        (make, size)
    }

    #[test]
    fn the_longest_unused_go_first_and_those_in_use_live_on() {
        let setting = Setting::new(Moduli::Compact).unwrap();
        let (mut make, size) = maker(&setting);
        let cache = KeyCache::new(2 * size + 1, None);
        let mut insert = |name: u8| cache.insert([name; 32], make(), &"one".into());
        assert!(insert(1) && insert(2) && insert(2));
        assert_eq!(cache.fill(), Fill { sets: 2, bytes: 2 * size, room: 2 * size + 1, evicted: 0 });
        let held = cache.get(&[1; 32]).unwrap();
        assert!(insert(3));
        assert!(cache.get(&[2; 32]).is_none(), "it was not used for longest");
        assert!(cache.get(&[1; 32]).is_some());
        assert!(insert(4) && insert(5));
        assert!(cache.get(&[1; 32]).is_none() && held.relinearisation().is_some());
        assert_eq!(cache.fill(), Fill { sets: 2, bytes: 2 * size, room: 2 * size + 1, evicted: 3 });
        assert!(!KeyCache::new(size - 1, None).insert([1; 32], make(), &"one".into()));
        let other = Setting::new(Moduli::Wide).unwrap();
        cache.keep_only(setting.context());
        assert_eq!(cache.fill().sets, 2);
        cache.keep_only(other.context());
        assert_eq!((cache.fill().sets, cache.fill().bytes), (0, 0));
    }

    #[test]
    fn a_client_with_its_share_drives_out_its_own_keys_alone() {
        let setting = Setting::new(Moduli::Compact).unwrap();
        let (mut make, size) = maker(&setting);
        let cache = KeyCache::new(4 * size, Some(2 * size));
        let mut insert = |name: u8, owner: &str| cache.insert([name; 32], make(), &owner.into());
        assert!(insert(1, "one") && insert(2, "two") && insert(3, "two") && insert(4, "two") && insert(5, "two"));
        assert_eq!([1, 2, 3, 4, 5].map(|name| cache.get(&[name; 32]).is_some()), [true, false, false, true, true]);
        assert!(insert(6, "three") && insert(7, "three"));
        assert_eq!(cache.fill().sets, 4, "all of them together have the room of the cache");
        assert!(!KeyCache::new(4 * size, Some(size - 1)).insert([1; 32], make(), &"one".into()));
    }
}

//! A registry that shares one value among equal keys, as long as the value is in use.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Values in use, by key. Equal keys give the same `Arc`. A value that is no longer used is
/// dropped.
#[derive(Debug)]
pub struct Registry<K, V>(Mutex<Option<HashMap<K, Weak<V>>>>);

impl<K, V> Default for Registry<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Registry<K, V> {
    /// With nothing in it.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: Eq + Hash, V> Registry<K, V> {
    /// The value of this key; `build` makes it if it is not in use yet. Threads that ask for one key
    /// at the same time get one value, even if several of them built it. No thread waits for another to
    /// build.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn get_or_build<E>(&self, key: K, build: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        if let Some(value) = self.lock().as_ref().and_then(|values| values.get(&key)?.upgrade()) {
            return Ok(value);
        }
        let built = Arc::new(build()?);
        let mut values = self.lock();
        let values = values.get_or_insert_default();
        if let Some(value) = values.get(&key).and_then(Weak::upgrade) {
            return Ok(value);
        }
        values.retain(|_, value| value.strong_count() > 0);
        values.insert(key, Arc::downgrade(&built));
        Ok(built)
    }

    fn lock(&self) -> MutexGuard<'_, Option<HashMap<K, Weak<V>>>> {
        // Nothing panics while the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

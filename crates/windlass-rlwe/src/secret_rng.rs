//! The random generator for secrets.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use rand_core::{OsRng, RngCore, TryRngCore};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::RlweError;

/// Bytes of a key.
const KEY: usize = 32;

/// Bytes that one key gives: the next key, then what is handed out.
const BLOCK: usize = 2048;

/// ChaCha20 that forgets: its memory reveals nothing about its earlier outputs.
///
/// Each key is used for one block of key stream. The first 32 bytes of the block replace the key at
/// once, the rest is handed out, and bytes that are handed out are wiped here. What is left is
/// wiped when the generator is dropped. Its state lies on the heap, so that moving it leaves no
/// copy behind.
///
/// Cost: that of ChaCha20, and a key set-up for each 2 KiB. Source: Bernstein, "Fast-key-erasure
/// random-number generators" (2017).
pub struct SecretRng(Box<State>);

#[derive(Zeroize, ZeroizeOnDrop)]
struct State {
    key: [u8; KEY],
    block: [u8; BLOCK],
    /// Bytes of the block that are used up.
    used: usize,
}

impl std::fmt::Debug for SecretRng {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretRng").finish_non_exhaustive()
    }
}

impl SecretRng {
    /// A generator seeded by the operating system.
    ///
    /// # Errors
    /// [`RlweError::NoEntropy`] if the operating system gives no randomness.
    pub fn from_os() -> Result<Self, RlweError> {
        let mut fresh = Self::empty();
        OsRng.try_fill_bytes(&mut fresh.0.key).map_err(|_| RlweError::NoEntropy)?;
        Ok(fresh)
    }

    /// A generator seeded by 32 bytes of another.
    pub fn fork(rng: &mut impl RngCore) -> Self {
        let mut fresh = Self::empty();
        rng.fill_bytes(&mut fresh.0.key);
        fresh
    }

    /// A generator seeded by 32 secret bytes: the same bytes give the same numbers.
    pub(crate) fn from_seed(seed: &[u8; KEY]) -> Self {
        let mut fresh = Self::empty();
        fresh.0.key = *seed;
        fresh
    }

    /// No key yet, and a block that is used up.
    fn empty() -> Self {
        Self(Box::new(State { key: [0; KEY], block: [0; BLOCK], used: BLOCK }))
    }
}

impl State {
    /// A new block and a new key, both from the key.
    fn refill(&mut self) {
        let mut cipher = ChaCha20::new(&self.key.into(), &[0; 12].into());
        self.block.zeroize();
        cipher.apply_keystream(&mut self.block);
        let (next, _) = self.block.split_at_mut(KEY);
        self.key.copy_from_slice(next);
        next.zeroize();
        self.used = KEY;
    }

    /// Moves the next bytes of the stream to `out`.
    fn hand_out(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.used == BLOCK {
                self.refill();
            }
            let count = out.len().min(BLOCK - self.used);
            let (now, later) = out.split_at_mut(count);
            let given = &mut self.block[self.used..][..count];
            now.copy_from_slice(given);
            given.zeroize();
            self.used += count;
            out = later;
        }
    }
}

impl RngCore for SecretRng {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.0.hand_out(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.hand_out(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.hand_out(out);
    }
}

impl rand_core::CryptoRng for SecretRng {}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    fn seeded() -> SecretRng {
        SecretRng::fork(&mut ChaCha20Rng::from_seed([5; 32]))
    }

    /// Against another implementation of ChaCha20: each block is the stream of its key, which the
    /// block before begins with.
    #[test]
    fn the_stream_is_that_of_chacha20_under_changing_keys() {
        let mut key = [0; KEY];
        ChaCha20Rng::from_seed([5; 32]).fill_bytes(&mut key);
        let mut wanted = Vec::new();
        for _ in 0..3 {
            let mut block = [0; BLOCK];
            ChaCha20Rng::from_seed(key).fill_bytes(&mut block);
            key.copy_from_slice(&block[..KEY]);
            wanted.extend_from_slice(&block[KEY..]);
        }
        let (mut rng, mut got) = (seeded(), vec![0; wanted.len()]);
        let (start, rest) = got.split_at_mut(12);
        start[..8].copy_from_slice(&rng.next_u64().to_le_bytes());
        start[8..].copy_from_slice(&rng.next_u32().to_le_bytes());
        rng.fill_bytes(rest);
        assert!(got == wanted);
    }

    #[test]
    fn nothing_that_was_given_can_be_made_again() {
        let mut rng = seeded();
        let first = rng.0.key;
        let mut out = [0; 3000];
        rng.fill_bytes(&mut out);
        let State { key, block, used } = &*rng.0;
        assert!(*key != first && !out.windows(KEY).any(|window| window == key));
        assert!(block[..*used].iter().all(|&byte| byte == 0), "what was handed out is wiped");
        assert!(block[*used..].iter().any(|&byte| byte != 0));
    }

    #[test]
    fn a_dropped_generator_is_wiped() {
        const fn wiped_on_drop<T: ZeroizeOnDrop>() {}
        const { wiped_on_drop::<State>() };
        let mut rng = seeded();
        rng.next_u32();
        rng.0.zeroize();
        assert!(rng.0.key == [0; KEY] && rng.0.block == [0; BLOCK]);
    }

    #[test]
    fn the_system_seeds_each_generator_anew() {
        let [mut a, mut b] = [(); 2].map(|()| SecretRng::from_os().unwrap());
        assert!(a.0.key != [0; KEY] && a.next_u64() != b.next_u64());
    }
}

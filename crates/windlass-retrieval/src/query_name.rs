//! The content of a query, and the name that an answer returns.
//!
//! A query has a name: 16 random bytes, and 16 bytes of their HMAC-SHA-256 together with the
//! content of the query, under a key that follows from the client's secret. The server copies the
//! name into the answer. So a client can check that an answer belongs to its query without storing
//! the query. The server learns nothing: two names of one query have nothing in common.

use hmac::{Hmac, Mac};
use rand_core::RngCore;
use sha2::{Digest, Sha256};
use windlass_rlwe::keys::SecretKey;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::error::{Error, Result};

/// The wanted rows, by key or by number: the client's secret. Its debug output shows only how many
/// rows are wanted, and its memory is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq, ZeroizeOnDrop)]
pub enum Wanted {
    /// Rows by key; where keys are hidden, by F of it ([`crate::HiddenKeys::wanted`]).
    Keys(Vec<Vec<u8>>),
    /// Rows by number, from 0.
    Rows(Vec<usize>),
}

impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = match self {
            Self::Keys(_) => "Keys",
            Self::Rows(_) => "Rows",
        };
        f.debug_struct(by).field("count", &self.count()).finish_non_exhaustive()
    }
}

/// What a query asks for, in the clear: what its name is computed from.
pub(crate) trait QueryContent {
    /// Writes all of it. No two contents are written alike.
    fn write(&self, code: &mut Hmac<Sha256>);
}

impl QueryContent for Wanted {
    fn write(&self, code: &mut Hmac<Sha256>) {
        match self {
            Self::Keys(keys) => {
                code.update(b"k");
                for key in keys {
                    code.update(&(key.len() as u64).to_le_bytes());
                    code.update(key);
                }
            }
            Self::Rows(rows) => {
                code.update(b"r");
                rows.iter().for_each(|&row| code.update(&(row as u64).to_le_bytes()));
            }
        }
    }
}

impl Wanted {
    /// How many rows.
    pub fn count(&self) -> usize {
        match self {
            Self::Keys(keys) => keys.len(),
            Self::Rows(rows) => rows.len(),
        }
    }
}

/// Random bytes of a name; as many follow of their code.
const NONCE: usize = 16;

/// A key for one purpose, which follows from the coefficients of a secret key.
pub(crate) fn derived_key(secret: &SecretKey, purpose: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(purpose);
    for coefficient in secret.expose_coefficients() {
        hash.update(coefficient.to_le_bytes());
    }
    let mut key = Zeroizing::new([0; 32]);
    hash.finalize_into_reset((&mut *key).into());
    // What is left of the coefficients in its buffer of 64 bytes.
    hash.update([0; 63]);
    std::hint::black_box(&hash);
    key
}

/// The name of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct QueryName(pub [u8; 2 * NONCE]);

/// The key under which a client names its queries.
pub(crate) struct Namer(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for Namer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Namer").finish_non_exhaustive()
    }
}

impl Namer {
    /// The one of a secret key.
    pub fn of(secret: &SecretKey) -> Self {
        Self(derived_key(secret, b"windlass question names 1\n"))
    }

    fn code(&self, table: &[u8; 32], content: &impl QueryContent, nonce: &[u8]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&*self.0).expect("HMAC takes keys of any length");
        code.update(table);
        code.update(nonce);
        content.write(&mut code);
        code
    }

    /// A fresh name for a query to the table of this schema.
    pub fn name(&self, table: &[u8; 32], content: &impl QueryContent, rng: &mut impl RngCore) -> QueryName {
        let mut name = QueryName::default();
        let (nonce, code) = name.0.split_at_mut(NONCE);
        rng.fill_bytes(nonce);
        code.copy_from_slice(&self.code(table, content, nonce).finalize().into_bytes()[..NONCE]);
        name
    }

    /// Refuses an answer to another query.
    ///
    /// # Errors
    /// [`Error::OtherQuery`].
    pub fn check(&self, table: &[u8; 32], content: &impl QueryContent, name: &QueryName) -> Result<()> {
        let (nonce, code) = name.0.split_at(NONCE);
        self.code(table, content, nonce).verify_truncated_left(code).map_err(|_| Error::OtherQuery)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::setting::{Moduli, Setting};

    #[test]
    fn wanted_rows_are_not_printed() {
        let keys = Wanted::Keys(vec![b"ada".to_vec(), vec![222, 173]]);
        assert_eq!(format!("{keys:?} {:?}", Wanted::Rows(vec![4321])), "Keys { count: 2, .. } Rows { count: 1, .. }");
    }

    #[test]
    fn a_name_is_that_of_its_query_alone() {
        let mut rng = ChaCha20Rng::from_seed([8; 32]);
        let setting = Setting::new(Moduli::Compact).unwrap();
        let [ours, theirs] = [0, 1].map(|_| Namer::of(&SecretKey::generate(setting.context(), &mut rng)));
        let keys = |keys: &[&str]| Wanted::Keys(keys.iter().map(|key| key.as_bytes().to_vec()).collect());
        let contents = [
            keys(&["ab", "c"]),
            keys(&["a", "bc"]),
            keys(&["abc"]),
            Wanted::Rows(vec![1, 2]),
            Wanted::Rows(vec![2, 1]),
        ];
        for wanted in &contents {
            let name = ours.name(&[1; 32], wanted, &mut rng);
            assert_ne!(name, ours.name(&[1; 32], wanted, &mut rng), "names are fresh");
            assert_eq!(ours.check(&[1; 32], wanted, &name), Ok(()));
            for other in contents.iter().filter(|other| *other != wanted) {
                assert_eq!(ours.check(&[1; 32], other, &name), Err(Error::OtherQuery));
            }
            assert_eq!(ours.check(&[2; 32], wanted, &name), Err(Error::OtherQuery));
            assert_eq!(theirs.check(&[1; 32], wanted, &name), Err(Error::OtherQuery));
            let mut altered = name;
            altered.0[31] ^= 1;
            assert_eq!(ours.check(&[1; 32], wanted, &altered), Err(Error::OtherQuery));
        }
    }
}

//! Hiding keys through files: the exchange before a query, without a connection.
//!
//! A client of a table with hidden keys needs F of its keys before it asks ([`crate::OprfKey`]). Over
//! a connection it holds the blinds r until the server has replied ([`crate::Blinding`]). Through
//! files, hours and restarts lie between request and reply. So that no file of blinds has to be kept
//! secret meanwhile, the blinds follow from the secret key of the client. With K a key that follows
//! from the secret key, h the hash of the schema and x_0, x_1, ... the keys:
//!
//! ```text
//! request   name = nonce ‖ code of (h, nonce, x_0, x_1, ...) under the secret key, nonce random
//!           r_i  = HMAC-SHA-512(K, h ‖ name ‖ i ‖ x_i) modulo the order of the group
//!           B_i  = r_i·HashToGroup(x_i)
//! reply     the same name, E_i = k·B_i
//! client    checks the name, computes r_i again, N_i = r_i^{−1}·E_i, F(x_i) as in RFC 9497
//! ```
//!
//! The name is fresh, so the blinds are: two requests for the same keys have nothing in common. To
//! everyone without the secret key the points are pseudorandom.
//!
//! A reply serves any number of queries for its keys, and is needed again to read their answers.
//!
//! **Warning.** A client cannot check that the server used the key of the table. With another key it
//! finds no rows, and no error is returned.

use hmac::{Hmac, Mac};
use sha2::{Sha256, Sha512};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{KeyId, check_same_keys};
use zeroize::Zeroizing;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::hidden::HiddenKeys;
use crate::oprf::{Blinding, OprfKey};
use crate::query_name::{QueryContent, QueryName, derived_key};
use crate::table::Table;

/// Blinded keys of a client: what a server needs to help with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlindRequest {
    pub(crate) key: KeyId,
    /// The hash of the table's schema.
    pub(crate) table: [u8; 32],
    pub(crate) name: QueryName,
    /// 32 bytes for each key.
    pub(crate) points: Vec<u8>,
}

impl BlindRequest {
    /// The points, 32 bytes for each key.
    pub fn points(&self) -> &[u8] {
        &self.points
    }
}

/// What a server computed from a [`BlindRequest`]: of use to its client alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlindReply {
    pub(crate) key: KeyId,
    /// The hash of the table's schema.
    pub(crate) table: [u8; 32],
    /// That of the request.
    pub(crate) name: QueryName,
    /// 32 bytes for each key.
    pub(crate) points: Vec<u8>,
}

impl BlindReply {
    /// The points, 32 bytes for each key.
    pub fn points(&self) -> &[u8] {
        &self.points
    }
}

/// The keys of a request, in their order.
struct BlindKeys<'k>(&'k [Vec<u8>]);

impl QueryContent for BlindKeys<'_> {
    fn write(&self, code: &mut Hmac<Sha256>) {
        code.update(b"b");
        for key in self.0 {
            code.update(&(key.len() as u64).to_le_bytes());
            code.update(key);
        }
    }
}

fn owned<K: AsRef<[u8]>>(keys: &[K]) -> Zeroizing<Vec<Vec<u8>>> {
    Zeroizing::new(keys.iter().map(|key| key.as_ref().to_vec()).collect())
}

impl Client {
    /// Hides keys of rows: what the server needs before a query for them.
    ///
    /// Cost: a hash and a multiplication on the curve for each key.
    ///
    /// # Errors
    /// [`Error::PlainKeys`] if the table does not hide its keys; [`Error::OutOfRange`] for no key, or
    /// more than a query may ask for; [`Error::LongKey`]; [`Error::Rlwe`] without randomness.
    pub fn blind<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<BlindRequest> {
        let (table, keys) = (self.hidden_table()?, owned(keys));
        self.schema().check_count(keys.len())?;
        let name = self.namer().name(&table, &BlindKeys(&keys), &mut os_rng()?);
        let points = self.blinding(&table, &name, &keys)?.points().to_vec();
        Ok(BlindRequest { key: self.secret().key_id(), table, name, points })
    }

    /// The hidden keys, from the reply to the request for the same keys in the same order.
    ///
    /// Cost: two multiplications on the curve for each key.
    ///
    /// # Errors
    /// [`Error::OtherBlindKeys`] for the reply to a request for other keys; [`Error::OtherKeyPair`],
    /// [`Error::OtherTable`]; [`Error::BadPoints`]; [`Error::PlainKeys`] as for [`Self::blind`].
    pub fn unblind<K: AsRef<[u8]>>(&self, reply: &BlindReply, keys: &[K]) -> Result<HiddenKeys<'_>> {
        let (table, keys) = (self.hidden_table()?, owned(keys));
        check_same_keys("read a blind reply", self.secret().key_id(), reply.key)?;
        if reply.table != table {
            return Err(Error::OtherTable { what: "the blind reply" });
        }
        let named = self.namer().check(&table, &BlindKeys(&keys), &reply.name);
        named.map_err(|_| Error::OtherBlindKeys)?;
        let outputs = self.blinding(&table, &reply.name, &keys)?.finish(&reply.points)?;
        HiddenKeys::new(self.schema(), outputs)
    }

    /// The hash of the schema of a table that hides its keys.
    fn hidden_table(&self) -> Result<[u8; 32]> {
        match self.schema().oprf {
            Some(_) => Ok(self.schema().hash()),
            None => Err(Error::PlainKeys),
        }
    }

    /// The keys under the blinds of a request with this name.
    fn blinding(&self, table: &[u8; 32], name: &QueryName, keys: &[Vec<u8>]) -> Result<Blinding> {
        let secret = derived_key(self.secret(), b"windlass blinds of keys 1\n");
        Blinding::derived(keys, |number| {
            let mut code = Hmac::<Sha512>::new_from_slice(&*secret).expect("HMAC takes keys of any length");
            for part in [&table[..], &name.0, &(number as u64).to_le_bytes(), &keys[number]] {
                code.update(part);
            }
            Zeroizing::new(code.finalize().into_bytes().into())
        })
    }
}

impl Table {
    /// Helps a client to hide keys: its points times the key of this table.
    ///
    /// The server does not learn the keys.
    ///
    /// **Warning.** With each point a client can test one guess of a key.
    ///
    /// Cost: a multiplication on the curve for each point.
    ///
    /// # Errors
    /// [`Error::PlainKeys`], [`Error::OtherOprfKey`] if this key does not hide the keys of the table;
    /// [`Error::OtherTable`], [`Error::BadPoints`].
    pub fn blind_evaluate(&self, key: &OprfKey, request: &BlindRequest) -> Result<BlindReply> {
        self.check_oprf_key(key)?;
        if request.table != self.schema().hash() {
            return Err(Error::OtherTable { what: "the blind request" });
        }
        let points = key.blind_evaluate(&request.points)?;
        Ok(BlindReply { key: request.key, table: request.table, name: request.name, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, RowStatistics, TableRequirements, unobserved};

    #[test]
    fn points_that_are_none_and_other_numbers_of_them_are_refused() {
        let (key, rows) = (OprfKey::generate().unwrap(), [("ada", "1815"), ("alan", "1912")]);
        let statistics = RowStatistics::of(&["1815", "1912"]).unwrap();
        let plan = Plan::hidden(statistics, &key.public(), "5eed", 1.0, &TableRequirements::default()).unwrap();
        let table = Table::of_hidden(&plan, &rows, &key, &unobserved).unwrap();
        let client = Client::new(table.schema().clone(), table.setting()).unwrap();
        let request = client.blind(&["ada"]).unwrap();
        let reply = table.blind_evaluate(&key, &request).unwrap();
        assert!(client.unblind(&reply, &["ada"]).is_ok());
        let twice = [&reply.points[..], &reply.points].concat();
        for points in [vec![0; 32], vec![0xff; 32], Vec::new(), reply.points[1..].to_vec(), twice] {
            let reply = BlindReply { points: points.clone(), ..reply.clone() };
            assert!(matches!(client.unblind(&reply, &["ada"]), Err(Error::BadPoints { .. })), "{points:?}");
            let request = BlindRequest { points, ..request.clone() };
            let helped = table.blind_evaluate(&key, &request);
            assert_eq!(helped.is_ok(), request.points.len() == 64, "{request:?}");
        }
        let other = BlindRequest { table: [0; 32], ..request };
        assert_eq!(table.blind_evaluate(&key, &other).unwrap_err(), Error::OtherTable { what: "the blind request" });
        let other = BlindReply { table: [0; 32], ..reply };
        assert_eq!(client.unblind(&other, &["ada"]).unwrap_err(), Error::OtherTable { what: "the blind reply" });
    }
}

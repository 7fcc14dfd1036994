//! Queries and answers of a search in bytes, checked against the shape; keys are those of
//! [`crate::KeyContext`].

use std::sync::Arc;

use windlass::wire::{FieldReader, FieldWriter, FileContext, Kind, Wire, WireError};
use windlass_ring::Poly;
use windlass_rlwe::KeyId;
use windlass_rlwe::context::Context;

use super::server::{SearchAnswer, SearchQuery};
use super::shape::SearchShape;
use crate::answer::Part;
use crate::bounds::{answer_bits, first_bits};
use crate::error::Result;
use crate::query::Seeded;
use crate::query_name::QueryName;
use crate::setting::{N, PRIMES, Setting};

/// What files of a search must agree with: the shape of the table, and which table it is.
#[derive(Debug, Clone)]
pub struct SearchFiles {
    shape: SearchShape,
    setting: Arc<Setting>,
    hash: [u8; 32],
}

impl SearchFiles {
    /// Of a shape.
    ///
    /// # Errors
    /// As [`SearchShape::check`].
    pub fn new(shape: &SearchShape) -> Result<Self> {
        Ok(Self { shape: shape.clone(), setting: shape.setting()?, hash: shape.hash() })
    }

    /// The setting.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }
}

impl FileContext for SearchFiles {
    fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    fn rlwe(&self) -> &Arc<Context> {
        self.setting.context()
    }
}

/// Most queries in one file.
const MOST_QUERIES: u64 = 1 << 16;

/// The name of the query (32 bytes), the number of vectors (4 bytes); for each of their
/// ciphertexts the seed of the second half, and the residues of the first, prime by prime.
impl Wire<SearchFiles> for SearchQuery {
    const KIND: Kind = Kind::SearchQuery;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    fn encode(&self, files: &SearchFiles, out: &mut FieldWriter) {
        out.bytes(&self.name.0);
        out.u32(self.vectors.len() as u32);
        for seeded in self.vectors.iter().flatten() {
            out.bytes(&seeded.seed);
            (0..PRIMES).for_each(|index| out.residues(seeded.first.row(index), files.setting.prime(index).value()));
        }
    }

    fn decode(files: &SearchFiles, key: KeyId, mut fields: FieldReader<'_>) -> windlass::Result<Self> {
        const WHAT: &str = "encrypted vectors";
        let name = QueryName(fields.array("name of a query")?);
        let count = count(&mut fields, WHAT)?;
        let mut vectors = Vec::new();
        for _ in 0..count {
            let vector = (0..files.shape.layout.ciphertexts).map(|_| read_seeded(files, &mut fields, WHAT));
            vectors.push(vector.collect::<std::result::Result<_, WireError>>()?);
        }
        fields.finish(WHAT)?;
        Ok(Self { key, shape: files.hash, name, vectors })
    }

    fn limit(files: &SearchFiles) -> u64 {
        36 + MOST_QUERIES * files.shape.sizes(&files.setting).query
    }
}

/// The number of queries.
fn count(fields: &mut FieldReader<'_>, what: &'static str) -> std::result::Result<u32, WireError> {
    let count = fields.u32(what)?;
    let allowed = count > 0 && u64::from(count) <= MOST_QUERIES;
    if allowed { Ok(count) } else { Err(WireError::Malformed { what }) }
}

fn read_seeded(
    files: &SearchFiles,
    fields: &mut FieldReader<'_>,
    what: &'static str,
) -> std::result::Result<Seeded, WireError> {
    let seed = fields.array(what)?;
    let mut residues = vec![0; PRIMES * N];
    for (index, row) in residues.chunks_exact_mut(N).enumerate() {
        fields.residues(row, files.setting.prime(index).value(), what)?;
    }
    let first = Poly::from_rows(files.rlwe().ring(), files.setting.basis(), residues);
    Ok(Seeded { seed, first: first.ok_or(WireError::Malformed { what })? })
}

/// The name of the query (32 bytes), the number of queries (4 bytes); for each column of each of
/// them the coefficients of the first half that scores stand at, then all of the second, in as few
/// bits as the shape says.
impl Wire<SearchFiles> for SearchAnswer {
    const KIND: Kind = Kind::SearchAnswer;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    fn encode(&self, files: &SearchFiles, out: &mut FieldWriter) {
        let bits = files.shape.message_bits;
        out.bytes(&self.name.0);
        out.u32(self.parts.len() as u32);
        for part in self.parts.iter().flatten() {
            out.residues(&part.first, 1 << first_bits(bits));
            out.residues(&part.second, 1 << answer_bits(bits));
        }
    }

    fn decode(files: &SearchFiles, key: KeyId, mut fields: FieldReader<'_>) -> windlass::Result<Self> {
        const WHAT: &str = "encrypted scores";
        let name = QueryName(fields.array("name of a query")?);
        let (count, bits) = (count(&mut fields, WHAT)?, files.shape.message_bits);
        let mut part = |column: usize| -> std::result::Result<Part, WireError> {
            let mut read = |count: usize, bits: u32| {
                let mut values = vec![0; count];
                fields.residues(&mut values, 1 << bits, WHAT).map(|()| values)
            };
            let first = read(files.shape.vectors_in(column), first_bits(bits))?;
            Ok(Part { first, second: read(N, answer_bits(bits))? })
        };
        let mut parts = Vec::new();
        for _ in 0..count {
            let columns = (0..files.shape.columns()).map(&mut part);
            parts.push(columns.collect::<std::result::Result<_, WireError>>()?);
        }
        fields.finish(WHAT)?;
        Ok(Self { key, shape: files.hash, name, parts })
    }

    fn limit(files: &SearchFiles) -> u64 {
        // Each column ends on a byte.
        let each = files.shape.sizes(&files.setting).answer + files.shape.columns() as u64;
        36 + MOST_QUERIES.saturating_mul(each)
    }
}

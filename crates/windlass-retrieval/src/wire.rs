//! Queries, answers and what shards add to them in bytes; keys are those of every scheme.

use std::sync::Arc;

use windlass::wire::{ContextHash, FieldReader, FieldWriter, FileContext, Kind, OVERHEAD, Wire, WireError, packed_len};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::KeyId;
use windlass_rlwe::context::Context;

use crate::answer::{Answer, Part};
use crate::blind::{BlindReply, BlindRequest};
use crate::bounds::{answer_bits, first_bits};
use crate::oprf::POINT_BYTES;
use crate::query::{MOST_ROWS, Query, Seeded};
use crate::query_name::QueryName;
use crate::schema::Schema;
use crate::setting::{N, PRIMES, Setting};
use crate::shards::{PartialAnswer, Shard};

/// Bytes of the fields before a polynomial, and of the counts of lists, and more.
const FIELDS: usize = 64;

/// Bytes of the longest file of evaluation keys: one key for every step of the deepest expansion
/// there is, and one for relinearisation.
pub fn longest_keys(setting: &Setting) -> usize {
    let keys = N.ilog2() as usize + 1;
    OVERHEAD + FIELDS + keys * (FIELDS + setting.context().params().key_sizes().switching_key_disk as usize)
}

/// Bytes of the longest file of a query of so many selections.
pub fn longest_query(setting: &Setting, schema: &Schema, selections: usize) -> usize {
    let ciphertexts = selections.div_ceil(schema.shape.selections);
    OVERHEAD + FIELDS + ciphertexts.saturating_mul(schema.shape.sizes(setting).query as usize)
}

/// What the keys of a client must agree with: the moduli. They serve every table that has them.
#[derive(Debug, Clone)]
pub struct KeyContext {
    setting: Arc<Setting>,
    hash: ContextHash,
}

impl KeyContext {
    /// That of a setting.
    pub fn new(setting: &Arc<Setting>) -> Self {
        let mut text = b"windlass retrieval keys 1\n".to_vec();
        text.extend(setting.context().params().id().0);
        Self { setting: Arc::clone(setting), hash: windlass::wire::sha256(&text) }
    }
}

impl FileContext for KeyContext {
    fn hash(&self) -> &ContextHash {
        &self.hash
    }

    fn rlwe(&self) -> &Arc<Context> {
        self.setting.context()
    }
}

/// What queries and answers must agree with: the schema of a table.
#[derive(Debug, Clone)]
pub struct TableContext {
    setting: Arc<Setting>,
    schema: Schema,
    hash: ContextHash,
}

impl TableContext {
    /// That of a table.
    pub fn new(setting: &Arc<Setting>, schema: &Schema) -> Self {
        Self { setting: Arc::clone(setting), hash: schema.hash(), schema: schema.clone() }
    }

    /// The ring and the moduli.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// Bytes of the answer to a query for so many rows, without the file around it.
    pub fn answer_bytes(&self, rows: usize) -> u64 {
        36 + rows as u64 * self.schema.selections() as u64 * self.part_bytes() as u64
    }

    /// Most selections in a query.
    fn most(&self) -> usize {
        MOST_ROWS * self.schema.selections()
    }

    fn query_bytes(&self) -> usize {
        32 + self.poly_bytes()
    }

    fn poly_bytes(&self) -> usize {
        (0..PRIMES).map(|index| packed_len(N, self.setting.prime(index).value())).sum()
    }

    fn write_poly(&self, poly: &Poly<Eval>, out: &mut FieldWriter) {
        (0..PRIMES).for_each(|index| out.residues(poly.row(index), self.setting.prime(index).value()));
    }

    fn read_poly(&self, fields: &mut FieldReader<'_>, what: &'static str) -> Result<Poly<Eval>, WireError> {
        let mut rows = vec![0; PRIMES * N];
        for (index, row) in rows.chunks_exact_mut(N).enumerate() {
            fields.residues(row, self.setting.prime(index).value(), what)?;
        }
        let poly = Poly::from_rows(self.setting.context().ring(), self.setting.basis(), rows);
        poly.ok_or(WireError::Malformed { what })
    }

    fn part_bytes(&self) -> usize {
        let bits = self.schema.shape.message_bits;
        packed_len(self.schema.shape.sent_coefficients(), 1 << first_bits(bits)) + packed_len(N, 1 << answer_bits(bits))
    }
}

impl FileContext for TableContext {
    fn hash(&self) -> &ContextHash {
        &self.hash
    }

    fn rlwe(&self) -> &Arc<Context> {
        self.setting.context()
    }
}

impl Wire<TableContext> for Query {
    const KIND: Kind = Kind::TableQuery;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    /// The name of the query (32 bytes), the number of selections (4 bytes), then for each
    /// ciphertext the seed of its second half and its first half.
    fn encode(&self, context: &TableContext, out: &mut FieldWriter) {
        out.bytes(&self.name.0);
        out.u32(self.count as u32);
        for Seeded { seed, first } in &self.ciphertexts {
            out.bytes(seed);
            context.write_poly(first, out);
        }
    }

    fn decode(context: &TableContext, key: KeyId, mut fields: FieldReader<'_>) -> windlass::Result<Self> {
        let name = QueryName(fields.array("name of a query")?);
        let count = fields.u32("number of selections")? as usize;
        if count == 0 || count > context.most() {
            return Err(WireError::Malformed { what: "number of selections" }.into());
        }
        let mut ciphertexts = Vec::new();
        for _ in 0..count.div_ceil(context.schema.shape.selections) {
            let seed = fields.array("seed of a query")?;
            ciphertexts.push(Seeded { seed, first: context.read_poly(&mut fields, "query")? });
        }
        fields.finish("query")?;
        Ok(Self { key, name, table: context.hash, count, ciphertexts })
    }

    fn limit(context: &TableContext) -> u64 {
        36 + context.most().div_ceil(context.schema.shape.selections) as u64 * context.query_bytes() as u64
    }
}

impl Wire<TableContext> for Answer {
    const KIND: Kind = Kind::TableAnswer;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    /// The name of the query (32 bytes), the number of selections (4 bytes), then for each the
    /// first half and the second.
    fn encode(&self, context: &TableContext, out: &mut FieldWriter) {
        let bits = context.schema.shape.message_bits;
        out.bytes(&self.name.0);
        out.u32(self.parts.len() as u32);
        for part in &self.parts {
            out.residues(&part.first, 1 << first_bits(bits));
            out.residues(&part.second, 1 << answer_bits(bits));
        }
    }

    fn decode(context: &TableContext, key: KeyId, mut fields: FieldReader<'_>) -> windlass::Result<Self> {
        let shape = &context.schema.shape;
        let name = QueryName(fields.array("name of a query")?);
        let count = fields.u32("number of selections")? as usize;
        if count == 0 || count > context.most() {
            return Err(WireError::Malformed { what: "number of selections" }.into());
        }
        let mut parts = Vec::new();
        for _ in 0..count {
            let mut part = Part { first: vec![0; shape.sent_coefficients()], second: vec![0; N] };
            fields.residues(&mut part.first, 1 << first_bits(shape.message_bits), "answer")?;
            fields.residues(&mut part.second, 1 << answer_bits(shape.message_bits), "answer")?;
            parts.push(part);
        }
        fields.finish("answer")?;
        Ok(Self { key, name, table: context.hash, parts })
    }

    fn limit(context: &TableContext) -> u64 {
        context.answer_bytes(MOST_ROWS)
    }
}

/// Writes a name (32 bytes), the number of points (4 bytes) and the points (32 bytes each).
fn write_points(name: &QueryName, points: &[u8], out: &mut FieldWriter) {
    out.bytes(&name.0);
    out.u32((points.len() / POINT_BYTES) as u32);
    out.bytes(points);
}

/// Reads what [`write_points`] wrote. Whether they are points shows when they are multiplied.
fn read_points(mut fields: FieldReader<'_>, what: &'static str) -> Result<(QueryName, Vec<u8>), WireError> {
    let name = QueryName(fields.array("name of a blind request")?);
    let count = fields.u32("number of points")? as usize;
    if count == 0 || count > MOST_ROWS {
        return Err(WireError::Malformed { what: "number of points" });
    }
    let points = fields.bytes(count * POINT_BYTES, what)?.to_vec();
    fields.finish(what)?;
    Ok((name, points))
}

/// Most bytes of the payload of a request or reply.
const LONGEST_BLIND: u64 = 36 + (MOST_ROWS * POINT_BYTES) as u64;

impl Wire<TableContext> for BlindRequest {
    const KIND: Kind = Kind::TableBlindRequest;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    /// The name of the request (32 bytes), the number of points (4 bytes), the points (32 bytes each).
    fn encode(&self, _: &TableContext, out: &mut FieldWriter) {
        write_points(&self.name, &self.points, out);
    }

    fn decode(context: &TableContext, key: KeyId, fields: FieldReader<'_>) -> windlass::Result<Self> {
        let (name, points) = read_points(fields, "blind request")?;
        Ok(Self { key, table: context.hash, name, points })
    }

    fn limit(_: &TableContext) -> u64 {
        LONGEST_BLIND
    }
}

impl Wire<TableContext> for BlindReply {
    const KIND: Kind = Kind::TableBlindReply;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    /// The name of the request (32 bytes), the number of points (4 bytes), the points (32 bytes each).
    fn encode(&self, _: &TableContext, out: &mut FieldWriter) {
        write_points(&self.name, &self.points, out);
    }

    fn decode(context: &TableContext, key: KeyId, fields: FieldReader<'_>) -> windlass::Result<Self> {
        let (name, points) = read_points(fields, "blind reply")?;
        Ok(Self { key, table: context.hash, name, points })
    }

    fn limit(_: &TableContext) -> u64 {
        LONGEST_BLIND
    }
}

impl Wire<TableContext> for PartialAnswer {
    const KIND: Kind = Kind::TablePart;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    /// The version of the table and the hash of the query (32 bytes each); k, the shard's number
    /// and the number of selections (4 bytes each); for each selection both halves of a ciphertext.
    fn encode(&self, context: &TableContext, out: &mut FieldWriter) {
        out.bytes(&self.version);
        out.bytes(&self.query);
        out.u32(self.shard.bits);
        out.u32(self.shard.index as u32);
        out.u32(self.chosen.len() as u32);
        for (place, row) in self.chosen.iter().flat_map(|chosen| chosen.chunks_exact(N).enumerate()) {
            let row: Vec<u64> = row.iter().map(|&x| x.into()).collect();
            out.residues(&row, context.setting.prime(place % PRIMES).value());
        }
    }

    fn decode(context: &TableContext, key: KeyId, mut fields: FieldReader<'_>) -> windlass::Result<Self> {
        let version = fields.array("version of a table")?;
        let query = fields.array("hash of a query")?;
        let (bits, index) = (fields.u32("size of a shard")?, fields.u32("number of a shard")? as usize);
        let blocks = Shard::blocks(&context.schema.shape, bits);
        let mut blocks = blocks.ok_or(WireError::Malformed { what: "size of a shard" })?;
        let shard = blocks.nth(index).ok_or(WireError::Malformed { what: "number of a shard" })?;
        let count = fields.u32("number of selections")? as usize;
        if count == 0 || count > context.most() {
            return Err(WireError::Malformed { what: "number of selections" }.into());
        }
        let mut chosen = Vec::new();
        for _ in 0..count {
            let mut residues = Vec::with_capacity(2 * PRIMES * N);
            let mut row = vec![0; N];
            for place in 0..2 * PRIMES {
                fields.residues(&mut row, context.setting.prime(place % PRIMES).value(), "part of an answer")?;
                residues.extend(row.iter().map(|&x| x as u32));
            }
            chosen.push(residues);
        }
        fields.finish("part of an answer")?;
        Ok(Self { key, table: context.hash, version, query, shard, chosen })
    }

    fn limit(context: &TableContext) -> u64 {
        76 + context.most() as u64 * 2 * context.poly_bytes() as u64
    }
}

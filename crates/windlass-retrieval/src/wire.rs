//! Queries and answers in bytes; keys are those of every scheme.

use std::sync::Arc;

use windlass::wire::{ContextHash, FieldReader, FieldWriter, FileContext, Kind, Wire, WireError, packed_len};
use windlass_ring::Poly;
use windlass_rlwe::KeyId;
use windlass_rlwe::context::Context;

use crate::answer::{Answer, Part};
use crate::bounds::{answer_bits, first_bits};
use crate::query::{MOST_ROWS, Query, Seeded};
use crate::question::QuestionName;
use crate::schema::Schema;
use crate::setting::{N, PRIMES, Setting};

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
        36 + (rows * self.schema.selections() * self.part_bytes()) as u64
    }

    /// Most selections in a query.
    fn most(&self) -> usize {
        MOST_ROWS * self.schema.selections()
    }

    fn query_bytes(&self) -> usize {
        32 + (0..PRIMES).map(|index| packed_len(N, self.setting.prime(index).value())).sum::<usize>()
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

    /// The name of the question (32 bytes), the number of selections (4 bytes), then for each
    /// ciphertext the seed of its second half and its first half.
    fn encode(&self, context: &TableContext, out: &mut FieldWriter) {
        out.bytes(&self.name.0);
        out.u32(self.count as u32);
        for Seeded { seed, first } in &self.ciphertexts {
            out.bytes(seed);
            for index in 0..PRIMES {
                out.residues(first.row(index), context.setting.prime(index).value());
            }
        }
    }

    fn decode(context: &TableContext, key: KeyId, mut fields: FieldReader<'_>) -> windlass::Result<Self> {
        let name = QuestionName(fields.array("name of a question")?);
        let count = fields.u32("number of selections")? as usize;
        if count == 0 || count > context.most() {
            return Err(WireError::Malformed { what: "number of selections" }.into());
        }
        let setting = &context.setting;
        let mut ciphertexts = Vec::new();
        for _ in 0..count.div_ceil(context.schema.shape.selections) {
            let seed = fields.array("seed of a query")?;
            let mut rows = vec![0; PRIMES * N];
            for (index, row) in rows.chunks_exact_mut(N).enumerate() {
                fields.residues(row, setting.prime(index).value(), "query")?;
            }
            let first = Poly::from_rows(setting.context().ring(), setting.basis(), rows);
            ciphertexts.push(Seeded { seed, first: first.ok_or(WireError::Malformed { what: "query" })? });
        }
        fields.finish("query")?;
        Ok(Self { key, name, table: context.hash, count, ciphertexts })
    }

    fn limit(context: &TableContext) -> u64 {
        36 + (context.most().div_ceil(context.schema.shape.selections) * context.query_bytes()) as u64
    }
}

impl Wire<TableContext> for Answer {
    const KIND: Kind = Kind::TableAnswer;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key)
    }

    /// The name of the question (32 bytes), the number of selections (4 bytes), then for each the
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
        let name = QuestionName(fields.array("name of a question")?);
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

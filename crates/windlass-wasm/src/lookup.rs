//! Lookups in tables: what a client does.

use std::sync::Arc;

use js_sys::{Array, JsString, Uint8Array};
use wasm_bindgen::prelude::*;
use windlass::rlwe::{EvaluationKeys, check_same_keys};
use windlass::wire::{FieldReader, FieldWriter, KeyId, Kind, Wire, from_bytes, hex, sha256, to_bytes};
use windlass_retrieval::{
    Answer, Client, Contents, Gathering, KeyContext, Query, Schema, TableContext, Wanted, decode_record,
};

use crate::Result;
use crate::error::{refuse, refuse_lookup};
use crate::hidden::{TableBlinding, TableHiddenKeys, strings};
use crate::secret::{self, SecretFile, Words};

/// A client of a table: it makes queries and reads answers.
#[wasm_bindgen]
pub struct TableClient {
    client: Arc<Client>,
    files: TableContext,
    key_files: KeyContext,
}

/// The file of evaluation keys, of which only the header and the checksum are read: the key pair.
struct KeysFile(KeyId);

impl Wire<KeyContext> for KeysFile {
    const KIND: Kind = <EvaluationKeys as Wire<KeyContext>>::KIND;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.0)
    }

    /// Nothing is written: a file that was read is kept as it is.
    fn encode(&self, _: &KeyContext, _: &mut FieldWriter) {}

    fn decode(_: &KeyContext, key: KeyId, _: FieldReader<'_>) -> windlass::Result<Self> {
        Ok(Self(key))
    }

    fn limit(context: &KeyContext) -> u64 {
        <EvaluationKeys as Wire<KeyContext>>::limit(context)
    }
}

/// Rows as JavaScript has them: null for a row that is not there.
fn to_array(rows: Vec<Option<Vec<u8>>>) -> Array {
    let row = |row: Option<Vec<u8>>| row.map_or(JsValue::NULL, |row| Uint8Array::from(&row[..]).into());
    rows.into_iter().map(row).collect()
}

impl TableClient {
    fn wanted_keys(&self, keys: &Array) -> Result<Wanted> {
        // A query for nothing is refused as everywhere, when the query is made.
        if self.client.schema().oprf.is_some() && keys.length() > 0 {
            return Err(refuse_lookup(windlass_retrieval::Error::HiddenKeys));
        }
        Ok(Wanted::Keys(strings(keys)))
    }

    fn query(&self, wanted: &Wanted) -> Result<Vec<u8>> {
        written(&self.files, &self.client.query(wanted).map_err(refuse_lookup)?)
    }

    fn read(&self, answer: &[u8], wanted: &Wanted) -> Result<Vec<Option<Vec<u8>>>> {
        let answer: Answer = from_bytes(&self.files, answer).map_err(refuse)?;
        self.client.read(&answer, wanted).map_err(refuse_lookup)
    }

    /// Rows without those that were cleared.
    fn there(&self, rows: Vec<Option<Vec<u8>>>) -> Array {
        let schema = self.client.schema();
        to_array(rows.into_iter().map(|row| row.filter(|row| !schema.is_cleared(row))).collect())
    }
}

fn written(files: &TableContext, query: &Query) -> Result<Vec<u8>> {
    Ok(to_bytes(files, query).map_err(|error| refuse(error.into()))?.to_vec())
}

fn numbers(rows: &[u32]) -> Wanted {
    Wanted::Rows(rows.iter().map(|&row| row as usize).collect())
}

#[wasm_bindgen]
impl TableClient {
    /// A client from the schema that a server publishes, all of which is checked. Without a secret key it
    /// makes one; `secret` is the file of one, encrypted if there is a passphrase.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &[u8], secret: Option<Vec<u8>>, passphrase: Option<Vec<u8>>) -> Result<Self> {
        let secret = SecretFile::new(secret, passphrase);
        let (schema, setting) = Schema::from_json(schema).map_err(refuse_lookup)?;
        let key_files = KeyContext::new(&setting);
        let client = match secret {
            None => Client::new(schema, &setting),
            Some(secret) => Client::with_secret(schema, &setting, secret.read(&key_files)?),
        };
        let client = Arc::new(client.map_err(refuse_lookup)?);
        let files = TableContext::new(&setting, client.schema());
        Ok(Self { client, files, key_files })
    }

    /// The file of the secret key, encrypted if there is a passphrase.
    pub fn secret(&self, passphrase: Option<Vec<u8>>) -> Result<Uint8Array> {
        secret::write(&self.key_files, self.client.secret(), &Words::new(passphrase))
    }

    /// The file of the evaluation keys that the server needs.
    #[wasm_bindgen(js_name = evaluationKeys)]
    pub fn evaluation_keys(&self) -> Result<Vec<u8>> {
        let keys = self.client.evaluation_keys().map_err(refuse_lookup)?;
        Ok(to_bytes(&self.key_files, &keys).map_err(|error| refuse(error.into()))?.to_vec())
    }

    /// Refuses evaluation keys that are damaged, of other parameters, or of another secret key. What they
    /// hold is not decoded: the service does that.
    #[wasm_bindgen(js_name = checkEvaluationKeys)]
    pub fn check_evaluation_keys(&self, file: &[u8]) -> Result<()> {
        let KeysFile(found) = from_bytes(&self.key_files, file).map_err(refuse)?;
        let same = check_same_keys("use evaluation keys", self.client.secret().key_id(), found);
        same.map_err(|error| refuse(error.into()))
    }

    /// A query for the rows of keys.
    #[wasm_bindgen(js_name = queryKeys)]
    pub fn query_keys(&self, keys: &Array) -> Result<Vec<u8>> {
        self.query(&self.wanted_keys(keys)?)
    }

    /// A query for rows by number.
    #[wasm_bindgen(js_name = queryRows)]
    pub fn query_rows(&self, rows: &[u32]) -> Result<Vec<u8>> {
        self.query(&numbers(rows))
    }

    /// A query for keys that the server helped to hide.
    #[wasm_bindgen(js_name = queryHidden)]
    pub fn query_hidden(&self, keys: &TableHiddenKeys) -> Result<Vec<u8>> {
        self.query(&keys.wanted(self.client.schema())?)
    }

    /// The rows in the answer to [`Self::query_keys`].
    #[wasm_bindgen(js_name = readKeys)]
    pub fn read_keys(&self, answer: &[u8], keys: &Array) -> Result<Array> {
        Ok(self.there(self.read(answer, &self.wanted_keys(keys)?)?))
    }

    /// The rows in the answer to [`Self::query_rows`].
    #[wasm_bindgen(js_name = readRows)]
    pub fn read_rows(&self, answer: &[u8], rows: &[u32]) -> Result<Array> {
        Ok(self.there(self.read(answer, &numbers(rows))?))
    }

    /// The rows in the answer to [`Self::query_hidden`].
    #[wasm_bindgen(js_name = readHidden)]
    pub fn read_hidden(&self, answer: &[u8], keys: &TableHiddenKeys) -> Result<Array> {
        let schema = self.client.schema();
        let rows = self.read(answer, &keys.wanted(schema)?)?;
        Ok(self.there(keys.open(schema, rows)?))
    }

    /// Keys in portions: short rows of a table with long ones cost little.
    #[wasm_bindgen(js_name = keysInPortions)]
    pub fn keys_in_portions(&self, keys: &Array) -> Result<TableGathering> {
        Ok(TableGathering::new(self, self.wanted_keys(keys)?))
    }

    /// Rows by number in portions.
    #[wasm_bindgen(js_name = rowsInPortions)]
    pub fn rows_in_portions(&self, rows: &[u32]) -> TableGathering {
        TableGathering::new(self, numbers(rows))
    }

    /// Keys that the server is to help with, without learning them.
    pub fn blind(&self, keys: &Array) -> Result<TableBlinding> {
        if self.client.schema().oprf.is_none() {
            return Err(refuse_lookup(windlass_retrieval::Error::PlainKeys));
        }
        TableBlinding::new(strings(keys))
    }

    /// The cells of a row, as text, if the rows of the table have fields.
    pub fn cells(&self, row: &[u8]) -> Result<Option<Vec<JsString>>> {
        let fields = self.client.schema().fields.len();
        if fields == 0 {
            return Ok(None);
        }
        let cells = decode_record(row, fields).ok_or_else(|| refuse_lookup(windlass_retrieval::Error::BadRow))?;
        Ok(Some(cells.into_iter().map(JsString::from).collect()))
    }

    /// The names of the fields of a row.
    #[wasm_bindgen(getter)]
    pub fn fields(&self) -> Vec<String> {
        self.client.schema().fields.clone()
    }

    /// Whether rows are asked for by key.
    #[wasm_bindgen(getter)]
    pub fn keyed(&self) -> bool {
        matches!(self.client.schema().contents, Contents::Keywords(_))
    }

    /// Whether the table hides its keys.
    #[wasm_bindgen(getter, js_name = hidesKeys)]
    pub fn hides_keys(&self) -> bool {
        self.client.schema().oprf.is_some()
    }

    /// log2 of the work of the best known attack on what the server sees.
    #[wasm_bindgen(getter, js_name = securityBits)]
    pub fn security_bits(&self) -> f64 {
        self.client.setting().context().params().security().bits
    }

    /// The hash of the schema, in hexadecimal: what queries and answers are checked against.
    #[wasm_bindgen(getter, js_name = schemaHash)]
    pub fn schema_hash(&self) -> String {
        hex(&self.client.schema().hash())
    }

    /// Bytes of the longest answer to a query for so many rows.
    #[wasm_bindgen(js_name = answerBytes)]
    pub fn answer_bytes(&self, rows: usize) -> f64 {
        (self.files.answer_bytes(rows) + windlass::wire::OVERHEAD as u64) as f64
    }
}

/// Rows that are asked for in portions.
#[wasm_bindgen]
pub struct TableGathering {
    gathering: Gathering<Arc<Client>>,
    files: TableContext,
}

impl TableGathering {
    fn new(table: &TableClient, wanted: Wanted) -> Self {
        Self { gathering: Gathering::new(Arc::clone(&table.client), wanted), files: table.files.clone() }
    }
}

#[wasm_bindgen]
impl TableGathering {
    /// The next query, or nothing once all rows are there.
    pub fn query(&self) -> Result<Option<Vec<u8>>> {
        let query = self.gathering.query().map_err(refuse_lookup)?;
        query.map(|query| written(&self.files, &query)).transpose()
    }

    /// How many rows the next query asks for.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.gathering.count()
    }

    /// Takes up an answer.
    pub fn read(&mut self, answer: &[u8]) -> Result<()> {
        let answer: Answer = from_bytes(&self.files, answer).map_err(refuse)?;
        self.gathering.read(&answer).map_err(refuse_lookup)
    }

    /// The rows, once all are there.
    pub fn rows(&self) -> Result<Array> {
        Ok(to_array(self.gathering.clone().rows().map_err(refuse_lookup)?))
    }
}

/// SHA-256 of some bytes, in hexadecimal: the name of the file of evaluation keys.
#[wasm_bindgen(js_name = sha256)]
pub fn name_of(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

//! Nearest neighbours: what a client does.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use windlass::check_memory;
use windlass::rlwe::SecretKey;
use windlass::rlwe::context::os_rng;
use windlass::wire::{FileContext, from_bytes, hex, to_bytes};
use windlass_retrieval::vectors::{
    QuantisedQuery, SearchAnswer, SearchClient as Searches, SearchSchema, Values, Vectors,
};

use crate::Result;
use crate::error::{refuse, refuse_lookup};
use crate::secret::{self, SecretFile, Words};

/// A client of a table of vectors: it encrypts vectors, and finds the nearest ones in answers.
#[wasm_bindgen]
pub struct SearchClient {
    client: Searches,
    schema: SearchSchema,
}

/// Vectors as a table wants them.
#[wasm_bindgen]
pub struct SearchVectors {
    vectors: QuantisedQuery,
}

#[wasm_bindgen]
impl SearchVectors {
    /// How many there are.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.vectors.count()
    }
}

impl SearchClient {
    /// Refuses more vectors at once than memory holds.
    fn check(&self, vectors: usize) -> Result<()> {
        let bytes = self.schema.shape().client_memory(vectors);
        check_memory("a search in this table", bytes).map_err(refuse)
    }

    fn quantise(&self, values: Values<'_>) -> Result<SearchVectors> {
        let shape = self.schema.shape();
        self.check(values.len().div_ceil(shape.dimension))?;
        let vectors = Vectors::new(values, shape.dimension).and_then(|vectors| shape.quantise(&vectors));
        Ok(SearchVectors { vectors: vectors.map_err(refuse_lookup)? })
    }
}

#[wasm_bindgen]
impl SearchClient {
    /// A client from the schema that a server publishes, all of which is checked. Without a secret key it
    /// makes one; `secret` is the file of one, encrypted if there is a passphrase.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &[u8], secret: Option<Vec<u8>>, passphrase: Option<Vec<u8>>) -> Result<Self> {
        let secret = SecretFile::new(secret, passphrase);
        let schema = SearchSchema::from_json(schema).map_err(refuse_lookup)?;
        let setting = schema.files().setting();
        check_memory("a search in this table", schema.shape().client_memory(1)).map_err(refuse)?;
        let secret = match secret {
            None => SecretKey::generate(setting.context(), &mut os_rng().map_err(|error| refuse(error.into()))?),
            Some(secret) => secret.read(schema.key_files())?,
        };
        let client = Searches::with_secret(schema.shape(), setting, secret);
        Ok(Self { client, schema })
    }

    /// The file of the secret key, encrypted if there is a passphrase.
    pub fn secret(&self, passphrase: Option<Vec<u8>>) -> Result<Uint8Array> {
        secret::write(self.schema.key_files(), self.client.secret_key(), &Words::new(passphrase))
    }

    /// The file of the evaluation keys that the server needs.
    #[wasm_bindgen(js_name = evaluationKeys)]
    pub fn evaluation_keys(&self) -> Result<Vec<u8>> {
        let mut rng = os_rng().map_err(|error| refuse(error.into()))?;
        let keys = self.client.evaluation_keys(&mut rng).map_err(refuse_lookup)?;
        Ok(to_bytes(self.schema.key_files(), &keys).map_err(|error| refuse(error.into()))?.to_vec())
    }

    /// Vectors of double precision, one after another.
    pub fn doubles(&self, values: &[f64]) -> Result<SearchVectors> {
        self.quantise(Values::F64(values))
    }

    /// Vectors of single precision, one after another.
    pub fn singles(&self, values: &[f32]) -> Result<SearchVectors> {
        self.quantise(Values::F32(values))
    }

    /// Vectors of integers, one after another, which are taken as they are.
    pub fn integers(&self, values: &[i8]) -> Result<SearchVectors> {
        self.quantise(Values::I8(values))
    }

    /// The file of encrypted vectors.
    pub fn query(&self, vectors: &SearchVectors) -> Result<Vec<u8>> {
        let mut rng = os_rng().map_err(|error| refuse(error.into()))?;
        let query = self.client.query(&vectors.vectors, &mut rng).map_err(refuse_lookup)?;
        Ok(to_bytes(self.schema.files(), &query).map_err(|error| refuse(error.into()))?.to_vec())
    }

    /// The k nearest vectors of each that was asked for: number, score, and how far the score may be off,
    /// three numbers for each.
    pub fn nearest(&self, answer: &[u8], vectors: &SearchVectors, k: usize) -> Result<Vec<f64>> {
        let answer: SearchAnswer = from_bytes(self.schema.files(), answer).map_err(refuse)?;
        let asked = &vectors.vectors;
        let lists = self.client.nearest(&answer, asked, k).map_err(refuse_lookup)?;
        let mut found = Vec::with_capacity(3 * lists.iter().map(Vec::len).sum::<usize>());
        for (number, list) in lists.iter().enumerate() {
            for neighbour in list {
                let error = asked.error_bound(self.schema.shape(), number, neighbour.score);
                found.extend([neighbour.index as f64, neighbour.score, error]);
            }
        }
        Ok(found)
    }

    /// How many vectors the table has.
    #[wasm_bindgen(getter)]
    pub fn vectors(&self) -> usize {
        self.schema.shape().vectors
    }

    /// The numbers of a vector.
    #[wasm_bindgen(getter)]
    pub fn dimension(&self) -> usize {
        self.schema.shape().dimension
    }

    /// What makes vectors near.
    #[wasm_bindgen(getter)]
    pub fn metric(&self) -> String {
        self.schema.shape().metric.to_string()
    }

    /// What the dimensions are called, if they have names.
    #[wasm_bindgen(getter)]
    pub fn columns(&self) -> Vec<String> {
        self.schema.shape().names.clone().unwrap_or_default()
    }

    /// log2 of the work of the best known attack on what the server sees.
    #[wasm_bindgen(getter, js_name = securityBits)]
    pub fn security_bits(&self) -> f64 {
        self.schema.security_bits()
    }

    /// The hash that queries and answers are checked against, in hexadecimal.
    #[wasm_bindgen(getter, js_name = schemaHash)]
    pub fn schema_hash(&self) -> String {
        hex(self.schema.files().hash())
    }
}

//! Scores of encrypted rows: what a client does.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use windlass::check_memory;
use windlass::rlwe::SecretKey;
use windlass::rlwe::context::os_rng;
use windlass::wire::{EncryptedScoresV1, from_bytes, hex, to_bytes};
use windlass_scoring::{SchemaError, Scored, ScoringClient as Scores, ScoringSchema};

use crate::Result;
use crate::error::{raise, refuse};
use crate::parameters;
use crate::secret::{self, SecretFile, Words};

/// A client of a model: it encrypts rows and reads scores.
#[wasm_bindgen]
pub struct ScoringClient {
    client: Scores,
}

/// Decrypted scores.
#[wasm_bindgen]
pub struct ScoredRows {
    scored: Scored,
}

fn refuse_schema(error: SchemaError) -> JsValue {
    match error {
        SchemaError::Library(error) => refuse(error),
        SchemaError::OtherSchema { .. } => raise("OtherContext", &error.to_string()),
        _ => raise("FileError", &error.to_string()),
    }
}

#[wasm_bindgen]
impl ScoringClient {
    /// A client from the schema that a server publishes. Its parameters are refused below 128 bits of
    /// security unless `insecure`, and beyond what memory holds, before anything is made of them. Without a
    /// secret key it makes one; `secret` is the file of one, encrypted if there is a passphrase.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &[u8], insecure: bool, secret: Option<Vec<u8>>, passphrase: Option<Vec<u8>>) -> Result<Self> {
        let secret = SecretFile::new(secret, passphrase);
        let schema = ScoringSchema::from_json(schema).map_err(refuse_schema)?;
        parameters::check(&schema.params().map_err(refuse_schema)?, insecure)?;
        let setting = schema.build().map_err(refuse_schema)?;
        let secret = match secret {
            None => {
                let mut rng = os_rng().map_err(|error| refuse(error.into()))?;
                SecretKey::generate(setting.context.ckks().rlwe(), &mut rng)
            }
            Some(secret) => secret.read(setting.context.files())?,
        };
        Ok(Self { client: Scores::new(schema, setting, secret) })
    }

    /// The file of the secret key, encrypted if there is a passphrase.
    pub fn secret(&self, passphrase: Option<Vec<u8>>) -> Result<Uint8Array> {
        let files = self.client.setting().context.files();
        secret::write(files, self.client.secret_key(), &Words::new(passphrase))
    }

    /// The file of the evaluation keys that the server needs.
    #[wasm_bindgen(js_name = evaluationKeys)]
    pub fn evaluation_keys(&self) -> Result<Vec<u8>> {
        let setting = self.client.setting();
        let sizes = setting.context.ckks().rlwe().params().key_sizes();
        let count = self.client.key_count() as u64;
        let each = sizes.switching_key_memory + sizes.switching_key_disk;
        check_memory("the keys", count.saturating_mul(each)).map_err(refuse)?;
        let mut rng = os_rng().map_err(|error| refuse(error.into()))?;
        let keys = self.client.evaluation_keys(&mut rng).map_err(refuse_schema)?;
        Ok(to_bytes(setting.context.files(), &keys).map_err(|error| refuse(error.into()))?.to_vec())
    }

    /// The file of encrypted rows, which are given one after another.
    pub fn encrypt(&self, values: &[f64]) -> Result<Vec<u8>> {
        let setting = self.client.setting();
        let features = self.features();
        let rows = values.len().div_ceil(features);
        let each = setting.context.ckks().rlwe().params().key_sizes().ciphertext_memory;
        let ciphertexts = 2 * setting.scoring.layout().ciphertexts(rows) as u64;
        check_memory("the encrypted rows", ciphertexts.saturating_mul(each)).map_err(refuse)?;
        let rows: Vec<Vec<f64>> = values.chunks(features).map(<[f64]>::to_vec).collect();
        let mut rng = os_rng().map_err(|error| refuse(error.into()))?;
        let encrypted = self.client.encrypt(&rows, &mut rng).map_err(refuse_schema)?;
        Ok(to_bytes(setting.context.files(), &encrypted).map_err(|error| refuse(error.into()))?.to_vec())
    }

    /// The scores in the file that a server returns.
    pub fn decrypt(&self, scores: &[u8]) -> Result<ScoredRows> {
        let files = self.client.setting().context.files();
        let scores: EncryptedScoresV1 = from_bytes(files, scores).map_err(refuse)?;
        Ok(ScoredRows { scored: self.client.decrypt(&scores).map_err(refuse_schema)? })
    }

    /// The numbers of a row.
    #[wasm_bindgen(getter)]
    pub fn features(&self) -> usize {
        self.client.setting().scoring.layout().features()
    }

    /// The scores of a row.
    #[wasm_bindgen(getter)]
    pub fn scores(&self) -> usize {
        self.client.schema().scores()
    }

    /// What the features are called, if they have names.
    #[wasm_bindgen(getter)]
    pub fn columns(&self) -> Vec<String> {
        self.client.schema().columns().unwrap_or_default().to_vec()
    }

    /// What a class is called: its name, or its number from 0.
    #[wasm_bindgen(js_name = className)]
    pub fn class_name(&self, class: usize) -> String {
        self.client.schema().class_name(class)
    }

    /// log2 of the work of the best known attack on what the server sees.
    #[wasm_bindgen(getter, js_name = securityBits)]
    pub fn security_bits(&self) -> f64 {
        self.client.setting().security_bits()
    }

    /// The hash of the schema, in hexadecimal.
    #[wasm_bindgen(getter, js_name = schemaHash)]
    pub fn schema_hash(&self) -> String {
        hex(&self.client.schema().hash())
    }
}

#[wasm_bindgen]
impl ScoredRows {
    /// The scores of all rows, one row after another.
    #[wasm_bindgen(getter)]
    pub fn scores(&self) -> Vec<f64> {
        self.scored.scores.concat()
    }

    /// The number of the class of each row.
    #[wasm_bindgen(getter)]
    pub fn decisions(&self) -> Vec<u32> {
        self.scored.decisions().into_iter().map(|class| class as u32).collect()
    }

    /// For each row whether its decision is within the errors.
    #[wasm_bindgen(getter)]
    pub fn close(&self) -> Vec<u8> {
        self.scored.close().into_iter().map(u8::from).collect()
    }

    /// How far a score may be off.
    #[wasm_bindgen(getter, js_name = errorBound)]
    pub fn error_bound(&self) -> f64 {
        self.scored.error_bound
    }
}

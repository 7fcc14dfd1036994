//! The client's side: rows in, scores out, with how far they may be off.

use std::sync::Arc;

use rand_core::RngCore;
use windlass::NeedsKeys;
use windlass::rlwe::{EvaluationKeys, SecretKey};
use windlass::schemes::ckks::{Ciphertext, Decryptor, complex};
use windlass::wire::{CiphertextList, EncryptedRowsV1, EncryptedScoresV1, Stored};

use crate::model::decision;
use crate::schema::{ScoringSchema, ScoringSetting};
use crate::schema_error::SchemaError;

type Result<T> = std::result::Result<T, SchemaError>;

/// A client of a model: it encrypts rows and reads scores.
#[derive(Debug)]
pub struct ScoringClient {
    schema: ScoringSchema,
    setting: ScoringSetting,
    secret: Arc<SecretKey>,
}

/// Decrypted scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// `[rows][classes]`.
    pub scores: Vec<Vec<f64>>,
    /// No score is further than this from that of the model in the clear.
    pub error_bound: f64,
}

impl Scored {
    /// The class of each row, as [`decision`] numbers them.
    pub fn decisions(&self) -> Vec<usize> {
        self.scores.iter().map(|row| decision(row)).collect()
    }

    /// For each row whether its decision is within the errors, so that it may be wrong: one score decides
    /// by its sign, of several two are compared.
    pub fn close(&self) -> Vec<bool> {
        let is_close = |scores: &Vec<f64>| margin(scores) <= scores.len().min(2) as f64 * self.error_bound;
        self.scores.iter().map(is_close).collect()
    }
}

/// By how much a decision is clear: the absolute value of one score, or how far the largest of several is
/// above the next.
pub fn margin(scores: &[f64]) -> f64 {
    let best = decision(scores);
    match scores {
        [score] => score.abs(),
        _ => {
            let others = scores.iter().enumerate().filter(|(class, _)| *class != best);
            others.map(|(_, score)| scores[best] - score).fold(f64::INFINITY, f64::min)
        }
    }
}

impl ScoringSetting {
    /// How far a score in a list may be off.
    pub fn error_bound(&self, scores: &CiphertextList<Ciphertext>) -> f64 {
        scores.ciphertexts().map(Ciphertext::error_bound).fold(0.0, f64::max) * self.scoring.unit()
    }
}

impl ScoringClient {
    /// A client with a secret key of the setting that the schema builds.
    pub fn new(schema: ScoringSchema, setting: ScoringSetting, secret: SecretKey) -> Self {
        Self { schema, setting, secret: Arc::new(secret) }
    }

    /// The schema.
    pub fn schema(&self) -> &ScoringSchema {
        &self.schema
    }

    /// What the schema says, built.
    pub fn setting(&self) -> &ScoringSetting {
        &self.setting
    }

    /// The secret key.
    pub fn secret_key(&self) -> &Arc<SecretKey> {
        &self.secret
    }

    fn decryptor(&self) -> windlass::Result<Decryptor> {
        Decryptor::new(self.setting.context.ckks(), Arc::clone(&self.secret))
    }

    /// How many keys the server needs.
    pub fn key_count(&self) -> usize {
        self.setting.scoring.key_request().galois.len()
    }

    /// The keys that the server needs, each for the levels that it is used at.
    ///
    /// Cost: about two transforms of every prime of QP for each digit of each key.
    ///
    /// # Errors
    /// Those of the RLWE layer.
    pub fn evaluation_keys(&self, rng: &mut impl RngCore) -> Result<EvaluationKeys> {
        let top = self.setting.context.ckks().top_level();
        let mut keys = EvaluationKeys::of(&self.secret);
        for (element, level) in self.setting.scoring.key_request().galois {
            keys.add_galois(&self.secret, element, level.in_chain(top), rng).map_err(windlass::Error::from)?;
        }
        Ok(keys)
    }

    /// Encrypts rows of raw features.
    ///
    /// # Errors
    /// As [`crate::Scoring::encrypt`].
    pub fn encrypt(&self, rows: &[Vec<f64>], rng: &mut impl RngCore) -> Result<EncryptedRowsV1> {
        let (decryptor, top) = (self.decryptor()?, self.setting.context.ckks().top_level());
        let list = self
            .setting
            .scoring
            .encrypt(rows, |slots, bound| Ok(Stored::new(decryptor.encrypt(&complex(slots), bound, top, rng)?.0)))?;
        Ok(EncryptedRowsV1 { schema: self.schema.hash(), list })
    }

    /// The scores in a message of the server.
    ///
    /// **Warning.** The errors of the scores depend on the secret key. Do not publish the scores.
    ///
    /// # Errors
    /// [`SchemaError::OtherSchema`]; as [`crate::Scoring::decrypt`].
    pub fn decrypt(&self, scores: &EncryptedScoresV1) -> Result<Scored> {
        self.schema.check(&scores.schema)?;
        let decryptor = self.decryptor()?;
        let list = &scores.list;
        let error_bound = self.setting.error_bound(list);
        Ok(Scored { scores: self.setting.scoring.decrypt(list, |ct| decryptor.decrypt_real(ct))?, error_bound })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_decisions_are_told() {
        let scored =
            |scores: &[&[f64]]| Scored { scores: scores.iter().map(|s| s.to_vec()).collect(), error_bound: 0.1 };
        let one = scored(&[&[0.05], &[-0.05], &[0.5], &[-0.5]]);
        assert_eq!((one.decisions(), one.close()), (vec![1, 0, 1, 0], vec![true, true, false, false]));
        let several = scored(&[&[1.0, 1.15, 0.0], &[1.0, 1.25, 0.0]]);
        assert_eq!((several.decisions(), several.close()), (vec![1, 1], vec![true, false]));
    }
}

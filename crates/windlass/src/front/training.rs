//! Training on encrypted rows.

use std::ops::ControlFlow;

use super::client::Client;
use super::context::Context;
use super::family::Approximate;
use super::needs::{KeyRequest, NeedsKeys};
use super::server::Server;
use crate::bootstrap::training::{TrainedWeights, Training, TrainingProgress, TrainingSpec};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::schemes::ckks::{self, complex};

impl Context<Approximate> {
    /// Plans a logistic regression that a server trains on encrypted rows. The plan states levels,
    /// refreshes, keys, bytes, error and price, and goes to [`Self::generate_keys`].
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use windlass::Context;
    /// use windlass::bootstrap::approximate::RefreshSpec;
    /// use windlass::bootstrap::training::TrainingSpec;
    ///
    /// let context = Context::refreshing(&RefreshSpec::preset("insecure_toy_refresh_1024_slots16")?)?; // a toy
    /// let training = context.training(&TrainingSpec::new(4, 2, 4))?; // 4 rows of 2 features, 4 steps
    /// println!("{training}");
    /// let (client, server) = context.generate_keys([&training])?;
    /// let rows = [vec![1.0, 0.5], vec![0.8, -1.0], vec![-1.2, 0.3], vec![-0.6, 0.2]]; // standardised
    /// let data = client.encrypt_training(&training, &rows, &[1.0, 1.0, 0.0, 0.0])?;
    /// let result = server.train(&training, &data, |_| ControlFlow::Continue(()))?;
    /// let trained = client.decrypt_training(&training, &result)?;
    /// assert!(trained.score(&rows[0])? > 0.0 && trained.score(&rows[2])? < 0.0);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::refresh`] if the context has no levels for a refresh, and as [`Training::new`].
    pub fn training(&self, spec: &TrainingSpec) -> Result<Training> {
        Training::new(&self.refresh()?, spec)
    }
}

impl Client<Approximate> {
    /// Encrypts standardised rows with their labels, 0 or 1.
    ///
    /// # Errors
    /// As [`Training::encode`] and [`Self::encrypt_complex`].
    pub fn encrypt_training(
        &self,
        training: &Training,
        rows: &[Vec<f64>],
        labels: &[f64],
    ) -> Result<Vec<ckks::Ciphertext>> {
        let vectors = training.encode(rows, labels)?;
        vectors.iter().map(|vector| self.encrypt_complex(&complex(vector), training.data_bound())).collect()
    }

    /// The weights that a server trained.
    ///
    /// **Warning.** As for [`Self::decrypt`], the errors depend on the secret key.
    ///
    /// # Errors
    /// As [`Self::decrypt`]; [`Error::NotDecryptable`] if a weight is above the bound of the plan.
    pub fn decrypt_training(&self, training: &Training, result: &ckks::Ciphertext) -> Result<TrainedWeights> {
        training.weights(&self.decrypt(result)?)
    }
}

impl Server<Approximate> {
    /// The encrypted weights after all steps. `observe` is called before each step and each refresh, and
    /// once at the end; after a `Break` before the end there is no result.
    ///
    /// # Errors
    /// [`Error::MissingKeys`] unless the keys were made for the training; those of [`Training::run`].
    pub fn train(
        &self,
        training: &Training,
        data: &[ckks::Ciphertext],
        mut observe: impl FnMut(&TrainingProgress) -> ControlFlow<()>,
    ) -> Result<ckks::Ciphertext> {
        self.check_keys(training, self.context().ckks().top_level())?;
        training.run(self.engine(), self.refreshers(), data, &mut observe)
    }
}

/// The keys of the steps and those of the refresh.
impl NeedsKeys for Training {
    fn key_request(&self) -> KeyRequest {
        let name = format!("a training of {} steps", self.spec().steps);
        let steps = KeyRequest::none(name).with_galois(self.required_keys());
        steps.and(self.refresh().key_request())
    }
}

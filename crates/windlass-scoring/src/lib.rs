//! Private scoring: a server applies its linear model to encrypted rows and learns neither the rows
//! nor the scores.
//!
//! Rows of any number of features are standardised by public constants. They lie side by side in
//! the slots of CKKS ciphertexts, or one row in several ciphertexts ([`RowLayout`]). One linear map
//! multiplies the features by the weights of all classes. One trace-type sum collects the score of
//! each class. A product with zeros and ones clears everything except the scores.
//!
//! ```
//! use windlass::Context;
//! use windlass::schemes::ckks::complex;
//! use windlass::wire::Stored;
//! use windlass_scoring::{LinearModel, Scorer, Scoring, Standardisation, scoring_spec};
//!
//! // The server's model: two classes, three features.
//! let plain = Standardisation::none(3, 4.0)?;
//! let weights = vec![vec![0.5, -1.0, 0.25], vec![-2.0, 1.0, 0.0]];
//! let model = LinearModel::new(plain, weights, vec![0.125, -1.0])?;
//! // What both sides agree on.
//! let context = Context::approximate(&scoring_spec(model.classes())?)?;
//! let scoring = Scoring::of(context.ckks(), &model)?;
//! // The client.
//! let (client, server) = context.generate_keys([&scoring])?;
//! let rows = vec![vec![1.0, 2.0, 3.0], vec![-0.5, 0.0, 4.0]];
//! let encrypt = |slots: &[f64], bound| {
//!     Ok(Stored::new(client.encrypt_complex(&complex(slots), bound)?))
//! };
//! let encrypted = scoring.encrypt(&rows, encrypt)?;
//! // The server.
//! let scores = Scorer::new(&scoring, &model, server.engine().clone())?.score(&encrypted, || ())?;
//! // The client.
//! let scores = scoring.decrypt(&scores, |ct| client.decrypt(ct))?;
//! for (row, found) in rows.iter().zip(scores) {
//!     let plain = model.scores(row)?;
//!     assert!(plain.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-3));
//! }
//! # Ok::<(), windlass::Error>(())
//! ```
#![forbid(unsafe_code)]

mod client;
mod layout;
mod model;
mod schema;
mod schema_error;
mod scorer;
mod setting;
mod standardisation;
mod training;

pub use client::{Scored, ScoringClient, margin};
pub use layout::{MOST_CLASSES, MOST_FEATURES, RowLayout};
pub use model::{LinearModel, decision};
pub use schema::{ScoringSchema, ScoringSetting, check_names};
pub use schema_error::SchemaError;
pub use scorer::Scorer;
pub use setting::{Scoring, scoring_spec};
pub use standardisation::Standardisation;
pub use training::TrainSpec;

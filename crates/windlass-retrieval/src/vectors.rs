//! Nearest neighbours: a plaintext table of vectors, an encrypted query, the scores of all of them
//! back.
//!
//! A search is the first half of a lookup. The client encrypts its vector, the server expands it,
//! multiplies its prepared table by what comes out in one pass, and sends a score for every vector;
//! the client takes the k best. Scores are exact inner products of vectors of small integers
//! ([`QuantisedTable`], [`QuantisedQuery`]): what quantising may do to a score is stated with a
//! formula ([`QuantisedQuery::error_bound`]), encryption adds nothing.
//!
//! With D dimensions, g of them in each row of the table, row r and column c of the table are
//! Σ_{j, i<g} x_{c·n/g + j, r·g + i}·X^{out(j) − s·i}, and what it meets is Σ_i v_{r·g+i}·X^{s·i},
//! s = 2^{depth of the expansion}. The coefficient out(j) of the sum over r is the inner product of
//! vector c·n/g + j with v. With g = 1 the expansion makes one ciphertext for each dimension, and
//! the scores of n vectors come back in one ciphertext; a larger g saves key switches and takes
//! more ciphertexts back. [`SearchShape::plan`] chooses.
//!
//! ```
//! use rand_chacha::ChaCha20Rng;
//! use rand_core::SeedableRng;
//! use windlass_retrieval::vectors::{
//!     Metric, QuantisedTable, SearchClient, SearchServer, SearchShape, SearchSpec, Values, VectorTable, Vectors,
//! };
//!
//! # fn main() -> windlass_retrieval::Result<()> {
//! let rows = [0.0, 1.0, 0.6, 0.8, -1.0, 0.1];
//! let rows = Vectors::new(Values::F64(&rows), 2)?;
//! let quantised = QuantisedTable::new(&rows, Metric::Cosine, 8)?;
//! let shape = SearchShape::plan(&quantised, &SearchSpec::default())?;
//! println!("{shape}"); // sizes and seconds, before anything is made
//! let table = VectorTable::prepare(&quantised, &shape, &|_, _| std::ops::ControlFlow::Continue(()))?;
//! let server = SearchServer::new(table);
//!
//! let mut rng = ChaCha20Rng::from_seed([7; 32]); // a program takes one of the system's
//! let client = SearchClient::generate(&shape, &mut rng)?;
//! let keys = client.evaluation_keys(&mut rng)?;
//! let queries = shape.quantise(&Vectors::new(Values::F64(&[3.0, 4.1]), 2)?)?;
//! let answer = server.answer(&keys, &client.query(&queries, &mut rng)?)?;
//! let nearest = client.nearest(&answer, &queries, 2)?;
//! assert_eq!((nearest[0][0].index, nearest[0][1].index), (1, 0));
//! assert!((nearest[0][0].score - 1.0).abs() <= queries.error_bound(&shape, 0, nearest[0][0].score));
//! # Ok(())
//! # }
//! ```

mod client;
mod metric;
mod place;
mod quantise;
mod quantised_query;
mod schema;
mod server;
mod shape;
mod table;
mod values;
mod wire;

pub use client::{Neighbour, SearchClient, nearest};
pub use metric::Metric;
pub use quantise::QuantisedTable;
pub use quantised_query::QuantisedQuery;
pub use schema::SearchSchema;
pub use server::{SearchAnswer, SearchQuery, SearchServer};
pub use shape::{Prices, SearchShape, SearchSizes, SearchSpec};
pub use table::VectorTable;
pub use values::{Values, Vectors};
pub use wire::SearchFiles;

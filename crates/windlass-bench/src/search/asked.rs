//! A prepared table with a client that asked, its answer checked.

use std::ops::ControlFlow;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::rlwe::EvaluationKeys;
use windlass_retrieval::vectors::{
    Neighbour, QuantisedQuery, QuantisedTable, SearchAnswer, SearchClient, SearchQuery, SearchServer, SearchShape,
    Values, VectorTable, Vectors,
};

use super::data::Outcome;
use crate::process_time::Stopwatch;

/// A server, a client, its query.
pub struct Asked {
    server: SearchServer,
    client: SearchClient,
    keys: EvaluationKeys,
    quantised: QuantisedQuery,
    /// The first query alone, and all of them.
    queries: [SearchQuery; 2],
    /// Seconds of the processor that preparing took.
    pub prepare_s: f64,
}

impl Asked {
    /// Prepares a table on all threads and asks it; every score must be that of the clear.
    pub fn new(table: &QuantisedTable, shape: &SearchShape, queries: &[f32]) -> Outcome<Self> {
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let watch = Stopwatch::start();
        let prepared = VectorTable::prepare(table, shape, &|_, _| ControlFlow::Continue(()))?;
        let prepare_s = watch.processor_seconds();
        let client = SearchClient::generate(shape, &mut rng)?;
        let keys = client.evaluation_keys(&mut rng)?;
        let quantise = |queries: &[f32]| shape.quantise(&Vectors::new(Values::F32(queries), table.dimension())?);
        let quantised = quantise(queries)?;
        let first = quantise(&queries[..table.dimension()])?;
        let queries = [client.query(&first, &mut rng)?, client.query(&quantised, &mut rng)?];
        let made = Self { server: SearchServer::new(prepared), client, keys, quantised, queries, prepare_s };
        for (number, found) in made.client.scores(&made.answer_all()?)?.into_iter().enumerate() {
            if found != table.scores(&made.quantised, number) {
                return Err(format!("query {number}: other scores than in the clear").into());
            }
        }
        Ok(made)
    }

    /// The queries as integers.
    pub fn quantised(&self) -> &QuantisedQuery {
        &self.quantised
    }

    /// The server's work for the first query.
    pub fn answer(&self) -> windlass_retrieval::Result<SearchAnswer> {
        self.server.answer(&self.keys, &self.queries[0])
    }

    /// The server's work for all queries.
    pub fn answer_all(&self) -> windlass_retrieval::Result<SearchAnswer> {
        self.server.answer(&self.keys, &self.queries[1])
    }

    /// The k best for each query.
    pub fn nearest(&self, k: usize) -> windlass_retrieval::Result<Vec<Vec<Neighbour>>> {
        self.client.nearest(&self.answer_all()?, &self.quantised, k)
    }

    /// The public shape.
    pub fn shape(&self) -> &SearchShape {
        self.server.shape()
    }

    /// Bytes of keys, query and answer, in words.
    pub fn sizes(&self) -> String {
        let sizes = self.shape().sizes(self.client.setting());
        let kilobytes = |bytes: u64| format!("{:.0} kB", bytes as f64 / 1e3);
        let [keys, query, answer] = [sizes.keys, sizes.query, sizes.answer].map(kilobytes);
        format!("keys {keys}, query {query}, answer {answer}")
    }
}

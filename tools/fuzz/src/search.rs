//! Searches: messages.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::rlwe::EvaluationKeys;
use windlass::wire::to_bytes;
use windlass_retrieval::unobserved;
use windlass_retrieval::vectors::{
    Metric, QuantisedQuery, QuantisedTable, SearchAnswer, SearchClient, SearchFiles, SearchQuery, SearchServer,
    SearchShape, SearchSpec, Values, VectorTable, Vectors,
};

use crate::containers::{Reader, refused};
use crate::tables::is_time;
use crate::target::Target;

/// Both sides of a table of vectors.
pub struct Sides {
    pub shape: SearchShape,
    client: SearchClient,
    keys: EvaluationKeys,
    server: SearchServer,
    asked: QuantisedQuery,
}

impl Sides {
    /// Four vectors of three dimensions.
    pub fn new() -> Arc<Self> {
        let numbers = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.5, 0.5f32];
        let vectors = Vectors::new(Values::F32(&numbers), 3).expect("vectors");
        let table = QuantisedTable::new(&vectors, Metric::Cosine, 8).expect("a table");
        let shape = SearchShape::plan(&table, &SearchSpec::default()).expect("a shape");
        let mut rng = ChaCha20Rng::from_seed([4; 32]);
        let client = SearchClient::generate(&shape, &mut rng).expect("a client");
        let keys = client.evaluation_keys(&mut rng).expect("keys");
        let server = SearchServer::new(VectorTable::prepare(&table, &shape, &unobserved).expect("prepared"));
        let asked = shape.quantise(&Vectors::new(Values::F32(&numbers[..3]), 3).expect("vectors")).expect("a query");
        Arc::new(Self { shape, client, keys, server, asked })
    }

    fn files(&self) -> SearchFiles {
        SearchFiles::new(&self.shape).expect("a shape that was planned")
    }

    fn query(&self) -> SearchQuery {
        self.client.query(&self.asked, &mut ChaCha20Rng::from_seed([5; 32])).expect("a query")
    }
}

pub fn queries() -> Target {
    let sides = Sides::new();
    let (held, key) = (Arc::clone(&sides), sides.client.secret_key().key_id());
    let reader = Reader::new(sides.files(), key, move |query: SearchQuery| {
        assert!(query.count() > 0, "a query for nothing");
        if is_time() {
            held.server.answer(&held.keys, &query).inspect_err(|error| refused(error)).ok();
        }
    });
    Target::containers(vec![reader], vec![to_bytes(&sides.files(), &sides.query()).expect("bytes").to_vec()])
}

pub fn answers() -> Target {
    let sides = Sides::new();
    let answer = sides.server.answer(&sides.keys, &sides.query()).expect("an answer");
    let seed = to_bytes(&sides.files(), &answer).expect("bytes").to_vec();
    let key = sides.client.secret_key().key_id();
    let files = sides.files();
    let reader = Reader::new(files, key, move |answer: SearchAnswer| {
        assert!(answer.count() > 0, "an answer to nothing");
        sides.client.nearest(&answer, &sides.asked, 2).inspect_err(|error| refused(error)).ok();
    });
    Target::containers(vec![reader], vec![seed])
}

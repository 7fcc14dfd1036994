//! What the service keeps to.

use std::time::Duration;

use windlass::wire::OVERHEAD;
use windlass_retrieval::{MOST_ROWS, N, Schema, Setting};

/// Bounds of everything that clients can make grow.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of evaluation keys in memory.
    pub keys: u64,
    /// Selections that wait for a pass.
    pub queue: usize,
    /// Rows in one query; fewer where they take more than [`MOST_SELECTIONS`].
    pub rows: usize,
    /// Bytes of bodies that are being read.
    pub bodies: usize,
    /// Connections.
    pub connections: usize,
    /// Seconds for the head of a request, and between two requests.
    pub head: Duration,
    /// Seconds for the body of a request.
    pub body: Duration,
    /// Seconds for an answer, waiting included.
    pub answer: Duration,
    /// Seconds that a client may leave an answer unread.
    pub stalled: Duration,
    /// Seconds for those who are connected when the service is told to end.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keys: 1 << 30,
            queue: 512,
            rows: 32,
            bodies: 256 << 20,
            connections: 256,
            head: Duration::from_secs(20),
            body: Duration::from_secs(30),
            answer: Duration::from_secs(60),
            stalled: Duration::from_secs(20),
            drain: Duration::from_secs(60),
        }
    }
}

/// Selections of one query, sixteen passes: more of them are several questions, unless one row takes
/// as many.
pub const MOST_SELECTIONS: usize = 256;

/// Bytes of the fields before a key's polynomials and of the counts of lists: element, level, seed.
const FIELDS: usize = 64;

impl Limits {
    /// The longest body with evaluation keys: one for every step of the deepest expansion there is,
    /// and one for relinearisation.
    pub fn keys_body(&self, setting: &Setting) -> usize {
        let keys = N.ilog2() as usize + 1;
        OVERHEAD + FIELDS + keys * (FIELDS + setting.context().params().key_sizes().switching_key_disk as usize)
    }

    /// Most selections of one query.
    pub fn selections(&self, schema: &Schema) -> usize {
        let each = schema.selections();
        each * self.rows.min(MOST_ROWS).min((MOST_SELECTIONS / each).max(1))
    }

    /// The longest body with a query: for as many rows as may be asked for at once.
    pub fn query_body(&self, schema: &Schema, setting: &Setting) -> usize {
        let ciphertexts = self.selections(schema).div_ceil(schema.shape.selections);
        OVERHEAD + FIELDS + ciphertexts * schema.shape.sizes(setting).query as usize
    }
}

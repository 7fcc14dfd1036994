//! The limits of the service.

use std::time::Duration;

use windlass_retrieval::{MOST_ROWS, Schema, Setting, longest_query};

/// Bounds of everything that clients can make grow.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of evaluation keys in memory.
    pub keys: u64,
    /// Bytes of them that one client may have there, if that is less.
    pub client_keys: Option<u64>,
    /// Portions of rows that one client may ask for in a minute, where its token does not say.
    pub client_portions: Option<u32>,
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
    /// Seconds for open connections after a signal to stop.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keys: 1 << 30,
            client_keys: None,
            client_portions: None,
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

/// Selections of one query, sixteen passes: more of them are several queries, unless one row takes
/// as many.
pub const MOST_SELECTIONS: usize = 256;

impl Limits {
    /// Most selections of one query.
    pub fn selections(&self, schema: &Schema) -> usize {
        schema.selections() * self.rows_at_once(schema)
    }

    /// Most rows of one query.
    pub fn rows_at_once(&self, schema: &Schema) -> usize {
        self.rows.min(MOST_ROWS).min((MOST_SELECTIONS / schema.selections()).max(1))
    }

    /// The longest body with a query: for as many rows as may be asked for at once.
    pub fn query_body(&self, schema: &Schema, setting: &Setting) -> usize {
        longest_query(setting, schema, self.selections(schema))
    }
}

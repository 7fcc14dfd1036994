//! A table with a client that asked; what came back was compared with the table.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::rlwe::EvaluationKeys;
use windlass_retrieval::{Answer, Client, Plan, Query, RowStatistics, Table, TableRequirements, unobserved};

use crate::process_time::Stopwatch;

/// What is measured.
pub struct Case {
    pub name: &'static str,
    pub rows: usize,
    pub bytes: usize,
    pub keyed: bool,
    pub requirements: TableRequirements,
}

/// A prepared table, a client, its queries.
pub struct Asked {
    pub plan: Plan,
    pub table: Table,
    pub prepare_s: f64,
    client: Client,
    keys: EvaluationKeys,
    /// Rows that are asked for, and a query for each.
    asked: Vec<usize>,
    queries: Vec<Query>,
    answer: Answer,
    next: AtomicUsize,
}

fn key(row: usize) -> [u8; 8] {
    (row as u64).to_le_bytes()
}

impl Asked {
    /// Prepares random rows and asks for `count` of them; every one must be that of the table.
    pub fn new(case: &Case, count: usize) -> Result<Self, Box<dyn Error>> {
        let mut rng = ChaCha20Rng::from_seed([9; 32]);
        let mut data = vec![0; case.rows * case.bytes];
        rng.fill_bytes(&mut data);
        let rows: Vec<&[u8]> = data.chunks_exact(case.bytes).collect();
        let statistics = RowStatistics::of(&rows)?;
        let watch = Stopwatch::start();
        let (plan, table) = if case.keyed {
            let keyed: Vec<([u8; 8], &[u8])> = rows.iter().enumerate().map(|(i, row)| (key(i), *row)).collect();
            let plan = Plan::keywords(statistics, "00", 1.0, &case.requirements)?;
            let table = Table::of_keywords(&plan, &keyed, &unobserved)?;
            (plan, table)
        } else {
            let plan = Plan::rows(statistics, &case.requirements)?;
            let table = Table::of_rows(&plan, &rows, &unobserved)?;
            (plan, table)
        };
        let prepare_s = watch.processor_seconds();
        let client = Client::new(table.schema().clone(), table.setting())?;
        let keys = client.evaluation_keys()?;
        let asked: Vec<usize> = (0..count).map(|_| rng.next_u64() as usize % case.rows).collect();
        let query = |row: &usize| {
            if case.keyed { client.query_keys(&[key(*row)]) } else { client.query_rows(&[*row]) }
        };
        let queries: Vec<Query> = asked.iter().map(query).collect::<Result<_, _>>()?;
        let all: Vec<(&EvaluationKeys, &Query)> = queries.iter().map(|query| (&keys, query)).collect();
        let mut answers = table.answer_all(&all)?;
        for (row, answer) in asked.iter().zip(&answers) {
            let found = if case.keyed {
                client.rows_of_keys(answer, &[key(*row)])?.remove(0)
            } else {
                Some(client.rows(answer, &[*row])?.remove(0))
            };
            if found.as_deref() != Some(rows[*row]) {
                return Err(format!("{}: row {row} came back as another one", case.name).into());
            }
        }
        let (answer, next) = (answers.remove(0), AtomicUsize::new(0));
        Ok(Self { plan, table, prepare_s, client, keys, asked, queries, answer, next })
    }

    /// The server's work for `count` queries.
    pub fn answer(&self, count: usize) -> Vec<Answer> {
        let from = self.next.fetch_add(1, Ordering::Relaxed);
        let query = |k: usize| (&self.keys, &self.queries[(from + k) % self.queries.len()]);
        let queries: Vec<(&EvaluationKeys, &Query)> = (0..count).map(query).collect();
        self.table.answer_all(&queries).expect("it was answered before")
    }

    /// The client's work for a query.
    pub fn client_query(&self) -> Query {
        match &self.table.schema().contents {
            windlass_retrieval::Contents::Rows(_) => self.client.query_rows(&self.asked[..1]),
            windlass_retrieval::Contents::Keywords(_) => self.client.query_keys(&[key(self.asked[0])]),
        }
        .expect("it was asked before")
    }

    /// The client's work for an answer.
    pub fn decrypt(&self) {
        match &self.table.schema().contents {
            windlass_retrieval::Contents::Rows(_) => drop(self.client.rows(&self.answer, &self.asked[..1])),
            windlass_retrieval::Contents::Keywords(_) => {
                drop(self.client.rows_of_keys(&self.answer, &[key(self.asked[0])]));
            }
        }
    }
}

//! A version of a table, and what is done with bytes that belong to it.

use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes};
use windlass::rlwe::EvaluationKeys;
use windlass::wire::{Wire, from_bytes, to_bytes};
use windlass_retrieval as retrieval;
use windlass_retrieval::{
    Contents, Error, OprfKey, PartialAnswer, Plan, Query, RowStatistics, Schema, TableContext, TableRequirements,
};

use crate::runtime::long;
use crate::table_errors::raise_table;
use crate::table_keys::Given;
use crate::table_plan::{By, plan_for};
use crate::table_rows::{Source, pairs_of, row_bytes};

/// A version of a table, with what its queries and answers are read with.
pub struct Version {
    pub table: retrieval::Table,
    pub files: TableContext,
}

impl Version {
    /// A version.
    pub fn new(table: retrieval::Table) -> Self {
        Self { files: TableContext::new(table.setting(), table.schema()), table }
    }

    /// That of a directory.
    pub fn open(directory: &Path, verify: bool) -> retrieval::Result<Self> {
        Ok(Self::new(retrieval::Table::open(directory, verify)?))
    }
}

/// How often bins that cannot hold all entries are planned again, each time with a twentieth more.
const TRIES: u32 = 8;

impl Version {
    /// Prepares a table, with more room where entries do not fit, or under a schema that clients
    /// know; `oprf` hides its keys.
    pub fn prepare(
        source: &Source,
        requirements: &TableRequirements,
        (like, oprf): (Option<&Schema>, Option<&OprfKey>),
        directory: Option<&Path>,
        observer: &retrieval::Observer<'_>,
    ) -> retrieval::Result<Self> {
        let rows = source.rows.slices();
        let statistics = RowStatistics::of(&rows)?;
        directory.map_or(Ok(()), |path| retrieval::Table::check_requirements(path, statistics, requirements))?;
        let keyed: Option<Vec<(&[u8], &[u8])>> =
            source.keys.as_ref().map(|keys| keys.slices().into_iter().zip(rows.iter().copied()).collect());
        let by = match (&keyed, oprf) {
            (None, None) => By::Number,
            (Some(_), None) => By::Key,
            (Some(_), Some(key)) => By::HiddenKey(key.public()),
            (None, Some(_)) => return Err(Error::PlainKeys),
        };
        for attempt in 0..TRIES {
            let slack = 1.0 + f64::from(attempt) / 20.0;
            let plan = match like {
                Some(known) => like_known(known, source, statistics)?,
                None => {
                    let mut plan = plan_for(statistics, by, slack, requirements)?;
                    plan.schema.fields.clone_from(&source.fields);
                    plan.schema.key.clone_from(&source.key);
                    plan
                }
            };
            if directory.is_none() {
                windlass::check_memory("the prepared table", plan.sizes.prepared)?;
            }
            match make(&plan, (&rows, keyed.as_deref()), oprf, directory, observer) {
                Err(Error::Full { key }) if like.is_some() => {
                    return Err(Error::OtherLayout { reason: format!("the table has no space for the key '{key}'") });
                }
                Err(Error::Full { .. }) if attempt + 1 < TRIES => {}
                made => return Ok(Self::new(made?)),
            }
        }
        unreachable!("the last attempt returns")
    }
}

/// Prepares a table by a plan.
fn make(
    plan: &Plan,
    (rows, keyed): (&[&[u8]], Option<&[(&[u8], &[u8])]>),
    oprf: Option<&OprfKey>,
    directory: Option<&Path>,
    observer: &retrieval::Observer<'_>,
) -> retrieval::Result<retrieval::Table> {
    use retrieval::Table;
    match (directory, keyed, oprf) {
        (None, None, _) => Table::of_rows(plan, rows, observer),
        (None, Some(keyed), None) => Table::of_keywords(plan, keyed, observer),
        (None, Some(keyed), Some(key)) => Table::of_hidden(plan, keyed, key, observer),
        (Some(path), None, _) => Table::create_rows(path, &plan.schema, rows, observer),
        (Some(path), Some(keyed), None) => Table::create_keywords(path, &plan.schema, keyed, observer),
        (Some(path), Some(keyed), Some(key)) => Table::create_hidden(path, &plan.schema, keyed, key, observer),
    }
}

/// The plan under a schema that clients know.
fn like_known(known: &Schema, source: &Source, rows: RowStatistics) -> retrieval::Result<Plan> {
    let keyed = matches!(known.contents, Contents::Keywords(_));
    if keyed != source.keys.is_some() || (&known.fields, &known.key) != (&source.fields, &source.key) {
        let by = if keyed { "key" } else { "number" };
        let reason = format!("it describes rows by {by} with the columns '{}'", known.fields.join(","));
        return Err(Error::OtherLayout { reason });
    }
    Plan::like(known, rows)
}

/// A client's keys, and its query.
pub type Asked = (Given, Vec<u8>);

/// Keys and a query as they are given.
pub fn asked(keys: &Bound<'_, PyAny>, query: &Bound<'_, PyAny>) -> PyResult<Asked> {
    Ok((Given::of(keys)?, row_bytes(query, "a query")?))
}

/// Those of several clients.
pub fn all_asked(queries: &Bound<'_, PyAny>) -> PyResult<Vec<Asked>> {
    let queries = pairs_of(queries, "queries must be pairs of keys and bytes")?;
    queries.iter().map(|(keys, query)| asked(keys, query)).collect()
}

impl Version {
    /// What `answer` makes of queries, in bytes, while Python does other things.
    pub fn answers<'py, T: Wire<TableContext>>(
        self: &Arc<Self>,
        py: Python<'py>,
        given: Vec<Asked>,
        answer: impl FnOnce(&retrieval::Table, &[(&EvaluationKeys, &Query)]) -> retrieval::Result<Vec<T>> + Send + 'static,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let version = Arc::clone(self);
        let quiet = PyBool::new(py, false).to_owned().into_any();
        let answers = long(py, Some(&quiet), "answer", move |_| Ok(version.each(&given, answer)))?;
        let answers = answers.map_err(|error| raise_table(py, error))?;
        Ok(answers.iter().map(|answer| PyBytes::new(py, answer)).collect())
    }

    /// The same, before they are given to Python.
    fn each<T: Wire<TableContext>>(
        &self,
        given: &[Asked],
        answer: impl FnOnce(&retrieval::Table, &[(&EvaluationKeys, &Query)]) -> retrieval::Result<Vec<T>>,
    ) -> retrieval::Result<Vec<Vec<u8>>> {
        let read = |(keys, query): &Asked| -> retrieval::Result<(Arc<EvaluationKeys>, Query)> {
            Ok((keys.read()?, from_bytes(&self.files, query)?))
        };
        let read = given.iter().map(read).collect::<retrieval::Result<Vec<_>>>()?;
        let queries: Vec<(&EvaluationKeys, &Query)> = read.iter().map(|(keys, query)| (&**keys, query)).collect();
        let bytes = |value: &T| Ok(to_bytes(&self.files, value)?.to_vec());
        answer(&self.table, &queries)?.iter().map(bytes).collect()
    }
}

/// Refuses keys and a query that this table does not take; the number of selections.
pub fn check(version: &Version, keys: &Given, query: Option<&[u8]>) -> retrieval::Result<usize> {
    let keys = keys.read()?;
    let Some(query) = query else {
        let own = Arc::ptr_eq(keys.context(), version.table.setting().context());
        return if own { Ok(0) } else { Err(Error::OtherTable { what: "the set of evaluation keys" }) };
    };
    let query: Query = from_bytes(&version.files, query)?;
    version.table.check(&keys, &query)?;
    Ok(query.count())
}

/// The answer, out of the parts of all shards.
pub fn combine(version: &Version, given: &Asked, parts: &[Vec<u8>]) -> retrieval::Result<Vec<u8>> {
    let (table, files) = (&version.table, &version.files);
    let (keys, query): (_, Query) = (given.0.read()?, from_bytes(files, &given.1)?);
    let read = |part: &Vec<u8>| Ok(from_bytes::<_, PartialAnswer>(files, part)?);
    let parts = parts.iter().map(read).collect::<retrieval::Result<Vec<_>>>()?;
    let answers = retrieval::combine(table.setting(), table.schema(), &[((&*keys, &query), &parts[..])])?;
    Ok(to_bytes(files, &answers[0])?.to_vec())
}

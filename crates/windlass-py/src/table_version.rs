//! A version of a table, and what is done with bytes that belong to it.

use std::path::Path;
use std::sync::Arc;

use windlass::rlwe::EvaluationKeys;
use windlass::wire::{Wire, from_bytes, to_bytes};
use windlass_retrieval as retrieval;
use windlass_retrieval::{Error, PartialAnswer, Query, TableContext};

use crate::table_keys::Given;

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

impl Version {
    /// What `answer` makes of queries with their keys, all of them in bytes.
    pub fn each<T: Wire<TableContext>>(
        &self,
        given: &[(Given, Vec<u8>)],
        answer: impl FnOnce(&retrieval::Table, &[(&EvaluationKeys, &Query)]) -> retrieval::Result<Vec<T>>,
    ) -> retrieval::Result<Vec<Vec<u8>>> {
        let read = |(keys, query): &(Given, Vec<u8>)| -> retrieval::Result<(Arc<EvaluationKeys>, Query)> {
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
pub fn combine(version: &Version, given: &(Given, Vec<u8>), parts: &[Vec<u8>]) -> retrieval::Result<Vec<u8>> {
    let (table, files) = (&version.table, &version.files);
    let (keys, query): (_, Query) = (given.0.read()?, from_bytes(files, &given.1)?);
    let read = |part: &Vec<u8>| Ok(from_bytes::<_, PartialAnswer>(files, part)?);
    let parts = parts.iter().map(read).collect::<retrieval::Result<Vec<_>>>()?;
    let answers = retrieval::combine(table.setting(), table.schema(), &[((&*keys, &query), &parts[..])])?;
    Ok(to_bytes(files, &answers[0])?.to_vec())
}

//! Answers to queries, and the shards of a table.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::PyTable;
use crate::error::plain;
use crate::natural::Natural;
use crate::runtime::{long, quick};
use crate::table_errors::raise_table;
use crate::table_keys::Given;
use crate::table_rows::row_bytes;
use crate::table_shards::PyTableShard;
use crate::table_version::{all_asked, asked, check, combine};

#[pymethods]
impl PyTable {
    /// Computes the answer to a query, in one pass through the whole table.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    ///     The evaluation keys of the client. Bytes are parsed in each call.
    /// query : bytes
    ///
    /// Returns
    /// -------
    /// bytes
    ///     The answer, which only the client can decrypt. The server does the same work for every
    ///     row, also for one that the table does not have.
    ///
    /// Raises
    /// ------
    /// OtherContext
    ///     If the query is for another table.
    /// OtherKeyPair
    ///     If keys and query belong to two clients.
    /// MissingKeys, FileError
    ///     If the keys do not suffice, or the bytes are not keys or not a query.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        query: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(self.answers(py, vec![asked(keys, query)?])?.remove(0))
    }

    /// Computes the answers to queries of any number of clients, which share passes through the
    /// table.
    ///
    /// Parameters
    /// ----------
    /// queries : iterable of (TableKeys or bytes, bytes)
    ///
    /// Returns
    /// -------
    /// list of bytes
    ///
    /// Raises
    /// ------
    /// WindlassError
    ///     As :meth:`answer`. No answer is then returned.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_rows([b"zero", b"one"])
    /// >>> clients = [wl.TableClient(table.schema) for _ in range(2)]
    /// >>> queries = [(wl.TableKeys(c.keys()), c.query(n)) for n, c in enumerate(clients)]
    /// >>> answers = table.answer_all(queries)
    /// >>> [c.rows(a, n) for n, (c, a) in enumerate(zip(clients, answers))]
    /// [[b'zero'], [b'one']]
    fn answer_all<'py>(&self, py: Python<'py>, queries: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        self.answers(py, all_asked(queries)?)
    }

    /// Checks whether a query can be answered with these keys, without computing the answer.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    /// query : bytes, optional
    ///     Without it only the keys are checked.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of selections of the query: :attr:`selections` for each row.
    ///
    /// Raises
    /// ------
    /// WindlassError
    ///     As :meth:`answer`.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_rows([b"zero", b"one"])
    /// >>> client = wl.TableClient(table.schema)
    /// >>> table.check(client.keys(), client.query([0, 1, 1])) == 3 * table.selections
    /// True
    #[pyo3(signature = (keys, query=None))]
    fn check(&self, py: Python<'_>, keys: &Bound<'_, PyAny>, query: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
        let (keys, version) = (Given::of(keys)?, self.current());
        let query = query.map(|query| row_bytes(query, "a query")).transpose()?;
        let checked = quick(py, || Ok(check(&version, &keys, query.as_deref())))?;
        checked.map_err(|error| raise_table(py, error))
    }

    /// Takes one of the blocks of columns of the table, for machines that hold one block each.
    ///
    /// Parameters
    /// ----------
    /// index : int
    ///     The number of the block, counted from 0.
    /// of : int
    ///     The number of blocks.
    ///
    /// Raises
    /// ------
    /// NoShards
    ///     If the columns cannot be cut into that number of blocks; the attribute ``possible``
    ///     lists the numbers that are possible.
    /// ParameterError
    ///     If the index is too large.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_rows([b"%099d" % n for n in range(9000)])
    /// >>> client = wl.TableClient(table.schema)
    /// >>> keys, query = client.keys(), client.query(8765)
    /// >>> parts = [table.shard(i, 2).answer(keys, query) for i in range(2)]   # on two machines
    /// >>> answer = table.combine(keys, query, parts)                          # on any
    /// >>> client.rows(answer, 8765)[0][-6:]
    /// b'008765'
    fn shard(&self, py: Python<'_>, index: Natural, of: Natural) -> PyResult<PyTableShard> {
        let version = self.current();
        let shards = version.table.shards(of.0 as usize).map_err(|error| raise_table(py, error))?;
        let beyond = || {
            plain(
                py,
                "ParameterError",
                format!("the number of a shard of {} must be below that, not {}", of.0, index.0),
            )
        };
        let shard = *shards.get(index.0 as usize).ok_or_else(beyond)?;
        Ok(PyTableShard::new(version, shard))
    }

    /// Combines the parts of all shards, in any order, to the answer to a query.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    /// query : bytes
    /// parts : iterable of bytes
    ///     The result of :meth:`TableShard.answer` of each shard, once.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     The same bits as :meth:`answer`. No row of the table is read.
    ///
    /// Raises
    /// ------
    /// PartError
    ///     If a part is missing, occurs twice, or belongs to another query, version of the table or
    ///     number of shards.
    /// WindlassError
    ///     As :meth:`answer`.
    fn combine<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        query: &Bound<'py, PyAny>,
        parts: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (version, given) = (self.current(), asked(keys, query)?);
        let parts: Vec<Vec<u8>> =
            parts.try_iter()?.map(|part| row_bytes(&part?, "the part of a shard")).collect::<PyResult<_>>()?;
        let quiet = pyo3::types::PyBool::new(py, false).to_owned().into_any();
        let answer = long(py, Some(&quiet), "combine", move |_| Ok(combine(&version, &given, &parts)))?;
        Ok(PyBytes::new(py, &answer.map_err(|error| raise_table(py, error))?))
    }
}

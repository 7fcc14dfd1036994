//! How a table would be laid out.

use pyo3::prelude::*;
use windlass_retrieval as retrieval;
use windlass_retrieval::{POINT_BYTES, Plan, RowStatistics, TableRequirements, fresh_seed};

use crate::error::plain;
use crate::natural::Natural;
use crate::runtime::quick;
use crate::table_errors::raise_table;

/// What a plan must keep to, from arguments.
pub fn requirements(
    limits: [Option<Natural>; 3],
    room: Option<Natural>,
    tag_bits: Option<Natural>,
) -> TableRequirements {
    let [keys, query, answer] = limits.map(|limit| limit.map(|limit| limit.0));
    let tag_bits = tag_bits.map(|bits| u32::try_from(bits.0).unwrap_or(u32::MAX));
    TableRequirements { keys, query, answer, room: room.map(|room| room.0 as usize), tag_bits }
}

/// Refuses bits of a tag for rows by number.
pub fn refuse_tag_bits(py: Python<'_>, keyed: bool, tag_bits: Option<Natural>) -> PyResult<()> {
    match tag_bits {
        Some(_) if !keyed => Err(plain(py, "ParameterError", "rows by number have no tags: leave out tag_bits")),
        _ => Ok(()),
    }
}

/// How the rows of a table are asked for.
#[derive(Debug, Clone, Copy)]
pub enum By {
    /// By number.
    Number,
    /// By key.
    Key,
    /// By a key that the function of this public key hides.
    HiddenKey([u8; POINT_BYTES]),
}

/// The layout of rows like these.
pub fn plan_for(rows: RowStatistics, by: By, slack: f64, requirements: &TableRequirements) -> retrieval::Result<Plan> {
    match by {
        By::Number => Plan::rows(rows, requirements),
        By::Key => Plan::keywords(rows, &fresh_seed()?, slack, requirements),
        By::HiddenKey(public) => Plan::hidden(rows, &public, &fresh_seed()?, slack, requirements),
    }
}

/// The layout of a table, its sizes and its time, without making the table.
///
/// Made by :func:`table_plan`. ``print(plan)`` shows all of it.
#[pyclass(frozen, name = "TablePlan", module = "windlass")]
pub struct PyTablePlan {
    plan: Plan,
}

#[pymethods]
impl PyTablePlan {
    /// Bytes of the evaluation keys of a client, which sends them once.
    #[getter]
    fn keys_bytes(&self) -> u64 {
        self.plan.sizes.keys
    }

    /// Bytes of the query for one row.
    #[getter]
    fn query_bytes(&self) -> u64 {
        self.plan.traffic[0]
    }

    /// Bytes of the answer for one row.
    #[getter]
    fn answer_bytes(&self) -> u64 {
        self.plan.traffic[1]
    }

    /// Bytes of the first query for one row in portions (:meth:`TableClient.in_portions`). A
    /// short row needs only this one.
    #[getter]
    fn portion_query_bytes(&self) -> u64 {
        self.plan.portion[0]
    }

    /// Bytes of the answer to that query.
    #[getter]
    fn portion_answer_bytes(&self) -> u64 {
        self.plan.portion[1]
    }

    /// Portions of the longest row. Every query for a whole row asks for so many.
    #[getter]
    fn portions(&self) -> usize {
        self.plan.schema.portions()
    }

    /// Bytes of the prepared table.
    #[getter]
    fn prepared_bytes(&self) -> u64 {
        self.plan.sizes.prepared
    }

    /// Seconds to prepare the table on one core of the reference machine.
    #[getter]
    fn prepare_seconds(&self) -> f64 {
        self.plan.seconds.prepare
    }

    /// Seconds to answer one query on one core of the reference machine.
    #[getter]
    fn answer_seconds(&self) -> f64 {
        self.plan.seconds.answer
    }

    /// The security in bits: log2 of the work of the best known attack.
    #[getter]
    fn security_bits(&self) -> f64 {
        self.plan.schema.shape.moduli.params().map_or(0.0, |params| params.security().bits)
    }

    fn __str__(&self) -> String {
        self.plan.explain()
    }

    fn __repr__(&self) -> String {
        format!(
            "<windlass.TablePlan: keys {}, query {}, answer {}, prepared table {}>",
            retrieval::format_bytes(self.plan.sizes.keys),
            retrieval::format_bytes(self.plan.traffic[0]),
            retrieval::format_bytes(self.plan.traffic[1]),
            retrieval::format_bytes(self.plan.sizes.prepared)
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.str()?,))?.extract()
    }
}

/// Plans a table: its layout, sizes and seconds, without making it.
///
/// Parameters
/// ----------
/// rows : int
///     How many.
/// bytes : int
///     Bytes of each row, or of the longest row if lengths differ.
/// keyed : bool
///     Whether clients ask for rows by key, not by number.
/// hidden : bool
///     Whether keys are hidden (``oprf_key=...`` of :meth:`Table.from_items`).
/// room : int, optional
///     The number of rows that the table must have room for.
/// most_keys, most_query, most_answer : int, optional
///     The maximum bytes of the keys of a client, of the query for one row, and of its answer.
/// tag_bits : int, optional
///     The bits of the tag of each key, 128 (the default) or 64, as for :meth:`Table.from_items`.
///
/// Returns
/// -------
/// TablePlan
///
/// Raises
/// ------
/// NoParameters
///     If no layout is within all limits.
/// ParameterError
///     If ``hidden`` or ``tag_bits`` is given without ``keyed``, or ``tag_bits`` is not possible.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> plan = wl.table_plan(1_000_000, 100, keyed=True)
/// >>> print(plan)                                     # doctest: +ELLIPSIS
/// table ...
/// >>> plan.query_bytes < 64_000
/// True
#[pyfunction]
#[pyo3(signature = (rows, bytes, *, keyed=false, hidden=false, room=None, most_keys=None, most_query=None, most_answer=None,
    tag_bits=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn table_plan(
    py: Python<'_>,
    rows: Natural,
    bytes: Natural,
    keyed: bool,
    hidden: bool,
    room: Option<Natural>,
    most_keys: Option<Natural>,
    most_query: Option<Natural>,
    most_answer: Option<Natural>,
    tag_bits: Option<Natural>,
) -> PyResult<PyTablePlan> {
    refuse_tag_bits(py, keyed, tag_bits)?;
    let (count, longest) = (rows.0 as usize, bytes.0 as usize);
    let statistics = RowStatistics { count, longest, fixed: longest > 0, total: rows.0.saturating_mul(bytes.0) };
    let requirements = requirements([most_keys, most_query, most_answer], room, tag_bits);
    let by = match (keyed, hidden) {
        (false, false) => By::Number,
        (true, false) => By::Key,
        // Every key that hides keys gives the same layout.
        (true, true) => By::HiddenKey([0; POINT_BYTES]),
        (false, true) => return Err(plain(py, "ParameterError", "hidden keys need a table by key: give keyed=True")),
    };
    let plan = quick(py, || Ok(plan_for(statistics, by, 1.0, &requirements)))?;
    Ok(PyTablePlan { plan: plan.map_err(|error| raise_table(py, error))? })
}

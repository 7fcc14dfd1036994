//! Sums of rows.

use std::sync::Arc;

use pyo3::prelude::*;
use windlass::Result;
use windlass::circuits::TracePlan;

use crate::array::{Parts, PyCiphertext};
use crate::elementwise::{each, masked};
use crate::error::plain;
use crate::handle::ServerKind;
use crate::runtime::{long, quick};

/// The sums of rows.
pub fn sum(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyCiphertext> {
    if !a.layout.is_packed() {
        return added(py, a);
    }
    let plan = quick(py, || a.setting.sum(a.layout.length))?;
    total(py, a, &plan)
}

/// Sums of entries that lie in ciphertexts of their own, over the last dimension.
fn added(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyCiphertext> {
    let (server, each_sum) = (a.server(py)?, a.layout.dims.last().copied().unwrap_or(1));
    let parts = quick(py, || {
        Ok(match (&*server, &*a.parts) {
            (ServerKind::Exact(s), Parts::Exact(list)) => {
                Parts::Exact(list.chunks(each_sum).map(|row| joined(row, |a, b| s.add(a, b))).collect::<Result<_>>()?)
            }
            (ServerKind::Approximate(s), Parts::Approximate(list)) => Parts::Approximate(
                list.chunks(each_sum).map(|row| joined(row, |a, b| s.add(a, b))).collect::<Result<_>>()?,
            ),
            _ => unreachable!("contexts are the same"),
        })
    })?;
    Ok(a.result(parts, a.layout.summed(), a.numbers, a.clean))
}

/// All of them added.
fn joined<C: Clone>(list: &[C], add: impl Fn(&C, &C) -> Result<C>) -> Result<C> {
    let (first, rest) = list.split_first().expect("rows have ciphertexts");
    rest.iter().try_fold(first.clone(), |sum, ct| add(&sum, ct))
}

/// The sums of rows by a plan. Chunks are added first, and slots beyond the entries masked where
/// they may hold anything.
pub fn total(py: Python<'_>, a: &PyCiphertext, plan: &Arc<TracePlan>) -> PyResult<PyCiphertext> {
    if a.elements {
        return Err(plain(py, "NotIntegers", "sums are of integers; take them of elements with a linear map"));
    }
    if a.layout.length == 1 {
        // One entry for each row: the row's sum is the entry.
        let layout = if a.layout.dims.is_empty() { a.layout.clone() } else { a.layout.summed() };
        return Ok(PyCiphertext { layout, ..a.copied() });
    }
    let cleared = if a.clean { None } else { Some(masked(py, a)?) };
    let a = cleared.as_ref().unwrap_or(a);
    let (server, parts, plan, chunks) = (a.server(py)?, Arc::clone(&a.parts), Arc::clone(plan), a.chunks());
    let sums = long(py, None, "sum", move |ticker| {
        Ok(match (&*server, &*parts) {
            (ServerKind::Exact(s), Parts::Exact(list)) => {
                let rows: Vec<_> = list.chunks(chunks).collect();
                Parts::Exact(each(ticker, &rows, |row| s.apply(&*plan, &joined(row, |a, b| s.add(a, b))?))?)
            }
            (ServerKind::Approximate(s), Parts::Approximate(list)) => {
                let rows: Vec<_> = list.chunks(chunks).collect();
                Parts::Approximate(each(ticker, &rows, |row| s.apply(&*plan, &joined(row, |a, b| s.add(a, b))?))?)
            }
            _ => unreachable!("contexts are the same"),
        })
    })?;
    Ok(a.result(sums, a.layout.summed(), a.numbers, false))
}

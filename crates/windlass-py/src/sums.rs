//! Sums of slots.

use std::sync::Arc;

use pyo3::prelude::*;
use windlass::circuits::TracePlan;
use windlass::schemes::ckks;
use windlass::{NeedsKeys, Result};

use crate::array::{Parts, PyCiphertext};
use crate::elementwise::{Operand, each, masked};
use crate::error::{made_by, plain, said_otherwise};
use crate::handle::ServerKind;
use crate::numbers::numpy;
use crate::runtime::{long, quick};

/// All of them added.
pub fn joined<C: Clone>(list: &[&C], add: impl Fn(&C, &C) -> Result<C>) -> Result<C> {
    let (first, rest) = list.split_first().expect("rows have ciphertexts");
    rest.iter().try_fold((*first).clone(), |sum, ct| add(&sum, ct))
}

/// The sums of rows of several entries. If the server has the keys of a sum over all slots, every
/// slot gets the sum, which then stands for all entries of a row; integers are always summed so.
pub fn of_rows(py: Python<'_>, a: &PyCiphertext) -> PyResult<PyCiphertext> {
    let (own, all) = quick(py, || Ok((a.setting.sum(a.layout.length)?, a.setting.sum(a.setting.slots())?)))?;
    if Arc::ptr_eq(&own, &all) || !has_keys(a.server(py)?.as_ref(), &all) {
        return total(py, a, &own);
    }
    // The bound on a sum of all slots may be beyond what the modulus takes.
    match total(py, a, &all) {
        Err(error) if error.get_type(py).name()? == "CapacityExhausted" => {
            total(py, a, &own).map_err(|error| not_over_all(py, error))
        }
        done => done,
    }
}

/// Keys of the sum over all slots were made, but it cannot be used.
fn not_over_all(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.get_type(py).name().is_ok_and(|name| name == "MissingGaloisKey") {
        return error;
    }
    let message = format!(
        "{}; context.sum() does not suffice here, since the bound on a sum over all slots is too large for the modulus",
        error.value(py)
    );
    said_otherwise(py, error, &message)
}

/// The call that makes the keys of a sum.
fn call(a: &PyCiphertext) -> String {
    if a.setting.is_exact() { "context.sum()".into() } else { format!("context.sum({})", a.layout.length) }
}

fn has_keys(server: &ServerKind, plan: &TracePlan) -> bool {
    plan.key_request().galois.keys().all(|&element| server.keys().galois(element).is_some())
}

/// The sums of rows by a plan. Chunks are added first, and slots beyond the entries masked where
/// they may hold anything.
pub fn total(py: Python<'_>, a: &PyCiphertext, plan: &Arc<TracePlan>) -> PyResult<PyCiphertext> {
    if a.elements {
        return Err(plain(py, "NotIntegers", "a sum needs integers; sum ring elements with a linear map"));
    }
    if a.layout.length == 1 {
        // One entry for each row: the row's sum is the entry.
        let layout = if a.layout.dims.is_empty() { a.layout.clone() } else { a.layout.summed() };
        return Ok(PyCiphertext { layout, ..a.copied() });
    }
    let cleared = if a.clean { None } else { Some(masked(py, a)?) };
    let a = cleared.as_ref().unwrap_or(a);
    let spread = a.setting.is_exact() || Arc::ptr_eq(plan, &quick(py, || a.setting.sum(a.setting.slots()))?);
    let (server, parts, plan, chunks) = (a.server(py)?, Arc::clone(&a.parts), Arc::clone(plan), a.chunks());
    let length = a.layout.length;
    let sums = long(py, None, "sum", move |ticker| {
        Ok(match (&*server, &*parts) {
            (ServerKind::Exact(s), Parts::Exact(list)) => {
                let rows: Vec<Vec<_>> = list.chunks(chunks).map(|row| row.iter().collect()).collect();
                Parts::Exact(each(ticker, &rows, |row| s.apply(&*plan, &joined(row, |a, b| s.add(a, b))?))?)
            }
            (ServerKind::Approximate(s), Parts::Approximate(list)) => {
                let rows: Vec<Vec<_>> = list.chunks(chunks).map(|row| row.iter().collect()).collect();
                Parts::Approximate(each(ticker, &rows, |row| {
                    let sum = s.apply(&*plan, &joined(row, |a, b| s.add(a, b))?)?;
                    // The other slots hold zeros: they add nothing to the sum, or to its bound.
                    let largest = row.iter().map(|ct| ct.magnitude()).fold(0.0, f64::max);
                    Ok::<ckks::Ciphertext, _>(sum.with_magnitude(largest * length as f64))
                })?)
            }
            _ => unreachable!("contexts are the same"),
        })
    })
    .map_err(|error| made_by(py, error, &call(a)))?;
    Ok(a.result(sums, a.layout.summed(), a.numbers, false).with_spread(spread))
}

/// An array of the shape of an encrypted one, all of whose numbers are this.
pub fn filled<'py>(py: Python<'py>, a: &PyCiphertext, number: f64) -> PyResult<Operand<'py>> {
    let dtype = if a.setting.is_exact() { "int64" } else { "float64" };
    let array = numpy(py)?.getattr("full")?.call1((a.layout.dims.clone(), number, dtype))?;
    Operand::of(a, &array)
}

//! Refreshes arrays, with or without a table.

use std::sync::Arc;

use pyo3::prelude::*;
use windlass::bootstrap::{Progress, RefreshOptions};
use windlass::circuits::SlotTable;

use crate::array::{Parts, PyCiphertext};
use crate::error::{exception, plain};
use crate::handle::ServerKind;
use crate::numbers::{Numbers, integers};
use crate::runtime::{long, stopped};
use crate::setting::{Kind, Setting};

/// The largest plaintext modulus of a table: that of [`SlotTable`].
const MOST: u64 = 1 << 8;

/// The same array.
pub fn plainly(py: Python<'_>, x: &PyCiphertext, progress: Option<&Bound<'_, PyAny>>) -> PyResult<PyCiphertext> {
    let refreshed = refreshed(py, x, progress, None)?;
    Ok(x.result(refreshed, x.layout.clone(), x.numbers, x.clean).with_spread(x.spread))
}

/// The ciphertexts of an array, refreshed; with the values of a table.
fn refreshed(
    py: Python<'_>,
    x: &PyCiphertext,
    progress: Option<&Bound<'_, PyAny>>,
    values: Option<Vec<i64>>,
) -> PyResult<Parts> {
    let (server, parts, real) = (x.server(py)?, Arc::clone(&x.parts), x.numbers == Numbers::Real);
    long(py, progress, "refresh", move |ticker| {
        let (server, list) = match (&*server, &*parts) {
            (ServerKind::Exact(server), Parts::Exact(list)) => (server, list),
            (ServerKind::Approximate(server), Parts::Approximate(list)) => {
                let tell = |stage: &Progress| ticker.tell(stage.number, stage.count);
                let refreshed =
                    if real { server.refresh_real_list(list, tell)? } else { server.refresh_list(list, tell)? };
                ticker.check("refresh")?;
                return Ok(Parts::Approximate(refreshed));
            }
            _ => unreachable!("contexts are the same"),
        };
        let table = values.map(|values| SlotTable::new(server.context(), &values)).transpose()?;
        let mut options = RefreshOptions::new().observed_by(|stage| ticker.tell(stage.number, stage.count));
        if let Some(table) = &table {
            options = options.with_table(table);
        }
        let refreshed = server.refresh_list(list, options)?;
        if ticker.go_on().is_break() { Err(stopped("refresh")) } else { Ok(Parts::Exact(refreshed)) }
    })
}

/// The values of a table at the entries.
pub fn with_table(
    py: Python<'_>,
    x: &PyCiphertext,
    values: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyCiphertext> {
    let values = checked(py, &x.setting, values)?;
    if x.elements {
        let message =
            "refresh(table=...) has a value for each integer, but this array holds ring elements; leave table out";
        return Err(plain(py, "NotIntegers", message));
    }
    // Slots beside the entries hold the value at 0 afterwards.
    let clean = x.clean && values[0] == 0;
    let refreshed = refreshed(py, x, progress, Some(values))?;
    Ok(x.result(refreshed, x.layout.clone(), x.numbers, clean).with_spread(x.spread))
}

/// One value for each residue.
fn checked(py: Python<'_>, setting: &Setting, values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let Kind::Exact(context) = &setting.kind else {
        let message = "refresh(table=...) needs a context of integers (BGV or BFV), but this one is CKKS";
        return Err(plain(py, "ParameterError", message));
    };
    let modulus = context.slot_ring().modulus().value();
    if modulus > MOST {
        let message = format!(
            "refresh(table=...) needs a modulus of at most {MOST}, but this one is {modulus}; for a prime modulus apply the circuit context.table(values) after x.refresh()"
        );
        return Err(plain(py, "ParameterError", message));
    }
    let values = integers(values, "table")?;
    if values.len() as u64 != modulus {
        let message = format!(
            "table: {} values are given, but {modulus} are needed: those at 0, 1, ..., {}, of which the last ones are those at ..., -2, -1",
            values.len(),
            modulus - 1
        );
        return Err(exception(py, "ShapeError", message, |data| {
            data.set_item("expected", modulus)?;
            data.set_item("got", values.len())
        }));
    }
    let (least, end) = (-(modulus as i64 / 2), modulus as i64);
    if let Some(index) = values.iter().position(|&x| x < least || x >= end) {
        let message = format!("table: the value {} at index {index} is not in [{least}, {end})", values[index]);
        return Err(exception(py, "ValueRangeError", message, |data| data.set_item("index", index)));
    }
    Ok(values)
}

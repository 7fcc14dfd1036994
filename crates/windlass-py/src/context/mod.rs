//! Contexts: what they say of themselves. The modules below make everything else from them.

mod files;
mod functions;
mod integers;
mod keys;
mod maps;
mod parameters;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::either::on_kind;
use crate::parameters::{describe_approximate, loads};
use crate::runtime::quick;
use crate::setting::{Kind, PyContext};

#[pymethods]
impl PyContext {
    /// Describes the parameters: sizes, moduli, security.
    ///
    /// Returns
    /// -------
    /// dict
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> context.describe()["m"]
    /// 256
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.setting.kind {
            Kind::Exact(context) => loads(py, &serde_json::to_string(&context.params().describe()).unwrap_or_default()),
            Kind::Approximate(context) => {
                let dict = describe_approximate(py, context.ckks().spec(), self.setting.rlwe())?;
                dict.set_item("slots", self.slots())?;
                Ok(dict.into_any())
            }
        }
    }

    /// ``"BGV"``, ``"BFV"`` or ``"CKKS"``.
    #[getter]
    fn scheme(&self) -> String {
        match &self.setting.kind {
            Kind::Exact(context) => context.scheme().to_string(),
            Kind::Approximate(_) => "CKKS".into(),
        }
    }

    /// The number of slots: the maximum number of entries in one ciphertext.
    #[getter]
    fn slots(&self) -> usize {
        self.setting.slots()
    }

    /// The slot degree d: an element of a slot has d coefficients.
    #[getter]
    fn slot_degree(&self) -> usize {
        self.setting.degree()
    }

    /// The plaintext modulus; None for CKKS.
    #[getter]
    fn modulus(&self) -> Option<u64> {
        self.setting.modulus()
    }

    /// A lower estimate of the classical security in bits.
    #[getter]
    fn security(&self) -> f64 {
        self.setting.rlwe().security().bits
    }

    /// The ring dimension n.
    #[getter]
    fn ring_dimension(&self) -> usize {
        self.setting.rlwe().n()
    }

    /// The cyclotomic index m.
    #[getter]
    fn m(&self) -> u64 {
        self.setting.rlwe().m()
    }

    /// log2 of the ciphertext modulus Q.
    #[getter]
    fn log2_q(&self) -> f64 {
        let rlwe = self.setting.rlwe();
        rlwe.log2_q(rlwe.top_level())
    }

    /// log2 of the modulus QP that security depends on.
    #[getter]
    fn log2_qp(&self) -> f64 {
        self.setting.rlwe().log2_qp()
    }

    /// The number of multiplications in sequence that a fresh ciphertext allows.
    #[getter]
    fn depth(&self) -> usize {
        match &self.setting.kind {
            Kind::Exact(context) => context.params().depth() as usize,
            Kind::Approximate(context) => context.ckks().spec().depth,
        }
    }

    /// Predicted sizes of keys and ciphertexts in bytes, in memory and on disk.
    ///
    /// Returns
    /// -------
    /// dict
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> context.sizes()["ciphertext_memory"] > 0
    /// True
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &serde_json::to_string(&self.setting.sizes()).unwrap_or_default())
    }

    /// Measures the cost of operations on this machine, in milliseconds and bytes. Plans use these
    /// prices.
    ///
    /// Returns
    /// -------
    /// dict
    ///     In milliseconds: ``hoist``, ``hoisted_automorphism``, ``giant_step``, ``constant_product``,
    ///     ``mod_down``, ``automorphism``; in bytes ``key_bytes``, ``constant_bytes``.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> context.prices()["automorphism"] > 0
    /// True
    fn prices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let prices = quick(py, || Ok(self.setting.prices()))?;
        let unit = prices.milliseconds.unwrap_or(1.0);
        let dict = PyDict::new(py);
        let operations = [
            ("hoist", prices.hoist),
            ("hoisted_automorphism", prices.hoisted_automorphism),
            ("giant_step", prices.extended_automorphism),
            ("constant_product", prices.multiply_constant),
            ("mod_down", prices.mod_down),
            ("automorphism", prices.automorphism),
        ];
        for (name, price) in operations {
            dict.set_item(name, price * unit)?;
        }
        dict.set_item("key_bytes", prices.key_bytes)?;
        dict.set_item("constant_bytes", prices.constant_bytes)?;
        Ok(dict)
    }

    /// Plots the parameters; needs matplotlib.
    ///
    /// Returns
    /// -------
    /// matplotlib.figure.Figure
    fn plot<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyModule::import(slf.py(), "windlass.plots")?.call_method1("context", (slf,))
    }

    fn __repr__(&self) -> String {
        format!(
            "<windlass.Context {}, {} slots, {:.0} bits of security>",
            self.setting.in_words(),
            self.slots(),
            self.security().floor()
        )
    }

    fn __str__(&self) -> String {
        on_kind!(&self.setting.kind, context => context.to_string())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.str()?,))?.extract()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.setting.same(&other.get().setting))
    }

    fn __hash__(&self) -> u64 {
        use windlass::wire::FileContext;
        let hash = on_kind!(&self.setting.kind, context => context.files().hash());
        hash.iter().take(8).fold(0, |sum, &byte| (sum << 8) | u64::from(byte))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        crate::pickle::reduce(py, "restore_context", (self.setting.state.clone(),))
    }
}

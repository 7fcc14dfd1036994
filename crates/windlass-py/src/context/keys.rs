//! Keys: what circuits request, and clients and servers with fresh keys.

use std::ops::ControlFlow;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::NeedsKeys;
use windlass::needs::KeyRequest;

use crate::bootstrapping::PyBootstrapping;
use crate::client::PyClient;
use crate::either::map_kind;
use crate::natural::Natural;
use crate::needs::{PyKeys, check_keys, requests};
use crate::runtime::{long, quick};
use crate::server::PyServer;
use crate::setting::PyContext;

#[pymethods]
impl PyContext {
    /// The key that products of ciphertexts, squares and powers need: the relinearisation key.
    ///
    /// Returns
    /// -------
    /// Keys
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> x = server.receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    fn products(&self) -> PyKeys {
        PyKeys::new(&self.setting, vec![windlass::needs::Products.key_request()])
    }

    /// The keys that ``x @ y`` needs for two encrypted vectors of this length: those of products
    /// and sums.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     Entries of the vectors.
    ///
    /// Returns
    /// -------
    /// Keys
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.inner_product(3))
    /// >>> x, y = (server.receive(client.encrypt(v)) for v in ([1, 2, 3], [4, 5, 6]))
    /// >>> int(client.decrypt(x @ y))
    /// 32
    fn inner_product(&self, py: Python<'_>, length: Natural) -> PyResult<PyKeys> {
        let sum = quick(py, || self.setting.sum(length.0 as usize))?;
        Ok(PyKeys::new(&self.setting, vec![windlass::needs::Products.key_request(), sum.key_request()]))
    }

    /// Galois keys for any automorphisms, and the relinearisation key if asked for.
    ///
    /// Parameters
    /// ----------
    /// elements : sequence of int
    ///     The exponents t of the automorphisms X -> X**t.
    /// relinearisation : bool
    ///
    /// Returns
    /// -------
    /// Keys
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.keys([3, 9]))
    /// >>> server.galois_elements
    /// [3, 9]
    #[pyo3(signature = (elements, *, relinearisation=false))]
    fn keys(&self, elements: Vec<Natural>, relinearisation: bool) -> PyKeys {
        let elements = elements.into_iter().map(|element| element.0);
        let request = KeyRequest::none("keys that were asked for").with_galois(elements);
        let request = if relinearisation { request.with_relinearisation() } else { request };
        PyKeys::new(&self.setting, vec![request])
    }

    /// Plans bootstrapping. If it is named when keys are made, the server refreshes ciphertexts
    /// automatically.
    ///
    /// In CKKS a refresh adds an error (:attr:`Bootstrapping.precision_bits`), which
    /// ``x.precision_bits`` counts, and takes numbers of absolute value at most 1.
    ///
    /// **Warning.** A refresh is wrong without an error with probability at most
    /// ``2**-failure_bits`` (:attr:`Bootstrapping.failure_bits`). In CKKS it is also wrong if a number
    /// is above the bound that its array states (:attr:`Ciphertext.bound`), as after a wrong
    /// :meth:`Ciphertext.assume_bound`.
    ///
    /// Parameters
    /// ----------
    /// packed : bool
    ///     Refresh any elements of slots, not only integers. This takes longer. Not in CKKS.
    /// digits, unpacking, transform, partition, front_end : str
    ///     Names of choices; the error for an unknown name lists them. Not in CKKS.
    /// keys : str
    ///     The rule of Galois keys: ``full``, ``baby-giant``, ``minimal`` or ``default``. With
    ///     fewer keys a refresh takes longer. By default the plan has the keys with which it is
    ///     fastest. Not in CKKS.
    /// max_keys : int
    ///     The maximum number of Galois keys, in CKKS of each map. The plan is the fastest one within
    ///     this limit.
    ///
    /// Returns
    /// -------
    /// Bootstrapping
    ///
    /// Raises
    /// ------
    /// BootstrapError
    ///     If these parameters cannot bootstrap. Use a preset whose name begins with ``boot``, or
    ///     ``refresh`` for CKKS, or ``Context.plan(unlimited=True)``.
    /// ParameterError
    ///     If an option is given that CKKS does not have.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_boot_256_p257")
    /// >>> client, server = context.generate_keys(context.bootstrapping())
    /// >>> x = server.receive(client.encrypt([2, 3]))
    /// >>> client.decrypt(x.refresh())
    /// array([2, 3])
    #[pyo3(signature = (
        *, packed=false, digits=None, unpacking=None, transform=None, partition=None, front_end=None, keys=None,
        max_keys=None
    ))]
    fn bootstrapping(
        &self,
        py: Python<'_>,
        packed: bool,
        digits: Option<&str>,
        unpacking: Option<&str>,
        transform: Option<&str>,
        partition: Option<&str>,
        front_end: Option<&str>,
        keys: Option<&str>,
        max_keys: Option<Natural>,
    ) -> PyResult<PyBootstrapping> {
        let most = max_keys.map(|most| most.0.to_string());
        let names = [digits, unpacking, transform, partition, front_end, keys, most.as_deref()];
        let names = names.map(|name| name.map(str::to_owned));
        PyBootstrapping::make(py, &self.setting, packed, names)
    }

    /// Makes a client with a fresh secret key, and a server with exactly the keys that the circuits
    /// need. It takes time and memory for every key (:meth:`sizes`).
    ///
    /// Parameters
    /// ----------
    /// *circuits : LinearPlan, Circuit, Bootstrapping or Keys
    ///     Everything that the server will run.
    /// progress : bool or callable, optional
    ///     ``False`` for no bar; a callable is called with (done, count).
    ///
    /// Returns
    /// -------
    /// (Client, Server)
    ///
    /// Raises
    /// ------
    /// OutOfMemory
    ///     If the system does not provide the memory for the keys. It is raised before any key is
    ///     made.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> x = server.receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (*circuits, progress=None))]
    fn generate_keys(
        &self,
        py: Python<'_>,
        circuits: &Bound<'_, PyTuple>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(PyClient, PyServer)> {
        let requests = requests(py, &self.setting, circuits)?;
        check_keys(py, &self.setting, &requests)?;
        let setting = Arc::clone(&self.setting);
        let (client, server) = long(py, progress, "keys", move |ticker| {
            let needs: Vec<&dyn NeedsKeys> = requests.iter().map(|request| request as &dyn NeedsKeys).collect();
            let mut observe = |done, count| -> ControlFlow<()> { ticker.tell(done, count) };
            Ok(map_kind!(&setting.kind, context => context.generate_keys_for(&needs, &mut observe)?).split())
        })?;
        Ok((PyClient::new(&self.setting, client), PyServer::new(&self.setting, server)))
    }
}

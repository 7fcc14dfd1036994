//! Contexts: parameters, plans, keys.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::NeedsKeys;
use windlass::bootstrap::approximate::RefreshSpec;
use windlass::needs::KeyRequest;

use crate::array::PyCiphertext;
use crate::bootstrapping::PyBootstrapping;
use crate::circuit::{PyCircuit, Recipe};
use crate::client::{ClientKind, PyClient, PyEncryptor};
use crate::error::{of_file, plain, raise};
use crate::for_circuits::{NumpyPolynomial, asked};
use crate::function_recipe::{RealRecipe, recipe};
use crate::handle::ServerKind;
use crate::layout::in_words;
use crate::matrix::{LinearInner, LinearSpec, Matrix, PyLinear, check_filter};
use crate::natural::{Natural, Whole};
use crate::needs::{PyKeys, check_keys, requests};
use crate::numbers::{Slice, integers, values};
use crate::parameters::{Asked, describe_approximate, loads, of_all_sets, scheme_of, secure};
use crate::passphrase::passphrase_of;
use crate::planning;
use crate::runtime::{long, quick};
use crate::server::{Keys, PyServer};
use crate::setting::{Kind, PyContext, Setting, state};

impl PyContext {
    fn exact(&self, py: Python<'_>, what: &str) -> PyResult<&windlass::Context> {
        match &self.setting.kind {
            Kind::Exact(context) => Ok(context),
            Kind::Approximate(_) => Err(plain(
                py,
                "ParameterError",
                format!("{what} needs a context of integers (BGV or BFV), but this one is CKKS"),
            )),
        }
    }
}

#[pymethods]
impl PyContext {
    /// Chooses the smallest parameters for a computation with integers.
    ///
    /// Parameters
    /// ----------
    /// modulus : int
    ///     The plaintext modulus, a power of a prime below 2**45.
    ///
    ///     **Warning.** Integers are computed modulo it. A result that is too large wraps around
    ///     without an error.
    /// depth : int, optional
    ///     Multiplications of ciphertexts in sequence; 1 by default.
    /// slots : int
    ///     The minimum number of slots of a ciphertext.
    /// scheme : str
    ///     ``"BGV"`` or ``"BFV"``.
    /// linear_maps : int, optional
    ///     Products with plaintext matrices or vectors in sequence, in addition to the
    ///     multiplications; 1 by default.
    /// capacity : float
    ///     Bits of capacity that must be left after these.
    /// security : float
    ///     Bits of security, from 128 to 256.
    /// m : int, optional
    ///     The cyclotomic index; by default the planner chooses it.
    /// unlimited : bool
    ///     Choose parameters that bootstrap, for circuits of any depth; ``depth`` is then ignored.
    /// max_key_bytes : int, optional
    ///     The maximum bytes of one switching key in memory.
    /// progress : bool or callable, optional
    ///     ``False`` shows no progress bar; a callable is called with (done, count). Only
    ///     ``unlimited`` takes long: a minute or more if neither a named set nor a power of two has
    ///     enough slots and composite rings are searched.
    /// for_ : sequence, optional
    ///     Instead of ``depth`` and ``linear_maps``: the steps of the computation in order. A step
    ///     is a matrix (an array of two dimensions), a polynomial of ``numpy.polynomial``, a number
    ///     of products, or a circuit or layer of another context of integers.
    ///
    /// Returns
    /// -------
    /// Context
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     If no parameters suffice; the message says what the last candidate lacked.
    /// ParameterError
    ///     If an argument is out of range, such as a modulus that is not a power of a prime or
    ///     security below 128.
    ///
    /// Warns
    /// -----
    /// FewSlotsWarning
    ///     If ``slots`` is not given and the ring has fewer than one slot for a thousand
    ///     coefficients.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> wl.Context.plan(modulus=2**8, depth=2, scheme="BFV").modulus
    /// 256
    #[staticmethod]
    #[pyo3(signature = (*, modulus=Natural(65537), depth=None, slots=Natural(1), scheme="BGV", linear_maps=None, capacity=0.0, security=128.0, m=None, unlimited=false, max_key_bytes=None, progress=None, for_=None), text_signature = "(*, modulus=65537, depth=None, slots=1, scheme='BGV', linear_maps=None, capacity=0.0, security=128.0, m=None, unlimited=False, max_key_bytes=None, progress=None, for_=None)")]
    fn plan(
        py: Python<'_>,
        modulus: Natural,
        depth: Option<Natural>,
        slots: Natural,
        scheme: &str,
        linear_maps: Option<Natural>,
        capacity: f64,
        security: f64,
        m: Option<Natural>,
        unlimited: bool,
        max_key_bytes: Option<Natural>,
        progress: Option<&Bound<'_, PyAny>>,
        for_: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let asked = Asked { modulus, depth, slots, scheme, linear_maps, capacity, security, m, max_key_bytes, for_ };
        let spec = asked.spec(py)?;
        Ok(Self { setting: Setting::of_params(planning::context(py, spec, unlimited, progress)?) })
    }

    /// Takes a named parameter set; :func:`windlass.presets` lists the names.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The name.
    ///
    ///     **Warning.** Sets with ``insecure`` in their name are for tests. Sets with ``paper``
    ///     repeat published parameters, most of them near 80 bits of security. All others have at
    ///     least 128 bits.
    /// scheme : str, optional
    ///     ``"BGV"`` (by default) or ``"BFV"``. Sets with ``refresh`` in their name are of CKKS, with
    ///     refreshes (:meth:`bootstrapping`), and have no other scheme.
    ///
    /// Raises
    /// ------
    /// UnknownName
    ///     If there is no such set; its attribute ``known`` lists all names.
    /// ParameterError
    ///     If the set is not one of this scheme.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> wl.Context.preset("insecure_toy_256").slots
    /// 128
    /// >>> wl.Context.preset("insecure_toy_refresh_1024").scheme
    /// 'CKKS'
    #[staticmethod]
    #[pyo3(signature = (name, *, scheme=None))]
    fn preset(py: Python<'_>, name: String, scheme: Option<&str>) -> PyResult<Self> {
        let scheme = scheme_of(py, &name, scheme)?;
        let setting = quick(py, || {
            let state = match scheme {
                Some(scheme) => state(&[("preset", name), ("scheme", scheme.to_string())]),
                None => state(&[("ckks", RefreshSpec::preset(&name)?.to_json())]),
            };
            Setting::from_state(&state).map_err(of_all_sets)
        })?;
        Ok(Self { setting })
    }

    /// Chooses parameters for real and complex numbers (CKKS) with 128 bits of security.
    ///
    /// Parameters
    /// ----------
    /// depth : int, optional
    ///     Products in sequence with ciphertexts, matrices, vectors, and numbers that are not
    ///     integers; 2 by default. ``.depth`` of a polynomial, a layer or a shift is its depth.
    /// scale_bits : int
    ///     log2 of the scale, 25 to 50. Numbers keep about ``scale_bits - 15`` bits after the
    ///     point.
    /// value_bits : int
    ///     Values may grow to almost 2**value_bits; at most 850.
    /// slots : int
    ///     The minimum number of slots of a ciphertext.
    /// for_ : sequence, optional
    ///     Instead of ``depth``: the steps of the computation in order. A step is a matrix (an
    ///     array of two dimensions), a polynomial of ``numpy.polynomial``, a number of products, or
    ///     a circuit or layer of another CKKS context. A level is added where a step must clear
    ///     what the steps before it leave in the slots beside the entries.
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     If no ring of the security tables suffices.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> wl.Context.approximate(depth=2).scheme
    /// 'CKKS'
    /// >>> sigmoid = np.polynomial.Chebyshev.interpolate(lambda x: 1 / (1 + np.exp(-x)), 7, [-8, 8])
    /// >>> wl.Context.approximate(for_=[np.ones((2, 3)), sigmoid]).depth
    /// 6
    #[staticmethod]
    #[pyo3(signature = (*, depth=None, scale_bits=Natural(40), value_bits=Natural(16), slots=Natural(1), for_=None), text_signature = "(*, depth=None, scale_bits=40, value_bits=16, slots=1, for_=None)")]
    fn approximate(
        py: Python<'_>,
        depth: Option<Natural>,
        scale_bits: Natural,
        value_bits: Natural,
        slots: Natural,
        for_: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let needed = asked(py, &[("depth", depth.is_some())], for_, false)?;
        let depth = needed.map_or(depth.unwrap_or(Natural(2)), |needed| Natural(needed.products() as u64));
        let setting = quick(py, || {
            let spec = secure(depth, scale_bits, value_bits, slots)?;
            Setting::from_state(&state(&[("ckks", spec.to_json())]))
        })?;
        Ok(Self { setting })
    }

    /// Reads the parameters from a file that :meth:`save` or ``windlass params plan --out`` wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file of JSON.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If the file does not hold parameters.
    /// InsecureParameters
    ///     If the file calls the set secure, but its security is below 128 bits.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "parameters.json"
    /// >>> context.save(path)
    /// >>> wl.Context.from_file(path).slots
    /// 128
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let text = parameter_text(&path).map_err(|error| of_file(py, raise(py, error.into()), &path))?;
        let setting = quick(py, || {
            let is_ckks = text.contains("windlass_ckks_parameters") || RefreshSpec::is_json(&text);
            let field = if is_ckks { "ckks" } else { "parameters" };
            Setting::from_state(&state(&[(field, text)]))
        })
        .map_err(|error| of_file(py, error, &path))?;
        Ok(Self { setting })
    }

    /// Writes the parameters to a new JSON file, which the command line also reads.
    ///
    /// Raises
    /// ------
    /// FileExists
    ///     If the file exists; it is not changed.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "parameters.json"
    /// >>> context.save(path)
    /// >>> wl.Context.from_file(path).slots
    /// 128
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let json = self.parameters_json();
        windlass::wire::write_new(&path, json.as_bytes(), windlass::wire::Access::Public)
            .map_err(|error| of_file(py, raise(py, error.into()), &path))
    }

    /// The parameters as JSON.
    fn parameters_json(&self) -> String {
        match &self.setting.kind {
            Kind::Exact(context) => context.params().to_json(),
            Kind::Approximate(context) => context.to_json(),
        }
    }

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
        if let Kind::Exact(context) = &self.setting.kind {
            return loads(py, &serde_json::to_string(&context.params().describe()).unwrap_or_default());
        }
        let Kind::Approximate(context) = &self.setting.kind else { unreachable!("exact contexts are above") };
        let dict = describe_approximate(py, context.ckks().spec(), self.setting.rlwe())?;
        dict.set_item("slots", self.slots())?;
        Ok(dict.into_any())
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

    /// Plans the product of a matrix with encrypted vectors.
    ///
    /// Parameters
    /// ----------
    /// matrix : array_like, shape (outputs, inputs)
    ///     Integers, or real or complex numbers for CKKS. Zero diagonals are free. A matrix that is
    ///     larger than a ciphertext becomes a grid of blocks.
    /// bias : array_like, shape (outputs,), optional
    ///     Added to the product.
    /// strategy : str
    ///     ``"automatic"`` chooses the cheapest algorithm. Others have names, which the error for
    ///     an unknown name lists (Halevi and Shoup 2018).
    /// max_keys : int, optional
    ///     The maximum number of keys. With fewer keys the product takes longer.
    /// keys : sequence of int, optional
    ///     The automorphisms whose keys exist already. The plan uses no others.
    /// folding : {"automatic", "never", "always"}
    ///     Whether a matrix with few rows is packed in blocks whose products are added afterwards,
    ///     and a matrix with few columns in blocks that multiply copies of the vector. Both need
    ///     far fewer diagonals and keys. With a named strategy there is no folding. With few
    ///     columns, an array with other slots than its entries (such as a folded product) is
    ///     multiplied by ones first, which takes capacity.
    ///
    ///     **Warning.** After a folded product of a matrix with few rows, the slots beyond the
    ///     outputs hold parts of its sums, which the client sees when it decrypts. If the matrix
    ///     must stay private, use ``"never"`` or multiply the product by ones.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///
    /// Raises
    /// ------
    /// ShapeError, ValueRangeError, DTypeError
    ///     If an argument is not a matrix.
    /// NoParameters
    ///     If the strategy is not possible for this matrix or these keys.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear(np.array([[1, 2], [3, 4]]))
    /// >>> client, server = context.generate_keys(layer)
    /// >>> client.decrypt(layer @ server.receive(client.encrypt([5, 6])))
    /// array([17, 39])
    #[pyo3(signature = (matrix, bias=None, *, strategy="automatic", max_keys=None, keys=None, folding="automatic"))]
    fn linear(
        &self,
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        bias: Option<&Bound<'_, PyAny>>,
        strategy: &str,
        max_keys: Option<Natural>,
        keys: Option<Vec<Natural>>,
        folding: &str,
    ) -> PyResult<PyLinear> {
        let max_keys = max_keys.map(|most| most.0 as usize);
        let keys = keys.map(|keys| keys.into_iter().map(|key| key.0).collect());
        let (strategy, folding, context) = (strategy.to_owned(), folding.to_owned(), Arc::clone(&self.setting));
        let spec = LinearSpec { strategy, max_keys, keys, folding };
        PyLinear::make(py, &context, matrix, bias, spec)
    }

    /// Plans a cyclic shift of vectors, as ``numpy.roll``. If it is named when keys are made,
    /// ``x.roll(shift)`` works.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     Entries of the vectors.
    /// shift : int
    ///     The number of positions that entries are shifted.
    ///
    /// In CKKS the shift is a product with a matrix of zeros and ones. It takes one level of the
    /// depth, for any number of ciphertexts in a row.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.roll(4, 1))
    /// >>> client.decrypt(server.receive(client.encrypt([1, 2, 3, 4])).roll(1))
    /// array([4, 1, 2, 3])
    fn roll(&self, py: Python<'_>, length: Natural, shift: Whole) -> PyResult<PyLinear> {
        let length = length.0 as usize;
        if length == 0 {
            return Err(plain(py, "ShapeError", "a vector without entries has no shift"));
        }
        crate::matrix::check_shift(py, &self.setting, length)?;
        let setting = Arc::clone(&self.setting);
        Ok(PyLinear { inner: long(py, None, "planning", move |_| LinearInner::roll(&setting, length, shift.0))? })
    }

    /// Plans a convolution of vectors with public real numbers (CKKS), as ``numpy.convolve``. It takes
    /// one level, and no matrix of ``length`` columns is made.
    ///
    /// Parameters
    /// ----------
    /// taps : sequence of float
    ///     The filter, at most as long as the vectors.
    /// length : int
    ///     Entries of the vectors.
    /// mode : str
    ///     ``"full"``: all ``length + len(taps) - 1`` outputs; ``"same"``: ``length`` of them, in the
    ///     middle; ``"valid"``: those for which every tap meets an entry.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.approximate(depth=1)
    /// >>> smooth = context.filter([0.25, 0.5, 0.25], 6, mode="valid")
    /// >>> client, server = context.generate_keys(smooth)
    /// >>> x = server.receive(client.encrypt([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    /// >>> client.decrypt(smooth @ x).round(3) + 0.0
    /// array([0.25, 0.5 , 0.25, 0.  ])
    #[pyo3(signature = (taps, length, *, mode="same"))]
    fn filter(&self, py: Python<'_>, taps: &Bound<'_, PyAny>, length: Natural, mode: &str) -> PyResult<PyLinear> {
        if self.setting.is_exact() {
            let message = "filters are of real numbers (CKKS): use Context.linear for a matrix of integers";
            return Err(plain(py, "ParameterError", message));
        }
        let given = values(taps, false)?;
        given.check(py, "taps", None)?;
        let (Slice::Real(list), &[count]) = (given.slice()?, given.shape()) else {
            return Err(plain(py, "ShapeError", "taps are a sequence of real numbers"));
        };
        let (taps, length) = (list.to_vec(), usize::try_from(length.0).unwrap_or(usize::MAX));
        if count == 0 || count > length {
            let message =
                format!("a filter has at least one tap, and at most as many as the {length} entries, not {count}");
            return Err(plain(py, "ShapeError", message));
        }
        let (start, outputs) = match mode {
            "full" => (0, length.saturating_add(count - 1)),
            "same" => ((count - 1) / 2, length),
            "valid" => (count - 1, length - count + 1),
            given => {
                let known = ["full", "same", "valid"].map(str::to_owned).to_vec();
                return Err(raise(py, windlass::Error::UnknownName { what: "mode", given: given.to_owned(), known }));
            }
        };
        check_filter(py, &self.setting, count, outputs)?;
        let setting = Arc::clone(&self.setting);
        let filter = Matrix::Filter { taps, length, start, outputs };
        Ok(PyLinear { inner: long(py, None, "planning", move |_| LinearInner::filter(&setting, filter))? })
    }

    /// Plans the sum of a vector's entries. If it is named when keys are made, ``x.sum()`` works.
    ///
    /// Parameters
    /// ----------
    /// length : int, optional
    ///     Entries of the vectors. In contexts of integers it is not needed. Without it the sum is
    ///     over all slots and every slot holds it, so ``x - x.sum()`` works.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.sum())
    /// >>> client.decrypt(server.receive(client.encrypt([[1, 2], [3, 4]])).sum())
    /// array([3, 7])
    #[pyo3(signature = (length=None))]
    fn sum(&self, py: Python<'_>, length: Option<Natural>) -> PyResult<PyCircuit> {
        let length = length.map_or_else(|| self.slots(), |length| length.0 as usize);
        let recipe = Recipe::Sum { length };
        PyCircuit::make(py, &self.setting, recipe)
    }

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

    /// Plans a polynomial that is evaluated in every slot.
    ///
    /// Parameters
    /// ----------
    /// coefficients : sequence of int or of float, or a polynomial of numpy.polynomial
    ///     The constant coefficient first. CKKS also accepts NumPy's polynomials: those in powers
    ///     unchanged, all others on their domain.
    /// interval : (float, float), optional
    ///     CKKS only: the coefficients are those of Chebyshev polynomials on this interval.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     With an interval, it raises :class:`OutsideInterval` for an array that may lie outside
    ///     (``x.bound``). Choose a wider interval, or state that the values lie inside
    ///     (``x.assume_bound(...)``).
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> cubic = context.polynomial([1, 0, 0, 2])  # 1 + 2 x^3
    /// >>> client, server = context.generate_keys(cubic)
    /// >>> client.decrypt(cubic(server.receive(client.encrypt([1, 2, 3]))))
    /// array([ 3, 17, 55])
    #[pyo3(signature = (coefficients, *, interval=None))]
    fn polynomial(
        &self,
        py: Python<'_>,
        coefficients: &Bound<'_, PyAny>,
        interval: Option<(f64, f64)>,
    ) -> PyResult<PyCircuit> {
        let own = NumpyPolynomial::of(coefficients)?;
        if interval.is_some() && own.is_some() {
            let message = "a polynomial of NumPy already has an interval, its domain: leave interval= out";
            return Err(plain(py, "ParameterError", message));
        }
        let (coefficients, interval) = match &own {
            Some(own) => (&own.coefficients, own.interval),
            None => (coefficients, interval),
        };
        let given = values(coefficients, self.setting.is_exact())?;
        if given.shape().len() != 1 {
            let message =
                format!("coefficients are a list of numbers, not an array of shape {}", in_words(given.shape()));
            return Err(plain(py, "ShapeError", message));
        }
        given.check(py, "coefficients", None)?;
        if interval.is_some() && self.setting.is_exact() {
            let message = "only CKKS has intervals, since polynomials of integers have coefficients of powers: leave interval= out";
            return Err(plain(py, "ParameterError", message));
        }
        let recipe = match given.slice()? {
            Slice::Signed(list) => Recipe::Polynomial(list.to_vec()),
            Slice::Unsigned(list) => {
                Recipe::Polynomial(list.iter().map(|&c| (c % self.modulus().unwrap_or(u64::MAX)) as i64).collect())
            }
            Slice::Real(list) => Recipe::RealPolynomial { coefficients: list.to_vec(), interval },
            Slice::Complex(_) => return Err(plain(py, "DTypeError", "polynomials have real coefficients")),
        };
        PyCircuit::make(py, &self.setting, recipe)
    }

    /// Plans a function of real numbers (CKKS) with a stated error.
    ///
    /// Parameters
    /// ----------
    /// f : str or callable
    ///     A name: ``"exp"``, ``"log"``, ``"inverse"``, ``"sqrt"``, ``"inverse_sqrt"``,
    ///     ``"sigmoid"``, ``"tanh"``, ``"gelu"``, ``"sign"``, ``"step"``, ``"abs"``, and
    ///     ``"maximum"`` and ``"minimum"`` of two arrays. Or any function that takes and returns a
    ///     float: it is called at 8193 points of the interval.
    /// interval : (float, float)
    ///     The ends of the interval in which the numbers lie.
    /// precision : float
    ///     What is computed is within ``2**-precision`` of the function.
    /// gap : float, optional
    ///     For sign and step: the precision holds for numbers of at least this absolute value; by
    ///     default a 1024th of the largest.
    ///
    ///     **Warning.** A number in the gap gets any value between those of both sides. No error is
    ///     raised.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     Its ``interval``, ``degrees``, ``depth`` and ``approximation_error`` say what it does,
    ///     ``error(x)`` how exact the result will be for an encrypted array.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     For an interval on which the function is not defined.
    /// NoParameters
    ///     If no polynomial reaches the precision; the message says what is reached.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.approximate(depth=6)
    /// >>> sigmoid = context.function("sigmoid", (-8, 8), precision=12)
    /// >>> sigmoid.depth, sigmoid.degrees
    /// (6, [21])
    /// >>> client, server = context.generate_keys(sigmoid)
    /// >>> x = server.receive(client.encrypt([-4.0, 0.0, 4.0], bound=8))
    /// >>> client.decrypt(sigmoid(x)).round(3)
    /// array([0.018, 0.5  , 0.982])
    #[pyo3(signature = (f, interval, precision=20.0, *, gap=None))]
    fn function(
        &self,
        py: Python<'_>,
        f: &Bound<'_, PyAny>,
        interval: (f64, f64),
        precision: f64,
        gap: Option<f64>,
    ) -> PyResult<PyCircuit> {
        PyCircuit::make(py, &self.setting, Recipe::Real(recipe(py, f, interval, precision, gap)?))
    }

    /// Plans the softmax of rows (CKKS): ``exp(x) / exp(x).sum()`` along the last dimension, with a
    /// stated error. No maximum is needed, since the interval is known.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     The number of entries of a row.
    /// interval : (float, float)
    ///     The ends of the interval in which the numbers lie. The errors of ciphertexts grow with
    ///     ``exp(high - low)``.
    /// precision : float
    ///     What is computed is within ``2**-precision`` of the softmax.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> depth = wl.Context.approximate().softmax(3, (-2, 2)).depth
    /// >>> context = wl.Context.approximate(depth=depth)
    /// >>> softmax = context.softmax(3, (-2, 2))
    /// >>> client, server = context.generate_keys(softmax)
    /// >>> x = server.receive(client.encrypt([0.0, 1.0, 2.0], bound=2))
    /// >>> client.decrypt(softmax(x)).round(2)
    /// array([0.09, 0.24, 0.67])
    #[pyo3(signature = (length, interval, precision=10.0))]
    fn softmax(&self, py: Python<'_>, length: Natural, interval: (f64, f64), precision: f64) -> PyResult<PyCircuit> {
        let length = usize::try_from(length.0).unwrap_or(usize::MAX);
        let own = RealRecipe::OfRows { length, largest: None, interval, bits: precision };
        PyCircuit::make(py, &self.setting, Recipe::Real(own))
    }

    /// Plans sorting of rows in descending order (CKKS), or their largest entries, with a stated
    /// error: a network of comparisons.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     The number of entries of a row.
    /// interval : (float, float)
    ///     The ends of the interval in which the numbers lie.
    /// precision : float
    ///     Every result is within ``2**-precision`` of the true one.
    /// largest : int, optional
    ///     How many of the largest entries; all by default. One takes ``ceil(log2(length))`` stages,
    ///     all of them ``L * (L + 1) / 2`` for up to ``2**L`` entries.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> depth = wl.Context.approximate().sorting(4, (0, 1), 3, largest=1).depth
    /// >>> depth
    /// 10
    #[pyo3(signature = (length, interval, precision=4.0, *, largest=None))]
    fn sorting(
        &self,
        py: Python<'_>,
        length: Natural,
        interval: (f64, f64),
        precision: f64,
        largest: Option<Natural>,
    ) -> PyResult<PyCircuit> {
        let [length, largest] =
            [length, largest.unwrap_or(length)].map(|count| usize::try_from(count.0).unwrap_or(usize::MAX));
        let own = RealRecipe::OfRows { length, largest: Some(largest), interval, bits: precision };
        PyCircuit::make(py, &self.setting, Recipe::Real(own))
    }

    /// Plans the product of two encrypted matrices (CKKS; Jiang, Kim, Lauter and Song 2018). It takes
    /// three levels.
    ///
    /// Parameters
    /// ----------
    /// size : int
    ///     The number d of rows and of columns.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     It takes two arrays whose rows are matrices, d * d entries row by row
    ///     (``client.encrypt(A.ravel())``).
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> context = wl.Context.approximate(depth=3)
    /// >>> product = context.matrix_product(2)
    /// >>> client, server = context.generate_keys(product)
    /// >>> A, B = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([[0.5, 0.6], [0.7, 0.8]])
    /// >>> a, b = (server.receive(client.encrypt(M.ravel())) for M in (A, B))
    /// >>> client.decrypt(product(a, b)).reshape(2, 2).round(3)
    /// array([[0.19, 0.22],
    ///        [0.43, 0.5 ]])
    fn matrix_product(&self, py: Python<'_>, size: Natural) -> PyResult<PyCircuit> {
        let size = usize::try_from(size.0).unwrap_or(usize::MAX);
        PyCircuit::make(py, &self.setting, Recipe::Real(RealRecipe::MatrixProduct { size }))
    }

    /// Plans any function of the integers in slots, as a polynomial. The modulus must be a prime.
    ///
    /// **Warning.** If the table does not cover all residues, an argument outside it gives an
    /// unspecified value. No error is raised.
    ///
    /// Parameters
    /// ----------
    /// table : sequence of int
    ///     The values at ``start``, ``start + 1``, ....
    /// start : int
    ///     The first argument.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> absolute = context.table([abs(x) for x in range(-5, 6)], start=-5)
    /// >>> client, server = context.generate_keys(absolute)
    /// >>> client.decrypt(absolute(server.receive(client.encrypt([-3, 0, 4]))))
    /// array([3, 0, 4])
    #[pyo3(signature = (table, *, start=Whole(0)), text_signature = "($self, table, *, start=0)")]
    fn table(&self, py: Python<'_>, table: &Bound<'_, PyAny>, start: Whole) -> PyResult<PyCircuit> {
        self.exact(py, "a table")?;
        let values = integers(table, "table")?;
        PyCircuit::make(py, &self.setting, Recipe::Table { values, start: start.0 })
    }

    /// Plans the power ``x**exponent`` in every slot.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> cube = context.power(3)
    /// >>> client, server = context.generate_keys(cube)
    /// >>> client.decrypt(cube(server.receive(client.encrypt([2, -3]))))
    /// array([  8, -27])
    fn power(&self, py: Python<'_>, exponent: Natural) -> PyResult<PyCircuit> {
        PyCircuit::make(py, &self.setting, Recipe::Power(exponent.0))
    }

    /// Plans a test for equality of two encrypted vectors: 1 in the slots where they are equal, 0
    /// in the others. The modulus must be a prime.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     It takes two encrypted arrays.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> equal = context.equal()
    /// >>> client, server = context.generate_keys(equal)
    /// >>> a, b = (server.receive(client.encrypt(v)) for v in ([1, 2, 3], [1, 0, 3]))
    /// >>> client.decrypt(equal(a, b))
    /// array([1, 0, 1])
    fn equal(&self, py: Python<'_>) -> PyResult<PyCircuit> {
        self.exact(py, "a comparison")?;
        PyCircuit::make(py, &self.setting, Recipe::Equal)
    }

    /// Plans the comparison a < b of two encrypted vectors: 1 in the slots where it holds, 0 in the
    /// others.
    ///
    /// **Warning.** If ``abs(a - b)`` is not below ``bound`` in a slot, the slot gets an
    /// unspecified value. No error is raised.
    ///
    /// Parameters
    /// ----------
    /// bound : int
    ///     An integer of at least 1 that is above every ``abs(a - b)``. A smaller bound is faster.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     It takes two encrypted arrays.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If the bound is 0.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> less = context.less(10)
    /// >>> client, server = context.generate_keys(less)
    /// >>> a, b = (server.receive(client.encrypt(v)) for v in ([1, 5, 3], [2, 2, 3]))
    /// >>> client.decrypt(less(a, b))
    /// array([1, 0, 0])
    fn less(&self, py: Python<'_>, bound: Natural) -> PyResult<PyCircuit> {
        self.exact(py, "a comparison")?;
        if bound.0 == 0 {
            let message = "less(0): abs(a - b) lies below the bound, which is at least 1";
            return Err(plain(py, "ParameterError", message));
        }
        PyCircuit::make(py, &self.setting, Recipe::Less { bound: bound.0 })
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
            Ok(match &setting.kind {
                Kind::Exact(context) => {
                    let (client, server) = context.generate_keys_for(&needs, &mut observe)?;
                    (ClientKind::Exact(client), ServerKind::Exact(server))
                }
                Kind::Approximate(context) => {
                    let (client, server) = context.generate_keys_for(&needs, &mut observe)?;
                    (ClientKind::Approximate(client), ServerKind::Approximate(server))
                }
            })
        })?;
        Ok((PyClient::new(&self.setting, client), PyServer::new(&self.setting, server)))
    }

    /// Loads a client from the file of a secret key that :meth:`Client.save_secret` or the command
    /// line wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     The passphrase of an encrypted file.
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file belongs to another context; if a passphrase is given and the file is not encrypted.
    /// PassphraseNeeded, WrongPassphrase
    ///     For an encrypted file.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "secret.key"
    /// >>> client, server = context.generate_keys()
    /// >>> _ = client.save_secret(path)
    /// >>> context.load_client(path).decrypt(client.encrypt([1, 2]))
    /// array([1, 2])
    #[pyo3(signature = (path, *, passphrase=None))]
    fn load_client(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<PyClient> {
        let passphrase = passphrase_of(passphrase)?;
        let client = quick(py, || {
            Ok(match (&self.setting.kind, &passphrase) {
                (Kind::Exact(context), None) => ClientKind::Exact(context.load_client(&path)?),
                (Kind::Exact(context), Some(passphrase)) => {
                    ClientKind::Exact(context.load_sealed_client(&path, passphrase)?)
                }
                (Kind::Approximate(context), None) => ClientKind::Approximate(context.load_client(&path)?),
                (Kind::Approximate(context), Some(passphrase)) => {
                    ClientKind::Approximate(context.load_sealed_client(&path, passphrase)?)
                }
            })
        })
        .map_err(|error| of_file(py, error, &path))?;
        Ok(PyClient::new(&self.setting, client))
    }

    /// Loads an encryptor from the file of a public key. Raises :class:`FileError` if the file is
    /// not a public key, and :class:`OtherContext` if it belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "public.key"
    /// >>> client, server = context.generate_keys()
    /// >>> _ = client.encryptor().save(path)
    /// >>> client.decrypt(context.load_encryptor(path).encrypt([1, 2]))
    /// array([1, 2])
    fn load_encryptor(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyEncryptor> {
        let key = quick(py, || {
            Ok(match &self.setting.kind {
                Kind::Exact(context) => context.load(&path)?,
                Kind::Approximate(context) => context.load(&path)?,
            })
        })
        .map_err(|error| of_file(py, error, &path))?;
        PyEncryptor::of_key(py, &self.setting, key)
    }

    /// Loads a server from a file of evaluation keys. Raises :class:`FileError` if the file does
    /// not hold any, and :class:`OtherContext` if it belongs to another context.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file that :meth:`Server.save` or the command line wrote.
    /// bootstrapping : Bootstrapping, optional
    ///     The plan of the bootstrapping whose keys ``bootstrap_keys`` holds.
    /// bootstrap_keys : str or os.PathLike, optional
    ///     The file of the bootstrapping keys.
    ///
    /// Returns
    /// -------
    /// Server
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "evaluation.keys"
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> _ = server.save(path)
    /// >>> x = context.load_server(path).receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (path, *, bootstrapping=None, bootstrap_keys=None))]
    fn load_server(
        &self,
        py: Python<'_>,
        path: PathBuf,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<PyServer> {
        PyServer::load(py, &self.setting, path, bootstrapping, bootstrap_keys)
    }

    /// Makes a server that maps the keys of a file which ``server.save(path, ready=True)`` wrote.
    /// Processes that map one file share one copy of it in memory.
    ///
    /// The file is checked once, in this call. It may be removed afterwards.
    ///
    /// **Warning.** If someone writes to the file afterwards, results are wrong without an error.
    /// If someone truncates it, the process ends.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// bootstrapping, bootstrap_keys
    ///     As of :meth:`load_server`.
    ///
    /// Returns
    /// -------
    /// Server
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file is not whole, or belongs to another context. Nothing of it is used.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "evaluation.keys"
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> _ = server.save(path, ready=True)
    /// >>> x = context.map_server(path).receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (path, *, bootstrapping=None, bootstrap_keys=None))]
    fn map_server(
        &self,
        py: Python<'_>,
        path: PathBuf,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<PyServer> {
        PyServer::share(py, &self.setting, Keys::File(path), bootstrapping, bootstrap_keys)
    }

    /// Makes a server from the keys in a buffer that :meth:`Server.ready_bytes` returned. The keys
    /// are used in place if the buffer is read-only and aligned to 64 bytes (as in Ray's object
    /// store). Otherwise they are copied. Raises :class:`FileError` or :class:`OtherContext` for a
    /// buffer with other contents.
    ///
    /// Parameters
    /// ----------
    /// buffer : bytes-like
    /// bootstrapping, bootstrap_keys
    ///     As of :meth:`load_server`.
    ///
    /// Returns
    /// -------
    /// Server
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> other = context.server_from_ready(server.ready_bytes())
    /// >>> x = other.receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (buffer, *, bootstrapping=None, bootstrap_keys=None))]
    fn server_from_ready(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<PyServer> {
        let keys = Keys::Memory(crate::prepared::memory(buffer)?);
        PyServer::share(py, &self.setting, keys, bootstrapping, bootstrap_keys)
    }

    /// Makes a server without keys. It can add, and multiply by public numbers.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, _ = context.generate_keys()
    /// >>> client.decrypt(3 * context.server_without_keys().receive(client.encrypt([1, 2])))
    /// array([3, 6])
    fn server_without_keys(&self, py: Python<'_>) -> PyResult<PyServer> {
        let server = quick(py, || ServerKind::without_keys(&self.setting))?;
        Ok(PyServer::new(&self.setting, server))
    }

    /// Loads the encrypted array from a file that :meth:`Ciphertext.save` or the command line
    /// wrote.
    ///
    /// **Warning.** A file states rows and columns only. An array with one row loads with one
    /// dimension, even if it had two when it was saved. ``client.decrypt(x).reshape(shape)``
    /// restores the shape. Pickles keep it.
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.bin"
    /// >>> client, server = context.generate_keys()
    /// >>> _ = client.encrypt([[1, 2], [3, 4]]).save(path)
    /// >>> client.decrypt(context.load_ciphertext(path))
    /// array([[1, 2],
    ///        [3, 4]])
    fn load_ciphertext(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyCiphertext> {
        PyCiphertext::load(py, &self.setting, path)
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
        match &self.setting.kind {
            Kind::Exact(context) => context.to_string(),
            Kind::Approximate(context) => context.to_string(),
        }
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.str()?,))?.extract()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.setting.same(&other.get().setting))
    }

    fn __hash__(&self) -> u64 {
        use windlass::wire::FileContext;
        let hash = match &self.setting.kind {
            Kind::Exact(context) => context.files().hash(),
            Kind::Approximate(context) => context.files().hash(),
        };
        hash.iter().take(8).fold(0, |sum, &byte| (sum << 8) | u64::from(byte))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        crate::pickle::reduce(py, "restore_context", (self.setting.state.clone(),))
    }
}

/// Parameters in text are no longer than this.
const LONGEST: u64 = 1 << 16;

/// The text of a file of parameters, cut one byte beyond the longest that is read: a longer one is refused
/// as such.
fn parameter_text(path: &Path) -> Result<String, windlass::wire::WireError> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

//! Contexts: parameters, plans, keys.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::NeedsKeys;
use windlass::needs::KeyRequest;

use crate::array::PyCiphertext;
use crate::bootstrapping::PyBootstrapping;
use crate::circuit::{PyCircuit, Recipe};
use crate::client::{ClientKind, PyClient, PyEncryptor};
use crate::error::{of_file, plain, raise};
use crate::for_circuits::{NumpyPolynomial, asked};
use crate::handle::ServerKind;
use crate::layout::in_words;
use crate::matrix::{LinearInner, LinearSpec, PyLinear};
use crate::natural::Natural;
use crate::needs::{PyKeys, check_keys, requests};
use crate::numbers::{Slice, integers, values};
use crate::parameters::{Asked, describe_approximate, loads, secure};
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
    /// The smallest parameters that can do what is asked for.
    ///
    /// Parameters
    /// ----------
    /// modulus : int
    ///     The plaintext modulus, a power of a prime below 2**45: integers are computed modulo it.
    /// depth : int, optional
    ///     Multiplications of ciphertexts in sequence; 1 if nothing is said.
    /// slots : int
    ///     At least so many numbers in a ciphertext.
    /// scheme : str
    ///     ``"BGV"`` or ``"BFV"``.
    /// linear_maps : int, optional
    ///     Products with plaintext matrices or vectors in sequence, beside the multiplications; 1 if
    ///     nothing is said.
    /// capacity : float
    ///     Bits of capacity that are to be left after them.
    /// security : float
    ///     Bits, at least 128.
    /// m : int, optional
    ///     The cyclotomic index, if it is to be a certain one.
    /// unlimited : bool
    ///     Parameters that bootstrap, for circuits of any depth; ``depth`` does not matter then.
    /// max_key_bytes : int, optional
    ///     The most memory that one switching key may take.
    /// progress : bool or callable, optional
    ///     ``False`` for no bar; a callable is called with (done, count). Only ``unlimited`` takes
    ///     long enough to show one: a minute or more where composite rings are searched, as
    ///     ``windlass params search --plan`` does it, since no named set and no power of two has as
    ///     many slots.
    /// for_ : sequence, optional
    ///     In place of ``depth`` and ``linear_maps``: what is computed, one after the other. Matrices
    ///     (arrays of two dimensions), polynomials of ``numpy.polynomial``, numbers of products,
    ///     circuits and layers of another context of integers.
    ///
    /// Returns
    /// -------
    /// Context
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     With what the last candidate lacked.
    /// ParameterError
    ///     For a modulus that is no power of a prime, security below 128 and the like.
    ///
    /// Warns
    /// -----
    /// FewSlotsWarning
    ///     Where ``slots`` was not given, and there is not one slot for a thousand coefficients.
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

    /// A named parameter set; :func:`windlass.presets` lists them.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     Sets with ``insecure`` in their name are for tests; those with ``paper`` repeat published
    ///     parameters, most of them near 80 bits of security. All others have at least 128.
    /// scheme : str
    ///     ``"BGV"`` or ``"BFV"``.
    ///
    /// Raises
    /// ------
    /// UnknownName
    ///     Whose ``known`` are all names.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> wl.Context.preset("insecure_toy_256").slots
    /// 128
    #[staticmethod]
    #[pyo3(signature = (name, *, scheme="BGV"))]
    fn preset(py: Python<'_>, name: String, scheme: &str) -> PyResult<Self> {
        crate::parameters::scheme(py, scheme)?;
        let state = state(&[("preset", name), ("scheme", scheme.to_owned())]);
        Ok(Self { setting: quick(py, || Setting::from_state(&state))? })
    }

    /// Parameters for real and complex numbers (CKKS), with 128 bits of security.
    ///
    /// Parameters
    /// ----------
    /// depth : int, optional
    ///     Products in sequence: with ciphertexts, matrices, vectors, and numbers that are no
    ///     integers. A polynomial, a layer and a shift say theirs as ``.depth``. 2 if nothing is
    ///     said.
    /// scale_bits : int
    ///     log2 of the scale, 25 to 50: numbers keep about ``scale_bits - 15`` bits after the point.
    /// value_bits : int
    ///     Values may grow to nearly 2**value_bits; at most 850.
    /// slots : int
    ///     At least so many numbers in a ciphertext.
    /// for_ : sequence, optional
    ///     In place of ``depth``: what is computed, one after the other. Matrices (arrays of two
    ///     dimensions), polynomials of ``numpy.polynomial``, numbers of products, circuits and layers
    ///     of another CKKS context.
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     When no ring of the security tables does.
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

    /// The parameters in a file that :meth:`save` or ``windlass params plan --out`` wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file of JSON.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     For text that holds no parameters.
    /// InsecureParameters
    ///     For a set that calls itself secure and is not.
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
        let text = std::fs::read_to_string(&path)
            .map_err(|error| of_file(py, raise(py, windlass::wire::WireError::from(error).into()), &path))?;
        let setting = quick(py, || {
            let field = if text.contains("windlass_ckks_parameters") { "ckks" } else { "parameters" };
            Setting::from_state(&state(&[(field, text)]))
        })
        .map_err(|error| of_file(py, error, &path))?;
        Ok(Self { setting })
    }

    /// Writes the parameters to a new file of JSON, which the command line reads as well.
    ///
    /// Raises
    /// ------
    /// FileExists
    ///     When the file is there already; then it stays as it is.
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
            Kind::Approximate(context) => context.ckks().spec().to_json(),
        }
    }

    /// Everything that is known of the parameters: sizes, moduli, security.
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
        Ok(describe_approximate(py, context.ckks().spec(), self.setting.rlwe())?.into_any())
    }

    /// ``"BGV"``, ``"BFV"`` or ``"CKKS"``.
    #[getter]
    fn scheme(&self) -> String {
        match &self.setting.kind {
            Kind::Exact(context) => context.scheme().to_string(),
            Kind::Approximate(_) => "CKKS".into(),
        }
    }

    /// The most numbers in one ciphertext.
    #[getter]
    fn slots(&self) -> usize {
        self.setting.slots()
    }

    /// The degree d of a slot: its elements are polynomials of d coefficients.
    #[getter]
    fn slot_degree(&self) -> usize {
        self.setting.degree()
    }

    /// The plaintext modulus; None for CKKS.
    #[getter]
    fn modulus(&self) -> Option<u64> {
        self.setting.modulus()
    }

    /// Estimated classical security in bits, a lower estimate.
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

    /// Multiplications in sequence on a fresh ciphertext.
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

    /// A matrix, ready to be multiplied by encrypted vectors.
    ///
    /// Parameters
    /// ----------
    /// matrix : array_like, shape (outputs, inputs)
    ///     Integers, or real or complex numbers for CKKS. Zero diagonals cost nothing; matrices
    ///     larger than a ciphertext become grids.
    /// bias : array_like, shape (outputs,), optional
    ///     Added to the product.
    /// strategy : str
    ///     ``"automatic"`` takes the cheapest; the algorithms of Halevi and Shoup (2018) have names,
    ///     which the error for an unknown one lists.
    /// max_keys : int, optional
    ///     The most keys that it may need, where that matters more than time.
    /// keys : sequence of int, optional
    ///     The automorphisms that have keys already: others are not used.
    /// folding : {"automatic", "never", "always"}
    ///     Whether a matrix with few rows is laid in blocks whose products are added afterwards, and
    ///     one with few columns in blocks that meet copies of the vector: far fewer diagonals and
    ///     keys. A named strategy means no folding. If there are few rows, the slots of a folded
    ///     product beyond the outputs hold parts of its sums: whoever decrypts can see them, so take
    ///     ``"never"`` (or multiply by ones) if the matrix is to stay private. If there are few
    ///     columns, the slots of the vector beyond its entries must hold zeros: an array that may
    ///     hold something else there, such as a folded product, is multiplied by ones first, which
    ///     takes capacity.
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
    ///     For a strategy that does not fit the matrix or the keys.
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

    /// A cyclic shift of vectors, as ``numpy.roll``; name it when keys are made, and
    /// ``x.roll(shift)`` works.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     Entries of the vectors.
    /// shift : int
    ///     Places by which entries are shifted.
    ///
    /// CKKS: it is a product with a matrix of zeros and ones, and takes one of the depth, however
    /// many ciphertexts a row takes.
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
    fn roll(&self, py: Python<'_>, length: Natural, shift: i64) -> PyResult<PyLinear> {
        let length = length.0 as usize;
        if length == 0 {
            return Err(plain(py, "ShapeError", "a vector without entries has no shift"));
        }
        crate::matrix::check_shift(py, &self.setting, length)?;
        let setting = Arc::clone(&self.setting);
        Ok(PyLinear { inner: long(py, None, "planning", move |_| LinearInner::roll(&setting, length, shift))? })
    }

    /// The sum of a vector's entries; name it when keys are made, and ``x.sum()`` works.
    ///
    /// Parameters
    /// ----------
    /// length : int, optional
    ///     Entries of the vectors; of any number for exact contexts. Without it the sum is one of all
    ///     slots, which every slot gets, and so stands for all entries in ``x - x.sum()``.
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

    /// What products of ciphertexts, squares and powers need: the relinearisation key.
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

    /// What ``x @ y`` needs for two encrypted vectors of a length: products and sums.
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

    /// Galois keys for automorphisms of one's own choice, and the relinearisation key if asked for.
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

    /// A polynomial of the slots.
    ///
    /// Parameters
    /// ----------
    /// coefficients : sequence of int or of float, or a polynomial of numpy.polynomial
    ///     Lowest first. CKKS takes NumPy's polynomials too: those in powers as such, all others on
    ///     their domain.
    /// interval : (float, float), optional
    ///     CKKS alone: the coefficients are those of Chebyshev polynomials on this interval.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     On an interval it refuses arrays that may lie outside (``x.bound``, :class:`OutsideInterval`):
    ///     choose a wider one, or say that they lie inside (``x.assume_bound(...)``).
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

    /// Any function of the integers in slots, as a polynomial; the modulus must be a prime.
    ///
    /// Parameters
    /// ----------
    /// table : sequence of int
    ///     The values at ``start``, ``start + 1``, ...; what lies outside is not computed rightly
    ///     unless the table is of all residues.
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
    #[pyo3(signature = (table, *, start=0))]
    fn table(&self, py: Python<'_>, table: &Bound<'_, PyAny>, start: i64) -> PyResult<PyCircuit> {
        self.exact(py, "a table")?;
        let values = integers(table, "table")?;
        PyCircuit::make(py, &self.setting, Recipe::Table { values, start })
    }

    /// x to a power, slot by slot.
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

    /// Whether two encrypted vectors are equal, slot by slot: 1 or 0; the modulus must be a prime.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     Called with two ciphertexts.
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

    /// Whether a < b, slot by slot, for integers that differ by less than ``bound``: 1 or 0.
    ///
    /// Parameters
    /// ----------
    /// bound : int
    ///     Above every ``abs(a - b)``, so at least 1; the smaller it is, the faster.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     Called with two ciphertexts.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     For a bound of 0, below which no difference is.
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

    /// A way to refresh spent ciphertexts; name it when keys are made, and servers refresh by
    /// themselves.
    ///
    /// Parameters
    /// ----------
    /// packed : bool
    ///     Keep any elements of slots of higher degree, not integers alone: takes longer.
    /// digits, unpacking, transform, partition, front_end : str
    ///     How, by name; the error for an unknown name lists those that there are.
    /// keys : str
    ///     The rule of Galois keys: ``full``, ``baby-giant``, ``minimal`` or ``default``. The fewer
    ///     keys, the longer a refresh takes. Without it the plan has the keys that it is fastest with.
    /// max_keys : int
    ///     The most Galois keys: the fastest plan that needs no more.
    ///
    /// Returns
    /// -------
    /// Bootstrapping
    ///
    /// Raises
    /// ------
    /// BootstrapError
    ///     When the parameters do not carry a bootstrapping: use a preset whose name begins with
    ///     ``boot``, or ``Context.plan(unlimited=True)``.
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
        max_keys: Option<usize>,
    ) -> PyResult<PyBootstrapping> {
        self.exact(py, "bootstrapping")?;
        let most = max_keys.map(|most| most.to_string());
        let names = [digits, unpacking, transform, partition, front_end, keys, most.as_deref()];
        let names = names.map(|name| name.map(str::to_owned));
        PyBootstrapping::make(py, &self.setting, packed, names)
    }

    /// A client with a fresh secret key, and a server with the keys that the circuits need and no
    /// others.
    ///
    /// Parameters
    /// ----------
    /// *circuits : LinearPlan, Circuit, Bootstrapping or Keys
    ///     Everything that the server shall run.
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
    ///     Before anything is made, where the system does not give what the keys will take.
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

    /// The client with the secret key in a file that :meth:`Client.save_secret` or the command line
    /// wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     That of an encrypted file.
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

    /// What encrypts with the public key in a file.
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

    /// The server with the evaluation keys in a file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     What :meth:`Server.save` or the command line wrote.
    /// bootstrapping : Bootstrapping, optional
    ///     The way to refresh that ``bootstrap_keys`` are for.
    /// bootstrap_keys : str or os.PathLike, optional
    ///     The file of its keys.
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

    /// The server with the keys of a file that ``server.save(path, ready=True)`` wrote, used where
    /// they lie: processes that map one file share one copy of it in memory.
    ///
    /// The file is checked once, now. It may be removed afterwards, but not written to or cut.
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
    ///     And nothing of the file is used.
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

    /// The server with the keys in a buffer that :meth:`Server.ready_bytes` gave: used in place where
    /// nobody may write to it and it is aligned to 64 bytes (as in Ray's object store), copied
    /// otherwise.
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

    /// A server without keys: it adds, and multiplies by public numbers.
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

    /// The encrypted array in a file that :meth:`Ciphertext.save` or the command line wrote.
    ///
    /// A file has the numbers of rows and of columns: one row is an array of one dimension, whatever
    /// it was saved from. ``client.decrypt(x).reshape(shape)`` restores the shape; pickles keep it.
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

    /// Milliseconds of a price that plans state, and bytes: what operations cost on this machine.
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

    /// A picture of the parameters; needs matplotlib.
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

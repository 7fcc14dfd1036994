//! Clients: encryption and decryption of arrays.

mod decrypting;
mod encrypting;
mod encryptor;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::schemes::Publication;
use windlass::{Approximate, NeedsKeys};

pub use self::decrypting::ClientKind;
use self::decrypting::{decrypt, decrypt_public, decrypt_wide, numbers_of};
use self::encrypting::{encrypt, encrypt_wide};
pub use self::encryptor::PyEncryptor;
use crate::array::PyCiphertext;
use crate::either::{map_kind, on_kind};
use crate::error::{of_file, plain};
use crate::natural::Natural;
use crate::needs::{check_keys, requests};
use crate::passphrase::passphrase_of;
use crate::runtime::{long, quick};
use crate::server::PyServer;
use crate::setting::{PyContext, Setting};

/// The side that holds the secret key: it encrypts and decrypts.
///
/// Made by :meth:`Context.generate_keys` or :meth:`Context.load_client`. A client cannot be
/// pickled; :meth:`save_secret` writes its secret key to a file.
#[pyclass(frozen, weakref, name = "Client", module = "windlass")]
pub struct PyClient {
    pub(crate) setting: Arc<Setting>,
    pub(crate) kind: Arc<ClientKind>,
}

impl PyClient {
    pub fn new(setting: &Arc<Setting>, kind: ClientKind) -> Self {
        Self { setting: Arc::clone(setting), kind: Arc::new(kind) }
    }

    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// The client of real and complex numbers, if it is one.
    pub fn approximate(&self) -> Option<&windlass::Client<Approximate>> {
        self.kind.approximate()
    }

    /// The same, or a refusal.
    fn of_reals(&self, py: Python<'_>, what: &str) -> PyResult<&windlass::Client<Approximate>> {
        let message = format!("{what} need a context of real numbers (CKKS), but this one is of integers");
        self.approximate().ok_or_else(|| plain(py, "ParameterError", message))
    }
}

#[pymethods]
impl PyClient {
    /// Encrypts an array.
    ///
    /// Parameters
    /// ----------
    /// values : array_like
    ///     Integers (of any integer dtype, in the range of the modulus) or, for CKKS, real or
    ///     complex numbers. The last dimension is packed into slots. A row that is longer than a
    ///     ciphertext has slots needs several ciphertexts.
    /// bound : float
    ///     CKKS only: a public bound on the absolute values.
    ///
    ///     **Warning.** The bound is visible in the ciphertext. It must not depend on the values.
    /// elements : bool
    ///     If true, the values have the shape (..., slots, d): the d coefficients of the element in
    ///     each slot.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///     Of the same shape. Decryption gives int64 for signed integers, uint64 for unsigned
    ///     integers, and float64 or complex128 for real or complex numbers.
    ///
    /// Raises
    /// ------
    /// ValueRangeError
    ///     If a number is outside the plaintext space, or above the bound. ``index`` and ``value``
    ///     say which.
    /// DTypeError, ShapeError
    ///     If the argument is not an array of numbers.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys()
    /// >>> client.decrypt(client.encrypt([[1, -2], [3, 4]]))
    /// array([[ 1, -2],
    ///        [ 3,  4]])
    #[pyo3(signature = (values, *, bound=1.0, elements=false))]
    fn encrypt(&self, py: Python<'_>, values: &Bound<'_, PyAny>, bound: f64, elements: bool) -> PyResult<PyCiphertext> {
        encrypt(py, map_kind!(&*self.kind, own => own), &self.setting, values, bound, elements)
    }

    /// Decrypts a ciphertext to the array in it.
    ///
    /// Parameters
    /// ----------
    /// ciphertext : Ciphertext
    /// dtype : {"int64", "uint64", "float64", "complex128"}, optional
    ///     The dtype of the result, if not that of the ciphertext: the same residues as signed or
    ///     unsigned integers, or the real parts or the complex numbers.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     Of the ciphertext's shape. For CKKS each number has an error of about
    ///     ``2**-ciphertext.precision_bits``.
    ///
    ///     **Warning.** That error depends on the secret key. Do not publish decrypted CKKS
    ///     numbers, not even rounded: use :meth:`decrypt_public`.
    ///
    /// Raises
    /// ------
    /// CapacityExhausted, OtherKeyPair, NotDecryptable
    ///     If the result would be wrong: too little capacity, another key pair, or noise above its
    ///     bound. For CKKS, ``NotDecryptable.index`` is the first number above its bound, if that
    ///     is known.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys()
    /// >>> client.decrypt(client.encrypt([-1, 2]), dtype="uint64")
    /// array([256,   2], dtype=uint64)
    #[pyo3(signature = (ciphertext, *, dtype=None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        ciphertext.check_context(py, &self.setting, "decrypt")?;
        let numbers = match dtype {
            None => ciphertext.numbers,
            Some(dtype) => numbers_of(py, &self.setting, dtype)?,
        };
        decrypt(py, &self.kind, &self.setting, ciphertext, numbers)
    }

    /// Encrypts numbers of more bits than float64 has: the sums ``high + low``, which are not rounded. CKKS
    /// only. A context of ``Context.refreshing(precision=60)`` keeps these bits.
    ///
    /// Parameters
    /// ----------
    /// high, low : array_like
    ///     Real or complex numbers of one shape. To encrypt a fraction ``q``, pass ``float(q)`` and
    ///     ``float(q - Fraction(float(q)))``.
    /// bound : float
    ///     As of :meth:`encrypt`.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///     Of the same shape. :meth:`decrypt_wide` gives all bits. :meth:`decrypt` rounds to float64.
    ///
    ///     **Warning.** Products with plaintext arrays and matrices, sums with plaintext arrays and
    ///     polynomials keep 49 bits, since their constants are float64. No error is raised.
    ///     ``Ciphertext.precision_bits`` says so. Sums and products of ciphertexts keep all bits, and so do
    ///     :meth:`Ciphertext.add_wide` and :meth:`Ciphertext.multiply_wide`.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If the context computes with integers.
    /// ValueRangeError
    ///     If a number is above the bound.
    /// DTypeError, ShapeError
    ///     If the arguments are not arrays of numbers, or have two shapes.
    ///
    /// Examples
    /// --------
    /// >>> from fractions import Fraction
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_precise_1024")
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> third = Fraction(1, 3)
    /// >>> high = float(third)
    /// >>> x = server.receive(client.encrypt_wide([high], [float(third - Fraction(high))]))
    /// >>> high, low = client.decrypt_wide(x * x)
    /// >>> abs(Fraction(high[0]) + Fraction(low[0]) - Fraction(1, 9)) < Fraction(1, 2**75)
    /// True
    #[pyo3(signature = (high, low, *, bound=1.0))]
    fn encrypt_wide(
        &self,
        py: Python<'_>,
        high: &Bound<'_, PyAny>,
        low: &Bound<'_, PyAny>,
        bound: f64,
    ) -> PyResult<PyCiphertext> {
        let client = self.of_reals(py, "numbers of two doubles")?;
        encrypt_wide(py, client, &self.setting, [high, low], bound)
    }

    /// Decrypts a ciphertext to two arrays ``high`` and ``low``, whose sum has some 90 bits of the largest
    /// number. CKKS only.
    ///
    /// Returns
    /// -------
    /// (numpy.ndarray, numpy.ndarray)
    ///     ``high`` is the result rounded to float64 or complex128, and ``low`` what is left. The warning of
    ///     :meth:`decrypt` applies.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If the context computes with integers.
    /// CapacityExhausted, OtherKeyPair, NotDecryptable
    ///     As in :meth:`decrypt`.
    fn decrypt_wide<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let client = self.of_reals(py, "numbers of two doubles")?;
        ciphertext.check_context(py, &self.setting, "decrypt")?;
        let [high, low] = decrypt_wide(py, client, &self.setting, ciphertext)?;
        Ok((high, low))
    }

    /// Decrypts a ciphertext to numbers that may leave the owner of the key: noise is added that hides their
    /// errors. CKKS only; decrypted integers have no errors.
    ///
    /// The noise is Gaussian. Its deviation in a coefficient of the message is
    /// ``sqrt(12 * decryptions) * 2**(security / 2)`` times the bound on the error (Li, Micciancio, Schultz
    /// and Sorrell, eprint 2022/816).
    ///
    /// Parameters
    /// ----------
    /// ciphertext : Ciphertext
    /// decryptions : int
    ///     How many decryptions under this key will be published at most, less than 2**32. Every ciphertext of an array is
    ///     one.
    ///
    ///     **Warning.** The number holds for all processes and machines together. Windlass does not count. When
    ///     it is used up, make a new key.
    /// security : int
    ///     The statistical security in bits, against all decryptions together: 1 to 128.
    ///
    /// Returns
    /// -------
    /// (numpy.ndarray, float)
    ///     The numbers, and how many bits after the point are right: ``-log2`` of the largest error to
    ///     expect, noise included.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If the context computes with integers, or the array has more ciphertexts than ``decryptions``.
    /// CapacityExhausted
    ///     If the noise would leave less than one bit of the numbers: use a larger scale (``scale_bits=50``),
    ///     fewer decryptions or less security.
    /// OtherKeyPair, NotDecryptable
    ///     As in :meth:`decrypt`.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.approximate(depth=1, scale_bits=50)
    /// >>> client, server = context.generate_keys()
    /// >>> values, bits = client.decrypt_public(client.encrypt([0.5, -0.25]), decryptions=4)
    /// >>> bool(max(abs(values - [0.5, -0.25])) < 0.25), bits > 4
    /// (True, True)
    #[pyo3(signature = (ciphertext, *, decryptions, security=Natural(40)), text_signature = "($self, ciphertext, *, decryptions, security=40)")]
    fn decrypt_public<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        decryptions: Natural,
        security: Natural,
    ) -> PyResult<(Bound<'py, PyAny>, f64)> {
        let client = self.of_reals(py, "published decryptions")?;
        ciphertext.check_context(py, &self.setting, "decrypt")?;
        let (security_bits, decryptions) = (security.small(py, "security")?, decryptions.small(py, "decryptions")?);
        let publication = Publication { security_bits, decryptions };
        decrypt_public(py, client, &self.setting, ciphertext, publication)
    }

    /// Makes another server for this key pair, with the keys that the circuits need. It takes time
    /// and memory for every key (:meth:`Context.sizes`).
    ///
    /// Parameters
    /// ----------
    /// *circuits : LinearPlan, Circuit, Bootstrapping or Keys
    /// progress : bool or callable, optional
    ///
    /// Returns
    /// -------
    /// Server
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys()
    /// >>> client.generate_server(context.products()).relinearisation
    /// True
    #[pyo3(signature = (*circuits, progress=None))]
    fn generate_server(
        &self,
        py: Python<'_>,
        circuits: &Bound<'_, PyTuple>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyServer> {
        let requests = requests(py, &self.setting, circuits)?;
        check_keys(py, &self.setting, &requests)?;
        let client = Arc::clone(&self.kind);
        let server = long(py, progress, "keys", move |ticker| {
            let needs: Vec<&dyn NeedsKeys> = requests.iter().map(|request| request as &dyn NeedsKeys).collect();
            let mut observe = |done, count| -> ControlFlow<()> { ticker.tell(done, count) };
            Ok(map_kind!(&*client, client => client.generate_server_for(&needs, &mut observe)?))
        })?;
        Ok(PyServer::new(&self.setting, server))
    }

    /// Makes a public key, with which others encrypt for this client.
    ///
    /// Returns
    /// -------
    /// Encryptor
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys()
    /// >>> client.decrypt(client.encryptor().encrypt([1, 2]))
    /// array([1, 2])
    fn encryptor(&self, py: Python<'_>) -> PyResult<PyEncryptor> {
        let key = quick(py, || on_kind!(&*self.kind, client => client.public_key()))?;
        PyEncryptor::of_key(py, &self.setting, key)
    }

    /// Writes the secret key to a new file that only its owner may read (mode 0600).
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     Encrypts the file (Argon2id and ChaCha20-Poly1305). Without a passphrase, anyone who can
    ///     read the file has the key.
    ///
    /// Returns
    /// -------
    /// int
    ///     Bytes written.
    ///
    /// Raises
    /// ------
    /// FileExists
    ///     If the file exists; it is not changed.
    /// ParameterError
    ///     If the passphrase is empty.
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
    /// >>> _ = client.save_secret(path.with_name("sealed.key"), passphrase="two or three words")
    #[pyo3(signature = (path, *, passphrase=None))]
    fn save_secret(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let passphrase = passphrase_of(passphrase)?;
        quick(py, || {
            on_kind!(&*self.kind, client => match &passphrase {
                None => client.save_secret(&path),
                Some(passphrase) => client.save_sealed_secret(&path, passphrase),
            })
        })
        .map_err(|error| of_file(py, error, &path))
    }

    /// The context of the key.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Client, {}>", self.setting.in_words())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let message = "a client holds a secret key, so it cannot be pickled: save it with client.save_secret(path), and load it with context.load_client(path)";
        Err(plain(py, "SecretNotPickled", message))
    }
}

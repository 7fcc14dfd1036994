//! Clients: encryption and decryption of arrays.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use num_complex::Complex64;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;
use windlass::rlwe::context::os_rng;
use windlass::schemes::{Ciphertext, Encryptor, ckks};
use windlass::{Approximate, Beyond, Error, NeedsKeys, Plaintext, Result};

use crate::array::{Parts, PyCiphertext};
use crate::either::{Either, map_kind, on_kind};
use crate::error::{of_file, plain, raise};
use crate::layout::Layout;
use crate::needs::{check_keys, requests};
use crate::numbers::{Numbers, Slice, Values, complex_to_numpy, integers_to_numpy, layout_of, values};
use crate::passphrase::passphrase_of;
use crate::progress::Ticker;
use crate::runtime::{by_parts, long, quick};
use crate::server::PyServer;
use crate::setting::{Kind, PyContext, Setting};

/// A client of the library.
pub type ClientKind = Either<windlass::Client, windlass::Client<Approximate>>;

/// A public-key encryptor of the library.
pub type EncryptorKind = Either<Encryptor, ckks::Encryptor>;

/// Encrypts one ciphertext of integers, with a secret or a public key.
trait EncryptsIntegers: Sync {
    fn plaintext(&self, plaintext: &Plaintext) -> Result<Ciphertext>;
}

impl EncryptsIntegers for windlass::Client {
    fn plaintext(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        self.encrypt_plaintext(plaintext)
    }
}

impl EncryptsIntegers for Encryptor {
    fn plaintext(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        self.encrypt(plaintext, &mut os_rng()?)
    }
}

/// Encrypts one ciphertext of complex numbers, with a secret or a public key.
trait EncryptsComplex: Sync {
    fn complex(&self, values: &[Complex64], bound: f64) -> Result<ckks::Ciphertext>;
}

impl EncryptsComplex for windlass::Client<Approximate> {
    fn complex(&self, values: &[Complex64], bound: f64) -> Result<ckks::Ciphertext> {
        self.encrypt_complex(values, bound)
    }
}

impl EncryptsComplex for ckks::Encryptor {
    fn complex(&self, values: &[Complex64], bound: f64) -> Result<ckks::Ciphertext> {
        self.encrypt_bounded(values, bound, &mut os_rng()?)
    }
}

/// Who encrypts.
type Encrypts<'a> = Either<&'a dyn EncryptsIntegers, &'a dyn EncryptsComplex>;

/// All ciphertexts of an array, in parallel.
fn encrypt_all(
    ticker: &Ticker,
    by: Encrypts<'_>,
    setting: &Setting,
    slice: Slice<'_>,
    layout: &Layout,
    bound: f64,
    elements: bool,
) -> Result<Parts> {
    let packed = setting.slots();
    let chunks = layout.chunks(packed);
    let degree = if elements { setting.degree() } else { 1 };
    let range = |part: usize| {
        let entries = layout.entries(part % chunks, packed);
        let start = (part / chunks) * layout.length;
        (start + entries.start) * degree..(start + entries.end) * degree
    };
    let count = layout.rows * chunks;
    match (&setting.kind, by) {
        (Kind::Exact(context), Encrypts::Exact(by)) => {
            let one = |part: usize| {
                ticker.check("encrypt")?;
                let range = range(part);
                let ring = context.slot_ring();
                let plaintext = match (slice, elements) {
                    (Slice::Signed(list), false) => Plaintext::from_integers(ring, &list[range]),
                    (Slice::Unsigned(list), false) => Plaintext::from_integers(ring, &list[range]),
                    (Slice::Signed(list), true) => Plaintext::from_slots(ring, &list[range]),
                    (Slice::Unsigned(list), true) => Plaintext::from_slots(ring, &list[range]),
                    _ => unreachable!("exact contexts take integers"),
                }?;
                by.plaintext(&plaintext)
            };
            Ok(Parts::Exact(each_part(count, one)?))
        }
        (Kind::Approximate(_), Encrypts::Approximate(by)) => {
            let one = |part: usize| {
                ticker.check("encrypt")?;
                let range = range(part);
                let mut list = match slice {
                    Slice::Real(list) => ckks::complex(&list[range]),
                    Slice::Complex(list) => list[range].to_vec(),
                    _ => unreachable!("approximate contexts take real and complex numbers"),
                };
                list.resize(packed, Complex64::ZERO);
                by.complex(&list, bound)
            };
            Ok(Parts::Approximate(each_part(count, one)?))
        }
        _ => unreachable!("contexts and keys are of one kind"),
    }
}

/// What `one` makes of every part, in parallel. A single part is made on the caller's thread.
fn each_part<C: Send>(count: usize, one: impl Fn(usize) -> Result<C> + Sync + Send) -> Result<Vec<C>> {
    if count == 1 {
        return Ok(vec![one(0)?]);
    }
    (0..count).into_par_iter().map(one).collect()
}

/// Checks an array and encrypts it.
fn encrypt(
    py: Python<'_>,
    by: Encrypts<'_>,
    setting: &Arc<Setting>,
    given: &Bound<'_, PyAny>,
    bound: f64,
    elements: bool,
) -> PyResult<PyCiphertext> {
    let array: Values<'_> = values(given, setting.is_exact())?;
    array.check(py, "encrypt", setting.modulus())?;
    array.check_bound(py, bound)?;
    let mut shape = array.shape();
    if elements {
        let degree = setting.degree();
        let Some((&last, leading)) = shape.split_last().filter(|_| shape.len() > 1) else {
            return Err(plain(py, "ShapeError", "elements=True takes arrays of shape (..., slots, d)"));
        };
        if last != degree || !setting.is_exact() {
            let message = format!(
                "elements=True: the last dimension is {last}, but must be {degree}, the number of coefficients of a slot"
            );
            return Err(plain(py, "ShapeError", message));
        }
        shape = leading;
    }
    let layout = layout_of(py, shape)?;
    let needed = (layout.rows * layout.chunks(setting.slots())) as u64;
    let each = setting.sizes().ciphertext_memory;
    if needed > 1 {
        crate::memory::check_memory(py, "the ciphertexts", needed.saturating_mul(each))?;
    }
    let slice = array.slice()?;
    let parts =
        by_parts(py, needed as usize, |ticker| encrypt_all(ticker, by, setting, slice, &layout, bound, elements))?;
    Ok(PyCiphertext::fresh(setting, parts, layout, array.numbers(), (elements, true)))
}

/// The side that holds the secret key: it encrypts and decrypts.
///
/// Made by :meth:`Context.generate_keys` or :meth:`Context.load_client`. A client cannot be
/// pickled; :meth:`save_secret` writes its secret key to a file.
#[pyclass(frozen, weakref, name = "Client", module = "windlass")]
pub struct PyClient {
    setting: Arc<Setting>,
    kind: Arc<ClientKind>,
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
    ///     numbers.
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
            Some(dtype) => {
                let name: String =
                    crate::numbers::numpy(py)?.getattr("dtype")?.call1((dtype,))?.getattr("name")?.extract()?;
                let exact = self.setting.is_exact();
                Numbers::named(&name)
                    .filter(|numbers| exact == matches!(numbers, Numbers::Signed | Numbers::Unsigned))
                    .ok_or_else(|| {
                        let known = if exact { "int64 and uint64" } else { "float64 and complex128" };
                        plain(py, "DTypeError", format!("this ciphertext decrypts to {known}, not to {name}"))
                    })?
            }
        };
        let (parts, layout) = (&ciphertext.parts, &ciphertext.layout);
        let mut dims = layout.dims.clone();
        let packed = self.setting.slots();
        let chunks = layout.chunks(packed);
        match (&*self.kind, &**parts) {
            (ClientKind::Exact(client), Parts::Exact(list)) => {
                let degree = if ciphertext.elements { self.setting.degree() } else { 1 };
                let residues = by_parts(py, list.len(), |ticker| {
                    let one = |(part, ct): (usize, &Ciphertext)| {
                        ticker.check("decrypt")?;
                        let mut values =
                            if ciphertext.elements { client.decrypt_elements(ct)? } else { client.decrypt(ct)? };
                        values.truncate(layout.entries(part % chunks, packed).len() * degree);
                        Ok(values)
                    };
                    joined(list, one)
                })?;
                if ciphertext.elements {
                    dims.push(degree);
                }
                let modulus = self.setting.modulus().unwrap_or(2);
                integers_to_numpy(py, residues, modulus, numbers, &dims)
            }
            (ClientKind::Approximate(client), Parts::Approximate(list)) => {
                let values = by_parts(py, list.len(), |ticker| {
                    let one = |(part, ct): (usize, &ckks::Ciphertext)| {
                        ticker.check("decrypt")?;
                        let entries = layout.entries(part % chunks, packed);
                        let first = part / chunks * layout.length + entries.start;
                        let values = client.decrypt_complex(ct);
                        let mut values = values.map_err(|error| at_index(error, first, entries.len()))?;
                        values.truncate(entries.len());
                        Ok(values)
                    };
                    joined(list, one)
                })?;
                complex_to_numpy(py, values, numbers, &dims)
            }
            _ => Err(plain(py, "OtherContext", "decrypt: the ciphertext is of another scheme")),
        }
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

/// The numbers of all ciphertexts, one after the other.
fn joined<C: Sync, T: Send>(list: &[C], one: impl Fn((usize, &C)) -> Result<Vec<T>> + Sync + Send) -> Result<Vec<T>> {
    if let [only] = list {
        return one((0, only));
    }
    // Of several refusals the first one is told.
    let all: Vec<Result<Vec<T>>> = list.par_iter().enumerate().map(one).collect();
    Ok(all.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// A refusal of a ciphertext that holds the numbers of an array from `first` on: it names the place in
/// the array, and none beside the `count` numbers.
fn at_index(error: Error, first: usize, count: usize) -> Error {
    match error {
        Error::NotDecryptable { beyond } => Error::NotDecryptable {
            beyond: beyond
                .filter(|beyond| beyond.slot < count)
                .map(|beyond| Beyond { slot: first + beyond.slot, ..beyond }),
        },
        other => other,
    }
}

/// A public key, which encrypts for its client and decrypts nothing.
#[pyclass(frozen, weakref, name = "Encryptor", module = "windlass")]
pub struct PyEncryptor {
    setting: Arc<Setting>,
    kind: EncryptorKind,
    /// The key in the bytes of its file.
    bytes: Vec<u8>,
}

impl PyEncryptor {
    pub fn of_key(py: Python<'_>, setting: &Arc<Setting>, key: PublicKey) -> PyResult<Self> {
        let made = || {
            let bytes = on_kind!(&setting.kind, context => context.to_bytes(&key)?);
            Ok((bytes, encryptor(setting, key)?))
        };
        let (bytes, kind) = made().map_err(|error| raise(py, error))?;
        Ok(Self { setting: Arc::clone(setting), kind, bytes })
    }

    pub fn from_bytes(py: Python<'_>, setting: &Arc<Setting>, bytes: &[u8]) -> PyResult<Self> {
        let key = quick(py, || on_kind!(&setting.kind, context => context.from_bytes(bytes)))?;
        Self::of_key(py, setting, key)
    }
}

#[pymethods]
impl PyEncryptor {
    /// Encrypts an array with the public key. Parameters, result and errors are those of
    /// :meth:`Client.encrypt`.
    #[pyo3(signature = (values, *, bound=1.0, elements=false))]
    fn encrypt(&self, py: Python<'_>, values: &Bound<'_, PyAny>, bound: f64, elements: bool) -> PyResult<PyCiphertext> {
        encrypt(py, map_kind!(&self.kind, own => own), &self.setting, values, bound, elements)
    }

    /// Writes the public key to a new file and returns the number of bytes. Raises
    /// :class:`FileExists` if the file exists.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        windlass::wire::write_new(&path, &self.bytes, windlass::wire::Access::Public)
            .map_err(|error| of_file(py, raise(py, error.into()), &path))?;
        Ok(self.bytes.len() as u64)
    }

    /// The context of the key.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    /// Bytes of the file of the public key.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Encryptor, {}>", self.setting.in_words())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = crate::pickle::buffer(py, self.bytes.clone(), protocol)?;
        crate::pickle::reduce(py, "restore_encryptor", (self.setting.state.clone(), bytes))
    }
}

/// What a key of the encryptor needs.
type PublicKey = windlass::rlwe::PublicKey;

/// The encryptor over a public key.
fn encryptor(setting: &Setting, key: PublicKey) -> Result<EncryptorKind> {
    let key = Arc::new(key);
    Ok(match &setting.kind {
        Kind::Exact(context) => EncryptorKind::Exact(windlass::schemes::Encryptor::new(context.scheme(), key)),
        Kind::Approximate(context) => {
            EncryptorKind::Approximate(windlass::schemes::ckks::Encryptor::new(context.ckks(), key)?)
        }
    })
}

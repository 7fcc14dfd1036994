//! Planned matrices.

use std::sync::Arc;

use num_complex::Complex64;
use pyo3::prelude::*;
use rayon::prelude::*;
use windlass::circuits::linear::Prepares;
use windlass::circuits::{self, ComplexSlots, Folding, MatrixPlan, MatrixSpec, PlanSpec};
use windlass::needs::KeyRequest;
use windlass::ring::kernels::Mapping;
use windlass::{Depth, Error, NeedsKeys, Result, Step};

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::in_words;
use crate::either::{Either, map_kind, on_kind};
use crate::elementwise::{self, Operand};
use crate::error::plain;
use crate::handle::ServerKind;
use crate::memory::check_memory;
use crate::numbers::{Numbers, Slice, values};
use crate::runtime::{long, stopped};
use crate::setting::{Kind, Setting};

/// The entries of a matrix, row by row.
#[derive(PartialEq)]
pub enum Matrix {
    /// Integers.
    Integers { rows: usize, columns: usize, entries: Vec<i64>, numbers: Numbers },
    /// Real or complex numbers.
    Complex { rows: usize, columns: usize, entries: Vec<Complex64>, numbers: Numbers },
    /// The permutation of a cyclic shift.
    Roll { length: usize, shift: usize },
    /// A convolution with real numbers: output i is `Σ_t taps[t]·x[i + start − t]`.
    Filter { taps: Vec<f64>, length: usize, start: usize, outputs: usize },
    /// A matrix of so many columns with real entries, row by row, that multiplies each of `count` blocks of a
    /// vector, which begin `stride` entries apart.
    Blocks { columns: usize, entries: Vec<f64>, count: usize, stride: usize },
}

/// What a plan may use.
#[derive(Clone, PartialEq, Eq)]
pub struct LinearSpec {
    pub strategy: String,
    pub max_keys: Option<usize>,
    pub keys: Option<Vec<u64>>,
    /// Whether matrices with few rows are folded: automatic, never or always.
    pub folding: String,
}

impl Default for LinearSpec {
    fn default() -> Self {
        Self { strategy: "automatic".into(), max_keys: None, keys: None, folding: "automatic".into() }
    }
}

/// A plan of either kind.
pub type Plan = Either<MatrixPlan, MatrixPlan<ComplexSlots>>;

impl Plan {
    /// What every plan says.
    pub fn common(&self) -> &dyn circuits::Plan {
        on_kind!(self, plan => plan)
    }
}

/// A matrix with its plan.
pub struct LinearInner {
    pub setting: Arc<Setting>,
    pub matrix: Matrix,
    pub spec: LinearSpec,
    pub plan: Plan,
    /// The bias as it was given, and its numbers.
    pub bias: Option<(Py<PyAny>, Numbers)>,
}

impl Matrix {
    pub fn rows(&self) -> usize {
        match self {
            Self::Integers { rows, .. } | Self::Complex { rows, .. } => *rows,
            Self::Roll { length, .. } => *length,
            Self::Filter { outputs, .. } => *outputs,
            Self::Blocks { count, stride, .. } => count * stride,
        }
    }

    pub fn columns(&self) -> usize {
        match self {
            Self::Integers { columns, .. } | Self::Complex { columns, .. } => *columns,
            Self::Roll { length, .. } | Self::Filter { length, .. } => *length,
            Self::Blocks { count, stride, .. } => count * stride,
        }
    }

    /// (row, column, value) of the entries of a matrix that multiplies blocks.
    pub fn in_blocks(
        columns: usize,
        entries: &[f64],
        count: usize,
        stride: usize,
    ) -> impl Iterator<Item = (usize, usize, f64)> {
        (0..count).map(move |block| block * stride).flat_map(move |start| {
            let places = entries.iter().enumerate().filter(|(_, value)| **value != 0.0);
            places.map(move |(k, &value)| (start + k / columns, start + k % columns, value))
        })
    }

    /// (row, column, value) of the entries of a filter.
    pub fn filtered(
        taps: &[f64],
        length: usize,
        start: usize,
        outputs: usize,
    ) -> impl Iterator<Item = (usize, usize, f64)> {
        (0..outputs).flat_map(move |row| {
            let column = move |tap: usize| (row + start).checked_sub(tap).filter(|&column| column < length);
            taps.iter().enumerate().filter_map(move |(tap, &value)| Some((row, column(tap)?, value)))
        })
    }

    /// (row, column) of the ones of a cyclic shift: entry i goes to i + shift.
    fn shifts(length: usize, shift: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..length).map(move |row| (row, (row + length - shift) % length))
    }
}

impl LinearInner {
    /// Plans a matrix.
    pub fn new(setting: &Arc<Setting>, matrix: Matrix, spec: LinearSpec) -> Result<Self> {
        let folding = match (spec.folding.as_str(), spec.strategy.as_str()) {
            // Who names an algorithm means just that.
            ("automatic", "automatic") => Folding::Automatic,
            ("automatic" | "never", _) => Folding::Never,
            ("always", _) => Folding::Always,
            (given, _) => {
                let known = ["automatic", "never", "always"].map(str::to_owned).to_vec();
                return Err(Error::UnknownName { what: "folding", given: given.to_owned(), known });
            }
        };
        let linear = PlanSpec {
            strategy: spec.strategy.parse()?,
            max_keys: spec.max_keys,
            keys: spec.keys.as_ref().map(|keys| keys.iter().copied().collect()),
            ..PlanSpec::default()
        };
        // Arrays know whether the slots beyond their entries hold zeros; `apply` masks the others.
        let how = MatrixSpec { linear, folding, zeros_beyond: true };
        let plan = match &setting.kind {
            Kind::Exact(context) => Plan::Exact(match &matrix {
                Matrix::Integers { columns, entries, .. } => {
                    let rows: Vec<&[i64]> = entries.chunks(*columns).collect();
                    MatrixPlan::from_dense(context.slot_ring(), &rows, &how)?
                }
                Matrix::Roll { length, shift } => {
                    let ones = Matrix::shifts(*length, *shift).map(|(row, column)| (row, column, 1));
                    MatrixPlan::from_sparse(context.slot_ring(), *length, *length, ones, &how)?
                }
                Matrix::Complex { .. } | Matrix::Filter { .. } | Matrix::Blocks { .. } => {
                    unreachable!("exact contexts take integers")
                }
            }),
            Kind::Approximate(context) => {
                let slots = context.vectors(setting.slots())?;
                let (rows, columns) = (matrix.rows(), matrix.columns());
                Plan::Approximate(match &matrix {
                    Matrix::Complex { columns: width, entries, .. } => {
                        let entries = entries.iter().enumerate().map(|(k, &z)| (k / width, k % width, z));
                        MatrixPlan::sparse_matrix(&slots, rows, columns, entries, &how)?
                    }
                    Matrix::Roll { length, shift } => {
                        let ones = Matrix::shifts(*length, *shift).map(|(row, column)| (row, column, Complex64::ONE));
                        MatrixPlan::sparse_matrix(&slots, rows, columns, ones, &how)?
                    }
                    Matrix::Filter { taps, length, start, outputs } => {
                        let entries = Matrix::filtered(taps, *length, *start, *outputs);
                        MatrixPlan::sparse_matrix(&slots, rows, columns, entries, &how)?
                    }
                    Matrix::Blocks { columns: width, entries, count, stride } => {
                        let entries = Matrix::in_blocks(*width, entries, *count, *stride);
                        MatrixPlan::sparse_matrix(&slots, rows, columns, entries, &how)?
                    }
                    Matrix::Integers { .. } => unreachable!("approximate contexts take complex numbers"),
                })
            }
        };
        Ok(Self { setting: Arc::clone(setting), matrix, spec, plan, bias: None })
    }

    /// The plan of the cyclic shift of vectors of a length, made once.
    pub fn roll(setting: &Arc<Setting>, length: usize, shift: i64) -> Result<Arc<Self>> {
        let shift = shift.rem_euclid(length.max(1) as i64) as usize;
        // Slots beyond the entries are to stay zeros.
        let spec = LinearSpec { folding: "never".into(), ..LinearSpec::default() };
        let make = || Ok(Arc::new(Self::new(setting, Matrix::Roll { length, shift }, spec)?));
        setting.shift((length, shift), make)
    }

    /// The plan of a filter or of blocks, of which no dense matrix is made.
    pub fn sparse(setting: &Arc<Setting>, matrix: Matrix) -> Result<Arc<Self>> {
        // Slots beyond the entries are to stay zeros.
        let spec = LinearSpec { folding: "never".into(), ..LinearSpec::default() };
        Ok(Arc::new(Self::new(setting, matrix, spec)?))
    }

    /// Whether entries lie in blocks: such products are added, or meet copies of the vector.
    pub fn is_folded(&self) -> bool {
        on_kind!(&self.plan, plan => plan.is_folded())
    }

    /// Adds what a product takes of the depth of parameters.
    pub fn add_to(&self, depth: &mut Depth) {
        on_kind!(&self.plan, plan => plan.add_to(depth));
    }

    /// Whether slots beyond the rows hold parts of other sums.
    fn leaves_sums(&self) -> bool {
        on_kind!(&self.plan, plan => plan.sum().is_some())
    }

    /// Whether slots beyond the vector must hold zeros.
    fn makes_copies(&self) -> bool {
        on_kind!(&self.plan, plan => plan.copies().is_some())
    }

    pub fn key_request(&self) -> KeyRequest {
        on_kind!(&self.plan, plan => plan.key_request())
    }

    fn numbers(&self) -> Option<Numbers> {
        match &self.matrix {
            Matrix::Integers { numbers, .. } | Matrix::Complex { numbers, .. } => Some(*numbers),
            Matrix::Roll { .. } | Matrix::Filter { .. } | Matrix::Blocks { .. } => None,
        }
    }

    /// The product with every row of an encrypted array.
    pub fn apply(
        self: &Arc<Self>,
        py: Python<'_>,
        x: &PyCiphertext,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyCiphertext> {
        x.check_context(py, &self.setting, "matrix product")?;
        if x.layout.length != self.matrix.columns() || !x.layout.is_packed() || x.layout.dims.is_empty() {
            let (rows, columns) = (self.matrix.rows(), self.matrix.columns());
            let message = format!(
                "a matrix of shape ({rows}, {columns}) needs vectors of {columns} entries, not {}",
                x.layout.length
            );
            return Err(plain(py, "ShapeError", message));
        }
        let masked = if self.makes_copies() && !x.clean { Some(elementwise::masked(py, x)?) } else { None };
        let x = masked.as_ref().unwrap_or(x);
        let (server, parts, own, chunks) = (x.server(py)?, Arc::clone(&x.parts), Arc::clone(self), x.chunks());
        let products = long(py, progress, "matrix product", move |ticker| {
            let count = parts.len() / chunks;
            let step = || if ticker.tick(count).is_break() { Err(stopped("matrix product")) } else { Ok(()) };
            Ok(map_kind!((&*server, &*parts, &own.plan), (s, list, plan) => rows_of(list, chunks, |row| {
                let product = match row {
                    [only] if plan.products().grid().rows() == 1 => vec![s.apply(plan, only)?],
                    _ => s.apply_grid(plan, row)?,
                };
                step().map(|()| product)
            })?))
        })?;
        let numbers = self.numbers().map_or(x.numbers, |numbers| x.numbers.joined(numbers));
        let product = x.result(products, x.layout.with_length(self.matrix.rows()), numbers, !self.leaves_sums());
        match &self.bias {
            None => Ok(product),
            Some((bias, _)) => elementwise::add(&product, Operand::of(&product, bias.bind(py))?),
        }
    }
}

impl LinearInner {
    /// Constants in memory, for the next products of a server.
    pub fn share_prepared(&self, kind: &ServerKind, memory: Arc<Mapping>) -> Result<()> {
        on_kind!((kind, &self.plan), (s, plan) => s.open_prepared(plan.products(), memory), else Err(other_scheme()))
    }
}

/// The level for which constants are prepared. Exact contexts ignore it: their constants fit every level.
pub fn level_of(py: Python<'_>, inner: &LinearInner, like: Option<&PyCiphertext>) -> PyResult<usize> {
    if let Some(like) = like {
        like.check_context(py, &inner.setting, "prepare")?;
    }
    let Kind::Approximate(context) = &inner.setting.kind else { return Ok(0) };
    let Some(like) = like else { return Ok(context.ckks().top_level()) };
    let (server, parts) = (like.server(py)?, Arc::clone(&like.parts));
    crate::runtime::quick(py, || match (&*server, &*parts) {
        (ServerKind::Approximate(s), Parts::Approximate(list)) => s.engine().level_for(&list[0]),
        _ => Err(other_scheme()),
    })
}

pub fn other_scheme() -> Error {
    let (left, right) = ("a matrix".to_owned(), "a server of another scheme".to_owned());
    Error::ContextMismatch { operation: "constants", left, right }
}

/// The products of all rows, one after the other in memory; the first one alone, since it converts
/// the constants that the others use.
fn rows_of<C: Sync + Send>(
    list: &[C],
    chunks: usize,
    one: impl Fn(&[C]) -> Result<Vec<C>> + Sync + Send,
) -> Result<Vec<C>> {
    let Some((first, rest)) = list.split_at_checked(chunks) else { return Ok(Vec::new()) };
    let mut all = one(first)?;
    let rest: Vec<Vec<C>> = rest.par_chunks(chunks).map(&one).collect::<Result<_>>()?;
    all.extend(rest.into_iter().flatten());
    Ok(all)
}

/// A matrix, planned: ``layer @ x`` multiplies an encrypted vector, ``layer(x)`` every row of an
/// encrypted array.
///
/// Made by :meth:`Context.linear`; pickled by its entries, and planned again as it was.
#[pyclass(frozen, weakref, name = "LinearPlan", module = "windlass")]
pub struct PyLinear {
    pub inner: Arc<LinearInner>,
}

impl PyLinear {
    /// Checks a matrix that multiplies blocks, and plans it.
    pub fn in_blocks(
        py: Python<'_>,
        setting: &Arc<Setting>,
        (rows, columns): (usize, usize),
        entries: Vec<f64>,
        (count, stride): (usize, usize),
    ) -> PyResult<Self> {
        let slots = setting.slots();
        if count == 0 || stride < rows.max(columns) || count.checked_mul(stride).is_none_or(|all| all > slots) {
            let message = format!(
                "{count} block(s) of {stride} entries for a matrix of shape ({rows}, {columns}): a block needs at least {} entries, and at least one block and at most {slots} entries in all fit a ciphertext",
                rows.max(columns)
            );
            return Err(plain(py, "ShapeError", message));
        }
        check_blocks(py, setting, rows, columns)?;
        let (setting, matrix) = (Arc::clone(setting), Matrix::Blocks { columns, entries, count, stride });
        Ok(Self { inner: long(py, None, "planning", move |_| LinearInner::sparse(&setting, matrix))? })
    }

    /// Checks a matrix and plans it.
    pub fn make(
        py: Python<'_>,
        setting: &Arc<Setting>,
        matrix: &Bound<'_, PyAny>,
        bias: Option<&Bound<'_, PyAny>>,
        spec: LinearSpec,
    ) -> PyResult<Self> {
        let array = values(matrix, setting.is_exact())?;
        let (rows, columns) = match array.shape() {
            [rows, columns] if *rows > 0 && *columns > 0 => (*rows, *columns),
            shape => {
                return Err(plain(
                    py,
                    "ShapeError",
                    format!(
                        "a matrix must have the shape (outputs, inputs), with at least one of each, not {}",
                        in_words(shape)
                    ),
                ));
            }
        };
        array.check(py, "matrix", setting.modulus())?;
        check_size(py, setting, rows, columns)?;
        let numbers = array.numbers();
        let entries = match array.slice()? {
            Slice::Signed(list) => Matrix::Integers { rows, columns, entries: list.to_vec(), numbers },
            Slice::Unsigned(list) => {
                Matrix::Integers { rows, columns, entries: list.iter().map(|&x| x as i64).collect(), numbers }
            }
            Slice::Real(list) => {
                Matrix::Complex { rows, columns, entries: windlass::schemes::ckks::complex(list), numbers }
            }
            Slice::Complex(list) => Matrix::Complex { rows, columns, entries: list.to_vec(), numbers },
        };
        let own = match bias {
            None => None,
            Some(bias) => {
                let array = values(bias, setting.is_exact())?;
                if array.shape() != [rows] {
                    return Err(plain(
                        py,
                        "ShapeError",
                        format!(
                            "the bias of a matrix with {rows} rows must have the shape ({rows},), not {}",
                            in_words(array.shape())
                        ),
                    ));
                }
                array.check(py, "bias", setting.modulus())?;
                // A copy: what the caller does with the array later changes nothing here.
                Some((crate::numbers::numpy(py)?.getattr("array")?.call1((bias,))?.unbind(), array.numbers()))
            }
        };
        let setting = Arc::clone(setting);
        let mut inner = long(py, None, "planning", move |_| LinearInner::new(&setting, entries, spec))?;
        inner.bias = own;
        Ok(Self { inner: Arc::new(inner) })
    }
}

/// Refuses matrices whose diagonals would not find room: for each ciphertext of the grid no more than
/// rows and columns together, and no more than slots.
pub fn check_size(py: Python<'_>, setting: &Setting, rows: usize, columns: usize) -> PyResult<()> {
    let slots = setting.slots() as u64;
    let blocks = (rows as u64).div_ceil(slots).saturating_mul((columns as u64).div_ceil(slots));
    let diagonals = (rows as u64).min(slots).saturating_add((columns as u64).min(slots)).min(slots);
    let each = if setting.is_exact() { 8 } else { 16 };
    let entries = (rows as u64).saturating_mul(columns as u64);
    let bytes = blocks.saturating_mul(diagonals).saturating_mul(slots).saturating_add(entries).saturating_mul(each);
    check_memory(py, "the diagonals of the matrix", bytes)
}

/// Refuses filters whose diagonals would not find room: a diagonal for each tap, and one more where outputs
/// take the end of the ciphertext before.
pub fn check_filter(py: Python<'_>, setting: &Setting, taps: usize, outputs: usize) -> PyResult<()> {
    let blocks = (outputs as u64).div_ceil(setting.slots() as u64);
    let values = blocks.saturating_mul(2 * taps as u64).saturating_mul(setting.slots() as u64);
    check_memory(py, "the diagonals of the filter", values.saturating_mul(16))
}

/// Refuses blocks whose diagonals would not find room: no more than rows and columns of a block together.
pub fn check_blocks(py: Python<'_>, setting: &Setting, rows: usize, columns: usize) -> PyResult<()> {
    let diagonals = (rows as u64).saturating_add(columns as u64);
    let bytes = diagonals.saturating_mul(setting.slots() as u64).saturating_mul(16);
    check_memory(py, "the diagonals of the blocks", bytes)
}

/// Refuses shifts of vectors that are too long: two diagonals for each ciphertext.
pub fn check_shift(py: Python<'_>, setting: &Setting, length: usize) -> PyResult<()> {
    check_memory(
        py,
        "the diagonals of the shift",
        (length as u64).saturating_mul(if setting.is_exact() { 64 } else { 128 }),
    )
}

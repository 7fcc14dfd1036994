//! The Python class of functions on slots: polynomials, tables, powers, comparisons, sums.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;
use windlass::circuits::{Comparison, Polynomial, PolynomialPlan, Power, SlotFunction, TracePlan};
use windlass::needs::KeyRequest;
use windlass::rlwe::Limits;
use windlass::{Approximate, Depth, Error, Exact, NeedsKeys, Result, Step};

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::error::plain;
use crate::function_recipe::RealRecipe;
use crate::functions::RealFunction;
use crate::handle::ServerKind;
use crate::numbers::{Numbers, Slice, values};
use crate::runtime::{long, quick, stopped};
use crate::setting::{Kind, PyContext, Setting};
use crate::{reduce, sums};

/// Ciphertexts that a function refreshes together: between two such groups it reports, and can be stopped.
const TOGETHER: usize = 8;

/// By what another process makes the same circuit.
#[derive(Clone)]
pub enum Recipe {
    Polynomial(Vec<i64>),
    RealPolynomial { coefficients: Vec<f64>, interval: Option<(f64, f64)> },
    Table { values: Vec<i64>, start: i64 },
    Power(u64),
    Equal,
    Less { bound: u64 },
    Sum { length: usize },
    Real(RealRecipe),
}

impl Recipe {
    /// A name, integers and reals.
    fn parts(&self) -> (String, Vec<i64>, Vec<f64>) {
        let (name, integers, reals) = match self {
            Self::Real(own) => return own.parts(),
            Self::Polynomial(coefficients) => ("polynomial", coefficients.clone(), Vec::new()),
            Self::RealPolynomial { coefficients, interval: None } => {
                ("real polynomial", Vec::new(), coefficients.clone())
            }
            Self::RealPolynomial { coefficients, interval: Some((low, high)) } => {
                let all = [*low, *high].into_iter().chain(coefficients.iter().copied());
                ("chebyshev polynomial", Vec::new(), all.collect())
            }
            Self::Table { values, start } => {
                ("table", [*start].into_iter().chain(values.iter().copied()).collect(), Vec::new())
            }
            Self::Power(exponent) => ("power", vec![*exponent as i64], Vec::new()),
            Self::Equal => ("equal", Vec::new(), Vec::new()),
            Self::Less { bound } => ("less", vec![*bound as i64], Vec::new()),
            Self::Sum { length } => ("sum", vec![*length as i64], Vec::new()),
        };
        (name.to_owned(), integers, reals)
    }

    /// The recipe of these parts.
    pub fn from_parts(name: &str, integers: Vec<i64>, reals: Vec<f64>) -> Option<Self> {
        if let Some(own) = RealRecipe::from_parts(name, &integers, &reals) {
            return Some(Self::Real(own));
        }
        Some(match (name, integers.as_slice(), reals.as_slice()) {
            ("polynomial", _, []) => Self::Polynomial(integers),
            ("real polynomial", [], _) => Self::RealPolynomial { coefficients: reals, interval: None },
            ("chebyshev polynomial", [], [low, high, rest @ ..]) => {
                Self::RealPolynomial { coefficients: rest.to_vec(), interval: Some((*low, *high)) }
            }
            ("table", [start, values @ ..], []) => Self::Table { values: values.to_vec(), start: *start },
            ("power", [exponent], []) => Self::Power(*exponent as u64),
            ("equal", [], []) => Self::Equal,
            ("less", [bound], []) => Self::Less { bound: *bound as u64 },
            ("sum", [length], []) => Self::Sum { length: usize::try_from(*length).ok()? },
            _ => return None,
        })
    }
}

/// A circuit of the library.
pub enum Body {
    Polynomial(PolynomialPlan),
    RealPolynomial(Polynomial),
    Function(SlotFunction),
    Power(Power),
    Comparison(Comparison),
    Sum(Arc<TracePlan>),
    Real(RealFunction),
}

impl Body {
    /// Products in sequence.
    fn depth(&self) -> usize {
        match self {
            Self::Polynomial(own) => own.depth(),
            Self::RealPolynomial(own) => own.depth(),
            Self::Function(own) => own.depth(),
            Self::Power(own) => own.depth(),
            Self::Comparison(own) => own.depth(),
            Self::Sum(_) => 0,
            Self::Real(own) => own.depth(),
        }
    }

    fn needs(&self) -> &dyn NeedsKeys {
        match self {
            Self::Polynomial(own) => own,
            Self::RealPolynomial(own) => own,
            Self::Function(own) => own,
            Self::Power(own) => own,
            Self::Comparison(own) => own,
            Self::Sum(own) => &**own,
            Self::Real(own) => own.needs(),
        }
    }

    /// Whether it takes two arrays.
    fn takes_two(&self) -> bool {
        match self {
            Self::Comparison(_) => true,
            Self::Real(own) => own.takes_two(),
            _ => false,
        }
    }

    /// The function of real numbers that it is.
    fn real(&self) -> Option<&RealFunction> {
        if let Self::Real(own) = self { Some(own) } else { None }
    }
}

/// A function of encrypted numbers: a polynomial, a table, a power, a comparison, a sum.
///
/// Made by methods of :class:`Context`. It is called with encrypted arrays.
#[pyclass(frozen, weakref, name = "Circuit", module = "windlass")]
pub struct PyCircuit {
    pub setting: Arc<Setting>,
    recipe: Recipe,
    body: Arc<Body>,
}

impl PyCircuit {
    /// Makes the circuit of a recipe.
    pub fn make(py: Python<'_>, setting: &Arc<Setting>, recipe: Recipe) -> PyResult<Self> {
        let wrong_scheme = match (&recipe, setting.is_exact()) {
            (Recipe::Real(_), true) => {
                Some("functions of real numbers need a CKKS context; use Context.table for a function of integers")
            }
            (Recipe::RealPolynomial { .. }, true) => {
                Some("a polynomial with real coefficients needs a CKKS context; give integers")
            }
            (
                Recipe::Polynomial(_) | Recipe::Table { .. } | Recipe::Power(_) | Recipe::Equal | Recipe::Less { .. },
                false,
            ) => Some(
                "functions of integers need a BGV or BFV context; use Context.function for a function of real numbers",
            ),
            _ => None,
        };
        if let Some(message) = wrong_scheme {
            return Err(plain(py, "ParameterError", message));
        }
        let (own, how) = (Arc::clone(setting), recipe.clone());
        let body = long(py, None, "planning", move |_| make_body(&own, &how))?;
        Ok(Self { setting: Arc::clone(setting), recipe, body: Arc::new(body) })
    }

    /// Adds the depth that it takes.
    pub fn add_to(&self, depth: &mut Depth) {
        match &*self.body {
            Body::Polynomial(own) => own.add_to(depth),
            Body::RealPolynomial(own) => own.add_to(depth),
            Body::Function(own) => own.add_to(depth),
            Body::Power(own) => own.add_to(depth),
            Body::Comparison(own) => own.add_to(depth),
            Body::Sum(own) if self.setting.is_exact() => Step::<Exact>::add_to(&**own, depth),
            Body::Sum(own) => Step::<Approximate>::add_to(&**own, depth),
            Body::Real(own) => own.add_to(depth),
        }
    }

    pub fn key_request(&self) -> KeyRequest {
        self.body.needs().key_request()
    }

    /// Whether 0 goes to 0.
    fn keeps_zero(&self) -> bool {
        match &*self.body {
            Body::Polynomial(own) => own.keeps_zero(),
            Body::RealPolynomial(own) => own.keeps_zero(),
            Body::Function(own) => own.keeps_zero(),
            Body::Power(_) => true,
            Body::Real(own) => own.keeps_zero(),
            Body::Comparison(_) | Body::Sum(_) => false,
        }
    }

    /// The function of one array.
    pub fn apply_one(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyCiphertext> {
        x.check_context(py, &self.setting, "function")?;
        if let (Body::Sum(plan), Recipe::Sum { length }) = (&*self.body, &self.recipe) {
            if !x.layout.is_packed() {
                return reduce::sum(py, x);
            }
            let most = if self.setting.is_exact() { usize::MAX } else { length.next_power_of_two() };
            if x.layout.length.min(self.setting.slots()) > most {
                let message = format!(
                    "this sum takes vectors of up to {most} entries, not {}: use context.sum({})",
                    x.layout.length, x.layout.length
                );
                return Err(plain(py, "ShapeError", message));
            }
            return sums::total(py, x, plan);
        }
        let layout = self.layout(py, &x.layout)?;
        let (server, parts, body) = (x.server(py)?, Arc::clone(&x.parts), Arc::clone(&self.body));
        // Two real vectors take one refresh.
        let real = x.numbers == Numbers::Real && matches!(self.body.real(), Some(RealFunction::One(_)));
        let values = long(py, progress, "function", move |ticker| {
            let count = parts.len();
            let step = || if ticker.tick(count).is_break() { Err(stopped("function")) } else { Ok(()) };
            Ok(match (&*server, &*parts) {
                (ServerKind::Exact(s), Parts::Exact(list)) => Parts::Exact(
                    list.par_iter()
                        .map(|ct| {
                            let value = match &*body {
                                Body::Polynomial(own) => s.apply(own, ct),
                                Body::Function(own) => s.apply(own, ct),
                                Body::Power(own) => s.apply(own, ct),
                                _ => unreachable!("checked before"),
                            }?;
                            step().map(|()| value)
                        })
                        .collect::<Result<_>>()?,
                ),
                (ServerKind::Approximate(s), Parts::Approximate(list)) if real && s.refreshes().next().is_some() => {
                    let mut values = Vec::with_capacity(count);
                    for together in list.chunks(TOGETHER) {
                        values.extend(body.real().expect("checked before").apply_list(s, together)?);
                        together.iter().try_for_each(|_| step())?;
                    }
                    Parts::Approximate(values)
                }
                (ServerKind::Approximate(s), Parts::Approximate(list)) => Parts::Approximate(
                    list.par_iter()
                        .map(|ct| {
                            let value = match &*body {
                                Body::RealPolynomial(own) => s.apply(own, ct),
                                Body::Real(own) => own.apply_one(s, ct),
                                _ => unreachable!("checked before"),
                            }?;
                            step().map(|()| value)
                        })
                        .collect::<Result<_>>()?,
                ),
                _ => unreachable!("contexts are the same"),
            })
        })?;
        let clears = self.body.real().is_some_and(RealFunction::clears);
        Ok(x.result(values, layout, x.numbers, (x.clean || clears) && self.keeps_zero()))
    }

    /// The layout of the result for arrays of a layout.
    fn layout(&self, py: Python<'_>, layout: &ArrayLayout) -> PyResult<ArrayLayout> {
        self.body.real().map_or_else(|| Ok(layout.clone()), |own| own.layout(py, layout))
    }

    /// The function of two arrays of one shape.
    fn apply_two(&self, py: Python<'_>, x: &PyCiphertext, y: &PyCiphertext) -> PyResult<PyCiphertext> {
        for own in [x, y] {
            own.check_context(py, &self.setting, "comparison")?;
        }
        if x.layout != y.layout {
            let message = format!(
                "arrays of shapes {} and {} cannot be compared entry by entry",
                x.layout.in_words(),
                y.layout.in_words()
            );
            return Err(plain(py, "ShapeError", message));
        }
        let layout = self.layout(py, &x.layout)?;
        let server = if x.server.is_some() { x.server(py)? } else { y.server(py)? };
        let (a, b, body) = (Arc::clone(&x.parts), Arc::clone(&y.parts), Arc::clone(&self.body));
        let values = long(py, None, "comparison", move |_| match (&*server, &*a, &*b, &*body) {
            (ServerKind::Exact(s), Parts::Exact(a), Parts::Exact(b), Body::Comparison(own)) => {
                let pairs = a.par_iter().zip(b);
                Ok(Parts::Exact(pairs.map(|(a, b)| s.apply(own, (a, b))).collect::<Result<_>>()?))
            }
            (ServerKind::Approximate(s), Parts::Approximate(a), Parts::Approximate(b), Body::Real(own)) => {
                let pairs = a.par_iter().zip(b);
                Ok(Parts::Approximate(pairs.map(|(a, b)| own.apply_two(s, a, b)).collect::<Result<_>>()?))
            }
            _ => unreachable!("contexts are the same"),
        })?;
        let base = if x.server.is_some() { x } else { y };
        Ok(base.result(values, layout, x.numbers, x.clean && y.clean && self.keeps_zero()))
    }
}

fn make_body(setting: &Setting, recipe: &Recipe) -> Result<Body> {
    if let Recipe::Sum { length } = recipe {
        return Ok(Body::Sum(setting.sum(*length)?));
    }
    if let Recipe::RealPolynomial { coefficients, interval } = recipe {
        return Ok(Body::RealPolynomial(match interval {
            None => Polynomial::monomial(coefficients)?,
            Some((low, high)) => Polynomial::chebyshev(coefficients, *low, *high)?,
        }));
    }
    if let Recipe::Real(own) = recipe {
        return Ok(Body::Real(own.plan(setting)?));
    }
    let Kind::Exact(context) = &setting.kind else { unreachable!("checked before") };
    Ok(match recipe {
        Recipe::Polynomial(coefficients) => Body::Polynomial(PolynomialPlan::new(coefficients)),
        Recipe::Table { values, start } => {
            if values.is_empty() {
                return Err(Error::ShapeMismatch { what: "values of a table", expected: 1, got: 0 });
            }
            let end = start.checked_add(values.len() as i64 - 1).ok_or(Error::OutOfRange(
                Limits::only("such that all arguments are below 2^63").refuse("the first argument of a table", *start),
            ))?;
            let value = |x: i64| values[(x - start) as usize];
            Body::Function(SlotFunction::on_range(context, *start..=end, value)?)
        }
        Recipe::Power(exponent) => Body::Power(Power::new(*exponent)?),
        Recipe::Equal => Body::Comparison(Comparison::equals(context)?),
        Recipe::Less { bound } => Body::Comparison(Comparison::is_less(context, *bound)?),
        Recipe::Sum { .. } | Recipe::RealPolynomial { .. } | Recipe::Real(_) => unreachable!("made above"),
    })
}

#[pymethods]
impl PyCircuit {
    /// The automorphisms that need Galois keys, in increasing order.
    #[getter]
    fn required_keys(&self) -> Vec<u64> {
        self.key_request().galois.keys().copied().collect()
    }

    /// Whether the circuit needs the relinearisation key.
    #[getter]
    fn relinearisation(&self) -> bool {
        self.key_request().relinearisation.is_some()
    }

    /// The number of products in sequence. For CKKS, the levels that a polynomial or a sum takes. A
    /// polynomial in powers or on the interval (-1, 1), and a sum, take one more if the slots beside
    /// the entries must be cleared first: after a folded matrix (:attr:`LinearPlan.folded`), a sum,
    /// or a polynomial that is not 0 at 0. ``for_`` of :meth:`Context.approximate` counts that.
    #[getter]
    fn depth(&self) -> usize {
        self.body.depth()
    }

    /// For functions of real numbers: the ends of the interval.
    #[getter]
    fn interval(&self) -> Option<(f64, f64)> {
        self.body.real().and_then(RealFunction::interval)
    }

    /// For functions of real numbers: the degrees of the polynomials, in the order in which they
    /// run.
    #[getter]
    fn degrees(&self) -> Vec<usize> {
        self.body.real().map(RealFunction::degrees).unwrap_or_default()
    }

    /// For functions of real numbers: the largest distance of what is computed from the function,
    /// without the errors of ciphertexts.
    #[getter]
    fn approximation_error(&self) -> Option<f64> {
        self.body.real().and_then(RealFunction::approximation_error)
    }

    /// For polynomials and functions of one real number: the largest number of products of ciphertexts,
    /// squares included. None for other circuits.
    #[getter]
    fn products(&self) -> Option<usize> {
        match &*self.body {
            Body::RealPolynomial(own) => Some(own.products()),
            Body::Real(own) => own.products(),
            _ => None,
        }
    }

    /// For polynomials and functions of one real number: what is computed for numbers in the clear, by the
    /// same polynomials in double precision.
    ///
    /// Parameters
    /// ----------
    /// x : array_like of float
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     Of the same shape. Outside of the interval it is what the polynomials give there.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     For other circuits.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> sigmoid = wl.Context.approximate(depth=6).function("sigmoid", (-8, 8), precision=12)
    /// >>> sigmoid.in_the_clear([-4.0, 0.0, 4.0]).round(3)
    /// array([0.018, 0.5  , 0.982])
    fn in_the_clear<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let given = values(x, false)?;
        let Slice::Real(list) = given.slice()? else {
            return Err(plain(py, "DTypeError", "in_the_clear takes real numbers"));
        };
        let value = |x: f64| match &*self.body {
            Body::RealPolynomial(own) => Some(own.value(x)),
            Body::Real(own) => own.value(x),
            _ => None,
        };
        let numbers: Option<Vec<f64>> = quick(py, || Ok(list.iter().map(|&x| value(x)).collect()))?;
        let message = "only polynomials and functions of one real number are computed in the clear";
        let numbers = numbers.ok_or_else(|| plain(py, "ParameterError", message))?;
        numpy::PyArray1::from_vec(py, numbers).into_any().call_method1("reshape", (given.shape().to_vec(),))
    }

    /// For functions of one real number: an upper bound on the error of the result for an encrypted
    /// array, before anything runs. It has three parts: the distance of what is computed from the
    /// function, the error of the array as the function passes it on, and what the operations add.
    /// It holds outside of the gap of a sign.
    ///
    /// Parameters
    /// ----------
    /// x : Ciphertext
    ///
    /// Returns
    /// -------
    /// float
    ///     The largest error over all ciphertexts of the array.
    ///
    /// Raises
    /// ------
    /// CapacityExhausted
    ///     If the array has too few levels.
    /// ParameterError
    ///     For other circuits, which state the error in the result.
    fn error(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<f64> {
        x.check_context(py, &self.setting, "error")?;
        let stated = self.body.real().map(|own| own.error(py, x)).transpose()?.flatten();
        let message = "only functions of one real number state an error before they run; others state it in the result";
        stated.ok_or_else(|| plain(py, "ParameterError", message))
    }

    /// The contract of a function of real numbers in words: interval, degrees, depth and error. In a context of
    /// :meth:`Context.refreshing`, for a function of one real number, also the levels after each step, where the server
    /// refreshes between the steps, and the error on a fresh ciphertext with what the refreshes add.
    fn explain(&self) -> String {
        self.body.real().map_or_else(|| self.key_request().needed_by, |own| own.explain(&self.setting))
    }

    /// Evaluates the circuit on one encrypted array, or on two for comparisons.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///
    /// Raises
    /// ------
    /// MissingRelinearisationKey, MissingGaloisKey
    ///     Before any work.
    /// OutsideInterval
    ///     For a polynomial on an interval, if ``x.bound`` is beyond both of its ends.
    ///
    ///     **Warning.** Whether a number lies outside an interval that is not symmetric is not
    ///     known. If one does, decryption of the result raises :class:`NotDecryptable`.
    /// CapacityExhausted
    #[pyo3(signature = (x, y=None, *, progress=None))]
    fn __call__(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        y: Option<&PyCiphertext>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyCiphertext> {
        match (self.body.takes_two(), y) {
            (true, Some(y)) => self.apply_two(py, x, y),
            (false, None) => self.apply_one(py, x, progress),
            (true, None) => Err(plain(py, "ShapeError", "a comparison takes two encrypted arrays")),
            (false, Some(_)) => Err(plain(py, "ShapeError", "this function takes one encrypted array")),
        }
    }

    /// The context of the circuit.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Circuit, {}, {}>", self.key_request().needed_by, self.setting.in_words())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.setting.same(&other.setting) && self.recipe.parts() == other.recipe.parts()
        })
    }

    fn __hash__(&self) -> usize {
        self.recipe.parts().0.len()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (name, integers, reals) = self.recipe.parts();
        crate::pickle::reduce(py, "restore_circuit", (self.setting.state.clone(), name, integers, reals))
    }
}

//! Functions of real numbers: sign, inverse, sigmoid and others, each with interval, degree, depth and
//! error.

use std::sync::Arc;

use super::context::Context;
use super::family::Approximate;
use crate::bootstrap::approximate::RefreshPlan;
use crate::circuits::{
    Extremum, Function, FunctionError, FunctionPlan, FunctionSchedule, MatrixProduct, Row, Softmax, Sorting,
};
use crate::error::Result;
use crate::schemes::ckks::CkksContext;

/// The functions of a context for real numbers: [`Context::functions`].
///
/// Each is planned for an interval and a precision in bits: what is computed is within 2^−bits of the
/// function. The plan says its depth, its degrees and its error, also on ciphertexts of this context
/// ([`Self::error`]), and goes to [`Context::generate_keys`] and [`crate::Server::apply`].
///
/// ```
/// use windlass::Context;
/// use windlass::schemes::ckks::{CkksSpec, complex};
///
/// let context = Context::approximate(&CkksSpec::secure(9, 40, 10, 4)?)?;
/// let inverse = context.functions().inverse((0.5, 4.0), 16.0)?;
/// assert!(inverse.approximation_error() <= 2f64.powi(-16));
/// println!("{inverse}: {:?}", context.functions().error(&inverse)?);
/// let (client, server) = context.generate_keys([&inverse])?;
/// let y = client.decrypt(&server.apply(&inverse, &client.encrypt_complex(&complex(&[0.5, 3.0]), 4.0)?)?)?;
/// assert!((y[0] - 2.0).abs() < 1e-4 && (y[1] - 1.0 / 3.0).abs() < 1e-4);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Functions<'a> {
    context: &'a Arc<CkksContext>,
    /// The refresh that the parameters are made for.
    refresh: Option<&'a RefreshPlan>,
}

impl Context<Approximate> {
    /// Functions of real numbers with a stated error.
    pub fn functions(&self) -> Functions<'_> {
        Functions { context: self.ckks(), refresh: self.setting().refresh.as_deref() }
    }
}

/// Functions with a name.
macro_rules! named {
    ($($name:ident: $function:ident, $what:literal;)*) => {
        $(
            #[doc = $what]
            ///
            /// # Errors
            /// As [`FunctionPlan::named`].
            pub fn $name(&self, interval: (f64, f64), bits: f64) -> Result<FunctionPlan> {
                FunctionPlan::named(Function::$function, interval, bits)
            }
        )*
    };
}

impl Functions<'_> {
    named! {
        exp: Exponential, "e^x within 2^−bits.";
        log: Logarithm, "The natural logarithm within 2^−bits, on an interval of positive numbers.";
        inverse: Inverse, "1/x within 2^−bits, on an interval without 0.";
        sqrt: SquareRoot, "√x within 2^−bits, on an interval from 0 or above.";
        inverse_sqrt: InverseSquareRoot, "1/√x within 2^−bits, on an interval of positive numbers.";
        sigmoid: Sigmoid, "1/(1 + e^{−x}) within 2^−bits.";
        tanh: Tanh, "tanh x within 2^−bits.";
        gelu: Gelu, "x·Φ(x) within 2^−bits, Φ the normal distribution.";
    }

    /// Any function within 2^−bits on an interval.
    ///
    /// # Errors
    /// As [`FunctionPlan::of`].
    pub fn of(&self, name: &str, f: impl Fn(f64) -> f64, interval: (f64, f64), bits: f64) -> Result<FunctionPlan> {
        FunctionPlan::of(name, &f, interval, bits)
    }

    /// The sign within 2^−bits, for gap ≤ |x| ≤ bound.
    ///
    /// # Errors
    /// As [`FunctionPlan::sign`].
    pub fn sign(&self, bound: f64, gap: f64, bits: f64) -> Result<FunctionPlan> {
        FunctionPlan::sign(bound, gap, bits)
    }

    /// 1 for x > 0 and 0 for x < 0 within 2^−bits, for gap ≤ |x| ≤ bound. Apply it to a difference to
    /// compare two numbers.
    ///
    /// # Errors
    /// As [`FunctionPlan::sign`].
    pub fn step(&self, bound: f64, gap: f64, bits: f64) -> Result<FunctionPlan> {
        FunctionPlan::step(bound, gap, bits)
    }

    /// |x| within 2^−bits, for |x| ≤ bound.
    ///
    /// # Errors
    /// As [`FunctionPlan::absolute`].
    pub fn absolute(&self, bound: f64, bits: f64) -> Result<FunctionPlan> {
        FunctionPlan::absolute(bound, bits)
    }

    /// The larger of two numbers of an interval within 2^−bits, slot by slot.
    ///
    /// # Errors
    /// As [`Extremum::largest`].
    pub fn maximum(&self, interval: (f64, f64), bits: f64) -> Result<Extremum> {
        Extremum::largest(interval, bits)
    }

    /// The smaller of two numbers of an interval within 2^−bits, slot by slot.
    ///
    /// # Errors
    /// As [`Extremum::largest`].
    pub fn minimum(&self, interval: (f64, f64), bits: f64) -> Result<Extremum> {
        Extremum::smallest(interval, bits)
    }

    /// The numbers of a row in descending order, each within 2^−bits, if all lie in an interval. A row
    /// is a number of entries, or a [`Row`].
    ///
    /// # Errors
    /// As [`Sorting::all`].
    pub fn sorting(&self, row: impl Into<Row>, interval: (f64, f64), bits: f64) -> Result<Sorting> {
        Sorting::all(self.context, row, interval, bits)
    }

    /// The largest numbers of a row in descending order, as [`Self::sorting`].
    ///
    /// # Errors
    /// As [`Sorting::largest`].
    pub fn largest(&self, largest: usize, row: impl Into<Row>, interval: (f64, f64), bits: f64) -> Result<Sorting> {
        Sorting::largest(self.context, largest, row, interval, bits)
    }

    /// The softmax of a row of numbers of an interval, within 2^−bits.
    ///
    /// # Errors
    /// As [`Softmax::new`].
    pub fn softmax(&self, row: impl Into<Row>, interval: (f64, f64), bits: f64) -> Result<Softmax> {
        Softmax::new(self.context, row, interval, bits)
    }

    /// The product of two encrypted d × d matrices, each in one vector, row by row.
    ///
    /// # Errors
    /// As [`MatrixProduct::new`].
    pub fn matrix_product(&self, size: usize) -> Result<MatrixProduct> {
        MatrixProduct::new(self.context, size)
    }

    /// The error of a function on a fresh encryption under this context, before anything runs. With the refresh of the
    /// context ([`Context::refresh`]) between the steps where they are deeper than its levels.
    ///
    /// # Errors
    /// As [`FunctionPlan::fresh_error`].
    pub fn error(&self, plan: &FunctionPlan) -> Result<FunctionError> {
        Ok(self.schedule(plan)?.error())
    }

    /// How a function runs on a fresh encryption under this context, before anything is made: the levels after each
    /// step, where a server with the keys of [`Context::refresh`] refreshes, and the error with what refreshes add.
    ///
    /// ```
    /// use windlass::Context;
    /// use windlass::bootstrap::approximate::RefreshSpec;
    ///
    /// let context = Context::refreshing(&RefreshSpec::preset("insecure_toy_refresh_1024_slots16")?)?; // a toy
    /// let sign = context.functions().sign(1.0, 0.0625, 10.0)?;
    /// println!("{}", context.functions().schedule(&sign)?);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::StepTooDeep`] if a step takes more levels than a refreshed ciphertext has, or
    /// [`crate::Error::LevelsExhausted`] in a context without refreshes.
    pub fn schedule(&self, plan: &FunctionPlan) -> Result<FunctionSchedule> {
        let terms = self.refresh.map(RefreshPlan::terms).transpose()?;
        plan.schedule(self.context, terms)
    }
}

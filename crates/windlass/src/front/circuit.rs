//! Circuits: what a server can run.
//!
//! A [`Circuit`] says which level it starts at, which constants it can convert in advance, and how
//! it runs on an evaluator. A server uses the first to check its keys, and keeps the second from
//! one call to the next.

use crate::circuits::complex::Polynomial;
use crate::circuits::linear::{Plannable, Prepares};
use crate::circuits::{
    Comparison, DigitRemoval, DigitRetention, FixedPointProduct, InnerProduct, LinearPlan, MatrixPlan, Membership,
    PolynomialPlan, Power, PreparedPlan, PublicInnerProduct, SlotFunction, SlotTable, TracePlan,
};
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::lookup::IndexBits;
use crate::schemes::ckks;
use crate::switching::Switching;

use super::needs::NeedsKeys;

/// A circuit with one output, on evaluators of type `E`.
pub trait Circuit<E: Switching + 'static>: NeedsKeys {
    /// The input: a ciphertext, a pair of ciphertexts, or a ciphertext and a list.
    type Input<'a>: Copy;

    /// Constants that are converted once for any number of inputs.
    type Prepared: Send + Sync + 'static;

    /// The level of the input. No key is used at a higher level unless the input is refreshed.
    fn level(&self, evaluator: &E, input: Self::Input<'_>) -> usize;

    /// The number of this circuit, which no other circuit has, and the level for which constants
    /// for this input are prepared. A server finds kept constants by this pair. `None` if the
    /// circuit has nothing to prepare.
    ///
    /// # Errors
    /// Errors of the evaluator about the input.
    fn place(&self, _evaluator: &E, _input: Self::Input<'_>) -> Result<Option<(u64, usize)>> {
        Ok(None)
    }

    /// Converts the constants for inputs up to a level.
    ///
    /// # Errors
    /// Errors of the evaluator.
    fn prepare(&self, evaluator: &E, level: usize) -> Result<Self::Prepared>;

    /// Size of the constants in bytes; 0 for circuits without constants.
    fn prepared_bytes(&self, _: &Self::Prepared) -> usize {
        0
    }

    /// The output. The part that goes through [`Arithmetic::run`] is refreshed as a whole if needed;
    /// the rest is refreshed operation by operation.
    ///
    /// # Errors
    /// Errors of the evaluator.
    fn run(&self, prepared: &Self::Prepared, evaluator: &E, input: Self::Input<'_>) -> Result<E::Ciphertext>;
}

/// A circuit with several input and several output ciphertexts, which also has a form with one of
/// each.
pub trait GridCircuit<E: Switching + 'static>: for<'a> Circuit<E, Input<'a> = &'a E::Ciphertext> {
    /// The number of input ciphertexts.
    fn inputs(&self) -> usize;

    /// The outputs.
    ///
    /// # Errors
    /// Errors of the evaluator; [`crate::Error::ShapeMismatch`] if the number of inputs differs.
    fn run_grid(
        &self,
        prepared: &Self::Prepared,
        evaluator: &E,
        inputs: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>>;
}

/// Plans whose constants are identified by a number of the plan.
macro_rules! of_plans {
    ($($plan:ident: $products:expr;)*) => {
        $(impl<R: Plannable + 'static, E: Prepares<R> + 'static> Circuit<E> for $plan<R> {
            type Input<'a> = &'a E::Ciphertext;
            type Prepared = PreparedPlan<E, R>;

            fn level(&self, evaluator: &E, input: &E::Ciphertext) -> usize {
                evaluator.level_of(input)
            }

            fn place(&self, evaluator: &E, input: &E::Ciphertext) -> Result<Option<(u64, usize)>> {
                Ok(Some((self.number(), evaluator.level_for(input)?)))
            }

            fn prepare(&self, evaluator: &E, level: usize) -> Result<PreparedPlan<E, R>> {
                self.prepare_at(evaluator, level)
            }

            fn prepared_bytes(&self, prepared: &PreparedPlan<E, R>) -> usize {
                prepared.bytes()
            }

            fn run(&self, prepared: &PreparedPlan<E, R>, evaluator: &E, input: &E::Ciphertext) -> Result<E::Ciphertext> {
                evaluator.run(input, &|evaluator, x| self.apply(prepared, evaluator, x))
            }
        }

        impl<R: Plannable + 'static, E: Prepares<R> + 'static> GridCircuit<E> for $plan<R> {
            fn inputs(&self) -> usize {
                let products: fn(&Self) -> &LinearPlan<R> = $products;
                products(self).grid().columns()
            }

            fn run_grid(
                &self,
                prepared: &PreparedPlan<E, R>,
                evaluator: &E,
                inputs: &[E::Ciphertext],
            ) -> Result<Vec<E::Ciphertext>> {
                self.apply_grid(prepared, evaluator, inputs)
            }
        })*
    };
}

of_plans!(LinearPlan: |plan| plan; MatrixPlan: MatrixPlan::products;);

impl<E: Evaluator + 'static> Circuit<E> for PublicInnerProduct {
    type Input<'a> = &'a E::Ciphertext;
    type Prepared = PreparedPlan<E>;

    fn level(&self, evaluator: &E, input: &E::Ciphertext) -> usize {
        evaluator.level_of(input)
    }

    fn place(&self, evaluator: &E, input: &E::Ciphertext) -> Result<Option<(u64, usize)>> {
        self.weights().place(evaluator, input)
    }

    fn prepare(&self, evaluator: &E, level: usize) -> Result<PreparedPlan<E>> {
        self.weights().prepare_at(evaluator, level)
    }

    fn run(&self, prepared: &PreparedPlan<E>, evaluator: &E, input: &E::Ciphertext) -> Result<E::Ciphertext> {
        evaluator.run(input, &|evaluator, x| self.apply(prepared, evaluator, x))
    }
}

/// Circuits with one input and nothing to prepare.
macro_rules! of_one {
    ($($circuit:ty: $bound:ident),*) => {
        $(impl<E: $bound + 'static> Circuit<E> for $circuit {
            type Input<'a> = &'a E::Ciphertext;
            type Prepared = ();

            fn level(&self, evaluator: &E, input: &E::Ciphertext) -> usize {
                evaluator.level_of(input)
            }

            fn prepare(&self, _: &E, _: usize) -> Result<()> {
                Ok(())
            }

            fn run(&self, (): &(), evaluator: &E, input: &E::Ciphertext) -> Result<E::Ciphertext> {
                evaluator.run(input, &|evaluator, x| self.apply(evaluator, x))
            }
        })*
    };
}

of_one!(DigitRemoval: Evaluator, DigitRetention: Evaluator, PolynomialPlan: Evaluator, Power: Evaluator, SlotFunction: Evaluator, SlotTable: Evaluator, TracePlan: Switching);

/// Circuits with two inputs and nothing to prepare. After the operation that combines both inputs,
/// they run the rest through [`Arithmetic::run`] themselves.
macro_rules! of_two {
    ($($circuit:ty: $second:ty, $level:expr;)*) => {
        $(impl<E: Evaluator + 'static> Circuit<E> for $circuit {
            type Input<'a> = (&'a E::Ciphertext, &'a $second);
            type Prepared = ();

            // The operation that combines both inputs runs at the lower of their levels.
            fn level(&self, evaluator: &E, (a, b): Self::Input<'_>) -> usize {
                let of_second: fn(&E, &$second) -> usize = $level;
                evaluator.level_of(a).min(of_second(evaluator, b))
            }

            fn prepare(&self, _: &E, _: usize) -> Result<()> {
                Ok(())
            }

            fn run(&self, (): &(), evaluator: &E, (a, b): Self::Input<'_>) -> Result<E::Ciphertext> {
                self.apply(evaluator, a, b)
            }
        })*
    };
}

of_two!(
    Comparison: E::Ciphertext, |evaluator, b| evaluator.level_of(b);
    FixedPointProduct: E::Ciphertext, |evaluator, b| evaluator.level_of(b);
    InnerProduct: E::Ciphertext, |evaluator, b| evaluator.level_of(b);
    Membership: [E::Ciphertext], |evaluator, list| {
        list.iter().map(|b| evaluator.level_of(b)).max().unwrap_or(0)
    };
);

impl<E: Evaluator + 'static> Circuit<E> for IndexBits {
    type Input<'a> = &'a [E::Ciphertext];
    type Prepared = ();

    fn level(&self, evaluator: &E, bits: &[E::Ciphertext]) -> usize {
        bits.iter().map(|bit| evaluator.level_of(bit)).max().unwrap_or(0)
    }

    fn prepare(&self, _: &E, _: usize) -> Result<()> {
        Ok(())
    }

    fn run(&self, (): &(), evaluator: &E, bits: &[E::Ciphertext]) -> Result<E::Ciphertext> {
        self.select(evaluator, bits)
    }
}

impl Circuit<ckks::Engine> for Polynomial {
    type Input<'a> = &'a ckks::Ciphertext;
    type Prepared = ();

    fn level(&self, _: &ckks::Engine, input: &ckks::Ciphertext) -> usize {
        input.level()
    }

    fn prepare(&self, _: &ckks::Engine, _: usize) -> Result<()> {
        Ok(())
    }

    fn run(&self, (): &(), evaluator: &ckks::Engine, input: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        evaluator.evaluate(self, input)
    }
}

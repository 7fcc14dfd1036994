//! Circuits: what a server can run.
//!
//! A [`Circuit`] says which level it starts at, which constants it can convert in advance, and how
//! it runs on an evaluator. A server uses the first to check its keys, and keeps the second from
//! one call to the next.
//!
//! The circuits themselves are generic over evaluators, so a program that calls one compiles it,
//! with all that it calls. Here each is implemented for the engines of servers one by one, not for
//! all evaluators. So this crate compiles it, once, and a program that runs it on a [`Server`] does
//! not.
//!
//! [`Server`]: super::Server

use std::sync::Arc;

use windlass_ring::slots::SlotRing;

use crate::circuits::complex::Polynomial;
use crate::circuits::linear::Prepares;
use crate::circuits::{
    Comparison, ComplexSlots, DigitRemoval, DigitRetention, Extremum, FixedPointProduct, FunctionPlan, IndexBits,
    InnerProduct, LinearPlan, MatrixPlan, MatrixProduct, Membership, PolynomialPlan, Power, PreparedPlan,
    PreparedProduct, PublicInnerProduct, SlotFunction, SlotTable, Softmax, Sorting, TracePlan,
};
use crate::error::Result;
use crate::schemes::clear::{Clear, ClearCiphertext};
use crate::schemes::{self, ckks};
use crate::switching::{Arithmetic, Switching};

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

    /// The output. The part that goes through [`Arithmetic::with_refreshes`] is refreshed as a whole if needed;
    /// the rest is refreshed operation by operation.
    ///
    /// # Errors
    /// Errors of the evaluator.
    fn evaluate(&self, prepared: &Self::Prepared, evaluator: &E, input: Self::Input<'_>) -> Result<E::Ciphertext>;

    /// [`Self::evaluate`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use evaluate")]
    fn run(&self, prepared: &Self::Prepared, evaluator: &E, input: Self::Input<'_>) -> Result<E::Ciphertext> {
        self.evaluate(prepared, evaluator, input)
    }
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
    fn evaluate_grid(
        &self,
        prepared: &Self::Prepared,
        evaluator: &E,
        inputs: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>>;

    /// [`Self::evaluate_grid`].
    ///
    /// # Errors
    /// As there.
    #[deprecated(since = "0.3.0", note = "use evaluate_grid")]
    fn run_grid(
        &self,
        prepared: &Self::Prepared,
        evaluator: &E,
        inputs: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>> {
        self.evaluate_grid(prepared, evaluator, inputs)
    }
}

/// A circuit with one input and one output that also takes a list of inputs at once:
/// [`LinearPlan`], [`FunctionPlan`].
pub trait ListCircuit<E: Switching + 'static>: for<'a> Circuit<E, Input<'a> = &'a E::Ciphertext> {
    /// Whether a list is refreshed inside, not input by input.
    #[doc(hidden)]
    fn refreshes_inside(&self) -> bool {
        false
    }

    /// The output for each input, with constants for the level of all of them.
    ///
    /// # Errors
    /// Errors of the evaluator.
    fn evaluate_list(
        &self,
        prepared: &Self::Prepared,
        evaluator: &E,
        inputs: &[E::Ciphertext],
    ) -> Result<Vec<E::Ciphertext>>;
}

macro_rules! of_lists {
    ($($engine:ty, $ciphertext:ty, $representation:ty;)*) => {
        $(impl ListCircuit<$engine> for LinearPlan<$representation> {
            fn evaluate_list(
                &self,
                prepared: &Self::Prepared,
                engine: &$engine,
                inputs: &[$ciphertext],
            ) -> Result<Vec<$ciphertext>> {
                self.apply_each(prepared, engine, inputs)
            }
        })*
    };
}

of_lists!(
    schemes::Engine, schemes::Ciphertext, Arc<SlotRing>;
    Clear, ClearCiphertext, Arc<SlotRing>;
    ckks::Engine, ckks::Ciphertext, ComplexSlots;
);

/// Plans whose constants are identified by a number of the plan, on one engine.
macro_rules! of_plans {
    ($engine:ty, $ciphertext:ty, $representation:ty; $($plan:ident: $products:expr;)*) => {
        $(impl Circuit<$engine> for $plan<$representation> {
            type Input<'a> = &'a $ciphertext;
            type Prepared = PreparedPlan<$engine, $representation>;

            fn level(&self, engine: &$engine, input: &$ciphertext) -> usize {
                engine.level_of(input)
            }

            fn place(&self, engine: &$engine, input: &$ciphertext) -> Result<Option<(u64, usize)>> {
                Ok(Some((self.number(), engine.level_for(input)?)))
            }

            fn prepare(&self, engine: &$engine, level: usize) -> Result<Self::Prepared> {
                self.prepare_at(engine, level)
            }

            fn prepared_bytes(&self, prepared: &Self::Prepared) -> usize {
                prepared.bytes()
            }

            fn evaluate(&self, prepared: &Self::Prepared, engine: &$engine, input: &$ciphertext) -> Result<$ciphertext> {
                engine.with_refreshes(input, &|engine, x| self.apply(prepared, engine, x))
            }
        }

        impl GridCircuit<$engine> for $plan<$representation> {
            fn inputs(&self) -> usize {
                let products: fn(&Self) -> &LinearPlan<$representation> = $products;
                products(self).grid().columns()
            }

            fn evaluate_grid(
                &self,
                prepared: &Self::Prepared,
                engine: &$engine,
                inputs: &[$ciphertext],
            ) -> Result<Vec<$ciphertext>> {
                self.apply_grid(prepared, engine, inputs)
            }
        })*
    };
}

/// Circuits with one input and nothing to prepare, on one engine.
macro_rules! of_one {
    ($engine:ty, $ciphertext:ty; $($circuit:ty),*) => {
        $(impl Circuit<$engine> for $circuit {
            type Input<'a> = &'a $ciphertext;
            type Prepared = ();

            fn level(&self, engine: &$engine, input: &$ciphertext) -> usize {
                engine.level_of(input)
            }

            fn prepare(&self, _: &$engine, _: usize) -> Result<()> {
                Ok(())
            }

            fn evaluate(&self, (): &(), engine: &$engine, input: &$ciphertext) -> Result<$ciphertext> {
                engine.with_refreshes(input, &|engine, x| self.apply(engine, x))
            }
        })*
    };
}

/// Circuits with two inputs and nothing to prepare, on one engine. After the operation that combines
/// both inputs, they run the rest through [`Arithmetic::with_refreshes`] themselves.
macro_rules! of_two {
    ($engine:ty, $ciphertext:ty; $($circuit:ty: $second:ty, $level:expr;)*) => {
        $(impl Circuit<$engine> for $circuit {
            type Input<'a> = (&'a $ciphertext, &'a $second);
            type Prepared = ();

            // The operation that combines both inputs runs at the lower of their levels.
            fn level(&self, engine: &$engine, (a, b): Self::Input<'_>) -> usize {
                let of_second: fn(&$engine, &$second) -> usize = $level;
                engine.level_of(a).min(of_second(engine, b))
            }

            fn prepare(&self, _: &$engine, _: usize) -> Result<()> {
                Ok(())
            }

            fn evaluate(&self, (): &(), engine: &$engine, (a, b): Self::Input<'_>) -> Result<$ciphertext> {
                self.apply(engine, a, b)
            }
        })*
    };
}

/// All circuits of exact schemes, on one engine.
macro_rules! exact_circuits {
    ($engine:ty, $ciphertext:ty) => {
        of_plans!(
            $engine, $ciphertext, Arc<SlotRing>;
            LinearPlan: |plan| plan;
            MatrixPlan: MatrixPlan::products;
        );

        of_one!(
            $engine, $ciphertext;
            DigitRemoval, DigitRetention, PolynomialPlan, Power, SlotFunction, SlotTable, TracePlan
        );

        of_two!(
            $engine, $ciphertext;
            Comparison: $ciphertext, |engine, b| engine.level_of(b);
            FixedPointProduct: $ciphertext, |engine, b| engine.level_of(b);
            InnerProduct: $ciphertext, |engine, b| engine.level_of(b);
            Membership: [$ciphertext], |engine, list| {
                list.iter().map(|b| engine.level_of(b)).max().unwrap_or(0)
            };
        );

        impl Circuit<$engine> for PublicInnerProduct {
            type Input<'a> = &'a $ciphertext;
            type Prepared = PreparedPlan<$engine>;

            fn level(&self, engine: &$engine, input: &$ciphertext) -> usize {
                engine.level_of(input)
            }

            fn place(&self, engine: &$engine, input: &$ciphertext) -> Result<Option<(u64, usize)>> {
                self.weights().place(engine, input)
            }

            fn prepare(&self, engine: &$engine, level: usize) -> Result<Self::Prepared> {
                self.weights().prepare_at(engine, level)
            }

            fn evaluate(&self, prepared: &Self::Prepared, engine: &$engine, input: &$ciphertext) -> Result<$ciphertext> {
                engine.with_refreshes(input, &|engine, x| self.apply(prepared, engine, x))
            }
        }

        impl Circuit<$engine> for IndexBits {
            type Input<'a> = &'a [$ciphertext];
            type Prepared = ();

            fn level(&self, engine: &$engine, bits: &[$ciphertext]) -> usize {
                bits.iter().map(|bit| engine.level_of(bit)).max().unwrap_or(0)
            }

            fn prepare(&self, _: &$engine, _: usize) -> Result<()> {
                Ok(())
            }

            fn evaluate(&self, (): &(), engine: &$engine, bits: &[$ciphertext]) -> Result<$ciphertext> {
                self.select(engine, bits)
            }
        }
    };
}

exact_circuits!(schemes::Engine, schemes::Ciphertext);
exact_circuits!(Clear, ClearCiphertext);

/// Plans on the engine of CKKS. Constants are for one level, so inputs without the levels of a product
/// are refreshed before it.
macro_rules! of_approximate_plans {
    ($($plan:ident: $products:expr;)*) => {
        $(impl Circuit<ckks::Engine> for $plan<ComplexSlots> {
            type Input<'a> = &'a ckks::Ciphertext;
            type Prepared = PreparedPlan<ckks::Engine, ComplexSlots>;

            fn level(&self, _: &ckks::Engine, input: &ckks::Ciphertext) -> usize {
                input.level()
            }

            fn place(&self, engine: &ckks::Engine, input: &ckks::Ciphertext) -> Result<Option<(u64, usize)>> {
                Ok(Some((self.number(), engine.level_with_depth(input, self.depth())?)))
            }

            fn prepare(&self, engine: &ckks::Engine, level: usize) -> Result<Self::Prepared> {
                self.prepare_at(engine, level)
            }

            fn prepared_bytes(&self, prepared: &Self::Prepared) -> usize {
                prepared.bytes()
            }

            fn evaluate(
                &self,
                prepared: &Self::Prepared,
                engine: &ckks::Engine,
                input: &ckks::Ciphertext,
            ) -> Result<ckks::Ciphertext> {
                self.apply(prepared, engine, &*engine.at_least(input, prepared.level())?)
            }
        }

        impl GridCircuit<ckks::Engine> for $plan<ComplexSlots> {
            fn inputs(&self) -> usize {
                let products: fn(&Self) -> &LinearPlan<ComplexSlots> = $products;
                products(self).grid().columns()
            }

            fn evaluate_grid(
                &self,
                prepared: &Self::Prepared,
                engine: &ckks::Engine,
                inputs: &[ckks::Ciphertext],
            ) -> Result<Vec<ckks::Ciphertext>> {
                let at_level = |input| Ok(engine.at_least(input, prepared.level())?.into_owned());
                let inputs: Vec<ckks::Ciphertext> = inputs.iter().map(at_level).collect::<Result<_>>()?;
                self.apply_grid(prepared, engine, &inputs)
            }
        })*
    };
}

of_approximate_plans!(
    LinearPlan: |plan| plan;
    MatrixPlan: MatrixPlan::products;
);

of_one!(ckks::Engine, ckks::Ciphertext; TracePlan);

/// Functions of one ciphertext that refresh between their own steps.
macro_rules! of_functions {
    ($($circuit:ty),*) => {
        $(impl Circuit<ckks::Engine> for $circuit {
            type Input<'a> = &'a ckks::Ciphertext;
            type Prepared = ();

            fn level(&self, _: &ckks::Engine, input: &ckks::Ciphertext) -> usize {
                input.level()
            }

            fn prepare(&self, _: &ckks::Engine, _: usize) -> Result<()> {
                Ok(())
            }

            fn evaluate(&self, (): &(), engine: &ckks::Engine, input: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
                self.apply(engine, input)
            }
        })*
    };
}

of_functions!(FunctionPlan, Softmax, Sorting);

impl ListCircuit<ckks::Engine> for FunctionPlan {
    fn refreshes_inside(&self) -> bool {
        true
    }

    fn evaluate_list(
        &self,
        (): &(),
        engine: &ckks::Engine,
        inputs: &[ckks::Ciphertext],
    ) -> Result<Vec<ckks::Ciphertext>> {
        self.apply_list(engine, inputs)
    }
}

impl Circuit<ckks::Engine> for Extremum {
    type Input<'a> = (&'a ckks::Ciphertext, &'a ckks::Ciphertext);
    type Prepared = ();

    fn level(&self, _: &ckks::Engine, (a, b): Self::Input<'_>) -> usize {
        a.level().min(b.level())
    }

    fn prepare(&self, _: &ckks::Engine, _: usize) -> Result<()> {
        Ok(())
    }

    fn evaluate(&self, (): &(), engine: &ckks::Engine, (a, b): Self::Input<'_>) -> Result<ckks::Ciphertext> {
        self.apply(engine, a, b)
    }
}

impl Circuit<ckks::Engine> for MatrixProduct {
    type Input<'a> = (&'a ckks::Ciphertext, &'a ckks::Ciphertext);
    type Prepared = PreparedProduct;

    fn level(&self, _: &ckks::Engine, (a, b): Self::Input<'_>) -> usize {
        a.level().max(b.level())
    }

    fn place(&self, engine: &ckks::Engine, (a, b): Self::Input<'_>) -> Result<Option<(u64, usize)>> {
        Ok(Some((self.number(), engine.level_for(a)?.max(engine.level_for(b)?))))
    }

    fn prepare(&self, engine: &ckks::Engine, level: usize) -> Result<PreparedProduct> {
        self.prepare_at(engine, level)
    }

    fn prepared_bytes(&self, prepared: &PreparedProduct) -> usize {
        prepared.bytes()
    }

    fn evaluate(
        &self,
        prepared: &PreparedProduct,
        engine: &ckks::Engine,
        (a, b): Self::Input<'_>,
    ) -> Result<ckks::Ciphertext> {
        self.apply(prepared, engine, a, b)
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

    fn evaluate(&self, (): &(), evaluator: &ckks::Engine, input: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        evaluator.evaluate(self, input)
    }
}

//! One type for what integers and CKKS both have, and macros for code that reads the same for both.
//!
//! Contexts, clients, servers, ciphertexts and plans of BGV and BFV have other types than those of
//! CKKS. A Python object holds either. A closure cannot be generic over both types, so the macros
//! write one body for each.

/// A value of integers (BGV or BFV), or its counterpart of real and complex numbers (CKKS).
#[derive(Clone)]
pub enum Either<E, A> {
    /// BGV or BFV.
    Exact(E),
    /// CKKS.
    Approximate(A),
}

impl<E, A> Either<E, A> {
    /// The value of integers, if it is one.
    pub fn exact(&self) -> Option<&E> {
        if let Self::Exact(value) = self { Some(value) } else { None }
    }

    /// The value of real and complex numbers, if it is one.
    pub fn approximate(&self) -> Option<&A> {
        if let Self::Approximate(value) = self { Some(value) } else { None }
    }
}

impl<E, F, A, B> Either<(E, F), (A, B)> {
    /// Each half of a pair apart.
    pub fn split(self) -> (Either<E, A>, Either<F, B>) {
        match self {
            Self::Exact((left, right)) => (Either::Exact(left), Either::Exact(right)),
            Self::Approximate((left, right)) => (Either::Approximate(left), Either::Approximate(right)),
        }
    }
}

impl<C, E, A> Either<(C, E), (C, A)> {
    /// What both kinds have in common, apart from the rest.
    pub fn with_common(self) -> (C, Either<E, A>) {
        match self {
            Self::Exact((common, own)) => (common, Either::Exact(own)),
            Self::Approximate((common, own)) => (common, Either::Approximate(own)),
        }
    }
}

/// Evaluates one expression for a value of either kind: `on_kind!(value, x => expression)`.
///
/// With several values, `on_kind!((a, b), (x, y) => expression)`, they belong to one context.
/// `else other` says what to do with values of different kinds, where a caller may give such ones.
macro_rules! on_kind {
    ($value:expr, $x:ident => $body:expr) => {
        match $value {
            $crate::either::Either::Exact($x) => $body,
            $crate::either::Either::Approximate($x) => $body,
        }
    };
    (($($value:expr),+), ($($x:ident),+) => $body:expr, else $other:expr) => {
        match ($($value),+) {
            ($($crate::either::Either::Exact($x)),+) => $body,
            ($($crate::either::Either::Approximate($x)),+) => $body,
            _ => $other,
        }
    };
    (($($value:expr),+), ($($x:ident),+) => $body:expr) => {
        $crate::either::on_kind!(($($value),+), ($($x),+) => $body, else unreachable!("values of one context"))
    };
}

/// As [`on_kind!`], with the result in an [`Either`] of the same kind.
macro_rules! map_kind {
    ($value:expr, $x:ident => $body:expr) => {
        match $value {
            $crate::either::Either::Exact($x) => $crate::either::Either::Exact($body),
            $crate::either::Either::Approximate($x) => $crate::either::Either::Approximate($body),
        }
    };
    (($($value:expr),+), ($($x:ident),+) => $body:expr) => {
        match ($($value),+) {
            ($($crate::either::Either::Exact($x)),+) => $crate::either::Either::Exact($body),
            ($($crate::either::Either::Approximate($x)),+) => $crate::either::Either::Approximate($body),
            _ => unreachable!("values of one context"),
        }
    };
}

pub(crate) use {map_kind, on_kind};

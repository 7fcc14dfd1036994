//! The negacyclic transform of length 2^k: Z_q\[X\]/(X^n + 1), n = 2^k.
//!
//! Layer l splits each of its 2^l nodes, residues modulo X^{2t} − w², into residues modulo X^t − w
//! and X^t + w. Passes of up to four layers keep a column of vectors in registers; the last six
//! layers are one pass over 64 residues around an 8×8 transposition. Nodes are visited depth first,
//! so that blocks of 2^12 residues stay in the first-level cache.

mod butterfly;
mod passes;
mod small;
mod tables;

#[cfg(test)]
mod tests;

use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, dispatch, dispatch_transform};
use crate::modulus::Modulus;
pub(super) use tables::roots;
use tables::{Tables, Words};

/// Tables of the negacyclic transform of length 2^k modulo one prime.
#[derive(Debug, Clone)]
pub(crate) struct Pow2Plan {
    isa: Isa,
    modulus: Modulus,
    method: Method,
}

#[derive(Debug, Clone)]
enum Method {
    /// Below 64 residues: one butterfly at a time.
    Small(small::Small),
    /// Vectors.
    Vector(Tables),
}

impl Pow2Plan {
    /// Largest k.
    pub(crate) const MAX_LOG_N: u32 = 17;

    /// The transform of length n = 2^log_n, 1 ≤ log_n ≤ 17, with `root` of order 2n modulo q.
    ///
    /// Position i of a transformed row is the value at root^(2·bitreverse(i) + 1).
    pub(crate) fn new(log_n: u32, modulus: Modulus, root: u64, isa: Isa) -> Self {
        assert!((1..=Self::MAX_LOG_N).contains(&log_n), "the length is 2^1 to 2^17");
        debug_assert_eq!(modulus.pow(root, 1 << log_n), modulus.value() - 1, "the root has order 2n");
        let method = if log_n < 6 {
            Method::Small(small::Small::new(log_n, modulus, root))
        } else {
            Method::Vector(dispatch(isa, modulus, tables::Build { log_n, modulus, root }))
        };
        Self { isa, modulus, method }
    }

    /// Coefficients to values, in place; canonical in and out.
    pub(crate) fn forward(&self, row: &mut [u64]) {
        match &self.method {
            Method::Small(small) => small.forward(row),
            Method::Vector(tables) => {
                assert_eq!(row.len(), 1 << tables.log_n);
                dispatch_transform(self.isa, self.modulus, Forward { tables, row: vectors(row) });
            }
        }
    }

    /// Values to coefficients, in place; canonical in and out.
    pub(crate) fn inverse(&self, row: &mut [u64]) {
        match &self.method {
            Method::Small(small) => small.inverse(row),
            Method::Vector(tables) => {
                assert_eq!(row.len(), 1 << tables.log_n);
                dispatch_transform(self.isa, self.modulus, Inverse { tables, row: vectors(row) });
            }
        }
    }
}

fn vectors(row: &mut [u64]) -> &mut [Words] {
    row.as_chunks_mut().0
}

/// Log of the block, in residues, that stays in the first-level cache.
const LOG_BLOCK: u32 = 12;

struct Forward<'a, 'b> {
    tables: &'a Tables,
    row: &'b mut [Words],
}

impl Kernel for Forward<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Self { tables, row } = self;
        let block = row.len().min(1 << (LOG_BLOCK - 3));
        for b in 0..row.len() / block {
            for (index, pass) in tables.passes.iter().enumerate() {
                let length = row.len() >> pass.layer;
                let nodes = if length > block {
                    // The outer node that begins with this block, if one does.
                    let first = b * block / length;
                    first..first + (b * block % length == 0) as usize
                } else {
                    let count = block / length;
                    b * count..(b + 1) * count
                };
                for node in nodes {
                    let roots = pass.node(node);
                    let node = &mut row[node * length..(node + 1) * length];
                    match (index, pass.log_radix) {
                        (0, 1) => l.vectorize(passes::Forward::<2, true> { node, roots }),
                        (0, 2) => l.vectorize(passes::Forward::<4, true> { node, roots }),
                        (0, 3) => l.vectorize(passes::Forward::<8, true> { node, roots }),
                        (0, _) => l.vectorize(passes::Forward::<16, true> { node, roots }),
                        _ => l.vectorize(passes::Forward::<8, false> { node, roots }),
                    }
                }
            }
            let tails = &tables.tail[b * block / LANES..];
            let block = &mut row[b * block..(b + 1) * block];
            match tables.passes.is_empty() {
                true => l.vectorize(passes::ForwardTail::<true> { block, tails }),
                false => l.vectorize(passes::ForwardTail::<false> { block, tails }),
            }
        }
    }
}

struct Inverse<'a, 'b> {
    tables: &'a Tables,
    row: &'b mut [Words],
}

impl Kernel for Inverse<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Self { tables, row } = self;
        let block = row.len().min(1 << (LOG_BLOCK - 3));
        for b in 0..row.len() / block {
            let opposite = row.len() / block - 1 - b;
            let tails = &tables.tail[..(opposite + 1) * block / LANES];
            let (part, last) = (&mut row[b * block..(b + 1) * block], &tables.last);
            match tables.passes.is_empty() {
                true => l.vectorize(passes::InverseTail::<true> { block: part, tails, last }),
                false => l.vectorize(passes::InverseTail::<false> { block: part, tails, last }),
            }
            for (index, pass) in tables.passes.iter().enumerate().rev() {
                let length = row.len() >> pass.layer;
                let nodes = if length > block {
                    // The outer node that ends with this block, if one does.
                    let last = b * block / length;
                    last..last + ((b + 1) * block % length == 0) as usize
                } else {
                    let count = block / length;
                    b * count..(b + 1) * count
                };
                for node in nodes {
                    let roots = pass.node(pass.opposite(node));
                    let node = &mut row[node * length..(node + 1) * length];
                    match (index, pass.log_radix) {
                        (0, 1) => l.vectorize(passes::Inverse::<2, true> { node, roots, last }),
                        (0, 2) => l.vectorize(passes::Inverse::<4, true> { node, roots, last }),
                        (0, 3) => l.vectorize(passes::Inverse::<8, true> { node, roots, last }),
                        (0, _) => l.vectorize(passes::Inverse::<16, true> { node, roots, last }),
                        _ => l.vectorize(passes::Inverse::<8, false> { node, roots, last }),
                    }
                }
            }
        }
    }
}

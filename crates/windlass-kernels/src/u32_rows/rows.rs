//! Sums, differences and multiples of rows, and the step of an expansion.

use crate::isa::Isa;
use crate::lanes::dispatch_u32;
use crate::lanes::u32_lanes::{Group, Line, U32Kernel, U32Lanes, WIDTH};
use crate::modulus::Modulus;
use crate::ntt::Automorphism;

/// Whole groups of a row.
pub(super) fn groups(row: &[u32]) -> &[Group] {
    assert!(row.len() % (2 * WIDTH) == 0, "rows are multiples of sixteen");
    row.as_chunks().0
}

/// Whole groups of a row, to be written.
pub(super) fn groups_mut(row: &mut [u32]) -> &mut [Group] {
    assert!(row.len() % (2 * WIDTH) == 0, "rows are multiples of sixteen");
    row.as_chunks_mut().0
}

/// Whether all residues are below q, as the bounds of every kernel ask for.
pub(super) fn canonical(q: Modulus, row: &[u32]) -> bool {
    row.iter().all(|&x| u64::from(x) < q.value())
}

/// x + y below q, for x and y below q.
#[inline(always)]
pub(super) fn sum<N: U32Lanes>(n: N, q: N::Vector, x: N::Vector, y: N::Vector) -> N::Vector {
    let sum = n.add(x, y);
    n.min(sum, n.sub(sum, q))
}

/// x − y below q, for x and y below q.
#[inline(always)]
fn difference<N: U32Lanes>(n: N, q: N::Vector, x: N::Vector, y: N::Vector) -> N::Vector {
    let difference = n.sub(x, y);
    n.min(difference, n.add(difference, q))
}

struct Combine<'a, const SUBTRACT: bool> {
    q: u32,
    out: &'a mut [Group],
    x: &'a [Group],
    y: &'a [Group],
}

impl<const SUBTRACT: bool> U32Kernel for Combine<'_, SUBTRACT> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, n: N) {
        let q = n.splat(self.q);
        let operands = self.x.chunks_exact(N::GROUPS).zip(self.y.chunks_exact(N::GROUPS));
        for (out, (x, y)) in self.out.chunks_exact_mut(N::GROUPS).zip(operands) {
            let (x, y) = (n.load_groups(x, 1), n.load_groups(y, 1));
            let z = if SUBTRACT { difference(n, q, x, y) } else { sum(n, q, x, y) };
            n.store_groups(out, 1, z);
        }
    }
}

/// `out = x + y`, of canonical rows.
pub fn add(isa: Isa, q: Modulus, out: &mut [u32], x: &[u32], y: &[u32]) {
    assert!(out.len() == x.len() && out.len() == y.len(), "rows of one length");
    debug_assert!(canonical(q, x) && canonical(q, y));
    let (q, out, x, y) = (q.value() as u32, groups_mut(out), groups(x), groups(y));
    dispatch_u32(isa, Combine::<false> { q, out, x, y });
}

/// `out = x − y`, of canonical rows.
pub fn sub(isa: Isa, q: Modulus, out: &mut [u32], x: &[u32], y: &[u32]) {
    assert!(out.len() == x.len() && out.len() == y.len(), "rows of one length");
    debug_assert!(canonical(q, x) && canonical(q, y));
    let (q, out, x, y) = (q.value() as u32, groups_mut(out), groups(x), groups(y));
    dispatch_u32(isa, Combine::<true> { q, out, x, y });
}

/// A row of constants that others are multiplied by, with their quotients.
#[derive(Debug, Clone)]
pub struct Multipliers(Vec<Line>);

impl Multipliers {
    /// Of canonical residues.
    pub fn new(q: Modulus, row: &[u32]) -> Self {
        debug_assert!(canonical(q, row));
        Self(groups(row).iter().map(|group| Line::new(q, group)).collect())
    }
}

struct Scale<'a> {
    q: u32,
    line: Line,
    row: &'a mut [Group],
}

impl U32Kernel for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, n: N) {
        let (q, w) = (n.splat(self.q), n.factor([&self.line; 2], 0));
        for words in self.row.chunks_exact_mut(N::GROUPS) {
            let x = n.times(n.load_groups(words, 1), w, q);
            n.store_groups(words, 1, n.min(x, n.sub(x, q)));
        }
    }
}

/// `x *= scalar`, any words x, the scalar canonical.
pub fn mul_scalar_assign(isa: Isa, q: Modulus, row: &mut [u32], scalar: u64) {
    let line = Line::new(q, &[q.reduce(scalar) as u32]);
    dispatch_u32(isa, Scale { q: q.value() as u32, line, row: groups_mut(row) });
}

struct Split<'a> {
    q: u32,
    /// Where each group comes from, and in which order.
    moves: &'a [(u32, u32)],
    patterns: &'a [Group],
    shift: &'a [Line],
    node: &'a [Group],
    other: &'a [Group],
    even: &'a mut [Group],
    odd: &'a mut [Group],
}

impl U32Kernel for Split<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, n: N) {
        let q = n.splat(self.q);
        let lanes = N::GROUPS;
        let results = self.even.chunks_exact_mut(lanes).zip(self.odd.chunks_exact_mut(lanes));
        let operands = self.moves.chunks_exact(lanes).zip(self.node.chunks_exact(lanes));
        for ((even, odd), ((moves, node), shift)) in results.zip(operands.zip(self.shift.chunks_exact(lanes))) {
            let mut moved = [[0; WIDTH]; 2];
            for g in 0..lanes {
                let (source, pattern) = moves[g];
                moved[g] = n.permute(&self.other[source as usize], &self.patterns[pattern as usize]);
            }
            let (x, moved) = (n.load_groups(node, 1), n.load_groups(&moved, 1));
            n.store_groups(even, 1, sum(n, q, x, moved));
            // Any word can be multiplied.
            let difference = n.add(n.sub(x, moved), q);
            let product = n.times(difference, n.factors([&shift[0], &shift[lanes - 1]]), q);
            n.store_groups(odd, 1, n.min(product, n.sub(product, q)));
        }
    }
}

/// A step of an expansion, on one row of values: `even = x + θ(y)` and `odd = shift·(x − θ(y))`. All
/// of them are canonical.
pub fn split(
    isa: Isa,
    q: Modulus,
    (automorphism, shift): (&Automorphism, &Multipliers),
    [x, y]: [&[u32]; 2],
    [even, odd]: [&mut [u32]; 2],
) {
    let n = x.len();
    assert!(y.len() == n && even.len() == n && odd.len() == n, "rows of one length");
    debug_assert!(canonical(q, x) && canonical(q, y));
    let (moves, patterns) = automorphism.groups_of_eight().expect("a ring of a power of two");
    assert!(moves.len() == n / WIDTH && shift.0.len() == n / WIDTH, "an automorphism and a shift of that length");
    let (node, other, even, odd) = (groups(x), groups(y), groups_mut(even), groups_mut(odd));
    dispatch_u32(isa, Split { q: q.value() as u32, moves, patterns, shift: &shift.0, node, other, even, odd });
}

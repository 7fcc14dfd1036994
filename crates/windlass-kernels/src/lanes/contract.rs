//! What a backend offers and what an algorithm asks: vectors of eight residues with stated bounds.

/// Number of residues in a vector, on every backend.
pub(crate) const LANES: usize = 8;

/// A double of at least 2^52 and below 2^53 holds the integer above 2^52 in its low bits.
pub(crate) const TWO_52: f64 = (1u64 << 52) as f64;

/// Bits of the largest modulus for which vectors have a form with room.
pub(crate) const ROOMY_BITS: u32 = 48;

/// What a backend's arithmetic takes and gives, in sixty-fourths of q, for every q < 2^50.
///
/// A value of bound B lies in (−Bq/64, Bq/64) when `signed`, else in [0, Bq/64).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// Whether values may be negative.
    pub signed: bool,
    /// Largest bound that `mul`, `store` and `reduce` take.
    pub limit: u32,
    /// Largest bound of sums and differences that go to `reduce` and nowhere else.
    pub widest: u32,
    /// Largest bound of the second operand of `sub`; unsigned forms add this much to the result.
    pub subtrahend: u32,
    /// Whether `sub_within` adds no more than the bound of its second operand demands.
    pub lifts: bool,
    /// Bound of what `reduce` gives.
    pub reduced: u32,
    /// `mul` of a value of bound B has bound `product + B / product_divisor`, rounded up.
    pub product: u32,
    /// See `product`.
    pub product_divisor: u32,
}

impl Form {
    /// One q in the units of the bounds.
    pub const ONE: u32 = 64;

    /// Bound of `mul` of a value of bound `x`.
    pub const fn product_of(&self, x: u32) -> u32 {
        self.product + x.div_ceil(self.product_divisor)
    }

    /// Bound of `x - y`, by `sub`.
    pub const fn difference(&self, x: u32, y: u32) -> u32 {
        if self.signed { x + y } else { x + self.subtrahend }
    }

    /// What `sub_within` adds so that the difference is not negative, where values may not be: a
    /// multiple of 2q if the form lifts.
    pub const fn lift(&self, y: u32) -> u32 {
        if self.lifts { y.next_multiple_of(2 * Self::ONE) } else { self.subtrahend }
    }

    /// Bound of `x - y`, by `sub_within`.
    pub const fn difference_within(&self, x: u32, y: u32) -> u32 {
        if self.signed { x + y } else { x + self.lift(y) }
    }
}

/// Arithmetic modulo one prime on a part of eight neighbouring residues: as many lanes as a
/// register has. A value of the type proves that its instructions exist, and knows which part it
/// stands for: from eight words it loads its own lanes.
///
/// What keeps many vectors in registers goes part by part, so that registers hold as many of them
/// on every backend.
///
/// All methods are to be inlined into [`Lanes::vectorize`], which enables the instructions. So
/// write loops: a call that stays a call (`std::array::from_fn` and `map` on arrays often do) is
/// compiled without them, and slow.
pub(crate) trait Part: Copy {
    /// Residues in internal form, one a lane.
    type Vector: Copy;
    /// Prepared multipliers, one a lane.
    type Multiplier: Copy;
    /// A sum of products of canonical residues, before reduction.
    type Sum: Copy;
    /// A sum of products of words with scalars, before reduction.
    type Combination: Copy;

    /// Bounds of the internal form.
    const FORM: Form;
    /// Words that [`Lanes::prepare`] fills.
    const WORDS: usize;
    /// Whether there are registers for two columns of eight vectors at once, which hides the
    /// latency of products.
    const TWO_COLUMNS: bool;
    /// Products that a [`Lanes::Sum`] can hold.
    const TERMS: usize;
    /// Products that a [`Lanes::Combination`] can hold.
    const COMBINED: usize;
    /// Whether lanes are words that are worked on one after another: code with many values at once
    /// then goes lane by lane.
    const ONE_BY_ONE: bool = false;

    /// Prepares a canonical multiplier; the first `WORDS` entries count.
    fn prepare(self, multiplier: u64) -> [u64; 2];
    /// One prepared multiplier, `words[..WORDS]`, in all lanes.
    fn multiplier(self, words: &[u64]) -> Self::Multiplier;
    /// A nonzero canonical multiplier as a table of a transform holds it: one word on every
    /// backend, since tables compete with rows for cache.
    fn prepare_root(self, root: u64) -> u64;
    /// One root in all lanes, ready for use: may cost a multiplication.
    fn root(self, word: u64) -> Self::Multiplier;
    /// A root for each lane.
    fn roots(self, words: &[u64; LANES]) -> Self::Multiplier;

    /// Zero in all lanes.
    fn zero(self) -> Self::Vector;
    /// Canonical residues to internal form, bound 1 (`Form::ONE`).
    fn load(self, words: &[u64; LANES]) -> Self::Vector;
    /// Any values below 2^50 to internal form, reduced.
    fn load_wide(self, words: &[u64; LANES]) -> Self::Vector;
    /// Internal form, up to `limit`, to canonical residues.
    fn store(self, words: &mut [u64; LANES], x: Self::Vector);
    /// Internal form from memory.
    fn load_raw(self, words: &[u64; LANES]) -> Self::Vector;
    /// Internal form to memory.
    fn store_raw(self, words: &mut [u64; LANES], x: Self::Vector);

    /// `x + y`; bounds add up.
    fn add(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// `x - y`, y of bound at most `subtrahend`.
    fn sub(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// `x - y`, y of bound at most `bound`, which is known when this is compiled.
    #[inline(always)]
    fn sub_within(self, x: Self::Vector, y: Self::Vector, bound: u32) -> Self::Vector {
        let _ = bound;
        self.sub(x, y)
    }
    /// `x * m`, x up to `limit`; reduced.
    fn mul(self, x: Self::Vector, m: Self::Multiplier) -> Self::Vector;
    /// `addend + x * m`, x up to `limit`, of the bound of the addend and that of a product.
    #[inline(always)]
    fn mul_add(self, addend: Self::Vector, x: Self::Vector, m: Self::Multiplier) -> Self::Vector {
        self.add(addend, self.mul(x, m))
    }
    /// [`Lanes::mul`] in place, N at a time: backends with long latencies run all of them through
    /// one stage after another.
    #[inline(always)]
    fn mul_many<const N: usize>(self, x: &mut [Self::Vector; N], m: &[Self::Multiplier; N]) {
        for i in 0..N {
            x[i] = self.mul(x[i], m[i]);
        }
    }
    /// `x * y`, x and y canonical or their bounds at most 1; reduced.
    fn mul_lanes(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x up to `widest`; reduced.
    fn reduce(self, x: Self::Vector) -> Self::Vector;

    /// An empty sum.
    fn sum_zero(self) -> Self::Sum;
    /// `sum + x * y` for canonical words: at most `TERMS` times.
    fn sum_add(self, sum: Self::Sum, x: &[u64; LANES], y: &[u64; LANES]) -> Self::Sum;
    /// The sum modulo q, reduced.
    fn sum_reduce(self, sum: Self::Sum) -> Self::Vector;
    /// The sum modulo q, canonical.
    #[inline(always)]
    fn store_sum(self, words: &mut [u64; LANES], sum: Self::Sum) {
        self.store(words, self.sum_reduce(sum));
    }
    /// A sum that holds one reduced value; takes the room of one product.
    fn sum_from(self, x: Self::Vector) -> Self::Sum;

    /// The word that [`Lanes::combine`] takes for a canonical scalar.
    fn coefficient(self, scalar: u64) -> u64;
    /// An empty combination.
    fn combination(self) -> Self::Combination;
    /// `sum + x * scalar` for words x below 2^50 and the scalar of [`Lanes::coefficient`]: at most
    /// `COMBINED` times.
    fn combine(self, sum: Self::Combination, x: &[u64; LANES], coefficient: u64) -> Self::Combination;
    /// The word in *source form*: what [`Part::combine_source`] takes without a conversion, the same
    /// for every q. Words are below 2^50.
    #[inline(always)]
    fn source(word: u64) -> u64 {
        word
    }
    /// The number whose source form this is.
    #[inline(always)]
    fn source_value(source: u64) -> f64 {
        f64::from_bits(source | TWO_52.to_bits()) - TWO_52
    }
    /// [`Part::combine`] for words in source form.
    #[inline(always)]
    fn combine_source(self, sum: Self::Combination, x: &[u64; LANES], coefficient: u64) -> Self::Combination {
        self.combine(sum, x, coefficient)
    }
    /// The combination modulo q, canonical.
    fn store_combination(self, words: &mut [u64; LANES], sum: Self::Combination);
    /// A combination that holds eight canonical residues; takes the room of one product.
    fn combination_from(self, words: &[u64; LANES]) -> Self::Combination;
    /// The combination modulo q as one that takes the room of one product.
    #[inline(always)]
    fn fold_combination(self, sum: Self::Combination) -> Self::Combination {
        let mut words = [0; LANES];
        self.store_combination(&mut words, sum);
        self.combination_from(&words)
    }
}

/// All eight lanes.
pub(crate) trait Lanes: Part {
    /// What a register holds of eight lanes, with the same constants as `Self`.
    type Part: Part;
    /// Number of such parts.
    const PARTS: usize;

    /// The part of that number, below `PARTS`.
    fn part(self, index: usize) -> Self::Part;
    /// Runs `kernel` with the backend's instructions enabled; where they have to be enabled, as a
    /// function that is not inlined.
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output;
    /// Transposes eight vectors: lane j of result i is lane i of argument j.
    fn transpose(self, rows: [Self::Vector; LANES]) -> [Self::Vector; LANES];
    /// Lane i of the result is lane `indices[i]` of x.
    fn permute(self, x: Self::Vector, indices: &[u64; LANES]) -> Self::Vector;
    /// `out[i] = words[indices[i]]`.
    #[inline(always)]
    fn permute_words(self, out: &mut [u64; LANES], words: &[u64; LANES], indices: &[u64; LANES]) {
        self.store_raw(out, self.permute(self.load_raw(words), indices));
    }
}

/// An algorithm over [`Lanes`]; `run` and all that it calls must be `#[inline(always)]`.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;
    /// Runs on one backend.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

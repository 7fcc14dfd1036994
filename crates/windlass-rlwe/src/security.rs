//! Hardness estimates: how many bits of security a ring dimension, a modulus and a secret
//! distribution give.
//!
//! Facts used (the data files are in `data`, their sources in `data/security/README.md`; the attacks
//! that are counted, rotations of the ring among them, are in `docs/explanation/attacks.md`):
//! - at fixed n a ternary secret has λ·log2(QP) nearly constant, rising slowly with λ: between two
//!   rows of the table λ ≥ λ_row·x_row/x from the row below is a lower estimate, and below 128 bits
//!   a falling correction is applied;
//! - at a fixed ratio log2(QP)/n, λ of ternary secrets rises with n: a point scales to a larger ring
//!   with its modulus (a chord in n would lie above, for the limit of log2(QP) is convex in n). λ of
//!   sparse secrets falls a little there, as a larger ring has more rotations: it scales less an
//!   allowance for each doubling of n. At a fixed modulus both rise;
//! - for sparse secrets log λ falls with log log2(QP), by a slope between 0 and −1: chords between
//!   neighbouring points less an allowance are lower estimates, and a slope of −1.05 beyond the
//!   last point; a sparser secret is no harder.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use crate::error::RlweError;

const TERNARY_TABLE: &str = include_str!("../data/ternary_max_log2_qp.csv");
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
const SPARSE_TABLE: &str = include_str!("../data/sparse.csv");
/// Programs for browsers do without these 97 KB: clients there make no refreshes, for which secrets are
/// sparse. Parameters with a sparse secret are refused there, since no table covers them.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
const SPARSE_TABLE: &str = "";

/// What a chord between two points of a sparse secret's curve may lie above the curve, in bits.
const CHORD_ALLOWANCE: f64 = 0.7;
/// What a smaller ring may have more at the same log2(QP)/n, in bits for each doubling of n.
const SCALE_ALLOWANCE: f64 = 3.0;

/// How the coefficients of the secret key are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretDistribution {
    /// Each coefficient uniform in {−1, 0, 1}.
    Ternary,
    /// Exactly `weight` coefficients ±1, the others 0.
    Sparse {
        /// Number of nonzero coefficients.
        weight: u32,
    },
    /// The sum of uniform ternary secrets, one for each party: the secret of a key that no party holds alone. It is
    /// as hard to find as one of them, for a party that holds all others.
    Collective {
        /// Number of parties.
        parties: u32,
    },
}

impl fmt::Display for SecretDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ternary => write!(f, "a uniform ternary secret"),
            Self::Sparse { weight } => write!(f, "a sparse secret of weight {weight}"),
            Self::Collective { parties } => write!(f, "a sum of {parties} uniform ternary secrets"),
        }
    }
}

impl SecretDistribution {
    /// Sum of the variances of the n coefficients: 2n/3 for each party, or the weight.
    pub fn total_variance(self, n: usize) -> f64 {
        match self {
            Self::Ternary => 2.0 * n as f64 / 3.0,
            Self::Sparse { weight } => weight as f64,
            Self::Collective { parties } => f64::from(parties) * Self::Ternary.total_variance(n),
        }
    }

    /// The largest sum of the squares of the coefficients: n, the weight, or n times the square of the number of
    /// parties.
    pub fn largest_squares(self, n: usize) -> f64 {
        match self {
            Self::Ternary => n as f64,
            Self::Sparse { weight } => f64::from(weight),
            Self::Collective { parties } => f64::from(parties).powi(2) * n as f64,
        }
    }

    /// The number of parties that hold the secret together: 1 unless it is a sum.
    pub fn parties(self) -> u32 {
        match self {
            Self::Ternary | Self::Sparse { .. } => 1,
            Self::Collective { parties } => parties,
        }
    }
}

/// Where an estimate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EstimateSource {
    /// Eprint 2024/463, Table 5.2, and lattice-estimator runs for ternary secrets, interpolated
    /// downwards.
    Tables,
    /// The table for sparse secrets (primal and dual hybrid attacks with meet in the middle, without
    /// and with rotations of the ring), interpolated downwards.
    SparsePoints,
    /// Below the tables' 128 bits or their last point: scaled from the nearest row.
    Scaled,
    /// Outside the dimensions of the tables: an indication only, no claim of security.
    Indication,
}

impl fmt::Display for EstimateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tables => "eprint 2024/463 Table 5.2 and lattice-estimator 27a581b, rounded down",
            Self::SparsePoints => {
                "hybrid attacks with rotations of the ring, MATZOV costs as in lattice-estimator 27a581b, rounded down"
            }
            Self::Scaled => "scaled down from the nearest point of the tables",
            Self::Indication => "rough indication outside the tables, no security claim",
        })
    }
}

/// A security level in bits, with its source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SecurityEstimate {
    /// λ: log2 of the estimated cost of the best known classical attack; at most 256 is ever
    /// claimed.
    pub bits: f64,
    /// Where the figure comes from.
    pub source: EstimateSource,
}

impl fmt::Display for SecurityEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded down: what is printed is never more than what is claimed.
        write!(f, "{:.1} bits ({})", (self.bits * 10.0).floor() / 10.0, self.source)
    }
}

/// `(n, log2 QP)` rows of each λ, ascending.
type TernaryRows = BTreeMap<u32, Vec<(f64, f64)>>;
/// `(log2 QP, λ)` points of each (n, weight), ascending.
type SparseCurves = BTreeMap<(u32, u32), Vec<(f64, f64)>>;

fn records(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.split(',').collect())
}

fn number(field: &str) -> f64 {
    field.trim().parse().expect("the embedded tables hold numbers")
}

static TERNARY: LazyLock<TernaryRows> = LazyLock::new(|| {
    let mut rows = TernaryRows::new();
    for record in records(TERNARY_TABLE) {
        rows.entry(number(record[1]) as u32).or_default().push((number(record[0]), number(record[2])));
    }
    for curve in rows.values_mut() {
        curve.sort_by(|a, b| a.partial_cmp(b).expect("no NaN in the tables"));
        // Where two sources give the same n, the smaller modulus is kept.
        curve.dedup_by_key(|&mut (n, _)| n as u64);
    }
    rows
});

static SPARSE: LazyLock<SparseCurves> = LazyLock::new(|| {
    let mut curves = SparseCurves::new();
    for record in records(SPARSE_TABLE) {
        let key = (number(record[0]) as u32, number(record[2]) as u32);
        curves.entry(key).or_default().push((number(record[1]), number(record[3])));
    }
    for curve in curves.values_mut() {
        curve.sort_by(|a, b| a.partial_cmp(b).expect("no NaN in the tables"));
    }
    curves
});

/// The points `(n, log2(QP), secret)` of the tables, from which λ of all others follows: what an
/// estimator has to be asked about.
pub fn table_points() -> Vec<(usize, f64, SecretDistribution)> {
    let ternary = TERNARY.values().flatten().map(|&(n, x)| (n as usize, x, SecretDistribution::Ternary));
    let sparse = SPARSE.iter().flat_map(|(&(n, weight), curve)| {
        curve.iter().map(move |&(x, _)| (n as usize, x, SecretDistribution::Sparse { weight }))
    });
    ternary.chain(sparse).collect()
}

/// The dimensions for which [`security_bits`] answers: `(lowest, highest)`.
pub fn covered_dimensions(secret: SecretDistribution) -> (usize, usize) {
    let ends = |mut dims: Box<dyn Iterator<Item = usize>>| {
        let first = dims.next().unwrap_or(usize::MAX);
        dims.fold((first, first), |(low, high), n| (low.min(n), high.max(n)))
    };
    let (low, high) = ends(Box::new(TERNARY[&128].iter().map(|&(n, _)| n as usize)));
    match secret {
        SecretDistribution::Ternary | SecretDistribution::Collective { .. } => (low, high),
        SecretDistribution::Sparse { weight } => {
            let covering = SPARSE.keys().filter(move |&&(_, w)| w <= weight).map(|&(n, _)| n as usize);
            (ends(Box::new(covering)).0, high)
        }
    }
}

/// λ for ring dimension `n` = φ(m), the base-two logarithm of the largest modulus `QP`, and a
/// secret distribution.
///
/// A lower estimate throughout: interpolation rounds down, at most 256 bits are claimed.
///
/// # Errors
/// [`RlweError::SecurityOutOfRange`] if n (or the weight) is outside the tables.
pub fn security_bits(n: usize, log2_qp: f64, secret: SecretDistribution) -> Result<SecurityEstimate, RlweError> {
    let (lowest, highest) = covered_dimensions(secret);
    if n < lowest || n > highest {
        return Err(RlweError::SecurityOutOfRange { n, secret: secret.to_string(), lowest, highest });
    }
    let ternary = ternary_bits(n as f64, log2_qp);
    Ok(match secret {
        SecretDistribution::Ternary | SecretDistribution::Collective { .. } => ternary,
        SecretDistribution::Sparse { weight } => {
            let sparse = sparse_bits(&SPARSE, n as f64, log2_qp, weight);
            if sparse.bits <= ternary.bits { sparse } else { ternary }
        }
    })
}

/// λ without a claim: as [`security_bits`] inside the tables, else an indication (for toy sets and
/// papers' sets).
///
/// Outside, λ is taken as proportional to n at constant log2(QP)/n from the nearest dimension
/// covered, for a sparse secret from the points of its weight or of the least weight above it too,
/// and at most what a search over all secrets costs.
pub fn indicative_security_bits(n: usize, log2_qp: f64, secret: SecretDistribution) -> SecurityEstimate {
    security_bits(n, log2_qp, secret).unwrap_or_else(|_| {
        let scaled = |(lowest, highest): (usize, usize), bits: &dyn Fn(f64, f64) -> f64| {
            let nearest = n.clamp(lowest, highest) as f64;
            let scale = (n as f64 / nearest).min(1.0);
            bits(nearest, log2_qp / scale) * scale
        };
        let ternary = covered_dimensions(SecretDistribution::Ternary);
        let mut bits = scaled(ternary, &|n, x| ternary_bits(n, x).bits);
        bits = match secret {
            SecretDistribution::Ternary | SecretDistribution::Collective { .. } => bits.min(n as f64 * 3f64.log2()),
            // No table, no claim.
            SecretDistribution::Sparse { .. } if SPARSE.is_empty() => 0.0,
            SecretDistribution::Sparse { weight } => {
                // A secret sparser than the tables' is no harder than their sparsest.
                let tabled = weight.max(least_weight());
                let covered = covered_dimensions(SecretDistribution::Sparse { weight: tabled });
                bits = bits.min(scaled(covered, &|n, x| sparse_bits(&SPARSE, n, x, tabled).bits));
                // Meet in the middle over the supports; of weight 0 there is one.
                let half = |weight: f64| weight * (1.0 + (n as f64 / weight).log2()) / 2.0;
                if weight == 0 { 0.0 } else { bits.min(half(weight as f64)) }
            }
        };
        SecurityEstimate { bits, source: EstimateSource::Indication }
    })
}

fn least_weight() -> u32 {
    SPARSE.keys().map(|&(_, weight)| weight).min().expect("the table has sparse points")
}

/// The largest log2(QP) for which [`security_bits`] is at least `lambda`.
///
/// # Errors
/// [`RlweError::SecurityOutOfRange`] as there; [`RlweError::SecurityUnreachable`] if no modulus
/// gives `lambda` bits.
pub fn max_log2_qp(n: usize, lambda: f64, secret: SecretDistribution) -> Result<f64, RlweError> {
    let reaches = |x: f64| security_bits(n, x, secret).map(|estimate| estimate.bits >= lambda);
    let (mut low, mut high) = (1.0, 16384.0);
    if !reaches(low)? {
        return Err(RlweError::SecurityUnreachable { n, wanted: lambda, secret: secret.to_string() });
    }
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if reaches(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    // 64 halvings end at the largest double that reaches λ: a table row is met exactly.
    Ok(low)
}

/// The largest log2 QP for λ = `row` at dimension n, from the dimension below by proportion; `None`
/// outside the row.
fn ternary_limit(row: &[(f64, f64)], n: f64) -> Option<f64> {
    let above = row.iter().position(|&(dimension, _)| dimension > n);
    let (n0, x0) = row[above.unwrap_or(row.len()).checked_sub(1)?];
    match above {
        // Exact where it is met: x0·n0/n0 may round.
        _ if n == n0 => Some(x0),
        Some(_) => Some((x0 * n / n0).floor()),
        None => None,
    }
}

fn ternary_bits(n: f64, x: f64) -> SecurityEstimate {
    let mut limits = TERNARY.iter().filter_map(|(&lambda, row)| Some((lambda as f64, ternary_limit(row, n)?)));
    let (base, limit) = limits.next().expect("the dimension is in the table of 128 bits");
    if x > limit {
        // λ·x falls slowly as x grows: the estimator's points lose 0.1% at 1.46 times the limit; 3%
        // per multiple is taken.
        let correction = (1.0 - 0.03 * (x / limit - 1.0)).max(0.25);
        return SecurityEstimate { bits: base * limit / x * correction, source: EstimateSource::Scaled };
    }
    let mut bits = base * limit / x;
    let mut cap = f64::INFINITY;
    for (lambda, limit) in limits {
        if x <= limit {
            bits = bits.max(lambda * limit / x);
        } else {
            // Not reached: the row above bounds what may be said.
            cap = lambda;
            break;
        }
    }
    SecurityEstimate { bits: bits.min(cap).min(256.0), source: EstimateSource::Tables }
}

/// The best of what the curves of smaller rings and weights give, and no more than any point of a
/// larger ring and weight at a smaller modulus.
fn sparse_bits(curves: &SparseCurves, n: f64, x: f64, weight: u32) -> SecurityEstimate {
    let below = curves.iter().filter(|&(&(n0, w0), _)| n0 as f64 <= n && w0 <= weight);
    let best = below
        .flat_map(|(&(n0, _), curve)| {
            // Below its first point a curve says no more for a larger ring.
            let scale = (n / n0 as f64).min((x / curve[0].0).max(1.0));
            let mut scaled = curve_bits(curve, x / scale, true);
            scaled.bits -= CHORD_ALLOWANCE + SCALE_ALLOWANCE * scale.log2();
            [curve_bits(curve, x, false), scaled]
        })
        .max_by(|a, b| a.bits.total_cmp(&b.bits))
        .expect("the dimension is covered for this weight");
    let above = curves.iter().filter(|&(&(n1, w1), _)| n1 as f64 >= n && w1 >= weight);
    let points = above.flat_map(|(_, curve)| curve.iter().filter(|&&(x1, _)| x1 <= x));
    SecurityEstimate { bits: points.fold(best.bits, |least, &(_, lambda)| least.min(lambda)), ..best }
}

/// λ from points `(x, λ)` of one dimension and weight: a lower estimate, or by `chords` alone,
/// which may be too high by the allowance.
fn curve_bits(curve: &[(f64, f64)], x: f64, chords: bool) -> SecurityEstimate {
    let of = |bits, source| SecurityEstimate { bits, source };
    match curve.iter().position(|&(x1, _)| x1 >= x) {
        Some(0) => of(curve[0].1, EstimateSource::SparsePoints),
        Some(after) => {
            let ((x0, l0), (x1, l1)) = (curve[after - 1], curve[after]);
            let share = (x / x0).ln() / (x1 / x0).ln();
            let chord = (l0.ln() + (l1 / l0).ln() * share).exp();
            // λ falls, so the point after bounds it from below too.
            of(if chords { chord } else { (chord - CHORD_ALLOWANCE).max(l1) }, EstimateSource::SparsePoints)
        }
        None => {
            let (x0, l0) = curve[curve.len() - 1];
            of(l0 * (x0 / x).powf(1.05), EstimateSource::Scaled)
        }
    }
}

#[cfg(test)]
mod tests;

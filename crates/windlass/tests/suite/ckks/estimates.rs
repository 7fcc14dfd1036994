//! How near the estimated deviations and the bounds are to the errors, and on which side: circuits
//! over many keys, the errors of all slots in the mean square and the largest of them.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use windlass::circuits::{ComplexMap, LinearPlan, PlanSpec, Polynomial, SlotSums, TotalSums, TracePlan, TraceSpec};
use windlass::needs::Products;
use windlass::schemes::ckks::{Ciphertext, Complex64, Engine, complex};
use windlass::{Approximate, Context, NeedsKeys, Result};

use crate::ckks::common::{Client, Server, sample, spec, zip};
use crate::fixture::keys;

const N: usize = 256;

/// How often each circuit runs, with separate keys.
const KEYS: u64 = 24;

/// Bits that a bound may be above the largest error that was seen, beside those that the deviation
/// is above the errors: it is 72 deviations, for a probability of 2^−128, and the largest of some
/// thousand errors is about three.
const MARGIN: f64 = 5.0;

/// What a circuit gives, and what its slots must be.
type Outcome = (Ciphertext, Vec<Complex64>);

/// Both sides, plans and inputs of one number of slots.
struct Stage {
    client: Client,
    server: Server,
    totals: Vec<TracePlan>,
    matrix: LinearPlan<windlass::circuits::ComplexSlots>,
    rows: Vec<Vec<Complex64>>,
    /// Of the unit disc.
    x: Vec<Complex64>,
    y: Vec<Complex64>,
    rng: ChaCha20Rng,
}

impl Stage {
    fn new(n: usize, slots: usize, seed: u64) -> Self {
        let context: Context<Approximate> = Context::approximate(&spec(n, 40, 7)).unwrap();
        let ckks = context.ckks();
        let chain = ckks.total_sums(slots).unwrap();
        // Fewer groups take more keys, too many for large rings.
        let least = if n > N { 5 } else { 1 };
        let groups = [1, 2, chain.factors().len()].map(|groups| groups.max(least));
        let totals = groups.map(|groups| TracePlan::new(&chain, &TraceSpec::with_groups(groups)).unwrap());
        let count = slots.min(16);
        let rows: Vec<Vec<Complex64>> = (0..count).map(|row| sample(count, 100 + row as u64)).collect();
        let map = ComplexMap::matrix(&context.vectors(count).unwrap(), |i, k| rows[i][k]).unwrap();
        let matrix = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
        let moves = [1, slots as i64 - 1, 3].map(|amount| ckks.rotation_element(amount));
        let elements = totals.iter().flat_map(TracePlan::required_keys);
        let more = keys(elements.chain(moves).chain([ckks.conjugation_element()]));
        let needs: [&dyn NeedsKeys; 3] = [&more, &Products, &matrix];
        let (client, server) = context.generate_keys_from_seed(needs, seed).unwrap();
        let (x, y) = (sample(slots, 2 * seed + 1), sample(slots, 2 * seed + 2));
        let rng = ChaCha20Rng::seed_from_u64(seed);
        Self { client, server, totals: totals.into(), matrix, rows, x, y, rng }
    }

    fn engine(&self) -> &Engine {
        self.server.engine()
    }

    fn encrypt(&mut self, values: &[Complex64]) -> Ciphertext {
        self.client.encryptor().unwrap().encrypt(values, &mut self.rng).unwrap()
    }
}

/// Slot j of the result is slot j + amount.
fn turned(x: &[Complex64], amount: usize) -> Vec<Complex64> {
    [&x[amount % x.len()..], &x[..amount % x.len()]].concat()
}

fn total(x: &[Complex64]) -> Vec<Complex64> {
    vec![x.iter().sum(); x.len()]
}

type Circuit = fn(&mut Stage) -> Result<Outcome>;

/// Sums of what is one error many times, and of what is not.
const SUMS: [(&str, f64, Circuit); 9] = [
    ("x + x", 0.25, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        Ok((s.engine().add(&ct, &ct)?, zip(&x, &x, |a, b| a + b)))
    }),
    ("x + rotated x", 0.25, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        Ok((s.engine().add(&ct, &s.engine().rotate(&ct, 1)?)?, zip(&x, &turned(&x, 1), |a, b| a + b)))
    }),
    ("x + x there and back", 0.25, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        let back = s.engine().rotate(&s.engine().rotate(&ct, 1)?, -1)?;
        Ok((s.engine().add(&ct, &back)?, zip(&x, &x, |a, b| a + b)))
    }),
    ("x + conjugate", 0.25, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        Ok((s.engine().add(&ct, &s.engine().conjugate(&ct)?)?, zip(&x, &x, |a, b| a + b.conj())))
    }),
    ("16 encryptions", 0.25, |s| {
        let x = s.x.clone();
        let mut sum = s.encrypt(&x);
        for _ in 1..16 {
            let next = s.encrypt(&x);
            sum = s.server.add(&sum, &next)?;
        }
        Ok((sum, x.iter().map(|z| z * 16.0).collect()))
    }),
    ("total, at once", 0.75, |s| totalled(s, 0)),
    ("total in two groups", 0.75, |s| totalled(s, 1)),
    ("total one by one", 0.75, |s| totalled(s, 2)),
    ("total of a total", 0.75, |s| {
        let (sum, values) = totalled(s, 2)?;
        Ok((s.totals[1].apply(s.engine(), &sum)?, total(&values)))
    }),
];

fn totalled(s: &mut Stage, plan: usize) -> Result<Outcome> {
    let x = s.x.clone();
    let ct = s.encrypt(&x);
    Ok((s.totals[plan].apply(s.engine(), &ct)?, total(&x)))
}

/// Products and maps.
const PRODUCTS: [(&str, f64, Circuit); 9] = [
    ("encryption", 0.25, |s| {
        let x = s.x.clone();
        Ok((s.encrypt(&x), x))
    }),
    ("rescaled product", 1.0, |s| {
        let (x, y) = (s.x.clone(), s.y.clone());
        let (a, b) = (s.encrypt(&x), s.encrypt(&y));
        Ok((s.engine().rescale(&s.engine().multiply(&a, &b)?)?, zip(&x, &y, |a, b| a * b)))
    }),
    ("rotated twenty times", 0.25, |s| {
        let x = s.x.clone();
        let mut ct = s.encrypt(&x);
        for _ in 0..20 {
            ct = s.engine().rotate(&ct, 3)?;
        }
        Ok((ct, turned(&x, 60)))
    }),
    ("x^8", 0.25, |s| {
        let x = s.x.iter().map(|z| z / z.norm()).collect::<Vec<_>>();
        let mut ct = s.encrypt(&x.iter().map(|z| z * (1.0 - 1e-12)).collect::<Vec<_>>());
        for _ in 0..3 {
            ct = s.engine().square(&ct)?;
        }
        Ok((ct, x.iter().map(|z| z.powi(8)).collect()))
    }),
    ("polynomial of degree 31", 8.5, |s| {
        let x: Vec<f64> = s.x.iter().map(|z| z.re).collect();
        let coefficients: Vec<f64> = (0..=31).map(|k| ((k * k + 1) as f64).sin() / (k + 1) as f64).collect();
        let p = Polynomial::chebyshev(&coefficients, -1.0, 1.0)?;
        let ct = s.encrypt(&complex(&x));
        Ok((s.engine().evaluate(&p, &ct)?, complex(&x.iter().map(|&x| p.value(x)).collect::<Vec<_>>())))
    }),
    // At its ends a Chebyshev polynomial of degree k has the derivative k², the largest there is.
    ("the same where it is steepest", 0.5, |s| {
        let coefficients: Vec<f64> = (0..=31).map(|k| 1.0 / (k + 1) as f64).collect();
        let p = Polynomial::chebyshev(&coefficients, -1.0, 1.0)?;
        let ends = vec![1.0; s.x.len()];
        let ct = s.encrypt(&complex(&ends));
        Ok((s.engine().evaluate(&p, &ct)?, complex(&vec![p.value(1.0); ends.len()])))
    }),
    ("inner product", 1.5, |s| {
        let (x, y) = (s.x.clone(), s.y.clone());
        let (a, b) = (s.encrypt(&x), s.encrypt(&y));
        Ok((s.engine().inner_product(&s.totals[1], &a, &b)?, total(&zip(&x, &y, |a, b| a * b))))
    }),
    ("x times rotated x, total", 2.0, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        let moved = s.engine().rotate(&ct, 1)?;
        let sum = s.engine().inner_product(&s.totals[2], &ct, &moved)?;
        Ok((sum, total(&zip(&x, &turned(&x, 1), |a, b| a * b))))
    }),
    ("matrix", 1.0, |s| {
        let x: Vec<Complex64> = s.x.iter().copied().take(s.rows.len()).collect();
        let ct = s.encrypt(&x);
        let image = |row: &Vec<Complex64>| row.iter().zip(&x).map(|(a, b)| a * b).sum();
        Ok((s.matrix.apply_once(s.engine(), &ct)?, s.rows.iter().map(image).collect()))
    }),
];

/// What was stated of a circuit and what was seen, over all keys.
#[derive(Default, Clone, Copy)]
struct Seen {
    squares: f64,
    count: usize,
    largest: f64,
    bound: f64,
    stated: f64,
    whole: f64,
}

impl Seen {
    /// Of one run; no error may be above the bound.
    fn of(stage: &Stage, (ct, expected): &Outcome) -> Self {
        let got = stage.client.decrypt_complex(ct).unwrap();
        assert_eq!(got.len(), expected.len());
        let errors: Vec<f64> = got.iter().zip(expected).map(|(a, b)| (a - b).norm()).collect();
        let (largest, bound) = (errors.iter().copied().fold(0.0, f64::max), ct.error_bound());
        assert!(largest <= bound, "an error of {largest:e}, and a bound of {bound:e}");
        Self {
            squares: errors.iter().map(|error| error * error).sum(),
            count: errors.len(),
            largest,
            bound,
            stated: ct.deviation(),
            whole: ct.whole_error_bound() / 72.0,
        }
    }

    fn join(&mut self, other: &Self) {
        self.squares += other.squares;
        self.count += other.count;
        self.largest = self.largest.max(other.largest);
        self.bound = self.bound.max(other.bound);
        self.stated = self.stated.max(other.stated);
        self.whole = self.whole.max(other.whole);
    }

    /// log2 of how far the stated deviation is above the root mean square of the errors; and that
    /// of the whole ring, all errors added as if they were one.
    fn bits(&self) -> [f64; 2] {
        let seen = (self.squares / self.count as f64).sqrt();
        [self.stated, self.whole].map(|deviation| (deviation / seen).log2())
    }

    /// log2 of how far the bound is above the largest error.
    fn bound_bits(&self) -> f64 {
        (self.bound / self.largest).log2()
    }
}

/// Every circuit under one key pair.
fn runs(circuits: &[(&str, f64, Circuit)], [n, slots]: [usize; 2], seed: u64) -> Vec<Seen> {
    let mut stage = Stage::new(n, slots, seed);
    let run = |(name, _, circuit): &(&str, f64, Circuit)| {
        let outcome = circuit(&mut stage).unwrap_or_else(|error| panic!("{name}: {error}"));
        Seen::of(&stage, &outcome)
    };
    circuits.iter().map(run).collect()
}

/// The runs of every circuit, one under each key pair.
fn hold_against_errors(circuits: &[(&str, f64, Circuit)], slots: usize, runs: &[Vec<Seen>]) {
    for (index, (name, most, _)) in circuits.iter().enumerate() {
        let mut seen = Seen::default();
        runs.iter().for_each(|run| seen.join(&run[index]));
        // Where all slots are one there are as many errors as keys.
        let least = if name.contains("total") || name.contains("inner") { -0.5 } else { -0.2 };
        let ([bits, whole], bound) = (seen.bits(), seen.bound_bits());
        println!(
            "{name:<28} {slots:>4} slots: {bits:>6.2} bits above the errors, the whole ring {whole:>6.2}, \
             the bound {bound:>6.2} above the largest"
        );
        assert!((least..=*most).contains(&bits), "{name}, {slots} slots: stated 2^{bits:.2} times the error");
        assert!(bound <= most + MARGIN, "{name}, {slots} slots: a bound of 2^{bound:.2} times the largest error");
    }
}

#[test]
fn deviations_are_near_the_errors_and_above_them() {
    let circuits: Vec<_> = SUMS.into_iter().chain(PRODUCTS).collect();
    for slots in [16, N / 2] {
        let runs: Vec<_> = (0..KEYS).into_par_iter().map(|seed| runs(&circuits, [N, slots], seed)).collect();
        hold_against_errors(&circuits, slots, &runs);
    }
}

/// Sums of 2^14 slots, and of few slots in a large ring. `make nightly` sets `WINDLASS_NIGHTLY`.
#[test]
fn deviations_of_large_rings_are_near_the_errors() {
    if std::env::var_os("WINDLASS_NIGHTLY").is_some() {
        for slots in [32, 1 << 14] {
            let runs: Vec<_> = (0..12).map(|seed| runs(&SUMS, [1 << 15, slots], seed)).collect();
            hold_against_errors(&SUMS, slots, &runs);
        }
    }
}

//! How near the estimated deviations are to the errors, and on which side: circuits over many keys,
//! the errors of all slots in the mean square.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::circuits::{ComplexMap, LinearPlan, PlanSpec, Polynomial, TracePlan, TraceSpec};
use windlass::needs::Products;
use windlass::schemes::ckks::{Ciphertext, Complex64, Engine, complex};
use windlass::{Approximate, Context, NeedsKeys, Result};

use crate::ckks::common::{Client, Server, sample, spec, zip};
use crate::fixture::keys;

const N: usize = 512;

/// How often each circuit runs, with keys of its own.
const KEYS: u64 = 6;

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
    fn new(slots: usize, seed: u64) -> Self {
        let context: Context<Approximate> = Context::approximate(&spec(N, 40, 7)).unwrap();
        let ckks = context.ckks();
        let chain = ckks.total_sums(slots).unwrap();
        let groups = [1, 2, chain.factors().len()];
        let totals = groups.map(|groups| TracePlan::new(&chain, &TraceSpec::with_groups(groups)).unwrap());
        let count = slots.min(16);
        let rows: Vec<Vec<Complex64>> = (0..count).map(|row| sample(count, 100 + row as u64)).collect();
        let map = ComplexMap::matrix(&context.vectors(count).unwrap(), |i, k| rows[i][k]).unwrap();
        let matrix = LinearPlan::new(&map, &PlanSpec::default()).unwrap();
        let moves = [1, -1, 3].map(|amount| ckks.rotation_element(amount));
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
    ("x + x", 1.0, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        Ok((s.engine().add(&ct, &ct)?, zip(&x, &x, |a, b| a + b)))
    }),
    ("x + rotated x", 1.0, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        Ok((s.engine().add(&ct, &s.engine().rotate(&ct, 1)?)?, zip(&x, &turned(&x, 1), |a, b| a + b)))
    }),
    ("x + x there and back", 1.0, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        let back = s.engine().rotate(&s.engine().rotate(&ct, 1)?, -1)?;
        Ok((s.engine().add(&ct, &back)?, zip(&x, &x, |a, b| a + b)))
    }),
    ("x + conjugate", 1.0, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        Ok((s.engine().add(&ct, &s.engine().conjugate(&ct)?)?, zip(&x, &x, |a, b| a + b.conj())))
    }),
    ("16 encryptions", 1.0, |s| {
        let x = s.x.clone();
        let mut sum = s.encrypt(&x);
        for _ in 1..16 {
            let next = s.encrypt(&x);
            sum = s.server.add(&sum, &next)?;
        }
        Ok((sum, x.iter().map(|z| z * 16.0).collect()))
    }),
    ("total, at once", 1.5, |s| totalled(s, 0)),
    ("total in two groups", 1.5, |s| totalled(s, 1)),
    ("total one by one", 1.5, |s| totalled(s, 2)),
    ("total of a total", 1.5, |s| {
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
const PRODUCTS: [(&str, f64, Circuit); 8] = [
    ("encryption", 1.0, |s| {
        let x = s.x.clone();
        Ok((s.encrypt(&x), x))
    }),
    ("rescaled product", 2.0, |s| {
        let (x, y) = (s.x.clone(), s.y.clone());
        let (a, b) = (s.encrypt(&x), s.encrypt(&y));
        Ok((s.engine().rescale(&s.engine().multiply(&a, &b)?)?, zip(&x, &y, |a, b| a * b)))
    }),
    ("rotated twenty times", 1.0, |s| {
        let x = s.x.clone();
        let mut ct = s.encrypt(&x);
        for _ in 0..20 {
            ct = s.engine().rotate(&ct, 3)?;
        }
        Ok((ct, turned(&x, 60)))
    }),
    ("x^8", 3.0, |s| {
        let x = s.x.iter().map(|z| z / z.norm()).collect::<Vec<_>>();
        let mut ct = s.encrypt(&x.iter().map(|z| z * (1.0 - 1e-12)).collect::<Vec<_>>());
        for _ in 0..3 {
            ct = s.engine().square(&ct)?;
        }
        Ok((ct, x.iter().map(|z| z.powi(8)).collect()))
    }),
    ("polynomial of degree 31", 9.0, |s| {
        let x: Vec<f64> = s.x.iter().map(|z| z.re).collect();
        let coefficients: Vec<f64> = (0..=31).map(|k| ((k * k + 1) as f64).sin() / (k + 1) as f64).collect();
        let p = Polynomial::chebyshev(&coefficients, -1.0, 1.0)?;
        let ct = s.encrypt(&complex(&x));
        Ok((s.engine().evaluate(&p, &ct)?, complex(&x.iter().map(|&x| p.value(x)).collect::<Vec<_>>())))
    }),
    ("inner product", 3.5, |s| {
        let (x, y) = (s.x.clone(), s.y.clone());
        let (a, b) = (s.encrypt(&x), s.encrypt(&y));
        Ok((s.engine().inner_product(&s.totals[1], &a, &b)?, total(&zip(&x, &y, |a, b| a * b))))
    }),
    ("x times rotated x, total", 3.5, |s| {
        let x = s.x.clone();
        let ct = s.encrypt(&x);
        let moved = s.engine().rotate(&ct, 1)?;
        let sum = s.engine().inner_product(&s.totals[2], &ct, &moved)?;
        Ok((sum, total(&zip(&x, &turned(&x, 1), |a, b| a * b))))
    }),
    ("matrix", 2.0, |s| {
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
    stated: f64,
    whole: f64,
}

impl Seen {
    fn take(&mut self, stage: &Stage, (ct, expected): &Outcome) {
        let got = stage.client.decrypt_complex(ct).unwrap();
        assert_eq!(got.len(), expected.len());
        self.squares += got.iter().zip(expected).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>();
        self.count += got.len();
        self.stated = self.stated.max(ct.deviation());
        self.whole = self.whole.max(ct.whole_error_bound() / 72.0);
    }

    /// log2 of how far the stated deviation is above the root mean square of the errors; and that of
    /// the whole ring, all errors added as if they were one.
    fn bits(&self) -> [f64; 2] {
        let seen = (self.squares / self.count as f64).sqrt();
        [self.stated, self.whole].map(|deviation| (deviation / seen).log2())
    }
}

#[test]
fn deviations_are_near_the_errors_and_above_them() {
    let circuits: Vec<_> = SUMS.into_iter().chain(PRODUCTS).collect();
    for slots in [16, N / 2] {
        let mut seen = vec![Seen::default(); circuits.len()];
        for seed in 0..KEYS {
            let mut stage = Stage::new(slots, seed);
            for (seen, (name, _, circuit)) in seen.iter_mut().zip(&circuits) {
                let outcome = circuit(&mut stage).unwrap_or_else(|error| panic!("{name}: {error}"));
                seen.take(&stage, &outcome);
            }
        }
        for (seen, (name, most, _)) in seen.iter().zip(&circuits) {
            // Where all slots are one there are as many errors as keys.
            let least = if name.contains("total") || name.contains("inner") { -1.0 } else { -0.25 };
            let [bits, whole] = seen.bits();
            println!("{name:<28} {slots:>4} slots: {bits:>6.2} bits above the errors, the whole ring {whole:>6.2}");
            assert!((least..=*most).contains(&bits), "{name}, {slots} slots: stated 2^{bits:.2} times the error");
        }
    }
}

//! Plain arithmetic to compare with: slots as their definition has them.
//!
//! The plaintext ring is a product of ℓ copies of E = Z_t\[x\]/F, t = p^r. Of the library only F and
//! the generators g_s of the hypercube are taken, and both are checked: F divides Φ_m, that is ζ = x
//! has ζ^m = 1 and no smaller order divides m, and the generators reach every unit modulo m once.
//! Everything else is schoolbook arithmetic with 128-bit products: slot e of α is α(ζ^h), h = 1/t(e)
//! and t(e) = Π g_s^{e_s}, the last dimension running fastest.

/// `[ℓ][d]` coefficients modulo t.
pub type Values = Vec<u64>;

/// A dimension of the hypercube.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub generator: u64,
    pub size: usize,
    /// Slot distance of neighbours.
    pub stride: usize,
}

/// The plaintext ring.
pub struct Oracle {
    m: u64,
    p: u64,
    pub t: u64,
    /// Degree of E over Z_t.
    pub d: usize,
    /// ζ^0, .., ζ^{m−1}.
    zeta: Vec<Vec<u64>>,
    lines: Vec<Line>,
    /// t(e) of every slot.
    units: Vec<u64>,
    /// (e, k) with u ≡ t(e)·p^k (mod m), by u.
    places: Vec<Option<(usize, u64)>>,
}

fn mul(a: u64, b: u64, t: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(t)) as u64
}

fn power(base: u64, exponent: u64, t: u64) -> u64 {
    (0..exponent).fold(1 % t, |product, _| mul(product, base, t))
}

impl Oracle {
    /// The ring modulo t = p^r; `factor` are the coefficients of F below the leading 1, at least d
    /// of them. `None` if these are not a factor of Φ_m and generators of the hypercube.
    pub fn new(m: u64, (p, t): (u64, u64), factor: &[u64], generators: &[u64]) -> Option<Self> {
        let d = (1..=m as usize).find(|&d| power(p % m, d as u64, m) == 1)?;
        let zeta = powers_of_zeta(m, t, factor.get(..d)?)?;
        let lines = lines(m, p, d, generators);
        let count: usize = lines.iter().map(|line| line.size).product();
        let mut units = vec![1 % m; count];
        for (slot, unit) in units.iter_mut().enumerate() {
            for line in &lines {
                let coordinate = slot / line.stride % line.size;
                *unit = mul(*unit, power(line.generator, coordinate as u64, m), m);
            }
        }
        let mut places = vec![None; m as usize];
        for (slot, &unit) in units.iter().enumerate() {
            for k in 0..d as u64 {
                let u = mul(unit, power(p % m, k, m), m) as usize;
                if places[u].replace((slot, k)).is_some() {
                    return None;
                }
            }
        }
        let all = (0..m).all(|u| (gcd(u, m) == 1) == places[u as usize].is_some());
        all.then_some(Self { m, p, t, d, zeta, lines, units, places })
    }

    /// ℓ.
    pub fn slots(&self) -> usize {
        self.units.len()
    }

    /// The dimensions, slowest first.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    fn entrywise(&self, a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) -> Values {
        a.iter().zip(b).map(|(&x, &y)| f(x, y) % self.t).collect()
    }

    pub fn add(&self, a: &[u64], b: &[u64]) -> Values {
        self.entrywise(a, b, |x, y| x + y)
    }

    pub fn sub(&self, a: &[u64], b: &[u64]) -> Values {
        self.entrywise(a, b, |x, y| x + self.t - y)
    }

    pub fn scale(&self, a: &[u64], k: i64) -> Values {
        let k = k.rem_euclid(self.t as i64) as u64;
        a.iter().map(|&x| mul(x, k, self.t)).collect()
    }

    /// The integer k in every slot.
    pub fn constant(&self, k: i64) -> Values {
        let k = k.rem_euclid(self.t as i64) as u64;
        self.of_integers(&vec![k; self.slots()])
    }

    /// One integer for each slot.
    pub fn of_integers(&self, integers: &[u64]) -> Values {
        let mut values = vec![0; self.slots() * self.d];
        integers.iter().enumerate().for_each(|(slot, &x)| values[slot * self.d] = x % self.t);
        values
    }

    /// Integers modulo p^e without their v low digits, modulo p^{e−v}: for p = 2 rounded down, for
    /// odd p to the nearest.
    pub fn without_digits(&self, a: &[u64], e: u32, v: u32) -> Values {
        let (step, modulus) = (self.p.pow(v), self.p.pow(e));
        let half = if self.p == 2 { 0 } else { step / 2 };
        a.iter().map(|&x| (x + half) % modulus / step).collect()
    }

    /// Whether every slot holds an integer.
    pub fn are_integers(&self, a: &[u64]) -> bool {
        a.iter().enumerate().all(|(i, &x)| i % self.d == 0 || x == 0)
    }

    /// x·y = Σ x_i·y_j·ζ^{i+j} in E.
    pub fn element_product(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        let mut sum = vec![0; self.d];
        for (i, &x) in x.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (j, &y) in y.iter().enumerate().filter(|(_, y)| **y != 0) {
                self.accumulate(&mut sum, mul(x, y, self.t), (i + j) as u64);
            }
        }
        sum
    }

    /// sum ← sum + c·ζ^e.
    fn accumulate(&self, sum: &mut [u64], c: u64, e: u64) {
        let power = &self.zeta[(e % self.m) as usize];
        sum.iter_mut().zip(power).for_each(|(sum, &z)| *sum = (*sum + mul(c, z, self.t)) % self.t);
    }

    pub fn mul(&self, a: &[u64], b: &[u64]) -> Values {
        a.chunks(self.d).zip(b.chunks(self.d)).flat_map(|(x, y)| self.element_product(x, y)).collect()
    }

    /// ζ ↦ ζ^scale in one slot.
    fn conjugate(&self, value: &[u64], scale: u64) -> Vec<u64> {
        let mut sum = vec![0; self.d];
        for (j, &x) in value.iter().enumerate().filter(|(_, x)| **x != 0) {
            self.accumulate(&mut sum, x, mul(j as u64, scale, self.m));
        }
        sum
    }

    /// σ^k in every slot.
    pub fn frobenius(&self, a: &[u64], k: u64) -> Values {
        let scale = power(self.p % self.m, k, self.m);
        a.chunks(self.d).flat_map(|value| self.conjugate(value, scale)).collect()
    }

    /// θ_u: slot e goes to the e' with t(e)·u ≡ t(e')·p^k, and σ^k is applied.
    pub fn automorphism(&self, a: &[u64], u: u64) -> Values {
        let mut out = vec![0; a.len()];
        for (slot, value) in a.chunks(self.d).enumerate() {
            let image = mul(self.units[slot], u % self.m, self.m);
            let (to, k) = self.places[image as usize].expect("a product of units is a unit");
            let scale = power(self.p % self.m, k, self.m);
            out[to * self.d..][..self.d].copy_from_slice(&self.conjugate(value, scale));
        }
        out
    }

    /// The slots of Σ a_i·X^{e_i}: its values at ζ^h.
    pub fn evaluate(&self, terms: &[(u64, u64)]) -> Values {
        let mut out = Vec::new();
        for &unit in &self.units {
            let h = (0..self.m).find(|&h| mul(h, unit, self.m) == 1 % self.m).expect("units have inverses");
            let mut sum = vec![0; self.d];
            terms.iter().for_each(|&(a, e)| self.accumulate(&mut sum, a % self.t, mul(e, h, self.m)));
            out.extend(sum);
        }
        out
    }

    /// Σ c_e·x^e by Horner's rule.
    pub fn polynomial(&self, x: &[u64], coefficients: &[i64]) -> Values {
        let step = |sum: Values, &c: &i64| self.add(&self.mul(&sum, x), &self.constant(c));
        coefficients.iter().rev().fold(self.constant(0), step)
    }

    /// x^e, one product after the other.
    pub fn power(&self, x: &[u64], exponent: u64) -> Values {
        (1..exponent).fold(x.to_vec(), |product, _| self.mul(&product, x))
    }

    /// The sum of all slots, in every slot.
    pub fn total(&self, a: &[u64]) -> Values {
        let sum = a.chunks(self.d).fold(vec![0; self.d], |sum, value| self.add(&sum, value));
        sum.repeat(self.slots())
    }

    /// Σ over columns of an element of E times the slot there; entries are (row, column, element).
    pub fn matrix(&self, a: &[u64], entries: &[(usize, usize, Vec<u64>)]) -> Values {
        let d = self.d;
        let mut out = vec![0; a.len()];
        for (row, column, element) in entries {
            let product = self.element_product(element, &a[column * d..][..d]);
            let sum = self.add(&out[row * d..][..d], &product);
            out[row * d..][..d].copy_from_slice(&sum);
        }
        out
    }
}

/// The greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The powers of ζ = x modulo F; `None` unless ζ^m = 1 and Φ_m(ζ) = 0, that is for every prime ℓ of
/// m the sum of ζ^{jm/ℓ} over j is 0.
fn powers_of_zeta(m: u64, t: u64, factor: &[u64]) -> Option<Vec<Vec<u64>>> {
    let d = factor.len();
    let mut power = vec![0; d];
    power[0] = 1 % t;
    let mut zeta = Vec::new();
    for _ in 0..m {
        zeta.push(power.clone());
        let lead = power[d - 1];
        power.rotate_right(1);
        power[0] = 0;
        power.iter_mut().zip(factor).for_each(|(x, &f)| *x = (*x + mul(t - lead, f, t)) % t);
    }
    let vanishes = |prime: u64| {
        let terms = (0..prime).map(|j| &zeta[(j * m / prime) as usize]);
        (0..d).all(|i| terms.clone().map(|term| u128::from(term[i])).sum::<u128>() % u128::from(t) == 0)
    };
    let primes = (2..=m).filter(|&l| m % l == 0 && (2..l).all(|q| l % q != 0));
    (power == zeta[0] && primes.into_iter().all(vanishes)).then_some(zeta)
}

/// The dimensions of these generators: each has the order that it has modulo p and the ones before.
fn lines(m: u64, p: u64, d: usize, generators: &[u64]) -> Vec<Line> {
    let mut group: Vec<u64> = (0..d as u64).map(|k| power(p % m, k, m)).collect();
    let mut lines = Vec::new();
    for &generator in generators {
        let size = (1..=m).find(|&k| group.contains(&power(generator % m, k, m))).unwrap_or(1) as usize;
        let cosets = (0..size as u64).map(|k| power(generator % m, k, m));
        group = cosets.flat_map(|x| group.iter().map(move |&y| mul(x, y, m)).collect::<Vec<_>>()).collect();
        lines.push(Line { generator, size, stride: 1 });
    }
    let mut stride = 1;
    for line in lines.iter_mut().rev() {
        line.stride = stride;
        stride *= line.size;
    }
    lines
}

//! What sums and single operations of CKKS cost in other libraries, in units of T = 0.22 ms (a transform
//! of 2^15 points by tfhe-ntt 0.7.1 on the machine where they were measured: one thread of a 2.5 GHz
//! Cascade Lake).
//!
//! The letters are those of Inoue, Suzuki and Yamana 2022: n = 2^15, scale Δ = 2^40, L = 9 rescalings of a
//! fresh ciphertext (ten primes), sums of 2^M slots with M = 7, k special primes, level l.

const T_MS: f64 = 0.22;

/// k, l, and milliseconds of the authors' code with HEXL at its best h, Lattigo's InnerSum and
/// OpenFHE's EvalSum.
const SUMS: [(u32, usize, f64, f64, f64); 9] = [
    (1, 1, 122.0, 88.0, 135.0),
    (1, 4, 413.0, 318.0, 505.0),
    (1, 9, 1290.0, 1058.0, 1701.0),
    (5, 1, 167.0, 145.0, 198.0),
    (5, 4, 286.0, 239.0, 346.0),
    (5, 9, 621.0, 504.0, 819.0),
    (10, 1, 241.0, 254.0, 276.0),
    (10, 4, 378.0, 347.0, 452.0),
    (10, 9, 618.0, 520.0, 715.0),
];

/// Operation at l = 9, and Lattigo's milliseconds at k = 1, 5, 10.
const LATTIGO: [(&str, [f64; 3]); 5] = [
    ("multiply", [151.0, 67.0, 74.0]),
    ("rotate", [138.0, 63.0, 68.0]),
    ("hoisted rotation", [53.0, 42.0, 52.0]),
    ("ct x pt", [2.5, 1.9, 2.2]),
    ("rescale", [13.0, 13.0, 13.0]),
];

/// Mean precision in bits of Lattigo 6.2 at Δ = 2^40, l = 9, secret-key encryption: the mean of
/// −log2 |error| over real parts; OpenFHE's is about 24.
pub fn precision(name: &str) -> Option<f64> {
    let known = [("fresh", 32.2), ("after a product", 28.9), ("after a rotation", 28.9)];
    known.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// Sums in T: HEXL at its best, Lattigo, OpenFHE.
pub fn sums(k: u32, l: usize) -> Option<[f64; 3]> {
    let row = SUMS.iter().find(|row| (row.0, row.1) == (k, l))?;
    Some([row.2 / T_MS, row.3 / T_MS, row.4 / T_MS])
}

/// Lattigo's operation at l = 9 in T.
pub fn operation(name: &str, k: u32) -> Option<f64> {
    let column = [1, 5, 10].iter().position(|&x| x == k)?;
    LATTIGO.iter().find(|row| row.0 == name).map(|row| row.1[column] / T_MS)
}

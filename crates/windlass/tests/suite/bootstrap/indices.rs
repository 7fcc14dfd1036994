//! Composite indices beyond Halevi–Shoup 2015: powers of two that are gone through by doublings, and
//! first factors whose quotient by p is not cyclic.

use super::*;

/// (m, p, r, primes, weight)
const INDICES: [(u64, u64, u32, usize, u32); 10] = [
    (24, 5, 1, 14, 4),
    (24, 17, 1, 14, 4),
    (40, 3, 1, 14, 4),
    (56, 3, 2, 16, 4),
    (80, 3, 1, 14, 4),
    (119, 2, 1, 14, 4),
    (143, 3, 1, 14, 4),
    (192, 17, 1, 14, 4),
    (384, 127, 1, 14, 4),
    (448, 17, 1, 14, 4),
];

#[test]
fn indices_beyond_2015_on_the_mock() {
    for ((m, p, r, primes, weight), mode) in INDICES.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let spec = BootstrapSpec { mode, ephemeral_weight: weight, ..BootstrapSpec::default() };
        let plan = plan(params(m, primes), (p, r), spec);
        let plan = plan.unwrap_or_else(|error| panic!("{mode:?} m = {m}, p = {p}: {error}"));
        on_the_mock_with(&Arc::new(plan), 0..2);
    }
}

#[test]
fn indices_beyond_2015_on_ciphertexts() {
    for (mode, set) in [(Mode::Thin, [0, 5, 7, 9]), (Mode::Packed, [1, 2, 5, 8])] {
        on_ciphertexts(&set.map(|i| INDICES[i]), mode);
    }
}

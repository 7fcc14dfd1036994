//! Digits removed by every method, each by its name.

use super::*;
use windlass::circuits::Method;

/// The method, and (m, p, r, primes, weight).
const METHODS: [(&str, (u64, u64, u32, usize, u32)); 8] = [
    ("halevi-shoup", (105, 2, 1, 16, 6)),
    ("halevi-shoup", (64, 3, 1, 20, 4)),
    ("chen-han", (105, 2, 1, 16, 6)),
    ("chen-han", (64, 3, 1, 20, 4)),
    ("least-degree", (105, 2, 1, 16, 6)),
    ("least-degree", (64, 3, 1, 20, 4)),
    ("local-null", (64, 257, 1, 14, 6)),
    ("root-products", (64, 257, 1, 14, 6)),
];

#[test]
fn every_method_on_ciphertexts() {
    for (name, (m, p, r, primes, weight)) in METHODS {
        let digits: Method = name.parse().unwrap();
        let spec = BootstrapSpec { digits, ephemeral_weight: weight, ..BootstrapSpec::default() };
        let plan = plan(params(m, primes), (p, r), spec.clone()).unwrap();
        let text = plan.digits().explain();
        assert!(text.contains(name), "{text}");
        with_parameters(params(m, primes), (p, r), spec);
    }
}

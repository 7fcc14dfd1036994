//! What kernels count. A separate process, since counters are those of the whole process.

use std::sync::Arc;

use windlass_kernels::modulus::find_primes;
use windlass_kernels::work::{self, Counts};
use windlass_kernels::{Isa, Shape};
use windlass_ring::gadget::{Gadget, Product};
use windlass_ring::rns::Epilogue;
use windlass_ring::{Basis, Eval, Poly, Ring, Values, sample};

/// Four primes in two digits, and two special primes.
#[test]
fn a_key_switch_and_a_product_with_a_constant_are_counted() {
    let shape = Arc::new(Shape::new(128).unwrap());
    let primes = find_primes(shape.root_order(), 45, 6, &[]).unwrap();
    let ring = Ring::new(shape, &primes, Isa::best()).unwrap();
    let (q, p, qp) = (Basis::new(0..4), Basis::new(4..6), Basis::new(0..6));
    let uniform = |basis: &Basis, offset: u32| sample::uniform(&ring, basis, &[1; 32], offset);
    let [b, a] = [0, 2].map(|offset| [uniform(&qp, offset), uniform(&qp, offset + 1)]);
    let x = uniform(&q, 4);
    let switch = || -> [Poly<Eval>; 2] {
        let digits = Gadget::balanced(4, 2).decomposition(&x, &p, (1, &Basis::new([])));
        Product::of_decomposition(&digits, [&b, &a]).divide(&q, 1, &Epilogue::default())
    };
    let not_counted = switch();
    assert_eq!(work::counts(), Counts::default());

    work::start_counting();
    let counted = switch();
    assert!(counted == not_counted);
    let rows = |rows: u64| rows * ring.n() as u64;
    let expected = Counts {
        // To coefficients 4 rows and 2·2 of the pair modulo P; back 2·4 of the digits and 2·4 of the pair.
        transformed: rows(4 + 4 + 8 + 8),
        // Two sources for the four other primes of each digit; two and the excess for each row of the pair.
        converted: rows(2 * 4 * 2 + 2 * 4 * 3),
        // Both halves of two digits.
        keys: rows(2 * 2 * 6),
        ..Counts::default()
    };
    assert_eq!(work::counts(), expected);

    let constant = Values::from(uniform(&q, 5));
    drop(Poly::dot_pairs(&ring, &q, &[vec![([&x, &x], Some(&constant)), ([&x, &x], None)]]));
    let product = Counts { constants: rows(4), constant_words: rows(4), ..Counts::default() };
    assert_eq!(work::counts().since(&expected), product);
    assert_eq!(expected.plus(&product), work::counts());
}

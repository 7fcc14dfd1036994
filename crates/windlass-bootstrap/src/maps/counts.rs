//! Operation counts of the maps, compared with those of Chen–Han 2018, Appendices A and B.

use std::collections::BTreeSet;

use windlass_circuits::trace::PowerSum;
use windlass_circuits::{LinearMap, LinearPlan, PlanSpec, TraceChain};
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_schemes::schemes::clear::Clear;
use windlass_schemes::{Plaintext, Result};

use super::radix2::Radix2;
use super::*;

/// 2·√x.
fn twice_root(x: usize) -> usize {
    (2.0 * (x as f64).sqrt()).floor() as usize
}

/// A map that is merged into one run, planned for as few keys as baby and giant steps allow.
fn in_one_run(map: &LinearMap, slots: usize) -> LinearPlan {
    LinearPlan::new(map, &PlanSpec { max_keys: Some(twice_root(slots)), ..PlanSpec::default() }).unwrap()
}

/// The coefficients at multiples of `step`, by definition.
fn selected(slot_ring: &SlotRing, x: &Plaintext, step: usize) -> Vec<u64> {
    let scaled = |(i, &c): (usize, &u64)| if i % step == 0 { c * step as u64 % slot_ring.modulus().value() } else { 0 };
    x.coefficients().iter().enumerate().map(scaled).collect()
}

/// Appendix A: log d automorphisms select, then k products with constants and k slots' permutations
/// (2√k of them by baby and giant steps) put the coefficients into slots.
#[test]
fn selection_and_sparse_transform_take_what_appendix_a_says() {
    for (m, p, d, k) in [(512, 257, 2, 128), (1024, 257, 4, 128), (256, 193, 4, 32)] {
        let slots = evaluation_ring(m, p, 1).unwrap();
        assert_eq!((slots.degree(), slots.slots()), (d, k));
        let selection = TraceChain::coefficient_selection(m, d as u64).unwrap();
        assert_eq!(selection.sequential_keys().len(), d.trailing_zeros() as usize);
        let coefficients = (0..slots.n() as u64).map(|i| (i * i + 5 * i + 1) % p).collect();
        let x = Plaintext::new(&slots, coefficients).unwrap();
        let clear = Clear::new(&slots);
        let image = selection.sequential(&clear, &clear.encrypt(&x).unwrap()).unwrap();
        assert_eq!(clear.counts().automorphisms, d.trailing_zeros() as usize);
        assert_eq!(image.plaintext().coefficients(), selected(&slots, &x, d));

        // For p ≡ 1 mod 4 it is the trace of the slots: the same elements, each once.
        let elements = |chain: &TraceChain| {
            let powers = |sum: Vec<u64>, factor: &PowerSum| {
                let power = |j: u64| arith::pow_mod(factor.element, j, m);
                (0..factor.count).flat_map(|j| sum.iter().map(move |t| t * power(j) % m)).collect()
            };
            let all: Vec<u64> = chain.factors().iter().fold(vec![1], powers);
            assert_eq!(all.len(), d);
            all.into_iter().collect::<BTreeSet<u64>>()
        };
        assert_eq!(elements(&selection), elements(&TraceChain::field_trace(&slots).unwrap()));

        // Both sparse transforms, each merged into one run.
        let whole = [slots.slots().trailing_zeros() as usize];
        let there = thin_to_coefficients(&slots, &Radix2, &whole).unwrap();
        let back = thin_to_slots(&slots, &Radix2, &whole).unwrap();
        for maps in [&there, &back] {
            assert_eq!(maps.len(), 1);
            let count = in_one_run(&maps[0], k).count();
            assert_eq!(count.constant_products, k, "m = {m}: {count:?}");
            assert!(count.keys <= twice_root(k), "m = {m}: {count:?}");
        }
    }
}

/// Appendix B, full mode: 2√n keys for slot permutations and 2√n + d + k constants. Splitting by
/// monomials before thin maps takes log d keys, 2√k at most for each map, and its k constants.
#[test]
fn packed_maps_take_less_than_appendix_b_says() {
    for (m, p) in [(256, 17), (512, 17), (32768, 257)] {
        let slots = evaluation_ring(m, p, 1).unwrap();
        let (n, d, k) = (slots.n(), slots.degree(), slots.slots());
        let [elements, in_slots] = splits(m, p);
        assert_eq!((1 << elements.len(), in_slots.len()), (d, 0));
        let whole = [k.trailing_zeros() as usize];
        let map = |maps: Result<Vec<LinearMap>>| in_one_run(&maps.unwrap()[0], k);
        let maps = [map(thin_to_coefficients(&slots, &Radix2, &whole)), map(thin_to_slots(&slots, &Radix2, &whole))];
        let mut keys: BTreeSet<u64> = maps.iter().flat_map(LinearPlan::required_keys).collect();
        keys.extend(elements.iter().map(|split| split.element));
        let constants: usize = maps.iter().map(|plan| plan.count().constant_products).sum();
        let published = [twice_root(n), twice_root(n) + d + k];
        let ours = [keys.len(), constants];
        assert!(ours.iter().zip(&published).all(|(a, b)| a < b), "m = {m}, p = {p}: {ours:?} for {published:?}");
        assert_eq!(constants, 2 * k);
    }
}

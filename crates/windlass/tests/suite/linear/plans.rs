//! What every plan of a linear map says: a map, a folded matrix and a trace, as one trait.

use std::collections::BTreeSet;

use windlass::NeedsKeys;
use windlass::circuits::{Folding, LinearMap, MatrixPlan, MatrixSpec, Plan, TraceChain, TracePlan, TraceSpec};

use super::common::ring;

#[test]
fn every_plan_says_its_keys_its_operations_and_its_price() {
    let slots = ring(256, 257, 1);
    let linear = LinearMap::matmul_1d(&slots, 0, |_, i, k| (i + 2 * k) as u64 % 5).unwrap().plan().unwrap();
    let rows: Vec<Vec<i64>> = (0..3).map(|i| (0..40).map(|k| i + k % 7 - 2).collect()).collect();
    let matrix = MatrixPlan::from_dense(&slots, &rows, &MatrixSpec::with_folding(Folding::Always)).unwrap();
    let trace = TracePlan::new(&TraceChain::total(&slots).unwrap(), &TraceSpec::default()).unwrap();
    let plans: [(&dyn Plan, &dyn NeedsKeys, &str); 3] = [
        (&linear, &linear, "a linear map on"),
        (&matrix, &matrix, "a matrix of 3 rows and 40 columns"),
        (&trace, &trace, "a sum over"),
    ];
    for (plan, circuit, name) in plans {
        let (request, keys) = (circuit.key_request(), plan.required_keys());
        assert!(plan.name().starts_with(name) && request.needed_by == plan.name(), "{}", plan.name());
        assert_eq!(request.galois.into_keys().collect::<BTreeSet<u64>>(), keys, "{name}");
        assert_eq!(plan.count().keys, keys.len(), "{name}");
        assert!(plan.price() > 0.0 && plan.explain().contains("keys"), "{}", plan.explain());
    }
    // In words, without names of variants.
    let first = linear.explain();
    assert!(first.lines().next().unwrap().ends_with(", double hoisting"), "{first}");
    // A folded matrix is its products and the sum of its blocks.
    let sum = matrix.sum().or(matrix.copies()).expect("it is folded");
    let parts: [&dyn Plan; 2] = [matrix.products(), sum];
    assert_eq!(matrix.price(), parts.map(Plan::price).iter().sum::<f64>());
    assert_eq!(matrix.count().hoists, parts.map(|plan| plan.count().hoists).iter().sum::<usize>());
    let keys: BTreeSet<u64> = parts.iter().flat_map(|plan| plan.required_keys()).collect();
    assert_eq!(matrix.required_keys(), keys);
}

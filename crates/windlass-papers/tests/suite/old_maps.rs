//! The old maps of Halevi–Shoup 2018, Table 5.

use std::sync::Arc;

use windlass::bootstrap::{BootstrapSpec, Mode};
use windlass::rlwe::KeyStrategy;
use windlass_papers::halevi_shoup_2018::with_old_maps;

use crate::refresh::{on_ciphertexts, on_the_mock, params, plan};

/// They cost more than the new ones with the same keys.
#[test]
fn automorphisms_one_by_one_with_default_keys() {
    let cases = [(1023, (2, 1), 8, Mode::Thin), (128, (127, 1), 6, Mode::Thin), (105, (2, 1), 6, Mode::Packed)];
    for (m, modulus, ephemeral_weight, mode) in cases {
        let spec = BootstrapSpec { mode, ephemeral_weight, ..BootstrapSpec::default() };
        let new = BootstrapSpec { keys: Some(KeyStrategy::Default), ..spec.clone() };
        let [old, new] = [with_old_maps(spec), new].map(|spec| plan(&params(m, 16), modulus, spec).unwrap());
        assert!(old.price() > new.price(), "{}\n{}", old.explain(), new.explain());
        assert!(old.explain().contains("maps one-by-one, not hoisted; default keys"), "{}", old.explain());
        on_the_mock(&Arc::new(old), 0..1);
    }
    let fewer = BootstrapSpec { keys: Some(KeyStrategy::Minimal), ..BootstrapSpec::default() };
    assert_eq!(with_old_maps(fewer).keys, Some(KeyStrategy::Minimal));
}

#[test]
fn old_maps_on_ciphertexts() {
    let spec = BootstrapSpec { ephemeral_weight: 6, ..BootstrapSpec::default() };
    on_ciphertexts(&params(105, 14), (2, 1), &with_old_maps(spec));
}

//! What one transform, one multiply-add of a conversion and one byte take on this machine now.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_kernels::{Modulus, rows};
use windlass_papers::ckks::figures::Speeds;
use windlass_ring::Ring;

use crate::process_time::Stopwatch;

/// Rounds; the least time of each counts.
const ROUNDS: usize = 5;
/// Transforms with one prime after the other, so that tables and row are as near as they can be.
const REPEATED: usize = 4;
/// A quarter of a gigabyte.
const WORDS: usize = 1 << 25;
/// Columns of a conversion whose rows are in first-level cache.
const COLUMNS: usize = 512;
/// Its sources.
const SOURCES: usize = 4;

/// Measures the primes of a ring, on the threads of the current pool.
pub fn measured(ring: &Arc<Ring>, primes: usize) -> Speeds {
    let threads = rayon::current_num_threads();
    Speeds {
        transform_seconds: transform(ring, primes, threads),
        conversion_seconds: conversion(ring, threads),
        bytes_per_second: memory(threads),
    }
}

/// The least time of some rounds, of the processor on one thread.
fn least(threads: usize, mut f: impl FnMut()) -> f64 {
    let mut round = || {
        let watch = Stopwatch::start();
        f();
        if threads == 1 { watch.processor_seconds() } else { watch.seconds() }
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn transform(ring: &Arc<Ring>, primes: usize, threads: usize) -> f64 {
    let mut lists: Vec<Vec<u64>> = vec![(0..ring.n() as u64).collect(); threads];
    let seconds = least(threads, || {
        lists.par_iter_mut().for_each(|row| {
            for plan in (0..primes).map(|index| ring.plan(index)) {
                let before = plan.modulus().reduce(row[1]);
                row.iter_mut().for_each(|x| *x = plan.modulus().reduce(*x));
                (0..REPEATED).for_each(|_| plan.forward(row));
                (0..REPEATED).for_each(|_| plan.inverse(row));
                assert_eq!(row[1], before, "transforms there and back");
            }
        });
    });
    seconds / (threads * 2 * REPEATED * primes) as f64
}

fn conversion(ring: &Arc<Ring>, threads: usize) -> f64 {
    let q: Modulus = ring.modulus(0);
    let times = 4 * ring.n() / COLUMNS;
    let seconds = least(threads, || {
        (0..threads).into_par_iter().for_each(|_| {
            let mut sources = vec![vec![1u64; COLUMNS]; SOURCES];
            sources.iter_mut().for_each(|row| rows::to_sources(ring.isa(), row));
            let terms: Vec<(&[u64], u64)> = sources.iter().map(|row| (&row[..], q.value() / 3)).collect();
            let mut out = vec![0; COLUMNS];
            (0..times).for_each(|_| rows::dot_sources(ring.isa(), q, std::hint::black_box(&mut out), &terms, 0));
            assert_eq!(out[0], q.mul(SOURCES as u64, q.value() / 3), "the conversion");
        });
    });
    let rows = threads * SOURCES * times * COLUMNS / ring.n();
    seconds / rows as f64
}

fn memory(threads: usize) -> f64 {
    let list: Vec<u64> = (0..WORDS as u64).collect();
    let mut sum = 0u64;
    let seconds = least(threads, || {
        let part = |words: &[u64]| words.iter().fold(0u64, |sum, x| sum.wrapping_add(*x));
        sum = list.par_chunks(WORDS / threads).map(part).reduce(|| 0, u64::wrapping_add);
    });
    assert_eq!(sum, (WORDS as u64 / 2) * (WORDS as u64 - 1), "every word once");
    (size_of::<u64>() * WORDS) as f64 / seconds
}

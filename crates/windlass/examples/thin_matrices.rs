//! Times products of matrices with few rows, direct and folded, in BGV and CKKS: planning,
//! converting the constants, multiplying, in processor time.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release -p windlass --example thin_matrices`

use std::time::Duration;

use cpu_time::ProcessTime;
use windlass::circuits::linear::{Plannable, Prepares};
use windlass::circuits::{CostModel, Folding, MatrixPlan, MatrixSpec, PlanSpec};
use windlass::schemes::ckks::{CkksSpec, Complex64};
use windlass::{Context, ParamSpec};

const COLUMNS: usize = 784;

fn main() -> windlass::MainResult {
    println!("| scheme | rows | way | diagonals | automorphisms | keys | plan | prepare | multiply |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for rows in [10, 64, 784] {
        integers(rows)?;
        complex(rows)?;
    }
    Ok(())
}

fn integers(rows: usize) -> windlass::Result<()> {
    let context = Context::plan(&ParamSpec { p: 65537, depth: 1, linear_maps: 1, ..ParamSpec::default() })?;
    let entry = |i: usize, k: usize| ((i * 7919 + k * 104_729 + i * k) % 65537) as u64;
    let matrix: Vec<Vec<u64>> = (0..rows).map(|i| (0..COLUMNS).map(|k| entry(i, k)).collect()).collect();
    let x: Vec<u64> = (0..COLUMNS as u64).map(|k| k * k + 3).collect();
    let dot = |row: &Vec<u64>| row.iter().zip(&x).fold(0, |sum, (a, b)| (sum + a * b) % 65537);
    let product: Vec<u64> = matrix.iter().map(dot).collect();
    for folding in [Folding::Never, Folding::Always] {
        let spec = spec(context.prices(), folding);
        let (planning, plan) = time(|| MatrixPlan::from_dense(&context, &matrix, &spec))?;
        let (client, server) = context.generate_keys([&plan])?;
        let ciphertext = client.encrypt(&x)?;
        let (times, answer) = run(&plan, server.engine(), &ciphertext)?;
        assert_eq!(client.decrypt(&answer)?[..rows], product);
        row(&format!("BGV, m = {}", context.m()), &plan, planning, times);
    }
    Ok(())
}

fn complex(rows: usize) -> windlass::Result<()> {
    let context = Context::approximate(&CkksSpec::secure(1, 40, 10, 8192)?)?;
    let slots = context.vectors(context.slots())?;
    let entry = |i: usize, k: usize| Complex64::new(((i * 79 + k * 13 + i * k) % 97) as f64 / 97.0 - 0.5, 0.0);
    let matrix: Vec<Vec<Complex64>> = (0..rows).map(|i| (0..COLUMNS).map(|k| entry(i, k)).collect()).collect();
    let x: Vec<f64> = (0..COLUMNS).map(|k| (k % 31) as f64 / 31.0).collect();
    for folding in [Folding::Never, Folding::Always] {
        let spec = spec(context.prices(), folding);
        let (planning, plan) = time(|| MatrixPlan::dense_matrix(&slots, &matrix, &spec))?;
        let (client, server) = context.generate_keys([&plan])?;
        let ciphertext = client.encrypt(&x)?;
        let (times, answer) = run(&plan, server.engine(), &ciphertext)?;
        let answer = client.decrypt(&answer)?;
        for (row, got) in matrix.iter().zip(&answer) {
            let wanted: f64 = row.iter().zip(&x).map(|(a, b)| a.re * b).sum();
            assert!((got - wanted).abs() < 1e-4, "{got} for {wanted}");
        }
        row(&format!("CKKS, n = {}", context.ckks().spec().n), &plan, planning, times);
    }
    Ok(())
}

fn spec(cost: CostModel, folding: Folding) -> MatrixSpec {
    MatrixSpec { linear: PlanSpec { cost, ..PlanSpec::default() }, folding, ..MatrixSpec::default() }
}

/// Seconds to convert the constants the second time, and the minimum of five products.
fn run<R: Plannable, E: Prepares<R>>(
    plan: &MatrixPlan<R>,
    engine: &E,
    ciphertext: &E::Ciphertext,
) -> windlass::Result<([Duration; 2], E::Ciphertext)> {
    drop(plan.prepare(engine)?);
    let (preparing, prepared) = time(|| plan.prepare(engine))?;
    let (mut least, mut answer) = time(|| plan.apply(&prepared, engine, ciphertext))?;
    for _ in 0..4 {
        let (taken, again) = time(|| plan.apply(&prepared, engine, ciphertext))?;
        (least, answer) = (least.min(taken), again);
    }
    Ok(([preparing, least], answer))
}

/// Processor time.
fn time<T>(f: impl FnOnce() -> windlass::Result<T>) -> windlass::Result<(Duration, T)> {
    let start = ProcessTime::now();
    let value = f()?;
    Ok((start.elapsed(), value))
}

fn row<R: Plannable>(scheme: &str, plan: &MatrixPlan<R>, planning: Duration, [preparing, applying]: [Duration; 2]) {
    let way = plan.sum().map_or("direct", |_| "folded");
    let count = plan.count();
    let [planning, preparing, applying] = [planning, preparing, applying].map(|taken| taken.as_secs_f64() * 1e3);
    println!(
        "| {scheme} | {} | {way} | {} | {} | {} | {planning:.0} ms | {preparing:.0} ms | {applying:.1} ms |",
        plan.rows(),
        count.constant_products,
        count.hoisted_automorphisms + count.extended_automorphisms,
        count.keys,
    );
}

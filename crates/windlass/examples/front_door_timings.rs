//! What the operations of a first program take, as JSON: the measure for other languages.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release -p windlass --example front_door_timings` prints, for each
//! ring dimension, the median seconds of one encryption, decryption, addition and matrix product.

use std::time::Instant;

use windlass::circuits::{MatrixPlan, MatrixSpec};
use windlass::{Context, MainResult, ParamSpec};

/// The median of the times of `count` runs, in seconds.
fn median<T>(count: usize, mut run: impl FnMut() -> windlass::Result<T>) -> windlass::Result<f64> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        std::hint::black_box(run()?);
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[count / 2])
}

fn main() -> MainResult {
    let matrix: Vec<Vec<i64>> = (0..10).map(|i| (0..784).map(|k| (7 * i + 3 * k) % 41 - 20).collect()).collect();
    let features: Vec<i64> = (0..784).map(|k| 5 * k % 16).collect();
    let expected: Vec<i64> = matrix.iter().map(|row| row.iter().zip(&features).map(|(w, x)| w * x).sum()).collect();
    let mut lines = Vec::new();
    for log_n in 13..=15 {
        let spec = ParamSpec { m: Some(2 << log_n), depth: 1, linear_maps: 1, ..ParamSpec::default() };
        let context = Context::plan(&spec)?;
        let plan = MatrixPlan::from_dense(&context, &matrix, &MatrixSpec::default())?;
        let (client, server) = context.generate_keys([&plan])?;
        let query = client.encrypt(&features)?;
        let answer = server.apply(&plan, &query)?;
        let modulus = context.modulus() as i64;
        let decrypted = client.decrypt(&answer)?;
        let right = expected.iter().zip(&decrypted).all(|(&y, &got)| y.rem_euclid(modulus) == got as i64);
        assert!(right, "the product is verified before it is timed");
        let full: Vec<i64> = (0..context.slots() as i64).map(|k| k % 1000).collect();
        lines.push(format!(
            "\"{}\": {{\"encrypt\": {:e}, \"decrypt\": {:e}, \"add\": {:e}, \"product\": {:e}}}",
            1 << log_n,
            median(41, || client.encrypt(&full))?,
            median(41, || client.decrypt(&query))?,
            median(201, || server.add(&query, &query))?,
            median(21, || server.apply(&plan, &query))?,
        ));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

//! `windlass-bench functions`: functions of real numbers that refresh between their steps, and trainings. Each result
//! is compared with plain values before its figures are printed.

mod args;
mod measured;
mod sign;
mod training;

use std::error::Error;

use windlass_papers::record;

use crate::machine;
pub use args::Functions;
use args::What;
use measured::Measured;

/// Measures, or prints the plan.
///
/// # Errors
/// A set that is not known; a table that cannot be read; a record that cannot be written, before anything is measured;
/// a result that is not as exact as stated; errors of plans, keys and refreshes.
pub fn run(args: &Functions) -> Result<(), Box<dyn Error>> {
    println!("{}", machine::describe());
    args.json.as_ref().map_or(Ok(()), |path| record::open(path).map(drop))?;
    machine::reset_peak();
    let row = match args.what {
        What::Sign => sign::run(args)?,
        What::Training => training::run(args)?,
    };
    let Some(row) = row else { return Ok(()) };
    let Measured { ciphertexts, refreshes, worst_bits, stated_bits, .. } = row.of;
    println!(
        "{} with {}: {:.2} s for {ciphertexts} ciphertexts, {refreshes} refreshes, {worst_bits:.1} bits worst, {stated_bits:.1} stated",
        row.of.function, row.of.preset, row.median_s
    );
    println!("{}", serde_json::to_string(&row)?);
    if let Some(path) = &args.json {
        record::append(path, std::slice::from_ref(&row))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use windlass_papers::record::Record;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Functions,
    }

    const TOY: &str = "insecure_toy_refresh_1024_slots16";

    /// The toy is measured, compared and recorded; its refreshes are counted.
    #[test]
    fn a_toy_sign_and_a_toy_training_are_recorded() {
        let directory = tempfile::tempdir().unwrap();
        let (json, table) = (directory.path().join("record"), directory.path().join("table.csv"));
        let rows: String = (0..6)
            .map(|k| format!("{k},{},{},{}\n", if k % 2 == 0 { "M" } else { "B" }, (k % 2) * 3 + k, 7 - k))
            .collect();
        std::fs::write(&table, format!("id,diagnosis,a,b\n{rows}")).unwrap();
        let line = |rest: &[&str]| {
            let fixed = ["functions", "--preset", TOY, "--json", json.to_str().unwrap()];
            Line::parse_from(fixed.iter().chain(rest)).args
        };
        run(&line(&["sign", "--together", "2"])).unwrap();
        run(&line(&["training", "--steps", "4", "--table", table.to_str().unwrap()])).unwrap();
        run(&line(&["sign", "--explain"])).unwrap();
        let all = record::read(&json, |row: &Record<Measured>| row.of.function.clone()).unwrap();
        assert_eq!(all.len(), 2);
        let (sign, training) = (&all[0].of, &all[1].of);
        assert_eq!((sign.refreshes, sign.ciphertexts, sign.slots), (1, 2, 16));
        assert!(sign.worst_bits >= sign.stated_bits && sign.stated_bits > 10.0, "{sign:?}");
        assert!(training.refreshes >= 1 && training.worst_bits > 10.0, "{training:?}");
        let missing = directory.path().join("no such table");
        let error = run(&line(&["training", "--table", missing.to_str().unwrap()])).unwrap_err();
        assert!(error.to_string().contains("no such table"), "{error}");
    }
}

//! Plots of sums and of the fused product.

use super::parameters::STEPS;
use super::reach::sum_of_peer;
use super::results::{GRID, Place, Results};
use super::sixty;
use crate::page::distinct;
use crate::plot::{Axis, BLUE, GREEN, Line, LinePlot, OCHRE, RED};

/// Special primes of the plots: in the middle of the grid.
const PRIMES: u32 = 5;

/// All plots whose figures exist, each with its name.
pub fn all(results: &Results) -> Result<Vec<(&'static str, String)>, Box<dyn std::error::Error>> {
    let plots = [("sums", sums(results)), ("sets", sets(results)), ("fma", fused(results)), ("sixty", sixty(results))];
    let drawn = plots.into_iter().filter_map(|(name, plot)| Some((name, plot?.svg())));
    drawn.map(|(name, svg)| Ok((name, svg?))).collect()
}

/// Without lines that have no points; none without any.
fn plot(title: &str, x: Axis, y: Axis, lines: Vec<Line>) -> Option<LinePlot> {
    let lines: Vec<Line> = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
    (!lines.is_empty()).then(|| LinePlot { title: title.into(), x, y, lines })
}

/// Ours and the peers' by level, with few special primes.
fn sums(results: &Results) -> Option<LinePlot> {
    let (isa, threads) = results.fastest()?;
    let levels = distinct(GRID.map(|(_, l)| l));
    let line = |name: &str, colour, seconds: &dyn Fn(usize) -> Option<f64>| Line {
        name: name.into(),
        colour,
        dashed: false,
        points: levels.iter().filter_map(|&l| Some((l as f64, 1e3 * seconds(l)?))).collect(),
    };
    let place = |l| Place { k: PRIMES, l, isa, threads };
    let lines = vec![
        line("OpenFHE", OCHRE, &|l| sum_of_peer(results, "OpenFHE", (PRIMES, l))),
        line("Lattigo", RED, &|l| sum_of_peer(results, "Lattigo", (PRIMES, l))),
        line("Windlass, step by step", GREEN, &|l| results.sum(place(l), 0)),
        line("Windlass", BLUE, &|l| Some(results.best(place(l))?.1)),
    ];
    let ticks: Vec<f64> = levels.iter().map(|&l| l as f64).collect();
    let x = Axis::linear("level of the ciphertext").ticks(&ticks);
    plot("Sums of 128 slots, k = 5, one thread of the same core", x, Axis::logarithmic("ms"), lines)
}

/// How many times as fast as portable Rust, by groups.
fn sets(results: &Results) -> Option<LinePlot> {
    let (_, threads) = results.fastest()?;
    let line = |(isa, colour)| {
        let place = Place { k: PRIMES, l: 9, isa, threads };
        let ratio = |h| {
            let portable = results.sum(Place { isa: "portable", ..place }, h)?;
            Some((h as f64, portable / results.sum(place, h)?))
        };
        let points = (1..=STEPS as usize).filter_map(ratio).collect();
        Line { name: isa.into(), colour, dashed: false, points }
    };
    let lines = [("avx2", OCHRE), ("avx512", RED), ("ifma", BLUE)].map(line).into();
    let title = "Sums of 128 slots: times as fast as portable Rust, k = 5, level 9";
    plot(title, Axis::linear("groups h"), Axis::linear("times as fast"), lines)
}

/// The ratio of times for each instruction set: the median of all sizes between two powers of two.
fn fused(results: &Results) -> Option<LinePlot> {
    let line = |(isa, colour)| {
        let ratios = results.fma_ratios(Some(isa));
        let octave = |bytes: f64| bytes.log2().floor() as i32;
        let median = |at: i32| {
            let mut of_octave: Vec<f64> =
                ratios.iter().filter(|(bytes, _)| octave(*bytes) == at).map(|(_, ratio)| *ratio).collect();
            of_octave.sort_by(f64::total_cmp);
            (2f64.powi(at) / 1024.0, of_octave[of_octave.len() / 2])
        };
        let points = distinct(ratios.iter().map(|(bytes, _)| octave(*bytes))).into_iter().map(median).collect();
        Line { name: isa.into(), colour, dashed: false, points }
    };
    let sets = [("portable", GREEN), ("avx2", OCHRE), ("avx512", RED), ("ifma", BLUE)];
    let title = "A product and a sum in two passes, over the fused form";
    let x = Axis::logarithmic("KiB of operands").ticks(&[32.0, 128.0, 512.0, 2048.0, 8192.0]);
    plot(title, x, Axis::linear("ratio of times"), sets.map(line).into())
}

/// Figure 1 of the paper: time by bytes, where n·l is a power of two.
fn sixty(results: &Results) -> Option<LinePlot> {
    let isa = sixty::fastest(results)?;
    let line = |name: &str, colour, what: &str| {
        let points = sixty::by_size(results, isa, what).into_iter();
        let points = points.map(|(residues, ns)| (sixty::kibibytes(residues), ns * residues as f64 / 1e3));
        Line { name: name.into(), colour, dashed: false, points: points.collect() }
    };
    let lines = vec![
        line("two passes, 60 bits", OCHRE, "separate"),
        line("Algorithm 4.1, 60 bits", RED, "fused"),
        line("Windlass, 50 bits", BLUE, "ours"),
    ];
    let x = Axis::logarithmic("KiB of operands with 60 bits").ticks(&[32.0, 128.0, 512.0, 2048.0, 8192.0]);
    plot(&format!("a·b + c at the same log Q, {isa}"), x, Axis::logarithmic("µs"), lines)
}

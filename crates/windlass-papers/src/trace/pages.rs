//! The page of tables.

use std::fmt::Write as _;

use super::parameters::{STEPS, TOP, key_bytes, spec};
use super::results::{GRID, Place, Results, grid};
use super::{application_page as application, long_page as long, peers, published, reach, sixty_page as sixty};
use crate::page::{Table, first_seen};
use crate::peer_record;

/// The page; its plots lie in `folder`, those of other processors in folders in it.
pub fn text(results: &Results, folder: &str) -> String {
    let processors = results.by_processor();
    let Some((first, others)) = processors.split_first() else { return introduction(results, &[]) };
    let mut out = introduction(first, others);
    tables(&mut out, first, folder);
    let _ = write!(out, "\n## Reach\n\n{}", reach::goals(first).table());
    for other in others {
        let _ = write!(out, "\n# On {}\n\nThe same parameters and checks.\n", other.cpu());
        tables(&mut out, other, &format!("{folder}/{}", other.slug()));
    }
    out
}

/// What was measured on one processor.
fn tables(out: &mut String, results: &Results, folder: &str) {
    if let Some((isa, threads)) = results.fastest() {
        sums(out, results, isa, threads, folder);
        long::sums(out, results, isa, threads);
        sets(out, results, threads, folder);
        several_threads(out, results, isa);
    }
    operations(out, results);
    precision(out, results);
    application::section(out, results);
    if !results.fma_ratios(None).is_empty() {
        let _ = write!(
            out,
            "\n## Fused multiply-add\n\n\
             Time of a product and a sum in two passes over that of `rows::mul_add_assign`, by bytes of the\n\
             three operands (log n = 10..15, l = 1..15, 50-bit primes; medians from one power of two to the\n\
             next), as Figure 1 of the paper; above 1 the fused form is faster.\n\n\
             ![Fused multiply-add]({folder}/fma.svg)\n"
        );
    }
    sixty::section(out, results, folder);
}

fn introduction(results: &Results, others: &[Results]) -> String {
    let cpu = results.cpu();
    let names: Vec<&str> = others.iter().map(Results::cpu).collect();
    let others = match names[..] {
        [] => String::new(),
        _ => format!(
            "\nSums on another processor, a sum inside an application, and the paper's primes of 60 bits:\n\
             at the end, on {}.\n",
            names.join(" and ")
        ),
    };
    let sets = [1, 5, 10].map(|k| {
        let (bits, count) = (spec(k).special_prime_bits.iter().sum::<u32>(), spec(k).special_prime_bits.len());
        format!(
            "- k = {k}: log P = {bits} in {count} primes, {} digits; a key of level 9 takes {:.1} MB",
            spec(k).digits,
            key_bytes(&spec(k), TOP) / 1e6
        )
    });
    format!(
        "# Trace-type functions, measured\n\n\
         Sums of slots, and how long they take. To compute one, read the [guide](../how-to/trace.md).\n\n\
         Made by `cargo run --release -p windlass-bench --features peers -- trace --record FILE --page\n\
         docs/records/trace.md`; with `--render-only` the page is drawn again from a record\n\
         (`crates/windlass-bench/record`). Nothing here is written by hand. One thread is measured by\n\
         processor time, and every figure in T (one transform of 2^15 points by tfhe-ntt 0.7.1) by the T of\n\
         its own run. {cpu}.\n\n\
         Sums of 2^7 slots of a CKKS ciphertext, n = 2^15, scale 2^40, log Q = 50 + 9·40, as in Inoue, Suzuki\n\
         and Yamana 2022: M = 7 factors (1 + θ) unrolled into h groups, each hoisted once, accumulated in base\n\
         QP, with one mod-down. Every result was decrypted and checked before it was timed. P has k primes of\n\
         60 bits in the paper and for the peers. Here it has k of 50 bits, or for k = 1 two of 30: in\n\
         precision the same, since P need only exceed the largest digit by the logarithm of its noise:\n\n{}\n{others}",
        sets.join("\n")
    )
}

fn ratio(ratio: Option<f64>, decimals: usize) -> String {
    ratio.map_or_else(|| "n/a".into(), |x| format!("{x:.decimals$}"))
}

/// One column for each special prime and level.
fn sums(out: &mut String, results: &Results, isa: &str, threads: usize, folder: &str) {
    let groups: Vec<usize> = std::iter::once(0).chain((1..=STEPS as usize).rev()).collect();
    let columns = groups.iter().map(|&h| if h == 0 { "sequential".into() } else { format!("h={h}") });
    // T of AVX2 is no measure for what others did with AVX-512.
    let with_peers = !["portable", "avx2"].contains(&isa);
    let all = ["best, T", "HEXL, T", "Lattigo, T", "OpenFHE, T", "Lattigo, core", "OpenFHE, core"];
    let peers_columns = if with_peers { &all[..] } else { &[] };
    let heading = std::iter::once("k, l".to_owned()).chain(columns);
    let mut table = Table::new(heading.chain(peers_columns.iter().map(|&name| name.into())));
    for (k, l) in GRID {
        let place = Place { k, l, isa, threads };
        let Some((_, best)) = results.best(place) else { continue };
        let mut cells = vec![format!("{k}, {l}")];
        cells.extend(groups.iter().map(|&h| ratio(results.sum(place, h).map(|x| x * 1e3), 1)));
        if with_peers {
            let own = results.best_in_yardsticks(place);
            cells.push(ratio(own, 0));
            let theirs = peers::sums(k, l);
            cells.extend((0..3).map(|peer| ratio(theirs.zip(own).map(|(theirs, own)| theirs[peer] / own), 1)));
            let here = |peer| reach::sum_of_peer(results, peer, (k, l)).map(|seconds| seconds / best);
            cells.extend(["Lattigo", "OpenFHE"].map(|peer| ratio(here(peer), 1)));
        }
        table.row(cells);
    }
    let explained = if with_peers {
        "The last columns: the best in units of T, and how many times as fast it is as the authors' HEXL build\n\
         at its best h, Lattigo's InnerSum and OpenFHE's EvalSum, each in its own T (theirs on a Cascade\n\
         Lake), and as those two measured on the same kind of core. "
    } else {
        ""
    };
    let _ = write!(
        out,
        "\n## Sums by h ({isa}, {threads} thread; ms)\n\n\
         ![Sums of 128 slots]({folder}/sums.svg)\n\n\
         {explained}n/a: more keys than the memory given to the run, or not measured.\n\n{table}"
    );
}

/// How many times as fast a set is as portable Rust, one row for each h.
fn over_portable(results: &Results, isa: &str, threads: usize) -> Table {
    let mut table = Table::new(std::iter::once(format!("{isa}, h \\ k/l")).chain(grid()));
    let measured = |h: usize, (k, l)| {
        let place = Place { k, l, isa, threads };
        let portable = results.sum(Place { isa: "portable", ..place }, h)?;
        Some(portable / results.sum(place, h)?)
    };
    for h in 1..=STEPS as usize {
        let cells: Vec<Option<f64>> = GRID.into_iter().map(|at| measured(h, at)).collect();
        if cells.iter().any(Option::is_some) {
            table.row(std::iter::once(h.to_string()).chain(cells.into_iter().map(|x| ratio(x, 2))));
        }
    }
    table
}

fn tables_over_portable(out: &mut String, results: &Results, threads: usize) {
    for isa in results.isas().into_iter().filter(|&isa| isa != "portable") {
        let table = over_portable(results, isa, threads);
        if !table.is_empty() {
            let _ = write!(out, "\n{table}");
        }
    }
}

fn sets(out: &mut String, results: &Results, threads: usize, folder: &str) {
    if results.isas().len() < 2 {
        return;
    }
    let _ = write!(
        out,
        "\n## Instruction sets against portable Rust, {threads} thread\n\n\
         Table 2 of the paper: time of the scalar code over that of the vectorised. Theirs is PALISADE without\n\
         and with HEXL on an Intel Xeon Gold 6334, of primes of 60 bits; our scalar code is portable Rust.\n\n\
         ![Instruction sets]({folder}/sets.svg)\n\n{}",
        published::one_thread()
    );
    tables_over_portable(out, results, threads);
}

/// What Table 3 has, where portable code was measured on several threads too, and what threads gain.
fn several_threads(out: &mut String, results: &Results, isa: &str) {
    let threads = results.threads();
    let [first, .., last] = threads[..] else { return };
    let cores = results.of_part("sum").filter(|r| r.threads == last).find_map(|r| r.of.cores);
    let cores = cores.map_or(String::new(), |cores| format!(" on {cores} cores"));
    let _ = write!(out, "\n## {last} threads\n");
    let mut ours = String::new();
    tables_over_portable(&mut ours, results, last);
    if !ours.is_empty() {
        let _ = write!(
            out,
            "\nTable 3 of the paper: as Table 2, with {last} threads{cores} by the clock, there 8.\n\n{}{ours}",
            published::eight_threads()
        );
    }
    let mut table = Table::new(std::iter::once("threads".to_owned()).chain(grid()));
    for &count in &threads {
        let cells = GRID.map(|(k, l)| {
            let place = Place { k, l, isa, threads: first };
            let pair = results.best(place).zip(results.best(Place { threads: count, ..place }));
            ratio(pair.map(|(one, several)| one.1 / several.1), 2)
        });
        table.row(std::iter::once(count.to_string()).chain(cells));
    }
    let _ = write!(
        out,
        "\nSpeed-up by threads at the best h, {isa}{cores}, by the clock; why some gain nothing:\n\
         [limits](../reference/limits.md#ckks-and-sums).\n\n{table}"
    );
}

fn operations(out: &mut String, results: &Results) {
    let all = || results.of_part("operation").filter(|r| r.threads == 1);
    let Some(first) = all().next() else { return };
    let mut table = Table::new(["operation", "k = 1", "k = 5", "k = 10"]);
    for name in first_seen(all().map(|r| &*r.of.what)) {
        let cells = [1, 5, 10].map(|k| {
            let Some(r) = all().find(|r| r.of.what == name && r.of.k == k) else { return "n/a".into() };
            let versus = peers::operation(name, k).zip(r.yardsticks).map(|(peer, t)| peer / t);
            let parameters = format!("CKKS k={k} l={}", r.of.l);
            let beside = peer_record::seconds_on(&r.cpu, "Lattigo", name, &parameters).map(|s| s / r.median_s);
            let ratios: Vec<String> = [versus, beside].into_iter().flatten().map(|x| format!("{x:.1}")).collect();
            let ratios = if ratios.is_empty() { String::new() } else { format!(" ({})", ratios.join("; ")) };
            format!("{:.2}{ratios}", r.median_s * 1e3)
        });
        table.row(std::iter::once(name.to_owned()).chain(cells));
    }
    let _ = write!(
        out,
        "\n## Operations at l = 9, 1 thread ({})\n\n\
         Milliseconds; times as fast as Lattigo 6.2 at the same log Q and digits: in T of two machines\n\
         (theirs a Cascade Lake), and on the same kind of core.\n\n{table}",
        first.of.isa
    );
}

fn precision(out: &mut String, results: &Results) {
    let mut table = Table::new(["", "mean (worst)", "best peer"]);
    for r in results.of_part("precision") {
        let name = format!("{}, k = {}", r.of.what, r.of.k);
        table.row([name, format!("{:.1} ({:.1})", r.median_s, r.min_s), ratio(peers::precision(&r.of.what), 1)]);
    }
    if !table.is_empty() {
        let _ = write!(
            out,
            "\n## Precision at l = 9\n\n\
             −log2 of the errors of the real parts, in the mean (and at worst), Δ = 2^40, entries uniform in\n\
             (−1/2, 1/2), encrypted with the secret key; the best peer (Lattigo) beside it.\n\n{table}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::{plots, results};
    use super::*;
    use crate::record;

    #[test]
    fn the_page_shows_the_record() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-bench/record/amd-epyc-zen5/trace-2026-11-25.jsonl");
        let other =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-bench/record/amd-epyc-zen3/trace-2026-11-23.jsonl");
        let records = [path, other].into_iter().flat_map(|path| record::read(path.as_ref(), results::key).unwrap());
        let results = Results { records: records.collect(), yardstick: None };
        assert_eq!(include_str!("../../../../docs/records/trace.md"), text(&results, "trace"));
        let names: Vec<&str> =
            plots::all(&results.by_processor()[0]).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["sums", "sets", "fma", "sixty"]);
    }
}

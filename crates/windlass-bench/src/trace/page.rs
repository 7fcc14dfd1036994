//! The page of tables and plots.

use std::fmt::Write as _;
use std::path::Path;

use super::plot::{Plot, Series};
use super::setup::{STEPS, TOP, key_bytes, spec};
use super::{Record, peers};
use crate::{machine, same_core};

const GRID: [(u32, usize); 9] = [(1, 1), (1, 4), (1, 9), (5, 1), (5, 4), (5, 9), (10, 1), (10, 4), (10, 9)];

/// Results in words.
pub struct Page<'a> {
    pub records: &'a [Record],
    /// T in seconds.
    pub yardstick: Option<f64>,
}

/// Where a figure of a sum was taken.
#[derive(Clone, Copy)]
struct Place<'a> {
    k: u32,
    l: usize,
    isa: &'a str,
    threads: usize,
}

impl Page<'_> {
    /// T of the run that a sum comes from.
    fn yardstick_at(&self, place: Place<'_>) -> Option<f64> {
        let here =
            |r: &&Record| (r.part, r.k, r.l, r.isa, r.threads) == ("sum", place.k, place.l, place.isa, place.threads);
        self.records.iter().find(here).and_then(|r| r.yardstick).or(self.yardstick)
    }

    fn sum(&self, place: Place<'_>, h: usize) -> Option<f64> {
        let wanted = h.to_string();
        self.records
            .iter()
            .find(|r| {
                (r.part, r.k, r.l, r.isa, r.threads) == ("sum", place.k, place.l, place.isa, place.threads)
                    && r.what == wanted
            })
            .map(|r| r.median)
    }

    /// The best h and its seconds.
    fn best(&self, place: Place<'_>) -> Option<(usize, f64)> {
        let all = (1..=STEPS as usize).filter_map(|h| Some((h, self.sum(place, h)?)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Names of the instruction sets measured, slowest first.
    fn isas(&self) -> Vec<&'static str> {
        let measured = |name: &&str| self.records.iter().any(|r| r.part != "operation" && r.isa == *name);
        ["portable", "avx2", "avx512", "ifma"].into_iter().filter(measured).collect()
    }

    fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = self.records.iter().filter(|r| r.part == "sum").map(|r| r.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// What was to be reached, line by line.
    pub fn reach(&self) -> String {
        let mut out = String::from("\nreach\n");
        let mut line = |name: String, measured: f64, wanted: f64| {
            let verdict = if measured >= wanted { "met" } else { "not met" };
            let _ = writeln!(out, "{name:<70} {measured:>8.2} >= {wanted:>5.2}  {verdict}");
        };
        let (Some(isa), Some(&threads)) = (self.isas().last().copied(), self.threads().first()) else {
            return out;
        };
        for (k, l) in GRID {
            let place = Place { k, l, isa, threads };
            let (Some((h, seconds)), Some(ours)) = (self.best(place), self.best(Place { isa: "avx512", ..place }))
            else {
                continue;
            };
            if let (Some(t), Some([hexl, lattigo, openfhe])) = (self.yardstick_at(place), peers::sums(k, l)) {
                let own = seconds / t;
                line(format!("sum k={k} l={l}, best h={h}: times as fast as HEXL's best, in T"), hexl / own, 8.0);
                line(format!("sum k={k} l={l}: Lattigo, in T"), lattigo / own, 5.0);
                line(format!("sum k={k} l={l}: OpenFHE, in T"), openfhe / own, 5.0);
            }
            for peer in ["Lattigo", "OpenFHE"] {
                if let Some(theirs) = same_core::seconds(peer, "sum of 128", &format!("k={k} l={l}")) {
                    line(format!("sum k={k} l={l}: {peer}, on this core"), theirs / seconds, 5.0);
                }
            }
            if let Some(portable) = self.sum(Place { isa: "portable", ..place }, ours.0) {
                line(format!("sum k={k} l={l}: AVX-512 over portable at h={}", ours.0), portable / ours.1, 2.0);
            }
        }
        for r in self.records.iter().filter(|r| r.part == "operation" && r.threads == 1) {
            if let (Some(t), Some(peer)) = (r.yardstick.or(self.yardstick), peers::operation(&r.what, r.k)) {
                line(format!("{} k={}: times as fast as Lattigo, in T", r.what, r.k), peer / (r.median / t), 5.0);
            }
            if let Some(peer) = same_core::seconds("Lattigo", &r.what, &format!("CKKS k={} l={}", r.k, r.l)) {
                line(format!("{} k={}: times as fast as Lattigo, on this core", r.what, r.k), peer / r.median, 5.0);
            }
        }
        for r in self.records.iter().filter(|r| r.part == "precision") {
            if let Some(bits) = peers::precision(&r.what) {
                line(format!("{} k={}: bits of precision, mean over the slots", r.what, r.k), r.median, bits - 1.0);
            }
        }
        let worst = self.fma_ratios(None).into_iter().map(|(_, ratio)| ratio).fold(f64::INFINITY, f64::min);
        if worst.is_finite() {
            line("fused multiply-add over multiply-then-add, least of all sizes and sets".into(), worst, 1.0);
        }
        out
    }

    /// (bytes, separate/fused) for one instruction set or all.
    fn fma_ratios(&self, isa: Option<&str>) -> Vec<(f64, f64)> {
        let all = self.records.iter().filter(|r| r.part == "fma" && isa.is_none_or(|isa| r.isa == isa));
        let mut ratios: Vec<(f64, f64)> = all
            .clone()
            .filter(|r| r.what == "fused")
            .filter_map(|fused| {
                let same = |r: &&Record| (r.k, r.l, r.isa) == (fused.k, fused.l, fused.isa) && r.what == "separate";
                let separate = all.clone().find(same)?;
                Some((8.0 * ((3 * fused.l) << fused.k) as f64, separate.min / fused.min))
            })
            .collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        ratios
    }

    /// Writes the page, and its plots into a directory of the page's name beside it.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let directory = path.with_extension("");
        std::fs::create_dir_all(&directory)?;
        let folder = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut text = self.introduction();
        for part in [
            self.table_of_sums(),
            self.table_of_sets(),
            self.table_of_threads(),
            self.table_of_operations(),
            self.precision(),
        ] {
            text += &part;
        }
        text += "\n## Fused multiply-add\n\nTime of a product and a sum in two passes over that of `rows_fma::mul_add_assign`, by bytes \
                 of the three operands (log n = 10..15, l = 1..15, 50-bit primes), as Figure 1 of the paper; above 1 the fused form is faster.\n\n";
        for (name, plot) in self.plots() {
            std::fs::write(directory.join(format!("{name}.svg")), plot.svg())?;
            let _ = writeln!(text, "![{}]({folder}/{name}.svg)\n", plot.title);
        }
        text += "\n## Reach\n\n```\n";
        text += self.reach().trim_start();
        text += "```\n";
        std::fs::write(path, text)
    }

    fn introduction(&self) -> String {
        let t = self.yardstick.map_or_else(String::new, |t| {
            format!(" T, one transform of 2^15 points by tfhe-ntt 0.7.1 in the same run: {:.1} us.", t * 1e6)
        });
        let sets: Vec<String> = [1, 5, 10]
            .map(|k| {
                let spec = spec(k);
                let bits: u32 = spec.special_prime_bits.iter().sum();
                format!(
                    "- k = {k}: log P = {bits} in {} primes, {} digits; a key of level 9 takes {:.1} MB",
                    spec.special_prime_bits.len(),
                    spec.digits,
                    key_bytes(k, TOP) / 1e6
                )
            })
            .to_vec();
        format!(
            "# Trace-type functions, measured\n\nMade by `cargo run --release -p windlass-bench --features peers -- trace --csv FILE --page docs/trace.md`; with \
             `--from FILE` the page is drawn again from a record (`crates/windlass-bench/record`). Nothing here is written by hand. One thread is \
             measured by processor time, and every figure in T by the T of its own run. {}.{t}\n\nSums of 2^7 slots of a CKKS ciphertext, n = 2^15, scale 2^40, log Q = 50 + 9*40, as in \
             Inoue, Suzuki and Yamana 2022: M = 7 factors (1 + θ) unrolled into h groups, each hoisted once, accumulated in base QP, with \
             one mod-down. Every result was decrypted and checked before it was timed. P has k primes of 60 bits in the paper and for the peers. Here it has k of 50 bits, \
             or for k = 1 two of 30: in precision the same, since P need only exceed the largest digit by the logarithm of its noise:\n\n{}\n",
            machine::describe(),
            sets.join("\n")
        )
    }

    fn table_of_sums(&self) -> String {
        let (Some(isa), Some(&threads)) = (self.isas().last().copied(), self.threads().first()) else {
            return String::new();
        };
        let mut out = format!(
            "\n## Sums by h ({isa}, {threads} thread; ms)\n\nThe last columns: the best in units of T, and how many times as fast it is as the \
             authors' HEXL build at its best h, Lattigo's InnerSum and OpenFHE's EvalSum, each in its own T, and as those two measured on the \
             same kind of core. n/a: more keys than the memory given to the run, or not measured.\n\n| k, l | sequential | h=7 | h=6 | h=5 | h=4 \
             | h=3 | h=2 | h=1 | best, T | HEXL, T | Lattigo, T | OpenFHE, T | Lattigo, core | OpenFHE, core |\n|{}\n",
            "---|".repeat(15)
        );
        for (k, l) in GRID {
            let place = Place { k, l, isa, threads };
            let Some((_, best)) = self.best(place) else { continue };
            let cell = |h: usize| self.sum(place, h).map_or("n/a".into(), |x| format!("{:.1}", x * 1e3));
            let cells: Vec<String> = std::iter::once(0).chain((1..=7).rev()).map(cell).collect();
            let mut last = vec!["n/a".to_owned(); 6];
            if let (Some(t), Some(peers)) = (self.yardstick_at(place), peers::sums(k, l)) {
                last[0] = format!("{:.0}", best / t);
                for (cell, peer) in last[1..4].iter_mut().zip(peers) {
                    *cell = format!("{:.1}", peer / (best / t));
                }
            }
            for (cell, peer) in last[4..].iter_mut().zip(["Lattigo", "OpenFHE"]) {
                if let Some(theirs) = same_core::seconds(peer, "sum of 128", &format!("k={k} l={l}")) {
                    *cell = format!("{:.1}", theirs / best);
                }
            }
            let _ = writeln!(out, "| {k}, {l} | {} | {} |", cells.join(" | "), last.join(" | "));
        }
        out
    }

    /// How many times as fast a set is as portable Rust, one row for each h.
    fn ratios(&self, isa: &str, threads: usize) -> String {
        if !self.records.iter().any(|r| r.part == "sum" && r.isa == isa && r.threads == threads) {
            return String::new();
        }
        let header: Vec<String> = GRID.iter().map(|(k, l)| format!("{k}/{l}")).collect();
        let mut out = format!("\n| {isa}, h \\ k/l | {} |\n|{}\n", header.join(" | "), "---|".repeat(10));
        for h in 1..=STEPS as usize {
            let cells: Vec<String> = GRID
                .iter()
                .map(|&(k, l)| {
                    let place = Place { k, l, isa, threads };
                    let portable = self.sum(Place { isa: "portable", ..place }, h);
                    let ratio = self.sum(place, h).zip(portable).map(|(own, portable)| portable / own);
                    ratio.map_or("n/a".into(), |r| format!("{r:.2}"))
                })
                .collect();
            let _ = writeln!(out, "| {h} | {} |", cells.join(" | "));
        }
        out
    }

    fn table_of_sets(&self) -> String {
        let Some(&threads) = self.threads().first() else { return String::new() };
        let mut out = format!(
            "\n## Instruction sets against portable Rust, {threads} thread\n\nTable 2 of the paper: time of the scalar code over that of the \
             vectorised (there 1.05 to 2.30).\n"
        );
        for isa in self.isas().into_iter().filter(|&isa| isa != "portable") {
            out += &self.ratios(isa, threads);
        }
        out
    }

    fn table_of_threads(&self) -> String {
        let threads = self.threads();
        let (Some(isa), [first, .., last]) = (self.isas().last().copied(), &threads[..]) else { return String::new() };
        let mut out = format!(
            "\n## {last} threads\n\nTable 3 of the paper: as above with {last} threads (there 8).\n{}\nSpeed-up by threads at the best h, {isa}:\n\n| threads | {} |\n|{}\n",
            self.isas()
                .into_iter()
                .filter(|&isa| isa != "portable")
                .map(|isa| self.ratios(isa, *last))
                .collect::<String>(),
            GRID.map(|(k, l)| format!("{k}/{l}")).join(" | "),
            "---|".repeat(10)
        );
        for &count in &threads {
            let cells = GRID.map(|(k, l)| {
                let place = Place { k, l, isa, threads: *first };
                let ratio = self.best(place).zip(self.best(Place { threads: count, ..place })).map(|(a, b)| a.1 / b.1);
                ratio.map_or("n/a".into(), |r| format!("{r:.2}"))
            });
            let _ = writeln!(out, "| {count} | {} |", cells.join(" | "));
        }
        out
    }

    fn table_of_operations(&self) -> String {
        let all: Vec<&Record> = self.records.iter().filter(|r| r.part == "operation" && r.threads == 1).collect();
        if all.is_empty() {
            return String::new();
        }
        let mut out = format!(
            "\n## Operations at l = 9, 1 thread ({})\n\nMilliseconds; times as fast as Lattigo 6.2 at the same log Q and digits: in T, and on the same kind of core.\n\n\
             | operation | k = 1 | k = 5 | k = 10 |\n|---|---|---|---|\n",
            all[0].isa
        );
        let mut names: Vec<&str> = Vec::new();
        for r in &all {
            if !names.contains(&&r.what[..]) {
                names.push(&r.what);
            }
        }
        for name in names {
            let cells = [1, 5, 10].map(|k| {
                let Some(r) = all.iter().find(|r| r.what == name && r.k == k) else { return "n/a".into() };
                let versus = peers::operation(name, k)
                    .zip(r.yardstick.or(self.yardstick))
                    .map(|(peer, t)| peer / (r.median / t));
                let beside =
                    same_core::seconds("Lattigo", name, &format!("CKKS k={k} l={}", r.l)).map(|s| s / r.median);
                let ratios: Vec<String> = [versus, beside].into_iter().flatten().map(|x| format!("{x:.1}")).collect();
                let ratios = if ratios.is_empty() { String::new() } else { format!(" ({})", ratios.join("; ")) };
                format!("{:.2}{ratios}", r.median * 1e3)
            });
            let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
        }
        out
    }

    fn precision(&self) -> String {
        let mut out = String::from(
            "\n## Precision at l = 9\n\n−log2 of the errors of the real parts, in the mean (and at worst), Δ = 2^40, entries uniform in (−1/2, 1/2), encrypted \
             with the secret key; the best peer (Lattigo) beside it.\n\n| | mean (worst) | best peer |\n|---|---|---|\n",
        );
        let mut any = false;
        for r in self.records.iter().filter(|r| r.part == "precision") {
            any = true;
            let peer = peers::precision(&r.what).map_or("n/a".into(), |bits| format!("{bits:.1}"));
            let _ = writeln!(out, "| {}, k = {} | {:.1} ({:.1}) | {peer} |", r.what, r.k, r.median, r.min);
        }
        if any { out } else { String::new() }
    }

    fn plots(&self) -> Vec<(&'static str, Plot)> {
        let mut plots = Vec::new();
        if !self.fma_ratios(None).is_empty() {
            let series =
                self.isas().into_iter().map(|isa| Series { name: isa.into(), points: self.fma_ratios(Some(isa)) });
            plots.push((
                "fma",
                Plot {
                    title: "multiply-then-add over fused multiply-add".into(),
                    x: "bytes of operands",
                    y: "ratio of times",
                    log_x: true,
                    log_y: false,
                    series: series.collect(),
                },
            ));
        }
        let (Some(best), Some(&threads)) = (self.isas().last().copied(), self.threads().first()) else { return plots };
        let by_h = |value: &dyn Fn(Place<'_>, usize) -> Option<f64>| -> Vec<Series> {
            GRID.iter()
                .map(|&(k, l)| Series {
                    name: format!("k={k}, l={l}"),
                    points: (1..=STEPS as usize)
                        .filter_map(|h| Some((h as f64, value(Place { k, l, isa: best, threads }, h)?)))
                        .collect(),
                })
                .filter(|series| !series.points.is_empty())
                .collect()
        };
        let times = by_h(&|place, h| self.sum(place, h).map(|x| x * 1e3));
        let axis = |title: String, y, log_y, series| Plot { title, x: "groups h", y, log_x: false, log_y, series };
        plots.push(("sums", axis(format!("sums of 2^7 slots, {best}, {threads} thread"), "ms", true, times)));
        let set = if self.isas().contains(&"avx512") { "avx512" } else { best };
        let ratio = by_h(&|place, h| {
            let own = self.sum(Place { isa: set, ..place }, h)?;
            Some(self.sum(Place { isa: "portable", ..place }, h)? / own)
        });
        plots.push(("sets", axis(format!("portable over {set}, {threads} thread"), "ratio of times", false, ratio)));
        plots
    }
}

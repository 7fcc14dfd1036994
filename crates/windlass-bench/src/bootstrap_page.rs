//! A page of tables and a stacked plot from a record of bootstrappings.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::bootstrap_figures::{Figures, named, read};
use crate::same_core;

/// What a paper or its authors' code took for the same parameters, on another machine unless `same_core` is named.
struct Peer {
    preset: &'static str,
    mode: &'static str,
    what: &'static str,
    seconds: f64,
    /// Capacity left, where it is stated in bits.
    left: Option<f64>,
    gigabytes: Option<f64>,
    /// The name under which a record of peers has a time on this kind of core.
    same_core: Option<&'static str>,
}

const fn published(
    preset: &'static str,
    mode: &'static str,
    what: &'static str,
    seconds: f64,
    gigabytes: Option<f64>,
) -> Peer {
    Peer { preset, mode, what, seconds, left: None, gigabytes, same_core: None }
}

const HS15: &str = "Halevi–Shoup 2015, packed (their only mode)";
const CH18: &str = "Chen–Han 2018";
const MA24: &str = "Ma et al. 2024";
const HELIB: &str = "HElib 2.3";

/// HElib 2.3 as measured by us, the papers' tables else.
const PEERS: [Peer; 25] = [
    helib("paper_hs15_18631", "thin", (11.4, 263.0, 0.9), Some("m=18631 p=2")),
    helib("paper_hs15_21845", "thin", (12.3, 163.0, 0.7), Some("m=21845 p=2")),
    helib("paper_hs15_28679", "thin", (25.3, 363.0, 1.2), Some("m=28679 p=2")),
    helib("paper_hs18_49981", "thin", (111.0, 1138.0, 8.1), Some("m=49981 p=2")),
    helib("paper_hs15_18631", "packed", (242.0, 206.0, 3.1), Some("m=18631 p=2")),
    published("paper_hs15_21845", "packed", HS15, 320.0, Some(3.4)),
    published("paper_hs15_28679", "packed", HS15, 465.0, Some(3.5)),
    published("paper_hs15_35113", "packed", HS15, 1531.0, Some(8.2)),
    published("paper_hs15_45551", "packed", HS15, 3870.0, Some(14.8)),
    published("paper_hs15_51319", "packed", HS15, 2635.0, Some(39.9)),
    published("paper_hs15_42799", "packed", HS15, 10807.0, Some(15.6)),
    published("paper_hs15_49981", "packed", HS15, 17448.0, Some(21.6)),
    published("paper_hs18_49981", "packed", "Halevi–Shoup 2018", 1413.0, None),
    published("paper_ch18_n16384_p127", "thin", CH18, 6.75, Some(2.0)),
    published("paper_ch18_n16384_p257", "thin", CH18, 10.8, Some(2.0)),
    published("paper_ch18_n32768_p127_r2", "thin", CH18, 30.2, Some(2.0)),
    published("paper_ch18_n32768_p127_r3", "thin", CH18, 34.5, Some(8.9)),
    published("paper_ch18_n32768_p257", "thin", CH18, 36.8, Some(7.4)),
    published("paper_ch18_n32768_p257_r2", "thin", CH18, 42.1, Some(7.4)),
    published("paper_ch18_n16384_p127", "packed", CH18, 2027.0, Some(8.9)),
    published("paper_ch18_n16384_p257", "packed", CH18, 1381.0, Some(7.5)),
    published("paper_ch18_n32768_p127_r2", "packed", CH18, 21295.0, Some(27.6)),
    published("paper_ch18_n32768_p257_r2", "packed", CH18, 11753.0, Some(26.6)),
    Peer { left: Some(446.0), ..published("paper_ma24_set1_p65537", "thin", MA24, 23.4, Some(31.0)) },
    Peer { left: Some(415.0), ..published("paper_ma24_set3_p131071", "thin", MA24, 24.1, Some(23.6)) },
];

/// The authors' code for set II ran on our reference machine (2.5 GHz Cascade Lake); general modes are as published.
const MA_SETS: [Peer; 4] = [
    Peer {
        left: Some(597.0),
        ..published("paper_ma24_set2_p8191", "thin", "authors' code, Cascade Lake", 26.8, Some(9.2))
    },
    Peer {
        left: Some(460.0),
        ..published("paper_ma24_set2_p8191", "packed", "authors' code, Cascade Lake", 136.6, Some(12.0))
    },
    Peer { left: Some(447.0), ..published("paper_ma24_set1_p65537", "packed", MA24, 32.0, Some(31.0)) },
    Peer { left: Some(366.0), ..published("paper_ma24_set3_p131071", "packed", MA24, 40.0, Some(23.6)) },
];

const fn helib(
    preset: &'static str,
    mode: &'static str,
    (seconds, left, gigabytes): (f64, f64, f64),
    same_core: Option<&'static str>,
) -> Peer {
    Peer { left: Some(left), same_core, ..published(preset, mode, HELIB, seconds, Some(gigabytes)) }
}

/// Writes what is asked for.
pub fn write(record: &Path, page: Option<&Path>, plot: Option<&Path>) -> io::Result<()> {
    let all = read(record)?;
    let write = |path: &Path, text: String| std::fs::write(path, text).map_err(|error| named(path, &error));
    page.map_or(Ok(()), |path| write(path, text(&all)))?;
    plot.map_or(Ok(()), |path| write(path, svg(&all)))
}

/// Seconds of the stages whose names begin so.
fn seconds_of(figures: &Figures, beginning: &str) -> f64 {
    figures.stages.iter().filter(|stage| stage.name.starts_with(beginning)).map(|stage| stage.seconds).sum()
}

/// What the plot and the table tell apart: a name, what stages' names begin with, a colour.
const PARTS: [(&str, &[&str], &str); 4] = [
    ("slots to coefficients, joining", &["slots to coefficients", "repacking", "joining"], "#1b6ca8"),
    ("front end", &["front end"], "#b8860b"),
    (
        "coefficients to slots, trace, splitting",
        &["coefficients to slots", "trace", "unpacking", "splitting"],
        "#4b8f5b",
    ),
    ("digit removal", &["digit removal"], "#c8553d"),
];

fn parts(figures: &Figures) -> [f64; 4] {
    // Stages are timed by the clock.
    let scale = figures.seconds() / figures.stages.iter().map(|stage| stage.seconds).sum::<f64>();
    let parts = PARTS.map(|(_, beginnings, _)| {
        beginnings.iter().fold(0.0, |sum, beginning| sum + scale * seconds_of(figures, beginning))
    });
    assert!((parts.iter().sum::<f64>() / figures.seconds() - 1.0).abs() < 1e-6, "every stage belongs to a part");
    parts
}

fn text(all: &[Figures]) -> String {
    let mut out = String::from(
        "# Bootstrapping: measured\n\nMade by `windlass-bench bootstrap --record FILE --page FILE --plot FILE` from the record that \
         `windlass-bench bootstrap --preset NAME --record FILE` appends to; every result was decrypted and compared. Seconds are those of the median \
         run, of the processor on one thread and of the clock on several; \"maps\" are both linear maps with trace, unpacking or splitting, repacking or joining. λ is that of the main and of the ephemeral key. Throughput is \
         remaining capacity times slot bits a second.\n\n![where the time goes](bootstrapping.svg)\n",
    );
    for cpu in cpus(all) {
        let _ = write!(
            out,
            "\n## {cpu}\n\n| preset | mode, scheme | threads | seconds | maps | digits | bits before → after | throughput | plan, keys, \
             constants: seconds | keys GB | peak GB | λ |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        );
        all.iter().filter(|f| f.cpu == cpu).for_each(|figures| row(&mut out, figures));
    }
    let failure = all.iter().map(|figures| figures.failure_bits).fold(f64::INFINITY, f64::min);
    let _ = write!(
        out,
        "\nProbability that the bound of the front end fails: at most 2^−{failure}.\n\n## Against others\n\nOne thread. Where a peer ran on the same \
         kind of core that time is taken, else the one of the paper or machine named: those ratios mix machines.\n\n\
         | preset | mode | peer | seconds | bits left | GB | ours: seconds | bits left | GB | times as fast |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for peer in PEERS.iter().chain(&MA_SETS) {
        let same = |f: &&Figures| f.preset == peer.preset && f.mode == peer.mode && f.threads == 1;
        all.iter().filter(same).for_each(|figures| against(&mut out, peer, figures));
    }
    out
}

fn cpus(all: &[Figures]) -> Vec<&str> {
    let mut cpus: Vec<&str> = all.iter().map(|figures| &*figures.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn row(out: &mut String, f: &Figures) {
    let [back, _, there, digits] = parts(f);
    let _ = writeln!(
        out,
        "| {} | {}, {} | {} | {} | {} | {} | {:.0} → {:.0} | {:.2e} | {:.1}, {:.1}, {:.1} | {:.2} | {:.1} | {:.0}, {:.0} |",
        f.preset,
        f.mode,
        f.scheme,
        f.threads,
        short(f.seconds()),
        short(back + there),
        short(digits),
        f.capacity_in,
        f.capacity_out,
        f.throughput_bits_per_second,
        f.plan_seconds,
        f.key_seconds,
        f.table_seconds,
        f.key_bytes as f64 / 1e9,
        f.peak_mebibytes * 1.048_576e-3,
        f.security_bits,
        f.ephemeral_security_bits,
    );
}

fn against(out: &mut String, peer: &Peer, f: &Figures) {
    let operation = format!("{} bootstrapping", peer.mode);
    let here = peer.same_core.and_then(|name| same_core::seconds_on(&f.cpu, "HElib", &operation, name));
    let (seconds, place) = here.map_or((peer.seconds, ""), |seconds| (seconds, ", same core"));
    let left = peer
        .same_core
        .and_then(|name| same_core::seconds_on(&f.cpu, "HElib", &format!("{operation}: bits left"), name));
    let number = |x: Option<f64>| x.map_or_else(|| "–".into(), |x| format!("{x}"));
    let _ = writeln!(
        out,
        "| {} | {} | {}{place} | {} | {} | {} | {} | {:.0} | {:.1} | {:.1} |",
        peer.preset,
        peer.mode,
        peer.what,
        short(seconds),
        number(left.or(peer.left)),
        number(peer.gigabytes),
        short(f.seconds()),
        f.capacity_out,
        f.peak_mebibytes * 1.048_576e-3,
        seconds / f.seconds()
    );
}

/// Three figures or so.
fn short(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{s:.0}"),
        s if s >= 10.0 => format!("{s:.1}"),
        s => format!("{s:.2}"),
    }
}

/// One bar for each measurement on one thread, as wide as its parts' shares.
fn svg(all: &[Figures]) -> String {
    const LEFT: f64 = 290.0;
    const WIDTH: f64 = 520.0;
    const BAR: f64 = 18.0;
    let chosen: Vec<&Figures> = all.iter().filter(|figures| figures.threads == 1).collect();
    let height = 70.0 + BAR * chosen.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"900\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-size=\"14\">Where a refresh spends its time: share of each part, one thread</text>\n"
    );
    let mut at = 20.0;
    for (name, _, colour) in PARTS {
        let _ = writeln!(
            out,
            "<rect x=\"{at}\" y=\"30\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"41\">{name}</text>",
            at + 17.0
        );
        at += 40.0 + 6.6 * name.len() as f64;
    }
    for (line, figures) in chosen.iter().enumerate() {
        let top = 55.0 + BAR * line as f64;
        let middle = top + 11.0;
        let parts = parts(figures);
        let whole: f64 = parts.iter().sum();
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{} {}</text>",
            LEFT - 8.0,
            figures.preset,
            figures.mode
        );
        let mut x = LEFT;
        for (seconds, (_, _, colour)) in parts.iter().zip(PARTS) {
            let width = seconds / whole * WIDTH;
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/>",
                BAR - 4.0
            );
            x += width;
        }
        let _ =
            writeln!(out, "<text x=\"{}\" y=\"{middle}\">{} s</text>", LEFT + WIDTH + 8.0, short(figures.seconds()));
    }
    out + "</svg>\n"
}

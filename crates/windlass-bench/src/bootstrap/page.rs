//! A page of tables and a plot from a record of bootstrappings.

use std::fmt::Write as _;

use super::chen_han;
use super::circuit::Circuit;
use super::figures::{self, Measured, parts};
use super::lambda;
use super::peers::{MA_SETS, PEERS, Peer};
use super::published;
use crate::machine::model;
use crate::page::{Table, distinct, or_dash, seconds};
use crate::peer_record;
use crate::plot::{BLUE, Drawn, OCHRE, PointPlot, RED, Row};

const HEAD: &str = "# Bootstrapping: measured\n\n\
     Made by `windlass-bench bootstrap --record FILE --page FILE --plot FILE` from the record that\n\
     `windlass-bench bootstrap --preset NAME --record FILE` appends to; every result was decrypted and\n\
     compared. Seconds are those of the median run, of the processor on one thread and of the clock on\n\
     several; \"maps\" are both linear maps with trace, unpacking or splitting, repacking or joining. λ is\n\
     that of the main and of the ephemeral key, by the tables of today ([attacks](attacks.md)). Throughput\n\
     is remaining capacity times slot bits a second. The circuit is front end, transform with the ends of\n\
     merged stages to the coefficients and to the slots, unpacking, digit method; records before 22\n\
     November 2026 do not say it.\n\n\
     ![Seconds of a refresh beside others](bootstrapping.svg)\n";

/// The columns of [`row`].
const COLUMNS: [&str; 13] = [
    "preset",
    "mode, scheme",
    "threads",
    "seconds",
    "maps",
    "digits",
    "bits before → after",
    "throughput",
    "plan, keys, constants: seconds",
    "keys GB",
    "peak GB",
    "λ",
    "circuit",
];

/// The page.
pub fn text(all: &[Measured]) -> String {
    let failure = all.iter().map(|measured| measured.of.failure_bits).fold(f64::INFINITY, f64::min);
    let mut out = String::from(HEAD);
    out.push_str(&by_core(all));
    let _ = write!(out, "\nProbability that the bound of the front end fails: at most 2^−{failure}.\n");
    out.push_str(&against_others(all));
    out.push_str(&against_chen_han(all));
    out.push_str(&published::sections(all));
    out
}

/// A table for each kind of core.
fn by_core(all: &[Measured]) -> String {
    let mut out = String::new();
    for cpu in distinct(all.iter().map(|measured| &*measured.cpu)) {
        let mut table = Table::new(COLUMNS);
        all.iter().filter(|measured| measured.cpu == cpu).for_each(|measured| table.row(row(measured)));
        let _ = write!(out, "\n## {cpu}\n\n{table}");
    }
    out
}

fn against_others(all: &[Measured]) -> String {
    let ours = ["ours", "seconds", "bits left", "GB", "times as fast"];
    let columns = [&["preset", "mode", "peer", "seconds", "bits left", "GB"][..], &ours].concat();
    let mut table = Table::new(columns);
    for comparison in comparisons(all) {
        table.row(comparison.row());
    }
    format!(
        "\n## Against others\n\n\
         One thread. Libraries stand beside ours where they were measured on the same kind of core\n\
         ([peers](peers.md)); what is only published, \"elsewhere\", is from other machines, as its ratio says.\n\
         Ours is of the peer's scheme where that was measured.\n\n{table}"
    )
}

fn against_chen_han(all: &[Measured]) -> String {
    format!(
        "\n## Chen–Han 2018, Tables 4 and 5\n\n\
         Theirs is BFV in SEAL, weight 128, on an Intel Core i7-4770 of 3.4 GHz. Depth is the number of\n\
         products in sequence that a fresh ciphertext and a refreshed one allow; ours are squares by the\n\
         noise bound, the last one decrypted, under parameters of the same n and log2 Q, with special\n\
         primes on top. One thread; of each scheme the newest record, on the core that it names (records\n\
         before 22 November 2026 say no depth). Made by\n\
         `windlass-bench bootstrap --preset NAME [--packed] --scheme bgv,bfv --record FILE`.\n\n{}",
        chen_han::table(all)
    )
}

fn row(measured: &Measured) -> [String; 13] {
    let [back, _, there, digits] = parts(measured);
    let f = &measured.of;
    let [main, ephemeral] = lambda::of(f);
    [
        f.preset.clone(),
        format!("{}, {}", f.mode, f.scheme),
        measured.threads.to_string(),
        seconds(measured.median_s),
        seconds(back + there),
        seconds(digits),
        format!("{:.0} → {:.0}", f.capacity_in, f.capacity_out),
        format!("{:.2e}", f.throughput_bits_per_second),
        format!("{:.1}, {:.1}, {:.1}", f.plan_seconds, f.key_seconds, f.table_seconds),
        format!("{:.2}", f.key_bytes as f64 / 1e9),
        format!("{:.1}", f.gigabytes()),
        format!("{:.0}, {:.0}", main.floor(), ephemeral.floor()),
        f.circuit.as_ref().map_or_else(|| or_dash(None, 0), Circuit::words),
    ]
}

/// A peer beside ours: on the same kind of core, or as published.
struct Comparison<'a> {
    peer: &'a Peer,
    ours: &'a Measured,
    seconds: f64,
    same_core: bool,
}

/// Every peer beside the newest measurement of each core that stands there; of its scheme, where
/// there is one.
fn comparisons(all: &[Measured]) -> Vec<Comparison<'_>> {
    let is_replaced =
        |one: &Measured, later: &Measured| (&one.cpu, figures::key(one)) == (&later.cpu, figures::key(later));
    let newest: Vec<&Measured> = all
        .iter()
        .enumerate()
        .filter(|&(at, one)| !all[at + 1..].iter().any(|later| is_replaced(one, later)))
        .map(|(_, one)| one)
        .collect();
    let beside = |peer: &'static Peer| {
        let same = |one: &&Measured| peer.is_beside(one);
        let measured = newest.iter().copied().filter(same).any(|f| f.of.scheme == peer.scheme);
        newest.iter().copied().filter(same).filter(move |f| !measured || f.of.scheme == peer.scheme).filter_map(
            move |ours| {
                let here = on_this_core(peer, ours, "");
                Some(Comparison { peer, ours, seconds: here.or(peer.seconds)?, same_core: here.is_some() })
            },
        )
    };
    PEERS.iter().chain(&MA_SETS).flat_map(beside).collect()
}

/// A figure of a peer from the record of peers.
fn on_this_core(peer: &Peer, ours: &Measured, figure: &str) -> Option<f64> {
    let operation = format!("{} bootstrapping{figure}", peer.mode);
    peer_record::seconds_on(&ours.cpu, "HElib", &operation, peer.same_core?)
}

impl Comparison<'_> {
    fn ratio(&self) -> f64 {
        self.seconds / self.ours.median_s
    }

    fn row(&self) -> [String; 11] {
        let (peer, ours) = (self.peer, self.ours);
        let left = on_this_core(peer, ours, ": bits left").or(peer.left);
        let number = |x: Option<f64>| x.map_or_else(|| or_dash(None, 0), |x| x.to_string());
        [
            peer.preset.into(),
            peer.mode.into(),
            format!("{}, {}{}", peer.what, peer.scheme, if self.same_core { ", same core" } else { ", elsewhere" }),
            seconds(self.seconds),
            number(left),
            number(peer.gigabytes),
            format!("{}, {}", ours.of.scheme, model(&ours.cpu)),
            seconds(ours.median_s),
            format!("{:.0}", ours.of.capacity_out),
            format!("{:.1}", ours.of.gigabytes()),
            format!("{:.1}{}", self.ratio(), if self.same_core { "" } else { ", machines differ" }),
        ]
    }
}

/// Ours and the fastest peer of each preset, one row each, by ours.
pub fn plot(all: &[Measured]) -> Drawn {
    let mut chosen: Vec<Comparison<'_>> = Vec::new();
    for comparison in comparisons(all) {
        let key = |c: &Comparison<'_>| (c.peer.preset, c.peer.mode);
        // A time on the same core says more than another.
        let says_more = |c: &Comparison<'_>| (c.same_core, -c.ratio());
        match chosen.iter_mut().find(|known| key(known) == key(&comparison)) {
            Some(known) if says_more(&comparison) > says_more(known) => *known = comparison,
            Some(_) => {}
            None => chosen.push(comparison),
        }
    }
    chosen.sort_by(|a, b| a.ours.median_s.total_cmp(&b.ours.median_s));
    let row = |c: &Comparison<'_>| Row {
        name: format!("{}, {}", c.peer.preset, c.peer.mode),
        marks: vec![(c.seconds, if c.same_core { RED } else { OCHRE }), (c.ours.median_s, BLUE)],
        remark: format!("{:.1}×", c.ratio()),
    };
    PointPlot {
        title: "A refresh on one thread, ours beside others".into(),
        x: "seconds".into(),
        legend: [("Windlass", BLUE), ("HElib, same core", RED), ("as published", OCHRE)]
            .map(|(name, colour)| (name.into(), colour))
            .into(),
        rows: chosen.iter().map(row).collect(),
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::super::circuit::Asked;
    use super::*;
    use crate::record;

    #[test]
    fn the_page_shows_the_record() {
        // The last of a core stands beside its peers. That of 26 November is of a slower guest than
        // theirs and goes first.
        let records = [
            "amd-epyc-zen5/bootstrap-2026-11-21.jsonl",
            "amd-epyc-zen4/bootstrap-2026-11-22.jsonl",
            "intel-xeon-167/bootstrap-2026-11-23.jsonl",
            "amd-epyc-zen3/bootstrap-2026-11-26.jsonl",
            "amd-epyc-zen3/bootstrap-2026-11-23.jsonl",
            "amd-epyc-zen3/bootstrap-2026-11-24.jsonl",
            "amd-epyc-zen5/bootstrap-2026-11-25.jsonl",
        ];
        let path = |name| format!(concat!(env!("CARGO_MANIFEST_DIR"), "/record/{}"), name);
        let read = |name| record::read(path(name).as_ref(), figures::key).unwrap();
        let all: Vec<Measured> = records.into_iter().flat_map(read).collect();
        assert_eq!(include_str!("../../../../docs/bootstrapping-tables.md"), text(&all));
        assert_eq!(include_str!("../../../../docs/bootstrapping.svg"), plot(&all).unwrap());
    }

    /// What was asked for otherwise is in the tables of cores and beside nobody, as is what was
    /// measured anew, and what a library did on another core.
    #[test]
    fn others_stand_beside_the_planners_own_circuit() {
        let one = |place: (&str, &str), seconds: f64| {
            let line = include_str!("../../record/amd-epyc-zen4/bootstrap-2026-11-22.jsonl").lines().next().unwrap();
            let mut one: Measured = serde_json::from_str(line).unwrap();
            (one.of.preset, one.of.mode, one.median_s) = (place.0.into(), place.1.into(), seconds);
            one
        };
        let plain = one(("paper_ma24_set1_p65537", "thin"), 2.0);
        let asked = |change: fn(&mut Asked)| {
            let mut faster = one(("paper_ma24_set1_p65537", "thin"), 1.0);
            change(&mut faster.of.circuit.as_mut().unwrap().asked);
            faster
        };
        let older = one(("paper_ma24_set1_p65537", "thin"), 1.5);
        let without_peers = one(("paper_ma24_set2_p8191", "thin"), 1.0); // none on this core
        let all = [
            older,
            without_peers,
            plain.clone(),
            asked(|asked| asked.partition = "paper".into()),
            asked(|asked| asked.transform = "bruun".into()),
            asked(|asked| asked.weight = Some(24)),
        ];
        let beside: Vec<f64> = comparisons(&all).iter().map(|comparison| comparison.ours.median_s).collect();
        assert_eq!(beside, [2.0]);
        assert_eq!(plot(&all).unwrap(), plot(&[plain]).unwrap());
    }
}

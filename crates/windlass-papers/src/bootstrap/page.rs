//! A page of tables and a plot from records of bootstrappings.

use std::fmt::Write as _;

use super::chen_han;
use super::circuit::Circuit;
use super::failure;
use super::figures::{self, Measured, net_bits, parts};
use super::lambda;
use super::missing;
use super::peers::{MA_SETS, PEERS, Peer};
use super::published;
use super::records::Records;
use super::todays::{Chain, Presets};
use crate::page::{Table, distinct, or_dash, seconds};
use crate::peer_record;
use crate::plot::{BLUE, Drawn, OCHRE, PointPlot, RED, Row};
use crate::record::model;

const HEAD: &str = "# Bootstrapping: measured\n\n\
     Made by `windlass-bench bootstrap --record FILE.. --page FILE --plot FILE` from the records in\n\
     `crates/windlass-bench/record`; `windlass-bench bootstrap --all --record FILE` measures every preset\n\
     in both modes and schemes, each in a separate process. Every result was decrypted and compared.\n\
     Seconds are those of the median run, of the processor on one thread and of the clock on several;\n\
     \"maps\" are both linear maps with trace, unpacking or splitting, repacking or joining. λ is that of the\n\
     main and of the ephemeral key, by the tables of today ([attacks](../explanation/attacks.md)). The circuit is front end, transform with\n\
     the ends of merged stages to the coefficients and to the slots, unpacking, digit method, and what was\n\
     asked for by name; records before 22 November 2026 do not say it.\n\n\
     **What is left.** \"Left\" is the capacity of the refreshed ciphertext. \"Net\" is what remains of it for\n\
     circuits: left, less what the next refresh needs at its input, which is its maps to the coefficients\n\
     where they come first, and some bits that stay below everything. Ma et al. publish the second.\n\
     Throughput is net times slot bits a second.\n\n\
     **Which chain.** A preset may get other primes. The first table of a core is of the presets as they\n\
     are today: primes of Q and P, digits of keys, both secrets (a test compares). What was measured\n\
     under earlier chains, or before records said their primes (26 November 2026), is in the second\n\
     table of a core and nowhere else. Of two records of the same row the one of the later day counts.\n\n\
     ![Seconds of a refresh beside others](bootstrapping.svg)\n";

/// The columns of [`row`].
const COLUMNS: [&str; 14] = [
    "preset",
    "mode, scheme",
    "day",
    "threads",
    "seconds",
    "maps",
    "digits",
    "bits before → left, net",
    "throughput",
    "plan, keys, constants: seconds",
    "keys GB",
    "peak GB",
    "λ",
    "circuit",
];

/// The page.
pub fn text(all: &Records, presets: &Presets) -> String {
    let (measured, todays) = (&all.measured, &presets.of(&all.measured));
    let mut out = String::from(HEAD);
    out.push_str(&by_core(measured, presets));
    out.push_str(
        "\nThe bound of the front end fails with probability at most 2^−128, except in rows that say \"fails with\".\n\
         A refresh whose bound fails may give a wrong plaintext without an error.\n",
    );
    out.push_str(&missing::section(all, presets));
    out.push_str(&against_others(todays));
    out.push_str(&against_chen_han(todays));
    out.push_str(&published::sections(todays));
    out
}

/// Two tables for each kind of core: of the presets as they are, and of what they were.
fn by_core(all: &[Measured], presets: &Presets) -> String {
    let newest = newest(all);
    let mut out = String::new();
    for cpu in distinct(newest.iter().map(|measured| &*measured.cpu)) {
        let [mut todays, mut earlier] = [(); 2].map(|()| Table::new(COLUMNS));
        for one in newest.iter().filter(|one| one.cpu == cpu) {
            match presets.chain(&one.of) {
                Chain::Todays => todays.row(row(one, lambda::of(&one.of))),
                _ => earlier.row(row(one, [one.of.security_bits, one.of.ephemeral_security_bits])),
            }
        }
        let _ = write!(out, "\n## {cpu}\n");
        if !todays.is_empty() {
            let _ = write!(out, "\n{todays}");
        }
        if !earlier.is_empty() {
            let _ = write!(
                out,
                "\nUnder earlier chains, or primes not said; λ as it was estimated on that day, before rotations of\n\
                 the ring were counted:\n\n{earlier}"
            );
        }
    }
    out
}

/// Without rows that were measured again on the same kind of core, under the same chain.
fn newest(all: &[Measured]) -> Vec<&Measured> {
    let key = |one: &Measured| (one.cpu.clone(), figures::key(one), one.of.moduli().map(str::to_owned));
    let is_last = |&(at, one): &(usize, &Measured)| !all[at + 1..].iter().any(|later| key(later) == key(one));
    all.iter().enumerate().filter(is_last).map(|(_, one)| one).collect()
}

fn against_others(all: &[Measured]) -> String {
    let theirs = ["preset", "mode", "peer", "seconds", "left", "net", "GB"];
    let ours = ["ours", "seconds", "left", "net", "GB", "times as fast"];
    let mut table = Table::new(theirs.into_iter().chain(ours));
    for comparison in comparisons(all) {
        table.row(comparison.row());
    }
    format!(
        "\n## Against others\n\n\
         One thread, the presets as they are today. Libraries are listed with ours where they were measured on\n\
         the same kind of core ([peers](peers.md), with what was measured alternating), on another day; what is\n\
         only published, \"elsewhere\", is from other machines, as its ratio says. Ours is of the peer's scheme\n\
         where that was measured. Bits left and net as above; what a refresh of HElib needs at its input was\n\
         not measured.\n\n{table}"
    )
}

fn against_chen_han(all: &[Measured]) -> String {
    format!(
        "\n## Chen–Han 2018, Tables 4 and 5\n\n\
         Theirs is BFV in SEAL, weight 128, on an Intel Core i7-4770 of 3.4 GHz. Depth is the number of\n\
         products in sequence that a fresh ciphertext and a refreshed one allow; ours are squares by the\n\
         noise bound, the last one decrypted, under keys of weight 192 and parameters of the same n whose\n\
         log2 QP is within 4 % of their log2 Q (special primes are part of it). One thread; of each scheme the newest record of today's chain, on the core that it\n\
         names. Made by `windlass-bench bootstrap --preset NAME [--packed] --scheme bgv,bfv --record FILE`.\n\n{}",
        chen_han::table(all)
    )
}

fn row(measured: &Measured, [main, ephemeral]: [f64; 2]) -> [String; 14] {
    let [back, _, there, digits] = parts(measured);
    let f = &measured.of;
    [
        f.preset.clone(),
        format!("{}, {}", f.mode, f.scheme),
        f.date.clone().unwrap_or_default(),
        measured.threads.to_string(),
        seconds(measured.median_s),
        seconds(back + there),
        seconds(digits),
        format!("{:.0} → {:.0}, {:.0}", f.capacity_in, f.capacity_out, net_bits(measured)),
        format!("{:.2e}", f.throughput_bits_per_second),
        format!("{:.1}, {:.1}, {:.1}", f.plan_seconds, f.key_seconds, f.table_seconds),
        format!("{:.2}", f.key_bytes as f64 / 1e9),
        format!("{:.1}", f.gigabytes()),
        format!("{:.0}, {:.0}", main.floor(), ephemeral.floor()),
        [Some(f.circuit.as_ref().map_or_else(|| or_dash(None, 0), Circuit::words)), failure::words(f)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; "),
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
    let newest = newest(all);
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

    fn row(&self) -> [String; 13] {
        let (peer, ours) = (self.peer, self.ours);
        let left = on_this_core(peer, ours, ": bits left").or(peer.left);
        let number = |x: Option<f64>| x.map_or_else(|| or_dash(None, 0), |x| x.to_string());
        [
            peer.preset.into(),
            peer.mode.into(),
            format!("{}, {}{}", peer.what, peer.scheme, if self.same_core { ", same core" } else { ", elsewhere" }),
            seconds(self.seconds),
            number(left),
            number(peer.net),
            number(peer.gigabytes),
            format!("{}, {}", ours.of.scheme, model(&ours.cpu)),
            seconds(ours.median_s),
            format!("{:.0}", ours.of.capacity_out),
            format!("{:.0}", net_bits(ours)),
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

    /// All records, and the presets as they are: the test fails when a preset changes, until the
    /// page is made again.
    #[test]
    fn the_page_shows_the_records() {
        let (all, presets) = (Records::committed(), Presets::todays().unwrap());
        assert_eq!(include_str!("../../../../docs/records/bootstrapping-tables.md"), text(&all, &presets));
        let plotted = plot(&presets.of(&all.measured)).unwrap();
        assert_eq!(include_str!("../../../../docs/records/bootstrapping.svg"), plotted);
    }

    /// The README's times of a bootstrapping are those of the page, of today's chain, or say that
    /// the chain was another one.
    #[test]
    fn the_readme_shows_the_newest_of_todays_chain() {
        let todays = Presets::todays().unwrap().of(&Records::committed().measured);
        let readme = include_str!("../../../../README.md");
        for mode in ["thin", "packed"] {
            let name = format!("{mode} bootstrapping, m = 18631");
            let row = readme.lines().find(|line| line.starts_with(&format!("| {name}"))).expect(mode);
            let all = comparisons(&todays);
            let here =
                all.iter().rfind(|one| one.same_core && (one.peer.preset, one.peer.mode) == ("paper_hs15_18631", mode));
            match here {
                Some(one) => {
                    let cells = format!("{} s | HElib {} s |", seconds(one.ours.median_s), seconds(one.seconds));
                    assert!(row.ends_with(&cells), "{row}: {cells}");
                }
                None => assert!(row.contains("an earlier chain"), "{row}"),
            }
        }
    }

    /// Two rows of a table differ in more than their figures.
    #[test]
    fn rows_of_different_requests_say_what_differs() {
        let (all, presets) = (Records::committed(), Presets::todays().unwrap());
        let mut seen = std::collections::BTreeSet::new();
        for one in newest(&all.measured).into_iter().filter(|one| one.of.circuit.is_some()) {
            let [preset, mode, _, threads, .., circuit] = row(one, [0.0; 2]);
            let chain = format!("{:?} {:?}", presets.chain(&one.of), one.of.moduli());
            let place = (one.cpu.clone(), chain, preset, mode, threads, circuit);
            assert!(seen.insert(place.clone()), "two rows are alike: {place:?}");
        }
    }

    /// A published time of a preset is compared with ours, if that was measured.
    #[test]
    fn every_published_time_is_compared() {
        let todays = Presets::todays().unwrap().of(&Records::committed().measured);
        let compared: Vec<(&str, &str)> =
            comparisons(&todays).iter().map(|one| (one.peer.preset, one.peer.mode)).collect();
        for place in published::places() {
            let measured = todays.iter().any(|one| {
                (&*one.of.preset, &*one.of.mode, one.threads) == (place.0, place.1, 1)
                    && one.of.asked() == Asked::default()
            });
            assert!(!measured || compared.contains(&place), "{place:?} is left out");
        }
    }

    /// An earlier chain stands only in the second table, for any day.
    #[test]
    fn records_of_other_chains_are_shown_as_such() {
        let (all, presets) = (Records::committed(), Presets::todays().unwrap());
        let mut todays = all.measured.into_iter().rfind(|one| one.of.moduli().is_some()).unwrap();
        todays.of.circuit.as_mut().unwrap().moduli = Some(super::super::todays::moduli(&todays.of.preset).unwrap());
        let mut other = todays.clone();
        (other.median_s, other.of.date) = (0.001, Some("2126-01-01".into()));
        other.of.circuit.as_mut().unwrap().moduli = Some("Q 8x50, P 3x50, 3 digits".into());
        let page = text(&Records { measured: vec![todays, other], left_out: Vec::new() }, &presets);
        let at = |text: &str| page.find(text).unwrap();
        assert_eq!(page.matches("2126-01-01").count(), 1);
        assert!(at("Under earlier chains") < at("2126-01-01") && at("2126-01-01") < at("\nThe bound of the front"));
    }

    /// Rows of other requests are in the tables of cores and not compared with others. So are rows
    /// that were measured again, and those of a library on another core.
    #[test]
    fn others_stand_beside_the_planners_own_circuit() {
        let one = |place: (&str, &str), seconds: f64| {
            let line = include_str!("../../../windlass-bench/record/amd-epyc-zen4/bootstrap-2026-11-22.jsonl")
                .lines()
                .next()
                .unwrap();
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
        let without_peers = one(("boot_n32768_p127", "thin"), 1.0);
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

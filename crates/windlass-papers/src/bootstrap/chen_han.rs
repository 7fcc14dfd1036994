//! Tables 4 and 5 of Chen–Han 2018 beside ours, in BFV as theirs and in BGV.

use super::figures::Measured;
use super::peers::{CHEN_HAN, PEERS, Peer};
use crate::page::{Table, or_dash, seconds};
use crate::record::model;

/// What there is of each side: ours also says the core.
const FIGURES: [&str; 5] = ["depth fresh / refreshed", "seconds", "set-up", "GB", "core"];

/// Theirs and ours: depths before and after, seconds of a refresh and to make ready, gigabytes. Of
/// ours the newest, as `all` stands in the order of time.
pub fn table(all: &[Measured]) -> Table {
    let place = ["preset", "mode"].map(String::from);
    let figures = |of: &'static str, count: usize| FIGURES[..count].iter().map(move |figure| format!("{of}: {figure}"));
    let ours = ["ours, BFV", "ours, BGV"].into_iter().flat_map(|of| figures(of, 5));
    let mut table = Table::new(place.into_iter().chain(figures(CHEN_HAN, 4)).chain(ours));
    for peer in PEERS.iter().filter(|peer| peer.what == CHEN_HAN) {
        let ours = ["BFV", "BGV"].map(|scheme| measured(all, peer, scheme));
        let place = [peer.preset, peer.mode].map(String::from);
        table.row(place.into_iter().chain(theirs(peer)).chain(ours.into_iter().flatten()));
    }
    table
}

fn theirs(peer: &Peer) -> [String; 4] {
    [
        depths(peer.depths),
        peer.seconds.map_or_else(|| or_dash(None, 0), seconds),
        or_dash(peer.setup, 0),
        or_dash(peer.gigabytes, 1),
    ]
}

/// The last on one thread that took the planner's own circuit; dashes where nothing was measured.
fn measured(all: &[Measured], peer: &Peer, scheme: &str) -> [String; 5] {
    let same = |one: &&Measured| peer.is_beside(one) && one.of.scheme == scheme;
    match all.iter().rfind(same) {
        None => [(); 5].map(|()| or_dash(None, 0)),
        Some(one) => {
            let [setup, gigabytes] = [one.of.setup_seconds(), one.of.gigabytes()].map(|x| or_dash(Some(x), 1));
            [depths(one.of.depths), seconds(one.median_s), setup, gigabytes, model(&one.cpu).into()]
        }
    }
}

fn depths(of: Option<[usize; 2]>) -> String {
    of.map_or_else(|| or_dash(None, 0), |[fresh, refreshed]| format!("{fresh} / {refreshed}"))
}

#[cfg(test)]
mod tests {
    use windlass::bootstrap::BootstrapSpec;

    use super::super::circuit::{Circuit, tests::plan};
    use super::*;
    use crate::record;

    const RECORD: &str = include_str!("../../../windlass-bench/record/amd-epyc-zen5/bootstrap-2026-11-25.jsonl");

    /// One that says its depths, on another core.
    fn newer(one: &Measured, scheme: &str) -> Measured {
        let mut newer = one.clone();
        (newer.of.scheme, newer.of.depths) = (scheme.into(), Some([9, 4]));
        (newer.of.plan_seconds, newer.of.key_seconds, newer.of.table_seconds) = (1.0, 2.0, 3.5);
        (newer.cpu, newer.median_s) = ("New (family 1, model 2)".into(), 2.5);
        newer
    }

    #[test]
    fn every_row_of_both_tables_has_ours_beside_it() {
        let all: Vec<Measured> = record::parse(RECORD).collect::<Result<_, _>>().unwrap();
        let in_bgv = |one: &&Measured| one.of.scheme == "BGV";
        let mut both: Vec<Measured> = all.iter().filter(in_bgv).cloned().collect();
        let old = both.iter_mut().filter(|one| one.of.preset == "paper_ch18_n16384_p257");
        old.for_each(|one| one.of.depths = None);
        let of_one = all.iter().filter(in_bgv).filter(|one| one.of.preset == "paper_ch18_n16384_p127");
        both.extend(of_one.map(|one| newer(one, "BFV")));
        let text = table(&both).to_string();
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("paper_ch18")).collect();
        assert_eq!(rows.len(), 10, "{text}");
        let thin = "| paper_ch18_n16384_p127 | thin | 23 / 10 | 6.75 | 57 | 2.0 | 9 / 4 | 2.50 | 6.5 |";
        assert!(text.contains(thin), "{text}");
        // Records before 22 November 2026 say no depth.
        let thin = "| paper_ch18_n16384_p257 | thin | 22 / 7 | 10.8 | 59 | 2.0 | – | – | – | – | – | – | 0.12 |";
        assert!(text.contains(thin), "{text}");
    }

    #[test]
    fn the_newest_record_counts_and_says_its_core() {
        let all: Vec<Measured> = record::parse(RECORD).collect::<Result<_, _>>().unwrap();
        let peer = PEERS.iter().find(|peer| peer.what == CHEN_HAN).unwrap();
        let old = all.iter().find(|one| (&*one.of.preset, &*one.of.mode) == (peer.preset, peer.mode)).unwrap();
        let new = newer(old, "BGV");
        let core = |all: &[Measured]| measured(all, peer, "BGV")[4].clone();
        assert_eq!(core(&[old.clone(), new.clone()]), "family 1, model 2");
        assert_eq!(core(&[new.clone(), old.clone()]), "family 26, model 2");
        // What was measured on several threads, or in another circuit, is not in the table.
        let several = Measured { threads: 2, ..new.clone() };
        let mut asked = new;
        asked.of.circuit = Some(Circuit::of(&plan(BootstrapSpec::default()), (Some(8), None)));
        assert_eq!(core(&[old.clone(), several, asked]), "family 26, model 2");
    }
}

//! Tables 4 and 5 of Chen–Han 2018 beside ours, in BFV as theirs and in BGV.

use super::figures::Measured;
use super::peers::{CHEN_HAN, PEERS, Peer};
use crate::page::{Table, or_dash, seconds};

/// Theirs and ours: depths before and after, seconds of a refresh and to make ready, gigabytes.
pub fn table(all: &[Measured]) -> Table {
    let place = ["preset", "mode"].map(String::from);
    let figures = |of: &str| {
        ["depth fresh / refreshed", "seconds", "set-up", "GB"].map(|figure| format!("{of}: {figure}")).into_iter()
    };
    let schemes = ["ours, BFV", "ours, BGV"];
    let mut table = Table::new(place.into_iter().chain(figures(CHEN_HAN)).chain(schemes.into_iter().flat_map(figures)));
    for peer in PEERS.iter().filter(|peer| peer.what == CHEN_HAN) {
        let ours = ["BFV", "BGV"].map(|scheme| measured(all, peer, scheme));
        let place = [peer.preset, peer.mode].map(String::from);
        table.row(place.into_iter().chain(theirs(peer)).chain(ours.into_iter().flatten()));
    }
    table
}

fn theirs(peer: &Peer) -> [String; 4] {
    [depths(peer.depths), seconds(peer.seconds), or_dash(peer.setup, 0), or_dash(peer.gigabytes, 1)]
}

/// The fastest on one thread; dashes where nothing was measured.
fn measured(all: &[Measured], peer: &Peer, scheme: &str) -> [String; 4] {
    let same = |one: &&Measured| {
        let of = &one.of;
        (&*of.preset, &*of.mode, &*of.scheme, one.threads) == (peer.preset, peer.mode, scheme, 1)
    };
    match all.iter().filter(same).min_by(|a, b| a.median_s.total_cmp(&b.median_s)) {
        None => [(); 4].map(|()| or_dash(None, 0)),
        Some(one) => {
            let [setup, gigabytes] = [one.of.setup_seconds(), one.of.gigabytes()].map(|x| or_dash(Some(x), 1));
            [depths(one.of.depths), seconds(one.median_s), setup, gigabytes]
        }
    }
}

fn depths(of: Option<[usize; 2]>) -> String {
    of.map_or_else(|| or_dash(None, 0), |[fresh, refreshed]| format!("{fresh} / {refreshed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;

    const RECORD: &str = include_str!("../../record/amd-epyc-zen5/bootstrap-2026-11-21.jsonl");

    #[test]
    fn every_row_of_both_tables_has_ours_beside_it() {
        let all: Vec<Measured> = record::parse(RECORD).collect::<Result<_, _>>().unwrap();
        let mut both = all.clone();
        for one in all.iter().filter(|one| one.of.preset == "paper_ch18_n16384_p127") {
            let mut bfv = one.clone();
            (bfv.of.scheme, bfv.of.depths) = ("BFV".into(), Some([9, 4]));
            (bfv.of.plan_seconds, bfv.of.key_seconds, bfv.of.table_seconds) = (1.0, 2.0, 3.5);
            bfv.median_s = 0.25;
            both.push(bfv);
        }
        let text = table(&both).to_string();
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("paper_ch18")).collect();
        assert_eq!(rows.len(), 10, "{text}");
        let thin = "| paper_ch18_n16384_p127 | thin | 23 / 10 | 6.75 | 57 | 2.0 | 9 / 4 | 0.25 | 6.5 |";
        assert!(text.contains(thin), "{text}");
        // Records before 22 November 2026 say no depth.
        assert!(
            text.contains("| paper_ch18_n16384_p257 | thin | 22 / 7 | 10.8 | 59 | 2.0 | – | – | – | – | – | 0.20 |")
        );
    }
}

//! Times of other libraries on the same model of processor that a bench runs on. A ratio of two such
//! times needs no unit in common, such as the transform T that compares different machines.
//!
//! One thread each, built with the fastest options of the library for that processor, in
//! `record/*/peers.jsonl`.

use serde::Deserialize;

use crate::record::{Record, parse};

const RECORDS: [&str; 2] = [
    include_str!("../../windlass-bench/record/amd-epyc-zen3/peers.jsonl"),
    include_str!("../../windlass-bench/record/amd-epyc-zen5/peers.jsonl"),
];

/// What was measured of a peer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct PeerOperation {
    peer: String,
    operation: String,
    parameters: String,
}

/// Seconds of a peer's operation on this kind of processor, if they were measured.
pub fn seconds_on(cpu: &str, peer: &str, operation: &str, parameters: &str) -> Option<f64> {
    let lines = RECORDS.iter().flat_map(|text| parse::<Record<PeerOperation>>(text));
    let known = lines.map(|line| line.expect("a test reads every line"));
    let fits = |record: &Record<PeerOperation>| {
        let of = &record.of;
        record.cpu == cpu && (&*of.peer, &*of.operation, &*of.parameters) == (peer, operation, parameters)
    };
    // The last one is the newest.
    Some(known.filter(fits).last()?.median_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_well_formed() {
        for record in RECORDS.iter().flat_map(|text| parse::<Record<PeerOperation>>(text)) {
            let record = record.unwrap();
            assert!(0.0 < record.min_s && record.min_s <= record.median_s, "{record:?}");
        }
    }
}

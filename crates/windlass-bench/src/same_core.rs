//! What others needed on the very kind of processor that a bench runs on: a ratio without a yardstick between.
//!
//! One thread each, built with their fastest options for that processor, in `record/*/peers.csv`.

use crate::machine;

const RECORDS: [&str; 1] = [include_str!("../record/amd-epyc-zen5/peers.csv")];

/// Seconds of a peer's operation on this kind of processor, if they were measured.
pub fn seconds(peer: &str, operation: &str, parameters: &str) -> Option<f64> {
    seconds_on(&machine::cpu(), peer, operation, parameters)
}

/// As [`seconds`], on the processor of a record.
pub fn seconds_on(cpu: &str, peer: &str, operation: &str, parameters: &str) -> Option<f64> {
    let cpu = cpu.replace(',', ";");
    RECORDS.iter().flat_map(|text| text.lines().skip(1)).find_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let &[name, _, what, with, median, _, on] = &cells[..] else { return None };
        ((name, what, with, on) == (peer, operation, parameters, &cpu[..])).then(|| median.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::RECORDS;

    #[test]
    fn records_are_well_formed() {
        for line in RECORDS.iter().flat_map(|text| text.lines().skip(1)) {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), 7, "{line}");
            let [median, min] = [cells[4], cells[5]].map(|cell| cell.parse::<f64>().unwrap());
            assert!(0.0 < min && min <= median, "{line}");
        }
    }
}

//! What papers and other libraries needed for the same parameters.

use super::circuit::Asked;
use super::figures::Measured;

/// What a paper says, from another machine, or the names under which a record of peers has a figure
/// for each kind of core.
pub struct Peer {
    pub preset: &'static str,
    pub mode: &'static str,
    pub what: &'static str,
    pub scheme: &'static str,
    /// As published; a library that runs on our machines has its times in the record of peers alone.
    pub seconds: Option<f64>,
    /// Capacity of a refreshed ciphertext, where it is stated in bits.
    pub left: Option<f64>,
    /// What of it is not needed by the next refresh, likewise.
    pub net: Option<f64>,
    pub gigabytes: Option<f64>,
    /// Seconds to make ready, where they are stated.
    pub setup: Option<f64>,
    /// The depth of circuits that a fresh ciphertext and a refreshed one allow, where it is stated.
    pub depths: Option<[usize; 2]>,
    /// The name under which a record of peers has a time on this kind of core.
    pub same_core: Option<&'static str>,
}

impl Peer {
    /// Whether this measurement is compared with it: the same preset and mode, on one thread, in
    /// the circuit that the planner takes when it is asked for nothing. What a request made better
    /// or worse is not what a user gets.
    pub fn is_beside(&self, one: &Measured) -> bool {
        let place = (&*one.of.preset, &*one.of.mode, one.threads);
        place == (self.preset, self.mode, 1) && one.of.asked() == Asked::default()
    }
}

const fn published(
    preset: &'static str,
    mode: &'static str,
    what: &'static str,
    seconds: f64,
    gigabytes: Option<f64>,
) -> Peer {
    Peer {
        preset,
        mode,
        what,
        scheme: "BGV",
        seconds: Some(seconds),
        left: None,
        net: None,
        gigabytes,
        setup: None,
        depths: None,
        same_core: None,
    }
}

/// Of SEAL's BFV: depths, seconds to make ready and of a refresh, and gigabytes.
const fn chen_han(
    preset: &'static str,
    mode: &'static str,
    depths: [usize; 2],
    (setup, seconds, gigabytes): (f64, f64, f64),
) -> Peer {
    let peer = published(preset, mode, CHEN_HAN, seconds, Some(gigabytes));
    Peer { scheme: "BFV", depths: Some(depths), setup: Some(setup), ..peer }
}

/// Chen–Han 2018, Tables 4 and 5.
pub const CHEN_HAN: &str = "Chen–Han 2018";

const HS15: &str = "Halevi–Shoup 2015, packed (their only mode)";
const MA24: &str = "Ma et al. 2024";
const HELIB: &str = "HElib 2.3";

/// HElib 2.3 by the record of peers, the papers' tables else.
pub const PEERS: [Peer; 26] = [
    helib("paper_hs15_18631", "thin", 1.0, "m=18631 p=2"),
    helib("paper_hs15_21845", "thin", 0.7, "m=21845 p=2"),
    helib("paper_hs15_28679", "thin", 1.2, "m=28679 p=2"),
    helib("paper_hs18_49981", "thin", 8.7, "m=49981 p=2"),
    helib("paper_hs15_18631", "packed", 3.5, "m=18631 p=2"),
    published("paper_hs15_18631", "packed", HS15, 424.0, Some(3.5)),
    published("paper_hs15_21845", "packed", HS15, 320.0, Some(3.4)),
    published("paper_hs15_28679", "packed", HS15, 465.0, Some(3.5)),
    published("paper_hs15_35113", "packed", HS15, 1531.0, Some(8.2)),
    published("paper_hs15_45551", "packed", HS15, 3870.0, Some(14.8)),
    published("paper_hs15_51319", "packed", HS15, 2635.0, Some(39.9)),
    published("paper_hs15_42799", "packed", HS15, 10807.0, Some(15.6)),
    published("paper_hs15_49981", "packed", HS15, 17448.0, Some(21.6)),
    published("paper_hs18_49981", "packed", "Halevi–Shoup 2018", 1413.0, None),
    chen_han("paper_ch18_n16384_p127", "thin", [23, 10], (57.0, 6.75, 2.0)),
    chen_han("paper_ch18_n16384_p257", "thin", [22, 7], (59.0, 10.8, 2.0)),
    chen_han("paper_ch18_n32768_p127_r2", "thin", [25, 11], (59.0, 30.2, 2.0)),
    chen_han("paper_ch18_n32768_p127_r3", "thin", [20, 6], (257.0, 34.5, 8.9)),
    chen_han("paper_ch18_n32768_p257", "thin", [31, 15], (207.0, 36.8, 7.4)),
    chen_han("paper_ch18_n32768_p257_r2", "thin", [23, 7], (196.0, 42.1, 7.4)),
    chen_han("paper_ch18_n16384_p127", "packed", [24, 7], (193.0, 2027.0, 8.9)),
    chen_han("paper_ch18_n16384_p257", "packed", [22, 4], (242.0, 1381.0, 7.5)),
    chen_han("paper_ch18_n32768_p127_r2", "packed", [32, 12], (658.0, 21295.0, 27.6)),
    chen_han("paper_ch18_n32768_p257_r2", "packed", [23, 6], (732.0, 11753.0, 26.6)),
    ma("paper_ma24_set1_p65537", "thin", 23.4, 31.0, [542.0, 446.0]),
    ma("paper_ma24_set3_p131071", "thin", 24.1, 23.6, [519.0, 415.0]),
];

/// The authors' code for set II ran on some of our machines; other figures are as published. What
/// the code leaves packed is after the maps to the coefficients, which end its refresh.
pub const MA_SETS: [Peer; 6] = [
    authors("thin", 9.4, [597.0, 513.0]),
    authors("packed", 12.7, [459.0, 447.0]),
    ma("paper_ma24_set2_p8191", "thin", 21.6, 8.8, [597.0, 513.0]),
    ma("paper_ma24_set2_p8191", "packed", 86.0, 11.8, [534.0, 447.0]),
    ma("paper_ma24_set1_p65537", "packed", 32.0, 31.0, [543.0, 447.0]),
    ma("paper_ma24_set3_p131071", "packed", 40.0, 23.6, [470.0, 366.0]),
];

/// As published, the faster of radix-2 and Bruun: what is left is the capacity at first less that of the maps to the slots
/// and of the digits; net is what Tables 4 and 5 call remaining, where the next maps to the
/// coefficients and 15 to 20 bits more are taken off.
const fn ma(preset: &'static str, mode: &'static str, seconds: f64, gigabytes: f64, [left, net]: [f64; 2]) -> Peer {
    Peer { left: Some(left), net: Some(net), ..published(preset, mode, MA24, seconds, Some(gigabytes)) }
}

/// The patch of Ma et al. for HElib, radix-2; net as published (packed by Bruun's stages, which the
/// code took).
const fn authors(mode: &'static str, gigabytes: f64, [left, net]: [f64; 2]) -> Peer {
    let peer = recorded("paper_ma24_set2_p8191", mode, "authors' code", gigabytes, "m=65536 p=8191");
    Peer { left: Some(left), net: Some(net), ..peer }
}

const fn helib(preset: &'static str, mode: &'static str, gigabytes: f64, same_core: &'static str) -> Peer {
    recorded(preset, mode, HELIB, gigabytes, same_core)
}

/// What only the record of peers has times of.
const fn recorded(
    preset: &'static str,
    mode: &'static str,
    what: &'static str,
    gigabytes: f64,
    same_core: &'static str,
) -> Peer {
    let peer = published(preset, mode, what, f64::NAN, Some(gigabytes));
    Peer { seconds: None, same_core: Some(same_core), ..peer }
}

//! The tables of papers that say what each part of a bootstrapping took, with ours beside them.

use super::circuit::Asked;
use super::failure;
use super::figures::{Measured, StageFigure, net_bits, parts, sums};
use super::lambda;
use crate::page::{Table, or_dash, seconds};
use crate::record::model;

/// A column of a paper's table. What the paper does not state is missing.
#[derive(Clone, Copy)]
struct Published {
    preset: &'static str,
    mode: &'static str,
    /// The method, where the paper compares several.
    method: &'static str,
    setup: Option<f64>,
    times: Seconds,
    /// Capacity before the maps, spent by those to the slots and to the coefficients and by the
    /// digits, and net: what is left of the rest for circuits.
    bits: Option<[f64; 5]>,
    gigabytes: Option<f64>,
}

/// Seconds of the parts.
#[derive(Clone, Copy)]
struct Seconds {
    to_slots: Option<f64>,
    to_coefficients: Option<f64>,
    /// Both maps.
    maps: f64,
    digits: Option<f64>,
    total: f64,
}

/// Halevi–Shoup 2015, Tables 1 and 2: seconds to make ready, of both maps, of the digits and of all,
/// and gigabytes.
const fn hs15(preset: &'static str, [setup, maps, digits, total, gigabytes]: [f64; 5]) -> Published {
    let times = Seconds { to_slots: None, to_coefficients: None, maps, digits: Some(digits), total };
    Published { preset, mode: "packed", method: "", setup: Some(setup), times, bits: None, gigabytes: Some(gigabytes) }
}

const HS15: [Published; 8] = [
    hs15("paper_hs15_21845", [177.0, 127.0, 193.0, 320.0, 3.4]),
    hs15("paper_hs15_18631", [248.0, 131.0, 293.0, 424.0, 3.5]),
    hs15("paper_hs15_28679", [224.0, 123.0, 342.0, 465.0, 3.5]),
    hs15("paper_hs15_35113", [694.0, 325.0, 1206.0, 1531.0, 8.2]),
    hs15("paper_hs15_45551", [1148.0, 735.0, 3135.0, 3870.0, 14.8]),
    hs15("paper_hs15_51319", [2787.0, 774.0, 1861.0, 2635.0, 39.9]),
    hs15("paper_hs15_42799", [1202.0, 2265.0, 8542.0, 10807.0, 15.6]),
    hs15("paper_hs15_49981", [1533.0, 2834.0, 14616.0, 17448.0, 21.6]),
];

/// Halevi–Shoup 2018, Table 5: seconds of both maps and of all.
const fn hs18(mode: &'static str, method: &'static str, [maps, total]: [f64; 2]) -> Published {
    let times = Seconds { to_slots: None, to_coefficients: None, maps, digits: None, total };
    Published { preset: "paper_hs18_49981", mode, method, setup: None, times, bits: None, gigabytes: None }
}

const HS18: [Published; 4] = [
    hs18("thin", "old maps", [428.76, 474.18]),
    hs18("thin", "new maps", [36.17, 80.31]),
    hs18("packed", "old maps", [804.30, 2120.05]),
    hs18("packed", "new maps", [102.65, 1413.02]),
];

/// Ma et al. 2024, Tables 4 and 5: bits at first, spent by the maps to the slots and to the
/// coefficients and by the digits, and remaining; seconds of the three and of all; gigabytes.
const fn ma24(
    [preset, mode, method]: [&'static str; 3],
    bits: [f64; 5],
    [to_slots, to_coefficients, digits, total]: [f64; 4],
    gigabytes: f64,
) -> Published {
    let times = Seconds {
        to_slots: Some(to_slots),
        to_coefficients: Some(to_coefficients),
        maps: to_slots + to_coefficients,
        digits: Some(digits),
        total,
    };
    Published { preset, mode, method, setup: None, times, bits: Some(bits), gigabytes: Some(gigabytes) }
}

const I: &str = "paper_ma24_set1_p65537";
const II: &str = "paper_ma24_set2_p8191";
const III: &str = "paper_ma24_set3_p131071";

const MA24: [Published; 16] = [
    ma24([I, "thin", "baseline"], [941.0, 62.0, 39.0, 265.0, 556.0], [320.0, 58.0, 6.0, 385.0], 398.0),
    ma24([I, "thin", "theirs"], [941.0, 134.0, 79.0, 265.0, 446.0], [12.8, 4.4, 5.9, 23.4], 31.0),
    ma24([II, "thin", "baseline"], [947.0, 56.0, 33.0, 232.0, 610.0], [53.0, 11.2, 5.9, 71.0], 52.0),
    ma24([II, "thin", "Bruun"], [947.0, 119.0, 70.0, 231.0, 511.0], [15.1, 3.9, 6.1, 26.0], 9.7),
    ma24([II, "thin", "radix-2"], [947.0, 118.0, 69.0, 232.0, 513.0], [11.8, 3.2, 6.0, 21.6], 8.8),
    ma24([III, "thin", "baseline"], [939.0, 64.0, 39.0, 277.0, 540.0], [170.0, 33.0, 6.1, 209.0], 201.0),
    ma24([III, "thin", "Bruun"], [939.0, 144.0, 85.0, 276.0, 415.0], [16.4, 5.0, 5.7, 27.0], 24.1),
    ma24([III, "thin", "radix-2"], [939.0, 143.0, 85.0, 277.0, 415.0], [14.0, 3.9, 5.7, 24.1], 23.6),
    ma24([I, "packed", "baseline"], [941.0, 62.0, 38.0, 265.0, 557.0], [316.0, 316.0, 6.1, 639.0], 398.0),
    ma24([I, "packed", "theirs"], [941.0, 134.0, 78.0, 264.0, 447.0], [12.7, 12.8, 5.8, 32.0], 31.0),
    ma24([II, "packed", "baseline"], [947.0, 58.0, 36.0, 297.0, 541.0], [1017.0, 1015.0, 49.0, 2082.0], 744.0),
    ma24([II, "packed", "Bruun"], [947.0, 120.0, 72.0, 293.0, 447.0], [19.0, 18.8, 48.0, 86.0], 11.8),
    ma24([II, "packed", "radix-2"], [947.0, 129.0, 80.0, 295.0, 428.0], [23.4, 20.9, 48.0, 93.0], 13.6),
    ma24([III, "packed", "baseline"], [939.0, 65.0, 39.0, 326.0, 489.0], [1624.0, 1625.0, 12.2, 3261.0], 392.0),
    ma24([III, "packed", "Bruun"], [939.0, 143.0, 84.0, 327.0, 366.0], [16.1, 15.9, 11.7, 44.0], 24.1),
    ma24([III, "packed", "radix-2"], [939.0, 143.0, 84.0, 326.0, 366.0], [14.1, 14.0, 11.9, 40.0], 23.6),
];

/// Presets and modes that have a published time.
#[cfg(test)]
pub fn places() -> impl Iterator<Item = (&'static str, &'static str)> {
    HS15.iter().chain(&HS18).chain(&MA24).map(|row| (row.preset, row.mode))
}

/// A section for each paper.
pub fn sections(all: &[Measured]) -> String {
    let of_2015 = "Theirs on one core of an Intel X5570 of 2.93 GHz (2010), NTL of that time; packed is their only\n\
                   mode. Security by their estimate 76 to 161 bits. With `front end near-prime-power` ours has their\n\
                   decryption formula, but not their number of digits: the bound that holds at 2^−128 asks for 9\n\
                   digits (p = 2), 3 (17), 3 (127) and 16 (2^8), where they extract 7 (35113: 8), 3, 2 and 20\n\
                   ([records](bootstrapping.md)). `--formula-2015` takes their e, e', α and t.";
    let of_2018 = "Theirs on an Intel Xeon E5-2698 v3 of 2.3 GHz. p = 2, so one bit in a thin slot.";
    let of_2024 = "Theirs are HElib with their patch, on their machine; our sets have their n and log2 Q and keys of\n\
                   weight 120. \"Baseline\" is theirs of a map in one stage, which ours takes for `--partition single`\n\
                   where memory allows (set II, thin; [records](bootstrapping.md)). Capacity is bits of theirs and\n\
                   bits of ours: both count log2 of modulus over noise. Their \"remaining\" is net: the capacity at first\n\
                   less all three stages is 15 to 20 bits more in each column, so the maps to the coefficients of the\n\
                   next refresh are taken off. \"Left\" of theirs is therefore computed: the\n\
                   capacity at first less the maps to the slots and the digits (their code leaves 597 bits of set II,\n\
                   thin, radix-2: 947 − 118 − 232; packed it ends with the maps to the coefficients and leaves 459,\n\
                   where 947 − 120 − 293 − 72 of the paper is 462). Net a second is their throughput.";
    [
        section("Halevi–Shoup 2015, Tables 1 and 2", of_2015, &HS15, all),
        section("Halevi–Shoup 2018, Table 5", of_2018, &HS18, all),
        section("Ma et al. 2024, Tables 4 and 5", of_2024, &MA24, all),
        sets_of_2024(all),
    ]
    .concat()
}

/// Ma et al. 2024, Tables 2 and 3: λ of the main key, weight and λ of the ephemeral one; where merged
/// stages begin, from 1, and end.
const SETS: [(&str, [f64; 3], &str, &str); 3] = [
    (I, [81.13, 26.0, 134.4], "1,6,12,16", "1,6,12,16"),
    (II, [81.13, 24.0, 129.8], "1,5,9,13; Bruun 1,6,10,13", "1,5,9,13; Bruun 1,5,10,13"),
    (III, [81.13, 26.0, 133.81], "1,6,10,15; Bruun 1,7,12,15", "1,6,10,15; Bruun 1,7,12,15"),
];

fn sets_of_2024(all: &[Measured]) -> String {
    let columns =
        ["preset", "λ: theirs, ours", "weight of the ephemeral key", "its λ", "their partition, thin", "packed"];
    let mut table = Table::new(columns.into_iter().chain(["ours, thin: to the coefficients; to the slots"]));
    for (preset, [security, weight, ephemeral], thin, packed) in SETS {
        let newest = all.iter().rfind(|one| (&*one.of.preset, &*one.of.mode) == (preset, "thin") && is_plain(one));
        let Some((one, circuit)) = newest.and_then(|one| Some((one, one.of.circuit.as_ref()?))) else { continue };
        let [main, own] = lambda::of(&one.of).map(|bits| (10.0 * bits).floor() / 10.0);
        let ends = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        table.row([
            preset.to_owned(),
            format!("{security}, {main:.1}"),
            format!("{weight}, {}", circuit.ephemeral_weight),
            format!("{ephemeral}, {own:.1}"),
            thin.to_owned(),
            packed.to_owned(),
            format!("{}; {}", ends(&circuit.to_coefficients), ends(&circuit.to_slots)),
        ]);
    }
    if table.is_empty() {
        return String::new();
    }
    format!(
        "\n### Their Tables 2 and 3\n\nλ of theirs as published, without rotations of the ring; of ours with them\n\
         ([attacks](../explanation/attacks.md)). Their partitions say where merged stages begin, counted from 1, and\n\
         end; ours after how many elementary stages each one ends.\n\n{table}"
    )
}

fn is_plain(one: &Measured) -> bool {
    one.of.asked() == Asked::default()
}

fn section(title: &str, story: &str, rows: &[Published], all: &[Measured]) -> String {
    let columns = ["preset", "mode", "whose", "set-up s", "to slots s", "to coefficients s", "both maps s", "digits s"];
    let more = ["total s", "bits at first", "to slots, to coefficients, digits", "left", "net", "net a second"];
    let mut table = Table::new(columns.into_iter().chain(more).chain(["GB"]));
    for (place, published) in rows.iter().enumerate() {
        table.row(published.row());
        // Ours stands once below all methods of the paper.
        let next = rows.get(place + 1);
        if next.is_none_or(|next| (next.preset, next.mode) != (published.preset, published.mode)) {
            ours(all, published).into_iter().for_each(|ours| table.row(own_row(ours)));
        }
    }
    format!(
        "\n## {title}\n\n{story}\nOne thread; ours is the newest record of today's chain in the planner's own circuit, on the core\n\
         that it names (machines differ), and below it circuits with choices of the papers, by what was\n\
         asked for. No row of ours: not measured under today's chain.\n\n{table}"
    )
}

/// On one thread in BGV, as all of theirs: the last in the planner's own circuit, then the last of
/// each other request, if it is on the same kind of core.
fn ours<'a>(all: &'a [Measured], beside: &Published) -> Vec<&'a Measured> {
    let place = (beside.preset, beside.mode, "BGV", 1);
    let same = |one: &&Measured| (&*one.of.preset, &*one.of.mode, &*one.of.scheme, one.threads) == place;
    let Some(own) = all.iter().rfind(|one| same(one) && is_plain(one)) else { return Vec::new() };
    let mut found = vec![own];
    for other in all.iter().rev().filter(|one| same(one) && one.cpu == own.cpu) {
        if found.iter().all(|one| one.of.asked() != other.of.asked()) {
            found.push(other);
        }
    }
    found
}

impl Published {
    fn row(&self) -> [String; 15] {
        let Seconds { to_slots, to_coefficients, maps, digits, total } = self.times;
        let whose = if self.method.is_empty() { "paper".to_owned() } else { format!("paper, {}", self.method) };
        let some = |time: Option<f64>| time.map_or_else(|| or_dash(None, 0), seconds);
        let [first, spent, left, net, pace] = match self.bits {
            Some([first, there, back, digits, net]) => {
                let (spent, left) = (format!("{there}, {back}, {digits}"), first - there - digits);
                [first.to_string(), spent, left.to_string(), net.to_string(), per_second(net, total)]
            }
            None => [(); 5].map(|()| or_dash(None, 0)),
        };
        [
            self.preset.into(),
            self.mode.into(),
            whose,
            some(self.setup),
            some(to_slots),
            some(to_coefficients),
            seconds(maps),
            some(digits),
            seconds(total),
            first,
            spent,
            left,
            net,
            pace,
            or_dash(self.gigabytes, 1),
        ]
    }
}

/// The kind of core, and what was asked for beside it.
fn ours_by(ours: &Measured) -> String {
    let core = format!("ours, {}", model(&ours.cpu));
    let all = [core].into_iter().chain(ours.of.asked().differences()).chain(failure::words(&ours.of));
    all.collect::<Vec<_>>().join(", ")
}

/// Net bits of capacity by each second: what the paper calls throughput.
fn per_second(net: f64, total: f64) -> String {
    let pace = net / total;
    format!("{pace:.*}", if pace < 10.0 { 2 } else { 0 })
}

fn own_row(ours: &Measured) -> [String; 15] {
    let of = &ours.of;
    let [back, _, there, digits] = parts(ours);
    let spent = |stage: &StageFigure| stage.capacity_before - stage.capacity_after;
    let [back_bits, _, there_bits, digit_bits] = sums(ours, spent);
    [
        of.preset.clone(),
        of.mode.clone(),
        ours_by(ours),
        seconds(of.setup_seconds()),
        seconds(there),
        seconds(back),
        seconds(there + back),
        seconds(digits),
        seconds(ours.median_s),
        of.stages.iter().map(|stage| stage.capacity_after).fold(0.0, f64::max).round().to_string(),
        format!("{there_bits:.0}, {back_bits:.0}, {digit_bits:.0}"),
        format!("{:.0}", of.capacity_out),
        format!("{:.0}", net_bits(ours)),
        per_second(net_bits(ours), ours.median_s),
        format!("{:.1}", of.gigabytes()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text above the table says it: what they call remaining has the next maps to the
    /// coefficients taken off, and their throughput is that a second.
    #[test]
    fn what_ma_et_al_call_remaining_is_net() {
        let throughputs = [1.45, 19.0, 8.6, 20.0, 23.8, 2.6, 15.1, 17.2, 0.87, 14.1, 0.26, 5.2, 4.6, 0.15, 8.3, 9.1];
        let mut rest = Vec::new();
        for (row, stated) in MA24.iter().zip(throughputs) {
            let [first, there, back, digits, net] = row.bits.unwrap();
            rest.push(first - there - back - digits - net);
            let pace = net / row.times.total;
            assert!((pace / stated - 1.0).abs() < 0.03, "{} {}: {pace} for {stated}", row.preset, row.method);
        }
        assert!(rest.iter().all(|bits| (15.0..=20.0).contains(bits)), "{rest:?}");
    }
}

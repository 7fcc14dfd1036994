//! Rows without a measurement under today's presets.

use windlass::Scheme;
use windlass::bootstrap::{Mode, bootstrap_preset_names};

use super::circuit::Asked;
use super::figures::{Measured, Place};
use super::records::{LeftOut, Records};
use super::todays::Presets;
use crate::page::Table;

/// What was not measured, and why, as far as a record says it.
pub fn section(all: &Records, presets: &Presets) -> String {
    let todays = presets.of(&all.measured);
    let mut table = Table::new(["preset", "mode", "schemes", "why"]);
    for (preset, mode) in bootstrap_preset_names().flat_map(|name| [(name, Mode::Thin), (name, Mode::Packed)]) {
        if preset.starts_with("insecure") {
            continue;
        }
        let place =
            |scheme: Scheme| Place { preset: preset.into(), mode: mode.to_string(), scheme: scheme.to_string() };
        let missing = [Scheme::Bgv, Scheme::Bfv].map(place).into_iter().filter(|place| !has(&todays, place));
        let missing: Vec<(Place, String)> =
            missing.map(|place| (place.clone(), reason(all, presets, &place))).collect();
        for of_one_reason in missing.chunk_by(|a, b| a.1 == b.1) {
            let schemes: Vec<&str> = of_one_reason.iter().map(|(place, _)| &*place.scheme).collect();
            table.row([preset.to_owned(), mode.to_string(), schemes.join(", "), of_one_reason[0].1.clone()]);
        }
    }
    if table.is_empty() {
        return String::new();
    }
    format!(
        "\n## Not measured\n\n\
         Presets as they are today in the planner's own circuit on one thread: rows without a figure on any\n\
         core.\n\n{table}"
    )
}

fn has(todays: &[Measured], place: &Place) -> bool {
    todays.iter().any(|one| one.threads == 1 && one.of.place() == *place && one.of.asked() == Asked::default())
}

/// By the last line about it.
fn reason(all: &Records, presets: &Presets, place: &Place) -> String {
    let is_it = |line: &&LeftOut| line.place == *place && line.asked.is_empty() && presets.has(line);
    match all.left_out.iter().rfind(is_it) {
        Some(line) => {
            format!("{} ({}, {})", line.left_out.replace('|', "/"), crate::record::model(&line.cpu), line.date)
        }
        None => "not run".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::todays;
    use super::*;

    #[test]
    fn what_was_not_measured_is_listed_with_its_reason() {
        let presets = Presets::todays().unwrap();
        let line = |scheme: &str, moduli: String| LeftOut {
            left_out: "takes more than 3.0 GiB of memory".into(),
            place: Place { preset: "paper_hs15_49981".into(), mode: "packed".into(), scheme: scheme.into() },
            asked: Vec::new(),
            moduli,
            cpu: "AMD (family 1, model 2)".into(),
            date: "2026-11-27".into(),
            build: "0123".into(),
        };
        let moduli = todays::moduli("paper_hs15_49981").unwrap();
        let left_out = vec![line("BGV", moduli), line("BFV", "Q 2x50".into())];
        let text = section(&Records { left_out, ..Records::default() }, &presets);
        let row =
            "| paper_hs15_49981 | packed | BGV | takes more than 3.0 GiB of memory (family 1, model 2, 2026-11-27) |";
        assert!(text.contains(row), "{text}");
        // That of another chain says nothing.
        assert!(text.contains("| paper_hs15_49981 | packed | BFV | not run |"), "{text}");
        assert!(
            text.contains("| paper_hs15_49981 | thin | BGV, BFV | not run |") && !text.contains("insecure"),
            "{text}"
        );
    }

    #[test]
    fn what_was_measured_is_not_listed() {
        let presets = Presets::todays().unwrap();
        let all = super::super::records::Records::committed();
        let text = section(&all, &presets);
        for one in presets.of(&all.measured).iter().filter(|one| one.threads == 1 && one.of.asked() == Asked::default())
        {
            let Place { preset, mode, scheme } = one.of.place();
            let row = text.lines().find(|line| line.starts_with(&format!("| {preset} | {mode} |")));
            assert!(row.is_none_or(|row| !row.split(" | ").nth(2).unwrap().contains(&scheme)), "{row:?}");
        }
    }
}

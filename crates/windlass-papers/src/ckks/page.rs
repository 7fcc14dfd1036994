//! The page of stages against their floor, from records of refreshes of CKKS.

use std::fmt::Write as _;

use super::figures::{Input, Measured, Stage, Work};
use super::reach;
use crate::page::{Table, first_seen, or_dash, seconds};
use crate::plot::{BLUE, Drawn, OCHRE, PointPlot, Row};

const HEAD: &str = "# Refreshes of CKKS: where the time goes\n\n\
     How far is each stage of a refresh from the least that its transforms and its bytes allow? Made by\n\n\
     ```sh\n\
     windlass-bench bootstrap --family ckks --record FILE.. --page FILE --plot FILE\n\
     ```\n\n\
     from the records `ckks-*.jsonl` in `crates/windlass-bench/record`. The same command with `--preset NAME --runs 3\n\
     --record FILE` measures a row. Every result was decrypted and compared with the message; the bits are those of\n\
     the errors. Seconds are those of the median refresh: of the processor on one thread, of the clock on several.\n\
     The load is the load average of the minute in which a row ended. Above 1, other programs ran beside it: then\n\
     refreshes and speeds differ between rows by a third and more.\n\n\
     **The floor** of a stage is the time of its transforms plus the time that reading its keys and constants takes,\n\
     one after the other. Both speeds were measured in the same process, after the refreshes: a transform of one row\n\
     of n words, several times in a row with each prime, and a sum over a quarter of a gigabyte. Transforms, bytes\n\
     and the products of rows were counted by the kernels while the stages ran. The floor leaves out base\n\
     conversions, products with keys and constants, and all passes over rows in memory. On several threads both sines\n\
     run side by side, and the first of them has the figures of both.\n\n\
     **Conversions** are multiply-adds of one row in base conversions, and the seconds that they would take at the\n\
     speed of a conversion whose rows are in the first-level cache.\n\n\
     The other page on these refreshes has [other libraries beside them](ckks-refreshes.md).\n\n\
     ![Seconds of each stage beside its floor](ckks-stages.svg)\n";

/// The page.
pub fn text(all: &[Measured]) -> String {
    let mut out = String::from(HEAD);
    for cpu in first_seen(all.iter().map(|one| one.cpu.as_str())) {
        let rows: Vec<&Measured> = all.iter().filter(|one| one.cpu == cpu).collect();
        let _ = write!(out, "\n## {cpu}\n\n{}", sets(&rows));
        let goals = reach::goals(&rows).table();
        if !goals.is_empty() {
            let _ = write!(out, "\n### Reach\n\n{goals}");
        }
        for one in rows {
            let _ = write!(out, "\n### {}\n\n{}\n{}", title(one), speeds(one), stages(one));
        }
    }
    out
}

/// What a row is of, in words.
fn title(one: &Measured) -> String {
    let of = &one.of;
    let input = match (of.input, of.together) {
        (Input::Complex, 1) => "complex slots".into(),
        (Input::Complex, count) => format!("{count} ciphertexts of complex slots in one call"),
        (Input::RealPair, 1) => "two real vectors".into(),
        (Input::RealPair, count) => format!("{} real vectors in one call", 2 * count),
    };
    let threads = if one.threads == 1 { String::new() } else { format!(", {} threads", one.threads) };
    format!("`{}`, {input}{threads}", of.preset)
}

fn sets(rows: &[&Measured]) -> Table {
    let mut table = Table::new([
        "set",
        "day",
        "slots",
        "seconds: median (least), runs",
        "floor",
        "times the floor",
        "right bits: mean, worst, stated",
        "bits left",
        "λ",
        "keys, constants (GB)",
        "peak (GB)",
        "plan, keys, constants (s)",
        "load",
    ]);
    for one in rows {
        let of = &one.of;
        let floor: f64 = of.stages.iter().map(|stage| stage.floor_seconds).sum();
        table.row([
            title(one),
            of.date.clone(),
            format!("2^{}", of.slots.ilog2()),
            format!("{} ({}), {}", seconds(one.median_s), seconds(one.min_s), one.rounds.unwrap_or(1)),
            seconds(floor),
            format!("{:.2}", one.median_s / floor),
            format!("{:.1}, {:.1}, {:.1}", of.mean_bits, of.worst_bits, of.stated_bits),
            format!("{:.0}", of.bits_left),
            format!("{:.0}, {:.0}", of.security_bits.floor(), of.ephemeral_security_bits.floor()),
            format!("{:.1}, {:.1}", of.key_bytes as f64 / 1e9, of.constant_bytes as f64 / 1e9),
            format!("{:.1}", of.peak_mebibytes * 1.048_576e-3),
            format!("{:.0}, {:.0}, {:.0}", of.plan_seconds, of.key_seconds, of.constant_seconds),
            or_dash(of.load, 1),
        ]);
    }
    table
}

fn speeds(one: &Measured) -> String {
    let speeds = &one.of.speeds;
    format!(
        "A transform of a row: {:.0} µs. A multiply-add of a row in cache: {:.1} µs. Memory: {:.1} GB/s.\n",
        speeds.transform_seconds * 1e6,
        speeds.conversion_seconds * 1e6,
        speeds.bytes_per_second / 1e9
    )
}

/// Every stage, and all of them together.
fn stages(one: &Measured) -> Table {
    let mut table = Table::new([
        "stage",
        "seconds",
        "floor",
        "times the floor",
        "transforms: number, seconds",
        "keys and constants: GB, seconds",
        "conversions: number, seconds",
        "products of rows: keys, constants",
    ]);
    let cells = |name: String, time: f64, work: &Work| {
        let speeds = &one.of.speeds;
        let [transforms, bytes] = speeds.floors(work);
        let floor = transforms + bytes;
        let gigabytes = (work.key_bytes + work.constant_bytes) as f64 / 1e9;
        let conversions = work.conversions as f64 * speeds.conversion_seconds;
        [
            name,
            seconds(time),
            seconds(floor),
            if floor > 0.0 { format!("{:.2}", time / floor) } else { or_dash(None, 2) },
            format!("{}, {}", work.transforms, seconds(transforms)),
            format!("{gigabytes:.2}, {}", seconds(bytes)),
            format!("{}, {}", work.conversions, seconds(conversions)),
            format!("{}, {}", work.key_products, work.constant_products),
        ]
    };
    let name = |stage: &Stage| match stage.times {
        1 => stage.name.clone(),
        times => format!("{}, {times} times", stage.name),
    };
    for stage in &one.of.stages {
        table.row(cells(name(stage), stage.seconds, &stage.work));
    }
    let time = one.of.stages.iter().map(|stage| stage.seconds).sum();
    let work = one.of.stages.iter().fold(Work::default(), |sum, stage| sum.plus(&stage.work));
    table.row(cells("all".into(), time, &work));
    table
}

/// Every stage of the sets, one complex ciphertext on one thread, beside its floor.
///
/// # Errors
/// If no record is of such a refresh.
pub fn plot(all: &[Measured]) -> Drawn {
    let is_shown = |one: &&Measured| (one.threads, one.of.together, one.of.input) == (1, 1, Input::Complex);
    let row = |preset: &str, stage: &Stage| Row {
        name: format!("{}: {}", preset.trim_start_matches("refresh_"), short(&stage.name)),
        marks: vec![(stage.floor_seconds, OCHRE), (stage.seconds, BLUE)],
        remark: format!("{:.1}×", stage.seconds / stage.floor_seconds),
    };
    let rows = all.iter().filter(is_shown).flat_map(|one| one.of.stages.iter().map(|stage| row(&one.of.preset, stage)));
    PointPlot {
        title: "Stages of refreshes of CKKS beside the floor of their transforms and bytes".into(),
        x: "seconds on one thread".into(),
        legend: [("measured", BLUE), ("floor", OCHRE)].map(|(name, colour)| (name.into(), colour)).into(),
        rows: rows.collect(),
    }
    .svg()
}

/// The name of a stage, short enough for the plot.
fn short(name: &str) -> String {
    name.replace("coefficients to slots", "to slots").replace("slots to coefficients", "to coeff.")
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::super::figures;
    use super::*;

    fn committed() -> Vec<Measured> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../windlass-bench/record");
        let folders = std::fs::read_dir(root).unwrap();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
        let is_one = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("ckks-");
        let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).filter(is_one).collect();
        paths.sort();
        figures::read(&paths).unwrap()
    }

    #[test]
    fn the_page_shows_the_records() {
        let all = committed();
        assert_eq!(include_str!("../../../../docs/records/ckks-stages.md"), text(&all));
        assert_eq!(include_str!("../../../../docs/records/ckks-stages.svg"), plot(&all).unwrap());
    }

    /// A floor is that of its own counts and speeds, and the stages are all of the refresh.
    #[test]
    fn every_row_adds_up() {
        for one in committed() {
            for stage in &one.of.stages {
                let floor: f64 = one.of.speeds.floors(&stage.work).into_iter().sum();
                assert!((floor - stage.floor_seconds).abs() <= 1e-9 * floor, "{}: {}", one.of.preset, stage.name);
                // On several threads both sines are in the first of their stages.
                let is_counted = one.threads > 1 && stage.name.starts_with("sine") || stage.work.transforms > 0;
                assert!(is_counted, "{}: {}", one.of.preset, stage.name);
            }
            let whole: f64 = one.of.stages.iter().map(|stage| stage.seconds).sum();
            assert!((whole / one.median_s - 1.0).abs() < 0.01, "{}: {whole} of {}", one.of.preset, one.median_s);
            assert!(one.of.worst_bits >= one.of.stated_bits, "{}", one.of.preset);
        }
    }

    /// Two threads and batches are compared with rows of the same set alone.
    #[test]
    fn goals_are_those_that_were_asked_for() {
        let mut one = committed().into_iter().find(|one| one.of.preset == "refresh_n65536").unwrap();
        (one.cpu, one.threads, one.of.together) = ("AMD EPYC (family 25, model 1)".into(), 1, 1);
        (one.of.input, one.median_s, one.of.total_seconds, one.of.key_bytes) =
            (Input::Complex, 4.0, 4.0, 2_000_000_000);
        let mut two = one.clone();
        (two.threads, two.median_s, two.of.total_seconds) = (2, 2.4, 2.4);
        let mut eight = one.clone();
        (eight.of.together, eight.median_s, eight.of.total_seconds) = (8, 24.0, 24.0);
        let mut other = two.clone();
        (other.of.preset, other.of.total_seconds) = ("refresh_n32768".into(), 0.1);
        let table = reach::goals(&[&one, &two, &eight, &other]).table().to_string();
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(rows.len(), 4, "{rows:?}");
        assert!(rows[0].ends_with("| 7.00 | ≥ 7 | met |") && rows[1].ends_with("| 2.00 | ≤ 2 | met |"), "{rows:?}");
        assert!(rows[2].ends_with("| 1.67 | ≥ 1.7 | not met |"), "{rows:?}");
        assert!(rows[3].ends_with("| 0.75 | ≤ 0.75 | met |"), "{rows:?}");
        one.cpu = "another".into();
        assert!(reach::goals(&[&one]).table().to_string().lines().skip(2).all(|row| row.contains("GB of keys")));
    }
}

//! `windlass-bench bootstrap --all`: every preset, thin and packed, in both schemes, each in a
//! separate process, whose memory is freed when it ends.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Parser;
use windlass::bootstrap::{BootstrapPreset, Mode, bootstrap_preset_names};

use super::circuit::Asked;
use super::figures::Place;
use super::reach::{Build, Outcome};
use super::records::{LeftOut, Records};
use super::request::{self, Bootstrap, Every};
use super::table::Table;
use super::todays;
use crate::{machine, record};

/// What a row may take.
struct Limits {
    mebibytes: f64,
    time: Duration,
}

/// One row to measure: the planner's own circuit, or one with choices of a paper.
#[derive(Debug, Clone)]
struct Job {
    place: Place,
    /// Arguments beside preset, mode and scheme, and what they come to in a record.
    arguments: &'static [&'static str],
    asked: Asked,
    price: f64,
}

/// What a paper chose for its sets, or asked about (2015, §1: functions in the digit step): what their
/// names begin with, the mode if it is for one alone, and
/// arguments.
type Choice = (&'static str, Option<Mode>, &'static [&'static str]);

const CHOICES: [Choice; 13] = [
    ("paper_ma24_", None, &["--partition", "paper"]),
    ("paper_ma24_", Some(Mode::Packed), &["--order", "to-coefficients-last"]),
    ("paper_ma24_set2", None, &["--transform", "bruun", "--partition", "paper"]),
    ("paper_ma24_set3", None, &["--transform", "bruun", "--partition", "paper"]),
    ("paper_hs15_", None, &["--formula-2015"]),
    ("paper_hs15_18631", Some(Mode::Thin), &["--keys", "minimal"]),
    ("paper_hs15_18631", Some(Mode::Thin), &["--keys", "baby-giant"]),
    ("paper_hs15_18631", Some(Mode::Thin), &["--keys", "full"]),
    ("paper_hs15_35113", Some(Mode::Packed), &["--factors", "73*13,37"]),
    ("paper_hs15_51319", Some(Mode::Packed), &["--factors", "19*73,37"]),
    ("paper_hs18_49981", None, &["--front-end", "near-prime-power"]),
    ("paper_hs18_49981", None, &["--maps", "old-2018"]),
    ("boot_n32768_p127", Some(Mode::Thin), &["--table", "mixed"]),
];

/// Arguments of one process, read as the program reads its own.
#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: Bootstrap,
}

/// The arguments of a row but scheme, runs and record.
fn arguments<'a>(preset: &'a str, mode: Mode, more: &[&'a str]) -> Vec<&'a str> {
    let packed: &[&str] = if mode == Mode::Packed { &["--packed"] } else { &[] };
    [&["--preset", preset][..], packed, more].concat()
}

/// What a record of these arguments says that was asked for.
fn asked(arguments: &[&str]) -> Outcome<Asked> {
    let Line { args } = Line::try_parse_from([&["bootstrap"][..], arguments].concat())?;
    Ok(Asked::of(&request::preset(&args)?.spec, (args.weight, args.encapsulation))
        .with_table(args.table.map(Table::name)))
}

/// Measures what the record has not.
///
/// # Errors
/// A record that cannot be read or written. Rows that fail are written to it as left out.
pub fn run(args: &Every, preset: &str, runs: usize, record: &Path) -> Outcome {
    let build = Build::this()?.name()?;
    let limits = args.limits();
    println!("rows of at most {:.1} GiB and {:.0} minutes", limits.mebibytes / 1024.0, args.most_minutes);
    record::open(record)?;
    let start = Instant::now();
    let jobs = jobs(preset)?;
    let count = jobs.len();
    for (number, job) in (1..).zip(jobs) {
        if start.elapsed().as_secs_f64() > 3600.0 * args.most_hours {
            println!("{} of {count} rows were not begun: the time is over", count + 1 - number);
            break;
        }
        let known = Records::read(&[record.to_path_buf()])?;
        if job.is_in(&known, &build, args.retry) {
            continue;
        }
        println!(
            "{number} of {count}: {}",
            [&[job.place.to_string()][..], &job.asked.differences()].concat().join(", ")
        );
        match job.measure(&limits, runs, record) {
            Ok(seconds) => println!("  done in {seconds:.0} s"),
            Err(reason) => {
                println!("  left out: {reason}");
                record::append(record, &[job.left_out(reason, &build)?])?;
            }
        }
    }
    Ok(())
}

impl Every {
    fn limits(&self) -> Limits {
        let free = || machine::available_mebibytes().map_or(f64::INFINITY, |mebibytes| 0.9 * mebibytes);
        let mebibytes = self.most_gib.map_or_else(free, |gib| 1024.0 * gib);
        Limits { mebibytes, time: Duration::from_secs_f64(60.0 * self.most_minutes.clamp(0.0, 1e6)) }
    }
}

/// All rows, cheap ones first, the papers' choices after the planner's.
fn jobs(part: &str) -> Outcome<Vec<Job>> {
    let wanted = |name: &&str| !name.starts_with("insecure") && (part == "list" || name.contains(part));
    let (mut own, mut chosen) = (Vec::new(), Vec::new());
    for name in bootstrap_preset_names().filter(wanted) {
        for mode in [Mode::Thin, Mode::Packed] {
            let price = price(name, mode).map_err(|error| format!("{name}: {error}"))?;
            let job = |scheme: &str, more: &'static [&'static str]| -> Outcome<Job> {
                let place = Place { preset: name.into(), mode: mode.to_string(), scheme: scheme.into() };
                Ok(Job { place, arguments: more, asked: asked(&arguments(name, mode, more))?, price })
            };
            for scheme in ["BGV", "BFV"] {
                own.push(job(scheme, &[])?);
            }
            for &(of, only, more) in &CHOICES {
                if name.starts_with(of) && only.is_none_or(|only| only == mode) {
                    chosen.push(job("BGV", more)?);
                }
            }
        }
    }
    if own.is_empty() {
        return Err(format!("no preset has '{part}' in its name; --preset list prints the names").into());
    }
    own.sort_by(|a, b| a.price.total_cmp(&b.price));
    chosen.sort_by(|a, b| a.price.total_cmp(&b.price));
    own.extend(chosen);
    Ok(own)
}

/// Rows of residues that a refresh goes through, roughly: maps once, digits of one ciphertext or of
/// d, more of them for large p and r.
fn price(name: &str, mode: Mode) -> windlass::Result<f64> {
    let params = BootstrapPreset::named(name, mode)?.params;
    let rlwe = params.rlwe();
    let rows = (rlwe.q_primes().len() + rlwe.special_primes().len()) as f64;
    let digits = 0.3 * f64::from(params.r()) * (params.p() as f64).log2().sqrt();
    let ciphertexts = if mode == Mode::Packed { order(params.p(), rlwe.m()) } else { 1 } as f64;
    Ok(rlwe.n() as f64 * rows * rows * (1.0 + digits * ciphertexts))
}

/// The order of p modulo m: the degree of the slots.
fn order(p: u64, m: u64) -> usize {
    1 + std::iter::successors(Some(p % m), |power| Some(power * (p % m) % m)).take_while(|&power| power != 1).count()
}

impl Job {
    /// Whether a record of this machine and program has it.
    fn is_in(&self, known: &Records, build: &str, retry: bool) -> bool {
        let (cpu, asked) = (machine::cpu(), &self.asked);
        let here = (&self.place, &*cpu, Some(build));
        let measured = known.measured.iter().any(|one| {
            (&one.of.place(), &*one.cpu, one.of.build.as_deref()) == here
                && one.threads == 1
                && one.of.asked() == *asked
        });
        let given_up =
            |line: &LeftOut| (&line.place, &*line.cpu, Some(&*line.build)) == here && line.asked == asked.differences();
        measured || !retry && known.left_out.iter().any(given_up)
    }

    fn left_out(&self, left_out: String, build: &str) -> windlass::Result<LeftOut> {
        Ok(LeftOut {
            left_out,
            place: self.place.clone(),
            asked: self.asked.differences(),
            moduli: todays::moduli(&self.place.preset)?,
            cpu: machine::cpu(),
            date: machine::today(),
            build: build.into(),
        })
    }

    /// Runs the process that measures and records; how long it took, or why there are no figures.
    fn measure(&self, limits: &Limits, runs: usize, record: &Path) -> Result<f64, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let (runs, scheme) = (runs.to_string(), self.place.scheme.to_lowercase());
        let mut command = Command::new(program);
        let mode = if self.place.mode == Mode::Packed.to_string() { Mode::Packed } else { Mode::Thin };
        command.arg("bootstrap").args(arguments(&self.place.preset, mode, self.arguments));
        command.args(["--scheme", &scheme, "--runs", &runs, "--enough-seconds", "60", "--record"]).arg(record);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        watched(child, limits)
    }
}

/// Waits for a process, and ends it where it takes too much; seconds, or why it did not end well.
fn watched(mut child: Child, limits: &Limits) -> Result<f64, String> {
    let start = Instant::now();
    let mut most: f64 = 0.0;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            if status.success() {
                return Ok(start.elapsed().as_secs_f64());
            }
            let mut text = String::new();
            let _ = child.stderr.take().map(|mut pipe| std::io::Read::read_to_string(&mut pipe, &mut text));
            return Err(told(&text).unwrap_or_else(|| status.to_string()));
        }
        most = most.max(machine::resident_mebibytes(child.id()));
        let reason = if most > limits.mebibytes {
            Some(format!("takes more than {:.1} GiB of memory", limits.mebibytes / 1024.0))
        } else if start.elapsed() > limits.time {
            let minutes = limits.time.as_secs_f64() / 60.0;
            Some(format!("takes more than {minutes:.0} minutes (memory so far {:.1} GiB)", most / 1024.0))
        } else {
            None
        };
        if let Some(reason) = reason {
            // It may have ended by itself by now.
            let _ = child.kill();
            let _ = child.wait();
            return Err(reason);
        }
        sleep(Duration::from_millis(100));
    }
}

/// Why a process failed, by what it wrote: its own message, or that of a panic.
fn told(text: &str) -> Option<String> {
    let own = text.lines().find_map(|line| line.strip_prefix("windlass-bench: "));
    let panicked = || text.lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    own.or_else(panicked).or_else(|| text.lines().rfind(|line| !line.is_empty())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each choice is for some preset, and asks for something.
    #[test]
    fn choices_of_papers_are_rows_of_their_own() {
        let jobs = jobs("list").unwrap();
        for (of, only, more) in CHOICES {
            let of_it: Vec<&Job> =
                jobs.iter().filter(|job| job.place.preset.starts_with(of) && job.arguments == more).collect();
            assert!(!of_it.is_empty(), "{of} {more:?}");
            for job in of_it {
                assert!(job.asked != Asked::default() && !job.asked.differences().is_empty(), "{of} {more:?}");
                assert!(only.is_none_or(|only| only.to_string() == job.place.mode));
            }
        }
        assert!(jobs.iter().filter(|job| job.arguments.is_empty()).all(|job| job.asked == Asked::default()));
    }

    #[test]
    fn every_preset_has_four_rows_and_cheap_ones_come_first() {
        let jobs = jobs("list").unwrap();
        let own: Vec<&Job> = jobs.iter().filter(|job| job.arguments.is_empty()).collect();
        let names: Vec<&str> = bootstrap_preset_names().filter(|name| !name.starts_with("insecure")).collect();
        assert_eq!(own.len(), 4 * names.len());
        for name in names {
            assert_eq!(own.iter().filter(|job| job.place.preset == name).count(), 4, "{name}");
        }
        assert!(
            jobs[..own.len()].is_sorted_by(|a, b| a.price <= b.price)
                && jobs[..own.len()].iter().all(|job| job.arguments.is_empty())
        );
        // 100 times the work of a thin refresh, and more.
        let price = |mode: &str| {
            own.iter()
                .find(|job| job.place.preset == "paper_ch18_n32768_p127_r2" && job.place.mode == mode)
                .unwrap()
                .price
        };
        assert!(price("packed") > 50.0 * price("thin"));
        assert!(super::jobs("no such preset").is_err());
        assert_eq!((order(2, 7), order(2, 18631), order(65537, 65536)), (3, 25, 1));
    }

    #[cfg(unix)]
    #[test]
    fn processes_that_take_too_much_are_ended_with_a_reason() {
        let shell = |script: &str| Command::new("/bin/sh").args(["-c", script]).stderr(Stdio::piped()).spawn().unwrap();
        let limits = |mebibytes, seconds| Limits { mebibytes, time: Duration::from_secs_f64(seconds) };
        assert!(watched(shell("exit 0"), &limits(1e6, 60.0)).is_ok());
        let refused = watched(shell("echo 'windlass-bench: no room' >&2; exit 2"), &limits(1e6, 60.0));
        assert_eq!(refused, Err("no room".into()));
        let panicked = "thread 'main' panicked at a.rs:1:2:\nthe message survives\nstack backtrace:\n   0: x\n";
        assert_eq!(told(panicked).as_deref(), Some("the message survives"));
        let slow = watched(shell("exec sleep 60"), &limits(1e6, 0.3)).unwrap_err();
        assert!(slow.contains("minutes"), "{slow}");
        #[cfg(target_os = "linux")]
        {
            let large = watched(shell("exec sleep 60"), &limits(0.01, 60.0)).unwrap_err();
            assert!(large.contains("GiB of memory"), "{large}");
        }
    }
}

//! The report of a load test.

use std::fmt;

use serde_json::{Value, json};

use super::shared::LoadRun;
use super::tally::Counts;
use super::victim::Memory;

/// What came of a load.
#[derive(Debug, Clone)]
pub struct Report {
    /// All of it, for scripts.
    pub object: Value,
    /// Whether every row was right and every query was answered or refused.
    pub is_right: bool,
}

/// Memory may grow by this share, and this many MiB, and still be called flat.
const FLAT: (f64, f64) = (1.1, 16.0);

/// Seconds below which nothing can be said of that: everything is still filling.
const SETTLED: f64 = 60.0;

fn at(sorted: &[f32], part: f64) -> f64 {
    let place = (sorted.len() as f64 * part) as usize;
    f64::from(sorted.get(place).or(sorted.last()).copied().unwrap_or(0.0))
}

fn rounded(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

impl Report {
    pub(super) fn of(run: &LoadRun, prepared: u64, memory: Memory) -> Self {
        let Counts { mut times, found, absent, wrong, silent, errors, faults, uploads } = run.tally.counts();
        times.sort_by(f32::total_cmp);
        let seconds = run.begun.elapsed().as_secs_f64();
        let (answers, processor) = (times.len() as f64, run.victim.processor_seconds());
        let flat = (seconds >= SETTLED).then_some(memory.end <= memory.start * FLAT.0 + FLAT.1);
        let answered = faults.get("altered bodies ANSWERED").copied().unwrap_or(0);
        let found_out = [
            (!wrong.is_empty(), "rows were wrong"),
            (silent > 0, "queries got no answer and no error"),
            (answered > 0, "altered bodies were answered"),
            (flat == Some(false), "memory grew"),
            (times.is_empty(), "nothing was answered"),
        ];
        let found_out: Vec<&str> = found_out.iter().filter(|(is_so, _)| *is_so).map(|(_, what)| *what).collect();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load: Vec<f64> = load.split_whitespace().take(3).filter_map(|part| part.parse().ok()).collect();
        let plot = &run.plot;
        let object = json!({
            "command": "service",
            "clients": plot.clients,
            "seconds": rounded(seconds),
            "table": { "rows": plot.rows, "bytes": plot.bytes, "prepared_bytes": prepared, "versions": run.ledger.versions() + 1 },
            "threads": plot.threads,
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "load_average": load,
            "answers": { "found": found, "absent": absent, "wrong": wrong.len(), "silent": silent, "first_wrong": wrong.first() },
            "errors": errors,
            "faults": faults,
            "uploads": uploads,
            "milliseconds": {
                "p50": rounded(at(&times, 0.5)), "p90": rounded(at(&times, 0.9)),
                "p99": rounded(at(&times, 0.99)), "most": rounded(at(&times, 1.0)),
            },
            "answers_per_second": rounded(answers / seconds),
            "service_processor_seconds": rounded(processor),
            "answers_per_core_second": rounded(answers / processor.max(0.01)),
            "memory_mib": {
                "start": rounded(memory.start), "end": rounded(memory.end), "most": rounded(memory.most), "flat": flat,
            },
            "right": found_out.is_empty(),
            "found_out": found_out,
        });
        Self { is_right: found_out.is_empty(), object }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |path: &str| self.object.pointer(path).unwrap_or(&Value::Null).clone();
        writeln!(
            f,
            "answers       {} found, {} absent, in {} s",
            of("/answers/found"),
            of("/answers/absent"),
            of("/seconds")
        )?;
        writeln!(
            f,
            "wrong         {} rows, {} queries without any answer",
            of("/answers/wrong"),
            of("/answers/silent")
        )?;
        writeln!(f, "errors        {}", of("/errors"))?;
        writeln!(f, "faults        {}", of("/faults"))?;
        writeln!(
            f,
            "time          half in {} ms, 99 in 100 in {} ms",
            of("/milliseconds/p50"),
            of("/milliseconds/p99")
        )?;
        let (all, core) = (of("/answers_per_second"), of("/answers_per_core_second"));
        writeln!(f, "pace          {all} a second, {core} for each second of a core of the service")?;
        writeln!(f, "memory        {} MiB, {} at the end", of("/memory_mib/start"), of("/memory_mib/end"))?;
        if self.is_right {
            write!(f, "every row was right, every query answered or refused")
        } else {
            write!(f, "WRONG         {}", of("/found_out"))
        }
    }
}

//! Describes the machine of a measurement.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The processor's name.
pub fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let model = field("model name").unwrap_or_else(|| "unknown processor".into());
    match (field("cpu family"), field("model\t")) {
        (Some(family), Some(number)) => format!("{model} (family {family}, model {number})"),
        _ => model,
    }
}

/// The compiler's version, if it can be asked.
pub fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map_or_else(|| "rustc unknown".into(), |text| text.trim().to_owned())
}

/// The day in UTC, as 2026-11-27.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86400)
}

/// A day of the Gregorian calendar, counted from 1 January 1970. Years begin in March here, so that
/// a leap day is the last of its year: 400 of them are 146097 days, and five months 153.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// How busy the machine is: the load average of the last minute.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|field| field.parse().ok()).unwrap_or(f64::NAN)
}

/// How many cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// One line about processor, instruction sets, cores and compiler.
pub fn describe() -> String {
    let isas: Vec<_> = windlass_kernels::Isa::available().into_iter().map(|isa| isa.name()).collect();
    format!(
        "{}; {} cores, load {:.1}; instruction sets {}, best {}; windlass {}; {}",
        cpu(),
        cores(),
        load(),
        isas.join(", "),
        windlass_kernels::Isa::best().name(),
        env!("CARGO_PKG_VERSION"),
        rustc(),
    )
}

/// Resets the peak, so that [`peak_mebibytes`] is that of the next measurements alone. Without the
/// system's leave the peak stays that of the process.
pub fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The largest resident size since [`reset_peak`].
pub fn peak_mebibytes() -> f64 {
    mebibytes("VmHWM:")
}

/// The resident memory that no file holds.
pub fn own_mebibytes() -> f64 {
    mebibytes("RssAnon:")
}

/// The resident memory of another process; 0 where the system does not say it.
pub fn resident_mebibytes(process: u32) -> f64 {
    mebibytes_of(&format!("/proc/{process}/status"), "VmRSS:")
}

/// The memory that new processes may take, if the system says it.
pub fn available_mebibytes() -> Option<f64> {
    Some(mebibytes_of("/proc/meminfo", "MemAvailable:")).filter(|&mebibytes| mebibytes > 0.0)
}

fn mebibytes(field: &str) -> f64 {
    mebibytes_of("/proc/self/status", field)
}

fn mebibytes_of(file: &str, field: &str) -> f64 {
    let status = fs::read_to_string(file).unwrap_or_default();
    let value =
        status.lines().find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse::<f64>().ok());
    value.unwrap_or(0.0) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        let known = [(0, "1970-01-01"), (11_016, "2000-02-29"), (20_784, "2026-11-27"), (47_540, "2100-02-28")];
        for (days, expected) in known {
            assert_eq!(date(days), expected);
        }
        assert_eq!(date(47_541), "2100-03-01");
    }
}

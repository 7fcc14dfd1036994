//! What was measured on.

use std::fs;
use std::process::Command;

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

/// What stands in the last brackets of the name of a processor: its family and model.
pub fn model(cpu: &str) -> &str {
    cpu.rsplit_once('(').map_or(cpu, |(_, last)| last.trim_end_matches(')'))
}

/// The compiler's version, if it can be asked.
pub fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map_or_else(|| "rustc unknown".into(), |text| text.trim().to_owned())
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

/// Starts the peak anew, so that [`peak_mebibytes`] is that of the next measurements alone. Without
/// the system's leave the peak stays that of the process.
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

fn mebibytes(field: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value =
        status.lines().find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse::<f64>().ok());
    value.unwrap_or(0.0) / 1024.0
}

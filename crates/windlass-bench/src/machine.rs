//! What was measured on.

use std::fs;

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

/// One line about processor, instruction sets and cores.
pub fn describe() -> String {
    let isas: Vec<_> = windlass_kernels::Isa::available().into_iter().map(|isa| isa.name()).collect();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!(
        "{}; {cores} cores; instruction sets {}, best {}; windlass {}",
        cpu(),
        isas.join(", "),
        windlass_kernels::Isa::best().name(),
        env!("CARGO_PKG_VERSION"),
    )
}

/// The largest resident size so far.
pub fn peak_mebibytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<f64>().ok());
    peak.unwrap_or(0.0) / 1024.0
}

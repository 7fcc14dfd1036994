//! Which process this is.

/// The number of this process. WebAssembly in browsers has no processes: there it is 0.
#[doc(hidden)]
pub fn process_id() -> u32 {
    if cfg!(all(target_arch = "wasm32", target_os = "unknown")) { 0 } else { std::process::id() }
}

//! Keeps secret keys in memory out of core dumps, and away from debuggers of the same user.

/// No core dumps, and no debugger of the same user: secret keys are in memory. Where the system
/// refuses, nothing is lost but that.
#[cfg(target_os = "linux")]
pub fn keep_memory_private() {
    use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Does nothing on systems without it.
#[cfg(not(target_os = "linux"))]
pub fn keep_memory_private() {}

//! Nothing to do: Cargo compiles build dependencies only for a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

//! With the feature `emulated`, compiles the kernels by the C++ compiler.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels");
    #[cfg(feature = "emulated")]
    emulated();
}

#[cfg(feature = "emulated")]
fn emulated() {
    let mut build = cc::Build::new();
    build.cpp(true).cpp_link_stdlib(None).std("c++17").opt_level(2).file("kernels/emulated.cpp");
    // Products and sums are fused where the source says so, and nowhere else: the bits are those of a GPU.
    // Words of one buffer are read as integers and as doubles.
    for flag in ["-ffp-contract=off", "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti"] {
        build.flag(flag);
    }
    if let Err(error) = build.try_compile("windlass_emulated") {
        panic!(
            "the feature `emulated` of windlass-gpu needs a C++17 compiler (g++, or the one that CXX names): {error}"
        );
    }
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo::rustc-link-lib=m");
    }
}

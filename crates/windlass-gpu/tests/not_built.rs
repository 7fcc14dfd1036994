//! A build without devices says so, and so does a machine without a GPU.

#[test]
#[cfg(not(feature = "emulated"))]
fn a_build_without_the_feature_names_it() {
    let refused = windlass_gpu::Device::emulated().unwrap_err();
    assert!(refused.to_string().contains("feature `emulated`"), "{refused}");
}

#[test]
#[cfg(not(feature = "cuda"))]
fn a_build_without_cuda_names_its_feature() {
    let refused = windlass_gpu::Device::cuda(0).unwrap_err();
    assert!(refused.to_string().contains("feature `cuda`"), "{refused}");
}

/// With a driver, a compiler and a GPU number 999 nothing is missing; else the error names what is.
#[test]
#[cfg(feature = "cuda")]
fn a_machine_without_a_driver_a_compiler_or_such_a_gpu_says_what_is_missing() {
    use windlass_gpu::DeviceError::{Driver, NoCompiler, NoDriver, NoSuchDevice};
    let refused = windlass_gpu::Device::cuda(999).unwrap_err();
    assert!(matches!(refused, NoDriver | NoCompiler | NoSuchDevice { index: 999, .. } | Driver { .. }), "{refused}");
    let named = ["libcuda.so.1", "libnvrtc.so", "GPU number 999", "driver refused"];
    assert!(named.iter().any(|name| refused.to_string().contains(name)), "{refused}");
}

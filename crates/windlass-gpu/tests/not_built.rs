//! A build without devices says so.

#[test]
#[cfg(not(feature = "emulated"))]
fn a_build_without_the_feature_names_it() {
    let refused = windlass_gpu::Device::emulated().unwrap_err();
    assert!(refused.to_string().contains("feature `emulated`"), "{refused}");
}

use super::*;

#[test]
fn every_preset_is_what_its_name_says() {
    for name in preset_names() {
        let params = Params::preset(name, Scheme::Bgv).unwrap_or_else(|e| panic!("{name}: {e}"));
        let bits = params.rlwe().security().bits;
        let named = name.starts_with("insecure") || name.starts_with("paper");
        assert!(named || bits >= 128.0, "{name}: {bits}");
        assert!(params.fresh_capacity() > 0.0, "{name}");
        assert!(params.explain().contains(name));
    }
    assert!(matches!(Params::preset("nope", Scheme::Bgv), Err(Error::UnknownPreset { .. })));
}

#[test]
fn plans_are_secure_and_have_the_depth_asked_for() {
    for (p, depth, linear_maps) in [(65537, 1, 0), (65537, 0, 1), (65537, 4, 1), (2, 2, 0), (257, 3, 0)] {
        let spec = ParamSpec { p, depth, linear_maps, ..ParamSpec::default() };
        let params = Params::plan(&spec).unwrap();
        assert!(params.rlwe().security().bits >= 128.0);
        assert!(params.depth() >= depth, "{}: {}", params.name(), params.depth());
    }
}

#[test]
fn more_depth_never_takes_a_smaller_ring() {
    let dimension = |depth| Params::plan(&ParamSpec { depth, ..ParamSpec::default() }).unwrap().rlwe().n();
    let dimensions: Vec<usize> = (0..6).map(dimension).collect();
    assert!(dimensions.is_sorted(), "{dimensions:?}");
}

#[test]
fn slots_and_rings_are_as_asked() {
    let many = ParamSpec { p: 2, slots: 400, depth: 1, ..ParamSpec::default() };
    assert!(Params::plan(&many).unwrap().slot_count() >= 400);
    let ring = ParamSpec { p: 2, m: Some(18631), depth: 1, ..ParamSpec::default() };
    assert_eq!(Params::plan(&ring).unwrap().m(), 18631);
    let impossible = ParamSpec { slots: 1 << 20, ..ParamSpec::default() };
    assert!(matches!(Params::plan(&impossible), Err(Error::NoParameters { .. })));
    let weak = ParamSpec { security: 80.0, ..ParamSpec::default() };
    assert!(matches!(Params::plan(&weak), Err(Error::OutOfRange { .. })));
}

#[test]
fn the_hash_covers_what_files_depend_on() {
    let base = Params::preset("insecure_toy_256", Scheme::Bgv).unwrap();
    assert_eq!(base.id(), Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().id());
    assert_ne!(base.id(), Params::preset("insecure_toy_256", Scheme::Bfv).unwrap().id());
    assert_ne!(base.id(), Params::preset("insecure_toy_2048", Scheme::Bgv).unwrap().id());
}

#[test]
fn bad_plaintext_moduli_are_refused() {
    let spec = Params::preset("insecure_toy_105", Scheme::Bgv).unwrap().spec().clone();
    let build = |p, r| Params::new("insecure", Scheme::Bgv, (p, r), None, spec.clone());
    for (p, r) in [(3, 1), (4, 1), (0, 1), (2, 0), (2, 46)] {
        assert!(matches!(build(p, r), Err(Error::OutOfRange { .. })), "{p}^{r}");
    }
    assert!(matches!(Params::new("x", Scheme::Bgv, (2, 1), Some(vec![1]), spec.clone()), Err(Error::Ring(_))));
}

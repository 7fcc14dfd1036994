//! Refreshes by the front door.

use windlass::bootstrap::BootstrapError;
use windlass::bootstrap::approximate::{RefreshSpec, refresh_preset_names};
use windlass::needs::Products;
use windlass::rlwe::Assurance;
use windlass::schemes::ckks::{CkksSpec, Complex64};
use windlass::{Context, Error};

fn toy() -> RefreshSpec {
    RefreshSpec::preset("insecure_toy_refresh_1024").unwrap()
}

/// Squares of numbers near 1, more of them than there are levels.
#[test]
fn products_of_any_depth() {
    let context = Context::refreshing(&toy()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&context.refresh().unwrap(), &Products], 1).unwrap();
    for count in [2, 100, 512] {
        let values: Vec<f64> = (0..count).map(|k| 1.0 - k as f64 / 10_000.0).collect();
        let (mut x, mut expected) = (client.encrypt(&values).unwrap().with_magnitude(1.0), values);
        let mut refreshes = 0;
        for _ in 0..8 {
            if x.depth_left() == 0 {
                x = server.refresh(&x).unwrap();
                refreshes += 1;
                assert_eq!(x.depth_left(), 3);
            }
            x = server.engine().rescale(&server.square(&x).unwrap()).unwrap().with_magnitude(1.0);
            expected.iter_mut().for_each(|x| *x *= *x);
        }
        assert_eq!(refreshes, 2);
        let worst = client.decrypt(&x).unwrap().iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{count}: {:.1} bits, {:.1} stated", -worst.log2(), x.precision_bits());
        // The largest of few errors may be above the one to be expected.
        assert!(worst < 2f64.powi(-13) && worst < x.error_bound() && -worst.log2() > x.precision_bits() - 1.0);
    }
}

/// A message whose slots are all equal is one large coefficient, where the sine is farthest from the
/// sawtooth.
#[test]
fn the_stated_error_holds_for_constants_at_the_bound() {
    let context = Context::refreshing(&toy()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&context.refresh().unwrap()], 2).unwrap();
    for value in [1.0, -1.0, 0.5, 0.0] {
        let x = client.encrypt(&vec![value; 512]).unwrap();
        let y = server.refresh(&server.engine().lower(&x, context.ckks().base_level()).unwrap()).unwrap();
        let worst = client.decrypt(&y).unwrap().iter().map(|x| (x - value).abs()).fold(0.0, f64::max);
        println!("{value}: {:.1} bits, {:.1} stated", -worst.log2(), y.precision_bits());
        assert!(-worst.log2() >= y.precision_bits() && y.precision_bits() > 20.0);
    }
}

#[test]
fn what_cannot_be_refreshed_is_refused() {
    let context = Context::refreshing(&toy()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&context.refresh().unwrap()], 3).unwrap();
    let large = client.encrypt_complex(&[Complex64::new(3.0, 0.0)], 3.0).unwrap();
    assert!(
        matches!(server.refresh(&large), Err(Error::Bootstrap(BootstrapError::BoundTooLarge { bound, .. })) if bound >= 3.0)
    );
    // Beside the entries too: every coefficient is a sum over all slots.
    let beside =
        client.encrypt_complex(&[Complex64::new(3.0, 0.0); 2], 3.0).unwrap().with_entries(1).with_magnitude(1.0);
    assert!(matches!(server.refresh(&beside), Err(Error::Bootstrap(BootstrapError::BoundTooLarge { .. }))));
    let without = client.generate_server([&Products]).unwrap();
    assert!(matches!(without.refresh(&client.encrypt(&[0.5]).unwrap()), Err(Error::MissingBootstrappingKeys)));
    let plain = Context::approximate(&CkksSpec::secure(1, 36, 4, 2).unwrap()).unwrap();
    assert!(matches!(plain.refresh(), Err(Error::Bootstrap(BootstrapError::Unsupported { .. }))));
    let refresh = context.refresh().unwrap();
    assert!(matches!(plain.generate_keys([&refresh]), Err(Error::ContextMismatch { .. })));
    let (other, _) = context.generate_keys_from_seed([], 4).unwrap();
    assert!(matches!(server.refresh(&other.encrypt(&[0.5]).unwrap()), Err(Error::Rlwe(_) | Error::OtherKeyPair(_))));
}

/// Fewer slots than the ring has: one sine, and a vector that is too long is refused.
#[test]
fn sparse_refreshes() {
    let spec = RefreshSpec { slots: 16, to_slots: vec![2, 2], to_coefficients: vec![2, 2], ..toy() };
    let context = Context::refreshing(&spec.with_sine_precision(28.0).unwrap()).unwrap();
    let (client, server) = context.generate_keys_from_seed([&context.refresh().unwrap()], 5).unwrap();
    let values: Vec<f64> = (0..16).map(|k| (k as f64).sin()).collect();
    let y = server.refresh(&client.encrypt(&values).unwrap()).unwrap();
    let worst = client.decrypt(&y).unwrap().iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 2f64.powi(-20), "{worst:e}");
    let long = client.encrypt(&[0.5; 32]).unwrap();
    assert!(matches!(server.refresh(&long), Err(Error::SlotCount { got: 32, most: 16 })));
}

#[test]
fn specifications_that_cannot_work_are_refused() {
    let refused = |spec: RefreshSpec| Context::refreshing(&spec).unwrap_err();
    let out_of_range =
        |spec: RefreshSpec| assert!(matches!(refused(spec), Error::OutOfRange(_) | Error::SlotCount { .. }));
    out_of_range(RefreshSpec { ephemeral_weight: 0, ..toy() });
    out_of_range(RefreshSpec { slots: 3, ..toy() });
    out_of_range(RefreshSpec { slots: 1024, ..toy() });
    out_of_range(RefreshSpec { gap_bits: 0, ..toy() });
    out_of_range(RefreshSpec { degree: 0, ..toy() });
    out_of_range(RefreshSpec { degree: 1 << 40, ..toy() });
    out_of_range(RefreshSpec { doublings: 40, ..toy() });
    out_of_range(RefreshSpec { to_slots: vec![3, 3], ..toy() });
    out_of_range(RefreshSpec { to_coefficients: vec![], ..toy() });
    out_of_range(RefreshSpec { sine_scale_bits: vec![50; 3], ..toy() });
    out_of_range(RefreshSpec { sine_scale_bits: vec![10; 11], ..toy() });
    out_of_range(RefreshSpec { constant_bits: [0, 1000], ..toy() });
    out_of_range(RefreshSpec { ephemeral_special: 9, ..toy() });
    out_of_range(RefreshSpec { to_slots: vec![3, 2, 2, 2], constant_bits: [25, 40], ..toy() });
    out_of_range(RefreshSpec { degree: 63, ephemeral_weight: 4, ..toy() });
    out_of_range(RefreshSpec { to_slots: vec![usize::MAX, 10], ..toy() });
    out_of_range(RefreshSpec { sine_scale_bits: vec![u32::MAX; 11], ..toy() });
    out_of_range(RefreshSpec { sine_scale_bits: vec![1 << 30; 11], ..toy() });
    for bits in [f64::NAN, f64::INFINITY, -3.0, 1e10] {
        assert!(matches!(toy().with_sine_precision(bits), Err(Error::OutOfRange(_))), "{bits}");
    }
    assert!(RefreshSpec { doublings: u32::MAX, ..toy() }.with_sine_precision(20.0).is_err());
    let narrow = RefreshSpec { special_prime_bits: vec![25; 12], ephemeral_special: 1, ..toy() };
    assert!(matches!(refused(narrow), Error::Bootstrap(BootstrapError::Unsupported { .. })));
    // An insecure set that is in use does not vouch for a secure one.
    let weak = RefreshSpec { ephemeral_weight: 8, ..toy() };
    let _held = Context::refreshing(&weak).unwrap();
    assert!(matches!(RefreshSpec::preset("none"), Err(Error::NoParameters { .. })));
    // The name says that it is insecure; without it, it is refused.
    assert!(matches!(refused(RefreshSpec { assurance: Assurance::Secure, ..toy() }), Error::Rlwe(_)));
}

/// Both keys of a set that is called secure have 128 bits, and the name of another says so.
#[test]
fn named_sets_say_what_they_are() {
    for name in refresh_preset_names() {
        let spec = RefreshSpec::preset(name).unwrap();
        assert_eq!(name.starts_with("insecure_"), spec.assurance != Assurance::Secure, "{name}");
    }
    let weak = RefreshSpec { ephemeral_weight: 8, ..RefreshSpec::preset("refresh_n65536_slots256").unwrap() };
    let error = Context::refreshing(&weak).unwrap_err();
    assert!(matches!(error, Error::Bootstrap(BootstrapError::EphemeralKeyTooWeak { .. })), "{error}");
}

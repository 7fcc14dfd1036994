//! Parameters by what they are to do, and what is left of it.

use std::ops::ControlFlow;
use std::sync::Mutex;

use windlass::bootstrap::{BootstrapPreset, Mode, SearchStep};
use windlass::needs::Products;
use windlass::{Context, Error, ParamSpec, Scheme};

/// Parameters for any depth are found by what a user knows, without a preset's name.
#[test]
fn circuits_of_any_depth_are_planned() {
    let spec = ParamSpec { p: 257, slots: 64, ..ParamSpec::default() };
    let context = Context::plan_any_depth(&spec).unwrap();
    assert_eq!((context.params().name(), context.modulus()), ("boot_n32768_p257", 257));
    assert!(context.params().rlwe().security().bits >= 128.0);
    // A modulus that no preset has.
    let context = Context::plan_any_depth(&ParamSpec { p: 193, slots: 32, ..spec.clone() }).unwrap();
    assert_eq!((context.params().rlwe().n(), context.modulus()), (32768, 193));
    assert!(context.slots() >= 32);
    let impossible = ParamSpec { slots: 1 << 20, ..spec.clone() };
    assert!(matches!(Context::plan_any_depth(&impossible), Err(Error::NoParameters { .. })));
    // More security than the ephemeral key has, and less than the main one.
    let preset = BootstrapPreset::named("boot_n65536_p65537", Mode::Thin).unwrap();
    let (main, ephemeral) = (preset.params.rlwe().security().bits, preset.ephemeral_key().unwrap().1.bits);
    assert!(main > ephemeral + 2.0, "{main} and {ephemeral} bits");
    let strong = ParamSpec { p: 65537, security: (main + ephemeral) / 2.0, ..spec.clone() };
    match Context::plan_any_depth(&strong) {
        Err(Error::NoParameters { reason }) => {
            assert!(reason.contains("the ephemeral key of weight"), "{reason}");
        }
        other => panic!("{:?}", other.map(|context| context.params().clone())),
    }
    for senseless in [
        ParamSpec { p: 4, ..spec.clone() },
        ParamSpec { capacity: f64::NAN, ..spec.clone() },
        ParamSpec { security: f64::NAN, ..spec },
    ] {
        let refused = Context::plan_any_depth(&senseless).unwrap_err();
        assert!(matches!(refused, Error::OutOfRange { .. }), "{senseless:?}: {refused}");
    }
}

/// An index that no preset and no power of two has: the composite ring that `params search --plan`
/// finds. Who watches may stop it.
#[test]
fn composite_rings_are_planned_where_they_are_asked_for() {
    let told = Mutex::new(Vec::new());
    let spec = ParamSpec { p: 3, m: Some(39565), ..ParamSpec::default() };
    let context = Context::plan_any_depth_observed(&spec, &|at| {
        told.lock().unwrap().push((at.step, at.done, at.count));
        ControlFlow::Continue(())
    });
    let context = context.unwrap();
    assert_eq!((context.params().m(), context.modulus()), (39565, 3));
    assert!(context.slots() > 100 && context.params().rlwe().security().bits >= 128.0, "{context}");
    let plan = context.bootstrapping().unwrap();
    assert!(plan.depth_between() >= 1 && plan.ephemeral_security_bits() >= 128.0, "{}", plan.explain());
    assert_eq!(told.into_inner().unwrap(), [(SearchStep::Plan { m: 39565 }, 0, 1)]);
    let stopped = Context::plan_any_depth_observed(&spec, &|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Cancelled { .. })));
    // A prime.
    let refused = Context::plan_any_depth(&ParamSpec { m: Some(65539), ..spec }).unwrap_err().to_string();
    assert!(refused.contains("m = 65539: bootstrapping needs an m"), "{refused}");
}

/// The depth that is left is the number of squarings that the server then does.
#[test]
fn servers_know_how_many_products_are_left() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let context = Context::preset("insecure_toy_256").unwrap().with_scheme(scheme).unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], 5).unwrap();
        let mut x = client.encrypt(&[3, 5]).unwrap();
        let mut left = server.depth_left(&x);
        assert!(left >= context.params().depth(), "{left}");
        while left > 0 {
            x = server.square(&x).unwrap();
            assert_eq!(server.depth_left(&x), left - 1);
            left -= 1;
        }
        assert!(matches!(server.square(&x), Err(Error::CapacityExhausted { .. })));
    }
}

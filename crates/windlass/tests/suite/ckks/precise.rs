//! Servers whose refreshes of real and complex numbers run in several passes.

use std::ops::ControlFlow;

use windlass::bootstrap::BootstrapError;
use windlass::bootstrap::approximate::precise::PreciseRefreshSpec;
use windlass::needs::Products;
use windlass::rlwe::Assurance;
use windlass::schemes::ckks::{Ciphertext, Wide, WideComplex};
use windlass::{Approximate, Client, Context, Error, Server};

pub fn spec(depth: usize) -> PreciseRefreshSpec {
    let assurance = Assurance::Insecure { name: "insecure_precise".into() };
    PreciseRefreshSpec::new(128, (3, 26), depth, assurance).unwrap()
}

fn context(depth: usize) -> Context<Approximate> {
    Context::precise_refreshing(&spec(depth)).unwrap()
}

fn sides(context: &Context<Approximate>) -> (Client<Approximate>, Server<Approximate>) {
    let rotation = context.rotation(64, 1).unwrap();
    context.generate_keys_from_seed([&context.precise_refresh().unwrap(), &rotation], 7).unwrap()
}

/// k/67, to 106 bits.
fn values(count: usize) -> Vec<WideComplex> {
    let value = |k: usize| Wide::from(k as f64 + 1.0) / Wide::from(67.0);
    (0..count).map(|k| WideComplex { re: value(k), im: Wide::from(0.0) }).collect()
}

/// The largest error is below the stated bound, and below 2^−bits.
fn check(client: &Client<Approximate>, ct: &Ciphertext, wanted: &[WideComplex], bits: i32) {
    let found = client.decrypt_wide(ct).unwrap();
    let worst = found.iter().zip(wanted).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
    assert!(worst < ct.error_bound() && worst < 2f64.powi(-bits), "2^{:.1}", worst.log2());
}

#[test]
fn servers_refresh_by_themselves_and_keep_all_bits() {
    let context = context(2);
    let (client, server) = sides(&context);
    let mut wanted = values(64);
    let mut x = client.encrypt_wide(&wanted, 1.0).unwrap();
    let mut refreshed = 0;
    for _ in 0..5 {
        let before = x.depth_left();
        x = server.square(&x).unwrap();
        refreshed += usize::from(x.depth_left() >= before);
        wanted.iter_mut().for_each(|z| *z = *z * *z);
    }
    assert!(refreshed > 0);
    check(&client, &x, &wanted, 68);
    // A key of the caller at the levels of callers, and constants of all bits.
    let turned = server.rotate(&x, 1).unwrap();
    wanted.rotate_left(1);
    check(&client, &turned, &wanted, 68);
    let third = WideComplex::new(Wide::ONE / Wide::from(3.0), 0.0);
    let scaled = server.multiply_wide(&turned, &[third]).unwrap();
    let moved = server.add_wide(&scaled, &[third]).unwrap();
    let wanted: Vec<WideComplex> = wanted.iter().map(|z| *z * third + third).collect();
    check(&client, &moved, &wanted, 68);
}

/// At the lowest level: two entries, and a list with reports.
#[test]
fn spent_ciphertexts_are_refreshed_with_reports_that_can_stop() {
    let context = context(1);
    let plan = context.precise_refresh().unwrap();
    let (client, server) = sides(&context);
    let wide = |values: &[f64]| values.iter().map(|&x| WideComplex::new(x, 0.0)).collect::<Vec<_>>();
    let spent = |values: &[f64]| {
        let fresh = client.encrypt_wide(&wide(values), 1.0).unwrap();
        server.engine().lower(&fresh, context.ckks().base_level()).unwrap()
    };
    let list = [spent(&[0.25, -0.5]), spent(&[0.75])];
    let mut seen = Vec::new();
    let done = server.refresh_list(&list, |progress| {
        seen.push((progress.number, progress.count));
        ControlFlow::Continue(())
    });
    let done = done.unwrap();
    assert_eq!((done[0].depth_left(), done[0].entries()), (1, 2));
    check(&client, &done[0], &wide(&[0.25, -0.5]), 68);
    check(&client, &done[1], &wide(&[0.75]), 68);
    check(&client, &server.refresh(&list[0]).unwrap(), &wide(&[0.25, -0.5]), 68);
    check(&client, &server.refresh_all(&list).unwrap()[1], &wide(&[0.75]), 68);
    let count = 2 * 3 * plan.pass().stages().len();
    assert_eq!(seen, (0..=count).map(|number| (number, count)).collect::<Vec<_>>());
    for stop in [0, count / 6, count / 2 - 1, count / 2] {
        let error = server.refresh_list(&list, |progress| match progress.number == stop {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        assert!(matches!(error, Err(Error::Cancelled { .. })), "{stop}");
    }
}

/// The zeros beside entries are smaller than what doubles resolve.
#[test]
fn entries_that_fill_no_power_of_two_come_back() {
    let context = context(1);
    let (client, server) = sides(&context);
    for count in [1, 3, 5, 63, 64] {
        let x = client.encrypt_wide(&values(count), 1.0).unwrap();
        assert_eq!(x.entries(), count);
        check(&client, &x, &values(count), 68);
        check(&client, &server.refresh(&x).unwrap(), &values(count), 68);
        assert_eq!(client.decrypt(&x).unwrap().len(), count.next_power_of_two());
    }
}

/// Levels of a caller are not needed: ciphertexts may have none.
#[test]
fn contexts_without_levels_refresh() {
    let context = context(0);
    let (client, server) = context.generate_keys_from_seed([&context.precise_refresh().unwrap()], 7).unwrap();
    let wanted = values(64);
    let x = client.encrypt_wide(&wanted, 1.0).unwrap();
    assert_eq!(x.depth_left(), 0);
    let refreshed = server.refresh(&x).unwrap();
    assert_eq!(refreshed.level(), x.level());
    check(&client, &refreshed, &wanted, 68);
    assert!(server.square(&x).is_err());
}

#[test]
fn what_does_not_fit_is_refused() {
    let context = context(1);
    let (client, server) = sides(&context);
    let error = context.refresh().unwrap_err();
    assert!(error.to_string().contains("precise_refresh"), "{error}");
    let error = server.refresher(64).err().expect("it has several passes");
    assert!(matches!(error, Error::Bootstrap(BootstrapError::Unsupported { .. })), "{error}");
    assert_eq!(server.precise_refresher().unwrap().plan().spec(), context.precise_refresh().unwrap().spec());
    // The refresh of another context, and of another depth.
    let other = self::context(2);
    let error = context.generate_keys([&other.precise_refresh().unwrap()]).unwrap_err();
    assert!(matches!(error, Error::ContextMismatch { .. }), "{error}");
    let error = other.ckks().clone();
    assert!(Context::from_ckks(&error).precise_refresh().is_err());
    // Values above the bound of a refresh.
    let large = client.encrypt_wide(&values(2), 2.5).unwrap();
    let error = server.refresh(&large).unwrap_err();
    assert!(matches!(error, Error::Bootstrap(BootstrapError::BoundTooLarge { .. })), "{error}");
    // A server without those keys.
    let plain = client.generate_server([&Products]).unwrap();
    assert!(matches!(plain.refresh(&large), Err(Error::MissingBootstrappingKeys)));
    assert!(matches!(plain.precise_refresher().err(), Some(Error::MissingBootstrappingKeys)));
    for values in [vec![], values(65)] {
        assert!(matches!(client.encrypt_wide(&values, 1.0), Err(Error::SlotCount { .. })));
    }
}

#[test]
fn contexts_come_back_from_their_text() {
    let context = context(1);
    let (client, _) = sides(&context);
    let again = Context::approximate_from_json(&context.to_json()).unwrap();
    assert_eq!(again.precise_refresh().unwrap().spec(), context.precise_refresh().unwrap().spec());
    assert!(again.to_string().contains("in 3 passes"), "{again}");
    let there = again.client_from_bytes(&client.secret_to_bytes().unwrap()).unwrap();
    check(&there, &client.encrypt_wide(&values(4), 1.0).unwrap(), &values(4), 68);
}

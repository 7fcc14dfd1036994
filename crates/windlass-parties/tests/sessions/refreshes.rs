//! Refreshes with keys of several parties: bootstrappings of integers, and refreshes of CKKS.

use std::sync::Arc;

use windlass::bootstrap::approximate::RefreshSpec;
use windlass::bootstrap::approximate::precise::PreciseRefreshSpec;
use windlass::bootstrap::{BootstrapSpec, Mode};
use windlass::needs::Products;
use windlass::schemes::ckks::{self, Complex64, WideComplex};
use windlass::schemes::{Encryptor, Publication};
use windlass::{Approximate, Context, Exact, NeedsKeys, Params, Plaintext, Scheme};
use windlass_parties::{Agreement, Identity, PartiesError, Party};
use windlass_rlwe::Assurance;
use windlass_rlwe::context::os_rng;

use super::{NAMES, Session, begin, encrypt};

/// Circuits under keys of three parties refresh by themselves, as many products as are asked for.
#[test]
fn circuits_refresh_without_the_parties() {
    for name in ["insecure_boot_256_p257", "insecure_boot_105"] {
        let params = Params::preset(name, Scheme::Bgv).unwrap().with_parties(2).unwrap();
        let context = Context::from_params(params).unwrap();
        let plan = context.bootstrapping().unwrap();
        let mut session = begin(&context, 2, 2, &[&plan, &Products]);
        let text = session.agreement.to_json();
        assert_eq!(Agreement::<Exact>::from_json(text).unwrap().digest(), session.agreement.digest());
        let keys = session.keys();
        let server = context.server_from_keys(Arc::clone(&keys.evaluation), keys.bootstrapping.clone()).unwrap();
        let t = context.modulus();
        let values: Vec<u64> = (0..context.slots() as u64).map(|j| (j + 2) % t).collect();
        let mut ct = encrypt(&context, &keys, &values);
        let mut wanted = values;
        for _ in 0..12 {
            ct = server.square(&ct).unwrap();
            wanted.iter_mut().for_each(|x| *x = *x * *x % t);
        }
        let refreshed = server.refresh(&ct).unwrap();
        assert_eq!(session.read(&refreshed, &[1, 2]).unwrap().to_integers().unwrap(), wanted, "{name}");
    }
}

/// Numbers that no refresh of these toys changes by more than it says, decrypted by some of the parties.
fn check(session: &mut Session<Approximate>, context: &Context<Approximate>, by: &[u32], least: f64) {
    let keys = session.keys();
    let server = context.server_from_keys(Arc::clone(&keys.evaluation), keys.bootstrapping.clone()).unwrap();
    let encryptor = ckks::Encryptor::new(context.ckks(), Arc::clone(&keys.public)).unwrap();
    let count = context.slots();
    let mut wanted: Vec<f64> = (0..count).map(|j| (f64::from(j as u32) / 3.0).sin()).collect();
    let wide: Vec<WideComplex> = wanted.iter().map(|&x| WideComplex::from(Complex64::new(x, 0.0))).collect();
    let mut x = encryptor.encrypt_wide(&wide, 1.0, &mut os_rng().unwrap()).unwrap();
    // More products than there are levels: the server refreshes by itself, without the parties.
    for _ in 0..3 {
        x = server.square(&x).unwrap();
        wanted.iter_mut().for_each(|x| *x *= *x);
    }
    let refreshed = server.refresh(&x).unwrap();
    let opened = session.read(&refreshed, by).unwrap();
    let worst = opened.values.iter().zip(&wanted).map(|(z, x)| (z - x).norm()).fold(0.0, f64::max);
    println!("{by:?}: {:.1} bits of {:.1} that are expected", -worst.log2(), opened.precision_bits);
    assert!(opened.precision_bits > least && worst < (1.0 - opened.precision_bits).exp2());
}

/// The text of an agreement names the refresh by its parameters, and gives the same agreement.
fn check_text(agreement: &Agreement<Approximate>) {
    let text = agreement.to_json();
    let again = Agreement::<Approximate>::from_json(text).unwrap();
    assert_eq!(again.digest(), agreement.digest());
    assert_eq!(again.refreshes().len(), 1);
    assert!(windlass_parties::is_approximate(text) && Agreement::<Exact>::from_json(text).is_err());
}

/// A refresh of one pass leaves too few bits for 40 bits of statistical security: that is refused, and less works.
#[test]
fn refreshes_of_one_pass_are_read_with_little_noise() {
    let toy = RefreshSpec::preset("insecure_toy_refresh_1024").unwrap();
    let (to_slots, to_coefficients) = (vec![3, 2], vec![3, 2]);
    let toy = RefreshSpec { n: 64, slots: 32, to_slots, to_coefficients, ephemeral_weight: 16, ..toy };
    let context = Context::refreshing(&toy.with_parties(3).unwrap()).unwrap();
    let plan = context.refresh().unwrap();
    let identities: Vec<Identity> = (0..3).map(|_| Identity::generate().unwrap()).collect();
    let members = || identities.iter().zip(NAMES).map(|(own, name)| own.member(name)).collect();
    let needs: [&dyn NeedsKeys; 2] = [&plan, &Products];
    let refused = Agreement::new(&context, members(), 3, &needs);
    assert!(matches!(refused, Err(PartiesError::NoRoom { .. })), "{refused:?}");
    let few = Publication { security_bits: 4, decryptions: 2 };
    let agreement = Agreement::for_publication(&context, members(), 3, &needs, few).unwrap();
    let parties = identities.iter().map(|own| Party::join(&agreement, own).unwrap()).collect();
    check_text(&agreement);
    check(&mut Session { identities, agreement, parties }, &context, &[1, 2, 3], 2.0);
}

/// Refreshes of several passes leave more bits than the noise of decryptions takes, with the security of every agreement.
#[test]
fn refreshes_of_several_passes_are_read_with_all_noise() {
    let assurance = Assurance::Insecure { name: "insecure_precise".into() };
    let spec = PreciseRefreshSpec::new(1 << 10, (3, 26), 3, assurance).unwrap().with_parties(2).unwrap();
    assert!(spec.with_parties(2).is_err(), "it is for several parties already");
    let context = Context::precise_refreshing(&spec).unwrap();
    let mut session = begin(&context, 2, 2, &[&context.precise_refresh().unwrap(), &Products]);
    check(&mut session, &context, &[1, 2], 2.0);
}

/// Elements of the plaintext ring take a packed bootstrapping, integers the thin one beside it.
#[test]
fn packed_bootstrappings_are_made_together() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let params = Params::preset("insecure_boot_105", scheme).unwrap().with_parties(2).unwrap();
        let context = Context::from_params(params).unwrap();
        let (thin, own) = (context.bootstrapping().unwrap(), context.bootstrapping_spec());
        let packed = context.bootstrapping_with(BootstrapSpec { mode: Mode::Packed, ..own }).unwrap();
        let mut session = begin(&context, 2, 2, &[&packed, &thin]);
        let text = session.agreement.to_json();
        let again = Agreement::<Exact>::from_json(text).unwrap();
        assert!(again.digest() == session.agreement.digest() && !windlass_parties::is_approximate(text));
        let specs: Vec<_> = again.refreshes().iter().map(|plan| plan.spec()).collect();
        assert_eq!(specs, [thin.spec(), packed.spec()]);
        let twice = text.replace("\"bootstrapping\": true", "\"bootstrapping\": false");
        assert_eq!(Agreement::<Exact>::from_json(&twice).unwrap().refreshes().len(), 1);
        let unknown = text.replace("\"packed\"", "\"thick\"");
        assert!(Agreement::<Exact>::from_json(&unknown).is_err());
        let keys = session.keys();
        let server = context.server_from_keys(Arc::clone(&keys.evaluation), keys.bootstrapping.clone()).unwrap();
        let ring = context.slot_ring();
        let elements = Plaintext::from_slots(ring, &(0..ring.n() as u64).map(|j| j * j % 5 % 2).collect::<Vec<_>>());
        let integers = Plaintext::from_integers(ring, &(0..ring.slots() as u64).map(|j| j % 2).collect::<Vec<_>>());
        let encryptor = Encryptor::new(scheme, Arc::clone(&keys.public));
        for (plan, plaintext) in [(&packed, elements.unwrap()), (&thin, integers.unwrap())] {
            let fresh = encryptor.encrypt(&plaintext, &mut os_rng().unwrap()).unwrap();
            let spent = server.engine().reduce_level(&fresh, plan.least_input_bits() + 20.0).unwrap();
            let refreshed = server.refresh(&spent).unwrap();
            assert!(server.capacity(&refreshed) > server.capacity(&spent));
            assert_eq!(session.read(&refreshed, &[1, 2]).unwrap(), plaintext);
        }
    }
}

/// What a text has no name for, and another refresh of CKKS.
#[test]
fn refreshes_that_cannot_be_made_together_are_refused() {
    let members = || {
        [(); 2].map(|()| Identity::generate().unwrap()).iter().zip(NAMES).map(|(own, name)| own.member(name)).collect()
    };
    let params = Params::preset("insecure_boot_256_p257", Scheme::Bgv).unwrap().with_parties(2).unwrap();
    let context = Context::from_params(params).unwrap();
    let spec = BootstrapSpec { failure_bits: 120.0, ..context.bootstrapping_spec() };
    let likely = context.bootstrapping_with(spec).unwrap();
    let refused = Agreement::new(&context, members(), 2, &[&likely]);
    assert!(matches!(refused, Err(PartiesError::Unsupported { .. })), "{refused:?}");
    let toy = RefreshSpec::preset("insecure_toy_refresh_1024").unwrap();
    let (to_slots, to_coefficients) = (vec![3, 2], vec![3, 2]);
    let toy = RefreshSpec { n: 64, slots: 32, to_slots, to_coefficients, ephemeral_weight: 16, ..toy };
    let toy = toy.with_parties(2).unwrap();
    let context = Context::refreshing(&toy).unwrap();
    let other = Context::refreshing(&RefreshSpec { max_keys: Some(4), ..toy }).unwrap();
    let refused = Agreement::new(&context, members(), 2, &[&other.refresh().unwrap()]);
    assert!(matches!(refused, Err(PartiesError::Unsupported { .. })), "{refused:?}");
}

//! Circuits under a key that no party has, decrypted by all parties and by some.

use std::sync::Arc;

use num_complex::Complex64;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_ring::kernels::Isa;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::{Common, KeyName, KeySum, SecretShare, ThresholdShare, deal};
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};
use zeroize::Zeroizing;

mod sharing;

use super::{ApproximateDecryption, ApproximateSwitch, ExactDecryption, ExactSwitch, Holder, SwitchingShare};
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::plaintext::Plaintext;
use crate::schemes::ckks::{self, CkksContext, CkksSpec, WideComplex};
use crate::schemes::{Ciphertext, Decryptor, Encryptor, Engine, Publication, Scheme};
use crate::switching::{Arithmetic, Switching};

const PUBLICATION: Publication = Publication { security_bits: 40, decryptions: 1000 };

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

/// All parties of a key pair, with what they make together.
struct Parties {
    common: Common,
    shares: Vec<SecretShare>,
    some: Vec<ThresholdShare>,
    public: Arc<PublicKey>,
    keys: Arc<EvaluationKeys>,
}

fn total(mut shares: impl Iterator<Item = windlass_rlwe::collective::KeyShare>) -> KeySum {
    let mut sum = KeySum::of(shares.next().unwrap());
    shares.for_each(|share| sum.add(&share).unwrap());
    sum
}

fn parties(context: &Arc<Context>, threshold: u32, elements: &[u64]) -> Parties {
    let (common, mut rng) = (Common::new(context, [3; 32]).unwrap(), rng(1));
    let shares: Vec<_> = (0..common.parties()).map(|_| SecretShare::generate(&common, &mut rng)).collect();
    let first = |name| total(shares.iter().map(|share| share.first(name).unwrap()));
    let public = Arc::new(first(KeyName::Public).into_public_key(&common).unwrap());
    let mut keys = EvaluationKeys::of_pair(context, common.key_id());
    let level = context.top_level();
    for &element in elements {
        first(KeyName::Galois { element, level }).insert_into(&common, &mut keys).unwrap();
    }
    let sum = first(KeyName::Relinearisation { level });
    total(shares.iter().map(|share| share.second(&sum).unwrap())).insert_into(&common, &mut keys).unwrap();
    let mut columns: Vec<Vec<_>> = shares.iter().map(|_| Vec::new()).collect();
    for share in &shares {
        deal(share, threshold).unwrap().into_iter().zip(&mut columns).for_each(|(s, c)| c.push(s));
    }
    let sum = |(column, party)| ThresholdShare::new(party, threshold, column).unwrap();
    let some = columns.into_iter().zip(1..).map(sum).collect();
    Parties { common, shares, some, public, keys: Arc::new(keys) }
}

impl Parties {
    /// The key that no party has.
    fn secret(&self) -> Arc<SecretKey> {
        let n = self.common.context().params().n();
        let sum = (0..n).map(|j| self.shares.iter().map(|share| share.expose_parts().0[j]).sum()).collect();
        Arc::new(
            SecretKey::from_coefficients(self.common.context(), self.common.key_id(), Zeroizing::new(sum)).unwrap(),
        )
    }

    /// The shares of all parties, or of some.
    fn decrypt<T>(&self, participants: Option<&[u32]>, share: impl Fn(&Holder<'_>) -> Result<T>) -> Result<Vec<T>> {
        let Some(participants) = participants else {
            return self.shares.iter().map(|secret| share(&Holder::All(secret))).collect();
        };
        let of = |&party: &u32| share(&Holder::Threshold { share: &self.some[party as usize - 1], participants });
        participants.iter().map(of).collect()
    }
}

/// A chain of primes, a scheme, and p and r of its plaintexts.
type Set = (RlweSpec, Scheme, (u64, u32));

fn exact(m: u64, scheme: Scheme, modulus: (u64, u32), parties: u32, primes: usize) -> Set {
    let spec = RlweSpec {
        m,
        q_prime_bits: vec![45; primes],
        spare_prime_bits: vec![30],
        special_prime_bits: vec![50, 50],
        digits: primes.div_ceil(2) + 1,
        secret: SecretDistribution::Collective { parties },
        assurance: Assurance::Insecure { name: "insecure_parties".into() },
    };
    (spec, scheme, modulus)
}

struct Exact {
    context: Arc<Context>,
    slots: Arc<SlotRing>,
    scheme: Scheme,
    parties: Parties,
}

fn exact_setting(set: &Set, threshold: u32) -> Exact {
    let (spec, scheme, (p, r)) = set;
    let context = Context::new(RlweParams::new(spec).unwrap()).unwrap();
    let hypercube = Hypercube::automatic(spec.m, *p).unwrap();
    let slots = Arc::new(SlotRing::with_hypercube(hypercube, *r, Isa::best()).unwrap());
    let element = slots.hypercube().dimensions().first().map_or(*p, |dimension| dimension.generator);
    let parties = parties(&context, threshold, &[element]);
    Exact { context, slots, scheme: *scheme, parties }
}

impl Exact {
    fn engine(&self) -> Engine {
        Engine::new(self.scheme, &self.slots, Arc::clone(&self.parties.keys)).unwrap()
    }

    fn encrypt(&self, values: &[u64]) -> Ciphertext {
        let plaintext = Plaintext::from_integers(&self.slots, values).unwrap();
        Encryptor::new(self.scheme, Arc::clone(&self.parties.public)).encrypt(&plaintext, &mut rng(5)).unwrap()
    }

    fn plan(&self, ct: &Ciphertext, parties: u32) -> Result<ExactDecryption> {
        ExactDecryption::plan(&self.context, (self.scheme, &self.slots), ct, (PUBLICATION, parties))
    }

    fn noise_bits(&self, ct: &Ciphertext) -> f64 {
        let own = Decryptor::new(self.scheme, &self.slots, self.parties.secret());
        own.exact_noise_leaks_the_secret_key(ct).unwrap()
    }
}

/// Products, sums and automorphisms under keys of several parties are right, their noise is within the stated bounds,
/// and decryptions by all and by some of the parties give the message.
#[test]
fn circuits_of_exact_schemes() {
    let cases = [
        (64, Scheme::Bgv, (257, 1), 2, 1),
        (64, Scheme::Bfv, (3, 2), 3, 2),
        (105, Scheme::Bgv, (2, 3), 3, 3),
        (105, Scheme::Bfv, (2, 1), 5, 3),
        (45, Scheme::Bgv, (7, 1), 16, 9),
    ];
    for (m, scheme, modulus, parties, threshold) in cases {
        let setting = exact_setting(&exact(m, scheme, modulus, parties, 6), threshold);
        let (engine, t) = (setting.engine(), modulus.0.pow(modulus.1));
        let slots = setting.slots.slots();
        let values = |seed: u64| -> Vec<u64> { (0..slots as u64).map(|j| (seed * j + j * j + 1) % t).collect() };
        let (a, b) = (setting.encrypt(&values(3)), setting.encrypt(&values(8)));
        let element = setting.parties.keys.galois_elements().next().unwrap();
        let sum = engine.add(&engine.multiply(&a, &b).unwrap(), &a).unwrap();
        let result = engine.automorphism(&sum, element).unwrap();
        let expected: Vec<u64> = {
            let own = Decryptor::new(scheme, &setting.slots, setting.parties.secret());
            let plain = own.decrypt(&sum).unwrap().to_integers().unwrap();
            let wanted: Vec<u64> = values(3).iter().zip(values(8)).map(|(x, y)| (x * y % t + x) % t).collect();
            assert_eq!(plain, wanted, "m = {m}, {scheme}");
            own.decrypt(&result).unwrap().to_slots()
        };
        for ct in [&a, &sum, &result] {
            let noise = setting.noise_bits(ct);
            // The size of a coefficient in whole bits, of which C_m may be more than the norm.
            let factor = windlass_rlwe::noise::coefficient_factor(setting.context.params().shape()).log2();
            assert!(
                noise <= ct.log2_noise() + factor + 1.0,
                "m = {m}, {scheme}: 2^{noise}, stated 2^{}",
                ct.log2_noise()
            );
        }
        let some: Vec<u32> = (parties - threshold + 1..=parties).collect();
        for (participants, count) in [(None, parties), (Some(&some[..]), threshold)] {
            let plan = setting.plan(&result, count).unwrap();
            assert!(f64::from(plan.flooding().bits) >= plan.needed_bits());
            assert!(plan.ciphertext().level() < result.level(), "shares are made at a low level");
            let shares = setting.parties.decrypt(participants, |holder| plan.share(holder, &mut rng(9))).unwrap();
            assert_eq!(plan.open(&setting.slots, &shares).unwrap().to_slots(), expected, "m = {m}, {scheme}");
            let few = plan.open(&setting.slots, &shares[1..]);
            assert!(matches!(few, Err(Error::OutOfRange(_))), "{few:?}");
            if count > 1 {
                let mut wrong = shares.clone();
                wrong[0] = wrong[1].clone();
                let refused = plan.open(&setting.slots, &wrong);
                assert!(matches!(refused, Err(Error::NotDecryptable { .. })), "m = {m}: {refused:?}");
            }
        }
    }
}

/// What the shares add to the phase: noise of the planned size, as many times as there are shares, and no less than
/// what hides the error of the ciphertext as it is.
#[test]
fn shares_hide_the_error_of_the_ciphertext() {
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        let setting = exact_setting(&exact(256, scheme, (257, 1), 3, 6), 2);
        let engine = setting.engine();
        let a = setting.encrypt(&[5, 6, 7]);
        let ct = engine.multiply(&a, &a).unwrap();
        let plan = setting.plan(&ct, 3).unwrap();
        let shares = setting.parties.decrypt(None, |holder| plan.share(holder, &mut rng(11))).unwrap();
        let before = setting.noise_bits(plan.ciphertext());
        // An encryption under no key: its second part is zero, its phase the sum.
        let mut opened = plan.ciphertext().clone();
        let sum = super::shares::sum_of_shares(opened.parts()[0].clone(), &shares, 3).unwrap();
        let zero = Poly::<Eval>::zero(sum.ring(), sum.basis());
        opened = opened.with_parts(vec![sum, zero]);
        let after = setting.noise_bits(&opened);
        let wanted = f64::from(plan.flooding().bits) + 257f64.log2() + 1.0;
        assert!((after - wanted).abs() < 1.6, "{scheme}: 2^{after}, planned 2^{wanted}");
        // 40 bits for 1000 decryptions of 128 coefficients, against the error itself.
        assert!(after - before >= 40.0 + 10.0 + 7.0 - 1.0, "{scheme}: error 2^{before}, noise 2^{after}");
    }
}

#[test]
fn what_has_no_room_for_noise_is_refused() {
    let setting = exact_setting(&exact(64, Scheme::Bgv, (257, 1), 2, 1), 2);
    let ct = setting.encrypt(&[1, 2]);
    match setting.plan(&ct, 2) {
        Err(Error::CapacityExhausted { needed_bits, left_bits, .. }) => assert!(needed_bits > left_bits),
        other => panic!("{other:?}"),
    }
    let setting = exact_setting(&exact(64, Scheme::Bgv, (257, 1), 2, 4), 2);
    let ct = setting.encrypt(&[1, 2]);
    for publication in [
        Publication { security_bits: 0, decryptions: 1 },
        Publication { security_bits: 129, decryptions: 1 },
        Publication { security_bits: 40, decryptions: 0 },
    ] {
        let refused = ExactDecryption::plan(&setting.context, (setting.scheme, &setting.slots), &ct, (publication, 2));
        assert!(matches!(refused, Err(Error::OutOfRange(_))), "{refused:?}");
    }
    assert!(matches!(setting.plan(&ct, 0), Err(Error::OutOfRange(_))));
    let other = exact_setting(&exact(64, Scheme::Bgv, (257, 1), 3, 4), 2);
    let refused = ExactDecryption::plan(&other.context, (other.scheme, &other.slots), &ct, (PUBLICATION, 2));
    assert!(matches!(refused, Err(Error::ContextMismatch { .. })));
    // A party of another key pair, and one that was not planned for.
    let plan = setting.plan(&ct, 2).unwrap();
    let strangers = Common::new(&setting.context, [4; 32]).unwrap();
    let stranger = SecretShare::generate(&strangers, &mut rng(1));
    let refused = plan.share(&Holder::All(&stranger), &mut rng(1));
    assert!(matches!(refused, Err(Error::OtherKeyPair(_))), "{refused:?}");
    let share = &setting.parties.some[0];
    let alone = plan.share(&Holder::Threshold { share, participants: &[1] }, &mut rng(1));
    assert!(matches!(alone, Err(Error::OutOfRange(_))), "{alone:?}");
}

fn approximate(scale_bits: u32, parties: u32) -> Arc<CkksContext> {
    let spec = CkksSpec {
        n: 256,
        secret: SecretDistribution::Collective { parties },
        assurance: Assurance::Insecure { name: "insecure_parties".into() },
        ..CkksSpec::secure_wide(2, scale_bits, 4, 8).unwrap()
    };
    CkksContext::new(&spec).unwrap()
}

/// Values lose about as many bits as the noise hides, the estimate covers what is lost, and a scale without room is
/// refused.
#[test]
fn circuits_of_ckks() {
    for (parties_count, threshold) in [(2, 1), (3, 2)] {
        let context = approximate(95, parties_count);
        let parties = parties(context.rlwe(), threshold, &[5]);
        let engine = ckks::Engine::new(&context, Arc::clone(&parties.keys)).unwrap();
        let encryptor = ckks::Encryptor::new(&context, Arc::clone(&parties.public)).unwrap();
        let values: Vec<Complex64> = (0..8).map(|j| Complex64::new((j as f64 / 9.0).cos(), 0.05 * j as f64)).collect();
        let wide: Vec<WideComplex> = values.iter().map(|&z| z.into()).collect();
        let a = encryptor.encrypt_wide(&wide, 1.1, &mut rng(2)).unwrap();
        let product = engine.rescale(&engine.multiply(&a, &a).unwrap()).unwrap();
        let expected: Vec<Complex64> = values.iter().map(|z| z * z).collect();
        let some: Vec<u32> = (1..=threshold).collect();
        for (participants, count) in [(None, parties_count), (Some(&some[..]), threshold)] {
            let plan = ApproximateDecryption::plan(&context, &product, (PUBLICATION, count)).unwrap();
            let shares = parties.decrypt(participants, |holder| plan.share(holder, &mut rng(4))).unwrap();
            let opened = plan.open(&shares).unwrap();
            let lost = product.precision_bits() - opened.precision_bits;
            assert!((50.0..75.0).contains(&lost), "{lost} bits");
            let error = opened.values.iter().zip(&expected).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
            assert!(-error.log2() > opened.precision_bits - 1.0 && -error.log2() < opened.precision_bits + 6.0);
            let mut wrong = shares.clone();
            wrong[0].neg_assign();
            assert!(matches!(plan.open(&wrong), Err(Error::NotDecryptable { .. })));
        }
    }
    errors_are_as_stated();
    let context = approximate(45, 2);
    let parties = parties(context.rlwe(), 2, &[5]);
    let encryptor = ckks::Encryptor::new(&context, Arc::clone(&parties.public)).unwrap();
    let a = encryptor.encrypt(&[Complex64::ONE; 8], &mut rng(2)).unwrap();
    let refused = ApproximateDecryption::plan(&context, &a, (PUBLICATION, 2));
    assert!(matches!(refused, Err(Error::PrecisionExhausted { .. })), "{refused:?}");
}

/// By the secret of all: encryption, product and automorphism under keys of several parties.
fn errors_are_as_stated() {
    for parties_count in [2, 16] {
        let context = approximate(45, parties_count);
        let parties = parties(context.rlwe(), 2, &[5]);
        let engine = ckks::Engine::new(&context, Arc::clone(&parties.keys)).unwrap();
        let own = ckks::Decryptor::new(&context, parties.secret()).unwrap();
        let encryptor = ckks::Encryptor::new(&context, Arc::clone(&parties.public)).unwrap();
        let values: Vec<Complex64> = (0..8).map(|j| Complex64::new((j as f64 / 9.0).cos(), 0.0)).collect();
        let a = encryptor.encrypt(&values, &mut rng(2)).unwrap();
        let product = engine.rescale(&engine.multiply(&a, &a).unwrap()).unwrap();
        let turned = engine.automorphism(&product, 5).unwrap();
        let squares: Vec<Complex64> = values.iter().map(|z| z * z).collect();
        let moved: Vec<Complex64> = (0..8).map(|j| squares[(j + 1) % 8]).collect();
        for (ct, expected) in [(&a, &values), (&product, &squares), (&turned, &moved)] {
            let read = own.decrypt(ct).unwrap();
            let error = read.iter().zip(expected).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
            let stated = ct.deviation();
            assert!(error < 4.0 * stated && error > stated / 100.0, "{parties_count}: {error:e}, deviation {stated:e}");
        }
    }
}

/// Someone outside, with a key pair of the same parameters, reads what the parties switch to it, and computes with it.
#[test]
fn a_key_outside_reads_alone() {
    for (m, scheme, modulus) in [(64, Scheme::Bgv, (257, 1)), (105, Scheme::Bfv, (2, 3))] {
        let setting = exact_setting(&exact(m, scheme, modulus, 3, 7), 2);
        let secret = Arc::new(SecretKey::generate(&setting.context, &mut rng(20)));
        let public = Arc::new(PublicKey::generate(&secret, &mut rng(21)));
        let outside = Decryptor::new(scheme, &setting.slots, Arc::clone(&secret));
        let values: Vec<u64> = (0..setting.slots.slots() as u64).map(|j| (j * j + 3) % modulus.0).collect();
        let ct = setting.encrypt(&values);
        for participants in [None, Some(&[1, 3][..])] {
            let count = participants.map_or(3, |some| some.len() as u32);
            let slots = (scheme, &setting.slots);
            let plan = ExactSwitch::plan(&setting.context, slots, &ct, (PUBLICATION, count), &public).unwrap();
            let shares: Vec<SwitchingShare> =
                setting.parties.decrypt(participants, |holder| plan.share(holder, &mut rng(9))).unwrap();
            let switched = plan.finish(&shares).unwrap();
            assert_eq!(outside.decrypt(&switched).unwrap().to_integers().unwrap(), values, "m = {m}, {scheme}");
            let noise = outside.exact_noise_leaks_the_secret_key(&switched).unwrap();
            assert!(noise <= switched.log2_noise() + 3.0, "2^{noise}, stated 2^{}", switched.log2_noise());
            // The noise of the shares is there, and the parties' own key does not read.
            let before = setting.noise_bits(plan.ciphertext());
            assert!(noise - before >= 40.0 + 10.0 - 1.0, "2^{noise} above 2^{before}");
            let own = Decryptor::new(scheme, &setting.slots, setting.parties.secret());
            assert!(matches!(own.decrypt(&switched), Err(Error::OtherKeyPair(_))));
            let few = plan.finish(&shares[1..]);
            assert!(matches!(few, Err(Error::OutOfRange(_))));
            let wrong = plan.finish(&vec![shares[0].clone(); count as usize]).unwrap();
            assert!(matches!(outside.decrypt(&wrong), Err(Error::NotDecryptable { .. })));
        }
    }
    let context = approximate(95, 2);
    let parties = parties(context.rlwe(), 2, &[5]);
    let encryptor = ckks::Encryptor::new(&context, Arc::clone(&parties.public)).unwrap();
    let secret = Arc::new(SecretKey::generate(context.rlwe(), &mut rng(20)));
    let public = Arc::new(PublicKey::generate(&secret, &mut rng(21)));
    let outside = ckks::Decryptor::new(&context, secret).unwrap();
    let values: Vec<Complex64> = (0..8).map(|j| Complex64::new(0.1 * j as f64, 0.3)).collect();
    let wide: Vec<WideComplex> = values.iter().map(|&z| z.into()).collect();
    let ct = encryptor.encrypt_wide(&wide, 1.0, &mut rng(2)).unwrap();
    let plan = ApproximateSwitch::plan(&context, &ct, (PUBLICATION, 2), &public).unwrap();
    let shares = parties.decrypt(None, |holder| plan.share(holder, &mut rng(4))).unwrap();
    let switched = plan.finish(&shares).unwrap();
    let read = outside.decrypt(&switched).unwrap();
    let error = read.iter().zip(&values).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
    assert!(error < switched.error_bound() && -error.log2() > switched.precision_bits() - 1.0);
    assert!(ct.precision_bits() - switched.precision_bits() > 50.0);
}

/// Masked shares leave each party with an additive share of the message, which come back as a sum of encryptions.
#[test]
fn messages_become_additive_shares_and_come_back() {
    for (m, scheme, (p, r)) in [(64, Scheme::Bgv, (257, 1)), (105, Scheme::Bfv, (2, 3))] {
        let setting = exact_setting(&exact(m, scheme, (p, r), 3, 6), 3);
        let t = p.pow(r);
        let values: Vec<u64> = (0..setting.slots.slots() as u64).map(|j| (j * j + 3) % t).collect();
        let ct = setting.engine().square(&setting.encrypt(&values)).unwrap();
        let plan = setting.plan(&ct, 3).unwrap();
        let n = setting.context.params().n() as u64;
        let mask = |seed: u64| {
            let residues = (0..n).map(|j| (seed * (j + 7) * (j + 11) + 5 * j) % t).collect();
            Plaintext::new(&setting.slots, residues).unwrap()
        };
        let (one, two) = (mask(1_000_003), mask(999_983));
        let holders: Vec<Holder<'_>> = setting.parties.shares.iter().map(Holder::All).collect();
        let shares = [
            plan.share(&holders[0], &mut rng(1)).unwrap(),
            plan.masked_share(&holders[1], &one, &mut rng(2)).unwrap(),
            plan.masked_share(&holders[2], &two, &mut rng(3)).unwrap(),
        ];
        let rest = plan.open(&setting.slots, &shares).unwrap();
        let encryptor = Encryptor::new(scheme, Arc::clone(&setting.parties.public));
        let sum = [&rest, &one, &two].map(|part| encryptor.encrypt(part, &mut rng(4)).unwrap());
        let engine = setting.engine();
        let sum = engine.add(&engine.add(&sum[0], &sum[1]).unwrap(), &sum[2]).unwrap();
        let own = Decryptor::new(scheme, &setting.slots, setting.parties.secret());
        let wanted: Vec<u64> = values.iter().map(|x| x * x % t).collect();
        assert_eq!(own.decrypt(&sum).unwrap().to_integers().unwrap(), wanted, "m = {m}, {scheme}");
        assert_ne!(rest.to_slots(), own.decrypt(&ct).unwrap().to_slots());
        let other = exact_setting(&exact(m, scheme, (p, r + 1), 3, 6), 3);
        let foreign = Plaintext::from_integers(&other.slots, &[1]).unwrap();
        let refused = plan.masked_share(&holders[1], &foreign, &mut rng(2));
        assert!(matches!(refused, Err(Error::ContextMismatch { .. })));
    }
}

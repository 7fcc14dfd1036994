//! Keys that several parties make together, against the secret that no party has.

use std::sync::Arc;

use num_bigint::BigInt;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::{
    Common, Flooding, Holder, KeyName, KeyShare, KeySum, SecretShare, Stage, ThresholdShare, deal,
};
use windlass_rlwe::switching::SwitchingKey;
use windlass_rlwe::{
    Assurance, Bound, Context, EvaluationKeys, NoiseModel, RlweError, RlweParams, RlweSpec, SecretDistribution,
    SecretKey,
};
use zeroize::Zeroizing;

const SETS: [(u64, u32); 4] = [(64, 2), (105, 3), (256, 5), (45, 16)];

fn context(m: u64, parties: u32) -> Arc<Context> {
    let spec = RlweSpec {
        m,
        q_prime_bits: vec![40, 40, 35, 40],
        spare_prime_bits: vec![30],
        special_prime_bits: vec![50, 50],
        digits: 3,
        secret: SecretDistribution::Collective { parties },
        assurance: Assurance::Insecure { name: "insecure_parties".into() },
    };
    Context::new(RlweParams::new(&spec).unwrap()).unwrap()
}

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

struct Setting {
    common: Common,
    shares: Vec<SecretShare>,
    /// What no party has.
    secret: SecretKey,
}

fn setting(m: u64, parties: u32) -> Setting {
    seeded_setting(m, parties, 1)
}

fn seeded_setting(m: u64, parties: u32, seed: u8) -> Setting {
    let context = context(m, parties);
    let common = Common::new(&context, [7; 32]).unwrap();
    let mut rng = rng(seed);
    let shares: Vec<SecretShare> = (0..parties).map(|_| SecretShare::generate(&common, &mut rng)).collect();
    let n = context.params().n();
    let sum = (0..n).map(|j| shares.iter().map(|share| share.expose_parts().0[j]).sum()).collect();
    let secret = SecretKey::from_coefficients(&context, common.key_id(), Zeroizing::new(sum)).unwrap();
    Setting { common, shares, secret }
}

fn sum(shares: impl Iterator<Item = KeyShare>) -> KeySum {
    let mut shares = shares;
    let mut sum = KeySum::of(shares.next().unwrap());
    shares.for_each(|share| sum.add(&share).unwrap());
    sum
}

impl Setting {
    fn first(&self, name: KeyName) -> KeySum {
        sum(self.shares.iter().map(|share| share.first(name).unwrap()))
    }

    fn relinearisation(&self, level: usize) -> KeySum {
        let first = self.first(KeyName::Relinearisation { level });
        sum(self.shares.iter().map(|share| share.second(&first).unwrap()))
    }
}

/// log2 of the canonical norm of a small polynomial.
fn log2_norm(poly: Poly<Eval>) -> f64 {
    let poly = poly.into_coeff();
    let lift = IntegerLift::new(poly.ring(), poly.basis());
    let centred: Vec<i64> = lift.centred(&poly).iter().map(|x: &BigInt| i64::try_from(x).expect("small")).collect();
    windlass_ring::norm::canonical_norm(poly.ring().shape(), &centred).log2()
}

#[test]
fn the_public_key_is_one_of_the_sum_of_all_secrets() {
    for (m, parties) in SETS {
        let setting = setting(m, parties);
        let key = setting.first(KeyName::Public).into_public_key(&setting.common).unwrap();
        assert_eq!(key.key_id(), setting.secret.key_id());
        let context = setting.common.context();
        let a = windlass_ring::sample::uniform(context.ring(), key.parts().1.basis(), key.parts().0, 0);
        let error = log2_norm(setting.secret.phase(&[key.parts().1.clone(), a]));
        let model = NoiseModel::new(context.params(), 2);
        assert!(error > 1.0 && error <= model.key_error(4).bits(), "m = {m}: 2^{error}");
    }
}

/// P·g_k·source over the primes of a key, in a polynomial of these primes.
fn gadget_times(context: &Context, k: usize, source: &Poly<Eval>) -> Poly<Eval> {
    let (ring, special) = (context.ring(), context.special());
    let group = &context.gadget().groups()[k];
    let factors: Vec<u64> = source
        .basis()
        .indices()
        .map(|index| if group.row_of(index).is_some() { ring.product(special, ring.modulus(index)) } else { 0 })
        .collect();
    source.embed_times(source.basis(), &factors)
}

/// Each row of a key hides what it should, up to an error within the bound; and the errors of relinearisation are ones
/// that the bound of other keys does not cover.
#[test]
fn errors_of_keys_keep_their_bounds() {
    for (m, parties) in SETS {
        let setting = setting(m, parties);
        let context = setting.common.context();
        let (ring, top) = (context.ring(), context.top_level());
        let element = if m % 2 == 0 { 3 } else { 2 };
        for level in [top, 3] {
            let mut keys = EvaluationKeys::of_pair(context, setting.common.key_id());
            setting.first(KeyName::Galois { element, level }).insert_into(&setting.common, &mut keys).unwrap();
            setting.relinearisation(level).insert_into(&setting.common, &mut keys).unwrap();
            let qp = context.covering_basis(level);
            let s = Poly::from_signed(ring, &qp, setting.secret.expose_coefficients()).into_eval();
            let inverse = (1..m).find(|t| t * element % m == 1).unwrap();
            let moved = s.automorphism(&ring.automorphism(inverse).unwrap());
            let model = NoiseModel::new(context.params(), 1);
            let own = model.key_error(4);
            let of_products = own * (model.secret_norm() * Bound::of(2.0) + Bound::ONE);
            let (galois, product) = (keys.galois(element).unwrap(), keys.relinearisation().unwrap());
            for (key, source, target, bound) in
                [(galois, s.clone(), &moved, own), (product, s.mul(&s), &s, of_products)]
            {
                assert_eq!((key.level(), key.b().len()), (level, SwitchingKey::digits(context, level)));
                let halves: Vec<_> = key.pairs().cloned().collect();
                for (k, pair) in halves.chunks(2).enumerate() {
                    let mut error = pair[1].mul(target).plus(&pair[0]);
                    error.sub_assign(&gadget_times(context, k, &source));
                    let error = log2_norm(error);
                    assert!(error > 1.0 && error <= bound.bits(), "m = {m}, digit {k}: 2^{error}, bound {bound}");
                    if bound > own {
                        assert!(error > own.bits() - 1.0, "m = {m}: 2^{error} is no error of a product of secrets");
                    }
                }
            }
        }
    }
}

fn holder<'a>(share: &'a ThresholdShare, participants: &'a [u32]) -> Holder<'a> {
    Holder::Threshold { share, participants }
}

/// A decryption by all parties, and one by every choice of t, gives the phase and the noise that was asked for.
#[test]
fn shares_of_a_decryption_add_up_to_the_phase() {
    for (m, parties) in SETS {
        let setting = setting(m, parties);
        let context = setting.common.context();
        let (ring, mut rng) = (context.ring(), rng(2));
        for level in [context.top_level(), 2] {
            let c1 = windlass_ring::sample::uniform(ring, &context.basis(level), &[9; 32], 3);
            let wanted = setting.secret.phase(&[Poly::<Eval>::zero(ring, c1.basis()), c1.clone()]);
            let within = |total: Poly<Eval>, count: u32| {
                let noise = total.minus(&wanted).into_coeff();
                let all = IntegerLift::new(ring, noise.basis()).centred(&noise);
                let largest = all.iter().map(BigInt::magnitude).max().unwrap().clone();
                let (multiple, most): (BigInt, BigInt) =
                    (BigInt::from(257), BigInt::from(257 * u64::from(count)) << 20);
                all.iter().all(|x| x % &multiple == BigInt::ZERO) && largest <= *most.magnitude() && largest.bits() > 24
            };
            let noise = (Flooding { bits: 20 }, 257);
            let mut total = Poly::<Eval>::zero(ring, c1.basis());
            setting.shares.iter().for_each(|share| {
                total.add_assign(&Holder::All(share).decryption_share(&c1, noise, &mut rng).unwrap())
            });
            assert!(within(total, parties));
            for threshold in 1..=parties.min(4) {
                let dealt: Vec<_> = setting.shares.iter().map(|share| deal(share, threshold).unwrap()).collect();
                let mut columns: Vec<Vec<_>> = (0..parties).map(|_| Vec::new()).collect();
                for row in dealt {
                    row.into_iter().zip(&mut columns).for_each(|(share, column)| column.push(share));
                }
                let own: Vec<ThresholdShare> = columns
                    .into_iter()
                    .zip(1..)
                    .map(|(column, party)| ThresholdShare::new(party, threshold, column).unwrap())
                    .collect();
                for first in 1..=parties - threshold + 1 {
                    let mut some: Vec<u32> = (first..first + threshold).collect();
                    *some.last_mut().unwrap() = parties;
                    let mut total = Poly::<Eval>::zero(ring, c1.basis());
                    for &party in &some {
                        let share = &own[party as usize - 1];
                        total.add_assign(&holder(share, &some).decryption_share(&c1, noise, &mut rng).unwrap());
                    }
                    assert!(within(total, threshold), "m = {m}, {some:?} of {parties}");
                }
                let twice = vec![1; threshold as usize];
                let refused = holder(&own[0], &twice).decryption_share(&c1, noise, &mut rng);
                assert!(threshold == 1 || matches!(refused, Err(RlweError::OutOfRange(_))));
                let few: Vec<u32> = (1..threshold).collect();
                assert!(holder(&own[0], &few).decryption_share(&c1, noise, &mut rng).is_err());
            }
        }
    }
}

/// One share fewer than the threshold is as likely for every secret: its residues are uniform.
#[test]
fn fewer_shares_than_the_threshold_are_uniform() {
    let (mut ones, mut count) = (0u64, 0u64);
    for seed in 0..40 {
        let setting = seeded_setting(64, 2, seed);
        let context = setting.common.context();
        let dealt = deal(&setting.shares[0], 2).unwrap();
        // Values of a short secret look uniform as well; its coefficients do not.
        let poly = dealt[0].expose_poly().clone().into_coeff();
        for (row, index) in poly.basis().indices().enumerate() {
            let half = context.ring().modulus(index).value() / 2;
            ones += poly.row(row).iter().filter(|&&x| x > half).count() as u64;
            count += poly.row(row).len() as u64;
        }
    }
    let expected = count as f64 / 2.0;
    assert!((ones as f64 - expected).abs() < 5.0 * (count as f64 / 4.0).sqrt(), "{ones} of {count}");
}

/// Flooding noise is uniform on its interval: mean, variance and the lowest bits, over several limbs.
#[test]
fn flooding_noise_is_uniform() {
    let setting = setting(256, 2);
    let context = setting.common.context();
    let (ring, mut rng) = (context.ring(), rng(3));
    let zero = Poly::<Eval>::zero(ring, &context.basis(context.top_level()));
    for bits in [0, 1, 30, 61, 62, 63, 100, 124] {
        let mut values: Vec<BigInt> = Vec::new();
        for _ in 0..40 {
            let share =
                Holder::All(&setting.shares[0]).decryption_share(&zero, (Flooding { bits }, 1), &mut rng).unwrap();
            values.extend(IntegerLift::new(ring, zero.basis()).centred(&share.into_coeff()));
        }
        let size = BigInt::from(1) << bits;
        assert!(values.iter().all(|x| *x >= -size.clone() && *x < size), "2^{bits}");
        let scaled = |x: &BigInt| -> f64 {
            let shifted: BigInt = if bits > 50 { x >> (bits - 50) } else { x << (50 - bits) };
            i64::try_from(shifted).unwrap() as f64 / 2f64.powi(50)
        };
        let count = values.len() as f64;
        let mean = values.iter().map(scaled).sum::<f64>() / count;
        let square = values.iter().map(|x| scaled(x).powi(2)).sum::<f64>() / count;
        // Of 2^{bits+1} points: mean −1/2 point, mean square 1/3 and a little.
        let point = 2f64.powi(-(bits as i32));
        assert!((mean + point / 2.0).abs() < 0.04, "2^{bits}: mean {mean}");
        assert!((square - 1.0 / 3.0 - point * point / 6.0).abs() < 0.03, "2^{bits}: {square}");
        let odd = values.iter().filter(|x| x.bit(0)).count() as f64 / count;
        assert!((odd - 0.5).abs() < 0.04, "2^{bits}: {odd}");
    }
    let refused = Holder::All(&setting.shares[0]).decryption_share(&zero, (Flooding { bits: 497 }, 1), &mut rng);
    assert!(matches!(refused, Err(RlweError::OutOfRange(_))));
}

/// A share that is asked for again is the same one; a second message depends on the whole sum of the first ones.
#[test]
fn shares_are_made_once() {
    let setting = setting(64, 2);
    let level = setting.common.context().top_level();
    let name = KeyName::Relinearisation { level };
    for name in [KeyName::Public, KeyName::Galois { element: 3, level }, name] {
        let [one, two] = [(); 2].map(|()| setting.shares[0].first(name).unwrap());
        assert_eq!(one.polys(), two.polys());
        assert_ne!(one.polys(), setting.shares[1].first(name).unwrap().polys());
        let lower = KeyName::Galois { element: 3, level: level - 1 };
        assert_ne!(one.polys()[0].row(0), setting.shares[0].first(lower).unwrap().polys()[0].row(0));
    }
    let first = setting.first(name);
    let [once, again] = [(); 2].map(|()| setting.shares[0].second(&first).unwrap());
    assert_eq!(once.polys(), again.polys());
    // Of a sum whose first half is larger by δ the share is larger by s·δ, and its error is another one: with the same
    // error the difference would show s.
    let context = setting.common.context();
    let delta = windlass_ring::sample::uniform(context.ring(), first.polys()[0].basis(), &[5; 32], 0);
    let mut polys = first.polys().to_vec();
    polys[0].add_assign(&delta);
    let other = KeySum::from_polys(&setting.common, (name, Stage::First), 2, polys).unwrap();
    let elsewhere = setting.shares[0].second(&other).unwrap();
    let (own, _) = setting.shares[0].expose_parts();
    let secret = Poly::from_signed(context.ring(), delta.basis(), own).into_eval();
    let mut rest = elsewhere.polys()[0].minus(&once.polys()[0]);
    rest.sub_assign(&delta.mul(&secret));
    let rest = log2_norm(rest);
    assert!(rest > 3.0 && rest < 12.0, "the difference of two errors: 2^{rest}");
    let restored = {
        let (coefficients, errors) = setting.shares[0].expose_parts();
        let (coefficients, errors) = (Zeroizing::new(coefficients.to_vec()), Zeroizing::new(*errors));
        SecretShare::from_parts(&setting.common, coefficients, errors).unwrap()
    };
    assert_eq!(restored.second(&first).unwrap().polys(), once.polys());
}

#[test]
fn sums_that_are_not_complete_are_refused() {
    let setting = setting(105, 3);
    let level = setting.common.context().top_level();
    let name = KeyName::Relinearisation { level };
    let bad = |result: Result<(), RlweError>| assert!(matches!(result, Err(RlweError::BadKey { .. })), "{result:?}");
    let mut two = KeySum::of(setting.shares[0].first(name).unwrap());
    two.add(&setting.shares[1].first(name).unwrap()).unwrap();
    let refused = setting.shares[0].second(&two).map(drop);
    assert!(matches!(refused, Err(RlweError::IncompleteSum { added: 2, parties: 3 })));
    bad(two.add(&setting.shares[2].first(KeyName::Public).unwrap()));
    bad(two.add(&setting.shares[2].first(KeyName::Relinearisation { level: 2 }).unwrap()));
    two.add(&setting.shares[2].first(name).unwrap()).unwrap();
    let mut keys = EvaluationKeys::of_pair(setting.common.context(), setting.common.key_id());
    bad(two.clone().insert_into(&setting.common, &mut keys));
    bad(two.into_public_key(&setting.common).map(drop));
    let mut public = KeySum::of(setting.shares[0].first(KeyName::Public).unwrap());
    public.add(&setting.shares[1].first(KeyName::Public).unwrap()).unwrap();
    let refused = public.clone().into_public_key(&setting.common).map(drop);
    assert!(matches!(refused, Err(RlweError::IncompleteSum { .. })));
    let other = Common::new(setting.common.context(), [8; 32]).unwrap();
    public.add(&setting.shares[2].first(KeyName::Public).unwrap()).unwrap();
    let refused = public.into_public_key(&other).map(drop);
    assert!(matches!(refused, Err(RlweError::OtherKeyPair(_))), "of another making of keys");
    assert_ne!(other.key_id(), setting.common.key_id());
    for name in [
        KeyName::Galois { element: 3, level },
        KeyName::Galois { element: 1, level },
        KeyName::Galois { element: 2, level: 0 },
    ] {
        assert!(setting.shares[0].first(name).is_err(), "{name:?}");
    }
    let alone = RlweSpec {
        m: 64,
        q_prime_bits: vec![40],
        spare_prime_bits: vec![],
        special_prime_bits: vec![50],
        digits: 1,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_alone".into() },
    };
    let alone = Context::new(RlweParams::new(&alone).unwrap()).unwrap();
    assert!(matches!(Common::new(&alone, [7; 32]), Err(RlweError::OutOfRange(_))));
    assert!(matches!(KeyShare::layout(&other, KeyName::Public, Stage::Second), Err(RlweError::BadKey { .. })));
}

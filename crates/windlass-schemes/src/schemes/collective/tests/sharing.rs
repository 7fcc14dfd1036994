//! What coalitions see of CKKS decryptions, and additive shares of real numbers.

use super::super::{ApproximateSharing, RealShare};
use super::*;

/// A vector of eight numbers under the key of three parties, two of whom decrypt.
struct Setting {
    context: Arc<CkksContext>,
    parties: Parties,
    values: Vec<Complex64>,
    ct: ckks::Ciphertext,
}

fn setting(scale_bits: u32) -> Setting {
    let context = approximate(scale_bits, 3);
    let parties = parties(context.rlwe(), 2, &[5]);
    let encryptor = ckks::Encryptor::new(&context, Arc::clone(&parties.public)).unwrap();
    let values: Vec<Complex64> = (0..8).map(|j| Complex64::new((j as f64 / 9.0).cos(), -0.05 * j as f64)).collect();
    let wide: Vec<WideComplex> = values.iter().map(|&z| z.into()).collect();
    let ct = encryptor.encrypt_wide(&wide, 1.1, &mut rng(2)).unwrap();
    Setting { context, parties, values, ct }
}

fn largest_error(a: &[Complex64], b: &[Complex64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max)
}

/// The coefficients of a polynomial of small integers, in units of 2^bits.
fn scaled(poly: &Poly<Eval>, bits: u32) -> Vec<f64> {
    let all = windlass_ring::rns::centred_floats(&poly.clone().into_coeff());
    all.iter().map(|x| x / f64::from(bits).exp2()).collect()
}

/// Numbers that should be uniform in \[−1, 1): moments and a histogram.
fn check_uniform(seen: &[f64]) {
    let (count, mut bins) = (seen.len() as f64, [0u32; 8]);
    assert!(count >= 1024.0 && seen.iter().all(|x| (-1.0..=1.0).contains(x)), "{count}");
    seen.iter().for_each(|x| bins[(((x + 1.0) * 4.0) as usize).min(7)] += 1);
    let moment = |k: i32| seen.iter().map(|x| x.powi(k)).sum::<f64>() / count;
    // Five deviations: of x, x² and x⁴ they are 0.577, 0.298 and 0.267, divided by √count.
    for (k, mean, deviation) in [(1, 0.0, 0.577), (2, 1.0 / 3.0, 0.298), (4, 0.2, 0.267)] {
        assert!((moment(k) - mean).abs() < 5.0 * deviation / count.sqrt(), "{k}: {}", moment(k));
    }
    assert!(bins.iter().all(|&bin| (f64::from(bin) - count / 8.0).abs() < 5.0 * (count / 8.0).sqrt()), "{bins:?}");
}

/// Two of three parties take their own noise from the sum of all shares. What is left is the phase with the noise of the
/// third: uniform, whatever the error of the ciphertext is.
#[test]
fn a_coalition_sees_the_values_with_the_noise_of_one_party() {
    let Setting { context, parties, ct, .. } = setting(95);
    let plan = ApproximateDecryption::plan(&context, &ct, (PUBLICATION, 3)).unwrap();
    let gained = plan.coalition_precision_bits() - plan.precision_bits();
    assert!((gained - 3f64.sqrt().log2()).abs() < 0.01, "{gained}");
    let (c1, bits) = (ct.parts()[1].restrict(plan.basis()), plan.flooding().bits);
    let under = |coefficients: &[i64]| c1.mul(&Poly::from_signed(c1.ring(), c1.basis(), coefficients).into_eval());
    let mut phase = ct.parts()[0].restrict(plan.basis());
    phase.add_assign(&under(parties.secret().expose_coefficients()));
    // The error, which the simulator does not know.
    let mut seen = Vec::new();
    for seed in 0..8 {
        let shares: Vec<Poly<Eval>> = parties
            .shares
            .iter()
            .zip(0u8..)
            .map(|(secret, party)| plan.share(&Holder::All(secret), &mut rng(50 + 3 * seed + party)).unwrap())
            .collect();
        let mut left = super::super::shares::sum_of_shares(ct.parts()[0].restrict(plan.basis()), &shares, 3).unwrap();
        for (own, share) in parties.shares.iter().zip(&shares).skip(1) {
            let mut noise = share.clone();
            noise.sub_assign(&under(own.expose_parts().0));
            assert!(scaled(&noise, bits).iter().all(|x| (-1.0..1.0).contains(x)));
            left.sub_assign(&noise);
        }
        left.sub_assign(&phase);
        seen.extend(scaled(&left, bits));
    }
    check_uniform(&seen);
    // And this noise is as much larger than the error as was planned.
    let error = ct.whole_error_bound() * ct.scale();
    assert!(f64::from(bits) - error.log2() >= 40.0 + 1000f64.log2() + 4.0 - 1.0);
}

/// What all parties hold together is the phase, modulo every power of two; what one holds is noise. The shares come back
/// as a ciphertext, without a bit lost beside the errors of encryptions.
#[test]
fn numbers_become_additive_shares_and_come_back() {
    let Setting { context, parties, values, ct } = setting(45);
    let own = ckks::Decryptor::new(&context, parties.secret()).unwrap();
    let mut phase = ct.parts()[0].clone();
    let secret = parties.secret();
    let coefficients = secret.expose_coefficients();
    let s = Poly::from_signed(phase.ring(), phase.basis(), coefficients).into_eval();
    phase.add_assign(&ct.parts()[1].mul(&s));
    let phase = centred(&phase);
    for (participants, count) in [(None, 3), (Some(&[1, 3][..]), 2)] {
        let plan = ApproximateSharing::plan(&context, &ct, (PUBLICATION, count)).unwrap();
        let seed = std::cell::Cell::new(30);
        let made: Vec<(Poly<Eval>, RealShare)> = parties
            .decrypt(participants, |holder| {
                seed.set(seed.get() + 1);
                plan.share(holder, &mut rng(seed.get()))
            })
            .unwrap();
        let (sent, mut shares): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        assert!(matches!(plan.open(&shares[0], &sent[1..]), Err(Error::OutOfRange(_))));
        shares[0] = plan.open(&shares[0], &sent).unwrap();
        // Every share is as large as the noise, not as the values.
        let planned = plan.mask().bits;
        assert!(f64::from(planned) > 40.0 + 10.0 + 45.0);
        for share in &shares {
            let size = scaled(share.expose_poly(), planned).iter().fold(0.0f64, |a, b| a.max(b.abs()));
            assert!(size > 0.9 && size < f64::from(count), "{size}");
        }
        for bits in [plan.modulus_bits(0), 64, 128] {
            let sum = added(&shares, 0, bits);
            for (sum, phase) in sum.iter().zip(&phase) {
                assert_eq!(*sum, *phase as u128 & (u128::MAX >> (128 - bits)));
                assert!(phase.unsigned_abs() < 1 << (plan.modulus_bits(0) - 1));
            }
        }
        // Shares that drop bits are off by less than the number of parties.
        let bits = plan.modulus_bits(20);
        for (sum, phase) in added(&shares, 20, bits).iter().zip(&phase) {
            let sum = ((sum << (128 - bits)) as i128) >> (128 - bits);
            assert!((0..=i128::from(count)).contains(&((phase >> 20) - sum)), "{sum}, {phase}");
        }
        let part = |(share, seed): (&RealShare, u8)| plan.encrypt(&parties.public, share, &mut rng(seed)).unwrap();
        let parts: Vec<SwitchingShare> = shares.iter().zip(60..).map(part).collect();
        let back = plan.finish(&parties.public, &parts).unwrap();
        let error = largest_error(&own.decrypt(&back).unwrap(), &values);
        println!("{count}: 2^{:.1} of 2^{:.1}", error.log2(), back.error_bound().log2());
        assert!(error <= back.error_bound() && ct.precision_bits() - back.precision_bits() < 3.0);
        assert!(matches!(plan.finish(&parties.public, &parts[1..]), Err(Error::OutOfRange(_))));
    }
}

/// The centred coefficients of a polynomial, of fewer than 128 bits.
fn centred(poly: &Poly<Eval>) -> Vec<i128> {
    windlass_ring::rns::centred_words(&poly.clone().into_coeff()).iter().map(|&x| x as i128).collect()
}

/// The sum of all shares modulo 2^bits, after they dropped their lowest bits.
fn added(shares: &[RealShare], dropped: u32, bits: u32) -> Vec<u128> {
    let words: Vec<_> = shares.iter().map(|share| share.fixed_point(dropped, bits).unwrap()).collect();
    let sum = |j: usize| words.iter().fold(0u128, |sum, words| sum.wrapping_add(words[j]));
    (0..words[0].len()).map(|j| sum(j) & (u128::MAX >> (128 - bits))).collect()
}

/// The shares of the parties, the first of whom is the reader.
fn shared(parties: &Parties, plan: &ApproximateSharing, seed: u8) -> Vec<RealShare> {
    let made = parties.shares.iter().zip(seed..).map(|(own, seed)| plan.share(&Holder::All(own), &mut rng(seed)));
    let (sent, mut shares): (Vec<_>, Vec<_>) = made.map(|made| made.unwrap()).unzip();
    shares[0] = plan.open(&shares[0], &sent).unwrap();
    shares
}

/// Shares of up to four ciphertexts are added up, and no integer wraps.
#[test]
fn shares_are_added_up() {
    let Setting { context, parties, ct, .. } = setting(45);
    let plan = ApproximateSharing::plan(&context, &ct, (PUBLICATION, 3)).unwrap();
    let once = added(&shared(&parties, &plan, 30), 0, 128);
    let all: Vec<Vec<RealShare>> = (0..4).map(|k| shared(&parties, &plan, 40 + 3 * k)).collect();
    let of_party = |j: usize| all[1..].iter().fold(all[0][j].clone(), |sum, shares| sum.plus(&shares[j]).unwrap());
    let sums: Vec<RealShare> = (0..3).map(of_party).collect();
    let four: Vec<u128> = once.iter().map(|x| x.wrapping_mul(4)).collect();
    assert_eq!(added(&sums, 0, 128), four);
    assert!(matches!(sums[0].plus(&all[0][0]), Err(Error::OutOfRange(_))));
    // The ciphertext's bounds are not those of sums.
    assert!(matches!(plan.encrypt(&parties.public, &sums[0], &mut rng(9)), Err(Error::OutOfRange(_))));
}

/// In a sharing, a coalition of all parties but one sees the phase with the noise of that one: uniform, whatever the
/// values are.
#[test]
fn a_coalition_sees_noise_in_place_of_shared_values() {
    let Setting { context, parties, ct, .. } = setting(45);
    let plan = ApproximateSharing::plan(&context, &ct, (PUBLICATION, 3)).unwrap();
    let seen: Vec<f64> = (0..8)
        .flat_map(|k| {
            let shares = shared(&parties, &plan, 60 + 3 * k);
            // The third party is honest. The other two are the coalition, the reader among them.
            scaled(shares[0].plus(&shares[1]).unwrap().expose_poly(), plan.mask().bits)
        })
        .collect();
    check_uniform(&seen);
}

#[test]
fn sharings_that_cannot_be_are_refused() {
    let Setting { context, parties, ct, .. } = setting(45);
    let plan = |ct: &ckks::Ciphertext, count| ApproximateSharing::plan(&context, ct, (PUBLICATION, count));
    let engine = ckks::Engine::new(&context, Arc::clone(&parties.keys)).unwrap();
    let low = engine.lower(&ct, context.base_level()).unwrap();
    assert!(matches!(plan(&low, 3), Err(Error::CapacityExhausted { .. })));
    // One party's share would be the values.
    assert!(matches!(plan(&ct, 1), Err(Error::OutOfRange(_))));
    assert!(ApproximateSharing::plan(&approximate(46, 3), &ct, (PUBLICATION, 3)).is_err());
    let plan = plan(&ct, 3).unwrap();
    assert!(plan.share(&Holder::Threshold { share: &parties.some[0], participants: &[1, 3] }, &mut rng(1)).is_err());
    let (_, share) = plan.share(&Holder::All(&parties.shares[0]), &mut rng(1)).unwrap();
    for (dropped, bits) in [(0, 0), (1, 128), (0, 129), (128, 1), (u32::MAX, 1)] {
        assert!(matches!(share.fixed_point(dropped, bits), Err(Error::OutOfRange(_))));
    }
    // Whoever holds another key would see the error.
    let secret = SecretKey::generate(context.rlwe(), &mut rng(2));
    let outside = PublicKey::generate(&secret, &mut rng(3));
    assert!(matches!(plan.encrypt(&outside, &share, &mut rng(4)), Err(Error::OtherKeyPair(_))));
    assert!(matches!(plan.finish(&outside, &[]), Err(Error::OtherKeyPair(_))));
}

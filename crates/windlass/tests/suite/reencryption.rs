//! Ciphertexts that are brought to another key pair: of the same owner, and of a recipient.

use windlass::needs::Products;
use windlass::rlwe::{ReceivingKey, ReencryptionKey};
use windlass::schemes::ckks::CkksSpec;
use windlass::{Context, Error, Params, Scheme};

#[test]
fn values_are_brought_to_another_key_pair_and_computed_with() {
    for (name, scheme) in
        [("insecure_toy_256", Scheme::Bgv), ("insecure_toy_256", Scheme::Bfv), ("insecure_boot_105", Scheme::Bgv)]
    {
        let context = Context::preset(name).unwrap().with_scheme(scheme).unwrap();
        let (old, server) = context.generate_keys([&Products]).unwrap();
        let (new, new_server) = context.generate_keys([&Products]).unwrap();
        let t = context.modulus();
        let values: Vec<u64> = (0..context.slots() as u64).map(|j| (j * j + 1) % t).collect();
        let squares: Vec<u64> = values.iter().map(|x| x * x % t).collect();
        let ct = server.square(&old.encrypt(&values).unwrap()).unwrap();
        let receiving = new.receiving_key().unwrap();
        let receiving: ReceivingKey = context.from_bytes(&context.to_bytes(&receiving).unwrap()).unwrap();
        for key in [old.reencryption_key(&new).unwrap(), old.delegation_key(&receiving).unwrap()] {
            let key: ReencryptionKey = context.from_bytes(&context.to_bytes(&key).unwrap()).unwrap();
            let brought = ct.reencrypted(&key).unwrap();
            assert_eq!(new.decrypt(&brought).unwrap(), squares, "{name}, {scheme}");
            let noise = new.decryptor().exact_noise_leaks_the_secret_key(&brought).unwrap();
            assert!(noise <= brought.log2_noise() + 3.0, "2^{noise}, stated 2^{}", brought.log2_noise());
            assert!(matches!(old.decrypt(&brought), Err(Error::OtherKeyPair(_))));
            let more = new_server.square(&brought).unwrap();
            let wanted: Vec<u64> = squares.iter().map(|x| x * x % t).collect();
            assert_eq!(new.decrypt(&more).unwrap(), wanted);
            // In one direction, and for one pair.
            let backwards = new.encrypt(&values).unwrap().reencrypted(&key);
            assert!(matches!(backwards, Err(Error::Rlwe(_) | Error::OtherKeyPair(_))), "{backwards:?}");
            let bytes = context.to_bytes(&key).unwrap();
            for end in (0..bytes.len()).step_by(bytes.len() / 9) {
                assert!(context.from_bytes::<ReencryptionKey>(&bytes[..end]).is_err());
            }
        }
    }
}

/// The errors of a delegation's key are products: beyond the bound of other keys, within that of this one.
#[test]
fn errors_of_delegations_are_within_their_bound() {
    let context = Context::preset("insecure_boot_256_p257").unwrap();
    let (old, _) = context.generate_keys([]).unwrap();
    let (new, _) = context.generate_keys([]).unwrap();
    let rlwe = context.rlwe();
    let key = old.delegation_key(&new.receiving_key().unwrap()).unwrap();
    let (ring, special) = (rlwe.ring(), rlwe.special());
    let pairs: Vec<_> = key.switching_key().pairs().cloned().collect();
    let model = windlass::rlwe::NoiseModel::new(rlwe.params(), 1);
    let mut largest: f64 = 0.0;
    for (k, pair) in pairs.chunks(2).enumerate() {
        let basis = pair[0].basis().clone();
        let source =
            windlass::ring::Poly::from_signed(ring, &basis, old.secret_key().expose_coefficients()).into_eval();
        let factors: Vec<u64> =
            basis
                .indices()
                .map(|i| {
                    if rlwe.gadget().groups()[k].row_of(i).is_some() {
                        ring.product(special, ring.modulus(i))
                    } else {
                        0
                    }
                })
                .collect();
        let target =
            windlass::ring::Poly::from_signed(ring, &basis, new.secret_key().expose_coefficients()).into_eval();
        let mut error = pair[1].mul(&target).plus(&pair[0]);
        error.sub_assign(&source.embed_times(&basis, &factors));
        let error = error.into_coeff();
        let lift = windlass::ring::rns::IntegerLift::new(ring, &basis);
        let small: Vec<i64> = lift.centred(&error).iter().map(|x| i64::try_from(x).expect("small")).collect();
        largest = largest.max(windlass::ring::norm::canonical_norm(ring.shape(), &small).log2());
    }
    let own = model.error(4).bits();
    let bound = own + (2.0 * model.secret_norm().bits().exp2() + 1.0).log2();
    assert!(largest > own && largest <= bound, "2^{largest}: between 2^{own} and 2^{bound}");
}

#[test]
fn numbers_of_ckks_are_brought_to_another_key_pair() {
    let context = Context::approximate(&CkksSpec::secure(2, 40, 4, 8).unwrap()).unwrap();
    let (old, server) = context.generate_keys([&Products]).unwrap();
    let (new, _) = context.generate_keys([]).unwrap();
    let values = [0.5, -0.25, 0.75];
    let ct = server.square(&old.encrypt(&values).unwrap()).unwrap();
    for key in [old.reencryption_key(&new).unwrap(), old.delegation_key(&new.receiving_key().unwrap()).unwrap()] {
        let brought = ct.reencrypted(&key).unwrap();
        assert!(brought.precision_bits() <= ct.precision_bits() && brought.precision_bits() > 15.0);
        for (got, x) in new.decrypt(&brought).unwrap().iter().zip(values) {
            assert!((got - x * x).abs() < brought.error_bound());
        }
        assert!(matches!(old.decrypt(&brought), Err(Error::OtherKeyPair(_))));
    }
}

#[test]
fn keys_of_other_parameters_are_refused() {
    let context = Context::preset("insecure_toy_256").unwrap();
    let together =
        Context::from_params(Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().with_parties(2).unwrap());
    let (one, _) = context.generate_keys([]).unwrap();
    let (other, _) = together.unwrap().generate_keys([]).unwrap();
    assert!(matches!(one.reencryption_key(&other), Err(Error::Rlwe(_))));
    assert!(matches!(one.delegation_key(&other.receiving_key().unwrap()), Err(Error::Rlwe(_))));
    let key = other.reencryption_key(&other).unwrap();
    let ct = one.encrypt(&[1]).unwrap();
    assert!(matches!(ct.reencrypted(&key), Err(Error::ContextMismatch { .. })));
}

//! Additive shares of real numbers, there and back.

use std::sync::Arc;

use windlass::Approximate;
use windlass::schemes::ckks::{self, Complex64, WideComplex};
use windlass::schemes::collective::SwitchingShare;
use windlass_parties::{PartiesError, Party, Receipt, ShareReading};
use windlass_rlwe::context::os_rng;

use super::{Session, approximate, begin};

/// Two of three members hold numbers together, and bring them back. No bits are lost.
#[test]
fn members_hold_numbers_together_and_bring_them_back() {
    let context = approximate(3);
    let mut session: Session<Approximate> = begin(&context, 3, 2, &[]);
    let keys = session.keys();
    let encryptor = ckks::Encryptor::new(context.ckks(), Arc::clone(&keys.public)).unwrap();
    let values: Vec<Complex64> = (0..8).map(|j| Complex64::new(0.05 * f64::from(j), 0.1)).collect();
    let wide: Vec<WideComplex> = values.iter().map(|&z| z.into()).collect();
    let ct = encryptor.encrypt_wide(&wide, 1.0, &mut os_rng().unwrap()).unwrap();
    let mut reading = ShareReading::new(&session.agreement, &ct, &[1, 3], &session.identities[2]).unwrap();
    let mut shares = Vec::new();
    for index in [0, 2] {
        let (message, own) = session.parties[index].decrypt_to_share(&ct, &[1, 3], 3).unwrap();
        assert!(matches!(reading.open(&own), Err(PartiesError::Missing { .. })));
        // A party that is asked again has the same share, also after a restart.
        let state = session.parties[index].to_bytes().unwrap();
        let mut again = Party::from_bytes(&session.agreement, &session.identities[index], &state).unwrap();
        let (_, same) = again.decrypt_to_share(&ct, &[1, 3], 3).unwrap();
        assert_eq!(same.fixed_point(0, 128).unwrap(), own.fixed_point(0, 128).unwrap());
        // Only the reader opens it, and it is no share of a decryption.
        let mut plain = ShareReading::new(&session.agreement, &ct, &[1, 3], &session.identities[0]).unwrap();
        assert!(plain.receive(&message).is_err());
        assert_eq!(reading.receive(&message).unwrap(), Receipt::New);
        shares.push(own);
    }
    assert_eq!(session.parties.iter().map(Party::decryptions).collect::<Vec<_>>(), [1, 0, 1]);
    shares[1] = reading.open(&shares[1]).unwrap();
    let plan = reading.plan();
    let part = |share| plan.encrypt(&keys.public, share, &mut os_rng().unwrap()).unwrap();
    let parts: Vec<SwitchingShare> = shares.iter().map(part).collect();
    let back = plan.finish(&keys.public, &parts).unwrap();
    assert!(ct.precision_bits() - back.precision_bits() < 3.0);
    let opened = session.read(&back, &[2, 3]).unwrap();
    let error = opened.values.iter().zip(&values).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
    assert!(error < (1.0 - opened.precision_bits).exp2(), "{error:e}, {}", opened.precision_bits);
    // What came back has other shares, which are read in the clear here.
    let mut again = ShareReading::new(&session.agreement, &back, &[2, 3], &session.identities[1]).unwrap();
    let [bens, cleos] = [1, 2].map(|index| {
        let (message, own) = session.parties[index].decrypt_to_share(&back, &[2, 3], 2).unwrap();
        again.receive(&message).unwrap();
        own
    });
    let bens = again.open(&bens).unwrap().fixed_point(0, 128).unwrap();
    let cleos = cleos.fixed_point(0, 128).unwrap();
    // Of the plaintext polynomial the first coefficient is the mean of the real parts, the middle one of the imaginary ones.
    let of = |place: usize| bens[place].wrapping_add(cleos[place]) as i128 as f64 / back.scale();
    let mean = values.iter().sum::<Complex64>() / 8.0;
    assert!((of(0) - mean.re).abs() < 2f64.powi(-40) && (of(64) - mean.im).abs() < 2f64.powi(-40));
    // A reader that takes no part, and messages of another step.
    assert!(matches!(session.parties[0].decrypt_to_share(&ct, &[1, 3], 2), Err(PartiesError::OutOfRange(_))));
    let refused = ShareReading::new(&session.agreement, &ct, &[1, 3], &session.identities[1]);
    assert!(matches!(refused, Err(PartiesError::OutOfRange(_))));
    // Where one member decrypts alone, its share would be the values.
    let mut alone: Session<Approximate> = begin(&context, 3, 1, &[]);
    let encryptor = ckks::Encryptor::new(context.ckks(), Arc::clone(&alone.keys().public)).unwrap();
    let ct = encryptor.encrypt_wide(&wide, 1.0, &mut os_rng().unwrap()).unwrap();
    let refused = alone.parties[0].decrypt_to_share(&ct, &[1], 1).map(drop);
    assert!(matches!(refused, Err(PartiesError::OutOfRange(_))), "{refused:?}");
    assert_eq!(alone.parties[0].decryptions(), 0);
}

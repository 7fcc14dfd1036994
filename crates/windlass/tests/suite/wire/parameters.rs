//! Parameter files: the meaning of each version stays, even if presets change.

use windlass::Params;
use windlass::bootstrap::Ephemeral;
use windlass::rlwe::SecretDistribution;
use windlass::schemes::ckks::CkksSpec;

/// The set `boot_m31775_p2` as it was written when versions 1 and 2 were new, and in versions 3 and 4.
const VERSIONS: [&str; 4] = [
    include_str!("../../golden/parameters-v1.json"),
    include_str!("../../golden/parameters-v2.json"),
    include_str!("../../golden/parameters-v3.json"),
    include_str!("../../golden/parameters-v4.json"),
];

/// The identities of the RLWE parameters before and after the preset got another chain, and with
/// spare primes.
const IDS: [&str; 3] = [
    "89ce58132c8d6f9da0805ecae8c14a4fe6ec440b10835122de84169e12393c31",
    "47d89ae91c9ef1d8672be34d4348646de0aef851c9da9512ec79f08b19c49802",
    "d1e4d9ffb15a1f30c10ad795d2bc389be1ece814d9b1c731e2364a477aaf8453",
];

#[test]
fn golden_parameter_files_stay_readable() {
    let read = VERSIONS.map(|text| Params::from_json(text).unwrap());
    let [special, digits] = [Ephemeral::by_special_primes(56), Ephemeral::in_digits(26)];
    let secrets = [special, special, digits, digits];
    assert_eq!(read.each_ref().map(Params::ephemeral), secrets.map(Some));
    let ids = read.each_ref().map(|set| set.rlwe().id().to_string());
    assert_eq!(ids, [IDS[0], IDS[0], IDS[1], IDS[2]]);
    // The secret that version 1 could not say takes version 2 to say; the others are what they
    // were.
    assert_eq!(read.map(|set| set.to_json()), [VERSIONS[1], VERSIONS[1], VERSIONS[2], VERSIONS[3]]);
}

#[test]
fn golden_ckks_parameter_files_stay_readable() {
    let text = include_str!("../../golden/ckks-parameters-v1.json");
    let spec = CkksSpec::from_json(text).unwrap();
    assert_eq!((spec.n, spec.scale_bits, spec.depth, spec.digits), (64, 40, 2, 2));
    assert_eq!((&spec.base_prime_bits[..], &spec.special_prime_bits[..]), (&[46][..], &[42, 42][..]));
    assert_eq!(spec.secret, SecretDistribution::Sparse { weight: 8 });
    assert_eq!(spec.to_json(), text);
}

//! Parameters as text, and changes of numbers in texts.

use windlass::bootstrap::approximate::RefreshSpec;
use windlass::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefreshSpec};
use windlass::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefreshSpec};
use windlass::rlwe::Assurance;
use windlass::schemes::ckks::CkksSpec;
use windlass::{Context, Params, Scheme};

use crate::approximate::spec;
use crate::bootstrapping::small_refresh;
use crate::containers::refused;
use crate::memory::Bound;
use crate::random::Random;
use crate::target::Target;

/// Numbers that stand at the edge of something.
const NUMBERS: [&str; 28] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "12",
    "16",
    "25",
    "31",
    "32",
    "50",
    "64",
    "-1",
    "127",
    "255",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "1e308",
    "0.5",
    "null",
];

/// What reading parameters may hold: some numbers for each coefficient of the largest ring, and the
/// text.
const PARAMETERS: Bound = Bound { fixed: 16 << 20, per_byte: 64 };

/// Dimensions up to which contexts are made: more would take longer than reading.
const SMALL: usize = 64;

/// One time in three a number becomes another; else bytes change as libFuzzer likes.
pub fn mutate(data: &mut [u8], size: usize, most: usize, random: &mut Random) -> usize {
    if random.below(3) != 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let digits: Vec<std::ops::Range<usize>> = numbers(&data[..size]);
    if digits.is_empty() {
        return libfuzzer_sys::fuzzer_mutate(data, size, most);
    }
    let place = digits[random.below(digits.len() as u64) as usize].clone();
    let number = random.one_of(&NUMBERS);
    let text = [&data[..place.start], number.as_bytes(), &data[place.end..size]].concat();
    if text.len() > most {
        return size;
    }
    data[..text.len()].copy_from_slice(&text);
    text.len()
}

/// Where digits follow digits.
fn numbers(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in text.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        match found.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

/// Parameters of BGV and BFV: what is accepted is written and read again, and small sets encrypt.
pub fn parameters() -> Target {
    let names = ["insecure_toy_256", "insecure_toy_105", "insecure_boot_105", "demo"];
    let seeds = names.map(|name| Params::preset(name, Scheme::Bgv).expect("a preset").to_json().into_bytes());
    Target::text(seeds.to_vec(), PARAMETERS, |text| {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let params = match Params::from_json(text) {
            Ok(params) => params,
            Err(error) => {
                refused(&error);
                return false;
            }
        };
        let again = Params::from_json(&params.to_json()).expect("what was written can be read");
        assert_eq!((again.id(), again.ephemeral()), (params.id(), params.ephemeral()));
        assert!(!params.explain().is_empty() && params.slot_count() * params.slot_degree() == params.rlwe().n());
        if params.rlwe().n() <= SMALL && params.rlwe().all_primes().len() <= 8 {
            exact_round_trip(params);
        }
        true
    })
}

/// A small set encrypts, and decrypts to the same.
fn exact_round_trip(params: Params) {
    let made = Context::from_params(params).and_then(|context| {
        let (client, _) = context.generate_keys_from_seed([], 5)?;
        let values: Vec<u64> = (0..context.slots() as u64).map(|i| i % context.modulus()).collect();
        assert_eq!(client.decrypt(&client.encrypt(&values)?)?, values);
        Ok(())
    });
    made.inspect_err(|error| refused(error)).ok();
}

/// Parameters of CKKS.
pub fn ckks_parameters() -> Target {
    let secure = CkksSpec::secure(3, 40, 4, 64).expect("a specification");
    let seeds = [spec(16, 40, 1), spec(32, 45, 2), secure].map(|spec| spec.to_json().into_bytes());
    Target::text(seeds.to_vec(), PARAMETERS, |text| {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let spec = match CkksSpec::from_json(text) {
            Ok(spec) => spec,
            Err(error) => {
                refused(&error);
                return false;
            }
        };
        assert_eq!(CkksSpec::from_json(&spec.to_json()).expect("what was written can be read"), spec);
        if spec.n <= SMALL && spec.depth <= 8 {
            approximate_round_trip(&spec);
        }
        true
    })
}

/// Parameters of refreshes of CKKS: what is accepted is written and read again, and small sets are
/// planned.
pub fn refresh_parameters() -> Target {
    let toy = RefreshSpec::preset("insecure_toy_refresh_1024").expect("a set");
    let limited = RefreshSpec { max_keys: Some(9), ..small_refresh(32, 16) };
    let seeds = [toy, limited, small_refresh(64, 8)].map(|spec| spec.to_json().into_bytes());
    Target::text(seeds.to_vec(), PARAMETERS, |text| {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let spec = match RefreshSpec::from_json(text) {
            Ok(spec) => spec,
            Err(error) => {
                refused(&error);
                return false;
            }
        };
        assert_eq!(RefreshSpec::from_json(&spec.to_json()).expect("what was written can be read"), spec);
        if spec.n <= SMALL && spec.depth <= 8 {
            let planned = Context::refreshing(&spec).map(|context| context.refresh().expect("a plan").stages());
            planned.inspect_err(|error| refused(error)).ok();
        }
        true
    })
}

/// Parameters of refreshes in several passes, of numbers and of integers: what is accepted is written and read again,
/// and small sets are planned.
pub fn passes_parameters() -> Target {
    let toy = || Assurance::Insecure { name: "insecure_fuzz".into() };
    let precise = PreciseRefreshSpec::new(64, (3, 26), 1, toy()).expect("a specification").to_json();
    let exact = [(65537, 1), (2, 16), (1_030_789_267_457, 1)].map(|modulus| {
        let spec = ExactRefreshSpec::new(64, modulus, (3, 26), toy()).expect("a specification");
        spec.to_json(Scheme::Bfv)
    });
    let seeds = [vec![precise], exact.to_vec()].concat().into_iter().map(String::into_bytes).collect();
    Target::text(seeds, PARAMETERS, |text| {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        match (PreciseRefreshSpec::from_json(text), ExactRefreshSpec::from_json(text)) {
            (Ok(spec), _) => {
                assert_eq!(PreciseRefreshSpec::from_json(&spec.to_json()).expect("what was written can be read"), spec);
                if spec.refresh.n <= SMALL && spec.depth <= 8 {
                    PreciseRefreshPlan::new(&spec).inspect_err(|error| refused(error)).ok();
                }
                true
            }
            (_, Ok((spec, scheme))) => {
                let again = ExactRefreshSpec::from_json(&spec.to_json(scheme)).expect("what was written can be read");
                assert_eq!(again, (spec.clone(), scheme));
                if spec.refresh.n <= SMALL && spec.passes <= 8 {
                    ExactRefreshPlan::new(&spec).inspect_err(|error| refused(error)).ok();
                }
                true
            }
            (Err(first), Err(second)) => {
                refused(&first);
                refused(&second);
                false
            }
        }
    })
}

fn approximate_round_trip(spec: &CkksSpec) {
    let made = Context::approximate(spec).and_then(|context| {
        let (client, _) = context.generate_keys_from_seed([], 5)?;
        let ct = client.encrypt(&[0.5])?;
        let found = client.decrypt(&ct)?[0];
        assert!((found - 0.5).abs() <= ct.error_bound(), "{found} in place of 0.5, bound {:e}", ct.error_bound());
        Ok(())
    });
    made.inspect_err(|error| refused(error)).ok();
}

use windlass_schemes::params::Params;

use super::*;
use crate::BootstrapPreset;

fn found(p: u64, spec: SearchSpec) -> Vec<Candidate> {
    search(&SearchSpec { p, ..spec }).unwrap()
}

/// The tables of the paper: m, d, slots; and the first factor, where the paper took a single
/// one. (Where it took two, a third has order d as well.)
#[test]
fn the_indices_of_2015_are_found() {
    let rows: [(u64, u64, u64, usize, Option<u64>, &[usize]); 8] = [
        (2, 21845, 16, 1024, Some(257), &[16, 4, 16]),
        (2, 18631, 25, 720, Some(601), &[24, 30]),
        (2, 28679, 24, 960, Some(241), &[10, 6, 16]),
        (2, 35113, 36, 864, None, &[12, 72]),
        (2, 42799, 21, 2016, Some(337), &[16, 126]),
        (2, 49981, 30, 1650, Some(331), &[11, 150]),
        (17, 45551, 40, 1000, None, &[10, 100]),
        (127, 51319, 36, 1296, None, &[2, 18, 36]),
    ];
    for (p, phi) in [(2, SearchSpec::default().phi), (17, (39_000, 41_000)), (127, (46_000, 47_000))] {
        let all = found(p, SearchSpec { phi, ..SearchSpec::default() });
        if p == 2 {
            // "we processed all potential m's between 16,000 and 64,000. Among these, there
            // were a total of 377 useful m's with 15,000 ≤ φ(m) ≤ 60,016".
            assert_eq!(all.iter().filter(|candidate| (16_000..=64_000).contains(&candidate.m)).count(), 377);
            assert_eq!(all.iter().map(|candidate| candidate.n).max(), Some(60_016));
        }
        for &(_, m, degree, slots, first, sizes) in rows.iter().filter(|row| row.0 == p) {
            let one = all.iter().find(|candidate| candidate.m == m).unwrap_or_else(|| panic!("{m} is not found"));
            assert_eq!((one.degree, one.slots), (degree, slots), "{one:?}");
            assert!(first.is_none_or(|first| first == one.factors[0]), "{one:?}");
            let found: Vec<usize> = one.dimensions.iter().map(|dimension| dimension.size).collect();
            assert_eq!(found, sizes, "{one:?}");
        }
    }
}

/// Primes whose Rader convolutions nest deeply: the orders of their roots do not fit 64 bits.
#[test]
fn every_index_of_the_range_can_be_described() {
    let spec = SearchSpec { phi: (3, 1 << 17), most_degree: u64::MAX, ..SearchSpec::default() };
    for prime in [34549, 65267] {
        let one = candidate(&spec, 3 * prime);
        assert!(one.ok().is_none_or(|one| one.n as u64 == 2 * (prime - 1)), "{prime}");
    }
}

#[test]
fn candidates_are_what_they_say() {
    let all = found(2, SearchSpec { phi: (15_000, 20_000), slots: 700, most_degree: 40, ..SearchSpec::default() });
    assert!(all.len() > 5);
    assert!(all.windows(2).all(|pair| pair[0].amortised_cost(false) <= pair[1].amortised_cost(false)));
    for one in &all {
        let product: u64 = one.factors.iter().product();
        assert_eq!((product, one.n as u64), (one.m, arith::totient(one.m)), "{one:?}");
        assert_eq!(one.degree, arith::multiplicative_order(2, one.m));
        assert_eq!(one.degree, arith::multiplicative_order(2, one.factors[0]));
        let sizes: usize = one.dimensions.iter().map(|dimension| dimension.size).product();
        assert_eq!(sizes, one.slots);
        assert!(one.n >= 15_000 && one.n <= 20_000 && one.slots >= 700 && one.degree <= 40);
        for dimension in &one.dimensions {
            assert_eq!(
                dimension.good,
                arith::multiplicative_order(dimension.generator, one.m) == dimension.size as u64
            );
            let rest = one.m / dimension.factor;
            assert_eq!(dimension.generator % rest, 1, "{one:?}");
        }
        assert!(one.cost > 0.0 && one.log2_qp > 100.0 && one.exponent > 1);
    }
}

#[test]
fn chains_are_as_long_as_security_allows() {
    let spec = SearchSpec { phi: (18_000, 18_000), security: 64.0, ..SearchSpec::default() };
    let one = search(&spec).unwrap().into_iter().find(|one| one.m == 18631).unwrap();
    let plan = one.plan(&spec).unwrap();
    let params = plan.params();
    assert!(params.security().bits >= 64.0 && one.log2_qp - params.log2_qp() < 51.0, "{}", params.log2_qp());
    assert!(plan.output_bits() > plan.least_input_bits());
    // As a set it is the same one, with its own weight.
    let set = BootstrapPreset::of_plan(&plan).unwrap().params;
    let back = Params::from_json(&set.to_json()).unwrap();
    assert_eq!((back.rlwe().id(), back.ephemeral()), (params.id(), Some(plan.spec().ephemeral())));
    // At 128 bits somewhat smaller rings are too small.
    let spec = SearchSpec { phi: (15_000, 15_500), slots: 100, ..SearchSpec::default() };
    let one = search(&spec).unwrap().swap_remove(0);
    let Err(refused) = one.plan(&spec) else { panic!("a plan at 128 bits") };
    assert!(matches!(refused, Error::Bootstrap(BootstrapError::ChainTooShort { .. })), "{refused}");
}

#[test]
fn a_search_tells_how_far_it_is_and_stops_when_asked_to() {
    let spec = SearchSpec { phi: (15_000, 15_500), ..SearchSpec::default() };
    let told = std::sync::Mutex::new(Vec::new());
    let all = search_observed(&spec, &|progress| {
        told.lock().unwrap().push(progress);
        ControlFlow::Continue(())
    });
    let (all, told) = (all.unwrap(), told.into_inner().unwrap());
    assert_eq!(all, search(&spec).unwrap());
    let count = told[0].count;
    assert!(told.len() > 10 && told.iter().all(|p| p.count == count && p.step == SearchStep::Indices));
    assert_eq!(told.iter().map(|p| p.done).max(), Some(count));
    let stopped = search_observed(&spec, &|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Cancelled { .. })));
    // One index by itself is the same candidate.
    let one = &all[0];
    assert_eq!(Candidate::of_index(&spec, one.m).unwrap().as_ref(), Some(one));
    for unsuited in [0, 1, 2, 16384, 15_013, u64::MAX] {
        assert_eq!(Candidate::of_index(&spec, unsuited).unwrap(), None, "{unsuited}");
    }
}

/// One condition fails at a time, and is the one that is named.
#[test]
fn the_condition_that_an_index_fails_is_named() {
    let spec = SearchSpec { p: 3, ..SearchSpec::default() };
    let why = |spec: &SearchSpec, m: u64| Candidate::examine(spec, m).unwrap().expect_err("unsuited");
    let one = Candidate::examine(&spec, 39565).unwrap().unwrap();
    assert_eq!((one.slots, one.n), (1920, 30_720));
    assert!(why(&spec, 14).to_string().contains("use m/2"));
    assert!(matches!(why(&spec, u64::MAX), Unsuited::Ring { .. }));
    assert_eq!(why(&spec, 1 << 16), Unsuited::Even);
    assert_eq!(why(&spec, 3 * 13_187), Unsuited::Divisible { p: 3 });
    assert_eq!(why(&spec, 15_013), Unsuited::PrimePower);
    let narrow = SearchSpec { phi: (20_000, 30_719), ..spec.clone() };
    assert_eq!(why(&narrow, 39565), Unsuited::Dimension { n: 30_720, least: 20_000, most: 30_719 });
    let degree = SearchSpec { most_degree: one.degree - 1, ..spec.clone() };
    assert_eq!(why(&degree, 39565), Unsuited::Degree { p: 3, degree: one.degree, most: one.degree - 1 });
    let slots = SearchSpec { slots: 1921, ..spec.clone() };
    assert_eq!(why(&slots, 39565), Unsuited::Slots { slots: 1920, least: 1921 });
    let secure = SearchSpec { security: 1000.0, ..spec.clone() };
    assert!(why(&secure, 39565).to_string().contains("no modulus gives 1000 bits of security at n = 30720"));
    // The search finds what is suited, and the rest of its range fails one of the conditions.
    let spec = SearchSpec { phi: (15_000, 15_200), most_degree: u64::MAX, ..spec };
    let all = search(&spec).unwrap();
    for m in (15_001..17_001).step_by(2) {
        let suited = Candidate::examine(&spec, m).unwrap();
        assert_eq!(suited.as_ref().ok(), all.iter().find(|one| one.m == m), "{m}: {suited:?}");
    }
}

#[test]
fn senseless_searches_are_refused() {
    for spec in [
        SearchSpec { p: 4, ..SearchSpec::default() },
        SearchSpec { r: 0, ..SearchSpec::default() },
        SearchSpec { r: 45, ..SearchSpec::default() },
        SearchSpec { security: 0.0, ..SearchSpec::default() },
        SearchSpec { security: f64::NAN, ..SearchSpec::default() },
        SearchSpec { phi: (20, 10), ..SearchSpec::default() },
        SearchSpec { phi: (20, 1 << 20), ..SearchSpec::default() },
    ] {
        assert!(matches!(search(&spec), Err(Error::OutOfRange { .. })), "{spec:?}");
    }
}

use super::*;
use SecretDistribution::{Sparse, Ternary};

const POINTS_TABLE: &str = include_str!("../../../../data/security/points.csv");

#[test]
fn the_tables_rows_are_met_and_one_bit_more_is_not() {
    for (&lambda, row) in TERNARY.iter() {
        for &(n, limit) in row {
            let at = security_bits(n as usize, limit, Ternary).unwrap();
            assert!(at.bits >= lambda as f64 && at.source == EstimateSource::Tables, "n = {n}, {lambda}: {at}");
            assert!(security_bits(n as usize, limit + 1.0, Ternary).unwrap().bits < lambda as f64);
            assert_eq!(max_log2_qp(n as usize, lambda as f64, Ternary).unwrap(), limit);
        }
    }
}

/// Points that the estimates are not built from (ternary) or are (sparse): never overstated, and
/// not far below.
#[test]
fn no_point_of_the_estimator_is_overstated() {
    let mut seen = 0;
    for record in records(POINTS_TABLE) {
        let (n, x, weight, lambda) =
            (number(record[0]) as usize, number(record[1]), number(record[2]) as u32, number(record[3]));
        let secret = if weight == 0 { Ternary } else { Sparse { weight } };
        let estimate = security_bits(n, x, secret).unwrap().bits;
        assert!(estimate <= lambda + 1e-9, "n = {n}, x = {x}, weight {weight}: {estimate} > {lambda}");
        assert!(estimate >= 0.96 * lambda, "n = {n}, x = {x}, weight {weight}: {estimate} far below {lambda}");
        seen += 1;
    }
    assert_eq!(seen, 25);
}

/// Every row of the sparse table is met, and neither more weight, a larger ring nor a smaller
/// modulus ever costs bits.
#[test]
fn the_sparse_table_is_met_and_monotone() {
    let mut seen = 0;
    for (&(n, weight), curve) in SPARSE.iter() {
        for pair in curve.windows(2) {
            assert!(pair[0].1 >= pair[1].1, "n = {n}, weight {weight}: {pair:?}");
        }
        for &(x, lambda) in curve {
            let at = |n: u32, x: f64, weight| security_bits(n as usize, x, Sparse { weight }).unwrap();
            let here = at(n, x, weight);
            let ternary = security_bits(n as usize, x, Ternary).unwrap().bits;
            let top = lambda.min(ternary) + 1e-9;
            assert!(here.bits <= top && here.bits >= top - 0.5, "n = {n}, x = {x}, weight {weight}: {here}");
            assert!(at(n, x + 7.0, weight).bits <= here.bits);
            assert!(at(n, x, weight + 1).bits >= here.bits && at((n + 500).min(131_072), x, weight).bits >= here.bits);
            seen += 1;
        }
    }
    assert_eq!(seen, 1490);
}

/// Points of the same search between the table's rows, from below and from above the sizes there:
/// never overstated.
#[test]
fn points_between_the_rows_are_not_overstated() {
    for (n, x, weight, lambda) in [
        (24898, 92.0, 24, 114.58),
        (32768, 160.0, 30, 125.14),
        (24000, 83.0, 56, 204.80),
        (65536, 221.0, 30, 137.97),
        (14927, 225.0, 63, 127.79),
        (53479, 1037.0, 34, 89.37),
        (38243, 1174.0, 205, 105.63),
    ] {
        let bits = security_bits(n, x, Sparse { weight }).unwrap().bits;
        assert!(bits <= lambda && bits >= 0.9 * lambda, "n = {n}, x = {x}, weight {weight}: {bits} for {lambda}");
    }
}

/// What Ma et al. (eprint 2024/115) publish for weights 24 to 26 at n = 2^15: 130 to 134 bits.
#[test]
fn published_ephemeral_keys_are_near() {
    for (x, weight) in [(60.0, 24), (100.0, 26)] {
        let bits = security_bits(32768, x, Sparse { weight }).unwrap().bits;
        assert!((126.0..=134.0).contains(&bits), "{weight}: {bits}");
    }
}

#[test]
fn estimates_are_monotone() {
    for secret in [Ternary, Sparse { weight: 120 }, Sparse { weight: 192 }, Sparse { weight: 32 }] {
        let mut last = f64::INFINITY;
        for x in 1..400 {
            let bits = security_bits(32768, 5.0 * x as f64, secret).unwrap().bits;
            assert!(bits <= last && bits <= 256.0 && bits > 0.0);
            last = bits;
        }
        let mut last = 0.0;
        for n in (16384..=131072).step_by(512) {
            let bits = security_bits(n, 600.0, secret).unwrap().bits;
            assert!(bits >= last, "n = {n}, {secret}: {bits} < {last}");
            last = bits;
        }
    }
    let at = |weight| security_bits(32768, 850.0, Sparse { weight }).unwrap().bits;
    assert!(at(32) < at(120) && at(120) < at(192));
}

#[test]
fn sparse_is_never_better_than_ternary() {
    for x in [60.0, 200.0, 400.0, 800.0, 1600.0] {
        let ternary = security_bits(32768, x, Ternary).unwrap().bits;
        for weight in [24, 64, 120, 192, 500] {
            assert!(security_bits(32768, x, Sparse { weight }).unwrap().bits <= ternary);
        }
    }
}

#[test]
fn dimensions_outside_the_tables_are_refused() {
    for (n, secret) in
        [(512, Ternary), (1 << 18, Ternary), (8192, Sparse { weight: 120 }), (32768, Sparse { weight: 8 })]
    {
        assert!(matches!(security_bits(n, 20.0, secret), Err(RlweError::SecurityOutOfRange { .. })), "{n} {secret}");
        assert_eq!(indicative_security_bits(n, 20.0, secret).source, EstimateSource::Indication);
        // Where no table has the secret there is no range to name.
        let message = security_bits(n, 20.0, secret).unwrap_err().to_string();
        assert!(!message.contains(&usize::MAX.to_string()), "{message}");
    }
    let sparser = security_bits(32768, 20.0, Sparse { weight: 1 }).unwrap_err().to_string();
    assert!(sparser.contains("no secret as sparse; choose a larger weight"), "{sparser}");
    assert!(matches!(max_log2_qp(1024, 300.0, Ternary), Err(RlweError::SecurityUnreachable { .. })));
    assert!(max_log2_qp(1024, 192.0, Ternary).unwrap() < 18.0);
}

#[test]
fn sparse_secrets_just_below_the_tables_are_not_taken_for_ternary() {
    let at = |n| indicative_security_bits(n, 400.0, Sparse { weight: 120 });
    assert_eq!(at(12000).source, EstimateSource::Indication);
    assert!(at(12000).bits < at(12800).bits && at(12000).bits > 0.85 * at(12800).bits);
    let ternary = indicative_security_bits(12000, 400.0, Ternary).bits;
    assert!(at(12000).bits < ternary - 3.0, "{} against {ternary}", at(12000).bits);
}

#[test]
fn a_secret_of_weight_zero_is_known() {
    assert_eq!(indicative_security_bits(32768, 60.0, Sparse { weight: 0 }).bits, 0.0);
    assert!(indicative_security_bits(32768, 60.0, Sparse { weight: 1 }).bits <= 8.0);
}

#[test]
fn toy_dimensions_have_toy_security() {
    let bits = indicative_security_bits(48, 200.0, Ternary).bits;
    assert!(bits > 0.0 && bits < 5.0, "{bits}");
    assert!(indicative_security_bits(1 << 17, 100_000.0, Ternary).bits < 10.0);
}

/// What the rows say of a point of their own when it is left out: never more than the point.
#[test]
fn ternary_points_left_out_are_not_overstated() {
    let mut seen = 0;
    for (&lambda, row) in TERNARY.iter() {
        for i in 1..row.len() - 1 {
            let (n, limit) = row[i];
            let others: Vec<(f64, f64)> = row[..i].iter().chain(&row[i + 1..]).copied().collect();
            let found = ternary_limit(&others, n).unwrap();
            assert!(found <= limit && found >= 0.96 * limit, "λ = {lambda}, n = {n}: {found} for {limit}");
            seen += 1;
        }
    }
    assert_eq!(seen, 21);
}

/// The same for sparse secrets: a point left out of its curve, and a dimension left out of the
/// table.
#[test]
fn sparse_points_left_out_are_not_overstated() {
    let (mut worst, mut seen) = ([f64::NEG_INFINITY; 2], 0);
    for (&(n, weight), curve) in SPARSE.iter() {
        let mut fewer = SPARSE.clone();
        let smaller: SparseCurves =
            SPARSE.iter().filter(|&(&(n0, _), _)| n0 != n).map(|(&key, curve)| (key, curve.clone())).collect();
        for (i, &(x, lambda)) in curve.iter().enumerate() {
            if i > 0 {
                let others = curve[..i].iter().chain(&curve[i + 1..]).copied().collect();
                fewer.insert((n, weight), others);
                worst[0] = worst[0].max(sparse_bits(&fewer, n.into(), x, weight).bits - lambda);
            }
            if smaller.keys().any(|&(n0, w0)| n0 < n && w0 <= weight) {
                worst[1] = worst[1].max(sparse_bits(&smaller, n.into(), x, weight).bits - lambda);
            }
            seen += 1;
        }
    }
    assert!(worst.iter().all(|&over| over <= 0.0), "{worst:?}");
    assert_eq!(seen, 1490);
}

#[test]
fn secrets_too_sparse_for_the_tables_are_named() {
    let refused = security_bits(32768, 400.0, SecretDistribution::Sparse { weight: 3 }).unwrap_err().to_string();
    assert!(refused.contains("choose a larger weight") && !refused.contains("1844674407"), "{refused}");
}

//! The search for m.

use crate::common::{fail, succeed, windlass};

/// A search that plans.
const PLANNED: &str = "params search --least 16384 --most 16384 --slots 1000 --plan";

#[test]
fn the_search_ranks_and_describes() {
    let dir = tempfile::tempdir().unwrap();
    let report = succeed(dir.path(), "params search --modulus 2 --least 17000 --most 24000");
    let all = report["candidates"].as_array().unwrap();
    assert_eq!(all.len() as u64, report["found"].as_u64().unwrap());
    let one = |m: u64| all.iter().find(|one| one["m"] == m).unwrap_or_else(|| panic!("{m} is not found"));
    assert_eq!(one(18631)["factors"], serde_json::json!([601, 31]));
    assert_eq!((&one(28679)["d"], &one(28679)["slots"]), (&24.into(), &960.into()));
    let costs: Vec<f64> = all.iter().map(|one| one["cost_each"].as_f64().unwrap()).collect();
    assert!(costs.is_sorted());
    // Packed slots change the ranking; a limit keeps its head.
    let packed = succeed(dir.path(), "params search --least 17000 --most 24000 --packed --limit 3");
    assert_eq!(packed["candidates"].as_array().unwrap().len(), 3);
    // With plans: 21845 is left with nothing at 128 bits, and with something at 60.
    let planned = |bits: u32| succeed(dir.path(), &format!("{PLANNED} --security {bits}"))["candidates"].clone();
    assert_eq!(planned(128), serde_json::json!([]));
    let one = &planned(60)[0];
    assert_eq!((&one["m"], one["output_bits"].as_f64().unwrap() > 50.0), (&21845.into(), true), "{one}");
    assert!(one["security_bits"].as_f64().unwrap() >= 60.0 && one["estimated_seconds"].as_f64().unwrap() > 0.0);
    let text = windlass(dir.path(), "params search --modulus 17 --least 40000 --most 40000".split(' ')).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(" 45551 ") && text.contains("log2 QP"), "{text}");
}

/// One index is looked at by itself, and an index that does not suit is refused with the condition
/// that it fails, the only one.
#[test]
fn one_index_is_told_what_it_lacks() {
    let dir = tempfile::tempdir().unwrap();
    let found = succeed(dir.path(), "params search --modulus 3 --m 39565");
    assert_eq!((&found["found"], &found["candidates"][0]["slots"]), (&1.into(), &1920.into()));
    // A search of all indices takes a hundred times as long.
    assert!(found["seconds"]["search"].as_f64().unwrap() < 2.0, "{found}");
    for (line, wanted, option) in [
        ("--modulus 3 --m 39565 --security 1000", "no modulus gives 1000 bits of security", "--security"),
        ("--modulus 3 --m 39565 --plan --security 250", "does not bootstrap with 250 bits of security", "--security"),
        ("--m 18631 --degree 3", "is 25, more than 3", "--degree"),
        ("--m 18631 --slots 5000", "it has 720 slots, fewer than 5000", "--slots"),
        ("--m 18631 --least 20000", "phi(m) is 18000, which is not between 20000 and 60016", "--least"),
        ("--m 14", "use m/2", ""),
        ("--m 32768", "it is even", "--bootstrap"),
        ("--m 16411", "it is a prime power", ""),
        ("--modulus 3 --m 30009", "divisible by the plaintext prime 3", ""),
        ("--m 18631 --security 0", "security is 0, but must be at least 1", ""),
        ("--security 0", "security is 0, but must be at least 1", ""),
    ] {
        let message = fail(dir.path(), &format!("params search {line}"));
        assert!(message.contains(wanted) && message.contains(option), "{line}: {message}");
        let others = ["--least", "--degree", "--slots", "--security"].iter().filter(|other| **other != option);
        others.for_each(|other| assert!(!message.contains(other), "{line}: {message}"));
    }
}

/// What was searched for is a set that bootstraps, with the weight that it was planned with.
#[test]
fn what_was_found_is_a_preset_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let found = succeed(dir.path(), &format!("{PLANNED} --security 60 --m 21845 --out found.json"));
    assert_eq!((&found["found"], &found["candidates"][0]["m"]), (&1.into(), &21845.into()));
    let text = std::fs::read_to_string(dir.path().join("found.json")).unwrap();
    let set: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!((32..=64).contains(&set["ephemeral_weight"].as_u64().unwrap()), "{text}");
    assert_eq!(succeed(dir.path(), "params show found.json")["m"], 21845);
    let page = succeed(dir.path(), "refresh --preset found.json --explain");
    assert_eq!((&page["preset"], &page["slots"]), (&"insecure_boot_m21845_p2_r1".into(), &1024.into()), "{page}");
    for (line, wanted) in [
        (format!("{PLANNED} --security 60 --out found.json"), "exists"),
        (format!("{PLANNED} --security 60 --out found"), ".json"),
        (format!("{PLANNED} --out none.json"), "nothing was saved"),
        ("params search --out none.json".to_owned(), "--plan"),
    ] {
        let message = fail(dir.path(), &line);
        assert!(message.contains(wanted), "{line}: {message}");
    }
    assert!(!dir.path().join("none.json").exists());
}

/// A set with few slots says where more are.
#[test]
fn few_slots_are_not_all_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let text = windlass(dir.path(), "params plan --modulus 3 --bootstrap".split(' ')).stdout;
    let told = String::from_utf8(text).unwrap();
    assert!(
        told.contains("only 2 slots: with --slots N, from N = 3,") && told.contains("search --modulus 3"),
        "{told}"
    );
}

#[test]
fn senseless_searches_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (line, wanted) in [
        ("params search --modulus 6", "must be a power of one prime"),
        ("params search --least 20 --most 10", "the largest phi(m) is 10"),
        ("params search --most 1000000", "the largest phi(m) is 1000000"),
        ("params search --most 18446744073709551615", "the largest phi(m) is 18446744073709551615"),
        ("params search --modulus 1152921504606846976", "below 2^45"),
    ] {
        let message = fail(dir.path(), line);
        assert!(message.contains(wanted), "{message}");
    }
}

//! Bootstrapping through files.

use std::fs;
use std::path::Path;

use windlass::params::Ephemeral;
use windlass::{Params, Scheme};

use crate::common::{fail, snapshot, succeed, windlass};

const SET: &str = "--preset insecure_boot_105";

/// Sends files from one party to another.
fn send(from: &Path, to: &Path, names: &[&str]) {
    names.iter().for_each(|name| {
        fs::copy(from.join(name), to.join(name)).unwrap();
    });
}

#[test]
fn the_server_refreshes_with_public_files_alone() {
    for way in ["", "--packed", "--scheme bfv"] {
        let (client, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let set = format!("{SET} {way}");
        succeed(client.path(), &format!("refresh keygen {set} --out ."));
        let side = if way.is_empty() { "--public-key public.key" } else { "--secret-key secret.key" };
        succeed(client.path(), &format!("refresh encrypt {set} {side} --values 1,0,1,1 --out spent.bin"));
        send(client.path(), server.path(), &["evaluation.keys", "bootstrap.keys", "spent.bin"]);
        let keys = "--evaluation-keys evaluation.keys --bootstrap-keys bootstrap.keys";
        // Twice in a row: what comes out can go in again.
        let report = succeed(server.path(), &format!("refresh apply {set} {keys} --in spent.bin --out fresh.bin"));
        let capacity = |at: usize| report["capacity_bits"][at].as_f64().unwrap();
        assert!(capacity(1) > capacity(0), "{report}");
        assert!(report["stages"].as_array().unwrap().iter().any(|stage| stage["name"] == "digit removal"));
        succeed(server.path(), &format!("refresh apply {set} {keys} --in fresh.bin --out again.bin"));
        send(server.path(), client.path(), &["fresh.bin", "again.bin"]);
        for name in ["fresh.bin", "again.bin"] {
            let line = format!("refresh decrypt {set} --secret-key secret.key --in {name}");
            let report = succeed(client.path(), &format!("{line} --values 1,0,1,1"));
            assert_eq!((&report["values"], &report["verified"]), (&serde_json::json!([1, 0, 1, 1]), &true.into()));
            let message = fail(client.path(), &format!("{line} --values 1,1,1,1"));
            assert!(message.contains("value 1 decrypts to 0 instead of 1"), "{message}");
        }
    }
}

/// Negative values stand for their residues, at the beginning of a list too.
#[test]
fn values_may_be_negative() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let set = "--preset insecure_boot_256_p257";
    succeed(at, &format!("refresh keygen {set} --out ."));
    let line = format!("refresh encrypt {set} --secret-key secret.key --values -1,2,-128,256 --out x.bin");
    succeed(at, &line);
    let decrypt = format!("refresh decrypt {set} --secret-key secret.key --in x.bin");
    for values in ["", "--values -1,2,-128,-1", "--values=256,2,129,256"] {
        let report = succeed(at, &format!("{decrypt} {values}"));
        assert_eq!(report["values"], serde_json::json!([256, 2, 129, 256]));
    }
    let message = fail(at, &format!("{decrypt} --values -2,2"));
    assert!(message.contains("value 0 decrypts to 256 instead of 255"), "{message}");
    let report = succeed(at, &format!("refresh {set} --values -3,4"));
    assert_eq!(report["verified"], true);
}

/// Ciphertext and keys decide how `apply` refreshes; what keys would not keep is refused.
#[test]
fn apply_never_loses_what_slots_hold() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let set = "--preset insecure_boot_1023";
    let values = "--values 1,0,1,1,0,1,1,1,0,0,0,0,0,0,1";
    for (name, way) in [("thin", ""), ("packed", "--packed")] {
        succeed(at, &format!("refresh keygen {set} {way} --out {name}"));
    }
    let encrypt = |keys: &str, way: &str, values: &str, out: &str| {
        let line = format!("refresh encrypt {set} {way} --public-key {keys}/public.key {values}");
        succeed(at, &format!("{line} --capacity 300 --out {out}"));
    };
    encrypt("packed", "--packed", values, "elements.bin");
    encrypt("thin", "--packed", values, "lost.bin");
    encrypt("packed", "", "--values 1,0,1", "integers.bin");
    encrypt("thin", "", "--values 1,1,0,1", "thin.bin");
    let apply = |keys: &str, input: &str, out: &str| {
        let keys = format!("--evaluation-keys {keys}/evaluation.keys --bootstrap-keys {keys}/bootstrap.keys");
        format!("refresh apply {set} {keys} --in {input} --out {out}")
    };
    let decrypt_with = |keys: &str, way: &str, input: &str| {
        succeed(at, &format!("refresh decrypt {set} {way} --secret-key {keys}/secret.key --in {input}"))["values"]
            .clone()
    };
    let decrypt = |way: &str, input: &str| decrypt_with("packed", way, input);
    // No flag is given.
    assert_eq!(succeed(at, &apply("packed", "elements.bin", "fresh.bin"))["packed"], true);
    assert_eq!(decrypt("--packed", "fresh.bin"), serde_json::json!([1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1]));
    // Integers with the keys that there are; the result is one of integers.
    for (input, out) in [("integers.bin", "fresh2.bin"), ("fresh2.bin", "fresh3.bin")] {
        succeed(at, &apply("packed", input, out));
        assert_eq!(decrypt("", out), serde_json::json!([1, 0, 1]));
    }
    // Nor does it matter what is said of integers where keys refresh nothing else.
    let said = format!("{} --packed", apply("thin", "thin.bin", "fresh4.bin"));
    assert_eq!(succeed(at, &said)["packed"], false);
    assert_eq!(decrypt_with("thin", "", "fresh4.bin"), serde_json::json!([1, 1, 0, 1]));
    // Nor are integers taken for coefficients, or elements for integers.
    for (way, input, wanted) in [
        ("--packed", "integers.bin", "integers.bin: its slots hold integers; decrypt it without --packed"),
        ("--packed", "fresh3.bin", "fresh3.bin: its slots hold integers; decrypt it without --packed"),
        ("", "elements.bin", "elements.bin: its slots hold elements; decrypt it with --packed"),
    ] {
        let message = fail(at, &format!("refresh decrypt {set} {way} --secret-key packed/secret.key --in {input}"));
        assert!(message.contains(wanted), "{message}");
    }
    // Keys of thin bootstrapping do not lose the elements.
    let before = snapshot(at);
    let message = fail(at, &apply("thin", "lost.bin", "new.bin"));
    for wanted in ["lost.bin", "thin/evaluation.keys", "refresh only integers", "keygen --packed"] {
        assert!(message.contains(wanted), "{message}");
    }
    assert!(snapshot(at) == before);
}

#[test]
fn explain_foresees_the_sizes_of_keys() {
    let dir = tempfile::tempdir().unwrap();
    for set in [SET, "--preset insecure_boot_256_p257"] {
        let plan = succeed(dir.path(), &format!("refresh {set} --explain"));
        assert!(snapshot(dir.path()).is_empty());
        let made = succeed(dir.path(), &format!("refresh {set}"));
        assert!(snapshot(dir.path()).is_empty(), "without --out nothing stays behind");
        for name in ["secret.key", "public.key", "evaluation.keys", "bootstrap.keys"] {
            assert_eq!(plan["bytes"][name], made["bytes"][name], "{name}");
        }
        assert_eq!(made["verified"], true);
        let stages = |report: &serde_json::Value| -> Vec<String> {
            let list = report["stages"].as_array().unwrap();
            list.iter().map(|stage| stage["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(stages(&plan), stages(&made));
        let number = |name: &str| plan[name].as_f64().unwrap();
        assert!(number("estimated_seconds") > 0.0 && number("output_bits") > number("least_input_bits"));
        assert!(number("failure_bits") > 100.0 && number("failure_bits") < 128.0);
        assert!(made["capacity_bits"][0].as_f64().unwrap() >= number("least_input_bits"));
    }
    // Twelve thin refreshes against one batch.
    let packed = succeed(dir.path(), &format!("refresh {SET} --packed --explain"));
    assert_eq!(packed["batch_size"], 12);
    let number = |name: &str| packed[name].as_f64().unwrap();
    assert!(number("batch_price") > 0.0 && number("batch_least_input_bits") > number("least_input_bits"));
    assert!(number("batch_failure_bits") > 100.0 && number("batch_failure_bits") < number("failure_bits"));
    let text = String::from_utf8(windlass(dir.path(), format!("refresh {SET}").split(' ')).stdout).unwrap();
    for wanted in ["digit removal", "bits before", "bootstrap.keys", "all 4 values decrypt to the values"] {
        assert!(text.contains(wanted), "no '{wanted}' in\n{text}");
    }
}

/// A set in a file has a name of its own, or that of another set: both ways are planned from the
/// file.
#[test]
fn explain_compares_batches_under_a_set_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let built_in = succeed(dir.path(), &format!("refresh {SET} --packed --explain"));
    let set = Params::preset("insecure_boot_105", Scheme::Bgv).unwrap().to_json();
    for name in ["insecure_of_my_own", "insecure_boot_256_p257"] {
        fs::write(dir.path().join("set.json"), set.replace("insecure_boot_105", name)).unwrap();
        let page = succeed(dir.path(), "refresh --preset set.json --packed --explain");
        assert_eq!((&page["preset"], &page["batch_size"]), (&name.into(), &12.into()));
        assert_eq!(page["batch_price"], built_in["batch_price"], "{name}");
    }
}

/// A set says how ciphertexts come under its ephemeral secret, and keys are those of the file.
#[test]
fn a_set_in_a_file_keeps_its_encapsulation() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let set = Params::preset("insecure_boot_105", Scheme::Bgv).unwrap();
    fs::write(at.join("set.json"), set.with_ephemeral(Ephemeral::in_digits(6)).to_json()).unwrap();
    for line in ["refresh --preset set.json", "refresh keygen --preset set.json --out digits"] {
        let message = fail(at, line);
        assert!(message.contains("set.json: the parameters 'insecure_boot_105' have "), "{message}");
        assert!(message.contains("--insecure") && !at.join("digits").exists(), "{message}");
    }
    assert_eq!(succeed(at, "refresh --preset set.json --insecure")["verified"], true);
    let key = |preset: &str, out: &str| {
        succeed(at, &format!("refresh keygen --preset {preset} --out {out}"));
        fs::metadata(at.join(out).join("bootstrap.keys")).unwrap().len()
    };
    let [special, digits] = [key("insecure_boot_105", "special"), key("set.json --insecure", "digits")];
    assert!(digits > special, "{digits} bytes for {special}: a pair for each digit");
}

#[test]
fn bad_input_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for name in ["keys", "stranger"] {
        succeed(at, &format!("refresh keygen {SET} --out {name}"));
    }
    let encrypt = |rest: &str| format!("refresh encrypt {SET} --secret-key keys/secret.key {rest} --out new.bin");
    succeed(at, &encrypt("--values 1").replace("new.bin", "spent.bin"));
    let apply = |evaluation: &str, own: &str, input: &str| {
        let keys = format!("--evaluation-keys {evaluation}/evaluation.keys --bootstrap-keys {own}/bootstrap.keys");
        format!("refresh apply {SET} {keys} --in {input} --out new.bin")
    };
    let whole = fs::read(at.join("keys/bootstrap.keys")).unwrap();
    fs::create_dir(at.join("damaged")).unwrap();
    fs::write(at.join("damaged/bootstrap.keys"), &whole[..whole.len() / 2]).unwrap();
    let refused = |line: &str, wanted: &str| {
        let before = snapshot(at);
        let message = fail(at, line);
        assert!(message.contains(wanted), "windlass {line}\nsays: {message}wanted: {wanted}");
        assert!(snapshot(at) == before, "windlass {line} made or changed a file");
    };
    refused("refresh --preset none", "unknown parameter preset \"none\"; choose one of insecure_boot_105");
    // Sets that do not bootstrap, named and in a file: what can be done here, and no field of the library.
    succeed(at, "params plan --modulus 257 --out own.json");
    for preset in ["insecure_toy_256", "bgv_n32768", "own.json"] {
        let message = fail(at, &format!("refresh --preset {preset} --explain"));
        assert!(
            message.contains("choose a preset that does ('windlass refresh --preset list')"),
            "{preset}: {message}"
        );
        assert!(!message.contains("::") && message.contains("params plan --bootstrap"), "{preset}: {message}");
    }
    refused("refresh", "give --preset NAME with one of insecure_boot_105");
    refused(&encrypt("--values 2"), "the value 2 is not below the plaintext modulus 2");
    refused(&encrypt("--values 1,-2"), "the value -2 is below minus half the plaintext modulus 2");
    refused(&encrypt("--values 1,x"), "give integers, separated by commas");
    refused(&encrypt(&format!("--values -{}", "9".repeat(40))), "give integers, separated by commas");
    refused(&encrypt(&format!("--values {}", ["1"; 49].join(","))), "values do not fit");
    refused(&encrypt("--values 1 --capacity 1e6"), "cannot have 1000000 bits of capacity");
    refused(&encrypt("--values 1").replace("keys/secret.key", "keys/public.key"), "expected a secret key");
    refused(&apply("stranger", "keys", "spent.bin"), "stranger/evaluation.keys: it belongs to another key pair");
    refused(&apply("keys", "stranger", "spent.bin"), "stranger/bootstrap.keys: it belongs to another key pair");
    refused(&apply("keys", "damaged", "spent.bin"), "damaged/bootstrap.keys: the file is truncated");
    refused(&apply("keys", "keys", "keys/secret.key"), "expected a ciphertext, but found a secret key");
    refused(&apply("keys", "keys", "spent.bin").replace("boot_105", "boot_1023"), "another context");
    refused(&apply("keys", "keys", "spent.bin").replace("new.bin", "spent.bin"), "already exists");
    let decrypt = "refresh decrypt --preset insecure_boot_105 --in spent.bin --secret-key";
    refused(&format!("{decrypt} stranger/secret.key"), "spent.bin: it belongs to another key pair");
}

/// A set of CKKS: real numbers, errors instead of equal values, and the same files and steps.
const REALS: &str = "--preset insecure_toy_refresh_1024";

#[test]
fn the_server_refreshes_real_numbers_with_public_files_alone() {
    let (client, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    succeed(client.path(), &format!("refresh keygen {REALS} --out ."));
    for (side, name) in [("--public-key public.key", "first.bin"), ("--secret-key secret.key", "second.bin")] {
        let line = format!("refresh encrypt {REALS} {side} --values 0.5,-0.25,1,-1 --out {name}");
        succeed(client.path(), &line);
    }
    send(client.path(), server.path(), &["evaluation.keys", "bootstrap.keys", "first.bin", "second.bin"]);
    let keys = "--evaluation-keys evaluation.keys --bootstrap-keys bootstrap.keys";
    // The last one is refreshed twice.
    for (from, to) in [("first.bin", "a.bin"), ("second.bin", "b.bin"), ("b.bin", "c.bin")] {
        let report = succeed(server.path(), &format!("refresh apply {REALS} {keys} --in {from} --out {to}"));
        assert_eq!(report["levels"][1], 3, "{report}");
        let stages: Vec<&str> =
            report["stages"].as_array().unwrap().iter().map(|stage| stage["name"].as_str().unwrap()).collect();
        assert_eq!((stages[0], stages[4]), ("raise", "sine, part 1 of 2"), "{stages:?}");
    }
    send(server.path(), client.path(), &["a.bin", "b.bin", "c.bin"]);
    for name in ["a.bin", "b.bin", "c.bin"] {
        let line = format!("refresh decrypt {REALS} --secret-key secret.key --in {name}");
        let report = succeed(client.path(), &format!("{line} --values 0.5,-0.25,1,-1"));
        assert_eq!(report["verified"], true);
        assert!(report["worst_error_bits"].as_f64().unwrap() > 15.0, "{report}");
        let values = report["values"].as_array().unwrap();
        assert!(values.len() == 512 && (values[1].as_f64().unwrap() + 0.25).abs() < 1e-4);
        let message = fail(client.path(), &format!("{line} --values 0.5,0.25,1,-1"));
        assert!(message.contains("value 1 decrypts to -0.2") && message.contains("instead of 0.25"), "{message}");
    }
}

#[test]
fn a_refresh_of_real_numbers_tells_errors_seconds_and_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let plan = succeed(dir.path(), &format!("refresh {REALS} --explain"));
    assert!(snapshot(dir.path()).is_empty());
    let made = succeed(dir.path(), &format!("refresh {REALS}"));
    assert!(snapshot(dir.path()).is_empty(), "without --out nothing stays behind");
    for name in ["secret.key", "public.key", "evaluation.keys", "bootstrap.keys"] {
        assert_eq!(plan["bytes"][name], made["bytes"][name], "{name}");
    }
    let stages = |report: &serde_json::Value| -> Vec<String> {
        let list = report["stages"].as_array().unwrap();
        list.iter().map(|stage| stage["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(stages(&plan), stages(&made));
    let number = |report: &serde_json::Value, name: &str| report[name].as_f64().unwrap();
    assert!(number(&made, "worst_error_bits") > number(&made, "stated_error_bits"), "{made}");
    assert!(number(&made, "mean_error_bits") > number(&made, "worst_error_bits"));
    assert!(number(&plan, "error_bits") > 20.0 && number(&plan, "systematic_error_bits") > 20.0);
    assert_eq!((&made["verified"], &made["preset"]), (&true.into(), &"insecure_toy_refresh_1024".into()));
    assert!(number(&made["seconds"], "refresh") > 0.0);
    let text =
        String::from_utf8(windlass(dir.path(), format!("refresh {REALS} --values 0.5").split(' ')).stdout).unwrap();
    for wanted in [
        "sine, part 2 of 2",
        "products in sequence: 0 before, 3 after",
        "on average",
        "bootstrap.keys",
        "all 512 values",
    ] {
        assert!(text.contains(wanted), "no '{wanted}' in\n{text}");
    }
    let list = String::from_utf8(windlass(dir.path(), "refresh --preset list".split(' ')).stdout).unwrap();
    assert!(list.contains("\nrefresh_n65536\n") && list.contains("insecure_boot_105\n"), "{list}");
}

#[test]
fn bad_input_for_real_numbers_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for name in ["keys", "stranger"] {
        succeed(at, &format!("refresh keygen {REALS} --out {name}"));
    }
    let encrypt = |rest: &str| format!("refresh encrypt {REALS} --secret-key keys/secret.key {rest} --out new.bin");
    succeed(at, &encrypt("--values 0.5").replace("new.bin", "spent.bin"));
    let apply = |evaluation: &str, own: &str, input: &str| {
        let keys = format!("--evaluation-keys {evaluation}/evaluation.keys --bootstrap-keys {own}/bootstrap.keys");
        format!("refresh apply {REALS} {keys} --in {input} --out new.bin")
    };
    let whole = fs::read(at.join("keys/bootstrap.keys")).unwrap();
    fs::create_dir(at.join("damaged")).unwrap();
    fs::write(at.join("damaged/bootstrap.keys"), &whole[..whole.len() / 2]).unwrap();
    let refused = |line: &str, wanted: &str| {
        let before = snapshot(at);
        let message = fail(at, line);
        assert!(message.contains(wanted), "windlass {line}\nsays: {message}wanted: {wanted}");
        assert!(!message.contains("::"), "{message}");
        assert!(snapshot(at) == before, "windlass {line} made or changed a file");
    };
    for value in ["1.5", "-2", "nan", "inf", "1e300"] {
        refused(&encrypt(&format!("--values 0.5,{value}")), "at index 1 is not in [-1, 1]");
    }
    refused(&encrypt("--values 0.5,x"), "or numbers such as 0.5,-0.25 for a set of CKKS");
    refused(&encrypt(&format!("--values {}", ["1"; 513].join(","))), "513 values do not fit into 512 slots");
    refused(&encrypt("--values 1 --capacity 10"), "--capacity is for sets of integers");
    refused(&encrypt("--values 1 --packed"), "--packed is for sets of integers");
    refused(&encrypt("--values 1 --scheme bfv"), "--scheme bfv is for sets of integers");
    refused(&format!("refresh {SET} --values 0.5"), "give integers, separated by commas");
    refused("refresh --preset none", "refresh_n65536");
    refused(&apply("stranger", "keys", "spent.bin"), "stranger/evaluation.keys: it belongs to another key pair");
    refused(&apply("keys", "stranger", "spent.bin"), "stranger/bootstrap.keys: it belongs to another key pair");
    refused(&apply("keys", "damaged", "spent.bin"), "damaged/bootstrap.keys: the file is truncated");
    refused(&apply("keys", "keys", "keys/secret.key"), "expected a CKKS ciphertext, but found a secret key");
    refused(
        &apply("keys", "keys", "spent.bin").replace(REALS, SET),
        "expected a ciphertext, but found a CKKS ciphertext",
    );
    let decrypt = format!("refresh decrypt {REALS} --in spent.bin --secret-key");
    refused(&format!("{decrypt} stranger/secret.key"), "spent.bin: it belongs to another key pair");
}

/// A set in a file is that of the file, and refused if it is damaged.
#[test]
fn a_set_of_real_numbers_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let spec = windlass::bootstrap::approximate::RefreshSpec::preset("insecure_toy_refresh_1024").unwrap();
    let text = spec.to_json();
    fs::write(at.join("set.json"), &text).unwrap();
    let message = fail(at, "refresh --preset set.json");
    assert!(message.contains("--insecure"), "{message}");
    assert_eq!(succeed(at, "refresh --preset set.json --insecure --values 0.5,-1")["verified"], true);
    for (from, to) in [
        ("\"gap_bits\": 8", "\"gap_bits\": 80"),
        ("\"degree\": 15", "\"degree\": \"many\""),
        ("refresh\": 1", "refresh\": 9"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(at.join("bad.json"), text.replace(from, to)).unwrap();
        let message = fail(at, "refresh --preset bad.json --insecure");
        assert!(message.contains("bad.json"), "{message}");
    }
}

/// Integers through CKKS: in slots, and as coefficients modulo a power of two.
#[test]
fn the_server_refreshes_integers_through_ckks_with_public_files_alone() {
    for (set, values, decrypted) in [
        ("insecure_toy_exact_1024_p65537", "3,-1,65535", serde_json::json!([3, 65536, 65535])),
        ("insecure_toy_exact_1024_p2r16 --scheme bfv", "7,-2", serde_json::json!([7, 65534])),
    ] {
        let (client, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let set = format!("--preset {set}");
        let plan = succeed(client.path(), &format!("refresh {set} --explain"));
        assert!(plan["depth_between_refreshes"].as_u64().unwrap() >= 1 && plan["passes"] == 3, "{plan}");
        let made = succeed(client.path(), &format!("refresh keygen {set} --out ."));
        for name in ["secret.key", "public.key", "evaluation.keys", "bootstrap.keys"] {
            assert_eq!(plan["bytes"][name], made["bytes"][name], "{name}");
        }
        for (side, name) in [("--public-key public.key", "first.bin"), ("--secret-key secret.key", "second.bin")] {
            succeed(client.path(), &format!("refresh encrypt {set} {side} --values {values} --out {name}"));
        }
        send(client.path(), server.path(), &["evaluation.keys", "bootstrap.keys", "first.bin", "second.bin"]);
        let keys = "--evaluation-keys evaluation.keys --bootstrap-keys bootstrap.keys";
        for (from, to) in [("first.bin", "a.bin"), ("second.bin", "b.bin"), ("b.bin", "c.bin")] {
            let report = succeed(server.path(), &format!("refresh apply {set} {keys} --in {from} --out {to}"));
            let capacity = report["capacity_bits"][1].as_f64().unwrap();
            assert!(capacity > plan["output_bits"].as_f64().unwrap() - 0.1, "{report}");
        }
        send(server.path(), client.path(), &["a.bin", "b.bin", "c.bin"]);
        for name in ["a.bin", "b.bin", "c.bin"] {
            let line = format!("refresh decrypt {set} --secret-key secret.key --in {name}");
            let report = succeed(client.path(), &format!("{line} --values {values}"));
            assert_eq!((&report["values"], &report["verified"]), (&decrypted, &true.into()));
            let message = fail(client.path(), &format!("{line} --values 4"));
            assert!(message.contains("value 0 decrypts to"), "{message}");
        }
        let message = fail(client.path(), &format!("refresh {set} --packed"));
        assert!(message.contains("--packed is for bootstrapping"), "{message}");
    }
}

/// Numbers in several passes: the error is stated beyond what doubles hold.
#[test]
fn a_refresh_in_several_passes_tells_all_bits_of_its_error() {
    let dir = tempfile::tempdir().unwrap();
    let set = "--preset insecure_toy_precise_1024";
    let plan = succeed(dir.path(), &format!("refresh {set} --explain"));
    let made = succeed(dir.path(), &format!("refresh {set} --values 0.5,-0.25 --out made"));
    for name in ["secret.key", "public.key", "evaluation.keys", "bootstrap.keys"] {
        assert_eq!(plan["bytes"][name], made["bytes"][name], "{name}");
    }
    let number = |report: &serde_json::Value, name: &str| report[name].as_f64().unwrap();
    assert!(number(&plan, "error_bits") > 70.0, "{plan}");
    assert!(number(&made, "worst_error_bits") > 68.0, "{made}");
    assert_eq!((&made["verified"], &made["levels"]), (&true.into(), &serde_json::json!([0, 2])));
    let line = format!("refresh decrypt {set} --secret-key made/secret.key --in made/refreshed.bin --values 0.5");
    assert!(fail(dir.path(), &line).contains("value 1 decrypts to -0.25"));
    let list = String::from_utf8(windlass(dir.path(), "refresh --preset list".split(' ')).stdout).unwrap();
    assert!(list.contains("\nprecise_n65536\n") && list.contains("\nexact_n65536_p65537\n"), "{list}");
}

/// Sets of both kinds in files are those of the files, and refused if they are damaged.
#[test]
fn sets_of_several_passes_in_files() {
    use windlass::bootstrap::approximate::precise::PreciseRefreshPlan;
    use windlass::bootstrap::exact_through_ckks::ExactRefreshPlan;

    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let exact = ExactRefreshPlan::preset("insecure_toy_exact_1024_p257").unwrap().spec().to_json(Scheme::Bgv);
    let precise = PreciseRefreshPlan::preset("insecure_toy_precise_1024").unwrap().spec().to_json();
    for (name, text, values) in [("exact", exact, "1,-1"), ("precise", precise, "0.5,-1")] {
        fs::write(at.join(name), &text).unwrap();
        let path = format!("./{name}");
        fs::write(at.join(format!("{name}.json")), &text).unwrap();
        let message = fail(at, &format!("refresh --preset {name}.json"));
        assert!(message.contains("--insecure"), "{path}: {message}");
        let done = succeed(at, &format!("refresh --preset {name}.json --insecure --values {values}"));
        assert_eq!(done["verified"], true);
        for (from, to) in [
            ("\"passes\": 3", "\"passes\": 77"),
            ("\"degree\": 15", "\"degree\": \"many\""),
            ("refresh\": 1", "refresh\": 9"),
        ] {
            assert!(text.contains(from), "{from}");
            fs::write(at.join("bad.json"), text.replace(from, to)).unwrap();
            let message = fail(at, "refresh --preset bad.json --insecure");
            assert!(message.contains("bad.json"), "{message}");
        }
    }
    let shown = succeed(at, "params show insecure_toy_exact_1024_p257");
    assert_eq!((&shown["p"], &shown["n"]), (&257.into(), &1024.into()));
    assert!(shown["depth_between_refreshes"].as_u64().unwrap() >= 1);
}

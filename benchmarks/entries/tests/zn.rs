//! The stages of the entry for products, as processes in a directory of their own.

mod common;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_zn-multiplication");

fn succeed(directory: &Path, name: &str, arguments: &[&str]) {
    common::succeed(PROGRAM, directory, name, arguments);
}

fn refuse(directory: &Path, name: &str, arguments: &[&str], what: &str) {
    common::refuse(PROGRAM, directory, name, arguments, what);
}

/// Integers that look random, after the edges.
fn integers(count: usize, salt: u64) -> Vec<u64> {
    let edges = [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 0xffff_ffff];
    let random = (0..count as u64).map(|k| (k + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left((k % 61) as u32));
    edges.into_iter().chain(random).take(count).collect()
}

fn lines(integers: &[u64]) -> String {
    integers.iter().map(|x| format!("{x}\n")).collect()
}

/// A directory with inputs and a key.
fn begin(left: &[u64], right: &[u64]) -> TempDir {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("datasets/toy");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("lhs.txt"), lines(left)).unwrap();
    fs::write(data.join("rhs.txt"), lines(right)).unwrap();
    succeed(directory.path(), "client_preprocess_input", &[&left.len().to_string()]);
    succeed(directory.path(), "client_key_generation", &["toy"]);
    directory
}

fn products(directory: &Path) -> String {
    fs::read_to_string(directory.join("io/toy/cleartext_output/out.txt")).unwrap()
}

/// A chunk and a bit: 4096 integers fill one.
#[test]
fn every_product_is_right() {
    for count in [1, 4100] {
        let (left, mut right) = (integers(count, 1), integers(count, 5000));
        right.reverse();
        let directory = begin(&left, &right);
        let (here, number) = (directory.path(), count.to_string());
        succeed(here, "client_encode_encrypt_input", &["toy"]);
        for _ in 0..2 {
            succeed(here, "server_encrypted_compute", &["toy", &number]);
            succeed(here, "client_decrypt_decode", &["toy", &number]);
            succeed(here, "client_postprocess", &["toy", &number]);
        }
        let wanted: Vec<u64> = left.iter().zip(&right).map(|(a, b)| a.wrapping_mul(*b)).collect();
        assert_eq!(products(here), lines(&wanted));
    }
}

#[test]
fn wrong_calls_and_texts_are_refused() {
    let directory = begin(&[1, 2], &[3]);
    let here = directory.path();
    refuse(here, "steal", &[], "one of the stages");
    refuse(here, "client_decrypt_decode", &["toy"], "usage: client_decrypt_decode <size> <data size>");
    refuse(here, "server_encrypted_compute", &["toy", "many"], "not a number");
    refuse(here, "client_encode_encrypt_input", &["toy"], "1 integers, where lhs.txt has 2");
    refuse(here, "server_encrypted_compute", &["toy", "2"], "1 values, where 2 were asked for");
    for (text, what) in [("-3\n4\n", "\"-3\" is no integer"), ("3\n18446744073709551616\n", "line 2")] {
        fs::write(here.join("datasets/toy/rhs.txt"), text).unwrap();
        refuse(here, "client_encode_encrypt_input", &["toy"], what);
    }
    fs::remove_file(here.join("datasets/toy/rhs.txt")).unwrap();
    refuse(here, "client_encode_encrypt_input", &["toy"], "rhs.txt");
    assert!(!here.join("io/toy/cleartext_output").exists());
}

#[test]
fn wrong_files_are_refused() {
    let directory = begin(&[7, 8, 9], &[10, 11, 12]);
    let here = directory.path();
    let (io, count) = (here.join("io/toy"), "3");
    refuse(here, "server_encrypted_compute", &["toy", count], "lhs.bin");
    succeed(here, "client_encode_encrypt_input", &["toy"]);
    succeed(here, "server_encrypted_compute", &["toy", count]);

    // Each file shortened, lengthened, with another header, and taken for another.
    let cases = [
        ("ciphertexts_upload/lhs.bin", "server_encrypted_compute"),
        ("ciphertexts_upload/rhs.bin", "server_encrypted_compute"),
        ("public_keys/context.bin", "server_encrypted_compute"),
        ("ciphertexts_download/products.bin", "client_decrypt_decode"),
        ("private_keys/secret.key", "client_decrypt_decode"),
    ];
    for (name, stage) in cases {
        let (file, bytes) = (io.join(name), fs::read(io.join(name)).unwrap());
        let refuse_as = |bytes: &[u8], what| {
            fs::write(&file, bytes).unwrap();
            refuse(here, stage, &["toy", count], what);
        };
        refuse_as(&bytes[..bytes.len() - 1], if bytes.len() == 64 { "shorter" } else { "header says" });
        refuse_as(&[&bytes[..], &[0]].concat(), "header says");
        refuse_as(&[b"WLZM", &bytes[4..]].concat(), "no file of");
        refuse_as(&[&bytes[..5], &[7], &bytes[6..]].concat(), "no file of");
        refuse_as(b"", "shorter");
        fs::write(&file, &bytes).unwrap();
    }

    // Residues out of range, changed answers, another key.
    let upload = io.join("ciphertexts_upload/rhs.bin");
    let whole = fs::read(&upload).unwrap();
    fs::write(&upload, [&whole[..64], &[0xff; 48], &whole[112..]].concat()).unwrap();
    refuse(here, "server_encrypted_compute", &["toy", count], "out of range");
    fs::write(&upload, &whole).unwrap();
    let download = io.join("ciphertexts_download/products.bin");
    let mut answer = fs::read(&download).unwrap();
    answer[200_000] ^= 4;
    fs::write(&download, &answer).unwrap();
    refuse(here, "client_decrypt_decode", &["toy", count], "cannot be decrypted");
    succeed(here, "client_key_generation", &["toy"]);
    refuse(here, "server_encrypted_compute", &["toy", count], "belongs to key");
    refuse(here, "client_decrypt_decode", &["toy", count], "belongs to key");
    assert!(!io.join("cleartext_output/out.txt").exists());
}

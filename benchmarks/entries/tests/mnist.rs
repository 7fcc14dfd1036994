//! The stages of the entry for digits, as processes in a directory of their own.

mod common;

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use windlass_entries::mnist::{Model, SIDE, read_pictures};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mnist");

fn succeed(directory: &Path, name: &str, arguments: &[&str]) {
    common::succeed(PROGRAM, directory, name, arguments);
}

fn refuse(directory: &Path, name: &str, arguments: &[&str], what: &str) {
    common::refuse(PROGRAM, directory, name, arguments, what);
}

/// A line of pixels: strokes whose place depends on a number.
fn picture(number: usize) -> String {
    let pixel = |place: usize| {
        let (row, column) = (place / SIDE, place % SIDE);
        let near = |a: usize, b: usize| 1.0 - 0.3 * a.abs_diff(b).min(3) as f64;
        let strokes = [near(row, 5 + number % 17), near(column, 6 + number % 13), near(row + column, 20 + number % 11)];
        let brightness = strokes[number % 3].max(strokes[number / 3 % 3]).max(0.0);
        format!("{brightness:.6}")
    };
    (0..SIDE * SIDE).map(pixel).collect::<Vec<String>>().join(" ") + "\n"
}

/// A directory with pictures and keys.
fn begin(size: &str, name: &str, count: usize) -> TempDir {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("datasets").join(name).join("intermediate");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("test_pixels.txt"), (0..count).map(picture).collect::<String>()).unwrap();
    succeed(directory.path(), "client_key_generation", &[size]);
    succeed(directory.path(), "server_preprocess_model", &[]);
    succeed(directory.path(), "client_preprocess_input", &[size]);
    directory
}

/// What the model says in the clear.
fn wanted(directory: &Path, name: &str) -> String {
    let file = directory.join("datasets").join(name).join("intermediate/test_pixels.txt");
    let model = Model::bundled().unwrap();
    let digit = |picture: &Vec<u8>| format!("{}\n", Model::digit(&model.scores(&model.inputs(picture))));
    read_pictures(&file).unwrap().iter().map(digit).collect()
}

fn found(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join("io").join(name).join("encrypted_model_predictions.txt")).unwrap()
}

#[test]
fn digits_are_those_in_the_clear_whichever_way_pictures_travel() {
    for (size, name, count) in [("0", "single", 1), ("1", "small", 15), ("2", "medium", 1000)] {
        let directory = begin(size, name, count);
        for stage in ["client_encode_encrypt_input", "server_encrypted_compute", "client_decrypt_decode"] {
            succeed(directory.path(), stage, &[size]);
        }
        succeed(directory.path(), "client_postprocess", &[size]);
        let digits = found(directory.path(), name);
        assert_eq!(digits, wanted(directory.path(), name));
        let different: std::collections::BTreeSet<&str> = digits.lines().collect();
        assert!(count == 1 || different.len() > 2, "the pictures show {different:?}");
    }
}

#[test]
fn wrong_calls_and_pictures_are_refused() {
    let directory = begin("0", "single", 1);
    let here = directory.path();
    refuse(here, "client_key_generation", &["4"], "from 0 to 3");
    refuse(here, "client_key_generation", &[], "usage: client_key_generation <size>");
    refuse(here, "train", &["0"], "one of the stages");
    let pixels = here.join("datasets/single/intermediate/test_pixels.txt");
    let whole = fs::read_to_string(&pixels).unwrap();
    for (text, what) in [
        (whole.repeat(2), "2 pictures, where this size has 1"),
        (whole.replacen("0.", "1.", 1).replacen("1.0", "1.5", 1), "no number from 0 to 1"),
        (whole.replacen("0.", "x.", 1), "no number from 0 to 1"),
        (format!("{} 0.5\n", whole.trim()), "785 pixels"),
        (String::new(), "0 pictures"),
    ] {
        fs::write(&pixels, text).unwrap();
        refuse(here, "client_encode_encrypt_input", &["0"], what);
    }
}

#[test]
fn wrong_files_are_refused() {
    for (size, name, count, upload, download) in [
        ("0", "single", 1, "ciphertexts_upload/picture_0.bin", "ciphertexts_download/scores_0.bin"),
        ("2", "medium", 1000, "ciphertexts_upload/pictures.bin", "ciphertexts_download/scores.bin"),
    ] {
        let directory = begin(size, name, count);
        let (here, io) = (directory.path(), directory.path().join("io").join(name));
        refuse(here, "server_encrypted_compute", &[size], ".bin");
        succeed(here, "client_encode_encrypt_input", &[size]);
        succeed(here, "server_encrypted_compute", &[size]);
        for (file, stage) in [(upload, "server_encrypted_compute"), (download, "client_decrypt_decode")] {
            let bytes = fs::read(io.join(file)).unwrap();
            for wrong in [&bytes[..bytes.len() - 1], &bytes[..40]] {
                fs::write(io.join(file), wrong).unwrap();
                refuse(here, stage, &[size], "");
            }
            fs::write(io.join(file), &bytes).unwrap();
        }
        let mut changed = fs::read(io.join(download)).unwrap();
        changed[100_000] ^= 1;
        fs::write(io.join(download), &changed).unwrap();
        refuse(here, "client_decrypt_decode", &[size], "");
        succeed(here, "client_key_generation", &[size]);
        refuse(here, "server_encrypted_compute", &[size], "key");
        assert!(!io.join("encrypted_model_predictions.txt").exists());
    }
}

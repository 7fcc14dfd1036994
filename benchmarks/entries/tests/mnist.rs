//! The stages of the entry for digits, as processes in a directory of their own.

mod common;

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use windlass_entries::EntryError;
use windlass_entries::mnist::single::Setting;
use windlass_entries::mnist::{INPUTS, Model, SIDE, batch, read_pictures};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mnist");

fn succeed(directory: &Path, name: &str, arguments: &[&str]) {
    common::succeed(PROGRAM, directory, name, arguments);
}

fn refuse(directory: &Path, name: &str, arguments: &[&str], what: &str) {
    common::refuse(PROGRAM, directory, name, arguments, what);
}

/// A line of pixels.
fn line(brightness: impl Fn(usize, usize) -> f64) -> String {
    let pixel = |place: usize| format!("{:.6}", brightness(place / SIDE, place % SIDE));
    (0..SIDE * SIDE).map(pixel).collect::<Vec<String>>().join(" ") + "\n"
}

/// Strokes whose place depends on a number.
fn picture(number: usize) -> String {
    line(|row, column| {
        let near = |a: usize, b: usize| 1.0 - 0.3 * a.abs_diff(b).min(3) as f64;
        let strokes = [near(row, 5 + number % 17), near(column, 6 + number % 13), near(row + column, 20 + number % 11)];
        strokes[number % 3].max(strokes[number / 3 % 3]).max(0.0)
    })
}

/// Pictures whose scores are far larger than those of digits: the last one reaches the largest
/// product of all.
fn extremes(model: &Model) -> Vec<String> {
    let painted = |white: &dyn Fn(usize, usize) -> bool| line(|row, column| f64::from(u8::from(white(row, column))));
    let edge = |x: usize| !(5..SIDE - 5).contains(&x);
    let end = |hidden: usize, sign: i64| {
        line(|row, column| {
            let inside = (2..SIDE - 2).contains(&row) && (2..SIDE - 2).contains(&column);
            let lit = inside && sign * model.first[hidden][(row - 2) * (SIDE - 4) + column - 2] > 0;
            f64::from(u8::from(lit))
        })
    };
    let square = |hidden: usize, sign: i64| {
        let sum: i64 = model.first[hidden].iter().filter(|w| **w * sign > 0).sum();
        (3 * sum + model.first_bias[hidden]).pow(2) * model.second.iter().map(|row| row[hidden].abs()).max().unwrap()
    };
    let ends = (0..model.first.len()).flat_map(|hidden| [(hidden, 1), (hidden, -1)]);
    let (hidden, sign) = ends.max_by_key(|&(hidden, sign)| square(hidden, sign)).unwrap();
    assert_eq!(square(hidden, sign) as u64, model.largest_product());
    vec![
        painted(&|_, column| column < SIDE / 2),
        painted(&|row, column| edge(row) || edge(column)),
        painted(&|row, _| row >= SIDE / 2),
        painted(&|_, _| true),
        painted(&|_, _| false),
        end(hidden, sign),
    ]
}

/// A directory with pictures and keys.
fn begin(size: &str, name: &str, count: usize) -> TempDir {
    begin_with(size, name, (0..count).map(picture).collect())
}

fn begin_with(size: &str, name: &str, pictures: String) -> TempDir {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("datasets").join(name).join("intermediate");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("test_pixels.txt"), pictures).unwrap();
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

/// Runs what is left after [`begin`].
fn classified(directory: &Path, size: &str, name: &str) -> String {
    for stage in
        ["client_encode_encrypt_input", "server_encrypted_compute", "client_decrypt_decode", "client_postprocess"]
    {
        succeed(directory, stage, &[size]);
    }
    found(directory, name)
}

#[test]
fn pictures_that_are_no_digits_get_the_digit_of_the_clear() {
    let pictures = extremes(&Model::bundled().unwrap());
    for (size, name, count) in [("1", "small", 15), ("2", "medium", 1000)] {
        let directory = begin_with(size, name, pictures.iter().cycle().take(count).cloned().collect());
        assert_eq!(classified(directory.path(), size, name), wanted(directory.path(), name));
    }
}

/// The same weights for pixels of eight values, whose scores wrapped.
#[test]
fn a_model_whose_scores_could_wrap_is_refused() {
    let text = include_str!("../../mnist/model.json");
    let finer = Model::parse(&text.replacen("\"levels\":3", "\"levels\":7", 1)).unwrap();
    assert_eq!(finer.inputs(&[255; SIDE * SIDE]), [7; INPUTS]);
    assert!(matches!(batch::parameters(&finer), Err(EntryError::Wraps { what: "scores", .. })));
    assert!(matches!(Setting::new(finer), Err(EntryError::Wraps { what: "products", .. })));
}

#[test]
fn digits_are_those_in_the_clear_whichever_way_pictures_travel() {
    for (size, name, count) in [("0", "single", 1), ("1", "small", 15), ("2", "medium", 1000)] {
        let directory = begin(size, name, count);
        let digits = classified(directory.path(), size, name);
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

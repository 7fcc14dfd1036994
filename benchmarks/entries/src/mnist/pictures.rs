//! The harness's file of pictures: a line for each, 784 numbers from 0 to 1.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::error::{EntryError, Result};

/// Side of a picture.
pub const SIDE: usize = 28;

/// Reads all pictures: `[SIDE²]` bytes each, 255 where the file says 1.
///
/// # Errors
/// [`EntryError::File`]; [`EntryError::Malformed`] for lines of another length and for what is no
/// number from 0 to 1.
pub fn read(file: &Path) -> Result<Vec<Vec<u8>>> {
    let opened = File::open(file).map_err(EntryError::at(file))?;
    let mut pictures = Vec::new();
    for (number, line) in BufReader::with_capacity(1 << 20, opened).lines().enumerate() {
        let line = line.map_err(EntryError::at(file))?;
        if line.trim().is_empty() {
            continue;
        }
        let refuse = |what: String| EntryError::malformed(file, format!("line {}: {what}", number + 1));
        let picture = line
            .split_ascii_whitespace()
            .map(|word| pixel(word).ok_or_else(|| refuse(format!("{word:?} is no number from 0 to 1"))))
            .collect::<Result<Vec<u8>>>()?;
        if picture.len() != SIDE * SIDE {
            return Err(refuse(format!("{} pixels, where a picture has {}", picture.len(), SIDE * SIDE)));
        }
        pictures.push(picture);
    }
    Ok(pictures)
}

fn pixel(word: &str) -> Option<u8> {
    let value: f64 = word.get(..32.min(word.len()))?.parse().ok()?;
    (0.0..=1.0).contains(&value).then(|| (value * 255.0).round() as u8)
}

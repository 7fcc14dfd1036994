//! Private lookup in a table: the server multiplies an encrypted selection vector by its table (the application of
//! Halevi–Shoup 2018, §1) and never learns which row was asked for.

mod layout;
mod record;

pub use layout::{Layout, Lines};
pub use record::{bytes_to_words, decode_record, encode_record, word_bits, word_count, words_to_bytes};

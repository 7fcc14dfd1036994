//! Private lookups in tables of any size, and nearest neighbours.
//!
//! The client's query is one ciphertext. The server expands it into encryptions of the coefficients
//! of a selection, multiplies a prepared table by them in one pass, chooses a column by encrypted
//! bits, and returns the result at the smallest modulus that decrypts. The ring is Z\[X\]/(X^n + 1)
//! with 32-bit residues ([`Moduli`]).
#![forbid(unsafe_code)]

/// Runs the program of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/lookup.md")]
struct Page;

mod answer;
mod bins;
mod blind;
pub mod bounds;
mod bytes;
mod change;
mod client;
mod cuckoo;
mod deprecated;
mod error;
mod evaluate;
mod expand;
mod explain;
mod gathering;
mod hidden;
mod keywords;
mod mask;
mod oprf;
mod padding;
pub mod parts;
mod placement;
mod plan;
mod pool;
mod portions;
mod query;
mod query_name;
mod record;
mod requirements;
mod rows;
mod schema;
mod sealed;
mod seconds;
mod segment_file;
mod selector;
mod setting;
mod shape;
mod shards;
mod store;
mod switch;
mod table;
mod tiles;
mod u32_ciphertext;
pub mod vectors;
mod wire;

#[cfg(test)]
mod engine_tests;

pub use answer::{Answer, Part};
pub use blind::{BlindReply, BlindRequest};
pub use change::{KeyChange, RowChange};
pub use client::Client;
#[allow(deprecated)]
pub use deprecated::{OUTPUT, POINT, SCHEMA, TOGETHER, Wish, size};
pub use error::{Error, Result};
pub use evaluate::{SELECTIONS_PER_PASS, answer};
pub use explain::format_bytes;
pub use gathering::Gathering;
pub use hidden::HiddenKeys;
pub use keywords::{Keywords, fresh_seed};
pub use oprf::{Blinding, OUTPUT_BYTES, OprfKey, POINT_BYTES};
pub use plan::Plan;
pub use query::{MOST_ROWS, Query, Selection, evaluation_keys};
pub use query_name::Wanted;
pub use record::{decode_record, encode_record, push_field};
pub use requirements::{RowStatistics, TableRequirements};
pub use rows::Rows;
pub use schema::{Contents, Schema};
pub use sealed::Oprf;
pub use seconds::Seconds;
pub use selector::SelectorGadget;
pub use setting::{Moduli, N, PRIMES, Setting};
pub use shape::{Shape, Sizes, setting_of};
pub use shards::{PartialAnswer, Shard, combine};
pub use store::SCHEMA_FILE;
pub use table::{Observer, Table, unobserved};
pub use tiles::Segment;
pub use wire::{KeyContext, TableContext, longest_keys, longest_query};

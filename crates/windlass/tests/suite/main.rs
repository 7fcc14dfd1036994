//! All tests of the crate in one binary: the circuits are generic, and each binary would compile
//! them again.

mod bootstrap;
mod circuits_encrypted;
mod ckks;
mod digits;
mod engine;
mod failing_refresh;
mod failures;
mod fixture;
mod front_door;
mod front_door_keys;
mod functions_of_two;
mod linear;
mod operations;
mod own_parts;
mod parameters;
mod planned;
mod polynomial;
mod properties;
mod reencryption;
mod slot_packing;
mod slot_table;
mod spare_primes;
mod threads;
mod trace;
mod wire;

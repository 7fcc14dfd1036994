//! Methods of papers on the mock and on ciphertexts, at toy sizes.

mod digits;
mod formula_of_2015;
mod old_maps;
mod partitions;
mod refresh;

//! RLWE keys, ciphertexts, key switching, noise bounds and validated parameters.
#![forbid(unsafe_code)]

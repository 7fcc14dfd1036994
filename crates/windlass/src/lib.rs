//! Windlass computes on encrypted vectors.
#![forbid(unsafe_code)]

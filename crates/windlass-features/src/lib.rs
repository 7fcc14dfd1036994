//! One set of features for the dependencies that Windlass's programs share. No code: see the
//! manifest.
#![forbid(unsafe_code)]

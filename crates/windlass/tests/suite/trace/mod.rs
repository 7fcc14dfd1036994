//! Trace-type functions on the exact mock, BGV, BFV and CKKS.

mod approximate;
mod exact;

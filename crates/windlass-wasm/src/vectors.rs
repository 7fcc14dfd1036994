//! Vectors of integers (BGV, BFV) and of real numbers (CKKS): what a client does.

mod client;
mod context;

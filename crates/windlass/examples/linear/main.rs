//! Linear maps on encrypted vectors, five ways: `cargo run --release --example linear [name]`, name
//! one of matrix-vector, convolution, permutation, inner-products, lookup; all without it.

mod convolution;
mod inner_products;
mod matrix_vector;
mod private_lookup;
mod slot_permutation;

use windlass::{Client, Context};

fn main() -> windlass::MainResult {
    let examples: [(&str, fn(&Client) -> windlass::Result<()>); 5] = [
        ("matrix-vector", matrix_vector::run),
        ("convolution", convolution::run),
        ("permutation", slot_permutation::run),
        ("inner-products", inner_products::run),
        ("lookup", private_lookup::run),
    ];
    // Each example makes a server of its own for this client, with the keys that its plan needs.
    let (client, _) = Context::preset("demo")?.generate_keys([])?;
    let only = std::env::args().nth(1).unwrap_or_default();
    for (name, run) in examples.into_iter().filter(|(name, _)| name.contains(&only)) {
        println!("== {name}");
        run(&client)?;
    }
    Ok(())
}

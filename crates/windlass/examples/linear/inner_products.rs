//! Inner products of an encrypted vector with an encrypted matrix: the server sees neither.

use windlass::circuits::{LinearGrid, LinearPlan, PlanSpec};
use windlass::needs::Products;
use windlass::schemes::Engine;
use windlass::{Client, Result};

pub fn run(client: &Client) -> Result<()> {
    let matrix: Vec<Vec<u64>> = (0..4).map(|i| (0..8).map(|k| (7 * i + k * k) % 11).collect()).collect();
    let vector: Vec<u64> = (1..9).collect();

    // Both sides plan for a matrix of ones of this shape: it says which diagonals there are.
    let pattern = LinearGrid::from_dense(client.context(), &vec![vec![1; 8]; 4])?;
    let plan = LinearPlan::for_grid(&pattern, &PlanSpec::default())?;
    let secret = LinearGrid::from_dense(client.context(), &matrix)?;
    let encrypted = plan.encrypt_matrix::<Engine>(&secret, |diagonal| client.encrypt_plaintext(diagonal))?;

    let server = client.generate_server([&plan, &Products])?;
    let products = plan.apply_encrypted(&encrypted, server.engine(), &[client.encrypt(&vector)?])?;
    let answer = client.decrypt(&products[0])?;
    let expected = |row: &Vec<u64>| row.iter().zip(&vector).map(|(a, x)| a * x).sum::<u64>();
    assert!(matrix.iter().map(expected).eq(answer[..4].iter().copied()));
    println!("inner products: {} encrypted diagonals, {} keys", encrypted.len(), plan.required_keys().len());
    Ok(())
}

//! A public matrix times an encrypted vector.

use windlass::circuits::{LinearMap, LinearPlan, PlanSpec};

use crate::client::{Client, Result};

pub fn run(client: &Client) -> Result<()> {
    // 40 rows, 30 columns, integers modulo the plaintext prime.
    let matrix: Vec<Vec<u64>> = (0..40).map(|i| (0..30).map(|k| i * k + 3 * i + 1).collect()).collect();
    let vector: Vec<u64> = (0..30).map(|k| 100 - k).collect();

    let plan = LinearPlan::new(&LinearMap::from_dense(client.slots(), &matrix)?, &PlanSpec::default())?;
    println!("{}", plan.explain());
    let server = client.server(&plan.required_keys())?;
    let constants = plan.prepare(&server)?;
    let product = plan.apply(&constants, &server, &client.encrypt(&vector)?)?;

    let modulus = client.slots().modulus().value();
    let expected = |row: &Vec<u64>| row.iter().zip(&vector).map(|(a, x)| a * x).sum::<u64>() % modulus;
    let answer = client.decrypt(&product)?;
    assert!(matrix.iter().map(expected).eq(answer[..40].iter().copied()));
    Ok(())
}

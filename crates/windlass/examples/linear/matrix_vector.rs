//! A public matrix times an encrypted vector.

use windlass::{Client, LinearMap, Result};

pub fn run(client: &Client) -> Result<()> {
    // 40 rows, 30 columns, integers modulo the plaintext prime.
    let context = client.context();
    let matrix: Vec<Vec<u64>> = (0..40).map(|i| (0..30).map(|k| i * k + 3 * i + 1).collect()).collect();
    let vector: Vec<u64> = (0..30).map(|k| 100 - k).collect();

    let plan = LinearMap::from_dense(context, &matrix)?.plan()?;
    println!("{}", plan.explain());
    let server = client.generate_server([&plan])?;
    let answer = client.decrypt(&server.apply(&plan, &client.encrypt(&vector)?)?)?;

    let expected = |row: &Vec<u64>| row.iter().zip(&vector).map(|(a, x)| a * x).sum::<u64>() % context.modulus();
    assert!(matrix.iter().map(expected).eq(answer[..40].iter().copied()));
    Ok(())
}

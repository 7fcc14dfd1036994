//! A permutation of the slots: reversing the first sixteen.

use windlass::{Client, LinearMap, Result};

pub fn run(client: &Client) -> Result<()> {
    let count = client.context().slots();
    let source: Vec<usize> = (0..count).map(|slot| if slot < 16 { 15 - slot } else { slot }).collect();
    let plan = LinearMap::permutation(client.context(), &source)?.plan()?;
    let server = client.generate_server([&plan])?;
    let values: Vec<u64> = (0..count as u64).collect();
    let moved = client.decrypt(&server.apply(&plan, &client.encrypt(&values)?)?)?;
    assert!(source.iter().zip(&moved).all(|(&from, &to)| values[from] == to));
    println!("permutation: {}", plan.count());
    Ok(())
}

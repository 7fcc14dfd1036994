//! A permutation of the slots: reversing the first sixteen.

use windlass::circuits::{LinearMap, LinearPlan, PlanSpec};

use crate::client::{Client, Result};

pub fn run(client: &Client) -> Result<()> {
    let source: Vec<usize> = (0..client.slots().slots()).map(|slot| if slot < 16 { 15 - slot } else { slot }).collect();
    let plan = LinearPlan::new(&LinearMap::permutation(client.slots(), &source)?, &PlanSpec::default())?;
    let server = client.server(&plan.required_keys())?;
    let values: Vec<u64> = (0..client.slots().slots() as u64).collect();
    let moved = client.decrypt(&plan.apply_once(&server, &client.encrypt(&values)?)?)?;
    assert!(source.iter().zip(&moved).all(|(&from, &to)| values[from] == to));
    println!("permutation: {}", plan.count());
    Ok(())
}

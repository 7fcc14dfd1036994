//! A convolution: smoothing an encrypted signal with a public kernel.

use windlass::circuits::{LinearMap, LinearPlan, PlanSpec};

use crate::client::{Client, Result};

pub fn run(client: &Client) -> Result<()> {
    let kernel = [1, 4, 6, 4, 1];
    let signal: Vec<u64> = (0..200).map(|i| i * i % 251).collect();

    let plan = LinearPlan::new(&LinearMap::toeplitz(client.slots(), &kernel, &[])?, &PlanSpec::default())?;
    let server = client.server(&plan.required_keys())?;
    let smooth = client.decrypt(&plan.apply_once(&server, &client.encrypt(&signal)?)?)?;

    for i in 0..signal.len() {
        let expected: u64 = kernel.iter().zip(signal[..=i].iter().rev()).map(|(c, x)| c * x).sum();
        assert_eq!(smooth[i], expected);
    }
    println!("convolution: {} automorphisms for a kernel of {}", plan.required_keys().len(), kernel.len());
    Ok(())
}

//! A convolution: smoothing an encrypted signal with a public kernel.

use windlass::{Client, LinearMap, Result};

pub fn run(client: &Client) -> Result<()> {
    let kernel = [1, 4, 6, 4, 1];
    let signal: Vec<u64> = (0..200).map(|i| i * i % 251).collect();

    let plan = LinearMap::toeplitz(client.context(), &kernel, &[])?.plan()?;
    let server = client.generate_server([&plan])?;
    let smooth = client.decrypt(&server.apply(&plan, &client.encrypt(&signal)?)?)?;

    for i in 0..signal.len() {
        let expected: u64 = kernel.iter().zip(signal[..=i].iter().rev()).map(|(c, x)| c * x).sum();
        assert_eq!(smooth[i], expected);
    }
    println!("convolution: {} automorphisms for a kernel of {}", plan.required_keys().len(), kernel.len());
    Ok(())
}

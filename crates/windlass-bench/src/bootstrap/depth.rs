//! The depth of circuits that a ciphertext allows.

use std::sync::Arc;

use windlass::schemes::{Ciphertext, Decryptor, Engine};
use windlass::{Error, Evaluator, Plaintext};

/// How many squares in sequence the noise bound of a ciphertext allows; the last one is decrypted
/// and compared.
pub fn of(engine: &Engine, decryptor: &Decryptor, start: &Ciphertext, message: &Plaintext) -> Result<usize, Error> {
    // That of a server would refresh.
    let plain = Engine::new(engine.scheme(), engine.slot_ring(), Arc::clone(engine.keys()))?;
    let (mut value, mut expected, mut depth) = (start.clone(), message.clone(), 0);
    loop {
        match plain.square(&value) {
            Ok(square) => (value, expected, depth) = (square, expected.multiply(&expected)?, depth + 1),
            Err(Error::CapacityExhausted { .. }) => break,
            Err(other) => return Err(other),
        }
    }
    assert!(decryptor.decrypt(&value)? == expected, "{depth} squares of the message");
    Ok(depth)
}

/// How many squares in sequence of this ciphertext decrypt to the right message, even if the bounds
/// do not allow them: by the actual noise, as a budget that is measured with the secret key counts
/// it. Each is taken at the level at which that noise leaves most.
pub fn in_fact(
    engine: &Engine,
    decryptor: &Decryptor,
    start: &Ciphertext,
    message: &Plaintext,
) -> Result<usize, Error> {
    let plain = Engine::new(engine.scheme(), engine.slot_ring(), Arc::clone(engine.keys()))?;
    let params = engine.keys().context().params();
    // As a bound, the largest coefficient that there is: nothing is refused before it fails.
    let measured = |ct: Ciphertext| -> Result<Ciphertext, Error> {
        let noise = decryptor.exact_noise_leaks_the_secret_key(&ct)?;
        Ok(ct.assume_noise(noise))
    };
    let mut value = measured(start.clone())?;
    let floor = floor(&plain, decryptor, &value)?;
    let (mut expected, mut depth) = (message.clone(), 0);
    loop {
        let from = params.log2_q(value.level());
        let left = |level: usize| {
            let (log2_q, noise) = (params.log2_q(level), value.log2_noise());
            let scaled = if level == value.level() { noise } else { sum(noise - (from - log2_q), floor) };
            log2_q - 2.0 * scaled
        };
        let best = (1..=value.level()).max_by(|&a, &b| left(a).total_cmp(&left(b))).unwrap_or(1);
        // Near the end bounds on what rounding adds may refuse a switch that the noise allows.
        let lower = match plain.switch_modulus(&value, best) {
            Ok(lower) => measured(lower)?,
            Err(Error::CapacityExhausted { .. }) => value.clone(),
            Err(other) => return Err(other),
        };
        let square = match plain.square(&lower) {
            Ok(square) => square,
            Err(Error::CapacityExhausted { .. }) => return Ok(depth),
            Err(other) => return Err(other),
        };
        (value, expected) = (measured(square)?, expected.multiply(&expected)?);
        if decryptor.decrypt(&value).ok().as_ref() != Some(&expected) {
            return Ok(depth);
        }
        depth += 1;
    }
}

/// log2 of what rounding leaves: the noise at the lowest level that a ciphertext can be brought to.
fn floor(engine: &Engine, decryptor: &Decryptor, ct: &Ciphertext) -> Result<f64, Error> {
    let lowest = (1..ct.level()).find_map(|level| engine.switch_modulus(ct, level).ok());
    lowest.map_or(Ok(0.0), |ct| decryptor.exact_noise_leaks_the_secret_key(&ct))
}

/// log2 of the root of 2^{2a} + 2^{2b}.
fn sum(a: f64, b: f64) -> f64 {
    let (high, low) = (a.max(b), a.min(b));
    high + (2.0 * (low - high)).exp2().ln_1p() / std::f64::consts::LN_2 / 2.0
}

#[cfg(test)]
mod tests {
    use windlass::Context;
    use windlass::needs::Products;

    use super::*;

    #[test]
    fn depths_are_those_that_parameters_state() {
        let context = Context::preset("insecure_toy_256").unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], 3).unwrap();
        let message = Plaintext::from_integers(context.slot_ring(), &[3, 5, 7]).unwrap();
        let fresh = client.encrypt_plaintext(&message).unwrap();
        let depth = of(server.engine(), &client.decryptor(), &fresh, &message).unwrap();
        // Stated for encryptions under the public key; one that spends a level allows one less.
        let stated = context.params().depth() as usize;
        assert!((stated..=stated + 1).contains(&depth), "{depth} for {stated}");
        let square = server.square(&fresh).unwrap();
        let squared = message.multiply(&message).unwrap();
        assert_eq!(of(server.engine(), &client.decryptor(), &square, &squared).unwrap(), depth - 1);
        // The noise itself allows more, one less after a square, and not without an end.
        let truth = in_fact(server.engine(), &client.decryptor(), &fresh, &message).unwrap();
        assert!((depth..2 * depth).contains(&truth), "{truth} where bounds allow {depth}");
        let after = in_fact(server.engine(), &client.decryptor(), &square, &squared).unwrap();
        assert!((truth - 2..truth).contains(&after), "{after} after a square, {truth} before");
    }
}

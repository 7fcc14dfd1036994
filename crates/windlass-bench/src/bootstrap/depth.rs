//! The depth of circuits that a ciphertext allows.

use std::sync::Arc;

use windlass::schemes::{Ciphertext, Decryptor, Engine};
use windlass::{Error, Evaluator, Plaintext};

/// How many squares in sequence the noise bound of a ciphertext allows; the last one is decrypted
/// and compared.
pub fn of(engine: &Engine, decryptor: &Decryptor, start: &Ciphertext, message: &Plaintext) -> Result<usize, Error> {
    // That of a server would refresh.
    let plain = Engine::new(engine.scheme(), engine.slots(), Arc::clone(engine.keys()))?;
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

#[cfg(test)]
mod tests {
    use windlass::Context;
    use windlass::needs::Products;

    use super::*;

    #[test]
    fn depths_are_those_that_parameters_state() {
        let context = Context::preset("insecure_toy_256").unwrap();
        let (client, server) = context.generate_keys_from_seed([&Products], 3).unwrap();
        let message = Plaintext::from_integers(context.ring(), &[3, 5, 7]).unwrap();
        let fresh = client.encrypt_plaintext(&message).unwrap();
        let depth = of(server.engine(), &client.decryptor(), &fresh, &message).unwrap();
        // Stated for encryptions under the public key; one that spends a level allows one less.
        let stated = context.params().depth() as usize;
        assert!((stated..=stated + 1).contains(&depth), "{depth} for {stated}");
        let square = server.square(&fresh).unwrap();
        let squared = message.multiply(&message).unwrap();
        assert_eq!(of(server.engine(), &client.decryptor(), &square, &squared).unwrap(), depth - 1);
    }
}

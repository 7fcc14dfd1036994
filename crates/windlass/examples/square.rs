//! Squares an encrypted vector.

use std::sync::Arc;
use windlass::rlwe::{EvaluationKeys, PublicKey, SecretKey, context::os_rng};
use windlass::schemes::{Decryptor, Encryptor, Engine, Scheme};
use windlass::{Evaluator, Params, Plaintext};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params = Params::preset("demo", Scheme::Bgv)?;
    let (context, slots) = (params.context()?, params.slot_ring()?);
    let mut rng = os_rng()?;
    let secret = Arc::new(SecretKey::generate(&context, &mut rng));
    let public = Arc::new(PublicKey::generate(&secret, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    keys.add_relinearisation(&secret, context.top_level(), &mut rng)?;

    let engine = Engine::new(params.scheme(), &slots, Arc::new(keys))?;
    let x = Plaintext::from_integers(&slots, &vec![7; slots.slots()])?;
    let ct = Encryptor::new(params.scheme(), public).encrypt(&x, &mut rng)?;
    let square = engine.square(&ct)?;
    println!("{:.0} bits of capacity left", engine.capacity(&square));
    let answer = Decryptor::new(params.scheme(), &slots, secret).decrypt(&square)?;
    assert_eq!(answer.to_integers()?[0], 49);
    Ok(())
}

//! x ← x² + c, two hundred times on encrypted data, refreshing whenever capacity runs low. A toy ring: no security.
//!
//! `cargo run --release --example iterate`

use std::sync::Arc;

use windlass::bootstrap::{BootstrapKeys, BootstrapPlan, BootstrapPreset, Bootstrapper, Mode, Refresh};
use windlass::rlwe::{Context, EvaluationKeys, SecretKey, context::os_rng};
use windlass::schemes::{Decryptor, Engine, Scheme};
use windlass::{Evaluator, Plaintext};

fn main() -> windlass::Result<()> {
    let preset = BootstrapPreset::named("insecure_boot_256_p257", Mode::Thin)?;
    let plan = Arc::new(BootstrapPlan::new(
        preset.params.rlwe(),
        (preset.params.p(), preset.params.r()),
        preset.spec.clone(),
    )?);
    println!("{}", plan.explain());

    let mut rng = os_rng()?;
    let context = Context::new(preset.params.rlwe().clone())?;
    let secret = Arc::new(SecretKey::generate(&context, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    plan.add_keys(&mut keys, &secret, &mut rng)?;
    let own = BootstrapKeys::generate(&plan, Scheme::Bgv, &secret, &mut rng)?;
    let keys = Arc::new(keys);
    let bootstrapper = Bootstrapper::new(Arc::clone(&plan), Scheme::Bgv, &keys, own)?;

    let slots = plan.message_ring();
    let engine = Engine::new(Scheme::Bgv, slots, Arc::clone(&keys))?;
    let decryptor = Decryptor::new(Scheme::Bgv, slots, Arc::clone(&secret));
    let mut clear: Vec<u64> = (0..slots.slots() as u64).collect();
    let c = Plaintext::scalar(slots, 3);
    let (mut x, _) = decryptor.encrypt(&Plaintext::from_integers(slots, &clear)?, context.top_level(), &mut rng)?;
    let mut refreshed = 0;
    for _ in 0..200 {
        // A square may cost what the noise floor of a level costs, 60 bits here.
        let before = engine.capacity(&x);
        x = bootstrapper.with_spare_bits(x, 60.0)?;
        refreshed += u32::from(engine.capacity(&x) > before);
        x = engine.add_plain(&engine.square(&x)?, &c)?;
        clear.iter_mut().for_each(|value| *value = (*value * *value + 3) % preset.params.p());
    }
    assert_eq!(decryptor.decrypt(&x)?.to_integers()?, clear);
    println!("200 steps on {} slots, refreshed {refreshed} times: as expected", slots.slots());
    Ok(())
}

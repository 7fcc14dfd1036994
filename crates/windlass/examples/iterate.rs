//! x ← x² + 3, two hundred times on encrypted data: an ordinary loop, on a server that refreshes
//! automatically. A toy ring: no security.
//!
//! `cargo run --release --example iterate`

use windlass::Context;

fn main() -> windlass::MainResult {
    let context = Context::preset("insecure_boot_256_p257")?;
    let bootstrapping = context.bootstrapping()?;
    println!("{}", bootstrapping.explain());
    let (client, server) = context.generate_keys([&bootstrapping])?;

    let mut clear: Vec<u64> = (0..context.slots() as u64).collect();
    let mut x = client.encrypt(&clear)?;
    let mut refreshed = 0;
    for _ in 0..200 {
        let before = server.capacity(&x);
        x = server.add_integer(&server.square(&x)?, 3)?;
        refreshed += u32::from(server.capacity(&x) > before);
        clear.iter_mut().for_each(|value| *value = (*value * *value + 3) % context.modulus());
    }
    assert_eq!(client.decrypt(&x)?, clear);
    println!("200 steps on {} slots, refreshed {refreshed} times: as expected", context.slots());
    Ok(())
}

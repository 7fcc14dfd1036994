//! Squares an encrypted vector.

use windlass::Context;
use windlass::needs::Products;

fn main() -> windlass::MainResult {
    let context = Context::preset("demo")?;
    let (client, server) = context.generate_keys([&Products])?;
    let square = server.square(&client.encrypt(&[7, -8, 9])?)?;
    println!("{:.0} bits of capacity left", server.capacity(&square));
    assert_eq!(client.decrypt(&square)?[..4], [49, 64, 81, 0]);
    Ok(())
}

//! Files of contexts whose key several parties hold.

use windlass::{Context, Params, Scheme};

/// A secret key in a context of several parties has coefficients up to their number: its file keeps them.
#[test]
fn a_secret_key_of_such_a_context_comes_back() {
    let params = Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().with_parties(5).unwrap();
    let context = Context::from_params(params).unwrap();
    let (client, _) = context.generate_keys([]).unwrap();
    assert!(client.secret_key().expose_coefficients().iter().any(|x| x.abs() > 1));
    let again = context.client_from_bytes(&client.secret_to_bytes().unwrap()).unwrap();
    assert_eq!(again.secret_key().expose_coefficients(), client.secret_key().expose_coefficients());
    let ct = client.encrypt(&[1, 2, 3]).unwrap();
    assert_eq!(again.decrypt(&ct).unwrap()[..3], [1, 2, 3]);
    // The same set for one party has another name.
    let alone = Context::preset("insecure_toy_256").unwrap();
    assert!(alone.client_from_bytes(&client.secret_to_bytes().unwrap()).is_err());
}

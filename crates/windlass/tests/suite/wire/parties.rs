//! Files of contexts whose key several parties hold.

use windlass::rlwe::{Assurance, ReceivingKey, ReencryptionKey, RlweSpec, SecretDistribution};
use windlass::wire::{Kind, to_payload};
use windlass::{Context, Params, Scheme};

use crate::wire::common::{decode, golden, label, reject_damage, write_missing};

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

/// A file of parameters for several parties, and keys of re-encryption under them.
#[test]
fn files_of_old_are_read() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/parameters-v5.json");
    let params = Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().with_parties(5).unwrap();
    if !path.exists() && std::env::var_os("WINDLASS_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, params.to_json()).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(Params::from_json(&text).unwrap().id(), params.id());
    assert_eq!(params.to_json(), text);

    let spec = RlweSpec {
        m: 32,
        q_prime_bits: vec![45; 2],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50],
        digits: 2,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_golden".into() },
    };
    let params = Params::new("insecure_golden", Scheme::Bgv, (97, 1), None, spec).unwrap();
    let context = Context::from_params(params).unwrap();
    let files = context.files();
    let secret = |seed: u64| {
        let (client, _) = context.generate_keys_from_seed([], seed).unwrap();
        client
    };
    write_missing("receiving-key", files, || secret(1).receiving_key().unwrap());
    let receiving: ReceivingKey = golden("receiving-key", files);
    write_missing("reencryption-key", files, || secret(1).reencryption_key(&secret(2)).unwrap());
    write_missing("delegation-key", files, || secret(1).delegation_key(&receiving).unwrap());
    let between: ReencryptionKey = golden("reencryption-key", files);
    let delegation: ReencryptionKey = golden("delegation-key", files);
    assert!(!between.is_delegation() && delegation.is_delegation());
    assert_eq!(between.pairs().0, secret(1).secret_key().key_id());
    let top = context.params().top_level();
    assert_eq!((between.level(), delegation.level()), (top, top));
    for key in [between, delegation] {
        let label = label(Kind::ReencryptionKey, files);
        reject_damage(&label, &to_payload(files, &key), &|payload| {
            let key: ReencryptionKey = decode(files, payload)?;
            Ok(to_payload(files, &key).to_vec())
        });
    }
    reject_damage(&label(Kind::ReceivingKey, files), &to_payload(files, &receiving), &|payload| {
        let key: ReceivingKey = decode(files, payload)?;
        Ok(to_payload(files, &key).to_vec())
    });
}

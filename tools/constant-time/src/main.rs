//! Runs everything that touches secrets with the secrets marked as undefined memory, so that
//! valgrind's memcheck reports each branch and each address that depends on one.
//!
//! A generator marks all bytes that it gives. What follows from them is followed by memcheck bit by
//! bit: keys, errors, phases, plaintexts. What is public and follows from the same generator (seeds
//! of public halves, names of key pairs, ciphertexts) is unmarked here where it can be, and named
//! in `allowed.supp` where it cannot, together with the decisions that SECURITY.md says are made.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crabgrind::RunMode;
use crabgrind::memcheck::{MemState, mark_mem};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::{BootstrapKeys, BootstrapPreset, Encapsulation, Mode};
use windlass::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use windlass::schemes::ckks::{self, CkksContext, CkksSpec};
use windlass::schemes::{Decryptor, Encryptor};
use windlass::wire::{from_bytes, to_bytes};
use windlass::{Context, MainResult, Params, Plaintext, Scheme};
use windlass_retrieval::{
    BlindReply, BlindRequest, Client, KeyContext, OprfKey, Plan, Query, RowStatistics, Selection, Table, TableContext,
    TableRequirements, Wanted, evaluation_keys, unobserved,
};

/// A generator whose every byte is secret.
struct Secret(ChaCha20Rng);

impl RngCore for Secret {
    fn next_u32(&mut self) -> u32 {
        secret(self.0.next_u32())
    }

    fn next_u64(&mut self) -> u64 {
        secret(self.0.next_u64())
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
        mark(out, MemState::Undefined);
    }
}

fn secret<T>(mut value: T) -> T {
    mark(std::slice::from_mut(&mut value), MemState::Undefined);
    value
}

/// The memory of a value is public from here on; not what it points to.
fn public<T: ?Sized>(value: &T) {
    let (address, length) = (std::ptr::from_ref(value).cast::<u8>().cast_mut(), size_of_val(value));
    request(address, length, MemState::Defined);
}

fn mark<T>(values: &mut [T], state: MemState) {
    let length = size_of_val(values);
    request(values.as_mut_ptr().cast(), length, state);
}

fn request(address: *mut u8, length: usize, state: MemState) {
    // What it answers says nothing in this version; `main` has asked whether valgrind runs.
    let _ = mark_mem(address.cast(), length, state);
}

/// The exact schemes: keys, encryption and decryption.
fn exact(preset: &str, scheme: Scheme) -> MainResult {
    println!("{preset}, {scheme}");
    let params = Params::preset(preset, scheme)?;
    let (context, slots) = (params.context()?, params.slot_ring()?);
    let rng = &mut Secret(ChaCha20Rng::seed_from_u64(1));

    let key = Arc::new(SecretKey::generate(&context, rng));
    public(&*key); // its name, and pointers to what stays secret
    let public_key = Arc::new(PublicKey::generate(&key, rng));
    public(&*public_key);
    let mut keys = EvaluationKeys::of(&key);
    keys.add_relinearisation(&key, context.top_level(), rng)?;
    keys.add_galois(&key, slots.prime() % params.m(), context.top_level(), rng)?;

    let message = Plaintext::from_integers(&slots, &[1, 0, 1])?;
    let decryptor = Decryptor::new(scheme, &slots, Arc::clone(&key));
    let (under_secret, seed) = decryptor.encrypt(&message, context.top_level(), rng)?;
    public(&seed);
    let under_public = Encryptor::new(scheme, public_key).encrypt(&message, rng)?;
    for ciphertext in [&under_secret, &under_public] {
        for part in ciphertext.parts() {
            (0..part.basis().len()).for_each(|row| public(part.row(row)));
        }
        let plaintext = decryptor.decrypt(ciphertext)?;
        public(plaintext.coefficients());
        assert_eq!(plaintext, message);
    }
    Ok(())
}

/// The ephemeral key of a bootstrapping, and the keys that lead to it and back.
fn bootstrapping(preset: &str, encapsulation: Encapsulation) -> MainResult {
    println!("{preset}, keys of a bootstrapping, {encapsulation}");
    let BootstrapPreset { params, mut spec } = BootstrapPreset::named(preset, Mode::Thin)?;
    spec.encapsulation = encapsulation;
    let context = Context::for_bootstrapping(params, spec)?;
    let plan = context.bootstrapping()?;
    let rng = &mut Secret(ChaCha20Rng::seed_from_u64(2));
    let key = Arc::new(SecretKey::generate(context.rlwe(), rng));
    public(&*key);
    BootstrapKeys::generate(&plan, context.scheme(), &key, rng)?;
    Ok(())
}

/// CKKS: encryption and decryption.
fn approximate() -> MainResult {
    println!("CKKS");
    let context = CkksContext::new(&CkksSpec::secure(2, 36, 4, 2)?)?;
    let rng = &mut Secret(ChaCha20Rng::seed_from_u64(3));
    let key = Arc::new(SecretKey::generate(context.rlwe(), rng));
    public(&*key);
    let decryptor = ckks::Decryptor::new(&context, Arc::clone(&key))?;
    let values = ckks::complex(&[0.5, -0.25]);
    let (ciphertext, seed) = decryptor.encrypt(&values, 1.0, context.rlwe().top_level(), rng)?;
    public(&seed);
    let public_key = Arc::new(PublicKey::generate(&key, rng));
    public(&*public_key);
    let under_public = ckks::Encryptor::new(&context, public_key)?.encrypt(&values, rng)?;
    for ciphertext in [&ciphertext, &under_public] {
        for part in ciphertext.parts() {
            (0..part.basis().len()).for_each(|row| public(part.row(row)));
        }
        let slots = decryptor.decrypt(ciphertext)?;
        public(&slots[..]);
        assert!(slots.iter().zip(&values).all(|(x, y)| (x - y).norm() < 1e-6));
    }
    Ok(())
}

/// Lookups: keys, a query whose selection is a secret, and the row out of its answer.
fn lookup() -> MainResult {
    println!("lookup");
    let rows: Vec<String> = (0..40).map(|number| format!("row {number}")).collect();
    let plan = Plan::rows(RowStatistics::of(&rows)?, &TableRequirements::default())?;
    let table = Table::of_rows(&plan, &rows, &unobserved)?;
    let (setting, schema) = (table.setting(), table.schema());
    let rng = &mut Secret(ChaCha20Rng::seed_from_u64(5));

    let key = SecretKey::generate(setting.context(), rng);
    public(&key);
    // What is sent is public; what is read from it is what was sent.
    let files = KeyContext::new(setting);
    let sent = to_bytes(&files, &evaluation_keys(setting, &schema.shape, &key, rng)?)?;
    public(&sent[..]);
    let keys: EvaluationKeys = from_bytes(&files, &sent)?;
    let selection = Selection { polynomial: secret(0), record: secret(17 % schema.shape.records) };
    let sent = Query::new(setting, &schema.shape, &key, &[selection], rng)?;
    public(&sent);

    let files = TableContext::new(setting, schema);
    let client = Client::with_secret(schema.clone(), setting, key)?;
    let wanted = Wanted::Rows(vec![secret(17)]);
    let sent = client.query(&wanted)?;
    public(&sent);
    let sent = to_bytes(&files, &sent)?;
    public(&sent[..]);
    let asked: Query = from_bytes(&files, &sent)?;
    let answer = table.answer(&keys, &asked)?;
    let found = client.read(&answer, &wanted)?;
    public(&found[..]);
    let found = found[0].as_ref().expect("the row is there");
    public(&found[..]);
    assert_eq!(found, b"row 17");
    Ok(())
}

/// The exchange before a query for a hidden key: the key and the blind are secrets.
fn hidden_lookup() -> MainResult {
    println!("hidden lookup");
    let rows: Vec<(String, String)> =
        (0..10).map(|number| (format!("key {number}"), format!("row {number}"))).collect();
    let (oprf, statistics) = (OprfKey::generate()?, RowStatistics::of(&["row 0"; 10])?);
    let plan = Plan::hidden(statistics, &oprf.public(), "5eed", 1.0, &TableRequirements::default())?;
    let table = Table::of_hidden(&plan, &rows, &oprf, &unobserved)?;
    let rng = &mut Secret(ChaCha20Rng::seed_from_u64(6));
    let key = SecretKey::generate(table.setting().context(), rng);
    public(&key);
    let client = Client::with_secret(table.schema().clone(), table.setting(), key)?;
    let files = TableContext::new(client.setting(), client.schema());
    let mut name = b"key 7".to_vec();
    mark(&mut name, MemState::Undefined);
    let sent = client.blind(&[&name])?;
    public(&sent);
    let sent = to_bytes(&files, &sent)?;
    public(&sent[..]);
    let asked: BlindRequest = from_bytes(&files, &sent)?;
    let reply: BlindReply = table.blind_evaluate(&oprf, &asked)?;
    let hidden = client.unblind(&reply, &[&name])?;
    let mut wanted = hidden.wanted();
    let Wanted::Keys(found) = &mut wanted else { unreachable!("keys are asked for") };
    mark(&mut found[0], MemState::Defined);
    assert_eq!(found[0], oprf.evaluate(b"key 7")?);
    Ok(())
}

/// A branch on a secret: what must be reported, or nothing would be.
fn leak() -> MainResult {
    let coin = Secret(ChaCha20Rng::seed_from_u64(4)).next_u64();
    if std::hint::black_box(coin) & 1 == 0 {
        println!("heads");
    }
    Ok(())
}

fn main() -> MainResult {
    assert_ne!(crabgrind::run_mode(), RunMode::Native, "this program says something under valgrind alone");
    if std::env::args().any(|argument| argument == "leak") {
        return leak();
    }
    for scheme in [Scheme::Bgv, Scheme::Bfv] {
        exact("insecure_toy_256", scheme)?; // a power of two, a uniform ternary secret
        exact("insecure_toy_105", scheme)?; // composite m
        exact("insecure_boot_256_p257", scheme)?; // a sparse secret
    }
    for encapsulation in [Encapsulation::SpecialPrimes, Encapsulation::Digits] {
        bootstrapping("insecure_boot_105", encapsulation)?;
        bootstrapping("insecure_boot_256_p257", encapsulation)?;
    }
    approximate()?;
    lookup()?;
    hidden_lookup()
}

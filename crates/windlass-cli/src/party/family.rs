//! What differs between integers and real numbers.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use windlass::circuits::{TraceChain, TracePlan, TraceSpec};
use windlass::needs::{KeyRequest, NeedsKeys as _, Products};
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{PublicKey, SecretKey};
use windlass::schemes::collective::Opened;
use windlass::schemes::pairs::RlweCiphertext;
use windlass::schemes::{Decryptor, Encryptor, ckks};
use windlass::wire::{CiphertextList, NumberKind, Stored};
use windlass::{Approximate, Context, Exact, Plaintext};
use windlass_parties::CollectiveFamily;

use super::args::AgreeArgs;
use crate::error::{CliError, Result};
use crate::refresh::Value;
use crate::report::{Report, rounded_down};
use crate::values::{read, write};

/// An encrypted vector: its ciphertexts, its length, and what its entries are.
pub struct Encrypted<C> {
    pub ciphertexts: Vec<C>,
    pub length: usize,
    pub numbers: NumberKind,
}

/// A family of schemes at the command line.
pub trait Side: CollectiveFamily<Ciphertext: RlweCiphertext> {
    /// Name of the parameters and bits of security.
    fn name_and_security(context: &Context<Self>) -> (String, f64);
    /// The keys that were asked for.
    fn requests(context: &Context<Self>, args: &AgreeArgs) -> Result<Vec<KeyRequest>>;
    /// Encrypts values, with zeros up to a length.
    fn encrypt(
        context: &Context<Self>,
        key: Arc<PublicKey>,
        values: &[Value],
        how: (usize, f64),
    ) -> Result<Encrypted<Self::Ciphertext>>;
    /// A key pair of someone outside.
    fn key_pair(context: &Context<Self>) -> Result<(Arc<SecretKey>, PublicKey)>;
    /// Decrypts with the key of someone outside.
    fn open_with(context: &Context<Self>, key: Arc<SecretKey>, ciphertext: &Self::Ciphertext) -> Result<Self::Opened>;
    /// a + b.
    fn add(context: &Context<Self>, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// The first entries of what was decrypted.
    fn describe(opened: &Self::Opened, what: (usize, NumberKind), modulus: u64, report: &mut Report) -> Result<()>;
    /// p^r, or 0.
    fn modulus(context: &Context<Self>) -> u64;
    /// What a decryption adds, in words.
    fn noise(decryption: &Self::Decryption) -> String;
    /// Bits of numbers that are right after a decryption; none for integers, which are exact.
    fn precision_bits(decryption: &Self::Decryption) -> Option<f64>;
}

/// Reads an encrypted vector.
pub fn load<F: Side>(context: &Context<F>, path: &Path) -> Result<Encrypted<F::Ciphertext>> {
    let (list, _): (CiphertextList<F::Ciphertext>, _) = read(path, F::files(context))?;
    let ([rows, columns], numbers) = (list.shape(), list.numbers());
    Ok(Encrypted { length: (rows * columns) as usize, numbers, ciphertexts: list.into_ciphertexts() })
}

/// Writes an encrypted vector to a new file, and gives its size.
pub fn store<F: Side>(context: &Context<F>, path: &Path, vector: Encrypted<F::Ciphertext>) -> Result<u64> {
    let ciphertexts = vector.ciphertexts.into_iter().map(Stored::new).collect();
    let list = CiphertextList::new([1, vector.length], vector.numbers, ciphertexts)?;
    write(path, F::files(context), &list)
}

/// Zeros after values, up to a length.
fn padded<T: Clone>(mut values: Vec<T>, length: usize, zero: T) -> Result<Vec<T>> {
    if length < values.len() {
        return Err(CliError::Usage(format!(
            "--length {length} is less than the number of values, {}; give a larger length",
            values.len()
        )));
    }
    values.resize(length, zero);
    Ok(values)
}

fn residues(values: &[Value], modulus: u64) -> Result<Vec<u64>> {
    let (modulus, half) = (i128::from(modulus), i128::from(modulus / 2));
    let one = |value: &Value| match value {
        Value::Integer(integer) if (-half..=half.max(modulus - half - 1)).contains(integer) => {
            Ok(integer.rem_euclid(modulus) as u64)
        }
        Value::Integer(integer) => Err(CliError::Usage(format!(
            "the value {integer} does not fit the plaintext modulus {modulus}: give integers from -{half} to {half}"
        ))),
        Value::Real(real) => Err(CliError::Usage(format!(
            "the value {real} is no integer; the parameters of the agreement are of integers"
        ))),
    };
    values.iter().map(one).collect()
}

impl Side for Exact {
    fn name_and_security(context: &Context) -> (String, f64) {
        let params = context.params();
        (params.name().to_owned(), rounded_down(params.rlwe().security().bits))
    }

    fn requests(context: &Context, args: &AgreeArgs) -> Result<Vec<KeyRequest>> {
        if !args.rotations.is_empty() {
            let said =
                "--rotations is for CKKS: for integers give --galois, or agree in Python on the circuits themselves";
            return Err(CliError::Usage(said.into()));
        }
        let mut all = common_requests(args);
        if args.sums {
            let plan = TracePlan::new(&TraceChain::total(context.slot_ring())?, &TraceSpec::default())?;
            all.push(plan.key_request());
        }
        Ok(all)
    }

    fn encrypt(
        context: &Context,
        key: Arc<PublicKey>,
        values: &[Value],
        (length, _): (usize, f64),
    ) -> Result<Encrypted<Self::Ciphertext>> {
        let ring = context.slot_ring();
        let each = if ring.has_slots() { ring.slots() } else { ring.n() };
        let all = padded(residues(values, context.modulus())?, length, 0)?;
        let encryptor = Encryptor::new(context.scheme(), key).at_level(context.params().top_level())?;
        let mut rng = os_rng().map_err(windlass::Error::from)?;
        let one = |part: &[u64]| {
            let mut part = part.to_vec();
            part.resize(each, 0);
            let plaintext = match ring.has_slots() {
                true => Plaintext::from_integers(ring, &part)?,
                false => Plaintext::from_slots(ring, &part)?,
            };
            Ok(encryptor.encrypt(&plaintext, &mut rng)?)
        };
        let ciphertexts = all.chunks(each).map(one).collect::<Result<_>>()?;
        Ok(Encrypted { ciphertexts, length, numbers: NumberKind::Signed })
    }

    fn key_pair(context: &Context) -> Result<(Arc<SecretKey>, PublicKey)> {
        let (client, _) = context.generate_keys([])?;
        Ok((Arc::clone(client.secret_key()), client.public_key()?))
    }

    fn open_with(context: &Context, key: Arc<SecretKey>, ciphertext: &Self::Ciphertext) -> Result<Plaintext> {
        Ok(Decryptor::new(context.scheme(), context.slot_ring(), key).decrypt(ciphertext)?)
    }

    fn add(context: &Context, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        Ok(context.server_without_keys()?.add(a, b)?)
    }

    fn describe(opened: &Plaintext, what: (usize, NumberKind), modulus: u64, report: &mut Report) -> Result<()> {
        let (length, numbers) = what;
        let all = if opened.slot_ring().has_slots() { opened.to_integers()? } else { opened.to_slots() };
        let signed = |x: &u64| if *x > modulus / 2 { *x as i64 - modulus as i64 } else { *x as i64 };
        let signed = |x: &u64| if numbers == NumberKind::Signed { signed(x) } else { *x as i64 };
        let values: Vec<i64> = all.iter().take(length).map(signed).collect();
        list(report, values.iter().map(i64::to_string));
        report.field("values", values);
        Ok(())
    }

    fn modulus(context: &Context) -> u64 {
        context.modulus()
    }

    fn noise(decryption: &Self::Decryption) -> String {
        let (bits, needed) = (decryption.flooding().bits, decryption.needed_bits());
        format!("{bits} bits of noise in each share, where {needed:.0} are needed")
    }

    fn precision_bits(_: &Self::Decryption) -> Option<f64> {
        None
    }
}

impl Side for Approximate {
    fn name_and_security(context: &Context<Self>) -> (String, f64) {
        let params = context.ckks().rlwe().params();
        (format!("CKKS, n = {}", params.n()), rounded_down(params.security().bits))
    }

    fn requests(context: &Context<Self>, args: &AgreeArgs) -> Result<Vec<KeyRequest>> {
        let mut all = common_requests(args);
        for &amount in &args.rotations {
            all.push(context.rotation(context.slots(), amount)?);
        }
        if args.sums {
            let slots = args.slots.next_power_of_two().min(context.slots());
            let chain = TraceChain::window(2 * context.ckks().spec().n as u64, 1, slots as u64)?;
            all.push(TracePlan::new(&chain, &TraceSpec::default())?.key_request());
        }
        Ok(all)
    }

    fn encrypt(
        context: &Context<Self>,
        key: Arc<PublicKey>,
        values: &[Value],
        (length, bound): (usize, f64),
    ) -> Result<Encrypted<Self::Ciphertext>> {
        let all = padded(values.iter().map(|value| value.real()).collect(), length, 0.0)?;
        let each = all.len().next_power_of_two().min(context.slots());
        let encryptor = ckks::Encryptor::new(context.ckks(), key)?;
        let mut rng = os_rng().map_err(windlass::Error::from)?;
        let one = |part: &[f64]| {
            let mut part = part.to_vec();
            part.resize(each, 0.0);
            let wide: Vec<ckks::WideComplex> = ckks::complex(&part).into_iter().map(Into::into).collect();
            Ok(encryptor.encrypt_wide(&wide, bound, &mut rng)?)
        };
        let ciphertexts = all.chunks(each).map(one).collect::<Result<_>>()?;
        Ok(Encrypted { ciphertexts, length, numbers: NumberKind::Real })
    }

    fn key_pair(context: &Context<Self>) -> Result<(Arc<SecretKey>, PublicKey)> {
        let (client, _) = context.generate_keys([])?;
        Ok((Arc::clone(client.secret_key()), client.public_key()?))
    }

    fn open_with(context: &Context<Self>, key: Arc<SecretKey>, ciphertext: &Self::Ciphertext) -> Result<Opened> {
        let values = ckks::Decryptor::new(context.ckks(), key)?.decrypt(ciphertext)?;
        Ok(Opened { values, precision_bits: ciphertext.precision_bits() })
    }

    fn add(context: &Context<Self>, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        Ok(context.server_without_keys()?.add(a, b)?)
    }

    fn describe(opened: &Self::Opened, what: (usize, NumberKind), _: u64, report: &mut Report) -> Result<()> {
        let values: Vec<f64> = opened.values.iter().take(what.0).map(|z| z.re).collect();
        list(report, values.iter().map(|value| format!("{value:.9}")));
        report.line(format!("to {:.1} bits, with the noise of the shares", opened.precision_bits));
        report.field("values", json!(values));
        report.field("precision_bits", opened.precision_bits);
        Ok(())
    }

    fn modulus(_: &Context<Self>) -> u64 {
        0
    }

    fn noise(decryption: &Self::Decryption) -> String {
        let (bits, right) = (decryption.flooding().bits, decryption.precision_bits());
        format!("{bits} bits of noise in each share; {right:.1} bits of values up to 1 in all slots are right")
    }

    fn precision_bits(decryption: &Self::Decryption) -> Option<f64> {
        Some(decryption.precision_bits())
    }
}

fn common_requests(args: &AgreeArgs) -> Vec<KeyRequest> {
    let mut all = Vec::new();
    if args.products {
        all.push(Products.key_request());
    }
    if !args.galois.is_empty() {
        let elements = args.galois.iter().map(|&element| element as u64);
        all.push(KeyRequest::none("automorphisms that were asked for").with_galois(elements));
    }
    all
}

/// A line with the first values.
fn list(report: &mut Report, values: impl ExactSizeIterator<Item = String>) {
    const MOST: usize = 32;
    let rest = values.len().saturating_sub(MOST);
    let shown = values.take(MOST).collect::<Vec<_>>().join(",");
    report.line(format!("values: {shown}{}", if rest > 0 { format!(" and {rest} more") } else { String::new() }));
}

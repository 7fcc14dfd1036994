//! A client: its secret key, encryption and decryption.

use std::sync::Arc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use windlass::schemes::{Ciphertext, Decryptor, ckks};
use windlass::wire::{
    ApproximateContext, CiphertextList, FileContext, NumberKind, Stored, Wire, WireContext, WireError, from_bytes,
    to_bytes,
};
use windlass::{Error, Params, Plaintext};

use super::context::{Context, Kind};
use crate::Result;
use crate::error::{raise, refuse};
use crate::secret::{self, SecretFile, Words};

/// The side that holds the secret key: it encrypts and decrypts.
#[wasm_bindgen]
pub struct Client {
    kind: Kind,
    secret: Arc<SecretKey>,
}

/// The bytes of a file, whichever scheme it is of.
macro_rules! write {
    ($kind:expr, $value:expr) => {
        match $kind {
            Kind::Exact(_, files) => to_bytes(files, $value),
            Kind::Approximate(files) => to_bytes(files, $value),
        }
        .map_err(|error| refuse(error.into()))
    };
}

fn of_other_scheme() -> JsValue {
    raise("DTypeError", "integers are for contexts of BGV and BFV, real numbers for those of CKKS")
}

impl Client {
    fn exact(&self) -> Result<(&Params, &WireContext)> {
        match &self.kind {
            Kind::Exact(params, files) => Ok((params, files)),
            Kind::Approximate(_) => Err(of_other_scheme()),
        }
    }

    fn approximate(&self) -> Result<&ApproximateContext> {
        match &self.kind {
            Kind::Exact(..) => Err(of_other_scheme()),
            Kind::Approximate(files) => Ok(files),
        }
    }

    /// The ciphertexts of integers, of which each fills the slots.
    fn encrypt_exact<T: windlass::Integer>(&self, values: &[T], numbers: NumberKind) -> Result<Vec<u8>> {
        let (params, files) = self.exact()?;
        let decryptor = Decryptor::new(params.scheme(), files.slot_ring(), Arc::clone(&self.secret));
        let top = self.kind.top_level();
        let one = |values: &[T]| {
            let plaintext = Plaintext::from_integers(files.slot_ring(), values)?;
            Ok(Stored::new(decryptor.encrypt(&plaintext, top, &mut os_rng()?)?.0))
        };
        listed(files, numbers, values.len(), values.chunks(self.kind.slots()).map(one))
    }

    /// The residues in a file, and what they stand for.
    fn decrypt_exact(&self, bytes: &[u8]) -> Result<Vec<u64>> {
        let (params, files) = self.exact()?;
        let decryptor = Decryptor::new(params.scheme(), files.slot_ring(), Arc::clone(&self.secret));
        read(files, bytes, |ct: &Ciphertext| decryptor.decrypt(ct)?.to_integers())
    }
}

/// The file of a list of one row.
fn listed<X: FileContext, C>(
    files: &X,
    numbers: NumberKind,
    count: usize,
    ciphertexts: impl Iterator<Item = windlass::Result<Stored<C>>>,
) -> Result<Vec<u8>>
where
    C: windlass::schemes::pairs::RlweCiphertext + Wire<X>,
{
    if count == 0 {
        return Err(raise("ShapeError", "encrypt: there are no numbers: give at least one"));
    }
    let written = || -> windlass::Result<_> {
        let list = CiphertextList::new([1, count], numbers, ciphertexts.collect::<windlass::Result<_>>()?)?;
        Ok(to_bytes(files, &list)?.to_vec())
    };
    written().map_err(refuse)
}

/// The numbers in the file of a list, row after row, or in that of one ciphertext.
fn read<X: FileContext, C, T>(
    files: &X,
    bytes: &[u8],
    decrypt: impl Fn(&C) -> windlass::Result<Vec<T>>,
) -> Result<Vec<T>>
where
    C: windlass::schemes::pairs::RlweCiphertext + Wire<X>,
{
    let numbers = || match from_bytes::<X, CiphertextList<C>>(files, bytes) {
        Ok(list) => {
            let slots = list.ciphertexts().map(&decrypt).collect::<windlass::Result<_>>()?;
            Ok(list.assemble(slots)?.into_iter().flatten().collect())
        }
        Err(Error::Wire(WireError::WrongKind { .. })) => decrypt(&from_bytes(files, bytes)?),
        Err(error) => Err(error),
    };
    numbers().map_err(refuse)
}

/// The place and the words of a number that the plaintext space does not hold.
fn outside(index: Option<usize>, value: impl Fn(usize) -> String, range: &str) -> Result<()> {
    index.map_or(Ok(()), |index| {
        let message = format!("encrypt: the value {} at index {index} is outside {range}", value(index));
        Err(raise("ValueRangeError", &message))
    })
}

#[wasm_bindgen]
impl Client {
    /// A client with a fresh secret key, or with the one in a file.
    #[wasm_bindgen(constructor)]
    pub fn new(context: &Context, secret: Option<Vec<u8>>, passphrase: Option<Vec<u8>>) -> Result<Self> {
        let (secret, kind) = (SecretFile::new(secret, passphrase), context.kind().clone());
        let secret = match (secret, &kind) {
            (None, _) => {
                let rng = os_rng().map_err(|error| refuse(error.into()));
                SecretKey::generate(kind.rlwe(), &mut rng?)
            }
            (Some(secret), Kind::Exact(_, files)) => secret.read(files)?,
            (Some(secret), Kind::Approximate(files)) => secret.read(files)?,
        };
        Ok(Self { kind, secret: Arc::new(secret) })
    }

    /// The file of the secret key, encrypted if there is a passphrase.
    pub fn secret(&self, passphrase: Option<Vec<u8>>) -> Result<Uint8Array> {
        let words = Words::new(passphrase);
        match &self.kind {
            Kind::Exact(_, files) => secret::write(files, &self.secret, &words),
            Kind::Approximate(files) => secret::write(files, &self.secret, &words),
        }
    }

    /// The file of a public key, with which others encrypt.
    #[wasm_bindgen(js_name = publicKey)]
    pub fn public_key(&self) -> Result<Vec<u8>> {
        let mut rng = os_rng().map_err(|error| refuse(error.into()))?;
        Ok(write!(&self.kind, &PublicKey::generate(&self.secret, &mut rng))?.to_vec())
    }

    /// The file of evaluation keys: those of some automorphisms X ↦ X^t, and that of products.
    #[wasm_bindgen(js_name = evaluationKeys)]
    pub fn evaluation_keys(&self, elements: &[u32], products: bool) -> Result<Vec<u8>> {
        let made = || -> windlass::Result<EvaluationKeys> {
            let (mut keys, top, mut rng) = (EvaluationKeys::of(&self.secret), self.kind.top_level(), os_rng()?);
            for &element in elements {
                keys.add_galois(&self.secret, element.into(), top, &mut rng)?;
            }
            if products {
                keys.add_relinearisation(&self.secret, top, &mut rng)?;
            }
            Ok(keys)
        };
        Ok(write!(&self.kind, &made().map_err(refuse)?)?.to_vec())
    }

    /// Encrypts signed integers.
    #[wasm_bindgen(js_name = encryptSigned)]
    pub fn encrypt_signed(&self, values: &[i64]) -> Result<Vec<u8>> {
        let q = self.exact()?.0.plaintext_modulus();
        let (low, high) = (-(((q - 1) / 2) as i64), (q / 2) as i64);
        let at = values.iter().position(|&x| x < low || x > high);
        let range = || {
            format!(
                "[{low}, {high}], the signed integers modulo {q}: reduce it, choose a larger modulus, or give a BigUint64Array, whose numbers lie in [0, {}]",
                q - 1
            )
        };
        outside(at, |index| values[index].to_string(), &range())?;
        self.encrypt_exact(values, NumberKind::Signed)
    }

    /// Encrypts integers from 0.
    #[wasm_bindgen(js_name = encryptUnsigned)]
    pub fn encrypt_unsigned(&self, values: &[u64]) -> Result<Vec<u8>> {
        let q = self.exact()?.0.plaintext_modulus();
        let range = format!("[0, {}], the unsigned integers modulo {q}: reduce it, or choose a larger modulus", q - 1);
        outside(values.iter().position(|&x| x >= q), |index| values[index].to_string(), &range)?;
        self.encrypt_exact(values, NumberKind::Unsigned)
    }

    /// Encrypts real numbers of absolute value at most `bound`, which is public.
    #[wasm_bindgen(js_name = encryptReal)]
    pub fn encrypt_real(&self, values: &[f64], bound: f64) -> Result<Vec<u8>> {
        let files = self.approximate()?;
        let decryptor = ckks::Decryptor::new(files.context(), Arc::clone(&self.secret)).map_err(refuse)?;
        let (top, slots) = (self.kind.top_level(), self.kind.slots());
        let one = |values: &[f64]| {
            let mut list = ckks::complex(values);
            list.resize(slots, ckks::Complex64::ZERO);
            Ok(Stored::new(decryptor.encrypt(&list, bound, top, &mut os_rng()?)?.0))
        };
        listed(files, NumberKind::Real, values.len(), values.chunks(slots).map(one))
    }

    /// Decrypts to signed integers.
    #[wasm_bindgen(js_name = decryptSigned)]
    pub fn decrypt_signed(&self, bytes: &[u8]) -> Result<Vec<i64>> {
        let q = self.exact()?.0.plaintext_modulus();
        let centred = |x: u64| if x > q / 2 { x.wrapping_sub(q) as i64 } else { x as i64 };
        Ok(self.decrypt_exact(bytes)?.into_iter().map(centred).collect())
    }

    /// Decrypts to integers from 0.
    #[wasm_bindgen(js_name = decryptUnsigned)]
    pub fn decrypt_unsigned(&self, bytes: &[u8]) -> Result<Vec<u64>> {
        self.decrypt_exact(bytes)
    }

    /// Decrypts to real numbers.
    #[wasm_bindgen(js_name = decryptReal)]
    pub fn decrypt_real(&self, bytes: &[u8]) -> Result<Vec<f64>> {
        let files = self.approximate()?;
        let decryptor = ckks::Decryptor::new(files.context(), Arc::clone(&self.secret)).map_err(refuse)?;
        read(files, bytes, |ct: &ckks::Ciphertext| decryptor.decrypt_real(ct))
    }
}

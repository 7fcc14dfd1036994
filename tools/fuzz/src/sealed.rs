//! Secret keys under a passphrase: mutants are sealed with the passphrase that is tried.
//!
//! What seals them here is written by the format alone ([`windlass::wire::seal_secret`] takes whole
//! files of secret keys only), so that anything can lie under a tag that is right.

use std::ops::Range;
use std::sync::Arc;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
use windlass::Error;
use windlass::wire::{
    FileContext, KeyId, Kind, Label, Passphrase, PassphraseCost, WireError, check_sealed, from_sealed_bytes,
    open_secret, seal, seal_secret, to_bytes,
};

use crate::containers::{CONTEXT, HEADER, KEY, Readable, Reader, TRAILER, mend, refused};
use crate::exact::{self, Sides, golden};
use crate::random::Random;
use crate::target::Target;

/// The passphrase of the golden file, and of everything here.
const PASSPHRASE: &str = "correct horse battery staple";

/// Where the fields of a sealed file stand.
const COST: Range<usize> = HEADER + 2..HEADER + 14;
const SALT: Range<usize> = HEADER + 14..HEADER + 30;
const NONCE: Range<usize> = HEADER + 30..HEADER + 42;
const FIELDS: usize = NONCE.end;
const TAG: usize = 16;

/// Parameters and key pair of a header.
const OWNER: Range<usize> = CONTEXT.start..KEY.end;

/// Most work that an input may ask for, in KiB over all passes: less than a millisecond.
const MOST_WORK_KIB: u64 = 512;

/// Changes sealed keys from outside and from inside.
pub struct Sealed {
    outer: Vec<Reader>,
    inner: Vec<Reader>,
    /// A file of a secret key for each reader, for mutants that do not open.
    files: Vec<Vec<u8>>,
}

/// Memory in KiB, passes over it, and lanes.
type Cost = [u32; 3];

pub fn secret_keys() -> Target {
    let sides = exact::all();
    let outer = sides.iter().map(reader).collect();
    let files: Vec<Vec<u8>> =
        sides.iter().map(|sides| sides.client.secret_to_bytes().expect("a key").to_vec()).collect();
    let cost = PassphraseCost::new(64, 1, 1).expect("a small cost");
    let seed = |file: &Vec<u8>| seal_secret(file, &passphrase(), cost).expect("a secret key");
    let seeds = files.iter().map(seed).chain([golden!("sealed-secret-key")]).collect();
    Target::sealed(Sealed { outer, inner: exact::secret_key_readers(&sides), files }, seeds)
}

/// A secret key under another passphrase, of little cost.
pub fn under_words(words: &[u8]) -> Vec<u8> {
    let file = exact::all()[0].client.secret_to_bytes().expect("a key");
    let cost = PassphraseCost::new(64, 1, 1).expect("a small cost");
    seal_secret(&file, &Passphrase::new(words).expect("a passphrase"), cost).expect("a secret key")
}

fn passphrase() -> Passphrase {
    Passphrase::new(PASSPHRASE).expect("a passphrase")
}

fn reader(sides: &Arc<Sides>) -> Reader {
    let label = Label { kind: Kind::SealedSecretKey, context: *sides.files().hash(), key: sides.key() };
    let (held, right) = (Arc::clone(sides), passphrase());
    let wrong = Passphrase::new("another one").expect("a passphrase");
    Reader::own(label, move |bytes| read(&held, bytes, &right, &wrong))
}

/// What shows without the passphrase is refused for any passphrase, and a key that opens is the one
/// of its bytes, sealed again under another salt as well.
fn read(sides: &Sides, bytes: &[u8], right: &Passphrase, wrong: &Passphrase) -> bool {
    let files = sides.files();
    let guessed = wire_error(from_sealed_bytes(&files, bytes, wrong).err());
    if let Err(error) = check_sealed(bytes, Some(files.hash())) {
        refused(&error);
        assert!(error != WireError::WrongPassphrase, "a passphrase was tried");
        assert_eq!(guessed, Some(error), "a file that is refused without its passphrase");
        return false;
    }
    assert_eq!(guessed, Some(WireError::WrongPassphrase), "a wrong passphrase");
    let key = match from_sealed_bytes(&files, bytes, right) {
        Ok(key) => key,
        Err(error) => {
            refused(&error);
            return false;
        }
    };
    let file = open_secret(bytes, right).expect("it was opened before");
    assert!(*to_bytes(&files, &key).expect("a key pair") == *file, "two encodings of one value");
    assert_eq!(bytes[OWNER], file[OWNER], "headers of two keys");
    exact::use_secret_key(sides, key);
    let cost = PassphraseCost::new(8, 1, 1).expect("the smallest cost");
    let again = seal_secret(&file, right, cost).expect("a secret key");
    assert!(again != bytes && open_secret(&again, right).expect("sealed just now") == file);
    true
}

fn wire_error(error: Option<Error>) -> Option<WireError> {
    match error {
        Some(Error::Wire(error)) => Some(error),
        Some(other) => panic!("{other}"),
        None => None,
    }
}

impl Sealed {
    /// Reads an input in the context that it names; whether it opened.
    pub fn read(&self, bytes: &[u8]) -> bool {
        Reader::of(&self.outer, bytes).read(bytes)
    }

    /// Half of the mutants differ inside and are sealed again; of the others the ciphertext and the
    /// fields before it change.
    pub fn mutate(&self, data: &mut [u8], size: usize, most: usize, random: &mut Random) -> usize {
        let size = match random.below(2) {
            0 => self.mutate_inside(&data[..size], most, random).map(|sealed| {
                data[..sealed.len()].copy_from_slice(&sealed);
                sealed.len()
            }),
            _ => None,
        }
        .unwrap_or_else(|| Reader::chosen(&self.outer, &data[..size], random).mutate(data, size, most, random));
        make_cheap(&mut data[..size]);
        size
    }

    fn mutate_inside(&self, sealed: &[u8], most: usize, random: &mut Random) -> Option<Vec<u8>> {
        let room = most.checked_sub(FIELDS + TAG + TRAILER)?;
        let opened = open(sealed).unwrap_or_else(|| self.files[random.below(self.files.len() as u64) as usize].clone());
        let (mut file, size) = (opened.clone(), opened.len());
        if size > room {
            return None;
        }
        file.resize(room, 0);
        let size = Reader::chosen(&self.inner, &opened, random).mutate(&mut file, size, room, random);
        file.truncate(size);
        // Mostly the header that belongs to what is inside.
        let like = if random.below(16) == 0 { &opened } else { &file };
        let label = Label {
            kind: Kind::SealedSecretKey,
            context: like.get(CONTEXT)?.try_into().ok()?,
            key: KeyId(like.get(KEY)?.try_into().ok()?),
        };
        let lanes = 1 + random.below(2) as u32;
        seal_any(&file, &label, [8 * lanes + random.below(8) as u32, 1 + random.below(2) as u32, lanes], random)
    }
}

/// A file under the passphrase, of any kind.
fn seal_any(file: &[u8], label: &Label, cost: Cost, random: &mut Random) -> Option<Vec<u8>> {
    let mut payload = 1u16.to_le_bytes().to_vec();
    payload.extend(cost.iter().flat_map(|field| field.to_le_bytes()));
    payload.extend((0..(SALT.len() + NONCE.len()).div_ceil(8)).flat_map(|_| random.next().to_le_bytes()));
    payload.truncate(FIELDS - HEADER);
    payload.extend_from_slice(file);
    payload.extend_from_slice(&[0; TAG]);

    let mut sealed = seal(label, &payload);
    let end = sealed.len() - TRAILER;
    let (before, encrypted) = sealed[..end].split_at_mut(FIELDS);
    let (cipher, nonce) = cipher(before)?;
    let (encrypted, tag) = encrypted.split_last_chunk_mut::<TAG>()?;
    *tag = cipher.encrypt_inout_detached(&nonce, before, encrypted.into()).ok()?.into();
    Some(seal(label, &sealed[HEADER..end]))
}

/// What is inside, if the passphrase opens it and its cost is small.
fn open(sealed: &[u8]) -> Option<Vec<u8>> {
    let body = sealed.get(..sealed.len().checked_sub(TRAILER)?)?;
    let (before, encrypted) = body.split_at_checked(FIELDS)?;
    let (encrypted, tag) = encrypted.split_last_chunk::<TAG>()?;
    let (cipher, nonce) = cipher(before)?;
    let mut file = encrypted.to_vec();
    cipher.decrypt_inout_detached(&nonce, before, (&mut file[..]).into(), &Tag::from(*tag)).ok()?;
    Some(file)
}

/// The cipher and the nonce that the fields of a file say, unless they ask for much.
fn cipher(before: &[u8]) -> Option<(ChaCha20Poly1305, Nonce)> {
    let [memory, passes, lanes] = cost(before)?;
    if u64::from(memory) * u64::from(passes) > MOST_WORK_KIB {
        return None;
    }
    let params = Params::new(memory, passes, lanes, Some(32)).ok()?;
    let mut key = [0; 32];
    let mut blocks = vec![Block::default(); params.block_count()];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon2.hash_password_into_with_memory(PASSPHRASE.as_bytes(), before.get(SALT)?, &mut key, &mut blocks).ok()?;
    Some((ChaCha20Poly1305::new((&key).into()), Nonce::try_from(before.get(NONCE)?).ok()?))
}

fn cost(bytes: &[u8]) -> Option<Cost> {
    let mut fields = bytes.get(COST)?.chunks_exact(4).map(|field| u32::from_le_bytes(field.try_into().expect("four")));
    Some([fields.next()?, fields.next()?, fields.next()?])
}

/// A cost that readers would pay becomes one of a millisecond; one that they refuse stays.
fn make_cheap(bytes: &mut [u8]) {
    let Some([memory, passes, lanes]) = cost(bytes) else { return };
    let work = u64::from(memory) * u64::from(passes);
    if work <= MOST_WORK_KIB || PassphraseCost::new(memory, passes, lanes).is_err() {
        return;
    }
    // At least 8 KiB a lane, of which there are 16 at most: 128 KiB.
    let cheap = [8 * lanes + memory % 8, 1 + passes % 2, lanes];
    bytes[COST].iter_mut().zip(cheap.iter().flat_map(|field| field.to_le_bytes())).for_each(|(to, from)| *to = from);
    mend(bytes);
}

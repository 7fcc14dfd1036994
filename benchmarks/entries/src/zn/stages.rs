//! What the harness calls, in the directory of the harness.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use windlass::rlwe::SecretRng;
use windlass::rlwe::context::os_rng;
use windlass::wire::Access;

use super::multiplier::Multiplier;
use super::numbers::{Crt, Lines, print};
use super::parameters::{PLAINTEXT_PRIMES, parameters};
use crate::degree_two::format::{self, HEADER, Header, Kind, Layout, Source, Target, chunks};
use crate::degree_two::{Division, Parameters, SLOTS, SecretKey};
use crate::error::{EntryError, Result};
use crate::files;
use crate::stage::{Call, Log};

/// The stages, by the names that the harness calls them.
pub const STAGES: [&str; 6] = [
    "client_preprocess_input",
    "client_key_generation",
    "client_encode_encrypt_input",
    "server_encrypted_compute",
    "client_decrypt_decode",
    "client_postprocess",
];

/// Chunks that are read, worked on and written together where order matters: 1 MiB of integers.
const GROUP: usize = 32;

/// Runs one stage.
///
/// # Errors
/// [`EntryError`].
pub fn run(call: &Call) -> Result<()> {
    match call.stage.as_str() {
        "client_preprocess_input" => call.take(["data size"]).map(|_| ()),
        "client_key_generation" => generate_key(&Places::new(call.take(["size"])?[0])),
        "client_encode_encrypt_input" => encrypt(&Places::new(call.take(["size"])?[0])),
        "server_encrypted_compute" => {
            let [size, count] = call.take(["size", "data size"])?;
            compute(&Places::new(size), number(count)?)
        }
        "client_decrypt_decode" => {
            let [size, count] = call.take(["size", "data size"])?;
            decrypt(&Places::new(size), number(count)?)
        }
        "client_postprocess" => call.take(["size", "data size"]).map(|_| ()),
        other => Err(EntryError::Usage(format!("{other}: not a stage"))),
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|_| EntryError::Usage(format!("{text}: not a number of integers")))
}

/// Where the harness puts and looks for things.
struct Places {
    data: PathBuf,
    io: PathBuf,
}

impl Places {
    fn new(size: &str) -> Self {
        Self { data: Path::new("datasets").join(size), io: Path::new("io").join(size) }
    }

    fn secret_key(&self) -> PathBuf {
        self.io.join("private_keys/secret.key")
    }

    fn public(&self) -> PathBuf {
        self.io.join("public_keys/context.bin")
    }

    fn upload(&self, kind: Kind) -> PathBuf {
        self.io.join(if kind == Kind::Upload { "ciphertexts_upload/lhs.bin" } else { "ciphertexts_upload/rhs.bin" })
    }

    fn download(&self) -> PathBuf {
        self.io.join("ciphertexts_download/products.bin")
    }
}

/// The entry in headers.
const ENTRY: [u8; 4] = *b"WLZN";

/// Files of ciphertexts.
fn layout(parameters: &Parameters, kind: Kind) -> Layout {
    let bytes = if kind == Kind::Download { parameters.answer_bytes() } else { parameters.fresh_bytes() };
    Layout { entry: ENTRY, kind, chunk: PLAINTEXT_PRIMES * bytes }
}

fn generate_key(places: &Places) -> Result<()> {
    let parameters = parameters()?;
    println!("         [client] n = {SLOTS}, {}", parameters.security());
    format::generate_key(&parameters, ENTRY, &places.secret_key(), &places.public())
}

fn read_key(places: &Places) -> Result<SecretKey> {
    format::read_key(&parameters()?, ENTRY, &places.secret_key())
}

fn encrypt(places: &Places) -> Result<()> {
    let mut log = Log::start("client");
    let key = read_key(places)?;
    let file = |kind, name| encrypt_file(&key, &places.data.join(name), kind, &places.upload(kind));
    let (left, right) = (file(Kind::Upload, "lhs.txt")?, file(Kind::SecondUpload, "rhs.txt")?);
    if left != right {
        let what = format!("{right} integers, where lhs.txt has {left}");
        return Err(EntryError::malformed(&places.data.join("rhs.txt"), what));
    }
    log.line(&format!("encryption of {left} pairs"));
    Ok(())
}

/// Encrypts one file of integers and says how many there were.
fn encrypt_file(key: &SecretKey, from: &Path, kind: Kind, to: &Path) -> Result<u64> {
    let mut rng = os_rng()?;
    let mut seed = [0; 32];
    rand_core::RngCore::fill_bytes(&mut rng, &mut seed);
    files::write_with(to, Access::Public, |opened, _| {
        let (failed, mut out) = (EntryError::at(to), BufWriter::new(opened));
        // Its place; the number of integers is known at the end.
        out.write_all(&[0; HEADER]).map_err(&failed)?;
        let (mut lines, mut count) = (Lines::open(from)?, 0u64);
        loop {
            let integers = lines.take(GROUP * SLOTS)?;
            let encrypted = encrypt_group(key, &seed, chunks(count), &integers, &mut rng);
            encrypted.iter().try_for_each(|chunk| out.write_all(chunk)).map_err(&failed)?;
            count += integers.len() as u64;
            if integers.len() < GROUP * SLOTS {
                break;
            }
        }
        let header = Header { key: key.id(), count, seed };
        let opened = out.into_inner().map_err(|error| failed(error.into_error()))?;
        header.write_over(&layout(key.parameters(), kind), opened, to)?;
        Ok(count)
    })
}

/// Encrypts chunks, the first of which is number `first`: each chunk with all plaintext primes.
fn encrypt_group(
    key: &SecretKey,
    seed: &[u8; 32],
    first: usize,
    integers: &[u64],
    rng: &mut SecretRng,
) -> Vec<Vec<u8>> {
    let tasks: Vec<(usize, &[u64], SecretRng)> = integers
        .chunks(SLOTS)
        .enumerate()
        .map(|(chunk, integers)| (first + chunk, integers, SecretRng::fork(rng)))
        .collect();
    let encrypt = |(chunk, integers, mut rng): (usize, &[u64], SecretRng)| {
        let bytes = key.parameters().fresh_bytes();
        let signed: Vec<i64> = integers.iter().map(|&x| x as i64).collect();
        let mut out = vec![0; PLAINTEXT_PRIMES * bytes];
        for (index, out) in out.chunks_exact_mut(bytes).enumerate() {
            key.encrypt(index, &signed, (seed, stream(chunk, index)), &mut rng, out);
        }
        out
    };
    tasks.into_par_iter().map(encrypt).collect()
}

/// The number of a ciphertext among those that share a seed.
fn stream(chunk: usize, index: usize) -> u64 {
    (chunk * PLAINTEXT_PRIMES + index) as u64
}

fn compute(places: &Places, count: u64) -> Result<()> {
    let mut log = Log::start("server");
    let parameters = parameters()?;
    let key = format::read_key_name(ENTRY, &places.public())?;
    let source = |kind| -> Result<Source> {
        let source = Source::open(&places.upload(kind), &layout(&parameters, kind), Some(key))?;
        source.check_count(count)?;
        Ok(source)
    };
    let sources = [source(Kind::Upload)?, source(Kind::SecondUpload)?];
    let header = Header { key, count, seed: [0; 32] };
    let layout = layout(&parameters, Kind::Download);
    Target::create(&places.download(), &layout, &header, |target| {
        let division = Arc::new(Division::new(&parameters));
        let shared = Shared { parameters, division, sources, target };
        (0..chunks(count)).into_par_iter().try_for_each_init(
            || Worker::new(&shared),
            |worker, chunk| match worker {
                Ok(worker) => worker.multiply(chunk),
                Err(_) => Worker::new(&shared)?.multiply(chunk),
            },
        )
    })?;
    log.line(&format!("{count} products"));
    Ok(())
}

/// What all threads of the server use.
struct Shared<'a> {
    parameters: Arc<Parameters>,
    division: Arc<Division>,
    sources: [Source; 2],
    target: &'a Target,
}

/// What one thread of the server has of its own.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    readers: [File; 2],
    writer: File,
    multiplier: Multiplier,
    uploads: [Vec<u8>; 2],
    out: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>) -> Result<Self> {
        let [left, right] = &shared.sources;
        Ok(Self {
            shared,
            readers: [left.reader()?, right.reader()?],
            writer: shared.target.writer()?,
            multiplier: Multiplier::new(&shared.parameters, &shared.division),
            uploads: Default::default(),
            out: vec![0; PLAINTEXT_PRIMES * shared.parameters.answer_bytes()],
        })
    }

    fn multiply(&mut self, chunk: usize) -> Result<()> {
        let Shared { parameters, sources, target, .. } = self.shared;
        for ((source, reader), upload) in sources.iter().zip(&mut self.readers).zip(&mut self.uploads) {
            source.read(reader, chunk, upload)?;
        }
        let (fresh, seeds) = (parameters.fresh_bytes(), [&sources[0].header().seed, &sources[1].header().seed]);
        for (index, out) in self.out.chunks_exact_mut(parameters.answer_bytes()).enumerate() {
            let packed = [0, 1].map(|side| &self.uploads[side][index * fresh..][..fresh]);
            if !self.multiplier.multiply(index, packed, seeds, stream(chunk, index), out) {
                let what = format!("chunk {chunk}: a residue is out of range here or in the other factor");
                return Err(EntryError::malformed(sources[0].file(), what));
            }
        }
        target.write(&mut self.writer, chunk, &self.out)
    }
}

fn decrypt(places: &Places, count: u64) -> Result<()> {
    let mut log = Log::start("client");
    let key = read_key(places)?;
    let parameters = key.parameters();
    let source = Source::open(&places.download(), &layout(parameters, Kind::Download), Some(key.id()))?;
    source.check_count(count)?;
    let crt = Crt::new(parameters);
    let results = places.io.join("cleartext_output/out.txt");
    files::write_with(&results, Access::Public, |opened, _| {
        let (total, mut out) = (chunks(count), BufWriter::new(opened));
        for first in (0..total).step_by(GROUP) {
            let group: Vec<Vec<u8>> = (first..total.min(first + GROUP))
                .into_par_iter()
                .map(|chunk| {
                    let used = SLOTS.min((count - (chunk * SLOTS) as u64) as usize);
                    decrypt_chunk(&key, &source, &crt, chunk, used)
                })
                .collect::<Result<_>>()?;
            group.iter().try_for_each(|text| out.write_all(text)).map_err(EntryError::at(&results))?;
        }
        out.flush().map_err(EntryError::at(&results))
    })?;
    log.line(&format!("decryption of {count} products"));
    Ok(())
}

/// The first `used` products of a chunk as text.
fn decrypt_chunk(key: &SecretKey, source: &Source, crt: &Crt, chunk: usize, used: usize) -> Result<Vec<u8>> {
    let mut packed = Vec::new();
    source.read(&mut source.reader()?, chunk, &mut packed)?;
    let slots: Vec<Vec<u64>> = packed
        .chunks_exact(key.parameters().answer_bytes())
        .enumerate()
        .map(|(index, packed)| key.decrypt(index, packed))
        .collect::<Option<_>>()
        .ok_or_else(|| EntryError::NotDecryptable { file: source.file().to_owned(), chunk })?;
    let mut text = Vec::with_capacity(21 * used);
    for slot in 0..used {
        print(crt.join(std::array::from_fn(|index| slots[index][slot])), &mut text);
    }
    Ok(text)
}

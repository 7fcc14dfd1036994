//! What the harness calls, in the directory of the harness.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use windlass::rlwe::SecretRng;
use windlass::rlwe::context::os_rng;
use zeroize::Zeroizing;

use super::format::{HEADER, Header, Kind, Source, Target, chunks};
use super::numbers::{Crt, Lines, print};
use super::parameters::{PLAINTEXT_PRIMES, Parameters, SLOTS};
use super::scheme::{Multiplier, SecretKey, fresh_bytes, product_bytes};
use crate::error::{EntryError, Result};
use crate::files::{self, Access, Unfinished};
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
        self.io.join(if kind == Kind::Left { "ciphertexts_upload/lhs.bin" } else { "ciphertexts_upload/rhs.bin" })
    }

    fn download(&self) -> PathBuf {
        self.io.join("ciphertexts_download/products.bin")
    }
}

fn generate_key(places: &Places) -> Result<()> {
    let parameters = Arc::new(Parameters::new()?);
    let key = SecretKey::generate(&parameters, &mut os_rng()?);
    println!("         [client] n = {SLOTS}, {}", parameters.security());
    let header = |kind| Header { kind, key: key.id(), count: 0, seed: [0; 32] };
    let target = Target::create(&places.secret_key(), &parameters, &header(Kind::SecretKey))?;
    let bytes = Zeroizing::new(key.expose_coefficients().iter().map(|x| (x + 1) as u8).collect::<Vec<u8>>());
    target.write(&mut target.writer()?, 0, &bytes)?;
    target.keep()?;
    Target::create(&places.public(), &parameters, &header(Kind::Public))?.keep()
}

fn read_key(places: &Places) -> Result<SecretKey> {
    let parameters = Arc::new(Parameters::new()?);
    let file = places.secret_key();
    let source = Source::open(&file, &parameters, Kind::SecretKey, None)?;
    let bytes = Zeroizing::new(files::read(&file, (HEADER + SLOTS) as u64)?);
    let coefficients = Zeroizing::new(bytes[HEADER..].iter().map(|&x| i64::from(x) - 1).collect::<Vec<i64>>());
    let key = SecretKey::from_coefficients(&parameters, source.header().key, coefficients);
    key.ok_or_else(|| EntryError::malformed(&file, "no secret key of this entry"))
}

fn encrypt(places: &Places) -> Result<()> {
    let mut log = Log::start("client");
    let key = read_key(places)?;
    let file = |kind, name| encrypt_file(&key, &places.data.join(name), kind, &places.upload(kind));
    let (left, right) = (file(Kind::Left, "lhs.txt")?, file(Kind::Right, "rhs.txt")?);
    if left != right {
        let what = format!("{right} integers, where lhs.txt has {left}");
        return Err(EntryError::malformed(&places.data.join("rhs.txt"), what));
    }
    log.line(&format!("encryption of {left} pairs"));
    Ok(())
}

/// Encrypts one file of integers and says how many there were.
fn encrypt_file(key: &SecretKey, from: &Path, kind: Kind, to: &Path) -> Result<u64> {
    let parameters = key.parameters();
    let mut rng = os_rng()?;
    let mut seed = [0; 32];
    rand_core::RngCore::fill_bytes(&mut rng, &mut seed);
    let header = |count| Header { kind, key: key.id(), count, seed };
    let (unfinished, opened) = Unfinished::create(to, Access::Public)?;
    let mut out = BufWriter::new(opened);
    let failed = EntryError::at(to);
    // Its place; the number of integers is known at the end.
    out.write_all(&[0; HEADER]).map_err(&failed)?;
    let (mut lines, mut count) = (Lines::open(from)?, 0u64);
    loop {
        let integers = lines.take(GROUP * SLOTS)?;
        let first = chunks(count);
        let tasks: Vec<(usize, &[u64], SecretRng)> = integers
            .chunks(SLOTS)
            .enumerate()
            .map(|(chunk, integers)| (first + chunk, integers, SecretRng::fork(&mut rng)))
            .collect();
        let encrypted: Vec<Vec<u8>> = tasks
            .into_par_iter()
            .map(|(chunk, integers, mut rng)| {
                let bytes = fresh_bytes(parameters);
                let mut out = vec![0; PLAINTEXT_PRIMES * bytes];
                for (index, out) in out.chunks_exact_mut(bytes).enumerate() {
                    key.encrypt(index, integers, (&seed, stream(chunk, index)), &mut rng, out);
                }
                out
            })
            .collect();
        encrypted.iter().try_for_each(|chunk| out.write_all(chunk)).map_err(&failed)?;
        count += integers.len() as u64;
        if integers.len() < GROUP * SLOTS {
            break;
        }
    }
    header(count).write_over(out.into_inner().map_err(|error| failed(error.into_error()))?, to)?;
    unfinished.keep()?;
    Ok(count)
}

/// The number of a ciphertext among those that share a seed.
fn stream(chunk: usize, index: usize) -> u64 {
    (chunk * PLAINTEXT_PRIMES + index) as u64
}

fn compute(places: &Places, count: u64) -> Result<()> {
    let mut log = Log::start("server");
    let parameters = Arc::new(Parameters::new()?);
    let key = Source::open(&places.public(), &parameters, Kind::Public, None)?.header().key;
    let source = |kind| -> Result<Source> {
        let source = Source::open(&places.upload(kind), &parameters, kind, Some(key))?;
        check_count(&source, count)?;
        Ok(source)
    };
    let sources = [source(Kind::Left)?, source(Kind::Right)?];
    let header = Header { kind: Kind::Products, key, count, seed: [0; 32] };
    let target = Target::create(&places.download(), &parameters, &header)?;
    let work = || Worker::new(&parameters, &sources, &target);
    (0..chunks(count)).into_par_iter().try_for_each_init(work, |worker, chunk| match worker {
        Ok(worker) => worker.multiply(chunk),
        Err(_) => Worker::new(&parameters, &sources, &target)?.multiply(chunk),
    })?;
    target.keep()?;
    log.line(&format!("{count} products"));
    Ok(())
}

fn check_count(source: &Source, count: u64) -> Result<()> {
    let found = source.header().count;
    let what = || format!("{found} integers, where {count} were asked for");
    if found == count { Ok(()) } else { Err(EntryError::malformed(source.file(), what())) }
}

/// What one thread of the server has of its own.
struct Worker<'a> {
    parameters: &'a Arc<Parameters>,
    sources: &'a [Source; 2],
    target: &'a Target,
    readers: [File; 2],
    writer: File,
    multiplier: Multiplier,
    uploads: [Vec<u8>; 2],
    out: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn new(parameters: &'a Arc<Parameters>, sources: &'a [Source; 2], target: &'a Target) -> Result<Self> {
        let [left, right] = sources;
        Ok(Self {
            parameters,
            sources,
            target,
            readers: [left.reader()?, right.reader()?],
            writer: target.writer()?,
            multiplier: Multiplier::new(parameters),
            uploads: Default::default(),
            out: vec![0; Kind::Products.chunk(parameters)],
        })
    }

    fn multiply(&mut self, chunk: usize) -> Result<()> {
        for ((source, reader), upload) in self.sources.iter().zip(&mut self.readers).zip(&mut self.uploads) {
            source.read(reader, chunk, upload)?;
        }
        let (fresh, product) = (fresh_bytes(self.parameters), product_bytes(self.parameters));
        let seeds = [&self.sources[0].header().seed, &self.sources[1].header().seed];
        for (index, out) in self.out.chunks_exact_mut(product).enumerate() {
            let packed = [0, 1].map(|side| &self.uploads[side][index * fresh..][..fresh]);
            if !self.multiplier.multiply(index, packed, seeds, stream(chunk, index), out) {
                let what = format!("chunk {chunk}: a residue is out of range here or in the other factor");
                return Err(EntryError::malformed(self.sources[0].file(), what));
            }
        }
        self.target.write(&mut self.writer, chunk, &self.out)
    }
}

fn decrypt(places: &Places, count: u64) -> Result<()> {
    let mut log = Log::start("client");
    let key = read_key(places)?;
    let parameters = key.parameters();
    let source = Source::open(&places.download(), parameters, Kind::Products, Some(key.id()))?;
    check_count(&source, count)?;
    let crt = Crt::new(parameters);
    let results = places.io.join("cleartext_output/out.txt");
    let (unfinished, opened) = Unfinished::create(&results, Access::Public)?;
    let mut out = BufWriter::new(opened);
    let total = chunks(count);
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
    out.flush().map_err(EntryError::at(&results))?;
    drop(out);
    unfinished.keep()?;
    log.line(&format!("decryption of {count} products"));
    Ok(())
}

/// The first `used` products of a chunk as text.
fn decrypt_chunk(key: &SecretKey, source: &Source, crt: &Crt, chunk: usize, used: usize) -> Result<Vec<u8>> {
    let mut packed = Vec::new();
    source.read(&mut source.reader()?, chunk, &mut packed)?;
    let slots: Vec<Vec<u64>> = packed
        .chunks_exact(product_bytes(key.parameters()))
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

//! What the harness calls, in the directory of the harness.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use windlass::rlwe::SecretRng;
use windlass::rlwe::context::os_rng;
use windlass::schemes::Ciphertext;
use windlass::wire::{Access, CiphertextV1};

use super::batch::{self, Scorer, chunk_bytes};
use super::model::{CLASSES, INPUTS, Model, centred};
use super::pictures;
use super::single::Setting;
use crate::degree_two::format::{self, Header, Kind, Layout, Source, Target, chunks};
use crate::degree_two::{Parameters, SLOTS};
use crate::error::{EntryError, Result};
use crate::files;
use crate::stage::{Call, Log};

/// The stages, by the names that the harness calls them.
pub const STAGES: [&str; 7] = [
    "client_key_generation",
    "server_preprocess_model",
    "client_preprocess_input",
    "client_encode_encrypt_input",
    "server_encrypted_compute",
    "client_decrypt_decode",
    "client_postprocess",
];

/// The sizes of the harness: name, pictures, and whether each travels alone.
const SIZES: [(&str, usize, bool); 4] =
    [("single", 1, true), ("small", 15, true), ("medium", 1000, false), ("large", 10_000, false)];

/// Runs one stage.
///
/// # Errors
/// [`EntryError`].
pub fn run(call: &Call) -> Result<()> {
    if call.stage == "server_preprocess_model" {
        return call.take([]).map(|_: [&str; 0]| ());
    }
    let places = Places::new(call.take(["size"])?[0])?;
    match (call.stage.as_str(), places.alone) {
        ("client_key_generation", true) => generate_keys_alone(&places),
        ("client_key_generation", false) => generate_key(&places),
        ("client_encode_encrypt_input", true) => encrypt_alone(&places),
        ("client_encode_encrypt_input", false) => encrypt(&places),
        ("server_encrypted_compute", true) => compute_alone(&places),
        ("server_encrypted_compute", false) => compute(&places),
        ("client_decrypt_decode", true) => decrypt_alone(&places),
        ("client_decrypt_decode", false) => decrypt(&places),
        ("client_preprocess_input" | "client_postprocess", _) => Ok(()),
        (other, _) => Err(EntryError::Usage(format!("{other}: not a stage"))),
    }
}

/// Where the harness puts and looks for things.
struct Places {
    data: PathBuf,
    io: PathBuf,
    pictures: usize,
    alone: bool,
}

impl Places {
    fn new(size: &str) -> Result<Self> {
        let wrong = || EntryError::Usage(format!("{size}: the size is a number from 0 to {}", SIZES.len() - 1));
        let number: usize = size.parse().map_err(|_| wrong())?;
        let &(name, pictures, alone) = SIZES.get(number).ok_or_else(wrong)?;
        Ok(Self { data: Path::new("datasets").join(name), io: Path::new("io").join(name), pictures, alone })
    }

    fn pictures(&self) -> Result<Vec<Vec<u8>>> {
        let file = self.data.join("intermediate/test_pixels.txt");
        let pictures = pictures::read(&file)?;
        if pictures.len() != self.pictures {
            let what = format!("{} pictures, where this size has {}", pictures.len(), self.pictures);
            return Err(EntryError::malformed(&file, what));
        }
        Ok(pictures)
    }

    fn secret_key(&self) -> PathBuf {
        self.io.join("secret_key/secret.key")
    }

    fn public(&self, name: &str) -> PathBuf {
        self.io.join("public_keys").join(name)
    }

    fn upload(&self, name: &str) -> PathBuf {
        self.io.join("ciphertexts_upload").join(name)
    }

    fn download(&self, name: &str) -> PathBuf {
        self.io.join("ciphertexts_download").join(name)
    }

    /// One digit a line.
    fn write_digits(&self, digits: &[usize]) -> Result<()> {
        let text: String = digits.iter().map(|digit| format!("{digit}\n")).collect();
        files::write(&self.io.join("encrypted_model_predictions.txt"), text.as_bytes(), Access::Public)
    }
}

/// More bytes than any file of the entry has.
const MOST: u64 = 1 << 30;

/// The name of the file of one picture.
fn numbered(name: &str, picture: usize) -> String {
    format!("{name}_{picture}.bin")
}

fn generate_keys_alone(places: &Places) -> Result<()> {
    let setting = Setting::new(Model::bundled()?)?;
    println!(
        "         [client] n = {}, {}",
        setting.context().params().rlwe().n(),
        setting.context().params().rlwe().security()
    );
    let (client, server) = setting.generate_keys()?;
    files::write(&places.secret_key(), &client.secret_to_bytes()?, Access::Owner)?;
    let (keys, _) = server.to_bytes()?;
    files::write(&places.public("evaluation.keys"), &keys, Access::Public)
}

fn encrypt_alone(places: &Places) -> Result<()> {
    let mut log = Log::start("client");
    let setting = Setting::new(Model::bundled()?)?;
    let client = setting.context().client_from_bytes(&files::read(&places.secret_key(), MOST)?)?;
    let (context, ring) = (setting.context(), setting.context().slot_ring());
    let (decryptor, level) = (client.decryptor(), context.params().rlwe().top_level());
    let mut rng = os_rng()?;
    for (number, picture) in places.pictures()?.iter().enumerate() {
        let slots = setting.layout(&setting.model().inputs(picture));
        let plaintext = windlass::Plaintext::from_integers(ring, &slots)?;
        let (ciphertext, seed) = decryptor.encrypt(&plaintext, level, &mut rng)?;
        let bytes = context.to_bytes(&CiphertextV1::seeded(ciphertext, seed)?)?;
        files::write(&places.upload(&numbered("picture", number)), &bytes, Access::Public)?;
    }
    log.line(&format!("encryption of {} pictures", places.pictures));
    Ok(())
}

fn compute_alone(places: &Places) -> Result<()> {
    let mut log = Log::start("server");
    let setting = Setting::new(Model::bundled()?)?;
    let context = setting.context();
    let server = context.server_from_bytes(&files::read(&places.public("evaluation.keys"), MOST)?, &[])?;
    log.line("plans and keys");
    for number in 0..places.pictures {
        let bytes = files::read(&places.upload(&numbered("picture", number)), MOST)?;
        let picture: CiphertextV1 = context.from_bytes(&bytes)?;
        let scores = setting.compute(&server, picture.ciphertext())?;
        let bytes = context.to_bytes(&CiphertextV1::new(scores))?;
        files::write(&places.download(&numbered("scores", number)), &bytes, Access::Public)?;
    }
    log.line(&format!("{} pictures", places.pictures));
    Ok(())
}

fn decrypt_alone(places: &Places) -> Result<()> {
    let mut log = Log::start("client");
    let setting = Setting::new(Model::bundled()?)?;
    let client = setting.context().client_from_bytes(&files::read(&places.secret_key(), MOST)?)?;
    let digit = |number: usize| -> Result<usize> {
        let bytes = files::read(&places.download(&numbered("scores", number)), MOST)?;
        let scores: Ciphertext = setting.context().from_bytes::<CiphertextV1>(&bytes)?.into_ciphertext();
        Ok(Model::digit(&setting.scores(&client.decrypt(&scores)?)))
    };
    places.write_digits(&(0..places.pictures).map(digit).collect::<Result<Vec<usize>>>()?)?;
    log.line(&format!("decryption of {} pictures", places.pictures));
    Ok(())
}

/// The entry in headers.
const ENTRY: [u8; 4] = *b"WLMN";

fn layout(parameters: &Parameters, kind: Kind) -> Layout {
    let [up, down] = chunk_bytes(parameters);
    Layout { entry: ENTRY, kind, chunk: if kind == Kind::Upload { up } else { down } }
}

fn generate_key(places: &Places) -> Result<()> {
    let parameters = batch::parameters(&Model::bundled()?)?;
    println!("         [client] n = {SLOTS}, {}", parameters.security());
    format::generate_key(&parameters, ENTRY, &places.secret_key(), &places.public("context.bin"))
}

fn encrypt(places: &Places) -> Result<()> {
    let mut log = Log::start("client");
    let model = Model::bundled()?;
    let parameters = batch::parameters(&model)?;
    let key = format::read_key(&parameters, ENTRY, &places.secret_key())?;
    let inputs: Vec<Vec<i64>> = places.pictures()?.iter().map(|picture| model.inputs(picture)).collect();
    let mut rng = os_rng()?;
    let mut seed = [0; 32];
    rand_core::RngCore::fill_bytes(&mut rng, &mut seed);
    let file = places.upload("pictures.bin");
    let header = Header { key: key.id(), count: inputs.len() as u64, seed };
    let layout = layout(&parameters, Kind::Upload);
    Target::create(&file, &layout, &header, |target| {
        let mut writer = target.writer()?;
        for (chunk, pictures) in inputs.chunks(SLOTS).enumerate() {
            let mut packed = vec![0; layout.chunk];
            let tasks: Vec<(usize, &mut [u8], SecretRng)> = packed
                .chunks_exact_mut(parameters.fresh_bytes())
                .enumerate()
                .map(|(input, out)| (input, out, SecretRng::fork(&mut rng)))
                .collect();
            tasks.into_par_iter().for_each(|(input, out, mut rng)| {
                let slots: Vec<i64> = pictures.iter().map(|picture| picture[input]).collect();
                key.encrypt(0, &slots, (&seed, batch::stream(chunk, input)), &mut rng, out);
            });
            target.write(&mut writer, chunk, &packed)?;
        }
        Ok(())
    })?;
    log.line(&format!("encryption of {} pictures, {INPUTS} ciphertexts for {SLOTS}", inputs.len()));
    Ok(())
}

fn compute(places: &Places) -> Result<()> {
    let mut log = Log::start("server");
    let model = Model::bundled()?;
    let parameters = batch::parameters(&model)?;
    let key = format::read_key_name(ENTRY, &places.public("context.bin"))?;
    let source = Source::open(&places.upload("pictures.bin"), &layout(&parameters, Kind::Upload), Some(key))?;
    let count = places.pictures as u64;
    source.check_count(count)?;
    let header = Header { key, count, seed: [0; 32] };
    let layout = layout(&parameters, Kind::Download);
    Target::create(&places.download("scores.bin"), &layout, &header, |target| {
        let (mut reader, mut writer) = (source.reader()?, target.writer()?);
        let (scorer, mut packed) = (Scorer::new(&parameters, &model), Vec::new());
        for chunk in 0..chunks(count) {
            source.read(&mut reader, chunk, &mut packed)?;
            let scores = scorer.compute(&packed, &source.header().seed, chunk).ok_or_else(|| {
                EntryError::malformed(source.file(), format!("chunk {chunk}: a residue is out of range"))
            })?;
            target.write(&mut writer, chunk, &scores)?;
        }
        Ok(())
    })?;
    log.line(&format!("{count} pictures"));
    Ok(())
}

fn decrypt(places: &Places) -> Result<()> {
    let mut log = Log::start("client");
    let parameters = batch::parameters(&Model::bundled()?)?;
    let key = format::read_key(&parameters, ENTRY, &places.secret_key())?;
    let file = places.download("scores.bin");
    let source = Source::open(&file, &layout(&parameters, Kind::Download), Some(key.id()))?;
    source.check_count(places.pictures as u64)?;
    let (mut reader, mut packed, mut digits) = (source.reader()?, Vec::new(), Vec::new());
    let t = parameters.plaintext_prime(0).value();
    for chunk in 0..chunks(places.pictures as u64) {
        source.read(&mut reader, chunk, &mut packed)?;
        let scores: Option<Vec<Vec<u64>>> =
            packed.par_chunks_exact(parameters.answer_bytes()).map(|packed| key.decrypt(0, packed)).collect();
        let scores = scores.ok_or_else(|| EntryError::NotDecryptable { file: file.clone(), chunk })?;
        for slot in 0..SLOTS.min(places.pictures - chunk * SLOTS) {
            let scores: [i64; CLASSES] = std::array::from_fn(|class| centred(scores[class][slot], t));
            digits.push(Model::digit(&scores));
        }
    }
    places.write_digits(&digits)?;
    log.line(&format!("decryption of {} pictures", digits.len()));
    Ok(())
}

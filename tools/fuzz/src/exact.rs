//! Keys, ciphertexts and messages of BGV and BFV.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Arithmetic;
use windlass::needs::{KeyRequest, Products};
use windlass::rlwe::{Assurance, EvaluationKeys, PublicKey, RlweSpec, SecretDistribution, SecretKey};
use windlass::schemes::{Ciphertext, Decryptor, Encryptor};
use windlass::wire::{
    AnswerV1, CiphertextList, CiphertextV1, KeyId, NumberKind, QueryV1, ReadyKeys, Stored, WireContext,
};
use windlass::{Client, Context, Evaluator, Params, Plaintext, Scheme, Server, Switching};

use crate::containers::{Readable, Reader, readers, refused};
use crate::sound;
use crate::target::Target;

/// A file of the tests.
macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../../crates/windlass/tests/golden/", $name, "-v2.bin")).to_vec()
    };
}
pub(crate) use golden;

/// Both sides of a context.
pub struct Sides {
    pub context: Context,
    pub client: Client,
    pub server: Server,
    pub message: Plaintext,
}

/// The contexts of the golden files (a power of two with d = 1, and m = 21 with d = 6), and two
/// with p^r, r > 1. They are as small as rings get.
pub fn all() -> Vec<Arc<Sides>> {
    let own = |m, p, r, scheme| Arc::new(Sides::new(m, p, r, scheme, None));
    vec![
        golden_sides(),
        Arc::new(Sides::new(21, 2, 1, Scheme::Bfv, Some(golden!("degree-6-secret-key")))),
        own(64, 3, 2, Scheme::Bfv),
        own(45, 2, 3, Scheme::Bgv),
    ]
}

/// The context of most golden files.
pub fn golden_sides() -> Arc<Sides> {
    Arc::new(Sides::new(32, 97, 1, Scheme::Bgv, Some(golden!("secret-key"))))
}

impl Sides {
    fn new(m: u64, p: u64, r: u32, scheme: Scheme, secret: Option<Vec<u8>>) -> Self {
        let spec = RlweSpec {
            m,
            q_prime_bits: vec![40, 33],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![45],
            digits: 2,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_fuzz".into() },
        };
        let params = Params::new("insecure_fuzz", scheme, (p, r), None, spec).expect("parameters");
        let context = Context::from_params(params).expect("a context");
        let conjugation = KeyRequest::none("fuzzing").with_galois([m - 1]).up_to(1);
        let (client, server) = match secret {
            Some(bytes) => {
                let client = context.client_from_bytes(&bytes).expect("a golden file");
                let server = client.generate_server([&Products, &conjugation]).expect("keys");
                (client, server)
            }
            None => context.generate_keys_from_seed([&Products, &conjugation], 5).expect("keys"),
        };
        let coefficients = (0..context.n() as u64).map(|i| (3 * i + 1) % context.modulus()).collect();
        let message = Plaintext::new(&context, coefficients).expect("a message");
        Self { context, client, server, message }
    }

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::from_seed([5; 32])
    }

    /// A fresh encryption at a level, with its seed.
    pub fn seeded(&self, level: usize) -> CiphertextV1 {
        let (ct, seed) = self.client.decryptor().encrypt(&self.message, level, &mut Self::rng()).expect("encrypts");
        CiphertextV1::seeded(ct, seed).expect("its own seed")
    }

    fn full(&self) -> Ciphertext {
        self.client.encryptor().expect("an encryptor").encrypt(&self.message, &mut Self::rng()).expect("encrypts")
    }

    fn bytes<T: windlass::wire::Wire>(&self, value: &T) -> Vec<u8> {
        self.context.to_bytes(value).expect("values can be written")
    }

    /// For any statement of a ciphertext, it is decrypted and computed with, or refused. What
    /// decrypts, decrypts to twice that after an addition to itself.
    pub fn try_out(&self, ct: &Ciphertext) {
        sound::ciphertext(ct, self.context.slot_ring().modulus().exponent());
        let plain = self.decrypt(ct);
        let engine = self.server.engine();
        let sum = engine.add(ct, ct).inspect_err(|error| refused(error)).ok();
        if let (Some(plain), Some(sum)) = (&plain, &sum)
            && let Some(found) = self.decrypt(sum)
        {
            assert_eq!(found, plain.add(plain).expect("one ring"), "x + x");
        }
        let others = [
            engine.square(ct),
            engine.switch_modulus(ct, 1),
            engine.automorphism(ct, self.context.m() - 1),
            engine.negate(ct),
            engine.divide_by_p(ct),
        ];
        for other in others {
            match other {
                Ok(other) => drop(self.decrypt(&other)),
                Err(error) => refused(&error),
            }
        }
    }

    fn decrypt(&self, ct: &Ciphertext) -> Option<Plaintext> {
        assert!(ct.log2_noise() < 1e6, "noise of {} bits", ct.log2_noise());
        let plain = self.client.decrypt_plaintext(ct).inspect_err(|error| refused(error)).ok()?;
        let modulus = ct.prime().pow(ct.exponent());
        assert!(plain.coefficients().iter().all(|&x| x < modulus), "a coefficient that is not reduced");
        // Slots that are said to hold integers may hold others.
        plain.to_integers().inspect_err(|error| refused(error)).ok();
        Some(plain)
    }
}

/// One reader for each context.
impl Readable for Sides {
    type Files = WireContext;

    fn files(&self) -> WireContext {
        self.context.files().clone()
    }

    fn key(&self) -> KeyId {
        self.client.secret_key().key_id()
    }
}

/// Every secret key that is read decrypts what it encrypted.
pub fn secret_keys() -> Target {
    let sides = all();
    let seeds = sides.iter().map(|sides| sides.client.secret_to_bytes().expect("bytes").to_vec()).collect();
    Target::containers(secret_key_readers(&sides), seeds)
}

pub fn secret_key_readers(sides: &[Arc<Sides>]) -> Vec<Reader> {
    readers(sides, use_secret_key)
}

pub fn use_secret_key(sides: &Sides, key: SecretKey) {
    sound::secret_key(&key);
    let own = Decryptor::new(sides.context.scheme(), sides.context.slot_ring(), Arc::new(key));
    let (ct, _) = own.encrypt(&sides.message, 1, &mut Sides::rng()).expect("a fresh encryption");
    assert_eq!(own.decrypt(&ct).expect("its own ciphertext"), sides.message);
}

pub fn public_keys() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, key: PublicKey| {
        sound::public_key(&key);
        let encryptor = Encryptor::new(sides.context.scheme(), Arc::new(key));
        let ct = encryptor.encrypt(&sides.message, &mut Sides::rng()).expect("a fresh encryption");
        sides.decrypt(&ct);
    });
    let seeds = sides.iter().map(|sides| sides.bytes(&sides.client.public_key().expect("a key"))).collect();
    Target::containers(readers, seeds)
}

fn use_keys(sides: &Sides, keys: Arc<EvaluationKeys>) {
    sound::evaluation_keys(&keys);
    match sides.context.server_from_keys(keys, Vec::new()) {
        Ok(server) => {
            let ct = sides.seeded(1).into_ciphertext();
            for made in [server.engine().square(&ct), server.engine().automorphism(&ct, sides.context.m() - 1)] {
                match made {
                    Ok(made) => drop(sides.decrypt(&made)),
                    Err(error) => refused(&error),
                }
            }
        }
        Err(error) => refused(&error),
    }
}

pub fn evaluation_keys() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, keys: EvaluationKeys| use_keys(sides, Arc::new(keys)));
    let seeds = sides.iter().map(|sides| sides.bytes(&**sides.server.engine().keys()));
    Target::containers(readers, seeds.chain([golden!("evaluation-keys")]).collect())
}

/// Keys as they lie in memory are read from bytes, and mapped where they lie in a file.
pub fn ready_keys() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, ready: ReadyKeys| {
        use_keys(sides, Arc::clone(&ready.0));
        let files = sides.context.files();
        let (place, bytes) = (crate::command::place("ready.keys"), ready.to_bytes(files).expect("a key pair"));
        std::fs::write(&place, &bytes).expect("a file is written");
        let mapped = ReadyKeys::open(&place, files).expect("the same bytes in a file");
        assert!(mapped.to_bytes(files).expect("a key pair") == bytes, "mapped otherwise than read");
    });
    let seeds = sides.iter().map(|sides| sides.server.ready_keys_to_bytes().expect("keys"));
    Target::containers(readers, seeds.chain([golden!("ready-keys")]).collect())
}

pub fn ciphertexts() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, stored: CiphertextV1| sides.try_out(stored.ciphertext()));
    let own = |sides: &Arc<Sides>| {
        let full = sides.full();
        let low = sides.server.engine().switch_modulus(&full, 1).expect("a lower level");
        [sides.bytes(&sides.seeded(2)), sides.bytes(&Stored::new(full)), sides.bytes(&Stored::new(low))]
    };
    let golden = [
        golden!("ciphertext"),
        golden!("ciphertext-seeded"),
        golden!("ciphertext-integers"),
        golden!("ciphertext-untold"),
    ];
    Target::containers(readers, sides.iter().flat_map(own).chain(golden).collect())
}

pub fn lists() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, list: CiphertextList<Ciphertext>| {
        let [rows, columns] = list.shape();
        assert!(rows > 0 && columns > 0 && list.len() > 0, "an empty list");
        assert_eq!(list.for_each_row() as u64 * rows, list.len() as u64);
        list.ciphertexts().for_each(|ct| sound::ciphertext(ct, sides.context.slot_ring().modulus().exponent()));
        let slots: Option<Vec<Vec<u64>>> = list.ciphertexts().map(|ct| Some(sides.decrypt(ct)?.to_slots())).collect();
        match slots.map(|slots| list.assemble(slots)) {
            Some(Ok(array)) => {
                assert!(array.len() as u64 == rows && array.iter().all(|row| row.len() as u64 == columns))
            }
            Some(Err(error)) => refused(&error),
            None => {}
        }
    });
    let own = |sides: &Arc<Sides>| {
        let parts = vec![sides.seeded(1), Stored::new(sides.full())];
        sides.bytes(&CiphertextList::new([2, 2], NumberKind::Unsigned, parts).expect("two rows"))
    };
    Target::containers(readers, sides.iter().map(own).chain([golden!("ciphertext-list")]).collect())
}

pub fn queries() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, query: QueryV1| sides.try_out(query.ciphertext.ciphertext()));
    let own = |sides: &Arc<Sides>| sides.bytes(&QueryV1 { schema: [7; 32], ciphertext: sides.seeded(2) });
    Target::containers(readers, sides.iter().map(own).chain([golden!("query")]).collect())
}

pub fn answers() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, answer: AnswerV1| sides.try_out(answer.ciphertext.ciphertext()));
    let own = |sides: &Arc<Sides>| sides.bytes(&AnswerV1 { schema: [9; 32], ciphertext: Stored::new(sides.full()) });
    Target::containers(readers, sides.iter().map(own).chain([golden!("answer")]).collect())
}

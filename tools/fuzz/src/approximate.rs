//! Ciphertexts of CKKS, and the keys that they use.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::needs::Products;
use windlass::rlwe::{Assurance, EvaluationKeys, SecretDistribution, SecretKey};
use windlass::schemes::ckks::{Ciphertext, CkksSpec, Complex64, Publication};
use windlass::wire::{
    ApproximateCiphertextV1, ApproximateContext, CiphertextList, EncryptedRowsV1, EncryptedScoresV1, KeyId, NumberKind,
    Stored, Wire,
};
use windlass::{Approximate, Client, Context, Server};

use crate::containers::{Readable, readers, refused};
use crate::exact::golden;
use crate::sound;
use crate::target::Target;

/// Both sides of a context.
pub struct Sides {
    pub context: Context<Approximate>,
    pub client: Client<Approximate>,
    pub server: Server<Approximate>,
}

/// The context of the golden files, and one with two base primes and a sparse secret.
fn all() -> Vec<Arc<Sides>> {
    let golden = spec(16, 40, 1);
    let secret = SecretDistribution::Sparse { weight: 12 };
    let other = CkksSpec { secret, base_prime_bits: vec![50, 50], ..spec(32, 45, 2) };
    vec![Sides::new(&golden, Some(golden!("ckks-secret-key"))), Sides::new(&other, None)]
}

/// n, the bits of the scale, and how many rescalings there is room for.
pub fn spec(n: usize, scale_bits: u32, depth: usize) -> CkksSpec {
    CkksSpec {
        n,
        scale_bits,
        depth,
        base_prime_bits: vec![50],
        special_prime_bits: vec![50; depth],
        digits: (depth + 2).div_ceil(2),
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Insecure { name: "insecure_fuzz".into() },
        refresh_levels: Vec::new(),
    }
}

impl Sides {
    fn new(spec: &CkksSpec, secret: Option<Vec<u8>>) -> Arc<Self> {
        let context = Context::approximate(spec).expect("a context");
        let needs = (Products, context.conjugation());
        let (client, server) = match secret {
            Some(bytes) => {
                let client = context.client_from_bytes(&bytes).expect("a golden file");
                let server = client.generate_server([&needs.0, &needs.1]).expect("keys");
                (client, server)
            }
            None => context.generate_keys_from_seed([&needs.0, &needs.1], 5).expect("keys"),
        };
        Arc::new(Self { context, client, server })
    }

    fn seeded(&self) -> ApproximateCiphertextV1 {
        let (mut rng, top) = (ChaCha20Rng::from_seed([5; 32]), self.context.ckks().top_level());
        let values: Vec<Complex64> = (0..4).map(|i| Complex64::new(0.5 - 0.25 * f64::from(i), 0.125)).collect();
        let (ct, seed) =
            self.client.decryptor().expect("a decryptor").encrypt(&values, 1.0, top, &mut rng).expect("encrypts");
        Stored::seeded(ct, seed).expect("its own seed")
    }

    fn full(&self) -> Ciphertext {
        self.client.encrypt(&[0.5, -0.25]).expect("encrypts")
    }

    fn bytes<T: Wire<ApproximateContext>>(&self, value: &T) -> Vec<u8> {
        self.context.to_bytes(value).expect("values can be written")
    }

    /// For any statement of a ciphertext, it is decrypted, published and computed with, or refused.
    fn try_out(&self, ct: &Ciphertext) {
        sound::approximate(ct);
        self.decrypt(ct);
        let publication = Publication { security_bits: 2, decryptions: 1 };
        self.client.decrypt_public(ct, publication).inspect_err(|error| refused(error)).ok();
        let engine = self.server.engine();
        let base = self.context.ckks().base_level();
        let others = [
            engine.add(ct, ct),
            engine.square(ct),
            engine.rescale(ct),
            engine.lower(ct, base),
            engine.conjugate(ct),
            engine.multiply_integer(ct, -3),
        ];
        for other in others {
            match other {
                Ok(other) => self.decrypt(&other),
                Err(error) => refused(&error),
            }
        }
    }

    /// Each of the ciphertexts, and the array.
    fn try_out_list(&self, list: &CiphertextList<Ciphertext>) {
        list.ciphertexts().for_each(sound::approximate);
        let slots = list.ciphertexts().map(|ct| self.client.decrypt_complex(ct)).collect::<Result<_, _>>();
        match slots.and_then(|slots| list.assemble(slots)) {
            Ok(array) => assert!(array.iter().all(|row| row.len() as u64 == list.shape()[1])),
            Err(error) => refused(&error),
        }
    }

    fn decrypt(&self, ct: &Ciphertext) {
        match self.client.decrypt_complex(ct) {
            Ok(values) => {
                let bounds = [ct.magnitude(), ct.rest_magnitude()];
                let [entry, rest] = bounds.map(|bound| (bound + ct.error_bound()) * (1.0 + 1e-9));
                let (entries, beside) = values.split_at(ct.entries());
                assert!(entries.iter().all(|z| z.norm() <= entry), "an entry above the stated bound {entry:e}");
                assert!(beside.iter().all(|z| z.norm() <= rest), "a slot beside them above the stated bound {rest:e}");
            }
            Err(error) => refused(&error),
        }
    }
}

impl Readable for Sides {
    type Files = ApproximateContext;

    fn files(&self) -> ApproximateContext {
        self.context.files().clone()
    }

    fn key(&self) -> KeyId {
        self.client.secret_key().key_id()
    }
}

pub fn ciphertexts() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, ct: ApproximateCiphertextV1| sides.try_out(ct.ciphertext()));
    let own = |sides: &Arc<Sides>| {
        let full = sides.full();
        let product = sides.server.multiply(&full, &full).expect("a product");
        let rescaled = sides.server.engine().rescale(&product).expect("a rescaling");
        let three = sides.client.encrypt(&[0.5, -0.25, 1.0]).expect("encrypts");
        let beside = sides.server.add_real(&three, 2.0).expect("a sum");
        assert!((beside.entries(), beside.slots(), beside.rest_magnitude()) == (3, 4, 2.0));
        let all = [full, product, rescaled, three, beside].map(Stored::new);
        [sides.seeded()].into_iter().chain(all).map(|ct| sides.bytes(&ct)).collect::<Vec<_>>()
    };
    let golden = [
        golden!("ckks-ciphertext"),
        golden!("ckks-ciphertext-seeded"),
        golden!("ckks-ciphertext-own"),
        golden!("ckks-ciphertext-entries"),
        golden!("ckks-ciphertext-beside"),
        golden!("ckks-product"),
    ];
    Target::containers(readers, sides.iter().flat_map(own).chain(golden).collect())
}

/// A list of two ciphertexts.
fn own_list(sides: &Sides) -> CiphertextList<Ciphertext> {
    let parts = vec![sides.seeded(), Stored::new(sides.full())];
    CiphertextList::new([1, 6], NumberKind::Complex, parts).expect("one row")
}

pub fn lists() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, list| sides.try_out_list(&list));
    let own = |sides: &Arc<Sides>| sides.bytes(&own_list(sides));
    Target::containers(readers, sides.iter().map(own).chain([golden!("ckks-ciphertext-list")]).collect())
}

pub fn encrypted_rows() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, rows: EncryptedRowsV1| sides.try_out_list(&rows.list));
    let own = |sides: &Arc<Sides>| sides.bytes(&EncryptedRowsV1 { schema: [7; 32], list: own_list(sides) });
    Target::containers(readers, sides.iter().map(own).chain([golden!("ckks-encrypted-rows")]).collect())
}

pub fn encrypted_scores() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, scores: EncryptedScoresV1| sides.try_out_list(&scores.list));
    let own = |sides: &Arc<Sides>| sides.bytes(&EncryptedScoresV1 { schema: [9; 32], list: own_list(sides) });
    Target::containers(readers, sides.iter().map(own).chain([golden!("ckks-encrypted-scores")]).collect())
}

/// Keys of a sparse secret, too: exact schemes have none here.
pub fn secret_keys() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, key: SecretKey| {
        sound::secret_key(&key);
        let own = sides.context.client_from_key(Arc::new(key)).expect("a key of the context");
        let ct = own.encrypt(&[0.5]).expect("encrypts");
        let found = own.decrypt(&ct).expect("its own ciphertext")[0];
        assert!((found - 0.5).abs() <= ct.error_bound(), "{found} in place of 0.5");
    });
    let seeds = sides.iter().map(|sides| sides.client.secret_to_bytes().expect("bytes").to_vec()).collect();
    Target::containers(readers, seeds)
}

pub fn evaluation_keys() -> Target {
    let sides = all();
    let readers = readers(&sides, |sides, keys: EvaluationKeys| {
        sound::evaluation_keys(&keys);
        let used = sides.context.server_from_keys(Arc::new(keys), Vec::new()).and_then(|server| {
            let ct = sides.full();
            sides.decrypt(&server.engine().square(&ct)?);
            sides.decrypt(&server.conjugate(&ct)?);
            Ok(())
        });
        used.inspect_err(|error| refused(error)).ok();
    });
    let seeds = sides.iter().map(|sides| sides.bytes(&**sides.server.engine().keys())).collect();
    Target::containers(readers, seeds)
}

//! Keys, plaintexts and operations of one parameter set, verified and then timed.

use std::cell::RefCell;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::Arithmetic;
use windlass::needs::KeyRequest;
use windlass::rlwe::switching::{Digits, SwitchingKey, mod_down};
use windlass::schemes::{Ciphertext, Decryptor, Encryptor, Engine};
use windlass::{Context, Evaluator, Params, Plaintext, Server, Switching};
use windlass_kernels::Isa;
use windlass_ring::slots::SlotRing;

use super::report::Facts;
use crate::machine;
use crate::threads::measured;
use crate::timing::{Sample, Subject, repeated, subject};

/// Rotations of one hoisted ciphertext.
pub const ROTATIONS: usize = 8;

/// A server, and what its client encrypts and decrypts with.
pub struct Instance {
    server: Server,
    pub decryptor: Decryptor,
    encryptor: Encryptor,
    rotations: Vec<u64>,
    rng: RefCell<ChaCha20Rng>,
    name: String,
    isa: Isa,
}

/// Two messages with their encryptions.
struct Inputs {
    x: Plaintext,
    y: Plaintext,
    a: Ciphertext,
    b: Ciphertext,
}

impl Instance {
    /// A relinearisation key, and keys for the first [`ROTATIONS`] rotations along the first
    /// dimension.
    pub fn new(name: &str, params: Params, isa: Isa) -> Self {
        let context = Context::with_isa(params, isa).expect("transforms");
        let rotations: Vec<u64> = (1..=ROTATIONS as i64).map(|i| context.hypercube().generator_power(0, i)).collect();
        let keys = KeyRequest::none("the operations").with_relinearisation().with_galois(rotations.iter().copied());
        let (client, server) = context.generate_keys_from_seed([&keys], 5).expect("units");
        let (encryptor, decryptor) = (client.encryptor().expect("entropy"), client.decryptor());
        let rng = RefCell::new(ChaCha20Rng::from_seed([5; 32]));
        Self { server, decryptor, encryptor, rotations, rng, name: name.into(), isa }
    }

    pub fn engine(&self) -> &Engine {
        self.server.engine()
    }

    fn slot_ring(&self) -> &Arc<SlotRing> {
        self.server.context().slot_ring()
    }

    fn context(&self) -> &windlass::rlwe::Context {
        self.engine().context()
    }

    /// A pseudorandom message with full slots.
    pub fn message(&self, seed: u64) -> Plaintext {
        let count = (self.slot_ring().slots() * self.slot_ring().degree()) as u64;
        let values: Vec<u64> = (0..count).map(|j| (j * j + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).collect();
        Plaintext::from_slots(self.slot_ring(), &values).expect("one value for each slot")
    }

    pub fn encrypt(&self, message: &Plaintext) -> Ciphertext {
        self.encryptor.encrypt(message, &mut *self.rng.borrow_mut()).expect("encrypts")
    }

    fn decrypt(&self, ct: &Ciphertext) -> Plaintext {
        self.decryptor.decrypt(ct).expect("within capacity")
    }

    pub fn facts(&self) -> Facts {
        let params = self.context().params();
        Facts {
            log2_q: params.log2_q(params.top_level()),
            log2_p: params.log2_p(),
            digits: self.context().gadget().groups().len(),
            security_bits: (params.security().bits * 10.0).floor() / 10.0,
            peak_mebibytes: machine::peak_mebibytes(),
        }
    }

    /// One line about the set.
    pub fn describe(&self) -> String {
        let facts = self.facts();
        format!(
            "{} {}: m = {}, n = {}, log2 Q = {:.0}, log2 P = {:.0}, {} digits, security {:.1} bits, {}, {}",
            self.engine().scheme(),
            self.name,
            self.context().params().m(),
            self.context().ring().n(),
            facts.log2_q,
            facts.log2_p,
            facts.digits,
            facts.security_bits,
            self.isa.name(),
            self.key_note(),
        )
    }

    fn key_note(&self) -> String {
        let sizes = self.context().params().key_sizes();
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let (memory, disk) = (megabytes(sizes.switching_key_memory), megabytes(sizes.switching_key_disk));
        format!("a switching key {memory:.1} MB in memory and {disk:.1} MB on disk")
    }

    /// The identifier of an operation.
    pub fn id(&self, op: &str, threads: usize) -> String {
        let scheme = self.engine().scheme().to_string().to_lowercase();
        format!("{scheme}/{op}/{}/{}/{threads}", self.name, self.isa.name())
    }

    /// Transforms of a rotation: the digits' and both mod-downs'.
    pub fn transforms(&self) -> usize {
        let (q, p) = (self.context().params().q_primes().len(), self.context().special().len());
        let extended: usize = self.context().gadget().groups().iter().map(|group| q + p - group.len()).sum();
        q + extended + 2 * (p + q)
    }

    fn relinearisation(&self) -> &Arc<SwitchingKey> {
        self.engine().keys().relinearisation().expect("a key")
    }

    /// Results against the plaintext ring, before anything is timed.
    fn verify(&self, inputs: &Inputs) {
        let (e, Inputs { x, y, a, b }) = (self.engine(), inputs);
        let product = x.multiply(y).expect("one ring");
        assert_eq!(self.decrypt(a), *x);
        assert_eq!(self.decrypt(&e.multiply(a, b).expect("multiplies")), product);
        assert_eq!(
            self.decrypt(&e.multiply_constant(a, &e.prepare(y).expect("prepares")).expect("multiplies")),
            product
        );
        assert_eq!(self.decrypt(&e.add(a, b).expect("adds")), x.add(y).expect("one ring"));
        assert_eq!(self.decrypt(&e.switch_modulus(a, self.context().top_level() - 1).expect("switches")), *x);
        let hoisted = e.hoist(a).expect("hoists");
        for &t in &self.rotations {
            let image = x.automorphism(t).expect("a unit");
            assert_eq!(self.decrypt(&e.automorphism(a, t).expect("rotates")), image, "θ_{t}");
            let extended = e.hoisted_automorphism(&hoisted, t).expect("rotates");
            assert_eq!(self.decrypt(&e.mod_down(extended).expect("fits")), image, "hoisted θ_{t}");
        }
    }

    /// All operations: on ciphertexts, the parts of a key switch, those of a client.
    pub fn measure(&self, threads: usize, rounds: usize) -> Vec<Sample> {
        let (x, y) = (self.message(1), self.message(2));
        let (a, b) = (self.encrypt(&x), self.encrypt(&y));
        let inputs = Inputs { x, y, a, b };
        self.verify(&inputs);
        let mut subjects = self.ciphertext_subjects(&inputs, threads);
        subjects.extend(self.switching_subjects(&inputs, threads));
        subjects.extend(self.client_subjects(&inputs, threads));
        measured(&mut subjects, threads, rounds)
    }

    fn ciphertext_subjects<'a>(&'a self, inputs: &'a Inputs, threads: usize) -> Vec<Subject<'a>> {
        let (e, Inputs { y, a, b, .. }) = (self.engine(), inputs);
        let constant = e.prepare(y).expect("prepares");
        let rotation = self.rotations[0];
        let id = |op: &str| self.id(op, threads);
        let many = ROTATIONS as u32;
        vec![
            subject(id("add"), || drop(e.add(a, b))),
            subject(id("multiply"), || drop(e.multiply(a, b))),
            subject(id("square"), || drop(e.square(a))),
            subject(id("ct-pt"), move || drop(e.multiply_constant(a, &constant))),
            subject(id("rotate"), move || drop(e.automorphism(a, rotation))),
            repeated(id("rotate-8"), many, || self.rotations.iter().for_each(|&t| drop(e.automorphism(a, t)))),
            repeated(id("rotate-8-hoisted"), many, || self.hoisted_rotations(a)),
            subject(id("mod-switch"), || drop(e.switch_modulus(a, self.context().top_level() - 1))),
        ]
    }

    /// One decompose-and-extend, then each rotation down to a ciphertext.
    fn hoisted_rotations(&self, a: &Ciphertext) {
        let hoisted = self.engine().hoist(a).expect("hoists");
        for &t in &self.rotations {
            let extended = self.engine().hoisted_automorphism(&hoisted, t).expect("rotates");
            drop(self.engine().mod_down(extended));
        }
    }

    /// The key switch and its three parts; transforms as the unit of the floor.
    fn switching_subjects<'a>(&'a self, inputs: &'a Inputs, threads: usize) -> Vec<Subject<'a>> {
        let (context, part) = (self.context(), &inputs.a.parts()[1]);
        let (level, id) = (self.context().top_level(), |op: &str| self.id(op, threads));
        let digits = Digits::new(context, part, 1);
        let wide = digits.inner_product(self.relinearisation()).expect("a key of the top level");
        let mut rows = Some(part.clone().into_coeff());
        let (ring, mut row) = (context.ring(), part.row(0).to_vec());
        vec![
            subject(id("decompose"), move || drop(Digits::new(context, part, 1))),
            subject(id("inner-product"), move || drop(digits.inner_product(self.relinearisation()))),
            subject(id("mod-down"), move || drop(mod_down(context, wide.each_ref(), level, 1))),
            subject(id("key-switch"), move || {
                let digits = Digits::new(context, part, 1);
                let wide = digits.inner_product(self.relinearisation()).expect("a key of the top level");
                drop(mod_down(context, wide.each_ref(), level, 1));
            }),
            // Forward and inverse of every row of Q: twice as many transforms as rows.
            repeated(id("transform-streamed"), 2 * level as u32, move || {
                rows = rows.take().map(|rows| rows.into_eval().into_coeff());
            }),
            repeated(id("transform-cached"), 2, move || {
                ring.plan(0).forward(&mut row);
                ring.plan(0).inverse(&mut row);
            }),
        ]
    }

    fn client_subjects<'a>(&'a self, inputs: &'a Inputs, threads: usize) -> Vec<Subject<'a>> {
        let id = |op: &str| self.id(op, threads);
        let (x, y, a) = (&inputs.x, &inputs.y, &inputs.a);
        let values = x.to_slots();
        let low = self.engine().reduce_level(a, 4.0).expect("switches");
        vec![
            subject(id("encode"), move || drop(Plaintext::from_slots(self.slot_ring(), &values))),
            subject(id("prepare"), || drop(self.engine().prepare(y))),
            subject(id("encrypt"), || drop(self.encrypt(x))),
            subject(id("decrypt"), || drop(self.decrypt(a))),
            subject(id("decrypt-lowest-level"), move || drop(self.decrypt(&low))),
            subject(id("decode"), || drop(x.to_slots())),
        ]
    }
}

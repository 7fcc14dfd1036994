//! Files in between, and what does not belong together: other keys, schemes, moduli, contexts.

use windlass::Arithmetic;
use windlass::wire::CiphertextV1;
use windlass::{Error, Evaluator, Plaintext, Switching};

use super::judge::Fault;
use super::maps::Map;
use super::world::{Expected, Value, World};

impl World {
    /// Written and read; then with one byte changed, which must be noticed.
    pub fn file(&mut self) -> Result<(), Error> {
        let a = self.any();
        self.judge.operation("a file");
        let context = &self.setting.context;
        let written = match context.to_bytes(&CiphertextV1::new(a.ct.clone())) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.judge.refusal(false, format!("writing: {error}"));
                return Ok(());
            }
        };
        let back = context.from_bytes::<CiphertextV1>(&written).map(CiphertextV1::into_ciphertext);
        let mut bytes = written.clone();
        let at = self.dice.index(bytes.len());
        bytes[at] ^= 1 << self.dice.below(8);
        let damaged = context.from_bytes::<CiphertextV1>(&bytes);
        self.judge.mixture(&format!("byte {at} of a file changed"), damaged);
        let expected = self.expected(a.slots.clone(), &[&a], 0.0);
        if let Ok(ct) = &back {
            let same = (ct.level(), ct.exponent(), ct.content()) == (a.ct.level(), a.ct.exponent(), a.ct.content());
            // Saved again it is the same file.
            let again = context.to_bytes(&CiphertextV1::new(ct.clone()))?;
            if again != written {
                self.judge.find(Fault::WrongLabel, "another file the second time");
            }
            // No noise at all is written as a bound of 1.
            if !same || ct.log2_noise() != a.ct.log2_noise().max(0.0) {
                self.judge.find(Fault::WrongLabel, "a file changed what a ciphertext says");
            }
        }
        self.settle(back, expected);
        Ok(())
    }

    /// A seeded ciphertext goes through its file at half the size.
    pub fn seeded_file(&mut self) -> Result<(), Error> {
        let oracle = &self.setting.oracle;
        let integers = self.dice.residues(oracle.slots(), oracle.t);
        let plaintext = Plaintext::from_integers(self.setting.context.slot_ring(), &integers)?;
        let level = 1 + self.dice.index(self.server.engine().context().top_level());
        self.judge.operation(format!("a seeded file at level {level}"));
        let fresh = self.decryptor.encrypt(&plaintext, level, self.dice.rng());
        let context = &self.setting.context;
        let outcome = fresh.and_then(|(ct, seed)| {
            let bytes = context.to_bytes(&CiphertextV1::seeded(ct, seed)?)?;
            Ok(context.from_bytes::<CiphertextV1>(&bytes)?.into_ciphertext())
        });
        let (slots, exponent) = (oracle.of_integers(&integers), self.setting.r);
        let room = self.floor(level);
        self.settle(outcome, Expected { slots, exponent, integers: true, room, cost: 10.0 });
        Ok(())
    }

    /// Everything here must be refused.
    pub fn mixtures(&mut self) -> Result<(), Error> {
        let a = self.any();
        self.judge.note("mixtures");
        match self.dice.below(4) {
            0 => self.mix_key_pairs(&a),
            1 => self.mix_schemes(&a),
            2 => self.mix_moduli(&a),
            _ => self.mix_contexts(&a),
        }
    }

    fn mix_key_pairs(&mut self, a: &Value) -> Result<(), Error> {
        let keys = [&self.plans.key_request() as &dyn windlass::NeedsKeys];
        let (other, stranger) = self.setting.context.generate_keys_from_seed(keys, self.dice.word())?;
        let (engine, judge) = (self.server.engine(), &mut self.judge);
        judge.mixture("decrypted under another key", other.decrypt_elements(&a.ct));
        judge.mixture("key of another pair", stranger.engine().automorphism(&a.ct, self.plans.units[0]));
        judge.mixture("squared under another key", stranger.square(&a.ct));
        let Ok(b) = other.encrypt(&[1]) else { return Ok(()) };
        judge.mixture("sum of two key pairs", engine.add(&a.ct, &b));
        judge.mixture("difference of two key pairs", engine.sub(&b, &a.ct));
        judge.mixture("product of two key pairs", engine.multiply(&a.ct, &b));
        judge.mixture("weighted sum of two key pairs", engine.weighted_sum(&[(&a.ct, 2), (&b, 3)], None));
        if let Some(map) = moving(&self.plans.maps) {
            judge.mixture(&format!("a stranger's {}", map.name), self.server.apply(&map.plan, &b));
        }
        Ok(())
    }

    fn mix_schemes(&mut self, a: &Value) -> Result<(), Error> {
        let there = a.ct.to_scheme(self.other.0);
        let (engine, judge) = (self.server.engine(), &mut self.judge);
        judge.mixture("decrypted as the other scheme", self.decryptor.decrypt(&there));
        judge.mixture("sum of two schemes", engine.add(&a.ct, &there));
        judge.mixture("product of two schemes", engine.multiply(&there, &a.ct));
        if let Some(map) = moving(&self.plans.maps) {
            judge.mixture(&format!("{} in the other scheme", map.name), self.server.apply(&map.plan, &there));
        }
        Ok(())
    }

    fn mix_moduli(&mut self, a: &Value) -> Result<(), Error> {
        let Some(b) = self.values.iter().find(|b| b.exponent != a.exponent) else { return Ok(()) };
        let engine = self.server.engine();
        self.judge.mixture("sum of two moduli", engine.add(&a.ct, &b.ct));
        self.judge.mixture("product of two moduli", engine.multiply(&a.ct, &b.ct));
        Ok(())
    }

    fn mix_contexts(&mut self, a: &Value) -> Result<(), Error> {
        // p = 16381 and 16369 are in no list of ours.
        let p = if self.dice.once_in(2) { 16381 } else { 16369 };
        let context = &self.setting.context;
        let params = context.params();
        let spec = params.spec().clone();
        let other = windlass::Params::new("insecure_hammer", params.scheme(), (p, 1), None, spec);
        let Ok(other) = other.and_then(windlass::Context::from_params) else { return Ok(()) };
        let plaintext = Plaintext::from_integers(other.slot_ring(), &[1])?;
        let (engine, judge) = (self.server.engine(), &mut self.judge);
        judge.mixture("plaintext of another modulus", engine.add_plain(&a.ct, &plaintext));
        judge.mixture("constant of another modulus", engine.prepare(&plaintext));
        let bytes = context.to_bytes(&CiphertextV1::new(a.ct.clone()))?;
        judge.mixture("file of another context", other.from_bytes::<CiphertextV1>(&bytes));
        let (client, stranger) = other.generate_keys_from_seed([&windlass::needs::Products], 1)?;
        judge.mixture("decrypted in another context", client.decrypt(&a.ct));
        judge.mixture("squared in another context", stranger.square(&a.ct));
        Ok(())
    }
}

/// A map without automorphisms may have nothing to do: it gives back what it was given, which still
/// says whose it is. So one that has.
fn moving(maps: &[Map]) -> Option<&Map> {
    maps.iter().find(|map| !map.plan.required_keys().is_empty())
}

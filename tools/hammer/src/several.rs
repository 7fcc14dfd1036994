//! Keys that several parties make together, and decryptions by all of them or by as many as are needed.

use std::sync::Arc;

use windlass::needs::KeyRequest;
use windlass::rlwe::collective::{Common, KeyName, KeySum, SecretShare, ThresholdShare, deal};
use windlass::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use windlass::schemes::Publication;
use windlass::schemes::collective::{ExactDecryption, Holder};
use windlass::{Context, Error, Plaintext};

use super::dice::Dice;
use super::judge::Fault;
use super::world::{Value, World};

/// All parties of a key.
pub struct Several {
    secrets: Vec<SecretShare>,
    values: Vec<ThresholdShare>,
    threshold: usize,
}

/// What they make together, and the secret key that none of them has.
pub struct Made {
    pub public: Arc<PublicKey>,
    pub keys: Arc<EvaluationKeys>,
    pub secret: Arc<SecretKey>,
}

fn total(shares: impl Iterator<Item = Result<windlass::rlwe::collective::KeyShare, Error>>) -> Result<KeySum, Error> {
    let mut sum = None;
    for share in shares {
        match &mut sum {
            None => sum = Some(KeySum::of(share?)),
            Some(sum) => sum.add(&share?)?,
        }
    }
    Ok(sum.expect("there are parties"))
}

impl Several {
    /// Parties with keys for this request; any number of them is needed to decrypt.
    pub fn draw(dice: &mut Dice, context: &Context, request: &KeyRequest) -> Result<(Self, Made), Error> {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&dice.word().to_le_bytes());
        let common = Common::new(context.rlwe(), seed)?;
        let parties = common.parties();
        let secrets: Vec<_> = (0..parties).map(|_| SecretShare::generate(&common, dice.rng())).collect();
        let threshold = 1 + dice.index(parties as usize);
        let first = |name| total(secrets.iter().map(|secret| Ok(secret.first(name)?)));
        let public = Arc::new(first(KeyName::Public)?.into_public_key(&common)?);
        let top = context.params().top_level();
        let mut keys = EvaluationKeys::of_pair(context.rlwe(), common.key_id());
        for (&element, level) in request.galois.iter().filter(|(element, _)| **element != 1) {
            first(KeyName::Galois { element, level: level.in_chain(top) })?.insert_into(&common, &mut keys)?;
        }
        if let Some(level) = request.relinearisation {
            let sum = first(KeyName::Relinearisation { level: level.in_chain(top) })?;
            let second = secrets.iter().map(|secret| Ok(secret.second(&sum)?));
            total(second)?.insert_into(&common, &mut keys)?;
        }
        let mut columns: Vec<Vec<_>> = secrets.iter().map(|_| Vec::new()).collect();
        for secret in &secrets {
            deal(secret, threshold as u32)?
                .into_iter()
                .zip(&mut columns)
                .for_each(|(share, column)| column.push(share));
        }
        let value = |(column, party)| ThresholdShare::new(party, threshold as u32, column);
        let values = columns.into_iter().zip(1..).map(value).collect::<Result<_, _>>()?;
        let n = context.n();
        let sum = (0..n).map(|j| secrets.iter().map(|secret| secret.expose_parts().0[j]).sum()).collect::<Vec<i64>>();
        let secret = Arc::new(SecretKey::from_coefficients(context.rlwe(), common.key_id(), sum.into())?);
        Ok((Self { secrets, values, threshold }, Made { public, keys: Arc::new(keys), secret }))
    }
}

impl World {
    /// Decrypts by all parties or by some, if there are several, and compares.
    pub fn check_shares(&mut self, value: &Value) {
        let Some(several) = self.several.take() else { return };
        let all = self.dice.once_in(2);
        let count = if all { several.secrets.len() } else { several.threshold };
        let publication =
            Publication { security_bits: 1 + self.dice.below(60) as u32, decryptions: 1 << self.dice.below(20) };
        self.judge.operation(format!("decrypted by {count} of {}", several.secrets.len()));
        let (t, n) = (self.modulus(value.exponent) as f64, self.setting.context.slot_ring().n() as f64);
        let cost = f64::from(publication.security_bits)
            + f64::from(publication.decryptions).log2()
            + (count as f64 * t).log2()
            + 2.0 * n.log2()
            + 12.0;
        match self.shared(&several, value, (publication, all, count)) {
            Ok(plaintext) => {
                self.judge.counts.decryptions += 1;
                if plaintext.to_slots() != value.slots {
                    self.judge.find(Fault::WrongAnswer, "by several parties");
                }
            }
            Err(error) => {
                let room = self.room(&[value]);
                self.refused(&error, room, cost);
            }
        }
        self.several = Some(several);
    }

    fn shared(
        &mut self,
        several: &Several,
        value: &Value,
        (publication, all, count): (Publication, bool, usize),
    ) -> Result<Plaintext, Error> {
        let context = &self.setting.context;
        let scheme = (context.scheme(), context.slot_ring());
        let plan = ExactDecryption::plan(context.rlwe(), scheme, &value.ct, (publication, count as u32))?;
        if f64::from(plan.flooding().bits) < plan.needed_bits() {
            self.judge.find(Fault::BrokenBound, "noise that hides less than was asked for");
        }
        let mut shares = Vec::new();
        if all {
            for secret in &several.secrets {
                shares.push(plan.share(&Holder::All(secret), self.dice.rng())?);
            }
        } else {
            let mut members: Vec<u32> = (1..=several.secrets.len() as u32).collect();
            while members.len() > count {
                members.remove(self.dice.index(members.len()));
            }
            for &number in &members {
                let share = &several.values[number as usize - 1];
                let holder = Holder::Threshold { share, participants: &members };
                shares.push(plan.share(&holder, self.dice.rng())?);
            }
        }
        plan.open(self.setting.context.slot_ring(), &shares)
    }
}

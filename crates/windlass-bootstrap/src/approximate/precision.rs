//! The scales of the sine for a precision.

use std::collections::BTreeMap;

use windlass_rlwe::{Limits, RlweParams};
use windlass_schemes::error::Result;

use super::samples::Samples;
use super::sine::Sine;
use super::spec::{LEAST_BITS, MOST_BITS, MapOrder, RefreshSpec};

impl RefreshSpec {
    /// The same with the scales of the sine for an error of 2^−bits in a slot of the message: each
    /// level adds as much to it as the others.
    ///
    /// **Warning.** With the maps back first the result of the sine has the scale of the caller, whose
    /// rounding may leave fewer bits; [`RefreshError`](super::RefreshError) says what is left.
    ///
    /// Cost: some milliseconds.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] for a precision outside 1 to 60 bits, and for numbers
    /// that no refresh has.
    pub fn with_sine_precision(mut self, bits: f64) -> Result<Self> {
        self.check_shape()?;
        let limits = Limits::between(1, 60);
        if !(1.0..=60.0).contains(&bits) {
            return Err(limits.refuse("the precision of the sine in bits", bits).into());
        }
        let errors = self.errors_of_scale_one()?;
        let share = (-bits).exp2() / (errors.len() as f64).sqrt();
        let scale = |error: &f64| (error / share).log2().ceil() as u32;
        let mut scales: Vec<u32> = errors.iter().map(scale).collect();
        // Maps after the sine lower the scale; without them it has to be the caller's. What a level drops
        // is at least one prime.
        if let Some(last) = scales.last_mut() {
            let most = if self.order == MapOrder::BackLast { u32::MAX } else { self.scale_bits };
            *last = self.scale_bits.max(*last).min(most);
        }
        for level in (0..scales.len() - 1).rev() {
            scales[level] = scales[level].max((scales[level + 1] + LEAST_BITS).div_ceil(2));
        }
        self.sine_scale_bits = scales;
        Ok(self)
    }

    /// For each level of the sine what it adds to a slot of the message, were its scale 1.
    fn errors_of_scale_one(&self) -> Result<Vec<f64>> {
        let sine = Sine::new(self)?;
        let sensitivities = Samples::sensitivities(self, &sine)?;
        // Of a rescaling under the main secret, in the slots of the sine.
        let rounding = self.rounding(2 * self.sine_slots());
        // Of both parts, in units of the message; a map back adds up as many as there are slots.
        let summed = if self.order == MapOrder::BackLast { self.slots as f64 } else { 1.0 };
        let unit = (2.0 * summed).sqrt() * f64::from(self.gap_bits).exp2() / sine.factor();
        Ok(sensitivities.iter().map(|s| s * rounding * unit).collect())
    }

    /// The refresh for a key that so many parties hold together, with a sine of the same precision.
    ///
    /// The integers that the sine removes are larger by √k and more, so the angle is doubled once or twice more often.
    /// That takes a level each, and the errors of all levels are larger, since the secret is a sum. Primes for security
    /// are not chosen again: [`RefreshPlan::choose`](super::RefreshPlan::choose) does that.
    ///
    /// Cost: some milliseconds.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] for a number of parties that no key has, for a specification that is for
    /// several already, and as [`Self::with_sine_precision`].
    pub fn with_parties(self, parties: u32) -> Result<Self> {
        self.check()?;
        let own = Limits::between(1, 1).with("to begin with a key of one party");
        own.check("the number of parties", self.parties)?;
        Limits::between(2, RlweParams::MAX_PARTIES).check("the number of parties", parties)?;
        let errors = self.errors_of_scale_one()?;
        // With the maps back first the last scale is the caller's, whatever its errors are.
        let levels = errors.len() - usize::from(self.order == MapOrder::BackFirst);
        let each =
            errors[..levels].iter().zip(&self.sine_scale_bits).map(|(error, &bits)| error / f64::from(bits).exp2());
        let bits = -each.map(|error| error * error).sum::<f64>().sqrt().log2();
        let doublings = |spec: &Self| doublings(self.doublings, self.most(), spec.most());
        let spec = Self { parties, sine_scale_bits: Vec::new(), ..self.clone() };
        let spec = Self { doublings: doublings(&spec), ..spec };
        // The error of the switch to the ephemeral secret is a sum of one from each party.
        let least = ephemeral_special(&spec);
        let ephemeral_special = spec.ephemeral_special.max(least.min(spec.special_prime_bits.len()));
        Self { ephemeral_special, ..spec }.with_sine_precision(bits.clamp(1.0, 60.0))
    }

    /// The same with higher scales of the sine where its levels then drop fewer primes.
    ///
    /// A product at scale Δ that is rescaled to Δ' drops the bits `2·log2 Δ − log2 Δ'`. For scales of some
    /// 60 bits that is two primes at every level. If every second scale is higher by 10 bits or so, one
    /// prime and two take turns: a quarter of the rows less, for a modulus that is some bits larger.
    ///
    /// Of all scales that are as high as those of `self` at least, it takes those with the fewest primes,
    /// then those with the fewest bits. The maps back have to bring the last one down to the scale of the
    /// caller, with one prime each.
    pub fn with_few_primes(mut self) -> Self {
        let [first, least @ ..] = &self.sine_scale_bits[..] else { return self };
        // What no set has is refused by its plan.
        if self.scale_bits > MOST_BITS || self.sine_scale_bits.iter().any(|&bits| bits > 2 * MOST_BITS) {
            return self;
        }
        let mut chains = BTreeMap::from([(*first, Chain { primes: 0, bits: 0, scales: vec![*first] })]);
        for &least in least {
            let mut next: BTreeMap<u32, Chain> = BTreeMap::new();
            for (&scale, chain) in &chains {
                for lower in least..=2 * MOST_BITS {
                    let Some(longer) = chain.with(2 * scale, lower) else { continue };
                    let best = next.entry(lower).or_insert_with(|| longer.clone());
                    if longer.cost() < best.cost() {
                        *best = longer;
                    }
                }
            }
            chains = next;
        }
        let fall = match self.order {
            MapOrder::BackLast => self.to_coefficients.len() as u32 * MOST_BITS.saturating_sub(self.constant_bits[1]),
            MapOrder::BackFirst => 0,
        };
        let ends = chains.into_iter().filter(|&(last, _)| last <= self.scale_bits + fall);
        let best = ends.min_by_key(|(last, chain)| (chain.primes, chain.bits + last));
        if let Some((_, chain)) = best {
            self.sine_scale_bits = chain.scales;
        }
        self
    }
}

/// How often the angle is doubled for integers up to `most`, where it is `doublings` times for those up to `before`:
/// the polynomial is near a cosine of no more periods.
pub(super) fn doublings(doublings: u32, before: i64, most: i64) -> u32 {
    let ratio = (most as f64 + 0.5) / (before as f64 + 0.5);
    // A twentieth of a period more does no harm to a polynomial of degree 15.
    doublings + (ratio / 1.05).log2().ceil().max(0.0) as u32
}

/// How many special primes of 50 bits the key to the ephemeral secret takes: the error of its switch stays below a
/// fourth of a unit of a coefficient.
pub(super) fn ephemeral_special(spec: &RefreshSpec) -> usize {
    let input = spec.scale_bits + spec.gap_bits;
    let parties = f64::from(spec.parties).log2() / 2.0;
    (input + spec.n.ilog2() / 2 + 3 + parties.ceil() as u32).div_ceil(MOST_BITS) as usize
}

/// Levels of the sine from its argument down.
#[derive(Debug, Clone)]
struct Chain {
    primes: usize,
    bits: u32,
    scales: Vec<u32>,
}

impl Chain {
    /// One level more, whose products have a scale of so many bits, and which is rescaled to a lower one:
    /// none if no primes have the bits between.
    fn with(&self, product: u32, lower: u32) -> Option<Self> {
        let bits = product.checked_sub(lower)?;
        let primes = bits.div_ceil(MOST_BITS);
        let is_possible = primes > 0 && bits >= primes * LEAST_BITS;
        let scales = || self.scales.iter().copied().chain([lower]).collect();
        is_possible.then(|| Self { primes: self.primes + primes as usize, bits: self.bits + bits, scales: scales() })
    }

    fn cost(&self) -> (usize, u32) {
        (self.primes, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::tests::toy;
    use super::*;

    /// The number of primes that the levels of the sine drop, and their bits.
    fn dropped(spec: &RefreshSpec) -> (u32, u32) {
        let bits = || spec.sine_scale_bits.windows(2).map(|pair| 2 * pair[0] - pair[1]);
        (bits().map(|bits| bits.div_ceil(MOST_BITS)).sum(), bits().sum())
    }

    #[test]
    fn fewer_primes_keep_every_scale_and_end_where_the_maps_can_begin() {
        let spec = toy(1024);
        let few = spec.clone().with_few_primes();
        assert!(few.sine_scale_bits.iter().zip(&spec.sine_scale_bits).all(|(few, least)| few >= least));
        let ((before, bits), (after, more)) = (dropped(&spec), dropped(&few));
        println!("{before} primes of {bits} bits, {after} of {more}");
        assert!(4 * after <= 3 * before && more < bits + bits / 10, "{:?}", few.sine_scale_bits);
        few.check().unwrap();
        assert!(few.to_ckks().refresh_levels[..3].iter().all(|level| level.prime_bits.len() == 1));
    }
}

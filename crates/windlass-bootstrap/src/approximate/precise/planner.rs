//! Parameters of a refresh of several passes from what is asked for.

use windlass_rlwe::{Assurance, Limits, RlweParams};
use windlass_schemes::error::{Error, Result};

use super::plan::PreciseRefreshPlan;
use super::spec::{MOST_PASSES, PASS_BITS, PreciseRefreshSpec};

/// What a refresh of several passes is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PreciseRefreshRequirements {
    /// The minimum number of slots of a ciphertext. The plan is for all slots of its ring.
    pub slots: usize,
    /// The stated deviation of a slot is at most 2^−precision_bits, for numbers of absolute value 1. A pass gives 27
    /// bits at most.
    pub precision_bits: f64,
    /// Products in sequence between two refreshes.
    pub depth: usize,
    /// How many parties hold the key together; 1 for a key of one party.
    pub parties: u32,
}

impl Default for PreciseRefreshRequirements {
    /// One slot, 60 bits, one product, one party.
    fn default() -> Self {
        Self { slots: 1, precision_bits: 60.0, depth: 1, parties: 1 }
    }
}

/// The ring dimensions that are tried, in this order.
const DIMENSIONS: [usize; 2] = [1 << 15, 1 << 16];

/// So many bits a finer sine may add.
const JUST: f64 = 2.5;

/// The most bits that are asked for: [`windlass_schemes::schemes::ckks::Wide`] numbers are encoded to 90.
const MOST_BITS: f64 = 85.0;

impl PreciseRefreshPlan {
    /// A plan with 128 bits of security for what is asked for: in the smallest ring that has room for it, with
    /// the fewest passes there, and with as few bits a pass as these need.
    ///
    /// Cost: seconds for each candidate that fits.
    ///
    /// # Errors
    /// [`Error::NoParameters`] says what the largest ring lacks; [`Error::OutOfRange`] for numbers that no
    /// refresh has.
    pub fn choose(requirements: &PreciseRefreshRequirements) -> Result<Self> {
        let PreciseRefreshRequirements { slots, precision_bits, depth, parties } = *requirements;
        if !(1.0..=MOST_BITS).contains(&precision_bits) {
            return Err(Limits::between(1, MOST_BITS as u32).refuse("the precision in bits", precision_bits).into());
        }
        Limits::at_most(100).with("more than any secure ring has primes for").check("the number of products", depth)?;
        Limits::between(1, RlweParams::MAX_PARTIES).check("the number of parties", parties)?;
        let whole = slots.max(1).checked_next_power_of_two().unwrap_or(usize::MAX);
        let mut lack = format!("{slots} slots do not fit into any ring of the security tables");
        for n in DIMENSIONS.into_iter().filter(|&n| whole <= n / 2) {
            match (Candidates { n, precision_bits, depth, assurance: Assurance::Secure, parties }).plan()? {
                Ok(plan) => return Ok(plan),
                Err(reason) => lack = reason,
            }
        }
        let asked = format!("a refresh of {slots} slots with {precision_bits} bits and {depth} products after it");
        Err(Error::NoParameters { reason: format!("{asked}: {lack}") })
    }
}

/// Passes in one ring.
struct Candidates {
    n: usize,
    precision_bits: f64,
    depth: usize,
    assurance: Assurance,
    parties: u32,
}

impl Candidates {
    /// The first plan that states the precision, or what the last candidate lacks.
    fn plan(&self) -> Result<std::result::Result<PreciseRefreshPlan, String>> {
        let mut lack = format!("n = {}: {MOST_PASSES} passes state too few bits", self.n);
        for passes in 1..=MOST_PASSES {
            for pass_bits in PASS_BITS.filter(|&bits| self.is_near((passes, bits))) {
                match self.of_passes((passes, pass_bits))? {
                    Ok(plan) => return Ok(Ok(plan)),
                    Err(reason) => lack = reason,
                }
            }
        }
        Ok(Err(lack))
    }

    /// A plan with such passes, whose scale has few bits more than the precision needs: products drop as many
    /// bits as the scale has. If it just misses the precision, one with all bits of the scale, then those with a finer
    /// sine: a pass more would take longer. Or what it lacks.
    fn of_passes(&self, passes: (usize, u32)) -> Result<std::result::Result<PreciseRefreshPlan, String>> {
        let spare = (self.expected(passes) - 1.0 - self.precision_bits).max(0.0) as u32;
        let mut lack = String::new();
        for (less, finer) in [(spare, 0), (spare.saturating_sub(2), 0), (0, 1), (0, 2)] {
            let sine = (finer, self.parties);
            let spec = PreciseRefreshSpec::with_finer_sine(self.n, passes, self.depth, self.assurance.clone(), sine)?;
            let less = less.min(spec.scale_bits - spec.refresh.scale_bits);
            let spec = PreciseRefreshSpec { scale_bits: spec.scale_bits - less, ..spec };
            let missing = match PreciseRefreshPlan::of_shape(&spec) {
                Ok(plan) if plan.precision_bits() >= self.precision_bits => return Ok(Ok(plan)),
                Ok(plan) => {
                    let (stated, (count, bits)) = (plan.precision_bits(), passes);
                    lack = format!("n = {}: {count} passes of {bits} bits state {stated:.1} bits", self.n);
                    self.precision_bits - stated
                }
                Err(Error::NoParameters { reason }) => return Ok(Err(reason)),
                Err(error) => return Err(error),
            };
            if missing > JUST {
                break;
            }
        }
        Ok(Err(lack))
    }

    /// Whether so many passes may state the precision, and fewer bits a pass may not.
    fn is_near(&self, (passes, pass_bits): (usize, u32)) -> bool {
        let expected = self.expected((passes, pass_bits));
        let is_least = PASS_BITS.start() == &pass_bits;
        expected >= self.precision_bits - 1.0 && (is_least || expected <= self.precision_bits + 2.0)
    }

    /// About what passes state: a deviation is some 7 bits below the bound that a pass gains, and that of a slot
    /// larger than that of a coefficient. Scales have a bit less for numbers of absolute value 1.
    fn expected(&self, (passes, pass_bits): (usize, u32)) -> f64 {
        passes as f64 * f64::from(pass_bits) + 6.0 - (self.n as f64).log2() / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where passes of the most bits just miss what is asked for, their sine becomes finer before there is another pass.
    #[test]
    fn passes_that_just_miss_a_precision_get_a_finer_sine() {
        let (n, depth) = (512, 1);
        let assurance = Assurance::Insecure { name: "insecure_precise".into() };
        let most = (2, *PASS_BITS.end());
        let plain = PreciseRefreshSpec::new(n, most, depth, assurance.clone()).unwrap();
        let plain = PreciseRefreshPlan::of_shape(&plain).unwrap().precision_bits();
        let candidates = Candidates { n, precision_bits: plain + 0.2, depth, assurance, parties: 1 };
        let plan = candidates.plan().unwrap().unwrap();
        println!("{plain:.2} bits, then {:.2}", plan.precision_bits());
        assert_eq!(plan.spec().passes, 2);
        assert!(plan.precision_bits() >= plain + 0.2);
    }
}

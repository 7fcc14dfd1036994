//! Parameters of a refresh from what is asked for.

use windlass_rlwe::{Assurance, Limits, RlweError, RlweParams, SecretDistribution, security};
use windlass_schemes::error::{BootstrapError, Error, Result};

use super::integers;
use super::plan::RefreshPlan;
use super::precision::{doublings, ephemeral_special};
use super::spec::{MOST_BITS, MapOrder, RefreshSpec};

/// What a refresh is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshRequirements {
    /// The minimum number of slots of a ciphertext.
    pub slots: usize,
    /// Products in sequence between two refreshes.
    pub depth: usize,
    /// The stated error of a refresh is at most 2^−precision_bits, for numbers of absolute value 1.
    pub precision_bits: f64,
    /// The most Galois keys of each map, if that matters more than time.
    pub max_keys: Option<usize>,
    /// How many parties hold the key together; 1 for a key of one party.
    pub parties: u32,
}

impl Default for RefreshRequirements {
    /// One slot, three products, 20 bits, ten keys a map, one party.
    fn default() -> Self {
        Self { slots: 1, depth: 3, precision_bits: 20.0, max_keys: Some(10), parties: 1 }
    }
}

/// The ring dimensions that are tried, in this order.
const DIMENSIONS: [usize; 3] = [1 << 15, 1 << 16, 1 << 17];

/// The weights of the ephemeral secret that are tried: the polynomial near the cosine is for up to 16
/// periods.
const WEIGHTS: [u32; 3] = [28, 30, 32];

/// What no integer exceeds for the largest of these and one party: then three doublings are enough.
const LARGEST_INTEGER: i64 = 16;

/// How often a chain with more precision is tried, if the stated error is too large.
const ATTEMPTS: usize = 4;

/// Most digits of a key switch: with more of them the sums of digits take most of the time.
const MOST_DIGITS: usize = 12;

/// What a chain is built around.
#[derive(Debug, Clone, Copy)]
struct Shape {
    order: MapOrder,
    arcsine: bool,
    maps: usize,
}

/// Those of all slots, the fastest first.
const FULL: [Shape; 6] = [
    Shape { order: MapOrder::BackFirst, arcsine: true, maps: 3 },
    Shape { order: MapOrder::BackLast, arcsine: true, maps: 3 },
    Shape { order: MapOrder::BackFirst, arcsine: true, maps: 2 },
    Shape { order: MapOrder::BackLast, arcsine: true, maps: 2 },
    Shape { order: MapOrder::BackFirst, arcsine: false, maps: 2 },
    Shape { order: MapOrder::BackLast, arcsine: false, maps: 2 },
];

/// Those of fewer slots.
const SPARSE: [Shape; 4] = [
    Shape { order: MapOrder::BackLast, arcsine: true, maps: 2 },
    Shape { order: MapOrder::BackLast, arcsine: true, maps: 3 },
    Shape { order: MapOrder::BackLast, arcsine: false, maps: 2 },
    Shape { order: MapOrder::BackLast, arcsine: false, maps: 3 },
];

impl RefreshRequirements {
    fn secret(&self) -> SecretDistribution {
        match self.parties {
            1 => SecretDistribution::Ternary,
            parties => SecretDistribution::Collective { parties },
        }
    }
}

impl RefreshPlan {
    /// A plan with 128 bits of security for what is asked for: in the smallest ring that has room for it and
    /// states the precision, the one of the lowest [`Self::price`].
    ///
    /// Cost: up to a minute, since every candidate is planned.
    ///
    /// # Errors
    /// [`Error::NoParameters`] says what the largest ring lacks; [`Error::OutOfRange`] for numbers that no
    /// refresh has.
    pub fn choose(requirements: &RefreshRequirements) -> Result<Self> {
        let limits = Limits::between(1, 40);
        if !(1.0..=40.0).contains(&requirements.precision_bits) {
            return Err(limits.refuse("the precision in bits", requirements.precision_bits).into());
        }
        Limits::between(1, RlweParams::MAX_PARTIES).check("the number of parties", requirements.parties)?;
        let slots = requirements.slots.max(1).checked_next_power_of_two().unwrap_or(usize::MAX);
        let mut lack = format!("{} slots do not fit into any ring of the security tables", requirements.slots);
        for n in DIMENSIONS.into_iter().filter(|&n| slots <= n / 2) {
            let Ok(most) = security::max_log2_qp(n, RlweParams::REQUIRED_SECURITY, requirements.secret()) else {
                continue;
            };
            let shapes: &[Shape] = if slots == n / 2 { &FULL } else { &SPARSE };
            let mut best: Option<Self> = None;
            for &shape in shapes {
                match (Candidate { requirements, n, slots, shape, most }).plan()? {
                    // Of all slots, the first that fits: its maps take seconds to plan.
                    Ok(plan) if slots == n / 2 => return Ok(plan),
                    Ok(plan) if best.as_ref().is_none_or(|best| plan.price() < best.price()) => best = Some(plan),
                    Ok(_) => {}
                    Err(reason) => lack = reason,
                }
            }
            if let Some(plan) = best {
                return Ok(plan);
            }
        }
        let (depth, bits) = (requirements.depth, requirements.precision_bits);
        let asked = format!("a refresh of {} slots with {bits} bits and {depth} products after it", requirements.slots);
        Err(Error::NoParameters { reason: format!("{asked}: {lack}") })
    }
}

/// A chain of one shape.
struct Candidate<'a> {
    requirements: &'a RefreshRequirements,
    n: usize,
    slots: usize,
    shape: Shape,
    /// The largest log2 QP with 128 bits of security.
    most: f64,
}

impl Candidate<'_> {
    /// The plan, or what it lacks.
    fn plan(&self) -> Result<std::result::Result<RefreshPlan, String>> {
        let (mut bits, mut lack) = (self.requirements.precision_bits + 0.5, String::new());
        for _ in 0..ATTEMPTS {
            let spec = match self.spec(bits)? {
                Ok(spec) => spec,
                Err(reason) => return Ok(Err(reason)),
            };
            // Fewer primes have some bits more in all: there may be no room for them.
            let plan = match self.with_digits(&spec.clone().with_few_primes())? {
                Ok(plan) => plan,
                Err(_) => match self.with_digits(&spec)? {
                    Ok(plan) => plan,
                    Err(reason) => return Ok(Err(reason)),
                },
            };
            let error = plan.error()?;
            let stated = -(error.deviation() + error.systematic).log2();
            if stated >= self.requirements.precision_bits {
                return Ok(Ok(plan));
            }
            lack = format!("n = {}: the best chain states {stated:.1} bits", self.n);
            bits += self.requirements.precision_bits - stated + 0.25;
        }
        Ok(Err(lack))
    }

    /// The plan of the lowest price whose special primes the modulus has room for.
    ///
    /// More digits need fewer special primes. The price falls with them at first, then it rises.
    fn with_digits(&self, spec: &RefreshSpec) -> Result<std::result::Result<RefreshPlan, String>> {
        let chain = spec.to_ckks();
        let levels: u32 = chain.refresh_levels.iter().flat_map(|level| &level.prime_bits).sum();
        let own = chain.base_prime_bits.iter().sum::<u32>() + chain.scale_bits * chain.depth as u32 + levels;
        let n = self.n;
        let mut best: Option<RefreshPlan> = None;
        for digits in 1..=MOST_DIGITS {
            // The largest digit may have a prime more than the others.
            let least = own.div_ceil(digits as u32).div_ceil(MOST_BITS);
            for special in [least, least + 1] {
                if f64::from(own + special * MOST_BITS) > self.most {
                    break;
                }
                let special_prime_bits = vec![MOST_BITS; special as usize];
                match with_weight(RefreshSpec { digits, special_prime_bits, ..spec.clone() }) {
                    Ok(plan) => match best {
                        Some(best) if best.price() <= plan.price() => return Ok(Ok(best)),
                        _ => {
                            best = Some(plan);
                            break;
                        }
                    },
                    Err(Error::Rlwe(RlweError::SpecialModulusTooSmall { .. })) => {}
                    Err(Error::Bootstrap(BootstrapError::EphemeralKeyTooWeak { .. })) => {
                        return Ok(Err(format!("n = {n}: no ephemeral key has 128 bits of security")));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        if let Some(best) = best {
            return Ok(Ok(best));
        }
        let (least, most) = (own + own.div_ceil(MOST_DIGITS as u32), self.most);
        Ok(Err(format!(
            "n = {n}: the chain takes {least} bits, but 128 bits of security leave {most:.0}; ask for fewer products or less precision"
        )))
    }

    /// A chain for a sine of this precision, or what it lacks.
    fn spec(&self, bits: f64) -> Result<std::result::Result<RefreshSpec, String>> {
        let (n, Shape { order, arcsine, maps }) = (self.n, self.shape);
        let parties = self.requirements.parties;
        // A rescaling's rounding in a slot, under a uniform ternary secret or a sum of some.
        let secret = f64::from(parties) * 2.0 * n as f64 / 3.0;
        let rounding = (n as f64 / 12.0 * (1.0 + secret)).log2() / 2.0;
        // The integers that the maps take are larger by the root of the number of parties.
        let larger = f64::from(parties).log2() / 2.0;
        let scale_bits = ((bits + rounding + 1.0).ceil() as u32).max(28);
        let (first, second) = match order {
            MapOrder::BackFirst => ((bits + larger + 23.0).ceil() as u32, scale_bits),
            MapOrder::BackLast => ((bits + larger + 29.0).ceil() as u32, scale_bits - 2),
        };
        if scale_bits > MOST_BITS || first > 60 {
            return Ok(Err(format!("n = {n}: {bits:.0} bits need a scale above {MOST_BITS} bits")));
        }
        let groups = groups(self.slots, maps);
        let gap_bits = gap(bits, arcsine);
        let spec = RefreshSpec {
            n,
            slots: self.slots,
            scale_bits,
            depth: self.requirements.depth,
            order,
            gap_bits,
            sine_scale_bits: Vec::new(),
            to_slots: groups.clone(),
            to_coefficients: groups,
            constant_bits: [first, second],
            doublings: doublings(3, LARGEST_INTEGER, integers::most(n, WEIGHTS[WEIGHTS.len() - 1], parties)),
            degree: 15,
            arcsine,
            max_keys: self.requirements.max_keys,
            ephemeral_weight: WEIGHTS[0],
            parties,
            // Replaced by as many as the key takes.
            ephemeral_special: 1,
            // Replaced by as many as the digits need.
            special_prime_bits: vec![MOST_BITS; 8],
            digits: 1,
            assurance: Assurance::Secure,
        };
        let spec = RefreshSpec { ephemeral_special: ephemeral_special(&spec), ..spec };
        Ok(Ok(spec.with_sine_precision(bits)?))
    }
}

/// The plan with the sparsest ephemeral secret that is secure.
fn with_weight(spec: RefreshSpec) -> Result<RefreshPlan> {
    let of = |ephemeral_weight| RefreshPlan::new(&RefreshSpec { ephemeral_weight, ..spec.clone() });
    let [weights @ .., last] = WEIGHTS;
    for weight in weights {
        match of(weight) {
            Err(Error::Bootstrap(BootstrapError::EphemeralKeyTooWeak { .. })) => {}
            other => return other,
        }
    }
    of(last)
}

/// The elementary stages in so many maps, as even as possible, the larger ones first.
pub(super) fn groups(slots: usize, maps: usize) -> Vec<usize> {
    let stages = slots.ilog2() as usize;
    let maps = maps.min(stages).max(1);
    (0..maps).map(|k| (stages + maps - 1 - k) / maps).collect()
}

/// The smallest gap whose systematic error is below the precision for numbers of absolute value 1.
fn gap(bits: f64, arcsine: bool) -> u32 {
    let systematic = |gap: u32| {
        let angle = std::f64::consts::TAU * (-f64::from(gap)).exp2();
        if arcsine { 3.0 / 40.0 * angle.powi(4) } else { angle.powi(2) / 6.0 }
    };
    (6..=16).find(|&gap| systematic(gap).log2() < -bits - 1.0).unwrap_or(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_shared_out() {
        for (slots, maps) in [(1 << 15, 3), (1 << 14, 2), (256, 2), (2, 3), (1, 2)] {
            let groups = groups(slots, maps);
            assert_eq!(groups.iter().sum::<usize>(), slots.ilog2() as usize, "{groups:?}");
            assert!(groups.is_sorted_by(|a, b| a >= b) && groups[0] - groups[groups.len() - 1] <= 1);
        }
        assert_eq!([gap(24.0, true), gap(16.0, false)], [8, 10]);
    }

    /// What is found states what was asked for, at 128 bits.
    #[test]
    fn requirements_are_met_by_what_is_stated() {
        let requirements =
            RefreshRequirements { slots: 1000, depth: 1, precision_bits: 14.0, max_keys: None, parties: 1 };
        let plan = RefreshPlan::choose(&requirements).unwrap();
        let (spec, params) = (plan.spec(), plan.context().rlwe().params());
        println!("{}", plan.explain());
        assert_eq!((spec.n, spec.slots, spec.depth), (1 << 15, 1024, 1));
        assert!(params.security().bits >= 128.0 && plan.ephemeral_security().bits >= 128.0);
        let error = plan.error().unwrap();
        assert!(error.deviation() + error.systematic <= 2f64.powf(-14.0));
    }

    #[test]
    fn what_no_ring_has_is_refused_with_what_is_missing() {
        let refused = |requirements: RefreshRequirements| RefreshPlan::choose(&requirements).unwrap_err();
        let text = refused(RefreshRequirements { depth: 190, ..RefreshRequirements::default() }).to_string();
        assert!(text.contains("190 products") && text.contains("fewer products"), "{text}");
        let text = refused(RefreshRequirements { slots: 1 << 40, ..RefreshRequirements::default() }).to_string();
        assert!(text.contains("slots do not fit"), "{text}");
        let wrong = [f64::NAN, 0.0, 41.0];
        for precision_bits in wrong {
            let error = refused(RefreshRequirements { precision_bits, ..RefreshRequirements::default() });
            assert!(matches!(error, Error::OutOfRange(_)), "{error}");
        }
        assert!(matches!(
            refused(RefreshRequirements { depth: usize::MAX, ..RefreshRequirements::default() }),
            Error::OutOfRange(_)
        ));
    }

    /// Sets of full size: seconds each. Every requirement is met, and what is found is printed.
    #[test]
    fn full_size_requirements() {
        if std::env::var_os("WINDLASS_NIGHTLY").is_none() {
            return;
        }
        let cases = [
            (1 << 15, 10, 25.0, 1),
            (1 << 15, 15, 20.0, 1),
            (1 << 14, 3, 15.0, 1),
            (256, 10, 25.0, 1),
            (4096, 5, 18.0, 1),
            (1 << 15, 5, 20.0, 3),
            (256, 8, 22.0, 2),
            (256, 5, 20.0, 16),
        ];
        for (slots, depth, precision_bits, parties) in cases {
            let clock = std::time::Instant::now();
            let requirements = RefreshRequirements { slots, depth, precision_bits, max_keys: Some(10), parties };
            let plan = RefreshPlan::choose(&requirements).unwrap();
            println!("{requirements:?}, {:.1?}\n{}\n", clock.elapsed(), plan.explain());
            let error = plan.error().unwrap();
            assert!(error.deviation() + error.systematic <= (-precision_bits).exp2());
            assert!(plan.spec().slots >= slots && plan.spec().depth == depth);
            assert!(plan.context().rlwe().params().security().bits >= 128.0);
        }
    }
}

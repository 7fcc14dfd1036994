//! A refreshing circuit: a ring without tuning, and a random bootstrapping for it.

use std::sync::Arc;

use windlass::bootstrap::{
    BootstrapError, BootstrapPlan, BootstrapSpec, Encapsulation, FrontEnd, Mode, Order, Partition, Transform, Unpacking,
};
use windlass::circuits::{DIGIT_METHODS, Method};
use windlass::rlwe::{RlweError, SecretDistribution};
use windlass::{Context, Error, Params};
use windlass_papers::halevi_shoup_2015::NearPrimePower;
use windlass_papers::integer_valued::IntegerValued;

use super::dice::Dice;
use super::exact::work;
use super::judge::Judge;
use super::plans::Plans;
use super::setting::{Setting, chosen, dimension};

/// Powers of two, primes, prime powers and products, in which a refresh takes little.
const RINGS: [u64; 24] =
    [16, 32, 64, 128, 256, 15, 21, 24, 31, 33, 35, 40, 45, 49, 51, 56, 60, 63, 73, 75, 85, 91, 93, 105];

const PRIMES: [u64; 13] = [2, 2, 2, 3, 3, 5, 7, 13, 17, 31, 41, 127, 257];

/// Of so many drawn sets one at least can be bootstrapped.
const TRIES: usize = 400;

/// Runs one circuit on a server that refreshes, by itself and when it is asked to.
pub fn run(mut dice: Dice, mut judge: Judge, steps: usize) -> Judge {
    let Some((setting, plan)) = (0..TRIES).find_map(|_| draw(&mut dice, &mut judge)) else {
        judge.refusal(false, format!("no bootstrapping of {TRIES} that were drawn"));
        return judge;
    };
    judge.note(format!("{}, {:?}", setting.describe(), plan.spec()));
    match Plans::draw(&mut dice, &setting, Some(plan)) {
        Ok(plans) => work(dice, judge, (setting, plans), steps, false),
        Err(error) => {
            judge.refusal(false, format!("plans: {error}"));
            judge
        }
    }
}

/// A set with its plan; none where this one cannot be, which has reasons of its own.
fn draw(dice: &mut Dice, judge: &mut Judge) -> Option<(Setting, Arc<BootstrapPlan>)> {
    let spec = spec(dice);
    let described = format!("{spec:?}");
    let planned = params(dice).and_then(|params| Context::for_bootstrapping(params, spec)).and_then(|context| {
        let plan = context.bootstrapping()?;
        Ok((context, plan))
    });
    match planned {
        Ok((context, plan)) => return Some((Setting::around(context), plan)),
        Err(
            Error::Rlwe(RlweError::SpecialModulusTooSmall { .. })
            | Error::OutOfRange(_)
            | Error::Unplannable { .. }
            | Error::Bootstrap(
                BootstrapError::ChainTooShort { .. }
                | BootstrapError::EphemeralWeight { .. }
                | BootstrapError::Unsupported { .. },
            ),
        ) => judge.counts.impossible_sets += 1,
        Err(error) => judge.refusal(false, format!("bootstrapping by {described}: {error}")),
    }
    None
}

/// A chain that is long enough for most bootstrappings of rings as small as these.
fn params(dice: &mut Dice) -> Result<Params, Error> {
    let m = dice.pick(&RINGS);
    let p = loop {
        let p = dice.pick(&PRIMES);
        if m % p != 0 {
            break p;
        }
    };
    let most = (1..=4).rev().find(|&r| p.pow(r) <= 1 << 8).unwrap_or(1);
    let r = 1 + dice.below(most.into()) as u32;
    let q_prime_bits = vec![dice.pick(&[45, 50]); 12 + dice.index(11)];
    let secret = match dice.below(3) {
        0 => SecretDistribution::Sparse { weight: 1 + dice.below(dimension(m).into()) as u32 },
        _ => SecretDistribution::Ternary,
    };
    let special = 4 + dice.index(3);
    // The library chooses the order of slots that bootstrapping needs.
    chosen(dice, (m, p, r), (q_prime_bits, special), secret, None)
}

/// A random bootstrapping: all choices except partitions by hand.
fn spec(dice: &mut Dice) -> BootstrapSpec {
    let methods: Vec<Method> = DIGIT_METHODS.iter().map(|&method| Method::Of(method)).collect();
    let digits = match dice.below(3) {
        0 => dice.pick(&methods),
        1 if dice.once_in(4) => Method::Of(&IntegerValued),
        _ => Method::Automatic,
    };
    BootstrapSpec {
        mode: dice.pick(&[Mode::Thin, Mode::Thin, Mode::Packed]),
        front_end: dice.pick(&[FrontEnd::PrimePower, FrontEnd::PrimePower, NearPrimePower::FRONT_END]),
        digits,
        unpacking: dice.pick(&[
            Unpacking::Automatic,
            Unpacking::Automatic,
            Unpacking::Constants,
            Unpacking::Monomials,
            Unpacking::MonomialsInSlots,
        ]),
        order: dice.pick(&[Order::Automatic, Order::ToCoefficientsFirst, Order::ToCoefficientsLast]),
        transform: dice.pick(&[Transform::AUTOMATIC, Transform::AUTOMATIC, Transform::RADIX2, Transform::BRUUN]),
        partition: dice.pick(&[
            Partition::Standard,
            Partition::Standard,
            Partition::LeastTime,
            Partition::MostCapacity,
            Partition::Single,
        ]),
        ephemeral_weight: 1 + dice.below(24) as u32,
        encapsulation: dice.pick(&[Encapsulation::SpecialPrimes, Encapsulation::Digits]),
        failure_bits: dice.pick(&[64.0, 128.0]),
        ..BootstrapSpec::default()
    }
}

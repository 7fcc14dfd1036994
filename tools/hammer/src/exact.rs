//! A circuit of exact integers: random operations on a handful of ciphertexts.

use windlass::Error;

use super::dice::Dice;
use super::judge::Judge;
use super::plans::Plans;
use super::setting::{Setting, Size};
use super::world::World;

/// Runs one circuit; what it finds is with the judge.
pub fn run(mut dice: Dice, mut judge: Judge, size: Size, off_by_one: bool) -> Judge {
    let setting = Setting::draw(&mut dice, size, &mut judge);
    judge.note(setting.describe());
    let plans = match Plans::draw(&mut dice, &setting, None) {
        Ok(plans) => plans,
        Err(error) => {
            judge.refusal(false, format!("plans: {error}"));
            return judge;
        }
    };
    let steps = if size == Size::Tiny { 6 } else { 12 + dice.index(30) };
    work(dice, judge, (setting, plans), steps, off_by_one)
}

/// Keys for these plans and so many steps under them.
pub fn work(dice: Dice, judge: Judge, (setting, plans): (Setting, Plans), steps: usize, off_by_one: bool) -> Judge {
    let spare = judge.clone();
    let mut world = match World::new(dice, judge, setting, plans) {
        Ok(world) => world,
        Err(error) => {
            let mut judge = spare;
            judge.refusal(false, format!("keys: {error}"));
            return judge;
        }
    };
    world.off_by_one = off_by_one;
    for _ in 0..steps {
        if let Err(error) = step(&mut world) {
            world.judge.refusal(false, format!("{error}"));
        }
    }
    for value in world.values.clone() {
        world.judge.note("at the end");
        world.check_decryption(&value);
    }
    world.judge
}

fn step(world: &mut World) -> Result<(), Error> {
    if world.values.len() < 2 {
        return world.fresh();
    }
    if world.plans.bootstrapping.is_some() && world.dice.once_in(4) {
        return if world.dice.once_in(4) { world.refresh_several() } else { world.refresh() };
    }
    if world.dice.is_adversarial() && world.dice.once_in(8) {
        return world.known();
    }
    match world.dice.below(41) {
        0..=3 => world.fresh(),
        4..=7 => world.sum(),
        8..=9 => world.scaled(),
        10..=12 => world.with_plain(),
        13..=17 => world.product(),
        18..=19 => world.automorphism(),
        20..=24 => world.linear(),
        25..=26 => world.polynomial(),
        27 => world.function(),
        28..=30 => world.many(),
        31 => world.inner_product(),
        32..=33 => world.level(),
        34 => world.other_scheme(),
        35 => world.division(),
        36..=37 => world.file(),
        38 => world.seeded_file(),
        39 => world.mixtures(),
        _ => world.removal(),
    }
}

//! From the front end to the end: the ways that a ciphertext comes apart.

use rayon::prelude::*;

use super::{Bootstrapper, Steps};
use crate::bootstrap::maps::Packing;
use crate::bootstrap::packed::{self, Way};
use crate::bootstrap::plan::{BootstrapPlan, DIGITS, JOIN, JOIN_SLOTS, REPACK, SPLIT, SPLIT_SLOTS, UNPACK};
use crate::bootstrap::splitting::{PreparedTree, Tree, Visitor};
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::plaintext::Plaintext;
use crate::schemes::{Ciphertext, Constant, Engine};

/// [`Way`] with its constants converted.
pub(super) enum PreparedWay {
    Thin,
    Constants { unpacking: Vec<Constant>, repacking: Vec<Constant> },
    Monomials { elements: EngineTree, slots: EngineTree },
}

type EngineTree = PreparedTree<Engine, Engine>;

impl PreparedWay {
    pub fn new(plan: &BootstrapPlan, working: &Engine, message: &Engine) -> Result<Self> {
        let constants = |engine: &Engine, level: usize, plaintexts: Vec<Plaintext>| -> Result<Vec<Constant>> {
            plaintexts.par_iter().map(|plaintext| engine.prepare_at(plaintext, level)).collect()
        };
        let tree = |tree: &Tree| tree.prepare(working, message);
        Ok(match &plan.way {
            Way::Thin => Self::Thin,
            Way::Constants { packing, levels } => Self::Constants {
                unpacking: constants(working, levels[0], packing.unpacking(&plan.working)?)?,
                repacking: constants(message, levels[1], packing.repacking(&plan.message)?)?,
            },
            Way::Monomials { elements, slots } => Self::Monomials { elements: tree(elements)?, slots: tree(slots)? },
        })
    }
}

fn lowered(engine: &Engine, ct: &Ciphertext, level: usize) -> Result<Ciphertext> {
    engine.switch_modulus(ct, ct.level().min(level))
}

/// At most at a level of the tree, if it has any work at all.
fn lowered_for(tree: &Tree, level: usize, engine: &Engine, ct: Ciphertext) -> Result<Ciphertext> {
    if tree.splits.is_empty() { Ok(ct) } else { lowered(engine, &ct, level) }
}

impl Bootstrapper {
    /// Everything between the front end and the end.
    pub(super) fn without_error(&self, x: Ciphertext, steps: &mut Steps) -> Result<Ciphertext> {
        match (&self.way, &self.plan.way) {
            (PreparedWay::Constants { unpacking, repacking }, Way::Constants { packing, levels }) => {
                self.by_constants(x, packing, *levels, [unpacking, repacking], steps)
            }
            (PreparedWay::Monomials { elements, slots }, Way::Monomials { elements: tree, slots: inner }) => {
                let x = lowered_for(tree, tree.split_level, &self.working, x)?;
                let mut visitor = Elements { bootstrapper: self, steps, tree, slots, inner };
                elements.walk((&self.working, &self.message), x, &mut visitor)
            }
            _ => {
                let x = self.all_to_slots(x, steps)?;
                self.without_digits(x, steps)
            }
        }
    }

    fn by_constants(
        &self,
        x: Ciphertext,
        packing: &Packing,
        levels: [usize; 2],
        [unpacking, repacking]: [&[Constant]; 2],
        steps: &mut Steps,
    ) -> Result<Ciphertext> {
        let x = self.all_to_slots(x, steps)?;
        steps.next(UNPACK, &x)?;
        let x = lowered(&self.working, &x, levels[0])?;
        let parts = packed::unpack(&self.working, unpacking, packing.index(), &x)?;
        let removed = |part: Ciphertext| lowered(&self.message, &self.without_digits(part, steps)?, levels[1]);
        let parts: Vec<Ciphertext> = parts.into_iter().map(removed).collect::<Result<_>>()?;
        steps.next(REPACK, &parts[0])?;
        let x = packed::repack(&self.message, repacking, &parts)?;
        self.all_to_coefficients(x, steps)
    }

    fn without_digits(&self, x: Ciphertext, steps: &mut Steps) -> Result<Ciphertext> {
        // One coefficient of every slot: trace, unpacking and splitting end in the integers.
        let x = x.assume_integers();
        steps.next(DIGITS, &x)?;
        self.plan.digits.apply(&self.working, &self.working.reduce_level(&x, f64::INFINITY)?)
    }
}

/// Each element goes to the slots, there comes apart into integers, and goes back.
struct Elements<'a, 's, 'o> {
    bootstrapper: &'a Bootstrapper,
    steps: &'s mut Steps<'o>,
    tree: &'a Tree,
    slots: &'a EngineTree,
    inner: &'a Tree,
}

impl Visitor<Engine, Engine> for Elements<'_, '_, '_> {
    fn splitting(&mut self, ct: &Ciphertext) -> Result<()> {
        self.steps.next(SPLIT, ct)
    }

    fn part(&mut self, part: Ciphertext) -> Result<Ciphertext> {
        let bootstrapper = self.bootstrapper;
        let (working, message) = (&bootstrapper.working, &bootstrapper.message);
        let x = lowered_for(self.inner, self.inner.split_level, working, bootstrapper.all_to_slots(part, self.steps)?)?;
        let mut visitor = InSlots { bootstrapper, steps: &mut *self.steps, tree: self.inner };
        let x = self.slots.walk((working, message), x, &mut visitor)?;
        let x = bootstrapper.all_to_coefficients(x, self.steps)?;
        lowered_for(self.tree, self.tree.join_level, message, x)
    }

    fn joining(&mut self, ct: &Ciphertext) -> Result<()> {
        self.steps.next(JOIN, ct)
    }
}

/// Integers in the slots.
struct InSlots<'a, 's, 'o> {
    bootstrapper: &'a Bootstrapper,
    steps: &'s mut Steps<'o>,
    tree: &'a Tree,
}

impl Visitor<Engine, Engine> for InSlots<'_, '_, '_> {
    fn splitting(&mut self, ct: &Ciphertext) -> Result<()> {
        self.steps.next(SPLIT_SLOTS, ct)
    }

    fn part(&mut self, part: Ciphertext) -> Result<Ciphertext> {
        let x = self.bootstrapper.without_digits(part, self.steps)?;
        lowered_for(self.tree, self.tree.join_level, &self.bootstrapper.message, x)
    }

    fn joining(&mut self, ct: &Ciphertext) -> Result<()> {
        self.steps.next(JOIN_SLOTS, ct)
    }
}

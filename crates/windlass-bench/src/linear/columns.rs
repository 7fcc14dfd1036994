//! The columns of the tables: which strategy, hoisting and keys.

use windlass::circuits::{HoistMode, PlanSpec, Strategy};

use super::kinds::Kind;

/// One column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name in the paper, or ours.
    pub name: String,
    /// What is asked of the planner.
    pub spec: PlanSpec,
    /// Whether it is measured on several threads.
    pub threaded: bool,
    /// Whether it is ours: measured with constants as coefficients rather than left out for want of
    /// memory.
    pub ours: bool,
}

impl Column {
    /// A column of any strategy.
    pub fn new(name: &str, strategy: Strategy, hoisting: HoistMode) -> Self {
        let spec = PlanSpec { strategy, hoisting, constant_bytes: usize::MAX, ..PlanSpec::default() };
        Self { name: name.into(), spec, threaded: false, ours: false }
    }

    /// The columns of Table 2 or 3: `[key set]/[baby-giant or full][hoisting or not]`, then ours
    /// (`+`: sums in base QP).
    pub fn of(kind: Kind, size: usize, bad: bool) -> Vec<Self> {
        let babies = Some((size as f64).sqrt().ceil() as usize);
        let column = Self::new;
        let (single, off, double) = (HoistMode::Single, HoistMode::Off, HoistMode::Double);
        // Algorithm 2 in bad dimensions.
        let baby_giant = match bad {
            true => Strategy::BABY_GIANT_INNER.with_babies(babies),
            false => Strategy::BABY_GIANT.with_babies(babies),
        };
        let two_level = Strategy::TWO_LEVEL_HOISTED.with_babies(babies);
        let mut best = column("best", Strategy::AUTOMATIC, double);
        (best.threaded, best.ours) = (true, true);
        let mut minimal = column("minimal", Strategy::HORNER, double);
        minimal.ours = true;
        let paper = match kind {
            Kind::MatMul1D => {
                minimal.spec.max_keys = Some(if bad { 3 } else { 2 });
                vec![
                    column("M/B", Strategy::HORNER.with_babies(babies), off),
                    column("M/F", Strategy::ITERATION, off),
                    column("B/BH", baby_giant, single),
                    column("B/BN", baby_giant, off),
                    column("B/FH", two_level, single),
                    column("B/FN", two_level, off),
                    column("F/FH", Strategy::BLOCK, single),
                    column("F/FN", Strategy::BLOCK, off),
                    column("B/B+", baby_giant, double),
                    column("F/F+", Strategy::BLOCK, double),
                ]
            }
            Kind::Block => {
                minimal.spec.max_keys = Some(4);
                vec![
                    column("M/", Strategy::ITERATION, off),
                    column("B/H", two_level, single),
                    column("B/N", two_level, off),
                    column("F/H", Strategy::BLOCK, single),
                    column("F/N", Strategy::BLOCK, off),
                    column("F/+", Strategy::BLOCK, double),
                ]
            }
            Kind::Full | Kind::BlockFull => {
                minimal.spec.max_keys = Some(6);
                Vec::new()
            }
        };
        [best, minimal].into_iter().chain(paper).collect()
    }
}

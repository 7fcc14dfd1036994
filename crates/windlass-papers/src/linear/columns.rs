//! The columns of the tables: which strategy, hoisting and keys.

use std::collections::BTreeSet;

use windlass::circuits::{HoistMode, PlanSpec, Strategy};

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

    /// The columns of Table 2 (`map` is `1d`) or 3 (`block`), of other maps ours alone.
    ///
    /// Names: `[key set]/[baby-giant or full][hoisting or not]`; of ours `+` has sums in base QP,
    /// `default` is the best plan by the ring's default keys, as in Table 4.
    pub fn of(map: &str, size: usize, bad: bool, default_keys: BTreeSet<u64>) -> Vec<Self> {
        let babies = Some((size as f64).sqrt().ceil() as usize);
        let column = Self::new;
        let (single, off, double) = (HoistMode::Single, HoistMode::Off, HoistMode::Double);
        // Algorithm 2 in bad dimensions.
        let baby_giant = match bad {
            true => Strategy::BABY_GIANT_INNER.with_babies(babies),
            false => Strategy::BABY_GIANT.with_babies(babies),
        };
        // Full multiplication with baby-step keys; ⌈√·⌉ of the axis that is hoisted.
        let (two_level, one_by_one) = (Strategy::TWO_LEVEL_HOISTED, Strategy::ONE_BY_ONE);
        let mut best = column("best", Strategy::AUTOMATIC, double);
        (best.threaded, best.ours) = (true, true);
        let mut default = best.clone();
        default.name = "default".into();
        default.spec.keys = Some(default_keys);
        let mut minimal = column("minimal", Strategy::HORNER, double);
        minimal.ours = true;
        let paper = match map {
            "1d" => {
                minimal.spec.max_keys = Some(if bad { 3 } else { 2 });
                vec![
                    column("M/B", Strategy::HORNER.with_babies(babies), off),
                    column("M/F", Strategy::ITERATION, off),
                    column("B/BH", baby_giant, single),
                    column("B/BN", baby_giant, off),
                    column("B/FH", two_level, single),
                    column("B/FN", one_by_one, off),
                    column("F/FH", Strategy::BLOCK, single),
                    column("F/FN", Strategy::BLOCK, off),
                    column("B/B+", baby_giant, double),
                    column("F/F+", Strategy::BLOCK, double),
                ]
            }
            "block" => {
                minimal.spec.max_keys = Some(4);
                vec![
                    column("M/", Strategy::ITERATION, off),
                    column("B/H", two_level, single),
                    column("B/N", one_by_one, off),
                    column("F/H", Strategy::BLOCK, single),
                    column("F/N", Strategy::BLOCK, off),
                    column("B/+", Strategy::TWO_LEVEL_SHARED, double),
                    column("F/+", Strategy::BLOCK, double),
                ]
            }
            _ => {
                minimal.spec.max_keys = Some(6);
                Vec::new()
            }
        };
        [best, default, minimal].into_iter().chain(paper).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass::circuits::{LinearMap, LinearPlan};
    use windlass::ring::kernels::Isa;
    use windlass::ring::slots::SlotRing;
    use windlass::rlwe::KeyStrategy;

    use super::*;

    #[test]
    fn columns_of_block_maps_are_the_papers() {
        // D = 18 in 5 baby and 4 giant steps, d = 7 in 3 and 3.
        let ring = Arc::new(SlotRing::new(127, 2, 1, Isa::Portable).unwrap());
        let entry = |c: usize, i: usize, k: usize, out: &mut [u64]| {
            out.iter_mut().enumerate().for_each(|(x, out)| *out = (c + i * i + 3 * k + x * (i + k) + x / 3) as u64 & 1);
        };
        let map = LinearMap::block_matmul_1d(&ring, 0, entry).unwrap();
        let of = |name: &str| {
            let keys = KeyStrategy::Default.of_ring(ring.hypercube());
            let columns = Column::of("block", 18, false, keys);
            let column = columns.into_iter().find(|column| column.name == name).unwrap();
            let count = LinearPlan::new(&map, &column.spec).unwrap().count();
            (count.hoists, count.hoisted_automorphisms, count.automorphisms)
        };
        assert_eq!(of("F/H"), (1, 17, 6));
        assert_eq!(of("F/N"), (0, 0, 17 + 6));
        assert_eq!(of("B/H"), (4, 17, 8));
        assert_eq!(of("B/N"), (0, 0, 27 + 8));
        assert_eq!(of("M/"), (0, 0, 17 + 6));
        // Every power of θ and of σ has a key: nothing takes two steps.
        let (hoists, hoisted, plain) = of("default");
        assert!(hoists >= 1 && hoisted + plain <= 17 + 6, "{hoists} {hoisted} {plain}");
    }
}

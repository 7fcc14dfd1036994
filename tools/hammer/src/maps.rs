//! Linear maps in two forms: what the library is asked for, and a list of entries for the oracle.

use std::sync::Arc;

use windlass::circuits::{ConstantForm, HoistMode, LinearMap, LinearPlan, PlanSpec, Strategy};
use windlass::ring::slots::SlotRing;
use windlass::{Error, Plaintext};

use super::dice::Dice;
use super::oracle::{Oracle, Values, gcd};

/// A step of a map as the oracle takes it.
enum MapStep {
    /// (row, column, element of E).
    Matrix(Vec<(usize, usize, Vec<u64>)>),
    /// σ^k.
    Frobenius(u64),
    /// Σ_f σ^f.
    Trace,
    /// A d × d matrix for each slot, row-major, on coefficients.
    Slotwise(Vec<Vec<u64>>),
    /// θ_u.
    Automorphism(u64),
    /// The sum of two.
    Sum(Box<[MapStep; 2]>),
}

/// A map, a plan for it and what it does.
pub struct Map {
    pub name: String,
    pub plan: LinearPlan,
    /// Whether integers stay integers.
    pub keeps_integers: bool,
    steps: Vec<MapStep>,
}

impl Map {
    /// Any kind of map that the ring has, by any strategy.
    pub fn draw(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>) -> Result<Self, Error> {
        let mut drawn = Drawn::draw(dice, oracle, ring)?;
        match dice.below(6) {
            0 => {
                let other = Drawn::draw(dice, oracle, ring)?;
                if drawn.map.support().len() * other.map.support().len() <= 400 {
                    drawn = drawn.after(other)?;
                }
            }
            1 => drawn = drawn.plus(Drawn::draw(dice, oracle, ring)?)?,
            _ => {}
        }
        let spec = spec(dice, drawn.map.support().len());
        let plan = LinearPlan::new(&drawn.map, &spec)?;
        let name = format!("{} by {} ({:?}, {:?})", drawn.name, spec.strategy, spec.hoisting, spec.constants);
        Ok(Self { name, plan, keeps_integers: drawn.keeps_integers, steps: drawn.steps })
    }

    /// The image of a vector.
    pub fn image(&self, oracle: &Oracle, x: &Values) -> Values {
        self.steps.iter().fold(x.clone(), |x, step| step.image(oracle, &x))
    }
}

/// A plan's specification.
fn spec(dice: &mut Dice, terms: usize) -> PlanSpec {
    let strategies: Vec<Strategy> = Strategy::candidates().chain([Strategy::AUTOMATIC]).collect();
    let mut strategy = dice.pick(&strategies);
    if dice.once_in(3) {
        strategy = strategy.with_babies(1 + dice.index(terms.max(1)));
    }
    PlanSpec {
        strategy,
        hoisting: dice.pick(&[HoistMode::Double, HoistMode::Double, HoistMode::Single, HoistMode::Off]),
        constants: dice.pick(&[ConstantForm::Automatic, ConstantForm::Evaluation, ConstantForm::Coefficients]),
        ..PlanSpec::default()
    }
}

impl MapStep {
    fn image(&self, oracle: &Oracle, x: &Values) -> Values {
        match self {
            Self::Matrix(entries) => oracle.matrix(x, entries),
            Self::Frobenius(k) => oracle.frobenius(x, *k),
            Self::Trace => (1..oracle.d as u64).fold(x.clone(), |sum, k| oracle.add(&sum, &oracle.frobenius(x, k))),
            Self::Slotwise(matrices) => slotwise(oracle, matrices, x),
            Self::Automorphism(u) => oracle.automorphism(x, *u),
            Self::Sum(steps) => oracle.add(&steps[0].image(oracle, x), &steps[1].image(oracle, x)),
        }
    }
}

/// Row by row Σ_j a_{ij}·x_j on the coefficients of every slot.
fn slotwise(oracle: &Oracle, matrices: &[Vec<u64>], x: &Values) -> Values {
    let (d, t) = (oracle.d, u128::from(oracle.t));
    let mut out = Vec::with_capacity(x.len());
    for (matrix, value) in matrices.iter().zip(x.chunks(d)) {
        for row in matrix.chunks(d) {
            let sum: u128 = row.iter().zip(value).map(|(&a, &x)| u128::from(a) * u128::from(x) % t).sum();
            out.push((sum % t) as u64);
        }
    }
    out
}

/// A map before it is planned.
struct Drawn {
    name: String,
    map: LinearMap,
    keeps_integers: bool,
    steps: Vec<MapStep>,
}

impl Drawn {
    fn draw(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>) -> Result<Self, Error> {
        let small = oracle.d <= 8 && oracle.slots() <= 64;
        match dice.below(11) {
            0 | 1 => Self::moved(dice, oracle, ring),
            2 => Self::on_lines(dice, oracle, ring, false),
            3 => Self::on_lines(dice, oracle, ring, true),
            4 => Self::sparse(dice, oracle, ring),
            5 => Self::permutation(dice, oracle, ring),
            6 => Self::diagonal(dice, oracle, ring),
            7 => {
                let k = dice.index(2 * oracle.d);
                Self::integral(format!("σ^{k}"), LinearMap::frobenius(ring, k)?, MapStep::Frobenius(k as u64))
            }
            8 if oracle.d <= 24 => Self::integral("trace".into(), LinearMap::trace(ring)?, MapStep::Trace),
            9 if small => Self::in_slots(dice, oracle, ring),
            _ => {
                let unit = unit(dice, ring.m());
                let map = LinearMap::automorphism(ring, unit)?;
                Self::integral(format!("θ_{unit}"), map, MapStep::Automorphism(unit))
            }
        }
    }

    fn integral(name: String, map: LinearMap, step: MapStep) -> Result<Self, Error> {
        Ok(Self { name, map, keeps_integers: true, steps: vec![step] })
    }

    /// A rotation along a line, or a shift.
    fn moved(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>) -> Result<Self, Error> {
        if oracle.lines().is_empty() {
            return Self::diagonal(dice, oracle, ring);
        }
        let s = dice.index(oracle.lines().len());
        let line = oracle.lines()[s];
        let (size, cyclic) = (line.size as i64, dice.once_in(2));
        let amount = dice.within(-size, size);
        let map = if cyclic { LinearMap::rotation(ring, s, amount)? } else { LinearMap::shift(ring, s, amount)? };
        let mut entries = Vec::new();
        for column in 0..oracle.slots() {
            let at = (column / line.stride % line.size) as i64;
            let to = at + amount;
            if cyclic || (0..size).contains(&to) {
                let to = to.rem_euclid(size);
                let row = (column as i64 + (to - at) * line.stride as i64) as usize;
                entries.push((row, column, one(oracle.d)));
            }
        }
        let name = format!("{} by {amount} in dimension {s}", if cyclic { "rotation" } else { "shift" });
        Self::integral(name, map, MapStep::Matrix(entries))
    }

    /// A matrix for every line of a dimension, of integers or of elements.
    fn on_lines(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>, elements: bool) -> Result<Self, Error> {
        if oracle.lines().is_empty() {
            return Self::diagonal(dice, oracle, ring);
        }
        let s = dice.index(oracle.lines().len());
        let (line, d, count) = (oracle.lines()[s], oracle.d, oracle.slots());
        // Lines are numbered in the order of their first slot.
        let firsts: Vec<usize> = (0..count).filter(|slot| slot / line.stride % line.size == 0).collect();
        let width = if elements { d } else { 1 };
        let mut entries = Vec::new();
        let mut table = Vec::new();
        for &first in &firsts {
            for i in 0..line.size {
                for k in 0..line.size {
                    let mut element = dice.residues(width, oracle.t);
                    table.push(element.clone());
                    element.resize(d, 0);
                    entries.push((first + i * line.stride, first + k * line.stride, element));
                }
            }
        }
        let at = |c: usize, i: usize, k: usize| &table[(c * line.size + i) * line.size + k];
        let map = match elements {
            true => LinearMap::matmul_1d_extension(ring, s, |c, i, k, out| out.copy_from_slice(at(c, i, k)))?,
            false => LinearMap::matmul_1d(ring, s, |c, i, k| at(c, i, k)[0])?,
        };
        let kind = if elements { "elements" } else { "integers" };
        let name = format!("matrices of {kind} in dimension {s}");
        Ok(Self { name, map, keeps_integers: !elements, steps: vec![MapStep::Matrix(entries)] })
    }

    /// Some integers anywhere.
    fn sparse(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>) -> Result<Self, Error> {
        let count = oracle.slots();
        let integers: Vec<(usize, usize, u64)> = (0..dice.index(2 * count + 2))
            .map(|_| (dice.index(count), dice.index(count), dice.below(oracle.t)))
            .collect();
        let map = LinearMap::from_sparse(ring, integers.iter().copied())?;
        let mut entries = Vec::new();
        for (row, column, value) in integers {
            let mut element = one(oracle.d);
            element[0] = value;
            entries.push((row, column, element));
        }
        Self::integral("sparse matrix".into(), map, MapStep::Matrix(entries))
    }

    fn permutation(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>) -> Result<Self, Error> {
        let mut sources: Vec<usize> = (0..oracle.slots()).collect();
        for last in (1..sources.len()).rev() {
            sources.swap(last, dice.index(last + 1));
        }
        let map = LinearMap::permutation(ring, &sources)?;
        let entries = sources.iter().enumerate().map(|(row, &source)| (row, source, one(oracle.d))).collect();
        Self::integral("permutation".into(), map, MapStep::Matrix(entries))
    }

    fn diagonal(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>) -> Result<Self, Error> {
        let values = dice.residues(oracle.slots() * oracle.d, oracle.t);
        let map = LinearMap::diagonal(&Plaintext::from_slots(ring, &values)?);
        let entries = values.chunks(oracle.d).enumerate().map(|(slot, x)| (slot, slot, x.to_vec())).collect();
        let name = "diagonal of elements".into();
        Ok(Self { name, map, keeps_integers: oracle.d == 1, steps: vec![MapStep::Matrix(entries)] })
    }

    /// A Z_t-linear map on the coefficients of every slot.
    fn in_slots(dice: &mut Dice, oracle: &Oracle, ring: &Arc<SlotRing>) -> Result<Self, Error> {
        let matrices: Vec<Vec<u64>> =
            (0..oracle.slots()).map(|_| dice.residues(oracle.d * oracle.d, oracle.t)).collect();
        let map = LinearMap::slotwise(ring, |slot, out| out.copy_from_slice(&matrices[slot]))?;
        let keeps_integers = oracle.d == 1;
        Ok(Self { name: "maps in the slots".into(), map, keeps_integers, steps: vec![MapStep::Slotwise(matrices)] })
    }

    /// This map after another.
    fn after(mut self, first: Self) -> Result<Self, Error> {
        let map = self.map.compose(&first.map)?;
        let mut steps = first.steps;
        steps.append(&mut self.steps);
        let keeps_integers = self.keeps_integers && first.keeps_integers;
        Ok(Self { name: format!("{} after {}", self.name, first.name), map, keeps_integers, steps })
    }

    /// The sum of both, where each is one step.
    fn plus(self, other: Self) -> Result<Self, Error> {
        let map = self.map.add(&other.map)?;
        let keeps_integers = self.keeps_integers && other.keeps_integers;
        let name = format!("{} plus {}", self.name, other.name);
        let [Some(a), Some(b)] = [self.steps, other.steps].map(|steps| steps.into_iter().next()) else {
            unreachable!("a drawn map has one step")
        };
        Ok(Self { name, map, keeps_integers, steps: vec![MapStep::Sum(Box::new([a, b]))] })
    }
}

/// 1 in E.
fn one(d: usize) -> Vec<u64> {
    let mut one = vec![0; d];
    one[0] = 1;
    one
}

/// A unit modulo m.
pub fn unit(dice: &mut Dice, m: u64) -> u64 {
    loop {
        let unit = 1 + dice.below(m - 1);
        if gcd(unit, m) == 1 {
            return unit;
        }
    }
}

//! Inverse maps.
//!
//! At the points of the canonical embedding a map acts as `T(α)(ζ^u) = Σ_t κ_t(ζ^u)·α(ζ^{ut})`: a
//! square matrix over E whose rows and columns are the units u. It falls apart into blocks, the
//! connected components of `u — ut` for `κ_t(ζ^u) ≠ 0` (a hypercolumn for one-dimensional maps,
//! good or bad; a hypercolumn with its Frobenius powers for block maps), which are inverted one by
//! one. Rows at `u·p^f` are Frobenius images of rows at `u`, so only blocks that hold slots are
//! needed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::{GaloisRing, SlotRing};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::plaintext::Plaintext;

use crate::linear::map::{LinearMap, inverse_mod, power_mod};

/// An element of E.
type Element = Vec<u64>;

impl LinearMap {
    /// The map `T^{-1}` with `T^{-1}∘T = 1`.
    ///
    /// Cost: k³ products in `E` for each block of k units (k = D for a one-dimensional map over
    /// `E`, D·d for a block map), so it is meant for blocks of some hundreds. Errors:
    /// [`Error::SingularMap`] if there is no inverse.
    pub fn inverse(&self) -> Result<Self> {
        let slots = self.slot_ring();
        slots.check_slots()?;
        let m = slots.m();
        let rows = Rows::of(self);
        let columns: Vec<BTreeMap<u64, Vec<(usize, Element)>>> = rows
            .blocks()
            .into_par_iter()
            .map(|block| {
                let inverse = invert(slots.galois(), rows.matrix(&block))?;
                let mut terms: BTreeMap<u64, Vec<(usize, Element)>> = BTreeMap::new();
                for (&unit, row) in block.iter().zip(inverse) {
                    let (slot, power) = rows.place(unit);
                    if power == 0 {
                        let back = inverse_mod(unit, m);
                        for (&column, value) in block.iter().zip(row) {
                            terms.entry(column * back % m).or_default().push((slot, value));
                        }
                    }
                }
                Ok(terms)
            })
            .collect::<Result<_>>()?;
        let mut terms: BTreeMap<u64, Vec<(usize, Element)>> = BTreeMap::new();
        for block in columns {
            block.into_iter().for_each(|(t, mut values)| terms.entry(t).or_default().append(&mut values));
        }
        let d = slots.degree();
        let encode = |(t, values): (u64, Vec<(usize, Element)>)| {
            let mut all = vec![0; slots.slots() * d];
            values.iter().for_each(|(slot, value)| all[slot * d..(slot + 1) * d].copy_from_slice(value));
            Ok((t, Plaintext::from_slots(slots, &all)?.recognised()))
        };
        Self::from_terms(slots, terms.into_par_iter().map(encode).collect::<Result<Vec<_>>>()?)
    }
}

/// The rows of a map at the units of the slots.
struct Rows<'a> {
    slot_ring: &'a Arc<SlotRing>,
    units: Vec<u64>,
    /// For each slot the `(t, κ_t(slot))` that are not zero.
    entries: Vec<Vec<(u64, Element)>>,
}

impl<'a> Rows<'a> {
    fn of(map: &'a LinearMap) -> Self {
        let (slots, d) = (map.slot_ring(), map.slot_ring().degree());
        let units = (0..slots.slots()).map(|j| slots.hypercube().evaluation_exponent(j)).collect();
        let decoded: Vec<(u64, Vec<u64>)> =
            map.terms().collect::<Vec<_>>().into_par_iter().map(|(t, constant)| (t, constant.to_slots())).collect();
        let mut entries = vec![Vec::new(); slots.slots()];
        for (t, values) in &decoded {
            for (entries, value) in entries.iter_mut().zip(values.chunks_exact(d)) {
                if value.iter().any(|&x| x != 0) {
                    entries.push((*t, value.to_vec()));
                }
            }
        }
        Self { slot_ring: slots, units, entries }
    }

    /// `(slot, f)` with `unit = u_slot·p^f`.
    fn place(&self, unit: u64) -> (usize, usize) {
        let cube = self.slot_ring.hypercube();
        // Units of slots are the inverses of group elements.
        let (slot, k) = cube.locate(inverse_mod(unit, cube.m())).expect("units stay units");
        (slot, (cube.slot_degree() - k) % cube.slot_degree())
    }

    /// The components that hold a slot, each in increasing order of units.
    fn blocks(&self) -> Vec<Vec<u64>> {
        let (m, p) = (self.slot_ring.m(), self.slot_ring.prime());
        let mut parents: Vec<u32> = (0..m.max(2) as u32).collect();
        for (entries, &unit) in self.entries.iter().zip(&self.units) {
            for f in 0..self.slot_ring.degree() as u64 {
                let from = unit * power_mod(p, f, m) % m;
                entries.iter().for_each(|(t, _)| join(&mut parents, from, from * t % m));
            }
        }
        let mut blocks: HashMap<u32, Vec<u64>> = HashMap::new();
        for &unit in &self.units {
            for f in 0..self.slot_ring.degree() as u64 {
                let unit = unit * power_mod(p, f, m) % m;
                blocks.entry(root(&mut parents, unit as u32)).or_default().push(unit);
            }
        }
        let mut blocks: Vec<Vec<u64>> =
            blocks.into_values().filter(|block| block.iter().any(|&unit| self.place(unit).1 == 0)).collect();
        blocks.iter_mut().for_each(|block| block.sort_unstable());
        blocks.sort_unstable();
        blocks
    }

    /// The matrix of one block.
    fn matrix(&self, block: &[u64]) -> Vec<Vec<Element>> {
        let (m, galois) = (self.slot_ring.m(), self.slot_ring.galois());
        let column: HashMap<u64, usize> = block.iter().enumerate().map(|(i, &unit)| (unit, i)).collect();
        let row = |&unit: &u64| {
            let (slot, power) = self.place(unit);
            let mut row = vec![vec![0; galois.degree()]; block.len()];
            for (t, value) in &self.entries[slot] {
                row[column[&(unit * t % m)]] = galois.frobenius(value, power);
            }
            row
        };
        block.iter().map(row).collect()
    }
}

fn root(parents: &mut [u32], mut unit: u32) -> u32 {
    while parents[unit as usize] != unit {
        parents[unit as usize] = parents[parents[unit as usize] as usize];
        unit = parents[unit as usize];
    }
    unit
}

fn join(parents: &mut [u32], a: u64, b: u64) {
    let (a, b) = (root(parents, a as u32), root(parents, b as u32));
    parents[a as usize] = b;
}

/// Gauss–Jordan over a local ring: a pivot must be a unit, that is, not divisible by p.
fn invert(galois: &GaloisRing, mut matrix: Vec<Vec<Element>>) -> Result<Vec<Vec<Element>>> {
    let (size, p) = (matrix.len(), galois.modulus().prime());
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|j| galois.constant(u64::from(i == j))));
    }
    let zero = |value: &[u64]| value.iter().all(|&x| x == 0);
    for step in 0..size {
        let unit = |row: &Vec<Element>| row[step].iter().any(|x| x % p != 0);
        let pivot = (step..size).find(|&i| unit(&matrix[i])).ok_or(Error::SingularMap { prime: p })?;
        matrix.swap(step, pivot);
        let inverse = galois.inverse(&matrix[step][step])?;
        let mut lead = std::mem::take(&mut matrix[step]);
        lead[step..].iter_mut().filter(|x| !zero(x)).for_each(|x| *x = galois.mul(x, &inverse));
        for row in matrix.iter_mut().filter(|row| !row.is_empty() && !zero(&row[step])) {
            let factor = row[step].clone();
            for (x, y) in row[step..].iter_mut().zip(&lead[step..]).filter(|(_, y)| !zero(y)) {
                *x = galois.sub(x, &galois.mul(&factor, y));
            }
        }
        matrix[step] = lead;
    }
    Ok(matrix.into_iter().map(|mut row| row.split_off(size)).collect())
}

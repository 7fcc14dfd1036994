//! Several ciphertexts as one: each operation is done to all of them before the next.
//!
//! A map is evaluated on a list as on one ciphertext. Keys and constants are read from memory once for
//! the list, if the evaluator can do so.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::Hypercube;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Content;
use windlass_schemes::switching::{Arithmetic, MixedRow, Switching};

/// An evaluator of lists, all of one length, which is not 0.
pub(super) struct Batched<'a, E>(pub &'a E);

impl<E: Switching> Arithmetic for Batched<'_, E> {
    type Ciphertext = Vec<E::Ciphertext>;
    type Constant = E::Constant;

    fn conductor(&self) -> u64 {
        self.0.conductor()
    }

    fn slot_order(&self) -> Option<&Arc<Hypercube>> {
        self.0.slot_order()
    }

    fn level_of(&self, list: &Self::Ciphertext) -> usize {
        list.iter().map(|a| self.0.level_of(a)).max().unwrap_or(1)
    }

    fn check_input(&self, operation: &'static str, list: &Self::Ciphertext) -> Result<()> {
        list.iter().try_for_each(|a| self.0.check_input(operation, a))
    }

    fn content(&self, list: &Self::Ciphertext) -> Content {
        list.iter().map(|a| self.0.content(a)).max().unwrap_or(Content::Elements)
    }

    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        a.par_iter().zip(b).map(|(a, b)| self.0.add(a, b)).collect()
    }

    fn zero_like(&self, list: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        list.iter().map(|a| self.0.zero_like(a)).collect()
    }

    fn multiply_constant(&self, list: &Self::Ciphertext, c: &E::Constant) -> Result<Self::Ciphertext> {
        list.par_iter().map(|a| self.0.multiply_constant(a, c)).collect()
    }
}

impl<E: Switching> Switching for Batched<'_, E> {
    type Hoisted = Vec<E::Hoisted>;
    type Extended = Vec<E::Extended>;

    fn has_key(&self, t: u64) -> bool {
        self.0.has_key(t)
    }

    fn automorphism(&self, list: &Self::Ciphertext, t: u64) -> Result<Self::Ciphertext> {
        list.par_iter().map(|a| self.0.automorphism(a, t)).collect()
    }

    fn hoist(&self, list: &Self::Ciphertext) -> Result<Self::Hoisted> {
        list.par_iter().map(|a| self.0.hoist(a)).collect()
    }

    fn hoisted_automorphisms(&self, lists: &[Self::Hoisted], t: u64) -> Result<Vec<Self::Extended>> {
        lists.iter().map(|list| self.0.hoisted_automorphisms(list, t)).collect()
    }

    fn dots_hoisted(
        &self,
        lists: &[Self::Hoisted],
        elements: &[u64],
        rows: &[MixedRow<'_, E::Constant>],
    ) -> Result<Vec<Vec<Self::Extended>>> {
        let dots = |list: &Self::Hoisted| Ok(by_row(rows.len(), self.0.dots_hoisted(list, elements, rows)?));
        lists.iter().map(dots).collect()
    }

    fn extend(&self, list: &Self::Ciphertext) -> Result<Self::Extended> {
        list.par_iter().map(|a| self.0.extend(a)).collect()
    }

    fn dot_extended(
        &self,
        inputs: &[&Self::Extended],
        rows: &[MixedRow<'_, E::Constant>],
    ) -> Result<Vec<Self::Extended>> {
        let count = inputs.first().map_or(0, |list| list.len());
        let of_one = |k: usize| {
            let inputs: Vec<&E::Extended> = inputs.iter().map(|list| &list[k]).collect();
            self.0.dot_extended(&inputs, rows)
        };
        Ok(by_row(rows.len(), (0..count).into_par_iter().map(of_one).collect::<Result<_>>()?))
    }

    fn extended_automorphisms(&self, lists: &[&Self::Extended], t: u64) -> Result<Vec<Self::Extended>> {
        lists.iter().map(|list| self.0.extended_automorphisms(&list.iter().collect::<Vec<_>>(), t)).collect()
    }

    fn add_extended_assign(&self, a: &mut Self::Extended, b: &Self::Extended) -> Result<()> {
        a.par_iter_mut().zip(b).try_for_each(|(a, b)| self.0.add_extended_assign(a, b))
    }

    fn mod_down(&self, list: Self::Extended) -> Result<Self::Ciphertext> {
        list.into_par_iter().map(|a| self.0.mod_down(a)).collect()
    }
}

/// From the results of each ciphertext to those of each row.
fn by_row<T>(rows: usize, of_ciphertexts: Vec<Vec<T>>) -> Vec<Vec<T>> {
    let mut of_rows: Vec<Vec<T>> = (0..rows).map(|_| Vec::with_capacity(of_ciphertexts.len())).collect();
    for results in of_ciphertexts {
        of_rows.iter_mut().zip(results).for_each(|(row, result)| row.push(result));
    }
    of_rows
}

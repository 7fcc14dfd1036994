//! Sums of ciphertexts in base Q·P with constants, all rows of a linear map in one pass through memory.

use windlass_ring::{Eval, Poly};
use windlass_rlwe::switching::{self, Addend, Weights};

use super::arithmetic::{added, times};
use super::automorphism::{Constant, Extended, Hoisted};
use super::ciphertext::Info;
use super::engine::Engine;
use crate::error::{Error, Result};
use crate::schemes::galois::keys_and_permutations;
use crate::switching::{MixedRow, no_terms};

impl Engine {
    /// Row by row Σ c_i·x_{j_i}.
    pub(super) fn dot_rows(&self, inputs: &[Extended], rows: &[Vec<(usize, &Constant)>]) -> Result<Vec<Extended>> {
        let Some(first) = inputs.first() else {
            return if rows.is_empty() { Ok(Vec::new()) } else { Err(no_terms()) };
        };
        for x in inputs {
            self.check("sum of products", &x.ct)?;
            self.check_alike(first, x)?;
        }
        let mut infos = Vec::with_capacity(rows.len());
        let mut sums = Vec::with_capacity(rows.len());
        for row in rows {
            infos.push(self.weighted_info(first, row.iter().map(|&(j, c)| (inputs[j].ct.info, Some(c))))?);
            let mut sum = Vec::with_capacity(row.len());
            for &(j, c) in row {
                let parts = &inputs[j].ct.parts;
                sum.push(([&parts[0], &parts[1]], &c.poly));
            }
            sums.push(sum);
        }
        let wide = self.context.rlwe().wide_basis(first.level);
        let pairs = Poly::pair_sums(self.context.rlwe().ring(), &wide, &sums);
        Ok(pairs.into_iter().zip(infos).map(|(pair, info)| first.with_pair(pair, info)).collect())
    }

    /// Row by row Σ c·θ_{t_j}(a), `None` standing for the constant 1; no t_j is 1.
    pub(super) fn dot_moved(
        &self,
        a: &Hoisted,
        elements: &[u64],
        rows: &[MixedRow<'_, Constant>],
    ) -> Result<Vec<Extended>> {
        self.check("sum of products", &a.ct)?;
        let (context, level) = (self.context.rlwe(), a.ct.level());
        let keys = keys_and_permutations(&self.keys, elements.iter().copied())?;
        let moved = Self::with_error(a.ct.info, self.wide_error(level, &a.ct.info));
        let like = Extended { ct: a.ct.with_parts(Vec::new(), moved), level };
        let mut infos = Vec::with_capacity(rows.len());
        let mut sums: Vec<Weights<'_>> = Vec::with_capacity(rows.len());
        for row in rows {
            infos.push(self.weighted_info(&like, row.iter().map(|&(_, c)| (moved, c)))?);
            sums.push(row.iter().map(|&(j, c)| (j, c.map(|c| &c.poly))).collect());
        }
        let factors = switching::extension_factors(context, level, 1);
        let addend = Addend { poly: &a.ct.parts[0], factors: &factors };
        let pairs = a.digits.weighted_sums(context, addend, &keys, &sums)?;
        Ok(pairs.into_iter().zip(infos).map(|(pair, info)| like.with_pair(pair, info)).collect())
    }

    /// What is known of a sum of products, `None` standing for the constant 1; refuses terms that do not fit together.
    fn weighted_info<'a>(
        &self,
        like: &Extended,
        terms: impl Iterator<Item = (Info, Option<&'a Constant>)>,
    ) -> Result<Info> {
        let mut sum: Option<Info> = None;
        for (info, constant) in terms {
            let term = match constant {
                None => info,
                Some(_) if info.degree != 1 => {
                    let range = "1: rescale it first".into();
                    return Err(Error::OutOfRange { what: "degree of a factor", got: 2.into(), range });
                }
                Some(c) => {
                    self.check_constant(c, like.level)?;
                    times(&info, c.factor)
                }
            };
            if let Some(sum) = sum.filter(|sum| sum.degree != term.degree) {
                let describe = |info: Info| format!("a product of degree {}", info.degree);
                let (left, right) = (describe(sum), describe(term));
                return Err(Error::ContextMismatch { operation: "sum in base QP", left, right });
            }
            sum = Some(sum.map_or(term, |sum| added(sum, term)));
        }
        sum.ok_or_else(no_terms)
    }
}

impl Extended {
    fn with_pair(&self, pair: [Poly<Eval>; 2], info: Info) -> Self {
        Self { ct: self.ct.with_parts(pair.into(), info), level: self.level }
    }
}

//! Unpacks the d coefficients of a slot into d ciphertexts, and repacks them (Halevi–Shoup 2015,
//! §4.3).

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_circuits::{ConstantForm, CostModel, LinearGrid, LinearMap, LinearPlan, PlanSpec};
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Plaintext;

/// The bases that coefficients are packed in, and how to take them apart.
///
/// Composite m, and Bruun's stages: a normal basis σ^i(θ). With θ* dual to it, `c_k = Tr(σ^k(θ*)·γ)
/// = Σ_j σ^{j+k}(θ*)·σ^j(γ)`: d constants for all k. Radix-2 stages: the transform is linear over F
/// = Z_{p^r}\[Y\] only, so the basis is ζ^k (p ≡ 1 mod 4) or ζ^k, ζ^k·√−1 (p ≡ 3 mod 4), with d²
/// constants.
#[derive(Debug, Clone)]
pub struct Packing {
    basis: Vec<Vec<u64>>,
    /// Elements of E that stand in every slot.
    constants: Vec<Vec<u64>>,
    /// `[k][j]`: which constant multiplies σ^j(γ) in c_k.
    index: Vec<Vec<usize>>,
    /// ε: what coefficients are multiplied by when they are put together again.
    repacked: Vec<Vec<u64>>,
}

impl Packing {
    /// A normal basis σ^i(θ).
    pub fn normal(slot_ring: &Arc<SlotRing>) -> Self {
        let (galois, d) = (slot_ring.galois(), slot_ring.degree());
        let (theta, dual) = galois.normal_element();
        let constants = (0..d).map(|k| galois.frobenius(&dual, k)).collect();
        let index = (0..d).map(|k| (0..d).map(|j| (j + k) % d).collect()).collect();
        let basis = (0..d).map(|k| galois.frobenius(&theta, k)).collect();
        let repacked = (0..d as u64).map(|k| galois.zeta_power(k)).collect();
        Self { basis, constants, index, repacked }
    }

    /// Powers of two: ζ^k, or ζ^k and ζ^k·√−1.
    pub fn monomial(slot_ring: &Arc<SlotRing>) -> Self {
        let (galois, d, m) = (slot_ring.galois(), slot_ring.degree(), slot_ring.m());
        let split = slot_ring.prime() % 4 == 1;
        let basis: Vec<Vec<u64>> = if split {
            (0..d as u64).map(|k| galois.zeta_power(k)).collect()
        } else {
            let half = d as u64 / 2;
            (0..d as u64).map(|k| galois.zeta_power(k % half + k / half * (m / 4))).collect()
        };
        let duals = galois.dual_basis(&basis).expect("a basis of E");
        let constants = duals.iter().flat_map(|dual| (0..d).map(|j| galois.frobenius(dual, j))).collect();
        let index = (0..d).map(|k| (k * d..(k + 1) * d).collect()).collect();
        Self { repacked: basis.clone(), basis, constants, index }
    }

    /// η: what coefficients stand with after the map to the slots.
    pub fn basis(&self) -> &[Vec<u64>] {
        &self.basis
    }

    /// ε: what coefficients stand with before the map to the coefficients.
    pub fn repacked(&self) -> &[Vec<u64>] {
        &self.repacked
    }

    /// Unpacking as a grid of maps from one ciphertext to d: `c_k = Σ_j
    /// constants[index[k][j]]·σ^j(γ)`. Constants that are equal are one in memory, and so they are
    /// when a plan of the grid has prepared them.
    #[doc(hidden)]
    pub fn unpacking_grid(&self, slot_ring: &Arc<SlotRing>) -> Result<LinearGrid> {
        let constants = everywhere(slot_ring, &self.constants)?;
        let (p, m) = (slot_ring.prime() % slot_ring.m(), slot_ring.m());
        let mut grid = LinearGrid::zero(slot_ring, self.index.len(), 1)?;
        for (k, row) in self.index.iter().enumerate() {
            let term = |(j, &c): (usize, &usize)| (arith::pow_mod(p, j as u64, m), constants[c].clone());
            grid.set(k, 0, LinearMap::from_terms(slot_ring, row.iter().enumerate().map(term))?)?;
        }
        Ok(grid)
    }

    /// Repacking as a grid of maps from d ciphertexts to one, `Σ_k ε_k·c_k`; the ε_k are reduced to
    /// the modulus of `slot_ring`.
    pub(crate) fn repacking_grid(&self, slot_ring: &Arc<SlotRing>) -> Result<LinearGrid> {
        sum_grid(slot_ring, &self.repacked)
    }

    /// What [`Self::unpacking_grid`] takes apart: `Σ_k η_k·c_k`.
    #[doc(hidden)]
    pub fn packing_grid(&self, slot_ring: &Arc<SlotRing>) -> Result<LinearGrid> {
        sum_grid(slot_ring, &self.basis)
    }

    /// A plan for [`Self::unpacking_grid`] by the given keys; without them with keys for all powers of
    /// σ where they are few, else for baby and giant steps.
    pub(crate) fn unpacking_plan(
        grid: &LinearGrid,
        cost: CostModel,
        keys: Option<&BTreeSet<u64>>,
    ) -> Result<LinearPlan> {
        const FEW: usize = 12;
        let d = grid.rows();
        let babies = if d <= FEW { d } else { d.isqrt() + usize::from(d.isqrt().pow(2) < d) };
        let max_keys = keys.is_none().then_some(babies - 1 + d.div_ceil(babies) - 1);
        let (keys, constants) = (keys.cloned(), ConstantForm::Evaluation);
        LinearPlan::for_grid(grid, &PlanSpec { cost, keys, max_keys, constants, ..PlanSpec::default() })
    }

    /// A plan for [`Self::repacking_grid`]; it needs no keys.
    pub(crate) fn repacking_plan(grid: &LinearGrid, cost: CostModel) -> Result<LinearPlan> {
        LinearPlan::for_grid(grid, &PlanSpec { cost, ..PlanSpec::default() })
    }
}

/// From as many ciphertexts as there are weights to one, `Σ_k weights[k]·c_k`.
fn sum_grid(slot_ring: &Arc<SlotRing>, weights: &[Vec<u64>]) -> Result<LinearGrid> {
    let constants = everywhere(slot_ring, weights)?;
    let mut grid = LinearGrid::zero(slot_ring, 1, constants.len())?;
    for (k, constant) in constants.iter().enumerate() {
        grid.set(0, k, LinearMap::diagonal(constant))?;
    }
    Ok(grid)
}

/// Elements, reduced to the modulus of `slot_ring`, in every slot.
fn everywhere(slot_ring: &Arc<SlotRing>, constants: &[Vec<u64>]) -> Result<Vec<Plaintext>> {
    let modulus = slot_ring.modulus();
    let residues = |constant: &Vec<u64>| constant.iter().map(|&x| modulus.reduce(x)).collect::<Vec<u64>>();
    let repeated: Vec<Vec<u64>> =
        constants.iter().map(|constant| residues(constant).repeat(slot_ring.slots())).collect();
    Plaintext::public_from_slots(slot_ring, &repeated.iter().map(Vec::as_slice).collect::<Vec<&[u64]>>())
}

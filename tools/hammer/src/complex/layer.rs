//! A matrix that random circuits multiply by.

use windlass::circuits::{ComplexSlots, MatrixPlan, MatrixSpec};
use windlass::{Approximate, Context, Error};

use super::super::dice::Dice;

/// A real matrix that is folded where that costs less.
pub struct Layer {
    rows: Vec<Vec<f64>>,
    pub plan: MatrixPlan<ComplexSlots>,
}

impl Layer {
    /// With few rows, and as many columns as there are slots at most.
    pub fn draw(dice: &mut Dice, context: &Context<Approximate>) -> Result<Self, Error> {
        let slots = context.slots();
        let (height, width) = (1 + dice.index(slots.min(4)), 1 + dice.index(slots));
        let rows: Vec<Vec<f64>> = (0..height).map(|_| (0..width).map(|_| dice.real()).collect()).collect();
        let plan = MatrixPlan::dense_matrix(&context.vectors(slots)?, &rows, &MatrixSpec::default())?;
        Ok(Self { rows, plan })
    }

    /// The product, and the largest sum of a row's absolute values.
    pub fn product(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let rows = self.rows.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect();
        let sums = self.rows.iter().map(|row| row.iter().map(|a| a.abs()).sum::<f64>());
        (rows, sums.fold(0.0, f64::max))
    }
}

//! The network, in integers.

use serde::Deserialize;

use crate::error::{EntryError, Result};

/// Pixels that the network looks at.
pub const INPUTS: usize = 576;

/// Hidden units.
pub const HIDDEN: usize = 64;

/// Digits.
pub const CLASSES: usize = 10;

/// Side of a picture.
const SIDE: usize = super::SIDE;

/// The weights, as `benchmarks/mnist/train.py` writes them.
const BUNDLED: &str = include_str!("../../../mnist/model.json");

/// score_c(x) = Σ_h second\[c\]\[h\]·(Σ_p first\[h\]\[p\]·x_p + first_bias\[h\])² +
/// second_bias\[c\].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Model {
    /// Side of the square in the middle of a picture that is looked at.
    side: usize,
    /// The largest x_p: pixels from 0 to 255 become x from 0 to `levels`.
    levels: u32,
    /// `[HIDDEN][INPUTS]`.
    pub first: Vec<Vec<i64>>,
    /// `[HIDDEN]`.
    pub first_bias: Vec<i64>,
    /// `[CLASSES][HIDDEN]`.
    pub second: Vec<Vec<i64>>,
    /// `[CLASSES]`.
    pub second_bias: Vec<i64>,
}

impl Model {
    /// The trained network.
    ///
    /// # Errors
    /// [`EntryError::Parameters`] when the file is no network of this shape.
    pub fn bundled() -> Result<Self> {
        Self::parse(BUNDLED)
    }

    fn parse(text: &str) -> Result<Self> {
        let refuse = |reason: String| EntryError::Parameters { reason };
        let model: Self = serde_json::from_str(text).map_err(|error| refuse(format!("the model: {error}")))?;
        let shaped = |rows: &[Vec<i64>], height, width| rows.len() == height && rows.iter().all(|r| r.len() == width);
        let right = model.side * model.side == INPUTS
            && (1..256).contains(&model.levels)
            && shaped(&model.first, HIDDEN, INPUTS)
            && shaped(&model.second, CLASSES, HIDDEN)
            && model.first_bias.len() == HIDDEN
            && model.second_bias.len() == CLASSES;
        // What the server adds up without reduction, weights times residues below 2^48, stays below
        // 2^62.
        let small = model.first.iter().all(|row| row.iter().map(|w| w.unsigned_abs()).sum::<u64>() < 1 << 14);
        if right && small { Ok(model) } else { Err(refuse("the model has another shape, or large weights".into())) }
    }

    /// The inputs of a picture, `[SIDE²]` bytes: levels·pixel/255, rounded, halves up.
    pub fn inputs(&self, picture: &[u8]) -> Vec<i64> {
        let border = (SIDE - self.side) / 2;
        let (levels, inside) = (self.levels, border..border + self.side);
        let rows = picture.chunks_exact(SIDE).skip(border).take(self.side);
        rows.flat_map(|row| row[inside.clone()].iter().map(|&x| i64::from((2 * levels * u32::from(x) + 255) / 510)))
            .collect()
    }

    /// The scores in the clear.
    pub fn scores(&self, inputs: &[i64]) -> [i64; CLASSES] {
        let dot = |weights: &[i64], x: &[i64]| weights.iter().zip(x).map(|(w, x)| w * x).sum::<i64>();
        let squares: Vec<i64> =
            self.first.iter().zip(&self.first_bias).map(|(row, bias)| (dot(row, inputs) + bias).pow(2)).collect();
        std::array::from_fn(|class| dot(&self.second[class], &squares) + self.second_bias[class])
    }

    /// The digit with the highest score, the first of equal ones.
    pub fn digit(scores: &[i64]) -> usize {
        let best = scores.iter().enumerate().rev().max_by_key(|(_, score)| **score);
        best.map_or(0, |(digit, _)| digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_rounded_and_the_border_is_left_out() {
        let model = Model::bundled().unwrap();
        let mut picture = vec![0; SIDE * SIDE];
        (picture[0], picture[2 * SIDE + 2], picture[2 * SIDE + 3], picture[25 * SIDE + 25]) = (255, 18, 19, 255);
        let inputs = model.inputs(&picture);
        assert_eq!((inputs.len(), inputs[0], inputs[1], inputs[INPUTS - 1]), (INPUTS, 0, 1, 7));
        assert_eq!(inputs.iter().sum::<i64>(), 8);
    }

    #[test]
    fn scores_are_those_of_the_formula_and_the_first_best_digit_wins() {
        let model = Model::bundled().unwrap();
        let mut inputs = vec![0; INPUTS];
        inputs[300] = 5;
        let hidden = |h: usize| 5 * model.first[h][300] + model.first_bias[h];
        let wanted = (0..HIDDEN).map(|h| model.second[3][h] * hidden(h) * hidden(h)).sum::<i64>();
        assert_eq!(model.scores(&inputs)[3], wanted + model.second_bias[3]);
        assert_eq!([Model::digit(&[1, 5, 5]), Model::digit(&[-3, -2, -9])], [1, 1]);
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in ["", "{}", &BUNDLED.replacen("\"side\":24", "\"side\":23", 1), &BUNDLED.replacen("[[", "[[99,", 1)]
        {
            assert!(Model::parse(text).is_err());
        }
    }
}

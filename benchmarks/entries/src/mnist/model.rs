//! The network, in integers.

use serde::Deserialize;

use crate::error::{EntryError, Result};

/// Bits of biases, of weights of the second product: squares and sums of theirs stay below 2^62.
const BIAS_BITS: u32 = 22;
const WEIGHT_BITS: u32 = 7;

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

    /// A network as `train.py` writes it.
    ///
    /// # Errors
    /// [`EntryError::Parameters`] when the text is no network of this shape, or with large weights.
    pub fn parse(text: &str) -> Result<Self> {
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
        let below = |numbers: &[i64], bits| numbers.iter().all(|x| x.unsigned_abs() < 1u64 << bits);
        let sum = |row: &[i64]| row.iter().fold(0u64, |sum, w| sum.saturating_add(w.unsigned_abs()));
        let small = model.first.iter().all(|row| sum(row) < 1 << 14)
            && model.second.iter().all(|row| below(row, WEIGHT_BITS))
            && below(&model.first_bias, BIAS_BITS)
            && below(&model.second_bias, 2 * BIAS_BITS);
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

    /// For each hidden unit the largest square of any picture. A sum of weighted pixels is largest
    /// where pixels of positive weight are at `levels` and the others at 0, and smallest the other
    /// way round; both are pictures.
    fn largest_squares(&self) -> Vec<i64> {
        let levels = i64::from(self.levels);
        let end = |row: &[i64], bias: i64, sign: i64| {
            let sum: i64 = row.iter().filter(|w| **w * sign > 0).sum();
            (levels * sum + bias).pow(2)
        };
        let units = self.first.iter().zip(&self.first_bias);
        units.map(|(row, &bias)| end(row, bias, 1).max(end(row, bias, -1))).collect()
    }

    /// The largest of the products second\[c\]\[h\]·(..)² that make up scores, in absolute value,
    /// over all pictures: there is one that reaches it.
    pub fn largest_product(&self) -> u64 {
        let squares = self.largest_squares();
        let weights = (0..HIDDEN).map(|h| self.second.iter().map(|row| row[h].unsigned_abs()).max().unwrap_or(0));
        squares.iter().zip(weights).map(|(&square, weight)| square as u64 * weight).max().unwrap_or(0)
    }

    /// A bound on the scores of all pictures, in absolute value: products with positive weights at
    /// their largest and the others at 0, or the other way round.
    pub fn largest_score(&self) -> u64 {
        let squares = self.largest_squares();
        let end = |class: usize, sign: i64| {
            let terms = self.second[class].iter().zip(&squares).filter(|(v, _)| **v * sign > 0);
            (terms.map(|(v, square)| v * square).sum::<i64>() + self.second_bias[class]).unsigned_abs()
        };
        (0..CLASSES).map(|class| end(class, 1).max(end(class, -1))).max().unwrap_or(0)
    }

    /// The digit with the highest score, the first of equal ones.
    pub fn digit(scores: &[i64]) -> usize {
        let best = scores.iter().enumerate().rev().max_by_key(|(_, score)| **score);
        best.map_or(0, |(digit, _)| digit)
    }
}

/// The integer of least absolute value with residue x modulo p.
pub(super) fn centred(x: u64, p: u64) -> i64 {
    if x > p / 2 { x as i64 - p as i64 } else { x as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_rounded_and_the_border_is_left_out() {
        let model = Model::bundled().unwrap();
        let mut picture = vec![0; SIDE * SIDE];
        (picture[0], picture[2 * SIDE + 2], picture[2 * SIDE + 3], picture[25 * SIDE + 25]) = (255, 42, 43, 255);
        let inputs = model.inputs(&picture);
        assert_eq!((inputs.len(), inputs[0], inputs[1], inputs[INPUTS - 1]), (INPUTS, 0, 1, 3));
        assert_eq!(inputs.iter().sum::<i64>(), 4);
    }

    #[test]
    fn scores_are_those_of_the_formula_and_the_first_best_digit_wins() {
        let model = Model::bundled().unwrap();
        let mut inputs = vec![0; INPUTS];
        inputs[300] = 3;
        let hidden = |h: usize| 3 * model.first[h][300] + model.first_bias[h];
        let wanted = (0..HIDDEN).map(|h| model.second[3][h] * hidden(h) * hidden(h)).sum::<i64>();
        assert_eq!(model.scores(&inputs)[3], wanted + model.second_bias[3]);
        assert_eq!([Model::digit(&[1, 5, 5]), Model::digit(&[-3, -2, -9])], [1, 1]);
    }

    /// The picture at either end of each hidden unit: one of them reaches the largest product, and
    /// no score exceeds its bound. As pixels, so that rounding is part of it.
    #[test]
    fn the_largest_product_is_reached_and_no_score_exceeds_its_bound() {
        let model = Model::bundled().unwrap();
        let (mut product, mut score) = (0, 0);
        for row in &model.first {
            for sign in [1, -1] {
                let inputs: Vec<i64> = row.iter().map(|w| if w * sign > 0 { 3 } else { 0 }).collect();
                let mut picture = vec![0; SIDE * SIDE];
                for (place, &x) in inputs.iter().enumerate() {
                    picture[(place / 24 + 2) * SIDE + place % 24 + 2] = 85 * x as u8;
                }
                assert_eq!(model.inputs(&picture), inputs);
                let squares = model.first.iter().zip(&model.first_bias).map(|(row, bias)| {
                    (row.iter().zip(&inputs).map(|(w, x)| w * x).sum::<i64>() + bias).unsigned_abs().pow(2)
                });
                let products = squares.enumerate().flat_map(|(h, x)| {
                    model.second.iter().map(move |row| row[h].unsigned_abs() * x).collect::<Vec<u64>>()
                });
                product = product.max(products.max().unwrap());
                score = model.scores(&inputs).iter().map(|x| x.unsigned_abs()).fold(score, u64::max);
            }
        }
        assert_eq!(product, model.largest_product());
        assert!(score <= model.largest_score() && score >= model.largest_score() / 100, "{score}");
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in ["", "{}", &BUNDLED.replacen("\"side\":24", "\"side\":23", 1), &BUNDLED.replacen("[[", "[[99,", 1)]
        {
            assert!(Model::parse(text).is_err());
        }
    }
}

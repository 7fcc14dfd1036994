//! Going through the parts of a split element depth first: one path of ciphertexts is held, never all of them.

use super::maps::Split;
use crate::error::Result;
use crate::evaluator::Evaluator;

/// Splits, first to last, with the levels that they are undone and done at.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub splits: Vec<Split>,
    pub split_level: usize,
    pub join_level: usize,
}

impl Tree {
    pub fn new(splits: Vec<Split>) -> Self {
        Self { splits, split_level: 1, join_level: 1 }
    }

    /// 2^(number of splits).
    pub fn parts(&self) -> usize {
        1 << self.splits.len()
    }

    /// With its monomials converted, each for its level.
    pub fn prepare<S: Evaluator, J: Evaluator>(&self, split_on: &S, join_on: &J) -> Result<PreparedTree<S, J>> {
        let node = |split: &Split| {
            Ok(Node {
                element: split.element,
                down: split_on.prepare_at(&split.down(split_on.slots())?, self.split_level)?,
                up: join_on.prepare_at(&split.up(join_on.slots())?, self.join_level)?,
            })
        };
        Ok(PreparedTree { nodes: self.splits.iter().map(node).collect::<Result<_>>()? })
    }
}

/// What is done with the parts, and who hears of it.
pub(super) trait Visitor<S: Evaluator, J: Evaluator> {
    /// Comes before each split.
    fn splitting(&mut self, _: &S::Ciphertext) -> Result<()> {
        Ok(())
    }
    /// Makes of each part what is joined again.
    fn part(&mut self, part: S::Ciphertext) -> Result<J::Ciphertext>;
    /// Comes before each join.
    fn joining(&mut self, _: &J::Ciphertext) -> Result<()> {
        Ok(())
    }
}

/// A [`Tree`] for two evaluators: the one that splits and the one that joins.
pub(super) struct PreparedTree<S: Evaluator, J: Evaluator> {
    nodes: Vec<Node<S, J>>,
}

struct Node<S: Evaluator, J: Evaluator> {
    element: u64,
    down: S::Constant,
    up: J::Constant,
}

impl<S: Evaluator, J: Evaluator> PreparedTree<S, J> {
    /// `Σ_k X^{s_k}·visit(part k)`, s_k the sum of the shifts of the splits whose second half part k is in; the parts come in this order.
    ///
    /// Cost: parts − 1 automorphisms, and two products with monomials for each. At most one ciphertext for each split is held beside the part at work.
    pub fn walk(&self, on: (&S, &J), x: S::Ciphertext, visitor: &mut dyn Visitor<S, J>) -> Result<J::Ciphertext> {
        walk(&self.nodes, on, x, visitor)
    }
}

fn walk<S: Evaluator, J: Evaluator>(
    nodes: &[Node<S, J>],
    (split_on, join_on): (&S, &J),
    x: S::Ciphertext,
    visitor: &mut dyn Visitor<S, J>,
) -> Result<J::Ciphertext> {
    let Some((node, rest)) = nodes.split_first() else {
        return visitor.part(x);
    };
    visitor.splitting(&x)?;
    let image = split_on.automorphism(&x, node.element)?;
    let first = split_on.add(&x, &image)?;
    let second = split_on.multiply_constant(&split_on.sub(&x, &image)?, &node.down)?;
    drop((x, image));
    let first = walk(rest, (split_on, join_on), first, visitor)?;
    let second = walk(rest, (split_on, join_on), second, visitor)?;
    visitor.joining(&first)?;
    join_on.add(&first, &join_on.multiply_constant(&second, &node.up)?)
}

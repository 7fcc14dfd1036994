//! Trees of automorphisms: the ways from the identity to the automorphisms that a plan needs, with one
//! key for each step.

use std::collections::HashMap;

/// One element of a tree, reached from its parent by one automorphism.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Index of the parent; the root (the identity) has none.
    pub parent: Option<usize>,
    /// The automorphism from the parent to this node: a key is needed for it.
    pub step: u64,
    /// The product of the steps from the root.
    pub element: u64,
    /// The number of steps from the root.
    pub depth: usize,
}

/// A tree of automorphisms with the identity at its root.
///
/// Read from the root outwards it says how inputs are made: children of one node share one
/// decompose-and-extend (hoisting), a path is iteration. Read towards the root it says how outputs
/// are gathered: each node is brought to its parent by its step, so a star is a sum of independent
/// giant steps and a path is Horner's rule.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    m: u64,
    nodes: Vec<Node>,
    /// By element: its node, or, where ways share no steps, the node that a way to it ends at.
    index: HashMap<u64, usize>,
    shared: bool,
}

impl Tree {
    /// The root alone. Ways that share steps go through one node for each element; otherwise each
    /// has separate nodes, except its end.
    pub(crate) fn new(m: u64, shared: bool) -> Self {
        let root = Node { parent: None, step: 1, element: 1, depth: 0 };
        Self { m, nodes: vec![root], index: HashMap::from([(1, 0)]), shared }
    }

    /// Walks from the root by the given steps, adding what is missing; returns the node reached.
    /// Identity steps are skipped.
    pub(crate) fn reach(&mut self, steps: impl IntoIterator<Item = u64>) -> usize {
        let steps: Vec<u64> = steps.into_iter().map(|step| step % self.m).filter(|&step| step != 1).collect();
        if !self.shared {
            let end = steps.iter().fold(1, |element, step| element * step % self.m);
            if let Some(&known) = self.index.get(&end) {
                return known;
            }
            let node = steps.into_iter().fold(0, |node, step| self.push(node, step));
            self.index.insert(end, node);
            return node;
        }
        let mut node = 0;
        for step in steps {
            let element = self.nodes[node].element * step % self.m;
            node = match self.index.get(&element) {
                Some(&known) => known,
                None => {
                    let next = self.push(node, step);
                    self.index.insert(element, next);
                    next
                }
            };
        }
        node
    }

    /// A new node, one step from another.
    fn push(&mut self, parent: usize, step: u64) -> usize {
        let Node { element, depth, .. } = self.nodes[parent];
        self.nodes.push(Node { parent: Some(parent), step, element: element * step % self.m, depth: depth + 1 });
        self.nodes.len() - 1
    }

    /// The nodes; parents come before their children, the root is first.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes on the way from the root to a marked one, ends included.
    pub(crate) fn reaching(&self, mut marked: Vec<bool>) -> Vec<bool> {
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if let (true, Some(parent)) = (marked[i], node.parent) {
                marked[parent] = true;
            }
        }
        marked
    }

    /// The nodes from which another of the chosen ones hangs.
    pub(crate) fn parents(&self, chosen: &[bool]) -> Vec<bool> {
        let mut parents = vec![false; self.nodes.len()];
        for (node, _) in self.nodes.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
            node.parent.into_iter().for_each(|parent| parents[parent] = true);
        }
        parents
    }

    /// The nodes beyond the root from which exactly one of the chosen ones hangs: links of a chain.
    pub(crate) fn links(&self, chosen: &[bool]) -> Vec<bool> {
        let mut children = vec![0; self.nodes.len()];
        for (node, _) in self.nodes.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
            node.parent.into_iter().for_each(|parent| children[parent] += 1);
        }
        children.iter().enumerate().map(|(i, &count)| i != 0 && count == 1).collect()
    }

    /// The largest number of steps from the root.
    pub(crate) fn depth(&self) -> usize {
        self.nodes.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// The automorphisms used, the identity left out.
    pub(crate) fn steps(&self) -> impl Iterator<Item = u64> + '_ {
        self.nodes.iter().skip(1).map(|node| node.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_star() {
        let mut path = Tree::new(31, true);
        assert_eq!(path.reach([3, 3, 3]), 3);
        assert_eq!(path.reach([3, 3]), 2);
        assert_eq!((path.depth(), path.nodes()[3].element), (3, 27));
        assert_eq!(path.steps().collect::<Vec<_>>(), [3, 3, 3]);
        let mut star = Tree::new(31, true);
        star.reach([3]);
        star.reach([9]);
        assert_eq!((star.reach([1, 1]), star.depth(), star.parents(&[true; 3])), (0, 1, vec![true, false, false]));
        assert_eq!(path.links(&[true; 4]), [false, true, true, false]);
        assert_eq!(path.links(&[true, true, true, false]), [false, true, false, false]);
        assert_eq!(star.links(&[true; 3]), [false; 3]);
        assert_eq!(star.reaching(vec![false, false, true]), [true, false, true]);
        assert_eq!(path.reaching(vec![false, false, true, false]), [true, true, true, false]);
    }

    #[test]
    fn ways_that_share_nothing_but_their_ends() {
        let mut apart = Tree::new(31, false);
        let ends = [apart.reach([9, 3]), apart.reach([9]), apart.reach([9, 9]), apart.reach([27, 1])];
        // The way to 9 has its own node, beside that on the way to 27, which is reached once.
        assert_eq!((ends, apart.nodes().len()), ([2, 3, 5, 2], 6));
        assert_eq!(apart.nodes()[ends[2]].element, 81 % 31);
        assert_eq!(apart.parents(&[true; 6]), [true, true, false, false, true, false]);
        let mut shared = Tree::new(31, true);
        assert_eq!([shared.reach([9, 3]), shared.reach([9]), shared.reach([9, 9])], [2, 1, 3]);
    }
}

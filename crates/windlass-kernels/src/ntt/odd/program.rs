//! A transform of an axis as a flat list of steps over scratch memory.
//!
//! A convolution becomes its stages, the leaf (last factor, products, last factor again) and the
//! stages back; a stage of a prime without a codelet becomes the steps of its own convolution, done
//! for all columns together. So each step does nothing but one small transform in many places, and
//! each small transform is compiled once for a backend.

/// Stands for a missing one.
pub(super) const NONE: u32 = u32::MAX;

/// Where a step does its small transform `batch` times, side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    /// Position of the first point of the first transform.
    pub start: u32,
    /// Row of the kernel that the leaf multiplies by.
    pub kernel: u32,
    /// Row of the twiddles that the results are multiplied by, or [`NONE`].
    pub twiddle: u32,
    /// Position of the first constant coefficient, or [`NONE`]: the leaf adds it to all results and
    /// leaves there `factor · (constant + Σ x)`.
    pub constant: u32,
}

/// A small transform in many places; the leaf does two around products.
#[derive(Debug, Clone, Default)]
pub(super) struct SmallTransform {
    /// Number of points R.
    pub len: usize,
    /// Distance of the points.
    pub stride: usize,
    /// Transforms side by side, at consecutive positions.
    pub batch: usize,
    /// Where.
    pub runs: Vec<Placement>,
    /// Number of transforms, 1 or 2: a number in memory, so that the code exists once.
    pub passes: usize,
    /// Constants of the first transform and of the second.
    pub tables: [Vec<u64>; 2],
    /// Rows of R prepared constants; empty unless there is a second transform.
    pub kernel: Vec<u64>,
    /// Rows of R prepared constants.
    pub twiddles: Vec<u64>,
    /// Whether twiddles of the first result differ from 1.
    pub twiddle_first: bool,
    /// Prepared factor for the constants; empty for 1.
    pub factor: Vec<u64>,
    /// Offsets in the row of the entries that the first step reads; else empty.
    pub input: Vec<u32>,
    /// Offsets in the row of the entries that the last step writes; else empty.
    pub output: Vec<u32>,
    /// Runs at the beginning that write to scratch memory even so.
    pub deferred: usize,
    /// What the last step subtracts.
    pub correction: Correction,
    /// A copy between the row and scratch memory, not needed when all entries are in scratch
    /// memory.
    pub edge: bool,
}

/// What is subtracted from the entries of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Correction {
    /// Nothing.
    #[default]
    None,
    /// Of position p, the block at `start + p mod period`.
    Memory { start: usize, period: usize },
    /// The middle result of the same small transform.
    Middle,
}

/// What the row and scratch memory have to do with each other.
pub(super) struct Links<'a> {
    /// Positions in scratch memory.
    pub size: usize,
    /// Distance of the entries of a column in the row.
    pub distance: usize,
    /// Position of each entry before the transform.
    pub sources: &'a [usize],
    /// Position of each entry after it.
    pub targets: &'a [usize],
    /// Consecutive positions to be subtracted from the results: the one that is congruent modulo
    /// their number.
    pub top: &'a [usize],
}

impl SmallTransform {
    /// Positions of all points and constants of a run: point j of the transform `k` is item
    /// `k(R + 1) + j`, its constant item `k(R + 1) + R`.
    fn positions(&self, run: &Placement) -> Vec<Option<usize>> {
        let mut positions = Vec::with_capacity(self.batch * (self.len + 1));
        for k in 0..self.batch {
            positions.extend((0..self.len).map(|j| Some(run.start as usize + k + j * self.stride)));
            positions.push((run.constant != NONE).then(|| run.constant as usize + k));
        }
        positions
    }

    fn all_positions(&self) -> Vec<Option<usize>> {
        self.runs.iter().flat_map(|run| self.positions(run)).collect()
    }

    /// A step that copies single blocks.
    fn copy(positions: impl Iterator<Item = usize>) -> Self {
        let run = |p: usize| Placement { start: p as u32, kernel: NONE, twiddle: NONE, constant: NONE };
        Self {
            len: 1,
            stride: 1,
            batch: 1,
            runs: positions.map(run).collect(),
            passes: 1,
            edge: true,
            ..Self::default()
        }
    }
}

/// Offset in the row of the entry at each position, or [`NONE`].
fn offsets(links: &Links, slots: &[usize]) -> Vec<u32> {
    let mut offsets = vec![NONE; links.size];
    slots.iter().enumerate().for_each(|(entry, &slot)| offsets[slot] = (entry * links.distance) as u32);
    offsets
}

/// Lets the first step read the row and the last one write it.
pub(super) fn link(steps: &mut Vec<SmallTransform>, links: &Links) {
    link_input(steps, links);
    link_output(steps, links);
    steps.retain(|step| !step.runs.is_empty());
}

fn link_input(steps: &mut Vec<SmallTransform>, links: &Links) {
    let offsets = offsets(links, links.sources);
    let mut covered = vec![false; links.size];
    let first = steps.first_mut().expect("a transform has steps");
    let positions = first.all_positions();
    positions.iter().flatten().for_each(|&p| covered[p] = true);
    first.input = positions.iter().map(|p| p.map_or(NONE, |p| offsets[p])).collect();
    let mut copy = SmallTransform::copy((0..links.size).filter(|&p| !covered[p]));
    copy.input = copy.all_positions().iter().map(|p| p.map_or(NONE, |p| offsets[p])).collect();
    steps.insert(0, copy);
}

fn link_output(steps: &mut Vec<SmallTransform>, links: &Links) {
    let offsets = offsets(links, links.targets);
    let mut written = vec![false; links.size];
    let last = steps.last_mut().expect("a transform has steps");
    if let Some(&top) = links.top.first() {
        let holds = |run: &Placement| last.positions(run).contains(&Some(top));
        let at = last.runs.iter().position(holds);
        let alone = last.runs.len() * last.batch == 1;
        if at.is_some_and(|at| alone && top == last.runs[at].start as usize + last.len / 2 * last.stride) {
            last.correction = Correction::Middle;
        } else {
            last.correction = Correction::Memory { start: top, period: links.top.len() };
        }
        if let (Some(at), Correction::Memory { .. }) = (at, last.correction) {
            // Else an earlier step has made the top block.
            last.runs.swap(0, at);
            last.deferred = 1;
            // The input of a step that is both first and last is by run, too.
            let row = last.input.len() / last.runs.len();
            (0..row).for_each(|i| last.input.swap(i, at * row + i));
        }
    }
    let correction = if last.correction == Correction::Middle { Correction::None } else { last.correction };
    let positions = last.all_positions();
    let skipped = last.deferred * last.batch * (last.len + 1);
    positions[skipped..].iter().flatten().for_each(|&p| written[p] = true);
    last.output = positions.iter().map(|p| p.map_or(NONE, |p| offsets[p])).collect();
    let mut copy = SmallTransform::copy((0..links.size).filter(|&p| !written[p] && offsets[p] != NONE));
    copy.output = copy.all_positions().iter().map(|p| p.map_or(NONE, |p| offsets[p])).collect();
    copy.correction = correction;
    steps.push(copy);
}

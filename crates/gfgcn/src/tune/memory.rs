//! What a search takes at its peak, beyond the propagation: every term is an array that is held.

use super::bank::Learner;
use super::sum::SumMemory;
use crate::data::Dataset;
use crate::design::Design;
use crate::driver::PANEL;
use crate::head::Lesson;
use crate::predictor::{propagates_scores, score_memory};
use crate::ridge::{Asked, Ridge, Selection, Sizes};

/// Bytes that a search takes beyond its driver, by what they are for.
pub(super) struct SearchMemory {
    /// What stays until the model is there: what is known of the nodes, and of each learner its left-out scores, its solution, and
    /// what it compares with landmarks.
    pub(super) kept: u64,
    /// The sum, as long as learners are added to it.
    pub(super) growing: u64,
    /// The learners of each design beside its rows, less what will stay of those that come later.
    pub(super) trying: Vec<u64>,
    /// When all are solved: their sum, weighting them and what to expect, or the model.
    pub(super) after: u64,
}

impl SearchMemory {
    /// Of a search among learners; without their sum, the best of them are searched once more, and no model is made.
    pub(super) fn new(
        dataset: &Dataset,
        lesson: &Lesson<'_>,
        learners: &[Learner],
        designs: &[Design],
        sums: bool,
    ) -> Self {
        let (sizes, asked) = (lesson.sizes(0), lesson.asked(false, rayon::current_num_threads()));
        let search = Searching { dataset, lesson, sizes, asked };
        let sum = match sums {
            true => SumMemory::new(learners, dataset, sizes, asked),
            false => SumMemory::default(),
        };
        let (n, scores) = (sizes.train as u64, 8 * (sizes.train * sizes.targets) as u64);
        // Left-out scores and solution of the sum.
        let of_sum = if sums { 2 * scores } else { 0 };
        let all = learners.iter().map(|learner| search.kept(learner)).sum::<u64>() + of_sum;
        let (mut later, mut trying) = (all, Vec::with_capacity(designs.len()));
        for design in designs {
            let mut most = 0;
            for learner in learners.iter().filter(|learner| learner.design == *design) {
                // What stays of those that come later is not there yet.
                later -= search.kept(learner);
                most = search.trying(learner, &sum, sums).saturating_sub(later).max(most);
            }
            trying.push(most);
        }
        // The sum of all for the report and for calibrating, the latter in parts, and on each thread a choice with its sum.
        let choosing = (3 + 2 * asked.threads) * scores;
        let model = if sums { search.default(learners).max(search.composing(learners)) } else { 0 };
        SearchMemory {
            kept: lesson.memory() + 8 * n + all,
            growing: sum.growing,
            trying,
            after: sum.solving.max(choosing).max(model),
        }
    }
}

/// What does not depend on the learner.
struct Searching<'a> {
    dataset: &'a Dataset,
    lesson: &'a Lesson<'a>,
    sizes: Sizes,
    asked: Asked,
}

impl Searching<'_> {
    /// Columns of the problem that a learner is solved by.
    fn columns(&self, learner: &Learner) -> u64 {
        learner.columns(self.dataset, self.sizes.train) as u64
    }

    /// Columns that are filtered for it.
    fn filtered(&self, learner: &Learner) -> u64 {
        learner.design.columns(self.dataset) as u64
    }

    /// What stays of a learner.
    fn kept(&self, learner: &Learner) -> u64 {
        let (n, d, targets) =
            (self.sizes.train as u64, self.columns(learner), self.sizes.targets as u64);
        // Φ, the landmarks' rows, and the factor of their kernel.
        let landmarks = match learner.kernel.is_linear() {
            true => 0,
            false => (n + self.filtered(learner) + d) * d,
        };
        // Left-out scores and the solution.
        8 * (landmarks + (n + n.min(d)) * targets)
    }

    /// One learner beside its filtered rows.
    fn trying(&self, learner: &Learner, sum: &SumMemory, sums: bool) -> u64 {
        let (n, d, panel) = (self.sizes.train as u64, self.columns(learner), PANEL as u64);
        let sizes = Sizes { columns: d as usize, ..self.sizes };
        let ridge = Ridge::default().on(self.dataset.targets().kind());
        let solved = ridge.system_memory(sizes, self.asked);
        // Rows and kernel matrix; where columns are many, a panel of them and its part of the matrix.
        let panels = n * d.min(panel) + if d > panel { n * n } else { 0 };
        let gram = if n <= d || sum.of_grams { n * n + panels } else { 0 };
        let rows = if d < n || sums && !sum.of_grams { n * d } else { 0 };
        // Rows of landmarks and others, twice: to tell them apart, and as the kernel moves them.
        let compared = match learner.kernel.is_linear() {
            true => 0,
            false => 2 * (n + d) * self.filtered(learner),
        };
        solved.max(8 * (rows + gram).max(compared))
    }

    /// Training the default once more, where that is the choice; its rows among it.
    fn default(&self, learners: &[Learner]) -> u64 {
        let Some(default) = learners.first().filter(|learner| learner.is_incumbent()) else {
            return 0;
        };
        let sizes = Sizes { columns: self.columns(default) as usize, ..self.sizes };
        let ridge = Ridge {
            kernel: default.kernel,
            selection: Selection::LeaveOneOut,
            intercept: default.intercept,
        };
        let rows = 4 * (sizes.train * sizes.columns) as u64;
        let solving = ridge.memory(sizes, Asked { calibrates: true, ..self.asked });
        self.lesson.memory() + rows + solving
    }

    /// The parts of a stack, and turning one of them into weights or scoring every node by it, in slabs as narrow as they get.
    fn composing(&self, learners: &[Learner]) -> u64 {
        /// Bytes per node of vectors and lists while the narrowest slab is propagated.
        const NARROW: u64 = 256;
        let (n, targets) = (self.sizes.train as u64, self.sizes.targets as u64);
        let nodes = self.dataset.nodes() as u64;
        let parts = learners.iter().map(|learner| parts_memory(n, self.columns(learner), targets));
        let of_learner = |learner: &Learner| {
            let (d, columns) = (self.columns(learner), self.filtered(learner));
            let sizes = Sizes { train: d as usize, columns: columns as usize, ..self.sizes };
            let scoring = score_memory(learner.kernel, sizes, self.dataset.nodes());
            let linear = learner.kernel.is_linear();
            let to_columns = if linear { 4 * n * d + weighing_memory(n, d, targets) } else { 0 };
            let scores = match linear && propagates_scores(sizes.targets, sizes.columns) {
                true => 8 * (learner.design.channels().len() as u64 + 1) * nodes * targets,
                false => 4 * nodes * columns,
            };
            to_columns.max(scores + scoring) + NARROW * nodes
        };
        parts.sum::<u64>() + learners.iter().map(of_learner).max().unwrap_or(0)
    }
}

/// Bytes of what a learner gives to a stack, for so many training nodes and columns: the coefficients of both.
pub(super) fn parts_memory(train: u64, columns: u64, targets: u64) -> u64 {
    8 * (train + columns) * targets
}

/// Bytes of turning coefficients of training nodes into weights of columns: a panel of these, and the weights in parts and as
/// one.
pub(super) fn weighing_memory(train: u64, columns: u64, targets: u64) -> u64 {
    8 * (train * columns.min(PANEL as u64) + 2 * columns * targets)
}

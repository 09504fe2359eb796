//! What a closed-form solution takes at its peak: every term is an array that is held then.
//!
//! A solution goes from stage to stage (`fit.rs`): the problem is posed, factorised, judged at every λ, solved for one, and
//! what comes of it is calibrated. Some arrays stay from one stage to the next, the others are gone by then; so the peak is
//! that of the stage which takes the most.

use super::path::LEFT_OUT_AT_A_TIME;
use super::{PENALTIES, Purpose, Ridge, Selection};
use crate::calibration::Calibration;
use crate::linalg::{FORMS_AT_ONCE, Tridiagonal};

/// The sizes of one ridge problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes<T = usize> {
    /// Training nodes.
    pub(crate) train: T,
    /// Nodes that λ is chosen by.
    pub(crate) validation: T,
    /// Filtered features.
    pub(crate) columns: T,
    /// Columns of Y.
    pub(crate) targets: T,
}

impl Sizes {
    fn wide(self) -> Sizes<u64> {
        let Sizes { train, validation, columns, targets } = self;
        let [train, validation, columns, targets] =
            [train, validation, columns, targets].map(|size| size as u64);
        Sizes { train, validation, columns, targets }
    }
}

/// What is asked of a solution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Left-out scores at the λ that is taken, to calibrate by.
    pub(crate) calibrates: bool,
    /// A path even where λ is given: sets of labels have a threshold that is chosen on left-out scores.
    pub(crate) path: bool,
    /// Bytes of what is remembered of the nodes that λ is chosen by.
    pub(crate) judging: u64,
    /// Threads that work on it.
    pub(crate) threads: u64,
}

impl Ridge {
    /// Bytes at the peak of one closed-form solution, from the filtered features to the predictor, beyond the filtered
    /// features themselves and Y.
    pub(crate) fn memory(&self, sizes: Sizes, asked: Asked) -> u64 {
        let once = matches!(self.selection, Selection::Fixed(_)) && !asked.path;
        let solving = if once { self.once(sizes, asked) } else { self.path(sizes, asked) };
        8 * solving.max(self.posing(sizes))
    }

    /// Bytes of a predictor: weights, or support vectors with their coefficients.
    pub(crate) fn predictor_memory(&self, sizes: Sizes) -> u64 {
        let Sizes { train, columns, targets, .. } = sizes.wide();
        if self.kernel.is_linear() {
            8 * columns * targets
        } else {
            4 * train * columns + 8 * train * targets
        }
    }

    /// Whether the system is that of the features.
    fn is_primal(&self, sizes: Sizes) -> bool {
        self.kernel.is_linear() && sizes.columns < sizes.train
    }

    /// Rows of the training nodes, and their kernel matrix.
    fn posing(&self, sizes: Sizes) -> u64 {
        let Sizes { train, columns, .. } = sizes.wide();
        if self.is_primal(sizes) {
            return train * columns;
        }
        (1 + self.kernel.copies()) * train * columns + train * train
    }

    /// Cholesky's factor for the λ that is given, and what is solved by it.
    fn once(&self, sizes: Sizes, asked: Asked) -> u64 {
        let Sizes { train, columns, targets, .. } = sizes.wide();
        let (features, scores) = (train * columns, train * targets);
        let left_out = if asked.calibrates { scores } else { 0 };
        let finished = left_out + self.predictor(sizes) + self.calibrating(sizes, asked);
        if self.is_primal(sizes) {
            // The system and W; Y with its weights, and then the scores of the nodes themselves and those left out.
            let solved = columns * (columns + targets) + (scores + left_out);
            return features + solved.max(finished);
        }
        // The inverse is made of as many rows. α before and after it is scaled.
        let inverse = if asked.calibrates { train * train } else { 0 };
        let solved = train * train + 2 * scores + inverse + left_out;
        features + solved.max(scores + finished)
    }

    /// The system for every λ. F itself is what it is made of, or stays beside it: predictors are made of it then.
    fn path(&self, sizes: Sizes, asked: Asked) -> u64 {
        let beside = if self.is_primal(sizes) { 0 } else { sizes.train * sizes.columns };
        beside as u64 + self.system(sizes, asked)
    }

    /// Bytes of a system, from F of the primal form or M of the dual one to a solution.
    pub(crate) fn system_memory(&self, sizes: Sizes, asked: Asked) -> u64 {
        8 * self.system(sizes, asked)
    }

    /// S in tridiagonal form, with the rows of the nodes in its basis, and what comes of it for every λ.
    fn system(&self, sizes: Sizes, asked: Asked) -> u64 {
        let Sizes { train, columns, targets, .. } = sizes.wide();
        let scores = train * targets;
        let size = if self.is_primal(sizes) { columns } else { train };
        let rows = train * size;
        let (reflections, reducing) = Tridiagonal::memory(size);
        let rotating = Tridiagonal::rotation_memory(size, train, asked.threads);
        // Zᵀ Y, and Y with its weights.
        let (right_side, weighted) = (size * targets, scores);
        let left_out = if asked.calibrates || asked.path { scores } else { 0 };
        // The solution before and after it is rotated back; the latter is W of the primal form.
        let solved = (size + if self.is_primal(sizes) { 0 } else { train }) * targets;
        let finished = solved + self.predictor(sizes) + self.calibrating(sizes, asked);
        let after = self.judging(sizes, asked).max(left_out + finished);
        // F, or the basis that the dual S is written in with an intercept, is there when the right side is computed.
        let posed = if self.is_primal(sizes) || self.intercept { rows } else { 0 };
        // Y with its weights is multiplied by these rows in the end, with a sum of some of them on every thread.
        let multiplied = if posed > 0 { weighted + asked.threads * right_side } else { 0 };
        // Rows that are rotated stay, or are made of what comes of the reduction. Otherwise F goes before it.
        let (reduced, kept, rotating) = match self.purpose(asked.calibrates, asked.path) {
            Purpose::LeftOut => (posed + multiplied, rows, rotating + multiplied),
            Purpose::Solutions if self.is_primal(sizes) => (0, 0, 0),
            Purpose::Solutions => (posed, posed, 0),
        };
        let reducing = size * size + (posed + weighted).max(reduced + reducing);
        right_side + reducing.max(reflections + kept + rotating.max(after))
    }

    /// Solutions and scores at every λ.
    fn judging(&self, sizes: Sizes, asked: Asked) -> u64 {
        let Sizes { train, validation, columns, targets } = sizes.wide();
        let penalties = PENALTIES as u64;
        let size = if self.is_primal(sizes) { columns } else { train };
        // T + ξI of each, factorised.
        let factors = 2 * penalties * size;
        let judged = match self.selection {
            Selection::Fixed(_) => return 0,
            Selection::LeaveOneOut => {
                let nodes = LEFT_OUT_AT_A_TIME.min(sizes.train) as u64;
                // Scores and leverages of some nodes, and rows side by side for these.
                let of_thread = nodes * penalties * (targets + 1) + FORMS_AT_ONCE as u64 * size;
                // B of all λ.
                penalties * size * targets + asked.threads * of_thread
            }
            Selection::Validation => {
                // F or M of the nodes that are held out, and what M is computed from.
                let (inputs, computed) = match self.is_primal(sizes) {
                    true => (validation * columns, 0),
                    false => {
                        let copies = self.kernel.copies() * (validation + train) * columns;
                        (validation * train, validation * columns + copies)
                    }
                };
                // B of all λ becomes coefficients, by way of another basis or not, and these become scores.
                let ways = if self.is_primal(sizes) || !self.intercept { 1 } else { 2 };
                let scored = (ways * size + size.max(validation)) * penalties * targets;
                inputs + computed.max(scored)
            }
        };
        factors + judged + asked.judging / 8
    }

    fn predictor(&self, sizes: Sizes) -> u64 {
        self.predictor_memory(sizes) / 8
    }

    fn calibrating(&self, sizes: Sizes, asked: Asked) -> u64 {
        match asked.calibrates {
            true => Calibration::memory(sizes.train, sizes.targets, asked.threads) / 8,
            false => 0,
        }
    }
}

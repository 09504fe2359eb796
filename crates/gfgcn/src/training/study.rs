//! A training problem that stays factorised while λ is tried out.
//!
//! Filtering, the Gram matrix and its reduction serve every λ, and are nearly all of the work.

use crate::classifier::{Classifier, REMEDY};
use crate::context::{Context, Lease};
use crate::data::Dataset;
use crate::driver::{Budget, Driver, Filtered};
use crate::error::Result;
use crate::fit::Factorised;
use crate::head::Supervision;
use crate::matrix::Matrix;
use crate::model::Model;
use crate::ridge::{Purpose, Ridge, Selection};
use crate::split::Split;

/// Training nodes, each predicted by what is learnt without it.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The nodes.
    pub nodes: Vec<usize>,
    /// Their scores, nodes × target columns of the [head](Model::head).
    pub targets: Matrix<f64>,
}

/// What a classifier learns from, ready for any λ.
#[derive(Debug)]
pub struct Study {
    /// λ by leave-one-out.
    classifier: Classifier,
    dataset: Dataset,
    split: Split,
    filtered: Filtered,
    factorised: Factorised,
    lease: Lease,
}

impl Classifier {
    /// Prepares training on the training part of a split, for any λ.
    ///
    /// # Errors
    /// As [`Classifier::fit`].
    pub fn study(&self, dataset: &Dataset, split: &Split, context: &Context) -> Result<Study> {
        let classifier = self.choosing(Selection::LeaveOneOut);
        let context = &context.on_processor();
        context.run(|| {
            let lesson = classifier.lesson(dataset, split)?;
            Driver::check(dataset.features(), std::slice::from_ref(&classifier.design), context)?;
            let solving = classifier.solving(&lesson, classifier.design.columns(dataset));
            let budget = Budget { solving, ..Budget::default() };
            let driver = classifier.driver(dataset, &lesson, budget)?;
            let held = lesson.memory();
            let needed = held + driver.least_memory();
            let mut lease = context.memory().reserve("training", needed, REMEDY)?;
            let filtered = driver.run(0..1, context)?.remove(0);
            let ridge = classifier.ridge.on(lesson.kind());
            let factorised =
                ridge.factorise(Purpose::LeftOut, &Supervision::of(lesson)?, &filtered, context)?;
            // What was filtered stays, and is solved again and again.
            lease.shrink(needed.saturating_sub(held + filtered.memory() + solving));
            let (dataset, split) = (dataset.clone(), split.clone());
            Ok(Study { classifier, dataset, split, filtered, factorised, lease })
        })
    }

    /// With another way of choosing λ.
    fn choosing(&self, selection: Selection) -> Self {
        Classifier { ridge: Ridge { selection, ..self.ridge }, ..self.clone() }
    }
}

impl Study {
    /// The model for a λ, or for the best one by leave-one-out, with the scores of the training nodes when each is left out.
    ///
    /// It is the same, to the last bit, whatever was asked for before.
    ///
    /// # Errors
    /// A λ that is not positive and finite or too large for double precision, or that the work is cancelled.
    pub fn fit(&self, lambda: Option<f64>, context: &Context) -> Result<(Model, LeftOut)> {
        let selection = lambda.map_or(Ok(Selection::LeaveOneOut), Selection::fixed)?;
        let (classifier, dataset) = (self.classifier.choosing(selection), &self.dataset);
        let context = &context.on_processor();
        context.run(|| {
            let supervision = Supervision::of(classifier.lesson(dataset, &self.split)?)?;
            let ridge = classifier.ridge.on(dataset.targets().kind());
            let (factorised, filtered) = (&self.factorised, &self.filtered);
            let fitted = ridge.fit_factorised(factorised, &supervision, filtered, true, context)?;
            let (model, targets) = classifier.model(dataset, &supervision, fitted);
            Ok((model, LeftOut { nodes: self.split.train().to_vec(), targets }))
        })
    }

    /// Whether it is what a classifier would learn from, but for how λ is chosen.
    pub fn is_of(&self, classifier: &Classifier) -> bool {
        self.classifier == classifier.choosing(Selection::LeaveOneOut)
    }

    /// Bytes that it holds.
    pub fn memory(&self) -> u64 {
        self.lease.bytes()
    }
}

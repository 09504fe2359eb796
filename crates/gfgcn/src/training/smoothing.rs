//! Prediction sets that listen to neighbours.
//!
//! ```text
//! p̃(v) = (1 − γ) p(v) + γ mean of p(u) over the neighbours u of v
//! ```
//!
//! What a training node's own class has to fit is p̃ by what is learnt without the node. Its neighbours' scores know its label as
//! well, and must forget it: without node v the score of any node u is
//!
//! ```text
//! s(u) − q_uv w_v (y_v − s(v)) / (1 − w_v q_vv),   q_uv = F_u (Fᵀ diag(w) F + ξ I)⁻¹ F_vᵀ
//! ```
//!
//! with F centred and 1/Σw added to q where a constant is fitted. That is exact, and takes the filtered features of the
//! neighbours, which a model that keeps its training has.

use super::{Recipe, Residuals, Training};
use crate::calibration::Regions;
use crate::context::Context;
use crate::data::{Dataset, TargetKind};
use crate::driver::Filtered;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::gram_of_columns;
use crate::matrix::Matrix;
use crate::model::{Member, Model, Predictions};
use crate::ridge::{Scaling, column_means, factorise, scaled_rows};
use rayon::prelude::*;

/// Prediction sets by probabilities that are smoothed over neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothedSets {
    regions: Regions,
    /// p̃, nodes × classes.
    probabilities: Matrix<f64>,
}

impl SmoothedSets {
    /// The plausible classes of a node, positions in [`Model::classes`] in increasing order.
    pub fn set(&self, node: usize) -> Vec<u32> {
        self.regions.set(self.probabilities.row(node))
    }

    /// What is plausible.
    pub fn regions(&self) -> &Regions {
        &self.regions
    }
}

impl Model {
    /// Prediction sets at a coverage by probabilities that a share γ of the mean of a node's neighbours goes into; 0 are those of
    /// [`Predictions::plausible`]. `predictions` are those of all nodes of the dataset, which the model was trained on.
    ///
    /// # Errors
    /// A model that is not of classes, searched for, without a linear kernel, or does not [keep its training](crate::training); other
    /// data; a coverage or a share that is not between 0 and 1.
    pub fn smoothed_sets(
        &self,
        dataset: &Dataset,
        predictions: &Predictions,
        coverage: f64,
        share: f64,
        context: &Context,
    ) -> Result<SmoothedSets> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::parameter("smooth", share, "a number from 0 to 1"));
        }
        if self.head().kind() != TargetKind::Classes {
            let kind = self.head().kind();
            return Err(Error::Data(format!("only sets of classes are smoothed, not {kind}")));
        }
        let training = self.kept_training()?;
        let (Recipe::Described(_), Some(rows), [member]) =
            (&training.recipe, &training.rows, self.members())
        else {
            return Err(not_described());
        };
        let weights = member.predictor.weights().ok_or_else(not_described)?;
        training.check_source(dataset)?;
        Error::check_size("nodes that are predicted", dataset.nodes(), predictions.nodes())?;
        context.run(|| {
            let (train, columns) = (training.training_nodes(), rows.cols());
            let needed = 8 * (2 * train.len() * columns + columns * columns) as u64;
            let remedy = "use a machine with more memory";
            let _lease = context.memory().reserve("smoothing the sets", needed, remedy)?;
            let without = Without::new(training, member, rows, weights, &train, context)?;
            let link = self.calibration().link();
            let probabilities = |scores: &[f64]| link.probabilities(self.head(), scores);
            let all: Vec<Vec<f64>> =
                (0..dataset.nodes()).map(|node| predictions.probabilities(node)).collect();
            let targets = training.targets();
            let own = |node: usize| -> Option<usize> {
                let crate::data::Targets::Classes(labels) = &targets else { return None };
                let name = labels.name(node)?;
                self.classes().iter().position(|class| class == name)
            };
            let misfit = |(k, &node): (usize, &usize)| {
                let left_out = |other: usize| {
                    probabilities(&without.score(k, other, predictions.values(other)))
                };
                let smoothed = smooth(dataset.graph(), node, share, left_out);
                Some(1.0 - smoothed[own(node)?])
            };
            let mut misfits: Vec<f64> =
                train.par_iter().enumerate().filter_map(misfit).filter(|m| m.is_finite()).collect();
            misfits.sort_unstable_by(f64::total_cmp);
            let regions = Regions::new(coverage, &[misfits])?;
            let smoothed = |node: usize| smooth(dataset.graph(), node, share, |u| all[u].clone());
            let rows: Vec<f64> = (0..dataset.nodes()).flat_map(smoothed).collect();
            let probabilities = Matrix::from_rows(dataset.nodes(), self.classes().len(), rows)?;
            Ok(SmoothedSets { regions, probabilities })
        })
    }
}

fn not_described() -> Error {
    Error::Data(
        "sets are smoothed for models that are described and have a linear kernel; train one with --depth, --model or --design, and \
         --keep-training"
            .into(),
    )
}

/// p̃ of a node by the probabilities of nodes.
fn smooth(graph: &Graph, node: usize, share: f64, of: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
    let mut own = of(node);
    let neighbours = graph.neighbours(node);
    if neighbours.is_empty() || share == 0.0 {
        return own;
    }
    own.iter_mut().for_each(|p| *p *= 1.0 - share);
    let each = share / neighbours.len() as f64;
    for &other in neighbours {
        own.iter_mut().zip(of(other as usize)).for_each(|(p, other)| *p += each * other);
    }
    own
}

/// Scores by what is learnt without one training node.
struct Without<'a> {
    rows: &'a Filtered,
    /// Subtracted from rows.
    means: Vec<f64>,
    /// (Fᵀ diag(w) F + ξ I)⁻¹ F_vᵀ, one row per training node.
    solved: Matrix<f64>,
    /// Added to q.
    constant: f64,
    /// w_v (y_v − s(v)) / (1 − w_v q_vv), training nodes × targets.
    residuals: Matrix<f64>,
}

impl<'a> Without<'a> {
    fn new(
        training: &Training,
        member: &Member,
        rows: &'a Filtered,
        weights: &Matrix<f64>,
        train: &[usize],
        context: &Context,
    ) -> Result<Self> {
        let mut features = rows.of(train);
        let Residuals { weighted, counts } =
            training.residuals(member, &features, weights, context)?;
        let scaling = Scaling::new(counts.as_deref(), train.len())?;
        let weight = |v: usize| counts.as_ref().map_or(1.0, |counts| counts[v]);
        let mut means = vec![0.0; features.cols()];
        let mut constant = 0.0;
        if member.ridge.intercept {
            means = column_means(&features, scaling.as_ref());
            features.add_to_rows(-1.0, &means);
            constant = (0..train.len()).map(weight).sum::<f64>().recip();
        }
        let scaled = scaled_rows(features.clone(), scaling.as_ref());
        let gram = gram_of_columns(&scaled, context)?;
        drop(scaled);
        let factor = factorise(gram, member.lambda.recip(), context)?;
        let columns = Matrix::from_fn(features.cols(), train.len(), |j, v| features[(v, j)]);
        let solved = factor.solve(columns, context)?;
        let solved = Matrix::from_fn(train.len(), features.cols(), |v, j| solved[(j, v)]);
        let residuals = Matrix::from_fn(train.len(), weights.cols(), |v, c| {
            let own = dot(features.row(v), solved.row(v)) + constant;
            weighted[(v, c)] / (1.0 - weight(v) * own)
        });
        Ok(Without { rows, means, solved, constant, residuals })
    }

    /// The score of a node without the v-th training node.
    fn score(&self, v: usize, node: usize, score: &[f64]) -> Vec<f64> {
        let mut row = self.rows.of(&[node]);
        row.add_to_rows(-1.0, &self.means);
        let q = dot(row.row(0), self.solved.row(v)) + self.constant;
        score.iter().zip(self.residuals.row(v)).map(|(s, residual)| s - q * residual).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

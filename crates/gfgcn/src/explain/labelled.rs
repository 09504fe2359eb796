//! Which labelled nodes a score comes from: s_c(i) = b_c + Σ_j K_ij α_jc, over all members.
//!
//! α_j = w_j (y_j − s(j)) λ is how far the model stays from what node j says. A linear kernel has W = Fᵀα, so its scores are
//! the same sum whether weights or labelled nodes are summed over; so have landmarks, by whom nodes are similar as far as
//! they are similar to these.

use crate::context::Context;
use crate::data::Dataset;
use crate::design::Input;
use crate::driver::{Filtered, Rows};
use crate::error::Result;
use crate::features::Features;
use crate::graph::Graph;
use crate::linalg::{Cholesky, multiply};
use crate::matrix::Matrix;
use crate::model::{Member, Model};
use crate::predictor::Predictor;
use crate::ridge::{correct_representers, factorise_landmarks};
use crate::training::Training;

/// The labelled nodes of a member.
pub(super) struct Labelled {
    similarity: Similarity,
    /// α, nodes × targets.
    coefficients: Matrix<f64>,
}

/// K_ij of any node to the labelled ones.
enum Similarity {
    /// F_i · F_j, of a linear kernel.
    Rows { filtered: Filtered, nodes: Vec<usize> },
    /// As the kernel gives it: what it compares with are the labelled nodes.
    Direct,
    /// K(i, L) K(L, L)⁻¹ K(L, j) by landmarks L; K(j, L) and the factor of K(L, L).
    Landmarks { values: Matrix<f64>, factor: Cholesky },
}

/// The training of a model, if it tells on these data which labelled nodes scores come from: a described one has the rows of
/// its labelled nodes, a searched one has them filtered again, from the data it was trained on. Nodes that are known by
/// their links are known in that graph alone.
pub(super) fn training_of<'m>(model: &'m Model, dataset: &Dataset) -> Option<&'m Training> {
    let training = model.training()?;
    let anywhere = training.rows.is_some()
        && !model.members().iter().any(|member| member.design.filters(Input::Structure));
    (anywhere || training.check_source(dataset).is_ok()).then_some(training)
}

impl Labelled {
    /// Of the k-th member, on the data as the model sees them.
    pub(super) fn new(
        training: &Training,
        (k, member): (usize, &Member),
        graph: &Graph,
        features: &Features,
        context: &Context,
    ) -> Result<Self> {
        let nodes = training.training_nodes();
        if let Some(filtered) = &training.rows {
            return Labelled::described(training, member, filtered.clone(), nodes, context);
        }
        let rows = Rows::of(nodes.clone(), graph.nodes());
        let driver = member.driver(graph, features, rows, 0)?;
        let scoring = member.predictor.score_memory(nodes.len());
        let needed = driver.least_memory() + 2 * scoring;
        let remedy = "use a machine with more memory";
        let _lease = context.memory().reserve("explaining by labelled nodes", needed, remedy)?;
        let filtered = driver.run(0..1, context)?.remove(0);
        let similarity = match &member.predictor {
            Predictor::Linear { .. } => Similarity::Rows { filtered, nodes },
            Predictor::Kernel { kernel, scale, support, .. } => {
                let support = support.to_f64();
                let among = kernel.matrix(&support, &support, context)?;
                let mut rows = filtered.of(&nodes);
                rows.divide_columns_as_stored(scale.as_deref());
                Similarity::Landmarks {
                    values: kernel.matrix(&rows, &support, context)?,
                    factor: factorise_landmarks(among, context)?,
                }
            }
        };
        Ok(Labelled { similarity, coefficients: training.representers[k].clone() })
    }

    /// Of a model that is described, whose filtered rows are kept.
    fn described(
        training: &Training,
        member: &Member,
        filtered: Filtered,
        nodes: Vec<usize>,
        context: &Context,
    ) -> Result<Self> {
        let weights = match &member.predictor {
            Predictor::Linear { weights, .. } => weights,
            Predictor::Kernel { coefficients, .. } => {
                let coefficients = coefficients.clone();
                return Ok(Labelled { similarity: Similarity::Direct, coefficients });
            }
        };
        let rows = filtered.of(&nodes);
        let mut alpha = training.residuals(member, &rows, weights, context)?.weighted;
        alpha.as_mut_slice().iter_mut().for_each(|residual| *residual *= member.lambda);
        correct_representers(&mut alpha, &rows, weights, member.lambda.recip(), context)?;
        Ok(Labelled { similarity: Similarity::Rows { filtered, nodes }, coefficients: alpha })
    }

    /// The terms of a node, labelled nodes × targets, from its filtered features where the kernel is linear, and its similarity
    /// to what it is compared with elsewhere; one row.
    pub(super) fn terms(&self, row: Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        let similar = match &self.similarity {
            Similarity::Rows { filtered, nodes } => filtered.times_row(nodes, row.as_slice()),
            Similarity::Direct => row.into_vec(),
            Similarity::Landmarks { values, factor } => {
                let column = Matrix::from_rows(row.cols(), 1, row.into_vec())?;
                multiply(values, &factor.solve(column, context)?, context)?.into_vec()
            }
        };
        let alpha = &self.coefficients;
        Ok(Matrix::from_fn(alpha.rows(), alpha.cols(), |j, c| similar[j] * alpha[(j, c)]))
    }
}

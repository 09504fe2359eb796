//! The third side: scores of every node by linear predictors, without filtered features.

use super::Driver;
use crate::context::{Context, Scratch};
use crate::error::Result;
use crate::filter::Propagated;
use crate::matrix::Matrix;
use rayon::prelude::*;

impl Driver<'_> {
    /// Scores of every node by several linear predictors of one design, side by side: F W for each W (columns of
    /// the design × targets).
    ///
    /// F is never formed: p(Â)(X W) propagates one column per target. In double precision, because X W is much larger
    /// than its smoothed result when the filter is deep and λ large.
    ///
    /// # Errors
    /// If the work is cancelled.
    ///
    /// # Panics
    /// If W does not have one row per column of the design.
    pub fn scores(
        &self,
        design: usize,
        weights: &[&Matrix<f64>],
        context: &Context,
    ) -> Result<Matrix<f64>> {
        self.scores_with(design, weights, &[], context)
    }

    /// As [`Driver::scores`], with a constant for each column.
    pub(crate) fn scores_with(
        &self,
        design: usize,
        weights: &[&Matrix<f64>],
        constants: &[f64],
        context: &Context,
    ) -> Result<Matrix<f64>> {
        self.score_parts(design, weights, constants, context)?.sum(context.scratch())
    }

    /// As [`Driver::scores_with`], before channels are added up: whoever needs a few nodes at a time need not hold all.
    pub(crate) fn score_parts(
        &self,
        design: usize,
        weights: &[&Matrix<f64>],
        constants: &[f64],
        context: &Context,
    ) -> Result<ScoreParts> {
        let weights = Matrix::side_by_side(weights);
        let channels = &self.designs[design];
        assert_eq!(weights.rows(), self.columns(design), "one row per column of the design");
        let session = self.session(context)?;
        let mut channels_scores: Vec<(Propagated<f64>, f64)> = Vec::new();
        let mut keys = String::new();
        for (k, (channel, scale)) in channels.iter().enumerate() {
            let own = self.own_weights(design, k, &weights);
            let scores = match session {
                Some(session) => {
                    Propagated::whole(self.scores_on(session.as_ref(), channel, &own, context)?)
                }
                None => {
                    let filters = std::slice::from_ref(&channel.series);
                    let shelf = self.shelf(channel, filters, own.as_slice(), context);
                    keys.extend(shelf.as_ref().map(|shelf| shelf.key.clone()));
                    let layout = self.score_layout(channel, own.cols());
                    self.score_slabs(channel, &own, layout, 0..own.cols(), shelf, context)?
                }
            };
            channels_scores.push((scores, *scale));
        }
        let file = self.on_disk.then(|| format!("scores-{keys}"));
        Ok(ScoreParts { channels: channels_scores, constants: constants.to_vec(), file })
    }
}

/// Scores of every node, channel by channel: their sum is Σ scale · channel + constants.
pub(crate) struct ScoreParts {
    channels: Vec<(Propagated<f64>, f64)>,
    constants: Vec<f64>,
    /// The name of the file for the sum, where results go to a work folder.
    file: Option<String>,
}

impl ScoreParts {
    pub(crate) fn nodes(&self) -> usize {
        self.channels[0].0.rows()
    }

    /// The scores of a node.
    pub(crate) fn fill(&self, node: usize, out: &mut [f64]) {
        for (k, (channel, scale)) in self.channels.iter().enumerate() {
            let values = channel.row(node).flatten().map(|value| value * scale);
            for (out, value) in out.iter_mut().zip(values) {
                *out = if k == 0 { value } else { *out + value };
            }
        }
        out.iter_mut().zip(&self.constants).for_each(|(out, constant)| *out += constant);
    }

    /// The scores of all nodes, in memory or in a file.
    fn sum(&self, scratch: Option<&Scratch>) -> Result<Matrix<f64>> {
        let (rows, cols) = (self.nodes(), self.channels[0].0.cols());
        let Some((scratch, name)) = scratch.zip(self.file.as_ref()) else {
            let mut out = Matrix::zeros(rows, cols);
            let lines = out.as_mut_slice().par_chunks_mut(cols.max(1)).enumerate();
            lines.for_each(|(row, out)| self.fill(row, out));
            return Ok(out);
        };
        scratch.keep(name, rows, cols, |put| {
            let mut out = vec![0.0; cols];
            (0..rows).try_for_each(|row| {
                self.fill(row, &mut out);
                put(&out)
            })
        })
    }
}

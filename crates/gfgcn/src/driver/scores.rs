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
        let weights = Matrix::side_by_side(weights);
        let channels = &self.designs[design];
        assert_eq!(weights.rows(), self.columns(design), "one row per column of the design");
        let session = self.session(context)?;
        let mut parts: Vec<(Propagated<f64>, f64)> = Vec::new();
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
            parts.push((scores, *scale));
        }
        let scratch = context.scratch().filter(|_| self.on_disk);
        let kept = scratch.map(|scratch| (scratch, format!("scores-{keys}")));
        sum_of(&parts, constants, kept)
    }
}

/// Σ scale · part + constants, in memory or in a file.
fn sum_of(
    parts: &[(Propagated<f64>, f64)],
    constants: &[f64],
    kept: Option<(&Scratch, String)>,
) -> Result<Matrix<f64>> {
    let (rows, cols) = (parts[0].0.rows(), parts[0].0.cols());
    let fill = |row: usize, out: &mut [f64]| {
        for (k, (part, scale)) in parts.iter().enumerate() {
            let values = part.row(row).flatten().map(|value| value * scale);
            for (out, value) in out.iter_mut().zip(values) {
                *out = if k == 0 { value } else { *out + value };
            }
        }
        out.iter_mut().zip(constants).for_each(|(out, constant)| *out += constant);
    };
    let Some((scratch, name)) = kept else {
        let mut out = Matrix::zeros(rows, cols);
        let lines = out.as_mut_slice().par_chunks_mut(cols.max(1)).enumerate();
        lines.for_each(|(row, out)| fill(row, out));
        return Ok(out);
    };
    scratch.keep(&name, rows, cols, |put| {
        let mut out = vec![0.0; cols];
        (0..rows).try_for_each(|row| {
            fill(row, &mut out);
            put(&out)
        })
    })
}

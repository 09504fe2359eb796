//! Filtering and scoring on a device: what the driver plans, as arrays.

use super::{Driver, LoweredChannel, Side};
use crate::context::{Context, Work};
use crate::device::{DeviceInput, Operation, ResidentRows, Session};
use crate::error::Result;
use crate::filter::{Basis, Series};
use crate::matrix::Matrix;
use std::sync::Arc;

impl Driver<'_> {
    /// What was sent to the device of the context, if it has one.
    pub(super) fn session(&self, context: &Context) -> Result<Option<&Arc<dyn Session>>> {
        let Some(device) = context.device() else { return Ok(None) };
        if self.session.get().is_none() {
            let session = device.session()?;
            return Ok(Some(self.session.get_or_init(|| session)));
        }
        Ok(self.session.get())
    }

    /// What filtering all designs and scoring every node move.
    pub fn work(&self) -> Work {
        self.work_with(0.0)
    }

    /// The same beside systems of so many operations.
    pub(crate) fn work_with(&self, operations: f64) -> Work {
        Work { bytes: (self.cost(u64::MAX).bytes + self.scored_bytes()) as f64, operations }
    }

    /// Bytes that scoring every node by every design moves, if nothing were found in a cache.
    pub(super) fn scored_bytes(&self) -> u64 {
        let scores = self.designs.iter().flatten().map(|(channel, _)| {
            let nonzeros = self.shape_of(channel, Side::Features).nonzeros;
            8.0 * (channel.series.products() * nonzeros) as f64 * self.score_columns as f64
        });
        scores.sum::<f64>() as u64
    }

    /// Filters the features of one group on a device.
    pub(super) fn filter_on(
        &self,
        session: &dyn Session,
        group: &LoweredChannel,
        filters: &[Series],
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        let features = &self.inputs[group.input].rows;
        features.ready(0..features.cols())?;
        let operation = self.operation(group, group.side == Side::Selectors, filters);
        session.filter(&operation, self.input(group), group.side, self.rows.named(), context)
    }

    /// p(Â)(X W) of one channel on a device.
    pub(super) fn scores_on(
        &self,
        session: &dyn Session,
        channel: &LoweredChannel,
        weights: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let features = &self.inputs[channel.input].rows;
        features.ready(0..features.cols())?;
        let operation = self.operation(channel, false, std::slice::from_ref(&channel.series));
        session.scores(&operation, self.input(channel), weights, context)
    }

    fn input(&self, channel: &LoweredChannel) -> DeviceInput<'_> {
        DeviceInput { key: channel.input, features: self.inputs[channel.input].rows.as_ref() }
    }

    fn operation<'a>(
        &'a self,
        channel: &LoweredChannel,
        transposed: bool,
        filters: &'a [Series],
    ) -> Operation<'a> {
        let propagator = &self.operators[channel.operator].1;
        let (there, sums) = propagator.sums(transposed);
        let outer = &self.outer_scales[channel.operator][usize::from(transposed)];
        Operation {
            key: 2 * channel.operator + usize::from(transposed),
            there,
            sums,
            outer: outer.get_or_init(|| propagator.outer_scales(transposed)),
            basis: filters.first().map_or_else(Basis::default, Series::basis),
            polynomials: filters.iter().map(Series::coefficients).collect(),
        }
    }
}

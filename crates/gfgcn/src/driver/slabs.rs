//! Slabs of columns: how they are filtered and scored, and under which names a work folder keeps them.

use super::{Driver, LoweredChannel, Rows, Side};
use crate::context::Context;
use crate::error::Result;
use crate::filter::{
    Layout, Propagated, Selectors, Series, Shelf, Slabs, Source, TimesFeatures, Weighted,
    propagate_as,
};
use crate::graph::Propagator;
use crate::hex::hex;
use crate::matrix::Matrix;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;

impl<'d> Driver<'d> {
    /// Filters the features of one group from its side.
    pub(super) fn filter(
        &self,
        group: &LoweredChannel,
        filters: &[Series],
        context: &Context,
    ) -> Result<Vec<Propagated<f32>>> {
        let shelf = self.shelf(group, filters, &[], context);
        let layout = self.layout(group, group.side, filters);
        self.filter_slabs(group, filters, layout, 0..self.source_columns(group), shelf, context)
    }

    /// The columns that are propagated to filter the features of a group.
    pub(super) fn source_columns(&self, group: &LoweredChannel) -> usize {
        match group.side {
            Side::Features => self.inputs[group.input].rows.cols(),
            Side::Selectors => self.rows.some().unwrap_or(self.nodes),
        }
    }

    /// Filters some columns, cut in a way.
    pub(super) fn filter_slabs(
        &self,
        group: &LoweredChannel,
        filters: &[Series],
        layout: Layout,
        columns: Range<usize>,
        shelf: Option<Shelf>,
        context: &Context,
    ) -> Result<Vec<Propagated<f32>>> {
        let (layout, propagator) = self.unless_finished(layout, group, &columns, shelf.as_ref());
        let features = self.inputs[group.input].rows.as_ref();
        let nodes = match self.rows.named() {
            Some(nodes) => Cow::Borrowed(nodes),
            None => Cow::Owned(self.every_node()),
        };
        match group.side {
            Side::Features => {
                let (width, source) = (layout.width, features);
                let sink = Slabs::<f32>::of_width(width, nodes.len(), columns.len(), shelf);
                propagate_as(
                    layout, columns, context, propagator, false, filters, source, &nodes, &sink,
                )?;
                Ok(sink.finish(filters.len()))
            }
            Side::Selectors => {
                let selectors = Selectors::new(&nodes, self.nodes);
                let everywhere = self.every_node();
                let sink = TimesFeatures::new(features, shelf);
                let (source, nodes) = (&selectors, &everywhere);
                propagate_as(
                    layout, columns, context, propagator, true, filters, source, nodes, &sink,
                )?;
                Ok(sink.finish(filters.len()))
            }
        }
    }

    /// How columns are cut and by what they are multiplied; where every slab is on the shelf already, as they were cut then,
    /// and nothing need be prepared.
    pub(super) fn unless_finished(
        &self,
        layout: Layout,
        channel: &LoweredChannel,
        columns: &Range<usize>,
        shelf: Option<&Shelf>,
    ) -> (Layout, &Propagator<'d>) {
        match shelf.and_then(|shelf| shelf.finished_width(columns.len())) {
            Some(width) => (Layout { width, ..layout }, &self.operators[channel.operator].1),
            None => (layout, self.prepared(channel)),
        }
    }

    /// Where slabs of a group are kept.
    pub(super) fn shelf(
        &self,
        group: &LoweredChannel,
        filters: &[Series],
        weights: &[f64],
        context: &Context,
    ) -> Option<Shelf> {
        let scratch = context.scratch().filter(|_| self.on_disk)?;
        let key = self.key(group, filters, weights, scratch.purpose());
        Some(Shelf { scratch: scratch.clone(), key, filters: filters.len() })
    }

    /// What slabs of a group depend on: the data, which the purpose of a work folder names, the operator, the input, the side, the
    /// filters, the rows that are asked for, and numbers that are multiplied by.
    pub(super) fn key(
        &self,
        group: &LoweredChannel,
        filters: &[Series],
        weights: &[f64],
        purpose: &str,
    ) -> String {
        let input = &self.inputs[group.input];
        let mut hash = Sha256::new();
        hash.update(purpose);
        let (operator, part, side) = (&self.operators[group.operator].0, input.input, group.side);
        let version = env!("CARGO_PKG_VERSION");
        hash.update(format!("{version} {operator} {part} {} {side}", input.scaling));
        for filter in filters {
            hash.update(format!("{:?}", filter.basis()));
            filter.coefficients().iter().for_each(|c| hash.update(c.to_le_bytes()));
        }
        if let Rows::Some { nodes, .. } = &*self.rows {
            nodes.iter().for_each(|&node| hash.update((node as u64).to_le_bytes()));
        }
        weights.iter().for_each(|w| hash.update(w.to_le_bytes()));
        hex(&hash.finalize()[..12])
    }

    /// The rows of W that belong to a channel of a design.
    pub(super) fn own_weights<'w>(
        &self,
        design: usize,
        channel: usize,
        weights: &'w Matrix<f64>,
    ) -> Cow<'w, Matrix<f64>> {
        let channels = &self.designs[design];
        let columns = |channel: &LoweredChannel| self.inputs[channel.input].rows.cols();
        let first: usize = channels[..channel].iter().map(|(before, _)| columns(before)).sum();
        match channels.len() {
            1 => Cow::Borrowed(weights),
            _ => {
                let rows: Vec<usize> = (first..first + columns(&channels[channel].0)).collect();
                Cow::Owned(weights.select_rows(&rows))
            }
        }
    }

    /// Some columns of p(Â)(X W) of a channel, cut in a way.
    pub(super) fn score_slabs(
        &self,
        channel: &LoweredChannel,
        weights: &Matrix<f64>,
        layout: Layout,
        columns: Range<usize>,
        shelf: Option<Shelf>,
        context: &Context,
    ) -> Result<Propagated<f64>> {
        let (layout, propagator) = self.unless_finished(layout, channel, &columns, shelf.as_ref());
        let features = self.inputs[channel.input].rows.as_ref();
        let (filters, nodes) = (std::slice::from_ref(&channel.series), self.every_node());
        let sink = Slabs::of_width(layout.width, nodes.len(), columns.len(), shelf);
        let run = |source: &dyn Source<f64>| {
            let (nodes, sink) = (&nodes, &sink);
            propagate_as(layout, columns, context, propagator, false, filters, source, nodes, sink)
        };
        if self.on_disk {
            run(&Weighted { features, weights })?;
        } else {
            features.ready(0..features.cols())?;
            run(&features.times(weights))?;
        }
        Ok(sink.finish(1).remove(0))
    }

    /// The operator of a channel, for the processor.
    pub(super) fn prepared(&self, channel: &LoweredChannel) -> &Propagator<'d> {
        let propagator = &self.operators[channel.operator].1;
        propagator.prepare();
        propagator
    }

    pub(super) fn every_node(&self) -> Vec<usize> {
        (0..self.nodes).collect()
    }
}

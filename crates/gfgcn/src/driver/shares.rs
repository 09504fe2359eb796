//! Filtering and scoring in shares: slabs that other machines compute, as the files by which this one finds them.
//!
//! Columns are independent, and how they are cut changes no bit. So a share is nothing but a range of columns, and what comes of it is what
//! a run with a work folder would have written there.

use super::budget::narrowed;
use super::{Driver, LoweredChannel, Side};
use crate::buffer::{Plain, little_endian};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::filter::{Layout, Series, Shelf};
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};
use std::ops::Range;

const REMEDY: &str =
    "give workers more memory, or say how much each has, so that slabs are narrower";

/// How work is cut into shares.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// How many of them are to be had, at least, where there are enough columns or splits.
    pub shares: usize,
    /// Bytes that one may take.
    pub memory: u64,
}

/// Some of the columns that one group of channels filters, or one channel scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slab {
    pub(crate) group: usize,
    pub(crate) columns: Range<usize>,
}

/// What came of a share: a file for the work folder of the run that it is a part of.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its name there, which says what it depends on.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Piece {
    fn of<T: Plain + Default>(name: String, matrix: &Matrix<T>) -> Self {
        Piece { name, bytes: little_endian(matrix.as_slice()).into_owned() }
    }
}

impl Cut {
    /// Ranges of so many columns: no wider than a layout has them, no wider than shares enough can be had with, and as narrow as
    /// the memory asks for.
    fn ranges(
        self,
        columns: usize,
        layout: Layout,
        memory: impl Fn(Layout) -> u64,
    ) -> Vec<Range<usize>> {
        let even = Layout::stride(columns.div_ceil(self.shares.max(1)));
        let layout = Layout { width: layout.width.min(even), at_once: 1, ..layout };
        let width = narrowed(layout, |layout| memory(layout) <= self.memory).width.max(1);
        (0..columns).step_by(width).map(|start| start..columns.min(start + width)).collect()
    }
}

impl Driver<'_> {
    /// The slabs of the filtered features of the first design, each with its files.
    pub(crate) fn filter_shares(&self, cut: Cut, purpose: &str) -> Vec<(Slab, Vec<String>)> {
        let mut shares = Vec::new();
        for (k, group) in self.groups(0..1).into_iter().enumerate() {
            let filters = series_of(&group);
            let key = self.key(group[0], &filters, &[], purpose);
            let columns = self.source_columns(group[0]);
            let layout = self.shape_of(group[0], group[0].side).layout(group[0].side);
            let memory = |layout| self.filter_share_memory(group[0], &filters, layout);
            for columns in cut.ranges(columns, layout, memory) {
                let name = |filter| Shelf::name(&key, filter, &columns);
                let names = (0..filters.len()).map(name).collect();
                shares.push((Slab { group: k, columns }, names));
            }
        }
        shares
    }

    /// Computes one of them.
    pub(crate) fn filter_share(
        mut self,
        slab: &Slab,
        purpose: &str,
        context: &Context,
    ) -> Result<Vec<Piece>> {
        let filters = series_of(self.groups(0..1).get(slab.group).ok_or_else(strange)?);
        self.renumber_for(crate::filter::products(&filters) * slab.columns.len());
        let groups = self.groups(0..1);
        let group = groups[slab.group][0];
        let columns = checked(&slab.columns, self.source_columns(group))?;
        let widest = self.shape_of(group, group.side).layout(group.side);
        let layout = Layout { width: columns.len(), at_once: 1, ..widest };
        let needed = self.filter_share_memory(group, &filters, layout);
        let _lease = context.memory().reserve("filtering a slab of columns", needed, REMEDY)?;
        let key = self.key(group, &filters, &[], purpose);
        let filtered =
            self.filter_slabs(group, &filters, layout, columns.clone(), None, context)?;
        let pieces = filtered.iter().enumerate();
        Ok(pieces.map(|(k, f)| Piece::of(Shelf::name(&key, k, &columns), &f.slabs()[0])).collect())
    }

    /// The slabs of the scores of every node by the first design, each with its file.
    pub(crate) fn score_shares(
        &self,
        weights: &Matrix<f64>,
        cut: Cut,
        purpose: &str,
    ) -> Vec<(Slab, Vec<String>)> {
        let mut shares = Vec::new();
        for (k, (channel, _)) in self.designs[0].iter().enumerate() {
            let own = self.own_weights(0, k, weights);
            let filters = std::slice::from_ref(&channel.series);
            let key = self.key(channel, filters, own.as_slice(), purpose);
            let layout = Layout::new::<f64>(self.nodes, own.cols());
            let memory = |layout| self.score_share_memory(channel, layout);
            for columns in cut.ranges(own.cols(), layout, memory) {
                let names = vec![Shelf::name(&key, 0, &columns)];
                shares.push((Slab { group: k, columns }, names));
            }
        }
        shares
    }

    /// Computes one of them.
    pub(crate) fn score_share(
        mut self,
        weights: &Matrix<f64>,
        slab: &Slab,
        purpose: &str,
        context: &Context,
    ) -> Result<Vec<Piece>> {
        let products = self.designs[0].get(slab.group).ok_or_else(strange)?.0.series.products();
        self.renumber_for(products * slab.columns.len());
        let channel = &self.designs[0][slab.group].0;
        let own = self.own_weights(0, slab.group, weights);
        let columns = checked(&slab.columns, own.cols())?;
        let layout = Layout::new::<f64>(self.nodes, own.cols());
        let layout = Layout { width: columns.len(), at_once: 1, ..layout };
        let needed = self.score_share_memory(channel, layout);
        let _lease = context.memory().reserve("scoring a slab of classes", needed, REMEDY)?;
        let filters = std::slice::from_ref(&channel.series);
        let key = self.key(channel, filters, own.as_slice(), purpose);
        let scores = self.score_slabs(channel, &own, layout, columns.clone(), None, context)?;
        Ok(vec![Piece::of(Shelf::name(&key, 0, &columns), &scores.slabs()[0])])
    }

    /// Bytes that filtering a slab takes, with what comes of it as numbers and as a file.
    fn filter_share_memory(
        &self,
        group: &LoweredChannel,
        filters: &[Series],
        layout: Layout,
    ) -> u64 {
        let shape = self.shape_of(group, group.side);
        let values = match group.side {
            Side::Features => shape.rows * layout.width,
            Side::Selectors => shape.features * layout.width,
        };
        let results = 2 * 4 * (filters.len() * values) as u64;
        self.own_memory() + shape.cost(group.side, filters, layout).memory + results
    }

    /// The same of scoring.
    fn score_share_memory(&self, channel: &LoweredChannel, layout: Layout) -> u64 {
        let shape = self.shape_of(channel, Side::Features);
        self.own_memory() + shape.scores(&channel.series, layout.width, 1, layout, false)
    }
}

fn series_of(group: &[&LoweredChannel]) -> Vec<Series> {
    group.iter().map(|channel| channel.series.clone()).collect()
}

/// Columns of a share, if there are such.
fn checked(columns: &Range<usize>, all: usize) -> Result<Range<usize>> {
    if columns.is_empty() || columns.end > all { Err(strange()) } else { Ok(columns.clone()) }
}

/// A share that is none of this work.
pub(crate) fn strange() -> Error {
    Error::Data("the share belongs to other work".into())
}

//! Filtered features of some nodes.

use crate::context::Context;
use crate::design::Design;
use crate::device::ResidentRows;
use crate::error::Result;
use crate::filter::Propagated;
use crate::linalg::{multiply, multiply_transposed};
use crate::matrix::Matrix;
use crate::pages::LINE;
use crate::simd::prefetch;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Columns of filtered features that are in double precision at a time, where they are many.
pub(crate) const PANEL: usize = 1024;

/// The nodes whose filtered features are wanted.
#[derive(Clone, Debug)]
pub enum Rows {
    /// All nodes.
    All,
    /// Some nodes, in increasing order and once each; made by [`Rows::of`].
    #[non_exhaustive]
    Some {
        /// The nodes.
        nodes: Vec<usize>,
        /// The position of each node of the graph among them; `u32::MAX` for none.
        position: Vec<u32>,
    },
}

impl Rows {
    /// Some nodes out of `total`, in any order and perhaps more than once.
    ///
    /// # Panics
    /// If a node is not below `total`.
    pub fn of(mut nodes: Vec<usize>, total: usize) -> Self {
        nodes.sort_unstable();
        nodes.dedup();
        let mut position = vec![u32::MAX; total];
        nodes.iter().zip(0..).for_each(|(&node, k)| position[node] = k);
        Rows::Some { nodes, position }
    }

    /// The nodes, where they are not all.
    pub(super) fn named(&self) -> Option<&[usize]> {
        match self {
            Rows::All => None,
            Rows::Some { nodes, .. } => Some(nodes),
        }
    }

    /// How many they are, where they are not all.
    pub(crate) fn some(&self) -> Option<usize> {
        self.named().map(<[usize]>::len)
    }

    /// Bytes that it takes.
    pub(super) fn memory(&self) -> u64 {
        match self {
            Rows::All => 0,
            Rows::Some { nodes, position } => (8 * nodes.len() + 4 * position.len()) as u64,
        }
    }

    /// The row of a node among those that were kept.
    fn position(&self, node: usize) -> usize {
        match self {
            Rows::All => node,
            Rows::Some { position, .. } => {
                assert!(position[node] != u32::MAX, "node {node} was not asked for");
                position[node] as usize
            }
        }
    }
}

/// The filtered features of a design: its channels side by side, on the rows that were asked for.
#[derive(Clone, Debug)]
pub struct Filtered {
    held: Held,
    rows: Arc<Rows>,
}

/// Channels, each with what its values are multiplied by.
#[derive(Clone, Debug)]
enum Held {
    Here(Vec<(Arc<Propagated<f32>>, f64)>),
    OnDevice(Vec<(Arc<dyn ResidentRows>, f64)>),
}

impl PartialEq for Filtered {
    /// By what they hold, however that is cut into slabs.
    fn eq(&self, other: &Self) -> bool {
        let same = |((one, a), (two, b)): (&(Arc<Propagated<f32>>, f64), &(_, f64))| {
            let two: &Arc<Propagated<f32>> = two;
            a == b && (Arc::ptr_eq(one, two) || one.to_native() == two.to_native())
        };
        self.rows() == other.rows()
            && self.present().len() == other.present().len()
            && self.present().iter().zip(other.present()).all(same)
    }
}

impl Filtered {
    pub(super) fn here(channels: Vec<(Arc<Propagated<f32>>, f64)>, rows: Arc<Rows>) -> Self {
        Filtered { held: Held::Here(channels), rows }
    }

    pub(super) fn on_device(channels: Vec<(Arc<dyn ResidentRows>, f64)>, rows: Arc<Rows>) -> Self {
        Filtered { held: Held::OnDevice(channels), rows }
    }

    /// The rows in the machine's memory, wherever they were computed.
    ///
    /// # Errors
    /// If the device that has them fails.
    pub fn fetched(self) -> Result<Self> {
        let Held::OnDevice(channels) = &self.held else { return Ok(self) };
        let fetch = |(channel, scale): &(Arc<dyn ResidentRows>, f64)| {
            Ok((Arc::new(Propagated::whole(channel.fetch()?)), *scale))
        };
        Ok(Filtered::here(channels.iter().map(fetch).collect::<Result<_>>()?, self.rows))
    }

    /// The channels, each with what its values are multiplied by, if they are on a device.
    pub fn resident(&self) -> Option<&[(Arc<dyn ResidentRows>, f64)]> {
        match &self.held {
            Held::OnDevice(channels) => Some(channels),
            Held::Here(_) => None,
        }
    }

    /// The channels in the machine's memory. Whoever reads rows has asked the driver for these.
    fn present(&self) -> &[(Arc<Propagated<f32>>, f64)] {
        match &self.held {
            Held::Here(channels) => channels,
            Held::OnDevice(_) => unreachable!("rows on a device are fetched before they are read"),
        }
    }

    /// The rows of some nodes among those that were kept.
    pub(crate) fn positions(&self, nodes: &[usize]) -> Vec<usize> {
        nodes.iter().map(|&node| self.rows.position(node)).collect()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match &self.held {
            Held::Here(channels) => channels[0].0.rows(),
            Held::OnDevice(channels) => channels[0].0.rows(),
        }
    }

    /// The number of columns, over all channels.
    pub fn cols(&self) -> usize {
        match &self.held {
            Held::Here(channels) => channels.iter().map(|(channel, _)| channel.cols()).sum(),
            Held::OnDevice(channels) => channels.iter().map(|(channel, _)| channel.cols()).sum(),
        }
    }

    /// The rows of some nodes, in double precision.
    ///
    /// # Panics
    /// If a node is not among those that were asked for.
    pub fn of(&self, nodes: &[usize]) -> Matrix<f64> {
        self.gather(&self.positions(nodes))
    }

    /// A range of the rows, in double precision.
    pub fn range(&self, rows: Range<usize>) -> Matrix<f64> {
        self.gather(&rows.collect::<Vec<usize>>())
    }

    /// A range of the columns of all rows, in double precision.
    pub(crate) fn columns(&self, columns: Range<usize>) -> Matrix<f64> {
        let mut out = Matrix::zeros(self.rows(), columns.len());
        let width = columns.len().max(1);
        out.as_mut_slice().par_chunks_mut(width).enumerate().for_each(|(row, out)| {
            let mut first = 0;
            for (channel, scale) in self.present() {
                for piece in channel.row(row) {
                    let here = first..first + piece.len();
                    let (from, to) = (columns.start.max(here.start), columns.end.min(here.end));
                    for column in from..to.max(from) {
                        out[column - columns.start] = scale * f64::from(piece[column - first]);
                    }
                    first = here.end;
                }
            }
        });
        out
    }

    /// Fᵀ B for B with as many rows, a panel of columns of F at a time.
    pub(crate) fn transposed_times(
        &self,
        b: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let panels = self.panels();
        let parts = panels.map(|panel| multiply_transposed(&self.columns(panel), b, context));
        Ok(Matrix::stacked(&parts.collect::<Result<Vec<_>>>()?))
    }

    /// F B for B with as many rows as there are columns, a panel of columns of F at a time.
    pub(crate) fn times(&self, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        let mut total = Matrix::zeros(self.rows(), b.cols());
        for panel in self.panels() {
            let own = b.select_rows(&panel.clone().collect::<Vec<usize>>());
            total.add_scaled(1.0, &multiply(&self.columns(panel), &own, context)?);
        }
        Ok(total)
    }

    /// F_j · x for some nodes j and a row x as wide as these.
    pub(crate) fn times_row(&self, nodes: &[usize], x: &[f64]) -> Vec<f64> {
        let product = |&node: &usize| {
            let row = self.rows.position(node);
            let (mut first, mut sum) = (0, 0.0);
            for (channel, scale) in self.present() {
                for piece in channel.row(row) {
                    let pairs = piece.iter().zip(&x[first..]);
                    sum += pairs.map(|(&value, x)| scale * f64::from(value) * x).sum::<f64>();
                    first += piece.len();
                }
            }
            sum
        };
        nodes.par_iter().map(product).collect()
    }

    /// Ranges of columns, so many that they fit in memory in double precision.
    pub(crate) fn panels(&self) -> impl Iterator<Item = Range<usize>> {
        let columns = self.cols();
        (0..columns).step_by(PANEL).map(move |first| first..columns.min(first + PANEL))
    }

    /// All rows, in the precision they were computed in.
    pub fn to_matrix(&self) -> Matrix<f32> {
        match self.present() {
            [(only, scale)] if *scale == 1.0 => only.to_native(),
            several => {
                let scaled = |(channel, scale): &(Arc<Propagated<f32>>, f64)| {
                    let mut values = channel.to_native();
                    values.as_mut_slice().iter_mut().for_each(|value| *value *= *scale as f32);
                    values
                };
                let parts: Vec<Matrix<f32>> = several.iter().map(scaled).collect();
                Matrix::side_by_side(&parts.iter().collect::<Vec<_>>())
            }
        }
    }

    /// The channels as they were computed, before they are multiplied by anything.
    pub(crate) fn channels(&self) -> impl Iterator<Item = Matrix<f32>> {
        self.present().iter().map(|(channel, _)| channel.to_native())
    }

    /// Those of a design on all nodes, one matrix per channel, as [`Filtered::channels`] gives them.
    pub(crate) fn from_channels(design: &Design, channels: Vec<Matrix<f32>>) -> Self {
        let scales = design.channels().iter().map(|channel| channel.weight.sqrt());
        let channels = channels.into_iter().map(|channel| Arc::new(Propagated::whole(channel)));
        Filtered::here(channels.zip(scales).collect(), Arc::new(Rows::All))
    }

    /// The rows of all nodes of a design, each from a row of one of several parts.
    pub(crate) fn joined(design: &Design, parts: &[&Filtered], rows: &[(usize, usize)]) -> Self {
        let channel = |k: usize| {
            let columns = parts[0].present()[k].0.cols();
            let mut out = Matrix::zeros(rows.len(), columns);
            let lines = out.as_mut_slice().par_chunks_mut(columns.max(1)).zip(rows);
            lines.for_each(|(mut out, &(part, row))| {
                for piece in parts[part].present()[k].0.row(row) {
                    let (now, later) = out.split_at_mut(piece.len());
                    now.copy_from_slice(piece);
                    out = later;
                }
            });
            out
        };
        let channels = (0..design.channels().len()).map(channel).collect();
        Filtered::from_channels(design, channels)
    }

    /// Whether all values are finite.
    pub(crate) fn is_finite(&self) -> bool {
        let finite = |(channel, _): &(Arc<Propagated<f32>>, f64)| {
            (0..channel.rows())
                .into_par_iter()
                .all(|row| channel.row(row).flatten().all(|value| value.is_finite()))
        };
        self.present().iter().all(finite)
    }

    /// Bytes that it takes.
    pub(crate) fn memory(&self) -> u64 {
        4 * (self.rows() * self.cols()) as u64
    }

    fn gather(&self, rows: &[usize]) -> Matrix<f64> {
        /// From this many entries on, threads share the work.
        const MANY: usize = 1 << 21;
        let cols = self.cols();
        if rows.len() * cols < MANY {
            // Written once, not first filled with zeros: a sweep makes hundreds of these.
            let mut data = Vec::with_capacity(rows.len() * cols);
            for (k, &row) in rows.iter().enumerate() {
                for (channel, scale) in self.present() {
                    // A row is in as many places as there are slabs, and no processor guesses where.
                    if let Some(&next) = rows.get(k + 1) {
                        for piece in channel.row(next) {
                            let lines = (0..piece.len()).step_by(LINE / size_of::<f32>());
                            lines.for_each(|entry| prefetch(piece, entry));
                        }
                    }
                    for piece in channel.row(row) {
                        data.extend(piece.iter().map(|&value| scale * f64::from(value)));
                    }
                }
            }
            return Matrix::from_rows(rows.len(), cols, data).expect("whole rows");
        }
        let mut out = Matrix::zeros(rows.len(), cols);
        out.as_mut_slice().par_chunks_mut(cols).zip(rows).for_each(|(mut out, &row)| {
            for (channel, scale) in self.present() {
                for piece in channel.row(row) {
                    let (now, later) = out.split_at_mut(piece.len());
                    let values = piece.iter().map(|&value| scale * f64::from(value));
                    now.iter_mut().zip(values).for_each(|(out, value)| *out = value);
                    out = later;
                }
            }
        });
        out
    }
}

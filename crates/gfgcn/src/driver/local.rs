//! The filtered features of a few nodes, at the cost of what is around them.
//!
//! Row i of p(Â) is p(Â)ᵀ e_i, a column that starts with one entry and grows by one step of the graph per product. While it
//! is small, following it is far less work than a pass over the graph.

use super::series;
use crate::context::Context;
use crate::design::{Channel, Design, Input, RowScaling};
use crate::error::Result;
use crate::features::Features;
use crate::filter::{Series, recurrence};
use crate::graph::{Graph, NearOperator, Reached, Step};
use crate::matrix::Matrix;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// A design on a graph, ready for a few nodes at a time.
pub(crate) struct Local<'d> {
    graph: &'d Graph,
    features: &'d Features,
    channels: Vec<LocalChannel<'d>>,
}

struct LocalChannel<'d> {
    channel: &'d Channel,
    operator: NearOperator<'d>,
    series: Series,
}

/// What following one node takes: columns by place.
struct Workspace {
    reached: Reached,
    now: Vec<f64>,
    before: Vec<f64>,
    next: Vec<f64>,
    between: Vec<f64>,
    sum: Vec<f64>,
}

impl Workspace {
    fn new(nodes: usize) -> Self {
        let [now, before, next, between, sum] = [const { Vec::new() }; 5];
        Workspace { reached: Reached::none(nodes), now, before, next, between, sum }
    }
}

impl<'d> Local<'d> {
    /// # Errors
    /// A relation that the graph does not have, or a channel of features where there are none.
    pub(crate) fn new(
        graph: &'d Graph,
        features: &'d Features,
        design: &'d Design,
    ) -> Result<Self> {
        if design.filters(Input::Features) {
            // Refuses features that are not there, as whoever filters all of them does.
            Input::Features.rows(graph, features, RowScaling::Plain)?;
        }
        let local = |channel: &'d Channel| {
            let operator = NearOperator::new(graph, &channel.operator)?;
            let bounded = operator.has_bounded_real_spectrum();
            Ok(LocalChannel {
                channel,
                operator,
                series: series(channel, bounded, design.tolerance),
            })
        };
        let channels = design.channels().iter().map(local).collect::<Result<_>>()?;
        Ok(Local { graph, features, channels })
    }

    /// How far away from a node something can be and still have a part in its filtered features.
    pub(crate) fn steps(&self) -> usize {
        let steps = |c: &LocalChannel<'_>| c.series.products() * c.operator.steps();
        self.channels.iter().map(steps).max().unwrap_or(0)
    }

    /// The number of columns of the filtered features.
    pub(crate) fn columns(&self) -> usize {
        let columns = |c: &LocalChannel<'_>| c.channel.input.columns(self.graph, self.features);
        self.channels.iter().map(columns).sum()
    }

    /// Bytes that it takes to follow nodes on all threads.
    pub(crate) fn memory(&self) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        threads * (48 * self.graph.nodes() + 16 * self.columns()) as u64
    }

    /// Additions that scores of all nodes would take, so many columns of them.
    pub(crate) fn whole(&self, columns: usize) -> u64 {
        let products =
            |c: &LocalChannel<'_>| (c.series.products() * c.operator.nonzeros() * columns) as u64;
        self.channels.iter().map(products).sum()
    }

    /// The filtered features of some nodes in double precision, nodes × columns; `None` if that takes more additions than
    /// `most`.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub(crate) fn rows(
        &self,
        nodes: &[usize],
        most: u64,
        context: &Context,
    ) -> Result<Option<Matrix<f64>>> {
        let columns = self.columns();
        let spent = AtomicU64::new(0);
        let mut out = Matrix::zeros(nodes.len(), columns);
        let rows = out.as_mut_slice().par_chunks_mut(columns.max(1)).zip(nodes);
        let total = self.graph.nodes();
        let enough = rows
            .map_init(
                || Workspace::new(total),
                |workspace, (mut out, &node)| -> Result<bool> {
                    for channel in &self.channels {
                        context.check()?;
                        let width = channel.channel.input.columns(self.graph, self.features);
                        let (own, rest) = out.split_at_mut(width);
                        let within = |work: usize| {
                            spent.fetch_add(work as u64, Ordering::Relaxed) + work as u64 <= most
                        };
                        if !self.row(channel, node, workspace, own, within) {
                            return Ok(false);
                        }
                        out = rest;
                    }
                    Ok(true)
                },
            )
            .try_reduce(|| true, |one, other| Ok(one && other))?;
        Ok(enough.then_some(out))
    }

    /// One channel's part of a row; false if `within` says that it is too much.
    fn row(
        &self,
        LocalChannel { channel, operator, series }: &LocalChannel<'_>,
        node: usize,
        workspace: &mut Workspace,
        out: &mut [f64],
        within: impl Fn(usize) -> bool,
    ) -> bool {
        let Workspace { reached, now, before, next, between, sum } = workspace;
        reached.clear();
        reached.place(node as u32);
        before.clear();
        *now = vec![operator.scale_before(node)];
        *sum = vec![series.coefficients()[0] * now[0]];
        for (k, &coefficient) in series.coefficients().iter().enumerate().skip(1) {
            let edges = operator.spread(reached, now, between, next);
            if !within(edges) {
                return false;
            }
            let Step { a, b, c } = recurrence::<f64>(series.basis(), k);
            next.iter_mut().for_each(|value| *value *= a);
            add_scaled(next, b, now);
            add_scaled(next, c, before);
            sum.resize(next.len(), 0.0);
            add_scaled(sum, coefficient, next);
            std::mem::swap(before, now);
            std::mem::swap(now, next);
        }
        // In the order of the nodes, so that sums do not depend on how they were found.
        let parts = reached.nodes().iter().zip(&*sum).filter(|(_, part)| **part != 0.0);
        let mut parts: Vec<(usize, f64)> = parts
            .map(|(&node, part)| (node as usize, part * operator.scale_after(node as usize)))
            .collect();
        parts.sort_unstable_by_key(|(node, _)| *node);
        let scale = channel.weight.sqrt();
        parts.iter_mut().for_each(|(_, part)| *part *= scale);
        if !within(parts.len() * if channel.input == Input::Structure { 1 } else { out.len() }) {
            return false;
        }
        let nodes = || parts.iter().map(|(node, _)| *node).collect::<Vec<usize>>();
        match (channel.input, channel.rows) {
            (Input::Structure, _) => parts.iter().for_each(|&(node, part)| out[node] += part),
            // Where they are.
            (Input::Features, RowScaling::Plain) => {
                parts.iter().for_each(|&(node, part)| self.features.add_row(node, part, out));
            }
            (input, scaling) => {
                let rows = match input {
                    Input::Degrees => Features::Dense(self.graph.log_degrees_of(&nodes())),
                    _ => self.features.select_rows(&nodes()),
                };
                let rows = scaling.apply(&rows);
                let all = parts.iter().enumerate();
                all.for_each(|(k, &(_, part))| rows.add_row(k, part, out));
            }
        }
        true
    }
}

/// Adds a multiple of a column that may be shorter.
fn add_scaled(column: &mut [f64], factor: f64, other: &[f64]) {
    if factor != 0.0 {
        column.iter_mut().zip(other).for_each(|(value, other)| *value += factor * other);
    }
}

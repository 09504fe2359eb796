//! The filtered features of a few nodes, at the cost of what is around them.
//!
//! Row i of p(Â) is p(Â)ᵀ e_i, a column that starts with one entry and grows by one step of the graph per product. While it
//! is small, following it is far less work than a pass over the graph.

use super::{distinct, series};
use crate::context::Context;
use crate::design::{Channel, Design, Input};
use crate::error::Result;
use crate::features::Features;
use crate::filter::{Series, recurrence};
use crate::graph::{Graph, Operator, Propagator, SparseColumn, Step};
use crate::matrix::Matrix;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// A design on a graph, ready for a few nodes at a time.
pub(crate) struct Local<'d> {
    graph: &'d Graph,
    features: &'d Features,
    propagators: Vec<(Operator, Propagator<'d>)>,
    channels: Vec<LocalChannel<'d>>,
    /// Where a channel filters degrees.
    degrees: Option<Features>,
}

struct LocalChannel<'d> {
    channel: &'d Channel,
    /// Among the propagators.
    operator: usize,
    series: Series,
}

/// What following one node takes.
struct Workspace {
    now: SparseColumn,
    before: SparseColumn,
    next: SparseColumn,
    between: SparseColumn,
    sum: SparseColumn,
}

impl<'d> Local<'d> {
    /// # Errors
    /// A relation that the graph does not have, or a channel of features where there are none.
    pub(crate) fn new(
        graph: &'d Graph,
        features: &'d Features,
        design: &'d Design,
    ) -> Result<Self> {
        let channels = design.channels();
        let operators = distinct(channels.iter().map(|channel| channel.operator.clone()));
        let propagator = |operator: Operator| {
            let propagator = Propagator::new(graph, &operator)?;
            Ok((operator, propagator))
        };
        let propagators: Vec<(Operator, Propagator<'d>)> =
            operators.into_iter().map(propagator).collect::<Result<_>>()?;
        let local = |channel: &'d Channel| {
            let found = propagators.iter().position(|(operator, _)| *operator == channel.operator);
            let operator = found.expect("there is a propagator for every operator");
            let series = series(channel, &propagators[operator].1, design.tolerance);
            LocalChannel { channel, operator, series }
        };
        let channels: Vec<LocalChannel<'d>> = channels.iter().map(local).collect();
        let degrees = design.filters(Input::Degrees).then(|| Features::Dense(graph.log_degrees()));
        if design.filters(Input::Features) {
            // Refuses features that are not there, as whoever filters all of them does.
            Input::Features.rows(graph, features, Default::default())?;
        }
        Ok(Local { graph, features, propagators, channels, degrees })
    }

    /// The number of columns of the filtered features.
    pub(crate) fn columns(&self) -> usize {
        let columns = |c: &LocalChannel<'_>| c.channel.input.columns(self.graph, self.features);
        self.channels.iter().map(columns).sum()
    }

    /// Bytes that it takes to follow nodes on all threads.
    pub(crate) fn memory(&self) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        let factors: u64 = self.propagators.iter().map(|(_, p)| p.memory()).sum();
        factors + threads * (5 * 14 * self.graph.nodes() + 16 * self.columns()) as u64
    }

    /// Additions that scores of all nodes would take, so many columns of them.
    pub(crate) fn whole(&self, columns: usize) -> u64 {
        let products = |c: &LocalChannel<'_>| {
            let nonzeros = self.propagators[c.operator].1.nonzeros();
            (c.series.products() * nonzeros * columns) as u64
        };
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
        let propagator = &self.propagators[*operator].1;
        let Workspace { now, before, next, between, sum } = workspace;
        [&mut *now, before, sum].into_iter().for_each(SparseColumn::clear);
        now.add(node as u32, propagator.scale_before(node, true));
        sum.add_scaled(series.coefficients()[0], now);
        for (k, &coefficient) in series.coefficients().iter().enumerate().skip(1) {
            let edges = propagator.spread(now, between, next);
            if !within(edges) {
                return false;
            }
            let Step { a, b, c } = recurrence::<f64>(series.basis(), k);
            next.multiply(|_| a);
            if b != 0.0 {
                next.add_scaled(b, now);
            }
            if c != 0.0 {
                next.add_scaled(c, before);
            }
            sum.add_scaled(coefficient, next);
            std::mem::swap(before, now);
            std::mem::swap(now, next);
        }
        sum.multiply(|node| propagator.scale_after(node, true));
        // In the order of the nodes, so that sums do not depend on how they were found.
        let mut nodes: Vec<usize> = sum.nodes().iter().map(|&node| node as usize).collect();
        nodes.sort_unstable();
        let scale = channel.weight.sqrt();
        let share = |node: usize| scale * sum.get(node as u32);
        let features = match channel.input {
            Input::Structure => {
                nodes.iter().for_each(|&node| out[node] += share(node));
                return within(nodes.len());
            }
            Input::Degrees => self.degrees.as_ref().expect("degrees were counted"),
            Input::Features => self.features,
        };
        if !within(nodes.len() * out.len()) {
            return false;
        }
        let rows = features.select_rows(&nodes);
        let rows = channel.rows.apply(&rows);
        for (k, &node) in nodes.iter().enumerate() {
            let share = share(node);
            rows.for_each_in_row(k, |column, value| out[column] += share * f64::from(value));
        }
        true
    }
}

impl Workspace {
    fn new(nodes: usize) -> Self {
        let column = || SparseColumn::zeros(nodes);
        Workspace {
            now: column(),
            before: column(),
            next: column(),
            between: column(),
            sum: column(),
        }
    }
}

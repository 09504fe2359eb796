//! The one way from (dataset, designs, rows) to filtered rows.
//!
//! A [`Driver`] owns the plan: each channel of each design is lowered and given a side by itself, channels that share
//! operator, features and side go through the graph together, as many designs at a time as the memory allows, and
//! large graphs are renumbered inside where that pays. Company, memory and threads change no bit of any result.

mod explain;
mod filtered;
mod local;
mod on_device;
mod plan;
mod response;
mod shares;
mod slabs;

pub use explain::{Explanation, Scoring, Systems};
pub(crate) use filtered::PANEL;
pub use filtered::{Filtered, Rows};
pub(crate) use local::Local;
pub use plan::{Cost, Side};
pub(crate) use response::Response;
pub use shares::{Cut, Piece};
pub(crate) use shares::{Slab, strange};

use crate::context::{Context, Scratch};
use crate::data::Dataset;
use crate::design::{Channel, Design, Input, RowScaling};
use crate::device::Session;
use crate::error::Result;
use crate::features::Features;
use crate::filter::{Basis, Layout, Propagated, Series, Tolerance};
use crate::graph::{Graph, Operator, Propagator};
use crate::matrix::Matrix;
use plan::Shape;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What a driver may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes of memory.
    pub memory: u64,
    /// Whether filtered rows and scores go to the work folder of the context, and take no memory.
    pub on_disk: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { memory: u64::MAX, on_disk: false }
    }
}

impl Budget {
    /// What a context has left beside so many bytes.
    pub fn beside(bytes: u64, context: &Context) -> Self {
        let on_disk = context.scratch().is_some();
        Budget { memory: context.memory().free().saturating_sub(bytes), on_disk }
    }
}

/// A plan for the filtered features of some nodes, and for the scores of all of them.
///
/// ```
/// use gfgcn::{Design, context::Context, driver::{Driver, Rows}, filter::Filter};
/// # use gfgcn::{data::{Dataset, Labels}, graph::Graph, features::Features, matrix::Matrix};
/// # let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)], None)?;
/// # let features = Features::dense(Matrix::from_fn(3, 1, |i, _| i as f32))?;
/// # let data = Dataset::new("path", graph, features, Labels::none(3))?;
/// let designs = [Design::from(Filter::sgc(1)?), Design::from(Filter::ssgc(8, 0.05)?)];
/// let driver = Driver::new(&data, &designs, Rows::of(vec![0, 2], data.nodes()), 0)?;
/// let context = Context::default();
/// for pass in driver.passes(context.memory().free()) {
///     for filtered in driver.run(pass, &context)? {
///         assert_eq!((filtered.rows(), filtered.cols()), (2, 1));
///     }
/// }
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Debug)]
pub struct Driver<'d> {
    nodes: usize,
    operators: Vec<(Operator, Propagator<'d>)>,
    inputs: Vec<InputRows<'d>>,
    /// The channels of each design, with the roots of their weights.
    designs: Vec<Vec<(LoweredChannel, f64)>>,
    rows: Arc<Rows>,
    tolerance: Tolerance,
    score_columns: usize,
    /// Bytes that it may take; columns are cut accordingly.
    memory: u64,
    /// Whether filtered rows and scores go to a work folder.
    on_disk: bool,
    /// What was sent to a device, once one is used.
    session: OnceLock<Arc<dyn Session>>,
    /// What rows are scaled by there, of each operator and its transpose.
    outer_scales: Vec<[OnceLock<Vec<f64>>; 2]>,
}

/// What some channels filter.
#[derive(Debug)]
struct InputRows<'d> {
    input: Input,
    scaling: RowScaling,
    rows: Cow<'d, Features>,
    /// Entries other than zero, once somebody asks: counting takes a pass over all of them.
    nonzeros: OnceLock<usize>,
}

impl InputRows<'_> {
    fn nonzeros(&self) -> usize {
        *self.nonzeros.get_or_init(|| self.rows.nonzeros())
    }
}

/// A channel as it will be computed.
#[derive(Clone, Debug, PartialEq)]
struct LoweredChannel {
    /// Positions among the driver's operators and inputs.
    operator: usize,
    input: usize,
    side: Side,
    series: Series,
}

impl LoweredChannel {
    /// Channels that agree in this go through the graph together.
    fn group(&self) -> (usize, usize, Side) {
        (self.operator, self.input, self.side)
    }
}

/// A channel's filter in the vectors that suit its operator.
fn series(channel: &Channel, bounded_real_spectrum: bool, tolerance: Tolerance) -> Series {
    let basis = match bounded_real_spectrum {
        true => Basis::Chebyshev,
        false => Basis::Powers,
    };
    Series::new(channel.filter, basis, tolerance)
}

impl<'d> Driver<'d> {
    /// Plans for the filtered features of some nodes and, for each design, so many columns of scores in all.
    ///
    /// # Errors
    /// A relation that the graph does not have, or a channel of features where there are none.
    pub fn new(
        dataset: &'d Dataset,
        designs: &[Design],
        rows: Rows,
        score_columns: usize,
    ) -> Result<Self> {
        Driver::on(dataset.graph(), dataset.features(), designs, rows, score_columns)
    }

    /// As [`Driver::new`], in so many bytes if that is possible: columns are cut into slabs that fit, and the nodes are not
    /// renumbered inside where there is no room for it. [`Driver::least_memory`] says what it takes.
    ///
    /// # Errors
    /// As [`Driver::new`].
    pub fn within(
        dataset: &'d Dataset,
        designs: &[Design],
        rows: Rows,
        score_columns: usize,
        budget: Budget,
    ) -> Result<Self> {
        let (graph, features) = (dataset.graph(), dataset.features());
        Driver::on_within(graph, features, designs, rows, score_columns, budget)
    }

    /// As [`Driver::new`], with features other than the dataset's.
    pub(crate) fn on(
        graph: &'d Graph,
        features: &'d Features,
        designs: &[Design],
        rows: Rows,
        score_columns: usize,
    ) -> Result<Self> {
        Driver::on_within(graph, features, designs, rows, score_columns, Budget::default())
    }

    /// As [`Driver::within`], with features other than the dataset's.
    pub(crate) fn on_within(
        graph: &'d Graph,
        features: &'d Features,
        designs: &[Design],
        rows: Rows,
        score_columns: usize,
        budget: Budget,
    ) -> Result<Self> {
        let channels = || designs.iter().flat_map(Design::channels);
        let operators = distinct(channels().map(|channel| channel.operator.clone()));
        let propagator = |operator: Operator| {
            let propagator = Propagator::new(graph, &operator)?;
            Ok((operator, propagator))
        };
        let inputs = distinct(channels().map(|channel| (channel.input, channel.rows)));
        let input = |(input, scaling): (Input, RowScaling)| {
            let rows = input.rows(graph, features, scaling)?;
            Ok(InputRows { input, scaling, rows, nonzeros: OnceLock::new() })
        };
        let mut driver = Driver {
            nodes: graph.nodes(),
            operators: operators.into_iter().map(propagator).collect::<Result<_>>()?,
            inputs: inputs.into_iter().map(input).collect::<Result<_>>()?,
            designs: Vec::new(),
            rows: Arc::new(rows),
            tolerance: designs.first().map_or_else(Tolerance::default, |design| design.tolerance),
            score_columns,
            memory: budget.memory,
            on_disk: budget.on_disk,
            session: OnceLock::new(),
            outer_scales: Vec::new(),
        };
        driver.outer_scales.resize_with(driver.operators.len(), Default::default);
        let lower = |design: &Design| {
            let channels = design.channels().iter();
            let lowered = channels.map(|channel| driver.lowered(channel, design.tolerance));
            lowered.collect::<Vec<_>>()
        };
        driver.designs = designs.iter().map(lower).collect();
        let columns = driver.multiplied_columns();
        driver.renumber_for(columns);
        Ok(driver)
    }

    /// Renumbers nodes inside where that pays over so many products with a single column.
    fn renumber_for(&mut self, columns: usize) {
        for k in 0..self.operators.len() {
            let room = self.memory.saturating_sub(self.widest_memory());
            let (operator, propagator) = self.operators[k].clone();
            self.operators[k] = (operator, propagator.prepared_for(columns, room));
        }
    }

    fn lowered(&self, channel: &Channel, tolerance: Tolerance) -> (LoweredChannel, f64) {
        let found = self.operators.iter().position(|(operator, _)| *operator == channel.operator);
        let operator = found.expect("the driver has every operator");
        let wanted = (channel.input, channel.rows);
        let found = self.inputs.iter().position(|input| (input.input, input.scaling) == wanted);
        let input = found.expect("the driver has every input");
        let bounded = self.operators[operator].1.has_bounded_real_spectrum();
        let series = series(channel, bounded, tolerance);
        // Where the selectors lose even if X were empty, nobody need count its entries.
        let side = match self.shape(operator, input, Side::Features).side(&series) {
            Side::Features => Side::Features,
            Side::Selectors => self.shape(operator, input, Side::Selectors).side(&series),
        };
        (LoweredChannel { operator, input, side, series }, channel.weight.sqrt())
    }

    /// What the costs of an operator on an input depend on, from one side; entries of the input only count for the selectors.
    fn shape(&self, operator: usize, input: usize, side: Side) -> Shape {
        let (propagator, input) = (&self.operators[operator].1, &self.inputs[input]);
        let some = self.rows.some();
        Shape {
            nodes: self.nodes,
            nonzeros: propagator.nonzeros(),
            spare: usize::from(propagator.is_there_and_back()),
            features: input.rows.cols(),
            feature_nonzeros: if side == Side::Selectors { input.nonzeros() } else { 0 },
            rows: some.unwrap_or(self.nodes),
            selectable: some.is_some(),
        }
    }

    fn shape_of(&self, channel: &LoweredChannel, side: Side) -> Shape {
        self.shape(channel.operator, channel.input, side)
    }

    /// Refuses designs for which inputs would have to be made that do not fit beside the features: making the driver
    /// takes that memory, and what the driver needs is only known when it is made.
    pub(crate) fn check(features: &Features, designs: &[Design], context: &Context) -> Result<()> {
        let channels = designs.iter().flat_map(Design::channels);
        let made = |&(input, rows): &(Input, RowScaling)| {
            input == Input::Features && rows != RowScaling::Plain
        };
        let scaled = distinct(channels.map(|c| (c.input, c.rows)).filter(made));
        let needed = scaled.len() as u64 * features.scaled_memory();
        let remedy = "take the features as they are, or use a machine with more memory";
        context.memory().check("scaling the features", needed, remedy)
    }

    /// Filters from the side of the features whatever it costs, so that the filtered features of a node do not
    /// depend on which others are asked for.
    #[must_use]
    pub fn by_features(mut self) -> Self {
        let channels = self.designs.iter_mut().flatten();
        channels.for_each(|(channel, _)| channel.side = Side::Features);
        self
    }

    /// The side of each channel of each design.
    pub(crate) fn sides(&self) -> Vec<Vec<Side>> {
        let of_design = |design: &Vec<(LoweredChannel, f64)>| {
            design.iter().map(|(channel, _)| channel.side).collect()
        };
        self.designs.iter().map(of_design).collect()
    }

    /// Filters from given sides whatever they cost, as [`Driver::sides`] has them of other work.
    pub(crate) fn with_sides(mut self, sides: &[Vec<Side>]) -> Self {
        for (design, sides) in self.designs.iter_mut().zip(sides) {
            design.iter_mut().zip(sides).for_each(|((channel, _), side)| channel.side = *side);
        }
        self
    }

    /// Designs that are computed together, in order: as many at a time as so many bytes allow, but one at least.
    pub fn passes(&self, memory: u64) -> Vec<Range<usize>> {
        let mut passes = Vec::new();
        // Where only scores are wanted there is nothing to pass over.
        let mut start = if self.rows.some() == Some(0) { self.designs.len() } else { 0 };
        while start < self.designs.len() {
            let mut end = start + 1;
            while end < self.designs.len() && self.pass_cost(start..end + 1).memory <= memory {
                end += 1;
            }
            passes.push(start..end);
            start = end;
        }
        passes
    }

    /// The filtered features of the planned rows, for each design of a pass.
    ///
    /// # Errors
    /// If the work is cancelled, or a device fails.
    pub fn run(&self, pass: Range<usize>, context: &Context) -> Result<Vec<Filtered>> {
        self.run_where_it_is(pass, context)?.into_iter().map(Filtered::fetched).collect()
    }

    /// As [`Driver::run`], with rows left on the device of the context, if it has one: [`Filtered::resident`] has them, and
    /// nothing else can be asked of them.
    ///
    /// # Errors
    /// As [`Driver::run`].
    pub fn run_where_it_is(&self, pass: Range<usize>, context: &Context) -> Result<Vec<Filtered>> {
        let designs = &self.designs[pass.clone()];
        if let Some(session) = self.session(context)? {
            let rows = self.by_channel(pass, |group, filters| {
                self.filter_on(session.as_ref(), group, filters, context)
            })?;
            let filtered = |channels| Filtered::on_device(channels, self.rows.clone());
            return Ok(designs.iter().map(|design| filtered(of_design(&rows, design))).collect());
        }
        let rows = self.by_channel(pass, |group, filters| {
            let filtered = self.filter(group, filters, context)?;
            Ok(filtered.into_iter().map(Arc::new).collect())
        })?;
        let filtered = |channels| Filtered::here(channels, self.rows.clone());
        Ok(designs.iter().map(|design| filtered(of_design(&rows, design))).collect())
    }

    /// What filtering makes of each channel of a pass, channels that share a group at once.
    fn by_channel<T>(
        &self,
        pass: Range<usize>,
        filter: impl Fn(&LoweredChannel, &[Series]) -> Result<Vec<T>>,
    ) -> Result<Vec<(&LoweredChannel, T)>> {
        let mut done = Vec::new();
        for group in self.groups(pass) {
            let filters: Vec<Series> = group.iter().map(|channel| channel.series.clone()).collect();
            let filtered = filter(group[0], &filters)?;
            done.extend(group.into_iter().zip(filtered));
        }
        Ok(done)
    }

    /// The channels of some designs, once each, by what they share.
    fn groups(&self, pass: Range<usize>) -> Vec<Vec<&LoweredChannel>> {
        let mut groups: Vec<Vec<&LoweredChannel>> = Vec::new();
        for (channel, _) in self.designs[pass].iter().flatten() {
            match groups.iter_mut().find(|group| group[0].group() == channel.group()) {
                Some(group) if group.contains(&channel) => {}
                Some(group) => group.push(channel),
                None => groups.push(vec![channel]),
            }
        }
        groups
    }

    /// How the columns of a group are cut: as widely as there is memory for.
    fn layout(&self, group: &LoweredChannel, side: Side, filters: &[Series]) -> Layout {
        let shape = self.shape_of(group, side);
        let results = (filters.len() as u64 * self.result(group, side)).max(self.largest_result());
        let beside = self.own_memory() + results + self.least_scores();
        let room = self.memory.saturating_sub(beside);
        narrowed(shape.layout(side), |layout| shape.cost(side, filters, layout).memory <= room)
    }

    /// The same of scores, beside filtered rows.
    fn score_layout(&self, channel: &LoweredChannel, columns: usize) -> Layout {
        self.score_layout_within(channel, columns, self.memory.saturating_sub(self.cost(0).memory))
    }

    fn score_layout_within(&self, channel: &LoweredChannel, columns: usize, room: u64) -> Layout {
        let shape = self.shape_of(channel, Side::Features);
        narrowed(Layout::new::<f64>(self.nodes, columns), |layout| {
            shape.scores(columns, layout, self.on_disk) <= room
        })
    }

    /// Bytes that the scores of a channel take at least: what filtering leaves for them.
    fn least_scores(&self) -> u64 {
        let scores = |(channel, _): &(LoweredChannel, f64)| match self.score_columns {
            0 => 0,
            columns => {
                let layout = self.score_layout_within(channel, columns, 0);
                let shape = self.shape_of(channel, Side::Features);
                shape.scores(columns, layout, self.on_disk)
            }
        };
        self.designs.iter().flatten().map(scores).max().unwrap_or(0)
    }

    /// Bytes of the filtered rows of a design, at most.
    fn largest_result(&self) -> u64 {
        let of_design = |design: &Vec<(LoweredChannel, f64)>| {
            design.iter().map(|(channel, _)| self.result(channel, channel.side)).sum()
        };
        self.designs.iter().map(of_design).max().unwrap_or(0)
    }

    /// Bytes of the filtered rows of a channel.
    fn result(&self, channel: &LoweredChannel, side: Side) -> u64 {
        match (side, self.on_disk) {
            (Side::Features, true) => 0,
            _ => self.shape_of(channel, Side::Features).result(side),
        }
    }

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

    /// The number of columns of a design's filtered features.
    pub fn columns(&self, design: usize) -> usize {
        let channels = self.designs[design].iter();
        channels.map(|(channel, _)| self.inputs[channel.input].rows.cols()).sum()
    }

    /// What all designs cost when as many go together as so many bytes allow; the memory is that of the largest
    /// pass, and of what the driver itself holds.
    pub fn cost(&self, memory: u64) -> Cost {
        let passes = self.passes(memory).into_iter().map(|pass| self.pass_cost(pass));
        let mut cost = passes.fold(Cost::default(), Cost::then);
        cost.memory += self.own_memory();
        cost
    }

    /// Bytes of memory without which nothing works: one design at a time, and its scores.
    pub fn least_memory(&self) -> u64 {
        let scores = |(channel, _): &(LoweredChannel, f64)| match self.score_columns {
            0 => 0,
            columns => {
                let layout = self.score_layout(channel, columns);
                let shape = self.shape_of(channel, Side::Features);
                shape.scores(columns, layout, self.on_disk)
            }
        };
        self.cost(0).memory + self.designs.iter().flatten().map(scores).max().unwrap_or(0)
    }

    fn pass_cost(&self, pass: Range<usize>) -> Cost {
        let groups = self.groups(pass);
        let results: u64 = groups.iter().flatten().map(|c| self.result(c, c.side)).sum();
        let costs = groups.iter().map(|group| self.group_cost(group, group[0].side));
        let mut cost = costs.fold(Cost::default(), Cost::then);
        cost.memory += results;
        cost
    }

    fn group_cost(&self, group: &[&LoweredChannel], side: Side) -> Cost {
        let filters: Vec<Series> = group.iter().map(|channel| channel.series.clone()).collect();
        let layout = self.layout(group[0], side, &filters);
        self.shape_of(group[0], side).cost(side, &filters, layout)
    }

    /// Bytes of one design at a time, with columns cut as where there is enough memory.
    fn widest_memory(&self) -> u64 {
        let channels = self.designs.iter().flatten().map(|(channel, _)| {
            let shape = self.shape_of(channel, channel.side);
            let filters = std::slice::from_ref(&channel.series);
            let layout = shape.layout(channel.side);
            let scores = match self.score_columns {
                0 => 0,
                columns => {
                    let layout = Layout::new::<f64>(self.nodes, columns);
                    shape.scores(columns, layout, self.on_disk)
                }
            };
            let filtering = shape.cost(channel.side, filters, layout).memory;
            scores.max(filtering + self.result(channel, channel.side))
        });
        self.own_memory() + channels.max().unwrap_or(0)
    }

    /// Bytes of what the driver holds beyond the data: scaled features, degrees, renumbered graphs, row lists.
    fn own_memory(&self) -> u64 {
        let made = self.inputs.iter().filter(|input| matches!(input.rows, Cow::Owned(_)));
        let made: u64 = made.map(|input| input.rows.held_memory()).sum();
        let operators: u64 = self.operators.iter().map(|(_, operator)| operator.memory()).sum();
        made + operators + 4 * self.nodes as u64
    }

    /// Products times the columns of each: what renumbering the nodes has to pay for itself over.
    fn multiplied_columns(&self) -> usize {
        let costs = self.passes(u64::MAX).into_iter().map(|pass| {
            let groups = self.groups(pass);
            let costs = groups.iter().map(|group| self.group_cost(group, group[0].side));
            costs.map(|cost| cost.products * cost.columns).sum::<u64>()
        });
        let rows: u64 = costs.sum();
        let scores: usize = self
            .designs
            .iter()
            .flatten()
            .map(|(channel, _)| channel.series.products() * self.score_columns)
            .sum();
        rows as usize + scores
    }
}

/// The first of ever narrower layouts that fits, or the narrowest.
fn narrowed(mut layout: Layout, fits: impl Fn(Layout) -> bool) -> Layout {
    while !fits(layout) {
        match layout.smaller() {
            Some(smaller) => layout = smaller,
            None => break,
        }
    }
    layout
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

/// What was made of the channels of a design, each with the root of its weight.
fn of_design<T: Clone>(
    done: &[(&LoweredChannel, T)],
    design: &[(LoweredChannel, f64)],
) -> Vec<(T, f64)> {
    let find = |(channel, scale): &(LoweredChannel, f64)| {
        let found = done.iter().find(|(other, _)| *other == channel);
        (found.expect("every channel is in a group").1.clone(), *scale)
    };
    design.iter().map(find).collect()
}

/// Each value once, in the order in which they first come.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    values.for_each(|value| {
        if !found.contains(&value) {
            found.push(value);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;
    use crate::filter::Filter;

    /// A ring with many nodes and few features, of which few rows are asked for: what is kept is tiny, but sums over
    /// all nodes are not.
    fn ring(nodes: u32) -> Dataset {
        let edges: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
        let (graph, _) = Graph::from_edges(nodes as usize, &edges, None).unwrap();
        let features =
            Matrix::from_fn(nodes as usize, 600, |i, j| f32::from(u8::from(i % 600 == j)));
        let features = Features::dense(features).unwrap();
        Dataset::new("ring", graph, features, Labels::none(nodes as usize)).unwrap()
    }

    #[test]
    fn passes_fit_into_the_memory_sums_over_all_nodes_included() {
        let data = ring(4000);
        let designs: Vec<Design> =
            (40..60).map(|depth| Filter::sgc(depth).unwrap().into()).collect();
        let driver = Driver::new(&data, &designs, Rows::of(vec![1, 2, 3], 4000), 0).unwrap();
        assert!(driver.designs.iter().flatten().all(|(c, _)| c.side == Side::Selectors));
        let results: u64 = 20 * driver.shape(0, 0, Side::Selectors).result(Side::Selectors);
        assert_eq!(driver.passes(u64::MAX).len(), 1, "all together");
        // Enough for what is kept of all designs, but not for their sums.
        let budget = driver.pass_cost(0..5).memory;
        assert!(results < budget / 3, "{results} of {budget}");
        let passes = driver.passes(budget);
        assert!(passes.len() >= 4, "{passes:?}");
        assert!(passes.iter().all(|pass| driver.pass_cost(pass.clone()).memory <= budget));
        assert_eq!(passes.iter().map(Range::len).sum::<usize>(), 20);
    }

    #[test]
    fn what_a_driver_holds_is_in_its_estimate() {
        let data = ring(1000);
        let plain = Design::from(Filter::sgc(2).unwrap());
        let scaled = plain.clone().with_rows(RowScaling::Sum);
        let memory = |design: &Design| {
            let rows = Rows::of(vec![0], 1000);
            Driver::new(&data, std::slice::from_ref(design), rows, 0).unwrap().least_memory()
        };
        assert_eq!(memory(&scaled) - memory(&plain), data.features().memory());
        let mut driver = Driver::new(&data, &[plain], Rows::of(vec![0], 1000), 0).unwrap();
        let before = driver.least_memory();
        driver.operators[0].1 = driver.operators[0].1.clone().renumbered();
        let (offsets, neighbours, order, scales) = (8 * 1001, 4 * 2000, 8 * 1000, 16 * 1000);
        assert_eq!(driver.least_memory() - before, offsets + neighbours + order + scales);
    }
}

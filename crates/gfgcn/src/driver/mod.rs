//! The one way from (dataset, designs, rows) to filtered rows.
//!
//! A [`Driver`] owns the plan: each channel of each design is lowered and given a side by itself, channels that share
//! operator, features and side go through the graph together, as many designs at a time as the memory allows, and
//! large graphs are renumbered inside where that pays. Company, memory and threads change no bit of any result.

mod budget;
mod explain;
mod filtered;
mod filtering;
mod local;
mod on_device;
mod plan;
mod response;
mod scores;
mod shares;
mod slabs;

pub use budget::Budget;
pub use explain::{Explanation, Scoring, Systems};
pub(crate) use filtered::PANEL;
pub use filtered::{Filtered, Rows};
pub(crate) use local::Local;
pub use plan::{Cost, Side};
pub(crate) use response::Response;
pub(crate) use scores::ScoreParts;
pub use shares::{Cut, Piece};
pub(crate) use shares::{Slab, strange};

use crate::context::Context;
use crate::data::Dataset;
use crate::design::{Channel, Design, Input, RowScaling};
use crate::device::Session;
use crate::error::Result;
use crate::features::Features;
use crate::filter::{Basis, Series, Tolerance};
use crate::graph::{Graph, Operator, Propagator};
use plan::Shape;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

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
    /// Bytes that others take beside the filtered rows of each design, beside scores, and when these are gone.
    solving: Vec<u64>,
    scoring: u64,
    after: u64,
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
            solving: vec![budget.solving; designs.len()],
            scoring: budget.scoring,
            after: budget.after,
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

    /// The number of columns of a design's filtered features.
    pub fn columns(&self, design: usize) -> usize {
        let channels = self.designs[design].iter();
        channels.map(|(channel, _)| self.inputs[channel.input].rows.cols()).sum()
    }
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

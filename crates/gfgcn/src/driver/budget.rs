//! What a driver may take, what its work takes, and how columns are cut so that the two agree.

use super::plan::{Cost, Side};
use super::{Driver, LoweredChannel};
use crate::context::Context;
use crate::filter::{Layout, Series};
use std::borrow::Cow;
use std::ops::Range;

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

impl Driver<'_> {
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

    pub(super) fn group_cost(&self, group: &[&LoweredChannel], side: Side) -> Cost {
        let filters: Vec<Series> = group.iter().map(|channel| channel.series.clone()).collect();
        let layout = self.layout(group[0], side, &filters);
        self.shape_of(group[0], side).cost(side, &filters, layout)
    }

    /// Bytes of one design at a time, with columns cut as where there is enough memory.
    pub(super) fn widest_memory(&self) -> u64 {
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
    pub(super) fn own_memory(&self) -> u64 {
        let made = self.inputs.iter().filter(|input| matches!(input.rows, Cow::Owned(_)));
        let made: u64 = made.map(|input| input.rows.held_memory()).sum();
        let operators: u64 = self.operators.iter().map(|(_, operator)| operator.memory()).sum();
        made + operators + 4 * self.nodes as u64
    }

    /// How the columns of a group are cut: as widely as there is memory for.
    pub(super) fn layout(&self, group: &LoweredChannel, side: Side, filters: &[Series]) -> Layout {
        let shape = self.shape_of(group, side);
        let results = (filters.len() as u64 * self.result(group, side)).max(self.largest_result());
        let beside = self.own_memory() + results + self.least_scores();
        let room = self.memory.saturating_sub(beside);
        narrowed(shape.layout(side), |layout| shape.cost(side, filters, layout).memory <= room)
    }

    /// The same of scores, beside filtered rows.
    pub(super) fn score_layout(&self, channel: &LoweredChannel, columns: usize) -> Layout {
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

    /// Products times the columns of each: what renumbering the nodes has to pay for itself over.
    pub(super) fn multiplied_columns(&self) -> usize {
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
pub(super) fn narrowed(mut layout: Layout, fits: impl Fn(Layout) -> bool) -> Layout {
    while !fits(layout) {
        match layout.smaller() {
            Some(smaller) => layout = smaller,
            None => break,
        }
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Labels};
    use crate::design::{Design, RowScaling};
    use crate::driver::Rows;
    use crate::features::Features;
    use crate::filter::Filter;
    use crate::graph::Graph;
    use crate::matrix::Matrix;

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

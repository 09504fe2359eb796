//! What a driver may take, what its work takes, and how columns are cut so that the two agree.

use super::plan::{Cost, Side};
use super::{Driver, LoweredChannel};
use crate::context::{Context, Lease};
use crate::error::Result;
use crate::filter::{Layout, Series, writing_memory};
use std::borrow::Cow;
use std::ops::Range;

/// What a driver may take, and what others take beside it.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes of memory.
    pub memory: u64,
    /// Whether filtered rows and scores go to the work folder of the context, and take no memory.
    pub on_disk: bool,
    /// Bytes of it that are taken beside the filtered rows of a design, when these are there: of solving.
    pub solving: u64,
    /// Bytes of it that are taken beside the scores of a design.
    pub scoring: u64,
    /// Bytes of it that are taken when all rows and scores are gone.
    pub after: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { memory: u64::MAX, on_disk: false, solving: 0, scoring: 0, after: 0 }
    }
}

impl Budget {
    /// What a context has left beside so many bytes.
    pub fn beside(bytes: u64, context: &Context) -> Self {
        let on_disk = context.scratch().is_some();
        let memory = context.memory().free().saturating_sub(bytes);
        Budget { memory, on_disk, ..Budget::default() }
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

    /// Bytes of memory without which nothing works: one design at a time, and what the [budget](Budget) says that is taken
    /// beside its rows and its scores.
    pub fn least_memory(&self) -> u64 {
        self.memory(0)
    }

    /// Bytes that all work takes at its peak when as many designs go together as so many bytes allow. Filtering is over when
    /// rows are used, and solving when scores are computed.
    pub(crate) fn memory(&self, together: u64) -> u64 {
        let scores = self.scores_memory(|channel, columns| self.score_layout(channel, columns));
        let of_pass = |pass: Range<usize>| {
            // Rows are gone as soon as their design is done.
            let beside = pass.clone().map(|design| {
                self.kept(design..pass.end) + self.solving[design].max(scores + self.scoring)
            });
            beside.max().unwrap_or(0).max(self.pass_cost(pass.clone()).memory)
        };
        let passes = self.passes(together).into_iter().map(of_pass);
        // Where only scores are wanted there are no passes.
        let alone = (scores + self.scoring).max(self.after);
        self.own_memory() + passes.max().unwrap_or(0).max(alone)
    }

    /// With the bytes that solving takes of each design by itself, none more than the budget said.
    pub(crate) fn with_solving(self, solving: Vec<u64>) -> Self {
        debug_assert_eq!(solving.len(), self.designs.len());
        Driver { solving, ..self }
    }

    /// Reserves what all work takes beside so many bytes: one design at a time, or as many together as `most` bytes and half of
    /// what is left allow; so many bytes are for [`Driver::passes`].
    ///
    /// # Errors
    /// If there is not enough for one design at a time.
    pub(crate) fn reserve(
        &self,
        what: &str,
        beside: u64,
        most: u64,
        remedy: &'static str,
        context: &Context,
    ) -> Result<(Lease, u64)> {
        let least = self.least_memory();
        let mut lease = context.memory().reserve(what, beside + least, remedy)?;
        let together = most.min(context.memory().free() / 2);
        let more = self.memory(together).saturating_sub(least);
        // Others may have taken it meanwhile; one at a time will do.
        let together = lease.extend(what, more, remedy).map_or(0, |()| together);
        Ok((lease, together))
    }

    fn pass_cost(&self, pass: Range<usize>) -> Cost {
        let kept = self.kept(pass.clone());
        let groups = self.groups(pass);
        let costs = groups.iter().map(|group| self.group_cost(group, group[0].side));
        let mut cost = costs.fold(Cost::default(), Cost::then);
        cost.memory += kept;
        cost
    }

    pub(super) fn group_cost(&self, group: &[&LoweredChannel], side: Side) -> Cost {
        let filters: Vec<Series> = group.iter().map(|channel| channel.series.clone()).collect();
        let layout = self.layout(group[0], side, &filters);
        self.filter_cost(group[0], side, &filters, layout)
    }

    fn filter_cost(
        &self,
        group: &LoweredChannel,
        side: Side,
        filters: &[Series],
        layout: Layout,
    ) -> Cost {
        let shape = self.shape_of(group, side);
        let mut cost = shape.cost(side, filters, layout);
        if self.on_disk {
            cost.memory += layout.at_once as u64 * writing_memory(shape.rows);
        } else if side == Side::Selectors {
            // In the end, the pieces of one filter after the other are copied into one.
            cost.memory = cost.memory.max(shape.result());
        }
        cost
    }

    /// Bytes of one design at a time, with columns cut as where there is enough memory.
    pub(super) fn widest_memory(&self) -> u64 {
        let filtering = self.designs.iter().flatten().map(|(channel, _)| {
            let (side, filters) = (channel.side, std::slice::from_ref(&channel.series));
            let layout = self.shape_of(channel, side).layout(side);
            self.filter_cost(channel, side, filters, layout).memory
        });
        let scores = self.scores_memory(|_, columns| Layout::new::<f64>(self.nodes, columns));
        let solving = self.solving.iter().copied().max().unwrap_or(0);
        let beside = solving.max(scores + self.scoring);
        let with_rows = self.most_kept() + filtering.max().unwrap_or(0).max(beside);
        self.own_memory() + with_rows.max(self.after)
    }

    /// Bytes of what the driver holds beyond the data: scaled features, degrees, renumbered graphs, row lists.
    pub(super) fn own_memory(&self) -> u64 {
        let made = self.inputs.iter().filter(|input| matches!(input.rows, Cow::Owned(_)));
        let made: u64 = made.map(|input| input.rows.held_memory()).sum();
        let operators: u64 = self.operators.iter().map(|(_, operator)| operator.memory()).sum();
        made + operators + self.rows.memory()
    }

    /// How the columns of a group are cut: as widely as there is memory for.
    pub(super) fn layout(&self, group: &LoweredChannel, side: Side, filters: &[Series]) -> Layout {
        let results = (filters.len() as u64 * self.result(group, side)).max(self.most_kept());
        let room = self.memory.saturating_sub(self.own_memory() + results);
        narrowed(self.shape_of(group, side).layout(side), |layout| {
            self.filter_cost(group, side, filters, layout).memory <= room
        })
    }

    /// The same of scores, beside filtered rows.
    pub(super) fn score_layout(&self, channel: &LoweredChannel, columns: usize) -> Layout {
        let held = self.own_memory() + self.most_kept() + self.scoring;
        let room = self.memory.saturating_sub(held);
        let (shape, channels) = (self.shape_of(channel, Side::Features), self.most_channels());
        narrowed(Layout::new::<f64>(self.nodes, columns), |layout| {
            shape.scores(&channel.series, columns, channels, layout, self.on_disk) <= room
        })
    }

    /// Bytes that scoring takes at its peak, with columns cut in a way.
    fn scores_memory(&self, cut: impl Fn(&LoweredChannel, usize) -> Layout) -> u64 {
        let (columns, channels) = (self.score_columns, self.most_channels());
        if columns == 0 {
            return 0;
        }
        let scores = |(channel, _): &(LoweredChannel, f64)| {
            let (shape, layout) = (self.shape_of(channel, Side::Features), cut(channel, columns));
            shape.scores(&channel.series, columns, channels, layout, self.on_disk)
        };
        self.designs.iter().flatten().map(scores).max().unwrap_or(0)
    }

    /// The channels of a design, at most.
    fn most_channels(&self) -> usize {
        self.designs.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Bytes of the filtered rows of a pass.
    fn kept(&self, pass: Range<usize>) -> u64 {
        self.groups(pass).iter().flatten().map(|channel| self.result(channel, channel.side)).sum()
    }

    /// Bytes of the filtered rows of a design, at most; none where there are only scores.
    fn most_kept(&self) -> u64 {
        (0..self.designs.len()).map(|design| self.kept(design..design + 1)).max().unwrap_or(0)
    }

    /// Bytes of the filtered rows of a channel; those of selectors end up in memory, wherever their pieces were.
    fn result(&self, channel: &LoweredChannel, side: Side) -> u64 {
        match (side, self.on_disk) {
            (Side::Features, true) => 0,
            _ => self.shape_of(channel, Side::Features).result(),
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
        let results: u64 = 20 * driver.shape(0, 0, Side::Selectors).result();
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

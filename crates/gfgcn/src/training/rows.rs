//! Which filtered rows a change of the graph reaches, and these rows anew.
//!
//! A row of p(Â) X with K products depends on what is at most K steps away, and on the degrees one step further. A change
//! at a node therefore reaches the rows at most K steps around it, and these can be had from the part of the graph within K + 1
//! steps of them: within that part, sums are over the same neighbours in the same order, so the rows are those of
//! the whole graph to the last bit.

use crate::classifier::Classifier;
use crate::context::Context;
use crate::data::Dataset;
use crate::design::{Design, Input};
use crate::driver::{Filtered, Local, Rows};
use crate::error::Result;

/// What of the rows before is no longer right.
pub(super) enum Stale {
    /// Nothing.
    Nothing,
    /// Perhaps everything.
    Everything,
    /// What the filters reach from these nodes.
    At(Vec<usize>),
}

/// A dataset whose rows are wanted, beside the rows that there were.
pub(super) struct Renewal<'a> {
    pub(super) dataset: &'a Dataset,
    /// The number that each node had, if it was there.
    pub(super) before: &'a [Option<usize>],
    pub(super) stale: Stale,
}

/// Rows of a changed graph.
pub(super) struct Renewed {
    pub(super) rows: Filtered,
    /// How many were computed.
    pub(super) computed: usize,
}

impl Renewal<'_> {
    /// The rows of all nodes, from those before as far as they are still right.
    pub(super) fn rows(
        self,
        classifier: &Classifier,
        kept: &Filtered,
        context: &Context,
    ) -> Result<Renewed> {
        let (design, total) = (&classifier.design, self.dataset.nodes());
        let reached = self.reached(design)?;
        let is_fresh = |node: usize| reached[node] || self.before[node].is_none();
        let computed: Vec<usize> = (0..total).filter(|&node| is_fresh(node)).collect();
        let same_nodes = total == kept.rows()
            && self.before.iter().enumerate().all(|(node, before)| *before == Some(node));
        if computed.is_empty() && same_nodes {
            return Ok(Renewed { rows: kept.clone(), computed: 0 });
        }
        let fresh = self.fresh(classifier, &computed, context)?;
        if let Some(all) = fresh.as_ref().filter(|_| computed.len() == total) {
            return Ok(Renewed { rows: all.clone(), computed: total });
        }
        let needed = 4 * (total * kept.cols()) as u64;
        let remedy = "use a machine with more memory";
        let _lease = context.memory().reserve("keeping the filtered features", needed, remedy)?;
        let mut next = 0;
        let row = |node: usize| match self.before[node].filter(|_| !is_fresh(node)) {
            Some(before) => (0, before),
            None => {
                next += 1;
                (1, next - 1)
            }
        };
        let rows: Vec<(usize, usize)> = (0..total).map(row).collect();
        let parts: Vec<&Filtered> = std::iter::once(kept).chain(&fresh).collect();
        let rows = Filtered::joined(design, &parts, &rows);
        Ok(Renewed { rows, computed: computed.len() })
    }

    /// Whether the change reaches each node.
    fn reached(&self, design: &Design) -> Result<Vec<bool>> {
        let total = self.dataset.nodes();
        let changed = match &self.stale {
            Stale::Nothing => return Ok(vec![false; total]),
            Stale::Everything => return Ok(vec![true; total]),
            // Who is linked to whom has a column per node, and degrees have one or two.
            Stale::At(_) if !filters_features(design) => return Ok(vec![true; total]),
            Stale::At(changed) => changed,
        };
        let new = (0..total).filter(|&node| self.before[node].is_none());
        let changed: Vec<usize> = changed.iter().copied().chain(new).collect();
        let mut reached = vec![false; total];
        let steps = steps(design, self.dataset)?;
        self.dataset
            .graph()
            .surroundings(&changed, steps)
            .into_iter()
            .for_each(|node| reached[node] = true);
        Ok(reached)
    }

    /// The rows of some nodes, from their part of the graph where that is less work.
    fn fresh(
        &self,
        classifier: &Classifier,
        nodes: &[usize],
        context: &Context,
    ) -> Result<Option<Filtered>> {
        if nodes.is_empty() {
            return Ok(None);
        }
        let (graph, design) = (self.dataset.graph(), &classifier.design);
        if filters_features(design) {
            let part = graph.surroundings(nodes, steps(design, self.dataset)? + 1);
            let edges: usize = part.iter().map(|&node| graph.degree(node) + 1).sum();
            // The part has to be cut out, too.
            if 2 * edges < graph.nonzeros() + graph.nodes() {
                let place = |node: &usize| part.binary_search(node).expect("it is in its part");
                let rows = Rows::of(nodes.iter().map(place).collect(), part.len());
                return classifier.filter(&self.dataset.select(&part), rows, context).map(Some);
            }
        }
        let rows = match nodes.len() == self.dataset.nodes() {
            true => Rows::All,
            false => Rows::of(nodes.to_vec(), self.dataset.nodes()),
        };
        classifier.filter(self.dataset, rows, context).map(Some)
    }
}

fn filters_features(design: &Design) -> bool {
    design.channels().iter().all(|channel| channel.input == Input::Features)
}

/// How far away something can be that a row depends on, degrees aside.
fn steps(design: &Design, dataset: &Dataset) -> Result<usize> {
    Ok(Local::new(dataset.graph(), dataset.features(), design)?.steps())
}

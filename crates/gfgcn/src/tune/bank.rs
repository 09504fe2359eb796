//! What could say something about the nodes of a graph, whatever kind of graph it is.

use super::learn::LANDMARKS;
use super::round::{LARGEST_SYSTEM, MOST_ENTRIES};
use crate::data::{Dataset, TargetKind};
use crate::design::{Channel, Design, Input, RowScaling};
use crate::error::Result;
use crate::features::Features;
use crate::filter::{DEFAULT_DEPTH, DEFAULT_TAU, Filter, Tolerance};
use crate::graph::{Direction, Graph, Normalization, Operator};
use crate::kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Up to so many features, nodes are also compared by how near they are in all of them and in those around them.
const FEW_FEATURES: usize = 64;
/// Steps around a node that this comparison knows of.
const HOPS: usize = 4;

/// A base learner: what it computes from the graph, and how two nodes are compared by that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learner {
    /// In a few words, for people: `two hops`.
    pub name: String,
    /// What is computed from graph and features.
    pub design: Design,
    /// The similarity of two nodes by that.
    pub kernel: Kernel,
    /// How much wider than the mean distance an RBF kernel is; 1 for all others.
    pub width: f64,
    /// Whether a constant is fitted per target.
    pub intercept: bool,
}

impl Learner {
    /// Whether it is the paper's default.
    pub(super) fn is_incumbent(&self) -> bool {
        self.kernel.is_linear() && matches!(self.design.filter(), Filter::Ssgc { .. }) && {
            let channels = self.design.channels();
            channels.len() == 1 && channels[0].input == Input::Features
        }
    }

    /// Whether it knows nothing but a node's own features, as they are.
    pub(super) fn is_own_features(&self) -> bool {
        self.design == Design::from(Filter::Identity).with_tolerance(self.design.tolerance)
    }

    /// The columns of the problem it is solved by, at most.
    pub(super) fn columns(&self, dataset: &Dataset, train: usize) -> usize {
        if !self.kernel.is_linear() {
            return train.min(LANDMARKS);
        }
        let columns =
            |channel: &Channel| channel.input.columns(dataset.graph(), dataset.features());
        self.design.channels().iter().map(columns).sum()
    }

    /// Whether it is tried with so many training nodes: in some seconds and some gigabytes. The default, and what it is
    /// compared with, are tried whatever they take.
    pub(super) fn is_feasible(&self, dataset: &Dataset, train: usize) -> bool {
        if self.is_incumbent() || self.is_own_features() {
            return true;
        }
        let columns = self.columns(dataset, train);
        train.min(columns) <= LARGEST_SYSTEM && train.saturating_mul(columns) <= MOST_ENTRIES
    }
}

/// The paper's default: SSGC at depth 8.
pub(super) fn incumbent(operator: &Operator) -> Design {
    let filter = Filter::ssgc(DEFAULT_DEPTH, DEFAULT_TAU).expect("within the range");
    Design::from(filter).with_operator(operator.clone())
}

/// The learners for a dataset; where there are features, the first is the paper's default. Without edges only features say
/// something, and what is learnt of them is about any nodes.
pub(super) fn learners(
    dataset: &Dataset,
    operator: &Operator,
    intercept: bool,
    tolerance: Tolerance,
) -> Result<Vec<Learner>> {
    let (graph, features) = (dataset.graph(), dataset.features());
    let few = !features.is_empty() && features.cols() <= FEW_FEATURES;
    let values = dataset.targets().kind() == TargetKind::Values;
    let mut bank = Bank { learners: Vec::new(), intercept: intercept || few || values, tolerance };
    if !features.is_empty() {
        bank.add("SSGC", incumbent(operator));
        // The incumbent is the paper's, constants or not.
        bank.learners[0].intercept = intercept || values;
        bank.add_own(features)?;
        if few {
            bank.add_rbf("surroundings", surroundings()?, 1.0);
            bank.add_rbf("surroundings, wider", surroundings()?, 10.0);
        }
        bank.add_neighbours(graph)?;
    }
    if graph.edges() > 0 {
        bank.add_structure(graph, operator)?;
    }
    Ok(bank.learners)
}

/// So many steps.
fn hops(depth: usize) -> Filter {
    Filter::sgc(depth).expect("within the range")
}

/// A node's features as they are and at unit length, side by side and with the same say: together they tell more than either,
/// because one knows how many there are and the other does not care. `None` where all are zero.
fn plain_and_unit(features: &Features) -> Result<Option<Design>> {
    let mut squares = 0.0;
    for node in 0..features.rows() {
        features.for_each_in_row(node, |_, value| squares += f64::from(value) * f64::from(value));
    }
    let mean = squares / features.rows() as f64;
    if !(mean > 0.0 && mean.is_finite()) {
        return Ok(None);
    }
    // Three digits are enough, and do not depend on the order of nodes.
    let unit = 10f64.powf(mean.log10().floor() - 2.0);
    let weight = (mean / unit).round() * unit;
    let unit = Channel { rows: RowScaling::Unit, weight, ..Filter::Identity.into() };
    Design::new(vec![Filter::Identity.into(), unit]).map(Some)
}

/// A node's features, those around it up to four steps away, and its degree, side by side.
fn surroundings() -> Result<Design> {
    let row = Operator::from(Normalization::Row).with_loops(0.0)?;
    let hop = |depth: usize| -> Result<Channel> {
        let filter = if depth == 0 { Filter::Identity } else { Filter::sgc(depth)? };
        Ok(Channel { operator: row.clone(), ..filter.into() })
    };
    let mut channels = (0..=HOPS).map(hop).collect::<Result<Vec<_>>>()?;
    channels.push(Channel { operator: row, input: Input::Degrees, ..Filter::Identity.into() });
    Design::new(channels)
}

struct Bank {
    learners: Vec<Learner>,
    intercept: bool,
    tolerance: Tolerance,
}

impl Bank {
    /// What a node's own features say.
    fn add_own(&mut self, features: &Features) -> Result<()> {
        let own = Design::from(Filter::Identity);
        self.add("own features", own.clone());
        self.add("own features, divided by their sum", own.with_rows(RowScaling::Sum));
        if let Some(both) = plain_and_unit(features)? {
            self.add("own features, also at unit length", both);
        }
        Ok(())
    }

    /// What the features of others say: neighbours, by direction and by relation.
    fn add_neighbours(&mut self, graph: &Graph) -> Result<()> {
        if graph.edges() == 0 {
            return Ok(());
        }
        let plain = Operator::default().with_loops(0.0)?;
        self.add("neighbours", Design::from(hops(1)).with_operator(plain.clone()));
        self.add("two hops", Design::from(hops(2)).with_operator(plain.clone()));
        let difference = Design::from(Filter::high_pass(1)?).with_operator(plain.clone());
        self.add("difference from neighbours", difference);
        if graph.is_directed() {
            let row = Operator::from(Normalization::Row).with_loops(0.0)?;
            for (name, direction, depth) in [
                ("nodes it points to", Direction::Out, 1),
                ("nodes that point to it", Direction::In, 1),
                ("nodes that point to the same ones", Direction::OutIn, 1),
                ("nodes that the same ones point to", Direction::InOut, 1),
                ("two steps along directions", Direction::Out, 2),
                ("two steps against directions", Direction::In, 2),
            ] {
                let one_way = row.clone().with_direction(direction);
                self.add(name, Design::from(hops(depth)).with_operator(one_way));
            }
        }
        for relation in graph.relations() {
            let along = plain.clone().with_relation(relation.name());
            let name = format!("neighbours by {}", relation.name());
            self.add(name, Design::from(hops(1)).with_operator(along));
        }
        Ok(())
    }

    /// What the graph alone says: who is linked to whom, and degrees.
    fn add_structure(&mut self, graph: &Graph, operator: &Operator) -> Result<()> {
        let structure = |filter: Filter, operator: &Operator| -> Design {
            Channel { operator: operator.clone(), input: Input::Structure, ..filter.into() }.into()
        };
        let plain = Operator::default().with_loops(0.0)?;
        let unit = Operator::from(Normalization::Unit).with_loops(0.0)?;
        self.add("whom it is linked to", structure(hops(1), &plain));
        self.add("whom its neighbours are linked to", structure(hops(2), &plain));
        self.add("where it is in the graph", structure(incumbent(operator).filter(), operator));
        self.add("whom it is linked to, unit length", structure(hops(1), &unit));
        if graph.is_directed() {
            let out = unit.clone().with_direction(Direction::Out);
            self.add("whom it points to", structure(hops(1), &out));
            self.add("who points to it", structure(hops(1), &unit.with_direction(Direction::In)));
        }
        for relation in graph.relations() {
            let name = format!("whom it is linked to by {}", relation.name());
            self.add(name, structure(hops(1), &plain.clone().with_relation(relation.name())));
        }
        let degrees = Channel { input: Input::Degrees, ..Filter::Identity.into() };
        self.add_with("its degree", degrees.into(), Kernel::Rbf { gamma: Some(1.0) }, 1.0);
        Ok(())
    }

    fn add(&mut self, name: impl Into<String>, design: Design) {
        self.add_with(name, design, Kernel::Linear, 1.0);
    }

    fn add_rbf(&mut self, name: impl Into<String>, design: Design, width: f64) {
        self.add_with(name, design, Kernel::Rbf { gamma: None }, width);
    }

    fn add_with(&mut self, name: impl Into<String>, design: Design, kernel: Kernel, width: f64) {
        self.learners.push(Learner {
            name: name.into(),
            design: design.with_tolerance(self.tolerance),
            kernel,
            width,
            intercept: self.intercept,
        });
    }
}

//! A plan in words and numbers, for people and for JSON.

use super::{Cost, Driver, Side};
use crate::context::Work;
use crate::filter::Series;
use crate::ridge::{PENALTIES, Ridge, Selection};
use serde::Serialize;
use std::fmt;

/// What will be done, and what it costs: counted, not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Filters that are applied, over all channels.
    pub filters: usize,
    /// Batches of designs that fit into the memory.
    pub passes: usize,
    /// What most filters propagate.
    pub side: Side,
    /// What they do not, and by what factor it would move more bytes.
    pub instead_of: Option<(Side, f64)>,
    /// The tolerance of the filters, relative to their largest value.
    pub tolerance: f64,
    /// Multiples of vectors that are added up.
    pub terms: usize,
    /// What getting the filtered features costs.
    pub cost: Cost,
    /// The systems that are solved, one kind after the other.
    pub solve: Vec<Systems>,
    /// How every node is scored.
    pub predict: Scoring,
    /// Bytes that scoring moves, if nothing were found in a cache.
    pub scored_bytes: u64,
    /// Where it runs, if that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Explanation {
    /// How much there is to do.
    pub fn work(&self) -> Work {
        let operations = self.solve.iter().map(|systems| systems.operations as f64).sum();
        Work { bytes: (self.cost.bytes + self.scored_bytes) as f64, operations }
    }
}

/// The ridge problems of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Systems {
    /// How many; each is factorised once.
    pub count: usize,
    /// Their size.
    pub size: usize,
    /// Whether they are as large as the features (primal) or the training nodes (dual).
    pub primal: bool,
    /// The training nodes of each.
    pub training_nodes: usize,
    /// Values of λ that each factorisation serves.
    pub penalties: usize,
    /// Multiplications and additions of all of them.
    pub operations: u64,
}

impl Systems {
    pub(crate) fn new(
        count: usize,
        train: usize,
        features: usize,
        targets: usize,
        ridge: &Ridge,
    ) -> Self {
        let primal = ridge.kernel.is_linear() && features < train;
        Systems {
            count,
            size: if primal { features } else { train },
            primal,
            training_nodes: train,
            operations: (count as f64 * ridge.operations(train, features, targets)) as u64,
            penalties: if matches!(ridge.selection, Selection::Fixed(_)) { 1 } else { PENALTIES },
        }
    }
}

impl Systems {
    /// Counted with others of the same size.
    pub(crate) fn gathered(mut kinds: Vec<Systems>, next: Systems) -> Vec<Systems> {
        let alike = |kind: &&mut Systems| (kind.size, kind.primal) == (next.size, next.primal);
        match kinds.iter_mut().find(alike) {
            Some(kind) => {
                kind.count += next.count;
                kind.operations += next.operations;
            }
            None => kinds.push(next),
        }
        kinds
    }
}

/// How every node is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "side", rename_all = "lowercase")]
pub enum Scoring {
    /// p(Â)(X W): one column per target and split, for each design.
    Scores {
        /// Columns of each design.
        columns: usize,
        /// Products, all designs together.
        products: usize,
    },
    /// F W: the filtered features of every node, where there are more targets than features.
    Features,
    /// By the kernel values of every node with the training nodes.
    Kernel {
        /// Pairs of nodes, for each design.
        pairs: usize,
    },
    /// Nothing is scored yet.
    Later,
}

impl Driver<'_> {
    /// What the driver will do with so much memory, around the given systems and scores.
    pub(crate) fn explain(
        &self,
        memory: u64,
        solve: Vec<Systems>,
        predict: Scoring,
    ) -> Explanation {
        let passes = self.passes(memory);
        let groups: Vec<_> = passes.iter().flat_map(|pass| self.groups(pass.clone())).collect();
        let channels = || groups.iter().flatten();
        let selecting = channels().filter(|channel| channel.side == Side::Selectors).count();
        let filters = channels().count();
        let side = if 2 * selecting > filters { Side::Selectors } else { Side::Features };
        let bytes = |side: Side| {
            let costs = groups.iter().map(|group| self.group_cost(group, side));
            costs.map(|cost| cost.bytes as f64).sum::<f64>()
        };
        let factor = |other| (other, bytes(other) / bytes(side).max(1.0));
        Explanation {
            filters,
            passes: passes.len(),
            side,
            instead_of: self.rows.some().map(|_| factor(side.other())),
            tolerance: self.tolerance.into(),
            terms: channels().map(|channel| channel.series.terms()).sum(),
            cost: self.cost(memory),
            solve,
            predict,
            scored_bytes: self.scored_bytes(),
            place: None,
        }
    }

    /// Products that scoring with each design by itself takes.
    pub(crate) fn score_products(&self) -> usize {
        let channels = self.designs.iter().flatten();
        channels.map(|(channel, _)| &channel.series).map(Series::products).sum()
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explanation { cost, solve, .. } = self;
        let plural =
            |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        writeln!(
            f,
            "propagate  the {}: {} columns, {}, {}",
            self.side,
            cost.columns,
            plural(cost.products as usize, "product", "products"),
            plural(self.passes, "pass", "passes"),
        )?;
        if let Some((other, factor)) = self.instead_of {
            writeln!(f, "           (the {other} would move {factor:.1} times the bytes)")?;
        }
        writeln!(
            f,
            "share      {} from {}, tolerance {:e}",
            plural(self.filters, "filter", "filters"),
            plural(self.terms, "multiple of the same vectors", "multiples of the same vectors"),
            self.tolerance,
        )?;
        for (k, systems) in solve.iter().enumerate() {
            writeln!(
                f,
                "{}{} of {size} × {size} ({}) on {}, {} each from one factorisation: {} operations",
                if k == 0 { "solve      " } else { "           " },
                plural(systems.count, "system", "systems"),
                if systems.primal { "primal" } else { "dual" },
                plural(systems.training_nodes, "training node", "training nodes"),
                plural(systems.penalties, "λ", "λ"),
                large(systems.operations).trim_end(),
                size = systems.size,
            )?;
        }
        match self.predict {
            Scoring::Scores { columns, products } => writeln!(
                f,
                "predict    the scores: {columns} columns for each design, {products} products"
            )?,
            Scoring::Features => {
                writeln!(f, "predict    by the filtered features of every node")?;
            }
            Scoring::Kernel { pairs } => {
                writeln!(
                    f,
                    "predict    by the kernel: {} pairs for each design",
                    large(pairs as u64)
                )?;
            }
            Scoring::Later => {}
        }
        write!(
            f,
            "cost       {} operations in products and systems, {}B moved, {}B of memory for the filtered features",
            large(cost.operations + solve.iter().map(|systems| systems.operations).sum::<u64>())
                .trim_end(),
            large(cost.bytes),
            large(cost.memory),
        )?;
        match &self.place {
            Some(place) => write!(f, "\nplace      {place}"),
            None => Ok(()),
        }
    }
}

/// `1.5 G`, `20 M`.
fn large(number: u64) -> String {
    let n = number as f64;
    let (scaled, unit) = match n {
        n if n >= 1e12 => (n / 1e12, "T"),
        n if n >= 1e9 => (n / 1e9, "G"),
        n if n >= 1e6 => (n / 1e6, "M"),
        n if n >= 1e3 => (n / 1e3, "k"),
        n => return format!("{n} "),
    };
    if scaled < 10.0 { format!("{scaled:.1} {unit}") } else { format!("{scaled:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        let found: Vec<String> = [7, 1500, 20_000_000, 3_200_000_000].map(large).into();
        assert_eq!(found, ["7 ", "1.5 k", "20 M", "3.2 G"]);
    }
}

//! The numbers of the paper's tables, as data.

use crate::subject::Which;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Model, then depth or dataset, then the number.
type Table = BTreeMap<String, BTreeMap<String, Number>>;

#[derive(Debug, Deserialize)]
struct Number {
    value: f64,
}

/// The published tables: test accuracy in percent, and seconds of training on PubMed.
#[derive(Debug, Deserialize)]
pub struct Published {
    tables: BTreeMap<String, Table>,
}

impl Published {
    /// Reads them; they are part of the program.
    pub fn load() -> Self {
        serde_json::from_str(include_str!("../data/published.json")).expect("checked by a test")
    }

    /// The best accuracy of a model over all depths.
    pub fn overall(&self, model: &str, which: Which) -> Option<f64> {
        self.number("overall", model, which.key())
    }

    /// The accuracy of a model at a depth.
    pub fn accuracy(&self, which: Which, model: &str, depth: usize) -> Option<f64> {
        self.number(which.key(), model, &depth.to_string())
    }

    /// Seconds of training on PubMed.
    pub fn seconds(&self, model: &str, depth: usize) -> Option<f64> {
        self.number("pubmed_seconds", model, &depth.to_string())
    }

    fn number(&self, table: &str, model: &str, column: &str) -> Option<f64> {
        Some(self.tables.get(table)?.get(model)?.get(column)?.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Read off the paper.
    #[test]
    fn numbers_are_found() {
        let published = Published::load();
        assert_eq!(published.overall("gfSSGC", Which::Citeseer), Some(77.4));
        assert_eq!(published.accuracy(Which::CoraMl, "gfSGC", 128), Some(72.8));
        assert_eq!(published.accuracy(Which::Cora, "GCN", 16), Some(39.3));
        assert_eq!(published.seconds("GCNII", 128), Some(77.57));
        assert_eq!(published.accuracy(Which::Cora, "JKNet", 2), None);
    }
}

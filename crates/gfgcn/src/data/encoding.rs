//! How columns of a table became features, so that other tables become the same ones.
//!
//! A model keeps this with its weights: what stands for a missing number must be what stood for it in training, and
//! a category that training has not seen is none of the known ones.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How the columns of a table became features.
///
/// | column | features |
/// |---|---|
/// | numbers | `age`; where some are missing, these are `fill`, and `age:missing` is 1 |
/// | categories | one for each, `colour=red`, `colour=green`; where some are missing, `colour:missing` |
///
/// ```
/// use gfgcn::data::{Encoding, EncodedColumn, ColumnKind};
/// let age = EncodedColumn { name: "age".into(), kind: ColumnKind::Number { fill: 40.5 }, missing: true };
/// let levels = vec!["green".into(), "red".into()];
/// let colour = EncodedColumn { name: "colour".into(), kind: ColumnKind::Category { levels }, missing: false };
/// let encoding = Encoding { columns: vec![age, colour], ..Encoding::default() };
/// assert_eq!(encoding.feature_names(), ["age", "age:missing", "colour=green", "colour=red"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// The column that held the ids, where it had to be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// The column that held the labels, where these stood beside the features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// The columns that are features, in their order.
    pub columns: Vec<EncodedColumn>,
}

/// What became of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodedColumn {
    /// What the column is called.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Whether one more feature says where it holds nothing.
    pub missing: bool,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ColumnKind {
    /// Numbers.
    Number {
        /// What stands for a missing one: the mean of those that were there.
        fill: f32,
    },
    /// One of a few words.
    Category {
        /// The words, in order.
        levels: Vec<String>,
    },
}

impl EncodedColumn {
    /// How many features it became.
    pub fn width(&self) -> usize {
        let own = match &self.kind {
            ColumnKind::Number { .. } => 1,
            ColumnKind::Category { levels } => levels.len(),
        };
        own + usize::from(self.missing)
    }

    fn feature_names(&self) -> impl Iterator<Item = String> {
        let name = &self.name;
        let own: Vec<String> = match &self.kind {
            ColumnKind::Number { .. } => vec![name.clone()],
            ColumnKind::Category { levels } => {
                levels.iter().map(|level| format!("{name}={level}")).collect()
            }
        };
        own.into_iter().chain(self.missing.then(|| format!("{name}:missing")))
    }
}

impl Encoding {
    /// How many features there are.
    pub fn width(&self) -> usize {
        self.columns.iter().map(EncodedColumn::width).sum()
    }

    /// What the features are called, in their order.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(EncodedColumn::feature_names).collect()
    }

    /// Checks what a file says: finite numbers, and features that have names of their own.
    ///
    /// # Errors
    /// If it says something else.
    pub fn check(&self) -> Result<()> {
        for column in &self.columns {
            if let ColumnKind::Number { fill } = column.kind
                && !fill.is_finite()
            {
                return Err(Error::Data(format!("column {:?} is filled with {fill}", column.name)));
            }
        }
        super::dataset::check_unique("feature name", &self.feature_names())
    }
}

//! Which matrix of the graph a filter is a polynomial of.

use super::Normalization;
use crate::error::{Error, Result};
use crate::text::serde_as_text;
use std::fmt;
use std::str::FromStr;

/// The matrix Â that filters are polynomials of. Written and parsed as `sym` or `row`.
///
/// ```
/// use gfgcn::graph::{Normalization, Operator};
/// let operator: Operator = "row".parse()?;
/// assert_eq!(operator.normalization, Normalization::Row);
/// assert_eq!(Operator::default().to_string(), "sym");
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    /// How Ã = A + I is normalised.
    pub normalization: Normalization,
}

serde_as_text!(Operator);

impl Operator {
    /// Every operator there is.
    pub const ALL: [Operator; 2] = [
        Operator { normalization: Normalization::Symmetric },
        Operator { normalization: Normalization::Row },
    ];
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.normalization {
            Normalization::Symmetric => "sym",
            Normalization::Row => "row",
        })
    }
}

impl FromStr for Operator {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = Operator::ALL.into_iter().find(|operator| operator.to_string() == text);
        found.ok_or_else(|| Error::parameter("operator", text, "sym or row"))
    }
}

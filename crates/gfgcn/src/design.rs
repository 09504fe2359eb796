//! What is computed from graph and features before anything is learnt.

use crate::error::{Error, Result};
use crate::features::Features;
use crate::filter::{Filter, Tolerance};
use crate::graph::Operator;
use crate::text::serde_as_text;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// What is done to each node's features before they are filtered. Written as `plain` or `sum`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowScaling {
    /// They are taken as they are.
    #[default]
    Plain,
    /// They are divided by the sum of their sizes; rows of zeros stay as they are.
    Sum,
}

serde_as_text!(RowScaling);

impl RowScaling {
    /// The features as the filter sees them.
    pub fn apply<'a>(&self, features: &'a Features) -> Cow<'a, Features> {
        match self {
            RowScaling::Plain => Cow::Borrowed(features),
            RowScaling::Sum => Cow::Owned(features.clone().row_normalized()),
        }
    }
}

impl fmt::Display for RowScaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RowScaling::Plain => "plain",
            RowScaling::Sum => "sum",
        })
    }
}

impl FromStr for RowScaling {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "plain" => Ok(RowScaling::Plain),
            "sum" => Ok(RowScaling::Sum),
            _ => Err(Error::parameter("row scaling", text, "plain or sum")),
        }
    }
}

/// One filtered copy of the features: p(Â) applied to scaled rows.
///
/// Written as `FILTER@OPERATOR/ROWS`, such as `ssgc:depth=8,tau=0.05@row/sum`; `@sym` and `/plain` are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// p.
    pub filter: Filter,
    /// Â.
    pub operator: Operator,
    /// What is done to the features first.
    pub rows: RowScaling,
}

impl From<Filter> for Channel {
    fn from(filter: Filter) -> Self {
        Channel { filter, operator: Operator::default(), rows: RowScaling::default() }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.filter)?;
        if self.operator != Operator::default() {
            write!(f, "@{}", self.operator)?;
        }
        if self.rows != RowScaling::default() {
            write!(f, "/{}", self.rows)?;
        }
        Ok(())
    }
}

impl FromStr for Channel {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let (rest, rows) = match text.rsplit_once('/') {
            Some((rest, rows)) => (rest, rows.parse()?),
            None => (text, RowScaling::default()),
        };
        let (filter, operator) = match rest.rsplit_once('@') {
            Some((filter, operator)) => (filter, operator.parse()?),
            None => (rest, Operator::default()),
        };
        Ok(Channel { filter: filter.parse()?, operator, rows })
    }
}

/// What is computed from graph and features: one channel or several side by side, F = [F_1, F_2, …].
///
/// With a linear kernel, channels side by side add their kernels: m(F_u, F_v) = Σ_c m(F_c,u, F_c,v). Written as
/// channels joined by ` + `, with ` ~TOLERANCE` behind them where it is not the default: `sgc:depth=2`,
/// `ssgc:depth=8,tau=0.05 + sgc:depth=1/sum ~1e-9`.
///
/// ```
/// use gfgcn::{Design, filter::Filter};
/// let design = Design::from(Filter::ssgc(8, 0.05)?);
/// assert_eq!(design.to_string(), "ssgc:depth=8,tau=0.05");
/// let two: Design = "ssgc:depth=8 + sgc:depth=1@row/sum ~1e-9".parse()?;
/// assert_eq!(two.channels().len(), 2);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    channels: Vec<Channel>,
    /// What [lowering a filter](crate::filter::Series::new) may change of it, relative to its largest value.
    pub tolerance: Tolerance,
}

serde_as_text!(Design);

impl Design {
    /// Channels side by side.
    ///
    /// # Errors
    /// If there are none.
    pub fn new(channels: Vec<Channel>) -> Result<Self> {
        if channels.is_empty() {
            return Err(Error::parameter("design", "empty", "one channel or more"));
        }
        Ok(Design { channels, tolerance: Tolerance::default() })
    }

    /// The channels; there is at least one.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The filter of the first channel, which is the only one of the paper's models.
    pub fn filter(&self) -> Filter {
        self.channels[0].filter
    }

    /// Whether any channel looks further than the node itself.
    pub fn uses_graph(&self) -> bool {
        self.channels.iter().any(|channel| !channel.filter.ignores_graph())
    }

    /// With another operator in every channel.
    #[must_use]
    pub fn with_operator(mut self, operator: Operator) -> Self {
        self.channels.iter_mut().for_each(|channel| channel.operator = operator);
        self
    }

    /// With other row scaling in every channel.
    #[must_use]
    pub fn with_rows(mut self, rows: RowScaling) -> Self {
        self.channels.iter_mut().for_each(|channel| channel.rows = rows);
        self
    }

    /// With another tolerance.
    #[must_use]
    pub fn with_tolerance(self, tolerance: Tolerance) -> Self {
        Design { tolerance, ..self }
    }
}

impl From<Filter> for Design {
    fn from(filter: Filter) -> Self {
        Design { channels: vec![filter.into()], tolerance: Tolerance::default() }
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, channel) in self.channels.iter().enumerate() {
            write!(f, "{}{channel}", if k == 0 { "" } else { " + " })?;
        }
        if self.tolerance == Tolerance::default() {
            Ok(())
        } else {
            write!(f, " ~{}", self.tolerance)
        }
    }
}

impl FromStr for Design {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let (channels, tolerance) = match text.split_once('~') {
            Some((channels, tolerance)) => (channels, tolerance.trim().parse()?),
            None => (text, Tolerance::default()),
        };
        let channels = channels.split(" + ").map(|channel| channel.trim().parse());
        Ok(Design::new(channels.collect::<Result<_>>()?)?.with_tolerance(tolerance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_are_written_and_read() {
        for text in [
            "sgc:depth=2",
            "ssgc:depth=8,tau=0.05@row",
            "dgc:depth=64,time=5.27/sum",
            "ssgc:depth=8,tau=0.05@row/sum + sgc:depth=1 ~1e-9",
        ] {
            let design: Design = text.parse().unwrap();
            assert_eq!(design.to_string(), text);
            let json = serde_json::to_string(&design).unwrap();
            assert_eq!(serde_json::from_str::<Design>(&json).unwrap(), design);
        }
        for text in ["", " + ", "sgc:depth=2 + ", "sgc@left", "sgc/unit", "sgc ~1", "sgc ~"] {
            assert!(text.parse::<Design>().is_err(), "{text:?}");
        }
    }
}

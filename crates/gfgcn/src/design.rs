//! What is computed from graph and features before anything is learnt.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::filter::{Filter, Tolerance};
use crate::graph::{Graph, Operator};
use crate::text::serde_as_text;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// What is done to each node's features before they are filtered. Written as `plain`, `sum` or `unit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowScaling {
    /// They are taken as they are.
    #[default]
    Plain,
    /// They are divided by the sum of their sizes; rows of zeros stay as they are.
    Sum,
    /// They are divided by their Euclidean length; rows of zeros stay as they are.
    Unit,
}

serde_as_text!(RowScaling);

impl RowScaling {
    /// The features as the filter sees them.
    pub fn apply<'a>(&self, features: &'a Features) -> Cow<'a, Features> {
        match self {
            RowScaling::Plain => Cow::Borrowed(features),
            RowScaling::Sum => Cow::Owned(features.clone().row_normalized()),
            RowScaling::Unit => Cow::Owned(features.clone().with_unit_rows()),
        }
    }
}

impl fmt::Display for RowScaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RowScaling::Plain => "plain",
            RowScaling::Sum => "sum",
            RowScaling::Unit => "unit",
        })
    }
}

impl FromStr for RowScaling {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "plain" => Ok(RowScaling::Plain),
            "sum" => Ok(RowScaling::Sum),
            "unit" => Ok(RowScaling::Unit),
            _ => Err(Error::parameter("row scaling", text, "plain, sum or unit")),
        }
    }
}

/// What a channel filters. Written as `features`, `structure` or `degrees`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// The nodes' features.
    #[default]
    Features,
    /// The identity, one column per node: p(Â) itself, so that nodes are alike that are linked to the same ones. A model
    /// of it knows the nodes it was trained on and no others.
    Structure,
    /// ln(1 + number of neighbours); of a directed graph, of the arcs that start and of those that end at the node.
    Degrees,
}

impl Input {
    const ALL: [(&'static str, Input); 3] = [
        ("features", Input::Features),
        ("structure", Input::Structure),
        ("degrees", Input::Degrees),
    ];

    /// The rows that are filtered, given the nodes' features.
    ///
    /// # Errors
    /// If features are meant and there are none.
    pub(crate) fn rows<'a>(
        self,
        graph: &Graph,
        features: &'a Features,
        scaling: RowScaling,
    ) -> Result<Cow<'a, Features>> {
        match self {
            Input::Features if features.is_empty() => Err(Error::Data(
                "the nodes have no features; a design can be computed of structure or degrees"
                    .into(),
            )),
            Input::Features => {
                if scaling != RowScaling::Plain {
                    features.ready(0..features.cols())?;
                }
                Ok(scaling.apply(features))
            }
            Input::Structure => Ok(Cow::Owned(Features::identity(graph.nodes()))),
            Input::Degrees => {
                let degrees = graph.log_degrees();
                Ok(Cow::Owned(scaling.apply(&Features::Dense(degrees)).into_owned()))
            }
        }
    }

    /// The number of columns, given the nodes' features.
    pub fn columns(self, graph: &Graph, features: &Features) -> usize {
        match self {
            Input::Features => features.cols(),
            Input::Structure => graph.nodes(),
            Input::Degrees => 1 + usize::from(graph.is_directed()),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Input::ALL.iter().find(|(_, input)| input == self).map_or("", |(name, _)| name))
    }
}

impl FromStr for Input {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = Input::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, input)| input).ok_or_else(|| {
            Error::parameter("input of a channel", text, "features, structure or degrees")
        })
    }
}

/// One filtered copy of the features, or of what else is known of the nodes: √w p(Â) applied to scaled rows.
///
/// Written as `WEIGHT*FILTER@OPERATOR/ROWS of INPUT`, such as `0.5*ssgc:depth=8,tau=0.05@row/sum` or
/// `sgc:depth=2@sym:loops=0 of structure`; what is the default is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// p.
    pub filter: Filter,
    /// Â.
    pub operator: Operator,
    /// What is filtered.
    pub input: Input,
    /// What is done to its rows first.
    pub rows: RowScaling,
    /// w: what the channel adds to a linear kernel is multiplied by it. Positive and finite; 1 for a channel alone.
    pub weight: f64,
}

impl From<Filter> for Channel {
    fn from(filter: Filter) -> Self {
        Channel {
            filter,
            operator: Operator::default(),
            input: Input::default(),
            rows: RowScaling::default(),
            weight: 1.0,
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.weight != 1.0 {
            write!(f, "{}*", self.weight)?;
        }
        write!(f, "{}", self.filter)?;
        if self.operator != Operator::default() {
            write!(f, "@{}", self.operator)?;
        }
        if self.rows != RowScaling::default() {
            write!(f, "/{}", self.rows)?;
        }
        if self.input != Input::default() {
            write!(f, " of {}", self.input)?;
        }
        Ok(())
    }
}

impl FromStr for Channel {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let (rest, weight) = match text.split_once('*') {
            Some((weight, rest)) => (rest, parse_weight(weight)?),
            None => (text, 1.0),
        };
        let (rest, input) = match rest.split_once(" of ") {
            Some((rest, input)) => (rest, input.parse()?),
            None => (rest, Input::default()),
        };
        let (rest, rows) = match rest.rsplit_once('/') {
            Some((rest, rows)) => (rest, rows.parse()?),
            None => (rest, RowScaling::default()),
        };
        let (filter, operator) = match rest.rsplit_once('@') {
            Some((filter, operator)) => (filter, operator.parse()?),
            None => (rest, Operator::default()),
        };
        Ok(Channel { filter: filter.parse()?, operator, input, rows, weight })
    }
}

fn parse_weight(text: &str) -> Result<f64> {
    let weight = text.parse().ok().filter(|&weight: &f64| weight > 0.0 && weight.is_finite());
    weight.ok_or_else(|| Error::parameter("weight of a channel", text, "a positive number"))
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

    /// The number of columns of its filtered features.
    pub(crate) fn columns(&self, dataset: &Dataset) -> usize {
        let (graph, features) = (dataset.graph(), dataset.features());
        self.channels().iter().map(|channel| channel.input.columns(graph, features)).sum()
    }

    /// Whether any channel looks further than the node itself.
    pub fn uses_graph(&self) -> bool {
        let uses =
            |channel: &Channel| channel.input != Input::Features || !channel.filter.ignores_graph();
        self.channels.iter().any(uses)
    }

    /// Whether any channel filters this.
    pub fn filters(&self, input: Input) -> bool {
        self.channels.iter().any(|channel| channel.input == input)
    }

    /// With another operator in every channel.
    #[must_use]
    pub fn with_operator(mut self, operator: Operator) -> Self {
        self.channels.iter_mut().for_each(|channel| channel.operator = operator.clone());
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

impl From<Channel> for Design {
    fn from(channel: Channel) -> Self {
        Design { channels: vec![channel], tolerance: Tolerance::default() }
    }
}

impl From<Filter> for Design {
    fn from(filter: Filter) -> Self {
        Channel::from(filter).into()
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
            "0.5*sgc:depth=2@sym:loops=0 of structure + identity/unit + identity of degrees",
            "highpass:depth=1@row:out,relation=a%20of%20b",
        ] {
            let design: Design = text.parse().unwrap();
            assert_eq!(design.to_string(), text);
            let json = serde_json::to_string(&design).unwrap();
            assert_eq!(serde_json::from_str::<Design>(&json).unwrap(), design);
        }
        for text in [
            "",
            " + ",
            "sgc:depth=2 + ",
            "sgc@left",
            "sgc/long",
            "sgc of nothing",
            "0*sgc",
            "-1*sgc",
            "inf*sgc",
            "x*sgc",
            "sgc ~1",
            "sgc ~",
        ] {
            assert!(text.parse::<Design>().is_err(), "{text:?}");
        }
    }
}

//! Graph filters: which polynomial of Â is applied to the features.
//!
//! A [`Filter`] says what; a [`Series`] is the same filter lowered to Chebyshev coefficients; and the
//! [driver](crate::driver) applies any number of them to every column in one pass over the graph.

mod layout;
mod propagate;
mod selectors;
mod series;
mod slabs;

pub(crate) use layout::Layout;
pub(crate) use propagate::{products, propagate};
pub(crate) use selectors::{Selectors, TimesFeatures};
pub use series::{Series, Tolerance};
pub(crate) use slabs::{Propagated, Slabs};

use crate::error::{Error, Result};
use crate::text::{self, serde_as_text};
use std::fmt;
use std::str::FromStr;

/// The largest depth K.
pub const MAX_DEPTH: usize = 10_000;
/// A depth that is good on many graphs, for SSGC.
pub const DEFAULT_DEPTH: usize = 8;
/// The paper's τ for SSGC.
pub const DEFAULT_TAU: f64 = 0.05;
/// The paper's terminal time T for DGC.
pub const DEFAULT_TIME: f64 = 5.27;

/// A polynomial p of the normalised adjacency; the filtered features are F = p(Â) X.
///
/// | filter | p(Â) | parameters (default) |
/// |---|---|---|
/// | `sgc` | Â^K | depth K (8) |
/// | `ssgc` | 1/K Σ_{k=1..K} ((1−τ) Â^k + τ I) | depth K (8), tau τ (0.05) |
/// | `dgc` | ((1 − T/K) I + T/K Â)^K | depth K (8), time T (5.27) |
///
/// K is 1 to 10 000; τ is 0 to 1; T is positive. Built by [`Filter::sgc`], [`Filter::ssgc`] and
/// [`Filter::dgc`], or from text, all of which check the parameters. Written and parsed as `sgc:depth=2`,
/// `ssgc:depth=8,tau=0.05`, `dgc:depth=64,time=5.27`; parameters that are left out have their defaults.
///
/// ```
/// use gfgcn::filter::Filter;
/// let filter = Filter::ssgc(8, 0.05)?;
/// assert_eq!(filter.evaluate(1.0), 1.0);
/// assert_eq!(filter, "ssgc:depth=8".parse()?);
/// assert!(Filter::sgc(0).is_err());
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// Simplified graph convolution.
    #[non_exhaustive]
    Sgc {
        /// K.
        depth: usize,
    },
    /// Simple spectral graph convolution.
    #[non_exhaustive]
    Ssgc {
        /// K.
        depth: usize,
        /// τ, the weight of the node's own features.
        tau: f64,
    },
    /// Decoupled graph convolution.
    #[non_exhaustive]
    Dgc {
        /// K.
        depth: usize,
        /// T, the terminal time of the diffusion.
        time: f64,
    },
}

serde_as_text!(Filter);

impl Filter {
    /// The names of all filters.
    pub const NAMES: [&'static str; 3] = ["sgc", "ssgc", "dgc"];

    /// The filter of a name. `given` is asked for the value of each parameter that the filter has; `None`
    /// stands for the default.
    ///
    /// ```
    /// use gfgcn::filter::Filter;
    /// let filter = Filter::named("sgc", |name| (name == "depth").then_some(2.0))?;
    /// assert_eq!(filter, Filter::sgc(2)?);
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name that is none of [`Filter::NAMES`], or a parameter out of its range.
    pub fn named(name: &str, mut given: impl FnMut(&'static str) -> Option<f64>) -> Result<Self> {
        let depth = match given("depth") {
            None => DEFAULT_DEPTH,
            Some(depth) => {
                Filter::check_number("depth", depth)?;
                depth as usize
            }
        };
        match name {
            "sgc" => Filter::sgc(depth),
            "ssgc" => Filter::ssgc(depth, given("tau").unwrap_or(DEFAULT_TAU)),
            "dgc" => Filter::dgc(depth, given("time").unwrap_or(DEFAULT_TIME)),
            _ => Err(Error::parameter("filter", name, Filter::NAMES.join(", "))),
        }
    }

    /// Checks a parameter by itself, whichever filters have it; those that none has are accepted.
    ///
    /// ```
    /// use gfgcn::filter::Filter;
    /// assert!(Filter::check_number("tau", 0.5).is_ok());
    /// assert!(Filter::check_number("time", f64::NAN).is_err());
    /// ```
    ///
    /// # Errors
    /// A value that no filter takes.
    pub fn check_number(name: &str, value: f64) -> Result<()> {
        match name {
            "depth" if value.fract() == 0.0 && (1.0..=MAX_DEPTH as f64).contains(&value) => Ok(()),
            "depth" => Err(depth_out_of_range(value)),
            "tau" if !(0.0..=1.0).contains(&value) => {
                Err(Error::parameter("tau", value, "a number from 0 to 1"))
            }
            "time" if !(value > 0.0 && value.is_finite()) => {
                Err(Error::parameter("time", value, "a positive number"))
            }
            _ => Ok(()),
        }
    }

    /// Â^K.
    pub fn sgc(depth: usize) -> Result<Self> {
        check_depth(depth)?;
        Ok(Filter::Sgc { depth })
    }

    /// 1/K Σ_{k=1..K} ((1−τ) Â^k + τ I).
    pub fn ssgc(depth: usize, tau: f64) -> Result<Self> {
        check_depth(depth)?;
        Filter::check_number("tau", tau)?;
        Ok(Filter::Ssgc { depth, tau })
    }

    /// ((1 − T/K) I + T/K Â)^K.
    pub fn dgc(depth: usize, time: f64) -> Result<Self> {
        /// Beyond this the filter amplifies rounding errors over all it leaves of the features.
        const LARGEST: f64 = 1e6;
        check_depth(depth)?;
        Filter::check_number("time", time)?;
        let filter = Filter::Dgc { depth, time };
        if filter.evaluate(-1.0).abs() > LARGEST {
            return Err(Error::parameter(
                "time",
                time,
                format!("smaller, or the depth larger: at depth {depth} such steps blow up noise"),
            ));
        }
        Ok(filter)
    }

    /// Its name, one of [`Filter::NAMES`].
    pub fn name(&self) -> &'static str {
        match self {
            Filter::Sgc { .. } => "sgc",
            Filter::Ssgc { .. } => "ssgc",
            Filter::Dgc { .. } => "dgc",
        }
    }

    /// Its parameters by name, in the order of the table above.
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        let depth = ("depth", self.depth() as f64);
        match *self {
            Filter::Sgc { .. } => vec![depth],
            Filter::Ssgc { tau, .. } => vec![depth, ("tau", tau)],
            Filter::Dgc { time, .. } => vec![depth, ("time", time)],
        }
    }

    /// K.
    pub fn depth(&self) -> usize {
        match *self {
            Filter::Sgc { depth } | Filter::Ssgc { depth, .. } | Filter::Dgc { depth, .. } => depth,
        }
    }

    /// The paper's name for the closed-form model with this filter: `gfSGC`, `gfSSGC`, `gfDGC`.
    pub fn model_name(&self) -> &'static str {
        match self {
            Filter::Sgc { .. } => "gfSGC",
            Filter::Ssgc { .. } => "gfSSGC",
            Filter::Dgc { .. } => "gfDGC",
        }
    }

    /// The filter in the paper's notation: `SSGC, K = 8, τ = 0.05`.
    pub fn formula(&self) -> String {
        let name = &self.model_name()["gf".len()..];
        let symbol = |parameter| match parameter {
            "depth" => "K",
            "tau" => "τ",
            "time" => "T",
            other => other,
        };
        let parameters = self.parameters().into_iter();
        parameters
            .fold(name.to_owned(), |text, (p, value)| format!("{text}, {} = {value}", symbol(p)))
    }

    /// Whether it gives the features back as they are, whatever the graph.
    pub fn ignores_graph(&self) -> bool {
        matches!(self, Filter::Ssgc { tau, .. } if *tau == 1.0)
    }

    /// p(x) for a number x, an eigenvalue of Â in [−1, 1].
    pub fn evaluate(&self, x: f64) -> f64 {
        match *self {
            Filter::Sgc { depth } => x.powi(depth as i32),
            Filter::Ssgc { depth, tau } => {
                // Horner's rule on x + x² + … + x^K.
                let powers = (0..depth).fold(0.0, |sum, _| x * (1.0 + sum));
                tau + (1.0 - tau) / depth as f64 * powers
            }
            Filter::Dgc { depth, time } => {
                let step = time / depth as f64;
                (1.0 - step + step * x).powi(depth as i32)
            }
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(f, self.name(), &self.parameters())
    }
}

impl FromStr for Filter {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let (name, mut options) = text::parse("filter", text)?;
        let mut problem = None;
        let filter = Filter::named(name, |parameter| {
            let given = options.number(parameter, "a number", |_| true);
            given.unwrap_or_else(|error| {
                problem.get_or_insert(error);
                None
            })
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        let filter = filter?;
        options.finish()?;
        Ok(filter)
    }
}

fn check_depth(depth: usize) -> Result<()> {
    if (1..=MAX_DEPTH).contains(&depth) { Ok(()) } else { Err(depth_out_of_range(depth)) }
}

fn depth_out_of_range(depth: impl ToString) -> Error {
    Error::parameter("depth", depth, format!("a whole number from 1 to {MAX_DEPTH}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_written_parsed_and_checked() {
        for text in ["sgc:depth=2", "ssgc:depth=16,tau=0.3", "dgc:depth=64,time=5.27"] {
            let filter: Filter = text.parse().unwrap();
            assert_eq!(filter.to_string(), text);
            let json = serde_json::to_string(&filter).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<Filter>(&json).unwrap(), filter);
        }
        assert_eq!("ssgc".parse::<Filter>().unwrap(), Filter::ssgc(8, 0.05).unwrap());
        for text in [
            "",
            "gcn",
            "sgc:depth=0",
            "sgc:depth=1.5",
            "sgc:depth=10001",
            "sgc:tau=0.1",
            "ssgc:tau=2",
            "ssgc:tau=x",
            "dgc:time=-1",
            "dgc:depth=20,time=50",
            "sgc:depth",
            "sgc:depth=2,depth=3",
        ] {
            assert!(text.parse::<Filter>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn every_name_is_a_filter_with_the_papers_defaults() {
        let formulas = Filter::NAMES.map(|name| name.parse::<Filter>().unwrap().formula());
        assert_eq!(formulas, ["SGC, K = 8", "SSGC, K = 8, τ = 0.05", "DGC, K = 8, T = 5.27"]);
    }
}

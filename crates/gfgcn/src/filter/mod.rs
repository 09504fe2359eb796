//! Graph filters: which polynomial of Â is applied to the features.
//!
//! A [`Filter`] says what; a [`Series`] is the same filter lowered to coefficients; and the
//! [driver](crate::driver) applies any number of them to every column in one pass over the graph.

mod layout;
mod propagate;
mod selectors;
mod series;
mod slabs;
mod tolerance;

pub(crate) use layout::Layout;
pub(crate) use propagate::{products, propagate, propagate_as};
pub(crate) use selectors::{Selectors, TimesFeatures};
pub(crate) use series::recurrence;
pub use series::{Basis, Series};
pub(crate) use slabs::{Propagated, Shelf, Slabs, Source, Weighted, writing_memory};
pub use tolerance::Tolerance;

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
/// The largest depth of a high-pass filter: (1 − x)^K grows to 2^K.
pub const MAX_HIGH_PASS_DEPTH: usize = 20;
/// The largest time of a heat kernel.
const MAX_HEAT_TIME: f64 = 1000.0;
/// The smallest probability of a restart.
const MIN_ALPHA: f64 = 0.001;

/// A polynomial p of the normalised adjacency; the filtered features are F = p(Â) X.
///
/// | filter | p(Â) | parameters (default) |
/// |---|---|---|
/// | `sgc` | Â^K | depth K (8) |
/// | `ssgc` | 1/K Σ_{k=1..K} ((1−τ) Â^k + τ I) | depth K (8), tau τ (0.05) |
/// | `dgc` | ((1 − T/K) I + T/K Â)^K | depth K (8), time T (5.27) |
/// | `identity` | I | |
/// | `highpass` | (I − Â)^K | depth K (1) |
/// | `ppr` | α (I − (1−α) Â)⁻¹, personalised PageRank | alpha α (0.1) |
/// | `heat` | exp(−t (I − Â)), the heat kernel | time t (5) |
///
/// K is 1 to 10 000 (`highpass`: to 20); τ is 0 to 1; T is positive; α is 0.001 to 1; t is positive and at most 1000. Built
/// by functions of their names, or from text, all of which check the parameters. Written and parsed as `sgc:depth=2`,
/// `ssgc:depth=8,tau=0.05`, `dgc:depth=64,time=5.27`; parameters that are left out have their defaults. The first three are
/// the paper's. The last two are no polynomials, but as good as polynomials: their series are truncated.
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
    /// The features as they are.
    Identity,
    /// How a node differs from its neighbours.
    #[non_exhaustive]
    HighPass {
        /// K.
        depth: usize,
    },
    /// Personalised PageRank.
    #[non_exhaustive]
    Ppr {
        /// α, the probability of a restart.
        alpha: f64,
    },
    /// The heat kernel.
    #[non_exhaustive]
    Heat {
        /// t.
        time: f64,
    },
}

serde_as_text!(Filter);

impl Filter {
    /// The names of the paper's filters.
    pub const NAMES: [&'static str; 3] = ["sgc", "ssgc", "dgc"];

    /// The paper's filter of a name. `given` is asked for the value of each parameter that the filter has; `None`
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

    /// (I − Â)^K.
    pub fn high_pass(depth: usize) -> Result<Self> {
        if (1..=MAX_HIGH_PASS_DEPTH).contains(&depth) {
            return Ok(Filter::HighPass { depth });
        }
        let range =
            format!("a whole number from 1 to {MAX_HIGH_PASS_DEPTH} for a high-pass filter");
        Err(Error::parameter("depth", depth, range))
    }

    /// α (I − (1−α) Â)⁻¹.
    pub fn ppr(alpha: f64) -> Result<Self> {
        if (MIN_ALPHA..=1.0).contains(&alpha) {
            return Ok(Filter::Ppr { alpha });
        }
        Err(Error::parameter("alpha", alpha, format!("a number from {MIN_ALPHA} to 1")))
    }

    /// exp(−t (I − Â)).
    pub fn heat(time: f64) -> Result<Self> {
        if time > 0.0 && time <= MAX_HEAT_TIME {
            return Ok(Filter::Heat { time });
        }
        Err(Error::parameter("time", time, format!("a positive number up to {MAX_HEAT_TIME}")))
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Filter::Sgc { .. } => "sgc",
            Filter::Ssgc { .. } => "ssgc",
            Filter::Dgc { .. } => "dgc",
            Filter::Identity => "identity",
            Filter::HighPass { .. } => "highpass",
            Filter::Ppr { .. } => "ppr",
            Filter::Heat { .. } => "heat",
        }
    }

    /// Its parameters by name, in the order of the table above.
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        let depth = ("depth", self.depth() as f64);
        match *self {
            Filter::Sgc { .. } | Filter::HighPass { .. } => vec![depth],
            Filter::Ssgc { tau, .. } => vec![depth, ("tau", tau)],
            Filter::Dgc { time, .. } => vec![depth, ("time", time)],
            Filter::Identity => vec![],
            Filter::Ppr { alpha } => vec![("alpha", alpha)],
            Filter::Heat { time } => vec![("time", time)],
        }
    }

    /// K; 0 for filters that have none.
    pub fn depth(&self) -> usize {
        match *self {
            Filter::Sgc { depth }
            | Filter::Ssgc { depth, .. }
            | Filter::Dgc { depth, .. }
            | Filter::HighPass { depth } => depth,
            Filter::Identity | Filter::Ppr { .. } | Filter::Heat { .. } => 0,
        }
    }

    /// The paper's name for the closed-form model with this filter, `gfSGC`, `gfSSGC` or `gfDGC`, and names in its style for
    /// the other filters.
    pub fn model_name(&self) -> &'static str {
        match self {
            Filter::Sgc { .. } => "gfSGC",
            Filter::Ssgc { .. } => "gfSSGC",
            Filter::Dgc { .. } => "gfDGC",
            Filter::Identity => "features",
            Filter::HighPass { .. } => "gfHighPass",
            Filter::Ppr { .. } => "gfPPR",
            Filter::Heat { .. } => "gfHeat",
        }
    }

    /// The filter in the paper's notation: `SSGC, K = 8, τ = 0.05`.
    pub fn formula(&self) -> String {
        let name = self.model_name();
        let name = name.strip_prefix("gf").unwrap_or("none");
        let symbol = |parameter| match parameter {
            "depth" => "K",
            "tau" => "τ",
            "alpha" => "α",
            "time" if matches!(self, Filter::Heat { .. }) => "t",
            "time" => "T",
            other => other,
        };
        let parameters = self.parameters().into_iter();
        parameters
            .fold(name.to_owned(), |text, (p, value)| format!("{text}, {} = {value}", symbol(p)))
    }

    /// Whether it gives the features back as they are, whatever the graph.
    pub fn ignores_graph(&self) -> bool {
        match *self {
            Filter::Ssgc { tau: share, .. } | Filter::Ppr { alpha: share } => share == 1.0,
            Filter::Identity => true,
            _ => false,
        }
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
            Filter::Identity => 1.0,
            Filter::HighPass { depth } => (1.0 - x).powi(depth as i32),
            Filter::Ppr { alpha } => alpha / (1.0 - (1.0 - alpha) * x),
            Filter::Heat { time } => (-time * (1.0 - x)).exp(),
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
        let any = "a number";
        let filter = match name {
            "identity" => Filter::Identity,
            "highpass" => {
                let depth = options.whole("depth", 1, MAX_HIGH_PASS_DEPTH as u32)?;
                Filter::high_pass(depth.unwrap_or(1) as usize)?
            }
            "ppr" => Filter::ppr(options.number("alpha", any, |_| true)?.unwrap_or(0.1))?,
            "heat" => Filter::heat(options.number("time", any, |_| true)?.unwrap_or(5.0))?,
            name if !Filter::NAMES.contains(&name) => {
                let known = "sgc, ssgc, dgc, identity, highpass, ppr or heat";
                return Err(Error::parameter("filter", name, known));
            }
            name => {
                let mut problem = None;
                let filter = Filter::named(name, |parameter| {
                    let given = options.number(parameter, any, |_| true);
                    given.unwrap_or_else(|error| {
                        problem.get_or_insert(error);
                        None
                    })
                });
                problem.map_or(filter, Err)?
            }
        };
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
        for text in [
            "sgc:depth=2",
            "ssgc:depth=16,tau=0.3",
            "dgc:depth=64,time=5.27",
            "identity",
            "highpass:depth=2",
            "ppr:alpha=0.15",
            "heat:time=3",
        ] {
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
            "identity:depth=1",
            "highpass:depth=21",
            "highpass:depth=0",
            "ppr:alpha=0",
            "ppr:alpha=1.5",
            "ppr:depth=2",
            "heat:time=0",
            "heat:time=1e4",
            "heat:time=nan",
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

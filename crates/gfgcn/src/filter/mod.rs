//! Graph filters: which polynomial of Â is applied to the features.
//!
//! A [`Filter`] says what; a [`FilterBank`] is any number of them lowered to coefficients in a common
//! basis; and [`propagate`] applies a bank to every column in one pass over the graph.

mod bank;
mod propagate;
mod selectors;

pub use bank::{Basis, FilterBank, Tolerance};
pub(crate) use propagate::Layout;
pub use propagate::{Propagated, Signal, propagate};
pub(crate) use selectors::propagate_selectors;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

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
/// | filter | p(Â) | parameters |
/// |---|---|---|
/// | SGC | Â^K | depth K |
/// | SSGC | 1/K Σ_{k=1..K} ((1−τ) Â^k + τ I) | depth K, τ (default 0.05) |
/// | DGC | ((1 − T/K) I + T/K Â)^K | depth K, T (default 5.27) |
///
/// K is 1 to 10 000; τ is 0 to 1; T is positive. Built by [`Filter::sgc`], [`Filter::ssgc`] and
/// [`Filter::dgc`], which check the parameters.
///
/// ```
/// use gfgcn::filter::Filter;
/// let filter = Filter::ssgc(8, 0.05)?;
/// assert_eq!(filter.evaluate(1.0), 1.0);
/// assert!(Filter::sgc(0).is_err());
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", try_from = "Unchecked")]
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

/// A filter as read from a file, before its parameters are checked.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Unchecked {
    Sgc { depth: usize },
    Ssgc { depth: usize, tau: f64 },
    Dgc { depth: usize, time: f64 },
}

impl TryFrom<Unchecked> for Filter {
    type Error = Error;
    fn try_from(raw: Unchecked) -> Result<Self> {
        match raw {
            Unchecked::Sgc { depth } => Filter::sgc(depth),
            Unchecked::Ssgc { depth, tau } => Filter::ssgc(depth, tau),
            Unchecked::Dgc { depth, time } => Filter::dgc(depth, time),
        }
    }
}

impl Filter {
    /// Â^K.
    pub fn sgc(depth: usize) -> Result<Self> {
        check_depth(depth)?;
        Ok(Filter::Sgc { depth })
    }

    /// 1/K Σ_{k=1..K} ((1−τ) Â^k + τ I).
    pub fn ssgc(depth: usize, tau: f64) -> Result<Self> {
        check_depth(depth)?;
        if !(0.0..=1.0).contains(&tau) {
            return Err(Error::parameter("tau", tau, "a number from 0 to 1"));
        }
        Ok(Filter::Ssgc { depth, tau })
    }

    /// ((1 − T/K) I + T/K Â)^K.
    pub fn dgc(depth: usize, time: f64) -> Result<Self> {
        /// Beyond this the filter amplifies rounding errors over all it leaves of the features.
        const LARGEST: f64 = 1e6;
        check_depth(depth)?;
        if !(time > 0.0 && time.is_finite()) {
            return Err(Error::parameter("time", time, "a positive number"));
        }
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
        match self {
            Filter::Sgc { depth } => write!(f, "SGC, K = {depth}"),
            Filter::Ssgc { depth, tau } => write!(f, "SSGC, K = {depth}, τ = {tau}"),
            Filter::Dgc { depth, time } => write!(f, "DGC, K = {depth}, T = {time}"),
        }
    }
}

fn check_depth(depth: usize) -> Result<()> {
    if (1..=MAX_DEPTH).contains(&depth) {
        Ok(())
    } else {
        Err(Error::parameter("depth", depth, format!("a whole number from 1 to {MAX_DEPTH}")))
    }
}

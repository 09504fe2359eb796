//! Which model is trained: the closed set of baselines, by the names of their papers.

use crate::network::{Appnp, Dual, Gat, Gcn, Gcnii, JkNet, Jump, Logistic, Network};
use gfgcn::filter::Filter;
use gfgcn::{Error, Result};
use serde::{Deserialize, Serialize};

/// A model that is trained by gradient descent.
///
/// ```
/// use gfgcn_baselines::{Baseline, Gcn};
/// let model = Baseline::Gcn(Gcn { hidden: 16, ..Gcn::new(2) });
/// assert_eq!((model.name(), model.depth()), ("GCN", 2));
/// assert!(Baseline::Gcn(Gcn::new(0)).check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Baseline {
    /// Graph convolutional network.
    Gcn(Gcn),
    /// Graph attention network.
    Gat(Gat),
    /// Jumping knowledge network.
    JkNet(JkNet),
    /// Predict, then propagate.
    Appnp(Appnp),
    /// Initial residual and identity mapping.
    Gcnii(Gcnii),
    /// SGC, SSGC or DGC.
    Logistic(Logistic),
    /// The ablation of the gradient-free models.
    Dual(Dual),
}

impl Baseline {
    /// SGC, SSGC or DGC with their filter.
    pub fn logistic(filter: Filter) -> Self {
        Baseline::Logistic(Logistic { filter })
    }

    /// The paper's name.
    pub fn name(&self) -> &'static str {
        match self {
            Baseline::Gcn(_) => "GCN",
            Baseline::Gat(_) => "GAT",
            Baseline::JkNet(JkNet { jump: Jump::Concat, .. }) => "JKNet",
            Baseline::JkNet(JkNet { jump: Jump::Max, .. }) => "JKNet-max",
            Baseline::Appnp(_) => "APPNP",
            Baseline::Gcnii(_) => "GCNII",
            // Named after the closed-form model with that filter, without its prefix.
            Baseline::Logistic(Logistic { filter }) => &filter.model_name()["gf".len()..],
            Baseline::Dual(_) => "gradient descent",
        }
    }

    /// K.
    pub fn depth(&self) -> usize {
        match self {
            Baseline::Gcn(m) => m.depth,
            Baseline::Gat(m) => m.depth,
            Baseline::JkNet(m) => m.depth,
            Baseline::Appnp(m) => m.depth,
            Baseline::Gcnii(m) => m.depth,
            Baseline::Logistic(m) => m.filter.depth(),
            Baseline::Dual(m) => m.filter.depth(),
        }
    }

    /// Refuses numbers out of range, naming them.
    pub fn check(&self) -> Result<()> {
        match self.network() {
            Some(network) => network.check(),
            None => match self {
                Baseline::Dual(Dual { lambda, .. }) if !(*lambda > 0.0 && lambda.is_finite()) => {
                    Err(Error::parameter("lambda", lambda, "a positive number"))
                }
                _ => Ok(()),
            },
        }
    }

    /// The network, where it is one that scores all nodes at once.
    pub(crate) fn network(&self) -> Option<&dyn Network> {
        match self {
            Baseline::Gcn(m) => Some(m),
            Baseline::Gat(m) => Some(m),
            Baseline::JkNet(m) => Some(m),
            Baseline::Appnp(m) => Some(m),
            Baseline::Gcnii(m) => Some(m),
            Baseline::Logistic(_) | Baseline::Dual(_) => None,
        }
    }

    /// The filter, where the features are filtered once, before.
    pub fn filter(&self) -> Option<Filter> {
        match self {
            Baseline::Logistic(m) => Some(m.filter),
            Baseline::Dual(m) => Some(m.filter),
            _ => None,
        }
    }
}

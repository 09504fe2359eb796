//! Which model is trained: the closed set of baselines, by the names of their papers.

use crate::network::{Appnp, Dual, Gat, Gcn, Gcnii, JkNet, Jump, Logistic, Network};
use gfgcn::filter::Filter;
use gfgcn::{Error, Result};
use serde::{Deserialize, Serialize};

/// A model of the field at a depth: in closed form, or trained by gradient descent.
///
/// ```
/// use gfgcn_baselines::Method;
/// let depth = |name: &str| (name == "depth").then_some(2.0);
/// assert_eq!(Method::named("gfssgc", depth)?.name(), "gfSSGC");
/// assert_eq!(Method::named("gcn", depth)?.name(), "GCN");
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Kernel ridge regression on filtered features.
    ClosedForm(Filter),
    /// The same on the features as they are: what can be known without the graph.
    Features,
    /// Whatever the search finds on the training nodes.
    Auto,
    /// Everything else.
    Trained(Baseline),
}

impl Method {
    /// The names of all models. Those in closed form have the filter's name after `gf`; a filter's name by itself is
    /// the logistic regression on it.
    pub const NAMES: [&'static str; 14] = [
        "gfsgc",
        "gfssgc",
        "gfdgc",
        "gcn",
        "gat",
        "jknet",
        "jknet-max",
        "appnp",
        "gcnii",
        "sgc",
        "ssgc",
        "dgc",
        "features",
        "auto",
    ];

    /// The model of a name. `given` is asked for each parameter that it has, such as `depth`, `tau`, `hidden` or
    /// `dropout`; `None` stands for the default.
    ///
    /// # Errors
    /// A name that is none of [`Method::NAMES`], or a parameter out of its range.
    pub fn named(name: &str, mut given: impl FnMut(&'static str) -> Option<f64>) -> Result<Self> {
        if name == "features" {
            return Ok(Method::Features);
        }
        if name == "auto" {
            return Ok(Method::Auto);
        }
        if let Some(filter) = name.strip_prefix("gf") {
            return Filter::named(filter, given).map(Method::ClosedForm);
        }
        if Filter::NAMES.contains(&name) {
            return Ok(Method::Trained(Baseline::logistic(Filter::named(name, given)?)));
        }
        // A whole number of layers or columns; what is none is out of every range.
        let whole = |number: f64| if number.fract() == 0.0 { number as usize } else { 0 };
        let depth = given("depth").map_or(2, whole);
        let (hidden, dropout) = (given("hidden").map(whole), given("dropout"));
        macro_rules! network {
            ($variant:ident, $default:expr) => {{
                let mut network = $default;
                network.hidden = hidden.unwrap_or(network.hidden);
                network.dropout = dropout.unwrap_or(network.dropout);
                Baseline::$variant(network)
            }};
        }
        let baseline = match name {
            "gcn" => network!(Gcn, Gcn::new(depth)),
            "gat" => {
                let mut gat = Gat::new(depth);
                gat.attention_dropout = dropout.unwrap_or(gat.attention_dropout);
                network!(Gat, gat)
            }
            "jknet" => network!(JkNet, JkNet::new(depth, Jump::Concat)),
            "jknet-max" => network!(JkNet, JkNet::new(depth, Jump::Max)),
            "appnp" => network!(Appnp, Appnp::new(depth)),
            "gcnii" => network!(Gcnii, Gcnii::new(depth)),
            _ => return Err(Error::parameter("model", name, Method::NAMES.join(", "))),
        };
        baseline.check()?;
        Ok(Method::Trained(baseline))
    }

    /// The paper's name.
    pub fn name(&self) -> &'static str {
        match self {
            Method::ClosedForm(filter) => filter.model_name(),
            Method::Features => "features",
            Method::Auto => "auto",
            Method::Trained(baseline) => baseline.name(),
        }
    }

    /// K, where there is one.
    pub fn depth(&self) -> Option<usize> {
        match self {
            Method::ClosedForm(filter) => Some(filter.depth()),
            Method::Features | Method::Auto => None,
            Method::Trained(baseline) => Some(baseline.depth()),
        }
    }

    /// The filter, where the features are filtered once, before.
    pub fn filter(&self) -> Option<Filter> {
        match self {
            Method::ClosedForm(filter) => Some(*filter),
            Method::Features | Method::Auto => None,
            Method::Trained(baseline) => baseline.filter(),
        }
    }

    /// The filter of a model in closed form; [`Method::Features`] has one that changes nothing.
    pub fn closed_form(&self) -> Option<Filter> {
        match self {
            Method::ClosedForm(filter) => Some(*filter),
            Method::Features => Some(Filter::Identity),
            Method::Auto | Method::Trained(_) => None,
        }
    }

    /// The model that is trained, if it is not in closed form.
    pub fn trained(&self) -> Option<Baseline> {
        match self {
            Method::ClosedForm(_) | Method::Features | Method::Auto => None,
            Method::Trained(baseline) => Some(*baseline),
        }
    }
}

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

    /// Adam's learning rate, where no other is given.
    pub fn learning_rate(&self) -> f64 {
        match self {
            Baseline::Logistic(_) => Logistic::LEARNING_RATE,
            _ => 0.01,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_model_and_nothing_else_is() {
        for name in Method::NAMES {
            let method = Method::named(name, |p| (p == "depth").then_some(4.0)).unwrap();
            assert_eq!(method.name().to_lowercase(), name);
        }
        let mut names: Vec<&str> = Method::NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Method::NAMES.len());
        assert!(
            Method::named("gfgcn", |_| None).is_err() && Method::named("mlp", |_| None).is_err()
        );
        assert!(Method::named("gcn", |p| (p == "depth").then_some(0.0)).is_err());
        assert!(Method::named("gcn", |p| (p == "hidden").then_some(2.5)).is_err());
        let features = Method::named("features", |_| None).unwrap();
        assert!(features.closed_form().unwrap().ignores_graph());
        assert_eq!((features.depth(), features.filter(), features.trained()), (None, None, None));
    }
}

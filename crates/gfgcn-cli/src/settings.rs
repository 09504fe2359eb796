//! The options that describe a model, shared by the commands that train one.

use crate::output::count;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gfgcn::data::TargetKind;
use gfgcn::filter::{Filter, MAX_DEPTH, Tolerance};
use gfgcn::graph::Operator;
use gfgcn::head::{ClassWeights, Objective};
use gfgcn::kernel::Kernel;
use gfgcn::metrics::Metric;
use gfgcn::ridge::Selection;
use gfgcn::tune::Search;
use gfgcn::{Design, Result, Ridge, RowScaling};
use gfgcn_baselines::Method;

/// Everything about a model but its kind and depth.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Model")]
pub(crate) struct Settings {
    /// Share of a node's own features in gfSSGC and SSGC, 0 to 1 [default: 0.05]
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = tau)]
    tau: Option<f64>,
    /// Terminal time T of the diffusion in gfDGC and DGC [default: 5.27]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = number)]
    time: Option<f64>,
    /// linear, polynomial, rbf, laplacian, cosine or arccosine; options follow a colon, as in
    /// rbf:gamma=0.5 or polynomial:degree=2 [default: linear]
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<Kernel>,
    /// How λ is chosen: by exact leave-one-out on the training nodes, or on the validation part of the split
    /// [default: loo]
    #[arg(long, value_parser = chosen())]
    select: Option<Selection>,
    /// Use this λ instead of choosing one
    #[arg(
        long,
        value_name = "λ",
        allow_negative_numbers = true,
        conflicts_with = "select",
        value_parser = fixed_lambda
    )]
    lambda: Option<Selection>,
    /// Divide each node's features by their sum first
    #[arg(long)]
    row_normalize: bool,
    #[command(flatten)]
    common: Common,
}

/// What is left to say even where the model is searched for.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Model")]
pub(crate) struct Common {
    /// Normalise the adjacency symmetrically (sym), by rows (row) or to rows of unit length (unit); what follows a colon says more, as in
    /// row:out or sym:loops=0 (directions out, in, out-in, in-out; weight of self-loops; relation)
    #[arg(long, value_name = "OPERATOR", default_value_t = Operator::default())]
    normalization: Operator,
    /// Fit a constant for each class
    #[arg(long)]
    intercept: bool,
    /// What truncating a filter's series may change, relative to its largest value
    #[arg(long, value_name = "ε", allow_negative_numbers = true, default_value_t = Tolerance::default())]
    tolerance: Tolerance,
    /// What λ is chosen by and nodes are judged by: accuracy, balanced-accuracy, macro-f1, auc or average-precision of classes;
    /// micro-f1, macro-f1, auc or average-precision of label sets; r2 or mae of values [default: the first]
    #[arg(long, value_name = "METRIC")]
    metric: Option<Metric>,
    /// How much the nodes of each class count: balanced (in inverse proportion to the class), or NAME=WEIGHT,…
    /// (others count 1)
    #[arg(long, value_name = "WEIGHTS")]
    class_weights: Option<ClassWeights>,
}

impl Common {
    /// The search over all models, as far as nothing else was said.
    pub(crate) fn search(&self) -> Search {
        Search {
            learners: None,
            operator: self.normalization.clone(),
            intercept: self.intercept,
            tolerance: self.tolerance,
            objective: self.objective(),
        }
    }

    /// What models should be good at.
    fn objective(&self) -> Objective {
        let class_weights = self.class_weights.clone().unwrap_or_default();
        Objective { metric: self.metric, class_weights }
    }
}

/// What the parser of the arguments shows beside the option and its value.
pub(crate) type Refusal = Box<dyn std::error::Error + Send + Sync>;

pub(crate) fn number(text: &str) -> Result<f64, Refusal> {
    text.parse().map_err(|_| "not a number".into())
}

fn fixed_lambda(text: &str) -> Result<Selection, Refusal> {
    Ok(Selection::fixed(number(text)?)?)
}

/// Not a number: that is for --lambda.
fn chosen() -> impl TypedValueParser<Value = Selection> {
    PossibleValuesParser::new(["loo", "validation"]).try_map(|name| name.parse::<Selection>())
}

/// Checked here, so that a wrong τ is noticed even where no model uses it.
fn tau(text: &str) -> Result<f64, Refusal> {
    let tau = number(text)?;
    Filter::ssgc(1, tau)?;
    Ok(tau)
}

/// The depth of a filter.
pub(crate) fn depth(text: &str) -> Result<usize, Refusal> {
    let depth = text.parse().map_err(|_| format!("not a whole number from 1 to {MAX_DEPTH}"))?;
    Filter::sgc(depth)?;
    Ok(depth)
}

impl Settings {
    /// Whether anything was said that a search would choose.
    pub(crate) fn choose(&self) -> bool {
        self.tau.is_some()
            || self.time.is_some()
            || self.kernel.is_some()
            || self.select.is_some()
            || self.lambda.is_some()
            || self.row_normalize
    }

    /// An option that was given and that only models in closed form know, if any was.
    pub(crate) fn closed_form_only(&self) -> Option<&'static str> {
        let options = [
            ("--kernel", self.kernel.is_some()),
            ("--select", self.select.is_some()),
            ("--lambda", self.lambda.is_some()),
            ("--intercept", self.common.intercept),
            ("--metric", self.common.metric.is_some()),
            ("--class-weights", self.common.class_weights.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    pub(crate) fn weighs_classes(&self) -> bool {
        self.common.class_weights.is_some()
    }

    pub(crate) fn says_tau(&self) -> bool {
        self.tau.is_some()
    }

    pub(crate) fn says_time(&self) -> bool {
        self.time.is_some()
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    /// The model of a name at a depth; `others` gives what only networks have.
    pub(crate) fn method(
        &self,
        name: &str,
        depth: usize,
        others: impl Fn(&str) -> Option<f64>,
    ) -> Result<Method> {
        Method::named(name, |parameter| match parameter {
            "depth" => Some(depth as f64),
            "tau" => self.tau,
            "time" => self.time,
            other => others(other),
        })
    }

    pub(crate) fn design(&self, filter: Filter) -> Design {
        let design = Design::from(filter).with_operator(self.operator()).with_rows(self.rows());
        design.with_tolerance(self.tolerance())
    }

    pub(crate) fn ridge(&self) -> Ridge {
        Ridge {
            kernel: self.kernel.unwrap_or_default(),
            selection: self.lambda.or(self.select).unwrap_or_default(),
            intercept: self.common.intercept,
        }
    }

    /// What models should be good at.
    pub(crate) fn objective(&self) -> Objective {
        self.common.objective()
    }

    pub(crate) fn operator(&self) -> Operator {
        self.common.normalization.clone()
    }

    pub(crate) fn rows(&self) -> RowScaling {
        if self.row_normalize { RowScaling::Sum } else { RowScaling::Plain }
    }

    pub(crate) fn tolerance(&self) -> Tolerance {
        self.common.tolerance
    }
}

/// The metric by which λ was chosen, and on which nodes.
pub(crate) fn score_name(selection: Selection, metric: Metric) -> String {
    let nodes = match selection {
        Selection::Validation => "validation",
        _ => "left-out",
    };
    format!("{nodes} {}", metric.description())
}

/// A metric as reports give it: shares in percent.
pub(crate) fn reported(metric: Metric, score: f64) -> f64 {
    if metric.is_share() { 100.0 * score } else { score }
}

/// A metric in the units of [`reported`], for people.
pub(crate) fn shown_score(metric: Metric, reported: f64) -> String {
    if metric.is_share() { format!("{reported:.1} %") } else { format!("{reported:.3}") }
}

/// `7 classes`, `39 labels`, `1 value`.
pub(crate) fn targets(kind: TargetKind, names: usize) -> String {
    match kind {
        TargetKind::Classes => count(names, "class", "classes"),
        TargetKind::Sets => count(names, "label", "labels"),
        TargetKind::Values => count(names, "value", "values"),
    }
}

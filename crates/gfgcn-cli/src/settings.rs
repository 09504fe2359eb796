//! The options that describe a model, shared by the commands that train one.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gfgcn::filter::{Filter, MAX_DEPTH, Tolerance};
use gfgcn::graph::Operator;
use gfgcn::kernel::Kernel;
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
    /// How λ is chosen: by exact leave-one-out on the training nodes, or by the accuracy on the validation part of
    /// the split [default: loo]
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
    /// Normalise the adjacency symmetrically (sym) or by rows (row)
    #[arg(long, value_name = "sym|row", default_value_t = Operator::default())]
    normalization: Operator,
    /// Fit a constant for each class
    #[arg(long)]
    intercept: bool,
    /// What truncating a filter's series may change, relative to its largest value
    #[arg(long, value_name = "ε", allow_negative_numbers = true, default_value_t = Tolerance::default())]
    tolerance: Tolerance,
}

impl Common {
    /// The search over all models, as far as nothing else was said.
    pub(crate) fn search(&self) -> Search {
        Search {
            learners: None,
            operator: self.normalization.clone(),
            intercept: self.intercept,
            tolerance: self.tolerance,
        }
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
        ];
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
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

/// What the accuracy is called by which λ was chosen.
pub(crate) fn accuracy_name(selection: Selection) -> &'static str {
    match selection {
        Selection::Validation => "validation accuracy",
        _ => "left-out accuracy",
    }
}

//! The options that describe a model, shared by the commands that train one.

use clap::{Args, ValueEnum};
use gfgcn::filter::{DEFAULT_TAU, DEFAULT_TIME, Filter, MAX_DEPTH, Tolerance};
use gfgcn::graph::Normalization;
use gfgcn::kernel::Kernel;
use gfgcn::ridge::Selection;
use gfgcn::{Options, Result};

/// The closed-form models, by the paper's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelKind {
    /// Â^K
    #[value(name = "gfsgc")]
    Sgc,
    /// mean of Â, …, Â^K, with a share τ of the node's own features
    #[value(name = "gfssgc")]
    Ssgc,
    /// diffusion to time T in K steps
    #[value(name = "gfdgc")]
    Dgc,
}

/// How λ is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Select {
    /// exact leave-one-out on the training nodes
    Loo,
    /// accuracy on the validation part of the split
    Validation,
}

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
    /// How λ is chosen [default: loo]
    #[arg(long, value_enum)]
    select: Option<Select>,
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
    #[arg(long, value_name = "sym|row", default_value_t = Normalization::Symmetric)]
    normalization: Normalization,
    /// Fit a constant for each class
    #[arg(long)]
    intercept: bool,
    /// What cutting a filter's series off may change, relative to its largest value
    #[arg(
        long,
        value_name = "ε",
        allow_negative_numbers = true,
        value_parser = tolerance,
        default_value_t = Tolerance::default()
    )]
    tolerance: Tolerance,
}

impl Common {
    pub(crate) fn options(&self) -> Options {
        Options {
            normalization: self.normalization,
            intercept: self.intercept,
            tolerance: self.tolerance,
            ..Options::default()
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

fn tolerance(text: &str) -> Result<Tolerance, Refusal> {
    Ok(Tolerance::new(number(text)?)?)
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

    pub(crate) fn filter(&self, kind: ModelKind, depth: usize) -> Result<Filter> {
        match kind {
            ModelKind::Sgc => Filter::sgc(depth),
            ModelKind::Ssgc => Filter::ssgc(depth, self.tau.unwrap_or(DEFAULT_TAU)),
            ModelKind::Dgc => Filter::dgc(depth, self.time.unwrap_or(DEFAULT_TIME)),
        }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            kernel: self.kernel.unwrap_or_default(),
            selection: self.lambda.unwrap_or(match self.select {
                None | Some(Select::Loo) => Selection::LeaveOneOut,
                Some(Select::Validation) => Selection::Validation,
            }),
            row_normalize: self.row_normalize,
            ..self.common.options()
        }
    }
}

/// What the accuracy is called by which λ was chosen.
pub(crate) fn accuracy_name(selection: Selection) -> &'static str {
    match selection {
        Selection::Validation => "validation accuracy",
        _ => "left-out accuracy",
    }
}

/// What is done to the features before they are filtered.
pub(crate) fn features(row_normalize: bool) -> &'static str {
    if row_normalize { "divided by their sum" } else { "as they are" }
}

//! The options that describe a model, shared by the commands that train one.

use clap::{Args, ValueEnum};
use gfgcn::filter::{DEFAULT_TAU, DEFAULT_TIME, Filter};
use gfgcn::graph::Normalization;
use gfgcn::kernel::Kernel;
use gfgcn::ridge::Selection;
use gfgcn::{Options, Result};

/// The closed-form models, by the paper's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelKind {
    /// Â^K
    #[value(name = "gfsgc", alias = "sgc")]
    Sgc,
    /// mean of Â, …, Â^K, with a share τ of the node's own features
    #[value(name = "gfssgc", alias = "ssgc")]
    Ssgc,
    /// diffusion to time T in K steps
    #[value(name = "gfdgc", alias = "dgc")]
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
    /// Share of a node's own features in gfSSGC, 0 to 1
    #[arg(long, value_name = "τ", default_value_t = DEFAULT_TAU)]
    tau: f64,
    /// Terminal time T of the diffusion in gfDGC
    #[arg(long, value_name = "T", default_value_t = DEFAULT_TIME)]
    time: f64,
    /// linear, polynomial, rbf, laplacian, cosine or arccosine; options follow a colon, as in
    /// rbf:gamma=0.5 or polynomial:degree=2
    #[arg(long, value_name = "KERNEL", default_value_t = Kernel::Linear)]
    kernel: Kernel,
    /// How λ is chosen
    #[arg(long, value_enum, default_value_t = Select::Loo)]
    select: Select,
    /// Use this λ instead of choosing one
    #[arg(long, value_name = "λ", conflicts_with = "select", value_parser = fixed_lambda)]
    lambda: Option<Selection>,
    /// Normalise the adjacency symmetrically (sym) or by rows (row)
    #[arg(long, value_name = "sym|row", default_value_t = Normalization::Symmetric)]
    normalization: Normalization,
    /// Divide each node's features by their sum first
    #[arg(long)]
    row_normalize: bool,
    /// Fit a constant for each class
    #[arg(long)]
    intercept: bool,
}

fn fixed_lambda(text: &str) -> Result<Selection> {
    Selection::fixed(text.parse().unwrap_or(f64::NAN))
}

impl Settings {
    pub(crate) fn filter(&self, kind: ModelKind, depth: usize) -> Result<Filter> {
        match kind {
            ModelKind::Sgc => Filter::sgc(depth),
            ModelKind::Ssgc => Filter::ssgc(depth, self.tau),
            ModelKind::Dgc => Filter::dgc(depth, self.time),
        }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            kernel: self.kernel,
            selection: self.lambda.unwrap_or(match self.select {
                Select::Loo => Selection::LeaveOneOut,
                Select::Validation => Selection::Validation,
            }),
            normalization: self.normalization,
            row_normalize: self.row_normalize,
            intercept: self.intercept,
        }
    }
}

//! gfgcn as a contestant of the benchmarks: the same tasks as the peers, by the same protocol, on
//! nothing but the public libraries.

mod binding;
mod data;
mod epoch;
mod gpu;
mod limits;
mod protocol;
mod relearn;
mod scale;
mod tasks;

use anyhow::Result;
use clap::Parser;
use gfgcn::filter::DEFAULT_DEPTH;
use gfgcn::graph::Operator;
use std::path::PathBuf;

/// gfgcn's side of the benchmarks; the runner starts it.
#[derive(Parser)]
enum Command {
    /// Writes the graph that all contestants read, and the splits that they share.
    Export {
        /// The original archive.
        input: PathBuf,
        /// The archive to write.
        output: PathBuf,
        /// Only the largest connected component.
        #[arg(long)]
        largest_component: bool,
        /// Only this many feature columns, the first.
        #[arg(long)]
        columns: Option<usize>,
        /// Where to write random 1:1:8 splits, with the seeds 0 to 19.
        #[arg(long)]
        splits: Option<PathBuf>,
    },
    /// One product Â·X with all features, dense.
    Product {
        data: PathBuf,
        #[arg(long)]
        normalization: Operator,
    },
    /// From filtered training features to weights, λ given.
    Train {
        data: PathBuf,
        splits: PathBuf,
        #[arg(long)]
        lambda: f64,
    },
    /// From filtered training features to weights, λ by leave-one-out.
    Loo { data: PathBuf, splits: PathBuf },
    /// From loaded data to predictions for all nodes.
    Deep {
        data: PathBuf,
        splits: PathBuf,
        #[arg(long)]
        filter: String,
        #[arg(long)]
        depth: usize,
    },
    /// The default model, from loaded data to predictions for all nodes.
    Whole { data: PathBuf, splits: PathBuf },
    /// The search, from loaded data to predictions for all nodes.
    Tune { data: PathBuf, splits: PathBuf },
    /// Three filters, seven depths, twenty splits.
    Sweep {
        data: PathBuf,
        splits: PathBuf,
        /// Choose λ on the validation nodes.
        #[arg(long)]
        validation: bool,
    },
    /// From arrays in memory to predictions for all nodes.
    Binding { data: PathBuf, splits: PathBuf },
    /// One epoch of training a network by gradient descent.
    Epoch {
        data: PathBuf,
        splits: PathBuf,
        #[arg(long)]
        model: String,
    },
    /// One product on a large graph, beside the machine's copy bandwidth.
    Scale {
        data: PathBuf,
        /// Renumber the nodes first, as the engine does for long propagations.
        #[arg(long)]
        renumbered: bool,
        #[arg(long)]
        normalization: Operator,
    },
    /// One label less or more in a trained model.
    Relearn {
        data: PathBuf,
        splits: Option<PathBuf>,
        #[arg(long)]
        depth: usize,
        /// One more; otherwise one less.
        #[arg(long)]
        more: bool,
        /// By training anew.
        #[arg(long)]
        from_scratch: bool,
    },
    /// One product on a GPU.
    GpuProduct {
        data: PathBuf,
        #[arg(long)]
        columns: usize,
        /// Where to write what peers compute with.
        #[arg(long)]
        folder: PathBuf,
    },
    /// Ridge problems on a GPU, from filtered features that are there.
    GpuRidge {
        data: PathBuf,
        /// Where to write what peers compute with.
        #[arg(long)]
        folder: PathBuf,
    },
    /// The parts of a fit on all nodes, on a GPU.
    GpuFit {
        data: PathBuf,
        /// How far features are propagated.
        #[arg(long, default_value_t = DEFAULT_DEPTH)]
        depth: usize,
    },
    /// The prediction of one node.
    Near {
        data: PathBuf,
        splits: Option<PathBuf>,
        #[arg(long)]
        depth: usize,
        /// By predicting all.
        #[arg(long)]
        all: bool,
    },
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Export { input, output, largest_component, columns, splits } => {
            data::export(&input, &output, largest_component, columns, splits.as_deref())
        }
        Command::Product { data, normalization } => tasks::product(&data, normalization),
        Command::Train { data, splits, lambda } => tasks::train(&data, &splits, lambda),
        Command::Loo { data, splits } => tasks::leave_one_out(&data, &splits),
        Command::Deep { data, splits, filter, depth } => {
            tasks::deep(&data, &splits, &filter, depth)
        }
        Command::Whole { data, splits } => tasks::deep(&data, &splits, "ssgc", DEFAULT_DEPTH),
        Command::Tune { data, splits } => tasks::tune(&data, &splits),
        Command::Sweep { data, splits, validation } => tasks::sweep(&data, &splits, validation),
        Command::Binding { data, splits } => binding::binding(&data, &splits),
        Command::Epoch { data, splits, model } => epoch::epoch(&data, &splits, &model),
        Command::Scale { data, renumbered, normalization } => {
            scale::scale(&data, renumbered, normalization)
        }
        Command::Relearn { data, splits, depth, more, from_scratch } => {
            relearn::relearn(&data, splits.as_deref(), depth, more, from_scratch)
        }
        Command::GpuProduct { data, columns, folder } => gpu::product(&data, columns, &folder),
        Command::GpuRidge { data, folder } => gpu::ridge(&data, &folder),
        Command::GpuFit { data, depth } => gpu::fit(&data, depth),
        Command::Near { data, splits, depth, all } => {
            relearn::near(&data, splits.as_deref(), depth, all)
        }
    }
}

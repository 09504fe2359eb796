//! The command line `gfgcn`: one file or folder per subcommand, and the conventions they share.
//!
//! Nothing here computes: commands turn arguments into library calls and results into text, JSON
//! and files. Exit status: 0 done, 2 wrong usage, 3 bad input, 4 a failure of the machine, 130
//! interrupted.

mod audit;
mod cache;
pub mod cluster;
mod columns;
mod data;
mod device;
pub mod download;
mod evaluate;
mod explain;
mod faults;
mod fit;
mod inspect;
mod interrupt;
mod last_resort;
mod limit;
mod members;
mod output;
mod paper;
mod predict;
mod progress;
mod relearn;
mod run_cache;
mod serve;
mod settings;
mod shell;
mod shown;
mod source;
mod stdio;
mod tables;
mod training;
mod tune;
mod wanted;

pub use last_resort::LastResort;

use clap::{Args, Parser, Subcommand};
use gfgcn::context::start_threads;
use output::Output;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const WRONG_USAGE: u8 = 2;
const BAD_INPUT: u8 = 3;
const MACHINE_FAILURE: u8 = 4;
/// More threads than any machine this runs on has cores.
const MAX_THREADS: i64 = 1024;

/// Classify the nodes of a graph, without training loops.
///
/// gfgcn filters the node features over the graph and solves kernel ridge regression on the
/// result in closed form: exact and deterministic, with every setting chosen on the labels.
#[derive(Parser)]
#[command(
    name = "gfgcn",
    version,
    arg_required_else_help = true,
    after_help = "Start here:
  gfgcn evaluate cora                           how accurate is it?
  gfgcn fit my-folder -o my.model               learn from edges, features and labels .csv
  gfgcn tune my-folder                          which model is best, and how good is it?
  gfgcn predict my.model my-folder -o out.csv   label every node
  gfgcn explore my-folder                       play with it in the browser

Datasets are names (gfgcn data list), files (.npz, .graphml, .gexf, .json, .mat, edge lists), or folders."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options that every command takes.
#[derive(Args, Clone, Debug)]
struct Global {
    /// Print the report as JSON on standard output
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// Print nothing but the report: no notes, no progress
    #[arg(short, long, global = true, help_heading = "Global options")]
    quiet: bool,
    /// Log each step with its time to standard error
    #[arg(short, long, global = true, help_heading = "Global options", conflicts_with = "quiet")]
    verbose: bool,
    /// Number of threads [default: one per core]
    #[arg(
        long,
        global = true,
        allow_negative_numbers = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS),
        help_heading = "Global options"
    )]
    threads: Option<u16>,
    /// Folder of datasets that are used by name [default: $GFGCN_DATA, else the user's data folder]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    data_dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    Evaluate(evaluate::Arguments),
    Fit(fit::Arguments),
    Tune(tune::Arguments),
    Predict(predict::Arguments),
    Explain(explain::Arguments),
    Audit(audit::Arguments),
    Update(relearn::update::Arguments),
    Forget(relearn::forget::Arguments),
    Inspect(inspect::Arguments),
    Serve(serve::model::Arguments),
    Explore(serve::explore::Arguments),
    Paper(paper::Arguments),
    /// List the GPUs that --device can name, or say why there are none
    Devices,
    /// List, describe, download, convert and make datasets
    #[command(subcommand)]
    Data(data::Command),
    /// Manage the cached runs of evaluate and paper
    #[command(subcommand)]
    Cache(cache::Command),
    Completions(shell::Completions),
    Man(shell::Man),
}

/// Runs the command line and says how it ended.
pub fn run() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os().collect()))
}

/// Runs the command line with these arguments, the name of the program first, and returns its exit status. It waits for
/// signals from then on, so the process is to end with it.
pub fn run_with(arguments: Vec<OsString>) -> u8 {
    let json = arguments.iter().any(|argument| argument == "--json");
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            Output::usage(&error, json);
            return error.exit_code() as u8;
        }
    };
    let output = Output::new(cli.global.json, cli.global.quiet, cli.global.verbose);
    match faults::contain(|| start(&cli, &output)) {
        Ok(()) => 0,
        // Whoever read our output has closed it: nothing is left to say.
        Err(error) if output::is_closed_pipe(&error) => 0,
        // Work may notice Ctrl-C before the handler has ended the program: that is no error to speak of.
        Err(error) if is_cancelled(&error) => interrupt::STATUS as u8,
        Err(error) => {
            output.error(&error, status(&error));
            status(&error)
        }
    }
}

fn start(cli: &Cli, output: &Output) -> anyhow::Result<()> {
    if let Some(bytes) = cli.command.memory() {
        interrupt::limit_memory(bytes);
    }
    interrupt::context().memory().prepare();
    interrupt::install()?;
    // All of them now: work that finds that there are none can only panic.
    start_threads(cli.global.threads.map_or(0, usize::from))?;
    if let Some(device) = cli.command.device() {
        device.settle()?;
    }
    cli.command.run(&cli.global, output)?;
    device::note_trouble(output);
    Ok(())
}

impl Command {
    /// Where it computes, if it does.
    fn device(&self) -> Option<device::DeviceOption> {
        match self {
            Command::Evaluate(arguments) => Some(arguments.device),
            Command::Fit(arguments) => Some(arguments.device),
            Command::Tune(arguments) => Some(arguments.device),
            Command::Predict(arguments) => Some(arguments.device),
            Command::Explain(arguments) => Some(arguments.device),
            Command::Audit(arguments) => Some(arguments.device),
            _ => None,
        }
    }

    /// The bytes that it may take, if that was said.
    fn memory(&self) -> Option<u64> {
        match self {
            Command::Evaluate(arguments) => arguments.memory.bytes(),
            Command::Fit(arguments) => arguments.memory.bytes(),
            Command::Tune(arguments) => arguments.memory.bytes(),
            Command::Predict(arguments) => arguments.memory.bytes(),
            _ => None,
        }
    }

    fn run(&self, global: &Global, output: &Output) -> anyhow::Result<()> {
        match self {
            Command::Evaluate(arguments) => evaluate::run(arguments, global, output),
            Command::Fit(arguments) => fit::run(arguments, global, output),
            Command::Tune(arguments) => tune::run(arguments, global, output),
            Command::Predict(arguments) => predict::run(arguments, global, output),
            Command::Explain(arguments) => explain::run(arguments, global, output),
            Command::Audit(arguments) => audit::run(arguments, global, output),
            Command::Update(arguments) => relearn::update::run(arguments, global, output),
            Command::Forget(arguments) => relearn::forget::run(arguments, global, output),
            Command::Inspect(arguments) => inspect::run(arguments, output),
            Command::Serve(arguments) => serve::model::run(arguments, global, output),
            Command::Explore(arguments) => serve::explore::run(arguments, global, output),
            Command::Paper(arguments) => paper::run(arguments, global, output),
            Command::Devices => device::list(output),
            Command::Data(command) => data::run(command, global, output),
            Command::Cache(command) => cache::run(command, output),
            Command::Completions(arguments) => shell::complete(arguments),
            Command::Man(arguments) => shell::man(arguments),
        }
    }
}

fn is_cancelled(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(gfgcn::Error::Cancelled))
}

fn status(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<gfgcn::Error>() {
        Some(error) if error.is_machine_failure() => MACHINE_FAILURE,
        // Not in a file, so it was on the command line.
        Some(gfgcn::Error::Parameter { .. }) => WRONG_USAGE,
        Some(_) => BAD_INPUT,
        None => MACHINE_FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_was_cancelled_is_no_bad_input() {
        assert!(is_cancelled(&gfgcn::Error::Cancelled.into()));
        assert!(!is_cancelled(&gfgcn::Error::Data("wrong".into()).into()));
    }

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}

//! `gfgcn data`: the datasets themselves.

mod convert;
mod get;
mod info;
mod list;
mod synth;

use crate::Global;
use crate::output::Output;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Info(info::Arguments),
    Get(get::Arguments),
    Convert(convert::Arguments),
    Synth(synth::Arguments),
}

pub(crate) fn run(command: &Command, global: &Global, output: &Output) -> anyhow::Result<()> {
    match command {
        Command::List(_) => list::run(global, output),
        Command::Info(arguments) => info::run(arguments, global, output),
        Command::Get(arguments) => get::run(arguments, global, output),
        Command::Convert(arguments) => convert::run(arguments, global, output),
        Command::Synth(arguments) => synth::run(arguments, output),
    }
}

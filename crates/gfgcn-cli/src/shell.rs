//! `gfgcn completions` and `gfgcn man`: what shells and manuals want to know of the command line.

use crate::Cli;
use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};
use std::io::{self, Write};
use std::path::PathBuf;

/// Print a script that completes commands and options in a shell
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn completions bash > ~/.local/share/bash-completion/completions/gfgcn
  gfgcn completions zsh > ~/.zfunc/_gfgcn
  gfgcn completions fish > ~/.config/fish/completions/gfgcn.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or write one for every command
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn man | man -l -
  gfgcn man --folder ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for each command into this folder
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn complete(arguments: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut Cli::command(), "gfgcn", &mut script);
    print(&script)
}

pub(crate) fn man(arguments: &Man) -> anyhow::Result<()> {
    let command = Cli::command();
    if let Some(folder) = &arguments.folder {
        let failed = || format!("{}: cannot write the pages", folder.display());
        return clap_mangen::generate_to(command, folder).with_context(failed);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    print(&page)
}

fn print(bytes: &[u8]) -> anyhow::Result<()> {
    io::stdout().write_all(bytes).context("cannot write to standard output")
}

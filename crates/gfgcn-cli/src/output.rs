//! Standard output carries the report, standard error everything else.

use anyhow::Context;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use gfgcn::driver::Explanation;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// Where reports, notes and errors go, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Output { json, quiet }
    }

    /// Whether progress may be shown.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Prints the report: as JSON where that was asked for, as text otherwise.
    pub(crate) fn report<T: Serialize>(
        &self,
        report: &T,
        text: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<()> {
        let text = if self.json { serde_json::to_string_pretty(report)? } else { text(report) };
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(text.trim_end().as_bytes())
            .and_then(|()| stdout.write_all(b"\n"))
            .and_then(|()| stdout.flush())
            .context("cannot write to standard output")
    }

    /// Says something a person should know, unless asked to be quiet.
    pub(crate) fn note(&self, note: impl AsRef<str>) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "note: {}", note.as_ref());
        }
    }

    /// Shows the plan of what comes next; in JSON it is part of the report.
    pub(crate) fn plan(&self, explanation: &Explanation) {
        if !self.json {
            let _ = writeln!(io::stderr(), "{explanation}\n");
        }
    }

    /// Says something that may make the result other than expected.
    pub(crate) fn warn(&self, warning: impl AsRef<str>) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "warning: {}", warning.as_ref());
        }
    }

    pub(crate) fn error(&self, error: &anyhow::Error) {
        // The library's messages are complete: their causes are for programs, not to be repeated.
        let message = match error.downcast_ref::<gfgcn::Error>() {
            Some(error) => error.to_string(),
            None => format!("{error:#}"),
        };
        let _ = writeln!(io::stderr(), "error: {message}");
    }
}

/// Whether an error only means that the reader of our output has gone.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}

/// Text that stands out: bold and green on a terminal, unless the user wants no colour.
pub(crate) fn highlighted(text: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !io::stdout().is_terminal() {
        return text.to_owned();
    }
    format!("\x1b[1;32m{text}\x1b[0m")
}

/// A table without lines: the first column to the left, the others to the right.
pub(crate) fn table(header: Vec<String>, rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.add_rows(rows);
    for (k, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if k == 0 { 0 } else { 1 }, 1));
        if k > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Names and values, one pair a line, the values lined up.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    pairs.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
}

/// A duration as a person says it.
pub(crate) fn seconds(duration: std::time::Duration) -> String {
    match duration.as_secs_f64() {
        s if s < 0.1 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A share of nodes and its standard error, in percent.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Percent {
    mean: f64,
    std_error: f64,
}

impl From<gfgcn::tune::Expected> for Percent {
    fn from(expected: gfgcn::tune::Expected) -> Self {
        Percent { mean: 100.0 * expected.accuracy, std_error: 100.0 * expected.std_error }
    }
}

impl std::fmt::Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ± {:.1} %", self.mean, self.std_error)
    }
}

/// `1 node`, `2 nodes`.
pub(crate) fn count(number: usize, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}

//! Standard output carries the report, standard error everything else.

use crate::settings::{reported, shown_score};
use crate::shown;
use anyhow::Context;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use gfgcn::driver::Explanation;
use gfgcn::metrics::Metric;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

/// Where reports, notes and errors go, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    /// Whether standard output carries data, so that the report goes to standard error.
    data_on_stdout: bool,
    start: Instant,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool, verbose: bool) -> Self {
        Output { json, quiet, verbose, data_on_stdout: false, start: Instant::now() }
    }

    /// As it is, with standard output for data; the report goes to standard error.
    pub(crate) fn with_data_on_stdout(self) -> Self {
        Output { data_on_stdout: true, ..self }
    }

    /// With `-v`, says what is done, and when.
    pub(crate) fn log(&self, line: impl AsRef<str>) {
        if self.verbose {
            let line = shown::message(line.as_ref());
            let _ = writeln!(io::stderr(), "[{:8.3} s] {line}", self.start.elapsed().as_secs_f64());
        }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
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
        let text = match self.json {
            true => serde_json::to_string_pretty(report)?,
            false => with_highlights(&shown::printable(&text(report))),
        };
        let mut stdout: Box<dyn Write> = match self.data_on_stdout {
            true => Box::new(io::stderr().lock()),
            false => Box::new(io::stdout().lock()),
        };
        stdout
            .write_all(text.trim_end().as_bytes())
            .and_then(|()| stdout.write_all(b"\n"))
            .and_then(|()| stdout.flush())
            .context("cannot write to standard output")
    }

    /// Says something a person should know, unless asked to be quiet.
    pub(crate) fn note(&self, note: impl AsRef<str>) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "note: {}", shown::message(note.as_ref()));
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
            let _ = writeln!(io::stderr(), "warning: {}", shown::message(warning.as_ref()));
        }
    }

    /// Says why nothing came of it. With `--json` standard output has it too, so that whoever parses that always finds
    /// an object.
    pub(crate) fn error(&self, error: &anyhow::Error, status: u8) {
        let message = message(error);
        let _ = writeln!(io::stderr(), "error: {}", shown::message(&message));
        if self.json {
            print_error(&message, status);
        }
    }

    /// Says what is wrong with the arguments, as clap has it.
    pub(crate) fn usage(error: &clap::Error, json: bool) {
        let text = error.render().to_string();
        if error.use_stderr() && json {
            let message = text.strip_prefix("error: ").unwrap_or(&text);
            print_error(message.trim_end(), crate::WRONG_USAGE);
        }
        // It repeats arguments, and a pattern of the shell may have found files of any name.
        let harmless = |argument: std::ffi::OsString| {
            let argument = argument.to_string_lossy();
            matches!(shown::printable(&argument), std::borrow::Cow::Borrowed(_))
        };
        if std::env::args_os().all(harmless) {
            let _ = error.print();
        } else {
            let _ = writeln!(io::stderr(), "{}", shown::printable(&text).trim_end());
        }
    }
}

/// What an error says. The library's messages are complete: their causes are for programs, not to be repeated.
pub(crate) fn message(error: &anyhow::Error) -> String {
    match error.downcast_ref::<gfgcn::Error>() {
        Some(error) => error.to_string(),
        None => format!("{error:#}"),
    }
}

fn print_error(message: &str, status: u8) {
    let object = serde_json::json!({ "error": { "status": status, "message": message } });
    let _ = writeln!(io::stdout(), "{object:#}");
}

/// Whether an error only means that the reader of our output has gone.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}

/// Where text that stands out begins and ends: codes that stand for no character, and are no control characters.
const HIGHLIGHT: (char, char) = ('\u{fdd0}', '\u{fdd1}');

/// Text that stands out in a report: bold and green on a terminal, unless the user wants no colour.
pub(crate) fn highlighted(text: &str) -> String {
    format!("{}{text}{}", HIGHLIGHT.0, HIGHLIGHT.1)
}

fn with_highlights(text: &str) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let (on, off) =
        if plain || !io::stdout().is_terminal() { ("", "") } else { ("\x1b[1;32m", "\x1b[0m") };
    text.replace(HIGHLIGHT.0, on).replace(HIGHLIGHT.1, off)
}

/// A table without lines: the first column to the left, the others to the right.
pub(crate) fn table(header: Vec<String>, rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|cell| shown::name(cell)));
    table.add_rows(rows.iter().map(|row| row.iter().map(|cell| shown::name(cell))));
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
    pairs.iter().map(|(name, value)| format!("{name:width$}  {}\n", shown::line(value))).collect()
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

/// λ with four digits.
pub(crate) fn lambda(lambda: f64) -> String {
    if !(1e-4..1e7).contains(&lambda) {
        return format!("{lambda:.3e}");
    }
    let digits_before = lambda.log10().floor() as i32 + 1;
    format!("{lambda:.*}", (4 - digits_before).max(0) as usize)
}

/// A metric on nodes that were not seen; in percent where it is a share.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ExpectedScore {
    #[serde(skip)]
    metric: Metric,
    mean: f64,
    std_error: f64,
    /// In which it is with a confidence of 95 %.
    interval: (f64, f64),
}

impl From<gfgcn::tune::Expected> for ExpectedScore {
    fn from(expected: gfgcn::tune::Expected) -> Self {
        let (low, high) = expected.interval;
        let reported = |score: f64| reported(expected.metric, score);
        ExpectedScore {
            metric: expected.metric,
            mean: reported(expected.score),
            std_error: reported(expected.std_error),
            interval: (reported(low), reported(high)),
        }
    }
}

impl std::fmt::Display for ExpectedScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (low, high) = self.interval;
        let mean = shown_score(self.metric, self.mean);
        match self.metric.is_share() {
            true => write!(f, "{mean} (95 % interval {low:.1} to {high:.1})"),
            false => write!(f, "{mean} (95 % interval {low:.3} to {high:.3})"),
        }
    }
}

/// `1 node`, `2 nodes`.
pub(crate) fn count(number: usize, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambda_has_four_digits() {
        let found = [3.3116, 0.033116, 55_599.0, 0.000_1, 1.0, 99_999.96].map(lambda);
        assert_eq!(found, ["3.312", "0.03312", "55599", "0.0001000", "1.000", "100000"]);
        assert_eq!([1e-7, 3.3116e9].map(lambda), ["1.000e-7", "3.312e9"]);
    }
}

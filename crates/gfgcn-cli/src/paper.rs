//! `gfgcn paper`: the experiments of the paper, run again and shown beside its numbers.

use crate::output::{Output, count, seconds};
use crate::progress::{self, Unit};
use crate::shown;
use crate::{Global, interrupt, run_cache};
use clap::Args;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn_baselines::{Cache, SOURCES};
use gfgcn_datasets::{folder, open};
use gfgcn_paper::report::write;
use gfgcn_paper::{Lab, Part, Scope, Subject, Which, estimate, processor, run as experiments};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What takes longer is announced.
const LONG_SECONDS: u64 = 60;

/// Run the paper's experiments again and write a report
///
/// Every table and figure of "Simple yet Effective Gradient-Free Graph Convolutional Networks", ours beside
/// the published numbers, as one web page (index.html, which needs no network) with the same as Markdown,
/// CSV, JSON and SVG files. Cora, Citeseer and PubMed are part of the program; Cora-ML joins if it is in the
/// data folder (gfgcn data get cora-ml).
///
/// Finished work is cached, so an interrupted run can be resumed.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn paper
  gfgcn paper --only overall,depth
  gfgcn paper --full --out results
  gfgcn paper --full --graphs cora,citeseer      a part of it, on one of several machines
  gfgcn paper --full --finished --out results    while the other runs, or after it was stopped")]
pub(crate) struct Arguments {
    /// Networks at shallow depths with three runs, everything else in full; the default
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Everything: every network at every depth, which takes hours
    #[arg(long)]
    full: bool,
    /// Some parts only: overall, depth, time, gradients, accuracy, ablation, stability, scale, calibration, differences
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    only: Vec<Part>,
    /// Some graphs only: cora, cora-ml, citeseer, pubmed
    #[arg(long, value_delimiter = ',', value_name = "GRAPHS")]
    graphs: Vec<Which>,
    /// Folder to write the report to
    #[arg(long, value_name = "DIR", default_value = "report")]
    out: PathBuf,
    /// Ignore the cache: compute everything again and store nothing
    #[arg(long)]
    no_cache: bool,
    /// Run nothing: write the report of what is finished so far
    #[arg(long, conflicts_with = "no_cache")]
    finished: bool,
}

#[derive(Serialize)]
struct Done {
    page: String,
    tables: usize,
    figures: usize,
    remarks: Vec<String>,
    seconds: f64,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    write::check(&arguments.out)?;
    let cache = if arguments.no_cache { None } else { run_cache::open(output) };
    let (subjects, missing) = subjects(&arguments.graphs, global)?;
    let scope = if arguments.full { Scope::Full } else { Scope::Quick };
    let parts = match arguments.only.as_slice() {
        [] => Part::of(scope).to_vec(),
        some => some.to_vec(),
    };
    let lab = |context: &Context| Lab {
        scope,
        cache: cache.as_ref(),
        only_finished: arguments.finished,
        context: context.clone(),
    };
    let start = Instant::now();
    let time = progress::show(output, "trying a few epochs", Unit::Time, |context| {
        estimate(&lab(context), &subjects, &parts)
    });
    if time.as_secs() >= LONG_SECONDS {
        let kept = if cache.is_some() { "; finished work is kept" } else { "" };
        output.note(format!("training takes about {}{kept}", seconds(time)));
    }
    let mut report = progress::show_parts(output, "reading", |context| {
        experiments(&lab(context), &subjects, &parts)
    })?;
    let restricted_to: &[Subject] = if arguments.graphs.is_empty() { &[] } else { &subjects };
    report.about = about(scope, restricted_to);
    let left_out = |which: &Which| format!("{} was not found and is left out.", which.title());
    report.remarks.extend(missing.iter().map(left_out));
    if arguments.finished {
        report
            .remarks
            .push("Written from what was finished so far; empty cells have not been run.".into());
    }
    {
        let _held = interrupt::writing();
        write::write(&report, &arguments.out)?;
    }
    if let Some(problem) = cache.as_ref().and_then(Cache::take_problem) {
        output.warn(format!("finished work could not be kept: {problem}"));
    }
    let done = Done {
        page: shown::path(&arguments.out.join("index.html")),
        tables: report.tables.len(),
        figures: report.figures.len(),
        remarks: report.remarks,
        seconds: start.elapsed().as_secs_f64(),
    };
    output.report(&done, |done| {
        let remarks: String = done.remarks.iter().map(|remark| format!("{remark}\n")).collect();
        format!(
            "{remarks}{} and {} in {}: open {}",
            count(done.tables, "table", "tables"),
            count(done.figures, "figure", "figures"),
            seconds(start.elapsed()),
            done.page
        )
    })
}

/// The graphs of the paper that were asked for, in its order; without any, those that are there, and those that are not.
fn subjects(asked_for: &[Which], global: &Global) -> Result<(Vec<Subject>, Vec<Which>)> {
    let folder = folder::resolve(global.data_dir.as_deref());
    let (mut subjects, mut missing) = (Vec::new(), Vec::new());
    for which in Which::ALL {
        let is_there = gfgcn_datasets::find(which.name()).is_some()
            || folder.as_ref().is_ok_and(|folder| folder::find(folder, which.name()).is_some());
        let wanted = asked_for.contains(&which);
        if wanted || (asked_for.is_empty() && is_there) {
            let data_dir = global.data_dir.as_deref();
            let dataset = open(Path::new(which.name()), data_dir, &interrupt::context())?;
            subjects.push(Subject::new(which, &dataset)?);
        } else if asked_for.is_empty() {
            missing.push(which);
        }
    }
    Ok((subjects, missing))
}

/// What was run, where and when.
fn about(scope: Scope, restricted_to: &[Subject]) -> Vec<String> {
    let mut what = match scope {
        Scope::Quick => {
            "Quick: networks at shallow depths with three runs, everything else in full."
        }
        Scope::Full => "Full: every model at every depth.",
    }
    .to_owned();
    if !restricted_to.is_empty() {
        let titles: Vec<&str> = restricted_to.iter().map(|subject| subject.which.title()).collect();
        what += &format!(" Restricted to {}.", titles.join(", "));
    }
    let threads = count(rayon::current_num_threads(), "thread", "threads");
    vec![
        what,
        // The name of what computed it, as finished runs have it.
        format!(
            "gfgcn {} (sources {}) on {} ({threads}).",
            env!("CARGO_PKG_VERSION"),
            &SOURCES[..12],
            processor()
        ),
        format!("Written on {}.", today()),
    ]
}

/// The date, as year, month and day.
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = civil(since.as_secs() / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of the year 0, so that leap days come last.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_are_dates() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (19_722, (2023, 12, 31)),
            (20_772, (2026, 11, 15)),
        ] {
            assert_eq!(civil(days), date);
        }
    }
}

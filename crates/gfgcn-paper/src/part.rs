//! The parts of the report, and how all of them come about.

use crate::accuracy::{self, Accuracies};
use crate::calibration::Reliabilities;
use crate::lab::Lab;
use crate::published::Published;
use crate::report::{Figure, Report, Table};
use crate::subject::{Model, Scope, Subject, Which};
use crate::{ablation, differences, gradients, scale, stability, time};
use gfgcn::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A part of the report that can be asked for by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The best of each model on each graph.
    Overall,
    /// Accuracy by depth: a table for each graph.
    Depth,
    /// Training time on PubMed.
    Time,
    /// First gradients and losses by depth, and of DGC by T.
    Gradients,
    /// Accuracy by depth: the figure.
    Accuracy,
    /// Gradient descent against the closed form.
    Ablation,
    /// Spread over seeds.
    Stability,
    /// Theorem 1: the scale of the zero-centred features.
    Scale,
    /// Whether probabilities are what they say, which the paper has none of.
    Calibration,
    /// Settings that bring the published numbers where ours differ; only where everything is run.
    Differences,
}

impl Part {
    /// All of them, in the order of the report.
    pub const ALL: [Part; 10] = [
        Part::Overall,
        Part::Depth,
        Part::Time,
        Part::Gradients,
        Part::Accuracy,
        Part::Ablation,
        Part::Stability,
        Part::Scale,
        Part::Calibration,
        Part::Differences,
    ];

    /// Those that need every model at every depth.
    pub(crate) const OF_ACCURACIES: [Part; 4] =
        [Part::Overall, Part::Depth, Part::Accuracy, Part::Differences];

    /// Those of a report where none are named.
    pub fn of(scope: Scope) -> &'static [Part] {
        match scope {
            Scope::Quick => &Part::ALL[..Part::ALL.len() - 1],
            Scope::Full => &Part::ALL,
        }
    }

    /// The graph that the paper shows this part on, where it is only one.
    fn only_on(self) -> Option<Which> {
        match self {
            Part::Time => Some(Which::PubMed),
            Part::Gradients | Part::Scale => Some(Which::Cora),
            _ => None,
        }
    }

    /// Whether a graph has this part.
    pub(crate) fn is_about(self, which: Which) -> bool {
        self.only_on().is_none_or(|only| only == which)
    }

    /// What to say if the graph of this part is not there.
    fn left_out(self, subjects: &[Subject]) -> Option<String> {
        let which = self.only_on()?;
        let is_there = subjects.iter().any(|subject| subject.which == which);
        let title = which.title();
        (!is_there)
            .then(|| format!("The part “{self}” is about {title}, which is not among the graphs."))
    }

    fn name(self) -> &'static str {
        match self {
            Part::Overall => "overall",
            Part::Depth => "depth",
            Part::Time => "time",
            Part::Gradients => "gradients",
            Part::Accuracy => "accuracy",
            Part::Ablation => "ablation",
            Part::Stability => "stability",
            Part::Scale => "scale",
            Part::Calibration => "calibration",
            Part::Differences => "differences",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Part {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Part::ALL.into_iter().find(|part| part.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Part::ALL.iter().map(|part| part.name()).collect();
            Error::parameter("part", text, format!("one of {}", names.join(", ")))
        })
    }
}

/// Runs the experiments of some parts on some graphs. `about` of the report is left to be filled in.
///
/// # Errors
/// Whatever an experiment meets.
pub fn run(lab: &Lab<'_>, subjects: &[Subject], parts: &[Part]) -> Result<Report> {
    let published = Published::load();
    let wants = |part: Part| parts.contains(&part);
    let (mut tables, mut figures): (Vec<Table>, Vec<Figure>) = (Vec::new(), Vec::new());
    let mut differences = Vec::new();
    if Part::OF_ACCURACIES.into_iter().any(wants) {
        let accuracies = Accuracies::measure(lab, subjects, &Model::ALL)?;
        if wants(Part::Overall) {
            tables.push(accuracy::overall(&accuracies, &published, lab.scope));
        }
        if wants(Part::Depth) {
            tables.extend(accuracies.iter().map(|a| a.table(&published, lab.scope)));
        }
        if wants(Part::Accuracy) {
            figures.push(accuracy::figure(&accuracies));
        }
        if wants(Part::Differences) {
            differences = differences::tables(lab, subjects, &accuracies, &published)?;
        }
    }
    // The graph of a part that is shown on one only.
    let subject_of =
        |part: Part| subjects.iter().find(|subject| wants(part) && part.is_about(subject.which));
    if let Some(pubmed) = subject_of(Part::Time) {
        tables.extend(time::tables(lab, pubmed, &published)?);
    }
    if let Some(cora) = subject_of(Part::Gradients) {
        figures.push(gradients::by_depth(lab, cora)?);
        figures.push(gradients::by_time(lab, cora)?);
    }
    if let Some(cora) = subject_of(Part::Scale) {
        figures.push(scale::figure(cora, &lab.context)?);
    }
    if wants(Part::Ablation) {
        figures.push(ablation::figure(lab, subjects)?);
    }
    if wants(Part::Stability) {
        // Of a run that was stopped early there may be nothing to show.
        let figure = stability::figure(lab, subjects)?;
        figures.extend(Some(figure).filter(|figure| !figure.panels.is_empty()));
    }
    if wants(Part::Calibration) {
        let reliabilities = Reliabilities::measure(lab, subjects)?;
        tables.extend(reliabilities.table());
        figures.extend(reliabilities.figure());
    }
    tables.extend(differences);
    let remarks = parts.iter().filter_map(|part| part.left_out(subjects)).collect();
    Ok(Report { about: Vec::new(), remarks, tables, figures })
}

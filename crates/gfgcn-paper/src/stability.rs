//! Stability: how much accuracies spread when nothing but the seed changes.

use crate::lab::Lab;
use crate::report::{Axis, Figure, Panel, Point, Scale, Series, Style};
use crate::subject::{LARGE_RUNS, Model, QUICK_RUNS, SEEDED_ROWS, SPLITS, Scope, Subject};
use gfgcn::Result;
use gfgcn::metrics::Summary;
use gfgcn::split::Split;
use gfgcn_baselines::{Method, Training};

/// Standard deviation over seeds on one split, by depth; quickly, on the first graph only.
pub(crate) fn figure(lab: &Lab<'_>, subjects: &[Subject]) -> Result<Figure> {
    let mut panels = Vec::new();
    for subject in shown(lab.scope, subjects) {
        panels.extend(panel(lab, subject)?);
    }
    Ok(Figure {
        id: "stability".into(),
        title: "Spread over seeds".into(),
        text: format!(
            "Standard deviation of the test accuracy on a single split over random seeds: {SPLITS} for SGC, SSGC and DGC, {}. \
             The closed forms are deterministic: zero.",
            match lab.scope {
                Scope::Quick => format!("{QUICK_RUNS} for networks"),
                Scope::Full =>
                    format!("{LARGE_RUNS} for networks with at most {SEEDED_ROWS} nodes × layers"),
            }
        ),
        panels,
    })
}

/// The graphs it is shown of.
pub(crate) fn shown(scope: Scope, subjects: &[Subject]) -> &[Subject] {
    match scope {
        Scope::Quick => &subjects[..subjects.len().min(1)],
        Scope::Full => subjects,
    }
}

/// None where nothing that is random was run: zeros by themselves say nothing.
fn panel(lab: &Lab<'_>, subject: &Subject) -> Result<Option<Panel>> {
    let mut series = Vec::new();
    let mut anything_random = false;
    for model in Model::ALL {
        let mut points = Vec::new();
        for &depth in lab.scope.depths(model) {
            let spread = match model.at(depth) {
                Method::ClosedForm(_) | Method::Features | Method::Auto => Some(0.0),
                Method::Trained(baseline) => {
                    let seeds = seeds(lab.scope, subject, model, depth);
                    let what = format!("spread of {}, K = {depth}", model.name());
                    let runs = lab.train(&what, subject, &seeds, baseline, Training::default())?;
                    let accuracies: Vec<f64> = runs.iter().map(|run| run.accuracy).collect();
                    anything_random |= accuracies.len() > 1;
                    // None of fewer than two runs.
                    Summary::of(&accuracies).std
                }
            };
            points.extend(spread.map(|y| Point { x: depth as f64, y, error: None }));
        }
        series.push(Series { name: model.name().into(), style: Style::Dots, points });
    }
    Ok(anything_random.then(|| Panel {
        title: subject.which.title().into(),
        x: Axis { label: "depth K".into(), scale: Scale::Powers },
        y: Axis { label: "standard deviation in points".into(), scale: Scale::Linear },
        series,
    }))
}

/// The first split, once for every seed of a model at a depth.
pub(crate) fn seeds(scope: Scope, subject: &Subject, model: Model, depth: usize) -> Vec<Split> {
    vec![subject.splits[0].clone(); scope.seeds(model, depth, subject.dataset.nodes())]
}

//! Gradient descent against the closed form for Λ, with the same λ (the paper's ablation study).

use crate::lab::{Fits, Lab};
use crate::report::{Axis, Figure, Panel, Point, Scale, Series, Style};
use crate::subject::{DEPTHS, Model, SPLITS, Scope, Subject, ridge};
use gfgcn::filter::Filter;
use gfgcn::metrics::Summary;
use gfgcn::ridge::Selection;
use gfgcn::{Result, Ridge};
use gfgcn_baselines::{Baseline, Dual, Training};

/// Enough for the objective to settle where it ever does.
const EPOCHS: usize = 1000;

/// Accuracy of both by depth, with the filter SGC, one panel per graph.
pub(crate) fn figure(lab: &Lab<'_>, subjects: &[Subject]) -> Result<Figure> {
    let panels =
        subjects.iter().map(|subject| panel(lab, subject)).collect::<Result<Vec<Panel>>>()?;
    let runs = runs(lab.scope);
    Ok(Figure {
        id: "ablation".into(),
        title: "Gradient descent against the closed form for Λ".into(),
        text: format!(
            "The dual objective with the filter SGC: solved, and minimised by Adam (learning rate 0.01, {EPOCHS} \
             epochs) from Λ = 0. Both have the same λ at each depth, the median of what was chosen on the validation parts of \
             {SPLITS} splits; means over {runs} splits, bars are standard errors."
        ),
        panels,
    })
}

fn runs(scope: Scope) -> usize {
    match scope {
        Scope::Quick => 3,
        Scope::Full => SPLITS,
    }
}

fn filters() -> Vec<Filter> {
    DEPTHS.iter().filter_map(|&depth| Model::GF_SGC.filter(depth)).collect()
}

fn training() -> Training {
    Training { epochs: EPOCHS, ..Training::default() }
}

/// What is trained, and how many runs of it are not known at each depth; all of them, as long as λ is not.
pub(crate) fn missing(lab: &Lab<'_>, subject: &Subject) -> (Baseline, Training, Vec<usize>) {
    let known = Lab { only_finished: true, ..lab.clone() };
    let chosen = known.fit("λ by depth", subject, &subject.splits, &filters(), ridge());
    let splits = &subject.splits[..runs(lab.scope)];
    let model = |filter, lambda| Baseline::Dual(Dual { filter, lambda });
    let missing = |fits: Option<Fits>| match fits {
        None => splits.len(),
        Some(fits) => {
            let model = model(fits.filter, fits.median_lambda());
            lab.comparison(subject, splits, vec![model], training()).known(lab.cache).missing()
        }
    };
    let runs = chosen.into_iter().flatten().map(missing).collect();
    (model(filters()[0], 1.0), training(), runs)
}

fn panel(lab: &Lab<'_>, subject: &Subject) -> Result<Panel> {
    let filters = filters();
    let splits = &subject.splits[..runs(lab.scope)];
    let chosen = lab.fit("λ by depth", subject, &subject.splits, &filters, ridge())?;
    let (mut solved, mut descended) = (Vec::new(), Vec::new());
    for fits in chosen.into_iter().flatten() {
        let (filter, lambda) = (fits.filter, fits.median_lambda());
        let ridge = Ridge { selection: Selection::fixed(lambda)?, ..Ridge::default() };
        let depth = filter.depth();
        let what = format!("closed form with one λ, K = {depth}");
        let exact = lab.fit(&what, subject, splits, &[filter], ridge)?.swap_remove(0);
        let model = Baseline::Dual(Dual { filter, lambda });
        let what = format!("descent with the same λ, K = {depth}");
        let runs = lab.train(&what, subject, splits, model, training())?;
        let accuracies: Vec<f64> = runs.iter().map(|run| run.accuracy).collect();
        let Some(exact) = exact.filter(|_| !accuracies.is_empty()) else { continue };
        let point = |accuracies: &[f64]| {
            let Summary { mean, std_error, .. } = Summary::of(accuracies);
            Point { x: depth as f64, y: mean, error: std_error }
        };
        solved.push(point(&exact.accuracies));
        descended.push(point(&accuracies));
    }
    let series = |name: &str, points| Series { name: name.into(), style: Style::Dots, points };
    Ok(Panel {
        title: subject.which.title().into(),
        x: Axis { label: "depth K".into(), scale: Scale::Powers },
        y: Axis { label: "test accuracy in %".into(), scale: Scale::Linear },
        series: vec![series("closed form", solved), series("gradient descent", descended)],
    })
}

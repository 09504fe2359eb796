//! Stability: how much accuracies spread when nothing but the seed changes.

use crate::accuracy::trained;
use crate::lab::Lab;
use crate::report::{Axis, Figure, Panel, Point, Scale, Series, Style};
use crate::subject::{Model, Scope, Subject};
use gfgcn::Result;
use gfgcn::metrics::Summary;
use gfgcn::split::Split;
use gfgcn_baselines::{Run, Training};

/// Standard deviation over seeds on one split, by depth; quickly, on the first graph only.
pub(crate) fn figure(lab: &Lab<'_>, subjects: &[Subject]) -> Result<Figure> {
    let shown = match lab.scope {
        Scope::Quick => &subjects[..subjects.len().min(1)],
        Scope::Full => subjects,
    };
    let panels = shown.iter().map(|subject| panel(lab, subject)).collect::<Result<Vec<Panel>>>()?;
    Ok(Figure {
        id: "stability".into(),
        title: "Spread over seeds".into(),
        text: "Standard deviation of the test accuracy when one split is trained on with different seeds. The closed \
               forms have nothing random in them: zero."
            .into(),
        panels,
    })
}

fn panel(lab: &Lab<'_>, subject: &Subject) -> Result<Panel> {
    (lab.say)(&format!("{}: spread over seeds", subject.which.title()));
    let mut series = Vec::new();
    for model in Model::ALL {
        let depths = lab.scope.depths(model);
        let (_, trained) = trained(lab.scope, model);
        let seeds: Vec<Split> = vec![subject.splits[0].clone(); lab.scope.runs(model)];
        // Two runs are the fewest that spread.
        let spreads: Vec<Option<f64>> = if trained.is_empty() {
            vec![Some(0.0); depths.len()]
        } else {
            let runs = lab.train(subject, &seeds, trained, Training::default())?;
            let spread = |runs: &Vec<Run>| {
                let accuracies: Vec<f64> = runs.iter().map(|run| run.accuracy).collect();
                Summary::of(&accuracies).std
            };
            runs.iter().map(spread).collect()
        };
        let points = depths.iter().zip(spreads);
        let point = |(&depth, y): (&usize, Option<f64>)| {
            Some(Point { x: depth as f64, y: y?, error: None })
        };
        let points = points.filter_map(point).collect();
        series.push(Series { name: model.name().into(), style: Style::Dots, points });
    }
    Ok(Panel {
        title: subject.which.title().into(),
        x: Axis { label: "depth K".into(), scale: Scale::Powers },
        y: Axis { label: "standard deviation in points".into(), scale: Scale::Linear },
        series,
    })
}

//! The vanishing gradient: densities of the first gradients of W, and loss traces (the paper's Figure 1).

use crate::density::densities;
use crate::lab::Lab;
use crate::report::{Axis, Figure, Panel, Point, Scale, Series, Style};
use crate::subject::{DEPTHS, Model, Subject};
use gfgcn::Result;
use gfgcn::filter::Filter;
use gfgcn_baselines::{Baseline, DataKey, SplitKey, Trainer, Training};
use serde::{Deserialize, Serialize};

/// Terminal times of the diffusion, with enough steps for the longest.
const TIMES: [f64; 6] = [1.0, 2.0, 5.27, 10.0, 20.0, 50.0];
const STEPS: usize = 128;
/// The share of gradients at each end that densities leave out.
const TAIL: f64 = 0.005;

/// The beginning of a training and its course.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Trace {
    /// The first gradient of W, all entries.
    gradient: Vec<f32>,
    losses: Vec<f64>,
}

/// The paper's.
const LEARNING_RATE: f64 = 0.01;

#[derive(Serialize)]
struct TraceKey<'a> {
    data: &'a DataKey,
    filter: Filter,
    training: Training,
    split: SplitKey,
    /// What computes it, besides the crates below.
    source: &'static str,
}

fn trace(lab: &Lab<'_>, what: &str, subject: &Subject, filter: Filter) -> Result<Option<Trace>> {
    let (dataset, split) = (&subject.dataset, &subject.splits[0]);
    let training = Training { learning_rate: Some(LEARNING_RATE), ..Training::default() };
    let key = TraceKey {
        data: &subject.key,
        filter,
        training,
        split: SplitKey::new(split),
        source: include_str!("gradients.rs"),
    };
    lab.once(what, subject, training.epochs, &key, || {
        let model = Baseline::logistic(filter);
        let splits = std::slice::from_ref(split);
        let trainer = Trainer::new(dataset, model, training, splits, &lab.context)?;
        let trained = trainer.train(split, 0, &lab.context)?;
        let gradient = trained.first_gradients[0].as_slice().to_vec();
        Ok(Trace { gradient, losses: trained.losses })
    })
}

/// Density of the first gradients and loss traces, by depth.
pub(crate) fn by_depth(lab: &Lab<'_>, subject: &Subject) -> Result<Figure> {
    let mut panels = Vec::new();
    for model in Model::LINEAR {
        let cases: Vec<(String, Filter)> = DEPTHS
            .iter()
            .filter_map(|&depth| Some((format!("K = {depth}"), model.filter(depth)?)))
            .collect();
        panels.extend(pair(lab, subject, model.name(), &cases)?);
    }
    Ok(Figure {
        id: "gradients".into(),
        title: "First gradients and training losses by depth".into(),
        text: format!(
            "{}, first split, logistic regression on filtered features with the paper's learning rate of \
             {LEARNING_RATE}: the density of the entries of the gradient of W in the first epoch, and the loss of every \
             epoch. As filters get deeper, the gradients \
             of SGC and SSGC shrink and training stalls; those of DGC hardly depend on K once K > T = 5.27.",
            subject.which.title()
        ),
        panels,
    })
}

/// The same for DGC as its terminal time grows.
pub(crate) fn by_time(lab: &Lab<'_>, subject: &Subject) -> Result<Figure> {
    let cases = TIMES
        .iter()
        .map(|&time| Ok((format!("T = {time}"), Filter::dgc(STEPS, time)?)))
        .collect::<Result<Vec<(String, Filter)>>>()?;
    Ok(Figure {
        id: "gradients-of-dgc".into(),
        title: "First gradients and training losses of DGC as T grows".into(),
        text: format!(
            "{}, first split, {STEPS} steps, learning rate {LEARNING_RATE}. A longer diffusion smooths more: DGC escapes the vanishing gradient by its \
             small T, not by its form.",
            subject.which.title()
        ),
        panels: pair(lab, subject, "DGC", &cases)?.to_vec(),
    })
}

/// Densities and losses of several filters.
fn pair(
    lab: &Lab<'_>,
    subject: &Subject,
    name: &str,
    cases: &[(String, Filter)],
) -> Result<[Panel; 2]> {
    let (mut names, mut traces) = (Vec::new(), Vec::new());
    for (case, filter) in cases {
        let what = format!("gradients and losses of {name}, {case}");
        if let Some(trace) = trace(lab, &what, subject, *filter)? {
            names.push(case);
            traces.push(trace);
        }
    }
    let sets: Vec<Vec<f64>> =
        traces.iter().map(|t| t.gradient.iter().map(|&g| f64::from(g)).collect()).collect();
    let line = |name: &str, points: Vec<(f64, f64)>| Series {
        name: name.to_owned(),
        style: Style::Line,
        points: points.into_iter().map(|(x, y)| Point { x, y, error: None }).collect(),
    };
    let densities =
        names.iter().zip(densities(&sets, TAIL)).map(|(name, points)| line(name, points));
    let losses = names.iter().zip(&traces).map(|(name, trace)| {
        let epochs = trace.losses.iter().enumerate();
        line(name, epochs.map(|(epoch, &loss)| (epoch as f64 + 1.0, loss)).collect())
    });
    let axis = |label: &str, scale| Axis { label: label.into(), scale };
    Ok([
        Panel {
            title: format!("{name}: first gradients"),
            x: axis("entry of the gradient of W", Scale::Linear),
            y: axis("density", Scale::Linear),
            series: densities.collect(),
        },
        Panel {
            title: format!("{name}: training loss"),
            x: axis("epoch", Scale::Linear),
            y: axis("cross entropy", Scale::Linear),
            series: losses.collect(),
        },
    ])
}

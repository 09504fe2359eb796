//! Training time on PubMed, as the paper counts it and from end to end.

use crate::accuracy::ranked;
use crate::lab::Lab;
use crate::machine::processor;
use crate::published::Published;
use crate::report::{Cell, Row, Table, Unit};
use crate::subject::{Model, Scope, Subject, ridge};
use gfgcn::evaluation::Evaluation;
use gfgcn::metrics::Summary;
use gfgcn::{Result, Ridge};
use gfgcn_baselines::{DataKey, SplitKey, Trainer, Training};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The depths of the paper's table.
const DEPTHS: [usize; 4] = [2, 8, 32, 128];
/// The models of the paper's table.
const MODELS: [Model; 8] = [
    Model::GCN,
    Model::GCNII,
    Model::SGC,
    Model::SSGC,
    Model::DGC,
    Model::GF_SGC,
    Model::GF_SSGC,
    Model::GF_DGC,
];

/// Seconds of one model on one split, alone on the machine.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Seconds {
    /// Epochs; or choosing λ and solving.
    training: f64,
    /// From loaded data to predictions for all nodes.
    total: f64,
}

#[derive(Serialize)]
struct TimeKey<'a> {
    data: &'a DataKey,
    model: Model,
    depth: usize,
    split: SplitKey,
    ridge: Ridge,
    /// Times are of a machine.
    processor: String,
    threads: usize,
    /// What computes it, besides the crates below.
    source: &'static str,
}

/// Training time, and time from end to end.
pub(crate) fn tables(
    lab: &Lab<'_>,
    subject: &Subject,
    published: &Published,
) -> Result<[Table; 2]> {
    let mut rows = Vec::new();
    for model in MODELS {
        let cells = DEPTHS
            .iter()
            .map(|&depth| {
                let runs = lab.scope.depths(model).contains(&depth);
                if runs { seconds(lab, subject, model, depth) } else { Ok(None) }
            })
            .collect::<Result<Vec<Option<Seconds>>>>()?;
        rows.push((model, cells));
    }
    let table = |id: &str, title: &str, text: String, part: fn(&Seconds) -> f64, paper: bool| {
        let rows = rows.iter().map(|(model, cells)| {
            let cells = DEPTHS.iter().zip(cells).map(|(&depth, cell)| Cell {
                ours: cell.as_ref().map(|cell| Summary::of(&[part(cell)])),
                runs: usize::from(cell.is_some()),
                published: published.seconds(model.name(), depth).filter(|_| paper),
                rank: None,
            });
            Row { name: model.name().to_owned(), cells: cells.collect() }
        });
        ranked(Table {
            id: id.into(),
            title: title.into(),
            text,
            rows_are: "model".into(),
            columns: DEPTHS.iter().map(|depth| format!("K = {depth}")).collect(),
            unit: Unit::Seconds,
            rows: rows.collect(),
        })
    };
    let title = subject.which.title();
    let alone = match lab.scope {
        Scope::Quick => {
            "One run on the first split, alone on the machine; networks at the first depths only."
        }
        Scope::Full => "One run on the first split, alone on the machine.",
    };
    Ok([
        table(
            "time-training",
            &format!("{title}: training time"),
            format!(
                "As the paper counts: choosing λ and solving, all 25 of its values included; or 200 epochs. {alone} The \
                 published times are of another machine, with a GPU."
            ),
            |seconds| seconds.training,
            true,
        ),
        table(
            "time-total",
            &format!("{title}: time from data to predictions"),
            format!(
                "Filtering, training and predicting all nodes. {alone} The paper has no such times."
            ),
            |seconds| seconds.total,
            false,
        ),
    ])
}

/// The models and depths whose times are not known.
pub(crate) fn missing(lab: &Lab<'_>, subject: &Subject) -> Vec<(Model, usize)> {
    let cells = MODELS.iter().flat_map(|&model| DEPTHS.map(|depth| (model, depth)));
    let is_run = |&(model, depth): &(Model, usize)| lab.scope.depths(model).contains(&depth);
    cells.filter(is_run).filter(|&(model, depth)| !lab.knows(&key(subject, model, depth))).collect()
}

fn key(subject: &Subject, model: Model, depth: usize) -> TimeKey<'_> {
    TimeKey {
        data: &subject.key,
        model,
        depth,
        split: SplitKey::new(&subject.splits[0]),
        ridge: ridge(),
        processor: processor(),
        threads: rayon::current_num_threads(),
        source: include_str!("time.rs"),
    }
}

fn seconds(
    lab: &Lab<'_>,
    subject: &Subject,
    model: Model,
    depth: usize,
) -> Result<Option<Seconds>> {
    let (dataset, split) = (&subject.dataset, &subject.splits[0]);
    let key = key(subject, model, depth);
    let what = format!("time of {}, K = {depth}", model.name());
    let training = Training::default();
    let method = model.at(depth);
    let steps = if method.trained().is_some() { training.epochs } else { 1 };
    lab.once(&what, subject, steps, &key, || {
        let clock = Instant::now();
        let time = if let Some(baseline) = method.trained() {
            let splits = std::slice::from_ref(split);
            let trainer = Trainer::new(dataset, baseline, training, splits, &lab.context)?;
            trainer.train(split, 0, &lab.context)?.train_time
        } else {
            let designs = method.closed_form().into_iter().map(Into::into).collect();
            let evaluation = Evaluation {
                designs,
                splits: vec![split.clone()],
                ridge: ridge(),
                ..Evaluation::default()
            };
            evaluation.run(dataset, &lab.context)?[0].times.fit
        };
        Ok(Seconds { training: time.as_secs_f64(), total: clock.elapsed().as_secs_f64() })
    })
}

//! Whether the closed forms' probabilities are what they say. The paper has none; its protocol serves all the same.

use crate::accuracy::ranked;
use crate::lab::Lab;
use crate::report::{Axis, Cell, Figure, Panel, Point, Row, Scale, Series, Style, Table, Unit};
use crate::subject::{Model, SPLITS, Subject};
use gfgcn::evaluation::Evaluation;
use gfgcn::metrics::Summary;
use gfgcn::{Design, Result};
use gfgcn_baselines::{DataKey, SplitKey};
use serde::{Deserialize, Serialize};

const MODELS: [Model; 3] = [Model::GF_SGC, Model::GF_SSGC, Model::GF_DGC];
/// The depth of the program's default.
const DEPTH: usize = 8;
/// Bins with fewer predictions are in the error, but not in the figure: chance is all that they show.
const FEWEST: usize = 100;

/// The probabilities of a model on a graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Judged {
    /// The expected calibration error on each split, 0 to 1.
    errors: Vec<f64>,
    /// Confidence and accuracy, 0 to 1, with the number of predictions, of all splits together.
    bins: Vec<(f64, f64, usize)>,
}

#[derive(Serialize)]
struct JudgedKey<'a> {
    data: &'a DataKey,
    splits: Vec<SplitKey>,
    source: &'static str,
}

/// The probabilities of all models on all graphs.
pub(crate) struct Reliabilities<'s> {
    subjects: &'s [Subject],
    /// By graph and model; nothing where that is not finished.
    judged: Vec<Option<Vec<Judged>>>,
}

impl<'s> Reliabilities<'s> {
    pub(crate) fn measure(lab: &Lab<'_>, subjects: &'s [Subject]) -> Result<Self> {
        let judged = subjects.iter().map(|subject| judge(lab, subject));
        Ok(Reliabilities { subjects, judged: judged.collect::<Result<_>>()? })
    }

    /// Expected calibration errors, if any are known.
    pub(crate) fn table(&self) -> Option<Table> {
        self.judged.iter().flatten().next()?;
        let cell = |judged: &Option<Vec<Judged>>, model: usize| {
            let percent = |judged: &Judged| -> Vec<f64> {
                judged.errors.iter().map(|error| 100.0 * error).collect()
            };
            let errors = judged.as_ref().map(|judged| percent(&judged[model]));
            Cell {
                runs: errors.as_ref().map_or(0, Vec::len),
                ours: errors.map(|errors| Summary::of(&errors)),
                ..Cell::default()
            }
        };
        let row = |(model, name): (usize, &Model)| Row {
            name: name.name().into(),
            cells: self.judged.iter().map(|judged| cell(judged, model)).collect(),
        };
        Some(ranked(Table {
            id: "calibration".into(),
            title: "Calibration errors of the closed forms".into(),
            text: format!(
                "Expected calibration error: the mean gap between confidence and accuracy over 15 bins of the test nodes. \
                 {SPLITS} random splits 1:1:8, K = {DEPTH}, λ by exact leave-one-out. Probabilities are calibrated on the \
                 leave-one-out scores of the training nodes; no node is held out for them. Not in the paper."
            ),
            rows_are: "model".into(),
            columns: self.subjects.iter().map(|subject| subject.which.title().into()).collect(),
            unit: Unit::Points,
            rows: MODELS.iter().enumerate().map(row).collect(),
        }))
    }

    /// The reliability diagrams, if any are known.
    pub(crate) fn figure(&self) -> Option<Figure> {
        let graphs = self.subjects.iter().zip(&self.judged);
        let panels: Vec<Panel> =
            graphs.filter_map(|(subject, judged)| Some(panel(subject, judged.as_ref()?))).collect();
        (!panels.is_empty()).then(|| Figure {
            id: "reliability".into(),
            title: "Reliability of the closed forms’ probabilities".into(),
            text: format!(
                "Accuracy by confidence at K = {DEPTH}, on the test nodes of all splits together; calibrated probabilities lie \
                 on the dashed line. Bins of fewer than {FEWEST} predictions are not shown."
            ),
            panels,
        })
    }
}

fn judge(lab: &Lab<'_>, subject: &Subject) -> Result<Option<Vec<Judged>>> {
    let splits = subject.splits.iter().map(SplitKey::new).collect();
    let key = JudgedKey { data: &subject.key, splits, source: include_str!("calibration.rs") };
    let steps = MODELS.len() * subject.splits.len();
    lab.once("probabilities", subject, steps, &key, || {
        let designs = MODELS.iter().filter_map(|model| model.filter(DEPTH)).map(Design::from);
        let evaluation = Evaluation {
            designs: designs.collect(),
            splits: subject.splits.clone(),
            calibrates: true,
            ..Evaluation::default()
        };
        let results = evaluation.run(&subject.dataset, &lab.context)?;
        let judged = results.into_iter().filter_map(|result| result.calibrated).map(|calibrated| {
            let bins = calibrated.reliability.bins().iter().filter(|bin| bin.count > 0);
            let bins = bins.map(|bin| (bin.confidence, bin.accuracy(), bin.count)).collect();
            Judged { errors: calibrated.expected_errors, bins }
        });
        Ok(judged.collect())
    })
}

fn panel(subject: &Subject, judged: &[Judged]) -> Panel {
    let lines = MODELS.iter().zip(judged).map(|(model, judged)| {
        let shown = judged.bins.iter().filter(|(.., count)| *count >= FEWEST);
        let point = |&(confidence, accuracy, _): &(f64, f64, usize)| Point {
            x: 100.0 * confidence,
            y: 100.0 * accuracy,
            error: None,
        };
        Series { name: model.name().into(), style: Style::Dots, points: shown.map(point).collect() }
    });
    let mut series: Vec<Series> = lines.collect();
    let least = |points: &[Point]| points.iter().map(|p| p.x).fold(100.0, f64::min);
    let first = series.iter().map(|line| least(&line.points)).fold(100.0, f64::min);
    let ends = [first, 100.0].map(|x| Point { x, y: x, error: None });
    series.push(Series {
        name: "as sure as right".into(),
        style: Style::Dashed,
        points: ends.to_vec(),
    });
    Panel {
        title: subject.which.title().into(),
        x: Axis { label: "confidence in %".into(), scale: Scale::Linear },
        y: Axis { label: "right in %".into(), scale: Scale::Linear },
        series,
    }
}

//! What brings the published numbers where ours differ: other settings, tried one at a time.

use crate::estimate::rounds_of;
use crate::lab::Lab;
use crate::published::Published;
use crate::report::{Cell, Row, Table, Unit};
use crate::subject::{Model, Subject};
use gfgcn::metrics::Summary;
use gfgcn::ridge::Selection;
use gfgcn::{Result, Ridge, RowScaling};
use gfgcn_baselines::{Baseline, Gat, Gcn, Gcnii, JkNet, Jump, Method, Training};

/// Splits that each setting is tried on, the first ones.
const TRIED: usize = 5;

/// A way to train, or to solve, that is not the report's, by the depth.
struct Setting {
    name: &'static str,
    at: Box<dyn Fn(usize) -> Way>,
}

enum Way {
    Trained(Baseline, Training),
    Solved(Ridge),
}

/// A model, and what was tried on it.
struct Case {
    model: Model,
    /// Depths at which the report's numbers are far from the published ones.
    depths: &'static [usize],
    settings: Vec<Setting>,
}

/// A table for each model: the report's way first, then the others.
pub(crate) fn tables(
    lab: &Lab<'_>,
    subjects: &[Subject],
    published: &Published,
) -> Result<Vec<Table>> {
    cases().iter().map(|case| case.table(lab, subjects, published)).collect()
}

/// What is to be trained for these tables, by model and depth, with how many times as long as one usual run that takes;
/// the report's own way, too, if nothing else runs it.
pub(crate) fn missing(
    lab: &Lab<'_>,
    subject: &Subject,
    usual_too: bool,
) -> Vec<(Model, usize, f64)> {
    /// Every epoch also scores the validation part, and has no backward pass for it.
    const LOOKING: f64 = 1.5;
    let mut missing = Vec::new();
    for case in cases() {
        for &depth in case.depths {
            let usual = usual_too.then(|| case.usual_way(depth));
            let others = case.settings.iter().map(|setting| (setting.at)(depth));
            for way in others.chain(usual) {
                let Way::Trained(baseline, training) = way else { continue };
                let splits = &subject.splits[..TRIED];
                let longer = if training.patience.is_some() { LOOKING } else { 1.0 };
                let rounds = rounds_of(lab, subject, splits, baseline, training);
                missing.push((case.model, depth, longer * rounds));
            }
        }
    }
    missing
}

impl Case {
    fn table(&self, lab: &Lab<'_>, subjects: &[Subject], published: &Published) -> Result<Table> {
        let name = self.model.name();
        let mut rows = Vec::new();
        for subject in subjects {
            for &depth in self.depths {
                let theirs = published.accuracy(subject.which, name, depth);
                // Of some models the paper only has the best of all depths.
                let theirs = theirs.or_else(|| published.overall(name, subject.which));
                let mut cells = vec![cell(self.usual(lab, subject, depth)?, theirs)];
                for setting in &self.settings {
                    let accuracies = setting.accuracies(lab, subject, self.model, depth)?;
                    cells.push(cell(accuracies, theirs));
                }
                rows.push(Row { name: format!("{}, K = {depth}", subject.which.title()), cells });
            }
        }
        let best = match subjects
            .first()
            .and_then(|s| published.accuracy(s.which, name, self.depths[0]))
        {
            None => {
                " Of this model the paper only has the best of all depths, which stands at each of them."
            }
            Some(_) => "",
        };
        let settings = self.settings.iter().map(|setting| setting.name.to_owned());
        Ok(Table {
            id: format!("differences-{}", name.to_lowercase()),
            title: format!("{name}: what brings the published numbers"),
            text: format!(
                "Mean test accuracy over the first {TRIED} splits, as in the other tables and with one thing changed. \
                 The published numbers come from a single split.{best}"
            ),
            rows_are: "graph".into(),
            columns: std::iter::once("as in the report".to_owned()).chain(settings).collect(),
            unit: Unit::Percent,
            rows,
        })
    }

    /// As in the other tables, of which these are runs.
    fn usual(&self, lab: &Lab<'_>, subject: &Subject, depth: usize) -> Result<Vec<f64>> {
        accuracies(lab, subject, self.model, depth, "the usual way", self.usual_way(depth))
    }

    fn usual_way(&self, depth: usize) -> Way {
        match self.model.at(depth) {
            Method::Trained(baseline) => Way::Trained(baseline, Training::default()),
            _ => Way::Solved(crate::subject::ridge()),
        }
    }
}

impl Setting {
    fn accuracies(
        &self,
        lab: &Lab<'_>,
        subject: &Subject,
        model: Model,
        depth: usize,
    ) -> Result<Vec<f64>> {
        accuracies(lab, subject, model, depth, self.name, (self.at)(depth))
    }
}

fn accuracies(
    lab: &Lab<'_>,
    subject: &Subject,
    model: Model,
    depth: usize,
    name: &str,
    way: Way,
) -> Result<Vec<f64>> {
    let (splits, what) =
        (&subject.splits[..TRIED], format!("{}, K = {depth}, {name}", model.name()));
    match way {
        Way::Trained(baseline, training) => {
            let runs = lab.train(&what, subject, splits, baseline, training)?;
            Ok(runs.iter().map(|run| run.accuracy).collect())
        }
        Way::Solved(ridge) => {
            let filter = model.filter(depth).expect("a closed form has a filter");
            let fits = lab.fit(&what, subject, splits, &[filter], ridge)?.swap_remove(0);
            Ok(fits.map_or_else(Vec::new, |fits| fits.accuracies))
        }
    }
}

fn cell(accuracies: Vec<f64>, published: Option<f64>) -> Cell {
    let ours = (!accuracies.is_empty()).then(|| Summary::of(&accuracies));
    Cell { ours, runs: accuracies.len(), published, rank: None }
}

fn cases() -> Vec<Case> {
    let (usual, no_decay) = (Training::default(), without_decay(Training::default()));
    let decay = Training { weight_decay: Some(5e-4), ..usual };
    let by_sum = Training { rows: RowScaling::Sum, ..usual };
    let gcn = |depth| Baseline::Gcn(Gcn::new(depth));
    let gat = |depth| Baseline::Gat(Gat::new(depth));
    let jknet = |depth| JkNet::new(depth, Jump::Concat);
    let gcnii = |depth| Gcnii { dropout: 0.0, ..Gcnii::new(depth) };
    vec![
        Case {
            model: Model::GCN,
            depths: &[8, 16, 32],
            settings: vec![
                trained("decay on all layers", decay, gcn),
                trained("no decay", no_decay, gcn),
                trained("no decay, best epoch", best_epoch(no_decay), gcn),
                trained("nothing dropped", usual, |depth| {
                    Baseline::Gcn(Gcn { dropout: 0.0, ..Gcn::new(depth) })
                }),
            ],
        },
        Case {
            model: Model::GAT,
            depths: &[8, 16],
            settings: vec![
                trained("attention not dropped", usual, |depth| {
                    Baseline::Gat(Gat { attention_dropout: 0.0, ..Gat::new(depth) })
                }),
                trained("nothing dropped", usual, |depth| {
                    Baseline::Gat(Gat { dropout: 0.0, attention_dropout: 0.0, ..Gat::new(depth) })
                }),
                trained("best epoch", best_epoch(usual), gat),
            ],
        },
        Case {
            model: Model::JKNET,
            depths: &[2, 4],
            settings: vec![
                trained("the largest, not side by side", usual, |depth| {
                    Baseline::JkNet(JkNet::new(depth, Jump::Max))
                }),
                trained("64 columns", usual, move |depth| {
                    Baseline::JkNet(JkNet { hidden: 64, ..jknet(depth) })
                }),
                trained("best epoch", best_epoch(usual), move |depth| {
                    Baseline::JkNet(jknet(depth))
                }),
            ],
        },
        Case {
            model: Model::GCNII,
            depths: &[2, 8],
            settings: vec![
                trained("no decay", no_decay, |depth| Baseline::Gcnii(Gcnii::new(depth))),
                trained("no decay, nothing dropped", no_decay, move |depth| {
                    Baseline::Gcnii(gcnii(depth))
                }),
                trained("no decay, nothing dropped, α = 0.5", no_decay, move |depth| {
                    Baseline::Gcnii(Gcnii { alpha: 0.5, ..gcnii(depth) })
                }),
                trained("features divided by their sum", by_sum, |depth| {
                    Baseline::Gcnii(Gcnii::new(depth))
                }),
            ],
        },
        linear(Model::SGC),
        linear(Model::SSGC),
        linear(Model::DGC),
        Case {
            model: Model::GF_SGC,
            depths: &[64, 128],
            settings: vec![
                solved("λ = 10 000", 1e4),
                solved("λ = 100 000", 1e5),
                solved("λ = 1 000 000", 1e6),
            ],
        },
        Case {
            model: Model::GF_DGC,
            depths: &[2],
            settings: vec![
                solved("λ = 0.01", 0.01),
                solved("λ = 1", 1.0),
                solved("λ = 100 000", 1e5),
            ],
        },
    ]
}

fn linear(model: Model) -> Case {
    let at = move |depth| match model.at(depth) {
        Method::Trained(baseline) => baseline,
        _ => unreachable!("a linear model is trained"),
    };
    let slow = Training { learning_rate: Some(0.01), ..Training::default() };
    let no_decay = without_decay(slow);
    Case {
        model,
        depths: &[2, 8, 64, 128],
        settings: vec![
            trained("learning rate 0.01", slow, at),
            trained("0.01, no decay", no_decay, at),
            trained("0.01, no decay, best epoch", best_epoch(no_decay), at),
        ],
    }
}

fn trained(
    name: &'static str,
    training: Training,
    model: impl Fn(usize) -> Baseline + 'static,
) -> Setting {
    Setting { name, at: Box::new(move |depth| Way::Trained(model(depth), training)) }
}

fn solved(name: &'static str, lambda: f64) -> Setting {
    let selection = Selection::fixed(lambda).expect("a positive number");
    let ridge = Ridge { selection, ..Ridge::default() };
    Setting { name, at: Box::new(move |_| Way::Solved(ridge)) }
}

fn without_decay(training: Training) -> Training {
    Training { weight_decay: Some(0.0), ..training }
}

/// The weights of the epoch that is best on the validation part.
fn best_epoch(training: Training) -> Training {
    Training { patience: Some(training.epochs), ..training }
}

//! Other settings of the models, by what their papers leave open or what programs are known to do.

use crate::subject::{DEPTHS, Model};
use gfgcn::ridge::Selection;
use gfgcn::{Ridge, RowScaling};
use gfgcn_baselines::{Appnp, Baseline, Gat, Gcn, Gcnii, JkNet, Jump, Method, Training};
use std::ops::RangeInclusive;

const DEEPEST: usize = DEPTHS[DEPTHS.len() - 1];

/// A way to train, or to solve, that is not the report's, by the depth.
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) at: Box<dyn Fn(usize) -> Way>,
    /// What explains little is not tried on networks that take long, nor what a simpler change explains.
    pub(super) depths: RangeInclusive<usize>,
}

pub(super) enum Way {
    Trained(Baseline, Training),
    Solved(Ridge),
    /// As in the report, on the one of its splits that comes nearest. For models of which the seed changes little, whose
    /// published numbers are those of one split.
    OneSplit,
}

/// A model, and what is tried on it.
pub(super) struct Case {
    pub(super) model: Model,
    pub(super) settings: Vec<Setting>,
}

impl Setting {
    fn up_to(self, deepest: usize) -> Self {
        Setting { depths: *self.depths.start()..=deepest, ..self }
    }

    fn from(self, shallowest: usize) -> Self {
        Setting { depths: shallowest..=*self.depths.end(), ..self }
    }
}

/// What is tried on every model, should it be far from the published numbers.
pub(super) fn cases() -> Vec<Case> {
    let (usual, no_decay) = (Training::default(), without_decay(Training::default()));
    let decay = Training { weight_decay: Some(5e-4), ..usual };
    let by_sum = by_row_sums(usual);
    let gcn = |depth| Baseline::Gcn(Gcn::new(depth));
    let gat = |depth| Baseline::Gat(Gat::new(depth));
    let plain_gcn = |depth| Baseline::Gcn(Gcn { dropout: 0.0, ..Gcn::new(depth) });
    let plain_gat =
        |depth| Baseline::Gat(Gat { dropout: 0.0, attention_dropout: 0.0, ..Gat::new(depth) });
    let jknet = |depth| JkNet::new(depth, Jump::Concat);
    let gcnii = |depth| Gcnii { dropout: 0.0, ..Gcnii::new(depth) };
    vec![
        Case {
            model: Model::GCN,
            settings: vec![
                trained("decay on all layers", decay, gcn),
                trained("no decay", no_decay, gcn).up_to(32),
                trained("no decay, best validation epoch", best_epoch(no_decay), gcn),
                trained("no dropout", usual, plain_gcn).up_to(32),
                trained(
                    "no decay, no dropout, best validation epoch",
                    best_epoch(no_decay),
                    plain_gcn,
                )
                .from(64),
                trained("row-normalised features", by_sum, gcn).up_to(32),
            ],
        },
        Case {
            model: Model::GAT,
            settings: vec![
                trained("no attention dropout", usual, |depth| {
                    Baseline::Gat(Gat { attention_dropout: 0.0, ..Gat::new(depth) })
                }),
                trained("no dropout", usual, plain_gat).up_to(64),
                trained("no dropout, best validation epoch", best_epoch(usual), plain_gat)
                    .from(32)
                    .up_to(64),
                trained("best validation epoch", best_epoch(usual), gat).up_to(16),
                trained("row-normalised features", by_sum, gat).up_to(16),
            ],
        },
        Case {
            model: Model::JKNET,
            settings: vec![
                trained("maximum of the layers", usual, |depth| {
                    Baseline::JkNet(JkNet::new(depth, Jump::Max))
                }),
                trained("64 hidden units", usual, move |depth| {
                    Baseline::JkNet(JkNet { hidden: 64, ..jknet(depth) })
                }),
                trained("best validation epoch", best_epoch(usual), move |depth| {
                    Baseline::JkNet(jknet(depth))
                }),
            ],
        },
        Case {
            model: Model::GCNII,
            settings: vec![
                trained("no decay", no_decay, |depth| Baseline::Gcnii(Gcnii::new(depth))).up_to(8),
                trained("no decay, no dropout", no_decay, move |depth| {
                    Baseline::Gcnii(gcnii(depth))
                })
                .up_to(8),
                trained("no decay, no dropout, α = 0.5", no_decay, move |depth| {
                    Baseline::Gcnii(Gcnii { alpha: 0.5, ..gcnii(depth) })
                }),
                trained("row-normalised features", by_sum, |depth| {
                    Baseline::Gcnii(Gcnii::new(depth))
                })
                .up_to(8),
            ],
        },
        Case {
            model: Model::APPNP,
            settings: vec![
                trained("no decay", no_decay, |depth| Baseline::Appnp(Appnp::new(depth))),
                trained("best validation epoch", best_epoch(usual), |depth| {
                    Baseline::Appnp(Appnp::new(depth))
                }),
            ],
        },
        linear(Model::SGC),
        linear(Model::SSGC),
        linear(Model::DGC),
        short_search(Model::GF_SGC),
        short_search(Model::GF_SSGC),
        Case {
            model: Model::GF_DGC,
            settings: vec![
                solved("λ = 0.01", 0.01),
                solved("λ = 1", 1.0),
                solved("λ = 100 000", 1e5),
                one_split(),
            ],
        },
    ]
}

/// What a search for λ finds that ends early.
fn short_search(model: Model) -> Case {
    let settings = vec![
        solved("λ = 10 000", 1e4),
        solved("λ = 100 000", 1e5),
        solved("λ = 1 000 000", 1e6),
        one_split(),
    ];
    Case { model, settings }
}

fn linear(model: Model) -> Case {
    let at = move |depth| match model.at(depth) {
        Method::Trained(baseline) => baseline,
        _ => unreachable!("a linear model is trained"),
    };
    let usual = Training::default();
    let slow = Training { learning_rate: Some(0.01), ..usual };
    let no_decay = without_decay(slow);
    Case {
        model,
        settings: vec![
            trained("row-normalised features", by_row_sums(usual), at),
            trained("decay 0.001", Training { weight_decay: Some(1e-3), ..usual }, at),
            trained("no decay", without_decay(usual), at),
            trained("learning rate 0.01", slow, at),
            trained("learning rate 0.01, no decay", no_decay, at),
            trained(
                "learning rate 0.01, no decay, best validation epoch",
                best_epoch(no_decay),
                at,
            ),
            one_split(),
        ],
    }
}

fn trained(
    name: &'static str,
    training: Training,
    model: impl Fn(usize) -> Baseline + 'static,
) -> Setting {
    let at = Box::new(move |depth| Way::Trained(model(depth), training));
    Setting { name, at, depths: 1..=DEEPEST }
}

fn solved(name: &'static str, lambda: f64) -> Setting {
    let selection = Selection::fixed(lambda).expect("a positive number");
    let ridge = Ridge { selection, ..Ridge::default() };
    Setting { name, at: Box::new(move |_| Way::Solved(ridge)), depths: 1..=DEEPEST }
}

fn one_split() -> Setting {
    Setting { name: "one of our splits", at: Box::new(|_| Way::OneSplit), depths: 1..=DEEPEST }
}

fn without_decay(training: Training) -> Training {
    Training { weight_decay: Some(0.0), ..training }
}

/// As the programs of several authors prepare the features.
fn by_row_sums(training: Training) -> Training {
    Training { rows: RowScaling::Sum, ..training }
}

/// The weights of the epoch that is best on the validation part.
fn best_epoch(training: Training) -> Training {
    Training { patience: Some(training.epochs), ..training }
}

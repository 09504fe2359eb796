//! Every model against PyTorch and PyTorch Geometric (`golden/make_training.py`), in double precision
//! there and single precision here: from the same parameters, the gradients of the first epoch, the
//! loss of every epoch and the scores after the last.

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::Graph;
use gfgcn::matrix::{Matrix, SparseMatrix};
use gfgcn::split::Split;
use gfgcn_baselines::{Appnp, Baseline, Dual, Gat, Gcn, Gcnii, JkNet, Jump, Trainer, Training};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    nodes: usize,
    edges: Vec<(u32, u32)>,
    features: Rows,
    labels: Vec<i64>,
    train: Vec<usize>,
    epochs: usize,
    runs: Vec<Run>,
}

type Rows = Vec<Vec<f64>>;

/// Of the script's attention.
const HEADS: usize = 2;
const WIDTH: usize = 3;

#[derive(Deserialize)]
struct Run {
    model: Model,
    parameters: Vec<Rows>,
    losses: Vec<f64>,
    gradients: Vec<Rows>,
    scores: Rows,
}

#[derive(Deserialize, Debug)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Model {
    Gcn { depth: usize },
    Gat { depth: usize },
    JkNet { depth: usize, jump: Jump },
    Appnp { depth: usize },
    Gcnii { depth: usize },
    Logistic { filter: Named },
    Dual { filter: Named, lambda: f64 },
}

/// A filter as the script writes it.
#[derive(Deserialize, Debug)]
struct Named {
    kind: String,
    depth: f64,
    tau: Option<f64>,
    time: Option<f64>,
}

impl Named {
    fn filter(&self) -> Filter {
        let given = |parameter: &str| match parameter {
            "depth" => Some(self.depth),
            "tau" => self.tau,
            _ => self.time,
        };
        Filter::named(&self.kind, given).unwrap()
    }
}

impl Model {
    /// The widths of the script, and nothing dropped.
    fn baseline(&self) -> Baseline {
        let (hidden, dropout) = (4, 0.0);
        match self {
            &Model::Gcn { depth } => Baseline::Gcn(Gcn { hidden, dropout, ..Gcn::new(depth) }),
            &Model::Gat { depth } => {
                let (heads, hidden, attention_dropout) = (HEADS, WIDTH, dropout);
                Baseline::Gat(Gat { heads, hidden, dropout, attention_dropout, ..Gat::new(depth) })
            }
            &Model::JkNet { depth, jump } => {
                Baseline::JkNet(JkNet { hidden, dropout, ..JkNet::new(depth, jump) })
            }
            &Model::Appnp { depth } => {
                Baseline::Appnp(Appnp { hidden, dropout, ..Appnp::new(depth) })
            }
            &Model::Gcnii { depth } => {
                Baseline::Gcnii(Gcnii { hidden, dropout, ..Gcnii::new(depth) })
            }
            Model::Logistic { filter } => Baseline::logistic(filter.filter()),
            Model::Dual { filter, lambda } => {
                Baseline::Dual(Dual { filter: filter.filter(), lambda: *lambda })
            }
        }
    }
}

fn matrix(rows: &Rows) -> Matrix<f32> {
    Matrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j] as f32)
}

fn golden() -> Golden {
    let mut golden: Golden = serde_json::from_str(include_str!("golden/training.json")).unwrap();
    for run in &mut golden.runs {
        if let Model::Gat { depth } = run.model {
            run.parameters = interleave_heads(&run.parameters, depth);
            run.gradients = interleave_heads(&run.gradients, depth);
        }
    }
    golden
}

/// PyTorch Geometric has a head's columns side by side; here, the first columns of all heads come first. Every
/// layer has a weight, two attention vectors and a bias, and the columns of one are the rows of the next.
fn interleave_heads(parameters: &[Rows], depth: usize) -> Vec<Rows> {
    let place = |column: usize| (column % HEADS) * WIDTH + column / HEADS;
    let columns = |row: &Vec<f64>| (0..row.len()).map(|column| row[place(column)]).collect();
    let mut interleaved = Vec::new();
    for (k, parameter) in parameters.iter().enumerate() {
        let layer = k / 4;
        let mut rows = parameter.clone();
        if k % 4 == 0 && layer > 0 {
            rows = (0..rows.len()).map(|row| rows[place(row)].clone()).collect();
        }
        if layer + 1 < depth {
            rows = rows.iter().map(columns).collect();
        }
        interleaved.push(rows);
    }
    interleaved
}

fn dataset(golden: &Golden, sparse: bool) -> Dataset {
    let (graph, _) = Graph::from_edges(golden.nodes, &golden.edges, None).unwrap();
    let dense = matrix(&golden.features);
    let features = if sparse {
        let offsets: Vec<usize> = (0..=golden.nodes).map(|i| i * dense.cols()).collect();
        let columns: Vec<u32> = (0..golden.nodes).flat_map(|_| 0..dense.cols() as u32).collect();
        let csr = SparseMatrix::from_csr(dense.cols(), &offsets, &columns, dense.as_slice());
        Features::sparse(csr.unwrap()).unwrap()
    } else {
        Features::dense(dense).unwrap()
    };
    let labels = Labels::from_ids(&golden.labels, None).unwrap();
    Dataset::new("golden", graph, features, labels).unwrap()
}

fn close(what: &str, ours: f64, theirs: f64) {
    let tolerance = 2e-5 + 1e-4 * theirs.abs();
    assert!((ours - theirs).abs() < tolerance, "{what}: {ours}, PyTorch {theirs}");
}

#[test]
fn every_model_trains_as_in_pytorch() {
    let golden = golden();
    assert_eq!(golden.runs.len(), 21);
    let split = Split::new(golden.nodes, golden.train.clone(), vec![], vec![]).unwrap();
    // The script's.
    let learning_rate = Some(0.01);
    let training = Training { epochs: golden.epochs, learning_rate, ..Training::default() };
    for sparse in [false, true] {
        let dataset = dataset(&golden, sparse);
        for run in &golden.runs {
            let model = &run.model;
            let splits = std::slice::from_ref(&split);
            let context = Context::default();
            let trainer =
                Trainer::new(&dataset, model.baseline(), training, splits, &context).unwrap();
            let start = run.parameters.iter().map(matrix).collect();
            let trained = trainer.train_from(start, &split, 0, &context).unwrap();
            assert_eq!(trained.first_gradients.len(), run.gradients.len());
            for (k, (ours, theirs)) in
                trained.first_gradients.iter().zip(&run.gradients).enumerate()
            {
                for (i, row) in theirs.iter().enumerate() {
                    for (j, &value) in row.iter().enumerate() {
                        let what = format!("{model:?}, gradient {k} at ({i}, {j})");
                        close(&what, f64::from(ours[(i, j)]), value);
                    }
                }
            }
            assert_eq!(trained.losses.len(), golden.epochs);
            for (epoch, (&ours, &theirs)) in trained.losses.iter().zip(&run.losses).enumerate() {
                close(&format!("{model:?}, loss of epoch {epoch}"), ours, theirs);
            }
            for (node, row) in run.scores.iter().enumerate() {
                for (class, &value) in row.iter().enumerate() {
                    let what = format!("{model:?}, score of node {node}, class {class}");
                    close(&what, trained.scores[(node, class)], value);
                }
            }
        }
    }
}

//! One function per task: prepare, then repeat what is timed.

use crate::data::{dense, norm, read, read_splits};
use crate::limits::Floor;
use crate::protocol::{Findings, serve};
use anyhow::{Context as _, Result};
use gfgcn::context::{Context, Engine};
use gfgcn::data::{Dataset, Labels};
use gfgcn::driver::{Driver, Rows};
use gfgcn::evaluation::{Evaluated, Evaluation};
use gfgcn::filter::Filter;
use gfgcn::graph::Operator;
use gfgcn::head::{Head, Truth};
use gfgcn::linalg::multiply;
use gfgcn::matrix::Matrix;
use gfgcn::model::Predictions;
use gfgcn::ridge::{Candidate, Problem, Purpose, Selection, penalty_grid};
use gfgcn::split::Split;
use gfgcn::tune::Search;
use gfgcn::{Classifier, Design, Model, Ridge};
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;

const DEPTHS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
/// The depth of the features that `train` and `loo` start from.
const SHALLOW: usize = 2;

/// A filter at a depth, with the paper's other parameters.
fn at(name: &str, depth: usize) -> gfgcn::Result<Design> {
    let filter = Filter::named(name, |parameter| (parameter == "depth").then_some(depth as f64));
    filter.map(Design::from)
}

/// One product Â·X.
pub(crate) fn product(data: &Path, operator: Operator) -> Result<()> {
    let data = read(data)?;
    let adjacency = data.graph().adjacency(&operator)?;
    let x = dense(data.features());
    let out = RefCell::new(Matrix::zeros(x.rows(), x.cols()));
    let floor = Floor::of_product(data.graph(), x.cols());
    serve(
        || {
            adjacency.multiply(&x, &mut out.borrow_mut());
            Ok(())
        },
        |()| {
            let check = json!({"norm": norm(out.borrow().as_slice(), x.cols())});
            Ok(Findings::check(check).above(&floor))
        },
    )
}

/// From filtered training features to weights at a given λ.
pub(crate) fn train(data: &Path, splits: &Path, lambda: f64) -> Result<()> {
    let problem = Shallow::prepare(data, splits)?;
    let floor = problem.floor(Selection::fixed(lambda)?)?;
    let context = on_own_threads()?;
    let solve = || {
        let (system, targets) = (Problem::Primal(problem.train.to_f64()), problem.targets());
        let solution = system.solve(targets.matrix(), None, false, lambda.recip(), &context)?;
        Ok(solution.coefficients)
    };
    serve(
        || context.run(solve),
        |weights| {
            let check = json!({
                "weights": norm(weights.as_slice(), weights.cols()),
                "accuracy": problem.accuracy(&weights),
            });
            Ok(Findings::check(check).above(&floor))
        },
    )
}

/// From filtered training features to weights, λ by the least squared left-out error of 25.
pub(crate) fn leave_one_out(data: &Path, splits: &Path) -> Result<()> {
    let problem = Shallow::prepare(data, splits)?;
    let floor = problem.floor(Selection::LeaveOneOut)?;
    let context = on_own_threads()?;
    let solve = || {
        let (system, targets) = (Problem::Primal(problem.train.to_f64()), problem.targets());
        let matrix = targets.matrix().clone();
        let path = system.path(Purpose::LeftOut, matrix, None, false, &context)?;
        let penalties = penalty_grid(path.scale());
        let candidates = targets.judge_left_out(&path, &penalties, &context)?;
        let xi = least_squares(&penalties, &candidates).context("no λ is usable")?;
        Ok((path.solve(xi, &context)?.coefficients, xi))
    };
    serve(
        || context.run(solve),
        |(weights, xi)| {
            let check = json!({"penalty": xi, "accuracy": problem.accuracy(&weights)});
            Ok(Findings::check(check).above(&floor))
        },
    )
}

/// Work begins on one of the threads that share it, as with a call from Python: a caller of its own would wake one of them for
/// every step.
fn on_own_threads() -> Result<Context> {
    Ok(Context::default().with_engine(Engine::with_threads(0)?))
}

fn least_squares(penalties: &[f64], candidates: &[Option<Candidate>]) -> Option<f64> {
    let usable = penalties.iter().zip(candidates).filter_map(|(&xi, c)| Some((xi, (*c)?)));
    usable.min_by(|(_, a), (_, b)| a.squared_error.total_cmp(&b.squared_error)).map(|(xi, _)| xi)
}

/// From loaded data to predictions for all nodes.
pub(crate) fn deep(data: &Path, splits: &Path, filter: &str, depth: usize) -> Result<()> {
    let data = read(data)?;
    let split = read_splits(splits, &data)?.swap_remove(0);
    let (classifier, context) = (Classifier::new(at(filter, depth)?), Context::default());
    serve(
        || {
            let model = classifier.fit(&data, &split, &context)?;
            let predictions = model.predict(&data, &context)?;
            Ok((model, predictions))
        },
        |(model, predictions): (Model, Predictions)| {
            Ok(check_model(&data, &split, &model, &predictions))
        },
    )
}

/// What `fit` does without options, from loaded data to predictions for all nodes.
pub(crate) fn tune(data: &Path, splits: &Path) -> Result<()> {
    let data = read(data)?;
    let split = read_splits(splits, &data)?.swap_remove(0);
    let context = Context::default();
    serve(
        || {
            let model = Search::default().run(&data, &split, &context)?.model;
            let predictions = model.predict(&data, &context)?;
            Ok((model, predictions))
        },
        |(model, predictions): (Model, Predictions)| {
            Ok(check_model(&data, &split, &model, &predictions))
        },
    )
}

/// How good a model is, and which λ it chose.
pub(crate) fn check_model(
    data: &Dataset,
    split: &Split,
    model: &Model,
    predictions: &Predictions,
) -> Findings {
    let right = |&&node: &&usize| data.labels().name(node) == Some(predictions.name(node));
    let hits = split.test().iter().filter(right).count();
    Findings::check(json!({
        "accuracy": percent(hits, split.test().len()),
        "penalty": model.members()[0].lambda().recip(),
    }))
}

/// Every filter at every depth on every split.
pub(crate) fn sweep(data: &Path, splits: &Path, validation: bool) -> Result<()> {
    let selection = if validation { Selection::Validation } else { Selection::LeaveOneOut };
    let data = read(data)?;
    let evaluation = Evaluation {
        designs: Filter::NAMES
            .iter()
            .flat_map(|name| DEPTHS.map(|depth| at(name, depth)))
            .collect::<gfgcn::Result<_>>()?,
        splits: read_splits(splits, &data)?,
        ridge: Ridge { selection, ..Ridge::default() },
        ..Evaluation::default()
    };
    let work = evaluation.explain(&data)?.work();
    let fits = evaluation.designs.len() * evaluation.splits.len();
    let size = evaluation.splits[0].train().len().min(data.features().cols());
    let floor = Floor::new()
        .operations(work.operations - fits as f64 * vector_operations(size))
        .reductions(fits, size, rayon::current_num_threads())
        .rows_of_neighbours(work.bytes, data.graph());
    serve(
        || Ok(evaluation.run(&data, &Context::default())?),
        |results| {
            let mean = results.iter().map(|r: &Evaluated| r.score().mean).sum::<f64>();
            let check = json!({"accuracy": mean / results.len() as f64});
            Ok(Findings::check(check).above(&floor))
        },
    )
}

/// Features filtered by SGC with K = 2, those of the training nodes apart.
struct Shallow {
    data: Dataset,
    split: Split,
    train: Matrix<f32>,
    test: Matrix<f64>,
}

impl Shallow {
    fn prepare(data: &Path, splits: &Path) -> Result<Self> {
        let data = read(data)?;
        let split = read_splits(splits, &data)?.swap_remove(0);
        let designs = [Filter::sgc(SHALLOW)?.into()];
        let driver = Driver::new(&data, &designs, Rows::All, 0)?;
        let filtered = driver.run(0..1, &Context::default())?.remove(0);
        let (train, test) = (filtered.of(split.train()).to_f32(), filtered.of(split.test()));
        drop(driver);
        Ok(Shallow { data, split, train, test })
    }

    /// The least that solving takes, from the filtered features on.
    fn floor(&self, selection: Selection) -> Result<Floor> {
        let ridge = Ridge { selection, ..Ridge::default() };
        let classifier = Classifier { ridge, ..Classifier::new(Filter::sgc(SHALLOW)?) };
        let systems = classifier.explain(&self.data, &self.split)?.solve;
        let operations = systems.iter().map(|systems| systems.operations as f64).sum::<f64>();
        // A given λ is solved by Cholesky's factorisation, in single precision before it is refined.
        if selection != Selection::LeaveOneOut {
            return Ok(Floor::new().single_operations(operations));
        }
        let size = self.train.rows().min(self.train.cols());
        // One thread reduces, and the others multiply meanwhile.
        let floor = Floor::new().operations(operations - vector_operations(size));
        Ok(floor.reductions(1, size, rayon::current_num_threads()))
    }

    fn targets(&self) -> Truth {
        let labels = self.data.labels();
        let classes = classes_of(labels, self.split.train()).into_iter().map(Some);
        Truth::of_classes(&Head::classes(labels.classes().to_vec()), classes.collect())
    }

    /// Test accuracy of linear weights, in percent.
    fn accuracy(&self, weights: &Matrix<f64>) -> f64 {
        let scores = multiply(&self.test, weights, &Context::default()).expect("nobody cancels");
        let truth = classes_of(self.data.labels(), self.split.test());
        let largest = |row: &[f64]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        let right = |&(i, &class): &(usize, &u32)| largest(scores.row(i)) == Some(class as usize);
        percent(truth.iter().enumerate().filter(right).count(), truth.len())
    }
}

/// Operations of a reduction to tridiagonal form that are products of a matrix and a vector: half of them.
fn vector_operations(size: usize) -> f64 {
    2.0 / 3.0 * (size as f64).powi(3)
}

fn classes_of(labels: &Labels, nodes: &[usize]) -> Vec<u32> {
    nodes.iter().map(|&node| labels.get(node).expect("the nodes of splits have labels")).collect()
}

fn percent(hits: usize, total: usize) -> f64 {
    100.0 * hits as f64 / total as f64
}

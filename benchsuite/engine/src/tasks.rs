//! One function per task: prepare, then repeat what is timed.

use crate::data::{dense, norm, read, read_splits};
use crate::protocol::{Findings, serve};
use anyhow::{Context, Result};
use clap::ValueEnum;
use gfgcn::data::{Dataset, Labels};
use gfgcn::evaluation::{Evaluation, Outcome};
use gfgcn::filter::{DEFAULT_TAU, DEFAULT_TIME, Filter, FilterBank, Tolerance, propagate};
use gfgcn::graph::{Normalization, Propagator};
use gfgcn::linalg::multiply;
use gfgcn::matrix::Matrix;
use gfgcn::model::Predictions;
use gfgcn::ridge::{Candidate, Problem, Targets, penalty_grid};
use gfgcn::split::Split;
use gfgcn::{Classifier, Model, Options};
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;

const DEPTHS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
/// The depth of the features that `train` and `loo` start from.
const SHALLOW: usize = 2;
/// Bytes that a sweep may hold filtered features in.
const MEMORY: u64 = 8 << 30;

/// The paper's filters.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FilterName {
    Sgc,
    Ssgc,
    Dgc,
}

impl FilterName {
    fn at(self, depth: usize) -> gfgcn::Result<Filter> {
        match self {
            FilterName::Sgc => Filter::sgc(depth),
            FilterName::Ssgc => Filter::ssgc(depth, DEFAULT_TAU),
            FilterName::Dgc => Filter::dgc(depth, DEFAULT_TIME),
        }
    }
}

/// One product Â·X.
pub(crate) fn product(data: &Path, normalization: Normalization) -> Result<()> {
    let data = read(data)?;
    let propagator = Propagator::new(data.graph(), normalization);
    let x = dense(data.features());
    let out = RefCell::new(Matrix::zeros(x.rows(), x.cols()));
    serve(
        || {
            propagator.multiply(&x, &mut out.borrow_mut());
            Ok(())
        },
        |()| Ok(Findings::check(json!({"norm": norm(out.borrow().as_slice(), x.cols())}))),
    )
}

/// From filtered training features to weights at a given λ.
pub(crate) fn train(data: &Path, splits: &Path, lambda: f64) -> Result<()> {
    let problem = Shallow::prepare(data, splits)?;
    serve(
        || {
            let system = Problem::Primal(problem.train.to_f64());
            Ok(system.solve(&problem.targets(), false, lambda.recip())?.coefficients)
        },
        |weights| {
            Ok(Findings::check(json!({
                "weights": norm(weights.as_slice(), weights.cols()),
                "accuracy": problem.accuracy(&weights),
            })))
        },
    )
}

/// From filtered training features to weights, λ by the least squared left-out error of 25.
pub(crate) fn leave_one_out(data: &Path, splits: &Path) -> Result<()> {
    let problem = Shallow::prepare(data, splits)?;
    let classes = problem.data.labels().classes().len();
    serve(
        || {
            let path = Problem::Primal(problem.train.to_f64()).path(problem.targets(), false);
            let penalties = penalty_grid(path.scale());
            let candidates = path.leave_one_out_candidates(&penalties, classes);
            let xi = least_squares(&penalties, &candidates).context("no λ is usable")?;
            Ok((path.solve(xi)?.coefficients, xi))
        },
        |(weights, xi)| {
            Ok(Findings::check(json!({
                "penalty": xi,
                "accuracy": problem.accuracy(&weights),
            })))
        },
    )
}

fn least_squares(penalties: &[f64], candidates: &[Option<Candidate>]) -> Option<f64> {
    let usable = penalties.iter().zip(candidates).filter_map(|(&xi, c)| Some((xi, (*c)?)));
    usable.min_by(|(_, a), (_, b)| a.squared_error.total_cmp(&b.squared_error)).map(|(xi, _)| xi)
}

/// From loaded data to predictions for all nodes.
pub(crate) fn deep(data: &Path, splits: &Path, filter: FilterName, depth: usize) -> Result<()> {
    let data = read(data)?;
    let split = read_splits(splits, &data)?.swap_remove(0);
    let classifier = Classifier::new(filter.at(depth)?);
    serve(
        || {
            let model = classifier.fit(&data, &split)?;
            let predictions = model.predict(&data)?;
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
        "penalty": model.lambda().recip(),
    }))
}

/// Every filter at every depth on every split.
pub(crate) fn sweep(data: &Path, splits: &Path) -> Result<()> {
    let data = read(data)?;
    let evaluation = Evaluation {
        filters: [FilterName::Sgc, FilterName::Ssgc, FilterName::Dgc]
            .iter()
            .flat_map(|filter| DEPTHS.iter().map(|&depth| filter.at(depth)))
            .collect::<gfgcn::Result<_>>()?,
        splits: read_splits(splits, &data)?,
        options: Options::default(),
        memory: MEMORY,
    };
    serve(
        || Ok(evaluation.run(&data, &|| {})?),
        |outcomes| {
            let mean = outcomes.iter().map(|o: &Outcome| o.accuracy().mean).sum::<f64>();
            Ok(Findings::check(json!({"accuracy": mean / outcomes.len() as f64})))
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
        let propagator = Propagator::new(data.graph(), Normalization::Symmetric);
        let bank = FilterBank::new(&[Filter::sgc(SHALLOW)?], Tolerance::default());
        let filtered = propagate::<f32>(&propagator, &bank, data.features(), None).remove(0);
        let train = filtered.select(split.train().iter().copied()).to_f32();
        let test = filtered.select(split.test().iter().copied());
        Ok(Shallow { data, split, train, test })
    }

    fn targets(&self) -> Targets {
        let labels = self.data.labels();
        Targets::encode(classes_of(labels, self.split.train()), labels.classes().len())
    }

    /// Test accuracy of linear weights, in percent.
    fn accuracy(&self, weights: &Matrix<f64>) -> f64 {
        let scores = multiply(&self.test, weights);
        let truth = classes_of(self.data.labels(), self.split.test());
        let largest = |row: &[f64]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        let right = |&(i, &class): &(usize, &u32)| largest(scores.row(i)) == Some(class as usize);
        percent(truth.iter().enumerate().filter(right).count(), truth.len())
    }
}

fn classes_of(labels: &Labels, nodes: &[usize]) -> Vec<u32> {
    nodes.iter().map(|&node| labels.get(node).expect("the nodes of splits have labels")).collect()
}

fn percent(hits: usize, total: usize) -> f64 {
    100.0 * hits as f64 / total as f64
}

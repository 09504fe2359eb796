//! Training: from a dataset and a split to a [`Model`].

use crate::data::{Dataset, Labels};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::filter::{Filter, Tolerance};
use crate::graph::{Graph, Normalization, Propagator};
use crate::kernel::Kernel;
use crate::linalg::{gram_of_rows, multiply, multiply_transposed};
use crate::matrix::Matrix;
use crate::model::{Model, Training};
use crate::plan::{Explanation, Plan, Scoring, Systems};
use crate::predictor::Predictor;
use crate::ridge::{
    Candidate, Problem, RidgePath, Selection, Solution, Targets, best, no_usable_penalty,
    penalty_grid,
};
use crate::split::Split;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Everything that decides a model besides the data and the filter.
///
/// | field | meaning | default |
/// |---|---|---|
/// | `kernel` | similarity of filtered features | linear |
/// | `selection` | how λ is chosen | exact leave-one-out |
/// | `normalization` | D̃^-½ Ã D̃^-½ or D̃⁻¹ Ã | symmetric |
/// | `row_normalize` | divide each node's features by their sum first | no |
/// | `intercept` | fit a constant per class | no |
/// | `tolerance` | what cutting a filter's series off may change, relative to its largest value | 1e-7 |
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The similarity of two nodes' filtered features.
    pub kernel: Kernel,
    /// How λ is chosen.
    pub selection: Selection,
    /// How the adjacency is normalised.
    pub normalization: Normalization,
    /// Whether each node's features are divided by the sum of their sizes first.
    pub row_normalize: bool,
    /// Whether a constant is fitted per class.
    pub intercept: bool,
    /// What [lowering the filter](crate::filter::FilterBank::new) may change.
    pub tolerance: Tolerance,
}

/// A filter and options, ready to be trained in closed form.
///
/// ```
/// use gfgcn::{Classifier, data::{Dataset, Labels}, filter::Filter, graph::Graph};
/// use gfgcn::{features::Features, matrix::Matrix, split::Split};
///
/// // Two triangles joined by an edge; one label in each.
/// let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)];
/// let (graph, _) = Graph::from_edges(6, &edges, None)?;
/// let features = Features::dense(Matrix::from_fn(6, 6, |i, j| f32::from(i == j)))?;
/// let labels = Labels::from_names(&[Some("left"), None, None, None, None, Some("right")]);
/// let data = Dataset::new("triangles", graph, features, labels)?;
///
/// let model = Classifier::new(Filter::ssgc(4, 0.05)?)
///     .fit(&data, &Split::all_labelled(data.labels())?)?;
/// let predictions = model.predict(&data)?;
/// assert_eq!(predictions.name(1), "left");
/// assert_eq!(predictions.name(4), "right");
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classifier {
    filter: Filter,
    options: Options,
}

impl Classifier {
    /// A classifier with the default options.
    pub fn new(filter: Filter) -> Self {
        Classifier { filter, options: Options::default() }
    }

    /// Replaces the options.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Trains on the training part of a split (the validation part chooses λ where asked for).
    ///
    /// Only classes with a training node can be predicted.
    ///
    /// # Errors
    /// A training or validation node without a label, an empty validation part where it is needed,
    /// or a λ too large for double precision.
    pub fn fit(&self, dataset: &Dataset, split: &Split) -> Result<Model> {
        let task = Task::new(dataset.labels(), split, &self.options)?;
        let features = self.options.prepare(dataset.features());
        let propagator = Propagator::new(dataset.graph(), self.options.normalization);
        let plan = self.plan_for(&task, dataset.graph(), &features);
        let propagator = propagator.prepared_for(plan.multiplied_columns());
        let filtered = plan.run(&plan.passes()[0], &propagator, &features).remove(0);
        let select = |nodes: &[usize]| plan.select(&filtered, nodes);
        let fitted = self.options.fit(&task, select(task.train), || select(task.validation))?;
        Ok(fitted.into_model(self, &task, dataset))
    }

    /// What [`Classifier::fit`] will do, and what it costs.
    ///
    /// # Errors
    /// As [`Classifier::fit`].
    pub fn explain(&self, dataset: &Dataset, split: &Split) -> Result<Explanation> {
        let plan = self.plan(dataset, split)?;
        let (train, features) = (split.train().len(), dataset.features().cols());
        let fixed = matches!(self.options.selection, Selection::Fixed(_));
        let systems = Systems::new(1, train, features, self.options.kernel.is_linear(), fixed);
        Ok(plan.explain(systems, |_| Scoring::Later))
    }

    fn plan(&self, dataset: &Dataset, split: &Split) -> Result<Plan> {
        let task = Task::new(dataset.labels(), split, &self.options)?;
        Ok(self.plan_for(&task, dataset.graph(), dataset.features()))
    }

    fn plan_for(&self, task: &Task<'_>, graph: &Graph, features: &Features) -> Plan {
        let rows = [task.train, task.validation].concat();
        let (filters, tolerance) = (&[self.filter], self.options.tolerance);
        Plan::new(graph, features, filters, tolerance, Some(rows), u64::MAX)
    }

    /// Bytes of memory that [`Classifier::fit`] takes beyond the dataset, about.
    ///
    /// # Errors
    /// As [`Classifier::fit`].
    pub fn fit_memory(&self, dataset: &Dataset, split: &Split) -> Result<u64> {
        let plan = self.plan(dataset, split)?;
        let rows = split.train().len() as u64;
        Ok(plan.cost().memory + self.options.solve_memory(rows, dataset.features().cols() as u64))
    }
}

impl Options {
    /// The features as the filter sees them: divided by their sums where that was asked for.
    pub fn prepare<'a>(&self, features: &'a Features) -> Cow<'a, Features> {
        if self.row_normalize {
            Cow::Owned(features.clone().row_normalized())
        } else {
            Cow::Borrowed(features)
        }
    }

    /// Bytes for one closed-form solution: the training features, the smaller system, the path.
    pub(crate) fn solve_memory(&self, train: u64, features: u64) -> u64 {
        let size = if self.kernel.is_linear() { train.min(features) } else { train };
        8 * (train * features * 2 + size * size * 2 + train * size)
    }

    /// The ridge problem of filtered training features (training nodes × features) on its smaller
    /// side; the kernel with its width filled in; and the features where predictions need them.
    pub(crate) fn problem(
        &self,
        train: Matrix<f64>,
    ) -> Result<(Kernel, Problem, Option<Matrix<f64>>)> {
        let overflow = || {
            Error::Data(
                "the filtered features overflow single precision; divide the features by a large \
                 number first (predictions do not depend on their scale)"
                    .into(),
            )
        };
        if self.kernel.is_linear() && train.rows() <= train.cols() {
            let gram =
                gram_of_rows(&train, &crate::context::Context::default()).expect("never cancelled");
            // A squared length is finite exactly if every entry is.
            return if (0..gram.rows()).all(|i| gram[(i, i)].is_finite()) {
                Ok((self.kernel, Problem::Dual(gram), Some(train)))
            } else {
                Err(overflow())
            };
        }
        if train.as_slice().iter().any(|value| !value.is_finite()) {
            return Err(overflow());
        }
        let kernel = self.kernel.resolve(&train);
        if kernel.is_linear() {
            return Ok((kernel, Problem::Primal(train), None));
        }
        // Other kernels only have the dual side.
        let gram = kernel.matrix(&train, &train);
        Ok((kernel, Problem::Dual(gram), Some(train)))
    }

    /// Solves the closed form on filtered training features (training nodes × features).
    pub(crate) fn fit(
        &self,
        task: &Task<'_>,
        train: Matrix<f64>,
        validation: impl FnOnce() -> Matrix<f64>,
    ) -> Result<Fitted> {
        let (kernel, problem, train) = self.problem(train)?;
        let targets = task.targets();
        let predictor = |solution: Solution| match &train {
            Some(train) if kernel.is_linear() => {
                let weights = multiply_transposed(
                    train,
                    &solution.coefficients,
                    &crate::context::Context::default(),
                )
                .expect("never cancelled");
                Predictor::linear(weights, solution.intercept)
            }
            Some(train) => Predictor::kernel(kernel, train, solution),
            None => Predictor::linear(solution.coefficients, solution.intercept),
        };
        if let Selection::Fixed(lambda) = self.selection {
            let solution = problem.solve(&targets, self.intercept, lambda.recip())?;
            return Ok(Fitted { kernel, lambda, selected: None, predictor: predictor(solution) });
        }
        let path = problem.path(targets, self.intercept);
        let penalties = penalty_grid(path.scale());
        let candidates = match self.selection {
            Selection::Validation => {
                let features = validation();
                let inputs = match &train {
                    Some(train) => kernel.matrix(&features, train),
                    None => features,
                };
                task.validation_candidates(&path, &penalties, &inputs)
            }
            _ => path.leave_one_out_candidates(&penalties, task.classes.len()),
        };
        let position = best(&candidates).ok_or_else(no_usable_penalty)?;
        let (xi, selected) = (penalties[position], candidates[position]);
        Ok(Fitted { kernel, lambda: xi.recip(), selected, predictor: predictor(path.solve(xi)?) })
    }
}

/// The nodes and classes of one training problem.
#[derive(Clone, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) train: &'a [usize],
    /// Empty unless the selection needs it.
    pub(crate) validation: &'a [usize],
    /// The classes that have a training node, as numbers of the dataset's classes.
    pub(crate) classes: Vec<u32>,
    /// The classes of the training nodes, as positions in `classes`.
    train_classes: Vec<u32>,
    /// Likewise of the validation nodes; a class without a training node is `u32::MAX`, which no
    /// prediction equals.
    validation_classes: Vec<u32>,
}

impl<'a> Task<'a> {
    pub(crate) fn new(labels: &Labels, split: &'a Split, options: &Options) -> Result<Self> {
        let train = split.train();
        if train.is_empty() {
            return Err(Error::Data("the training part of the split is empty".into()));
        }
        let validation =
            if options.selection == Selection::Validation { split.validation() } else { &[] };
        if options.selection == Selection::Validation && validation.is_empty() {
            return Err(Error::Data(
                "λ is to be chosen on the validation part, but the split has none; \
                 choose it by leave-one-out instead"
                    .into(),
            ));
        }
        let mut position = vec![u32::MAX; labels.classes().len()];
        let train_labels = labels.of_part("training", train)?;
        train_labels.iter().for_each(|&class| position[class as usize] = 0);
        let mut classes = Vec::new();
        for (class, position) in position.iter_mut().enumerate() {
            if *position == 0 {
                *position = classes.len() as u32;
                classes.push(class as u32);
            }
        }
        let validation_labels = labels.of_part("validation", validation)?;
        let validation_classes =
            validation_labels.iter().map(|&class| position[class as usize]).collect();
        let train_classes = train_labels.iter().map(|&class| position[class as usize]).collect();
        Ok(Task { train, validation, classes, train_classes, validation_classes })
    }

    /// How well each penalty does on the validation nodes; `inputs` are their filtered features
    /// (primal) or kernel values with the training nodes (dual).
    fn validation_candidates(
        &self,
        path: &RidgePath,
        penalties: &[f64],
        inputs: &Matrix<f64>,
    ) -> Vec<Option<Candidate>> {
        let classes = self.classes.len();
        let targets = Targets::encode(self.validation_classes.clone(), classes);
        let (solutions, usable) = path.solve_side_by_side(penalties);
        let mut scores =
            multiply(inputs, &solutions.coefficients, &crate::context::Context::default())
                .expect("never cancelled");
        scores.add_to_rows(1.0, &solutions.intercept);
        let mut candidates = vec![Candidate::default(); penalties.len()];
        for (i, &class) in targets.classes().iter().enumerate() {
            let target = targets.matrix().row(i);
            for (candidate, row) in candidates.iter_mut().zip(scores.row(i).chunks(target.len())) {
                candidate.judge(row, target, class, classes);
            }
        }
        candidates.into_iter().zip(usable).map(|(c, usable)| usable.then_some(c)).collect()
    }

    pub(crate) fn targets(&self) -> Targets {
        Targets::encode(self.train_classes.clone(), self.classes.len())
    }
}

/// The closed-form solution for one task.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) kernel: Kernel,
    pub(crate) lambda: f64,
    pub(crate) selected: Option<Candidate>,
    pub(crate) predictor: Predictor,
}

impl Fitted {
    fn into_model(self, classifier: &Classifier, task: &Task<'_>, dataset: &Dataset) -> Model {
        let classes = task.classes.iter();
        Model {
            filter: classifier.filter,
            options: Options { kernel: self.kernel, ..classifier.options },
            lambda: self.lambda,
            classes: classes
                .map(|&class| dataset.labels().classes()[class as usize].clone())
                .collect(),
            feature_names: dataset.feature_names().map(<[String]>::to_vec),
            training: Training {
                dataset: dataset.name().to_owned(),
                fingerprint: dataset.fingerprint(),
                nodes: dataset.nodes(),
                training_nodes: task.train.len(),
                selection_accuracy: self.selected.map(|candidate| candidate.accuracy()),
            },
            predictor: self.predictor,
        }
    }
}

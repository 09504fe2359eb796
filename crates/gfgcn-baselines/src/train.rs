//! The one training loop: every model, full batch, Adam.

use crate::adam::Adam;
use crate::model::Baseline;
use crate::network::{Dual, Logistic, Parameter};
use crate::random::{Key, initial_weights};
use crate::tape::{Inputs, Tape, Var};
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::filter::{FilterBank, Propagated, Tolerance, propagate};
use gfgcn::graph::{Normalization, Propagator};
use gfgcn::linalg;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::{Targets, decode};
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How models are trained, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Passes over the training nodes, 1 to 1 000 000; the paper's 200 by default.
    pub epochs: usize,
    /// Adam's learning rate, positive; the paper's 0.01 by default.
    pub learning_rate: f64,
    /// L2 regularisation of all parameters, 0 or more; without it each model has its own.
    pub weight_decay: Option<f64>,
    /// With it, the validation part is looked at after every epoch: training stops when its accuracy
    /// has not risen for so many epochs, and the best weights are kept. Off by default.
    pub patience: Option<usize>,
    /// How the adjacency is normalised.
    pub normalization: Normalization,
    /// Whether each node's features are divided by their sum first.
    pub row_normalize: bool,
    /// What cutting a filter's series off may change.
    pub tolerance: Tolerance,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            epochs: 200,
            learning_rate: 0.01,
            weight_decay: None,
            patience: None,
            normalization: Normalization::default(),
            row_normalize: false,
            tolerance: Tolerance::default(),
        }
    }
}

impl Training {
    /// Refuses numbers out of range, naming them.
    pub fn check(&self) -> Result<()> {
        const MAX_EPOCHS: usize = 1_000_000;
        if !(1..=MAX_EPOCHS).contains(&self.epochs) {
            let range = format!("a whole number from 1 to {MAX_EPOCHS}");
            return Err(Error::parameter("epochs", self.epochs, range));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            let range = "a positive number";
            return Err(Error::parameter("learning rate", self.learning_rate, range));
        }
        if let Some(decay) = self.weight_decay.filter(|d| !(*d >= 0.0 && d.is_finite())) {
            return Err(Error::parameter("weight decay", decay, "a number not below 0"));
        }
        if self.patience == Some(0) {
            return Err(Error::parameter("patience", 0, "a whole number not below 1"));
        }
        Ok(())
    }
}

/// What is known after an epoch.
#[derive(Clone, Copy, Debug)]
pub struct Epoch {
    /// Counted from 0.
    pub number: usize,
    /// What was minimised (without the weight decay), before this epoch's update.
    pub loss: f64,
    /// The share of validation nodes that are predicted after the update, 0 to 1, where it is
    /// looked at.
    pub validation: Option<f64>,
}

/// A trained model's scores, and how it got there.
#[derive(Clone, Debug)]
pub struct Trained {
    /// Nodes × score columns.
    pub scores: Matrix<f64>,
    /// The classes that have a training node, as numbers of the dataset's classes.
    pub classes: Vec<u32>,
    /// One per epoch, before its update.
    pub losses: Vec<f64>,
    /// Of the first epoch, one per parameter: the first is that of the first weight W.
    pub first_gradients: Vec<Matrix<f32>>,
    /// One per epoch, where the validation part was looked at.
    pub validation: Vec<f64>,
    /// Time of the epochs, without preparation and prediction.
    pub time: Duration,
}

impl Trained {
    /// The predicted classes of some nodes, as numbers of the dataset's classes.
    pub fn predict(&self, nodes: &[usize]) -> Vec<u32> {
        predictions(&self.scores, &self.classes, nodes.iter().copied())
    }
}

fn predictions(
    scores: &Matrix<f64>,
    classes: &[u32],
    rows: impl Iterator<Item = usize>,
) -> Vec<u32> {
    rows.map(|row| classes[decode(scores.row(row), classes.len()) as usize]).collect()
}

/// A model and the data that its runs share.
///
/// ```
/// use gfgcn_baselines::{Baseline, Gcn, Trainer, Training};
/// use gfgcn::{data::npz, metrics::test_accuracy, split::{Ratio, Split}};
/// use std::ops::ControlFlow;
///
/// let archive = gfgcn_datasets::find("cora").unwrap().bytes;
/// let data = npz::from_bytes(archive, "cora")?.largest_component();
/// let split = Split::stratified(data.labels(), Ratio::PAPER, 0)?;
///
/// let training = Training { epochs: 20, ..Training::default() };
/// let trainer = Trainer::new(&data, Baseline::Gcn(Gcn::new(2)), training, &[split.clone()])?;
/// let trained = trainer.train(&split, 0, &mut |_| ControlFlow::Continue(()))?;
/// let accuracy = test_accuracy(data.labels(), &split, &trained.predict(split.test()));
/// assert!(accuracy > 50.0 && trained.losses[19] < trained.losses[0]);
/// # Ok::<(), gfgcn::Error>(())
/// ```
pub struct Trainer<'a> {
    labels: &'a Labels,
    dataset: &'a Dataset,
    model: Baseline,
    training: Training,
    features: Cow<'a, Features>,
    propagator: Propagator<'a>,
    filtered: Option<Filtered>,
}

/// Filtered features of the nodes that any split trains on.
struct Filtered {
    bank: FilterBank,
    rows: Propagated<f32>,
    /// The row of a node; `u32::MAX` for none.
    row_of: Vec<u32>,
}

impl Filtered {
    fn select(&self, nodes: &[usize]) -> Matrix<f32> {
        let place = |&node: &usize| {
            let row = self.row_of[node];
            assert!(row != u32::MAX, "node {node} is in no split that the trainer was made for");
            row as usize
        };
        self.rows.select(nodes.iter().map(place)).to_f32()
    }
}

impl<'a> Trainer<'a> {
    /// Prepares a model for runs on some splits: features are filtered once for all of them.
    ///
    /// # Errors
    /// Parameters out of range.
    pub fn new(
        dataset: &'a Dataset,
        model: Baseline,
        training: Training,
        splits: &[Split],
    ) -> Result<Self> {
        model.check()?;
        training.check()?;
        let features = if training.row_normalize {
            Cow::Owned(dataset.features().clone().row_normalized())
        } else {
            Cow::Borrowed(dataset.features())
        };
        let propagator = Propagator::new(dataset.graph(), training.normalization);
        let filtered = model.filter().map(|filter| {
            let bank = FilterBank::new(&[filter], training.tolerance);
            let mut row_of = vec![u32::MAX; dataset.nodes()];
            let mut nodes = Vec::new();
            for split in splits {
                let validation = training.patience.map_or(&[][..], |_| split.validation());
                for &node in split.train().iter().chain(validation) {
                    if row_of[node] == u32::MAX {
                        row_of[node] = nodes.len() as u32;
                        nodes.push(node);
                    }
                }
            }
            let rows = propagate(&propagator, &bank, &*features, Some(&nodes)).swap_remove(0);
            Filtered { bank, rows, row_of }
        });
        let labels = dataset.labels();
        Ok(Trainer { labels, dataset, model, training, features, propagator, filtered })
    }

    /// Trains on a split. `watch` is told after every epoch and may end the training there.
    ///
    /// The seed decides the initial weights and the dropouts; the same seed gives the same bits,
    /// whatever the number of threads.
    ///
    /// # Errors
    /// A training or validation node without a label, patience without a validation part, or a loss
    /// that is not finite any more.
    pub fn train(
        &self,
        split: &Split,
        seed: u64,
        watch: &mut dyn FnMut(&Epoch) -> ControlFlow<()>,
    ) -> Result<Trained> {
        let task = Task::new(self.labels, split, self.training.patience.is_some())?;
        let run = Run::new(self, &task);
        let mut random = initial_weights(seed);
        let start = run.parameters.iter().map(|parameter| parameter.start(&mut random)).collect();
        run.train(start, seed, watch)
    }

    /// As [`Trainer::train`], but starting from given parameters: in the order of the model's formula,
    /// weights as inputs × outputs, biases and attention vectors as one row.
    ///
    /// # Errors
    /// Also if the parameters have other shapes than the model's.
    pub fn train_from(
        &self,
        parameters: Vec<Matrix<f32>>,
        split: &Split,
        seed: u64,
        watch: &mut dyn FnMut(&Epoch) -> ControlFlow<()>,
    ) -> Result<Trained> {
        let task = Task::new(self.labels, split, self.training.patience.is_some())?;
        let run = Run::new(self, &task);
        Error::check_size("parameters of the model", run.parameters.len(), parameters.len())?;
        for (k, (expected, given)) in run.parameters.iter().zip(&parameters).enumerate() {
            let (rows, cols) = expected.shape();
            Error::check_size(format!("rows of parameter {k}"), rows, given.rows())?;
            Error::check_size(format!("columns of parameter {k}"), cols, given.cols())?;
        }
        run.train(parameters, seed, watch)
    }
}

/// The nodes and classes of one run.
struct Task<'a> {
    train: &'a [usize],
    validation: &'a [usize],
    /// The classes that have a training node, as numbers of the dataset's classes.
    classes: Vec<u32>,
    /// The classes of the training nodes, as positions in `classes`.
    train_classes: Vec<u32>,
    /// The validation nodes' classes, as numbers of the dataset's classes.
    validation_classes: Vec<u32>,
}

impl<'a> Task<'a> {
    fn new(labels: &Labels, split: &'a Split, looks_at_validation: bool) -> Result<Self> {
        let of_nodes = |part: &str, nodes: &[usize]| -> Result<Vec<u32>> {
            let class = |&node: &usize| {
                labels.get(node).ok_or_else(|| {
                    Error::Data(format!("node {node} is in the {part} part but has no label"))
                })
            };
            nodes.iter().map(class).collect()
        };
        let validation = if looks_at_validation { split.validation() } else { &[] };
        if looks_at_validation && validation.is_empty() {
            return Err(Error::Data(
                "training is to stop by the validation part, but the split has none".into(),
            ));
        }
        let train_labels = of_nodes("training", split.train())?;
        let mut classes = train_labels.clone();
        classes.sort_unstable();
        classes.dedup();
        let position = |class: &u32| classes.partition_point(|c| c < class) as u32;
        Ok(Task {
            train: split.train(),
            validation,
            train_classes: train_labels.iter().map(position).collect(),
            validation_classes: of_nodes("validation", validation)?,
            classes,
        })
    }
}

/// One run: what is put on the tape, and what is read from it.
struct Run<'a> {
    trainer: &'a Trainer<'a>,
    task: &'a Task<'a>,
    parameters: Vec<Parameter>,
    constants: Vec<Matrix<f32>>,
    /// The rows of the scores that the loss is about.
    loss_rows: Vec<u32>,
    /// Filtered features of the training nodes, where the scores of other nodes need them.
    train: Option<Matrix<f32>>,
}

impl<'a> Run<'a> {
    fn new(trainer: &'a Trainer<'a>, task: &'a Task<'a>) -> Self {
        let (features, classes) = (trainer.features.cols(), task.classes.len());
        if let Some(network) = trainer.model.network() {
            return Run {
                trainer,
                task,
                parameters: network.parameters(features, classes),
                constants: Vec::new(),
                loss_rows: task.train.iter().map(|&node| node as u32).collect(),
                train: None,
            };
        }
        let filtered = trainer.filtered.as_ref().expect("a model with a filter");
        let train = filtered.select(task.train);
        let validation = (!task.validation.is_empty()).then(|| filtered.select(task.validation));
        let loss_rows = (0..task.train.len() as u32).collect();
        if let Baseline::Dual(_) = trainer.model {
            let targets = Targets::encode(task.train_classes.clone(), classes).matrix().to_f32();
            let exact = train.to_f64();
            let mut constants = vec![linalg::gram_of_rows(&exact).to_f32(), targets];
            constants.extend(validation.map(|validation| {
                linalg::multiply_by_transposed(&validation.to_f64(), &exact).to_f32()
            }));
            let parameters = Dual::parameters(task.train.len(), constants[1].cols());
            Run { trainer, task, parameters, constants, loss_rows, train: Some(train) }
        } else {
            let parameters = Logistic::parameters(features, classes);
            let constants = std::iter::once(train).chain(validation).collect();
            Run { trainer, task, parameters, constants, loss_rows, train: None }
        }
    }

    fn train(
        mut self,
        start: Vec<Matrix<f32>>,
        seed: u64,
        watch: &mut dyn FnMut(&Epoch) -> ControlFlow<()>,
    ) -> Result<Trained> {
        let (trainer, training) = (self.trainer, &self.trainer.training);
        let inputs = Inputs::new(&trainer.features, trainer.dataset.graph(), &trainer.propagator);
        let mut tape = Tape::new(&inputs, start, std::mem::take(&mut self.constants));
        let decay = self.parameters.iter().map(|p| training.weight_decay.unwrap_or(p.decay));
        let sizes: Vec<usize> = self.parameters.iter().map(Parameter::entries).collect();
        let mut adam = Adam::new(training.learning_rate, decay.collect(), &sizes);
        let mut best = training.patience.map(Best::new);
        let mut losses = Vec::new();
        let mut first_gradients = Vec::new();
        let mut validation = Vec::new();
        let clock = Instant::now();
        for number in 0..training.epochs {
            tape.rewind(Some(Key::of_run(seed).part(number as u64)));
            let var = self.loss(&mut tape);
            let loss = f64::from(tape.value(&var)[(0, 0)]);
            if !loss.is_finite() {
                return Err(diverged(trainer.model, number));
            }
            losses.push(loss);
            tape.backward(&var);
            if number == 0 {
                first_gradients = tape.gradients();
            }
            adam.begin_step();
            tape.update(|k, parameter, gradient| adam.update(k, parameter, gradient));
            let mut epoch = Epoch { number, loss, validation: None };
            if let Some(best) = &mut best {
                let accuracy = self.validation_accuracy(&mut tape);
                validation.push(accuracy);
                epoch.validation = Some(accuracy);
                best.look(number, accuracy, &tape);
            }
            let tired = best.as_ref().is_some_and(|best| best.is_long_ago(number));
            if watch(&epoch).is_break() || tired {
                break;
            }
        }
        let time = clock.elapsed();
        if let Some(best) = best {
            tape.set_parameters(&best.parameters);
        }
        let scores = self.scores(&mut tape);
        if scores.as_slice().iter().any(|score| !score.is_finite()) {
            return Err(diverged(trainer.model, losses.len()));
        }
        let classes = self.task.classes.clone();
        Ok(Trained { scores, classes, losses, first_gradients, validation, time })
    }

    fn loss(&self, tape: &mut Tape<'_>) -> Var {
        let scores = match (&self.trainer.model, self.trainer.model.network()) {
            (_, Some(network)) => network.scores(tape),
            (Baseline::Dual(dual), _) => return dual.objective(tape),
            _ => Logistic::scores(tape, 0),
        };
        tape.cross_entropy(&scores, &self.loss_rows, &self.task.train_classes)
    }

    /// The scores of all nodes, without dropout.
    fn scores(&self, tape: &mut Tape<'_>) -> Matrix<f64> {
        tape.rewind(None);
        match self.trainer.model {
            Baseline::Logistic(_) => {
                let [weights, bias] = [0, 1].map(|k| tape.value(&tape.parameter(k)).to_f64());
                let mut scores = self.filtered_times(&weights);
                scores.add_to_rows(1.0, bias.as_slice());
                scores
            }
            Baseline::Dual(Dual { lambda, .. }) => {
                let train = self.train.as_ref().expect("kept for the dual").to_f64();
                let multipliers = tape.value(&tape.parameter(0)).to_f64();
                let mut weights = linalg::multiply_transposed(&train, &multipliers);
                weights.as_mut_slice().iter_mut().for_each(|w| *w *= lambda);
                self.filtered_times(&weights)
            }
            model => {
                let network = model.network().expect("every other model is a network");
                let scores = network.scores(tape);
                tape.value(&scores).to_f64()
            }
        }
    }

    /// p(Â)(X W): as many columns as W are filtered, not the features.
    fn filtered_times(&self, weights: &Matrix<f64>) -> Matrix<f64> {
        let filtered = self.trainer.filtered.as_ref().expect("a model with a filter");
        let product = self.trainer.features.times(weights);
        propagate::<f64>(&self.trainer.propagator, &filtered.bank, &product, None)[0].to_matrix()
    }

    /// The share of validation nodes that are predicted, 0 to 1.
    fn validation_accuracy(&self, tape: &mut Tape<'_>) -> f64 {
        tape.rewind(None);
        let task = self.task;
        let (scores, rows) = match (&self.trainer.model, self.trainer.model.network()) {
            (_, Some(network)) => (network.scores(tape), Some(task.validation)),
            // The factor λ changes no prediction.
            (Baseline::Dual(_), _) => (tape.multiply(&tape.constant(2), &tape.parameter(0)), None),
            _ => (Logistic::scores(tape, 1), None),
        };
        let scores = match rows {
            Some(rows) => tape.value(&scores).select_rows(rows).to_f64(),
            None => tape.value(&scores).to_f64(),
        };
        let predicted = predictions(&scores, &task.classes, 0..scores.rows());
        let hits = predicted.iter().zip(&task.validation_classes).filter(|(p, t)| p == t).count();
        hits as f64 / predicted.len() as f64
    }
}

/// The best weights so far by the validation part.
struct Best {
    patience: usize,
    epoch: usize,
    accuracy: f64,
    parameters: Vec<Matrix<f32>>,
}

impl Best {
    fn new(patience: usize) -> Self {
        Best { patience, epoch: 0, accuracy: -1.0, parameters: Vec::new() }
    }

    fn look(&mut self, epoch: usize, accuracy: f64, tape: &Tape<'_>) {
        if accuracy > self.accuracy {
            (self.epoch, self.accuracy, self.parameters) = (epoch, accuracy, tape.parameters());
        }
    }

    fn is_long_ago(&self, epoch: usize) -> bool {
        epoch - self.epoch >= self.patience
    }
}

fn diverged(model: Baseline, epoch: usize) -> Error {
    Error::Data(format!(
        "training {} at depth {} diverged in epoch {}: its loss is not a finite number any more; \
         use a smaller learning rate, or divide each node's features by their sum first",
        model.name(),
        model.depth(),
        epoch + 1
    ))
}

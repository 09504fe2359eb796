//! A model, the data that its runs share, and what comes out of a run.

mod descent;
mod training;

pub use training::Training;

use crate::model::Baseline;
use crate::random::initial_weights;
use crate::reach::Reach;
use crate::tape::Edges;
use descent::{Descent, Task, predictions};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::driver::{Driver, Filtered, Rows};
use gfgcn::features::Features;
use gfgcn::graph::NodeOrder;
use gfgcn::head::Head;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::time::Duration;

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
    /// Nodes × score columns; not numbers where the training diverged and had no better weights to go back to.
    pub scores: Matrix<f64>,
    /// The epoch, counted from 0, in which the loss was not a finite number any more: training stopped there. Its
    /// number of epochs, if only the scores are not finite.
    pub diverged: Option<usize>,
    /// The classes that have a training node.
    pub head: Head,
    /// Their numbers in the dataset.
    pub classes: Vec<u32>,
    /// One per epoch, before its update.
    pub losses: Vec<f64>,
    /// Of the first epoch, one per parameter: the first is that of the first weight W.
    pub first_gradients: Vec<Matrix<f32>>,
    /// One per epoch, where the validation part was looked at.
    pub validation: Vec<f64>,
    /// Time of the epochs, and of arranging the data for them.
    pub train_time: Duration,
    /// Time of scoring every node.
    pub predict_time: Duration,
}

impl Trained {
    /// The predicted classes of some nodes, as numbers of the dataset's classes. Scores that are not numbers stand
    /// for the first class, as in other libraries.
    pub fn predict(&self, nodes: &[usize]) -> Vec<u32> {
        predictions(&self.scores, &self.head, &self.classes, nodes.iter().copied())
    }
}

/// A model and the data that its runs share.
///
/// ```
/// use gfgcn_baselines::{Baseline, Gcn, Trainer, Training};
/// use gfgcn::{context::Context, metrics::test_accuracy, split::{Ratio, Split}};
///
/// let context = Context::default();
/// let data = gfgcn_datasets::open("cora".as_ref(), None, &context)?.largest_component();
/// let split = Split::stratified(data.labels(), Ratio::PAPER, 0)?;
///
/// let training = Training { epochs: 20, ..Training::default() };
/// let model = Baseline::Gcn(Gcn::new(2));
/// let trainer = Trainer::new(&data, model, training, &[split.clone()], &context)?;
/// let trained = trainer.train(&split, 0, &context)?;
/// let accuracy = test_accuracy(data.labels(), &split, &trained.predict(split.test()));
/// assert!(accuracy > 50.0 && trained.losses[19] < trained.losses[0]);
/// # Ok::<(), gfgcn::Error>(())
/// ```
pub struct Trainer<'a> {
    dataset: &'a Dataset,
    model: Baseline,
    training: Training,
    features: Cow<'a, Features>,
    /// Where features are filtered once, before: how, and those of the nodes that any split trains on.
    filtered: Option<(Driver<'a>, Filtered)>,
    /// An order in which neighbours are near each other, for networks.
    nearby: Option<NodeOrder>,
}

impl<'a> Trainer<'a> {
    /// Prepares a model for runs on some splits: features are filtered once for all of them.
    ///
    /// # Errors
    /// Parameters out of range, a graph with 2³² entries of Ã or more, or that the work is cancelled.
    pub fn new(
        dataset: &'a Dataset,
        model: Baseline,
        training: Training,
        splits: &[Split],
        context: &Context,
    ) -> Result<Self> {
        model.check()?;
        training.check()?;
        Edges::check(dataset.graph())?;
        dataset.features().ready(0..dataset.features().cols())?;
        let (features, filtered) = match model.filter() {
            None => (training.rows.apply(dataset.features()), None),
            Some(filter) => {
                let mut nodes = Vec::new();
                for split in splits {
                    let validation = training.patience.map_or(&[][..], |_| split.validation());
                    nodes.extend(split.train().iter().chain(validation));
                }
                let designs = [training.design(filter)];
                let rows = Rows::of(nodes, dataset.nodes());
                let columns = dataset.labels().classes().len();
                // A run is the same whatever other runs share its features.
                let driver = Driver::new(dataset, &designs, rows, columns)?.by_features();
                let filtered = driver.run(0..1, context)?.remove(0);
                (Cow::Borrowed(dataset.features()), Some((driver, filtered)))
            }
        };
        let nearby = model.network().map(|_| NodeOrder::reverse_cuthill_mckee(dataset.graph()));
        Ok(Trainer { dataset, model, training, features, filtered, nearby })
    }

    /// What a run reads, arranged for its training nodes where a network does not need all of it.
    fn reach(&self, train: &[usize]) -> Reach<'_> {
        let (graph, features) = (self.dataset.graph(), &self.features);
        match &self.nearby {
            Some(nearby) => Reach::from(train, graph, features, nearby.clone()),
            None => Reach::everything(graph, features),
        }
    }

    /// Trains on a split; the context's observer is told after every epoch.
    ///
    /// The seed decides the initial weights and the dropouts; the same seed gives the same bits,
    /// whatever the number of threads. A training that diverges is no error: deep networks do, and what they then
    /// predict is what they are worth. See [`Trained::diverged`].
    ///
    /// # Errors
    /// A training or validation node without a label, patience without a validation part, or that the work is
    /// cancelled.
    ///
    /// # Panics
    /// If the split is of other data, or features were filtered and it is none of the splits that
    /// the trainer was made for.
    pub fn train(&self, split: &Split, seed: u64, context: &Context) -> Result<Trained> {
        self.train_watched(split, seed, context, &mut |_| {})
    }

    /// As [`Trainer::train`]; `watch` is told what is known after every epoch.
    ///
    /// # Errors
    /// As [`Trainer::train`].
    pub fn train_watched(
        &self,
        split: &Split,
        seed: u64,
        context: &Context,
        watch: &mut dyn FnMut(&Epoch),
    ) -> Result<Trained> {
        let task = Task::new(self.dataset.labels(), split, self.training.patience.is_some())?;
        let run = Descent::new(self, &task, context)?;
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
        context: &Context,
    ) -> Result<Trained> {
        let task = Task::new(self.dataset.labels(), split, self.training.patience.is_some())?;
        let run = Descent::new(self, &task, context)?;
        Error::check_size("parameters of the model", run.parameters.len(), parameters.len())?;
        for (k, (expected, given)) in run.parameters.iter().zip(&parameters).enumerate() {
            let (rows, cols) = expected.shape();
            Error::check_size(format!("rows of parameter {k}"), rows, given.rows())?;
            Error::check_size(format!("columns of parameter {k}"), cols, given.cols())?;
        }
        run.train(parameters, seed, &mut |_| {})
    }
}

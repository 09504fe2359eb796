//! The one training loop: every model, full batch, Adam.

use super::{Epoch, Trained, Trainer};
use crate::adam::Adam;
use crate::model::Baseline;
use crate::network::{Dual, Logistic, Parameter};
use crate::random::Key;
use crate::reach::Reach;
use crate::tape::{Inputs, Tape, Var};
use gfgcn::context::Context;
use gfgcn::data::Labels;
use gfgcn::head::{Head, Truth};
use gfgcn::linalg;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::time::Instant;

/// The nodes and classes of one run.
pub(super) struct Task<'a> {
    train: &'a [usize],
    validation: &'a [usize],
    /// The classes that have a training node.
    head: Head,
    /// Their numbers in the dataset.
    classes: Vec<u32>,
    /// The classes of the training nodes, as positions in `classes`.
    train_classes: Vec<u32>,
    /// The validation nodes' classes, as numbers of the dataset's classes.
    validation_classes: Vec<u32>,
}

impl<'a> Task<'a> {
    pub(super) fn new(
        labels: &Labels,
        split: &'a Split,
        looks_at_validation: bool,
    ) -> Result<Self> {
        let validation = if looks_at_validation { split.validation() } else { &[] };
        if looks_at_validation && validation.is_empty() {
            return Err(Error::Data(
                "training is to stop by the validation part, but the split has none".into(),
            ));
        }
        let train_labels = labels.of_part("training", split.train())?;
        let mut classes = train_labels.clone();
        classes.sort_unstable();
        classes.dedup();
        let position = |class: &u32| classes.partition_point(|c| c < class) as u32;
        let name = |&class: &u32| labels.classes()[class as usize].clone();
        Ok(Task {
            train: split.train(),
            validation,
            train_classes: train_labels.iter().map(position).collect(),
            validation_classes: labels.of_part("validation", validation)?,
            head: Head::classes(classes.iter().map(name).collect()),
            classes,
        })
    }
}

/// One run: what is put on the tape, and what is read from it.
pub(super) struct Descent<'a> {
    trainer: &'a Trainer<'a>,
    task: &'a Task<'a>,
    context: &'a Context,
    pub(super) parameters: Vec<Parameter>,
    constants: Vec<Matrix<f32>>,
    /// Filtered features of the training nodes, where the scores of other nodes need them.
    train: Option<Matrix<f32>>,
}

impl<'a> Descent<'a> {
    pub(super) fn new(
        trainer: &'a Trainer<'a>,
        task: &'a Task<'a>,
        context: &'a Context,
    ) -> Result<Self> {
        let (features, classes) = (trainer.features.cols(), task.classes.len());
        if let Some(network) = trainer.model.network() {
            return Ok(Descent {
                trainer,
                task,
                context,
                parameters: network.parameters(features, classes),
                constants: Vec::new(),
                train: None,
            });
        }
        let (_, filtered) = trainer.filtered.as_ref().expect("a model with a filter");
        let of = |nodes: &[usize]| filtered.of(nodes).to_f32();
        let train = of(task.train);
        let validation = (!task.validation.is_empty()).then(|| of(task.validation));
        if let Baseline::Dual(_) = trainer.model {
            let known = task.train_classes.iter().map(|&class| Some(class)).collect();
            let targets = Truth::of_classes(&task.head, known).matrix().to_f32();
            let exact = train.to_f64();
            let mut constants = vec![linalg::gram_of_rows(&exact, context)?.to_f32(), targets];
            if let Some(validation) = validation {
                let exact = linalg::multiply_by_transposed(&validation.to_f64(), &exact, context)?;
                constants.push(exact.to_f32());
            }
            let parameters = Dual::parameters(task.train.len(), constants[1].cols());
            let train = Some(train);
            Ok(Descent { trainer, task, context, parameters, constants, train })
        } else {
            let parameters = Logistic::parameters(features, classes);
            let constants = std::iter::once(train).chain(validation).collect();
            Ok(Descent { trainer, task, context, parameters, constants, train: None })
        }
    }

    pub(super) fn train(
        mut self,
        start: Vec<Matrix<f32>>,
        seed: u64,
        watch: &mut dyn FnMut(&Epoch),
    ) -> Result<Trained> {
        let (trainer, training) = (self.trainer, &self.trainer.training);
        let clock = Instant::now();
        let reach = trainer.reach(self.task.train);
        let inputs = Inputs::new(&reach, &training.normalization.into())?;
        // A network's loss is about the training nodes, which are the first; others have no other rows.
        let network = trainer.model.network().is_some();
        let row =
            |(k, &node): (usize, &usize)| (if network { reach.place(node) } else { k }) as u32;
        let loss_rows: Vec<u32> = self.task.train.iter().enumerate().map(row).collect();
        let steps = network.then_some(trainer.model.depth());
        let mut tape = Tape::new(&inputs, start, std::mem::take(&mut self.constants));
        let decay = self.parameters.iter().map(|p| training.weight_decay.unwrap_or(p.decay));
        let sizes: Vec<usize> = self.parameters.iter().map(Parameter::entries).collect();
        let rate = training.learning_rate.unwrap_or(trainer.model.learning_rate());
        let mut adam = Adam::new(rate, decay.collect(), &sizes);
        let mut best = training.patience.map(Best::new);
        let mut losses = Vec::new();
        let mut first_gradients = Vec::new();
        let mut validation = Vec::new();
        let mut diverged = None;
        for number in 0..training.epochs {
            self.context.check()?;
            tape.rewind(Some(Key::of_run(seed).part(number as u64)), steps);
            let var = self.loss(&mut tape, &loss_rows);
            let loss = f64::from(tape.value(&var)[(0, 0)]);
            if !loss.is_finite() {
                diverged = Some(number);
                break;
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
                let accuracy = self.validation_accuracy(&mut tape, &reach);
                validation.push(accuracy);
                epoch.validation = Some(accuracy);
                best.look(number, accuracy, &tape);
            }
            watch(&epoch);
            self.context.progress().advance();
            if best.as_ref().is_some_and(|best| best.is_long_ago(number)) {
                break;
            }
        }
        let train_time = clock.elapsed();
        let clock = Instant::now();
        let best = best.map(|best| best.parameters).filter(|parameters| !parameters.is_empty());
        if let Some(parameters) = &best {
            tape.set_parameters(parameters);
        }
        let mut scores = reach.restored(self.scores(&mut tape)?);
        let finite = scores.as_slice().iter().all(|score| score.is_finite());
        if !finite || (diverged.is_some() && best.is_none()) {
            // The next update would leave no weight a number.
            scores.as_mut_slice().fill(f64::NAN);
            diverged = diverged.or(Some(losses.len()));
        }
        Ok(Trained {
            scores,
            diverged,
            head: self.task.head.clone(),
            classes: self.task.classes.clone(),
            losses,
            first_gradients,
            validation,
            train_time,
            predict_time: clock.elapsed(),
        })
    }

    fn loss(&self, tape: &mut Tape<'_>, rows: &[u32]) -> Var {
        let scores = match (&self.trainer.model, self.trainer.model.network()) {
            (_, Some(network)) => network.scores(tape),
            (Baseline::Dual(dual), _) => return dual.objective(tape),
            _ => Logistic::scores(tape, 0),
        };
        tape.cross_entropy(&scores, rows, &self.task.train_classes)
    }

    /// The scores of all nodes, without dropout.
    fn scores(&self, tape: &mut Tape<'_>) -> Result<Matrix<f64>> {
        tape.rewind(None, None);
        Ok(match self.trainer.model {
            Baseline::Logistic(_) => {
                let [weights, bias] = [0, 1].map(|k| tape.value(&tape.parameter(k)).to_f64());
                let mut scores = self.filtered_times(&weights)?;
                scores.add_to_rows(1.0, bias.as_slice());
                scores
            }
            Baseline::Dual(Dual { lambda, .. }) => {
                let train = self.train.as_ref().expect("kept for the dual").to_f64();
                let multipliers = tape.value(&tape.parameter(0)).to_f64();
                let mut weights = linalg::multiply_transposed(&train, &multipliers, self.context)?;
                weights.as_mut_slice().iter_mut().for_each(|w| *w *= lambda);
                self.filtered_times(&weights)?
            }
            model => {
                let network = model.network().expect("every other model is a network");
                let scores = network.scores(tape);
                tape.value(&scores).to_f64()
            }
        })
    }

    /// p(Â)(X W): as many columns as W are filtered, not the features.
    fn filtered_times(&self, weights: &Matrix<f64>) -> Result<Matrix<f64>> {
        let (driver, _) = self.trainer.filtered.as_ref().expect("a model with a filter");
        driver.scores(0, &[weights], self.context)
    }

    /// The share of validation nodes that are predicted, 0 to 1.
    fn validation_accuracy(&self, tape: &mut Tape<'_>, reach: &Reach<'_>) -> f64 {
        tape.rewind(None, None);
        let task = self.task;
        let (scores, rows) = match (&self.trainer.model, self.trainer.model.network()) {
            (_, Some(network)) => (network.scores(tape), Some(task.validation)),
            // The factor λ changes no prediction.
            (Baseline::Dual(_), _) => (tape.multiply(&tape.constant(2), &tape.parameter(0)), None),
            _ => (Logistic::scores(tape, 1), None),
        };
        let scores = match rows {
            Some(nodes) => {
                let rows: Vec<usize> = nodes.iter().map(|&node| reach.place(node)).collect();
                tape.value(&scores).select_rows(&rows).to_f64()
            }
            None => tape.value(&scores).to_f64(),
        };
        let predicted = predictions(&scores, &task.head, &task.classes, 0..scores.rows());
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

/// The classes that rows of scores stand for, as numbers of the dataset's classes.
pub(super) fn predictions(
    scores: &Matrix<f64>,
    head: &Head,
    classes: &[u32],
    rows: impl Iterator<Item = usize>,
) -> Vec<u32> {
    rows.map(|row| classes[head.decode(scores.row(row)) as usize]).collect()
}

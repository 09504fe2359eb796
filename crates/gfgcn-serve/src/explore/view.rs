//! What the page shows of a version: a class and a confidence for every node, and how good the model is.
//!
//! Nodes are judged by what is predicted of them without their own labels: those that are trained on are left out, exactly, and of the others
//! the model knows no label.

use super::pack::Packed;
use super::spectrum;
use crate::problem::Problem;
use crate::world::World;
use gfgcn::Model;
use gfgcn::data::Labels;
use gfgcn::metrics::Reliability;
use gfgcn::model::Predictions;
use gfgcn::training::Recipe;
use serde::Serialize;
use std::collections::HashMap;

/// Where there is no class.
const NONE: u16 = u16::MAX;

/// What is shown of a version.
#[derive(Debug)]
pub(crate) struct View {
    summary: Summary,
    /// The class of each node by the model.
    predicted: Vec<u16>,
    /// By what is learnt without its own label.
    judged: Vec<u16>,
    /// The label that is trained on.
    label: Vec<u16>,
    /// The class that is known, trained on or not.
    known: Vec<u16>,
    /// The probability of the predicted class.
    confidence: Vec<f32>,
}

#[derive(Debug, Serialize)]
struct Summary {
    classes: Vec<String>,
    /// None before anything is labelled.
    model: Option<Described>,
    settings: Settings,
    /// Nodes of each known class (rows) and what is predicted of them (columns), without their own labels.
    confusion: Vec<Vec<usize>>,
    left_out: Score,
    held_out: Score,
    reliability: Reliability,
    calibration_error: f64,
}

#[derive(Debug, Serialize)]
struct Described {
    lambda: f64,
    training_nodes: usize,
}

/// How the model is trained.
#[derive(Debug, Serialize)]
struct Settings {
    design: String,
    /// As it was given; null where leave-one-out chooses it.
    lambda: Option<f64>,
    /// Of the only channel, where it is a filter of the features.
    filter: Option<&'static str>,
    parameters: Vec<(&'static str, f64)>,
    /// p(x) at the points of the spectrum, for each channel.
    responses: Vec<Vec<f64>>,
}

#[derive(Debug, Default, Serialize)]
struct Score {
    right: usize,
    count: usize,
}

impl View {
    pub(super) fn new(world: &World, predictions: Option<&Predictions>) -> Result<View, Problem> {
        let known = world.dataset.labels();
        let classes = Classes::of(known);
        let nodes = world.dataset.nodes();
        let of_known = |node: usize| known.get(node).map_or(NONE, |class| class as u16);
        let mut view = View {
            summary: Summary {
                classes: known.classes().to_vec(),
                model: None,
                settings: Settings::of(world),
                confusion: vec![vec![0; known.classes().len()]; known.classes().len()],
                left_out: Score::default(),
                held_out: Score::default(),
                reliability: Reliability::default(),
                calibration_error: 0.0,
            },
            predicted: vec![NONE; nodes],
            judged: vec![NONE; nodes],
            label: vec![NONE; nodes],
            known: (0..nodes).map(of_known).collect(),
            confidence: vec![0.0; nodes],
        };
        if let (Some(model), Some(predictions)) = (&world.model, predictions) {
            view.add_model(world, model, predictions, &classes)?;
        }
        Ok(view)
    }

    fn add_model(
        &mut self,
        world: &World,
        model: &Model,
        predictions: &Predictions,
        classes: &Classes,
    ) -> Result<(), Problem> {
        // Positions among the classes that are known.
        let numbers: Vec<u16> = model.classes().iter().map(|name| classes.number(name)).collect();
        // How sure it is of what each node is judged by.
        let mut sure = Vec::with_capacity(self.predicted.len());
        for node in 0..self.predicted.len() {
            let class = predictions.class(node) as usize;
            let probability = predictions.probabilities(node)[class];
            self.predicted[node] = numbers[class];
            self.judged[node] = numbers[class];
            self.confidence[node] = probability as f32;
            sure.push(probability);
        }
        if let Some(left_out) = world.left_out() {
            for (row, &node) in left_out.nodes.iter().enumerate() {
                let scores = left_out.targets.row(row);
                let class = model.head().decode(scores) as usize;
                let p = model.calibration().link().probabilities(model.head(), scores);
                self.judged[node] = numbers[class];
                self.label[node] = self.known[node];
                sure[node] = p[class];
            }
        }
        let summary = &mut self.summary;
        for (node, sure) in sure.into_iter().enumerate() {
            let (known, judged) = (self.known[node], self.judged[node]);
            if known == NONE || judged == NONE {
                continue;
            }
            let right = known == judged;
            let trained = self.label[node] != NONE;
            let score = if trained { &mut summary.left_out } else { &mut summary.held_out };
            score.right += usize::from(right);
            score.count += 1;
            summary.confusion[known as usize][judged as usize] += 1;
            if sure.is_finite() {
                summary.reliability.add(sure, right);
            }
        }
        summary.calibration_error = summary.reliability.expected_error();
        let [member] = model.members() else { return Err(Problem::internal()) };
        summary.model = Some(Described {
            lambda: member.lambda(),
            training_nodes: model.provenance().training_nodes,
        });
        Ok(())
    }

    /// As the page reads it.
    pub(super) fn packed(&self, version: u64) -> Packed {
        #[derive(Serialize)]
        struct Header<'v> {
            version: u64,
            nodes: usize,
            #[serde(flatten)]
            summary: &'v Summary,
        }
        let mut packed =
            Packed::new(&Header { version, nodes: self.known.len(), summary: &self.summary });
        packed.add_u16(&self.predicted);
        packed.add_u16(&self.judged);
        packed.add_u16(&self.label);
        packed.add_u16(&self.known);
        packed.add_f32(self.confidence.iter().copied());
        packed
    }
}

/// The numbers of classes.
struct Classes<'l>(HashMap<&'l str, u16>);

impl<'l> Classes<'l> {
    fn of(labels: &'l Labels) -> Self {
        Classes(labels.classes().iter().map(String::as_str).zip(0..).collect())
    }

    fn number(&self, name: &str) -> u16 {
        self.0.get(name).copied().unwrap_or(NONE)
    }
}

impl Settings {
    fn of(world: &World) -> Self {
        let Some(Recipe::Described(classifier)) = world.recipe() else {
            let (design, responses) = (String::new(), Vec::new());
            return Settings {
                design,
                lambda: None,
                filter: None,
                parameters: Vec::new(),
                responses,
            };
        };
        let design = &classifier.design;
        let only = match design.channels() {
            [only] if gfgcn::Design::from(only.filter) == *design => Some(only.filter),
            _ => None,
        };
        let response = |channel: &gfgcn::Channel| -> Vec<f64> {
            spectrum::points().map(|x| channel.filter.evaluate(x)).collect()
        };
        Settings {
            design: design.to_string(),
            lambda: classifier.ridge.selection.given(),
            filter: only.map(|filter| filter.name()),
            parameters: only.map_or_else(Vec::new, |filter| filter.parameters()),
            responses: design.channels().iter().map(response).collect(),
        }
    }
}

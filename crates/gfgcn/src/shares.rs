//! Work in shares: what other machines that have the same data can compute.
//!
//! Filtering, scoring and evaluating fall into parts that do not depend on each other: slabs of columns, and designs on splits. A [`Job`] knows
//! its [shares](Job::plan), any machine [computes](Job::compute) some, and what comes of them are files of a
//! [work folder](crate::context::Scratch). The ordinary call with that folder finds every part finished. So who has computed what changes
//! no bit of a result, and what gets lost is computed again.

pub use crate::driver::{Cut, Piece};

use crate::context::{Context, Scratch};
use crate::data::Dataset;
use crate::design::Design;
use crate::driver::{Budget, Driver, Rows, Slab};
use crate::error::{Error, Result};
use crate::evaluation::Evaluation;
use crate::hex::hex;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Work that can be done in shares.
#[derive(Clone, Debug)]
pub enum Job {
    /// Filtering features for [`crate::Classifier::fit`].
    Fit {
        /// What is computed.
        design: Design,
        /// The nodes that are learnt from, and those that λ is chosen by.
        nodes: Vec<usize>,
    },
    /// Scoring every node for [`Model::predict`].
    Predict(Box<Model>),
    /// [`Evaluation::run`].
    Evaluate {
        /// What is evaluated.
        evaluation: Box<Evaluation>,
        /// Whether its splits are those of the largest component of the data.
        largest_component: bool,
    },
}

/// How a job travels, but for a model, which has a file format of its own.
#[derive(Serialize, Deserialize)]
enum Described {
    Fit { design: Design, nodes: Vec<usize> },
    Evaluate { evaluation: Evaluation, largest_component: bool },
}

/// What the bytes of a job begin with.
const MODEL: u8 = b'M';
const DESCRIBED: u8 = b'J';

/// A part of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share(Part);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Part {
    Columns(Slab),
    /// Of a member of a model.
    Scores(usize, Slab),
    /// Designs on splits.
    Runs(Range<usize>, Range<usize>),
}

/// A share and the files that will come of it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What is to be computed.
    pub share: Share,
    /// The names of its files in the work folder.
    pub files: Vec<String>,
}

impl Job {
    /// The data that it is about.
    pub fn data(&self, whole: Dataset) -> Dataset {
        match self {
            Job::Evaluate { largest_component: true, .. } => whole.largest_component(),
            _ => whole,
        }
    }

    /// What everything in its work folder depends on.
    pub fn purpose(&self, dataset: &Dataset) -> String {
        match self {
            Job::Fit { .. } => dataset.source_fingerprint(),
            Job::Predict(model) => {
                let model = hex(&Sha256::digest(model.to_bytes()));
                format!("{} {model}", dataset.source_fingerprint())
            }
            Job::Evaluate { .. } => dataset.fingerprint(),
        }
    }

    /// Its shares, in any order, and the files that will come of each.
    ///
    /// # Errors
    /// What the work itself would be refused for.
    pub fn plan(&self, dataset: &Dataset, cut: Cut, context: &Context) -> Result<Vec<Planned>> {
        let purpose = self.purpose(dataset);
        let planned = |(part, files)| Planned { share: Share(part), files };
        let shares: Vec<(Part, Vec<String>)> = match self {
            Job::Fit { .. } => {
                let driver = self.driver(dataset, cut.memory)?;
                let shares = driver.filter_shares(cut, &purpose).into_iter();
                shares.map(|(slab, files)| (Part::Columns(slab), files)).collect()
            }
            Job::Predict(model) => {
                let shares = model.score_shares(dataset, cut, &purpose, context)?.into_iter();
                shares.map(|(member, slab, files)| (Part::Scores(member, slab), files)).collect()
            }
            Job::Evaluate { evaluation, .. } => {
                let sides = evaluation.sides(dataset)?;
                let named = |(designs, splits): (Range<usize>, Range<usize>)| {
                    let files = evaluation.names(designs.clone(), &splits, &sides, &purpose);
                    (Part::Runs(designs, splits), files)
                };
                evaluation.parts(cut).into_iter().map(named).collect()
            }
        };
        Ok(shares.into_iter().map(planned).collect())
    }

    /// Computes a share.
    ///
    /// # Errors
    /// A share of other work, less memory than it takes, or what the work itself would be refused for.
    pub fn compute(
        &self,
        dataset: &Dataset,
        share: &Share,
        context: &Context,
    ) -> Result<Vec<Piece>> {
        let purpose = self.purpose(dataset);
        context.run(|| match (self, &share.0) {
            (Job::Fit { .. }, Part::Columns(slab)) => {
                let driver = self.driver(dataset, context.memory().free())?;
                driver.filter_share(slab, &purpose, context)
            }
            (Job::Predict(model), Part::Scores(member, slab)) => {
                model.score_share(*member, slab, dataset, &purpose, context)
            }
            (Job::Evaluate { evaluation, .. }, Part::Runs(designs, splits)) => {
                let (designs, splits) = (designs.clone(), splits.clone());
                evaluation.pieces(designs, splits, (dataset, &purpose), context)
            }
            _ => Err(crate::driver::strange()),
        })
    }

    fn driver<'d>(&self, dataset: &'d Dataset, memory: u64) -> Result<Driver<'d>> {
        let Job::Fit { design, nodes } = self else { return Err(crate::driver::strange()) };
        if let Some(&node) = nodes.iter().find(|&&node| node >= dataset.nodes()) {
            dataset.check_node(node)?;
        }
        let rows = Rows::of(nodes.clone(), dataset.nodes());
        let budget = Budget { memory, on_disk: true, ..Budget::default() };
        Driver::within(dataset, std::slice::from_ref(design), rows, 0, budget)
    }

    /// For another machine.
    ///
    /// # Panics
    /// Never: all of it can be written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let described = match self.clone() {
            Job::Predict(model) => return [&[MODEL], &model.to_bytes()[..]].concat(),
            Job::Fit { design, nodes } => Described::Fit { design, nodes },
            Job::Evaluate { evaluation, largest_component } => {
                Described::Evaluate { evaluation: *evaluation, largest_component }
            }
        };
        let described = serde_json::to_vec(&described).expect("a job can be written");
        [&[DESCRIBED], &described[..]].concat()
    }

    /// From another machine.
    ///
    /// # Errors
    /// Bytes that are no job.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let none = |why: String| Error::Format(format!("is no job: {why}"));
        if let Some(model) = bytes.strip_prefix(&[MODEL]) {
            return Ok(Job::Predict(Box::new(Model::from_bytes(model)?)));
        }
        let described =
            bytes.strip_prefix(&[DESCRIBED]).ok_or_else(|| none("wrong kind".into()))?;
        let described = serde_json::from_slice(described);
        Ok(match described.map_err(|error| none(error.to_string()))? {
            Described::Fit { design, nodes } => Job::Fit { design, nodes },
            Described::Evaluate { evaluation, largest_component } => {
                Job::Evaluate { evaluation: Box::new(evaluation), largest_component }
            }
        })
    }
}

impl Planned {
    /// Whether all its files are in a work folder.
    pub fn is_finished(&self, scratch: &Scratch) -> bool {
        self.files.iter().all(|name| scratch.has(name))
    }
}

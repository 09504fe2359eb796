//! What the Python package calls, called from Rust: arrays that are in memory already become a dataset, a model and
//! predictions.

use crate::data::{dense, read, read_splits};
use crate::protocol::serve;
use crate::tasks::check_model;
use anyhow::Result;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::filter::{DEFAULT_DEPTH, DEFAULT_TAU, Filter};
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::model::Predictions;
use gfgcn::split::Split;
use gfgcn::{Classifier, Model};
use std::path::Path;
use std::sync::Arc;

/// Arrays as a program of Python's holds them.
struct Arrays {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f32>,
    features: Arc<Vec<f32>>,
    width: usize,
    /// -1 but for the training nodes.
    labels: Vec<i64>,
}

impl Arrays {
    fn of(data: &Dataset, split: &Split) -> Self {
        let (graph, labels) = (data.graph(), data.labels());
        let nodes = 0..data.nodes();
        let columns: Vec<u32> =
            nodes.clone().flat_map(|node| graph.neighbours(node)).copied().collect();
        let mut of_training = vec![-1; data.nodes()];
        for &node in split.train() {
            of_training[node] = labels.get(node).map_or(-1, i64::from);
        }
        Arrays {
            offsets: graph.offsets().iter().map(|&offset| offset as usize).collect(),
            weights: vec![1.0; columns.len()],
            columns,
            features: Arc::new(dense(data.features()).into_vec()),
            width: data.features().cols(),
            labels: of_training,
        }
    }

    fn classify(&self, classes: &[String]) -> gfgcn::Result<(Model, Predictions)> {
        let (graph, _) = Graph::from_csr(&self.offsets, &self.columns, Some(&self.weights))?;
        let features = Matrix::shared(graph.nodes(), self.width, self.features.clone())?;
        let labels = Labels::from_ids(&self.labels, Some(classes))?;
        let data = Dataset::new("arrays", graph, Features::dense(features)?, labels)?;
        let split = Split::all_labelled(data.labels())?;
        let context = Context::default();
        let classifier = Classifier::new(Filter::ssgc(DEFAULT_DEPTH, DEFAULT_TAU)?);
        let model = classifier.fit(&data, &split, &context)?;
        let predictions = model.predict(&data, &context)?;
        Ok((model, predictions))
    }
}

/// From arrays to predictions for all nodes.
pub(crate) fn binding(data: &Path, splits: &Path) -> Result<()> {
    let data = read(data)?;
    let split = read_splits(splits, &data)?.swap_remove(0);
    let arrays = Arrays::of(&data, &split);
    let classes = data.labels().classes();
    serve(
        || Ok(arrays.classify(classes)?),
        |(model, predictions)| Ok(check_model(&data, &split, &model, &predictions)),
    )
}

//! What the fuzz target and the replay of its corpus both run.

#[path = "../../crates/gfgcn/tests/sealed/mod.rs"]
mod sealed;

use gfgcn::Model;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;

/// Reads a model as it is, and once more with its checksum put right, which a fuzzer cannot do.
pub(crate) fn run(input: &[u8]) {
    use_model(input);
    if let Some(parts) = sealed::Parts::of(input) {
        use_model(&parts.seal());
    }
}

/// What is accepted must be the file that the model writes, and must predict one of its classes.
fn use_model(file: &[u8]) {
    let Ok(model) = Model::from_bytes(file) else { return };
    assert_eq!(model.to_bytes(), file);
    let deep =
        model.members()[0].design().channels().iter().any(|channel| channel.filter.depth() > 100);
    if model.features() > 64 || deep {
        return; // large, not wrong
    }
    let (graph, _) = Graph::from_edges(3, &[(0, 1)], None).expect("a graph");
    let features = match model.features() {
        0 => Features::none(3),
        columns => {
            let features = Matrix::from_fn(3, columns, |i, j| (i + j) as f32);
            Features::dense(features).expect("finite features")
        }
    };
    let data = Dataset::new("fuzz", graph, features, Labels::none(3)).expect("equal sizes");
    let ids = ["n1", "n0", "x"].map(str::to_owned).to_vec();
    let data = data.with_node_ids(ids).expect("three ids");
    let predictions = match model.predict(&data, &Context::default()) {
        Ok(predictions) => predictions,
        Err(error) => {
            let text = error.to_string();
            let known = ["overflow", "trained on", "directions of edges", "relation"];
            return assert!(known.iter().any(|part| text.contains(part)), "{text}");
        }
    };
    (0..3).for_each(|node| assert!(model.classes().contains(&predictions.name(node).to_owned())));
}

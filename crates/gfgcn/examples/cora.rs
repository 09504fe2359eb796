//! Cora with its public split: read, train, predict, score.
//!
//! Run from the root of the repository: `cargo run --release -p gfgcn --example cora`.

#![allow(clippy::print_stdout)] // it is what an example is for

use gfgcn::{Classifier, data::npz, filter::Filter, metrics::Metrics};

fn main() -> gfgcn::Result<()> {
    let data = npz::read("datasets/cora.npz".as_ref(), "cora")?;
    let split = data.split().expect("Cora comes with the public split");
    let model = Classifier::new(Filter::ssgc(16, 0.05)?).fit(&data, split)?;
    let predictions = model.predict(&data)?;
    println!("node 0 is {}", predictions.name(0));

    let pairs = split.test().iter().filter_map(|&node| {
        let truth = data.labels().get(node)?;
        Some((truth, predictions.class(node)))
    });
    let metrics = Metrics::new(predictions.classes(), pairs).in_percent();
    println!("{:.1} % of the test nodes are right", metrics.accuracy);
    Ok(())
}

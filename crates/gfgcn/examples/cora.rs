//! Cora with its public split: read, train, predict, score.
//!
//! Run from the root of the repository: `cargo run --release -p gfgcn --example cora`.

#![allow(clippy::print_stdout)] // it is what an example is for

use gfgcn::{Classifier, context::Context, filter::Filter};
use gfgcn_data::npz;

fn main() -> gfgcn::Result<()> {
    let context = Context::default();
    let data = npz::read("datasets/cora.npz".as_ref(), "cora", &context)?;
    let split = data.split().expect("Cora comes with the public split");
    let model = Classifier::new(Filter::ssgc(16, 0.05)?).fit(&data, split, &context)?;
    let predictions = model.predict(&data, &context)?;
    println!("node 0 is {}", predictions.name(0));

    let test = split.test();
    let right =
        test.iter().filter(|&&node| data.labels().name(node) == Some(predictions.name(node)));
    println!("{} of {} test nodes are right", right.count(), test.len());
    Ok(())
}

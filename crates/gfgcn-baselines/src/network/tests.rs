//! Every model against finite differences, with its dropouts.

use super::*;
use crate::random::initial_weights;
use crate::tape::Inputs;
use crate::tape::tests::{assert_gradients, features, graph};
use gfgcn::filter::Filter;
use gfgcn::graph::Operator;
use std::sync::OnceLock;

const CLASSES: usize = 3;
const ROWS: [u32; 8] = [1, 2, 3, 5, 6, 10, 12, 13];

fn classes() -> Vec<u32> {
    ROWS.iter().map(|row| row % CLASSES as u32).collect()
}

fn check(what: &str, network: &dyn Network) {
    for (weighted, sparse, operator) in [
        (false, true, Operator::PAPERS[0].clone()),
        (true, true, Operator::PAPERS[0].clone()),
        (true, false, Operator::PAPERS[1].clone()),
    ] {
        let (graph, features) = (graph(weighted), features(sparse));
        let edges = OnceLock::new();
        let inputs = Inputs::new(&features, &graph, &operator, &edges).unwrap();
        let mut random = initial_weights(7);
        let parameters: Vec<Matrix<f32>> = network
            .parameters(features.cols(), CLASSES)
            .iter()
            // Biases too, so that rectifiers do not stand at their kink.
            .map(|p| random::uniform(p.rows, p.cols, 0.7, &mut random))
            .collect();
        let what = format!("{what}, {operator}");
        assert_gradients(&what, &inputs, &parameters, &[], |tape| {
            let scores = network.scores(tape);
            assert_eq!((tape.value(&scores).rows(), tape.value(&scores).cols()), (14, CLASSES));
            tape.cross_entropy(&scores, &ROWS, &classes())
        });
    }
}

#[test]
fn networks() {
    for depth in [1, 2, 4] {
        let (hidden, dropout) = (5, 0.3);
        check(&format!("GCN {depth}"), &Gcn { hidden, dropout, ..Gcn::new(depth) });
        let gat = Gat { heads: 2, hidden: 3, dropout, ..Gat::new(depth) };
        check(&format!("GAT {depth}"), &gat);
        for jump in [Jump::Concat, Jump::Max] {
            let jknet = JkNet { hidden, dropout, ..JkNet::new(depth, jump) };
            check(&format!("JKNet {depth}, {jump:?}"), &jknet);
        }
        check(&format!("APPNP {depth}"), &Appnp { hidden, dropout, ..Appnp::new(depth) });
        check(&format!("GCNII {depth}"), &Gcnii { hidden, dropout, ..Gcnii::new(depth) });
    }
}

#[test]
fn linear_models() {
    let (graph, features) = (graph(false), features(true));
    let edges = OnceLock::new();
    let inputs = Inputs::new(&features, &graph, &Operator::default(), &edges).unwrap();
    let mut random = initial_weights(7);
    let filtered = random::uniform(ROWS.len(), 6, 1.0, &mut random);
    let start = |parameters: Vec<Parameter>, random: &mut ChaCha8Rng| -> Vec<Matrix<f32>> {
        parameters.iter().map(|p| random::uniform(p.rows, p.cols, 0.7, random)).collect()
    };
    let parameters = start(Logistic::parameters(6, CLASSES), &mut random);
    let constants = [filtered.clone()];
    assert_gradients("logistic", &inputs, &parameters, &constants, |tape| {
        let scores = Logistic::scores(tape, 0);
        let rows: Vec<u32> = (0..ROWS.len() as u32).collect();
        tape.cross_entropy(&scores, &rows, &classes())
    });
    let context = gfgcn::context::Context::default();
    let kernel = gfgcn::linalg::gram_of_rows(&filtered.to_f64(), &context).unwrap().to_f32();
    let constants = [kernel, random::uniform(ROWS.len(), CLASSES, 1.0, &mut random)];
    let parameters = start(Dual::parameters(ROWS.len(), CLASSES), &mut random);
    let dual = Dual { filter: Filter::sgc(2).unwrap(), lambda: 0.7 };
    assert_gradients("dual", &inputs, &parameters, &constants, |tape| dual.objective(tape));
}

//! Every model against finite differences, with its dropouts.

use super::*;
use crate::random::initial_weights;
use crate::reach::Reach;
use crate::tape::Inputs;
use crate::tape::tests::{assert_gradients, features, graph};
use gfgcn::filter::Filter;
use gfgcn::graph::{NodeOrder, Operator};

const CLASSES: usize = 3;
const ROWS: [u32; 8] = [1, 2, 3, 5, 6, 10, 12, 13];

fn classes() -> Vec<u32> {
    ROWS.iter().map(|row| row % CLASSES as u32).collect()
}

fn check(what: &str, depth: usize, network: &dyn Network) {
    for (weighted, sparse, operator) in [
        (false, true, Operator::PAPERS[0].clone()),
        (true, true, Operator::PAPERS[0].clone()),
        (true, false, Operator::PAPERS[1].clone()),
    ] {
        let (graph, features) = (graph(weighted), features(sparse));
        let reach = Reach::everything(&graph, &features);
        let inputs = Inputs::new(&reach, &operator).unwrap();
        let mut random = initial_weights(7);
        let parameters: Vec<Matrix<f32>> = network
            .parameters(features.cols(), CLASSES)
            .iter()
            // Biases too, so that rectifiers do not stand at their kink.
            .map(|p| random::uniform(p.rows, p.cols, 0.7, &mut random))
            .collect();
        let what = format!("{what}, {operator}");
        assert_gradients(&what, (&inputs, None), &parameters, &[], |tape| {
            let scores = network.scores(tape);
            assert_eq!((tape.value(&scores).rows(), tape.value(&scores).cols()), (14, CLASSES));
            tape.cross_entropy(&scores, &ROWS, &classes())
        });
        // The same with nothing computed that does not matter.
        let train = [12, 5];
        let reach = Reach::from(&train, &graph, &features, NodeOrder::by_degree(&graph));
        assert!(reach.rows(1) < 14, "one step reaches everything");
        let inputs = Inputs::new(&reach, &operator).unwrap();
        let rows = train.map(|node| reach.place(node) as u32);
        assert_gradients(&what, (&inputs, Some(depth)), &parameters, &[], |tape| {
            let scores = network.scores(tape);
            assert_eq!(tape.value(&scores).rows(), train.len());
            tape.cross_entropy(&scores, &rows, &[0, 2])
        });
    }
}

#[test]
fn networks() {
    for depth in [1, 2, 4] {
        let (hidden, dropout) = (5, 0.3);
        check(&format!("GCN {depth}"), depth, &Gcn { hidden, dropout, ..Gcn::new(depth) });
        let gat = Gat { heads: 2, hidden: 3, dropout, attention_dropout: 0.4, ..Gat::new(depth) };
        check(&format!("GAT {depth}"), depth, &gat);
        for jump in [Jump::Concat, Jump::Max] {
            let jknet = JkNet { hidden, dropout, ..JkNet::new(depth, jump) };
            check(&format!("JKNet {depth}, {jump:?}"), depth, &jknet);
        }
        check(&format!("APPNP {depth}"), depth, &Appnp { hidden, dropout, ..Appnp::new(depth) });
        check(&format!("GCNII {depth}"), depth, &Gcnii { hidden, dropout, ..Gcnii::new(depth) });
    }
}

#[test]
fn linear_models() {
    let (graph, features) = (graph(false), features(true));
    let reach = Reach::everything(&graph, &features);
    let inputs = Inputs::new(&reach, &Operator::default()).unwrap();
    let mut random = initial_weights(7);
    let filtered = random::uniform(ROWS.len(), 6, 1.0, &mut random);
    let start = |parameters: Vec<Parameter>, random: &mut ChaCha8Rng| -> Vec<Matrix<f32>> {
        parameters.iter().map(|p| random::uniform(p.rows, p.cols, 0.7, random)).collect()
    };
    let parameters = start(Logistic::parameters(6, CLASSES), &mut random);
    let constants = [filtered.clone()];
    assert_gradients("logistic", (&inputs, None), &parameters, &constants, |tape| {
        let scores = Logistic::scores(tape, 0);
        let rows: Vec<u32> = (0..ROWS.len() as u32).collect();
        tape.cross_entropy(&scores, &rows, &classes())
    });
    let context = gfgcn::context::Context::default();
    let kernel = gfgcn::linalg::gram_of_rows(&filtered.to_f64(), &context).unwrap().to_f32();
    let constants = [kernel, random::uniform(ROWS.len(), CLASSES, 1.0, &mut random)];
    let parameters = start(Dual::parameters(ROWS.len(), CLASSES), &mut random);
    let dual = Dual { filter: Filter::sgc(2).unwrap(), lambda: 0.7 };
    assert_gradients("dual", (&inputs, None), &parameters, &constants, |tape| dual.objective(tape));
}

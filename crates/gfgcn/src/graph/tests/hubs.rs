//! Sums over a million neighbours in single precision.

use crate::context::Context;
use crate::design::Design;
use crate::driver::{Driver, Rows};
use crate::features::Features;
use crate::filter::Filter;
use crate::graph::{Graph, Normalization, Operator};
use crate::matrix::Matrix;

const LEAVES: usize = 1_000_000;
const PRODUCTS: usize = 8;

/// The hub is node 0.
fn star(weight: Option<fn(usize) -> f32>) -> Graph {
    let edges: Vec<(u32, u32)> = (1..=LEAVES as u32).map(|leaf| (0, leaf)).collect();
    let weights: Option<Vec<f32>> = weight.map(|weight| (1..=LEAVES).map(weight).collect());
    Graph::from_edges(LEAVES + 1, &edges, weights.as_deref()).unwrap().0
}

/// Eight products, by the definition and in double precision.
fn reference(weight: impl Fn(usize) -> f64, operator: &Operator, mut x: Vec<f64>) -> Vec<f64> {
    let mut degrees: Vec<f64> = (0..=LEAVES).map(|leaf| 1.0 + weight(leaf)).collect();
    degrees[0] = 1.0 + (1..=LEAVES).map(&weight).sum::<f64>();
    let entry = |i: usize, j: usize, weight: f64| match operator.normalization {
        Normalization::Symmetric => weight / (degrees[i] * degrees[j]).sqrt(),
        _ => weight / degrees[i],
    };
    for _ in 0..PRODUCTS {
        let mut next: Vec<f64> =
            (0..=LEAVES).map(|node| entry(node, node, 1.0) * x[node]).collect();
        for leaf in 1..=LEAVES {
            next[0] += entry(0, leaf, weight(leaf)) * x[leaf];
            next[leaf] += entry(leaf, 0, weight(leaf)) * x[0];
        }
        x = next;
    }
    x
}

fn filtered(graph: &Graph, filter: Filter, operator: &Operator, x: Matrix<f32>) -> Matrix<f32> {
    let features = Features::dense(x).unwrap();
    let design = Design::from(filter).with_operator(operator.clone());
    let driver = Driver::on(graph, &features, &[design], Rows::All, 0).unwrap();
    driver.run(0..1, &Context::default()).unwrap()[0].to_matrix()
}

#[test]
fn sums_over_a_million_neighbours_do_not_drift() {
    let entry = |node: usize, column: usize| match column {
        0 => 1.1,
        1 => 0.1 + (node % 7) as f32,
        _ => ((node * 37) % 1001) as f32 / 1001.0 + 0.25,
    };
    let weight = |leaf: usize| 0.3 + (leaf % 11) as f32 / 7.0;
    for weighted in [false, true] {
        let graph = star(weighted.then_some(weight));
        for operator in Operator::PAPERS {
            let x = Matrix::from_fn(LEAVES + 1, 3, entry);
            let found = filtered(&graph, Filter::sgc(PRODUCTS).unwrap(), &operator, x);
            for column in 0..3 {
                let x = (0..=LEAVES).map(|node| f64::from(entry(node, column))).collect();
                let weight = |leaf: usize| if weighted { f64::from(weight(leaf)) } else { 1.0 };
                let expected = reference(weight, &operator, x);
                for (node, expected) in expected.iter().enumerate() {
                    let found = f64::from(found[(node, column)]);
                    assert!(
                        (found / expected - 1.0).abs() < 1e-5,
                        "{operator}, weighted {weighted}, node {node}: {found}, not {expected}"
                    );
                }
            }
        }
    }
}

/// Averages of a constant are that constant.
#[test]
fn constants_stay_constant_beside_a_hub() {
    let constants = [1.1, 0.7, 1.9, 0.123_456];
    let graph = star(None);
    let x = Matrix::from_fn(LEAVES + 1, constants.len(), |_, column| constants[column]);
    let ssgc = Filter::ssgc(PRODUCTS, 0.05).unwrap();
    let found = filtered(&graph, ssgc, &"row".parse().unwrap(), x);
    for node in 0..=LEAVES {
        for (found, constant) in found.row(node).iter().zip(constants) {
            let ratio = f64::from(*found) / f64::from(constant);
            assert!((ratio - 1.0).abs() < 1e-6, "node {node}: {constant} became {ratio} of it");
        }
    }
}

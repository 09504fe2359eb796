//! Every operation against finite differences.

use super::*;
use crate::random::{initial_weights, uniform};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::SparseMatrix;

/// A graph of 14 nodes, with a hub, a leaf and cycles.
pub(crate) fn graph(weighted: bool) -> Graph {
    let mut edges: Vec<(u32, u32)> = (1..7).map(|node| (0, node)).collect();
    edges.extend((6..13).map(|node| (node, node + 1)));
    edges.extend([(1, 4), (1, 9), (2, 10), (3, 11), (4, 8), (5, 6), (9, 12), (3, 10)]);
    let weights: Vec<f32> = (0..edges.len()).map(|k| 0.5 + (k % 4) as f32).collect();
    Graph::from_edges(14, &edges, weighted.then_some(&weights)).unwrap().0
}

/// Six features of each node, half of them zero.
pub(crate) fn features(sparse: bool) -> Features {
    let mut dense = uniform(14, 6, 1.5, &mut initial_weights(11));
    dense
        .as_mut_slice()
        .iter_mut()
        .enumerate()
        .filter(|(k, _)| k * 7 % 4 < 2)
        .for_each(|(_, x)| *x = 0.0);
    if !sparse {
        return Features::dense(dense).unwrap();
    }
    let offsets: Vec<usize> = (0..=14).map(|row| 6 * row).collect();
    let columns: Vec<u32> = (0..14).flat_map(|_| 0..6).collect();
    let matrix = SparseMatrix::from_csr(6, &offsets, &columns, dense.as_slice()).unwrap();
    Features::sparse(matrix).unwrap()
}

/// Compares the gradients of a scalar with differences of its values, entry by entry. Dropouts are
/// the same every time. With a number of steps, only what the scalar depends on is computed.
pub(crate) fn assert_gradients(
    what: &str,
    (inputs, steps): (&Inputs<'_>, Option<usize>),
    parameters: &[Matrix<f32>],
    constants: &[Matrix<f32>],
    f: impl Fn(&mut Tape<'_>) -> Var,
) {
    const STEP: f32 = 2e-3;
    let mut tape = Tape::new(inputs, parameters.to_vec(), constants.to_vec());
    let value = |tape: &mut Tape<'_>, parameters: &[Matrix<f32>]| {
        tape.set_parameters(parameters);
        tape.rewind(Some(Key::of_run(5)), steps);
        let var = f(tape);
        (f64::from(tape.value(&var)[(0, 0)]), var)
    };
    let (here, var) = value(&mut tape, parameters);
    tape.backward(&var);
    let gradients = tape.gradients();
    let largest = gradients.iter().flat_map(Matrix::as_slice).fold(0.0_f32, |m, g| m.max(g.abs()));
    assert!(largest > 1e-3, "{what}: the gradients vanish");
    for (k, gradient) in gradients.iter().enumerate() {
        for entry in 0..gradient.as_slice().len() {
            let [left, right] = [-STEP, STEP].map(|step| {
                let mut moved = parameters.to_vec();
                moved[k].as_mut_slice()[entry] += step;
                (value(&mut tape, &moved).0 - here) / f64::from(step)
            });
            let found = f64::from(gradient.as_slice()[entry]);
            let tolerance = 4e-4 + 4e-3 * left.abs().min(right.abs());
            // Where the slopes differ much, a rectifier has its kink between: either is right.
            let (lowest, highest) = if (left - right).abs() < tolerance {
                (0.5 * (left + right), 0.5 * (left + right))
            } else {
                (left.min(right), left.max(right))
            };
            assert!(
                (lowest - tolerance..=highest + tolerance).contains(&found),
                "{what}: parameter {k}, entry {entry}: {found}, by differences {left} and {right}"
            );
        }
    }
}

/// The rows and classes that the scalars of these tests are about.
fn loss(tape: &mut Tape<'_>, scores: &Var) -> Var {
    let rows: Vec<u32> = (0..tape.value(scores).rows() as u32).collect();
    let columns = tape.value(scores).cols() as u32;
    let classes: Vec<u32> = rows.iter().map(|row| row * 5 % columns).collect();
    tape.cross_entropy(scores, &rows, &classes)
}

fn check(what: &str, shapes: &[(usize, usize)], f: impl Fn(&mut Tape<'_>) -> Var) {
    let mut random = initial_weights(3);
    let parameters: Vec<Matrix<f32>> =
        shapes.iter().map(|&(rows, cols)| uniform(rows, cols, 1.0, &mut random)).collect();
    for (weighted, sparse, operator) in [
        (false, true, Operator::PAPERS[0].clone()),
        (true, false, Operator::PAPERS[0].clone()),
        (false, false, Operator::PAPERS[1].clone()),
        (true, true, Operator::PAPERS[1].clone()),
    ] {
        let (graph, features) = (graph(weighted), features(sparse));
        let reach = Reach::everything(&graph, &features);
        let inputs = Inputs::new(&reach, &operator).unwrap();
        let what = format!("{what} (weighted {weighted}, sparse {sparse}, {operator})");
        assert_gradients(&what, (&inputs, None), &parameters, &[], |tape| {
            let scores = f(tape);
            loss(tape, &scores)
        });
    }
}

#[test]
fn features_times_weights() {
    for rate in [0.0, 0.4] {
        check("X·W", &[(6, 3)], |tape| tape.features_times(&tape.parameter(0), rate));
    }
}

#[test]
fn products() {
    check("A·B", &[(14, 4), (4, 3)], |tape| tape.multiply(&tape.parameter(0), &tape.parameter(1)));
    check("A·A", &[(3, 3)], |tape| tape.multiply(&tape.parameter(0), &tape.parameter(0)));
}

#[test]
fn propagation() {
    check("Â·x", &[(14, 3)], |tape| tape.propagate(tape.parameter(0)));
    check("a·Â·x + c·z", &[(14, 3), (14, 3)], |tape| {
        tape.propagate_add(0.7, tape.parameter(0), -1.3, &tape.parameter(1))
    });
    check("a·Â·x + c·x", &[(14, 3)], |tape| {
        let x = tape.propagate(tape.parameter(0));
        let again = tape.again(&x);
        tape.propagate_add(0.7, again, 0.3, &x)
    });
}

#[test]
fn biases_and_sums() {
    check("x + b", &[(14, 3), (1, 3)], |tape| tape.add_bias(tape.parameter(0), &tape.parameter(1)));
    check("a·x + b·y", &[(14, 3), (14, 3)], |tape| {
        tape.combine(0.7, tape.parameter(0), -1.3, &tape.parameter(1))
    });
    check("a·x + b·x", &[(14, 3)], |tape| {
        tape.combine(0.7, tape.parameter(0), 2.0, &tape.parameter(0))
    });
}

#[test]
fn activations() {
    check("relu", &[(14, 3)], |tape| tape.relu(tape.parameter(0)));
    check("elu", &[(14, 3)], |tape| tape.elu(tape.parameter(0)));
    check("dropout", &[(14, 3)], |tape| tape.dropout(tape.parameter(0), 0.4));
}

#[test]
fn joined_layers() {
    check("side by side", &[(14, 2), (14, 3)], |tape| {
        tape.concatenate(&[tape.parameter(0), tape.parameter(1)])
    });
    check("the largest", &[(14, 3), (14, 3), (14, 3)], |tape| {
        tape.maximum(&[tape.parameter(0), tape.parameter(1), tape.parameter(2)])
    });
}

#[test]
fn attention() {
    for (heads, width) in [(1, 3), (2, 2), (3, 1), (8, 8)] {
        for rate in [0.0, 0.4] {
            let columns = heads * width;
            let shapes = [(14, columns), (1, columns), (1, columns)];
            check(&format!("attention of {heads} × {width}"), &shapes, |tape| {
                let [h, source, target] = [0, 1, 2].map(|k| tape.parameter(k));
                tape.attention(&h, &source, &target, Shape { heads, width }, rate)
            });
        }
    }
}

/// A value that is read again after an operation was allowed to write over it.
#[test]
fn values_that_are_needed_again_are_kept() {
    check("H·W after relu and dropout of H", &[(14, 3), (3, 3)], |tape| {
        let h = tape.propagate(tape.parameter(0));
        let product = tape.multiply(&h, &tape.parameter(1));
        let active = tape.relu(h);
        let dropped = tape.dropout(active, 0.3);
        let active = tape.elu(product);
        tape.combine(1.0, dropped, 1.0, &active)
    });
}

#[test]
fn the_dual_objective() {
    let mut random = initial_weights(3);
    let factor = uniform(5, 4, 1.0, &mut random);
    let kernel = Matrix::from_fn(5, 5, |i, j| {
        factor.row(i).iter().zip(factor.row(j)).map(|(a, b)| a * b).sum()
    });
    let constants = [kernel, uniform(5, 3, 1.0, &mut random)];
    let parameters = [uniform(5, 3, 1.0, &mut random)];
    let (graph, features) = (graph(false), features(true));
    let reach = Reach::everything(&graph, &features);
    let inputs = Inputs::new(&reach, &Operator::default()).unwrap();
    assert_gradients("the dual", (&inputs, None), &parameters, &constants, |tape| {
        tape.dual_objective(&tape.parameter(0), &tape.constant(0), 0.7, &tape.constant(1))
    });
}

/// Without a key nothing is dropped, and the means of many dropouts are the values themselves.
#[test]
fn dropouts_keep_the_expectation() {
    let (graph, features) = (graph(false), features(true));
    let reach = Reach::everything(&graph, &features);
    let inputs = Inputs::new(&reach, &Operator::default()).unwrap();
    let mut random = initial_weights(4);
    let parameters: Vec<Matrix<f32>> =
        [(6, 4), (1, 4), (1, 4)].map(|(rows, cols)| uniform(rows, cols, 1.0, &mut random)).to_vec();
    let mut tape = Tape::new(&inputs, parameters, Vec::new());
    let mut run = |key: Option<Key>| {
        tape.rewind(key, None);
        let [w, source, target] = [0, 1, 2].map(|k| tape.parameter(k));
        let h = tape.features_times(&w, 0.0);
        let sums = tape.attention(&h, &source, &target, Shape { heads: 2, width: 2 }, 0.6);
        let dropped = tape.dropout(sums, 0.3);
        tape.value(&dropped).clone()
    };
    let exact = run(None);
    let runs = 20_000;
    let mut mean = Matrix::<f64>::zeros(14, 4);
    for k in 0..runs {
        let drawn = run(Some(Key::of_run(1).part(k)));
        for (mean, value) in mean.as_mut_slice().iter_mut().zip(drawn.as_slice()) {
            *mean += f64::from(*value) / runs as f64;
        }
    }
    for (mean, exact) in mean.as_slice().iter().zip(exact.as_slice()) {
        assert!((mean - f64::from(*exact)).abs() < 0.06, "{mean} {exact}");
    }
}

//! Ridge systems: solutions and left-out predictions for every penalty.

use super::{chance, difference, gpu, on};
use gfgcn::context::Context;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::{Problem, penalty_grid};

fn features(n: usize, d: usize) -> Matrix<f64> {
    Matrix::from_fn(n, d, |i, j| chance(i * 5003 + j) + 0.2)
}

fn problem(features: &Matrix<f64>, dual: bool) -> Problem {
    match dual {
        true => {
            let context = Context::default();
            Problem::Dual(gfgcn::linalg::gram_of_rows(features, &context).unwrap())
        }
        false => Problem::Primal(features.clone()),
    }
}

#[test]
fn paths_are_those_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    let here = Context::default();
    // Sizes with and without a last tile that is filled up.
    for (n, d, dual) in [
        (700, 300, false),
        (1000, 256, false),
        (290, 400, true),
        (512, 600, true),
        (901, 601, false),
    ] {
        let features = features(n, d);
        let targets = Matrix::from_fn(n, 3, |i, t| f64::from((i * 7 + i / 3) % 3 == t));
        let weights: Vec<f64> = (0..n).map(|i| 1.5 + chance(i)).collect();
        for (intercept, weighted) in [(false, false), (true, false), (true, true), (false, true)] {
            let weights = weighted.then_some(weights.as_slice());
            let path = |context: &Context| {
                problem(&features, dual).path(targets.clone(), weights, intercept, context)
            };
            let expected = path(&here).unwrap();
            let found = on(&gpu, path);
            let what = format!("{n} × {d}, dual {dual}, intercept {intercept}, weights {weighted}");
            let scale = expected.scale();
            assert!((found.scale() / scale - 1.0).abs() < 1e-10, "{what}: the scale");
            for xi in penalty_grid(scale).into_iter().step_by(4) {
                // What rounding leaves of a system that is nearly singular.
                let allowed = 1e-9_f64.max(1e-13 * scale * d as f64 / xi);
                let (one, other) = (found.solve(xi, &gpu), expected.solve(xi, &here));
                let (Ok(one), Ok(other)) = (one, other) else { continue };
                let off = difference(&one.coefficients, &other.coefficients);
                assert!(off < allowed, "{what}, ξ = {xi:e}: solutions {off:e}");
                let pairs = one.intercept.iter().zip(&other.intercept);
                assert!(pairs.clone().all(|(a, b)| (a - b).abs() < allowed), "{what}: {pairs:?}");
                let one = found.left_out(xi, &gpu).unwrap();
                let off = difference(&one, &expected.left_out(xi, &here).unwrap());
                assert!(off < allowed, "{what}, ξ = {xi:e}: left out {off:e}");
            }
        }
    }
}

/// Training without a node, and predicting it.
#[test]
fn left_out_predictions_are_those_of_training_without_the_node() {
    let Some(gpu) = gpu() else { return };
    let here = Context::default();
    let (n, d) = (400, 300);
    let features = features(n, d);
    let targets = Matrix::from_fn(n, 2, |i, t| chance(i + 77 * t));
    for (dual, intercept, xi) in [(false, true, 3.0), (true, true, 0.7), (true, false, 5.0)] {
        let path = on(&gpu, |context| {
            problem(&features, dual).path(targets.clone(), None, intercept, context)
        });
        let found = path.left_out(xi, &gpu).unwrap();
        for i in [0, 57, 399] {
            let rest: Vec<usize> = (0..n).filter(|&k| k != i).collect();
            let without = Problem::Primal(features.select_rows(&rest))
                .solve(&targets.select_rows(&rest), None, intercept, xi, &here)
                .unwrap();
            for t in 0..2 {
                let sum: f64 =
                    (0..d).map(|j| features[(i, j)] * without.coefficients[(j, t)]).sum();
                let expected = sum + without.intercept[t];
                assert!((found[(i, t)] - expected).abs() < 1e-9, "{i}: {expected}");
            }
        }
    }
}

#[test]
fn the_same_bits_every_time_whatever_runs_beside_it() {
    let Some(gpu) = gpu() else { return };
    let features = features(900, 310);
    let targets = Matrix::from_fn(900, 4, |i, t| chance(i + 7 * t));
    let run = || {
        let path = on(&gpu, |context| {
            Problem::Primal(features.clone()).path(targets.clone(), None, false, context)
        });
        path.left_out(path.scale() * 1e-4, &gpu).unwrap()
    };
    let first = run();
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..12).map(|_| scope.spawn(run)).collect();
        others.into_iter().for_each(|other| assert_eq!(first, other.join().unwrap()));
    });
}

//! Ridge systems: solutions and left-out predictions for every penalty.

use super::{chance, difference, gpu, on};
use gfgcn::context::Context;
use gfgcn::head::{Head, Truth};
use gfgcn::matrix::Matrix;
use gfgcn::metrics::Metric;
use gfgcn::ridge::{Problem, Purpose, RidgePath, penalty_grid};

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
        (1300, 1090, false), // more than is solved with all tiles at once
    ] {
        let features = features(n, d);
        let targets = Matrix::from_fn(n, 3, |i, t| f64::from((i * 7 + i / 3) % 3 == t));
        let weights: Vec<f64> = (0..n).map(|i| 1.5 + chance(i)).collect();
        for (intercept, weighted) in [(false, false), (true, false), (true, true), (false, true)] {
            let weights = weighted.then_some(weights.as_slice());
            let path = |context: &Context| {
                problem(&features, dual).path(
                    Purpose::LeftOut,
                    targets.clone(),
                    weights,
                    intercept,
                    context,
                )
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

/// The path of a problem whose nodes all count alike.
fn plain_path(
    gpu: &Context,
    problem: Problem,
    targets: &Matrix<f64>,
    intercept: bool,
) -> RidgePath {
    on(gpu, |context| {
        problem.clone().path(Purpose::LeftOut, targets.clone(), None, intercept, context)
    })
}

/// Systems of all sizes that are solved with all tiles at once, and many penalties side by side, which are not.
#[test]
fn solutions_are_those_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    let here = Context::default();
    for (d, columns) in [(256, 1), (257, 16), (480, 17), (512, 3), (777, 5), (1024, 2)] {
        let (n, features) = (d + 40, features(d + 40, d));
        let targets = Matrix::from_fn(n, columns, |i, t| chance(i + 7 * t));
        let path = plain_path(&gpu, Problem::Primal(features.clone()), &targets, false);
        let penalties: Vec<f64> = penalty_grid(path.scale()).into_iter().take(12).collect();
        let (all, usable) = path.solve_side_by_side(&penalties, &gpu).unwrap();
        assert!(usable.iter().all(|usable| *usable));
        for (k, &xi) in penalties.iter().enumerate().step_by(5) {
            let problem = Problem::Primal(features.clone());
            let expected = problem.solve(&targets, None, false, xi, &here).unwrap().coefficients;
            let found = path.solve(xi, &gpu).unwrap().coefficients;
            assert!(difference(&found, &expected) < 1e-9, "{d} × {columns}, ξ = {xi:e}");
            let beside = all.coefficients.select_columns(k * columns..(k + 1) * columns);
            assert!(difference(&beside, &expected) < 1e-9, "{d} × {columns}, ξ = {xi:e}, many");
        }
    }
}

#[test]
fn a_system_that_is_not_positive_has_no_solution() {
    let Some(gpu) = gpu() else { return };
    for (bad, d) in [(0, 300), (299, 300), (40, 1100)] {
        let mut features = features(d + 10, d);
        features[(5, bad)] = f64::NAN;
        let targets = Matrix::from_fn(d + 10, 2, |i, t| chance(i + 7 * t));
        let path = plain_path(&gpu, Problem::Primal(features.clone()), &targets, false);
        assert!(path.solve(1.0, &gpu).is_err(), "column {bad} of {d}");
    }
}

/// What a device says of left-out predictions is what they say, counted here.
#[test]
fn left_out_predictions_are_judged_as_on_the_processor() {
    let Some(gpu) = gpu() else { return };
    let here = Context::default();
    // More nodes than are judged at a time, a last block that is not full, and nodes that no other reaches.
    let (n, d) = (2100, 260);
    let features = Matrix::from_fn(n, d, |i, j| match i % 50 {
        7 => 0.0,
        _ => chance(i * 5003 + j) + if j == i % 5 { 0.3 } else { 0.0 },
    });
    let names = |count: usize| (0..count).map(|name| name.to_string()).collect::<Vec<_>>();
    let classes = |count: u32| {
        let of_node = |i: u32| (!i.is_multiple_of(97)).then_some((i % 5).min(count - 1));
        Truth::of_classes(
            &Head::classes(names(count as usize)),
            (0..n as u32).map(of_node).collect(),
        )
    };
    let values = Matrix::from_fn(n, 2, |i, t| chance(i + 977 * t) + (i % 5) as f64);
    let values = Truth::of_values(&Head::values(names(2)), values);
    let mae = values.clone().judged_by(Metric::Mae, "training").unwrap();
    let weights: Vec<f64> = (0..n).map(|i| 1.5 + chance(i)).collect();
    for truth in [classes(2), classes(3), classes(5), values, mae] {
        for (intercept, weighted) in [(false, false), (true, false), (true, true), (false, true)] {
            let truth = truth.clone().with_weights(weighted.then(|| weights.clone()));
            let path = |context: &Context| {
                let problem = Problem::Primal(features.clone());
                problem.path(
                    Purpose::LeftOut,
                    truth.matrix().clone(),
                    truth.weights(),
                    intercept,
                    context,
                )
            };
            let (found, expected) = (on(&gpu, path), path(&here).unwrap());
            let penalties: Vec<f64> = penalty_grid(expected.scale()).into_iter().take(16).collect();
            let judged = truth.judge_left_out(&found, &penalties, &gpu).unwrap();
            assert_eq!(judged, truth.judge_left_out(&found, &penalties, &gpu).unwrap(), "again");
            for (judged, &xi) in judged.into_iter().zip(&penalties) {
                let scores = expected.left_out(xi, &here).unwrap();
                let expected = truth.judge_scores((0..n).map(|i| scores.row(i)));
                let judged = judged.unwrap();
                let what = format!(
                    "{:?}, {} columns, intercept {intercept}, weights {weighted}, ξ = {xi:e}",
                    truth.metric(),
                    truth.matrix().cols()
                );
                assert_eq!((judged.correct, judged.total), (expected.correct, n), "{what}");
                let off = (judged.squared_error / expected.squared_error - 1.0).abs();
                assert!(off < 1e-8, "{what}: squared errors differ by {off:e}");
                let off = (judged.score - expected.score).abs();
                assert!(off < 1e-8, "{what}: scores differ by {off:e}");
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
        let path = plain_path(&gpu, problem(&features, dual), &targets, intercept);
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
        let path = plain_path(&gpu, Problem::Primal(features.clone()), &targets, false);
        path.left_out(path.scale() * 1e-4, &gpu).unwrap()
    };
    let first = run();
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..12).map(|_| scope.spawn(run)).collect();
        others.into_iter().for_each(|other| assert_eq!(first, other.join().unwrap()));
    });
}

//! Weighted nodes: solutions and left-out predictions against the formulas, with nodes that are really left out.
//!
//! The reference knows nothing of √w: it solves (M + ξ diag(w)⁻¹) α = Y, bordered by Σ α = 0 with an intercept, and
//! (Fᵀ diag(w) F + ξI) W = Fᵀ diag(w) Y.

mod naive;
mod synthetic;

use gfgcn::context::Context;
use gfgcn::filter::Filter;
use gfgcn::head::Objective;
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::{Problem, Purpose, Selection};
use gfgcn::split::Split;
use gfgcn::{Classifier, Design, Ridge, RowScaling};
use naive::Dense;
use synthetic::{Random, Recipe};

const NODES: usize = 22;

fn to_matrix(m: &Dense) -> Matrix<f64> {
    Matrix::from_fn(m.len(), m[0].len(), |i, j| m[i][j])
}

fn to_dense(m: &Matrix<f64>) -> Dense {
    (0..m.rows()).map(|i| m.row(i).to_vec()).collect()
}

/// α and b of the weighted dual problem.
fn dual(m: &Dense, y: &Dense, weights: &[f64], xi: f64, intercept: bool) -> (Dense, Vec<f64>) {
    let n = m.len();
    let mut system = m.clone();
    (0..n).for_each(|i| system[i][i] += xi / weights[i]);
    let mut right = y.clone();
    if intercept {
        system.iter_mut().for_each(|row| row.push(1.0));
        system.push([vec![1.0; n], vec![0.0]].concat());
        right.push(vec![0.0; y[0].len()]);
    }
    let mut solution = naive::solve(&system, &right);
    let constant = if intercept { solution.pop().unwrap() } else { vec![0.0; y[0].len()] };
    (solution, constant)
}

/// The same scores by the primal formula; an intercept is a column of ones without penalty.
fn primal(f: &[f64], train: &Dense, y: &Dense, weights: &[f64], xi: f64, ones: bool) -> Vec<f64> {
    let extended = |row: &[f64]| if ones { [row, &[1.0]].concat() } else { row.to_vec() };
    let inputs: Dense = train.iter().map(|row| extended(row)).collect();
    let mut weighted = naive::transpose(&inputs);
    for row in &mut weighted {
        row.iter_mut().zip(weights).for_each(|(value, weight)| *value *= weight);
    }
    let mut normal = naive::multiply(&weighted, &inputs);
    normal.iter_mut().enumerate().take(f.len()).for_each(|(k, row)| row[k] += xi);
    let solution = naive::solve(&normal, &naive::multiply(&weighted, y));
    naive::multiply(&vec![extended(f)], &solution).remove(0)
}

/// Y of every kind of target: classes, two classes, sets of labels, values far from zero.
fn targets() -> Vec<(&'static str, Dense)> {
    let mut random = Random::new(8);
    let classes = |count: u32| (0..NODES as u32).map(|i| i % count).collect::<Vec<u32>>();
    let sets = (0..NODES).map(|_| (0..4).map(|_| random.below(2) as f64).collect()).collect();
    let mut random = Random::new(9);
    let values = (0..NODES).map(|_| vec![1000.0 + random.unit(), -3.0 * random.unit()]).collect();
    vec![
        ("classes", naive::targets(&classes(3), 3)),
        ("two classes", naive::targets(&classes(2), 2)),
        ("sets", sets),
        ("values", values),
    ]
}

fn weights() -> Vec<f64> {
    let mut random = Random::new(10);
    (0..NODES).map(|i| if i % 4 == 0 { 6.0 } else { 0.2 + random.unit() }).collect()
}

fn features() -> Dense {
    let recipe = Recipe {
        nodes: NODES,
        features: 9,
        classes: 3,
        weighted: false,
        sparse: false,
        directed: false,
        seed: 9,
    };
    naive::features(&recipe.make(), RowScaling::Plain)
}

fn without<T: Clone>(all: &[T], left_out: usize) -> Vec<T> {
    all.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, x)| x.clone()).collect()
}

fn assert_close(expected: &[f64], found: &[f64], tolerance: f64, what: &str) {
    let scale = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    for (expected, found) in expected.iter().zip(found) {
        assert!((expected - found).abs() < tolerance * scale, "{what}: {expected} {found}");
    }
}

#[test]
fn weighted_solutions_equal_the_formulas() {
    let (f, weights, context) = (features(), weights(), Context::default());
    let gram = naive::gram(Kernel::Linear, &f, &f);
    for (name, y) in targets() {
        let targets = to_matrix(&y);
        for intercept in [false, true] {
            for xi in [1e-3, 0.1, 10.0] {
                let (alpha, constant) = dual(&gram, &y, &weights, xi, intercept);
                let on_path = |problem: Problem| {
                    let path = problem.path(
                        Purpose::LeftOut,
                        targets.clone(),
                        Some(&weights),
                        intercept,
                        &context,
                    );
                    path.unwrap().solve(xi, &context).unwrap()
                };
                let alone = |problem: Problem| {
                    problem.solve(&targets, Some(&weights), intercept, xi, &context).unwrap()
                };
                let what = format!("{name}, intercept {intercept}, ξ {xi}");
                let dual = || Problem::Dual(to_matrix(&gram));
                for solution in [on_path(dual()), alone(dual())] {
                    let error = naive::distance(&alpha, &to_dense(&solution.coefficients));
                    assert!(error < 1e-7, "{what}: {error:e}");
                    assert_close(&constant, &solution.intercept, 1e-8, &what);
                }
                let primal_problem = || Problem::Primal(to_matrix(&f));
                for solution in [on_path(primal_problem()), alone(primal_problem())] {
                    let expected = primal(&f[3], &f, &y, &weights, xi, intercept);
                    let row =
                        naive::multiply(&vec![f[3].clone()], &to_dense(&solution.coefficients));
                    let found: Vec<f64> =
                        row[0].iter().zip(&solution.intercept).map(|(s, b)| s + b).collect();
                    assert_close(&expected, &found, 1e-8, &what);
                }
            }
        }
    }
}

/// Every kind of target, weighted and not, on both sides, with other kernels, with and without an intercept.
#[test]
fn left_out_predictions_equal_those_of_refitted_models() {
    let (f, context) = (features(), Context::default());
    let penalties = [1e-5, 1e-2, 1.0, 30.0];
    for ((name, y), weighted) in targets().into_iter().flat_map(|t| [(t.clone(), false), (t, true)])
    {
        let (targets, given) = (to_matrix(&y), weights());
        let (weights, passed) = match weighted {
            true => (given.clone(), Some(given.as_slice())),
            false => (vec![1.0; NODES], None),
        };
        for kernel in ["linear", "rbf:gamma=0.3", "laplacian:gamma=0.2"] {
            let kernel: Kernel = kernel.parse().unwrap();
            let gram = naive::gram(kernel, &f, &f);
            for intercept in [false, true] {
                let path = Problem::Dual(to_matrix(&gram)).path(
                    Purpose::LeftOut,
                    targets.clone(),
                    passed,
                    intercept,
                    &context,
                );
                let mut paths = vec![("dual", path.unwrap())];
                if kernel.is_linear() {
                    let path = Problem::Primal(to_matrix(&f)).path(
                        Purpose::LeftOut,
                        targets.clone(),
                        passed,
                        intercept,
                        &context,
                    );
                    paths.push(("primal", path.unwrap()));
                }
                for (form, path) in paths {
                    let predictions = path.leave_one_out(
                        &penalties,
                        &context,
                        |all: &mut Dense, _, prediction| all.push(prediction.to_vec()),
                        Vec::extend,
                    );
                    for (&xi, found) in penalties.iter().zip(predictions.unwrap()) {
                        let found = found.unwrap();
                        for i in 0..NODES {
                            let (rest, of_rest) = (without(&f, i), without(&y, i));
                            let its_weights = without(&weights, i);
                            let expected = if kernel.is_linear() {
                                primal(&f[i], &rest, &of_rest, &its_weights, xi, intercept)
                            } else {
                                let gram = naive::gram(kernel, &rest, &rest);
                                let (alpha, b) = dual(&gram, &of_rest, &its_weights, xi, intercept);
                                let own = naive::gram(kernel, &f[i..=i], &rest);
                                let scores = naive::multiply(&own, &alpha).remove(0);
                                scores.iter().zip(b).map(|(s, b)| s + b).collect()
                            };
                            let condition = (0..NODES).map(|k| gram[k][k]).sum::<f64>() / xi;
                            let tolerance = 1e-9 + 1000.0 * f64::EPSILON * condition;
                            let what = format!(
                                "{name}, {kernel}, {form}, weighted {weighted}, intercept \
                                 {intercept}, ξ {xi}, node {i}"
                            );
                            assert_close(&expected, &found[i], tolerance, &what);
                        }
                    }
                }
            }
        }
    }
}

/// A node of weight two is two nodes, and weights that are all alike are a smaller penalty.
#[test]
fn a_weight_is_a_number_of_copies() {
    let (f, context) = (features(), Context::default());
    let (_, y) = targets().remove(0);
    let mut weights = vec![1.0; NODES];
    weights[4] = 2.0;
    let twice = |m: &Dense| to_matrix(&[&m[..], &m[4..5]].concat());
    for intercept in [false, true] {
        let weighted = Problem::Primal(to_matrix(&f))
            .solve(&to_matrix(&y), Some(&weights), intercept, 0.5, &context)
            .unwrap();
        let copied =
            Problem::Primal(twice(&f)).solve(&twice(&y), None, intercept, 0.5, &context).unwrap();
        let (a, b) = (to_dense(&weighted.coefficients), to_dense(&copied.coefficients));
        assert!(naive::distance(&a, &b) < 1e-10);
        assert_close(&weighted.intercept, &copied.intercept, 1e-10, "intercept");
    }
}

#[test]
fn weights_that_are_none_are_refused() {
    let (f, context) = (to_matrix(&features()), Context::default());
    let (_, y) = targets().remove(0);
    let fit = |weights: &[f64]| {
        let problem = Problem::Primal(f.clone());
        problem.path(Purpose::LeftOut, to_matrix(&y), Some(weights), false, &context).map(drop)
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut weights = weights();
        weights[7] = bad;
        let message = fit(&weights).unwrap_err().to_string();
        assert!(message.contains("weight is"), "{message}");
    }
    assert!(fit(&[1.0; 3]).unwrap_err().to_string().contains("weights"));
    fit(&weights()).unwrap();
}

/// Through the graph: a classifier whose training nodes have weights of their own, beside those of their classes, against the
/// dense formula with that node left out.
#[test]
fn a_classifier_counts_nodes_by_their_weights() {
    let (context, lambda) = (Context::default(), 3.0);
    let recipe = Recipe {
        nodes: NODES,
        features: 9,
        classes: 3,
        weighted: true,
        sparse: false,
        directed: false,
        seed: 4,
    };
    let dataset = recipe.make();
    let train: Vec<usize> = (0..NODES).filter(|node| node % 5 != 0).collect();
    let own: Vec<f64> = train.iter().map(|&node| 0.3 + (node % 4) as f64).collect();
    let split = Split::new(NODES, train.clone(), vec![], vec![]).unwrap();
    let split = split.with_weights(Some(own.clone())).unwrap();
    let class = |node: usize| dataset.labels().get(node).unwrap();
    let named = |name: &str| if name == dataset.labels().classes()[1] { 2.5 } else { 1.0 };
    let of_class = |node: usize| named(dataset.labels().name(node).unwrap());
    let objective = Objective {
        class_weights: format!("{}=2.5", dataset.labels().classes()[1]).parse().unwrap(),
        ..Objective::default()
    };
    let weights: Vec<f64> = train.iter().zip(&own).map(|(&node, w)| w * of_class(node)).collect();
    let design = Design::from(Filter::sgc(2).unwrap());
    let f = naive::design(&dataset, &design);
    let inputs: Dense = train.iter().map(|&node| f[node].clone()).collect();
    let y = naive::targets(&train.iter().map(|&node| class(node)).collect::<Vec<u32>>(), 3);
    for intercept in [false, true] {
        let selection = Selection::fixed(lambda).unwrap();
        let ridge = Ridge { selection, intercept, ..Ridge::default() };
        let classifier =
            Classifier::new(design.clone()).with_ridge(ridge).with_objective(objective.clone());
        let study = classifier.study(&dataset, &split, &context).unwrap();
        let (model, left_out) = study.fit(Some(lambda), &context).unwrap();
        let scores = model.predict(&dataset, &context).unwrap();
        for (node, own) in f.iter().enumerate() {
            let expected = primal(own, &inputs, &y, &weights, 1.0 / lambda, intercept);
            assert_close(&expected, &scores.scores(node), 1e-5, &format!("node {node}"));
        }
        for place in 0..train.len() {
            let (rest, of_rest) = (without(&inputs, place), without(&y, place));
            let others = without(&weights, place);
            let expected =
                primal(&inputs[place], &rest, &of_rest, &others, 1.0 / lambda, intercept);
            let what = format!("without node {}", train[place]);
            assert_close(&expected, left_out.targets.row(place), 1e-5, &what);
        }
        // Weights that are all 1 are none.
        let alike = split.clone().with_weights(Some(vec![1.0; train.len()])).unwrap();
        let plain = Split::new(NODES, train.clone(), vec![], vec![]).unwrap();
        let fit = |split: &Split| classifier.fit(&dataset, split, &context).unwrap().to_bytes();
        assert_eq!(fit(&alike), fit(&plain));
        assert_ne!(fit(&split), fit(&plain));
    }
}

//! Every filter × kernel × form × normalisation equals the naive dense reference.

mod naive;
mod synthetic;

use gfgcn::filter::{Filter, FilterBank, Tolerance, propagate};
use gfgcn::graph::{Normalization, Propagator};
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::{Problem, RidgePath, Selection, Targets};
use gfgcn::split::Split;
use gfgcn::{Classifier, Options};
use naive::Dense;
use synthetic::Recipe;

fn filters() -> Vec<Filter> {
    vec![
        Filter::sgc(1).unwrap(),
        Filter::sgc(3).unwrap(),
        Filter::sgc(40).unwrap(),
        Filter::ssgc(1, 0.3).unwrap(),
        Filter::ssgc(16, 0.05).unwrap(),
        Filter::dgc(2, 5.27).unwrap(),
        Filter::dgc(30, 5.27).unwrap(),
    ]
}

fn kernels() -> Vec<Kernel> {
    let names = [
        "linear",
        "polynomial",
        "polynomial:degree=2,coefficient=0,gamma=0.1",
        "rbf",
        "rbf:gamma=0.2",
        "laplacian",
        "cosine",
        "arccosine:order=0",
        "arccosine:order=1",
        "arccosine:order=2",
    ];
    names.map(|name| name.parse().unwrap()).to_vec()
}

const NORMALIZATIONS: [Normalization; 2] = [Normalization::Symmetric, Normalization::Row];

fn to_dense(m: &Matrix<f64>) -> Dense {
    (0..m.rows()).map(|i| m.row(i).to_vec()).collect()
}

fn to_matrix(m: &Dense) -> Matrix<f64> {
    Matrix::from_fn(m.len(), m[0].len(), |i, j| m[i][j])
}

/// Fewer features than training nodes (primal), more (dual), one; dense and sparse; weighted.
fn recipes() -> Vec<Recipe> {
    let base =
        Recipe { nodes: 37, features: 7, classes: 3, weighted: false, sparse: false, seed: 1 };
    vec![
        base,
        Recipe { features: 70, sparse: true, seed: 2, ..base },
        Recipe { features: 1, classes: 2, weighted: true, seed: 3, ..base },
        Recipe { features: 130, classes: 5, weighted: true, seed: 4, ..base },
    ]
}

#[test]
fn filtered_features_equal_the_formulas() {
    for recipe in recipes() {
        let dataset = recipe.make();
        let x = naive::features(&dataset, false);
        for normalization in NORMALIZATIONS {
            let operator = naive::operator(&dataset, normalization);
            let propagator = Propagator::new(dataset.graph(), normalization);
            let bank = FilterBank::new(&filters(), Tolerance::default());
            let single = propagate::<f32>(&propagator, &bank, dataset.features(), None);
            let double = propagate::<f64>(&propagator, &bank, dataset.features(), None);
            for ((filter, single), double) in filters().into_iter().zip(single).zip(double) {
                let expected = naive::filter(&operator, &x, filter);
                let error = naive::distance(&expected, &to_dense(&single.to_matrix()));
                assert!(error < 2e-5, "{filter}, {normalization}, single: {error:e}");
                let error = naive::distance(&expected, &to_dense(&double.to_matrix()));
                assert!(error < 5e-7, "{filter}, {normalization}, double: {error:e}");
            }
        }
    }
}

#[test]
fn one_product_equals_the_definition() {
    for recipe in recipes() {
        let dataset = recipe.make();
        let x = naive::features(&dataset, false);
        for normalization in NORMALIZATIONS {
            let expected = naive::multiply(&naive::operator(&dataset, normalization), &x);
            let dense = to_matrix(&x).to_f32();
            let mut out = Matrix::zeros(dense.rows(), dense.cols());
            Propagator::new(dataset.graph(), normalization).multiply(&dense, &mut out);
            let error = naive::distance(&expected, &to_dense(&out.to_f64()));
            assert!(error < 1e-6, "{normalization}: {error:e}");
        }
    }
}

#[test]
fn scores_equal_the_formulas_for_every_combination() {
    let mut combinations = 0;
    for recipe in recipes() {
        let dataset = recipe.make();
        let train: Vec<usize> = (0..recipe.nodes).filter(|i| i % 2 == 0 || *i < 10).collect();
        let classes: Vec<u32> = train.iter().map(|&i| dataset.labels().get(i).unwrap()).collect();
        let split = Split::new(recipe.nodes, train.clone(), vec![], vec![]).unwrap();
        for normalization in NORMALIZATIONS {
            let operator = naive::operator(&dataset, normalization);
            for filter in filters() {
                for kernel in kernels() {
                    for (intercept, row_normalize) in [(false, false), (true, false), (false, true)]
                    {
                        let options = Options {
                            kernel,
                            selection: Selection::fixed(3.0).unwrap(),
                            normalization,
                            row_normalize,
                            intercept,
                            ..Options::default()
                        };
                        let model =
                            Classifier::new(filter).options(options).fit(&dataset, &split).unwrap();
                        let predictions = model.predict(&dataset).unwrap();
                        let x = naive::features(&dataset, row_normalize);
                        let f = naive::filter(&operator, &x, filter);
                        let expected = naive::scores(
                            &f,
                            &train,
                            &classes,
                            recipe.classes,
                            model.options().kernel,
                            1.0 / 3.0,
                            intercept,
                        );
                        let found: Dense = (0..recipe.nodes)
                            .map(|node| match recipe.classes {
                                2 => vec![predictions.scores(node)[1]],
                                _ => predictions.scores(node),
                            })
                            .collect();
                        let error = naive::distance(&expected, &found);
                        // Angles near 0 and distances near 0 magnify single-precision features.
                        let tolerance = match kernel {
                            Kernel::ArcCosine { order: 0, .. } => 5e-3,
                            _ => 2e-4,
                        };
                        assert!(
                            error < tolerance,
                            "{filter}, {kernel}, {normalization}, intercept {intercept}, \
                             row-normalised {row_normalize}, {recipe:?}: {error:e}"
                        );
                        combinations += 1;
                    }
                }
            }
        }
    }
    assert_eq!(combinations, 4 * 2 * 7 * 10 * 3);
}

/// The closed form itself, on the same double-precision features: to rounding.
#[test]
fn primal_dual_and_the_bordered_system_agree_to_rounding() {
    for recipe in recipes() {
        let dataset = recipe.make();
        let f = naive::features(&dataset, false);
        let classes: Vec<u32> = dataset.labels().as_slice().iter().flatten().copied().collect();
        let targets = Targets::encode(classes.clone(), recipe.classes);
        let y = naive::targets(&classes, recipe.classes);
        let gram = naive::gram(Kernel::Linear, &f, &f);
        for intercept in [false, true] {
            for xi in [1e-3, 0.1, 10.0] {
                let (alpha, constant) = naive::ridge(&gram, &y, xi, intercept);
                let weights = naive::multiply(&naive::transpose(&f), &alpha);
                // By a path and for one λ alone, on either side.
                let primal = || Problem::Primal(to_matrix(&f));
                let dual = || Problem::Dual(to_matrix(&gram));
                let on_path =
                    |problem: Problem| problem.path(targets.clone(), intercept).solve(xi).unwrap();
                let alone = |problem: Problem| problem.solve(&targets, intercept, xi).unwrap();
                let primal = [on_path(primal()), alone(primal())];
                let dual = [on_path(dual()), alone(dual())];
                for solution in &primal {
                    assert!(naive::distance(&weights, &to_dense(&solution.coefficients)) < 1e-8);
                }
                for solution in &dual {
                    assert!(naive::distance(&alpha, &to_dense(&solution.coefficients)) < 1e-8);
                }
                for solution in primal.into_iter().chain(dual) {
                    let found = vec![solution.intercept];
                    let scale = 1.0 + constant[0].abs();
                    assert!(
                        constant.iter().zip(&found[0]).all(|(a, b)| (a - b).abs() < 1e-8 * scale),
                        "intercept {constant:?} {found:?}"
                    );
                }
            }
        }
    }
}

/// Really leave each node out, refit, and ask the refitted model.
#[test]
fn leave_one_out_equals_leaving_each_node_out() {
    let recipe =
        Recipe { nodes: 24, features: 9, classes: 3, weighted: false, sparse: false, seed: 9 };
    let dataset = recipe.make();
    let f = naive::features(&dataset, false);
    let n = f.len();
    let classes: Vec<u32> = dataset.labels().as_slice().iter().flatten().copied().collect();
    let targets = Targets::encode(classes.clone(), 3);
    // Down to penalties where a null space that was left in would fool the formula.
    let penalties = [1e-6, 1e-3, 0.1, 1.0, 30.0];
    for name in ["linear", "rbf:gamma=0.3", "polynomial:gamma=0.5", "laplacian:gamma=0.2"] {
        let kernel: Kernel = name.parse().unwrap();
        let gram = naive::gram(kernel, &f, &f);
        for intercept in [false, true] {
            let mut paths =
                vec![("dual", RidgePath::dual(to_matrix(&gram), targets.clone(), intercept))];
            if kernel.is_linear() {
                paths
                    .push(("primal", RidgePath::primal(to_matrix(&f), targets.clone(), intercept)));
            }
            for (form, path) in paths {
                let predictions = path.leave_one_out(
                    &penalties,
                    |all: &mut Vec<Vec<f64>>, _, prediction| all.push(prediction.to_vec()),
                    Vec::extend,
                );
                for (xi, predictions) in penalties.iter().zip(predictions) {
                    let predictions = predictions.unwrap();
                    for left_out in 0..n {
                        let rest: Vec<usize> = (0..n).filter(|&i| i != left_out).collect();
                        let of_rest: Vec<u32> = rest.iter().map(|&i| classes[i]).collect();
                        let refit = if kernel.is_linear() {
                            let train: Dense = rest.iter().map(|&i| f[i].clone()).collect();
                            let y = naive::targets(&of_rest, 3);
                            naive::primal_scores(&f[left_out], &train, &y, *xi, intercept)
                        } else {
                            naive::scores(&f, &rest, &of_rest, 3, kernel, *xi, intercept)
                                .swap_remove(left_out)
                        };
                        let scale = refit.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
                        // The systems have condition trace(M) / ξ.
                        let condition = (0..n).map(|i| gram[i][i]).sum::<f64>() / xi;
                        let tolerance = 1e-9 + 100.0 * f64::EPSILON * condition;
                        for (expected, found) in refit.iter().zip(&predictions[left_out]) {
                            assert!(
                                (expected - found).abs() < tolerance * scale,
                                "{name} {form}, intercept {intercept}, ξ {xi}, node {left_out}: \
                                 {expected} {found}"
                            );
                        }
                    }
                }
            }
        }
    }
}

//! Every filter × kernel × form × normalisation equals the naive dense reference.

mod naive;
mod synthetic;

use gfgcn::context::Context;
use gfgcn::driver::{Driver, Rows};
use gfgcn::filter::Filter;
use gfgcn::graph::Operator;
use gfgcn::head::{Head, Truth};
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::{Problem, Purpose, Selection};
use gfgcn::split::Split;
use gfgcn::{Classifier, Design, Ridge, RowScaling};
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
        Filter::Identity,
        Filter::high_pass(2).unwrap(),
        Filter::ppr(0.15).unwrap(),
        Filter::heat(3.0).unwrap(),
    ]
}

/// Every normalisation and direction, with and without self-loops, and relations where there are some.
fn operators(directed: bool) -> Vec<Operator> {
    let either = ["sym", "row", "sym:loops=0", "row:loops=2.5"];
    let one_way = [
        "sym:out",
        "row:out,loops=0",
        "row:in",
        "row:out-in",
        "sym:in-out,loops=0",
        "row:relation=even",
        "row:in,loops=0,relation=odd",
    ];
    let names = either.iter().chain(if directed { &one_way[..] } else { &[] });
    names.map(|name| name.parse().unwrap()).collect()
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

/// Y of some classes.
fn targets(classes: &[u32], count: usize) -> Matrix<f64> {
    let head = Head::classes((0..count).map(|class| class.to_string()).collect());
    let classes = classes.iter().map(|&class| Some(class)).collect();
    Truth::of_classes(&head, classes).matrix().clone()
}

fn to_dense(m: &Matrix<f64>) -> Dense {
    (0..m.rows()).map(|i| m.row(i).to_vec()).collect()
}

fn to_matrix(m: &Dense) -> Matrix<f64> {
    Matrix::from_fn(m.len(), m[0].len(), |i, j| m[i][j])
}

/// Fewer features than training nodes (primal), more (dual), one, fewer than classes; dense and sparse; weighted.
fn recipes() -> Vec<Recipe> {
    let base = Recipe {
        nodes: 37,
        features: 7,
        classes: 3,
        weighted: false,
        sparse: false,
        directed: false,
        seed: 1,
    };
    vec![
        base,
        Recipe { features: 70, sparse: true, directed: false, seed: 2, ..base },
        Recipe { features: 1, classes: 2, weighted: true, seed: 3, ..base },
        Recipe { features: 130, classes: 5, weighted: true, seed: 4, ..base },
        Recipe { directed: true, seed: 5, ..base },
        Recipe { features: 70, sparse: true, weighted: true, directed: true, seed: 6, ..base },
        Recipe { features: 2, classes: 5, seed: 7, ..base },
    ]
}

#[test]
fn filtered_features_equal_the_formulas() {
    for recipe in recipes() {
        let dataset = recipe.make();
        let x = naive::features(&dataset, RowScaling::Plain);
        let identity = to_matrix(&naive::identity(recipe.features));
        for operator in operators(recipe.directed) {
            let dense = naive::operator(&dataset, &operator);
            let design = |f| Design::from(f).with_operator(operator.clone());
            let designs: Vec<Design> = filters().into_iter().map(design).collect();
            let context = Context::default();
            let driver = Driver::new(&dataset, &designs, Rows::All, recipe.features).unwrap();
            let single = driver.run(0..designs.len(), &context).unwrap();
            for (k, (filter, single)) in filters().into_iter().zip(single).enumerate() {
                let expected = naive::filter(&dense, &x, filter);
                let error = naive::distance(&expected, &to_dense(&single.to_matrix().to_f64()));
                assert!(error < 2e-5, "{filter}, {operator}, single: {error:e}");
                // Scores with W = I are the filtered features in double precision.
                let double = driver.scores(k, &[&identity], &context).unwrap();
                let error = naive::distance(&expected, &to_dense(&double));
                assert!(error < 5e-7, "{filter}, {operator}, double: {error:e}");
            }
        }
    }
}

#[test]
fn one_product_equals_the_definition() {
    for recipe in recipes() {
        let dataset = recipe.make();
        let x = naive::features(&dataset, RowScaling::Plain);
        let single = |operator: &Operator| dataset.graph().adjacency(operator).is_ok();
        for operator in operators(recipe.directed).into_iter().filter(single) {
            let expected = naive::multiply(&naive::operator(&dataset, &operator), &x);
            let dense = to_matrix(&x).to_f32();
            let mut out = Matrix::zeros(dense.rows(), dense.cols());
            dataset.graph().adjacency(&operator).unwrap().multiply(&dense, &mut out);
            let error = naive::distance(&expected, &to_dense(&out.to_f64()));
            assert!(error < 1e-6, "{operator}: {error:e}");
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
        let context = Context::default();
        for operator in Operator::PAPERS {
            let dense = naive::operator(&dataset, &operator);
            // A high-pass filter leaves nothing of the isolated node but rounding, and the angle to that is anything.
            let smooth = |filter: &Filter| !matches!(filter, Filter::HighPass { .. });
            for filter in filters().into_iter().filter(smooth) {
                for kernel in kernels() {
                    for (intercept, rows) in [
                        (false, RowScaling::Plain),
                        (true, RowScaling::Plain),
                        (false, RowScaling::Sum),
                    ] {
                        let ridge =
                            Ridge { kernel, selection: Selection::fixed(3.0).unwrap(), intercept };
                        let design =
                            Design::from(filter).with_operator(operator.clone()).with_rows(rows);
                        let classifier = Classifier::new(design).with_ridge(ridge);
                        let model = classifier.fit(&dataset, &split, &context).unwrap();
                        let predictions = model.predict(&dataset, &context).unwrap();
                        let x = naive::features(&dataset, rows);
                        let f = naive::filter(&dense, &x, filter);
                        let expected = naive::scores(
                            &f,
                            &train,
                            &classes,
                            recipe.classes,
                            model.members()[0].ridge().kernel,
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
                            "{filter}, {kernel}, {operator}, intercept {intercept}, \
                             rows {rows}, {recipe:?}: {error:e}"
                        );
                        combinations += 1;
                    }
                }
            }
        }
    }
    assert_eq!(combinations, 7 * 2 * 10 * 10 * 3);
}

/// The closed form itself, on the same double-precision features: to rounding.
#[test]
fn primal_dual_and_the_bordered_system_agree_to_rounding() {
    for recipe in recipes() {
        let dataset = recipe.make();
        let f = naive::features(&dataset, RowScaling::Plain);
        let classes: Vec<u32> = dataset.labels().as_slice().iter().flatten().copied().collect();
        let targets = targets(&classes, recipe.classes);
        let context = Context::default();
        let y = naive::targets(&classes, recipe.classes);
        let gram = naive::gram(Kernel::Linear, &f, &f);
        for intercept in [false, true] {
            for xi in [1e-3, 0.1, 10.0] {
                let (alpha, constant) = naive::ridge(&gram, &y, xi, intercept);
                let weights = naive::multiply(&naive::transpose(&f), &alpha);
                // By a path and for one λ alone, on either side.
                let primal = || Problem::Primal(to_matrix(&f));
                let dual = || Problem::Dual(to_matrix(&gram));
                let on_path = |problem: Problem| {
                    let path = problem
                        .path(Purpose::LeftOut, targets.clone(), None, intercept, &context)
                        .unwrap();
                    path.solve(xi, &context).unwrap()
                };
                let alone = |problem: Problem| {
                    problem.solve(&targets, None, intercept, xi, &context).unwrap()
                };
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
    let recipe = Recipe {
        nodes: 24,
        features: 9,
        classes: 3,
        weighted: false,
        sparse: false,
        directed: false,
        seed: 9,
    };
    let dataset = recipe.make();
    let f = naive::features(&dataset, RowScaling::Plain);
    let n = f.len();
    let classes: Vec<u32> = dataset.labels().as_slice().iter().flatten().copied().collect();
    let targets = targets(&classes, 3);
    let context = Context::default();
    // Down to penalties where a null space that was left in would fool the formula.
    let penalties = [1e-6, 1e-3, 0.1, 1.0, 30.0];
    for name in ["linear", "rbf:gamma=0.3", "polynomial:gamma=0.5", "laplacian:gamma=0.2"] {
        let kernel: Kernel = name.parse().unwrap();
        let gram = naive::gram(kernel, &f, &f);
        for intercept in [false, true] {
            let dual = Problem::Dual(to_matrix(&gram)).path(
                Purpose::LeftOut,
                targets.clone(),
                None,
                intercept,
                &context,
            );
            let mut paths = vec![("dual", dual.unwrap())];
            if kernel.is_linear() {
                let primal = Problem::Primal(to_matrix(&f)).path(
                    Purpose::LeftOut,
                    targets.clone(),
                    None,
                    intercept,
                    &context,
                );
                paths.push(("primal", primal.unwrap()));
            }
            for (form, path) in paths {
                let predictions = path.leave_one_out(
                    &penalties,
                    &context,
                    |all: &mut Vec<Vec<f64>>, _, prediction| all.push(prediction.to_vec()),
                    Vec::extend,
                );
                for (xi, predictions) in penalties.iter().zip(predictions.unwrap()) {
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

/// Several channels side by side: the formulas on the concatenated features, on either side of the system.
#[test]
fn channels_side_by_side_equal_the_formulas_on_concatenated_features() {
    let designs = [
        "ssgc:depth=4 + sgc:depth=1@row",
        "sgc:depth=2/sum + sgc:depth=2 + dgc:depth=30@row/sum",
        "0.25*sgc:depth=2@sym:loops=0 of structure + 3*identity/unit + identity of degrees",
    ];
    for (recipe, design) in recipes().into_iter().flat_map(|r| designs.map(|design| (r, design))) {
        let dataset = recipe.make();
        let design: Design = design.parse().unwrap();
        let train: Vec<usize> = (0..recipe.nodes).filter(|i| i % 2 == 0 || *i < 10).collect();
        let classes: Vec<u32> = train.iter().map(|&i| dataset.labels().get(i).unwrap()).collect();
        let split = Split::new(recipe.nodes, train.clone(), vec![], vec![]).unwrap();
        let f = naive::design(&dataset, &design);
        for kernel in ["linear", "rbf"] {
            let kernel = kernel.parse().unwrap();
            let ridge =
                Ridge { kernel, selection: Selection::fixed(3.0).unwrap(), intercept: true };
            let classifier = Classifier::new(design.clone()).with_ridge(ridge);
            let context = Context::default();
            let model = classifier.fit(&dataset, &split, &context).unwrap();
            assert_eq!(model.features(), recipe.features);
            let loaded = gfgcn::Model::from_bytes(&model.to_bytes()).unwrap();
            assert_eq!(loaded, model);
            let predictions = loaded.predict(&dataset, &context).unwrap();
            let kernel = model.members()[0].ridge().kernel;
            let expected =
                naive::scores(&f, &train, &classes, recipe.classes, kernel, 1.0 / 3.0, true);
            let found: Dense = (0..recipe.nodes)
                .map(|node| match recipe.classes {
                    2 => vec![predictions.scores(node)[1]],
                    _ => predictions.scores(node),
                })
                .collect();
            let error = naive::distance(&expected, &found);
            assert!(error < 2e-4, "{design}, {kernel}, {recipe:?}: {error:e}");
        }
    }
}

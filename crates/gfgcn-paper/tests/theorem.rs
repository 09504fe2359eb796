//! Theorem 1 and the scale invariance of the closed form, as the paper states them, on a small graph that is
//! connected and not bipartite. The limits are computed here from dense matrices, not by the library.

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::driver::{Driver, Rows};
use gfgcn::evaluation::Evaluation;
use gfgcn::features::Features;
use gfgcn::filter::{Filter, Tolerance};
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::{Design, Ridge};

const NODES: usize = 10;

/// A ring of ten with a chord that closes a triangle, and one more.
fn graph() -> Graph {
    let mut edges: Vec<(u32, u32)> = (0..10).map(|k| (k, (k + 1) % 10)).collect();
    edges.extend([(0, 2), (3, 7)]);
    Graph::from_edges(NODES, &edges, None).unwrap().0
}

fn features() -> Matrix<f32> {
    Matrix::from_fn(NODES, 4, |i, j| ((i * 7 + j * 5) % 11) as f32 / 5.0 - 1.0)
}

/// F less the mean of its rows, for a filter with row normalisation.
fn centred(filter: Filter) -> Matrix<f64> {
    let features = Features::dense(features()).unwrap();
    let data = Dataset::new("ring", graph(), features, Labels::none(NODES)).unwrap();
    let design = Design::from(filter)
        .with_operator("row".parse().unwrap())
        .with_tolerance(Tolerance::new(1e-12).unwrap());
    let driver = Driver::new(&data, &[design], Rows::of(vec![], NODES), 4).unwrap();
    // Scores with W = I are the filtered features in double precision.
    let identity = Matrix::from_fn(4, 4, |i, j| f64::from(i == j));
    minus_mean(&driver.scores(0, &[&identity], &Context::default()).unwrap())
}

fn minus_mean(f: &Matrix<f64>) -> Matrix<f64> {
    let means = f.column_means();
    Matrix::from_fn(f.rows(), f.cols(), |i, j| f[(i, j)] - means[j])
}

/// D̃⁻¹ (A + I), dense.
fn walk() -> Matrix<f64> {
    let graph = graph();
    Matrix::from_fn(NODES, NODES, |i, j| {
        let linked = i == j || graph.neighbours(i).contains(&(j as u32));
        f64::from(u8::from(linked)) / (graph.degree(i) as f64 + 1.0)
    })
}

fn times(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.rows(), b.cols(), |i, j| (0..a.cols()).map(|k| a[(i, k)] * b[(k, j)]).sum())
}

fn assert_close(a: &Matrix<f64>, b: &Matrix<f64>, tolerance: f64) {
    let worst = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs());
    let worst = worst.fold(0.0, f64::max);
    assert!(worst < tolerance, "they differ by {worst:e}");
}

#[test]
fn sgc_vanishes() {
    let zero = Matrix::zeros(NODES, 4);
    assert_close(&centred(Filter::sgc(2000).unwrap()), &zero, 1e-9);
    // Not yet at a shallow depth.
    let shallow = centred(Filter::sgc(2).unwrap());
    assert!(shallow.as_slice().iter().any(|value| value.abs() > 0.1));
}

#[test]
fn ssgc_approaches_its_share_of_the_features() {
    for tau in [0.05, 0.3] {
        let x = minus_mean(&features().to_f64());
        let limit = Matrix::from_fn(NODES, 4, |i, j| tau * x[(i, j)]);
        // The mean of the first K powers approaches its limit like 1/K.
        assert_close(&centred(Filter::ssgc(10_000, tau).unwrap()), &limit, 2e-3);
        let early = centred(Filter::ssgc(1000, tau).unwrap());
        let late = centred(Filter::ssgc(10_000, tau).unwrap());
        let distance = |f: &Matrix<f64>| -> f64 {
            let pairs = f.as_slice().iter().zip(limit.as_slice());
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let ratio = distance(&early) / distance(&late);
        assert!((ratio - 10.0).abs() < 0.5, "{ratio}");
    }
}

#[test]
fn dgc_approaches_the_heat_kernel() {
    for time in [0.5, 5.27] {
        // exp(T (W − I)) X by its series.
        let step = Matrix::from_fn(NODES, NODES, |i, j| {
            time * (walk()[(i, j)] - f64::from(u8::from(i == j)))
        });
        let mut term = features().to_f64();
        let mut sum = term.clone();
        for k in 1..200 {
            let next = times(&step, &term);
            term = Matrix::from_fn(NODES, 4, |i, j| next[(i, j)] / f64::from(k));
            sum = Matrix::from_fn(NODES, 4, |i, j| sum[(i, j)] + term[(i, j)]);
        }
        assert_close(&centred(Filter::dgc(10_000, time).unwrap()), &minus_mean(&sum), 1e-3);
    }
    // Which is small when T is large.
    let long = centred(Filter::dgc(10_000, 500.0).unwrap());
    assert_close(&long, &Matrix::zeros(NODES, 4), 1e-6);
}

/// Features times β and ξ = 1/λ times β²: the same predictions.
#[test]
fn the_closed_form_does_not_depend_on_the_scale() {
    let predictions = |beta: f32, lambda: f64| {
        let scaled = Matrix::from_fn(NODES, 4, |i, j| beta * features()[(i, j)]);
        let names: Vec<Option<&str>> =
            (0..NODES).map(|i| Some(["a", "b", "c"][i * 5 % 7 % 3])).collect();
        let data = Dataset::new(
            "ring",
            graph(),
            Features::dense(scaled).unwrap(),
            Labels::from_names(&names),
        )
        .unwrap();
        let split = Split::new(NODES, vec![0, 1, 2, 4, 6, 8], vec![], vec![3, 5, 7, 9]).unwrap();
        let ridge = Ridge { selection: Selection::fixed(lambda).unwrap(), ..Ridge::default() };
        let designs = [Filter::sgc(2), Filter::ssgc(4, 0.05)].map(|f| Design::from(f.unwrap()));
        let evaluation = Evaluation {
            designs: designs.to_vec(),
            splits: vec![split],
            ridge,
            ..Evaluation::default()
        };
        let results = evaluation.run(&data, &Context::default()).unwrap();
        results.into_iter().map(|result| result.predictions).collect::<Vec<_>>()
    };
    let unscaled = predictions(1.0, 0.8);
    for beta in [0.125_f32, 32.0] {
        assert_eq!(predictions(beta, 0.8 / f64::from(beta).powi(2)), unscaled);
    }
}

//! The arithmetic that everything else is made of, piece by piece, on made-up data of the size of
//! PubMed's training part.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use gfgcn::context::Context;
use gfgcn::graph::{Graph, Operator};
use gfgcn::head::{Head, Truth};
use gfgcn::linalg::{Cholesky, Tridiagonal, gram_of_columns, gram_of_rows};
use gfgcn::matrix::Matrix;
use gfgcn::ridge::{Problem, Purpose, penalty_grid};
use std::hint::black_box;

const NODES: usize = 20_000;
const EDGES: usize = 45_000;
const TRAIN: usize = 2_000;
const FEATURES: usize = 500;
const CLASSES: usize = 3;

/// Whole numbers without a pattern (SplitMix64).
fn scrambled(k: usize) -> u64 {
    let mut z = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn value(i: usize, j: usize) -> f64 {
    scrambled(i * 100_003 + j) as f64 / u64::MAX as f64 - 0.5
}

fn product(c: &mut Criterion) {
    let end = |k: usize| (scrambled(k) % NODES as u64) as u32;
    let edges: Vec<(u32, u32)> = (0..EDGES).map(|k| (end(2 * k), end(2 * k + 1))).collect();
    let (graph, _) = Graph::from_edges(NODES, &edges, None).expect("the nodes are in range");
    let adjacency = graph.adjacency(&Operator::default()).unwrap();
    let mut group = c.benchmark_group("product");
    for columns in [1, 8, 64, FEATURES] {
        let x = Matrix::from_fn(NODES, columns, |i, j| value(i, j) as f32);
        let mut out = Matrix::zeros(NODES, columns);
        group.bench_function(format!("{columns} columns"), |b| {
            b.iter(|| adjacency.multiply(black_box(&x), &mut out));
        });
    }
}

fn gram(c: &mut Criterion) {
    let (features, context) = (Matrix::from_fn(TRAIN, FEATURES, value), Context::default());
    let mut group = c.benchmark_group("gram");
    group.bench_function("of columns", |b| {
        b.iter(|| gram_of_columns(black_box(&features), &context))
    });
    group.bench_function("of rows", |b| b.iter(|| gram_of_rows(black_box(&features), &context)));
}

fn factorisation(c: &mut Criterion) {
    let context = Context::default();
    for size in [100, FEATURES, TRAIN] {
        let features = Matrix::from_fn(size + 10, size, value);
        let gram = gram_of_columns(&features, &context).expect("never cancelled");
        let mut group = c.benchmark_group(format!("factorisation of size {size}"));
        group.bench_function("tridiagonal", |b| {
            let reduce = |gram| Tridiagonal::reduce(gram, &context);
            b.iter_batched(|| gram.clone(), reduce, BatchSize::LargeInput);
        });
        group.bench_function("Cholesky", |b| {
            let factorise = |gram| Cholesky::new(gram, &context);
            b.iter_batched(|| gram.clone(), factorise, BatchSize::LargeInput);
        });
    }
}

fn path(c: &mut Criterion) {
    let context = Context::default();
    let classes = (0..TRAIN).map(|i| Some((scrambled(i) % CLASSES as u64) as u32)).collect();
    let head = Head::classes((0..CLASSES).map(|class| class.to_string()).collect());
    let targets = Truth::of_classes(&head, classes);
    let features = Matrix::from_fn(TRAIN, FEATURES, value);
    let prepare = |features| {
        let targets = targets.matrix().clone();
        Problem::Primal(features).path(Purpose::LeftOut, targets, None, false, &context)
    };
    let path = prepare(features.clone()).expect("never cancelled");
    let penalties = penalty_grid(path.scale());
    let mut group = c.benchmark_group("path");
    group.bench_function("prepared", |b| {
        b.iter_batched(|| features.clone(), prepare, BatchSize::LargeInput);
    });
    group.bench_function("one solution", |b| {
        b.iter(|| path.solve(black_box(penalties[12]), &context))
    });
    group.bench_function("leave-one-out of 25", |b| {
        b.iter(|| targets.judge_left_out(&path, black_box(&penalties), &context));
    });
}

criterion_group! {
    name = kernels;
    config = Criterion::default().sample_size(20);
    targets = product, gram, factorisation, path
}
criterion_main!(kernels);

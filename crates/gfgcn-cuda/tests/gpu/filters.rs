//! Filtered rows and scores.

use super::{chance, difference, gpu, limited, on};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::driver::{Driver, Rows};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::{Matrix, SparseMatrix};
use gfgcn::{Design, filter::Filter};

const NODES: usize = 700;

fn edges() -> Vec<(u32, u32)> {
    let number = |k: usize| ((chance(k) + 0.5) * NODES as f64) as u32;
    let random = (0..4 * NODES).map(|k| (number(2 * k), number(2 * k + 1)));
    // Node 0 knows everybody; node 1 more than fit in one chain.
    let hub = (1..NODES as u32).map(|leaf| (0, leaf));
    let smaller = (2..400).map(|leaf| (1, leaf));
    random.chain(hub).chain(smaller).collect()
}

fn graph(directed: bool, weighted: bool) -> Graph {
    let edges = edges();
    let weights: Vec<f32> = (0..edges.len()).map(|k| 1.0 + chance(k + 9) as f32).collect();
    let weights = weighted.then_some(weights.as_slice());
    match directed {
        true => Graph::from_arcs(NODES, &edges, weights).unwrap().0,
        false => Graph::from_edges(NODES, &edges, weights).unwrap().0,
    }
}

fn features(columns: usize, sparse: bool) -> Features {
    let value = |i: usize, j: usize| {
        let kept = !sparse || (i * 7 + j * 13).is_multiple_of(11);
        if kept { chance(i * 1000 + j) as f32 } else { 0.0 }
    };
    if !sparse {
        return Features::dense(Matrix::from_fn(NODES, columns, value)).unwrap();
    }
    let (mut offsets, mut indices, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for i in 0..NODES {
        for j in 0..columns {
            if value(i, j) != 0.0 {
                indices.push(j as u32);
                values.push(value(i, j));
            }
        }
        offsets.push(indices.len());
    }
    let matrix = SparseMatrix::from_csr(columns, &offsets, &indices, &values).unwrap();
    Features::sparse(matrix).unwrap()
}

fn dataset(graph: Graph, features: Features) -> Dataset {
    Dataset::new("random", graph, features, Labels::none(NODES)).unwrap()
}

fn designs(texts: &[&str]) -> Vec<Design> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

const UNDIRECTED: &[&str] = &[
    "sgc:depth=3",
    "ssgc:depth=40,tau=0.1",
    "dgc:depth=9,time=5",
    "sgc:depth=64",
    "identity",
    "highpass:depth=2",
    "ppr:alpha=0.1@row",
    "sgc:depth=2@sym:loops=0",
    "sgc:depth=2@row:loops=0.5 + 0.25*heat:time=3",
    "sgc:depth=1@unit",
    "sgc:depth=2@row of structure",
];
const DIRECTED: &[&str] = &[
    "sgc:depth=3@row:out",
    "ssgc:depth=5@row:in",
    "sgc:depth=2@sym:out",
    "sgc:depth=2@row:out-in",
    "sgc:depth=3@row:in-out,loops=0",
];

fn filtered(data: &Dataset, designs: &[Design], rows: Rows, context: &Context) -> Vec<Matrix<f64>> {
    let driver = Driver::new(data, designs, rows, 0).unwrap();
    let run = |context: &Context| {
        let all = driver.run(0..designs.len(), context)?;
        Ok(all.iter().map(|filtered| filtered.to_matrix().to_f64()).collect())
    };
    match context.placement().trouble() {
        None if format!("{:?}", context.placement()).contains("processor") => run(context).unwrap(),
        _ => on(context, run),
    }
}

#[test]
fn filtered_rows_are_those_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    for (directed, weighted) in [(false, false), (false, true), (true, false), (true, true)] {
        let designs = designs(if directed { DIRECTED } else { UNDIRECTED });
        for (columns, sparse) in [(1, false), (3, true), (33, false), (150, true), (130, false)] {
            let data = dataset(graph(directed, weighted), features(columns, sparse));
            for rows in [Rows::All, Rows::of(vec![0, 5, 699, 17], NODES)] {
                let expected = filtered(&data, &designs, rows.clone(), &Context::default());
                let found = filtered(&data, &designs, rows, &gpu);
                for ((found, expected), design) in found.iter().zip(&expected).zip(&designs) {
                    let off = difference(found, expected);
                    let what = format!("{design}, {columns} columns, directed {directed}");
                    // The same bits but for rows that are divided.
                    assert!(off < 1e-6, "{what}: {off:e}");
                }
            }
        }
    }
}

/// Â^K X with Â = D̃^-½ (A + I) D̃^-½ as a dense matrix, in double precision.
#[test]
fn filtered_rows_are_those_of_the_definition() {
    let Some(gpu) = gpu() else { return };
    let (graph, x) = (graph(false, true), features(5, false));
    let mut a = Matrix::<f64>::zeros(NODES, NODES);
    for i in 0..NODES {
        a[(i, i)] = 1.0;
        let weights = graph.weights(i).unwrap();
        for (&j, &w) in graph.neighbours(i).iter().zip(weights) {
            a[(i, j as usize)] = f64::from(w);
        }
    }
    let degree: Vec<f64> = (0..NODES).map(|i| a.row(i).iter().sum::<f64>().sqrt()).collect();
    let mut f = Matrix::<f64>::zeros(NODES, 5);
    (0..NODES).for_each(|i| x.for_each_in_row(i, |j, value| f[(i, j)] = f64::from(value)));
    for _ in 0..3 {
        f = Matrix::from_fn(NODES, 5, |i, c| {
            (0..NODES).map(|j| a[(i, j)] / (degree[i] * degree[j]) * f[(j, c)]).sum()
        });
    }
    let design = [Design::from(Filter::sgc(3).unwrap())];
    let found = filtered(&dataset(graph, x), &design, Rows::All, &gpu);
    assert!(difference(&found[0], &f) < 5e-6, "{}", difference(&found[0], &f));
}

/// Slabs of columns, parts of the graph and features that stay elsewhere change no bit.
#[test]
fn little_memory_changes_no_bit() {
    let (Some(gpu), Some(little)) = (gpu(), limited(60_000)) else { return };
    for directed in [false, true] {
        let designs = designs(if directed { DIRECTED } else { UNDIRECTED });
        for sparse in [false, true] {
            let data = dataset(graph(directed, true), features(61, sparse));
            let whole = filtered(&data, &designs, Rows::All, &gpu);
            assert_eq!(whole, filtered(&data, &designs, Rows::All, &gpu), "the second time");
            assert_eq!(whole, filtered(&data, &designs, Rows::All, &little), "in pieces");
        }
    }
}

#[test]
fn scores_are_those_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    let little = limited(60_000).unwrap();
    for (directed, sparse, targets) in [(false, false, 1), (false, true, 47), (true, false, 7)] {
        let designs = designs(if directed { DIRECTED } else { UNDIRECTED });
        let data = dataset(graph(directed, true), features(30, sparse));
        let rows = || Rows::of(Vec::new(), NODES);
        let driver = Driver::new(&data, &designs, rows(), targets).unwrap();
        for (k, design) in designs.iter().enumerate() {
            let weights = Matrix::from_fn(driver.columns(k), targets, |i, j| chance(i + 31 * j));
            let expected = driver.scores(k, &[&weights], &Context::default()).unwrap();
            for context in [&gpu, &little] {
                let driver = Driver::new(&data, &designs, rows(), targets).unwrap();
                let found = on(context, |context| driver.scores(k, &[&weights], context));
                let off = difference(&found, &expected);
                assert!(off < 1e-12, "{design}, {targets} targets: {off:e}");
            }
        }
    }
}

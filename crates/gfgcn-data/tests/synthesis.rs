//! Synthetic datasets against the model they claim to be drawn from: counted by brute force in the
//! archive's arrays, compared with what the formulas say.

use gfgcn::context::{Cancel, Context, Observer, Progress};
use gfgcn::data::Dataset;
use gfgcn::evaluation::Evaluation;
use gfgcn::filter::Filter;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Result, Ridge};
use gfgcn_data::{Synthetic, SyntheticShape, npz};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

fn shape(nodes: usize, edges: usize, classes: usize, features: usize) -> SyntheticShape {
    SyntheticShape { nodes, edges, classes, features }
}

/// The bytes of the archive.
fn write(shape: SyntheticShape, homophily: f64, seed: u64) -> Result<Vec<u8>> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("synthetic.npz");
    let synthetic = Synthetic::new(shape, homophily, seed)?;
    synthetic.write(&path, false, &Context::default())?;
    Ok(fs::read(path).unwrap())
}

fn make(shape: SyntheticShape, homophily: f64, seed: u64) -> Dataset {
    npz::from_bytes(&write(shape, homophily, seed).unwrap(), "synthetic", &Context::default())
        .unwrap()
}

/// The whole numbers in a member, by this test's own reading of the format.
fn numbers(archive: &[u8], name: &str, size: usize) -> Vec<i64> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(start % 64, 0);
    bytes[start..]
        .chunks_exact(size)
        .map(|item| item.iter().rev().fold(0, |sum, &byte| sum << 8 | i64::from(byte)))
        .collect()
}

/// Sparse and dense, few and many classes, all edges within classes and none.
const SHAPES: [(SyntheticShape, f64); 12] = [
    (SyntheticShape { nodes: 2, edges: 0, classes: 2, features: 1 }, 0.0),
    (SyntheticShape { nodes: 3, edges: 0, classes: 2, features: 1 }, 0.8),
    (SyntheticShape { nodes: 9, edges: 9, classes: 9, features: 2 }, 0.0),
    (SyntheticShape { nodes: 40, edges: 195, classes: 2, features: 3 }, 1.0),
    (SyntheticShape { nodes: 40, edges: 195, classes: 40, features: 3 }, 0.0),
    (SyntheticShape { nodes: 100, edges: 1237, classes: 2, features: 1 }, 0.5),
    (SyntheticShape { nodes: 300, edges: 1, classes: 7, features: 5 }, 0.8),
    (SyntheticShape { nodes: 1000, edges: 20_000, classes: 10, features: 4 }, 0.9),
    (SyntheticShape { nodes: 1000, edges: 4000, classes: 100, features: 4 }, 1.0),
    (SyntheticShape { nodes: 1000, edges: 124_875, classes: 3, features: 1 }, 0.8),
    (SyntheticShape { nodes: 5000, edges: 60_000, classes: 50, features: 2 }, 0.8),
    (SyntheticShape { nodes: 5000, edges: 60_000, classes: 5, features: 2 }, 0.0),
];

#[test]
fn every_edge_is_there_once_and_there_are_as_many_as_asked_for() {
    for (shape, homophily) in SHAPES {
        for seed in [0, 1, u64::MAX] {
            let context = format!("{shape:?}, homophily {homophily}, seed {seed}");
            let bytes = write(shape, homophily, seed).unwrap();
            let offsets = numbers(&bytes, "adj_indptr", 8);
            let larger = numbers(&bytes, "adj_indices", 4);
            let labels = numbers(&bytes, "labels", 8);
            assert_eq!(offsets.len(), shape.nodes + 1, "{context}");
            assert_eq!(larger.len(), shape.edges, "{context}");
            let mut within = 0;
            for node in 0..shape.nodes {
                let row = &larger[offsets[node] as usize..offsets[node + 1] as usize];
                // Ascending, and none below or at the node: no edge twice, none to itself.
                assert!(row.iter().all(|&other| other > node as i64), "{context}");
                assert!(row.windows(2).all(|pair| pair[0] < pair[1]), "{context}");
                assert!(row.last().is_none_or(|&last| last < shape.nodes as i64), "{context}");
                within += row.iter().filter(|&&o| labels[o as usize] == labels[node]).count();
            }
            assert_eq!(within, (homophily * shape.edges as f64).round() as usize, "{context}");
            let mut classes = labels;
            classes.sort_unstable();
            classes.dedup();
            assert_eq!(classes, (0..shape.classes as i64).collect::<Vec<_>>(), "{context}");

            let dataset = npz::from_bytes(&bytes, "synthetic", &Context::default()).unwrap();
            assert_eq!(dataset.graph().edges(), shape.edges, "{context}");
            assert_eq!(dataset.features().cols(), shape.features, "{context}");
            assert_eq!(dataset.notes(), [""; 0], "{context}");
        }
    }
}

/// Hill's estimate from the 1000 largest of 50000 degrees: its own error is 1.5/√1000 = 0.05.
#[test]
fn the_tail_of_the_degrees_has_exponent_two_and_a_half() {
    for seed in 0..3 {
        let dataset = make(shape(50_000, 500_000, 5, 1), 0.8, seed);
        let mut degrees: Vec<f64> =
            (0..dataset.nodes()).map(|node| dataset.graph().degree(node) as f64).collect();
        degrees.sort_unstable_by(|a, b| b.total_cmp(a));
        let mean_log = degrees[..1000].iter().map(|d| (d / degrees[1000]).ln()).sum::<f64>() / 1e3;
        let exponent = 1.0 + 1.0 / mean_log;
        assert!((exponent - 2.5).abs() < 0.2, "seed {seed}: {exponent}");
        assert!(degrees[0] > 50.0 * 20.0, "seed {seed}: the largest hub has {}", degrees[0]);
    }
}

/// Pairs belong to their smaller node, but that must not show in the degrees.
#[test]
fn early_and_late_nodes_are_alike() {
    let nodes = 50_000;
    let graph = make(shape(nodes, 500_000, 5, 1), 0.8, 3).graph().clone();
    for tenth in 0..10 {
        let part = tenth * nodes / 10..(tenth + 1) * nodes / 10;
        let mut degrees: Vec<usize> = part.map(|node| graph.degree(node)).collect();
        degrees.sort_unstable();
        // Medians, because hubs make means jump. The Pareto median is 2^⅔ = 1.59 of mean 3.
        let median = degrees[degrees.len() / 2] as f64;
        assert!((median - 20.0 * 1.59 / 3.0).abs() <= 1.5, "tenth {tenth}: {median}");
    }
}

#[test]
fn classes_are_balanced() {
    let dataset = make(shape(20_000, 100, 8, 1), 0.8, 5);
    // Binomial: 2500 ± 47.
    for count in dataset.labels().counts() {
        assert!(count.abs_diff(2500) < 5 * 47, "{:?}", dataset.labels().counts());
    }
}

#[test]
fn the_parameters_decide_every_byte() {
    let base = shape(3000, 20_000, 4, 10);
    let bytes = write(base, 0.8, 7).unwrap();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let again = pool.install(|| write(base, 0.8, 7).unwrap());
        assert!(again == bytes, "{threads} threads change the file");
    }
    assert!(write(base, 0.8, 8).unwrap() != bytes);
    assert!(write(base, 0.7, 7).unwrap() != bytes);
}

/// A node's features depend on the seed, on the node and on its class, not on what else is drawn.
#[test]
fn rows_of_features_do_not_depend_on_other_rows() {
    let (small, large) = (make(shape(50, 60, 5, 9), 0.5, 1), make(shape(800, 9000, 5, 9), 0.9, 1));
    let row = |dataset: &Dataset, node| {
        let mut row = Vec::new();
        dataset.features().for_each_in_row(node, |column, value| row.push((column, value)));
        row
    };
    for node in 0..50 {
        assert_eq!(small.labels().get(node), large.labels().get(node));
        assert_eq!(row(&small, node), row(&large, node), "node {node}");
    }
    let other = make(shape(50, 60, 5, 9), 0.5, 2);
    assert!((0..50).all(|node| row(&other, node) != row(&small, node)));
}

/// Features less the mean of their class are normal with variance 1, and the means of two classes
/// are √2 apart on average.
#[test]
fn features_are_class_means_with_normal_noise() {
    let (nodes, columns, classes) = (40_000, 64, 20);
    let dataset = make(shape(nodes, 0, classes, columns), 0.8, 11);
    let mut rows = vec![vec![0.0; columns]; nodes];
    for (node, row) in rows.iter_mut().enumerate() {
        dataset.features().for_each_in_row(node, |column, value| row[column] = f64::from(value));
    }
    let class = |node: usize| dataset.labels().get(node).unwrap() as usize;
    let mut means = vec![vec![0.0; columns]; classes];
    for (node, row) in rows.iter().enumerate() {
        let count = dataset.labels().counts()[class(node)] as f64;
        means[class(node)].iter_mut().zip(row).for_each(|(mean, value)| *mean += value / count);
    }
    let mut squares = 0.0;
    for (a, b) in (0..classes).flat_map(|a| (0..a).map(move |b| (a, b))) {
        squares += means[a].iter().zip(&means[b]).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
    }
    let mean_square = squares / (classes * (classes - 1) / 2) as f64;
    assert!((mean_square - 2.0).abs() < 0.3, "{mean_square}");

    let noise: Vec<f64> = rows
        .iter()
        .enumerate()
        .flat_map(|(node, row)| row.iter().zip(&means[class(node)]).map(|(x, mean)| x - mean))
        .collect();
    let count = noise.len() as f64;
    let variance = noise.iter().map(|z| z * z).sum::<f64>() / count;
    assert!((variance - 1.0).abs() < 0.01, "{variance}");
    // The normal distribution's shares.
    for (limit, share) in [(0.5, 0.3829), (1.0, 0.6827), (2.0, 0.9545), (3.0, 0.9973)] {
        let found = noise.iter().filter(|z| z.abs() < limit).count() as f64 / count;
        assert!((found - share).abs() < 0.004, "{found} within {limit}");
    }
    let neighbours = rows.windows(2).map(|pair| pair[0][0] * pair[1][0]).sum::<f64>();
    assert!(neighbours.abs() / (nodes as f64) < 0.05, "rows correlate: {neighbours}");
}

/// What the data are for: a node alone says little, its neighbourhood says much.
#[test]
fn the_graph_tells_what_the_features_do_not() {
    let dataset = make(shape(2000, 10_000, 5, 32), 0.8, 0);
    let splits = (0..3).map(|seed| Split::stratified(dataset.labels(), Ratio::PAPER, seed));
    let filters = [(1, 1.0), (1, 0.05), (4, 0.05), (8, 0.05)];
    let evaluation = Evaluation {
        designs: filters.map(|(depth, tau)| Filter::ssgc(depth, tau).unwrap().into()).to_vec(),
        ridge: Ridge::default(),
        splits: splits.collect::<Result<_>>().unwrap(),
        ..Evaluation::default()
    };
    let outcomes = evaluation.run(&dataset, &Context::default()).unwrap();
    let [alone, near, wide, wider] = &outcomes[..] else { panic!("four filters") };
    let accuracy = [alone, near, wide, wider].map(|outcome| outcome.accuracy().unwrap().mean);
    assert!((25.0..45.0).contains(&accuracy[0]), "{accuracy:?}");
    assert!(accuracy[1] > accuracy[0] + 20.0, "{accuracy:?}");
    assert!(accuracy[2] > accuracy[1] + 10.0, "{accuracy:?}");
    assert!((80.0..97.0).contains(&accuracy[3]), "{accuracy:?}");
}

#[test]
fn parameters_out_of_range_are_named() {
    let good = shape(1000, 5000, 4, 8);
    let huge = usize::MAX;
    for (shape, homophily, message) in [
        (shape(0, 0, 0, 0), 0.8, "nodes is 0, but must be a whole number from 2 to 2147483647"),
        (shape(1, 0, 1, 1), 0.8, "nodes is 1, but"),
        (shape(huge, 5, 2, 2), 0.8, "nodes is 18446744073709551615, but"),
        (shape(1 << 31, 5, 2, 2), 0.8, "nodes is 2147483648, but"),
        (
            shape(1000, 124_876, 4, 8),
            0.8,
            "edges is 124876, but must be a whole number from 0 to 124875, a quarter",
        ),
        (shape(1000, huge, 4, 8), 0.8, "edges is 18446744073709551615, but"),
        (shape(1000, 5000, 1, 8), 0.8, "classes is 1, but must be a whole number from 2 to 1000"),
        (shape(1000, 5000, 1001, 8), 0.8, "classes is 1001, but"),
        (
            shape(1000, 5000, 4, 0),
            0.8,
            "features is 0, but must be a whole number from 1 to 1048576",
        ),
        (shape(1000, 5000, 4, huge), 0.8, "features is 18446744073709551615, but"),
        (good, f64::NAN, "homophily is NaN, but must be a number from 0 to 1"),
        (good, -0.1, "homophily is -0.1, but"),
        (good, 1.5, "homophily is 1.5, but"),
        // Which classes are that small is known once they are drawn.
        (
            shape(100, 50, 100, 1),
            0.5,
            "homophily is 0.5, but must be smaller, or the edges fewer: there are only 0 pairs of nodes in one class for 25 edges",
        ),
        (shape(1000, 100_000, 50, 1), 0.9, "pairs of nodes in one class for 90000 edges"),
        (shape(20, 47, 2, 1), f64::INFINITY, "homophily is inf"),
    ] {
        let error = write(shape, homophily, 0).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// Hears how many bytes are written, and cancels at the first of them where it is to.
struct Bytes {
    cancel: Option<Cancel>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Observer for Bytes {
    fn begin(&self, _: &str, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
        self.cancel.iter().for_each(Cancel::cancel);
    }
}

#[test]
fn a_file_is_replaced_only_when_asked_and_never_in_part() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("synthetic.npz");
    let synthetic = Synthetic::new(shape(100, 200, 2, 3), 0.8, 0).unwrap();
    // Cancelled when the first bytes are written, or never.
    let run = |path: &Path, overwrite, stops: bool| {
        let cancel = Cancel::default();
        let bytes = Arc::new(Bytes {
            cancel: stops.then(|| cancel.clone()),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        });
        let context =
            Context::default().with_cancel(cancel).with_progress(Progress::told(bytes.clone()));
        let result = synthetic.write(path, overwrite, &context);
        (result, bytes.done.load(Ordering::Relaxed), bytes.total.load(Ordering::Relaxed))
    };
    let (stopped, ..) = run(&path, false, true);
    assert!(matches!(stopped, Err(gfgcn::Error::Cancelled)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no temporary file is left");

    fs::write(&path, "old").unwrap();
    let (refused, ..) = run(&path, false, false);
    assert!(refused.unwrap_err().to_string().contains("exists already"));
    let (stopped, ..) = run(&path, true, true);
    assert!(stopped.is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let (written, done, total) = run(&path, true, false);
    written.unwrap();
    assert_eq!(done, total, "the progress ends at its total");
    assert_eq!(npz::read(&path, "synthetic", &Context::default()).unwrap().graph().edges(), 200);
}

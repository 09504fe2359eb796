//! Stores that are made piece by piece.

use super::counting::measured;
use super::read;
use gfgcn::context::{Cancel, Context};
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::split::Ratio;
use gfgcn_data::store::{self, StoreWriter};
use gfgcn_data::{Synthetic, SyntheticShape, npz};
use std::fs;
use tempfile::TempDir;

/// One test, so that no other one takes memory at the same time.
#[test]
fn synthetic_stores_are_the_archives_and_take_memory_for_nodes_only() {
    let folder = TempDir::new().unwrap();
    let (store, archive) = (folder.path().join("store"), folder.path().join("x.npz"));
    let context = Context::default();
    for (nodes, edges, classes, features) in
        [(40, 90, 3, 2), (300, 1, 7, 5), (1000, 20_000, 10, 33), (2000, 4000, 3, 1)]
    {
        let shape = SyntheticShape { nodes, edges, classes, features };
        let ratio: Ratio = "1:1:2".parse().unwrap();
        let synthetic = Synthetic::new(shape, 0.5, 3).unwrap().with_split(ratio);
        synthetic.write_store(&store, true, &context).unwrap();
        synthetic.write(&archive, true, &context).unwrap();
        let (one, two) = (read(&store).unwrap(), npz::read(&archive, "store", &context).unwrap());
        assert_eq!(one.graph(), two.graph());
        assert!(one.features() == two.features() && one.targets() == two.targets());
        assert_eq!((one.splits().len(), one.splits()), (1, two.splits()));
        assert_eq!(one.fingerprint(), two.fingerprint());
        store::verify(&store, &context).unwrap();
    }
    let draw = |edges: usize, features: usize| {
        let shape = SyntheticShape { nodes: 20_000, edges, classes: 4, features };
        let synthetic = Synthetic::new(shape, 0.8, 1).unwrap();
        measured(|| synthetic.write_store(&store, true, &context).unwrap()).1
    };
    let (small, large) = (draw(20_000, 2), draw(2_000_000, 300));
    let data = (8 * 2_000_000 + 4 * 300 * 20_000) as f64;
    // Edges are sorted in parts of 64 MB, of which these are one.
    let part = 16.0 * 4e6;
    assert!(large < small + part + data / 4.0, "{small} and {large} bytes, data have {data}");
}

#[test]
fn edges_in_any_order_become_the_graph_that_is_built_in_memory() {
    let folder = TempDir::new().unwrap();
    let edges: Vec<(u32, u32)> = (0..3000).map(|k| (k * 77 % 200, k * k % 200)).collect();
    let weights: Vec<f32> = (0..3000).map(|k| (k % 5) as f32).collect();
    let mut k = 0;
    for (weighted, directed) in [(false, false), (true, false), (false, true), (true, true)] {
        let own = weighted.then_some(&weights[..]);
        let (graph, _) = match directed {
            true => Graph::from_arcs(200, &edges, own).unwrap(),
            false => Graph::from_edges(200, &edges, own).unwrap(),
        };
        for turned in [false, true] {
            k += 1;
            let path = folder.path().join(k.to_string());
            let mut writer = StoreWriter::new(&path, 200, false, &Context::default()).unwrap();
            let mut sorter = writer.edges(3000, weighted, directed).unwrap();
            let mut add = |k: usize| {
                let ((a, b), w) = (edges[k], if weighted { weights[k] } else { 1.0 });
                sorter.add(a, b, w).unwrap();
            };
            if turned {
                (0..3000).rev().for_each(&mut add)
            } else {
                (0..3000).for_each(&mut add)
            }
            writer.sorted(sorter).unwrap();
            writer.finish().unwrap();
            assert_eq!(read(&path).unwrap().graph(), &graph, "{weighted} {directed}");
        }
    }
    // All weights are 1, and every arc has its reverse: neither is kept.
    let path = folder.path().join("plain");
    let mut writer = StoreWriter::new(&path, 3, false, &Context::default()).unwrap();
    let mut sorter = writer.edges(4, true, true).unwrap();
    [(0, 1), (1, 0), (1, 2), (2, 1)].iter().for_each(|&(a, b)| sorter.add(a, b, 1.0).unwrap());
    assert!(sorter.add(0, 3, 1.0).is_err() && sorter.add(0, 1, f32::NAN).is_err());
    assert!(sorter.add(0, 1, -1.0).is_err());
    writer.sorted(sorter).unwrap();
    writer.finish().unwrap();
    assert!(!path.join("arcs").exists() && !path.join("weights.npy").exists());
    let expected = Graph::from_edges(3, &[(0, 1), (1, 2)], None).unwrap().0;
    assert_eq!(read(&path).unwrap().graph(), &expected);
}

#[test]
fn rows_come_in_pieces_and_must_be_as_many_as_nodes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store");
    let matrix = Matrix::from_fn(30, 7, |i, j| (i * j) as f32);
    let write = |pieces: &[usize]| {
        let context = Context::default();
        let mut writer = StoreWriter::new(&path, 30, true, &context)?.with_block_columns(3);
        let mut sorter = writer.edges(1, false, false)?;
        sorter.add(0, 1, 1.0)?;
        writer.sorted(sorter)?;
        let (mut rows, mut first) = (writer.dense(7)?, 0);
        for &piece in pieces {
            rows.add(&matrix.as_slice()[7 * first..7 * (first + piece)])?;
            first += piece;
        }
        writer.dense_rows(rows)?;
        writer.finish()
    };
    write(&[1, 20, 9]).unwrap();
    let expected = Features::dense(matrix.clone()).unwrap();
    assert!(read(&path).unwrap().features() == &expected);
    let message = write(&[29]).unwrap_err().to_string();
    assert!(message.contains("expected 30, found 29"), "{message}");
    assert!(read(&path).unwrap().features() == &expected, "the old store is still there");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no leftovers");
}

#[test]
fn what_is_abandoned_or_cancelled_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store");
    let graph = Graph::from_edges(3, &[(0, 1)], None).unwrap().0;
    let data = Dataset::new("x", graph, Features::none(3), Labels::none(3)).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let context = Context::default().with_cancel(cancel);
    assert!(store::write(&data, &path, false, &context).is_err());
    let mut writer = StoreWriter::new(&path, 3, false, &Context::default()).unwrap();
    writer.graph(data.graph()).unwrap();
    drop(writer);
    let writer = StoreWriter::new(&path, 3, false, &Context::default()).unwrap();
    assert!(writer.finish().is_err(), "there is no graph");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(&path, "a file").unwrap();
    assert!(store::write(&data, &path, true, &Context::default()).is_err());
}

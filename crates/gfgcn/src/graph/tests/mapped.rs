//! Arrays in a file instead of memory.

use super::Random;
use crate::buffer::{Buffer, Plain};
use crate::context::Context;
use crate::design::Design;
use crate::driver::{Driver, Rows};
use crate::features::Features;
use crate::graph::{Graph, Repairs};
use crate::matrix::{Matrix, SparseMatrix};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

/// Appends an array to a file and maps it from there.
fn mapped<T: Plain, const BYTES: usize>(
    mut file: &File,
    numbers: &[T],
    bytes: fn(T) -> [u8; BYTES],
) -> Buffer<T> {
    let end = file.seek(SeekFrom::End(0)).unwrap();
    let start = end.next_multiple_of(BYTES as u64);
    file.seek(SeekFrom::Start(start)).unwrap();
    let bytes: Vec<u8> = numbers.iter().flat_map(|&number| bytes(number)).collect();
    file.write_all(&bytes).unwrap();
    Buffer::map(file, start, numbers.len()).unwrap()
}

#[test]
fn a_mapped_graph_with_mapped_features_gives_the_same_bits() {
    const NODES: usize = 2000;
    let mut random = Random(3);
    let edges: Vec<(u32, u32)> =
        (0..9000).map(|_| (random.below(NODES) as u32, random.below(NODES) as u32)).collect();
    let weights: Vec<f32> = edges.iter().map(|_| 0.1 + random.below(9) as f32).collect();
    let designs: [Design; 2] =
        ["sgc:depth=3", "ssgc:depth=20,tau=0.1"].map(|design| design.parse().unwrap());
    let dense = Matrix::from_fn(NODES, 21, |_, _| random.below(1000) as f32 / 999.0);
    let few = |i: usize| (i as u32 % 5..21).step_by(4).map(move |j| (j, 0.5 + (i % 3) as f32));
    let sparse = SparseMatrix::from_canonical_rows(NODES, 21, |i, indices, values| {
        indices.extend(few(i).map(|(j, _)| j));
        values.extend(few(i).map(|(_, value)| value));
    });

    let file = tempfile::tempfile().unwrap();
    let mapped_dense = mapped(&file, dense.as_slice(), f32::to_le_bytes);
    let mapped_dense = Matrix::from_buffer(NODES, 21, mapped_dense).unwrap();
    let mapped_sparse = SparseMatrix::from_buffers(
        21,
        sparse.offsets().to_vec(),
        mapped(&file, sparse.indices(), u32::to_le_bytes),
        mapped(&file, sparse.values(), f32::to_le_bytes),
    );
    let mapped_sparse = mapped_sparse.unwrap();
    assert_eq!((&mapped_dense, &mapped_sparse), (&dense, &sparse));

    for weights in [None, Some(&weights[..])] {
        let (own, _) = Graph::from_edges(NODES, &edges, weights).unwrap();
        let rows = own.rows();
        let (graph, repairs) = Graph::from_buffers(
            mapped(&file, rows.offsets, u64::to_le_bytes),
            mapped(&file, rows.neighbours, u32::to_le_bytes),
            rows.weights.map(|weights| mapped(&file, weights, f32::to_le_bytes)),
        )
        .unwrap();
        assert_eq!((&graph, repairs), (&own, Repairs::default()));
        let bits = |graph: &Graph, features: Features| -> Vec<u32> {
            let driver = Driver::on(graph, &features, &designs, Rows::All, 0).unwrap();
            let out = driver.run(0..2, &Context::default()).unwrap();
            let all = out.iter().flat_map(|filtered| filtered.to_matrix().into_vec());
            all.map(f32::to_bits).collect()
        };
        let of_dense = bits(&own, Features::dense(dense.clone()).unwrap());
        assert!(bits(&graph, Features::dense(mapped_dense.clone()).unwrap()) == of_dense);
        let of_sparse = bits(&own, Features::Sparse(sparse.clone()));
        assert!(bits(&graph, Features::Sparse(mapped_sparse.clone())) == of_sparse);
    }
}

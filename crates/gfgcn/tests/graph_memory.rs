//! The estimate of what building a graph takes against what the allocator is asked for.

mod counting;

use counting::measured;
use gfgcn::graph::{Graph, build_memory};

/// One test, so that no other one takes memory at the same time.
#[test]
fn estimates_are_what_is_taken() {
    // Its nodes in a scrambled order, so that there is something to sort.
    const NODES: usize = 500_001;
    let place = |k: usize| (k % NODES * 190_573 % NODES) as u32;
    let edges: Vec<(u32, u32)> =
        (0..2 * NODES).map(|k| (place(k % NODES), place(k % NODES + 1 + k / NODES))).collect();
    let weights: Vec<f32> = (0..edges.len()).map(|k| 0.5 + (k % 3) as f32).collect();
    // Threads are started and their queues made.
    drop(Graph::from_edges(NODES, &edges, Some(&weights)));

    let ((graph, _), peak) = measured(|| Graph::from_edges(NODES, &edges, Some(&weights)).unwrap());
    let estimate = build_memory(edges.len(), NODES) as f64;
    assert!((0.99..1.001).contains(&(peak / estimate)), "{peak} bytes, not {estimate}");

    // Both directions, to be sorted: half of the bound.
    let mut offsets = vec![0];
    let mut columns = Vec::new();
    for node in 0..NODES {
        columns.extend(graph.neighbours(node).iter().rev());
        offsets.push(columns.len());
    }
    let (sorted, peak) = measured(|| Graph::from_csr(&offsets, &columns, None).unwrap());
    assert_eq!(sorted.0.edges(), graph.edges());
    let bound = build_memory(columns.len(), NODES) as f64;
    assert!(peak < 0.7 * bound, "{peak} bytes of {bound}");
}

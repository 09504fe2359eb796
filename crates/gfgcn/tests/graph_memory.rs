//! The estimate of what building a graph takes against what the allocator is asked for.

use gfgcn::graph::{Graph, build_memory};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes that are held, and the most there ever were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn taken(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        taken(size);
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What work gave, and the bytes that it took at its peak.
fn measured<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, (PEAK.load(Ordering::Relaxed) - before) as f64)
}

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

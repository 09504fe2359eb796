//! One product on a graph that no cache holds, beside what the memory can do.

use crate::data::{dense, norm, read};
use crate::limits::{Floor, LARGE, copied_bytes_per_second};
use crate::protocol::{Findings, serve};
use anyhow::{Context, Result};
use gfgcn::graph::{Adjacency, Graph, NodeOrder, Operator};
use gfgcn::matrix::Matrix;
use serde_json::json;
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// One product; each repetition also measures the copy bandwidth and the peak memory.
pub(crate) fn scale(data: &Path, renumbered: bool, operator: Operator) -> Result<()> {
    let mut renumbering = 0.0;
    let (graph, x) = {
        let data = read(data)?;
        let graph = if renumbered {
            let start = Instant::now();
            let graph = data.graph().reordered(&NodeOrder::reverse_cuthill_mckee(data.graph()));
            renumbering = start.elapsed().as_secs_f64();
            graph
        } else {
            data.graph().clone()
        };
        (graph, dense(data.features()))
    };
    let adjacency = graph.adjacency(&operator)?;
    let out = RefCell::new(Matrix::zeros(x.rows(), x.cols()));
    // Before the peak is counted: it takes arrays of its own.
    let floor = (!renumbered).then(|| Floor::of_product(&graph, x.cols()));
    forget_peak_memory()?;
    serve(
        || {
            adjacency.multiply(&x, &mut out.borrow_mut());
            Ok(())
        },
        |()| {
            let peak = peak_memory()?;
            let copy = copied_bytes_per_second(LARGE);
            // The arrays of the copy are gone again and must not count.
            forget_peak_memory()?;
            let pass = Adjacency::COLUMNS_PER_PASS;
            Ok(Findings {
                check: json!({"norm": norm(out.borrow().as_slice(), x.cols())}),
                figures: json!({
                    "product_bytes": product_bytes(&graph, x.cols(), pass),
                    "columns_per_pass": pass,
                    "copy_bytes_per_second": copy,
                    "peak_bytes": peak,
                    "graph_bytes": graph_bytes(&graph),
                    "renumbering_seconds": renumbering,
                    "dense_bytes": 4 * x.rows() * x.cols(),
                }),
                floor: floor.clone(),
            })
        },
    )
}

/// Bytes that a product moves when nothing stays in the cache: for every entry of Ã a row of X and,
/// once per pass, its column number; every row of the result once.
fn product_bytes(graph: &Graph, cols: usize, per_pass: usize) -> usize {
    let entries = 2 * graph.edges() + graph.nodes();
    entries * (4 * cols + 4 * cols.div_ceil(per_pass)) + 4 * graph.nodes() * cols
}

fn graph_bytes(graph: &Graph) -> usize {
    let weights = if graph.is_weighted() { 4 } else { 0 };
    8 * graph.offsets().len() + (4 + weights) * 2 * graph.edges()
}

/// Makes the kernel count the peak of the process's memory from here on.
fn forget_peak_memory() -> Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("cannot reset the peak memory; needs Linux")
}

fn peak_memory() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(1024 * kilobytes.context("the system does not say the peak memory")?)
}

//! What the machine can do at best, measured in the same run: the floor under every time.
//!
//! A claim that is not met is bounded by something. Each limit is the fastest that all threads together go through the
//! plainest loop of its kind: copying, reading rows at random places, multiplying large matrices.

use gfgcn::context::Context;
use gfgcn::graph::{Adjacency, Graph};
use gfgcn::linalg::multiply;
use gfgcn::matrix::Matrix;
use rayon::prelude::*;
use serde::Serialize;
use std::hint::black_box;
use std::time::Instant;

/// The best of so many tries counts.
const TRIES: usize = 6;

/// The least time that some work takes on this machine, and what that is made of.
#[derive(Clone, Serialize)]
pub(crate) struct Floor {
    seconds: f64,
    made_of: Vec<String>,
}

impl Floor {
    pub(crate) fn new() -> Self {
        Floor { seconds: 0.0, made_of: Vec::new() }
    }

    /// One product with dense features on nodes that come in no particular order: for every entry of Ã a row of X, some
    /// columns at a time.
    pub(crate) fn of_product(graph: &Graph, columns: usize) -> Self {
        let read = Adjacency::COLUMNS_PER_PASS.min(columns);
        let entries = 2 * graph.edges() + graph.nodes();
        let table = Table { rows: graph.nodes(), stride: columns, read };
        Floor::new().random_rows(entries * columns / read, table)
    }

    /// Multiplications and additions in double precision, as fast as in the product of two large matrices.
    pub(crate) fn operations(self, count: f64) -> Self {
        self.with(count, double_operations_per_second(), "operations in double precision")
    }

    /// Rows of a table that are read in no particular order, `read` of `stride` numbers of each.
    pub(crate) fn random_rows(self, count: usize, table: Table) -> Self {
        let bytes = 4.0 * (count * table.read) as f64;
        self.with(bytes, random_bytes_per_second(table), "bytes of random rows")
    }

    fn with(mut self, amount: f64, rate: f64, what: &str) -> Self {
        self.seconds += amount / rate;
        let [amount, rate] = [amount, rate].map(in_billions);
        self.made_of.push(format!("{amount} G {what} at {rate} G/s"));
        self
    }
}

/// Rows of single-precision numbers.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    pub(crate) rows: usize,
    /// Numbers from one row to the next.
    pub(crate) stride: usize,
    /// Numbers that are read of a row.
    pub(crate) read: usize,
}

/// Bytes read and written per second by copying a large array.
pub(crate) fn copied_bytes_per_second() -> f64 {
    const BYTES: usize = 512 << 20;
    let from = vec![1u64; BYTES / 8];
    let mut to = vec![0u64; BYTES / 8];
    let share = from.len().div_ceil(rayon::current_num_threads());
    let best = fastest(|| {
        to.par_chunks_mut(share).zip(from.par_chunks(share)).for_each(|(to, from)| {
            to.copy_from_slice(from);
        });
    });
    2.0 * BYTES as f64 / best
}

/// Multiplications and additions per second in the product of two matrices that no first-level cache holds.
fn double_operations_per_second() -> f64 {
    const SIZE: usize = 1024;
    let context = Context::default();
    let a = Matrix::from_fn(SIZE, SIZE, |i, j| (scrambled(i * SIZE + j) % 17) as f64);
    let best = fastest(|| {
        black_box(multiply(&a, &a, &context).expect("nobody cancels"));
    });
    2.0 * (SIZE as f64).powi(3) / best
}

/// Bytes per second of rows that are added up in no particular order; where each is, is known long before.
fn random_bytes_per_second(table: Table) -> f64 {
    /// Rows that each thread reads in one try, at least.
    const READS: usize = 1 << 19;
    let Table { rows, stride, read } = table;
    let values = vec![1.0f32; rows * stride];
    let threads = rayon::current_num_threads();
    let order = |thread: usize| {
        let pick = |k: usize| (scrambled(thread * READS + k) % rows as u64) as u32;
        (0..READS).map(pick).collect::<Vec<u32>>()
    };
    let orders: Vec<Vec<u32>> = (0..threads).into_par_iter().map(order).collect();
    let best = fastest(|| {
        orders.par_iter().for_each(|order| {
            let mut sums = vec![0.0f32; read];
            for &row in order {
                let first = row as usize * stride;
                let row = &values[first..first + read];
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            black_box(sums);
        });
    });
    (4 * threads * READS * read) as f64 / best
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..TRIES).map(time).fold(f64::INFINITY, f64::min)
}

/// With three digits that count.
fn in_billions(amount: f64) -> String {
    let billions = amount / 1e9;
    let whole_digits = billions.log10().floor() as i32 + 1;
    format!("{billions:.*}", (3 - whole_digits).clamp(0, 6) as usize)
}

/// Whole numbers without a pattern (SplitMix64).
fn scrambled(k: usize) -> u64 {
    let mut z = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

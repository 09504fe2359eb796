//! What the machine can do at best, measured in the same run: the floor under every time.
//!
//! A claim that is not met is bounded by something. Each limit is the fastest that all threads together go through the
//! plainest loop of its kind: copying, reading the rows of neighbours, which are prefetched, multiplying large matrices,
//! multiplying a matrix by a vector.

use gfgcn::context::Context;
use gfgcn::graph::{Adjacency, Graph};
use gfgcn::linalg::multiply;
use gfgcn::matrix::Matrix;
use gfgcn::simd::{Simd, prefetch};
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

    /// One product with dense features: for every entry of Ã a row of X, some columns at a time; but no faster than X is copied.
    pub(crate) fn of_product(graph: &Graph, columns: usize) -> Self {
        let bytes = 4.0 * (graph.nonzeros() * columns) as f64;
        let rows = Floor::new().rows_of_neighbours(bytes, graph);
        let matrix = 4 * graph.nodes() * columns;
        let rate = copied_bytes_per_second(matrix);
        let copy = Floor::new().with(2.0 * matrix as f64, rate, "bytes read and written");
        if copy.seconds > rows.seconds { copy } else { rows }
    }

    /// Multiplications and additions in double precision, as fast as in the product of two large matrices.
    pub(crate) fn operations(self, count: f64) -> Self {
        self.with(count, double_operations_per_second(), "operations in double precision")
    }

    /// The same in single precision: a vector holds twice as many numbers.
    pub(crate) fn single_operations(self, count: f64) -> Self {
        self.with(count, 2.0 * double_operations_per_second(), "operations in single precision")
    }

    /// The half of some reductions to tridiagonal form that is no product of matrices: what is left of the matrix is
    /// multiplied by a vector, for one column after the other. It is symmetric, so half of it is read, no faster than a core reads
    /// such a matrix. So many reductions go on at a time, each on one thread.
    pub(crate) fn reductions(self, count: usize, size: usize, at_once: usize) -> Self {
        let bytes = count as f64 * 8.0 * (size as f64).powi(3) / 6.0;
        let rate = at_once as f64 * bytes_per_second_of_columns(size);
        self.with(bytes, rate, "bytes of matrices times vectors")
    }

    /// Rows of single-precision numbers, read in the order of neighbours.
    pub(crate) fn rows_of_neighbours(self, bytes: f64, graph: &Graph) -> Self {
        self.with(bytes, bytes_per_second_of_neighbours(graph), "bytes of neighbours' rows")
    }

    fn with(mut self, amount: f64, rate: f64, what: &str) -> Self {
        self.seconds += amount / rate;
        let [amount, rate] = [amount, rate].map(in_billions);
        self.made_of.push(format!("{amount} G {what} at {rate} G/s"));
        self
    }
}

/// Columns of a row, as many as a product adds up at a time.
const READ: usize = Adjacency::COLUMNS_PER_PASS;

/// An array that no cache holds, in bytes.
pub(crate) const LARGE: usize = 512 << 20;

/// Bytes read and written per second by copying an array of so many bytes.
pub(crate) fn copied_bytes_per_second(bytes: usize) -> f64 {
    let from = vec![1u64; bytes.div_ceil(8)];
    let mut to = vec![0u64; from.len()];
    let share = from.len().div_ceil(rayon::current_num_threads());
    let best = fastest(|| {
        to.par_chunks_mut(share).zip(from.par_chunks(share)).for_each(|(to, from)| {
            to.copy_from_slice(from);
        });
    });
    (2 * 8 * from.len()) as f64 / best
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

/// Bytes per second at which one thread multiplies the columns of a triangular matrix of so many rows by a vector.
fn bytes_per_second_of_columns(size: usize) -> f64 {
    /// Passes of one try.
    const PASSES: usize = 16;
    let matrix = vec![1.0f64; size * size];
    let vector = vec![0.5f64; size];
    let best = fastest(|| {
        for _ in 0..PASSES {
            let sum = Simd::detect().run(
                #[inline(always)]
                || {
                    let mut sum = 0.0;
                    for (k, column) in matrix.chunks_exact(size).enumerate() {
                        sum += dot(&column[k..], &vector[k..]);
                    }
                    sum
                },
            );
            black_box(sum);
        }
    });
    (PASSES * 8 * size * (size + 1) / 2) as f64 / best
}

/// The product of two vectors, in as many sums as keep a processor busy.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 32;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// Bytes per second of rows that are added up in the order in which a product needs them.
fn bytes_per_second_of_neighbours(graph: &Graph) -> f64 {
    /// Rows that are read in one try, at least.
    const READS: usize = 1 << 20;
    let nodes = graph.nodes();
    let mut values = Matrix::zeros(nodes, READ);
    values.as_mut_slice().fill(1.0f32);
    let values = values.as_slice();
    let with_own =
        |node| std::iter::once(node as u32).chain(graph.neighbours(node).iter().copied());
    let order: Vec<u32> = (0..nodes).flat_map(with_own).collect();
    let repetitions = READS.div_ceil(order.len());
    let share = order.len().div_ceil(rayon::current_num_threads());
    let best = fastest(|| {
        order.par_chunks(share).for_each(|order| {
            (0..repetitions).for_each(|_| {
                let sums: [f32; READ] = Simd::detect().run(
                    #[inline(always)]
                    || sum_of_rows(values, order),
                );
                black_box(sums);
            });
        });
    });
    (4 * repetitions * order.len() * READ) as f64 / best
}

/// The sum of rows in an order.
#[inline(always)]
fn sum_of_rows(table: &[f32], order: &[u32]) -> [f32; READ] {
    /// How far ahead rows are prefetched.
    const AHEAD: usize = 32;
    let mut sums = [0.0; READ];
    for (k, &row) in order.iter().enumerate() {
        if let Some(&ahead) = order.get(k + AHEAD) {
            let first = ahead as usize * READ;
            (first..first + READ).step_by(16).for_each(|at| prefetch(table, at));
        }
        let first = row as usize * READ;
        let row: [f32; READ] = table[first..first + READ].try_into().expect("as many columns");
        for l in 0..READ {
            sums[l] += row[l];
        }
    }
    sums
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

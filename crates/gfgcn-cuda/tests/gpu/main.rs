//! Everything that runs on a GPU, against the processor and against sums written out. Skipped, with the reason, where there
//! is no GPU.

#![allow(clippy::print_stdout)] // why tests are skipped, and how near results are

mod faults;
mod filters;
mod models;
mod systems;

use gfgcn::context::{Context, Placement, Work};
use gfgcn::matrix::Matrix;
use gfgcn_cuda::Cuda;
use std::sync::Arc;

/// A context on the first GPU, of which so many bytes may be used.
fn limited(bytes: u64) -> Option<Context> {
    match Cuda::open_limited(0, bytes) {
        Ok(gpu) => Some(Context::default().with_placement(Placement::on(Arc::new(gpu)))),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

fn gpu() -> Option<Context> {
    limited(u64::MAX)
}

/// Does something with a context that is on its device.
fn on<R>(context: &Context, work: impl Fn(&Context) -> gfgcn::Result<R>) -> R {
    let run = |context: &Context| {
        assert!(context.device().is_some());
        work(context)
    };
    context.place(Work::default(), run).unwrap()
}

/// Numbers that look random, the same in every run; from −0.5 to 0.5.
fn chance(seed: usize) -> f64 {
    let mut z =
        (seed as u64).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// The largest difference, as a share of the largest entry.
fn difference(found: &Matrix<f64>, expected: &Matrix<f64>) -> f64 {
    assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()));
    let largest = expected.as_slice().iter().fold(1e-300, |most: f64, v| v.abs().max(most));
    let pairs = found.as_slice().iter().zip(expected.as_slice());
    let far = pairs.map(|(a, b)| if (a - b).is_nan() { f64::INFINITY } else { (a - b).abs() });
    far.fold(0.0, f64::max) / largest
}

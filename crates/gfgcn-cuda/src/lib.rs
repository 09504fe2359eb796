//! gfgcn's arithmetic on an NVIDIA GPU.
//!
//! Nothing of CUDA is needed to build this crate or to start a program that has it: the driver and cuBLAS are looked for when
//! a GPU is first asked for, and what is missing is said ([`devices`]). Kernels are in `kernels/`, with the PTX that was made
//! from them.
//!
//! ```no_run
//! use gfgcn::context::{Context, Placement};
//! use gfgcn_cuda::Cuda;
//! use std::sync::Arc;
//!
//! let gpu = Arc::new(Cuda::open(0)?);
//! let context = Context::default().with_placement(Placement::on(gpu));
//! # Ok::<(), gfgcn::Error>(())
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `library.rs` | finds driver and cuBLAS, and says what is missing |
//! | `device.rs` | a GPU: kernels, memory, lanes that threads work in side by side |
//! | `graph.rs` | sums over neighbours, the graph on the GPU or streamed to it |
//! | `features.rs` | features on the GPU |
//! | `session.rs` | filters and scores, in slabs of columns |
//! | `rows.rs` | filtered rows that stay on the GPU |
//! | `transfer.rs` | large copies at the speed of the bus |
//! | `parts.rs` | training rows and their Gram matrix |
//! | `system.rs` | ridge systems of many penalties side by side |

mod device;
mod features;
mod graph;
mod library;
mod parts;
mod products;
mod rows;
mod session;
mod system;
mod transfer;

pub use device::Cuda;
pub use library::{Found, devices};

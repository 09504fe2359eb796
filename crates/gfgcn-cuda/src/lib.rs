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
//! | `choice.rs` | which device was asked for |
//! | `library.rs` | finds driver and cuBLAS, and says what is missing |
//! | `device.rs` | a GPU: opened, with its kernels |
//! | `lanes.rs` | lanes that threads work in side by side: memory, copies, kernels |
//! | `arguments.rs` | what kernels are called with |
//! | `pool.rs` | memory in stock |
//! | `graph.rs` | sums over neighbours, the graph on the GPU or streamed to it |
//! | `features.rs` | features on the GPU |
//! | `session.rs` | filters and scores, in slabs of columns |
//! | `propagation.rs` | one pass over the graph for all filters |
//! | `rows.rs` | filtered rows that stay on the GPU |
//! | `lent.rs` | arrays of others that are there already, and results that become theirs |
//! | `transfer.rs` | large copies at the speed of the bus |
//! | `copiers.rs` | threads that do nothing but copy |
//! | `parts.rs` | training rows and their Gram matrix |
//! | `factors.rs` | Cholesky factors of many penalties side by side |
//! | `system.rs` | ridge systems: solutions and left-out predictions |

mod arguments;
mod choice;
mod copiers;
mod device;
mod elimination;
mod factors;
mod features;
mod graph;
mod lanes;
mod left_out;
mod lent;
mod library;
mod parts;
mod pool;
mod products;
mod propagation;
mod rows;
mod session;
mod system;
mod transfer;

pub use choice::Choice;
pub use device::{Cuda, release_memory};
pub use lent::{Given, Lent};
pub use library::{Found, devices, look_for_libraries_in};

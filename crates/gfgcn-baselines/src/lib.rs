//! Graph networks trained by gradient descent: the opponents of the closed form.
//!
//! GCN, GAT, JKNet, APPNP and GCNII, and SGC, SSGC and DGC as logistic regression, all trained by Adam
//! in one loop ([`Trainer`]). They exist to be compared with, so they are made to be fast, seeded and
//! faithful to their papers (each says where it differs; features are taken as they are unless
//! [`Training::rows`] says otherwise, as some of the papers do): gradients come from a small reverse-mode tape whose operations know sparse
//! features and graphs, and every model is tested against PyTorch.
//!
//! | to | see |
//! |---|---|
//! | choose a model | [`Method`], [`Baseline`]: [`Gcn`], [`Gat`], [`JkNet`], [`Appnp`], [`Gcnii`], [`Logistic`] |
//! | train it | [`Trainer`], [`Training`] |
//! | compare many on many splits | [`Comparison`], [`Cache`] |

mod adam;
mod cache;
mod compare;
mod key;
mod model;
mod network;
mod random;
mod reach;
mod tape;
mod train;

pub use cache::{Cache, Merged};
pub use compare::{Comparison, Known, ModelRuns, Run};
pub use key::{DataKey, SplitKey};
pub use model::{Baseline, Method};
pub use network::{Appnp, Dual, Gat, Gcn, Gcnii, JkNet, Jump, Logistic};
pub use train::{Epoch, Trained, Trainer, Training};

/// What results are computed by: a hash of the sources of this crate and of `gfgcn`, made when they are compiled.
pub const SOURCES: &str = env!("GFGCN_SOURCES");

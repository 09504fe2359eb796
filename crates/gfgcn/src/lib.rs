//! Node classification on graphs without gradient training.
//!
//! The features X of the nodes are filtered over the graph by a polynomial of the normalised adjacency
//! Â = D̃^-½ (A + I) D̃^-½ — SGC, SSGC or DGC — and kernel ridge regression on the result is solved in
//! closed form, after "Simple yet Effective Gradient-Free Graph Convolutional Networks":
//!
//! ```text
//! F  = p(Â) X
//! Λ* = (λ M + I)⁻¹ Y,   M_uv = m(F_u, F_v) on the training nodes;   scores = λ m(F, F_train) Λ*
//! ```
//!
//! λ is chosen by exact leave-one-out, for all λ from one factorisation. Nothing is random, nothing
//! iterates, and results do not depend on the number of threads.
//!
//! ```
//! use gfgcn::{Classifier, data::{Dataset, Labels}, filter::Filter, graph::Graph};
//! use gfgcn::{features::Features, matrix::Matrix, split::Split};
//!
//! // A path of six nodes; only its ends are labelled.
//! let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], None)?;
//! let features = Features::dense(Matrix::from_fn(6, 6, |i, j| f32::from(i == j)))?;
//! let labels = Labels::from_names(&[Some("a"), None, None, None, None, Some("b")]);
//! let data = Dataset::new("path", graph, features, labels)?;
//!
//! let split = Split::all_labelled(data.labels())?;
//! let model = Classifier::new(Filter::ssgc(8, 0.05)?).fit(&data, &split)?;
//! let predictions = model.predict(&data)?;
//! assert_eq!((predictions.name(2), predictions.name(3)), ("a", "b"));
//! # Ok::<(), gfgcn::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | read and write data | [`data`]: [`data::npz`], [`data::TableFiles`], [`data::planetoid`] |
//! | make data of any size | [`data::Synthetic`] |
//! | choose a filter, a kernel | [`filter::Filter`], [`kernel::Kernel`] |
//! | train and predict | [`Classifier`], [`Model`] |
//! | have everything chosen | [`tune::Search`] |
//! | compare over many splits | [`evaluation::Evaluation`], [`split::Split`] |
//! | see what will be computed | [`plan::Explanation`] |
//! | use the parts alone | [`graph::Propagator`], [`graph::Adjacency`], [`filter::propagate`], [`ridge::Problem`], [`ridge::RidgePath`] |

pub mod buffer;
mod classifier;
pub mod context;
pub mod data;
mod error;
pub mod evaluation;
pub mod features;
pub mod filter;
pub mod graph;
mod hex;
pub mod kernel;
pub mod linalg;
pub mod matrix;
pub mod memory;
pub mod metrics;
pub mod model;
pub mod plan;
mod predictor;
pub mod ridge;
mod scalar;
pub mod simd;
pub mod split;
mod stop;
pub mod tune;

pub use classifier::{Classifier, Options};
pub use error::{Error, Result};
pub use hex::hex;
pub use model::Model;
pub use scalar::Scalar;
pub use stop::Stop;

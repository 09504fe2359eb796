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
//! use gfgcn::{Classifier, context::Context, data::{Dataset, Labels}, filter::Filter, graph::Graph};
//! use gfgcn::{features::Features, matrix::Matrix, split::Split};
//!
//! // A path of six nodes; only its ends are labelled.
//! let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], None)?;
//! let features = Features::dense(Matrix::from_fn(6, 6, |i, j| f32::from(i == j)))?;
//! let labels = Labels::from_names(&[Some("a"), None, None, None, None, Some("b")]);
//! let data = Dataset::new("path", graph, features, labels)?;
//!
//! let split = Split::all_labelled(data.labels())?;
//! let context = Context::default();
//! let model = Classifier::new(Filter::ssgc(8, 0.05)?).fit(&data, &split, &context)?;
//! let predictions = model.predict(&data, &context)?;
//! assert_eq!((predictions.name(2), predictions.name(3)), ("a", "b"));
//! # Ok::<(), gfgcn::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | join a graph, features and labels | [`data::Dataset`] |
//! | read, write and make data | the crate `gfgcn-data` |
//! | choose what is computed | [`Design`]: [`filter::Filter`], [`graph::Operator`], [`RowScaling`] |
//! | choose how it is learnt | [`Ridge`]: [`kernel::Kernel`], [`ridge::Selection`] |
//! | train and predict | [`Classifier`], [`Model`] |
//! | have everything chosen | [`tune::Search`] |
//! | know how sure it is | [`model::Predictions::probabilities`], [`calibration::Calibration`] |
//! | ask why | [`Model::explain`](explain::Reasons) |
//! | find labels that look wrong | [`audit::Audit`] |
//! | learn more and forget | [`Model::update`], [`Model::forget`](Model::forget): [`training::Training`] |
//! | compare over many splits | [`evaluation::Evaluation`], [`split::Split`] |
//! | cancel it, watch it, limit its memory | [`context::Context`] |
//! | have other machines help | [`shares::Job`] |
//! | run it on an accelerator | [`context::Placement`], [`device::Device`] |
//! | see what will be computed | [`driver::Explanation`] |
//! | use the parts alone | [`driver::Driver`], [`graph::Adjacency`], [`ridge::Problem`], [`ridge::RidgePath`] |

pub mod audit;
pub mod buffer;
pub mod calibration;
mod classifier;
pub mod context;
pub mod data;
mod design;
pub mod device;
pub mod driver;
mod error;
pub mod evaluation;
pub mod explain;
pub mod features;
pub mod files;
pub mod filter;
mod fit;
pub mod graph;
pub mod head;
mod hex;
pub mod kernel;
pub mod linalg;
pub mod matrix;
pub mod metrics;
pub mod model;
pub mod pages;
mod predictor;
pub mod ridge;
mod scalar;
pub mod shares;
pub mod simd;
mod text;
pub mod training;
pub mod tune;

pub use classifier::Classifier;
pub use data::split;
pub use design::{Channel, Design, Input, RowScaling};
pub use error::{Error, Result};
pub use hex::hex;
pub use model::Model;
pub use ridge::Ridge;
pub use scalar::Scalar;

//! The experiments of "Simple yet Effective Gradient-Free Graph Convolutional Networks", run again and
//! shown beside the published numbers.
//!
//! A [`Subject`] is a graph with its splits, a [`Lab`] is where experiments are run, and a [`Part`] is a
//! table or a figure of the paper. [`run`] turns them into a [`report::Report`], which is data;
//! `report` also knows the forms in which people read it.

mod ablation;
mod accuracy;
mod calibration;
mod density;
mod differences;
mod estimate;
mod gradients;
mod lab;
mod machine;
mod part;
mod published;
pub mod report;
mod scale;
mod stability;
mod subject;
mod time;

pub use accuracy::Accuracies;
pub use estimate::estimate;
pub use lab::Lab;
pub use machine::processor;
pub use part::{Part, run};
pub use published::Published;
pub use subject::{DEPTHS, Model, SPLITS, Scope, Subject, Which};

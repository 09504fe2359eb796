//! The experiments of "Simple yet Effective Gradient-Free Graph Convolutional Networks", run again and
//! shown beside the published numbers.

pub mod report;

//! Parquet tables, where the build has them.
//!
//! The only place that asks for the feature `parquet`: both sides have the same items, and the one
//! without says what to do.

#[cfg(feature = "parquet")]
#[path = "enabled/mod.rs"]
mod side;

#[cfg(not(feature = "parquet"))]
#[path = "disabled.rs"]
mod side;

pub(super) use side::{ParquetReader, check_writable, write};

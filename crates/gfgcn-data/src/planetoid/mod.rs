//! The raw Planetoid folder: eight files `ind.NAME.*` as published with Planetoid and GCN.
//!
//! | file | holds |
//! |---|---|
//! | `x`, `y` | features and one-hot labels of the training nodes 0, 1, … |
//! | `allx`, `ally` | the same of all nodes but the test nodes; they start with `x` and `y` |
//! | `tx`, `ty` | the same of the test nodes, in the order of `test.index` |
//! | `test.index` | the numbers of the test nodes, one per line |
//! | `graph` | a dict from each node to the list of its neighbours |
//!
//! All but `test.index` are Python pickles. They are read as data; nothing in them is run.
//!
//! Where `test.index` leaves gaps (Citeseer has 15), those nodes are in the graph only: they are
//! kept, with zero features and without a label.

// The only place that asks for the feature: both sides have the same items, and the one without
// says what to do.
#[cfg(feature = "planetoid")]
#[path = "enabled/mod.rs"]
mod side;

#[cfg(not(feature = "planetoid"))]
#[path = "disabled.rs"]
mod side;

use crate::directions::Directions;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::{Error, Result};
use std::path::Path;

/// How many nodes after the training nodes validate, by convention.
pub const VALIDATION_NODES: usize = 500;

/// The contents of the eight files.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// `ind.NAME.x`
    pub x: &'a [u8],
    /// `ind.NAME.y`
    pub y: &'a [u8],
    /// `ind.NAME.tx`
    pub tx: &'a [u8],
    /// `ind.NAME.ty`
    pub ty: &'a [u8],
    /// `ind.NAME.allx`
    pub allx: &'a [u8],
    /// `ind.NAME.ally`
    pub ally: &'a [u8],
    /// `ind.NAME.graph`
    pub graph: &'a [u8],
    /// `ind.NAME.test.index`
    pub test_index: &'a [u8],
}

/// The names of the datasets in a folder, sorted: every NAME for which there is an
/// `ind.NAME.graph`.
pub fn names_in(folder: &Path) -> Result<Vec<String>> {
    let failed = |error| Error::Read(error).in_file(folder);
    let mut names = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let file = entry.map_err(failed)?.file_name();
        let name = file.to_str().and_then(|f| f.strip_prefix("ind.")?.strip_suffix(".graph"));
        names.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// Reads the dataset NAME of a folder, with the public split.
///
/// The training part is the rows of `y`, the validation part the next [`VALIDATION_NODES`] (fewer
/// where `allx` ends before), the test part `test.index`; nodes without a label are left out.
///
/// # Errors
/// A file that is missing, damaged, holds anything but plain data, or does not fit the others; less memory than the
/// data take; a build without the feature `planetoid`.
pub fn read(folder: &Path, name: &str, context: &Context) -> Result<Dataset> {
    read_with(folder, name, Directions::AsSaid, context)
}

/// Like [`read`], with edges directed as asked for: from a node to each that its list names.
///
/// # Errors
/// As [`read`].
pub fn read_with(
    folder: &Path,
    name: &str,
    directions: Directions,
    context: &Context,
) -> Result<Dataset> {
    side::read(folder, name, directions, context)
}

/// Like [`read`], from files that are in memory already.
pub fn from_bytes(name: &str, files: &Files<'_>, context: &Context) -> Result<Dataset> {
    side::assemble(Path::new(""), name, files, context)
}

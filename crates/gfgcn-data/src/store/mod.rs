//! Stores: folders of plain arrays that are mapped into memory and not read, for graphs of any size.
//!
//! | file | holds |
//! |---|---|
//! | `meta.json` | version, sizes, and the length and checksum of every other file |
//! | `offsets.npy`, `neighbours.npy` | the graph, every edge in both directions: where each node's neighbours begin (`u64`, one more than nodes), and all of them in increasing order (`u32`) |
//! | `weights.npy` | one per neighbour (`f32`); absent where all are 1 |
//! | `arcs/out/…`, `arcs/into/…` | the same three by where arcs start and by where they end, of directed graphs |
//! | `relations/0/…` | the same of each kind of edges, where there are several |
//! | `features/00000-00031.npy` | dense features in blocks of columns, nodes × columns (`f32`) |
//! | `features/offsets.npy`, `columns.npy`, `values.npy` | or sparse ones in compressed rows (`u64`, `u32`, `f32`) |
//! | `labels.npy` | the class of each node (`i32`), −1 for none |
//! | `label_sets/offsets.npy`, `labels.npy`, `known.npy` | or its labels (`u64`, `u32`), and whether they are known (`u8`) |
//! | `values.npy` | or its values, nodes × columns (`f64`), NaN where they are not known |
//! | `splits/0/train.npy`, `validation.npy`, `test.npy` | the nodes of each part (`u64`) |
//! | `node_ids/…`, `feature_names/…`, `target_names/…` | text: `offsets.npy` (`u64`) into `text.npy`, UTF-8 (`u8`) |
//! | `places.npy` | the place of each node in what the store was made from, where that is another (`u64`) |
//!
//! Every array is little-endian, in C order, and can be read by NumPy. Names, labels and splits are read into memory; the
//! graph and the features are not.
//!
//! # What is checked, and when
//!
//! *Opening* checks the version, that every file is there with its length, type and shape, and in one pass the contents of all
//! but the features: checksums, and that nothing leads outside of an array. A block of features is checked when its
//! columns are first used, just before they are read anyway ([`Features::ready`](gfgcn::features::Features::ready)). So nothing
//! is computed from contents that have changed, and no pass over everything is needed to open a store. [`verify`] makes that
//! pass, and looks for what a checksum cannot tell: that every edge is there in both directions, and that the
//! fingerprint is that of the data.
//!
//! Checksums are CRC-32, as `zlib.crc32` computes them: they tell what was changed or damaged, not who did it.

mod arrays;
mod edges;
mod features;
mod meta;
mod read;
mod write;

pub use edges::EdgeWriter;
pub use features::FeatureWriter;
pub use read::{Verified, read, read_with, verify};
pub use write::{StoreWriter, write};

pub(crate) use meta::{is_store, written_parts};

use gfgcn::Result;
use meta::Meta;
use std::path::Path;

/// What a store is, in a sentence: its size, and how the features are stored.
///
/// # Errors
/// As [`read`].
pub(crate) fn describe(path: &Path) -> Result<String> {
    let meta = Meta::read(path)?;
    let bytes: u64 = meta.files.values().map(|file| file.bytes).sum();
    let blocks = meta.feature_blocks().count();
    let features = match blocks {
        0 => String::new(),
        1 => ", features in one block".to_owned(),
        several => format!(", features in {several} blocks of columns"),
    };
    let (files, size) = (meta.files.len(), bytes as f64 / 1e6);
    Ok(format!("a store of {files} arrays, {size:.1} MB{features}; mapped, not read"))
}

//! How much a file's bytes may unfold into.
//!
//! Compressed and run-length encoded formats let a few bytes claim gigabytes. Every reader of such
//! a format asks here before it believes a claim.

/// What any file may unfold into, however small it is.
pub(crate) const FREE: u64 = 64 << 20;

/// Past [`FREE`], how many times its own size a file may unfold into. Deflate itself ends at 1032.
pub(crate) const RATIO: u64 = 1000;

/// Bytes that a node takes even if nothing is known of it: its offsets in graph and features, twice
/// while they are built, its label, its degree and component.
const NODE: u64 = 64;

/// Bytes that a value of a table takes, about.
const CELL: u64 = 8;

/// Whether `bytes` bytes of a file justify holding `claimed` bytes.
pub(crate) fn justified(claimed: u64, bytes: u64) -> bool {
    claimed <= FREE || claimed / RATIO <= bytes
}

/// Whether `bytes` bytes of a file justify so many nodes.
pub(crate) fn justify_nodes(bytes: u64, nodes: u64) -> bool {
    justified(nodes.saturating_mul(NODE), bytes)
}

/// Whether `bytes` bytes of a file justify a table of so many cells.
pub(crate) fn justify_cells(bytes: u64, cells: u64) -> bool {
    justified(cells.saturating_mul(CELL), bytes)
}

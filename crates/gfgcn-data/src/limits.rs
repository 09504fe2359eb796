//! How much a file's bytes may unfold into.
//!
//! Compressed and run-length encoded formats let a few bytes claim gigabytes. Every reader of such
//! a format asks here before it believes a claim.

/// What any file may unfold into, however small it is.
pub(crate) const FREE: u64 = 64 << 20;

/// Past [`FREE`], how many times its own size a file may unfold into. Deflate itself ends at 1032.
pub(crate) const RATIO: u64 = 1000;

/// Whether `bytes` bytes of a file justify holding `claimed` bytes or values.
pub(crate) fn justified(claimed: u64, bytes: u64) -> bool {
    claimed <= FREE || claimed / RATIO <= bytes
}

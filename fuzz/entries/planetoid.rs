//! What the fuzz target and the replay of its corpus both run.

use gfgcn::context::Context;
use gfgcn_data::planetoid::{Files, from_bytes};

/// Reads a dataset whose eight files stand one after the other, each after its length in two
/// bytes. A length past the end of the input means all that is left.
pub(crate) fn run(input: &[u8]) {
    let mut rest = input;
    let mut next = || {
        let (length, tail) = rest.split_first_chunk::<2>().unwrap_or((&[0, 0], &[]));
        let (file, tail) = tail.split_at(tail.len().min(u16::from_le_bytes(*length).into()));
        rest = tail;
        file
    };
    let files = Files {
        x: next(),
        y: next(),
        tx: next(),
        ty: next(),
        allx: next(),
        ally: next(),
        graph: next(),
        test_index: next(),
    };
    let _ = from_bytes("fuzz", &files, &Context::default());
}

//! Dense features on their way to a store: rows come in, blocks of columns go out.

use super::arrays::ArrayWriter;
use gfgcn::{Error, Result};

/// Columns of a block are a multiple of this: whole cache lines of a row.
const LINE: usize = 16;
/// Bytes of a block, about, where that is more than the fewest columns.
const BLOCK: usize = 128 << 20;

/// Columns of each block, for so many nodes and columns: the more nodes, the fewer columns, so that a slab of columns is in
/// few blocks and hardly anything else is in these.
pub(super) fn block_columns(nodes: usize, columns: usize) -> usize {
    let fitting = BLOCK / (4 * nodes.max(1));
    fitting.next_multiple_of(LINE).max(LINE).min(columns.max(1))
}

/// Takes the rows of dense features, one after the other.
#[derive(Debug)]
pub struct FeatureWriter {
    pub(super) blocks: Vec<ArrayWriter>,
    /// Columns of every block but the last.
    pub(super) width: usize,
    pub(super) columns: usize,
    pub(super) nodes: usize,
    rows: usize,
    /// The rows at hand, as a block has them.
    part: Vec<f32>,
}

impl FeatureWriter {
    pub(super) fn new(
        blocks: Vec<ArrayWriter>,
        width: usize,
        columns: usize,
        nodes: usize,
    ) -> Self {
        FeatureWriter { blocks, width, columns, nodes, rows: 0, part: Vec::new() }
    }

    /// Appends whole rows.
    ///
    /// # Errors
    /// Values that are not finite, entries that are no whole rows, more rows than nodes, or a full disk.
    pub fn add(&mut self, rows: &[f32]) -> Result<()> {
        let count = rows.len() / self.columns;
        let whole = count * self.columns;
        Error::check_size("entries of whole rows of features", whole, rows.len())?;
        if self.rows + count > self.nodes {
            let what = "feature rows (one per node)";
            return Error::check_size(what, self.nodes, self.rows + count);
        }
        if let Some(k) = rows.iter().position(|value| !value.is_finite()) {
            let (row, column) = (self.rows + k / self.columns, k % self.columns);
            return Err(Error::Data(format!(
                "the feature at row {row}, column {column} is {}; features must be finite",
                rows[k]
            )));
        }
        for (k, block) in self.blocks.iter_mut().enumerate() {
            let own = k * self.width..self.columns.min((k + 1) * self.width);
            self.part.clear();
            for row in rows.chunks_exact(self.columns) {
                self.part.extend_from_slice(&row[own.clone()]);
            }
            block.put(&self.part)?;
        }
        self.rows += count;
        Ok(())
    }

    pub(super) fn check_complete(&self) -> Result<()> {
        Error::check_size("feature rows (one per node)", self.nodes, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_lines_and_small_data_are_one() {
        assert_eq!(block_columns(2708, 1433), 1433);
        assert_eq!(block_columns(1_000_000, 128), 48);
        assert_eq!(block_columns(10_000_000, 128), 16);
        assert_eq!(block_columns(111_000_000, 128), 16);
        assert_eq!(block_columns(111_000_000, 5), 5);
    }
}

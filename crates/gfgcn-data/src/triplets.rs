//! Matrix entries as files list them, one by one, and the compressed rows made of them.

/// An entry and the place it was read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) value: f32,
    /// The line or row of the file.
    pub(crate) at: u64,
}

/// Compressed rows; columns sorted, repeated entries kept.
pub(crate) struct Rows {
    pub(crate) offsets: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f32>,
}

/// Sorts entries by row and column, those of the same place in the order of the file.
pub(crate) fn sort(entries: &mut [Entry]) {
    entries.sort_unstable_by_key(|entry| (entry.row, entry.column, entry.at));
}

/// How many sorted entries have the place of the one before.
pub(crate) fn repeats(entries: &[Entry]) -> usize {
    let same = |pair: &&[Entry]| (pair[0].row, pair[0].column) == (pair[1].row, pair[1].column);
    entries.windows(2).filter(same).count()
}

/// Bytes of compressed rows, and of the matrix that is made of them.
pub(crate) fn memory(rows: usize, entries: usize) -> usize {
    let entry = size_of::<u32>() + size_of::<f32>();
    2 * (size_of::<usize>() * (rows + 1) + entry * entries)
}

/// Compresses sorted entries of a matrix with `rows` rows.
pub(crate) fn compress(rows: usize, entries: &[Entry]) -> Rows {
    let mut offsets = vec![0; rows + 1];
    for entry in entries {
        offsets[entry.row as usize + 1] += 1;
    }
    for row in 0..rows {
        offsets[row + 1] += offsets[row];
    }
    Rows {
        offsets,
        columns: entries.iter().map(|entry| entry.column).collect(),
        values: entries.iter().map(|entry| entry.value).collect(),
    }
}

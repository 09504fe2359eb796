//! Dividing rows among threads.

use std::ops::Range;

/// Divides all rows into ranges of about the same work: a row costs its neighbours and itself.
pub(super) fn balanced(offsets: &[u64], parts: usize) -> Vec<Range<usize>> {
    let nodes = offsets.len() - 1;
    let work_before = |row: usize| offsets[row] + row as u64;
    let total = work_before(nodes);
    let mut start = 0;
    let mut ranges = Vec::with_capacity(parts);
    for part in 1..=parts as u64 {
        // The first row that begins at or after the part's share of the work.
        let share = (u128::from(total) * u128::from(part) / parts as u128) as u64;
        let (mut low, mut high) = (start, nodes);
        while low < high {
            let middle = low.midpoint(high);
            if work_before(middle) < share { low = middle + 1 } else { high = middle }
        }
        if low > start {
            ranges.push(start..low);
            start = low;
        }
    }
    ranges
}

/// Cuts a row-major block into parts of consecutive rows.
pub(crate) fn split_rows<'a, T>(
    mut block: &'a mut [T],
    stride: usize,
    ranges: &[Range<usize>],
) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for rows in ranges {
        let (part, rest) = block.split_at_mut(rows.len() * stride);
        parts.push(part);
        block = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    #[test]
    fn ranges_cover_all_rows_and_share_the_work() {
        let star: Vec<(u32, u32)> = (1..1000).map(|k| (0, k)).collect();
        let (graph, _) = Graph::from_edges(1000, &star, None).unwrap();
        for parts in [1, 2, 3, 7, 5000] {
            let ranges = balanced(graph.offsets(), parts);
            assert!(ranges.len() <= parts);
            assert_eq!((ranges[0].start, ranges.last().unwrap().end), (0, 1000));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        // The hub is a third of the work, so it is a part of its own.
        assert_eq!(balanced(graph.offsets(), 3)[0], 0..1);
    }
}

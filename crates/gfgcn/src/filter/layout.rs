//! How the columns of a source are cut into slabs, so that a core's vectors stay in its cache.

use crate::pages::LINE;

/// Vectors that are held and added to the sums together, at most.
pub(super) const WINDOW: usize = 8;
/// Vectors of a window that are to stay close at hand. Rows of the last one are read in the order of the neighbours; the others are
/// read once more, in their own order, when they are added up, and may come from further away.
const CLOSE: usize = 4;
/// Bytes of the vectors of one slab that are to stay in the cache of one core, about.
const CACHED_BYTES: usize = 3 << 20;
/// A line per node takes more than this: rows come from far away whatever is done.
const FAR_BYTES: usize = 32 << 20;

/// How the columns of a source are divided. Changes no bit of the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Columns in every slab but the last.
    pub(crate) width: usize,
    /// Slabs that are at work at the same time; 1 where threads share the rows of a slab.
    pub(crate) at_once: usize,
    /// Vectors of a slab that are held, and added to the sums together.
    pub(crate) window: usize,
}

impl Layout {
    /// The next that takes less memory: one slab at a time, then narrower ones.
    pub(crate) fn smaller(self) -> Option<Self> {
        /// Columns of the narrowest slab: those of the shortest vector.
        const LEAST: usize = 4;
        if self.at_once > 1 {
            return Some(Layout { at_once: 1, ..self });
        }
        let width = (self.width.next_power_of_two() / 2).max(LEAST);
        (width < self.width).then_some(Layout { width, ..self })
    }

    /// Entries of a row over all slabs of so many columns that are at work at the same time, at most.
    pub(crate) fn at_work(self, columns: usize) -> usize {
        let full = (columns / self.width).min(self.at_once);
        let last = if full < self.at_once { columns % self.width } else { 0 };
        full * Layout::stride(self.width) + Layout::stride(last)
    }

    /// Entries of a row of so many columns: whole vectors of the narrowest kind, so that there are no leftover columns to
    /// go through one by one.
    pub(crate) fn stride(columns: usize) -> usize {
        columns.next_multiple_of(if columns > 4 { 8 } else { 4 })
    }

    /// Slabs of whole cache lines, so few that a core's vectors stay in its cache if that is
    /// possible with two. On graphs so large that not even one line per node fits, rows come from far away: they are two
    /// lines, which processors fetch as a pair, few vectors are held, and all threads work on the same slab.
    pub(crate) fn new<T>(nodes: usize, columns: usize) -> Self {
        let line = LINE / size_of::<T>();
        let threads = rayon::current_num_threads();
        let large = nodes * LINE > FAR_BYTES;
        let lines_at_hand = CACHED_BYTES / (nodes * LINE * CLOSE).max(1);
        let lines = if large { 2 } else { lines_at_hand.clamp(2, 4) };
        let width = (lines * line).min(columns.max(1));
        let slabs = columns.div_ceil(width);
        Layout {
            width,
            at_once: if large || slabs < threads { 1 } else { threads },
            window: if large { 2 } else { WINDOW },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_slab_is_as_wide_as_what_is_left() {
        let at_work = |width, at_once, columns| {
            let layout = Layout { width, at_once, window: WINDOW };
            layout.at_work(columns)
        };
        assert_eq!(at_work(32, 1, 48), 32);
        assert_eq!(at_work(32, 2, 48), 32 + 16);
        assert_eq!(at_work(32, 2, 70), 2 * 32);
        assert_eq!(at_work(32, 4, 70), 2 * 32 + 8);
        assert_eq!(at_work(5, 1, 5), 8);
        assert_eq!(at_work(1, 1, 0), 0);
    }
}

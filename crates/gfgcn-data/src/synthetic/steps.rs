//! Drawing a position in proportion to its weight, from hundreds of millions of them.

use gfgcn::pages;
use std::ops::Range;

/// Sums in one part of the value range, on average: no more than a cache line holds.
const PER_PART: usize = 4;

/// Running sums of weights. A position is found by its part of the value range first, so that a search stays within a line or two
/// and does not touch twenty pages.
pub(super) struct Steps {
    /// The sum of the weights before each position, and of all.
    sums: Vec<f64>,
    /// How many sums are in the parts before each.
    before: Vec<u32>,
    parts_per_weight: f64,
}

impl Steps {
    pub(super) fn new(count: usize, weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sums: Vec<f64> = pages::zeros(count + 1);
        let mut total = 0.0;
        for (sum, weight) in sums[1..].iter_mut().zip(weights) {
            total += weight;
            *sum = total;
        }
        let parts = count.div_ceil(PER_PART).max(1);
        let before = pages::zeros(parts + 1);
        let mut steps = Steps { sums, before, parts_per_weight: parts as f64 / total };
        let mut next = 0;
        for position in 0..=count {
            let part = steps.part(steps.sums[position]);
            while next <= part {
                steps.before[next] = position as u32;
                next += 1;
            }
        }
        steps.before[next..].fill(count as u32 + 1);
        steps
    }

    /// The sum of all weights before a position.
    pub(super) fn before(&self, position: usize) -> f64 {
        self.sums[position]
    }

    /// The weight of a position, as the sums have it.
    pub(super) fn weight(&self, position: usize) -> f64 {
        self.sums[position + 1] - self.sums[position]
    }

    /// The sum of all weights in a range.
    pub(super) fn within(&self, range: Range<usize>) -> f64 {
        self.sums[range.end] - self.sums[range.start]
    }

    /// The position in a range whose weight a value falls into.
    pub(super) fn position(&self, value: f64, range: Range<usize>) -> usize {
        let part = self.part(value);
        let near = self.before[part] as usize..self.before[part + 1] as usize;
        // Sums in earlier parts are smaller than the value and those in later ones larger, however the bounds were rounded.
        let up_to = near.start + self.sums[near].partition_point(|&sum| sum <= value);
        up_to.saturating_sub(1).clamp(range.start, range.end - 1)
    }

    /// Which part a value falls into: grows with the value.
    fn part(&self, value: f64) -> usize {
        ((value * self.parts_per_weight) as usize).min(self.before.len() - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_a_search_through_all_sums() {
        // Weights of very different sizes, some of them zero.
        let weight = |k: usize| match k % 7 {
            0 => 1e6,
            1 | 2 => 0.0,
            _ => 1.0 / (1 + k * k % 101) as f64,
        };
        for count in [1, 2, 5, 1000] {
            let steps = Steps::new(count, (0..count).map(weight));
            for range in [0..count, count / 3..count, count / 2..(count / 2 + 2).min(count)] {
                if range.is_empty() {
                    continue;
                }
                let (low, high) = (steps.before(range.start), steps.before(range.end));
                let bounds = range.clone().map(|k| steps.before(k));
                let between = (0..=200).map(|k| low + (high - low) * f64::from(k) / 200.0);
                for value in bounds.chain(between) {
                    let own = &steps.sums[range.start + 1..range.end];
                    let expected = range.start + own.iter().filter(|&&sum| sum <= value).count();
                    assert_eq!(steps.position(value, range.clone()), expected, "{value} {range:?}");
                }
            }
        }
    }
}

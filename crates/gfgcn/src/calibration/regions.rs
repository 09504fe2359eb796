//! What is plausible: sets of classes or labels, and intervals of values.

use crate::error::{Error, Result};

/// What is plausible at a coverage: whatever fits a node no worse than the training nodes' own classes, labels or values
/// fit them when they are left out, but for the worst ones.
///
/// The limit is the ⌈(n + 1) coverage⌉-th smallest of n misfits. If a training node and a new one could change places (nodes
/// were labelled at random), and what is learnt hardly depends on a single node, the share of new nodes whose truth is inside
/// is the coverage. That is measured on many graphs (`docs/living.md`), not guaranteed: left-out scores of the same nodes
/// guarantee no more than 1 − 2 (1 − coverage), and that only of a construction that compares with every left-out model.
///
/// Of sets of labels the coverage is that of their labels: the share of all labels of nodes that are inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    coverage: f64,
    /// The largest misfit that is plausible, one of classes and labels, one per column of values.
    limits: Vec<f64>,
}

impl Regions {
    pub(crate) fn new(coverage: f64, misfits: &[Vec<f64>]) -> Result<Self> {
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(Error::parameter("coverage", coverage, "a number between 0 and 1"));
        }
        let limit = |misfits: &Vec<f64>| {
            let place = ((misfits.len() + 1) as f64 * coverage).ceil() as usize;
            misfits.get(place.max(1) - 1).copied().unwrap_or(f64::INFINITY)
        };
        Ok(Regions { coverage, limits: misfits.iter().map(limit).collect() })
    }

    /// The coverage that was asked for.
    pub fn coverage(&self) -> f64 {
        self.coverage
    }

    /// Whether the training nodes are too few to rule anything out at this coverage.
    pub fn is_everything(&self) -> bool {
        self.limits.iter().any(|limit| limit.is_infinite())
    }

    /// The plausible classes or labels of a node by their probabilities, as positions; the most probable one is always among
    /// them.
    pub fn set(&self, probabilities: &[f64]) -> Vec<u32> {
        let limit = self.limits[0];
        let plausible = |p: f64| 1.0 - p <= limit;
        let all = probabilities.iter().zip(0..);
        let set: Vec<u32> = all.clone().filter(|(p, _)| plausible(**p)).map(|(_, k)| k).collect();
        match set.is_empty() {
            false => set,
            true => {
                let best = all.reduce(|best, other| if other.0 > best.0 { other } else { best });
                best.map(|(_, k)| k).into_iter().collect()
            }
        }
    }

    /// The plausible values around those that are predicted, from and to, one pair per column.
    pub fn intervals(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let interval = |(value, limit): (&f64, &f64)| (value - limit, value + limit);
        values.iter().zip(&self.limits).map(interval).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_order_statistics() {
        let misfits: Vec<f64> = (1..=99).map(f64::from).collect();
        let limit = |coverage: f64| {
            Regions::new(coverage, std::slice::from_ref(&misfits)).unwrap().limits[0]
        };
        assert_eq!([limit(0.9), limit(0.95), limit(0.005)], [90.0, 95.0, 1.0]);
        assert!(limit(0.995).is_infinite());
        for bad in [0.0, 1.0, -0.5, 90.0, f64::NAN] {
            assert!(Regions::new(bad, &[vec![0.5]]).is_err(), "{bad}");
        }
    }

    #[test]
    fn sets_have_what_is_plausible_and_the_best() {
        let regions = Regions { coverage: 0.9, limits: vec![0.7] };
        assert_eq!(regions.set(&[0.5, 0.3, 0.2]), [0, 1]);
        assert_eq!(regions.set(&[0.26, 0.25, 0.26, 0.23]), [0], "the first of equals");
        assert_eq!(regions.set(&[1.0]), [0]);
        let all = Regions { coverage: 0.99, limits: vec![f64::INFINITY] };
        assert!(all.is_everything() && all.set(&[0.9, 0.1, 0.0]) == [0, 1, 2]);
    }

    #[test]
    fn intervals_lie_around_the_prediction() {
        let regions = Regions { coverage: 0.9, limits: vec![1.0, 0.25] };
        assert_eq!(regions.intervals(&[3.0, -1.0]), [(2.0, 4.0), (-1.25, -0.75)]);
    }
}

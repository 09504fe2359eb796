//! Whether probabilities are what they say.

use serde::Serialize;

/// Bins of a reliability diagram, as usual.
const BINS: usize = 15;

/// How often predictions of a confidence are right, in bins of equal width (the reliability diagram).
///
/// ```
/// use gfgcn::metrics::Reliability;
/// let mut reliability = Reliability::default();
/// for right in [true, true, true, false] {
///     reliability.add(0.95, right);
/// }
/// assert!((reliability.expected_error() - 0.2).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    bins: Vec<Bin>,
}

/// Predictions of about the same confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// How many there are.
    pub count: usize,
    /// How many of them are right.
    pub right: usize,
    /// The sum of their confidences.
    #[serde(skip)]
    total: f64,
    /// Their mean confidence, 0 to 1.
    pub confidence: f64,
}

impl Bin {
    /// The share of them that is right, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.count.max(1) as f64
    }
}

impl Default for Reliability {
    fn default() -> Self {
        Reliability { bins: vec![Bin::default(); BINS] }
    }
}

impl Reliability {
    /// Adds a prediction with its probability, 0 to 1.
    pub fn add(&mut self, confidence: f64, right: bool) {
        let place = ((confidence * BINS as f64) as usize).min(BINS - 1);
        let bin = &mut self.bins[place];
        bin.count += 1;
        bin.right += usize::from(right);
        bin.total += confidence;
        bin.confidence = bin.total / bin.count as f64;
    }

    /// Adds the predictions of another.
    pub fn join(&mut self, other: &Reliability) {
        for (bin, other) in self.bins.iter_mut().zip(&other.bins).filter(|(_, o)| o.count > 0) {
            bin.count += other.count;
            bin.right += other.right;
            bin.total += other.total;
            bin.confidence = bin.total / bin.count as f64;
        }
    }

    /// All that it knows, as numbers: of each bin how many there are, how many of them are right, and the sum of their confidences.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        self.bins.iter().flat_map(|bin| [bin.count as f64, bin.right as f64, bin.total])
    }

    /// One from its numbers; `None` if it has others.
    pub(crate) fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let bin = |bin: &[f64]| {
            let (count, right, total) = (bin[0] as usize, bin[1] as usize, bin[2]);
            let confidence = if count == 0 { 0.0 } else { total / count as f64 };
            Bin { count, right, total, confidence }
        };
        let bins: Vec<Bin> = numbers.chunks_exact(3).map(bin).collect();
        (numbers.len() == 3 * BINS).then_some(Reliability { bins })
    }

    /// The bins, from confidence 0 to 1; some may be empty.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// The expected calibration error: Σ_b n_b |accuracy_b − confidence_b| / Σ_b n_b; 0 of nothing.
    pub fn expected_error(&self) -> f64 {
        let count: usize = self.bins.iter().map(|bin| bin.count).sum();
        let off = |bin: &Bin| bin.count as f64 * (bin.accuracy() - bin.confidence).abs();
        self.bins.iter().map(off).sum::<f64>() / count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_error_is_that_of_the_formula() {
        let mut reliability = Reliability::default();
        let predictions =
            [(0.0, false), (0.41, true), (0.44, false), (0.99, true), (1.0, true), (0.97, false)];
        predictions.iter().for_each(|&(confidence, right)| reliability.add(confidence, right));
        // Bins of 1/15: 0; 0.41 and 0.44 in the seventh; the rest in the last.
        let expected = (1.0 * 0.0
            + 2.0 * (0.5f64 - 0.425).abs()
            + 3.0 * (2.0 / 3.0 - (0.99 + 1.0 + 0.97) / 3.0f64).abs())
            / 6.0;
        assert!((reliability.expected_error() - expected).abs() < 1e-12);
        let counts: Vec<usize> = reliability.bins().iter().map(|bin| bin.count).collect();
        assert_eq!((counts[0], counts[6], counts[14]), (1, 2, 3));
        let mut twice = reliability.clone();
        twice.join(&reliability);
        assert!((twice.expected_error() - expected).abs() < 1e-12);
        assert_eq!(Reliability::default().expected_error(), 0.0);
    }
}

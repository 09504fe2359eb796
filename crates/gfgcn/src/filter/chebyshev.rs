//! Polynomials in the Chebyshev basis.
//!
//! p(x) = Σ_k c_k T_k(x) on [−1, 1], where the eigenvalues of Â lie. In this basis the coefficients
//! of a deep filter decay fast: Â^128 is given to single precision by some 60 terms instead of
//! 128 products, and every filter is a combination of the same vectors T_k(Â) X.

use std::f64::consts::PI;

/// A truncated Chebyshev series.
#[derive(Clone, Debug, PartialEq)]
pub struct ChebyshevSeries {
    coefficients: Vec<f64>,
}

impl ChebyshevSeries {
    /// What truncation may change, relative to max |p| on [−1, 1]: below what single-precision
    /// propagation resolves.
    pub const TOLERANCE: f64 = 1e-8;

    /// The series of a polynomial of the given degree, from its values at the Chebyshev nodes,
    /// cut off where the dropped terms sum to less than [`Self::TOLERANCE`].
    pub(crate) fn interpolate(degree: usize, p: impl Fn(f64) -> f64) -> Self {
        let count = degree + 1;
        // cos(π m / 2·count) for m = 0 .. 4·count: every cosine that occurs below.
        let cosines: Vec<f64> =
            (0..4 * count).map(|m| (PI * m as f64 / (2 * count) as f64).cos()).collect();
        let values: Vec<f64> = (0..count).map(|j| p(cosines[2 * j + 1])).collect();
        let mut coefficients: Vec<f64> = (0..count)
            .map(|k| {
                let sum: f64 = values
                    .iter()
                    .enumerate()
                    .map(|(j, value)| value * cosines[k * (2 * j + 1) % (4 * count)])
                    .sum();
                sum * if k == 0 { 1.0 } else { 2.0 } / count as f64
            })
            .collect();
        let largest =
            values.iter().chain([&p(1.0), &p(-1.0)]).fold(0.0, |m: f64, v| m.max(v.abs()));
        let mut dropped = 0.0;
        while let Some(last) = coefficients.last() {
            dropped += last.abs();
            if dropped > Self::TOLERANCE * largest || coefficients.len() == 1 {
                break;
            }
            coefficients.pop();
        }
        ChebyshevSeries { coefficients }
    }

    /// c_0, c_1, …, c_degree.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The number of products with Â that the series takes.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The value of the series at x in [−1, 1].
    pub fn evaluate(&self, x: f64) -> f64 {
        // Clenshaw's recurrence.
        let (mut b1, mut b2) = (0.0, 0.0);
        for &c in self.coefficients.iter().skip(1).rev() {
            (b1, b2) = (c + 2.0 * x * b1 - b2, b1);
        }
        self.coefficients[0] + x * b1 - b2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    #[test]
    fn a_series_equals_its_filter_within_the_tolerance() {
        for depth in [1, 2, 3, 8, 64, 128, 1000] {
            let filters = [
                Filter::sgc(depth).unwrap(),
                Filter::ssgc(depth, 0.05).unwrap(),
                Filter::dgc(depth, 5.27).unwrap(),
            ];
            for filter in filters {
                let series = filter.lower();
                let largest = filter.evaluate(1.0).abs().max(filter.evaluate(-1.0).abs());
                for i in 0..=400 {
                    let x = f64::from(i) / 200.0 - 1.0;
                    let error = (series.evaluate(x) - filter.evaluate(x)).abs();
                    assert!(
                        error <= 1.001 * ChebyshevSeries::TOLERANCE * largest,
                        "{filter} at {x}: {error:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn deep_filters_take_few_products() {
        assert!(Filter::sgc(128).unwrap().lower().degree() <= 66);
        assert!(Filter::dgc(128, 5.27).unwrap().lower().degree() <= 20);
    }
}

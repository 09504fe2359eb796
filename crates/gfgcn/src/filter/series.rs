//! A filter lowered to a Chebyshev series.
//!
//! Whatever the filter, F = p(Â) X is a combination of the vectors
//!
//! ```text
//! v_0 = X,   v_1 = Â X,   v_{k+1} = 2 Â v_k − v_{k−1}
//! ```
//!
//! which follow from each other by one product each. All filters are written in these, so that any number of them
//! share one pass, and each comes out the same to the last bit whether it is alone or in company. Shallow filters
//! take as many products as in powers of Â; the coefficients of deep ones decay fast: Â^128 is given to single
//! precision by some 60 terms. It is also the numerically safe basis: a DGC with T > K has huge alternating
//! coefficients in powers of Â.

use super::Filter;
use crate::error::{Error, Result};
use crate::graph::Step;
use crate::scalar::Scalar;
use crate::text::serde_as_text;
use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

/// What lowering a filter may change of it, relative to max |p| on [−1, 1]; 1e-12 to 1e-2.
///
/// The default, 1e-7, is about what single-precision propagation resolves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(f64);

impl Tolerance {
    /// A tolerance from 1e-12 to 1e-2.
    pub fn new(relative: f64) -> Result<Self> {
        if (1e-12..=1e-2).contains(&relative) {
            Ok(Tolerance(relative))
        } else {
            Err(Error::parameter("tolerance", relative, "a number from 1e-12 to 1e-2"))
        }
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance(1e-7)
    }
}

serde_as_text!(Tolerance);

impl FromStr for Tolerance {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let refused = |_| Error::parameter("tolerance", text, "a number from 1e-12 to 1e-2");
        Tolerance::new(text.parse().map_err(refused)?)
    }
}

impl From<Tolerance> for f64 {
    fn from(tolerance: Tolerance) -> f64 {
        tolerance.0
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:e}", self.0)
    }
}

/// The Chebyshev coefficients of a filter.
///
/// ```
/// use gfgcn::filter::{Filter, Series, Tolerance};
/// let shallow = Series::new(Filter::ssgc(8, 0.05)?, Tolerance::default());
/// assert_eq!(shallow.products(), 8);
/// let deep = Series::new(Filter::sgc(128)?, Tolerance::default());
/// assert!(deep.products() < 65);
/// assert!((deep.evaluate(0.99) - 0.99_f64.powi(128)).abs() < 1e-7);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Series(Vec<f64>);

impl Series {
    /// Lowers a filter; terms are dropped as far as the tolerance allows.
    pub fn new(filter: Filter, tolerance: Tolerance) -> Self {
        Series(chebyshev(&filter, tolerance.0))
    }

    /// Products with Â that it takes.
    pub fn products(&self) -> usize {
        self.0.len() - 1
    }

    /// Multiples of vectors that are added up.
    pub fn terms(&self) -> usize {
        self.0.iter().filter(|c| **c != 0.0).count()
    }

    /// The coefficients of v_0, v_1, …
    pub fn coefficients(&self) -> &[f64] {
        &self.0
    }

    /// The value of the series at x in [−1, 1].
    pub fn evaluate(&self, x: f64) -> f64 {
        let (mut sum, mut previous, mut current) = (0.0, 0.0, 1.0);
        for (k, coefficient) in self.0.iter().enumerate() {
            sum += coefficient * current;
            let Step { a, b, c } = recurrence::<f64>(k + 1);
            (current, previous) = (a * x * current + b * current + c * previous, current);
        }
        sum
    }
}

/// How v_k follows from v_{k−1} and v_{k−2}.
pub(super) fn recurrence<T: Scalar>(k: usize) -> Step<T> {
    let (a, c) = if k > 1 { (2.0, -1.0) } else { (1.0, 0.0) };
    Step { a: T::from_f64(a), b: T::default(), c: T::from_f64(c) }
}

/// The Chebyshev series of a filter, from its values at the Chebyshev nodes, cut off where the
/// dropped terms sum to less than the tolerance.
fn chebyshev(filter: &Filter, tolerance: f64) -> Vec<f64> {
    let count = filter.depth() + 1;
    // cos(π m / 2·count) for m = 0 .. 4·count: every cosine that occurs below.
    let cosines: Vec<f64> =
        (0..4 * count).map(|m| (PI * m as f64 / (2 * count) as f64).cos()).collect();
    let values: Vec<f64> = (0..count).map(|j| filter.evaluate(cosines[2 * j + 1])).collect();
    let coefficient = |k: usize| {
        let terms = values.iter().enumerate();
        let sum: f64 = terms.map(|(j, v)| v * cosines[k * (2 * j + 1) % (4 * count)]).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / count as f64
    };
    let mut coefficients: Vec<f64> = (0..count).map(coefficient).collect();
    let ends = [filter.evaluate(1.0), filter.evaluate(-1.0)];
    let largest = values.iter().chain(&ends).fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut dropped = 0.0;
    while let Some(last) = coefficients.last() {
        dropped += last.abs();
        if dropped > tolerance * largest || coefficients.len() == 1 {
            break;
        }
        coefficients.pop();
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(depth: usize) -> [Filter; 4] {
        [
            Filter::sgc(depth).unwrap(),
            Filter::ssgc(depth, 0.05).unwrap(),
            Filter::dgc(depth, 5.27).unwrap(),
            Filter::dgc(depth, 0.5).unwrap(),
        ]
    }

    #[test]
    fn a_series_equals_its_filter_within_the_tolerance() {
        for filter in [1, 2, 3, 8, 64, 128, 1000].into_iter().flat_map(filters) {
            for tolerance in [1e-4, 1e-7, 1e-10] {
                let series = Series::new(filter, Tolerance::new(tolerance).unwrap());
                let largest = filter.evaluate(1.0).abs().max(filter.evaluate(-1.0).abs());
                for i in 0..=400 {
                    let x = f64::from(i) / 200.0 - 1.0;
                    let error = (series.evaluate(x) - filter.evaluate(x)).abs();
                    assert!(
                        error <= 1.001 * (tolerance + 1e-13) * largest,
                        "{filter} at {x}: {error:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_filter_takes_more_products_than_its_depth_and_deep_ones_take_few() {
        let products =
            |filter: Result<Filter>| Series::new(filter.unwrap(), Tolerance::default()).products();
        for filter in [1, 2, 3, 8, 64].into_iter().flat_map(filters) {
            assert!(products(Ok(filter)) <= filter.depth(), "{filter}");
        }
        assert!(products(Filter::sgc(128)) <= 62);
        assert!(products(Filter::dgc(128, 5.27)) <= 18);
        assert_eq!(products(Filter::ssgc(1, 1.0)), 0, "nothing to multiply by");
    }

    #[test]
    fn a_tolerance_is_written_and_read() {
        let tolerance = Tolerance::new(2.5e-9).unwrap();
        assert_eq!(tolerance.to_string().parse::<Tolerance>().unwrap(), tolerance);
        for text in ["0", "1", "1e-13", "nan", "x"] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
    }
}

//! A filter lowered to a series.
//!
//! Whatever the filter, F = p(Â) X is a combination of the vectors
//!
//! ```text
//! v_0 = X,   v_1 = Â X,   v_{k+1} = 2 Â v_k − v_{k−1}      Chebyshev, where the spectrum is real and within [−1, 1]
//! v_0 = X,   v_1 = Â X,   v_{k+1} = Â v_k                  powers, elsewhere
//! ```
//!
//! which follow from each other by one product each. All filters of an operator are written in the same ones, so that any
//! number of them
//! share one pass, and each comes out the same to the last bit whether it is alone or in company. In Chebyshev
//! polynomials shallow filters
//! take as many products as in powers of Â; the coefficients of deep ones decay fast: Â^128 is given to single
//! precision by some 60 terms. It is also the numerically safe basis: a DGC with T > K has huge alternating
//! coefficients in powers of Â.

use super::{Filter, Tolerance};
use crate::graph::Step;
use crate::scalar::Scalar;
use std::f64::consts::PI;

/// The vectors that a series combines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// Chebyshev polynomials of Â, whose spectrum must be real and within [−1, 1].
    #[default]
    Chebyshev,
    /// Powers of Â.
    Powers,
}

/// The coefficients of a filter.
///
/// ```
/// use gfgcn::filter::{Basis, Filter, Series, Tolerance};
/// let shallow = Series::new(Filter::ssgc(8, 0.05)?, Basis::Chebyshev, Tolerance::default());
/// assert_eq!(shallow.products(), 8);
/// let deep = Series::new(Filter::sgc(128)?, Basis::Chebyshev, Tolerance::default());
/// assert!(deep.products() < 65);
/// assert!((deep.evaluate(0.99) - 0.99_f64.powi(128)).abs() < 1e-7);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    basis: Basis,
    coefficients: Vec<f64>,
}

impl Series {
    /// Lowers a filter; terms are dropped as far as the tolerance allows.
    pub fn new(filter: Filter, basis: Basis, tolerance: Tolerance) -> Self {
        let coefficients = match basis {
            Basis::Chebyshev => chebyshev(&filter, tolerance.into()),
            Basis::Powers => powers(&filter, tolerance.into()),
        };
        Series { basis, coefficients }
    }

    /// The vectors that are combined.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// Products with Â that it takes.
    pub fn products(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// Multiples of vectors that are added up.
    pub fn terms(&self) -> usize {
        self.coefficients.iter().filter(|c| **c != 0.0).count()
    }

    /// The coefficients of v_0, v_1, …
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The value of the series at x in [−1, 1].
    pub fn evaluate(&self, x: f64) -> f64 {
        let (mut sum, mut previous, mut current) = (0.0, 0.0, 1.0);
        for (k, coefficient) in self.coefficients.iter().enumerate() {
            sum += coefficient * current;
            let Step { a, b, c } = recurrence::<f64>(self.basis, k + 1);
            (current, previous) = (a * x * current + b * current + c * previous, current);
        }
        sum
    }
}

/// How v_k follows from v_{k−1} and v_{k−2}.
pub(crate) fn recurrence<T: Scalar>(basis: Basis, k: usize) -> Step<T> {
    let (a, c) = match basis {
        Basis::Chebyshev if k > 1 => (2.0, -1.0),
        _ => (1.0, 0.0),
    };
    Step { a: T::from_f64(a), b: T::default(), c: T::from_f64(c) }
}

/// The Chebyshev series of a filter, from its values at the Chebyshev nodes, cut off where the
/// dropped terms sum to less than the tolerance.
fn chebyshev(filter: &Filter, tolerance: f64) -> Vec<f64> {
    let count = terms(filter);
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
    truncate(&mut coefficients, tolerance * largest);
    coefficients
}

/// Drops terms from the end that sum to no more than the tolerance.
fn truncate(coefficients: &mut Vec<f64>, tolerance: f64) {
    let mut dropped = 0.0;
    while let Some(last) = coefficients.last() {
        dropped += last.abs();
        if dropped > tolerance || coefficients.len() == 1 {
            break;
        }
        coefficients.pop();
    }
}

/// Terms of a Chebyshev series that give the filter to the last digit of double precision.
fn terms(filter: &Filter) -> usize {
    /// −ln of the last digit.
    const DIGITS: f64 = 36.0;
    match *filter {
        // The coefficients decay as powers of this, by the place of the pole.
        Filter::Ppr { alpha } if alpha < 1.0 => {
            let pole = (1.0 - alpha).recip();
            let decay = (pole + (pole * pole - 1.0).sqrt()).ln();
            1 + (DIGITS / decay).ceil() as usize
        }
        // As those of modified Bessel functions: exp(−k²/2t), and for short times faster than powers.
        Filter::Heat { time } => 40 + (2.0 * DIGITS * time).sqrt().ceil() as usize,
        _ => filter.depth() + 1,
    }
}

/// Terms of a series in powers: enough for the smallest α and the longest time.
const MAX_TERMS: usize = 1 << 15;

/// The filter in powers, cut off as a Chebyshev series is; powers of Â are at most 1 in size where rows add up to 1.
fn powers(filter: &Filter, tolerance: f64) -> Vec<f64> {
    let binomial = |depth: usize, own: f64, step: f64| {
        // In logarithms, because the binomials of deep filters are beyond all numbers.
        let mut choose = 0.0;
        let term = |k: usize| {
            if k > 0 {
                choose += ((depth + 1 - k) as f64 / k as f64).ln();
            }
            let factor = |base: f64, power: usize| match power {
                0 => (0.0, 1.0),
                power => (power as f64 * base.abs().ln(), base.signum().powi(power as i32)),
            };
            let ((a, sign_a), (b, sign_b)) = (factor(own, depth - k), factor(step, k));
            sign_a * sign_b * (choose + a + b).exp()
        };
        (0..=depth).map(term).collect::<Vec<f64>>()
    };
    // Terms until what is left of their sum, which is 1, is below the tolerance.
    let until = |term: &dyn Fn(usize) -> f64| {
        let (mut terms, mut rest) = (Vec::new(), 1.0);
        while rest > 0.1 * tolerance && terms.len() < MAX_TERMS {
            terms.push(term(terms.len()));
            rest -= terms[terms.len() - 1];
        }
        terms
    };
    let mut coefficients = match *filter {
        Filter::Identity => vec![1.0],
        Filter::Sgc { depth } => (0..=depth).map(|k| f64::from(k == depth)).collect(),
        Filter::Ssgc { depth, tau } => {
            let power = |k| if k == 0 { tau } else { (1.0 - tau) / depth as f64 };
            (0..=depth).map(power).collect()
        }
        Filter::Dgc { depth, time } => {
            let step = time / depth as f64;
            binomial(depth, 1.0 - step, step)
        }
        Filter::HighPass { depth } => binomial(depth, 1.0, -1.0),
        Filter::Ppr { alpha } => until(&|k| alpha * (1.0 - alpha).powi(k as i32)),
        Filter::Heat { time } => {
            // exp(−t) tᵏ / k!, in logarithms: exp(−t) by itself may be no number.
            let mut factorials = vec![0.0];
            factorials.extend((1..MAX_TERMS).scan(0.0, |sum, k| {
                *sum += (k as f64).ln();
                Some(*sum)
            }));
            until(&|k| (k as f64 * time.ln() - time - factorials[k]).exp())
        }
    };
    let sizes: f64 = coefficients.iter().map(|c| c.abs()).sum();
    truncate(&mut coefficients, tolerance * sizes);
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;

    fn filters(depth: usize) -> [Filter; 9] {
        [
            Filter::Identity,
            Filter::high_pass(depth.min(20)).unwrap(),
            Filter::ppr(0.1).unwrap(),
            Filter::ppr(0.005).unwrap(),
            Filter::heat(depth as f64).unwrap(),
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
                let series =
                    Series::new(filter, Basis::Chebyshev, Tolerance::new(tolerance).unwrap());
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

    /// Where powers stay small, both are the filter.
    #[test]
    fn powers_give_the_filter_too() {
        let extreme = [Filter::ppr(0.001), Filter::heat(1000.0)].map(Result::unwrap);
        for filter in [1, 2, 3, 8, 20].into_iter().flat_map(filters).chain(extreme) {
            if matches!(filter, Filter::Dgc { time, depth } if time > depth as f64) {
                continue;
            }
            let series = Series::new(filter, Basis::Powers, Tolerance::new(1e-9).unwrap());
            let largest = filter.evaluate(1.0).abs().max(filter.evaluate(-1.0).abs());
            for i in 0..=40 {
                let x = f64::from(i) / 20.0 - 1.0;
                let error = (series.evaluate(x) - filter.evaluate(x)).abs();
                assert!(error <= 2e-9 * largest.max(1.0), "{filter} at {x}: {error:e}");
            }
        }
    }

    #[test]
    fn no_filter_takes_more_products_than_its_depth_and_deep_ones_take_few() {
        let products = |filter: Result<Filter>| {
            Series::new(filter.unwrap(), Basis::Chebyshev, Tolerance::default()).products()
        };
        for filter in [1, 2, 3, 8, 64].into_iter().flat_map(filters) {
            let endless = matches!(filter, Filter::Ppr { .. } | Filter::Heat { .. });
            assert!(endless || products(Ok(filter)) <= filter.depth(), "{filter}");
        }
        assert!(products(Filter::ppr(0.1)) <= 40);
        assert!(products(Filter::heat(5.0)) <= 16);
        assert!(products(Filter::sgc(128)) <= 62);
        assert!(products(Filter::dgc(128, 5.27)) <= 18);
        assert_eq!(products(Filter::ssgc(1, 1.0)), 0, "nothing to multiply by");
    }
}
